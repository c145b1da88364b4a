//! Which device limit a head with N instances would break.

use super::GnmOptions;
use super::model::{GnmParams, SLOT_PLANES, STORAGE_BUFFERS, UNIFORM_BUFFERS, WORKGROUP_BYTES, WORKGROUP_SIZE};
use super::tiles::TileShape;
use crate::error::LimitError;
use crate::gnm::layout::{BLOCK, GnmLayout};
use crate::gnm::pack::GnmPack;
use crate::gpu::limits::{Planner, size_of as product};
use crate::gpu::{normals, shaders, skinning};

/// The counts of a pack that decide how much of a device it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GnmSizes {
    /// V.
    pub vertex_count: u64,
    /// E.
    pub coefficient_count: usize,
    /// J.
    pub joint_count: usize,
    /// Influences of all vertices.
    pub influence_count: u64,
    /// T.
    pub triangle_count: u64,
    /// Words of the basis on the device.
    pub basis_words: u64,
}

impl GnmSizes {
    /// The counts of a pack in a layout.
    #[must_use]
    pub fn new(pack: &GnmPack, layout: &GnmLayout) -> GnmSizes {
        GnmSizes {
            vertex_count: pack.vertex_count() as u64,
            coefficient_count: pack.coefficient_count(),
            joint_count: pack.skeleton().joint_count(),
            influence_count: pack.influences().entries.len() as u64,
            triangle_count: pack.faces().len() as u64,
            basis_words: layout.basis.len() as u64,
        }
    }

    fn block_count(&self) -> u64 {
        self.vertex_count.div_ceil(BLOCK as u64)
    }

    /// Checks what all backend objects of the pack share.
    ///
    /// # Errors
    /// The limit that is broken.
    pub fn check_model(&self, limits: &wgpu::Limits) -> Result<(), LimitError> {
        let planner = Planner::new(limits);
        let (v, e, blocks) = (self.vertex_count, self.coefficient_count, self.block_count());
        let what = shaders::GNM_BLEND.label();
        let storage = STORAGE_BUFFERS + skinning::STORAGE_BUFFERS;
        planner.bindings(&what, 2, storage, UNIFORM_BUFFERS + skinning::UNIFORM_BUFFERS)?;
        planner.workgroup(&what, WORKGROUP_SIZE, WORKGROUP_BYTES)?;
        planner.uniform(&format!("the parameters of {what}"), size_of::<GnmParams>() as u64)?;
        planner.storage(&format!("the basis of {v} vertices and {e} coefficients"), product(&[self.basis_words, 4]))?;
        planner
            .storage(&format!("the static data of {v} vertices"), product(&[blocks, BLOCK as u64, SLOT_PLANES, 4]))?;
        let row = 1 + 2 * e.div_ceil(32) as u64;
        planner.storage(&format!("the block table of {v} vertices"), product(&[blocks, row, 4]))?;
        skinning::check_limits(&planner, v, self.influence_count, self.joint_count, 1)
    }

    /// Checks one backend object of N instances, the model included.
    ///
    /// # Errors
    /// The limit that is broken.
    pub fn check(&self, instances: usize, options: &GnmOptions, limits: &wgpu::Limits) -> Result<(), LimitError> {
        self.check_model(limits)?;
        let planner = Planner::new(limits);
        let (v, n) = (self.vertex_count, instances as u64);
        planner.storage(&format!("the positions of {n} instances of {v} vertices"), product(&[n, v, 12]))?;
        let shape = TileShape::new(instances, self.coefficient_count);
        let tiles = shape.tile_count() as u64;
        planner.storage(&format!("the coefficients of {n} instances"), product(&[tiles, shape.stride() as u64, 16]))?;
        skinning::check_limits(&planner, v, self.influence_count, self.joint_count, n)?;
        planner.dispatch(&shaders::GNM_BLEND.label(), self.block_count(), tiles)?;
        if options.normals {
            normals::check_limits(&planner, v, self.triangle_count, n)?;
        }
        Ok(())
    }
}
