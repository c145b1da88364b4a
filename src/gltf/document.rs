//! The parts of a glTF document that a rig is made of, as the file has them; everything else is skipped unread.
//!
//! The `gltf` crate (1.4.1) is not what reads them. It refuses a document that requires `KHR_mesh_quantization` or
//! `EXT_meshopt_compression`, or whose positions have no bounds; it demands well-formed materials, textures and cameras, which no rig
//! needs; a value of the wrong type is reported with a line and a column of the file; and without its validation its readers panic.

use super::{looks, object, whole};
use crate::error::{LoadError, LoadErrorKind};
use crate::info::Look;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Root {
    #[serde(deserialize_with = "object::one")]
    pub(super) asset: Asset,
    #[serde(default)]
    pub(super) extensions_required: Vec<String>,
    #[serde(default, deserialize_with = "whole::maybe")]
    pub(super) scene: Option<usize>,
    #[serde(default, deserialize_with = "object::list")]
    pub(super) scenes: Vec<Scene>,
    #[serde(default, deserialize_with = "object::list")]
    pub(super) nodes: Vec<Node>,
    #[serde(default, deserialize_with = "object::list")]
    pub(super) meshes: Vec<Mesh>,
    #[serde(default, deserialize_with = "object::list")]
    pub(super) skins: Vec<Skin>,
    #[serde(default, deserialize_with = "object::list")]
    pub(super) animations: Vec<Animation>,
    #[serde(default, deserialize_with = "looks::materials")]
    pub(super) materials: Vec<Look>,
    #[serde(default, deserialize_with = "object::list")]
    pub(super) accessors: Vec<Accessor>,
    #[serde(default, deserialize_with = "object::list")]
    pub(super) buffer_views: Vec<View>,
    #[serde(default, deserialize_with = "object::list")]
    pub(super) buffers: Vec<Buffer>,
    extensions: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asset {
    pub(super) version: String,
    pub(super) min_version: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Scene {
    #[serde(default, deserialize_with = "whole::list")]
    pub(super) nodes: Vec<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Node {
    pub(super) name: Option<String>,
    #[serde(default, deserialize_with = "whole::list")]
    pub(super) children: Vec<usize>,
    #[serde(default, deserialize_with = "whole::maybe")]
    pub(super) mesh: Option<usize>,
    #[serde(default, deserialize_with = "whole::maybe")]
    pub(super) skin: Option<usize>,
    pub(super) matrix: Option<Box<[f64; 16]>>,
    pub(super) translation: Option<[f32; 3]>,
    pub(super) rotation: Option<[f32; 4]>,
    pub(super) scale: Option<[f32; 3]>,
    pub(super) weights: Option<Vec<f32>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Mesh {
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "object::list")]
    pub(super) primitives: Vec<Primitive>,
    pub(super) weights: Option<Vec<f32>>,
    #[serde(default, rename = "extras", deserialize_with = "target_names")]
    pub(super) target_names: Vec<Option<String>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Primitive {
    #[serde(deserialize_with = "whole::map")]
    pub(super) attributes: BTreeMap<String, usize>,
    #[serde(default, deserialize_with = "whole::maybe")]
    pub(super) indices: Option<usize>,
    #[serde(default, deserialize_with = "whole::maybe")]
    pub(super) mode: Option<u32>,
    #[serde(default, deserialize_with = "looks::material")]
    pub(super) material: Option<usize>,
    #[serde(default, deserialize_with = "object::list")]
    pub(super) targets: Vec<Target>,
    #[serde(default, rename = "extras", deserialize_with = "target_names")]
    pub(super) target_names: Vec<Option<String>>,
    #[serde(default, deserialize_with = "object::one")]
    pub(super) extensions: PrimitiveExtensions,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression")]
    pub(super) draco: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Target {
    #[serde(default, rename = "POSITION", deserialize_with = "whole::maybe")]
    pub(super) position: Option<usize>,
    #[serde(default, rename = "NORMAL", deserialize_with = "whole::maybe")]
    pub(super) normal: Option<usize>,
    #[serde(default, rename = "TANGENT", deserialize_with = "whole::maybe")]
    pub(super) tangent: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "whole::list")]
    pub(super) joints: Vec<usize>,
    #[serde(default, deserialize_with = "whole::maybe")]
    pub(super) inverse_bind_matrices: Option<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Animation {
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "object::list")]
    pub(super) channels: Vec<Channel>,
    #[serde(deserialize_with = "object::list")]
    pub(super) samplers: Vec<Sampler>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Channel {
    #[serde(deserialize_with = "whole::one")]
    pub(super) sampler: usize,
    #[serde(deserialize_with = "object::one")]
    pub(super) target: ChannelTarget,
}

#[derive(Debug, Deserialize)]
pub(super) struct ChannelTarget {
    #[serde(default, deserialize_with = "whole::maybe")]
    pub(super) node: Option<usize>,
    pub(super) path: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sampler {
    #[serde(deserialize_with = "whole::one")]
    pub(super) input: usize,
    #[serde(deserialize_with = "whole::one")]
    pub(super) output: usize,
    pub(super) interpolation: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    #[serde(default, deserialize_with = "whole::maybe")]
    pub(super) buffer_view: Option<usize>,
    #[serde(default, deserialize_with = "whole::one")]
    pub(super) byte_offset: u64,
    #[serde(deserialize_with = "whole::one")]
    pub(super) component_type: u32,
    #[serde(default)]
    pub(super) normalized: bool,
    #[serde(deserialize_with = "whole::one")]
    pub(super) count: u64,
    #[serde(rename = "type")]
    pub(super) shape: String,
    #[serde(default, deserialize_with = "object::maybe")]
    pub(super) sparse: Option<Sparse>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sparse {
    #[serde(deserialize_with = "whole::one")]
    pub(super) count: u64,
    #[serde(deserialize_with = "object::one")]
    pub(super) indices: SparseIndices,
    #[serde(deserialize_with = "object::one")]
    pub(super) values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    #[serde(deserialize_with = "whole::one")]
    pub(super) buffer_view: usize,
    #[serde(default, deserialize_with = "whole::one")]
    pub(super) byte_offset: u64,
    #[serde(deserialize_with = "whole::one")]
    pub(super) component_type: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    #[serde(deserialize_with = "whole::one")]
    pub(super) buffer_view: usize,
    #[serde(default, deserialize_with = "whole::one")]
    pub(super) byte_offset: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    #[serde(deserialize_with = "whole::one")]
    pub(super) buffer: usize,
    #[serde(default, deserialize_with = "whole::one")]
    pub(super) byte_offset: u64,
    #[serde(deserialize_with = "whole::one")]
    pub(super) byte_length: u64,
    #[serde(default, deserialize_with = "whole::maybe")]
    pub(super) byte_stride: Option<u64>,
    #[serde(default, deserialize_with = "object::one")]
    pub(super) extensions: ViewExtensions,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ViewExtensions {
    #[serde(default, rename = "EXT_meshopt_compression", deserialize_with = "object::maybe")]
    pub(super) meshopt: Option<Meshopt>,
}

/// `EXT_meshopt_compression`: where the packed bytes of a view lie and what they become.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(
    not(all(feature = "meshopt", not(target_arch = "wasm32"))),
    expect(dead_code, reason = "read to be refused by name")
)]
pub(super) struct Meshopt {
    #[serde(deserialize_with = "whole::one")]
    pub(super) buffer: usize,
    #[serde(default, deserialize_with = "whole::one")]
    pub(super) byte_offset: u64,
    #[serde(deserialize_with = "whole::one")]
    pub(super) byte_length: u64,
    #[serde(deserialize_with = "whole::one")]
    pub(super) byte_stride: u64,
    #[serde(deserialize_with = "whole::one")]
    pub(super) count: u64,
    pub(super) mode: String,
    pub(super) filter: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub(super) uri: Option<String>,
    #[serde(deserialize_with = "whole::one")]
    pub(super) byte_length: u64,
}

/// `extras.targetNames`; extras may be any value, and what is no list of names is no name.
fn target_names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Option<String>>, D::Error> {
    let extras = fields(&Box::<RawValue>::deserialize(deserializer)?);
    let names = extras.get("targetNames").and_then(|names| serde_json::from_str(names.get()).ok());
    let names: Vec<Box<RawValue>> = names.unwrap_or_default();
    Ok(names.iter().map(|name| serde_json::from_str(name.get()).ok()).collect())
}

/// The members of an object as text, none of any other value: what stands in them may be nested too deep or too large for a number.
pub(super) fn fields(text: &RawValue) -> BTreeMap<String, Box<RawValue>> {
    serde_json::from_str(text.get()).unwrap_or_default()
}

/// Extensions that change nothing about where a vertex comes to lie; requiring them is no reason to refuse a rig.
const LOOKS: &[&str] = &[
    "KHR_materials_",
    "KHR_texture_",
    "KHR_lights_",
    "EXT_texture_",
    "EXT_lights_",
    "MSFT_texture_",
    "VRM",
    "KHR_xmp",
];

impl Root {
    /// Reads the JSON text.
    ///
    /// # Errors
    /// `Format` - no JSON, or a value of the wrong type, named by its pointer; `Version`; `Unsupported` - a required extension, by name.
    pub(super) fn parse(json: &[u8]) -> Result<Root, LoadError> {
        let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
        let mut reader = serde_json::Deserializer::from_slice(json);
        let mut track = serde_path_to_error::Track::new();
        let tracked = serde_path_to_error::Deserializer::new(&mut reader, &mut track);
        let root: Root = object::one(tracked).map_err(|e| {
            let pointer = pointer(&track.path());
            LoadError::new(LoadErrorKind::Format, pointer, "a glTF document", e)
        })?;
        reader.end().map_err(|e| LoadError::new(LoadErrorKind::Format, "/", "one JSON document", e))?;
        root.check_version()?;
        for (i, name) in root.extensions_required.iter().enumerate() {
            let read = matches!(name.as_str(), "KHR_mesh_quantization" | "EXT_meshopt_compression");
            if !read && !LOOKS.iter().any(|prefix| name.starts_with(prefix)) {
                let field = format!("/extensionsRequired/{i}");
                return Err(LoadError::new(LoadErrorKind::Unsupported, field, "an extension that is read here", name));
            }
        }
        Ok(root)
    }

    /// The blocks of VRM in the root's extensions, and of these the humanoid alone. Whatever else stands there is someone else's, of any form.
    pub(super) fn vrm(&self) -> Value {
        let extensions = self.extensions.as_deref().map(fields).unwrap_or_default();
        let block = |key: &str| {
            let humanoid = fields(extensions.get(key)?).remove("humanoid");
            let humanoid = humanoid.and_then(|text| serde_json::from_str::<Value>(text.get()).ok());
            Some((key.to_string(), json!({ "humanoid": humanoid })))
        };
        ["VRMC_vrm", "VRM"].into_iter().filter_map(block).collect()
    }

    fn check_version(&self) -> Result<(), LoadError> {
        let number = |text: &str| -> Option<(u32, u32)> {
            let (major, minor) = text.split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        };
        let refuse = |field: &str, expected: &str, found: &str| {
            Err(LoadError::new(LoadErrorKind::Version, field, expected, format!("\"{found}\"")))
        };
        match number(&self.asset.version) {
            Some((2, _)) => {}
            _ => return refuse("/asset/version", "2.x", &self.asset.version),
        }
        match self.asset.min_version.as_deref().map(|text| (text, number(text))) {
            None | Some((_, Some((2, 0)))) => Ok(()),
            Some((text, _)) => refuse("/asset/minVersion", "2.0", text),
        }
    }
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path.iter() {
        // Writing to a string cannot fail.
        let _ = match segment {
            Segment::Seq { index } => write!(pointer, "/{index}"),
            Segment::Map { key } => write!(pointer, "/{}", escape(key)),
            Segment::Enum { variant } => write!(pointer, "/{}", escape(variant)),
            Segment::Unknown => Ok(()),
        };
    }
    if pointer.is_empty() { "/".into() } else { pointer }
}

/// A key as a segment of a JSON pointer.
pub(super) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The error for a value that breaks a rule.
pub(super) fn wrong(
    field: impl Into<String>,
    expected: impl std::fmt::Display,
    found: impl std::fmt::Display,
) -> LoadError {
    LoadError::new(LoadErrorKind::Value, field, expected, found)
}

/// The item that an index in the file names.
pub(super) fn item<'a, T>(
    list: &'a [T],
    index: usize,
    what: &str,
    field: impl Into<String>,
) -> Result<&'a T, LoadError> {
    list.get(index).ok_or_else(|| wrong(field, format!("an index into {what} ({} of them)", list.len()), index))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Result<Root, LoadError> {
        Root::parse(json.as_bytes())
    }

    #[test]
    fn value_of_the_wrong_type_is_named_by_its_pointer() {
        let error = parse(r#"{"asset":{"version":"2.0"},"nodes":[{},{"mesh":-1}]}"#).unwrap_err();
        assert_eq!((error.kind, error.field.as_str()), (LoadErrorKind::Format, "/nodes/1/mesh"));
        let error = parse(r#"{"asset":{"version":"2.0"},"meshes":[{"primitives":[{"attributes":{"A~/B":"x"}}]}]}"#);
        assert_eq!(error.unwrap_err().field, "/meshes/0/primitives/0/attributes/A~0~1B");
        assert_eq!(parse("[]").unwrap_err().field, "/");
    }

    #[test]
    fn list_is_no_object() {
        for (member, field) in [
            (r#""buffers":[["a.bin",10]]"#, "/buffers/0"),
            (r#""nodes":[{},["hips",[0]]]"#, "/nodes/1"),
            (r#""meshes":[{"primitives":[[{"POSITION":0}]]}]"#, "/meshes/0/primitives/0"),
            (r#""meshes":[{"primitives":[{"attributes":{},"targets":[[0]]}]}]"#, "/meshes/0/primitives/0/targets/0"),
            (
                r#""animations":[{"samplers":[],"channels":[{"sampler":0,"target":[0,"scale"]}]}]"#,
                "/animations/0/channels/0/target",
            ),
            (
                r#""accessors":[{"componentType":5126,"count":1,"type":"VEC3","sparse":[1,[0],[0]]}]"#,
                "/accessors/0/sparse",
            ),
            (r#""bufferViews":[{"buffer":0,"byteLength":1,"extensions":[null]}]"#, "/bufferViews/0/extensions"),
        ] {
            let error = parse(&format!("{{\"asset\":{{\"version\":\"2.0\"}},{member}}}")).expect_err(member);
            assert_eq!((error.kind, error.field.as_str()), (LoadErrorKind::Format, field), "{error}");
            assert!(error.found.starts_with("invalid type: sequence, expected an object"), "{error}");
        }
        assert_eq!(parse(r#"{"asset":["2.0"]}"#).unwrap_err().field, "/asset");
    }

    #[test]
    fn version_other_than_two_is_refused() {
        let with = |asset: &str| parse(&format!("{{\"asset\":{asset}}}"));
        assert!(with(r#"{"version":"2.0"}"#).is_ok());
        assert!(with(r#"{"version":"2.7","minVersion":"2.0"}"#).is_ok());
        for (asset, field) in [
            (r#"{"version":"1.0"}"#, "/asset/version"),
            (r#"{"version":"2"}"#, "/asset/version"),
            (r#"{"version":"3.0"}"#, "/asset/version"),
            (r#"{"version":"2.1","minVersion":"2.1"}"#, "/asset/minVersion"),
        ] {
            let error = with(asset).unwrap_err();
            assert_eq!((error.kind, error.field.as_str()), (LoadErrorKind::Version, field), "{asset}");
        }
    }

    #[test]
    fn required_extension_is_refused_by_name_unless_it_is_about_looks() {
        let with = |name: &str| {
            parse(&format!(
                "{{\"asset\":{{\"version\":\"2.0\"}},\"extensionsRequired\":[\"KHR_mesh_quantization\",\"{name}\"]}}"
            ))
        };
        for name in ["KHR_materials_unlit", "KHR_texture_basisu", "VRMC_vrm"] {
            assert!(with(name).is_ok(), "{name}");
        }
        for name in ["KHR_draco_mesh_compression", "EXT_mesh_gpu_instancing"] {
            let error = with(name).unwrap_err().to_string();
            assert_eq!(error, format!("/extensionsRequired/1: expected an extension that is read here, got {name}"));
        }
    }

    #[test]
    fn humanoid_is_read_past_extensions_of_any_form() {
        let vrm = |extensions: &str| {
            parse(&format!("{{\"asset\":{{\"version\":\"2.0\"}},\"extensions\":{extensions}}}")).unwrap().vrm()
        };
        let humanoid = json!({"humanBones": {"hips": {"node": 2}}});
        let block = json!({"meta": {}, "humanoid": humanoid});
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        let text = format!("{{\"X\":{deep},\"VRMC_vrm\":{block},\"Y\":1e999,\"VRM\":7}}");
        assert_eq!(vrm(&text), json!({"VRMC_vrm": {"humanoid": humanoid}, "VRM": {"humanoid": null}}));
        for extensions in ["{}", "[]", "null", "3", "\"VRM\"", &deep] {
            assert_eq!(vrm(extensions), json!({}), "{extensions:.10}");
        }
        let nested = format!("{{\"VRM\":{{\"humanoid\":{deep}}}}}");
        assert_eq!(vrm(&nested), json!({"VRM": {"humanoid": null}}));
    }

    #[test]
    fn target_names_that_are_no_names_are_none() {
        let names = |extras: &str| {
            let json =
                format!("{{\"asset\":{{\"version\":\"2.0\"}},\"meshes\":[{{\"primitives\":[],\"extras\":{extras}}}]}}");
            parse(&json).unwrap().meshes.remove(0).target_names
        };
        assert_eq!(names(r#"{"targetNames":["a",3]}"#), [Some("a".into()), None]);
        for extras in ["7", "null", "[]", "1e999", r#"{"targetNames":{}}"#, r#"{"other":1}"#] {
            assert!(names(extras).is_empty(), "{extras}");
        }
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(names(&deep).is_empty());
        let among = format!("{{\"x\":{deep},\"targetNames\":[\"a\",{deep},1e999,\"\\ud800\",\"b\"],\"y\":-1e999}}");
        assert_eq!(names(&among), [Some("a".into()), None, None, None, Some("b".into())]);
    }
}
