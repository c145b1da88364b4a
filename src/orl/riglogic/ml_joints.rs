//! ML joints: joint attributes that networks drive, on top of what groups, quaternions and twists gave.

use super::RotationOutput;
use super::rotation::{Euler, ORDERS, multiply, normalise};
use crate::error::{LoadError, LoadErrorKind};
use crate::orl::dna::{Direction, Dna, JointParameter};
use std::collections::BTreeMap;

/// Keys of the layer's settings.
mod key {
    pub(super) const ROTATION: u16 = 1;
    pub(super) const AXES: [u16; 3] = [3, 4, 5];
    pub(super) const SIGNS: [u16; 3] = [6, 7, 8];
    pub(super) const SEQUENCE: u16 = 9;
}

#[derive(Debug, Clone, Default)]
pub(super) struct MlJoints {
    joints: Vec<Joint>,
    /// (LODs) Indices into `joints`.
    lods: Vec<Vec<u16>>,
    conversion: Option<Conversion>,
}

#[derive(Debug, Clone, Default)]
struct Joint {
    joint: u16,
    /// Control and attribute (0 to 2 translation, 3 to 5 scale) of every pair.
    sums: Vec<(u16, u8)>,
    rotation: Option<Rotation>,
}

#[derive(Debug, Clone, Copy)]
enum Rotation {
    /// The first of four controls x, y, z, w.
    Quaternion(u16),
    /// The controls of the three angles.
    Angles([Option<u16>; 3]),
}

/// The change from the networks' coordinate system to the rig's.
#[derive(Debug, Clone, Copy)]
struct Conversion {
    /// Row vectors: `v' = v * basis`.
    basis: [[f32; 3]; 3],
    determinant: f32,
    /// How the networks write angles.
    angles: Euler,
}

impl MlJoints {
    /// Takes a file whose control and joint indices are in range of one of the two layouts.
    ///
    /// # Errors
    /// `Value` for an attribute, a quaternion or a setting out of range.
    pub(super) fn new(
        dna: &Dna,
        control_count: usize,
        lod_count: usize,
        output: RotationOutput,
    ) -> Result<MlJoints, LoadError> {
        let graph = &dna.operation_graph;
        let setting = |key: u16| setting(&graph.joint_parameters, key);
        let quaternions = match setting(key::ROTATION) {
            None => output == RotationOutput::Quaternion,
            Some(code @ (0 | 1)) => code == 1,
            Some(code) => {
                let expected = "0 (Euler angles) or 1 (quaternion)";
                return Err(LoadError::new(LoadErrorKind::Value, "ML joints rotation type", expected, code));
            }
        };
        let width = if quaternions { 10 } else { 9 };
        let joint_count = dna.definition.joint_names.len();
        let mut joints: BTreeMap<usize, Joint> = BTreeMap::new();
        for (&control, &attribute) in graph.joint_inputs.iter().zip(&graph.joint_outputs) {
            let (joint, attribute) = (usize::from(attribute) / width, usize::from(attribute) % width);
            if joint >= joint_count {
                let expected = format!("a joint below {joint_count}");
                return Err(LoadError::new(LoadErrorKind::Value, "ML joints outputs", expected, joint));
            }
            let entry = joints.entry(joint).or_insert(Joint { joint: joint as u16, ..Joint::default() });
            match attribute {
                0..3 => entry.sums.push((control, attribute as u8)),
                _ if attribute >= width - 3 => entry.sums.push((control, (attribute + 6 - width) as u8)),
                _ if !quaternions => {
                    let Rotation::Angles(angles) = entry.rotation.get_or_insert(Rotation::Angles([None; 3])) else {
                        unreachable!("one layout for all joints")
                    };
                    angles[attribute - 3] = Some(control);
                }
                _ if entry.rotation.is_none() => {
                    // Four consecutive controls, whatever the pairs of the other three components say.
                    if usize::from(control) + 4 > control_count {
                        let expected = format!("four controls below {control_count}");
                        return Err(LoadError::new(LoadErrorKind::Value, "ML joints inputs", expected, control));
                    }
                    entry.rotation = Some(Rotation::Quaternion(control));
                }
                _ => {}
            }
        }
        let joints: Vec<Joint> = joints.into_values().collect();
        let mut place = vec![None; joint_count];
        joints.iter().enumerate().for_each(|(i, j)| place[usize::from(j.joint)] = Some(i as u16));
        let level = |lod: usize| {
            let mut of_level: Vec<u16> =
                dna.definition.lod_joints.list(lod).iter().filter_map(|&j| place[usize::from(j)]).collect();
            // A joint that the list repeats counts once.
            of_level.sort_unstable();
            of_level.dedup();
            of_level
        };
        let conversion = if joints.is_empty() { None } else { Conversion::new(dna)? };
        Ok(MlJoints { lods: (0..lod_count).map(level).collect(), joints, conversion })
    }

