//! What belongs to one character: its controls and its results.

use super::slabs::Round;
use super::{RigCounts, RigLogic};
use std::ops::Range;

/// The controls and results of one character, a few tens of kilobytes.
///
/// After [`RigLogic::evaluate`] every buffer of the evaluation can be read; before the first one the results are at rest.
#[derive(Debug, Clone)]
pub struct RigState {
    counts: RigCounts,
    pub(super) raw: Vec<f32>,
    pub(super) masks: Vec<f32>,
    pub(super) controls: Vec<f32>,
    pub(super) joints: Vec<f32>,
    pub(super) blend_shapes: Vec<f32>,
    pub(super) animated_maps: Vec<f32>,
    /// Room for one stage at a time.
    pub(super) scratch: Vec<f32>,
    /// Room for one joint group at a time.
    pub(super) rounds: Vec<Round>,
}

impl RigState {
    /// A state of this rig: controls at their initial values, masks at 1, nothing moved.
    #[must_use]
    pub fn new(rig: &RigLogic) -> RigState {
        let counts = rig.counts;
        let mut joints = vec![0.0; counts.joints * rig.output.width()];
        rig.output.reset(&mut joints);
        RigState {
            counts,
            raw: rig.initial[..counts.raw].to_vec(),
            masks: vec![1.0; counts.masks],
            controls: rig.initial.clone(),
            joints,
            blend_shapes: vec![0.0; counts.channels],
            animated_maps: vec![0.0; counts.animated_maps],
            scratch: vec![0.0; rig.scratch_len()],
            rounds: vec![Round::default(); rig.round_count()],
        }
    }

    /// A state is made for one rig, and another one would read it wrongly.
    pub(super) fn check(&self, rig: &RigLogic) {
        let sizes = (self.counts, self.joints.len(), self.scratch.len(), self.rounds.len());
        let expected = (rig.counts, rig.counts.joints * rig.output.width(), rig.scratch_len(), rig.round_count());
        assert_eq!(sizes, expected, "a RigState is evaluated by the rig it was made for");
    }

    /// (raw) The raw controls that the next evaluation reads.
    #[must_use]
    pub fn raw(&self) -> &[f32] {
        &self.raw
    }

    /// (raw) The raw controls, for setting single ones after GUI mapping.
    pub fn raw_mut(&mut self) -> &mut [f32] {
        &mut self.raw
    }

    /// (masks) One number for each ML region of each mesh, mesh-major: exactly 0 switches the region's networks off, anything else is on.
    pub fn masks_mut(&mut self) -> &mut [f32] {
        &mut self.masks
    }

    /// (raw + psd + ml + rbf) All controls of the last evaluation.
    #[must_use]
    pub fn controls(&self) -> &[f32] {
        &self.controls
    }

    /// (psd) The correctives; 0 where the level of detail does not use one.
    #[must_use]
    pub fn psd(&self) -> &[f32] {
        &self.controls[self.part(0, self.counts.psd)]
    }

    /// (ml) The ML controls.
    #[must_use]
    pub fn ml(&self) -> &[f32] {
        &self.controls[self.part(self.counts.psd, self.counts.ml)]
    }

    /// (rbf) The RBF pose controls.
    #[must_use]
    pub fn rbf(&self) -> &[f32] {
        &self.controls[self.part(self.counts.psd + self.counts.ml, self.counts.rbf)]
    }

    /// (J, 9 or 10) Joint deltas relative to the neutral pose, in the rig's units; see [`RotationOutput`](super::RotationOutput). A scale delta
    /// is added to 1.
    #[must_use]
    pub fn joints(&self) -> &[f32] {
        &self.joints
    }

    /// (channels) Blend shape weights, unclamped.
    #[must_use]
    pub fn blend_shapes(&self) -> &[f32] {
        &self.blend_shapes
    }

    /// (maps) Animated map weights, in 0..1.
    #[must_use]
    pub fn animated_maps(&self) -> &[f32] {
        &self.animated_maps
    }

    fn part(&self, offset: usize, count: usize) -> Range<usize> {
        let start = self.counts.raw + offset;
        start..start + count
    }
}
