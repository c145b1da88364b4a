//! A GLB of our own: a document, and one binary chunk.
//!
//! The document is made of structures whose fields are written in the order in which they stand, so that the same content gives the same bytes.

use crate::error::{LoadError, LoadErrorKind};
use serde::Serialize;
use std::collections::BTreeMap;

const U8: u32 = 5121;
const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;
/// The types of rows of 1, 2, 3, 4 and 16 numbers.
const SHAPES: [(usize, &str); 5] = [(1, "SCALAR"), (2, "VEC2"), (3, "VEC3"), (4, "VEC4"), (16, "MAT4")];

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    asset: Asset,
    scene: usize,
    pub(super) scenes: [Scene; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) nodes: Vec<Node>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) meshes: Vec<Mesh>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) skins: Vec<Skin>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) animations: Vec<Animation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) materials: Vec<Material>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    accessors: Vec<Accessor>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    buffer_views: Vec<View>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    buffers: Vec<Buffer>,
}

#[derive(Debug, Serialize)]
struct Asset {
    version: &'static str,
    generator: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct Scene {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) nodes: Vec<usize>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Node {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) children: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) translation: Option<[f32; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mesh: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) skin: Option<usize>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Mesh {
    pub(super) name: String,
    pub(super) primitives: Vec<Primitive>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) weights: Vec<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extras: Option<MeshExtras>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MeshExtras {
    pub(super) target_names: Vec<String>,
}

/// Attribute names with their accessors.
pub(super) type Attributes = BTreeMap<&'static str, usize>;

#[derive(Debug, Default, Serialize)]
pub(super) struct Primitive {
    pub(super) attributes: Attributes,
    pub(super) indices: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) material: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) targets: Vec<Attributes>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    pub(super) name: String,
    pub(super) inverse_bind_matrices: usize,
    pub(super) joints: Vec<usize>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Animation {
    pub(super) name: String,
    pub(super) channels: Vec<Channel>,
    pub(super) samplers: Vec<Sampler>,
}

#[derive(Debug, Serialize)]
pub(super) struct Channel {
    sampler: usize,
    target: ChannelTarget,
}

