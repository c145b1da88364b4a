//! Small heads on the device, and what tests do with any rig.
#![allow(dead_code)] // Each test target uses its own part.

pub mod gltf;
pub mod orl;

use crate::common::vertices;
use crate::synthetic::{self, Numbers, SMALL_REGIONS};
use glam::{Quat, Vec3};
use rigeval::backend::RigBackend;
use rigeval::gnm::gpu::GnmDeviceModel;
use rigeval::gnm::pack::{BasisFormat, GnmPack};
use rigeval::gpu::headless::Headless;
use rigeval::math::Aabb;
use rigeval::skeleton::JointOverride;
use std::sync::Arc;

/// No multiple of 64.
pub const V: usize = 717;

pub fn gnm_pack(format: BasisFormat) -> GnmPack {
    let mut parts = synthetic::parts(V, SMALL_REGIONS, format);
    parts.faces = (0..V as u32 - 13).flat_map(|i| [[i, i + 8, i + 13], [i, i + 13, i + 5]]).collect();
    GnmPack::build(&parts).expect("synthetic parts make a pack")
}

pub fn gnm_model(gpu: &Headless, format: BasisFormat) -> Arc<GnmDeviceModel> {
    let model = GnmDeviceModel::new(&gpu.context(), Arc::new(gnm_pack(format)));
    Arc::new(model.expect("within the default limits"))
}

pub fn gnm_sample(rig: &dyn RigBackend, seed: u64) -> Vec<f32> {
    Numbers::new(seed).controls(rig.info().control_names.len() - 4, 1.5)
}

pub fn frame(gpu: &Headless, rig: &mut dyn RigBackend) {
    let mut encoder = gpu.encoder();
    rig.encode(gpu.queue(), &mut encoder);
    gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
}

pub fn current(gpu: &Headless, rig: &dyn RigBackend) -> Vec<[f32; 3]> {
    vertices(gpu, rig.vertices().current_positions())
}

pub fn bounds_of(vertices: &[[f32; 3]]) -> Aabb {
    Aabb::of_points(vertices.iter().copied())
}

/// The largest distance of a coordinate between two frames.
pub fn apart(a: &[[f32; 3]], b: &[[f32; 3]]) -> f32 {
    a.as_flattened().iter().zip(b.as_flattened()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

pub fn turn(joint: &str, angle_rad: f32) -> JointOverride<'_> {
    JointOverride { joint, rotation: Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), angle_rad) }
}
