//! Controls to vertices of a whole character: the handed vertices again, but solved here from the handed controls.

use rigeval::error::{ControlError, LoadErrorKind};
use rigeval::info::Units;
use rigeval::npy;
use rigeval::orl::bake::bake;
use rigeval::orl::controls::ControlLayer;
use rigeval::orl::cpu::orl_deform;
use rigeval::orl::dna::{Dna, TranslationUnit};
use rigeval::orl::instance::OrlInstance;
use rigeval::orl::pack::OrlPack;
use rigeval::orl::rig::{ControlChoice, OrlRig, RigOptions};
use rigeval::orl::shells::ShellMesh;
use rigeval::sparse::DeltaFormat;
use std::path::Path;

/// Relative to the largest coordinate of a vector's mesh, or to 1 cm if that is more.
const TOLERANCE: f64 = 1e-5;

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl");
const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/orl");

fn file(folder: &str, name: &str) -> Dna {
    Dna::read(&std::fs::read(Path::new(folder).join(name)).unwrap()).unwrap()
}

fn rows(folder: &str, name: &str) -> Option<(usize, Vec<f32>)> {
    let array = npy::read(&std::fs::read(Path::new(folder).join(name)).ok()?).unwrap();
    Some((array.shape[0], array.into_f32().unwrap()))
}

fn options(layer: ControlLayer, meshes: &[usize]) -> RigOptions {
    RigOptions {
        meshes: meshes.to_vec(),
        controls: ControlChoice::Layer(layer),
        format: DeltaFormat::F32,
        ..RigOptions::default()
    }
}

/// Every handed vertex array of a rig, all its meshes in one rig; returns how many arrays.
fn check(folder: &str, rig_name: &str) -> usize {
    let dna = file(folder, &format!("{rig_name}.dna"));
    let mut compared = 0;
    for (layer, entry) in [(ControlLayer::Gui, "gui"), (ControlLayer::Raw, "raw")] {
        let Some((frames, controls)) = rows(folder, &format!("{rig_name}.in.{entry}.npy")) else { continue };
        let meshes: Vec<usize> = (0..dna.meshes.len()).collect();
        let rig = OrlRig::from_dna(&dna, &options(layer, &meshes)).unwrap();
        let masks = rows(folder, &format!("{rig_name}.in.masks.npy"));
        let mut instance = OrlInstance::new(&rig);
        for frame in 0..frames {
            let row = |values: &[f32]| values[frame * values.len() / frames..][..values.len() / frames].to_vec();
            instance.set_controls(&rig, &row(&controls)).unwrap();
            if let Some((_, masks)) = &masks {
                instance.set_masks(&rig, &row(masks)).unwrap();
            }
            let got = orl_deform(rig.mesh(), instance.pose());
            for (mesh, (_, range)) in rig.mesh().ranges().iter().enumerate() {
                let Some((_, expected)) = rows(folder, &format!("{rig_name}.{entry}.verts_mesh{mesh}.npy")) else {
                    continue;
                };
                let expected = row(&expected);
                compared += usize::from(frame == 0);
                let largest = expected.iter().fold(1.0f64, |most, x| most.max(x.abs().into()));
                for (at, (a, b)) in got[range.clone()].as_flattened().iter().zip(&expected).enumerate() {
                    let error = (f64::from(*a) - f64::from(*b)).abs();
                    assert!(
                        error <= TOLERANCE * largest,
                        "{rig_name}.{entry} mesh {mesh} vector {frame} vertex {}: off by {error:e} cm",
                        at / 3
                    );
                }
            }
        }
    }
    compared
}

#[test]
fn controls_give_the_handed_vertices() {
    let count: usize = ["tiny", "ml_ext", "rbf_quat", "twist"].iter().map(|rig| check(COMMITTED, rig)).sum();
    assert_eq!(count, 5, "arrays of vertices compared");
}

#[test]
fn controls_of_shared_rigs_give_the_handed_vertices() {
    if !Path::new(SHARED).is_dir() {
        eprintln!("SKIP controls_of_shared_rigs_give_the_handed_vertices: no folder {SHARED}; committed rigs cover it");
        return;
    }
    let rigs = ["tiny", "tiny_radians", "face_small", "rbf_quat", "twist", "ml_legacy", "ml_ext"];
    let count: usize = rigs.iter().map(|rig| check(SHARED, rig)).sum();
    assert_eq!(count, 12, "arrays of vertices compared");
}

