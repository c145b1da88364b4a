//! What of a file makes a face: morph targets by name, and the joints of the eyes with the directions they turn about.

use super::model::GltfModel;
use super::pose::{GltfPose, OutputSpace};
use crate::skeleton::humanoid::{HumanoidBone, HumanoidMap, humanoid_of};
use crate::skeleton::vrm::VrmVersion;
use glam::{DAffine3, DMat3, DVec3};
use std::collections::BTreeSet;

/// A morph target of a mesh node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaceTarget {
    /// The name of the mesh node among the joints, where no two are alike.
    pub mesh: String,
    /// What the file calls the target; without a usable name its index, as in `#3`.
    pub name: String,
    /// The control of its weight.
    pub control: usize,
}

/// The joint of an eye and what it turns about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EyeJoint {
    /// The joint.
    pub joint: usize,
    /// The first of the four controls of its rotation: x, y, z, w.
    pub rotation: usize,
    /// The direction to the character's left at rest, as the joint's parent sees it, of unit length.
    pub left: [f64; 3],
    /// The direction up, likewise.
    pub up: [f64; 3],
}

/// What of a file expressions can drive.
#[derive(Debug, Clone, PartialEq)]
pub struct GltfFace {
    /// All targets of all mesh nodes that the default scene shows, in the order of the controls.
    pub targets: Vec<FaceTarget>,
    /// The left eye and the right one, the character's own, or why there is no joint for it.
    ///
    /// The joints are those of the file's VRM table where it has them; otherwise those that the names of the skins' joints mean
    /// ([`humanoid_of`]), and last those that the names of all nodes do, skinned meshes left out: an eye may be a mesh of its own. What the names
    /// leave open is no eye.
    pub eyes: [Result<EyeJoint, String>; 2],
}

/// So many joints are named where the names leave an eye open.
const SHOWN: usize = 4;

const EYES: [HumanoidBone; 2] = [HumanoidBone::LeftEye, HumanoidBone::RightEye];

impl GltfFace {
    /// The face of a file.
    ///
    /// The character stands upright along +Y and looks along +Z, with its left at +X, as glTF and VRM 1.0 have it; a file of VRM 0.x looks along
    /// -Z. An eye turns about these directions of the world at rest, whatever the axes of its joint are. Its parent's scale and
    /// shear are left out of them; a parent that mirrors turns the sense of rotation round.
    #[must_use]
    pub fn of(model: &GltfModel) -> GltfFace {
        let joints = eye_joints(model);
        let worlds = GltfPose::new(model, OutputSpace::World).worlds().to_vec();
        let mut eyes = joints.clone().map(|joint| joint.and_then(|joint| eye(model, &worlds, joint)));
        if let [Ok(left), Ok(right)] = &joints
            && left == right
        {
            eyes.fill(Err(format!("{} is stated to be both eyes", quoted(model, *left))));
        }
        GltfFace { targets: targets(model), eyes }
    }
}

fn targets(model: &GltfModel) -> Vec<FaceTarget> {
    let mut targets = Vec::new();
    for (&node, mesh) in model.joint_nodes().iter().zip(model.skeleton().names()) {
        let Some(range) = model.controls().morphs_of_node(node) else { continue };
        // Both names may have slashes in them, so that only the length of the first tells where the second begins.
        let name = |control: usize| model.controls().names()[control]["morph//".len() + mesh.len()..].to_string();
        targets.extend(range.map(|control| FaceTarget { mesh: mesh.clone(), name: name(control), control }));
    }
    targets.sort_by_key(|target: &FaceTarget| target.control);
    targets
}

