//! Names, paths and sizes that no sane user writes.

use super::{finish, json_of, rigeval, succeed};
use crate::fixtures::folder;
use rigeval::gnm::model::GnmModel;
use rigeval::npy::{self, Packing};
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
#[test]
fn output_name_that_is_no_unicode_is_reported_as_json() {
    use std::os::unix::ffi::OsStrExt;
    let dir = folder();
    for ending in ["npz", "aosrig"] {
        let name = [b"head\xff.", ending.as_bytes()].concat();
        let command = &mut Command::new(env!("CARGO_BIN_EXE_rigeval"));
        let command = command.current_dir(dir.path()).args(["sample", "gnm", "--lean", "--json", "-o"]);
        let run = finish(&command.arg(std::ffi::OsStr::from_bytes(&name)).output().unwrap());
        assert_eq!(run.code, 0, "{ending}: {}", run.stderr);
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert!(report["output"].as_str().unwrap().starts_with("head"), "{ending}: {report}");
    }
}

#[test]
fn one_file_under_two_names_is_refused_as_two_outputs() {
    let dir = folder();
    let mut names = vec!["./v.npy".to_string(), dir.path().join("v.npy").display().to_string()];
    #[cfg(unix)]
    {
        fs::write(dir.path().join("v.npy"), "old").unwrap();
        std::os::unix::fs::symlink("v.npy", dir.path().join("link.npy")).unwrap();
        names.push("link.npy".into());
    }
    for name in names {
        let args = format!("eval rig.aosrig --controls c.npy --device cpu -o v.npy --normals {name}");
        let run = rigeval(dir.path(), &args);
        assert!(run.code == 2 && run.stderr.contains("name the same file"), "{name}: {}", run.stderr);
    }
    succeed(dir.path(), "eval rig.aosrig --controls c.npy --device cpu -o v.npy --normals n.npy");
}

#[test]
fn names_out_of_files_do_not_reach_the_terminal_raw() {
    let dir = folder();
    let mut model = GnmModel::read(&fs::read(super::MODEL).unwrap()).unwrap();
    model.joint_names[1] = "he\nad\u{1b}[31m".into();
    fs::write(dir.path().join("odd.npz"), model.write(Packing::Stored)).unwrap();
    fs::write(dir.path().join("odd.json"), r#"{"ta\nil\u001b[31m": [1, 0, 0, 0]}"#).unwrap();
    let info = succeed(dir.path(), "info odd.npz");
    let run = succeed(dir.path(), "eval rig.aosrig --controls c.npy --device cpu --overrides odd.json -o v.npy");
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(info.stdout.contains("he\u{fffd}ad"), "{}", info.stdout);
    for text in [info.stdout, run.stderr] {
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    assert_eq!(json_of(dir.path(), "info odd.npz --json")["joints"][1]["name"], "he\nad\u{1b}[31m");
}

#[test]
fn many_unknown_joints_are_one_warning_in_no_time() {
    let dir = folder();
    let entries: Vec<String> = (0..100_000).map(|i| format!("\"j{i}\": [1, 0, 0, 0]")).collect();
    fs::write(dir.path().join("many.json"), format!("{{{}}}", entries.join(","))).unwrap();
    let start = Instant::now();
    let run = succeed(dir.path(), "eval rig.aosrig --controls c.npy --device cpu --overrides many.json -o v.npy");
    assert!(run.stderr.lines().count() == 1 && run.stderr.len() < 2000, "{}", run.stderr);
    assert!(run.stderr.contains("and 99980 more"), "{}", run.stderr);
    // Comparing each name with each took 20 s.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn controls_beyond_f32_are_refused_with_file_and_place() {
    let dir = folder();
    let width = json_of(dir.path(), "info rig.aosrig --json")["controls"].as_u64().unwrap() as usize;
    let mut values = vec![0.0; 2 * width];
    values[width + 3] = 1e300;
    fs::write(dir.path().join("far.npy"), npy::write_f64(&[2, width], &values)).unwrap();
    let run = rigeval(dir.path(), "eval rig.aosrig --controls far.npy --device cpu -o v.npy");
    let expected = "far.npy: controls[1, 3]: expected a number in the range of f32";
    assert!(run.code == 2 && run.stderr.contains(expected), "{}", run.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn report_on_a_full_disk_exits_2() {
    let dir = folder();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let command = &mut Command::new(env!("CARGO_BIN_EXE_rigeval"));
    let run = finish(&command.current_dir(dir.path()).args(["info", "rig.aosrig"]).stdout(full).output().unwrap());
    assert!(run.code == 2 && run.stderr.contains("cannot write the report"), "{} {}", run.code, run.stderr);
}

#[test]
fn frames_without_inputs_are_frames_at_rest() {
    let dir = folder();
    fs::write(dir.path().join("zero.npy"), npy::write_f64(&[3, 3], &[0.0; 9])).unwrap();
    fs::create_dir(dir.path().join("rest")).unwrap();
    let model = dir.path().join("model.npz");
    fs::copy(super::MODEL, &model).unwrap();
    succeed(dir.path(), "eval model.npz --translation zero.npy -o rest/vertices.npy");
    let manifest = serde_json::json!({
        "version": 1, "rig": "model.npz", "rig_sha256": rigeval::frames::sha256_hex(&fs::read(&model).unwrap()),
        "kind": "gnm", "units": "m", "stage": "world", "inputs": {}, "vertices": "vertices.npy",
        "oracle": {"name": "another program", "version": "1"}, "tolerance": {"abs": 1e-7, "rel": 0.0},
    });
    fs::write(dir.path().join("rest/frames.json"), manifest.to_string()).unwrap();
    let report = json_of(dir.path(), "check model.npz --frames rest --json");
    assert_eq!((&report["pass"], &report["frames"]), (&true.into(), &3.into()), "{report}");
}

#[test]
fn frames_without_a_value_are_bounded() {
    let dir = folder();
    // The rig has raw controls only: (F, 0) is the right width, and no byte backs F.
    let rig = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl/twist.dna");
    let array = |frames: u64| {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({frames}, 0), }}\n");
        [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat()
    };
    fs::write(dir.path().join("few.npy"), array(3)).unwrap();
    fs::write(dir.path().join("many.npy"), array(99_999_999_999)).unwrap();
    for command in ["eval", "riglogic"] {
        let (controls, output) =
            if command == "eval" { ("--device cpu --controls", "v.npy") } else { ("--gui", "out") };
        succeed(dir.path(), &format!("{command} {rig} {controls} few.npy -o {output}"));
        let run = rigeval(dir.path(), &format!("{command} {rig} {controls} many.npy -o {output}"));
        assert!(run.code == 2 && run.stderr.contains("at most 1024 frames"), "{command}: {}", run.stderr);
    }
}
