//! The loader's rules, each with its counter, and where buffers come from.

mod gltf_case;

use base64::Engine;
use gltf_case::*;
use rigeval::error::LoadErrorKind;
use rigeval::files::Files;
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::report::LoadReport;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const ONE: [f32; 4] = [1.0, 0.0, 0.0, 0.0];

/// A triangle held by one joint at (1, 2, 3).
fn held() -> Case {
    Case::skinned(&[[1.0, 2.0, 3.0]], &TRIANGLE, &[[0; 4]; 3], &[ONE; 3])
}

#[test]
fn plain_file_follows_no_rule_but_the_missing_binds() {
    let mut report = held().model().report().clone();
    assert_eq!(std::mem::take(&mut report.skins_without_inverse_binds), 1);
    assert_eq!(std::mem::take(&mut report.unnamed_nodes), 2);
    assert_eq!(report, LoadReport::default());
}

#[test]
fn every_counter_has_its_sentence() {
    let report = LoadReport {
        renormalised_vertices: 1,
        rigid_vertices: 2,
        negative_weights: 3,
        idle_joint_indices: 4,
        skins_without_inverse_binds: 5,
        ignored_mesh_transforms: 6,
        primitives_without_joints: 7,
        joints_outside_scene: 8,
        joints_before_parents: 9,
        duplicate_names: 10,
        unnamed_nodes: 11,
        matrix_nodes: 12,
        scene_roots_with_parents: 13,
        files_without_scene: 14,
        sparse_accessors: 15,
        integer_accessors: 16,
        unpacked_views: 17,
        non_finite_attributes: 18,
        primitives_without_positions: 19,
        primitives_with_fewer_targets: 20,
        ignored_channels: 21,
        empty_channels: 22,
        repeated_channels: 23,
        non_unit_keys: 24,
    };
    let counts: Vec<usize> = report.notes().iter().map(|n| n.split(' ').next().unwrap().parse().unwrap()).collect();
    assert_eq!(counts, (1..=24).collect::<Vec<_>>());
    assert_eq!(report.to_string().lines().count(), 24);
    assert!(LoadReport::default().notes().is_empty());
}

#[test]
fn lane_without_weight_is_never_read() {
    let case = Case::skinned(&[[1.0, 0.0, 0.0]], &[[0.0; 3]], &[[0, 200, 0, 0]], &[ONE]);
    let model = case.model();
    assert_eq!(rest(&model), [[1.0, 0.0, 0.0]]);
    assert_eq!(model.report().idle_joint_indices, 1);
}

#[test]
fn index_outside_the_skin_with_weight_is_an_error() {
    let case = Case::skinned(&[[0.0; 3]; 2], &[[0.0; 3]; 2], &[[0; 4], [0, 2, 0, 0]], &[ONE, [0.5, 0.5, 0.0, 0.0]]);
    assert_eq!(
        case.error().to_string(),
        "/meshes/0/primitives/0/attributes/JOINTS_0: expected joints below 2, the joints of the skin, got 2 at vertex 1"
    );
    // The joint that holds a vertex without weights is read.
    let case = Case::skinned(&[[0.0; 3]], &[[0.0; 3]], &[[9, 0, 0, 0]], &[[0.0; 4]]);
    assert_eq!(case.error().kind, LoadErrorKind::Value);
}

#[test]
fn half_an_influence_set_is_an_error() {
    for (gone, left) in [("WEIGHTS_0", "JOINTS_0"), ("JOINTS_0", "WEIGHTS_0")] {
        let mut case = held();
        case.primitive()["attributes"].as_object_mut().unwrap().remove(gone);
        let error = case.error();
        let field = format!("/meshes/0/primitives/0/attributes/{gone}");
        assert_eq!((error.kind, error.field), (LoadErrorKind::Missing, field), "only {left}");
    }
}

