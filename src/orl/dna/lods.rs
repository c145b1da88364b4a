//! Cutting a checked rig down to a range of its levels of detail.

use super::{ATTRIBUTES, Dna, LodMap, OperationKind};
use crate::error::{LoadError, LoadErrorKind};
use std::ops::Range;

/// The new index of each kept item.
struct Kept(Vec<Option<u16>>);

impl Kept {
    fn new(keep: &[bool]) -> Kept {
        let mut numbers = 0u32..;
        let mut next = || numbers.next().and_then(|n| u16::try_from(n).ok());
        Kept(keep.iter().map(|&keep| if keep { next() } else { None }).collect())
    }

    /// What the kept levels list; everything where the map is unused.
    fn listed(map: &LodMap, count: usize, lods: Range<usize>) -> Vec<bool> {
        let mut keep = vec![map.lods.is_empty(); count];
        lods.flat_map(|lod| map.list(lod)).for_each(|&i| keep[usize::from(i)] = true);
        keep
    }

    fn of(&self, old: u16) -> Option<u16> {
        self.0.get(usize::from(old)).copied().flatten()
    }

    fn retain<T>(&self, values: &mut Vec<T>) {
        let mut keep = self.0.iter();
        values.retain(|_| keep.next().is_some_and(|k| k.is_some()));
    }

    /// As `retain`, for an array that may be longer than the items: what is beyond them stays.
    fn retain_leading<T>(&self, values: &mut Vec<T>) {
        let mut keep = self.0.iter();
        values.retain(|_| keep.next().is_none_or(|k| k.is_some()));
    }

    fn renumber(&self, indices: &mut Vec<u16>) {
        *indices = indices.iter().filter_map(|&i| self.of(i)).collect();
    }

    /// Renumbers the attribute index of a kept joint.
    fn attribute(&self, output: u16, attributes: usize) -> Option<u16> {
        let (joint, attribute) = (usize::from(output) / attributes, usize::from(output) % attributes);
        self.of(joint as u16).map(|joint| (usize::from(joint) * attributes + attribute) as u16)
    }
}

/// Keeps the given levels; the first becomes LOD 0.
pub(super) fn cut(dna: &mut Dna, range: &Range<u16>) -> Result<(), LoadError> {
    let count = dna.descriptor.lod_count;
    if range.is_empty() || range.end > count {
        let expected = format!("a range within 0..{count}");
        return Err(LoadError::new(LoadErrorKind::Value, "options.lods", expected, format!("{range:?}")));
    }
    let lods = usize::from(range.start)..usize::from(range.end);
    dna.descriptor.lod_count = range.end - range.start;
    dna.descriptor.max_lod = dna.descriptor.max_lod.saturating_add(range.start);

    let d = &dna.definition;
    let meshes = Kept::new(&Kept::listed(&d.lod_meshes, d.mesh_names.len(), lods.clone()));
    let channels = Kept::new(&Kept::listed(&d.lod_channels, d.channel_names.len(), lods.clone()));
    let maps = Kept::new(&Kept::listed(&d.lod_animated_maps, d.animated_map_names.len(), lods.clone()));
    meshes.retain(&mut dna.meshes);
    let joints = Kept::new(&needed_joints(dna, lods.clone()));
    let attributes = dna.operation_graph.joint_attributes();

    cut_definition(dna, &lods, [&joints, &channels, &maps, &meshes]);
    cut_behavior(dna, &lods, [&joints, &channels, &maps]);
    for mesh in &mut dna.meshes {
        // Every joint of a kept skin is kept, so weights and joints stay parallel.
        mesh.skin.iter_mut().for_each(|row| joints.renumber(&mut row.joints));
        mesh.targets.retain_mut(|target| channels.of(target.channel).inspect(|&c| target.channel = c).is_some());
    }
    cut_map(&mut dna.networks.lod_networks, &lods, None);
    meshes.retain_leading(&mut dna.networks.region_names);
    meshes.retain_leading(&mut dna.networks.region_networks);
    cut_map(&mut dna.rbf.lod_solvers, &lods, None);
    joints.retain(&mut dna.joint_representations);
    for setup in dna.twist_swing.twists.iter_mut().chain(&mut dna.twist_swing.swings) {
        let pairs = setup.joints.iter().zip(&setup.weights).filter_map(|(&j, &w)| Some((joints.of(j)?, w)));
        (setup.joints, setup.weights) = pairs.unzip();
    }
    cut_graph(dna, &lods, usize::from(count), &joints, attributes);
    Ok(())
}

/// The joints that the kept levels list or whose meshes hang on, and all above them.
fn needed_joints(dna: &Dna, lods: Range<usize>) -> Vec<bool> {
    let definition = &dna.definition;
    let mut keep = Kept::listed(&definition.lod_joints, definition.joint_names.len(), lods);
    for row in dna.meshes.iter().flat_map(|m| &m.skin) {
        row.joints.iter().for_each(|&j| keep[usize::from(j)] = true);
    }
    for joint in 0..keep.len() {
        let mut at = joint;
        // A kept parent was reached from below before, or will be by the loop itself.
        while keep[at] && !keep[usize::from(definition.joint_parents[at])] {
            at = definition.joint_parents[at].into();
            keep[at] = true;
        }
    }
    keep
}

