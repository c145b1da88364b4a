//! A rig and the frames that it is held against.

use super::gltf;
use crate::failure::Failure;
use crate::posed::{OrlOptions, PosedRig};
use crate::rig::{self, Bundle, Rig};
use rigeval::error::LoadError;
use rigeval::files::Files;
use rigeval::frames::{self, Frames};
use rigeval::gnm::model::GnmModel;
use rigeval::gnm::pose::Stage;
use rigeval::lbs::Skinning;
use rigeval::orl::dna::Target;
use rigeval::orl::pack::{MEMBERS, OrlPack};
use rigeval::scene::SceneRig;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// Which rig, and which frames.
#[derive(clap::Args)]
pub struct Against {
    /// A GNM or ORL pack, a DNA, a glTF file, a bundle folder, or a GNM model (.npz)
    pub rig: PathBuf,
    /// A folder with frames.json
    #[arg(long, value_name = "DIR")]
    pub frames: PathBuf,
    /// DNA: which mesh, where the frames do not say [default: 0]
    #[arg(long, value_name = "M")]
    pub mesh: Option<usize>,
    /// DNA: which level of detail, where the frames do not say [default: 0]
    #[arg(long, value_name = "L")]
    pub lod: Option<usize>,
}

/// What the frames are of.
pub enum Chosen {
    /// The original formula.
    Model(Box<GnmModel>),
    /// A rig that controls pose, and the targets that its deltas were rounded from where the frames were computed from those.
    Posed { rig: PosedRig, rounded: Option<Vec<Target>> },
}

impl Chosen {
    fn posed(rig: PosedRig) -> Chosen {
        Chosen::Posed { rig, rounded: None }
    }
}

/// Reads the frames.
pub fn read(args: &Against) -> Result<Frames, Failure> {
    if !args.frames.is_dir() {
        return Err(Failure::new(format!("--frames {}: name a folder with frames.json in it", args.frames.display())));
    }
    Frames::read(&Files::Folder(args.frames.clone())).map_err(|e| in_frames(args, e))
}

/// Opens the rig as the frames want it.
pub fn choose(args: &Against, reference: &Frames) -> Result<Chosen, Failure> {
    match Bundle::is(&args.rig) {
        true => of_bundle(args, reference),
        false => of_file(args, reference),
    }
}

fn of_file(args: &Against, reference: &Frames) -> Result<Chosen, Failure> {
    let bytes = rig::read(&args.rig)?;
    let same_rig = reference.check_rig(&bytes).map_err(|e| in_frames(args, e));
    match rig::parse(&args.rig, bytes)? {
        // Frames of another rig would otherwise end in a puzzling error about widths.
        Rig::Model(model) => {
            same_rig?;
            refuse_choice(args)?;
            Ok(Chosen::Model(model))
        }
        Rig::Pack(pack) => {
            same_rig?;
            refuse_choice(args)?;
            let stage = gnm_stage(args, reference)?;
            Ok(Chosen::posed(PosedRig::of_gnm_pack(pack, stage)))
        }
        Rig::Dna(dna) => {
            same_rig?;
            let mut options = orl_options(args, reference)?;
            options.mesh = agreed(args, "mesh", args.mesh, options.mesh)?;
            options.lod = agreed(args, "lod", args.lod, options.lod)?;
            Ok(Chosen::posed(PosedRig::of_dna(&args.rig, dna, &options)?))
        }
        Rig::OrlPack(pack) => {
            refuse_choice(args)?;
            let options = orl_options(args, reference)?;
            let rounded = rounded_from(args, reference, &pack, same_rig)?;
            Ok(Chosen::Posed { rig: PosedRig::of_orl_pack(&args.rig, &pack, &options)?, rounded })
        }
        Rig::Gltf(model) => {
            same_rig?;
            refuse_choice(args)?;
            gltf::check_manifest(args, reference)?;
            Ok(Chosen::posed(PosedRig::Gltf { model: Arc::from(model), skinning: Skinning::Linear }))
        }
    }
}

