//! The `.aosrig` reader and writer: handed packs byte for byte, laws of what is read, every refusal, and hostile bytes.

mod hostile;
mod raw;
mod refusals;

use half::f16;
use raw::{Raw, parts};
use rigeval::gnm::pack::{BasisFormat, GnmPack, MouthGroup};
use rigeval::info::Units;
use serde_json::{Value, json};
use std::path::PathBuf;

const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/aosrig_tiny");
const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/gnm/aosrig_tiny");
/// Metres: positions are kept in f32, whose step is 1.2e-7 at 1.5 m.
const REST_M: f64 = 1e-6;

/// Folder and name of every pack at hand; the full one is too large for the repository.
fn handed_packs() -> Vec<(PathBuf, &'static str)> {
    let mut packs = vec![(PathBuf::from(REFERENCE), "light"), (PathBuf::from(REFERENCE), "e64")];
    if PathBuf::from(SHARED).is_dir() {
        packs.push((PathBuf::from(SHARED), "full"));
    } else {
        eprintln!("SKIP tiny_full: {SHARED} is absent");
    }
    packs
}

#[test]
fn pack_read_and_written_is_byte_identical() {
    for (folder, name) in handed_packs() {
        let bytes = std::fs::read(folder.join(format!("tiny_{name}.aosrig"))).unwrap();
        let pack = GnmPack::read(bytes.clone()).unwrap();
        assert!(pack.write() == bytes, "tiny_{name} differs");
    }
}

#[test]
fn pack_rest_positions_match_the_handed_neutral_frame() {
    for (folder, name) in handed_packs() {
        let pack = GnmPack::read(std::fs::read(folder.join(format!("tiny_{name}.aosrig"))).unwrap()).unwrap();
        let npy = std::fs::read(folder.join(format!("tiny_{name}_rest_f64.npy"))).unwrap();
        let data = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
        let frames: Vec<f64> = npy[data..].as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
        let rest = pack.rest_positions();
        let errors = rest.as_flattened().iter().zip(&frames).map(|(a, b)| (f64::from(*a) - b).abs());
        let worst = errors.fold(0.0, f64::max);
        assert!(worst <= REST_M, "tiny_{name}: {worst} m");
    }
}

#[test]
fn pack_rest_bounds_match_the_handed_ones() {
    for (folder, name) in handed_packs() {
        let pack = GnmPack::read(std::fs::read(folder.join(format!("tiny_{name}.aosrig"))).unwrap()).unwrap();
        let manifest: Value = serde_json::from_slice(&std::fs::read(folder.join("manifest.json")).unwrap()).unwrap();
        let stated = &manifest["packs"][name]["aabb_bind_space"];
        let bounds = pack.rest_bounds();
        for axis in 0..3 {
            let error = |key: &str, x: f32| (stated[key][axis].as_f64().unwrap() - f64::from(x)).abs();
            assert!(error("min", bounds.min[axis]).max(error("max", bounds.max[axis])) <= REST_M, "tiny_{name} {axis}");
        }
    }
}

#[test]
fn pack_built_holds_what_it_was_built_of() {
    let parts = parts(8);
    let pack = GnmPack::build(&parts).unwrap();
    assert_eq!(pack.neutral(), parts.neutral);
    assert_eq!(pack.basis_format(), BasisFormat::F16);
    assert_eq!(pack.basis_bytes(), parts.basis);
    assert_eq!(pack.basis_scale(), parts.basis_scale);
    assert_eq!(pack.eye_positions(), parts.eye_positions);
    assert_eq!(pack.eye_weights(), [&parts.eye_weights[0][..], &parts.eye_weights[1][..]]);
    assert_eq!(pack.regions(), parts.regions);
    assert_eq!(pack.head_ext().dim, 10);
    assert_eq!(pack.head_ext().reduced, parts.regions, "no region is larger than its reduced view here");
    assert_eq!(pack.faces(), parts.faces);
    assert_eq!(pack.quads(), parts.quads.as_deref());
    assert_eq!(pack.uvs(), parts.uvs.as_deref());
    assert_eq!(pack.seam(), parts.seam.as_deref());
    assert_eq!(pack.mouth(), parts.mouth.as_ref());
    assert_eq!(pack.units(), Units::Metres);
    assert_eq!(pack.source().unwrap().get(), parts.source.to_string());
    assert_eq!(rigeval::math::row_major_from_affine(&pack.bind_transform()), parts.bind_transform);
    assert_eq!(pack.skeleton().names(), ["root", "head"]);
    assert_eq!(pack.skeleton().parents(), [None, Some(0)]);
    let names = pack.control_names();
    assert_eq!(names[..4], ["left_eye_000", "right_eye_000", "lower_face_000", "lower_face_001"]);
    assert_eq!(names[6..], ["gaze_pitch_l", "gaze_yaw_l", "gaze_pitch_r", "gaze_yaw_r"]);
}

#[test]
fn pack_built_twice_is_byte_identical() {
    let first = GnmPack::build(&parts(8)).unwrap().write();
    assert_eq!(first, GnmPack::build(&parts(8)).unwrap().write());
    assert_eq!(GnmPack::read(first.clone()).unwrap().write(), first);
    assert!(first.len().is_multiple_of(8));
}

