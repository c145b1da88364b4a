//! Bundles on the device.

use crate::bundles::{BACKENDS, all, arkit_scene, cpu_vertices, files, rig};
use crate::common::{device, fill_unwritten, vertices};
use rigeval::backend::RigBackend;
use rigeval::error::BackendError;
use rigeval::expression::{ArkitMap, ArkitShape};
use rigeval::files::Files;
use rigeval::gpu::headless::Headless;
use rigeval::scene::{Scene, SceneError, SceneOptions, load, open, open_with};
use serde_json::json;

fn frame(gpu: &Headless, rig: &mut dyn RigBackend) -> Vec<[f32; 3]> {
    let mut encoder = gpu.encoder();
    rig.encode(gpu.queue(), &mut encoder);
    gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
    vertices(gpu, rig.vertices().current_positions())
}

/// The largest distance of a coordinate, and the largest coordinate.
fn apart(found: &[[f32; 3]], expected: &[[f32; 3]]) -> (f32, f32) {
    assert_eq!(found.len(), expected.len());
    let pairs = found.as_flattened().iter().zip(expected.as_flattened());
    pairs.fold((0.0, 1.0), |(worst, largest), (a, b)| {
        assert!(a.is_finite(), "not written");
        ((a - b).abs().max(worst), b.abs().max(largest))
    })
}

/// What the backends promise: 1e-6 of the largest coordinate, and 1e-4 cm of an `orl` rig.
fn tolerance(rig: &dyn RigBackend, largest: f32) -> f32 {
    1e-6 * largest + (1e-6 / rig.info().units.in_metres() as f32)
}

#[test]
fn one_body_drives_every_bundle() {
    let Some(gpu) = device("one_body_drives_every_bundle") else { return };
    for backend in BACKENDS {
        let bundle = all(&arkit_scene(backend));
        let data = load(&bundle, None).unwrap();
        for instances in [1, 3] {
            let Scene { mut rig, space, manifest } = open(&bundle, &gpu.context(), instances).unwrap();
            let rig = &mut *rig;
            assert_eq!((rig.info().kind.name(), rig.info().instance_count), (backend, instances));
            assert_eq!(manifest, data.manifest);
            let v = rig.info().vertex_count;
            let mut controls = rig.info().default_controls.clone();
            let rest = cpu_vertices(&data, &controls);
            let mut weights = vec![0.0; space.space().dim()];
            let jaw = space.space().column(ArkitShape::JawOpen).unwrap();

            space.controls(&weights, &mut controls).unwrap();
            assert_eq!(controls, rig.info().default_controls, "{backend}: no weight is rest");
            assert_eq!(rig.set_controls(0, &controls), Ok(false));
            for weight in [1.0, 0.25] {
                weights[jaw] = weight;
                space.controls(&weights, &mut controls).unwrap();
                assert_eq!(rig.set_controls(instances - 1, &controls), Ok(true), "{backend}");
                rig.vertices().positions.iter().for_each(|buffer| fill_unwritten(gpu, buffer));
                let found = frame(gpu, rig);
                let expected = cpu_vertices(&data, &controls);
                assert_ne!(expected, rest, "{backend}: the jaw moves");
                for (instance, found) in found.chunks_exact(v).enumerate() {
                    let expected = if instance == instances - 1 { &expected } else { &rest };
                    let (worst, largest) = apart(found, expected);
                    let most = tolerance(rig, largest);
                    assert!(worst <= most, "{backend}, {instances}, {instance}, {weight}: {worst} > {most}");
                }
            }
        }
    }
    gpu.check().expect("no error on the device");
}

#[test]
fn face_of_a_gltf_scene_is_that_of_the_cpu_at_any_weights() {
    let Some(gpu) = device("face_of_a_gltf_scene_is_that_of_the_cpu_at_any_weights") else { return };
    let bundle = all(&arkit_scene("gltf"));
    let data = load(&bundle, None).unwrap();
    let Scene { rig: mut backend, space, .. } = open(&bundle, &gpu.context(), 3).unwrap();
    let backend = &mut *backend;
    let mut controls = backend.info().default_controls.clone();
    let weights_of =
        |instance: usize| -> Vec<f32> { (0..52).map(|i| ((i * 7 + instance * 5) % 11) as f32 / 8.0).collect() };
    let mut expected = Vec::new();
    for instance in 0..3 {
        space.controls(&weights_of(instance), &mut controls).unwrap();
        assert_eq!(backend.set_controls(instance, &controls), Ok(true));
        expected.extend(cpu_vertices(&data, &controls));
    }
    backend.vertices().positions.iter().for_each(|buffer| fill_unwritten(gpu, buffer));
    let (worst, largest) = apart(&frame(gpu, backend), &expected);
    assert!(worst <= tolerance(backend, largest), "{worst}");
    let v = backend.info().vertex_count;
    assert!(expected[..v] != expected[v..2 * v], "instances differ");
    gpu.check().expect("no error on the device");
}

#[test]
fn options_reach_every_rig() {
    let Some(gpu) = device("options_reach_every_rig") else { return };
    let options = SceneOptions { normals: true, previous_positions: true, arkit: Some(ArkitMap::HandMade) };
    for backend in BACKENDS {
        // The host's map makes up for a scene without one.
        let scene = json!({"rig": rig(backend), "expression_space": {"kind": "arkit52", "dim": 52}});
        let opened = open_with(&all(&scene), &gpu.context(), 1, &options).unwrap();
        let view = opened.rig.vertices();
        assert!(view.normals.is_some(), "{backend}");
        assert_ne!(view.positions[0], view.positions[1], "{backend}");
        let plain = open(&all(&arkit_scene(backend)), &gpu.context(), 1).unwrap();
        let view = plain.rig.vertices();
        assert!(view.normals.is_none() && view.positions[0] == view.positions[1], "{backend}");
    }
}

#[test]
fn bundle_in_a_folder_is_opened() {
    let Some(gpu) = device("bundle_in_a_folder_is_opened") else { return };
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("faces")).unwrap();
    for backend in BACKENDS {
        for (name, bytes) in files(&json!({"rig": rig(backend)})) {
            std::fs::write(dir.path().join(name), bytes).unwrap();
        }
        let scene = open(&Files::Folder(dir.path().into()), &gpu.context(), 2).unwrap();
        assert_eq!((scene.rig.info().kind.name(), scene.rig.info().instance_count), (backend, 2));
        assert!(format!("{scene:?}").to_lowercase().contains(&format!("kind: {backend}")));
    }
}

#[test]
fn creation_refuses_as_the_backends_do() {
    let Some(gpu) = device("creation_refuses_as_the_backends_do") else { return };
    for backend in BACKENDS {
        let bundle = all(&arkit_scene(backend));
        let error = open(&bundle, &gpu.context(), 0).unwrap_err();
        assert_eq!(error, SceneError::Backend(BackendError::NoInstances), "{backend}");
        let error = open(&bundle, &gpu.context(), 1 << 40).unwrap_err();
        assert!(matches!(error, SceneError::Backend(BackendError::Limit(_))), "{backend}: {error}");
        assert_eq!(error.to_string().lines().count(), 1);
    }
}