/// The joint of either eye.
fn eye_joints(model: &GltfModel) -> [Result<usize, String>; 2] {
    let table = match model.vrm() {
        Ok(table) => table,
        Err(error) => return EYES.map(|_| Err(format!("the file's VRM table is none: {error}"))),
    };
    let in_skins: BTreeSet<usize> = model.skins().iter().flat_map(|skin| skin.joints.iter().copied()).collect();
    // A skinned mesh stays where its joints are, however its own node turns.
    let unmoved: BTreeSet<usize> = model.mesh().parts().iter().filter(|p| p.skinned).map(|p| p.node).collect();
    let nodes = model.joint_nodes().iter().enumerate().filter(|(_, node)| !unmoved.contains(node));
    let lists = [in_skins.into_iter().collect(), nodes.map(|(joint, _)| joint).collect()];
    let maps = lists.map(|list: Vec<usize>| {
        let names: Vec<&str> = list.iter().map(|&joint| model.node_names()[joint].as_str()).collect();
        (humanoid_of(&names), list)
    });
    EYES.map(|bone| {
        if let Some(&node) = table.and_then(|table| table.nodes.get(&bone)) {
            let outside = || format!("node {node}, the file's own {}, is not in its default scene", bone.name());
            return model.joint_of_node(node).ok_or_else(outside);
        }
        let found = maps.iter().find_map(|(map, joints)| by_name(model, map, joints, bone));
        found.unwrap_or_else(|| Err(format!("no joint is named as {}", bone.name())))
    })
}

/// The joint that the names give to a bone, or the joints among which they leave it open.
fn by_name(
    model: &GltfModel,
    map: &HumanoidMap,
    joints: &[usize],
    bone: HumanoidBone,
) -> Option<Result<usize, String>> {
    if let Some(&at) = map.joints.get(&bone) {
        return Some(Ok(joints[at]));
    }
    let open = map.ambiguous.iter().find(|open| open.bones.contains(&bone))?;
    let mut names: Vec<String> = open.joints.iter().take(SHOWN).map(|&at| quoted(model, joints[at])).collect();
    if open.joints.len() > SHOWN {
        names.push(format!("and {} more", open.joints.len() - SHOWN));
    }
    Some(Err(format!("{} may be any of {}", bone.name(), names.join(", "))))
}

/// The turns of the eye at a joint.
fn eye(model: &GltfModel, worlds: &[DAffine3], joint: usize) -> Result<EyeJoint, String> {
    let Some(first) = model.controls().first_of_joint(joint) else {
        return Err(format!("{} has a matrix and so no rotation to control", quoted(model, joint)));
    };
    let parent = model.skeleton().parents()[joint];
    let world = parent.map_or(DMat3::IDENTITY, |parent| worlds[parent].matrix3);
    let Some(frame) = orthonormal(world) else {
        return Err(format!("the parent of {} is squashed flat", quoted(model, joint)));
    };
    let faces_back = matches!(model.vrm(), Ok(Some(table)) if table.version == VrmVersion::V0);
    // A rotation about an axis, seen in a mirror, turns the other way about the mirrored axis.
    let seen = |axis: DVec3| (frame.transpose() * axis * frame.determinant().signum()).to_array();
    let left = if faces_back { DVec3::NEG_X } else { DVec3::X };
    Ok(EyeJoint { joint, rotation: first + 3, left: seen(left), up: seen(DVec3::Y) })
}

/// The axes of a transform, of unit length and square to one another; none where they span no space.
fn orthonormal(matrix: DMat3) -> Option<DMat3> {
    let x = matrix.x_axis.try_normalize()?;
    let y = matrix.y_axis.try_normalize()?;
    let y = (y - x * x.dot(y)).try_normalize()?;
    let z = matrix.z_axis.try_normalize()?;
    let across = x.cross(y);
    // The third one is square to the others; the file says to which side it points.
    let side = across.dot(z);
    (side.abs() > 1e-9).then(|| DMat3::from_cols(x, y, across * side.signum()))
}

fn quoted(model: &GltfModel, joint: usize) -> String {
    let (name, joint) = (&model.node_names()[joint], &model.skeleton().names()[joint]);
    if name == joint { format!("{name:?}") } else { format!("{name:?} ({joint})") }
}
