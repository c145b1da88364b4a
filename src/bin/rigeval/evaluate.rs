//! Frames of a rig on the device that was chosen: what `eval`, `check` and `demo` share.

use crate::device::Device;
use crate::failure::Failure;
use crate::progress;
use crate::report::size;
use rigeval::backend::RigBackend;
use rigeval::error::ControlError;
use rigeval::frames::Overrides;
use rigeval::gltf::cpu::{gltf_morph, gltf_morph_normals};
use rigeval::gltf::gpu::{GltfBackend, GltfDeviceModel, GltfOptions};
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::gnm::cpu::gnm_blend;
use rigeval::gnm::gpu::{GnmBackend, GnmDeviceModel, GnmOptions};
use rigeval::gnm::pack::GnmPack;
use rigeval::gnm::pose::{GnmPose, Stage};
use rigeval::gpu::GpuContext;
use rigeval::gpu::headless::Headless;
use rigeval::lbs::Skinning;
use rigeval::math;
use rigeval::normals::{Incidence, normals};
use rigeval::orl::cpu::orl_deform;
use rigeval::orl::gpu::{OrlBackend, OrlDeviceModel, OrlOptions};
use rigeval::orl::instance::OrlInstance;
use rigeval::orl::rig::OrlRig;
use rigeval::skeleton::JointOverride;
use std::sync::Arc;
use std::time::{Duration, Instant};

mod model;

pub use model::{ModelInputs, model};

/// What drives a rig that takes controls.
pub struct Inputs<'a> {
    /// (F, C).
    pub controls: &'a [f32],
    /// F.
    pub frame_count: usize,
    /// Joint overrides.
    pub overrides: Option<&'a Overrides>,
    /// Whether normals are wanted.
    pub normals: bool,
}

impl Inputs<'_> {
    /// The controls of one frame.
    pub fn frame(&self, frame: usize) -> &[f32] {
        let width = self.controls.len() / self.frame_count.max(1);
        &self.controls[frame * width..][..width]
    }

    /// The overrides of one frame.
    pub fn turns(&self, frame: usize) -> Vec<JointOverride<'_>> {
        joint_overrides(self.overrides, frame)
    }
}

/// One frame of the overrides, as rigs take them.
pub fn joint_overrides(overrides: Option<&Overrides>, frame: usize) -> Vec<JointOverride<'_>> {
    let turns = overrides.map(|o| o.frame(frame)).unwrap_or_default();
    let turn = |(joint, q)| JointOverride { joint, rotation: math::quat_from_wxyz(q).as_quat() };
    turns.into_iter().map(turn).collect()
}

/// What comes out of a rig.
pub struct PosedFrames {
    /// (F, V, 3).
    pub positions: Vec<f32>,
    /// (F, V, 3).
    pub normals: Option<Vec<f32>>,
    /// Evaluation alone: without loading, without reading back.
    pub time: Duration,
    /// The same for each frame; frames that a device poses together have the same share of it.
    pub frame_ms: Vec<f64>,
}

/// Every frame of a GNM pack.
pub fn gnm(device: &Device, pack: &Arc<GnmPack>, stage: Stage, inputs: &Inputs) -> Result<PosedFrames, Failure> {
    match device {
        Device::Cpu => {
            let mut pose = GnmPose::new(pack);
            on_cpu(inputs, pack.faces(), |controls, turns| {
                pose.set_controls(pack, controls)?;
                pose.set_joint_overrides(pack, turns)?;
                Ok(CpuFrame::of(gnm_blend(pack, &pose, stage)))
            })
        }
        Device::Gpu(gpu) => {
            let backend = gnm_backend(&gpu.context(), pack, stage, instances(inputs), inputs.normals)?;
            on_gpu(gpu, backend, inputs)
        }
    }
}

