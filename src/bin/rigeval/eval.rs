//! `rigeval eval`: controls in, vertices out.

use crate::device::{Device, DeviceChoice};
use crate::drive::{Driven, Opened};
use crate::evaluate::Inputs;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Output};
use crate::posed::PosedRig;
use crate::report::{grouped, report};
use clap::ValueEnum;
use rigeval::gnm::pose::Stage;
use rigeval::info::RigKind;
use rigeval::npy;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

mod model;

pub use model::model_inputs;

/// Evaluate frames of a rig and write the vertices, (F, V, 3) f32
///
/// The time per frame holds evaluation alone: on a GPU submit and wait, but neither loading nor reading back.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    driven: Driven,
    /// GNM pack: stop before the seam and the skinning (forward), or go all the way (pose)
    #[arg(long, value_enum)]
    stage: Option<StageChoice>,
    /// Model: identity coefficients, .npy of (F, 253); what is left out is zero, one row serves all frames
    #[arg(long, value_name = "X.npy")]
    identity: Option<PathBuf>,
    /// Model: expression coefficients, .npy of (F, 383)
    #[arg(long, value_name = "X.npy")]
    expression: Option<PathBuf>,
    /// Model: axis-angle rotations of the joints in radians, .npy of (F, 4, 3)
    #[arg(long, value_name = "X.npy")]
    rotations: Option<PathBuf>,
    /// Model: translation in metres, .npy of (F, 3)
    #[arg(long, value_name = "X.npy")]
    translation: Option<PathBuf>,
    /// Model: leave the pose correctives out, as a baked pack does
    #[arg(long)]
    no_correctives: bool,
    /// Model: also write the joint worlds, (F, J, 4, 4) row-major
    #[arg(long, value_name = "J.npy")]
    joints: Option<PathBuf>,
    /// Also write unit vertex normals, (F, V, 3); of a glTF file its own, posed, where it has any
    #[arg(long, value_name = "N.npy")]
    normals: Option<PathBuf>,
    /// What evaluates; a model takes the CPU only
    #[arg(long, value_enum, default_value = "auto")]
    device: DeviceChoice,
    /// Where the vertices go
    #[arg(short, long, value_name = "V.npy")]
    output: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StageChoice {
    Forward,
    Pose,
}

#[derive(Serialize)]
struct Report {
    device: &'static str,
    adapter: Option<String>,
    frames: usize,
    vertices: usize,
    ms_per_frame: f64,
}

pub fn run(args: &Args) -> Result<Outcome, Failure> {
    args.refuse_equal_files()?;
    let vertices = Output::new(&args.output, &["npy"])?;
    let normals = args.normals.as_deref().map(|path| Output::new(path, &["npy"])).transpose()?;
    let stage = if args.stage == Some(StageChoice::Forward) { Stage::Forward } else { Stage::Pose };
    match args.driven.open(stage, false)? {
        Opened::Model(model) => model::run(args, &model, &vertices, normals.as_ref()),
        Opened::Posed(rig) => eval_posed(args, rig, &vertices, normals.as_ref()),
    }
}

fn eval_posed(args: &Args, rig: PosedRig, vertices: &Output, normals: Option<&Output>) -> Result<Outcome, Failure> {
    let (driven, noun) = (&args.driven, rig.noun());
    let shown = driven.rig.display();
    driven.refuse("a model (.npz)", &format!("a {noun} is driven by --controls"), &args.model_options())?;
    match rig.kind() {
        RigKind::Orl => {
            let forward = [("--stage forward", args.stage == Some(StageChoice::Forward))];
            driven.refuse("a GNM pack", "a MetaHuman rig is evaluated to the end", &forward)?;
        }
        RigKind::Gltf => {
            let stage = [("--stage", args.stage.is_some())];
            driven.refuse("a GNM pack", "a glTF file is evaluated to the end, in world space", &stage)?;
        }
        _ => {}
    }
    if normals.is_some() && !rig.has_normals() {
        return Err(Failure::new(format!("{shown}: without faces there are no normals: leave --normals out")));
    }
    if args.stage == Some(StageChoice::Forward) && driven.overrides.is_some() {
        return Err(Failure::new(format!("{shown}: --stage forward stops before the joints: leave --overrides out")));
    }
    let (controls, frame_count) = driven.frames(&rig)?;
    let overrides = driven.read_overrides(&rig, frame_count)?;
    let device = Device::open(args.device)?;
    let rig = rig.on(&device)?;
    let inputs = Inputs { controls: &controls, frame_count, overrides: overrides.as_ref(), normals: normals.is_some() };
    let frames = rig.evaluate(&device, &inputs)?;
    refuse_overflow(args, &frames.positions)?;
    let shape = [frame_count, rig.vertex_count(), 3];
    vertices.write(&npy::write_f32(&shape, &frames.positions))?;
    if let (Some(output), Some(values)) = (normals, &frames.normals) {
        output.write(&npy::write_f32(&shape, values))?;
    }
    finish(args, &device, frame_count, rig.vertex_count(), frames.time)
}

impl Args {
    fn refuse_equal_files(&self) -> Result<(), Failure> {
        let outputs = [
            ("--output", Some(&*self.output)),
            ("--normals", self.normals.as_deref()),
            ("--joints", self.joints.as_deref()),
        ];
        let own = [
            ("--identity", self.identity.as_deref()),
            ("--expression", self.expression.as_deref()),
            ("--rotations", self.rotations.as_deref()),
            ("--translation", self.translation.as_deref()),
        ];
        let inputs = [self.driven.files(), own].concat();
        output::refuse_equal(&outputs, &inputs)
    }

    fn model_options(&self) -> [(&'static str, bool); 6] {
        [
            ("--identity", self.identity.is_some()),
            ("--expression", self.expression.is_some()),
            ("--rotations", self.rotations.is_some()),
            ("--translation", self.translation.is_some()),
            ("--no-correctives", self.no_correctives),
            ("--joints", self.joints.is_some()),
        ]
    }
}

/// Finite inputs of absurd size leave the range of f32.
fn refuse_overflow(args: &Args, positions: &[f32]) -> Result<(), Failure> {
    match positions.iter().all(|x| x.is_finite()) {
        true => Ok(()),
        false => Err(Failure::new(format!(
            "{}: the inputs move vertices beyond the range of f32",
            args.driven.rig.display()
        ))),
    }
}

fn finish(args: &Args, device: &Device, frames: usize, vertices: usize, time: Duration) -> Result<Outcome, Failure> {
    let ms_per_frame = time.as_secs_f64() * 1e3 / frames.max(1) as f64;
    let outputs = [Some(&args.output), args.joints.as_ref(), args.normals.as_ref()];
    let written: Vec<String> = outputs.iter().flatten().map(|path| path.display().to_string()).collect();
    let text = format!(
        "{frames} frames of {} vertices on {}, {ms_per_frame:.3} ms per frame\nwrote {}",
        grouped(vertices),
        device.describe(),
        written.join(", ")
    );
    let values = Report { device: device.name(), adapter: device.adapter(), frames, vertices, ms_per_frame };
    report(args.json, &values, &text)?;
    Ok(Outcome::Done)
}
