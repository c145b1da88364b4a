//! The immutable rig and the order of its stages.

use super::animated_maps::AnimatedMaps;
use super::blend_shapes::BlendShapes;
use super::check::{self, RigCounts};
use super::conditional::ConditionalTable;
use super::correctives::Correctives;
use super::joint_groups::JointGroups;
use super::ml_controls::MlControls;
use super::ml_joints::MlJoints;
use super::quaternion_joints::QuaternionJoints;
use super::rbf::Rbf;
use super::rotation::Euler;
use super::twist_swing::TwistSwing;
use super::{RigState, RotationOutput, usage};
use crate::error::{ControlError, LoadError};
use crate::orl::dna::{Dna, RotationRepresentation};

/// A rig laid out for evaluation.
///
/// It is `Send + Sync` and holds nothing of an evaluation: put it in an `Arc` and give every character a [`RigState`].
#[derive(Debug, Clone)]
pub struct RigLogic {
    pub(super) counts: RigCounts,
    pub(super) output: RotationOutput,
    euler: Euler,
    /// (controls) What a control is before anything writes it.
    pub(super) initial: Vec<f32>,
    gui_to_raw: ConditionalTable,
    ml_controls: MlControls,
    rbf: Rbf,
    correctives: Correctives,
    joint_groups: JointGroups,
    quaternion_joints: QuaternionJoints,
    twist_swing: TwistSwing,
    ml_joints: MlJoints,
    blend_shapes: BlendShapes,
    animated_maps: AnimatedMaps,
    variable_attributes: Vec<Vec<u16>>,
}

impl RigLogic {
    /// The rig of a file, with joint rotations in the given form.
    ///
    /// The form is part of the rig, because it decides how ML joints compose: as sums of angles or as products of quaternions.
    ///
    /// # Errors
    /// `Value` for an index or a setting out of range, `Shape` for arrays, layers or operations that do not fit each other, `Missing` for a
    /// network without layers, `Unsupported` for solvers or operations far larger than their file.
    pub fn new(dna: &Dna, output: RotationOutput) -> Result<RigLogic, LoadError> {
        let counts = RigCounts::of(dna);
        check::check(dna, &counts)?;
        let euler = Euler::of(dna);
        let groups = &dna.behavior.joint_groups;
        let is_quaternion: Vec<bool> = (0..counts.joints)
            .map(|j| {
                let representation = dna.joint_representations.get(j).copied().unwrap_or_default();
                representation.rotation == RotationRepresentation::Quaternion
            })
            .collect();
        let ml_joints = MlJoints::new(dna, counts.controls(), counts.lods, output)?;
        let twist_swing = TwistSwing::new(&dna.twist_swing);
        let blend_shapes = BlendShapes::new(&dna.behavior.channels);
        let animated_maps = AnimatedMaps::new(&dna.behavior);
        let used = usage::used_controls(dna, counts.controls(), &blend_shapes, &animated_maps, &ml_joints);
        Ok(RigLogic {
            euler,
            output,
            initial: initial(dna, &counts),
            gui_to_raw: ConditionalTable::new(&dna.behavior.gui_to_raw),
            ml_controls: MlControls::new(dna, counts.lods, ml_joints.quaternion_ws())?,
            rbf: Rbf::new(dna, counts.raw + counts.psd + counts.ml, counts.lods, euler)?,
            correctives: Correctives::new(&dna.behavior.psd, counts.raw, counts.psd, &used),
            joint_groups: JointGroups::new(groups, &is_quaternion, counts.lods, output),
            quaternion_joints: QuaternionJoints::new(groups, &is_quaternion, counts.lods, euler),
            variable_attributes: usage::variable_attributes(dna, &is_quaternion, &twist_swing, &ml_joints),
            twist_swing,
            ml_joints,
            blend_shapes,
            animated_maps,
            counts,
        })
    }

    /// How many of everything there is.
    #[must_use]
    pub fn counts(&self) -> &RigCounts {
        &self.counts
    }

    /// The form of the joint rotations.
    #[must_use]
    pub fn rotation_output(&self) -> RotationOutput {
        self.output
    }

    /// (raw + psd + ml + rbf) What a control is before anything writes it: 0, or 1 for the w of a quaternion that a solver, a twist, a swing or
    /// an ML joint reads.
    #[must_use]
    pub fn initial_controls(&self) -> &[f32] {
        &self.initial
    }

    /// Raw controls that no row of the GUI table drives and that do not start at 0, with what they start at: the w of quaternions that mapping
    /// clears.
    #[must_use]
    pub fn undriven_initial(&self) -> Vec<(usize, f32)> {
        let mut kept: Vec<_> = self.initial[..self.counts.raw].iter().copied().enumerate().collect();
        self.gui_to_raw.outputs().for_each(|raw| kept[raw].1 = 0.0);
        kept.retain(|&(_, value)| value != 0.0);
        kept
    }

    /// The joint attributes, `joint * 9 + attribute`, that a level of detail can move; all others stay 0. Ascending; a level beyond the last one
    /// is the last.
    #[must_use]
    pub fn variable_attributes(&self, lod: usize) -> &[u16] {
        self.variable_attributes.get(self.level(lod)).map_or(&[], Vec::as_slice)
    }

