//! The first character: a GNM head, baked to a pack and held to the original formula.

use super::{Act, Devices, Played, Script, summary, widen};
use crate::device::Device;
use crate::evaluate::{self, Inputs, ModelInputs};
use crate::failure::Failure;
use crate::picture::{self, Compared, Easel};
use crate::posed::PosedRig;
use crate::report::{grouped, size};
use crate::{progress, sample};
use rigeval::expression::performance::Performance;
use rigeval::expression::{ArkitColumns, ArkitMap, ArkitOrder, ControlSpace, ExpressionMap, GnmRegions, look_at};
use rigeval::frames::{self, InputFiles, Manifest, Oracle, Tolerance};
use rigeval::glam::DQuat;
use rigeval::gnm::bake::BakeOptions;
use rigeval::gnm::model::{Correctives, GnmModel};
use rigeval::gnm::pack::GnmPack;
use rigeval::gnm::pose::Stage;
use rigeval::head::HeadSize;
use rigeval::npy;
use rigeval::picture::View;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Pack against the original formula, metres: the basis and the skin weights are halves there.
const FORMULA: Tolerance = Tolerance { abs: 3e-5, rel: 0.0 };

const SHEET: &str = "sheet.png";
const ERROR_MAP: &str = "error_map.png";

const FORMULA_SOURCE: &str = "rigeval gnm formula";

pub fn play(devices: &Devices, times: &[f64], out: &Path) -> Result<Act, Failure> {
    let device = &devices.chosen;
    let start = Instant::now();
    let spinner = progress::spinner("making the sample head");
    let model = sample::model_of(HeadSize::Full);
    spinner.finish_and_clear();
    let pack = Arc::new(sample::bake_sample(&model, BakeOptions::default())?);
    let bake_seconds = start.elapsed().as_secs_f64();

    let evaluate = |device: &Device, inputs: &Inputs| evaluate::gnm(device, &pack, Stage::Pose, inputs);
    let played = Played::new(devices, times, |times| script(&pack, times), evaluate)?;
    let Played { script, positions, .. } = &played;
    let inputs = formula_inputs(script, times, &model);
    let exact = evaluate::model(&model, &inputs, Correctives::Off, false)?.positions;
    let computed = (&*device.source(), &*widen(positions));
    let formula = script.compare((FORMULA_SOURCE, &exact), computed, FORMULA)?;

    let mut pictures = Vec::new();
    if let Some(gpu) = devices.painter() {
        let spinner = progress::spinner("drawing");
        let rig = PosedRig::Gnm { pack: Arc::clone(&pack), stage: Stage::Pose, noun: "pack" };
        pictures.push((SHEET, played.sheet(gpu, &rig, [4, 3], View::Front)?));
        let (frame, floats) = (formula.worst.frame, pack.vertex_count() * 3);
        let errors = picture::errors(&exact[frame * floats..][..floats], &widen(played.frame(frame)), None)?;
        let compared = Compared {
            mesh: &rig.mesh(),
            positions: played.frame(frame),
            errors: &errors,
            units: pack.units(),
            title: &format!("the pack against the original formula, frame {frame}"),
        };
        pictures.push((ERROR_MAP, picture::error_map(&Easel::new(gpu), &compared, [1280, 720])?.png()));
        spinner.finish_and_clear();
    }

    let bytes = pack.write();
    let shape = [times.len(), pack.vertex_count(), 3];
    let exact: Vec<f32> = exact.iter().map(|&x| x as f32).collect();
    let made = format!(
        "gnm head: {} vertices, {} controls, made and baked in {bake_seconds:.1} s, {}",
        grouped(pack.vertex_count()),
        script.width,
        size(bytes.len())
    );
    let [speed, across] = played.lines(device);
    let mut values = played.values();
    values.insert("bake_seconds".into(), json!(bake_seconds));
    values.insert("pack_against_formula".into(), json!(formula));
    let shown = out.display();
    let mut files = vec![
        ("controls.npy", npy::write_f32(&[times.len(), script.width], &script.controls)),
        ("overrides.json", script.overrides_json.clone()),
        ("vertices.npy", npy::write_f32(&shape, positions)),
        ("formula.npy", npy::write_f32(&shape, &exact)),
        ("frames.json", manifest(&bytes)),
        ("head.aosrig", bytes),
    ];
    let shows = [
        (SHEET, "the GNM head, twelve moments of the performance"),
        (ERROR_MAP, "how far the f16 pack is off the original formula, in the worst frame"),
    ];
    let shown_pictures = shows.into_iter().filter(|(name, _)| pictures.iter().any(|(made, _)| made == name)).collect();
    files.extend(pictures);
    Ok(Act {
        kind: "gnm",
        frame_ms: played.frame_ms.clone(),
        pictures: shown_pictures,
        lines: vec![made, speed, across, format!("the pack against the original formula: {}", summary(&formula))],
        values,
        pass: formula.pass && played.passes(),
        files,
        advice: format!("check them: rigeval check {shown}/head.aosrig --frames {shown}"),
    })
}

