//! The ORL stage against its CPU reference: the gather alone, then whole characters.
#![cfg(feature = "gpu")]

mod common;
mod rigs;
mod synthetic;

use common::compare::{assert_close, assert_close_cm};
use common::{device, fill_unwritten, vertices};
use glam::{Affine3A, Vec3};
use rigeval::backend::RigBackend;
use rigeval::gpu::VERTEX_USAGES;
use rigeval::gpu::headless::Headless;
use rigeval::gpu::shaders::SPARSE_COMMON;
use rigeval::gpu::sparse::{self, SparseTable, SparseWeights, WeightShape};
use rigeval::info::JointId;
use rigeval::normals::{Incidence, normals};
use rigeval::orl::bake::bake;
use rigeval::orl::controls::ControlLayer;
use rigeval::orl::cpu::orl_deform;
use rigeval::orl::dna::Dna;
use rigeval::orl::gpu::{OrlBackend, OrlOptions};
use rigeval::orl::instance::OrlInstance;
use rigeval::orl::pack::OrlPack;
use rigeval::orl::rig::{ControlChoice, OrlRig, RigOptions};
use rigeval::orl::shells::ShellMesh;
use rigeval::skeleton::JointOverride;
use rigeval::sparse::slices::SparseSlices;
use rigeval::sparse::{DeltaFormat, SparseRows, SparseTarget, TargetWeights, sparse_gather};
use rigs::orl::{CHANNELS, HEAD, JOINTS, Shape, V, controls, device_model, dna, rig, rig_of_layer};
use rigs::{apart, current, frame};
use std::sync::Arc;
use synthetic::Numbers;

/// One instance, a part of a tile of four, and one instance beyond a tile.
const INSTANCES: [usize; 3] = [1, 3, 5];

/// Rows of every length from none to 40, in no order, and two that are split over many invocations.
fn uneven_rows(targets: usize, numbers: &mut Numbers) -> SparseRows {
    let length = |v: usize| match v {
        300 => targets,
        301 => targets / 3,
        _ => (v * 17 % 41).min(targets),
    };
    let has = |v: usize, t: usize| (t + targets - v * 3 % targets) % targets < length(v);
    let vertices: Vec<Vec<u32>> =
        (0..targets).map(|t| (0..V).filter(|&v| has(v, t)).map(|v| v as u32).collect()).collect();
    let deltas: Vec<Vec<[f32; 3]>> =
        vertices.iter().map(|row| row.iter().map(|_| (numbers.point() * 0.1).as_vec3().to_array()).collect()).collect();
    let target = |t: usize| SparseTarget { channel: t as u32, vertices: &vertices[t], deltas: &deltas[t] };
    SparseRows::new(V, &(0..targets).map(target).collect::<Vec<_>>(), DeltaFormat::I16).expect("finite deltas")
}

/// About one target in four, of either sign; or none.
fn weights(rows: &SparseRows, numbers: &mut Numbers, asleep: bool) -> TargetWeights {
    let channels = rows.targets().len();
    let weight = |c: usize| if asleep || c % 4 != 1 { 0.0 } else { numbers.signed() as f32 };
    rows.weigh(&(0..channels).map(weight).collect::<Vec<_>>())
}

