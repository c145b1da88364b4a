//! `rigeval eval`: controls in, vertices out.

use crate::arrays;
use crate::device::{Device, DeviceChoice};
use crate::evaluate::{self, ModelInputs, PackInputs};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Output};
use crate::report::{grouped, listed, report};
use crate::rig::{self, Rig};
use clap::ValueEnum;
use rigeval::error::LoadErrorKind;
use rigeval::files;
use rigeval::frames::Overrides;
use rigeval::gnm::model::{Correctives, GnmModel};
use rigeval::gnm::pack::GnmPack;
use rigeval::gnm::pose::Stage;
use rigeval::npy;
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Evaluate frames of a rig and write the vertices, (F, V, 3) f32
///
/// The time per frame holds evaluation alone: on a GPU submit and wait, but neither loading nor reading back.
#[derive(clap::Args)]
pub struct Args {
    /// A pack (.aosrig), or a GNM model (.npz) for the original formula
    rig: PathBuf,
    /// Pack: controls, .npy of (F, C)
    #[arg(long, value_name = "C.npy")]
    controls: Option<PathBuf>,
    /// Pack: joint overrides, JSON: joint -> [w, x, y, z] for every frame, or a list with one for each
    #[arg(long, value_name = "O.json")]
    overrides: Option<PathBuf>,
    /// Pack: stop before the seam and the skinning (forward), or go all the way (pose)
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
    /// Also write unit vertex normals, (F, V, 3)
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
    match rig::parse(&args.rig, rig::read(&args.rig)?)? {
        Rig::Pack(pack) => eval_pack(args, Arc::from(pack), &vertices, normals.as_ref()),
        Rig::Model(model) => eval_model(args, &model, &vertices, normals.as_ref()),
    }
}

fn eval_pack(args: &Args, pack: Arc<GnmPack>, vertices: &Output, normals: Option<&Output>) -> Result<Outcome, Failure> {
    refuse(args, "a model (.npz)", "a pack is driven by --controls", &args.model_options())?;
    let Some(path) = &args.controls else {
        return Err(Failure::new(format!("{}: give the pack its --controls C.npy", args.rig.display())));
    };
    if normals.is_some() && pack.faces().is_empty() {
        let shown = args.rig.display();
        return Err(Failure::new(format!("{shown}: a pack without faces has no normals: leave --normals out")));
    }
    let stage = if args.stage == Some(StageChoice::Forward) { Stage::Forward } else { Stage::Pose };
    if stage == Stage::Forward && args.overrides.is_some() {
        let shown = args.rig.display();
        return Err(Failure::new(format!("{shown}: --stage forward stops before the joints: leave --overrides out")));
    }
    let (controls, frame_count) = read_controls(path, &pack)?;
    let overrides = args.overrides.as_deref().map(|path| read_overrides(path, &pack, frame_count)).transpose()?;
    let device = Device::open(args.device)?;
    let inputs = PackInputs {
        controls: &controls,
        frame_count,
        overrides: overrides.as_ref(),
        stage,
        normals: normals.is_some(),
    };
    let frames = evaluate::pack(&device, &pack, &inputs)?;
    refuse_overflow(args, &frames.positions)?;
    let shape = [frame_count, pack.vertex_count(), 3];
    vertices.write(&npy::write_f32(&shape, &frames.positions))?;
    if let (Some(output), Some(values)) = (normals, &frames.normals) {
        output.write(&npy::write_f32(&shape, values))?;
    }
    finish(args, &device, frame_count, pack.vertex_count(), frames.time)
}

fn eval_model(args: &Args, model: &GnmModel, vertices: &Output, normals: Option<&Output>) -> Result<Outcome, Failure> {
    let pack_options = [
        ("--controls", args.controls.is_some()),
        ("--overrides", args.overrides.is_some()),
        ("--stage", args.stage.is_some()),
    ];
    refuse(
        args,
        "a pack (.aosrig)",
        "a model takes --identity, --expression, --rotations, --translation",
        &pack_options,
    )?;
    if args.device == DeviceChoice::Gpu {
        let shown = args.rig.display();
        return Err(Failure::new(format!(
            "{shown}: the original formula runs on the CPU only: leave --device gpu out"
        )));
    }
    let joints = args.joints.as_deref().map(|path| Output::new(path, &["npy"])).transpose()?;
    let given = [
        read_named(args.identity.as_deref())?,
        read_named(args.expression.as_deref())?,
        read_named(args.rotations.as_deref())?,
        read_named(args.translation.as_deref())?,
    ];
    let inputs = model_inputs(model, given)?;
    let correctives = if args.no_correctives { Correctives::Off } else { Correctives::On };
    let frames = evaluate::model(model, &inputs, correctives, normals.is_some())?;
    let narrow = |values: &[f64]| values.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let (frame_count, vertex_count) = (inputs.frame_count, model.template.len());
    let positions = narrow(&frames.positions);
    refuse_overflow(args, &positions)?;
    vertices.write(&npy::write_f32(&[frame_count, vertex_count, 3], &positions))?;
    if let Some(output) = &joints {
        output.write(&npy::write_f32(&[frame_count, model.joint_names.len(), 4, 4], &narrow(&frames.joints)))?;
    }
    if let (Some(output), Some(values)) = (normals, &frames.normals) {
        output.write(&npy::write_f32(&[frame_count, vertex_count, 3], values))?;
    }
    finish(args, &Device::Cpu, frame_count, vertex_count, frames.time)
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
            ("--overrides", self.overrides.as_deref()),
            ("--identity", self.identity.as_deref()),
            ("--expression", self.expression.as_deref()),
            ("--rotations", self.rotations.as_deref()),
            ("--translation", self.translation.as_deref()),
        ];
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

