use super::*;
use crate::error::LoadErrorKind;
use crate::orl::dna::{
    Activation, AutomaticRadius, Behavior, Channels, Conditional, JointGroup, JointParameter, JointRepresentation,
    LodMap, Network, NetworkLayer, PsdEntry, RbfFunction, RbfPose, RbfSolver, TwistSwingSetup,
};

const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|i| i.to_string()).collect()
}

/// Two levels; so many GUI and raw controls, correctives, joints, channels and maps.
fn file(gui: usize, raw: usize, psd: u16, joints: usize, channels: usize, maps: usize) -> Dna {
    let mut dna = Dna::default();
    dna.descriptor.lod_count = 2;
    dna.definition.gui_control_names = names(gui);
    dna.definition.raw_control_names = names(raw);
    dna.definition.joint_names = names(joints);
    dna.definition.channel_names = names(channels);
    dna.definition.animated_map_names = names(maps);
    dna.behavior.psd_count = psd;
    dna
}

fn group(lods: &[u16], inputs: &[u16], outputs: &[u16], values: &[f32]) -> JointGroup {
    JointGroup {
        lods: lods.to_vec(),
        inputs: inputs.to_vec(),
        outputs: outputs.to_vec(),
        values: values.to_vec(),
        joints: vec![],
    }
}

fn evaluate(dna: &Dna, output: RotationOutput, lod: usize, raw: &[f32]) -> RigState {
    let rig = RigLogic::new(dna, output).unwrap();
    let mut state = RigState::new(&rig);
    rig.set_raw(&mut state, raw).unwrap();
    rig.evaluate(&mut state, lod);
    state
}

fn euler(dna: &Dna, lod: usize, raw: &[f32]) -> Vec<f32> {
    evaluate(dna, RotationOutput::Euler, lod, raw).joints().to_vec()
}

fn quaternions(dna: &Dna, lod: usize, raw: &[f32]) -> Vec<[f32; 4]> {
    let state = evaluate(dna, RotationOutput::Quaternion, lod, raw);
    state.joints().chunks(10).map(|j| [j[3], j[4], j[5], j[6]]).collect()
}

fn close(a: &[f32], b: &[f32]) {
    assert!(a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-5), "{a:?} against {b:?}");
}

#[test]
fn rig_and_state_cross_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<RigLogic>();
    is_shared::<RigState>();
}

#[test]
fn joint_attribute_of_two_rows_is_the_later_ones() {
    let mut dna = file(0, 1, 0, 1, 0, 0);
    dna.behavior.joint_groups =
        vec![group(&[2, 2], &[0], &[0, 0], &[2.0, 3.0]), group(&[2, 1], &[0], &[1, 0], &[5.0, 7.0])];
    assert_eq!(euler(&dna, 0, &[1.0])[..2], [7.0, 5.0]);
    // Level 1 has the first row of the second group only.
    assert_eq!(euler(&dna, 1, &[1.0])[..2], [3.0, 5.0]);
}

#[test]
fn level_that_cuts_a_joints_rotation_turns_it_by_what_is_left() {
    let mut dna = file(0, 1, 0, 2, 0, 0);
    dna.behavior.joint_groups = vec![group(&[3, 1], &[0], &[3, 4, 12], &[90.0, 90.0, 90.0])];
    assert_eq!(euler(&dna, 1, &[1.0])[3..6], [90.0, 0.0, 0.0]);
    let rotations = quaternions(&dna, 1, &[1.0]);
    close(&rotations[0], &[HALF, 0.0, 0.0, HALF]);
    assert_eq!(rotations[1], [0.0, 0.0, 0.0, 1.0]);
    close(&quaternions(&dna, 0, &[1.0])[0], &[0.5, 0.5, -0.5, 0.5]);
}

#[test]
fn rotation_rows_in_two_groups_are_converted_once_together() {
    let mut dna = file(0, 1, 0, 1, 0, 0);
    dna.behavior.joint_groups = vec![group(&[2, 2], &[0], &[4, 6], &[90.0, 3.0]), group(&[1, 1], &[0], &[3], &[90.0])];
    let state = evaluate(&dna, RotationOutput::Quaternion, 0, &[1.0]);
    close(state.joints(), &[0.0, 0.0, 0.0, 0.5, 0.5, -0.5, 0.5, 3.0, 0.0, 0.0]);
}

