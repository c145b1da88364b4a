//! `rigeval check`: a rig against frames that another program computed.

use crate::device::{Device, DeviceChoice};
use crate::eval;
use crate::evaluate::{self, Inputs};
use crate::failure::{Failure, Outcome};
use crate::posed::{OrlOptions, OrlSource, PosedRig};
use crate::report::report;
use crate::rig::{self, Bundle, Rig};
use rigeval::error::LoadError;
use rigeval::files::Files;
use rigeval::frames::{self, Comparison, Frames, Side};
use rigeval::gnm::model::{Correctives, GnmModel};
use rigeval::gnm::pose::Stage;
use rigeval::info::Units;
use rigeval::orl::dna::Target;
use rigeval::orl::pack::{MEMBERS, OrlPack};
use rigeval::scene::SceneRig;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

mod gltf;
mod rounding;

/// Evaluate a rig on reference frames and compare; exit 1 when an error is beyond its tolerance
#[derive(clap::Args)]
pub struct Args {
    /// A GNM or ORL pack, a DNA, a glTF file, a bundle folder, or a GNM model (.npz)
    rig: PathBuf,
    /// A folder with frames.json
    #[arg(long, value_name = "DIR")]
    frames: PathBuf,
    /// DNA: which mesh, where the frames do not say [default: 0]
    #[arg(long, value_name = "M")]
    mesh: Option<usize>,
    /// DNA: which level of detail, where the frames do not say [default: 0]
    #[arg(long, value_name = "L")]
    lod: Option<usize>,
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
    let computed = match Bundle::is(&args.rig) {
        true => of_bundle(args, &reference)?,
        false => of_file(args, &reference)?,
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

fn of_file(args: &Args, reference: &Frames) -> Result<Computed, Failure> {
    let bytes = rig::read(&args.rig)?;
    let same_rig = reference.check_rig(&bytes).map_err(|e| in_frames(args, e));
    match rig::parse(&args.rig, bytes)? {
        // Frames of another rig would otherwise end in a puzzling error about widths.
        Rig::Model(model) => {
            same_rig?;
            refuse_choice(args)?;
            of_model(args, reference, &model)
        }
        Rig::Pack(pack) => {
            same_rig?;
            refuse_choice(args)?;
            let stage = gnm_stage(args, reference)?;
            of_posed(args, reference, PosedRig::of_gnm_pack(pack, stage), None)
        }
        Rig::Dna(dna) => {
            same_rig?;
            let mut options = orl_options(args, reference)?;
            options.mesh = agreed(args, "mesh", args.mesh, options.mesh)?;
            options.lod = agreed(args, "lod", args.lod, options.lod)?;
            of_posed(args, reference, PosedRig::of_dna(&args.rig, dna, &options)?, None)
        }
        Rig::OrlPack(pack) => {
            refuse_choice(args)?;
            let options = orl_options(args, reference)?;
            let rounded = rounded_from(args, reference, &pack, same_rig)?;
            of_posed(args, reference, PosedRig::of_orl_pack(&args.rig, &pack, &options)?, rounded)
        }
        Rig::Gltf(model) => {
            same_rig?;
            refuse_choice(args)?;
            gltf::check_manifest(args, reference)?;
            of_posed(args, reference, PosedRig::Gltf { model: Arc::from(model) }, None)
        }
    }
}

/// Frames of a bundle are those of its pack, driven by the controls that the scene names.
fn of_bundle(args: &Args, reference: &Frames) -> Result<Computed, Failure> {
    refuse_choice(args)?;
    let bundle = Bundle::read(&args.rig)?;
    let bytes = rig::read(&bundle.pack)?;
    let same_rig = reference.check_rig(&bytes).map_err(|e| in_frames(args, e));
    match bundle.scene.rig {
        SceneRig::Gnm(_) => {
            same_rig?;
            let stage = gnm_stage(args, reference)?;
            return of_posed(args, reference, PosedRig::of_bundle(bundle, stage), None);
        }
        SceneRig::Gltf(_) => {
            same_rig?;
            gltf::check_manifest(args, reference)?;
            return of_posed(args, reference, PosedRig::of_bundle(bundle, Stage::Pose), None);
        }
        SceneRig::Orl(_) => {}
    }
    let pack = OrlPack::read(bytes).map_err(|e| e.in_file(bundle.pack.display()))?;
    if orl_options(args, reference)?.raw {
        return Err(wrong(args, "input raw", "the bundle's scene names its controls"));
    }
    let rounded = rounded_from(args, reference, &pack, same_rig)?;
    of_posed(args, reference, PosedRig::of_bundle(bundle, Stage::Pose), rounded)
}

/// Only a DNA has several meshes and levels to choose from.
fn refuse_choice(args: &Args) -> Result<(), Failure> {
    match [("--mesh", args.mesh), ("--lod", args.lod)].into_iter().find(|(_, given)| given.is_some()) {
        Some((name, _)) => {
            let shown = args.rig.display();
            Err(Failure::new(format!(
                "{shown}: {name} belongs to a DNA; this rig has one mesh and one level of detail"
            )))
        }
        None => Ok(()),
    }
}

/// What the command line chooses where the frames leave it open.
fn agreed(args: &Args, what: &str, given: Option<usize>, stated: Option<usize>) -> Result<Option<usize>, Failure> {
    match (given, stated) {
        (Some(given), Some(stated)) if given != stated => {
            Err(wrong(args, &format!("--{what} {given}"), &format!("the frames are those of {what} {stated}")))
        }
        _ => Ok(given.or(stated)),
    }
}

fn gnm_stage(args: &Args, reference: &Frames) -> Result<Stage, Failure> {
    if reference.manifest.mesh.is_some() || reference.manifest.lod.is_some() {
        return Err(wrong(args, "a mesh or level of detail", "a GNM pack has one of each"));
    }
    refuse_inputs(args, reference, &["controls"])?;
    match reference.manifest.stage {
        frames::Stage::Forward => Ok(Stage::Forward),
        frames::Stage::Pose => Ok(Stage::Pose),
        frames::Stage::World => Err(wrong(args, "stage \"world\"", "a pack has forward and pose")),
    }
}

/// The targets of the DNA inside a pack, if the frames are that DNA's: they were computed before its deltas were rounded.
///
/// An empty list where the pack does not say which of the DNA's meshes it holds. Frames of the pack itself know no rounding.
fn rounded_from<'a>(
    args: &Args,
    reference: &Frames,
    pack: &'a OrlPack,
    same_rig: Result<(), Failure>,
) -> Result<Option<&'a [Target]>, Failure> {
    let inside = pack.file().member(DNA_MEMBER).unwrap_or_default();
    let is_inside = same_rig.is_err() && reference.check_rig(inside).is_ok();
    if !is_inside {
        same_rig?;
    }
    let (_, lod) = pack.origin().map_err(|e| e.in_file(args.rig.display()))?;
    let manifest = &reference.manifest;
    for (what, wanted, held) in [("mesh", manifest.mesh, mesh_of(pack)), ("lod", manifest.lod, Some(lod))] {
        // Frames of a DNA that do not say mean the first.
        let wanted = if is_inside { Some(wanted.unwrap_or(0)) } else { wanted };
        if let (Some(wanted), Some(held)) = (wanted, held)
            && wanted != held
        {
            return Err(wrong(args, &format!("{what} {wanted}"), &format!("the pack holds {what} {held}")));
        }
    }
    let mesh = mesh_of(pack).zip(pack.dna()).and_then(|(mesh, dna)| dna.meshes.get(mesh));
    Ok(is_inside.then(|| mesh.map_or(&[][..], |mesh| &mesh.targets)))
}

