//! The GPU backend: N instances of one file, all its primitives posed by one dispatch for each attribute.

mod model;
mod plan;

pub use model::{GltfDeviceModel, GltfParams};
pub use plan::{AttributeSizes, GltfSizes};

use super::pose::{GltfPose, OutputSpace};
use crate::backend::{RigBackend, VertexSpace, VertexView};
use crate::error::{BackendError, ControlError};
use crate::gpu::skinning::{self, SkinRows};
use crate::gpu::sparse::{self, SparseWeights, WeightShape};
use crate::gpu::vertices::PosedVertices;
use crate::gpu::{GpuContext, bind_group, uniform_buffer};
use crate::info::{JointId, RigInfo, RigMesh};
use crate::lbs::Skinning;
use crate::math::Aabb;
use crate::normals::{Incidence, normals};
use crate::skeleton::JointOverride;
use crate::sparse::TargetWeights;
use glam::Affine3A;
use model::{Attribute, AttributeKind};
use rayon::prelude::*;
use std::sync::Arc;

/// What a backend object computes beside positions, by default nothing, and in which space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GltfOptions {
    /// Vertex normals: the file's, morphed and skinned, zero for parts without; of a file that has none at all they are computed from the
    /// posed triangles.
    pub normals: bool,
    /// Tangents, where the file has any; zero for parts without.
    pub tangents: bool,
    /// The last frame's positions, in a second buffer.
    pub previous_positions: bool,
    /// The space that all of it comes out in.
    pub space: OutputSpace,
    /// How several rows carry a vertex.
    pub skinning: Skinning,
}

/// What `encode` has sent to the device so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GltfCounters {
    /// Tiles of weights that were uploaded, of all attributes.
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

/// N instances of one glTF file on the GPU.
///
/// # Accuracy
/// Positions: within 1e-6 * max(1, largest coordinate) of `gltf::cpu::gltf_morph`, deltas packed as `gltf::packing` says. Normals and
/// tangents: within 1e-4 of its twins, as unit vectors; where a blended skin matrix or a morph leaves next to nothing of a direction, what
/// remains keeps few digits on any device.
#[derive(Debug)]
pub struct GltfBackend {
    model: Arc<GltfDeviceModel>,
    info: RigInfo,
    options: GltfOptions,
    poses: Vec<GltfPose>,
    skin_rows: SkinRows,
    vertices: PosedVertices,
    /// Positions first.
    passes: Vec<Pass>,
    /// Room for the weights of one attribute.
    weighed: TargetWeights,
    counters: GltfCounters,
}

/// The dispatch of one attribute.
#[derive(Debug)]
struct Pass {
    kind: AttributeKind,
    weights: SparseWeights,
    /// By the index of the position buffer; one for all other attributes.
    groups: Vec<wgpu::BindGroup>,
    pipeline: wgpu::ComputePipeline,
    slice_count: u32,
}

impl GltfBackend {
    /// Makes N instances at the file's own transforms and weights; their rest mesh is in every buffer.
    ///
    /// # Errors
    /// `Limit` for the device limit that would be broken, found before anything is made on the device; `NoInstances`; `NoFaces` for normals of
    /// a file that has neither normals nor triangles.
    pub fn new(
        gpu: &GpuContext,
        model: &Arc<GltfDeviceModel>,
        instances: usize,
        options: GltfOptions,
    ) -> Result<GltfBackend, BackendError> {
        let rig = &*model.model;
        let mesh = rig.mesh();
        let computed_normals = options.normals && model.attribute(AttributeKind::Normals).is_none();
        let faces = &mesh.render().triangles;
        if instances == 0 {
            return Err(BackendError::NoInstances);
        }
        if computed_normals && faces.is_empty() {
            return Err(BackendError::NoFaces);
        }
        model.sizes.check(instances, &options, &gpu.device.limits())?;

        let pose = GltfPose::new(rig, options.space).with_skinning(options.skinning);
        let (rest, directions) = rest(model, &pose, &options);
        let space = match options.space {
            OutputSpace::World => VertexSpace::Rig,
            OutputSpace::MeshParent => VertexSpace::MeshParent,
        };
        let (stem, Directions { normals: n, tangents: t }) = ("rigeval.gltf_morph", directions);
        let mut vertices = PosedVertices::new(gpu, stem, &rest, instances, options.previous_positions)
            .with_directions(gpu, stem, n.as_deref(), t.as_deref())
            .in_space(space);
        if computed_normals {
            let rest_normals = normals(&rest, faces, &Incidence::new(faces, rest.len()));
            vertices = vertices.with_normals(gpu, model.normals(gpu), &rest_normals);
        }
        let params = GltfParams {
            vertex_count: rest.len() as u32,
            instance_count: instances as u32,
            reserved_0: 0,
            reserved_1: 0,
        };
        let params = uniform_buffer(gpu, "rigeval.gltf_morph.params", &params);
        let asked = [true, options.normals, options.tangents];
        let kinds = AttributeKind::ALL.into_iter().zip(asked).filter(|(_, asked)| *asked);
        let attributes = kinds.filter_map(|(kind, _)| model.attribute(kind));
        let passes = attributes.map(|attribute| Pass::new(gpu, model, attribute, &pose, &vertices, instances, &params));
        Ok(GltfBackend {
            info: RigInfo { rest_bounds: Aabb::of_points(rest), ..rig.info(instances) },
            passes: passes.collect(),
            skin_rows: SkinRows::new(gpu, &model.influences, pose.skin_rows(), instances),
            poses: vec![pose; instances],
            model: Arc::clone(model),
            options,
            vertices,
            weighed: TargetWeights::default(),
            counters: GltfCounters::default(),
        })
    }

