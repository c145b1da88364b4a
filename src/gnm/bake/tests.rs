use super::*;
use crate::error::LoadErrorKind;
use crate::gnm::model::tests::small_model;
use crate::gnm::model::{Correctives, GnmModel};
use crate::gnm::pack::Region;
use crate::npy::{self, NpzWriter, Packing};
use glam::{DMat3, DQuat};
use half::f16;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("reference/gnm_tiny").join(name)).unwrap()
}

fn handed(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/gnm").join(name);
    path.exists().then_some(path)
}

fn tiny() -> GnmModel {
    GnmModel::read(&fixture("gnm_tiny.npz")).unwrap()
}

fn parts(model: &GnmModel, identity: &[f64], options: &BakeOptions) -> PackParts {
    bake_parts(model, identity, options, &mut |_| ()).unwrap()
}

/// Basis entries as stored, times their scale; (V, E, 3).
fn decode(parts: &PackParts) -> Vec<f64> {
    let raw: Vec<f64> = match parts.basis_format {
        BasisFormat::F16 => parts.basis.as_chunks().0.iter().map(|&b| f16::from_le_bytes(b).to_f64()).collect(),
        BasisFormat::I8 => parts.basis.iter().map(|&b| f64::from(b as i8)).collect(),
    };
    let e = parts.basis_scale.len();
    raw.iter().enumerate().map(|(i, x)| x * f64::from(parts.basis_scale[i / 3 % e])).collect()
}

/// `Rx(pitch) * Ry(yaw)` of each eye, from its rotation matrix.
fn gaze(r: [f64; 3]) -> [f64; 2] {
    let m = rotation(r);
    [m.y_axis.z.atan2(m.y_axis.y), m.z_axis.x.atan2(m.x_axis.x)]
}

fn rotation(r: [f64; 3]) -> DMat3 {
    DMat3::from_quat(DQuat::from_scaled_axis(DVec3::from_array(r)))
}

/// What a runtime does with the parts, with these influences instead of the stored ones.
fn pose(parts: &PackParts, rows: &[weights::Row], expression: &[f64], turns: &[[f64; 3]], t: DVec3) -> Vec<DVec3> {
    let basis = decode(parts);
    let e = parts.basis_scale.len();
    let origin = |j: usize| DVec3::from_array([3, 7, 11].map(|i| f64::from(parts.joints[j].rest_world[i])));
    let neck = DAffine3::from_mat3_translation(rotation(turns[0]), origin(0) + t);
    let head = neck * DAffine3::from_mat3_translation(rotation(turns[1]), origin(1) - origin(0));
    let skin =
        [neck, head].iter().enumerate().map(|(j, w)| *w * DAffine3::from_translation(-origin(j))).collect::<Vec<_>>();
    let place = |v: usize| {
        let mut p = DVec3::from_array(parts.neutral[v].map(f64::from));
        for (c, &x) in expression.iter().enumerate() {
            p += x * DVec3::from_slice(&basis[3 * (v * e + c)..]);
        }
        for eye in 0..2 {
            let [pitch, yaw] = gaze(turns[2 + eye]);
            let turn = DMat3::from_rotation_x(pitch) * DMat3::from_rotation_y(yaw);
            let r = p - DVec3::from_array(parts.eye_positions[eye].map(f64::from));
            p += f64::from(parts.eye_weights[eye][v]) * (turn * r - r);
        }
        rows[v].iter().map(|(j, w)| *w * skin[usize::from(*j)].transform_point3(p)).sum()
    };
    (0..parts.neutral.len()).map(place).collect()
}

fn stored_rows(parts: &PackParts) -> Vec<weights::Row> {
    let lanes = parts.skin_joints.iter().copied().zip(parts.skin_weights.iter().map(|w| w.to_f64()));
    lanes.collect::<Vec<_>>().chunks(parts.lanes).map(<[_]>::to_vec).collect()
}

