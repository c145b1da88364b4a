//! Pictures by the command line.

use super::common;
use super::fixtures::{changed_frames, folder};
use super::{FRAMES, MODEL, finish, json_of, rigeval, succeed};
use rigeval::npy;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

const PACK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packs/gnm_sample.aosrig");
const ORL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl");
const ORL_FRAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl_tiny_frames");

/// Width, height and RGB.
fn picture(path: &Path) -> (u32, u32, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(fs::read(path).unwrap())).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    (info.width, info.height, rgb.as_chunks().0.to_vec())
}

/// Seven frames: a jaw that opens wider and wider.
fn write_controls(dir: &Path) {
    let mut controls = vec![0.0f32; 7 * 387];
    (0..7).for_each(|frame| controls[frame * 387 + 200 + 9] = 0.5 * frame as f32);
    fs::write(dir.join("c.npy"), npy::write_f32(&[7, 387], &controls)).unwrap();
}

#[test]
fn render_of_every_rig_writes_a_picture_of_the_size_asked() {
    if common::device("render_of_every_rig_writes_a_picture_of_the_size_asked").is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    write_controls(dir.path());
    succeed(dir.path(), "sample gltf -o head.glb");
    let orl = format!("{ORL}/tiny.dna --controls {ORL}/tiny.in.gui.npy");
    let rigs = [format!("{PACK} --controls c.npy"), orl, "head.glb".to_string()];
    for (index, rig) in rigs.iter().enumerate() {
        for (mode, view) in [("shaded", "front"), ("normals", "three-quarter"), ("wire", "side"), ("error", "front")] {
            let name = format!("{index}_{mode}.png");
            let args = format!("render {rig} --mode {mode} --view {view} --size 200x180 -o {name} --json");
            let report = json_of(dir.path(), &args);
            let (width, height, pixels) = picture(&dir.path().join(&name));
            assert_eq!((width, height), (200, 180), "{args}");
            assert_eq!((&report["size"], &report["frames"]), (&json!([200, 180]), &json!([0])), "{args}");
            assert!(report["adapter"].as_str().is_some_and(|a| !a.is_empty()), "{args}: {report}");
            assert!(pixels[100 + 60 * 200] != pixels[60 * 200], "{args}: the middle is no backdrop");
            assert_eq!(report["error"].is_null(), mode != "error", "{args}");
            if mode == "error" {
                let um = report["error"]["max_um"].as_f64().unwrap();
                assert!(um < 1.0 && um <= report["error"]["scale_um"].as_f64().unwrap(), "{args}: {um} um");
            }
        }
    }
    let text = succeed(dir.path(), &format!("render {PACK} --controls c.npy --size 64x64 -o a.png")).stdout;
    assert!(text.contains("drawn by the GPU") && text.contains("wrote a.png"), "{text}");
}

#[test]
fn sheet_spreads_its_frames_from_first_to_last() {
    if common::device("sheet_spreads_its_frames_from_first_to_last").is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    write_controls(dir.path());
    let frames = |options: &str| {
        let args = format!("render {PACK} --controls c.npy {options} -o sheet.png --json");
        json_of(dir.path(), &args)["frames"].clone()
    };
    assert_eq!(frames("--sheet 2x2 --size 240x240"), json!([0, 2, 4, 6]));
    let (_, _, pixels) = picture(&dir.path().join("sheet.png"));
    let cell = |column: usize, row: usize| -> Vec<[u8; 3]> {
        let rows = (0..100).map(|y| (row * 120 + y) * 240 + column * 120);
        rows.flat_map(|start| pixels[start..start + 120].to_vec()).collect()
    };
    assert_ne!(cell(0, 0), cell(1, 1), "the jaw opens");
    assert_eq!(frames("--sheet 4x3 --size 240x180"), json!([0, 1, 2, 3, 4, 5, 6]));
    assert_eq!(frames("--sheet 2x1 --frame 3 --size 240x120"), json!([3, 6]));
    assert_eq!(frames("--frame 5 --size 64x64"), json!([5]));
}

#[test]
fn render_against_frames_takes_their_inputs_and_names_their_maker() {
    if common::device("render_against_frames_takes_their_inputs_and_names_their_maker").is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let render = format!("render {ORL}/tiny.dna --mode error --frames {ORL_FRAMES} --size 200x180 -o e.png");
    let report = json_of(dir.path(), &format!("{render} --json"));
    let manifest: Value =
        serde_json::from_slice(&fs::read(Path::new(ORL_FRAMES).join("frames.json")).unwrap()).unwrap();
    let oracle = manifest["oracle"]["name"].as_str().unwrap();
    assert!(report["error"]["against"].as_str().unwrap().contains(oracle), "{report}");
    let own = report["error"]["max_um"].as_f64().unwrap();
    let given = json_of(dir.path(), &format!("{render} --controls {ORL_FRAMES}/controls.npy --json"));
    assert_eq!(given["error"]["max_um"].as_f64(), Some(own));
}

