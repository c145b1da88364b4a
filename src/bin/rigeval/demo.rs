//! `rigeval demo`: the sample head through a short performance.

use crate::device::{Device, DeviceChoice};
use crate::evaluate::{self, Inputs, ModelInputs};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::progress;
use crate::report::{grouped, report, size};
use crate::sample;
use rigeval::expression::performance::Performance;
use rigeval::expression::{ArkitColumns, ArkitMap, ArkitOrder, ControlSpace, ExpressionMap, GnmRegions, look_at};
use rigeval::frames::{self, Comparison, InputFiles, Manifest, Oracle, Overrides, Side, Tolerance};
use rigeval::glam::{DQuat, Quat};
use rigeval::gnm::bake::BakeOptions;
use rigeval::gnm::model::{Correctives, GnmModel};
use rigeval::gnm::pack::GnmPack;
use rigeval::gnm::pose::Stage;
use rigeval::gpu::headless::{AdapterChoice, Headless};
use rigeval::head::HeadSize;
use rigeval::npy;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Bake the full-size sample head and play a short performance: timing, errors, and frames on disk
#[derive(clap::Args)]
pub struct Args {
    /// The folder that receives the head and its frames; made where it is absent
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    /// How many frames, 30 a second
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u16).range(1..=3600))]
    frames: u16,
    /// What evaluates
    #[arg(long, value_enum, default_value = "auto")]
    device: DeviceChoice,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

const FRAMES_PER_SECOND: f64 = 30.0;

/// GPU against CPU, metres: the f32 rounding of a head that is less than a metre from its origin.
const GPU: Tolerance = Tolerance { abs: 1e-6, rel: 0.0 };

/// Pack against the original formula, metres: the basis and the skin weights are halves there.
const FORMULA: Tolerance = Tolerance { abs: 3e-5, rel: 0.0 };

/// How many frames a software adapter computes for the comparison.
const SOFTWARE_FRAMES: usize = 4;

pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let out = Folder::create(&args.out)?;
    let device = Device::open(args.device)?;
    let start = Instant::now();
    let spinner = progress::spinner("making the sample head");
    let model = sample::model_of(HeadSize::Full);
    spinner.finish_and_clear();
    let pack = Arc::new(sample::bake_sample(&model, BakeOptions::default())?);
    let bake_seconds = start.elapsed().as_secs_f64();

    let times: Vec<f64> = (0..args.frames).map(|f| f64::from(f) / FRAMES_PER_SECOND).collect();
    let script = Script::new(&pack, &times)?;
    let played = evaluate::gnm(&device, &pack, Stage::Pose, &script.inputs())?;
    let ms_per_frame = played.time.as_secs_f64() * 1e3 / times.len() as f64;
    let per_second = pack.vertex_count() as f64 / ms_per_frame * 1e3;

    let across = match &device {
        Device::Gpu(_) => Some((device.describe(), against_cpu(&device, &pack, &script, &played.positions)?)),
        Device::Cpu => software_against_cpu(&pack, &times)?,
    };
    let (formula, formula_positions) = against_formula(&device, &model, &script, &played.positions)?;

    let bytes = pack.write();
    let (shape, narrow) = ([times.len(), pack.vertex_count(), 3], |x: &f64| *x as f32);
    let files = [
        ("controls.npy", npy::write_f32(&[times.len(), script.width], &script.controls)),
        ("overrides.json", script.overrides_json.clone()),
        ("vertices.npy", npy::write_f32(&shape, &played.positions)),
        ("formula.npy", npy::write_f32(&shape, &formula_positions.iter().map(narrow).collect::<Vec<_>>())),
        ("frames.json", manifest(&bytes)),
        ("head.aosrig", bytes),
    ];
    for (name, bytes) in &files {
        out.write(name, bytes)?;
    }

    let head = &files[files.len() - 1].1;
    let mut lines = vec![
        format!(
            "head: {} vertices, {} controls, made and baked in {bake_seconds:.1} s, {}",
            grouped(pack.vertex_count()),
            script.width,
            size(head.len())
        ),
        format!(
            "performance: {} frames on {}, {ms_per_frame:.3} ms per frame, {:.1} million vertices per second",
            times.len(),
            device.describe(),
            per_second / 1e6
        ),
        match &across {
            Some((gpu, c)) => format!("{gpu} against the CPU path: {}", summary(c)),
            None => "no GPU adapter here, not even a software one: the GPU path did not run".to_string(),
        },
        format!("the pack against the original formula: {}", summary(&formula)),
    ];
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let shown = args.out.display();
    lines.push(format!("wrote {} to {shown}", names.join(", ")));
    lines.push(format!("check them: rigeval check {shown}/head.aosrig --frames {shown}"));
    let pass = formula.pass && across.as_ref().is_none_or(|(_, c)| c.pass);
    let values = json!({
        "device": device.name(),
        "adapter": device.adapter(),
        "frames": times.len(),
        "vertices": pack.vertex_count(),
        "ms_per_frame": ms_per_frame,
        "vertices_per_second": per_second,
        "bake_seconds": bake_seconds,
        "gpu_against_cpu": across.as_ref().map(|(_, c)| c),
        "pack_against_formula": formula,
        "files": names,
        "pass": pass,
    });
    report(args.json, &values, &lines.join("\n"))?;
    Ok(if pass { Outcome::Done } else { Outcome::CheckFailed })
}

