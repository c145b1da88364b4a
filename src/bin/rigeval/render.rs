//! `rigeval render`: frames of a rig as a picture.

use crate::check::against::{self, Against, Chosen};
use crate::device::Device;
use crate::drive::{Driven, Opened};
use crate::evaluate::Inputs;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Output};
use crate::picture::{self, Easel, Scale, Sheet, Sitting, Style};
use crate::posed::PosedRig;
use crate::report::{grouped, report, size};
use clap::ValueEnum;
use rigeval::frames::{Frames, Overrides};
use rigeval::gnm::pose::Stage;
use rigeval::picture::View;
use serde_json::json;
use std::path::PathBuf;

/// Draw frames of a rig as a PNG, from the vertices as the GPU posed them
///
/// Needs a GPU adapter, a software one at least. Bounds decide where the camera stands.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    driven: Driven,
    /// Which frame, from 0; a sheet begins with it
    #[arg(long, value_name = "N", default_value_t = 0)]
    frame: usize,
    /// Several frames in a grid, evenly spread from the first to the last
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = grid)]
    sheet: Option<[u32; 2]>,
    /// The side that it is seen from
    #[arg(long, value_enum, default_value = "front")]
    view: ViewChoice,
    /// How it is painted; error: each vertex by its largest coordinate error, GPU against CPU or against --frames
    #[arg(long, value_enum, default_value = "shaded")]
    mode: ModeChoice,
    /// Mode error: a folder with frames.json; its inputs drive the rig where nothing else does
    #[arg(long, value_name = "DIR")]
    frames: Option<PathBuf>,
    /// Of the whole picture, pixels [default: 960x960, of a sheet 320x320 for each frame]
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = pixels)]
    size: Option<[u32; 2]>,
    /// Where the picture goes
    #[arg(short, long, value_name = "OUT.png")]
    output: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ViewChoice {
    Front,
    ThreeQuarter,
    Side,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeChoice {
    Shaded,
    Normals,
    Wire,
    Error,
}

/// A picture has at most this many pixels along an edge.
const MAX_EDGE: u32 = 4096;
const MAX_COLUMNS: u32 = 64;

fn grid(text: &str) -> Result<[u32; 2], String> {
    numbers(text, MAX_COLUMNS, "columns and rows, such as 4x3")
}

fn pixels(text: &str) -> Result<[u32; 2], String> {
    numbers(text, MAX_EDGE, "pixels, such as 1280x960")
}

fn numbers(text: &str, most: u32, what: &str) -> Result<[u32; 2], String> {
    let number = |digits: &str| digits.parse::<u32>().ok().filter(|n| (1..=most).contains(n));
    let both = text.split_once(['x', 'X']).and_then(|(a, b)| Some([number(a)?, number(b)?]));
    both.ok_or_else(|| format!("expected {what}, each from 1 to {most}"))
}

pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let output = Output::new(&args.output, &["png"])?;
    output::refuse_equal(&[("--output", Some(&args.output))], &args.driven.files())?;
    if args.frames.is_some() && args.mode != ModeChoice::Error {
        return Err(Failure::new("--frames belongs to --mode error: the errors against those frames are painted"));
    }
    let posing = Posing::open(args)?;
    let shown = chosen_frames(args, posing.frame_count)?;
    let device = Device::for_pictures()?;
    let rig = posing.rig.on(&device)?;
    let Device::Gpu(gpu) = &device else { unreachable!("pictures are made on an adapter") };
    let overrides = posing.overrides.as_ref();
    let inputs =
        Inputs { controls: &posing.controls, frame_count: posing.frame_count, overrides, normals: rig.has_normals() };
    let in_rig = |Failure(m)| Failure::new(format!("{}: {m}", args.driven.rig.display()));
    let mut sitting = Sitting::new(Easel::new(gpu), &rig, &inputs).map_err(in_rig)?;

    let errors = match args.mode {
        ModeChoice::Error => Some(Errors::measure(args, &posing.reference, &mut sitting, &rig, &inputs, &shown)?),
        _ => None,
    };
    let style = match (args.mode, &errors) {
        (_, Some(e)) => Style::Error { values: &e.values, scale: e.scale, caption: &e.caption },
        (ModeChoice::Normals, _) => Style::Normals,
        (ModeChoice::Wire, _) => Style::Wire,
        _ => Style::Shaded,
    };
    let grid = args.sheet.unwrap_or([1, 1]);
    let default_size = args.sheet.map_or([960, 960], |grid| grid.map(|cells| (cells * 320).min(MAX_EDGE)));
    let view = match args.view {
        ViewChoice::Front => View::Front,
        ViewChoice::ThreeQuarter => View::ThreeQuarter,
        ViewChoice::Side => View::Side,
    };
    let picture_size = args.size.unwrap_or(default_size);
    let image = sitting.draw(&Sheet { frames: &shown, grid, view, size: picture_size, style }).map_err(in_rig)?;
    let png = image.png();
    output.write(&png)?;
    finish(args, &device, rig.vertex_count(), &shown, picture_size, errors.as_ref(), png.len())
}

