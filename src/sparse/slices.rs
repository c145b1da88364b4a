//! How packed sparse rows lie in GPU memory: sorted by length, in slices that one workgroup handles each.

use super::{PackedEntry, SparseEntries, SparseRows};
use rayon::prelude::*;

/// Invocations of the workgroup that handles one slice; those that the rows leave over share the rows' entries.
pub const WORKGROUP: usize = 256;

/// The most rows of a slice, so that a workgroup has an invocation for each row of four instances.
pub const MOST_ROWS: usize = 64;

/// How many entries of a row one invocation is meant to handle: a row of up to 16 is split four ways, one of 4,096 takes a whole workgroup.
const STEPS: usize = 16;

/// One slice: consecutive rows of the order.
///
/// Its words are two planes of `(length, rows)`: plane 0 has the first words of the entries, plane 1 the second ones. Neighbouring
/// invocations so read neighbouring words, and an entry of an inactive target costs one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Slice {
    /// Where its words begin.
    pub first_word: u32,
    /// Entries of its longest row, to which the others are padded.
    pub length: u32,
    /// A power of two, at most [`MOST_ROWS`].
    pub rows: u32,
    /// Its first row, an index into [`SparseSlices::order`].
    pub first_row: u32,
}

/// The rows of one mesh in the order that the device reads.
///
/// The padding is bounded whatever the rows are: slices of long rows have few of them, so all slices of one number of rows together are
/// padded by at most [`WORKGROUP`] * 16 entries, and those of a single row by none.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseSlices {
    /// Row -> vertex, (V): longest rows first, those of the same targets side by side.
    pub order: Vec<u32>,
    /// Every row is in one slice; the last slice may have room left over.
    pub slices: Vec<Slice>,
    /// The words of all slices.
    pub words: Vec<u32>,
}

impl SparseSlices {
    /// Lays out packed rows; `None` for [`super::DeltaFormat::F32`], which no device reads.
    ///
    /// # Panics
    /// When the result would pass 2^32 words: more than any device binds.
    #[must_use]
    pub fn new(rows: &SparseRows) -> Option<SparseSlices> {
        let SparseEntries::Packed(entries) = rows.entries() else { return None };
        let row = |vertex: u32| &entries[rows.range(vertex as usize)];
        let order = order(rows.vertex_count() as u32, row);
        let slices = slices(&order, |vertex| row(vertex).len());

        let total = slices.last().map_or(0, |s| s.first_word as usize + s.word_count());
        let mut words = vec![0; total];
        let mut rest = words.as_mut_slice();
        let mut parts = Vec::with_capacity(slices.len());
        for slice in &slices {
            let (own, after) = rest.split_at_mut(slice.word_count());
            let held = &order[slice.first_row as usize..];
            parts.push((own, slice, &held[..held.len().min(slice.rows as usize)]));
            rest = after;
        }
        parts.into_par_iter().for_each(|(words, slice, held)| fill(words, slice, held, row));
        Some(SparseSlices { order, slices, words })
    }

    /// Entries that the slices hold beyond those of the rows.
    #[must_use]
    pub fn padding(&self, rows: &SparseRows) -> usize {
        self.words.len() / 2 - rows.offsets()[rows.vertex_count()] as usize
    }
}

impl Slice {
    fn word_count(&self) -> usize {
        2 * self.length as usize * self.rows as usize
    }
}

/// Longest first, so that the slices that take longest begin first; rows of equal length by their targets, so that neighbours agree on what
/// is active.
fn order<'a>(vertex_count: u32, row: impl Fn(u32) -> &'a [PackedEntry] + Sync) -> Vec<u32> {
    let mut order: Vec<u32> = (0..vertex_count).collect();
    order.par_sort_unstable_by(|&a, &b| {
        let targets = |vertex| row(vertex).iter().map(|e: &PackedEntry| e.target());
        let by_length = row(b).len().cmp(&row(a).len());
        by_length.then_with(|| targets(a).cmp(targets(b))).then(a.cmp(&b))
    });
    order
}

fn slices(order: &[u32], length_of: impl Fn(u32) -> usize) -> Vec<Slice> {
    let mut slices = Vec::new();
    let (mut first_row, mut first_word) = (0, 0_usize);
    while let Some(&longest) = order.get(first_row) {
        let length = length_of(longest);
        let rows = WORKGROUP / length.div_ceil(STEPS).next_power_of_two().clamp(WORKGROUP / MOST_ROWS, WORKGROUP);
        let slice = Slice {
            first_word: u32::try_from(first_word).expect("deltas below 2^32 words"),
            length: length as u32,
            rows: rows as u32,
            first_row: first_row as u32,
        };
        first_word += slice.word_count();
        first_row += rows;
        slices.push(slice);
    }
    slices
}

