//! The sample head as a glTF file, and poses as static files.

use super::gltf_case::{Case, TRIANGLE};
use super::{json_of, rigeval, succeed};
use rigeval::gltf::cpu::gltf_morph;
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::npy;
use serde_json::json;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The sample head, and wrong inputs.
fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    succeed(dir.path(), "sample gltf -o head.glb");
    let controls = controls(&open(dir.path(), "head.glb"));
    write("c.npy", &npy::write_f32(&[1, controls.len()], &controls));
    write("row.npy", &npy::write_f32(&[controls.len()], &controls));
    write("c2.npy", &npy::write_f32(&[2, controls.len()], &controls.repeat(2)));
    write("wide.npy", &npy::write_f32(&[1, 2], &[0.0; 2]));
    write("rig.aosrig", super::tiny_pack());
    const POINTS: u32 = 0;
    let mut case = Case::morphed(&[]);
    case.primitive()["mode"] = json!(POINTS);
    write("points.glb", &case.glb());
    dir
}

/// Half a smile on the left.
fn controls(model: &GltfModel) -> Vec<f32> {
    let mut controls = model.controls().defaults().to_vec();
    let smile = model.controls().names().iter().position(|n| n == "morph/skin/mouthSmileLeft").unwrap();
    controls[smile] = 0.5;
    controls
}

fn open(dir: &Path, name: &str) -> GltfModel {
    GltfModel::open(&dir.join(name)).unwrap()
}

fn posed(model: &GltfModel, controls: &[f32]) -> Vec<[f32; 3]> {
    let mut pose = GltfPose::new(model, OutputSpace::World);
    pose.set_controls(model, controls).unwrap();
    gltf_morph(model.mesh(), &pose)
}

#[test]
fn sample_gltf_is_a_head_with_shapes_joints_and_a_clip() {
    let dir = tempfile::tempdir().unwrap();
    let report = json_of(dir.path(), "sample gltf -o head.glb --json");
    let bytes = fs::read(dir.path().join("head.glb")).unwrap();
    assert!(bytes == rigeval::gltf::sample::sample(rigeval::head::HeadSize::Small));
    let expected = json!({
        "output": "head.glb", "bytes": bytes.len(), "vertices": 2090, "parts": 8, "joints": 4, "targets": 69,
        "deltas": report["deltas"], "clip": "speech", "clip_s": 2.5
    });
    assert_eq!(report, expected);
    let text = succeed(dir.path(), "sample gltf -o head.glb").stdout;
    assert!(
        text.contains("2,090 vertices") && text.contains("52 ARKit shapes") && text.contains("\"speech\""),
        "{text}"
    );
    let info = json_of(dir.path(), "info head.glb --json");
    assert_eq!((&info["kind"], &info["vertices"], &info["skin_joints"]), (&json!("gltf"), &json!(2090), &json!(4)));
    assert_eq!(json_of(dir.path(), "sample gltf --full -o full.glb --json")["vertices"], json!(17_821));
}

#[test]
fn bake_mesh_stands_where_the_clip_is_at_that_time() {
    let dir = folder();
    let model = open(dir.path(), "head.glb");
    for (flags, time) in [("--clip speech --time 0.6", 0.6), ("--clip 0 --time 99", 2.5), ("--clip 0 --time -1.5", 0.0)]
    {
        let report = json_of(dir.path(), &format!("bake-mesh head.glb {flags} -o out.glb --json"));
        let mut controls = model.controls().defaults().to_vec();
        model.clips()[0].sample(time, &mut model.clips()[0].cursor(), &mut controls);
        let baked = open(dir.path(), "out.glb");
        assert_eq!(baked.rest_positions(), posed(&model, &controls), "{flags}");
        assert!(baked.skins().is_empty() && baked.clips().is_empty() && baked.controls().morph_count() == 0);
        assert_eq!((&report["vertices"], &report["triangles"]), (&json!(2090), &json!(4044)), "{report}");
        assert_eq!((&report["left_out"], &report["made_normals"]), (&json!([]), &json!(0)), "{report}");
        assert_eq!(report["bytes"], json!(fs::metadata(dir.path().join("out.glb")).unwrap().len()));
    }
}

