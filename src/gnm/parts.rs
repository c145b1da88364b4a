//! Everything a pack holds, and the pack made of it.

use super::aosrig::{DType, Writer};
use super::mouth::{Mouth, MouthGroup};
use super::pack::{BasisFormat, GnmPack, Region, entry_bytes};
use crate::error::{LoadError, LoadErrorKind};
use crate::info::Look;
use half::f16;
use indexmap::IndexMap;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt;

/// Everything a pack holds, for [`GnmPack::build`]. Lengths in metres.
#[derive(Clone, PartialEq)]
pub struct PackParts {
    /// (V, 3), head-local.
    pub neutral: Vec<[f32; 3]>,
    /// What `basis` holds.
    pub basis_format: BasisFormat,
    /// (V, E, 3), vertex-major: little-endian halves or int8.
    pub basis: Vec<u8>,
    /// What a basis entry is multiplied by, (E).
    pub basis_scale: Vec<f32>,
    /// K.
    pub lanes: usize,
    /// (V, K).
    pub skin_joints: Vec<u16>,
    /// (V, K); each row sums to one.
    pub skin_weights: Vec<f16>,
    /// The centres of the left and the right eye, head-local.
    pub eye_positions: [[f32; 3]; 2],
    /// How much each vertex follows the left and the right eye, (2, V).
    pub eye_weights: [Vec<f32>; 2],
    /// (J), parents first.
    pub joints: Vec<PackJoint>,
    /// Head-local to the body's bind space, row-major.
    pub bind_transform: [f64; 16],
    /// Runs of coefficients; their counts sum to E.
    pub regions: Vec<Region>,
    /// (T, 3); empty for a lean pack.
    pub faces: Vec<[u32; 3]>,
    /// (Q, 4).
    pub quads: Option<Vec<[u32; 4]>>,
    /// (V, 2).
    pub uvs: Option<Vec<[f32; 2]>>,
    /// Added after gaze and before skinning, (V, 3), head-local.
    pub seam: Option<Vec<[f32; 3]>>,
    /// The parts of the mouth.
    pub mouth: Option<Mouth>,
    /// Where the head comes from, in any form; null leaves it out.
    pub source: serde_json::Value,
}

impl fmt::Debug for PackParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackParts")
            .field("vertex_count", &self.neutral.len())
            .field("basis_format", &self.basis_format)
            .field("regions", &self.regions)
            .field("joints", &self.joints)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// One joint of a pack.
#[derive(Debug, Clone, PartialEq)]
pub struct PackJoint {
    /// Unique.
    pub name: String,
    /// An earlier joint; none for a root.
    pub parent: Option<usize>,
    /// The rest transform in bind space, row-major.
    pub rest_world: [f32; 16],
}

/// The coefficients per region that the reduced view keeps.
pub(super) const REDUCED: [(&str, usize); 5] =
    [("left_eye", 16), ("right_eye", 16), ("lower_face", 28), ("tongue", 3), ("pupils", 1)];

impl GnmPack {
    /// A pack of these parts: written as a container, and read back through the checks that a file passes.
    ///
    /// The same parts give the same bytes.
    ///
    /// # Errors
    /// `Shape` for lists whose lengths disagree, otherwise what [`GnmPack::read`] refuses.
    pub fn build(parts: &PackParts) -> Result<GnmPack, LoadError> {
        let (v, e, k, j) = (parts.neutral.len(), parts.basis_scale.len(), parts.lanes, parts.joints.len());
        check_lengths(parts)?;
        let parents: Vec<i32> =
            parts.joints.iter().map(|joint| joint.parent.map_or(Ok(-1), to_i32)).collect::<Result<_, _>>()?;

        let mut out = header(parts, &parents);
        out.blob("neutral", DType::F32, &[v, 3], floats(parts.neutral.as_flattened()));
        match parts.basis_format {
            BasisFormat::F16 => {
                let mut words = Cow::from(&parts.basis);
                if !words.len().is_multiple_of(4) {
                    words.to_mut().extend([0; 2]);
                }
                out.blob("basis", DType::U32, &[words.len() / 4], words);
            }
            BasisFormat::I8 => out.blob("basis", DType::I8, &[v, e, 3], &parts.basis),
        }
        out.blob("basisScale", DType::F32, &[e], floats(&parts.basis_scale));
        out.blob("skinIndex", DType::U16, &[v, k], bytes(&parts.skin_joints, |x| x.to_le_bytes()));
        out.blob("skinWeight", DType::F16, &[v, k], bytes(&parts.skin_weights, |x| x.to_le_bytes()));
        out.blob("eyePositions", DType::F32, &[2, 3], floats(parts.eye_positions.as_flattened()));
        out.blob("eyeWeights", DType::F32, &[2, v], floats(&parts.eye_weights.concat()));
        let rest: Vec<f32> = parts.joints.iter().flat_map(|joint| joint.rest_world).collect();
        out.blob("restWorld", DType::F32, &[j, 4, 4], floats(&rest));
        out.blob("jointParents", DType::I32, &[j], bytes(&parents, |x| x.to_le_bytes()));
        out.blob("faces", DType::U32, &[parts.faces.len(), 3], words(parts.faces.as_flattened()));
        if let Some(quads) = &parts.quads {
            out.blob("quads", DType::U32, &[quads.len(), 4], words(quads.as_flattened()));
        }
        if let Some(uvs) = &parts.uvs {
            out.blob("uv", DType::F32, &[uvs.len(), 2], floats(uvs.as_flattened()));
        }
        if let Some(seam) = &parts.seam {
            out.blob("stitchLocal", DType::F32, &[seam.len(), 3], floats(seam.as_flattened()));
        }
        if let Some(mouth) = &parts.mouth {
            for (group, name) in mouth.groups.iter().zip(mouth_blob_names(mouth)) {
                out.blob(&name, DType::U32, &[group.vertices.len()], words(&group.vertices));
            }
            let parts: Vec<u32> = mouth.face_groups.iter().map(|g| g.saturating_add(1)).collect();
            out.blob("mouthFaces", DType::U32, &[mouth.faces.len(), 3], words(mouth.faces.as_flattened()));
            out.blob("mouthFaceParts", DType::U32, &[parts.len()], words(&parts));
        }
        GnmPack::read(out.finish()?)
    }
}

