//! The parts of the mouth, as a pack names them.

use super::blobs::Blobs;
use super::header::Fields;
use crate::error::{LoadError, LoadErrorKind};
use crate::info::Look;
use serde_json::value::RawValue;

/// Vertex groups and triangles inside the mouth, for a material each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mouth {
    /// 1 to 16 groups, usually `teeth`, `gums`, `tongue`, `mouth_sock`.
    pub groups: Vec<MouthGroup>,
    /// (T', 3) vertex indices of the pack.
    pub faces: Vec<[u32; 3]>,
    /// The group of each of these triangles, counted from 0; (T').
    pub face_groups: Vec<u32>,
}

/// One group of mouth vertices.
#[derive(Debug, Clone, PartialEq)]
pub struct MouthGroup {
    /// Its name.
    pub name: String,
    /// Its vertices.
    pub vertices: Vec<u32>,
    /// Colour and gloss, where the file states both and they lie in 0..1.
    pub look: Option<Look>,
}

impl MouthGroup {
    /// What a group without a valid look is drawn with.
    pub const DEFAULT_LOOK: Look = Look { color: [0.5; 3], gloss: 0.5 };
}

pub(super) const MAX_GROUPS: usize = 16;

impl Mouth {
    pub(super) fn read(header: &Fields, blobs: &Blobs, vertex_count: usize) -> Result<Option<Mouth>, LoadError> {
        if !header.object.contains_key("mouth") {
            return Ok(None);
        }
        let object = header.object("mouth")?;
        let mouth = Fields { path: "mouth.", object: &object };
        let list: Vec<Box<RawValue>> = mouth.get("groups", "a list of groups")?;
        if !(1..=MAX_GROUPS).contains(&list.len()) {
            let expected = format!("1 to {MAX_GROUPS} groups");
            return Err(LoadError::new(LoadErrorKind::Shape, "mouth.groups", expected, list.len()));
        }
        let groups = list.iter().enumerate().map(|(i, raw)| read_group(i, raw, blobs, vertex_count));
        let groups = groups.collect::<Result<Vec<_>, _>>()?;

        let blob_name = "the name of a buffer";
        let faces: String = mouth.get("faces", blob_name)?;
        let parts: String = mouth.get("faceParts", blob_name)?;
        let faces = blobs.polygons::<3>(&faces, vertex_count)?;
        let face_groups = blobs.indices(&parts, Some(faces.len()))?;
        let face_groups = face_groups.iter().enumerate().map(|(t, &part)| match part.checked_sub(1) {
            Some(group) if (group as usize) < groups.len() => Ok(group),
            _ => {
                let field = format!("buffer \"{parts}\"[{t}]");
                Err(LoadError::new(LoadErrorKind::Value, field, format!("a part of 1 to {}", groups.len()), part))
            }
        });
        let face_groups = face_groups.collect::<Result<Vec<_>, _>>()?;
        Ok(Some(Mouth { groups, faces, face_groups }))
    }
}

fn read_group(index: usize, raw: &RawValue, blobs: &Blobs, vertex_count: usize) -> Result<MouthGroup, LoadError> {
    let path = format!("mouth.groups[{index}]");
    let object = super::aosrig::parse_object(raw.get())
        .map_err(|e| LoadError::new(LoadErrorKind::Type, &path, "{name, vertices, look}", format!("{e} in {raw}")))?;
    let path = format!("{path}.");
    let group = Fields { path: &path, object: &object };
    let name = group.get("name", "a name")?;
    let vertices: String = group.get("vertices", "the name of a buffer")?;
    let vertices = blobs.vertex_indices(&vertices, vertex_count)?;
    let look = object.get("look").and_then(|raw| {
        let look = read_look(raw);
        if look.is_none() {
            log::warn!("{path}look: expected color [r, g, b] and gloss in 0..1; a grey one is used");
        }
        look
    });
    Ok(MouthGroup { name, vertices, look })
}

fn read_look(raw: &RawValue) -> Option<Look> {
    #[derive(serde::Deserialize)]
    struct Entry {
        color: [f32; 3],
        gloss: f32,
    }
    let Entry { color, gloss } = serde_json::from_str(raw.get()).ok()?;
    let valid = color.iter().chain([&gloss]).all(|x| (0.0..=1.0).contains(x));
    valid.then_some(Look { color, gloss })
}
