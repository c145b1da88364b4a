//! Controls and joints of one instance, checked and turned into what the stage reads.

use super::pack::GnmPack;
use crate::error::ControlError;
use crate::info::JointId;
use crate::math::Rows;
use crate::skeleton::{JointInput, JointOverride};
use glam::{Affine3A, DQuat};

/// How far `gnm_blend` goes, on either device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Expression and gaze; head-local, without the seam.
    Forward,
    /// All of it, skinned; output space.
    Pose,
}

/// What `gnm_blend` reads for one instance, on either device, and the controls and joints it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct GnmPose {
    controls: Vec<f32>,
    coefficients: Vec<f32>,
    eye_rotations: [[f32; 4]; 2],
    joints: JointInput,
    skin_rows: Vec<Rows>,
}

impl GnmPose {
    /// The pose at rest: all controls zero, every joint at rest.
    #[must_use]
    pub fn new(pack: &GnmPack) -> GnmPose {
        let joints = JointInput::default();
        GnmPose {
            controls: vec![0.0; pack.coefficient_count() + 4],
            coefficients: vec![0.0; pack.coefficient_count()],
            eye_rotations: [[0.0, 0.0, 0.0, 1.0]; 2],
            skin_rows: skin_rows(pack, &joints),
            joints,
        }
    }

    /// Checks all that [`GnmPose::set_controls`] refuses.
    ///
    /// # Errors
    /// `Length`, `NotFinite`.
    pub fn check(pack: &GnmPack, controls: &[f32]) -> Result<(), ControlError> {
        ControlError::check("controls", controls, pack.coefficient_count() + 4)?;
        // A finite control of a pack with a huge scale could still become infinite, and its vertices NaN.
        let scaled = controls.iter().zip(pack.basis_scale()).map(|(value, scale)| value * scale);
        match scaled.enumerate().find(|(_, scaled)| !scaled.is_finite()) {
            Some((index, value)) => Err(ControlError::NotFinite { what: "controls times basis scale", index, value }),
            None => Ok(()),
        }
    }

    /// Replaces the controls and says whether any of them changed.
    ///
    /// # Shapes
    /// controls: (E + 4): coefficients in units of their scale, then gaze pitch and yaw, left then right, radians
    ///
    /// # Errors
    /// `Length`, `NotFinite`; the pose stays as it was.
    pub fn set_controls(&mut self, pack: &GnmPack, controls: &[f32]) -> Result<bool, ControlError> {
        GnmPose::check(pack, controls)?;
        if self.controls == controls {
            return Ok(false);
        }
        let (expression, gaze) = controls.split_at(self.coefficients.len());
        self.controls.copy_from_slice(controls);
        for ((out, &value), &scale) in self.coefficients.iter_mut().zip(expression).zip(pack.basis_scale()) {
            *out = value * scale;
        }
        self.eye_rotations = [gaze_rotation(gaze[0], gaze[1]), gaze_rotation(gaze[2], gaze[3])];
        Ok(true)
    }

    /// Replaces the joint overrides and says whether a skin row changed.
    ///
    /// # Errors
    /// See [`crate::skeleton::Skeleton::resolve_overrides`].
    pub fn set_joint_overrides(&mut self, pack: &GnmPack, overrides: &[JointOverride]) -> Result<bool, ControlError> {
        self.joints.set_turns(pack.skeleton().resolve_overrides(overrides)?);
        Ok(self.update_skin_rows(pack))
    }

    /// Replaces the given joint worlds and says whether a skin row changed.
    ///
    /// # Errors
    /// See [`crate::skeleton::Skeleton::resolve_worlds`].
    pub fn set_joint_worlds(&mut self, pack: &GnmPack, worlds: &[(JointId, Affine3A)]) -> Result<bool, ControlError> {
        self.joints.set_worlds(pack.skeleton().resolve_worlds(worlds)?);
        Ok(self.update_skin_rows(pack))
    }

    fn update_skin_rows(&mut self, pack: &GnmPack) -> bool {
        let rows = skin_rows(pack, &self.joints);
        let changed = rows != self.skin_rows;
        self.skin_rows = rows;
        changed
    }

    /// The controls as they stand, (E + 4).
    #[must_use]
    pub fn controls(&self) -> &[f32] {
        &self.controls
    }

    /// Expression times basis scale: what a stored basis entry is multiplied by, (E).
    #[must_use]
    pub fn coefficients(&self) -> &[f32] {
        &self.coefficients
    }

    /// The rotation of the left and the right eye as quaternions x, y, z, w.
    #[must_use]
    pub fn eye_rotations(&self) -> [[f32; 4]; 2] {
        self.eye_rotations
    }

    /// `world * inverse(rest) * bind` of every joint, (J).
    #[must_use]
    pub fn skin_rows(&self) -> &[Rows] {
        &self.skin_rows
    }
}

#[cfg(all(test, feature = "gpu"))]
impl GnmPose {
    /// A pose without a pack, for tests of what packs coefficients.
    pub(super) fn of_coefficients(coefficients: Vec<f32>) -> GnmPose {
        GnmPose {
            controls: Vec::new(),
            coefficients,
            eye_rotations: [[0.0, 0.0, 0.0, 1.0]; 2],
            joints: JointInput::default(),
            skin_rows: Vec::new(),
        }
    }
}

/// `Rx(pitch) * Ry(yaw)`: pitch > 0 looks down, yaw > 0 toward the character's left. The other order is right on each axis alone and wrong on
/// the diagonal.
fn gaze_rotation(pitch: f32, yaw: f32) -> [f32; 4] {
    let q = DQuat::from_rotation_x(f64::from(pitch)) * DQuat::from_rotation_y(f64::from(yaw));
    q.as_quat().to_array()
}

fn skin_rows(pack: &GnmPack, joints: &JointInput) -> Vec<Rows> {
    let skeleton = pack.skeleton();
    skeleton.skin_rows(&skeleton.worlds(pack.rest_locals(), joints))
}