/// Every frame of an ORL rig.
pub fn orl(device: &Device, rig: &Arc<OrlRig>, inputs: &Inputs) -> Result<PosedFrames, Failure> {
    match device {
        Device::Cpu => {
            let mut instance = OrlInstance::new(rig);
            on_cpu(inputs, &rig.mesh().mesh().triangles, |controls, turns| {
                instance.set_controls(rig, controls)?;
                instance.set_joint_overrides(rig, turns)?;
                Ok(CpuFrame::of(orl_deform(rig.mesh(), instance.pose())))
            })
        }
        Device::Gpu(gpu) => {
            let backend = orl_backend(&gpu.context(), rig, instances(inputs), inputs.normals)?;
            on_gpu(gpu, backend, inputs)
        }
    }
}

/// Every frame of a glTF file, in world space.
///
/// Normals are the file's, morphed and turned with the skin; of a file without, its triangles'.
pub fn gltf(
    device: &Device,
    model: &Arc<GltfModel>,
    skinning: Skinning,
    inputs: &Inputs,
) -> Result<PosedFrames, Failure> {
    match device {
        Device::Cpu => {
            let mut pose = GltfPose::new(model, OutputSpace::World).with_skinning(skinning);
            on_cpu(inputs, &model.mesh().render().triangles, |controls, turns| {
                pose.set_controls(model, controls)?;
                pose.set_joint_overrides(model, turns)?;
                let normals = inputs.normals.then(|| gltf_morph_normals(model.mesh(), &pose)).flatten();
                Ok(CpuFrame { positions: gltf_morph(model.mesh(), &pose), normals })
            })
        }
        Device::Gpu(gpu) => {
            let backend = gltf_backend(&gpu.context(), model, skinning, instances(inputs), inputs.normals)?;
            on_gpu(gpu, backend, inputs)
        }
    }
}

/// A rig on a device.
pub type Backend = Box<dyn RigBackend>;

/// A GNM head on a device.
pub fn gnm_backend(
    gpu: &GpuContext,
    pack: &Arc<GnmPack>,
    stage: Stage,
    instances: usize,
    normals: bool,
) -> Result<Backend, Failure> {
    let options = GnmOptions { normals, stage, ..GnmOptions::default() };
    let model = Arc::new(GnmDeviceModel::new(gpu, Arc::clone(pack))?);
    Ok(Box::new(GnmBackend::new(gpu, &model, instances, options)?))
}

/// A MetaHuman rig on a device.
pub fn orl_backend(gpu: &GpuContext, rig: &Arc<OrlRig>, instances: usize, normals: bool) -> Result<Backend, Failure> {
    let options = OrlOptions { normals, ..OrlOptions::default() };
    let model = Arc::new(OrlDeviceModel::new(gpu, Arc::clone(rig))?);
    Ok(Box::new(OrlBackend::new(gpu, &model, instances, options)?))
}

/// A glTF file on a device, in world space.
pub fn gltf_backend(
    gpu: &GpuContext,
    model: &Arc<GltfModel>,
    skinning: Skinning,
    instances: usize,
    normals: bool,
) -> Result<Backend, Failure> {
    let options = GltfOptions { normals, skinning, ..GltfOptions::default() };
    let model = Arc::new(GltfDeviceModel::new(gpu, Arc::clone(model))?);
    Ok(Box::new(GltfBackend::new(gpu, &model, instances, options)?))
}

/// What a CPU twin gives.
struct CpuFrame {
    /// (V, 3).
    positions: Vec<[f32; 3]>,
    /// (V, 3), where the rig has normals of its own; otherwise they are made from its triangles.
    normals: Option<Vec<[f32; 3]>>,
}

impl CpuFrame {
    fn of(positions: Vec<[f32; 3]>) -> CpuFrame {
        CpuFrame { positions, normals: None }
    }
}

