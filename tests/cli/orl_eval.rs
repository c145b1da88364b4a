//! MetaHuman rigs: controls to vertices, and vertices against frames.

use super::orl::{ORL, array, folder};
use super::{json_of, rigeval, succeed};
use rigeval::frames::sha256_hex;
use rigeval::npy;
use rigeval::orl::container::Container;
use rigeval::orl::pack::OrlPack;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const FRAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl_tiny_frames");
const RAW_VERTICES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl/tiny.raw.verts_mesh0.npy");

/// The committed frames, changed.
fn frames(change: impl FnOnce(&mut Value, &Path)) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["frames.json", "controls.npy", "vertices.npy"] {
        fs::copy(Path::new(FRAMES).join(name), dir.path().join(name)).unwrap();
    }
    let mut manifest: Value = serde_json::from_slice(&fs::read(dir.path().join("frames.json")).unwrap()).unwrap();
    change(&mut manifest, dir.path());
    fs::write(dir.path().join("frames.json"), manifest.to_string()).unwrap();
    dir
}

/// The largest difference over the frames' own size.
fn off(dir: &Path, got: &str, expected: &str) -> f32 {
    let [got, expected] = [got, expected].map(|name| array(dir, name));
    assert_eq!(got.shape, expected.shape);
    let width = got.shape[1] * 3;
    let (got, expected) = (got.into_f32().unwrap(), expected.into_f32().unwrap());
    let of_frame = |(g, e): (&[f32], &[f32])| {
        let size = e.iter().fold(1.0f32, |size, x| size.max(x.abs()));
        let error = g.iter().zip(e).map(|(g, e)| (g - e).abs()).fold(0.0, f32::max);
        assert!(g.iter().all(|x| x.is_finite()));
        error / size
    };
    got.chunks_exact(width).zip(expected.chunks_exact(width)).map(of_frame).fold(0.0, f32::max)
}

