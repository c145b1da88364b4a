//! A short performance for demos, benches and tests: speech-like mouth, blinks, gaze and head turns, for any rig that takes ARKit weights.

use super::arkit::ArkitShape as A;
use glam::{DQuat, DVec3, Quat};
use std::f64::consts::TAU;

/// One moment of the performance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Performance {
    /// ARKit weights, 0..1, by [`ArkitShape`](A) discriminant. The eight `eyeLook` weights are zero: `target` drives the eyes.
    pub weights: [f32; 52],
    /// Where the eyes look, metres from the midpoint of the eyes, head-local: a point that stays in the room while the head turns.
    ///
    /// `look_at(target, [[0.0; 3]; 2])` makes gaze angles of it; on a rig without gaze controls they turn its eye joints by overrides.
    pub target: [f32; 3],
    /// What the neck turns by, on top of its rest.
    pub neck: Quat,
    /// What the head turns by, on top of its rest.
    pub head: Quat,
}

/// When a blink begins, seconds.
const BLINKS_S: [f64; 4] = [0.35, 1.55, 2.9, 3.15];
const BLINK_LENGTH_S: f64 = 0.26;

/// From when on which point is looked at, in the room: metres from the eyes at rest, +X to the subject's left.
const FIXATIONS: [(f64, DVec3); 7] = [
    (0.0, DVec3::new(0.0, 0.0, 1.0)),
    (0.5, DVec3::new(0.35, 0.12, 1.0)),
    (1.1, DVec3::new(-0.28, -0.2, 1.0)),
    (1.7, DVec3::new(0.0, 0.0, 1.0)),
    (2.3, DVec3::new(-0.45, 0.25, 1.0)),
    (3.0, DVec3::new(0.3, -0.3, 1.0)),
    (3.6, DVec3::new(0.0, 0.0, 1.0)),
];
const SACCADE_S: f64 = 0.07;

impl Performance {
    /// The moment at `seconds`; four of them are one round, and it starts at rest.
    #[must_use]
    pub fn at(seconds: f64) -> Performance {
        let t = seconds.rem_euclid(Performance::ROUND_S);
        let mut weights = [0.0f32; 52];
        let mut set = |shapes: &[A], weight: f64| {
            for &shape in shapes {
                weights[shape as usize] = weight.clamp(0.0, 1.0) as f32;
            }
        };
        // Two phrases with a pause between them; syllables within, every third one stressed.
        let phrase = bump(t, 0.2, 1.5) + bump(t, 2.0, 1.8);
        let syllable = (TAU * 2.3 * t).sin().max(0.0);
        let stress = 0.5 + 0.5 * (TAU * 0.77 * t).sin();
        let open = phrase * syllable;
        set(&[A::JawOpen], open * (0.35 + 0.45 * stress));
        set(&[A::MouthClose], phrase * (1.0 - syllable) * 0.25);
        set(&[A::MouthFunnel, A::MouthPucker], phrase * 0.5 * (0.5 + 0.5 * (TAU * 1.3 * t).sin()));
        set(&[A::MouthSmileLeft], 0.6 * bump(t, 1.2, 1.2) + 0.2 * phrase);
        set(&[A::MouthSmileRight], 0.5 * bump(t, 1.2, 1.2) + 0.2 * phrase);
        set(&[A::MouthFrownLeft, A::MouthFrownRight], 0.35 * bump(t, 2.4, 0.8));
        set(&[A::MouthLeft], 0.3 * bump(t, 0.6, 0.6));
        set(&[A::MouthRight], 0.3 * bump(t, 2.7, 0.6));
        set(&[A::MouthUpperUpLeft, A::MouthUpperUpRight], 0.3 * open);
        set(&[A::MouthLowerDownLeft, A::MouthLowerDownRight], 0.5 * open);
        set(&[A::TongueOut], 0.5 * bump(t, 3.0, 0.4));
        set(&[A::BrowInnerUp], 0.7 * bump(t, 0.3, 0.9) * stress);
        set(&[A::BrowOuterUpLeft, A::BrowOuterUpRight], 0.5 * bump(t, 1.8, 0.8));
        set(&[A::BrowDownLeft, A::BrowDownRight], 0.6 * bump(t, 2.5, 0.9));
        set(&[A::EyeSquintLeft, A::EyeSquintRight], 0.5 * bump(t, 1.3, 1.0));
        set(&[A::EyeWideLeft, A::EyeWideRight], 0.4 * bump(t, 2.0, 0.7));
        let blink: f64 = BLINKS_S.iter().map(|&start| bump(t, start, BLINK_LENGTH_S)).sum();
        set(&[A::EyeBlinkLeft, A::EyeBlinkRight], blink);

        let turn = |yaw: f64, pitch: f64, roll: f64| {
            DQuat::from_rotation_y(yaw) * DQuat::from_rotation_x(pitch) * DQuat::from_rotation_z(roll)
        };
        let sway = |rate: f64| (TAU * rate * t / Performance::ROUND_S).sin();
        let neck = turn(0.16 * sway(1.0), 0.05 * sway(2.0), 0.03 * sway(1.0));
        let head = turn(0.22 * sway(1.0) + 0.06 * sway(3.0), 0.09 * sway(2.0), 0.06 * sway(3.0));
        // The eyes hold their point while the head turns under them.
        let target = (neck * head).inverse() * fixation(t);
        Performance { weights, target: target.as_vec3().to_array(), neck: neck.as_quat(), head: head.as_quat() }
    }

