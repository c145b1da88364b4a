//! Real glTF files against the frames that other programs computed, on the CPU.

use glam::{Affine3A, Mat3A, Vec3A};
use rigeval::gltf::bounds::GltfBounds;
use rigeval::gltf::cpu::gltf_morph;
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::info::JointId;
use rigeval::math::Aabb;
use rigeval::npy;
use serde_json::Value;
use std::path::Path;

/// Relative to the largest coordinate of a frame; a file that its own frames are further apart on says so in the manifest.
const TOLERANCE: f64 = 2e-6;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/gltf");

fn corpus(test: &str) -> Option<&'static Path> {
    let folder = Path::new(CORPUS);
    if !folder.is_dir() {
        eprintln!("SKIP {test}: no folder {}; gltf_faults, gltf_load and gltf_clips cover the rules", folder.display());
        return None;
    }
    Some(folder)
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The controls of a frame: the file's own, a clip's at a time, or single nodes turned.
fn controls(model: &GltfModel, frame: &Value) -> Vec<f32> {
    let mut controls = model.controls().defaults().to_vec();
    if let Some(clip) = frame["clip"].as_u64() {
        let clip = &model.clips()[clip as usize];
        clip.sample(frame["time"].as_f64().unwrap(), &mut clip.cursor(), &mut controls);
        if let Some(end) = frame["clip_end"].as_f64() {
            assert_eq!(f64::from(clip.end()), end, "the clip's end");
        }
    }
    let numbers = |value: &Value| list(value).iter().map(|x| x.as_f64().unwrap() as f32).collect::<Vec<_>>();
    for (node, set) in frame["set"]["nodes"].as_object().into_iter().flatten() {
        let joint = model.joint_of_node(node.parse().unwrap()).unwrap();
        let first = model.controls().first_of_joint(joint).unwrap() + 3;
        controls[first..first + 4].copy_from_slice(&numbers(&set["rotation"]));
    }
    for (node, weights) in frame["set"]["weights"].as_object().into_iter().flatten() {
        let range = model.controls().morphs_of_node(node.parse().unwrap()).unwrap();
        controls[range].copy_from_slice(&numbers(weights));
    }
    controls
}

/// How far a frame is off, relative to its largest coordinate.
fn error(folder: &Path, file: &Value, got: &[[f32; 3]]) -> f64 {
    let want = npy::read(&std::fs::read(folder.join(file.as_str().unwrap())).unwrap()).unwrap().into_f32().unwrap();
    assert_eq!(got.as_flattened().len(), want.len(), "{file}: the number of coordinates");
    relative_error(got.as_flattened(), &want)
}

/// The largest difference over the largest reference coordinate; infinite where either side is not finite.
fn relative_error(got: &[f32], want: &[f32]) -> f64 {
    if !got.iter().chain(want).all(|x| x.is_finite()) {
        return f64::INFINITY;
    }
    let size = want.iter().fold(1e-6, |most: f64, x| most.max(f64::from(x.abs())));
    let off = |(g, w): (&f32, &f32)| (f64::from(*g) - f64::from(*w)).abs();
    got.iter().zip(want).map(off).fold(0.0, f64::max) / size
}

#[test]
fn one_coordinate_off_by_twice_the_tolerance_is_seen() {
    let want = [[0.25, -8.0, 1.0], [0.5, 0.0, 3.0]];
    assert_eq!(relative_error(want.as_flattened(), want.as_flattened()), 0.0);
    let mut got = want;
    got[1][1] += (2.0 * TOLERANCE * 8.0) as f32;
    assert!(relative_error(got.as_flattened(), want.as_flattened()) > TOLERANCE);
    got[1][1] = f32::NAN;
    assert!(relative_error(got.as_flattened(), want.as_flattened()) > TOLERANCE);
}

#[test]
fn frames_of_the_corpus_match() {
    let Some(folder) = corpus("frames_of_the_corpus_match") else { return };
    let manifest = json(&folder.join("manifest.json"));
    let (mut frames, mut wrong, mut worst) = (0, Vec::new(), (0.0, String::new()));
    for asset in list(&manifest["assets"]) {
        let model = GltfModel::open(&folder.join(asset["file"].as_str().unwrap())).unwrap();
        let mesh = model.mesh();
        for (part, stated) in mesh.parts().iter().zip(list(&asset["primitives"])) {
            let number = |key: &str| stated[key].as_u64().unwrap() as usize;
            let own = (part.node, part.mesh, part.primitive, part.vertices.start, part.vertices.len());
            let theirs = (number("node"), number("mesh"), number("primitive"), number("offset"), number("count"));
            assert_eq!(own, theirs, "{}", asset["id"]);
        }
        assert_eq!(mesh.parts().len(), list(&asset["primitives"]).len(), "{}", asset["id"]);
        let tolerance = asset["suggested_rel_tol"].as_f64().unwrap_or(0.0).max(TOLERANCE);
        let mut pose = GltfPose::new(&model, OutputSpace::World);
        for frame in list(&asset["frames"]) {
            pose.set_controls(&model, &controls(&model, frame)).unwrap();
            let error = error(folder, &frame["file"], &gltf_morph(mesh, &pose));
            frames += 1;
            if error > tolerance {
                wrong.push(format!("{}: {error:.3e}, allowed {tolerance:.3e}", frame["file"]));
            }
            if tolerance == TOLERANCE && error > worst.0 {
                worst = (error, frame["file"].to_string());
            }
        }
    }
    eprintln!("{frames} frames, worst {:.3e} in {}", worst.0, worst.1);
    assert!(wrong.is_empty(), "{} of {frames} frames:\n{}", wrong.len(), wrong.join("\n"));
    assert!(frames > 150, "only {frames} frames");
}

