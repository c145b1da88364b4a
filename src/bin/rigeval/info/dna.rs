//! What is in a DNA file.

use super::{Facts, Read, bounds, counted, findings, joints};
use crate::report::{grouped, one_line, size};
use rigeval::math::Aabb;
use rigeval::orl::dna::{Dna, FaceWinding, Mesh, OperationType, RotationRepresentation, RotationUnit, TranslationUnit};
use rigeval::orl::rig::{OrlRig, RigOptions};
use rigeval::orl::riglogic::{RigLogic, RotationOutput};
use rigeval::sparse::DeltaFormat;
use serde_json::{Value, json};
use std::path::Path;

pub fn facts(path: &Path, bytes: &[u8]) -> Read {
    let dna = Dna::read(bytes)?;
    let logic = RigLogic::new(&dna, RotationOutput::Euler);
    let mut facts = Facts::new(path, "orl", &format!("DNA file version 2.{}", dna.version));
    facts.bytes(bytes);
    descriptor(&mut facts, &dna);
    layers(&mut facts, &dna, bytes);
    counts(&mut facts, &dna);
    levels(&mut facts, &dna, logic.as_ref().ok());
    meshes(&mut facts, &dna);
    let parents: Vec<Option<usize>> = (dna.definition.joint_parents.iter().map(|&p| usize::from(p)).enumerate())
        .map(|(joint, parent)| (parent != joint).then_some(parent))
        .collect();
    joints(&mut facts, &dna.definition.joint_names, &parents);
    bounds(&mut facts, &rest_bounds(&dna), translation_unit(&dna));
    let undriven: Vec<String> =
        dna.undriven_raw_controls().iter().map(|&c| dna.definition.raw_control_names[c].clone()).collect();
    facts.add("undriven_raw_controls", json!(undriven), counted(&undriven));
    findings::add(&mut facts, &findings::of_dna(&dna, logic.as_ref().err()));
    facts.checks("all passed: layers, lengths, indices, level rows, joint tree, finite numbers");
    Ok(facts)
}

/// `cm` or `m`.
pub fn translation_unit(dna: &Dna) -> &'static str {
    match dna.descriptor.translation_unit {
        TranslationUnit::Centimetres => "cm",
        TranslationUnit::Metres => "m",
    }
}

fn descriptor(facts: &mut Facts, dna: &Dna) {
    let descriptor = &dna.descriptor;
    facts.add("name", json!(descriptor.name), &descriptor.name);
    let angle = match descriptor.rotation_unit {
        RotationUnit::Degrees => "degrees",
        RotationUnit::Radians => "radians",
    };
    facts.add("units", json!(translation_unit(dna)), format!("{}, {angle}", translation_unit(dna)));
    facts.values.insert("rotation_unit".into(), json!(angle));
    let axes = descriptor.axes.map(|axis| format!("{axis:?}").to_lowercase());
    facts.add("axes", json!(axes), format!("+X {}, +Y {}, +Z {}", axes[0], axes[1], axes[2]));
    let conventions = &dna.conventions;
    let sequence = format!("{:?}", conventions.rotation_sequence).to_lowercase();
    let winding = match conventions.face_winding {
        FaceWinding::CounterClockwise => "counter-clockwise",
        FaceWinding::Clockwise => "clockwise",
    };
    facts.add(
        "conventions",
        json!({"rotation_sequence": sequence, "rotation_signs": conventions.rotation_signs, "face_winding": winding}),
        format!("angles applied {sequence}, signs {:?}, faces {winding}", conventions.rotation_signs),
    );
}

/// The layers in file order, with their sizes; 2.1 has sections instead and no index of them.
fn layers(facts: &mut Facts, dna: &Dna, bytes: &[u8]) {
    let entry = |entry: &[u8]| {
        let number = |at: usize| u32::from_be_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]);
        let version = format!("{}.{}", number(4) >> 16, number(4) & 0xffff);
        (entry[..4].escape_ascii().to_string(), Some((version, number(12) as usize)))
    };
    let index = || {
        let count = u32::from_be_bytes(*bytes.get(7..)?.first_chunk()?) as usize;
        bytes.get(11..11 + count * 16)
    };
    let listed: Vec<(String, Option<(String, usize)>)> = match dna.version {
        1 => ["desc", "defn", "bhvr", "geom"].map(|id| (id.to_string(), None)).to_vec(),
        _ => index().unwrap_or_default().chunks_exact(16).map(entry).collect(),
    };
    let mut values = Vec::new();
    facts.lines.push(format!("  {:<13} {}", "layers", listed.len()));
    for (id, stored) in listed {
        let holds = holds(dna, &id);
        let stated =
            stored.as_ref().map(|(version, bytes)| format!(" {version} ({})", size(*bytes))).unwrap_or_default();
        facts.lines.push(format!("    {id}{stated}: {holds}"));
        let (version, bytes) = stored.unzip();
        values.push(json!({"id": id, "version": version, "bytes": bytes, "holds": holds}));
    }
    facts.values.insert("layers".into(), Value::Array(values));
}

