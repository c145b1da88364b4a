//! The basis in GPU order: every entry in its place, and few bytes besides.

mod synthetic;

use half::f16;
use rigeval::gnm::layout::{BLOCK, GnmLayout, NO_VERTEX};
use rigeval::gnm::pack::{BasisFormat, GnmPack};
use synthetic::{FULL_REGIONS, SMALL_REGIONS};

/// No multiple of the block.
const V: usize = 1001;

/// A stored component as its bits, straight from the pack.
fn stored(pack: &GnmPack, vertex: usize, coefficient: usize, component: usize) -> u32 {
    let at = (vertex * pack.coefficient_count() + coefficient) * 3 + component;
    match pack.basis_format() {
        BasisFormat::F16 => u16::from_le_bytes([pack.basis_bytes()[2 * at], pack.basis_bytes()[2 * at + 1]]).into(),
        BasisFormat::I8 => pack.basis_bytes()[at].into(),
    }
}

fn value(format: BasisFormat, bits: u32) -> f32 {
    match format {
        BasisFormat::F16 => f16::from_bits(bits as u16).to_f32(),
        BasisFormat::I8 => f32::from(bits as u8 as i8),
    }
}

#[test]
fn layout_entries_equal_the_packs() {
    for format in [BasisFormat::F16, BasisFormat::I8] {
        let pack = synthetic::pack(V, SMALL_REGIONS, format);
        let layout = GnmLayout::new(&pack);
        assert_eq!(layout.order.len(), V.next_multiple_of(BLOCK));
        let mut seen = vec![false; V];
        for (slot, &vertex) in layout.order.iter().enumerate() {
            for c in 0..pack.coefficient_count() {
                let expected = match vertex {
                    NO_VERTEX => [0.0; 3],
                    _ => [0, 1, 2].map(|k| value(format, stored(&pack, vertex as usize, c, k))),
                };
                assert_eq!(
                    layout.entry(slot, c),
                    expected,
                    "{format:?}: slot {slot}, vertex {vertex}, coefficient {c}"
                );
            }
            if vertex != NO_VERTEX {
                assert!(!std::mem::replace(&mut seen[vertex as usize], true), "vertex {vertex} twice");
            }
        }
        assert!(seen.iter().all(|&s| s));
        assert_eq!(layout.order.iter().filter(|&&v| v == NO_VERTEX).count(), layout.order.len() - V);
    }
}

/// The words as the shader reads them, written down apart from the code under test.
#[test]
fn layout_words_are_planes_of_packed_components() {
    for format in [BasisFormat::F16, BasisFormat::I8] {
        let pack = synthetic::pack(V, SMALL_REGIONS, format);
        let layout = GnmLayout::new(&pack);
        let groups = pack.coefficient_count().div_ceil(32);
        assert_eq!(layout.row_words(), 1 + 2 * groups);
        let mut next = 0;
        for block in 0..layout.block_count {
            let row = &layout.table[block * layout.row_words()..][..layout.row_words()];
            assert_eq!(row[0] as usize, next, "blocks lie one after another");
            let mut present = 0;
            for c in 0..pack.coefficient_count() {
                let (mask, before) = (row[1 + 2 * (c / 32)], row[2 + 2 * (c / 32)]);
                if c % 32 == 0 {
                    assert_eq!(before, present);
                }
                let slots = &layout.order[block * BLOCK..][..BLOCK];
                let bits = |slot: usize, k| match slots[slot] {
                    NO_VERTEX => 0,
                    vertex => stored(&pack, vertex as usize, c, k),
                };
                let any = (0..BLOCK).any(|slot| (0..3).any(|k| value(format, bits(slot, k)) != 0.0));
                assert_eq!(mask >> (c % 32) & 1 == 1, any, "block {block}, coefficient {c}");
                if !any {
                    continue;
                }
                present += 1;
                for k in 0..3 {
                    match format {
                        BasisFormat::F16 => (0..32).for_each(|l| {
                            assert_eq!(layout.basis[next + 32 * k + l], bits(l, k) | bits(l + 32, k) << 16);
                        }),
                        BasisFormat::I8 => (0..16).for_each(|j| {
                            let [a, b, c, d] = [2 * j, 2 * j + 1, 2 * j + 32, 2 * j + 33].map(|slot| bits(slot, k));
                            assert_eq!(layout.basis[next + 16 * k + j], a | b << 8 | c << 16 | d << 24);
                        }),
                    }
                }
                next += if format == BasisFormat::F16 { 96 } else { 48 };
            }
        }
        assert_eq!(layout.basis.len(), next);
    }
}

#[test]
fn layout_full_size_reads_few_bytes_besides_the_nonzero() {
    const FULL: usize = 17_821;
    for format in [BasisFormat::F16, BasisFormat::I8] {
        let pack = synthetic::pack(FULL, FULL_REGIONS, format);
        let layout = GnmLayout::new(&pack);
        let nonzero = (0..FULL * pack.coefficient_count()).filter(|entry| {
            let (v, c) = (entry / pack.coefficient_count(), entry % pack.coefficient_count());
            (0..3).any(|k| value(format, stored(&pack, v, c, k)) != 0.0)
        });
        let nonzero_bytes = nonzero.count() * format.entry_bytes();
        assert_eq!(layout.nonzero_entry_bytes(), nonzero_bytes);
        let (basis, table) = (layout.basis_bytes(), layout.table_bytes());
        println!(
            "{format:?}: basis {basis} bytes, {:.3} of the nonzero; tables {:.1} bytes per vertex",
            basis as f64 / nonzero_bytes as f64,
            table as f64 / FULL as f64
        );
        assert!(basis as f64 <= 1.15 * nonzero_bytes as f64, "{format:?}: basis {basis}, nonzero {nonzero_bytes}");
        assert!(table <= 80 * FULL, "{format:?}: tables {table}");
    }
}

#[test]
fn layout_of_untouched_vertices_is_empty() {
    let mut parts = synthetic::parts(V, SMALL_REGIONS, BasisFormat::F16);
    // Negative zeros, which are zeros.
    parts.basis = [0x00, 0x80].repeat(parts.basis.len() / 2);
    let layout = GnmLayout::new(&GnmPack::build(&parts).expect("a pack"));
    assert_eq!((layout.basis.len(), layout.nonzero_entry_bytes(), layout.block_count), (0, 0, V.div_ceil(BLOCK)));
    assert!(layout.table.iter().all(|&word| word == 0));
}
