//! `rigeval bake-mesh`: one pose of a glTF file as a file of its own.

use crate::failure::{Failure, Outcome};
use crate::output::{self, Output};
use crate::posed::PosedRig;
use crate::report::{grouped, listed, one_line, report, size};
use crate::rig::{self, Rig};
use crate::{arrays, clip};
use rigeval::gltf::bake_mesh::{PosedVertices, bake_mesh};
use rigeval::gltf::cpu::{gltf_morph, gltf_morph_normals, gltf_morph_tangents};
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::lbs::Skinning;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Write one pose of a glTF file as a static GLB, in world space
///
/// Each part of the mesh becomes a node with its triangles, normals, tangents, texture coordinates and base colour. Textures and vertex colours
/// are not carried, points and lines are left out.
#[derive(clap::Args)]
pub struct Args {
    /// A glTF file (.glb, .gltf, .vrm)
    model: PathBuf,
    /// A clip, by name or else by index; it writes what it moves over --controls, or over the file's own pose
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Option<String>,
    /// When the clip is sampled, in seconds; outside of the keys the first or last one holds
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    time: Option<f64>,
    /// Controls, .npy of (C) or (1, C)
    #[arg(long, value_name = "C.npy")]
    controls: Option<PathBuf>,
    /// Where it goes
    #[arg(short, long, value_name = "OUT.glb")]
    output: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let output = Output::new(&args.output, &["glb"])?;
    let inputs = [("MODEL", Some(args.model.as_path())), ("--controls", args.controls.as_deref())];
    output::refuse_equal(&[("--output", Some(&args.output))], &inputs)?;
    let shown = args.model.display();
    let Rig::Gltf(model) = rig::parse(&args.model, rig::read(&args.model)?)? else {
        return Err(Failure::new(format!("{shown}: expected a glTF file (.glb, .gltf, .vrm), got another rig")));
    };
    let model: Arc<GltfModel> = Arc::from(model);
    let controls = controls(args, &model)?;
    let mut pose = GltfPose::new(&model, OutputSpace::World);
    pose.set_controls(&model, &controls)?;
    let positions = gltf_morph(model.mesh(), &pose);
    let normals = gltf_morph_normals(model.mesh(), &pose);
    let tangents = gltf_morph_tangents(model.mesh(), &pose);
    let posed = PosedVertices { positions: &positions, normals: normals.as_deref(), tangents: tangents.as_deref() };
    let baked = bake_mesh(&model, &pose, posed).map_err(|e| e.in_file(shown))?;
    output.write(&baked.glb)?;

    let mut lines = vec![format!(
        "{} parts, {} vertices, {} triangles; textures and vertex colours are not carried",
        grouped(baked.parts.len()),
        grouped(baked.vertex_count),
        grouped(baked.triangle_count)
    )];
    if baked.made_normals > 0 {
        lines.push(format!("{} zero normals made from the triangles", grouped(baked.made_normals)));
    }
    if !baked.left_out.is_empty() {
        lines.push(one_line(&format!("left out, for want of triangles: {}", listed(&baked.left_out))));
    }
    lines.push(format!("wrote {} ({})", output.path().display(), size(baked.glb.len())));
    let values = json!({
        "output": output.path().display().to_string(),
        "bytes": baked.glb.len(),
        "clip": args.clip,
        "time": args.time,
        "parts": baked.parts,
        "left_out": baked.left_out,
        "vertices": baked.vertex_count,
        "triangles": baked.triangle_count,
        "made_normals": baked.made_normals,
        "textures": false,
    });
    report(args.json, &values, &lines.join("\n"))?;
    Ok(Outcome::Done)
}

/// (C) What --clip, --time and --controls say.
fn controls(args: &Args, model: &Arc<GltfModel>) -> Result<Vec<f32>, Failure> {
    let shown = args.model.display();
    let named = |path: &Path| {
        let path = path.display().to_string();
        move |Failure(m): Failure| Failure::new(format!("{path}: {m}"))
    };
    let given = match &args.controls {
        Some(path) => {
            let rig = PosedRig::Gltf { model: model.clone(), skinning: Skinning::Linear };
            let (rows, frames) = rig.controls(arrays::read(path)?, "controls").map_err(named(path))?;
            if frames != 1 {
                let path = path.display();
                return Err(Failure::new(format!("{path}: controls: expected one frame, got {frames}")));
            }
            Some((rows, frames))
        }
        None => None,
    };
    let sampled = match (&args.clip, args.time) {
        (Some(_), Some(time)) if !time.is_finite() => {
            return Err(Failure::new(format!("--time: expected a finite number of seconds, got {time}")));
        }
        (Some(name), Some(time)) => Some((clip::named(model, name).map_err(named(&args.model))?, [time])),
        (Some(_), None) => return Err(Failure::new(format!("{shown}: give --clip its --time, in seconds"))),
        (None, Some(_)) => return Err(Failure::new(format!("{shown}: give --time its --clip NAME or INDEX"))),
        (None, None) => None,
    };
    let clip = sampled.as_ref().map(|(clip, time)| (*clip, time.as_slice()));
    Ok(clip::controls(model, given, clip)?.0)
}
