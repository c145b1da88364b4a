//! One bundle with both rigs in it, and their vertices on the CPU.

use crate::synthetic::{self, SMALL_REGIONS};
use rigeval::expression::ArkitShape;
use rigeval::files::Files;
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

/// A bundle with this `scene.json` and both packs.
pub fn both(scene: &Value) -> Files {
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
    ])
}

/// A scene that sends ARKit weights, whatever the rig is.
pub fn arkit_scene(backend: &str) -> Value {
    let mut map = vec![-1; 52];
    // A coefficient of the lower face.
    map[ArkitShape::JawOpen as usize] = 20;
    json!({
        "branches": {"face": {"fused": false}},
        "rig": {"backend": backend},
        "expression_space": {"kind": "arkit52", "dim": 52, "arkit_map": map},
    })
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
    }
}
