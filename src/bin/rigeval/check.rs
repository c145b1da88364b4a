//! `rigeval check`: a rig against frames that another program computed.

use crate::device::{Device, DeviceChoice};
use crate::eval;
use crate::evaluate::{self, Inputs};
use crate::failure::{Failure, Outcome};
use crate::posed::{OrlFile, OrlOptions, PosedRig};
use crate::report::report;
use crate::rig::{self, FileKind, Rig};
use rigeval::error::LoadError;
use rigeval::files::Files;
use rigeval::frames::{self, Comparison, Frames, Side};
use rigeval::gnm::model::{Correctives, GnmModel};
use rigeval::gnm::pack::GnmPack;
use rigeval::gnm::pose::Stage;
use rigeval::info::Units;
use rigeval::orl::pack::OrlPack;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

mod rounding;

/// Evaluate a rig on reference frames and compare; exit 1 when an error is beyond its tolerance
#[derive(clap::Args)]
pub struct Args {
    /// A GNM or ORL pack, a DNA, or a GNM model (.npz)
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
    let reference = Frames::read(&Files::Folder(args.frames.clone())).map_err(|e| in_frames(args, e))?;
    let bytes = rig::read(&args.rig)?;
    let same_rig = reference.check_rig(&bytes);
    let rig = match same_rig.is_ok() || FileKind::of(&bytes) == Ok(FileKind::OrlPack) {
        true => rig::parse(&args.rig, bytes)?,
        // Frames of another rig would otherwise end in a puzzling error about widths.
        false => return Err(in_frames(args, same_rig.expect_err("it is another rig"))),
    };
    let computed = match rig {
        Rig::Pack(pack) => of_gnm_pack(args, &reference, pack)?,
        Rig::Model(model) => of_model(args, &reference, &model)?,
        Rig::Dna(dna) => {
            let options = orl_options(args, &reference)?;
            of_posed(args, &reference, PosedRig::of_dna(&args.rig, dna, &options)?, false)?
        }
        Rig::OrlPack(pack) => of_orl_pack(args, &reference, pack, same_rig)?,
    };
    let manifest = &reference.manifest;
    let oracle = manifest.oracle.to_string();
    let (frame_count, tolerance) = (reference.frame_count, manifest.tolerance);
    let vertex_count = computed.positions.len() / 3 / frame_count.max(1);
    let expected =
        Side { source: &oracle, positions: &reference.vertices, frame_count, vertex_count: reference.vertex_count };
    let own = Side { source: &computed.source, positions: &computed.positions, frame_count, vertex_count };
    let ids = reference.vertex_ids.as_deref();
    let comparison = match &computed.rounding {
        None => frames::compare(&expected, &own, ids, tolerance, &manifest.units),
        Some(rounding) => frames::compare_rounded(&expected, &own, ids, tolerance, rounding, &manifest.units),
    };
    let comparison = comparison.map_err(|e| Failure::new(format!("{}: {e}", args.frames.display())))?;
    report(args.json, &comparison, &text(&comparison))?;
    Ok(if comparison.pass { Outcome::Done } else { Outcome::CheckFailed })
}

/// What this program makes of the frames' inputs.
struct Computed {
    /// Which code path computed it.
    source: String,
    /// (F, V, 3).
    positions: Vec<f64>,
    /// (F, V, 3) What rounded deltas may add, where the frames were computed without rounding.
    rounding: Option<Vec<f64>>,
}

fn of_gnm_pack(args: &Args, reference: &Frames, pack: Box<GnmPack>) -> Result<Computed, Failure> {
    let stage = match reference.manifest.stage {
        frames::Stage::Forward => Stage::Forward,
        frames::Stage::Pose => Stage::Pose,
        frames::Stage::World => return Err(wrong(args, "stage \"world\"", "a pack has forward and pose")),
    };
    if reference.manifest.mesh.is_some() || reference.manifest.lod.is_some() {
        return Err(wrong(args, "a mesh or level of detail", "a GNM pack has one of each"));
    }
    refuse_inputs(args, reference, &["controls"])?;
    of_posed(args, reference, PosedRig::Gnm { pack: Arc::from(pack), stage }, false)
}

fn of_orl_pack(
    args: &Args,
    reference: &Frames,
    pack: Box<OrlPack>,
    same_rig: Result<(), LoadError>,
) -> Result<Computed, Failure> {
    // Frames of the DNA inside are frames of this rig before its deltas were rounded.
    let rounded = match same_rig {
        Ok(()) => false,
        Err(other) => {
            let inside = pack.file().member("head_behavior.dna").unwrap_or_default();
            reference.check_rig(inside).map_err(|_| in_frames(args, other))?;
            true
        }
    };
    let options = orl_options(args, reference)?;
    let (mesh, (_, lod)) = (mesh_of(&pack), pack.origin().map_err(|e| e.in_file(args.rig.display()))?);
    let chosen = [("mesh", options.mesh, mesh), ("lod", options.lod, Some(lod))];
    for (what, wanted, held) in chosen {
        // Frames that do not say mean the first.
        if let Some(held) = held
            && (rounded || wanted.is_some())
            && wanted.unwrap_or(0) != held
        {
            let wanted = wanted.unwrap_or(0);
            return Err(wrong(args, &format!("{what} {wanted}"), &format!("the pack holds {what} {held}")));
        }
    }
    of_posed(args, reference, PosedRig::of_orl_pack(&args.rig, pack, &options)?, rounded)
}

/// The index of a pack's mesh in its DNA, where its baker says it.
fn mesh_of(pack: &OrlPack) -> Option<usize> {
    let manifest: Value = serde_json::from_str(pack.manifest()).ok()?;
    usize::try_from(manifest.get("mesh")?.as_u64()?).ok()
}