#[test]
fn negative_weight_is_zero() {
    let joints = [[0.0; 3], [4.0, 0.0, 0.0]];
    let model = Case::skinned(&joints, &[[0.0; 3]], &[[0, 1, 0, 0]], &[[-1.0, 1.0, 0.0, 0.0]]).model();
    assert_eq!(rest(&model), [[4.0, 0.0, 0.0]]);
    assert_eq!(model.report().negative_weights, 1);
}

#[test]
fn primitive_without_joints_follows_its_node() {
    let mut case = held();
    case.json["nodes"][1]["translation"] = json!([0, 0, 7]);
    let attributes = case.primitive()["attributes"].as_object_mut().unwrap();
    attributes.retain(|key, _| key == "POSITION");
    let model = case.model();
    assert_eq!(rest(&model), TRIANGLE.map(|p| [p[0], p[1], 7.0]));
    assert_eq!(model.report().primitives_without_joints, 1);
    assert!(!model.mesh().parts()[0].skinned);
}

#[test]
fn joint_outside_the_scene_moves_with_every_ancestor() {
    let mut case = held();
    case.push("nodes", json!({"children": [0], "scale": [2, 2, 2]}));
    case.json["scenes"][0]["nodes"] = json!([1]);
    let model = case.model();
    assert_eq!(rest(&model)[0], [2.0, 4.0, 6.0]);
    assert_eq!(model.report().joints_outside_scene, 1);
    assert_eq!(model.joint_nodes(), [1, 2, 0]);
}

#[test]
fn unusable_names_go_by_index() {
    let mut case = Case::new();
    let long = "n".repeat(257);
    for name in [json!("a"), json!("b"), json!("a"), Value::Null, json!(""), json!("#1"), json!(long)] {
        case.push("nodes", json!({"name": name}));
    }
    case.json["scenes"][0]["nodes"] = json!([0, 1, 2, 3, 4, 5, 6]);
    let model = case.model();
    assert_eq!(model.skeleton().names(), ["#0", "b", "#2", "#3", "#4", "#5", "#6"]);
    assert_eq!((model.report().duplicate_names, model.report().unnamed_nodes), (2, 4));
}

#[test]
fn scene_root_with_a_parent_is_moved_by_it() {
    let mut case = Case::morphed(&[]);
    case.push("nodes", json!({"children": [0], "translation": [5, 0, 0]}));
    case.json["scenes"][0]["nodes"] = json!([0]);
    let model = case.model();
    assert_eq!(rest(&model)[0], [5.0, 0.0, 0.0]);
    assert_eq!(model.report().scene_roots_with_parents, 1);
}

#[test]
fn default_scene_says_what_is_shown() {
    let mut case = Case::new();
    let position = case.rows(&TRIANGLE);
    for x in 0..3 {
        case.mesh_node(json!({"attributes": {"POSITION": position}}), json!({"translation": [x, 0, 0]}));
    }
    case.json["scenes"] = json!([{"nodes": [0]}, {"nodes": [2, 1]}]);
    case.json["scene"] = json!(1);
    let nodes = |case: &Case| case.model().mesh().parts().iter().map(|part| part.node).collect::<Vec<_>>();
    assert_eq!(nodes(&case), [1, 2], "ascending, whatever the scene's order");
    case.json.as_object_mut().unwrap().remove("scene");
    assert_eq!(nodes(&case), [0], "the first scene where none is named");
    case.json.as_object_mut().unwrap().remove("scenes");
    assert_eq!(nodes(&case), [0, 1, 2], "every root where there is none");
    assert_eq!(case.model().report().files_without_scene, 1);
}

#[test]
fn attribute_that_is_not_finite_is_zero_and_position_is_refused() {
    let mut case = Case::morphed(&[]);
    let normal = case.rows(&[[f32::NAN, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, f32::INFINITY, 0.0]]);
    case.primitive()["attributes"]["NORMAL"] = json!(normal);
    let model = case.model();
    assert_eq!(model.mesh().normals().unwrap(), [[0.0; 3], [0.0, 0.0, 1.0], [0.0; 3]]);
    assert_eq!(model.report().non_finite_attributes, 2);
    case.primitive()["attributes"]["POSITION"] = json!(normal);
    let error = case.error();
    assert_eq!((error.kind, error.field), (LoadErrorKind::Value, format!("/accessors/{normal}")));
}

