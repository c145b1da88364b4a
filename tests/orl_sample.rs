//! The sample head as a MetaHuman-like rig: counts, names, levels, and a face that does what the ARKit names say.

use rigeval::head::HeadSize;
use rigeval::orl::cpu::orl_deform;
use rigeval::orl::dna::Dna;
use rigeval::orl::mesh::OrlMesh;
use rigeval::orl::model::OrlModel;
use rigeval::orl::pose::OrlPose;
use rigeval::orl::riglogic::{RigLogic, RigState, RotationOutput};
use rigeval::orl::sample::sample;
use rigeval::sparse::DeltaFormat;
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;
use std::time::Instant;

/// ARKit shapes and the raw controls that they lead to, as public rigs wire them.
const ARKIT: [(&str, &[&str]); 52] = [
    ("browDownLeft", &["browDownL"]),
    ("browDownRight", &["browDownR"]),
    ("browInnerUp", &["browRaiseInL", "browRaiseInR"]),
    ("browOuterUpLeft", &["browRaiseOuterL"]),
    ("browOuterUpRight", &["browRaiseOuterR"]),
    ("cheekPuff", &["mouthCheekBlowL", "mouthCheekBlowR"]),
    ("cheekSquintLeft", &["eyeCheekRaiseL"]),
    ("cheekSquintRight", &["eyeCheekRaiseR"]),
    ("eyeBlinkLeft", &["eyeBlinkL"]),
    ("eyeBlinkRight", &["eyeBlinkR"]),
    ("eyeLookDownLeft", &["eyeLookDownL"]),
    ("eyeLookDownRight", &["eyeLookDownR"]),
    ("eyeLookInLeft", &["eyeLookRightL"]),
    ("eyeLookInRight", &["eyeLookLeftR"]),
    ("eyeLookOutLeft", &["eyeLookLeftL"]),
    ("eyeLookOutRight", &["eyeLookRightR"]),
    ("eyeLookUpLeft", &["eyeLookUpL"]),
    ("eyeLookUpRight", &["eyeLookUpR"]),
    ("eyeSquintLeft", &["eyeSquintInnerL"]),
    ("eyeSquintRight", &["eyeSquintInnerR"]),
    ("eyeWideLeft", &["eyeWidenL"]),
    ("eyeWideRight", &["eyeWidenR"]),
    ("jawForward", &["jawFwd"]),
    ("jawLeft", &["jawLeft"]),
    ("jawOpen", &["jawOpen"]),
    ("jawRight", &["jawRight"]),
    ("mouthClose", &["mouthLipsTogetherUL", "mouthLipsTogetherUR", "mouthLipsTogetherDL", "mouthLipsTogetherDR"]),
    ("mouthDimpleLeft", &["mouthDimpleL"]),
    ("mouthDimpleRight", &["mouthDimpleR"]),
    ("mouthFrownLeft", &["mouthCornerDepressL"]),
    ("mouthFrownRight", &["mouthCornerDepressR"]),
    ("mouthFunnel", &["mouthFunnelUL", "mouthFunnelUR", "mouthFunnelDL", "mouthFunnelDR"]),
    ("mouthLeft", &["mouthLeft"]),
    ("mouthLowerDownLeft", &["mouthLowerLipDepressL"]),
    ("mouthLowerDownRight", &["mouthLowerLipDepressR"]),
    ("mouthPressLeft", &["mouthPressUL", "mouthPressDL"]),
    ("mouthPressRight", &["mouthPressUR", "mouthPressDR"]),
    ("mouthPucker", &["mouthLipsPurseUL", "mouthLipsPurseUR", "mouthLipsPurseDL", "mouthLipsPurseDR"]),
    ("mouthRight", &["mouthRight"]),
    ("mouthRollLower", &["mouthLowerLipRollInL", "mouthLowerLipRollInR"]),
    ("mouthRollUpper", &["mouthUpperLipRollInL", "mouthUpperLipRollInR"]),
    ("mouthShrugLower", &["jawChinRaiseDL", "jawChinRaiseDR"]),
    ("mouthShrugUpper", &["jawChinRaiseUL", "jawChinRaiseUR"]),
    ("mouthSmileLeft", &["mouthCornerPullL"]),
    ("mouthSmileRight", &["mouthCornerPullR"]),
    ("mouthStretchLeft", &["mouthStretchL"]),
    ("mouthStretchRight", &["mouthStretchR"]),
    ("mouthUpperUpLeft", &["mouthUpperLipRaiseL"]),
    ("mouthUpperUpRight", &["mouthUpperLipRaiseR"]),
    ("noseSneerLeft", &["noseWrinkleL"]),
    ("noseSneerRight", &["noseWrinkleR"]),
    ("tongueOut", &["tongueOut"]),
];

