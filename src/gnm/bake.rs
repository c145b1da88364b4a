//! Model -> pack: one identity, its joints reduced to those that move a head, its basis quantised.
//!
//! The law: a baked pack equals the model without correctives, as far as gaze can say what the eye joints do.

mod quantize;
mod rigged;
mod surface;
mod view;
mod weights;

pub use rigged::bake_rigged;

use super::model::{BindPose, GnmModel};
use super::pack::{BasisFormat, GnmPack, PackJoint, PackParts};
use crate::error::{ControlError, LoadError, LoadErrorKind};
use crate::math;
use glam::{DAffine3, DVec3};
use quantize::Quantized;
use serde_json::{Map, Value, json};
use view::View;

const EYES: [&str; 2] = ["left_eye", "right_eye"];
/// A pack stores joint indices in 16 bits.
const MAX_JOINTS: usize = 1 << 16;

/// What a pack is to hold.
#[derive(Debug, Clone, PartialEq)]
pub struct BakeOptions {
    /// How basis entries are stored.
    pub format: BasisFormat,
    /// How many expression coefficients to keep, the first ones of each region; 64 is the reduced view. All of them by default.
    pub keep: Option<usize>,
    /// Leaves out faces, quads and the triangles of the mouth.
    pub lean: bool,
    /// What only the caller knows of the origin: file names, hashes. It goes into the pack's `source` beside what is measured here.
    pub source: Map<String, Value>,
}

impl Default for BakeOptions {
    fn default() -> BakeOptions {
        BakeOptions { format: BasisFormat::F16, keep: None, lean: false, source: Map::new() }
    }
}

/// Bakes one identity of the model, without any other file.
///
/// Joints are those of the model but the eyes (`neck`, `head`), at rest where the identity puts them; what an eye joint holds goes to the
/// eye's parent, and gaze does the rest. That is exact where a vertex that follows an eye follows no joint above the eye's parent. Pose
/// correctives are left out. `progress` is told the done share, up to 1.
///
/// # Shapes
/// identity: (I), in sigma, or empty for the mean head
///
/// # Accuracy
/// Against the model without correctives, fp16 basis: 5e-6 m before the weights are rounded to halves, 3e-5 m after (head turned by 30 degrees).
///
/// # Errors
/// `Shape` and `Value` for an identity of another length or one that is not finite, `Missing` for a model without eye joints, `Value` for
/// weights that do not sum to 1, `Unsupported` for expression names that are not in runs by region.
pub fn bake(
    model: &GnmModel,
    identity: &[f64],
    options: &BakeOptions,
    progress: &mut dyn FnMut(f32),
) -> Result<GnmPack, LoadError> {
    GnmPack::build(&bake_parts(model, identity, options, progress)?)
}

fn bake_parts(
    model: &GnmModel,
    identity: &[f64],
    options: &BakeOptions,
    progress: &mut dyn FnMut(f32),
) -> Result<PackParts, LoadError> {
    let view = View::new(&view::regions(&model.expression_names)?, options.keep)?;
    let bind = model.bind_pose(identity).map_err(identity_error)?;
    let joints = HeadJoints::new(model)?;
    let skin = weights::round(&joints.rows(model)?);
    let basis = quantize::quantize(&model.expression_basis, model.vertex_count(), &view.ids, options.format, progress);
    if !model.pose_correctives.is_empty() {
        log::warn!("the model has pose correctives; a pack leaves them out");
    }
    let mut source = provenance(options, &view, &basis);
    let used = identity.iter().rposition(|&x| x != 0.0).map_or(0, |last| last + 1);
    source.insert("identity".into(), json!(identity[..used]));
    let eye_weights =
        joints.eyes.map(|eye| model.skinning_weights[eye * model.vertex_count()..][..model.vertex_count()].to_vec());
    let keep_faces = !options.lean;
    Ok(PackParts {
        neutral: bind.vertices.iter().map(|p| p.map(|x| x as f32)).collect(),
        basis_format: options.format,
        basis: basis.bytes,
        basis_scale: basis.scale,
        lanes: skin.lanes,
        skin_joints: skin.joints,
        skin_weights: skin.weights,
        eye_positions: joints.eyes.map(|eye| bind.joints[eye].map(|x| x as f32)),
        eye_weights,
        joints: joints.pack_joints(model, &bind),
        bind_transform: math::row_major_from_affine(&DAffine3::IDENTITY),
        regions: view.regions,
        faces: if keep_faces { model.triangles.clone() } else { Vec::new() },
        quads: keep_faces.then(|| model.quads.clone()),
        uvs: Some(surface::last_corner_uvs(&model.quads, &model.quad_uvs, model.vertex_count())),
        seam: None,
        mouth: keep_faces.then(|| surface::mouth(model)).flatten(),
        source: Value::Object(source),
    })
}

