//! One wrong thing at a time: what is wrong, what the message must say.

use crate::rig::{self, Raw, parts};
use rigeval::error::LoadError;
use rigeval::error::LoadErrorKind::{self, *};
use rigeval::orl::container::Container;
use rigeval::orl::pack::{OrlPack, PackParts};
use serde_json::json;

fn tiny() -> Vec<u8> {
    OrlPack::build(&parts()).unwrap().write()
}

/// The error of these bytes; every message is one line.
#[track_caller]
fn check<T>(label: &str, result: Result<T, LoadError>, kind: LoadErrorKind, needle: &str) {
    let Err(error) = result else { panic!("{label}: accepted") };
    let text = error.to_string();
    assert_eq!(error.kind, kind, "{label}: {text}");
    assert!(text.contains(needle), "{label}: {text} does not say {needle}");
    assert!(!text.contains('\n') && text.len() < 700, "{label}: {text}");
}

type Bend = fn(&mut Vec<u8>);

#[test]
fn pack_with_one_wrong_frame_is_rejected() {
    let cases: &[(&str, Bend, LoadErrorKind, &str)] = &[
        ("no bytes", |b| b.clear(), Truncated, "pack too short"),
        ("15 bytes", |b| b.truncate(15), Truncated, "pack too short"),
        ("magic", |b| b[7] = b'2', Format, "not an ORL pack: magic is \"ORLPACK2\""),
        ("an .aosrig", |b| b[..8].copy_from_slice(b"AOSRIG01"), Format, "AOSRIG01"),
        ("a Git-LFS pointer", |b| *b = b"version https://git-lfs.github.com/spec/v1\n".to_vec(), Format, "Git-LFS"),
        ("an HTML page", |b| *b = b"<!DOCTYPE html><title>404</title>".to_vec(), Format, "HTML"),
        ("a byte more", |b| b.push(0), Truncated, "truncated or corrupt download"),
        ("8 bytes less", |b| b.truncate(b.len() - 8), Truncated, "truncated or corrupt download"),
        ("tocLen past the end", |b| b[8..12].fill(0xff), Truncated, "tocLen"),
        ("tocLen 0", |b| b[8..12].fill(0), Corrupt, "not valid JSON"),
        ("tocLen one less", |b| b[8] = b[8].wrapping_sub(1), Corrupt, "not valid JSON"),
        ("text that is not UTF-8", |b| b[17] = 0xff, Corrupt, "not valid JSON"),
        ("a broken bracket", |b| b[16] = b'{', Corrupt, "not valid JSON"),
    ];
    for (label, bend, kind, needle) in cases {
        let mut bytes = tiny();
        bend(&mut bytes);
        check(label, OrlPack::read(bytes), *kind, needle);
    }
    for toc in [json!({"n": 1}), json!("x"), json!(7), json!(null)] {
        check("toc", OrlPack::read(Raw::of(&tiny()).bytes_with(&toc.to_string())), Type, "an array of members");
    }
    let many = format!("[{}]", vec!["0"; 1025].join(","));
    check("toc", OrlPack::read(Raw::of(&tiny()).bytes_with(&many)), Unsupported, "at most 1024 members");
}

