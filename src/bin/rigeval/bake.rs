//! `rigeval bake`: a model into a runtime pack.

use crate::arrays;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Output};
use crate::progress;
use crate::report::{grouped, report, size};
use crate::rig::{self, FileKind};
use clap::{Subcommand, ValueEnum};
use rigeval::error::{LoadError, LoadErrorKind};
use rigeval::frames::sha256_hex;
use rigeval::gnm::bake::{self as gnm_bake, BakeOptions};
use rigeval::gnm::gnmw;
use rigeval::gnm::model::GnmModel;
use rigeval::gnm::pack::{BasisFormat, GnmPack};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

mod orl;

/// Bake a model into a runtime pack
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    rig: Rig,
}

#[derive(Subcommand)]
enum Rig {
    Gnm(GnmArgs),
    Orl(orl::Args),
}

/// Bake a GNM model, a baked head with its body rig, or a GNMW container into an .aosrig
#[derive(clap::Args)]
struct GnmArgs {
    /// gnm_head.npz, a baked head .npz, or a GNMW container that has joints and weights
    #[arg(value_name = "MODEL.npz|HEAD.npz|GNMW.bin")]
    input: PathBuf,
    /// Identity coefficients, .npy of (253,); without them the mean head
    #[arg(long, value_name = "ID.npy")]
    identity: Option<PathBuf>,
    /// The body rig of a baked head: STEM.aosrig.json and STEM.aosrig.npz
    #[arg(long, value_name = "STEM")]
    body: Option<PathBuf>,
    /// How the basis is stored
    #[arg(long, value_enum, default_value = "f16")]
    basis: BasisChoice,
    /// Keep only so many expression coefficients, the first ones of each region; 64 gives the reduced view
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Leave faces and quads out
    #[arg(long)]
    lean: bool,
    /// Where the pack goes
    #[arg(short, long, value_name = "HEAD.aosrig")]
    output: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// `--basis`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BasisChoice {
    /// Half floats.
    F16,
    /// Bytes: half the size, a worst error 10 to 20 times as large (of the sample head, posed: 59 um instead of 4).
    I8,
}

impl BasisChoice {
    /// As the library says it.
    pub fn format(self) -> BasisFormat {
        match self {
            BasisChoice::F16 => BasisFormat::F16,
            BasisChoice::I8 => BasisFormat::I8,
        }
    }
}

#[derive(Serialize)]
struct Report {
    output: String,
    bytes: usize,
    vertices: usize,
    controls: usize,
    basis: &'static str,
    unit: &'static str,
    /// The quantisation of one basis entry; null in a pack that does not say.
    basis_max_error: Option<f64>,
    basis_mean_error: Option<f64>,
}

pub fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.rig {
        Rig::Gnm(args) => run_gnm(args),
        Rig::Orl(args) => orl::run(args),
    }
}

fn run_gnm(args: &GnmArgs) -> Result<Outcome, Failure> {
    let inputs = [("the model", Some(&*args.input)), ("--identity", args.identity.as_deref())];
    output::refuse_equal(&[("--output", Some(&*args.output))], &inputs)?;
    let output = Output::new(&args.output, &["aosrig"])?;
    let pack = bake_gnm(args)?;
    finish(&pack, &output, args.json)
}

fn bake_gnm(args: &GnmArgs) -> Result<GnmPack, Failure> {
    let bytes = rig::read(&args.input)?;
    let shown = args.input.display().to_string();
    let kind = FileKind::of(&bytes).map_err(|e| e.in_file(&shown))?;
    if args.body.is_some() != (kind == FileKind::BakedHead) {
        return Err(Failure::new(match kind {
            FileKind::BakedHead => format!("{shown}: a baked head needs its body rig: give --body STEM"),
            _ => format!("{shown}: --body belongs to a baked head, leave it out"),
        }));
    }
    if args.identity.is_some() && kind == FileKind::BakedHead {
        return Err(Failure::new(format!("{shown}: a baked head has its identity in it: leave --identity out")));
    }
    let mut source = Map::new();
    source.insert("input".into(), json!(file_name(&args.input)));
    source.insert("input_sha256".into(), json!(sha256_hex(&bytes)));
    let options = BakeOptions { format: args.basis.format(), keep: args.keep, lean: args.lean, source };
    let model = match kind {
        FileKind::Pack | FileKind::OrlPack => {
            return Err(Failure::new(format!("{shown}: that is a baked pack already")));
        }
        FileKind::Dna => {
            return Err(Failure::new(format!("{shown}: that is a DNA file: rigeval bake orl {shown} -o HEAD.orlpack")));
        }
        FileKind::Gltf => {
            return Err(Failure::new(format!(
                "{shown}: that is a glTF file, which is evaluated as it is: rigeval eval {shown}"
            )));
        }
        FileKind::BakedHead => return bake_with_body(&bytes, args, &options),
        FileKind::Model => GnmModel::read(&bytes),
        FileKind::Gnmw => gnmw::read(&bytes).and_then(gnmw::Gnmw::into_model),
    };
    let model = model.map_err(|e| e.in_file(&shown))?;
    let identity = args.identity.as_deref().map(|path| read_identity(path, &model)).transpose()?.unwrap_or_default();
    bake(&model, &identity, &options).map_err(|e| e.in_file(&shown).into())
}