    /// How long one round takes, seconds.
    pub const ROUND_S: f64 = 4.0;
}

/// A smooth hump from 0 to 1 and back, `length` seconds long.
fn bump(t: f64, start: f64, length: f64) -> f64 {
    let x = ((t - start) / length).clamp(0.0, 1.0);
    0.5 - 0.5 * (TAU * x).cos()
}

/// The point that is looked at, with a quick ease from the one before.
fn fixation(t: f64) -> DVec3 {
    let current = FIXATIONS.iter().rposition(|(from, _)| *from <= t).unwrap_or(0);
    let (from, point) = FIXATIONS[current];
    let before = FIXATIONS[current.saturating_sub(1)].1;
    let x = ((t - from) / SACCADE_S).clamp(0.0, 1.0);
    before.lerp(point, x * x * (3.0 - 2.0 * x))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 30 frames a second over one round.
    fn frames() -> impl Iterator<Item = Performance> {
        (0..120).map(|f| Performance::at(f64::from(f) / 30.0))
    }

    #[test]
    fn performance_starts_at_rest_and_repeats() {
        let start = Performance::at(0.0);
        assert_eq!(start.weights, [0.0; 52]);
        assert_eq!((start.neck, start.head), (Quat::IDENTITY, Quat::IDENTITY));
        assert_eq!(start.target, [0.0, 0.0, 1.0]);
        assert_eq!(Performance::at(Performance::ROUND_S), start);
    }

    #[test]
    fn performance_keeps_its_ranges() {
        for p in frames() {
            assert!(p.weights.iter().all(|w| (0.0..=1.0).contains(w)), "{p:?}");
            assert!(p.neck.is_normalized() && p.head.is_normalized(), "{p:?}");
            assert!(p.target[2] > 0.5, "looks behind itself: {p:?}");
        }
    }

    #[test]
    fn performance_moves_mouth_lids_brows_gaze_and_head() {
        let reach = |shape: A| frames().map(|p| p.weights[shape as usize]).fold(0.0, f32::max);
        assert!(reach(A::JawOpen) > 0.5 && reach(A::EyeBlinkLeft) > 0.95 && reach(A::BrowInnerUp) > 0.3);
        let widest = |f: fn(&Performance) -> f32| frames().map(|p| f(&p).abs()).fold(0.0, f32::max);
        assert!(widest(|p| p.target[0]) > 0.3 && widest(|p| p.target[1]) > 0.2);
        assert!(widest(|p| p.head.y) > 0.05 && widest(|p| p.neck.y) > 0.05);
    }

    #[test]
    fn performance_is_smooth_across_frames_and_across_the_seam() {
        for frame in 0..240 {
            let (a, b) = (Performance::at(f64::from(frame) / 60.0), Performance::at(f64::from(frame + 1) / 60.0));
            let step = a.weights.iter().zip(b.weights).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(step < 0.25, "weights jump by {step} after frame {frame}");
            assert!(a.head.angle_between(b.head) < 0.05, "head jumps after frame {frame}");
        }
    }
}