/// A rig with all that drives it.
struct Posing {
    rig: PosedRig,
    controls: Vec<f32>,
    frame_count: usize,
    overrides: Option<Overrides>,
    reference: Option<Frames>,
}

impl Posing {
    fn open(args: &Args) -> Result<Posing, Failure> {
        let driven = &args.driven;
        let shown = driven.rig.display();
        let model = || {
            Failure::new(format!(
                "{shown}: a model is not posed on a GPU: bake it first: rigeval bake gnm {shown} -o HEAD.aosrig"
            ))
        };
        let Some(frames) = &args.frames else {
            let Opened::Posed(rig) = driven.open(Stage::Pose, true)? else { return Err(model()) };
            let (controls, frame_count) = driven.frames(&rig)?;
            let overrides = driven.read_overrides(&rig, frame_count)?;
            return Ok(Posing { rig, controls, frame_count, overrides, reference: None });
        };
        let against =
            Against { rig: driven.rig.clone(), frames: frames.clone(), mesh: driven.orl.mesh, lod: driven.orl.lod };
        let reference = against::read(&against)?;
        if driven.orl.raw && reference.input("raw").is_none() {
            return Err(Failure::new(format!(
                "{}: --raw, and these frames were not made from raw controls",
                frames.display()
            )));
        }
        let Chosen::Posed { rig, .. } = against::choose(&against, &reference)? else { return Err(model()) };
        let own = against::controls(&against, &reference, &rig)?;
        let is_driven = driven.controls.is_some() || driven.clip.is_some() || driven.times.is_some();
        let (controls, frame_count) = if is_driven { driven.frames(&rig)? } else { own };
        if frame_count != reference.frame_count {
            let (frames, there) = (frames.display(), reference.frame_count);
            return Err(Failure::new(format!("{frames}: {there} frames, and the controls are those of {frame_count}")));
        }
        let overrides = driven.read_overrides(&rig, frame_count)?.or_else(|| reference.overrides.clone());
        Ok(Posing { rig, controls, frame_count, overrides, reference: Some(reference) })
    }
}

/// The frame, or those of the sheet: as many as it has room for, evenly spread, the first and the last among them.
fn chosen_frames(args: &Args, frame_count: usize) -> Result<Vec<usize>, Failure> {
    if args.frame >= frame_count {
        let there = frame_count.checked_sub(1).map_or("none".to_string(), |last| format!("0 to {last}"));
        return Err(Failure::new(format!("--frame {}: the frames are {there}", args.frame)));
    }
    let rest = frame_count - args.frame;
    let [columns, rows] = args.sheet.unwrap_or([1, 1]);
    let count = rest.min((columns * rows) as usize);
    Ok((0..count).map(|i| args.frame + i * (rest - 1) / (count - 1).max(1)).collect())
}

