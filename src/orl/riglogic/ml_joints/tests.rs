use super::*;
use crate::orl::dna::LodMap;

const EULER: Euler = Euler::XYZ_DEGREES;
const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// Two joints, the second at level 0 only; pairs of control and attribute; settings of key and value.
fn file(pairs: &[(u16, u16)], settings: &[(u16, u16)]) -> Dna {
    let mut dna = Dna::default();
    dna.definition.joint_names = vec!["a".into(), "b".into()];
    dna.definition.lod_joints = LodMap { lods: vec![0, 1], lists: vec![vec![0, 1], vec![0]] };
    dna.descriptor.axes = [Direction::Right, Direction::Up, Direction::Front];
    dna.operation_graph.joint_inputs = pairs.iter().map(|p| p.0).collect();
    dna.operation_graph.joint_outputs = pairs.iter().map(|p| p.1).collect();
    dna.operation_graph.joint_parameters = settings.iter().map(|&(key, value)| JointParameter { key, value }).collect();
    dna
}

fn run(dna: &Dna, output: RotationOutput, lod: usize, controls: &mut [f32], joints: &mut [f32]) {
    MlJoints::new(dna, controls.len(), 2, output).unwrap().run(lod, EULER, output, controls, joints);
}

fn close(a: &[f32], b: &[f32]) {
    assert!(a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 2e-5), "{a:?} against {b:?}");
}

#[test]
fn translation_and_scale_add_to_what_is_there_at_the_levels_that_have_the_joint() {
    // Quaternion layout: 1 is ty of joint 0, 9 its sz, 10 tx of joint 1. Two pairs of one attribute both count.
    let dna = file(&[(0, 1), (1, 9), (2, 10), (2, 1)], &[(1, 1)]);
    let mut joints = [1.0; 18];
    run(&dna, RotationOutput::Euler, 0, &mut [0.5, 0.25, 4.0], &mut joints);
    assert_eq!((joints[1], joints[8], joints[9]), (5.5, 1.25, 5.0));
    assert_eq!(joints.iter().sum::<f32>(), 18.0 + 4.5 + 0.25 + 4.0);
    let mut joints = [1.0; 18];
    run(&dna, RotationOutput::Euler, 1, &mut [0.5, 0.25, 4.0], &mut joints);
    assert_eq!((joints[1], joints[9]), (5.5, 1.0));
}

#[test]
fn quaternion_composes_in_quaternion_output_and_adds_angles_in_euler_output() {
    // 2 * a quarter turn about y, on top of a quarter turn about x.
    let dna = file(&[(0, 3), (1, 4), (2, 5), (3, 6)], &[(1, 1)]);
    let mut controls = [0.0, 2.0 * HALF, 0.0, 2.0 * HALF];
    let mut joints = [0.0; 20];
    joints[3..7].copy_from_slice(&[HALF, 0.0, 0.0, HALF]);
    run(&dna, RotationOutput::Quaternion, 0, &mut controls, &mut joints);
    close(&joints[3..7], &[0.5, 0.5, -0.5, 0.5]);
    let mut joints = [0.0; 18];
    joints[3..6].copy_from_slice(&[90.0, 10.0, 0.0]);
    controls = [HALF, 0.0, 0.0, HALF];
    run(&dna, RotationOutput::Euler, 0, &mut controls, &mut joints);
    close(&joints[3..6], &[180.0, 10.0, 0.0]);
}

#[test]
fn quaternion_of_zero_is_nan() {
    let dna = file(&[(0, 3)], &[(1, 1)]);
    let mut joints = [0.0; 20];
    run(&dna, RotationOutput::Quaternion, 0, &mut [0.0; 4], &mut joints);
    assert!(joints[3..7].iter().all(|x| x.is_nan()));
}

#[test]
fn angles_add_in_euler_output_and_compose_in_quaternion_output() {
    let dna = file(&[(0, 4), (1, 6)], &[(1, 0)]);
    let mut joints = [1.0; 18];
    run(&dna, RotationOutput::Euler, 0, &mut [30.0, 0.5], &mut joints);
    assert_eq!(&joints[..9], &[1.0, 1.0, 1.0, 1.0, 31.0, 1.0, 1.5, 1.0, 1.0]);
    let mut joints = [0.0; 20];
    joints[3..7].copy_from_slice(&[HALF, 0.0, 0.0, HALF]);
    run(&dna, RotationOutput::Quaternion, 0, &mut [90.0, 0.5], &mut joints);
    close(&joints[3..8], &[0.5, 0.5, -0.5, 0.5, 0.5]);
}

