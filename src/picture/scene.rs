//! What stands round the subjects of a picture: camera, lights, backdrop.

use super::camera::Camera;
use super::colors::linear_of_srgb;
use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3, Vec4};

/// A light from far away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Light {
    /// Towards it, in the camera's axes: right, up, backward. Any length but zero.
    pub towards: [f32; 3],
    /// Linear, 1 is white at full strength.
    pub color: [f32; 3],
}

/// Camera, two lights and a backdrop. The lights hang on the camera: every view is lit alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scene {
    /// Where the picture is taken from.
    pub camera: Camera,
    /// The light that shows the form.
    pub key: Light,
    /// The light that opens the shadows.
    pub fill: Light,
    /// The backdrop at the upper and the lower edge, sRGB.
    pub backdrop: [[f32; 3]; 2],
}

impl Scene {
    /// A studio: a warm light from the upper left, a cool one from the right, a grey backdrop.
    #[must_use]
    pub fn new(camera: Camera) -> Scene {
        Scene {
            camera,
            key: Light { towards: [-0.55, 0.55, 0.70], color: [1.02, 0.96, 0.88] },
            fill: Light { towards: [0.85, 0.05, 0.35], color: [0.22, 0.27, 0.36] },
            backdrop: [[0.30, 0.33, 0.37], [0.62, 0.65, 0.68]],
        }
    }

    pub(super) fn uniform(&self) -> ViewUniform {
        let axes = self.camera.axes();
        let world = |light: &Light| {
            let towards: Vec3 = axes.iter().zip(light.towards).map(|(axis, share)| *axis * share).sum();
            towards.normalize_or(Vec3::Y).extend(0.0)
        };
        let light = |color: [f32; 3]| Vec3::from(color).extend(0.0);
        let [above, below] = self.backdrop.map(|edge| light(edge.map(linear_of_srgb)));
        ViewUniform {
            clip_from_world: self.camera.clip_from_world(),
            eye: self.camera.eye.extend(1.0),
            key: world(&self.key),
            fill: world(&self.fill),
            key_color: light(self.key.color),
            fill_color: light(self.fill.color),
            ambient_above: light([0.30, 0.32, 0.36]),
            ambient_below: light([0.13, 0.11, 0.10]),
            backdrop_above: above,
            backdrop_below: below,
        }
    }
}

/// `View` of the shader.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ViewUniform {
    pub(super) clip_from_world: Mat4,
    pub(super) eye: Vec4,
    pub(super) key: Vec4,
    pub(super) fill: Vec4,
    pub(super) key_color: Vec4,
    pub(super) fill_color: Vec4,
    pub(super) ambient_above: Vec4,
    pub(super) ambient_below: Vec4,
    pub(super) backdrop_above: Vec4,
    pub(super) backdrop_below: Vec4,
}
