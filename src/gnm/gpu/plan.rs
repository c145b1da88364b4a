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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gnm::pose::Stage;

    /// The full head, dense.
    const FULL: GnmSizes = GnmSizes {
        vertex_count: 17_821,
        coefficient_count: 383,
        joint_count: 4,
        influence_count: 2 * 17_821,
        triangle_count: 35_324,
        basis_words: 10_300_000,
    };
    const ALL: GnmOptions = GnmOptions { normals: true, previous_positions: true, stage: Stage::Pose };

    fn broken(sizes: GnmSizes, instances: usize, limits: &wgpu::Limits) -> LimitError {
        sizes.check(instances, &ALL, limits).expect_err("a limit is broken")
    }

    #[test]
    fn default_limits_hold_a_crowd_of_full_heads() {
        let limits = wgpu::Limits::defaults();
        assert_eq!(FULL.check(1, &ALL, &limits), Ok(()));
        // 128 MiB of positions.
        assert_eq!(FULL.check(627, &ALL, &limits), Ok(()));
        let error = broken(FULL, 628, &limits);
        assert_eq!((error.limit, error.needed), ("max_storage_buffer_binding_size", 628 * 17_821 * 12));
        assert!(error.to_string().contains("the positions of 628 instances of 17821 vertices"), "{error}");
    }

    #[test]
    fn giant_counts_are_refused_and_do_not_wrap() {
        let limits = wgpu::Limits { max_buffer_size: u64::MAX - 1, ..wgpu::Limits::defaults() };
        let limits = wgpu::Limits { max_storage_buffer_binding_size: u64::MAX - 1, ..limits };
        assert_eq!(broken(FULL, usize::MAX, &limits).needed, u64::MAX);
        assert_eq!(broken(GnmSizes { vertex_count: u64::MAX - 1, ..FULL }, 3, &limits).needed, u64::MAX);
        let limits = wgpu::Limits { max_compute_workgroups_per_dimension: 65_535, ..limits };
        // One tile of eight too many along y, then one block of 64 too many along x.
        let error = broken(FULL, 65_535 * 8 + 1, &limits);
        assert_eq!((error.limit, error.needed), ("max_compute_workgroups_per_dimension", 65_536));
        assert!(error.what.contains("along y"), "{error}");
        let error = broken(GnmSizes { vertex_count: 65_535 * 64 + 1, ..FULL }, 1, &limits);
        assert!(error.what.contains("along x") && error.needed == 65_536, "{error}");
    }

    #[test]
    fn small_limits_are_named_with_what_breaks_them() {
        type Shrink = fn(&mut wgpu::Limits);
        let cases: [(&str, &str, Shrink); 13] = [
            ("max_bind_groups", "rigeval.gnm_blend", |l| l.max_bind_groups = 1),
            ("max_storage_buffers_per_shader_stage", "gnm_blend", |l| l.max_storage_buffers_per_shader_stage = 6),
            ("max_uniform_buffers_per_shader_stage", "gnm_blend", |l| l.max_uniform_buffers_per_shader_stage = 1),
            ("max_compute_invocations_per_workgroup", "gnm_blend", |l| l.max_compute_invocations_per_workgroup = 255),
            ("max_compute_workgroup_size_x", "gnm_blend", |l| l.max_compute_workgroup_size_x = 128),
            ("max_compute_workgroup_storage_size", "gnm_blend", |l| l.max_compute_workgroup_storage_size = 8192),
            ("max_uniform_buffer_binding_size", "parameters", |l| l.max_uniform_buffer_binding_size = 16),
            ("max_storage_buffer_binding_size", "the basis", |l| l.max_storage_buffer_binding_size = 32 << 20),
            ("max_buffer_size", "the basis", |l| l.max_buffer_size = 32 << 20),
            ("max_compute_workgroups_per_dimension", "along x", |l| l.max_compute_workgroups_per_dimension = 278),
            ("max_compute_workgroups_per_dimension", "rigeval.normals, along y", |l| {
                // Normals have a row of workgroups for each instance, the blend one for eight.
                l.max_compute_workgroups_per_dimension = 279;
            }),
            ("max_storage_buffer_binding_size", "the positions", |l| l.max_storage_buffer_binding_size = 50_000_000),
            ("max_buffer_size", "the positions", |l| l.max_buffer_size = 50_000_000),
        ];
        for (limit, what, shrink) in cases {
            let mut limits = wgpu::Limits::defaults();
            shrink(&mut limits);
            let error = broken(FULL, 300, &limits);
            assert!(error.limit == limit && error.what.contains(what), "{limit}, {what}: {error}");
            assert!(error.needed > error.available);
        }
    }
}