/// How far the shown frames are off.
struct Errors {
    /// (V) for each frame shown: the largest error of a coordinate, in the rig's unit.
    values: Vec<Vec<f32>>,
    scale: Scale,
    caption: String,
    max_um: f64,
    against: String,
}

impl Errors {
    fn measure(
        args: &Args,
        reference: &Option<Frames>,
        sitting: &mut Sitting,
        rig: &PosedRig,
        inputs: &Inputs,
        shown: &[usize],
    ) -> Result<Errors, Failure> {
        let mut values = Vec::new();
        for &frame in shown {
            let got: Vec<f64> = sitting.positions(frame)?.into_iter().map(f64::from).collect();
            let errors = match reference {
                Some(reference) => {
                    let row = reference.vertex_count * 3;
                    let expected = &reference.vertices[frame * row..][..row];
                    let errors = picture::errors(expected, &got, reference.vertex_ids.as_deref());
                    errors.map_err(|Failure(m)| Failure::new(format!("{}: {m}", args.driven.rig.display())))?
                }
                None => {
                    let overrides = inputs.overrides.map(|o| o.at(frame));
                    let single = Inputs {
                        controls: inputs.frame(frame),
                        frame_count: 1,
                        overrides: overrides.as_ref(),
                        normals: false,
                    };
                    let expected = rig.evaluate(&Device::Cpu, &single)?.positions;
                    picture::errors(&expected.into_iter().map(f64::from).collect::<Vec<_>>(), &got, None)?
                }
            };
            values.push(errors);
        }
        let units = rig.units();
        let largest = values.iter().map(|errors| picture::largest(errors)).fold(0.0, f64::max);
        let worst = (0..shown.len()).max_by(|a, b| {
            let of = |i: &usize| picture::largest(&values[*i]);
            of(a).total_cmp(&of(b))
        });
        let worst = worst.unwrap_or(0);
        let against = match reference {
            Some(frames) => frames.manifest.oracle.to_string(),
            None => "CPU".to_string(),
        };
        let title = format!("GPU against {against}, frame {}", shown[worst]);
        Ok(Errors {
            scale: Scale::up_to(largest, units),
            caption: picture::caption(&title, &values[worst], units),
            max_um: largest * units.in_metres() * 1e6,
            values,
            against,
        })
    }
}

fn finish(
    args: &Args,
    device: &Device,
    vertices: usize,
    shown: &[usize],
    picture_size: [u32; 2],
    errors: Option<&Errors>,
    bytes: usize,
) -> Result<Outcome, Failure> {
    let frames = match shown {
        [only] => format!("frame {only}"),
        [first, .., last] => format!("{} frames from {first} to {last}", shown.len()),
        [] => String::new(),
    };
    let mut lines = vec![format!("{frames}, {} vertices, drawn by {}", grouped(vertices), device.describe())];
    if let Some(errors) = errors {
        let (end, unit) = (picture::number(errors.scale.end_um), "um");
        lines.push(format!("{}; the scale ends at {end} {unit}", errors.caption.replace('µ', "u")));
    }
    lines.push(format!("wrote {} ({})", args.output.display(), size(bytes)));
    let values = json!({
        "output": args.output.display().to_string(),
        "bytes": bytes,
        "size": picture_size,
        "frames": shown,
        "vertices": vertices,
        "adapter": device.adapter(),
        "error": errors.map(|e| json!({"against": e.against, "max_um": e.max_um, "scale_um": e.scale.end_um})),
    });
    report(args.json, &values, &lines.join("\n"))?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_numbers_in_range() {
        assert_eq!(pixels("1280x960"), Ok([1280, 960]));
        assert_eq!(grid("4X3"), Ok([4, 3]));
        for wrong in ["", "4", "4x", "x3", "0x3", "4x-1", "4x3x2", "5000x10", "99999999999x1"] {
            assert!(pixels(wrong).is_err(), "{wrong}");
        }
    }
}
