//! What a bundle is refused for, with the whole message: file, field, expected, found.

use crate::bundles::{GUI, RAW, files, rig};
use rigeval::files::Files;
use rigeval::scene::load;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn refused(scene: &Value, change: impl FnOnce(&mut BTreeMap<String, Vec<u8>>)) -> String {
    let mut files = files(scene);
    change(&mut files);
    let message = load(&Files::Memory(files), None).expect_err("a refusal").to_string();
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

#[test]
fn scenes_are_refused_with_file_and_field() {
    let orl = |field: &str, value: Value| json!({"rig": {"backend": "orl", field: value}});
    let gnm_space = |space: Value| json!({"rig": {"backend": "gnm"}, "expression_space": space});
    let orl_space = |space: Value| json!({"rig": {"backend": "orl"}, "expression_space": space});
    let gltf = |field: &str, value: Value| {
        let mut rig = rig("gltf");
        rig[field] = value;
        json!({ "rig": rig })
    };
    let gltf_space = |space: Value| json!({"rig": rig("gltf"), "expression_space": space});
    let one_raw = [RAW[0], "gone_1", "gone_2"];
    let cases = [
        (json!([]), "scene.json: expected a JSON object, got something else"),
        (json!({"rig": {"backend": "mesh"}}), "scene.json: rig.backend: expected orl, gnm, gltf or none, got \"mesh\""),
        (
            json!({"rig": {"backend": "gltf"}}),
            "scene.json: rig.pack: expected the path of a .glb, .gltf or .vrm file, which has no default name, got nothing",
        ),
        (
            json!({"rig": {"backend": "gltf", "pack": null}}),
            "scene.json: rig.pack: expected the path of a .glb, .gltf or .vrm file, which has no default name, got nothing",
        ),
        (gltf("pack", json!("a.glb")), "a.glb: expected a file of this bundle, got no such file"),
        (
            gltf("pack", json!("/faces/face.glb")),
            "scene.json: rig.pack: path \"/faces/face.glb\": expected a relative path inside the bundle, got an absolute path",
        ),
        (
            gltf("vertex_count", json!(7)),
            "scene.json: rig.vertex_count: expected 6, the vertices of faces/face.glb, got 7",
        ),
        (
            gltf_space(json!({"kind": "gnm"})),
            "scene.json: expression space: gnm vectors cannot drive this gltf rig: these need a rig of backend gnm",
        ),
        (
            gltf_space(json!({"kind": "gnm68", "dim": 68})),
            "scene.json: expression space: gnm68 vectors cannot drive this gltf rig: these need a rig of backend gnm",
        ),
        (
            gltf_space(json!({"kind": "arkit52", "dim": 52, "arkit_map": [0]})),
            "scene.json: expression_space.arkit_map: expected 52 entries, one for each shape, got 1",
        ),
        (
            gltf_space(json!({"kind": "arkit52", "names": ["mouthLeft", "mouthRight"]})),
            "scene.json: expression space: arkit52 vectors cannot drive this gltf rig: morph targets named after ARKit shapes, or eye joints; none of its 2 targets is one that a shape drives",
        ),
        (json!({"rig": {"backend": "none"}}), "scene.json: rig: expected a rig to open, got none: its backend is none"),
        (
            json!({"branches": {"a": {"fused": true}}}),
            "scene.json: rig: expected a rig to open, got none: every branch is fused",
        ),
        (
            orl("pack", json!("../orl_pack.bin")),
            "scene.json: rig.pack: path \"../orl_pack.bin\": expected a relative path inside the bundle, got a step out of it (..)",
        ),
        (
            orl("pack", json!("/orl_pack.bin")),
            "scene.json: rig.pack: path \"/orl_pack.bin\": expected a relative path inside the bundle, got an absolute path",
        ),
        (orl("pack", json!("other.bin")), "other.bin: expected a file of this bundle, got no such file"),
        (
            orl("vertex_count", json!(3)),
            "scene.json: rig.vertex_count: expected 60, the vertices of orl_pack.bin, got 3",
        ),
        (
            json!({"rig": {"backend": "gnm", "vertex_count": 718}}),
            "scene.json: rig.vertex_count: expected 717, the vertices of gnm_head.aosrig, got 718",
        ),
        (
            orl("control_names", json!(one_raw)),
            "scene.json: control names: expected GUI or raw controls for at least 80 % of 3 names, got 1; none for gone_1, gone_2",
        ),
        (
            orl("control_names", json!([RAW[0], "ctrl_expressions_JAWOPEN"])),
            "scene.json: control names: expected one name for each control, got \"CTRL_expressions.jawOpen\" and \"ctrl_expressions_JAWOPEN\"",
        ),
        (
            gnm_space(json!({"kind": "arkit52", "dim": 52})),
            "scene.json: expression space: arkit52 vectors cannot drive this gnm rig: an arkit_map, a fitted table, or the hand-made table asked for by name",
        ),
        (
            gnm_space(json!({"kind": "gnm", "dim": 387})),
            "scene.json: expression_space.dim: expected 46, the controls of the rig, got 387",
        ),
        (
            orl_space(json!({"kind": "gnm68", "dim": 68})),
            "scene.json: expression space: gnm68 vectors cannot drive this orl rig: these need a rig of backend gnm",
        ),
    ];
    for (scene, expected) in cases {
        assert_eq!(refused(&scene, |_| {}), expected, "{scene}");
    }
}

#[test]
fn files_of_a_bundle_are_refused_by_name() {
    let stated = json!({"rig": {"backend": "orl"}});
    assert_eq!(
        refused(&json!({}), |files| drop(files.remove("scene.json"))),
        "scene.json: expected a file of this bundle, got no such file"
    );
    assert_eq!(
        refused(&stated, |files| drop(files.remove("orl_pack.bin"))),
        "orl_pack.bin: expected a file of this bundle, got no such file"
    );
    assert_eq!(
        refused(&json!({}), |files| drop(files.remove("orl_pack.bin"))),
        "scene.json: rig: expected a rig to open, got none: no rig block, and no orl_pack.bin in the bundle"
    );
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n".to_vec();
    let message = refused(&json!({}), |files| drop(files.insert("orl_pack.bin".into(), pointer)));
    assert!(message.starts_with("orl_pack.bin: expected data, got a Git-LFS pointer"), "{message}");
    // A pack under the other's name: the magic gives it away.
    let swapped = |files: &mut BTreeMap<String, Vec<u8>>| {
        let gnm = files["gnm_head.aosrig"].clone();
        files.insert("orl_pack.bin".into(), gnm);
    };
    let message = refused(&stated, swapped);
    assert!(message.starts_with("orl_pack.bin: magic: expected"), "{message}");
    for (text, expected) in [
        ("{}", "rig_names.json: expected an array of strings, got {}"),
        ("[1]", "rig_names.json: expected an array of strings, got 1"),
        (
            "[\"gone\"]",
            "rig_names.json: control names: expected GUI or raw controls for at least 80 % of 1 names, got 0; none for gone",
        ),
    ] {
        let insert = |files: &mut BTreeMap<String, Vec<u8>>| {
            files.insert("rig_names.json".into(), text.into());
        };
        assert_eq!(refused(&stated, insert), expected);
    }
}

#[test]
fn rig_names_are_not_read_where_they_are_stated_or_not_needed() {
    let broken = |scene: Value| {
        let mut files = files(&scene);
        files.insert("rig_names.json".into(), b"[".to_vec());
        load(&Files::Memory(files), None)
    };
    assert!(broken(json!({"rig": {"backend": "orl", "control_names": GUI}})).is_ok());
    assert!(broken(json!({"rig": {"backend": "gnm"}})).is_ok());
    assert!(broken(json!({"rig": {"backend": "orl"}})).is_err());
}
