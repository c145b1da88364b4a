//! Bounds of a posed head from the CPU alone.
//!
//! The vertices are split into small clusters that follow the same joints and eyes. A cluster knows its box at rest and how far each
//! coefficient can push it; a pose moves these boxes instead of the vertices.

use super::pack::GnmPack;
use super::pose::{GnmPose, Stage};
use crate::lbs::{Influence, Influences};
use crate::math::{Aabb, F32_ROUNDING, Rows};
use glam::{DAffine3, DMat3, DVec3, Vec3};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Vertices of a cluster, at most; of a small head fewer, since a box that holds much of a head is loose once that head turns.
const CLUSTER: usize = 128;

/// Beyond this a bind transform is taken as not invertible, and boxes are built in head-local space: still right, no longer tight.
const WORST_CONDITION: f64 = 1e6;

/// What bounds need of a pack, prepared once; shared by instances.
#[derive(Debug, Clone, PartialEq)]
pub struct GnmBounds {
    stage: Stage,
    /// Head-local to the space of the boxes: the output space at rest.
    box_from_head: DAffine3,
    clusters: Vec<Cluster>,
    /// The joints that hold any vertex; `Hold::joint` is a position in this list.
    joints: Vec<u32>,
    /// The pushes of coefficient `c` are `pushes[offsets[c]..offsets[c + 1]]`; (E + 1).
    offsets: Vec<u32>,
    pushes: Vec<Push>,
    /// The longest entry of each coefficient over all vertices, box space, (E).
    longest: Vec<f32>,
    /// The longest neutral vertex, its seam and its distance to an eye that holds it, head-local, added up.
    size: f64,
}

/// The skin rows of the one joint that holds all vertices where nothing is skinned.
const IDENTITY_ROWS: Rows = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

/// A pack as one stage sees it: `Forward` has no seam, and one joint that never moves.
struct Seen<'a> {
    pack: &'a GnmPack,
    influences: Cow<'a, Influences>,
    seam: Option<&'a [[f32; 3]]>,
    bind_transform: DAffine3,
}

impl Seen<'_> {
    fn new(pack: &GnmPack, stage: Stage) -> Seen<'_> {
        match stage {
            Stage::Pose => Seen {
                pack,
                influences: Cow::Borrowed(pack.influences()),
                seam: pack.seam(),
                bind_transform: pack.bind_transform(),
            },
            Stage::Forward => {
                let entries = vec![Influence { joint: 0, weight: 1.0 }; pack.vertex_count()];
                let offsets = (0..=pack.vertex_count() as u32).collect();
                let influences = Cow::Owned(Influences { offsets, entries });
                Seen { pack, influences, seam: None, bind_transform: DAffine3::IDENTITY }
            }
        }
    }
}

/// Vertices that follow the same joints and the same eyes.
#[derive(Debug, Clone, PartialEq)]
struct Cluster {
    rest: Box3,
    holds: Vec<Hold>,
    /// Least and largest sum of a vertex's weights.
    weight_sums: [f64; 2],
    eyes: [EyeHold; 2],
}

/// How a joint holds a cluster: the range of its share of a vertex's weight sum.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hold {
    joint: u32,
    least: f64,
    most: f64,
}

/// How an eye holds a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct EyeHold {
    /// The largest |weight|.
    weight: f64,
    /// The largest |weight| times the distance to the eye's centre, head-local.
    lever: f64,
}

/// One coefficient's interval of motion over one cluster, per unit of `GnmPose::coefficients`, box space, rounded outward.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Push {
    cluster: u32,
    min: [f32; 3],
    max: [f32; 3],
}

