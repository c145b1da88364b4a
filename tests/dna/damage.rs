//! Damaged files: every truncation, every case that the format's own reader was tried on, noise.

use super::{read, rig};
use proptest::prelude::*;
use rigeval::error::LoadErrorKind::{self, Corrupt, Format, Missing, Truncated, Value, Version};
use rigeval::orl::dna::{Dna, LoadOptions};

#[test]
fn dna_truncated_is_rejected() {
    for name in ["tiny", "tiny_v21", "tiny_future_layer", "ml_ext", "rbf_quat", "twist"] {
        let bytes = rig(name);
        for length in 0..bytes.len() {
            assert!(Dna::read(&bytes[..length]).is_err(), "{name}: the first {length} of {} bytes", bytes.len());
        }
    }
}

fn put(mut bytes: Vec<u8>, at: usize, value: u32) -> Vec<u8> {
    bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
    bytes
}

/// Where an index entry of a file from 2.2 stands, and the offset and size it states.
fn entry(bytes: &[u8], id: &[u8; 4]) -> (usize, usize, usize) {
    let at = 11 + bytes[11..].chunks(16).position(|e| &e[..4] == id).unwrap() * 16;
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    (at, number(at + 8), number(at + 12))
}

/// The rows of riglogic-eval.md section 14: the reference reader takes many of them; the answer here is a named refusal.
#[test]
fn damaged_file_is_refused_by_name() {
    let tiny = || rig("tiny");
    let v21 = || rig("tiny_v21");
    let size = tiny().len();
    let (geom, geom_offset, geom_size) = entry(&tiny(), b"geom");
    let (desc, desc_offset, _) = entry(&tiny(), b"desc");
    let (defn, defn_offset, defn_size) = entry(&tiny(), b"defn");
    let cut = |length: usize| tiny()[..length].to_vec();
    let header = |generation: u16, version: u16| {
        let mut bytes = tiny();
        bytes[3..5].copy_from_slice(&generation.to_be_bytes());
        bytes[5..7].copy_from_slice(&version.to_be_bytes());
        bytes
    };
    let lfs = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n".to_vec();
    // Metadata, four enumerations and the axes lie between the name and the level count.
    let lod_count_at = tiny().windows(6).position(|w| w == [0, 2, 0, 0, 0, 0]).unwrap();
    assert!(lod_count_at > desc_offset);
    let mut many_lods = tiny();
    many_lods[lod_count_at..lod_count_at + 2].copy_from_slice(&34u16.to_be_bytes());
    let v21_size = v21().len();
    let mut no_end = v21();
    no_end.truncate(v21_size - 3);
    let mut wrong_end = v21();
    wrong_end[v21_size - 1] = b'X';
    let position_count = geom_offset + 8;
    let cases: Vec<(&str, Vec<u8>, LoadErrorKind, &str)> = vec![
        ("empty", vec![], Format, "an empty file"),
        ("one byte", b"D".to_vec(), Format, "\"D\" (bytes 44)"),
        (
            "first byte",
            {
                let mut b = tiny();
                b[0] = b'E';
                b
            },
            Format,
            "\"ENA\" (bytes 45 4e 41)",
        ),
        (
            "lower case",
            {
                let mut b = tiny();
                b[..3].copy_from_slice(b"dna");
                b
            },
            Format,
            "\"dna\"",
        ),
        ("git-lfs pointer", lfs, Format, "a Git-LFS pointer"),
        ("signature only", cut(3), Truncated, "file version"),
        ("header only", cut(7), Truncated, "layer index"),
        ("header and count", cut(11), Truncated, "layer index"),
        ("cut in the index", cut(60), Truncated, "layer index"),
        ("cut after defn", cut(defn_offset + defn_size), Truncated, "layer \"bhvr\""),
        ("half", cut(size / 2), Truncated, "layer"),
        ("nine tenths", cut(size * 9 / 10), Truncated, "layer"),
        ("one byte less", cut(size - 1), Truncated, "layer \"dsce\""),
        ("generation 1", header(1, 8), Version, "expected 2.1 to 2.8 or a newer 2.x, got 1.8"),
        ("generation 3", header(3, 8), Version, "got 3.8"),
        ("version 2.0", header(2, 0), Version, "got 2.0"),
        ("2.8 as 2.7", header(2, 7), Corrupt, "layer \"dsce\""),
        ("2.8 as 2.1", header(2, 1), Truncated, "section \"descriptor\""),
        ("no entries", put(tiny(), 7, 0), Missing, "layer \"desc\""),
        ("most entries", put(tiny(), 7, u32::MAX), Truncated, "layer index"),
        ("one entry too many", put(tiny(), 7, 12), Truncated, "layer"),
        ("geom offset past the end", put(tiny(), geom + 8, size as u32 + 1), Truncated, "layer \"geom\""),
        ("geom size past the end", put(tiny(), geom + 12, size as u32), Truncated, "layer \"geom\""),
        ("geom size 0", put(tiny(), geom + 12, 0), Truncated, "layer \"geom\""),
        ("geom size one less", put(tiny(), geom + 12, geom_size as u32 - 1), Truncated, "layer \"geom\": meshes[0]"),
        ("geom size one more", put(tiny(), geom + 12, geom_size as u32 + 1), Corrupt, "layer \"geom\""),
        ("desc unknown", put(tiny(), desc, 0x7a7a_7a7a), Missing, "layer \"desc\""),
        ("defn unknown", put(tiny(), defn, 0x7a7a_7a7a), Missing, "layer \"defn\""),
        ("geom twice", put(put(tiny(), geom + 16, 0x6765_6f6d), geom + 20, 0x1_0001), Corrupt, "two"),
        ("mesh count", put(tiny(), geom_offset, 0x7fff_ffff), Truncated, "meshes"),
        ("mesh size", put(tiny(), geom_offset + 4, 9), Truncated, "meshes[0].positions.xs"),
        ("position count over the file", put(tiny(), position_count, size as u32 + 1), Truncated, "positions.xs"),
        ("position count of the file", put(tiny(), position_count, size as u32), Truncated, "positions.xs"),
        ("name length", put(tiny(), desc_offset, 0x7fff_ffff), Truncated, "descriptor.name"),
        ("34 levels", many_lods, Value, "descriptor.lod_count"),
        ("2.1: half", v21()[..v21_size / 2].to_vec(), Truncated, ""),
        ("2.1: 40 bytes less", v21()[..v21_size - 40].to_vec(), Truncated, ""),
        ("2.1: geometry past the end", put(v21(), 7 + 28, v21_size as u32 + 1), Truncated, "section \"geometry\""),
        ("2.1: section in the header", put(v21(), 7, 38), Truncated, "section \"descriptor\""),
        ("2.1: end of a mesh", put(v21(), v21_mesh(&v21()), 8), Truncated, "meshes[0]"),
        ("2.1: without AND", no_end, Truncated, "AND"),
        ("2.1: another end", wrong_end, Truncated, "AND"),
    ];
    for (label, bytes, kind, part) in cases {
        let error = Dna::read(&bytes).expect_err(label);
        let message = error.to_string();
        assert_eq!(error.kind, kind, "{label}: {message}");
        assert!(message.contains(part), "{label}: {message}");
        assert_eq!(message.lines().count(), 1, "{label}: {message}");
    }
}

