//! What `scene.json` says about rig and expression space, checked as far as that goes without the rig.

use crate::error::{LoadError, LoadErrorKind};
use crate::expression::{ArkitColumns, ArkitOrder, ArkitShape, Segment, SpaceKind};
use crate::files::inner_path;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The name of the file in a bundle.
pub const SCENE_FILE: &str = "scene.json";

/// The pack of an `orl` rig that names none.
pub const ORL_PACK: &str = "orl_pack.bin";

/// The pack of a `gnm` rig that names none.
pub const GNM_PACK: &str = "gnm_head.aosrig";

/// The file with an `orl` rig's control names, where the scene has none.
pub const RIG_NAMES: &str = "rig_names.json";

/// Neither block comes near this: names of a few hundred controls are some kilobytes. Parsed JSON takes up to sixteen times its text.
pub const MAX_BLOCK_BYTES: u64 = 1 << 20;

/// Which rig `rig.backend` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SceneBackend {
    /// MetaHuman.
    Orl,
    /// Google's parametric head.
    Gnm,
    /// A glTF file.
    Gltf,
    /// No rig: nothing in the scene needs posed vertices.
    None,
}

/// The `rig` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RigBlock {
    /// Which rig.
    pub backend: SceneBackend,
    /// The pack's path inside the bundle.
    pub pack: Option<String>,
    /// The controls that the scene sends, in order.
    pub control_names: Option<Vec<String>>,
    /// How many vertices the pack must have.
    pub vertex_count: Option<u64>,
}

/// The `expression_space` block.
#[derive(Debug, Clone, PartialEq)]
pub struct SpaceBlock {
    /// What a vector means.
    pub kind: SpaceKind,
    /// How long it is: stated as `dim`, or the number of names. Only a `gnm` space may leave both out.
    pub dim: Option<usize>,
    /// What each value is called.
    pub names: Option<Vec<String>>,
    /// The runs that tile it.
    pub segments: Option<Vec<Segment>>,
    /// The one-slot-per-shape map, not yet read: its range is the rig's.
    pub arkit_map: Option<Value>,
}

/// The two blocks of a scene that concern a rig.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneManifest {
    /// The `rig` block, where there is one.
    pub rig: Option<RigBlock>,
    /// The `expression_space` block, where there is one.
    pub space: Option<SpaceBlock>,
    /// There are branches, and each of them is `fused`: drawn without posed vertices.
    pub all_fused: bool,
}

/// The top level; whatever else stands there is skipped.
#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    rig: Option<&'a RawValue>,
    #[serde(borrow)]
    expression_space: Option<&'a RawValue>,
    #[serde(borrow)]
    branches: Option<&'a RawValue>,
}

impl SceneManifest {
    /// Reads the text of a `scene.json`.
    ///
    /// # Errors
    /// `Corrupt` - no JSON object, or a block twice; `Missing`, `Type`, `Value`, `Shape`, `Unsupported` - a field of the two blocks; see
    /// [`crate::scene`] for what each may be.
    pub fn read(text: &[u8]) -> Result<SceneManifest, LoadError> {
        let corrupt = |found: String| LoadError::new(LoadErrorKind::Corrupt, "", "a JSON object", found);
        // A struct would be read from an array too.
        if text.trim_ascii_start().first().is_some_and(|&first| first != b'{') {
            return Err(corrupt("something else".into()));
        }
        let document: Document = serde_json::from_slice(text).map_err(|e| corrupt(e.to_string()))?;
        Ok(SceneManifest {
            rig: block("rig", document.rig)?.as_ref().map(RigBlock::read).transpose()?,
            space: block("expression_space", document.expression_space)?.as_ref().map(SpaceBlock::read).transpose()?,
            all_fused: document.branches.is_some_and(all_fused),
        })
    }

    /// The rig that the scene asks for: without a `rig` block none if every branch is fused, otherwise `orl`.
    #[must_use]
    pub fn backend(&self) -> SceneBackend {
        match &self.rig {
            Some(rig) => rig.backend,
            None if self.all_fused => SceneBackend::None,
            None => SceneBackend::Orl,
        }
    }

    /// The pack that the scene asks for, stated or by default; none where nothing is packed.
    #[must_use]
    pub fn pack(&self) -> Option<&str> {
        let stated = self.rig.as_ref().and_then(|rig| rig.pack.as_deref());
        match self.backend() {
            SceneBackend::Orl => Some(stated.unwrap_or(ORL_PACK)),
            SceneBackend::Gnm => Some(stated.unwrap_or(GNM_PACK)),
            SceneBackend::Gltf => stated,
            SceneBackend::None => None,
        }
    }
}

