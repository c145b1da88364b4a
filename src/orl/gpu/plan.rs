//! Which device limit a character with N instances would break.

use super::OrlOptions;
use super::model::{OrlParams, STORAGE_BUFFERS, UNIFORM_BUFFERS};
use crate::error::LimitError;
use crate::gpu::limits::{Planner, size_of as product};
use crate::gpu::sparse::{WORKGROUP_SIZE, WeightShape, workgroup_bytes};
use crate::gpu::{normals, shaders, skinning, sparse};
use crate::orl::rig::OrlRig;
use crate::sparse::slices::SparseSlices;

/// The counts of a character that decide how much of a device it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrlSizes {
    /// V, of all meshes.
    pub vertex_count: u64,
    /// Targets of all meshes.
    pub target_count: usize,
    /// J + 1: the last skin row moves nothing.
    pub skin_row_count: usize,
    /// Influences of all vertices.
    pub influence_count: u64,
    /// T.
    pub triangle_count: u64,
    /// Slices of the deltas: workgroups along x.
    pub slice_count: u64,
    /// Words of the deltas on the device.
    pub delta_words: u64,
}

impl OrlSizes {
    /// The counts of a character in a layout.
    #[must_use]
    pub fn new(rig: &OrlRig, slices: &SparseSlices) -> OrlSizes {
        let mesh = rig.mesh();
        OrlSizes {
            vertex_count: mesh.vertex_count() as u64,
            target_count: mesh.deltas().targets().len(),
            skin_row_count: rig.rest().pose().skin_rows().len(),
            influence_count: mesh.influences().entries.len() as u64,
            triangle_count: mesh.mesh().triangles.len() as u64,
            slice_count: slices.slices.len() as u64,
            delta_words: slices.words.len() as u64,
        }
    }

    /// Checks what all backend objects of the character share.
    ///
    /// # Errors
    /// The limit that is broken.
    pub fn check_model(&self, limits: &wgpu::Limits) -> Result<(), LimitError> {
        self.check_buffers(&Planner::new(limits), 1)
    }

    /// Checks one backend object of N instances, the model included.
    ///
    /// # Errors
    /// The limit that is broken.
    pub fn check(&self, instances: usize, options: &OrlOptions, limits: &wgpu::Limits) -> Result<(), LimitError> {
        let planner = Planner::new(limits);
        let (v, n) = (self.vertex_count, instances as u64);
        self.check_buffers(&planner, n)?;
        planner.storage(&format!("the positions of {n} instances of {v} vertices"), product(&[n, v, 12]))?;
        let tiles = WeightShape::new(instances, self.target_count).tile_count() as u64;
        planner.dispatch(&shaders::ORL_DEFORM.label(), self.slice_count, tiles)?;
        if options.normals {
            normals::check_limits(&planner, v, self.triangle_count, n)?;
        }
        Ok(())
    }

