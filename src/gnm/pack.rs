//! The runtime pack: one identity, ready to pose.

use crate::error::LoadError;
use crate::info::{RigMesh, Units};
use crate::lbs::Influences;
use crate::skeleton::{Local, Skeleton};
use glam::DAffine3;

/// A run of expression coefficients with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// `left_eye`, `right_eye`, `lower_face`, `tongue`, `pupils`.
    pub name: String,
    /// How many coefficients.
    pub count: usize,
}

/// How the basis entries are stored; an entry times its coefficient's scale is metres per unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BasisFormat {
    /// IEEE half floats.
    F16,
    /// Whole numbers -127..=127.
    I8,
}

/// One baked head.
#[derive(Debug, Clone, PartialEq)]
pub struct GnmPack {}

impl GnmPack {
    /// Reads and checks an `.aosrig`.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn read(_bytes: Vec<u8>) -> Result<GnmPack, LoadError> {
        todo!()
    }

    /// The pack as bytes; what was read comes back byte for byte.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        todo!()
    }

    /// V.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        todo!()
    }

    /// E, expression coefficients; the controls are these and four gaze angles.
    #[must_use]
    pub fn coefficient_count(&self) -> usize {
        todo!()
    }

    /// The unit of every length in the pack.
    #[must_use]
    pub fn units(&self) -> Units {
        todo!()
    }

    /// The runs that the coefficients fall into, in order; they tile 0..E.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        todo!()
    }

    /// `left_eye_000` ... `pupils_000`, then `gaze_pitch_l`, `gaze_yaw_l`, `gaze_pitch_r`, `gaze_yaw_r`; (E + 4).
    #[must_use]
    pub fn control_names(&self) -> Vec<String> {
        todo!()
    }

    /// (V, 3), head-local.
    #[must_use]
    pub fn neutral(&self) -> &[[f32; 3]] {
        todo!()
    }

    /// `stitchLocal`: what is added after gaze and before skinning, (V, 3), head-local.
    #[must_use]
    pub fn seam(&self) -> Option<&[[f32; 3]]> {
        todo!()
    }

    /// How the basis is stored.
    #[must_use]
    pub fn basis_format(&self) -> BasisFormat {
        todo!()
    }

    /// The basis as stored, vertex-major (V, E, 3): little-endian halves or int8.
    #[must_use]
    pub fn basis_bytes(&self) -> &[u8] {
        todo!()
    }

    /// What a stored basis entry is multiplied by, (E).
    #[must_use]
    pub fn basis_scale(&self) -> &[f32] {
        todo!()
    }

    /// The centres that the left and the right eye turn about, head-local.
    #[must_use]
    pub fn eye_positions(&self) -> [[f32; 3]; 2] {
        todo!()
    }

    /// How much each vertex follows the left and the right eye, (2, V).
    #[must_use]
    pub fn eye_weights(&self) -> [&[f32]; 2] {
        todo!()
    }

    /// The joints, with `inverse(restWorld) * bindTransform` in each.
    #[must_use]
    pub fn skeleton(&self) -> &Skeleton {
        todo!()
    }

    /// Each joint's rest transform in its parent, (J).
    #[must_use]
    pub fn rest_locals(&self) -> &[Local] {
        todo!()
    }

    /// The transform from head-local to the space of the body's bind pose.
    #[must_use]
    pub fn bind_transform(&self) -> DAffine3 {
        todo!()
    }

    /// The influences with their weights as stored.
    #[must_use]
    pub fn influences(&self) -> &Influences {
        todo!()
    }

    /// (T, 3); empty in a lean pack.
    #[must_use]
    pub fn faces(&self) -> &[[u32; 3]] {
        todo!()
    }

    /// What to draw: triangles grouped into skin, eyes and the parts of the mouth.
    #[must_use]
    pub fn mesh(&self) -> RigMesh {
        todo!()
    }
}
