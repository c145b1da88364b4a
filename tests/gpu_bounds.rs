//! Exact boxes measured on the device: equal to the CPU's to the bit, for every rig, and inside the bounds that need no device.
#![cfg(feature = "gpu")]

mod common;
mod rigs;
mod synthetic;

use common::{device, fill_unwritten};
use rigeval::backend::{RigBackend, VertexSpace, VertexView};
use rigeval::error::DeviceError;
use rigeval::gltf::gpu::{GltfBackend, GltfOptions};
use rigeval::gnm::gpu::{GnmBackend, GnmOptions};
use rigeval::gnm::pack::BasisFormat;
use rigeval::gpu::bounds::{BoundsStage, ExactBounds};
use rigeval::gpu::headless::{AdapterChoice, Headless};
use rigeval::gpu::{GpuContext, VERTEX_USAGES};
use rigeval::lbs::Skinning;
use rigeval::math::Aabb;
use rigeval::orl::gpu::{OrlBackend, OrlOptions};
use rigeval::sparse::DeltaFormat;
use rigs::gltf::case::{Case, TRIANGLE};
use rigs::{current, frame};
use serde_json::json;
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use synthetic::Numbers;

/// The box of the numbers among the coordinates, -0 before +0: the law, as slow as it comes.
fn exact(points: &[[f32; 3]]) -> Aabb {
    let axis = |i: usize| points.iter().map(move |p| p[i]).filter(|x| !x.is_nan());
    let least = |i| axis(i).min_by(f32::total_cmp).unwrap_or(f32::INFINITY);
    let greatest = |i| axis(i).max_by(f32::total_cmp).unwrap_or(f32::NEG_INFINITY);
    Aabb { min: [least(0), least(1), least(2)], max: [greatest(0), greatest(1), greatest(2)] }
}

fn bits(boxes: &[Aabb]) -> Vec<[u32; 6]> {
    let corners = |b: &Aabb| [b.min, b.max].as_flattened().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    boxes.iter().map(|b| corners(b).try_into().expect("six coordinates")).collect()
}

/// Measures a view, in a submit of its own.
fn measure(gpu: &Headless, bounds: &mut ExactBounds, view: &VertexView, instances: Range<usize>) -> Vec<Aabb> {
    let mut encoder = gpu.encoder();
    bounds.encode(gpu.queue(), &mut encoder, view, instances);
    gpu.submit(encoder).and_then(|()| gpu.read_bounds(bounds)).unwrap_or_else(|e| panic!("{e}"))
}

/// A buffer of positions that no rig has posed.
fn positions(gpu: &GpuContext, points: &[[f32; 3]]) -> wgpu::Buffer {
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: size_of_val(points) as u64,
        usage: VERTEX_USAGES,
        mapped_at_creation: false,
    });
    gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(points));
    buffer
}

fn view_of(buffer: &wgpu::Buffer, vertex_count: usize, instance_count: usize) -> VertexView<'_> {
    VertexView {
        positions: [buffer; 2],
        current: 0,
        previous: 0,
        normals: None,
        tangents: None,
        space: VertexSpace::Rig,
        vertex_count,
        instance_count,
    }
}

fn random(count: usize, seed: u64) -> Vec<[f32; 3]> {
    let mut numbers = Numbers::new(seed);
    (0..count).map(|_| (numbers.point() * 10.0_f64.powf(6.0 * numbers.signed())).as_vec3().to_array()).collect()
}

#[test]
fn boxes_of_any_shape_equal_those_of_the_cpu_to_the_bit() {
    let Some(gpu) = device("boxes_of_any_shape_equal_those_of_the_cpu_to_the_bit") else { return };
    let stage = BoundsStage::new(&gpu.context());
    // One run and several, around the sizes of workgroups and runs; more instances than a row of workgroups.
    let shapes = [(1, 1), (717, 3), (63, 512), (2048, 3), (2049, 1), (9001, 3), (600_001, 1), (1, 65_536), (2, 70_001)];
    for (v, n) in shapes {
        let points = random(v * n, (v + n) as u64);
        let buffer = positions(&gpu.context(), &points);
        let view = view_of(&buffer, v, n);
        let mut bounds = ExactBounds::new(&gpu.context(), &stage, &view).expect("within the default limits");
        assert_eq!(gpu.read_bounds(&bounds).unwrap(), vec![Aabb::default(); n]);
        fill_unwritten(gpu, bounds.buffer());
        let found = measure(gpu, &mut bounds, &view, 0..n);
        let expected: Vec<Aabb> = points.chunks_exact(v).map(exact).collect();
        assert!(bits(&found) == bits(&expected), "V = {v}, N = {n}");
        let corners = gpu.read_f32(bounds.buffer()).unwrap();
        assert!(corners.chunks_exact(4).all(|corner| corner[3] == 1.0), "points, for matrices");
    }
}