#[test]
fn quaternion_joint_keeps_its_linear_translation_and_scale() {
    let mut dna = file(0, 2, 0, 1, 0, 0);
    dna.joint_representations =
        vec![JointRepresentation { rotation: RotationRepresentation::Quaternion, ..JointRepresentation::default() }];
    // Turns of 60 and 30 degrees about x compose; half of 60 is the normalised mean of identity and it, 30.
    dna.behavior.joint_groups = vec![group(&[3, 3], &[0, 1], &[2, 3, 7], &[4.0, 0.0, 60.0, 30.0, 0.0, 0.5])];
    close(&euler(&dna, 0, &[0.5, 1.0]), &[0.0, 0.0, 2.0, 60.0, 0.0, 0.0, 0.0, 0.5, 0.0]);
}

/// A rig whose corrective (control 1) is the raw control 0.
fn corrective() -> Dna {
    let mut dna = file(0, 1, 1, 2, 1, 1);
    dna.behavior.psd = vec![PsdEntry { row: 1, column: 0, value: 1.0 }];
    dna
}

fn psd_at(dna: &Dna) -> [f32; 2] {
    [0, 1].map(|lod| evaluate(dna, RotationOutput::Quaternion, lod, &[0.5]).psd()[0])
}

#[test]
fn corrective_is_used_by_a_joint_only_through_a_value_of_an_active_row() {
    assert_eq!(psd_at(&corrective()), [0.0, 0.0]);
    let mut dna = corrective();
    dna.behavior.joint_groups = vec![group(&[2, 1], &[0, 1], &[0, 1], &[1.0, 0.0, 0.0, 1.0])];
    assert_eq!(psd_at(&dna), [0.5, 0.0]);
    dna.behavior.joint_groups[0].values[3] = 0.0;
    assert_eq!(psd_at(&dna), [0.0, 0.0]);
}

#[test]
fn corrective_is_used_by_channels_maps_and_ml_joints_of_the_level() {
    let mut dna = corrective();
    dna.behavior.channels = Channels { lods: vec![1, 0], inputs: vec![1], outputs: vec![0] };
    assert_eq!(psd_at(&dna), [0.5, 0.0]);

    let mut dna = corrective();
    dna.behavior.animated_maps = vec![Conditional { input: 1, to: 1.0, ..Conditional::default() }];
    dna.behavior.animated_map_lods = vec![0, 1];
    assert_eq!(psd_at(&dna), [0.0, 0.5]);

    let mut dna = corrective();
    dna.definition.lod_joints = LodMap { lods: vec![0, 1], lists: vec![vec![0], vec![1]] };
    dna.operation_graph.joint_inputs = vec![1];
    dna.operation_graph.joint_outputs = vec![10];
    assert_eq!(psd_at(&dna), [0.0, 0.5]);
}

#[test]
fn corrective_is_not_used_by_solvers_networks_or_other_correctives() {
    let mut dna = corrective();
    dna.behavior.psd_count = 2;
    dna.behavior.psd.push(PsdEntry { row: 2, column: 1, value: 1.0 });
    dna.networks = doubling(1, 3);
    dna.rbf.solvers = vec![RbfSolver { inputs: vec![1], ..RbfSolver::default() }];
    dna.behavior.channels = Channels { lods: vec![1, 1], inputs: vec![2], outputs: vec![0] };
    assert_eq!(psd_at(&dna), [0.0, 0.0]);
}

/// A network of one ML control, twice the input, at level 0.
fn doubling(input: u16, output: u16) -> crate::orl::dna::Networks {
    let layer =
        NetworkLayer { biases: vec![0.0], weights: vec![2.0], activation: Activation::Linear, parameters: vec![] };
    crate::orl::dna::Networks {
        control_names: vec!["ml".into()],
        lod_networks: LodMap { lods: vec![0, 1], lists: vec![vec![0], vec![]] },
        networks: vec![Network { inputs: vec![input], outputs: vec![output], layers: vec![layer] }],
        ..crate::orl::dna::Networks::default()
    }
}

