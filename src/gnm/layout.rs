//! How the basis lies in GPU memory: vertices sorted by support, in blocks of 64, each with the coefficients that reach it and no others.

use super::pack::{BasisFormat, GnmPack};
use half::f16;
use half::slice::HalfFloatSliceExt;
use rayon::prelude::*;
use std::ops::Range;

/// Vertices of one block: one workgroup's worth.
pub const BLOCK: usize = 64;

/// Stands in [`GnmLayout::order`] for a slot that holds no vertex.
pub const NO_VERTEX: u32 = u32::MAX;

/// The basis of one pack, moved (never converted) into the order that a workgroup reads.
///
/// A block is 64 slots. Its basis holds, for each coefficient that is not zero on all of them, in ascending order, three planes (x, y, z):
/// * f16: a plane is 32 words; word `l` has slot `l` in its low half and slot `l + 32` in its high half;
/// * i8: a plane is 16 words; word `j` has slots `2j`, `2j + 1`, `2j + 32`, `2j + 33` in its bytes, lowest first.
///
/// So invocation `l` of 32 handles slots `l` and `l + 32`, and neighbouring invocations read neighbouring words.
#[derive(Debug, Clone, PartialEq)]
pub struct GnmLayout {
    /// Slot -> vertex, [`NO_VERTEX`] in the slots that pad the last block; (64 * blocks).
    pub order: Vec<u32>,
    /// One row per block: the first word of its basis, then per group of 32 coefficients the mask of those present and how many are present
    /// in the groups before it; (blocks, 1 + 2 * ceil(E / 32)).
    pub table: Vec<u32>,
    /// The basis of all blocks, one after another.
    pub basis: Vec<u32>,
    /// How many blocks there are: ceil(V / 64).
    pub block_count: usize,
    format: BasisFormat,
    group_count: usize,
    nonzero_entries: usize,
}

impl GnmLayout {
    /// Lays out the basis of `pack`.
    ///
    /// # Panics
    /// When the result would pass 2^32 words: more than any device binds.
    #[must_use]
    pub fn new(pack: &GnmPack) -> GnmLayout {
        let format = pack.basis_format();
        let coefficient_count = pack.coefficient_count();
        let group_count = coefficient_count.div_ceil(32);
        let masks = support_masks(pack, group_count);
        let nonzero_entries = masks.par_iter().map(|word| word.count_ones() as usize).sum();

        let order = order_by_support(pack, &masks, group_count);
        let block_count = order.len() / BLOCK;
        let (table, basis_words) = block_table(&order, &masks, group_count, words_per_entry_block(format));
        drop(masks);

        let mut basis = vec![0; basis_words];
        let mut blocks = Vec::with_capacity(block_count);
        let mut rest = basis.as_mut_slice();
        for block in 0..block_count {
            let present = present_coefficients(row(&table, group_count, block));
            let (words, after) = rest.split_at_mut(present.len() * words_per_entry_block(format));
            blocks.push((words, present, &order[block * BLOCK..][..BLOCK]));
            rest = after;
        }
        blocks.into_par_iter().for_each(|(words, present, slots)| {
            fill_block(words, &present, slots, pack.basis_bytes(), coefficient_count, format);
        });
        GnmLayout { order, table, basis, block_count, format, group_count, nonzero_entries }
    }

    /// Words of one row of the table: 1 + 2 * ceil(E / 32).
    #[must_use]
    pub fn row_words(&self) -> usize {
        1 + 2 * self.group_count
    }

    /// The basis entry of one slot and coefficient as the pack stores it, before its scale; zero where the block leaves it out.
    #[must_use]
    pub fn entry(&self, slot: usize, coefficient: usize) -> [f32; 3] {
        let (block, lane) = (slot / BLOCK, slot % BLOCK);
        let row = row(&self.table, self.group_count, block);
        let (mask, before) = (row[1 + coefficient / 32 * 2], row[2 + coefficient / 32 * 2]);
        let bit = 1 << (coefficient % 32);
        if mask & bit == 0 {
            return [0.0; 3];
        }
        let position = (before + (mask & (bit - 1)).count_ones()) as usize;
        let words = words_per_entry_block(self.format);
        let entry = &self.basis[row[0] as usize + position * words..][..words];
        let (word, byte) = place(self.format, lane);
        [0, 1, 2].map(|k| {
            let stored = entry[k * words / 3 + word] >> (8 * byte);
            match self.format {
                BasisFormat::F16 => f16::from_bits(stored as u16).to_f32(),
                BasisFormat::I8 => f32::from(stored as u8 as i8),
            }
        })
    }

