//! Skinning: the influence table that every rig uploads, and the CPU twin of `lbs_common.wgsl`.

pub mod dual_quaternion;

use crate::math::{self, Rows};
use dual_quaternion::{lbs_dual_linear, lbs_dual_skin};
use glam::{DMat3, DVec3};

/// How a vertex follows several rows at once; one that a single row holds follows it either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Skinning {
    /// The weighted sum of what each row makes of it: what files are made for; a joint that twists far loses volume.
    #[default]
    Linear,
    /// Rotations blended as rotations, stretches linearly: volume is kept, and a bend bulges a little. The law: [`dual_quaternion`].
    DualQuaternion,
}

impl Skinning {
    /// The skinned point.
    ///
    /// # Shapes
    /// skin_rows: (J, 3, 4) of one instance
    #[must_use]
    pub fn point(self, influences: &[Influence], skin_rows: &[Rows], p: DVec3) -> DVec3 {
        match self {
            Skinning::Linear => lbs_skin(influences, skin_rows, p),
            Skinning::DualQuaternion => lbs_dual_skin(influences, skin_rows, p),
        }
    }

    /// What it multiplies points by, for directions.
    ///
    /// # Shapes
    /// skin_rows: (J, 3, 4) of one instance
    #[must_use]
    pub fn linear(self, influences: &[Influence], skin_rows: &[Rows]) -> DMat3 {
        match self {
            Skinning::Linear => lbs_linear(influences, skin_rows),
            Skinning::DualQuaternion => lbs_dual_linear(influences, skin_rows),
        }
    }
}

/// One joint's hold on one vertex.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Influence {
    /// Joint index.
    pub joint: u32,
    /// Weight, used as stored: nothing renormalises it here.
    pub weight: f32,
}

/// Which joints hold which vertices: rows of any length, one per vertex.
///
/// A lane of weight zero is dropped when the table is built, so its joint index is never read.
#[derive(Debug, Clone, PartialEq)]
pub struct Influences {
    /// Row `v` is `entries[offsets[v]..offsets[v + 1]]`; (V + 1).
    pub offsets: Vec<u32>,
    /// The influences of all rows, one after another.
    pub entries: Vec<Influence>,
}

impl Influences {
    /// Builds the table from padded lanes.
    ///
    /// # Shapes
    /// joints, weights: (V, K), `lanes` = K
    #[must_use]
    pub fn from_lanes(joints: &[u32], weights: &[f32], lanes: usize) -> Influences {
        assert_eq!(joints.len(), weights.len(), "joint and weight lanes differ");
        let mut offsets = vec![0];
        let mut entries = Vec::new();
        for (j, w) in joints.chunks_exact(lanes.max(1)).zip(weights.chunks_exact(lanes.max(1))) {
            let used = j.iter().zip(w).filter(|(_, weight)| **weight != 0.0);
            entries.extend(used.map(|(&joint, &weight)| Influence { joint, weight }));
            offsets.push(entries.len() as u32);
        }
        Influences { offsets, entries }
    }

    /// The influences of one vertex.
    #[must_use]
    pub fn row(&self, vertex: usize) -> &[Influence] {
        &self.entries[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
    }

    /// V.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The same rows in another order: row `i` of the result is row `order[i]` of this table.
    #[must_use]
    pub fn permuted(&self, order: &[u32]) -> Influences {
        let mut offsets = vec![0];
        let mut entries = Vec::with_capacity(self.entries.len());
        for &vertex in order {
            entries.extend_from_slice(self.row(vertex as usize));
            offsets.push(entries.len() as u32);
        }
        Influences { offsets, entries }
    }
}

/// The skinned point: `sum_k w_k (rows[joint_k] . (p, 1))`, lanes in table order.
///
/// # Shapes
/// skin_rows: (J, 3, 4) of one instance
#[must_use]
pub fn lbs_skin(influences: &[Influence], skin_rows: &[Rows], p: DVec3) -> DVec3 {
    influences.iter().map(|i| f64::from(i.weight) * math::transform(&skin_rows[i.joint as usize], p)).sum()
}

/// What [`lbs_skin`] multiplies the point by: the linear part of the weighted sum of the rows, for directions.
///
/// # Shapes
/// skin_rows: (J, 3, 4) of one instance
#[must_use]
pub fn lbs_linear(influences: &[Influence], skin_rows: &[Rows]) -> DMat3 {
    let term = |i: &Influence| {
        let row = |r: &[f32; 4]| DVec3::new(r[0].into(), r[1].into(), r[2].into());
        let [x, y, z] = skin_rows[i.joint as usize].each_ref().map(row);
        DMat3::from_cols(x, y, z).transpose() * f64::from(i.weight)
    };
    influences.iter().map(term).sum()
}
