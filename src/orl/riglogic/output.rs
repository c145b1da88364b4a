//! The joint buffer: what stands where, and rotations in the form the caller wants.

use super::rotation::{Euler, IDENTITY};

/// How the rotation of a joint comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RotationOutput {
    /// Nine attributes per joint: tx ty tz, rx ry rz in the rig's unit, sequence and signs, sx sy sz.
    #[default]
    Euler,
    /// Ten attributes per joint: tx ty tz, qx qy qz qw, sx sy sz.
    Quaternion,
}

impl RotationOutput {
    /// How many attributes a joint has: 9 or 10.
    #[must_use]
    pub fn width(self) -> usize {
        match self {
            RotationOutput::Euler => 9,
            RotationOutput::Quaternion => 10,
        }
    }

    /// Where an attribute of the file (nine per joint) goes. Angles of the quaternion form stand in its first three places until they are
    /// converted.
    pub(super) fn slot(self, attribute: u16) -> u32 {
        let (joint, attribute) = (u32::from(attribute) / 9, u32::from(attribute) % 9);
        match self {
            RotationOutput::Euler => joint * 9 + attribute,
            RotationOutput::Quaternion => joint * 10 + attribute + u32::from(attribute >= 6),
        }
    }

    /// No joint moves.
    pub(super) fn reset(self, joints: &mut [f32]) {
        joints.fill(0.0);
        if self == RotationOutput::Quaternion {
            joints.chunks_exact_mut(10).for_each(|joint| joint[3..7].copy_from_slice(&IDENTITY));
        }
    }

    /// Assigns the rotation of one joint.
    pub(super) fn set_rotation(self, euler: Euler, joints: &mut [f32], joint: usize, q: [f32; 4]) {
        match self {
            RotationOutput::Euler => joints[joint * 9 + 3..][..3].copy_from_slice(&euler.from_quaternion(q)),
            RotationOutput::Quaternion => joints[joint * 10 + 3..][..4].copy_from_slice(&q),
        }
    }
}
