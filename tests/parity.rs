//! The GPU against the CPU references: every stage with CPU-made inputs, then the whole.
#![cfg(feature = "gpu")]

mod common;
mod synthetic;

use common::compare::assert_close;
use common::{device, fill_unwritten, vertices};
use glam::{Affine3A, DVec3, Vec3};
use rigeval::backend::RigBackend;
use rigeval::gnm::cpu::gnm_blend;
use rigeval::gnm::gpu::{GnmBackend, GnmDeviceModel, GnmOptions};
use rigeval::gnm::pack::{BasisFormat, GnmPack};
use rigeval::gnm::pose::{GnmPose, Stage};
use rigeval::gpu::VERTEX_USAGES;
use rigeval::gpu::headless::Headless;
use rigeval::gpu::normals::{NormalsStage, VertexNormals};
use rigeval::gpu::shaders::LBS_COMMON;
use rigeval::gpu::skinning::{self, InfluenceTable, SkinRows};
use rigeval::info::JointId;
use rigeval::lbs::{Influences, lbs_skin};
use rigeval::math::{self, Rows};
use rigeval::normals::{Incidence, normals};
use rigeval::skeleton::JointOverride;
use std::sync::Arc;
use synthetic::{FULL_REGIONS, JOINTS, Numbers, SMALL_REGIONS};
use wgpu::util::DeviceExt;

/// One instance, a part of a tile of four, a full tile and one instance beyond it.
const INSTANCES: [usize; 4] = [1, 3, 8, 9];

/// No multiple of the 64 vertices of a block.
const V: usize = 1001;

/// What a coefficient may be, in units of its scale; both signs.
const MOST: f64 = 2.0;

fn read_back(gpu: &Headless, backend: &dyn RigBackend) -> Vec<[f32; 3]> {
    vertices(gpu, backend.vertices().current_positions())
}

fn submit(gpu: &Headless, backend: &mut GnmBackend) {
    let mut encoder = gpu.encoder();
    backend.encode(gpu.queue(), &mut encoder);
    gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
}

fn with_faces(vertex_count: usize, regions: [usize; 5], format: BasisFormat) -> GnmPack {
    let mut parts = synthetic::parts(vertex_count, regions, format);
    parts.faces = faces(vertex_count);
    GnmPack::build(&parts).expect("synthetic parts make a pack")
}

/// Triangles between near neighbours of the spiral; the last few vertices are in none.
fn faces(vertex_count: usize) -> Vec<[u32; 3]> {
    (0..vertex_count as u32 - 30).flat_map(|i| [[i, i + 8, i + 13], [i, i + 13, i + 5]]).collect()
}

fn joint_turn<'a>(numbers: &mut Numbers, joint: &'a str) -> JointOverride<'a> {
    JointOverride { joint, rotation: numbers.rotation(0.5).as_quat() }
}

/// Moves instances of a backend and their CPU twins alike: controls always, overrides and joint worlds where `joints` says so.
fn move_instance(backend: &mut GnmBackend, pose: &mut GnmPose, instance: usize, numbers: &mut Numbers, sparse: bool) {
    let pack = Arc::clone(backend.model().pack());
    let e = pack.coefficient_count();
    let mut controls = numbers.controls(e, MOST);
    if sparse {
        // A few coefficients, others in each instance: the tile's list is their union.
        let keep = |c: usize| c >= e || (c + 5 * instance).is_multiple_of(19);
        controls.iter_mut().enumerate().filter(|(c, _)| !keep(*c)).for_each(|(_, value)| *value = 0.0);
    }
    let names = pack.skeleton().names();
    let turns = [&names[1], &names[2]].map(|joint| joint_turn(numbers, joint));
    let world = Affine3A::from_rotation_translation(
        numbers.rotation(0.3).as_quat(),
        Vec3::new(0.1 * numbers.signed() as f32, 1.0, 0.0),
    );
    let worlds = [(JointId(0), world)];
    let on_gpu = [
        backend.set_controls(instance, &controls),
        backend.set_joint_overrides(instance, &turns),
        backend.set_joint_worlds(instance, &worlds),
    ];
    let on_cpu = [
        pose.set_controls(&pack, &controls),
        pose.set_joint_overrides(&pack, &turns),
        pose.set_joint_worlds(&pack, &worlds),
    ];
    assert_eq!(on_gpu, on_cpu);
    assert_eq!(on_cpu, [Ok(true), Ok(true), Ok(true)]);
}

