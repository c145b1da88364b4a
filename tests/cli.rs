//! The command line as a user meets it: exit statuses, messages, reports, files.
#![cfg(feature = "cli")]

#[path = "cli/bake_mesh.rs"]
mod bake_mesh;
#[path = "cli/bundle.rs"]
mod bundle;
#[path = "cli/check.rs"]
mod check;
mod common;
#[path = "cli/fixtures.rs"]
mod fixtures;
#[path = "cli/gltf.rs"]
mod gltf;
#[path = "cli/gltf_bundle.rs"]
mod gltf_bundle;
mod gltf_case;
#[path = "cli/gltf_hostile.rs"]
mod gltf_hostile;
#[path = "cli/hostile.rs"]
mod hostile;
#[path = "cli/orl.rs"]
mod orl;
#[path = "cli/orl_eval.rs"]
mod orl_eval;
#[path = "cli/render.rs"]
mod render;

use fixtures::{controls, folder, gnmw, tiny_pack};
use rigeval::gnm::cpu::gnm_blend;
use rigeval::gnm::pack::GnmPack;
use rigeval::gnm::pose::{GnmPose, Stage};
use rigeval::npy;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/gnm_tiny/gnm_tiny.npz");
const FRAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/gnm_tiny_frames");

struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

fn finish(output: &Output) -> Run {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().expect("ended by a signal");
    Run { code, stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// Runs in `dir`; arguments are separated by spaces.
fn rigeval(dir: &Path, args: &str) -> Run {
    let command = &mut Command::new(env!("CARGO_BIN_EXE_rigeval"));
    finish(&command.current_dir(dir).args(args.split_whitespace()).output().unwrap())
}

fn succeed(dir: &Path, args: &str) -> Run {
    let run = rigeval(dir, args);
    assert_eq!(run.code, 0, "rigeval {args}: {}", run.stderr);
    run
}

fn json_of(dir: &Path, args: &str) -> Value {
    serde_json::from_str(&succeed(dir, args).stdout).unwrap_or_else(|e| panic!("rigeval {args}: {e}"))
}

#[test]
fn bad_usage_and_bad_input_give_one_line_and_exit_2() {
    let dir = folder();
    let cases = [
        // usage
        ("fly", "unrecognized subcommand 'fly'"),
        ("eval", "required arguments were not provided"),
        ("eval rig.aosrig --controls c.npy", "--output"),
        ("eval rig.aosrig --controls c.npy -o v.npy --device tpu", "tpu"),
        ("eval rig.aosrig --controls c.npy -o v.npy --stage rest", "rest"),
        ("demo --frames 0", "--frames"),
        // outputs
        ("eval rig.aosrig --controls c.npy -o v.txt", "v.txt: give it a name that ends in .npy"),
        ("eval rig.aosrig --controls c.npy -o none/v.npy", "none/v.npy: folder none does not exist"),
        ("eval rig.aosrig --controls c.npy -o v.npy --normals v.npy", "--output and --normals name the same file"),
        ("eval rig.aosrig --controls c.npy -o ./c.npy", "--controls and --output name the same file"),
        ("eval rig.aosrig --controls c.npy --stage forward --overrides o.json -o v.npy", "stops before the joints"),
        ("sample gnm -o head.obj", "head.obj: give it a name that ends in .npz or .aosrig"),
        ("sample gnm --basis i8 -o head.npz", "--basis"),
        ("bake gnm rig.aosrig -o head.aosrig", "rig.aosrig"),
        ("bake gnm MODEL -o head.npz", "ends in .aosrig"),
        // rigs
        ("eval none.aosrig --controls c.npy -o v.npy", "none.aosrig: expected a readable file"),
        ("eval sub --controls c.npy -o v.npy", "expected a file, got a folder without scene.json"),
        ("eval cut.aosrig --controls c.npy -o v.npy", "cut.aosrig"),
        ("eval text.aosrig --controls c.npy -o v.npy", "begin with \"hello\""),
        ("eval empty.aosrig --controls c.npy -o v.npy", "an empty file"),
        ("eval c.npy --controls c.npy -o v.npy", "a bare .npy array"),
        ("eval html.npz -o v.npy", "HTML page"),
        ("info lfs.aosrig", "Git-LFS pointer"),
        ("info text.aosrig", "expected an .aosrig pack, a gnm_head .npz"),
        ("info none.npz", "none.npz"),
        // packs
        ("eval rig.aosrig -o v.npy", "give the pack its --controls"),
        ("eval rig.aosrig --controls none.npy -o v.npy", "none.npy"),
        ("eval rig.aosrig --controls c386.npy -o v.npy", "c386.npy: controls: expected shape (frames, 387)"),
        ("eval rig.aosrig --controls c68.npy -o v.npy", "68 is the width of gnm68"),
        ("eval rig.aosrig --controls flat.npy -o v.npy", "expected shape (frames, 387), got shape [386]"),
        ("eval rig.aosrig --controls nan.npy -o v.npy", "controls[2, 5]: expected a finite number, got NaN"),
        ("eval rig.aosrig --controls html.npz -o v.npy", "HTML page"),
        ("eval rig.aosrig --controls c.npy --identity c.npy -o v.npy", "--identity belongs to a model"),
        ("eval rig.aosrig --controls c.npy --no-correctives -o v.npy", "--no-correctives belongs to a model"),
        ("eval rig.aosrig --controls c.npy --overrides c.npy -o v.npy", "c.npy"),
        ("eval rig.aosrig --controls c.npy --overrides zero.json -o v.npy", "non-zero finite quaternion"),
        ("eval rig.aosrig --controls c.npy --overrides twice.json -o v.npy", "joint \"head\""),
        ("eval rig.aosrig --controls c.npy --overrides short.json -o v.npy", "3 quaternions, one for each frame"),
        // the model
        ("eval MODEL --controls c.npy -o v.npy", "--controls belongs to a pack"),
        ("eval MODEL --stage forward -o v.npy", "--stage belongs to a pack"),
        ("eval MODEL --expression e.npy --device gpu -o v.npy", "CPU only"),
        ("eval MODEL --expression c.npy -o v.npy", "c.npy: expression: expected shape (frames, 383)"),
        (
            "eval MODEL --expression e.npy --translation t2.npy -o v.npy",
            "expected 3 frames as in expression, or 1, got 2",
        ),
        ("bake gnm MODEL --identity c.npy -o head.aosrig", "identity"),
        ("bake gnm MODEL --body body -o head.aosrig", "--body belongs to a baked head"),
        ("bake gnm baked.npz -o head.aosrig", "give --body STEM"),
        ("bake gnm baked.npz --body none -o head.aosrig", "none.aosrig.json"),
        ("bake gnm baked.npz --body body --identity c.npy -o head.aosrig", "leave --identity out"),
        ("eval baked.npz --controls c.npy -o v.npy", "bake it first"),
        ("bake gnm MODEL --keep 0 -o head.aosrig", "keep"),
        // frames
        ("check rig.aosrig --frames none", "folder with frames.json"),
        ("check rig.aosrig --frames sub", "frames.json"),
        ("check rig.aosrig --frames FRAMES", "rig_sha256"),
        ("check MODEL --frames FRAMES --device gpu", "CPU only"),
    ];
    for (args, part) in cases {
        let run = rigeval(dir.path(), &args.replace("MODEL", MODEL).replace("FRAMES", FRAMES));
        assert_eq!(run.code, 2, "rigeval {args}: {}", run.stderr);
        assert!(run.stderr.contains(part), "rigeval {args}: {}", run.stderr);
        assert_eq!(run.stderr.trim_end().lines().count(), 1, "rigeval {args}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: "), "rigeval {args}: {}", run.stderr);
        assert_eq!(run.stdout, "", "rigeval {args}");
    }
    let left = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = left.filter(|name| name.starts_with('v') || name.starts_with('.')).collect();
    assert_eq!(left, [""; 0], "a failed run left files");
}

#[test]
fn help_and_version_exit_0_and_no_command_exits_2_with_help() {
    let dir = tempfile::tempdir().unwrap();
    for args in ["--help", "help eval", "eval --help", "sample gnm --help", "bake gnm --help", "bake orl --help"] {
        assert!(succeed(dir.path(), args).stdout.contains("Usage"), "{args}");
    }
    assert!(succeed(dir.path(), "--version").stdout.starts_with("rigeval 0."));
    let bare = rigeval(dir.path(), "");
    assert_eq!((bare.code, bare.stdout.as_str()), (2, ""));
    for command in ["demo", "info", "sample", "bake", "eval", "check", "riglogic"] {
        assert!(bare.stderr.contains(command), "{}", bare.stderr);
    }
}

#[test]
fn eval_of_a_pack_equals_the_library() {
    let dir = folder();
    let pack = GnmPack::read(tiny_pack().to_vec()).unwrap();
    let mut pose = GnmPose::new(&pack);
    for (flag, stage) in [("--stage forward", Stage::Forward), ("--stage pose", Stage::Pose), ("", Stage::Pose)] {
        succeed(dir.path(), &format!("eval rig.aosrig --controls c.npy --device cpu {flag} -o v.npy"));
        let written = npy::read(&fs::read(dir.path().join("v.npy")).unwrap()).unwrap();
        assert_eq!(written.shape, [3, 447, 3]);
        let mut expected = Vec::new();
        for row in controls(387).chunks_exact(387) {
            pose.set_controls(&pack, row).unwrap();
            expected.extend(gnm_blend(&pack, &pose, stage).into_flattened());
        }
        assert_eq!(written.into_f32().unwrap(), expected, "{flag}");
    }
}

#[test]
fn eval_warns_of_unknown_joints_by_name_and_turns_the_others() {
    let dir = folder();
    succeed(dir.path(), "eval rig.aosrig --controls c.npy --device cpu -o rest.npy");
    let run = succeed(dir.path(), "eval rig.aosrig --controls c.npy --device cpu --overrides o.json -o turned.npy");
    assert!(run.stderr.contains("\"tail\"") && !run.stderr.contains("\"head\""), "{}", run.stderr);
    let read = |name: &str| fs::read(dir.path().join(name)).unwrap();
    assert_ne!(read("rest.npy"), read("turned.npy"));
}

#[test]
fn eval_with_a_list_of_overrides_turns_frame_by_frame() {
    let dir = folder();
    let each = r#"{"head": [[1, 0, 0, 0], [0.9, 0.1, 0.2, 0.3], [1, 0, 0, 0]]}"#;
    fs::write(dir.path().join("each.json"), each).unwrap();
    let frame = |overrides: &str, frame: usize| {
        succeed(dir.path(), &format!("eval rig.aosrig --controls c.npy --device cpu {overrides} -o v.npy"));
        let values = npy::read(&fs::read(dir.path().join("v.npy")).unwrap()).unwrap().into_f32().unwrap();
        values[frame * 447 * 3..][..447 * 3].to_vec()
    };
    for (index, same) in ["", "--overrides o.json", ""].into_iter().enumerate() {
        assert_eq!(frame("--overrides each.json", index), frame(same, index), "frame {index}");
    }
}

#[test]
fn eval_writes_unit_normals_of_the_written_vertices() {
    let dir = folder();
    succeed(dir.path(), "eval rig.aosrig --controls c.npy --device cpu --normals n.npy -o v.npy");
    let read = |name: &str| npy::read(&fs::read(dir.path().join(name)).unwrap()).unwrap();
    let (v, n) = (read("v.npy"), read("n.npy"));
    assert_eq!(n.shape, [3, 447, 3]);
    let (v, n) = (v.into_f32().unwrap(), n.into_f32().unwrap());
    let pack = GnmPack::read(tiny_pack().to_vec()).unwrap();
    let incidence = rigeval::normals::Incidence::new(pack.faces(), 447);
    let frame = &v.as_chunks::<3>().0[447..894];
    let expected = rigeval::normals::normals(frame, pack.faces(), &incidence).into_flattened();
    assert_eq!(n[447 * 3..894 * 3], expected);
}

#[test]
fn eval_of_a_model_takes_zeros_for_what_is_left_out_and_one_row_for_all_frames() {
    let dir = folder();
    fs::write(dir.path().join("t1.npy"), npy::write_f32(&[1, 3], &[0.5, 0.0, 0.0])).unwrap();
    let eval = |args: &str| {
        succeed(dir.path(), &format!("eval {MODEL} {args} -o v.npy"));
        let array = npy::read(&fs::read(dir.path().join("v.npy")).unwrap()).unwrap();
        (array.shape.clone(), array.into_f32().unwrap())
    };
    let (shape, neutral) = eval("");
    assert_eq!(shape, [1, 447, 3]);
    let (shape, moved) = eval("--expression e.npy --translation t1.npy --joints j.npy --normals n.npy");
    assert_eq!(shape, [3, 447, 3]);
    let (_, still) = eval("--expression e.npy");
    for (moved, still) in moved.as_chunks::<3>().0.iter().zip(still.as_chunks::<3>().0) {
        assert!((moved[0] - still[0] - 0.5).abs() < 1e-6 && moved[1] == still[1], "{moved:?} {still:?}");
    }
    assert_ne!(neutral, still[..447 * 3]);
    let joints = npy::read(&fs::read(dir.path().join("j.npy")).unwrap()).unwrap();
    assert_eq!(joints.shape, [3, 4, 4, 4]);
    assert_eq!(joints.into_f32().unwrap()[12..16], [0.0, 0.0, 0.0, 1.0]);
    let normals = npy::read(&fs::read(dir.path().join("n.npy")).unwrap()).unwrap();
    assert_eq!(normals.shape, [3, 447, 3]);
}

#[test]
fn eval_reports_as_json() {
    let dir = folder();
    let pack = json_of(dir.path(), "eval rig.aosrig --controls c.npy --device cpu -o v.npy --json");
    assert_eq!((&pack["device"], &pack["adapter"]), (&Value::from("cpu"), &Value::Null));
    assert_eq!((&pack["frames"], &pack["vertices"]), (&Value::from(3), &Value::from(447)));
    assert!(pack["ms_per_frame"].as_f64().unwrap() > 0.0);
    assert_eq!(pack.as_object().unwrap().len(), 5);
    let model = json_of(dir.path(), &format!("eval {MODEL} -o v.npy --json"));
    assert_eq!((&model["device"], &model["frames"]), (&Value::from("cpu"), &Value::from(1)));
}

#[test]
fn outputs_are_replaced_whole_and_a_failure_keeps_the_old_file() {
    let dir = folder();
    let path = dir.path().join("v.npy");
    fs::write(&path, "old").unwrap();
    assert_eq!(rigeval(dir.path(), "eval rig.aosrig --controls nan.npy --device cpu -o v.npy").code, 2);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    succeed(dir.path(), "eval rig.aosrig --controls c.npy --device cpu -o v.npy");
    assert!(fs::read(&path).unwrap().starts_with(b"\x93NUMPY"));
    let hidden = fs::read_dir(dir.path()).unwrap().filter(|e| {
        e.as_ref().unwrap().file_name().to_string_lossy().starts_with('.') //
    });
    assert_eq!(hidden.count(), 0, "a temporary file is left");
    assert_eq!(rigeval(dir.path(), "eval rig.aosrig --controls c.npy --device cpu -o sub.npy/../v.npy").code, 2);
    fs::create_dir(dir.path().join("taken.npy")).unwrap();
    let taken = rigeval(dir.path(), "eval rig.aosrig --controls c.npy --device cpu -o taken.npy");
    assert!(taken.code == 2 && taken.stderr.contains("that is a folder"), "{}", taken.stderr);
}

#[cfg(unix)]
#[test]
fn output_through_a_link_replaces_its_target_and_has_ordinary_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let dir = folder();
    fs::write(dir.path().join("sub/target.npy"), "old").unwrap();
    std::os::unix::fs::symlink("sub/target.npy", dir.path().join("v.npy")).unwrap();
    succeed(dir.path(), "eval rig.aosrig --controls c.npy --device cpu -o v.npy");
    assert!(dir.path().join("v.npy").is_symlink());
    let target = dir.path().join("sub/target.npy");
    assert!(fs::read(&target).unwrap().starts_with(b"\x93NUMPY"));
    // What any other program's new file gets under this umask.
    fs::write(dir.path().join("plain"), "").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
    assert_eq!(mode(&target), mode(&dir.path().join("plain")));
}

