use super::*;
use crate::gnm::bake::{BakeOptions, bake};
use crate::gnm::model::tests::small_model;
use crate::gnm::model::{Correctives, GnmModel};
use serde_json::json;

fn quantize(basis: &[f32], v: usize) -> GnmwBasis {
    let mut out = GnmwBasis::default();
    for row in basis.chunks_exact(3 * v) {
        let scale = (row.iter().fold(0.0f32, |m, x| m.max(x.abs())) / 127.0).max(1e-12);
        out.values.extend(row.iter().map(|x| (x / scale).round_ties_even() as i8));
        out.scales.push(scale);
    }
    out
}

fn official(model: &GnmModel) -> Gnmw {
    let v = model.vertex_count();
    let Value::Object(meta) = json!({"num_vertices": v}) else { unreachable!() };
    Gnmw {
        meta,
        vertices: model.template.clone(),
        triangles: model.triangles.clone(),
        identity: quantize(&model.identity_basis, v),
        expression: quantize(&model.expression_basis, v),
        rig: None,
    }
}

/// The small model as an export; its corners all split, after the V model vertices.
fn xrblocks(model: &GnmModel) -> Gnmw {
    let v = model.vertex_count();
    let corners = model.triangles.as_flattened();
    let Value::Object(meta) = json!({
        "model": "gnm", "numVertices": v, "numJoints": 4, "identityDim": 2, "expressionDim": 6,
        "numRenderVertices": v + corners.len(),
        "identityNames": model.identity_names, "expressionNames": model.expression_names,
        "jointNames": model.joint_names, "componentNames": ["skin", "tongue"], "materialNames": ["teeth", "skin"],
        "regionNames": ["chin"], "hasPoseCorrectives": true,
    }) else {
        unreachable!()
    };
    let surface = GnmwSurface {
        uvs: vec![[0.25, 0.75]; v].into_iter().chain(model.triangle_uvs.as_flattened().iter().copied()).collect(),
        sources: (0..v as u32).chain(corners.iter().copied()).collect(),
        triangles: (0..model.triangles.len() as u32)
            .map(|t| std::array::from_fn(|k| v as u32 + 3 * t + k as u32))
            .collect(),
    };
    let rig = GnmwRig {
        quads: model.quads.clone(),
        joints: model.template_joints.clone(),
        joint_parents: model.joint_parents.clone(),
        skinning_weights: model.skinning_weights.clone(),
        joint_identity_basis: model.joint_identity_basis.clone(),
        pose_correctives: Some(quantize(&model.pose_correctives, v)),
        labels: [vec![0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1], vec![1; 11], vec![255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
        surface: Some(surface),
        landmarks: vec![GnmwLandmark { vertices: [0, 1, 2], weights: [0.5, 0.25, 0.25] }],
    };
    Gnmw { rig: Some(rig), meta, ..official(model) }
}

#[test]
fn both_dialects_write_and_read_back() {
    let model = small_model();
    for (file, kind, name) in
        [(official(&model), GnmwKind::Official, "official"), (xrblocks(&model), GnmwKind::XrBlocks, "xrblocks")]
    {
        let bytes = file.write();
        let back = read(&bytes).unwrap();
        assert_eq!((back.kind(), back.kind().name()), (kind, name));
        assert!(back == file, "{name} changed");
        assert_eq!(back.write(), bytes);
    }
}

#[test]
fn xrblocks_becomes_the_model_it_was_made_from() {
    let model = small_model();
    let back = xrblocks(&model).into_model().unwrap();
    let near = |a: &[f32], b: &[f32], peak: f32| {
        assert_eq!(a.len(), b.len());
        assert!(a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 0.501 * peak / 127.0));
    };
    near(&back.identity_basis, &model.identity_basis, 0.01);
    near(&back.expression_basis, &model.expression_basis, 0.005);
    near(&back.pose_correctives, &model.pose_correctives, 0.002);
    assert_eq!(back.triangle_uvs, model.triangle_uvs);
    for (q, corners) in back.quad_uvs.iter().enumerate() {
        let [first, second] = [model.triangle_uvs[q], model.triangle_uvs[4 + q]];
        assert_eq!(corners, &[first[0], first[1], first[2], second[1]], "quad {q}");
    }
    assert_eq!(back.vertex_group_names, ["skin", "tongue", "teeth", "chin"]);
    assert_eq!(back.vertex_group("tongue").unwrap(), [0., 0., 0., 0., 0., 0., 0., 1., 1., 1., 1.]);
    assert_eq!(back.vertex_group("chin").unwrap()[..2], [0.0, 1.0]);
    // A model made of it survives the npz, so every count fits.
    assert_eq!(GnmModel::read(&back.write(crate::npy::Packing::Stored)).unwrap(), back);
}

#[test]
fn xrblocks_bakes_and_the_official_payload_is_refused() {
    let model = small_model();
    let dequantised = xrblocks(&model).into_model().unwrap();
    let pack = bake(&dequantised, &[0.5, 1.0], &BakeOptions::default(), &mut |_| ()).unwrap();
    let rest = dequantised.evaluate(&[0.5, 1.0], &[], &[], [0.0; 3], Correctives::Off).unwrap();
    for (ours, theirs) in pack.rest_positions().as_flattened().iter().zip(rest.positions.as_flattened()) {
        approx::assert_abs_diff_eq!(f64::from(*ours), *theirs, epsilon = 1e-7);
    }
    let error = official(&model).into_model().unwrap_err();
    assert_eq!(error.kind, LoadErrorKind::Unsupported);
    assert!(error.to_string().contains("joints"), "{error}");
}

#[test]
fn gnmw_truncated_is_rejected() {
    for bytes in [official(&small_model()).write(), xrblocks(&small_model()).write()] {
        // The last section of both ends without padding.
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
        }
    }
}