/// One frame after another.
fn on_cpu(
    inputs: &Inputs,
    triangles: &[[u32; 3]],
    mut evaluate: impl FnMut(&[f32], &[JointOverride]) -> Result<CpuFrame, ControlError>,
) -> Result<PosedFrames, Failure> {
    let bar = progress::bar("evaluating on the CPU", inputs.frame_count);
    let mut incidence = None;
    let mut frames = PosedFrames::new(inputs);
    for frame in 0..inputs.frame_count {
        let start = Instant::now();
        let CpuFrame { positions, normals: own } =
            evaluate(inputs.frame(frame), &inputs.turns(frame)).map_err(in_frame(frame))?;
        let of_triangles = || {
            let incidence = incidence.get_or_insert_with(|| Incidence::new(triangles, positions.len()));
            normals(&positions, triangles, incidence)
        };
        let normals = inputs.normals.then(|| own.unwrap_or_else(of_triangles));
        frames.spent(start.elapsed(), 1);
        frames.reserve(inputs, positions.len())?;
        frames.positions.extend(positions.as_flattened());
        if let (Some(all), Some(normals)) = (&mut frames.normals, normals) {
            all.extend(normals.as_flattened());
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(frames)
}

/// Several frames at once, one for each instance; a last incomplete batch repeats its last frame.
fn instances(inputs: &Inputs) -> usize {
    inputs.frame_count.clamp(1, 8)
}

/// Frames in batches of as many as the backend has instances.
fn on_gpu(gpu: &Headless, mut backend: Backend, inputs: &Inputs) -> Result<PosedFrames, Failure> {
    let bar = progress::bar("evaluating on the GPU", inputs.frame_count);
    let (instances, floats) = (backend.info().instance_count, backend.info().vertex_count * 3);
    let mut frames = PosedFrames::new(inputs);
    frames.reserve(inputs, floats / 3)?;
    for first in (0..inputs.frame_count).step_by(instances) {
        let used = instances.min(inputs.frame_count - first);
        let start = Instant::now();
        for instance in 0..instances {
            let frame = first + instance.min(used - 1);
            backend.set_controls(instance, inputs.frame(frame)).map_err(in_frame(frame))?;
            backend.set_joint_overrides(instance, &inputs.turns(frame)).map_err(in_frame(frame))?;
        }
        let mut encoder = gpu.encoder();
        backend.encode(gpu.queue(), &mut encoder);
        gpu.submit(encoder)?;
        gpu.wait()?;
        frames.spent(start.elapsed(), used);
        let view = backend.vertices();
        frames.positions.extend(&gpu.read_f32(view.current_positions())?[..used * floats]);
        if let (Some(all), Some(buffer)) = (&mut frames.normals, view.normals) {
            all.extend(&gpu.read_f32(buffer)?[..used * floats]);
        }
        bar.inc(used as u64);
    }
    bar.finish_and_clear();
    Ok(frames)
}

impl PosedFrames {
    fn new(inputs: &Inputs) -> PosedFrames {
        let normals = inputs.normals.then(Vec::new);
        PosedFrames { positions: Vec::new(), normals, time: Duration::ZERO, frame_ms: Vec::new() }
    }

    /// Room for every frame: one that there is no memory for is found before the work, not in the middle of it.
    fn reserve(&mut self, inputs: &Inputs, vertices: usize) -> Result<(), Failure> {
        let floats = inputs.frame_count.saturating_mul(vertices * 3);
        let all = [Some(&mut self.positions), self.normals.as_mut()];
        let held = all.into_iter().flatten().try_for_each(|list| list.try_reserve(floats - list.len().min(floats)));
        held.map_err(|_| {
            let (frames, bytes) = (inputs.frame_count, size(floats.saturating_mul(4)));
            Failure::new(format!("{frames} frames of {vertices} vertices take {bytes}: more than there is memory for"))
        })
    }

    fn spent(&mut self, time: Duration, frames: usize) {
        self.time += time;
        self.frame_ms.extend(std::iter::repeat_n(time.as_secs_f64() * 1e3 / frames as f64, frames));
    }
}

/// A refusal with its frame.
pub fn in_frame(frame: usize) -> impl Fn(ControlError) -> Failure {
    move |error| Failure::new(format!("frame {frame}: {error}"))
}
