//! An already baked head with its body's rig pair -> pack.

use super::view::{self, View};
use super::{BakeOptions, EYES, MAX_JOINTS, provenance, quantize, surface, weights};
use crate::error::{LoadError, LoadErrorKind, one_line};
use crate::gnm::model::read::{expect_shape, finite, rows};
use crate::gnm::pack::{GnmPack, PackJoint, PackParts};
use crate::math;
use crate::npy::Npz;
use bytemuck::Pod;
use half::f16;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

const HEAD: &str = "head";
/// Arrays that a baked head may have.
const KEYS: [&str; 12] = [
    "neutral",
    "basis",
    "faces",
    "quads",
    "uv",
    "quad_uv",
    "eye_names",
    "eye_positions",
    "eye_weights",
    "stitch_local",
    "skin_index",
    "skin_weight",
];

/// The body's rig: `<character>.aosrig.json`.
#[derive(Deserialize)]
struct RigFile {
    joints: Vec<RigJoint>,
    head: RigHead,
}

#[derive(Deserialize)]
struct RigJoint {
    name: String,
    parent: Option<String>,
}

#[derive(Deserialize)]
struct RigHead {
    attachment: RigAttachment,
}

#[derive(Deserialize)]
struct RigAttachment {
    local_to_head: [[f64; 4]; 4],
}

/// Bakes a head npz (neutral, basis, weights against a body) with its rig pair: `<character>.aosrig.json` and `<character>.aosrig.npz`.
///
/// Joints are those of the body that the skin refers to, and all above them, in the body's order; the bind transform is
/// `bind_world[head] * local_to_head`. A basis of halves keeps its bits.
///
/// # Errors
/// `Missing` for an absent array or joint, `Shape`, `Type` and `Value` for arrays that contradict one another.
pub fn bake_rigged(
    head_npz: &[u8],
    rig_json: &[u8],
    rig_npz: &[u8],
    options: &BakeOptions,
    progress: &mut dyn FnMut(f32),
) -> Result<GnmPack, LoadError> {
    GnmPack::build(&rigged_parts(head_npz, rig_json, rig_npz, options, progress)?)
}

pub(super) fn rigged_parts(
    head_npz: &[u8],
    rig_json: &[u8],
    rig_npz: &[u8],
    options: &BakeOptions,
    progress: &mut dyn FnMut(f32),
) -> Result<PackParts, LoadError> {
    let head = Head { npz: Npz::open(head_npz)? };
    let extra: Vec<&str> = head.npz.names().filter(|name| !KEYS.contains(name)).collect();
    if !extra.is_empty() {
        log::warn!("ignored arrays that a baked head does not have: {}", one_line(extra.join(", ")));
    }
    let v = head.rows_of("neutral")?;
    let e = head.rows_of("basis")?;
    let view = View::new(&view::regions_of_count(e)?, options.keep)?;
    let body = Body::read(rig_json, rig_npz)?;
    let lanes = head.npz.header("skin_index")?.shape().get(1).copied().unwrap_or(0);
    let skin_index = head.indices("skin_index", &[v, lanes], "V, lanes", body.names.len())?;
    let skin_weight = head.floats("skin_weight", &[v, lanes], "V, lanes")?;
    let compact = body.compact(&skin_index);
    let row = |vertex: usize| {
        let lane = |k: usize| (compact.new_index[skin_index[k] as usize], f64::from(skin_weight[k]));
        weights::normalize("skin_weight", vertex, (vertex * lanes..(vertex + 1) * lanes).map(lane).collect())
    };
    let skin = weights::round(&(0..v).map(row).collect::<Result<Vec<_>, _>>()?);

    head.expect("basis", &[e, v, 3], "E, V, 3")?;
    let halves = head.npz.header("basis")?.descr().ends_with("f2");
    let basis = if halves {
        let values = head.npz.read_f16("basis")?;
        if let Some(at) = values.iter().position(|x: &f16| !x.is_finite()) {
            return Err(LoadError::new(LoadErrorKind::Value, format!("basis[{at}]"), "a finite number", values[at]));
        }
        quantize::quantize(&values, v, &view.ids, options.format, progress)
    } else {
        quantize::quantize(&head.floats("basis", &[e, v, 3], "E, V, 3")?, v, &view.ids, options.format, progress)
    };

    let [left, right] = head.eyes()?;
    let positions: Vec<[f32; 3]> = head.table("eye_positions", &[2, 3], "2, 3")?;
    let eye_weights = head.floats("eye_weights", &[2, v], "2, V")?;
    let faces = head.polygons::<3>("faces", v)?;
    let quads = head.optional("quads", |name| head.polygons::<4>(name, v))?;
    let uvs = match head.optional("uv", |name| head.table::<[f32; 2]>(name, &[v, 2], "V, 2"))? {
        Some(uvs) => Some(uvs),
        None => head.uvs_of_corners(quads.as_deref(), v)?,
    };
    let source = provenance(options, &view, &basis);
    Ok(PackParts {
        neutral: head.table("neutral", &[v, 3], "V, 3")?,
        basis_format: options.format,
        basis: basis.bytes,
        basis_scale: basis.scale,
        lanes: skin.lanes,
        skin_joints: skin.joints,
        skin_weights: skin.weights,
        eye_positions: [positions[left], positions[right]],
        eye_weights: [left, right].map(|eye| eye_weights[eye * v..][..v].to_vec()),
        joints: compact.joints,
        bind_transform: body.bind_transform,
        regions: view.regions,
        faces: if options.lean { Vec::new() } else { faces },
        quads: if options.lean { None } else { quads },
        uvs,
        seam: head.optional("stitch_local", |name| head.table::<[f32; 3]>(name, &[v, 3], "V, 3"))?,
        mouth: None,
        source: Value::Object(source),
    })
}

