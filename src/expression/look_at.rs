//! A point to look at, turned into gaze angles.

use glam::DVec3;

/// How far look-at turns the eyes up and down, either way.
pub const MAX_PITCH_RAD: f32 = 25.0 * std::f32::consts::PI / 180.0;

/// How far look-at turns the eyes to the sides, either way.
pub const MAX_YAW_RAD: f32 = 35.0 * std::f32::consts::PI / 180.0;

/// The direction of both eyes, radians: pitch > 0 looks down, yaw > 0 toward the character's left.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gaze {
    /// About +X.
    pub pitch: f32,
    /// About +Y.
    pub yaw: f32,
}

impl Gaze {
    /// The gaze from the midpoint of the eyes to a point, without limits; zero where the point is the midpoint.
    ///
    /// The exact inverse of the rotation that a rig gives its eyes: `Rx(pitch) * Ry(yaw)` turns +Z into the direction of the point, wherever it
    /// lies. `atan2(x, z)` and `-asin(y / length)`, often seen for it, invert `Ry * Rx` and miss by up to 5.4
    /// degrees within the same limits.
    ///
    /// # Shapes
    /// target, eyes (left, right): head-local, one unit of length. A point in the world goes there by the inverse of the head joint's
    /// `world * inverse(rest) * bindTransform`; at rest, the character frame differs from head-local by `bindTransform` alone.
    ///
    /// # Accuracy
    /// 2e-7 rad. A coordinate that is not finite gives NaN, which `set_controls` refuses.
    #[must_use]
    pub fn toward(target: [f32; 3], eyes: [[f32; 3]; 2]) -> Gaze {
        let point = |p: [f32; 3]| DVec3::from(p.map(f64::from));
        let to_target = point(target) - (point(eyes[0]) + point(eyes[1])) / 2.0;
        if to_target == DVec3::ZERO {
            return Gaze::default();
        }
        if !to_target.is_finite() {
            return Gaze { pitch: f32::NAN, yaw: f32::NAN };
        }
        // Rx(pitch) * Ry(yaw) * Z = (sin yaw, -sin pitch cos yaw, cos pitch cos yaw). Rounding may lift the sine past 1.
        let yaw = (to_target.x / to_target.length()).clamp(-1.0, 1.0).asin();
        let pitch = (0.0 - to_target.y).atan2(to_target.z);
        Gaze { pitch: pitch as f32, yaw: yaw as f32 }
    }

    /// The same gaze within [`MAX_PITCH_RAD`] and [`MAX_YAW_RAD`].
    ///
    /// The limits come after the inverse, each on its own angle: one angle at its limit leaves the other as it was. Past 90 degrees to the back
    /// the exact pitch is past 90 degrees too, so that a point behind the head leaves the eyes at their upper or lower limit.
    #[must_use]
    pub fn clamped(self) -> Gaze {
        Gaze { pitch: self.pitch.clamp(-MAX_PITCH_RAD, MAX_PITCH_RAD), yaw: self.yaw.clamp(-MAX_YAW_RAD, MAX_YAW_RAD) }
    }

    /// The four gaze controls, both eyes alike: pitch and yaw of the left eye, then of the right.
    #[must_use]
    pub fn controls(self) -> [f32; 4] {
        [self.pitch, self.yaw, self.pitch, self.yaw]
    }
}

