//! From a DNA to a pack.

use crate::rig::dna;
use proptest::prelude::*;
use rigeval::error::LoadErrorKind::{self, *};
use rigeval::orl::bake::{BakeReport, bake};
use rigeval::orl::dna::{Dna, RotationSequence, RotationUnit, Target, TranslationUnit};
use rigeval::orl::pack::OrlPack;
use std::path::{Path, PathBuf};

fn baked(dna: &Dna, mesh: usize, lod: usize) -> (OrlPack, BakeReport) {
    bake(dna, &dna.write(8).unwrap(), mesh, lod, &mut |_| {}).unwrap()
}

/// The stored deltas are the DNA's, in order, within half a step of their target; those left out are that small.
fn assert_close(dna: &Dna, mesh: usize, pack: &OrlPack, report: &BakeReport) {
    let cm = if dna.descriptor.translation_unit == TranslationUnit::Metres { 100.0 } else { 1.0 };
    let targets = &dna.meshes[mesh].targets;
    assert_eq!(pack.targets().len(), targets.len());
    let (mut worst, mut sum, mut total) = (0.0f64, 0.0, 0);
    for (stored, target) in pack.targets().iter().zip(targets) {
        assert_eq!(stored.channel, usize::from(target.channel));
        let scale = f64::from(stored.scale);
        let mut rows = (stored.offset..stored.offset + stored.count)
            .map(|i| (u32::from(pack.delta_vertices()[i]), pack.deltas()[i]))
            .peekable();
        for (exact, &vertex) in target.deltas.iter().zip(&target.vertices) {
            let exact = exact.map(|x| f64::from(x) * cm);
            // One step of f32 in the scale, 127 times.
            let half = scale / 2.0 * (1.0 + 1e-4);
            let small = exact.iter().all(|x| x.abs() <= half);
            let fits = |q: [i8; 3]| (0..3).all(|i| (f64::from(q[i]) * scale - exact[i]).abs() <= half);
            let q = rows.next_if(|&(v, q)| v == vertex && fits(q)).map_or([0; 3], |(_, q)| q);
            assert!(fits(q) && (q != [0; 3] || small), "{exact:?} at vertex {vertex}, scale {scale}");
            let error: f64 = (0..3).map(|i| (f64::from(q[i]) * scale - exact[i]).powi(2)).sum::<f64>().sqrt();
            worst = worst.max(error);
            sum += error;
            total += 1;
        }
        assert_eq!(rows.next(), None, "a delta that the DNA does not have");
    }
    assert_eq!((report.target_count, report.delta_count), (targets.len(), pack.deltas().len()));
    assert_eq!(report.dropped_count, total - pack.deltas().len());
    let mean = sum / total.max(1) as f64;
    let close = |a: f64, b: f64| (a - b * 1e4).abs() <= 1e-9 * (a + 1.0);
    assert!(close(report.max_error_um, worst) && close(report.mean_error_um, mean), "{report:?}: {worst}, {mean} cm");
}

#[test]
fn bake_of_a_rig_gives_its_mesh() {
    let dna = dna();
    let (pack, report) = baked(&dna, 0, 0);
    assert_close(&dna, 0, &pack, &report);
    assert_eq!(pack.dna(), Some(&dna));
    assert_eq!(pack.file().member("head_behavior.dna").unwrap(), dna.write(8).unwrap());
    assert_eq!(pack.neutral(), dna.meshes[0].positions);
    assert_eq!(pack.joint_names().unwrap(), dna.definition.joint_names);
    assert_eq!(pack.parents(), [None, Some(0), Some(1)]);
    assert_eq!(pack.joint_neutral()[2], [0.5, 12.0, 2.0, -10.0, 30.0, 90.0, 1.0, 1.0, 1.0]);
    assert_eq!((pack.channel_count(), pack.max_influence()), (3, 3));
    let row = |v: usize| pack.influences().row(v).iter().map(|i| (i.joint, i.weight)).collect::<Vec<_>>();
    assert_eq!(row(2), [(0, 0.2), (1, 0.3), (2, 0.5)]);
    assert_eq!((row(3), row(4)), (vec![], vec![(2, 0.5), (1, 0.25)]));
    // Layouts count backwards from the positions.
    assert_eq!(pack.triangles().unwrap(), [[4, 3, 2], [4, 2, 1], [0, 1, 2]]);
}

