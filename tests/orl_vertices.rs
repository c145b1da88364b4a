//! The CPU deformation of ORL meshes against the handed vertices, and its laws on a rig made by hand.

use glam::{DVec3, Quat};
use rigeval::error::{ControlError, LoadErrorKind};
use rigeval::npy;
use rigeval::orl::cpu::orl_deform;
use rigeval::orl::dna::{Dna, FaceWinding, LoadOptions, Mesh, RotationSequence, RotationUnit, SkinRow, Target};
use rigeval::orl::mesh::OrlMesh;
use rigeval::orl::model::OrlModel;
use rigeval::orl::pose::OrlPose;
use rigeval::orl::riglogic::RotationOutput::{Euler, Quaternion};
use rigeval::skeleton::JointOverride;
use rigeval::sparse::{DeltaFormat, SparseEntries, sparse_gather};
use std::path::Path;

/// Relative to the largest coordinate of a vector's mesh, or to 1 cm if that is more. The frames are f64; skin rows here are f32.
const TOLERANCE: f64 = 1e-5;

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl");
const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data");

#[test]
fn committed_vertices_match() {
    for (rig, entry) in [("tiny", "gui"), ("tiny", "raw"), ("ml_ext", "raw"), ("rbf_quat", "raw"), ("twist", "raw")] {
        check(Path::new(COMMITTED), rig, entry, &(0..20).collect::<Vec<_>>());
    }
}

#[test]
fn shared_vertices_match() {
    let folder = Path::new(SHARED).join("orl");
    if !folder.is_dir() {
        eprintln!("SKIP shared_vertices_match: no folder {}; committed rigs cover the formula", folder.display());
        return;
    }
    let rigs = ["tiny", "tiny_radians", "face_small", "rbf_quat", "twist", "ml_legacy", "ml_ext"];
    let compared = rigs.iter().flat_map(|rig| [(rig, "gui"), (rig, "raw")]);
    let count: usize = compared.map(|(rig, entry)| check(&folder, rig, entry, &(0..20).collect::<Vec<_>>())).sum();
    assert_eq!(count, 12, "arrays of vertices compared");
}

#[test]
fn shared_large_vertices_match() {
    let folder = Path::new(SHARED).join("orl-large");
    if !folder.is_dir() {
        eprintln!("SKIP shared_large_vertices_match: no folder {}; small rigs cover the formula", folder.display());
        return;
    }
    let count: usize = ["gui", "raw"].iter().map(|e| check(&folder, "metahuman_scale", e, &[0, 4, 12, 16])).sum();
    assert_eq!(count, 4, "arrays of vertices compared");
}

/// Compares every mesh that has vertices, from every form of the handed joints, in every form of deltas; returns how many meshes.
fn check(folder: &Path, rig: &str, entry: &str, vectors: &[usize]) -> usize {
    let array = |name: String| -> Option<(Vec<usize>, Vec<f32>)> {
        let array = npy::read(&std::fs::read(folder.join(name)).ok()?).unwrap();
        Some((array.shape.clone(), array.into_f32().unwrap()))
    };
    let dna = Dna::read(&std::fs::read(folder.join(format!("{rig}.dna"))).unwrap()).unwrap();
    let model = OrlModel::new(&dna);
    let mut compared = 0;
    for mesh_index in 0..dna.meshes.len() {
        let Some((shape, expected)) = array(format!("{rig}.{entry}.verts_mesh{mesh_index}.npy")) else { continue };
        assert_eq!(shape, [vectors.len(), dna.meshes[mesh_index].positions.len(), 3]);
        compared += 1;
        let (weights_shape, weights) = array(format!("{rig}.{entry}.bs.npy")).unwrap();
        for format in [DeltaFormat::F32, DeltaFormat::I16, DeltaFormat::I8] {
            let mesh = OrlMesh::new(&dna, &model, mesh_index, format).unwrap();
            let mut forms = 0;
            for (rotation, form) in [(Euler, "euler"), (Quaternion, "quat")] {
                // In angles a network's turn is added to the joint's own, as a quaternion it is multiplied: two poses.
                // The vertices are those of the angles.
                if rotation == Quaternion && rig == "ml_ext" {
                    continue;
                }
                let Some((joints_shape, joints)) = array(format!("{rig}.{entry}.joints_{form}.npy")) else { continue };
                forms += 1;
                let (j, c) = (joints_shape[2] * joints_shape[3], weights_shape[2]);
                for (frame, &vector) in vectors.iter().enumerate() {
                    let mut pose = OrlPose::new(&model);
                    let weights = &weights[vector * c..][..c];
                    pose.set_solved(&model, rotation, &joints[vector * j..][..j], weights).unwrap();
                    let got = orl_deform(&mesh, &pose);
                    let expected = &expected.as_chunks::<3>().0[frame * got.len()..][..got.len()];
                    let rounding = rounding(&dna.meshes[mesh_index], &mesh, &pose);
                    compare(
                        &format!("{rig}.{entry} mesh {mesh_index} {form} {format:?} vector {vector}"),
                        &got,
                        expected,
                        &rounding,
                    );
                }
            }
            assert!(forms > 0, "{rig}.{entry}: no joints");
        }
    }
    compared
}

