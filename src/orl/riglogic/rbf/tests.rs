use super::*;
use crate::orl::dna::{LodMap, RbfOutputs, RbfPose, RbfPoseOutput, TwistAxis};

const EULER: Euler = Euler::XYZ_DEGREES;
const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// A solver over one control, with a pose at each of the values; linear falloff of radius 1.
fn solver(values: &[f32]) -> RbfSolver {
    RbfSolver {
        inputs: vec![0],
        poses: (0..values.len() as u16).collect(),
        values: values.to_vec(),
        radius: 180.0 / std::f32::consts::PI,
        automatic_radius: AutomaticRadius::Off,
        function: RbfFunction::Linear,
        ..RbfSolver::default()
    }
}

fn file(solvers: Vec<RbfSolver>, poses: usize) -> Dna {
    let mut dna = Dna::default();
    let all = (0..solvers.len() as u16).collect();
    dna.rbf.lod_solvers = LodMap { lods: vec![0], lists: vec![all] };
    dna.rbf.solvers = solvers;
    dna.rbf.poses = vec![RbfPose { name: String::new(), scale: 1.0 }; poses];
    dna
}

/// The controls after the raw ones, for poses that write one each.
fn run(dna: &Dna, raw: &[f32]) -> Vec<f32> {
    let rbf = Rbf::new(dna, raw.len(), 1, EULER).unwrap();
    let mut controls = raw.to_vec();
    controls.resize(raw.len() + dna.rbf.poses.len(), 9.0);
    rbf.run(0, &mut controls, &mut vec![0.0; rbf.scratch_len()]);
    controls.split_off(raw.len())
}

fn close(a: &[f32], b: &[f32]) {
    assert!(a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-6), "{a:?} against {b:?}");
}

#[test]
fn additive_weights_fall_with_the_distance_and_are_divided_above_one() {
    close(&run(&file(vec![solver(&[0.0, 1.0])], 2), &[0.25]), &[0.75, 0.25]);
    // 0.9 + 0.4 > 1.
    close(&run(&file(vec![solver(&[0.0, -0.5])], 2), &[0.1]), &[0.9 / 1.3, 0.4 / 1.3]);
}

#[test]
fn weight_at_the_threshold_is_dropped_and_above_it_kept() {
    let mut at = solver(&[0.0]);
    at.weight_threshold = 0.75;
    assert_eq!(run(&file(vec![at.clone()], 1), &[0.25]), [0.0]);
    at.weight_threshold = 0.74;
    close(&run(&file(vec![at], 1), &[0.25]), &[0.75]);
}

#[test]
fn weight_that_is_no_number_is_not_above_the_threshold() {
    let mut of_kernels = solver(&[0.0, 1.0]);
    let mut of_inverse = of_kernels.clone();
    of_inverse.kind = SolverKind::Interpolative;
    of_kernels.normalize = NormalizeMethod::Always;
    for s in [of_kernels, of_inverse] {
        assert_eq!(run(&file(vec![s], 2), &[f32::NAN]), [0.0, 0.0]);
    }
}

#[test]
fn interpolative_weight_above_one_is_cut() {
    // K = [[1, 0.5], [0.5, 1]]; at -0.25 k = (0.75, 0.25): w = (4/3 * 0.75 - 2/3 * 0.25, 4/3 * 0.25 - 2/3 * 0.75) = (5/6, -1/6), cut to (5/6, 0).
    let mut s = solver(&[0.0, 0.5]);
    s.kind = SolverKind::Interpolative;
    close(&run(&file(vec![s], 2), &[-0.25]), &[5.0 / 6.0, 0.0]);
    // Cubic, poses at 0, 0.5 and -1, the last one out of reach of the others: K = [[1, 7/8, 0], [7/8, 1, 0], [0, 0, 1]], and at -0.1
    // k = (0.999, 0.784, 0.271). w = (1.336, -0.385, 0.271), cut to (1, 0, 0.271), over their sum; uncut the first would be 0.831.
    let mut s = solver(&[0.0, 0.5, -1.0]);
    s.kind = SolverKind::Interpolative;
    s.function = RbfFunction::Cubic;
    close(&run(&file(vec![s], 3), &[-0.1]), &[1.0 / 1.271, 0.0, 0.271 / 1.271]);
}

#[test]
fn always_normalise_divides_below_one_too() {
    let mut s = solver(&[0.0, 1.0]);
    s.normalize = NormalizeMethod::Always;
    s.radius /= 2.0;
    // Radius 0.5: 0.5 and 0 at 0.25.
    close(&run(&file(vec![s.clone()], 2), &[0.25]), &[1.0, 0.0]);
    // Nothing near: 0 / 0 is no weight.
    assert_eq!(run(&file(vec![s], 2), &[7.0]), [0.0, 0.0]);
}

#[test]
fn control_of_two_solvers_keeps_the_later_ones_part() {
    let mut second = solver(&[1.0]);
    second.poses = vec![1];
    let mut dna = file(vec![solver(&[0.0]), second], 2);
    let pose = RbfPoseOutput { inputs: vec![], outputs: vec![1], weights: vec![2.0] };
    dna.rbf_outputs = RbfOutputs { control_names: vec![String::new()], poses: vec![pose; 2] };
    // 0.75 and 0.25 of 2; the first part is wiped.
    close(&run(&dna, &[0.25])[..1], &[0.5]);
}

