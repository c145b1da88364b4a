//! The GPU backend: N instances of one character, all its meshes posed by one dispatch.

mod model;
mod plan;

pub use model::{OrlDeviceModel, OrlParams};
pub use plan::OrlSizes;

use super::instance::OrlInstance;
use crate::backend::{RigBackend, VertexView};
use crate::error::{BackendError, ControlError};
use crate::gpu::skinning::{self, SkinRows};
use crate::gpu::sparse::{self, SparseWeights, WeightShape};
use crate::gpu::vertices::PosedVertices;
use crate::gpu::{GpuContext, bind_group, uniform_buffer};
use crate::info::{JointId, RigInfo, RigKind, RigMesh};
use crate::math::Aabb;
use crate::normals::{Incidence, normals};
use crate::skeleton::JointOverride;
use glam::Affine3A;
use rayon::prelude::*;
use std::sync::Arc;

/// What a backend object computes beside positions; by default nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrlOptions {
    /// Vertex normals, by a second dispatch.
    pub normals: bool,
    /// The last frame's positions, in a second buffer.
    pub previous_positions: bool,
}

/// What `encode` has sent to the device so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrlCounters {
    /// Tiles of weights that were uploaded.
    pub weight_tiles: u64,
    /// Their bytes.
    pub weight_bytes: u64,
    /// Instances whose skin rows were uploaded.
    pub skin_row_instances: u64,
    /// Their bytes.
    pub skin_row_bytes: u64,
    /// Compute dispatches that were recorded.
    pub dispatches: u64,
}

/// N instances of one MetaHuman character on the GPU.
///
/// # Accuracy
/// Positions: within 1e-6 * max(1, largest coordinate) + 1e-4 of `orl::cpu::orl_deform` on the same packed deltas, in the rig's unit.
/// Normals: f32 of the positions; the normal of a sliver keeps few digits on any device.
#[derive(Debug)]
pub struct OrlBackend {
    model: Arc<OrlDeviceModel>,
    info: RigInfo,
    options: OrlOptions,
    instances: Vec<OrlInstance>,
    weights: SparseWeights,
    skin_rows: SkinRows,
    vertices: PosedVertices,
    groups: Vec<wgpu::BindGroup>,
    pipeline: wgpu::ComputePipeline,
    counters: OrlCounters,
}

impl OrlBackend {
    /// Makes N instances at the default controls; the rest mesh is in the position buffers, and its normals in theirs.
    ///
    /// # Errors
    /// `Limit` for the device limit that would be broken, found before anything is made on the device; `NoInstances`; `NoFaces` for normals of
    /// a rig without triangles.
    pub fn new(
        gpu: &GpuContext,
        model: &Arc<OrlDeviceModel>,
        instances: usize,
        options: OrlOptions,
    ) -> Result<OrlBackend, BackendError> {
        let rig = &*model.rig;
        let faces = &rig.mesh().mesh().triangles;
        if instances == 0 {
            return Err(BackendError::NoInstances);
        }
        if options.normals && faces.is_empty() {
            return Err(BackendError::NoFaces);
        }
        model.sizes.check(instances, &options, &gpu.device.limits())?;

        let rest = rig.rest_positions();
        let mut vertices = PosedVertices::new(gpu, "rigeval.orl_deform", rest, instances, options.previous_positions);
        if options.normals {
            let rest_normals = normals(rest, faces, &Incidence::new(faces, rest.len()));
            vertices = vertices.with_normals(gpu, model.normals(gpu), &rest_normals);
        }

        let shape = WeightShape::new(instances, model.sizes.target_count);
        let params = OrlParams {
            vertex_count: rest.len() as u32,
            instance_count: instances as u32,
            reserved_0: 0,
            reserved_1: 0,
        };
        let params = uniform_buffer(gpu, "rigeval.orl_deform.params", &params);
        let group = |out| bind_group(gpu.device, "rigeval.orl_deform", &model.layout, &[&model.neutral, out, &params]);
        Ok(OrlBackend {
            info: info(model, instances),
            groups: vertices.positions().iter().map(group).collect(),
            pipeline: model.pipeline(gpu.device, &shape).clone(),
            weights: SparseWeights::new(gpu, &model.deltas, shape, rig.rest().coefficients()),
            skin_rows: SkinRows::new(gpu, &model.influences, rig.rest().pose().skin_rows(), instances),
            instances: vec![rig.rest().clone(); instances],
            model: Arc::clone(model),
            options,
            vertices,
            counters: OrlCounters::default(),
        })
    }

    /// Replaces the raw controls that are set on top of one instance's mapped ones, and says whether anything changed; see
    /// [`OrlInstance::set_raw`].
    ///
    /// # Errors
    /// `RawControl`, `NotFinite`.
    pub fn set_raw(&mut self, instance: usize, raw: &[(usize, f32)]) -> Result<bool, ControlError> {
        self.check_instance(instance);
        let changed = self.instances[instance].set_raw(&self.model.rig, raw)?;
        Ok(self.note_solved(instance, changed))
    }

    /// Switches the regions of ML networks of one instance, and says whether anything changed; see [`OrlInstance::set_masks`].
    ///
    /// # Errors
    /// `Length`, `NotFinite`.
    pub fn set_masks(&mut self, instance: usize, masks: &[f32]) -> Result<bool, ControlError> {
        self.check_instance(instance);
        let changed = self.instances[instance].set_masks(&self.model.rig, masks)?;
        Ok(self.note_solved(instance, changed))
    }

    /// What `encode` has sent to the device so far.
    #[must_use]
    pub fn counters(&self) -> OrlCounters {
        self.counters
    }

