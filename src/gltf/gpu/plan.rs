//! Which device limit a file with N instances would break.

use super::GltfOptions;
use super::model::{AttributeKind, GltfParams, STORAGE_BUFFERS, UNIFORM_BUFFERS};
use crate::error::LimitError;
use crate::gltf::model::GltfModel;
use crate::gpu::limits::{Planner, size_of as product};
use crate::gpu::sparse::{WORKGROUP_SIZE, WeightShape, workgroup_bytes};
use crate::gpu::{normals, shaders, skinning, sparse};

/// The counts of a file that decide how much of a device it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GltfSizes {
    /// V, of all parts.
    pub vertex_count: u64,
    /// Skin rows of one instance.
    pub skin_row_count: usize,
    /// Influences of all vertices.
    pub influence_count: u64,
    /// T.
    pub triangle_count: u64,
    /// Positions, normals, tangents, as far as the file has them.
    pub attributes: [Option<AttributeSizes>; 3],
}

/// The morph deltas of one attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttributeSizes {
    /// Targets of the packed rows: the narrow ones, and the wide ones twice.
    pub target_count: usize,
    /// Morph targets in 16 bits.
    pub narrow_count: usize,
    /// Morph targets in 32 bits.
    pub wide_count: usize,
    /// Slices of the deltas: workgroups along x.
    pub slice_count: u64,
    /// Words of the deltas on the device.
    pub delta_words: u64,
}

impl GltfSizes {
    /// The counts of a file without its attributes.
    pub(super) fn new(model: &GltfModel) -> GltfSizes {
        let mesh = model.mesh();
        GltfSizes {
            vertex_count: mesh.vertex_count() as u64,
            skin_row_count: mesh.rows().len(),
            influence_count: mesh.influences().entries.len() as u64,
            triangle_count: mesh.render().triangles.len() as u64,
            attributes: [None; 3],
        }
    }

    /// Checks what every backend object of the file needs.
    ///
    /// # Errors
    /// The limit that is broken.
    pub fn check_model(&self, limits: &wgpu::Limits) -> Result<(), LimitError> {
        self.check_buffers(&Planner::new(limits), 1)?;
        self.check_attribute(&Planner::new(limits), AttributeKind::Positions, 1)
    }

    /// Checks one backend object of N instances, the model included.
    ///
    /// # Errors
    /// The limit that is broken.
    pub fn check(&self, instances: usize, options: &GltfOptions, limits: &wgpu::Limits) -> Result<(), LimitError> {
        let planner = Planner::new(limits);
        let n = instances as u64;
        self.check_buffers(&planner, n)?;
        let asked = [true, options.normals, options.tangents];
        for (kind, _) in AttributeKind::ALL.into_iter().zip(asked).filter(|(_, asked)| *asked) {
            self.check_attribute(&planner, kind, n)?;
        }
        if options.normals && self.attributes[AttributeKind::Normals as usize].is_none() {
            normals::check_limits(&planner, self.vertex_count, self.triangle_count, n)?;
        }
        Ok(())
    }

    fn check_buffers(&self, planner: &Planner, instances: u64) -> Result<(), LimitError> {
        let what = shaders::GLTF_MORPH.label();
        let storage = STORAGE_BUFFERS + skinning::STORAGE_BUFFERS + sparse::STORAGE_BUFFERS;
        let uniform = UNIFORM_BUFFERS + skinning::UNIFORM_BUFFERS + sparse::UNIFORM_BUFFERS;
        planner.bindings(&what, 3, storage, uniform)?;
        planner.uniform(&format!("the parameters of {what}"), size_of::<GltfParams>() as u64)?;
        skinning::check_limits(planner, self.vertex_count, self.influence_count, self.skin_row_count, instances)
    }

