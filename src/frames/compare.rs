//! How far what was computed lies from what was expected.

use super::Tolerance;
use serde::Serialize;

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// Who computed it, with the code path: two sides must differ in it.
    pub source: &'a str,
    /// (F, V, 3).
    pub positions: &'a [f64],
    /// F.
    pub frame_count: usize,
    /// V.
    pub vertex_count: usize,
}

/// How far apart two sides are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The largest error: of one coordinate, in `unit`. NaN when a NaN was computed; JSON says `null` then.
    pub max: f64,
    /// The mean over all vertices of each vertex's largest coordinate error.
    pub mean: f64,
    /// `m` or `cm`.
    pub unit: String,
    /// Where `max` is.
    pub worst: Worst,
    /// What was allowed.
    pub tolerance: Tolerance,
    /// What was allowed beyond that for rounding, where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounding: Option<Rounding>,
    /// Whether every error is within its frame's allowance.
    pub pass: bool,
    /// How many frames have an error beyond their allowance.
    pub failed_frames: usize,
    /// F.
    pub frames: usize,
    /// Vertices compared in each frame.
    pub vertices: usize,
    /// The source of the expected positions.
    pub reference: String,
    /// The source of the others.
    pub computed: String,
}

/// What was allowed beyond the tolerance, coordinate by coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rounding {
    /// The largest such allowance of a coordinate, in the comparison's unit.
    pub max: f64,
    /// The largest share that an error has of what its coordinate is allowed in all; up to 1 passes.
    pub used: f64,
}

/// Where the largest error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Worst {
    /// Frame index.
    pub frame: usize,
    /// Vertex index in the rig.
    pub vertex: usize,
}

/// Why two sides cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// Both sides come from the same program and code path.
    #[error("comparison of \"{source_name}\" with itself: expected two different sources")]
    SameSource {
        /// The source.
        source_name: String,
    },
    /// The sides differ in size, or a side is not as long as it says.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// Which size.
        what: &'static str,
        /// The reference's.
        expected: usize,
        /// The other's.
        got: usize,
    },
    /// Nothing to compare.
    #[error("comparison of {frames} frames of {vertices} vertices: expected at least one of each")]
    Empty {
        /// F.
        frames: usize,
        /// V.
        vertices: usize,
    },
    /// The reference itself holds a NaN or an infinity.
    #[error("reference frame {frame}: expected finite positions")]
    Reference {
        /// The frame.
        frame: usize,
    },
    /// A vertex id that the rig does not have.
    #[error("vertex id {id}: expected below {vertex_count}")]
    VertexId {
        /// The id.
        id: u32,
        /// V of the rig.
        vertex_count: usize,
    },
}

/// Compares what was computed with what was expected; with `vertex_ids` the reference holds those vertices only.
///
/// # Errors
/// See [`CompareError`]. A comparison that fails is not an error: it is in [`Comparison::pass`].
pub fn compare(
    reference: &Side,
    computed: &Side,
    vertex_ids: Option<&[u32]>,
    tolerance: Tolerance,
    unit: &str,
) -> Result<Comparison, CompareError> {
    compare_coordinates(reference, computed, vertex_ids, tolerance, None, unit)
}

/// As [`compare`], where each coordinate may be off by its own `rounding` beyond the tolerance: what was computed came from stored numbers that
/// are rounded.
///
/// # Shapes
/// rounding: (F, V, 3) as `computed`, from 0 up
///
/// # Errors
/// See [`CompareError`].
pub fn compare_rounded(
    reference: &Side,
    computed: &Side,
    vertex_ids: Option<&[u32]>,
    tolerance: Tolerance,
    rounding: &[f64],
    unit: &str,
) -> Result<Comparison, CompareError> {
    if rounding.len() != computed.positions.len() {
        let (expected, got) = (computed.positions.len(), rounding.len());
        return Err(CompareError::Shape { what: "rounding", expected, got });
    }
    compare_coordinates(reference, computed, vertex_ids, tolerance, Some(rounding), unit)
}

