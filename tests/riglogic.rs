//! RigLogic against OpenRigLogic 13.2.5: every rig, level of detail, entry point and rotation form, within each rig's own tolerance.

use rigeval::npy;
use rigeval::orl::dna::{Dna, RotationUnit};
use rigeval::orl::riglogic::{RigLogic, RigState, RotationOutput};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const PARTS: [&str; 7] = ["raw", "psd", "ml", "rbf", "bs", "am", "joints"];

struct Case {
    folder: PathBuf,
    /// The file that is evaluated.
    name: String,
    /// The rig whose arrays it must give: itself, or for the other versions of one file the first of them.
    base: String,
    tolerances: BTreeMap<String, f64>,
}

fn cases(folder: &Path) -> Vec<Case> {
    let manifest: Value = serde_json::from_slice(&std::fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let rigs = manifest["rigs"].as_object().unwrap();
    let case = |(name, rig): (&String, &Value)| {
        let base = if rig.get("files").is_some() { name } else { "tiny" };
        let tolerances = rigs[base]["suggested_tolerance_relative_to_max1_abs"].as_object().unwrap();
        Case {
            folder: folder.to_path_buf(),
            name: name.clone(),
            base: base.to_string(),
            tolerances: tolerances.iter().map(|(part, t)| (part.clone(), t.as_f64().unwrap())).collect(),
        }
    };
    rigs.iter().map(case).collect()
}

impl Case {
    fn array(&self, suffix: &str) -> Option<(Vec<usize>, Vec<f32>)> {
        let path = self.folder.join(format!("{}.{suffix}.npy", self.base));
        let array = npy::read(&std::fs::read(path).ok()?).unwrap();
        Some((array.shape.clone(), array.into_f32().unwrap()))
    }

    fn dna(&self) -> Dna {
        Dna::read(&std::fs::read(self.folder.join(format!("{}.dna", self.name))).unwrap()).unwrap()
    }

    /// Compares every array there is; returns how many.
    fn run(&self) -> usize {
        let dna = self.dna();
        let turn = if dna.descriptor.rotation_unit == RotationUnit::Degrees { 360.0 } else { std::f64::consts::TAU };
        let mut compared = 0;
        for (output, form) in [(RotationOutput::Euler, "euler"), (RotationOutput::Quaternion, "quat")] {
            let rig = RigLogic::new(&dna, output).unwrap();
            for entry in ["gui", "raw"] {
                let expected_joints = format!("{entry}.joints_{form}");
                if self.array(&expected_joints).is_none() {
                    continue;
                }
                let got = self.evaluate(&rig, entry);
                for part in PARTS {
                    let array = if part == "joints" { expected_joints.clone() } else { format!("{entry}.{part}") };
                    let Some((_, expected)) = self.array(&array) else { continue };
                    let what = format!("{} {array} ({form})", self.name);
                    let rotation = (part == "joints").then_some((output, turn));
                    compare(&what, &got[part], &expected, rotation, self.tolerances[part]);
                    compared += 1;
                }
            }
        }
        compared
    }

    /// (LODs, F, ...) of every part, all from one state.
    fn evaluate(&self, rig: &RigLogic, entry: &str) -> BTreeMap<&'static str, Vec<f32>> {
        let (shape, inputs) = self.array(&format!("in.{entry}")).unwrap();
        let masks = self.array("in.masks").map(|(_, masks)| masks);
        let mask_count = rig.counts().masks;
        let mut state = RigState::new(rig);
        let mut got: BTreeMap<&'static str, Vec<f32>> = PARTS.iter().map(|part| (*part, vec![])).collect();
        for lod in 0..rig.counts().lods {
            for (frame, input) in inputs.chunks_exact(shape[1]).enumerate() {
                match entry {
                    "gui" => rig.set_gui(&mut state, input).unwrap(),
                    _ => rig.set_raw(&mut state, input).unwrap(),
                }
                if let Some(masks) = &masks {
                    state.masks_mut().copy_from_slice(&masks[frame * mask_count..][..mask_count]);
                }
                rig.evaluate(&mut state, lod);
                let parts: [&[f32]; 7] = [
                    state.raw(),
                    state.psd(),
                    state.ml(),
                    state.rbf(),
                    state.blend_shapes(),
                    state.animated_maps(),
                    state.joints(),
                ];
                for (part, values) in PARTS.iter().zip(parts) {
                    got.get_mut(part).unwrap().extend_from_slice(values);
                }
            }
        }
        got
    }
}

/// Asserts |got - expected| <= limit * max(1, |expected|): angles modulo a turn, quaternions up to their sign.
fn compare(what: &str, got: &[f32], expected: &[f32], rotation: Option<(RotationOutput, f64)>, limit: f64) {
    assert_eq!(got.len(), expected.len(), "{what}: another number of values");
    let worst = got.iter().zip(expected).enumerate().map(|(i, (&g, &e))| {
        let (g, e) = (f64::from(g), f64::from(e));
        let mut off = (g - e).abs();
        match rotation {
            Some((RotationOutput::Euler, turn)) if (3..6).contains(&(i % 9)) => off = off.min((turn - off).abs()),
            Some((RotationOutput::Quaternion, _)) if (3..7).contains(&(i % 10)) => off = off.min((g + e).abs()),
            _ => {}
        }
        // `f64::max` passes over a NaN, which must fail.
        let off = if off.is_nan() { f64::INFINITY } else { off };
        (off / e.abs().max(1.0), i)
    });
    let (off, at) = worst.fold((0.0, 0), |worst, one| if one.0 > worst.0 { one } else { worst });
    if std::env::var_os("RIGEVAL_PRINT_ERRORS").is_some() {
        eprintln!("{what}: {off:.3e} of {limit:.1e}");
    }
    assert!(
        off <= limit,
        "{what}: off by {off:.3e} at value {at} ({} against {}), allowed {limit:.1e}",
        got[at],
        expected[at]
    );
}

