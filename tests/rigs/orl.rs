//! A small MetaHuman-like character made of formulas: a DNA whose rows are as uneven as a real one's, on the device.

use crate::synthetic::Numbers;
use glam::DVec3;
use rigeval::backend::RigBackend;
use rigeval::gpu::headless::Headless;
use rigeval::orl::controls::ControlLayer;
use rigeval::orl::dna::{
    Behavior, Channels, Conditional, Definition, Descriptor, Dna, JointGroup, Layouts, LodMap, Mesh, SkinRow, Target,
};
use rigeval::orl::gpu::OrlDeviceModel;
use rigeval::orl::rig::{ControlChoice, OrlRig, RigOptions};
use rigeval::sparse::DeltaFormat;
use std::sync::Arc;

/// No multiple of 64.
pub const V: usize = 717;

/// Blend shape channels, each with a raw control; three words of a mask.
pub const CHANNELS: usize = 70;

/// GUI controls: the last ten raw controls are left to `set_raw`.
pub const GUI: usize = CHANNELS - 10;

/// Joints: root, neck, head, and small ones that share the face.
pub const JOINTS: usize = 18;

/// A mesh: vertex 1 is moved by `longest_row` targets, the others by a dozen or fewer; targets take channels in turn.
pub struct Shape {
    pub name: &'static str,
    pub vertices: usize,
    pub targets: usize,
    pub longest_row: usize,
}

/// The shapes of a head with its eyelashes.
pub const HEAD: [Shape; 2] = [
    Shape { name: "head", vertices: V - 100, targets: CHANNELS, longest_row: CHANNELS },
    Shape { name: "lashes", vertices: 100, targets: 20, longest_row: 4 },
];

/// A character of these meshes, about ten centimetres around the origin.
pub fn dna(shapes: &[Shape]) -> Dna {
    let named = |prefix: &str, count: usize| (0..count).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>();
    let mut joint_names = named("FACIAL_", JOINTS);
    joint_names.splice(0..3, ["root", "neck", "head"].map(String::from));
    let mut numbers = Numbers::new(2);
    let definition = Definition {
        gui_control_names: named("gui.", GUI),
        raw_control_names: named("raw.", CHANNELS),
        channel_names: named("channel_", CHANNELS),
        mesh_names: shapes.iter().map(|s| s.name.to_string()).collect(),
        lod_meshes: LodMap { lods: vec![0], lists: vec![(0..shapes.len() as u16).collect()] },
        joint_parents: (0..JOINTS as u16).map(|j| j.saturating_sub(1).min(2)).collect(),
        neutral_translations: (0..JOINTS).map(|_| (numbers.point() * 2.0).as_vec3().to_array()).collect(),
        neutral_rotations: (0..JOINTS).map(|_| (numbers.point() * 40.0).as_vec3().to_array()).collect(),
        joint_names,
        ..Definition::default()
    };
    let every: Vec<u16> = (0..CHANNELS as u16).collect();
    let mapped =
        (0..GUI as u16).map(|i| Conditional { input: i, output: i, from: -9.0, to: 9.0, slope: 1.0, cut: 0.0 });
    // Head and face joints move a little with every control, in all nine attributes: centimetres, degrees, scale.
    let outputs: Vec<u16> = (2 * 9..JOINTS as u16 * 9).collect();
    let strength = |output: &u16| [0.05, 0.05, 0.05, 1.5, 1.5, 1.5, 0.004, 0.004, 0.004][usize::from(output % 9)];
    let values = outputs.iter().flat_map(|o| [0; CHANNELS].map(|_| o)).map(|o| (strength(o) * numbers.signed()) as f32);
    let values = values.collect();
    let joint_group = JointGroup {
        lods: vec![outputs.len() as u16],
        inputs: every.clone(),
        outputs,
        values,
        joints: (2..JOINTS as u16).collect(),
    };
    let behavior = Behavior {
        gui_to_raw: mapped.collect(),
        joint_groups: vec![joint_group],
        channels: Channels { lods: vec![CHANNELS as u16], inputs: every.clone(), outputs: every },
        ..Behavior::default()
    };
    let descriptor = Descriptor { lod_count: 1, ..Descriptor::default() };
    let meshes = shapes.iter().map(mesh).collect();
    Dna { version: 8, descriptor, definition, behavior, meshes, ..Dna::default() }
}

