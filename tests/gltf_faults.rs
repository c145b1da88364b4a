//! Known faults of other loaders, players and deformers: each a tiny file made here, and the right answer, on the CPU and on a device.

#[cfg(feature = "gpu")]
mod common;
mod gltf_case;
#[cfg(feature = "gpu")]
#[path = "gltf_case/device.rs"]
mod on_device;

use gltf_case::*;
use rigeval::error::LoadErrorKind;
use rigeval::gltf::bounds::GltfBounds;
use rigeval::gltf::cpu::{gltf_morph_normals, gltf_morph_tangents};
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::math::Aabb;
use serde_json::json;

const ONE: [f32; 4] = [1.0, 0.0, 0.0, 0.0];
const Z_20_DEG: f32 = 0.173_648_18;

/// The vertices at some controls, which the device finds too, with the directions that the file has.
fn vertices(model: &GltfModel, controls: &[f32]) -> Vec<[f32; 3]> {
    #[cfg(feature = "gpu")]
    on_device::check(model, controls);
    gltf_case::vertices(model, controls)
}

/// The vertices as the file stands.
fn rest(model: &GltfModel) -> Vec<[f32; 3]> {
    assert_eq!(gltf_case::rest(model), gltf_case::vertices(model, model.controls().defaults()));
    vertices(model, model.controls().defaults())
}

/// B01: skins without inverse bind matrices.
#[test]
fn inverse_bind_matrices_missing_are_identity() {
    let model = Case::skinned(&[[1.0, 2.0, 3.0]], &TRIANGLE, &[[0; 4]; 3], &[ONE; 3]).model();
    assert_eq!(rest(&model), [[1.0, 2.0, 3.0], [2.0, 2.0, 3.0], [1.0, 3.0, 3.0]]);
    assert_eq!(model.report().skins_without_inverse_binds, 1);
}

/// B02: weights that sum to 0.98.
#[test]
fn weights_short_of_one_are_renormalised() {
    let joints = [[1000.0, 0.0, 0.0]; 2];
    let model = Case::skinned(&joints, &[[0.0, 1.0, 0.0]], &[[0, 1, 0, 0]], &[[0.5, 0.48, 0.0, 0.0]]).model();
    assert_near(&rest(&model), &[[1000.0, 1.0, 0.0]], 1e-4);
    assert_eq!(model.report().renormalised_vertices, 1);
    let model = Case::skinned(&joints, &[[0.0, 1.0, 0.0]], &[[0, 1, 0, 0]], &[[0.5, 0.5, 0.0, 0.0]]).model();
    assert_eq!(model.report().renormalised_vertices, 0);
}

/// B03: no weight at all.
#[test]
fn weights_all_zero_are_rigid_to_slot_0() {
    let joints = [[0.0; 3], [0.0; 3], [5.0, 0.0, 0.0]];
    let model = Case::skinned(&joints, &[[1.0, 0.0, 0.0]], &[[2, 0, 0, 0]], &[[0.0; 4]]).model();
    assert_eq!(rest(&model), [[6.0, 0.0, 0.0]]);
    assert_eq!(model.report().rigid_vertices, 1);
}

/// B05: the second set of influences.
#[test]
fn second_influence_set_counts() {
    let joints: Vec<[f32; 3]> = (0..8).map(|k| [k as f32, 0.0, 0.0]).collect();
    let mut case = Case::skinned(&joints, &[[0.0; 3]], &[[0, 1, 2, 3]], &[[0.125; 4]]);
    let (more, weights) = (case.joints(&[[4, 5, 6, 7]]), case.rows(&[[0.125_f32; 4]]));
    case.primitive()["attributes"]["JOINTS_1"] = json!(more);
    case.primitive()["attributes"]["WEIGHTS_1"] = json!(weights);
    let model = case.model();
    assert_near(&rest(&model), &[[3.5, 0.0, 0.0]], 1e-6);
    assert_eq!(model.report().renormalised_vertices, 0);
}

