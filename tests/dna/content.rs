//! One wrong field at a time, each refused by name.

use super::{read, rig};
use rigeval::orl::dna::{Dna, JointParameter, JointRepresentation, OperationRef};

type Case = (&'static str, fn(&mut Dna), &'static str);

fn assert_refused(rig: &str, cases: &[Case]) {
    for (label, spoil, field) in cases {
        let mut dna = read(rig);
        spoil(&mut dna);
        let error = dna.check().expect_err(label);
        assert_eq!(error.field, *field, "{rig}, {label}: {error}");
    }
}

fn shorten<T>(values: &mut Vec<T>) {
    values.pop();
}

#[test]
fn wrong_definition_is_refused() {
    assert_refused(
        "tiny",
        &[
            ("no levels", |d| d.descriptor.lod_count = 0, "descriptor.lod_count"),
            ("34 levels", |d| d.descriptor.lod_count = 34, "descriptor.lod_count"),
            ("levels of a map", |d| d.definition.lod_joints.lods.push(0), "definition.lod_joints.lods"),
            ("list of a map", |d| d.definition.lod_meshes.lods[1] = 1, "definition.lod_meshes.lods[1]"),
            ("joint of a list", |d| d.definition.lod_joints.lists[1][0] = 4, "definition.lod_joints.lists[1][0]"),
            ("channel of a list", |d| d.definition.lod_channels.lists[0][2] = 3, "definition.lod_channels.lists[0][2]"),
            (
                "map of a list",
                |d| d.definition.lod_animated_maps.lists[0][1] = 2,
                "definition.lod_animated_maps.lists[0][1]",
            ),
            ("mesh of a list", |d| d.definition.lod_meshes.lists[0][0] = 1, "definition.lod_meshes.lists[0][0]"),
            ("mesh of a channel", |d| d.definition.mesh_channels[1].mesh = 1, "definition.mesh_channels[1].mesh"),
            ("channel of a mesh", |d| d.definition.mesh_channels[2].channel = 3, "definition.mesh_channels[2].channel"),
            ("parents short", |d| shorten(&mut d.definition.joint_parents), "definition.joint_parents"),
            (
                "translations long",
                |d| d.definition.neutral_translations.push([0.0; 3]),
                "definition.neutral_translations",
            ),
            ("rotations short", |d| shorten(&mut d.definition.neutral_rotations), "definition.neutral_rotations"),
            ("parent", |d| d.definition.joint_parents[3] = 4, "definition.joint_parents[3]"),
            (
                "translation NaN",
                |d| d.definition.neutral_translations[1][2] = f32::NAN,
                "definition.neutral_translations[5]",
            ),
            (
                "rotation infinite",
                |d| d.definition.neutral_rotations[3][0] = f32::INFINITY,
                "definition.neutral_rotations[9]",
            ),
            ("signs", |d| d.conventions.rotation_signs[1] = 0, "conventions.rotation_signs"),
            ("sign of any size", |d| d.conventions.rotation_signs[2] = i32::MIN, "conventions.rotation_signs"),
            (
                "joints above 16 bits",
                |d| d.definition.joint_names.resize(65537, String::new()),
                "definition.joint_names",
            ),
        ],
    );
}

#[test]
fn parent_cycle_is_refused_and_several_roots_are_not() {
    for (parents, sound) in [
        ([0, 1, 2, 3], true),
        ([3, 0, 1, 3], true),
        ([0, 2, 1, 0], false),
        ([1, 2, 3, 0], false),
        ([0, 0, 3, 2], false),
    ] {
        let mut dna = read("tiny");
        dna.definition.joint_parents = parents.to_vec();
        match dna.check() {
            Ok(()) => assert!(sound, "{parents:?}"),
            Err(e) => assert!(!sound && e.to_string().contains("cycle"), "{parents:?}: {e}"),
        }
    }
}

