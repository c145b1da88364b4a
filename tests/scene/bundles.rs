//! One bundle with all rigs in it, and their vertices on the CPU.

use crate::gltf_case::{Case, TRIANGLE};
use crate::synthetic::{self, SMALL_REGIONS};
use rigeval::expression::ArkitShape;
use rigeval::files::Files;
use rigeval::gltf::cpu::gltf_morph;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::gnm::cpu::gnm_blend;
use rigeval::gnm::pack::{BasisFormat, GnmPack};
use rigeval::gnm::pose::{GnmPose, Stage};
use rigeval::orl::bake::bake;
use rigeval::orl::cpu::orl_deform;
use rigeval::orl::dna::{Dna, NEWEST_VERSION};
use rigeval::orl::instance::OrlInstance;
use rigeval::scene::{SceneData, SceneRig};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The GUI controls of the `orl` rig.
pub const GUI: [&str; 6] =
    ["CTRL_gui_000.ty", "CTRL_gui_001.ty", "CTRL_gui_002.ty", "CTRL_gui_003.ty", "CTRL_gui_004.ty", "CTRL_gui_005.ty"];

/// Its raw controls.
pub const RAW: [&str; 8] = [
    "CTRL_expressions.jawOpen",
    "CTRL_expressions.eyeBlinkL",
    "CTRL_expressions.eyeBlinkR",
    "CTRL_expressions.eyeLookLeftL",
    "CTRL_expressions.mouthCornerPullL",
    "CTRL_expressions.mouthCornerPullR",
    "CTRL_expressions.tongueOut",
    "CTRL_expressions.jawLeft",
];

/// The reference rig `tiny`, with the names of a face.
pub fn orl_pack() -> Vec<u8> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl/tiny.dna");
    let mut dna = Dna::read(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(dna.definition.gui_control_names, GUI);
    assert_eq!(dna.definition.raw_control_names.len(), RAW.len());
    dna.definition.raw_control_names = RAW.map(str::to_owned).to_vec();
    let bytes = dna.write(NEWEST_VERSION).unwrap();
    bake(&dna, &bytes, 0, 0, &mut |_| {}).unwrap().0.write()
}

pub fn gnm_pack() -> Vec<u8> {
    let mut parts = synthetic::parts(717, SMALL_REGIONS, BasisFormat::F16);
    parts.faces = vec![[0, 1, 2]];
    GnmPack::build(&parts).unwrap().write()
}

/// A tilted head whose eyes are joints, and teeth beside it; the jaw moves both. No target looks anywhere.
pub fn gltf_file() -> Vec<u8> {
    let eye = |side: &str, x: f32| json!({"name": side, "translation": [x, 1.0, 0.5], "rotation": [0.1, x, 0.0, 0.9]});
    let mut case = Case::new();
    let head = json!({"name": "head", "rotation": [0.2, 0.4, -0.1, 0.8], "children": [1, 2]});
    for node in [head, eye("LeftEye", 0.3), eye("RightEye", -0.3)] {
        case.push("nodes", node);
    }
    let skin = case.push("skins", json!({"joints": [0, 1, 2]}));
    let (position, jaw) = (case.rows(&TRIANGLE), case.rows(&[[0.0_f32, -0.5, 0.1], [0.0; 3], [0.0, 0.25, 0.0]]));
    let lanes = case.joints(&[[0, 0, 0, 0], [0, 1, 0, 0], [2, 0, 0, 0]]);
    let weights = case.rows(&[[1.0_f32, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]);
    let skinned = json!({"POSITION": position, "JOINTS_0": lanes, "WEIGHTS_0": weights});
    let targets = json!([{"POSITION": jaw}]);
    case.mesh_node(json!({"attributes": skinned, "targets": targets}), json!({"name": "skin", "skin": skin}));
    case.mesh_node(json!({"attributes": {"POSITION": position}, "targets": targets}), json!({"name": "teeth"}));
    for (mesh, name) in ["jawOpen", "JawOpen"].into_iter().enumerate() {
        case.json["meshes"][mesh]["extras"] = json!({"targetNames": [name]});
    }
    case.glb()
}

/// A bundle with this `scene.json` and all packs.
pub fn all(scene: &Value) -> Files {
    Files::Memory(files(scene))
}

/// The same with a `rig_names.json`.
pub fn with_names(scene: &Value, names: &[&str]) -> Files {
    let mut files = files(scene);
    files.insert("rig_names.json".into(), json!(names).to_string().into_bytes());
    Files::Memory(files)
}

pub fn files(scene: &Value) -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([
        ("scene.json".into(), scene.to_string().into_bytes()),
        ("orl_pack.bin".into(), orl_pack()),
        ("gnm_head.aosrig".into(), gnm_pack()),
        ("faces/face.glb".into(), gltf_file()),
    ])
}

/// A scene that sends ARKit weights, whatever the rig is.
pub fn arkit_scene(backend: &str) -> Value {
    let mut map = vec![-1; 52];
    // A coefficient of the lower face.
    map[ArkitShape::JawOpen as usize] = 20;
    json!({
        "branches": {"face": {"fused": false}},
        "rig": rig(backend),
        "expression_space": {"kind": "arkit52", "dim": 52, "arkit_map": map},
    })
}

/// The backends, each of which has a pack in the bundle.
pub const BACKENDS: [&str; 3] = ["orl", "gnm", "gltf"];

/// The `rig` block that opens a backend's pack.
pub fn rig(backend: &str) -> Value {
    let pack = (backend == "gltf").then_some("faces/face.glb");
    json!({"backend": backend, "pack": pack})
}

/// The vertices at these controls, by the rig's CPU reference.
pub fn cpu_vertices(data: &SceneData, controls: &[f32]) -> Vec<[f32; 3]> {
    match &data.rig {
        SceneRig::Gnm(pack) => {
            let mut pose = GnmPose::new(pack);
            pose.set_controls(pack, controls).unwrap();
            gnm_blend(pack, &pose, Stage::Pose)
        }
        SceneRig::Orl(rig) => {
            let mut instance = OrlInstance::new(rig);
            instance.set_controls(rig, controls).unwrap();
            orl_deform(rig.mesh(), instance.pose())
        }
        SceneRig::Gltf(model) => {
            let mut pose = GltfPose::new(model, OutputSpace::World);
            pose.set_controls(model, controls).unwrap();
            gltf_morph(model.mesh(), &pose)
        }
    }
}