#[test]
fn floats_called_normalized_are_as_they_are() {
    let mut case = Case::new();
    let position = case.normalized(F32, "VEC3", 1, &bytes(&[-5.0_f32, 3.0, 0.5]));
    case.mesh_node(json!({"attributes": {"POSITION": position}}), json!({}));
    assert_eq!(rest(&case.model()), [[-5.0, 3.0, 0.5]]);
}

#[test]
fn every_integer_type_decodes_plain_and_normalised() {
    for (component, row, plain, normal) in [
        (I8, bytes(&[-128_i8, 127, 1, 0]), [-128.0, 127.0, 1.0], [-1.0, 1.0, 1.0 / 127.0]),
        (U8, bytes(&[0_u8, 255, 51, 0]), [0.0, 255.0, 51.0], [0.0, 1.0, 0.2]),
        (I16, bytes(&[-32768_i16, 32767, 1, 0]), [-32768.0, 32767.0, 1.0], [-1.0, 1.0, 1.0 / 32767.0]),
        (U16, bytes(&[0_u16, 65535, 13107, 0]), [0.0, 65535.0, 13107.0], [0.0, 1.0, 0.2]),
        (U32, bytes(&[0_u32, u32::MAX, 1 << 24]), [0.0, 4_294_967_296.0, 16_777_216.0], [0.0, 1.0, 1.0 / 256.0]),
    ] {
        for (normalized, want) in [(false, plain), (true, normal)] {
            let mut case = Case::new();
            let position = case.accessor(component, "VEC3", 1, &row);
            case.json["accessors"][position]["normalized"] = json!(normalized);
            case.mesh_node(json!({"attributes": {"POSITION": position}}), json!({}));
            assert_near(&rest(&case.model()), &[want], 1e-7);
        }
    }
}

#[test]
fn primitives_of_one_mesh_may_differ() {
    let mut case = Case::morphed(&[&[[0.0, 0.0, 1.0]; 3], &[[0.0, 1.0, 0.0]; 3]]);
    let position = case.primitive()["attributes"]["POSITION"].clone();
    let (normal, target) = (case.rows(&[[0.0, 0.0, 1.0]; 3]), case.primitive()["targets"][0].clone());
    let primitives = case.json["meshes"][0]["primitives"].as_array_mut().unwrap();
    primitives.push(json!({"attributes": {"NORMAL": normal}}));
    primitives.push(json!({"attributes": {"POSITION": position, "NORMAL": normal}, "targets": [target]}));
    primitives.push(json!({"attributes": {"POSITION": position}, "mode": 0}));
    let model = case.model();
    let mut controls = model.controls().defaults().to_vec();
    controls[..2].copy_from_slice(&[1.0, 1.0]);
    let posed = vertices(&model, &controls);
    assert_eq!([posed[0], posed[3], posed[6]], [[0.0, 1.0, 1.0], [0.0, 0.0, 1.0], [0.0; 3]]);
    assert_eq!(model.report().primitives_without_positions, 1);
    assert_eq!(model.report().primitives_with_fewer_targets, 2);
    let flags: Vec<(usize, bool)> = model.mesh().parts().iter().map(|p| (p.primitive, p.has_normals)).collect();
    assert_eq!(flags, [(0, false), (2, true), (3, false)]);
    assert_eq!(model.mesh().normals().unwrap().len(), 9);
    assert_eq!(model.mesh().render().triangles, [[0, 1, 2], [3, 4, 5]]);
}

