//! Faces of glTF files: morph targets by ARKit's names, and eye joints that turn about the character's axes however they rest.

mod gltf_case;

use glam::{DAffine3, DMat3, DQuat, DVec3};
use gltf_case::{Case, TRIANGLE, no_files};
use rigeval::expression::{ArkitColumns, ArkitOrder, ArkitShape, ExpressionMap};
use rigeval::gltf::face::GltfFace;
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::scene::arkit_to_gltf;
use serde_json::{Value, json};

/// A head with two eyes, one after the other in the file, and a triangle that they hold.
fn head(left: Value, right: Value, parent: Value) -> Case {
    let mut case = Case::new();
    case.push("nodes", parent);
    case.json["nodes"][0]["children"] = json!([1, 2]);
    case.push("nodes", left);
    case.push("nodes", right);
    let position = case.rows(&TRIANGLE);
    case.mesh_node(json!({"attributes": {"POSITION": position}}), json!({"name": "skin"}));
    case
}

fn named(name: &str) -> Value {
    json!({"name": name})
}

fn bind(model: &GltfModel) -> ExpressionMap {
    arkit_to_gltf(ArkitColumns::of(ArkitOrder::AppleGroups), model).unwrap()
}

fn controls(map: &ExpressionMap, weights: &[(ArkitShape, f32)]) -> Vec<f32> {
    let mut vector = vec![0.0; 52];
    for &(shape, weight) in weights {
        vector[map.space().column(shape).unwrap()] = weight;
    }
    let mut controls = vec![f32::NAN; map.dim()];
    map.controls(&vector, &mut controls).unwrap();
    controls
}

fn worlds(model: &GltfModel, controls: &[f32]) -> Vec<DAffine3> {
    let mut pose = GltfPose::new(model, OutputSpace::World);
    pose.set_controls(model, controls).unwrap();
    pose.worlds().to_vec()
}

/// How a node's linear part is turned in the world from where it rests.
fn turn(model: &GltfModel, controls: &[f32], node: usize) -> DMat3 {
    let joint = model.joint_of_node(node).unwrap();
    let world = |controls: &[f32]| worlds(model, controls)[joint].matrix3;
    world(controls) * world(model.controls().defaults()).inverse()
}

fn assert_turned(found: DMat3, expected: DQuat, what: &str) {
    let apart = (found - DMat3::from_quat(expected)).to_cols_array().into_iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    assert!(apart < 3e-7, "{what}: {apart}");
}

fn reasons(model: &GltfModel) -> [String; 2] {
    GltfFace::of(model).eyes.map(|eye| eye.expect_err("no eye"))
}

/// An arbitrary rotation, as a file writes it.
const TILTED: [f32; 4] = [0.5, -0.1, 0.7, 0.4];

#[test]
fn eyes_turn_in_the_world_however_they_and_their_parents_rest() {
    use ArkitShape::*;
    let parents = [
        json!({"name": "head"}),
        json!({"name": "head", "rotation": TILTED, "translation": [1.0, 2.0, 3.0], "scale": [2.0, 2.0, 2.0]}),
        json!({"name": "head", "rotation": TILTED, "scale": [-1.0, 1.0, 1.0]}),
        json!({"name": "head", "rotation": [0.0, 0.0, 0.7, 0.7], "scale": [-0.01, -0.01, -0.01]}),
        // A node with a matrix holds its eyes like any other: Z up.
        json!({"name": "head", "matrix": [1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 5, 0, 0, 1]}),
    ];
    let left = json!({"name": "LeftEye", "rotation": [0.1, 0.2, -0.3, 0.9], "translation": [0.03, 0.0, 0.1]});
    let right = json!({"name": "RightEye", "rotation": [0.0, -2.0, 2.0, 0.0], "scale": [-1.0, 0.5, 3.0]});
    for parent in parents {
        let model = head(left.clone(), right.clone(), parent.clone()).model();
        let map = bind(&model);
        let cases = [
            (EyeLookOutLeft, 1, DVec3::Y, 20.0),
            (EyeLookInLeft, 1, DVec3::Y, -20.0),
            (EyeLookInRight, 2, DVec3::Y, 20.0),
            (EyeLookOutRight, 2, DVec3::Y, -20.0),
            (EyeLookDownLeft, 1, DVec3::X, 20.0),
            (EyeLookUpRight, 2, DVec3::X, -20.0),
        ];
        for (shape, node, axis, degrees) in cases {
            let posed = controls(&map, &[(shape, 1.0)]);
            let expected = DQuat::from_axis_angle(axis, f64::to_radians(degrees));
            assert_turned(turn(&model, &posed, node), expected, &format!("{shape:?} under {parent}"));
            assert_turned(turn(&model, &posed, 3 - node), DQuat::IDENTITY, "the other eye");
        }
        let none = [(EyeLookInRight, 0.5), (EyeLookOutRight, 0.5), (EyeLookUpLeft, 1.0), (EyeLookDownLeft, 1.0)];
        assert_eq!(controls(&map, &none), model.controls().defaults());
        assert_eq!(controls(&map, &[]), model.controls().defaults());
    }
}

