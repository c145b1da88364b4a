use super::manifest::*;
use super::*;
use crate::expression::{ArkitMap, ArkitShape, GnmRegions, SpaceKind};
use crate::orl::controls::{ControlBinding, ControlLayer};
use crate::orl::dna::Dna;
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(scene: &Value) -> Result<SceneManifest, LoadError> {
    SceneManifest::read(scene.to_string().as_bytes())
}

fn space_block(block: Value) -> SpaceBlock {
    read(&json!({ "expression_space": block })).unwrap().space.unwrap()
}

/// Names of a rig with three raw controls that shapes drive and the w of a quaternion, and two GUI controls.
fn dna() -> Dna {
    let names = |list: &[&str]| list.iter().map(|&n| n.to_owned()).collect();
    let mut dna = Dna::default();
    dna.definition.gui_control_names = names(&["CTRL_C_jaw.ty", "CTRL_L_eye_blink.ty"]);
    dna.definition.raw_control_names =
        names(&["CTRL_expressions.eyeBlinkL", "neck_01.w", "CTRL_expressions.jawOpen", "CTRL_expressions.tongueOut"]);
    dna
}

fn one_slot(shape: ArkitShape, slot: i64) -> Value {
    let mut map = vec![json!(-1); 52];
    map[shape as usize] = json!(slot);
    json!(map)
}

#[test]
fn scene_that_declares_nothing_is_orl_with_default_names() {
    for scene in [json!({}), json!({"rig": null, "expression_space": null, "world_scale": 0.01})] {
        let manifest = read(&scene).unwrap();
        assert_eq!((manifest.backend(), manifest.pack()), (SceneBackend::Orl, Some("orl_pack.bin")));
        assert_eq!((manifest.rig, manifest.space), (None, None));
    }
}

#[test]
fn rig_block_defaults_follow_the_backend() {
    let cases = [
        (json!({"backend": "orl"}), SceneBackend::Orl, Some("orl_pack.bin")),
        (json!({"backend": "gnm"}), SceneBackend::Gnm, Some("gnm_head.aosrig")),
        (json!({"backend": "gnm", "pack": null}), SceneBackend::Gnm, Some("gnm_head.aosrig")),
        (json!({"backend": "orl", "pack": "./a//b.bin"}), SceneBackend::Orl, Some("a/b.bin")),
        (json!({"backend": "gltf", "pack": "a.glb"}), SceneBackend::Gltf, Some("a.glb")),
        (json!({"backend": "none", "pack": "a.glb"}), SceneBackend::None, None),
    ];
    for (rig, backend, pack) in cases {
        let manifest = read(&json!({ "rig": rig })).unwrap();
        assert_eq!((manifest.backend(), manifest.pack()), (backend, pack), "{rig}");
    }
    let rig = json!({"backend": "orl", "control_names": ["a", "b"], "vertex_count": 7, "zz": [1]});
    let block = read(&json!({ "rig": rig })).unwrap().rig.unwrap();
    assert_eq!((block.control_names, block.vertex_count), (Some(vec!["a".into(), "b".into()]), Some(7)));
    let rig = json!({"backend": "orl", "control_names": [], "vertex_count": 0});
    let block = read(&json!({ "rig": rig })).unwrap().rig.unwrap();
    assert_eq!((block.control_names, block.vertex_count), (None, None));
}

#[test]
fn rig_is_none_where_every_branch_is_fused() {
    let fused = json!({"fused": true, "points": [1, 2]});
    let cases = [
        (json!({"face": fused}), SceneBackend::None),
        (json!({"face": fused, "hair": fused}), SceneBackend::None),
        (json!({"face": fused, "hair": {"fused": false}}), SceneBackend::Orl),
        (json!({"face": fused, "hair": {}}), SceneBackend::Orl),
        // What is no branch of the exporter's form fuses nothing.
        (json!({"face": fused, "hair": {"fused": "yes"}}), SceneBackend::Orl),
        (json!({"face": fused, "hair": 3}), SceneBackend::Orl),
        (json!({"face": [true]}), SceneBackend::Orl),
        (json!({}), SceneBackend::Orl),
        (json!([fused]), SceneBackend::Orl),
        (json!(null), SceneBackend::Orl),
    ];
    for (branches, backend) in cases {
        assert_eq!(read(&json!({ "branches": branches })).unwrap().backend(), backend, "{branches}");
        let stated = read(&json!({"branches": branches, "rig": {"backend": "gnm"}})).unwrap();
        assert_eq!(stated.backend(), SceneBackend::Gnm, "a rig block decides: {branches}");
    }
}