fn tiny() -> Dna {
    file(COMMITTED, "tiny.dna")
}

fn pack_of(dna: &Dna) -> OrlPack {
    bake(dna, &dna.write(dna.version).unwrap(), 0, 0, &mut |_| ()).unwrap().0
}

fn gui() -> (usize, Vec<f32>) {
    rows(COMMITTED, "tiny.in.gui.npy").unwrap()
}

#[test]
fn pack_of_a_rig_in_metres_and_radians_moves_like_the_one_in_centimetres() {
    let dna = tiny();
    let mut other = dna.clone();
    other.descriptor.translation_unit = TranslationUnit::Metres;
    let metres = |xs: &mut [[f32; 3]]| xs.as_flattened_mut().iter_mut().for_each(|x| *x *= 0.01);
    metres(&mut other.definition.neutral_translations);
    for mesh in &mut other.meshes {
        metres(&mut mesh.positions);
        mesh.targets.iter_mut().for_each(|t| metres(&mut t.deltas));
    }
    for group in &mut other.behavior.joint_groups {
        let columns = group.inputs.len();
        for (row, output) in group.outputs.clone().iter().enumerate() {
            if output % 9 < 3 {
                group.values[row * columns..][..columns].iter_mut().for_each(|x| *x *= 0.01);
            }
        }
    }
    let choice = ControlChoice::Layer(ControlLayer::Gui);
    let (a, b) = (pack_of(&dna), pack_of(&other));
    let (a, b) = (OrlRig::from_pack(&a, &choice, &[]).unwrap(), OrlRig::from_pack(&b, &choice, &[]).unwrap());
    assert_eq!((a.units(), b.units()), (Units::Centimetres, Units::Centimetres));
    let in_metres = OrlRig::from_dna(&other, &options(ControlLayer::Gui, &[0])).unwrap();
    assert_eq!(in_metres.units(), Units::Metres);
    let (frames, controls) = gui();
    let mut moved = 0.0f32;
    for row in controls.chunks(controls.len() / frames) {
        let pose = |rig: &OrlRig| {
            let mut instance = OrlInstance::new(rig);
            instance.set_controls(rig, row).unwrap();
            orl_deform(rig.mesh(), instance.pose())
        };
        let (p, q) = (pose(&a), pose(&b));
        for ((p, q), rest) in p.iter().zip(&q).zip(a.rest_positions()) {
            for axis in 0..3 {
                assert!((p[axis] - q[axis]).abs() <= 2e-4, "{p:?} and {q:?}");
                moved = moved.max((p[axis] - rest[axis]).abs());
            }
        }
    }
    assert!(moved > 0.5, "the frames move the mesh by {moved} cm only");
}

#[test]
fn pack_follows_its_dna_within_the_quantisation() {
    let dna = tiny();
    let (pack, report) = bake(&dna, &dna.write(dna.version).unwrap(), 0, 0, &mut |_| ()).unwrap();
    let exact = OrlRig::from_dna(&dna, &options(ControlLayer::Gui, &[0])).unwrap();
    let packed = OrlRig::from_pack(&pack, &ControlChoice::Layer(ControlLayer::Gui), &[]).unwrap();
    assert_eq!(packed.mesh().ranges(), exact.mesh().ranges());
    let (frames, controls) = gui();
    for row in controls.chunks(controls.len() / frames) {
        let pose = |rig: &OrlRig| {
            let mut instance = OrlInstance::new(rig);
            instance.set_controls(rig, row).unwrap();
            let weight: f64 = instance.pose().weights().iter().map(|w| f64::from(w.abs())).sum();
            (orl_deform(rig.mesh(), instance.pose()), weight)
        };
        let ((a, weight), (b, _)) = (pose(&exact), pose(&packed));
        // The joints of `tiny` scale by less than 2.
        let allowed = 2.0 * weight * report.max_error_um * 1e-4 + 1e-4;
        for (p, q) in a.iter().zip(&b) {
            let error = (0..3).map(|i| f64::from(p[i] - q[i]).powi(2)).sum::<f64>().sqrt();
            assert!(error <= allowed, "{error} cm, allowed {allowed}");
        }
    }
}