    fn check_buffers(&self, planner: &Planner, instances: u64) -> Result<(), LimitError> {
        let what = shaders::ORL_DEFORM.label();
        let storage = STORAGE_BUFFERS + skinning::STORAGE_BUFFERS + sparse::STORAGE_BUFFERS;
        let uniform = UNIFORM_BUFFERS + skinning::UNIFORM_BUFFERS + sparse::UNIFORM_BUFFERS;
        planner.bindings(&what, 3, storage, uniform)?;
        planner.workgroup(&what, WORKGROUP_SIZE, workgroup_bytes(self.target_count))?;
        planner.uniform(&format!("the parameters of {what}"), size_of::<OrlParams>() as u64)?;
        let v = self.vertex_count;
        planner.storage(&format!("the neutral positions of {v} vertices"), product(&[v, 16]))?;
        sparse::check_limits(planner, self.slice_count, self.delta_words, self.target_count, instances)?;
        skinning::check_limits(planner, v, self.influence_count, self.skin_row_count, instances)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A MetaHuman head.
    const FULL: OrlSizes = OrlSizes {
        vertex_count: 24_049,
        target_count: 820,
        skin_row_count: 871,
        influence_count: 24_049 * 12,
        triangle_count: 48_004,
        slice_count: 760,
        delta_words: 2 * 2_400_000,
    };

    const ALL: OrlOptions = OrlOptions { normals: true, previous_positions: true };

    #[track_caller]
    fn broken(sizes: OrlSizes, instances: usize, limits: &wgpu::Limits) -> LimitError {
        sizes.check(instances, &ALL, limits).expect_err("within the limits")
    }

    #[test]
    fn default_limits_hold_a_crowd_of_metahumans() {
        let limits = wgpu::Limits::defaults();
        for instances in [1, 3, 64, 400, 465] {
            assert_eq!(FULL.check(instances, &ALL, &limits), Ok(()), "N = {instances}");
        }
        // 128 MiB over 12 bytes a vertex.
        let error = broken(FULL, 466, &limits);
        assert_eq!((error.limit, error.needed), ("max_storage_buffer_binding_size", 466 * 24_049 * 12));
        assert!(error.to_string().contains("the positions of 466 instances of 24049 vertices"), "{error}");
    }

    #[test]
    fn most_targets_fit_the_workgroup() {
        let most = OrlSizes { target_count: crate::sparse::MAX_TARGETS, ..FULL };
        assert_eq!(most.check(3, &ALL, &wgpu::Limits::defaults()), Ok(()));
    }

    #[test]
    fn giant_counts_are_refused_and_do_not_wrap() {
        let limits = wgpu::Limits { max_buffer_size: u64::MAX - 1, ..wgpu::Limits::defaults() };
        let limits = wgpu::Limits { max_storage_buffer_binding_size: u64::MAX - 1, ..limits };
        assert_eq!(broken(FULL, usize::MAX, &limits).needed, u64::MAX);
        assert_eq!(broken(OrlSizes { vertex_count: u64::MAX - 1, ..FULL }, 3, &limits).needed, u64::MAX);
        assert_eq!(broken(OrlSizes { delta_words: u64::MAX / 2, ..FULL }, 3, &limits).needed, u64::MAX);
        // One tile of four too many along y, then one slice too many along x.
        let error = broken(FULL, 65_535 * 4 + 1, &limits);
        assert_eq!((error.limit, error.needed), ("max_compute_workgroups_per_dimension", 65_536));
        assert!(error.what.contains("along y"), "{error}");
        let error = broken(OrlSizes { slice_count: 65_536, ..FULL }, 1, &limits);
        assert!(error.what.contains("along x") && error.needed == 65_536, "{error}");
    }

    #[test]
    fn small_limits_are_named_with_what_breaks_them() {
        type Shrink = fn(&mut wgpu::Limits);
        let cases: [(&str, &str, Shrink); 13] = [
            ("max_bind_groups", "rigeval.orl_deform", |l| l.max_bind_groups = 2),
            ("max_storage_buffers_per_shader_stage", "orl_deform", |l| l.max_storage_buffers_per_shader_stage = 6),
            ("max_uniform_buffers_per_shader_stage", "orl_deform", |l| l.max_uniform_buffers_per_shader_stage = 2),
            ("max_compute_invocations_per_workgroup", "orl_deform", |l| l.max_compute_invocations_per_workgroup = 255),
            ("max_compute_workgroup_size_x", "orl_deform", |l| l.max_compute_workgroup_size_x = 128),
            ("max_compute_workgroup_storage_size", "orl_deform", |l| l.max_compute_workgroup_storage_size = 4096),
            ("max_uniform_buffer_binding_size", "parameters", |l| l.max_uniform_buffer_binding_size = 8),
            ("max_storage_buffer_binding_size", "the deltas of 820", |l| {
                l.max_storage_buffer_binding_size = 16 << 20;
            }),
            ("max_buffer_size", "the deltas of 820", |l| l.max_buffer_size = 16 << 20),
            ("max_storage_buffer_binding_size", "the neutral", |l| l.max_storage_buffer_binding_size = 300_000),
            ("max_compute_workgroups_per_dimension", "along x", |l| l.max_compute_workgroups_per_dimension = 759),
            ("max_storage_buffer_binding_size", "the positions", |l| l.max_storage_buffer_binding_size = 80_000_000),
            ("max_buffer_size", "the positions", |l| l.max_buffer_size = 80_000_000),
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
