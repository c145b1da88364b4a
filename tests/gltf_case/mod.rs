//! Tiny glTF files, put together in code.
#![allow(dead_code)] // Each test binary uses its part of it.

use rigeval::error::LoadError;
use rigeval::files::Files;
use rigeval::gltf::cpu::gltf_morph;
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub const I8: u32 = 5120;
pub const U8: u32 = 5121;
pub const I16: u32 = 5122;
pub const U16: u32 = 5123;
pub const U32: u32 = 5125;
pub const F32: u32 = 5126;

/// The corner points of most cases.
pub const TRIANGLE: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

/// A document and its one buffer.
#[derive(Clone)]
pub struct Case {
    pub json: Value,
    pub bin: Vec<u8>,
}

pub fn bytes<T: bytemuck::NoUninit>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

impl Case {
    /// Nothing but a scene that shows node 0.
    pub fn new() -> Case {
        let json = json!({
            "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "buffers": [{"byteLength": 0}],
            "nodes": [], "meshes": [], "skins": [], "animations": [], "accessors": [], "bufferViews": []
        });
        Case { json, bin: Vec::new() }
    }

    /// Appends to a list of the document and gives the index.
    pub fn push(&mut self, list: &str, value: Value) -> usize {
        let list = self.json[list].as_array_mut().unwrap();
        list.push(value);
        list.len() - 1
    }

