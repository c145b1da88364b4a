//! Reference frames: what a folder may hold, and what a comparison says.

use rigeval::error::LoadErrorKind;
use rigeval::files::Files;
use rigeval::frames::{self, CompareError, Frames, Overrides, Side, Stage, Tolerance};
use rigeval::npy;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Two frames of three vertices, an override and a subset, all in memory.
fn bundle() -> BTreeMap<String, Vec<u8>> {
    let manifest = json!({
        "version": 1,
        "rig": "head.aosrig",
        "rig_sha256": frames::sha256_hex(b"the rig"),
        "kind": "gnm",
        "units": "m",
        "stage": "pose",
        "inputs": {"controls": "c.npy", "overrides": "o.json"},
        "vertices": "sub/v.npy",
        "oracle": {"name": "another program", "version": "1.0"},
        "tolerance": {"abs": 1e-6, "rel": 0.0}
    });
    let vertices: Vec<f32> = (0..18).map(|x| x as f32).collect();
    BTreeMap::from([
        ("frames.json".to_string(), manifest.to_string().into_bytes()),
        ("c.npy".to_string(), npy::write_f32(&[2, 5], &[0.5; 10])),
        ("o.json".to_string(), br#"{"neck": [1, 0, 0, 0], "head": [[1, 0, 0, 0], [0, 1, 0, 0]]}"#.to_vec()),
        ("sub/v.npy".to_string(), npy::write_f32(&[2, 3, 3], &vertices)),
        // Whole numbers as NumPy writes them.
        ("ids.npy".to_string(), npy_i32(&[4, 0, 2])),
        ("floats.npy".to_string(), npy::write_f32(&[3], &[0.0; 3])),
    ])
}

fn npy_i32(values: &[i32]) -> Vec<u8> {
    let dict = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({},), }}", values.len());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dict.len() as u16).to_le_bytes());
    bytes.extend(dict.as_bytes());
    bytes.extend(values.iter().flat_map(|x| x.to_le_bytes()));
    bytes
}

/// The bundle with its manifest changed.
fn with(change: impl FnOnce(&mut Value)) -> BTreeMap<String, Vec<u8>> {
    let mut files = bundle();
    let mut manifest: Value = serde_json::from_slice(&files["frames.json"]).unwrap();
    change(&mut manifest);
    files.insert("frames.json".into(), manifest.to_string().into_bytes());
    files
}

#[test]
fn frames_in_memory_are_read() {
    let frames = Frames::read(&Files::Memory(bundle())).unwrap();
    assert_eq!((frames.frame_count, frames.vertex_count, frames.vertex_ids), (2, 3, None));
    assert_eq!(frames.vertices[17], 17.0);
    assert_eq!(frames.inputs.len(), 1);
    assert_eq!(frames.manifest.stage, Stage::Pose);
    assert_eq!(frames.manifest.oracle.to_string(), "another program 1.0");
    let overrides = frames.overrides.unwrap();
    assert_eq!(overrides.frame(1), [("neck", [1.0, 0.0, 0.0, 0.0]), ("head", [0.0, 1.0, 0.0, 0.0])]);
}

#[test]
fn frames_of_a_subset_carry_the_rigs_ids() {
    let files = with(|m| m["vertex_ids"] = json!("ids.npy"));
    assert_eq!(Frames::read(&Files::Memory(files)).unwrap().vertex_ids, Some(vec![4, 0, 2]));
}

#[test]
fn frames_manifest_survives_a_round_trip() {
    let frames = Frames::read(&Files::Memory(bundle())).unwrap();
    let mut files = bundle();
    files.insert("frames.json".into(), serde_json::to_vec(&frames.manifest).unwrap());
    assert_eq!(Frames::read(&Files::Memory(files)).unwrap(), frames);
}

