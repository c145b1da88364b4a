//! `rigeval check`: a rig against frames that another program computed.

use crate::device::{Device, DeviceChoice};
use crate::eval;
use crate::evaluate::{self, Inputs};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::picture::{self, Easel};
use crate::posed::{OrlSource, PosedRig};
use crate::report::report;
use against::{Against, Chosen, refuse_inputs, wrong};
use rigeval::frames::{self, Comparison, Frames, Side};
use rigeval::gnm::model::{Correctives, GnmModel};
use rigeval::info::{MeshPart, RigMesh, Units};
use rigeval::orl::dna::Target;
use serde::Serialize;
use std::path::{Path, PathBuf};

pub mod against;
mod gltf;
mod rounding;

/// Evaluate a rig on reference frames and compare; exit 1 when an error is beyond its tolerance
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    against: Against,
    /// What evaluates; a model takes the CPU only
    #[arg(long, value_enum, default_value = "auto")]
    device: DeviceChoice,
    /// Also paint the worst frame as an error map, DIR/worst_frame.png; DIR is made where it is absent
    #[arg(long, value_name = "DIR")]
    picture: Option<PathBuf>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// The file in the folder that `--picture` names.
const PICTURE: &str = "worst_frame.png";
const PICTURE_SIZE: [u32; 2] = [1280, 720];

pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let reference = against::read(&args.against)?;
    // Before the work: a missing adapter or folder is said at once.
    let gallery = args.picture.as_deref().map(Gallery::open).transpose()?;
    let computed = match against::choose(&args.against, &reference)? {
        Chosen::Model(model) => of_model(args, &reference, &model)?,
        Chosen::Posed { rig, rounded } => of_posed(args, &reference, rig, rounded.as_deref())?,
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
    let comparison = comparison.map_err(|e| Failure::new(format!("{}: {e}", args.against.frames.display())))?;
    let mut lines = vec![text(&comparison)];
    let mut picture = None;
    if let Some(gallery) = gallery {
        let path = gallery.hang(args, &reference, &computed, comparison.worst.frame)?;
        lines.push(format!("wrote {path}"));
        picture = Some(path);
    }
    report(args.json, &Report { comparison: &comparison, picture }, &lines.join("\n"))?;
    Ok(if comparison.pass { Outcome::Done } else { Outcome::CheckFailed })
}

#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    comparison: &'a Comparison,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
}

/// Where the picture goes, and what paints it.
struct Gallery {
    output: Output,
    device: Device,
}

impl Gallery {
    fn open(folder: &Path) -> Result<Gallery, Failure> {
        let device = Device::for_pictures()?;
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::new(format!("--picture {}: cannot make this folder: {e}", folder.display())))?;
        Ok(Gallery { output: Output::new(&folder.join(PICTURE), &["png"])?, device })
    }

    /// Paints the very positions that were compared.
    fn hang(&self, args: &Args, reference: &Frames, computed: &Computed, frame: usize) -> Result<String, Failure> {
        let Device::Gpu(gpu) = &self.device else { unreachable!("pictures are made on an adapter") };
        let row = reference.vertex_count * 3;
        let all = computed.positions.len() / reference.frame_count;
        let got = &computed.positions[frame * all..][..all];
        let errors = picture::errors(&reference.vertices[frame * row..][..row], got, reference.vertex_ids.as_deref())?;
        let compared = picture::Compared {
            mesh: &computed.mesh,
            positions: &got.iter().map(|&x| x as f32).collect::<Vec<f32>>(),
            errors: &errors,
            units: computed.units,
            title: &format!("frame {frame} against {}", reference.manifest.oracle),
        };
        let in_rig = |Failure(m)| Failure::new(format!("{}: {m}", args.against.rig.display()));
        let image = picture::error_map(&Easel::new(gpu), &compared, PICTURE_SIZE).map_err(in_rig)?;
        self.output.write(&image.png())?;
        Ok(self.output.path().display().to_string())
    }
}

/// What this program makes of the frames' inputs.
struct Computed {
    /// Which code path computed it.
    source: String,
    /// (F, V, 3).
    positions: Vec<f64>,
    /// (F, V, 3) What rounded deltas may add, where the frames were computed without rounding.
    rounding: Option<Vec<f64>>,
    /// What to draw.
    mesh: RigMesh,
    units: Units,
}

/// `rounded`: the targets that the rig's deltas were rounded from, where the frames were computed from those.
fn of_posed(args: &Args, reference: &Frames, rig: PosedRig, rounded: Option<&[Target]>) -> Result<Computed, Failure> {
    let (controls, frame_count) = against::controls(&args.against, reference, &rig)?;
    let overrides = reference.overrides.as_ref();
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
    Ok(Computed { source: device.source(), positions, rounding, mesh: rig.mesh(), units: rig.units() })
}

fn of_model(args: &Args, reference: &Frames, model: &GnmModel) -> Result<Computed, Failure> {
    let manifest = &reference.manifest;
    if manifest.kind != "gnm" || manifest.mesh.is_some() || manifest.lod.is_some() {
        let kind = &manifest.kind;
        return Err(wrong(
            &args.against,
            &format!("frames of kind {kind}"),
            "the rig is a GNM model, with one mesh and level",
        ));
    }
    if args.device == DeviceChoice::Gpu {
        return Err(wrong(&args.against, "--device gpu", "the original formula runs on the CPU only"));
    }
    if manifest.stage != frames::Stage::World || manifest.units != "m" {
        return Err(wrong(&args.against, "another stage or unit", "a model gives world space in metres"));
    }
    const INPUTS: [&str; 4] = ["identity", "expression", "rotations", "translation"];
    refuse_inputs(&args.against, reference, &INPUTS)?;
    let named = args.against.frames.join(frames::MANIFEST);
    let given = INPUTS.map(|name| reference.input(name).map(|array| (named.as_path(), array.clone())));
    let mut inputs = eval::model_inputs(model, given)?;
    // Without any input each frame is the model at rest.
    inputs.frame_count = reference.frame_count;
    let evaluated = evaluate::model(model, &inputs, Correctives::On, false)?;
    let part = MeshPart { name: "skin".into(), triangles: 0..model.triangles.len(), look: None };
    let mesh = RigMesh { triangles: model.triangles.clone(), parts: vec![part], uvs: None };
    let source = Device::Cpu.source();
    Ok(Computed { source, positions: evaluated.positions, rounding: None, mesh, units: Units::Metres })
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
