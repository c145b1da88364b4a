//! `rigeval riglogic`: every intermediate of a DNA's evaluation, at every level of detail.

use crate::arrays;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Output};
use crate::progress;
use crate::report::{grouped, report};
use clap::ValueEnum;
use rigeval::files;
use rigeval::npy;
use rigeval::orl::dna::Dna;
use rigeval::orl::riglogic::{RigLogic, RigState, RotationOutput};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Evaluate the controls of a DNA: raw, psd, ml, rbf, joints, bs and am as .npy, each (LOD, F, ...) f32
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("controls").required(true))]
pub struct Args {
    /// The rig
    #[arg(value_name = "HEAD.dna")]
    rig: PathBuf,
    /// GUI controls in the rig's order, .npy of (F, GUI controls)
    #[arg(long, value_name = "G.npy", group = "controls")]
    gui: Option<PathBuf>,
    /// Raw controls in the rig's order, .npy of (F, raw controls)
    #[arg(long, value_name = "R.npy", group = "controls")]
    raw: Option<PathBuf>,
    /// Masks of the ML regions, mesh by mesh, .npy of (F, masks); without them every region is on
    #[arg(long, value_name = "M.npy")]
    masks: Option<PathBuf>,
    /// How joint rotations come out: 9 values per joint, or 10
    #[arg(long, value_enum, default_value = "euler")]
    rotation: RotationChoice,
    /// The folder of the arrays; made if it is not there
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RotationChoice {
    Euler,
    Quat,
}

#[derive(Serialize)]
struct Report {
    levels: usize,
    frames: usize,
    joints: usize,
    controls: usize,
    us_per_evaluation: f64,
}

const PARTS: [&str; 7] = ["raw", "psd", "ml", "rbf", "joints", "bs", "am"];

pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let rotation = match args.rotation {
        RotationChoice::Euler => RotationOutput::Euler,
        RotationChoice::Quat => RotationOutput::Quaternion,
    };
    let bytes = files::read_file(&args.rig, files::MAX_FILE_BYTES)?;
    let rig = Dna::read(&bytes).and_then(|dna| RigLogic::new(&dna, rotation));
    let rig = rig.map_err(|e| e.in_file(args.rig.display()))?;
    let counts = rig.counts();
    let (frame_count, gui, raw) = match (&args.gui, &args.raw) {
        (Some(path), _) => {
            let (values, frames) = read_rows(path, "GUI controls", counts.gui)?;
            (frames, Some(values), None)
        }
        (None, Some(path)) => {
            let (values, frames) = read_rows(path, "raw controls", counts.raw)?;
            (frames, None, Some(values))
        }
        (None, None) => return Err(Failure::new("give --gui G.npy or --raw R.npy")),
    };
    let masks = args.masks.as_deref().map(|path| read_masks(path, counts.masks, frame_count)).transpose()?;
    let outputs = outputs(args)?;

    let bar = progress::bar("evaluating on the CPU", counts.lods * frame_count);
    let mut state = RigState::new(&rig);
    let mut parts: [Vec<f32>; 7] = Default::default();
    let mut time = Duration::ZERO;
    for lod in 0..counts.lods {
        for frame in 0..frame_count {
            if let Some(masks) = &masks {
                state.masks_mut().copy_from_slice(row(masks, counts.masks, frame));
            }
            let start = Instant::now();
            if let Some(gui) = &gui {
                rig.set_gui(&mut state, row(gui, counts.gui, frame))?;
            }
            if let Some(raw) = &raw {
                rig.set_raw(&mut state, row(raw, counts.raw, frame))?;
            }
            rig.evaluate(&mut state, lod);
            time += start.elapsed();
            bar.inc(1);
            let results: [&[f32]; 7] = [
                state.raw(),
                state.psd(),
                state.ml(),
                state.rbf(),
                state.joints(),
                state.blend_shapes(),
                state.animated_maps(),
            ];
            for (part, result) in parts.iter_mut().zip(results) {
                part.extend_from_slice(result);
            }
        }
    }
    bar.finish_and_clear();
    let widths: [&[usize]; 7] = [
        &[counts.raw],
        &[counts.psd],
        &[counts.ml],
        &[counts.rbf],
        &[counts.joints, rotation.width()],
        &[counts.channels],
        &[counts.animated_maps],
    ];
    for (part, values) in PARTS.iter().zip(&parts) {
        let odd = values.iter().filter(|x| !x.is_finite()).count();
        if odd > 0 {
            log::warn!(
                "{part}: {odd} of {} values are not finite, as the reference has them for such controls",
                values.len()
            );
        }
    }
    for ((output, values), rest) in outputs.into_iter().zip(&parts).zip(widths) {
        let shape = [&[counts.lods, frame_count], rest].concat();
        output.write(&npy::write_f32(&shape, values))?;
    }
    finish(args, &rig, frame_count, time)
}

fn finish(args: &Args, rig: &RigLogic, frames: usize, time: Duration) -> Result<Outcome, Failure> {
    let counts = rig.counts();
    let us_per_evaluation = time.as_secs_f64() * 1e6 / (frames * counts.lods).max(1) as f64;
    let text = format!(
        "{frames} frames at {} levels of detail: {} joints, {} controls, {us_per_evaluation:.1} us per evaluation\nwrote {} to {}",
        counts.lods,
        grouped(counts.joints),
        grouped(counts.controls()),
        PARTS.map(|part| format!("{part}.npy")).join(" "),
        args.output.display()
    );
    let controls = counts.controls();
    let values = Report { levels: counts.lods, frames, joints: counts.joints, controls, us_per_evaluation };
    report(args.json, &values, &text)?;
    Ok(Outcome::Done)
}

fn row(values: &[f32], width: usize, frame: usize) -> &[f32] {
    &values[frame * width..(frame + 1) * width]
}

/// (F, width) finite values, with F.
fn read_rows(path: &Path, what: &str, width: usize) -> Result<(Vec<f32>, usize), Failure> {
    Ok(arrays::rows(arrays::read(path)?, what, width).map_err(|e| e.in_file(path.display()))?)
}

fn read_masks(path: &Path, width: usize, frame_count: usize) -> Result<Vec<f32>, Failure> {
    let (values, frames) = read_rows(path, "masks", width)?;
    if frames == frame_count {
        return Ok(values);
    }
    let shown = path.display();
    Err(Failure::new(format!("{shown}: masks: expected {frame_count} frames as in the controls, got {frames}")))
}

/// All of them are checked before any is written.
fn outputs(args: &Args) -> Result<Vec<Output>, Failure> {
    make_folder(&args.output)?;
    let paths = PARTS.map(|part| args.output.join(format!("{part}.npy")));
    let named: Vec<output::Named> = paths.iter().map(|path| ("an output", Some(path.as_path()))).collect();
    let inputs = [("--gui", args.gui.as_deref()), ("--raw", args.raw.as_deref()), ("--masks", args.masks.as_deref())];
    output::refuse_equal(&named, &inputs)?;
    paths.iter().map(|path| Output::new(path, &["npy"])).collect()
}

fn make_folder(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Ok(());
    }
    fs::create_dir(path).map_err(|e| Failure::new(format!("output {}: cannot make this folder: {e}", path.display())))
}