/// A row is padded with its own last target, so that padding is active only where the row is anyway.
fn fill<'a>(words: &mut [u32], slice: &Slice, held: &[u32], row: impl Fn(u32) -> &'a [PackedEntry]) {
    let (plane_0, plane_1) = words.split_at_mut(words.len() / 2);
    for (lane, &vertex) in held.iter().enumerate() {
        let entries = row(vertex);
        let padding = PackedEntry::new(entries.last().map_or(0, |e| e.target()), [0; 3]);
        for step in 0..slice.length as usize {
            let entry = entries.get(step).copied().unwrap_or(padding);
            let at = step * slice.rows as usize + lane;
            [plane_0[at], plane_1[at]] = entry.words;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DeltaFormat, SparseTarget};
    use super::*;
    use std::collections::BTreeSet;

    /// Rows of the given lengths; row `v` has the targets from `v % 7` on.
    fn rows(lengths: &[usize]) -> SparseRows {
        let targets = lengths.iter().max().map_or(0, |most| most + 7);
        let vertices: Vec<Vec<u32>> = (0..targets)
            .map(|t| {
                let moves = |v: &u32| (*v as usize % 7..*v as usize % 7 + lengths[*v as usize]).contains(&t);
                (0..lengths.len() as u32).filter(moves).collect()
            })
            .collect();
        let deltas: Vec<Vec<[f32; 3]>> = vertices
            .iter()
            .enumerate()
            .map(|(t, moved)| moved.iter().map(|&v| [1.0 + t as f32, -1.0 - v as f32, 0.5]).collect())
            .collect();
        let targets: Vec<SparseTarget> = vertices
            .iter()
            .zip(&deltas)
            .map(|(vertices, deltas)| SparseTarget { channel: 0, vertices, deltas })
            .collect();
        SparseRows::new(lengths.len(), &targets, DeltaFormat::I16).unwrap()
    }

    /// The entries of a row that are not padding, read back as the shader addresses them.
    fn read(slices: &SparseSlices, row: usize) -> Vec<PackedEntry> {
        let holds = |s: &&Slice| (s.first_row as usize..(s.first_row + s.rows) as usize).contains(&row);
        let slice = slices.slices.iter().find(holds).expect("every row is in a slice");
        let plane = (slice.length * slice.rows) as usize;
        let at = |step: usize| slice.first_word as usize + step * slice.rows as usize + row - slice.first_row as usize;
        let entry = |step| PackedEntry { words: [slices.words[at(step)], slices.words[at(step) + plane]] };
        (0..slice.length as usize).map(entry).filter(|e| e.steps() != [0; 3]).collect()
    }

    #[test]
    fn slices_hold_every_row_once() {
        let mut lengths: Vec<usize> = (0..300).map(|v| v * v % 23).collect();
        lengths[17] = 900;
        lengths[200] = 130;
        let rows = rows(&lengths);
        let slices = SparseSlices::new(&rows).unwrap();
        let SparseEntries::Packed(entries) = rows.entries() else { panic!("floats") };
        for (row, &vertex) in slices.order.iter().enumerate() {
            assert_eq!(read(&slices, row), entries[rows.range(vertex as usize)], "row {row}, vertex {vertex}");
        }
        let mut vertices = slices.order.clone();
        vertices.sort_unstable();
        assert_eq!(vertices, (0..300).collect::<Vec<u32>>());
        assert!(slices.slices.iter().all(|s| s.rows.is_power_of_two() && s.rows as usize <= MOST_ROWS));
    }

    #[test]
    fn long_row_is_split_and_costs_its_own_slice_alone() {
        let mut lengths = vec![3; 200];
        lengths[77] = 2000;
        let slices = SparseSlices::new(&rows(&lengths)).unwrap();
        assert_eq!(slices.order[0], 77);
        // 2,000 entries by 16: 125 invocations, rounded up to half a workgroup.
        assert_eq!(slices.slices[0], Slice { first_word: 0, length: 2000, rows: 2, first_row: 0 });
        assert_eq!(slices.slices[1], Slice { first_word: 8000, length: 3, rows: 64, first_row: 2 });
        assert_eq!(slices.padding(&rows(&lengths)), 2000 - 3 + (4 * 64 - 198) * 3);
    }

    #[test]
    fn padding_is_bounded_whatever_the_rows() {
        for lengths in [
            vec![],
            vec![0],
            vec![0; 65],
            vec![1],
            vec![5, 0, 2],
            vec![5000, 1, 4097],
            (0..130).map(|v| v * v / 9).collect(),
        ] {
            let rows = rows(&lengths);
            let slices = SparseSlices::new(&rows).unwrap();
            let padded: BTreeSet<u32> = slices.slices.iter().map(|s| s.rows).filter(|rows| *rows > 1).collect();
            let most = WORKGROUP * STEPS * padded.len();
            assert!(slices.padding(&rows) <= most, "{} rows: {}", lengths.len(), slices.padding(&rows));
        }
    }

    #[test]
    fn floats_have_no_slices() {
        let target = SparseTarget { channel: 0, vertices: &[0], deltas: &[[1.0; 3]] };
        assert_eq!(SparseSlices::new(&SparseRows::new(1, &[target], DeltaFormat::F32).unwrap()), None);
    }
}