const HEAD: usize = 0;
const TEETH: usize = 1;
const LEFT_EYE: usize = 2;
const RIGHT_EYE: usize = 3;

/// A rig that is ready to pose.
struct Rig {
    dna: Dna,
    logic: RigLogic,
    model: OrlModel,
    meshes: Vec<OrlMesh>,
}

static FULL: LazyLock<Rig> = LazyLock::new(|| Rig::new(HeadSize::Full));
static SMALL: LazyLock<Rig> = LazyLock::new(|| Rig::new(HeadSize::Small));

/// The vertices of every mesh of a level.
type Posed = Vec<Vec<[f32; 3]>>;

impl Rig {
    fn new(size: HeadSize) -> Rig {
        let dna = sample(size);
        let model = OrlModel::new(&dna);
        let mesh = |index: usize| OrlMesh::new(&dna, &model, index, DeltaFormat::F32).unwrap();
        let meshes = (0..dna.meshes.len()).map(mesh).collect();
        Rig { logic: RigLogic::new(&dna, RotationOutput::Euler).unwrap(), meshes, model, dna }
    }

    fn raw(&self, name: &str) -> usize {
        let name = format!("CTRL_expressions.{name}");
        self.dna.control(&name).unwrap_or_else(|| panic!("no control {name}"))
    }

    fn state(&self, raw: &[&str], lod: usize) -> RigState {
        let mut state = RigState::new(&self.logic);
        raw.iter().for_each(|name| state.raw_mut()[self.raw(name)] = 1.0);
        self.logic.evaluate(&mut state, lod);
        state
    }

    fn posed(&self, raw: &[&str], lod: usize) -> Posed {
        let state = self.state(raw, lod);
        let mut pose = OrlPose::new(&self.model);
        pose.set_solved(&self.model, RotationOutput::Euler, state.joints(), state.blend_shapes()).unwrap();
        let shown = self.dna.definition.lod_meshes.list(lod);
        shown.iter().map(|&mesh| orl_deform(&self.meshes[usize::from(mesh)], &pose)).collect()
    }

    fn arkit(&self, shape: &str) -> Posed {
        self.posed(ARKIT.iter().find(|(name, _)| *name == shape).unwrap().1, 0)
    }

    fn rest(&self, lod: usize) -> Posed {
        self.posed(&[], lod)
    }
}

fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn length(d: [f32; 3]) -> f32 {
    d.iter().map(|x| x * x).sum::<f32>().sqrt()
}

