//! Bundles: one body drives whatever rig `scene.json` names; defaults, layers and refusals.

mod bundles;
#[cfg(feature = "gpu")]
#[path = "../common/mod.rs"]
mod common;
#[path = "../gltf_case/mod.rs"]
mod gltf_case;
#[cfg(feature = "gpu")]
mod open;
mod refusals;
#[path = "../synthetic/mod.rs"]
mod synthetic;

use bundles::{BACKENDS, GUI, RAW, all, arkit_scene, cpu_vertices, files, rig, with_names};
use rigeval::error::ControlError;
use rigeval::expression::{ArkitShape, SpaceKind};
use rigeval::files::Files;
use rigeval::head::HeadSize;
use rigeval::orl::bake::bake;
use rigeval::orl::controls::ControlLayer;
use rigeval::orl::rig::OrlRig;
use rigeval::orl::sample::{FILE_VERSION, sample};
use rigeval::scene::{SceneData, SceneRig, load};
use serde_json::{Value, json};
use std::sync::Arc;

fn loaded(scene: &Value) -> SceneData {
    load(&all(scene), None).unwrap_or_else(|e| panic!("{scene}: {e}"))
}

fn orl(data: &SceneData) -> &Arc<OrlRig> {
    let SceneRig::Orl(rig) = &data.rig else { panic!("not an orl rig") };
    rig
}

#[test]
fn arkit_weights_move_every_rig_through_the_same_code() {
    for backend in BACKENDS {
        let data = loaded(&arkit_scene(backend));
        let space = &data.space;
        let mut weights = vec![0.0; space.space().dim()];
        let mut controls = vec![f32::NAN; space.map().unwrap().dim()];
        let mut posed = |weight: f32| {
            weights[space.space().column(ArkitShape::JawOpen).unwrap()] = weight;
            space.controls(&weights, &mut controls).unwrap();
            cpu_vertices(&data, &controls)
        };
        let (rest, half, open) = (posed(0.0), posed(0.5), posed(1.0));
        assert_ne!(rest, half, "{backend}");
        assert_ne!(half, open, "{backend}");
        assert_eq!(posed(7.0), open, "{backend}: a weight is at most 1");
        assert_eq!(posed(-1.0), rest, "{backend}: and at least 0");
    }
}

#[test]
fn bundle_that_declares_nothing_is_orl_with_its_own_names() {
    for names in [vec![GUI[3], GUI[0], GUI[5], GUI[1]], vec![RAW[6], RAW[0], RAW[2]]] {
        let data = load(&with_names(&json!({}), &names), None).unwrap();
        assert_eq!(orl(&data).controls().names(), names);
        assert_eq!((data.space.space().kind(), data.space.space().dim()), (SpaceKind::Arkit52, 52));
        let mut controls = vec![0.0; names.len()];
        let result = data.space.controls(&[1.0; 52], &mut controls);
        match orl(&data).controls().layer() {
            ControlLayer::Raw => assert_eq!((result, controls), (Ok(()), vec![1.0; 3])),
            ControlLayer::Gui => assert!(matches!(result, Err(ControlError::Space { .. })), "{result:?}"),
        }
    }
    // Without names it has all of its raw controls.
    let data = loaded(&json!({}));
    assert_eq!(orl(&data).controls().names(), RAW);
}

#[test]
fn orl_that_is_driven_by_arkit_is_opened_on_its_raw_layer() {
    let scene = |names: &[&str]| json!({"rig": {"backend": "orl", "control_names": names}, "expression_space": {"kind": "arkit52", "dim": 52}});
    // GUI names are checked, and then give way to all raw controls; raw ones keep their order and spelling.
    for (names, expected) in [
        (vec![GUI[1], GUI[0]], RAW.to_vec()),
        (vec!["ctrl_expressions_tongueout", RAW[0]], vec!["ctrl_expressions_tongueout", RAW[0]]),
    ] {
        let data = load(&with_names(&scene(&names), &["not looked at"]), None).unwrap();
        let controls = orl(&data).controls();
        assert_eq!(controls.layer(), ControlLayer::Raw);
        assert_eq!(controls.names(), expected);
        let mut values = vec![f32::NAN; expected.len()];
        let mut weights = [0.0; 52];
        weights[ArkitShape::TongueOut as usize] = 0.5;
        data.space.controls(&weights, &mut values).unwrap();
        let tongue = expected.iter().position(|n| n.to_lowercase().ends_with("tongueout")).unwrap();
        assert_eq!((values[tongue], values.iter().sum::<f32>()), (0.5, 0.5));
    }
}

