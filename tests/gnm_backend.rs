//! What the GNM backend promises beyond the trait: shared data, what is uploaded when, and what it refuses.
#![cfg(feature = "gpu")]

mod common;
mod rigs;
mod synthetic;

use common::device;
use rigeval::backend::RigBackend;
use rigeval::error::BackendError;
use rigeval::gnm::gpu::{GnmBackend, GnmCounters, GnmDeviceModel, GnmOptions};
use rigeval::gnm::pack::{BasisFormat, GnmPack};
use rigeval::gnm::pose::Stage;
use rigs::{V, apart, bounds_of, current, frame, gnm_model, gnm_sample, turn};
use std::sync::Arc;
use synthetic::SMALL_REGIONS;

#[test]
fn objects_of_one_model_share_its_data() {
    let Some(gpu) = device("objects_of_one_model_share_its_data") else { return };
    let model = gnm_model(gpu, BasisFormat::F16);
    let shared = model.device_bytes();
    let mut rigs: Vec<GnmBackend> = [1, 3, 9]
        .map(|n| GnmBackend::new(&gpu.context(), &model, n, GnmOptions::default()).expect("within limits"))
        .into();
    assert_eq!(model.device_bytes(), shared, "a backend object adds nothing to the shared data");
    let controls = gnm_sample(&rigs[0], 70);
    let mut encoder = gpu.encoder();
    for rig in &mut rigs {
        assert_eq!(rig.set_controls_all(&controls.repeat(rig.info().instance_count)), Ok(true));
        rig.encode(gpu.queue(), &mut encoder);
    }
    gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
    let one = current(gpu, &rigs[0]);
    for rig in &rigs {
        for instance in current(gpu, rig).chunks_exact(V) {
            assert!(apart(&one, instance) <= 1e-6, "tiles of 1, 4 and 8 agree");
        }
    }
}

#[test]
fn counters_show_that_only_what_changed_is_uploaded() {
    let Some(gpu) = device("counters_show_that_only_what_changed_is_uploaded") else { return };
    let model = gnm_model(gpu, BasisFormat::F16);
    for instances in [1, 3, 20] {
        let options = GnmOptions { normals: instances == 3, ..GnmOptions::default() };
        let dispatches = if options.normals { 2 } else { 1 };
        let mut rig = GnmBackend::new(&gpu.context(), &model, instances, options).expect("within limits");
        let last = instances - 1;
        let step = |rig: &mut GnmBackend, change: &mut dyn FnMut(&mut GnmBackend) -> bool| {
            let before = rig.counters();
            assert!(change(rig));
            frame(gpu, rig);
            let after = rig.counters();
            GnmCounters {
                coefficient_tiles: after.coefficient_tiles - before.coefficient_tiles,
                coefficient_bytes: after.coefficient_bytes - before.coefficient_bytes,
                skin_row_instances: after.skin_row_instances - before.skin_row_instances,
                skin_row_bytes: after.skin_row_bytes - before.skin_row_bytes,
                dispatches: after.dispatches - before.dispatches,
            }
        };
        let none = GnmCounters::default();
        assert_eq!(step(&mut rig, &mut |_| true), none, "nothing set");

        let controls = gnm_sample(&rig, 80);
        let face = step(&mut rig, &mut |rig| rig.set_controls(last, &controls) == Ok(true));
        let expected =
            GnmCounters { coefficient_tiles: 1, coefficient_bytes: face.coefficient_bytes, dispatches, ..none };
        assert_eq!(face, expected, "the face moved");
        assert!(face.coefficient_bytes > 0);
        assert_eq!(step(&mut rig, &mut |rig| rig.set_controls(last, &controls) == Ok(false)), none, "the same face");

        let mut one = vec![0.0; controls.len()];
        one[5] = 1.0;
        let sparse = step(&mut rig, &mut |rig| rig.set_controls(last, &one) == Ok(true));
        assert!(sparse.coefficient_bytes < face.coefficient_bytes / 2, "only moved coefficients are sent");

        let joint = step(&mut rig, &mut |rig| rig.set_joint_overrides(last, &[turn("head", 0.2)]) == Ok(true));
        let skin_row_bytes = (rig.info().joint_names.len() * 48) as u64;
        assert_eq!(joint, GnmCounters { skin_row_instances: 1, skin_row_bytes, dispatches, ..none }, "a joint moved");

        let all = controls.repeat(instances);
        let tiles = instances.div_ceil(if instances == 1 {
            1
        } else if instances <= 4 {
            4
        } else {
            8
        }) as u64;
        let everyone = step(&mut rig, &mut |rig| rig.set_controls_all(&all) == Ok(true));
        assert_eq!((everyone.coefficient_tiles, everyone.skin_row_instances), (tiles, 0));
    }
}

