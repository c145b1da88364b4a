//! Dual-quaternion skinning, from the same influences and skin rows as linear blending: the CPU twin of `lbs_dual_*` in `lbs_common.wgsl`.
//!
//! The law: a skin row `L p + t` is taken apart as `L = R S`. `R` is a rotation: its x axis lies along the first column of `L`, its y axis in
//! the plane of the first two, its z axis at right angles to both; `S`, the stretch, is all that `R` leaves over: scale, shear, and the
//! mirror of a matrix that mirrors. A matrix whose first two columns span no plane has no rotation of its own: `R` is the identity.
//!
//! A vertex `p` is stretched first, linearly: `s = (sum_i w_i S_i) p`. Then the rigid parts `(R_i, t_i)` are blended as dual quaternions, each
//! in the hemisphere of the influence that weighs most (the first of equals), and the normalised blend carries `s`. Directions follow with
//! the rotation of the blend times the blended stretch. Nothing is remembered from one frame to the next. Of rotations half a turn apart
//! neither side is nearer: they meet on the way about the axis whose first coordinate beyond one half is positive.
//!
//! The blend is computed as `x = c + vec(sum_i w_i (x_i - c) q_i * conj(b)) / |b|^2` with `b = sum_i w_i q_i`, `x_i = R_i s + t_i` and any
//! point `c`: dual quaternions whose origin is moved to `s`. The heaviest influence's `x_i` as `c` keeps small differences small, wherever
//! the origin lies. `b` is as long as the greatest weight at least, to 1e-4, since every `q_i` is in that one's hemisphere: there is no pose
//! for which the blend vanishes.

use super::{Influence, lbs_linear, lbs_skin};
use crate::math::Rows;
use glam::{DMat3, DQuat, DVec3};

/// A skin row taken apart: `p -> rotation * (stretch * p) + translation`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowParts {
    /// `R`: proper, also where the row mirrors.
    pub rotation: DMat3,
    /// `S`.
    pub stretch: DMat3,
    /// `t`.
    pub translation: DVec3,
}

/// The square of the sine of the smallest angle between two columns that are not taken for parallel.
const LEAST_SQUARED_SINE: f64 = 1e-6;

impl RowParts {
    /// Takes a row apart.
    #[must_use]
    pub fn new(rows: &Rows) -> RowParts {
        let column = |i: usize| DVec3::new(rows[0][i].into(), rows[1][i].into(), rows[2][i].into());
        let linear = DMat3::from_cols(column(0), column(1), column(2));
        let x = column(0).normalize_or_zero();
        let across = x.cross(column(1).normalize_or_zero());
        let rotation = if across.length_squared() > LEAST_SQUARED_SINE {
            let z = across.normalize();
            DMat3::from_cols(x, z.cross(x), z)
        } else {
            DMat3::IDENTITY
        };
        RowParts { rotation, stretch: rotation.transpose() * linear, translation: column(3) }
    }

    /// The rotation again: of the two quaternions that are it, either.
    #[must_use]
    pub fn quaternion(&self) -> DQuat {
        DQuat::from_mat3(&self.rotation)
    }
}

/// The point that dual quaternions make of `p`; of a vertex that one row holds, [`lbs_skin`]'s.
///
/// # Shapes
/// skin_rows: (J, 3, 4) of one instance
#[must_use]
pub fn lbs_dual_skin(influences: &[Influence], skin_rows: &[Rows], p: DVec3) -> DVec3 {
    let Some(heaviest) = heaviest(influences) else { return lbs_skin(influences, skin_rows, p) };
    let stretched = blended_stretch(influences, skin_rows) * p;
    let center = RowParts::new(&skin_rows[heaviest.joint as usize]);
    let carried = |parts: &RowParts| parts.rotation * stretched + parts.translation;
    let (at, near) = (carried(&center), center.quaternion());
    let mut moved = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let mut blend = moved;
    for influence in influences {
        let parts = RowParts::new(&skin_rows[influence.joint as usize]);
        let q = nearer(parts.quaternion(), near) * f64::from(influence.weight);
        blend += q;
        moved += DQuat::from_vec4((carried(&parts) - at).extend(0.0)) * q;
    }
    at + (moved * blend.conjugate()).xyz() / blend.length_squared()
}

/// What directions are multiplied by: the blended rotation times the blended stretch; of a vertex that one row holds, [`lbs_linear`]'s.
///
/// # Shapes
/// skin_rows: (J, 3, 4) of one instance
#[must_use]
pub fn lbs_dual_linear(influences: &[Influence], skin_rows: &[Rows]) -> DMat3 {
    let Some(heaviest) = heaviest(influences) else { return lbs_linear(influences, skin_rows) };
    let quaternion = |i: &Influence| RowParts::new(&skin_rows[i.joint as usize]).quaternion();
    let weighted = influences.iter().map(|i| (f64::from(i.weight), quaternion(i)));
    let blend = blended_rotation(weighted, quaternion(heaviest));
    DMat3::from_quat(blend) * blended_stretch(influences, skin_rows)
}