/// What the frames choose of a MetaHuman rig.
fn orl_options(args: &Args, reference: &Frames) -> Result<OrlOptions, Failure> {
    let manifest = &reference.manifest;
    if manifest.stage != frames::Stage::Pose {
        return Err(wrong(args, "another stage than \"pose\"", "a MetaHuman rig is evaluated to the end"));
    }
    refuse_inputs(args, reference, &["controls", "raw"])?;
    let raw = reference.input("raw").is_some();
    if raw && reference.input("controls").is_some() {
        return Err(wrong(args, "controls and raw", "one of them drives the rig"));
    }
    Ok(OrlOptions { mesh: manifest.mesh, lod: manifest.lod, raw })
}

/// `rounded`: the rig's deltas are rounded, and the frames were computed from those that are not.
fn of_posed(args: &Args, reference: &Frames, rig: PosedRig, rounded: bool) -> Result<Computed, Failure> {
    let manifest = &reference.manifest;
    if manifest.kind != rig.kind().name() {
        let (kind, own) = (&manifest.kind, rig.kind().name());
        return Err(wrong(args, &format!("frames of kind {kind}"), &format!("the rig is of kind {own}")));
    }
    if manifest.units != rig.units().symbol() {
        return Err(wrong(
            args,
            &format!("units {}", manifest.units),
            &format!("the rig's are {}", rig.units().symbol()),
        ));
    }
    let in_folder = |Failure(m)| Failure::new(format!("{}: {m}", args.frames.display()));
    let given = ["controls", "raw"].into_iter().find_map(|name| Some((name, reference.input(name)?)));
    let Some((name, array)) = given else {
        return Err(wrong(args, "no controls", "the rig needs them among the inputs"));
    };
    let (controls, frame_count) = rig.controls(array.clone(), name).map_err(in_folder)?;
    let overrides = reference.overrides.as_ref();
    if let Some(overrides) = overrides {
        rig.check_overrides(overrides, frame_count).map_err(in_folder)?;
    }
    let device = Device::open(args.device)?;
    let rig = rig.on(&device)?;
    let inputs = Inputs { controls: &controls, frame_count, overrides, normals: false };
    let frames = rig.evaluate(&device, &inputs)?;
    let rounding = match &rig {
        PosedRig::Orl { rig, file: OrlFile::Pack(pack), .. } if rounded => {
            let mesh = mesh_of(pack).zip(pack.dna()).and_then(|(mesh, dna)| dna.meshes.get(mesh));
            Some(rounding::of_frames(rig, mesh.map(|mesh| &*mesh.targets), &inputs)?)
        }
        // A GPU takes packed deltas of a DNA, the CPU those of the file.
        PosedRig::Orl { rig, file: OrlFile::Dna(dna), options } if matches!(device, Device::Gpu(_)) => {
            let targets = &dna.meshes[options.mesh.unwrap_or(0)].targets;
            Some(rounding::of_frames(rig, Some(targets), &inputs)?)
        }
        _ => None,
    };
    let positions = frames.positions.into_iter().map(f64::from).collect();
    Ok(Computed { source: device.source(), positions, rounding })
}

fn of_model(args: &Args, reference: &Frames, model: &GnmModel) -> Result<Computed, Failure> {
    let manifest = &reference.manifest;
    if manifest.kind != "gnm" || manifest.mesh.is_some() || manifest.lod.is_some() {
        let kind = &manifest.kind;
        return Err(wrong(args, &format!("frames of kind {kind}"), "the rig is a GNM model, with one mesh and level"));
    }
    if args.device == DeviceChoice::Gpu {
        return Err(wrong(args, "--device gpu", "the original formula runs on the CPU only"));
    }
    if manifest.stage != frames::Stage::World || manifest.units != "m" {
        return Err(wrong(args, "another stage or unit", "a model gives world space in metres"));
    }
    const INPUTS: [&str; 4] = ["identity", "expression", "rotations", "translation"];
    refuse_inputs(args, reference, &INPUTS)?;
    let named = args.frames.join(frames::MANIFEST);
    let given = INPUTS.map(|name| reference.input(name).map(|array| (named.as_path(), array.clone())));
    let mut inputs = eval::model_inputs(model, given)?;
    // Without any input each frame is the model at rest.
    inputs.frame_count = reference.frame_count;
    let evaluated = evaluate::model(model, &inputs, Correctives::On, false)?;
    Ok(Computed { source: Device::Cpu.source(), positions: evaluated.positions, rounding: None })
}

/// An input that this rig would ignore makes the frames another rig's.
fn refuse_inputs(args: &Args, reference: &Frames, taken: &[&str]) -> Result<(), Failure> {
    match reference.inputs.iter().find(|(name, _)| !taken.contains(name)) {
        Some((name, _)) => Err(wrong(args, &format!("input {name}"), &format!("this rig takes {}", taken.join(", ")))),
        None => Ok(()),
    }
}

/// A fault of the frames folder, with the whole path of the file.
fn in_frames(args: &Args, error: LoadError) -> Failure {
    let file = args.frames.join(&error.file);
    Failure::new(LoadError { file: file.display().to_string(), ..error })
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
    let rounding = match c.rounding {
        Some(r) => format!(" + up to {:.3e} {unit} for rounded deltas (at most {:.1} % used)", r.max, r.used * 100.0),
        None => String::new(),
    };
    let verdict = match c.pass {
        true => "pass".to_string(),
        false => format!("FAIL in {} of {} frames", c.failed_frames, c.frames),
    };
    format!(
        "{} frames of {} vertices: {} against {}\n\
         max  {:.3e} {unit} ({}), frame {}, vertex {}\n\
         mean {:.3e} {unit} ({})\n\
         allowed {:e} {unit}{relative}{rounding}: {verdict}",
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