/// The arrays of a baked head.
struct Head<'a> {
    npz: Npz<'a>,
}

impl Head<'_> {
    fn rows_of(&self, name: &str) -> Result<usize, LoadError> {
        let header = self.npz.header(name)?;
        match header.shape().first() {
            Some(&n) if n > 0 => Ok(n),
            _ => Err(LoadError::new(LoadErrorKind::Shape, name, "at least one row", format!("{:?}", header.shape()))),
        }
    }

    fn expect(&self, name: &str, shape: &[usize], letters: &str) -> Result<(), LoadError> {
        expect_shape(name, letters, shape, &self.npz.header(name)?)
    }

    fn floats(&self, name: &str, shape: &[usize], letters: &str) -> Result<Vec<f32>, LoadError> {
        self.expect(name, shape, letters)?;
        let values = self.npz.read_f32(name)?;
        finite(name, &values)?;
        Ok(values)
    }

    fn table<T: Pod>(&self, name: &str, shape: &[usize], letters: &str) -> Result<Vec<T>, LoadError> {
        Ok(rows(&self.floats(name, shape, letters)?))
    }

    fn indices(&self, name: &str, shape: &[usize], letters: &str, limit: usize) -> Result<Vec<u32>, LoadError> {
        self.expect(name, shape, letters)?;
        let values = self.npz.read(name)?.into_u32().map_err(|e| e.within(name))?;
        match values.iter().position(|&x| x as usize >= limit) {
            Some(at) => {
                let field = format!("{name}[{at}]");
                Err(LoadError::new(LoadErrorKind::Value, field, format!("an index below {limit}"), values[at]))
            }
            None => Ok(values),
        }
    }

    fn polygons<const N: usize>(&self, name: &str, vertices: usize) -> Result<Vec<[u32; N]>, LoadError> {
        let count = self.npz.header(name)?.shape().first().copied().unwrap_or(0);
        let letters = format!("rows, {N}");
        Ok(self.indices(name, &[count, N], &letters, vertices)?.as_chunks::<N>().0.to_vec())
    }

    fn optional<T>(&self, name: &str, read: impl Fn(&str) -> Result<T, LoadError>) -> Result<Option<T>, LoadError> {
        self.npz.contains(name).then(|| read(name)).transpose()
    }

    fn uvs_of_corners(&self, quads: Option<&[[u32; 4]]>, v: usize) -> Result<Option<Vec<[f32; 2]>>, LoadError> {
        let Some(quads) = quads.filter(|_| self.npz.contains("quad_uv")) else { return Ok(None) };
        let corners: Vec<[[f32; 2]; 4]> = self.table("quad_uv", &[quads.len(), 4, 2], "Q, 4, 2")?;
        Ok(Some(surface::last_corner_uvs(quads, &corners, v)))
    }

    /// The rows of the left and the right eye.
    fn eyes(&self) -> Result<[usize; 2], LoadError> {
        self.expect("eye_names", &[2], "2")?;
        let names = self.npz.read("eye_names")?.into_text().map_err(|e| e.within("eye_names"))?;
        let find = |eye: &str| {
            let found =
                || LoadError::new(LoadErrorKind::Missing, "eye_names", format!("\"{eye}\""), format!("{names:?}"));
            names.iter().position(|n| n == eye).ok_or_else(found)
        };
        Ok([find(EYES[0])?, find(EYES[1])?])
    }
}

