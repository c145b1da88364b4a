//! What of a file is read.

use super::{Behavior, Dna, Networks, Rbf, RbfOutputs};
use std::ops::Range;

/// What of a file is read. The default is everything.
///
/// Control indices, and those of networks, solvers and operations, are the file's own whatever is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadOptions {
    /// Which layers.
    pub layers: Layers,
    /// The levels of detail to keep, the first of them becoming LOD 0; `None` keeps all.
    ///
    /// Joints, channels, animated maps, meshes and rows that no kept level needs go, and those left are renumbered.
    pub lods: Option<Range<u16>>,
    /// Whether the meshes keep their blend shape targets.
    pub blend_shapes: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        LoadOptions { layers: Layers::default(), lods: None, blend_shapes: true }
    }
}

/// The layers that can be left out. Descriptor, definition and conventions are always read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layers {
    /// Layer `bhvr`, but for the number of correctives.
    pub behavior: bool,
    /// Layer `geom`, the largest by far: it is not even looked at when it is left out.
    pub geometry: bool,
    /// Layers `mlbh`, but for the controls' names, and `mlbe`.
    pub networks: bool,
    /// Layers `rbfb` and `rbfe`, but for the controls' names.
    pub rbf: bool,
    /// Layer `jbmd`.
    pub joint_representations: bool,
    /// Layer `twsw`.
    pub twist_swing: bool,
    /// Layers that are not known.
    pub unknown: bool,
}

impl Default for Layers {
    fn default() -> Self {
        Layers {
            behavior: true,
            geometry: true,
            networks: true,
            rbf: true,
            joint_representations: true,
            twist_swing: true,
            unknown: true,
        }
    }
}

impl Layers {
    /// Empties the layers that are left out, keeping what the control indices depend on.
    pub(super) fn apply(self, dna: &mut Dna) {
        if !self.rbf {
            let first = dna.control_counts().total() - dna.control_counts().rbf;
            let names = first..dna.control_counts().total();
            let control_names = names.filter_map(|c| dna.control_name(c).map(str::to_owned)).collect();
            dna.rbf = Rbf::default();
            dna.rbf_outputs = RbfOutputs { control_names, poses: Vec::new() };
        }
        if !self.networks {
            let control_names = std::mem::take(&mut dna.networks.control_names);
            dna.networks = Networks { control_names, ..Networks::default() };
            dna.operation_graph = Default::default();
        }
        if !self.behavior {
            dna.behavior = Behavior { psd_count: dna.behavior.psd_count, ..Behavior::default() };
        }
        if !self.joint_representations {
            dna.joint_representations.clear();
        }
        if !self.twist_swing {
            dna.twist_swing = Default::default();
        }
    }
}
