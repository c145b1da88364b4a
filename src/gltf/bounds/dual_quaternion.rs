//! The boxes of clusters under dual-quaternion skinning, which leaves the hull of what single rows make of a vertex.
//!
//! The law, in the terms of [`crate::lbs::dual_quaternion`]: let `g_i = q_i conj(b) / |b|^2`, so that `sum_i w_i g_i = 1`, and let `r` be the
//! largest `|x_i - c|` for any `c`. The vertex lies off the average `l = sum_i w_i x_i`, which is in the hull, by
//! `sum_i w_i vec((x_i - c) (g_i - 1))`. Since `|g_i - 1| = |q_i - b| / |b|` and, by Cauchy and Schwarz,
//! `sum_i w_i |q_i - b| <= sqrt(sum_i w_i |q_i - b|^2) = sqrt(1 - |b|^2)`, it is off by no more than `r sqrt(1 - |b|^2) / |b|`.
//!
//! `|b|` is at least its product with the heaviest influence's quaternion, `w_m + sum_{i != m} w_i |q_i . q_m|`, and so at least
//! `d + (1 - d) w` where `d` is the least `|q_i . q_j|` of all rows of the cluster, which for opposed ones may be a little below zero, and
//! `w` the least of its vertices' greatest weights.

use super::{Cluster, Interval, SLACK, carried};
use crate::lbs::dual_quaternion::{OPPOSED, RowParts};
use crate::math::Rows;
use glam::{DQuat, DVec3};

/// A skin row, taken apart once for all clusters.
pub(super) struct Carrier {
    parts: RowParts,
    quaternion: DQuat,
}

impl Carrier {
    pub(super) fn new(rows: &Rows) -> Carrier {
        let parts = RowParts::new(rows);
        Carrier { parts, quaternion: parts.quaternion() }
    }
}

/// The box around a cluster, grown by its targets, that its rows have carried away.
pub(super) fn hull(cluster: &Cluster, grown: &Interval, carriers: &[Carrier]) -> Interval {
    let rows = || cluster.rows.iter().map(|&row| &carriers[row as usize]);
    let stretched = rows().map(|c| carried(grown, &c.parts.stretch, DVec3::ZERO)).reduce(|a, b| a.union(&b));
    let (Some(stretched), Some(first)) = (stretched, rows().next()) else { return Interval::NOTHING };
    let boxes = rows().map(|c| carried(&stretched, &c.parts.rotation, c.parts.translation));
    let hull = boxes.fold(Interval::NOTHING, |a, b| a.union(&b));
    // The first row's answer for a vertex stands for `c`.
    let radius = rows().map(|c| {
        let rotation = c.parts.rotation - first.parts.rotation;
        carried(&stretched, &rotation, c.parts.translation - first.parts.translation).reach()
    });
    let radius = radius.fold(0.0, f64::max);
    let shift = rows().map(|c| c.parts.translation.length()).fold(0.0, f64::max);
    let pad = radius * overshoot(cluster, carriers) + f64::from(SLACK) * (stretched.reach() + shift);
    Interval { low: hull.low - pad, high: hull.high + pad }
}

/// `sqrt(1 - |b|^2) / |b|` for the shortest blend that the cluster's rows may have.
fn overshoot(cluster: &Cluster, carriers: &[Carrier]) -> f64 {
    let quaternion = |row: &u32| carriers[*row as usize].quaternion;
    let pairs = cluster.rows.iter().enumerate().flat_map(|(i, a)| cluster.rows[..i].iter().map(move |b| (a, b)));
    let alike = pairs.map(|(a, b)| quaternion(a).dot(quaternion(b)).abs()).fold(1.0, f64::min);
    let alike = if alike < OPPOSED { -OPPOSED } else { alike };
    let shortest = alike + (1.0 - alike) * cluster.least_hold;
    (1.0 - shortest * shortest).max(0.0).sqrt() / shortest
}
