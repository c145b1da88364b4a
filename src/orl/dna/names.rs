//! Accessors that name things: controls by kind, indices by name, coefficients by joint, attribute and control.

use super::{Dna, OperationGraph, RbfPoseOutput};
use std::borrow::Cow;

/// Attributes of one joint: the stride of a joint attribute index.
pub const ATTRIBUTES: usize = 9;

/// One attribute of a joint, numbered as in a joint attribute index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Attribute {
    TranslateX,
    TranslateY,
    TranslateZ,
    RotateX,
    RotateY,
    RotateZ,
    ScaleX,
    ScaleY,
    ScaleZ,
}

/// The kinds of controls, in the order of their control indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlKind {
    /// Set by the host or through the GUI mapping.
    Raw,
    /// A corrective: a product of others. It has no name.
    Psd,
    /// Written by networks.
    Ml,
    /// Written by RBF solvers.
    Rbf,
}

/// How many controls of each kind there are. A control index counts through them in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlCounts {
    /// Raw controls.
    pub raw: usize,
    /// Correctives.
    pub psd: usize,
    /// ML controls.
    pub ml: usize,
    /// RBF pose controls.
    pub rbf: usize,
}

impl ControlCounts {
    /// All controls.
    #[must_use]
    pub fn total(&self) -> usize {
        self.raw + self.psd + self.ml + self.rbf
    }

    /// The kind of a control and its index within the kind; `None` past the last control.
    #[must_use]
    pub fn kind(&self, control: usize) -> Option<(ControlKind, usize)> {
        let kinds = [
            (ControlKind::Raw, self.raw),
            (ControlKind::Psd, self.psd),
            (ControlKind::Ml, self.ml),
            (ControlKind::Rbf, self.rbf),
        ];
        let mut rest = control;
        for (kind, count) in kinds {
            if rest < count {
                return Some((kind, rest));
            }
            rest -= count;
        }
        None
    }
}

impl Dna {
    /// Whether a level of detail shows a mesh; without a map of meshes every level shows all.
    #[must_use]
    pub fn shows(&self, mesh: usize, lod: usize) -> bool {
        let map = &self.definition.lod_meshes;
        map.lods.is_empty() || map.list(lod).iter().any(|&shown| usize::from(shown) == mesh)
    }

    /// How many controls of each kind the rig has.
    #[must_use]
    pub fn control_counts(&self) -> ControlCounts {
        ControlCounts {
            raw: self.definition.raw_control_names.len(),
            psd: self.behavior.psd_count.into(),
            ml: self.networks.control_names.len(),
            rbf: if self.implied_outputs() { self.rbf.poses.len() } else { self.rbf_outputs.control_names.len() },
        }
    }

    /// Files before 2.5 say nothing about what a pose drives: each has a control of its own.
    fn implied_outputs(&self) -> bool {
        self.rbf_outputs.poses.is_empty() && !self.rbf.poses.is_empty()
    }

    /// What the weight of one RBF pose does, stated by the file or implied: the pose's own control, with weight 1.
    ///
    /// `None` for a pose that the rig does not have.
    #[must_use]
    pub fn pose_outputs(&self, pose: usize) -> Option<Cow<'_, RbfPoseOutput>> {
        if !self.implied_outputs() {
            return self.rbf_outputs.poses.get(pose).map(Cow::Borrowed);
        }
        let counts = self.control_counts();
        let control = counts.raw + counts.psd + counts.ml + pose;
        let outputs = vec![u16::try_from(control).ok()?];
        (pose < counts.rbf).then(|| Cow::Owned(RbfPoseOutput { inputs: Vec::new(), outputs, weights: vec![1.0] }))
    }

    /// The name of a control; correctives have none.
    #[must_use]
    pub fn control_name(&self, control: usize) -> Option<&str> {
        let (kind, index) = self.control_counts().kind(control)?;
        let names = match kind {
            ControlKind::Raw => &self.definition.raw_control_names,
            ControlKind::Psd => return None,
            ControlKind::Ml => &self.networks.control_names,
            ControlKind::Rbf if self.implied_outputs() => return self.rbf.poses.get(index).map(|p| p.name.as_str()),
            ControlKind::Rbf => &self.rbf_outputs.control_names,
        };
        names.get(index).map(String::as_str)
    }

    /// The control index of the first control of that name: raw, ML or RBF.
    #[must_use]
    pub fn control(&self, name: &str) -> Option<usize> {
        (0..self.control_counts().total()).find(|&control| self.control_name(control) == Some(name))
    }

    /// The index of the first GUI control of that name.
    #[must_use]
    pub fn gui_control(&self, name: &str) -> Option<usize> {
        position(&self.definition.gui_control_names, name)
    }

    /// The index of the first joint of that name.
    #[must_use]
    pub fn joint(&self, name: &str) -> Option<usize> {
        position(&self.definition.joint_names, name)
    }

    /// The index of the first blend shape channel of that name.
    #[must_use]
    pub fn channel(&self, name: &str) -> Option<usize> {
        position(&self.definition.channel_names, name)
    }

    /// The index of the first animated map of that name.
    #[must_use]
    pub fn animated_map(&self, name: &str) -> Option<usize> {
        position(&self.definition.animated_map_names, name)
    }

    /// The index of the first mesh of that name; the geometry may end before it.
    #[must_use]
    pub fn mesh(&self, name: &str) -> Option<usize> {
        position(&self.definition.mesh_names, name)
    }

    /// How far one control at 1 moves one attribute of one joint at LOD 0, through the joint groups alone.
    ///
    /// Rows are found by their output, never by the order of a group's joints. Where two groups write the attribute, the later one
    /// counts, as in an evaluation.
    #[must_use]
    pub fn coefficient(&self, joint: usize, attribute: Attribute, control: usize) -> f32 {
        let output = joint * ATTRIBUTES + attribute as usize;
        for group in self.behavior.joint_groups.iter().rev() {
            let active = group.lods.first().map_or(0, |&rows| usize::from(rows));
            let Some(row) = group.outputs[..active].iter().rposition(|&o| usize::from(o) == output) else { continue };
            let columns = group.inputs.len();
            let row = &group.values[row * columns..][..columns];
            // A control that fills two columns counts twice.
            return group.inputs.iter().zip(row).filter(|(c, _)| usize::from(**c) == control).map(|(_, v)| v).sum();
        }
        0.0
    }

    /// The raw controls that no row of the GUI mapping drives: the host must set them after the mapping, which zeroes them.
    #[must_use]
    pub fn undriven_raw_controls(&self) -> Vec<usize> {
        let mut driven = vec![false; self.definition.raw_control_names.len()];
        for row in &self.behavior.gui_to_raw {
            driven[usize::from(row.output)] = true;
        }
        (0..driven.len()).filter(|&control| !driven[control]).collect()
    }
}

impl OperationGraph {
    /// The stride of `joint_outputs`: 10 where rotations are quaternions, else 9.
    ///
    /// A file that does not say takes the layout of the evaluator's output; indices are then checked against 9, which holds for both.
    #[must_use]
    pub fn joint_attributes(&self) -> usize {
        let quaternions = self.joint_parameters.iter().any(|p| (p.key, p.value) == (1, 1));
        if quaternions { ATTRIBUTES + 1 } else { ATTRIBUTES }
    }
}

fn position(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|n| n == name)
}
