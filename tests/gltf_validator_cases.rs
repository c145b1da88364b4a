//! The Khronos validator's own files: on which side of the loader each of them falls, and why where the two disagree.

mod gltf_case;

use base64::Engine;
use gltf_case::no_files;
use rigeval::error::LoadErrorKind;
use rigeval::gltf::model::GltfModel;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files of the handed folder, each with the validator's report beside it.
const CASE_COUNT: usize = 193;

// Why a file with errors is a rig all the same.
const EMPTY: &str = "an empty list is no list";
const UNUSED: &str = "the wrong part is used by nothing that the scene shows; SHOWN says what comes of it once it is";
const UNUSED_BYTES: &str =
    "no accessor reads the buffer or the view; hostile files cover what comes of it where one does";
const LOOKS: &str = "materials, cameras, samplers and extensions without geometry are not read";
const HINTS: &str = "alignment, strides of vertex data, bounds and view targets are hints; the bytes are read where they are said to lie";
const BOM: &str = "a byte order mark is stepped over";
const CHUNKS: &str = "where a chunk starts and ends is plain without its place and its padding";
const ATTRIBUTES: &str = "attributes by other names than those of skins and morphs are not read";
const RULED: &str = "a stated rule with a counter in the load report";
const TWICE: &str = "the matrix counts, as in other programs; a node with one has no controls";
const ANY_MATRIX: &str = "a matrix is taken as it stands, shear included";
const UNIT: &str = "rotations are normalised";
const IDLE: &str = "a skin or weights without a mesh move nothing";
const HINT_OF_ROOT: &str = "`skeleton` and a common root are hints; a joint follows all its ancestors";
const INTEGERS: &str = "integers are read as the numbers that they are, and counted";
const FLOATS: &str = "floats that are called normalised are taken as they are";

/// Files in which the validator finds errors and which load.
const LENIENT: &[(&str, &str)] = &[
    ("accessor/alignment.gltf", UNUSED),
    ("accessor/byteoffset_no_bufferview.gltf", HINTS),
    ("accessor/empty_array.gltf", EMPTY),
    ("accessor/float_normalized.gltf", FLOATS),
    ("accessor/invalid_sparse_count_and_stride.gltf", UNUSED_BYTES),
    ("accessor/matrix_alignment.gltf", UNUSED_BYTES),
    ("accessor/small_stride.gltf", UNUSED_BYTES),
    ("animation/channel_duplicate_targets.gltf", RULED),
    ("animation/channel_node_matrix.gltf", RULED),
    ("animation/channel_node_no_morphs.gltf", RULED),
    ("animation/empty_array.gltf", EMPTY),
    ("animation/sampler_input_format_invalid.gltf", INTEGERS),
    ("animation/sampler_input_no_bounds.gltf", HINTS),
    ("buffer/empty_array.gltf", EMPTY),
    ("buffer/invalid_uri_data.glb", UNUSED_BYTES),
    ("buffer/invalid_uri_data.gltf", UNUSED_BYTES),
    ("buffer/invalid_uri_data_mime.gltf", UNUSED_BYTES),
    ("buffer/invalid_uri_scheme.gltf", UNUSED_BYTES),
    ("buffer/no_bin_chunk.glb", UNUSED_BYTES),
    ("buffer/not_found.gltf", UNUSED_BYTES),
    ("buffer/wrong_bytelength.glb", UNUSED_BYTES),
    ("buffer/zero_bytelength.gltf", UNUSED_BYTES),
    ("buffer_view/empty_array.gltf", EMPTY),
    ("buffer_view/invalid_length.gltf", UNUSED_BYTES),
    ("buffer_view/invalid_stride_multiple.gltf", UNUSED_BYTES),
    ("buffer_view/invalid_stride_too_big.gltf", UNUSED_BYTES),
    ("buffer_view/invalid_stride_wrong_target.gltf", UNUSED_BYTES),
    ("buffer_view/zero_bytelength.gltf", UNUSED_BYTES),
    ("glb/bom.glb", BOM),
    ("glb/misplaced_bin_chunk.glb", CHUNKS),
    ("glb/unaligned_chunk.glb", CHUNKS),
    ("json/bom.gltf", BOM),
    ("mesh/accessor_attribute_uint32.gltf", ATTRIBUTES),
    ("mesh/accessor_unaligned.gltf", HINTS),
    ("mesh/accessor_unequal_count.gltf", ATTRIBUTES),
    ("mesh/accessor_without_bytestride.gltf", HINTS),
    ("mesh/bufferview_target_override.gltf", HINTS),
    ("mesh/empty_array.gltf", EMPTY),
    ("mesh/indices_bytestride.gltf", HINTS),
    ("mesh/indices_invalid_format.gltf", UNUSED),
    ("mesh/invalid_attribute.gltf", ATTRIBUTES),
    ("mesh/invalid_attribute_escaped_name.gltf", ATTRIBUTES),
    ("mesh/invalid_indexed_attribute.gltf", ATTRIBUTES),
    ("mesh/morph_attribute_invalid_count.gltf", UNUSED),
    ("mesh/morph_attribute_no_base.gltf", UNUSED),
    ("mesh/morph_bufferview_target_override.gltf", HINTS),
    ("mesh/morph_position_accessor_no_bounds.gltf", HINTS),
    ("mesh/morph_unequal_targets_count.gltf", RULED),
    ("mesh/morph_weights_wrong_count.gltf", UNUSED),
    ("mesh/position_accessor_invalid_format.gltf", UNUSED),
    ("mesh/position_accessor_no_bounds.gltf", HINTS),
    ("mesh/unequal_joints.gltf", UNUSED),
    ("mesh/unresolved_material.gltf", LOOKS),
    ("mesh/uv.gltf", LOOKS),
    ("node/empty_array.gltf", EMPTY),
    ("node/empty_children_array.gltf", EMPTY),
    ("node/matrix_indecomposable.gltf", ANY_MATRIX),
    ("node/matrix_trs.gltf", TWICE),
    ("node/node_skin_without_skinned_mesh.gltf", RULED),
    ("node/rotation_non_unit.gltf", UNIT),
    ("node/skin_with_no_mesh.gltf", IDLE),
    ("node/unresolved_camera.gltf", LOOKS),
    ("node/weights_with_no_mesh.gltf", IDLE),
    ("root/duplicate_extension_entry.gltf", LOOKS),
    ("root/extensions_non_objects.gltf", LOOKS),
    ("root/extensions_undeclared_wrong_pointer.gltf", LOOKS),
    ("root/invalid_array_elements.gltf", LOOKS),
    ("root/invalid_collection_type.gltf", LOOKS),
    ("scene/empty_array.gltf", EMPTY),
    ("scene/empty_nodes_array.gltf", EMPTY),
    ("scene/non_root_node.gltf", RULED),
    ("skin/empty_array.gltf", EMPTY),
    ("skin/empty_joints_array.gltf", EMPTY),
    ("skin/no_common_root.gltf", HINT_OF_ROOT),
    ("skin/no_joints_in_scene.gltf", RULED),
    ("skin/skeleton_invalid.gltf", HINT_OF_ROOT),
    ("skin/unresolved_skeleton.gltf", HINT_OF_ROOT),
];

