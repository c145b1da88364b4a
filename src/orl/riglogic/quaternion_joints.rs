//! Joints whose rotation is a quaternion: every column turns by its share, one after the other.

use super::RotationOutput;
use super::columns::ordered_columns;
use super::joint_groups::{is_rotation, split};
use super::rotation::{Euler, IDENTITY, dot, multiply, scale};
use crate::orl::dna::JointGroup;

/// The quaternion rotations of every group.
#[derive(Debug, Clone, Default)]
pub(super) struct QuaternionJoints {
    groups: Vec<Group>,
}

#[derive(Debug, Clone)]
struct Group {
    inputs: Vec<u16>,
    joints: Vec<Joint>,
    /// (joints, inputs) The turn of each column at 1.
    turns: Vec<[f32; 4]>,
    /// (LODs) Active rows and columns.
    lods: Vec<(u32, u32)>,
}

#[derive(Debug, Clone, Copy)]
struct Joint {
    joint: u16,
    /// Its first row among the group's: a level that has this row has the joint, with all its rows.
    first_row: u32,
}

impl QuaternionJoints {
    pub(super) fn new(groups: &[JointGroup], is_quaternion: &[bool], lod_count: usize, euler: Euler) -> Self {
        let mut built = vec![];
        for group in groups {
            let turning = |row: usize| {
                let (joint, attribute) = split(group.outputs[row]);
                is_quaternion[joint] && is_rotation(attribute)
            };
            let Some(part) = ordered_columns(group, turning, lod_count) else { continue };
            // Joints by first appearance, each with the row of the group that gives an attribute.
            let mut joints: Vec<(Joint, [Option<usize>; 3])> = vec![];
            let mut place = vec![None; is_quaternion.len()];
            for (i, &row) in part.rows.iter().enumerate() {
                let (joint, attribute) = split(group.outputs[row]);
                let at = *place[joint].get_or_insert(joints.len());
                if at == joints.len() {
                    joints.push((Joint { joint: joint as u16, first_row: i as u32 }, [None; 3]));
                }
                joints[at].1[attribute - 3] = Some(row);
            }
            let width = group.inputs.len();
            let turn = |rows: &[Option<usize>; 3], column: usize| {
                euler.to_quaternion(rows.map(|row| row.map_or(0.0, |row| group.values[row * width + column])))
            };
            let turns = joints.iter().flat_map(|(_, rows)| part.columns.iter().map(move |&column| turn(rows, column)));
            built.push(Group {
                inputs: part.columns.iter().map(|&c| group.inputs[c]).collect(),
                turns: turns.collect(),
                joints: joints.iter().map(|(joint, _)| *joint).collect(),
                lods: part.lods,
            });
        }
        QuaternionJoints { groups: built }
    }

    /// Assigns the rotations of a level.
    pub(super) fn run(
        &self,
        lod: usize,
        euler: Euler,
        output: RotationOutput,
        controls: &[f32],
        joint_values: &mut [f32],
    ) {
        for group in &self.groups {
            let Some(&(rows, columns)) = group.lods.get(lod) else { continue };
            for (joint, turns) in group.joints.iter().zip(group.turns.chunks_exact(group.inputs.len())) {
                if joint.first_row >= rows {
                    continue;
                }
                let mut rotation = IDENTITY;
                for (turn, &input) in turns.iter().zip(&group.inputs[..columns as usize]) {
                    rotation = multiply(share(*turn, controls[usize::from(input)]), rotation);
                }
                output.set_rotation(euler, joint_values, usize::from(joint.joint), rotation);
            }
        }
    }
}

/// The share `w` of a turn: straight from no rotation towards `q`, or towards `-q` where that is nearer, then back to length 1.
fn share(q: [f32; 4], w: f32) -> [f32; 4] {
    let mut d = scale(q, w);
    d[3] += if q[3] >= 0.0 { 1.0 - w } else { -(1.0 - w) };
    let length = dot(d, d).sqrt();
    d.map(|c| c / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEGREES: Euler = Euler::XYZ_DEGREES;

    fn close(a: [f32; 4], b: [f32; 4]) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-6), "{a:?} against {b:?}");
    }

    fn rotations(group: &JointGroup, lod: usize, controls: &[f32]) -> Vec<[f32; 4]> {
        let joints = QuaternionJoints::new(std::slice::from_ref(group), &[true, true], 2, DEGREES);
        let mut values = vec![0.0; 20];
        joints.run(lod, DEGREES, RotationOutput::Quaternion, controls, &mut values);
        values.chunks(10).map(|j| [j[3], j[4], j[5], j[6]]).collect()
    }

    #[test]
    fn share_of_a_turn_with_negative_w_goes_towards_its_opposite() {
        // (0.8, 0, 0, -0.6) * 0.5 - (0, 0, 0, 0.5) = (0.4, 0, 0, -0.8), of length sqrt(0.8).
        let length = 0.8_f32.sqrt();
        close(share([0.8, 0.0, 0.0, -0.6], 0.5), [0.4 / length, 0.0, 0.0, -0.8 / length]);
        close(share([0.8, 0.0, 0.0, 0.6], 0.5), [0.4 / length, 0.0, 0.0, 0.8 / length]);
    }

    #[test]
    fn columns_turn_one_after_the_other_in_order() {
        // Joint 0: column 0 a quarter turn about x, column 1 a quarter turn about y: q_y * q_x.
        let group = JointGroup {
            lods: vec![2, 2],
            inputs: vec![0, 1],
            outputs: vec![3, 4],
            values: vec![90., 0., 0., 90.],
            joints: vec![0],
        };
        close(rotations(&group, 0, &[1.0, 1.0])[0], [0.5, 0.5, -0.5, 0.5]);
    }

    #[test]
    fn level_that_cuts_a_joint_keeps_its_whole_rotation_and_drops_the_next_joint() {
        // Level 1 has the first row (rx of joint 0): its ry takes part all the same, by the columns that rx has.
        let group = JointGroup {
            lods: vec![3, 1],
            inputs: vec![0, 1],
            outputs: vec![3, 4, 12],
            values: vec![90., 0., 90., 0., 90., 90.],
            joints: vec![0, 1],
        };
        let whole = DEGREES.to_quaternion([90.0, 90.0, 0.0]);
        let at_1 = rotations(&group, 1, &[1.0, 1.0]);
        close(at_1[0], whole);
        assert_eq!(at_1[1], [0.0; 4], "not written");
        assert_ne!(rotations(&group, 0, &[1.0, 1.0])[1], [0.0; 4]);
    }
}
