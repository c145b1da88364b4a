use super::*;
use crate::error::{ControlError, LoadErrorKind};
use crate::npy::{self, Npz, NpzWriter, Packing, Values};
use glam::{DMat3, DVec3};

/// A model of 11 vertices with everything that the format can have: correctives, influences of three joints, both eyes.
pub(in crate::gnm) fn small_model() -> GnmModel {
    const V: usize = 11;
    let wave = |seed: usize, n: usize, size: f32| -> Vec<f32> {
        (0..n).map(|i| size * ((i * 37 + seed * 101) as f32 * 0.7).sin()).collect()
    };
    let rows3 = |flat: Vec<f32>| -> Vec<[f32; 3]> { bytemuck::cast_slice(&flat).to_vec() };
    let names = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
    let quads: Vec<[u32; 4]> = vec![[0, 1, 2, 3], [3, 2, 4, 5], [6, 7, 8, 9], [7, 8, 9, 10]];
    let triangles = quads.iter().map(|q| [q[0], q[1], q[2]]).chain(quads.iter().map(|q| [q[2], q[3], q[0]])).collect();
    let mut weights = vec![0.0f32; 4 * V];
    for v in 0..V {
        let row: [f32; 4] = match v % 4 {
            0 => [1.0, 0.0, 0.0, 0.0],
            1 => [0.3, 0.7, 0.0, 0.0],
            2 => [0.0, 0.45, 0.55, 0.0],
            _ => [0.0, 0.2, 0.5, 0.3],
        };
        (0..4).for_each(|j| weights[j * V + v] = row[j]);
    }
    let mut groups = vec![0.0f32; 4 * V];
    (6..11).for_each(|v| groups[v] = 1.0);
    (6..10).for_each(|v| groups[V + v] = 0.9);
    groups[2 * V + 10] = 1.0;
    let corner = |i: usize| [(i % 7) as f32 / 7.0, (i % 5) as f32 / 5.0];
    GnmModel {
        template: rows3(wave(1, 3 * V, 0.1)),
        template_joints: vec![[0.0, 0.1, 0.0], [0.0, 0.2, 0.01], [0.03, 0.25, 0.05], [-0.03, 0.25, 0.05]],
        identity_basis: wave(2, 2 * 3 * V, 0.01),
        joint_identity_basis: wave(3, 2 * 3 * 4, 0.01),
        expression_basis: wave(4, 6 * 3 * V, 0.005),
        identity_names: names(&["head_000", "head_001"]),
        joint_names: names(&["neck", "head", "left_eye", "right_eye"]),
        expression_names: names(&[
            "left_eye_region_000",
            "right_eye_region_000",
            "lower_face_region_000",
            "tongue_mean",
            "tongue_000",
            "pupils_000",
        ]),
        joint_parents: vec![None, Some(0), Some(1), Some(1)],
        skinning_weights: weights,
        quads,
        triangles,
        quad_uvs: (0..4).map(|q| std::array::from_fn(|c| corner(4 * q + c))).collect(),
        triangle_uvs: (0..8).map(|t| std::array::from_fn(|c| corner(3 * t + c))).collect(),
        mesh_component_names: names(&["skin"]),
        mirror_indices: (0..V as u32).collect(),
        joint_regressor: wave(5, 4 * V, 1.0),
        pose_correctives: wave(6, 36 * 3 * V, 0.002),
        joint_orientations: vec![[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]; 4],
        vertex_groups: groups,
        vertex_group_names: names(&["tongue", "teeth", "gums", "skin"]),
    }
}

const REST: [[f64; 3]; 4] = [[0.0; 3]; 4];
const TURNED: [[f64; 3]; 4] = [[0.1, -0.4, 0.2], [0.3, 0.1, -0.2], [-0.2, 0.5, 0.1], [0.15, -0.3, 0.4]];

fn evaluate(model: &GnmModel, identity: &[f64], expression: &[f64], rotations: &[[f64; 3]]) -> GnmFrame {
    model.evaluate(identity, expression, rotations, [0.0; 3], Correctives::On).unwrap()
}

