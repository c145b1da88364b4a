//! The CPU reference against frames that other programs computed.

use glam::Quat;
use rigeval::files::Files;
use rigeval::frames::{Frames, Side, compare};
use rigeval::gnm::cpu::gnm_blend;
use rigeval::gnm::pack::GnmPack;
use rigeval::gnm::pose::{GnmPose, Stage};
use rigeval::npy;
use rigeval::orl::cpu::orl_deform;
use rigeval::orl::dna::Dna;
use rigeval::orl::instance::OrlInstance;
use rigeval::orl::rig::{OrlRig, RigOptions};
use rigeval::skeleton::JointOverride;
use rigeval::sparse::DeltaFormat;
use std::path::Path;

/// Metres. The frames are f64 from the same stored numbers; what differs is the f32 of `gnm_blend`'s inputs and output.
const TOLERANCE_M: f64 = 1e-6;

/// Handed packs and frames that are committed; their origin stands beside them.
const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/aosrig_tiny");

/// As w, x, y, z in the frames' manifest; the third joint is one that the packs do not have.
const OVERRIDES: [(&str, [f32; 4]); 3] = [
    ("neck_01", [0.987_688_34, 0.0, 0.156_434_46, 0.0]),
    ("head", [0.992_546_15, -0.114_645_03, -0.034_393_51, 0.022_929_007]),
    ("not_in_pack", [0.707_106_77, 0.0, 0.0, 0.707_106_77]),
];

#[test]
fn orl_committed_frames_match() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl_tiny_frames");
    let reference = Frames::read(&Files::Folder(folder.into())).expect("a frames folder");
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl/tiny.dna")).expect("a rig");
    reference.check_rig(&bytes).expect("the rig of these frames");
    let dna = Dna::read(&bytes).expect("a DNA");
    let rig = OrlRig::from_dna(&dna, &RigOptions { format: DeltaFormat::F32, ..RigOptions::default() }).expect("a rig");
    let controls = reference.input("controls").expect("GUI controls").clone().into_f32().expect("numbers");
    let mut instance = OrlInstance::new(&rig);
    let mut positions = Vec::new();
    for controls in controls.chunks_exact(rig.controls().names().len()) {
        instance.set_controls(&rig, controls).expect("controls");
        positions.extend(orl_deform(rig.mesh(), instance.pose()).as_flattened().iter().map(|&x| f64::from(x)));
    }
    let (frame_count, vertex_count) = (reference.frame_count, reference.vertex_count);
    let expected = Side { source: "oracle", positions: &reference.vertices, frame_count, vertex_count };
    let computed = Side { source: "orl_deform", positions: &positions, ..expected };
    let manifest = &reference.manifest;
    let comparison = compare(&expected, &computed, None, manifest.tolerance, &manifest.units).expect("equal sizes");
    println!("orl_tiny_frames: largest error {:.2e} cm", comparison.max);
    assert!(comparison.pass, "{comparison:?}");
}

#[test]
fn e64_pack_committed_frames_match() {
    check(COMMITTED, "e64");
}

#[test]
fn light_pack_committed_frames_match() {
    check(COMMITTED, "light");
}

#[test]
fn full_pack_shared_frames_match() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/gnm/aosrig_tiny");
    if !Path::new(folder).is_dir() {
        eprintln!("SKIP full_pack_shared_frames_match: no folder {folder}; the e64 and light packs cover the formula");
        return;
    }
    for pack in ["full", "light", "e64"] {
        check(folder, pack);
    }
}

fn check(folder: &str, name: &str) {
    let file = |suffix: &str| {
        let path = Path::new(folder).join(format!("tiny_{name}{suffix}"));
        std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let array = |suffix: &str| npy::read(&file(suffix)).unwrap_or_else(|e| panic!("{suffix}: {e}"));
    let pack = GnmPack::read(file(".aosrig")).unwrap_or_else(|e| panic!("{e}"));
    let controls = array("_head_ext.npy");
    assert_eq!(controls.shape[1], pack.coefficient_count() + 4);
    let frame_count = controls.shape[0];
    let controls = controls.into_f32().expect("numbers");
    let overrides =
        OVERRIDES.map(|(joint, [w, x, y, z])| JointOverride { joint, rotation: Quat::from_xyzw(x, y, z, w) });

    for (stage, frames, overrides) in [
        (Stage::Forward, "_forward_f64.npy", &[][..]),
        (Stage::Pose, "_rest_f64.npy", &[][..]),
        (Stage::Pose, "_override_f64.npy", &overrides[..]),
    ] {
        let expected = array(frames);
        assert_eq!(expected.shape, [frame_count, pack.vertex_count(), 3], "{name}{frames}");
        let expected = expected.into_f64().expect("numbers");
        let mut pose = GnmPose::new(&pack);
        pose.set_joint_overrides(&pack, overrides).expect("overrides");
        let mut worst = (0.0, 0, 0);
        for (frame, controls) in controls.chunks_exact(pack.coefficient_count() + 4).enumerate() {
            pose.set_controls(&pack, controls).expect("controls");
            let got = gnm_blend(&pack, &pose, stage);
            let expected = &expected[frame * pack.vertex_count() * 3..][..pack.vertex_count() * 3];
            for (i, (got, expected)) in got.as_flattened().iter().zip(expected).enumerate() {
                let error = (f64::from(*got) - expected).abs();
                assert!(error.is_finite(), "{name}{frames}: frame {frame}, vertex {}: got {got}", i / 3);
                if error > worst.0 {
                    worst = (error, frame, i / 3);
                }
            }
        }
        let (error, frame, vertex) = worst;
        println!("{name}{frames}: largest error {error:.2e} m, frame {frame}, vertex {vertex}");
        assert!(error <= TOLERANCE_M, "{name}{frames}: error {error:e} m at frame {frame}, vertex {vertex}");
    }
}