fn mesh(shape: &Shape) -> Mesh {
    let v = shape.vertices;
    let mut numbers = Numbers::new(v as u64);
    let positions = (0..v).map(|i| {
        let (t, turn) = ((i as f64 + 0.5) / v as f64, i as f64 * 2.399_963);
        let radius = (1.0 - (2.0 * t - 1.0).powi(2)).sqrt();
        (DVec3::new(radius * turn.cos(), 2.0 * t - 1.0, radius * turn.sin()) * 9.0).as_vec3().to_array()
    });
    // Row lengths from none to a dozen, and one row far longer than all others.
    let moves = |vertex: usize, target: usize| match vertex {
        1 => target < shape.longest_row,
        _ => (vertex * 5 + target * 7) % shape.targets < vertex % 13,
    };
    let targets = (0..shape.targets).map(|t| {
        let vertices: Vec<u32> = (0..v).filter(|&vertex| moves(vertex, t)).map(|vertex| vertex as u32).collect();
        let deltas = vertices.iter().map(|_| (numbers.point() * 0.1).as_vec3().to_array()).collect();
        Target { deltas, vertices, channel: (t % CHANNELS) as u16 }
    });
    let targets = targets.collect();
    let mut numbers = Numbers::new(v as u64 + 1);
    let skin: Vec<SkinRow> = (0..v).map(|vertex| skin_row(vertex, &mut numbers)).collect();
    let n = v as u32;
    Mesh {
        positions: positions.collect(),
        uvs: vec![[0.5, 0.5]],
        normals: vec![[0.0, 0.0, 1.0]],
        layouts: Layouts { positions: (0..n).collect(), uvs: vec![0; v], normals: vec![0; v] },
        faces: (0..n - 13).flat_map(|i| [vec![i, i + 8, i + 13], vec![i, i + 13, i + 5]]).collect(),
        max_influences: JOINTS as u16,
        skin,
        targets,
    }
}

/// One to sixteen influences, of which the head holds most: the face joints move little against each other.
fn skin_row(vertex: usize, numbers: &mut Numbers) -> SkinRow {
    let others: Vec<u16> = (0..(vertex % 16) as u16).map(|k| 3 + (k + vertex as u16) % (JOINTS as u16 - 3)).collect();
    let shares: Vec<f64> = others.iter().map(|_| 0.03 + 0.02 * numbers.signed()).collect();
    let head = 1.0 - shares.iter().sum::<f64>();
    SkinRow {
        weights: [head].into_iter().chain(shares).map(|w| w as f32).collect(),
        joints: [2].into_iter().chain(others).collect(),
    }
}

/// All meshes, driven by the raw controls: those take either sign, where the GUI's are clamped to 0 and 1.
pub fn rig(dna: &Dna, format: DeltaFormat) -> OrlRig {
    rig_of_layer(dna, format, ControlLayer::Raw)
}

pub fn rig_of_layer(dna: &Dna, format: DeltaFormat, layer: ControlLayer) -> OrlRig {
    let (meshes, controls) = ((0..dna.meshes.len()).collect(), ControlChoice::Layer(layer));
    let options = RigOptions { meshes, format, controls, ..RigOptions::default() };
    OrlRig::from_dna(dna, &options).expect("a rig made of formulas")
}

pub fn device_model(gpu: &Headless, rig: OrlRig) -> Arc<OrlDeviceModel> {
    Arc::new(OrlDeviceModel::new(&gpu.context(), Arc::new(rig)).expect("within the default limits"))
}

/// Controls of either sign; every third one rests.
pub fn sample(rig: &dyn RigBackend, seed: u64) -> Vec<f32> {
    controls(rig.info().control_names.len(), seed)
}

pub fn controls(count: usize, seed: u64) -> Vec<f32> {
    let mut numbers = Numbers::new(seed);
    (0..count).map(|c| if (c as u64 + seed).is_multiple_of(3) { 0.0 } else { numbers.signed() as f32 }).collect()
}