#[test]
fn wrong_behavior_is_refused() {
    assert_refused(
        "tiny",
        &[
            ("GUI input", |d| d.behavior.gui_to_raw[2].input = 6, "behavior.gui_to_raw[2].input"),
            ("raw output", |d| d.behavior.gui_to_raw[0].output = 8, "behavior.gui_to_raw[0].output"),
            ("GUI slope", |d| d.behavior.gui_to_raw[1].slope = f32::NAN, "behavior.gui_to_raw[1].slope"),
            ("GUI from", |d| d.behavior.gui_to_raw[1].from = f32::NEG_INFINITY, "behavior.gui_to_raw[1].from"),
            ("corrective below", |d| d.behavior.psd[0].row = 7, "behavior.psd[0].row"),
            ("corrective above", |d| d.behavior.psd[0].row = 10, "behavior.psd[0].row"),
            ("factor", |d| d.behavior.psd[5].column = 10, "behavior.psd[5].column"),
            ("factor's weight", |d| d.behavior.psd[5].value = f32::NAN, "behavior.psd[5].value"),
            ("group levels", |d| shorten(&mut d.behavior.joint_groups[0].lods), "behavior.joint_groups[0].lods"),
            ("group rows", |d| d.behavior.joint_groups[0].lods[0] = 15, "behavior.joint_groups[0].lods[0]"),
            ("rows grow", |d| d.behavior.joint_groups[1].lods = vec![1, 2], "behavior.joint_groups[1].lods[1]"),
            ("values short", |d| shorten(&mut d.behavior.joint_groups[1].values), "behavior.joint_groups[1].values"),
            ("group input", |d| d.behavior.joint_groups[0].inputs[4] = 10, "behavior.joint_groups[0].inputs[4]"),
            ("group output", |d| d.behavior.joint_groups[0].outputs[3] = 36, "behavior.joint_groups[0].outputs[3]"),
            ("group joint", |d| d.behavior.joint_groups[0].joints[1] = 4, "behavior.joint_groups[0].joints[1]"),
            ("value", |d| d.behavior.joint_groups[0].values[7] = f32::NAN, "behavior.joint_groups[0].values[7]"),
            ("channel pairs", |d| d.behavior.channels.outputs.push(0), "behavior.channels.outputs"),
            ("channel rows", |d| d.behavior.channels.lods[1] = 4, "behavior.channels.lods[1]"),
            ("channel input", |d| d.behavior.channels.inputs[0] = 10, "behavior.channels.inputs[0]"),
            ("channel output", |d| d.behavior.channels.outputs[0] = 3, "behavior.channels.outputs[0]"),
            ("map levels", |d| d.behavior.animated_map_lods.push(0), "behavior.animated_map_lods"),
            ("map rows", |d| d.behavior.animated_map_lods[0] = 4, "behavior.animated_map_lods[0]"),
            ("map input", |d| d.behavior.animated_maps[0].input = 10, "behavior.animated_maps[0].input"),
            ("map output", |d| d.behavior.animated_maps[2].output = 2, "behavior.animated_maps[2].output"),
            ("map cut", |d| d.behavior.animated_maps[2].cut = f32::NAN, "behavior.animated_maps[2].cut"),
            ("map to", |d| d.behavior.animated_maps[2].to = f32::NAN, "behavior.animated_maps[2].to"),
        ],
    );
}

#[test]
fn wrong_geometry_is_refused() {
    assert_refused(
        "tiny",
        &[
            ("meshes", |d| d.meshes.push(d.meshes[0].clone()), "meshes"),
            ("position", |d| d.meshes[0].positions[4][1] = f32::NAN, "meshes[0].positions[13]"),
            ("uv", |d| d.meshes[0].uvs[4][1] = f32::INFINITY, "meshes[0].uvs[9]"),
            ("normal", |d| d.meshes[0].normals[0][0] = f32::NAN, "meshes[0].normals[0]"),
            ("layouts", |d| shorten(&mut d.meshes[0].layouts.uvs), "meshes[0].layouts.uvs"),
            ("layout position", |d| d.meshes[0].layouts.positions[5] = 60, "meshes[0].layouts.positions[5]"),
            ("layout uv", |d| d.meshes[0].layouts.uvs[5] = 66, "meshes[0].layouts.uvs[5]"),
            ("layout normal", |d| d.meshes[0].layouts.normals[5] = 60, "meshes[0].layouts.normals[5]"),
            ("corner", |d| d.meshes[0].faces[7][3] = 66, "meshes[0].faces[7][3]"),
            ("skin rows", |d| shorten(&mut d.meshes[0].skin), "meshes[0].skin"),
            ("skin pairs", |d| d.meshes[0].skin[9].joints.push(0), "meshes[0].skin[9].joints"),
            ("skin joint", |d| d.meshes[0].skin[9].joints[0] = 4, "meshes[0].skin[9].joints[0]"),
            ("skin weight", |d| d.meshes[0].skin[9].weights[0] = f32::NAN, "meshes[0].skin[9].weights[0]"),
            ("target vertices", |d| d.meshes[0].targets[1].vertices.push(0), "meshes[0].targets[1].vertices"),
            ("target vertex", |d| d.meshes[0].targets[1].vertices[2] = 60, "meshes[0].targets[1].vertices[2]"),
            ("target channel", |d| d.meshes[0].targets[1].channel = 3, "meshes[0].targets[1].channel"),
            ("delta", |d| d.meshes[0].targets[1].deltas[2][0] = f32::NAN, "meshes[0].targets[1].deltas[6]"),
        ],
    );
}

