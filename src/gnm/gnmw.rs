//! The GNMW web container, both dialects: read by section name, written, and turned into a model where it holds one.
//!
//! Identity and expression bases are int8 with one scale per row; a value is `int8 * scale`.

mod container;
mod model;

use super::model::read::{VARIANT, VERSION, finite, parents, rows};
use crate::error::{LoadError, LoadErrorKind};
use container::{Container, Writer};
use serde_json::{Map, Value};

/// Which program's sections a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GnmwKind {
    /// The payload of GNM's own web demo: shape and expression only.
    Official,
    /// The XR Blocks export: with joints, weights, names and uvs.
    XrBlocks,
}

impl GnmwKind {
    /// `official`, `xrblocks`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            GnmwKind::Official => "official",
            GnmwKind::XrBlocks => "xrblocks",
        }
    }
}

/// A GNMW file.
#[derive(Debug, Clone, PartialEq)]
pub struct Gnmw {
    /// The file's `meta`, as it stands.
    pub meta: Map<String, Value>,
    /// Template vertices, (V, 3), metres.
    pub vertices: Vec<[f32; 3]>,
    /// (T, 3).
    pub triangles: Vec<[u32; 3]>,
    /// (I, V, 3).
    pub identity: GnmwBasis,
    /// (E, V, 3).
    pub expression: GnmwBasis,
    /// What only the XR Blocks dialect has.
    pub rig: Option<GnmwRig>,
}

/// A quantised basis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GnmwBasis {
    /// (rows, 3 V).
    pub values: Vec<i8>,
    /// What the values of a row are multiplied by, (rows).
    pub scales: Vec<f32>,
}

/// Joints, weights, names and surface of the XR Blocks dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct GnmwRig {
    /// (Q, 4).
    pub quads: Vec<[u32; 4]>,
    /// Joint origins at zero identity, (J, 3).
    pub joints: Vec<[f32; 3]>,
    /// (J); the file's self-parented or -1 root is `None`.
    pub joint_parents: Vec<Option<usize>>,
    /// (J, V).
    pub skinning_weights: Vec<f32>,
    /// (I, J, 3).
    pub joint_identity_basis: Vec<f32>,
    /// (9 J, 3 V).
    pub pose_correctives: Option<GnmwBasis>,
    /// Per vertex, an index into `componentNames`, `materialNames` and `regionNames` of `meta`; 255 is none. Empty where the file has none.
    pub labels: [Vec<u8>; 3],
    /// Vertices split at uv seams; the first V keep model order.
    pub surface: Option<GnmwSurface>,
    /// 68 of them; empty where the file has none.
    pub landmarks: Vec<GnmwLandmark>,
}

/// A point on the surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GnmwLandmark {
    /// Three vertices.
    pub vertices: [u32; 3],
    /// Their barycentric weights.
    pub weights: [f32; 3],
}

/// Texture coordinates of the XR Blocks dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct GnmwSurface {
    /// One per render vertex, (Vr, 2).
    pub uvs: Vec<[f32; 2]>,
    /// The model vertex that a render vertex copies, (Vr).
    pub sources: Vec<u32>,
    /// `triangles` in render vertices, (T, 3).
    pub triangles: Vec<[u32; 3]>,
}

/// The label sections and the lists in `meta` that they index.
const LABELS: [(&str, &str); 3] =
    [("component_id", "componentNames"), ("material_id", "materialNames"), ("region_id", "regionNames")];
const NO_LABEL: u8 = 255;

/// Reads a GNMW file of either dialect.
///
/// # Errors
/// `Format` for other files, `Version`, `Truncated`; `Missing`, `Type`, `Shape` and `Value` for sections that are absent, of another type, or
/// contradict one another; `Corrupt` for a header that contradicts the file.
pub fn read(bytes: &[u8]) -> Result<Gnmw, LoadError> {
    let file = Container::read(bytes)?;
    if file.has("identity_quantized") {
        return read_official(&file);
    }
    if file.has("template") {
        return read_xrblocks(&file);
    }
    let expected = "\"identity_quantized\" (official payload) or \"template\" (XR Blocks)";
    Err(LoadError::new(LoadErrorKind::Missing, "sections", expected, format!("{:?}", file.names())))
}

fn read_official(file: &Container) -> Result<Gnmw, LoadError> {
    let vertices = points(file, "vertices")?;
    let v = vertices.len();
    file.expect_meta("num_vertices", v)?;
    Ok(Gnmw {
        meta: file.meta().clone(),
        triangles: polygons(file, "triangles", v)?,
        identity: basis(file, "identity_quantized", "identity_scales", v)?,
        expression: basis(file, "expression_quantized", "expression_scales", v)?,
        vertices,
        rig: None,
    })
}