fn committed() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl")).to_path_buf()
}

fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")).join(folder);
    if !path.exists() {
        eprintln!("SKIP: ../shared/data/{folder} is not here; the small rigs of reference/orl are still compared");
        return None;
    }
    Some(path)
}

#[test]
fn riglogic_committed_rigs_agree_with_the_library() {
    let cases = cases(&committed());
    assert_eq!(cases.len(), 7);
    let compared: usize = cases.iter().map(Case::run).sum();
    assert_eq!(compared, 86);
}

#[test]
fn riglogic_gui_mapping_of_the_committed_rig_goes_back_as_the_library_has_it() {
    let cases = cases(&committed());
    let tiny = cases.iter().find(|case| case.name == "tiny").unwrap();
    let rig = RigLogic::new(&tiny.dna(), RotationOutput::Euler).unwrap();
    let counts = *rig.counts();
    let (_, raw) = tiny.array("gui.raw").unwrap();
    let (shape, expected) = tiny.array("reverse_gui").unwrap();
    assert_eq!(shape, [20, counts.gui]);
    let mut got = vec![];
    for raw in raw.chunks_exact(counts.raw).take(shape[0]) {
        let mut gui = vec![9.0; counts.gui];
        rig.raw_to_gui(raw, &mut gui).unwrap();
        got.extend(gui);
    }
    compare("tiny reverse_gui", &got, &expected, None, 1e-6);
}

#[test]
fn riglogic_evaluation_allocates_nothing() {
    for case in cases(&committed()) {
        for output in [RotationOutput::Euler, RotationOutput::Quaternion] {
            let rig = RigLogic::new(&case.dna(), output).unwrap();
            let mut state = RigState::new(&rig);
            let (gui, raw) = (vec![0.5; rig.counts().gui], vec![0.5; rig.counts().raw]);
            let counted = allocation_counter::measure(|| {
                rig.set_gui(&mut state, &gui).unwrap();
                rig.set_raw(&mut state, &raw).unwrap();
                (0..rig.counts().lods).for_each(|lod| rig.evaluate(&mut state, lod));
            });
            assert_eq!(counted.count_total, 0, "{}", case.name);
        }
    }
}

#[test]
fn riglogic_all_small_rigs_agree_with_the_library() {
    let Some(folder) = shared("orl") else { return };
    let cases = cases(&folder);
    assert_eq!(cases.len(), 27);
    // The arrays of the unconverted rig say nothing about the converted one; its own test is below.
    let compared = cases.iter().filter(|case| case.name != "tiny_converted_cs").map(|case| case.run());
    let compared: Vec<usize> = compared.collect();
    assert!(compared.iter().all(|&count| count > 0), "{compared:?}");
    assert_eq!(compared.iter().sum::<usize>(), EXPECTED_ARRAYS);
}

/// Arrays of the 26 rigs, over entry points and rotation forms.
const EXPECTED_ARRAYS: usize = 299;

/// The library's own conversion of a rig to axes (right, front, up): what is no joint stays, translations change their axes.
#[test]
fn riglogic_rig_in_converted_axes_gives_converted_translations() {
    let Some(folder) = shared("orl") else { return };
    let cases = cases(&folder);
    let case = cases.iter().find(|case| case.name == "tiny_converted_cs").unwrap();
    let rig = RigLogic::new(&case.dna(), RotationOutput::Euler).unwrap();
    for entry in ["gui", "raw"] {
        let got = case.evaluate(&rig, entry);
        for part in ["raw", "psd", "bs", "am"] {
            let Some((_, expected)) = case.array(&format!("{entry}.{part}")) else { continue };
            compare(&format!("{} {entry}.{part}", case.name), &got[part], &expected, None, case.tolerances[part]);
        }
        let translations = |joints: &[f32], axes: [usize; 3]| -> Vec<f32> {
            joints.chunks_exact(9).flat_map(|joint| axes.map(|axis| joint[axis])).collect()
        };
        let (_, expected) = case.array(&format!("{entry}.joints_euler")).unwrap();
        let (got, expected) = (translations(&got["joints"], [0, 1, 2]), translations(&expected, [0, 2, 1]));
        assert!(expected.iter().any(|x| x.abs() > 0.1));
        compare(&format!("{} {entry}.joints", case.name), &got, &expected, None, case.tolerances["joints"]);
    }
}

#[test]
fn riglogic_rig_of_metahuman_magnitude_agrees_with_the_library_to_the_bit() {
    let Some(folder) = shared("orl-large") else { return };
    let mut cases = cases(&folder);
    assert_eq!(cases.len(), 1);
    // The order of the additions is the library's own, so nothing is left to tolerate.
    cases[0].tolerances.values_mut().for_each(|tolerance| *tolerance = 0.0);
    assert_eq!(cases[0].run(), 9);
}
