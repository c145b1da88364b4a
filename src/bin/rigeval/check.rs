//! `rigeval check`: a rig against frames that another program computed.

use crate::device::{Device, DeviceChoice};
use crate::eval;
use crate::evaluate::{self, PackInputs};
use crate::failure::{Failure, Outcome};
use crate::report::report;
use crate::rig::{self, Rig};
use rigeval::files::Files;
use rigeval::frames::{self, Comparison, Frames, Side};
use rigeval::gnm::model::{Correctives, GnmModel};
use rigeval::gnm::pack::GnmPack;
use rigeval::gnm::pose::Stage;
use rigeval::info::Units;
use std::path::PathBuf;
use std::sync::Arc;

/// Evaluate a rig on reference frames and compare; exit 1 when an error is beyond its tolerance
#[derive(clap::Args)]
pub struct Args {
    /// A pack (.aosrig) or a GNM model (.npz)
    rig: PathBuf,
    /// A folder with frames.json
    #[arg(long, value_name = "DIR")]
    frames: PathBuf,
    /// What evaluates; a model takes the CPU only
    #[arg(long, value_enum, default_value = "auto")]
    device: DeviceChoice,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Outcome, Failure> {
    if !args.frames.is_dir() {
        return Err(Failure::new(format!("--frames {}: name a folder with frames.json in it", args.frames.display())));
    }
    let named = |error: rigeval::error::LoadError| {
        let file = args.frames.join(&error.file);
        Failure::new(rigeval::error::LoadError { file: file.display().to_string(), ..error })
    };
    let reference = Frames::read(&Files::Folder(args.frames.clone())).map_err(named)?;
    let bytes = rig::read(&args.rig)?;
    // The hash first: frames of another rig would otherwise end in a puzzling error about widths.
    reference.check_rig(&bytes).map_err(named)?;
    let manifest = &reference.manifest;
    if manifest.kind != "gnm" || manifest.mesh.is_some() || manifest.lod.is_some() {
        let (shown, kind) = (args.frames.display(), &manifest.kind);
        return Err(Failure::new(format!("{shown}: frames of a {kind} rig with meshes or LODs are not for a GNM rig")));
    }
    let (source, positions) = match rig::parse(&args.rig, bytes)? {
        Rig::Pack(pack) => of_pack(args, &reference, &Arc::from(pack))?,
        Rig::Model(model) => of_model(args, &reference, &model)?,
    };
    let oracle = manifest.oracle.to_string();
    let (frame_count, tolerance) = (reference.frame_count, manifest.tolerance);
    let vertex_count = positions.len() / 3 / frame_count.max(1);
    let expected =
        Side { source: &oracle, positions: &reference.vertices, frame_count, vertex_count: reference.vertex_count };
    let computed = Side { source: &source, positions: &positions, frame_count, vertex_count };
    let ids = reference.vertex_ids.as_deref();
    let comparison = frames::compare(&expected, &computed, ids, tolerance, &manifest.units)
        .map_err(|e| Failure::new(format!("{}: {e}", args.frames.display())))?;
    report(args.json, &comparison, &text(&comparison))?;
    Ok(if comparison.pass { Outcome::Done } else { Outcome::CheckFailed })
}

fn of_pack(args: &Args, reference: &Frames, pack: &Arc<GnmPack>) -> Result<(String, Vec<f64>), Failure> {
    let stage = match reference.manifest.stage {
        frames::Stage::Forward => Stage::Forward,
        frames::Stage::Pose => Stage::Pose,
        frames::Stage::World => return Err(wrong(args, "stage \"world\"", "a pack has forward and pose")),
    };
    refuse_inputs(args, reference, &["controls"])?;
    let Some(controls) = reference.input("controls") else {
        return Err(wrong(args, "no controls", "a pack needs them among the inputs"));
    };
    let (controls, frame_count) = eval::controls_of(controls.clone(), pack)?;
    if let Some(overrides) = &reference.overrides {
        eval::warn_of_unknown_joints(overrides, pack);
    }
    if pack.units().symbol() != reference.manifest.units {
        return Err(wrong(args, &format!("units {}", reference.manifest.units), "the pack has others"));
    }
    let device = Device::open(args.device)?;
    let overrides = reference.overrides.as_ref();
    let inputs = PackInputs { controls: &controls, frame_count, overrides, stage, normals: false };
    let evaluated = evaluate::pack(&device, pack, &inputs)?;
    Ok((device.source(), evaluated.positions.into_iter().map(f64::from).collect()))
}

fn of_model(args: &Args, reference: &Frames, model: &GnmModel) -> Result<(String, Vec<f64>), Failure> {
    if args.device == DeviceChoice::Gpu {
        return Err(wrong(args, "--device gpu", "the original formula runs on the CPU only"));
    }
    if reference.manifest.stage != frames::Stage::World || reference.manifest.units != "m" {
        return Err(wrong(args, "another stage or unit", "a model gives world space in metres"));
    }
    const INPUTS: [&str; 4] = ["identity", "expression", "rotations", "translation"];
    refuse_inputs(args, reference, &INPUTS)?;
    let manifest = args.frames.join(frames::MANIFEST);
    let given = INPUTS.map(|name| reference.input(name).map(|array| (manifest.as_path(), array.clone())));
    let mut inputs = eval::model_inputs(model, given)?;
    // Without any input each frame is the model at rest.
    inputs.frame_count = reference.frame_count;
    let evaluated = evaluate::model(model, &inputs, Correctives::On, false)?;
    Ok((Device::Cpu.source(), evaluated.positions))
}

/// An input that this rig would ignore makes the frames another rig's.
fn refuse_inputs(args: &Args, reference: &Frames, taken: &[&str]) -> Result<(), Failure> {
    match reference.inputs.iter().find(|(name, _)| !taken.contains(name)) {
        Some((name, _)) => Err(wrong(args, &format!("input {name}"), &format!("this rig takes {}", taken.join(", ")))),
        None => Ok(()),
    }
}

fn wrong(args: &Args, what: &str, why: &str) -> Failure {
    Failure::new(format!("{} against {}: {what}: {why}", args.rig.display(), args.frames.display()))
}

/// What people read: the rig's unit, and micrometres beside it.
pub fn text(c: &Comparison) -> String {
    let units = if c.unit == Units::Centimetres.symbol() { Units::Centimetres } else { Units::Metres };
    let micrometres = |x: f64| match x * units.in_metres() * 1e6 {
        um if um != 0.0 && um < 1e-3 => format!("{um:.1e} um"),
        um => format!("{um:.3} um"),
    };
    let unit = &c.unit;
    let relative = match c.tolerance.rel {
        0.0 => String::new(),
        rel => format!(" + {rel} of the frame's largest coordinate"),
    };
    let verdict = match c.pass {
        true => "pass".to_string(),
        false => format!("FAIL in {} of {} frames", c.failed_frames, c.frames),
    };
    format!(
        "{} frames of {} vertices: {} against {}\n\
         max  {:.3e} {unit} ({}), frame {}, vertex {}\n\
         mean {:.3e} {unit} ({})\n\
         allowed {:e} {unit}{relative}: {verdict}",
        c.frames,
        c.vertices,
        c.computed,
        c.reference,
        c.max,
        micrometres(c.max),
        c.worst.frame,
        c.worst.vertex,
        c.mean,
        micrometres(c.mean),
        c.tolerance.abs,
    )
}
