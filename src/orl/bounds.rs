//! Bounds of posed vertices from the CPU alone.
//!
//! The vertices are split into small blocks that lie together and follow the same joints. A block knows its box at rest, how far each target
//! can push it and how strongly each joint can hold it; a pose moves these boxes instead of the vertices.

use super::mesh::OrlMesh;
use crate::lbs::Influences;
use crate::math::{self, Aabb, Rows};
use crate::sparse::{SparseEntries, SparseRows, TargetWeights};
use glam::DVec3;
use rayon::prelude::*;

/// Vertices of a block, at most; of a mesh below `BLOCK * BLOCKS` vertices fewer, so that a small mesh has boxes as fine as a large one.
const BLOCK: usize = 32;
const BLOCKS: usize = 512;

/// How long the weight of a joint counts when a block is split across its longest side, relative to the diagonal at rest: what lies together
/// and follows different joints, an eyeball and its lid, is parted; a skin whose weights change slowly is split in space.
const WEIGHT_LENGTH: f64 = 0.1;

/// How far the weight sums of a block may spread it at rest, relative to the diagonal: what is added there is never tight.
const SUM_SLACK: f64 = 1e-3;

/// What bounds need of a mesh, prepared once; shared by instances.
#[derive(Debug, Clone, PartialEq)]
pub struct OrlBounds {
    blocks: Vec<Block>,
    /// The pushes of target `t` are `pushes[offsets[t]..offsets[t + 1]]`; (targets + 1).
    offsets: Vec<u32>,
    pushes: Vec<Push>,
    /// The longest delta of each target over all vertices.
    longest: Vec<f64>,
    /// The vertex furthest from the origin.
    size: f64,
}

/// Vertices that lie together and follow the same joints.
#[derive(Debug, Clone, PartialEq, Default)]
struct Block {
    rest: Interval<f64>,
    holds: Vec<Hold>,
    /// The centre of the vertices' weight sums less the sum of the centres of the weights.
    surplus: f64,
    /// How far the weight sum of a vertex may lie from that centre.
    sum_radius: f64,
}

/// How strongly a joint holds the vertices of a block: `|weight - centre| <= radius`, vertices that it does not hold included.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hold {
    joint: u32,
    centre: f64,
    radius: f64,
    /// The largest `|weight|`.
    most: f64,
    /// `most` over the sum of the block's.
    share: f64,
}

/// How one target moves the vertices of one block, per unit of coefficient; rounded outward.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Push {
    block: u32,
    delta: Interval<f32>,
}

/// The points `p` with `|p - centre| <= radius` on each axis.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Interval<T> {
    centre: [T; 3],
    radius: [T; 3],
}

impl OrlBounds {
    /// Splits the vertices of `mesh` into blocks and measures them.
    #[must_use]
    pub fn new(mesh: &OrlMesh) -> OrlBounds {
        let skin = Skin::new(mesh.influences());
        let groups = split_vertices(mesh, &skin).into_par_iter();
        let scratch = || WeightRanges::new(skin.joint_count);
        let measured = groups.map_init(scratch, |ranges, vertices| measure(mesh, &skin, ranges, &vertices));
        let measured: Vec<_> = measured.collect();
        let target_count = mesh.deltas().targets().len();
        let mut offsets = vec![0_u32; target_count + 1];
        for (target, _) in measured.iter().flat_map(|(_, deltas)| deltas) {
            offsets[*target + 1] += 1;
        }
        for target in 0..target_count {
            offsets[target + 1] += offsets[target];
        }
        let mut next = offsets.clone();
        let mut pushes = vec![Push { block: 0, delta: Interval::default() }; offsets[target_count] as usize];
        let mut longest = vec![0.0; target_count];
        for (block, (_, deltas)) in (0_u32..).zip(&measured) {
            for &(target, delta) in deltas {
                let furthest = |i: usize| f64::from(delta.centre[i]).abs() + f64::from(delta.radius[i]);
                longest[target] = f64::max(longest[target], DVec3::new(furthest(0), furthest(1), furthest(2)).length());
                pushes[next[target] as usize] = Push { block, delta };
                next[target] += 1;
            }
        }
        let size = mesh.neutral().iter().map(|&p| as_dvec3(p).length()).fold(0.0, f64::max);
        let blocks = measured.into_iter().map(|(block, _)| block).collect();
        OrlBounds { blocks, offsets, pushes, longest, size }
    }

