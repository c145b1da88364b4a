//! Milliseconds of every frame, drawn.

use super::{Act, FRAMES_PER_SECOND};
use crate::failure::Failure;
use plotters::prelude::*;

pub const FILE: &str = "times.svg";

const SIZE: (u32, u32) = (960, 360);
const COLORS: [RGBColor; 2] = [RGBColor(37, 99, 175), RGBColor(196, 84, 30)];

/// An SVG: a line for each character, milliseconds over seconds of the performance.
///
/// The axis ends above nineteen of twenty frames, so that one that another program held up does not flatten all others.
pub fn times(acts: &[Act]) -> Result<Vec<u8>, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::new(format!("{FILE}: cannot be drawn: {e}"));
    let mut all: Vec<f64> = acts.iter().flat_map(|act| act.frame_ms.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    let top = all.get(all.len() * 19 / 20).or(all.last()).copied().unwrap_or(1.0).max(1e-6) * 1.3;
    let frames = acts.iter().map(|act| act.frame_ms.len()).max().unwrap_or(1).max(2);
    let seconds = |frame: usize| frame as f64 / FRAMES_PER_SECOND;

    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(|e| failed(&e))?;
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .x_label_area_size(42)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..seconds(frames - 1), 0.0..top)
            .map_err(|e| failed(&e))?;
        let mut mesh = chart.configure_mesh();
        mesh.x_desc("performance, seconds").y_desc("one frame, milliseconds").light_line_style(WHITE);
        mesh.draw().map_err(|e| failed(&e))?;
        for (act, color) in acts.iter().zip(COLORS) {
            let points = act.frame_ms.iter().enumerate().map(|(frame, &ms)| (seconds(frame), ms.min(top)));
            let line = chart.draw_series(LineSeries::new(points, color.stroke_width(2))).map_err(|e| failed(&e))?;
            line.label(act.kind).legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
        }
        let mut legend = chart.configure_series_labels();
        legend.border_style(BLACK.mix(0.3)).background_style(WHITE.mix(0.8)).draw().map_err(|e| failed(&e))?;
        area.present().map_err(|e| failed(&e))?;
    }
    Ok(svg.into_bytes())
}
