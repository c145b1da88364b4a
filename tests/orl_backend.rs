//! What the ORL backend promises beyond the trait: shared data, what is uploaded when, raw controls, and what it refuses.
#![cfg(feature = "gpu")]

mod common;
mod rigs;
mod synthetic;

use common::device;
use rigeval::backend::RigBackend;
use rigeval::error::{BackendError, ControlError};
use rigeval::info::{RigKind, Units};
use rigeval::orl::controls::ControlLayer;
use rigeval::orl::gpu::{OrlBackend, OrlCounters, OrlDeviceModel, OrlOptions};
use rigeval::orl::rig::{ControlChoice, OrlRig, RigOptions};
use rigeval::sparse::DeltaFormat;
use rigs::orl::{CHANNELS, HEAD, JOINTS, controls, device_model, dna, rig, rig_of_layer, sample};
use rigs::{V, apart, current, frame, turn};
use std::sync::Arc;

fn model(gpu: &rigeval::gpu::headless::Headless) -> Arc<OrlDeviceModel> {
    device_model(gpu, rig(&dna(&HEAD), DeltaFormat::I16))
}

#[test]
fn objects_of_one_model_share_its_data() {
    let Some(gpu) = device("objects_of_one_model_share_its_data") else { return };
    let model = model(gpu);
    let shared = model.device_bytes();
    let mut rigs: Vec<OrlBackend> = [1, 3, 9]
        .map(|n| OrlBackend::new(&gpu.context(), &model, n, OrlOptions::default()).expect("within limits"))
        .into();
    assert_eq!(model.device_bytes(), shared, "a backend object adds nothing to the shared data");
    let info = rigs[0].info();
    assert_eq!((info.kind, info.units), (RigKind::Orl, Units::Centimetres));
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
            assert!(apart(&one, instance) <= 1e-5, "tiles of 1 and 4 agree");
        }
    }
}

#[test]
fn counters_show_that_only_what_changed_is_uploaded() {
    let Some(gpu) = device("counters_show_that_only_what_changed_is_uploaded") else { return };
    let model = model(gpu);
    let targets = model.rig().mesh().deltas().targets().len();
    for instances in [1, 3, 20] {
        let options = OrlOptions { normals: instances == 3, ..OrlOptions::default() };
        let dispatches = if options.normals { 2 } else { 1 };
        let mut rig = OrlBackend::new(&gpu.context(), &model, instances, options).expect("within limits");
        let (last, tile) = (instances - 1, if instances == 1 { 1 } else { 4 });
        let step = |rig: &mut OrlBackend, change: &mut dyn FnMut(&mut OrlBackend) -> bool| {
            let before = rig.counters();
            assert!(change(rig));
            frame(gpu, rig);
            let after = rig.counters();
            OrlCounters {
                weight_tiles: after.weight_tiles - before.weight_tiles,
                weight_bytes: after.weight_bytes - before.weight_bytes,
                skin_row_instances: after.skin_row_instances - before.skin_row_instances,
                skin_row_bytes: after.skin_row_bytes - before.skin_row_bytes,
                dispatches: after.dispatches - before.dispatches,
            }
        };
        let none = OrlCounters::default();
        assert_eq!(step(&mut rig, &mut |_| true), none, "nothing set");

        let values = sample(&rig, 80);
        let face = step(&mut rig, &mut |rig| rig.set_controls(last, &values) == Ok(true));
        let weight_bytes = 4 * (4 + (targets * tile).next_multiple_of(4)) as u64;
        // One row more than there are joints.
        let skin_row_bytes = (48 * (JOINTS + 1)) as u64;
        let expected = OrlCounters { weight_tiles: 1, weight_bytes, skin_row_instances: 1, skin_row_bytes, dispatches };
        assert_eq!(face, expected, "the face moved");
        assert_eq!(step(&mut rig, &mut |rig| rig.set_controls(last, &values) == Ok(false)), none, "the same face");

        let joint = step(&mut rig, &mut |rig| rig.set_joint_overrides(last, &[turn("head", 0.2)]) == Ok(true));
        let only_rows = OrlCounters { skin_row_instances: 1, skin_row_bytes, dispatches, ..none };
        assert_eq!(joint, only_rows, "a joint moved: no weight is sent");

        let all = sample(&rig, 81).repeat(instances);
        let everyone = step(&mut rig, &mut |rig| rig.set_controls_all(&all) == Ok(true));
        let tiles = instances.div_ceil(tile) as u64;
        assert_eq!((everyone.weight_tiles, everyone.skin_row_instances), (tiles, instances as u64));
        assert_eq!(everyone.weight_bytes, tiles * weight_bytes);
    }
}

