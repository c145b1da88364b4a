//! The GPU backend: N instances of one head, posed by one dispatch.

mod model;
mod plan;
mod tiles;

pub use model::{GnmDeviceModel, GnmParams, WORKGROUP_BYTES, WORKGROUP_SIZE};
pub use plan::GnmSizes;

use super::bounds::GnmBounds;
use super::pose::{GnmPose, Stage};
use crate::backend::{RigBackend, VertexView};
use crate::error::{BackendError, ControlError};
use crate::gpu::skinning::{self, SkinRows};
use crate::gpu::vertices::PosedVertices;
use crate::gpu::{GpuContext, bind_group, storage_buffer, uniform_buffer};
use crate::info::{JointId, RigInfo, RigKind, RigMesh};
use crate::math::Aabb;
use crate::normals::{Incidence, normals};
use crate::skeleton::JointOverride;
use glam::Affine3A;
use rayon::prelude::*;
use std::sync::Arc;
use tiles::{TileShape, Tiles};

/// What a backend object computes beside positions; by default nothing, up to `Stage::Pose`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GnmOptions {
    /// Vertex normals, by a second dispatch.
    pub normals: bool,
    /// The last frame's positions, in a second buffer.
    pub previous_positions: bool,
    /// How far to go. `Forward` gives head-local vertices before seam and skinning, for checks; a renderer wants `Pose`.
    pub stage: Stage,
}

impl Default for GnmOptions {
    fn default() -> GnmOptions {
        GnmOptions { normals: false, previous_positions: false, stage: Stage::Pose }
    }
}

/// What `encode` has sent to the device so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GnmCounters {
    /// Tiles of coefficients and eyes that were uploaded.
    pub coefficient_tiles: u64,
    /// Their bytes.
    pub coefficient_bytes: u64,
    /// Instances whose skin rows were uploaded.
    pub skin_row_instances: u64,
    /// Their bytes.
    pub skin_row_bytes: u64,
    /// Compute dispatches that were recorded.
    pub dispatches: u64,
}

/// N instances of one GNM head on the GPU.
///
/// # Accuracy
/// Positions: within 1e-6 * max(1, largest coordinate) of `gnm::cpu::gnm_blend`, in the pack's unit. Normals: f32 of the positions; the normal
/// of a sliver keeps few digits on any device.
#[derive(Debug)]
pub struct GnmBackend {
    model: Arc<GnmDeviceModel>,
    info: RigInfo,
    bounds: Arc<GnmBounds>,
    options: GnmOptions,
    poses: Vec<GnmPose>,
    tiles: Tiles,
    tile_buffer: wgpu::Buffer,
    skin_rows: SkinRows,
    vertices: PosedVertices,
    groups: Vec<wgpu::BindGroup>,
    pipeline: wgpu::ComputePipeline,
    counters: GnmCounters,
}