    /// Bytes of the basis: what a dense frame reads once.
    #[must_use]
    pub fn basis_bytes(&self) -> usize {
        4 * self.basis.len()
    }

    /// Bytes of the (vertex, coefficient) entries that are not zero: the least that any layout of this format reads.
    #[must_use]
    pub fn nonzero_entry_bytes(&self) -> usize {
        self.nonzero_entries * self.format.entry_bytes()
    }

    /// Bytes of the block table and of the slot order.
    #[must_use]
    pub fn table_bytes(&self) -> usize {
        4 * (self.table.len() + self.order.len())
    }
}

impl BasisFormat {
    /// Bytes of one entry: three components.
    #[must_use]
    pub fn entry_bytes(self) -> usize {
        match self {
            BasisFormat::F16 => 6,
            BasisFormat::I8 => 3,
        }
    }

    /// Replaces `out` by a run of entries of a stored basis, widened exactly.
    pub(crate) fn decode(self, stored: &[u8], entries: Range<usize>, out: &mut Vec<[f32; 3]>) {
        let bytes = &stored[entries.start * self.entry_bytes()..entries.end * self.entry_bytes()];
        out.resize(entries.len(), [0.0; 3]);
        let components = out.as_flattened_mut();
        match self {
            BasisFormat::F16 => {
                // The blob may begin at any byte, so halves are put together before the vectorised conversion.
                let mut halves = [f16::ZERO; 96];
                for (out, bytes) in components.chunks_mut(halves.len()).zip(bytes.chunks(2 * halves.len())) {
                    let halves = &mut halves[..out.len()];
                    for (half, pair) in halves.iter_mut().zip(bytes.chunks_exact(2)) {
                        *half = f16::from_le_bytes([pair[0], pair[1]]);
                    }
                    halves.convert_to_f32_slice(out);
                }
            }
            BasisFormat::I8 => {
                for (out, &byte) in components.iter_mut().zip(bytes) {
                    *out = f32::from(byte as i8);
                }
            }
        }
    }

    /// Whether a stored entry is zero in all three components; a negative zero is one.
    fn is_zero(self, entry: &[u8]) -> bool {
        match self {
            BasisFormat::F16 => entry.chunks_exact(2).all(|half| half[0] == 0 && half[1] & 0x7f == 0),
            BasisFormat::I8 => entry == [0; 3],
        }
    }
}

/// Words that one coefficient takes in one block.
fn words_per_entry_block(format: BasisFormat) -> usize {
    BLOCK * format.entry_bytes() / 4
}

/// Where a slot of the block stands in a plane: the word, and the byte that its component begins at.
fn place(format: BasisFormat, lane: usize) -> (usize, usize) {
    let (column, upper) = (lane % 32, lane / 32);
    match format {
        BasisFormat::F16 => (column, 2 * upper),
        BasisFormat::I8 => (column / 2, column % 2 + 2 * upper),
    }
}

fn row(table: &[u32], group_count: usize, block: usize) -> &[u32] {
    let words = 1 + 2 * group_count;
    &table[block * words..][..words]
}

fn present_coefficients(row: &[u32]) -> Vec<usize> {
    let masks = row[1..].iter().step_by(2);
    masks
        .enumerate()
        .flat_map(|(g, mask)| (0..32).filter(move |bit| mask >> bit & 1 == 1).map(move |bit| 32 * g + bit))
        .collect()
}

