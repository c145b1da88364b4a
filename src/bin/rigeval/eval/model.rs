//! The original formula: identity, expression, rotations and translation in, vertices out.

use super::{Args, finish, refuse_overflow};
use crate::arrays;
use crate::device::{Device, DeviceChoice};
use crate::evaluate::{self, ModelInputs};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use rigeval::gnm::model::{Correctives, GnmModel};
use rigeval::npy;
use std::path::Path;

pub fn run(args: &Args, model: &GnmModel, vertices: &Output, normals: Option<&Output>) -> Result<Outcome, Failure> {
    let driven = &args.driven;
    let pack_options = [
        ("--controls", driven.controls.is_some()),
        ("--overrides", driven.overrides.is_some()),
        ("--stage", args.stage.is_some()),
    ];
    driven.refuse("a glTF file", "a model has no clips and is skinned linearly", &driven.gltf_options())?;
    driven.refuse("a MetaHuman rig", "a model has one mesh and no layers of controls", &driven.orl.given())?;
    driven.refuse(
        "a pack (.aosrig)",
        "a model takes --identity, --expression, --rotations, --translation",
        &pack_options,
    )?;
    if args.device == DeviceChoice::Gpu {
        let shown = driven.rig.display();
        return Err(Failure::new(format!(
            "{shown}: the original formula runs on the CPU only: leave --device gpu out"
        )));
    }
    let joints = args.joints.as_deref().map(|path| Output::new(path, &["npy"])).transpose()?;
    let given = [
        read_named(args.identity.as_deref())?,
        read_named(args.expression.as_deref())?,
        read_named(args.rotations.as_deref())?,
        read_named(args.translation.as_deref())?,
    ];
    let inputs = model_inputs(model, given)?;
    let correctives = if args.no_correctives { Correctives::Off } else { Correctives::On };
    let frames = evaluate::model(model, &inputs, correctives, normals.is_some())?;
    let narrow = |values: &[f64]| values.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let (frame_count, vertex_count) = (inputs.frame_count, model.template.len());
    let positions = narrow(&frames.positions);
    refuse_overflow(args, &positions)?;
    vertices.write(&npy::write_f32(&[frame_count, vertex_count, 3], &positions))?;
    if let Some(output) = &joints {
        output.write(&npy::write_f32(&[frame_count, model.joint_names.len(), 4, 4], &narrow(&frames.joints)))?;
    }
    if let (Some(output), Some(values)) = (normals, &frames.normals) {
        output.write(&npy::write_f32(&[frame_count, vertex_count, 3], values))?;
    }
    finish(args, &Device::Cpu, frame_count, vertex_count, frames.time)
}

fn read_named(path: Option<&Path>) -> Result<Option<(&Path, npy::Array)>, Failure> {
    path.map(|path| arrays::read(path).map(|array| (path, array))).transpose()
}

/// The inputs of the original formula: identity, expression, rotations, translation; what is not given is zero.
pub fn model_inputs(model: &GnmModel, given: [Option<(&Path, npy::Array)>; 4]) -> Result<ModelInputs, Failure> {
    let joints = model.joint_names.len();
    let shapes: [(&str, Vec<usize>); 4] = [
        ("identity", vec![model.identity_names.len()]),
        ("expression", vec![model.expression_names.len()]),
        ("rotations", vec![joints, 3]),
        ("translation", vec![3]),
    ];
    let mut frame_count = 1;
    let mut counted_by = "";
    let mut arrays = Vec::new();
    for ((name, rest), input) in shapes.iter().zip(given) {
        let width: usize = rest.iter().product();
        let Some((path, array)) = input else {
            arrays.push(vec![0.0; width]);
            continue;
        };
        let frames = arrays::frame_count(&array, name, rest).map_err(|e| e.in_file(path.display()))?;
        let values = array.into_f64().map_err(|e| e.in_file(path.display()))?;
        arrays::check_finite(&values, name, width).map_err(|e| e.in_file(path.display()))?;
        // One row serves all frames, whichever input it is.
        if frames != 1 && counted_by.is_empty() {
            (frame_count, counted_by) = (frames, name);
        } else if frames != 1 && frames != frame_count {
            let shown = path.display();
            return Err(Failure::new(format!(
                "{shown}: {name}: expected {frame_count} frames as in {counted_by}, or 1, got {frames}"
            )));
        }
        arrays.push(values);
    }
    let [identity, expression, rotations, translation] = arrays.try_into().expect("four inputs");
    Ok(ModelInputs { frame_count, identity, expression, rotations, translation })
}
