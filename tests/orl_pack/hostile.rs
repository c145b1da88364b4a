//! Bytes that are no pack, or almost one: an error or a pack, never a panic.

use crate::rig::{Raw, parts};
use proptest::prelude::*;
use rigeval::orl::container::Container;
use rigeval::orl::pack::OrlPack;

fn tiny() -> Vec<u8> {
    OrlPack::build(&parts()).unwrap().write()
}

/// Whatever is accepted can be used and written, and is accepted again.
fn exercise(bytes: Vec<u8>) {
    let Ok(pack) = OrlPack::read(bytes) else { return };
    assert_eq!(pack.influences().vertex_count(), pack.vertex_count());
    assert_eq!(pack.deltas().len(), pack.delta_vertices().len());
    let covered: usize = pack.targets().iter().map(|t| t.count).sum();
    assert_eq!(covered, pack.deltas().len());
    let written = pack.write();
    assert_eq!(OrlPack::read(written.clone()).unwrap().write(), written);
}

#[test]
fn pack_truncated_is_rejected() {
    let whole = tiny();
    for length in 0..whole.len() {
        assert!(OrlPack::read(whole[..length].to_vec()).is_err(), "{length} of {} bytes", whole.len());
    }
}

#[test]
fn pack_truncated_with_its_length_corrected_is_rejected() {
    let mut parts = parts();
    // Triangles are optional, so they must not be the last member to be cut.
    parts.triangles.clear();
    let whole = OrlPack::build(&parts).unwrap().write();
    for length in 16..=whole.len() - 8 {
        let mut bytes = whole[..length].to_vec();
        bytes[12..16].copy_from_slice(&(length as u32).to_le_bytes());
        assert!(OrlPack::read(bytes).is_err(), "{length} of {} bytes", whole.len());
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

proptest! {
    #[test]
    fn container_of_any_members_comes_back(members in prop::collection::btree_map("\\PC{1,9}", prop::collection::vec(any::<u8>(), 0..40), 1..9)) {
        let list: Vec<(&str, &[u8])> = members.iter().map(|(n, d)| (n.as_str(), &d[..])).collect();
        let container = Container::build(list.clone()).unwrap();
        prop_assert_eq!(container.members().collect::<Vec<_>>(), list);
        let bytes = container.write();
        prop_assert_eq!(bytes.len() % 8, 0);
        prop_assert_eq!(Container::read(bytes.clone()).unwrap().write(), bytes);
    }

    #[test]
    fn pack_of_arbitrary_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        exercise(bytes);
    }

    #[test]
    fn pack_of_arbitrary_table_does_not_panic(toc in "[\\[\\]{}:,\"nol0-9 .eE+-]{0,200}") {
        exercise(Raw::of(&tiny()).bytes_with(&toc));
    }

    #[test]
    fn pack_of_arbitrary_json_does_not_panic(which in 0usize..2, text in "[\\[\\]{}:,\"a-zV0-9 .eE+-]{0,200}") {
        let mut raw = Raw::of(&tiny());
        raw.set(rigeval::orl::pack::MEMBERS[which], text.into_bytes());
        exercise(raw.bytes());
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
    fn pack_with_changed_members_does_not_panic(which in 0usize..12, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in 0usize..3) {
        let mut raw = Raw::of(&tiny());
        let data = &mut raw.members[which].1;
        data.truncate(data.len().saturating_sub(cut));
        let changes = if data.is_empty() { vec![] } else { changes };
        for (at, value) in changes {
            let at = at.index(data.len());
            data[at] = value;
        }
        raw.layout();
        exercise(raw.bytes());
    }
}
