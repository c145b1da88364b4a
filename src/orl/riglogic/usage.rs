//! Which controls each level of detail reads, and which joint attributes it can move.

use super::animated_maps::AnimatedMaps;
use super::blend_shapes::BlendShapes;
use super::joint_groups::{is_rotation, split};
use super::ml_joints::MlJoints;
use super::twist_swing::TwistSwing;
use crate::orl::dna::{Dna, JointGroup};

/// (LODs, controls) Whether a corrective on this control is evaluated: only joints, channels, maps and ML joints count. What other
/// correctives, networks and solvers read does not.
pub(super) fn used_controls(
    dna: &Dna,
    control_count: usize,
    channels: &BlendShapes,
    maps: &AnimatedMaps,
    ml_joints: &MlJoints,
) -> Vec<Vec<bool>> {
    let mut used = vec![vec![false; control_count]; usize::from(dna.descriptor.lod_count)];
    for group in &dna.behavior.joint_groups {
        let first = first_rows(group);
        for (used, &rows) in used.iter_mut().zip(&group.lods) {
            for (&input, _) in group.inputs.iter().zip(&first).filter(|(_, first)| **first < usize::from(rows)) {
                used[usize::from(input)] = true;
            }
        }
    }
    for (lod, used) in used.iter_mut().enumerate() {
        channels.controls(lod).for_each(|c| used[c] = true);
        maps.controls(lod).for_each(|c| used[c] = true);
        ml_joints.controls(lod, |c| used[c] = true);
    }
    used
}

/// (columns) The first row with a value in the column.
fn first_rows(group: &JointGroup) -> Vec<usize> {
    let mut first = vec![usize::MAX; group.inputs.len()];
    for row in (0..group.outputs.len()).rev() {
        let values = &group.values[row * first.len()..(row + 1) * first.len()];
        for (first, _) in first.iter_mut().zip(values).filter(|(_, value)| **value != 0.0) {
            *first = row;
        }
    }
    first
}

/// (LODs) The joint attributes, nine per joint, that a level can move; ascending.
///
/// One row of a joint that turns as a quaternion moves all three of its angles.
pub(super) fn variable_attributes(
    dna: &Dna,
    is_quaternion: &[bool],
    twists: &TwistSwing,
    ml_joints: &MlJoints,
) -> Vec<Vec<u16>> {
    let attributes_of = |joint: usize| (0..9).map(move |a| (joint * 9 + a) as u16);
    let rotation_of = |joint: usize| attributes_of(joint).filter(|&a| is_rotation(split(a).1));
    let level = |lod: usize| {
        let mut set: Vec<u16> = vec![];
        for group in &dna.behavior.joint_groups {
            let rows = group.lods.get(lod).map_or(0, |&n| usize::from(n));
            let outputs = &group.outputs[..rows];
            let turned = outputs.iter().map(|&a| split(a)).filter(|&(joint, a)| is_quaternion[joint] && is_rotation(a));
            set.extend(turned.flat_map(|(joint, _)| rotation_of(joint)));
            set.extend(outputs);
        }
        set.extend(twists.joints().flat_map(rotation_of));
        set.extend(ml_joints.attributes(lod));
        set.sort_unstable();
        set.dedup();
        set
    };
    (0..usize::from(dna.descriptor.lod_count)).map(level).collect()
}