/// Reads a JSON array of strings, such as `rig_names.json`.
///
/// # Errors
/// `Corrupt` - no JSON; `Type` - anything but an array of strings.
pub fn read_names(text: &[u8]) -> Result<Vec<String>, LoadError> {
    let value: Value = serde_json::from_slice(text)
        .map_err(|e| LoadError::new(LoadErrorKind::Corrupt, "", "a JSON array of strings", e))?;
    strings("", &value)
}

impl RigBlock {
    fn read(fields: &Fields) -> Result<RigBlock, LoadError> {
        let backend = match fields.text("backend", "orl, gnm, gltf or none")? {
            "orl" => SceneBackend::Orl,
            "gnm" => SceneBackend::Gnm,
            "gltf" => SceneBackend::Gltf,
            "none" => SceneBackend::None,
            other => {
                let found = format!("\"{other}\"");
                return Err(fields.error(LoadErrorKind::Unsupported, "backend", "orl, gnm, gltf or none", found));
            }
        };
        let pack = match fields.get("pack") {
            None | Some(Value::Null) => None,
            Some(Value::String(path)) => {
                Some(inner_path(path).map_err(|e| LoadError { field: format!("rig.pack: {}", e.field), ..e })?)
            }
            Some(other) => return Err(fields.error(LoadErrorKind::Type, "pack", "a path inside the bundle", other)),
        };
        if backend == SceneBackend::Gltf && pack.is_none() {
            let expected = "the path of a .glb, .gltf or .vrm file, which has no default name";
            return Err(fields.error(LoadErrorKind::Missing, "pack", expected, "nothing"));
        }
        let vertex_count = match fields.get("vertex_count") {
            None => None,
            Some(value) => match value.as_u64() {
                Some(count) => Some(count).filter(|&count| count > 0),
                None => {
                    let expected = "a count of vertices, or 0 for unstated";
                    return Err(fields.error(LoadErrorKind::Value, "vertex_count", expected, value));
                }
            },
        };
        Ok(RigBlock { backend, pack, control_names: fields.names("control_names")?, vertex_count })
    }
}

impl SpaceBlock {
    fn read(fields: &Fields) -> Result<SpaceBlock, LoadError> {
        let kind = SpaceKind::parse(fields.text("kind", "arkit52, gnm or gnm68")?)?;
        let names = fields.names("names")?;
        let stated = match fields.get("dim") {
            None => None,
            Some(value) => match value.as_i64() {
                // A dim of 0 or less states nothing, as in the engine.
                Some(dim) => usize::try_from(dim).ok().filter(|&dim| dim > 0),
                None => return Err(fields.error(LoadErrorKind::Type, "dim", "an integer", value)),
            },
        };
        if let (Some(dim), Some(names)) = (stated, &names)
            && dim != names.len()
        {
            let expected = format!("{dim} names, as dim says");
            return Err(fields.error(LoadErrorKind::Shape, "names", expected, names.len()));
        }
        let dim = stated.or(names.as_ref().map(Vec::len));
        let segments = fields.segments()?;
        if let (Some(dim), Some(segments)) = (dim, &segments) {
            Segment::check_tiling(segments, dim).map_err(segments_of_block)?;
        }
        let block = SpaceBlock { kind, dim, names, segments, arkit_map: fields.get("arkit_map").cloned() };
        match (kind, dim) {
            (SpaceKind::Gnm, _) | (SpaceKind::Gnm68, Some(68)) => {}
            (SpaceKind::Gnm68, Some(dim)) => {
                return Err(fields.error(LoadErrorKind::Value, "dim", "68 for gnm68", dim));
            }
            (SpaceKind::Arkit52, Some(_)) => drop(block.columns()?),
            (_, None) => {
                let (expected, found) = (format!("a dim or names for {}", kind.name()), "neither");
                return Err(fields.error(LoadErrorKind::Missing, "dim", expected, found));
            }
        }
        Ok(block)
    }