fn summary(c: &Comparison) -> String {
    let verdict = if c.pass { "pass" } else { "FAIL" };
    let (max, mean, allowed) = (c.max * 1e6, c.mean * 1e6, c.tolerance.abs * 1e6);
    format!("max {max:.3} um, mean {mean:.4} um over {} frames, {allowed} allowed: {verdict}", c.frames)
}

/// The performance as this pack takes it.
struct Script {
    controls: Vec<f32>,
    width: usize,
    frame_count: usize,
    overrides: Overrides,
    overrides_json: Vec<u8>,
    neck: Vec<Quat>,
    head: Vec<Quat>,
}

impl Script {
    fn new(pack: &GnmPack, times: &[f64]) -> Result<Script, Failure> {
        let regions: Vec<(&str, usize)> = pack.regions().iter().map(|r| (r.name.as_str(), r.count)).collect();
        let layout = GnmRegions::new(&regions)?;
        let space = ControlSpace::arkit52(ArkitColumns::of(ArkitOrder::Engine));
        let map = ExpressionMap::new(space, Some(ArkitMap::HandMade), &layout)?;
        let (eyes, width) = (pack.eye_positions(), map.dim());
        let mut controls = vec![0.0; times.len() * width];
        let (mut neck, mut head) = (Vec::new(), Vec::new());
        for (row, &time) in controls.chunks_exact_mut(width).zip(times) {
            let moment = Performance::at(time);
            map.controls(&moment.weights, row)?;
            let target = [0, 1, 2].map(|i| (eyes[0][i] + eyes[1][i]) / 2.0 + moment.target[i]);
            row[width - 4..].copy_from_slice(&look_at(target, eyes));
            neck.push(moment.neck);
            head.push(moment.head);
        }
        let wxyz = |turns: &[Quat]| turns.iter().map(|q| [q.w, q.x, q.y, q.z]).collect::<Vec<_>>();
        let overrides_json = json!({"neck": wxyz(&neck), "head": wxyz(&head)}).to_string().into_bytes();
        let overrides = Overrides::parse(&overrides_json)?;
        Ok(Script { controls, width, frame_count: times.len(), overrides, overrides_json, neck, head })
    }