/// The body that the head sits on.
struct Body {
    names: Vec<String>,
    parents: Vec<Option<usize>>,
    bind_world: Vec<[f32; 16]>,
    bind_transform: [f64; 16],
}

/// The body's joints that a head needs.
struct Compact {
    joints: Vec<PackJoint>,
    /// By body joint; only the kept ones are meaningful.
    new_index: Vec<u16>,
}

impl Body {
    fn read(rig_json: &[u8], rig_npz: &[u8]) -> Result<Body, LoadError> {
        let rig: RigFile = serde_json::from_slice(rig_json)
            .map_err(|e| LoadError::new(LoadErrorKind::Format, "rig", "joints and head.attachment.local_to_head", e))?;
        let names: Vec<String> = rig.joints.iter().map(|j| j.name.clone()).collect();
        let parents = parents(&rig.joints)?;
        if names.len() > MAX_JOINTS {
            let expected = format!("at most {MAX_JOINTS} joints");
            return Err(LoadError::new(LoadErrorKind::Shape, "rig: joints", expected, names.len()));
        }
        let world = Head { npz: Npz::open(rig_npz).map_err(|e| e.within("rig npz"))? };
        let bind_world: Vec<[f32; 16]> = world.table("bind_world", &[names.len(), 4, 4], "joints, 4, 4")?;
        let Some(head) = names.iter().position(|n| n == HEAD) else {
            return Err(LoadError::new(LoadErrorKind::Missing, "rig: joints", format!("a joint \"{HEAD}\""), "none"));
        };
        let local_to_head: [f64; 16] = bytemuck::cast(rig.head.attachment.local_to_head);
        for (field, m) in [("bind_world[head]", bind_world[head].map(f64::from)), ("local_to_head", local_to_head)] {
            if m[12..] != [0.0, 0.0, 0.0, 1.0] || !m.iter().all(|x| x.is_finite()) {
                let expected = "a finite affine matrix, row-major";
                return Err(LoadError::new(LoadErrorKind::Value, field, expected, format!("{m:?}")));
            }
        }
        let bind = math::affine_from_row_major(&bind_world[head].map(f64::from));
        let bind_transform = math::row_major_from_affine(&(bind * math::affine_from_row_major(&local_to_head)));
        Ok(Body { names, parents, bind_world, bind_transform })
    }

    /// The joints that `referred` names and all above them, in body order. Padding lanes refer to joint 0, so that stays.
    fn compact(&self, referred: &[u32]) -> Compact {
        let mut kept = vec![false; self.names.len()];
        for &joint in referred {
            let mut next = Some(joint as usize);
            while let Some(joint) = next.filter(|&j| !kept[j]) {
                kept[joint] = true;
                next = self.parents[joint];
            }
        }
        let mut new_index = vec![0u16; self.names.len()];
        let mut joints = Vec::new();
        for joint in (0..self.names.len()).filter(|&j| kept[j]) {
            new_index[joint] = joints.len() as u16;
            joints.push(PackJoint {
                name: self.names[joint].clone(),
                parent: self.parents[joint].map(|p| usize::from(new_index[p])),
                rest_world: self.bind_world[joint],
            });
        }
        Compact { joints, new_index }
    }
}

/// The parents' indices; a parent comes before its children.
fn parents(joints: &[RigJoint]) -> Result<Vec<Option<usize>>, LoadError> {
    let mut seen = HashMap::new();
    let mut parents = Vec::with_capacity(joints.len());
    for (at, joint) in joints.iter().enumerate() {
        let parent = match &joint.parent {
            None => None,
            Some(name) => Some(*seen.get(name.as_str()).ok_or_else(|| {
                let field = format!("rig: parent of {}", joint.name);
                LoadError::new(LoadErrorKind::Value, field, "a joint before it", format!("\"{name}\""))
            })?),
        };
        parents.push(parent);
        if seen.insert(joint.name.as_str(), at).is_some() {
            let expected = "joints of different names";
            return Err(LoadError::new(
                LoadErrorKind::Value,
                "rig: joints",
                expected,
                format!("two \"{}\"", joint.name),
            ));
        }
    }
    Ok(parents)
}
