//! `rigeval info`: what a file is, and what is in it.

use crate::bake;
use crate::failure::{Failure, Outcome};
use crate::report::{grouped, listed, one_line, report, size};
use crate::rig::{self, Bundle, FileKind};
use rigeval::files::Files;
use rigeval::frames::{self, Frames};
use rigeval::gnm::gnmw;
use rigeval::gnm::model::GnmModel;
use rigeval::gnm::pack::GnmPack;
use rigeval::math::Aabb;
use rigeval::npy::Npz;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

mod bundle;
mod dna;
mod face;
mod findings;
mod gltf;
mod orl_pack;

/// Say what a file is: counts, units, controls, joints, sizes; the reader's checks have passed when it does
#[derive(clap::Args)]
pub struct Args {
    /// A pack, a DNA, a glTF file, a model or baked head (.npz), a GNMW container, a bundle folder, or a folder of reference frames
    file: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// Lines for people and values for programs, filled side by side.
struct Facts {
    lines: Vec<String>,
    values: Map<String, Value>,
}

impl Facts {
    fn new(path: &Path, kind: &str, format: &str) -> Facts {
        let mut facts = Facts { lines: vec![one_line(&format!("{}: {format}", path.display()))], values: Map::new() };
        facts.values.insert("kind".into(), json!(kind));
        facts.values.insert("format".into(), json!(format));
        facts
    }

    fn add(&mut self, key: &str, value: Value, text: impl std::fmt::Display) {
        self.lines.push(one_line(&format!("  {:<13} {text}", key.replace('_', " "))));
        self.values.insert(key.into(), value);
    }

    fn count(&mut self, key: &str, count: usize) {
        self.add(key, json!(count), grouped(count));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.add("bytes", json!(bytes.len()), size(bytes.len()));
        let hash = frames::sha256_hex(bytes);
        self.add("sha256", json!(hash), &hash);
    }

    fn checks(&mut self, text: &str) {
        self.add("checks", json!("passed"), text);
    }
}

pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let facts = if Bundle::is(&args.file) {
        bundle::facts(&args.file)?
    } else if args.file.is_dir() {
        of_frames(&args.file)?
    } else {
        let bytes = rig::read(&args.file)?;
        let named = |e: rigeval::error::LoadError| Failure::from(e.in_file(args.file.display()));
        match FileKind::of(&bytes).map_err(named)? {
            FileKind::Pack => of_pack(&args.file, bytes).map_err(named)?,
            FileKind::Model => of_model(&args.file, &bytes).map_err(named)?,
            FileKind::BakedHead => of_baked_head(&args.file, &bytes).map_err(named)?,
            FileKind::Gnmw => of_gnmw(&args.file, &bytes).map_err(named)?,
            FileKind::Dna => dna::facts(&args.file, &bytes).map_err(named)?,
            FileKind::OrlPack => orl_pack::facts(&args.file, bytes).map_err(named)?,
            FileKind::Gltf => gltf::facts(&args.file, &bytes).map_err(named)?,
        }
    };
    report(args.json, &facts.values, &facts.lines.join("\n"))?;
    Ok(Outcome::Done)
}

type Read = Result<Facts, rigeval::error::LoadError>;

