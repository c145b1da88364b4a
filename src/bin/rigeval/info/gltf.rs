//! What is in a glTF file, and what the loader made of it.

use super::face::face;
use super::{Facts, Read, bounds, counted, joints};
use crate::report::{grouped, one_line};
use crate::rig;
use rigeval::error::{LoadError, LoadErrorKind};
use rigeval::gltf::clip::{Clip, Interpolation};
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::skin::GltfSkin;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// So many lines of a list are shown to people; JSON reports have it whole.
const SHOWN: usize = 40;

/// What the report wants of a document beside what the loader keeps.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    asset: Box<RawValue>,
    extensions_used: Option<Box<RawValue>>,
    extensions_required: Option<Box<RawValue>>,
    #[serde(default)]
    scenes: Vec<IgnoredAny>,
    #[serde(default)]
    nodes: Vec<IgnoredAny>,
    #[serde(default)]
    meshes: Vec<Mesh>,
}

#[derive(Deserialize)]
struct Mesh {
    primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
struct Primitive {
    attributes: BTreeMap<String, IgnoredAny>,
}

pub fn facts(path: &Path, bytes: &[u8]) -> Read {
    let model = rig::read_gltf(path, bytes)?;
    let is_binary = bytes.starts_with(b"glTF");
    let document = Document::read(if is_binary { json_chunk(bytes) } else { bytes })?;
    let format = if is_binary { "glTF 2.0, binary (GLB)" } else { "glTF 2.0 (JSON)" };
    let mut facts = Facts::new(path, "gltf", format);
    facts.bytes(bytes);
    let generator = document.generator();
    facts.add("generator", json!(generator), generator.as_deref().unwrap_or("not stated"));
    facts.add("units", json!("m"), "m");
    extensions(&mut facts, &document);
    facts.count("scenes", document.scenes.len());
    facts.count("nodes", document.nodes.len());
    joints(&mut facts, model.skeleton().names(), model.skeleton().parents());
    skins(&mut facts, &model);
    influences(&mut facts, &document, &model);
    facts.count("meshes", document.meshes.len());
    facts.count("primitives", document.meshes.iter().map(|mesh| mesh.primitives.len()).sum());
    facts.count("vertices", model.mesh().vertex_count());
    facts.count("triangles", model.mesh().render().triangles.len());
    parts(&mut facts, &model);
    controls(&mut facts, &model);
    face(&mut facts, &model);
    clips(&mut facts, &model);
    bounds(&mut facts, &model.info(1).rest_bounds, "m");
    rules(&mut facts, &model);
    facts.checks("all passed: node tree, references, counts, ranges, joints, finite numbers");
    Ok(facts)
}

impl Document {
    /// What wrote the file. Beside it in `asset` may stand anything at all, however deep.
    fn generator(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Asset {
            generator: Option<Box<RawValue>>,
        }
        let asset: Asset = serde_json::from_str(self.asset.get()).ok()?;
        serde_json::from_str(asset.generator?.get()).ok()
    }

    fn read(text: &[u8]) -> Result<Document, LoadError> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        // Bytes that are no UTF-8 are nothing to the loader where it passes over the text that they stand in.
        let text = String::from_utf8_lossy(text);
        serde_json::from_str(&text).map_err(|e| LoadError::new(LoadErrorKind::Corrupt, "", "a glTF document", e))
    }
}

/// The first chunk of a GLB whose lengths the loader has checked.
fn json_chunk(glb: &[u8]) -> &[u8] {
    let length = glb.get(12..16).and_then(|word| Some(u32::from_le_bytes(*word.first_chunk()?)));
    let end = length.map_or(0, |length| 20usize.saturating_add(length as usize));
    glb.get(20..end).unwrap_or_default()
}

fn extensions(facts: &mut Facts, document: &Document) {
    let names = |list: &Option<Box<RawValue>>| -> Vec<String> {
        let list = list.as_deref().and_then(|text| serde_json::from_str::<Vec<Box<RawValue>>>(text.get()).ok());
        list.unwrap_or_default().iter().filter_map(|name| serde_json::from_str(name.get()).ok()).collect()
    };
    let (used, required) = (names(&document.extensions_used), names(&document.extensions_required));
    facts.add("extensions", json!(used), counted(&used));
    facts.values.insert("extensions_required".into(), json!(required));
    if !required.is_empty() {
        facts.lines.push(one_line(&format!("    of which required {}", counted(&required))));
    }
}

fn skins(facts: &mut Facts, model: &GltfModel) {
    let line = |(index, skin): (usize, &GltfSkin)| {
        let name = skin.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
        format!("{index}{name}: {} joints", grouped(skin.joints.len()))
    };
    let lines: Vec<String> = model.skins().iter().enumerate().map(line).collect();
    let value = |skin: &GltfSkin| {
        let joints: Vec<&String> = skin.joints.iter().map(|&joint| &model.skeleton().names()[joint]).collect();
        json!({"name": skin.name, "joints": joints})
    };
    let moving: BTreeSet<usize> = model.skins().iter().flat_map(|skin| skin.joints.iter().copied()).collect();
    facts.values.insert("skin_joints".into(), json!(moving.len()));
    list(facts, "skins", model.skins().iter().map(value).collect(), &lines);
}