#[test]
fn every_shape_reaches_the_sample_head_through_a_bundle() {
    let dna = sample(HeadSize::Small);
    let pack = bake(&dna, &dna.write(FILE_VERSION).unwrap(), 0, 0, &mut |_| {}).unwrap().0;
    let scene = json!({"expression_space": {"kind": "arkit52", "dim": 52}, "rig": {"backend": "orl"}});
    let mut files = files(&scene);
    files.insert("orl_pack.bin".into(), pack.write());
    let gui = json!(dna.definition.gui_control_names).to_string();
    files.insert("rig_names.json".into(), gui.into_bytes());
    let data = load(&Files::Memory(files), None).unwrap();
    let map = data.space.map().unwrap();
    assert_eq!((map.dim(), map.dropped()), (dna.definition.raw_control_names.len(), &[][..]));
    let mut controls = orl(&data).default_controls().to_vec();
    let rest = cpu_vertices(&data, &controls);
    for shape in ArkitShape::ALL {
        let mut weights = [0.0; 52];
        weights[shape as usize] = 1.0;
        data.space.controls(&weights, &mut controls).unwrap();
        assert_ne!(cpu_vertices(&data, &controls), rest, "{}", shape.name());
    }
}

#[test]
fn gnm_bundle_without_a_space_takes_its_own_controls() {
    let data = loaded(&json!({"rig": {"backend": "gnm", "control_names": ["of", "another"], "vertex_count": 717}}));
    let dim = data.space.space().dim();
    assert_eq!((data.space.space().kind(), dim), (SpaceKind::Gnm, 46));
    let weights: Vec<f32> = (0..dim).map(|i| i as f32 / 100.0).collect();
    let mut controls = vec![f32::NAN; dim];
    data.space.controls(&weights, &mut controls).unwrap();
    assert_eq!(controls, weights);
    let refused = data.space.controls(&[0.0; 52], &mut controls).unwrap_err().to_string();
    assert!(refused.contains("52-value") && refused.contains("gnm") && refused.contains("arkit_map"), "{refused}");
}

#[test]
fn pack_may_be_a_dna_and_then_eyes_and_teeth_come_with_the_skin() {
    let dna = sample(HeadSize::Small);
    let mut bundle = files(&json!({
        "rig": {"backend": "orl", "pack": "head.dna"},
        "expression_space": {"kind": "arkit52", "dim": 52},
    }));
    bundle.insert("head.dna".into(), dna.write(FILE_VERSION).unwrap());
    let data = load(&Files::Memory(bundle), None).unwrap();
    let rig = orl(&data);
    let shown: Vec<&str> =
        dna.definition.lod_meshes.list(0).iter().map(|&m| dna.definition.mesh_names[usize::from(m)].as_str()).collect();
    assert!(shown.len() > 2, "{shown:?}");
    let meshes: Vec<&str> = rig.mesh().ranges().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(meshes, shown);
    let mut weights = vec![0.0; 52];
    let mut controls = vec![0.0; data.space.map().unwrap().dim()];
    let mut posed = |shape: ArkitShape| {
        weights.fill(0.0);
        weights[data.space.space().column(shape).unwrap()] = 1.0;
        data.space.controls(&weights, &mut controls).unwrap();
        cpu_vertices(&data, &controls)
    };
    // The jaw takes the skin and the lower teeth along and leaves the eyes; a look does the reverse to the eyes.
    let moved = |posed: &[[f32; 3]], range: &std::ops::Range<usize>| {
        let apart = |(a, b): (&[f32; 3], &[f32; 3])| (0..3).map(|i| (a[i] - b[i]).abs()).fold(0.0, f32::max);
        posed[range.clone()].iter().zip(&rig.rest_positions()[range.clone()]).map(apart).fold(0.0, f32::max)
    };
    let (open, look) = (posed(ArkitShape::JawOpen), posed(ArkitShape::EyeLookUpLeft));
    let mut turned = Vec::new();
    for (name, range) in rig.mesh().ranges() {
        let (by_jaw, by_look) = (moved(&open, range), moved(&look, range));
        assert!(!(1e-3..=0.5).contains(&by_jaw), "{name}: the jaw moves it by {by_jaw} cm");
        if by_jaw < 1e-3 && by_look > 0.05 {
            turned.push(name.as_str());
        }
    }
    assert_eq!(turned.len(), 1, "the left eye alone: {turned:?}");
}