#[test]
fn wrong_networks_are_refused() {
    assert_refused(
        "ml_legacy",
        &[
            ("levels", |d| d.networks.lod_networks.lods.push(0), "networks.lod_networks.lods"),
            ("network of a level", |d| d.networks.lod_networks.lists[0][0] = 3, "networks.lod_networks.lists[0][0]"),
            ("meshes of regions", |d| d.networks.region_networks.clear(), "networks.region_networks"),
            ("regions", |d| shorten(&mut d.networks.region_networks[0]), "networks.region_networks[0]"),
            ("network of a region", |d| d.networks.region_networks[0][1][0] = 3, "networks.region_networks[0][1][0]"),
            ("output", |d| d.networks.networks[1].outputs[0] = 21, "networks.networks[1].outputs[0]"),
            ("input", |d| d.networks.networks[1].inputs[0] = 21, "networks.networks[1].inputs[0]"),
            ("outputs", |d| shorten(&mut d.networks.networks[1].outputs), "networks.networks[1].outputs"),
            (
                "inputs",
                |d| shorten(&mut d.networks.networks[1].inputs),
                "networks.networks[1].layers[0].weights per output",
            ),
            ("no layers", |d| d.networks.networks[1].layers.clear(), "networks.networks[1].outputs"),
            (
                "no biases",
                |d| d.networks.networks[1].layers[0].biases.clear(),
                "networks.networks[1].layers[0].weights",
            ),
            (
                "weights",
                |d| shorten(&mut d.networks.networks[1].layers[0].weights),
                "networks.networks[1].layers[0].weights",
            ),
            (
                "bias",
                |d| d.networks.networks[0].layers[0].biases[0] = f32::NAN,
                "networks.networks[0].layers[0].biases[0]",
            ),
            (
                "weight",
                |d| d.networks.networks[0].layers[0].weights[1] = f32::NAN,
                "networks.networks[0].layers[0].weights[1]",
            ),
        ],
    );
    let mut dna = read("ml_legacy");
    let layer = &mut dna.networks.networks[0].layers[0];
    layer.activation = rigeval::orl::dna::Activation::LeakyRelu;
    layer.parameters.clear();
    assert_eq!(dna.check().unwrap_err().field, "networks.networks[0].layers[0].parameters");
}

#[test]
fn wrong_rbf_is_refused() {
    assert_refused(
        "rbf_quat",
        &[
            ("solver of a level", |d| d.rbf.lod_solvers.lists[0][0] = 9, "rbf.lod_solvers.lists[0][0]"),
            ("input", |d| d.rbf.solvers[1].inputs[0] = 59, "rbf.solvers[1].inputs[0]"),
            ("pose", |d| d.rbf.solvers[1].poses[0] = 36, "rbf.solvers[1].poses[0]"),
            ("values", |d| shorten(&mut d.rbf.solvers[1].values), "rbf.solvers[1].values"),
            ("value", |d| d.rbf.solvers[1].values[3] = f32::NAN, "rbf.solvers[1].values[3]"),
            ("radius", |d| d.rbf.solvers[1].radius = f32::NAN, "rbf.solvers[1].radius[0]"),
            ("threshold", |d| d.rbf.solvers[1].weight_threshold = f32::NAN, "rbf.solvers[1].weight_threshold[0]"),
            ("scale", |d| d.rbf.poses[4].scale = f32::INFINITY, "rbf.poses[4].scale[0]"),
            ("poses", |d| shorten(&mut d.rbf_outputs.poses), "rbf_outputs.poses"),
            ("pose input", |d| d.rbf_outputs.poses[2].inputs.push(59), "rbf_outputs.poses[2].inputs[0]"),
            ("pose output", |d| d.rbf_outputs.poses[2].outputs[0] = 59, "rbf_outputs.poses[2].outputs[0]"),
            ("pose weights", |d| d.rbf_outputs.poses[2].weights.clear(), "rbf_outputs.poses[2].weights"),
            ("pose weight", |d| d.rbf_outputs.poses[2].weights[0] = f32::NAN, "rbf_outputs.poses[2].weights[0]"),
            ("joints", |d| d.joint_representations.push(JointRepresentation::default()), "joint_representations"),
            ("translation", |d| d.joint_representations[2].translation = 1, "joint_representations[2]"),
            ("scale type", |d| d.joint_representations[2].scale = 1, "joint_representations[2]"),
        ],
    );
    let mut dna = read("rbf_quat");
    let solver = dna.rbf.solvers.iter_mut().find(|s| s.inputs.len() == 4).unwrap();
    solver.distance = rigeval::orl::dna::DistanceMethod::Quaternion;
    solver.inputs.pop();
    solver.values.truncate(solver.inputs.len() * solver.poses.len());
    assert!(dna.check().unwrap_err().to_string().contains("whole quaternions"));
}