/// B06: the skinned node's own transform and its parent's. A strip of ten vertices over two joints, straight and bent.
#[test]
fn transform_of_the_skinned_node_is_ignored() {
    let strip: Vec<[f32; 3]> = (0..10).map(|i| [(i % 2) as f32 - 0.5, 0.5 * (i / 2) as f32, 0.0]).collect();
    let share = |i: usize| [1.0 - 0.25 * (i / 2) as f32, 0.25 * (i / 2) as f32, 0.0, 0.0];
    let weights: Vec<[f32; 4]> = (0..10).map(share).collect();
    let mut plain = Case::skinned(&[[0.0; 3], [0.0, 1.0, 0.0]], &strip, &[[0, 1, 0, 0]; 10], &weights);
    let bind = |y: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -y, 0.0, 1.0];
    let binds = plain.rows(&[bind(0.0), bind(1.0)]);
    plain.json["skins"][0]["inverseBindMatrices"] = json!(binds);
    plain.json["nodes"][0]["children"] = json!([1]);
    plain.json["scenes"][0]["nodes"] = json!([0, 2]);
    let mut case = plain.clone();
    case.json["nodes"][2]["translation"] = json!([0, 1, 0]);
    case.push("nodes", json!({"children": [2], "translation": [1, 0, 0]}));
    case.json["scenes"][0]["nodes"] = json!([0, 3]);
    let (model, plain) = (case.model(), plain.model());
    assert_eq!(model.report().ignored_mesh_transforms, 1);
    assert_eq!((rest(&model), rest(&plain)), (strip.clone(), strip.clone()));
    let bent = |model: &GltfModel| {
        let mut controls = model.controls().defaults().to_vec();
        let half = std::f32::consts::FRAC_1_SQRT_2;
        controls[control(model, "node/#1/rotation/z")] = half;
        controls[control(model, "node/#1/rotation/w")] = half;
        vertices(model, &controls)
    };
    assert_eq!(bent(&model), bent(&plain));
    assert_near(&bent(&model)[8..], &[[-1.0, 0.5, 0.0], [-1.0, 1.5, 0.0]], 1e-6);
}

/// B09: a child listed before its parent.
#[test]
fn child_before_its_parent_follows_it_at_once() {
    let mut case = Case::skinned(&[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], &[[0.0; 3]], &[[0; 4]], &[ONE]);
    case.json["nodes"][1]["children"] = json!([0]);
    case.json["scenes"][0]["nodes"] = json!([1, 2]);
    let model = case.model();
    assert_eq!(rest(&model), [[1.0, 1.0, 0.0]]);
    let mut controls = model.controls().defaults().to_vec();
    controls[control(&model, "node/#1/translation/x")] = 2.0;
    assert_eq!(vertices(&model, &controls), [[2.0, 1.0, 0.0]]);
    assert_eq!(model.report().joints_before_parents, 1);
    assert_eq!(model.skeleton().names(), ["#1", "#0", "#2"]);
}

/// B42: the tangent overwritten with the normal.
#[test]
fn tangent_is_turned_and_keeps_its_sign() {
    let mut case = Case::skinned(&[[0.0; 3]], &[[0.0; 3]], &[[0; 4]], &[ONE]);
    let half = std::f32::consts::FRAC_1_SQRT_2;
    case.json["nodes"][0]["rotation"] = json!([0.0, 0.0, half, half]);
    let (normal, tangent) = (case.rows(&[[0.0, 0.0, 1.0]]), case.rows(&[[1.0, 0.0, 0.0, -1.0]]));
    case.primitive()["attributes"]["NORMAL"] = json!(normal);
    case.primitive()["attributes"]["TANGENT"] = json!(tangent);
    let model = case.model();
    assert_eq!(rest(&model), [[0.0; 3]]);
    let pose = GltfPose::new(&model, OutputSpace::World);
    assert_near(&gltf_morph_normals(model.mesh(), &pose).unwrap(), &[[0.0, 0.0, 1.0]], 1e-6);
    assert_near(&gltf_morph_tangents(model.mesh(), &pose).unwrap(), &[[0.0, 1.0, 0.0, -1.0]], 1e-6);
}