#[test]
fn raw_controls_move_what_no_gui_control_reaches() {
    let Some(gpu) = device("raw_controls_move_what_no_gui_control_reaches") else { return };
    let model = device_model(gpu, rig_of_layer(&dna(&HEAD), DeltaFormat::I16, ControlLayer::Gui));
    let mut rig = OrlBackend::new(&gpu.context(), &model, 3, OrlOptions::default()).expect("within limits");
    let rest = current(gpu, &rig);
    let last = CHANNELS - 1;
    assert!(model.rig().undriven_raw_controls().contains(&format!("raw.{last}")));
    assert_eq!(rig.set_raw(1, &[(last, 1.0)]), Ok(true));
    assert_eq!(rig.set_raw(1, &[(last, 1.0)]), Ok(false));
    frame(gpu, &mut rig);
    let moved = current(gpu, &rig);
    assert!(apart(&rest[V..2 * V], &moved[V..2 * V]) > 1e-2);
    assert!(apart(&rest[..V], &moved[..V]) < 1e-5 && apart(&rest[2 * V..], &moved[2 * V..]) < 1e-5);
    let refused = rig.set_raw(1, &[(CHANNELS, 1.0)]);
    assert_eq!(refused, Err(ControlError::RawControl { got: CHANNELS, raw_count: CHANNELS }));
    assert_eq!(rig.set_raw(1, &[]), Ok(true), "given back");
    frame(gpu, &mut rig);
    assert!(apart(&rest, &current(gpu, &rig)) < 1e-5);
}

/// Finite controls whose joints are not: found only once an instance is solved, after others were.
#[test]
fn all_controls_are_taken_back_when_one_instance_cannot_be_solved() {
    let Some(gpu) = device("all_controls_are_taken_back_when_one_instance_cannot_be_solved") else { return };
    let model = model(gpu);
    let mut rig = OrlBackend::new(&gpu.context(), &model, 3, OrlOptions::default()).expect("within limits");
    let good = sample(&rig, 5);
    assert_eq!(rig.set_controls_all(&good.repeat(3)), Ok(true));
    frame(gpu, &mut rig);
    let before = (current(gpu, &rig), rig.counters());
    let mut values = sample(&rig, 6).repeat(3);
    values[2 * good.len()..].fill(f32::MAX);
    let refused = rig.set_controls_all(&values);
    assert!(matches!(refused, Err(ControlError::NotFinite { .. })), "{refused:?}");
    for instance in 0..3 {
        assert_eq!(rig.set_controls(instance, &good), Ok(false), "instance {instance} has its own controls");
    }
    frame(gpu, &mut rig);
    assert_eq!((current(gpu, &rig), rig.counters()), before, "nothing was uploaded");
}

