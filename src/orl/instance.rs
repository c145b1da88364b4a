//! One instance of a character: its controls, solved by RigLogic into the pose that the stage reads.

use super::controls::ControlLayer;
use super::pose::OrlPose;
use super::rig::{OrlRig, Parts};
use super::riglogic::{RigState, RotationOutput};
use crate::error::ControlError;
use crate::info::JointId;
use crate::skeleton::JointOverride;
use crate::sparse::TargetWeights;
use glam::Affine3A;

/// The controls of one character and all that follows from them, for every mesh of it.
#[derive(Debug, Clone)]
pub struct OrlInstance {
    controls: Vec<f32>,
    raw: Vec<(usize, f32)>,
    /// What GUI mapping clears and no GUI control gives back; see [`RigLogic::undriven_initial`](super::riglogic::RigLogic::undriven_initial).
    undriven: Vec<(usize, f32)>,
    state: RigState,
    /// Room for a vector of the layer.
    layer: Vec<f32>,
    pose: OrlPose,
    coefficients: TargetWeights,
    /// Room for the coefficients that are not accepted yet.
    next: TargetWeights,
}

impl OrlInstance {
    /// An instance at the default controls.
    #[must_use]
    pub fn new(rig: &OrlRig) -> OrlInstance {
        rig.rest().clone()
    }

    /// The instance at these controls, before there is a rig.
    pub(super) fn at(parts: &Parts, controls: &[f32]) -> Result<OrlInstance, ControlError> {
        let pose = OrlPose::new(parts.model);
        let coefficients = parts.mesh.deltas().weigh(pose.weights());
        let mut instance = OrlInstance {
            controls: controls.to_vec(),
            raw: Vec::new(),
            undriven: parts.logic.undriven_initial(),
            state: RigState::new(parts.logic),
            layer: Vec::new(),
            pose,
            next: coefficients.clone(),
            coefficients,
        };
        instance.solve(parts)?;
        Ok(instance)
    }

    /// Replaces the controls and says whether a joint or a weight moved.
    ///
    /// # Shapes
    /// controls: (C), in the order of [`OrlRig::controls`]
    ///
    /// # Errors
    /// `Length`, `NotFinite` - also where finite controls move something out of the range of f32; the instance stays as it was.
    pub fn set_controls(&mut self, rig: &OrlRig, controls: &[f32]) -> Result<bool, ControlError> {
        ControlError::check("controls", controls, self.controls.len())?;
        if self.controls == controls {
            return Ok(false);
        }
        let before = std::mem::replace(&mut self.controls, controls.to_vec());
        self.solve_or(rig, |instance| instance.controls = before)
    }

    /// Replaces the raw controls that are set on top of the mapped ones, and says whether a joint or a weight moved.
    ///
    /// They stay until the next call; an empty list leaves every raw control to the controls. A raw control that no row of the GUI table drives
    /// otherwise stands at the rig's initial value.
    ///
    /// # Shapes
    /// raw: pairs of a raw control's index in the file and its value
    ///
    /// # Errors
    /// `RawControl` - an index that the rig does not have; `NotFinite`; the instance stays as it was.
    pub fn set_raw(&mut self, rig: &OrlRig, raw: &[(usize, f32)]) -> Result<bool, ControlError> {
        let raw_count = rig.logic().counts().raw;
        for &(index, value) in raw {
            if index >= raw_count {
                return Err(ControlError::RawControl { got: index, raw_count });
            }
            if !value.is_finite() {
                return Err(ControlError::NotFinite { what: "raw controls", index, value });
            }
        }
        if self.raw == raw {
            return Ok(false);
        }
        let before = std::mem::replace(&mut self.raw, raw.to_vec());
        self.solve_or(rig, |instance| instance.raw = before)
    }