    /// How many coefficients of the joint groups a level of detail multiplies and adds: the bulk of its cost.
    #[must_use]
    pub fn multiply_adds(&self, lod: usize) -> usize {
        self.joint_groups.multiply_adds(self.level(lod))
    }

    /// Maps GUI controls to the raw controls of a state.
    ///
    /// Every raw control is written: one that no row of the table drives becomes 0, the w of a joint's quaternion included. Set those afterwards,
    /// through [`RigState::raw_mut`].
    ///
    /// # Errors
    /// `Length` for another number of GUI controls; the state stays as it was.
    pub fn set_gui(&self, state: &mut RigState, gui: &[f32]) -> Result<(), ControlError> {
        check_length("GUI controls", self.counts.gui, gui.len())?;
        state.check(self);
        self.gui_to_raw.run(self.gui_to_raw.len(), gui, &mut state.raw);
        Ok(())
    }

    /// Sets the raw controls of a state, as they are: nothing clamps them.
    ///
    /// # Errors
    /// `Length` for another number of raw controls; the state stays as it was.
    pub fn set_raw(&self, state: &mut RigState, raw: &[f32]) -> Result<(), ControlError> {
        check_length("raw controls", self.counts.raw, raw.len())?;
        state.check(self);
        state.raw.copy_from_slice(raw);
        Ok(())
    }

    /// GUI controls that explain raw controls, for tools. The mapping is not one to one, and this is not its exact inverse: per GUI control the
    /// interval that most rows of the table agree on gives the value, 0 where none does.
    ///
    /// # Errors
    /// `Length` for another number of raw or GUI controls.
    pub fn raw_to_gui(&self, raw: &[f32], gui: &mut [f32]) -> Result<(), ControlError> {
        check_length("raw controls", self.counts.raw, raw.len())?;
        check_length("GUI controls", self.counts.gui, gui.len())?;
        self.gui_to_raw.reverse(raw, gui);
        Ok(())
    }

    /// Evaluates the raw controls and masks of a state at a level of detail; a level beyond the last one is the last.
    ///
    /// What the state held of earlier evaluations has no influence. A NaN in a control goes on to what reads it.
    ///
    /// # Panics
    /// If the state is one of another rig.
    ///
    /// # Accuracy
    /// Joint groups, correctives and tables give the very numbers of OpenRigLogic 13.2.5's scalar path; the rest agrees with it to a few f32
    /// roundings, quaternion distances of RBF solvers to 1e-4.
    pub fn evaluate(&self, state: &mut RigState, lod: usize) {
        state.check(self);
        let lod = self.level(lod);
        let RigState { raw, masks, controls, joints, blend_shapes, animated_maps, scratch, rounds, .. } = state;
        controls.copy_from_slice(&self.initial);
        controls[..raw.len()].copy_from_slice(raw);

        self.ml_controls.run(lod, masks, controls, scratch);
        self.rbf.run(lod, controls, scratch);
        self.correctives.run(lod, controls, scratch);

        self.output.reset(joints);
        self.joint_groups.run(lod, self.euler, controls, joints, rounds);
        self.quaternion_joints.run(lod, self.euler, self.output, controls, joints);
        self.twist_swing.run(self.euler, self.output, controls, joints);
        self.ml_joints.run(lod, self.euler, self.output, controls, joints);

        self.blend_shapes.run(lod, controls, blend_shapes);
        self.animated_maps.run(lod, controls, animated_maps);
    }

    /// The room that one stage at a time needs.
    pub(super) fn scratch_len(&self) -> usize {
        let needed = [self.ml_controls.scratch_len(), self.rbf.scratch_len(), self.counts.controls()];
        needed.into_iter().max().unwrap_or(0)
    }

    /// The room that a joint group needs.
    pub(super) fn round_count(&self) -> usize {
        self.joint_groups.widest()
    }

    fn level(&self, lod: usize) -> usize {
        lod.min(self.counts.lods.saturating_sub(1))
    }
}

/// Zeros, and ones for the w of quaternions: known by their names, among the raw controls only where something reads a quaternion.
fn initial(dna: &Dna, counts: &RigCounts) -> Vec<f32> {
    let mut initial = vec![0.0; counts.controls()];
    let is_w = |name: &String| name.ends_with(".w") || name.ends_with(".qw");
    let solvers = dna.rbf.solvers.iter().flat_map(|s| &s.inputs);
    let setups = dna.twist_swing.twists.iter().chain(&dna.twist_swing.swings).flat_map(|s| &s.inputs);
    for control in solvers.chain(setups).map(|&c| usize::from(c)) {
        if dna.definition.raw_control_names.get(control).is_some_and(is_w) {
            initial[control] = 1.0;
        }
    }
    let first_ml = counts.raw + counts.psd;
    for (value, name) in initial[first_ml..].iter_mut().zip(&dna.networks.control_names) {
        if is_w(name) {
            *value = 1.0;
        }
    }
    initial
}

fn check_length(what: &'static str, expected: usize, got: usize) -> Result<(), ControlError> {
    if got == expected { Ok(()) } else { Err(ControlError::Length { what, expected, got }) }
}

#[cfg(test)]
mod tests;