    /// What `encode` has sent to the device so far.
    #[must_use]
    pub fn counters(&self) -> GltfCounters {
        self.counters
    }

    /// What this object was made with.
    #[must_use]
    pub fn options(&self) -> GltfOptions {
        self.options
    }

    /// The file's data on the device.
    #[must_use]
    pub fn model(&self) -> &Arc<GltfDeviceModel> {
        &self.model
    }

    /// One instance as it was last set.
    #[must_use]
    pub fn pose(&self, instance: usize) -> &GltfPose {
        self.check_instance(instance);
        &self.poses[instance]
    }

    /// Bytes on the device that belong to this object alone.
    #[must_use]
    pub fn device_bytes(&self) -> u64 {
        let weights = self.passes.iter().map(|pass| pass.weights.size()).sum::<u64>();
        self.vertices.size() + weights + self.skin_rows.size()
    }

    #[track_caller]
    fn check_instance(&self, instance: usize) {
        let count = self.poses.len();
        assert!(instance < count, "instance {instance} of a backend with {count} instances");
    }

    /// Takes an instance's weights to the device's side; those that it has already are not sent again.
    fn stage_weights(&mut self, instance: usize) {
        let morphs = self.poses[instance].morph_weights();
        for pass in &mut self.passes {
            let attribute = self.model.attribute(pass.kind).expect("an attribute that there is a pass for");
            attribute.rows.weigh_into(morphs, &mut self.weighed);
            pass.weights.set(instance, &self.weighed);
        }
    }

    /// Takes what was set to the device's side.
    fn note_set(&mut self, instance: usize, changed: bool) {
        if changed {
            self.stage_weights(instance);
            self.skin_rows.set(instance, self.poses[instance].skin_rows());
        }
    }

    fn upload(&mut self, queue: &wgpu::Queue) {
        for pass in &mut self.passes {
            let tiles = pass.weights.upload(queue);
            self.counters.weight_tiles += tiles.items;
            self.counters.weight_bytes += tiles.bytes;
        }
        let rows = self.skin_rows.upload(queue);
        self.counters.skin_row_instances += rows.items;
        self.counters.skin_row_bytes += rows.bytes;
    }

    fn record(&mut self, encoder: &mut wgpu::CommandEncoder) {
        let mut compute = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("rigeval.gltf_morph"),
            timestamp_writes: None,
        });
        compute.set_bind_group(skinning::GROUP, self.skin_rows.group(), &[]);
        for pass in &self.passes {
            compute.set_pipeline(&pass.pipeline);
            compute.set_bind_group(0, &pass.groups[self.vertices.current() % pass.groups.len()], &[]);
            compute.set_bind_group(sparse::GROUP, pass.weights.group(), &[]);
            compute.dispatch_workgroups(pass.slice_count, pass.weights.shape().tile_count() as u32, 1);
        }
        drop(compute);
        self.counters.dispatches += self.passes.len() as u64;
        let with_normals = self.vertices.encode_normals(self.model.normals_stage(), encoder);
        self.counters.dispatches += u64::from(with_normals);
    }
}