#[test]
fn special_numbers_are_ordered_and_what_is_no_number_is_left_out() {
    let Some(gpu) = device("special_numbers_are_ordered_and_what_is_no_number_is_left_out") else { return };
    let stage = BoundsStage::new(&gpu.context());
    let (nan, tiny) = (f32::NAN, f32::from_bits(1));
    let negative_nan = f32::from_bits(0xffc0_0001);
    let instances = [
        [[-0.0, nan, 1.0], [0.0, nan, negative_nan], [-0.0, nan, -1.0]],
        [[0.0, tiny, f32::INFINITY], [0.0, -tiny, 1.0], [0.0, 0.0, f32::NEG_INFINITY]],
        [[nan, 2.0, f32::MAX], [3.0, negative_nan, f32::MIN], [-3.0, nan, 0.0]],
        [[nan; 3]; 3],
    ];
    for filling in [0, 5000] {
        // The same among several runs, most of which have no number.
        let v = 3 + filling;
        let points: Vec<[f32; 3]> =
            instances.iter().flat_map(|points| [points.as_slice(), &vec![[nan; 3]; filling]].concat()).collect();
        let buffer = positions(&gpu.context(), &points);
        let view = view_of(&buffer, v, instances.len());
        let mut bounds = ExactBounds::new(&gpu.context(), &stage, &view).expect("within the default limits");
        let found = measure(gpu, &mut bounds, &view, 0..instances.len());
        assert_eq!(bits(&found), bits(&instances.map(|points| exact(&points))), "V = {v}");
        assert_eq!((found[0].min[1], found[0].max[1]), (f32::INFINITY, f32::NEG_INFINITY));
        assert_eq!((found[1].min[1], found[1].max[1]), (-tiny, tiny));
    }
}

#[test]
fn range_of_instances_leaves_the_others_alone() {
    let Some(gpu) = device("range_of_instances_leaves_the_others_alone") else { return };
    let stage = BoundsStage::new(&gpu.context());
    for v in [5, 5000] {
        let points = random(v * 7, 3);
        let buffer = positions(&gpu.context(), &points);
        let view = view_of(&buffer, v, 7);
        let mut bounds = ExactBounds::new(&gpu.context(), &stage, &view).expect("within the default limits");
        let mut expected = vec![Aabb::default(); 7];
        for range in [2..5, 0..1, 6..7, 3..3, 0..7] {
            for i in range.clone() {
                expected[i] = exact(&points[i * v..(i + 1) * v]);
            }
            assert_eq!(measure(gpu, &mut bounds, &view, range.clone()), expected, "{range:?} of V = {v}");
        }
    }
}

/// Frames of a rig: each box equals the CPU's of the buffer it measures, and lies within the conservative one.
fn check(gpu: &Headless, what: &str, rig: &mut dyn RigBackend, sample: fn(&dyn RigBackend, u64) -> Vec<f32>) {
    let (v, n) = (rig.info().vertex_count, rig.info().instance_count);
    let stage = BoundsStage::new(&gpu.context());
    let mut bounds = ExactBounds::new(&gpu.context(), &stage, &rig.vertices()).expect("within the default limits");
    let mut seen = Vec::new();
    for step in 0..4 {
        for instance in 0..n {
            let values = sample(rig, (10 * step + instance) as u64);
            rig.set_controls(instance, &values).unwrap();
        }
        // In the submit that poses: the rig first, then its boxes.
        let mut encoder = gpu.encoder();
        if step > 0 {
            rig.encode(gpu.queue(), &mut encoder);
        }
        bounds.encode(gpu.queue(), &mut encoder, &rig.vertices(), 0..n);
        gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
        let found = gpu.read_bounds(&bounds).unwrap_or_else(|e| panic!("{e}"));
        let expected: Vec<Aabb> = current(gpu, rig).chunks_exact(v).map(exact).collect();
        assert_eq!(bits(&found), bits(&expected), "{what}, N = {n}, frame {step}");
        if step > 0 {
            for (instance, exact) in found.iter().enumerate() {
                let around = rig.bounds(instance);
                assert!(around.contains(exact.min) && around.contains(exact.max), "{what}: {around:?}, {exact:?}");
            }
        }
        seen.push(found);
    }
    assert!(seen.windows(2).all(|pair| pair[0] != pair[1]), "{what}: every frame moves, in whichever buffer it lies");
}

