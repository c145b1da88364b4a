//! The glTF stage against its CPU references: a file made of formulas, then real ones.
#![cfg(feature = "gpu")]

mod common;
mod rigs;
mod synthetic;

use common::compare::{GPU_TOLERANCE, assert_close};
use common::{device, fill_unwritten, vertices};
use glam::{Affine3A, Vec3};
use rigeval::backend::RigBackend;
use rigeval::gltf::cpu::{gltf_morph, gltf_morph_normals, gltf_morph_tangents};
use rigeval::gltf::gpu::{GltfBackend, GltfDeviceModel, GltfOptions};
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::gpu::headless::Headless;
use rigeval::info::JointId;
use rigeval::lbs::Skinning;
use rigeval::normals::{Incidence, normals};
use rigeval::npy;
use rigeval::skeleton::JointOverride;
use rigs::gltf::{PARTS, TARGETS, V, controls, device_model, model};
use rigs::{apart, current, frame};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use synthetic::Numbers;

/// One instance, a part of a tile of four, and one instance beyond a tile.
const INSTANCES: [usize; 3] = [1, 3, 5];

const ALL: GltfOptions = GltfOptions {
    normals: true,
    tangents: true,
    previous_positions: true,
    space: OutputSpace::World,
    skinning: Skinning::Linear,
};

/// Of unit vectors: f32 products of a blended matrix' entries, and the length that a morph leaves over.
const DIRECTION_TOLERANCE: f32 = 1e-4;

/// The vertex whose directions are furthest apart, and how far; what is not a number is infinitely far.
fn worst_direction<const K: usize>(cpu: &[[f32; K]], gpu: &[[f32; K]]) -> (usize, f32) {
    assert_eq!(cpu.len(), gpu.len(), "vertices");
    let far = |(c, g): (&f32, &f32)| if (c - g).is_nan() { f32::INFINITY } else { (c - g).abs() };
    let off = |v: usize| cpu[v].iter().zip(&gpu[v]).map(far).fold(0.0, f32::max);
    let worst = (0..cpu.len()).max_by(|&a, &b| off(a).total_cmp(&off(b))).expect("at least one vertex");
    (worst, off(worst))
}

/// Names the worst vertex when it is further off than [`DIRECTION_TOLERANCE`].
#[track_caller]
fn assert_directions<const K: usize>(what: &str, cpu: &[[f32; K]], gpu: &[[f32; K]]) -> f32 {
    let (worst, off) = worst_direction(cpu, gpu);
    assert!(off <= DIRECTION_TOLERANCE, "{what}: vertex {worst} is {:?}, the reference {:?}", gpu[worst], cpu[worst]);
    off
}

#[test]
fn direction_off_by_twice_the_tolerance_or_never_written_is_seen() {
    let cpu = [[0.0, 1.0, 0.0], [0.6, 0.0, 0.8]];
    assert_eq!(worst_direction(&cpu, &cpu.clone()).1, 0.0);
    for wrong in [0.6 + 2.0 * DIRECTION_TOLERANCE, f32::NAN, f32::INFINITY] {
        let mut gpu = cpu;
        gpu[1][0] = wrong;
        let (worst, off) = worst_direction(&cpu, &gpu);
        assert!(worst == 1 && off > DIRECTION_TOLERANCE, "{wrong}");
    }
}

fn tangents(gpu: &Headless, buffer: &wgpu::Buffer) -> Vec<[f32; 4]> {
    gpu.read_f32(buffer).unwrap_or_else(|e| panic!("{e}")).as_chunks().0.to_vec()
}