/// Frames of a bundle are those of its pack, driven by the controls that the scene names.
fn of_bundle(args: &Against, reference: &Frames) -> Result<Chosen, Failure> {
    refuse_choice(args)?;
    let bundle = Bundle::read(&args.rig)?;
    let bytes = rig::read(&bundle.pack)?;
    let same_rig = reference.check_rig(&bytes).map_err(|e| in_frames(args, e));
    match bundle.scene.rig {
        SceneRig::Gnm(_) => {
            same_rig?;
            let stage = gnm_stage(args, reference)?;
            return Ok(Chosen::posed(PosedRig::of_bundle(bundle, stage)));
        }
        SceneRig::Gltf(_) => {
            same_rig?;
            gltf::check_manifest(args, reference)?;
            return Ok(Chosen::posed(PosedRig::of_bundle(bundle, Stage::Pose)));
        }
        SceneRig::Orl(_) => {}
    }
    let pack = OrlPack::read(bytes).map_err(|e| e.in_file(bundle.pack.display()))?;
    if orl_options(args, reference)?.raw {
        return Err(wrong(args, "input raw", "the bundle's scene names its controls"));
    }
    let rounded = rounded_from(args, reference, &pack, same_rig)?;
    Ok(Chosen::Posed { rig: PosedRig::of_bundle(bundle, Stage::Pose), rounded })
}

/// Only a DNA has several meshes and levels to choose from.
fn refuse_choice(args: &Against) -> Result<(), Failure> {
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
fn agreed(args: &Against, what: &str, given: Option<usize>, stated: Option<usize>) -> Result<Option<usize>, Failure> {
    match (given, stated) {
        (Some(given), Some(stated)) if given != stated => {
            Err(wrong(args, &format!("--{what} {given}"), &format!("the frames are those of {what} {stated}")))
        }
        _ => Ok(given.or(stated)),
    }
}

fn gnm_stage(args: &Against, reference: &Frames) -> Result<Stage, Failure> {
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
fn rounded_from(
    args: &Against,
    reference: &Frames,
    pack: &OrlPack,
    same_rig: Result<(), Failure>,
) -> Result<Option<Vec<Target>>, Failure> {
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
    Ok(is_inside.then(|| mesh.map(|mesh| mesh.targets.clone()).unwrap_or_default()))
}

/// The member of a pack that is its DNA.
const DNA_MEMBER: &str = MEMBERS[2];

/// The index of a pack's mesh in its DNA, where its baker says it.
fn mesh_of(pack: &OrlPack) -> Option<usize> {
    let manifest: Value = serde_json::from_str(pack.manifest()).ok()?;
    usize::try_from(manifest.get("mesh")?.as_u64()?).ok()
}

/// What the frames choose of a MetaHuman rig.
fn orl_options(args: &Against, reference: &Frames) -> Result<OrlOptions, Failure> {
    let manifest = &reference.manifest;
    if manifest.stage != frames::Stage::Pose {
        return Err(wrong(args, "another stage than \"pose\"", "a MetaHuman rig is evaluated to the end"));
    }
    refuse_inputs(args, reference, &["controls", "raw"])?;
    let raw = reference.input("raw").is_some();
    if raw && reference.input("controls").is_some() {
        return Err(wrong(args, "controls and raw", "one of them drives the rig"));
    }
    Ok(OrlOptions { mesh: manifest.mesh, lod: manifest.lod, raw, ..OrlOptions::default() })
}

/// (F, C) The controls of the frames' inputs, with F; kind, unit and overrides are checked on the way.
pub fn controls(args: &Against, reference: &Frames, rig: &PosedRig) -> Result<(Vec<f32>, usize), Failure> {
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
    let controls = match rig {
        PosedRig::Gltf { model, .. } => gltf::controls(reference, rig, model),
        _ => {
            let given = ["controls", "raw"].into_iter().find_map(|name| Some((name, reference.input(name)?)));
            let Some((name, array)) = given else {
                return Err(wrong(args, "no controls", "the rig needs them among the inputs"));
            };
            rig.controls(array.clone(), name)
        }
    };
    let (controls, frame_count) = controls.map_err(in_folder)?;
    if let Some(overrides) = &reference.overrides {
        rig.check_overrides(overrides, frame_count).map_err(in_folder)?;
    }
    Ok((controls, frame_count))
}

/// An input that this rig would ignore makes the frames another rig's.
pub fn refuse_inputs(args: &Against, reference: &Frames, taken: &[&str]) -> Result<(), Failure> {
    match reference.inputs.iter().find(|(name, _)| !taken.contains(name)) {
        Some((name, _)) => Err(wrong(args, &format!("input {name}"), &format!("this rig takes {}", taken.join(", ")))),
        None => Ok(()),
    }
}

/// A fault of the frames folder, with the whole path of the file.
fn in_frames(args: &Against, error: LoadError) -> Failure {
    let file = args.frames.join(&error.file);
    Failure::new(LoadError { file: file.display().to_string(), ..error })
}

pub fn wrong(args: &Against, what: &str, why: &str) -> Failure {
    Failure::new(format!("{} against {}: {what}: {why}", args.rig.display(), args.frames.display()))
}