#[test]
fn creation_refuses_what_cannot_be() {
    let Some(gpu) = device("creation_refuses_what_cannot_be") else { return };
    let model = model(gpu);
    let new = |model: &Arc<OrlDeviceModel>, instances, options| {
        OrlBackend::new(&gpu.context(), model, instances, options).map(|_| ())
    };
    assert_eq!(new(&model, 0, OrlOptions::default()), Err(BackendError::NoInstances));
    let with_normals = OrlOptions { normals: true, ..OrlOptions::default() };
    let mut bare = dna(&HEAD);
    bare.meshes.iter_mut().for_each(|mesh| mesh.faces.clear());
    let bare = device_model(gpu, rig(&bare, DeltaFormat::I8));
    assert_eq!(new(&bare, 1, with_normals), Err(BackendError::NoFaces));
    assert_eq!(new(&bare, 1, OrlOptions::default()), Ok(()));

    let on_device = |rig: OrlRig| OrlDeviceModel::new(&gpu.context(), Arc::new(rig)).map(|_| ());
    assert_eq!(on_device(rig(&dna(&HEAD), DeltaFormat::F32)), Err(BackendError::FloatDeltas));
    let options = RigOptions { meshes: Vec::new(), ..RigOptions::default() };
    let nothing = OrlRig::from_dna(&dna(&HEAD), &options).expect("a rig without meshes");
    assert_eq!(on_device(nothing), Err(BackendError::NoVertices));

    // The 128 MiB of a default binding hold 15,600 characters of 717 vertices.
    let Err(BackendError::Limit(error)) = new(&model, 15_610, OrlOptions::default()) else { panic!("it fits") };
    assert_eq!((error.limit, error.needed), ("max_storage_buffer_binding_size", 15_610 * 717 * 12));
    assert_eq!(new(&model, usize::MAX, with_normals).map_err(|e| e.to_string().lines().count()), Err(1));
    gpu.check().expect("nothing was tried on the device");
}

#[test]
fn encode_of_a_moving_character_allocates_the_same_small_amount_for_any_crowd() {
    let Some(gpu) = device("encode_of_a_moving_character_allocates_the_same_small_amount_for_any_crowd") else {
        return;
    };
    let model = model(gpu);
    let bytes = [4, 64].map(|instances| {
        let mut rig = OrlBackend::new(&gpu.context(), &model, instances, OrlOptions::default()).expect("within limits");
        let width = rig.info().control_names.len();
        let frames = (0..4).map(|seed| {
            rig.set_controls_all(&controls(instances * width, seed)).expect("a sample");
            let mut encoder = gpu.encoder();
            let encoded = allocation_counter::measure(|| rig.encode(gpu.queue(), &mut encoder));
            gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
            encoded.bytes_total
        });
        frames.min().expect("four frames")
    });
    // What wgpu needs for two writes and a pass; 64 instances have 58 KB of skin rows and 23 KB of weights.
    assert!(bytes[1] < bytes[0] + 1024, "bytes for 4 and 64 instances: {bytes:?}");
}

#[test]
fn masks_reach_the_networks_of_one_instance() {
    let Some(gpu) = device("masks_reach_the_networks_of_one_instance") else { return };
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl/ml_ext.dna");
    let dna = rigeval::orl::dna::Dna::read(&std::fs::read(file).unwrap()).unwrap();
    let options = RigOptions { controls: ControlChoice::Layer(ControlLayer::Raw), ..RigOptions::default() };
    let model = device_model(gpu, OrlRig::from_dna(&dna, &options).unwrap());
    let mut rig = OrlBackend::new(&gpu.context(), &model, 2, OrlOptions::default()).expect("within limits");
    let values = vec![0.7; rig.info().control_names.len()];
    assert_eq!(rig.set_controls_all(&values.repeat(2)), Ok(true));
    let count = model.rig().logic().counts().masks;
    assert_eq!(rig.set_masks(1, &vec![0.0; count]), Ok(true));
    assert_eq!(rig.set_masks(1, &vec![0.0; count]), Ok(false));
    assert!(matches!(rig.set_masks(1, &[]), Err(ControlError::Length { what: "masks", .. })));
    frame(gpu, &mut rig);
    let posed = current(gpu, &rig);
    let (on, off) = posed.split_at(posed.len() / 2);
    assert!(apart(on, off) > 0.01, "the networks move the mesh by {} cm only", apart(on, off));
    for (instance, posed) in [on, off].into_iter().enumerate() {
        let expected = rigeval::orl::cpu::orl_deform(model.rig().mesh(), rig.instance(instance).pose());
        assert!(apart(posed, &expected) <= 1e-4, "instance {instance}");
    }
}