/// Two frames in a row of N instances, each against the CPU reference, written over a pattern that no shader writes.
fn check_blend(gpu: &Headless, pack: GnmPack, instances: usize, stage: Stage, sparse: bool) {
    let what = format!("{:?} {stage:?}, N = {instances}, sparse {sparse}", pack.basis_format());
    let model = Arc::new(GnmDeviceModel::new(&gpu.context(), Arc::new(pack)).expect("within the default limits"));
    let options = GnmOptions { stage, ..GnmOptions::default() };
    let mut backend = GnmBackend::new(&gpu.context(), &model, instances, options).expect("within the default limits");
    let mut poses = vec![GnmPose::new(model.pack()); instances];
    let mut numbers = Numbers::new(instances as u64);
    for frame in 0..2 {
        for (instance, pose) in poses.iter_mut().enumerate() {
            move_instance(&mut backend, pose, instance, &mut numbers, sparse);
        }
        backend.vertices().positions.iter().for_each(|buffer| fill_unwritten(gpu, buffer));
        submit(gpu, &mut backend);
        let expected: Vec<_> = poses.iter().flat_map(|pose| gnm_blend(model.pack(), pose, stage)).collect();
        assert_close(&format!("{what}, frame {frame}"), &expected, &read_back(gpu, &backend));
    }
}

#[test]
fn lbs_alone_equals_its_twin() {
    let Some(gpu) = device("lbs_alone_equals_its_twin") else { return };
    const STAGE: &str = "
        @group(0) @binding(0) var<storage, read> points: array<f32>;
        @group(0) @binding(1) var<storage, read_write> skinned: array<f32>;
        @compute @workgroup_size(64)
        fn skin(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x >= lbs_params.vertex_count || id.y >= lbs_params.instance_count { return; }
            let at = 3u * (id.y * lbs_params.vertex_count + id.x);
            let p = lbs_skin(id.x, id.y, vec3<f32>(points[at], points[at + 1u], points[at + 2u]));
            skinned[at] = p.x;
            skinned[at + 1u] = p.y;
            skinned[at + 2u] = p.z;
        }";
    let device = gpu.device();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("skin"),
        source: wgpu::ShaderSource::Wgsl(format!("{LBS_COMMON}{STAGE}").into()),
    });
    let mut numbers = Numbers::new(11);
    let point = |numbers: &mut Numbers| numbers.point().as_vec3().to_array();
    let lanes = 4;
    let joints: Vec<u32> = (0..V * lanes).map(|i| (i * 7 % 5) as u32).collect();
    // Negative weights, weights of zero that name a joint, and rows of every length from none to four.
    let weights: Vec<f32> =
        (0..V * lanes).map(|i| if i % 4 < i / 4 % 5 { numbers.signed() as f32 } else { 0.0 }).collect();
    let influences = Influences::from_lanes(&joints, &weights, lanes);
    let row_set = |numbers: &mut Numbers| -> Vec<Rows> {
        (0..5)
            .map(|_| math::rows(&glam::DAffine3::from_rotation_translation(numbers.rotation(3.0), numbers.point())))
            .collect()
    };
    let rest = row_set(&mut numbers);

    for instances in [1, 3] {
        let table = InfluenceTable::new(&gpu.context(), &influences);
        let mut rows = SkinRows::new(&gpu.context(), &table, &rest, instances);
        let points: Vec<[f32; 3]> = (0..V * instances).map(|_| point(&mut numbers)).collect();
        let input = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(&points),
            usage: wgpu::BufferUsages::STORAGE,
        });
        let output = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: input.size(),
            usage: VERTEX_USAGES,
            mapped_at_creation: false,
        });
        let pipeline = lbs_pipeline(device, &module, &table);
        let entry = |binding, buffer: &wgpu::Buffer| (binding, buffer.clone());
        let buffers = [entry(0, &input), entry(1, &output)];
        let entries = buffers
            .each_ref()
            .map(|(binding, b)| wgpu::BindGroupEntry { binding: *binding, resource: b.as_entire_binding() });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let mut of_instance = vec![rest.clone(); instances];
        for frame in 0..2 {
            if frame == 1 {
                of_instance = (0..instances).map(|_| row_set(&mut numbers)).collect();
                of_instance.iter().enumerate().for_each(|(instance, own)| rows.set(instance, own));
                rows.upload(gpu.queue());
            }
            fill_unwritten(gpu, &output);
            let mut encoder = gpu.encoder();
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.set_bind_group(skinning::GROUP, rows.group(), &[]);
            pass.dispatch_workgroups(V.div_ceil(64) as u32, instances as u32, 1);
            drop(pass);
            gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
            let skin = |(i, p): (usize, &[f32; 3])| {
                let p = Vec3::from(*p).as_dvec3();
                lbs_skin(influences.row(i % V), &of_instance[i / V], p).as_vec3().to_array()
            };
            let expected: Vec<_> = points.iter().enumerate().map(skin).collect();
            assert_close(&format!("lbs, N = {instances}, frame {frame}"), &expected, &vertices(gpu, &output));
        }
    }
}

