//! What all backend objects of one glTF file share on the device.

use super::plan::{AttributeSizes, GltfSizes};
use crate::error::{BackendError, LimitError};
use crate::gltf::bounds::GltfBounds;
use crate::gltf::mesh::GltfMesh;
use crate::gltf::model::GltfModel;
use crate::gltf::packing::PackedDeltas;
use crate::gpu::normals::NormalsStage;
use crate::gpu::skinning::InfluenceTable;
use crate::gpu::sparse::{SparseTable, TILE_SIZES, WeightShape};
use crate::gpu::{GpuContext, bind_group_layout, shaders, storage_buffer};
use crate::lbs::Skinning;
use crate::normals::Incidence;
use crate::sparse::slices::SparseSlices;
use crate::sparse::{MAX_TARGETS, SparseRows};
use std::sync::{Arc, OnceLock};

/// Storage buffers of group 0.
pub(super) const STORAGE_BUFFERS: u32 = 2;

/// Uniform buffers of group 0.
pub(super) const UNIFORM_BUFFERS: u32 = 1;

/// The uniform of `gltf_morph.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct GltfParams {
    /// V.
    pub vertex_count: u32,
    /// N.
    pub instance_count: u32,
    /// Zero.
    pub reserved_0: u32,
    /// Zero.
    pub reserved_1: u32,
}

/// What the stage poses; the number is the shader's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttributeKind {
    Positions = 0,
    Normals = 1,
    Tangents = 2,
}

impl AttributeKind {
    pub(super) const ALL: [AttributeKind; 3] =
        [AttributeKind::Positions, AttributeKind::Normals, AttributeKind::Tangents];

    pub(super) fn name(self) -> &'static str {
        ["positions", "normals", "tangents"][self as usize]
    }

    /// Floats of a vertex.
    pub(super) fn width(self) -> u64 {
        [3, 3, 4][self as usize]
    }
}

/// One attribute as the device reads it: laid out when the file is, uploaded when a backend object first asks for it.
#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) kind: AttributeKind,
    pub(super) rows: SparseRows,
    slices: SparseSlices,
    table: OnceLock<AttributeTable>,
    /// By skinning, then by the size of a tile.
    pipelines: [[OnceLock<wgpu::ComputePipeline>; TILE_SIZES.len()]; 2],
}

/// One attribute on the device.
#[derive(Debug)]
pub(super) struct AttributeTable {
    pub(super) base: wgpu::Buffer,
    pub(super) deltas: SparseTable,
}

impl Attribute {
    fn new(mesh: &GltfMesh, kind: AttributeKind) -> Result<(Attribute, AttributeSizes), BackendError> {
        let (targets, packed) = match kind {
            AttributeKind::Positions => (mesh.position_targets(), PackedDeltas::positions(mesh)),
            AttributeKind::Normals => (mesh.normal_targets(), PackedDeltas::normals(mesh)),
            AttributeKind::Tangents => (mesh.tangent_targets(), PackedDeltas::tangents(mesh)),
        };
        let packed = packed.map_err(|_| {
            // The table's index of a target has 16 bits, and a target of 32-bit steps takes two.
            too_many("targets of sparse_common", kind, 2 * targets.len() as u64, MAX_TARGETS as u64)
        })?;
        let entries = packed.rows.offsets()[mesh.vertex_count()].into();
        if entries > MOST_ENTRIES {
            return Err(too_many("entries of sparse_common", kind, entries, MOST_ENTRIES).into());
        }
        let slices = SparseSlices::new(&packed.rows).expect("packed rows");
        let sizes = AttributeSizes {
            target_count: packed.rows.targets().len(),
            narrow_count: packed.narrow_count,
            wide_count: packed.wide_count,
            slice_count: slices.slices.len() as u64,
            delta_words: slices.words.len() as u64,
        };
        let attribute =
            Attribute { kind, rows: packed.rows, slices, table: OnceLock::new(), pipelines: Default::default() };
        Ok((attribute, sizes))
    }

    /// The attribute on the device, uploaded at its first use.
    pub(super) fn table(&self, gpu: &GpuContext, mesh: &GltfMesh) -> &AttributeTable {
        self.table.get_or_init(|| AttributeTable {
            base: storage_buffer(
                gpu,
                &format!("rigeval.gltf_morph.base_{}", self.kind.name()),
                &base_words(mesh, self.kind, &self.slices.order),
            ),
            deltas: SparseTable::new(gpu, &self.slices),
        })
    }
}

/// Entries of one attribute's deltas: their words, with what pads the slices, are counted in 32 bits.
const MOST_ENTRIES: u64 = 1 << 30;

fn too_many(limit: &'static str, kind: AttributeKind, needed: u64, available: u64) -> LimitError {
    LimitError { limit, what: format!("the deltas of the {}", kind.name()), needed, available }
}

/// A glTF file on a device: static data, uploaded once, and the stage compiled for each attribute that is asked for.
///
/// Share it in an `Arc` between the backend objects of one device; they may hold different numbers of instances.
#[derive(Debug)]
pub struct GltfDeviceModel {
    pub(super) model: Arc<GltfModel>,
    pub(super) sizes: GltfSizes,
    pub(super) bounds: GltfBounds,
    pub(super) influences: InfluenceTable,
    pub(super) layout: wgpu::BindGroupLayout,
    /// Positions, then what else the file has.
    attributes: Vec<Attribute>,
    normals: OnceLock<NormalsStage>,
}