    /// What this object was made with.
    #[must_use]
    pub fn options(&self) -> OrlOptions {
        self.options
    }

    /// The character's data on the device.
    #[must_use]
    pub fn model(&self) -> &Arc<OrlDeviceModel> {
        &self.model
    }

    /// One instance as it was last solved.
    #[must_use]
    pub fn instance(&self, instance: usize) -> &OrlInstance {
        self.check_instance(instance);
        &self.instances[instance]
    }

    /// Bytes on the device that belong to this object alone.
    #[must_use]
    pub fn device_bytes(&self) -> u64 {
        self.vertices.size() + self.weights.size() + self.skin_rows.size()
    }

    #[track_caller]
    fn check_instance(&self, instance: usize) {
        let count = self.instances.len();
        assert!(instance < count, "instance {instance} of a backend with {count} instances");
    }

    /// Takes an instance that was solved again to the device's side, and hands on whether it moved.
    fn note_solved(&mut self, instance: usize, changed: bool) -> bool {
        if changed {
            self.weights.set(instance, self.instances[instance].coefficients());
            self.skin_rows.set(instance, self.instances[instance].pose().skin_rows());
        }
        changed
    }

    fn upload(&mut self, queue: &wgpu::Queue) {
        let tiles = self.weights.upload(queue);
        self.counters.weight_tiles += tiles.items;
        self.counters.weight_bytes += tiles.bytes;
        let rows = self.skin_rows.upload(queue);
        self.counters.skin_row_instances += rows.items;
        self.counters.skin_row_bytes += rows.bytes;
    }

    fn record(&mut self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("rigeval.orl_deform"),
            timestamp_writes: None,
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.groups[self.vertices.current()], &[]);
        pass.set_bind_group(skinning::GROUP, self.skin_rows.group(), &[]);
        pass.set_bind_group(sparse::GROUP, self.weights.group(), &[]);
        pass.dispatch_workgroups(self.model.deltas.slice_count(), self.weights.shape().tile_count() as u32, 1);
        drop(pass);
        self.counters.dispatches += 1;
        let with_normals = self.vertices.encode_normals(self.model.normals_stage(), encoder);
        self.counters.dispatches += u64::from(with_normals);
    }
}

impl RigBackend for OrlBackend {
    fn info(&self) -> &RigInfo {
        &self.info
    }

    fn mesh(&self) -> &RigMesh {
        self.model.rig.mesh().mesh()
    }

    fn set_controls(&mut self, instance: usize, controls: &[f32]) -> Result<bool, ControlError> {
        self.check_instance(instance);
        let changed = self.instances[instance].set_controls(&self.model.rig, controls)?;
        Ok(self.note_solved(instance, changed))
    }

    fn set_controls_all(&mut self, controls: &[f32]) -> Result<bool, ControlError> {
        let (rig, width) = (&*self.model.rig, self.info.control_names.len());
        ControlError::check("controls", controls, width * self.instances.len())?;
        let solve = |(instance, c): (&mut OrlInstance, &[f32])| {
            let before = instance.controls().to_vec();
            (instance.set_controls(rig, c), before)
        };
        // A rig without controls has nothing to solve, and chunks of no width do not exist.
        let vectors = controls.par_chunks_exact(width.max(1));
        let solved: Vec<_> = self.instances.par_iter_mut().zip(vectors).map(solve).collect();
        if let Some(error) = solved.iter().find_map(|(result, _)| result.as_ref().err()) {
            for (instance, (_, before)) in self.instances.iter_mut().zip(&solved) {
                instance.set_controls(rig, before).expect("controls that were accepted before");
            }
            return Err(error.clone());
        }
        let mut any = false;
        for (instance, (result, _)) in solved.into_iter().enumerate() {
            any |= self.note_solved(instance, result == Ok(true));
        }
        Ok(any)
    }

    fn set_joint_overrides(&mut self, instance: usize, overrides: &[JointOverride]) -> Result<bool, ControlError> {
        self.check_instance(instance);
        let changed = self.instances[instance].set_joint_overrides(&self.model.rig, overrides)?;
        if changed {
            self.skin_rows.set(instance, self.instances[instance].pose().skin_rows());
        }
        Ok(changed)
    }

    fn set_joint_worlds(&mut self, instance: usize, worlds: &[(JointId, Affine3A)]) -> Result<bool, ControlError> {
        self.check_instance(instance);
        let changed = self.instances[instance].set_joint_worlds(&self.model.rig, worlds)?;
        if changed {
            self.skin_rows.set(instance, self.instances[instance].pose().skin_rows());
        }
        Ok(changed)
    }

    fn encode(&mut self, queue: &wgpu::Queue, encoder: &mut wgpu::CommandEncoder) {
        let changed = self.weights.is_dirty() || self.skin_rows.is_dirty();
        self.vertices.next_frame(changed);
        if changed {
            self.upload(queue);
            self.record(encoder);
        }
    }

    fn vertices(&self) -> VertexView<'_> {
        self.vertices.view()
    }

    fn bounds(&self, instance: usize) -> Aabb {
        self.check_instance(instance);
        let posed = &self.instances[instance];
        self.model.rig.bounds().bounds(posed.coefficients(), posed.pose().skin_rows())
    }
}

fn info(model: &OrlDeviceModel, instances: usize) -> RigInfo {
    let rig = &*model.rig;
    RigInfo {
        kind: RigKind::Orl,
        units: rig.units(),
        vertex_count: rig.mesh().vertex_count(),
        instance_count: instances,
        default_controls: rig.default_controls().to_vec(),
        control_names: rig.controls().names().to_vec(),
        joint_names: rig.model().skeleton().names().to_vec(),
        rest_bounds: rig.rest_bounds(),
    }
}
