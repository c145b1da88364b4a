//! Where the head is seen from, and what the pointer points at.

use rigeval::glam::{DVec3, Vec2};
use rigeval::math::Aabb;
use rigeval::picture::Camera;
use std::f32::consts::{FRAC_PI_2, PI};

/// How far above and below the head the camera goes.
const MAX_PITCH_RAD: f32 = 1.3;

/// The nearest and the widest picture, as shares of the one that frames the head.
const ZOOM: [f32; 2] = [0.25, 1.6];

/// What one step of zooming multiplies it by.
const ZOOM_STEP: f32 = 1.1;

/// Where between the eyes and the camera the pointer is held to be: near, so that the eyes go to their limits within the picture.
const POINTER_DEPTH: f64 = 0.25;

/// The camera's place around what it frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    yaw: f32,
    pitch: f32,
    zoom: f32,
}

impl Default for View {
    /// Nearly from the front.
    fn default() -> View {
        View { yaw: 0.3, pitch: 0.05, zoom: 1.0 }
    }
}

impl View {
    /// Goes round the head, radians.
    pub fn orbit(&mut self, yaw: f32, pitch: f32) {
        self.yaw = (self.yaw + yaw + PI).rem_euclid(2.0 * PI) - PI;
        self.pitch = (self.pitch + pitch).clamp(-MAX_PITCH_RAD, MAX_PITCH_RAD);
    }

    /// Shows more of the scene for steps above zero, less of it for those below.
    pub fn zoom(&mut self, steps: f32) {
        self.zoom = (self.zoom * ZOOM_STEP.powf(steps)).clamp(ZOOM[0], ZOOM[1]);
    }

    /// The camera that frames these bounds of a character that stands turned by `facing_rad` about +Y.
    pub fn camera(&self, bounds: &Aabb, facing_rad: f32, aspect: f32) -> Camera {
        let camera = Camera::around(bounds, facing_rad + self.yaw, self.pitch, aspect);
        // A longer lens, not a nearer camera: the planes of depth stay right.
        Camera { fov_y_rad: (camera.fov_y_rad * self.zoom).min(FRAC_PI_2), ..camera }
    }
}

/// The point before the face that lies under a place of the picture; x to the right and y down, both 0..1.
pub fn pointed_at(camera: &Camera, place: Vec2, eyes: DVec3) -> DVec3 {
    let eye = camera.eye.as_dvec3();
    let [right, up, backward] = camera.axes().map(|axis| axis.as_dvec3());
    let tangent = f64::from((camera.fov_y_rad / 2.0).tan());
    let (x, y) = (f64::from(2.0 * place.x - 1.0), f64::from(1.0 - 2.0 * place.y));
    let ray = right * (x * tangent * f64::from(camera.aspect)) + up * (y * tangent) - backward;
    let depth = (eye - eyes).dot(backward) * (1.0 - POINTER_DEPTH);
    eye + ray * depth
}