#[test]
fn check_with_picture_paints_the_worst_frame() {
    if common::device("check_with_picture_paints_the_worst_frame").is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let report = json_of(dir.path(), &format!("check {MODEL} --frames {FRAMES} --picture a/b --json"));
    assert_eq!(report["picture"], Value::from("a/b/worst_frame.png"));
    let (width, height, _) = picture(&dir.path().join("a/b/worst_frame.png"));
    assert_eq!((width, height), (1280, 720));

    // A check that fails has its picture too: that is when one looks at it.
    let frames = changed_frames(|dir| {
        let path = dir.join("vertices.npy");
        let array = npy::read(&fs::read(&path).unwrap()).unwrap();
        let (shape, mut values) = (array.shape.clone(), array.into_f64().unwrap());
        values[(5 * 447 + 123) * 3 + 1] += 1e-3;
        fs::write(path, npy::write_f64(&shape, &values)).unwrap();
    });
    let run = rigeval(frames.path(), &format!("check {MODEL} --frames . --picture ."));
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    assert!(run.stdout.contains("wrote ./worst_frame.png"), "{}", run.stdout);
    let (_, _, failed) = picture(&frames.path().join("worst_frame.png"));
    assert_ne!(failed, picture(&dir.path().join("a/b/worst_frame.png")).2);
    assert!(json_of(dir.path(), &format!("check {MODEL} --frames {FRAMES} --json"))["picture"].is_null());
}

#[test]
fn render_refuses_what_it_cannot_draw_with_one_line() {
    if common::device("render_refuses_what_it_cannot_draw_with_one_line").is_none() {
        return;
    }
    let dir = folder();
    let cases = [
        ("render rig.aosrig --controls c.npy", "--output"),
        ("render rig.aosrig --controls c.npy -o p.jpg", "p.jpg: give it a name that ends in .png"),
        ("render rig.aosrig -o p.png", "rig.aosrig: give the pack its --controls C.npy"),
        ("render rig.aosrig --controls c.npy --frame 3 -o p.png", "--frame 3: the frames are 0 to 2"),
        ("render rig.aosrig --controls c.npy --sheet 4 -o p.png", "--sheet"),
        ("render rig.aosrig --controls c.npy --size 0x10 -o p.png", "each from 1 to 4096"),
        ("render rig.aosrig --controls c.npy --size 8x8 -o p.png", "--size leaves 8 x 8 pixels"),
        ("render rig.aosrig --controls c.npy --view back -o p.png", "back"),
        ("render rig.aosrig --controls c.npy --frames . -o p.png", "--frames belongs to --mode error"),
        ("render rig.aosrig --controls c.npy --mesh 0 -o p.png", "--mesh belongs to a MetaHuman rig"),
        ("render rig.aosrig --controls c.npy --clip a -o p.png", "--clip belongs to a glTF file"),
        ("render rig.aosrig --controls c68.npy -o p.png", "68 is the width of gnm68"),
        ("render cut.aosrig --controls c.npy -o p.png", "cut.aosrig"),
        ("render baked.npz --controls c.npy -o p.png", "bake it first"),
        ("render rig.aosrig --mode error --frames none -o p.png", "name a folder with frames.json"),
    ];
    for (args, message) in cases {
        let run = rigeval(dir.path(), args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args}: {}", run.stderr);
        assert!(run.stderr.contains(message) && run.stderr.lines().count() == 1, "{args}: {}", run.stderr);
    }
    assert!(!dir.path().join("p.png").exists());
    let model = rigeval(dir.path(), &format!("render {MODEL} --controls c.npy -o p.png"));
    assert!(
        model.code == 2 && model.stderr.contains("a model is not posed on a GPU: bake it first"),
        "{}",
        model.stderr
    );
    let file = rigeval(dir.path(), &format!("check {MODEL} --frames {FRAMES} --picture c.npy"));
    assert!(file.code == 2 && file.stderr.contains("--picture c.npy: cannot make this folder"), "{}", file.stderr);
    let lean = format!("bake gnm {MODEL} --lean -o lean.aosrig");
    succeed(dir.path(), &lean);
    let lean = rigeval(dir.path(), "render lean.aosrig --controls c.npy -o p.png");
    assert!(lean.code == 2 && lean.stderr.contains("lean.aosrig: the rig has no triangles"), "{}", lean.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn render_without_an_adapter_says_so_and_exits_2() {
    let dir = folder();
    for args in ["render rig.aosrig --controls c.npy -o p.png", &format!("check {MODEL} --frames {FRAMES} --picture p")]
    {
        let command = &mut Command::new(env!("CARGO_BIN_EXE_rigeval"));
        // The Vulkan loader takes these lists instead of looking for drivers.
        let command = command.env("VK_DRIVER_FILES", "none.json").env("VK_ICD_FILENAMES", "none.json");
        let run = finish(&command.current_dir(dir.path()).args(args.split_whitespace()).output().unwrap());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: no GPU adapter, and pictures need one"), "{args}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{args}: {}", run.stderr);
    }
    assert!(!dir.path().join("p.png").exists() && !dir.path().join("p").exists());
}