fn of_pack(path: &Path, bytes: Vec<u8>) -> Read {
    let mut facts = Facts::new(path, "gnm", "GNM runtime pack (.aosrig version 1)");
    facts.bytes(&bytes);
    let pack = GnmPack::read(bytes)?;
    facts.add("units", json!(pack.units().symbol()), pack.units().symbol());
    facts.count("vertices", pack.vertex_count());
    let regions: Vec<String> = pack.regions().iter().map(|r| format!("{} {}", r.name, r.count)).collect();
    let controls = pack.control_names();
    facts.add("controls", json!(controls.len()), format!("{}: {}, gaze 4", controls.len(), regions.join(", ")));
    let counts: Map<String, Value> = pack.regions().iter().map(|r| (r.name.clone(), json!(r.count))).collect();
    facts.values.insert("regions".into(), Value::Object(counts));
    facts.values.insert("control_names".into(), json!(controls));
    let format = bake::format_name(pack.basis_format());
    facts.add("basis", json!(format), format!("{format}, {}", size(pack.basis_bytes().len())));
    joints(&mut facts, pack.skeleton().names(), pack.skeleton().parents());
    let lanes = (0..pack.vertex_count()).map(|v| pack.influences().row(v).len()).max().unwrap_or(0);
    facts.add("influences", json!(lanes), format!("at most {lanes} per vertex"));
    facts.count("triangles", pack.faces().len());
    let parts: Vec<String> =
        pack.mesh().parts.iter().map(|p| format!("{} {}", p.name, grouped(p.triangles.len()))).collect();
    facts.add("parts", json!(parts), parts.join(", "));
    let has = |there: bool| if there { "yes" } else { "no" };
    facts.add("seam", json!(pack.seam().is_some()), has(pack.seam().is_some()));
    bounds(&mut facts, &pack.rest_bounds(), pack.units().symbol());
    let source = pack.source().map(|source| source.get());
    let value = source.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
    let shown = match value.is_null() {
        true => "not stated".to_string(),
        false => shortened(&value).to_string(),
    };
    facts.add("source", value, &shown);
    facts.checks("all passed: lengths, ranges, parents, weights, finite numbers");
    Ok(facts)
}

fn of_model(path: &Path, bytes: &[u8]) -> Read {
    let mut facts = Facts::new(path, "gnm", "GNM Head model (.npz, version 3.0)");
    facts.bytes(bytes);
    let model = GnmModel::read(bytes)?;
    facts.add("units", json!("m"), "m");
    facts.count("vertices", model.template.len());
    facts.count("identity", model.identity_names.len());
    facts.count("expression", model.expression_names.len());
    joints(&mut facts, &model.joint_names, &model.joint_parents);
    facts.count("triangles", model.triangles.len());
    facts.count("quads", model.quads.len());
    facts.add("components", json!(model.mesh_component_names), model.mesh_component_names.join(", "));
    facts.add("groups", json!(model.vertex_group_names), model.vertex_group_names.join(", "));
    let correctives = model.pose_correctives.iter().any(|&x| x != 0.0);
    facts.add(
        "correctives",
        json!(correctives),
        if correctives { "not zero: a baked pack leaves them out" } else { "all zero" },
    );
    bounds(&mut facts, &Aabb::of_points(model.template.iter().copied()), "m");
    facts.checks("all passed: 23 arrays, shapes, ranges");
    Ok(facts)
}

fn of_baked_head(path: &Path, bytes: &[u8]) -> Read {
    let mut facts = Facts::new(path, "gnm", "baked GNM head (.npz), to be packed with its body rig");
    facts.bytes(bytes);
    let archive = Npz::open(bytes)?;
    let mut arrays = Map::new();
    for name in archive.names() {
        let header = archive.header(name)?;
        facts.lines.push(format!("  {name:<16}{} {:?}", header.descr(), header.shape()));
        arrays.insert(name.to_string(), json!({"dtype": header.descr(), "shape": header.shape()}));
    }
    facts.values.insert("arrays".into(), Value::Object(arrays));
    Ok(facts)
}

fn of_gnmw(path: &Path, bytes: &[u8]) -> Read {
    let mut facts = Facts::new(path, "gnm", "GNMW web container (version 1)");
    facts.bytes(bytes);
    let file = gnmw::read(bytes)?;
    let what = match file.kind() {
        gnmw::GnmwKind::Official => "official: shapes only, no joints and no weights, so it cannot be baked",
        gnmw::GnmwKind::XrBlocks => "xrblocks: with joints and weights, ready to be baked",
    };
    facts.add("dialect", json!(file.kind().name()), what);
    facts.add("units", json!("m"), "m");
    facts.count("vertices", file.vertices.len());
    facts.count("triangles", file.triangles.len());
    facts.count("identity", file.identity.scales.len());
    facts.count("expression", file.expression.scales.len());
    if let Some(rig) = &file.rig {
        facts.count("joints", rig.joints.len());
        let correctives = rig.pose_correctives.is_some();
        facts.add(
            "correctives",
            json!(correctives),
            if correctives { "yes: a baked pack leaves them out" } else { "none" },
        );
    }
    facts.checks("all passed: sections, shapes, ranges");
    Ok(facts)
}

