//! The same tiny files on a device.

use crate::common::{UNWRITTEN, device, fill_unwritten, vertices};
use glam::{Affine3A, Vec3};
use rigeval::backend::RigBackend;
use rigeval::gltf::cpu::{gltf_morph, gltf_morph_normals, gltf_morph_tangents};
use rigeval::gltf::gpu::{GltfBackend, GltfDeviceModel, GltfOptions};
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::info::JointId;
use std::sync::Arc;

/// Of the largest coordinate, at least 1; directions, which have the length 1, of themselves.
const TOLERANCE: f32 = 1e-6;

/// Compares what the device makes of some controls with the CPU's answer: positions, the directions that the file has, and the bounds.
///
/// A second instance moves elsewhere, so that the first one is computed also at the file's own controls.
#[track_caller]
pub fn check(model: &GltfModel, controls: &[f32]) {
    let Some(gpu) = device("the device's share of a tiny case") else { return };
    let mut pose = GltfPose::new(model, OutputSpace::World);
    pose.set_controls(model, controls).unwrap();
    let mesh = model.mesh();
    let options = GltfOptions {
        normals: mesh.normals().is_some(),
        tangents: mesh.tangents().is_some(),
        ..GltfOptions::default()
    };
    let shared = Arc::new(GltfDeviceModel::new(&gpu.context(), Arc::new(model.clone())).unwrap());
    let mut rig = GltfBackend::new(&gpu.context(), &shared, 2, options).unwrap();
    rig.set_controls(0, controls).unwrap();
    let away = Affine3A::from_translation(Vec3::new(0.0, 0.0, -7.0));
    assert_eq!(rig.set_joint_worlds(1, &[(JointId(0), away)]), Ok(true));
    let view = rig.vertices();
    view.positions.iter().chain(&view.normals).chain(&view.tangents).for_each(|buffer| fill_unwritten(gpu, buffer));
    let mut encoder = gpu.encoder();
    rig.encode(gpu.queue(), &mut encoder);
    gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));

    let view = rig.vertices();
    let found = vertices(gpu, view.current_positions());
    let want = gltf_morph(mesh, &pose);
    assert_close("positions", found.as_flattened(), want.as_flattened());
    assert!(want.iter().all(|&p| rig.bounds(0).contains(p)), "{want:?} outside {:?}", rig.bounds(0));
    if let (Some(buffer), Some(want)) = (view.normals, gltf_morph_normals(mesh, &pose)) {
        assert_close("normals", &gpu.read_f32(buffer).unwrap(), want.as_flattened());
    }
    if let (Some(buffer), Some(want)) = (view.tangents, gltf_morph_tangents(mesh, &pose)) {
        assert_close("tangents", &gpu.read_f32(buffer).unwrap(), want.as_flattened());
    }
}

/// The first of two instances, and that the second was written.
#[track_caller]
fn assert_close(what: &str, found: &[f32], want: &[f32]) {
    assert_eq!(found.len(), 2 * want.len(), "{what}");
    assert!(found.iter().all(|x| x.to_bits() != UNWRITTEN && x.is_finite()), "{what}: {found:?}");
    let size = want.iter().fold(1.0_f32, |most, x| most.max(x.abs()));
    let near = found.iter().zip(want).all(|(f, w)| (f - w).abs() <= TOLERANCE * size);
    assert!(near, "{what} on the device: {:?}, expected {want:?}", &found[..want.len()]);
}