#[test]
fn baked_head_equals_the_model_without_correctives() {
    let f64s = |name: &str| npy::read(&fixture(name)).unwrap().into_f64().unwrap();
    let (identity, expression) = (f64s("identity.npy"), f64s("expression.npy"));
    let (rotations, translation, expected) =
        (f64s("rotations.npy"), f64s("translation.npy"), f64s("vertices_nocorr_f64.npy"));
    let model = tiny();
    let v = model.vertex_count();
    let exact = HeadJoints::new(&model).unwrap().rows(&model).unwrap();
    let (mut worst_exact, mut worst_stored) = (0.0f64, 0.0f64);
    // The frames between them roll an eye, which gaze cannot say.
    for frame in (0..=10).chain([14]).chain(16..=19) {
        let parts = parts(&model, &identity[253 * frame..][..253], &BakeOptions::default());
        let turns: Vec<[f64; 3]> = rotations[12 * frame..][..12].as_chunks().0.to_vec();
        let t = DVec3::from_slice(&translation[3 * frame..]);
        let run = |rows: &[weights::Row]| {
            let posed = pose(&parts, rows, &expression[383 * frame..][..383], &turns, t);
            let truth = expected[3 * v * frame..][..3 * v].chunks(3).map(DVec3::from_slice);
            posed.iter().zip(truth).map(|(a, b)| (*a - b).abs().max_element()).fold(0.0, f64::max)
        };
        worst_exact = worst_exact.max(run(&exact));
        worst_stored = worst_stored.max(run(&stored_rows(&parts)));
    }
    assert!(worst_exact <= 5e-6, "weights as they are: {worst_exact} m");
    assert!(worst_stored <= 3e-5, "weights as halves: {worst_stored} m");
    assert!(worst_stored > worst_exact, "rounding the weights costs nothing? {worst_stored} m");
}