fn assert_near(a: &[[f64; 3]], b: &[[f64; 3]], tolerance_m: f64) {
    let far = a.as_flattened().iter().zip(b.as_flattened()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(a.len() == b.len() && far <= tolerance_m, "{far} m apart");
}

#[test]
fn zeros_give_the_template() {
    let model = small_model();
    let template: Vec<[f64; 3]> = model.template.iter().map(|p| p.map(f64::from)).collect();
    for (identity, expression, rotations) in [(&[][..], &[][..], &[][..]), (&[0.0; 2], &[0.0; 6], &REST)] {
        let frame = evaluate(&model, identity, expression, rotations);
        assert_near(&frame.positions, &template, 1e-8);
        let joints: Vec<_> = frame.joint_worlds.iter().map(|w| w.translation.to_array()).collect();
        assert_near(&joints, &model.template_joints.iter().map(|p| p.map(f64::from)).collect::<Vec<_>>(), 1e-15);
    }
}

#[test]
fn expression_is_linear_at_rest() {
    let model = small_model();
    let (a, b) = ([0.5, -1.0, 2.0, 0.0, 0.3, -0.7], [-2.0, 0.1, 0.4, 1.0, 0.0, 0.2]);
    let sum: Vec<f64> = a.iter().zip(&b).map(|(x, y)| 2.0 * x - 3.0 * y).collect();
    let at = |e: &[f64]| evaluate(&model, &[0.3, -1.0], e, &[]).positions;
    let (zero, of_a, of_b) = (at(&[]), at(&a), at(&b));
    let combined: Vec<[f64; 3]> = (0..zero.len())
        .map(|v| {
            std::array::from_fn(|k| zero[v][k] + 2.0 * (of_a[v][k] - zero[v][k]) - 3.0 * (of_b[v][k] - zero[v][k]))
        })
        .collect();
    assert_near(&at(&sum), &combined, 1e-14);
}

#[test]
fn translation_moves_every_vertex_by_itself() {
    let model = small_model();
    let t = [0.4, -1.5, 0.2];
    let still = evaluate(&model, &[], &[], &TURNED);
    let moved = model.evaluate(&[], &[], &TURNED, t, Correctives::On).unwrap();
    let expected: Vec<[f64; 3]> = still.positions.iter().map(|p| std::array::from_fn(|k| p[k] + t[k])).collect();
    // The weights sum to 1 as f32, not as f64.
    assert_near(&moved.positions, &expected, 2e-7);
}

#[test]
fn root_rotation_is_rigid_without_correctives() {
    let model = small_model();
    let rotations = [TURNED[0], [0.0; 3], [0.0; 3], [0.0; 3]];
    let frame = model.evaluate(&[], &[0.5; 6], &rotations, [0.0; 3], Correctives::Off).unwrap();
    let rest = evaluate(&model, &[], &[0.5; 6], &[]);
    let r = DVec3::from_array(TURNED[0]);
    let turn = DMat3::from_axis_angle(r.normalize(), r.length());
    let origin = DVec3::from_array(model.template_joints[0].map(f64::from));
    let expected: Vec<[f64; 3]> =
        rest.positions.iter().map(|&p| (turn * (DVec3::from_array(p) - origin) + origin).to_array()).collect();
    assert_near(&frame.positions, &expected, 1e-7);
}

#[test]
fn joints_move_with_identity_and_not_with_expression() {
    let model = small_model();
    let base = evaluate(&model, &[0.5, -0.5], &[], &TURNED);
    assert_eq!(evaluate(&model, &[0.5, -0.5], &[3.0; 6], &TURNED).joint_worlds, base.joint_worlds);
    assert_ne!(evaluate(&model, &[0.5, 0.5], &[], &TURNED).joint_worlds, base.joint_worlds);
}

#[test]
fn correctives_follow_every_joint_and_can_be_left_out() {
    let model = small_model();
    for joint in 0..4 {
        let mut rotations = REST;
        rotations[joint] = TURNED[joint];
        let on = evaluate(&model, &[], &[], &rotations);
        let off = model.evaluate(&[], &[], &rotations, [0.0; 3], Correctives::Off).unwrap();
        assert_ne!(on.positions, off.positions, "joint {joint}");
    }
}

#[test]
fn vertex_permutation_permutes_the_output() {
    let model = small_model();
    let v = model.vertex_count();
    let order: Vec<usize> = (0..v).map(|i| i * 3 % v).collect();
    let mut shuffled = model.clone();
    shuffled.template = order.iter().map(|&i| model.template[i]).collect();
    let permute = |flat: &mut Vec<f32>, width: usize| {
        let before = flat.clone();
        for (new, old) in flat.chunks_exact_mut(width * v).zip(before.chunks_exact(width * v)) {
            let rows = order.iter().flat_map(|&i| &old[width * i..][..width]);
            new.iter_mut().zip(rows).for_each(|(n, o)| *n = *o);
        }
    };
    permute(&mut shuffled.identity_basis, 3);
    permute(&mut shuffled.expression_basis, 3);
    permute(&mut shuffled.pose_correctives, 3);
    permute(&mut shuffled.skinning_weights, 1);
    let e = [0.5, -1.0, 2.0, 0.0, 0.3, -0.7];
    let plain = evaluate(&model, &[1.0, -2.0], &e, &TURNED).positions;
    let expected: Vec<[f64; 3]> = order.iter().map(|&i| plain[i]).collect();
    assert_eq!(evaluate(&shuffled, &[1.0, -2.0], &e, &TURNED).positions, expected);
}

#[test]
fn wrong_lengths_and_numbers_are_refused() {
    let model = small_model();
    let length = |what, expected, got| Err(ControlError::Length { what, expected, got });
    let run = |i: &[f64], e: &[f64], r: &[[f64; 3]], t| model.evaluate(i, e, r, t, Correctives::On).map(|_| ());
    assert_eq!(run(&[0.0], &[], &[], [0.0; 3]), length("identity", 2, 1));
    assert_eq!(run(&[], &[0.0; 7], &[], [0.0; 3]), length("expression", 6, 7));
    assert_eq!(run(&[], &[], &[[0.0; 3]; 3], [0.0; 3]), length("rotations", 12, 9));
    let nan = run(&[], &[0.0, 0.0, f64::NAN, 0.0, 0.0, 0.0], &[], [0.0; 3]).unwrap_err();
    assert!(matches!(nan, ControlError::NotFinite { what: "expression", index: 2, .. }), "{nan}");
    assert!(run(&[], &[], &[], [0.0, f64::INFINITY, 0.0]).is_err());
}

#[test]
fn model_writes_and_reads_back() {
    let model = small_model();
    for packing in [Packing::Stored, Packing::Deflated] {
        assert_eq!(GnmModel::read(&model.write(packing)).unwrap(), model);
        assert_eq!(model.write(packing), model.write(packing));
    }
    let lean = GnmModel { pose_correctives: Vec::new(), ..model };
    assert_eq!(GnmModel::read(&lean.write(Packing::Stored)).unwrap(), lean);
}

/// The small model's archive with one array replaced, or left out.
fn with(name: &str, array: Option<(&[usize], Values)>) -> Vec<u8> {
    let bytes = small_model().write(Packing::Stored);
    let npz = Npz::open(&bytes).unwrap();
    let mut out = NpzWriter::new(Packing::Stored);
    for key in npz.names().filter(|k| *k != name) {
        add(&mut out, key, npz.read(key).unwrap());
    }
    if let Some((shape, values)) = array {
        add(&mut out, name, npy::Array { shape: shape.to_vec(), values });
    }
    out.finish()
}

fn add(out: &mut NpzWriter, name: &str, array: npy::Array) {
    match array.values {
        Values::F32(v) => out.add_f32(name, &array.shape, &v),
        Values::F64(v) => out.add_f32(name, &array.shape, &v.iter().map(|&x| x as f32).collect::<Vec<_>>()),
        Values::Int(v) => out.add_i32(name, &array.shape, &v.iter().map(|&x| x as i32).collect::<Vec<_>>()),
        Values::Text(v) => out.add_text(name, &array.shape, &v),
    }
}

#[test]
fn each_missing_array_is_named() {
    for key in super::read::KEYS {
        let error = GnmModel::read(&with(key, None)).unwrap_err();
        assert_eq!((error.kind, error.field.as_str()), (LoadErrorKind::Missing, key), "{error}");
    }
}

#[test]
fn wrong_arrays_are_named() {
    let text = |s: &str| Values::Text(vec![s.to_string()]);
    let floats = |n: usize| Values::F32(vec![0.0; n]);
    let mut nan = vec![0.0; 33];
    nan[5] = f32::NAN;
    let cases: Vec<(&str, &[usize], Values, LoadErrorKind)> = vec![
        ("version", &[], text("2.0"), LoadErrorKind::Version),
        ("version", &[1], text("3.0"), LoadErrorKind::Shape),
        ("version", &[], floats(1), LoadErrorKind::Type),
        ("variant", &[], text("body"), LoadErrorKind::Version),
        ("template_vertex_positions", &[10, 3], floats(30), LoadErrorKind::Shape),
        ("template_vertex_positions", &[11, 3], Values::F32(nan), LoadErrorKind::Value),
        ("template_vertex_positions", &[0, 3], floats(0), LoadErrorKind::Shape),
        ("joint_identity_basis", &[2, 4, 4], floats(32), LoadErrorKind::Shape),
        ("skinning_weights", &[11, 4], floats(44), LoadErrorKind::Shape),
        ("expression_names", &[5], Values::Text(vec!["a".into(); 5]), LoadErrorKind::Shape),
        ("expression_names", &[6], floats(6), LoadErrorKind::Type),
        ("joint_names", &[4], Values::Text(vec!["neck".into(); 4]), LoadErrorKind::Corrupt),
        ("joint_parent_indices", &[4], Values::Int(vec![0, 0, 3, 1]), LoadErrorKind::Value),
        ("joint_parent_indices", &[4], Values::Int(vec![-2, 0, 1, 1]), LoadErrorKind::Value),
        ("joint_parent_indices", &[4], floats(4), LoadErrorKind::Type),
        ("quads", &[4, 4], Values::Int(vec![11; 16]), LoadErrorKind::Value),
        ("triangles", &[8, 3], Values::Int(vec![-1; 24]), LoadErrorKind::Value),
        ("triangles", &[7, 3], Values::Int(vec![0; 21]), LoadErrorKind::Shape),
        ("mirror_indices", &[11], Values::Int(vec![12; 11]), LoadErrorKind::Value),
        ("pose_correctives_regressor", &[27, 33], floats(27 * 33), LoadErrorKind::Shape),
        ("vertex_group_names", &[3], Values::Text(vec!["a".into(); 3]), LoadErrorKind::Shape),
    ];
    for (key, shape, values, kind) in cases {
        let error = GnmModel::read(&with(key, Some((shape, values)))).unwrap_err();
        assert_eq!(error.kind, kind, "{key}: {error}");
        // A wrong size shows where the first array disagrees with it.
        let blamed = error.field.starts_with(key) || key == "template_vertex_positions";
        assert!(blamed && !error.to_string().contains('\n'), "{key}: {error}");
    }
}

#[test]
fn other_spellings_of_the_same_model_read() {
    let model = small_model();
    let root = with("joint_parent_indices", Some((&[4], Values::Int(vec![-1, 0, 1, 1]))));
    assert_eq!(GnmModel::read(&root).unwrap(), model);
    let extra = with("something_new", Some((&[1], Values::Int(vec![1]))));
    assert_eq!(GnmModel::read(&extra).unwrap(), model);
}

proptest::proptest! {
    /// One member damaged before it is zipped, so that its checksum fits.
    #[test]
    fn model_never_panics_on_a_damaged_member(
        member in 0usize..23,
        edits in proptest::collection::vec((proptest::num::usize::ANY, proptest::num::u8::ANY), 1..4),
    ) {
        let bytes = small_model().write(Packing::Stored);
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(&bytes)).unwrap();
        let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for index in 0..archive.len() {
            let mut file = archive.by_index(index).unwrap();
            let mut data = Vec::new();
            std::io::Read::read_to_end(&mut file, &mut data).unwrap();
            if index == member {
                let length = data.len();
                // Headers are 128 bytes; half of the edits go there.
                edits.iter().for_each(|(at, value)| data[at % if at % 2 == 0 { length } else { 128 }] = *value);
            }
            let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
            out.start_file(file.name().unwrap().to_string(), options).unwrap();
            std::io::Write::write_all(&mut out, &data).unwrap();
        }
        if let Ok(model) = GnmModel::read(&out.finish().unwrap().into_inner()) {
            let _ = model.evaluate(&[1.0, -1.0], &[0.5; 6], &TURNED, [0.0; 3], Correctives::On);
            let _ = crate::gnm::bake::bake(&model, &[], &Default::default(), &mut |_| ());
        }
    }
}