/// Per vertex and coordinate what quantisation may add: `|weight| * scale / 2` over its targets before the skin, which then turns and
/// stretches that box; nothing for floats.
fn rounding(source: &Mesh, mesh: &OrlMesh, pose: &OrlPose) -> Vec<[f64; 3]> {
    let mut bound = vec![0.0; source.positions.len()];
    if matches!(mesh.deltas().entries(), SparseEntries::Float(_)) {
        return vec![[0.0; 3]; bound.len()];
    }
    for (target, scale) in source.targets.iter().zip(mesh.deltas().targets()) {
        let step = f64::from(pose.weights()[usize::from(target.channel)].abs()) * f64::from(scale.scale) / 2.0;
        target.vertices.iter().for_each(|&v| bound[v as usize] += step);
    }
    let through_skin = |(vertex, bound): (usize, f64)| {
        let entry = |axis: usize, from: usize| -> f64 {
            let held = mesh.influences().row(vertex).iter();
            held.map(|i| f64::from(i.weight) * f64::from(pose.skin_rows()[i.joint as usize][axis][from])).sum()
        };
        [0, 1, 2].map(|axis| bound * (0..3).map(|from| entry(axis, from).abs()).sum::<f64>())
    };
    bound.into_iter().enumerate().map(through_skin).collect()
}

fn compare(what: &str, got: &[[f32; 3]], expected: &[[f32; 3]], rounding: &[[f64; 3]]) {
    let largest = expected.as_flattened().iter().fold(1.0_f64, |most, &x| most.max(f64::from(x).abs()));
    for (vertex, (g, e)) in got.iter().zip(expected).enumerate() {
        for axis in 0..3 {
            let limit = TOLERANCE * largest + rounding[vertex][axis];
            let off = (f64::from(g[axis]) - f64::from(e[axis])).abs();
            assert!(
                off <= limit,
                "{what} vertex {vertex} axis {axis}: {} against {}, off by {off} > {limit}",
                g[axis],
                e[axis]
            );
        }
    }
}

#[test]
fn quantised_deltas_stay_within_half_a_step_before_the_skin() {
    let dna = Dna::read(&std::fs::read(Path::new(COMMITTED).join("tiny.dna")).unwrap()).unwrap();
    let model = OrlModel::new(&dna);
    let mut pose = OrlPose::new(&model);
    let weights: Vec<f32> = (0..model.channel_count()).map(|c| [1.0, -0.75, 0.3][c % 3]).collect();
    pose.set_solved(&model, Euler, &vec![0.0; model.file_joints().len() * 9], &weights).unwrap();
    let exact = OrlMesh::new(&dna, &model, 0, DeltaFormat::F32).unwrap();
    let exact_weights = exact.deltas().weigh(&weights);
    for format in [DeltaFormat::I16, DeltaFormat::I8] {
        let mesh = OrlMesh::new(&dna, &model, 0, format).unwrap();
        let quantised_weights = mesh.deltas().weigh(&weights);
        let mut bound = vec![1e-6; mesh.vertex_count()];
        for (target, scale) in dna.meshes[0].targets.iter().zip(mesh.deltas().targets()) {
            let step = weights[usize::from(target.channel)].abs() * scale.scale / 2.0;
            target.vertices.iter().for_each(|&v| bound[v as usize] += f64::from(step));
        }
        for (vertex, bound) in bound.into_iter().enumerate() {
            let got = sparse_gather(mesh.deltas(), vertex, &quantised_weights);
            let off = (got - sparse_gather(exact.deltas(), vertex, &exact_weights)).abs().max_element();
            assert!(off <= bound, "{format:?} vertex {vertex}: {off} > {bound}");
        }
    }
}