fn holds(dna: &Dna, id: &str) -> String {
    let (definition, behavior) = (&dna.definition, &dna.behavior);
    let n = |count: usize, what: &str| match count {
        0 => String::new(),
        _ => format!("{} {what}", grouped(count)),
    };
    let sum = |counts: &mut dyn Iterator<Item = usize>| counts.sum::<usize>();
    let parts = match id {
        "desc" => vec![
            n(dna.descriptor.lod_count.into(), "levels of detail"),
            n(dna.descriptor.metadata.len(), "pairs of metadata"),
        ],
        "defn" => vec![
            n(definition.joint_names.len(), "joints"),
            n(definition.gui_control_names.len(), "GUI controls"),
            n(definition.raw_control_names.len(), "raw controls"),
            n(definition.channel_names.len(), "channels"),
            n(definition.animated_map_names.len(), "animated maps"),
            n(definition.mesh_names.len(), "meshes"),
        ],
        "bhvr" => vec![
            n(behavior.gui_to_raw.len(), "GUI rows"),
            n(behavior.psd_count.into(), "correctives"),
            n(behavior.joint_groups.len(), "joint groups"),
            n(sum(&mut behavior.joint_groups.iter().map(|g| g.values.len())), "coefficients"),
            n(behavior.channels.inputs.len(), "driven channels"),
            n(behavior.animated_maps.len(), "animated map rows"),
        ],
        "geom" => vec![
            n(dna.meshes.len(), "meshes"),
            n(sum(&mut dna.meshes.iter().map(|m| m.positions.len())), "vertices"),
            n(sum(&mut dna.meshes.iter().map(delta_count)), "deltas"),
        ],
        "mlbh" => vec![
            n(dna.networks.control_names.len(), "ML controls"),
            n(dna.networks.networks.len(), "networks"),
            n(sum(&mut dna.networks.region_networks.iter().map(Vec::len)), "regions"),
        ],
        "rbfb" => vec![n(dna.rbf.solvers.len(), "solvers"), n(dna.rbf.poses.len(), "poses")],
        "rbfe" => vec![
            n(dna.rbf_outputs.control_names.len(), "pose controls"),
            n(dna.rbf_outputs.poses.len(), "pose outputs"),
        ],
        "jbmd" => {
            let quaternions = dna.joint_representations.iter();
            let quaternions = quaternions.filter(|j| j.rotation == RotationRepresentation::Quaternion).count();
            vec![n(dna.joint_representations.len(), "joint representations"), n(quaternions, "quaternion joints")]
        }
        "twsw" => vec![n(dna.twist_swing.twists.len(), "twists"), n(dna.twist_swing.swings.len(), "swings")],
        "mlbe" => {
            let operations = |kind: &OperationType| kind.sets.iter().map(Vec::len).sum::<usize>();
            vec![
                n(sum(&mut dna.operation_graph.types.iter().map(operations)), "operations"),
                n(dna.operation_graph.joint_outputs.len(), "outputs to joints"),
            ]
        }
        "dsce" => vec!["conventions".to_string()],
        _ => vec!["not known: kept as it is".to_string()],
    };
    match parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>() {
        parts if parts.is_empty() => "nothing".to_string(),
        parts => parts.join(", "),
    }
}

fn delta_count(mesh: &Mesh) -> usize {
    mesh.targets.iter().map(|t| t.deltas.len()).sum()
}

