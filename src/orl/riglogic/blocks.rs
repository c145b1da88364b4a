//! A matrix in blocks of rows: the rows of a block lie side by side for each column, so that the compiler keeps a block's sums in vector registers.
//!
//! The order of the additions is the reference's: blocks of 8 rows have four partial sums over the columns, a last block of 4 has eight.

/// Rows of a full block: two SSE registers, one AVX register.
const FULL: usize = 8;
/// Rows of the last block, where padding to 4 leaves half a full one.
const HALF: usize = 4;

/// A dense matrix, padded to whole blocks.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    columns: usize,
    full: Vec<[f32; FULL]>,
    half: Vec<[f32; HALF]>,
}

impl Blocks {
    /// A matrix of `rows` x `columns`, each coefficient from `value(row, column)`.
    pub(super) fn new(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f32) -> Blocks {
        let padded = rows.next_multiple_of(HALF);
        let full_rows = padded / FULL * FULL;
        let at = |row: usize, column: usize| if row < rows { value(row, column) } else { 0.0 };
        let block = |first: usize| (0..columns).map(move |column| (first, column));
        let full = (0..full_rows).step_by(FULL).flat_map(block);
        let half = (full_rows..padded).step_by(HALF).flat_map(block);
        Blocks {
            columns,
            full: full.map(|(first, column)| std::array::from_fn(|lane| at(first + lane, column))).collect(),
            half: half.map(|(first, column)| std::array::from_fn(|lane| at(first + lane, column))).collect(),
        }
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Hands `write` the first `rows` rows, each times `input`, which stands for the first columns: the others count as zero.
    #[inline]
    pub(super) fn multiply(&self, rows: usize, input: &[f32], mut write: impl FnMut(usize, f32)) {
        if self.columns == 0 {
            (0..rows).for_each(|row| write(row, 0.0));
            return;
        }
        let used = input.len();
        let mut first = 0;
        for block in self.full.chunks_exact(self.columns) {
            if first >= rows {
                return;
            }
            let [a, b, c, d] = partial_sums::<FULL, 4>(&block[..used], input);
            let lanes = FULL.min(rows - first);
            for lane in 0..lanes {
                write(first + lane, (a[lane] + b[lane]) + (c[lane] + d[lane]));
            }
            first += FULL;
        }
        if first < rows {
            let s = partial_sums::<HALF, 8>(&self.half[..used], input);
            for lane in 0..rows - first {
                let quarter = |i: usize| (s[i][lane] + s[i + 1][lane]) + (s[i + 2][lane] + s[i + 3][lane]);
                write(first + lane, quarter(0) + quarter(4));
            }
        }
    }
}

/// `SUMS` sums over the columns, each of every `SUMS`th one: independent, so that additions overlap.
#[inline]
fn partial_sums<const LANES: usize, const SUMS: usize>(values: &[[f32; LANES]], input: &[f32]) -> [[f32; LANES]; SUMS] {
    let mut sums = [[0.0; LANES]; SUMS];
    let (columns, rest) = values.as_chunks::<SUMS>();
    let (x, x_rest) = input.as_chunks::<SUMS>();
    for (columns, x) in columns.iter().zip(x) {
        for (sum, (column, x)) in sums.iter_mut().zip(columns.iter().zip(x)) {
            for lane in 0..LANES {
                sum[lane] += column[lane] * x;
            }
        }
    }
    for (sum, (column, x)) in sums.iter_mut().zip(rest.iter().zip(x_rest)) {
        for lane in 0..LANES {
            sum[lane] += column[lane] * x;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_any_size_multiply_as_rows_do() {
        for rows in [1, 3, 4, 5, 8, 11, 12, 13, 16, 21] {
            for columns in [0, 1, 3, 4, 7, 8, 9, 17] {
                let value = |r: usize, c: usize| ((r * 7 + c * 3) % 11) as f32 - 5.0;
                let blocks = Blocks::new(rows, columns, value);
                for (active, used) in [(rows, columns), (rows / 2, columns), (rows, columns / 2), (0, columns)] {
                    let x: Vec<f32> = (0..used).map(|c| c as f32 * 0.5 - 1.0).collect();
                    let mut written = vec![];
                    blocks.multiply(active, &x, |row, sum| written.push((row, sum)));
                    // Small multiples of a half: every order of the additions is exact.
                    let expected = |r| (r, (0..used).map(|c| value(r, c) * x[c]).sum::<f32>());
                    assert_eq!(written, (0..active).map(expected).collect::<Vec<_>>(), "{rows} x {columns}");
                }
            }
        }
    }
}