/// The file with its header text replaced.
fn with_header(bytes: &[u8], edit: impl Fn(&str) -> String) -> Vec<u8> {
    let length = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    let mut text = edit(std::str::from_utf8(&bytes[12..12 + length]).unwrap()).into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut out = bytes[..8].to_vec();
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text);
    out.extend(&bytes[12 + length..]);
    out
}

#[test]
fn headers_that_lie_are_refused() {
    let bytes = xrblocks(&small_model()).write();
    assert!(read(&with_header(&bytes, str::to_string)).is_ok());
    let cases: [(&str, &str, LoadErrorKind); 12] = [
        (r#""name":"quads""#, r#""name":"""#, LoadErrorKind::Corrupt),
        (r#""name":"quads""#, r#""name":"triangles""#, LoadErrorKind::Corrupt),
        (r#""name":"quads""#, r#""name":"squares""#, LoadErrorKind::Missing),
        (r#""dtype":"float32","name":"template","#, r#""dtype":"float64","name":"template","#, LoadErrorKind::Type),
        (r#""dtype":"float32","name":"template","#, r#""dtype":"int32","name":"template","#, LoadErrorKind::Type),
        (r#""shape":[11,3]"#, r#""shape":[11,-3]"#, LoadErrorKind::Format),
        (r#""shape":[11,3]"#, r#""shape":[4294967297,4294967297]"#, LoadErrorKind::Shape),
        (r#""shape":[11,3]"#, r#""shape":[12,3]"#, LoadErrorKind::Corrupt),
        (r#""offset":0"#, r#""offset":2"#, LoadErrorKind::Corrupt),
        (r#""offset":0"#, r#""offset":18446744073709551612"#, LoadErrorKind::Truncated),
        (r#""numVertices":11"#, r#""numVertices":12"#, LoadErrorKind::Shape),
        (r#""sections":["#, r#""sections":7,"x":["#, LoadErrorKind::Format),
    ];
    for (from, to, kind) in cases {
        let damaged = with_header(&bytes, |text| {
            assert!(text.contains(from), "{from} is not in {text}");
            text.replacen(from, to, 1)
        });
        let error = read(&damaged).unwrap_err();
        assert_eq!(error.kind, kind, "{to}: {error}");
    }
    let mut odd = bytes.clone();
    odd[8] ^= 1;
    assert_eq!(read(&odd).unwrap_err().kind, LoadErrorKind::Corrupt);
    let mut future = bytes;
    future[4] = 2;
    assert_eq!(read(&future).unwrap_err().kind, LoadErrorKind::Version);
    assert_eq!(read(b"").unwrap_err().kind, LoadErrorKind::Format);
    assert!(read(b"<html>").unwrap_err().to_string().contains("HTML"));
}

#[test]
fn contents_that_contradict_are_refused() {
    type Damage = fn(&mut Gnmw);
    fn rig(file: &mut Gnmw) -> &mut GnmwRig {
        file.rig.as_mut().unwrap()
    }
    let cases: [(&str, LoadErrorKind, Damage); 9] = [
        ("template[4]", LoadErrorKind::Value, |f| f.vertices[1][1] = f32::NAN),
        ("triangles[5]", LoadErrorKind::Value, |f| f.triangles[1][2] = 11),
        ("identity_scales[1]", LoadErrorKind::Value, |f| f.identity.scales[1] = f32::INFINITY),
        ("joint_parents: joint_parent_indices[1]", LoadErrorKind::Value, |f| rig(f).joint_parents[1] = Some(2)),
        ("skinning_weights", LoadErrorKind::Corrupt, |f| rig(f).skinning_weights.truncate(43)),
        ("material_id[3]", LoadErrorKind::Value, |f| rig(f).labels[1][3] = 2),
        ("uv_triangles", LoadErrorKind::Value, |f| rig(f).surface.as_mut().unwrap().triangles[0].swap(0, 1)),
        ("landmark_indices[2]", LoadErrorKind::Value, |f| rig(f).landmarks[0].vertices[2] = 11),
        ("pose_correctives", LoadErrorKind::Shape, |f| {
            let correctives = rig(f).pose_correctives.as_mut().unwrap();
            correctives.scales.pop();
            correctives.values.truncate(35 * 33);
        }),
    ];
    for (field, kind, damage) in cases {
        let mut file = xrblocks(&small_model());
        damage(&mut file);
        let error = read(&file.write()).unwrap_err();
        assert_eq!((error.field.as_str(), error.kind), (field, kind), "{error}");
    }
    let mut nameless = xrblocks(&small_model());
    nameless.meta.remove("expressionNames");
    assert_eq!(nameless.into_model().unwrap_err().kind, LoadErrorKind::Missing);
    let mut short = xrblocks(&small_model());
    short.meta.insert("jointNames".into(), json!(["neck"]));
    assert_eq!(short.into_model().unwrap_err().kind, LoadErrorKind::Shape);
}

proptest::proptest! {
    #[test]
    fn gnmw_never_panics_on_noise(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..256), preamble: bool) {
        let mut file = if preamble { b"GNMW\x01\0\0\0".to_vec() } else { Vec::new() };
        file.extend(bytes);
        let _ = read(&file);
    }

    #[test]
    fn gnmw_never_panics_on_damage(
        edits in proptest::collection::vec((proptest::num::usize::ANY, proptest::num::u8::ANY), 1..12),
        rig: bool,
    ) {
        let mut bytes = if rig { xrblocks(&small_model()) } else { official(&small_model()) }.write();
        let length = bytes.len();
        // Half of the edits go to the header, which is where the structure is.
        for (i, (at, value)) in edits.into_iter().enumerate() {
            bytes[at % if i % 2 == 0 { length } else { 2000.min(length) }] = value;
        }
        if let Ok(file) = read(&bytes) {
            let _ = file.into_model();
        }
    }

    #[test]
    fn gnmw_never_panics_on_other_numbers(number in "-?[0-9]{1,20}", nth in 0usize..80) {
        let bytes = xrblocks(&small_model()).write();
        let damaged = with_header(&bytes, |text| {
            let digits = |c: char| c.is_ascii_digit();
            let mut starts = text.char_indices().filter(|&(i, c)| digits(c) && !text[..i].ends_with(digits));
            let Some((start, _)) = starts.nth(nth * 3 + text.len() % 3) else { return text.into() };
            let end = start + text[start..].chars().take_while(|&c| digits(c)).count();
            format!("{}{number}{}", &text[..start], &text[end..])
        });
        if let Ok(file) = read(&damaged) {
            let _ = file.into_model();
        }
    }
}

#[test]
fn xrblocks_of_another_version_or_with_missing_sections_is_refused() {
    let model = small_model();
    let cases = [
        ("gnmVersion", json!("2.0"), "meta.gnmVersion"),
        ("variant", json!("body"), "meta.variant"),
        ("hasPoseCorrectives", json!(true), "pose_correctives"),
        ("jointNames", json!(["neck"]), "meta.jointNames"),
        ("expressionNames", json!(["one"]), "meta.expressionNames"),
    ];
    for (key, value, field) in cases {
        let mut file = xrblocks(&model);
        if let Some(rig) = &mut file.rig {
            rig.pose_correctives = None;
        }
        file.meta.insert(key.into(), value);
        let error = read(&file.write()).expect_err(key);
        assert_eq!(error.field, field, "{error}");
    }
}