impl GnmBackend {
    /// Makes N instances at rest; the rest mesh is in the position buffers, and its normals in theirs.
    ///
    /// # Errors
    /// `Limit` for the device limit that would be broken, found before anything is made on the device; `NoInstances`; `NoFaces` for normals of
    /// a lean pack.
    pub fn new(
        gpu: &GpuContext,
        model: &Arc<GnmDeviceModel>,
        instances: usize,
        options: GnmOptions,
    ) -> Result<GnmBackend, BackendError> {
        let pack = &model.pack;
        if instances == 0 {
            return Err(BackendError::NoInstances);
        }
        if options.normals && pack.faces().is_empty() {
            return Err(BackendError::NoFaces);
        }
        model.sizes.check(instances, &options, &gpu.device.limits())?;

        let rest_pose = GnmPose::new(pack);
        let rest = match options.stage {
            Stage::Pose => pack.rest_positions(),
            Stage::Forward => pack.neutral().to_vec(),
        };
        let mut vertices = PosedVertices::new(gpu, "rigeval.gnm_blend", &rest, instances, options.previous_positions);
        if options.normals {
            let rest_normals = normals(&rest, pack.faces(), &Incidence::new(pack.faces(), pack.vertex_count()));
            vertices = vertices.with_normals(gpu, model.normals(gpu), &rest_normals);
        }

        let shape = TileShape::new(instances, pack.coefficient_count());
        let poses = vec![rest_pose; instances];
        let mut tiles = Tiles::new(shape);
        let tile_buffer = rest_tiles(gpu, &mut tiles, &poses);
        let params = uniform_buffer(gpu, "rigeval.gnm_blend.params", &params(model, &shape));
        let group = |out| {
            let m = model;
            let buffers = [&m.slots, &m.basis, &m.block_table, &tile_buffer, out, &params];
            bind_group(gpu.device, "rigeval.gnm_blend", &m.layout, &buffers)
        };
        Ok(GnmBackend {
            info: info(model, instances, options.stage),
            bounds: Arc::clone(model.bounds(options.stage)),
            groups: vertices.positions().iter().map(group).collect(),
            pipeline: model.pipeline(gpu.device, shape.tile_size, options.stage).clone(),
            skin_rows: SkinRows::new(gpu, &model.influences, poses[0].skin_rows(), instances),
            model: Arc::clone(model),
            options,
            poses,
            tiles,
            tile_buffer,
            vertices,
            counters: GnmCounters::default(),
        })
    }

    /// What `encode` has sent to the device so far.
    #[must_use]
    pub fn counters(&self) -> GnmCounters {
        self.counters
    }

    /// What this object was made with.
    #[must_use]
    pub fn options(&self) -> GnmOptions {
        self.options
    }

    /// The pack's data on the device.
    #[must_use]
    pub fn model(&self) -> &Arc<GnmDeviceModel> {
        &self.model
    }

    /// Bytes on the device that belong to this object alone.
    #[must_use]
    pub fn device_bytes(&self) -> u64 {
        self.vertices.size() + self.tile_buffer.size() + self.skin_rows.size()
    }

    #[track_caller]
    fn check_instance(&self, instance: usize) {
        let count = self.poses.len();
        assert!(instance < count, "instance {instance} of a backend with {count} instances");
    }

    fn upload_coefficients(&mut self, queue: &wgpu::Queue) {
        let tile_bytes = 16 * self.tiles.shape().stride() as u64;
        let (buffer, counters) = (&self.tile_buffer, &mut self.counters);
        self.tiles.take_dirty(&self.poses, |tile, words| {
            queue.write_buffer(buffer, tile as u64 * tile_bytes, bytemuck::cast_slice(words));
            counters.coefficient_tiles += 1;
            counters.coefficient_bytes += 4 * words.len() as u64;
        });
    }

    fn upload_skin_rows(&mut self, queue: &wgpu::Queue) {
        let sent = self.skin_rows.upload(queue);
        self.counters.skin_row_instances += sent.items;
        self.counters.skin_row_bytes += sent.bytes;
    }

    fn record(&mut self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("rigeval.gnm_blend"),
            timestamp_writes: None,
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.groups[self.vertices.current()], &[]);
        pass.set_bind_group(skinning::GROUP, self.skin_rows.group(), &[]);
        pass.dispatch_workgroups(self.model.block_count, self.tiles.shape().tile_count() as u32, 1);
        drop(pass);
        self.counters.dispatches += 1;
        let with_normals = self.vertices.encode_normals(self.model.normals_stage(), encoder);
        self.counters.dispatches += u64::from(with_normals);
    }
}

impl RigBackend for GnmBackend {
    fn info(&self) -> &RigInfo {
        &self.info
    }

    fn mesh(&self) -> &RigMesh {
        &self.model.mesh
    }

    fn set_controls(&mut self, instance: usize, controls: &[f32]) -> Result<bool, ControlError> {
        self.check_instance(instance);
        let pose = &mut self.poses[instance];
        let changed = pose.set_controls(&self.model.pack, controls)?;
        if changed {
            self.tiles.mark(instance, pose);
        }
        Ok(changed)
    }