#[test]
fn sparse_gather_alone_equals_its_twin() {
    let Some(gpu) = device("sparse_gather_alone_equals_its_twin") else { return };
    const STAGE: &str = "
        @group(0) @binding(0) var<storage, read_write> sums: array<f32>;
        @group(1) @binding(0) var<uniform> counts: vec4<u32>;
        @compute @workgroup_size(SPARSE_WORKGROUP)
        fn gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
            let sum = sparse_gather(group.x, group.y, invocation);
            let item = sparse_item(group.x, invocation);
            let instance = group.y * sparse_tile_size + item.member;
            if !item.is_used || item.row >= counts.x || instance >= counts.y { return; }
            let at = 3u * (instance * counts.x + item.row);
            sums[at] = sum.x;
            sums[at + 1u] = sum.y;
            sums[at + 2u] = sum.z;
        }";
    let module = gpu.device().create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("gather"),
        source: wgpu::ShaderSource::Wgsl(format!("{SPARSE_COMMON}{STAGE}").into()),
    });
    let mut numbers = Numbers::new(19);
    // One word of a mask, three, and more than a row of invocations clears at once.
    for targets in [30, 70, 1500] {
        let rows = uneven_rows(targets, &mut numbers);
        let slices = SparseSlices::new(&rows).expect("packed rows");
        let table = SparseTable::new(&gpu.context(), &slices);
        for instances in INSTANCES {
            let what = format!("{targets} targets, N = {instances}");
            let mut of_instance = vec![weights(&rows, &mut numbers, true); instances];
            let shape = WeightShape::new(instances, targets);
            let mut on_device = SparseWeights::new(&gpu.context(), &table, shape, &of_instance[0]);
            let stage = Gather::new(gpu, &module, &table, shape, instances);
            for step in 0..3 {
                for (instance, own) in of_instance.iter_mut().enumerate() {
                    // In the last step the first instance falls asleep and the others keep what they have.
                    if step == 1 || step == 2 && instance == 0 {
                        *own = weights(&rows, &mut numbers, step == 2);
                        on_device.set(instance, own);
                    }
                }
                assert_eq!(on_device.is_dirty(), step > 0, "{what}");
                on_device.upload(gpu.queue());
                let found = stage.run(gpu, &table, &on_device);
                let row = |own: &TargetWeights, v: u32| sparse_gather(&rows, v as usize, own).as_vec3().to_array();
                let expected: Vec<[f32; 3]> =
                    of_instance.iter().flat_map(|own| slices.order.iter().map(|&v| row(own, v))).collect();
                assert_close(&format!("{what}, step {step}"), &expected, &found);
                let moved = expected.as_flattened().iter().fold(0.0f32, |most, x| most.max(x.abs()));
                assert_eq!(moved > 0.1, step == 1 || step == 2 && instances > 1, "{what}, step {step}: {moved}");
            }
        }
    }
}

/// The gather with a stage that only writes its sums, by row.
struct Gather {
    pipeline: wgpu::ComputePipeline,
    sums: wgpu::Buffer,
    groups: [wgpu::BindGroup; 2],
}

impl Gather {
    fn new(
        gpu: &Headless,
        module: &wgpu::ShaderModule,
        table: &SparseTable,
        shape: WeightShape,
        instances: usize,
    ) -> Gather {
        let device = gpu.device();
        let buffer = |size, usage| {
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let sums = buffer((12 * V * instances) as u64, VERTEX_USAGES);
        let counts = buffer(16, wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST);
        gpu.queue().write_buffer(&counts, 0, bytemuck::cast_slice(&[V as u32, instances as u32, 0, 0]));
        let own = [wgpu::BufferBindingType::Storage { read_only: false }, wgpu::BufferBindingType::Uniform].map(|ty| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: None,
                entries: &[wgpu::BindGroupLayoutEntry {
                    binding: 0,
                    visibility: wgpu::ShaderStages::COMPUTE,
                    ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
                    count: None,
                }],
            })
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&own[0]), Some(&own[1]), Some(table.layout())],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout),
            module,
            entry_point: Some("gather"),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &shape.constants(),
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        });
        let group = |layout, buffer: &wgpu::Buffer| {
            let entries = [wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }];
            device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
        };
        let groups = [group(&own[0], &sums), group(&own[1], &counts)];
        Gather { pipeline, sums, groups }
    }

    fn run(&self, gpu: &Headless, table: &SparseTable, weights: &SparseWeights) -> Vec<[f32; 3]> {
        fill_unwritten(gpu, &self.sums);
        let mut encoder = gpu.encoder();
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.groups[0], &[]);
        pass.set_bind_group(1, &self.groups[1], &[]);
        pass.set_bind_group(sparse::GROUP, weights.group(), &[]);
        pass.dispatch_workgroups(table.slice_count(), weights.shape().tile_count() as u32, 1);
        drop(pass);
        gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
        vertices(gpu, &self.sums)
    }
}