    /// Switches the regions of ML networks, and says whether a joint or a weight moved.
    ///
    /// # Shapes
    /// masks: one for each ML region of each mesh, mesh-major; exactly 0 switches a region off
    ///
    /// # Errors
    /// `Length`, `NotFinite`; the instance stays as it was.
    pub fn set_masks(&mut self, rig: &OrlRig, masks: &[f32]) -> Result<bool, ControlError> {
        ControlError::check("masks", masks, rig.logic().counts().masks)?;
        let before = self.state.masks_mut().to_vec();
        self.state.masks_mut().copy_from_slice(masks);
        self.solve_or(rig, |instance| instance.state.masks_mut().copy_from_slice(&before))
    }

    /// Replaces the joint overrides and says whether a skin row changed.
    ///
    /// # Errors
    /// See [`crate::skeleton::Skeleton::resolve_overrides`].
    pub fn set_joint_overrides(&mut self, rig: &OrlRig, overrides: &[JointOverride]) -> Result<bool, ControlError> {
        self.pose.set_joint_overrides(rig.model(), overrides)
    }

    /// Replaces the given joint worlds and says whether a skin row changed.
    ///
    /// # Errors
    /// See [`crate::skeleton::Skeleton::resolve_worlds`].
    pub fn set_joint_worlds(&mut self, rig: &OrlRig, worlds: &[(JointId, Affine3A)]) -> Result<bool, ControlError> {
        self.pose.set_joint_worlds(rig.model(), worlds)
    }

    /// Solves again; what is refused is undone, results included.
    fn solve_or(&mut self, rig: &OrlRig, undo: impl FnOnce(&mut OrlInstance)) -> Result<bool, ControlError> {
        let parts = rig.parts();
        self.solve(&parts).inspect_err(|_| {
            undo(self);
            self.run(&parts);
        })
    }

    fn solve(&mut self, parts: &Parts) -> Result<bool, ControlError> {
        self.run(parts);
        let (joints, weights) = (self.state.joints(), self.state.blend_shapes());
        parts.mesh.deltas().weigh_into(weights, &mut self.next);
        // A finite weight times a huge scale could still become infinite, and vertices NaN.
        let not_finite = |c: &f32| !c.is_finite();
        if let Some(index) = self.next.coefficients.iter().position(not_finite) {
            let value = self.next.coefficients[index];
            return Err(ControlError::NotFinite { what: "blend shape weights times delta scale", index, value });
        }
        let moved = self.pose.set_solved(parts.model, RotationOutput::Euler, joints, weights)?;
        std::mem::swap(&mut self.coefficients, &mut self.next);
        Ok(moved)
    }

    /// From the controls to the solved state.
    fn run(&mut self, parts: &Parts) {
        let OrlInstance { controls, raw, undriven, state, layer, .. } = self;
        let logic = parts.logic;
        layer.clear();
        match parts.controls.layer() {
            ControlLayer::Gui => {
                layer.resize(logic.counts().gui, 0.0);
                parts.controls.scatter(controls, layer);
                logic.set_gui(state, layer).expect("a vector of the layer's length");
                // A quaternion whose w is 0 too is no rotation: a swing of it is not a number.
                undriven.iter().for_each(|&(index, value)| state.raw_mut()[index] = value);
            }
            ControlLayer::Raw => {
                layer.extend(&logic.initial_controls()[..logic.counts().raw]);
                parts.controls.scatter(controls, layer);
                logic.set_raw(state, layer).expect("a vector of the layer's length");
            }
        }
        for &(index, value) in raw.iter() {
            state.raw_mut()[index] = value;
        }
        logic.evaluate(state, parts.lod);
    }

    /// (C) The controls as they stand.
    #[must_use]
    pub fn controls(&self) -> &[f32] {
        &self.controls
    }

    /// Every buffer of the last evaluation.
    #[must_use]
    pub fn state(&self) -> &RigState {
        &self.state
    }

    /// Skin rows and channel weights.
    #[must_use]
    pub fn pose(&self) -> &OrlPose {
        &self.pose
    }

    /// The weights by target, as the stage reads them.
    #[must_use]
    pub fn coefficients(&self) -> &TargetWeights {
        &self.coefficients
    }
}