/// The vertex of a mesh nearest to a place.
fn nearest(vertices: &[[f32; 3]], place: [f32; 3]) -> usize {
    let distance = |v: &usize| length(minus(vertices[*v], place));
    (0..vertices.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap()
}

/// The way of the vertex of the head that is nearest to a place at rest.
fn way(rest: &Posed, posed: &Posed, place: [f32; 3]) -> [f32; 3] {
    let vertex = nearest(&rest[HEAD], place);
    minus(posed[HEAD][vertex], rest[HEAD][vertex])
}

fn largest(rest: &Posed, posed: &Posed) -> f32 {
    let pairs = rest.iter().flatten().zip(posed.iter().flatten());
    pairs.map(|(a, b)| length(minus(*b, *a))).fold(0.0, f32::max)
}

const CHIN: [f32; 3] = [0.0, 18.0, 12.6];
const LEFT_CORNER: [f32; 3] = [2.55, 21.4, 11.5];
const LEFT_UPPER_LID: [f32; 3] = [3.15, 29.1, 12.0];
const LEFT_BROW: [f32; 3] = [2.6, 30.6, 12.3];

#[test]
fn sample_full_has_the_magnitude_of_a_metahuman() {
    let start = Instant::now();
    let dna = sample(HeadSize::Full);
    println!("full sample rig in {:.2} s", start.elapsed().as_secs_f64());
    let definition = &dna.definition;
    assert_eq!(dna.meshes[0].positions.len(), 24_049);
    assert_eq!(definition.joint_names.len(), 870);
    assert_eq!((definition.gui_control_names.len(), definition.raw_control_names.len()), (174, 257));
    assert_eq!((dna.behavior.psd_count, definition.channel_names.len()), (550, 820));
    assert_eq!((dna.descriptor.lod_count, definition.animated_map_names.len()), (8, 80));
    assert_eq!(dna.meshes.len(), definition.mesh_names.len());
    assert_eq!(definition.mesh_names[..4], ["head", "teeth", "eyeLeft", "eyeRight"].map(|m| format!("{m}_lod0_mesh")));
    let deltas: usize = dna.meshes[0].targets.iter().map(|t| t.deltas.len()).sum();
    assert!((250_000..1_000_000).contains(&deltas), "{deltas} deltas");
    assert!((200_000..600_000).contains(&RigLogic::new(&dna, RotationOutput::Euler).unwrap().multiply_adds(0)));
    let bytes = dna.write(dna.version).unwrap().len();
    assert!((5_000_000..60_000_000).contains(&bytes), "{bytes} bytes");
}

#[test]
fn sample_small_is_small() {
    let start = Instant::now();
    let dna = sample(HeadSize::Small);
    println!("small sample rig in {:.3} s", start.elapsed().as_secs_f64());
    assert!((1_000..2_500).contains(&dna.meshes[0].positions.len()));
    assert_eq!((dna.definition.joint_names.len(), dna.behavior.psd_count), (60, 60));
    assert_eq!(dna.definition.raw_control_names, FULL.dna.definition.raw_control_names);
    assert_eq!(dna.definition.gui_control_names, FULL.dna.definition.gui_control_names);
    let bytes = dna.write(dna.version).unwrap().len();
    assert!(bytes < 1_500_000, "{bytes} bytes");
}

#[test]
fn sample_reads_back_as_it_was() {
    for size in [HeadSize::Full, HeadSize::Small, HeadSize::Tiny] {
        let dna = sample(size);
        let bytes = dna.write(dna.version).unwrap();
        assert!(Dna::read(&bytes).unwrap() == dna, "{size:?}");
    }
}

#[test]
fn sample_gives_the_same_bytes_on_any_number_of_threads() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for size in [HeadSize::Small, HeadSize::Full] {
        let bytes = |dna: Dna| dna.write(dna.version).unwrap();
        assert!(one.install(|| bytes(sample(size))) == bytes(sample(size)), "{size:?}");
    }
}

#[test]
fn raw_controls_are_the_251_and_the_turns_of_the_head() {
    let names = &SMALL.dna.definition.raw_control_names;
    let distinct: BTreeSet<&str> = names.iter().map(|n| n.strip_prefix("CTRL_expressions.").unwrap()).collect();
    assert_eq!(distinct.len(), names.len());
    let groups = [
        ("brow", 8),
        ("ear", 2),
        ("eye", 33 + 8),
        ("eyelashes", 8),
        ("jaw", 14),
        ("mouth", 128),
        ("neck", 14),
        ("nose", 12),
        ("teeth", 12),
        ("tongue", 20),
        ("head", 6),
    ];
    for (group, count) in groups {
        assert_eq!(distinct.iter().filter(|n| n.starts_with(group)).count(), count, "{group}");
    }
    for (_, controls) in ARKIT {
        assert!(controls.iter().all(|c| distinct.contains(c)), "{controls:?}");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/spec/names.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("SKIP the comparison with every name: no file {path}; the counts by group are checked");
        return;
    };
    let known: serde_json::Value = serde_json::from_str(&text).unwrap();
    let known = known["metahuman_raw_controls"].as_array().unwrap().iter();
    let known: BTreeSet<&str> = known.map(|n| n.as_str().unwrap().trim_start_matches("CTRL_expressions_")).collect();
    let own: BTreeSet<&str> = distinct.into_iter().filter(|n| !n.starts_with("head")).collect();
    let different: Vec<&&str> = own.symmetric_difference(&known).collect();
    assert!(different.is_empty(), "{different:?}");
}

