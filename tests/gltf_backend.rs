//! What the glTF backend promises beyond the trait: shared data, what is uploaded when, options, and what it refuses.
#![cfg(feature = "gpu")]

mod common;
mod rigs;
mod synthetic;

use common::{device, vertices};
use rigeval::backend::{RigBackend, VertexSpace};
use rigeval::error::{BackendError, ControlError};
use rigeval::gltf::gpu::{GltfBackend, GltfCounters, GltfDeviceModel, GltfOptions};
use rigeval::gltf::pose::OutputSpace;
use rigeval::info::{RigKind, Units};
use rigeval::lbs::Skinning;
use rigs::gltf::case::{Case, TRIANGLE};
use rigs::gltf::{V, controls, device_model, model, sample};
use rigs::{apart, bounds_of, current, frame, turn};
use serde_json::json;
use std::sync::Arc;

const DIRECTIONS: GltfOptions = GltfOptions {
    normals: true,
    tangents: true,
    previous_positions: false,
    space: OutputSpace::World,
    skinning: Skinning::Linear,
};

#[test]
fn objects_of_one_model_share_its_data() {
    let Some(gpu) = device("objects_of_one_model_share_its_data") else { return };
    let model = device_model(gpu, model(true));
    let positions_only = model.device_bytes();
    let mut rigs: Vec<GltfBackend> = [1, 3, 9]
        .map(|n| GltfBackend::new(&gpu.context(), &model, n, GltfOptions::default()).expect("within limits"))
        .into();
    assert_eq!(model.device_bytes(), positions_only, "a backend object adds nothing to the shared data");
    let shaded = |n| GltfBackend::new(&gpu.context(), &model, n, DIRECTIONS).expect("within limits");
    rigs.push(shaded(2));
    let all = model.device_bytes();
    assert!(all > positions_only, "normals and tangents come with the first object that wants them");
    rigs.push(shaded(1));
    assert_eq!(model.device_bytes(), all);
    let info = rigs[0].info();
    assert_eq!((info.kind, info.units), (RigKind::Gltf, Units::Metres));
    let values = sample(&rigs[0], 70);
    let mut encoder = gpu.encoder();
    for rig in &mut rigs {
        assert_eq!(rig.set_controls_all(&values.repeat(rig.info().instance_count)), Ok(true));
        rig.encode(gpu.queue(), &mut encoder);
    }
    gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
    let one = current(gpu, &rigs[0]);
    for rig in &rigs {
        for instance in current(gpu, rig).chunks_exact(V) {
            assert!(apart(&one, instance) <= 1e-6, "tiles of 1 and 4 agree");
        }
    }
}

#[test]
fn same_controls_give_the_same_bits() {
    let Some(gpu) = device("same_controls_give_the_same_bits") else { return };
    let model = device_model(gpu, model(true));
    for instances in [1, 3] {
        let [a, b] = [0, 1].map(|_| {
            let mut rig = GltfBackend::new(&gpu.context(), &model, instances, DIRECTIONS).expect("within limits");
            for seed in [1, 2] {
                let all: Vec<f32> = (0..instances as u64).flat_map(|i| sample(&rig, 10 * seed + i)).collect();
                assert_eq!(rig.set_controls_all(&all), Ok(true));
                frame(gpu, &mut rig);
            }
            let view = rig.vertices();
            let read = |buffer| gpu.read_f32(buffer).expect("a buffer");
            [Some(view.current_positions()), view.normals, view.tangents].map(|b| read(b.expect("asked for")))
        });
        assert_eq!(a, b, "N = {instances}");
    }
}

