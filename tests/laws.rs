//! What must hold for any pack, frames or no frames.

mod synthetic;

use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Vec3};
use half::f16;
use rigeval::gnm::bounds::GnmBounds;
use rigeval::gnm::cpu::gnm_blend;
use rigeval::gnm::pack::{BasisFormat, GnmPack, PackJoint};
use rigeval::gnm::pose::{GnmPose, Stage};
use rigeval::info::JointId;
use synthetic::{EYES, Numbers, SMALL_REGIONS};

const V: usize = 1001;
const E: usize = 42;

/// Half an ulp of f32 at two metres, twice over: both sides of a comparison are rounded.
const ROUNDING_M: f64 = 2.4e-7;

fn pack() -> GnmPack {
    synthetic::pack(V, SMALL_REGIONS, BasisFormat::F16)
}

fn posed(pack: &GnmPack, controls: &[f32]) -> GnmPose {
    let mut pose = GnmPose::new(pack);
    pose.set_controls(pack, controls).expect("controls");
    pose
}

fn as_dvec3(p: [f32; 3]) -> DVec3 {
    Vec3::from(p).as_dvec3()
}

/// Asserts that every vertex is where `expected` says.
fn assert_near(got: &[[f32; 3]], expected: impl Fn(usize) -> DVec3, tolerance_m: f64) {
    for (v, &p) in got.iter().enumerate() {
        let error = (as_dvec3(p) - expected(v)).length();
        assert!(error <= tolerance_m, "vertex {v}: {p:?}, expected {}, off by {error:e} m", expected(v));
    }
}

fn joint_worlds(worlds: &[DAffine3]) -> Vec<(JointId, Affine3A)> {
    worlds.iter().enumerate().map(|(j, w)| (JointId(j), affine3a(w))).collect()
}

fn affine3a(w: &DAffine3) -> Affine3A {
    Affine3A::from_mat3_translation(w.matrix3.as_mat3(), w.translation.as_vec3())
}

#[test]
fn controls_zero_give_rest() {
    let pack = pack();
    let pose = posed(&pack, &[0.0; E + 4]);
    assert_eq!(gnm_blend(&pack, &pose, Stage::Forward), pack.neutral());
    assert_eq!(gnm_blend(&pack, &pose, Stage::Pose), pack.rest_positions());
    let seam = pack.seam().expect("the pack has a seam");
    let bound = |v: usize| pack.bind_transform().transform_point3(as_dvec3(pack.neutral()[v]) + as_dvec3(seam[v]));
    assert_near(&pack.rest_positions(), bound, ROUNDING_M);
}

#[test]
fn expression_is_linear() {
    let pack = pack();
    let mut numbers = Numbers::new(3);
    // Sixteenths and powers of two: the coefficients of the sum are exact, what is compared is the sum over the basis.
    let mut expression = || -> Vec<f32> {
        let unit = |c: usize| if c < E { (numbers.signed() * 32.0).round() as f32 / 16.0 } else { 0.0 };
        (0..E + 4).map(unit).collect()
    };
    let (a, b) = (expression(), expression());
    let mixed: Vec<f32> = a.iter().zip(&b).map(|(a, b)| 0.5 * a - 2.0 * b).collect();
    let [da, db, dm] = [a, b, mixed].map(|controls| gnm_blend(&pack, &posed(&pack, &controls), Stage::Forward));
    let moved = |p: &[[f32; 3]], v: usize| as_dvec3(p[v]) - as_dvec3(pack.neutral()[v]);
    let expected = |v: usize| as_dvec3(pack.neutral()[v]) + 0.5 * moved(&da, v) - 2.0 * moved(&db, v);
    assert_near(&dm, expected, ROUNDING_M);
    let largest = (0..V).map(|v| moved(&dm, v).length()).fold(0.0, f64::max);
    assert!(largest > 1e-3, "the expression moved nothing by more than {largest} m");
}

