//! Twist and swing: joints that take a share of one rotation, split about an axis.

use super::RotationOutput;
use super::rotation::{Euler, IDENTITY, dot, inverse, multiply, slerp};
use crate::orl::dna::{self, TwistSwingSetup};

/// Every setup, in order: it assigns at all levels, later ones over earlier ones.
#[derive(Debug, Clone, Default)]
pub(super) struct TwistSwing {
    setups: Vec<Setup>,
}

#[derive(Debug, Clone)]
struct Setup {
    /// The controls x, y, z, w.
    inputs: [u16; 4],
    axis: usize,
    /// Joints with their share; `None` where the setup is a twist alone.
    swing: Option<Vec<(u16, f32)>>,
    twist: Vec<(u16, f32)>,
}

impl TwistSwing {
    /// Takes checked setups: four inputs each, as many weights as joints.
    pub(super) fn new(layer: &dna::TwistSwing) -> TwistSwing {
        let new = |part: &TwistSwingSetup, swing, twist| Setup {
            inputs: [part.inputs[0], part.inputs[1], part.inputs[2], part.inputs[3]],
            axis: part.axis as usize,
            swing,
            twist,
        };
        let joints = |part: &TwistSwingSetup| part.joints.iter().copied().zip(part.weights.iter().copied()).collect();
        let mut setups: Vec<Setup> = layer.swings.iter().map(|swing| new(swing, Some(joints(swing)), vec![])).collect();
        let swings = setups.len();
        for twist in &layer.twists {
            let joined: Vec<(u16, f32)> = joints(twist);
            match setups[..swings].iter_mut().find(|setup| setup.inputs[..] == twist.inputs[..]) {
                Some(setup) => setup.twist.extend(joined),
                None => setups.push(new(twist, None, joined)),
            }
        }
        TwistSwing { setups }
    }

    /// The joints whose rotation is written.
    pub(super) fn joints(&self) -> impl Iterator<Item = usize> {
        let of = |setup: &Setup| setup.swing.iter().flatten().chain(&setup.twist).copied().collect::<Vec<_>>();
        self.setups.iter().flat_map(of).map(|(joint, _)| usize::from(joint))
    }

    pub(super) fn run(&self, euler: Euler, output: RotationOutput, controls: &[f32], joints: &mut [f32]) {
        for setup in &self.setups {
            let q = setup.inputs.map(|input| controls[usize::from(input)]);
            let twist = twist_of(q, setup.axis);
            // A twist alone counts from its twist, one that joins a swing from the inverse.
            let mut from = twist;
            if let Some(swing) = &setup.swing {
                from = inverse(twist);
                let swing_back = inverse(multiply(q, from));
                for &(joint, share) in swing {
                    let rotation = multiply(from, slerp(swing_back, IDENTITY, share));
                    output.set_rotation(euler, joints, usize::from(joint), rotation);
                }
            }
            for &(joint, share) in &setup.twist {
                output.set_rotation(euler, joints, usize::from(joint), slerp(from, IDENTITY, share));
            }
        }
    }
}

