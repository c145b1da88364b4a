//! `rigeval eval`: controls in, vertices out.

use crate::arrays;
use crate::device::{Device, DeviceChoice};
use crate::evaluate::Inputs;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Output};
use crate::posed::{OrlOptions, PosedRig};
use crate::report::{grouped, report};
use crate::rig::{self, Bundle, Rig};
use clap::ValueEnum;
use rigeval::files;
use rigeval::frames::Overrides;
use rigeval::gnm::pose::Stage;
use rigeval::info::RigKind;
use rigeval::npy;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

mod gltf;
mod model;

pub use model::model_inputs;

/// Evaluate frames of a rig and write the vertices, (F, V, 3) f32
///
/// The time per frame holds evaluation alone: on a GPU submit and wait, but neither loading nor reading back.
#[derive(clap::Args)]
pub struct Args {
    /// A GNM or ORL pack, a DNA, a glTF file (.glb, .gltf, .vrm), a bundle folder, or a GNM model (.npz) for the original formula
    rig: PathBuf,
    /// Pack, DNA or glTF: controls, .npy of (F, C); of a MetaHuman rig its GUI controls in the file's order
    #[arg(long, value_name = "C.npy")]
    controls: Option<PathBuf>,
    #[command(flatten)]
    orl: OrlOptions,
    /// glTF: a clip, by name or else by index; it writes what it moves over --controls, or over the file's own pose
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Option<String>,
    /// glTF: when the clip is sampled, in seconds, .npy of (F); outside of the keys the first or last one holds
    #[arg(long, value_name = "T.npy")]
    times: Option<PathBuf>,
    /// Pack, DNA or glTF: joint overrides, JSON: joint -> [w, x, y, z] for every frame, or a list with one for each
    #[arg(long, value_name = "O.json")]
    overrides: Option<PathBuf>,
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
    if Bundle::is(&args.rig) {
        refuse(args, "a DNA or a pack", "a bundle's scene names pack and controls", &args.orl.given())?;
        let rig = PosedRig::of_bundle(Bundle::read(&args.rig)?, stage);
        if let PosedRig::Gltf { .. } = rig {
            gltf::refuse_options(args)?;
        }
        return eval_posed(args, rig, &vertices, normals.as_ref());
    }
    let rig = match rig::parse(&args.rig, rig::read(&args.rig)?)? {
        Rig::Model(model) => return model::run(args, &model, &vertices, normals.as_ref()),
        Rig::Pack(pack) => {
            refuse(args, "a MetaHuman rig", "a GNM pack has one mesh and one layer of controls", &args.orl.given())?;
            PosedRig::of_gnm_pack(pack, stage)
        }
        Rig::Dna(dna) => PosedRig::of_dna(&args.rig, dna, &args.orl)?,
        Rig::OrlPack(pack) => {
            refuse(args, "a DNA", "a pack holds one mesh for one level of detail", &args.orl.given()[..2])?;
            PosedRig::of_orl_pack(&args.rig, &pack, &args.orl)?
        }
        Rig::Gltf(model) => {
            gltf::refuse_options(args)?;
            PosedRig::Gltf { model: Arc::from(model) }
        }
    };
    eval_posed(args, rig, &vertices, normals.as_ref())
}

fn eval_posed(args: &Args, rig: PosedRig, vertices: &Output, normals: Option<&Output>) -> Result<Outcome, Failure> {
    let (shown, noun) = (args.rig.display(), rig.noun());
    refuse(args, "a model (.npz)", &format!("a {noun} is driven by --controls"), &args.model_options())?;
    if rig.kind() == RigKind::Orl {
        let forward = [("--stage forward", args.stage == Some(StageChoice::Forward))];
        refuse(args, "a GNM pack", "a MetaHuman rig is evaluated to the end", &forward)?;
    }
    if normals.is_some() && !rig.has_normals() {
        return Err(Failure::new(format!("{shown}: without faces there are no normals: leave --normals out")));
    }
    if args.stage == Some(StageChoice::Forward) && args.overrides.is_some() {
        return Err(Failure::new(format!("{shown}: --stage forward stops before the joints: leave --overrides out")));
    }
    let (controls, frame_count) = match &rig {
        PosedRig::Gltf { model } => gltf::controls(args, &rig, model)?,
        _ => controls(args, &rig)?,
    };
    let overrides = args.overrides.as_deref().map(|path| read_overrides(path, &rig, frame_count)).transpose()?;
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

/// (F, C) The controls of a rig that takes nothing else, with F.
fn controls(args: &Args, rig: &PosedRig) -> Result<(Vec<f32>, usize), Failure> {
    let (shown, noun) = (args.rig.display(), rig.noun());
    refuse(args, "a glTF file", &format!("a {noun} has no clips"), &args.clip_options())?;
    let Some(path) = &args.controls else {
        return Err(Failure::new(format!("{shown}: give the {noun} its --controls C.npy")));
    };
    let controls = rig.controls(arrays::read(path)?, "controls");
    controls.map_err(|Failure(m)| Failure::new(format!("{}: {m}", path.display())))
}

fn read_overrides(path: &Path, rig: &PosedRig, frame_count: usize) -> Result<Overrides, Failure> {
    let bytes = files::read_file(path, files::MAX_FILE_BYTES)?;
    let overrides = Overrides::parse(&bytes).and_then(|o| o.check_frames(frame_count).map(|()| o));
    let overrides = overrides.map_err(|e| e.in_file(path.display()))?;
    let checked = rig.check_overrides(&overrides, frame_count);
    checked.map_err(|Failure(m)| Failure::new(format!("{}: {m}", path.display())))?;
    Ok(overrides)
}

impl Args {
    fn refuse_equal_files(&self) -> Result<(), Failure> {
        let outputs = [
            ("--output", Some(&*self.output)),
            ("--normals", self.normals.as_deref()),
            ("--joints", self.joints.as_deref()),
        ];
        let inputs = [
            ("the rig", Some(&*self.rig)),
            ("--controls", self.controls.as_deref()),
            ("--times", self.times.as_deref()),
            ("--overrides", self.overrides.as_deref()),
            ("--identity", self.identity.as_deref()),
            ("--expression", self.expression.as_deref()),
            ("--rotations", self.rotations.as_deref()),
            ("--translation", self.translation.as_deref()),
        ];
        output::refuse_equal(&outputs, &inputs)
    }

    fn clip_options(&self) -> [(&'static str, bool); 2] {
        [("--clip", self.clip.is_some()), ("--times", self.times.is_some())]
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

/// An option that the rig would ignore is a mistake of the caller's.
fn refuse(args: &Args, of: &str, instead: &str, options: &[(&str, bool)]) -> Result<(), Failure> {
    match options.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Failure::new(format!("{}: {name} belongs to {of}; {instead}", args.rig.display()))),
        None => Ok(()),
    }
}

/// Finite inputs of absurd size leave the range of f32.
fn refuse_overflow(args: &Args, positions: &[f32]) -> Result<(), Failure> {
    match positions.iter().all(|x| x.is_finite()) {
        true => Ok(()),
        false => Err(Failure::new(format!("{}: the inputs move vertices beyond the range of f32", args.rig.display()))),
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