#[test]
fn layout_without_a_setting_is_that_of_the_output() {
    // Attribute 9: sz of joint 0 among ten, tx of joint 1 among nine.
    let dna = file(&[(0, 9)], &[]);
    let (mut quaternion, mut euler) = ([0.0; 20], [0.0; 18]);
    run(&dna, RotationOutput::Quaternion, 0, &mut [0.5], &mut quaternion);
    run(&dna, RotationOutput::Euler, 0, &mut [0.5], &mut euler);
    assert_eq!((quaternion[9], euler[9]), (0.5, 0.5));
    assert_eq!(MlJoints::new(&dna, 1, 2, RotationOutput::Quaternion).unwrap().attributes(0), [8]);
    assert_eq!(MlJoints::new(&dna, 1, 2, RotationOutput::Euler).unwrap().attributes(0), [9]);
}

/// All seven coordinate settings: axes right, front, up, signs and sequence as the rig's.
const Z_UP: [(u16, u16); 8] = [(1, 1), (3, 1), (4, 4), (5, 2), (6, 1), (7, 1), (8, 1), (9, 0)];

#[test]
fn networks_with_axes_of_their_own_are_converted_in_place() {
    // Their y is the rig's z and their z the rig's y: a mirror, det -1. Translation (1, 2, 3) -> (1, 3, 2), scale the same way;
    // q = (x, y, z, w) -> (-x, -z, -y, w).
    let pairs: Vec<(u16, u16)> = (0..10).map(|i| (i, i)).collect();
    let dna = file(&pairs, &Z_UP);
    let mut controls = [1.0, 2.0, 3.0, 0.5, 0.5, -0.5, 0.5, 0.1, -0.2, 0.3];
    let mut joints = [0.0; 20];
    joints[6] = 1.0;
    run(&dna, RotationOutput::Quaternion, 0, &mut controls, &mut joints);
    let expected = [1.0, 3.0, 2.0, -0.5, 0.5, -0.5, 0.5, 0.1, 0.3, -0.2];
    close(&controls, &expected);
    close(&joints[..10], &expected);
}

#[test]
fn networks_with_some_of_the_settings_or_the_rigs_own_are_not_converted() {
    let own = [(1, 1), (3, 1), (4, 2), (5, 4), (6, 1), (7, 1), (8, 1), (9, 0)];
    for settings in [&Z_UP[..7], &own[..]] {
        let mut joints = [0.0; 20];
        run(&file(&[(0, 1)], settings), RotationOutput::Quaternion, 0, &mut [2.0], &mut joints);
        assert_eq!(joints[1], 2.0, "{settings:?}");
    }
}

#[test]
fn angles_of_another_sequence_and_sign_are_converted() {
    // Networks: zyx order, y negative. (0, 30, 0) is -30 about y for the rig.
    let settings = [(1, 0), (3, 1), (4, 2), (5, 4), (6, 1), (7, 0), (8, 1), (9, 5)];
    let dna = file(&[(0, 3), (1, 4), (2, 5)], &settings);
    let mut joints = [0.0; 18];
    run(&dna, RotationOutput::Euler, 0, &mut [0.0, 30.0, 0.0], &mut joints);
    close(&joints[3..6], &[0.0, -30.0, 0.0]);
    // z then x is, for the rig's x then z, another pair of angles of the same rotation: q_x * q_z of quarter turns = (1, -1, 1, 1) / 2.
    let mut joints = [0.0; 20];
    joints[6] = 1.0;
    run(&dna, RotationOutput::Quaternion, 0, &mut [90.0, 0.0, 90.0], &mut joints);
    close(&joints[3..7], &[0.5, -0.5, 0.5, 0.5]);
}

#[test]
fn settings_and_places_out_of_range_are_refused() {
    let error = |pairs: &[(u16, u16)], settings: &[(u16, u16)]| {
        MlJoints::new(&file(pairs, settings), 4, 2, RotationOutput::Euler).unwrap_err().to_string()
    };
    assert_eq!(error(&[(0, 18)], &[]), "ML joints outputs: expected a joint below 2, got 2");
    assert_eq!(error(&[(1, 3)], &[(1, 1)]), "ML joints inputs: expected four controls below 4, got 1");
    assert_eq!(error(&[], &[(1, 2)]), "ML joints rotation type: expected 0 (Euler angles) or 1 (quaternion), got 2");
    let with = |key: usize, value: u16| {
        let mut settings = Z_UP;
        settings[key - 2].1 = value;
        error(&[(0, 0)], &settings)
    };
    assert_eq!(with(3, 6), "ML joints axis: expected 0 to 5, got 6");
    assert_eq!(with(9, 6), "ML joints rotation sequence: expected 0 to 5, got 6");
    assert!(with(3, 4).starts_with("ML joints axes: expected three directions of different lines"));
}
