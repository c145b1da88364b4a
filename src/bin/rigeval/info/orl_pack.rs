//! What is in an ORL pack.

use super::{Facts, Read, bounds, findings, joints, shortened};
use crate::report::{grouped, listed, size};
use rigeval::math::Aabb;
use rigeval::orl::controls::ControlLayer;
use rigeval::orl::pack::{MEMBERS, OrlPack};
use rigeval::orl::rig::{ControlChoice, OrlRig};
use rigeval::orl::riglogic::{RigLogic, RotationOutput};
use serde_json::{Map, Value, json};
use std::path::Path;

/// What the other lines say already.
const SAID: [&str; 6] =
    ["V", "numJoints", "maxInfluence", "numBlendShapeChannels", "numBlendShapeTargets", "jointNames"];

pub fn facts(path: &Path, bytes: Vec<u8>) -> Read {
    let mut facts = Facts::new(path, "orl", "ORL runtime pack (ORLPACK1)");
    facts.bytes(&bytes);
    let pack = OrlPack::read(bytes)?;
    facts.add("units", json!("cm"), "cm, degrees");
    facts.count("vertices", pack.vertex_count());
    let triangles = pack.triangles().map(<[_]>::len);
    facts.add("triangles", json!(triangles), triangles.map_or("none".to_string(), grouped));
    facts.count("channels", pack.channel_count());
    facts.count("targets", pack.targets().len());
    deltas(&mut facts, &pack);
    let lanes = (0..pack.vertex_count()).map(|v| pack.influences().row(v).len()).max().unwrap_or(0);
    let room = pack.max_influence();
    facts.add("influences", json!(lanes), format!("at most {lanes} per vertex, room for {room}"));
    let unnamed: Vec<String> = (0..pack.joint_count()).map(|j| format!("joint {j}")).collect();
    joints(&mut facts, pack.joint_names().unwrap_or(&unnamed), pack.parents());
    let rest = OrlRig::from_pack(&pack, &ControlChoice::Layer(ControlLayer::Gui), &[]);
    let neutral = || Aabb::of_points(pack.neutral().iter().copied());
    bounds(&mut facts, &rest.map_or_else(|_| neutral(), |rig| rig.rest_bounds()), "cm");
    let found = dna(&mut facts, &pack);
    manifest(&mut facts, &pack);
    members(&mut facts, &pack);
    findings::add(&mut facts, &found);
    facts.checks("all passed: members, lengths, ranges, parents, targets that tile the deltas, finite numbers");
    Ok(facts)
}

fn deltas(facts: &mut Facts, pack: &OrlPack) {
    let count = pack.deltas().len();
    let used = pack.targets().iter().filter(|t| t.count > 0 && t.scale != 0.0).map(|t| t.scale.abs());
    let (least, most) = used.fold((f32::INFINITY, 0.0f32), |(least, most), s| (least.min(s), most.max(s)));
    let scales = (most > 0.0).then_some([least, most]);
    let steps = match scales {
        Some([least, most]) => format!("one step is {:.4} to {:.4} um", least * 1e4, most * 1e4),
        None => "no target moves anything".to_string(),
    };
    facts.add("deltas", json!(count), format!("{} in int8, {steps}", grouped(count)));
    facts.values.insert("scales".into(), json!(scales));
}

/// The rig inside; the findings are the DNA's and what keeps the pack from being driven.
fn dna(facts: &mut Facts, pack: &OrlPack) -> Vec<String> {
    let mut found = Vec::new();
    if pack.joint_names().is_none() {
        found.push("joints without names: overrides cannot name them".to_string());
    }
    if pack.triangles().is_none() {
        found.push("no triangles: it has no normals".to_string());
    }
    let Some(dna) = pack.dna() else {
        facts.add("dna", Value::Null, "none");
        found.push("no DNA inside: nothing turns controls into joints, so it cannot be evaluated".to_string());
        return found;
    };
    let (counts, bytes) = (dna.control_counts(), pack.file().member(MEMBERS[2]).map_or(0, <[u8]>::len));
    let (name, version, gui) = (&dna.descriptor.name, dna.version, dna.definition.gui_control_names.len());
    let value = json!({
        "name": name,
        "version": format!("2.{version}"),
        "bytes": bytes,
        "gui": gui,
        "raw": counts.raw,
        "lods": dna.descriptor.lod_count,
    });
    let raw = counts.raw;
    let text = format!("\"{name}\", version 2.{version}, {}: {gui} GUI and {raw} raw controls", size(bytes));
    facts.add("dna", value, text);
    let refusal = RigLogic::new(dna, RotationOutput::Euler).err();
    found.extend(findings::of_dna(dna, refusal.as_ref()).into_iter().map(|finding| format!("DNA: {finding}")));
    found
}

/// Quantisation and origin, and whatever else a baker wrote.
fn manifest(facts: &mut Facts, pack: &OrlPack) {
    let mut manifest: Map<String, Value> = serde_json::from_str(pack.manifest()).unwrap_or_default();
    manifest.retain(|key, _| !SAID.contains(&key.as_str()));
    let mut error = |key: &str| manifest.remove(key).and_then(|value| value.as_f64());
    let (max, mean) = (error("quantizationMaxErrorUm"), error("quantizationMeanErrorUm"));
    let text = match (max, mean) {
        (Some(max), Some(mean)) => format!("max {max:.3} um, mean {mean:.3} um of one delta at weight 1"),
        _ => "not stated".to_string(),
    };
    facts.add("quantisation", json!({"max_error_um": max, "mean_error_um": mean}), text);
    let source = Value::Object(manifest);
    let shown = match source.as_object().is_some_and(Map::is_empty) {
        true => "not stated".to_string(),
        false => shortened(&source).to_string(),
    };
    facts.add("source", source, shown);
}

fn members(facts: &mut Facts, pack: &OrlPack) {
    let members: Vec<(&str, usize)> = pack.file().members().map(|(name, data)| (name, data.len())).collect();
    let value: Map<String, Value> = members.iter().map(|(name, bytes)| (name.to_string(), json!(bytes))).collect();
    let text: Vec<String> = members.iter().map(|(name, bytes)| format!("{name} {}", size(*bytes))).collect();
    facts.add("members", Value::Object(value), listed(&text));
}