#[test]
fn rest_of_the_file_is_left_alone() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!(r#"{{"a":{deep},"rig":{{"backend":"gnm"}},"a":"twice","x":1e999}}"#);
    assert_eq!(SceneManifest::read(text.as_bytes()).unwrap().backend(), SceneBackend::Gnm);
}

#[test]
fn every_truncation_is_refused() {
    let scene = json!({"rig": {"backend": "orl", "pack": "p"}, "expression_space": {"kind": "arkit52", "dim": 52}});
    let text = scene.to_string();
    for length in 0..text.len() {
        assert!(SceneManifest::read(&text.as_bytes()[..length]).is_err(), "{length} bytes");
    }
}

#[test]
fn wrong_fields_are_refused_with_one_line_each() {
    let rig = |field: &str, value: Value| json!({"rig": {"backend": "orl", field: value}});
    let space = |block: Value| json!({ "expression_space": block });
    let arkit = |field: &str, value: Value| space(json!({"kind": "arkit52", "dim": 52, field: value}));
    let segment = |name: &str, start: i64, count: i64| json!({"name": name, "start": start, "count": count});
    let segments = "expression_space.segments: expected";
    let cases = [
        (json!({"rig": "orl"}), "rig: expected an object, got \"orl\"".into()),
        (json!({"rig": []}), "rig: expected an object, got []".into()),
        (json!({"rig": {}}), "rig.backend: expected orl, gnm, gltf or none, got nothing".into()),
        (rig("backend", json!(3)), "rig.backend: expected orl, gnm, gltf or none, got 3".into()),
        (rig("backend", json!("rig2mesh")), "rig.backend: expected orl, gnm, gltf or none, got \"rig2mesh\"".into()),
        (rig("backend", json!("ORL")), "rig.backend: expected orl, gnm, gltf or none, got \"ORL\"".into()),
        (rig("pack", json!(5)), "rig.pack: expected a path inside the bundle, got 5".into()),
        (
            rig("pack", json!("../orl_pack.bin")),
            "rig.pack: path \"../orl_pack.bin\": expected a relative path inside the bundle, got a step out of it (..)".into(),
        ),
        (
            rig("pack", json!("https://a/b")),
            "rig.pack: path \"https://a/b\": expected a relative path inside the bundle, got a URL or a drive letter".into(),
        ),
        (
            rig("vertex_count", json!(-1)),
            "rig.vertex_count: expected a count of vertices, or 0 for unstated, got -1".into(),
        ),
        (
            rig("vertex_count", json!(1.5)),
            "rig.vertex_count: expected a count of vertices, or 0 for unstated, got 1.5".into(),
        ),
        (
            rig("vertex_count", json!(null)),
            "rig.vertex_count: expected a count of vertices, or 0 for unstated, got null".into(),
        ),
        (rig("control_names", json!(["a", 3])), "rig.control_names: expected an array of strings, got 3".into()),
        (rig("control_names", json!("a")), "rig.control_names: expected an array of strings, got \"a\"".into()),
        (space(json!(52)), "expression_space: expected an object, got 52".into()),
        (space(json!({"dim": 52})), "expression_space.kind: expected arkit52, gnm or gnm68, got nothing".into()),
        (
            space(json!({"kind": "flame", "dim": 5})),
            "expression_space.kind: expected arkit52, gnm or gnm68, got \"flame\"".into(),
        ),
        (
            space(json!({"kind": "arkit52"})),
            "expression_space.dim: expected a dim or names for arkit52, got neither".into(),
        ),
        (
            space(json!({"kind": "arkit52", "dim": -3, "names": []})),
            "expression_space.dim: expected a dim or names for arkit52, got neither".into(),
        ),
        (
            space(json!({"kind": "gnm68", "dim": 0})),
            "expression_space.dim: expected a dim or names for gnm68, got neither".into(),
        ),
        (space(json!({"kind": "gnm68", "dim": 52})), "expression_space.dim: expected 68 for gnm68, got 52".into()),
        (
            space(json!({"kind": "arkit52", "dim": 51})),
            "expression_space.dim: expected 52 for arkit52 without names, got 51".into(),
        ),
        (arkit("dim", json!("52")), "expression_space.dim: expected an integer, got \"52\"".into()),
        (arkit("names", json!(["jawOpen"])), "expression_space.names: expected 52 names, as dim says, got 1".into()),
        (
            space(json!({"kind": "arkit52", "names": ["smile", "frown"]})),
            "expression_space.names: expected names of ARKit shapes, got \"smile\", ...".into(),
        ),
        (
            space(json!({"kind": "arkit52", "names": ["jawOpen", "JawOpen"]})),
            "expression_space.names: expected one column for jawOpen, got \"jawOpen\" in column 0 and \"JawOpen\" in column 1".into(),
        ),
        (arkit("segments", json!([segment("a", 0, 51)])), format!("{segments} an end at 52, got 51")),
        (
            arkit("segments", json!([segment("a", 1, 51)])),
            format!("{segments} \"a\" to start at 0 and to end at most at 52, got start 1 and count 51"),
        ),
        (
            arkit("segments", json!([segment("a", 0, -1)])),
            format!(
                "{segments} an array of objects with name, start and count, got {{\"count\":-1,\"name\":\"a\",\"start\":0}}"
            ),
        ),
        (arkit("segments", json!("x")), format!("{segments} an array of objects with name, start and count, got \"x\"")),
    ];
    for (scene, expected) in cases {
        assert_eq!(read(&scene).unwrap_err().to_string(), expected, "{scene}");
    }
    for text in [
        "",
        "[",
        "[]",
        "[null, null, null]",
        "3",
        "null",
        "{} x",
        "\u{feff}{}",
        r#"{"rig":{},"rig":{}}"#,
        r#"{"rig":{"a":}}"#,
    ] {
        let error = SceneManifest::read(text.as_bytes()).unwrap_err();
        assert_eq!(
            (error.kind, error.to_string().lines().count()),
            (crate::error::LoadErrorKind::Corrupt, 1),
            "{text}"
        );
    }
    assert!(SceneManifest::read(b"{\"\xff\": 1}").is_err());
    let huge = json!({"rig": {"backend": "orl", "x": "y".repeat(1 << 20)}});
    let expected = format!("rig: expected at most 1048576 bytes, got {}", huge["rig"].to_string().len());
    assert_eq!(read(&huge).unwrap_err().to_string(), expected);
}

