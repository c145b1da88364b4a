//! glTF files that hold what nobody expects.

use super::gltf::case;
use super::rigeval;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rigeval::npy;
use serde_json::json;
use std::fs;

#[test]
fn what_is_not_understood_is_no_reason_to_refuse_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let case = case();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for monster in [&*deep, "1e999"] {
        for pointer in ["/asset/extras", "/meshes/1/extras", "/materials", "/extensionsUsed", "/nodes/0/extras"] {
            let mut document = case.document();
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            document.pointer_mut(parent).unwrap()[key] = json!("monster");
            let uri = format!("data:;base64,{}", STANDARD.encode(&case.bin));
            document["buffers"][0]["uri"] = json!(uri);
            let text = document.to_string().replace("\"monster\"", monster);
            fs::write(dir.path().join("odd.gltf"), text).unwrap();
            let info = rigeval(dir.path(), "info odd.gltf");
            let eval = rigeval(dir.path(), "eval odd.gltf --device cpu -o v.npy");
            assert_eq!((info.code, eval.code), (0, 0), "{pointer} {monster:.5}: {}{}", info.stderr, eval.stderr);
        }
    }
}

#[test]
fn error_stays_short_whatever_a_clip_is_called() {
    let dir = tempfile::tempdir().unwrap();
    let mut case = case();
    case.json["animations"][0]["name"] = json!("w".repeat(100_000));
    fs::write(dir.path().join("long.glb"), case.glb()).unwrap();
    fs::write(dir.path().join("t.npy"), npy::write_f64(&[1], &[0.0])).unwrap();
    let run = rigeval(dir.path(), "eval long.glb --clip run --times t.npy --device cpu -o v.npy");
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("www...") && run.stderr.len() < 400, "{:.400}", run.stderr);
}