/// A solver of one pose at 0, radius 1, falling linearly, at both levels.
fn solver(input: u16) -> crate::orl::dna::Rbf {
    crate::orl::dna::Rbf {
        lod_solvers: LodMap { lods: vec![0, 0], lists: vec![vec![0]] },
        solvers: vec![RbfSolver {
            inputs: vec![input],
            poses: vec![0],
            values: vec![0.0],
            radius: 180.0 / std::f32::consts::PI,
            automatic_radius: AutomaticRadius::Off,
            function: RbfFunction::Linear,
            ..RbfSolver::default()
        }],
        poses: vec![RbfPose { name: "pose".into(), scale: 1.0 }],
    }
}

#[test]
fn networks_come_before_solvers_and_solvers_before_correctives() {
    // raw 0, corrective 1, ML 2 = 2 * raw, RBF 3 = 1 - ML; corrective = ML * RBF.
    let mut dna = corrective();
    dna.networks = doubling(0, 2);
    dna.rbf = solver(2);
    dna.behavior.psd = vec![PsdEntry { row: 1, column: 2, value: 1.0 }, PsdEntry { row: 1, column: 3, value: 1.0 }];
    dna.behavior.channels = Channels { lods: vec![1, 1], inputs: vec![1], outputs: vec![0] };
    let state = evaluate(&dna, RotationOutput::Euler, 0, &[0.125]);
    close(state.controls(), &[0.125, 0.1875, 0.25, 0.75]);
    close(state.blend_shapes(), &[0.1875]);
    assert_eq!((state.ml(), state.rbf().len()), (&[0.25][..], 1));
    // The network is not of level 1.
    close(evaluate(&dna, RotationOutput::Euler, 1, &[0.125]).controls(), &[0.125, 0.0, 0.0, 1.0]);
}

/// A twist about x of raw controls 0 to 3 onto joint 0, whole.
fn twisted() -> Dna {
    let mut dna = file(1, 5, 0, 2, 0, 0);
    dna.definition.raw_control_names = ["a.x", "a.y", "a.z", "a.w", "b.w"].map(String::from).to_vec();
    dna.twist_swing.twists =
        vec![TwistSwingSetup { weights: vec![0.0], joints: vec![0], inputs: vec![0, 1, 2, 3], ..Default::default() }];
    dna
}

#[test]
fn twist_overwrites_the_group_at_every_level_and_ml_joints_come_after_it() {
    let mut dna = twisted();
    dna.behavior.joint_groups = vec![group(&[1, 0], &[4], &[3], &[10.0])];
    let quarter = [HALF, 0.0, 0.0, HALF, 1.0];
    close(&euler(&dna, 0, &quarter)[3..6], &[90.0, 0.0, 0.0]);
    close(&euler(&dna, 1, &quarter)[3..6], &[90.0, 0.0, 0.0]);
    dna.definition.lod_joints = LodMap { lods: vec![0, 1], lists: vec![vec![0], vec![]] };
    dna.operation_graph.joint_parameters = vec![JointParameter { key: 1, value: 0 }];
    dna.operation_graph.joint_inputs = vec![4];
    dna.operation_graph.joint_outputs = vec![3];
    close(&euler(&dna, 0, &quarter)[3..6], &[91.0, 0.0, 0.0]);
    close(&euler(&dna, 1, &quarter)[3..6], &[90.0, 0.0, 0.0]);
}