fn compare_coordinates(
    reference: &Side,
    computed: &Side,
    vertex_ids: Option<&[u32]>,
    tolerance: Tolerance,
    rounding: Option<&[f64]>,
    unit: &str,
) -> Result<Comparison, CompareError> {
    check_sides(reference, computed, vertex_ids)?;
    let (frames, vertices) = (reference.frame_count, reference.vertex_count);
    let (mut max, mut sum, mut failed_frames) = (-1.0f64, 0.0, 0);
    let mut rounded = Rounding { max: 0.0, used: 0.0 };
    let mut worst = Worst { frame: 0, vertex: 0 };
    for frame in 0..frames {
        let expected = &reference.positions[frame * vertices * 3..][..vertices * 3];
        let of_frame = frame * computed.vertex_count * 3..(frame + 1) * computed.vertex_count * 3;
        let got = &computed.positions[of_frame.clone()];
        let rounding = rounding.map(|rounding| &rounding[of_frame]);
        let size = expected.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        if !expected.iter().all(|x| x.is_finite()) {
            return Err(CompareError::Reference { frame });
        }
        let allowed = tolerance.abs + tolerance.rel * size;
        let mut passes = true;
        for (row, e) in expected.chunks_exact(3).enumerate() {
            let vertex = vertex_ids.map_or(row, |ids| ids[row] as usize);
            let g = &got[vertex * 3..vertex * 3 + 3];
            let error = largest_difference(e, g);
            sum += error;
            // Written so that a NaN fails, and stays the largest once there is one.
            passes &= match rounding {
                None => error <= allowed,
                Some(rounding) => rounded.holds(e, g, allowed, &rounding[vertex * 3..vertex * 3 + 3]),
            };
            if !max.is_nan() && (error > max || error.is_nan()) {
                (max, worst) = (error, Worst { frame, vertex });
            }
        }
        failed_frames += usize::from(!passes);
    }
    Ok(Comparison {
        max,
        mean: sum / (frames * vertices) as f64,
        unit: unit.to_string(),
        worst,
        tolerance,
        rounding: rounding.map(|_| rounded),
        pass: failed_frames == 0,
        failed_frames,
        frames,
        vertices,
        reference: reference.source.to_string(),
        computed: computed.source.to_string(),
    })
}

impl Rounding {
    /// Whether each coordinate is within the tolerance and its own rounding; notes how much of that was needed.
    fn holds(&mut self, expected: &[f64], got: &[f64], tolerance: f64, rounding: &[f64]) -> bool {
        let mut passes = true;
        for ((e, g), rounding) in expected.iter().zip(got).zip(rounding) {
            let (error, allowed) = ((e - g).abs(), tolerance + rounding);
            // An allowance without bound would pass anything.
            passes &= error <= allowed && allowed.is_finite();
            // Nothing allowed and nothing off is no share at all.
            self.used = if error > 0.0 { larger(self.used, error / allowed) } else { larger(self.used, error) };
            self.max = self.max.max(*rounding);
        }
        passes
    }
}

/// `f64::max` would drop a NaN.
fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, larger)
}

/// The larger of two, a NaN above everything.
fn larger(m: f64, d: f64) -> f64 {
    if m.is_nan() || d <= m { m } else { d }
}

fn check_sides(reference: &Side, computed: &Side, vertex_ids: Option<&[u32]>) -> Result<(), CompareError> {
    if reference.source == computed.source {
        return Err(CompareError::SameSource { source_name: reference.source.to_string() });
    }
    let same = |what, expected, got| match expected == got {
        true => Ok(()),
        false => Err(CompareError::Shape { what, expected, got }),
    };
    same("frames", reference.frame_count, computed.frame_count)?;
    match vertex_ids {
        None => same("vertices", reference.vertex_count, computed.vertex_count)?,
        Some(ids) => {
            same("vertex ids", reference.vertex_count, ids.len())?;
            if let Some(&id) = ids.iter().find(|&&id| id as usize >= computed.vertex_count) {
                return Err(CompareError::VertexId { id, vertex_count: computed.vertex_count });
            }
        }
    }
    for side in [reference, computed] {
        same("coordinates", side.frame_count * side.vertex_count * 3, side.positions.len())?;
    }
    if reference.frame_count == 0 || reference.vertex_count == 0 {
        return Err(CompareError::Empty { frames: reference.frame_count, vertices: reference.vertex_count });
    }
    Ok(())
}