/// Four joints, of which joint 0 hangs under joint 2 and joint 3 is a second root; three vertices, two targets of one channel.
fn rig() -> Dna {
    let text = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
    let mut dna = Dna::default();
    let definition = &mut dna.definition;
    definition.joint_names = text(&["tip", "side", "base", "other"]);
    definition.joint_parents = vec![2, 2, 2, 3];
    definition.neutral_translations = vec![[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [5.0, 0.0, 0.0]];
    definition.neutral_rotations = vec![[0.0; 3], [30.0, -20.0, 10.0], [0.0; 3], [0.0, 90.0, 0.0]];
    definition.channel_names = text(&["c0", "c1"]);
    definition.mesh_names = text(&["skin"]);
    let skin = |joints: &[u16], weights: &[f32]| SkinRow { weights: weights.to_vec(), joints: joints.to_vec() };
    let mut mesh = Mesh {
        positions: vec![[0.0, 4.0, 0.0], [1.0, 2.0, 3.0], [6.0, 0.0, 0.0]],
        uvs: vec![[0.25, 0.5], [0.75, 1.0]],
        faces: vec![vec![0, 1, 2, 3], vec![0, 1]],
        skin: vec![skin(&[0], &[1.0]), skin(&[2, 1, 0], &[0.5, 0.25, 0.25]), skin(&[3, 0], &[1.0, 0.0])],
        targets: vec![
            Target { deltas: vec![[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]], vertices: vec![1, 0], channel: 1 },
            Target { deltas: vec![[0.0, 0.5, 0.0]], vertices: vec![1], channel: 1 },
        ],
        ..Mesh::default()
    };
    mesh.layouts.positions = vec![0, 1, 2, 1];
    mesh.layouts.uvs = vec![0, 0, 1, 1];
    mesh.layouts.normals = vec![0; 4];
    dna.meshes = vec![mesh];
    dna
}

const STILL: [f32; 36] = [0.0; 36];

/// Deltas of the four joints with one attribute set.
fn moved(joint: usize, attribute: usize, value: f32) -> [f32; 36] {
    let mut deltas = STILL;
    deltas[joint * 9 + attribute] = value;
    deltas
}

fn deform(dna: &Dna, joints: &[f32], weights: &[f32], overrides: &[JointOverride]) -> Vec<[f32; 3]> {
    let model = OrlModel::new(dna);
    let mesh = OrlMesh::new(dna, &model, 0, DeltaFormat::F32).unwrap();
    let mut pose = OrlPose::new(&model);
    pose.set_solved(&model, Euler, joints, weights).unwrap();
    pose.set_joint_overrides(&model, overrides).unwrap();
    orl_deform(&mesh, &pose)
}

#[track_caller]
fn close(got: [f32; 3], expected: [f32; 3]) {
    let off = (DVec3::from(got.map(f64::from)) - DVec3::from(expected.map(f64::from))).abs().max_element();
    assert!(off <= 2e-6, "{got:?} against {expected:?}");
}

#[test]
fn zero_controls_give_the_neutral() {
    let dna = rig();
    let got = deform(&dna, &STILL, &[0.0; 2], &[]);
    got.iter().zip(&dna.meshes[0].positions).for_each(|(g, p)| close(*g, *p));
}

#[test]
fn weights_add_every_target_of_their_channel() {
    let got = deform(&rig(), &STILL, &[9.0, -2.0], &[]);
    close(got[0], [0.0, 4.0, -4.0]);
    close(got[1], [-1.0, 1.0, 3.0]);
    close(got[2], [6.0, 0.0, 0.0]);
}

#[test]
fn parent_after_its_child_carries_it() {
    // A quarter turn of "base" about z, at (0, 1, 0): the tip's vertex goes from 3 above it to 3 left of it.
    let got = deform(&rig(), &moved(2, 5, 90.0), &[0.0; 2], &[]);
    close(got[0], [-3.0, 1.0, 0.0]);
    close(got[2], [6.0, 0.0, 0.0]);
    let model = OrlModel::new(&rig());
    assert_eq!(model.skeleton().names(), ["base", "tip", "side", "other"]);
    assert_eq!(model.skeleton().parents(), [None, Some(0), Some(0), None]);
    assert_eq!(model.file_joints(), [2, 0, 1, 3]);
}

#[test]
fn delta_moves_in_the_parent_and_turns_inside_the_neutral_frame() {
    // "other" stands at (5, 0, 0), turned 90 degrees about y: its x axis is the world's -z, its z axis the world's x.
    close(deform(&rig(), &moved(3, 2, 1.0), &[0.0; 2], &[])[2], [6.0, 0.0, 1.0]);
    // About its own z, which is the world's x, the vertex does not move; about its own x it goes round the world's -z.
    close(deform(&rig(), &moved(3, 5, 90.0), &[0.0; 2], &[])[2], [6.0, 0.0, 0.0]);
    close(deform(&rig(), &moved(3, 3, 90.0), &[0.0; 2], &[])[2], [5.0, -1.0, 0.0]);
}

#[test]
fn scale_delta_is_inherited_by_children() {
    close(deform(&rig(), &moved(2, 7, 1.0), &[0.0; 2], &[])[0], [0.0, 7.0, 0.0]);
}

#[test]
fn rotation_sequence_and_sign_are_the_rigs() {
    let mut dna = rig();
    let mut joints = moved(0, 3, 90.0);
    joints[4] = 90.0;
    // The tip's vertex is (0, 1, 0) from it. x first: to (0, 0, 1), then about y to (1, 0, 0).
    close(deform(&dna, &joints, &[0.0; 2], &[])[0], [1.0, 3.0, 0.0]);
    // y first leaves it, then x takes it to (0, 0, 1).
    dna.conventions.rotation_sequence = RotationSequence::Yxz;
    close(deform(&dna, &joints, &[0.0; 2], &[])[0], [0.0, 3.0, 1.0]);
    dna.conventions.rotation_signs = [-1, 1, 1];
    close(deform(&dna, &joints, &[0.0; 2], &[])[0], [0.0, 3.0, -1.0]);
    dna.descriptor.rotation_unit = RotationUnit::Radians;
    close(deform(&dna, &moved(0, 3, std::f32::consts::FRAC_PI_2), &[0.0; 2], &[])[0], [0.0, 3.0, -1.0]);
}

#[test]
fn skin_weights_are_not_renormalised() {
    let mut dna = rig();
    dna.meshes[0].skin[0].weights = vec![0.5];
    dna.meshes[0].skin[1] = SkinRow::default();
    let got = deform(&dna, &STILL, &[0.0, 1.0], &[]);
    close(got[0], [0.0, 2.0, 1.0]);
    close(got[1], [0.0; 3]);
}

#[test]
fn override_turns_before_the_scale_and_is_not_accumulated() {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let turn = [
        JointOverride { joint: "tip", rotation: Quat::from_xyzw(0.0, 0.0, half, half) },
        JointOverride { joint: "absent", rotation: Quat::IDENTITY },
    ];
    // Scaled first, (0, 1, 0) is (0, 3, 0); then it turns to (-3, 0, 0). Turned first it would not be stretched.
    let scaled = moved(0, 7, 2.0);
    close(deform(&rig(), &scaled, &[0.0; 2], &turn)[0], [-3.0, 3.0, 0.0]);

    let (dna, model) = (rig(), OrlModel::new(&rig()));
    let mesh = OrlMesh::new(&dna, &model, 0, DeltaFormat::F32).unwrap();
    let mut pose = OrlPose::new(&model);
    assert!(pose.set_joint_overrides(&model, &turn).unwrap());
    assert!(!pose.set_joint_overrides(&model, &turn).unwrap());
    assert!(pose.set_solved(&model, Euler, &scaled, &[0.0; 2]).unwrap());
    close(orl_deform(&mesh, &pose)[0], [-3.0, 3.0, 0.0]);
    assert!(pose.set_joint_overrides(&model, &[]).unwrap());
    close(orl_deform(&mesh, &pose)[0], [0.0, 6.0, 0.0]);
}

#[test]
fn vertices_in_another_order_come_out_in_that_order() {
    let (dna, mut turned) = (rig(), rig());
    let order = [2, 0, 1];
    let mesh = &mut turned.meshes[0];
    mesh.positions = order.map(|v| dna.meshes[0].positions[v]).to_vec();
    mesh.skin = order.map(|v| dna.meshes[0].skin[v].clone()).to_vec();
    for vertex in mesh.targets.iter_mut().flat_map(|t| &mut t.vertices) {
        *vertex = order.iter().position(|&v| v == *vertex as usize).unwrap() as u32;
    }
    let joints: Vec<f32> = (0..36).map(|i| (i as f32 * 0.7).sin() * 0.5).collect();
    let (plain, permuted) = (deform(&dna, &joints, &[0.5, -0.75], &[]), deform(&turned, &joints, &[0.5, -0.75], &[]));
    assert_eq!(permuted, order.map(|v| plain[v]));
}

#[test]
fn wrong_solution_is_refused_and_changes_nothing() {
    let model = OrlModel::new(&rig());
    let mut pose = OrlPose::new(&model);
    let before = pose.clone();
    let cases = [
        (pose.set_solved(&model, Quaternion, &STILL, &[0.0; 2]), "joints: expected 40 values, got 36"),
        (pose.set_solved(&model, Euler, &STILL, &[0.0; 3]), "blend shapes: expected 2 values, got 3"),
        (
            pose.set_solved(&model, Euler, &moved(1, 2, f32::NAN), &[1.0; 2]),
            "joints[11]: expected a finite number, got NaN",
        ),
        (
            pose.set_solved(&model, Euler, &moved(1, 2, 1.0), &[0.0, f32::INFINITY]),
            "blend shapes[1]: expected a finite number, got inf",
        ),
    ];
    for (result, message) in cases {
        assert_eq!(result.as_ref().map_err(ControlError::to_string), Err(message.to_string()));
    }
    assert_eq!(pose, before);
}

#[test]
fn absent_mesh_is_refused() {
    let (dna, model) = (rig(), OrlModel::new(&rig()));
    let error = OrlMesh::new(&dna, &model, 1, DeltaFormat::I8).unwrap_err();
    assert_eq!(error.kind, LoadErrorKind::Missing);
    assert_eq!(error.to_string(), "meshes: expected a mesh below 1, as many as the geometry holds, got 1");
}

#[test]
fn mesh_draws_fans_over_positions_with_the_first_uv() {
    let mut dna = rig();
    let model = OrlModel::new(&dna);
    let mesh = OrlMesh::new(&dna, &model, 0, DeltaFormat::F32).unwrap();
    let drawn = mesh.mesh();
    assert_eq!(drawn.triangles, [[0, 1, 2], [0, 2, 1]]);
    assert_eq!((drawn.parts[0].name.as_str(), drawn.parts[0].triangles.clone()), ("skin", 0..2));
    assert_eq!(drawn.uvs.as_deref(), Some(&[[0.25, 0.5], [0.25, 0.5], [0.75, 1.0]][..]));
    dna.conventions.face_winding = FaceWinding::Clockwise;
    assert_eq!(OrlMesh::new(&dna, &model, 0, DeltaFormat::F32).unwrap().mesh().triangles[0], [0, 2, 1]);
}

#[test]
fn file_without_blend_shapes_ignores_the_weights() {
    let bytes = std::fs::read(Path::new(COMMITTED).join("tiny.dna")).unwrap();
    let dna = Dna::read_with(&bytes, &LoadOptions { blend_shapes: false, ..LoadOptions::default() }).unwrap();
    let model = OrlModel::new(&dna);
    let mesh = OrlMesh::new(&dna, &model, 0, DeltaFormat::I16).unwrap();
    let mut pose = OrlPose::new(&model);
    let rest = orl_deform(&mesh, &pose);
    pose.set_solved(&model, Euler, &vec![0.0; model.file_joints().len() * 9], &vec![3.0; model.channel_count()])
        .unwrap();
    assert_eq!(orl_deform(&mesh, &pose), rest);
}