#[test]
fn pack_with_one_wrong_entry_is_rejected() {
    let cases: &[(&str, serde_json::Value, LoadErrorKind, &str)] = &[
        ("n", json!(7), Type, "toc[3]"),
        ("n", json!(null), Type, "toc[3]"),
        ("n", json!(""), Corrupt, "a name"),
        ("n", json!("manifest.json"), Corrupt, "a duplicate name"),
        ("o", json!("8"), Type, "toc[3]"),
        ("o", json!(-8), Type, "toc[3]"),
        ("o", json!(4096.5), Type, "toc[3]"),
        ("o", json!(4097), Corrupt, "a multiple of 8"),
        ("o", json!(16), Corrupt, "overlaps the table of contents"),
        ("o", json!(4096), Corrupt, "overlaps"),
        ("o", json!(u64::MAX - 7), Truncated, "runs past the end"),
        ("o", json!(1u64 << 40), Truncated, "runs past the end"),
        ("l", json!(1u64 << 40), Truncated, "runs past the end"),
        ("l", json!(u64::MAX), Truncated, "runs past the end"),
        ("l", json!(-1), Type, "toc[3]"),
        ("l", json!(null), Type, "toc[3]"),
    ];
    for (key, value, kind, needle) in cases {
        let mut raw = Raw::of(&tiny());
        raw.toc[3][key] = value.clone();
        check(&format!("{key} {value}"), OrlPack::read(raw.bytes()), *kind, needle);
    }
    for entry in [json!(["bs", 4096, 8]), json!("neutral_pos.bin"), json!(null)] {
        let mut raw = Raw::of(&tiny());
        raw.toc[3] = entry;
        check("entry", OrlPack::read(raw.bytes()), Type, "toc[3]");
    }
}

type Row<T> = (&'static str, fn(&mut T), LoadErrorKind, &'static str);
type Case = Row<Raw>;

fn run(whole: &[u8], cases: &[Case]) {
    for (label, bend, kind, needle) in cases {
        let mut raw = Raw::of(whole);
        bend(&mut raw);
        raw.layout();
        check(label, OrlPack::read(raw.bytes()), *kind, needle);
    }
}

#[test]
fn pack_without_a_member_is_rejected() {
    for name in rigeval::orl::pack::MEMBERS {
        let mut raw = Raw::of(&tiny());
        raw.drop_member(name);
        match name {
            "head_behavior.dna" | "mesh_idx.bin" => assert!(OrlPack::read(raw.bytes()).is_ok(), "{name}"),
            _ => check(name, OrlPack::read(raw.bytes()), Missing, name),
        }
    }
}

