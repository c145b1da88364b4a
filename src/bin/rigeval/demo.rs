//! `rigeval demo`: the sample heads through a short performance, and a page that shows it.

mod gltf;
mod gnm;
mod page;
mod plot;

use crate::device::{Device, DeviceChoice};
use crate::evaluate::{Inputs, PosedFrames};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::picture::{Easel, Sheet, Sitting, Style};
use crate::posed::PosedRig;
use crate::report::report;
use rigeval::expression::performance::Performance;
use rigeval::frames::{self, Comparison, Overrides, Side, Tolerance};
use rigeval::glam::Quat;
use rigeval::gpu::headless::{AdapterChoice, Headless};
use rigeval::picture::View;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Play a short performance with the sample heads, a GNM pack and a glTF file: timing, errors, frames on disk, and a page of pictures
#[derive(clap::Args)]
pub struct Args {
    /// The folder that receives the heads and their frames; made where it is absent
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

/// How many frames a software adapter computes for the comparison.
const SOFTWARE_FRAMES: usize = 4;

pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let out = Folder::create(&args.out)?;
    let devices = Devices::open(args.device)?;
    let device = &devices.chosen;
    let times: Vec<f64> = (0..args.frames).map(|f| f64::from(f) / FRAMES_PER_SECOND).collect();
    let mut acts = [gnm::play(&devices, &times, &args.out)?, gltf::play(&devices, &times, &args.out)?];
    let page = page::page(&acts, &devices);
    acts[1].files.push((plot::FILE, plot::times(&acts)?));
    acts[1].files.push((page::FILE, page));

    let mut names = Vec::new();
    for (name, bytes) in acts.iter().flat_map(|act| &act.files) {
        out.write(name, bytes)?;
        names.push(*name);
    }
    let [head, second] = &acts;
    let mut lines: Vec<&str> = acts.iter().flat_map(|act| &act.lines).map(String::as_str).collect();
    lines.extend(acts.iter().map(|act| act.advice.as_str()));
    let wrote = format!("wrote {} files; look at them: {}", names.len(), args.out.join(page::FILE).display());
    lines.push(&wrote);
    let pass = acts.iter().all(|act| act.pass);
    let mut values = json!({"device": device.name(), "adapter": device.adapter(), "frames": times.len()});
    let fields = values.as_object_mut().expect("an object");
    fields.extend(head.values.clone());
    fields.insert("gltf".into(), Value::Object(second.values.clone()));
    fields.insert("files".into(), json!(names));
    fields.insert("pass".into(), json!(pass));
    report(args.json, &values, &lines.join("\n"))?;
    Ok(if pass { Outcome::Done } else { Outcome::CheckFailed })
}

/// What plays, and what else is there.
struct Devices {
    chosen: Device,
    /// An adapter, if only a software one, where the CPU plays: for comparisons and pictures.
    spare: Option<Device>,
}

impl Devices {
    fn open(choice: DeviceChoice) -> Result<Devices, Failure> {
        let chosen = Device::open(choice)?;
        let spare = match &chosen {
            Device::Gpu(_) => None,
            Device::Cpu => Headless::new(AdapterChoice::Any).ok().map(|gpu| Device::Gpu(Box::new(gpu))),
        };
        Ok(Devices { chosen, spare })
    }

    /// The device that paints, where there is an adapter.
    fn painter(&self) -> Option<&Headless> {
        match self.spare.as_ref().unwrap_or(&self.chosen) {
            Device::Gpu(gpu) => Some(gpu),
            Device::Cpu => None,
        }
    }
}

/// What one character leaves.
struct Act {
    /// What is said of it.
    lines: Vec<String>,
    /// The same for programs.
    values: Map<String, Value>,
    files: Vec<(&'static str, Vec<u8>)>,
    /// Those of the files that are pictures, with what they show.
    pictures: Vec<(&'static str, &'static str)>,
    /// What each frame took.
    frame_ms: Vec<f64>,
    kind: &'static str,
    /// The command that looks at the files again.
    advice: String,
    pass: bool,
}

/// The performance as one character takes it.
struct Script {
    /// (F, C).
    controls: Vec<f32>,
    width: usize,
    frame_count: usize,
    overrides: Overrides,
    overrides_json: Vec<u8>,
}

impl Script {
    /// From what the character takes at one moment, and the turns of its joints.
    fn new(
        times: &[f64],
        width: usize,
        mut controls_at: impl FnMut(&Performance, &mut [f32]) -> Result<(), Failure>,
        turns_at: impl Fn(&Performance) -> Vec<(&'static str, Quat)>,
    ) -> Result<Script, Failure> {
        let mut controls = vec![0.0; times.len() * width];
        let mut turns = Map::new();
        for (row, &time) in controls.chunks_exact_mut(width).zip(times) {
            let moment = Performance::at(time);
            controls_at(&moment, row)?;
            for (joint, q) in turns_at(&moment) {
                let frames = turns.entry(joint).or_insert_with(|| json!([])).as_array_mut();
                frames.expect("a list").push(json!([q.w, q.x, q.y, q.z]));
            }
        }
        let overrides_json = Value::Object(turns).to_string().into_bytes();
        let overrides = Overrides::parse(&overrides_json)?;
        Ok(Script { controls, width, frame_count: times.len(), overrides, overrides_json })
    }

    fn inputs(&self) -> Inputs<'_> {
        let overrides = Some(&self.overrides);
        Inputs { controls: &self.controls, frame_count: self.frame_count, overrides, normals: false }
    }