#[derive(Debug, Serialize)]
struct ChannelTarget {
    node: usize,
    path: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct Sampler {
    input: usize,
    output: usize,
    interpolation: &'static str,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Material {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<&'static str>,
    pub(super) pbr_metallic_roughness: Surface,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) alpha_mode: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Surface {
    pub(super) base_color_factor: [f32; 4],
    metallic_factor: f32,
    pub(super) roughness_factor: f32,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    #[serde(skip_serializing_if = "Option::is_none")]
    buffer_view: Option<usize>,
    component_type: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    normalized: bool,
    count: usize,
    #[serde(rename = "type")]
    shape: &'static str,
    // As f64, so that the decimal digits are exactly the f32's.
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sparse: Option<Sparse>,
}

#[derive(Debug, Serialize)]
struct Sparse {
    count: usize,
    indices: SparseIndices,
    values: SparseValues,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SparseIndices {
    buffer_view: usize,
    component_type: u32,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SparseValues {
    buffer_view: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct View {
    buffer: usize,
    byte_offset: usize,
    byte_length: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<u32>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Buffer {
    byte_length: usize,
}

/// A GLB that grows. Rows that are added must not be empty: glTF has no empty accessors.
#[derive(Debug)]
pub(super) struct Glb {
    pub(super) document: Document,
    bin: Vec<u8>,
}

impl Material {
    /// A matt to glossy surface that is no metal, its colour linear.
    pub(super) fn plain(name: Option<&'static str>, color: [f32; 4], roughness_factor: f32) -> Material {
        let surface = Surface { base_color_factor: color, metallic_factor: 0.0, roughness_factor };
        Material { name, pbr_metallic_roughness: surface, alpha_mode: (color[3] < 1.0).then_some("BLEND") }
    }
}

impl Animation {
    /// A channel of straight lines between keys; `input` are their times.
    pub(super) fn add(&mut self, node: usize, path: &'static str, input: usize, output: usize) {
        self.channels.push(Channel { sampler: self.samplers.len(), target: ChannelTarget { node, path } });
        self.samplers.push(Sampler { input, output, interpolation: "LINEAR" });
    }
}

impl Glb {
    pub(super) fn new() -> Glb {
        let asset = Asset { version: "2.0", generator: concat!("rigeval ", env!("CARGO_PKG_VERSION")) };
        let document = Document {
            asset,
            scene: 0,
            scenes: [Scene { nodes: vec![] }],
            nodes: vec![],
            meshes: vec![],
            skins: vec![],
            animations: vec![],
            materials: vec![],
            accessors: vec![],
            buffer_views: vec![],
            buffers: vec![],
        };
        Glb { document, bin: vec![] }
    }

    /// A vertex attribute.
    pub(super) fn add_attribute<const N: usize>(&mut self, rows: &[[f32; N]]) -> usize {
        let view = self.view(&little_endian(rows), Some(VERTICES));
        self.accessor(Accessor { buffer_view: Some(view), ..accessor::<N>(rows.len()) })
    }

    /// Vertex positions.
    pub(super) fn add_positions(&mut self, rows: &[[f32; 3]]) -> usize {
        let view = self.view(&little_endian(rows), Some(VERTICES));
        let (min, max) = bounds(rows);
        self.accessor(Accessor { buffer_view: Some(view), min, max, ..accessor::<3>(rows.len()) })
    }

    /// A vertex attribute of four bytes, joints or, normalised, a colour.
    pub(super) fn add_bytes(&mut self, rows: &[[u8; 4]], normalized: bool) -> usize {
        let view = self.view(rows.as_flattened(), Some(VERTICES));
        let component_type = U8;
        self.accessor(Accessor { buffer_view: Some(view), component_type, normalized, ..accessor::<4>(rows.len()) })
    }

    /// What is no vertex attribute: matrices, values of keys.
    pub(super) fn add_values<const N: usize>(&mut self, rows: &[[f32; N]]) -> usize {
        let view = self.view(&little_endian(rows), None);
        self.accessor(Accessor { buffer_view: Some(view), ..accessor::<N>(rows.len()) })
    }

    /// Times of keys, ascending.
    pub(super) fn add_times(&mut self, times: &[f32]) -> usize {
        let rows: Vec<[f32; 1]> = times.iter().map(|time| [*time]).collect();
        let accessor = self.add_values(&rows);
        let (min, max) = bounds(&rows);
        let written = &mut self.document.accessors[accessor];
        (written.min, written.max) = (min, max);
        accessor
    }

    /// Corners of triangles, as narrow as the number of vertices allows.
    pub(super) fn add_triangles(&mut self, triangles: &[[u32; 3]], vertex_count: usize) -> usize {
        let (bytes, component_type) = integers(triangles.as_flattened(), vertex_count);
        let view = self.view(&bytes, Some(INDICES));
        self.accessor(Accessor {
            buffer_view: Some(view),
            component_type,
            ..accessor::<1>(triangles.as_flattened().len())
        })
    }

    /// A morph target's positions and normals: `deltas` of the ascending `vertices`, and zero for all others. It is sparse where that is smaller.
    pub(super) fn add_target(&mut self, vertex_count: usize, vertices: &[u32], deltas: [&[[f32; 3]]; 2]) -> Attributes {
        let (indices, component_type) = integers(vertices, vertex_count);
        let is_sparse = indices.len() + 24 * vertices.len() < 24 * vertex_count;
        let indices = is_sparse.then(|| self.view(&indices, None));
        let mut target = Attributes::new();
        for (name, deltas) in ["POSITION", "NORMAL"].into_iter().zip(deltas) {
            let mut all = vec![[0.0; 3]; vertex_count];
            vertices.iter().zip(deltas).for_each(|(v, delta)| all[*v as usize] = *delta);
            let (min, max) = if name == "POSITION" { bounds(&all) } else { (None, None) };
            let written = match indices {
                Some(view) => {
                    let values = SparseValues { buffer_view: self.view(&little_endian(deltas), None) };
                    let indices = SparseIndices { buffer_view: view, component_type };
                    let sparse = Some(Sparse { count: vertices.len(), indices, values });
                    Accessor { sparse, min, max, ..accessor::<3>(vertex_count) }
                }
                None => {
                    let buffer_view = Some(self.view(&little_endian(&all), Some(VERTICES)));
                    Accessor { buffer_view, min, max, ..accessor::<3>(vertex_count) }
                }
            };
            target.insert(name, self.accessor(written));
        }
        target
    }

    fn accessor(&mut self, accessor: Accessor) -> usize {
        self.document.accessors.push(accessor);
        self.document.accessors.len() - 1
    }

    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let view = View { buffer: 0, byte_offset: self.bin.len(), byte_length: bytes.len(), target };
        self.bin.extend_from_slice(bytes);
        self.document.buffer_views.push(view);
        self.document.buffer_views.len() - 1
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// `Unsupported` - more than a GLB can hold, 4 GiB.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, LoadError> {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        if !self.bin.is_empty() {
            self.document.buffers.push(Buffer { byte_length: self.bin.len() });
        }
        let mut json = serde_json::to_vec(&self.document).expect("a document is plain data");
        json.resize(json.len().next_multiple_of(4), b' ');
        let length = 12 + 8 + json.len() + if self.bin.is_empty() { 0 } else { 8 + self.bin.len() };
        if u32::try_from(length).is_err() {
            return Err(LoadError::new(LoadErrorKind::Unsupported, "GLB", "at most 4 GiB", format!("{length} bytes")));
        }
        let mut bytes = Vec::with_capacity(length);
        bytes.extend_from_slice(b"glTF");
        bytes.extend_from_slice(&2u32.to_le_bytes());
        bytes.extend_from_slice(&(length as u32).to_le_bytes());
        for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &self.bin)].into_iter().filter(|(_, c)| !c.is_empty()) {
            bytes.extend_from_slice(&(chunk.len() as u32).to_le_bytes());
            bytes.extend_from_slice(kind);
            bytes.extend_from_slice(chunk);
        }
        Ok(bytes)
    }
}

/// An accessor of rows of N floats without anything else.
fn accessor<const N: usize>(count: usize) -> Accessor {
    debug_assert!(count > 0, "glTF has no empty accessors");
    let shape = SHAPES.iter().find(|(width, _)| *width == N).map_or("SCALAR", |(_, shape)| shape);
    Accessor {
        buffer_view: None,
        component_type: F32,
        normalized: false,
        count,
        shape,
        min: None,
        max: None,
        sparse: None,
    }
}

fn little_endian<const N: usize>(rows: &[[f32; N]]) -> Vec<u8> {
    rows.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Whole numbers below `limit` and their component type; the largest number of each type is no index.
fn integers(values: &[u32], limit: usize) -> (Vec<u8>, u32) {
    if limit <= usize::from(u16::MAX) {
        (values.iter().flat_map(|v| (*v as u16).to_le_bytes()).collect(), U16)
    } else {
        (values.iter().flat_map(|v| v.to_le_bytes()).collect(), U32)
    }
}

type Bound = Option<Vec<f64>>;

fn bounds<const N: usize>(rows: &[[f32; N]]) -> (Bound, Bound) {
    let of = |pick: fn(f32, f32) -> f32, start: f32| {
        Some((0..N).map(|axis| f64::from(rows.iter().map(|row| row[axis]).fold(start, pick))).collect())
    };
    (of(f32::min, f32::INFINITY), of(f32::max, f32::NEG_INFINITY))
}
