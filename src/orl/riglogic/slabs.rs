//! Matrices in slabs of rows: the rows of a slab lie side by side for each column, so that its sums stay in vector registers, one row a lane.
//!
//! The order of the additions is the reference's, whatever the vector width. Columns come in rounds of four, and a row has four partial sums,
//! one for each column of a round; the columns of an incomplete round go to the first. Where padding the rows to a multiple of 4 leaves half a
//! block of 8, the rows of that half have rounds of eight. A sum starts at +0, so a product of zero changes no bit of it: rounds whose controls
//! are all zero are passed over, unread.

use fearless_simd::{Simd, SimdBase, f32x4, f32x8};

const LANES: usize = 8;
/// Rows of the last block, where padding to 4 leaves half a full one.
const HALF: usize = 4;
/// Columns of a round.
const ROUND: usize = 4;
/// Blocks of a slab at most: their sums, four each, are what the registers of narrow vectors hold.
const WIDEST: usize = 2;

/// Eight rows of a column; no load crosses a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Lanes([f32; LANES]);

/// What all matrices read, one after another, so that evaluation goes through memory in one direction.
#[derive(Debug, Clone, Default)]
pub(super) struct Stored {
    full: Vec<Lanes>,
    half: Vec<[f32; HALF]>,
    /// Which controls the columns multiply.
    inputs: Vec<u16>,
}

/// The controls of a round of columns that is not all zero.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Round {
    x: [f32; ROUND],
    at: u32,
}

/// The controls of a matrix: its rounds, and an incomplete one, which is zero where it has no column.
#[derive(Clone, Copy)]
struct Gathered<'a> {
    rounds: &'a [Round],
    rest: Round,
    rest_len: usize,
}

/// A dense matrix, padded to whole blocks and rounds: where it is in what is [`Stored`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Slabs {
    columns: usize,
    /// Blocks of 8 rows, by slabs of [`WIDEST`], the last one of what is left.
    blocks: usize,
    /// Whether a half block follows.
    has_half: bool,
    /// A coefficient that is not finite makes something of a zero.
    reads_zeros: bool,
    full: usize,
    half: usize,
    inputs: usize,
}

impl Slabs {
    /// A matrix of `rows` rows and a column for each input, each coefficient from `value(row, column)`.
    pub(super) fn new(stored: &mut Stored, rows: usize, inputs: &[u16], value: impl Fn(usize, usize) -> f32) -> Slabs {
        let columns = inputs.len();
        let padded = rows.next_multiple_of(HALF);
        let slabs = Slabs {
            columns,
            blocks: padded / LANES,
            has_half: !padded.is_multiple_of(LANES),
            reads_zeros: !(0..rows).all(|row| (0..columns).all(|column| value(row, column).is_finite())),
            full: stored.full.len(),
            half: stored.half.len(),
            inputs: stored.inputs.len(),
        };
        let at = |row: usize, column: usize| if row < rows && column < columns { value(row, column) } else { 0.0 };
        for first in (0..slabs.blocks).step_by(WIDEST) {
            for column in 0..slabs.stride() {
                let lanes = |block: usize| Lanes(std::array::from_fn(|lane| at(block * LANES + lane, column)));
                stored.full.extend((first..slabs.blocks.min(first + WIDEST)).map(lanes));
            }
        }
        if slabs.has_half {
            let lanes = |column: usize| std::array::from_fn(|lane| at(slabs.blocks * LANES + lane, column));
            stored.half.extend((0..slabs.stride()).map(lanes));
        }
        stored.inputs.extend(inputs);
        slabs
    }

    /// The most rounds that there can be.
    pub(super) fn rounds(&self) -> usize {
        self.columns / ROUND
    }

    /// Columns as they are stored.
    fn stride(&self) -> usize {
        self.columns.next_multiple_of(ROUND)
    }

