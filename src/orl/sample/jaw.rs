//! The jaw's turn as controls make it, and what skin and joints make of it.

use super::controls::RawControl;
use super::joints::{JAW, Joint, NAMED_COUNT};
use super::skin::jaw_share;
use crate::head::anatomy::JAW_HINGE;
use crate::head::canvas::Field;
use crate::head::{Component, Head};
use crate::orl::dna::SkinRow;
use glam::{DAffine3, DMat3, DVec3};

/// What a control does to the jaw at full effort.
#[derive(Debug, Clone, Copy)]
pub(super) struct JawMotion {
    /// Degrees around x, y and z, in this order.
    angles: DVec3,
    /// Metres.
    way: DVec3,
}

/// What a control does to the jaw, if anything.
pub(super) fn jaw_motion(control: &RawControl) -> Option<JawMotion> {
    use crate::orl::dna::Attribute::{RotateX, RotateY, RotateZ, TranslateX, TranslateY, TranslateZ};
    const M_PER_CM: f64 = 0.01;
    let mut motion = JawMotion { angles: DVec3::ZERO, way: DVec3::ZERO };
    let mut moves = false;
    for (_, attribute, value) in control.joints().filter(|(joint, _, _)| joint == "FACIAL_C_Jaw") {
        moves = true;
        let value = f64::from(value);
        match attribute {
            RotateX => motion.angles.x += value,
            RotateY => motion.angles.y += value,
            RotateZ => motion.angles.z += value,
            TranslateX => motion.way.x += M_PER_CM * value,
            TranslateY => motion.way.y += M_PER_CM * value,
            TranslateZ => motion.way.z += M_PER_CM * value,
            _ => {}
        }
    }
    moves.then_some(motion)
}

fn rotation(angles: DVec3) -> DMat3 {
    let [x, y, z] = angles.to_array().map(f64::to_radians);
    DMat3::from_rotation_z(z) * DMat3::from_rotation_y(y) * DMat3::from_rotation_x(x)
}

/// Turns by `angles` around `centre`, then goes `way`.
fn turn(angles: DVec3, centre: DVec3, way: DVec3) -> DAffine3 {
    let matrix3 = rotation(angles);
    DAffine3 { matrix3, translation: centre + way - matrix3 * centre }
}

impl JawMotion {
    /// The displacement of a point that goes with the jaw.
    pub(super) fn of(&self, p: DVec3) -> DVec3 {
        self.jaw().transform_point3(p) - p
    }

    fn jaw(&self) -> DAffine3 {
        turn(self.angles, JAW_HINGE, self.way)
    }

    /// The translation (metres) and rotation (degrees) of a joint of the surface that does its share of the motion.
    pub(super) fn of_joint(&self, joint: &Joint) -> (DVec3, DVec3) {
        let (p, share) = (joint.position, joint.jaw_share);
        let way = share * self.of(p);
        if joint.parent == Some(JAW) {
            // The jaw has moved it the whole way: the rest goes back, in the jaw's turned axes.
            (self.jaw().inverse().transform_point3(p + way) - p, (share - 1.0) * self.angles)
        } else {
            (way, share * self.angles)
        }
    }

    /// The displacement before the skin that becomes `wanted` after it, where the jaw has its share.
    pub(super) fn before_skin(&self, wanted: DVec3, share: f64) -> DVec3 {
        let blended = DMat3::IDENTITY * (1.0 - share) + rotation(self.angles) * share;
        blended.inverse() * wanted
    }

    /// What the joints leave over of the field and of each vertex's share of the jaw's motion, before the skin.
    ///
    /// `carried` is what joints of the surface do beside their part in the jaw's motion.
    pub(super) fn left_over(
        &self,
        head: &Head,
        skin: &[SkinRow],
        joints: &[Joint],
        field: &Field,
        carried: &[(usize, DVec3)],
    ) -> Field {
        let moved = self.moved_joints(joints, carried);
        let mut field = field.iter().peekable();
        let mut left_over = vec![];
        for (vertex, row) in skin.iter().enumerate() {
            let own = field.next_if(|(v, _)| *v as usize == vertex).map_or(DVec3::ZERO, |(_, d)| *d);
            if head.components[vertex] != Component::Skin {
                continue;
            }
            let p = head.positions[vertex];
            let wanted = own + jaw_share(head, vertex) * self.of(p);
            let (mut linear, mut reached) = (DMat3::ZERO, DVec3::ZERO);
            for (&joint, &weight) in row.joints.iter().zip(&row.weights) {
                let joint = moved[usize::from(joint)];
                linear += joint.matrix3 * f64::from(weight);
                reached += (joint.transform_point3(p) - p) * f64::from(weight);
            }
            if wanted != reached {
                left_over.push((vertex as u32, linear.inverse() * (wanted - reached)));
            }
        }
        left_over
    }

    /// By joint: how it moves what it carries.
    fn moved_joints(&self, joints: &[Joint], carried: &[(usize, DVec3)]) -> Vec<DAffine3> {
        let mut ways = vec![DVec3::ZERO; joints.len()];
        for (joint, way) in carried.iter().filter(|(joint, _)| *joint < joints.len()) {
            ways[*joint] = *way;
        }
        let moved = |(index, joint): (usize, &Joint)| {
            if index < NAMED_COUNT {
                return if index == JAW { self.jaw() } else { DAffine3::IDENTITY };
            }
            let (way, angles) = self.of_joint(joint);
            let own = turn(angles, joint.position, way + ways[index]);
            if joint.parent == Some(JAW) { self.jaw() * own } else { own }
        };
        joints.iter().enumerate().map(moved).collect()
    }
}
