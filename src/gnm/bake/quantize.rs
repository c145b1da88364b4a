//! The basis from (E, V, 3) floats to (V, E, 3) halves or bytes, with the error that this costs.

use crate::gnm::pack::BasisFormat;
use half::f16;
use rayon::prelude::*;

/// A slab this high of one coefficient row is read at once and written to as many pack rows, which stay in the cache meanwhile.
const BLOCK: usize = 32;
/// How often progress is told.
const STEPS: usize = 20;

/// A packed basis and what was measured on the way.
pub(super) struct Quantized {
    /// (V, E, 3), little-endian.
    pub bytes: Vec<u8>,
    /// (E).
    pub scale: Vec<f32>,
    /// Of one entry, metres.
    pub max_abs_error: f64,
    /// Of one entry, metres.
    pub mean_abs_error: f64,
    /// The largest entry, metres.
    pub peak: f64,
}

/// Packs the coefficients `ids` of a basis.
///
/// # Shapes
/// basis: (at least max(ids) + 1, V, 3), finite
pub(super) fn quantize<T: Copy + Into<f32> + Sync>(
    basis: &[T],
    vertices: usize,
    ids: &[usize],
    format: BasisFormat,
    progress: &mut dyn FnMut(f32),
) -> Quantized {
    let rows: Vec<&[T]> = ids.iter().map(|&id| &basis[3 * vertices * id..][..3 * vertices]).collect();
    let peaks: Vec<f32> =
        rows.par_iter().map(|row| row.iter().fold(0.0, |peak: f32, &x| peak.max(x.into().abs()))).collect();
    let scale: Vec<f32> = peaks.iter().map(|&peak| scale(peak, format)).collect();
    let (bytes, errors) = match format {
        BasisFormat::F16 => pack(&rows, &scale, vertices, progress, |x| {
            let q = f16::from_f32(x);
            (q.to_le_bytes(), q.to_f64())
        }),
        BasisFormat::I8 => pack(&rows, &scale, vertices, progress, |x| {
            let q = x.round_ties_even().clamp(-127.0, 127.0);
            ((q as i8).to_le_bytes(), f64::from(q))
        }),
    };
    Quantized {
        bytes,
        scale,
        max_abs_error: errors.iter().fold(0.0, |m, e| m.max(e.0)),
        mean_abs_error: errors.iter().map(|e| e.1).sum::<f64>() / ((3 * vertices * ids.len()).max(1) as f64),
        peak: f64::from(peaks.iter().fold(0.0, |m: f32, &p| m.max(p))),
    }
}

/// What a stored entry is multiplied by. For halves a power of two, so that a basis that was halves before comes out bit by bit as it was.
fn scale(peak: f32, format: BasisFormat) -> f32 {
    if peak == 0.0 {
        return 1.0;
    }
    match format {
        BasisFormat::F16 => {
            const MAX: f64 = 65504.0;
            let ratio = f64::from(peak) / MAX;
            let mut exponent = ratio.log2().ceil() as i32;
            // The logarithm may be off by one at a power of two.
            exponent += i32::from(ratio > 2f64.powi(exponent)) - i32::from(ratio <= 2f64.powi(exponent - 1));
            2f64.powi(exponent.max(f32::MIN_EXP - 1)) as f32
        }
        BasisFormat::I8 => (peak / 127.0).max(f32::MIN_POSITIVE),
    }
}

/// Encodes every entry, divided by its scale, and sums up errors: per block the largest and the sum, in block order.
fn pack<T: Copy + Into<f32> + Sync, const N: usize>(
    rows: &[&[T]],
    scale: &[f32],
    vertices: usize,
    progress: &mut dyn FnMut(f32),
    encode: impl Fn(f32) -> ([u8; N], f64) + Sync,
) -> (Vec<u8>, Vec<(f64, f64)>) {
    let row_bytes = 3 * N * rows.len();
    let mut bytes = vec![0; vertices * row_bytes];
    let mut errors = Vec::new();
    if rows.is_empty() {
        return (bytes, errors);
    }
    let block = |(first, out): (usize, &mut [u8])| {
        let height = out.len() / row_bytes;
        let (mut worst, mut sum) = (0.0f64, 0.0f64);
        for (c, (row, &scale)) in rows.iter().zip(scale).enumerate() {
            let values = row[3 * first..][..3 * height].iter();
            let cells = out.chunks_exact_mut(row_bytes).flat_map(|v| v[3 * N * c..][..3 * N].as_chunks_mut::<N>().0);
            for (cell, &x) in cells.zip(values) {
                let x: f32 = x.into();
                let (stored, decoded) = encode(x / scale);
                *cell = stored;
                let error = (decoded * f64::from(scale) - f64::from(x)).abs();
                worst = worst.max(error);
                sum += error;
            }
        }
        (worst, sum)
    };
    let slab = vertices.div_ceil(STEPS).next_multiple_of(BLOCK);
    for (step, out) in bytes.chunks_mut(slab * row_bytes).enumerate() {
        let first = |i: usize| step * slab + i * BLOCK;
        let blocks = out.par_chunks_mut(BLOCK * row_bytes).enumerate().map(|(i, out)| block((first(i), out)));
        errors.par_extend(blocks);
        progress(((step + 1) * slab).min(vertices) as f32 / vertices as f32);
    }
    (bytes, errors)
}