    /// Writes the first rows, row `r` to `results[outputs[r]]`, each times the controls of the first `used` columns; the other columns count as
    /// zero. `room` is enough for [`rounds`](Slabs::rounds).
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "one caller, and every buffer belongs to someone else")]
    pub(super) fn multiply<S: Simd>(
        &self,
        simd: S,
        stored: &Stored,
        used: usize,
        controls: &[f32],
        room: &mut [Round],
        mut outputs: &[u32],
        results: &mut [f32],
    ) {
        let inputs = &stored.inputs[self.inputs..][..used];
        let gathered = gather(inputs, self.reads_zeros, controls, room);
        let mut values = &stored.full[self.full..][..self.blocks * self.stride()];
        for first in (0..self.blocks).step_by(WIDEST) {
            if outputs.is_empty() {
                return;
            }
            let width = WIDEST.min(self.blocks - first);
            let (slab, later) = values.split_at(width * self.stride());
            let (now, others) = outputs.split_at(outputs.len().min(width * LANES));
            match width {
                1 => write(&rows_of::<S, 1>(simd, slab, gathered), now, results),
                _ => write(&rows_of::<S, WIDEST>(simd, slab, gathered), now, results),
            }
            (values, outputs) = (later, others);
        }
        if self.has_half && !outputs.is_empty() {
            let values = &stored.half[self.half..][..self.stride()];
            write(&[half_rows(simd, values, used / ROUND, gathered)], outputs, results);
        }
    }
}

/// The controls of columns. Not for vectors, so better compiled apart from those who need their registers.
#[inline(never)]
fn gather<'a>(inputs: &[u16], reads_zeros: bool, controls: &[f32], room: &'a mut [Round]) -> Gathered<'a> {
    let (rounds, rest) = inputs.as_chunks::<ROUND>();
    let mut count = 0;
    for (at, inputs) in rounds.iter().enumerate() {
        let mut x = [0.0; ROUND];
        let mut bits = u32::from(reads_zeros);
        for (x, &input) in x.iter_mut().zip(inputs) {
            *x = controls[usize::from(input)];
            // All but the sign.
            bits |= x.to_bits() << 1;
        }
        room[count] = Round { x, at: at as u32 };
        // Without a branch: whether a control is zero is anyone's guess.
        count += usize::from(bits != 0);
    }
    let mut x = [0.0; ROUND];
    for (x, &input) in x.iter_mut().zip(rest) {
        *x = controls[usize::from(input)];
    }
    let rest_len = rest.len();
    Gathered { rounds: &room[..count], rest: Round { x, at: rounds.len() as u32 }, rest_len }
}

/// The rows of a slab of `W` blocks.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "plain loops over constants unroll, and the sums stay in registers")]
fn rows_of<S: Simd, const W: usize>(simd: S, values: &[Lanes], gathered: Gathered) -> [[f32; LANES]; W] {
    let columns = values.as_chunks::<W>().0.as_chunks::<ROUND>().0;
    let mut sums = [[f32x8::splat(simd, 0.0); W]; ROUND];
    for round in gathered.rounds {
        let columns = &columns[round.at as usize];
        for i in 0..ROUND {
            for block in 0..W {
                sums[i][block] += f32x8::load_array_ref(simd, &columns[i][block].0) * round.x[i];
            }
        }
    }
    for i in 0..gathered.rest_len {
        for block in 0..W {
            let column = &columns[gathered.rest.at as usize][i];
            sums[0][block] += f32x8::load_array_ref(simd, &column[block].0) * gathered.rest.x[i];
        }
    }
    let mut rows = [[0.0; LANES]; W];
    for block in 0..W {
        let [a, b, c, d] = [sums[0][block], sums[1][block], sums[2][block], sums[3][block]];
        rows[block] = ((a + b) + (c + d)).to_array();
    }
    rows
}

/// The rows of a half block, whose rounds are two each; of `rounds` whole ones an odd last is incomplete.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "plain loops over constants unroll, and the sums stay in registers")]
fn half_rows<S: Simd>(simd: S, values: &[[f32; HALF]], rounds: usize, gathered: Gathered) -> [f32; HALF] {
    let columns = values.as_chunks::<ROUND>().0;
    let (mut even, mut odd) = ([f32x4::splat(simd, 0.0); ROUND], [f32x4::splat(simd, 0.0); ROUND]);
    for round in gathered.rounds {
        let at = round.at as usize;
        let columns = &columns[at];
        if at % 2 == 1 {
            for i in 0..ROUND {
                odd[i] += f32x4::load_array_ref(simd, &columns[i]) * round.x[i];
            }
        } else if at + 1 < rounds {
            for i in 0..ROUND {
                even[i] += f32x4::load_array_ref(simd, &columns[i]) * round.x[i];
            }
        } else {
            for i in 0..ROUND {
                even[0] += f32x4::load_array_ref(simd, &columns[i]) * round.x[i];
            }
        }
    }
    for i in 0..gathered.rest_len {
        even[0] += f32x4::load_array_ref(simd, &columns[gathered.rest.at as usize][i]) * gathered.rest.x[i];
    }
    let [a, b, c, d] = even;
    let [e, f, g, h] = odd;
    (((a + b) + (c + d)) + ((e + f) + (g + h))).to_array()
}

