//! What all backend objects of one pack share on the device.

use super::plan::GnmSizes;
use super::tiles::TILE_SIZES;
use crate::error::LimitError;
use crate::gnm::bounds::GnmBounds;
use crate::gnm::layout::{BLOCK, GnmLayout};
use crate::gnm::pack::{BasisFormat, GnmPack};
use crate::gnm::pose::Stage;
use crate::gpu::normals::NormalsStage;
use crate::gpu::skinning::InfluenceTable;
use crate::gpu::{GpuContext, bind_group_layout, shaders, storage_buffer};
use crate::info::RigMesh;
use crate::normals::Incidence;
use std::sync::{Arc, OnceLock};

/// Invocations per workgroup of `gnm_blend.wgsl`: 32 lanes of two vertices by 8 slices of the coefficients.
pub const WORKGROUP_SIZE: u32 = 256;

/// Workgroup memory of `gnm_blend.wgsl`: the worklist with its length, and 3072 partial sums.
pub const WORKGROUP_BYTES: u32 = WORKGROUP_SIZE * 8 + 4 + 3072 * 4;

/// Words of static data per vertex: neutral, seam, two eye weights, the index in file order.
pub(super) const SLOT_PLANES: u64 = 9;

/// Storage buffers of group 0.
pub(super) const STORAGE_BUFFERS: u32 = 5;

/// Uniform buffers of group 0.
pub(super) const UNIFORM_BUFFERS: u32 = 1;

/// The uniform of `gnm_blend.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct GnmParams {
    /// V.
    pub vertex_count: u32,
    /// N.
    pub instance_count: u32,
    /// ceil(E / 32).
    pub group_count: u32,
    /// vec4s from one tile of coefficients to the next.
    pub tile_stride: u32,
    /// Centre of the left eye, head-local; fourth component unused.
    pub left_eye: [f32; 4],
    /// Centre of the right eye, head-local; fourth component unused.
    pub right_eye: [f32; 4],
}

/// A pack on a device: static data, uploaded once, and the stages compiled for it.
///
/// Share it in an `Arc` between the backend objects of one device; they may hold different numbers of instances.
#[derive(Debug)]
pub struct GnmDeviceModel {
    pub(super) pack: Arc<GnmPack>,
    pub(super) mesh: RigMesh,
    pub(super) sizes: GnmSizes,
    pub(super) slots: wgpu::Buffer,
    pub(super) basis: wgpu::Buffer,
    pub(super) block_table: wgpu::Buffer,
    pub(super) influences: InfluenceTable,
    pub(super) layout: wgpu::BindGroupLayout,
    pub(super) block_count: u32,
    pipelines: [OnceLock<wgpu::ComputePipeline>; 2 * TILE_SIZES.len()],
    bounds: [OnceLock<Arc<GnmBounds>>; 2],
    normals: OnceLock<NormalsStage>,
}

impl GnmDeviceModel {
    /// Uploads a pack.
    ///
    /// # Errors
    /// The device limit that the pack breaks, found before anything is made on the device.
    pub fn new(gpu: &GpuContext, pack: Arc<GnmPack>) -> Result<GnmDeviceModel, LimitError> {
        use wgpu::BufferBindingType::{Storage, Uniform};
        let layout = GnmLayout::new(&pack);
        let sizes = GnmSizes::new(&pack, &layout);
        sizes.check_model(&gpu.device.limits())?;
        let (read, write) = (Storage { read_only: true }, Storage { read_only: false });
        let vertices = &layout.order[..pack.vertex_count()];
        Ok(GnmDeviceModel {
            mesh: pack.mesh(),
            sizes,
            slots: storage_buffer(gpu, "rigeval.gnm_blend.slots", &slot_words(&pack, &layout.order)),
            basis: storage_buffer(gpu, "rigeval.gnm_blend.basis", &layout.basis),
            block_table: storage_buffer(gpu, "rigeval.gnm_blend.block_table", &layout.table),
            influences: InfluenceTable::new(gpu, &pack.influences().permuted(vertices)),
            layout: bind_group_layout(gpu.device, "rigeval.gnm_blend", &[read, read, read, read, write, Uniform]),
            block_count: layout.block_count as u32,
            pipelines: Default::default(),
            bounds: Default::default(),
            normals: OnceLock::new(),
            pack,
        })
    }

    /// The pack.
    #[must_use]
    pub fn pack(&self) -> &Arc<GnmPack> {
        &self.pack
    }

    /// The counts that decide how much of a device the pack takes.
    #[must_use]
    pub fn sizes(&self) -> &GnmSizes {
        &self.sizes
    }

    /// Bytes on the device that all backend objects share.
    #[must_use]
    pub fn device_bytes(&self) -> u64 {
        let shared = [&self.slots, &self.basis, &self.block_table].map(wgpu::Buffer::size);
        shared.iter().sum::<u64>() + self.influences.size() + self.normals.get().map_or(0, NormalsStage::size)
    }

    /// The stage for one tile size, compiled at its first use.
    pub(super) fn pipeline(&self, device: &wgpu::Device, tile_size: usize, stage: Stage) -> &wgpu::ComputePipeline {
        let size = TILE_SIZES.iter().position(|&s| s == tile_size).expect("a size that TileShape chooses");
        let pose = usize::from(stage == Stage::Pose);
        self.pipelines[2 * size + pose].get_or_init(|| {
            let is_i8 = u8::from(self.pack.basis_format() == BasisFormat::I8);
            let constants = [("tile_size", tile_size as f64), ("basis_is_i8", f64::from(is_i8)), ("pose", pose as f64)];
            shaders::GNM_BLEND.pipeline(device, &[&self.layout, self.influences.layout()], &constants)
        })
    }

    /// The bounds of one stage, measured at their first use.
    pub(super) fn bounds(&self, stage: Stage) -> &Arc<GnmBounds> {
        self.bounds[usize::from(stage == Stage::Pose)].get_or_init(|| Arc::new(GnmBounds::of_stage(&self.pack, stage)))
    }

    /// The normals stage, where a backend object has asked for it.
    pub(super) fn normals_stage(&self) -> Option<&NormalsStage> {
        self.normals.get()
    }

    /// The normals stage, uploaded and compiled at its first use.
    pub(super) fn normals(&self, gpu: &GpuContext) -> &NormalsStage {
        self.normals.get_or_init(|| {
            let faces = self.pack.faces();
            NormalsStage::new(gpu, faces, &Incidence::new(faces, self.pack.vertex_count()))
        })
    }
}

/// The static data of all slots in planes, so that neighbouring invocations read neighbouring words.
fn slot_words(pack: &GnmPack, order: &[u32]) -> Vec<u32> {
    let [left, right] = pack.eye_weights();
    let mut words = vec![0; order.len() * SLOT_PLANES as usize];
    for (block, slots) in words.chunks_exact_mut(BLOCK * SLOT_PLANES as usize).zip(order.chunks_exact(BLOCK)) {
        let vertices = slots.iter().enumerate().filter(|(_, v)| (**v as usize) < pack.vertex_count());
        for (slot, &vertex) in vertices {
            let v = vertex as usize;
            let n = pack.neutral()[v];
            let s = pack.seam().map_or([0.0; 3], |seam| seam[v]);
            let floats = [n[0], n[1], n[2], s[0], s[1], s[2], left[v], right[v]];
            for (plane, value) in floats.map(f32::to_bits).into_iter().chain([vertex]).enumerate() {
                block[plane * BLOCK + slot] = value;
            }
        }
    }
    words
}