#[test]
fn garment_follows_the_avatar_by_joint_name() {
    let Some(folder) = corpus("garment_follows_the_avatar_by_joint_name") else { return };
    for case in list(&json(&folder.join("retarget.json"))) {
        let open = |key: &str| GltfModel::open(&folder.join(case[key].as_str().unwrap())).unwrap();
        let (avatar, garment) = (open("avatar"), open("garment"));
        let joint = |model: &GltfModel, name: &Value| {
            model.skeleton().names().iter().position(|n| n == name.as_str().unwrap()).unwrap()
        };
        let mut avatar_pose = GltfPose::new(&avatar, OutputSpace::World);
        let mut garment_pose = GltfPose::new(&garment, OutputSpace::World);
        assert!(list(&case["joint_map"]).len() >= 24);
        for frame in list(&case["frames"]) {
            avatar_pose.set_controls(&avatar, &controls(&avatar, frame)).unwrap();
            let worlds: Vec<(JointId, Affine3A)> = list(&case["joint_map"])
                .iter()
                .map(|pair| {
                    let world = avatar_pose.worlds()[joint(&avatar, &pair[1])];
                    let matrix3 = Mat3A::from(world.matrix3.as_mat3());
                    let world = Affine3A { matrix3, translation: Vec3A::from(world.translation.as_vec3()) };
                    (JointId(joint(&garment, &pair[0])), world)
                })
                .collect();
            garment_pose.set_joint_worlds(&garment, &worlds).unwrap();
            let error = error(folder, &frame["file"], &gltf_morph(garment.mesh(), &garment_pose));
            assert!(error <= TOLERANCE, "{}: {error:.3e}", frame["file"]);
        }
    }
}

#[test]
fn counters_agree_with_the_validator() {
    let Some(folder) = corpus("counters_agree_with_the_validator") else { return };
    let manifest = json(&folder.join("manifest.json"));
    let validator = json(&folder.join("validator.json"));
    let mut compared = 0;
    for (asset, checked) in list(&manifest["assets"]).iter().zip(list(&validator["assets"])) {
        assert_eq!(asset["id"], checked["id"]);
        let model = GltfModel::open(&folder.join(asset["file"].as_str().unwrap())).unwrap();
        let count = |code: &str| checked["codes"][code]["n"].as_u64().unwrap_or(0) as usize;
        let report = model.report();
        let not_normal = count("E:ACCESSOR_WEIGHTS_NON_NORMALIZED");
        assert_eq!(report.renormalised_vertices, not_normal, "{}: weights", asset["id"]);
        let moved = count("W:NODE_SKINNED_MESH_LOCAL_TRANSFORMS");
        assert_eq!(report.ignored_mesh_transforms, moved, "{}: mesh transforms", asset["id"]);
        compared += not_normal + moved;
    }
    assert!(compared >= 210, "only {compared} findings to compare");
}

/// How much longer than the exact diagonal a conservative one may be, over all frames of a real file.
const LOOSENESS: f32 = 1.5;

#[test]
fn bounds_of_the_corpus_hold_every_vertex_and_are_tight() {
    let Some(folder) = corpus("bounds_of_the_corpus_hold_every_vertex_and_are_tight") else { return };
    let mut worst = (0.0, String::new());
    for asset in list(&json(&folder.join("manifest.json"))["assets"]) {
        let model = GltfModel::open(&folder.join(asset["file"].as_str().unwrap())).unwrap();
        let bounds = GltfBounds::new(model.mesh());
        let mut pose = GltfPose::new(&model, OutputSpace::World);
        for frame in list(&asset["frames"]) {
            pose.set_controls(&model, &controls(&model, frame)).unwrap();
            let (vertices, held) = (gltf_morph(model.mesh(), &pose), bounds.of_pose(&pose));
            assert!(vertices.iter().all(|&p| held.contains(p)), "{}", frame["file"]);
            let ratio = held.diagonal() / Aabb::of_points(vertices).diagonal();
            if ratio > worst.0 {
                worst = (ratio, frame["file"].to_string());
            }
        }
    }
    eprintln!("loosest {:.3} in {}", worst.0, worst.1);
    assert!(worst.0 <= LOOSENESS, "{:.3} times the exact diagonal in {}", worst.0, worst.1);
}