#[test]
fn gui_reaches_every_raw_control_but_those_of_the_host() {
    let rig = &SMALL;
    let undriven: BTreeSet<&str> = rig
        .dna
        .undriven_raw_controls()
        .into_iter()
        .map(|c| rig.dna.control_name(c).unwrap().trim_start_matches("CTRL_expressions."))
        .collect();
    let expected = [
        "headTiltLeft",
        "headTiltRight",
        "headTurnDown",
        "headTurnLeft",
        "headTurnRight",
        "headTurnUp",
        "mouthStretchLipsCloseL",
        "mouthStretchLipsCloseR",
    ];
    assert_eq!(undriven, BTreeSet::from(expected));
    // Each slider at the ends and the joints of its stretches: together they take every driven control to 1.
    let gui_count = rig.dna.definition.gui_control_names.len();
    let mut best = vec![0.0_f32; rig.dna.definition.raw_control_names.len()];
    for row in &rig.dna.behavior.gui_to_raw {
        for value in [row.from, row.to] {
            let mut gui = vec![0.0; gui_count];
            gui[usize::from(row.input)] = value;
            let mut state = RigState::new(&rig.logic);
            rig.logic.set_gui(&mut state, &gui).unwrap();
            best.iter_mut().zip(state.raw()).for_each(|(best, raw)| *best = best.max(*raw));
        }
    }
    for (control, best) in best.iter().enumerate() {
        let expected = if rig.dna.undriven_raw_controls().contains(&control) { 0.0 } else { 1.0 };
        assert_eq!(*best, expected, "{}", rig.dna.control_name(control).unwrap());
    }
}

#[test]
fn gui_sliders_have_two_signs_and_phases() {
    let rig = &SMALL;
    let driven = |slider: &str, value: f32| -> Vec<(String, f32)> {
        let mut gui = vec![0.0; rig.dna.definition.gui_control_names.len()];
        gui[rig.dna.gui_control(slider).unwrap()] = value;
        let mut state = RigState::new(&rig.logic);
        rig.logic.set_gui(&mut state, &gui).unwrap();
        let set = state.raw().iter().enumerate().filter(|(_, v)| **v != 0.0);
        set.map(|(c, v)| (rig.dna.control_name(c).unwrap().replace("CTRL_expressions.", ""), *v)).collect()
    };
    let one = |name: &str, value: f32| vec![(name.to_owned(), value)];
    assert_eq!(driven("CTRL_L_brow_down.ty", 0.5), one("browDownL", 0.5));
    assert_eq!(driven("CTRL_L_eye_blink.ty", 0.5), one("eyeBlinkL", 0.5));
    assert_eq!(driven("CTRL_L_eye_blink.ty", -0.5), one("eyeWidenL", 0.5));
    assert_eq!(driven("CTRL_R_eye.tx", 1.0), one("eyeLookLeftR", 1.0));
    assert_eq!(driven("CTRL_R_eye.tx", -1.0), one("eyeLookRightR", 1.0));
    assert_eq!(driven("CTRL_C_jaw.tx", -0.25), one("jawRight", 0.25));
    assert_eq!(driven("CTRL_C_eye.tx", 1.0), [("eyeLookLeftL".to_owned(), 1.0), ("eyeLookLeftR".to_owned(), 1.0)]);
    assert_eq!(driven("CTRL_C_neck_swallow.ty", 0.25), one("neckSwallowPh1", 1.0));
    assert_eq!(
        driven("CTRL_C_neck_swallow.ty", 0.375),
        [("neckSwallowPh1".to_owned(), 0.5), ("neckSwallowPh2".to_owned(), 0.5)]
    );
    assert_eq!(driven("CTRL_C_neck_swallow.ty", 1.0), one("neckSwallowPh4", 1.0));
}

#[test]
fn levels_have_ever_less() {
    for rig in [&*FULL, &*SMALL] {
        let dna = &rig.dna;
        let lods = usize::from(dna.descriptor.lod_count);
        let all: Vec<String> = dna.definition.raw_control_names.iter().map(|n| n[17..].to_owned()).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let level = |lod: usize| {
            let used = rig.state(&all, lod).psd().iter().filter(|v| **v != 0.0).count();
            let meshes = dna.definition.lod_meshes.list(lod);
            [
                dna.definition.lod_joints.list(lod).len(),
                dna.definition.lod_channels.list(lod).len(),
                used,
                dna.meshes[usize::from(meshes[0])].positions.len(),
                rig.logic.multiply_adds(lod),
            ]
        };
        let counts: Vec<[usize; 5]> = (0..lods).map(level).collect();
        println!("joints, channels, correctives, vertices, multiply-adds: {counts:?}");
        assert_eq!(counts[0][2], usize::from(dna.behavior.psd_count), "each corrective does something");
        for (finer, coarser) in counts.iter().zip(&counts[1..]) {
            assert!(finer.iter().zip(coarser).all(|(finer, coarser)| finer >= coarser), "{counts:?}");
        }
        let (first, last) = (counts[0], counts[lods - 1]);
        assert!(first.iter().zip(&last).all(|(first, last)| first > last), "{counts:?}");
    }
}

