//! Bundle folders: a scene, its pack and its control names, whichever rig it is.

use super::fixtures::{controls, tiny_pack};
use super::orl::{array, folder};
use super::{json_of, rigeval, succeed};
use rigeval::frames::sha256_hex;
use rigeval::npy;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const FRAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl_tiny_frames");

/// Two bundles that differ in their rig alone, and the files of a MetaHuman rig beside them.
fn bundles() -> TempDir {
    let dir = folder();
    for rig in ["orl", "gnm"] {
        fs::create_dir(dir.path().join(rig)).unwrap();
    }
    succeed(dir.path(), "bake orl tiny.dna -o orl/orl_pack.bin");
    fs::write(dir.path().join("gnm/gnm_head.aosrig"), tiny_pack()).unwrap();
    scene(dir.path(), "orl", json!({"rig": {"backend": "orl"}}));
    scene(dir.path(), "gnm", json!({"rig": {"backend": "gnm"}, "cameras": [1, 2]}));
    names(dir.path(), (0..6).rev().map(|i| format!("CTRL_gui_{i:03}.translateY")).collect());
    fs::write(dir.path().join("gnm.npy"), npy::write_f32(&[3, 387], &controls(387))).unwrap();
    dir
}

fn scene(dir: &Path, bundle: &str, scene: Value) {
    fs::write(dir.join(bundle).join("scene.json"), scene.to_string()).unwrap();
}

fn names(dir: &Path, names: Vec<String>) {
    fs::write(dir.join("orl/rig_names.json"), json!(names).to_string()).unwrap();
}

#[test]
fn eval_of_a_bundle_equals_its_pack_with_the_scenes_controls() {
    let dir = bundles();
    // The scene lists the controls from last to first.
    let gui = array(dir.path(), "tiny_gui.npy").into_f32().unwrap();
    let reversed: Vec<f32> = gui.chunks_exact(6).flat_map(|row| row.iter().rev().copied()).collect();
    fs::write(dir.path().join("orl.npy"), npy::write_f32(&[20, 6], &reversed)).unwrap();
    let cases = [("orl", "orl/orl_pack.bin", "tiny_gui.npy"), ("gnm", "gnm/gnm_head.aosrig", "gnm.npy")];
    for (bundle, pack, pack_controls) in cases {
        let args = format!("eval {bundle} --controls {bundle}.npy --device cpu --normals n.npy -o v.npy");
        succeed(dir.path(), &args);
        succeed(dir.path(), &format!("eval {pack} --controls {pack_controls} --device cpu -o expected.npy"));
        let read = |name: &str| fs::read(dir.path().join(name)).unwrap();
        assert!(read("v.npy") == read("expected.npy"), "{bundle}");
        assert_eq!(array(dir.path(), "n.npy").shape, array(dir.path(), "v.npy").shape);
    }
}

#[test]
fn check_of_a_bundle_takes_frames_of_its_pack_and_of_the_dna_inside() {
    let dir = bundles();
    names(dir.path(), (0..6).map(|i| format!("CTRL_gui_{i:03}.ty")).collect());
    let report = json_of(dir.path(), &format!("check orl --frames {FRAMES} --device cpu --json"));
    assert_eq!((&report["pass"], &report["unit"]), (&json!(true), &json!("cm")));
    assert!(report["rounding"]["used"].as_f64().unwrap() > 0.2, "{report}");

    fs::create_dir(dir.path().join("frames")).unwrap();
    succeed(dir.path(), "eval gnm/gnm_head.aosrig --controls gnm.npy --device cpu -o frames/vertices.npy");
    fs::copy(dir.path().join("gnm.npy"), dir.path().join("frames/controls.npy")).unwrap();
    let manifest = json!({
        "version": 1, "rig": "gnm_head.aosrig", "rig_sha256": sha256_hex(tiny_pack()), "kind": "gnm", "units": "m",
        "stage": "pose", "inputs": {"controls": "controls.npy"}, "vertices": "vertices.npy",
        "oracle": {"name": "another program", "version": "1"}, "tolerance": {"abs": 1e-7},
    });
    fs::write(dir.path().join("frames/frames.json"), manifest.to_string()).unwrap();
    assert_eq!(json_of(dir.path(), "check gnm --frames frames --device cpu --json")["max"], json!(0.0));
    let other = rigeval(dir.path(), "check orl --frames frames");
    assert!(other.code == 2 && other.stderr.contains("rig_sha256"), "{}", other.stderr);
}