    /// A box that holds every vertex that `orl_deform` gives for these coefficients and rows, on either device, in the rig's space and unit.
    ///
    /// At rest it is the box of the rest vertices, but for a rounding margin of a few micrometres per metre, and up to 0.1 % of the diagonal
    /// where the weights of vertices do not sum to one.
    ///
    /// # Shapes
    /// coefficients: by target, from [`SparseRows::weigh`] of the mesh's deltas; skin_rows: (J) of one instance
    #[must_use]
    pub fn bounds(&self, coefficients: &TargetWeights, skin_rows: &[Rows]) -> Aabb {
        let mut boxes: Vec<Interval<f64>> = self.blocks.iter().map(|block| block.rest).collect();
        let mut size = self.size;
        for (target, &coefficient) in coefficients.coefficients.iter().enumerate().filter(|(_, c)| **c != 0.0) {
            let coefficient = f64::from(coefficient);
            size += coefficient.abs() * self.longest[target];
            for push in &self.pushes[self.offsets[target] as usize..self.offsets[target + 1] as usize] {
                boxes[push.block as usize].add_scaled(coefficient, &push.delta);
            }
        }
        let joints: Vec<Columns> = skin_rows.iter().map(columns).collect();
        let posed = self.blocks.iter().zip(&boxes).map(|(block, unposed)| block.posed(unposed, &joints, size));
        posed.reduce(Corners::union).map_or(Aabb::default(), |hull| Aabb::outward(hull.min, hull.max))
    }
}

/// The columns of an affine transform, one lane for each axis and one idle.
type Columns = [[f64; 4]; 4];

fn columns(rows: &Rows) -> Columns {
    std::array::from_fn(|i| [rows[0][i], rows[1][i], rows[2][i], 0.0].map(f64::from))
}

impl Block {
    /// Where the skin puts the points of `unposed`; `size` bounds the terms that any of them is summed from.
    ///
    /// With `M` any matrix, `c_j` the centres of the weights and `S` their sum, `sum_j w_j M_j p` is
    /// `(sum_j c_j M_j + (S - sum_j c_j) M) p + sum_j (w_j - c_j) (M_j - M) p`. `M` is a mean of the `M_j`: where the joints agree, the last
    /// sum is small whatever the weights are.
    fn posed(&self, unposed: &Interval<f64>, joints: &[Columns], size: f64) -> Corners {
        let (mut blended, mut mean) = (Columns::default(), Columns::default());
        let mut terms = [0.0; 4];
        for hold in &self.holds {
            let joint = &joints[hold.joint as usize];
            for axis in 0..4 {
                let linear = joint[0][axis].abs() + joint[1][axis].abs() + joint[2][axis].abs();
                terms[axis] += hold.most * (linear * size + joint[3][axis].abs());
                for column in 0..4 {
                    blended[column][axis] += hold.centre * joint[column][axis];
                    mean[column][axis] += hold.share * joint[column][axis];
                }
            }
        }
        let mut spread = unposed.furthest(&mean).map(|reach| reach * self.sum_radius);
        for hold in self.holds.iter().filter(|hold| hold.radius > 0.0) {
            let joint = &joints[hold.joint as usize];
            let apart: Columns = std::array::from_fn(|c| std::array::from_fn(|axis| joint[c][axis] - mean[c][axis]));
            let reach = unposed.furthest(&apart);
            for axis in 0..4 {
                spread[axis] += hold.radius * reach[axis];
            }
        }
        let surplus = self.surplus;
        let matrix = std::array::from_fn(|c| std::array::from_fn(|axis| blended[c][axis] + surplus * mean[c][axis]));
        let (centre, radius) = unposed.through(&matrix);
        let three = |lanes: [f64; 4]| DVec3::new(lanes[0], lanes[1], lanes[2]);
        let margin = math::F32_ROUNDING * three(terms);
        let (centre, radius) = (three(centre), three(radius) + three(spread) + margin);
        Corners { min: centre - radius, max: centre + radius }
    }
}

impl Interval<f64> {
    fn of(corners: Corners) -> Interval<f64> {
        let (min, max) = (corners.min, corners.max);
        Interval { centre: ((min + max) / 2.0).to_array(), radius: ((max - min) / 2.0).to_array() }
    }

    /// Narrowed to f32; holds every point that this one holds.
    fn outward(&self) -> Interval<f32> {
        let centre = self.centre.map(|c| c as f32);
        let radius = |i: usize| (self.radius[i] + (self.centre[i] - f64::from(centre[i])).abs()) as f32;
        Interval { centre, radius: std::array::from_fn(|i| radius(i).next_up()) }
    }

    fn add_scaled(&mut self, by: f64, other: &Interval<f32>) {
        for axis in 0..3 {
            self.centre[axis] += by * f64::from(other.centre[axis]);
            self.radius[axis] += by.abs() * f64::from(other.radius[axis]);
        }
    }

