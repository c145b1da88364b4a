//! What all backend objects of one character share on the device.

use super::plan::OrlSizes;
use crate::error::BackendError;
use crate::gpu::normals::NormalsStage;
use crate::gpu::skinning::InfluenceTable;
use crate::gpu::sparse::{SparseTable, TILE_SIZES, WeightShape};
use crate::gpu::{GpuContext, bind_group_layout, shaders, storage_buffer};
use crate::normals::Incidence;
use crate::orl::mesh::OrlMesh;
use crate::orl::rig::OrlRig;
use crate::sparse::slices::SparseSlices;
use std::sync::{Arc, OnceLock};

/// Storage buffers of group 0.
pub(super) const STORAGE_BUFFERS: u32 = 2;

/// Uniform buffers of group 0.
pub(super) const UNIFORM_BUFFERS: u32 = 1;

/// The uniform of `orl_deform.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct OrlParams {
    /// V.
    pub vertex_count: u32,
    /// N.
    pub instance_count: u32,
    /// Zero.
    pub reserved_0: u32,
    /// Zero.
    pub reserved_1: u32,
}

/// A character on a device: static data, uploaded once, and the stage compiled for it.
///
/// Share it in an `Arc` between the backend objects of one device; they may hold different numbers of instances.
#[derive(Debug)]
pub struct OrlDeviceModel {
    pub(super) rig: Arc<OrlRig>,
    pub(super) sizes: OrlSizes,
    pub(super) neutral: wgpu::Buffer,
    pub(super) deltas: SparseTable,
    pub(super) influences: InfluenceTable,
    pub(super) layout: wgpu::BindGroupLayout,
    pipelines: [OnceLock<wgpu::ComputePipeline>; TILE_SIZES.len()],
    normals: OnceLock<NormalsStage>,
}

impl OrlDeviceModel {
    /// Uploads a rig.
    ///
    /// # Errors
    /// `FloatDeltas` for a rig of [`crate::sparse::DeltaFormat::F32`]; `NoVertices`; `Limit` for the device limit that the rig breaks. All of
    /// it is found before anything is made on the device.
    pub fn new(gpu: &GpuContext, rig: Arc<OrlRig>) -> Result<OrlDeviceModel, BackendError> {
        use wgpu::BufferBindingType::{Storage, Uniform};
        let mesh = rig.mesh();
        if mesh.vertex_count() == 0 {
            return Err(BackendError::NoVertices);
        }
        let slices = SparseSlices::new(mesh.deltas()).ok_or(BackendError::FloatDeltas)?;
        let sizes = OrlSizes::new(&rig, &slices);
        sizes.check_model(&gpu.device.limits())?;
        let (read, write) = (Storage { read_only: true }, Storage { read_only: false });
        Ok(OrlDeviceModel {
            sizes,
            neutral: storage_buffer(gpu, "rigeval.orl_deform.neutral", &neutral_words(mesh, &slices.order)),
            deltas: SparseTable::new(gpu, &slices),
            influences: InfluenceTable::new(gpu, &mesh.influences().permuted(&slices.order)),
            layout: bind_group_layout(gpu.device, "rigeval.orl_deform", &[read, write, Uniform]),
            pipelines: Default::default(),
            normals: OnceLock::new(),
            rig,
        })
    }

    /// The character.
    #[must_use]
    pub fn rig(&self) -> &Arc<OrlRig> {
        &self.rig
    }

    /// The counts that decide how much of a device the character takes.
    #[must_use]
    pub fn sizes(&self) -> &OrlSizes {
        &self.sizes
    }

    /// Bytes on the device that all backend objects share.
    #[must_use]
    pub fn device_bytes(&self) -> u64 {
        let normals = self.normals.get().map_or(0, NormalsStage::size);
        self.neutral.size() + self.deltas.size() + self.influences.size() + normals
    }

    /// The stage for one shape of weights, compiled at its first use.
    pub(super) fn pipeline(&self, device: &wgpu::Device, shape: &WeightShape) -> &wgpu::ComputePipeline {
        let size = TILE_SIZES.iter().position(|&s| s == shape.tile_size).expect("a size that WeightShape chooses");
        self.pipelines[size].get_or_init(|| {
            let layouts = [&self.layout, self.influences.layout(), self.deltas.layout()];
            shaders::ORL_DEFORM.pipeline(device, &layouts, &shape.constants())
        })
    }

    /// The normals stage, where a backend object has asked for it.
    pub(super) fn normals_stage(&self) -> Option<&NormalsStage> {
        self.normals.get()
    }

    /// The normals stage, uploaded and compiled at its first use.
    pub(super) fn normals(&self, gpu: &GpuContext) -> &NormalsStage {
        self.normals.get_or_init(|| {
            let mesh = self.rig.mesh();
            let faces = &mesh.mesh().triangles;
            NormalsStage::new(gpu, faces, &Incidence::new(faces, mesh.vertex_count()))
        })
    }
}

/// Per row the bits of the neutral position, and the vertex that the row is.
fn neutral_words(mesh: &OrlMesh, order: &[u32]) -> Vec<[u32; 4]> {
    let words = |&vertex: &u32| {
        let [x, y, z] = mesh.neutral()[vertex as usize].map(f32::to_bits);
        [x, y, z, vertex]
    };
    order.iter().map(words).collect()
}