/// Sets the same on the device's instance and on its CPU twin, and holds both to the same answers.
fn move_instance(backend: &mut GltfBackend, twin: &mut GltfPose, instance: usize, seed: u64) {
    let model = Arc::clone(backend.model().model());
    let values = controls(model.controls().defaults(), model.controls().morph_count(), seed);
    let mut numbers = Numbers::new(seed);
    let turn = |joint, numbers: &mut Numbers| JointOverride { joint, rotation: numbers.rotation(0.4).as_quat() };
    let turns = [turn("head", &mut numbers), turn("bone5", &mut numbers), turn("prop", &mut numbers)];
    let world = Affine3A::from_rotation_translation(numbers.rotation(0.3).as_quat(), Vec3::new(0.1, -0.2, 0.3));
    // A body may drive a joint, or give it back.
    let worlds: &[(JointId, Affine3A)] = if seed.is_multiple_of(2) { &[(JointId(1), world)] } else { &[] };
    let on_gpu = [
        backend.set_controls(instance, &values),
        backend.set_joint_overrides(instance, &turns),
        backend.set_joint_worlds(instance, worlds),
    ];
    let on_cpu = [
        twin.set_controls(&model, &values),
        twin.set_joint_overrides(&model, &turns),
        twin.set_joint_worlds(&model, worlds),
    ];
    assert_eq!(on_gpu, on_cpu);
    assert_eq!(on_cpu[0], Ok(true));
}

/// Fills what the next frame writes: the directions, and the position buffer whose turn it is.
fn poison(gpu: &Headless, backend: &GltfBackend, is_first: bool) {
    let view = backend.vertices();
    let turn = if is_first || !backend.options().previous_positions { view.current } else { 1 - view.current };
    [view.positions[turn]].into_iter().chain(view.normals).chain(view.tangents).for_each(|b| fill_unwritten(gpu, b));
}

/// Two frames in a row of N instances, each against the CPU references, written over a pattern that no shader writes.
fn check(gpu: &Headless, what: &str, model: GltfModel, instances: usize, options: GltfOptions) {
    let mut largest = [0.0_f32; 3];
    let device_model = device_model(gpu, model);
    let model = Arc::clone(device_model.model());
    let mesh = model.mesh();
    let mut backend = GltfBackend::new(&gpu.context(), &device_model, instances, options).expect("within limits");
    let rest = GltfPose::new(&model, options.space).with_skinning(options.skinning);
    let mut twins = vec![rest; instances];
    let mut last: Vec<[f32; 3]> = twins.iter().flat_map(|twin| gltf_morph(mesh, twin)).collect();
    assert_close(&format!("{what}, rest"), &last, &current(gpu, &backend));
    for step in 0..3 {
        for (instance, twin) in twins.iter_mut().enumerate() {
            move_instance(&mut backend, twin, instance, (100 * step + instance) as u64);
        }
        poison(gpu, &backend, step == 0);
        frame(gpu, &mut backend);
        let what = format!("{what}, N = {instances}, frame {step}");
        let expected: Vec<_> = twins.iter().flat_map(|twin| gltf_morph(mesh, twin)).collect();
        let view = backend.vertices();
        let found = vertices(gpu, view.current_positions());
        largest[0] = largest[0].max(assert_close(&what, &expected, &found));
        if options.previous_positions && step > 0 {
            assert_ne!(view.previous, view.current, "{what}");
            assert_close(&format!("{what}, previous"), &last, &vertices(gpu, view.previous_positions()));
        }
        if let Some(buffer) = view.normals.filter(|_| mesh.normals().is_some()) {
            let expected: Vec<_> = twins.iter().flat_map(|twin| gltf_morph_normals(mesh, twin).unwrap()).collect();
            let off = assert_directions(&format!("{what}, normals"), &expected, &vertices(gpu, buffer));
            largest[1] = largest[1].max(off);
        }
        if let Some(buffer) = view.tangents {
            let expected: Vec<_> = twins.iter().flat_map(|twin| gltf_morph_tangents(mesh, twin).unwrap()).collect();
            let off = assert_directions(&format!("{what}, tangents"), &expected, &tangents(gpu, buffer));
            largest[2] = largest[2].max(off);
        }
        last = expected;
    }
    eprintln!("{what}, N = {instances}: positions, normals, tangents off by {largest:?}");
}