/// The four gaze controls that make the eyes look at a point, within their limits; see [`Gaze::toward`] and [`Gaze::clamped`].
#[must_use]
pub fn look_at(target: [f32; 3], eyes: [[f32; 3]; 2]) -> [f32; 4] {
    Gaze::toward(target, eyes).clamped().controls()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use proptest::prelude::*;

    const EYES: [[f32; 3]; 2] = [[0.032, 0.05, 0.06], [-0.030, 0.052, 0.058]];

    fn midpoint() -> DVec3 {
        (DVec3::from(EYES[0].map(f64::from)) + DVec3::from(EYES[1].map(f64::from))) / 2.0
    }

    fn turned_forward(pitch: f64, yaw: f64) -> DVec3 {
        DQuat::from_rotation_x(pitch) * DQuat::from_rotation_y(yaw) * DVec3::Z
    }

    /// How far the gaze misses the target, radians; a cross product keeps small angles that a dot product loses.
    fn miss(gaze: Gaze, target: [f32; 3]) -> f64 {
        let direction = (DVec3::from(target.map(f64::from)) - midpoint()).normalize();
        let turned = turned_forward(f64::from(gaze.pitch), f64::from(gaze.yaw));
        turned.cross(direction).length().atan2(turned.dot(direction))
    }

    #[test]
    fn gaze_turns_forward_exactly_to_the_target() {
        for target in [
            [0.5, 0.4, 1.0],
            [-0.5, 0.4, 1.0],
            [0.5, -0.4, 1.0],
            [-2.0, -3.0, 0.2],
            [1.0, 0.5, -1.0],
            [3.0, 0.05, 0.06],
        ] {
            let gaze = Gaze::toward(target, EYES);
            assert!(miss(gaze, target) < 2e-7, "{target:?}: {gaze:?} misses by {} rad", miss(gaze, target));
        }
    }

    #[test]
    fn signs_are_down_and_left() {
        let from_midpoint = |x: f64, y: f64, z: f64| (midpoint() + DVec3::new(x, y, z)).as_vec3().to_array();
        let gaze = Gaze::toward(from_midpoint(0.0, -1.0, 1.0), EYES);
        assert!((gaze.pitch.to_degrees() - 45.0).abs() < 1e-3 && gaze.yaw.abs() < 1e-6, "{gaze:?}");
        let gaze = Gaze::toward(from_midpoint(1.0, 0.0, 1.0), EYES);
        assert!((gaze.yaw.to_degrees() - 45.0).abs() < 1e-3 && gaze.pitch.abs() < 1e-6, "{gaze:?}");
    }

    #[test]
    fn other_order_of_rotations_misses_by_degrees() {
        let mut worst = 0.0f64;
        for pitch_deg in -25..=25 {
            for yaw_deg in -35..=35 {
                // The targets for which the other formula gives these angles, and the gaze that a rig then makes of them.
                let (pitch, yaw) = (f64::from(pitch_deg).to_radians(), f64::from(yaw_deg).to_radians());
                let d = DQuat::from_rotation_y(yaw) * DQuat::from_rotation_x(pitch) * DVec3::Z;
                assert!((d.x.atan2(d.z) - yaw).abs() < 1e-12 && (-d.y.asin() - pitch).abs() < 1e-12);
                let target = (midpoint() + d).as_vec3().to_array();
                worst = worst.max(miss(Gaze { pitch: pitch as f32, yaw: yaw as f32 }, target).to_degrees());
                assert!(miss(Gaze::toward(target, EYES), target) < 2e-7);
            }
        }
        assert!((5.3..5.4).contains(&worst), "{worst} degrees");
    }

    #[test]
    fn target_between_the_eyes_gives_no_gaze() {
        let eyes = [[0.03, 0.05, 0.06], [-0.03, 0.05, 0.06]];
        assert_eq!(look_at([0.0, 0.05, 0.06], eyes), [0.0; 4]);
        let straight = look_at([0.0, 0.05, 1.0], eyes);
        assert_eq!(straight, [0.0; 4]);
        assert!(straight.iter().all(|angle| angle.is_sign_positive()));
    }

    #[test]
    fn target_out_of_reach_is_clamped_angle_by_angle() {
        let eyes = [[0.03, 0.0, 0.0], [-0.03, 0.0, 0.0]];
        // 10 degrees down keeps its pitch while the yaw of 60 degrees stops at 35.
        let (pitch, yaw) = (10f64.to_radians(), 60f64.to_radians());
        let target = turned_forward(pitch, yaw).as_vec3().to_array();
        let [pitch_l, yaw_l, pitch_r, yaw_r] = look_at(target, eyes);
        assert!((pitch_l.to_degrees() - 10.0).abs() < 1e-4, "{pitch_l}");
        assert!((yaw_l.to_degrees() - 35.0).abs() < 1e-4, "{yaw_l}");
        assert_eq!([pitch_l, yaw_l], [pitch_r, yaw_r]);
        assert_eq!(look_at([0.0, 9.0, 1.0], eyes)[0], -MAX_PITCH_RAD);
        assert_eq!(look_at([-9.0, 0.0, 1.0], eyes)[1], -MAX_YAW_RAD);
    }

    #[test]
    fn target_that_is_not_finite_gives_a_gaze_that_is_refused() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for axis in 0..3 {
                let mut target = [0.1, 0.2, 1.0];
                target[axis] = bad;
                assert!(look_at(target, EYES).iter().any(|angle| !angle.is_finite()), "{target:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_finite_target_gives_an_exact_gaze_and_a_clamped_one(x in -5.0f32..5.0, y in -5.0f32..5.0, z in -5.0f32..5.0) {
            let gaze = Gaze::toward([x, y, z], EYES);
            prop_assert!(miss(gaze, [x, y, z]) < 2e-7, "{gaze:?} misses by {} rad", miss(gaze, [x, y, z]));
            let clamped = gaze.clamped();
            prop_assert!(clamped.pitch.abs() <= MAX_PITCH_RAD && clamped.yaw.abs() <= MAX_YAW_RAD);
        }
    }
}
