use super::*;
use crate::orl::dna::{
    Activation, LodMap, Network, NetworkLayer, Operation, OperationKind, OperationRef, OperationType,
};

/// `y = weights * x + 0`, one layer.
fn network(inputs: &[u16], outputs: &[u16], weights: &[f32]) -> Network {
    let rows = if outputs.is_empty() { weights.len() } else { outputs.len() };
    let layer = NetworkLayer {
        biases: vec![0.0; rows],
        weights: weights.to_vec(),
        activation: Activation::Linear,
        parameters: vec![],
    };
    Network { inputs: inputs.to_vec(), outputs: outputs.to_vec(), layers: vec![layer] }
}

fn all_at_0(count: usize) -> LodMap {
    LodMap { lods: vec![0, 1], lists: vec![(0..count as u16).collect(), vec![]] }
}

fn listed(networks: Vec<Network>, regions: &[&[u16]]) -> Dna {
    let mut dna = Dna::default();
    dna.networks.lod_networks = all_at_0(networks.len());
    dna.networks.networks = networks;
    dna.networks.region_networks = vec![regions.iter().map(|r| r.to_vec()).collect()];
    dna
}

fn operation(kind: OperationKind, parameters: &[u32], sources: &[(u16, u16)]) -> Operation {
    let source = |&(set, operation)| OperationRef { set, operation };
    Operation { parameters: parameters.to_vec(), dependencies: sources.iter().map(source).collect(), kind }
}

fn graph(networks: Vec<Network>, regions: &[&[u16]], sets: Vec<Vec<Operation>>) -> Dna {
    let mut dna = listed(networks, regions);
    let lod_operations = sets.iter().map(|set| all_at_0(set.len())).collect();
    dna.operation_graph.types = vec![OperationType { lod_operations, sets }];
    dna
}

fn run<const N: usize>(dna: &Dna, lod: usize, masks: &[f32], ones: &[u16], controls: [f32; N]) -> [f32; N] {
    let ml = MlControls::new(dna, 2, ones.to_vec()).unwrap();
    let mut controls = controls;
    ml.run(lod, masks, &mut controls, &mut vec![f32::NAN; ml.scratch_len()]);
    controls
}

#[test]
fn listed_networks_run_in_order_and_leave_other_levels_alone() {
    // The second reads what the first wrote, unclamped: 3 * 2 = 6, then -6.
    let dna = listed(vec![network(&[0], &[1], &[3.0]), network(&[1], &[2], &[-1.0])], &[]);
    assert_eq!(run(&dna, 0, &[], &[], [2.0, 0.0, 0.0]), [2.0, 6.0, -6.0]);
    assert_eq!(run(&dna, 1, &[], &[], [2.0, 7.0, 8.0]), [2.0, 7.0, 8.0]);
}

#[test]
fn mask_of_zero_gives_defaults_and_any_other_runs_in_full() {
    let dna = listed(vec![network(&[0], &[1, 2], &[3.0, 4.0])], &[&[0]]);
    assert_eq!(run(&dna, 0, &[0.0], &[2], [2.0, 9.0, 9.0]), [2.0, 0.0, 1.0]);
    assert_eq!(run(&dna, 0, &[0.5], &[2], [2.0, 9.0, 9.0]), [2.0, 6.0, 8.0]);
}

#[test]
fn network_in_two_regions_follows_the_first() {
    let dna = listed(vec![network(&[0], &[1], &[3.0])], &[&[], &[0], &[0]]);
    assert_eq!(run(&dna, 0, &[0.0, 1.0, 0.0], &[], [2.0, 9.0]), [2.0, 6.0]);
    assert_eq!(run(&dna, 0, &[1.0, 0.0, 1.0], &[], [2.0, 9.0]), [2.0, 0.0]);
}

#[test]
fn network_that_its_controls_do_not_fit_is_refused() {
    let mut dna = listed(vec![network(&[0], &[1], &[3.0])], &[]);
    dna.networks.networks[0].inputs.push(1);
    let error = MlControls::new(&dna, 2, vec![]).unwrap_err();
    assert_eq!(error.to_string(), "network 0 controls: expected 1 inputs and 1 outputs, got 2 inputs and 1 outputs");
}

/// gather(0, 1) -> two networks -> weighted sum -> scatter(2, 3).
fn diamond(regions: &[&[u16]]) -> Dna {
    use OperationKind::{Gather, Mlp, Scatter, WeightedSum};
    let networks = vec![network(&[], &[], &[0.0; 2]), network(&[], &[], &[0.0; 2])];
    let mut dna = graph(
        networks,
        regions,
        vec![
            vec![operation(Gather, &[0], &[]), operation(Gather, &[1], &[])],
            vec![operation(Mlp, &[0], &[(0, 0), (0, 1)]), operation(Mlp, &[1], &[(0, 0), (0, 1)])],
            vec![operation(WeightedSum, &[2, 2.0_f32.to_bits(), (-1.0_f32).to_bits()], &[(1, 0), (1, 1)])],
            vec![operation(Scatter, &[2, 3], &[(2, 0)])],
        ],
    );
    // (a, b) -> (a + b, a - b) and (a, b).
    for (network, weights) in dna.networks.networks.iter_mut().zip([[1., 1., 1., -1.], [1., 0., 0., 1.]]) {
        network.layers[0].weights = weights.to_vec();
    }
    dna
}