/// B40: joint indices read with another width or stride than they have; and Draco.
#[test]
fn joint_indices_of_any_width_and_stride_are_equal() {
    let joints = [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
    let lanes = [[1, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0]];
    let narrow = Case::skinned(&joints, &[[0.0; 3]; 3], &lanes, &[ONE; 3]);
    let want = [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]];
    assert_eq!(rest(&narrow.model()), want);
    let mut wide = narrow.clone();
    let accessor = wide.accessor(U16, "VEC4", 3, &bytes(lanes.map(|row| row.map(u16::from)).as_flattened()));
    wide.primitive()["attributes"]["JOINTS_0"] = json!(accessor);
    assert_eq!(rest(&wide.model()), want);
    let mut strided = narrow.clone();
    let padded: Vec<u8> = lanes.iter().flat_map(|row| row.iter().copied().chain([0xff; 4])).collect();
    let accessor = strided.accessor(U8, "VEC4", 3, &padded);
    let view = strided.json["accessors"][accessor]["bufferView"].as_u64().unwrap() as usize;
    strided.json["bufferViews"][view]["byteStride"] = json!(8);
    strided.primitive()["attributes"]["JOINTS_0"] = json!(accessor);
    assert_eq!(rest(&strided.model()), want);
}

/// B40: what cannot be unpacked is refused by name, and not read as zeros.
#[test]
fn draco_is_refused_by_name() {
    let mut case = Case::skinned(&[[0.0; 3]], &TRIANGLE, &[[0; 4]; 3], &[ONE; 3]);
    case.primitive()["extensions"] = json!({"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {}}});
    assert!(case.load().is_ok(), "plain accessors beside it are read");
    case.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    let error = case.error();
    assert_eq!((error.kind, error.found.as_str()), (LoadErrorKind::Unsupported, "KHR_draco_mesh_compression"));
    case.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    assert_eq!(case.error().field, "/extensionsRequired/0");
}

/// B22: more joints than a uniform buffer holds.
#[test]
fn joints_beyond_256_and_1365_move() {
    for count in [300, 1366] {
        let joints: Vec<[f32; 3]> = (0..count).map(|k| [k as f32, 0.0, 0.0]).collect();
        let mut case = Case::skinned(&joints, &[[0.0; 3]], &[[0; 4]], &[ONE]);
        let lanes = case.accessor(U16, "VEC4", 1, &bytes(&[count as u16 - 1, 0, 0, 0]));
        case.primitive()["attributes"]["JOINTS_0"] = json!(lanes);
        assert_eq!(rest(&case.model()), [[count as f32 - 1.0, 0.0, 0.0]]);
    }
}

/// B11: sparse values over no buffer view.
#[test]
fn sparse_target_without_a_view_moves_what_it_lists() {
    for (component, index) in [(U8, vec![2]), (U16, vec![2, 0]), (U32, vec![2, 0, 0, 0])] {
        let mut case = Case::new();
        let position = case.rows(&[[0.0_f32; 3]; 4]);
        let (indices, values) = (case.view(&index), case.view(&bytes(&[0.0_f32, 0.0, 1.0])));
        let target = case.push(
            "accessors",
            json!({"componentType": F32, "type": "VEC3", "count": 4, "sparse": {
                "count": 1,
                "indices": {"bufferView": indices, "componentType": component},
                "values": {"bufferView": values}
            }}),
        );
        case.mesh_node(
            json!({"attributes": {"POSITION": position}, "targets": [{"POSITION": target}]}),
            json!({"weights": [0.5]}),
        );
        let model = case.model();
        assert_eq!(rest(&model), [[0.0; 3], [0.0; 3], [0.0, 0.0, 0.5], [0.0; 3]]);
        assert_eq!(model.report().sparse_accessors, 1);
    }
}

/// B13: targets with different attributes.
#[test]
fn targets_with_different_attributes_keep_their_places() {
    let mut case = Case::new();
    let (position, normal) = (case.rows(&TRIANGLE), case.rows(&[[0.0, 0.0, 1.0]; 3]));
    let (moved, turned) = (case.rows(&[[0.0, 0.0, 2.0]; 3]), case.rows(&[[1.0, 0.0, 0.0]; 3]));
    case.mesh_node(
        json!({
            "attributes": {"POSITION": position, "NORMAL": normal},
            "targets": [{"POSITION": moved}, {"NORMAL": turned}]
        }),
        json!({}),
    );
    let model = case.model();
    let mut pose = GltfPose::new(&model, OutputSpace::World);
    let mut controls = model.controls().defaults().to_vec();
    controls[..2].copy_from_slice(&[1.0, 1.0]);
    pose.set_controls(&model, &controls).unwrap();
    assert_eq!(vertices(&model, &controls), TRIANGLE.map(|p| [p[0], p[1], 2.0]));
    let diagonal = std::f32::consts::FRAC_1_SQRT_2;
    assert_near(&gltf_morph_normals(model.mesh(), &pose).unwrap(), &[[diagonal, 0.0, diagonal]; 3], 1e-6);
    controls[0] = 0.0;
    assert_eq!(vertices(&model, &controls), TRIANGLE);
}

/// B14: the layout of a weights channel.
#[test]
fn weights_channel_lies_key_by_key() {
    let two: [&[[f32; 3]]; 2] = [&[[1.0, 0.0, 0.0]; 3], &[[0.0, 1.0, 0.0]; 3]];
    let mut case = Case::morphed(&two);
    let output = case.scalars(&[0.0, 1.0, 1.0, 0.0]);
    case.clip(0, "weights", "LINEAR", &[0.0, 1.0], output);
    assert_eq!(sampled(&case.model(), 0.25)[..2], [0.25, 0.75]);
    // Per key: both in-tangents, both values, both out-tangents.
    let mut case = Case::morphed(&two);
    let output = case.scalars(&[9.0, 9.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 9.0, 9.0]);
    case.clip(0, "weights", "CUBICSPLINE", &[0.0, 1.0], output);
    let model = case.model();
    assert_eq!(sampled(&model, 0.0)[..2], [0.0, 1.0]);
    assert_eq!(sampled(&model, 0.5)[..2], [0.5, 0.5]);
    for interpolation in ["LINEAR", "STEP", "CUBICSPLINE"] {
        let mut case = Case::morphed(&two);
        let output = case.scalars(&[0.0, 1.0, 1.0]);
        case.clip(0, "weights", interpolation, &[0.0, 1.0], output);
        let error = case.error();
        assert_eq!((error.kind, error.field.as_str()), (LoadErrorKind::Shape, "/animations/0/samplers/0/output"));
    }
}

/// B37: more than 256 targets.
#[test]
fn targets_beyond_256_move() {
    let mut case = Case::new();
    let position = case.rows(&[[0.0_f32; 3]]);
    let (still, moving) = (case.rows(&[[0.0_f32; 3]]), case.rows(&[[0.0, 0.0, 1.0]]));
    let targets: Vec<_> = (0..257).map(|t| json!({"POSITION": if t == 256 { moving } else { still }})).collect();
    case.mesh_node(json!({"attributes": {"POSITION": position}, "targets": targets}), json!({}));
    let mut values = vec![0.0; 2 * 257];
    values[2 * 257 - 1] = 1.0;
    let output = case.scalars(&values);
    case.clip(0, "weights", "LINEAR", &[0.0, 1.0], output);
    let model = case.model();
    assert_eq!(vertices(&model, &sampled(&model, 1.0)), [[0.0, 0.0, 1.0]]);
}

/// B41: a target of another length than the positions.
#[test]
fn target_of_another_length_is_refused_with_both_counts() {
    let mut case = Case::new();
    let (position, target) = (case.rows(&[[0.0_f32; 3]; 4]), case.rows(&[[0.0_f32; 3]; 3]));
    case.mesh_node(
        json!({"attributes": {"POSITION": position}, "targets": [{"NORMAL": position}, {"POSITION": target}]}),
        json!({}),
    );
    assert_eq!(
        case.error().to_string(),
        "/meshes/0/primitives/0/targets/1/POSITION: expected 4 elements, as POSITION has, got 3"
    );
}

/// A file of one node with a clip over its rotation.
fn turning(interpolation: &str, times: &[f32], rows: &[[f32; 4]]) -> Case {
    let mut case = Case::new();
    case.push("nodes", json!({}));
    let output = case.rows(rows);
    case.clip(0, "rotation", interpolation, times, output);
    case
}

/// A file of one node with a clip over its translation.
fn moving(interpolation: &str, times: &[f32], rows: &[[f32; 3]]) -> Case {
    let mut case = Case::new();
    case.push("nodes", json!({}));
    let output = case.rows(rows);
    case.clip(0, "translation", interpolation, times, output);
    case
}

/// B15: splines of rotations are neither slerp nor squad.
#[test]
fn spline_of_rotations_is_hermite_then_normalised() {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let zero = [0.0; 4];
    let rows = [zero, [0.0, 0.0, 0.0, 1.0], zero, zero, [0.0, 0.0, half, half], zero];
    let controls = sampled(&turning("CUBICSPLINE", &[0.0, 1.0], &rows).model(), 0.25);
    assert_near(&[[controls[5], controls[6]]], &[[0.115_015_9, 0.993_363_7]], 1e-6);
}

/// B17: the long way round.
#[test]
fn slerp_takes_the_short_way() {
    let rows = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, -Z_20_DEG, -0.984_807_8]];
    let controls = sampled(&turning("LINEAR", &[0.0, 1.0], &rows).model(), 0.5);
    let sign = controls[6].signum();
    assert_near(&[[sign * controls[5], sign * controls[6]]], &[[0.087_155_74, 0.996_194_7]], 1e-6);
}

