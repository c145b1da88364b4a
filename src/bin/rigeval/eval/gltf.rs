//! A glTF file: a clip, controls, or its own pose in; world-space vertices out.

use super::{Args, SkinningChoice, refuse};
use crate::failure::Failure;
use crate::posed::PosedRig;
use crate::{arrays, clip};
use rigeval::gltf::model::GltfModel;
use rigeval::lbs::Skinning;
use std::path::Path;

/// Refuses what belongs to other rigs.
pub fn refuse_options(args: &Args) -> Result<(), Failure> {
    refuse(args, "a MetaHuman rig", "a glTF file is evaluated whole", &args.orl.given())?;
    let stage = [("--stage", args.stage.is_some())];
    refuse(args, "a GNM pack", "a glTF file is evaluated to the end, in world space", &stage)
}

/// What --skinning says.
pub fn skinning(args: &Args) -> Skinning {
    match args.skinning {
        None | Some(SkinningChoice::Linear) => Skinning::Linear,
        Some(SkinningChoice::DualQuaternion) => Skinning::DualQuaternion,
    }
}

/// (F, C) What --clip, --times and --controls say, with F.
pub fn controls(args: &Args, rig: &PosedRig, model: &GltfModel) -> Result<(Vec<f32>, usize), Failure> {
    let shown = args.rig.display();
    let named = |path: &Path| {
        let path = path.display().to_string();
        move |Failure(m): Failure| Failure::new(format!("{path}: {m}"))
    };
    let given = match &args.controls {
        Some(path) => Some(rig.controls(arrays::read(path)?, "controls").map_err(named(path))?),
        None => None,
    };
    match (&args.clip, &args.times) {
        (Some(name), Some(path)) => {
            let clip = clip::named(model, name).map_err(named(&args.rig))?;
            let times = clip::times(arrays::read(path)?).map_err(|e| e.in_file(path.display()))?;
            let counted = args.controls.as_deref().unwrap_or(path);
            clip::controls(model, given, Some((clip, &times))).map_err(named(counted))
        }
        (Some(_), None) => Err(Failure::new(format!("{shown}: give --clip its --times T.npy, in seconds"))),
        (None, Some(_)) => Err(Failure::new(format!("{shown}: give --times its --clip NAME or INDEX"))),
        (None, None) => clip::controls(model, given, None),
    }
}