#[test]
fn counters_show_that_only_what_changed_is_uploaded() {
    let Some(gpu) = device("counters_show_that_only_what_changed_is_uploaded") else { return };
    let model = device_model(gpu, model(true));
    let targets = model.sizes().attributes.map(|sizes| sizes.expect("the file has all").target_count);
    let rows = model.model().mesh().rows().len();
    for (instances, options) in [(1, DIRECTIONS), (3, GltfOptions::default()), (20, DIRECTIONS)] {
        let passes = if options.normals { 3 } else { 1 };
        let mut rig = GltfBackend::new(&gpu.context(), &model, instances, options).expect("within limits");
        let (last, tile) = (instances - 1, if instances == 1 { 1 } else { 4 });
        let step = |rig: &mut GltfBackend, change: &mut dyn FnMut(&mut GltfBackend) -> bool| {
            let before = rig.counters();
            assert!(change(rig));
            frame(gpu, rig);
            let after = rig.counters();
            GltfCounters {
                weight_tiles: after.weight_tiles - before.weight_tiles,
                weight_bytes: after.weight_bytes - before.weight_bytes,
                skin_row_instances: after.skin_row_instances - before.skin_row_instances,
                skin_row_bytes: after.skin_row_bytes - before.skin_row_bytes,
                dispatches: after.dispatches - before.dispatches,
            }
        };
        let none = GltfCounters::default();
        assert_eq!(step(&mut rig, &mut |_| true), none, "nothing set");

        // A weight: no skin row is sent.
        let mut values = rig.info().default_controls.clone();
        values[0] = 0.7;
        let face = step(&mut rig, &mut |rig| rig.set_controls(last, &values) == Ok(true));
        let mask_words = |targets: usize| targets.div_ceil(32).next_multiple_of(4);
        let tile_bytes = |targets: &usize| 4 * (mask_words(*targets) + (targets * tile).next_multiple_of(4)) as u64;
        let weight_bytes = targets[..passes].iter().map(tile_bytes).sum();
        let dispatches = passes as u64;
        let only_weights = GltfCounters { weight_tiles: dispatches, weight_bytes, dispatches, ..none };
        assert_eq!(face, only_weights, "a weight changed: no skin row is sent");
        assert_eq!(step(&mut rig, &mut |rig| rig.set_controls(last, &values) == Ok(false)), none, "the same face");

        // A node: no weight is sent.
        let node = rig.info().control("node/head/translation/y").expect("a control");
        values[node] += 0.1;
        let skin_row_bytes = (48 * rows) as u64;
        let only_rows = GltfCounters { skin_row_instances: 1, skin_row_bytes, dispatches, ..none };
        let moved = step(&mut rig, &mut |rig| rig.set_controls(last, &values) == Ok(true));
        assert_eq!(moved, only_rows, "a node moved: no weight is sent");
        let turned = step(&mut rig, &mut |rig| rig.set_joint_overrides(last, &[turn("head", 0.2)]) == Ok(true));
        assert_eq!(turned, only_rows, "a joint turned: no weight is sent");

        let all = sample(&rig, 81).repeat(instances);
        let everyone = step(&mut rig, &mut |rig| rig.set_controls_all(&all) == Ok(true));
        let tiles = (instances.div_ceil(tile) * passes) as u64;
        assert_eq!((everyone.weight_tiles, everyone.skin_row_instances), (tiles, instances as u64));
    }
}

#[test]
fn space_of_the_mesh_parent_is_that_of_bounds_and_rest_too() {
    let Some(gpu) = device("space_of_the_mesh_parent_is_that_of_bounds_and_rest_too") else { return };
    let mut case = Case::new();
    let position = case.rows(&TRIANGLE);
    case.mesh_node(json!({"attributes": {"POSITION": position}}), json!({"translation": [0, 0, 1]}));
    case.push("nodes", json!({"name": "parent", "children": [0], "translation": [0, 5, 0], "scale": [2, 2, 2]}));
    case.json["scenes"][0]["nodes"] = json!([1]);
    let model = device_model(gpu, case.model());
    for (space, corner) in [(OutputSpace::World, [2.0, 5.0, 2.0]), (OutputSpace::MeshParent, [1.0, 0.0, 1.0])] {
        let options = GltfOptions { space, ..GltfOptions::default() };
        let mut rig = GltfBackend::new(&gpu.context(), &model, 2, options).expect("within limits");
        assert_eq!((rig.options(), rig.pose(1).space()), (options, space));
        assert_eq!(rig.vertices().space == VertexSpace::MeshParent, space == OutputSpace::MeshParent);
        let rest = current(gpu, &rig);
        assert_eq!(rest[1], corner);
        assert_eq!(rig.info().rest_bounds, bounds_of(&rest));
        assert!(rest.iter().all(|&p| rig.bounds(0).contains(p)));
        // A parent that moves is seen in the world alone.
        rig.set_joint_overrides(0, &[turn("parent", 1.0)]).expect("an override");
        frame(gpu, &mut rig);
        let moved = apart(&rest, &current(gpu, &rig));
        assert_eq!(moved > 1e-6, space == OutputSpace::World, "{moved}");
    }
}