#[test]
fn initial_w_is_one_where_a_quaternion_is_read_and_gui_mapping_clears_it() {
    let rig = RigLogic::new(&twisted(), RotationOutput::Quaternion).unwrap();
    assert_eq!(rig.initial_controls(), [0.0, 0.0, 0.0, 1.0, 0.0]);
    let mut state = RigState::new(&rig);
    assert_eq!(state.raw(), [0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(state.joints()[3..7], [0.0, 0.0, 0.0, 1.0], "at rest before the first evaluation");
    rig.set_gui(&mut state, &[1.0]).unwrap();
    assert_eq!(state.raw(), [0.0; 5]);
    state.raw_mut()[3] = 1.0;
    rig.evaluate(&mut state, 0);
    close(&state.joints()[3..7], &[0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn initial_w_of_ml_controls_is_one_by_its_name() {
    let mut dna = file(0, 1, 0, 0, 0, 0);
    dna.networks.control_names = ["j.qx", "j.qw", "k.w", "w"].map(String::from).to_vec();
    assert_eq!(RigLogic::new(&dna, RotationOutput::Euler).unwrap().initial_controls(), [0.0, 0.0, 1.0, 1.0, 0.0]);
}

/// Everything at once, for the laws.
fn everything() -> Dna {
    let mut dna = corrective();
    dna.definition.gui_control_names = names(1);
    dna.behavior.gui_to_raw = vec![Conditional { to: 1.0, slope: 0.5, ..Conditional::default() }];
    dna.networks = doubling(0, 2);
    dna.networks.region_networks = vec![vec![vec![0]]];
    dna.rbf = solver(2);
    dna.behavior.joint_groups = vec![group(&[2, 1], &[0, 1], &[0, 3], &[1.0, 0.0, 0.0, 30.0])];
    dna.behavior.channels = Channels { lods: vec![1, 1], inputs: vec![3], outputs: vec![0] };
    dna.behavior.animated_maps = vec![Conditional { input: 1, to: 1.0, slope: 1.0, ..Conditional::default() }];
    dna.behavior.animated_map_lods = vec![1, 0];
    dna
}

#[test]
fn evaluation_has_no_memory() {
    let rig = RigLogic::new(&everything(), RotationOutput::Quaternion).unwrap();
    let result = |state: &RigState| {
        let parts = [state.controls(), state.joints(), state.blend_shapes(), state.animated_maps()];
        parts.concat()
    };
    let mut fresh = RigState::new(&rig);
    rig.set_raw(&mut fresh, &[0.25]).unwrap();
    rig.evaluate(&mut fresh, 1);
    let mut used = RigState::new(&rig);
    for raw in [7.0, f32::NAN] {
        rig.set_raw(&mut used, &[raw]).unwrap();
        rig.evaluate(&mut used, 0);
    }
    rig.set_raw(&mut used, &[0.25]).unwrap();
    rig.evaluate(&mut used, 1);
    assert_eq!(result(&fresh), result(&used));
}

#[test]
fn level_beyond_the_last_is_the_last_and_mask_switches_off() {
    let dna = everything();
    let rig = RigLogic::new(&dna, RotationOutput::Euler).unwrap();
    let mut state = RigState::new(&rig);
    rig.set_gui(&mut state, &[0.5]).unwrap();
    rig.evaluate(&mut state, 99);
    assert_eq!((state.joints()[0], state.joints()[3]), (0.25, 0.0));
    rig.evaluate(&mut state, 0);
    assert_eq!((state.joints()[0], state.joints()[3], state.ml()[0]), (0.25, 7.5, 0.5));
    assert_eq!(state.animated_maps(), [0.25]);
    state.masks_mut()[0] = 0.0;
    rig.evaluate(&mut state, 0);
    assert_eq!(state.ml(), [0.0]);
    assert_eq!((rig.variable_attributes(0), rig.variable_attributes(5)), (&[0, 3][..], &[0][..]));
}

#[test]
fn parts_without_levels_stay_at_rest() {
    let mut dna = everything();
    dna.behavior.joint_groups[0].lods.clear();
    dna.behavior.channels.lods.clear();
    dna.behavior.animated_map_lods.clear();
    dna.networks.lod_networks = LodMap::default();
    dna.rbf.lod_solvers = LodMap::default();
    let state = evaluate(&dna, RotationOutput::Euler, 0, &[1.0]);
    assert_eq!(state.joints(), [0.0; 18]);
    assert_eq!(state.controls(), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!((state.blend_shapes(), state.animated_maps()), (&[0.0][..], &[0.0][..]));
    let empty = evaluate(&Dna::default(), RotationOutput::Quaternion, 3, &[]);
    assert!(empty.joints().is_empty() && empty.controls().is_empty());
}

#[test]
fn gui_mapping_goes_back() {
    let rig = RigLogic::new(&everything(), RotationOutput::Euler).unwrap();
    let mut gui = [9.0];
    rig.raw_to_gui(&[0.25], &mut gui).unwrap();
    assert_eq!(gui, [0.5]);
}

#[test]
fn controls_of_another_length_are_refused_and_change_nothing() {
    let rig = RigLogic::new(&everything(), RotationOutput::Euler).unwrap();
    let mut state = RigState::new(&rig);
    rig.set_raw(&mut state, &[0.5]).unwrap();
    let error = rig.set_raw(&mut state, &[1.0, 2.0]).unwrap_err();
    assert_eq!(error.to_string(), "raw controls: expected 1 values, got 2");
    assert_eq!(rig.set_gui(&mut state, &[]).unwrap_err().to_string(), "GUI controls: expected 1 values, got 0");
    assert!(rig.raw_to_gui(&[1.0], &mut []).is_err());
    assert_eq!(state.raw(), [0.5]);
}

#[test]
#[should_panic = "a RigState is evaluated by the rig it was made for"]
fn state_of_another_rig_panics() {
    let rig = RigLogic::new(&everything(), RotationOutput::Euler).unwrap();
    let other = RigLogic::new(&everything(), RotationOutput::Quaternion).unwrap();
    rig.evaluate(&mut RigState::new(&other), 0);
}

#[test]
fn file_with_one_wrong_index_or_length_is_refused() {
    type Change = fn(&mut Behavior, &mut Dna);
    let cases: [(&str, LoadErrorKind, Change); 19] = [
        ("GUI table inputs", LoadErrorKind::Value, |b, _| b.gui_to_raw[0].input = 1),
        ("GUI table outputs", LoadErrorKind::Value, |b, _| b.gui_to_raw[0].output = 1),
        ("animated maps inputs", LoadErrorKind::Value, |b, _| b.animated_maps[0].input = 4),
        ("animated maps", LoadErrorKind::Value, |b, _| b.animated_map_lods[0] = 2),
        ("PSD entry 0 row", LoadErrorKind::Shape, |b, _| b.psd[0].row = 0),
        ("PSD entry 0 column", LoadErrorKind::Value, |b, _| b.psd[0].column = 4),
        ("joint group 0 inputs", LoadErrorKind::Value, |b, _| b.joint_groups[0].inputs[1] = 4),
        ("joint group 0 outputs", LoadErrorKind::Value, |b, _| b.joint_groups[0].outputs[1] = 18),
        ("joint group 0 lods", LoadErrorKind::Value, |b, _| b.joint_groups[0].lods[0] = 3),
        ("joint group 0 values", LoadErrorKind::Shape, |b, _| b.joint_groups[0].values.push(0.0)),
        ("blend shape outputs", LoadErrorKind::Value, |b, _| b.channels.outputs[0] = 1),
        ("blend shape outputs", LoadErrorKind::Shape, |b, _| b.channels.outputs.push(0)),
        ("network 0 outputs", LoadErrorKind::Value, |_, d| d.networks.networks[0].outputs[0] = 4),
        ("LOD networks", LoadErrorKind::Value, |_, d| d.networks.lod_networks.lists[0][0] = 1),
        ("mesh 0 region networks", LoadErrorKind::Value, |_, d| d.networks.region_networks[0][0][0] = 1),
        ("RBF solver 0 poses", LoadErrorKind::Value, |_, d| d.rbf.solvers[0].poses[0] = 1),
        ("RBF solver 0 values", LoadErrorKind::Shape, |_, d| d.rbf.solvers[0].values.push(0.0)),
        ("LOD joints", LoadErrorKind::Value, |_, d| d.definition.lod_joints.lists = vec![vec![2]]),
        ("twist 0 inputs", LoadErrorKind::Shape, |_, d| d.twist_swing.twists.push(TwistSwingSetup::default())),
    ];
    for (field, kind, change) in cases {
        let mut dna = everything();
        let mut behavior = std::mem::take(&mut dna.behavior);
        change(&mut behavior, &mut dna);
        dna.behavior = behavior;
        let error = RigLogic::new(&dna, RotationOutput::Euler).unwrap_err();
        assert_eq!((error.field.as_str(), error.kind), (field, kind), "{error}");
    }
}