/// Bakes a model behind a progress bar.
pub fn bake(model: &GnmModel, identity: &[f64], options: &BakeOptions) -> Result<GnmPack, LoadError> {
    with_progress(|progress| gnm_bake::bake(model, identity, options, progress))
}

fn bake_with_body(head: &[u8], args: &GnmArgs, options: &BakeOptions) -> Result<GnmPack, Failure> {
    let stem = args.body.as_deref().expect("a baked head has a body by now");
    let beside = |ending: &str| PathBuf::from(format!("{}.aosrig.{ending}", stem.display()));
    let (rig_json, rig_npz) = (rig::read(&beside("json"))?, rig::read(&beside("npz"))?);
    let pack = with_progress(|progress| gnm_bake::bake_rigged(head, &rig_json, &rig_npz, options, progress));
    pack.map_err(|e| e.in_file(format!("{} with body {}", args.input.display(), stem.display())).into())
}

fn with_progress<T>(bake: impl FnOnce(&mut dyn FnMut(f32)) -> T) -> T {
    const STEPS: usize = 1000;
    let bar = progress::bar("baking", STEPS);
    let baked = bake(&mut |share| bar.set_position((share * STEPS as f32) as u64));
    bar.finish_and_clear();
    baked
}

fn read_identity(path: &Path, model: &GnmModel) -> Result<Vec<f64>, Failure> {
    let array = arrays::read(path)?;
    let count = model.identity_count();
    if array.shape != [count] {
        let found = format!("shape {:?}", array.shape);
        let error = LoadError::new(LoadErrorKind::Shape, "identity", format!("shape ({count},)"), found);
        return Err(error.in_file(path.display()).into());
    }
    let values = array.into_f64().map_err(|e| e.in_file(path.display()))?;
    arrays::check_finite(&values, "identity", count).map_err(|e| e.in_file(path.display()))?;
    Ok(values)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Writes a pack and says how large it is and how exact.
pub fn finish(pack: &GnmPack, output: &Output, as_json: bool) -> Result<Outcome, Failure> {
    let bytes = pack.write();
    output.write(&bytes)?;
    let source: Value = pack.source().and_then(|s| serde_json::from_str(s.get()).ok()).unwrap_or_default();
    let values = Report {
        output: output.path().display().to_string(),
        bytes: bytes.len(),
        vertices: pack.vertex_count(),
        controls: pack.coefficient_count() + 4,
        basis: format_name(pack.basis_format()),
        unit: pack.units().symbol(),
        basis_max_error: source["basisMaxAbsErrorM"].as_f64(),
        basis_mean_error: source["basisMeanAbsErrorM"].as_f64(),
    };
    let error = match (values.basis_max_error, values.basis_mean_error) {
        (Some(max), Some(mean)) => format!("max {:.4} um, mean {:.4} um", max * 1e6, mean * 1e6),
        _ => "not stated".to_string(),
    };
    let text = format!(
        "{} vertices, {} controls, {} basis; quantisation of one basis entry: {error}\nwrote {} ({})",
        grouped(values.vertices),
        values.controls,
        values.basis,
        output.path().display(),
        size(bytes.len())
    );
    report(as_json, &values, &text)?;
    Ok(Outcome::Done)
}

/// `f16` or `i8`.
pub fn format_name(format: BasisFormat) -> &'static str {
    match format {
        BasisFormat::F16 => "f16",
        BasisFormat::I8 => "i8",
    }
}