#[test]
fn frames_of_another_rig_are_refused_with_both_hashes() {
    let frames = Frames::read(&Files::Memory(bundle())).unwrap();
    frames.check_rig(b"the rig").unwrap();
    let error = frames.check_rig(b"another rig").unwrap_err().to_string();
    for part in [&frames::sha256_hex(b"the rig"), &frames::sha256_hex(b"another rig"), "head.aosrig", "rig_sha256"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn frames_with_one_wrong_field_are_refused() {
    type Change = fn(&mut Value);
    let cases: [(&str, Change, LoadErrorKind, &str); 20] = [
        ("no version", |m| drop(m.as_object_mut().unwrap().remove("version")), LoadErrorKind::Format, "version"),
        ("version 2", |m| m["version"] = json!(2), LoadErrorKind::Version, "expected 1, got 2"),
        ("not an object", |m| *m = json!([1]), LoadErrorKind::Format, "frames.json"),
        ("no vertices", |m| drop(m.as_object_mut().unwrap().remove("vertices")), LoadErrorKind::Format, "vertices"),
        ("unknown key", |m| m["tolerances"] = json!(1), LoadErrorKind::Format, "tolerances"),
        ("unknown input", |m| m["inputs"]["control"] = json!("c.npy"), LoadErrorKind::Format, "control"),
        ("kind", |m| m["kind"] = json!("flame"), LoadErrorKind::Value, "\"flame\""),
        ("units", |m| m["units"] = json!("mm"), LoadErrorKind::Value, "\"mm\""),
        ("stage", |m| m["stage"] = json!("rest"), LoadErrorKind::Format, "rest"),
        ("hash", |m| m["rig_sha256"] = json!("abc"), LoadErrorKind::Value, "64 hex digits"),
        ("negative tolerance", |m| m["tolerance"]["abs"] = json!(-1.0), LoadErrorKind::Value, "tolerance"),
        ("no tolerance", |m| m["tolerance"] = json!({}), LoadErrorKind::Format, "abs"),
        ("absent file", |m| m["vertices"] = json!("w.npy"), LoadErrorKind::Io, "w.npy"),
        ("path out", |m| m["vertices"] = json!("../v.npy"), LoadErrorKind::Io, "../v.npy"),
        ("url", |m| m["inputs"]["controls"] = json!("http://a/c.npy"), LoadErrorKind::Io, "URL"),
        ("vertices of two dimensions", |m| m["vertices"] = json!("c.npy"), LoadErrorKind::Shape, "(F, V, 3)"),
        ("ids that are too many", |m| m["vertex_ids"] = json!("c.npy"), LoadErrorKind::Shape, "vertex_ids"),
        ("ids that are floats", |m| m["vertex_ids"] = json!("floats.npy"), LoadErrorKind::Type, "vertex_ids"),
        ("input of other length", |m| m["inputs"]["raw"] = json!("ids.npy"), LoadErrorKind::Shape, "2 frames"),
        (
            "overrides that are no JSON",
            |m| m["inputs"]["overrides"] = json!("c.npy"),
            LoadErrorKind::Format,
            "overrides",
        ),
    ];
    for (label, change, kind, part) in cases {
        let error = Frames::read(&Files::Memory(with(change))).expect_err(label);
        assert_eq!(error.kind, kind, "{label}: {error}");
        assert!(error.to_string().contains(part), "{label}: {error}");
    }
}

#[test]
fn frames_with_a_nan_reference_are_refused() {
    let mut files = bundle();
    let mut vertices = vec![0.0f32; 18];
    vertices[13] = f32::NAN;
    files.insert("sub/v.npy".into(), npy::write_f32(&[2, 3, 3], &vertices));
    let error = Frames::read(&Files::Memory(files)).unwrap_err();
    assert_eq!(error.kind, LoadErrorKind::Value);
    assert!(error.to_string().contains("vertices[1, 1]"), "{error}");
}

#[test]
fn overrides_that_are_no_quaternions_are_refused() {
    let bad = [
        "",
        "[]",
        "3",
        r#"{"neck": [1, 0, 0]}"#,
        r#"{"neck": [1, 0, 0, 0, 0]}"#,
        r#"{"neck": null}"#,
        r#"{"neck": ["1", 0, 0, 0]}"#,
        r#"{"neck": [1e999, 0, 0, 0]}"#,
        r#"{"neck": [1, 0, 0, 0]"#,
        r#"{"neck": [1, 0, 0, 0], "neck": [1, 0, 0, 0]}"#,
    ];
    for text in bad {
        Overrides::parse(text.as_bytes()).expect_err(text);
    }
    let each = Overrides::parse(br#"{"neck": [[1, 0, 0, 0]]}"#).unwrap();
    each.check_frames(1).unwrap();
    assert_eq!(each.check_frames(2).unwrap_err().kind, LoadErrorKind::Shape);
}

const ABS: Tolerance = Tolerance { abs: 1e-6, rel: 0.0 };

/// Two frames of four vertices with both signs.
fn reference() -> Vec<f64> {
    (0..24).map(|x| f64::from(x) * 0.1 - 1.0).collect()
}

fn side<'a>(source: &'a str, positions: &'a [f64]) -> Side<'a> {
    Side { source, positions, frame_count: 2, vertex_count: positions.len() / 6 }
}

#[test]
fn comparison_of_equal_positions_passes() {
    let r = reference();
    let c = frames::compare(&side("a", &r), &side("b", &r), None, ABS, "m").unwrap();
    assert!(c.pass);
    assert_eq!((c.max, c.mean, c.failed_frames, c.frames, c.vertices), (0.0, 0.0, 0, 2, 4));
}

#[test]
fn comparison_reports_every_vertex_moved_by_twice_the_tolerance() {
    let r = reference();
    for index in 0..r.len() {
        for sign in [-2e-6, 2e-6] {
            let mut moved = r.clone();
            moved[index] += sign;
            let c = frames::compare(&side("a", &r), &side("b", &moved), None, ABS, "m").unwrap();
            assert!(!c.pass && c.failed_frames == 1, "index {index}");
            assert_eq!((c.worst.frame, c.worst.vertex), (index / 12, index / 3 % 4));
            assert!((c.max - 2e-6).abs() < 1e-12 && (c.mean - 2e-6 / 8.0).abs() < 1e-12, "{c:?}");
            moved[index] = r[index] + sign / 4.0;
            assert!(frames::compare(&side("a", &r), &side("b", &moved), None, ABS, "m").unwrap().pass);
        }
    }
}

#[test]
fn comparison_fails_on_nan_and_infinity_in_any_place() {
    let r = reference();
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for index in 0..r.len() {
            let mut bad = r.clone();
            bad[index] = value;
            // A large finite error elsewhere must not hide the NaN.
            bad[(index + 5) % r.len()] += 1.0;
            let huge = Tolerance { abs: 1e30, rel: 1e30 };
            let c = frames::compare(&side("a", &r), &side("b", &bad), None, huge, "m").unwrap();
            assert!(!c.pass, "{value} at {index}");
            assert_eq!((c.worst.frame, c.worst.vertex), (index / 12, index / 3 % 4), "{value} at {index}");
        }
    }
}

#[test]
fn comparison_allows_abs_and_a_share_of_the_frames_own_size() {
    let mut r = vec![0.0; 12];
    r[0] = -2.0;
    r[6] = 10.0;
    let tolerance = Tolerance { abs: 0.5, rel: 0.25 };
    for (index, allowed) in [(3, 0.5 + 0.25 * 2.0), (9, 0.5 + 0.25 * 10.0)] {
        for (error, pass) in [(allowed, true), (allowed + 1e-9, false)] {
            let mut moved = r.clone();
            moved[index] += error;
            let c = frames::compare(&side("a", &r), &side("b", &moved), None, tolerance, "m").unwrap();
            assert_eq!(c.pass, pass, "{c:?}");
        }
    }
}

#[test]
fn comparison_of_a_subset_looks_at_those_vertices_and_reports_the_rigs_ids() {
    let full = reference();
    let subset: Vec<f64> = [3, 1].iter().flat_map(|v| full[v * 3..v * 3 + 3].to_vec()).collect();
    let subset = [subset, [3, 1].iter().flat_map(|v| full[12 + v * 3..15 + v * 3].to_vec()).collect()].concat();
    let mut moved = full.clone();
    moved[12 + 9] += 1.0;
    let c = frames::compare(&side("a", &subset), &side("b", &moved), Some(&[3, 1]), ABS, "m").unwrap();
    assert_eq!((c.worst.frame, c.worst.vertex, c.vertices), (1, 3, 2));
    moved = full;
    moved[0] += 1.0;
    assert!(frames::compare(&side("a", &subset), &side("b", &moved), Some(&[3, 1]), ABS, "m").unwrap().pass);
}

#[test]
fn comparison_with_rounding_allows_each_coordinate_its_own() {
    let r = reference();
    let mut rounding = vec![0.0; r.len()];
    rounding[13] = 3e-6;
    let compare = |moved: &[f64], rounding: &[f64]| {
        frames::compare_rounded(&side("a", &r), &side("b", moved), None, ABS, rounding, "cm").unwrap()
    };
    for index in 0..r.len() {
        for (error, pass) in [(0.9e-6, true), (3.6e-6, index == 13), (4.4e-6, false)] {
            let mut moved = r.clone();
            moved[index] -= error;
            let c = compare(&moved, &rounding);
            assert_eq!((c.pass, c.failed_frames), (pass, usize::from(!pass)), "index {index}: {c:?}");
            let (allowed, seen) = (if index == 13 { 4e-6 } else { 1e-6 }, c.rounding.unwrap());
            assert!((seen.used - error / allowed).abs() < 1e-6 && seen.max == 3e-6, "index {index}: {seen:?}");
        }
    }
    for value in [f64::INFINITY, f64::NAN] {
        let mut boundless = rounding.clone();
        boundless[4] = value;
        assert!(!compare(&r, &boundless).pass, "a rounding of {value} passes anything");
    }
    let mut bad = r.clone();
    bad[13] = f64::NAN;
    let c = compare(&bad, &rounding);
    assert!(!c.pass && c.rounding.unwrap().used.is_nan(), "{c:?}");
    let short = frames::compare_rounded(&side("a", &r), &side("b", &r), None, ABS, &rounding[1..], "cm").unwrap_err();
    assert!(matches!(short, CompareError::Shape { what: "rounding", expected: 24, got: 23 }), "{short}");
    assert!(frames::compare(&side("a", &r), &side("b", &r), None, ABS, "cm").unwrap().rounding.is_none());
}

#[test]
fn comparison_that_cannot_fail_is_refused() {
    let r = reference();
    let same = frames::compare(&side("a", &r), &side("a", &r), None, ABS, "m").unwrap_err();
    assert_eq!(same, CompareError::SameSource { source_name: "a".into() });
    let empty = Side { source: "b", positions: &[], frame_count: 0, vertex_count: 4 };
    let none = frames::compare(&Side { source: "a", ..empty }, &empty, None, ABS, "m").unwrap_err();
    assert_eq!(none, CompareError::Empty { frames: 0, vertices: 4 });
}

#[test]
fn comparison_of_different_sizes_is_an_error() {
    let r = reference();
    let short = Side { source: "b", positions: &r[..12], frame_count: 1, vertex_count: 4 };
    let thin = Side { source: "b", positions: &r[..18], frame_count: 2, vertex_count: 3 };
    let lying = Side { source: "b", positions: &r[..23], frame_count: 2, vertex_count: 4 };
    for (other, what) in [(short, "frames"), (thin, "vertices"), (lying, "coordinates")] {
        let error = frames::compare(&side("a", &r), &other, None, ABS, "m").unwrap_err();
        assert!(matches!(error, CompareError::Shape { what: w, .. } if w == what), "{error}");
    }
    let outside = frames::compare(&thin, &side("a", &r), Some(&[0, 1, 4]), ABS, "m").unwrap_err();
    assert_eq!(outside, CompareError::VertexId { id: 4, vertex_count: 4 });
    let few = frames::compare(&thin, &side("a", &r), Some(&[0, 1]), ABS, "m").unwrap_err();
    assert!(matches!(few, CompareError::Shape { what: "vertex ids", .. }), "{few}");
}

#[test]
fn comparison_with_a_nan_reference_is_an_error() {
    let mut r = reference();
    let computed = r.clone();
    r[13] = f64::NAN;
    let error = frames::compare(&side("a", &r), &side("b", &computed), None, ABS, "m").unwrap_err();
    assert_eq!(error, CompareError::Reference { frame: 1 });
}

#[test]
fn comparison_as_json_has_the_documented_keys() {
    let r = reference();
    let mut bad = r.clone();
    bad[4] = f64::NAN;
    let c = frames::compare(&side("a", &r), &side("b", &bad), None, ABS, "cm").unwrap();
    let value = serde_json::to_value(&c).unwrap();
    assert_eq!(value["max"], Value::Null);
    assert_eq!(value["worst"], json!({"frame": 0, "vertex": 1}));
    assert_eq!(value["tolerance"], json!({"abs": 1e-6, "rel": 0.0}));
    assert_eq!((&value["unit"], &value["pass"]), (&json!("cm"), &json!(false)));
    assert!(value.get("mean").is_some());
}

#[test]
fn committed_frames_of_another_program_are_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/gnm_tiny_frames");
    let frames = Frames::read(&Files::Folder(folder.into())).unwrap();
    assert_eq!((frames.frame_count, frames.vertex_count), (8, 447));
    assert_eq!(frames.input("rotations").unwrap().shape, [8, 4, 3]);
    assert_eq!(frames.manifest.stage, Stage::World);
}