impl Push {
    fn furthest(&self) -> DVec3 {
        as_dvec3(self.min).abs().max(as_dvec3(self.max).abs())
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Box3 {
    min: DVec3,
    max: DVec3,
}

impl Box3 {
    const EMPTY: Box3 = Box3 { min: DVec3::INFINITY, max: DVec3::NEG_INFINITY };

    fn union(self, other: Box3) -> Box3 {
        Box3 { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    fn grown(self, by: DVec3) -> Box3 {
        Box3 { min: self.min - by, max: self.max + by }
    }

    /// Per axis, how far from zero the box reaches.
    fn furthest(self) -> DVec3 {
        self.min.abs().max(self.max.abs())
    }

    fn of_point(p: DVec3) -> Box3 {
        Box3 { min: p, max: p }
    }

    /// The box of `m * p` over the points of this box.
    fn turned(self, m: DMat3) -> Box3 {
        let (centre, half) = (m * ((self.min + self.max) / 2.0), abs(m) * ((self.max - self.min) / 2.0));
        Box3 { min: centre - half, max: centre + half }
    }

    /// Narrowed to f32, rounded outward.
    fn aabb(self) -> Aabb {
        Aabb::outward(self.min, self.max)
    }
}

impl GnmBounds {
    /// Splits the vertices of `pack` into clusters and measures them.
    #[must_use]
    pub fn new(pack: &GnmPack) -> GnmBounds {
        GnmBounds::of_stage(pack, Stage::Pose)
    }

    /// The same for the vertices of one stage; of `Forward` the boxes are head-local.
    #[must_use]
    pub fn of_stage(pack: &GnmPack, stage: Stage) -> GnmBounds {
        let seen = &Seen::new(pack, stage);
        let box_from_head = box_space(seen.bind_transform);
        let groups = vertex_clusters(seen);
        let joints = {
            let mut joints: Vec<u32> = groups.iter().flat_map(|g| g.joints.iter().copied()).collect();
            joints.sort_unstable();
            joints.dedup();
            joints
        };
        let measured: Vec<_> = groups.par_iter().map(|g| measure(seen, g, &joints, &box_from_head)).collect();

        let coefficient_count = pack.coefficient_count();
        let mut longest = vec![0f32; coefficient_count];
        let mut offsets = vec![0u32; coefficient_count + 1];
        for (c, push) in measured.iter().flat_map(|m| &m.pushes) {
            offsets[c + 1] += 1;
            longest[*c] = longest[*c].max((push.furthest().length() as f32).next_up());
        }
        for c in 0..coefficient_count {
            offsets[c + 1] += offsets[c];
        }
        let mut next = offsets.clone();
        let mut pushes = vec![Push { cluster: 0, min: [0.0; 3], max: [0.0; 3] }; offsets[coefficient_count] as usize];
        for (cluster, m) in measured.iter().enumerate() {
            for (c, push) in &m.pushes {
                pushes[next[*c] as usize] = Push { cluster: cluster as u32, ..*push };
                next[*c] += 1;
            }
        }
        let lengths = |points: &[[f32; 3]]| points.iter().map(|&p| as_dvec3(p).length()).fold(0.0, f64::max);
        let levers = measured.iter().flat_map(|m| m.cluster.eyes).map(|eye| eye.lever).fold(0.0, f64::max);
        let size = lengths(pack.neutral()) + seen.seam.map_or(0.0, lengths) + levers;
        let clusters = measured.into_iter().map(|m| m.cluster).collect();
        GnmBounds { stage, box_from_head, clusters, joints, offsets, pushes, longest, size }
    }

    /// A box that holds every vertex that `gnm_blend` gives for `pose`, on either device, in output space (`Forward`: head-local) and the
    /// pack's unit.
    ///
    /// At rest it is the box of the rest vertices, but for a rounding margin of a few micrometres per metre.
    #[must_use]
    pub fn bounds(&self, pose: &GnmPose) -> Aabb {
        let (boxes, size) = self.unposed(pose);
        let skin_rows = match self.stage {
            Stage::Pose => pose.skin_rows(),
            Stage::Forward => &[IDENTITY_ROWS],
        };
        let joints = self.posed_joints(skin_rows, size);
        let mut hull = Box3::EMPTY;
        let mut placed = Vec::new();
        for (cluster, unposed) in self.clusters.iter().zip(&boxes) {
            placed.clear();
            placed.extend(cluster.holds.iter().map(|hold| {
                let joint = &joints[hold.joint as usize];
                let [a, b] = cluster.weight_sums.map(|sum| sum * joint.output_from_box.translation);
                let turned = unposed.turned(joint.output_from_box.matrix3);
                Box3 { min: turned.min + a.min(b), max: turned.max + a.max(b) }.grown(joint.margin)
            }));
            hull = hull.union(blend(&cluster.holds, &placed));
        }
        hull.aabb()
    }

    /// The clusters' boxes before skinning, and how long the terms are that any vertex is summed from, head-local.
    fn unposed(&self, pose: &GnmPose) -> (Vec<Box3>, f64) {
        let (shifts, reach) = self.shifts(pose.coefficients());
        let turns = pose.eye_rotations().map(rotation_size);
        let linear = self.box_from_head.matrix3;
        let head_from_box = frobenius(linear.inverse());
        let row_lengths = DVec3::from_array(linear.transpose().to_cols_array_2d().map(|row| DVec3::from(row).length()));

        let mut furthest_gaze = 0.0;
        let place = |(cluster, shift): (&Cluster, Box3)| {
            let gaze = gaze_reach(&cluster.eyes, turns, shift.furthest().length() * head_from_box);
            furthest_gaze = f64::max(furthest_gaze, gaze);
            let moved = Box3 { min: cluster.rest.min + shift.min, max: cluster.rest.max + shift.max };
            moved.grown(row_lengths * gaze * cluster.weight_sums[1])
        };
        let boxes = self.clusters.iter().zip(shifts).map(place).collect();
        (boxes, self.size + reach * head_from_box + furthest_gaze)
    }

    /// How far the coefficients push every cluster, and the most that they can move any vertex, in box space.
    fn shifts(&self, coefficients: &[f32]) -> (Vec<Box3>, f64) {
        let mut shifts = vec![Box3::of_point(DVec3::ZERO); self.clusters.len()];
        let mut reach = 0.0;
        for (c, &value) in coefficients.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            let value = f64::from(value);
            reach += value.abs() * f64::from(self.longest[c]);
            for push in &self.pushes[self.offsets[c] as usize..self.offsets[c + 1] as usize] {
                let (a, b) = (value * as_dvec3(push.min), value * as_dvec3(push.max));
                let shift = &mut shifts[push.cluster as usize];
                shift.min += a.min(b);
                shift.max += a.max(b);
            }
        }
        (shifts, reach)
    }

    fn posed_joints(&self, skin_rows: &[Rows], size: f64) -> Vec<PosedJoint> {
        let head_from_box = self.box_from_head.inverse();
        self.joints
            .iter()
            .map(|&joint| {
                let output_from_head = affine(&skin_rows[joint as usize]);
                let terms = abs(output_from_head.matrix3) * DVec3::splat(size) + output_from_head.translation.abs();
                PosedJoint { output_from_box: output_from_head * head_from_box, margin: F32_ROUNDING * terms }
            })
            .collect()
    }
}

/// A joint that holds vertices, posed.
struct PosedJoint {
    output_from_box: DAffine3,
    /// The rounding that its vertices may carry.
    margin: DVec3,
}

/// The bind transform, or the identity where that cannot be inverted.
fn box_space(bind: DAffine3) -> DAffine3 {
    let condition = frobenius(bind.matrix3) * frobenius(bind.matrix3.inverse());
    if condition < WORST_CONDITION { bind } else { DAffine3::IDENTITY }
}

/// One cluster's vertices and what they have in common.
struct VertexCluster {
    vertices: Vec<u32>,
    joints: Vec<u32>,
}

fn vertex_clusters(seen: &Seen) -> Vec<VertexCluster> {
    let pack = seen.pack;
    let mut alike: BTreeMap<(Vec<u32>, [bool; 2]), Vec<u32>> = BTreeMap::new();
    for v in 0..pack.vertex_count() {
        let mut joints: Vec<u32> = seen.influences.row(v).iter().map(|i| i.joint).collect();
        joints.sort_unstable();
        joints.dedup();
        let eyes = pack.eye_weights().map(|weights| weights[v] != 0.0);
        alike.entry((joints, eyes)).or_default().push(v as u32);
    }
    let most = (pack.vertex_count() / CLUSTER).clamp(16, CLUSTER);
    let mut clusters = Vec::new();
    for ((joints, _), mut vertices) in alike {
        split(pack.neutral(), &mut vertices, most, &mut |part| {
            clusters.push(VertexCluster { vertices: part.to_vec(), joints: joints.clone() });
        });
    }
    clusters
}

/// Halves a list of vertices across its longest side until no part has more than `most`.
fn split(positions: &[[f32; 3]], vertices: &mut [u32], most: usize, emit: &mut impl FnMut(&[u32])) {
    if vertices.len() <= most {
        emit(vertices);
        return;
    }
    let extent = Aabb::of_points(vertices.iter().map(|&v| positions[v as usize]));
    let sides = Vec3::from(extent.max) - Vec3::from(extent.min);
    let axis = sides.max_position();
    let middle = vertices.len() / 2;
    vertices.select_nth_unstable_by(middle, |&a, &b| {
        positions[a as usize][axis].total_cmp(&positions[b as usize][axis]).then(a.cmp(&b))
    });
    let (low, high) = vertices.split_at_mut(middle);
    split(positions, low, most, emit);
    split(positions, high, most, emit);
}

struct Measured {
    cluster: Cluster,
    /// (coefficient, push) in ascending order.
    pushes: Vec<(usize, Push)>,
}

/// Boxes of `weight sum * point`: skinning multiplies a point by the sum of its weights, which is not exactly one in old packs.
fn measure(seen: &Seen, group: &VertexCluster, used_joints: &[u32], box_from_head: &DAffine3) -> Measured {
    let pack = seen.pack;
    let mut rest = Box3::EMPTY;
    let mut weight_sums = [f64::INFINITY, f64::NEG_INFINITY];
    let mut eyes = [EyeHold::default(); 2];
    let position = |joint: &u32| used_joints.partition_point(|used| used < joint) as u32;
    let unknown = |joint| Hold { joint: position(joint), least: f64::INFINITY, most: f64::NEG_INFINITY };
    let mut holds: Vec<Hold> = group.joints.iter().map(unknown).collect();
    let mut intervals = vec![Box3::of_point(DVec3::ZERO); pack.coefficient_count()];
    let (format, basis) = (pack.basis_format(), pack.basis_bytes());
    let mut entries = Vec::new();
    for (i, v) in group.vertices.iter().map(|&v| v as usize).enumerate() {
        let lanes = seen.influences.row(v);
        let sum: f64 = lanes.iter().map(|lane| f64::from(lane.weight)).sum();
        for (hold, joint) in holds.iter_mut().zip(&group.joints) {
            let own = lanes.iter().filter(|lane| lane.joint == *joint).map(|lane| f64::from(lane.weight));
            let share = own.sum::<f64>() / sum;
            (hold.least, hold.most) = (hold.least.min(share), hold.most.max(share));
        }
        weight_sums = [weight_sums[0].min(sum), weight_sums[1].max(sum)];
        rest = rest.union(Box3::of_point(sum * box_from_head.transform_point3(seamed(seen, v))));
        for (e, hold) in eyes.iter_mut().enumerate() {
            let weight = f64::from(pack.eye_weights()[e][v]).abs();
            let lever = (as_dvec3(pack.neutral()[v]) - as_dvec3(pack.eye_positions()[e])).length();
            hold.weight = hold.weight.max(weight);
            hold.lever = hold.lever.max(weight * lever);
        }
        let first = v * pack.coefficient_count();
        format.decode(basis, first..first + pack.coefficient_count(), &mut entries);
        let linear = box_from_head.matrix3 * sum;
        for (interval, &entry) in intervals.iter_mut().zip(&entries) {
            let of_vertex = if entry == [0.0; 3] { DVec3::ZERO } else { linear * as_dvec3(entry) };
            // The interval starts as the first vertex's, not as zero: a cluster that moves as one keeps its size.
            *interval = if i == 0 { Box3::of_point(of_vertex) } else { interval.union(Box3::of_point(of_vertex)) };
        }
    }
    let outward = |b: &Box3| {
        let Aabb { min, max } = b.aabb();
        Push { cluster: 0, min, max }
    };
    let moving = intervals.iter().enumerate().filter(|(_, b)| **b != Box3::of_point(DVec3::ZERO));
    let pushes = moving.map(|(c, b)| (c, outward(b))).collect();
    Measured { cluster: Cluster { rest, holds, weight_sums, eyes }, pushes }
}

/// A neutral vertex with its seam; a gaze of zero leaves it where it is.
fn seamed(seen: &Seen, vertex: usize) -> DVec3 {
    let seam = seen.seam.map_or(DVec3::ZERO, |seam| as_dvec3(seam[vertex]));
    as_dvec3(seen.pack.neutral()[vertex]) + seam
}

/// The box of `sum_k share_k * p_k` over points of the joints' boxes and shares in their ranges that sum to one.
fn blend(holds: &[Hold], placed: &[Box3]) -> Box3 {
    if let [only] = placed {
        return *only;
    }
    let mut order: Vec<usize> = (0..holds.len()).collect();
    let mut largest = |value: &dyn Fn(usize) -> f64| {
        // What the least shares leave over goes to the largest values first.
        order.sort_unstable_by(|&a, &b| value(b).total_cmp(&value(a)));
        let mut left = 1.0 - holds.iter().map(|hold| hold.least).sum::<f64>();
        let share = |&k: &usize| {
            let more = left.min(holds[k].most - holds[k].least);
            left -= more;
            (holds[k].least + more) * value(k)
        };
        order.iter().map(share).sum::<f64>()
    };
    Box3 {
        min: DVec3::from_array([0, 1, 2].map(|axis| -largest(&|k| -placed[k].min[axis]))),
        max: DVec3::from_array([0, 1, 2].map(|axis| largest(&|k| placed[k].max[axis]))),
    }
}

/// `|R r - r| <= size * |r|` for the map that the stage applies, `r -> r + w t + axis x t` with `t = 2 axis x r`.
fn rotation_size(quaternion: [f32; 4]) -> f64 {
    let q = quaternion.map(f64::from);
    let axis = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2]).sqrt();
    2.0 * axis * (axis * axis + q[3] * q[3]).sqrt()
}

/// How far the two eyes, one after the other, can move a vertex that the coefficients have moved by up to `moved`; head-local.
fn gaze_reach(eyes: &[EyeHold; 2], turns: [f64; 2], moved: f64) -> f64 {
    eyes.iter().zip(turns).fold(0.0, |so_far, (eye, turn)| so_far + turn * (eye.lever + eye.weight * (moved + so_far)))
}

fn frobenius(m: DMat3) -> f64 {
    m.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn abs(m: DMat3) -> DMat3 {
    DMat3::from_cols(m.x_axis.abs(), m.y_axis.abs(), m.z_axis.abs())
}

fn affine(rows: &Rows) -> DAffine3 {
    let r = rows.map(|row| row.map(f64::from));
    DAffine3 {
        matrix3: DMat3::from_cols(
            DVec3::new(r[0][0], r[1][0], r[2][0]),
            DVec3::new(r[0][1], r[1][1], r[2][1]),
            DVec3::new(r[0][2], r[1][2], r[2][2]),
        ),
        translation: DVec3::new(r[0][3], r[1][3], r[2][3]),
    }
}

fn as_dvec3(p: [f32; 3]) -> DVec3 {
    Vec3::from(p).as_dvec3()
}