    /// One attribute's dispatch; nothing for one that the file lacks.
    fn check_attribute(&self, planner: &Planner, kind: AttributeKind, instances: u64) -> Result<(), LimitError> {
        let Some(sizes) = &self.attributes[kind as usize] else { return Ok(()) };
        let (v, name) = (self.vertex_count, kind.name());
        let what = format!("{} of {name}", shaders::GLTF_MORPH.label());
        planner.workgroup(&what, WORKGROUP_SIZE, workgroup_bytes(sizes.target_count))?;
        let signs = if kind == AttributeKind::Tangents { v.div_ceil(4) } else { 0 };
        planner.storage(&format!("the base {name} of {v} vertices"), product(&[v.saturating_add(signs), 16]))?;
        sparse::check_limits(planner, sizes.slice_count, sizes.delta_words, sizes.target_count, instances)
            .map_err(|e| LimitError { what: format!("{} of {name}", e.what), ..e })?;
        let posed = product(&[instances, v, 4 * kind.width()]);
        planner.storage(&format!("the {name} of {instances} instances of {v} vertices"), posed)?;
        let instances = usize::try_from(instances).unwrap_or(usize::MAX);
        let tiles = WeightShape::new(instances, sizes.target_count).tile_count() as u64;
        planner.dispatch(&what, sizes.slice_count, tiles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACE: AttributeSizes = AttributeSizes {
        target_count: 90,
        narrow_count: 14,
        wide_count: 38,
        slice_count: 400,
        delta_words: 2 * 400_000,
    };

    /// A body with the ARKit shapes.
    const FULL: GltfSizes = GltfSizes {
        vertex_count: 13_886,
        skin_row_count: 170,
        influence_count: 13_886 * 8,
        triangle_count: 27_000,
        attributes: [Some(FACE); 3],
    };

    const ALL: GltfOptions = GltfOptions {
        normals: true,
        tangents: true,
        previous_positions: true,
        space: crate::gltf::pose::OutputSpace::World,
        skinning: crate::lbs::Skinning::Linear,
    };

    #[track_caller]
    fn broken(sizes: GltfSizes, instances: usize, limits: &wgpu::Limits) -> LimitError {
        sizes.check(instances, &ALL, limits).expect_err("within the limits")
    }

    #[test]
    fn default_limits_hold_a_crowd() {
        let limits = wgpu::Limits::defaults();
        for instances in [1, 3, 512, 604] {
            assert_eq!(FULL.check(instances, &ALL, &limits), Ok(()), "N = {instances}");
        }
        // 128 MiB over 16 bytes a vertex, or 12 where nobody asks for tangents.
        let error = broken(FULL, 605, &limits);
        assert_eq!((error.limit, error.needed), ("max_storage_buffer_binding_size", 605 * 13_886 * 16));
        assert!(error.what.contains("the tangents of 605 instances of 13886 vertices"), "{error}");
        let plain = GltfOptions { tangents: false, ..ALL };
        assert_eq!(FULL.check(805, &plain, &limits), Ok(()));
        assert!(FULL.check(806, &plain, &limits).is_err());
    }

    #[test]
    fn giant_counts_are_refused_and_do_not_wrap() {
        let limits = wgpu::Limits { max_buffer_size: u64::MAX - 1, ..wgpu::Limits::defaults() };
        let limits = wgpu::Limits { max_storage_buffer_binding_size: u64::MAX - 1, ..limits };
        assert_eq!(broken(FULL, usize::MAX, &limits).needed, u64::MAX);
        assert_eq!(broken(GltfSizes { vertex_count: u64::MAX - 1, ..FULL }, 3, &limits).needed, u64::MAX);
        let error = broken(FULL, 65_535 * 4 + 1, &limits);
        assert!(error.what.contains("along y") && error.needed == 65_536, "{error}");
    }

    #[test]
    fn small_limits_are_named_with_what_breaks_them() {
        type Shrink = fn(&mut wgpu::Limits);
        let cases: [(&str, &str, Shrink); 9] = [
            ("max_bind_groups", "rigeval.gltf_morph", |l| l.max_bind_groups = 2),
            ("max_storage_buffers_per_shader_stage", "gltf_morph", |l| l.max_storage_buffers_per_shader_stage = 6),
            ("max_uniform_buffers_per_shader_stage", "gltf_morph", |l| l.max_uniform_buffers_per_shader_stage = 2),
            ("max_compute_invocations_per_workgroup", "positions", |l| l.max_compute_invocations_per_workgroup = 255),
            ("max_compute_workgroup_storage_size", "positions", |l| l.max_compute_workgroup_storage_size = 4096),
            ("max_uniform_buffer_binding_size", "parameters", |l| l.max_uniform_buffer_binding_size = 8),
            ("max_storage_buffer_binding_size", "the deltas of 90 targets of positions", |l| {
                l.max_storage_buffer_binding_size = 3 << 20;
            }),
            ("max_storage_buffer_binding_size", "the base positions", |l| {
                l.max_storage_buffer_binding_size = 200_000;
            }),
            ("max_compute_workgroups_per_dimension", "along x", |l| l.max_compute_workgroups_per_dimension = 399),
        ];
        let sizes = GltfSizes { influence_count: 13_886, skin_row_count: 1, ..FULL };
        for (limit, what, shrink) in cases {
            let mut limits = wgpu::Limits::defaults();
            shrink(&mut limits);
            let error = broken(sizes, 3, &limits);
            assert!(error.limit == limit && error.what.contains(what), "{limit}, {what}: {error}");
            assert!(error.needed > error.available);
        }
    }

    #[test]
    fn attributes_that_nobody_asked_for_do_not_count() {
        let mut sizes = FULL;
        sizes.attributes[2] = Some(AttributeSizes { delta_words: 1 << 30, ..FACE });
        let limits = wgpu::Limits::defaults();
        assert_eq!(sizes.check(1, &GltfOptions { tangents: false, ..ALL }, &limits), Ok(()));
        assert!(broken(sizes, 1, &limits).what.contains("the deltas of 90 targets of tangents"));
        // A file without normals has them computed from its triangles.
        let bare = GltfSizes { attributes: [Some(FACE), None, None], triangle_count: 1 << 30, ..FULL };
        assert!(broken(bare, 1, &limits).what.contains("faces"));
    }
}
