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
    check_sides(reference, computed, vertex_ids)?;
    let (frames, vertices) = (reference.frame_count, reference.vertex_count);
    let (mut max, mut sum, mut failed_frames) = (-1.0f64, 0.0, 0);
    let mut worst = Worst { frame: 0, vertex: 0 };
    for frame in 0..frames {
        let expected = &reference.positions[frame * vertices * 3..][..vertices * 3];
        let got = &computed.positions[frame * computed.vertex_count * 3..][..computed.vertex_count * 3];
        let size = expected.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        if !expected.iter().all(|x| x.is_finite()) {
            return Err(CompareError::Reference { frame });
        }
        let allowed = tolerance.abs + tolerance.rel * size;
        let mut passes = true;
        for (row, e) in expected.chunks_exact(3).enumerate() {
            let vertex = vertex_ids.map_or(row, |ids| ids[row] as usize);
            let error = largest_difference(e, &got[vertex * 3..vertex * 3 + 3]);
            sum += error;
            // Written so that a NaN fails, and stays the largest once there is one.
            passes &= error <= allowed;
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
        pass: failed_frames == 0,
        failed_frames,
        frames,
        vertices,
        reference: reference.source.to_string(),
        computed: computed.source.to_string(),
    })
}

/// `f64::max` would drop a NaN.
fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    let larger = |m: f64, d: f64| if d <= m { m } else { d };
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, |m, d| if m.is_nan() { m } else { larger(m, d) })
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