    fn set_controls_all(&mut self, controls: &[f32]) -> Result<bool, ControlError> {
        /// Below this many instances a thread costs more than it saves.
        const PER_THREAD: usize = 8;
        let (pack, width) = (&self.model.pack, self.info.control_names.len());
        ControlError::check("controls", controls, width * self.poses.len())?;
        let vectors = || controls.par_chunks_exact(width);
        // Before anything is set: all of them, or none.
        vectors().try_for_each(|c| GnmPose::check(pack, c))?;
        let set = self.poses.par_iter_mut().zip(vectors()).with_min_len(PER_THREAD);
        let changed: Vec<bool> = set.map(|(pose, c)| pose.set_controls(pack, c)).collect::<Result<_, _>>()?;
        for (instance, _) in changed.iter().enumerate().filter(|(_, changed)| **changed) {
            self.tiles.mark(instance, &self.poses[instance]);
        }
        Ok(changed.contains(&true))
    }

    fn set_joint_overrides(&mut self, instance: usize, overrides: &[JointOverride]) -> Result<bool, ControlError> {
        self.check_instance(instance);
        let changed = self.poses[instance].set_joint_overrides(&self.model.pack, overrides)?;
        if changed {
            self.skin_rows.set(instance, self.poses[instance].skin_rows());
        }
        Ok(changed)
    }

    fn set_joint_worlds(&mut self, instance: usize, worlds: &[(JointId, Affine3A)]) -> Result<bool, ControlError> {
        self.check_instance(instance);
        let changed = self.poses[instance].set_joint_worlds(&self.model.pack, worlds)?;
        if changed {
            self.skin_rows.set(instance, self.poses[instance].skin_rows());
        }
        Ok(changed)
    }

    fn encode(&mut self, queue: &wgpu::Queue, encoder: &mut wgpu::CommandEncoder) {
        let changed = self.tiles.any_dirty() || self.skin_rows.is_dirty();
        self.vertices.next_frame(changed);
        if changed {
            self.upload_coefficients(queue);
            self.upload_skin_rows(queue);
            self.record(encoder);
        }
    }

    fn vertices(&self) -> VertexView<'_> {
        self.vertices.view()
    }

    fn bounds(&self, instance: usize) -> Aabb {
        self.check_instance(instance);
        self.bounds.bounds(&self.poses[instance])
    }
}

/// The coefficients of all instances at rest, on the device.
fn rest_tiles(gpu: &GpuContext, tiles: &mut Tiles, poses: &[GnmPose]) -> wgpu::Buffer {
    let shape = tiles.shape();
    let mut words = vec![0u32; 4 * shape.stride() * shape.tile_count()];
    for (tile, out) in words.chunks_exact_mut(4 * shape.stride()).enumerate() {
        let packed = tiles.pack(tile, poses);
        out[..packed.len()].copy_from_slice(packed);
    }
    storage_buffer(gpu, "rigeval.gnm_blend.tiles", &words)
}

fn params(model: &GnmDeviceModel, shape: &TileShape) -> GnmParams {
    let [left_eye, right_eye] = model.pack.eye_positions().map(|[x, y, z]| [x, y, z, 0.0]);
    GnmParams {
        vertex_count: model.pack.vertex_count() as u32,
        instance_count: shape.instance_count as u32,
        group_count: shape.group_count() as u32,
        tile_stride: shape.stride() as u32,
        left_eye,
        right_eye,
    }
}

fn info(model: &GnmDeviceModel, instances: usize, stage: Stage) -> RigInfo {
    let pack = &model.pack;
    let control_names = pack.control_names();
    RigInfo {
        kind: RigKind::Gnm,
        units: pack.units(),
        vertex_count: pack.vertex_count(),
        instance_count: instances,
        default_controls: vec![0.0; control_names.len()],
        control_names,
        joint_names: pack.skeleton().names().to_vec(),
        rest_bounds: match stage {
            Stage::Pose => pack.rest_bounds(),
            Stage::Forward => Aabb::of_points(pack.neutral().iter().copied()),
        },
    }
}
