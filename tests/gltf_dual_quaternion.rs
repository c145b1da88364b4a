//! Dual-quaternion skinning of glTF files, on the CPU and on the device: known faults, no memory of other frames, bounds, a real file.
//! The formula itself is tested beside it; the device against its twin over a file of formulas in `gltf_parity.rs`.
#![cfg(feature = "gpu")]

mod common;
mod rigs;
mod synthetic;

use common::compare::assert_close;
use common::device;
use proptest::prelude::*;
use rigeval::backend::RigBackend;
use rigeval::gltf::bounds::GltfBounds;
use rigeval::gltf::cpu::gltf_morph;
use rigeval::gltf::gpu::{GltfBackend, GltfOptions};
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::lbs::Skinning;
use rigs::gltf::case::{Case, assert_near};
use rigs::gltf::{controls, device_model, model};
use rigs::{bounds_of, current, frame};
use std::path::Path;
use std::sync::LazyLock;

const DUAL: GltfOptions = GltfOptions {
    normals: false,
    tangents: false,
    previous_positions: false,
    space: OutputSpace::World,
    skinning: Skinning::DualQuaternion,
};

/// A ring of points around the z axis, each held by two joints at the origin by half.
fn ring() -> (GltfModel, Vec<[f32; 3]>) {
    let points: Vec<[f32; 3]> =
        (0..67).map(|i| [(i as f32 * 0.3).cos(), (i as f32 * 0.3).sin(), i as f32 * 0.01]).collect();
    let weights = vec![[0.5, 0.5, 0.0, 0.0]; points.len()];
    let model = Case::skinned(&[[0.0; 3]; 2], &points, &vec![[0, 1, 0, 0]; points.len()], &weights).model();
    (model, points)
}

/// The controls of a ring whose joints turn about z; the sign of a quaternion means nothing.
fn turned(degrees: [f32; 2], signs: [f32; 2]) -> Vec<f32> {
    let joint = |j: usize| {
        let half = degrees[j].to_radians() / 2.0;
        [0.0, 0.0, 0.0, 0.0, 0.0, signs[j] * half.sin(), signs[j] * half.cos(), 1.0, 1.0, 1.0]
    };
    // The node of the mesh stays where it is.
    [joint(0), joint(1), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]].concat()
}

fn on_cpu(model: &GltfModel, values: &[f32], skinning: Skinning) -> Vec<[f32; 3]> {
    let mut pose = GltfPose::new(model, OutputSpace::World).with_skinning(skinning);
    pose.set_controls(model, values).unwrap();
    gltf_morph(model.mesh(), &pose)
}

fn rotated(points: &[[f32; 3]], degrees: f32) -> Vec<[f32; 3]> {
    let turn = glam::Quat::from_rotation_z(degrees.to_radians());
    points.iter().map(|p| (turn * glam::Vec3::from(*p)).to_array()).collect()
}

#[test]
fn neighbours_meet_on_the_near_side_whatever_the_signs() {
    let (ring, points) = ring();
    let gpu = device("neighbours_meet_on_the_near_side_whatever_the_signs");
    // Both 20 degrees; 20 degrees apart across the half turn; twists up to the largest.
    let cases = [([20.0, 20.0], 20.0), ([170.0, -170.0], 180.0), ([0.0, 150.0], 75.0), ([0.0, 180.0], 90.0)];
    for (degrees, between) in cases {
        let want = rotated(&points, between);
        for signs in [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]] {
            let values = turned(degrees, signs);
            let cpu = on_cpu(&ring, &values, Skinning::DualQuaternion);
            assert_near(&cpu, &want, 2e-6);
            let Some(gpu) = gpu else { continue };
            let model = device_model(gpu, self::ring().0);
            let mut rig = GltfBackend::new(&gpu.context(), &model, 3, DUAL).expect("within limits");
            assert_eq!(rig.set_controls(1, &values), Ok(true));
            frame(gpu, &mut rig);
            let found = current(gpu, &rig);
            assert_close("instance 1", &cpu, &found[points.len()..2 * points.len()]);
            assert_close("instance 2", &points, &found[2 * points.len()..]);
        }
    }
    // Where linear blending is left with the axis.
    let flat = on_cpu(&ring, &turned([0.0, 180.0], [1.0; 2]), Skinning::Linear);
    assert!(flat.iter().all(|p| p[0].hypot(p[1]) < 1e-6));
}

#[test]
fn frame_after_others_equals_itself_to_the_bit() {
    let Some(gpu) = device("frame_after_others_equals_itself_to_the_bit") else { return };
    let (ring, _) = ring();
    let model = device_model(gpu, ring);
    let mut rig = GltfBackend::new(&gpu.context(), &model, 1, DUAL).expect("within limits");
    let mut pose = GltfPose::new(model.model(), OutputSpace::World).with_skinning(Skinning::DualQuaternion);
    let mut posed = |degrees| {
        let values = turned(degrees, [1.0; 2]);
        rig.set_controls(0, &values).unwrap();
        pose.set_controls(model.model(), &values).unwrap();
        frame(gpu, &mut rig);
        (current(gpu, &rig), gltf_morph(model.model().mesh(), &pose))
    };
    let first = posed([10.0, 175.0]);
    for other in [[0.0, 190.0], [-170.0, 170.0], [90.0, -100.0]] {
        assert_ne!(posed(other), first);
        assert_eq!(posed([10.0, 175.0]), first);
    }
}