/// Sets the same on the device's instance and on its CPU twin, and holds both to the same answers.
fn move_instance(backend: &mut OrlBackend, twin: &mut OrlInstance, instance: usize, seed: u64) {
    let rig = Arc::clone(backend.model().rig());
    let values = controls(rig.default_controls().len(), seed);
    let mut numbers = Numbers::new(seed);
    let names = rig.model().skeleton().names().to_vec();
    let last = names.len() - 1;
    let turn = |joint, numbers: &mut Numbers| JointOverride { joint, rotation: numbers.rotation(0.4).as_quat() };
    let turns = [turn(names[last].as_str(), &mut numbers), turn(names[last / 2].as_str(), &mut numbers)];
    let world = Affine3A::from_rotation_translation(numbers.rotation(0.3).as_quat(), Vec3::new(0.5, -1.0, 2.0));
    // A body may drive a joint, or give it back.
    let worlds: &[(JointId, Affine3A)] = if seed.is_multiple_of(2) { &[(JointId(0), world)] } else { &[] };
    let raw_count = rig.logic().counts().raw;
    let raw = [(raw_count - 1, numbers.signed() as f32), (raw_count / 2, 0.3)];
    let on_gpu = [
        backend.set_controls(instance, &values),
        backend.set_raw(instance, &raw),
        backend.set_joint_overrides(instance, &turns),
        backend.set_joint_worlds(instance, worlds),
    ];
    let on_cpu = [
        twin.set_controls(&rig, &values),
        twin.set_raw(&rig, &raw),
        twin.set_joint_overrides(&rig, &turns),
        twin.set_joint_worlds(&rig, worlds),
    ];
    assert_eq!(on_gpu, on_cpu);
    assert_eq!(on_cpu[0], Ok(true));
}

/// Two frames in a row of N instances, each against the CPU reference, written over a pattern that no shader writes.
fn check(gpu: &Headless, what: &str, rig: OrlRig, instances: usize) {
    let model = device_model(gpu, rig);
    let rig = Arc::clone(model.rig());
    let mut backend = OrlBackend::new(&gpu.context(), &model, instances, OrlOptions::default()).expect("within limits");
    let mut twins = vec![OrlInstance::new(&rig); instances];
    for step in 0..2 {
        for (instance, twin) in twins.iter_mut().enumerate() {
            move_instance(&mut backend, twin, instance, (100 * step + instance) as u64);
        }
        backend.vertices().positions.iter().for_each(|buffer| fill_unwritten(gpu, buffer));
        frame(gpu, &mut backend);
        let expected: Vec<_> = twins.iter().flat_map(|twin| orl_deform(rig.mesh(), twin.pose())).collect();
        let found = current(gpu, &backend);
        for (name, range) in rig.mesh().ranges() {
            for instance in 0..instances {
                let of_mesh = |all: &[[f32; 3]]| all[instance * rig.mesh().vertex_count()..][range.clone()].to_vec();
                let what = format!("{what}, N = {instances}, frame {step}, instance {instance}, mesh {name}");
                assert_close_cm(&what, &of_mesh(&expected), &of_mesh(&found));
            }
        }
    }
}

fn packed(dna: &Dna) -> OrlRig {
    let bytes = dna.write(dna.version).expect("a version that is written");
    let (pack, _) = bake(dna, &bytes, 0, 0, &mut |_| ()).expect("a mesh to bake");
    let pack = OrlPack::read(pack.write().to_vec()).expect("a pack");
    OrlRig::from_pack(&pack, &ControlChoice::Layer(ControlLayer::Raw), &[]).expect("a rig")
}

#[test]
fn characters_equal_their_twin() {
    let Some(gpu) = device("characters_equal_their_twin") else { return };
    let dna = dna(&HEAD);
    assert!(dna.meshes[0].skin.iter().any(|row| row.joints.len() >= 13));
    for instances in INSTANCES {
        for format in [DeltaFormat::I16, DeltaFormat::I8] {
            check(gpu, &format!("{format:?}"), rig(&dna, format), instances);
        }
        check(gpu, "pack", packed(&dna), instances);
        check(gpu, "GUI", rig_of_layer(&dna, DeltaFormat::I16, ControlLayer::Gui), instances);
    }
}