/// Files without errors that are refused: what the error says is the reason.
const STRICT: &[(&str, LoadErrorKind, &str)] = &[
    // A later version is announced as needed.
    ("asset/min_version_valid.gltf", LoadErrorKind::Version, "/asset/minVersion"),
    // The report was made from the text alone: the files have no bytes for what they show.
    ("root/named_objects.gltf", LoadErrorKind::Missing, "/buffers/0/uri"),
    ("root/unused_objects.gltf", LoadErrorKind::Missing, "/buffers/0/uri"),
];

/// Every file with its name in the folder and the validator's report.
fn cases(test: &str) -> Option<BTreeMap<String, (PathBuf, Value)>> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/gltf-validator-cases"));
    if !folder.is_dir() {
        eprintln!("SKIP {test}: no folder {}; gltf_hostile and gltf_load cover the rules", folder.display());
        return None;
    }
    let list = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect::<Vec<_>>();
    let files = list(folder).into_iter().filter(|p| p.is_dir()).flat_map(|group| list(&group));
    let cases = files.filter(|p| p.extension().is_some_and(|e| e == "gltf" || e == "glb")).map(|path| {
        let report = std::fs::read(format!("{}.report.json", path.display())).unwrap();
        let name = path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
        (name, (path, serde_json::from_slice(&report).unwrap()))
    });
    Some(cases.collect())
}