#[inline(always)]
fn write<const N: usize>(rows: &[[f32; N]], outputs: &[u32], results: &mut [f32]) {
    for (&row, &output) in rows.as_flattened().iter().zip(outputs) {
        results[output as usize] = row;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    /// The sums in the reference's order, a row at a time.
    fn scalar(row: usize, rows: usize, x: &[f32], value: impl Fn(usize, usize) -> f32) -> f32 {
        let padded = rows.next_multiple_of(4);
        let count = if row < padded / 8 * 8 { 4 } else { 8 };
        let mut sums = [0.0_f32; 8];
        let whole = x.len() / count * count;
        for (column, x) in x.iter().enumerate() {
            sums[if column < whole { column % count } else { 0 }] += value(row, column) * x;
        }
        let quarter = |s: &[f32]| (s[0] + s[1]) + (s[2] + s[3]);
        if count == 4 { quarter(&sums) } else { quarter(&sums) + quarter(&sums[4..]) }
    }

    fn multiply(level: Level, rows: usize, active: usize, x: &[f32], value: impl Fn(usize, usize) -> f32) -> Vec<f32> {
        let mut stored = Stored::default();
        // Something in front, so that a start counts.
        Slabs::new(&mut stored, 12, &[0; 3], |_, _| f32::NAN);
        // Controls backwards, and more columns than are used.
        let columns = x.len() + x.len() / 3;
        let inputs: Vec<u16> = (0..columns as u16).rev().collect();
        let slabs = Slabs::new(&mut stored, rows, &inputs, value);
        let mut controls = vec![f32::NAN; columns];
        x.iter().enumerate().for_each(|(i, x)| controls[columns - 1 - i] = *x);
        let outputs: Vec<u32> = (0..rows as u32).rev().collect();
        let mut results = vec![9.0; rows];
        let room = &mut vec![Round::default(); slabs.rounds()][..];
        let (used, outputs) = (x.len(), &outputs[..active]);
        dispatch!(level, simd => slabs.multiply(simd, &stored, used, &controls, room, outputs, &mut results));
        results.reverse();
        results
    }

    fn bits(values: &[f32]) -> Vec<u32> {
        values.iter().map(|v| v.to_bits()).collect()
    }

    #[test]
    fn slabs_of_any_size_add_in_the_reference_order_at_every_vector_width() {
        for rows in [1, 3, 4, 5, 8, 11, 12, 13, 16, 21, 32, 33, 40, 44, 70, 100] {
            for used in [0, 1, 3, 4, 7, 8, 9, 17, 31] {
                let value = |r: usize, c: usize| ((r * 37 + c * 13 + 1) as f32).sin();
                // Zeros of either sign, alone and for whole rounds.
                let control = |c: usize| {
                    if c / 4 % 3 == 1 || c.is_multiple_of(3) {
                        -0.0 * (c as f32 - 20.0)
                    } else {
                        (c as f32 * 0.7).cos()
                    }
                };
                let x: Vec<f32> = (0..used).map(control).collect();
                for active in [rows, rows / 2, 0] {
                    let expected = |r| if r < active { scalar(r, rows, &x, value) } else { 9.0 };
                    let expected: Vec<f32> = (0..rows).map(expected).collect();
                    for level in [Level::baseline(), Level::new()] {
                        let got = multiply(level, rows, active, &x, value);
                        assert_eq!(bits(&got), bits(&expected), "{rows} x {used} at {level:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn nan_in_a_control_reaches_every_row_and_in_a_coefficient_its_own() {
        for rows in [8, 12] {
            let got = multiply(Level::new(), rows, rows, &[1.0, f32::NAN, 0.0], |_, _| 0.0);
            assert!(got.iter().all(|x| x.is_nan()), "{got:?}");
            let value = |r: usize, c: usize| if (r, c) == (3, 1) { f32::INFINITY } else { 1.0 };
            let got = multiply(Level::new(), rows, rows, &[1.0, 0.0], value);
            assert!(got.iter().enumerate().all(|(r, x)| if r == 3 { x.is_nan() } else { *x == 1.0 }), "{got:?}");
        }
    }
}