/// The joints of the model that a pack keeps: all but the two eyes.
struct HeadJoints {
    /// Model joints, in order.
    kept: Vec<usize>,
    /// The kept joint that each model joint's weight goes to.
    target: Vec<usize>,
    /// The left and the right eye's model joint.
    eyes: [usize; 2],
}

impl HeadJoints {
    fn new(model: &GnmModel) -> Result<HeadJoints, LoadError> {
        let missing = |name: &str, found: String| {
            LoadError::new(LoadErrorKind::Missing, "joint_names", format!("a joint {name}"), found)
        };
        let find = |name: &str| {
            let joint = model.joint_names.iter().position(|n| n == name);
            joint.ok_or_else(|| missing(name, format!("{:?}", model.joint_names)))
        };
        let eyes = [find(EYES[0])?, find(EYES[1])?];
        if model.joint_count() > MAX_JOINTS {
            let expected = format!("at most {MAX_JOINTS} joints");
            return Err(LoadError::new(LoadErrorKind::Unsupported, "joint_names", expected, model.joint_count()));
        }
        let kept: Vec<usize> = (0..model.joint_count()).filter(|j| !eyes.contains(j)).collect();
        let mut target = Vec::new();
        for joint in 0..model.joint_count() {
            let holder = if eyes.contains(&joint) { model.joint_parents[joint] } else { Some(joint) };
            let at = holder.and_then(|holder| kept.iter().position(|&k| k == holder));
            target.push(
                at.ok_or_else(|| missing("above each eye that is none itself", model.joint_names[joint].clone()))?,
            );
        }
        if let Some(&child) = kept.iter().find(|&&k| model.joint_parents[k].is_some_and(|p| eyes.contains(&p))) {
            let found = format!("{} below one", model.joint_names[child]);
            return Err(LoadError::new(
                LoadErrorKind::Unsupported,
                "joint_parent_indices",
                "no joint below an eye",
                found,
            ));
        }
        Ok(HeadJoints { kept, target, eyes })
    }

    /// The influences of every vertex on the kept joints.
    fn rows(&self, model: &GnmModel) -> Result<Vec<weights::Row>, LoadError> {
        let vertices = model.vertex_count();
        let row = |vertex: usize| {
            let mut row: weights::Row = Vec::new();
            for (joint, &target) in self.target.iter().enumerate() {
                let weight = f64::from(model.skinning_weights[joint * vertices + vertex]);
                match row.iter_mut().find(|(t, _)| usize::from(*t) == target) {
                    Some((_, sum)) => *sum += weight,
                    None => row.push((target as u16, weight)),
                }
            }
            weights::normalize("skinning_weights", vertex, row)
        };
        (0..vertices).map(row).collect()
    }

    fn pack_joints(&self, model: &GnmModel, bind: &BindPose) -> Vec<PackJoint> {
        let joint = |&j: &usize| {
            let world = DAffine3::from_translation(DVec3::from_array(bind.joints[j]));
            PackJoint {
                name: model.joint_names[j].clone(),
                parent: model.joint_parents[j].map(|p| self.target[p]),
                rest_world: math::row_major_from_affine(&world).map(|x| x as f32),
            }
        };
        self.kept.iter().map(joint).collect()
    }
}

/// What the pack says of its origin: the caller's part, what was kept, and the measured error of one basis entry.
fn provenance(options: &BakeOptions, view: &View, basis: &Quantized) -> Map<String, Value> {
    let mut source = options.source.clone();
    let mut add = |key: &str, value: Value| {
        source.insert(key.into(), value);
    };
    add("generator", json!(concat!("rigeval ", env!("CARGO_PKG_VERSION"))));
    add("lean", json!(options.lean));
    if view.ids.len() < view.from {
        let kept: Map<String, Value> = view.regions.iter().map(|r| (r.name.clone(), json!(r.count))).collect();
        add("truncated_to", json!(view.ids.len()));
        add(
            "truncatedExpression",
            json!({"fromCoefficients": view.from, "keptPerRegion": kept, "coefficientIds": view.ids}),
        );
    }
    add("basisMaxAbsErrorM", json!(basis.max_abs_error));
    add("basisMeanAbsErrorM", json!(basis.mean_abs_error));
    add("basisPeakM", json!(basis.peak));
    source
}

fn identity_error(error: ControlError) -> LoadError {
    match error {
        ControlError::Length { what, expected, got } => {
            LoadError::new(LoadErrorKind::Shape, what, format!("{expected} values or none"), got)
        }
        other => LoadError::new(LoadErrorKind::Value, "identity", "finite numbers", other),
    }
}

#[cfg(test)]
mod tests;