#[test]
fn levels_show_meshes_that_only_their_joints_move() {
    for rig in [&*FULL, &*SMALL] {
        let dna = &rig.dna;
        for lod in 0..usize::from(dna.descriptor.lod_count) {
            let joints: BTreeSet<u16> = dna.definition.lod_joints.list(lod).iter().copied().collect();
            let channels: BTreeSet<u16> = dna.definition.lod_channels.list(lod).iter().copied().collect();
            let meshes = dna.definition.lod_meshes.list(lod);
            assert_eq!(meshes.len(), 4);
            for &mesh in meshes {
                let mesh = &dna.meshes[usize::from(mesh)];
                assert!(mesh.skin.iter().flat_map(|row| &row.joints).all(|j| joints.contains(j)), "LOD {lod}");
                assert!(mesh.targets.iter().all(|t| channels.contains(&t.channel)), "LOD {lod}");
            }
        }
    }
}

#[test]
fn skin_rows_sum_to_one_with_up_to_twelve_influences() {
    let most = |dna: &Dna| {
        let rows = dna.meshes.iter().flat_map(|m| &m.skin);
        rows.map(|row| {
            assert_eq!(row.weights.iter().sum::<f32>(), 1.0);
            assert!(row.weights.iter().all(|w| *w > 0.0));
            let distinct: BTreeSet<u16> = row.joints.iter().copied().collect();
            assert_eq!(distinct.len(), row.joints.len());
            row.joints.len()
        })
        .max()
    };
    assert_eq!(most(&FULL.dna), Some(12));
    assert!(most(&SMALL.dna) <= Some(8));
}

#[test]
fn every_channel_moves_a_mesh_of_the_finest_level() {
    for rig in [&*FULL, &*SMALL] {
        let shown = &rig.dna.meshes[..4];
        let moved: BTreeSet<u16> = shown.iter().flat_map(|m| &m.targets).map(|t| t.channel).collect();
        let still: Vec<&String> = rig
            .dna
            .definition
            .channel_names
            .iter()
            .enumerate()
            .filter(|(index, _)| !moved.contains(&(*index as u16)))
            .map(|(_, name)| name)
            .collect();
        assert!(still.is_empty(), "{still:?}");
    }
}

#[test]
fn rest_is_the_neutral_mesh() {
    for rig in [&*FULL, &*SMALL] {
        for lod in 0..usize::from(rig.dna.descriptor.lod_count) {
            let shown = rig.dna.definition.lod_meshes.list(lod);
            for (posed, &mesh) in rig.rest(lod).iter().zip(shown) {
                let off = posed.iter().zip(&rig.dna.meshes[usize::from(mesh)].positions);
                let off = off.map(|(a, b)| length(minus(*a, *b))).fold(0.0, f32::max);
                assert!(off < 1e-4, "LOD {lod} mesh {mesh}: {off} cm");
            }
        }
    }
}

#[test]
fn arkit_shapes_each_move_the_face_and_tear_nothing() {
    for rig in [&*FULL, &*SMALL] {
        let rest = rig.rest(0);
        for (shape, _) in ARKIT {
            let posed = rig.arkit(shape);
            let most = largest(&rest, &posed);
            assert!((0.05..8.0).contains(&most), "{shape} moves by {most} cm");
            let mesh = &rig.dna.meshes[HEAD];
            let corner = |face: &Vec<u32>, i: usize| mesh.layouts.positions[face[i % 4] as usize] as usize;
            let edges = mesh.faces.iter().flat_map(|f| (0..4).map(move |i| (corner(f, i), corner(f, i + 1))));
            let stretch = |(a, b): (usize, usize)| {
                let long = |v: &Posed| length(minus(v[HEAD][a], v[HEAD][b]));
                long(&posed) - long(&rest)
            };
            let longest = edges.map(stretch).fold(0.0, f32::max);
            assert!(longest < 1.5, "{shape} stretches an edge by {longest} cm");
        }
    }
}

