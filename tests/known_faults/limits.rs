//! Faults at the limits of a device, for every rig.

use crate::common::{UNWRITTEN, device, fill_unwritten};
use crate::rigs::{self, apart, current, frame, gnm_pack, gnm_sample};
use crate::synthetic;
use rigeval::backend::RigBackend;
use rigeval::error::{BackendError, DeviceError, LimitError};
use rigeval::gltf::gpu::{AttributeSizes, GltfBackend, GltfDeviceModel, GltfOptions, GltfSizes};
use rigeval::gnm::gpu::{GnmBackend, GnmDeviceModel, GnmOptions, GnmSizes};
use rigeval::gnm::pack::{BasisFormat, GnmPack};
use rigeval::gnm::pose::Stage;
use rigeval::gpu::GpuContext;
use rigeval::gpu::headless::{AdapterChoice, Headless};
use rigeval::orl::gpu::{OrlBackend, OrlDeviceModel, OrlOptions, OrlSizes};
use rigeval::sparse::DeltaFormat;
use rigs::gltf::case::Case;
use serde_json::json;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// 128 MiB.
const BINDING: u64 = 134_217_728;

/// Vertices of the full head.
const HEAD: u64 = 17_821;

type Made = Result<Box<dyn RigBackend>, BackendError>;

type Make = fn(&GpuContext, usize, bool) -> Made;

type Sample = fn(&dyn RigBackend, u64) -> Vec<f32>;

/// One way to each rig: N instances on a device, with positions alone or with all that it can compute.
const RIGS: [(&str, Make, Sample); 3] = [
    ("gnm", |gpu, n, all| gnm(gpu, gnm_pack(BasisFormat::F16), n, all), gnm_sample),
    ("orl", orl, rigs::orl::sample),
    ("gltf", gltf, rigs::gltf::sample),
];

fn gnm(gpu: &GpuContext, pack: GnmPack, instances: usize, all: bool) -> Made {
    let model = Arc::new(GnmDeviceModel::new(gpu, Arc::new(pack))?);
    let options = GnmOptions { normals: all, previous_positions: all, stage: Stage::Pose };
    Ok(Box::new(GnmBackend::new(gpu, &model, instances, options)?))
}

fn orl(gpu: &GpuContext, instances: usize, all: bool) -> Made {
    let rig = rigs::orl::rig(&rigs::orl::dna(&rigs::orl::HEAD), DeltaFormat::I16);
    let model = Arc::new(OrlDeviceModel::new(gpu, Arc::new(rig))?);
    Ok(Box::new(OrlBackend::new(gpu, &model, instances, OrlOptions { normals: all, previous_positions: all })?))
}

fn gltf(gpu: &GpuContext, instances: usize, all: bool) -> Made {
    let model = Arc::new(GltfDeviceModel::new(gpu, Arc::new(rigs::gltf::model(true)))?);
    let options = GltfOptions { normals: all, tangents: all, previous_positions: all, ..GltfOptions::default() };
    Ok(Box::new(GltfBackend::new(gpu, &model, instances, options)?))
}

fn deltas(targets: u64, entry_words: u64) -> AttributeSizes {
    AttributeSizes {
        target_count: (targets * entry_words / 2) as usize,
        narrow_count: if entry_words == 2 { targets as usize } else { 0 },
        wide_count: if entry_words == 4 { targets as usize } else { 0 },
        slice_count: HEAD.div_ceil(16),
        delta_words: targets * HEAD * entry_words,
    }
}