#[test]
fn file_equals_its_twins() {
    let Some(gpu) = device("file_equals_its_twins") else { return };
    for instances in INSTANCES {
        check(gpu, "all", model(true), instances, ALL);
    }
    for instances in [1, 3] {
        check(gpu, "positions", model(true), instances, GltfOptions::default());
        let tangents = GltfOptions { tangents: true, space: OutputSpace::MeshParent, ..GltfOptions::default() };
        check(gpu, "tangents, mesh parent", model(true), instances, tangents);
        check(gpu, "mesh parent", model(true), instances, GltfOptions { space: OutputSpace::MeshParent, ..ALL });
    }
}

#[test]
fn file_by_dual_quaternions_equals_its_twins() {
    let Some(gpu) = device("file_by_dual_quaternions_equals_its_twins") else { return };
    let all = GltfOptions { skinning: Skinning::DualQuaternion, ..ALL };
    for instances in INSTANCES {
        check(gpu, "dual quaternions", model(true), instances, all);
    }
    for instances in [1, 3] {
        let space = OutputSpace::MeshParent;
        check(gpu, "dual quaternions, mesh parent", model(true), instances, GltfOptions { space, ..all });
    }
}

#[test]
fn normals_of_a_file_without_any_come_from_its_triangles() {
    let Some(gpu) = device("normals_of_a_file_without_any_come_from_its_triangles") else { return };
    let model = device_model(gpu, model(false));
    let faces = &model.model().mesh().render().triangles;
    let incidence = Incidence::new(faces, V);
    for instances in [1, 3] {
        let mut backend = GltfBackend::new(&gpu.context(), &model, instances, ALL).expect("within limits");
        assert!(backend.vertices().tangents.is_none(), "the file has none");
        for step in 0..3 {
            if step > 0 {
                for instance in 0..instances {
                    let mut twin = GltfPose::new(model.model(), OutputSpace::World);
                    move_instance(&mut backend, &mut twin, instance, (10 * step + instance) as u64);
                }
                poison(gpu, &backend, step == 1);
                frame(gpu, &mut backend);
            }
            let found = current(gpu, &backend);
            let expected: Vec<_> = found.chunks_exact(V).flat_map(|p| normals(p, faces, &incidence)).collect();
            let found = vertices(gpu, backend.vertices().normals.expect("asked for"));
            assert!(apart(&expected, &found) < DIRECTION_TOLERANCE, "N = {instances}, frame {step}");
        }
    }
}

#[test]
fn directions_at_rest_computed_equal_those_uploaded() {
    let Some(gpu) = device("directions_at_rest_computed_equal_those_uploaded") else { return };
    let model = device_model(gpu, model(true));
    let mut backend = GltfBackend::new(&gpu.context(), &model, 3, ALL).expect("within limits");
    let read = |backend: &GltfBackend| {
        let view = backend.vertices();
        (vertices(gpu, view.normals.expect("asked for")), tangents(gpu, view.tangents.expect("asked for")))
    };
    let rest = read(&backend);
    let defaults = backend.info().default_controls.clone();
    for values in [rigs::gltf::sample(&backend, 1), defaults] {
        assert_eq!(backend.set_controls_all(&values.repeat(3)), Ok(true));
        frame(gpu, &mut backend);
    }
    let again = read(&backend);
    assert_directions("normals", &rest.0, &again.0);
    assert_directions("tangents", &rest.1, &again.1);
    let unit = |n: &&[f32; 3]| (Vec3::from(**n).length() - 1.0).abs() < 1e-5;
    // All but one vertex of each part that has normals, and the part that has none.
    assert_eq!(rest.0.iter().filter(unit).count(), 3 * (V - PARTS[3] - 3));
}

#[test]
fn flat_and_tiny_matrices_keep_normals_finite() {
    let Some(gpu) = device("flat_and_tiny_matrices_keep_normals_finite") else { return };
    let device_model = device_model(gpu, model(true));
    for skinning in [Skinning::Linear, Skinning::DualQuaternion] {
        flat_and_tiny(gpu, &device_model, skinning);
    }
}

