//! Frames of a rig on the device that was chosen: what `eval`, `check` and `demo` share.

use crate::device::Device;
use crate::failure::Failure;
use crate::progress;
use rayon::prelude::*;
use rigeval::error::ControlError;
use rigeval::frames::Overrides;
use rigeval::gnm::cpu::gnm_blend;
use rigeval::gnm::gpu::{GnmBackend, GnmDeviceModel, GnmOptions};
use rigeval::gnm::model::{Correctives, GnmModel};
use rigeval::gnm::pack::GnmPack;
use rigeval::gnm::pose::{GnmPose, Stage};
use rigeval::gpu::headless::Headless;
use rigeval::normals::{Incidence, normals};
use rigeval::skeleton::JointOverride;
use rigeval::{backend::RigBackend, math};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What drives a pack.
pub struct PackInputs<'a> {
    /// (F, C).
    pub controls: &'a [f32],
    /// F.
    pub frame_count: usize,
    /// Joint overrides.
    pub overrides: Option<&'a Overrides>,
    /// How far to go.
    pub stage: Stage,
    /// Whether normals are wanted.
    pub normals: bool,
}

impl PackInputs<'_> {
    fn frame(&self, frame: usize) -> &[f32] {
        let width = self.controls.len() / self.frame_count.max(1);
        &self.controls[frame * width..][..width]
    }
}

/// One frame of the overrides, as rigs take them.
pub fn joint_overrides(overrides: Option<&Overrides>, frame: usize) -> Vec<JointOverride<'_>> {
    let turns = overrides.map(|o| o.frame(frame)).unwrap_or_default();
    let turn = |(joint, q)| JointOverride { joint, rotation: math::quat_from_wxyz(q).as_quat() };
    turns.into_iter().map(turn).collect()
}

/// What comes out of a pack.
pub struct PackFrames {
    /// (F, V, 3).
    pub positions: Vec<f32>,
    /// (F, V, 3).
    pub normals: Option<Vec<f32>>,
    /// Evaluation alone: without loading, without reading back.
    pub time: Duration,
}

/// Every frame of a pack.
pub fn pack(device: &Device, pack: &Arc<GnmPack>, inputs: &PackInputs) -> Result<PackFrames, Failure> {
    match device {
        Device::Cpu => pack_on_cpu(pack, inputs),
        Device::Gpu(gpu) => pack_on_gpu(gpu, pack, inputs),
    }
}

