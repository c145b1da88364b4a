//! What the tests run the command line on.

use super::{FRAMES, MODEL, succeed};
use rigeval::gnm::gnmw::{Gnmw, GnmwBasis, GnmwRig};
use rigeval::gnm::model::GnmModel;
use rigeval::npy::{self, NpzWriter, Packing};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use tempfile::TempDir;

/// The tiny model, baked once.
pub fn tiny_pack() -> &'static [u8] {
    static PACK: OnceLock<Vec<u8>> = OnceLock::new();
    PACK.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        succeed(dir.path(), &format!("bake gnm {MODEL} -o tiny.aosrig"));
        fs::read(dir.path().join("tiny.aosrig")).unwrap()
    })
}

/// Three frames, both signs, gaze included.
pub fn controls(width: usize) -> Vec<f32> {
    (0..3 * width).map(|i| ((i * 37 % 101) as f32 - 50.0) / 150.0).collect()
}

/// A folder with a pack, good and bad inputs, and files that are something else.
pub fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    let pack = tiny_pack();
    write("rig.aosrig", pack);
    write("cut.aosrig", &pack[..pack.len() - 1]);
    write("c.npy", &npy::write_f32(&[3, 387], &controls(387)));
    write("c68.npy", &npy::write_f32(&[3, 68], &controls(68)));
    write("c386.npy", &npy::write_f32(&[3, 386], &controls(386)));
    write("flat.npy", &npy::write_f32(&[386], &controls(387)[..386]));
    let mut nan = controls(387);
    nan[387 * 2 + 5] = f32::NAN;
    write("nan.npy", &npy::write_f32(&[3, 387], &nan));
    write("e.npy", &npy::write_f32(&[3, 383], &controls(383)));
    write("t2.npy", &npy::write_f32(&[2, 3], &[0.0; 6]));
    write("html.npz", b"<!DOCTYPE html><html></html>");
    write("lfs.aosrig", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    write("text.aosrig", b"hello");
    write("empty.aosrig", b"");
    write("o.json", br#"{"head": [0.9, 0.1, 0.2, 0.3], "tail": [1, 0, 0, 0]}"#);
    write("zero.json", br#"{"head": [0, 0, 0, 0]}"#);
    write("twice.json", br#"{"head": [1, 0, 0, 0], "head": [1, 0, 0, 0]}"#);
    write("short.json", br#"{"head": [[1, 0, 0, 0]]}"#);
    write("baked.npz", &baked_head());
    write("body.aosrig.npz", &body());
    let attachment = "[[1, 0, 0, 0], [0, 1, 0, 0.25], [0, 0, 1, 0], [0, 0, 0, 1]]";
    let joints =
        r#"[{"name": "root", "parent": null}, {"name": "hand", "parent": "root"}, {"name": "head", "parent": "root"}]"#;
    let rig = format!(r#"{{"joints": {joints}, "head": {{"attachment": {{"local_to_head": {attachment}}}}}}}"#);
    write("body.aosrig.json", rig.as_bytes());
    fs::create_dir(dir.path().join("sub")).unwrap();
    dir
}

/// One triangle as another tool bakes it: 64 coefficients that each move it by a millimetre along +X.
fn baked_head() -> Vec<u8> {
    let mut npz = NpzWriter::new(Packing::Stored);
    npz.add_f32("neutral", &[3, 3], &[0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.1, 0.0]);
    npz.add_f32("basis", &[64, 3, 3], &[0.001, 0.0, 0.0].repeat(64 * 3));
    npz.add_i32("faces", &[1, 3], &[0, 1, 2]);
    npz.add_text("eye_names", &[2], &["left_eye", "right_eye"]);
    npz.add_f32("eye_positions", &[2, 3], &[0.03, 0.0, 0.0, -0.03, 0.0, 0.0]);
    npz.add_f32("eye_weights", &[2, 3], &[0.0; 6]);
    npz.add_i32("skin_index", &[3, 4], &[2, 0, 0, 0].repeat(3));
    npz.add_f32("skin_weight", &[3, 4], &[1.0, 0.0, 0.0, 0.0].repeat(3));
    npz.finish()
}

/// The worlds of a body whose head joint stands one and a half metres above its root.
fn body() -> Vec<u8> {
    let at = |y: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let mut npz = NpzWriter::new(Packing::Stored);
    npz.add_f32("bind_world", &[3, 4, 4], &[at(0.0), at(1.0), at(1.5)].concat());
    npz.finish()
}

/// A copy of the committed frames, changed.
pub fn changed_frames(change: impl FnOnce(&Path)) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(FRAMES).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
    }
    change(dir.path());
    dir
}

/// The tiny model as the web containers hold it: int8 rows.
pub fn gnmw(with_rig: bool) -> Gnmw {
    let model = GnmModel::read(&fs::read(MODEL).unwrap()).unwrap();
    let width = model.vertex_count() * 3;
    let quantised = |basis: &[f32]| {
        let scale = |row: &[f32]| row.iter().fold(0.0f32, |m, x| m.max(x.abs())).max(1e-9) / 127.0;
        let scales: Vec<f32> = basis.chunks_exact(width).map(scale).collect();
        let values = basis.chunks_exact(width).zip(&scales);
        GnmwBasis {
            values: values.flat_map(|(row, s)| row.iter().map(move |x| (x / s).round() as i8)).collect(),
            scales,
        }
    };
    let rig = GnmwRig {
        quads: model.quads.clone(),
        joints: model.template_joints.clone(),
        joint_parents: model.joint_parents.clone(),
        skinning_weights: model.skinning_weights.clone(),
        joint_identity_basis: model.joint_identity_basis.clone(),
        pose_correctives: None,
        labels: Default::default(),
        surface: None,
        landmarks: Vec::new(),
    };
    let meta = serde_json::json!({
        "num_vertices": model.vertex_count(),
        "numVertices": model.vertex_count(),
        "numJoints": model.joint_count(),
        "identityDim": model.identity_count(),
        "expressionDim": model.expression_count(),
        "identityNames": model.identity_names,
        "expressionNames": model.expression_names,
        "jointNames": model.joint_names,
    });
    Gnmw {
        meta: meta.as_object().unwrap().clone(),
        vertices: model.template.clone(),
        triangles: model.triangles.clone(),
        identity: quantised(&model.identity_basis),
        expression: quantised(&model.expression_basis),
        rig: with_rig.then_some(rig),
    }
}
