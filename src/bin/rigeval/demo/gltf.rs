//! The second character: the same head as a glTF file, driven by the same ARKit weights.

use super::{Act, Devices, Played, Script};
use crate::device::Device;
use crate::evaluate::{self, Inputs};
use crate::failure::Failure;
use crate::posed::PosedRig;
use crate::progress;
use crate::report::{grouped, size};
use rigeval::error::LoadError;
use rigeval::expression::performance::Performance;
use rigeval::expression::{ArkitColumns, ArkitOrder, look_at};
use rigeval::files::Files;
use rigeval::glam::Quat;
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::sample::sample;
use rigeval::head::HeadSize;
use rigeval::lbs::Skinning;
use rigeval::npy;
use rigeval::picture::View;
use rigeval::scene::arkit_to_gltf;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

const FILE: &str = "head.glb";
const SHEET: &str = "gltf_sheet.png";

pub fn play(devices: &Devices, times: &[f64], out: &Path) -> Result<Act, Failure> {
    let device = &devices.chosen;
    let bytes = sample(HeadSize::Full);
    let model = GltfModel::load(&bytes, &Files::Memory(BTreeMap::new())).map_err(|e: LoadError| e.in_file(FILE))?;
    let model = Arc::new(model);
    let evaluate = |device: &Device, inputs: &Inputs| evaluate::gltf(device, &model, Skinning::Linear, inputs);
    let played = Played::new(devices, times, |times| script(&model, times), evaluate)?;
    let Played { script, positions, .. } = &played;

    let made = format!(
        "gltf head: {} vertices, {} morph weights, {} joints, driven by the same ARKit weights, {}",
        grouped(model.mesh().vertex_count()),
        model.controls().morph_count(),
        model.skeleton().joint_count(),
        size(bytes.len())
    );
    let [speed, across] = played.lines(device);
    let mut values = played.values();
    values.insert("morph_weights".into(), json!(model.controls().morph_count()));
    let mut files = vec![
        ("gltf_controls.npy", npy::write_f32(&[times.len(), script.width], &script.controls)),
        ("gltf_overrides.json", script.overrides_json.clone()),
        ("gltf_vertices.npy", npy::write_f32(&[times.len(), model.mesh().vertex_count(), 3], positions)),
        (FILE, bytes),
    ];
    let mut pictures = Vec::new();
    if let Some(gpu) = devices.painter() {
        let spinner = progress::spinner("drawing");
        let rig = PosedRig::Gltf { model: Arc::clone(&model), skinning: Skinning::Linear };
        files.push((SHEET, played.sheet(gpu, &rig, [4, 2], View::ThreeQuarter)?));
        pictures.push((SHEET, "the same head as a glTF file, driven by the same ARKit weights"));
        spinner.finish_and_clear();
    }
    let shown = out.display();
    let inputs = format!("--controls {shown}/gltf_controls.npy --overrides {shown}/gltf_overrides.json");
    Ok(Act {
        lines: vec![made, speed, across],
        values,
        pass: played.passes(),
        files,
        kind: "gltf",
        frame_ms: played.frame_ms.clone(),
        pictures,
        advice: format!("evaluate them again: rigeval eval {shown}/{FILE} {inputs} -o {shown}/again.npy"),
    })
}

/// The performance by the names of the targets; the eyes turn as joints, toward its target.
fn script(model: &GltfModel, times: &[f64]) -> Result<Script, Failure> {
    let map = arkit_to_gltf(ArkitColumns::of(ArkitOrder::Engine), model)?;
    let turns = |moment: &Performance| {
        // The target is measured from between the eyes.
        let [pitch, yaw, ..] = look_at(moment.target, [[0.0; 3]; 2]);
        let eye = Quat::from_rotation_x(pitch) * Quat::from_rotation_y(yaw);
        vec![("neck", moment.neck), ("head", moment.head), ("leftEye", eye), ("rightEye", eye)]
    };
    Script::new(times, map.dim(), |moment, row| Ok(map.controls(&moment.weights, row)?), turns)
}
