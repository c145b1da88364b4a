//! The scale of an error map: a bar of its colours with numbers in micrometres.

use super::image::{Font, Image};
use rigeval::info::Units;
use rigeval::picture::{error_color, srgb_of_linear};

const PAPER: [u8; 3] = [243, 244, 246];
const INK: [u8; 3] = [32, 36, 42];
const MARGIN: u32 = 12;

/// From no error to a round number at or above the largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The end of the scale, micrometres.
    pub end_um: f64,
    steps: u32,
    units: Units,
}

impl Scale {
    /// The scale for errors up to `largest`, in `units`; that of no error at all goes to one micrometre.
    pub fn up_to(largest: f64, units: Units) -> Scale {
        let um = largest * units.in_metres() * 1e6;
        if !(um > 0.0 && um.is_finite()) {
            return Scale { end_um: 1.0, steps: 5, units };
        }
        let decade = 10f64.powf(um.log10().floor());
        // A largest error that is round itself ends its own scale, whatever its logarithm is rounded to.
        let fits = |(end, _): &(f64, u32)| um <= end * decade * (1.0 + 1e-9);
        let (end, steps) =
            [(1.0, 5), (2.0, 4), (5.0, 5), (10.0, 5), (20.0, 4)].into_iter().find(fits).unwrap_or((50.0, 5));
        Scale { end_um: end * decade, steps, units }
    }

    /// The end of the scale in the unit of the rig.
    pub fn end(&self) -> f64 {
        self.end_um / (self.units.in_metres() * 1e6)
    }

    /// The numbers along the bar.
    fn labels(&self) -> Vec<String> {
        (0..=self.steps).map(|step| number(self.end_um * f64::from(step) / f64::from(self.steps))).collect()
    }

    /// How high [`Scale::draw`] is in a picture of this width.
    pub fn height(width: u32) -> u32 {
        3 * Font::for_width(width).height() + 2 * MARGIN
    }

    /// The bar, under it its numbers, over it a line of text.
    pub fn draw(&self, width: u32, caption: &str) -> Image {
        let font = Font::for_width(width);
        let line = font.height();
        let mut image = Image::plain([width, Scale::height(width)], PAPER);
        image.text(caption, [MARGIN, MARGIN / 2], font, INK);
        let bar = [width.saturating_sub(2 * MARGIN).max(1), line * 3 / 4];
        let top = MARGIN / 2 + line + 4;
        for x in 0..bar[0] {
            let color = error_color(x as f32 / bar[0].saturating_sub(1).max(1) as f32);
            image.fill([MARGIN + x, top], [1, bar[1]], color.map(|c| (srgb_of_linear(c) * 255.0).round() as u8));
        }
        let labels = self.labels();
        for (step, label) in labels.iter().enumerate() {
            let label = if step == labels.len() - 1 { format!("{label} µm") } else { label.clone() };
            let at = MARGIN + (bar[0] - 1) * step as u32 / self.steps;
            image.fill([at, top + bar[1]], [1, 4], INK);
            // The first and the last number stay inside.
            let wide = font.width(&label);
            let left = at.saturating_sub(wide / 2).max(MARGIN).min((MARGIN + bar[0]).saturating_sub(wide));
            image.text(&label, [left, top + bar[1] + 5], font, INK);
        }
        image
    }
}

/// A number of micrometres without digits that say nothing.
pub fn number(um: f64) -> String {
    match um.abs() {
        0.0 => "0".to_string(),
        size if !(1e-4..1e7).contains(&size) => format!("{um:.1e}"),
        size => {
            let decimals = (1.0 - size.log10().floor()).clamp(0.0, 6.0) as usize;
            let text = format!("{um:.decimals$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
                false => text,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_ends_at_a_round_number_above_the_largest_error() {
        for (um, end) in [(0.119, 0.2), (1.0, 1.0), (1.01, 2.0), (3.0, 5.0), (7.0, 10.0), (0.0, 1.0), (140.0, 200.0)] {
            for (units, per_um) in [(Units::Metres, 1e-6), (Units::Centimetres, 1e-4)] {
                let scale = Scale::up_to(um * per_um, units);
                assert!((scale.end_um - end).abs() < 1e-9 * end, "{um}: {}", scale.end_um);
                assert!((scale.end() - end * per_um).abs() < 1e-9 * end * per_um);
            }
        }
        assert_eq!(Scale::up_to(f64::NAN, Units::Metres).end_um, 1.0);
        assert_eq!(Scale::up_to(0.119e-6, Units::Metres).labels(), ["0", "0.05", "0.1", "0.15", "0.2"]);
        assert_eq!(Scale::up_to(0.9e-3, Units::Metres).labels(), ["0", "200", "400", "600", "800", "1000"]);
    }
}
