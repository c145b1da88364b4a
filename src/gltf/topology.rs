//! Triangles of a primitive, whatever its mode.

use super::document::{Primitive, wrong};
use super::source::Source;
use crate::error::{LoadError, LoadErrorKind};

const POINTS_AND_LINES: std::ops::RangeInclusive<u32> = 0..=3;
const TRIANGLES: u32 = 4;
const STRIP: u32 = 5;
const FAN: u32 = 6;

/// The triangles, in the primitive's own vertices; none for points and lines, and an unfinished last one is dropped.
pub(super) fn read_triangles(
    source: &mut Source,
    primitive: &Primitive,
    place: &str,
    vertex_count: usize,
) -> Result<Vec<[u32; 3]>, LoadError> {
    let mode = primitive.mode.unwrap_or(TRIANGLES);
    if POINTS_AND_LINES.contains(&mode) {
        return Ok(Vec::new());
    }
    let corners: Vec<u32> = match primitive.indices {
        Some(accessor) => {
            let field = format!("{place}/indices");
            let indices = source.integers(accessor, "SCALAR", &field)?;
            if let Some(at) = indices.iter().position(|&v| v as usize >= vertex_count) {
                return Err(wrong(field, format!("indices below {vertex_count}"), format!("{} at {at}", indices[at])));
            }
            indices
        }
        None => (0..vertex_count as u32).collect(),
    };
    // A strip or a fan has nearly as many triangles as corners.
    source.charge(place, corners.len() as u64 * 12)?;
    match mode {
        TRIANGLES => Ok(corners.as_chunks::<3>().0.to_vec()),
        STRIP => {
            let turned = |(i, w): (usize, &[u32])| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[0], w[2], w[1]] };
            Ok(corners.windows(3).enumerate().map(turned).collect())
        }
        FAN => Ok(corners.get(1..).unwrap_or_default().windows(2).map(|w| [w[0], w[1], corners[0]]).collect()),
        other => Err(LoadError::new(LoadErrorKind::Value, format!("{place}/mode"), "a mode from 0 to 6", other)),
    }
}
