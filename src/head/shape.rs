//! The sculpted outside of the head: a stack of superellipses, and what is pushed out of it and into it.

use super::Side;
use super::anatomy::eye_centre;
use super::curve::{bell, interpolate, smooth01};
use glam::{DVec3, dvec3};

/// Heights at which the cross-sections below are given.
const HEIGHTS: [f64; 18] = [
    0.020, 0.045, 0.075, 0.105, 0.130, 0.150, 0.166, 0.182, 0.200, 0.215, 0.235, 0.255, 0.275, 0.295, 0.3175, 0.338,
    0.352, 0.364,
];
/// Half the width of each cross-section.
const HALF_WIDTHS: [f64; 18] = [
    0.122, 0.092, 0.062, 0.057, 0.058, 0.060, 0.0615, 0.0630, 0.0655, 0.0675, 0.0700, 0.0725, 0.0745, 0.0755, 0.0750,
    0.0690, 0.0600, 0.0470,
];
/// How far each cross-section reaches forward.
const FRONTS: [f64; 18] = [
    0.060, 0.055, 0.050, 0.050, 0.058, 0.080, 0.1080, 0.1190, 0.1205, 0.1210, 0.1215, 0.1220, 0.1225, 0.1240, 0.1225,
    0.1120, 0.0980, 0.0780,
];
/// How far each cross-section reaches back.
const BACKS: [f64; 18] = [
    0.075, 0.066, 0.060, 0.058, 0.060, 0.064, 0.0700, 0.0760, 0.0820, 0.0870, 0.0930, 0.0980, 0.1020, 0.1050, 0.1030,
    0.0940, 0.0810, 0.0620,
];
/// The exponent of each cross-section: 2 is an ellipse, more is squarer.
const EXPONENTS: [f64; 18] =
    [2.2, 2.1, 2.0, 2.0, 1.95, 1.85, 1.80, 1.85, 1.95, 2.05, 2.15, 2.25, 2.30, 2.30, 2.25, 2.15, 2.10, 2.05];

/// A point of the skin at the height `y`; `angle` is 0 in front and a quarter turn at the subject's left.
pub(super) fn skin_point(angle: f64, y: f64) -> DVec3 {
    // Three taps round off the corners of the piecewise-linear profile.
    let profile = |values: &[f64]| {
        let at = |y: f64| interpolate(y, &HEIGHTS, values);
        (at(y - 0.006) + 2.0 * at(y) + at(y + 0.006)) / 4.0
    };
    let (sin, cos) = angle.sin_cos();
    let power = 2.0 / profile(&EXPONENTS);
    let depth = if cos >= 0.0 { profile(&FRONTS) } else { profile(&BACKS) };
    let x = profile(&HALF_WIDTHS) * sin.signum() * sin.abs().powf(power);
    let flat_z = depth * cos.signum() * cos.abs().powf(power);

    let z = flat_z + smooth01((cos + 0.05) / 0.45) * relief(x.abs(), y);
    let shell = bell(z + 0.006, 0.0135) * bell(y - 0.2570, 0.0240);
    let rim = bell(z + 0.014, 0.0080) * bell(y - 0.2620, 0.0260);
    dvec3(x + x.signum() * (0.0110 * shell + 0.0065 * rim), y, z - 0.0050 * rim)
}

/// How far the face stands out of its cross-section at the distance `x` from the midline.
fn relief(x: f64, y: f64) -> f64 {
    let nose_tip = 0.013 * bell(y - 0.2465, 0.0100) * bell(x, 0.0110);
    let nose_ridge = 0.015 * smooth01((0.300 - y) / 0.050) * smooth01((y - 0.236) / 0.010) * bell(x, 0.0075);
    let nose_wing = 0.0100 * bell(x - 0.0120, 0.0062) * bell(y - 0.2425, 0.0070);
    let under_nose = -0.0035 * bell(x, 0.012) * bell(y - 0.2305, 0.005);
    let eye = eye_centre(Side::Left);
    let socket = -0.0105 * bell(x - eye.x, 0.0165) * bell(y - eye.y, 0.0125);
    let brow = 0.0050 * bell(x - 0.027, 0.022) * bell(y - 0.3045, 0.0080);
    let cheekbone = 0.0055 * bell(x - 0.044, 0.016) * bell(y - 0.2600, 0.0130);
    let cheek = -0.0025 * bell(x - 0.040, 0.016) * bell(y - 0.2230, 0.0150);
    let upper_lip = 0.0060 * bell(x, 0.021) * bell(y - 0.2195, 0.0048);
    let lower_lip = 0.0062 * bell(x, 0.019) * bell(y - 0.2075, 0.0050);
    let under_lip = -0.0040 * bell(x, 0.022) * bell(y - 0.1975, 0.0045);
    let chin = 0.0075 * bell(x, 0.016) * bell(y - 0.1800, 0.0105);
    let nose = nose_tip + nose_ridge + nose_wing + under_nose;
    nose + socket + brow + cheekbone + cheek + upper_lip + lower_lip + under_lip + chin
}

/// How far forward the face reaches at (x, y).
pub(super) fn face_depth(x: f64, y: f64) -> f64 {
    // x grows with the angle all over the face, so halving finds it.
    let (mut near, mut far) = (0.0, 1.2);
    for _ in 0..40 {
        let middle = (near + far) / 2.0;
        if skin_point(middle, y).x < x.abs() { near = middle } else { far = middle }
    }
    skin_point(near, y).z
}
