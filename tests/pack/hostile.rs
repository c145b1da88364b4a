//! Bytes that are no pack, or almost one: an error or a pack, never a panic.

use crate::raw::{Raw, parts};
use proptest::prelude::*;
use rigeval::gnm::pack::GnmPack;
use rigeval::gnm::pose::GnmPose;

fn tiny() -> Vec<u8> {
    let mut parts = parts(8);
    parts.source = serde_json::Value::Null;
    GnmPack::build(&parts).unwrap().write()
}

/// Whatever is accepted can be used and written, and is accepted again.
fn exercise(bytes: Vec<u8>) {
    let Ok(pack) = GnmPack::read(bytes) else { return };
    let mesh = pack.mesh();
    assert_eq!(mesh.triangles.len(), pack.faces().len());
    assert_eq!(pack.control_names().len(), pack.coefficient_count() + 4);
    assert_eq!(pack.rest_positions().len(), pack.vertex_count());
    let _ = pack.rest_normals();
    let mut pose = GnmPose::new(&pack);
    pose.set_controls(&pack, &vec![0.5; pack.coefficient_count() + 4]).unwrap();
    let written = pack.write();
    assert_eq!(GnmPack::read(written.clone()).unwrap().write(), written);
}

#[test]
fn pack_truncated_is_rejected() {
    let whole = tiny();
    for length in 0..whole.len() {
        assert!(GnmPack::read(whole[..length].to_vec()).is_err(), "{length} of {} bytes", whole.len());
    }
}

#[test]
fn pack_truncated_with_its_length_corrected_is_rejected() {
    let whole = tiny();
    // Fewer than 8 bytes at the end may be padding, without which nothing is missing.
    for length in 16..=whole.len() - 8 {
        let mut bytes = whole[..length].to_vec();
        bytes[12..16].copy_from_slice(&(length as u32).to_le_bytes());
        assert!(GnmPack::read(bytes).is_err(), "{length} of {} bytes", whole.len());
    }
}

#[test]
fn pack_with_every_byte_changed_in_turn_does_not_panic() {
    let whole = tiny();
    for at in 0..whole.len() {
        for flip in [0x01, 0x10, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            exercise(bytes);
        }
    }
}

/// Numbers where a count, an offset or a parent stood.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "3",
    "7",
    "9",
    "4294967295",
    "4294967296",
    "9223372036854775808",
    "18446744073709551615",
    "1e400",
    "-0.0",
    "2.5",
    "null",
];

proptest! {
    #[test]
    fn pack_of_arbitrary_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        exercise(bytes);
    }

    #[test]
    fn pack_of_arbitrary_header_does_not_panic(text in "[\\[\\]{}:,\"a-z0-9 .eE+-]{0,200}") {
        let mut bytes = b"AOSRIG01".to_vec();
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend((16 + text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
        exercise(bytes);
    }

    #[test]
    fn pack_with_changed_bytes_does_not_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = tiny();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        exercise(bytes);
    }

    #[test]
    fn pack_with_changed_header_numbers_does_not_panic(which in any::<prop::sample::Index>(), number in prop::sample::select(&NUMBERS[..])) {
        let bytes = Raw::of(&tiny()).bytes();
        let header_bytes = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
        let text = std::str::from_utf8(&bytes[16..16 + header_bytes]).unwrap();
        let starts: Vec<usize> = text
            .match_indices(|c: char| c.is_ascii_digit())
            .map(|(i, _)| i)
            .filter(|&i| matches!(text.as_bytes()[i - 1], b':' | b',' | b'['))
            .collect();
        let start = starts[which.index(starts.len())];
        let end = start + text[start..].find(|c: char| !c.is_ascii_digit() && c != '.').unwrap();
        let text = format!("{}{number}{}", &text[..start], &text[end..]);
        let mut changed = bytes.clone();
        changed[8..12].copy_from_slice(&(text.len() as u32).to_le_bytes());
        changed[16..16 + text.len()].copy_from_slice(text.as_bytes());
        exercise(changed);
    }
}