/// Which coefficients move each vertex: bit `c % 32` of word `c / 32`, (V, ceil(E / 32)).
fn support_masks(pack: &GnmPack, group_count: usize) -> Vec<u32> {
    let entry_bytes = pack.basis_format().entry_bytes();
    let mut masks = vec![0; pack.vertex_count() * group_count];
    let row_bytes = (pack.coefficient_count() * entry_bytes).max(1);
    let rows = pack.basis_bytes().par_chunks_exact(row_bytes);
    masks.par_chunks_exact_mut(group_count.max(1)).zip(rows).for_each(|(mask, row)| {
        for (c, entry) in row.chunks_exact(entry_bytes).enumerate() {
            mask[c / 32] |= u32::from(!pack.basis_format().is_zero(entry)) << (c % 32);
        }
    });
    masks
}

/// The vertices, those with like support side by side, padded to whole blocks.
///
/// Regions first, because one vertex of a foreign region costs its block all of that region's coefficients; then the size of the support,
/// because a region fades out coefficient by coefficient where small entries round to zero; then the support itself and file order.
fn order_by_support(pack: &GnmPack, masks: &[u32], group_count: usize) -> Vec<u32> {
    let mask = |v: u32| &masks[v as usize * group_count..][..group_count];
    let keys: Vec<(u64, u32)> = (0..pack.vertex_count() as u32)
        .into_par_iter()
        .map(|v| (touched_regions(pack, mask(v)), mask(v).iter().map(|word| word.count_ones()).sum()))
        .collect();
    let mut order: Vec<u32> = (0..pack.vertex_count() as u32).collect();
    order.par_sort_unstable_by(|&a, &b| {
        let by_key = keys[a as usize].cmp(&keys[b as usize]);
        by_key.then_with(|| mask(a).cmp(mask(b))).then(a.cmp(&b))
    });
    order.resize(order.len().next_multiple_of(BLOCK), NO_VERTEX);
    order
}

/// One bit per region; regions past the 64th share the last bit, which costs order, not correctness.
fn touched_regions(pack: &GnmPack, mask: &[u32]) -> u64 {
    let mut touched = 0;
    let mut first = 0;
    for (region, count) in pack.regions().iter().map(|region| region.count).enumerate() {
        let any = (first..first + count).any(|c| mask[c / 32] >> (c % 32) & 1 == 1);
        touched |= u64::from(any) << region.min(63);
        first += count;
    }
    touched
}

/// The table, and how many words the basis takes.
fn block_table(order: &[u32], masks: &[u32], group_count: usize, words_per_entry: usize) -> (Vec<u32>, usize) {
    let mut table = Vec::with_capacity(order.len() / BLOCK * (1 + 2 * group_count));
    let mut next_word = 0usize;
    for slots in order.chunks_exact(BLOCK) {
        table.push(u32::try_from(next_word).expect("a basis below 2^32 words"));
        let mut before = 0;
        for group in 0..group_count {
            let vertices = slots.iter().filter(|&&v| v != NO_VERTEX);
            let mask = vertices.fold(0, |mask, &v| mask | masks[v as usize * group_count + group]);
            table.extend([mask, before]);
            before += mask.count_ones();
        }
        next_word += before as usize * words_per_entry;
    }
    (table, next_word)
}

fn fill_block(
    words: &mut [u32],
    present: &[usize],
    slots: &[u32],
    stored: &[u8],
    coefficient_count: usize,
    format: BasisFormat,
) {
    let (entry_bytes, words_per_entry) = (format.entry_bytes(), words_per_entry_block(format));
    for (lane, &vertex) in slots.iter().enumerate().filter(|(_, v)| **v != NO_VERTEX) {
        let (word, byte) = place(format, lane);
        for (out, &c) in words.chunks_exact_mut(words_per_entry).zip(present) {
            let entry = &stored[(vertex as usize * coefficient_count + c) * entry_bytes..][..entry_bytes];
            for (k, component) in entry.chunks_exact(entry_bytes / 3).enumerate() {
                let bits = component.iter().rev().fold(0, |bits, &byte| bits << 8 | u32::from(byte));
                out[k * words_per_entry / 3 + word] |= bits << (8 * byte);
            }
        }
    }
}