#[test]
fn pack_built_has_the_key_order_of_existing_packs() {
    let bytes = GnmPack::build(&parts(8)).unwrap().write();
    let text = String::from_utf8_lossy(&bytes);
    let keys = ["version", "model", "vertexCount", "maxInfluence", "units", "joints", "eyes", "bindTransform"];
    let keys = keys.iter().chain(&["coeffCount", "headExt", "source", "mouth", "buffers"]);
    let at: Vec<usize> = keys.map(|key| text.find(&format!("\"{key}\":")).unwrap()).collect();
    assert!(at.is_sorted(), "{at:?}");
}

#[test]
fn pack_with_an_odd_number_of_halves_is_padded_to_words() {
    let mut parts = parts(9);
    parts.basis.truncate(9 * 5 * 3 * 2);
    parts.basis_scale.truncate(5);
    parts.regions.truncate(4);
    let pack = GnmPack::build(&parts).unwrap();
    assert_eq!(pack.basis_bytes(), parts.basis);
    assert_eq!(pack.file().blob("basis").unwrap().len_bytes(), parts.basis.len() + 2);
    // The spare lane is no entry: whatever stands in it is not looked at.
    let mut raw = Raw::of(&pack.write());
    raw.put("basis", 9 * 5 * 3, f16::NAN.to_le_bytes());
    assert_eq!(GnmPack::read(raw.bytes()).unwrap().basis_bytes(), parts.basis);
}

#[test]
fn pack_with_an_int8_basis_is_kept_as_stored() {
    let mut parts = parts(8);
    parts.basis_format = BasisFormat::I8;
    parts.basis = (0..8 * 6 * 3).map(|i| i as u8).collect();
    let pack = GnmPack::build(&parts).unwrap();
    assert_eq!((pack.basis_format(), pack.basis_bytes()), (BasisFormat::I8, &parts.basis[..]));
}

#[test]
fn pack_with_narrow_blobs_is_widened() {
    let parts = parts(8);
    let mut raw = Raw::of(&GnmPack::build(&parts).unwrap().write());
    let halves = |x: &[f32]| -> Vec<u8> { x.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect() };
    raw.replace("neutral", "f16", json!([8, 3]), halves(parts.neutral.as_flattened()));
    raw.replace("eyeWeights", "f16", json!([2, 8]), halves(&parts.eye_weights.concat()));
    raw.replace("uv", "f16", json!([8, 2]), halves(parts.uvs.as_ref().unwrap().as_flattened()));
    raw.replace("faces", "u8", json!([6, 3]), parts.faces.as_flattened().iter().map(|&v| v as u8).collect());
    raw.replace("quads", "u16", json!([1, 4]), [0u16, 1, 2, 3].iter().flat_map(|v| v.to_le_bytes()).collect());
    raw.replace("mouthFaceParts", "u8", json!([1]), vec![1]);
    let pack = GnmPack::read(raw.bytes()).unwrap();
    let rounded = |p: &[f32; 3]| p.map(|x| f16::from_f32(x).to_f32());
    assert_eq!(pack.neutral(), parts.neutral.iter().map(rounded).collect::<Vec<_>>());
    assert_eq!(pack.eye_weights()[1], parts.eye_weights[1]);
    assert_eq!(pack.faces(), parts.faces);
    assert_eq!(pack.quads(), parts.quads.as_deref());
    assert_eq!(pack.mouth(), parts.mouth.as_ref());
}