/// The part of a rotation about an axis; none where the rotation has neither that component nor w.
fn twist_of(q: [f32; 4], axis: usize) -> [f32; 4] {
    let mut twist = [0.0, 0.0, 0.0, q[3]];
    twist[axis] = q[axis];
    let length = dot(twist, twist).sqrt();
    if length == 0.0 { IDENTITY } else { twist.map(|c| c / length) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orl::dna::TwistAxis;

    const EULER: Euler = Euler::XYZ_DEGREES;
    const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;

    fn part(joints: &[(u16, f32)], axis: TwistAxis) -> TwistSwingSetup {
        TwistSwingSetup {
            weights: joints.iter().map(|j| j.1).collect(),
            joints: joints.iter().map(|j| j.0).collect(),
            inputs: vec![0, 1, 2, 3],
            axis,
        }
    }

    fn run(twists: Vec<TwistSwingSetup>, swings: Vec<TwistSwingSetup>, q: [f32; 4]) -> Vec<[f32; 4]> {
        let mut joints = vec![0.0; 40];
        let layer = dna::TwistSwing { twists, swings };
        TwistSwing::new(&layer).run(EULER, RotationOutput::Quaternion, &q, &mut joints);
        joints.chunks(10).map(|j| [j[3], j[4], j[5], j[6]]).collect()
    }

    fn close(a: [f32; 4], b: [f32; 4]) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-6), "{a:?} against {b:?}");
    }

    #[test]
    fn twist_alone_counts_towards_identity_from_an_input_that_is_not_unit() {
        // (3, 5, 7, 3): the twist about x is (1, 0, 0, 1) / sqrt(2), a quarter turn; weight 0 takes it whole, 0.5 half, 1 nothing.
        let q = [3.0, 5.0, 7.0, 3.0];
        let joints = run(vec![part(&[(0, 0.0), (1, 0.5), (2, 1.0)], TwistAxis::X)], vec![], q);
        close(joints[0], [HALF, 0.0, 0.0, HALF]);
        let eighth = 22.5_f32.to_radians();
        close(joints[1], [eighth.sin(), 0.0, 0.0, eighth.cos()]);
        close(joints[2], IDENTITY);
    }

    #[test]
    fn twist_of_nothing_about_the_axis_is_identity() {
        close(run(vec![part(&[(0, 0.0)], TwistAxis::X)], vec![], [0.0, 1.0, 0.0, 0.0])[0], IDENTITY);
    }

    #[test]
    fn merged_twist_takes_the_swings_axis_and_the_inverse() {
        // A quarter turn about x: all twist about the swing's axis x, nothing about the twist's own y.
        let q = [HALF, 0.0, 0.0, HALF];
        let joints = run(vec![part(&[(0, 0.0)], TwistAxis::Y)], vec![part(&[(1, 0.0)], TwistAxis::X)], q);
        close(joints[0], [-HALF, 0.0, 0.0, HALF]);
        // The swing is nothing, so its joint has the inverse twist alone.
        close(joints[1], [-HALF, 0.0, 0.0, HALF]);
    }

    #[test]
    fn swing_of_an_unnormalised_input_is_undone() {
        // 2 * (q_z * q_x), quarter turns: twist about x is q_x, swing 2 * q_z, whose inverse is q_z^-1 / 2; the joint gets q_x^-1 * q_z^-1 / 2.
        let q = [1.0, 1.0, 1.0, 1.0];
        let joints = run(vec![], vec![part(&[(0, 0.0), (1, 1.0)], TwistAxis::X)], q);
        close(joints[0], [-0.25, -0.25, -0.25, 0.25]);
        close(joints[1], [-HALF, 0.0, 0.0, HALF]);
    }

    #[test]
    fn two_twists_join_one_swing_and_a_twist_never_joins_a_twist() {
        let q = [HALF, 0.0, 0.0, HALF];
        let twists = || vec![part(&[(0, 0.0)], TwistAxis::Y), part(&[(2, 0.0)], TwistAxis::Z)];
        let joined = run(twists(), vec![part(&[(1, 1.0)], TwistAxis::X)], q);
        close(joined[0], [-HALF, 0.0, 0.0, HALF]);
        close(joined[2], [-HALF, 0.0, 0.0, HALF]);
        // Alone, each has its own axis.
        let alone = run(vec![part(&[(0, 0.0)], TwistAxis::X), part(&[(2, 0.0)], TwistAxis::Z)], vec![], q);
        close(alone[0], [HALF, 0.0, 0.0, HALF]);
        close(alone[2], IDENTITY);
    }

    #[test]
    fn later_setup_assigns_over_an_earlier_one() {
        let q = [HALF, 0.0, 0.0, HALF];
        let joints = run(vec![part(&[(0, 0.0)], TwistAxis::X), part(&[(0, 1.0)], TwistAxis::X)], vec![], q);
        close(joints[0], IDENTITY);
    }
}