    /// Centre and radius of `m * (p, 1)`.
    fn through(&self, m: &Columns) -> ([f64; 4], [f64; 4]) {
        let ([x, y, z], [rx, ry, rz]) = (self.centre, self.radius);
        let centre = |axis: usize| m[0][axis] * x + m[1][axis] * y + m[2][axis] * z + m[3][axis];
        let radius = |axis: usize| m[0][axis].abs() * rx + m[1][axis].abs() * ry + m[2][axis].abs() * rz;
        (std::array::from_fn(centre), std::array::from_fn(radius))
    }

    /// The largest `|m * (p, 1)|` on each axis.
    fn furthest(&self, m: &Columns) -> [f64; 4] {
        let (centre, radius) = self.through(m);
        std::array::from_fn(|axis| centre[axis].abs() + radius[axis])
    }
}

/// A box by its corners.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Corners {
    min: DVec3,
    max: DVec3,
}

impl Corners {
    fn of_points(points: impl Iterator<Item = DVec3>) -> Corners {
        points.map(|p| Corners { min: p, max: p }).reduce(Corners::union).unwrap_or_default()
    }

    fn union(self, other: Corners) -> Corners {
        Corners { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// One block from its vertices, and how the targets that move any of them do so, ascending.
fn measure(
    mesh: &OrlMesh,
    skin: &Skin,
    ranges: &mut WeightRanges,
    vertices: &[u32],
) -> (Block, Vec<(usize, Interval<f32>)>) {
    let rest = Corners::of_points(vertices.iter().map(|&v| as_dvec3(mesh.neutral()[v as usize])));
    let hold = |(joint, least, most): (u32, f64, f64)| {
        let (centre, radius) = ((least + most) / 2.0, (most - least) / 2.0);
        Hold { joint, centre, radius, most: centre.abs() + radius, share: 0.0 }
    };
    // A joint named twice may cancel itself.
    let mut holds: Vec<Hold> = ranges.of(skin, vertices).map(hold).filter(|hold| hold.most > 0.0).collect();
    let whole: f64 = holds.iter().map(|hold| hold.most).sum();
    holds.iter_mut().for_each(|hold| hold.share = hold.most / whole);
    let (least, most) = skin.sums(vertices);
    let surplus = (least + most) / 2.0 - holds.iter().map(|hold| hold.centre).sum::<f64>();
    let block = Block { rest: Interval::of(rest), holds, surplus, sum_radius: (most - least) / 2.0 };

    let mut moved: Vec<(usize, DVec3)> = vertices.iter().flat_map(|&v| deltas(mesh.deltas(), v as usize)).collect();
    moved.sort_by_key(|(target, _)| *target);
    let interval = |of_target: &[(usize, DVec3)]| {
        let still = (of_target.len() < vertices.len()).then_some(DVec3::ZERO);
        let corners = Corners::of_points(of_target.iter().map(|(_, delta)| *delta).chain(still));
        (of_target[0].0, Interval::of(corners).outward())
    };
    (block, moved.chunk_by(|a, b| a.0 == b.0).map(interval).collect())
}

/// The deltas of one vertex, one for each target that moves it.
fn deltas(rows: &SparseRows, vertex: usize) -> Vec<(usize, DVec3)> {
    let range = rows.offsets()[vertex] as usize..rows.offsets()[vertex + 1] as usize;
    let mut deltas: Vec<(usize, DVec3)> = match rows.entries() {
        SparseEntries::Float(entries) => entries[range].iter().map(|e| (e.target.into(), as_dvec3(e.delta))).collect(),
        SparseEntries::Packed(entries) => {
            entries[range].iter().map(|e| (e.target().into(), DVec3::from(e.steps().map(f64::from)))).collect()
        }
    };
    // A target may move a vertex twice; its entries stand side by side.
    deltas.dedup_by(|next, first| {
        let same = next.0 == first.0;
        if same {
            first.1 += next.1;
        }
        same
    });
    deltas
}

/// The influences with at most one entry for a joint and vertex.
struct Skin {
    offsets: Vec<usize>,
    /// (joint, weight), joints ascending in a row.
    entries: Vec<(u32, f64)>,
    joint_count: usize,
}

impl Skin {
    fn new(influences: &Influences) -> Skin {
        let (mut offsets, mut entries) = (vec![0], Vec::with_capacity(influences.entries.len()));
        for vertex in 0..influences.vertex_count() {
            let first = entries.len();
            entries.extend(influences.row(vertex).iter().map(|i| (i.joint, f64::from(i.weight))));
            entries[first..].sort_by_key(|(joint, _)| *joint);
            let mut end = first;
            for at in first..entries.len() {
                if end > first && entries[end - 1].0 == entries[at].0 {
                    entries[end - 1].1 += entries[at].1;
                } else {
                    entries[end] = entries[at];
                    end += 1;
                }
            }
            entries.truncate(end);
            offsets.push(end);
        }
        let joint_count = entries.iter().map(|(joint, _)| *joint as usize + 1).max().unwrap_or(0);
        Skin { offsets, entries, joint_count }
    }

    fn row(&self, vertex: u32) -> &[(u32, f64)] {
        &self.entries[self.offsets[vertex as usize]..self.offsets[vertex as usize + 1]]
    }

    fn weight(&self, vertex: u32, joint: u32) -> f64 {
        let row = self.row(vertex);
        row.binary_search_by_key(&joint, |(joint, _)| *joint).map_or(0.0, |at| row[at].1)
    }

    fn sum(&self, vertex: u32) -> f64 {
        self.row(vertex).iter().map(|(_, weight)| weight).sum()
    }

    /// The least and the largest weight sum of some vertices.
    fn sums(&self, vertices: &[u32]) -> (f64, f64) {
        let sums = vertices.iter().map(|&v| self.sum(v));
        sums.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), sum| (least.min(sum), most.max(sum)))
    }
}

/// Scratch for the range of every joint's weight over some vertices.
struct WeightRanges {
    /// By joint: least, largest, and how many of the vertices it holds.
    ranges: Vec<(f64, f64, usize)>,
    joints: Vec<u32>,
}

impl WeightRanges {
    fn new(joint_count: usize) -> WeightRanges {
        WeightRanges { ranges: vec![(0.0, 0.0, 0); joint_count], joints: Vec::new() }
    }