#[test]
fn previous_positions_are_those_of_the_last_frame_morphs_and_all() {
    let Some(gpu) = device("previous_positions_are_those_of_the_last_frame_morphs_and_all") else { return };
    let model = device_model(gpu, Case::morphed(&[&[[0.0, 0.0, 1.0]; 3]]).model());
    let options = GltfOptions { previous_positions: true, ..GltfOptions::default() };
    for instances in [1, 3] {
        let mut rig = GltfBackend::new(&gpu.context(), &model, instances, options).expect("within limits");
        let mut values = rig.info().default_controls.clone();
        let mut step = |weight: f32, shift: f32| {
            (values[0], values[1]) = (weight, shift);
            rig.set_controls_all(&values.repeat(instances)).expect("within range");
            frame(gpu, &mut rig);
            let view = rig.vertices();
            [view.previous_positions(), view.current_positions()].map(|buffer| vertices(gpu, buffer))
        };
        let at = |shift: f32, height: f32| TRIANGLE.map(|p| [p[0] + shift, p[1], height]).repeat(instances);
        // The target's weight, and where the node is in x: what the frame before had of both.
        assert_eq!(step(0.0, 0.0), [at(0.0, 0.0), at(0.0, 0.0)], "the first frame is its own predecessor");
        assert_eq!(step(1.0, 0.0), [at(0.0, 0.0), at(0.0, 1.0)]);
        assert_eq!(step(1.0, 0.0), [at(0.0, 1.0), at(0.0, 1.0)], "nothing moved");
        assert_eq!(step(0.5, 2.0), [at(0.0, 1.0), at(2.0, 0.5)]);
        assert_eq!(step(1.0, 2.0), [at(2.0, 0.5), at(2.0, 1.0)]);
        assert_eq!(step(1.0, 3.0), [at(2.0, 1.0), at(3.0, 1.0)]);
    }
}

#[test]
fn rotation_of_no_length_is_refused_for_one_and_for_all() {
    let Some(gpu) = device("rotation_of_no_length_is_refused_for_one_and_for_all") else { return };
    let model = device_model(gpu, model(true));
    let mut rig = GltfBackend::new(&gpu.context(), &model, 3, GltfOptions::default()).expect("within limits");
    let good = sample(&rig, 5);
    assert_eq!(rig.set_controls_all(&good.repeat(3)), Ok(true));
    frame(gpu, &mut rig);
    let before = (current(gpu, &rig), rig.counters());
    let first = rig.info().control("node/head/rotation/x").expect("a control");
    let mut wrong = sample(&rig, 6);
    wrong[first..first + 4].fill(0.0);
    let mut all = sample(&rig, 6).repeat(3);
    all[2 * good.len()..].copy_from_slice(&wrong);
    for refused in [rig.set_controls(1, &wrong), rig.set_controls_all(&all)] {
        assert!(matches!(&refused, Err(ControlError::Quaternion { joint, .. }) if joint == "head"), "{refused:?}");
    }
    all[2 * good.len() + 1] = f32::NAN;
    let refused = rig.set_controls_all(&all);
    assert!(matches!(refused, Err(ControlError::NotFinite { index, .. }) if index == 2 * good.len() + 1));
    frame(gpu, &mut rig);
    assert_eq!((current(gpu, &rig), rig.counters()), before, "nothing was uploaded");
}