#[test]
fn info_of_a_bundle_lists_what_it_takes() {
    let dir = bundles();
    let orl = json_of(dir.path(), "info orl --json");
    assert_eq!((&orl["kind"], &orl["units"], &orl["vertices"]), (&json!("orl"), &json!("cm"), &json!(60)));
    assert_eq!((&orl["pack"], &orl["layer"], &orl["controls"]), (&json!("orl_pack.bin"), &json!("GUI"), &json!(6)));
    assert_eq!(orl["control_names"][0], json!("CTRL_gui_005.translateY"));
    assert_eq!(orl["expression_space"], json!({"kind": "arkit52", "dim": 52, "drives": false}));
    let gnm = json_of(dir.path(), "info gnm --json");
    assert_eq!((&gnm["kind"], &gnm["units"], &gnm["controls"]), (&json!("gnm"), &json!("m"), &json!(387)));
    assert_eq!(gnm["expression_space"]["kind"], json!("gnm"));
    assert!(succeed(dir.path(), "info orl").stdout.contains("CTRL_gui_005.translateY"));
}

#[test]
fn bad_bundles_give_one_line_and_exit_2() {
    let dir = bundles();
    fs::create_dir(dir.path().join("empty")).unwrap();
    let check = |args: &str, part: &str| {
        let run = rigeval(dir.path(), args);
        assert_eq!(run.code, 2, "rigeval {args}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(part), "rigeval {args}: {}", run.stderr);
        assert_eq!(run.stderr.trim_end().lines().count(), 1, "rigeval {args}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: ") && run.stdout.is_empty(), "rigeval {args}: {}", run.stderr);
    };
    let eval = "eval orl --controls tiny_gui.npy --device cpu -o v.npy";
    check("eval empty --controls tiny_gui.npy -o v.npy", "a folder without scene.json");
    check("eval orl -o v.npy", "give the bundle its --controls");
    check(
        "eval orl --controls tiny_raw.npy -o v.npy",
        "expected shape (frames, 6), got shape [20, 8]; the bundle's scene",
    );
    for flag in ["--raw", "--mesh 0", "--lod 0"] {
        check(&format!("{eval} {flag}"), &format!("{} belongs to a DNA or a pack", flag.split(' ').next().unwrap()));
    }
    check(&format!("{eval} --stage forward"), "--stage forward belongs to a GNM pack");
    check("eval gnm --controls gnm.npy --raw -o v.npy", "--raw belongs to a DNA or a pack");
    names(dir.path(), vec!["a".into(), "b".into()]);
    check(eval, "orl/rig_names.json: control names: expected GUI or raw controls for at least 80 % of 2 names");
    check("info orl", "orl/rig_names.json");
    for (text, part) in [
        (json!({"rig": {"backend": "orl", "pack": "../tiny.dna"}}), "a step out of it"),
        (json!({"rig": {"backend": "orl", "pack": "none.bin"}}), "none.bin"),
        (json!({"rig": {"backend": "rig2mesh"}}), "rig2mesh"),
        (json!({"rig": {"backend": "none"}}), "its backend is none"),
    ] {
        scene(dir.path(), "orl", text);
        check(eval, part);
        check(&format!("check orl --frames {FRAMES}"), part);
        check("info orl", part);
    }
    scene(dir.path(), "orl", json!([]));
    check(eval, "scene.json: expected a JSON object");
}
