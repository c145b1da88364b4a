//! RBF solvers: how near the controls are to each key pose, as weights.
//!
//! All of it is f32 in the reference's order, without fused operations: the arc cosine near 1 and the inverse magnify every rounding, and another
//! order moves weights by a thousandth.

use super::inverse::invert;
use super::rotation::Euler;
use crate::error::{LoadError, LoadErrorKind};
use crate::orl::dna::{AutomaticRadius, DistanceMethod, Dna, NormalizeMethod, RbfFunction, RbfSolver, SolverKind};

/// Every solver of a rig, and which of them each level runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Rbf {
    solvers: Vec<Solver>,
    /// (LODs)
    lods: Vec<Vec<u16>>,
}

#[derive(Debug, Clone)]
struct Solver {
    inputs: Vec<u16>,
    /// (P, n) The key poses, swung or twisted already.
    targets: Vec<f32>,
    metric: Metric,
    kernel: Kernel,
    /// (P, P) The inverse of the kernel between the poses; interpolative solvers only.
    inverse: Option<Vec<f32>>,
    always_normalise: bool,
    threshold: f32,
    /// (P)
    poses: Vec<Pose>,
    /// Every control that a pose writes.
    outputs: Vec<u16>,
}

#[derive(Debug, Clone)]
struct Pose {
    scale: f32,
    inputs: Vec<u16>,
    outputs: Vec<(u16, f32)>,
}

#[derive(Debug, Clone, Copy)]
struct Metric {
    method: DistanceMethod,
    axis: usize,
}

#[derive(Debug, Clone, Copy)]
struct Kernel {
    function: RbfFunction,
    radius: f32,
    /// One pose alone has no distance to take a radius from: only the pose itself counts.
    exact: bool,
}

/// Work that building may take, in multiply-adds: a small file can name poses enough to invert matrices for hours.
const MAX_BUILD_WORK: u64 = 1 << 30;

impl Rbf {
    /// Takes a file whose indices are in range.
    ///
    /// # Errors
    /// `Shape` for quaternion distances over inputs that are no quaternions, `Unsupported` for solvers that would take too long to build.
    pub(super) fn new(dna: &Dna, first_output: usize, lod_count: usize, euler: Euler) -> Result<Rbf, LoadError> {
        let mut work = 0_u64;
        let mut solvers = vec![];
        for (at, solver) in dna.rbf.solvers.iter().enumerate() {
            let field = |name: &str| format!("RBF solver {at} {name}");
            let (p, n) = (solver.poses.len() as u64, solver.inputs.len() as u64);
            if solver.distance != DistanceMethod::Euclidean && n % 4 != 0 {
                let expected = "a multiple of four for a quaternion distance";
                return Err(LoadError::new(LoadErrorKind::Shape, field("inputs"), expected, n));
            }
            // A distance ends in an arc cosine, worth some eight of them.
            let inverse = if solver.kind == SolverKind::Interpolative { p } else { 0 };
            work = work.saturating_add(p * p * (n + 8 + inverse));
            if work > MAX_BUILD_WORK {
                let expected = format!("at most {MAX_BUILD_WORK} multiply-adds to build the solvers");
                return Err(LoadError::new(LoadErrorKind::Unsupported, field("poses"), expected, format!("{p} poses")));
            }
            solvers.push(Solver::new(dna, solver, first_output, euler));
        }
        let lods = (0..lod_count).map(|lod| dna.rbf.lod_solvers.list(lod).to_vec()).collect();
        Ok(Rbf { solvers, lods })
    }

    /// The room for `run`: the most inputs and twice the most poses that a solver has.
    pub(super) fn scratch_len(&self) -> usize {
        self.solvers.iter().map(|s| s.inputs.len() + 2 * s.poses.len()).max().unwrap_or(0)
    }

    /// Writes the pose controls of a level.
    pub(super) fn run(&self, lod: usize, controls: &mut [f32], scratch: &mut [f32]) {
        for &solver in self.lods.get(lod).map_or(&[][..], Vec::as_slice) {
            self.solvers[usize::from(solver)].run(controls, scratch);
        }
    }
}

impl Solver {
    fn new(dna: &Dna, solver: &RbfSolver, first_output: usize, euler: Euler) -> Solver {
        let (p, n) = (solver.poses.len(), solver.inputs.len());
        let metric = Metric { method: solver.distance, axis: solver.twist_axis as usize };
        let mut targets = solver.values.clone();
        metric.convert(&mut targets);
        let target = |i: usize| &targets[i * n..(i + 1) * n];
        let radius = match solver.automatic_radius {
            AutomaticRadius::Off => euler.radians(solver.radius),
            AutomaticRadius::On => {
                let pairs = (0..p).flat_map(|i| (i + 1..p).map(move |j| (i, j)));
                let (sum, count) = pairs.fold((0.0, 0_u32), |(sum, count), (i, j)| {
                    (sum + metric.distance(target(i), target(j)), count + 1)
                });
                sum / count.max(1) as f32
            }
        };
        let kernel = Kernel {
            function: solver.function,
            radius,
            exact: p == 1 && solver.automatic_radius == AutomaticRadius::On,
        };
        let inverse = (solver.kind == SolverKind::Interpolative).then(|| {
            let mut matrix = vec![0.0; p * p];
            for i in 0..p {
                for j in i..p {
                    let value = kernel.at(metric.distance(target(i), target(j)));
                    matrix[i * p + j] = value;
                    matrix[j * p + i] = value;
                }
            }
            invert(&mut matrix, p);
            matrix
        });
        let poses: Vec<Pose> = solver.poses.iter().map(|&i| Pose::new(dna, usize::from(i), first_output)).collect();
        let mut outputs: Vec<u16> = poses.iter().flat_map(|pose| pose.outputs.iter().map(|o| o.0)).collect();
        outputs.sort_unstable();
        outputs.dedup();
        Solver {
            inputs: solver.inputs.clone(),
            metric,
            kernel,
            inverse,
            always_normalise: solver.normalize == NormalizeMethod::Always,
            threshold: solver.weight_threshold,
            poses,
            outputs,
            targets,
        }
    }