/// Pieces that a joint carries, and one that the last skin row keeps where it is.
#[test]
fn shells_equal_their_twin() {
    let Some(gpu) = device("shells_equal_their_twin") else { return };
    let mut dna = dna(&HEAD);
    let eye = 5;
    dna.definition.joint_names[eye] = "FACIAL_L_Eye".into();
    let plain = rig(&dna, DeltaFormat::I16);
    let at = plain.model().rest_worlds()[eye].translation.as_vec3();
    let triangle = |from: Vec3| [Vec3::ZERO, Vec3::X, Vec3::Y].map(|corner| (from + corner).to_array());
    let far = triangle(at + Vec3::new(100.0, 0.0, 0.0));
    let positions = [triangle(at), far].concat();
    let shell = ShellMesh { name: "lens".into(), positions, triangles: vec![[0, 1, 2], [3, 4, 5]] };
    let options = || RigOptions {
        meshes: vec![0, 1],
        controls: ControlChoice::Layer(ControlLayer::Raw),
        shells: vec![shell.clone()],
        ..RigOptions::default()
    };
    let rig = || OrlRig::from_dna(&dna, &options()).expect("a rig with a shell");
    let (name, range) = rig().mesh().ranges()[2].clone();
    assert_eq!((name.as_str(), range.clone()), ("lens", V..V + 6));
    for instances in [1, 3] {
        check(gpu, "shell", rig(), instances);
        let model = device_model(gpu, rig());
        let mut backend =
            OrlBackend::new(&gpu.context(), &model, instances, OrlOptions::default()).expect("within limits");
        let rest = current(gpu, &backend);
        assert_eq!(backend.set_controls_all(&controls(CHANNELS * instances, 1)), Ok(true));
        fill_unwritten(gpu, backend.vertices().current_positions());
        frame(gpu, &mut backend);
        let moved = current(gpu, &backend);
        assert_eq!(moved[V + 3..V + 6], far, "no joint carries it");
        assert!(apart(&rest[range.start..V + 3], &moved[range.start..V + 3]) > 1e-2, "the eye carries it");
    }
}

#[test]
fn row_far_longer_than_the_others_equals_its_twin() {
    let Some(gpu) = device("row_far_longer_than_the_others_equals_its_twin") else { return };
    let shape = Shape { name: "head", vertices: 333, targets: 2000, longest_row: 1999 };
    for instances in [1, 3] {
        check(gpu, "long row", rig(&dna(std::slice::from_ref(&shape)), DeltaFormat::I16), instances);
    }
}

#[test]
fn committed_rigs_equal_their_twin() {
    let Some(gpu) = device("committed_rigs_equal_their_twin") else { return };
    for name in ["tiny", "rbf_quat", "twist", "ml_ext"] {
        let path = format!("{}/reference/orl/{name}.dna", env!("CARGO_MANIFEST_DIR"));
        let dna = Dna::read(&std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))).expect("a rig");
        let controls = ControlChoice::Layer(ControlLayer::Raw);
        for instances in [1, 3] {
            let options = RigOptions {
                meshes: (0..dna.meshes.len()).collect(),
                controls: controls.clone(),
                ..RigOptions::default()
            };
            check(gpu, name, OrlRig::from_dna(&dna, &options).expect("a rig"), instances);
        }
    }
}

#[test]
fn rig_of_metahuman_magnitude_equals_its_twin() {
    let Some(gpu) = device("rig_of_metahuman_magnitude_equals_its_twin") else { return };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/orl-large/metahuman_scale.dna");
    let Ok(bytes) = std::fs::read(path) else {
        eprintln!("SKIP rig_of_metahuman_magnitude_equals_its_twin: no file {path}; small rigs cover the stage");
        return;
    };
    let dna = Dna::read(&bytes).expect("a rig");
    let rig = || OrlRig::from_dna(&dna, &RigOptions { meshes: vec![0, 1], ..RigOptions::default() }).expect("a rig");
    let large = rig();
    let deltas = large.mesh().deltas();
    let slices = SparseSlices::new(deltas).expect("packed rows");
    let entries = deltas.offsets()[deltas.vertex_count()] as usize;
    let padding = slices.padding(deltas);
    assert!(padding * 50 < entries, "{padding} padded to {entries} entries: more than one in fifty");
    for instances in [1, 3] {
        check(gpu, "metahuman_scale", rig(), instances);
    }
}