fn of_frames(path: &Path) -> Result<Facts, Failure> {
    if !path.join(frames::MANIFEST).exists() {
        let expected = "a bundle (scene.json) or reference frames (frames.json)";
        return Err(Failure::new(format!("{}: expected {expected}, got a folder with neither", path.display())));
    }
    let frames = Frames::read(&Files::Folder(path.to_path_buf())).map_err(|e| {
        let file = path.join(&e.file).display().to_string();
        rigeval::error::LoadError { file, ..e }
    })?;
    let manifest = &frames.manifest;
    let mut facts = Facts::new(path, &manifest.kind, "reference frames (frames.json version 1)");
    facts.add("rig", json!(manifest.rig), format!("{}, sha256 {}", manifest.rig, manifest.rig_sha256));
    facts.values.insert("rig_sha256".into(), json!(manifest.rig_sha256));
    facts.add("units", json!(manifest.units), &manifest.units);
    let stage = serde_json::to_value(manifest.stage).expect("a plain enum");
    facts.add("stage", stage.clone(), stage.as_str().unwrap_or_default());
    for (key, index) in [("mesh", manifest.mesh), ("lod", manifest.lod)] {
        if let Some(index) = index {
            facts.count(key, index);
        }
    }
    facts.count("frames", frames.frame_count);
    facts.count("vertices", frames.vertex_count);
    let mut inputs: Vec<&str> = frames.inputs.iter().map(|(name, _)| *name).collect();
    inputs.extend(frames.overrides.as_ref().map(|_| "overrides"));
    facts.add("inputs", json!(inputs), inputs.join(", "));
    facts.add("oracle", json!(manifest.oracle), &manifest.oracle);
    let tolerance = manifest.tolerance;
    facts.add(
        "tolerance",
        json!(tolerance),
        format!("{:e} {} + {} relative", tolerance.abs, manifest.units, tolerance.rel),
    );
    Ok(facts)
}

fn joints(facts: &mut Facts, names: &[String], parents: &[Option<usize>]) {
    let joint = |(name, parent): (&String, &Option<usize>)| match parent {
        Some(parent) => format!("{name} (in {})", names[*parent]),
        None => name.clone(),
    };
    let text: Vec<String> = names.iter().zip(parents).map(joint).collect();
    let value: Vec<Value> =
        names.iter().zip(parents).map(|(name, p)| json!({"name": name, "parent": p.map(|p| &names[p])})).collect();
    facts.add("joints", json!(value), counted(&text));
}

/// How many, and which they are; of many the first.
fn counted(names: &[String]) -> String {
    match names {
        [] => "none".to_string(),
        _ => format!("{}: {}", grouped(names.len()), listed(names)),
    }
}

fn bounds(facts: &mut Facts, bounds: &Aabb, unit: &str) {
    let [x, y, z] = [0, 1, 2].map(|i| format!("{:.4} .. {:.4}", bounds.min[i], bounds.max[i]));
    facts.add("rest_bounds", json!({"min": bounds.min, "max": bounds.max}), format!("{x}, {y}, {z} {unit}"));
}

/// For reading by a person: a long list of numbers (an identity has 253) is only counted. JSON reports have it whole.
fn shortened(value: &Value) -> Value {
    const LONG: usize = 8;
    match value {
        Value::Array(list) if list.len() > LONG => Value::String(format!("{} values", list.len())),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), shortened(value))).collect(),
        other => other.clone(),
    }
}