#[test]
fn baked_head_has_the_bits_of_the_handed_packs() {
    let Some(folder) = handed("aosrig_tiny") else {
        eprintln!(
            "SKIP baked_head_has_the_bits_of_the_handed_packs: no handed data here; the quantiser's own tests cover the rules"
        );
        return;
    };
    let manifest: Value = serde_json::from_slice(&std::fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let identity: Vec<f64> = serde_json::from_value(manifest["identity"].clone()).unwrap();
    let cases =
        [("full", BasisFormat::F16, None), ("light", BasisFormat::I8, None), ("e64", BasisFormat::F16, Some(64))];
    for (name, format, keep) in cases {
        let pack = GnmPack::read(std::fs::read(folder.join(format!("tiny_{name}.aosrig"))).unwrap()).unwrap();
        let options = BakeOptions { format, keep, ..BakeOptions::default() };
        let parts = parts(&tiny(), &identity, &options);
        assert_eq!(parts.basis_scale, pack.basis_scale(), "{name}");
        assert!(parts.basis == pack.basis_bytes(), "{name}: other basis bytes");
        assert_eq!(parts.regions, pack.regions(), "{name}");
        if name == "full" {
            let ulp = 1e-7;
            let far = parts
                .neutral
                .as_flattened()
                .iter()
                .zip(pack.neutral().as_flattened())
                .any(|(a, b)| (a - b).abs() > ulp);
            assert!(!far, "{name}: other neutral");
            assert_eq!(parts.uvs.as_deref(), pack.uvs(), "{name}");
            assert_eq!(parts.faces, pack.faces(), "{name}");
            let mouth = parts.mouth.as_ref().unwrap();
            let theirs = pack.mouth().unwrap();
            for (ours, theirs) in mouth.groups.iter().zip(&theirs.groups) {
                assert_eq!((&ours.name, &ours.vertices), (&theirs.name, &theirs.vertices), "{name}");
            }
            // Their writer also gave the gums the triangles between two groups.
            let listed = theirs.faces.iter().zip(&theirs.face_groups).collect::<std::collections::BTreeSet<_>>();
            assert!(mouth.faces.iter().zip(&mouth.face_groups).all(|f| listed.contains(&f)), "{name}");
        }
    }
}

#[test]
fn halves_survive_bit_by_bit() {
    let values: Vec<f16> =
        (0..5 * 33u32).map(|i| f16::from_bits((i * 397 % 0x7bff) as u16 | ((i % 2) << 15) as u16)).collect();
    let ids = [0, 1, 2, 3, 4];
    let packed = quantize::quantize(&values, 11, &ids, BasisFormat::F16, &mut |_| ());
    assert_eq!((packed.max_abs_error, packed.mean_abs_error), (0.0, 0.0));
    for (i, b) in packed.bytes.as_chunks().0.iter().enumerate() {
        let (v, c, k) = (i / 15, i / 3 % 5, i % 3);
        let value = f16::from_le_bytes(*b).to_f32() * packed.scale[c];
        assert_eq!(value.to_bits(), values[33 * c + 3 * v + k].to_f32().to_bits(), "vertex {v} coefficient {c}");
    }
}

#[test]
fn quantisation_error_is_bounded_and_measured() {
    let model = tiny();
    let v = model.vertex_count();
    let ids: Vec<usize> = (0..383).collect();
    for format in [BasisFormat::F16, BasisFormat::I8] {
        let parts = parts(&model, &[], &BakeOptions { format, ..BakeOptions::default() });
        let decoded = decode(&parts);
        let (mut worst, mut sum) = (0.0f64, 0.0f64);
        for &c in &ids {
            let row = &model.expression_basis[3 * v * c..][..3 * v];
            let peak = f64::from(row.iter().fold(0.0f32, |m, x| m.max(x.abs())));
            let bound = match format {
                BasisFormat::F16 => peak / 2048.0,
                BasisFormat::I8 => 0.501 * peak / 127.0,
            };
            for (i, &x) in row.iter().enumerate() {
                let error = (decoded[3 * (i / 3 * 383 + c) + i % 3] - f64::from(x)).abs();
                assert!(error <= bound, "{format:?}, coefficient {c}: {error} m above {bound} m");
                worst = worst.max(error);
                sum += error;
            }
        }
        let told = |key: &str| parts.source[key].as_f64().unwrap();
        assert_eq!(told("basisMaxAbsErrorM"), worst);
        approx::assert_relative_eq!(told("basisMeanAbsErrorM"), sum / decoded.len() as f64, max_relative = 1e-9);
        let peak = model.expression_basis.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        assert_eq!(told("basisPeakM"), f64::from(peak));
    }
}

#[test]
fn scale_of_halves_is_the_least_power_of_two() {
    let scale_of =
        |peak: f32| quantize::quantize(&[peak, 0.0, -peak / 2.0], 1, &[0], BasisFormat::F16, &mut |_| ()).scale[0];
    assert_eq!(scale_of(0.0), 1.0);
    assert_eq!(scale_of(65504.0), 1.0);
    assert_eq!(scale_of(65505.0), 2.0);
    assert_eq!(scale_of(65504.0 / 8192.0), 1.0 / 8192.0);
    for peak in [1e-45, 1e-38, 3e-20, 0.0055, 1.0, 7e9, f32::MAX] {
        let scale = scale_of(peak);
        assert_eq!(scale.to_bits() & 0x007f_ffff, 0, "{scale} for {peak}");
        assert!(peak / scale <= 65504.0, "{scale} for {peak}");
        assert!(peak / scale > 32752.0 || scale == f32::MIN_POSITIVE, "{scale} for {peak}");
    }
    for peak in [1e-45, f32::MAX] {
        let packed = quantize::quantize(&[peak, 0.0, 0.0], 1, &[0], BasisFormat::I8, &mut |_| ());
        assert!(packed.scale[0].is_normal() && packed.max_abs_error.is_finite());
    }
}

#[test]
fn stored_weights_sum_to_exactly_one() {
    let model = tiny();
    let parts = parts(&model, &[], &BakeOptions::default());
    let exact = HeadJoints::new(&model).unwrap().rows(&model).unwrap();
    assert_eq!(parts.lanes, 2);
    for (vertex, (row, exact)) in stored_rows(&parts).iter().zip(&exact).enumerate() {
        assert_eq!(row.iter().map(|(_, w)| w).sum::<f64>(), 1.0, "vertex {vertex}");
        for (joint, weight) in exact {
            let stored: f64 = row.iter().filter(|(j, w)| j == joint && *w > 0.0).map(|(_, w)| w).sum();
            assert!((stored - weight).abs() < 1.0 / 2048.0, "vertex {vertex}: {stored} for {weight}");
        }
    }
}

#[test]
fn five_influences_keep_the_four_strongest() {
    let row = vec![(0, 0.3), (1, 0.05), (2, 0.25), (3, 0.2), (4, 0.2)];
    let kept = weights::normalize("w", 7, row).unwrap();
    assert_eq!(kept.iter().map(|(j, _)| *j).collect::<Vec<_>>(), [0, 2, 3, 4]);
    let skin = weights::round(&[kept, vec![(2, 1.0)]]);
    assert_eq!((skin.lanes, &skin.joints[4..]), (4, &[2, 0, 0, 0][..]));
    assert_eq!(skin.weights[..4].iter().map(|w| w.to_f64()).sum::<f64>(), 1.0);
    for bad in [vec![(0, 1.2)], vec![(0, 1.1), (1, -0.1)], vec![(0, f64::NAN)], vec![]] {
        let error = weights::normalize("w", 7, bad).unwrap_err();
        assert_eq!((error.kind, error.field.as_str()), (LoadErrorKind::Value, "w, vertex 7"));
    }
}

#[test]
fn eye_weight_goes_to_the_head_and_to_gaze() {
    let model = small_model();
    let parts = parts(&model, &[0.5, -1.0], &BakeOptions { keep: None, ..BakeOptions::default() });
    let names: Vec<_> = parts.joints.iter().map(|j| (j.name.as_str(), j.parent)).collect();
    assert_eq!(names, [("neck", None), ("head", Some(0))]);
    let bind = model.bind_pose(&[0.5, -1.0]).unwrap();
    for (j, joint) in parts.joints.iter().enumerate() {
        let [x, y, z] = bind.joints[j].map(|x| x as f32);
        assert_eq!(joint.rest_world, [1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, z, 0.0, 0.0, 0.0, 1.0]);
    }
    assert_eq!(parts.eye_positions[1], bind.joints[3].map(|x| x as f32));
    assert_eq!(stored_rows(&parts)[3].iter().filter(|(_, w)| *w > 0.0).collect::<Vec<_>>(), [&(1, 1.0)]);
    assert_eq!((parts.eye_weights[0][3], parts.eye_weights[1][3]), (0.5, 0.3));
    let turned =
        GnmModel { joint_names: ["neck", "head", "right_eye", "left_eye"].map(String::from).to_vec(), ..model };
    assert_eq!(bake_parts(&turned, &[], &BakeOptions::default(), &mut |_| ()).unwrap().eye_weights[1][3], 0.5);
    let blind = GnmModel { joint_names: ["neck", "head", "a", "b"].map(String::from).to_vec(), ..turned.clone() };
    assert_eq!(bake(&blind, &[], &BakeOptions::default(), &mut |_| ()).unwrap_err().kind, LoadErrorKind::Missing);
    let below = GnmModel { joint_parents: vec![None, Some(0), Some(1), Some(2)], ..turned };
    assert_eq!(bake(&below, &[], &BakeOptions::default(), &mut |_| ()).unwrap_err().kind, LoadErrorKind::Missing);
}

#[test]
fn bake_builds_a_pack_and_repeats_itself() {
    let model = small_model();
    let mut source = Map::new();
    source.insert("head_npz".into(), json!("small.npz"));
    let options = BakeOptions { source, ..BakeOptions::default() };
    let mut told = Vec::new();
    let pack = bake(&model, &[1.0, 0.0], &options, &mut |share| told.push(share)).unwrap();
    assert!(told.is_sorted() && told.last() == Some(&1.0), "{told:?}");
    assert_eq!(pack.write(), bake(&model, &[1.0, 0.0], &options, &mut |_| ()).unwrap().write());
    assert_eq!((pack.vertex_count(), pack.coefficient_count()), (11, 6));
    let source: Value = serde_json::from_str(pack.source().unwrap().get()).unwrap();
    assert_eq!(
        (&source["head_npz"], &source["lean"], &source["identity"]),
        (&json!("small.npz"), &json!(false), &json!([1.0]))
    );
    let rest = model.evaluate(&[1.0, 0.0], &[], &[], [0.0; 3], Correctives::Off).unwrap();
    for (ours, theirs) in pack.rest_positions().as_flattened().iter().zip(rest.positions.as_flattened()) {
        approx::assert_abs_diff_eq!(f64::from(*ours), *theirs, epsilon = 1e-7);
    }
    for (identity, kind) in [(&[0.0][..], LoadErrorKind::Shape), (&[0.0, f64::NAN], LoadErrorKind::Value)] {
        assert_eq!(bake(&model, identity, &options, &mut |_| ()).unwrap_err().kind, kind);
    }
}

#[test]
fn mouth_takes_triangles_for_their_first_group() {
    let model = small_model();
    let parts = parts(&model, &[], &BakeOptions::default());
    let mouth = parts.mouth.unwrap();
    // Vertices 6..=10 are tongue, 6..=9 also teeth; vertex 10 is also gums.
    let groups: Vec<_> = mouth.groups.iter().map(|g| (g.name.as_str(), g.vertices.clone())).collect();
    let expected = [("teeth", vec![6, 7, 8, 9]), ("gums", vec![10]), ("tongue", vec![6, 7, 8, 9, 10])];
    assert_eq!(groups, expected);
    assert_eq!(mouth.faces, [[6, 7, 8], [7, 8, 9], [8, 9, 6], [9, 10, 7]]);
    assert_eq!(mouth.face_groups, [0, 0, 0, 2]);
    assert!(mouth.groups.iter().all(|g| g.look.is_some()));
    let toothless = GnmModel { vertex_groups: vec![0.0; 44], ..model.clone() };
    assert_eq!(bake_parts(&toothless, &[], &BakeOptions::default(), &mut |_| ()).unwrap().mouth, None);
    let lean = parts_of_lean(&model);
    assert_eq!((lean.faces.len(), lean.quads, lean.mouth), (0, None, None));
    assert_eq!(lean.source["lean"], json!(true));
}

fn parts_of_lean(model: &GnmModel) -> PackParts {
    parts(model, &[], &BakeOptions { lean: true, ..BakeOptions::default() })
}

#[test]
fn seam_vertex_takes_its_last_corner() {
    let quads = [[0, 1, 2, 3], [3, 2, 4, 0]];
    let corner = |i: usize| [i as f32, 0.5];
    let uvs: Vec<[[f32; 2]; 4]> = (0..2).map(|q| std::array::from_fn(|c| corner(4 * q + c))).collect();
    assert_eq!(
        surface::last_corner_uvs(&quads, &uvs, 6),
        [corner(7), corner(1), corner(5), corner(4), corner(6), [0.0; 2]]
    );
}

#[test]
fn truncation_keeps_the_first_of_every_region() {
    let full = view::regions_of_count(383).unwrap();
    let counts = |keep| {
        let view = View::new(&full, Some(keep)).unwrap();
        assert_eq!(view.ids.len(), keep);
        view.regions.iter().map(|r| r.count).collect::<Vec<_>>()
    };
    assert_eq!(counts(383), [100, 100, 150, 32, 1]);
    assert_eq!(counts(64), [16, 16, 28, 3, 1]);
    assert_eq!(counts(32), [8, 8, 14, 1, 1]);
    assert_eq!(counts(5), [1, 1, 1, 1, 1]);
    for keep in 5..=383 {
        let counts = counts(keep);
        assert!(counts.iter().zip(&full).all(|(n, r)| (1..=r.count).contains(n)), "{keep}: {counts:?}");
    }
    let view = View::new(&full, Some(64)).unwrap();
    let firsts: Vec<usize> = (0..16).chain(100..116).chain(200..228).chain(350..353).chain([382]).collect();
    assert_eq!(view.ids, firsts);
    assert!(View::new(&full, Some(4)).is_err() && View::new(&full, Some(384)).is_err());

    let model = tiny();
    let (all, reduced) = (parts(&model, &[], &BakeOptions::default()), {
        let options = BakeOptions { keep: Some(64), ..BakeOptions::default() };
        parts(&model, &[], &options)
    });
    let (all_values, reduced_values) = (decode(&all), decode(&reduced));
    for v in 0..model.vertex_count() {
        for (c, &id) in firsts.iter().enumerate() {
            assert_eq!(reduced_values[3 * (64 * v + c)..][..3], all_values[3 * (383 * v + id)..][..3]);
        }
    }
    assert_eq!(reduced.source["truncatedExpression"]["coefficientIds"], json!(firsts));
    assert_eq!(reduced.source["truncated_to"], json!(64));
}

#[test]
fn regions_come_from_the_names() {
    let names = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
    let region = |name: &str, count| Region { name: name.into(), count };
    let new = names(&["left_eye_region_000", "left_eye_region_001", "tongue_mean", "tongue_000", "pupils_000"]);
    assert_eq!(view::regions(&new).unwrap(), [region("left_eye", 2), region("tongue", 2), region("pupils", 1)]);
    let old = names(&["left_eye_000", "mouth_000", "eyeballs_000"]);
    assert_eq!(view::regions(&old).unwrap(), [region("left_eye", 1), region("lower_face", 1), region("pupils", 1)]);
    let split = view::regions(&names(&["tongue_000", "pupils_000", "tongue_001"])).unwrap_err();
    assert_eq!((split.kind, split.field.as_str()), (LoadErrorKind::Unsupported, "expression_names[2]"));
    assert_eq!(view::regions(&tiny().expression_names).unwrap(), view::regions_of_count(383).unwrap());
}

/// A head of two vertices on a body of five joints, of which the second is not needed.
struct Rigged {
    head: Vec<(&'static str, Vec<usize>, Vec<f32>)>,
    names: Vec<&'static str>,
    index: Vec<i32>,
    json: String,
    world: Vec<f32>,
}

fn rigged() -> Rigged {
    let world = |y: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 1.0];
    Rigged {
        head: vec![
            ("neutral", vec![2, 3], vec![0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
            ("eye_positions", vec![2, 3], vec![-1.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
            ("eye_weights", vec![2, 2], vec![0.0, 0.25, 0.5, 0.0]),
            ("skin_weight", vec![2, 3], vec![0.5, 0.5, 0.0, 0.3001, 0.3, 0.4]),
            ("stitch_local", vec![2, 3], vec![0.01; 6]),
        ],
        names: vec!["right_eye", "left_eye"],
        index: vec![3, 4, 0, 4, 3, 2],
        json: r#"{"joints": [{"name": "root", "parent": null}, {"name": "arm", "parent": "root"},
            {"name": "spine", "parent": "root"}, {"name": "neck_01", "parent": "spine"}, {"name": "head", "parent": "neck_01"}],
            "head": {"attachment": {"local_to_head": [[2,0,0,0.1],[0,2,0,0],[0,0,2,0],[0,0,0,1]]}}}"#
            .into(),
        world: (0..5).flat_map(|j| world(j as f32)).collect(),
    }
}

impl Rigged {
    fn parts(&self, options: &BakeOptions) -> Result<PackParts, LoadError> {
        let basis: Vec<f16> = (0..64 * 6u16).map(|i| f16::from_bits(0x1000 + i * 7)).collect();
        let mut head = NpzWriter::new(Packing::Deflated);
        for (name, shape, values) in &self.head {
            head.add_f32(name, shape, values);
        }
        head.add_f16("basis", &[64, 2, 3], &basis);
        head.add_i32("faces", &[1, 3], &[0, 1, 0]);
        head.add_i32("skin_index", &[2, 3], &self.index);
        head.add_text("eye_names", &[2], &self.names);
        let mut world = NpzWriter::new(Packing::Stored);
        world.add_f32("bind_world", &[5, 4, 4], &self.world);
        rigged::rigged_parts(&head.finish(), self.json.as_bytes(), &world.finish(), options, &mut |_| ())
    }
}

#[test]
fn rigged_head_takes_its_joints_from_the_body() {
    let parts = rigged().parts(&BakeOptions::default()).unwrap();
    let names: Vec<_> = parts.joints.iter().map(|j| (j.name.as_str(), j.parent)).collect();
    assert_eq!(names, [("root", None), ("spine", Some(0)), ("neck_01", Some(1)), ("head", Some(2))]);
    assert_eq!(parts.joints[3].rest_world[7], 4.0);
    // The unused third lane of the first vertex points at joint 0 with weight 0.
    assert_eq!((parts.lanes, &parts.skin_joints[..]), (3, &[2, 3, 0, 3, 2, 1][..]));
    for row in stored_rows(&parts) {
        assert_eq!(row.iter().map(|(_, w)| w).sum::<f64>(), 1.0);
    }
    // bind_world[head] * local_to_head
    let bind = [2.0, 0.0, 0.0, 0.1, 0.0, 2.0, 0.0, 4.0, 0.0, 0.0, 2.0, 0.5, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(parts.bind_transform, bind);
    assert_eq!(parts.eye_positions, [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], "eyes by name");
    assert_eq!(parts.eye_weights, [vec![0.5, 0.0], vec![0.0, 0.25]]);
    assert_eq!(parts.source["basisMaxAbsErrorM"], json!(0.0), "halves keep their bits");
    assert_eq!(parts.seam, Some(vec![[0.01; 3]; 2]));
    GnmPack::build(&parts).unwrap();
    let lean = rigged().parts(&BakeOptions { lean: true, keep: Some(5), ..BakeOptions::default() }).unwrap();
    assert_eq!((lean.faces.len(), lean.basis_scale.len()), (0, 5));
}

#[test]
fn rigged_head_that_contradicts_itself_is_refused() {
    type Damage = fn(&mut Rigged);
    let cases: [(&str, LoadErrorKind, Damage); 9] = [
        ("skin_index[2]", LoadErrorKind::Value, |r| r.index[2] = 5),
        ("skin_weight, vertex 0", LoadErrorKind::Value, |r| r.head[3].2[0] = 0.9),
        ("eye_weights", LoadErrorKind::Missing, |r| drop(r.head.remove(2))),
        ("stitch_local", LoadErrorKind::Shape, |r| (r.head[4].1, r.head[4].2) = (vec![1, 3], vec![0.0; 3])),
        ("eye_names", LoadErrorKind::Missing, |r| r.names[0] = "third_eye"),
        ("rig: joints", LoadErrorKind::Missing, |r| {
            r.json = r.json.replace(r#""head", "parent""#, r#""skull", "parent""#)
        }),
        ("rig: parent of spine", LoadErrorKind::Value, |r| {
            r.json = r.json.replace(r#""spine", "parent": "root""#, r#""spine", "parent": "head""#);
        }),
        ("rig", LoadErrorKind::Format, |r| r.json.truncate(40)),
        ("bind_world[head]", LoadErrorKind::Value, |r| r.world[4 * 16 + 15] = 0.0),
    ];
    for (field, kind, damage) in cases {
        let mut rig = rigged();
        damage(&mut rig);
        let error = rig.parts(&BakeOptions::default()).unwrap_err();
        assert_eq!((error.field.as_str(), error.kind), (field, kind), "{error}");
    }
}