fn lbs_pipeline(device: &wgpu::Device, module: &wgpu::ShaderModule, table: &InfluenceTable) -> wgpu::ComputePipeline {
    let storage = |binding, read_only| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let own = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[storage(0, true), storage(1, false)],
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&own), Some(table.layout())],
        immediate_size: 0,
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: Some(&layout),
        module,
        entry_point: Some("skin"),
        compilation_options: Default::default(),
        cache: None,
    })
}

#[test]
fn normals_alone_equal_their_twin() {
    let Some(gpu) = device("normals_alone_equal_their_twin") else { return };
    let mut faces = faces(V);
    // Triangles without area: a vertex named twice, and a vertex that only such triangles touch.
    faces.extend([[4, 4, 9], [V as u32 - 3, V as u32 - 3, 0]]);
    let incidence = Incidence::new(&faces, V);
    let stage = NormalsStage::new(&gpu.context(), &faces, &incidence);
    let mut numbers = Numbers::new(3);
    for instances in [1, 3] {
        let size = (V * instances * 12) as u64;
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage: VERTEX_USAGES, mapped_at_creation: false };
        let positions = gpu.device().create_buffer(&descriptor);
        let rest = vec![[0.0; 3]; V];
        let stage_normals =
            VertexNormals::new(&gpu.context(), &stage, std::slice::from_ref(&positions), &rest, instances);
        for (frame, scale) in [1.0f64, 1e-9, 1e7].into_iter().enumerate() {
            let mut points: Vec<[f32; 3]> =
                (0..V * instances).map(|_| (numbers.point() * scale).as_vec3().to_array()).collect();
            // A vertex whose triangles have all collapsed into it.
            let ring: Vec<u32> = faces.iter().filter(|f| f.contains(&500)).flatten().copied().collect();
            ring.iter().for_each(|&v| points[v as usize] = points[500]);
            gpu.queue().write_buffer(&positions, 0, bytemuck::cast_slice(&points));
            fill_unwritten(gpu, stage_normals.buffer());
            let mut encoder = gpu.encoder();
            stage_normals.encode(&stage, &mut encoder, 0);
            gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
            let expected: Vec<_> = points.chunks_exact(V).flat_map(|p| normals(p, &faces, &incidence)).collect();
            assert_eq!([expected[500], expected[V - 1], expected[V - 3]], [[0.0; 3]; 3], "zero where nothing has area");
            let found = vertices(gpu, stage_normals.buffer());
            let [expected, found] = [&expected, &found].map(|n| by_condition(&points, &faces, &incidence, n));
            assert_close(&format!("normals, N = {instances}, frame {frame}"), &expected, &found);
        }
    }
}

/// Weighs each normal by how well it is conditioned: by the length of the area sum over that of the edge products which it is the small rest of.
/// So the tolerance is one of rounding, for slivers too. A vertex without any area keeps its zero.
fn by_condition(points: &[[f32; 3]], faces: &[[u32; 3]], incidence: &Incidence, normals: &[[f32; 3]]) -> Vec<[f32; 3]> {
    let weigh = |(i, normal): (usize, &[f32; 3])| {
        let at = |v: u32| Vec3::from(points[i / V * V + v as usize]).as_dvec3();
        let row = incidence.offsets[i % V] as usize..incidence.offsets[i % V + 1] as usize;
        let (mut sum, mut products) = (DVec3::ZERO, 0.0);
        for &t in &incidence.triangles[row] {
            let [a, b, c] = faces[t as usize].map(at);
            sum += (b - a).cross(c - a);
            products += (b - a).length() * (c - a).length();
        }
        let weight = if products > 0.0 { (sum.length() / products) as f32 } else { 1.0 };
        normal.map(|x| x * weight)
    };
    normals.iter().enumerate().map(weigh).collect()
}

#[test]
fn forward_alone_equals_its_twin() {
    let Some(gpu) = device("forward_alone_equals_its_twin") else { return };
    for format in [BasisFormat::F16, BasisFormat::I8] {
        for instances in INSTANCES {
            let pack = synthetic::pack(V, SMALL_REGIONS, format);
            check_blend(gpu, pack, instances, Stage::Forward, false);
        }
    }
}

#[test]
fn pose_equals_its_twin() {
    let Some(gpu) = device("pose_equals_its_twin") else { return };
    for format in [BasisFormat::F16, BasisFormat::I8] {
        for instances in INSTANCES {
            let pack = synthetic::pack(V, SMALL_REGIONS, format);
            check_blend(gpu, pack, instances, Stage::Pose, instances % 2 == 0);
        }
    }
}