#[test]
fn bake_drops_what_is_zero_at_its_targets_scale() {
    let (pack, report) = baked(&dna(), 0, 0);
    let runs: Vec<_> = pack.targets().iter().map(|t| (t.channel, t.offset, t.count)).collect();
    // 0.004 cm at a scale of 0.01 is nothing; a target without deltas stays.
    assert_eq!(runs, [(2, 0, 1), (1, 1, 0), (0, 1, 2), (0, 3, 0)]);
    assert_eq!(pack.deltas(), [[127, 0, -50], [0, -127, 19], [1, 1, -2]]);
    assert_eq!(pack.delta_vertices(), [3, 0, 0]);
    let scales: Vec<f32> = pack.targets().iter().map(|t| t.scale).collect();
    assert!((scales[0] - 0.01).abs() < 1e-8 && scales[1] == 0.0 && (scales[2] - 2.0 / 127.0).abs() < 1e-8);
    assert_eq!((report.delta_count, report.dropped_count, report.target_count), (3, 2, 4));
    // The dropped 0.004 cm are 40 micrometres.
    assert!(report.max_error_um >= 40.0 - 1e-3 && report.mean_error_um < report.max_error_um, "{report:?}");
}

#[test]
fn bake_writes_its_error_into_the_manifest() {
    let (pack, report) = baked(&dna(), 1, 1);
    let manifest: serde_json::Value = serde_json::from_str(pack.manifest()).unwrap();
    assert_eq!(
        (&manifest["mesh"], &manifest["meshName"], &manifest["lod"]),
        (&1.into(), &"head_lod1".into(), &1.into())
    );
    for (key, value) in
        [("quantizationMaxErrorUm", report.max_error_um), ("quantizationMeanErrorUm", report.mean_error_um)]
    {
        let stored = manifest[key].as_f64().unwrap();
        assert!(value > 0.0 && (stored - value).abs() <= 1e-12 * value, "{key}: {stored}, {value}");
    }
}

#[test]
fn bake_twice_gives_the_same_bytes() {
    assert_eq!(baked(&dna(), 0, 0).0.write(), baked(&dna(), 0, 0).0.write());
}

#[test]
fn bake_inverse_bind_undoes_the_neutral_worlds() {
    let (pack, _) = baked(&dna(), 0, 0);
    let mut worlds: Vec<glam::DMat4> = Vec::new();
    for (row, parent) in pack.joint_neutral().iter().zip(pack.parents()) {
        let [tx, ty, tz, rx, ry, rz, ..] = row.map(f64::from);
        let turn = glam::DMat4::from_rotation_z(rz.to_radians())
            * glam::DMat4::from_rotation_y(ry.to_radians())
            * glam::DMat4::from_rotation_x(rx.to_radians());
        let local = glam::DMat4::from_translation(glam::DVec3::new(tx, ty, tz)) * turn;
        worlds.push(parent.map_or(local, |p| worlds[p] * local));
    }
    for (world, inverse) in worlds.iter().zip(pack.bind_from_world()) {
        let product = (*world * glam::DMat4::from(*inverse)).to_cols_array();
        let identity = glam::DMat4::IDENTITY.to_cols_array();
        // Rounding to f32 of translations of 150 cm.
        assert!(product.iter().zip(identity).all(|(a, b)| (a - b).abs() <= 3e-5), "{product:?}");
    }
}

#[test]
fn bake_of_metres_and_radians_is_that_of_centimetres_and_degrees() {
    let mut other = dna();
    let metres = |list: &mut Vec<[f32; 3]>| list.iter_mut().flatten().for_each(|x| *x /= 100.0);
    other.descriptor.translation_unit = TranslationUnit::Metres;
    other.descriptor.rotation_unit = RotationUnit::Radians;
    metres(&mut other.definition.neutral_translations);
    other.definition.neutral_rotations.iter_mut().flatten().for_each(|x| *x = x.to_radians());
    for mesh in &mut other.meshes {
        metres(&mut mesh.positions);
        mesh.targets.iter_mut().for_each(|t| metres(&mut t.deltas));
    }
    let ((a, _), (b, report)) = (baked(&dna(), 0, 0), baked(&other, 0, 0));
    assert_close(&other, 0, &b, &report);
    let close = |a: &[f32], b: &[f32]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 3e-5);
    assert!(close(a.neutral().as_flattened(), b.neutral().as_flattened()));
    assert!(close(a.joint_neutral().as_flattened(), b.joint_neutral().as_flattened()));
    let flat = |p: &OrlPack| p.bind_from_world().iter().flat_map(|m| m.to_cols_array()).map(|x| x as f32).collect();
    let (a, b): (Vec<f32>, Vec<f32>) = (flat(&a), flat(&b));
    assert!(close(&a, &b));
}

#[test]
fn bake_tells_its_progress_up_to_one() {
    let dna = dna();
    let mut told = Vec::new();
    bake(&dna, &dna.write(8).unwrap(), 0, 0, &mut |share| told.push(share)).unwrap();
    assert!(told.is_sorted() && told.last() == Some(&1.0), "{told:?}");
}