#[test]
fn bad_input_to_orl_eval_and_check_gives_one_line_and_exit_2() {
    let dir = folder();
    succeed(dir.path(), "bake orl tiny.dna -o rig.orlpack");
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/packs/gnm_sample.aosrig"), dir.path().join("head.aosrig")).unwrap();
    let pack = fs::read(dir.path().join("rig.orlpack")).unwrap();
    fs::write(dir.path().join("cut.orlpack"), &pack[..pack.len() - 1]).unwrap();
    let members = OrlPack::read(pack).unwrap();
    let members = members.file().members().map(|(n, data)| (n, if n.ends_with(".dna") { &[][..] } else { data }));
    fs::write(dir.path().join("bare.orlpack"), Container::build(members).unwrap().write()).unwrap();
    let findings = json_of(dir.path(), "info bare.orlpack --json")["findings"].clone();
    assert!(findings[0].as_str().unwrap().starts_with("no DNA inside"), "{findings}");
    fs::write(dir.path().join("twice.json"), r#"{"JNT_001": [1, 0, 0, 0], "JNT_001": [1, 0, 0, 0]}"#).unwrap();
    fs::write(dir.path().join("zero.json"), r#"{"JNT_001": [0, 0, 0, 0]}"#).unwrap();
    fs::write(dir.path().join("huge.npy"), npy::write_f32(&[1, 8], &[3e38; 8])).unwrap();
    fs::write(dir.path().join("v.npy"), "old").unwrap();
    let eval = [
        ("tiny.dna", "give the DNA its --controls"),
        ("rig.orlpack", "give the pack its --controls"),
        ("tiny.dna --controls tiny_gui.npy --mesh 1", "tiny.dna: mesh 1: the rig has 0 \"mesh0_lod0\""),
        ("tiny.dna --controls tiny_gui.npy --lod 2", "tiny.dna: lod 2: the rig has levels 0 to 1"),
        ("tiny.dna --controls tiny_raw.npy", "8 is the number of raw controls: give --raw"),
        ("rig.orlpack --controls tiny_gui.npy --raw", "6 is the number of GUI controls: leave --raw out"),
        ("tiny.dna --controls nan.npy", "nan.npy: controls[1, 1]: expected a finite number, got NaN"),
        ("tiny.dna --controls huge.npy --raw", "frame 0: "),
        ("tiny.dna --controls tiny_gui.npy --stage forward", "--stage forward belongs to a GNM pack"),
        ("tiny.dna --controls tiny_gui.npy --identity tiny_gui.npy", "--identity belongs to a model"),
        ("tiny.dna --controls tiny_gui.npy --overrides twice.json", "joint \"JNT_001\""),
        ("tiny.dna --controls tiny_gui.npy --overrides zero.json", "zero.json: frame 0: "),
        ("tiny.dna --controls tiny_gui.npy --normals ./v.npy", "--output and --normals name the same file"),
        ("rig.orlpack --controls tiny_gui.npy --mesh 0", "--mesh belongs to a DNA"),
        ("rig.orlpack --controls tiny_gui.npy --lod 0", "--lod belongs to a DNA"),
        ("head.aosrig --controls tiny_gui.npy --raw", "--raw belongs to a MetaHuman rig"),
        ("head.aosrig --controls tiny_gui.npy --mesh 0", "--mesh belongs to a MetaHuman rig"),
        ("MODEL --lod 0", "--lod belongs to a MetaHuman rig"),
        ("cut.dna --controls tiny_gui.npy", "cut.dna: "),
        ("cut.orlpack --controls tiny_gui.npy", "cut.orlpack: "),
        ("bare.orlpack --controls tiny_gui.npy", "bare.orlpack: "),
    ];
    let mut cases: Vec<(String, &str)> =
        eval.map(|(args, part)| (format!("eval {args} -o v.npy").replace("MODEL", super::MODEL), part)).into();
    let changed = [
        frames(|m, _| m["units"] = json!("m")),
        frames(|m, _| m["stage"] = json!("forward")),
        frames(|m, _| m["mesh"] = json!(3)),
        frames(|m, _| m["lod"] = json!(7)),
        frames(|m, _| m["kind"] = json!("gnm")),
        frames(|m, _| m["inputs"] = json!({})),
        frames(|m, _| m["inputs"]["raw"] = json!("controls.npy")),
        frames(|m, _| m["inputs"] = json!({"raw": "controls.npy"})),
        frames(|m, _| m["rig_sha256"] = json!("0".repeat(64))),
    ];
    let parts = [
        "units m: the rig's are cm",
        "\"pose\"",
        "mesh 3: the rig has 0 \"mesh0_lod0\"",
        "lod 7: the rig has levels 0 to 1",
        "frames of kind gnm: the rig is of kind orl",
        "no controls",
        "controls and raw",
        "raw: expected shape (frames, 8), got shape [20, 6]; 6 is the number of GUI controls",
        "rig_sha256",
    ];
    for (frames, part) in changed.iter().zip(parts) {
        cases.push((format!("check tiny.dna --frames {}", frames.path().display()), part));
    }
    succeed(dir.path(), "bake orl tiny.dna --lod 1 -o level1.orlpack");
    cases.push((format!("check level1.orlpack --frames {FRAMES}"), "lod 0: the pack holds lod 1"));
    cases
        .push((format!("check rig.orlpack --frames {}", changed[2].path().display()), "mesh 3: the pack holds mesh 0"));
    cases.push((format!("check rig.orlpack --frames {}", changed[8].path().display()), "rig_sha256"));
    cases.push((format!("check ml_ext.dna --frames {FRAMES}"), "rig_sha256"));
    cases.push((format!("check tiny.dna --frames {FRAMES} --lod 1"), "--lod 1: the frames are those of lod 0"));
    cases.push((format!("check rig.orlpack --frames {FRAMES} --mesh 0"), "--mesh belongs to a DNA"));
    cases.push((format!("check {} --frames {} --lod 0", super::MODEL, super::FRAMES), "--lod belongs to a DNA"));
    for (args, part) in cases {
        let run = rigeval(dir.path(), &args);
        assert_eq!(run.code, 2, "rigeval {args}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(part), "rigeval {args}: {}", run.stderr);
        assert_eq!(run.stderr.trim_end().lines().count(), 1, "rigeval {args}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: ") && run.stdout.is_empty(), "rigeval {args}: {}", run.stderr);
    }
    assert_eq!(fs::read(dir.path().join("v.npy")).unwrap(), b"old");
}

#[test]
fn eval_of_a_dna_gives_the_handed_vertices_from_either_layer() {
    let dir = folder();
    fs::copy(Path::new(FRAMES).join("vertices.npy"), dir.path().join("gui_expected.npy")).unwrap();
    fs::copy(RAW_VERTICES, dir.path().join("raw_expected.npy")).unwrap();
    for (layer, flag) in [("gui", ""), ("raw", "--raw")] {
        let args = format!("eval tiny.dna --controls tiny_{layer}.npy {flag} --device cpu -o v.npy --json");
        let report = json_of(dir.path(), &args);
        assert_eq!((&report["frames"], &report["vertices"]), (&json!(20), &json!(60)));
        assert_eq!((&report["device"], report.as_object().unwrap().len()), (&json!("cpu"), 5));
        assert!(off(dir.path(), "v.npy", &format!("{layer}_expected.npy")) <= 1e-5, "{layer}");
    }
    // Level 1 moves fewer joints and no blend shape.
    succeed(dir.path(), "eval tiny.dna --controls tiny_gui.npy --lod 1 --device cpu -o coarse.npy");
    assert!(off(dir.path(), "coarse.npy", "gui_expected.npy") > 1e-3);
}

#[test]
fn eval_of_a_pack_is_near_its_dna_and_overrides_turn_both() {
    let dir = folder();
    succeed(dir.path(), "bake orl tiny.dna -o rig.orlpack");
    fs::write(dir.path().join("o.json"), r#"{"JNT_002": [0.9, 0.1, 0.2, 0.3], "tail": [1, 0, 0, 0]}"#).unwrap();
    for (layer, flag) in [("gui", ""), ("raw", "--raw")] {
        let eval = |rig: &str, more: &str, to: &str| {
            let args = format!("eval {rig} --controls tiny_{layer}.npy {flag} {more} --device cpu -o {to}.npy");
            succeed(dir.path(), &args)
        };
        eval("tiny.dna", "", "dna");
        eval("rig.orlpack", "", "pack");
        let rounding = off(dir.path(), "pack.npy", "dna.npy");
        assert!(rounding > 0.0 && rounding < 2e-3, "{layer}: {rounding}");
        let run = eval("tiny.dna", "--overrides o.json", "dna_turned");
        assert!(run.stderr.contains("\"tail\"") && !run.stderr.contains("\"JNT_002\""), "{}", run.stderr);
        eval("rig.orlpack", "--overrides o.json --normals n.npy", "pack_turned");
        assert!(off(dir.path(), "dna_turned.npy", "dna.npy") > 1e-2, "{layer}");
        assert!(off(dir.path(), "pack_turned.npy", "dna_turned.npy") < 2e-3, "{layer}");
        let normals = array(dir.path(), "n.npy");
        assert_eq!(normals.shape, [20, 60, 3]);
        let lengths = normals.into_f32().unwrap();
        let lengths = lengths.as_chunks::<3>().0.iter().map(|n| n.iter().map(|x| x * x).sum::<f32>());
        assert!(lengths.clone().all(|l| l == 0.0 || (l - 1.0).abs() < 1e-4) && lengths.sum::<f32>() > 100.0);
    }
}

#[test]
fn check_of_the_committed_orl_frames_passes() {
    let dir = folder();
    let text = succeed(dir.path(), &format!("check tiny.dna --frames {FRAMES} --device cpu")).stdout;
    for part in ["20 frames of 60 vertices", "OpenRigLogic", " cm (", " um)", "pass"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let report = json_of(dir.path(), &format!("check tiny.dna --frames {FRAMES} --device cpu --json"));
    assert_eq!((&report["pass"], &report["unit"]), (&json!(true), &json!("cm")));
    assert!(report["max"].as_f64().unwrap() < 1e-5 && report.get("rounding").is_none(), "{report}");

    let raw = frames(|manifest, dir| {
        manifest["inputs"] = json!({"raw": "raw.npy"});
        manifest.as_object_mut().unwrap().retain(|key, _| key != "mesh" && key != "lod");
        fs::copy(Path::new(ORL).join("tiny.in.raw.npy"), dir.join("raw.npy")).unwrap();
        fs::copy(RAW_VERTICES, dir.join("vertices.npy")).unwrap();
    });
    for (flags, code) in [("", 0), ("--mesh 0 --lod 0", 0), ("--lod 1", 1)] {
        let args = format!("check tiny.dna --frames {} --device cpu {flags}", raw.path().display());
        assert_eq!(rigeval(dir.path(), &args).code, code, "{flags}");
    }
    let info = json_of(dir.path(), &format!("info {FRAMES} --json"));
    assert_eq!((&info["kind"], &info["mesh"], &info["lod"]), (&json!("orl"), &json!(0), &json!(0)));
}

#[test]
fn check_of_a_pack_allows_the_rounding_of_its_deltas_and_no_more() {
    let dir = folder();
    succeed(dir.path(), "bake orl tiny.dna -o rig.orlpack");
    let check = |frames: &str| {
        let run = rigeval(dir.path(), &format!("check rig.orlpack --frames {frames} --device cpu --json"));
        (run.code, serde_json::from_str::<Value>(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.stderr)))
    };
    let (code, report) = check(FRAMES);
    assert_eq!((code, &report["pass"]), (0, &json!(true)), "{report}");
    let (max, used) = (report["rounding"]["max"].as_f64().unwrap(), report["rounding"]["used"].as_f64().unwrap());
    assert!(report["max"].as_f64().unwrap() > 1e-4 && max < 0.02, "{report}");
    assert!(used > 0.2 && used <= 1.0, "{report}");

    // Frame 0 is the rest pose: no weight, so nothing is allowed for rounding. A vertex that is moved by little is found there.
    let moved = frames(|_, dir| {
        let path = dir.join("vertices.npy");
        let array = npy::read(&fs::read(&path).unwrap()).unwrap();
        let (shape, mut values) = (array.shape.clone(), array.into_f32().unwrap());
        values[17 * 3 + 1] += 2e-4;
        fs::write(path, npy::write_f32(&shape, &values)).unwrap();
    });
    let (code, report) = check(&moved.path().display().to_string());
    assert_eq!((code, &report["failed_frames"]), (1, &json!(1)), "{report}");
    assert!(report["rounding"]["used"].as_f64().unwrap() > 1.0, "{report}");

    // Frames of the pack itself were computed from the very same deltas.
    succeed(dir.path(), "eval rig.orlpack --controls tiny_gui.npy --device cpu -o vertices.npy");
    let own = frames(|manifest, to| {
        manifest["rig_sha256"] = json!(sha256_hex(&fs::read(dir.path().join("rig.orlpack")).unwrap()));
        fs::copy(dir.path().join("vertices.npy"), to.join("vertices.npy")).unwrap();
    });
    let (code, report) = check(&own.path().display().to_string());
    assert!(code == 0 && report.get("rounding").is_none() && report["max"] == json!(0.0), "{report}");
}

#[test]
fn orl_on_the_gpu_agrees_with_the_cpu_and_with_the_frames() {
    if !super::has_gpu(super::fixtures::folder().path()) {
        return;
    }
    let dir = folder();
    succeed(dir.path(), "bake orl tiny.dna -o rig.orlpack");
    fs::write(dir.path().join("o.json"), r#"{"JNT_002": [0.9, 0.1, 0.2, 0.3]}"#).unwrap();
    // Twenty frames: two full batches and the beginning of another.
    for (flags, layer) in [("", "gui"), ("--raw", "raw"), ("--overrides o.json", "gui"), ("--normals N.npy", "gui")] {
        for device in ["cpu", "gpu"] {
            let flags = flags.replace('N', &format!("n_{device}"));
            let args =
                format!("eval rig.orlpack --controls tiny_{layer}.npy --device {device} {flags} -o {device}.npy");
            let report = json_of(dir.path(), &format!("{args} --json"));
            assert_eq!((&report["device"], report["adapter"].is_string()), (&json!(device), device == "gpu"));
        }
        let worst = off(dir.path(), "gpu.npy", "cpu.npy");
        // A hundred-thousandth of a centimetre at these sizes: the deltas are the same, the sums are f32.
        assert!(worst <= 2e-6, "{flags}: {worst}");
    }
    // A normal is a ratio of small differences.
    assert!(off(dir.path(), "n_gpu.npy", "n_cpu.npy") <= 1e-3);
    let report = json_of(dir.path(), &format!("check tiny.dna --frames {FRAMES} --device gpu --json"));
    assert_eq!(report["pass"], json!(true), "{report}");
    let (max, used) = (report["rounding"]["max"].as_f64().unwrap(), report["rounding"]["used"].as_f64().unwrap());
    assert!(max > 0.0 && max < 1e-4 && used <= 1.0, "{report}");
}

#[test]
fn handed_vertices_are_reproduced_from_dna_and_pack() {
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/orl"));
    if !data.is_dir() {
        eprintln!("SKIP handed_vertices_are_reproduced_from_dna_and_pack: no folder {}", data.display());
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let rigs = [("face_small", "gui", 0), ("face_small", "raw", 1), ("rbf_quat", "raw", 0), ("twist", "raw", 0)];
    for (rig, layer, mesh) in rigs {
        let file = |suffix: String| data.join(format!("{rig}.{suffix}")).display().to_string();
        let flag = if layer == "raw" { "--raw" } else { "" };
        let (dna, controls) = (file("dna".into()), file(format!("in.{layer}.npy")));
        fs::copy(file(format!("{layer}.verts_mesh{mesh}.npy")), dir.path().join("expected.npy")).unwrap();
        let eval = format!("--controls {controls} {flag} --device cpu -o v.npy");
        succeed(dir.path(), &format!("eval {dna} --mesh {mesh} {eval}"));
        let exact = off(dir.path(), "v.npy", "expected.npy");
        assert!(exact <= 1e-5, "{rig} {layer} mesh {mesh}: {exact}");
        succeed(dir.path(), &format!("bake orl {dna} --mesh {mesh} -o rig.orlpack"));
        succeed(dir.path(), &format!("eval rig.orlpack {eval}"));
        let rounded = off(dir.path(), "v.npy", "expected.npy");
        // A byte is off by up to 1/254 of its target's largest delta, and deltas are a part of a head's size.
        assert!(rounded > 0.0 && rounded < 2e-3, "{rig} {layer} mesh {mesh}: {rounded}");
    }
}
