//! What the meshes of one character share: the skeleton with its neutral pose, and how joint deltas move it.

use super::dna::{Dna, TranslationUnit};
use super::pack::OrlPack;
use super::riglogic::RotationOutput;
use super::riglogic::rotation::Euler;
use crate::error::{LoadError, LoadErrorKind};
use crate::info::Units;
use crate::skeleton::{JointInput, Local, Skeleton};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// The joints of one DNA file, parents before children, and its neutral pose.
///
/// Immutable: any number of meshes and instances share it.
#[derive(Debug, Clone, PartialEq)]
pub struct OrlModel {
    skeleton: Skeleton,
    neutral: Vec<Neutral>,
    /// By joint of the skeleton: its index in the file.
    file_joints: Vec<usize>,
    channel_count: usize,
    euler: Euler,
    units: Units,
    /// What RigLogic's translations are multiplied by: a pack is in centimetres whatever its DNA is in.
    delta_scale: f64,
}

/// One joint at rest, in its parent.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Neutral {
    translation: DVec3,
    rotation: DQuat,
}

impl OrlModel {
    /// The model of a file.
    ///
    /// Joints keep the file's order where it has parents before children, which it need not.
    ///
    /// # Panics
    /// For a `Dna` that was put together by hand and would not be read back: joint arrays of different lengths, a cycle of joints.
    #[must_use]
    pub fn new(dna: &Dna) -> OrlModel {
        let definition = &dna.definition;
        let file_joints = parents_first(&definition.joint_parents);
        let mut joints_by_file = vec![0; file_joints.len()];
        for (joint, &file_joint) in file_joints.iter().enumerate() {
            joints_by_file[file_joint] = joint;
        }
        let parent = |&file_joint: &usize| {
            let parent = usize::from(definition.joint_parents[file_joint]);
            (parent != file_joint).then(|| joints_by_file[parent])
        };
        let parents: Vec<Option<usize>> = file_joints.iter().map(parent).collect();
        let names = file_joints.iter().map(|&j| definition.joint_names[j].clone()).collect();
        let euler = Euler::of(dna);
        let neutral: Vec<Neutral> = file_joints
            .iter()
            .map(|&j| Neutral {
                translation: DVec3::from(definition.neutral_translations[j].map(f64::from)),
                rotation: wide(euler.quaternion(definition.neutral_rotations[j])),
            })
            .collect();
        let rest: Vec<Local> = neutral.iter().map(Neutral::local).collect();
        // The neutral worlds first, through the same code that poses: at rest every skin row is then the identity.
        let unbound = Skeleton::new(names, parents, vec![DAffine3::IDENTITY; rest.len()]);
        let worlds = unbound.worlds(&rest, &JointInput::default());
        let bind_from_world = worlds.iter().map(DAffine3::inverse).collect();
        let skeleton = Skeleton::new(unbound.names().to_vec(), unbound.parents().to_vec(), bind_from_world);
        let units = units(dna);
        let channel_count = definition.channel_names.len();
        OrlModel { skeleton, neutral, file_joints, channel_count, euler, units, delta_scale: 1.0 }
    }

    /// The model of a pack, in centimetres: the pack's own neutral pose and inverse rest, moved by the RigLogic of the DNA inside.
    ///
    /// # Errors
    /// `Missing` - a pack without a DNA.
    pub fn of_pack(pack: &OrlPack) -> Result<OrlModel, LoadError> {
        let Some(dna) = pack.dna() else {
            let field = "member \"head_behavior.dna\"";
            return Err(LoadError::new(LoadErrorKind::Missing, field, "the DNA that drives the pack", "none"));
        };
        let degrees = Euler::new([0, 1, 2], [1.0; 3], true);
        let neutral = |row: &[f32; 9]| Neutral {
            translation: DVec3::new(row[0].into(), row[1].into(), row[2].into()),
            rotation: wide(degrees.quaternion([row[3], row[4], row[5]])),
        };
        let names = dna.definition.joint_names.clone();
        Ok(OrlModel {
            skeleton: Skeleton::new(names, pack.parents().to_vec(), pack.bind_from_world().to_vec()),
            neutral: pack.joint_neutral().iter().map(neutral).collect(),
            file_joints: (0..pack.joint_count()).collect(),
            channel_count: pack.channel_count(),
            euler: Euler::of(dna),
            units: Units::Centimetres,
            delta_scale: units(dna).in_metres() * 100.0,
        })
    }

