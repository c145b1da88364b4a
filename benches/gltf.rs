//! glTF rigs of two sizes, a fox without morph targets and a body with 52: a clip sampled, set and posed on the CPU reference and on the GPU, for
//! 1, 64 and 512 instances. What is not measured: README.md here.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rigeval::backend::RigBackend;
use rigeval::files::Files;
use rigeval::gltf::cpu::gltf_morph;
use rigeval::gltf::gpu::{GltfBackend, GltfDeviceModel, GltfOptions};
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::gpu::headless::{AdapterChoice, Headless};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Instances a software adapter still poses in a bench's time.
const SOFTWARE_INSTANCES: usize = 8;

/// GPU against CPU, relative to the largest coordinate, or to 1 m if that is more.
const TOLERANCE: f32 = 1e-6;

/// Vertices, joints and morph targets.
struct Size {
    name: &'static str,
    vertices: usize,
    joints: usize,
    targets: usize,
}

const SIZES: [Size; 2] = [
    Size { name: "fox", vertices: 1728, joints: 24, targets: 0 },
    Size { name: "body", vertices: 13_886, joints: 52, targets: 52 },
];

/// The binary chunk of a file while it grows, with its views and accessors.
#[derive(Default)]
struct Binary {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Binary {
    /// Adds an accessor and gives its index. 5126 is f32, 5123 u16.
    fn add<T: bytemuck::Pod>(&mut self, values: &[T], component: u32, kind: &str, extra: Value) -> usize {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        self.views.push(json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()}));
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut accessor = json!({"bufferView": self.views.len() - 1, "componentType": component, "type": kind, "count": values.len()});
        accessor.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }
}

/// A tube two metres high around a chain of joints, four influences a vertex, each target a bump of a tenth of it; one clip of 31 keys that turns
/// every joint and swells every target.
fn model(size: &Size) -> GltfModel {
    let mut binary = Binary::default();
    let none = || json!({});
    let height = |i: usize| 2.0 * i as f32 / size.vertices as f32;
    let positions: Vec<[f32; 3]> = (0..size.vertices)
        .map(|i| {
            let turn = i as f32 * 2.4;
            [0.2 * turn.cos(), height(i), 0.2 * turn.sin()]
        })
        .collect();
    let bounds = json!({"min": [-0.2, 0.0, -0.2], "max": [0.2, 2.0, 0.2]});
    let position = binary.add(&positions, 5126, "VEC3", bounds);
    let near = |i: usize| height(i) / 2.0 * (size.joints - 1) as f32;
    let held = |i: usize| [0, 1, 2, 3].map(|k| (near(i) as usize + k).min(size.joints - 1) as u16);
    let joints: Vec<[u16; 4]> = (0..size.vertices).map(held).collect();
    let weights: Vec<[f32; 4]> = (0..size.vertices)
        .map(|i| {
            let part = near(i).fract() * 0.25;
            [0.5 - part, 0.25 + part, 0.125, 0.125]
        })
        .collect();
    let joints = binary.add(&joints, 5123, "VEC4", none());
    let weights = binary.add(&weights, 5126, "VEC4", none());
    let targets: Vec<Value> = (0..size.targets)
        .map(|t| {
            let centre = 2.0 * t as f32 / size.targets as f32;
            let bump = |i: usize| (1.0 - ((height(i) - centre) * 10.0).abs()).max(0.0) * 0.03;
            let deltas: Vec<[f32; 3]> = (0..size.vertices).map(|i| [bump(i), 0.0, -bump(i)]).collect();
            let bounds = json!({"min": [0.0, 0.0, -0.03], "max": [0.03, 0.0, 0.0]});
            json!({"POSITION": binary.add(&deltas, 5126, "VEC3", bounds)})
        })
        .collect();

    let times: Vec<f32> = (0..31).map(|k| k as f32 / 30.0).collect();
    let input = binary.add(&times, 5126, "SCALAR", json!({"min": [0.0], "max": [1.0]}));
    let mut samplers = Vec::new();
    let mut channels = Vec::new();
    for joint in 0..size.joints {
        let key = |t: &f32| {
            let half = 0.02 * (t * 6.3 + joint as f32).sin();
            [half.sin(), 0.0, 0.0, half.cos()]
        };
        let keys: Vec<[f32; 4]> = times.iter().map(key).collect();
        channels.push(json!({"sampler": samplers.len(), "target": {"node": joint, "path": "rotation"}}));
        samplers.push(json!({"input": input, "output": binary.add(&keys, 5126, "VEC4", none())}));
    }
    if size.targets > 0 {
        let key = |(k, t): (usize, usize)| (k as f32 * 0.2 + t as f32).sin().abs();
        let keys: Vec<f32> = (0..times.len()).flat_map(|k| (0..size.targets).map(move |t| (k, t))).map(key).collect();
        channels.push(json!({"sampler": samplers.len(), "target": {"node": size.joints, "path": "weights"}}));
        samplers.push(json!({"input": input, "output": binary.add(&keys, 5126, "SCALAR", none())}));
    }

    let step = 2.0 / (size.joints - 1) as f32;
    let mut nodes: Vec<Value> = (0..size.joints)
        .map(|j| {
            let mut node =
                json!({"name": format!("joint_{j}"), "translation": [0.0, if j == 0 { 0.0 } else { step }, 0.0]});
            if j + 1 < size.joints {
                node["children"] = json!([j + 1]);
            }
            node
        })
        .collect();
    nodes.push(json!({"name": "mesh", "mesh": 0, "skin": 0}));
    let binds: Vec<[f32; 16]> = (0..size.joints)
        .map(|j| {
            let down = -(j as f32) * step;
            [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, down, 0.0, 1.0]
        })
        .collect();
    let binds = binary.add(&binds, 5126, "MAT4", none());
    let mut primitive = json!({"attributes": {"POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights}});
    if size.targets > 0 {
        primitive["targets"] = json!(targets);
    }
    let document = json!({
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, size.joints]}],
        "nodes": nodes,
        "meshes": [{"primitives": [primitive]}],
        "skins": [{"joints": (0..size.joints).collect::<Vec<_>>(), "inverseBindMatrices": binds}],
        "animations": [{"name": "sway", "samplers": samplers, "channels": channels}],
        "accessors": binary.accessors,
        "bufferViews": binary.views,
        "buffers": [{"byteLength": binary.bytes.len()}],
    });
    GltfModel::load(&glb(&document, &binary.bytes), &Files::Memory(Default::default())).unwrap()
}