#[test]
fn every_mode_gives_its_triangles() {
    let mut case = Case::new();
    let position = case.rows(&[[0.0_f32; 3]; 5]);
    let indices = case.accessor(U16, "SCALAR", 5, &bytes(&[4_u16, 3, 2, 1, 0]));
    case.mesh_node(json!({"attributes": {"POSITION": position}, "indices": indices}), json!({}));
    let mut triangles = |mode: u32| {
        case.primitive()["mode"] = json!(mode);
        case.load().map(|model| model.mesh().render().triangles.clone())
    };
    assert_eq!(triangles(4).unwrap(), [[4, 3, 2]], "an unfinished triangle is dropped");
    assert_eq!(triangles(5).unwrap(), [[4, 3, 2], [3, 1, 2], [2, 1, 0]]);
    assert_eq!(triangles(6).unwrap(), [[3, 2, 4], [2, 1, 4], [1, 0, 4]]);
    for mode in 0..4 {
        assert!(triangles(mode).unwrap().is_empty());
    }
    assert_eq!(triangles(7).unwrap_err().field, "/meshes/0/primitives/0/mode");
}

#[test]
fn mirrored_node_turns_its_triangles_over() {
    let mut case = Case::morphed(&[]);
    case.json["nodes"][0]["scale"] = json!([-1, 1, 1]);
    assert_eq!(case.model().mesh().render().triangles, [[0, 2, 1]]);
}

#[test]
fn target_names_come_from_the_mesh_or_a_primitive() {
    let mut case = Case::morphed(&[TRIANGLE.as_slice(); 4]);
    case.json["nodes"][0]["name"] = json!("head");
    let names = |case: &Case| case.model().controls().names()[..4].to_vec();
    assert_eq!(names(&case)[1], "morph/head/#1");
    case.json["meshes"][0]["primitives"][0]["extras"] = json!({"targetNames": ["a", "b", "a"]});
    assert_eq!(names(&case), ["morph/head/#0", "morph/head/b", "morph/head/#2", "morph/head/#3"]);
    case.json["meshes"][0]["extras"] = json!({"targetNames": ["jawOpen", "", "#9", "x", "y"]});
    assert_eq!(names(&case), ["morph/head/jawOpen", "morph/head/#1", "morph/head/#2", "morph/head/x"]);
}

#[test]
fn node_weights_stand_before_those_of_the_mesh() {
    let mut case = Case::morphed(&[TRIANGLE.as_slice(); 2]);
    case.json["meshes"][0]["weights"] = json!([0.25, 0.5]);
    assert_eq!(case.model().controls().defaults()[..2], [0.25, 0.5]);
    case.json["nodes"][0]["weights"] = json!([1, 0]);
    assert_eq!(case.model().controls().defaults()[..2], [1.0, 0.0]);
    case.json["nodes"][0]["weights"] = json!([1]);
    assert_eq!(case.error().field, "/nodes/0/weights");
}

/// The case with its buffer under another URI, and files to find it in.
fn outside(case: &Case, uri: &str, files: &[(&str, &[u8])]) -> Result<GltfModel, rigeval::error::LoadError> {
    let mut json = case.document();
    json["buffers"][0]["uri"] = json!(uri);
    let files = files.iter().map(|(name, bytes)| (name.to_string(), bytes.to_vec()));
    GltfModel::load(&serde_json::to_vec(&json).unwrap(), &Files::Memory(files.collect::<BTreeMap<_, _>>()))
}

#[test]
fn buffers_come_from_files_beside_and_from_data_uris() {
    let case = held();
    let want = case.model();
    let bin = case.bin.as_slice();
    assert_eq!(outside(&case, "sub/a%20b.bin", &[("sub/a b.bin", bin)]).unwrap(), want);
    let uri = format!("data:application/gltf-buffer;base64,{}", base64::prelude::BASE64_STANDARD.encode(bin));
    assert_eq!(outside(&case, &uri, &[]).unwrap(), want);
    let longer = [bin, &[0; 9]].concat();
    assert_eq!(outside(&case, "a.bin", &[("a.bin", &longer)]).unwrap(), want);
}