fn pack_on_cpu(pack: &GnmPack, inputs: &PackInputs) -> Result<PackFrames, Failure> {
    let bar = progress::bar("evaluating on the CPU", inputs.frame_count);
    let incidence = inputs.normals.then(|| Incidence::new(pack.faces(), pack.vertex_count()));
    let mut pose = GnmPose::new(pack);
    let mut frames = PackFrames { positions: Vec::new(), normals: inputs.normals.then(Vec::new), time: Duration::ZERO };
    for frame in 0..inputs.frame_count {
        let start = Instant::now();
        pose.set_controls(pack, inputs.frame(frame)).map_err(in_frame(frame))?;
        pose.set_joint_overrides(pack, &joint_overrides(inputs.overrides, frame)).map_err(in_frame(frame))?;
        let positions = gnm_blend(pack, &pose, inputs.stage);
        let normals = incidence.as_ref().map(|i| normals(&positions, pack.faces(), i));
        frames.time += start.elapsed();
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
const INSTANCES: usize = 8;

fn pack_on_gpu(gpu: &Headless, pack: &Arc<GnmPack>, inputs: &PackInputs) -> Result<PackFrames, Failure> {
    let bar = progress::bar("evaluating on the GPU", inputs.frame_count);
    let instances = inputs.frame_count.clamp(1, INSTANCES);
    let options = GnmOptions { normals: inputs.normals, stage: inputs.stage, ..GnmOptions::default() };
    let model = Arc::new(GnmDeviceModel::new(&gpu.context(), Arc::clone(pack))?);
    let mut backend = GnmBackend::new(&gpu.context(), &model, instances, options)?;
    let floats = pack.vertex_count() * 3;
    let mut frames = PackFrames { positions: Vec::new(), normals: inputs.normals.then(Vec::new), time: Duration::ZERO };
    for first in (0..inputs.frame_count).step_by(instances) {
        let used = instances.min(inputs.frame_count - first);
        let start = Instant::now();
        for instance in 0..instances {
            let frame = first + instance.min(used - 1);
            backend.set_controls(instance, inputs.frame(frame)).map_err(in_frame(frame))?;
            backend
                .set_joint_overrides(instance, &joint_overrides(inputs.overrides, frame))
                .map_err(in_frame(frame))?;
        }
        let mut encoder = gpu.encoder();
        backend.encode(gpu.queue(), &mut encoder);
        gpu.submit(encoder)?;
        gpu.wait()?;
        frames.time += start.elapsed();
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

fn in_frame(frame: usize) -> impl Fn(ControlError) -> Failure {
    move |error| Failure::new(format!("frame {frame}: {error}"))
}

/// What drives the original formula; each input has F frames or one for all.
#[derive(Default)]
pub struct ModelInputs {
    /// F.
    pub frame_count: usize,
    /// (F or 1, I).
    pub identity: Vec<f64>,
    /// (F or 1, E).
    pub expression: Vec<f64>,
    /// (F or 1, J, 3).
    pub rotations: Vec<f64>,
    /// (F or 1, 3).
    pub translation: Vec<f64>,
}

/// What comes out of the original formula.
pub struct ModelFrames {
    /// (F, V, 3).
    pub positions: Vec<f64>,
    /// (F, J, 4, 4), row-major.
    pub joints: Vec<f64>,
    /// (F, V, 3), where wanted.
    pub normals: Option<Vec<f32>>,
    /// Evaluation alone.
    pub time: Duration,
}

/// Every frame of the original formula, on the CPU.
pub fn model(
    model: &GnmModel,
    inputs: &ModelInputs,
    correctives: Correctives,
    with_normals: bool,
) -> Result<ModelFrames, Failure> {
    let bar = progress::bar("evaluating on the CPU", inputs.frame_count);
    let start = Instant::now();
    let (identities, expressions) = (model.identity_names.len(), model.expression_names.len());
    let joints = model.joint_names.len();
    let evaluate = |frame: usize| {
        let rotations = row(&inputs.rotations, frame, joints * 3).as_chunks::<3>().0;
        let t = row(&inputs.translation, frame, 3);
        let evaluated = model.evaluate(
            row(&inputs.identity, frame, identities),
            row(&inputs.expression, frame, expressions),
            rotations,
            [t[0], t[1], t[2]],
            correctives,
        );
        bar.inc(1);
        evaluated.map_err(in_frame(frame))
    };
    let evaluated: Vec<_> = (0..inputs.frame_count).into_par_iter().map(evaluate).collect::<Result<_, _>>()?;
    let incidence = with_normals.then(|| Incidence::new(&model.triangles, model.template.len()));
    let normals = incidence.map(|incidence| {
        let narrow = |p: &[f64; 3]| p.map(|x| x as f32);
        let of_frame = |positions: &[[f64; 3]]| {
            let positions: Vec<[f32; 3]> = positions.iter().map(narrow).collect();
            normals(&positions, &model.triangles, &incidence).into_flattened()
        };
        evaluated.par_iter().flat_map_iter(|frame| of_frame(&frame.positions)).collect()
    });
    let time = start.elapsed();
    bar.finish_and_clear();
    Ok(ModelFrames {
        positions: evaluated.iter().flat_map(|frame| frame.positions.as_flattened()).copied().collect(),
        joints: evaluated.iter().flat_map(|f| &f.joint_worlds).flat_map(math::row_major_from_affine).collect(),
        normals,
        time,
    })
}

/// One frame of an input; a single one serves all.
fn row(values: &[f64], frame: usize, width: usize) -> &[f64] {
    let first = if values.len() == width { 0 } else { frame * width };
    &values[first..][..width]
}