/// The influence that weighs most, the first of equals; none where there is nothing to blend.
fn heaviest(influences: &[Influence]) -> Option<&Influence> {
    let (first, others) = influences.split_first().filter(|(_, others)| !others.is_empty())?;
    Some(others.iter().fold(first, |most, other| if other.weight > most.weight { other } else { most }))
}

fn blended_stretch(influences: &[Influence], skin_rows: &[Rows]) -> DMat3 {
    influences.iter().map(|i| f64::from(i.weight) * RowParts::new(&skin_rows[i.joint as usize]).stretch).sum()
}

/// The rotation between weighted ones, each taken by the quaternion that lies in the hemisphere of `center`.
#[must_use]
pub fn blended_rotation(weighted: impl IntoIterator<Item = (f64, DQuat)>, center: DQuat) -> DQuat {
    let zero = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    weighted.into_iter().fold(zero, |sum, (weight, q)| sum + nearer(q, center) * weight).normalize()
}

/// Cosines below this are those of rotations half a turn apart: rounding decides their sign, and devices round differently.
pub(crate) const OPPOSED: f64 = 1e-4;

/// Of a rotation's two quaternions the one in the hemisphere of another.
fn nearer(q: DQuat, center: DQuat) -> DQuat {
    let cosine = q.dot(center);
    let side = if cosine.abs() < OPPOSED {
        let axis = (q * center.conjugate()).xyz();
        let long = if axis.y.abs() > 0.5 { axis.y } else { axis.z };
        if axis.x.abs() > 0.5 { axis.x } else { long }
    } else {
        cosine
    };
    if side < 0.0 { -q } else { q }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;
    use glam::DAffine3;

    fn rows(linear: DMat3, translation: DVec3) -> Rows {
        math::rows(&DAffine3 { matrix3: linear, translation })
    }

    fn turn_z(degrees: f64) -> DMat3 {
        DMat3::from_rotation_z(degrees.to_radians())
    }

    fn held(weights: &[f32]) -> Vec<Influence> {
        (0..).zip(weights).map(|(joint, &weight)| Influence { joint, weight }).collect()
    }

    #[track_caller]
    fn assert_near(got: DVec3, want: DVec3) {
        assert!(got.distance(want) < 1e-6 * want.length().max(1.0), "{got}, expected {want}");
    }

    const P: DVec3 = DVec3::new(0.7, -0.2, 1.3);

    /// Turned and moved any way, by some formula.
    fn rigid(i: usize) -> (DQuat, DVec3) {
        let x = i as f64;
        let axis = DVec3::new((1.3 * x).sin(), (2.1 * x + 1.0).cos(), (0.7 * x + 2.0).sin()).normalize();
        (DQuat::from_axis_angle(axis, 0.4 * x), DVec3::new(x.cos(), 3.0 - x, (2.0 * x).sin()))
    }

    #[test]
    fn quaternions_of_one_rotation_blend_to_it_whatever_their_signs() {
        let q = DQuat::from_rotation_z(20_f64.to_radians());
        for pair in [[q, q], [q, -q], [-q, q], [-q, -q]] {
            let blend = blended_rotation(pair.map(|q| (0.5, q)), pair[0]);
            assert!((blend * DVec3::X).distance(q * DVec3::X) < 1e-12, "{pair:?} gave {blend}");
        }
    }

    #[test]
    fn rotations_meet_on_the_near_side() {
        for (a, b, between) in [(170.0, -170.0, 180.0), (350.0, 10.0, 0.0), (-30.0, 40.0, 5.0)] {
            let skin = [rows(turn_z(a), DVec3::ZERO), rows(turn_z(b), DVec3::ZERO)];
            assert_near(lbs_dual_skin(&held(&[0.5, 0.5]), &skin, P), turn_z(between) * P);
        }
    }

    #[test]
    fn point_equals_that_of_dual_quaternions_with_dual_parts() {
        let weights = [0.2, 0.45, 0.35];
        for start in 0..12 {
            let parts: Vec<(DQuat, DVec3)> = (start..start + 3).map(rigid).collect();
            let skin: Vec<Rows> = parts.iter().map(|(q, t)| rows(DMat3::from_quat(*q), *t)).collect();
            let (mut real, mut dual) = (DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0));
            for ((q, t), weight) in parts.iter().zip(weights) {
                let q = nearer(*q, parts[1].0) * f64::from(weight);
                real += q;
                dual += DQuat::from_vec4(t.extend(0.0)) * q * 0.5;
            }
            let (length, conjugate) = (real.length(), real.conjugate());
            let translation = (dual * conjugate).xyz() * 2.0 / (length * length);
            let want = (real * (1.0 / length)) * P + translation;
            assert_near(lbs_dual_skin(&held(&weights), &skin, P), want);
            let direction = lbs_dual_linear(&held(&weights), &skin) * P;
            assert_near(direction, (real * (1.0 / length)) * P);
        }
    }

    #[test]
    fn one_row_or_equal_rows_are_linear() {
        let sheared =
            DMat3::from_cols(DVec3::new(2.0, 0.3, 0.0), DVec3::new(0.5, -1.0, 0.2), DVec3::new(0.0, 0.4, 3.0));
        for linear in [turn_z(50.0), turn_z(50.0) * 0.01, sheared, -sheared, DMat3::ZERO] {
            let skin = [rows(linear, DVec3::new(5.0, -3.0, 0.1)); 3];
            assert_eq!(lbs_dual_skin(&held(&[1.0]), &skin, P), lbs_skin(&held(&[1.0]), &skin, P));
            assert_eq!(lbs_dual_linear(&held(&[1.0]), &skin), lbs_linear(&held(&[1.0]), &skin));
            let three = held(&[0.25, 0.5, 0.25]);
            assert_near(lbs_dual_skin(&three, &skin, P), lbs_skin(&three, &skin, P));
            assert_near(lbs_dual_linear(&three, &skin) * P, lbs_linear(&three, &skin) * P);
        }
    }

    #[test]
    fn twist_keeps_the_radius_that_linear_blending_loses() {
        let half = held(&[0.5, 0.5]);
        for (twist, kept) in [(90.0, 0.7072), (150.0, 0.2589), (180.0, 1e-7)] {
            let skin = [rows(DMat3::IDENTITY, DVec3::ZERO), rows(turn_z(twist), DVec3::new(0.0, 0.0, 0.5))];
            let radius = |p: DVec3| p.truncate().length();
            assert!(radius(lbs_skin(&half, &skin, P)) <= kept * radius(P));
            let dual = lbs_dual_skin(&half, &skin, P);
            assert!((radius(dual) - radius(P)).abs() < 1e-6, "{twist} degrees: {}", radius(dual));
            assert!((dual.z - P.z - 0.25).abs() < 1e-6, "screws move along their axis");
            assert_near(dual, turn_z(twist / 2.0) * P + DVec3::Z * 0.25);
        }
    }

    #[test]
    fn stretches_blend_linearly_and_first() {
        let half = held(&[0.5, 0.5]);
        let (bend, scale) = (turn_z(60.0), |s: [f64; 3]| DMat3::from_diagonal(s.into()));
        let skin = [rows(scale([2.0; 3]), DVec3::ZERO), rows(bend * scale([1.0, 4.0, 6.0]), DVec3::ZERO)];
        let stretched = DVec3::new(1.5, 3.0, 4.0) * P;
        assert_near(lbs_dual_skin(&half, &skin, P), turn_z(30.0) * stretched);
        assert_near(lbs_dual_linear(&half, &skin) * P, turn_z(30.0) * stretched);
        // What mirrors a whole rig mirrors what comes out.
        let mirror = scale([-1.0, 1.0, 1.0]);
        let rigid = [DMat3::IDENTITY, bend].map(|m| rows(m, DVec3::X));
        let mirrored = [DMat3::IDENTITY, bend].map(|m| rows(mirror * m, mirror * DVec3::X));
        assert_near(lbs_dual_skin(&half, &mirrored, P), mirror * lbs_dual_skin(&half, &rigid, P));
        assert!(lbs_dual_linear(&half, &mirrored).determinant() < 0.0);
    }

    #[test]
    fn parts_of_any_row_make_it_again() {
        let flat = DMat3::from_cols(DVec3::X, DVec3::X * 2.0, DVec3::Z);
        let linears = [
            turn_z(33.0) * DMat3::from_diagonal(DVec3::new(3.0, 0.1, 2.0)),
            DMat3::from_diagonal(DVec3::new(1.0, -1.0, 1.0)) * turn_z(-120.0),
            DMat3::from_diagonal(DVec3::new(0.0, 1.0, 1.0)),
            DMat3::from_diagonal(DVec3::splat(1e-30)),
            flat,
            DMat3::ZERO,
        ];
        for linear in linears {
            let parts = RowParts::new(&rows(linear, P));
            let off = parts.rotation * parts.stretch - linear;
            assert!(off.to_cols_array().iter().all(|x| x.abs() < 1e-6), "{linear}");
            assert!((parts.rotation.determinant() - 1.0).abs() < 1e-12, "{linear}");
            assert!((DMat3::from_quat(parts.quaternion()) - parts.rotation).abs_diff_eq(DMat3::ZERO, 1e-12));
        }
        assert_eq!(RowParts::new(&rows(flat, P)).rotation, DMat3::IDENTITY);
    }

    #[test]
    fn opposing_rotations_have_a_finite_blend() {
        let opposed = [DQuat::IDENTITY, DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0), DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0)];
        let skin = opposed.map(|q| rows(DMat3::from_quat(q), P));
        for weights in [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.3, 0.3, 0.4]] {
            let point = lbs_dual_skin(&held(&weights), &skin, P);
            assert!(point.is_finite() && (point - P).length() < 1.01 * P.length(), "{weights:?}: {point}");
        }
    }
}