fn glb(document: &Value, binary: &[u8]) -> Vec<u8> {
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let word = |n: usize| (n as u32).to_le_bytes();
    let mut file = [b"glTF".as_slice(), &word(2), &word(12 + 8 + text.len() + 8 + binary.len())].concat();
    for (kind, chunk) in [(b"JSON", text.as_slice()), (b"BIN\0", binary)] {
        file.extend([word(chunk.len()).as_slice(), kind, chunk].concat());
    }
    file
}

/// The controls of every instance at one frame; each runs a little behind the one before.
fn controls(model: &GltfModel, instances: usize, frame: usize) -> Vec<f32> {
    let clip = model.clip("sway").unwrap();
    let mut cursor = clip.cursor();
    let mut all = model.controls().defaults().repeat(instances);
    for (i, controls) in all.chunks_exact_mut(model.controls().defaults().len()).enumerate() {
        clip.sample((frame as f64 * 0.017 + i as f64 * 0.003).fract(), &mut cursor, controls);
    }
    all
}

fn poses(model: &GltfModel, all: &[f32]) -> Vec<GltfPose> {
    let pose = |controls: &[f32]| {
        let mut pose = GltfPose::new(model, OutputSpace::World);
        pose.set_controls(model, controls).unwrap();
        pose
    };
    all.chunks_exact(model.controls().defaults().len()).map(pose).collect()
}

fn submit(gpu: &Headless, backend: &mut GltfBackend, all: &[f32]) {
    backend.set_controls_all(all).unwrap();
    let mut encoder = gpu.encoder();
    backend.encode(gpu.queue(), &mut encoder);
    gpu.submit(encoder).unwrap();
}

/// The largest difference between the GPU's vertices and the CPU's, relative to the largest coordinate.
fn difference(gpu: &Headless, backend: &mut GltfBackend, model: &GltfModel) -> f32 {
    let all = controls(model, backend.info().instance_count, 1);
    submit(gpu, backend, &all);
    let computed = gpu.read_f32(backend.vertices().current_positions()).unwrap();
    let reference: Vec<f32> = poses(model, &all).iter().flat_map(|p| gltf_morph(model.mesh(), p)).flatten().collect();
    let largest = reference.iter().fold(1.0f32, |most, x| most.max(x.abs()));
    computed.iter().zip(&reference).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) / largest
}

fn bench(c: &mut Criterion) {
    let gpu = Headless::new(AdapterChoice::Any).map_err(|e| println!("SKIP the GPU rows: {e}")).ok();
    if let Some(gpu) = &gpu {
        println!("GPU rows: {:?}", gpu.facts());
    }
    for size in &SIZES {
        let (name, model) = (size.name, Arc::new(model(size)));
        assert_eq!(model.mesh().vertex_count(), size.vertices);
        let mut group = c.benchmark_group(format!("gltf/{name}"));
        group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
        group.bench_function("sample", |b| b.iter(|| controls(&model, 1, 7)));
        for instances in [1, 64, 512] {
            group.throughput(Throughput::Elements((instances * size.vertices) as u64));
            let poses = poses(&model, &controls(&model, instances, 0));
            group.bench_with_input(BenchmarkId::new("cpu", instances), &poses, |b, poses| {
                b.iter(|| poses.iter().map(|pose| gltf_morph(model.mesh(), pose)).collect::<Vec<_>>());
            });
            let Some(gpu) = &gpu else { continue };
            if gpu.facts().is_software && instances > SOFTWARE_INSTANCES {
                println!("SKIP gltf/{name}/gpu/{instances}: a software adapter");
                continue;
            }
            let device_model = Arc::new(GltfDeviceModel::new(&gpu.context(), Arc::clone(&model)).unwrap());
            let made = GltfBackend::new(&gpu.context(), &device_model, instances, GltfOptions::default());
            let mut backend = match made {
                Ok(backend) => backend,
                Err(refused) => {
                    println!("SKIP gltf/{name}/gpu/{instances}: {refused}");
                    continue;
                }
            };
            let off = difference(gpu, &mut backend, &model);
            assert!(off <= TOLERANCE, "{name} x {instances}: GPU off by {off} of the largest coordinate");
            let mut frame = 1;
            group.bench_function(BenchmarkId::new("gpu", instances), |b| {
                let next = || {
                    frame += 1;
                    controls(&model, instances, frame)
                };
                b.iter_batched(next, |all| submit(gpu, &mut backend, &all), BatchSize::PerIteration);
            });
        }
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