fn read_xrblocks(file: &Container) -> Result<Gnmw, LoadError> {
    let vertices = points(file, "template")?;
    let joints = points(file, "template_joints")?;
    let (v, j) = (vertices.len(), joints.len());
    let triangles: Vec<[u32; 3]> = polygons(file, "triangles", v)?;
    let identity = basis(file, "identity_basis", "identity_scales", v)?;
    let expression = basis(file, "expression_basis", "expression_scales", v)?;
    let (i, e) = (identity.scales.len(), expression.scales.len());
    for (key, count) in [("numVertices", v), ("numJoints", j), ("identityDim", i), ("expressionDim", e)] {
        file.expect_meta(key, count)?;
    }
    check_model_meta(file.meta(), &[("identityNames", i), ("expressionNames", e), ("jointNames", j)])?;
    let has_correctives = file.meta().get("hasPoseCorrectives").and_then(Value::as_bool) == Some(true);
    if has_correctives && !file.has("pose_correctives") {
        let expected = "the section that meta.hasPoseCorrectives promises";
        return Err(LoadError::new(LoadErrorKind::Missing, "pose_correctives", expected, "nothing"));
    }
    let joint_parents = file.integers("joint_parents", &[j])?;
    let pose_correctives = if file.has("pose_correctives") {
        let correctives = basis(file, "pose_correctives", "pose_correctives_scales", v)?;
        if correctives.scales.len() != 9 * j {
            let expected = format!("9 J = {} rows", 9 * j);
            return Err(LoadError::new(LoadErrorKind::Shape, "pose_correctives", expected, correctives.scales.len()));
        }
        Some(correctives)
    } else {
        None
    };
    let mut labels: [Vec<u8>; 3] = Default::default();
    for (ids, (section, names)) in labels.iter_mut().zip(LABELS) {
        if file.has(section) {
            let count = file.meta_names(names)?.len();
            *ids = file.bytes(section, &[v])?;
            if let Some(at) = ids.iter().position(|&id| id != NO_LABEL && usize::from(id) >= count) {
                let expected = format!("an index below {count}, or {NO_LABEL} for none");
                return Err(LoadError::new(LoadErrorKind::Value, format!("{section}[{at}]"), expected, ids[at]));
            }
        }
    }
    let rig = GnmwRig {
        quads: polygons(file, "quads", v)?,
        joint_parents: parents(&joint_parents).map_err(|e| e.within("joint_parents"))?,
        skinning_weights: floats(file, "skinning_weights", &[j, v])?,
        joint_identity_basis: floats(file, "joint_identity_basis", &[i, j, 3])?,
        pose_correctives,
        labels,
        surface: if file.has("vertex_uvs") { Some(surface(file, &triangles, v)?) } else { None },
        landmarks: if file.has("landmark_indices") { landmarks(file, v)? } else { Vec::new() },
        joints,
    };
    Ok(Gnmw { meta: file.meta().clone(), vertices, triangles, identity, expression, rig: Some(rig) })
}

/// Version and variant, and the lengths of the name lists, as far as the file states them: a model of another version would look nearly right.
fn check_model_meta(meta: &Map<String, Value>, lists: &[(&str, usize)]) -> Result<(), LoadError> {
    for (key, expected) in [("gnmVersion", VERSION), ("variant", VARIANT)] {
        if let Some(found) = meta.get(key).filter(|found| found.as_str() != Some(expected)) {
            return Err(LoadError::new(
                LoadErrorKind::Version,
                format!("meta.{key}"),
                format!("\"{expected}\""),
                found,
            ));
        }
    }
    for (key, count) in lists {
        if let Some(found) = meta.get(*key).and_then(Value::as_array).filter(|names| names.len() != *count) {
            let field = format!("meta.{key}");
            return Err(LoadError::new(LoadErrorKind::Shape, field, format!("{count} names"), found.len()));
        }
    }
    Ok(())
}

fn surface(file: &Container, triangles: &[[u32; 3]], v: usize) -> Result<GnmwSurface, LoadError> {
    let count = file.rows("vertex_uvs")?;
    file.expect_meta("numRenderVertices", count)?;
    let sources = file.indices("uv_source", &[count], v)?;
    let split: Vec<[u32; 3]> = polygons(file, "uv_triangles", count)?;
    let same = split.len() == triangles.len()
        && split.iter().zip(triangles).all(|(s, t)| (0..3).all(|k| sources[s[k] as usize] == t[k]));
    if !same {
        let expected = "the triangles, with seam vertices replaced by copies";
        return Err(LoadError::new(LoadErrorKind::Value, "uv_triangles", expected, "other corners"));
    }
    Ok(GnmwSurface { uvs: rows(&floats(file, "vertex_uvs", &[count, 2])?), sources, triangles: split })
}

fn landmarks(file: &Container, v: usize) -> Result<Vec<GnmwLandmark>, LoadError> {
    let indices: Vec<[u32; 3]> = polygons(file, "landmark_indices", v)?;
    let weights: Vec<[f32; 3]> = rows(&floats(file, "landmark_weights", &[indices.len(), 3])?);
    Ok(indices.into_iter().zip(weights).map(|(vertices, weights)| GnmwLandmark { vertices, weights }).collect())
}

