//! Files that lie: an error of one line or a rig, never a panic, and no more memory than the file justifies.

mod gltf_case;

use gltf_case::*;
use proptest::prelude::*;
use rigeval::error::{LoadError, LoadErrorKind};
use rigeval::gltf::model::GltfModel;
use serde_json::{Value, json};

const ONE: [f32; 4] = [1.0, 0.0, 0.0, 0.0];

/// A file with something of everything.
fn rich() -> Case {
    let mut case =
        Case::skinned(&[[1.0, 0.0, 0.0], [0.0; 3]], &TRIANGLE, &[[0, 1, 0, 0]; 3], &[[0.5, 0.5, 0.0, 0.0]; 3]);
    let (normal, tangent) = (case.rows(&[[0.0, 0.0, 1.0]; 3]), case.rows(&[ONE; 3]));
    let indices = case.accessor(U8, "SCALAR", 3, &[0, 1, 2]);
    let uv = case.normalized(U16, "VEC2", 3, &bytes(&[[0_u16, 65535]; 3].concat()));
    let places = case.view(&[0, 2]);
    let moves = case.view(&bytes(&[[0.0_f32, 0.0, 1.0]; 2].concat()));
    let sparse = case.push(
        "accessors",
        json!({"componentType": F32, "type": "VEC3", "count": 3, "sparse": {"count": 2,
            "indices": {"bufferView": places, "componentType": U8}, "values": {"bufferView": moves}}}),
    );
    let primitive = case.primitive();
    primitive["attributes"]["NORMAL"] = json!(normal);
    primitive["attributes"]["TANGENT"] = json!(tangent);
    primitive["attributes"]["TEXCOORD_0"] = json!(uv);
    primitive["indices"] = json!(indices);
    primitive["targets"] = json!([{"POSITION": sparse, "NORMAL": normal}, {"TANGENT": normal}]);
    let identity: [f32; 16] = std::array::from_fn(|i| f32::from(u8::from(i % 5 == 0)));
    let binds = case.rows(&[identity; 2]);
    case.json["skins"][0]["inverseBindMatrices"] = json!(binds);
    case.json["nodes"][0]["children"] = json!([1]);
    case.json["nodes"][0]["rotation"] = json!([0, 0, 0, 1]);
    case.json["nodes"][1]["matrix"] = json!(identity);
    case.json["nodes"][1].as_object_mut().unwrap().remove("translation");
    case.json["nodes"][2]["weights"] = json!([0.5, 0.25]);
    case.json["scenes"][0]["nodes"] = json!([0, 2]);
    let turns = case.rows(&[[0.0, 0.0, 0.0, 1.0], ONE]);
    case.clip(0, "rotation", "LINEAR", &[0.0, 1.0], turns);
    let weights = case.scalars(&[0.0, 0.5, 1.0, 0.0]);
    case.clip(2, "weights", "STEP", &[0.0, 1.0], weights);
    case
}

/// Loads, and drives what loads through its whole path.
fn exercise(bytes: &[u8]) -> Result<GltfModel, LoadError> {
    let model = GltfModel::load(bytes, &no_files());
    match &model {
        Ok(model) => {
            for clip in model.clips() {
                let mut controls = model.controls().defaults().to_vec();
                let mut cursor = clip.cursor();
                for time in [-1.0, 0.0, 0.4, 1e9, f64::NAN] {
                    clip.sample(time, &mut cursor, &mut controls);
                }
                assert_eq!(vertices(model, &controls).len(), model.mesh().vertex_count());
            }
        }
        Err(error) => {
            let text = error.to_string();
            assert!(!text.contains('\n') && text.len() < 1500, "{text:?}");
        }
    }
    model
}

#[test]
fn rich_file_loads() {
    let model = exercise(&rich().glb()).unwrap();
    assert_eq!((model.clips().len(), model.controls().morph_count(), model.skins().len()), (2, 2, 1));
}