#[test]
fn set_raw_reaches_what_no_gui_row_drives_and_is_given_back() {
    let mut dna = tiny();
    let driven = dna.behavior.gui_to_raw[0].output;
    dna.behavior.gui_to_raw.retain(|row| row.output != driven);
    let rig = OrlRig::from_dna(&dna, &options(ControlLayer::Gui, &[0])).unwrap();
    assert!(rig.undriven_raw_controls().contains(&dna.definition.raw_control_names[usize::from(driven)]));
    let mut instance = OrlInstance::new(&rig);
    let rest = instance.pose().clone();
    assert_eq!(instance.set_raw(&rig, &[(driven.into(), 1.0)]), Ok(true));
    assert_eq!(instance.state().raw()[usize::from(driven)], 1.0);
    let (frames, controls) = gui();
    instance.set_controls(&rig, &controls[controls.len() / frames..][..controls.len() / frames]).unwrap();
    assert_eq!(instance.state().raw()[usize::from(driven)], 1.0, "it stays when other controls change");
    instance.set_controls(&rig, rig.default_controls()).unwrap();
    assert_eq!(instance.set_raw(&rig, &[]), Ok(true));
    assert_eq!(*instance.pose(), rest);

    let count = rig.logic().counts().raw;
    assert_eq!(instance.set_raw(&rig, &[(count, 0.0)]), Err(ControlError::RawControl { got: count, raw_count: count }));
}

#[test]
fn quaternions_that_no_gui_row_drives_start_at_identity() {
    let dna = file(COMMITTED, "twist.dna");
    let raw_rig = OrlRig::from_dna(&dna, &options(ControlLayer::Raw, &[0])).unwrap();
    let rig = OrlRig::from_dna(&dna, &options(ControlLayer::Gui, &[0])).unwrap();
    let w = raw_rig.default_controls().iter().position(|&x| x == 1.0).expect("the w of a driver joint");
    assert_eq!(rig.rest().state().raw(), raw_rig.default_controls());
    assert_eq!(rig.rest_positions(), raw_rig.rest_positions());
    let mut instance = OrlInstance::new(&rig);
    instance.set_raw(&rig, &[(w, 0.5), (w - 1, 0.5)]).unwrap();
    assert_eq!(instance.state().raw()[w], 0.5, "what is set goes before what it starts at");
    instance.set_raw(&rig, &[]).unwrap();
    assert_eq!(instance.state().raw(), raw_rig.default_controls());
}

#[test]
fn refused_controls_leave_everything_in_place() {
    let rig = OrlRig::from_dna(&tiny(), &options(ControlLayer::Raw, &[0])).unwrap();
    let (frames, controls) = rows(COMMITTED, "tiny.in.raw.npy").unwrap();
    let width = controls.len() / frames;
    let mut instance = OrlInstance::new(&rig);
    instance.set_controls(&rig, &controls[width..2 * width]).unwrap();
    let before = (instance.pose().clone(), instance.state().raw().to_vec(), instance.state().joints().to_vec());
    assert!(instance.set_controls(&rig, &controls[..width - 1]).is_err());
    let mut bad = controls[..width].to_vec();
    bad[0] = f32::NAN;
    assert!(matches!(
        instance.set_controls(&rig, &bad),
        Err(ControlError::NotFinite { what: "controls", index: 0, .. })
    ));
    // Finite, but out of range once multiplied.
    let error = instance.set_controls(&rig, &vec![f32::MAX; width]).unwrap_err();
    assert!(matches!(error, ControlError::NotFinite { .. }), "{error}");
    let after = (instance.pose().clone(), instance.state().raw().to_vec(), instance.state().joints().to_vec());
    assert_eq!(before, after);
    assert_eq!(instance.controls(), &controls[width..2 * width]);
    assert_eq!(instance.set_controls(&rig, &controls[width..2 * width]), Ok(false));
}

