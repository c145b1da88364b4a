//! MetaHuman rigs: DNA files, their evaluation, ORL packs.

use super::{json_of, rigeval, succeed};
use rigeval::npy::{self, Array};
use rigeval::orl::dna::Dna;
use rigeval::orl::pack::OrlPack;
use rigeval::orl::riglogic::{RigLogic, RigState, RotationOutput};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

pub const ORL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl");

/// A folder with small rigs and their inputs, and some that are wrong.
pub fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for rig in ["tiny.dna", "tiny_v21.dna", "tiny_future_layer.dna", "ml_ext.dna"] {
        fs::copy(Path::new(ORL).join(rig), dir.path().join(rig)).unwrap();
    }
    for input in ["tiny.in.gui", "tiny.in.raw", "ml_ext.in.raw", "ml_ext.in.masks"] {
        let to = format!("{}.npy", input.replace(".in.", "_"));
        fs::copy(Path::new(ORL).join(format!("{input}.npy")), dir.path().join(to)).unwrap();
    }
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    let dna = fs::read(dir.path().join("tiny.dna")).unwrap();
    write("cut.dna", &dna[..dna.len() - 9]);
    write("old.dna", &[b"DNA".as_slice(), &[0, 1, 0, 0]].concat());
    write("lfs.dna", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    write("text.dna", b"hello");
    let mut nan = vec![0.0f32; 12];
    nan[7] = f32::NAN;
    write("nan.npy", &npy::write_f32(&[2, 6], &nan));
    write("far.npy", &npy::write_f64(&[1, 6], &[1e300; 6]));
    write("short_masks.npy", &npy::write_f32(&[3, 2], &[1.0; 6]));
    dir
}

pub fn array(dir: &Path, name: &str) -> Array {
    npy::read(&fs::read(dir.join(name)).unwrap()).unwrap()
}

#[test]
fn bad_input_gives_one_line_and_exit_2_and_keeps_what_was_there() {
    let dir = folder();
    fs::create_dir(dir.path().join("out")).unwrap();
    for name in ["out/raw.npy", "out/am.npy", "old.orlpack"] {
        fs::write(dir.path().join(name), "old").unwrap();
    }
    let cases = [
        // riglogic
        ("riglogic tiny.dna -o out", "--gui"),
        ("riglogic tiny.dna --gui tiny_gui.npy --raw tiny_raw.npy -o out", "cannot be used with"),
        ("riglogic tiny.dna --gui tiny_raw.npy -o out", "tiny_raw.npy: GUI controls: expected shape (frames, 6)"),
        ("riglogic tiny.dna --raw tiny_gui.npy -o out", "tiny_gui.npy: raw controls: expected shape (frames, 8)"),
        ("riglogic tiny.dna --gui nan.npy -o out", "nan.npy: GUI controls[1, 1]: expected a finite number, got NaN"),
        (
            "riglogic tiny.dna --gui far.npy -o out",
            "far.npy: GUI controls[0, 0]: expected a number in the range of f32",
        ),
        ("riglogic tiny.dna --gui none.npy -o out", "none.npy"),
        ("riglogic tiny.dna --gui tiny_gui.npy --masks ml_ext_masks.npy -o out", "masks: expected shape (frames, 0)"),
        (
            "riglogic ml_ext.dna --raw ml_ext_raw.npy --masks short_masks.npy -o out",
            "expected 20 frames as in the controls",
        ),
        ("riglogic tiny.dna --gui tiny_gui.npy -o none/out", "cannot make this folder"),
        ("riglogic tiny.dna --gui tiny_gui.npy -o tiny.dna", "cannot make this folder"),
        ("riglogic tiny.dna --raw out/raw.npy -o out", "out/raw.npy"),
        ("riglogic cut.dna --gui tiny_gui.npy -o out", "cut.dna: "),
        ("riglogic old.dna --gui tiny_gui.npy -o out", "old.dna: file version: expected 2.1 to 2.8"),
        ("riglogic lfs.dna --gui tiny_gui.npy -o out", "Git-LFS pointer"),
        ("riglogic text.dna --gui tiny_gui.npy -o out", "expected a file that starts with \"DNA\""),
        // bake
        ("bake orl tiny.dna --mesh 1 -o old.orlpack", "tiny.dna: mesh: expected a mesh below 1, got 1"),
        ("bake orl tiny.dna --lod 2 -o old.orlpack", "tiny.dna: lod: expected a level below 2, got 2"),
        ("bake orl tiny.dna --mesh -1 -o old.orlpack", "-1"),
        ("bake orl tiny.dna -o head.aosrig", "ends in .orlpack or .bin"),
        ("bake orl tiny.dna -o tiny.dna", "name the same file"),
        ("bake orl cut.dna -o old.orlpack", "cut.dna: "),
        ("bake orl lfs.dna -o old.orlpack", "Git-LFS pointer"),
        ("bake orl nan.npy -o old.orlpack", "a bare .npy array"),
        ("bake gnm tiny.dna -o head.aosrig", "rigeval bake orl tiny.dna"),
        // info
        ("info cut.dna", "cut.dna: "),
        ("info old.dna", "2.1 to 2.8"),
        ("info lfs.dna", "Git-LFS pointer"),
    ];
    for (args, part) in cases {
        let run = rigeval(dir.path(), args);
        assert_eq!(run.code, 2, "rigeval {args}: {}", run.stderr);
        assert!(run.stderr.contains(part), "rigeval {args}: {}", run.stderr);
        assert_eq!(run.stderr.trim_end().lines().count(), 1, "rigeval {args}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: ") && run.stdout.is_empty(), "rigeval {args}: {}", run.stderr);
    }
    for name in ["out/raw.npy", "out/am.npy", "old.orlpack"] {
        assert_eq!(fs::read(dir.path().join(name)).unwrap(), b"old", "{name}");
    }
    assert_eq!(fs::read_dir(dir.path().join("out")).unwrap().count(), 2, "a failed run left files");
}