#[test]
fn boxes_of_every_rig_are_those_of_its_vertices() {
    let Some(gpu) = device("boxes_of_every_rig_are_those_of_its_vertices") else { return };
    for (n, previous_positions) in [(1, false), (3, true)] {
        let options = GnmOptions { previous_positions, ..GnmOptions::default() };
        let rig = GnmBackend::new(&gpu.context(), &rigs::gnm_model(gpu, BasisFormat::F16), n, options);
        check(gpu, "gnm", &mut rig.expect("within limits"), rigs::gnm_sample);
        let options = OrlOptions { previous_positions, ..OrlOptions::default() };
        let model = rigs::orl::rig(&rigs::orl::dna(&rigs::orl::HEAD), DeltaFormat::I16);
        let rig = OrlBackend::new(&gpu.context(), &rigs::orl::device_model(gpu, model), n, options);
        check(gpu, "orl", &mut rig.expect("within limits"), rigs::orl::sample);
        for skinning in [Skinning::Linear, Skinning::DualQuaternion] {
            let options = GltfOptions { previous_positions, skinning, ..GltfOptions::default() };
            let model = rigs::gltf::device_model(gpu, rigs::gltf::model(false));
            let rig = GltfBackend::new(&gpu.context(), &model, n, options);
            check(gpu, "gltf", &mut rig.expect("within limits"), rigs::gltf::sample);
        }
    }
}

#[test]
fn box_follows_a_joint_and_a_morph_that_doubles_height() {
    let Some(gpu) = device("box_follows_a_joint_and_a_morph_that_doubles_height") else { return };
    let cube: Vec<[f32; 3]> = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(|x| x as f32)).collect();
    let rigid = ([[0, 0, 0, 0]; 8], [[1.0, 0.0, 0.0, 0.0]; 8]);
    let mut case = Case::skinned(&[[0.0; 3]], &cube, &rigid.0, &rigid.1);
    let taller: Vec<[f32; 3]> = cube.iter().map(|p| [0.0, p[1], 0.0]).collect();
    let target = case.rows(&taller);
    case.primitive()["targets"] = json!([{"POSITION": target}]);
    let model = rigs::gltf::device_model(gpu, case.model());
    let mut rig = GltfBackend::new(&gpu.context(), &model, 1, GltfOptions::default()).expect("within limits");
    let stage = BoundsStage::new(&gpu.context());
    let mut bounds = ExactBounds::new(&gpu.context(), &stage, &rig.vertices()).expect("within limits");
    let mut values = rig.info().default_controls.clone();
    let shift = rig.info().control_names.iter().position(|n| n.ends_with("translation/x")).expect("a joint");
    for (x, weight) in [(0.0, 0.0), (100.0, 0.0), (100.0, 1.0), (-3.0, 0.5)] {
        (values[shift], values[0]) = (x, weight);
        rig.set_controls(0, &values).unwrap();
        frame(gpu, &mut rig);
        let found = measure(gpu, &mut bounds, &rig.vertices(), 0..1);
        assert_eq!(found, [Aabb { min: [x, 0.0, 0.0], max: [x + 1.0, 1.0 + weight, 1.0] }]);
        let around = rig.bounds(0);
        assert!(around.contains(found[0].min) && around.contains(found[0].max));
    }
}

#[test]
fn view_of_another_object_and_instances_that_are_not_there_panic() {
    let Some(gpu) = device("view_of_another_object_and_instances_that_are_not_there_panic") else { return };
    let stage = BoundsStage::new(&gpu.context());
    let [a, b] = [0, 1].map(|_| positions(&gpu.context(), &TRIANGLE));
    let mut bounds = ExactBounds::new(&gpu.context(), &stage, &view_of(&a, 3, 1)).expect("within limits");
    let cases = [
        (view_of(&a, 3, 1), 0..2, "instances 0..2 of a backend with 1 instances"),
        (view_of(&b, 3, 1), 0..1, "encoded for another one"),
    ];
    for (view, instances, part) in cases {
        let mut encoder = gpu.encoder();
        let encode = AssertUnwindSafe(|| bounds.encode(gpu.queue(), &mut encoder, &view, instances));
        let panic = std::panic::catch_unwind(encode).expect_err(part);
        let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        assert!(said.is_some_and(|said| said.contains(part)), "{said:?}");
    }
}

#[test]
fn boxes_of_a_lost_device_are_an_error() {
    let test = "boxes_of_a_lost_device_are_an_error";
    if device(test).is_none() {
        return;
    }
    let gpu = Headless::new(AdapterChoice::Any).expect("the adapter is there");
    let buffer = positions(&gpu.context(), &TRIANGLE);
    let stage = BoundsStage::new(&gpu.context());
    let bounds = ExactBounds::new(&gpu.context(), &stage, &view_of(&buffer, 3, 1)).expect("within limits");
    gpu.device().destroy();
    assert!(matches!(gpu.read_bounds(&bounds), Err(DeviceError::Lost { .. } | DeviceError::Reported { .. })));
}