#[test]
fn bake_of_what_a_pack_cannot_hold_is_rejected() {
    type Case = (&'static str, usize, usize, fn(&mut Dna), LoadErrorKind, &'static str);
    let cases: [Case; 9] = [
        ("a level", 0, 2, |_| (), Value, "a level below 2"),
        ("a mesh", 2, 0, |_| (), Value, "a mesh below 2"),
        ("a mesh of another level", 1, 0, |_| (), Value, "a mesh of level 0"),
        ("no geometry", 1, 1, |d| d.meshes.truncate(1), Missing, "geometry of mesh 1"),
        ("no vertices", 0, 0, |d| d.meshes[0] = Default::default(), Value, "V of 1 or more"),
        (
            "a parent after its child",
            0,
            0,
            |d| d.definition.joint_parents = vec![1, 1, 1],
            Unsupported,
            "parents first",
        ),
        ("order", 0, 0, |d| d.conventions.rotation_sequence = RotationSequence::Zyx, Unsupported, "xyz"),
        ("signs", 0, 0, |d| d.conventions.rotation_signs[1] = -1, Unsupported, "positive signs"),
        ("vertices", 0, 0, vertices, Unsupported, "at most 65536 vertices"),
    ];
    for (label, mesh, lod, bend, kind, needle) in cases {
        let mut dna = dna();
        bend(&mut dna);
        let error = bake(&dna, &dna.write(8).unwrap(), mesh, lod, &mut |_| {}).expect_err(label);
        assert!(error.kind == kind && error.to_string().contains(needle), "{label}: {error}");
    }
    // The file handed along must be the rig's own.
    let error = bake(&dna(), b"", 0, 0, &mut |_| {}).map(|(pack, _)| pack.dna().is_none());
    assert_eq!(error, Ok(true));
}

fn vertices(dna: &mut Dna) {
    dna.meshes[0].positions.resize(65_537, [0.0; 3]);
    dna.meshes[0].skin.resize(65_537, Default::default());
}

/// Bakes every mesh that a level shows, of every rig in a folder; gives the number of packs.
fn bake_folder(folder: &Path) -> usize {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "dna"));
    files.sort();
    let mut packs = 0;
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let dna = Dna::read(&bytes).unwrap();
        let usual =
            dna.conventions.rotation_sequence == RotationSequence::Xyz && dna.conventions.rotation_signs == [1; 3];
        for lod in 0..usize::from(dna.descriptor.lod_count) {
            for mesh in 0..dna.meshes.len() {
                let shown = dna.definition.lod_meshes.list(lod).iter().any(|&m| usize::from(m) == mesh);
                let result = bake(&dna, &bytes, mesh, lod, &mut |_| {});
                if !usual || !shown {
                    let expected = if shown { Unsupported } else { Value };
                    let error = result.expect_err("a rig or mesh that does not fit");
                    assert_eq!(error.kind, expected, "{}: {error}", path.display());
                    continue;
                }
                let (pack, report) = result.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                assert_close(&dna, mesh, &pack, &report);
                let written = pack.write();
                assert_eq!(OrlPack::read(written.clone()).unwrap().write(), written);
                assert_eq!(pack.dna(), Some(&dna));
                packs += 1;
            }
        }
    }
    packs
}

#[test]
fn bake_of_the_committed_rigs_is_close() {
    let packs = bake_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("reference/orl"));
    assert!(packs >= 8, "{packs}");
}

#[test]
fn bake_of_the_handed_rigs_is_close() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/orl");
    if !folder.is_dir() {
        eprintln!("SKIP: {} is absent", folder.display());
        return;
    }
    assert!(bake_folder(&folder) >= 20);
}

proptest! {
    #[test]
    fn bake_of_any_deltas_is_within_half_a_step(
        lists in prop::collection::vec(prop::collection::vec((any::<[i16; 3]>(), 0u32..5), 0..8), 0..6),
        exponent in -160i32..100,
    ) {
        let mut dna = dna();
        let size = 2f64.powi(exponent);
        dna.meshes[0].targets = lists
            .iter()
            .map(|list| Target {
                deltas: list.iter().map(|(d, _)| d.map(|x| (f64::from(x) * size) as f32)).collect(),
                vertices: list.iter().map(|(_, v)| *v).collect(),
                channel: (list.len() % 3) as u16,
            })
            .collect();
        let (pack, report) = baked(&dna, 0, 0);
        assert_close(&dna, 0, &pack, &report);
        let peaks = pack.targets().iter().map(|t| {
            pack.deltas()[t.offset..t.offset + t.count].as_flattened().iter().map(|q| q.unsigned_abs()).max()
        });
        for peak in peaks.flatten() {
            prop_assert!((1..=127).contains(&peak));
        }
    }
}