/// Where the end of the first mesh is stated in a 2.1 file.
fn v21_mesh(bytes: &[u8]) -> usize {
    u32::from_be_bytes(bytes[7 + 28..7 + 32].try_into().unwrap()) as usize + 4
}

/// The rows of the same section that are read here as well.
#[test]
fn harmless_difference_is_read() {
    let tiny = read("tiny");
    let mut longer = rig("tiny");
    longer.extend([0; 16]);
    assert_eq!(Dna::read(&longer).unwrap(), tiny);
    let mut newer = rig("tiny");
    newer[6] = 9;
    assert_eq!(Dna::read(&newer).unwrap(), Dna { version: 9, ..tiny.clone() });
    let (geom, offset, size) = entry(&rig("tiny"), b"geom");
    let body = rig("tiny")[offset..offset + size].to_vec();
    for (at, value) in [(geom, 0x7a7a_7a7a), (geom + 4, 0x1_0002)] {
        let dna = Dna::read(&put(rig("tiny"), at, value)).unwrap();
        assert!(dna.meshes.is_empty());
        assert_eq!(dna.unknown_layers[0].bytes, body);
    }
}

#[test]
fn newer_version_with_longer_layer_is_read_as_the_newest_known() {
    let mut bytes = rig("tiny");
    let (entry, ..) = entry(&bytes, b"dsce");
    bytes[6] = 9;
    bytes.push(7);
    let dna = Dna::read(&put(bytes, entry + 12, 18)).unwrap();
    assert_eq!(dna, read("tiny"));
}

#[test]
fn layers_on_one_another_are_refused() {
    let mut bytes = b"DNA\0\x02\0\x08".to_vec();
    bytes.extend(1000u32.to_be_bytes());
    for _ in 0..1000 {
        bytes.extend(*b"zzzz\0\x01\0\0\0\0\0\0\0\0\x3e\x80");
    }
    let error = Dna::read(&bytes).unwrap_err();
    assert_eq!((error.kind, error.found.as_str()), (Corrupt, "layers that overlap"));
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    let mut bytes = rig("tiny");
    let (_, offset, _) = entry(&bytes, b"desc");
    bytes[offset + 4] = 0xff;
    let error = Dna::read(&bytes).unwrap_err();
    assert_eq!((error.kind, error.field.as_str()), (Value, "layer \"desc\": descriptor.name"));
}

/// Whatever is accepted is sound: it writes, and reads back equal.
fn assert_sound(bytes: &[u8]) {
    if let Ok(dna) = Dna::read(bytes) {
        let written = dna.write(dna.version).expect("a read rig writes");
        assert!(Dna::read(&written).expect("a written rig reads") == dna);
        for lods in 0..dna.descriptor.lod_count {
            let options = LoadOptions { lods: Some(lods..lods + 1), ..LoadOptions::default() };
            let cut = Dna::read_with(bytes, &options).expect("every level can be kept");
            cut.check().expect("a cut rig is sound");
        }
    }
}

const RIGS: [&str; 7] = ["tiny", "tiny_v21", "ml_legacy", "ml_ext", "rbf_v24", "rbf_quat", "twist"];

proptest! {
    #[test]
    fn noise_never_panics(mut bytes in prop::collection::vec(any::<u8>(), 0..400), version in 0u8..10) {
        assert_sound(&bytes);
        if bytes.len() >= 7 {
            bytes[..7].copy_from_slice(&[b'D', b'N', b'A', 0, 2, 0, version]);
            assert_sound(&bytes);
        }
    }

    #[test]
    fn flipped_bits_never_panic(name in 0..RIGS.len(), flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8), 1..6)) {
        let mut bytes = rig(RIGS[name]);
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1u8 << bit;
        }
        assert_sound(&bytes);
    }

    #[test]
    fn overwritten_words_never_panic(name in 0..RIGS.len(), at in any::<prop::sample::Index>(), value in prop_oneof![any::<u32>(), 0u32..40, Just(u32::MAX)]) {
        let bytes = rig(RIGS[name]);
        let at = at.index(bytes.len() - 4);
        assert_sound(&put(bytes, at, value));
    }
}