#[test]
fn pose_inputs_multiply_and_two_poses_add() {
    let mut dna = file(vec![solver(&[0.0, 1.0])], 2);
    let pose = |inputs, weight| RbfPoseOutput { inputs, outputs: vec![3], weights: vec![weight] };
    dna.rbf_outputs = RbfOutputs { control_names: vec![], poses: vec![pose(vec![1, 2], 1.0), pose(vec![], -2.0)] };
    // 0.75 * 0.5 * 4 - 2 * 0.25
    close(&run(&dna, &[0.25, 0.5, 4.0])[..1], &[1.0]);
}

#[test]
fn solver_without_poses_does_nothing_and_one_pose_alone_answers_to_itself() {
    assert_eq!(run(&file(vec![solver(&[])], 0), &[0.5]), [] as [f32; 0]);
    for function in [RbfFunction::Gaussian, RbfFunction::Linear] {
        let mut s = solver(&[0.5]);
        s.automatic_radius = AutomaticRadius::On;
        s.function = function;
        assert_eq!(run(&file(vec![s.clone()], 1), &[0.5]), [1.0]);
        assert_eq!(run(&file(vec![s], 1), &[0.6]), [0.0]);
    }
}

#[test]
fn automatic_radius_is_the_mean_distance_of_the_pairs() {
    // Distances 1, 3, 2: radius 2.
    let mut s = solver(&[0.0, 1.0, 3.0]);
    s.automatic_radius = AutomaticRadius::On;
    close(&run(&file(vec![s], 3), &[-1.0]), &[0.5, 0.0, 0.0]);
}

#[test]
fn kernels_follow_their_formulas() {
    let at = |function, distance| Kernel { function, radius: 2.0, exact: false }.at(distance);
    close(&[at(RbfFunction::Gaussian, 1.0)], &[(-0.25_f32).exp()]);
    close(&[at(RbfFunction::Exponential, 1.0)], &[(-1.0_f32).exp()]);
    assert_eq!(at(RbfFunction::Linear, 1.0), 0.5);
    assert_eq!(at(RbfFunction::Cubic, 1.0), 0.875);
    assert_eq!(at(RbfFunction::Quintic, 1.0), 1.0 - 1.0 / 32.0);
    assert_eq!(at(RbfFunction::Cubic, 3.0), 0.0);
}

#[test]
fn quaternion_distance_is_the_angle_and_the_same_for_the_opposite() {
    let metric = Metric { method: DistanceMethod::Quaternion, axis: 0 };
    let quarter = [HALF, 0.0, 0.0, HALF];
    close(&[metric.distance(&quarter, &[0.0, 0.0, 0.0, 1.0])], &[std::f32::consts::FRAC_PI_2]);
    close(&[metric.distance(&quarter, &[0.0, 0.0, 0.0, -1.0])], &[std::f32::consts::FRAC_PI_2]);
    assert_eq!(metric.distance(&[0.0, 0.0, 0.0, 1.1], &[0.0, 0.0, 0.0, 1.1]), 0.0);
    assert!(metric.distance(&[f32::NAN, 0.0, 0.0, 1.0], &[0.0, 0.0, 0.0, 1.0]).is_nan());
}

#[test]
fn swing_and_twist_split_a_quaternion() {
    // q_z * q_x, quarter turns, = (1, 1, 1, 1) / 2: about x the twist is q_x and the swing q_z, up to sign.
    let q = [0.5; 4];
    close(&twist(0, q), &[HALF, 0.0, 0.0, HALF]);
    close(&swing(0, q), &[0.0, 0.0, -HALF, -HALF]);
    // About y and z the same rotation is q_x * q_y and q_y * q_z.
    close(&swing(1, q), &[-HALF, 0.0, 0.0, -HALF]);
    close(&swing(2, q), &[0.0, -HALF, 0.0, -HALF]);
}

#[test]
fn swing_of_a_half_turn_across_the_axis_gives_no_weight() {
    let mut s = solver(&[0.0, 0.0, 0.0, 1.0]);
    s.inputs = vec![0, 1, 2, 3];
    s.poses = vec![0];
    s.distance = DistanceMethod::SwingAngle;
    s.twist_axis = TwistAxis::X;
    assert_eq!(run(&file(vec![s.clone()], 1), &[0.0, 1.0, 0.0, 0.0]), [0.0]);
    close(&run(&file(vec![s], 1), &[0.0, 0.0, 0.0, 1.0]), &[1.0]);
}

#[test]
fn quaternion_distance_over_three_inputs_is_refused() {
    let mut s = solver(&[0.0; 3]);
    s.inputs = vec![0, 1, 2];
    s.poses = vec![0];
    s.distance = DistanceMethod::Quaternion;
    let error = Rbf::new(&file(vec![s], 1), 3, 1, EULER).unwrap_err();
    assert_eq!((error.kind, error.found.as_str()), (LoadErrorKind::Shape, "3"));
}

#[test]
fn solver_of_too_many_poses_is_refused() {
    let mut s = solver(&[]);
    s.inputs = vec![];
    s.poses = vec![0; 60_000];
    let error = Rbf::new(&file(vec![s], 1), 3, 1, EULER).err();
    assert_eq!(error.map(|e| e.kind), Some(LoadErrorKind::Unsupported));
}