#[test]
fn reader_that_went_away_is_no_failure() {
    let dir = folder();
    for args in [vec!["info", "rig.aosrig"], vec!["eval", "--help"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let command = &mut Command::new(env!("CARGO_BIN_EXE_rigeval"));
        let run = finish(&command.current_dir(dir.path()).args(&args).stdout(writer).output().unwrap());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
    }
}

#[test]
fn info_names_what_it_finds() {
    let dir = folder();
    let pack = json_of(dir.path(), "info rig.aosrig --json");
    assert_eq!((&pack["kind"], &pack["units"]), (&Value::from("gnm"), &Value::from("m")));
    assert_eq!((&pack["vertices"], &pack["controls"]), (&Value::from(447), &Value::from(387)));
    assert_eq!(pack["regions"]["lower_face"], Value::from(150));
    assert_eq!(pack["joints"][1], serde_json::json!({"name": "head", "parent": "neck"}));
    assert_eq!(pack["bytes"], Value::from(tiny_pack().len()));
    assert_eq!(pack["checks"], Value::from("passed"));
    let model = json_of(dir.path(), &format!("info {MODEL} --json"));
    assert_eq!((&model["identity"], &model["expression"]), (&Value::from(253), &Value::from(383)));
    assert_eq!(model["correctives"], Value::from(true));
    let frames = json_of(dir.path(), &format!("info {FRAMES} --json"));
    assert_eq!((&frames["frames"], &frames["stage"]), (&Value::from(8), &Value::from("world")));
    assert!(succeed(dir.path(), "info rig.aosrig").stdout.contains("lower_face 150"));
}

#[test]
fn bake_reports_its_quantisation_error_and_repeats_itself() {
    let dir = tempfile::tempdir().unwrap();
    let mut errors = Vec::new();
    for basis in ["f16", "i8"] {
        let args = format!("bake gnm {MODEL} --basis {basis} -o head.aosrig --json");
        let report = json_of(dir.path(), &args);
        let first = fs::read(dir.path().join("head.aosrig")).unwrap();
        json_of(dir.path(), &args);
        assert_eq!(first, fs::read(dir.path().join("head.aosrig")).unwrap(), "{basis}");
        let max = report["basis_max_error"].as_f64().unwrap();
        assert!(report["basis_mean_error"].as_f64().unwrap() <= max && max < 1e-4, "{report}");
        errors.push(max);
    }
    assert!(errors[0] < errors[1], "f16 is finer than i8: {errors:?}");
    succeed(dir.path(), &format!("bake gnm {MODEL} --keep 64 --lean -o reduced.aosrig"));
    let info = json_of(dir.path(), "info reduced.aosrig --json");
    assert_eq!((&info["controls"], &info["triangles"]), (&Value::from(68), &Value::from(0)));
}

#[test]
fn web_containers_are_told_apart_and_the_one_with_joints_bakes() {
    let dir = folder();
    fs::write(dir.path().join("official.bin"), gnmw(false).write()).unwrap();
    fs::write(dir.path().join("xr.bin"), gnmw(true).write()).unwrap();
    assert_eq!(json_of(dir.path(), "info official.bin --json")["dialect"], Value::from("official"));
    let xr = json_of(dir.path(), "info xr.bin --json");
    assert_eq!((&xr["dialect"], &xr["joints"]), (&Value::from("xrblocks"), &Value::from(4)));
    let refused = rigeval(dir.path(), "bake gnm official.bin -o head.aosrig");
    assert!(refused.code == 2 && refused.stderr.contains("joints and skinning weights"), "{}", refused.stderr);
    let refused = rigeval(dir.path(), "eval xr.bin --controls c.npy -o v.npy");
    assert!(refused.code == 2 && refused.stderr.contains("bake it first"), "{}", refused.stderr);

    succeed(dir.path(), "bake gnm xr.bin -o xr.aosrig");
    let vertices = |rig: &str| {
        succeed(dir.path(), &format!("eval {rig} --controls c.npy --device cpu -o v.npy"));
        npy::read(&fs::read(dir.path().join("v.npy")).unwrap()).unwrap().into_f32().unwrap()
    };
    let (from_web, from_npz) = (vertices("xr.aosrig"), vertices("rig.aosrig"));
    let worst = from_web.iter().zip(&from_npz).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    // 383 int8 rows at controls of up to a third: 1.2e-5 m on this head.
    assert!(worst > 0.0 && worst < 5e-5, "off by {worst}");
}

#[test]
fn baked_head_is_packed_with_its_body_and_stands_on_it() {
    let dir = folder();
    let arrays = json_of(dir.path(), "info baked.npz --json")["arrays"].clone();
    assert_eq!(arrays["basis"], serde_json::json!({"dtype": "<f4", "shape": [64, 3, 3]}));
    succeed(dir.path(), "bake gnm baked.npz --body body -o head.aosrig");
    let info = json_of(dir.path(), "info head.aosrig --json");
    let joints = serde_json::json!([{"name": "root", "parent": null}, {"name": "head", "parent": "root"}]);
    assert_eq!((&info["controls"], &info["joints"]), (&Value::from(68), &joints));
    let mut controls = [0.0; 68];
    controls[5] = 2.0;
    fs::write(dir.path().join("one.npy"), npy::write_f32(&[1, 68], &controls)).unwrap();
    succeed(dir.path(), "eval head.aosrig --controls one.npy --device cpu -o v.npy");
    let vertices = npy::read(&fs::read(dir.path().join("v.npy")).unwrap()).unwrap().into_f32().unwrap();
    // Neutral, two millimetres of the coefficient, then the attachment and the head joint of the body.
    let expected = [0.002, 1.75, 0.0, 0.102, 1.75, 0.0, 0.002, 1.85, 0.0];
    for (got, want) in vertices.iter().zip(expected) {
        assert!((got - want).abs() < 1e-6, "{vertices:?}");
    }
}

#[test]
fn sample_writes_a_model_that_bakes_and_a_pack_that_evaluates() {
    let dir = tempfile::tempdir().unwrap();
    succeed(dir.path(), "sample gnm --lean -o head.npz");
    succeed(dir.path(), "bake gnm head.npz -o baked.aosrig");
    succeed(dir.path(), "sample gnm --basis i8 -o head.aosrig");
    let baked = json_of(dir.path(), "info baked.aosrig --json");
    let sampled = json_of(dir.path(), "info head.aosrig --json");
    assert_eq!(baked["vertices"], sampled["vertices"]);
    assert_eq!((&baked["basis"], &sampled["basis"]), (&Value::from("f16"), &Value::from("i8")));
}

#[test]
fn demo_writes_frames_that_check() {
    let dir = tempfile::tempdir().unwrap();
    let report = json_of(dir.path(), "demo --frames 6 --device cpu --out shown --json");
    assert_eq!((&report["device"], &report["frames"]), (&Value::from("cpu"), &Value::from(6)));
    assert_eq!(report["vertices"], Value::from(17821));
    assert!(report["vertices_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(report["pass"], Value::from(true));
    assert_eq!(report["gltf"]["vertices"], Value::from(17821));
    let page = fs::read_to_string(dir.path().join("shown/index.html")).unwrap();
    let plot = fs::read_to_string(dir.path().join("shown/times.svg")).unwrap();
    assert!(plot.contains("one frame, milliseconds") && plot.contains("<polyline"), "{plot}");
    for file in report["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()) {
        assert!(dir.path().join("shown").join(file).exists(), "{file}");
        let is_picture = file.ends_with(".png") || file.ends_with(".svg");
        assert!(!is_picture || page.contains(&format!("<img src=\"{file}\"")), "{file} is not on the page");
    }
    if has_gpu(folder().path()) {
        for picture in ["sheet.png", "error_map.png", "gltf_sheet.png"] {
            let bytes = fs::read(dir.path().join("shown").join(picture)).unwrap();
            assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000, "{picture}: {} bytes", bytes.len());
        }
    }
    let second = "--controls shown/gltf_controls.npy --overrides shown/gltf_overrides.json --device cpu";
    succeed(dir.path(), &format!("eval shown/head.glb {second} -o again.npy"));
    let [again, shown] = ["again.npy", "shown/gltf_vertices.npy"].map(|f| fs::read(dir.path().join(f)).unwrap());
    assert_eq!(again, shown, "the files of the second character give its vertices");
    let moved: Vec<f64> = npy::read(&shown).unwrap().into_f64().unwrap();
    let (first, last) = (&moved[..17821 * 3], &moved[5 * 17821 * 3..]);
    assert!(first.iter().zip(last).any(|(a, b)| (a - b).abs() > 1e-4), "it performs");
    let text = succeed(dir.path(), "check shown/head.aosrig --frames shown --device cpu").stdout;
    assert!(text.contains("6 frames of 17821 vertices") && text.contains("rigeval gnm formula"), "{text}");
}

/// Whether `--device gpu` works here; without an adapter the tests that need it say SKIP, or fail where one is required.
fn has_gpu(dir: &Path) -> bool {
    let run = rigeval(dir, "eval rig.aosrig --controls c.npy --device gpu -o probe.npy");
    if run.code == 0 {
        return true;
    }
    assert!(run.code == 2 && run.stderr.contains("no GPU adapter"), "{}", run.stderr);
    assert!(std::env::var_os("RIGEVAL_REQUIRE_GPU").is_none_or(|v| v != "1"), "no adapter, and one is required");
    eprintln!("SKIP: no GPU adapter");
    false
}

#[test]
fn eval_on_the_gpu_agrees_with_the_cpu() {
    let dir = folder();
    if !has_gpu(dir.path()) {
        return;
    }
    // Nine frames: one full batch and the beginning of another.
    let controls = controls(387).repeat(3);
    fs::write(dir.path().join("c9.npy"), npy::write_f32(&[9, 387], &controls)).unwrap();
    for flags in ["", "--stage forward", "--overrides o.json", "--normals NORMALS.npy"] {
        let [gpu, cpu] = ["gpu", "cpu"].map(|device| {
            let flags = flags.replace("NORMALS", device);
            let args = format!("eval rig.aosrig --controls c9.npy --device {device} {flags} -o v.npy --json");
            let report = json_of(dir.path(), &args);
            assert_eq!(report["device"], Value::from(device));
            assert_eq!(report["adapter"].is_string(), device == "gpu");
            let name = if flags.contains("normals") { format!("{device}.npy") } else { "v.npy".to_string() };
            npy::read(&fs::read(dir.path().join(name)).unwrap()).unwrap()
        });
        assert_eq!((&gpu.shape, &cpu.shape), (&vec![9, 447, 3], &vec![9, 447, 3]));
        // A normal is a ratio of small differences: it loses what the positions of a 5 mm triangle keep.
        let tolerance = if flags.contains("normals") { 1e-3 } else { 1e-6 };
        let (gpu, cpu) = (gpu.into_f32().unwrap(), cpu.into_f32().unwrap());
        let worst = gpu.iter().zip(&cpu).map(|(g, c)| (g - c).abs()).fold(0.0, f32::max);
        assert!(worst <= tolerance && gpu.iter().all(|x| x.is_finite()), "{flags}: off by {worst}");
    }
}