#[test]
fn riglogic_writes_every_stage_as_the_library_computes_it() {
    let dir = folder();
    let report = json_of(dir.path(), "riglogic tiny.dna --gui tiny_gui.npy -o euler --json");
    assert_eq!((&report["levels"], &report["frames"], &report["joints"]), (&json!(2), &json!(20), &json!(4)));
    assert!(report["us_per_evaluation"].as_f64().unwrap() > 0.0);
    let text = succeed(dir.path(), "riglogic tiny.dna --gui tiny_gui.npy --rotation quat -o quat").stdout;
    assert!(text.contains("20 frames at 2 levels of detail") && text.contains("joints.npy"), "{text}");

    let dna = Dna::read(&fs::read(dir.path().join("tiny.dna")).unwrap()).unwrap();
    let gui = array(dir.path(), "tiny_gui.npy").into_f32().unwrap();
    for (folder, rotation) in [("euler", RotationOutput::Euler), ("quat", RotationOutput::Quaternion)] {
        let folder = dir.path().join(folder);
        let rig = RigLogic::new(&dna, rotation).unwrap();
        let mut state = RigState::new(&rig);
        let joints = array(&folder, "joints.npy");
        assert_eq!(joints.shape, [2, 20, 4, rotation.width()]);
        let joints = joints.into_f32().unwrap();
        for (part, rest) in [("raw", 8), ("psd", 2), ("ml", 0), ("rbf", 0), ("bs", 3), ("am", 2)] {
            assert_eq!(array(&folder, &format!("{part}.npy")).shape, [2, 20, rest], "{part}");
        }
        let weights = array(&folder, "bs.npy").into_f32().unwrap();
        let width = 4 * rotation.width();
        for (row, lod) in (0..40).zip([0; 20].into_iter().chain([1; 20])) {
            rig.set_gui(&mut state, &gui[row % 20 * 6..][..6]).unwrap();
            rig.evaluate(&mut state, lod);
            assert_eq!(joints[row * width..][..width], *state.joints(), "row {row}");
            assert_eq!(weights[row * 3..][..3], *state.blend_shapes(), "row {row}");
        }
    }
}

#[test]
fn riglogic_masks_switch_regions_off() {
    let dir = folder();
    let ml = |masks: &str| {
        succeed(dir.path(), &format!("riglogic ml_ext.dna --raw ml_ext_raw.npy {masks} -o out"));
        array(&dir.path().join("out"), "ml.npy").into_f32().unwrap()
    };
    let open = ml("");
    fs::write(dir.path().join("off.npy"), npy::write_f32(&[20, 2], &[0.0; 40])).unwrap();
    let (handed, closed) = (ml("--masks ml_ext_masks.npy"), ml("--masks off.npy"));
    assert!(open != handed && open != closed && handed != closed);
    let expected = npy::read(&fs::read(Path::new(ORL).join("ml_ext.raw.ml.npy")).unwrap()).unwrap().into_f32().unwrap();
    let worst = handed.iter().zip(&expected).map(|(a, b)| (a - b).abs() / b.abs().max(1.0)).fold(0.0, f32::max);
    assert!(worst <= 1e-5, "off by {worst}");
}

#[test]
fn bake_orl_reports_its_cost_and_repeats_itself() {
    let dir = folder();
    let report = json_of(dir.path(), "bake orl tiny.dna -o head.orlpack --json");
    let first = fs::read(dir.path().join("head.orlpack")).unwrap();
    let pack = OrlPack::read(first.clone()).unwrap();
    assert_eq!((&report["vertices"], &report["joints"]), (&json!(60), &json!(4)));
    assert_eq!(report["deltas"], json!(pack.deltas().len()));
    assert_eq!(report["bytes"], json!(first.len()));
    let (max, mean) = (report["max_error_um"].as_f64().unwrap(), report["mean_error_um"].as_f64().unwrap());
    assert!(0.0 < mean && mean < max && max < 500.0, "{report}");
    let text = succeed(dir.path(), "bake orl tiny.dna --mesh 0 --lod 1 -o orl_pack.bin").stdout;
    assert!(text.contains("level 1") && text.contains(&format!("max {max:.3} um")), "{text}");
    succeed(dir.path(), "bake orl tiny.dna -o head.orlpack");
    assert_eq!(fs::read(dir.path().join("head.orlpack")).unwrap(), first);
}