/// The controls of a pack, (F, C), checked, with F.
pub fn read_controls(path: &Path, pack: &GnmPack) -> Result<(Vec<f32>, usize), Failure> {
    controls_of(arrays::read(path)?, pack).map_err(|Failure(m)| Failure::new(format!("{}: {m}", path.display())))
}

/// The same from an array.
pub fn controls_of(array: npy::Array, pack: &GnmPack) -> Result<(Vec<f32>, usize), Failure> {
    let second = array.shape.get(1).copied();
    // The mistake that looks right: a reduced vector is not the beginning of a full one.
    arrays::rows(array, "controls", pack.coefficient_count() + 4).map_err(|error| match (error.kind, second) {
        (LoadErrorKind::Shape, Some(68)) => {
            Failure::new(format!("{error}; 68 is the width of gnm68: expand it per region, never pad it"))
        }
        _ => Failure::from(error),
    })
}

fn read_overrides(path: &Path, pack: &GnmPack, frame_count: usize) -> Result<Overrides, Failure> {
    let bytes = files::read_file(path, files::MAX_FILE_BYTES)?;
    let overrides = Overrides::parse(&bytes).and_then(|o| o.check_frames(frame_count).map(|()| o));
    let overrides = overrides.map_err(|e| e.in_file(path.display()))?;
    for frame in 0..frame_count {
        let turns = evaluate::joint_overrides(Some(&overrides), frame);
        let resolved = pack.skeleton().resolve_overrides(&turns);
        resolved.map_err(|e| Failure::new(format!("{}: frame {frame}: {e}", path.display())))?;
    }
    warn_of_unknown_joints(&overrides, pack);
    Ok(overrides)
}

/// Names the joints that the pack does not have: they are skipped.
pub fn warn_of_unknown_joints(overrides: &Overrides, pack: &GnmPack) {
    let names = pack.skeleton().names();
    let known: HashSet<&str> = names.iter().map(String::as_str).collect();
    let unknown: Vec<String> = overrides.joints().filter(|j| !known.contains(j)).map(|j| format!("{j:?}")).collect();
    if !unknown.is_empty() {
        let (unknown, names) = (listed(&unknown), listed(names));
        log::warn!("joints that the rig does not have are skipped: {unknown}; it has {names}");
    }
}

fn read_named(path: Option<&Path>) -> Result<Option<(&Path, npy::Array)>, Failure> {
    path.map(|path| arrays::read(path).map(|array| (path, array))).transpose()
}

/// The inputs of the original formula: identity, expression, rotations, translation; what is not given is zero.
pub fn model_inputs(model: &GnmModel, given: [Option<(&Path, npy::Array)>; 4]) -> Result<ModelInputs, Failure> {
    let joints = model.joint_names.len();
    let shapes: [(&str, Vec<usize>); 4] = [
        ("identity", vec![model.identity_names.len()]),
        ("expression", vec![model.expression_names.len()]),
        ("rotations", vec![joints, 3]),
        ("translation", vec![3]),
    ];
    let mut frame_count = 1;
    let mut counted_by = "";
    let mut arrays = Vec::new();
    for ((name, rest), input) in shapes.iter().zip(given) {
        let width: usize = rest.iter().product();
        let Some((path, array)) = input else {
            arrays.push(vec![0.0; width]);
            continue;
        };
        let frames = arrays::frame_count(&array, name, rest).map_err(|e| e.in_file(path.display()))?;
        let values = array.into_f64().map_err(|e| e.in_file(path.display()))?;
        arrays::check_finite(&values, name, width).map_err(|e| e.in_file(path.display()))?;
        // One row serves all frames, whichever input it is.
        if frames != 1 && counted_by.is_empty() {
            (frame_count, counted_by) = (frames, name);
        } else if frames != 1 && frames != frame_count {
            let shown = path.display();
            return Err(Failure::new(format!(
                "{shown}: {name}: expected {frame_count} frames as in {counted_by}, or 1, got {frames}"
            )));
        }
        arrays.push(values);
    }
    let [identity, expression, rotations, translation] = arrays.try_into().expect("four inputs");
    Ok(ModelInputs { frame_count, identity, expression, rotations, translation })
}
