//! One wrong thing at a time: what is wrong, what the message must say.

use crate::raw::{Raw, RawBlob, parts};
use half::f16;
use rigeval::error::LoadErrorKind::{self, *};
use rigeval::gnm::pack::{GnmPack, PackParts};
use serde_json::{Value, json};

fn tiny() -> Vec<u8> {
    GnmPack::build(&parts(8)).unwrap().write()
}

/// The error of these bytes; every message is one line.
#[track_caller]
fn check(label: &str, result: Result<GnmPack, rigeval::error::LoadError>, kind: LoadErrorKind, needles: &[&str]) {
    let error = result.expect_err(label);
    let text = error.to_string();
    assert_eq!(error.kind, kind, "{label}: {text}");
    for needle in needles {
        assert!(text.contains(needle), "{label}: {text} does not say {needle}");
    }
    assert!(!text.contains('\n') && text.len() < 700, "{label}: {text}");
}

type Bend = fn(&mut Vec<u8>);

#[test]
fn pack_with_one_wrong_frame_is_rejected() {
    let word = |bytes: &mut Vec<u8>, at: usize, value: u32| bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    let cases: &[(&str, Bend, LoadErrorKind, &[&str])] = &[
        ("no bytes", |b| b.clear(), Truncated, &["16 bytes", "pack too short"]),
        ("15 bytes", |b| b.truncate(15), Truncated, &["15", "pack too short"]),
        ("magic", |b| b[7] = b'2', Format, &["not an .aosrig pack: magic is \"AOSRIG02\""]),
        ("magic in binary", |b| b[..8].fill(0xff), Format, &["not an .aosrig pack", "\\xff"]),
        ("an HTML page", |b| *b = b"\n<!DOCTYPE html><title>404</title>".to_vec(), Format, &["HTML"]),
        ("an HTML page of 6 bytes", |b| *b = b"<html>".to_vec(), Format, &["HTML"]),
        ("a Git-LFS pointer", |b| *b = b"version https://git-lfs.github.com/spec/v1\n".to_vec(), Format, &["Git-LFS"]),
        ("a byte more", |b| b.push(0), Truncated, &["totalLen", "truncated or corrupt download"]),
        ("text that is not UTF-8", |b| b[17] = 0xff, Corrupt, &["header is not valid JSON"]),
        ("a broken brace", |b| b[16] = b'[', Corrupt, &["header is not valid JSON"]),
    ];
    for (label, bend, kind, needles) in cases {
        let mut bytes = tiny();
        bend(&mut bytes);
        check(label, GnmPack::read(bytes), *kind, needles);
    }
    let total = tiny().len() as u32;
    let words = [
        ("totalLen below", 12, total - 8, "truncated or corrupt download"),
        ("totalLen above", 12, u32::MAX, "truncated or corrupt download"),
        ("headerLen past the end", 8, total - 15, "headerLen"),
        ("headerLen of all ones", 8, u32::MAX, "headerLen"),
    ];
    for (label, at, value, needle) in words {
        let mut bytes = tiny();
        word(&mut bytes, at, value);
        check(label, GnmPack::read(bytes), Truncated, &[needle]);
    }
    for header_len in [0, 1, 100] {
        let mut bytes = tiny();
        word(&mut bytes, 8, header_len);
        check("headerLen too small", GnmPack::read(bytes), Corrupt, &["header is not valid JSON"]);
    }
}