/// B18: a time before the first key.
#[test]
fn time_before_the_first_key_takes_it() {
    let model = moving("LINEAR", &[1.5, 2.5], &[[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]).model();
    assert_eq!(sampled(&model, 0.0)[..3], [1.0, 0.0, 0.0]);
    assert_eq!(model.clips()[0].end(), 2.5);
}

/// B20: steps hold the earlier key.
#[test]
fn step_holds_the_earlier_key() {
    let rows = [[6.0, 0.0, 0.0], [8.0, 0.0, 0.0], [9.0, 0.0, 0.0]];
    let model = moving("STEP", &[0.0, 1.0, 2.0], &rows).model();
    for (time, want) in [(-1.0, 6.0), (0.999, 6.0), (1.0, 8.0), (1.5, 8.0), (5.0, 9.0)] {
        assert_eq!(sampled(&model, time)[0], want, "at {time}");
    }
}

/// B21: one key, and none.
#[test]
fn clip_of_one_key_or_none_is_whole() {
    for (interpolation, rows) in [
        ("LINEAR", vec![[3.0, 0.0, 0.0]]),
        ("STEP", vec![[3.0, 0.0, 0.0]]),
        ("CUBICSPLINE", vec![[9.0; 3], [3.0, 0.0, 0.0], [9.0; 3]]),
    ] {
        let model = moving(interpolation, &[0.7], &rows).model();
        for time in [0.0, 0.7, 5.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(sampled(&model, time)[..3], [3.0, 0.0, 0.0], "{interpolation} at {time}");
        }
        let model = moving(interpolation, &[], &[]).model();
        assert_eq!((model.report().empty_channels, model.clips()[0].end()), (1, 0.0));
        assert_eq!(sampled(&model, 0.5), model.controls().defaults());
    }
}

/// B23: quantised positions with the scale in the inverse bind matrix.
#[test]
fn quantised_positions_are_normalised_and_scaled_back() {
    let mut case = Case::skinned(&[[0.0; 3]], &[[0.0; 3]], &[[0; 4]], &[ONE]);
    let position = case.normalized(I16, "VEC3", 1, &bytes(&[16384_i16, 0, 0]));
    case.primitive()["attributes"]["POSITION"] = json!(position);
    let mut doubled = [0.0_f32; 16];
    (doubled[0], doubled[5], doubled[10], doubled[15]) = (2.0, 2.0, 2.0, 1.0);
    let binds = case.rows(&[doubled]);
    case.json["skins"][0]["inverseBindMatrices"] = json!(binds);
    case.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let model = case.model();
    assert_near(&rest(&model), &[[1.000_030_5, 0.0, 0.0]], 1e-7);
    assert_eq!((model.report().integer_accessors, model.report().skins_without_inverse_binds), (1, 0));
}

/// B23: bytes that sum to 254.
#[test]
fn integer_weights_are_renormalised_only_when_they_are_short() {
    let weigh = |bytes: [u8; 4]| {
        let mut case = Case::skinned(&[[0.0; 3], [1.0, 0.0, 0.0]], &[[0.0; 3]], &[[0, 1, 0, 0]], &[ONE]);
        let weights = case.normalized(U8, "VEC4", 1, &bytes);
        case.primitive()["attributes"]["WEIGHTS_0"] = json!(weights);
        let model = case.model();
        let weights: Vec<f32> = model.mesh().influences().row(0).iter().map(|i| i.weight).collect();
        (weights, model.report().renormalised_vertices)
    };
    assert_eq!(weigh([127, 127, 0, 0]), (vec![0.5, 0.5], 1));
    let exact = vec![(100.0_f64 / 255.0) as f32, (155.0_f64 / 255.0) as f32];
    assert_eq!(weigh([100, 155, 0, 0]), (exact, 0));
}

/// B23: quantised morph targets.
#[test]
fn quantised_targets_decode() {
    let mut case = Case::new();
    let position = case.rows(&[[0.0_f32; 3]]);
    let bytes_target = case.normalized(I8, "VEC3", 1, &bytes(&[127_i8, -127, -128]));
    let halves_target = case.normalized(I16, "VEC3", 1, &bytes(&[32767_i16, -32767, -32768]));
    let plain_target = case.accessor(I16, "VEC3", 1, &bytes(&[3_i16, -4, 5]));
    let targets = [bytes_target, halves_target, plain_target].map(|t| json!({"POSITION": t}));
    case.mesh_node(json!({"attributes": {"POSITION": position}, "targets": targets}), json!({}));
    let model = case.model();
    for (target, want) in [(0, [1.0, -1.0, -1.0]), (1, [1.0, -1.0, -1.0]), (2, [3.0, -4.0, 5.0])] {
        let mut controls = model.controls().defaults().to_vec();
        controls[target] = 1.0;
        assert_eq!(vertices(&model, &controls), [want], "target {target}");
    }
    assert_eq!(model.report().integer_accessors, 3);
}

/// B35: boxes of the rest pose around a character that has moved or grown.
#[test]
fn bounds_follow_the_vertices() {
    let cube: Vec<[f32; 3]> = (0..8).map(|i| [(i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32]).collect();
    let mut case = Case::skinned(&[[0.0; 3]], &cube, &[[0; 4]; 8], &[ONE; 8]);
    let higher = case.rows(&cube.iter().map(|p| [0.0, p[1], 0.0]).collect::<Vec<_>>());
    case.primitive()["targets"] = json!([{"POSITION": higher}]);
    let model = case.model();
    assert_eq!(model.info(1).rest_bounds, Aabb { min: [0.0; 3], max: [1.0; 3] });
    let mut controls = model.controls().defaults().to_vec();
    controls[0] = 1.0;
    controls[control(&model, "node/#0/translation/x")] = 100.0;
    let exact = Aabb { min: [100.0, 0.0, 0.0], max: [101.0, 2.0, 1.0] };
    assert_eq!(Aabb::of_points(vertices(&model, &controls)), exact);
    let mut pose = GltfPose::new(&model, OutputSpace::World);
    pose.set_controls(&model, &controls).unwrap();
    let held = GltfBounds::new(model.mesh()).of_pose(&pose);
    assert!(held.contains(exact.min) && held.contains(exact.max), "{held:?}");
    assert!(held.diagonal() < exact.diagonal() * 1.001, "{held:?}");
}
