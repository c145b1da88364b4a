//! Conventions over glam: column vectors, row-major files, quaternions named by field.

use glam::{DAffine3, DMat3, DQuat, DVec3};

/// The three rows of an affine transform, as the shaders read a skin row: `out[i] = row[i] . (p, 1)`.
pub type Rows = [[f32; 4]; 3];

/// The f32 rounding that bounds must outlive on either device, relative to the terms that a vertex is summed from: about 2^5 half-ulps.
pub(crate) const F32_ROUNDING: f64 = 2e-6;

/// Narrows a transform to the rows that are uploaded.
#[must_use]
pub fn rows(m: &DAffine3) -> Rows {
    let (r, t) = (m.matrix3, m.translation);
    let row = |i: usize| {
        let axis = r.row(i);
        [axis.x as f32, axis.y as f32, axis.z as f32, t[i] as f32]
    };
    [row(0), row(1), row(2)]
}

/// Applies one skin row triple to a point, in f64.
#[must_use]
pub fn transform(rows: &Rows, p: DVec3) -> DVec3 {
    let row = |r: &[f32; 4]| f64::from(r[0]) * p.x + f64::from(r[1]) * p.y + f64::from(r[2]) * p.z + f64::from(r[3]);
    DVec3::new(row(&rows[0]), row(&rows[1]), row(&rows[2]))
}

/// Reads a row-major 4x4 matrix of column-vector convention; its bottom row is taken to be 0, 0, 0, 1.
#[must_use]
pub fn affine_from_row_major(m: &[f64; 16]) -> DAffine3 {
    DAffine3 {
        matrix3: DMat3::from_cols(
            DVec3::new(m[0], m[4], m[8]),
            DVec3::new(m[1], m[5], m[9]),
            DVec3::new(m[2], m[6], m[10]),
        ),
        translation: DVec3::new(m[3], m[7], m[11]),
    }
}

/// Writes a transform as a row-major 4x4 matrix.
#[must_use]
pub fn row_major_from_affine(a: &DAffine3) -> [f64; 16] {
    let (r, t) = (a.matrix3, a.translation);
    [
        r.x_axis.x, r.y_axis.x, r.z_axis.x, t.x, //
        r.x_axis.y, r.y_axis.y, r.z_axis.y, t.y, //
        r.x_axis.z, r.y_axis.z, r.z_axis.z, t.z, //
        0.0, 0.0, 0.0, 1.0,
    ]
}

/// A quaternion from file order w, x, y, z, as overrides and ORL data have it.
#[must_use]
pub fn quat_from_wxyz(q: [f64; 4]) -> DQuat {
    DQuat::from_xyzw(q[1], q[2], q[3], q[0])
}

/// An axis-aligned box; the box of no points is all zeros.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Aabb {
    /// The least coordinates.
    pub min: [f32; 3],
    /// The greatest coordinates.
    pub max: [f32; 3],
}

impl Aabb {
    /// The tight box around `points`.
    #[must_use]
    pub fn of_points(points: impl IntoIterator<Item = [f32; 3]>) -> Aabb {
        points.into_iter().map(|p| Aabb { min: p, max: p }).reduce(|a, b| a.union(&b)).unwrap_or_default()
    }

    /// The box with these corners, rounded outward to f32.
    #[must_use]
    pub fn outward(min: DVec3, max: DVec3) -> Aabb {
        Aabb { min: min.to_array().map(|x| (x as f32).next_down()), max: max.to_array().map(|x| (x as f32).next_up()) }
    }

    /// The least box that holds both.
    #[must_use]
    pub fn union(&self, other: &Aabb) -> Aabb {
        Aabb {
            min: std::array::from_fn(|i| self.min[i].min(other.min[i])),
            max: std::array::from_fn(|i| self.max[i].max(other.max[i])),
        }
    }

    /// The length of the diagonal, in the unit of the box.
    #[must_use]
    pub fn diagonal(&self) -> f32 {
        let d: [f32; 3] = std::array::from_fn(|i| self.max[i] - self.min[i]);
        d.iter().map(|x| x * x).sum::<f32>().sqrt()
    }

    /// Whether the point lies inside or on the border.
    #[must_use]
    pub fn contains(&self, p: [f32; 3]) -> bool {
        (0..3).all(|i| self.min[i] <= p[i] && p[i] <= self.max[i])
    }
}