#[test]
fn pack_with_strange_but_legal_spacing_is_read_and_written_in_the_usual_way() {
    let usual = GnmPack::build(&parts(8)).unwrap();
    let mut raw = Raw::of(&usual.write());
    raw.header.insert("zz_future".into(), json!({"a": [1, 2.50, null]}));
    let mut extra = raw.blobs[0].entry.clone();
    extra["name"] = json!("zzFuture");
    extra["shape"] = json!([0, 3]);
    raw.blobs.push(raw::RawBlob { entry: extra, data: vec![], pinned: false });
    let bytes = raw.bytes();
    let pack = GnmPack::read(bytes.clone()).unwrap();
    assert_eq!(pack.rest_positions(), usual.rest_positions());
    let again = GnmPack::read(pack.write()).unwrap();
    assert!(pack.write().len() < bytes.len());
    assert_eq!(again.write(), pack.write());
    assert!(again.file().blob("zzFuture").is_some());
    assert!(String::from_utf8_lossy(&pack.write()).contains(r#""zz_future":{"a":[1,2.5,null]}"#));
}

#[test]
fn pack_header_text_comes_back_digit_by_digit() {
    let mut raw = Raw::of(&GnmPack::build(&parts(8)).unwrap().write());
    raw.unset("", "source");
    raw.prefix = r#""source":{"z":1.50,"a":[1e-3,-0.0, 12345678901234567890123],"é":"\u00e9"},"#;
    let written = GnmPack::read(raw.bytes()).unwrap().write();
    let start = "{".to_owned() + raw.prefix;
    assert!(written[16..].starts_with(start.as_bytes()));
}

#[test]
fn pack_header_with_zeros_at_its_end_is_read() {
    let mut bytes = Raw::of(&GnmPack::build(&parts(8)).unwrap().write()).bytes();
    let longer = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) + 3;
    bytes[8..12].copy_from_slice(&longer.to_le_bytes());
    GnmPack::read(bytes).unwrap();
}

#[test]
fn pack_without_bind_transform_has_the_identity() {
    let mut raw = Raw::of(&GnmPack::build(&parts(8)).unwrap().write());
    raw.unset("", "bindTransform");
    assert_eq!(GnmPack::read(raw.bytes()).unwrap().bind_transform(), glam::DAffine3::IDENTITY);
}

#[test]
fn pack_in_centimetres_says_so() {
    let mut raw = Raw::of(&GnmPack::build(&parts(8)).unwrap().write());
    raw.set("units", json!("cm"));
    assert_eq!(GnmPack::read(raw.bytes()).unwrap().units(), Units::Centimetres);
}

#[test]
fn pack_weights_off_by_less_than_a_thousandth_are_used_as_stored() {
    let mut raw = Raw::of(&GnmPack::build(&parts(8)).unwrap().write());
    raw.put("skinWeight", 0, f16::from_f32(0.9995).to_le_bytes());
    let pack = GnmPack::read(raw.bytes()).unwrap();
    let row = pack.influences().row(0);
    assert_eq!((row.len(), row[0].joint, row[0].weight), (1, 1, f16::from_f32(0.9995).to_f32()));
}

#[test]
fn pack_skin_rows_at_rest_are_the_bind_transform() {
    let pack = GnmPack::build(&parts(8)).unwrap();
    let worlds = pack.skeleton().worlds(pack.rest_locals(), &Default::default());
    for (a, b) in pack.skeleton().skin_rows(&worlds).iter().zip([rigeval::math::rows(&pack.bind_transform()); 2]) {
        let worst = a.as_flattened().iter().zip(b.as_flattened()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst <= 2.4e-7, "{worst}");
    }
}

#[test]
fn pack_mesh_sorts_faces_into_skin_eyes_and_mouth() {
    let mesh = GnmPack::build(&parts(8)).unwrap().mesh();
    let parts: Vec<_> = mesh.parts.iter().map(|p| (p.name.as_str(), &mesh.triangles[p.triangles.clone()])).collect();
    assert_eq!(
        parts,
        [
            ("skin", &[[6, 0, 7], [7, 6, 5], [0, 2, 4]][..]),
            ("left_eye", &[[0, 1, 2]]),
            ("right_eye", &[[3, 4, 5]]),
            ("teeth", &[[5, 6, 7]]),
        ]
    );
    assert!(mesh.parts[0].look.is_none() && mesh.parts[3].look.unwrap().gloss == 0.8);
    assert_eq!(mesh.uvs.unwrap().len(), 8);
}

#[test]
fn pack_without_faces_has_no_mesh_and_no_normals() {
    let mut parts = parts(8);
    assert_eq!(GnmPack::build(&parts).unwrap().rest_normals().unwrap().len(), 8);
    parts.faces.clear();
    let pack = GnmPack::build(&parts).unwrap();
    assert!(pack.mesh().parts.is_empty() && pack.rest_normals().is_none());
}

#[test]
fn pack_look_that_is_missing_or_wrong_is_grey() {
    let looks =
        [json!(null), json!(7), json!({"color": [0.1, 0.2], "gloss": 1}), json!({"color": [0, 0, 1.5], "gloss": 1})];
    for look in looks {
        let mut raw = Raw::of(&GnmPack::build(&parts(8)).unwrap().write());
        raw.set("mouth/groups/0/look", look.clone());
        let pack = GnmPack::read(raw.bytes()).unwrap();
        assert_eq!(pack.mouth().unwrap().groups[0].look, None, "{look}");
        assert_eq!(pack.mesh().parts[3].look, Some(MouthGroup::DEFAULT_LOOK), "{look}");
    }
}

#[test]
fn pack_with_mouth_groups_of_any_name_is_built() {
    let mut parts = parts(8);
    let mouth = parts.mouth.as_mut().unwrap();
    let group = |name: &str| MouthGroup { name: name.into(), vertices: vec![7], look: None };
    mouth.groups.extend(["teeth", "mouth_sock", "lips"].map(group));
    mouth.faces.push([6, 0, 7]);
    mouth.face_groups.push(3);
    let pack = GnmPack::build(&parts).unwrap();
    assert_eq!(pack.mouth(), parts.mouth.as_ref());
    let blobs: Vec<_> = pack.file().blobs().map(|b| b.name.as_str()).collect();
    assert_eq!(blobs[13..17], ["mouthTeeth", "mouthGroup1", "mouthBag", "mouthGroup3"]);
    assert_eq!(pack.mesh().parts.last().unwrap().name, "lips");
}

#[test]
fn pack_debug_text_is_short() {
    let parts = parts(4000);
    let pack = GnmPack::build(&parts).unwrap();
    assert!(format!("{pack:?}").len() < 2000 && format!("{parts:?}").len() < 2000);
}