/// The performance by the hand-made table; the eyes look at its target.
fn script(pack: &GnmPack, times: &[f64]) -> Result<Script, Failure> {
    let regions: Vec<(&str, usize)> = pack.regions().iter().map(|r| (r.name.as_str(), r.count)).collect();
    let layout = GnmRegions::new(&regions)?;
    let space = ControlSpace::arkit52(ArkitColumns::of(ArkitOrder::Engine));
    let map = ExpressionMap::new(space, Some(ArkitMap::HandMade), &layout)?;
    let (eyes, width) = (pack.eye_positions(), map.dim());
    let controls = |moment: &Performance, row: &mut [f32]| {
        map.controls(&moment.weights, row)?;
        let target = [0, 1, 2].map(|i| (eyes[0][i] + eyes[1][i]) / 2.0 + moment.target[i]);
        row[width - 4..].copy_from_slice(&look_at(target, eyes));
        Ok(())
    };
    Script::new(times, width, controls, |moment| vec![("neck", moment.neck), ("head", moment.head)])
}

/// The same performance for the original formula: head turns and gaze as axis-angles of its four joints.
fn formula_inputs(script: &Script, times: &[f64], model: &GnmModel) -> ModelInputs {
    let expressions = script.width - 4;
    let mut inputs = ModelInputs {
        frame_count: script.frame_count,
        identity: vec![0.0; model.identity_names.len()],
        translation: vec![0.0; 3],
        ..ModelInputs::default()
    };
    for (row, &time) in script.controls.chunks_exact(script.width).zip(times) {
        let (expression, gaze) = row.split_at(expressions);
        inputs.expression.extend(expression.iter().map(|&x| f64::from(x)));
        let eye = |pitch: f32, yaw: f32| DQuat::from_rotation_x(pitch.into()) * DQuat::from_rotation_y(yaw.into());
        let moment = Performance::at(time);
        let turns = [
            moment.neck.as_dquat().normalize(),
            moment.head.as_dquat().normalize(),
            eye(gaze[0], gaze[1]),
            eye(gaze[2], gaze[3]),
        ];
        inputs.rotations.extend(turns.iter().flat_map(|q| q.to_scaled_axis().to_array()));
    }
    inputs
}

fn manifest(head: &[u8]) -> Vec<u8> {
    let manifest = Manifest {
        version: 1,
        rig: "head.aosrig".into(),
        rig_sha256: frames::sha256_hex(head),
        kind: "gnm".into(),
        units: "m".into(),
        stage: frames::Stage::Pose,
        mesh: None,
        lod: None,
        inputs: InputFiles {
            controls: Some("controls.npy".into()),
            overrides: Some("overrides.json".into()),
            ..InputFiles::default()
        },
        vertices: "formula.npy".into(),
        vertex_ids: None,
        oracle: Oracle { name: FORMULA_SOURCE.into(), version: env!("CARGO_PKG_VERSION").into() },
        tolerance: FORMULA,
    };
    serde_json::to_vec_pretty(&manifest).expect("a manifest is plain data")
}