#[test]
fn arkit_shapes_move_their_part_their_way() {
    for rig in [&*FULL, &*SMALL] {
        let rest = rig.rest(0);
        let check = |shape: &str, place: [f32; 3], expected: [f32; 3]| {
            let moved = way(&rest, &rig.arkit(shape), place);
            for axis in 0..3 {
                let far = expected[axis].abs();
                if far > 0.0 {
                    assert!(
                        moved[axis] * expected[axis].signum() > far,
                        "{shape} at {place:?}: {moved:?}, not {expected:?}"
                    );
                }
            }
        };
        check("jawOpen", CHIN, [0.0, -2.5, 0.0]);
        check("jawForward", CHIN, [0.0, 0.0, 0.5]);
        check("jawLeft", CHIN, [0.5, 0.0, 0.0]);
        check("jawRight", CHIN, [-0.5, 0.0, 0.0]);
        check("mouthSmileLeft", LEFT_CORNER, [0.3, 0.3, 0.0]);
        check("mouthFrownLeft", LEFT_CORNER, [0.0, -0.3, 0.0]);
        check("mouthStretchLeft", LEFT_CORNER, [0.3, 0.0, 0.0]);
        check("mouthDimpleLeft", LEFT_CORNER, [0.1, 0.0, -0.1]);
        check("mouthLeft", LEFT_CORNER, [0.3, 0.0, 0.0]);
        check("mouthRight", LEFT_CORNER, [-0.3, 0.0, 0.0]);
        check("mouthPucker", LEFT_CORNER, [-0.3, 0.0, 0.1]);
        check("mouthFunnel", [0.0, 21.8, 12.8], [0.0, 0.1, 0.2]);
        check("mouthUpperUpLeft", [1.0, 21.8, 12.8], [0.0, 0.2, 0.0]);
        check("mouthLowerDownLeft", [1.0, 20.9, 12.8], [0.0, -0.2, 0.0]);
        check("mouthRollUpper", [0.0, 21.8, 12.8], [0.0, 0.0, -0.1]);
        check("mouthRollLower", [0.0, 20.9, 12.8], [0.0, 0.0, -0.1]);
        check("mouthShrugLower", CHIN, [0.0, 0.2, 0.0]);
        check("mouthShrugUpper", [0.0, 21.9, 12.8], [0.0, 0.1, 0.0]);
        check("browDownLeft", LEFT_BROW, [0.0, -0.25, 0.0]);
        check("browOuterUpLeft", [4.3, 30.8, 11.8], [0.0, 0.25, 0.0]);
        check("browInnerUp", [1.4, 30.8, 12.6], [0.0, 0.25, 0.0]);
        check("browInnerUp", [-1.4, 30.8, 12.6], [0.0, 0.25, 0.0]);
        check("cheekPuff", [4.3, 22.2, 10.0], [0.2, 0.0, 0.2]);
        check("cheekSquintLeft", [4.2, 26.6, 11.5], [0.0, 0.15, 0.0]);
        check("eyeSquintLeft", [3.15, 27.9, 11.9], [0.0, 0.1, 0.0]);
        check("eyeWideLeft", LEFT_UPPER_LID, [0.0, 0.05, 0.0]);
        check("noseSneerLeft", [1.3, 24.8, 12.6], [0.0, 0.15, 0.0]);
    }
}

#[test]
fn jaw_opens_with_the_lower_teeth_and_without_the_upper_ones() {
    for rig in [&*FULL, &*SMALL] {
        let (rest, open) = (rig.rest(0), rig.arkit("jawOpen"));
        let moved = |place: [f32; 3]| {
            let vertex = nearest(&rest[TEETH], place);
            minus(open[TEETH][vertex], rest[TEETH][vertex])
        };
        assert!(moved([0.0, 20.8, 11.0])[1] < -2.0, "{:?}", moved([0.0, 20.8, 11.0]));
        assert_eq!(moved([0.0, 22.2, 11.2]), [0.0; 3]);
    }
}