/// B28: identity and expression of the full head in f32 do not fit one binding; how they are packed here they do, or the planner says by how
/// much they do not. Nothing but numbers: no device is there.
#[test]
fn basis_over_128_mib_is_refused_by_the_planner_and_the_packed_one_fits() {
    let limits = wgpu::Limits::defaults();
    let refused = |needed: u64, what: &str| {
        let limit = "max_storage_buffer_binding_size";
        Err(LimitError { limit, what: what.into(), needed, available: BINDING })
    };
    let gnm = |coefficients: usize, basis_words: u64| GnmSizes {
        vertex_count: HEAD,
        coefficient_count: coefficients,
        joint_count: 4,
        influence_count: 2 * HEAD,
        triangle_count: 35_324,
        basis_words,
    };
    let both = 253 + 383;
    assert_eq!(both * HEAD * 3 * 4, 136_009_872);
    let found = gnm(both as usize, both * HEAD * 3).check_model(&limits);
    assert_eq!(found, refused(136_009_872, "the basis of 17821 vertices and 636 coefficients"));
    assert_eq!(gnm(383, 383 * HEAD * 3).check_model(&limits), Ok(()), "the expression alone");
    assert_eq!(
        gnm(both as usize, both * HEAD * 3 / 2).check_model(&limits),
        Ok(()),
        "both in 16 bits, as packs have them"
    );

    let orl = |targets: u64| OrlSizes {
        vertex_count: HEAD,
        target_count: targets as usize,
        skin_row_count: 871,
        influence_count: 12 * HEAD,
        triangle_count: 35_324,
        slice_count: HEAD.div_ceil(16),
        delta_words: targets * HEAD * 2,
    };
    assert_eq!(orl(both).check_model(&limits), Ok(()), "two words an entry");
    assert_eq!(orl(950).check_model(&limits), refused(950 * HEAD * 8, "the deltas of 950 targets"));

    let gltf = |attribute: AttributeSizes| GltfSizes {
        vertex_count: HEAD,
        skin_row_count: 4,
        influence_count: 2 * HEAD,
        triangle_count: 35_324,
        attributes: [Some(attribute), None, None],
    };
    let found = gltf(deltas(both, 4)).check_model(&limits);
    assert_eq!(found, refused(both * HEAD * 16, "the deltas of 1272 targets of positions"), "two entries of two words");
    assert_eq!(gltf(deltas(383, 4)).check_model(&limits), Ok(()), "the expression alone");
    assert_eq!(gltf(deltas(both, 2)).check_model(&limits), Ok(()), "both in 16 bits");
}

/// A device of other limits than the default ones. A wrong call on it panics: nobody has asked for its errors.
fn limited(test: &str, shrink: fn(&mut wgpu::Limits)) -> Option<(wgpu::Device, wgpu::Queue)> {
    device(test)?;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let mut required_limits = wgpu::Limits::defaults();
    shrink(&mut required_limits);
    let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
    let made = adapters.iter().find_map(|adapter| pollster::block_on(adapter.request_device(&descriptor)).ok());
    Some(made.expect("less than the default limits"))
}

/// B28: a device that binds less than the data needs is told so before anything is made on it.
#[test]
fn binding_beyond_the_device_is_refused_before_any_call() {
    let test = "binding_beyond_the_device_is_refused_before_any_call";
    let Some((device, queue)) = limited(test, |l| l.max_storage_buffer_binding_size = 4096) else { return };
    let gpu = GpuContext { device: &device, queue: &queue };
    let allocated = || device.generate_allocator_report().map(|report| report.total_allocated_bytes);
    let before = allocated();
    for (name, make, _) in RIGS {
        let Err(BackendError::Limit(error)) = make(&gpu, 1, true) else { panic!("{name} fits") };
        assert_eq!((error.limit, error.available), ("max_storage_buffer_binding_size", 4096), "{name}: {error}");
        assert!(error.needed > 4096, "{name}: {error}");
    }
    assert_eq!(allocated(), before, "bytes on the device");
}

/// B29: eight storage buffers in a stage are enough for every output of every rig; four are refused by name.
#[test]
fn eight_storage_buffers_are_enough_and_four_are_refused() {
    let test = "eight_storage_buffers_are_enough_and_four_are_refused";
    let eight = limited(test, |l| l.max_storage_buffers_per_shader_stage = 8);
    let four = limited(test, |l| l.max_storage_buffers_per_shader_stage = 4);
    let (Some((device, queue)), Some((small, small_queue))) = (eight, four) else { return };
    assert_eq!(device.limits().max_storage_buffers_per_shader_stage, 8);
    for (name, make, sample) in RIGS {
        let mut rig =
            make(&GpuContext { device: &device, queue: &queue }, 3, true).unwrap_or_else(|e| panic!("{name}: {e}"));
        let values = sample(&*rig, 1);
        assert_eq!(rig.set_controls(2, &values), Ok(true), "{name}");
        let mut encoder = device.create_command_encoder(&Default::default());
        rig.encode(&queue, &mut encoder);
        queue.submit([encoder.finish()]);
        let gpu = GpuContext { device: &small, queue: &small_queue };
        let Err(BackendError::Limit(error)) = make(&gpu, 3, true) else { panic!("{name} needs no more than four") };
        let found = (error.limit, error.available);
        assert_eq!(found, ("max_storage_buffers_per_shader_stage", 4), "{name}: {error}");
        assert!(error.needed <= 8, "{name}: {error}");
    }
    let wait = wgpu::PollType::Wait { submission_index: None, timeout: Some(Duration::from_secs(120)) };
    device.poll(wait).expect("the frames are done");
}