#[test]
fn vertices_of_one_joint_are_linear_to_the_bit() {
    let Some(gpu) = device("vertices_of_one_joint_are_linear_to_the_bit") else { return };
    let model = device_model(gpu, model(true));
    let [linear, dual] = [Skinning::Linear, Skinning::DualQuaternion].map(|skinning| {
        let options = GltfOptions { skinning, ..DUAL };
        let mut rig = GltfBackend::new(&gpu.context(), &model, 1, options).expect("within limits");
        let values = rigs::gltf::sample(&rig, 4);
        rig.set_controls(0, &values).unwrap();
        frame(gpu, &mut rig);
        (current(gpu, &rig), on_cpu(model.model(), &values, skinning))
    });
    let influences = model.model().mesh().influences();
    let single = |v: &usize| influences.row(*v).len() == 1;
    let (alone, shared): (Vec<usize>, Vec<usize>) = (0..rigs::gltf::V).partition(single);
    assert!(alone.len() > 50 && alone.iter().all(|&v| linear.0[v] == dual.0[v] && linear.1[v] == dual.1[v]));
    assert!(shared.iter().filter(|&&v| linear.1[v] != dual.1[v]).count() > shared.len() / 2);
}

static MODEL: LazyLock<(GltfModel, GltfBounds)> = LazyLock::new(|| {
    let model = model(false);
    let bounds = GltfBounds::new(model.mesh());
    (model, bounds)
});

static RING: LazyLock<(GltfModel, GltfBounds)> = LazyLock::new(|| {
    let (ring, _) = ring();
    let bounds = GltfBounds::new(ring.mesh());
    (ring, bounds)
});

/// Whether the bounds of a pose by dual quaternions hold its vertices, and how much longer their diagonal is.
fn held((model, bounds): &(GltfModel, GltfBounds), values: &[f32]) -> (bool, f32) {
    let mut pose = GltfPose::new(model, OutputSpace::World).with_skinning(Skinning::DualQuaternion);
    pose.set_controls(model, values).unwrap();
    let (found, vertices) = (bounds.of_pose(&pose), gltf_morph(model.mesh(), &pose));
    let ratio = found.diagonal() / bounds_of(&vertices).diagonal();
    (vertices.iter().all(|&p| found.contains(p)), ratio)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn bounds_hold_every_vertex_of_any_pose(seed in 0_u64..1 << 40, wild in prop::collection::vec(-2.0_f32..2.0, 400)) {
        let (model, _) = &*MODEL;
        let morphs = model.controls().morph_count();
        let mut values = controls(model.controls().defaults(), morphs, seed);
        prop_assert!(held(&MODEL, &values).0);
        // Joints anywhere, turned and stretched any way.
        values[morphs..].iter_mut().zip(wild.iter().cycle()).for_each(|(value, w)| *value = *w);
        prop_assert!(held(&MODEL, &values).0);
    }

    #[test]
    fn bounds_hold_a_twist(values in prop::collection::vec(-1.0_f32..1.0, 30)) {
        prop_assert!(held(&RING, &values).0);
    }
}

#[test]
fn bounds_are_no_larger_where_all_joints_turn_alike() {
    for degrees in [0.0, 90.0, 180.0] {
        let (is_held, ratio) = held(&RING, &turned([degrees; 2], [1.0; 2]));
        assert!(is_held && ratio < 1.0 + 1e-4, "{degrees}: {ratio}");
    }
    for degrees in [[0.0, 90.0], [0.0, 180.0], [-90.0, 90.0]] {
        assert!(held(&RING, &turned(degrees, [1.0; 2])).0, "{degrees:?}");
    }
}

#[test]
fn fox_by_dual_quaternions_equals_its_twin() {
    let test = "fox_by_dual_quaternions_equals_its_twin";
    let Some(gpu) = device(test) else { return };
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/gltf/models/Fox.glb"));
    if !path.exists() {
        eprintln!("SKIP {test}: no {}; the file of formulas covers the stage", path.display());
        return;
    }
    let model = device_model(gpu, GltfModel::open(path).unwrap());
    let bounds = GltfBounds::new(model.model().mesh());
    let mut rig = GltfBackend::new(&gpu.context(), &model, 1, DUAL).expect("within limits");
    let (mut differs, mut loosest) = (0.0_f32, 0.0_f32);
    for clip in model.model().clips() {
        for step in 0..5 {
            let mut values = model.model().controls().defaults().to_vec();
            clip.sample(0.17 * f64::from(step), &mut clip.cursor(), &mut values);
            rig.set_controls(0, &values).unwrap();
            frame(gpu, &mut rig);
            let cpu = on_cpu(model.model(), &values, Skinning::DualQuaternion);
            assert_close("fox", &cpu, &current(gpu, &rig));
            differs = differs.max(rigs::apart(&cpu, &on_cpu(model.model(), &values, Skinning::Linear)));
            let around = rig.bounds(0);
            assert_eq!(around, bounds.of_pose(rig.pose(0)));
            assert!(cpu.iter().all(|&p| around.contains(p)));
            loosest = loosest.max(around.diagonal() / bounds_of(&cpu).diagonal());
        }
    }
    eprintln!("up to {differs} from linear skinning; bounds up to {loosest} times the exact diagonal");
    assert!(differs > 0.1 && loosest < 1.5);
}
