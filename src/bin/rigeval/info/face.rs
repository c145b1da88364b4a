//! What ARKit weights find in a glTF file.

use super::{Facts, counted};
use crate::report::grouped;
use rigeval::expression::{ArkitShape, oculus_visemes};
use rigeval::gltf::face::{EyeJoint, GltfFace};
use rigeval::gltf::model::GltfModel;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Shapes with a target, eye joints, visemes.
pub fn face(facts: &mut Facts, model: &GltfModel) {
    let GltfFace { targets, eyes } = GltfFace::of(model);
    let named = || targets.iter().filter_map(|target| Some((ArkitShape::parse(&target.name)?, &target.mesh)));
    let shapes: BTreeSet<ArkitShape> = named().map(|(shape, _)| shape).collect();
    let meshes: BTreeSet<&String> = named().map(|(_, mesh)| mesh).collect();
    let missing: Vec<String> = match shapes.len() {
        0 => Vec::new(),
        _ => ArkitShape::ALL.into_iter().filter(|s| !shapes.contains(s)).map(|s| s.name().to_string()).collect(),
    };
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    let visemes: Vec<String> = oculus_visemes(&names).into_iter().map(String::from).collect();
    let [left, right] = eyes.map(|eye| eye.map(|EyeJoint { joint, .. }| &model.skeleton().names()[joint]));
    let text = match shapes.len() {
        0 => "no ARKit shape has a target".to_string(),
        count => {
            let (on, s) = (meshes.len(), if meshes.len() == 1 { "" } else { "es" });
            let without = if missing.is_empty() { String::new() } else { format!("; without {}", counted(&missing)) };
            format!("{count} of the 52 ARKit shapes, on {} mesh{s}{without}", grouped(on))
        }
    };
    facts.add("face", json!({"shapes": shapes.len(), "meshes": meshes, "missing": missing}), text);
    let value = |eye: &Result<&String, String>| match eye {
        Ok(joint) => json!({ "joint": joint }),
        Err(reason) => json!({ "joint": Value::Null, "reason": reason }),
    };
    let text = match (&left, &right) {
        (Ok(left), Ok(right)) => format!("{left:?} and {right:?}"),
        (Ok(left), Err(reason)) => format!("{left:?} is the left one; {reason}"),
        (Err(reason), Ok(right)) => format!("{right:?} is the right one; {reason}"),
        (Err(left), Err(right)) if left == right => format!("none: {left}"),
        (Err(left), Err(right)) => format!("none: {left}; {right}"),
    };
    facts.add("eyes", json!({"left": value(&left), "right": value(&right)}), text);
    if !visemes.is_empty() {
        let text = format!("{}; they are listed, and no ARKit shape drives them", counted(&visemes));
        facts.add("visemes", json!(visemes), text);
    } else {
        facts.values.insert("visemes".into(), json!(visemes));
    }
}