    /// The controls that are the w of a joint's quaternion.
    pub(super) fn quaternion_ws(&self) -> Vec<u16> {
        let w = |joint: &Joint| match joint.rotation {
            Some(Rotation::Quaternion(first)) => Some(first + 3),
            _ => None,
        };
        self.joints.iter().filter_map(w).collect()
    }

    /// Hands `take` every control that a level reads.
    pub(super) fn controls(&self, lod: usize, mut take: impl FnMut(usize)) {
        for joint in self.at(lod) {
            joint.sums.iter().for_each(|(control, _)| take(usize::from(*control)));
            match joint.rotation {
                Some(Rotation::Quaternion(first)) => (0..4).for_each(|i| take(usize::from(first) + i)),
                Some(Rotation::Angles(angles)) => angles.iter().flatten().for_each(|&c| take(usize::from(c))),
                None => {}
            }
        }
    }

    /// The joint attributes, nine per joint, that a level adds to.
    pub(super) fn attributes(&self, lod: usize) -> Vec<u16> {
        let mut attributes = vec![];
        for joint in self.at(lod) {
            let place = |attribute: u16| joint.joint * 9 + attribute;
            attributes.extend(joint.sums.iter().map(|&(_, a)| place(u16::from(if a < 3 { a } else { a + 3 }))));
            attributes.extend((3..6).filter(|_| joint.rotation.is_some()).map(place));
        }
        attributes
    }

    fn at(&self, lod: usize) -> impl Iterator<Item = &Joint> {
        self.lods.get(lod).into_iter().flatten().map(|&i| &self.joints[usize::from(i)])
    }

    /// Adds to the joints of a level. Where the networks have a coordinate system of their own, their controls are converted first, in place.
    pub(super) fn run(
        &self,
        lod: usize,
        euler: Euler,
        output: RotationOutput,
        controls: &mut [f32],
        joints: &mut [f32],
    ) {
        let width = output.width();
        for joint in self.at(lod) {
            if let Some(conversion) = &self.conversion {
                conversion.convert(joint, euler, controls);
            }
            let values = &mut joints[usize::from(joint.joint) * width..][..width];
            for &(control, attribute) in &joint.sums {
                let slot = usize::from(attribute);
                let slot = if slot < 3 { slot } else { slot + width - 6 };
                values[slot] += controls[usize::from(control)];
            }
            let turn = match joint.rotation {
                None => continue,
                Some(Rotation::Quaternion(first)) => {
                    let q = &controls[usize::from(first)..][..4];
                    Turn::Quaternion(normalise([q[0], q[1], q[2], q[3]]))
                }
                Some(Rotation::Angles(angles)) => {
                    Turn::Angles(angles.map(|c| c.map_or(0.0, |c| controls[usize::from(c)])))
                }
            };
            match output {
                RotationOutput::Quaternion => {
                    let q = turn.quaternion(euler);
                    let before = [values[3], values[4], values[5], values[6]];
                    values[3..7].copy_from_slice(&multiply(q, before));
                }
                RotationOutput::Euler => {
                    for (value, angle) in values[3..6].iter_mut().zip(turn.angles(euler)) {
                        *value += angle;
                    }
                }
            }
        }
    }
}

enum Turn {
    Quaternion([f32; 4]),
    Angles([f32; 3]),
}

impl Turn {
    fn quaternion(&self, euler: Euler) -> [f32; 4] {
        match *self {
            Turn::Quaternion(q) => q,
            Turn::Angles(angles) => euler.to_quaternion(angles),
        }
    }

    fn angles(&self, euler: Euler) -> [f32; 3] {
        match *self {
            Turn::Quaternion(q) => euler.from_quaternion(q),
            Turn::Angles(angles) => angles,
        }
    }
}

