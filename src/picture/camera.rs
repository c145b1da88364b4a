//! Where a picture is taken from: the bounds of what is shown decide.

use crate::math::Aabb;
use glam::camera::rh;
use glam::{Mat4, Vec3};

/// The side that a subject is seen from. Subjects look along +Z with +Y up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum View {
    /// Into the face.
    Front,
    /// From the subject's left of the front, and a little from above.
    ThreeQuarter,
    /// The subject's left side.
    Side,
}

impl View {
    /// All views.
    pub const ALL: [View; 3] = [View::Front, View::ThreeQuarter, View::Side];

    /// How far the camera goes round to the subject's left, then up, radians.
    #[must_use]
    pub fn angles_rad(self) -> [f32; 2] {
        match self {
            View::Front => [0.0, 0.0],
            View::ThreeQuarter => [0.62, 0.10],
            View::Side => [std::f32::consts::FRAC_PI_2, 0.0],
        }
    }
}

/// A camera, in the unit of what it looks at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Where it stands.
    pub eye: Vec3,
    /// What is in the middle of the picture.
    pub target: Vec3,
    /// The angle from the lower to the upper edge, radians.
    pub fov_y_rad: f32,
    /// Width over height.
    pub aspect: f32,
    /// What lies nearer than the first or farther than the second is not drawn.
    pub depth: [f32; 2],
}

/// A portrait lens: a face fills the picture without its nose growing.
const FOV_Y_RAD: f32 = 0.32;

/// The share of the picture that the bounds fill; the rest is margin.
const FILLED: f32 = 0.92;

impl Camera {
    /// A camera that sees all of `bounds` from that side, with a margin.
    ///
    /// Nothing but the bounds decides where it stands, so the unit does not matter. Bounds without extent are taken to be one unit large.
    #[must_use]
    pub fn framing(bounds: &Aabb, view: View, aspect: f32) -> Camera {
        let [yaw, pitch] = view.angles_rad();
        Camera::around(bounds, yaw, pitch, aspect)
    }

    /// The same from any side: `yaw` to the subject's left, `pitch` up, radians; `pitch` is held short of the poles.
    #[must_use]
    pub fn around(bounds: &Aabb, yaw: f32, pitch: f32, aspect: f32) -> Camera {
        let (min, max) = (Vec3::from(bounds.min), Vec3::from(bounds.max));
        let half = (max - min) / 2.0;
        let is_usable = half.is_finite() && half.max_element() > 0.0 && half.min_element() >= 0.0;
        let half = if is_usable { half } else { Vec3::splat(0.5) };
        let target = if (min + max).is_finite() { (min + max) / 2.0 } else { Vec3::ZERO };

        let pitch = pitch.clamp(-1.5, 1.5);
        let backward = Vec3::new(yaw.sin() * pitch.cos(), pitch.sin(), yaw.cos() * pitch.cos());
        let right = Vec3::new(yaw.cos(), 0.0, -yaw.sin());
        let up = backward.cross(right);
        let tangent_y = (FOV_Y_RAD / 2.0).tan() * FILLED;
        let tangent_x = tangent_y * aspect;
        // The distance at which a corner comes to lie on the edge of the picture; the farthest of all eight is far enough.
        let distance = corners(half)
            .map(|c| c.dot(backward) + (c.dot(right).abs() / tangent_x).max(c.dot(up).abs() / tangent_y))
            .fold(0.0, f32::max);
        let radius = half.length();
        Camera {
            eye: target + distance * backward,
            target,
            fov_y_rad: FOV_Y_RAD,
            aspect,
            depth: [(distance - 1.5 * radius).max(distance * 0.02), distance + 1.5 * radius],
        }
    }

    /// From world to clip space, depth 0..1.
    #[must_use]
    pub fn clip_from_world(&self) -> Mat4 {
        let [near, far] = self.depth;
        let clip = rh::proj::directx::perspective(self.fov_y_rad, self.aspect, near, far);
        clip * rh::view::look_at_mat4(self.eye, self.target, Vec3::Y)
    }

    /// Right, up and backward of the camera, in the world.
    #[must_use]
    pub fn axes(&self) -> [Vec3; 3] {
        let backward = (self.eye - self.target).normalize_or(Vec3::Z);
        let right = Vec3::Y.cross(backward).normalize_or(Vec3::X);
        [right, backward.cross(right), backward]
    }
}

fn corners(half: Vec3) -> impl Iterator<Item = Vec3> {
    (0..8).map(move |i| half * Vec3::new(sign(i & 1), sign(i & 2), sign(i & 4)))
}

fn sign(bit: i32) -> f32 {
    if bit == 0 { -1.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ndc(camera: &Camera, p: Vec3) -> Vec3 {
        camera.clip_from_world().project_point3(p)
    }

    #[test]
    fn framing_of_any_unit_holds_the_bounds_with_a_margin() {
        for scale in [1e-4, 1.0, 1e4] {
            let bounds = Aabb { min: [-0.1, 0.05, -0.12].map(|x| x * scale), max: [0.1, 0.4, 0.13].map(|x| x * scale) };
            let (min, max) = (Vec3::from(bounds.min), Vec3::from(bounds.max));
            for (view, aspect) in View::ALL.into_iter().flat_map(|v| [(v, 0.5), (v, 1.0), (v, 2.0)]) {
                let camera = Camera::framing(&bounds, view, aspect);
                let seen = corners((max - min) / 2.0).map(|c| ndc(&camera, (min + max) / 2.0 + c));
                let mut widest = 0.0f32;
                for p in seen {
                    assert!((0.0..1.0).contains(&p.z), "{view:?} at {scale}: depth {}", p.z);
                    widest = widest.max(p.x.abs()).max(p.y.abs());
                }
                assert!((widest - FILLED).abs() < 1e-3, "{view:?} at {scale}, aspect {aspect}: {widest}");
            }
        }
    }

    #[test]
    fn front_sees_the_subjects_left_on_the_right() {
        let bounds = Aabb { min: [-1.0; 3], max: [1.0; 3] };
        let left = ndc(&Camera::framing(&bounds, View::Front, 1.0), Vec3::new(0.5, 0.0, 0.0));
        assert!(left.x > 0.1 && left.y.abs() < 1e-6, "{left}");
        // From the subject's left, what it faces is on the left.
        let ahead = ndc(&Camera::framing(&bounds, View::Side, 1.0), Vec3::new(0.0, 0.0, 0.5));
        assert!(ahead.x < -0.1, "{ahead}");
    }

    #[test]
    fn framing_of_no_extent_or_no_numbers_is_finite() {
        let odd = [
            Aabb::default(),
            Aabb { min: [f32::NAN; 3], max: [f32::INFINITY; 3] },
            Aabb { min: [1.0; 3], max: [-1.0; 3] },
        ];
        for bounds in odd {
            let camera = Camera::framing(&bounds, View::ThreeQuarter, 1.0);
            assert!(camera.clip_from_world().is_finite() && camera.eye.is_finite(), "{bounds:?}");
        }
    }
}
