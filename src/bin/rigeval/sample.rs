//! `rigeval sample`: a procedural head as a file.

use crate::bake::{self, BasisChoice};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::progress;
use crate::report::{grouped, report, size};
use crate::rig;
use clap::Subcommand;
use rigeval::gltf::sample as gltf_sample;
use rigeval::gnm::bake::BakeOptions;
use rigeval::gnm::model::GnmModel;
use rigeval::gnm::pack::GnmPack;
use rigeval::gnm::sample::{self, SampleOptions};
use rigeval::head::HeadSize;
use rigeval::npy::Packing;
use rigeval::orl::bake as orl_bake;
use rigeval::orl::dna::Dna;
use rigeval::orl::sample as orl_sample;
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
    Orl(OrlArgs),
    Gltf(GltfArgs),
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

/// A MetaHuman-like head: a DNA (.dna), or the head mesh of its finest level baked (.orlpack), as the ending of FILE says
#[derive(clap::Args)]
struct OrlArgs {
    /// MetaHuman magnitude: 24,049 vertices and 870 joints; without it about 1,600 and 60
    #[arg(long)]
    full: bool,
    /// Where it goes
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// A head as a glTF file (.glb) with the 52 ARKit shapes, joints for neck, head and eyes, and a short clip
#[derive(clap::Args)]
struct GltfArgs {
    /// Full size: 17,821 vertices; without it about 2,000
    #[arg(long)]
    full: bool,
    /// Where it goes
    #[arg(short, long, value_name = "HEAD.glb")]
    output: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.rig {
        Rig::Gnm(args) => run_gnm(args),
        Rig::Orl(args) => run_orl(args),
        Rig::Gltf(args) => run_gltf(args),
    }
}

fn run_gnm(args: &GnmArgs) -> Result<Outcome, Failure> {
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

fn run_orl(args: &OrlArgs) -> Result<Outcome, Failure> {
    let output = Output::new(&args.output, &["dna", "orlpack"])?;
    let dna = orl_sample::sample(if args.full { HeadSize::Full } else { HeadSize::Small });
    let bytes = dna.write(dna.version)?;
    if output.ending() == "dna" {
        write_dna(args, &output, &dna, &bytes)
    } else {
        write_orl_pack(args, &output, &dna, &bytes)
    }
}

fn write_dna(args: &OrlArgs, output: &Output, dna: &Dna, bytes: &[u8]) -> Result<Outcome, Failure> {
    output.write(bytes)?;
    let definition = &dna.definition;
    let (vertices, meshes) = (dna.meshes[0].positions.len(), dna.meshes.len());
    let (gui, raw) = (definition.gui_control_names.len(), definition.raw_control_names.len());
    let (correctives, channels) = (dna.behavior.psd_count, definition.channel_names.len());
    let (joints, lods) = (definition.joint_names.len(), dna.descriptor.lod_count);
    let text = format!(
        "{} vertices in the finest of {meshes} meshes, {joints} joints, {gui} GUI and {raw} raw controls, {correctives} correctives, \
         {channels} channels, {lods} levels\nwrote {} ({})",
        grouped(vertices),
        output.path().display(),
        size(bytes.len())
    );
    let values = json!({
        "output": output.path().display().to_string(),
        "bytes": bytes.len(),
        "vertices": vertices,
        "meshes": meshes,
        "joints": joints,
        "gui_controls": gui,
        "raw_controls": raw,
        "correctives": correctives,
        "channels": channels,
        "lods": lods,
    });
    report(args.json, &values, &text)?;
    Ok(Outcome::Done)
}

fn write_orl_pack(args: &OrlArgs, output: &Output, dna: &Dna, bytes: &[u8]) -> Result<Outcome, Failure> {
    const STEPS: usize = 1000;
    let bar = progress::bar("baking", STEPS);
    let baked = orl_bake::bake(dna, bytes, 0, 0, &mut |share| bar.set_position((share * STEPS as f32) as u64));
    bar.finish_and_clear();
    let (pack, baked) = baked?;
    let packed = pack.write();
    output.write(&packed)?;
    let vertices = dna.meshes[0].positions.len();
    let text = format!(
        "{} vertices, {} targets with {} deltas in int8; quantisation of one delta: max {:.2} um, mean {:.2} um\nwrote {} ({})",
        grouped(vertices),
        baked.target_count,
        grouped(baked.delta_count),
        baked.max_error_um,
        baked.mean_error_um,
        output.path().display(),
        size(packed.len())
    );
    let values = json!({
        "output": output.path().display().to_string(),
        "bytes": packed.len(),
        "vertices": vertices,
        "targets": baked.target_count,
        "deltas": baked.delta_count,
        "dropped_deltas": baked.dropped_count,
        "quantization_max_error_um": baked.max_error_um,
        "quantization_mean_error_um": baked.mean_error_um,
    });
    report(args.json, &values, &text)?;
    Ok(Outcome::Done)
}

fn run_gltf(args: &GltfArgs) -> Result<Outcome, Failure> {
    let output = Output::new(&args.output, &["glb"])?;
    let bytes = gltf_sample::sample(if args.full { HeadSize::Full } else { HeadSize::Small });
    output.write(&bytes)?;
    let model = rig::read_gltf(output.path(), &bytes)?;
    let (mesh, clip) = (model.mesh(), &model.clips()[0]);
    let (vertices, parts, targets) = (mesh.vertex_count(), mesh.parts().len(), model.controls().morph_count());
    let deltas: usize = mesh.position_targets().iter().map(|target| target.vertices.len()).sum();
    let (joints, name) = (model.skins()[0].joints.len(), clip.name().unwrap_or_default());
    let text = format!(
        "{} vertices in {parts} parts, {joints} joints, the 52 ARKit shapes in {targets} targets with {} deltas, clip {name:?} of {} s\n\
         wrote {} ({})",
        grouped(vertices),
        grouped(deltas),
        clip.end(),
        output.path().display(),
        size(bytes.len())
    );
    let values = json!({
        "output": output.path().display().to_string(),
        "bytes": bytes.len(),
        "vertices": vertices,
        "parts": parts,
        "joints": joints,
        "targets": targets,
        "deltas": deltas,
        "clip": name,
        "clip_s": clip.end(),
    });
    report(args.json, &values, &text)?;
    Ok(Outcome::Done)
}
