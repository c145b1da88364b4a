//! What is in a bundle folder.

use super::face::face;
use super::{Facts, bounds, counted};
use crate::failure::Failure;
use crate::rig::{self, Bundle};
use rigeval::files::Files;
use rigeval::info::Units;
use rigeval::scene::{self, SceneError, SceneRig};
use serde_json::json;
use std::path::Path;

/// What the scene opens, and what to send to it; `rigeval info` of the pack says more about the rig.
pub fn facts(path: &Path) -> Result<Facts, Failure> {
    let bundle = Bundle::read(path)?;
    let scene = &bundle.scene;
    let kind = match &scene.rig {
        SceneRig::Gnm(_) => "gnm",
        SceneRig::Orl(_) => "orl",
        SceneRig::Gltf(_) => "gltf",
    };
    let mut facts = Facts::new(path, kind, "bundle (scene.json)");
    facts.add("pack", json!(scene.manifest.pack()), bundle.pack.display());
    facts.bytes(&rig::read(&bundle.pack)?);
    let space = scene.space.space();
    let (name, dim) = (space.kind().name(), space.dim());
    // Read once more as a program does that brings no map of its own.
    let without_map = scene::load(&Files::Folder(path.to_path_buf()), None);
    match (scene.space.map(), without_map) {
        (_, Err(SceneError::Space(refused))) => {
            let text =
                format!("{name}, {dim}, refused unless the program brings a map (SceneOptions::arkit): {refused}");
            facts.add("expression_space", json!({"kind": name, "dim": dim, "drives": false}), text);
        }
        (Ok(_), _) => {
            facts.add("expression_space", json!({"kind": name, "dim": dim, "drives": true}), format!("{name}, {dim}"));
        }
        (Err(refused), _) => {
            let text = format!("{name}, {dim}, which cannot drive the rig: {refused}");
            facts.add("expression_space", json!({"kind": name, "dim": dim, "drives": false}), text);
        }
    }
    if let Ok(map) = scene.space.map()
        && !map.dropped().is_empty()
    {
        facts.add("dropped", json!(map.dropped()), counted(map.dropped()));
    }
    let controls = match &scene.rig {
        SceneRig::Gnm(pack) => pack.control_names(),
        SceneRig::Orl(rig) => {
            let (layer, unresolved) = (rig.controls().layer().name(), rig.controls().unresolved());
            facts.add("layer", json!(layer), format!("{layer} controls"));
            let unresolved: Vec<String> = unresolved.iter().map(|name| name.to_string()).collect();
            facts.add("without_a_control", json!(unresolved), counted(&unresolved));
            let undriven = rig.undriven_raw_controls();
            facts.add("undriven_raw_controls", json!(undriven), counted(undriven));
            rig.controls().names().to_vec()
        }
        SceneRig::Gltf(model) => {
            face(&mut facts, model);
            model.controls().names().to_vec()
        }
    };
    facts.add("controls", json!(controls.len()), counted(&controls));
    facts.values.insert("control_names".into(), json!(controls));
    let (units, vertices, rest) = match &scene.rig {
        SceneRig::Gnm(pack) => (pack.units(), pack.vertex_count(), pack.rest_bounds()),
        SceneRig::Orl(rig) => (rig.units(), rig.mesh().vertex_count(), rig.rest_bounds()),
        SceneRig::Gltf(model) => (Units::Metres, model.mesh().vertex_count(), model.info(1).rest_bounds),
    };
    facts.add("units", json!(units.symbol()), units.symbol());
    facts.count("vertices", vertices);
    bounds(&mut facts, &rest, units.symbol());
    facts.checks("all passed: the scene's two blocks, the pack, the control names");
    Ok(facts)
}
