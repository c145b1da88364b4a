//! Frames of a glTF file.

use super::against::{Against, refuse_inputs, wrong};
use crate::clip;
use crate::failure::Failure;
use crate::posed::PosedRig;
use rigeval::frames::{self, Clip, Frames};
use rigeval::gltf::model::GltfModel;

/// The frames must be those of the whole file, in world space.
pub fn check_manifest(args: &Against, reference: &Frames) -> Result<(), Failure> {
    let manifest = &reference.manifest;
    if manifest.mesh.is_some() || manifest.lod.is_some() {
        return Err(wrong(args, "a mesh or level of detail", "a glTF file is evaluated whole"));
    }
    if manifest.stage != frames::Stage::World {
        return Err(wrong(args, "another stage than \"world\"", "a glTF file is evaluated in world space"));
    }
    refuse_inputs(args, reference, &["controls", "times"])
}

/// (F, C) What the frames' clip, times and controls say, with F. Without any of them each frame is the file at rest.
pub fn controls(reference: &Frames, rig: &PosedRig, model: &GltfModel) -> Result<(Vec<f32>, usize), Failure> {
    let given = match reference.input("controls") {
        Some(array) => Some(rig.controls(array.clone(), "controls")?),
        None => None,
    };
    match (&reference.manifest.inputs.clip, reference.input("times")) {
        (Some(clip), Some(times)) => {
            let clip = match clip {
                Clip::Index(index) => clip::numbered(model, *index)?,
                Clip::Name(name) => clip::named(model, name)?,
            };
            clip::controls(model, given, Some((clip, &clip::times(times.clone())?)))
        }
        (Some(_), None) => Err(Failure::new("a clip without times: each frame needs its time in seconds")),
        (None, Some(_)) => Err(Failure::new("times without a clip: name the clip among the inputs")),
        (None, None) if given.is_none() => {
            let rest = model.controls().defaults().repeat(reference.frame_count);
            Ok((rest, reference.frame_count))
        }
        (None, None) => clip::controls(model, given, None),
    }
}
