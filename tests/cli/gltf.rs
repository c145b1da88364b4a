//! glTF files: what `info` says of them, clips and controls to vertices, and vertices against frames.

use super::gltf_case::{Case, I8, TRIANGLE, assert_near, container};
use super::orl::array;
use super::{json_of, rigeval, succeed};
use glam::Quat;
use rigeval::frames::sha256_hex;
use rigeval::gltf::cpu::{gltf_morph, gltf_morph_normals};
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::lbs::Skinning;
use rigeval::npy;
use rigeval::skeleton::JointOverride;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A triangle with a smile of 0.5 along +Z and normals, on a node that the clips move; a bar of two joints beside it.
pub fn case() -> Case {
    let mut case = Case::skinned(
        &[[0.0; 3], [0.0, 1.0, 0.0]],
        &[[0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 2.0, 0.0]],
        &[[0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 200, 0]],
        &[[1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]],
    );
    case.json["nodes"][0]["name"] = json!("hip");
    case.json["nodes"][1]["name"] = json!("knee");
    case.json["nodes"][2]["translation"] = json!([9.0, 9.0, 9.0]);
    case.json["asset"]["generator"] = json!("a test");
    case.json["extensionsUsed"] = json!(["KHR_materials_unlit"]);
    let (position, normal) = (case.rows(&TRIANGLE), case.rows(&[[0.0_f32, 0.0, 1.0]; 3]));
    let target = case.rows(&[[0.0_f32, 0.0, 0.5], [0.0; 3], [0.0; 3]]);
    let face = case.mesh_node(
        json!({"attributes": {"POSITION": position, "NORMAL": normal}, "targets": [{"POSITION": target}]}),
        json!({"name": "face"}),
    );
    case.json["meshes"][1]["name"] = json!("head");
    case.json["meshes"][1]["extras"] = json!({"targetNames": ["smile"]});
    let moves = case.rows(&[[0.0_f32, 0.0, 0.0], [4.0, 0.0, 0.0]]);
    case.clip(face, "translation", "LINEAR", &[0.0, 2.0], moves);
    case.json["animations"][0]["name"] = json!("walk");
    let weights = case.scalars(&[0.0, 1.0]);
    case.clip(face, "weights", "STEP", &[0.0, 1.0], weights);
    case
}

/// The corners of the face: the last three vertices of a frame of six.
const FACE: usize = 3;

fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    let (case, model) = (case(), case().model());
    let glb = case.glb();
    write("rig.glb", &glb);
    write("cut.glb", &glb[..glb.len() - 4]);
    let mut document = case.document();
    document["buffers"][0]["uri"] = json!("rig.bin");
    write("rig.gltf", format!("\u{feff} {document}").as_bytes());
    write("rig.bin", &case.bin);
    document["buffers"][0]["uri"] = json!("none.bin");
    write("alone.gltf", document.to_string().as_bytes());
    document["buffers"][0]["uri"] = json!("../rig.bin");
    write("outside.gltf", document.to_string().as_bytes());
    write("cut.gltf", &document.to_string().as_bytes()[..100]);
    write("other.json", br#"{"meshes": []}"#);
    document["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    write("draco.glb", &container(&document, &case.bin));
    write("t.npy", &npy::write_f64(&[4], &[-1.0, 0.0, 1.0, 9.0]));
    write("now.npy", &npy::write_f32(&[], &[1.0]));
    write("t2.npy", &npy::write_f64(&[2, 2], &[0.0; 4]));
    write("nan.npy", &npy::write_f64(&[2], &[0.0, f64::NAN]));
    let controls = controls(&model);
    write("c.npy", &npy::write_f32(&[2, controls.len() / 2], &controls));
    write("c1.npy", &npy::write_f32(&[1, controls.len() / 2], &controls[..controls.len() / 2]));
    write("wide.npy", &npy::write_f32(&[1, 2], &[0.0; 2]));
    let mut still = model.controls().defaults().to_vec();
    let knee = model.joint_of_node(1).unwrap();
    let turn = model.controls().first_of_joint(knee).unwrap() + 3;
    still[turn..turn + 4].fill(0.0);
    write("zero.npy", &npy::write_f32(&[1, still.len()], &still));
    still[turn + 3] = 1.0;
    still[turn - 3] = 3e38;
    still[turn + 4] = 3e38;
    write("huge.npy", &npy::write_f32(&[1, still.len()], &still));
    write("o.json", br#"{"knee": [0, 0, 0, 1], "tail": [1, 0, 0, 0]}"#);
    write("o0.json", br#"{"knee": [0, 0, 0, 0]}"#);
    dir
}

/// The file's own pose with half a smile and the face lifted by 1, then with a whole smile.
fn controls(model: &GltfModel) -> Vec<f32> {
    let mut rows = model.controls().defaults().repeat(2);
    let width = rows.len() / 2;
    let lift = model.controls().names().iter().position(|n| n == "node/face/translation/y").unwrap();
    (rows[0], rows[lift], rows[width]) = (0.5, 1.0, 1.0);
    rows
}

/// The frames of an array of (F, V, 3).
fn frames(dir: &Path, name: &str) -> Vec<Vec<[f32; 3]>> {
    let array = array(dir, name);
    let [_, vertices, 3] = array.shape[..] else { panic!("{:?}", array.shape) };
    let values = array.into_f32().unwrap();
    values.as_chunks::<3>().0.chunks_exact(vertices).map(<[_]>::to_vec).collect()
}

fn face_at(offset: [f32; 3], smile: f32) -> [[f32; 3]; 3] {
    let mut points = TRIANGLE.map(|p| [0, 1, 2].map(|i| p[i] + offset[i]));
    points[0][2] += 0.5 * smile;
    points
}

#[test]
fn eval_without_clip_and_controls_is_one_frame_at_rest() {
    let dir = folder();
    let report = json_of(dir.path(), "eval rig.glb --device cpu -o v.npy --json");
    assert_eq!((&report["frames"], &report["vertices"], &report["device"]), (&1.into(), &6.into(), &"cpu".into()));
    let expected = case().model().rest_positions();
    assert_eq!(frames(dir.path(), "v.npy"), std::slice::from_ref(&expected));
    assert_near(&expected[FACE..], &face_at([0.0; 3], 0.0), 0.0);
    // The same file as JSON with an external buffer, after a byte order mark.
    succeed(dir.path(), "eval rig.gltf --device auto -o v.npy");
    assert_eq!(frames(dir.path(), "v.npy"), [expected]);
}

#[test]
fn eval_of_a_clip_holds_its_ends_and_goes_by_name_or_index() {
    let dir = folder();
    let eval = |clip: &str, times: &str| {
        succeed(dir.path(), &format!("eval rig.glb --clip {clip} --times {times} --device cpu -o v.npy"));
        frames(dir.path(), "v.npy")
    };
    let walk = eval("walk", "t.npy");
    assert_eq!(walk.len(), 4);
    for (frame, x) in walk.iter().zip([0.0, 0.0, 2.0, 4.0]) {
        assert_near(&frame[FACE..], &face_at([x, 0.0, 0.0], 0.0), 0.0);
        assert_eq!(frame[..FACE], walk[0][..FACE], "the bar does not move");
    }
    assert_eq!(eval("0", "t.npy"), walk);
    for (frame, smile) in eval("1", "t.npy").iter().zip([0.0, 0.0, 1.0, 1.0]) {
        assert_near(&frame[FACE..], &face_at([0.0; 3], smile), 0.0);
    }
    assert_eq!(eval("walk", "now.npy"), [walk[2].clone()], "a bare number is one time");
}

#[test]
fn eval_of_a_clip_over_controls_keeps_what_the_clip_does_not_move() {
    let dir = folder();
    succeed(dir.path(), "eval rig.glb --controls c.npy --device cpu -o v.npy");
    let rows = frames(dir.path(), "v.npy");
    assert_near(&rows[0][FACE..], &face_at([0.0, 1.0, 0.0], 0.5), 0.0);
    assert_near(&rows[1][FACE..], &face_at([0.0; 3], 1.0), 0.0);
    succeed(dir.path(), "eval rig.glb --controls c1.npy --clip walk --times t.npy --device cpu -o v.npy");
    for (frame, x) in frames(dir.path(), "v.npy").iter().zip([0.0, 0.0, 2.0, 4.0]) {
        // The clip writes the whole translation; the smile is the controls'.
        assert_near(&frame[FACE..], &face_at([x, 0.0, 0.0], 0.5), 0.0);
    }
    fs::write(dir.path().join("pair.npy"), npy::write_f64(&[2], &[0.5, 2.0])).unwrap();
    succeed(dir.path(), "eval rig.glb --controls c.npy --clip walk --times pair.npy --device cpu -o v.npy");
    for (frame, (x, smile)) in frames(dir.path(), "v.npy").iter().zip([(1.0, 0.5), (4.0, 1.0)]) {
        assert_near(&frame[FACE..], &face_at([x, 0.0, 0.0], smile), 0.0);
    }
}

#[test]
fn eval_turns_joints_by_overrides_and_names_those_that_are_not_there() {
    let dir = folder();
    let run = succeed(dir.path(), "eval rig.glb --overrides o.json --device cpu -o v.npy");
    assert!(run.stderr.contains("\"tail\"") && run.stderr.lines().count() == 1, "{}", run.stderr);
    // Half a turn about Z at the knee, one above the hip: the far end of the bar hangs down on the other side.
    let frame = &frames(dir.path(), "v.npy")[0];
    let model = case().model();
    let mut pose = GltfPose::new(&model, OutputSpace::World);
    let rotation = glam::Quat::from_xyzw(0.0, 0.0, 1.0, 0.0);
    pose.set_joint_overrides(&model, &[rigeval::skeleton::JointOverride { joint: "knee", rotation }]).unwrap();
    assert_eq!(*frame, gltf_morph(model.mesh(), &pose));
    assert_ne!(*frame, model.rest_positions());
}

#[test]
fn eval_writes_the_files_own_normals_posed() {
    let dir = folder();
    succeed(dir.path(), "eval rig.glb --controls c.npy --normals n.npy --device cpu -o v.npy");
    let model = case().model();
    let mut pose = GltfPose::new(&model, OutputSpace::World);
    let rows = controls(&model);
    let written = frames(dir.path(), "n.npy");
    for (row, normals) in rows.chunks_exact(rows.len() / 2).zip(written) {
        pose.set_controls(&model, row).unwrap();
        assert_eq!(normals, gltf_morph_normals(model.mesh(), &pose).unwrap());
        assert_near(&normals[FACE..], &[[0.0, 0.0, 1.0]; 3], 0.0);
    }
}

#[test]
fn info_says_what_is_in_a_file_and_which_rules_were_followed() {
    let dir = folder();
    let text = succeed(dir.path(), "info rig.glb").stdout;
    for part in ["glTF 2.0, binary (GLB)", "a test", "KHR_materials_unlit", "face/smile", "\"walk\": 2.000 s"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("1 vertices whose weights did not sum to 1"), "{text}");
    let info = json_of(dir.path(), "info rig.glb --json");
    let expected = json!({
        "kind": "gltf", "units": "m", "generator": "a test", "extensions": ["KHR_materials_unlit"], "scenes": 1,
        "nodes": 4, "skin_joints": 2, "influences": 2, "influence_sets": 1, "meshes": 2, "primitives": 2,
        "vertices": 6, "triangles": 2, "targets": ["face/smile"], "controls": 41, "checks": "passed",
        "bytes": case().glb().len(), "skins": [{"name": null, "joints": ["hip", "knee"]}],
        "clips": [
            {"name": "walk", "length_s": 2.0, "channels": 1, "interpolations": {"LINEAR": 1}},
            {"name": null, "length_s": 1.0, "channels": 1, "interpolations": {"STEP": 1}},
        ],
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(info[key], *value, "{key}");
    }
    assert_eq!(info["joints"][0], json!({"name": "hip", "parent": null}));
    assert_eq!(info["parts"][1]["name"], json!("head"));
    assert_eq!((&info["parts"][1]["deltas"], &info["parts"][1]["normals"]), (&json!(1), &json!(true)));
    let rule = |part: &str| {
        let rules = info["rules"].as_array().unwrap();
        rules.iter().find(|r| r["rule"].as_str().unwrap().contains(part)).map(|r| r["count"].clone())
    };
    assert_eq!(rule("did not sum to 1"), Some(json!(1)), "{info}");
    assert_eq!(rule("weight zero: not read"), Some(json!(1)), "{info}");
    assert_eq!(rule("inverse bind"), Some(json!(1)), "{info}");
    assert_eq!(rule("transform of their own"), Some(json!(1)), "{info}");
    let document = json_of(dir.path(), "info rig.gltf --json");
    assert_eq!((&document["format"], &document["parts"]), (&json!("glTF 2.0 (JSON)"), &info["parts"]));
}

#[test]
fn bad_glb_and_bad_use_give_one_line_and_exit_2() {
    let dir = folder();
    let eval = [
        ("rig.glb --clip walk", "rig.glb: give --clip its --times T.npy"),
        ("rig.glb --times t.npy", "rig.glb: give --times its --clip"),
        ("rig.glb --clip run --times t.npy", "rig.glb: clip \"run\": the file has 0 \"walk\", 1"),
        ("rig.glb --clip 2 --times t.npy", "clip \"2\": the file has"),
        ("rig.glb --clip walk --times t2.npy", "t2.npy: times: expected shape (frames), got shape [2, 2]"),
        ("rig.glb --clip walk --times nan.npy", "nan.npy: times[1]: expected a finite number, got NaN"),
        ("rig.glb --clip walk --times none.npy", "none.npy: expected a readable file"),
        ("rig.glb --clip walk --times t.npy --controls c.npy", "c.npy: controls: expected 4 frames as in times, or 1"),
        (
            "rig.glb --controls wide.npy",
            "wide.npy: controls: expected shape (frames, 41), got shape [1, 2]; rigeval info",
        ),
        ("rig.glb --controls zero.npy", "non-zero finite quaternion"),
        ("rig.glb --controls huge.npy", "beyond the range of f32"),
        ("rig.glb --overrides o0.json", "o0.json: frame 0"),
        ("rig.glb --mesh 0", "--mesh belongs to a MetaHuman rig"),
        ("rig.glb --raw", "--raw belongs to a MetaHuman rig"),
        ("rig.glb --stage pose", "--stage belongs to a GNM pack"),
        ("rig.glb --identity c.npy", "--identity belongs to a model"),
        ("cut.glb", "cut.glb: GLB length"),
        ("cut.gltf", "cut.gltf: expected a glTF document, which is JSON"),
        ("other.json", "or a glTF file, got JSON without a glTF asset"),
        ("alone.gltf", "none.bin"),
        ("outside.gltf", "outside.gltf"),
        ("draco.glb", "KHR_draco_mesh_compression"),
    ];
    let other = [
        ("info cut.glb", "cut.glb: GLB length"),
        ("info alone.gltf", "none.bin"),
        ("bake gnm rig.glb -o head.aosrig", "that is a glTF file"),
        ("bake orl rig.glb -o head.orlpack", "that is a glTF file"),
        ("check rig.glb --frames .", "frames.json"),
    ];
    let eval = eval.map(|(args, part)| (format!("eval {args} --device cpu -o v.npy"), part));
    let other = other.map(|(args, part)| (args.to_string(), part));
    for (args, part) in eval.into_iter().chain(other) {
        let run = rigeval(dir.path(), &args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "rigeval {args}: {}", run.stderr);
        assert!(run.stderr.contains(part), "rigeval {args}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: "), "rigeval {args}: {}", run.stderr);
        assert_eq!(run.stderr.trim_end().lines().count(), 1, "rigeval {args}: {}", run.stderr);
    }
    assert!(!dir.path().join("v.npy").exists());
}

#[test]
fn eval_by_dual_quaternions_equals_its_twin() {
    let dir = folder();
    // The bar's middle is held by two joints by half; the knee bends by half a turn.
    fs::write(dir.path().join("bent.json"), r#"{"knee": [0, 0, 1, 0]}"#).unwrap();
    let model = GltfModel::open(&dir.path().join("rig.glb")).unwrap();
    let bent = JointOverride { joint: "knee", rotation: Quat::from_xyzw(0.0, 1.0, 0.0, 0.0) };
    for (flag, skinning) in [
        ("", Skinning::Linear),
        ("--skinning linear", Skinning::Linear),
        ("--skinning dual-quaternion", Skinning::DualQuaternion),
    ] {
        let mut pose = GltfPose::new(&model, OutputSpace::World).with_skinning(skinning);
        pose.set_joint_overrides(&model, &[bent]).unwrap();
        succeed(dir.path(), &format!("eval rig.glb --overrides bent.json {flag} --device cpu -o v.npy"));
        assert_eq!(frames(dir.path(), "v.npy"), [gltf_morph(model.mesh(), &pose)], "{flag}");
    }
}

#[test]
fn clips_times_and_skinning_belong_to_gltf_files() {
    let dir = super::fixtures::folder();
    let cases = [
        ("rig.aosrig --controls c.npy", "--clip walk"),
        ("rig.aosrig --controls c.npy", "--skinning linear"),
        (super::MODEL, "--times c.npy"),
        (super::MODEL, "--skinning dual-quaternion"),
    ];
    for (rig, flag) in cases {
        let run = rigeval(dir.path(), &format!("eval {rig} {flag} --device cpu -o v.npy"));
        assert!(run.code == 2 && run.stderr.contains("belongs to a glTF file"), "{}", run.stderr);
    }
}

#[test]
fn normals_of_a_file_without_are_its_triangles_and_refused_without_those() {
    let dir = tempfile::tempdir().unwrap();
    let mut case = Case::morphed(&[]);
    fs::write(dir.path().join("bare.glb"), case.glb()).unwrap();
    succeed(dir.path(), "eval bare.glb --normals n.npy --device cpu -o v.npy");
    assert_eq!(frames(dir.path(), "n.npy"), [vec![[0.0, 0.0, 1.0]; 3]]);
    let points = 0;
    case.primitive()["mode"] = json!(points);
    fs::write(dir.path().join("points.glb"), case.glb()).unwrap();
    let run = rigeval(dir.path(), "eval points.glb --normals n.npy --device cpu -o v.npy");
    assert!(run.code == 2 && run.stderr.contains("without faces there are no normals"), "{}", run.stderr);
}

#[test]
fn names_out_of_a_gltf_file_stay_on_their_line() {
    let dir = tempfile::tempdir().unwrap();
    let mut case = case();
    case.json["animations"][0]["name"] = json!("wa\nlk\u{1b}[31m");
    case.json["asset"]["generator"] = json!("te\nst");
    case.json["meshes"][1]["name"] = json!("he\nad");
    fs::write(dir.path().join("odd.glb"), case.glb()).unwrap();
    let plain = folder();
    let text = succeed(dir.path(), "info odd.glb").stdout;
    assert_eq!(text.lines().count(), succeed(plain.path(), "info rig.glb").stdout.lines().count(), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn quantised_accessors_are_in_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let mut case = Case::new();
    let position = case.normalized(I8, "VEC3", 3, &[0, 0, 0, 127, 0, 0, 0, 127, 0]);
    case.mesh_node(json!({"attributes": {"POSITION": position}}), json!({}));
    case.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    case.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    fs::write(dir.path().join("small.glb"), case.glb()).unwrap();
    let info = json_of(dir.path(), "info small.glb --json");
    assert_eq!(info["extensions_required"], json!(["KHR_mesh_quantization"]));
    assert_eq!((&info["influences"], &info["rest_bounds"]["max"]), (&json!(0), &json!([1.0, 1.0, 0.0])));
    assert!(info["rules"].to_string().contains("kept as integers"), "{info}");
}

/// Frames of `rig.glb` that another program computed: the walk at 0 and 1 s.
fn reference(dir: &Path, change: impl FnOnce(&mut Value, &mut Vec<f64>)) {
    fs::create_dir_all(dir.join("frames")).unwrap();
    let model = case().model();
    let mut vertices: Vec<f64> = Vec::new();
    for x in [0.0, 2.0] {
        let frame = [&model.rest_positions()[..FACE], &face_at([x, 0.0, 0.0], 0.0)].concat();
        vertices.extend(frame.as_flattened().iter().map(|&x| f64::from(x)));
    }
    let mut manifest = json!({
        "version": 1, "rig": "rig.glb", "rig_sha256": sha256_hex(&case().glb()), "kind": "gltf", "units": "m",
        "stage": "world", "inputs": {"clip": "walk", "times": "times.npy"}, "vertices": "vertices.npy",
        "oracle": {"name": "another program", "version": "1"}, "tolerance": {"abs": 1e-6, "rel": 0.0},
    });
    change(&mut manifest, &mut vertices);
    let write = |name: &str, bytes: &[u8]| fs::write(dir.join("frames").join(name), bytes).unwrap();
    write("times.npy", &npy::write_f64(&[2], &[0.0, 1.0]));
    write("controls.npy", &npy::write_f32(&[2, 41], &controls(&model)));
    write("vertices.npy", &npy::write_f64(&[2, 6, 3], &vertices));
    write("frames.json", manifest.to_string().as_bytes());
}

#[test]
fn check_of_gltf_frames_passes_and_sees_one_moved_vertex() {
    let dir = folder();
    let check = || {
        let run = rigeval(dir.path(), "check rig.glb --frames frames --device cpu --json");
        let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
        (run.code, report)
    };
    reference(dir.path(), |_, _| {});
    let (code, report) = check();
    assert_eq!((code, &report["pass"], &report["frames"], &report["unit"]), (0, &true.into(), &2.into(), &"m".into()));
    reference(dir.path(), |manifest, _| manifest["inputs"]["clip"] = json!(0));
    assert_eq!(check().0, 0, "a clip by its index");
    reference(dir.path(), |_, vertices| vertices[(6 + 4) * 3 + 1] += 2e-6);
    let (code, report) = check();
    assert_eq!((code, &report["worst"]), (1, &json!({"frame": 1, "vertex": 4})));
    // Controls alone, and nothing at all: the file at rest.
    let controls_of = |rows: [([f32; 3], f32); 2]| {
        move |manifest: &mut Value, vertices: &mut Vec<f64>| {
            let named = rows[1].1 > 0.0;
            manifest["inputs"] = if named { json!({"controls": "controls.npy"}) } else { json!({}) };
            for (frame, (offset, smile)) in vertices.chunks_exact_mut(18).zip(rows) {
                let face = face_at(offset, smile);
                frame[9..].iter_mut().zip(face.as_flattened()).for_each(|(to, &from)| *to = from.into());
            }
        }
    };
    reference(dir.path(), controls_of([([0.0, 1.0, 0.0], 0.5), ([0.0; 3], 1.0)]));
    assert_eq!(check().0, 0, "controls");
    reference(dir.path(), controls_of([([0.0; 3], 0.0); 2]));
    assert_eq!(check().0, 0, "at rest");
}

#[test]
fn check_of_frames_that_are_not_the_files_exits_2() {
    let dir = folder();
    let cases: [(&str, Value, &str); 8] = [
        ("rig_sha256", json!("0".repeat(64)), "rig_sha256"),
        ("stage", json!("pose"), "another stage than \"world\""),
        ("mesh", json!(0), "a mesh or level of detail"),
        ("kind", json!("gnm"), "frames of kind gnm"),
        ("units", json!("cm"), "units cm"),
        ("inputs", json!({"clip": "walk"}), "a clip without times"),
        ("inputs", json!({"times": "times.npy"}), "times without a clip"),
        ("inputs", json!({"clip": 7, "times": "times.npy"}), "clip 7: the file has 0 \"walk\", 1"),
    ];
    for (key, value, part) in cases {
        reference(dir.path(), |manifest, _| manifest[key] = value);
        let run = rigeval(dir.path(), "check rig.glb --frames frames --device cpu");
        assert!(run.code == 2 && run.stderr.contains(part), "{key}: {}", run.stderr);
        assert_eq!(run.stderr.trim_end().lines().count(), 1, "{key}: {}", run.stderr);
    }
    let run = rigeval(dir.path(), "check rig.glb --frames frames --mesh 0");
    assert!(run.code == 2 && run.stderr.contains("--mesh belongs to a DNA"), "{}", run.stderr);
}

#[test]
fn eval_of_a_gltf_file_on_the_gpu_agrees_with_the_cpu() {
    let dir = folder();
    let probe = rigeval(dir.path(), "eval rig.glb --device gpu -o v.npy");
    if probe.code != 0 {
        assert!(probe.code == 2 && probe.stderr.contains("no GPU adapter"), "{}", probe.stderr);
        assert!(std::env::var_os("RIGEVAL_REQUIRE_GPU").is_none_or(|v| v != "1"), "no adapter, and one is required");
        eprintln!("SKIP: no GPU adapter");
        return;
    }
    // Nine frames: one full batch and the beginning of another.
    fs::write(dir.path().join("t9.npy"), npy::write_f64(&[9], &[0.0, 0.1, 0.4, 0.9, 1.1, 1.5, 1.9, 2.0, 3.0])).unwrap();
    for flags in [
        "",
        "--clip walk --times t9.npy",
        "--controls c.npy --overrides o.json",
        "--controls c1.npy --clip 1 --times t9.npy",
    ] {
        let [gpu, cpu] = ["gpu", "cpu"].map(|device| {
            succeed(dir.path(), &format!("eval rig.glb {flags} --device {device} --normals n.npy -o v.npy"));
            (frames(dir.path(), "v.npy"), frames(dir.path(), "n.npy"))
        });
        assert_near(gpu.0.concat().as_slice(), cpu.0.concat().as_slice(), 1e-5);
        assert_near(gpu.1.concat().as_slice(), cpu.1.concat().as_slice(), 1e-4);
    }
}