#[test]
fn sleeping_channels_move_nothing() {
    let Some(gpu) = device("sleeping_channels_move_nothing") else { return };
    let dna = dna(&HEAD);
    let mut still = dna.clone();
    still.behavior.joint_groups.clear();
    let model = device_model(gpu, rig(&still, DeltaFormat::I16));
    for instances in [1, 3] {
        let mut backend =
            OrlBackend::new(&gpu.context(), &model, instances, OrlOptions::default()).expect("within limits");
        let rest = current(gpu, &backend);
        for values in [controls(CHANNELS, 3), vec![0.0; CHANNELS]] {
            assert_eq!(backend.set_controls_all(&values.repeat(instances)), Ok(true));
            fill_unwritten(gpu, backend.vertices().current_positions());
            frame(gpu, &mut backend);
            let found = current(gpu, &backend);
            assert!(found.as_flattened().iter().all(|x| x.is_finite()), "a vertex was not written");
            let moved = apart(&rest, &found);
            assert_eq!(moved < 1e-5, values[1] == 0.0, "{moved} cm");
        }
    }
}

#[test]
fn whole_with_normals_and_previous_positions_equals_its_twins() {
    let Some(gpu) = device("whole_with_normals_and_previous_positions_equals_its_twins") else { return };
    let model = device_model(gpu, rig(&dna(&HEAD), DeltaFormat::I16));
    let rig = Arc::clone(model.rig());
    let faces = &rig.mesh().mesh().triangles;
    let incidence = Incidence::new(faces, V);
    let options = OrlOptions { normals: true, previous_positions: true };
    for instances in INSTANCES {
        let mut backend = OrlBackend::new(&gpu.context(), &model, instances, options).expect("within limits");
        let mut twins = vec![OrlInstance::new(&rig); instances];
        let mut last = rig.rest_positions().repeat(instances);
        for step in 0..3 {
            for (instance, twin) in twins.iter_mut().enumerate() {
                move_instance(&mut backend, twin, instance, (10 * step + instance) as u64);
            }
            let what = format!("N = {instances}, frame {step}");
            fill_unwritten(gpu, backend.vertices().normals.expect("asked for"));
            frame(gpu, &mut backend);
            let view = backend.vertices();
            let expected: Vec<_> = twins.iter().flat_map(|twin| orl_deform(rig.mesh(), twin.pose())).collect();
            let found = vertices(gpu, view.current_positions());
            assert_close_cm(&what, &expected, &found);
            assert_eq!(view.previous == view.current, step == 0, "the first frame is its own predecessor");
            if step > 0 {
                assert_close_cm(&format!("{what}, previous"), &last, &vertices(gpu, view.previous_positions()));
            }
            // From the GPU's own positions: this checks the second dispatch, not what rounding does to its input.
            let expected_normals: Vec<_> = found.chunks_exact(V).flat_map(|p| normals(p, faces, &incidence)).collect();
            let apart = apart(&expected_normals, &vertices(gpu, view.normals.expect("asked for")));
            assert!(apart < 1e-4, "{what}: normals off by {apart}");
            last = expected;
        }
    }
}

#[test]
fn shape_of_the_test_character_is_what_the_tests_need() {
    let rig = rig(&dna(&HEAD), DeltaFormat::I16);
    assert_eq!(rig.mesh().vertex_count(), V);
    assert!(!V.is_multiple_of(64));
    assert_eq!(rig.model().skeleton().joint_count(), JOINTS);
    let deltas = rig.mesh().deltas();
    assert!(deltas.targets().len() > CHANNELS, "two meshes share channels");
    let lengths = deltas.offsets().windows(2).map(|w| w[1] - w[0]);
    assert!(lengths.clone().min() == Some(0) && lengths.max() >= Some(60));
}