    pub fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let view = json!({"buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len()});
        self.bin.extend_from_slice(bytes);
        self.push("bufferViews", view)
    }

    pub fn accessor(&mut self, component: u32, shape: &str, count: usize, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        self.push("accessors", json!({"bufferView": view, "componentType": component, "type": shape, "count": count}))
    }

    pub fn normalized(&mut self, component: u32, shape: &str, count: usize, bytes: &[u8]) -> usize {
        let accessor = self.accessor(component, shape, count, bytes);
        self.json["accessors"][accessor]["normalized"] = json!(true);
        accessor
    }

    pub fn rows<const N: usize>(&mut self, rows: &[[f32; N]]) -> usize {
        let shape = ["SCALAR", "SCALAR", "VEC2", "VEC3", "VEC4"].get(N).copied().unwrap_or("MAT4");
        self.accessor(F32, shape, rows.len(), &bytes(rows.as_flattened()))
    }

    pub fn joints(&mut self, rows: &[[u8; 4]]) -> usize {
        self.accessor(U8, "VEC4", rows.len(), rows.as_flattened())
    }

    /// A mesh of one primitive under a node of its own, which the scene shows; gives the node.
    pub fn mesh_node(&mut self, primitive: Value, node: Value) -> usize {
        let mesh = self.push("meshes", json!({"primitives": [primitive]}));
        let mut node = node;
        node["mesh"] = json!(mesh);
        let node = self.push("nodes", node);
        self.json["scenes"][0]["nodes"] = json!((0..=node).filter(|&n| self.is_root(n)).collect::<Vec<_>>());
        node
    }

    fn is_root(&self, node: usize) -> bool {
        let nodes = self.json["nodes"].as_array().unwrap();
        !nodes.iter().any(|n| n["children"].as_array().is_some_and(|c| c.contains(&json!(node))))
    }

    /// Joints at the given translations, a skin over them, and points with four lanes each.
    pub fn skinned(joints: &[[f32; 3]], points: &[[f32; 3]], lanes: &[[u8; 4]], weights: &[[f32; 4]]) -> Case {
        let mut case = Case::new();
        for joint in joints {
            case.push("nodes", json!({"translation": joint}));
        }
        let skin = case.push("skins", json!({"joints": (0..joints.len()).collect::<Vec<_>>()}));
        let (position, lanes, weights) = (case.rows(points), case.joints(lanes), case.rows(weights));
        let attributes = json!({"POSITION": position, "JOINTS_0": lanes, "WEIGHTS_0": weights});
        case.mesh_node(json!({"attributes": attributes}), json!({"skin": skin}));
        case
    }

    /// The triangle under one node, with morph targets that move positions.
    pub fn morphed(targets: &[&[[f32; 3]]]) -> Case {
        let mut case = Case::new();
        let position = case.rows(&TRIANGLE);
        let targets: Vec<Value> = targets.iter().map(|t| json!({"POSITION": case.rows(t)})).collect();
        case.mesh_node(json!({"attributes": {"POSITION": position}, "targets": targets}), json!({}));
        case
    }

    /// Appends a clip of one channel.
    pub fn clip(&mut self, node: usize, path: &str, interpolation: &str, times: &[f32], output: usize) -> usize {
        let times: Vec<[f32; 1]> = times.iter().map(|&t| [t]).collect();
        let input = self.rows(&times);
        self.push(
            "animations",
            json!({
                "samplers": [{"input": input, "output": output, "interpolation": interpolation}],
                "channels": [{"sampler": 0, "target": {"node": node, "path": path}}]
            }),
        )
    }

    pub fn scalars(&mut self, values: &[f32]) -> usize {
        self.accessor(F32, "SCALAR", values.len(), &bytes(values))
    }

    pub fn primitive(&mut self) -> &mut Value {
        &mut self.json["meshes"][0]["primitives"][0]
    }

    /// The document with its buffer's true length.
    pub fn document(&self) -> Value {
        let mut json = self.json.clone();
        json["buffers"][0]["byteLength"] = json!(self.bin.len());
        json
    }

    pub fn glb(&self) -> Vec<u8> {
        container(&self.document(), &self.bin)
    }

    pub fn load(&self) -> Result<GltfModel, LoadError> {
        GltfModel::load(&self.glb(), &no_files())
    }

    pub fn model(&self) -> GltfModel {
        self.load().unwrap()
    }

    pub fn error(&self) -> LoadError {
        self.load().unwrap_err()
    }
}

/// A GLB of a document and its binary chunk.
pub fn container(json: &Value, bin: &[u8]) -> Vec<u8> {
    let mut json = serde_json::to_vec(json).unwrap();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut bin = bin.to_vec();
    bin.resize(bin.len().next_multiple_of(4), 0);
    let mut bytes = b"glTF".to_vec();
    for word in [2, 28 + json.len() + bin.len(), json.len(), 0x4E4F_534A] {
        bytes.extend((word as u32).to_le_bytes());
    }
    bytes.extend(json);
    bytes.extend((bin.len() as u32).to_le_bytes());
    bytes.extend(0x004E_4942_u32.to_le_bytes());
    bytes.extend(bin);
    bytes
}

pub fn no_files() -> Files {
    Files::Memory(BTreeMap::new())
}

/// The vertices at some controls.
pub fn vertices(model: &GltfModel, controls: &[f32]) -> Vec<[f32; 3]> {
    let mut pose = GltfPose::new(model, OutputSpace::World);
    pose.set_controls(model, controls).unwrap();
    gltf_morph(model.mesh(), &pose)
}

/// The vertices as the file stands.
pub fn rest(model: &GltfModel) -> Vec<[f32; 3]> {
    gltf_morph(model.mesh(), &GltfPose::new(model, OutputSpace::World))
}

/// The controls of clip 0 at a time.
pub fn sampled(model: &GltfModel, time: f64) -> Vec<f32> {
    let clip = &model.clips()[0];
    let mut controls = model.controls().defaults().to_vec();
    clip.sample(time, &mut clip.cursor(), &mut controls);
    controls
}

/// The control of that name.
pub fn control(model: &GltfModel, name: &str) -> usize {
    model.controls().names().iter().position(|n| n == name).unwrap_or_else(|| panic!("no control {name}"))
}

#[track_caller]
pub fn assert_near<const N: usize>(got: &[[f32; N]], want: &[[f32; N]], tolerance: f32) {
    assert_eq!(got.len(), want.len(), "{got:?} for {want:?}");
    let near = |(g, w): (&[f32; N], &[f32; N])| g.iter().zip(w).all(|(g, w)| (g - w).abs() <= tolerance);
    assert!(got.iter().zip(want).all(near), "{got:?}, expected {want:?}");
}