/// Workgroups of 64 for all vertices of a crowd, one after another.
fn flat_workgroups(vertices: u64, instances: u64) -> u64 {
    (vertices * instances).div_ceil(64)
}

/// Moves the last instance of a crowd and compares it with one that is alone; every vertex must have been written.
fn check_last(gpu: &Headless, name: &str, crowd: &mut dyn RigBackend, alone: &mut dyn RigBackend, sample: Sample) {
    let (v, n) = (crowd.info().vertex_count, crowd.info().instance_count);
    let values = sample(crowd, 30);
    let rest = current(gpu, alone);
    let moved = |rig: &mut dyn RigBackend, instance: usize| {
        assert_eq!(rig.set_controls(instance, &values), Ok(true), "{name}");
        rig.vertices().positions.iter().for_each(|buffer| fill_unwritten(gpu, buffer));
        frame(gpu, rig);
        current(gpu, rig)
    };
    let (found, want) = (moved(crowd, n - 1), moved(alone, 0));
    let unwritten = found.as_flattened().iter().position(|x| x.to_bits() == UNWRITTEN);
    assert_eq!(unwritten, None, "{name}: a coordinate of {n} instances was not written");
    let size = want.as_flattened().iter().fold(1.0_f32, |most, x| most.max(x.abs()));
    assert!(apart(&rest, &want) > 1e-3 * size, "{name}: the controls move nothing");
    let last = &found[(n - 1) * v..];
    assert!(apart(&last[v - 1..], &want[v - 1..]) <= 1e-6 * size, "{name}: the last vertex of the last instance");
    assert!(apart(last, &want) <= 1e-6 * size, "{name}: the last instance");
    assert!(apart(&found[..v], &rest) <= 1e-6 * size, "{name}: the first instance");
}

/// B30: 235 full heads are the most that one row of workgroups holds; 236 are posed, and have normals.
#[test]
fn crowd_of_236_full_heads_is_posed_to_the_last_vertex() {
    assert_eq!((flat_workgroups(HEAD, 235) <= 65_535, flat_workgroups(HEAD, 236) <= 65_535), (true, false));
    let Some(gpu) = device("crowd_of_236_full_heads_is_posed_to_the_last_vertex") else { return };
    let [mut crowd, mut alone] = [236, 1].map(|instances| {
        let mut parts = synthetic::parts(HEAD as usize, synthetic::SMALL_REGIONS, BasisFormat::I8);
        parts.faces = (0..HEAD as u32 - 13).flat_map(|i| [[i, i + 8, i + 13], [i, i + 13, i + 5]]).collect();
        let pack = GnmPack::build(&parts).expect("synthetic parts make a pack");
        gnm(&gpu.context(), pack, instances, true).expect("within the default limits")
    });
    check_last(gpu, "gnm", &mut *crowd, &mut *alone, gnm_sample);
    let normals = |rig: &dyn RigBackend| gpu.read_f32(rig.vertices().normals.expect("asked for")).expect("normals");
    let (found, want) = (normals(&*crowd), normals(&*alone));
    let last = &found[found.len() - want.len()..];
    let off = last.iter().zip(&want).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(off <= 1e-4, "normals of the last instance are off by {off:e}");
}

/// B30: as many vertices of the other rigs, in small instances.
#[test]
fn crowd_beyond_65535_workgroups_is_posed_to_the_last_vertex() {
    let Some(gpu) = device("crowd_beyond_65535_workgroups_is_posed_to_the_last_vertex") else { return };
    const CROWD: usize = 5850;
    assert!(flat_workgroups(rigs::V as u64, CROWD as u64) > 65_535);
    for (name, make, sample) in RIGS.into_iter().filter(|(name, ..)| *name != "gnm") {
        let made = [CROWD, 1].map(|n| make(&gpu.context(), n, false).expect("within the default limits"));
        let [mut crowd, mut alone] = made;
        check_last(gpu, name, &mut *crowd, &mut *alone, sample);
    }
}