#[test]
fn shell_without_a_joint_near_stays_and_one_at_the_eye_follows_it() {
    let mut dna = tiny();
    let eye = 2;
    dna.definition.joint_names[eye] = "FACIAL_L_Eye".into();
    let plain = OrlRig::from_dna(&dna, &options(ControlLayer::Raw, &[0])).unwrap();
    let [x, y, z] = plain.model().rest_worlds()[eye].translation.as_vec3().to_array();
    let triangle = |x: f32| vec![[x, y, z], [x + 0.5, y, z], [x, y + 0.5, z]];
    let shell = ShellMesh {
        name: "lens".into(),
        positions: [triangle(x), triangle(x + 100.0)].concat(),
        triangles: vec![[0, 1, 2], [3, 4, 5]],
    };
    let shells = vec![shell.clone()];
    let rig = OrlRig::from_dna(&dna, &RigOptions { shells, ..options(ControlLayer::Raw, &[0]) }).unwrap();
    let first = plain.mesh().vertex_count();
    assert_eq!(rig.mesh().ranges()[1], ("lens".to_string(), first..first + 6));
    assert_eq!(rig.mesh().mesh().parts[1].name, "lens");
    let (frames, controls) = rows(COMMITTED, "tiny.in.raw.npy").unwrap();
    let mut farthest = 0.0f32;
    for row in controls.chunks(controls.len() / frames) {
        let mut instance = OrlInstance::new(&rig);
        instance.set_controls(&rig, row).unwrap();
        let got = orl_deform(rig.mesh(), instance.pose());
        assert_eq!(got[first + 3..], shell.positions[3..], "nothing near: it stands still");
        let rows = &instance.pose().skin_rows()[eye];
        for (p, rest) in got[first..first + 3].iter().zip(&shell.positions) {
            let expected = rigeval::math::transform(rows, glam::DVec3::from(rest.map(f64::from)));
            assert!((0..3).all(|i| (f64::from(p[i]) - expected[i]).abs() < 1e-5), "{p:?}, expected {expected}");
            farthest = farthest.max((p[0] - rest[0]).abs());
        }
    }
    assert!(farthest > 0.1, "the joint moves the shell by {farthest} cm only");
}

#[test]
fn shell_of_the_size_of_a_mesh_of_the_rig_is_refused() {
    let dna = tiny();
    let positions = dna.meshes[0].positions.clone();
    let shell = ShellMesh { name: "head".into(), positions, triangles: vec![[0, 1, 2]] };
    let error = OrlRig::from_dna(&dna, &RigOptions { shells: vec![shell], ..RigOptions::default() }).unwrap_err();
    let expected =
        "shell \"head\": expected a mesh that the rig does not have, got 60 vertices, as many as a mesh of its own";
    assert_eq!((error.kind, error.to_string().as_str()), (LoadErrorKind::Value, expected));
}

#[test]
fn options_out_of_range_are_refused_with_what_there_is() {
    let dna = tiny();
    let with = |change: fn(&mut RigOptions)| {
        let mut options = options(ControlLayer::Gui, &[0]);
        change(&mut options);
        OrlRig::from_dna(&dna, &options).unwrap_err()
    };
    let cases = [
        (with(|o| o.lod = 2), LoadErrorKind::Value, "lod: expected a level below 2, got 2"),
        (
            with(|o| o.meshes = vec![1]),
            LoadErrorKind::Missing,
            "meshes: expected a mesh below 1, as many as the geometry holds, got 1",
        ),
        (with(|o| o.meshes = vec![0, 0]), LoadErrorKind::Value, "meshes: expected each mesh once, got 0 twice"),
    ];
    for (error, kind, message) in cases {
        assert_eq!((error.kind, error.to_string().as_str()), (kind, message));
    }
}

#[test]
fn mesh_that_the_level_does_not_show_is_refused() {
    let dna = rigeval::orl::sample::sample(rigeval::head::HeadSize::Small);
    let shown = dna.definition.lod_meshes.list(0).to_vec();
    let hidden = (0..dna.meshes.len()).find(|&mesh| !dna.shows(mesh, 0)).expect("a mesh of a coarser level");
    let error = OrlRig::from_dna(&dna, &RigOptions { meshes: vec![0, hidden], ..RigOptions::default() }).unwrap_err();
    let expected = format!("meshes: expected meshes of level 0, of {shown:?}, got {hidden}");
    assert_eq!((error.kind, error.to_string()), (LoadErrorKind::Value, expected));
}
