//! Laws of whole rigs, from the file to the vertices; damaged files that are read must evaluate, deform and bake without a panic.

mod synthetic;

use proptest::prelude::*;
use rigeval::math::Aabb;
use rigeval::orl::bake::bake;
use rigeval::orl::bounds::OrlBounds;
use rigeval::orl::cpu::orl_deform;
use rigeval::orl::dna::{Channels, Dna, JointGroup, LoadOptions, Mesh, RotationRepresentation, SkinRow, Target};
use rigeval::orl::mesh::OrlMesh;
use rigeval::orl::model::OrlModel;
use rigeval::orl::pack::OrlPack;
use rigeval::orl::pose::OrlPose;
use rigeval::orl::riglogic::{RigLogic, RigState, RotationOutput};
use rigeval::sparse::DeltaFormat;
use synthetic::Numbers;

const RIGS: [&str; 7] = ["tiny", "tiny_v21", "ml_legacy", "ml_ext", "rbf_v24", "rbf_quat", "twist"];

fn bytes(name: &str) -> Vec<u8> {
    let path = format!("{}/reference/orl/{name}.dna", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The state after raw controls of up to `most`, at one level.
fn solve(logic: &RigLogic, lod: usize, seed: u64, most: f64) -> RigState {
    let mut numbers = Numbers::new(seed);
    let raw: Vec<f32> = (0..logic.counts().raw).map(|_| (most * numbers.signed()) as f32).collect();
    let mut state = RigState::new(logic);
    logic.set_raw(&mut state, &raw).unwrap();
    logic.evaluate(&mut state, lod);
    state
}

#[test]
fn vertices_of_a_coarse_level_follow_its_rows_and_channels() {
    let mut dna = Dna::default();
    dna.descriptor.lod_count = 2;
    let definition = &mut dna.definition;
    definition.raw_control_names = vec!["c".into()];
    definition.joint_names = vec!["base".into(), "tip".into()];
    definition.joint_parents = vec![0, 0];
    definition.neutral_translations = vec![[0.0; 3], [0.0, 2.0, 0.0]];
    definition.neutral_rotations = vec![[0.0; 3]; 2];
    definition.channel_names = vec!["shape".into()];
    definition.mesh_names = vec!["skin".into()];
    // The base goes 2 c along x at both levels, the tip 3 c along y at level 0 only.
    let (outputs, values) = (vec![0, 10], vec![2.0, 3.0]);
    dna.behavior.joint_groups = vec![JointGroup { lods: vec![2, 1], inputs: vec![0], outputs, values, joints: vec![] }];
    dna.behavior.channels = Channels { lods: vec![1, 0], inputs: vec![0], outputs: vec![0] };
    let skin = |joints: &[u16], weights: &[f32]| SkinRow { joints: joints.to_vec(), weights: weights.to_vec() };
    dna.meshes = vec![Mesh {
        positions: vec![[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]],
        skin: vec![skin(&[1], &[1.0]), skin(&[0, 1], &[0.5, 0.5])],
        targets: vec![Target { deltas: vec![[0.0, 0.0, 1.0]], vertices: vec![0], channel: 0 }],
        ..Mesh::default()
    }];
    let model = OrlModel::new(&dna);
    let mesh = OrlMesh::new(&dna, &model, 0, DeltaFormat::F32).unwrap();
    for output in [RotationOutput::Euler, RotationOutput::Quaternion] {
        let logic = RigLogic::new(&dna, output).unwrap();
        let at = |lod: usize| {
            let mut state = RigState::new(&logic);
            logic.set_raw(&mut state, &[0.5]).unwrap();
            logic.evaluate(&mut state, lod);
            let mut pose = OrlPose::new(&model);
            pose.set_solved(&model, output, state.joints(), state.blend_shapes()).unwrap();
            orl_deform(&mesh, &pose)
        };
        assert_eq!(at(0), [[1.0, 3.5, 0.5], [2.0, 0.75, 0.0]]);
        assert_eq!(at(1), [[1.0, 2.0, 0.0], [2.0, 0.0, 0.0]]);
    }
}

fn turns_as_quaternion(dna: &Dna, joint: usize) -> bool {
    dna.joint_representations.get(joint).is_some_and(|r| r.rotation == RotationRepresentation::Quaternion)
}

#[test]
fn level_moves_no_other_attributes_than_it_says() {
    for name in RIGS {
        let dna = Dna::read(&bytes(name)).unwrap();
        let logic = RigLogic::new(&dna, RotationOutput::Euler).unwrap();
        for (lod, seed) in (0..logic.counts().lods).flat_map(|lod| (0..20).map(move |seed| (lod, seed))) {
            let state = solve(&logic, lod, seed, 1.5);
            let moved = (0_u16..).zip(state.joints()).filter(|(_, value)| **value != 0.0);
            for (attribute, value) in moved {
                let listed = logic.variable_attributes(lod).contains(&attribute);
                assert!(listed, "{name} level {lod}: attribute {attribute} is {value} and not listed");
            }
        }
    }
}

#[test]
fn cut_rig_moves_as_the_level_of_the_whole() {
    for name in RIGS {
        let bytes = bytes(name);
        let whole = Dna::read(&bytes).unwrap();
        let logic = RigLogic::new(&whole, RotationOutput::Quaternion).unwrap();
        for lod in 0..whole.descriptor.lod_count {
            let options = LoadOptions { lods: Some(lod..lod + 1), ..LoadOptions::default() };
            let cut = Dna::read_with(&bytes, &options).unwrap();
            let cut_logic = RigLogic::new(&cut, RotationOutput::Quaternion).unwrap();
            for seed in 0..20 {
                let (of_whole, of_cut) = (solve(&logic, lod.into(), seed, 1.0), solve(&cut_logic, 0, seed, 1.0));
                let near = |what: &str, a: &[f32], b: &[f32]| {
                    for (a, b) in a.iter().zip(b) {
                        let near = (a - b).abs() <= 1e-5 * a.abs().max(1.0);
                        assert!(near, "{name} level {lod} {what}: {a} of the whole rig, {b} of the cut one");
                    }
                };
                let (d, c) = (&whole.definition, &cut.definition);
                let place = |names: &[String], name: &String| names.iter().position(|n| n == name).unwrap();
                for (joint, what) in c.joint_names.iter().enumerate() {
                    let (a, b) =
                        (&of_whole.joints()[place(&d.joint_names, what) * 10..], &of_cut.joints()[joint * 10..]);
                    near(what, &a[..3], &b[..3]);
                    near(what, &a[7..10], &b[7..10]);
                    // The turns of a quaternion joint are applied in an order that depends on all levels of the file.
                    if !turns_as_quaternion(&cut, joint) {
                        near(what, &a[3..7], &b[3..7]);
                    }
                }
                for (channel, what) in c.channel_names.iter().enumerate() {
                    let from = place(&d.channel_names, what);
                    near(what, &of_whole.blend_shapes()[from..=from], &of_cut.blend_shapes()[channel..=channel]);
                }
                for (map, what) in c.animated_map_names.iter().enumerate() {
                    let from = place(&d.animated_map_names, what);
                    near(what, &of_whole.animated_maps()[from..=from], &of_cut.animated_maps()[map..=map]);
                }
            }
        }
    }
}

/// Evaluates, deforms, bounds and bakes whatever of a file is accepted.
fn exercise(bytes: &[u8], seed: u64) {
    let Ok(dna) = Dna::read(bytes) else { return };
    let model = OrlModel::new(&dna);
    let mut pose = OrlPose::new(&model);
    for output in [RotationOutput::Euler, RotationOutput::Quaternion] {
        let Ok(logic) = RigLogic::new(&dna, output) else { continue };
        // One level more than there are: it is the last one.
        for lod in 0..=logic.counts().lods {
            let state = solve(&logic, lod, seed, if seed.is_multiple_of(5) { f64::from(f32::MAX) } else { 2.0 });
            // What overflows is refused, and the pose stays as it was.
            let _ = pose.set_solved(&model, output, state.joints(), state.blend_shapes());
        }
        let mut state = RigState::new(&logic);
        logic.set_gui(&mut state, &vec![0.7; logic.counts().gui]).unwrap();
        logic.evaluate(&mut state, 0);
        logic.raw_to_gui(state.raw(), &mut vec![0.0; logic.counts().gui]).unwrap();
    }
    for (mesh_index, format) in (0..dna.meshes.len()).zip([DeltaFormat::F32, DeltaFormat::I16, DeltaFormat::I8]) {
        let mesh = OrlMesh::new(&dna, &model, mesh_index, format).unwrap();
        let vertices = orl_deform(&mesh, &pose);
        let bounds = OrlBounds::new(&mesh).bounds(&mesh.deltas().weigh(pose.weights()), pose.skin_rows());
        if vertices.as_flattened().iter().all(|x| x.is_finite()) {
            let exact = Aabb::of_points(vertices.iter().copied());
            assert!(vertices.iter().all(|&p| bounds.contains(p)), "{bounds:?} does not hold {exact:?}");
        }
        if let Ok((pack, _)) = bake(&dna, bytes, mesh_index, 0, &mut |_| ()) {
            let written = pack.write();
            assert_eq!(OrlPack::read(written.clone()).expect("a baked pack reads").write(), written);
        }
    }
}

#[test]
fn committed_rigs_evaluate_deform_and_bake() {
    for name in RIGS {
        (1..6).for_each(|seed| exercise(&bytes(name), seed));
    }
}

proptest! {
    #[test]
    fn rig_with_changed_bytes_never_panics(
        name in 0..RIGS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        seed in any::<u64>(),
    ) {
        let mut bytes = bytes(RIGS[name]);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        exercise(&bytes, seed);
    }

    #[test]
    fn rig_with_changed_numbers_never_panics(
        name in 0..RIGS.len(),
        at in any::<prop::sample::Index>(),
        value in prop_oneof![0u16..12, any::<u16>(), Just(0x7f7f), Just(0xff7f), Just(0x0080)],
        seed in any::<u64>(),
    ) {
        let mut bytes = bytes(RIGS[name]);
        let at = at.index(bytes.len() - 2);
        bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
        exercise(&bytes, seed);
    }
}