fn points(file: &Container, name: &str) -> Result<Vec<[f32; 3]>, LoadError> {
    match file.rows(name)? {
        0 => Err(LoadError::new(LoadErrorKind::Shape, name, "at least one row", 0)),
        n => Ok(rows(&floats(file, name, &[n, 3])?)),
    }
}

fn floats(file: &Container, name: &str, shape: &[usize]) -> Result<Vec<f32>, LoadError> {
    let values = file.floats(name, shape)?;
    finite(name, &values)?;
    Ok(values)
}

fn polygons<const N: usize>(file: &Container, name: &str, limit: usize) -> Result<Vec<[u32; N]>, LoadError> {
    let flat = file.indices(name, &[file.rows(name)?, N], limit)?;
    Ok(flat.as_chunks::<N>().0.to_vec())
}

fn basis(file: &Container, values: &str, scales: &str, v: usize) -> Result<GnmwBasis, LoadError> {
    let count = file.rows(values)?;
    let basis = GnmwBasis {
        values: file.signed_bytes(values, &[count, v.saturating_mul(3)])?,
        scales: floats(file, scales, &[count])?,
    };
    Ok(basis)
}

impl GnmwBasis {
    fn write(&self, out: &mut Writer, values: &str, scales: &str, v: usize) {
        let count = self.scales.len();
        out.add(values, "int8", &[count, 3 * v], bytemuck::cast_slice::<i8, u8>(&self.values).to_vec());
        out.floats(scales, &[count], &self.scales);
    }
}

impl Gnmw {
    /// Which dialect it is.
    #[must_use]
    pub fn kind(&self) -> GnmwKind {
        if self.rig.is_some() { GnmwKind::XrBlocks } else { GnmwKind::Official }
    }

    /// The file's bytes, sections in the order that the dialect has them; the same contents give the same bytes.
    ///
    /// The law: reading them gives an equal value.
    ///
    /// # Panics
    /// When an index of the XR Blocks dialect does not fit into its 16 bits.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let v = self.vertices.len();
        let mut out = Writer::default();
        let Some(rig) = &self.rig else {
            out.floats("vertices", &[v, 3], self.vertices.as_flattened());
            let triangles = self.triangles.as_flattened().iter().flat_map(|i| i.to_le_bytes()).collect();
            out.add("triangles", "uint32", &[self.triangles.len(), 3], triangles);
            self.identity.write(&mut out, "identity_quantized", "identity_scales", v);
            self.expression.write(&mut out, "expression_quantized", "expression_scales", v);
            return out.finish(&self.meta);
        };
        let (j, i) = (rig.joints.len(), self.identity.scales.len());
        out.floats("template", &[v, 3], self.vertices.as_flattened());
        out.short_indices("triangles", &[self.triangles.len(), 3], self.triangles.as_flattened());
        out.short_indices("quads", &[rig.quads.len(), 4], rig.quads.as_flattened());
        out.floats("template_joints", &[j, 3], rig.joints.as_flattened());
        let parents = rig.joint_parents.iter().enumerate().flat_map(|(at, p)| (p.unwrap_or(at) as i32).to_le_bytes());
        out.add("joint_parents", "int32", &[j], parents.collect());
        out.floats("skinning_weights", &[j, v], &rig.skinning_weights);
        out.floats("joint_identity_basis", &[i, j, 3], &rig.joint_identity_basis);
        self.identity.write(&mut out, "identity_basis", "identity_scales", v);
        self.expression.write(&mut out, "expression_basis", "expression_scales", v);
        if let Some(correctives) = &rig.pose_correctives {
            correctives.write(&mut out, "pose_correctives", "pose_correctives_scales", v);
        }
        for (ids, (section, _)) in rig.labels.iter().zip(LABELS).filter(|(ids, _)| !ids.is_empty()) {
            out.add(section, "uint8", &[ids.len()], ids.clone());
        }
        if let Some(surface) = &rig.surface {
            out.floats("vertex_uvs", &[surface.uvs.len(), 2], surface.uvs.as_flattened());
            out.short_indices("uv_source", &[surface.sources.len()], &surface.sources);
            out.short_indices("uv_triangles", &[surface.triangles.len(), 3], surface.triangles.as_flattened());
        }
        if !rig.landmarks.is_empty() {
            let (indices, weights): (Vec<_>, Vec<_>) = rig.landmarks.iter().map(|l| (l.vertices, l.weights)).unzip();
            out.short_indices("landmark_indices", &[indices.len(), 3], indices.as_flattened());
            out.floats("landmark_weights", &[weights.len(), 3], weights.as_flattened());
        }
        out.finish(&self.meta)
    }
}

#[cfg(test)]
mod tests;