fn flat_and_tiny(gpu: &Headless, device_model: &Arc<GltfDeviceModel>, skinning: Skinning) {
    let model = device_model.model();
    let options = GltfOptions { skinning, ..ALL };
    let mut backend = GltfBackend::new(&gpu.context(), device_model, 3, options).expect("within limits");
    let mut twins = vec![GltfPose::new(model, OutputSpace::World).with_skinning(skinning); 3];
    let control = |name: &str| model.controls().names().iter().position(|n| n == name).expect(name);
    let root = control("node/hips/scale/x");
    let stand = control("node/stand/scale/x");
    for (instance, scale) in [[0.0, 1.0, 1.0], [0.0; 3], [1e-30; 3]].into_iter().enumerate() {
        let mut values = model.controls().defaults().to_vec();
        values[root..root + 3].copy_from_slice(&scale);
        values[stand..stand + 3].copy_from_slice(&scale);
        assert_eq!(backend.set_controls(instance, &values), Ok(true));
        assert_eq!(twins[instance].set_controls(model, &values), Ok(true));
    }
    poison(gpu, &backend, true);
    frame(gpu, &mut backend);
    let view = backend.vertices();
    let positions: Vec<_> = twins.iter().flat_map(|twin| gltf_morph(model.mesh(), twin)).collect();
    assert_close("positions", &positions, &current(gpu, &backend));
    let found = vertices(gpu, view.normals.expect("asked for"));
    assert!(found.as_flattened().iter().all(|x| x.is_finite()));
    let found_tangents = tangents(gpu, view.tangents.expect("asked for"));
    assert!(found_tangents.as_flattened().iter().all(|x| x.is_finite()));
    // What nothing is left of is zero; what is tiny keeps its direction.
    let of = |instance: usize| instance * V..(instance + 1) * V;
    assert!(found[of(1)].iter().all(|n| *n == [0.0; 3]));
    let tiny = gltf_morph_normals(model.mesh(), &twins[2]).expect("normals");
    assert_directions("tiny", &tiny, &found[of(2)]);
}

#[test]
fn shape_of_the_test_file_is_what_the_tests_need() {
    let gpu_sizes = |packed: rigeval::gltf::packing::PackedDeltas| (packed.narrow_count, packed.wide_count);
    let model = model(true);
    let mesh = model.mesh();
    assert_eq!((mesh.vertex_count(), mesh.parts().len()), (V, 4));
    assert_eq!(mesh.parts().iter().map(|part| part.vertices.len()).collect::<Vec<_>>(), PARTS);
    assert!(PARTS.iter().all(|v| !v.is_multiple_of(64)) && !V.is_multiple_of(64));
    let influences = (0..V).map(|v| mesh.influences().row(v).len());
    assert!(influences.clone().any(|n| n == 1) && influences.max() >= Some(7), "more than one set");
    for (attribute, counts) in [
        gpu_sizes(rigeval::gltf::packing::PackedDeltas::positions(mesh).unwrap()),
        gpu_sizes(rigeval::gltf::packing::PackedDeltas::normals(mesh).unwrap()),
        gpu_sizes(rigeval::gltf::packing::PackedDeltas::tangents(mesh).unwrap()),
    ]
    .into_iter()
    .enumerate()
    {
        assert!(counts.0 > 0 && counts.1 > 0, "attribute {attribute}: {} narrow, {} wide", counts.0, counts.1);
    }
    assert!(mesh.position_targets().len() > TARGETS);
    let rest = GltfPose::new(&model, OutputSpace::World);
    let mirrors = |rows: &rigeval::math::Rows| {
        let axis = |i: usize| Vec3::from_slice(&rows[i]);
        axis(0).cross(axis(1)).dot(axis(2)) < 0.0
    };
    assert!(rest.skin_rows().iter().any(mirrors) && !rest.skin_rows().iter().all(mirrors));
}

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/gltf");

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The controls of a frame: the file's own, a clip's at a time, or single nodes and weights set.
fn frame_controls(model: &GltfModel, frame: &Value) -> Vec<f32> {
    let mut controls = model.controls().defaults().to_vec();
    if let Some(clip) = frame["clip"].as_u64() {
        let clip = &model.clips()[clip as usize];
        clip.sample(frame["time"].as_f64().unwrap(), &mut clip.cursor(), &mut controls);
    }
    let numbers = |value: &Value| list(value).iter().map(|x| x.as_f64().unwrap() as f32).collect::<Vec<_>>();
    for (node, set) in frame["set"]["nodes"].as_object().into_iter().flatten() {
        let joint = model.joint_of_node(node.parse().unwrap()).unwrap();
        let first = model.controls().first_of_joint(joint).unwrap() + 3;
        controls[first..first + 4].copy_from_slice(&numbers(&set["rotation"]));
    }
    for (node, weights) in frame["set"]["weights"].as_object().into_iter().flatten() {
        let range = model.controls().morphs_of_node(node.parse().unwrap()).unwrap();
        controls[range].copy_from_slice(&numbers(weights));
    }
    controls
}