    /// The columns of an `arkit52` space: its names, or without any the 52 in the engine's order.
    ///
    /// # Errors
    /// `Value` - a width other than 52 without names; `Corrupt` - two names for one shape; `Value` - names of which none is a shape.
    pub fn columns(&self) -> Result<ArkitColumns, LoadError> {
        let refused =
            |field: &str, expected, found: String| Err(LoadError::new(LoadErrorKind::Value, field, expected, found));
        let Some(names) = &self.names else {
            return match self.dim {
                None | Some(52) => Ok(ArkitColumns::of(ArkitOrder::Engine)),
                Some(dim) => refused("expression_space.dim", "52 for arkit52 without names", dim.to_string()),
            };
        };
        let columns =
            ArkitColumns::new(names).map_err(|e| LoadError { field: "expression_space.names".into(), ..e })?;
        if columns.missing().len() == ArkitShape::ALL.len() {
            return refused("expression_space.names", "names of ARKit shapes", format!("\"{}\", ...", names[0]));
        }
        Ok(columns)
    }
}

/// Branches of another form belong to another reader; they fuse nothing here.
fn all_fused(branches: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Branch {
        fused: bool,
    }
    let branches: BTreeMap<String, &RawValue> = serde_json::from_str(branches.get()).unwrap_or_default();
    let is_fused = |branch: &&RawValue| {
        branch.get().starts_with('{') && serde_json::from_str::<Branch>(branch.get()).is_ok_and(|b| b.fused)
    };
    !branches.is_empty() && branches.values().all(is_fused)
}

/// One block, with its name for messages.
struct Fields {
    block: &'static str,
    map: Map<String, Value>,
}

/// The block's fields; `null` is as good as no block.
fn block(name: &'static str, text: Option<&RawValue>) -> Result<Option<Fields>, LoadError> {
    let Some(text) = text else { return Ok(None) };
    if text.get().len() as u64 > MAX_BLOCK_BYTES {
        let (expected, found) = (format!("at most {MAX_BLOCK_BYTES} bytes"), text.get().len());
        return Err(LoadError::new(LoadErrorKind::Unsupported, name, expected, found));
    }
    match serde_json::from_str(text.get()) {
        Ok(Value::Object(map)) => Ok(Some(Fields { block: name, map })),
        Ok(other) => Err(LoadError::new(LoadErrorKind::Type, name, "an object", other)),
        Err(error) => Err(LoadError::new(LoadErrorKind::Corrupt, name, "an object", error)),
    }
}

impl Fields {
    fn get(&self, key: &str) -> Option<&Value> {
        self.map.get(key)
    }

    fn error(
        &self,
        kind: LoadErrorKind,
        key: &str,
        expected: impl std::fmt::Display,
        found: impl std::fmt::Display,
    ) -> LoadError {
        LoadError::new(kind, format!("{}.{key}", self.block), expected, found)
    }

    fn text(&self, key: &str, expected: &str) -> Result<&str, LoadError> {
        match self.get(key) {
            Some(Value::String(text)) => Ok(text),
            Some(other) => Err(self.error(LoadErrorKind::Type, key, expected, other)),
            None => Err(self.error(LoadErrorKind::Missing, key, expected, "nothing")),
        }
    }

    /// An array of strings; an empty one states nothing.
    fn names(&self, key: &str) -> Result<Option<Vec<String>>, LoadError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let names = strings(&format!("{}.{key}", self.block), value)?;
        Ok(Some(names).filter(|names| !names.is_empty()))
    }

    fn segments(&self) -> Result<Option<Vec<Segment>>, LoadError> {
        let Some(value) = self.get("segments") else { return Ok(None) };
        let expected = "an array of objects with name, start and count";
        let refused = |found: &Value| self.error(LoadErrorKind::Type, "segments", expected, found);
        let segment = |entry: &Value| {
            let count = |key: &str| entry.get(key)?.as_u64().and_then(|n| usize::try_from(n).ok());
            let name = entry.get("name").and_then(Value::as_str).map(str::to_owned);
            match (name, count("start"), count("count")) {
                (Some(name), Some(start), Some(count)) => Ok(Segment { name, start, count }),
                _ => Err(refused(entry)),
            }
        };
        let entries = value.as_array().ok_or_else(|| refused(value))?;
        let segments: Vec<Segment> = entries.iter().map(segment).collect::<Result<_, _>>()?;
        Ok(Some(segments).filter(|segments| !segments.is_empty()))
    }
}

fn strings(field: &str, value: &Value) -> Result<Vec<String>, LoadError> {
    let refused = |found: &Value| LoadError::new(LoadErrorKind::Type, field, "an array of strings", found);
    let entries = value.as_array().ok_or_else(|| refused(value))?;
    entries.iter().map(|entry| entry.as_str().map(str::to_owned).ok_or_else(|| refused(entry))).collect()
}

fn segments_of_block(error: LoadError) -> LoadError {
    LoadError { field: "expression_space.segments".into(), ..error }
}