#[test]
fn vrm_of_either_version_turns_the_eyes_of_its_table_by_its_own_facing() {
    use ArkitShape::*;
    // The names say otherwise; the table goes first.
    let case = || head(named("RightEye"), named("LeftEye"), json!({"name": "head", "rotation": TILTED}));
    let mut old = case();
    old.json["extensions"] = json!({"VRM": {"humanoid": {"humanBones": [
        {"bone": "leftEye", "node": 1}, {"bone": "rightEye", "node": 2}, {"bone": "head", "node": 0}
    ]}}});
    let mut new = case();
    new.json["extensions"] =
        json!({"VRMC_vrm": {"humanoid": {"humanBones": {"leftEye": {"node": 1}, "rightEye": {"node": 2}}}}});
    for (case, forward) in [(old, DVec3::NEG_Z), (new, DVec3::Z)] {
        let model = case.model();
        let map = bind(&model);
        let left = DVec3::Y.cross(forward);
        let seen = |shape: ArkitShape, node: usize| turn(&model, &controls(&map, &[(shape, 1.0)]), node) * forward;
        let share = f64::to_radians(20.0).sin();
        for (shape, node, toward) in [
            (EyeLookOutLeft, 1, left),
            (EyeLookInLeft, 1, -left),
            (EyeLookOutRight, 2, -left),
            (EyeLookInRight, 2, left),
            (EyeLookUpLeft, 1, DVec3::Y),
            (EyeLookDownRight, 2, DVec3::NEG_Y),
        ] {
            let found = seen(shape, node).dot(toward);
            assert!((found - share).abs() < 1e-6, "{forward}, {shape:?}: {found}");
        }
    }
}

#[test]
fn vrm_table_that_cannot_be_read_leaves_the_file_a_rig_without_eyes() {
    let case = |extensions: Value| {
        let mut case = head(named("LeftEye"), named("RightEye"), named("head"));
        case.json["extensions"] = extensions;
        case
    };
    for extensions in [json!({"VRM": 3}), json!({"VRMC_vrm": {"humanoid": []}}), json!({"VRM": {"humanoid": null}})] {
        let model = case(extensions.clone()).model();
        let [reason, _] = reasons(&model);
        assert!(reason.contains("VRM table") && reason.contains("humanBones"), "{extensions}: {reason}");
    }
    let far = json!({"VRMC_vrm": {"humanoid": {"humanBones": {"leftEye": {"node": 4}, "rightEye": {"node": 3}}}}});
    let mut outside = case(far);
    outside.push("nodes", named("shelved"));
    let [left, right] = GltfFace::of(&outside.model()).eyes;
    assert_eq!(left.unwrap_err(), "node 4, the file's own leftEye, is not in its default scene");
    assert_eq!(right.unwrap().joint, outside.model().joint_of_node(3).unwrap());
    let both = json!({"VRMC_vrm": {"humanoid": {"humanBones": {"leftEye": {"node": 1}, "rightEye": {"node": 1}}}}});
    assert_eq!(reasons(&case(both).model()), ["\"LeftEye\" is stated to be both eyes"; 2]);
    // A table without eyes leaves the names to say.
    let bare = json!({"VRMC_vrm": {"humanoid": {"humanBones": {"head": {"node": 0}}}}, "KHR_other": [1]});
    assert!(GltfFace::of(&case(bare).model()).eyes.iter().all(Result::is_ok));
    for no_vrm in [json!([]), json!(null), json!({"KHR_other": 7})] {
        assert!(GltfFace::of(&case(no_vrm).model()).eyes.iter().all(Result::is_ok));
    }
}

