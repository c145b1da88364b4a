//! What is legal in a rig's file and still worth a look.

use super::Facts;
use crate::report::one_line;
use rigeval::error::LoadError;
use rigeval::orl::dna::{Conventions, Dna};
use serde_json::json;
use std::collections::HashSet;

/// One line for each finding.
pub fn add(facts: &mut Facts, findings: &[String]) {
    let count = match findings.len() {
        0 => "none".to_string(),
        count => count.to_string(),
    };
    facts.add("findings", json!(findings), count);
    facts.lines.extend(findings.iter().map(|finding| one_line(&format!("    {finding}"))));
}

/// The findings of a rig that was read; `refusal` is what RigLogic said of it.
pub fn of_dna(dna: &Dna, refusal: Option<&LoadError>) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(refusal.map(|error| format!("RigLogic refuses the rig: {error}")));
    for layer in &dna.unknown_layers {
        let (id, version) = (layer.id.escape_ascii(), layer.version);
        let (major, minor, bytes) = (version >> 16, version & 0xffff, layer.bytes.len());
        found.push(format!("layer \"{id}\" {major}.{minor} is not known: its {bytes} bytes are kept and not used"));
    }
    definition(dna, &mut found);
    for (index, mesh) in dna.meshes.iter().enumerate() {
        let name = dna.definition.mesh_names.get(index).map_or("", String::as_str);
        if mesh.positions.is_empty() {
            found.push(format!("mesh {index} \"{name}\" has no vertices"));
        }
        if mesh.positions.len() > 1 << 16 {
            found.push(format!("mesh {index} \"{name}\" has more than the 65,536 vertices of a pack"));
        }
        let mut about = |count: usize, what: &str| {
            if count > 0 {
                found.push(format!("mesh {index} \"{name}\": {count} {what}"));
            }
        };
        let influences = |rows: &dyn Fn(&f64) -> bool| {
            let sums = mesh.skin.iter().map(|row| row.weights.iter().map(|&w| f64::from(w)).sum::<f64>());
            sums.filter(rows).count()
        };
        let bare = mesh.skin.iter().filter(|row| row.joints.is_empty()).count();
        about(bare, "vertices without influences: they come out at the origin");
        let uneven = influences(&|sum| (sum - 1.0).abs() > 1e-3);
        about(uneven.saturating_sub(bare), "vertices whose weights do not sum to 1");
    }
    found
}

fn definition(dna: &Dna, found: &mut Vec<String>) {
    let definition = &dna.definition;
    let names = [
        ("joint", &definition.joint_names),
        ("GUI control", &definition.gui_control_names),
        ("raw control", &definition.raw_control_names),
        ("mesh", &definition.mesh_names),
    ];
    for (what, names) in names {
        let mut seen = HashSet::new();
        if let Some(name) = names.iter().find(|name| !seen.insert(*name)) {
            found.push(format!("{what} \"{name}\" stands there twice: by name only the first is found"));
        }
    }
    if dna.meshes.len() < definition.mesh_names.len() {
        let (with, named) = (dna.meshes.len(), definition.mesh_names.len());
        found.push(format!("geometry of {with} of {named} meshes"));
    }
    let parents = definition.joint_parents.iter().map(|&p| usize::from(p)).enumerate();
    let late = parents.filter(|(joint, parent)| parent > joint).count();
    if late > 0 {
        found.push(format!("{late} joints stand before their parents: a pack cannot hold that"));
    }
    let (usual, own) = (Conventions::default(), &dna.conventions);
    if (own.rotation_sequence, own.rotation_signs) != (usual.rotation_sequence, usual.rotation_signs) {
        found.push("angles in another order or sense than xyz: a pack cannot hold that".to_string());
    }
}