/// Packs of another program: weights that do not quite sum to one, vertices that both eyes hold.
#[test]
fn pose_of_committed_packs_equals_its_twin() {
    let Some(gpu) = device("pose_of_committed_packs_equals_its_twin") else { return };
    for name in ["tiny_e64", "tiny_light"] {
        let path = format!("{}/reference/aosrig_tiny/{name}.aosrig", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        for (instances, stage) in [(1, Stage::Pose), (3, Stage::Forward), (9, Stage::Pose)] {
            check_blend(gpu, GnmPack::read(bytes.clone()).expect("a pack"), instances, stage, false);
        }
    }
}

/// 383 coefficients need two passes over the worklist of a workgroup.
#[test]
fn pose_with_all_coefficients_equals_its_twin() {
    let Some(gpu) = device("pose_with_all_coefficients_equals_its_twin") else { return };
    for (format, sparse) in [(BasisFormat::F16, false), (BasisFormat::I8, false), (BasisFormat::F16, true)] {
        for instances in INSTANCES {
            check_blend(gpu, synthetic::pack(V, FULL_REGIONS, format), instances, Stage::Pose, sparse);
        }
    }
}

#[test]
fn seam_and_skin_alone_equal_their_twin() {
    let Some(gpu) = device("seam_and_skin_alone_equal_their_twin") else { return };
    let pack = Arc::new(synthetic::pack(V, SMALL_REGIONS, BasisFormat::F16));
    let model = Arc::new(GnmDeviceModel::new(&gpu.context(), Arc::clone(&pack)).expect("within limits"));
    for instances in [1, 3] {
        let mut backend =
            GnmBackend::new(&gpu.context(), &model, instances, GnmOptions::default()).expect("within limits");
        let mut numbers = Numbers::new(5);
        let mut poses = vec![GnmPose::new(&pack); instances];
        for frame in 0..2 {
            for (instance, pose) in poses.iter_mut().enumerate() {
                let turns = [joint_turn(&mut numbers, JOINTS[0]), joint_turn(&mut numbers, JOINTS[2])];
                assert_eq!(backend.set_joint_overrides(instance, &turns), Ok(true));
                assert_eq!(pose.set_joint_overrides(&pack, &turns), Ok(true));
            }
            backend.vertices().positions.iter().for_each(|buffer| fill_unwritten(gpu, buffer));
            submit(gpu, &mut backend);
            let expected: Vec<_> = poses.iter().flat_map(|pose| gnm_blend(&pack, pose, Stage::Pose)).collect();
            assert_close(&format!("N = {instances}, frame {frame}"), &expected, &read_back(gpu, &backend));
        }
    }
}

#[test]
fn whole_with_normals_and_previous_positions_equals_its_twins() {
    let Some(gpu) = device("whole_with_normals_and_previous_positions_equals_its_twins") else { return };
    let pack = Arc::new(with_faces(V, SMALL_REGIONS, BasisFormat::F16));
    let model = Arc::new(GnmDeviceModel::new(&gpu.context(), Arc::clone(&pack)).expect("within limits"));
    let incidence = Incidence::new(pack.faces(), V);
    let options = GnmOptions { normals: true, previous_positions: true, stage: Stage::Pose };
    for instances in [1, 3, 9] {
        let mut backend = GnmBackend::new(&gpu.context(), &model, instances, options).expect("within limits");
        let mut poses = vec![GnmPose::new(&pack); instances];
        let mut numbers = Numbers::new(17);
        let mut last: Vec<[f32; 3]> = pack.rest_positions().repeat(instances);
        for frame in 0..3 {
            for (instance, pose) in poses.iter_mut().enumerate() {
                move_instance(&mut backend, pose, instance, &mut numbers, false);
            }
            let what = format!("N = {instances}, frame {frame}");
            fill_unwritten(gpu, backend.vertices().normals.expect("asked for"));
            submit(gpu, &mut backend);
            let view = backend.vertices();
            let expected: Vec<_> = poses.iter().flat_map(|pose| gnm_blend(&pack, pose, Stage::Pose)).collect();
            let current = vertices(gpu, view.current_positions());
            assert_close(&what, &expected, &current);
            if frame == 0 {
                assert_eq!(view.previous, view.current, "the first frame is its own predecessor");
            } else {
                assert_ne!(view.previous, view.current);
                assert_close(&format!("{what}, previous"), &last, &vertices(gpu, view.previous_positions()));
            }
            // From the GPU's own positions: this checks the second dispatch, not what rounding does to its input.
            let expected_normals: Vec<_> =
                current.chunks_exact(V).flat_map(|p| normals(p, pack.faces(), &incidence)).collect();
            let found = vertices(gpu, view.normals.expect("asked for"));
            let [expected_normals, found] =
                [&expected_normals, &found].map(|n| by_condition(&current, pack.faces(), &incidence, n));
            assert_close(&format!("{what}, normals"), &expected_normals, &found);
            last = expected;
        }
    }
}
