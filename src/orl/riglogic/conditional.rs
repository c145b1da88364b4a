//! Conditional tables: piecewise linear functions of single controls, summed per output and clamped to 0..1.

use crate::orl::dna::Conditional;
use std::cmp::Reverse;

/// The rows of a table, in file order.
#[derive(Debug, Clone, Default)]
pub(super) struct ConditionalTable {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    row: Conditional,
    /// The first row after the adjacent ones of the same input and output: they are pieces of one function, and one of them counts.
    next: usize,
}

impl ConditionalTable {
    /// Takes rows whose indices are in range.
    pub(super) fn new(rows: &[Conditional]) -> ConditionalTable {
        let piece = |(i, row): (usize, &Conditional)| {
            let (from, to) = if row.from > row.to { (row.to, row.from) } else { (row.from, row.to) };
            Piece { row: Conditional { from, to, ..*row }, next: i + 1 }
        };
        let mut pieces: Vec<Piece> = rows.iter().enumerate().map(piece).collect();
        for i in (1..pieces.len()).rev() {
            let after = pieces[i];
            let piece = &mut pieces[i - 1];
            if (piece.row.input, piece.row.output) == (after.row.input, after.row.output) {
                piece.next = after.next;
            }
        }
        ConditionalTable { pieces }
    }

    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The inputs of the first `rows` rows.
    pub(super) fn inputs(&self, rows: usize) -> impl Iterator<Item = usize> {
        self.pieces[..rows].iter().map(|p| usize::from(p.row.input))
    }

    /// The outputs that rows write, some of them several times.
    pub(super) fn outputs(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().map(|p| usize::from(p.row.output))
    }

    /// Writes every output: the sum of the pieces whose closed range holds their input among the first `rows` rows, clamped.
    pub(super) fn run(&self, rows: usize, inputs: &[f32], outputs: &mut [f32]) {
        outputs.fill(0.0);
        let mut i = 0;
        while let Some(piece) = self.pieces[..rows].get(i) {
            let (row, v) = (&piece.row, inputs[usize::from(piece.row.input)]);
            i += 1;
            if row.from <= v && v <= row.to {
                outputs[usize::from(row.output)] += row.slope * v + row.cut;
                i = piece.next;
            }
        }
        outputs.iter_mut().for_each(|x| *x = x.clamp(0.0, 1.0));
    }

