//! What evaluation indexes without looking: checked once, for files that were read as well as for ones made in memory.

use crate::error::{LoadError, LoadErrorKind};
use crate::orl::dna::{Conditional, Dna, LodMap, OperationKind, TwistSwingSetup};
use std::fmt::Display;

/// How many of everything a rig has. Controls are numbered raw, then correctives, then ML, then RBF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RigCounts {
    /// Levels of detail.
    pub lods: usize,
    /// GUI controls.
    pub gui: usize,
    /// Raw controls.
    pub raw: usize,
    /// Correctives.
    pub psd: usize,
    /// ML controls.
    pub ml: usize,
    /// RBF pose controls.
    pub rbf: usize,
    /// Joints.
    pub joints: usize,
    /// Blend shape channels.
    pub channels: usize,
    /// Animated maps.
    pub animated_maps: usize,
    /// Masks of ML regions, mesh-major.
    pub masks: usize,
}

impl RigCounts {
    pub(super) fn of(dna: &Dna) -> RigCounts {
        let (definition, poses) = (&dna.definition, &dna.rbf_outputs.poses);
        RigCounts {
            lods: usize::from(dna.descriptor.lod_count),
            gui: definition.gui_control_names.len(),
            raw: definition.raw_control_names.len(),
            psd: usize::from(dna.behavior.psd_count),
            ml: dna.networks.control_names.len(),
            rbf: if poses.is_empty() { dna.rbf.poses.len() } else { dna.rbf_outputs.control_names.len() },
            joints: definition.joint_names.len(),
            channels: definition.channel_names.len(),
            animated_maps: definition.animated_map_names.len(),
            masks: dna.networks.region_networks.iter().map(Vec::len).sum(),
        }
    }

    /// All controls of the evaluation: raw, psd, ml, rbf.
    #[must_use]
    pub fn controls(&self) -> usize {
        self.raw + self.psd + self.ml + self.rbf
    }
}

type Checked = Result<(), LoadError>;

/// Checks every index and every length that evaluation relies on.
pub(super) fn check(dna: &Dna, counts: &RigCounts) -> Checked {
    let controls = counts.controls();
    length("controls", "at most 65536", controls <= 1 << 16, controls)?;
    // Joint attributes are u16 in the file, nine per joint.
    length("joints", "at most 7281", counts.joints * 9 <= 1 << 16, counts.joints)?;
    behavior(dna, counts)?;
    networks(dna, counts)?;
    rbf(dna, counts)?;
    for (name, setups) in [("twist", &dna.twist_swing.twists), ("swing", &dna.twist_swing.swings)] {
        setups.iter().enumerate().try_for_each(|(i, s)| setup(&format!("{name} {i}"), s, counts))?;
    }
    map("LOD joints", &dna.definition.lod_joints, counts.joints)
}

fn behavior(dna: &Dna, counts: &RigCounts) -> Checked {
    let (behavior, controls) = (&dna.behavior, counts.controls());
    table("GUI table", &behavior.gui_to_raw, counts.gui, counts.raw)?;
    table("animated maps", &behavior.animated_maps, controls, counts.animated_maps)?;
    rows("animated maps", &behavior.animated_map_lods, behavior.animated_maps.len())?;
    for (i, entry) in behavior.psd.iter().enumerate() {
        let row = usize::from(entry.row);
        let expected = || format!("{} to {} (a corrective)", counts.raw, counts.raw + counts.psd);
        length(&format!("PSD entry {i} row"), expected(), row >= counts.raw && row < counts.raw + counts.psd, row)?;
        below(&format!("PSD entry {i} column"), [entry.column], controls)?;
    }
    for (i, group) in behavior.joint_groups.iter().enumerate() {
        let field = |name: &str| format!("joint group {i} {name}");
        below(&field("inputs"), group.inputs.iter().copied(), controls)?;
        below(&field("outputs"), group.outputs.iter().copied(), counts.joints * 9)?;
        rows(&field("lods"), &group.lods, group.outputs.len())?;
        let expected = group.inputs.len() * group.outputs.len();
        length(&field("values"), expected, group.values.len() == expected, group.values.len())?;
    }
    let channels = &behavior.channels;
    below("blend shape inputs", channels.inputs.iter().copied(), controls)?;
    below("blend shape outputs", channels.outputs.iter().copied(), counts.channels)?;
    parallel("blend shape outputs", channels.outputs.len(), channels.inputs.len())?;
    rows("blend shape lods", &channels.lods, channels.inputs.len())
}