#[test]
fn pack_with_a_wrong_manifest_is_rejected() {
    for key in ["V", "numJoints", "maxInfluence", "numBlendShapeChannels"] {
        for (value, kind) in
            [(json!(null), Missing), (json!("4"), Type), (json!(-1), Type), (json!(2.5), Type), (json!([4]), Type)]
        {
            let mut raw = Raw::of(&tiny());
            raw.json("manifest.json", &format!("/{key}"), value.clone());
            check(&format!("{key} {value}"), OrlPack::read(raw.bytes()), kind, key);
        }
    }
    run(
        &tiny(),
        &[
            ("V 0", |r| r.json("manifest.json", "/V", json!(0)), Value, "V of 1 or more"),
            ("no joints", |r| r.json("manifest.json", "/numJoints", json!(0)), Value, "numJoints"),
            ("no influences", |r| r.json("manifest.json", "/maxInfluence", json!(0)), Value, "maxInfluence"),
            ("V 5", |r| r.json("manifest.json", "/V", json!(5)), Shape, "neutral_pos.bin"),
            ("V of all ones", |r| r.json("manifest.json", "/V", json!(u64::MAX)), Shape, "neutral_pos.bin"),
            ("3 joints", |r| r.json("manifest.json", "/numJoints", json!(3)), Shape, "jointNames"),
            ("3 lanes", |r| r.json("manifest.json", "/maxInfluence", json!(3)), Shape, "skin_idx.bin"),
            ("2 channels", |r| r.json("manifest.json", "/numBlendShapeChannels", json!(2)), Value, "a channel below 2"),
            ("3 targets", |r| r.json("manifest.json", "/numBlendShapeTargets", json!(3)), Shape, "3 targets"),
            ("names", |r| r.json("manifest.json", "/jointNames", json!([1, 2])), Type, "jointNames"),
            ("no JSON", |r| r.set("manifest.json", "{"), Corrupt, "not valid"),
            ("a list", |r| r.set("manifest.json", "[4,2,2,3,2,null]"), Type, "a JSON object"),
            ("no text", |r| r.set("manifest.json", [0xff, 0xfe]), Corrupt, "UTF-8"),
            ("empty", |r| r.set("manifest.json", []), Type, "a JSON object"),
            ("V twice", |r| r.set("manifest.json", r#"{"V":4,"V":4}"#), Corrupt, "duplicate"),
        ],
    );
}

#[test]
fn pack_with_wrong_numbers_is_rejected() {
    run(
        &tiny(),
        &[
            ("neutral NaN", |r| r.put("neutral_pos.bin", 7, f32::NAN.to_le_bytes()), Value, "row 2, column 1"),
            ("joint inf", |r| r.put("joint_neutral.bin", 17, f32::INFINITY.to_le_bytes()), Value, "row 1, column 8"),
            ("bind inf", |r| r.put("inverse_bind.bin", 0, f32::NEG_INFINITY.to_le_bytes()), Value, "inverse_bind.bin"),
            ("bind projective", |r| r.put("inverse_bind.bin", 28, 0.1f32.to_le_bytes()), Value, "at joint 1"),
            ("weight NaN", |r| r.put("skin_w.bin", 3, f32::NAN.to_le_bytes()), Value, "skin_w.bin"),
            (
                "skin joint",
                |r| r.put("skin_idx.bin", 3, 2u16.to_le_bytes()),
                Value,
                "joints below 2, got 2 at vertex 1",
            ),
            ("parent -1", |r| r.put("joint_parents.bin", 0, (-1i32).to_le_bytes()), Value, "got -1"),
            ("parent later", |r| r.put("joint_parents.bin", 0, 1i32.to_le_bytes()), Value, "a parent of 0 to 0"),
            ("parent far", |r| r.put("joint_parents.bin", 1, i32::MIN.to_le_bytes()), Value, "joint 1"),
            (
                "delta vertex",
                |r| r.put("bs_index.bin", 2, 4u16.to_le_bytes()),
                Value,
                "vertices below 4, got 4 at delta 2",
            ),
            (
                "delta short",
                |r| {
                    r.member("bs_delta.bin").pop();
                },
                Shape,
                "bs_delta.bin",
            ),
            (
                "index odd",
                |r| {
                    r.member("bs_index.bin").pop();
                },
                Shape,
                "bs_index.bin",
            ),
            (
                "neutral short",
                |r| {
                    r.member("neutral_pos.bin").pop();
                },
                Shape,
                "neutral_pos.bin",
            ),
            (
                "joints short",
                |r| {
                    r.member("joint_neutral.bin").pop();
                },
                Shape,
                "joint_neutral.bin",
            ),
            ("parents long", |r| r.member("joint_parents.bin").extend([0; 4]), Shape, "joint_parents.bin"),
            ("bind empty", |r| r.member("inverse_bind.bin").clear(), Shape, "inverse_bind.bin"),
            ("weights short", |r| r.member("skin_w.bin").truncate(28), Shape, "skin_w.bin"),
            ("DNA", |r| r.set("head_behavior.dna", *b"DNA?"), Truncated, "head_behavior.dna"),
        ],
    );
}

#[test]
fn pack_with_targets_that_do_not_tile_is_rejected() {
    run(
        &tiny(),
        &[
            ("a gap", |r| r.json("bs_targets.json", "/1/offset", json!(3)), Value, "offset 2"),
            ("an overlap", |r| r.json("bs_targets.json", "/1/offset", json!(1)), Value, "offset 2"),
            ("a late start", |r| r.json("bs_targets.json", "/0/offset", json!(1)), Value, "offset 0"),
            ("too few", |r| r.json("bs_targets.json", "/1/count", json!(0)), Value, "cover all 3"),
            ("too many", |r| r.json("bs_targets.json", "/1/count", json!(2)), Value, "at most 1 deltas"),
            ("far too many", |r| r.json("bs_targets.json", "/1/count", json!(u64::MAX)), Value, "at most 1 deltas"),
            ("a channel", |r| r.json("bs_targets.json", "/0/channel", json!(3)), Value, "a channel below 3"),
            ("a negative channel", |r| r.json("bs_targets.json", "/0/channel", json!(-1)), Type, "at target 0"),
            ("no count", |r| r.json("bs_targets.json", "/0/count", json!(null)), Type, "at target 0"),
            ("a scale as text", |r| r.json("bs_targets.json", "/1/scale", json!("1")), Type, "at target 1"),
            ("a large scale", |r| r.json("bs_targets.json", "/1/scale", json!(1e39)), Value, "finite scale"),
            ("a negative scale", |r| r.json("bs_targets.json", "/1/scale", json!(-0.5)), Value, "not negative"),
            ("none", |r| r.set("bs_targets.json", "[]"), Shape, "2 targets"),
            ("an object", |r| r.set("bs_targets.json", "{}"), Type, "bs_targets.json"),
            ("no JSON", |r| r.set("bs_targets.json", "[{]"), Corrupt, "bs_targets.json"),
            ("a list", |r| r.set("bs_targets.json", "[[2,0,2,0.1],[0,2,1,0.1]]"), Type, "at target 0"),
        ],
    );
}

#[test]
fn pack_with_the_dna_of_another_rig_is_rejected() {
    let dna = rig::dna();
    let (pack, _) = rigeval::orl::bake::bake(&dna, &dna.write(8).unwrap(), 0, 0, &mut |_| {}).unwrap();
    let cases: [Row<rigeval::orl::dna::Dna>; 4] = [
        ("channels", |d| d.definition.channel_names.push("more".into()), Shape, "blend shape channels"),
        ("a parent", |d| d.definition.joint_parents[2] = 0, Value, "parent 1 of joint 2"),
        ("a name", |d| d.definition.joint_names[2] = "chin".into(), Value, "jointNames"),
        ("joints", joint_more, Shape, "joints"),
    ];
    for (label, bend, kind, needle) in cases {
        let mut other = dna.clone();
        bend(&mut other);
        let mut raw = Raw::of(&pack.write());
        raw.set("head_behavior.dna", other.write(8).unwrap());
        check(label, OrlPack::read(raw.bytes()), kind, needle);
    }
}

fn joint_more(dna: &mut rigeval::orl::dna::Dna) {
    dna.definition.joint_names.push("jaw".into());
    dna.definition.joint_parents.push(2);
    dna.definition.neutral_translations.push([0.0; 3]);
    dna.definition.neutral_rotations.push([0.0; 3]);
}

#[test]
fn pack_of_wrong_parts_is_rejected() {
    let cases: [Row<PackParts>; 5] = [
        ("a scale", |p| p.targets[1].scale = f32::NAN, Value, "finite scales"),
        ("a manifest field", |p| drop(p.manifest.insert("V".into(), json!(9))), Value, "sets itself"),
        (
            "weights",
            |p| {
                p.skin_weights.pop();
            },
            Shape,
            "skin_w.bin",
        ),
        (
            "deltas",
            |p| {
                p.deltas.pop();
            },
            Shape,
            "bs_delta.bin",
        ),
        (
            "names",
            |p| {
                p.joint_names.pop();
            },
            Shape,
            "jointNames",
        ),
    ];
    for (label, bend, kind, needle) in cases {
        let mut parts = parts();
        bend(&mut parts);
        check(label, OrlPack::build(&parts), kind, needle);
    }
}

#[test]
fn container_of_wrong_members_is_rejected() {
    check("none", Container::build([]), Missing, "one member");
    check("an empty name", Container::build([("", &b"x"[..])]), Value, "an empty one");
    check("a name twice", Container::build([("a", &b"x"[..]), ("b", b""), ("a", b"")]), Corrupt, "\"a\" twice");
    let names: Vec<String> = (0..1025).map(|i| i.to_string()).collect();
    check("many", Container::build(names.iter().map(|n| (n.as_str(), &b""[..]))), Unsupported, "1024");
}
