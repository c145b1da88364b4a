//! The ORL pack: what is written comes back, what contradicts itself is refused, what is baked is the DNA within half a step.

mod bake;
mod hostile;
mod refusals;
mod rig;

use rig::{Raw, parts};
use rigeval::orl::container::Container;
use rigeval::orl::pack::{MEMBERS, OrlPack};
use serde_json::json;

#[test]
fn pack_of_parts_gives_back_the_parts() {
    let parts = parts();
    let pack = OrlPack::build(&parts).unwrap();
    assert_eq!((pack.vertex_count(), pack.joint_count(), pack.channel_count(), pack.max_influence()), (4, 2, 3, 2));
    assert_eq!(pack.neutral(), parts.neutral);
    assert_eq!(pack.joint_names().unwrap(), parts.joint_names);
    assert_eq!(pack.joint_neutral(), parts.joint_neutral);
    assert_eq!(pack.parents(), [None, Some(0)]);
    assert_eq!(pack.bind_from_world()[1].translation, glam::DVec3::new(-2.5, 0.0, 0.0));
    assert_eq!(pack.targets(), parts.targets);
    assert_eq!(pack.delta_vertices(), parts.delta_vertices);
    assert_eq!(pack.deltas(), parts.deltas);
    assert_eq!(pack.triangles().unwrap(), parts.triangles);
    assert!(pack.dna().is_none());
    // Lanes of weight 0 are no influences.
    let rows: Vec<Vec<(u32, f32)>> =
        (0..4).map(|v| pack.influences().row(v).iter().map(|i| (i.joint, i.weight)).collect()).collect();
    assert_eq!(rows, [vec![(0, 0.5), (1, 0.5)], vec![(1, 1.0)], vec![(1, 0.75), (0, 0.25)], vec![(1, 1.0)]]);
}

#[test]
fn pack_members_stand_in_the_order_of_the_format() {
    let pack = OrlPack::build(&parts()).unwrap();
    let names: Vec<_> = pack.file().members().map(|(name, _)| name).collect();
    assert_eq!(names, MEMBERS);
    let manifest = concat!(
        r#"{"V":4,"numJoints":2,"maxInfluence":2,"numBlendShapeChannels":3,"numBlendShapeTargets":2,"#,
        r#""jointNames":["root","head"],"note":"four vertices","ratio":0.5}"#
    );
    assert_eq!(pack.manifest(), manifest);
    assert_eq!(pack.file().member("joint_parents.bin").unwrap(), [0; 8]);
    assert_eq!(pack.file().member("bs_delta.bin").unwrap(), [1, 129, 0, 5, 6, 127, 255, 2, 253]);
}

#[test]
fn container_bytes_are_those_of_the_format() {
    let toc = r#"[{"n":"a","o":88,"l":3},{"n":"é","o":96,"l":0},{"n":"b","o":96,"l":8}]"#;
    let container = Container::build([("a", &b"xyz"[..]), ("é", b""), ("b", b"12345678")]).unwrap();
    let mut expected = b"ORLPACK1".to_vec();
    expected.extend((toc.len() as u32).to_le_bytes());
    expected.extend(104u32.to_le_bytes());
    expected.extend(toc.as_bytes());
    expected.resize(88, 0);
    expected.extend(b"xyz\0\0\0\0\0");
    expected.extend(b"12345678");
    assert_eq!(container.write().escape_ascii().to_string(), expected.escape_ascii().to_string());
    assert_eq!(container.member("é"), Some(&b""[..]));
    assert_eq!((container.member("c"), container.len_bytes()), (None, 104));
}

#[test]
fn container_offsets_that_gain_a_digit_agree_with_the_table() {
    // Around the lengths at which an offset goes from three to four digits, the table grows into the next multiple of 8.
    for length in (800..1100).chain(9800..10_100) {
        let data = vec![7; length];
        let container = Container::build([("one", &data[..]), ("two", &b"2"[..]), ("three", &b"3"[..])]).unwrap();
        assert_eq!(container.member("three"), Some(&b"3"[..]), "{length}");
        assert_eq!(Container::read(container.write()).unwrap().write(), container.write(), "{length}");
    }
}

#[test]
fn pack_with_strange_but_legal_spacing_is_read_and_written_in_the_usual_way() {
    let usual = OrlPack::build(&parts()).unwrap();
    let spread = Raw::of(&usual.write()).bytes();
    let pack = OrlPack::read(spread.clone()).unwrap();
    assert!(spread.len() > pack.write().len());
    assert_eq!(pack.write(), usual.write());
}

#[test]
fn pack_with_unknown_members_and_fields_keeps_them() {
    let mut raw = Raw::of(&OrlPack::build(&parts()).unwrap().write());
    raw.members.insert(2, ("future.bin".into(), vec![1, 2, 3]));
    raw.members.push(("empty.bin".into(), vec![]));
    raw.json("manifest.json", "/zzFuture", json!({"a": [1, 2.5]}));
    let written = OrlPack::read(raw.bytes()).unwrap().write();
    let again = OrlPack::read(written.clone()).unwrap();
    assert_eq!(again.write(), written);
    assert_eq!(again.file().members().nth(2), Some(("future.bin", &[1, 2, 3][..])));
    assert_eq!(again.file().member("empty.bin"), Some(&[][..]));
    assert!(again.manifest().contains(r#""zzFuture":{"a":[1,2.5]}"#));
}

#[test]
fn pack_without_optional_fields_is_read() {
    let mut raw = Raw::of(&OrlPack::build(&parts()).unwrap().write());
    raw.json("manifest.json", "/jointNames", json!(null));
    raw.json("manifest.json", "/numBlendShapeTargets", json!(null));
    raw.json("bs_targets.json", "/0/scale", json!(null));
    let pack = OrlPack::read(raw.bytes()).unwrap();
    assert_eq!(pack.joint_names(), None);
    assert_eq!((pack.targets()[0].scale, pack.targets()[0].count), (0.0, 2));
}

#[test]
fn pack_with_triangles_of_another_make_goes_without() {
    for data in [vec![], vec![0; 10], vec![0; 16], [0u32, 1, 4].iter().flat_map(|i| i.to_le_bytes()).collect()] {
        let mut raw = Raw::of(&OrlPack::build(&parts()).unwrap().write());
        raw.set("mesh_idx.bin", data.clone());
        let pack = OrlPack::read(raw.bytes()).unwrap();
        assert_eq!(pack.triangles(), None);
        assert_eq!(pack.file().member("mesh_idx.bin"), Some(&data[..]));
    }
}

#[test]
fn pack_scales_come_back_bit_by_bit() {
    let mut parts = parts();
    for scale in [0.0, f32::MIN_POSITIVE / 3.0, 0.1, 1.0 / 3.0, 1e-7, 16_777_217.0, f32::MAX] {
        parts.targets[0].scale = scale;
        assert_eq!(OrlPack::build(&parts).unwrap().targets()[0].scale.to_bits(), scale.to_bits());
    }
}

#[test]
fn pack_debug_text_is_short() {
    let mut parts = parts();
    parts.delta_vertices = vec![0; 9000];
    parts.deltas = vec![[1; 3]; 9000];
    parts.targets[1].count = 8998;
    let pack = OrlPack::build(&parts).unwrap();
    assert!(format!("{pack:?}").len() < 2000 && format!("{parts:?}").len() < 2000);
}