#[test]
fn joint_worlds_translated_translate_vertices() {
    let pack = pack();
    let controls = Numbers::new(4).controls(E, 1.0);
    let mut pose = posed(&pack, &controls);
    let before = gnm_blend(&pack, &pose, Stage::Pose);
    let by = DVec3::new(0.25, -0.5, 0.125);
    let worlds = synthetic::rest_worlds().map(|w| DAffine3::from_translation(by) * w);
    assert!(pose.set_joint_worlds(&pack, &joint_worlds(&worlds)).expect("worlds"));
    assert_near(&gnm_blend(&pack, &pose, Stage::Pose), |v| as_dvec3(before[v]) + by, 2.0 * ROUNDING_M);
}

#[test]
fn root_moved_rigidly_moves_all_vertices() {
    let pack = pack();
    let mut numbers = Numbers::new(5);
    let controls = numbers.controls(E, 1.0);
    let mut pose = posed(&pack, &controls);
    let before = gnm_blend(&pack, &pose, Stage::Pose);
    let moved = DAffine3::from_rotation_translation(numbers.rotation(2.0), DVec3::new(0.3, 0.1, -0.7));
    let rest = synthetic::rest_worlds();
    // The root alone: the others follow from their rest locals.
    pose.set_joint_worlds(&pack, &joint_worlds(&[moved * rest[0]])).expect("worlds");
    let by_root = gnm_blend(&pack, &pose, Stage::Pose);
    assert_near(&by_root, |v| moved.transform_point3(as_dvec3(before[v])), 5.0 * ROUNDING_M);
    pose.set_joint_worlds(&pack, &joint_worlds(&rest.map(|w| moved * w))).expect("worlds");
    let by_all = gnm_blend(&pack, &pose, Stage::Pose);
    assert_near(&by_all, |v| as_dvec3(by_root[v]), 5.0 * ROUNDING_M);
    pose.set_joint_worlds(&pack, &[]).expect("worlds");
    assert_eq!(gnm_blend(&pack, &pose, Stage::Pose), before);
}

#[test]
fn vertices_permuted_give_permuted_vertices() {
    for format in [BasisFormat::F16, BasisFormat::I8] {
        let parts = synthetic::parts(V, SMALL_REGIONS, format);
        let order: Vec<usize> = (0..V).map(|i| (i * 389 + 17) % V).collect();
        let mut permuted = parts.clone();
        permuted.neutral = order.iter().map(|&v| parts.neutral[v]).collect();
        permuted.basis = permute(&parts.basis, &order);
        permuted.skin_joints = permute(&parts.skin_joints, &order);
        permuted.skin_weights = permute(&parts.skin_weights, &order);
        permuted.eye_weights = [0, 1].map(|e| permute(&parts.eye_weights[e], &order));
        permuted.seam = parts.seam.as_deref().map(|seam| permute(seam, &order));
        let controls = Numbers::new(6).controls(E, 1.0);
        let [a, b] = [parts, permuted].map(|parts| {
            let pack = GnmPack::build(&parts).expect("a pack");
            gnm_blend(&pack, &posed(&pack, &controls), Stage::Pose)
        });
        assert_eq!(b, permute(&a, &order), "{format:?}");
        assert_ne!(a, b);
    }
}

/// Row `i` of the result is row `order[i]`; a row is whatever the list holds per vertex.
fn permute<T: Copy>(rows: &[T], order: &[usize]) -> Vec<T> {
    let width = rows.len() / order.len();
    order.iter().flat_map(|&v| &rows[v * width..][..width]).copied().collect()
}