#[test]
fn creation_refuses_what_cannot_be() {
    let Some(gpu) = device("creation_refuses_what_cannot_be") else { return };
    let new = |model: &Arc<GltfDeviceModel>, instances, options| {
        GltfBackend::new(&gpu.context(), model, instances, options).map(|_| ())
    };
    let full = device_model(gpu, model(true));
    assert_eq!(new(&full, 0, GltfOptions::default()), Err(BackendError::NoInstances));

    // Points have no triangles to take normals from.
    let mut points = Case::morphed(&[&TRIANGLE]);
    points.primitive()["mode"] = json!(0);
    let points = device_model(gpu, points.model());
    assert_eq!(new(&points, 1, DIRECTIONS), Err(BackendError::NoFaces));
    assert_eq!(new(&points, 1, GltfOptions { tangents: true, ..GltfOptions::default() }), Ok(()));

    let mut empty = Case::new();
    empty.push("nodes", json!({}));
    let empty = GltfDeviceModel::new(&gpu.context(), Arc::new(empty.model())).map(|_| ());
    assert_eq!(empty, Err(BackendError::NoVertices));

    // The 128 MiB of a default binding hold 15,600 files of 717 vertices.
    let Err(BackendError::Limit(error)) = new(&full, 15_610, GltfOptions::default()) else { panic!("it fits") };
    assert_eq!((error.limit, error.needed), ("max_storage_buffer_binding_size", 15_610 * 717 * 12));
    assert_eq!(new(&full, usize::MAX, DIRECTIONS).map_err(|e| e.to_string().lines().count()), Err(1));
    gpu.check().expect("nothing was tried on the device");
}

#[test]
fn file_without_targets_joints_or_controls_is_posed() {
    let Some(gpu) = device("file_without_targets_joints_or_controls_is_posed") else { return };
    let mut case = Case::new();
    let position = case.rows(&TRIANGLE);
    let matrix = [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 1];
    case.mesh_node(json!({"attributes": {"POSITION": position}}), json!({"name": "fixed", "matrix": matrix}));
    let model = device_model(gpu, case.model());
    let mut rig = GltfBackend::new(&gpu.context(), &model, 3, DIRECTIONS).expect("within limits");
    assert_eq!(rig.set_controls_all(&[]), Ok(false));
    assert_eq!(current(gpu, &rig)[..3], [[0.0, 0.0, 2.0], [0.0, 1.0, 2.0], [-1.0, 0.0, 2.0]]);
    assert_eq!(vertices(gpu, rig.vertices().normals.expect("computed"))[0], [0.0, 0.0, 1.0]);
    assert_eq!(rig.set_joint_overrides(2, &[turn("fixed", 0.5)]), Ok(true));
    frame(gpu, &mut rig);
    let found = current(gpu, &rig);
    assert_eq!(found[..3], found[3..6]);
    assert!(apart(&found[..3], &found[6..]) > 0.1);
}

#[test]
fn encode_of_a_moving_file_allocates_the_same_small_amount_for_any_crowd() {
    let test = "encode_of_a_moving_file_allocates_the_same_small_amount_for_any_crowd";
    let Some(gpu) = device(test) else { return };
    let model = device_model(gpu, model(true));
    let bytes = [4, 64].map(|instances| {
        let options = GltfOptions::default();
        let mut rig = GltfBackend::new(&gpu.context(), &model, instances, options).expect("within limits");
        let defaults = rig.info().default_controls.clone();
        let morphs = model.model().controls().morph_count();
        let frames = (0..4).map(|seed| {
            rig.set_controls_all(&controls(&defaults, morphs, seed).repeat(instances)).expect("a sample");
            let mut encoder = gpu.encoder();
            let encoded = allocation_counter::measure(|| rig.encode(gpu.queue(), &mut encoder));
            gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
            encoded.bytes_total
        });
        frames.min().expect("four frames")
    });
    assert!(bytes[1] < bytes[0] + 1024, "bytes for 4 and 64 instances: {bytes:?}");
}