#[test]
fn gltf_bundle_without_a_space_takes_its_own_controls_and_arkit_where_it_has_a_face() {
    let mut block = rig("gltf");
    (block["control_names"], block["vertex_count"]) = (json!(["of", "another"]), json!(6));
    let data = loaded(&json!({ "rig": block }));
    let SceneRig::Gltf(model) = &data.rig else { panic!("not a gltf rig") };
    assert_eq!((data.space.space().kind(), data.space.space().dim()), (SpaceKind::Arkit52, 52));
    assert_eq!(data.space.map().unwrap().dim(), model.controls().names().len());
    assert_eq!(data.space.arkit().unwrap(), data.space.map().unwrap());

    // Without a face it opens too, unless the scene says that ARKit drives it.
    let mut case = gltf_case::Case::morphed(&[&gltf_case::TRIANGLE]);
    case.json["meshes"][0]["extras"] = json!({"targetNames": ["smile"]});
    let mut bundle = files(&json!({"rig": {"backend": "gltf", "pack": "toy.glb"}}));
    bundle.insert("toy.glb".into(), case.glb());
    let toy = load(&Files::Memory(bundle.clone()), None).unwrap();
    let mut controls = vec![7.0; case.model().controls().names().len()];
    let refused = toy.space.controls(&[1.0; 52], &mut controls).unwrap_err();
    assert_eq!(toy.space.arkit().unwrap_err(), refused);
    assert!(controls.iter().all(|c| *c == 7.0));
    assert!(cpu_vertices(&toy, case.model().controls().defaults()) == case.model().rest_positions());
    let stated =
        json!({"rig": {"backend": "gltf", "pack": "toy.glb"}, "expression_space": {"kind": "arkit52", "dim": 52}});
    bundle.insert("scene.json".into(), stated.to_string().into_bytes());
    let error = load(&Files::Memory(bundle), None).unwrap_err().to_string();
    assert_eq!(error, format!("scene.json: {refused}"));
}

#[test]
fn gltf_face_moves_by_targets_on_both_meshes_and_by_eye_joints() {
    let data = loaded(&arkit_scene("gltf"));
    let mut controls = vec![0.0; data.space.map().unwrap().dim()];
    let mut posed = |shape: ArkitShape| {
        let mut weights = [0.0; 52];
        weights[data.space.space().column(shape).unwrap()] = 1.0;
        data.space.controls(&weights, &mut controls).unwrap();
        cpu_vertices(&data, &controls)
    };
    let rest = posed(ArkitShape::TongueOut);
    let mut moved = |shape| -> Vec<usize> {
        let now = posed(shape);
        (0..rest.len()).filter(|&v| now[v] != rest[v]).collect()
    };
    assert_eq!(moved(ArkitShape::JawOpen), [0, 2, 3, 5]);
    assert_eq!(moved(ArkitShape::EyeLookUpLeft), [1], "held by the left eye in part");
    assert_eq!(moved(ArkitShape::EyeLookInRight), [2]);
    assert_eq!(data.space.map().unwrap().dropped().len(), 52 - 1 - 8);
}