/// B31: what belongs to the second character does not start at a multiple of 256 bytes, and is found by its index.
#[test]
fn second_character_is_found_without_dynamic_offsets() {
    let offsets = include_str!("../../src/gpu/buffers.rs").matches("has_dynamic_offset: ").count();
    assert_eq!(offsets, include_str!("../../src/gpu/buffers.rs").matches("has_dynamic_offset: false").count());
    let Some(gpu) = device("second_character_is_found_without_dynamic_offsets") else { return };
    for (name, make, sample) in RIGS {
        let [mut two, mut alone] = [2, 1].map(|n| make(&gpu.context(), n, true).expect("within the default limits"));
        let positions = 12 * two.info().vertex_count as u32;
        assert_ne!(positions % gpu.device().limits().min_storage_buffer_offset_alignment, 0, "{name}");
        let values = [sample(&*two, 1), sample(&*two, 2)];
        assert_eq!(two.set_controls_all(&values.concat()), Ok(true), "{name}");
        frame(gpu, &mut *two);
        let found = current(gpu, &*two);
        for (values, found) in values.iter().zip(found.chunks_exact(found.len() / 2)) {
            alone.set_controls(0, values).expect("a sample");
            frame(gpu, &mut *alone);
            let want = current(gpu, &*alone);
            let size = want.as_flattened().iter().fold(1.0_f32, |most, x| most.max(x.abs()));
            assert!(apart(found, &want) <= 1e-6 * size, "{name}: off by {:e}", apart(found, &want));
        }
    }
}

/// B32: the device goes while a readback is under way; the error comes within the bound, and the rig can still be dropped.
#[test]
fn readback_of_a_lost_device_is_an_error_within_the_bound() {
    if device("readback_of_a_lost_device_is_an_error_within_the_bound").is_none() {
        return;
    }
    const BOUND: Duration = Duration::from_secs(20);
    for (name, make, sample) in RIGS {
        let gpu = Headless::new(AdapterChoice::Any).expect("another device").with_timeout(BOUND);
        let mut rig = make(&gpu.context(), 2, true).expect("within the default limits");
        let values = sample(&*rig, 3);
        rig.set_controls(1, &values).expect("a sample");
        let positions = rig.vertices().current_positions().clone();
        let staging = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: positions.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = gpu.encoder();
        rig.encode(gpu.queue(), &mut encoder);
        encoder.copy_buffer_to_buffer(&positions, 0, &staging, 0, positions.size());
        gpu.submit(encoder).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (sender, receiver) = channel();
        staging.slice(..).map_async(wgpu::MapMode::Read, move |result| {
            // Nobody listens where the wait has failed already.
            let _ = sender.send(result.is_ok());
        });
        gpu.device().destroy();
        let asked = Instant::now();
        let lost = |result: Result<(), DeviceError>| matches!(result, Err(DeviceError::Lost { .. }));
        assert!(lost(gpu.wait()), "{name}: the wait");
        assert!(lost(gpu.read_f32(&positions).map(|_| ())), "{name}: a readback after it");
        assert!(asked.elapsed() < BOUND, "{name}: {:?}", asked.elapsed());
        drop((rig, staging));
        drop(gpu);
        // The callback came, with either answer, or was dropped with the device; nobody is left waiting for it.
        assert!(
            receiver.recv_timeout(BOUND) != Err(std::sync::mpsc::RecvTimeoutError::Timeout),
            "{name}: the callback"
        );
    }
}

/// B37: the one bound on the number of targets is the 16-bit index of the tables, and breaking it is a value. A target that 16 bits do not
/// hold exactly enough takes two places on the device.
#[test]
fn targets_beyond_the_index_of_the_tables_are_an_error_value() {
    let Some(gpu) = device("targets_beyond_the_index_of_the_tables_are_an_error_value") else { return };
    let with = |count: usize| {
        let mut case = Case::new();
        let (position, moved) = (case.rows(&[[0.0_f32; 3]]), case.rows(&[[0.0, 0.0, 1.0]]));
        let targets = vec![json!({"POSITION": moved}); count];
        case.mesh_node(json!({"attributes": {"POSITION": position}, "targets": targets}), json!({}));
        case.load()
    };
    let error = with(65_537).expect_err("too many").to_string();
    assert_eq!(error, "/meshes: targets: expected at most 65536, got 65537");
    let model = with(40_000).expect("many");
    let mut controls = model.controls().defaults().to_vec();
    controls[39_999] = 1.0;
    assert_eq!(rigs::gltf::case::vertices(&model, &controls), [[0.0, 0.0, 1.0]]);
    let made = GltfDeviceModel::new(&gpu.context(), Arc::new(model)).map(|_| ());
    let Err(BackendError::Limit(error)) = made else { panic!("{made:?}") };
    assert_eq!((error.needed, error.available), (80_000, 65_536));
    assert!(error.what.contains("the deltas of the positions"), "{error}");
}