type Case = (&'static str, fn(&mut Raw), LoadErrorKind, &'static [&'static str]);

fn run(cases: &[Case]) {
    for (label, bend, kind, needles) in cases {
        let mut raw = Raw::of(&tiny());
        bend(&mut raw);
        check(label, GnmPack::read(raw.bytes()), *kind, needles);
    }
}

#[test]
fn pack_with_one_wrong_header_field_is_rejected() {
    run(&[
        ("a key twice", |r| r.prefix = "\"model\":\"gnm\",", Corrupt, &["duplicate key", "model"]),
        ("version", |r| r.set("version", json!(2)), Version, &["version", "got 2"]),
        ("version as text", |r| r.set("version", json!("1")), Version, &["version"]),
        ("no version", |r| r.unset("", "version"), Version, &["version", "none"]),
        ("model", |r| r.set("model", json!("orl")), Version, &["model", "orl"]),
        ("units", |r| r.set("units", json!("mm")), Value, &["units", "mm"]),
        ("no units", |r| r.unset("", "units"), Missing, &["units"]),
        ("no vertexCount", |r| r.unset("", "vertexCount"), Missing, &["vertexCount"]),
        ("vertexCount 0", |r| r.set("vertexCount", json!(0)), Value, &["vertexCount"]),
        ("vertexCount -8", |r| r.set("vertexCount", json!(-8)), Type, &["vertexCount", "-8"]),
        ("vertexCount 8.5", |r| r.set("vertexCount", json!(8.5)), Type, &["vertexCount", "8.5"]),
        ("vertexCount as text", |r| r.set("vertexCount", json!("8")), Type, &["vertexCount"]),
        ("vertexCount huge", |r| r.set("vertexCount", json!(u64::MAX)), Shape, &["neutral"]),
        ("maxInfluence 0", |r| r.set("maxInfluence", json!(0)), Value, &["maxInfluence"]),
        ("maxInfluence 3", |r| r.set("maxInfluence", json!(3)), Shape, &["skinIndex", "24 values"]),
        ("maxInfluence huge", |r| r.set("maxInfluence", json!(1u64 << 63)), Shape, &["skinIndex"]),
        (
            "coeffCount 5",
            |r| r.set("coeffCount", json!(5)),
            Value,
            &["headExt.exprDim", "5 as coeffCount says", "got 6"],
        ),
        ("coeffCount 0", |r| r.set("coeffCount", json!(0)), Value, &["coeffCount"]),
        ("no headExt", |r| r.unset("", "headExt"), Missing, &["headExt"]),
        ("headExt as list", |r| r.set("headExt", json!([])), Type, &["headExt"]),
        ("dim", |r| r.set("headExt/dim", json!(11)), Value, &["headExt.dim", "10", "got 11"]),
        ("gazeDim", |r| r.set("headExt/gazeDim", json!(5)), Value, &["headExt.gazeDim", "4", "got 5"]),
        ("no gazeDim", |r| r.unset("headExt", "gazeDim"), Missing, &["headExt.gazeDim"]),
        ("exprDim", |r| r.set("headExt/exprDim", json!(7)), Value, &["headExt.exprDim", "got 7"]),
        ("region sum", |r| r.set("headExt/regions/0/1", json!(2)), Value, &["headExt.regions", "sum", "got 7"]),
        ("region overflow", |r| r.set("headExt/regions/0/1", json!(u64::MAX)), Value, &["headExt.regions"]),
        ("region twice", |r| r.set("headExt/regions/1/0", json!("left_eye")), Value, &["headExt.regions", "left_eye"]),
        ("region shape", |r| r.set("headExt/regions/1", json!(["tongue"])), Type, &["headExt.regions"]),
        ("reduced too large", |r| r.set("headExt/reduced/tongue", json!(2)), Value, &["headExt.reduced.tongue"]),
        ("reduced unknown", |r| r.set("headExt/reduced", json!({"nose": 1})), Value, &["headExt.reduced.nose"]),
        ("no eyes", |r| r.unset("", "eyes"), Missing, &["eyes"]),
        ("eyes swapped", |r| r.set("eyes/names", json!(["right_eye", "left_eye"])), Value, &["eyes.names"]),
        ("one eye", |r| r.set("eyes/names", json!(["left_eye"])), Value, &["eyes.names"]),
        ("no joints", |r| r.unset("", "joints"), Missing, &["joints"]),
        ("joints empty", |r| r.set("joints", json!([])), Shape, &["joints"]),
        ("joint without parent", |r| r.set("joints/1", json!({"name": "head"})), Type, &["joints[1]"]),
        ("joint twice", |r| r.set("joints/1/name", json!("root")), Value, &["joints", "duplicate", "root"]),
        ("parent after child", |r| r.set("joints/0/parent", json!(1)), Value, &["joints[0]", "parent 1"]),
        ("own parent", |r| r.set("joints/1/parent", json!(1)), Value, &["joints[1]", "parent 1"]),
        ("parent -2", |r| r.set("joints/1/parent", json!(-2)), Value, &["joints[1]", "parent -2"]),
        ("parents differ", |r| r.set("joints/1/parent", json!(-1)), Value, &["jointParents\"[1]", "-1 as joints[1]"]),
        (
            "bindTransform of 12",
            |r| r.set("bindTransform", json!(vec![1.0; 12])),
            Value,
            &["bindTransform", "length 12"],
        ),
        ("bindTransform null", |r| r.set("bindTransform", json!(null)), Type, &["bindTransform", "null"]),
        ("bindTransform null entry", |r| r.set("bindTransform/3", json!(null)), Value, &["bindTransform"]),
        ("bindTransform text entry", |r| r.set("bindTransform/3", json!("inf")), Value, &["bindTransform"]),
        ("bindTransform past f32", |r| r.set("bindTransform/3", json!(1e300)), Value, &["bindTransform"]),
        (
            "bindTransform projective",
            |r| r.set("bindTransform/12", json!(0.1)),
            Value,
            &["bindTransform", "bottom row"],
        ),
        (
            "bindTransform too large",
            |r| [0, 3].iter().for_each(|i| r.set(&format!("bindTransform/{i}"), json!(3.4e38))),
            Value,
            &["rest pose", "finite"],
        ),
    ]);
}

#[test]
fn pack_with_a_bind_transform_past_f64_is_rejected() {
    let mut raw = Raw::of(&tiny());
    raw.unset("", "bindTransform");
    raw.prefix = "\"bindTransform\":[1e999,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1],";
    check("bindTransform 1e999", GnmPack::read(raw.bytes()), Value, &["bindTransform", "finite"]);
}

#[test]
fn pack_with_one_wrong_table_entry_is_rejected() {
    run(&[
        ("no buffers", |r| r.set("buffers", json!([])), Missing, &["pack has no \"neutral\" buffer"]),
        ("buffers as text", |r| r.set("buffers", json!("none")), Type, &["buffers", "a list"]),
        ("too many", |r| r.set("buffers", json!(vec![0; 1025])), Unsupported, &["buffers", "1025"]),
        ("an entry that is no object", |r| r.set("buffers", json!([7])), Type, &["buffers[0]"]),
        (
            "an entry without name",
            |r| {
                r.blob("faces").entry.remove("name");
            },
            Type,
            &["buffers[9]", "name"],
        ),
        ("negative dimension", |r| r.blob("neutral").entry["shape"] = json!([-8, -3]), Type, &["buffers[0]", "-8"]),
        ("fractional dimension", |r| r.blob("neutral").entry["shape"] = json!([7.5, 3]), Type, &["buffers[0]", "7.5"]),
        ("negative offset", |r| r.pin("neutral", &[("offset", json!(-8))]), Type, &["buffers[0]", "-8"]),
        ("unknown dtype", |r| r.blob("neutral").entry["dtype"] = json!("f64"), Type, &["buffer \"neutral\"", "f64"]),
        (
            "shape against length",
            |r| r.blob("neutral").entry["shape"] = json!([9, 3]),
            Shape,
            &["neutral", "byteLength"],
        ),
        ("length against shape", |r| r.pin("neutral", &[("byteLength", json!(100))]), Shape, &["neutral", "got 100"]),
        ("shape overflow", |r| r.blob("neutral").entry["shape"] = json!([1u64 << 62, 1u64 << 62]), Shape, &["neutral"]),
        (
            "offset past the end",
            |r| r.pin("neutral", &[("offset", json!(1u64 << 40))]),
            Truncated,
            &["runs past the end"],
        ),
        (
            "offset overflow",
            |r| r.pin("neutral", &[("offset", json!(u64::MAX - 7))]),
            Truncated,
            &["runs past the end"],
        ),
        ("offset unaligned", |r| r.pin("neutral", &[("offset", json!(4100))]), Corrupt, &["multiple of 8", "4100"]),
        ("on the header", |r| r.pin("neutral", &[("offset", json!(16))]), Corrupt, &["neutral", "overlaps the header"]),
        ("on another", |r| r.pin("basis", &[("offset", json!(4096))]), Corrupt, &["overlaps"]),
        ("twice", |r| r.blob("quads").entry["name"] = json!("faces"), Corrupt, &["buffer \"faces\"", "duplicate name"]),
    ]);
}

#[test]
fn pack_without_a_needed_blob_is_rejected() {
    let needed = ["neutral", "basis", "basisScale", "skinIndex", "skinWeight", "eyePositions", "eyeWeights"];
    for name in
        needed.into_iter().chain(["restWorld", "jointParents", "faces", "mouthTeeth", "mouthFaces", "mouthFaceParts"])
    {
        let mut raw = Raw::of(&tiny());
        raw.drop_blob(name);
        check(name, GnmPack::read(raw.bytes()), Missing, &[&format!("pack has no \"{name}\" buffer")]);
    }
    for name in ["quads", "uv", "stitchLocal"] {
        let mut raw = Raw::of(&tiny());
        raw.drop_blob(name);
        GnmPack::read(raw.bytes()).unwrap();
    }
}

#[test]
fn pack_with_a_blob_of_another_type_is_rejected() {
    // (blob, elements, a type of the same size or smaller that the blob does not take)
    let cases = [
        ("neutral", 24, "i32"),
        ("basis", 72, "f32"),
        ("basis", 144, "f16"),
        ("basisScale", 6, "u32"),
        ("basisScale", 6, "f16"),
        ("skinIndex", 16, "u8"),
        ("skinIndex", 16, "u32"),
        ("skinIndex", 16, "f16"),
        ("skinWeight", 16, "u16"),
        ("skinWeight", 16, "f32"),
        ("eyePositions", 6, "u32"),
        ("eyeWeights", 16, "u8"),
        ("restWorld", 32, "f16"),
        ("jointParents", 2, "u32"),
        ("faces", 18, "i32"),
        ("faces", 18, "f32"),
        ("quads", 4, "i8"),
        ("uv", 16, "u32"),
        ("stitchLocal", 24, "i32"),
        ("mouthTeeth", 3, "i32"),
        ("mouthFaces", 3, "f32"),
        ("mouthFaceParts", 1, "i8"),
    ];
    for (name, count, dtype) in cases {
        let size = match dtype {
            "u8" | "i8" => 1,
            "f16" | "u16" => 2,
            _ => 4,
        };
        let mut raw = Raw::of(&tiny());
        raw.replace(name, dtype, json!([count]), vec![0; count * size]);
        let found = format!("got {dtype}");
        check(name, GnmPack::read(raw.bytes()), Type, &[&format!("buffer \"{name}\""), "dtype", &found]);
    }
}

#[test]
fn pack_with_a_blob_of_another_count_is_rejected() {
    let names =
        ["neutral", "basis", "basisScale", "skinIndex", "skinWeight", "eyePositions", "eyeWeights", "restWorld"];
    for name in
        names.into_iter().chain(["jointParents", "uv", "stitchLocal", "faces", "quads", "mouthFaces", "mouthFaceParts"])
    {
        for longer in [false, true] {
            let mut raw = Raw::of(&tiny());
            let blob = raw.blob(name);
            let shape: Vec<u64> = serde_json::from_value(blob.entry["shape"].clone()).unwrap();
            let count: u64 = shape.iter().product();
            let size = blob.data.len() / count as usize;
            let count = if longer { count as usize + 1 } else { count as usize - 1 };
            blob.data.resize(count * size, 0);
            blob.entry["shape"] = json!([count]);
            check(name, GnmPack::read(raw.bytes()), Shape, &[&format!("buffer \"{name}\""), &count.to_string()]);
        }
    }
    let mut raw = Raw::of(&tiny());
    raw.blob("neutral").entry["shape"] = json!([3, 8]);
    check("transposed neutral", GnmPack::read(raw.bytes()), Shape, &["neutral", "[3, 8]"]);
    let mut raw = Raw::of(&tiny());
    raw.blob("faces").entry["shape"] = json!([3, 6]);
    check("transposed faces", GnmPack::read(raw.bytes()), Shape, &["faces", "[3, 6]"]);
    let mut raw = Raw::of(&tiny());
    raw.replace("basis", "i8", json!([8 * 6 * 3 - 1]), vec![0; 8 * 6 * 3 - 1]);
    check("short int8 basis", GnmPack::read(raw.bytes()), Shape, &["basis"]);
}

#[test]
fn pack_with_one_wrong_value_is_rejected() {
    let half = |x: f32| f16::from_f32(x).to_le_bytes();
    assert_eq!(half(1.0), HALF_ONE);
    run(&[
        ("neutral NaN", |r| r.put("neutral", 5, f32::NAN.to_le_bytes()), Value, &["neutral", "finite", "at 5"]),
        ("basis NaN", |r| r.put("basis", 20, [0x00, 0x7e]), Value, &["basis", "vertex 1, coefficient 0"]),
        ("basis infinity", |r| r.put("basis", 143, [0x00, 0xfc]), Value, &["basis", "vertex 7, coefficient 5"]),
        ("scale infinity", |r| r.put("basisScale", 1, f32::INFINITY.to_le_bytes()), Value, &["basisScale", "inf"]),
        (
            "joint past the end",
            |r| r.put("skinIndex", 3, 2u16.to_le_bytes()),
            Value,
            &["skinIndex", "below 2", "2 at vertex 1"],
        ),
        ("weight NaN", |r| r.put("skinWeight", 0, [0x00, 0x7e]), Value, &["skinWeight", "finite"]),
        ("weight negative", |r| r.put("skinWeight", 1, [0x00, 0xbc]), Value, &["skinWeight", "-1 at 1"]),
        (
            "weights too small",
            |r| r.put("skinWeight", 0, [0xf0, 0x3b]),
            Value,
            &["skinWeight", "sum to 1", "at vertex 0"],
        ),
        ("weights too large", |r| r.put("skinWeight", 3, HALF_ONE), Value, &["skinWeight", "sum to 1", "at vertex 1"]),
        ("weights of zero", |r| r.blob("skinWeight").data.fill(0), Value, &["skinWeight", "0 at vertex 0"]),
        ("eye position NaN", |r| r.put("eyePositions", 0, f32::NAN.to_le_bytes()), Value, &["eyePositions"]),
        ("eye weight NaN", |r| r.put("eyeWeights", 15, f32::NAN.to_le_bytes()), Value, &["eyeWeights", "at 15"]),
        ("eye weight negative", |r| r.put("eyeWeights", 15, (-0.5f32).to_le_bytes()), Value, &["eyeWeights", "-0.5"]),
        ("eye weight above 1", |r| r.put("eyeWeights", 15, 1.5f32.to_le_bytes()), Value, &["eyeWeights", "1.5"]),
        ("rest NaN", |r| r.put("restWorld", 17, f32::NAN.to_le_bytes()), Value, &["restWorld", "finite"]),
        ("rest singular", |r| r.put("restWorld", 16, 0f32.to_le_bytes()), Value, &["joint \"head\"", "singular"]),
        ("rest projective", |r| r.put("restWorld", 28, 1f32.to_le_bytes()), Value, &["joint \"head\"", "bottom row"]),
        ("rest w", |r| r.put("restWorld", 31, 2f32.to_le_bytes()), Value, &["joint \"head\"", "bottom row"]),
        ("rest too far", |r| r.put("restWorld", 19, f32::MAX.to_le_bytes()), Value, &["joint \"head\"", "undoes"]),
        ("parent of another joint", |r| r.put("jointParents", 0, 0i32.to_le_bytes()), Value, &["jointParents\"[0]"]),
        ("parent at itself", |r| r.put("jointParents", 1, 1i32.to_le_bytes()), Value, &["jointParents\"[1]"]),
        (
            "parent unlike the header",
            |r| r.put("jointParents", 1, (-1i32).to_le_bytes()),
            Value,
            &["jointParents\"[1]"],
        ),
        ("face past the end", |r| r.put("faces", 4, 8u32.to_le_bytes()), Value, &["faces", "below 8", "8 at 4"]),
        ("quad past the end", |r| r.put("quads", 0, u32::MAX.to_le_bytes()), Value, &["quads", "below 8"]),
        ("uv infinity", |r| r.put("uv", 0, f32::INFINITY.to_le_bytes()), Value, &["uv", "finite"]),
        ("seam NaN", |r| r.put("stitchLocal", 0, f32::NAN.to_le_bytes()), Value, &["stitchLocal", "finite"]),
        ("seam too far", |r| r.put("stitchLocal", 0, f32::MAX.to_le_bytes()), Value, &["rest pose", "finite"]),
    ]);
}

const HALF_ONE: [u8; 2] = [0x00, 0x3c];

#[test]
fn pack_with_one_wrong_thing_in_the_mouth_is_rejected() {
    run(&[
        ("mouth as text", |r| r.set("mouth", json!("open")), Type, &["mouth"]),
        ("no groups", |r| r.unset("mouth", "groups"), Missing, &["mouth.groups"]),
        ("0 groups", |r| r.set("mouth/groups", json!([])), Shape, &["mouth.groups", "1 to 16"]),
        ("17 groups", |r| r.set("mouth/groups", json!(vec![0; 17])), Shape, &["mouth.groups", "1 to 16", "17"]),
        ("a group that is no object", |r| r.set("mouth/groups", json!([1])), Type, &["mouth.groups[0]"]),
        (
            "a group without name",
            |r| r.set("mouth/groups/0", json!({"vertices": "mouthTeeth"})),
            Missing,
            &["mouth.groups[0].name"],
        ),
        (
            "vertices not by name",
            |r| r.set("mouth/groups/0/vertices", json!([1, 2])),
            Type,
            &["mouth.groups[0].vertices"],
        ),
        ("faces not by name", |r| r.set("mouth/faces", json!(4)), Type, &["mouth.faces", "the name of a buffer"]),
        ("no faceParts", |r| r.unset("mouth", "faceParts"), Missing, &["mouth.faceParts"]),
        ("vertex past the end", |r| r.put("mouthTeeth", 2, 8u32.to_le_bytes()), Value, &["mouthTeeth", "below 8"]),
        ("face past the end", |r| r.put("mouthFaces", 2, 9u32.to_le_bytes()), Value, &["mouthFaces", "below 8"]),
        ("part 0", |r| r.put("mouthFaceParts", 0, 0u32.to_le_bytes()), Value, &["mouthFaceParts", "1 to 1", "got 0"]),
        ("part 2", |r| r.put("mouthFaceParts", 0, 2u32.to_le_bytes()), Value, &["mouthFaceParts", "1 to 1", "got 2"]),
    ]);
}

#[test]
fn parts_that_disagree_are_rejected() {
    type Bend = fn(&mut PackParts);
    let cases: &[(&str, Bend, LoadErrorKind, &[&str])] = &[
        (
            "basis",
            |p| {
                p.basis.pop();
            },
            Shape,
            &["basis", "length 288", "got 287"],
        ),
        ("skin joints", |p| p.skin_joints.truncate(3), Shape, &["skin_joints"]),
        ("skin weights", |p| p.skin_weights.truncate(3), Shape, &["skin_weights"]),
        (
            "eye weights that sum up",
            |p| {
                let w = p.eye_weights[0].pop().unwrap();
                p.eye_weights[1].push(w);
            },
            Shape,
            &["eye_weights"],
        ),
        ("uvs", |p| p.uvs = Some(vec![]), Shape, &["uvs"]),
        ("seam", |p| p.seam = Some(vec![]), Shape, &["seam"]),
        ("regions", |p| p.regions.truncate(2), Value, &["headExt.regions"]),
        ("a parent that comes later", |p| p.joints[0].parent = Some(1), Value, &["joints[0]"]),
        ("a parent past i32", |p| p.joints[1].parent = Some(usize::MAX), Value, &["joints"]),
        ("a NaN in bindTransform", |p| p.bind_transform[0] = f64::NAN, Value, &["bindTransform"]),
        (
            "a mouth group past the end",
            |p| p.mouth.as_mut().unwrap().face_groups[0] = u32::MAX,
            Value,
            &["mouthFaceParts"],
        ),
        (
            "17 mouth groups",
            |p| {
                let m = p.mouth.as_mut().unwrap();
                m.groups = vec![m.groups[0].clone(); 17];
            },
            Shape,
            &["17"],
        ),
        (
            "no vertices",
            |p| {
                p.neutral.clear();
                p.basis.clear();
                p.skin_joints.clear();
                p.skin_weights.clear();
                p.eye_weights = [vec![], vec![]];
                p.uvs = None;
                p.seam = None;
            },
            Value,
            &["vertexCount"],
        ),
    ];
    for (label, bend, kind, needles) in cases {
        let mut parts = parts(8);
        bend(&mut parts);
        check(label, GnmPack::build(&parts), *kind, needles);
    }
}

#[test]
fn blobs_without_bytes_may_share_an_offset() {
    let mut raw = Raw::of(&tiny());
    for name in ["zzA", "zzB"] {
        let entry = json!({"name": name, "dtype": "u8", "shape": [0], "offset": 4104, "byteLength": 0});
        let Value::Object(entry) = entry else { unreachable!() };
        raw.blobs.push(RawBlob { entry, data: vec![], pinned: true });
    }
    GnmPack::read(raw.bytes()).unwrap();
}