#[test]
fn info_of_a_dna_names_layers_levels_and_undriven_controls() {
    let dir = folder();
    let info = json_of(dir.path(), "info tiny.dna --json");
    assert_eq!((&info["kind"], &info["format"]), (&json!("orl"), &json!("DNA file version 2.8")));
    assert_eq!((&info["units"], &info["axes"]), (&json!("cm"), &json!(["right", "up", "front"])));
    assert_eq!(info["controls"], json!({"gui": 6, "raw": 8, "psd": 2, "ml": 0, "rbf": 0}));
    assert_eq!(info["layers"][2]["id"], json!("bhvr"));
    assert_eq!(info["layers"].as_array().unwrap().len(), 11);
    assert_eq!(info["lods"][1]["multiply_adds"], json!(25));
    assert_eq!(info["lods"][1]["moved_joints"], json!(1));
    assert_eq!(info["meshes"][0]["vertices"], json!(60));
    assert_eq!(info["joints"][1], json!({"name": "JNT_001", "parent": "JNT_000"}));
    assert_eq!((&info["findings"], &info["undriven_raw_controls"]), (&json!([]), &json!([])));

    let undriven = json_of(dir.path(), "info ml_ext.dna --json")["undriven_raw_controls"].clone();
    assert_eq!(undriven.as_array().unwrap().len(), 12);
    assert_eq!(undriven[11], json!("CTRL_expressions.e11"));
    let text = succeed(dir.path(), "info ml_ext.dna").stdout;
    assert!(text.contains("undriven raw controls 12: CTRL_expressions.e0, "), "{text}");
    assert!(text.contains("mlbe 1.0 (866 bytes): 11 operations"), "{text}");
    assert_eq!(json_of(dir.path(), "info tiny_v21.dna --json")["layers"][3]["bytes"], Value::Null);
}

#[test]
fn info_of_a_dna_lists_what_is_legal_and_odd() {
    let dir = folder();
    let findings = |file: &str| {
        let info = json_of(dir.path(), &format!("info {file} --json"));
        assert_eq!(info["checks"], json!("passed"), "{file}");
        info["findings"].as_array().unwrap().iter().map(|f| f.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let future = findings("tiny_future_layer.dna");
    assert!(future.len() == 1 && future[0].contains("layer \"zzzz\" 1.0 is not known"), "{future:?}");

    let mut dna = Dna::read(&fs::read(dir.path().join("tiny.dna")).unwrap()).unwrap();
    dna.definition.mesh_names.push("ghost".into());
    dna.definition.raw_control_names[1] = dna.definition.raw_control_names[0].clone();
    dna.meshes[0].skin[7] = Default::default();
    fs::write(dir.path().join("odd.dna"), dna.write(8).unwrap()).unwrap();
    let odd = findings("odd.dna");
    for part in ["1 vertices without influences", "geometry of 1 of 2 meshes", "stands there twice"] {
        assert!(odd.iter().any(|finding| finding.contains(part)), "{part}: {odd:?}");
    }
    assert_eq!(odd.len(), 3, "{odd:?}");

    // A network without layers is legal in a file, and nothing that can be evaluated.
    let mut dna = Dna::read(&fs::read(dir.path().join("ml_ext.dna")).unwrap()).unwrap();
    dna.networks.networks[0].layers.clear();
    fs::write(dir.path().join("empty.dna"), dna.write(8).unwrap()).unwrap();
    let refused = findings("empty.dna");
    assert!(refused.iter().any(|finding| finding.starts_with("RigLogic refuses the rig: ")), "{refused:?}");
}

#[test]
fn info_of_an_orl_pack_names_its_quantisation_and_its_dna() {
    let dir = folder();
    let baked = json_of(dir.path(), "bake orl tiny.dna -o head.orlpack --json");
    let info = json_of(dir.path(), "info head.orlpack --json");
    assert_eq!((&info["kind"], &info["units"], &info["vertices"]), (&json!("orl"), &json!("cm"), &json!(60)));
    assert_eq!(info["quantisation"]["max_error_um"], baked["max_error_um"]);
    assert_eq!(info["dna"]["version"], json!("2.8"));
    assert_eq!((&info["dna"]["gui"], &info["dna"]["raw"]), (&json!(6), &json!(8)));
    assert_eq!(info["source"]["meshName"], json!("mesh0_lod0"));
    assert_eq!(info["findings"], json!([]));
    assert!(info["scales"][0].as_f64().unwrap() > 0.0);
    let text = succeed(dir.path(), "info head.orlpack").stdout;
    assert!(text.contains("in int8, one step is") && text.contains("quantisation  max "), "{text}");
}