fn influences(facts: &mut Facts, document: &Document, model: &GltfModel) {
    let sets = |primitive: &Primitive| primitive.attributes.keys().filter(|key| key.starts_with("JOINTS_")).count();
    let sets = document.meshes.iter().flat_map(|mesh| &mesh.primitives).map(sets).max().unwrap_or(0);
    let skinned = model.mesh().parts().iter().filter(|part| part.skinned).flat_map(|part| part.vertices.clone());
    let most = skinned.map(|v| model.mesh().influences().row(v).len()).max().unwrap_or(0);
    let text = match most {
        0 => "no skinned vertices".to_string(),
        _ => format!("at most {most} per vertex, {sets} set{} of four", if sets == 1 { "" } else { "s" }),
    };
    facts.add("influences", json!(most), text);
    facts.values.insert("influence_sets".into(), json!(sets));
}

/// The primitives that the default scene shows, as the vertices lie in the output.
fn parts(facts: &mut Facts, model: &GltfModel) {
    let mesh = model.mesh();
    let mut deltas = vec![0_usize; mesh.parts().len()];
    for &vertex in mesh.position_targets().iter().flat_map(|target| &target.vertices) {
        deltas[mesh.parts().partition_point(|part| part.vertices.end <= vertex as usize)] += 1;
    }
    let (mut lines, mut values) = (Vec::new(), Vec::new());
    for ((part, render), deltas) in mesh.parts().iter().zip(&mesh.render().parts).zip(deltas) {
        let targets = model.controls().morphs_of_node(part.node).unwrap_or_default().len();
        let node = model.joint_of_node(part.node).map_or("", |joint| &model.skeleton().names()[joint]);
        let (vertices, triangles) = (part.vertices.len(), render.triangles.len());
        let morphs = match targets {
            0 => String::new(),
            count => format!(", {} targets with {} deltas", grouped(count), grouped(deltas)),
        };
        lines.push(format!(
            "{:?} on node {node:?}: {} vertices, {} triangles{morphs}, {}, {}",
            render.name,
            grouped(vertices),
            grouped(triangles),
            if part.skinned { "skinned" } else { "carried by its node" },
            match (part.has_normals, part.has_tangents) {
                (true, true) => "normals and tangents",
                (true, false) => "normals",
                (false, true) => "tangents",
                (false, false) => "no normals",
            },
        ));
        values.push(json!({
            "name": render.name,
            "node": node,
            "mesh": part.mesh,
            "primitive": part.primitive,
            "first_vertex": part.vertices.start,
            "vertices": vertices,
            "triangles": triangles,
            "targets": targets,
            "deltas": deltas,
            "skinned": part.skinned,
            "normals": part.has_normals,
            "tangents": part.has_tangents,
        }));
    }
    list(facts, "parts", values, &lines);
}

fn controls(facts: &mut Facts, model: &GltfModel) {
    let (names, morphs) = (model.controls().names(), model.controls().morph_count());
    // The same target of several meshes is a control for each.
    let targets: Vec<String> =
        names[..morphs].iter().map(|name| name.strip_prefix("morph/").unwrap_or(name).to_string()).collect();
    facts.add("targets", json!(targets), counted(&targets));
    let nodes = (0..model.skeleton().joint_count()).filter(|&j| model.controls().first_of_joint(j).is_some()).count();
    let text = format!(
        "{}: {} morph weights, then translation, rotation and scale of {} nodes",
        grouped(names.len()),
        grouped(morphs),
        grouped(nodes)
    );
    facts.add("controls", json!(names.len()), text);
    facts.values.insert("control_names".into(), json!(names));
}

fn clips(facts: &mut Facts, model: &GltfModel) {
    let line = |(index, clip): (usize, &Clip)| {
        let name = clip.name().map(|name| format!(" {name:?}")).unwrap_or_default();
        let kinds: Vec<String> =
            interpolations(clip).iter().map(|(kind, count)| format!("{} {kind}", grouped(*count))).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
        format!("{index}{name}: {:.3} s, {} channels{kinds}", clip.end(), grouped(clip.channels().len()))
    };
    let lines: Vec<String> = model.clips().iter().enumerate().map(line).collect();
    let value = |clip: &Clip| {
        let kinds: Map<String, Value> =
            interpolations(clip).into_iter().map(|(kind, count)| (kind.to_string(), json!(count))).collect();
        json!({
            "name": clip.name(),
            "length_s": clip.end(),
            "channels": clip.channels().len(),
            "interpolations": kinds,
        })
    };
    list(facts, "clips", model.clips().iter().map(value).collect(), &lines);
}

/// How many channels there are of each kind.
fn interpolations(clip: &Clip) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for channel in clip.channels() {
        let name = match channel.interpolation() {
            Interpolation::Linear => "LINEAR",
            Interpolation::Step => "STEP",
            Interpolation::CubicSpline => "CUBICSPLINE",
        };
        *counts.entry(name).or_default() += 1;
    }
    counts
}

/// What was unusual, and which rule the loader followed.
fn rules(facts: &mut Facts, model: &GltfModel) {
    let notes = model.report().notes();
    let value = |note: &String| {
        let (count, rule) = note.split_once(' ').unwrap_or_default();
        json!({"count": count.parse::<usize>().unwrap_or_default(), "rule": rule})
    };
    list(facts, "rules", notes.iter().map(value).collect(), &notes);
}

/// A list with a line for each of its items.
fn list(facts: &mut Facts, key: &str, values: Vec<Value>, lines: &[String]) {
    let count = if lines.is_empty() { "none".to_string() } else { grouped(lines.len()) };
    facts.add(key, Value::Array(values), count);
    facts.lines.extend(lines.iter().take(SHOWN).map(|line| one_line(&format!("    {line}"))));
    if lines.len() > SHOWN {
        facts.lines.push(format!("    and {} more", grouped(lines.len() - SHOWN)));
    }
}