    fn inputs(&self) -> Inputs<'_> {
        Inputs {
            controls: &self.controls,
            frame_count: self.frame_count,
            overrides: Some(&self.overrides),
            normals: false,
        }
    }

    fn side<'a>(&self, source: &'a str, positions: &'a [f64]) -> Side<'a> {
        let vertex_count = positions.len() / 3 / self.frame_count;
        Side { source, positions, frame_count: self.frame_count, vertex_count }
    }

    /// The same performance for the original formula: head turns and gaze as axis-angles of its four joints.
    fn formula_inputs(&self, model: &GnmModel) -> ModelInputs {
        let expressions = self.width - 4;
        let mut inputs = ModelInputs {
            frame_count: self.frame_count,
            identity: vec![0.0; model.identity_names.len()],
            translation: vec![0.0; 3],
            ..ModelInputs::default()
        };
        for (frame, row) in self.controls.chunks_exact(self.width).enumerate() {
            let (expression, gaze) = row.split_at(expressions);
            inputs.expression.extend(expression.iter().map(|&x| f64::from(x)));
            let eye = |pitch: f32, yaw: f32| DQuat::from_rotation_x(pitch.into()) * DQuat::from_rotation_y(yaw.into());
            let turns = [
                self.neck[frame].as_dquat().normalize(),
                self.head[frame].as_dquat().normalize(),
                eye(gaze[0], gaze[1]),
                eye(gaze[2], gaze[3]),
            ];
            inputs.rotations.extend(turns.iter().flat_map(|q| q.to_scaled_axis().to_array()));
        }
        inputs
    }
}

fn widen(positions: &[f32]) -> Vec<f64> {
    positions.iter().map(|&x| f64::from(x)).collect()
}

/// What a GPU computed against the CPU path on the same frames.
fn against_cpu(gpu: &Device, pack: &Arc<GnmPack>, script: &Script, positions: &[f32]) -> Result<Comparison, Failure> {
    let cpu = evaluate::gnm(&Device::Cpu, pack, Stage::Pose, &script.inputs())?;
    compare((&Device::Cpu.source(), &widen(&cpu.positions)), (&gpu.source(), &widen(positions)), script, GPU)
}

/// A few frames on whatever adapter there is, where the performance itself ran on the CPU.
fn software_against_cpu(pack: &Arc<GnmPack>, times: &[f64]) -> Result<Option<(String, Comparison)>, Failure> {
    let Ok(gpu) = Headless::new(AdapterChoice::Any) else { return Ok(None) };
    let gpu = Device::Gpu(Box::new(gpu));
    let step = times.len().div_ceil(SOFTWARE_FRAMES);
    let some: Vec<f64> = times.iter().skip(step / 2).step_by(step).copied().collect();
    let script = Script::new(pack, &some)?;
    let computed = evaluate::gnm(&gpu, pack, Stage::Pose, &script.inputs())?;
    Ok(Some((gpu.describe(), against_cpu(&gpu, pack, &script, &computed.positions)?)))
}

/// The baked pack against the model it was baked from.
fn against_formula(
    device: &Device,
    model: &GnmModel,
    script: &Script,
    positions: &[f32],
) -> Result<(Comparison, Vec<f64>), Failure> {
    let formula = evaluate::model(model, &script.formula_inputs(model), Correctives::Off, false)?.positions;
    let comparison = compare((FORMULA_SOURCE, &formula), (&device.source(), &widen(positions)), script, FORMULA)?;
    Ok((comparison, formula))
}

const FORMULA_SOURCE: &str = "rigeval gnm formula";

fn compare(
    reference: (&str, &[f64]),
    computed: (&str, &[f64]),
    script: &Script,
    tolerance: Tolerance,
) -> Result<Comparison, Failure> {
    let side = |(source, positions)| script.side(source, positions);
    Ok(frames::compare(&side(reference), &side(computed), None, tolerance, "m")?)
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

/// Where the files go.
struct Folder<'a>(&'a Path);

impl Folder<'_> {
    fn create(path: &Path) -> Result<Folder<'_>, Failure> {
        std::fs::create_dir_all(path)
            .map_err(|e| Failure::new(format!("--out {}: cannot make this folder: {e}", path.display())))?;
        Ok(Folder(path))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        Output::new(&self.0.join(name), &["npy", "json", "aosrig"])?.write(bytes)
    }
}
