//! Morph deltas as a device reads them: steps of 16 bits where that is exact enough, of 32 where it is not.

use super::mesh::{GltfMesh, MorphTarget};
use crate::error::LoadError;
use crate::sparse::{QuantisedTarget, SparseRows};

/// Half a step of a target of positions that is packed to 16 bits, at most, relative to the longest side of its node's mesh.
pub const HALF_STEP: f64 = 2e-7;

/// The same of normals and tangents, for unit vectors.
pub const DIRECTION_HALF_STEP: f64 = 2e-6;

/// Rounding that all 16-bit targets of a vertex may add up to at weight 1, over the half step that one target may have.
pub const TOGETHER: f64 = 2.0;

/// The largest step.
const STEPS: f64 = 32_767.0;

/// One attribute's deltas in packed rows, ready for `SparseSlices`.
///
/// A 16-bit target is one target of the rows. Any other becomes two of the same channel: its steps, and what they leave over in steps of
/// 1/65,534 of theirs, 16 bytes for each delta in all. So every target is in the one format that the gather reads, also one that has to be
/// as exact as its floats.
///
/// # Accuracy
/// 16 bits: within [`HALF_STEP`] of the mesh's extent for one target, and twice that for all of them together, at weights up to 1. 32 bits:
/// within 3e-10 of the target's largest component.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedDeltas {
    /// The rows; a target's channel is its control.
    pub rows: SparseRows,
    /// Targets in 16 bits.
    pub narrow_count: usize,
    /// Targets in 32 bits.
    pub wide_count: usize,
}

impl PackedDeltas {
    /// The deltas of positions.
    ///
    /// # Errors
    /// See [`SparseRows::from_quantised`]: more than 65,536 targets in the rows, or 2^32 deltas.
    pub fn positions(mesh: &GltfMesh) -> Result<PackedDeltas, LoadError> {
        let allowed = |target: &MorphTarget| HALF_STEP * extent(mesh, target);
        pack(mesh.vertex_count(), mesh.position_targets(), allowed)
    }

    /// The deltas of normals.
    ///
    /// # Errors
    /// As [`PackedDeltas::positions`].
    pub fn normals(mesh: &GltfMesh) -> Result<PackedDeltas, LoadError> {
        pack(mesh.vertex_count(), mesh.normal_targets(), |_| DIRECTION_HALF_STEP)
    }

    /// The deltas of tangents.
    ///
    /// # Errors
    /// As [`PackedDeltas::positions`].
    pub fn tangents(mesh: &GltfMesh) -> Result<PackedDeltas, LoadError> {
        pack(mesh.vertex_count(), mesh.tangent_targets(), |_| DIRECTION_HALF_STEP)
    }
}

/// The longest side of the box around the mesh that a target belongs to, in that mesh's space.
fn extent(mesh: &GltfMesh, target: &MorphTarget) -> f64 {
    let Some(&vertex) = target.vertices.first() else { return 0.0 };
    let parts = mesh.parts();
    let node = parts[parts.partition_point(|part| part.vertices.end <= vertex as usize)].node;
    let of_node = parts.iter().filter(|part| part.node == node);
    let positions = || of_node.clone().flat_map(|part| &mesh.positions()[part.vertices.clone()]);
    let side = |axis: usize| {
        let along = || positions().map(|p| f64::from(p[axis]));
        along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
    };
    (0..3).map(side).fold(0.0, f64::max)
}

/// Steps of one target or of what another leaves over.
struct Steps {
    channel: u32,
    scale: f32,
    deltas: Vec<[i16; 3]>,
}

impl Steps {
    fn new(channel: u32, scale: f64, deltas: impl Iterator<Item = [f64; 3]>) -> Steps {
        // The scale that the device multiplies by is the rounded one.
        let scale = scale as f32;
        let step = |x: f64| {
            if scale > 0.0 { (x / f64::from(scale)).round().clamp(-STEPS, STEPS) as i16 } else { 0 }
        };
        Steps { channel, scale, deltas: deltas.map(|delta| delta.map(step)).collect() }
    }

    /// What is left of the deltas that the steps were made of.
    fn rest<'a>(&'a self, deltas: &'a [[f32; 3]]) -> impl Iterator<Item = [f64; 3]> + Clone + 'a {
        let left = |(delta, steps): (&[f32; 3], &[i16; 3])| {
            std::array::from_fn(|i| f64::from(delta[i]) - f64::from(steps[i]) * f64::from(self.scale))
        };
        deltas.iter().zip(&self.deltas).map(left)
    }
}