    /// (joint, least, largest) of the joints that hold any of the vertices, ascending.
    fn of(&mut self, skin: &Skin, vertices: &[u32]) -> impl Iterator<Item = (u32, f64, f64)> {
        for joint in self.joints.drain(..) {
            self.ranges[joint as usize] = (0.0, 0.0, 0);
        }
        for &(joint, weight) in vertices.iter().flat_map(|&v| skin.row(v)) {
            let (least, most, count) = &mut self.ranges[joint as usize];
            if *count == 0 {
                self.joints.push(joint);
                (*least, *most) = (weight, weight);
            }
            (*least, *most, *count) = (least.min(weight), most.max(weight), *count + 1);
        }
        self.joints.sort_unstable();
        self.joints.iter().map(|&joint| match self.ranges[joint as usize] {
            (least, most, count) if count == vertices.len() => (joint, least, most),
            (least, most, _) => (joint, least.min(0.0), most.max(0.0)),
        })
    }
}

/// Splits vertices until every part is small, and its weight sums nearly equal. A split is across the longest side, where the sides are the
/// three of space and one for each joint, as long as its weight varies.
fn split_vertices(mesh: &OrlMesh, skin: &Skin) -> Vec<Vec<u32>> {
    let positions = mesh.neutral();
    let most = (positions.len() / BLOCKS).clamp(1, BLOCK);
    let corners = |vertices: &[u32]| Corners::of_points(vertices.iter().map(|&v| as_dvec3(positions[v as usize])));
    let all: Vec<u32> = (0..positions.len() as u32).collect();
    let extent = corners(&all);
    let diagonal = extent.min.distance(extent.max);
    let reach = extent.min.abs().max(extent.max.abs()).length();
    let mut ranges = WeightRanges::new(skin.joint_count);
    let (mut parts, mut open) = (Vec::new(), vec![all]);
    while let Some(mut part) = open.pop() {
        let (least_sum, most_sum) = skin.sums(&part);
        let uneven = (most_sum - least_sum) * reach > SUM_SLACK * diagonal;
        if part.len() <= most && !uneven || part.len() < 2 {
            parts.extend((!part.is_empty()).then_some(part));
            continue;
        }
        let middle = if uneven {
            let sum = (least_sum + most_sum) / 2.0;
            part.sort_by(|&a, &b| skin.sum(a).total_cmp(&skin.sum(b)));
            part.partition_point(|&v| skin.sum(v) < sum).clamp(1, part.len() - 1)
        } else {
            let extent = corners(&part);
            let sides = extent.max - extent.min;
            let joint = ranges.of(skin, &part).max_by(|a, b| (a.2 - a.1).total_cmp(&(b.2 - b.1)));
            let by_weight =
                joint.filter(|(_, least, most)| (most - least) * WEIGHT_LENGTH * diagonal > sides.max_element());
            let value = |v: u32| match by_weight {
                Some((joint, ..)) => skin.weight(v, joint),
                None => f64::from(positions[v as usize][sides.max_position()]),
            };
            let middle = part.len() / 2;
            part.select_nth_unstable_by(middle, |&a, &b| value(a).total_cmp(&value(b)).then(a.cmp(&b)));
            middle
        };
        let high = part.split_off(middle);
        open.extend([high, part]);
    }
    parts
}

fn as_dvec3(p: [f32; 3]) -> DVec3 {
    DVec3::from(p.map(f64::from))
}
