//! Joints, shared by all rigs: names, parents, rest, overrides; local -> world -> skin rows.
//!
//! Beside it what names mean: [`names`] undoes the manglings of exporters, [`humanoid`] finds the humanoid bones, [`vrm`] reads those that a VRM file states.

use crate::error::ControlError;
use crate::info::JointId;
use crate::math::{self, Rows};
use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Quat};
use std::collections::{BTreeMap, HashMap};

mod bones;
pub mod humanoid;
pub mod names;
mod tables;
pub mod vrm;

/// A joint's transform in its parent: `T * R * S`, kept apart so that an override can enter before the scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Local {
    /// Translation and rotation. A rest that was read as a matrix stands here whole, with a scale of one.
    pub frame: DAffine3,
    /// Scale along the joint's own axes, applied first.
    pub scale: DVec3,
}

impl Local {
    /// A local transform given as a matrix.
    #[must_use]
    pub fn from_affine(frame: DAffine3) -> Local {
        Local { frame, scale: DVec3::ONE }
    }

    /// `T * R * R(q) * S`.
    #[must_use]
    pub fn affine(&self, turn: Option<DQuat>) -> DAffine3 {
        let turned = turn.map_or(self.frame.matrix3, |q| self.frame.matrix3 * DMat3::from_quat(q));
        DAffine3 { matrix3: turned * DMat3::from_diagonal(self.scale), translation: self.frame.translation }
    }
}

/// A rotation on top of a joint's solved or rest local transform, about its own origin, in its own axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointOverride<'a> {
    /// The joint's name; a rig that does not have it skips the entry.
    pub joint: &'a str,
    /// The rotation; normalised when it is set, zero or not finite is refused.
    pub rotation: Quat,
}

/// Joint names, parents and inverse rest worlds: the part of a skeleton that instances share.
#[derive(Debug, Clone, PartialEq)]
pub struct Skeleton {
    names: Vec<String>,
    parents: Vec<Option<usize>>,
    bind_from_world: Vec<DAffine3>,
    by_name: HashMap<String, usize>,
}

/// What a host put on top of one instance's own joints.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JointInput {
    turns: BTreeMap<usize, DQuat>,
    worlds: BTreeMap<usize, DAffine3>,
}

impl Skeleton {
    /// A skeleton from parallel lists.
    ///
    /// `bind_from_world[j]` takes the rest world of joint `j` to the space that the mesh is modelled in: `inverse(rest_world_j) * bind_transform`.
    ///
    /// # Panics
    /// When the lists differ in length or a parent does not come before its child: loaders check that.
    #[must_use]
    pub fn new(names: Vec<String>, parents: Vec<Option<usize>>, bind_from_world: Vec<DAffine3>) -> Skeleton {
        assert_eq!(names.len(), parents.len(), "names and parents differ");
        assert_eq!(names.len(), bind_from_world.len(), "names and bind matrices differ");
        for (joint, parent) in parents.iter().enumerate() {
            assert!(parent.is_none_or(|p| p < joint), "parent of joint {joint} does not come before it");
        }
        // The first of equal names answers to it.
        let by_name = names.iter().cloned().enumerate().rev().map(|(joint, name)| (name, joint)).collect();
        Skeleton { names, parents, bind_from_world, by_name }
    }

    /// Joint names, parents before children.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The joint of exactly this name, the first where several have it; `head` and `HEAD` are two.
    #[must_use]
    pub fn joint(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The humanoid bones that the names mean: [`humanoid::humanoid_of`].
    #[must_use]
    pub fn humanoid(&self) -> humanoid::HumanoidMap {
        humanoid::humanoid_of(&self.names)
    }

    /// The parent of every joint; a root has none.
    #[must_use]
    pub fn parents(&self) -> &[Option<usize>] {
        &self.parents
    }

    /// J.
    #[must_use]
    pub fn joint_count(&self) -> usize {
        self.names.len()
    }

    /// Checks a list of overrides and resolves its names: unknown joints are skipped, quaternions normalised.
    ///
    /// # Errors
    /// `Quaternion` for a zero or non-finite rotation, `DuplicateJoint` for a joint named twice.
    pub fn resolve_overrides(&self, overrides: &[JointOverride]) -> Result<BTreeMap<usize, DQuat>, ControlError> {
        let mut turns: BTreeMap<usize, DQuat> = BTreeMap::new();
        for o in overrides {
            let q = o.rotation.as_dquat();
            let length = q.length();
            if !(length.is_finite() && length > 0.0) {
                let got = format!("({}, {}, {}, {})", q.w, q.x, q.y, q.z);
                return Err(ControlError::Quaternion { joint: o.joint.into(), got });
            }
            let Some(joint) = self.joint(o.joint) else { continue };
            if turns.insert(joint, q / length).is_some() {
                return Err(ControlError::DuplicateJoint { joint: o.joint.into() });
            }
        }
        Ok(turns)
    }

    /// Checks a list of joint worlds.
    ///
    /// # Errors
    /// `JointId` for an index past the end, `DuplicateJoint`, `NotFinite`.
    pub fn resolve_worlds(&self, worlds: &[(JointId, Affine3A)]) -> Result<BTreeMap<usize, DAffine3>, ControlError> {
        let mut resolved: BTreeMap<usize, DAffine3> = BTreeMap::new();
        for &(JointId(joint), world) in worlds {
            if joint >= self.joint_count() {
                return Err(ControlError::JointId { got: joint, joint_count: self.joint_count() });
            }
            if let Some(&value) = world.to_cols_array().iter().find(|x| !x.is_finite()) {
                return Err(ControlError::NotFinite { what: "joint world", index: joint, value });
            }
            let world = DAffine3 {
                matrix3: glam::Mat3::from(world.matrix3).as_dmat3(),
                translation: glam::Vec3::from(world.translation).as_dvec3(),
            };
            if resolved.insert(joint, world).is_some() {
                return Err(ControlError::DuplicateJoint { joint: self.names[joint].clone() });
            }
        }
        Ok(resolved)
    }

    /// The world transform of every joint: own local with its override under the parent's world, or the world that was given.
    ///
    /// # Shapes
    /// locals: (J), result: (J)
    #[must_use]
    pub fn worlds(&self, locals: &[Local], input: &JointInput) -> Vec<DAffine3> {
        let mut worlds = Vec::with_capacity(locals.len());
        for (joint, local) in locals.iter().enumerate() {
            let world = input.worlds.get(&joint).copied().unwrap_or_else(|| {
                let own = local.affine(input.turns.get(&joint).copied());
                self.parents[joint].map_or(own, |p: usize| {
                    let parent: DAffine3 = worlds[p];
                    parent * own
                })
            });
            worlds.push(world);
        }
        worlds
    }

    /// The rows that skin: `world * bind_from_world`, narrowed to f32.
    #[must_use]
    pub fn skin_rows(&self, worlds: &[DAffine3]) -> Vec<Rows> {
        worlds.iter().zip(&self.bind_from_world).map(|(w, b)| math::rows(&(*w * *b))).collect()
    }
}

impl JointInput {
    /// Replaces the overrides; the caller has resolved them.
    pub fn set_turns(&mut self, turns: BTreeMap<usize, DQuat>) {
        self.turns = turns;
    }

    /// Replaces the given worlds; an empty list gives the rig back its own.
    pub fn set_worlds(&mut self, worlds: BTreeMap<usize, DAffine3>) {
        self.worlds = worlds;
    }
}
