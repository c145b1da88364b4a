//! A small glTF file made of formulas: two skins, a mesh that its node carries, mirrored and unevenly scaled joints, targets of all sorts.

#[path = "../gltf_case/mod.rs"]
pub mod case;

use crate::synthetic::Numbers;
use case::{Case, U8, U16, bytes};
use glam::{DVec3, Quat};
use rigeval::backend::RigBackend;
use rigeval::gltf::gpu::GltfDeviceModel;
use rigeval::gltf::model::GltfModel;
use rigeval::gpu::headless::Headless;
use serde_json::{Value, json};
use std::sync::Arc;

/// Vertices of the parts: no multiple of 64, alone or together.
pub const PARTS: [usize; 4] = [301, 150, 237, 29];

/// V.
pub const V: usize = 717;

/// Joints of the large skin: enough for eight influences of one vertex.
pub const JOINTS: usize = 12;

/// Targets of the face: three words of a mask once they are packed.
pub const TARGETS: usize = 40;

/// What a primitive has.
#[derive(Clone, Copy)]
struct Shape {
    vertices: usize,
    normals: bool,
    tangents: bool,
    targets: usize,
    /// Target 0 of the others is large, so that it is kept in 32 bits.
    largest: f64,
}

fn points(count: usize, numbers: &mut Numbers) -> Vec<[f32; 3]> {
    let point = |i: usize| {
        let (t, turn) = ((i as f64 + 0.5) / count as f64, i as f64 * 2.399_963);
        let radius = (1.0 - (2.0 * t - 1.0).powi(2)).sqrt();
        let at = DVec3::new(radius * turn.cos(), 2.0 * t - 1.0, radius * turn.sin()) * 0.8;
        (at + numbers.point() * 0.01).as_vec3().to_array()
    };
    (0..count).map(point).collect()
}

/// Unit vectors at right angles: normals that point outward, tangents around the axis, signs of either kind.
fn directions(points: &[[f32; 3]]) -> (Vec<[f32; 3]>, Vec<[f32; 4]>) {
    let normal = |p: &[f32; 3]| DVec3::from(p.map(f64::from)).normalize();
    let tangent = |(i, p): (usize, &[f32; 3])| {
        let t = DVec3::Y.cross(normal(p)).normalize_or(DVec3::X).as_vec3();
        t.extend(if i % 3 == 0 { -1.0 } else { 1.0 }).to_array()
    };
    (points.iter().map(|p| normal(p).as_vec3().to_array()).collect(), points.iter().enumerate().map(tangent).collect())
}

/// Every target moves some of the vertices; the first is large, others are small enough for 16 bits.
fn deltas(count: usize, target: usize, size: f64, numbers: &mut Numbers) -> Vec<[f32; 3]> {
    let moves = |v: usize| v % 19 == 3 || (v * 5 + target * 7) % 40 < v % 11;
    let delta = |v: usize| if moves(v) { (numbers.point() * size).as_vec3().to_array() } else { [0.0; 3] };
    (0..count).map(delta).collect()
}

fn primitive(case: &mut Case, shape: Shape) -> Value {
    let mut numbers = Numbers::new(shape.vertices as u64);
    let n = shape.vertices;
    let points = points(n, &mut numbers);
    let (normals, tangents) = directions(&points);
    let mut attributes = json!({"POSITION": case.rows(&points)});
    if shape.normals {
        // A normal of no length stays one.
        let rows: Vec<[f32; 3]> = (0..n).map(|v| if v == 7 { [0.0; 3] } else { normals[v] }).collect();
        attributes["NORMAL"] = json!(case.rows(&rows));
    }
    if shape.tangents {
        attributes["TANGENT"] = json!(case.rows(&tangents));
    }
    let targets: Vec<Value> = (0..shape.targets)
        .map(|t| {
            let size = if t == 0 { shape.largest } else { 0.004 + 0.0004 * t as f64 };
            let mut target = json!({"POSITION": case.rows(&deltas(n, t, size, &mut numbers))});
            // Not every target has every attribute.
            if shape.normals && t % 3 != 2 {
                target["NORMAL"] = json!(case.rows(&deltas(n, t, 0.1, &mut numbers)));
            }
            if shape.tangents && t % 4 != 3 {
                target["TANGENT"] = json!(case.rows(&deltas(n, t, 0.1, &mut numbers)));
            }
            target
        })
        .collect();
    let faces: Vec<u32> = (0..n as u32 - 13).flat_map(|i| [i, i + 8, i + 13, i, i + 13, i + 5]).collect();
    let indices = case.accessor(case::U32, "SCALAR", faces.len(), &bytes(&faces));
    let mut primitive = json!({"attributes": attributes, "indices": indices});
    if !targets.is_empty() {
        primitive["targets"] = json!(targets);
    }
    primitive
}

/// One to eight influences in two sets, of which one joint holds most.
fn skin(case: &mut Case, primitive: &mut Value, vertices: usize, joints: usize) {
    let mut numbers = Numbers::new(vertices as u64 + 1);
    let lanes: Vec<[u8; 8]> =
        (0..vertices).map(|v| std::array::from_fn(|k| ((v / 9 + k * 5 + k * v % 3) % joints) as u8)).collect();
    let weights: Vec<[u16; 8]> =
        (0..vertices)
            .map(|v| {
                let mut row: [u16; 8] = std::array::from_fn(|k| {
                    if k > 0 && k <= v % 8 { (3000.0 + 2000.0 * numbers.signed()) as u16 } else { 0 }
                });
                row[0] = u16::MAX - row.iter().sum::<u16>();
                row
            })
            .collect();
    for (set, half) in [(0, 0..4), (1, 4..8)] {
        let joints: Vec<u8> = lanes.iter().flat_map(|row| row[half.clone()].to_vec()).collect();
        let shares: Vec<u16> = weights.iter().flat_map(|row| row[half.clone()].to_vec()).collect();
        let attributes = &mut primitive["attributes"];
        attributes[format!("JOINTS_{set}")] = json!(case.accessor(U8, "VEC4", vertices, &joints));
        attributes[format!("WEIGHTS_{set}")] = json!(case.normalized(U16, "VEC4", vertices, &bytes(&shares)));
    }
}

