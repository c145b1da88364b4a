//! From controls to joints and channels: the matrix in blocks, and the lists of the levels.

use super::controls::RawControl;
use super::jaw::jaw_motion;
use super::joints::{Joint, NAMED_COUNT};
use crate::head::canvas::Field;
use crate::orl::dna::{ATTRIBUTES, JointGroup, LodMap};
use glam::DVec3;
use indexmap::IndexMap;

const CM: f64 = 100.0;

/// By control: the joints of the surface that carry part of its field, and their ways, metres.
pub(super) type Carried = Vec<Vec<(usize, DVec3)>>;

/// Takes each control's field at the joints of the surface from number `first` on.
pub(super) fn carried<'a>(joints: &[Joint], fields: impl Iterator<Item = &'a Field>, first: usize) -> Carried {
    let at = |field: &Field, joint: &Joint| {
        let vertex = joint.vertex? as u32;
        field.binary_search_by_key(&vertex, |(v, _)| *v).ok().map(|found| field[found].1)
    };
    let surface = || joints.iter().enumerate().skip(first.max(NAMED_COUNT));
    fields.map(|field| surface().filter_map(|(index, joint)| Some((index, at(field, joint)?))).collect()).collect()
}

/// The joint groups, one for each region of the face and one for the bones: nine values for each joint and control that moves it.
///
/// `joints_by_lod` says how many leading joints each level has.
pub(super) fn joint_groups(
    joints: &[Joint],
    controls: &[RawControl],
    carried: &Carried,
    joints_by_lod: &[usize],
) -> Vec<JointGroup> {
    let mut regions: IndexMap<&str, Vec<usize>> = IndexMap::new();
    for (index, joint) in joints.iter().enumerate() {
        regions.entry(&joint.region).or_default().push(index);
    }
    let columns = columns(joints, controls, carried);
    regions.into_values().filter_map(|members| group(&members, &columns, joints_by_lod)).collect()
}

/// By joint: the controls that move it, ascending, with its nine attributes at full effort.
fn columns(joints: &[Joint], controls: &[RawControl], carried: &Carried) -> Vec<Vec<(usize, [f32; ATTRIBUTES])>> {
    let mut columns: Vec<Vec<(usize, [f32; ATTRIBUTES])>> = joints.iter().map(|_| vec![]).collect();
    for (index, ways) in carried.iter().enumerate() {
        let mut values: IndexMap<usize, [f64; ATTRIBUTES]> = IndexMap::new();
        for (joint, way) in ways {
            add(values.entry(*joint).or_default(), CM * *way, DVec3::ZERO);
        }
        if let Some(control) = controls.get(index) {
            for (name, attribute, value) in control.joints() {
                let joint = joints.iter().position(|j| j.name == name).expect("the tables name joints that there are");
                values.entry(joint).or_default()[attribute as usize] += f64::from(value);
            }
            if let Some(motion) = jaw_motion(control) {
                for (joint, place) in joints.iter().enumerate().skip(NAMED_COUNT) {
                    if place.jaw_share > 0.0 {
                        let (way, angles) = motion.of_joint(place);
                        add(values.entry(joint).or_default(), CM * way, angles);
                    }
                }
            }
        }
        for (joint, values) in values {
            // What rounds to nothing is left out.
            let values = values.map(|x| if x.abs() < 1e-5 { 0.0 } else { x as f32 });
            if values != [0.0; ATTRIBUTES] {
                columns[joint].push((index, values));
            }
        }
    }
    columns
}

fn add(values: &mut [f64; ATTRIBUTES], way: DVec3, angles: DVec3) {
    for axis in 0..3 {
        values[axis] += way[axis];
        values[3 + axis] += angles[axis];
    }
}

/// The block of some joints, rows in their order: so a coarser level, which has the leading joints, has the leading rows.
fn group(
    members: &[usize],
    columns: &[Vec<(usize, [f32; ATTRIBUTES])>],
    joints_by_lod: &[usize],
) -> Option<JointGroup> {
    let mut inputs: Vec<u16> = members.iter().flat_map(|j| columns[*j].iter().map(|(c, _)| *c as u16)).collect();
    inputs.sort_unstable();
    inputs.dedup();
    let mut group = JointGroup { inputs, ..JointGroup::default() };
    for &joint in members {
        for attribute in 0..ATTRIBUTES {
            if columns[joint].iter().all(|(_, values)| values[attribute] == 0.0) {
                continue;
            }
            group.outputs.push((joint * ATTRIBUTES + attribute) as u16);
            let first = group.values.len();
            group.values.resize(first + group.inputs.len(), 0.0);
            for (control, values) in &columns[joint] {
                let column = group.inputs.binary_search(&(*control as u16)).expect("a column for every control");
                group.values[first + column] = values[attribute];
            }
        }
        if !columns[joint].is_empty() {
            group.joints.push(joint as u16);
        }
    }
    let active = |count: &usize| group.outputs.iter().filter(|o| usize::from(**o) / ATTRIBUTES < *count).count() as u16;
    group.lods = joints_by_lod.iter().map(active).collect();
    (!group.outputs.is_empty()).then_some(group)
}

/// Levels that have so many leading ones each; equal levels share a list.
pub(super) fn leading(counts: &[usize]) -> LodMap {
    lists(counts.iter().map(|&count| (0..count as u16).collect()))
}

/// A list for each level; equal ones are stored once.
pub(super) fn lists(lists: impl Iterator<Item = Vec<u16>>) -> LodMap {
    let mut map = LodMap::default();
    for list in lists {
        let known = map.lists.iter().position(|other| *other == list);
        let row = known.unwrap_or_else(|| {
            map.lists.push(list);
            map.lists.len() - 1
        });
        map.lods.push(row as u16);
    }
    map
}