fn pack(
    vertex_count: usize,
    targets: &[MorphTarget],
    allowed: impl Fn(&MorphTarget) -> f64,
) -> Result<PackedDeltas, LoadError> {
    let mut rounding = vec![0.0; vertex_count];
    let (mut narrow_count, mut wide_count) = (0, 0);
    let mut packed: Vec<(Steps, &MorphTarget)> = Vec::new();
    for (channel, target) in (0..).zip(targets).filter(|(_, target)| !target.vertices.is_empty()) {
        let largest = target.deltas.as_flattened().iter().fold(0.0_f64, |most, x| most.max(f64::from(x.abs())));
        let scale = largest / STEPS;
        let exact = target.deltas.iter().map(|delta| delta.map(f64::from));
        let steps = Steps::new(channel, scale, exact);
        let allowed = allowed(target);
        let off = |rest: [f64; 3]| rest.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let rest = || target.vertices.iter().zip(steps.rest(&target.deltas)).map(|(&v, rest)| (v as usize, off(rest)));
        let is_narrow = scale / 2.0 <= allowed && rest().all(|(v, off)| rounding[v] + off <= TOGETHER * allowed);
        if is_narrow {
            narrow_count += 1;
            rest().for_each(|(v, off)| rounding[v] += off);
            packed.push((steps, target));
        } else {
            wide_count += 1;
            let rest = Steps::new(channel, scale / 2.0 / STEPS, steps.rest(&target.deltas));
            packed.extend([(steps, target), (rest, target)]);
        }
    }
    let targets: Vec<QuantisedTarget> = packed
        .iter()
        .map(|(s, target)| QuantisedTarget {
            channel: s.channel,
            vertices: &target.vertices,
            deltas: &s.deltas,
            scale: s.scale,
        })
        .collect();
    let rows = SparseRows::from_quantised(vertex_count, &targets).map_err(|e| e.within("/meshes"))?;
    Ok(PackedDeltas { rows, narrow_count, wide_count })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::sparse_gather;
    use glam::DVec3;

    /// Targets of that size over two vertices each, of three.
    fn targets(sizes: &[f32]) -> Vec<MorphTarget> {
        let target = |(t, &size): (usize, &f32)| {
            let delta = |k: usize| [0.37, -1.0, 0.011 * (t + k) as f32].map(|x| x * size);
            MorphTarget { vertices: vec![t as u32 % 3, (t as u32 + 1) % 3], deltas: vec![delta(1), delta(2)] }
        };
        sizes.iter().enumerate().map(target).collect()
    }

    fn worst(targets: &[MorphTarget], packed: &PackedDeltas) -> f64 {
        let weights = packed.rows.weigh(&vec![1.0; targets.len()]);
        let exact = |v: u32| {
            let moved = targets.iter().flat_map(|t| t.vertices.iter().zip(&t.deltas)).filter(|(held, _)| **held == v);
            moved.map(|(_, delta)| DVec3::from(delta.map(f64::from))).sum::<DVec3>()
        };
        let off = |v: u32| (exact(v) - sparse_gather(&packed.rows, v as usize, &weights)).abs().max_element();
        (0..3).map(off).fold(0.0, f64::max)
    }

    #[test]
    fn target_is_narrow_where_half_a_step_is_allowed() {
        // Half a step of a target of size 1 is 1 / 65,534.
        let sizes = [1.0, 0.9, 65_534.0, 1e-30, 0.0];
        let targets = targets(&sizes);
        let packed = pack(3, &targets, |_| 1.0 / 65_533.0).unwrap();
        assert_eq!((packed.narrow_count, packed.wide_count), (4, 1));
        assert_eq!(packed.rows.targets().iter().map(|t| t.channel).collect::<Vec<_>>(), [0, 1, 2, 2, 3, 4]);
        assert!(worst(&targets, &packed) <= 2.0 / 65_533.0 + 65_534.0 * 3e-10);
    }

    #[test]
    fn narrow_targets_of_one_vertex_stay_within_their_sum() {
        let targets = targets(&[1.0; 300]);
        let packed = pack(3, &targets, |_| 1.0 / 65_533.0).unwrap();
        assert!(packed.narrow_count >= 3 && packed.wide_count >= 200, "{} narrow", packed.narrow_count);
        assert!(worst(&targets, &packed) <= TOGETHER / 65_533.0 + 300.0 * 3e-10);
    }

    #[test]
    fn wide_targets_are_as_exact_as_floats() {
        for size in [1e-20, 1e-3, 1.0, 70_000.0] {
            let targets = targets(&[size; 4]);
            let packed = pack(3, &targets, |_| 0.0).unwrap();
            assert_eq!((packed.narrow_count, packed.wide_count, packed.rows.targets().len()), (0, 4, 8));
            // The weights are those of the device: weight times scale, rounded to f32.
            let allowed = f64::from(size) * (4.0 * 3e-10 + 4.0 * 6e-8);
            assert!(worst(&targets, &packed) <= allowed, "size {size}: {}", worst(&targets, &packed));
        }
    }
}