#[test]
fn name_lists_are_arrays_of_strings() {
    assert_eq!(read_names(br#"["b", "a"]"#).unwrap(), ["b", "a"]);
    assert_eq!(read_names(b"{}").unwrap_err().to_string(), "expected an array of strings, got {}");
    assert_eq!(read_names(b"[\"a\", null]").unwrap_err().to_string(), "expected an array of strings, got null");
    assert!(read_names(b"[").is_err());
}

#[test]
fn gnm_space_without_a_block_is_the_rig_itself() {
    for layout in [GnmRegions::full(), GnmRegions::reduced(), GnmRegions::new(&[("a", 3)]).unwrap()] {
        let space = SceneSpace::of_gnm(None, &layout, None).unwrap();
        assert_eq!((space.space().kind(), space.space().dim()), (SpaceKind::Gnm, layout.dim()));
        assert_eq!(space.space().segments(), layout.segments());
    }
    let space = SceneSpace::of_gnm(None, &GnmRegions::full(), None).unwrap();
    let mut controls = vec![7.0; 387];
    let error = space.controls(&[0.0; 52], &mut controls).unwrap_err().to_string();
    assert!(error.contains("52-value") && error.contains("gnm") && error.contains("arkit_map"), "{error}");
    // A vector of the reduced view is not one of the full space.
    assert!(space.controls(&[0.0; 68], &mut controls).is_err());
    let error = space.arkit().unwrap_err().to_string();
    assert!(error.contains("arkit52") && error.contains("gnm") && error.contains("arkit_map"), "{error}");
    assert!(controls.iter().all(|&c| c == 7.0));
}

#[test]
fn gnm_space_as_stated_is_the_rig_or_refused() {
    let full = GnmRegions::full();
    let segments = |layout: &GnmRegions| -> Value {
        let segments = layout.segments().iter();
        segments.map(|s| json!({"name": s.name, "start": s.start, "count": s.count})).collect()
    };
    let names = full.names(crate::expression::GnmNames::Model);
    let mut swapped = names.clone();
    swapped.swap(200, 201);
    let good = [
        json!({"kind": "gnm"}),
        json!({"kind": "gnm", "dim": 387, "segments": segments(&full)}),
        json!({"kind": "gnm", "names": names}),
        json!({"kind": "gnm", "segments": [], "names": [], "dim": 0}),
    ];
    for block in good {
        let space = SceneSpace::of_gnm(Some(&space_block(block.clone())), &full, None).expect("the rig's own");
        assert_eq!(space.space().dim(), 387, "{block}");
    }
    let mut other = segments(&GnmRegions::reduced());
    other[0]["name"] = json!("left");
    let cases = [
        (json!({"kind": "gnm", "dim": 68}), "dim: expected 387, the controls of the rig, got 68"),
        (
            json!({"kind": "gnm", "segments": [{"name": "a", "start": 0, "count": 387}]}),
            "segments: expected left_eye 100, right_eye 100, lower_face 150, tongue 32, pupils 1, gaze 4, got a 387",
        ),
        (
            json!({"kind": "gnm", "names": swapped}),
            "names: expected the rig's own names, \"left_eye_000\" at 0, got \"left_eye_region_000\"",
        ),
        (
            json!({"kind": "gnm68", "dim": 68, "segments": [{"name": "gaze", "start": 0, "count": 68}]}),
            "segments: expected gaze 4 as the last one, got gaze 68",
        ),
        (json!({"kind": "gnm", "arkit_map": [1, 2]}), "arkit_map: expected 52 entries, one for each shape, got 2"),
        (
            json!({"kind": "gnm", "arkit_map": one_slot(ArkitShape::JawOpen, 387)}),
            "arkit_map[17]: expected -1 or a control below 387, got 387",
        ),
    ];
    for (block, expected) in cases {
        let error = SceneSpace::of_gnm(Some(&space_block(block.clone())), &full, None).unwrap_err();
        assert_eq!(error.to_string(), format!("scene.json: expression_space.{expected}"), "{block}");
    }
    let block = space_block(json!({"kind": "gnm68", "dim": 68, "segments": other}));
    let error = SceneSpace::of_gnm(Some(&block), &full, None).unwrap_err().to_string();
    assert_eq!(
        error,
        "scene.json: expression space: gnm68 vectors cannot drive this gnm rig: 16 coefficients of region left; the rig has 0"
    );
}

#[test]
fn gnm68_vector_is_expanded_region_by_region() {
    let full = GnmRegions::full();
    let other = json!([
        {"name": "lower_face", "start": 0, "count": 60}, {"name": "left_eye", "start": 60, "count": 4},
        {"name": "gaze", "start": 64, "count": 4},
    ]);
    let cases = [
        (json!({"kind": "gnm68", "dim": 68}), vec![(15, 15), (16, 100), (32, 200), (63, 382), (67, 386)]),
        (json!({"kind": "gnm68", "dim": 68, "segments": other}), vec![(0, 200), (59, 259), (60, 0), (64, 383)]),
    ];
    for (block, places) in cases {
        let space = SceneSpace::of_gnm(Some(&space_block(block)), &full, None).unwrap();
        let vector: Vec<f32> = (1..=68).map(|i| i as f32).collect();
        let mut controls = vec![f32::NAN; 387];
        space.controls(&vector, &mut controls).unwrap();
        assert_eq!(controls.iter().filter(|c| **c != 0.0).count(), 68);
        for (from, to) in places {
            assert_eq!(controls[to], vector[from], "{from} to {to}");
        }
    }
}

#[test]
fn arkit_drives_gnm_through_a_map_only() {
    let full = GnmRegions::full();
    let jaw = |space: &SceneSpace| {
        let mut weights = vec![0.0; 52];
        weights[space.arkit().unwrap().space().column(ArkitShape::JawOpen).unwrap()] = 0.5;
        let mut controls = vec![f32::NAN; 387];
        space.arkit().unwrap().controls(&weights, &mut controls).unwrap();
        controls.into_iter().enumerate().filter(|c| c.1 != 0.0).collect::<Vec<_>>()
    };
    let bare = space_block(json!({"kind": "arkit52", "dim": 52}));
    let error = SceneSpace::of_gnm(Some(&bare), &full, None).unwrap_err().to_string();
    let expected = "scene.json: expression space: arkit52 vectors cannot drive this gnm rig: an arkit_map, a fitted table, or the hand-made table asked for by name";
    assert_eq!(error, expected);
    let by_host = SceneSpace::of_gnm(Some(&bare), &full, Some(ArkitMap::HandMade)).unwrap();
    assert_eq!(jaw(&by_host), [(201, 0.75), (209, 1.5)]);

    let map = one_slot(ArkitShape::JawOpen, 209);
    let arkit = space_block(json!({"kind": "arkit52", "dim": 52, "arkit_map": map}));
    let gnm = space_block(json!({"kind": "gnm", "arkit_map": map}));
    for (block, kind) in [(arkit, SpaceKind::Arkit52), (gnm, SpaceKind::Gnm)] {
        let space = SceneSpace::of_gnm(Some(&block), &full, None).unwrap();
        assert_eq!((space.space().kind(), jaw(&space)), (kind, vec![(209, 0.5)]));
        // The host's map goes first.
        let space = SceneSpace::of_gnm(Some(&block), &full, Some(ArkitMap::HandMade)).unwrap();
        assert_eq!(jaw(&space).len(), 2);
    }
    let names = space_block(json!({"kind": "arkit52", "names": ["x", "jawOpen", "eyeBlink_L"], "arkit_map": map}));
    let space = SceneSpace::of_gnm(Some(&names), &full, None).unwrap();
    let mut controls = vec![f32::NAN; 387];
    space.controls(&[1.0, 0.25, 1.0], &mut controls).unwrap();
    assert_eq!(controls.iter().sum::<f32>(), 0.25);
}

#[test]
fn arkit_drives_the_raw_controls_of_orl_from_their_rest() {
    let raw = ControlBinding::of_layer(&dna(), ControlLayer::Raw);
    let stated = space_block(json!({"kind": "arkit52", "dim": 52, "arkit_map": one_slot(ArkitShape::JawOpen, 386)}));
    for block in [None, Some(&stated)] {
        let space = SceneSpace::of_orl(block, &raw, &[0.0, 1.0, 0.0, 0.0]).unwrap();
        let mut weights = [0.0; 52];
        weights[ArkitShape::JawOpen as usize] = 0.5;
        let mut controls = [f32::NAN; 4];
        space.controls(&weights, &mut controls).unwrap();
        assert_eq!(controls, [0.0, 1.0, 0.5, 0.0]);
        assert_eq!(space.map().unwrap().dropped().len(), 49);
        assert_eq!(space.map(), space.arkit());
    }
    let names = ["CTRL_expressions_mouthLeft", "ctrl_expressions_jawopen", "CTRL_expressions_eyeBlinkL", "neck_01.w"];
    let names: Vec<String> = names.iter().chain(&["CTRL_expressions_tongueOut"]).map(|n| n.to_string()).collect();
    let named = ControlBinding::of_names(&dna(), &names).unwrap();
    assert_eq!(named.unresolved(), ["CTRL_expressions_mouthLeft"]);
    let space = SceneSpace::of_orl(Some(&stated), &named, &[0.0, 0.0, 0.0, 1.0, 0.0]).unwrap();
    let mut controls = [f32::NAN; 5];
    space.controls(&[1.0; 52], &mut controls).unwrap();
    assert_eq!(controls, [0.0, 1.0, 1.0, 1.0, 1.0], "a name that the rig lacks is no control of a shape");
}

#[test]
fn spaces_that_orl_cannot_take_are_refused() {
    let gui = ControlBinding::of_layer(&dna(), ControlLayer::Gui);
    let raw = ControlBinding::of_layer(&dna(), ControlLayer::Raw);
    let refused = |block: Value| {
        let result = SceneSpace::of_orl(Some(&space_block(block)), &raw, &[0.0; 4]);
        result.unwrap_err().to_string()
    };
    for kind in ["gnm", "gnm68"] {
        let expected = format!(
            "scene.json: expression space: {kind} vectors cannot drive this orl rig: these need a rig of backend gnm"
        );
        assert_eq!(refused(json!({"kind": kind, "dim": 68})), expected);
    }
    let map = refused(json!({"kind": "arkit52", "dim": 52, "arkit_map": [0.5]}));
    assert_eq!(map, "scene.json: expression_space.arkit_map: expected 52 entries, one for each shape, got 1");

    // A bundle of before the two blocks: its GUI controls are taken as they are, and nothing else.
    let space = SceneSpace::of_orl(None, &gui, &[0.0; 2]).unwrap();
    assert_eq!((space.space().kind(), space.space().dim()), (SpaceKind::Arkit52, 52));
    let error = space.controls(&[0.0; 52], &mut [0.0; 2]).unwrap_err().to_string();
    assert!(error.contains("arkit52") && error.contains("orl") && error.contains("GUI controls"), "{error}");
    let stated = space_block(json!({"kind": "arkit52", "dim": 52}));
    assert!(matches!(SceneSpace::of_orl(Some(&stated), &gui, &[0.0; 2]), Err(SceneError::Space(_))));
}

fn any_json() -> impl Strategy<Value = Value> {
    let names = || prop::sample::select(vec!["arkit52", "gnm", "gnm68", "orl", "none", "jawOpen", "gaze", "../a", ""]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![0i64, 1, 4, 46, 52, 68, 387]).prop_map(Value::from),
        names().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 64, 60, move |inner| {
        let keys = prop::sample::select(vec!["name", "start", "count", "fused", "x"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..60).prop_map(Value::from),
            prop::collection::btree_map(keys.prop_map(str::to_owned), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_fields_give_a_scene_or_one_line(
        rig in prop::collection::btree_map(
            prop::sample::select(vec!["backend", "pack", "control_names", "vertex_count"]), any_json(), 0..4),
        space in prop::collection::btree_map(
            prop::sample::select(vec!["kind", "dim", "names", "segments", "arkit_map"]), any_json(), 0..5),
        kind in prop::sample::select(vec!["arkit52", "gnm", "gnm68"]),
        branches in any_json(),
    ) {
        let mut space = json!(space);
        space["kind"] = json!(kind);
        let scenes = [
            json!({"rig": rig, "branches": branches}),
            json!({"expression_space": space, "branches": branches}),
        ];
        let layout = GnmRegions::new(&[("lower_face", 42)]).unwrap();
        let raw = ControlBinding::of_layer(&dna(), ControlLayer::Raw);
        for scene in scenes {
            match read(&scene) {
                Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
                Ok(manifest) => {
                    let space = manifest.space.as_ref();
                    let results = [SceneSpace::of_gnm(space, &layout, None), SceneSpace::of_orl(space, &raw, &[0.0; 4])];
                    for result in results {
                        let line = result.map_or_else(|e| e.to_string(), |s| format!("{}", s.space().dim()));
                        prop_assert_eq!(line.lines().count(), 1);
                    }
                }
            }
        }
    }

    #[test]
    fn any_bytes_give_a_scene_or_one_line(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(error) = SceneManifest::read(&bytes) {
            prop_assert_eq!(error.to_string().lines().count(), 1);
        }
        prop_assert!(read_names(&bytes).is_err() || bytes.contains(&b'['));
    }
}
