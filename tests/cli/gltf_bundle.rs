//! Bundle folders with a glTF file in them, and what is said of faces.

use super::gltf_case::{Case, TRIANGLE};
use super::orl::array;
use super::{json_of, rigeval, succeed};
use rigeval::frames::sha256_hex;
use rigeval::npy;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A triangle with a jaw, a blink and a viseme, teeth with the jaw, and eyes under a head.
fn case() -> Case {
    let mut case = Case::new();
    case.push("nodes", json!({"name": "head", "children": [1, 2]}));
    case.push("nodes", json!({"name": "LeftEye"}));
    case.push("nodes", json!({"name": "RightEye"}));
    let position = case.rows(&TRIANGLE);
    for (name, targets) in [("skin", &["jawOpen", "EyeBlink_L", "viseme_aa"][..]), ("teeth", &["A25_Jaw_Open"])] {
        let target: Vec<Value> = targets.iter().map(|_| json!({ "POSITION": position })).collect();
        case.mesh_node(json!({"attributes": {"POSITION": position}, "targets": target}), json!({ "name": name }));
        case.json["meshes"].as_array_mut().unwrap().last_mut().unwrap()["extras"] = json!({ "targetNames": targets });
    }
    case
}

/// A bundle whose file and buffer lie in a folder of their own, and the same as one GLB beside it.
fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let case = case();
    let mut document = case.document();
    document["buffers"][0]["uri"] = json!("head.bin");
    fs::create_dir_all(dir.path().join("bundle/heads")).unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    write("bundle/heads/head.gltf", document.to_string().as_bytes());
    write("bundle/heads/head.bin", &case.bin);
    write("head.glb", &case.glb());
    let model = case.model();
    let mut controls = model.controls().defaults().repeat(2);
    (controls[0], controls[3]) = (0.5, 1.0);
    write("c.npy", &npy::write_f32(&[2, controls.len() / 2], &controls));
    scene(dir.path(), json!({"rig": {"backend": "gltf", "pack": "heads/head.gltf"}}));
    dir
}

fn scene(dir: &Path, scene: Value) {
    fs::write(dir.join("bundle/scene.json"), scene.to_string()).unwrap();
}

#[test]
fn eval_and_check_of_a_gltf_bundle_equal_its_file() {
    let dir = folder();
    succeed(dir.path(), "eval bundle --controls c.npy --device cpu --normals n.npy -o v.npy");
    succeed(dir.path(), "eval head.glb --controls c.npy --device cpu -o expected.npy");
    let read = |name: &str| fs::read(dir.path().join(name)).unwrap();
    assert!(read("v.npy") == read("expected.npy"));
    assert_eq!(array(dir.path(), "v.npy").shape, [2, 6, 3]);
    succeed(dir.path(), "eval bundle --device cpu -o rest.npy");
    assert_eq!(array(dir.path(), "rest.npy").shape, [1, 6, 3]);

    fs::create_dir(dir.path().join("frames")).unwrap();
    let manifest = json!({
        "version": 1, "rig": "head.gltf", "rig_sha256": sha256_hex(&read("bundle/heads/head.gltf")), "kind": "gltf",
        "units": "m", "stage": "world", "inputs": {"controls": "c.npy"}, "vertices": "v.npy",
        "oracle": {"name": "another program", "version": "1"}, "tolerance": {"abs": 1e-7, "rel": 0.0},
    });
    fs::write(dir.path().join("frames/frames.json"), manifest.to_string()).unwrap();
    for name in ["c.npy", "v.npy"] {
        fs::copy(dir.path().join(name), dir.path().join("frames").join(name)).unwrap();
    }
    let report = json_of(dir.path(), "check bundle --frames frames --device cpu --json");
    assert_eq!((&report["pass"], &report["max"]), (&json!(true), &json!(0.0)));
    fs::copy(dir.path().join("rest.npy"), dir.path().join("frames/v.npy")).unwrap();
    assert_eq!(rigeval(dir.path(), "check bundle --frames frames --device cpu").code, 2, "one frame for two");
}

#[test]
fn eval_of_a_gltf_bundle_on_the_gpu_agrees_with_the_cpu() {
    let dir = folder();
    let probe = rigeval(dir.path(), "eval bundle --controls c.npy --device gpu -o gpu.npy");
    if probe.code != 0 {
        assert!(probe.code == 2 && probe.stderr.contains("no GPU adapter"), "{}", probe.stderr);
        eprintln!("SKIP eval_of_a_gltf_bundle_on_the_gpu_agrees_with_the_cpu: no GPU adapter");
        return;
    }
    succeed(dir.path(), "eval bundle --controls c.npy --device cpu -o cpu.npy");
    let read = |name: &str| array(dir.path(), name).into_f32().unwrap();
    let apart = read("gpu.npy").iter().zip(read("cpu.npy")).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart <= 2e-6, "{apart}");
}