/// The member of a pack that is its DNA.
const DNA_MEMBER: &str = MEMBERS[2];

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

/// `rounded`: the targets that the rig's deltas were rounded from, where the frames were computed from those.
fn of_posed(args: &Args, reference: &Frames, rig: PosedRig, rounded: Option<&[Target]>) -> Result<Computed, Failure> {
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
    let controls = match &rig {
        PosedRig::Gltf { model } => gltf::controls(reference, &rig, model),
        _ => {
            let given = ["controls", "raw"].into_iter().find_map(|name| Some((name, reference.input(name)?)));
            let Some((name, array)) = given else {
                return Err(wrong(args, "no controls", "the rig needs them among the inputs"));
            };
            rig.controls(array.clone(), name)
        }
    };
    let (controls, frame_count) = controls.map_err(in_folder)?;
    let overrides = reference.overrides.as_ref();
    if let Some(overrides) = overrides {
        rig.check_overrides(overrides, frame_count).map_err(in_folder)?;
    }
    let device = Device::open(args.device)?;
    let rig = rig.on(&device)?;
    let inputs = Inputs { controls: &controls, frame_count, overrides, normals: false };
    let frames = rig.evaluate(&device, &inputs)?;
    let rounding = match (&rig, rounded) {
        (PosedRig::Orl { rig, .. }, Some(targets)) => Some(rounding::of_frames(rig, targets, &inputs)?),
        // A GPU takes packed deltas of a DNA, the CPU those of the file.
        (PosedRig::Orl { rig, source: OrlSource::Dna(dna, options) }, _) if matches!(device, Device::Gpu(_)) => {
            Some(rounding::of_frames(rig, &dna.meshes[options.mesh.unwrap_or(0)].targets, &inputs)?)
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
