//! `rigeval sample`: a procedural head as a file.

use crate::bake::{self, BasisChoice};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::report::{grouped, report, size};
use clap::Subcommand;
use rigeval::gnm::bake::BakeOptions;
use rigeval::gnm::model::GnmModel;
use rigeval::gnm::pack::GnmPack;
use rigeval::gnm::sample::{self, SampleOptions};
use rigeval::head::HeadSize;
use rigeval::npy::Packing;
use serde_json::{Map, json};
use std::path::PathBuf;

/// Write a procedural head, the same bytes each time
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    rig: Rig,
}

#[derive(Subcommand)]
enum Rig {
    Gnm(GnmArgs),
}

/// A GNM head: a model (.npz, the schema of gnm_head.npz) or a baked pack (.aosrig), as the ending of FILE says
#[derive(clap::Args)]
struct GnmArgs {
    /// Full size: 17,821 vertices; without it about 2,000
    #[arg(long)]
    full: bool,
    /// Smaller: a model without pose correctives, a pack without faces
    #[arg(long)]
    lean: bool,
    /// Pack: how the basis is stored
    #[arg(long, value_enum)]
    basis: Option<BasisChoice>,
    /// Where it goes
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let Rig::Gnm(args) = &args.rig;
    let output = Output::new(&args.output, &["npz", "aosrig"])?;
    let is_model = output.ending() == "npz";
    if is_model && args.basis.is_some() {
        return Err(Failure::new("--basis belongs to a pack (.aosrig); a model (.npz) is f32: leave it out"));
    }
    let size = if args.full { HeadSize::Full } else { HeadSize::Small };
    if is_model { write_model(args, &output, size) } else { write_pack(args, &output, size) }
}

fn write_model(args: &GnmArgs, output: &Output, head: HeadSize) -> Result<Outcome, Failure> {
    let model = sample::sample(head, SampleOptions { correctives: !args.lean });
    // Stored: deflating 160 MB takes longer than everything else together.
    let bytes = model.write(Packing::Stored);
    output.write(&bytes)?;
    let (identity, expression) = (model.identity_count(), model.expression_count());
    let text = format!(
        "{} vertices, {identity} identity and {expression} expression coefficients\nwrote {} ({})",
        grouped(model.vertex_count()),
        output.path().display(),
        size(bytes.len())
    );
    let values = json!({
        "output": output.path().display().to_string(),
        "bytes": bytes.len(),
        "vertices": model.vertex_count(),
        "identity": identity,
        "expression": expression,
    });
    report(args.json, &values, &text)?;
    Ok(Outcome::Done)
}

fn write_pack(args: &GnmArgs, output: &Output, head: HeadSize) -> Result<Outcome, Failure> {
    let format = args.basis.unwrap_or(BasisChoice::F16).format();
    let pack = bake_sample(&model_of(head), BakeOptions { format, lean: args.lean, ..BakeOptions::default() })?;
    bake::finish(&pack, output, args.json)
}

/// The sample as it is baked: a pack has no correctives.
pub fn model_of(head: HeadSize) -> GnmModel {
    sample::sample(head, SampleOptions { correctives: false })
}

/// The sample's pack, with its origin in it.
pub fn bake_sample(model: &GnmModel, options: BakeOptions) -> Result<GnmPack, Failure> {
    let mut source = Map::new();
    source.insert("input".into(), json!("rigeval sample gnm"));
    Ok(bake::bake(model, &[], &BakeOptions { source, ..options })?)
}
