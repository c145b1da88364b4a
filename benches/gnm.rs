//! The GNM head: CPU reference and GPU, small and full, dense and sparse controls, one and many instances. What is not measured: README.md here.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rigeval::gnm::bake::{BakeOptions, bake};
use rigeval::gnm::cpu::gnm_blend;
use rigeval::gnm::gpu::{GnmBackend, GnmDeviceModel, GnmOptions};
use rigeval::gnm::model::{Correctives, GnmModel};
use rigeval::gnm::pack::GnmPack;
use rigeval::gnm::pose::{GnmPose, Stage};
use rigeval::gnm::sample::{SampleOptions, sample};
use rigeval::gpu::headless::{AdapterChoice, Headless};
use rigeval::{backend::RigBackend, head::HeadSize};
use std::sync::Arc;
use std::time::Duration;

/// Instances a software adapter still poses in a bench's time.
const SOFTWARE_INSTANCES: usize = 8;

/// GPU against CPU, metres.
const TOLERANCE_M: f32 = 1e-6;

/// One control vector for each instance: every coefficient, or 10 of them, and the gaze.
fn controls(coefficients: usize, active: usize, instance: usize, frame: usize) -> Vec<f32> {
    let mut controls = vec![0.0; coefficients + 4];
    for k in 0..active {
        controls[k * coefficients / active] = ((k + 7 * instance) as f32 * 0.61 + frame as f32 * 0.1).sin();
    }
    let gaze = (frame as f32 * 0.2).sin() * 0.2;
    controls[coefficients..].copy_from_slice(&[0.1, gaze, 0.1, gaze]);
    controls
}

fn poses(pack: &GnmPack, active: usize, instances: usize) -> Vec<GnmPose> {
    let pose = |i| {
        let mut pose = GnmPose::new(pack);
        pose.set_controls(pack, &controls(pack.coefficient_count(), active, i, 0)).unwrap();
        pose
    };
    (0..instances).map(pose).collect()
}

/// The largest difference between the GPU's vertices and the CPU's, metres; both start from the same controls.
fn difference(gpu: &Headless, backend: &mut GnmBackend, pack: &GnmPack, active: usize) -> f32 {
    let instances = backend.info().instance_count;
    let all: Vec<f32> = (0..instances).flat_map(|i| controls(pack.coefficient_count(), active, i, 0)).collect();
    backend.set_controls_all(&all).unwrap();
    let mut encoder = gpu.encoder();
    backend.encode(gpu.queue(), &mut encoder);
    gpu.submit(encoder).unwrap();
    let computed = gpu.read_f32(backend.vertices().current_positions()).unwrap();
    let reference = poses(pack, active, instances);
    let reference = reference.iter().flat_map(|pose| gnm_blend(pack, pose, Stage::Pose)).flatten();
    computed.iter().zip(reference).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// The CPU reference against the original formula, with every coefficient moved: half-float bases and weights part them by micrometres.
fn check_cpu(model: &GnmModel, identity: &[f64], pack: &GnmPack) {
    const FORMULA_TOLERANCE_M: f64 = 3e-5;
    let e = pack.coefficient_count();
    let mut controls = controls(e, e, 0, 0);
    controls[e..].fill(0.0);
    let mut pose = GnmPose::new(pack);
    pose.set_controls(pack, &controls).unwrap();
    let expression: Vec<f64> = controls[..e].iter().map(|c| f64::from(*c)).collect();
    let formula = model.evaluate(identity, &expression, &[[0.0; 3]; 4], [0.0; 3], Correctives::Off).unwrap();
    let pairs = gnm_blend(pack, &pose, Stage::Pose).into_iter().flatten().zip(formula.positions.into_iter().flatten());
    let off = pairs.map(|(a, b)| (f64::from(a) - b).abs()).fold(0.0, f64::max);
    assert!(off <= FORMULA_TOLERANCE_M, "CPU off the formula by {off} m, allowed {FORMULA_TOLERANCE_M}");
}

fn bench(c: &mut Criterion) {
    let gpu = Headless::new(AdapterChoice::Any).map_err(|e| println!("SKIP the GPU rows: {e}")).ok();
    if let Some(gpu) = &gpu {
        println!("GPU rows: {:?}", gpu.facts());
    }
    for (size, label) in [(HeadSize::Tiny, "447"), (HeadSize::Full, "17821")] {
        let model = sample(size, SampleOptions { correctives: false });
        let identity = vec![0.0; model.identity_names.len()];
        let pack = Arc::new(bake(&model, &identity, &BakeOptions::default(), &mut |_| {}).unwrap());
        check_cpu(&model, &identity, &pack);
        drop(model);
        assert_eq!(pack.vertex_count().to_string(), label);
        for (active, name) in [(pack.coefficient_count(), "dense"), (10, "sparse10")] {
            let mut group = c.benchmark_group(format!("gnm/V{label}/{name}"));
            group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
            for instances in [1, 8, 64] {
                group.throughput(Throughput::Elements((instances * pack.vertex_count()) as u64));
                let poses = poses(&pack, active, instances);
                group.bench_with_input(BenchmarkId::new("cpu", instances), &poses, |b, poses| {
                    b.iter(|| poses.iter().map(|pose| gnm_blend(&pack, pose, Stage::Pose)).collect::<Vec<_>>());
                });
                let Some(gpu) = &gpu else { continue };
                if gpu.facts().is_software && instances > SOFTWARE_INSTANCES {
                    println!("SKIP gnm/V{label}/{name}/gpu/{instances}: a software adapter");
                    continue;
                }
                let device_model = Arc::new(GnmDeviceModel::new(&gpu.context(), Arc::clone(&pack)).unwrap());
                let mut backend =
                    GnmBackend::new(&gpu.context(), &device_model, instances, GnmOptions::default()).unwrap();
                let off = difference(gpu, &mut backend, &pack, active);
                assert!(off <= TOLERANCE_M, "{label} {name} x {instances}: GPU off by {off} m, allowed {TOLERANCE_M}");
                let mut frame = 0;
                group.bench_function(BenchmarkId::new("gpu", instances), |b| {
                    let next = || {
                        frame += 1;
                        let vector = |i| controls(pack.coefficient_count(), active, i, frame);
                        (0..instances).flat_map(vector).collect::<Vec<f32>>()
                    };
                    b.iter_batched(
                        next,
                        |all| {
                            backend.set_controls_all(&all).unwrap();
                            let mut encoder = gpu.encoder();
                            backend.encode(gpu.queue(), &mut encoder);
                            gpu.submit(encoder).unwrap();
                        },
                        BatchSize::PerIteration,
                    );
                });
            }
            group.finish();
        }
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