#[test]
fn eyes_that_names_leave_open_or_nobody_can_turn_are_dropped_with_the_reason() {
    let model = head(named("LeftEye"), named("left_eye"), named("head")).model();
    assert_eq!(reasons(&model), ["leftEye may be any of \"LeftEye\", \"left_eye\"", "no joint is named as rightEye"]);
    assert!(arkit_to_gltf(ArkitColumns::of(ArkitOrder::Engine), &model).is_err(), "no target either");

    let matrix = json!({"name": "RightEye", "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]});
    let model = head(named("LeftEye"), matrix, named("head")).model();
    let map = bind(&model);
    let reason = map.dropped().last().unwrap();
    assert!(
        reason.starts_with("eyeLookDownRight, ")
            && reason.ends_with("\"RightEye\" has a matrix and so no rotation to control"),
        "{reason}"
    );
    let posed = controls(&map, &[(ArkitShape::EyeLookUpLeft, 1.0), (ArkitShape::EyeLookUpRight, 1.0)]);
    assert_turned(turn(&model, &posed, 1), DQuat::from_rotation_x(-f64::to_radians(20.0)), "the left eye");

    let flat = json!({"name": "head", "scale": [1.0, 0.0, 1.0]});
    let model = head(named("LeftEye"), named("RightEye"), flat).model();
    assert_eq!(reasons(&model)[0], "the parent of \"LeftEye\" is squashed flat");

    // Two nodes of one name go by index as joints, and are told apart by nobody.
    let model = head(named("LeftEye"), named("LeftEye"), named("head")).model();
    assert_eq!(reasons(&model)[0], "leftEye may be any of \"LeftEye\" (#1), \"LeftEye\" (#2)");
}

#[test]
fn joints_of_a_skin_are_heard_before_meshes_of_their_name() {
    // The eyeballs are called like their joints.
    let mut case = head(named("LeftEye"), named("RightEye"), named("head"));
    let skin = case.push("skins", json!({"joints": [0, 1, 2]}));
    let (position, lanes, weights) =
        (case.rows(&TRIANGLE), case.joints(&[[0; 4]; 3]), case.rows(&[[1.0_f32, 0.0, 0.0, 0.0]; 3]));
    let attributes = json!({"POSITION": position, "JOINTS_0": lanes, "WEIGHTS_0": weights});
    for name in ["LeftEye", "RightEye"] {
        case.mesh_node(json!({ "attributes": attributes }), json!({"name": name, "skin": skin}));
    }
    let model = case.model();
    let eyes = |model: &GltfModel| GltfFace::of(model).eyes.map(|eye| model.joint_nodes()[eye.unwrap().joint]);
    assert_eq!(eyes(&model), [1, 2]);

    // Without joints of that name the meshes are heard, where turning them turns anything.
    (case.json["nodes"][1]["name"], case.json["nodes"][2]["name"]) = (json!("a"), json!("b"));
    assert_eq!(reasons(&case.model())[0], "no joint is named as leftEye");
    for node in [4, 5] {
        case.json["nodes"][node]["skin"].take();
    }
    assert_eq!(eyes(&case.model()), [4, 5]);
}

#[test]
fn targets_of_all_meshes_are_listed_with_names_that_have_slashes() {
    let mut case = Case::morphed(&[&TRIANGLE, &TRIANGLE]);
    case.json["nodes"][0]["name"] = json!("a/b");
    case.json["meshes"][0]["extras"] = json!({"targetNames": ["eye/left", "jawOpen"]});
    case.json["meshes"][0]["weights"] = json!([0.5, 0.25]);
    let position = case.rows(&TRIANGLE);
    let target = case.rows(&TRIANGLE);
    case.mesh_node(json!({"attributes": {"POSITION": position}, "targets": [{"POSITION": target}]}), named("teeth"));
    case.json["meshes"][1]["extras"] = json!({"targetNames": ["A25_Jaw_Open"]});
    let model = case.model();
    let face = GltfFace::of(&model);
    let found: Vec<(&str, &str, usize)> =
        face.targets.iter().map(|t| (t.mesh.as_str(), t.name.as_str(), t.control)).collect();
    assert_eq!(found, [("a/b", "eye/left", 0), ("a/b", "jawOpen", 1), ("teeth", "A25_Jaw_Open", 2)]);
    let posed = controls(&bind(&model), &[(ArkitShape::JawOpen, 0.5)]);
    assert_eq!(posed[..3], [0.5, 0.75, 0.5]);
}

#[test]
fn handed_files_have_the_faces_that_the_names_document_states() {
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/gltf/models");
    if !std::path::Path::new(models).is_dir() {
        eprintln!("SKIP handed_files_have_the_faces_that_the_names_document_states: no {models}");
        return;
    }
    let open = |name: &str| GltfModel::open(&std::path::Path::new(models).join(name)).unwrap();
    let model = open("mh_arkit_mixamo.glb");
    let map = bind(&model);
    assert_eq!((map.dropped(), map.visemes()), (&[][..], &[][..]), "exactly the 52 names");
    let defaults = model.controls().defaults();
    for shape in ArkitShape::ALL {
        let posed = controls(&map, &[(shape, 0.5)]);
        let moved: Vec<usize> = (0..posed.len()).filter(|&i| posed[i] != defaults[i]).collect();
        let [control] = moved[..] else { panic!("{shape:?} moves {moved:?}") };
        assert!(model.controls().names()[control].ends_with(&format!("/{}", shape.name())), "{shape:?}");
    }
    // Bodies and toys without a face say so.
    for name in ["Fox.glb", "robot.glb", "sphere.vrm", "mixamo_rabbit.gltf"] {
        let model = open(name);
        let error = arkit_to_gltf(ArkitColumns::of(ArkitOrder::Engine), &model).unwrap_err().to_string();
        assert!(error.contains("gltf rig"), "{name}: {error}");
    }
}

#[test]
fn real_name_lists_bind_on_every_mesh() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/spec/names.json");
    let Ok(text) = std::fs::read(file) else {
        eprintln!("SKIP real_name_lists_bind_on_every_mesh: no {file}");
        return;
    };
    let json: Value = serde_json::from_slice(&text).unwrap();
    // A head, teeth and both eyes of Ready Player Me; one mesh of the others.
    for (list, meshes, visemes) in [("ready_player_me", 4, 15), ("vroid_plus_arkit", 1, 15)] {
        let names: Vec<String> = serde_json::from_value(json["real_morph_names"][list].clone()).unwrap();
        let mut case = Case::new();
        for mesh in 0..meshes {
            let position = case.rows(&TRIANGLE);
            let targets = vec![json!({ "POSITION": position }); names.len()];
            let node = case.mesh_node(json!({"attributes": {"POSITION": position}, "targets": targets}), json!({}));
            case.json["meshes"][node]["extras"] = json!({ "targetNames": names });
            assert_eq!(node, mesh);
        }
        let model = case.model();
        let map = bind(&model);
        assert_eq!((map.dropped(), map.visemes().len()), (&[][..], visemes), "{list}");
        for shape in ArkitShape::ALL {
            let driven = controls(&map, &[(shape, 1.0)]);
            let count = driven[..model.controls().morph_count()].iter().filter(|w| **w == 1.0).count();
            assert_eq!(count, meshes, "{list}: {shape:?}");
        }
    }
    let names: Vec<String> = serde_json::from_value(json["real_morph_names"]["bitmoji"].clone()).unwrap();
    assert!(names.iter().all(|name| ArkitShape::parse(name).is_none()), "a vocabulary of its own");
}

#[test]
#[cfg(unix)]
fn buffer_behind_a_link_out_of_the_bundle_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let case = head(named("LeftEye"), named("RightEye"), named("head"));
    let mut document = case.document();
    document["buffers"][0]["uri"] = json!("rig.bin");
    std::fs::create_dir_all(dir.path().join("bundle/a")).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    write("bundle/a/rig.gltf", document.to_string().as_bytes());
    write("rig.bin", &case.bin);
    let link = dir.path().join("bundle/a/rig.bin");
    std::os::unix::fs::symlink(dir.path().join("rig.bin"), &link).unwrap();
    let files = rigeval::files::Files::Folder(dir.path().join("bundle"));
    let error = GltfModel::read(&files, "a/rig.gltf").unwrap_err().to_string();
    assert!(error.contains("a/rig.bin: /buffers/0/uri: ") && error.contains("a link that leads out of it"), "{error}");
    std::fs::remove_file(&link).unwrap();
    write("bundle/a/rig.bin", &case.bin);
    assert!(GltfModel::read(&files, "a/rig.gltf").is_ok());
}