#[test]
fn jaw_opens_alike_at_every_level() {
    for rig in [&*FULL, &*SMALL] {
        let (rest, open) = (rig.rest(0), rig.posed(&["jawOpen"], 0));
        for lod in 1..usize::from(rig.dna.descriptor.lod_count) {
            let coarse = rig.rest(lod);
            let place = coarse[HEAD][nearest(&coarse[HEAD], CHIN)];
            let moved = way(&coarse, &rig.posed(&["jawOpen"], lod), place);
            let finest = way(&rest, &open, place);
            let off = length(minus(moved, finest));
            assert!(finest[1] < -2.5 && off < 0.1 * length(finest), "LOD {lod}: {moved:?} against {finest:?}");
        }
    }
}

/// Upper and lower vertices of the rim of the left eye or of the mouth that lie over each other, from the pockets' first ring.
fn lip_pairs(rig: &Rig) -> Vec<(usize, usize)> {
    // Closed lips touch: pairs of vertices that nearly coincide at rest.
    let vertices = &rig.dna.meshes[HEAD].positions;
    let mut pairs = vec![];
    for (a, p) in vertices.iter().enumerate().filter(|(_, p)| p[2] > 11.0 && (p[1] - 21.4).abs() < 0.3) {
        for (b, q) in vertices.iter().enumerate() {
            if a < b && length(minus(*p, *q)) < 1e-3 && p[0].abs() < 1.5 {
                pairs.push(if p[1] > q[1] { (a, b) } else { (b, a) });
            }
        }
    }
    pairs
}

#[test]
fn mouth_close_shuts_the_lips_over_an_open_jaw() {
    for rig in [&*FULL, &*SMALL] {
        let pairs = lip_pairs(rig);
        assert!(pairs.len() >= 3, "{} pairs", pairs.len());
        let gap = |posed: &Posed| {
            pairs
                .iter()
                .map(|(upper, lower)| length(minus(posed[HEAD][*upper], posed[HEAD][*lower])))
                .fold(0.0, f32::max)
        };
        let mut both = ARKIT.iter().find(|(name, _)| *name == "mouthClose").unwrap().1.to_vec();
        both.push("jawOpen");
        let (open, closed) = (gap(&rig.arkit("jawOpen")), gap(&rig.posed(&both, 0)));
        assert!(open > 2.0, "open by {open} cm");
        assert!(closed < 0.15 * open, "{closed} cm of {open} cm stay");
        assert!(gap(&rig.rest(0)) < 1e-3);
    }
}

#[test]
fn blink_closes_the_left_eye_alone() {
    for rig in [&*FULL, &*SMALL] {
        let (rest, closed) = (rig.rest(0), rig.arkit("eyeBlinkLeft"));
        let moved = way(&rest, &closed, LEFT_UPPER_LID);
        assert!(moved[1] < -0.35, "{moved:?}");
        // The lids meet: nothing of the eyeball's front stays in sight between them.
        let lid = nearest(&rest[HEAD], LEFT_UPPER_LID);
        let lower = nearest(&rest[HEAD], [rest[HEAD][lid][0], 28.1, 12.1]);
        let opening = |v: &Posed| v[HEAD][lid][1] - v[HEAD][lower][1];
        assert!(opening(&rest) > 0.6 && opening(&closed) < 0.25, "{} to {}", opening(&rest), opening(&closed));
        let right = rest[HEAD].iter().zip(&closed[HEAD]).filter(|(p, _)| p[0] < -0.2);
        let most = right.map(|(a, b)| length(minus(*b, *a))).fold(0.0, f32::max);
        assert!(most < 0.005, "the right side moves by {most} cm");
        assert_eq!(rest[RIGHT_EYE], closed[RIGHT_EYE]);
    }
}

#[test]
fn eyes_look_where_the_names_say() {
    for rig in [&*FULL, &*SMALL] {
        let rest = rig.rest(0);
        let look = |shape: &str, eye: usize| {
            let posed = rig.arkit(shape);
            let front = (0..rest[eye].len()).max_by(|a, b| rest[eye][*a][2].total_cmp(&rest[eye][*b][2])).unwrap();
            minus(posed[eye][front], rest[eye][front])
        };
        assert!(look("eyeLookUpLeft", LEFT_EYE)[1] > 0.4);
        assert!(look("eyeLookDownLeft", LEFT_EYE)[1] < -0.4);
        assert!(look("eyeLookOutLeft", LEFT_EYE)[0] > 0.4);
        assert!(look("eyeLookInLeft", LEFT_EYE)[0] < -0.4);
        assert!(look("eyeLookOutRight", RIGHT_EYE)[0] < -0.4);
        assert!(look("eyeLookInRight", RIGHT_EYE)[0] > 0.4);
        assert_eq!(look("eyeLookUpLeft", RIGHT_EYE), [0.0; 3]);
    }
}