#[test]
fn buffer_outside_the_folder_is_refused() {
    let case = held();
    for uri in
        ["../a.bin", "%2e%2e/a.bin", "/etc/passwd", "http://host/a.bin", "file:///a.bin", "c:\\a.bin", "a\\b", ""]
    {
        let error = outside(&case, uri, &[("a.bin", &case.bin)]).unwrap_err();
        assert_eq!(error.kind, LoadErrorKind::Io, "{uri}: {error}");
        assert!(error.field.starts_with("/buffers/0/uri"), "{uri}: {error}");
    }
    let error = outside(&case, "b.bin", &[("a.bin", &case.bin)]).unwrap_err();
    assert_eq!(error.to_string(), "b.bin: /buffers/0/uri: expected a file of this bundle, got no such file");
    let error = outside(&case, "a.bin", &[("a.bin", &case.bin[..9])]).unwrap_err();
    assert_eq!((error.kind, error.field.as_str()), (LoadErrorKind::Truncated, "/buffers/0/byteLength"));
}

#[cfg(unix)]
#[test]
fn link_out_of_the_folder_is_refused() {
    let (away, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let case = held();
    std::fs::write(away.path().join("a.bin"), &case.bin).unwrap();
    std::os::unix::fs::symlink(away.path().join("a.bin"), here.path().join("a.bin")).unwrap();
    let mut json = case.document();
    json["buffers"][0]["uri"] = json!("a.bin");
    for folder in [&away, &here] {
        std::fs::write(folder.path().join("rig.gltf"), serde_json::to_vec(&json).unwrap()).unwrap();
    }
    assert!(GltfModel::open(&away.path().join("rig.gltf")).is_ok());
    let error = GltfModel::open(&here.path().join("rig.gltf")).unwrap_err().to_string();
    assert!(error.contains("leads out of it"), "{error}");
}

#[test]
fn buffer_that_no_rig_needs_may_be_absent() {
    let mut case = held();
    case.push("buffers", json!({"byteLength": 10, "uri": "picture.bin"}));
    case.push("bufferViews", json!({"buffer": 1, "byteLength": 10}));
    case.json["images"] = json!([{"bufferView": 99}]);
    case.json["textures"] = json!([{"extensions": {"EXT_texture_webp": {"source": 0}}}]);
    assert!(case.load().is_ok());
}

#[cfg(feature = "meshopt")]
#[test]
fn packed_view_is_unpacked() {
    let packed = packed_triangle();
    let model = packed.model();
    assert_eq!(rest(&model), TRIANGLE);
    assert_eq!(model.report().unpacked_views, 1);
}

#[cfg(feature = "meshopt")]
fn packed_triangle() -> Case {
    let mut case = Case::morphed(&[]);
    let rows: Vec<[u8; 12]> = TRIANGLE.iter().map(|p| bytes(p).try_into().unwrap()).collect();
    let packed = meshopt::encode_vertex_buffer(&rows).unwrap();
    let view = case.view(&packed);
    let place = case.json["bufferViews"][view]["byteOffset"].clone();
    let fallback = case.push("buffers", json!({"byteLength": 36}));
    case.json["bufferViews"][view] = json!({
        "buffer": fallback, "byteLength": 36, "extensions": {"EXT_meshopt_compression": {
            "buffer": 0, "byteOffset": place, "byteLength": packed.len(), "byteStride": 12, "count": 3, "mode": "ATTRIBUTES"
        }}
    });
    case.json["accessors"][0]["bufferView"] = json!(view);
    case.json["extensionsRequired"] = json!(["EXT_meshopt_compression"]);
    case
}

#[cfg(not(feature = "meshopt"))]
#[test]
fn packed_view_is_refused_by_name() {
    let mut case = Case::morphed(&[]);
    case.json["bufferViews"][0]["extensions"] = json!({"EXT_meshopt_compression": {
        "buffer": 0, "byteLength": 9, "byteStride": 12, "count": 3, "mode": "ATTRIBUTES"
    }});
    let error = case.error();
    assert_eq!((error.kind, error.found.as_str()), (LoadErrorKind::Unsupported, "EXT_meshopt_compression"));
    assert_eq!(error.field, "/bufferViews/0/extensions/EXT_meshopt_compression");
}