#[test]
fn file_of_a_bundle_finds_its_buffers_in_its_own_folder_alone() {
    use rigeval::files::Files;
    let case = head(named("LeftEye"), named("RightEye"), named("head"));
    let bundle = |uri: &str, buffer: &str| {
        let mut document = case.document();
        document["buffers"][0]["uri"] = json!(uri);
        Files::Memory(
            [("a/b/rig.gltf".into(), document.to_string().into_bytes()), (buffer.into(), case.bin.clone())].into(),
        )
    };
    let read = |uri, buffer| GltfModel::read(&bundle(uri, buffer), "a//./b/rig.gltf").map_err(|e| e.to_string());
    assert_eq!(read("rig.bin", "a/b/rig.bin").unwrap(), case.model());
    assert_eq!(read("c/rig%2Ebin", "a/b/c/rig.bin").unwrap(), case.model());
    let missing = "a/b/rig.bin: /buffers/0/uri: expected a file of this bundle, got no such file";
    assert_eq!(read("rig.bin", "rig.bin").unwrap_err(), missing);
    for (uri, why) in
        [("../rig.bin", "a step out of it"), ("/rig.bin", "an absolute path"), ("C:/rig.bin", "a drive letter")]
    {
        let error = read(uri, "a/b/rig.bin").unwrap_err();
        assert!(error.starts_with("a/b/rig.gltf: /buffers/0/uri: path") && error.contains(why), "{error}");
    }
    assert!(GltfModel::load(&case.glb(), &no_files()).is_ok());
}