impl GltfDeviceModel {
    /// Lays out a file and uploads what every backend object needs; normals and tangents follow with the first object that wants them.
    ///
    /// # Errors
    /// `NoVertices`; `Limit` for the device limit that the file breaks, or for more morph targets than a table of deltas holds. All of it is
    /// found before anything is made on the device.
    pub fn new(gpu: &GpuContext, model: Arc<GltfModel>) -> Result<GltfDeviceModel, BackendError> {
        use wgpu::BufferBindingType::{Storage, Uniform};
        let mesh = model.mesh();
        if mesh.vertex_count() == 0 {
            return Err(BackendError::NoVertices);
        }
        let mut sizes = GltfSizes::new(&model);
        let has = [true, mesh.normals().is_some(), mesh.tangents().is_some()];
        let mut attributes = Vec::new();
        for (kind, _) in AttributeKind::ALL.into_iter().zip(has).filter(|(_, has)| *has) {
            let (attribute, of_attribute) = Attribute::new(mesh, kind)?;
            attributes.push(attribute);
            sizes.attributes[kind as usize] = Some(of_attribute);
        }
        sizes.check_model(&gpu.device.limits())?;
        let (read, write) = (Storage { read_only: true }, Storage { read_only: false });
        let device_model = GltfDeviceModel {
            sizes,
            bounds: GltfBounds::new(mesh),
            influences: InfluenceTable::new(gpu, mesh.influences()),
            layout: bind_group_layout(gpu.device, "rigeval.gltf_morph", &[read, write, Uniform]),
            attributes,
            normals: OnceLock::new(),
            model,
        };
        device_model.attributes[0].table(gpu, device_model.model.mesh());
        Ok(device_model)
    }

    /// The file.
    #[must_use]
    pub fn model(&self) -> &Arc<GltfModel> {
        &self.model
    }

    /// The counts that decide how much of a device the file takes, and how its deltas are kept.
    #[must_use]
    pub fn sizes(&self) -> &GltfSizes {
        &self.sizes
    }

    /// Bytes on the device that all backend objects share.
    #[must_use]
    pub fn device_bytes(&self) -> u64 {
        let normals = self.normals.get().map_or(0, NormalsStage::size);
        let tables = self.attributes.iter().filter_map(|attribute| attribute.table.get());
        self.influences.size() + normals + tables.map(|table| table.base.size() + table.deltas.size()).sum::<u64>()
    }

    /// An attribute that the file has.
    pub(super) fn attribute(&self, kind: AttributeKind) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.kind == kind)
    }

    /// The stage for one attribute, shape of weights and skinning, compiled at its first use.
    pub(super) fn pipeline<'a>(
        &'a self,
        gpu: &GpuContext,
        attribute: &'a Attribute,
        shape: &WeightShape,
        skinning: Skinning,
    ) -> &'a wgpu::ComputePipeline {
        let size = TILE_SIZES.iter().position(|&s| s == shape.tile_size).expect("a size that WeightShape chooses");
        attribute.pipelines[skinning as usize][size].get_or_init(|| {
            let deltas = attribute.table(gpu, self.model.mesh()).deltas.layout();
            let [tile, mask] = shape.constants();
            let kind = ("attribute_kind", f64::from(attribute.kind as u32));
            let constants = [tile, mask, kind, ("skinning", f64::from(skinning as u32))];
            shaders::GLTF_MORPH.pipeline(gpu.device, &[&self.layout, self.influences.layout(), deltas], &constants)
        })
    }

    /// The normals stage, where a backend object has asked for it.
    pub(super) fn normals_stage(&self) -> Option<&NormalsStage> {
        self.normals.get()
    }

    /// The normals stage, uploaded and compiled at its first use.
    pub(super) fn normals(&self, gpu: &GpuContext) -> &NormalsStage {
        self.normals.get_or_init(|| {
            let mesh = self.model.mesh();
            let faces = &mesh.render().triangles;
            NormalsStage::new(gpu, faces, &Incidence::new(faces, mesh.vertex_count()))
        })
    }
}

/// Per row the bits of the attribute, and the vertex that the row is; then the bits of the signs of tangents.
fn base_words(mesh: &GltfMesh, kind: AttributeKind, order: &[u32]) -> Vec<[u32; 4]> {
    let tangents = mesh.tangents().unwrap_or_default();
    let base = |vertex: usize| match kind {
        AttributeKind::Positions => mesh.positions()[vertex],
        AttributeKind::Normals => mesh.normals().unwrap_or_default()[vertex],
        AttributeKind::Tangents => [tangents[vertex][0], tangents[vertex][1], tangents[vertex][2]],
    };
    let row = |&vertex: &u32| {
        let [x, y, z] = base(vertex as usize).map(f32::to_bits);
        [x, y, z, vertex]
    };
    let mut words: Vec<[u32; 4]> = order.iter().map(row).collect();
    if kind == AttributeKind::Tangents {
        let sign = |&vertex: &u32| tangents[vertex as usize][3].to_bits();
        let four = |rows: &[u32]| std::array::from_fn(|i| rows.get(i).map_or(0, sign));
        words.extend(order.chunks(4).map(four));
    }
    words
}
