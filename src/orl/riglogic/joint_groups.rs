//! Joint groups: joint attributes as sums over controls.

use super::RotationOutput;
use super::blocks::Blocks;
use super::columns::ordered_columns;
use super::rotation::Euler;
use crate::orl::dna::JointGroup;

/// The linear rows of every group; rotations of quaternion joints are not among them.
#[derive(Debug, Clone, Default)]
pub(super) struct JointGroups {
    groups: Vec<Group>,
    /// (LODs) Joints with an active rotation row, for the conversion to quaternions.
    turned: Vec<Vec<u16>>,
}

#[derive(Debug, Clone)]
struct Group {
    matrix: Blocks,
    inputs: Vec<u16>,
    /// (rows) Where a row goes in the joint buffer.
    outputs: Vec<u32>,
    /// (LODs) Active rows and columns.
    lods: Vec<(u32, u32)>,
}

impl JointGroups {
    pub(super) fn new(
        groups: &[JointGroup],
        is_quaternion: &[bool],
        lod_count: usize,
        output: RotationOutput,
    ) -> JointGroups {
        let mut built = vec![];
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
            built.push(Group {
                matrix: Blocks::new(part.rows.len(), part.columns.len(), value),
                inputs: part.columns.iter().map(|&c| group.inputs[c]).collect(),
                outputs: part.rows.iter().map(|&r| output.slot(group.outputs[r])).collect(),
                lods: part.lods,
            });
        }
        let joints = |set: &Vec<bool>| (0..set.len()).filter(|&j| set[j]).map(|j| j as u16).collect();
        let turned = match output {
            RotationOutput::Euler => vec![],
            RotationOutput::Quaternion => turned.iter().map(joints).collect(),
        };
        JointGroups { groups: built, turned }
    }

    /// The most inputs that a group has.
    pub(super) fn widest(&self) -> usize {
        self.groups.iter().map(|g| g.inputs.len()).max().unwrap_or(0)
    }

    /// Assigns the active rows of a level; a later row of the same attribute wins. `gathered` has room for the widest group.
    pub(super) fn run(&self, lod: usize, euler: Euler, controls: &[f32], joints: &mut [f32], gathered: &mut [f32]) {
        for group in &self.groups {
            let Some(&(rows, columns)) = group.lods.get(lod).filter(|(rows, _)| *rows > 0) else { continue };
            let gathered = &mut gathered[..columns as usize];
            for (x, &input) in gathered.iter_mut().zip(&group.inputs) {
                *x = controls[usize::from(input)];
            }
            group.matrix.multiply(rows as usize, gathered, |row, sum| joints[group.outputs[row] as usize] = sum);
        }
        for &joint in self.turned.get(lod).map_or(&[][..], Vec::as_slice) {
            let rotation = &mut joints[usize::from(joint) * 10 + 3..][..4];
            let q = euler.to_quaternion([rotation[0], rotation[1], rotation[2]]);
            rotation.copy_from_slice(&q);
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