/// Relative to the largest coordinate of a frame, where the manifest has no larger one.
const FRAME_TOLERANCE: f64 = 2e-6;

#[test]
fn frames_of_the_corpus_match_on_the_device() {
    let test = "frames_of_the_corpus_match_on_the_device";
    let Some(gpu) = device(test) else { return };
    let folder = Path::new(CORPUS);
    if !folder.is_dir() {
        eprintln!("SKIP {test}: no folder {CORPUS}; the other tests of this file cover the stage");
        return;
    }
    let (mut directions, mut worst_off) = (0, 0.0_f32);
    let (mut frames, mut wrong, mut worst) = (0, Vec::new(), [(0.0, String::new()), (0.0, String::new())]);
    for asset in list(&json(&folder.join("manifest.json"))["assets"]) {
        let model = GltfModel::open(&folder.join(asset["file"].as_str().unwrap())).unwrap();
        let device_model = device_model(gpu, model);
        let model = Arc::clone(device_model.model());
        let has_faces = !model.mesh().render().triangles.is_empty();
        let options = GltfOptions { normals: has_faces, tangents: true, ..GltfOptions::default() };
        let mut backend = GltfBackend::new(&gpu.context(), &device_model, 1, options).expect("within limits");
        let mut pose = GltfPose::new(&model, OutputSpace::World);
        let tolerance = asset["suggested_rel_tol"].as_f64().unwrap_or(0.0).max(FRAME_TOLERANCE);
        for stated in list(&asset["frames"]) {
            let values = frame_controls(&model, stated);
            backend.set_controls(0, &values).unwrap();
            pose.set_controls(&model, &values).unwrap();
            frame(gpu, &mut backend);
            let found = current(gpu, &backend);
            let bytes = std::fs::read(folder.join(stated["file"].as_str().unwrap())).unwrap();
            let want: Vec<[f32; 3]> = npy::read(&bytes).unwrap().into_f32().unwrap().as_chunks().0.to_vec();
            let twin = gltf_morph(model.mesh(), &pose);
            let size = |all: &[[f32; 3]]| all.as_flattened().iter().fold(0.0_f32, |most, x| most.max(x.abs()));
            assert!(found.as_flattened().iter().all(|x| x.is_finite()), "{}", stated["file"]);
            let errors = [
                (f64::from(apart(&want, &found)) / f64::from(size(&want).max(1e-6)), tolerance, "frame"),
                (f64::from(apart(&twin, &found) / size(&twin).max(1.0)), f64::from(GPU_TOLERANCE), "twin"),
            ];
            for ((error, allowed, of), worst) in errors.into_iter().zip(&mut worst) {
                if error > allowed {
                    wrong.push(format!("{} of {}: {error:.3e}, allowed {allowed:.3e}", of, stated["file"]));
                }
                if error > worst.0 {
                    *worst = (error, stated["file"].to_string());
                }
            }
            let view = backend.vertices();
            let of_normals = gltf_morph_normals(model.mesh(), &pose).zip(view.normals);
            let of_normals = of_normals.map(|(cpu, buffer)| worst_direction(&cpu, &vertices(gpu, buffer)));
            let of_tangents = gltf_morph_tangents(model.mesh(), &pose).zip(view.tangents);
            let of_tangents = of_tangents.map(|(cpu, buffer)| worst_direction(&cpu, &tangents(gpu, buffer)));
            for (kind, (vertex, off)) in
                of_normals.map(|w| ("normal", w)).into_iter().chain(of_tangents.map(|w| ("tangent", w)))
            {
                directions += 1;
                if off > DIRECTION_TOLERANCE {
                    wrong.push(format!("{kind} {vertex} of {}: off by {off:.3e}", stated["file"]));
                }
                worst_off = worst_off.max(off);
            }
            frames += 1;
        }
    }
    eprintln!("{frames} frames; worst against the frames {:.3e} in {}", worst[0].0, worst[0].1);
    eprintln!("worst against the twin {:.3e} in {}", worst[1].0, worst[1].1);
    eprintln!("{directions} lists of normals or tangents, off by {worst_off:.3e} at most");
    assert!(wrong.is_empty(), "{} of {frames} frames:\n{}", wrong.len(), wrong.join("\n"));
    assert!(frames > 150 && directions > 100, "only {frames} frames, {directions} lists of directions");
}