    fn side<'a>(&self, (source, positions): (&'a str, &'a [f64])) -> Side<'a> {
        let vertex_count = positions.len() / 3 / self.frame_count;
        Side { source, positions, frame_count: self.frame_count, vertex_count }
    }

    /// Two sources of this performance's vertices, metres.
    fn compare(
        &self,
        reference: (&str, &[f64]),
        computed: (&str, &[f64]),
        tolerance: Tolerance,
    ) -> Result<Comparison, Failure> {
        Ok(frames::compare(&self.side(reference), &self.side(computed), None, tolerance, "m")?)
    }
}

/// A performance, played.
struct Played {
    script: Script,
    /// (F, V, 3).
    positions: Vec<f32>,
    ms_per_frame: f64,
    frame_ms: Vec<f64>,
    /// A GPU against the CPU path, with the GPU's description: on all frames where it played them, otherwise on a few; none without an adapter.
    across: Option<(String, Comparison)>,
}

impl Played {
    fn new(
        devices: &Devices,
        times: &[f64],
        write: impl Fn(&[f64]) -> Result<Script, Failure>,
        evaluate: impl Fn(&Device, &Inputs) -> Result<PosedFrames, Failure>,
    ) -> Result<Played, Failure> {
        let device = &devices.chosen;
        let script = write(times)?;
        let played = evaluate(device, &script.inputs())?;
        let against_cpu = |gpu: &Device, script: &Script, positions: &[f32]| {
            let cpu = widen(&evaluate(&Device::Cpu, &script.inputs())?.positions);
            script.compare((&Device::Cpu.source(), &cpu), (&gpu.source(), &widen(positions)), GPU)
        };
        let across = match &devices.spare {
            None if matches!(device, Device::Cpu) => None,
            None => Some((device.describe(), against_cpu(device, &script, &played.positions)?)),
            Some(gpu) => {
                let step = times.len().div_ceil(SOFTWARE_FRAMES);
                let some: Vec<f64> = times.iter().skip(step / 2).step_by(step).copied().collect();
                let script = write(&some)?;
                let computed = evaluate(gpu, &script.inputs())?;
                Some((gpu.describe(), against_cpu(gpu, &script, &computed.positions)?))
            }
        };
        let ms_per_frame = played.time.as_secs_f64() * 1e3 / times.len() as f64;
        Ok(Played { script, positions: played.positions, ms_per_frame, frame_ms: played.frame_ms, across })
    }

    fn vertex_count(&self) -> usize {
        self.positions.len() / 3 / self.script.frame_count
    }

    /// (V, 3) One frame.
    fn frame(&self, frame: usize) -> &[f32] {
        let floats = self.vertex_count() * 3;
        &self.positions[frame * floats..][..floats]
    }

    /// Frames of the performance, evenly spread, as a PNG.
    fn sheet(&self, gpu: &Headless, rig: &PosedRig, grid: [u32; 2], view: View) -> Result<Vec<u8>, Failure> {
        let inputs = Inputs { normals: true, ..self.script.inputs() };
        let (all, cells) = (self.script.frame_count, (grid[0] * grid[1]) as usize);
        let count = all.min(cells);
        let frames: Vec<usize> = (0..count).map(|i| i * (all - 1) / (count - 1).max(1)).collect();
        let mut sitting = Sitting::new(Easel::new(gpu), rig, &inputs)?;
        let size = grid.map(|cells| cells * 320);
        Ok(sitting.draw(&Sheet { frames: &frames, grid, view, size, style: Style::Shaded })?.png())
    }

    fn vertices_per_second(&self) -> f64 {
        self.vertex_count() as f64 / self.ms_per_frame * 1e3
    }

    /// How fast, and how near the devices are.
    fn lines(&self, device: &Device) -> [String; 2] {
        let speed = format!(
            "performance: {} frames on {}, {:.3} ms per frame, {:.1} million vertices per second",
            self.script.frame_count,
            device.describe(),
            self.ms_per_frame,
            self.vertices_per_second() / 1e6
        );
        let across = match &self.across {
            Some((gpu, c)) => format!("{gpu} against the CPU path: {}", summary(c)),
            None => "no GPU adapter here, not even a software one: the GPU path did not run".to_string(),
        };
        [speed, across]
    }

    fn values(&self) -> Map<String, Value> {
        let values = json!({
            "vertices": self.vertex_count(),
            "ms_per_frame": self.ms_per_frame,
            "vertices_per_second": self.vertices_per_second(),
            "gpu_against_cpu": self.across.as_ref().map(|(_, c)| c),
        });
        let Value::Object(values) = values else { unreachable!("an object") };
        values
    }

    fn passes(&self) -> bool {
        self.across.as_ref().is_none_or(|(_, c)| c.pass)
    }
}

fn summary(c: &Comparison) -> String {
    let verdict = if c.pass { "pass" } else { "FAIL" };
    let (max, mean, allowed) = (c.max * 1e6, c.mean * 1e6, c.tolerance.abs * 1e6);
    format!("max {max:.3} um, mean {mean:.4} um over {} frames, {allowed} um allowed: {verdict}", c.frames)
}

fn widen(positions: &[f32]) -> Vec<f64> {
    positions.iter().map(|&x| f64::from(x)).collect()
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
        Output::new(&self.0.join(name), &["npy", "json", "aosrig", "glb", "png", "svg", "html"])?.write(bytes)
    }
}