impl Pass {
    fn new(
        gpu: &GpuContext,
        model: &GltfDeviceModel,
        attribute: &Attribute,
        pose: &GltfPose,
        vertices: &PosedVertices,
        instances: usize,
        params: &wgpu::Buffer,
    ) -> Pass {
        let table = attribute.table(gpu, model.model.mesh());
        let shape = WeightShape::new(instances, attribute.rows.targets().len());
        let group = |out| bind_group(gpu.device, "rigeval.gltf_morph", &model.layout, &[&table.base, out, params]);
        let view = vertices.view();
        let groups = match attribute.kind {
            AttributeKind::Positions => vertices.positions().iter().map(group).collect(),
            AttributeKind::Normals => view.normals.into_iter().map(group).collect(),
            AttributeKind::Tangents => view.tangents.into_iter().map(group).collect(),
        };
        Pass {
            kind: attribute.kind,
            weights: SparseWeights::new(gpu, &table.deltas, shape, &attribute.rows.weigh(pose.morph_weights())),
            groups,
            pipeline: model.pipeline(gpu, attribute, &shape, pose.skinning()).clone(),
            slice_count: table.deltas.slice_count(),
        }
    }
}

/// Normals and tangents of one instance.
struct Directions {
    normals: Option<Vec<[f32; 3]>>,
    tangents: Option<Vec<[f32; 4]>>,
}

/// The rest mesh, and of its directions those that are asked for and that the file has.
fn rest(model: &GltfDeviceModel, pose: &GltfPose, options: &GltfOptions) -> (Vec<[f32; 3]>, Directions) {
    let mesh = model.model.mesh();
    let (rows, skinning) = (pose.skin_rows(), pose.skinning());
    let (morphs, v) = (pose.morph_weights(), mesh.vertex_count());
    let weights = mesh.position_deltas().weigh(morphs);
    let position = |vertex| mesh.posed_vertex(vertex, &weights, rows, skinning).as_vec3().to_array();
    let normals = mesh.normals().filter(|_| options.normals).map(|_| {
        let weights = mesh.normal_deltas().weigh(morphs);
        let normal =
            |vertex| mesh.posed_normal(vertex, &weights, rows, skinning).unwrap_or_default().as_vec3().to_array();
        (0..v).into_par_iter().map(normal).collect()
    });
    let tangents = mesh.tangents().filter(|_| options.tangents).map(|tangents| {
        let weights = mesh.tangent_deltas().weigh(morphs);
        let tangent = |vertex: usize| {
            let t = mesh.posed_tangent(vertex, &weights, rows, skinning).unwrap_or_default().as_vec3();
            t.extend(tangents[vertex][3]).to_array()
        };
        (0..v).into_par_iter().map(tangent).collect()
    });
    ((0..v).into_par_iter().map(position).collect(), Directions { normals, tangents })
}

impl RigBackend for GltfBackend {
    fn info(&self) -> &RigInfo {
        &self.info
    }

    fn mesh(&self) -> &RigMesh {
        self.model.model.mesh().render()
    }

    fn set_controls(&mut self, instance: usize, controls: &[f32]) -> Result<bool, ControlError> {
        self.check_instance(instance);
        let changed = self.poses[instance].set_controls(&self.model.model, controls)?;
        self.note_set(instance, changed);
        Ok(changed)
    }

    fn set_controls_all(&mut self, controls: &[f32]) -> Result<bool, ControlError> {
        let (rig, width) = (&*self.model.model, self.info.control_names.len());
        ControlError::check("controls", controls, width * self.poses.len())?;
        // A file without controls has nothing to set, and chunks of no width do not exist.
        let vectors = || controls.par_chunks_exact(width.max(1));
        vectors().try_for_each(|c| rig.controls().check(c, rig.skeleton().names()))?;
        let set = |(pose, c): (&mut GltfPose, &[f32])| pose.set_controls(rig, c);
        let changed: Vec<bool> = self.poses.par_iter_mut().zip(vectors()).map(set).collect::<Result<_, _>>()?;
        for (instance, &changed) in changed.iter().enumerate() {
            self.note_set(instance, changed);
        }
        Ok(changed.contains(&true))
    }

    fn set_joint_overrides(&mut self, instance: usize, overrides: &[JointOverride]) -> Result<bool, ControlError> {
        self.check_instance(instance);
        let changed = self.poses[instance].set_joint_overrides(&self.model.model, overrides)?;
        if changed {
            self.skin_rows.set(instance, self.poses[instance].skin_rows());
        }
        Ok(changed)
    }

    fn set_joint_worlds(&mut self, instance: usize, worlds: &[(JointId, Affine3A)]) -> Result<bool, ControlError> {
        self.check_instance(instance);
        let changed = self.poses[instance].set_joint_worlds(&self.model.model, worlds)?;
        if changed {
            self.skin_rows.set(instance, self.poses[instance].skin_rows());
        }
        Ok(changed)
    }

    fn encode(&mut self, queue: &wgpu::Queue, encoder: &mut wgpu::CommandEncoder) {
        let changed = self.skin_rows.is_dirty() || self.passes.iter().any(|pass| pass.weights.is_dirty());
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
        self.model.bounds.of_pose(&self.poses[instance])
    }
}
