//! A short clip: the head says something, blinks and looks around.

use crate::gltf::write::{Animation, Glb};
use crate::head::curve::smooth01;
use glam::{DQuat, DVec2, dvec2};
use std::f64::consts::TAU;

const LENGTH_S: f64 = 2.5;
const KEYS_PER_S: f64 = 20.0;
/// The joints as they stand in the file.
const NECK: usize = 0;
const HEAD: usize = 1;
const EYES: [usize; 2] = [2, 3];
/// From when on the eyes look where: degrees to the left and down.
const GAZES: [(f64, DVec2); 5] = [
    (0.0, dvec2(0.0, 0.0)),
    (0.35, dvec2(16.0, 3.0)),
    (1.0, dvec2(-14.0, -7.0)),
    (1.6, dvec2(0.0, 6.0)),
    (2.1, dvec2(0.0, 0.0)),
];
const BLINKS_S: [f64; 2] = [0.85, 1.95];

/// The clip; `drivers` are the mesh nodes with their targets.
pub(super) fn speech(glb: &mut Glb, drivers: &[(usize, Vec<&'static str>)]) -> Animation {
    let count = (LENGTH_S * KEYS_PER_S) as usize;
    let seconds: Vec<f64> = (0..=count).map(|key| key as f64 / KEYS_PER_S).collect();
    let times: Vec<f32> = seconds.iter().map(|t| *t as f32).collect();
    let input = glb.add_times(&times);
    let mut clip = Animation { name: "speech".into(), ..Animation::default() };
    for (node, targets) in drivers.iter().filter(|(_, targets)| !targets.is_empty()) {
        let moves = |name: &&str| seconds.iter().any(|t| weight(name, *t) > 0.0);
        if !targets.iter().any(moves) {
            continue;
        }
        let weights = seconds.iter().flat_map(|t| targets.iter().map(|name| [weight(name, *t) as f32]));
        let output = glb.add_values(&weights.collect::<Vec<_>>());
        clip.add(*node, "weights", input, output);
    }
    for joint in [NECK, HEAD, EYES[0], EYES[1]] {
        let turns: Vec<[f32; 4]> = seconds.iter().map(|t| turn(joint, *t).as_quat().normalize().to_array()).collect();
        let output = glb.add_values(&turns);
        clip.add(joint, "rotation", input, output);
    }
    clip
}

/// The weight of a shape; zero at both ends.
fn weight(shape: &str, t: f64) -> f64 {
    let phrase = bump(t, 0.1, 1.2) + bump(t, 1.2, 1.2);
    let syllable = phrase * (0.5 - 0.5 * (TAU * 3.2 * t).cos());
    // Lips closed over a jaw that is a little open.
    let closed = 0.3 * bump(t, 1.1, 0.3);
    match shape {
        "jawOpen" => (0.45 * syllable).max(closed),
        "mouthClose" => closed,
        "mouthFunnel" => 0.45 * bump(t, 0.5, 0.6),
        "mouthPucker" => 0.5 * bump(t, 1.5, 0.5),
        "mouthLowerDownLeft" | "mouthLowerDownRight" => 0.4 * syllable,
        "mouthUpperUpLeft" | "mouthUpperUpRight" => 0.25 * syllable,
        "mouthSmileLeft" => 0.6 * bump(t, 1.7, 0.8),
        "mouthSmileRight" => 0.5 * bump(t, 1.7, 0.8),
        "browInnerUp" => 0.7 * bump(t, 0.2, 0.9),
        "browOuterUpLeft" => 0.5 * bump(t, 1.2, 0.7),
        "cheekSquintLeft" | "cheekSquintRight" => 0.4 * bump(t, 1.8, 0.7),
        "eyeBlinkLeft" | "eyeBlinkRight" => BLINKS_S.iter().map(|start| bump(t, *start, 0.3)).sum(),
        _ => 0.0,
    }
}

/// How a joint turns from its rest; at both ends it rests.
fn turn(joint: usize, t: f64) -> DQuat {
    let gaze = gaze(t);
    let sway = (TAU * t / LENGTH_S).sin();
    let (yaw, pitch, roll) = match joint {
        NECK => (4.0 * sway, 0.0, 1.0 * sway),
        HEAD => (6.0 * sway, 3.0 * (0.5 - 0.5 * (2.0 * TAU * t / LENGTH_S).cos()), 2.0 * sway),
        _ => (gaze.x, gaze.y, 0.0),
    };
    let radians = |degrees: f64| degrees.to_radians();
    DQuat::from_rotation_y(radians(yaw))
        * DQuat::from_rotation_x(radians(pitch))
        * DQuat::from_rotation_z(radians(roll))
}

fn gaze(t: f64) -> DVec2 {
    const SACCADE_S: f64 = 0.1;
    let at = GAZES.iter().rposition(|(from, _)| *from <= t).unwrap_or(0);
    let (from, gaze) = GAZES[at];
    GAZES[at.saturating_sub(1)].1.lerp(gaze, smooth01((t - from) / SACCADE_S))
}

/// From 0 to 1 and back, `length` seconds long.
fn bump(t: f64, start: f64, length: f64) -> f64 {
    let x = ((t - start) / length).clamp(0.0, 1.0);
    0.5 - 0.5 * (TAU * x).cos()
}