#[test]
fn gaze_on_both_axes_is_pitch_times_yaw() {
    let pack = pack();
    let (pitch, yaw) = (0.3f32, -0.25f32);
    let mut controls = [0.0; E + 4];
    controls[E..].copy_from_slice(&[pitch, yaw, -pitch, yaw]);
    let got = gnm_blend(&pack, &posed(&pack, &controls), Stage::Forward);

    let about_x = |angle: f32| DMat3::from_rotation_x(f64::from(angle));
    let about_y = |angle: f32| DMat3::from_rotation_y(f64::from(angle));
    let turned = |v: usize, turns: [DMat3; 2]| {
        let mut p = as_dvec3(pack.neutral()[v]);
        for (e, turn) in turns.into_iter().enumerate() {
            let r = p - as_dvec3(EYES[e]);
            p += f64::from(pack.eye_weights()[e][v]) * (turn * r - r);
        }
        p
    };
    let pitch_yaw = [about_x(pitch) * about_y(yaw), about_x(-pitch) * about_y(yaw)];
    let yaw_pitch = [about_y(yaw) * about_x(pitch), about_y(yaw) * about_x(-pitch)];
    assert_near(&got, |v| turned(v, pitch_yaw), ROUNDING_M);
    let swapped = (0..V).map(|v| (as_dvec3(got[v]) - turned(v, yaw_pitch)).length()).fold(0.0, f64::max);
    assert!(swapped > 3e-4, "the other order differs by {swapped} m only, so the test could not tell");
}

#[test]
fn gaze_signs_are_down_and_left() {
    let pack = pack();
    let front = (0..V).filter(|&v| pack.eye_weights()[0][v] == 1.0);
    let front = front.max_by(|&a, &b| pack.neutral()[a][2].total_cmp(&pack.neutral()[b][2])).expect("an eye");
    let moved = |gaze: [f32; 4]| {
        let mut controls = [0.0; E + 4];
        controls[E..].copy_from_slice(&gaze);
        let p = gnm_blend(&pack, &posed(&pack, &controls), Stage::Forward)[front];
        as_dvec3(p) - as_dvec3(pack.neutral()[front])
    };
    assert!(moved([0.3, 0.0, 0.0, 0.0]).y < -1e-3, "pitch > 0 looks down");
    assert!(moved([0.0, 0.3, 0.0, 0.0]).x > 1e-3, "yaw > 0 turns to the character's left");
    assert_eq!(moved([0.0, 0.0, 0.3, 0.3]), DVec3::ZERO, "the right eye's angles leave the left eye alone");
}

#[test]
fn vertex_on_both_eyes_turns_left_first() {
    let mut parts = synthetic::parts(V, SMALL_REGIONS, BasisFormat::F16);
    for weights in &mut parts.eye_weights {
        weights[0] = 0.5;
    }
    let pack = GnmPack::build(&parts).expect("a pack");
    let mut controls = [0.0; E + 4];
    controls[E..].copy_from_slice(&[0.3, 0.2, -0.3, 0.1]);
    let got = as_dvec3(gnm_blend(&pack, &posed(&pack, &controls), Stage::Forward)[0]);
    let turn = |p: DVec3, e: usize| {
        let (pitch, yaw) = (f64::from(controls[E + 2 * e]), f64::from(controls[E + 2 * e + 1]));
        let r = p - as_dvec3(EYES[e]);
        p + 0.5 * ((DQuat::from_rotation_x(pitch) * DQuat::from_rotation_y(yaw)) * r - r)
    };
    let neutral = as_dvec3(pack.neutral()[0]);
    assert!((got - turn(turn(neutral, 0), 1)).length() <= ROUNDING_M);
    assert!((got - turn(turn(neutral, 1), 0)).length() > 1e-4, "the order cannot be told here");
}