#[test]
fn info_says_what_drives_the_face_of_a_file_and_of_a_bundle() {
    let dir = folder();
    let file = json_of(dir.path(), "info head.glb --json");
    let face = &file["face"];
    assert_eq!((&face["shapes"], &face["meshes"]), (&json!(2), &json!(["skin", "teeth"])));
    assert_eq!(face["missing"].as_array().unwrap().len(), 50);
    assert_eq!(file["eyes"], json!({"left": {"joint": "LeftEye"}, "right": {"joint": "RightEye"}}));
    assert_eq!(file["visemes"], json!(["viseme_aa"]));
    let text = succeed(dir.path(), "info head.glb").stdout;
    for part in ["2 of the 52 ARKit shapes, on 2 meshes; without 50:", "\"LeftEye\" and \"RightEye\"", "1: viseme_aa; "]
    {
        assert!(text.contains(part), "{part}: {text}");
    }

    let bundle = json_of(dir.path(), "info bundle --json");
    for key in ["kind", "units", "face", "eyes", "visemes", "controls", "control_names", "vertices", "rest_bounds"] {
        assert!(!bundle[key].is_null() && bundle[key] == file[key], "{key}: {bundle}");
    }
    assert_eq!(bundle["expression_space"], json!({"kind": "arkit52", "dim": 52, "drives": true}));
    // The look shapes have the eye joints.
    assert_eq!(bundle["dropped"].as_array().unwrap().len(), 52 - 2 - 8);

    let mut other = case();
    other.json["meshes"][0]["extras"] = json!({});
    other.json["meshes"][1]["extras"] = json!({});
    other.json["nodes"][1]["name"] = json!("eye_R");
    fs::write(dir.path().join("other.glb"), other.glb()).unwrap();
    let info = json_of(dir.path(), "info other.glb --json");
    assert_eq!((&info["face"]["shapes"], &info["eyes"]["left"]["joint"]), (&json!(0), &Value::Null));
    assert_eq!(info["eyes"]["right"]["reason"], json!("rightEye may be any of \"eye_R\", \"RightEye\""));
    let text = succeed(dir.path(), "info other.glb").stdout;
    assert!(
        text.contains("no ARKit shape has a target") && text.contains("none: no joint is named as leftEye"),
        "{text}"
    );
    assert!(!text.contains("visemes"), "{text}");
}

#[test]
fn bad_gltf_bundles_give_one_line_and_exit_2() {
    let dir = folder();
    let rig = |rig: Value| json!({ "rig": rig });
    let pack = |path: &str| rig(json!({"backend": "gltf", "pack": path}));
    let space =
        |space: Value| json!({"rig": {"backend": "gltf", "pack": "heads/head.gltf"}, "expression_space": space});
    let cases = [
        (
            rig(json!({"backend": "gltf"})),
            "bundle/scene.json: rig.pack: expected the path of a .glb, .gltf or .vrm file",
        ),
        (pack("head.gltf"), "bundle/head.gltf"),
        (pack("../head.glb"), "a step out of it"),
        (pack("scene.json"), "bundle/scene.json: "),
        (rig(json!({"backend": "gltf", "pack": "heads/head.gltf", "vertex_count": 7})), "rig.vertex_count: expected 6"),
        (space(json!({"kind": "gnm68", "dim": 68})), "gnm68 vectors cannot drive this gltf rig"),
    ];
    let check = |args: &str, part: &str| {
        let run = rigeval(dir.path(), args);
        assert_eq!(run.code, 2, "rigeval {args}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(part), "rigeval {args}: {}", run.stderr);
        // What is left out of the map to the face is a warning before it.
        let errors: Vec<&str> = run.stderr.lines().filter(|line| !line.starts_with("[WARN ] ARKit to glTF:")).collect();
        assert!(errors.len() == 1 && errors[0].starts_with("error: "), "rigeval {args}: {}", run.stderr);
    };
    check("eval bundle --stage pose --device cpu -o v.npy", "--stage belongs to a GNM pack");
    check("eval bundle --raw --device cpu -o v.npy", "--raw belongs to a DNA or a pack");
    for (text, part) in cases {
        scene(dir.path(), text);
        for args in ["info bundle", "eval bundle --device cpu -o v.npy"] {
            check(args, part);
        }
    }
    scene(dir.path(), pack("heads/head.gltf"));
    fs::remove_file(dir.path().join("bundle/heads/head.bin")).unwrap();
    fs::write(dir.path().join("bundle/head.bin"), b"").unwrap();
    check("info bundle", "bundle/heads/head.bin: /buffers/0/uri: expected");
}
