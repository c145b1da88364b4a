//! One instance's solved joints and weights, turned into what the stage reads; every mesh of the character shares it.

use super::model::OrlModel;
use super::riglogic::RotationOutput;
use crate::error::ControlError;
use crate::info::JointId;
use crate::math::Rows;
use crate::skeleton::{JointInput, JointOverride, Local};
use glam::Affine3A;

/// What `orl_deform` reads for one instance, on either device, and the joints it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct OrlPose {
    locals: Vec<Local>,
    joints: JointInput,
    weights: Vec<f32>,
    skin_rows: Vec<Rows>,
}

impl OrlPose {
    /// The neutral pose: no joint moved, all weights zero.
    #[must_use]
    pub fn new(model: &OrlModel) -> OrlPose {
        let mut pose = OrlPose {
            locals: model.rest_locals(),
            joints: JointInput::default(),
            weights: vec![0.0; model.channel_count()],
            skin_rows: Vec::new(),
        };
        pose.update_skin_rows(model);
        pose
    }

    /// Replaces what RigLogic solved and says whether a skin row or a weight changed.
    ///
    /// # Shapes
    /// joints: (J, 9) or (J, 10) deltas in file order, as `rotation` says; weights: one for each blend shape channel
    ///
    /// # Errors
    /// `Length`, `NotFinite`; the pose stays as it was.
    pub fn set_solved(
        &mut self,
        model: &OrlModel,
        rotation: RotationOutput,
        joints: &[f32],
        weights: &[f32],
    ) -> Result<bool, ControlError> {
        ControlError::check("joints", joints, model.file_joints().len() * rotation.width())?;
        ControlError::check("blend shapes", weights, model.channel_count())?;
        let weights_changed = self.weights != weights;
        self.weights.copy_from_slice(weights);
        self.locals = model.locals(rotation, joints);
        Ok(self.update_skin_rows(model) || weights_changed)
    }

    /// Replaces the joint overrides and says whether a skin row changed.
    ///
    /// # Errors
    /// See [`crate::skeleton::Skeleton::resolve_overrides`].
    pub fn set_joint_overrides(&mut self, model: &OrlModel, overrides: &[JointOverride]) -> Result<bool, ControlError> {
        self.joints.set_turns(model.skeleton().resolve_overrides(overrides)?);
        Ok(self.update_skin_rows(model))
    }

    /// Replaces the given joint worlds and says whether a skin row changed.
    ///
    /// # Errors
    /// See [`crate::skeleton::Skeleton::resolve_worlds`].
    pub fn set_joint_worlds(&mut self, model: &OrlModel, worlds: &[(JointId, Affine3A)]) -> Result<bool, ControlError> {
        self.joints.set_worlds(model.skeleton().resolve_worlds(worlds)?);
        Ok(self.update_skin_rows(model))
    }

    fn update_skin_rows(&mut self, model: &OrlModel) -> bool {
        let skeleton = model.skeleton();
        let mut rows = skeleton.skin_rows(&skeleton.worlds(&self.locals, &self.joints));
        rows.push(STILL);
        let changed = rows != self.skin_rows;
        self.skin_rows = rows;
        changed
    }

    /// The weights of the blend shape channels.
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// `world * inverse(rest)` of every joint in the skeleton's order, then the identity for what no joint carries, (J + 1).
    #[must_use]
    pub fn skin_rows(&self) -> &[Rows] {
        &self.skin_rows
    }
}

/// The row that moves nothing.
const STILL: Rows = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