/// The file: with normals and tangents, or without either.
pub fn file(shaded: bool) -> Case {
    let mut case = Case::new();
    let mut numbers = Numbers::new(31);
    // Nodes 0 .. JOINTS: a chain of three, and the others under its end. One is mirrored, one unevenly scaled.
    for joint in 0..JOINTS {
        let name = ["hips", "neck", "head"].get(joint).map_or(format!("bone{joint}"), |name| (*name).to_string());
        let children: Vec<usize> = if joint < 2 {
            vec![joint + 1]
        } else if joint == 2 {
            (3..JOINTS).collect()
        } else {
            Vec::new()
        };
        let scale = match joint {
            4 => [-1.0, 1.0, 1.0],
            5 => [1.2, 0.9, 1.1],
            _ => [1.0; 3],
        };
        let at = (numbers.point() * 0.3).as_vec3().to_array();
        let turn = numbers.rotation(0.5).as_quat().to_array();
        let mut node = json!({"name": name, "translation": at, "rotation": turn, "scale": scale});
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        case.push("nodes", node);
    }
    let binds = |numbers: &mut Numbers, count: usize| -> Vec<[f32; 16]> {
        let mut bind = || {
            let m = glam::DMat4::from_rotation_translation(numbers.rotation(0.4), numbers.point() * 0.2);
            m.to_cols_array().map(|x| x as f32)
        };
        (0..count).map(|_| bind()).collect()
    };
    // Two skins over some of the same joints, with other matrices.
    for joints in [(0..JOINTS).collect::<Vec<_>>(), vec![2, 4, 5]] {
        let rows = binds(&mut numbers, joints.len());
        let accessor = case.rows(&rows);
        case.push("skins", json!({"joints": joints, "inverseBindMatrices": accessor}));
    }
    let shape = |part: usize, tangents, targets, largest| Shape {
        vertices: PARTS[part],
        normals: shaded && part != 3,
        tangents: shaded && tangents,
        targets,
        largest,
    };
    let mut face = primitive(&mut case, shape(0, true, TARGETS, 0.3));
    skin(&mut case, &mut face, PARTS[0], JOINTS);
    let mut body = primitive(&mut case, shape(1, false, TARGETS / 2, 0.3));
    skin(&mut case, &mut body, PARTS[1], JOINTS);
    let mesh = case.push("meshes", json!({"primitives": [face, body]}));
    case.push("nodes", json!({"name": "character", "mesh": mesh, "skin": 0}));
    let mut coat = primitive(&mut case, shape(2, true, 0, 0.0));
    skin(&mut case, &mut coat, PARTS[2], 3);
    let mesh = case.push("meshes", json!({"primitives": [coat]}));
    case.push("nodes", json!({"name": "coat", "mesh": mesh, "skin": 1}));
    // A mesh without a skin, under a node that mirrors and stretches.
    let prop = primitive(&mut case, shape(3, true, 3, 0.2));
    let mesh = case.push("meshes", json!({"primitives": [prop]}));
    let node = json!({"name": "prop", "mesh": mesh, "translation": [0.3, -0.5, 0.2], "scale": [-0.7, 1.1, 0.9]});
    let prop = case.push("nodes", node);
    let stand = json!({"name": "stand", "children": [prop], "translation": [0.0, 0.4, 0.0], "scale": [1.1, 0.9, 1.0]});
    let stand = case.push("nodes", stand);
    case.json["scenes"][0]["nodes"] = json!([0, JOINTS, JOINTS + 1, stand]);
    case
}

pub fn model(shaded: bool) -> GltfModel {
    file(shaded).model()
}

pub fn device_model(gpu: &Headless, model: GltfModel) -> Arc<GltfDeviceModel> {
    Arc::new(GltfDeviceModel::new(&gpu.context(), Arc::new(model)).expect("within the default limits"))
}

/// Controls near the file's own: weights of either sign, every third at rest, joints that turn, shift and stretch a little.
pub fn sample(rig: &dyn RigBackend, seed: u64) -> Vec<f32> {
    let info = rig.info();
    controls(&info.default_controls, info.control_names.iter().take_while(|n| n.starts_with("morph/")).count(), seed)
}

pub fn controls(defaults: &[f32], morph_count: usize, seed: u64) -> Vec<f32> {
    let mut numbers = Numbers::new(seed);
    let mut controls = defaults.to_vec();
    for (c, weight) in controls[..morph_count].iter_mut().enumerate() {
        *weight = if (c as u64 + seed).is_multiple_of(3) { 0.0 } else { numbers.signed() as f32 };
    }
    for node in controls[morph_count..].chunks_exact_mut(10) {
        let mut shift = || 0.05 * numbers.signed() as f32;
        (0..3).for_each(|i| node[i] += shift());
        (7..10).for_each(|i| node[i] *= 1.0 + shift());
        let turn = Quat::from_slice(&node[3..7]) * numbers.rotation(0.3).as_quat();
        node[3..7].copy_from_slice(&turn.to_array());
    }
    controls
}
