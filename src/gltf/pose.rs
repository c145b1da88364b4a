//! One instance's controls and joints, turned into what the stage reads.

use super::model::GltfModel;
use super::skin::SkinRow;
use crate::error::ControlError;
use crate::info::JointId;
use crate::lbs::Skinning;
use crate::math::{self, Rows};
use crate::skeleton::{JointInput, JointOverride, Local};
use glam::{Affine3A, DAffine3};

/// The space that vertices come out in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OutputSpace {
    /// The world of the default scene.
    #[default]
    World,
    /// For each part the space of its mesh node's parent; world space for a root. A parent that is squashed flat puts its parts at the origin.
    MeshParent,
}

/// What `gltf_morph` reads for one instance, on either device, and the joints it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct GltfPose {
    space: OutputSpace,
    skinning: Skinning,
    controls: Vec<f32>,
    morph_count: usize,
    locals: Vec<Local>,
    joints: JointInput,
    worlds: Vec<DAffine3>,
    skin_rows: Vec<Rows>,
}

impl GltfPose {
    /// The file's own pose: its node transforms and weights.
    #[must_use]
    pub fn new(model: &GltfModel, space: OutputSpace) -> GltfPose {
        let controls = model.controls().defaults().to_vec();
        let mut pose = GltfPose {
            space,
            skinning: Skinning::default(),
            controls,
            morph_count: model.controls().morph_count(),
            locals: Vec::new(),
            joints: JointInput::default(),
            worlds: Vec::new(),
            skin_rows: Vec::new(),
        };
        model.controls().locals_into(&pose.controls, &mut pose.locals);
        pose.update_skin_rows(model);
        pose
    }

    /// The same, skinned another way.
    #[must_use]
    pub fn with_skinning(self, skinning: Skinning) -> GltfPose {
        GltfPose { skinning, ..self }
    }

    /// Replaces the controls and says whether a skin row or a weight changed.
    ///
    /// # Errors
    /// `Length`, `NotFinite`, `Quaternion` for a rotation that is all zero; the pose stays as it was.
    pub fn set_controls(&mut self, model: &GltfModel, controls: &[f32]) -> Result<bool, ControlError> {
        model.controls().check(controls, model.skeleton().names())?;
        if self.controls == controls {
            return Ok(false);
        }
        let weights_changed = self.morph_weights() != &controls[..self.morph_count];
        self.controls.copy_from_slice(controls);
        model.controls().locals_into(controls, &mut self.locals);
        Ok(self.update_skin_rows(model) || weights_changed)
    }

    /// Replaces the joint overrides and says whether a skin row changed.
    ///
    /// # Errors
    /// See [`crate::skeleton::Skeleton::resolve_overrides`].
    pub fn set_joint_overrides(
        &mut self,
        model: &GltfModel,
        overrides: &[JointOverride],
    ) -> Result<bool, ControlError> {
        self.joints.set_turns(model.skeleton().resolve_overrides(overrides)?);
        Ok(self.update_skin_rows(model))
    }

    /// Replaces the given joint worlds and says whether a skin row changed.
    ///
    /// # Errors
    /// See [`crate::skeleton::Skeleton::resolve_worlds`].
    pub fn set_joint_worlds(
        &mut self,
        model: &GltfModel,
        worlds: &[(JointId, Affine3A)],
    ) -> Result<bool, ControlError> {
        self.joints.set_worlds(model.skeleton().resolve_worlds(worlds)?);
        Ok(self.update_skin_rows(model))
    }

    fn update_skin_rows(&mut self, model: &GltfModel) -> bool {
        self.worlds = model.skeleton().worlds(&self.locals, &self.joints);
        let rows: Vec<Rows> = model.mesh().rows().iter().map(|row| math::rows(&self.output_from_mesh(row))).collect();
        let changed = rows != self.skin_rows;
        self.skin_rows = rows;
        changed
    }

    fn output_from_mesh(&self, row: &SkinRow) -> DAffine3 {
        let world = self.worlds[row.joint] * row.joint_from_mesh;
        match (self.space, row.mesh_parent) {
            (OutputSpace::World, _) | (_, None) => world,
            (OutputSpace::MeshParent, Some(parent)) => {
                let inverse = self.worlds[parent].inverse();
                if inverse.is_finite() { inverse * world } else { DAffine3::ZERO }
            }
        }
    }

    /// The space that the vertices come out in.
    #[must_use]
    pub fn space(&self) -> OutputSpace {
        self.space
    }

    /// How several rows carry a vertex.
    #[must_use]
    pub fn skinning(&self) -> Skinning {
        self.skinning
    }

    /// The controls as they were set, (C).
    #[must_use]
    pub fn controls(&self) -> &[f32] {
        &self.controls
    }

    /// The weights of the morph targets: the first controls.
    #[must_use]
    pub fn morph_weights(&self) -> &[f32] {
        &self.controls[..self.morph_count]
    }

    /// The world transform of every joint, (J).
    #[must_use]
    pub fn worlds(&self) -> &[DAffine3] {
        &self.worlds
    }

    /// `world * inverse bind` for each of the mesh's rows.
    #[must_use]
    pub fn skin_rows(&self) -> &[Rows] {
        &self.skin_rows
    }
}