    /// For every input the value that would explain the outputs best: among its ranges the one that most rows agree on. Not an exact inverse.
    pub(super) fn reverse(&self, outputs: &[f32], inputs: &mut [f32]) {
        inputs.fill(0.0);
        // Rows by input and range, each with its place in the table; -0 and 0 bound the same range.
        let key = |row: &Conditional| (row.input, (row.from + 0.0).to_bits(), (row.to + 0.0).to_bits());
        let mut rows: Vec<(usize, &Conditional)> = self.pieces.iter().map(|p| &p.row).enumerate().collect();
        rows.sort_by_key(|(_, row)| key(row));
        let explains = |row: &Conditional| {
            let x = (outputs[usize::from(row.output)] - row.cut) / row.slope;
            (row.slope != 0.0 && row.from <= x && x <= row.to).then_some(x)
        };
        for rows in rows.chunk_by(|(_, a), (_, b)| a.input == b.input) {
            let ranges = rows.chunk_by(|(_, a), (_, b)| key(a) == key(b));
            let agrees = |row: &Conditional| outputs[usize::from(row.output)] != 0.0 && explains(row).is_some();
            // Of ranges with as many rows the table's first wins.
            let rank = |range: &&[(usize, &Conditional)]| {
                (range.iter().filter(|(_, row)| agrees(row)).count(), Reverse(range[0].0))
            };
            if let Some(range) = ranges.max_by_key(rank) {
                let value = range.iter().find_map(|(_, row)| explains(row));
                inputs[usize::from(range[0].1.input)] = value.unwrap_or(0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (input, output, from, to, slope, cut)
    fn table(rows: &[(u16, u16, f32, f32, f32, f32)]) -> ConditionalTable {
        let row = |&(input, output, from, to, slope, cut)| Conditional { input, output, from, to, slope, cut };
        ConditionalTable::new(&rows.iter().map(row).collect::<Vec<_>>())
    }

    fn run(table: &ConditionalTable, rows: usize, inputs: &[f32]) -> [f32; 2] {
        let mut outputs = [9.0; 2];
        table.run(rows, inputs, &mut outputs);
        outputs
    }

    #[test]
    fn table_clamps_the_sum_and_not_its_terms() {
        // 2 - 1.5 = 0.5; term by term it would be 1 + 0.
        let t = table(&[(0, 0, 0.0, 1.0, 2.0, 0.0), (1, 0, 0.0, 1.0, -1.5, 0.0)]);
        assert_eq!(run(&t, 2, &[1.0, 1.0]), [0.5, 0.0]);
        assert_eq!(run(&t, 2, &[0.0, 1.0]), [0.0, 0.0]);
        assert_eq!(run(&t, 1, &[1.0, 1.0]), [1.0, 0.0]);
    }

    #[test]
    fn table_adjacent_pieces_count_once_and_separated_ones_twice() {
        let adjacent = table(&[(0, 0, 0.0, 0.5, 0.5, 0.0), (0, 0, 0.5, 1.0, 1.0, 0.0)]);
        assert_eq!(run(&adjacent, 2, &[0.5]), [0.25, 0.0]);
        let apart = table(&[(0, 0, 0.0, 0.5, 0.5, 0.0), (0, 1, 0.0, 1.0, 1.0, 0.0), (0, 0, 0.5, 1.0, 1.0, 0.0)]);
        assert_eq!(run(&apart, 3, &[0.5]), [0.75, 0.5]);
    }

    #[test]
    fn table_range_is_closed_and_nothing_is_extrapolated() {
        let t = table(&[(0, 0, 1.0, 0.0, 0.5, 0.25)]);
        assert_eq!(run(&t, 1, &[0.0])[0], 0.25);
        assert_eq!(run(&t, 1, &[1.0])[0], 0.75);
        assert_eq!(run(&t, 1, &[1.000_000_1])[0], 0.0);
        assert_eq!(run(&t, 1, &[-1e-7])[0], 0.0);
        assert_eq!(run(&t, 1, &[f32::NAN])[0], 0.0);
    }

    #[test]
    fn reverse_takes_the_range_that_most_rows_agree_on() {
        // Outputs 0.5 and 0.25: range (-1, 0) has one agreeing row (x = -0.5), range (0, 1) two (x = 0.5 and 0.25, of which the first counts).
        let t = table(&[(0, 0, -1.0, 0.0, -1.0, 0.0), (0, 0, 0.0, 1.0, 1.0, 0.0), (0, 1, 0.0, 1.0, 1.0, 0.0)]);
        let mut inputs = [9.0; 2];
        t.reverse(&[0.5, 0.25], &mut inputs);
        assert_eq!(inputs, [0.5, 0.0]);
    }

    #[test]
    fn reverse_tie_takes_the_first_range_and_a_flat_row_is_skipped() {
        let t = table(&[(0, 0, 0.0, 1.0, 0.0, 0.5), (0, 1, 0.0, 1.0, 1.0, 0.0), (0, 1, -1.0, 0.0, -1.0, 0.0)]);
        let mut inputs = [9.0];
        t.reverse(&[0.5, 0.75], &mut inputs);
        assert_eq!(inputs, [0.75]);
    }

    #[test]
    fn reverse_of_a_long_table_compares_no_row_with_every_other() {
        // A range of its own for each of 200,000 rows of one control; -0 and 0 bound the same one, which two rows agree on.
        let row = |i: u32| (0, 0, -(i as f32) - 2.0, -(i as f32) - 1.0, 1.0, 0.0);
        let mut rows: Vec<_> = (0..200_000).map(row).collect();
        rows.extend([(0, 1, -0.0, 1.0, 2.0, 0.0), (0, 1, 0.0, 1.0, 4.0, 0.0)]);
        let mut inputs = [9.0];
        table(&rows).reverse(&[-100.5, 0.5], &mut inputs);
        assert_eq!(inputs, [0.25]);
    }
}