fn cut_definition(dna: &mut Dna, lods: &Range<usize>, [joints, channels, maps, meshes]: [&Kept; 4]) {
    let d = &mut dna.definition;
    cut_map(&mut d.lod_joints, lods, Some(joints));
    cut_map(&mut d.lod_channels, lods, Some(channels));
    cut_map(&mut d.lod_animated_maps, lods, Some(maps));
    cut_map(&mut d.lod_meshes, lods, Some(meshes));
    joints.retain(&mut d.joint_names);
    joints.retain(&mut d.joint_parents);
    joints.renumber(&mut d.joint_parents);
    joints.retain(&mut d.neutral_translations);
    joints.retain(&mut d.neutral_rotations);
    channels.retain(&mut d.channel_names);
    maps.retain(&mut d.animated_map_names);
    meshes.retain(&mut d.mesh_names);
    d.mesh_channels.retain_mut(|pair| match (meshes.of(pair.mesh), channels.of(pair.channel)) {
        (Some(mesh), Some(channel)) => {
            (pair.mesh, pair.channel) = (mesh, channel);
            true
        }
        _ => false,
    });
}

fn cut_behavior(dna: &mut Dna, lods: &Range<usize>, [joints, channels, maps]: [&Kept; 3]) {
    let behavior = &mut dna.behavior;
    let rows = dna.definition.joint_names.len() * ATTRIBUTES;
    behavior.joint_row_count = u16::try_from(rows).unwrap_or(u16::MAX);
    for group in &mut behavior.joint_groups {
        let columns = group.inputs.len();
        let kept = cut_rows(&mut group.lods, lods, |row| joints.attribute(group.outputs[row], ATTRIBUTES));
        group.values = kept.iter().flat_map(|&(row, _)| &group.values[row * columns..][..columns]).copied().collect();
        group.outputs = kept.into_iter().map(|(_, output)| output).collect();
        joints.renumber(&mut group.joints);
    }
    behavior.joint_groups.retain(|group| !group.outputs.is_empty());
    let table = &mut behavior.channels;
    let kept = cut_rows(&mut table.lods, lods, |row| channels.of(table.outputs[row]));
    table.inputs = kept.iter().map(|&(row, _)| table.inputs[row]).collect();
    table.outputs = kept.into_iter().map(|(_, output)| output).collect();
    let table = &mut behavior.animated_maps;
    let kept = cut_rows(&mut behavior.animated_map_lods, lods, |row| maps.of(table[row].output));
    *table = kept.into_iter().map(|(row, output)| super::Conditional { output, ..table[row] }).collect();
}

/// The rows that some kept level has active and whose output is kept, with its new index; `rows_by_lod` counts them anew.
fn cut_rows(
    rows_by_lod: &mut Vec<u16>,
    lods: &Range<usize>,
    output: impl Fn(usize) -> Option<u16>,
) -> Vec<(usize, u16)> {
    let active = rows_by_lod.get(lods.clone()).unwrap_or(&[]).to_vec();
    let most = active.iter().copied().max().unwrap_or(0);
    let kept: Vec<(usize, u16)> = (0..usize::from(most)).filter_map(|row| Some((row, output(row)?))).collect();
    let leading = |rows: &u16| kept.iter().filter(|(row, _)| *row < usize::from(*rows)).count() as u16;
    *rows_by_lod = active.iter().map(leading).collect();
    kept
}

/// Keeps the lists that the levels use, with their entries renumbered where they are.
fn cut_map(map: &mut LodMap, lods: &Range<usize>, kept: Option<&Kept>) {
    let used = map.lods.get(lods.clone()).unwrap_or(&[]).to_vec();
    let keep: Vec<bool> = (0..map.lists.len()).map(|list| used.iter().any(|&u| usize::from(u) == list)).collect();
    let lists = Kept::new(&keep);
    lists.retain(&mut map.lists);
    map.lods = used;
    lists.renumber(&mut map.lods);
    if let Some(kept) = kept {
        map.lists.iter_mut().for_each(|list| kept.renumber(list));
    }
}

fn cut_graph(dna: &mut Dna, lods: &Range<usize>, lod_count: usize, joints: &Kept, attributes: usize) {
    let graph = &mut dna.operation_graph;
    for kind in &mut graph.types {
        kind.lod_operations.iter_mut().for_each(|map| cut_map(map, lods, None));
        let networks = kind.sets.iter_mut().flatten().filter(|o| o.kind == OperationKind::Mlp);
        for operation in networks {
            // After the network, row counts by layer and level.
            let rows = operation.parameters[1..].chunks(lod_count).flat_map(|layer| &layer[lods.clone()]);
            operation.parameters = operation.parameters[..1].iter().chain(rows).copied().collect();
        }
    }
    let pairs = graph.joint_inputs.iter().zip(&graph.joint_outputs);
    let pairs = pairs.filter_map(|(&input, &output)| Some((input, joints.attribute(output, attributes)?)));
    (graph.joint_inputs, graph.joint_outputs) = pairs.unzip();
}