#[test]
fn garment_follows_the_avatar_by_joint_name_on_the_device() {
    let test = "garment_follows_the_avatar_by_joint_name_on_the_device";
    let Some(gpu) = device(test) else { return };
    let folder = Path::new(CORPUS);
    if !folder.is_dir() {
        eprintln!("SKIP {test}: no folder {CORPUS}; joint_worlds_hold_until_they_are_given_back covers the call");
        return;
    }
    for case in list(&json(&folder.join("retarget.json"))) {
        let frames = list(&case["frames"]);
        let open = |key: &str, instances: usize| {
            let model = GltfModel::open(&folder.join(case[key].as_str().unwrap())).unwrap();
            let model = device_model(gpu, model);
            GltfBackend::new(&gpu.context(), &model, instances, GltfOptions::default()).expect("within limits")
        };
        // An instance for each frame: one dispatch dresses them all.
        let (mut avatar, mut garment) = (open("avatar", 1), open("garment", frames.len()));
        let joint = |rig: &GltfBackend, name: &Value| rig.info().joint(name.as_str().unwrap()).expect("a joint");
        assert!(list(&case["joint_map"]).len() >= 24);
        for (instance, stated) in frames.iter().enumerate() {
            let values = frame_controls(avatar.model().model(), stated);
            avatar.set_controls(0, &values).unwrap();
            let world = |pair: &Value| {
                let from = avatar.pose(0).worlds()[joint(&avatar, &pair[1]).0];
                (joint(&garment, &pair[0]), Affine3A::from_mat4(glam::DMat4::from(from).as_mat4()))
            };
            let worlds: Vec<_> = list(&case["joint_map"]).iter().map(world).collect();
            assert_eq!(garment.set_joint_worlds(instance, &worlds), Ok(true));
        }
        frame(gpu, &mut garment);
        let found = current(gpu, &garment);
        for (stated, found) in frames.iter().zip(found.chunks_exact(found.len() / frames.len())) {
            let bytes = std::fs::read(folder.join(stated["file"].as_str().unwrap())).unwrap();
            let want: Vec<[f32; 3]> = npy::read(&bytes).unwrap().into_f32().unwrap().as_chunks().0.to_vec();
            assert_eq!(found.len(), want.len(), "{}", stated["file"]);
            let size = want.as_flattened().iter().fold(1e-6_f32, |most, x| most.max(x.abs()));
            let error = f64::from(apart(&want, found)) / f64::from(size);
            assert!(error <= FRAME_TOLERANCE, "{}: {error:.3e}, allowed {FRAME_TOLERANCE:.3e}", stated["file"]);
        }
    }
}