fn counts(facts: &mut Facts, dna: &Dna) {
    let definition = &dna.definition;
    let controls = dna.control_counts();
    let values = json!({
        "gui": definition.gui_control_names.len(),
        "raw": controls.raw,
        "psd": controls.psd,
        "ml": controls.ml,
        "rbf": controls.rbf,
    });
    let text = format!(
        "{} GUI, {} raw, {} correctives, {} ML, {} RBF",
        definition.gui_control_names.len(),
        controls.raw,
        controls.psd,
        controls.ml,
        controls.rbf
    );
    facts.add("controls", values, text);
    facts.values.insert("gui_control_names".into(), json!(definition.gui_control_names));
    facts.values.insert("raw_control_names".into(), json!(definition.raw_control_names));
    facts.count("channels", definition.channel_names.len());
    facts.count("animated_maps", definition.animated_map_names.len());
}

/// What each level of detail shows, and what it moves and costs where the rig can be evaluated.
fn levels(facts: &mut Facts, dna: &Dna, logic: Option<&RigLogic>) {
    let mut values = Vec::new();
    facts.lines.push(format!("  {:<13} {}", "lods", dna.descriptor.lod_count));
    for lod in 0..usize::from(dna.descriptor.lod_count) {
        let rows = |counts: &[u16]| counts.get(lod).map_or(0, |&rows| usize::from(rows));
        let channels = rows(&dna.behavior.channels.lods);
        let maps = rows(&dna.behavior.animated_map_lods);
        let meshes = dna.definition.lod_meshes.list(lod);
        let mut value = json!({"channels": channels, "animated_map_rows": maps, "meshes": meshes});
        let mut text = format!("{} channels, {} map rows, meshes {meshes:?}", grouped(channels), grouped(maps));
        if let Some(logic) = logic {
            let attributes = logic.variable_attributes(lod);
            let mut joints: Vec<u16> = attributes.iter().map(|a| a / 9).collect();
            joints.dedup();
            let (attributes, joints, cost) = (attributes.len(), joints.len(), logic.multiply_adds(lod));
            value["moved_attributes"] = json!(attributes);
            value["moved_joints"] = json!(joints);
            value["multiply_adds"] = json!(cost);
            let [attributes, joints, cost] = [attributes, joints, cost].map(grouped);
            text = format!("{attributes} attributes of {joints} joints moved, {cost} multiply-adds, {text}");
        }
        facts.lines.push(format!("    {lod}: {text}"));
        values.push(value);
    }
    facts.values.insert("lods".into(), Value::Array(values));
}

fn meshes(facts: &mut Facts, dna: &Dna) {
    let mut values = Vec::new();
    facts.lines.push(format!("  {:<13} {}", "meshes", dna.definition.mesh_names.len()));
    for (index, name) in dna.definition.mesh_names.iter().enumerate() {
        let Some(mesh) = dna.meshes.get(index) else {
            facts.lines.push(one_line(&format!("    {index} \"{name}\": no geometry")));
            values.push(json!({"name": name, "vertices": null}));
            continue;
        };
        let influences = mesh.skin.iter().map(|row| row.joints.len()).max().unwrap_or(0);
        facts.lines.push(one_line(&format!(
            "    {index} \"{name}\": {} vertices, {} faces, {} targets with {} deltas, at most {influences} influences",
            grouped(mesh.positions.len()),
            grouped(mesh.faces.len()),
            grouped(mesh.targets.len()),
            grouped(delta_count(mesh)),
        )));
        values.push(json!({
            "name": name,
            "vertices": mesh.positions.len(),
            "faces": mesh.faces.len(),
            "targets": mesh.targets.len(),
            "deltas": delta_count(mesh),
            "max_influences": influences,
        }));
    }
    facts.values.insert("meshes".into(), Value::Array(values));
}

/// The bounds of what LOD 0 shows, at the default controls; of the neutral positions where the rig cannot be evaluated.
fn rest_bounds(dna: &Dna) -> Aabb {
    let shown = &dna.definition.lod_meshes;
    let is_shown = |index: &usize| shown.lods.is_empty() || shown.list(0).iter().any(|&m| usize::from(m) == *index);
    let meshes: Vec<usize> = (0..dna.meshes.len()).filter(is_shown).collect();
    let options = RigOptions { meshes: meshes.clone(), format: DeltaFormat::F32, ..RigOptions::default() };
    let neutral = || Aabb::of_points(meshes.iter().flat_map(|&index| &dna.meshes[index].positions).copied());
    OrlRig::from_dna(dna, &options).map_or_else(|_| neutral(), |rig| rig.rest_bounds())
}