#[test]
fn forward_bounds_hold_the_head_local_vertices() {
    let Some(gpu) = device("forward_bounds_hold_the_head_local_vertices") else { return };
    let model = gnm_model(gpu, BasisFormat::F16);
    let options = GnmOptions { stage: Stage::Forward, ..GnmOptions::default() };
    let mut rig = GnmBackend::new(&gpu.context(), &model, 1, options).expect("within limits");
    assert_eq!(current(gpu, &rig), model.pack().neutral());
    assert_eq!(rig.info().rest_bounds, bounds_of(model.pack().neutral()));
    for seed in 90..96 {
        rig.set_controls(0, &gnm_sample(&rig, seed)).expect("a sample");
        frame(gpu, &mut rig);
        let (found, bounds) = (current(gpu, &rig), rig.bounds(0));
        assert!(found.iter().all(|&p| bounds.contains(p)), "{bounds:?}");
        assert!(bounds.diagonal() < 1.5 * bounds_of(&found).diagonal());
    }
}

#[test]
fn creation_refuses_what_cannot_be() {
    let Some(gpu) = device("creation_refuses_what_cannot_be") else { return };
    let model = gnm_model(gpu, BasisFormat::F16);
    let new = |model: &Arc<GnmDeviceModel>, instances, options| {
        GnmBackend::new(&gpu.context(), model, instances, options).map(|_| ())
    };
    assert_eq!(new(&model, 0, GnmOptions::default()), Err(BackendError::NoInstances));
    let lean = synthetic::pack(V, SMALL_REGIONS, BasisFormat::F16);
    let lean = Arc::new(GnmDeviceModel::new(&gpu.context(), Arc::new(lean)).expect("within limits"));
    let with_normals = GnmOptions { normals: true, ..GnmOptions::default() };
    assert_eq!(new(&lean, 1, with_normals), Err(BackendError::NoFaces));
    assert_eq!(new(&lean, 1, GnmOptions::default()), Ok(()));

    // The 128 MiB of a default binding hold 15,600 heads of 717 vertices.
    let Err(BackendError::Limit(error)) = new(&model, 15_600 + 10, GnmOptions::default()) else { panic!("it fits") };
    assert_eq!((error.limit, error.needed), ("max_storage_buffer_binding_size", 15_610 * 717 * 12));
    assert_eq!(error.available, 128 << 20);
    assert_eq!(new(&model, usize::MAX, with_normals).map_err(|e| e.to_string().lines().count()), Err(1));
    gpu.check().expect("nothing was tried on the device");
}

#[test]
fn one_instance_that_leaves_f32_leaves_all_of_them_as_they_were() {
    let Some(gpu) = device("one_instance_that_leaves_f32_leaves_all_of_them_as_they_were") else { return };
    let mut parts = synthetic::parts(V, SMALL_REGIONS, BasisFormat::F16);
    parts.basis_scale[3] = f32::MAX / 4.0;
    let pack = Arc::new(GnmPack::build(&parts).expect("a pack"));
    let model = Arc::new(GnmDeviceModel::new(&gpu.context(), pack).expect("within the default limits"));
    let mut rig = GnmBackend::new(&gpu.context(), &model, 3, GnmOptions::default()).expect("within limits");
    let width = rig.info().control_names.len();
    let mut controls = vec![0.0; 3 * width];
    controls[0] = 0.5;
    controls[width + 3] = 8.0;
    assert!(rig.set_controls_all(&controls).is_err());
    controls[width + 3] = 0.0;
    assert_eq!(rig.set_controls_all(&controls), Ok(true), "the first instance was not set by the refused call");
}
