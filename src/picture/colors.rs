//! Colours as numbers: the sRGB curve, and the scale of error maps.

/// The linear light of an encoded channel, 0..1.
#[must_use]
pub fn linear_of_srgb(encoded: f32) -> f32 {
    if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

/// The encoded channel of linear light, 0..1.
#[must_use]
pub fn srgb_of_linear(linear: f32) -> f32 {
    let c = linear.clamp(0.0, 1.0);
    if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
}

/// The colour of an error, linear sRGB: pale at 0, through orange and magenta to a deep violet at 1 and beyond.
///
/// The scale is made in Oklab, where equal steps look equal: lightness falls evenly from 0.93 to 0.35 while the hue runs from 85 degrees to -60,
/// with as much chroma as sRGB holds all the way. It reads the same in grey. The shader's `error_color` is its twin.
#[must_use]
pub fn error_color(share: f32) -> [f32; 3] {
    // A NaN is as bad as an error gets.
    let t = if share.is_nan() { 1.0 } else { share.clamp(0.0, 1.0) };
    let lightness = 0.93 - 0.58 * t;
    let chroma = 0.012 + 0.36 * t * (1.0 - 0.55 * t);
    let (sin, cos) = (1.4835 - 2.5307 * t).sin_cos();
    let (a, b) = (chroma * cos, chroma * sin);
    let cube = |x: f32| x * x * x;
    let l = cube(lightness + 0.396_337_78 * a + 0.215_803_76 * b);
    let m = cube(lightness - 0.105_561_346 * a - 0.063_854_17 * b);
    let s = cube(lightness - 0.089_484_18 * a - 1.291_485_5 * b);
    [
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_4 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_of_errors_darkens_evenly_within_srgb() {
        let luminance = |c: [f32; 3]| 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
        let mut last = f32::INFINITY;
        for step in 0..=256 {
            let color = error_color(step as f32 / 256.0);
            assert!(color.iter().all(|c| (0.0..=1.0).contains(c)), "step {step}: {color:?}");
            assert!(luminance(color) < last, "step {step} is no darker than the one before");
            last = luminance(color);
        }
        assert_eq!(error_color(2.0), error_color(1.0));
        assert_eq!(error_color(f32::NAN), error_color(1.0));
    }

    #[test]
    fn srgb_there_and_back_is_the_same() {
        for step in 0..=255 {
            let encoded = step as f32 / 255.0;
            assert!((srgb_of_linear(linear_of_srgb(encoded)) - encoded).abs() < 1e-5, "{step}");
        }
    }
}