    fn run(&self, controls: &mut [f32], scratch: &mut [f32]) {
        let (n, p) = (self.inputs.len(), self.poses.len());
        if p == 0 {
            return;
        }
        // First, so that of a control of two solvers only the later one's part is kept.
        self.outputs.iter().for_each(|&o| controls[usize::from(o)] = 0.0);
        let (x, rest) = scratch.split_at_mut(n);
        let (kernels, weights) = rest.split_at_mut(p);
        let weights = &mut weights[..p];
        for (x, &input) in x.iter_mut().zip(&self.inputs) {
            *x = controls[usize::from(input)];
        }
        self.metric.convert(x);
        for (i, k) in kernels.iter_mut().enumerate() {
            *k = self.kernel.at(self.metric.distance(&self.targets[i * n..(i + 1) * n], x));
        }
        match &self.inverse {
            None => weights.copy_from_slice(kernels),
            Some(inverse) => {
                for (w, row) in weights.iter_mut().zip(inverse.chunks_exact(p)) {
                    let sum = row.iter().zip(&*kernels).fold(0.0, |sum, (c, k)| sum + c * k);
                    *w = sum.clamp(0.0, 1.0);
                }
            }
        }
        let sum = weights.iter().fold(0.0, |sum, w| sum + w);
        let ratio = if sum > 1.0 || self.always_normalise { 1.0 / sum } else { 1.0 };
        for (pose, weight) in self.poses.iter().zip(&*weights) {
            let weight = weight * ratio * pose.scale;
            // A NaN is not above the threshold, either.
            let weight = if weight > self.threshold { weight } else { 0.0 };
            let factor = pose.inputs.iter().fold(1.0, |m, &input| m * controls[usize::from(input)]);
            for &(output, share) in &pose.outputs {
                controls[usize::from(output)] += share * weight * factor;
            }
        }
    }
}

impl Pose {
    /// Files of before 2.5 do not say what a pose does: it has a control of its own.
    fn new(dna: &Dna, index: usize, first_output: usize) -> Pose {
        let scale = dna.rbf.poses[index].scale;
        match dna.rbf_outputs.poses.get(index) {
            Some(pose) => {
                let outputs = pose.outputs.iter().copied().zip(pose.weights.iter().copied()).collect();
                Pose { scale, inputs: pose.inputs.clone(), outputs }
            }
            None => Pose { scale, inputs: vec![], outputs: vec![((first_output + index) as u16, 1.0)] },
        }
    }
}

impl Metric {
    /// Replaces every quaternion by its swing or twist about the axis, where the distance is between those.
    fn convert(&self, values: &mut [f32]) {
        let convert: fn(usize, [f32; 4]) -> [f32; 4] = match self.method {
            DistanceMethod::Euclidean | DistanceMethod::Quaternion => return,
            DistanceMethod::SwingAngle => swing,
            DistanceMethod::TwistAngle => twist,
        };
        let (quaternions, _) = values.as_chunks_mut::<4>();
        quaternions.iter_mut().for_each(|q| *q = convert(self.axis, *q));
    }

    fn distance(&self, a: &[f32], b: &[f32]) -> f32 {
        if self.method == DistanceMethod::Euclidean {
            return a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b)).sqrt();
        }
        let (a, b) = (a.as_chunks::<4>().0, b.as_chunks::<4>().0);
        let squares = a.iter().zip(b).fold(0.0, |sum, (a, b)| {
            let d = ((a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]) + a[3] * b[3];
            let d2 = d * d;
            // Only what compares above 1: a NaN must come through.
            let arc = if d2 > 1.0 { 0.0 } else { (2.0 * d2 - 1.0).acos() };
            sum + arc * arc
        });
        squares.sqrt()
    }
}

impl Kernel {
    fn at(&self, distance: f32) -> f32 {
        if self.exact {
            return if distance == 0.0 { 1.0 } else { 0.0 };
        }
        let r = self.radius;
        let ratio = distance / r;
        // Written out: `max` would make 0 of a NaN.
        let fall = |power: f32| if 1.0 - power > 0.0 || power.is_nan() { 1.0 - power } else { 0.0 };
        match self.function {
            // The distance is not squared.
            RbfFunction::Gaussian => (-distance / (r * r)).exp(),
            RbfFunction::Exponential => (-2.0 * distance / r).exp(),
            RbfFunction::Linear => fall(ratio),
            RbfFunction::Cubic => fall(ratio * (ratio * ratio)),
            RbfFunction::Quintic => fall(ratio * (ratio * (ratio * (ratio * ratio)))),
        }
    }
}

fn twist(axis: usize, q: [f32; 4]) -> [f32; 4] {
    let length = (q[axis] * q[axis] + q[3] * q[3]).sqrt();
    let mut out = [0.0, 0.0, 0.0, q[3] / length];
    out[axis] = q[axis] / length;
    out
}

fn swing(axis: usize, [x, y, z, w]: [f32; 4]) -> [f32; 4] {
    let about = [x, y, z][axis];
    let n = -(about * about + w * w).sqrt();
    match axis {
        0 => [0.0, (w * y - x * z) / n, (w * z + x * y) / n, n],
        1 => [(w * x + y * z) / n, 0.0, (w * z - y * x) / n, n],
        _ => [(w * x - z * y) / n, (w * y + z * x) / n, 0.0, n],
    }
}

#[cfg(test)]
mod tests;
