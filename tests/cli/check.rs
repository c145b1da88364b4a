//! A GNM model against frames, and the frames that are handed out with the project.

use super::fixtures::changed_frames;
use super::{FRAMES, MODEL, json_of, rigeval, succeed};
use rigeval::npy;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

#[test]
fn check_of_the_committed_frames_passes_and_says_how_far_off() {
    let dir = tempfile::tempdir().unwrap();
    let text = succeed(dir.path(), &format!("check {MODEL} --frames {FRAMES}")).stdout;
    for part in
        ["8 frames of 447 vertices", "max", "mean", " um", "vertex", "frame", "body-models numpy 0.26.2", "pass"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let report = json_of(dir.path(), &format!("check {MODEL} --frames {FRAMES} --json"));
    assert_eq!((&report["pass"], &report["unit"]), (&Value::from(true), &Value::from("m")));
    assert!(report["max"].as_f64().unwrap() < 1e-9 && report["mean"].as_f64().unwrap() > 0.0, "{report}");
    assert_eq!(report["tolerance"]["abs"], Value::from(1e-9));
    assert!(report["worst"]["frame"].is_u64() && report["worst"]["vertex"].is_u64());
}

#[test]
fn check_of_one_moved_vertex_exits_1_and_names_it() {
    let frames = changed_frames(|dir| {
        let path = dir.join("vertices.npy");
        let array = npy::read(&fs::read(&path).unwrap()).unwrap();
        let (shape, mut values) = (array.shape.clone(), array.into_f64().unwrap());
        values[(5 * 447 + 123) * 3 + 1] += 2e-9;
        fs::write(path, npy::write_f64(&shape, &values)).unwrap();
    });
    let run = rigeval(frames.path(), &format!("check {MODEL} --frames . --json"));
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&report["pass"], &report["failed_frames"]), (&Value::from(false), &Value::from(1)));
    assert_eq!(report["worst"], serde_json::json!({"frame": 5, "vertex": 123}));
    let text = rigeval(frames.path(), &format!("check {MODEL} --frames ."));
    assert!(text.code == 1 && text.stdout.contains("FAIL"), "{}", text.stdout);
}

#[test]
fn check_against_its_own_output_is_refused() {
    let own = format!("{{\"name\": \"rigeval cpu\", \"version\": \"{}\"}}", env!("CARGO_PKG_VERSION"));
    let frames = changed_frames(|dir| {
        let mut manifest: Value = serde_json::from_slice(&fs::read(dir.join("frames.json")).unwrap()).unwrap();
        manifest["oracle"] = serde_json::from_str(&own).unwrap();
        fs::write(dir.join("frames.json"), manifest.to_string()).unwrap();
    });
    let run = rigeval(frames.path(), &format!("check {MODEL} --frames ."));
    assert!(run.code == 2 && run.stderr.contains("with itself"), "{}", run.stderr);
}

#[test]
fn handed_frames_are_reproduced() {
    let data = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/gnm"));
    if !data.exists() {
        eprintln!("SKIP: ../shared/data/gnm is absent");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let read = |path: PathBuf| npy::read(&fs::read(path).unwrap()).unwrap().into_f64().unwrap();
    let compare = |expected: PathBuf, tolerance: f64| {
        let (got, want) = (read(dir.path().join("v.npy")), read(expected.clone()));
        assert_eq!(got.len(), want.len());
        let worst = got.iter().zip(&want).map(|(g, w)| (g - w).abs()).fold(0.0, f64::max);
        assert!(worst <= tolerance, "{}: off by {worst}", expected.display());
    };
    let (model, frames) = (data.join("gnm_tiny.npz"), data.join("frames_tiny"));
    let inputs = ["identity", "expression", "rotations", "translation"];
    let inputs = inputs.map(|name| format!("--{name} {}", frames.join(name).with_extension("npy").display())).join(" ");
    for (flag, expected) in [("", "vertices_f64.npy"), ("--no-correctives", "vertices_nocorr_f64.npy")] {
        succeed(dir.path(), &format!("eval {} {inputs} {flag} -o v.npy", model.display()));
        compare(frames.join(expected), 2e-6);
    }
    for stem in ["tiny_full", "tiny_light", "tiny_e64"] {
        let file = |suffix: &str| data.join("aosrig_tiny").join(format!("{stem}{suffix}"));
        for (flag, expected) in [("--stage forward", "_forward_f64.npy"), ("", "_rest_f64.npy")] {
            let (rig, controls) = (file(".aosrig"), file("_head_ext.npy"));
            let args = format!("eval {} --controls {}", rig.display(), controls.display());
            succeed(dir.path(), &format!("{args} --device cpu {flag} -o v.npy"));
            compare(file(expected), 1e-6);
        }
    }
}