#[test]
fn right_shapes_are_the_images_of_left_ones() {
    let rig = &SMALL;
    let rest = rig.rest(0);
    let image_mesh = |mesh: usize| [HEAD, TEETH, RIGHT_EYE, LEFT_EYE][mesh];
    let key = |[x, y, z]: [f32; 3]| [x + 0.0, y, z].map(f32::to_bits);
    let index: Vec<HashMap<[u32; 3], usize>> =
        (0..4).map(|m| rig.dna.meshes[m].positions.iter().enumerate().map(|(v, p)| (key(*p), v)).collect()).collect();
    let mut pairs = 0;
    for (left, _) in ARKIT.iter().filter(|(name, _)| name.ends_with("Left")) {
        let right = left.replace("Left", "Right");
        let (left_pose, right_pose) = (rig.arkit(left), rig.arkit(&right));
        pairs += 1;
        for mesh in 0..4 {
            for (vertex, p) in rig.dna.meshes[mesh].positions.iter().enumerate() {
                let image = index[image_mesh(mesh)][&key([0.0 - p[0], p[1], p[2]])];
                let l = minus(left_pose[mesh][vertex], rest[mesh][vertex]);
                let r = minus(right_pose[image_mesh(mesh)][image], rest[image_mesh(mesh)][image]);
                let off = length(minus([-r[0], r[1], r[2]], l));
                assert!(off < 2e-4, "{left} mesh {mesh} vertex {vertex}: {l:?} and {r:?}");
            }
        }
    }
    assert_eq!(pairs, 20);
}

#[test]
fn head_turns_left_up_and_to_the_side() {
    let rig = &SMALL;
    let rest = rig.rest(0);
    let nose = |control: &str| way(&rest, &rig.posed(&[control], 0), [0.0, 24.6, 13.8]);
    assert!(nose("headTurnLeft")[0] > 3.0, "{:?}", nose("headTurnLeft"));
    assert!(nose("headTurnRight")[0] < -3.0);
    assert!(nose("headTurnUp")[1] > 3.0, "{:?}", nose("headTurnUp"));
    assert!(nose("headTurnDown")[1] < -3.0);
    let crown = way(&rest, &rig.posed(&["headTiltLeft"], 0), [0.0, 38.0, -1.0]);
    assert!(crown[0] > 3.0, "{crown:?}");
}

#[cfg(feature = "cli")]
mod command_line {
    use rigeval::orl::dna::Dna;
    use rigeval::orl::pack::OrlPack;
    use serde_json::Value;
    use std::path::Path;
    use std::process::{Command, Output};

    fn rigeval(folder: &Path, args: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rigeval"));
        command.current_dir(folder).args(args.split(' ')).output().unwrap()
    }

    fn json(folder: &Path, args: &str) -> Value {
        let run = rigeval(folder, args);
        assert!(run.status.success(), "{args}: {}", String::from_utf8_lossy(&run.stderr));
        serde_json::from_slice(&run.stdout).unwrap()
    }

    #[test]
    fn sample_orl_writes_a_dna_or_a_pack_as_the_ending_says() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let report = json(folder, "sample orl -o head.dna --json");
        let bytes = std::fs::read(folder.join("head.dna")).unwrap();
        assert_eq!(report["bytes"], bytes.len());
        assert_eq!((&report["joints"], &report["gui_controls"]), (&Value::from(60), &Value::from(174)));
        let dna = Dna::read(&bytes).unwrap();
        assert_eq!(report["channels"], dna.definition.channel_names.len());

        let report = json(folder, "sample orl -o head.orlpack --json");
        let pack = OrlPack::read(std::fs::read(folder.join("head.orlpack")).unwrap()).unwrap();
        assert_eq!(report["vertices"], pack.vertex_count());
        let error = report["quantization_max_error_um"].as_f64().unwrap();
        assert!(error > 0.0 && error < 500.0, "{error}");

        let run = rigeval(folder, "sample orl -o head.npz");
        assert_eq!(run.status.code(), Some(2));
        assert_eq!(
            String::from_utf8_lossy(&run.stderr),
            "error: output head.npz: give it a name that ends in .dna or .orlpack\n"
        );
    }
}