#[test]
fn lanes_of_weight_zero_are_never_read() {
    let mut parts = synthetic::parts(V, SMALL_REGIONS, BasisFormat::F16);
    let mut rest_world = parts.joints[0].rest_world;
    rest_world[3] = 4.0;
    parts.joints.push(PackJoint { name: "decoy".into(), parent: None, rest_world });
    for (joint, weight) in parts.skin_joints.iter_mut().zip(&parts.skin_weights) {
        if *weight == f16::ZERO {
            *joint = 3;
        }
    }
    assert!(parts.skin_joints.contains(&3));
    let pack = GnmPack::build(&parts).expect("a pack");
    let mut pose = posed(&pack, &Numbers::new(8).controls(E, 1.0));
    let before = gnm_blend(&pack, &pose, Stage::Pose);
    // Finite, so that it is accepted, and so large that the decoy's skin row overflows: times a weight of zero it is NaN.
    let huge = Affine3A::from_scale(Vec3::splat(3e38));
    assert!(pose.set_joint_worlds(&pack, &[(JointId(3), huge)]).expect("worlds"));
    assert!(pose.skin_rows()[3].as_flattened().iter().any(|x| !x.is_finite()));
    assert_eq!(gnm_blend(&pack, &pose, Stage::Pose), before);
    let bounds = GnmBounds::new(&pack).bounds(&pose);
    assert!(before.iter().all(|&p| bounds.contains(p)) && bounds.diagonal() < 1.0, "{bounds:?}");
}

#[test]
fn weights_summing_to_more_than_one_are_used_as_stored() {
    let mut parts = synthetic::parts(V, SMALL_REGIONS, BasisFormat::F16);
    // 2^-12 too much, which halves below 0.5 can hold.
    let row = [0.5, 0.25 + 1.0 / 4096.0, 0.25, 0.0].map(f16::from_f64);
    parts.skin_weights = row.repeat(V);
    let pack = GnmPack::build(&parts).expect("a pack");
    let plain = |v: usize| {
        let seam = pack.seam().map_or(DVec3::ZERO, |seam| as_dvec3(seam[v]));
        pack.bind_transform().transform_point3(as_dvec3(pack.neutral()[v]) + seam)
    };
    let got = gnm_blend(&pack, &GnmPose::new(&pack), Stage::Pose);
    assert_near(&got, |v| (1.0 + 1.0 / 4096.0) * plain(v), ROUNDING_M);
    assert!((as_dvec3(got[0]) - plain(0)).length() > 3e-4, "the excess must show");
}

#[test]
fn override_turns_in_the_joints_own_rest_frame() {
    let pack = pack();
    let mut pose = GnmPose::new(&pack);
    let q = Numbers::new(9).rotation(0.8);
    let over = rigeval::skeleton::JointOverride { joint: "head", rotation: q.as_quat() };
    let before = gnm_blend(&pack, &pose, Stage::Pose);
    // Twice: rebuilt from rest, not accumulated.
    for changed in [true, false] {
        assert_eq!(pose.set_joint_overrides(&pack, &[over]).expect("overrides"), changed);
    }
    let rest = synthetic::rest_worlds()[2];
    let moved = rest * DAffine3::from_quat(q) * rest.inverse();
    let got = gnm_blend(&pack, &pose, Stage::Pose);
    let on_head = (0..V).filter(|&v| pack.influences().row(v).iter().all(|i| i.joint == 2)).collect::<Vec<_>>();
    assert!(on_head.len() > V / 4);
    for v in on_head {
        let expected = moved.transform_point3(as_dvec3(before[v]));
        assert!((as_dvec3(got[v]) - expected).length() <= 5.0 * ROUNDING_M, "vertex {v}");
    }
    pose.set_joint_overrides(&pack, &[]).expect("overrides");
    assert_eq!(gnm_blend(&pack, &pose, Stage::Pose), before);
}

#[test]
fn controls_that_leave_f32_once_scaled_are_refused_and_change_nothing() {
    let mut parts = synthetic::parts(V, SMALL_REGIONS, BasisFormat::F16);
    parts.basis_scale[3] = f32::MAX / 4.0;
    let pack = GnmPack::build(&parts).expect("a pack");
    let mut controls = vec![0.0; E + 4];
    controls[3] = 1.0;
    let mut pose = posed(&pack, &controls);
    let before = pose.clone();
    controls[3] = 8.0;
    let error = pose.set_controls(&pack, &controls).expect_err("beyond f32").to_string();
    assert!(error.contains("controls times basis scale[3]"), "{error}");
    assert_eq!(pose, before);
}