impl Conversion {
    /// `None` unless all seven settings are there and differ from the rig's own.
    fn new(dna: &Dna) -> Result<Option<Conversion>, LoadError> {
        let setting = |key: u16| setting(&dna.operation_graph.joint_parameters, key);
        let axes = key::AXES.map(setting);
        let signs = key::SIGNS.map(setting);
        let ([Some(x), Some(y), Some(z)], [Some(sx), Some(sy), Some(sz)], Some(sequence)) =
            (axes, signs, setting(key::SEQUENCE))
        else {
            return Ok(None);
        };
        let Some(&order) = ORDERS.get(usize::from(sequence)) else {
            return Err(LoadError::new(LoadErrorKind::Value, "ML joints rotation sequence", "0 to 5", sequence));
        };
        let signs = [sx, sy, sz].map(|sign| if sign == 1 { 1.0 } else { -1.0 });
        let mut from = [[0.0; 3]; 3];
        for (axis, code) in from.iter_mut().zip([x, y, z]) {
            let Some(direction) = DIRECTIONS.get(usize::from(code)) else {
                return Err(LoadError::new(LoadErrorKind::Value, "ML joints axis", "0 to 5", code));
            };
            *axis = vector(*direction);
        }
        let to = dna.descriptor.axes.map(vector);
        for (axes, whose) in [(from, "ML joints axes"), (to, "axes")] {
            if determinant(axes) == 0.0 {
                let expected = "three directions of different lines";
                return Err(LoadError::new(LoadErrorKind::Value, whose, expected, format!("{axes:?}")));
            }
        }
        let own = Euler::of(dna);
        let angles = Euler::new(order, signs, own.is_degrees());
        if from == to && angles == own {
            return Ok(None);
        }
        let basis = from.map(|a| to.map(|b| a[0] * b[0] + a[1] * b[1] + a[2] * b[2]));
        Ok(Some(Conversion { basis, determinant: determinant(basis), angles }))
    }

    /// Converts the controls of one joint; attributes without a control count as 0 and get nothing.
    fn convert(&self, joint: &Joint, euler: Euler, controls: &mut [f32]) {
        for (first, signed) in [(0, true), (3, false)] {
            let mut at = [None; 3];
            for &(control, attribute) in joint.sums.iter().filter(|(_, a)| (first..first + 3).contains(a)) {
                at[usize::from(attribute - first)] = Some(usize::from(control));
            }
            let v = at.map(|control| control.map_or(0.0, |c| controls[c]));
            let v = self.vector(v, signed);
            at.iter().zip(v).for_each(|(control, v)| control.iter().for_each(|&c| controls[c] = v));
        }
        match joint.rotation {
            None => {}
            Some(Rotation::Quaternion(first)) => {
                let q = &mut controls[usize::from(first)..][..4];
                let converted = self.quaternion([q[0], q[1], q[2], q[3]]);
                q.copy_from_slice(&converted);
            }
            Some(Rotation::Angles(at)) => {
                let angles = at.map(|control| control.map_or(0.0, |c| controls[usize::from(c)]));
                let angles = euler.from_quaternion(self.quaternion(self.angles.to_quaternion(angles)));
                for (control, angle) in at.iter().zip(angles) {
                    control.iter().for_each(|&c| controls[usize::from(c)] = angle);
                }
            }
        }
    }

    /// A vector, or (unsigned) a scale, which has no direction.
    fn vector(&self, v: [f32; 3], signed: bool) -> [f32; 3] {
        let component = |i: usize| (0..3).map(move |j| (v[j], self.basis[j][i]));
        std::array::from_fn(|i| component(i).map(|(v, b)| v * if signed { b } else { b.abs() }).sum())
    }

    fn quaternion(&self, [x, y, z, w]: [f32; 4]) -> [f32; 4] {
        let [x, y, z] = self.vector([x, y, z], true).map(|c| c * self.determinant);
        [x, y, z, w]
    }
}

/// The directions by their numbers in the file.
const DIRECTIONS: [Direction; 6] =
    [Direction::Left, Direction::Right, Direction::Up, Direction::Down, Direction::Front, Direction::Back];

fn vector(direction: Direction) -> [f32; 3] {
    match direction {
        Direction::Left => [-1.0, 0.0, 0.0],
        Direction::Right => [1.0, 0.0, 0.0],
        Direction::Up => [0.0, 1.0, 0.0],
        Direction::Down => [0.0, -1.0, 0.0],
        Direction::Front => [0.0, 0.0, 1.0],
        Direction::Back => [0.0, 0.0, -1.0],
    }
}

fn determinant([a, b, c]: [[f32; 3]; 3]) -> f32 {
    a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])
}

/// The value of a setting; of a key that repeats, the last one.
fn setting(parameters: &[JointParameter], key: u16) -> Option<u16> {
    parameters.iter().rev().find(|p| p.key == key).map(|p| p.value)
}

#[cfg(test)]
mod tests;
