//! Skin weights as halves that sum to exactly 1.

use crate::error::{LoadError, LoadErrorKind};
use half::f16;

/// One vertex's joints and weights.
pub(super) type Row = Vec<(u16, f64)>;

/// The most joints that may hold one vertex.
const MAX_LANES: usize = 4;
/// Every multiple of 1 / this up to 1 is a half.
const GRID: u32 = 1 << 11;
/// How far from 1 the weights of a vertex may sum before they are refused.
const SUM_TOLERANCE: f64 = 1e-3;

/// The lanes of all vertices.
pub(super) struct Skin {
    /// K, the most lanes that a vertex uses.
    pub lanes: usize,
    /// (V, K).
    pub joints: Vec<u16>,
    /// (V, K).
    pub weights: Vec<f16>,
}

/// The joints that hold a vertex, with weights that sum to 1 in f64; of more than four the four strongest.
pub(super) fn normalize(field: &str, vertex: usize, mut row: Row) -> Result<Row, LoadError> {
    let sum: f64 = row.iter().map(|(_, w)| w).sum();
    let valid = row.iter().all(|(_, w)| *w >= 0.0) && (sum - 1.0).abs() <= SUM_TOLERANCE;
    if !valid {
        let found = format!("{:?}, sum {sum}", row.iter().map(|(_, w)| w).collect::<Vec<_>>());
        let field = format!("{field}, vertex {vertex}");
        return Err(LoadError::new(LoadErrorKind::Value, field, "weights of at least 0 that sum to 1", found));
    }
    row.retain(|(_, w)| *w > 0.0);
    while row.len() > MAX_LANES {
        let weakest = (0..row.len()).min_by(|&a, &b| row[a].1.total_cmp(&row[b].1)).unwrap_or(0);
        row.remove(weakest);
    }
    let sum: f64 = row.iter().map(|(_, w)| w).sum();
    row.iter_mut().for_each(|(_, w)| *w /= sum);
    Ok(row)
}

/// Rounds every row to multiples of 2^-11 by largest remainder: each weight is off by less than 2^-11, and the halves sum to exactly 1.
pub(super) fn round(rows: &[Row]) -> Skin {
    let rounded: Vec<Vec<(u16, u32)>> = rows.iter().map(round_row).collect();
    let lanes = rounded.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let mut skin = Skin { lanes, joints: Vec::new(), weights: Vec::new() };
    for row in rounded {
        let padded = row.into_iter().chain(std::iter::repeat((0, 0))).take(lanes);
        for (joint, units) in padded {
            skin.joints.push(joint);
            skin.weights.push(f16::from_f32(units as f32 / GRID as f32));
        }
    }
    skin
}

fn round_row(row: &Row) -> Vec<(u16, u32)> {
    let exact: Vec<f64> = row.iter().map(|(_, w)| w * f64::from(GRID)).collect();
    let mut units: Vec<u32> = exact.iter().map(|x| x.floor() as u32).collect();
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()));
    let short = GRID.saturating_sub(units.iter().sum()) as usize;
    order.iter().take(short).for_each(|&lane| units[lane] += 1);
    row.iter().map(|(joint, _)| *joint).zip(units).filter(|(_, n)| *n > 0).collect()
}