#[test]
fn bake_mesh_takes_controls_and_otherwise_the_files_own_pose() {
    let dir = folder();
    let model = open(dir.path(), "head.glb");
    let text = succeed(dir.path(), "bake-mesh head.glb -o out.glb").stdout;
    assert!(text.contains("textures and vertex colours are not carried"), "{text}");
    assert_eq!(open(dir.path(), "out.glb").rest_positions(), model.rest_positions());
    for file in ["c.npy", "row.npy"] {
        succeed(dir.path(), &format!("bake-mesh head.glb --controls {file} -o out.glb"));
        assert_eq!(open(dir.path(), "out.glb").rest_positions(), posed(&model, &controls(&model)));
    }
    // What the clip moves it writes, the smile included.
    succeed(dir.path(), "bake-mesh head.glb --controls c.npy --clip speech --time 0 -o out.glb");
    assert_eq!(open(dir.path(), "out.glb").rest_positions(), model.rest_positions());
}

#[test]
fn bake_mesh_names_the_parts_that_it_leaves_out() {
    let dir = tempfile::tempdir().unwrap();
    let mut case = Case::morphed(&[]);
    const POINTS: u32 = 0;
    let position = case.rows(&TRIANGLE);
    case.mesh_node(json!({"attributes": {"POSITION": position}, "mode": POINTS}), json!({"name": "du\nst"}));
    fs::write(dir.path().join("rig.glb"), case.glb()).unwrap();
    let text = succeed(dir.path(), "bake-mesh rig.glb -o out.glb").stdout;
    assert!(text.contains("left out, for want of triangles: du\u{fffd}st\n"), "{text:?}");
    assert_eq!(open(dir.path(), "out.glb").rest_positions(), TRIANGLE);
}

#[test]
fn bad_use_gives_one_line_and_exit_2() {
    let dir = folder();
    let cases = [
        ("sample gltf", "--output"),
        ("sample gltf -o head.obj", "head.obj: give it a name that ends in .glb"),
        ("sample gltf --basis i8 -o out.glb", "--basis"),
        ("bake-mesh head.glb", "--output"),
        ("bake-mesh head.glb -o out.gltf", "out.gltf: give it a name that ends in .glb"),
        ("bake-mesh head.glb -o none/out.glb", "folder none does not exist"),
        ("bake-mesh head.glb -o ./head.glb", "MODEL and --output name the same file"),
        ("bake-mesh head.glb --clip run --time 0 -o out.glb", "head.glb: clip \"run\": the file has 0 \"speech\""),
        ("bake-mesh head.glb --clip 1 --time 0 -o out.glb", "clip \"1\": the file has"),
        ("bake-mesh head.glb --clip speech -o out.glb", "head.glb: give --clip its --time, in seconds"),
        ("bake-mesh head.glb --time 1 -o out.glb", "head.glb: give --time its --clip"),
        (
            "bake-mesh head.glb --clip speech --time NaN -o out.glb",
            "--time: expected a finite number of seconds, got NaN",
        ),
        (
            "bake-mesh head.glb --clip speech --time=-inf -o out.glb",
            "--time: expected a finite number of seconds, got -inf",
        ),
        ("bake-mesh head.glb --clip speech --time soon -o out.glb", "soon"),
        ("bake-mesh head.glb --controls c2.npy -o out.glb", "c2.npy: controls: expected one frame, got 2"),
        ("bake-mesh head.glb --controls wide.npy -o out.glb", "wide.npy: controls: expected shape (frames, "),
        ("bake-mesh head.glb --controls none.npy -o out.glb", "none.npy"),
        ("bake-mesh none.glb -o out.glb", "none.glb: expected a readable file"),
        ("bake-mesh rig.aosrig -o out.glb", "rig.aosrig: expected a glTF file"),
        ("bake-mesh points.glb -o out.glb", "points.glb: /meshes: expected triangles in the default scene, got none"),
    ];
    for (args, part) in cases {
        let run = rigeval(dir.path(), args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "rigeval {args}: {}", run.stderr);
        assert!(run.stderr.contains(part), "rigeval {args}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: "), "rigeval {args}: {}", run.stderr);
        assert_eq!(run.stderr.trim_end().lines().count(), 1, "rigeval {args}: {}", run.stderr);
    }
    assert!(!dir.path().join("out.glb").exists());
}
