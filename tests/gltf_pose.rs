//! The control vector, joints on top of it, output spaces, normals.

mod gltf_case;

use glam::{Affine3A, Mat3A, Quat, Vec3};
use gltf_case::*;
use proptest::prelude::*;
use rigeval::error::ControlError;
use rigeval::gltf::bounds::GltfBounds;
use rigeval::gltf::cpu::{gltf_morph, gltf_morph_normals, gltf_morph_tangents};
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::info::{JointId, RigKind, Units};
use rigeval::math::Aabb;
use rigeval::skeleton::JointOverride;
use serde_json::json;

const IDENTITY: [f32; 16] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];

#[test]
fn controls_stand_in_their_order() {
    let mut case = Case::new();
    let (position, target) = (case.rows(&TRIANGLE), case.rows(&TRIANGLE));
    let primitive = json!({"attributes": {"POSITION": position}, "targets": [{"POSITION": target}, {}]});
    // Node 0 is a child of node 2; both have a mesh. Node 1 has a matrix.
    case.mesh_node(primitive.clone(), json!({"name": "child", "translation": [1, 2, 3]}));
    case.push("nodes", json!({"name": "fixed", "matrix": IDENTITY}));
    case.mesh_node(primitive, json!({"name": "root", "rotation": [0, 0, 1, 0], "children": [0], "weights": [0.5, 0]}));
    case.json["meshes"][0]["extras"] = json!({"targetNames": ["jawOpen", "smile"]});
    case.json["scenes"][0]["nodes"] = json!([2, 1]);
    let model = case.model();
    let info = model.info(3);
    let mut want: Vec<String> =
        ["child/jawOpen", "child/smile", "root/#0", "root/#1"].map(|name| format!("morph/{name}")).to_vec();
    for node in ["child", "root"] {
        for (path, axes) in [("translation", "xyz"), ("rotation", "xyzw"), ("scale", "xyz")] {
            want.extend(axes.chars().map(|axis| format!("node/{node}/{path}/{axis}")));
        }
    }
    assert_eq!(info.control_names, want);
    assert_eq!(info.default_controls[..4], [0.0, 0.0, 0.5, 0.0]);
    assert_eq!(info.default_controls[4..14], [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(info.default_controls[14..21], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(info.joint_names, ["fixed", "root", "child"], "parents first, then ascending");
    assert_eq!((info.kind, info.units, info.vertex_count, info.instance_count), (RigKind::Gltf, Units::Metres, 6, 3));
    assert_eq!(model.report().matrix_nodes, 1);
}

#[test]
fn refused_controls_leave_the_pose_as_it_was() {
    let mut case = Case::morphed(&[&TRIANGLE]);
    case.json["nodes"][0]["name"] = json!("face");
    let model = case.model();
    let mut pose = GltfPose::new(&model, OutputSpace::World);
    let mut controls = model.controls().defaults().to_vec();
    assert_eq!(pose.set_controls(&model, &controls), Ok(false), "nothing changed");
    controls[0] = 0.5;
    assert_eq!(pose.set_controls(&model, &controls), Ok(true));
    let before = pose.clone();
    let refused = |pose: &mut GltfPose, controls: &[f32]| pose.set_controls(&model, controls).unwrap_err().to_string();
    assert_eq!(refused(&mut pose, &controls[1..]), "controls: expected 11 values, got 10");
    for value in [f32::NAN, f32::INFINITY] {
        let mut wrong = controls.clone();
        wrong[4] = value;
        assert_eq!(refused(&mut pose, &wrong), format!("controls[4]: expected a finite number, got {value}"));
    }
    let mut wrong = controls.clone();
    wrong[4..8].fill(0.0);
    let error = pose.set_controls(&model, &wrong).unwrap_err();
    assert!(matches!(&error, ControlError::Quaternion { joint, .. } if joint == "face"), "{error}");
    assert_eq!(pose, before);
    // Twice a rotation is the same rotation.
    let mut twice = controls.clone();
    twice[7] = 2.0;
    assert_eq!(pose.set_controls(&model, &twice), Ok(false));
}

/// A node with a matrix that turns x into y, under a parent, with the triangle.
fn fixed() -> GltfModel {
    let mut case = Case::new();
    case.push("nodes", json!({"name": "parent", "children": [1], "translation": [5, 0, 0]}));
    let position = case.rows(&TRIANGLE);
    let matrix = [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 1];
    case.mesh_node(json!({"attributes": {"POSITION": position}}), json!({"name": "fixed", "matrix": matrix}));
    case.model()
}

#[test]
fn node_with_a_matrix_moves_with_its_parent() {
    let model = fixed();
    assert_eq!(model.controls().names().len(), 10);
    assert_eq!(rest(&model), [[5.0, 0.0, 2.0], [5.0, 1.0, 2.0], [4.0, 0.0, 2.0]]);
    let mut controls = model.controls().defaults().to_vec();
    controls[0] = 7.0;
    assert_eq!(vertices(&model, &controls)[0], [7.0, 0.0, 2.0]);
}

#[test]
fn override_turns_a_joint_on_top_of_its_controls() {
    let model = fixed();
    let mut pose = GltfPose::new(&model, OutputSpace::World);
    let quarter = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    for joint in ["parent", "fixed"] {
        let overrides = [JointOverride { joint, rotation: quarter }];
        assert_eq!(pose.set_joint_overrides(&model, &overrides), Ok(true));
        assert_near(&gltf_morph(model.mesh(), &pose)[1..2], &[[4.0, 0.0, 2.0]], 1e-6);
        assert_eq!(pose.set_joint_overrides(&model, &[]), Ok(true));
    }
    assert_eq!(gltf_morph(model.mesh(), &pose), rest(&model));
}

#[test]
fn given_world_stands_for_the_joint_and_moves_its_children() {
    let model = fixed();
    let mut pose = GltfPose::new(&model, OutputSpace::World);
    let world = [(JointId(0), Affine3A::from_translation(Vec3::new(0.0, 0.0, 9.0)))];
    assert_eq!(pose.set_joint_worlds(&model, &world), Ok(true));
    assert_eq!(gltf_morph(model.mesh(), &pose)[0], [0.0, 0.0, 11.0]);
    pose.set_joint_worlds(&model, &[]).unwrap();
    assert_eq!(gltf_morph(model.mesh(), &pose), rest(&model));
}

#[test]
fn space_of_the_mesh_parent_takes_its_world_away() {
    let mut case = Case::skinned(&[[1.0, 0.0, 0.0]], &TRIANGLE, &[[0; 4]; 3], &[[1.0, 0.0, 0.0, 0.0]; 3]);
    let position = case.json["accessors"].as_array().unwrap().len() as u64;
    let rows = case.rows(&TRIANGLE);
    assert_eq!(rows as u64, position);
    case.mesh_node(json!({"attributes": {"POSITION": rows}}), json!({"translation": [0, 3, 0]}));
    case.push("nodes", json!({"children": [1, 2], "translation": [0, 0, 4], "scale": [2, 2, 2]}));
    case.json["scenes"][0]["nodes"] = json!([0, 3]);
    let model = case.model();
    let world = rest(&model);
    assert_eq!((world[1], world[3]), ([2.0, 0.0, 0.0], [0.0, 6.0, 4.0]));
    let mut pose = GltfPose::new(&model, OutputSpace::MeshParent);
    let local = gltf_morph(model.mesh(), &pose);
    assert_eq!((local[1], local[3]), ([1.0, 0.0, -2.0], [0.0, 3.0, 0.0]));
    assert_eq!(pose.space(), OutputSpace::MeshParent);
    let mut controls = model.controls().defaults().to_vec();
    let scale = control(&model, "node/#3/scale/x");
    controls[scale..scale + 3].fill(0.0);
    pose.set_controls(&model, &controls).unwrap();
    assert_eq!(gltf_morph(model.mesh(), &pose), [[0.0; 3]; 6], "a flat parent");
}

#[test]
fn skins_and_meshes_are_shared_between_nodes() {
    let mut case = Case::skinned(&[[1.0, 0.0, 0.0]], &TRIANGLE, &[[0; 4]; 3], &[[1.0, 0.0, 0.0, 0.0]; 3]);
    let other = case.push("skins", json!({"joints": [0]}));
    let mut doubled = IDENTITY;
    doubled[0] = 2.0;
    let binds = case.rows(&[doubled]);
    case.json["skins"][other]["inverseBindMatrices"] = json!(binds);
    for node in [json!({"mesh": 0, "skin": 0}), json!({"mesh": 0, "skin": other}), json!({"mesh": 0})] {
        case.push("nodes", node);
    }
    case.json["scenes"][0]["nodes"] = json!([0, 1, 2, 3, 4]);
    let model = case.model();
    let posed = rest(&model);
    assert_eq!(
        [posed[1], posed[4], posed[7], posed[10]],
        [[2.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    );
    assert_eq!(model.mesh().rows().len(), 3, "one row for each skin, one for the node without");
    assert_eq!(model.skins()[other].joints, [0]);
}

/// One vertex with a normal and a tangent under a node with that scale.
fn shaded(scale: [f32; 3], normal: [f32; 3], tangent: [f32; 4]) -> ([f32; 3], [f32; 4]) {
    let mut case = Case::new();
    let position = case.rows(&[[0.0_f32; 3]]);
    let (normal, tangent) = (case.rows(&[normal]), case.rows(&[tangent]));
    let attributes = json!({"POSITION": position, "NORMAL": normal, "TANGENT": tangent});
    case.mesh_node(json!({"attributes": attributes}), json!({"scale": scale}));
    let model = case.model();
    let pose = GltfPose::new(&model, OutputSpace::World);
    (gltf_morph_normals(model.mesh(), &pose).unwrap()[0], gltf_morph_tangents(model.mesh(), &pose).unwrap()[0])
}

#[test]
fn normals_are_right_under_uneven_scale_and_mirror() {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let slope = [half, half, 0.0];
    let along = [half, -half, 0.0, 1.0];
    let (normal, tangent) = shaded([2.0, 1.0, 1.0], slope, along);
    let unit = 1.0 / 5.0_f32.sqrt();
    assert_near(&[normal], &[[unit, 2.0 * unit, 0.0]], 1e-6);
    assert_near(&[tangent], &[[2.0 * unit, -unit, 0.0, 1.0]], 1e-6);
    // A mirror takes an outward normal to an outward normal.
    assert_near(&[shaded([-1.0, 1.0, 1.0], slope, along).0], &[[-half, half, 0.0]], 1e-6);
    assert_near(&[shaded([-1.0, -1.0, -1.0], slope, along).0], &[[-half, -half, 0.0]], 1e-6);
    // Flat along x: what is left of the surface faces x.
    assert_near(&[shaded([0.0, 1.0, 1.0], slope, along).0], &[[1.0, 0.0, 0.0]], 1e-6);
}

#[test]
fn normals_that_vanish_are_zero() {
    let zero = ([0.0; 3], [0.0, 0.0, 0.0, -1.0]);
    assert_eq!(shaded([1.0; 3], [0.0; 3], [0.0, 0.0, 0.0, -1.0]), zero);
    assert_eq!(shaded([0.0; 3], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0, -1.0]), zero);
    let tiny = 1e-30;
    assert_near(&[shaded([tiny; 3], [0.0, tiny, 0.0], [1.0, 0.0, 0.0, 1.0]).0], &[[0.0, 1.0, 0.0]], 1e-6);
}

#[test]
fn laws_of_the_skin_hold() {
    let joints = [[0.0, 1.0, 0.0], [0.5, 0.0, 2.0]];
    let lanes = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0]];
    let weights = [[0.25, 0.75, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.5, 0.25, 0.25, 0.0]];
    let mut case = Case::skinned(&joints, &TRIANGLE, &lanes, &weights);
    let inverse = |t: [f32; 3]| {
        let mut m = IDENTITY;
        m[12..15].copy_from_slice(&t.map(|x| -x));
        m
    };
    let binds = case.rows(&joints.map(inverse));
    case.json["skins"][0]["inverseBindMatrices"] = json!(binds);
    let model = case.model();
    assert_near(&rest(&model), &TRIANGLE, 1e-6);
    // One rigid move of all joints moves every vertex so.
    let turn = Affine3A::from_rotation_translation(Quat::from_rotation_y(0.7), Vec3::new(1.0, -2.0, 0.5));
    let mut pose = GltfPose::new(&model, OutputSpace::World);
    let worlds: Vec<(JointId, Affine3A)> = joints
        .iter()
        .enumerate()
        .map(|(j, t)| (JointId(j), turn * Affine3A { matrix3: Mat3A::IDENTITY, translation: (*t).into() }))
        .collect();
    pose.set_joint_worlds(&model, &worlds).unwrap();
    let want: Vec<[f32; 3]> = TRIANGLE.iter().map(|p| turn.transform_point3((*p).into()).into()).collect();
    assert_near(&gltf_morph(model.mesh(), &pose), &want, 1e-6);
}

/// Two skinned points that two targets move apart, and one carried by its node.
fn stretching() -> GltfModel {
    let joints = [[0.0, 1.0, 0.0], [0.5, 0.0, 2.0]];
    let (lanes, weights) = ([[0, 1, 0, 0], [1, 0, 0, 0]], [[0.25, 0.75, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]);
    let mut case = Case::skinned(&joints, &TRIANGLE[1..], &lanes, &weights);
    let targets = [[[1.0, 2.0, -3.0], [0.5, -1.0, 0.0]], [[0.0; 3], [4.0, 4.0, 4.0]]];
    let targets = targets.map(|rows| json!({"POSITION": case.rows(&rows)}));
    case.primitive()["targets"] = json!(targets);
    let position = case.rows(&[[0.0, 0.0, 7.0]]);
    case.mesh_node(json!({"attributes": {"POSITION": position}}), json!({}));
    case.model()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bounds_hold_every_vertex_of_any_pose(values in prop::collection::vec(-3.0_f32..3.0, 42)) {
        let model = stretching();
        prop_assert_eq!(model.controls().names().len(), values.len());
        let mut pose = GltfPose::new(&model, OutputSpace::World);
        pose.set_controls(&model, &values).unwrap();
        let held = GltfBounds::new(model.mesh()).of_pose(&pose);
        for p in gltf_morph(model.mesh(), &pose) {
            prop_assert!(held.contains(p), "{:?} in {:?}", p, held);
        }
    }
}

#[test]
fn bounds_hold_the_rest_and_nothing_at_all() {
    let model = stretching();
    let pose = GltfPose::new(&model, OutputSpace::World);
    let held = GltfBounds::new(model.mesh()).of_pose(&pose);
    let rest = model.info(1).rest_bounds;
    assert!(held.contains(rest.min) && held.contains(rest.max), "{held:?} around {rest:?}");
    let mut empty = Case::new();
    empty.push("nodes", json!({}));
    let empty = empty.model();
    let pose = GltfPose::new(&empty, OutputSpace::World);
    assert_eq!(GltfBounds::new(empty.mesh()).of_pose(&pose), Aabb::default());
}