#[test]
fn wrong_twist_is_refused() {
    assert_refused(
        "twist",
        &[
            ("weights", |d| d.twist_swing.twists[0].weights.push(0.0), "twist_swing.twists[0].weights"),
            ("weight", |d| d.twist_swing.swings[0].weights[0] = f32::NAN, "twist_swing.swings[0].weights[0]"),
            ("joint", |d| d.twist_swing.twists[0].joints[0] = 14, "twist_swing.twists[0].joints[0]"),
            ("inputs", |d| shorten(&mut d.twist_swing.swings[0].inputs), "twist_swing.swings[0].inputs"),
            ("input", |d| d.twist_swing.twists[0].inputs[3] = 14, "twist_swing.twists[0].inputs[3]"),
        ],
    );
}

#[test]
fn wrong_operation_graph_is_refused() {
    assert_refused(
        "ml_ext",
        &[
            (
                "sets",
                |d| shorten(&mut d.operation_graph.types[0].lod_operations),
                "operation_graph.types[0].lod_operations",
            ),
            (
                "operation of a level",
                |d| d.operation_graph.types[0].lod_operations[2].lists[0][0] = 1,
                "operation_graph.types[0].lod_operations[2].lists[0][0]",
            ),
            (
                "gathered control",
                |d| d.operation_graph.types[0].sets[0][0].parameters[1] = 58,
                "operation_graph.types[0].sets[0][0].parameters[1]",
            ),
            (
                "scattered control",
                |d| d.operation_graph.types[0].sets[4][0].parameters[0] = u32::MAX,
                "operation_graph.types[0].sets[4][0].parameters[0]",
            ),
            (
                "no network",
                |d| d.operation_graph.types[0].sets[1][0].parameters.clear(),
                "operation_graph.types[0].sets[1][0].parameters",
            ),
            (
                "network",
                |d| d.operation_graph.types[0].sets[1][0].parameters[0] = 5,
                "operation_graph.types[0].sets[1][0].parameters[0]",
            ),
            (
                "row counts",
                |d| shorten(&mut d.operation_graph.types[0].sets[3][0].parameters),
                "operation_graph.types[0].sets[3][0].parameters",
            ),
            (
                "row count",
                |d| d.operation_graph.types[0].sets[3][0].parameters[6] = 41,
                "operation_graph.types[0].sets[3][0].parameters[6]",
            ),
            (
                "sum's weights",
                |d| shorten(&mut d.operation_graph.types[0].sets[2][0].parameters),
                "operation_graph.types[0].sets[2][0].parameters",
            ),
            (
                "sum's weight",
                |d| d.operation_graph.types[0].sets[2][0].parameters[1] = f32::NAN.to_bits(),
                "operation_graph.types[0].sets[2][0].parameters (weights)[0]",
            ),
            (
                "dependency's set",
                |d| d.operation_graph.types[0].sets[1][0].dependencies[0].set = 5,
                "operation_graph.types[0].sets[1][0].dependencies[0].set",
            ),
            (
                "dependency",
                |d| d.operation_graph.types[0].sets[1][0].dependencies[0].operation = 3,
                "operation_graph.types[0].sets[1][0].dependencies[0].operation",
            ),
            (
                "itself",
                |d| d.operation_graph.types[0].sets[1][1].dependencies[0] = OperationRef { set: 1, operation: 1 },
                "operation_graph.types[0].sets[1][1].dependencies[0]",
            ),
            ("parameter", |d| d.operation_graph.joint_parameters[1].value = 2, "operation_graph.joint_parameters[1]"),
            ("joint pairs", |d| shorten(&mut d.operation_graph.joint_outputs), "operation_graph.joint_outputs"),
            ("joint input", |d| d.operation_graph.joint_inputs[3] = 58, "operation_graph.joint_inputs[3]"),
            ("joint output", |d| d.operation_graph.joint_outputs[3] = 100, "operation_graph.joint_outputs[3]"),
            (
                "nine attributes",
                |d| {
                    d.operation_graph.joint_parameters[1] = JointParameter { key: 1, value: 0 };
                    d.operation_graph.joint_outputs[3] = 90;
                },
                "operation_graph.joint_outputs[3]",
            ),
        ],
    );
}

/// The checks stand between the bytes and the caller, in both tables of the file.
#[test]
fn wrong_content_in_the_bytes_is_refused() {
    for name in ["tiny", "tiny_v21"] {
        let bytes = rig(name);
        let x = read(name).meshes[0].positions[3][0].to_be_bytes();
        let at = bytes.windows(4).rposition(|w| w == x).unwrap();
        let mut spoilt = bytes;
        spoilt[at..at + 4].copy_from_slice(&f32::NAN.to_be_bytes());
        let error = Dna::read(&spoilt).unwrap_err();
        assert_eq!(error.to_string(), "meshes[0].positions[9]: expected a finite number, got NaN");
    }
}