fn networks(dna: &Dna, counts: &RigCounts) -> Checked {
    let (layer, controls) = (&dna.networks, counts.controls());
    map("LOD networks", &layer.lod_networks, layer.networks.len())?;
    for (i, network) in layer.networks.iter().enumerate() {
        below(&format!("network {i} inputs"), network.inputs.iter().copied(), controls)?;
        below(&format!("network {i} outputs"), network.outputs.iter().copied(), controls)?;
    }
    for (i, regions) in layer.region_networks.iter().enumerate() {
        let all = regions.iter().flatten().copied();
        below(&format!("mesh {i} region networks"), all, layer.networks.len())?;
    }
    for (t, kind) in dna.operation_graph.types.iter().enumerate() {
        parallel(&format!("operation type {t} LODs"), kind.lod_operations.len(), kind.sets.len())?;
        for (s, (set, lods)) in kind.sets.iter().zip(&kind.lod_operations).enumerate() {
            map(&format!("operation type {t} set {s} LODs"), lods, set.len())?;
            for (o, operation) in set.iter().enumerate() {
                let field = |name: &str| format!("operation type {t} set {s} operation {o} {name}");
                for d in &operation.dependencies {
                    below(&field("dependency set"), [d.set], kind.sets.len())?;
                    below(&field("dependency"), [d.operation], kind.sets[usize::from(d.set)].len())?;
                }
                if matches!(operation.kind, OperationKind::Gather | OperationKind::Scatter) {
                    below(&field("parameters"), operation.parameters.iter().copied(), controls)?;
                }
            }
        }
    }
    let graph = &dna.operation_graph;
    below("ML joints inputs", graph.joint_inputs.iter().copied(), controls)?;
    parallel("ML joints outputs", graph.joint_outputs.len(), graph.joint_inputs.len())
}

fn rbf(dna: &Dna, counts: &RigCounts) -> Checked {
    let (layer, controls) = (&dna.rbf, counts.controls());
    map("LOD solvers", &layer.lod_solvers, layer.solvers.len())?;
    for (i, solver) in layer.solvers.iter().enumerate() {
        let field = |name: &str| format!("RBF solver {i} {name}");
        below(&field("inputs"), solver.inputs.iter().copied(), controls)?;
        below(&field("poses"), solver.poses.iter().copied(), layer.poses.len())?;
        let expected = solver.poses.len() * solver.inputs.len();
        length(&field("values"), expected, solver.values.len() == expected, solver.values.len())?;
    }
    let outputs = &dna.rbf_outputs.poses;
    if !outputs.is_empty() {
        parallel("RBF pose outputs", outputs.len(), layer.poses.len())?;
    }
    for (i, pose) in outputs.iter().enumerate() {
        below(&format!("RBF pose {i} inputs"), pose.inputs.iter().copied(), controls)?;
        below(&format!("RBF pose {i} outputs"), pose.outputs.iter().copied(), controls)?;
        parallel(&format!("RBF pose {i} weights"), pose.weights.len(), pose.outputs.len())?;
    }
    Ok(())
}

fn setup(field: &str, setup: &TwistSwingSetup, counts: &RigCounts) -> Checked {
    let inputs = setup.inputs.len();
    length(&format!("{field} inputs"), "4 (x, y, z, w)", inputs == 4, inputs)?;
    below(&format!("{field} inputs"), setup.inputs.iter().copied(), counts.controls())?;
    below(&format!("{field} joints"), setup.joints.iter().copied(), counts.joints)?;
    parallel(&format!("{field} weights"), setup.weights.len(), setup.joints.len())
}

fn table(field: &str, rows: &[Conditional], inputs: usize, outputs: usize) -> Checked {
    below(&format!("{field} inputs"), rows.iter().map(|r| r.input), inputs)?;
    below(&format!("{field} outputs"), rows.iter().map(|r| r.output), outputs)
}

fn map(field: &str, map: &LodMap, count: usize) -> Checked {
    below(field, map.lists.iter().flatten().copied(), count)
}

/// Row counts by level.
fn rows(field: &str, lods: &[u16], count: usize) -> Checked {
    below(field, lods.iter().copied(), count + 1)
}

fn parallel(field: &str, found: usize, expected: usize) -> Checked {
    length(field, expected, found == expected, found)
}

fn length(field: &str, expected: impl Display, right: bool, found: usize) -> Checked {
    if right { Ok(()) } else { Err(LoadError::new(LoadErrorKind::Shape, field, expected, found)) }
}

fn below<T: Into<u32>>(field: &str, indices: impl IntoIterator<Item = T>, bound: usize) -> Checked {
    match indices.into_iter().map(Into::into).find(|&index| index as usize >= bound) {
        None => Ok(()),
        Some(index) => Err(LoadError::new(LoadErrorKind::Value, field, format!("indices below {bound}"), index)),
    }
}