#[test]
fn every_case_falls_on_its_side() {
    let Some(cases) = cases("every_case_falls_on_its_side") else { return };
    assert_eq!(cases.len(), CASE_COUNT);
    let named = LENIENT.iter().map(|(name, _)| name).chain(STRICT.iter().map(|(name, ..)| name));
    let lost: Vec<_> = named.filter(|name| !cases.contains_key(**name)).collect();
    assert!(lost.is_empty(), "no such cases: {lost:?}");
    let (mut wrong, mut refused) = (Vec::new(), 0);
    for (name, (path, report)) in &cases {
        let lenient = LENIENT.iter().find(|(n, _)| n == name).map(|(_, reason)| *reason);
        let strict = STRICT.iter().find(|(n, ..)| n == name);
        let errors = report["issues"]["numErrors"].as_u64().unwrap();
        match (GltfModel::open(path), errors) {
            (Ok(_), 0) if strict.is_none() && lenient.is_none() => {}
            (Ok(_), 1..) if lenient.is_some() => {}
            (Ok(_), _) => wrong.push(format!("{name}: loads, {errors} errors by the validator")),
            (Err(error), _) => {
                refused += 1;
                let text = error.to_string();
                assert!(!text.contains('\n') && text.len() < 1500, "{text:?}");
                let right = match strict {
                    Some((_, kind, field)) => errors == 0 && error.kind == *kind && error.field == *field,
                    None => errors > 0 && lenient.is_none(),
                };
                if !right {
                    wrong.push(format!("{name}: {errors} errors by the validator, refused: {text}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases changed their side:\n{}", wrong.len(), wrong.join("\n"));
    eprintln!("{} cases, {refused} refused, {} taken in spite of errors", cases.len(), LENIENT.len());
}

/// What comes of wrong meshes that no node of their file shows, once one does: the field of the refusal, or none for what is harmless there too.
const SHOWN: &[(&str, Option<&str>)] = &[
    ("accessor/alignment.gltf", Some("/accessors/2")),
    ("accessor/byteoffset_no_bufferview.gltf", None),
    ("mesh/accessor_attribute_uint32.gltf", None),
    ("mesh/accessor_unaligned.gltf", None),
    ("mesh/accessor_unequal_count.gltf", None),
    ("mesh/accessor_without_bytestride.gltf", None),
    ("mesh/bufferview_target_override.gltf", None),
    ("mesh/indices_bytestride.gltf", None),
    ("mesh/indices_invalid_format.gltf", Some("/accessors/1/componentType")),
    ("mesh/invalid_attribute.gltf", None),
    ("mesh/invalid_attribute_escaped_name.gltf", None),
    ("mesh/invalid_indexed_attribute.gltf", None),
    ("mesh/morph_attribute_invalid_count.gltf", Some("/meshes/0/primitives/0/targets/0/POSITION")),
    // Normals that have nothing to be added to are not read.
    ("mesh/morph_attribute_no_base.gltf", None),
    ("mesh/morph_bufferview_target_override.gltf", None),
    ("mesh/morph_position_accessor_no_bounds.gltf", None),
    ("mesh/morph_unequal_targets_count.gltf", None),
    ("mesh/morph_weights_wrong_count.gltf", Some("/meshes/0/weights")),
    ("mesh/position_accessor_invalid_format.gltf", Some("/accessors/0/type")),
    ("mesh/position_accessor_no_bounds.gltf", None),
    ("mesh/unequal_joints.gltf", Some("/meshes/0/primitives/0/attributes/WEIGHTS_1")),
    ("mesh/unresolved_material.gltf", None),
    ("mesh/uv.gltf", None),
    ("node/node_skin_without_skinned_mesh.gltf", None),
    ("skin/no_joints_in_scene.gltf", None),
];

/// The document with a node for each mesh that lacks one, a mesh for each list of points that lacks one, a skin for joints, and zeros for
/// buffers without bytes.
fn shown(mut document: Value) -> Value {
    let count = |document: &Value, list: &str| document[list].as_array().map_or(0, Vec::len);
    if count(&document, "meshes") == 0 {
        let points = (0..count(&document, "accessors")).filter(|&a| document["accessors"][a]["type"] == "VEC3");
        let meshes: Vec<Value> = points.map(|a| json!({"primitives": [{"attributes": {"POSITION": a}}]})).collect();
        document["meshes"] = json!(meshes);
    }
    let mut nodes = document["nodes"].as_array().cloned().unwrap_or_default();
    for mesh in 0..count(&document, "meshes") {
        if !nodes.iter().any(|node| node["mesh"] == mesh) {
            let jointed = document["meshes"][mesh]["primitives"][0]["attributes"].get("JOINTS_0").is_some();
            nodes.push(if jointed { json!({"mesh": mesh, "skin": 0}) } else { json!({"mesh": mesh}) });
            if jointed {
                document["skins"] = json!([{"joints": [0]}]);
            }
        }
    }
    document["nodes"] = json!(nodes);
    for buffer in document.get_mut("buffers").and_then(Value::as_array_mut).into_iter().flatten() {
        if buffer["uri"].is_null() {
            let zeros = vec![0; buffer["byteLength"].as_u64().unwrap() as usize];
            let text = base64::prelude::BASE64_STANDARD.encode(zeros);
            buffer["uri"] = json!(format!("data:application/octet-stream;base64,{text}"));
        }
    }
    let map = document.as_object_mut().unwrap();
    map.remove("scenes");
    map.remove("scene");
    document
}

#[test]
fn wrong_mesh_is_judged_once_it_is_shown() {
    let Some(cases) = cases("wrong_mesh_is_judged_once_it_is_shown") else { return };
    let groups = ["mesh/", "accessor/alignment", "accessor/byteoffset", "node/node_skin_w", "skin/no_joints"];
    let lenient = LENIENT.iter().map(|(name, _)| *name).filter(|name| groups.iter().any(|g| name.starts_with(g)));
    let expected: Vec<&str> = lenient.filter(|name| *name != "mesh/empty_array.gltf").collect();
    assert_eq!(SHOWN.iter().map(|(name, _)| *name).collect::<Vec<_>>(), expected);
    for (name, field) in SHOWN {
        let document = serde_json::from_slice(&std::fs::read(&cases[*name].0).unwrap()).unwrap();
        let model = GltfModel::load(&serde_json::to_vec(&shown(document)).unwrap(), &no_files());
        match (&model, field) {
            (Ok(model), None) => assert!(model.mesh().vertex_count() > 0, "{name}: nothing is shown"),
            (Err(error), Some(field)) => assert_eq!(error.field, *field, "{name}: {error}"),
            _ => panic!("{name}: {:?}, expected {field:?}", model.map(|_| ()).map_err(|e| e.to_string())),
        }
    }
}
