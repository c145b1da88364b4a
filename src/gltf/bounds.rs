//! Conservative bounds of a pose, from boxes around small clusters of vertices: no vertex is touched.

mod dual_quaternion;

use super::mesh::GltfMesh;
use super::pose::GltfPose;
use crate::lbs::Skinning;
use crate::math::{Aabb, Rows};
use dual_quaternion::Carrier;
use glam::{DMat3, DVec3};
use std::collections::BTreeMap;

/// An interval per axis.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Interval {
    low: DVec3,
    high: DVec3,
}

impl Interval {
    const NOTHING: Interval = Interval { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    fn include(&mut self, p: DVec3) {
        self.low = self.low.min(p);
        self.high = self.high.max(p);
    }

    fn union(&self, other: &Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The distance from the origin that no point of it exceeds.
    fn reach(&self) -> f64 {
        self.low.abs().max(self.high.abs()).length()
    }
}

/// Neighbouring vertices of one part that mostly follow the same row, in mesh space.
#[derive(Debug, Clone, PartialEq)]
struct Cluster {
    /// Every row that has a hold on any of them.
    rows: Vec<u32>,
    /// The least of their greatest weights.
    least_hold: f64,
    /// The vertices, unmorphed.
    base: Interval,
    /// By target: what it adds to any of them at weight 1.
    deltas: Vec<(usize, Interval)>,
}

/// The boxes of a mesh; instances share them.
#[derive(Debug, Clone, PartialEq)]
pub struct GltfBounds {
    clusters: Vec<Cluster>,
}

/// Small meshes are measured vertex by vertex, and no mesh by more than about twice as many clusters.
const CLUSTERS: usize = 512;
const MAX_CLUSTER_VERTICES: usize = 32;

impl GltfBounds {
    /// Sorts the vertices into clusters and measures how far every target may move each.
    #[must_use]
    pub fn new(mesh: &GltfMesh) -> GltfBounds {
        let most = (mesh.vertex_count() / CLUSTERS).clamp(1, MAX_CLUSTER_VERTICES);
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for part in mesh.parts() {
            let mut vertices: Vec<u32> = part.vertices.clone().map(|v| v as u32).collect();
            vertices.sort_by_key(|&v| strongest_row(mesh, v));
            for held in vertices.chunk_by_mut(|a, b| strongest_row(mesh, *a) == strongest_row(mesh, *b)) {
                split(mesh.positions(), held, most, &mut groups);
            }
        }
        let mut cluster_of = vec![0; mesh.vertex_count()];
        for (cluster, group) in groups.iter().enumerate() {
            group.iter().for_each(|&v| cluster_of[v as usize] = cluster);
        }
        let mut clusters: Vec<Cluster> = groups.iter().map(|group| Cluster::new(mesh, group)).collect();
        for (index, target) in mesh.position_targets().iter().enumerate() {
            let mut moved: BTreeMap<usize, (Interval, usize)> = BTreeMap::new();
            for (&vertex, delta) in target.vertices.iter().zip(&target.deltas) {
                let (interval, count) = moved.entry(cluster_of[vertex as usize]).or_insert((Interval::NOTHING, 0));
                interval.include(DVec3::from(delta.map(f64::from)));
                *count += 1;
            }
            for (cluster, (mut interval, count)) in moved {
                // A vertex that the target leaves alone stays where it is.
                if count < groups[cluster].len() {
                    interval.include(DVec3::ZERO);
                }
                clusters[cluster].deltas.push((index, interval));
            }
        }
        GltfBounds { clusters }
    }

    /// A box that holds every vertex of the pose, in its output space; all zeros for a mesh without vertices.
    ///
    /// The law: a vertex is an average of what its rows make of it, so it lies in the hull of their boxes. Each is a cluster's box, grown by
    /// the sum of all targets' intervals times their weights, and carried by a row. Dual quaternions leave that hull by a distance that the
    /// rotations and the boxes bound; where all rows turn alike, by none.
    ///
    /// # Accuracy
    /// Never smaller than the exact box, also where a device sums in f32: grown by [`SLACK`] of the largest coordinate.
    #[must_use]
    pub fn of_pose(&self, pose: &GltfPose) -> Aabb {
        let weights = pose.morph_weights();
        let carriers: Vec<Carrier> = match pose.skinning() {
            Skinning::Linear => Vec::new(),
            Skinning::DualQuaternion => pose.skin_rows().iter().map(Carrier::new).collect(),
        };
        let boxes = self.clusters.iter().map(|cluster| {
            let grown = cluster.grown(weights);
            match pose.skinning() {
                Skinning::DualQuaternion if cluster.least_hold < 1.0 => {
                    dual_quaternion::hull(cluster, &grown, &carriers)
                }
                _ => cluster.hull(&grown, pose.skin_rows()),
            }
        });
        let Some(all) = boxes.reduce(|a, b| a.union(&b)) else { return Aabb::default() };
        let slack = f64::from(SLACK) * all.low.abs().max(all.high.abs()).max_element();
        Aabb { min: (all.low - slack).as_vec3().to_array(), max: (all.high + slack).as_vec3().to_array() }
    }
}

/// By how much bounds are grown, relative to their largest coordinate: some tens of f32 roundings.
pub const SLACK: f32 = 4e-6;

impl Cluster {
    fn new(mesh: &GltfMesh, vertices: &[u32]) -> Cluster {
        let mut rows: Vec<u32> =
            vertices.iter().flat_map(|&v| mesh.influences().row(v as usize)).map(|influence| influence.joint).collect();
        rows.sort_unstable();
        rows.dedup();
        let hold = |&v: &u32| mesh.influences().row(v as usize).iter().map(|i| i.weight).fold(0.0, f32::max);
        let least_hold = vertices.iter().map(hold).fold(1.0, f32::min).into();
        Cluster { rows, least_hold, base: around(mesh.positions(), vertices), deltas: Vec::new() }
    }

    fn grown(&self, weights: &[f32]) -> Interval {
        let mut sum = self.base;
        for (target, delta) in self.deltas.iter().filter(|(target, _)| weights[*target] != 0.0) {
            let (a, b) = (delta.low * f64::from(weights[*target]), delta.high * f64::from(weights[*target]));
            sum = Interval { low: sum.low + a.min(b), high: sum.high + a.max(b) };
        }
        sum
    }

    /// The box around everything that single rows make of a grown cluster.
    fn hull(&self, grown: &Interval, skin_rows: &[Rows]) -> Interval {
        let boxes = self.rows.iter().map(|&row| {
            let [x, y, z] = skin_rows[row as usize].map(|row| row.map(f64::from));
            let linear = DMat3::from_cols(DVec3::from_slice(&x), DVec3::from_slice(&y), DVec3::from_slice(&z));
            carried(grown, &linear.transpose(), DVec3::new(x[3], y[3], z[3]))
        });
        boxes.fold(Interval::NOTHING, |a, b| a.union(&b))
    }
}

fn strongest_row(mesh: &GltfMesh, vertex: u32) -> Option<u32> {
    let row = mesh.influences().row(vertex as usize);
    row.iter().max_by(|a, b| a.weight.total_cmp(&b.weight)).map(|influence| influence.joint)
}

fn around(positions: &[[f32; 3]], vertices: &[u32]) -> Interval {
    let mut all = Interval::NOTHING;
    vertices.iter().for_each(|&v| all.include(DVec3::from(positions[v as usize].map(f64::from))));
    all
}

/// Halves at the median of the longest axis until no group is larger than `most`.
fn split(positions: &[[f32; 3]], vertices: &mut [u32], most: usize, groups: &mut Vec<Vec<u32>>) {
    if vertices.len() <= most {
        groups.push(vertices.to_vec());
        return;
    }
    let Interval { low, high } = around(positions, vertices);
    let axis = (high - low).max_position();
    let middle = vertices.len() / 2;
    let along = |v: &u32| positions[*v as usize][axis];
    vertices.select_nth_unstable_by(middle, |a, b| along(a).total_cmp(&along(b)));
    let (left, right) = vertices.split_at_mut(middle);
    split(positions, left, most, groups);
    split(positions, right, most, groups);
}

/// The box around a box that an affine map has carried away.
fn carried(held: &Interval, linear: &DMat3, translation: DVec3) -> Interval {
    let mut low = translation;
    let mut high = translation;
    for axis in 0..3 {
        let row = linear.row(axis);
        let (a, b) = (row * held.low, row * held.high);
        low[axis] += a.min(b).element_sum();
        high[axis] += a.max(b).element_sum();
    }
    Interval { low, high }
}