#[test]
fn file_truncated_is_rejected() {
    let bytes = rich().glb();
    for length in 0..bytes.len() {
        assert!(exercise(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
    let json = serde_json::to_vec(&rich().document()).unwrap();
    for length in 0..json.len() {
        assert!(exercise(&json[..length]).is_err(), "{length} of {} bytes of JSON", json.len());
    }
}

#[test]
fn one_wrong_field_is_named() {
    use LoadErrorKind::{Format, Shape, Truncated, Type, Unsupported, Value as Wrong};
    let huge = u64::MAX;
    for (pointer, value, kind, field) in [
        ("/scene", json!(1), Wrong, "/scene"),
        ("/scenes/0/nodes/1", json!(9), Wrong, "/scenes/0/nodes/1"),
        ("/nodes/0/children/0", json!(9), Wrong, "/nodes/0/children/0"),
        ("/nodes/0/children/0", json!(0), Wrong, "/nodes/0"),
        ("/nodes/0/children", json!([1, 1]), Wrong, "/nodes/0/children/1"),
        ("/nodes/1/children", json!([0]), Wrong, "/nodes/0"),
        ("/nodes/2/children", json!([1]), Wrong, "/nodes/2/children/0"),
        ("/nodes/0/rotation", json!([0, 0, 0, 0]), Wrong, "/nodes/0/rotation"),
        ("/nodes/0/translation", json!([0, 1e39, 0]), Wrong, "/nodes/0/translation"),
        ("/nodes/0/scale", json!([0, 1]), Format, "/nodes/0/scale"),
        ("/nodes/1/matrix/3", json!(1e200), Wrong, "/nodes/1/matrix"),
        ("/nodes/2/weights/0", json!(1e39), Wrong, "/nodes/2/weights"),
        ("/nodes/2/mesh", json!(4), Wrong, "/nodes/2/mesh"),
        ("/nodes/2/skin", json!(4), Wrong, "/nodes/2/skin"),
        ("/skins/0/joints/1", json!(44), Wrong, "/skins/0/joints/1"),
        ("/skins/0/inverseBindMatrices", json!(99), Wrong, "/skins/0/inverseBindMatrices"),
        ("/skins/0/joints", json!([0, 1, 2]), Shape, "/skins/0/inverseBindMatrices"),
        ("/accessors/0/count", json!(huge), Wrong, "/accessors/0/count"),
        ("/accessors/0/count", json!((1 << 26) + 1), Wrong, "/accessors/0/count"),
        ("/accessors/0/count", json!(4), Shape, "/meshes/0/primitives/0/targets/0/POSITION"),
        ("/accessors/4/count", json!(4), Shape, "/meshes/0/primitives/0/attributes/TANGENT"),
        ("/accessors/0/type", json!("VEC2"), Type, "/accessors/0/type"),
        ("/accessors/0/componentType", json!(5124), Type, "/accessors/0/componentType"),
        ("/accessors/0/byteOffset", json!(huge), Truncated, "/accessors/0"),
        ("/accessors/0/byteOffset", json!(4), Truncated, "/accessors/0"),
        ("/accessors/0/bufferView", json!(99), Wrong, "/accessors/0/bufferView"),
        ("/accessors/1/componentType", json!(F32), Type, "/accessors/1/componentType"),
        ("/accessors/5/componentType", json!(I8), Type, "/accessors/5/componentType"),
        ("/accessors/7/sparse/count", json!(4), Wrong, "/accessors/7/sparse/count"),
        ("/accessors/7/sparse/count", json!(huge), Wrong, "/accessors/7/sparse/count"),
        ("/accessors/7/sparse/indices/componentType", json!(U16), Truncated, "/accessors/7/sparse/indices"),
        ("/accessors/7/sparse/indices/componentType", json!(F32), Type, "/accessors/7/sparse/indices/componentType"),
        ("/accessors/7/sparse/values/byteOffset", json!(1), Truncated, "/accessors/7/sparse/values"),
        ("/bufferViews/0/byteOffset", json!(huge), Truncated, "/bufferViews/0"),
        ("/bufferViews/0/byteLength", json!(huge), Truncated, "/bufferViews/0"),
        ("/bufferViews/0/byteLength", json!(35), Truncated, "/accessors/0"),
        ("/bufferViews/0/byteStride", json!(8), Wrong, "/bufferViews/0/byteStride"),
        ("/bufferViews/0/byteStride", json!(huge), Truncated, "/accessors/0"),
        ("/bufferViews/0/buffer", json!(1), Wrong, "/bufferViews/0/buffer"),
        ("/meshes/0/primitives/0/attributes/POSITION", json!(-1), Format, "/meshes/0/primitives/0/attributes/POSITION"),
        ("/meshes/0/primitives/0/attributes/POSITION", json!(99), Wrong, "/meshes/0/primitives/0/attributes/POSITION"),
        ("/meshes/0/primitives/0/indices", json!(99), Wrong, "/meshes/0/primitives/0/indices"),
        ("/meshes/0/primitives/0/mode", json!(9), Wrong, "/meshes/0/primitives/0/mode"),
        ("/animations/0/channels/0/sampler", json!(1), Wrong, "/animations/0/channels/0/sampler"),
        ("/animations/0/channels/0/target/node", json!(9), Wrong, "/animations/0/channels/0/target/node"),
        ("/animations/0/samplers/0/interpolation", json!("CUBIC"), Wrong, "/animations/0/samplers/0/interpolation"),
        ("/animations/0/samplers/0/interpolation", json!("CUBICSPLINE"), Shape, "/animations/0/samplers/0/output"),
        ("/animations/0/samplers/0/input", json!(0), Type, "/accessors/0/type"),
        ("/animations/0/samplers/0/output", json!(99), Wrong, "/animations/0/samplers/0/output"),
        ("/nodes/0/skin", json!(1), Wrong, "/nodes/0/skin"),
        ("/meshes/0/primitives/0/attributes/_A~B", json!(99), Wrong, "/meshes/0/primitives/0/attributes/_A~0B"),
        ("/meshes/0/primitives/0/targets/1/TANGENT", json!(99), Wrong, "/meshes/0/primitives/0/targets/1/TANGENT"),
        ("/accessors/7/sparse/values/bufferView", json!(99), Wrong, "/accessors/7/sparse/values/bufferView"),
        ("/extensionsRequired", json!(["EXT_unheard_of"]), Unsupported, "/extensionsRequired/0"),
        ("/asset", json!({}), Format, "/asset"),
    ] {
        let mut case = rich();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = case.json.pointer_mut(parent).unwrap();
        match parent {
            Value::Array(list) => list[key.parse::<usize>().unwrap()] = value.clone(),
            other => other[key] = value.clone(),
        }
        let error = exercise(&case.glb()).expect_err(pointer);
        assert_eq!((error.kind, error.field.as_str()), (kind, field), "{pointer} = {value}: {error}");
    }
}

#[test]
fn wrong_bytes_are_named() {
    let at = |case: &Case, accessor: usize| {
        let view = case.json["accessors"][accessor]["bufferView"].as_u64().unwrap() as usize;
        case.json["bufferViews"][view]["byteOffset"].as_u64().unwrap() as usize
    };
    let rich = rich();
    let key_times = rich.json["animations"][0]["samplers"][0]["input"].as_u64().unwrap() as usize;
    let turns = rich.json["animations"][0]["samplers"][0]["output"].as_u64().unwrap() as usize;
    let places = rich.json["bufferViews"]
        [rich.json["accessors"][7]["sparse"]["indices"]["bufferView"].as_u64().unwrap() as usize]["byteOffset"]
        .as_u64()
        .unwrap() as usize;
    for (offset, bytes, field) in [
        (at(&rich, 0), f32::NAN.to_le_bytes().to_vec(), "/accessors/0"),
        (at(&rich, 2), f32::NAN.to_le_bytes().to_vec(), "/meshes/0/primitives/0/attributes/WEIGHTS_0"),
        (at(&rich, 5), vec![3], "/meshes/0/primitives/0/indices"),
        (places, vec![2, 2], "/accessors/7/sparse/indices"),
        (places, vec![1, 3], "/accessors/7/sparse/indices"),
        (at(&rich, key_times), 2.0_f32.to_le_bytes().to_vec(), "/animations/0/samplers/0/input"),
        (at(&rich, turns) + 12, vec![0; 4], "/animations/0/samplers/0/output"),
    ] {
        let mut case = rich.clone();
        case.bin[offset..offset + bytes.len()].copy_from_slice(&bytes);
        let error = exercise(&case.glb()).expect_err(field);
        assert_eq!((error.kind, error.field.as_str()), (LoadErrorKind::Value, field), "{error}");
    }
}

/// What a refusal may take: the loader's free allowance, and as much again for what it was about to become.
const MODEST_BYTES: u64 = 128 << 20;

#[test]
fn claim_without_bytes_is_refused_before_it_is_allocated() {
    let mut many_parts = Case::morphed(&[]);
    let primitive = many_parts.primitive().clone();
    many_parts.json["meshes"][0]["primitives"] = json!(vec![primitive; 2000]);
    for _ in 0..2000 {
        many_parts.push("nodes", json!({"mesh": 0}));
    }
    many_parts.json.as_object_mut().unwrap().remove("scene");
    many_parts.json.as_object_mut().unwrap().remove("scenes");
    let mut empty_parts = many_parts.clone();
    empty_parts.json["meshes"][0]["primitives"] = json!(vec![json!({"attributes": {}}); 2000]);
    let mut many_names = Case::morphed(&[]);
    let targets = vec![json!({}); 40_000];
    many_names.primitive()["targets"] = json!(targets);
    many_names.json["nodes"][0]["name"] = json!("n".repeat(250));
    for _ in 0..40_000 {
        many_names.push("nodes", json!({"mesh": 0}));
    }
    many_names.json["scenes"][0]["nodes"] = json!((0..40_000).collect::<Vec<_>>());
    let mut zeros = Case::morphed(&[]);
    zeros.json["accessors"][0] = json!({"componentType": F32, "type": "VEC3", "count": 1_u64 << 26});
    let mut buffer = Case::morphed(&[]);
    buffer.json["buffers"] = json!([{"byteLength": u64::MAX, "uri": "data:;base64,AAAA"}]);
    for (name, case) in [
        ("parts", many_parts),
        ("empty parts", empty_parts),
        ("names", many_names),
        ("zeros", zeros),
        ("buffer", buffer),
    ] {
        let bytes = if name == "buffer" { serde_json::to_vec(&case.json).unwrap() } else { case.glb() };
        let mut error = None;
        let used = allocation_counter::measure(|| error = GltfModel::load(&bytes, &no_files()).err());
        let error = error.unwrap_or_else(|| panic!("{name} loads"));
        let allowed = MODEST_BYTES + 300 * bytes.len() as u64;
        assert!(used.bytes_max < allowed, "{name}: {} bytes for a file of {}: {error}", used.bytes_max, bytes.len());
    }
}

#[test]
fn deep_graph_and_deep_json_do_not_overflow_the_stack() {
    let mut case = Case::new();
    for node in 1..100_000 {
        case.push("nodes", json!({"children": [node]}));
    }
    case.push("nodes", json!({}));
    assert_eq!(exercise(&case.glb()).unwrap().skeleton().joint_count(), 100_000);
    let nested = format!("{}{}", "[".repeat(1 << 20), "]".repeat(1 << 20));
    let with = |member: &str| format!("{{\"asset\":{{\"version\":\"2.0\"}},{}}}", member.replace('@', &nested));
    assert!(exercise(with("\"extras\":@").as_bytes()).is_ok(), "what nobody reads");
    assert!(exercise(with("\"meshes\":[{\"primitives\":[],\"extras\":@}]").as_bytes()).is_ok(), "extras of a mesh");
    let error = exercise(with("\"meshes\":[{\"primitives\":@}]").as_bytes()).unwrap_err();
    assert!(error.field.starts_with("/meshes/0/primitives"), "{error}");
}

/// Every place of a document, as JSON pointers.
fn places(value: &Value, at: String, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, v)| places(v, format!("{at}/{key}"), out)),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| places(v, format!("{at}/{i}"), out)),
        _ => {}
    }
    out.push(at);
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0_u64..12).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        "[A-Z_0-9]{0,8}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        prop::collection::vec(0_u64..4, 0..5).prop_map(Value::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_anywhere_gives_a_rig_or_an_error(edits in prop::collection::vec((any::<prop::sample::Index>(), any_value()), 1..4)) {
        let mut case = rich();
        for (place, value) in edits {
            let mut all = Vec::new();
            places(&case.json, String::new(), &mut all);
            *case.json.pointer_mut(&all[place.index(all.len())]).unwrap() = value;
        }
        let length = case.bin.len();
        if let Some(buffer) = case.json.pointer_mut("/buffers/0/byteLength") {
            *buffer = json!(length);
        }
        let _ = exercise(&container(&case.json, &case.bin));
    }

    #[test]
    fn any_bytes_anywhere_give_a_rig_or_an_error(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = rich().glb();
        for (place, byte) in edits {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let _ = exercise(&bytes);
    }

    #[test]
    fn any_bytes_give_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(exercise(&bytes).is_err());
        let _ = exercise(&[b"glTF\x02\0\0\0".as_slice(), &bytes].concat());
    }
}
