//! Joint groups: joint attributes as sums over controls.

use super::RotationOutput;
use super::columns::ordered_columns;
use super::rotation::Euler;
use super::slabs::{Round, Slabs, Stored};
use crate::orl::dna::JointGroup;
use fearless_simd::{Level, Simd, dispatch};

/// The linear rows of every group; rotations of quaternion joints are not among them.
#[derive(Debug, Clone, Default)]
pub(super) struct JointGroups {
    /// (LODs) The groups with active rows.
    lods: Vec<Vec<Group>>,
    stored: Stored,
    /// Where a row goes in the joint buffer, group after group.
    outputs: Vec<u32>,
    /// (LODs) Joints with an active rotation row, for the conversion to quaternions.
    turned: Vec<Vec<u16>>,
}

/// A group at a level: how many of its rows and columns are active.
#[derive(Debug, Clone, Copy)]
struct Group {
    matrix: Slabs,
    rows: usize,
    columns: usize,
    /// The first of its outputs.
    output: usize,
}

impl JointGroups {
    pub(super) fn new(
        groups: &[JointGroup],
        is_quaternion: &[bool],
        lod_count: usize,
        output: RotationOutput,
    ) -> JointGroups {
        let mut lods = vec![vec![]; lod_count];
        let (mut stored, mut outputs) = (Stored::default(), vec![]);
        let mut turned = vec![vec![false; is_quaternion.len()]; lod_count];
        for group in groups {
            let linear = |row: usize| {
                let (joint, attribute) = split(group.outputs[row]);
                !(is_quaternion[joint] && is_rotation(attribute))
            };
            let Some(part) = ordered_columns(group, linear, lod_count) else { continue };
            for (lod, &(rows, _)) in part.lods.iter().enumerate() {
                for &row in &part.rows[..rows as usize] {
                    let (joint, attribute) = split(group.outputs[row]);
                    turned[lod][joint] |= is_rotation(attribute);
                }
            }
            let width = group.inputs.len();
            let value = |row: usize, column: usize| group.values[part.rows[row] * width + part.columns[column]];
            let inputs: Vec<u16> = part.columns.iter().map(|&c| group.inputs[c]).collect();
            let matrix = Slabs::new(&mut stored, part.rows.len(), &inputs, value);
            for (lod, &(rows, columns)) in lods.iter_mut().zip(&part.lods).filter(|(_, (rows, _))| *rows > 0) {
                lod.push(Group { matrix, rows: rows as usize, columns: columns as usize, output: outputs.len() });
            }
            outputs.extend(part.rows.iter().map(|&r| output.slot(group.outputs[r])));
        }
        let joints = |set: &Vec<bool>| (0..set.len()).filter(|&j| set[j]).map(|j| j as u16).collect();
        let turned = match output {
            RotationOutput::Euler => vec![],
            RotationOutput::Quaternion => turned.iter().map(joints).collect(),
        };
        JointGroups { lods, stored, outputs, turned }
    }

    fn active(&self, lod: usize) -> &[Group] {
        self.lods.get(lod).map_or(&[], Vec::as_slice)
    }

    /// The most rounds of columns that a group has.
    pub(super) fn widest(&self) -> usize {
        self.lods.iter().flatten().map(|g| g.matrix.rounds()).max().unwrap_or(0)
    }

    /// Multiply-adds of a level.
    pub(super) fn multiply_adds(&self, lod: usize) -> usize {
        self.active(lod).iter().map(|g| g.rows * g.columns).sum()
    }

    /// Assigns the active rows of a level; a later row of the same attribute wins. `room` is enough for the widest group.
    pub(super) fn run(&self, lod: usize, euler: Euler, controls: &[f32], joints: &mut [f32], room: &mut [Round]) {
        dispatch!(Level::new(), simd => self.multiply(simd, lod, controls, joints, room));
        for &joint in self.turned.get(lod).map_or(&[][..], Vec::as_slice) {
            let rotation = &mut joints[usize::from(joint) * 10 + 3..][..4];
            let q = euler.quaternion([rotation[0], rotation[1], rotation[2]]);
            rotation.copy_from_slice(&q);
        }
    }

    #[inline(always)]
    fn multiply<S: Simd>(&self, simd: S, lod: usize, controls: &[f32], joints: &mut [f32], room: &mut [Round]) {
        for group in self.active(lod) {
            let outputs = &self.outputs[group.output..][..group.rows];
            group.matrix.multiply(simd, &self.stored, group.columns, controls, room, outputs, joints);
        }
    }
}

/// Joint and attribute of an attribute index of the file.
pub(super) fn split(attribute: u16) -> (usize, usize) {
    (usize::from(attribute) / 9, usize::from(attribute) % 9)
}

pub(super) fn is_rotation(attribute: usize) -> bool {
    (3..6).contains(&attribute)
}
