//! `rigeval bake orl`: one mesh of a DNA into an ORL pack.

use super::with_progress;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Output};
use crate::report::{grouped, one_line, report, size};
use crate::rig::{self, FileKind};
use rigeval::orl::bake::{self, BakeReport};
use rigeval::orl::dna::Dna;
use rigeval::orl::pack::OrlPack;
use serde::Serialize;
use std::path::PathBuf;

/// Bake one mesh of a DNA into an ORL pack: blend shapes in int8, with the DNA inside
#[derive(clap::Args)]
pub struct Args {
    /// The rig
    #[arg(value_name = "HEAD.dna")]
    input: PathBuf,
    /// Which mesh, an index in the file
    #[arg(long, value_name = "M", default_value_t = 0)]
    mesh: usize,
    /// The level of detail that the pack is for
    #[arg(long, value_name = "L", default_value_t = 0)]
    lod: usize,
    /// Where the pack goes; .bin is another usual ending
    #[arg(short, long, value_name = "HEAD.orlpack")]
    output: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    output: String,
    bytes: usize,
    mesh: usize,
    mesh_name: &'a str,
    lod: usize,
    vertices: usize,
    joints: usize,
    targets: usize,
    deltas: usize,
    /// Deltas that round to nothing.
    dropped: usize,
    unit: &'static str,
    max_error_um: f64,
    mean_error_um: f64,
}

pub fn run(args: &Args) -> Result<Outcome, Failure> {
    output::refuse_equal(&[("--output", Some(&*args.output))], &[("the rig", Some(&*args.input))])?;
    let output = Output::new(&args.output, &["orlpack", "bin"])?;
    let bytes = rig::read(&args.input)?;
    let shown = args.input.display();
    match FileKind::of(&bytes).map_err(|e| e.in_file(shown.to_string()))? {
        FileKind::Dna => {}
        FileKind::OrlPack | FileKind::Pack => {
            return Err(Failure::new(format!("{shown}: that is a baked pack already")));
        }
        FileKind::Gltf => {
            return Err(Failure::new(format!(
                "{shown}: that is a glTF file, which is evaluated as it is: rigeval eval {shown}"
            )));
        }
        _ => return Err(Failure::new(format!("{shown}: that is no DNA file: rigeval bake gnm packs GNM heads"))),
    }
    let dna = Dna::read(&bytes).map_err(|e| e.in_file(args.input.display()))?;
    let baked = with_progress(|progress| bake::bake(&dna, &bytes, args.mesh, args.lod, progress));
    let (pack, cost) = baked.map_err(|e| e.in_file(args.input.display()))?;
    let packed = pack.write();
    output.write(&packed)?;
    finish(args, &dna, &pack, &cost, packed.len())
}

fn finish(args: &Args, dna: &Dna, pack: &OrlPack, cost: &BakeReport, bytes: usize) -> Result<Outcome, Failure> {
    let values = Report {
        output: args.output.display().to_string(),
        bytes,
        mesh: args.mesh,
        mesh_name: dna.definition.mesh_names.get(args.mesh).map_or("", String::as_str),
        lod: args.lod,
        vertices: pack.vertex_count(),
        joints: pack.joint_count(),
        targets: cost.target_count,
        deltas: cost.delta_count,
        dropped: cost.dropped_count,
        unit: "cm",
        max_error_um: cost.max_error_um,
        mean_error_um: cost.mean_error_um,
    };
    let text = format!(
        "mesh {} \"{}\" for level {}: {} vertices, {} joints, {} targets\n\
         {} deltas in int8, {} too small to keep; error of one delta at weight 1: max {:.3} um, mean {:.3} um\n\
         wrote {} ({})",
        values.mesh,
        one_line(values.mesh_name),
        values.lod,
        grouped(values.vertices),
        grouped(values.joints),
        grouped(values.targets),
        grouped(values.deltas),
        grouped(values.dropped),
        values.max_error_um,
        values.mean_error_um,
        values.output,
        size(bytes)
    );
    report(args.json, &values, &text)?;
    Ok(Outcome::Done)
}
