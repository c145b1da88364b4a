//! The CPU reference: twin of gnm_blend.wgsl.

use super::pack::{BasisFormat, GnmPack};
use super::pose::{GnmPose, Stage};
use crate::lbs;
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::ops::Range;

/// The vertices of one instance: up to gaze head-local (`Forward`), or posed in output space (`Pose`), in the pack's unit.
///
/// `p = neutral + sum_c coefficient_c * entry_c`, then `p += w_e * (R_e r - r)` with `r = p - eye_e`, the left eye first; `Pose` adds the
/// seam and skins. The deltas are summed apart and the neutral is added last. A coefficient of zero reads nothing.
///
/// # Shapes
/// result: (V, 3)
///
/// # Accuracy
/// f64 throughout, from the f32 values that the shader reads; each coordinate is rounded to f32 once.
#[must_use]
pub fn gnm_blend(pack: &GnmPack, pose: &GnmPose, stage: Stage) -> Vec<[f32; 3]> {
    let deltas = Deltas::new(pack, pose.coefficients());
    let [left, right] = eyes(pack, pose);
    (0..pack.vertex_count())
        .into_par_iter()
        .with_min_len(64)
        .map_init(Scratch::default, |scratch, vertex| {
            let mut p = as_dvec3(pack.neutral()[vertex]) + deltas.sum(vertex, scratch);
            p = left.turn(vertex, p);
            p = right.turn(vertex, p);
            if stage == Stage::Pose {
                p += pack.seam().map_or(DVec3::ZERO, |seam| as_dvec3(seam[vertex]));
                p = lbs::lbs_skin(pack.influences().row(vertex), pose.skin_rows(), p);
            }
            p.as_vec3().to_array()
        })
        .collect()
}

/// The expression part of one instance.
struct Deltas<'a> {
    format: BasisFormat,
    basis: &'a [u8],
    coefficient_count: usize,
    /// Where the coefficients that are not zero stand: ranges, each contiguous in every vertex's basis row.
    active: Vec<Range<usize>>,
    /// Their values, one range after another.
    values: Vec<f64>,
}

/// Memory that one thread sums its vertices in.
#[derive(Default)]
struct Scratch {
    stored: Vec<u8>,
    entries: Vec<[f32; 3]>,
}

impl Deltas<'_> {
    fn new<'a>(pack: &'a GnmPack, coefficients: &[f32]) -> Deltas<'a> {
        let mut active: Vec<Range<usize>> = Vec::new();
        let mut values = Vec::new();
        for (c, &value) in coefficients.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            values.push(f64::from(value));
            match active.last_mut() {
                Some(range) if range.end == c => range.end = c + 1,
                _ => active.push(c..c + 1),
            }
        }
        let (format, basis) = (pack.basis_format(), pack.basis_bytes());
        Deltas { format, basis, coefficient_count: coefficients.len(), active, values }
    }

    /// The sum of one vertex's basis entries times their coefficients.
    fn sum(&self, vertex: usize, scratch: &mut Scratch) -> DVec3 {
        let row_bytes = self.coefficient_count * self.format.entry_bytes();
        let row = &self.basis[vertex * row_bytes..][..row_bytes];
        // Gathered first: a row is kilobytes long, and its cache misses then overlap.
        scratch.stored.clear();
        for range in &self.active {
            let bytes = range.start * self.format.entry_bytes()..range.end * self.format.entry_bytes();
            scratch.stored.extend_from_slice(&row[bytes]);
        }
        self.format.decode(&scratch.stored, 0..self.values.len(), &mut scratch.entries);
        let products = self.values.iter().zip(&scratch.entries).map(|(&value, &entry)| value * as_dvec3(entry));
        products.sum()
    }
}

/// One eye of one instance, as the stage reads it.
struct Eye<'a> {
    centre: DVec3,
    axis: DVec3,
    w: f64,
    weights: &'a [f32],
}

fn eyes<'a>(pack: &'a GnmPack, pose: &GnmPose) -> [Eye<'a>; 2] {
    [0, 1].map(|eye| {
        let [x, y, z, w] = pose.eye_rotations()[eye].map(f64::from);
        let centre = as_dvec3(pack.eye_positions()[eye]);
        Eye { centre, axis: DVec3::new(x, y, z), w, weights: pack.eye_weights()[eye] }
    })
}

impl Eye<'_> {
    /// `p + weight * (R r - r)`, where `R r - r = w t + axis x t` with `t = 2 axis x r`.
    fn turn(&self, vertex: usize, p: DVec3) -> DVec3 {
        let t = 2.0 * self.axis.cross(p - self.centre);
        p + f64::from(self.weights[vertex]) * (self.w * t + self.axis.cross(t))
    }
}

fn as_dvec3(p: [f32; 3]) -> DVec3 {
    Vec3::from(p).as_dvec3()
}