/// What reading back cannot see because the container states the lengths that were given.
fn check_lengths(parts: &PackParts) -> Result<(), LoadError> {
    let (v, e) = (parts.neutral.len(), parts.basis_scale.len());
    let check = |field: &str, expected: usize, got: usize| {
        if expected == got {
            return Ok(());
        }
        Err(LoadError::new(LoadErrorKind::Shape, field, format!("length {expected}"), got))
    };
    check("basis", v.saturating_mul(e).saturating_mul(3 * entry_bytes(parts.basis_format)), parts.basis.len())?;
    check("skin_joints", v.saturating_mul(parts.lanes), parts.skin_joints.len())?;
    check("skin_weights", v.saturating_mul(parts.lanes), parts.skin_weights.len())?;
    check("eye_weights, left", v, parts.eye_weights[0].len())?;
    check("eye_weights, right", v, parts.eye_weights[1].len())?;
    check("uvs", v, parts.uvs.as_ref().map_or(v, Vec::len))?;
    check("seam", v, parts.seam.as_ref().map_or(v, Vec::len))
}

#[derive(Serialize)]
struct JointField<'a> {
    name: &'a str,
    parent: i32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HeadExtField<'a> {
    dim: usize,
    expr_dim: usize,
    gaze_dim: usize,
    regions: Vec<(&'a str, usize)>,
    reduced: IndexMap<&'a str, usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MouthField<'a> {
    groups: Vec<GroupField<'a>>,
    faces: &'a str,
    face_parts: &'a str,
}

#[derive(Serialize)]
struct GroupField<'a> {
    name: &'a str,
    vertices: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    look: Option<LookField>,
}

#[derive(Serialize)]
struct LookField {
    color: [f32; 3],
    gloss: f32,
}

/// The header's fields, in the order that existing packs have them.
fn header<'a>(parts: &PackParts, parents: &[i32]) -> Writer<'a> {
    let e = parts.basis_scale.len();
    let joints = parts.joints.iter().zip(parents).map(|(joint, &parent)| JointField { name: &joint.name, parent });
    let kept = |r: &Region| REDUCED.iter().find(|(name, _)| *name == r.name).map(|&(name, n)| (name, n.min(r.count)));
    let head_ext = HeadExtField {
        dim: e + 4,
        expr_dim: e,
        gaze_dim: 4,
        regions: parts.regions.iter().map(|r| (r.name.as_str(), r.count)).collect(),
        reduced: parts.regions.iter().filter_map(kept).collect(),
    };
    let mut out = Writer::default();
    out.field("version", &1);
    out.field("model", &"gnm");
    out.field("vertexCount", &parts.neutral.len());
    out.field("maxInfluence", &parts.lanes);
    out.field("units", &"m");
    out.field("joints", &joints.collect::<Vec<_>>());
    out.field("eyes", &serde_json::json!({"names": ["left_eye", "right_eye"]}));
    out.field("bindTransform", &parts.bind_transform);
    out.field("coeffCount", &e);
    out.field("headExt", &head_ext);
    if !parts.source.is_null() {
        out.field("source", &parts.source);
    }
    if let Some(mouth) = &parts.mouth {
        let groups = mouth.groups.iter().zip(mouth_blob_names(mouth)).map(|(group, vertices)| GroupField {
            name: &group.name,
            vertices,
            look: group.look.map(|Look { color, gloss }| LookField { color, gloss }),
        });
        let groups = groups.collect();
        out.field("mouth", &MouthField { groups, faces: "mouthFaces", face_parts: "mouthFaceParts" });
    }
    out
}

/// The names that existing packs use; a group of another name, or a second of the same, is numbered.
fn mouth_blob_names(mouth: &Mouth) -> Vec<String> {
    let name = |(i, group): (usize, &MouthGroup)| {
        let first = mouth.groups[..i].iter().all(|g| g.name != group.name);
        match group.name.as_str() {
            "teeth" if first => "mouthTeeth".into(),
            "gums" if first => "mouthGums".into(),
            "tongue" if first => "mouthTongue".into(),
            "mouth_sock" if first => "mouthBag".into(),
            _ => format!("mouthGroup{i}"),
        }
    };
    mouth.groups.iter().enumerate().map(name).collect()
}

fn to_i32(parent: usize) -> Result<i32, LoadError> {
    let found = |_| LoadError::new(LoadErrorKind::Value, "joints", "parents that come before their children", parent);
    i32::try_from(parent).map_err(found)
}

fn bytes<T: Copy, const N: usize>(values: &[T], to_bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&x| to_bytes(x)).collect()
}

fn floats(values: &[f32]) -> Vec<u8> {
    bytes(values, f32::to_le_bytes)
}

fn words(values: &[u32]) -> Vec<u8> {
    bytes(values, u32::to_le_bytes)
}
