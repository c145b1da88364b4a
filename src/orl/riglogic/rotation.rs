//! Euler angles and quaternions in the rig's own sequence, signs and unit, in f32 as the reference computes them.
//!
//! Quaternions are `[x, y, z, w]` here: that is their order in the control and joint buffers. Matrices are row-vector ones.

use crate::orl::dna::{Dna, RotationUnit};

/// The axes of the rotation sequences by their numbers in the file: xyz, xzy, yxz, yzx, zxy, zyx.
pub(super) const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// The quaternion of no rotation.
pub(super) const IDENTITY: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

const RADIANS_PER_DEGREE: f32 = (std::f64::consts::PI / 180.0) as f32;
const DEGREES_PER_RADIAN: f32 = (180.0 / std::f64::consts::PI) as f32;

/// The Hamilton product: rotate by `b`, then by `a`.
pub(super) fn multiply([ax, ay, az, aw]: [f32; 4], [bx, by, bz, bw]: [f32; 4]) -> [f32; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

pub(super) fn dot(a: [f32; 4], b: [f32; 4]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

pub(super) fn scale(q: [f32; 4], s: f32) -> [f32; 4] {
    q.map(|c| c * s)
}

/// `q` over its length; the zero quaternion becomes NaN.
pub(super) fn normalise(q: [f32; 4]) -> [f32; 4] {
    let length = dot(q, q).sqrt();
    q.map(|c| c / length)
}

pub(super) fn inverse(q: [f32; 4]) -> [f32; 4] {
    let n = dot(q, q);
    [-q[0] / n, -q[1] / n, -q[2] / n, q[3] / n]
}

/// From `a` at 0 to `b` at 1 along the shorter arc, not renormalised; close together it is linear.
pub(super) fn slerp(a: [f32; 4], b: [f32; 4], t: f32) -> [f32; 4] {
    let mut cos = dot(a, b);
    let mut b = b;
    if cos < 0.0 {
        b = b.map(|c| -c);
        cos = -cos;
    }
    let (from, to) = if cos > 1.0 - f32::EPSILON {
        (1.0 - t, t)
    } else {
        let angle = cos.acos();
        let sin = angle.sin();
        (((1.0 - t) * angle).sin() / sin, (t * angle).sin() / sin)
    };
    std::array::from_fn(|i| a[i] * from + b[i] * to)
}

/// How a rig writes rotations as three angles: about `order[0]` first, then `order[1]`, then `order[2]`, fixed parent axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::orl) struct Euler {
    order: [usize; 3],
    /// +1 for an even permutation of x, y, z, -1 for an odd one.
    parity: f32,
    signs: [f32; 3],
    degrees: bool,
}

impl Euler {
    #[cfg(test)]
    pub(in crate::orl) const XYZ_DEGREES: Euler =
        Euler { order: [0, 1, 2], parity: 1.0, signs: [1.0; 3], degrees: true };

    pub(in crate::orl) fn new(order: [usize; 3], signs: [f32; 3], degrees: bool) -> Euler {
        let even = (order[0] + 1) % 3 == order[1];
        Euler { order, parity: if even { 1.0 } else { -1.0 }, signs, degrees }
    }

    /// The angles of a rig.
    pub(in crate::orl) fn of(dna: &Dna) -> Euler {
        let conventions = &dna.conventions;
        let signs = conventions.rotation_signs.map(|sign| sign as f32);
        let degrees = dna.descriptor.rotation_unit == RotationUnit::Degrees;
        Euler::new(ORDERS[conventions.rotation_sequence as usize], signs, degrees)
    }

    pub(in crate::orl) fn is_degrees(self) -> bool {
        self.degrees
    }

    /// An angle in the rig's unit, as radians.
    pub(super) fn radians(self, angle: f32) -> f32 {
        if self.degrees { angle * RADIANS_PER_DEGREE } else { angle }
    }

    pub(in crate::orl) fn quaternion(self, angles: [f32; 3]) -> [f32; 4] {
        let about = |axis: usize| {
            let half = self.radians(angles[axis] * self.signs[axis]) * 0.5;
            let mut q = [0.0, 0.0, 0.0, half.cos()];
            q[axis] = half.sin();
            q
        };
        let [i, j, k] = self.order;
        multiply(about(k), multiply(about(j), about(i)))
    }

    pub(super) fn angles(self, q: [f32; 4]) -> [f32; 3] {
        let ([i, j, k], e, m) = (self.order, self.parity, matrix(q));
        let mut angles = [0.0; 3];
        angles[j] = polynomial_asin(-e * m[i][k]);
        // At the poles of the middle axis the first angle is free: it is 0, and the last one takes the whole turn.
        if m[i][k].abs() >= 1.0 {
            angles[k] = (-e * m[j][i]).atan2(m[j][j]);
        } else {
            angles[i] = (e * m[j][k]).atan2(m[k][k]);
            angles[k] = (e * m[i][j]).atan2(m[i][i]);
        }
        std::array::from_fn(|axis| {
            let angle = angles[axis] * self.signs[axis];
            if self.degrees { angle * DEGREES_PER_RADIAN } else { angle }
        })
    }
}

/// The row-vector matrix of `q`, which is not renormalised.
fn matrix([x, y, z, w]: [f32; 4]) -> [[f32; 3]; 3] {
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)],
        [2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)],
        [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

/// The reference's arc sine: 4.3e-8 from the exact one, and as ill-conditioned near ±1, where only the same form agrees with it.
fn polynomial_asin(v: f32) -> f32 {
    #[expect(clippy::excessive_precision, reason = "the digits that the reference has")]
    const COEFFICIENTS: [f32; 8] = [
        -0.001_262_491_1,
        0.006_670_090_1,
        -0.017_088_125_6,
        0.030_891_881,
        -0.050_174_304_6,
        0.088_978_987_4,
        -0.214_598_801_6,
        1.570_796_305,
    ];
    let a = v.abs();
    let p = COEFFICIENTS.iter().fold(0.0, |p, c| p * a + c);
    let rest = 1.0 - a;
    let asin = COEFFICIENTS[7] - p * if rest < 0.0 { 0.0 } else { rest.sqrt() };
    if v < 0.0 { -asin } else { asin }
}

#[cfg(test)]
mod tests {
    use super::*;

    const XYZ: [usize; 3] = [0, 1, 2];
    const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;

    fn close<const N: usize>(a: [f32; N], b: [f32; N], tolerance: f32) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance), "{a:?} against {b:?}");
    }

    #[test]
    fn euler_two_quarter_turns_apply_the_first_axis_first() {
        // Hand: q_y * q_x of two quarter turns = (1/2, 1/2, -1/2, 1/2); reversed, the z component changes its sign.
        close(Euler::new(XYZ, [1.0; 3], true).quaternion([90.0, 90.0, 0.0]), [0.5, 0.5, -0.5, 0.5], 1e-6);
        close(Euler::new([1, 0, 2], [1.0; 3], true).quaternion([90.0, 90.0, 0.0]), [0.5, 0.5, 0.5, 0.5], 1e-6);
    }

    #[test]
    fn euler_negative_sign_turns_the_other_way() {
        close(Euler::new(XYZ, [1.0, -1.0, 1.0], true).quaternion([0.0, 90.0, 0.0]), [0.0, -HALF, 0.0, HALF], 1e-6);
    }

    #[test]
    fn euler_all_sequences_and_signs_come_back() {
        for order in ORDERS {
            for signs in [[1.0; 3], [1.0, -1.0, 1.0], [-1.0, -1.0, -1.0]] {
                for (degrees, angles, tolerance) in [(true, [25.0, -40.0, 65.0], 2e-5), (false, [0.3, -0.7, 1.1], 1e-6)]
                {
                    let euler = Euler::new(order, signs, degrees);
                    close(euler.angles(euler.quaternion(angles)), angles, tolerance);
                }
            }
        }
    }

    #[test]
    fn euler_at_the_pole_gives_the_whole_turn_to_the_last_axis() {
        // A quarter turn about y alone, with components that make M[0][2] exactly -1: 2(xz - wy) = -2 * 1 * 0.5.
        let euler = Euler::new(XYZ, [1.0; 3], true);
        let [x, y, z] = euler.angles([0.0, 0.5, 0.0, 1.0]);
        assert_eq!(x, 0.0);
        close([y], [90.0], 1e-4);
        // M[1][0] = 0, M[1][1] = 1.
        assert_eq!(z, 0.0);
        // x = z = 0.5 with w = -y: M[0][2] = 2(xz - wy) = 1, M[1][0] = 2(xy - wz), M[1][1] = 1 - 2(xx + zz) = 0.
        let [x, y, z] = euler.angles([0.5, 0.5, 0.5, -0.5]);
        close([x, y, z], [0.0, -90.0, -90.0], 1e-3);
    }

    #[test]
    fn slerp_takes_the_shorter_arc_and_its_weights() {
        let quarter = [HALF, 0.0, 0.0, HALF];
        let eighth = [22.5_f32.to_radians().sin(), 0.0, 0.0, 22.5_f32.to_radians().cos()];
        close(slerp(quarter, IDENTITY, 0.5), eighth, 1e-6);
        close(slerp(IDENTITY, quarter.map(|c| -c), 0.5), eighth, 1e-6);
        close(slerp(quarter, IDENTITY, 1.0), IDENTITY, 1e-6);
        close(slerp(IDENTITY, [1e-5, 0.0, 0.0, 1.0], 0.5), [5e-6, 0.0, 0.0, 1.0], 0.0);
    }

    #[test]
    fn inverse_of_an_unnormalised_quaternion_undoes_it() {
        let q = [1.0, 2.0, -3.0, 4.0];
        close(multiply(q, inverse(q)), IDENTITY, 1e-6);
    }
}