#[test]
fn weighted_sum_before_a_scatter_is_scattered() {
    // 2 * (5, 1) - (3, 2).
    assert_eq!(run(&diamond(&[]), 0, &[], &[], [3.0, 2.0, 0.0, 0.0]), [3.0, 2.0, 7.0, 0.0]);
    assert_eq!(run(&diamond(&[]), 1, &[], &[], [3.0, 2.0, 8.0, 9.0]), [3.0, 2.0, 8.0, 9.0]);
}

#[test]
fn masked_operation_feeds_zeros() {
    assert_eq!(run(&diamond(&[&[1]]), 0, &[0.0], &[], [3.0, 2.0, 0.0, 0.0]), [3.0, 2.0, 10.0, 2.0]);
}

#[test]
fn operation_of_another_level_feeds_zeros() {
    let mut dna = diamond(&[]);
    dna.operation_graph.types[0].lod_operations[1] = LodMap { lods: vec![0, 0], lists: vec![vec![0]] };
    assert_eq!(run(&dna, 0, &[], &[], [3.0, 2.0, 0.0, 0.0]), [3.0, 2.0, 10.0, 2.0]);
}

/// gather(0) -> a network of three outputs, two rows of it at level 0 -> scatter(1) and scatter(2, 3).
fn limited() -> Dna {
    use OperationKind::{Gather, Mlp, Scatter};
    graph(
        vec![network(&[], &[], &[1.0, 2.0, 3.0])],
        &[&[0]],
        vec![
            vec![operation(Gather, &[0], &[])],
            vec![operation(Mlp, &[0, 2, 0], &[(0, 0)])],
            vec![operation(Scatter, &[1], &[(1, 0)]), operation(Scatter, &[2, 3], &[(1, 0)])],
        ],
    )
}

#[test]
fn row_limit_holds_for_results_and_for_the_defaults_of_a_mask() {
    assert_eq!(run(&limited(), 0, &[1.0], &[], [5.0, 7.0, 8.0, 9.0]), [5.0, 5.0, 10.0, 9.0]);
    assert_eq!(run(&limited(), 0, &[0.0], &[2, 3], [5.0, 7.0, 8.0, 9.0]), [5.0, 0.0, 1.0, 9.0]);
}

#[test]
fn row_limit_of_an_operation_that_feeds_others_is_ignored() {
    use OperationKind::{Gather, Mlp, Scatter};
    let dna = graph(
        vec![network(&[], &[], &[1.0, 2.0]), network(&[], &[], &[1.0, 1.0])],
        &[],
        vec![
            vec![operation(Gather, &[0], &[])],
            vec![operation(Mlp, &[0, 1, 1], &[(0, 0)])],
            vec![operation(Mlp, &[1], &[(1, 0)])],
            vec![operation(Scatter, &[1], &[(2, 0)])],
        ],
    );
    let mut dna = dna;
    dna.networks.networks[1].layers[0].biases = vec![0.0];
    assert_eq!(run(&dna, 0, &[], &[], [5.0, 0.0]), [5.0, 15.0]);
}

#[test]
fn dependencies_are_relative_to_their_own_type() {
    let mut dna = diamond(&[]);
    let first = dna.operation_graph.types[0].clone();
    let mut second = first.clone();
    second.sets[3][0].parameters = vec![4, 5];
    second.sets[0][0].parameters = vec![1];
    second.sets[0][1].parameters = vec![0];
    dna.operation_graph.types = vec![first, second];
    // 2 * (5, -1) - (2, 3).
    assert_eq!(run(&dna, 0, &[], &[], [3.0, 2.0, 0.0, 0.0, 0.0, 0.0]), [3.0, 2.0, 7.0, 0.0, 8.0, -5.0]);
}

#[test]
fn operation_that_does_not_fit_is_refused() {
    let error = |change: fn(&mut Vec<Vec<Operation>>)| {
        let mut dna = diamond(&[]);
        change(&mut dna.operation_graph.types[0].sets);
        MlControls::new(&dna, 2, vec![]).unwrap_err().to_string()
    };
    assert_eq!(
        error(|sets| sets[0][0].parameters = vec![0, 0]),
        "operation type 0: set 1 operation 0: dependencies: expected 2 inputs for the network, got 3"
    );
    assert_eq!(
        error(|sets| sets[1][0].parameters = vec![9]),
        "operation type 0: set 1 operation 0: parameters: expected a network below 2, got 9"
    );
    assert_eq!(
        error(|sets| sets[1][0].parameters = vec![]),
        "operation type 0: set 1 operation 0: parameters: expected a network, got none"
    );
    assert_eq!(
        error(|sets| sets[1][0].parameters = vec![0, 1]),
        "operation type 0: set 1 operation 0: parameters: expected no row counts or 2, one for each layer and level, got 1"
    );
    assert_eq!(
        error(|sets| sets[2][0].parameters[0] = 3),
        "operation type 0: set 2 operation 0: dependencies: expected dependencies of at least 3 values, got 2"
    );
    assert_eq!(
        error(|sets| sets[2][0].parameters.truncate(2)),
        "operation type 0: set 2 operation 0: parameters: expected a weight for each of 2 dependencies, got 1"
    );
    assert!(error(|sets| sets[2][0].parameters[0] = u32::MAX).contains("values in all"));
}
