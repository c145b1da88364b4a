//! The sample head as a MetaHuman-like rig: counts, names, levels, and a face that does what the ARKit names say.

#[path = "orl_sample/face.rs"]
mod face;
#[path = "orl_sample/rig.rs"]
mod rig;

use rig::{ARKIT, FULL, SMALL, length, minus};
use rigeval::head::HeadSize;
use rigeval::orl::dna::Dna;
use rigeval::orl::riglogic::{RigLogic, RigState, RotationOutput};
use rigeval::orl::sample::sample;
use std::collections::BTreeSet;
use std::time::Instant;

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
        assert!([0, 1, 2, 4].iter().all(|&kind| first[kind] > last[kind]), "{counts:?}");
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
