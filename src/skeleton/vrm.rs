//! The humanoid bones that a VRM file states: its own table, which needs no reading of names.

use super::bones::HumanoidBone;
use crate::error::{LoadError, LoadErrorKind};
use serde_json::Value;
use std::collections::BTreeMap;

/// Which VRM wrote a table. A model of 0.x faces -Z, one of 1.0 +Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VrmVersion {
    /// 0.x, the extension `VRM`.
    V0,
    /// 1.0, the extension `VRMC_vrm`.
    V1,
}

/// A VRM file's humanoid table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VrmHumanoid {
    /// Which version the table was read by.
    pub version: VrmVersion,
    /// The glTF node of each bone, under its name in VRM 1.0.
    pub nodes: BTreeMap<HumanoidBone, usize>,
}

/// The humanoid table in a glTF document's root `extensions`; none where they have neither `VRMC_vrm` nor `VRM`, the former where they have both.
///
/// - 1.0: `humanoid.humanBones` is an object, `"hips": { "node": 2 }`.
/// - 0.x: it is an array, `{ "bone": "hips", "node": 2 }`, and a thumb's bones are `Proximal`, `Intermediate`, `Distal`
///   where 1.0 has `Metacarpal`, `Proximal`, `Distal`.
///
/// # Errors
/// `Missing` for a block without the table, `Type` for a table or entry of another kind, `Value` for a bone that this version does not know or that
/// comes twice, and for a node that is no index below `node_count`.
pub fn vrm_humanoid(extensions: &Value, node_count: usize) -> Result<Option<VrmHumanoid>, LoadError> {
    let (version, key) = match (extensions.get("VRMC_vrm"), extensions.get("VRM")) {
        (Some(_), _) => (VrmVersion::V1, "VRMC_vrm"),
        (None, Some(_)) => (VrmVersion::V0, "VRM"),
        (None, None) => return Ok(None),
    };
    let pointer = format!("/extensions/{key}/humanoid/humanBones");
    let Some(table) = extensions[key].get("humanoid").and_then(|humanoid| humanoid.get("humanBones")) else {
        return Err(LoadError::new(LoadErrorKind::Missing, pointer, "the humanoid bones", "none"));
    };
    let mut nodes = BTreeMap::new();
    let mut add = |field: String, bone: Option<HumanoidBone>, name: &str, entry: &Value| {
        let value =
            |expected: &str, found: String| LoadError::new(LoadErrorKind::Value, field.clone(), expected, found);
        let bone = bone.ok_or_else(|| value("a bone of this version", format!("\"{name}\"")))?;
        // JSON may write 2 as 2.0.
        let index = entry.get("node").and_then(Value::as_f64).filter(|node| *node >= 0.0 && node.fract() == 0.0);
        let index = index.map(|node| node as usize);
        let node = index.filter(|node| *node < node_count).ok_or_else(|| {
            let found = entry.get("node").map_or("none".into(), Value::to_string);
            value(&format!("a node below {node_count}"), found)
        })?;
        match nodes.insert(bone, node) {
            None => Ok(()),
            Some(first) => Err(value("each bone once", format!("\"{name}\" at nodes {first} and {node}"))),
        }
    };
    match (version, table) {
        (VrmVersion::V1, Value::Object(bones)) => {
            for (name, entry) in bones {
                add(format!("{pointer}/{name}"), HumanoidBone::from_name(name), name, entry)?;
            }
        }
        (VrmVersion::V0, Value::Array(bones)) => {
            for (at, entry) in bones.iter().enumerate() {
                let field = format!("{pointer}/{at}");
                let Some(name) = entry.get("bone").and_then(Value::as_str) else {
                    return Err(LoadError::new(
                        LoadErrorKind::Type,
                        field,
                        "an object with a bone's name",
                        kind(entry),
                    ));
                };
                add(field, HumanoidBone::from_vrm0_name(name), name, entry)?;
            }
        }
        (VrmVersion::V1, other) => {
            return Err(LoadError::new(LoadErrorKind::Type, pointer, "an object", kind(other)));
        }
        (VrmVersion::V0, other) => {
            return Err(LoadError::new(LoadErrorKind::Type, pointer, "an array", kind(other)));
        }
    }
    Ok(Some(VrmHumanoid { version, nodes }))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object without it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use HumanoidBone::*;
    use serde_json::json;

    #[test]
    fn tables_of_both_versions_give_the_same_bones() {
        let bones = BTreeMap::from([(Hips, 2), (LeftThumbMetacarpal, 5), (LeftThumbProximal, 6), (LeftThumbDistal, 7)]);
        let new = json!({ "VRMC_vrm": { "humanoid": { "humanBones": {
            "hips": { "node": 2 }, "leftThumbMetacarpal": { "node": 5 }, "leftThumbProximal": { "node": 6 }, "leftThumbDistal": { "node": 7 },
        } } } });
        let old = json!({ "VRM": { "humanoid": { "humanBones": [
            { "bone": "leftThumbProximal", "node": 5 }, { "bone": "leftThumbIntermediate", "node": 6 }, { "bone": "leftThumbDistal", "node": 7 },
            { "bone": "hips", "node": 2, "useDefaultValues": true },
        ] } } });
        let read = |extensions: &Value| vrm_humanoid(extensions, 8).unwrap().unwrap();
        assert_eq!(read(&new), VrmHumanoid { version: VrmVersion::V1, nodes: bones.clone() });
        assert_eq!(read(&old), VrmHumanoid { version: VrmVersion::V0, nodes: bones });
        let both = json!({ "VRMC_vrm": new["VRMC_vrm"], "VRM": 3 });
        assert_eq!(read(&both).version, VrmVersion::V1);
    }

    #[test]
    fn node_may_be_written_as_a_float() {
        for node in ["2", "2.0", "2e0", "0.2e1"] {
            let text = format!(r#"{{"VRMC_vrm":{{"humanoid":{{"humanBones":{{"hips":{{"node":{node}}}}}}}}}}}"#);
            let read = vrm_humanoid(&serde_json::from_str(&text).unwrap(), 8).unwrap().unwrap();
            assert_eq!(read.nodes, BTreeMap::from([(Hips, 2)]), "{node}");
        }
    }

    #[test]
    fn extensions_without_vrm_have_no_table() {
        for extensions in [json!({}), json!(null), json!([1]), json!({ "KHR_lights": {} })] {
            assert_eq!(vrm_humanoid(&extensions, 8).unwrap(), None);
        }
    }

    #[test]
    fn wrong_tables_are_refused_by_place() {
        let new = |bones: Value| json!({ "VRMC_vrm": { "humanoid": { "humanBones": bones } } });
        let old = |bones: Value| json!({ "VRM": { "humanoid": { "humanBones": bones } } });
        let cases = [
            (
                json!({ "VRM": {} }),
                LoadErrorKind::Missing,
                "VRM/humanoid/humanBones: expected the humanoid bones, got none",
            ),
            (json!({ "VRMC_vrm": null }), LoadErrorKind::Missing, "VRMC_vrm/humanoid"),
            (new(json!([])), LoadErrorKind::Type, "expected an object, got an array"),
            (old(json!({})), LoadErrorKind::Type, "expected an array, got an object"),
            (old(json!([{ "node": 1 }])), LoadErrorKind::Type, "humanBones/0: expected an object with a bone's name"),
            (old(json!([7])), LoadErrorKind::Type, "got a number"),
            (new(json!({ "tail": { "node": 1 } })), LoadErrorKind::Value, "got \"tail\""),
            (
                old(json!([{ "bone": "leftThumbMetacarpal", "node": 1 }])),
                LoadErrorKind::Value,
                "got \"leftThumbMetacarpal\"",
            ),
            (
                new(json!({ "leftThumbIntermediate": { "node": 1 } })),
                LoadErrorKind::Value,
                "got \"leftThumbIntermediate\"",
            ),
            (new(json!({ "hips": { "node": 8 } })), LoadErrorKind::Value, "expected a node below 8, got 8"),
            (new(json!({ "hips": { "node": -1 } })), LoadErrorKind::Value, "got -1"),
            (new(json!({ "hips": { "node": 1.5 } })), LoadErrorKind::Value, "got 1.5"),
            (new(json!({ "hips": 1 })), LoadErrorKind::Value, "humanBones/hips: expected a node below 8, got none"),
            (
                old(json!([{ "bone": "hips", "node": 1 }, { "bone": "hips", "node": 2 }])),
                LoadErrorKind::Value,
                "humanBones/1: expected each bone once, got \"hips\" at nodes 1 and 2",
            ),
        ];
        for (extensions, kind, message) in cases {
            let error = vrm_humanoid(&extensions, 8).unwrap_err();
            assert_eq!(error.kind, kind, "{error}");
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
