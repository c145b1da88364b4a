//! The head's four joints: names, places as a function of the vertices, and weights.

use super::anatomy::{NECK, SKULL_BASE, eye_centre, frontness};
use super::curve::{bell, smooth01};
use super::{Component, Head, Side, Tissue};
use glam::{DMat4, DVec3, DVec4, dvec3};

/// The joints' names, parents first.
pub const JOINT_NAMES: [&str; 4] = ["neck", "head", "left_eye", "right_eye"];
/// The joints' parents.
pub const JOINT_PARENTS: [Option<usize>; 4] = [None, Some(0), Some(1), Some(1)];

impl Head {
    /// Weights over the vertices whose weighted mean is the joint, for each of [`JOINT_NAMES`].
    ///
    /// # Shapes     (4, V); each row sums to 1
    #[must_use]
    pub fn joint_regressor(&self) -> [Vec<f64>; 4] {
        let shell = |side: Side| {
            let on_shell = |v: usize| self.tissues[v] == Tissue::EyeShell && self.components[v] == Component::eye(side);
            let weights = self.per_vertex(|v, _| f64::from(on_shell(v)));
            let total: f64 = weights.iter().sum();
            weights.iter().map(|w| w / total).collect()
        };
        [self.ring_around(NECK), self.ring_around(SKULL_BASE), shell(Side::Left), shell(Side::Right)]
    }

    /// Weights on a belt of skin at the height of `target` whose weighted mean is exactly `target`.
    fn ring_around(&self, target: DVec3) -> Vec<f64> {
        let belt = |vertex: usize, p: DVec3| {
            let near = bell(((p - target) * dvec3(0.35, 1.0, 0.35)).length(), 0.012);
            if self.is_outer_skin(vertex) { near } else { 0.0 }
        };
        let mut weights = self.per_vertex(belt);
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total);
        // The least relative change that moves the mean to the target: w += w * (a . (p, 1)), one linear system of four.
        let (mut moments, mut missing) = (DMat4::ZERO, target.extend(1.0));
        for (weight, p) in weights.iter().zip(&self.positions) {
            let p = p.extend(1.0);
            missing -= *weight * p;
            moments += DMat4::from_cols(p * p.x, p * p.y, p * p.z, p * p.w) * *weight;
        }
        let change: DVec4 = moments.inverse() * missing;
        for (weight, p) in weights.iter_mut().zip(&self.positions) {
            *weight += *weight * change.dot(p.extend(1.0));
        }
        weights
    }

    /// The joints' places: the regressor applied to the vertices.
    #[must_use]
    pub fn joint_positions(&self) -> [DVec3; 4] {
        self.joint_regressor().map(|weights| weights.iter().zip(&self.positions).map(|(w, p)| *w * *p).sum())
    }

    /// How much each joint moves each vertex.
    ///
    /// The law: multiples of 1/4096 that sum to exactly 1, at most two of them not zero. The neck fades into the head, the
    /// eyeballs go with their joints, and the lids follow their eyeball a little.
    ///
    /// # Shapes     (4, V), joint-major
    #[must_use]
    pub fn skin_weights(&self) -> [Vec<f32>; 4] {
        const GRID: f64 = 4096.0;
        let rounded = |weight: f64| (weight * GRID).round() / GRID;
        let mut weights = [(); 4].map(|()| vec![0.0_f32; self.vertex_count()]);
        for (vertex, p) in self.positions.iter().enumerate() {
            let eye_joint = |side: Side| if side == Side::Left { 2 } else { 3 };
            match self.components[vertex] {
                Component::LeftEye => weights[2][vertex] = 1.0,
                Component::RightEye => weights[3][vertex] = 1.0,
                _ => {
                    let neck = if self.tissues[vertex] == Tissue::Skin { rounded(neck_share(*p)) } else { 0.0 };
                    let side = Side::of(p.x);
                    let on_lid = neck == 0.0 && self.tissues[vertex] == Tissue::Skin;
                    let lid = if on_lid { rounded(self.lid_share(*p, side)) } else { 0.0 };
                    weights[0][vertex] = neck as f32;
                    weights[1][vertex] = (1.0 - neck - lid) as f32;
                    weights[eye_joint(side)][vertex] = lid as f32;
                }
            }
        }
        weights
    }

    fn lid_share(&self, p: DVec3, side: Side) -> f64 {
        // A coarse head has few vertices near the eye; its lids reach further, so that some follow.
        let reach = (46.0 / self.detail.front as f64).max(1.0).sqrt();
        let d = p - eye_centre(side);
        let share = 0.16 * bell(d.x, 0.0125 * reach) * bell(d.y, 0.0075 * reach) * frontness(p.z);
        if share > 0.01 { share } else { 0.0 }
    }
}

/// The neck's part below a plane that rises towards the chin.
fn neck_share(p: DVec3) -> f64 {
    1.0 - smooth01((p.y - 0.0850 - 0.35 * (p.z.min(0.05) - 0.02)) / 0.0950)
}
