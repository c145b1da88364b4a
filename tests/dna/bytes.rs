//! What is read is what is written.

use super::{dna_files, read, rig};
use rigeval::error::LoadErrorKind;
use rigeval::orl::dna::{Conventions, Dna, FaceWinding, JointRepresentation, RotationRepresentation, UnknownLayer};

#[test]
fn every_file_rewrites_byte_for_byte() {
    let root = env!("CARGO_MANIFEST_DIR");
    let committed = dna_files(&format!("{root}/reference/orl"));
    assert_eq!(committed.len(), 8);
    let handed = ["orl", "orl-large"].map(|folder| dna_files(&format!("{root}/../shared/data/{folder}")));
    for file in committed.into_iter().chain(handed.into_iter().flatten()) {
        let bytes = std::fs::read(&file).unwrap();
        let dna = Dna::read(&bytes).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        assert!(dna.write(dna.version).unwrap() == bytes, "{}", file.display());
    }
}

#[test]
fn every_version_holds_the_same_rig() {
    let tiny = read("tiny");
    for version in 1..=8 {
        let bytes = tiny.write(version).unwrap();
        assert_eq!(u16::from_be_bytes([bytes[5], bytes[6]]), version);
        assert_eq!(Dna::read(&bytes).unwrap(), Dna { version, ..tiny.clone() }, "2.{version}");
    }
}

#[test]
fn other_versions_are_the_bytes_of_the_handed_files() {
    let folder = format!("{}/../shared/data/orl", env!("CARGO_MANIFEST_DIR"));
    for version in 1..=7 {
        let Ok(expected) = std::fs::read(format!("{folder}/tiny_v2{version}.dna")) else {
            eprintln!("SKIP: {folder}/tiny_v2{version}.dna is absent; the committed 2.1 file stands in");
            continue;
        };
        assert_rewrites_as(version, &expected);
    }
    assert_rewrites_as(1, &rig("tiny_v21"));
}

/// The rig of `tiny.dna` under the other file's name, written in its version.
fn assert_rewrites_as(version: u16, expected: &[u8]) {
    let mut tiny = read("tiny");
    tiny.descriptor.name = Dna::read(expected).unwrap().descriptor.name;
    assert!(tiny.write(version).unwrap() == expected, "2.{version}");
}

#[test]
fn unknown_layer_is_kept_and_written_last() {
    let dna = read("tiny_future_layer");
    let layer = UnknownLayer { id: *b"zzzz", version: 0x1_0000, bytes: b"future-layer-payload".to_vec() };
    assert_eq!((dna.version, &dna.unknown_layers), (9, &vec![layer]));
    assert!(dna.write(8).unwrap().ends_with(b"future-layer-payload"));
}

#[test]
fn content_without_a_place_is_refused() {
    let mut quaternion = read("tiny");
    quaternion.joint_representations.resize(4, JointRepresentation::default());
    assert!(quaternion.write(1).is_ok(), "the default has a place everywhere");
    quaternion.joint_representations[2].rotation = RotationRepresentation::Quaternion;
    let mut clockwise = read("tiny");
    clockwise.conventions.face_winding = FaceWinding::Clockwise;
    let mut signs = read("tiny");
    signs.conventions = Conventions { rotation_signs: [1, -1, 1], ..Conventions::default() };
    let cases = [
        (read("ml_legacy"), 3, "networks"),
        (read("rbf_v24"), 4, "rbf"),
        (read("rbf_quat"), 5, "rbf_outputs"),
        (read("twist"), 4, "twist_swing"),
        (read("ml_ext"), 6, "operation_graph"),
        (read("tiny_future_layer"), 2, "unknown_layers"),
        (quaternion, 4, "joint_representations"),
        (signs, 7, "conventions"),
        (clockwise, 8, "conventions.face_winding"),
    ];
    for (dna, since, field) in cases {
        assert_eq!(Dna::read(&dna.write(since).unwrap()).unwrap(), Dna { version: since, ..dna.clone() }, "{field}");
        let error = dna.write(since - 1).unwrap_err();
        assert_eq!(error.kind, LoadErrorKind::Unsupported);
        if !["rbf", "joint_representations"].contains(&field) {
            assert_eq!(error.field, field);
        }
    }
}

#[test]
fn version_that_cannot_be_written_is_named() {
    let tiny = read("tiny");
    for version in [0, 9, u16::MAX] {
        let error = tiny.write(version).unwrap_err();
        assert_eq!(error.kind, LoadErrorKind::Version);
        assert!(error.to_string().contains(&format!("got 2.{version}")), "{error}");
    }
}

#[test]
fn wrong_rig_is_not_written() {
    let mut tiny = read("tiny");
    tiny.definition.joint_parents[3] = 9;
    assert_eq!(tiny.write(8).unwrap_err().kind, LoadErrorKind::Value);
}