    /// The unit of everything that has a length.
    #[must_use]
    pub fn units(&self) -> Units {
        self.units
    }

    /// What a centimetre is in the model's unit.
    #[must_use]
    pub fn units_per_centimetre(&self) -> f64 {
        0.01 / self.units.in_metres()
    }

    /// The skin row after those of the joints: it stands still, for vertices that no joint carries.
    #[must_use]
    pub fn still_row(&self) -> usize {
        self.skeleton.joint_count()
    }

    /// Every joint's world at rest, (J).
    #[must_use]
    pub fn rest_worlds(&self) -> Vec<DAffine3> {
        self.skeleton.worlds(&self.rest_locals(), &JointInput::default())
    }

    /// The joints; overrides and joint worlds name them.
    #[must_use]
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// By joint of the skeleton: its index in the file, where RigLogic's joint buffer and the skins have it.
    #[must_use]
    pub fn file_joints(&self) -> &[usize] {
        &self.file_joints
    }

    /// How many blend shape channels there are.
    #[must_use]
    pub fn channel_count(&self) -> usize {
        self.channel_count
    }

    /// Every joint's local transform at rest, (J).
    #[must_use]
    pub fn rest_locals(&self) -> Vec<Local> {
        self.neutral.iter().map(Neutral::local).collect()
    }

    /// Every joint's local transform: `T(t_n + t_d) R(r_n) R(r_d) S(1 + s_d)`, the delta's rotation inside the neutral frame.
    ///
    /// # Shapes
    /// deltas: (J, 9) or (J, 10) as [`RotationOutput`] says, in file order; result: (J), in the skeleton's order
    #[must_use]
    pub(super) fn locals(&self, rotation: RotationOutput, deltas: &[f32]) -> Vec<Local> {
        let width = rotation.width();
        let local = |(neutral, &file_joint): (&Neutral, &usize)| {
            let delta = &deltas[file_joint * width..][..width];
            let three = |at: usize| DVec3::new(delta[at].into(), delta[at + 1].into(), delta[at + 2].into());
            let turn = match rotation {
                RotationOutput::Euler => self.euler.quaternion([delta[3], delta[4], delta[5]]),
                RotationOutput::Quaternion => [delta[3], delta[4], delta[5], delta[6]],
            };
            Local {
                frame: DAffine3 {
                    matrix3: DMat3::from_quat(neutral.rotation * wide(turn)),
                    translation: neutral.translation + three(0) * self.delta_scale,
                },
                scale: DVec3::ONE + three(width - 3),
            }
        };
        self.neutral.iter().zip(&self.file_joints).map(local).collect()
    }
}

impl Neutral {
    fn local(&self) -> Local {
        Local::from_affine(DAffine3 { matrix3: DMat3::from_quat(self.rotation), translation: self.translation })
    }
}

fn units(dna: &Dna) -> Units {
    match dna.descriptor.translation_unit {
        TranslationUnit::Centimetres => Units::Centimetres,
        TranslationUnit::Metres => Units::Metres,
    }
}

fn wide(q: [f32; 4]) -> DQuat {
    DQuat::from_array(q.map(f64::from))
}

/// The joints in an order with parents before children, the lowest index first among those that may come.
fn parents_first(parents: &[u16]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    let mut ready = std::collections::BTreeSet::new();
    for (joint, &parent) in parents.iter().enumerate() {
        if usize::from(parent) == joint {
            ready.insert(joint);
        } else {
            children[usize::from(parent)].push(joint);
        }
    }
    let mut order = Vec::with_capacity(parents.len());
    while let Some(joint) = ready.pop_first() {
        order.push(joint);
        ready.extend(&children[joint]);
    }
    assert_eq!(order.len(), parents.len(), "the joints form a cycle");
    order
}
