//! Networks, RBF solvers, joint metadata and the operation graph.

use super::{Checked, Counts, finite, index, indices, length, lod_map, value};
use crate::orl::dna::{Activation, DistanceMethod, Dna, Network, Operation, OperationKind, OperationType, RbfSolver};

pub(super) fn networks(dna: &Dna, counts: &Counts) -> Checked {
    let networks = &dna.networks;
    lod_map("networks.lod_networks", &networks.lod_networks, networks.networks.len(), counts.lods)?;
    length("networks.region_networks", networks.region_networks.len(), networks.region_names.len())?;
    for (mesh, (names, lists)) in networks.region_names.iter().zip(&networks.region_networks).enumerate() {
        let field = format!("networks.region_networks[{mesh}]");
        length(&field, lists.len(), names.len())?;
        lists
            .iter()
            .enumerate()
            .try_for_each(|(i, list)| indices(&format!("{field}[{i}]"), list, networks.networks.len()))?;
    }
    // A graph's operations bring their own inputs and outputs, and its networks may have none.
    let graph = !dna.operation_graph.types.is_empty();
    let mut networks = networks.networks.iter().enumerate();
    networks.try_for_each(|(i, n)| network(&format!("networks.networks[{i}]"), n, graph, counts))
}

fn network(field: &str, network: &Network, graph: bool, counts: &Counts) -> Checked {
    indices(&format!("{field}.outputs"), &network.outputs, counts.controls)?;
    indices(&format!("{field}.inputs"), &network.inputs, counts.controls)?;
    let alone = !graph || !network.inputs.is_empty() || !network.outputs.is_empty();
    let mut width = alone.then_some(network.inputs.len());
    for (i, layer) in network.layers.iter().enumerate() {
        let field = format!("{field}.layers[{i}]");
        let outputs = layer.biases.len();
        if outputs == 0 || layer.weights.len() % outputs != 0 {
            let expected = format!("a multiple of the {outputs} biases");
            return Err(value(format!("{field}.weights"), expected, layer.weights.len()));
        }
        let inputs = layer.weights.len() / outputs;
        length(&format!("{field}.weights per output"), inputs, width.unwrap_or(inputs))?;
        if layer.activation == Activation::LeakyRelu && layer.parameters.is_empty() {
            return Err(value(format!("{field}.parameters"), "the slope of LeakyRelu", "none"));
        }
        finite(&format!("{field}.biases"), &layer.biases)?;
        finite(&format!("{field}.weights"), &layer.weights)?;
        finite(&format!("{field}.parameters"), &layer.parameters)?;
        width = Some(outputs);
    }
    if alone { length(&format!("{field}.outputs"), network.outputs.len(), width.unwrap_or(0)) } else { Ok(()) }
}

pub(super) fn rbf(dna: &Dna, counts: &Counts) -> Checked {
    let poses = dna.rbf.poses.len();
    lod_map("rbf.lod_solvers", &dna.rbf.lod_solvers, dna.rbf.solvers.len(), counts.lods)?;
    for (i, s) in dna.rbf.solvers.iter().enumerate() {
        solver(&format!("rbf.solvers[{i}]"), s, poses, counts)?;
    }
    for (i, pose) in dna.rbf.poses.iter().enumerate() {
        finite(&format!("rbf.poses[{i}].scale"), &[pose.scale])?;
    }
    if !dna.rbf_outputs.poses.is_empty() {
        length("rbf_outputs.poses", dna.rbf_outputs.poses.len(), poses)?;
    }
    for (i, pose) in dna.rbf_outputs.poses.iter().enumerate() {
        let field = format!("rbf_outputs.poses[{i}]");
        indices(&format!("{field}.inputs"), &pose.inputs, counts.controls)?;
        indices(&format!("{field}.outputs"), &pose.outputs, counts.controls)?;
        length(&format!("{field}.weights"), pose.weights.len(), pose.outputs.len())?;
        finite(&format!("{field}.weights"), &pose.weights)?;
    }
    Ok(())
}

fn solver(field: &str, solver: &RbfSolver, poses: usize, counts: &Counts) -> Checked {
    indices(&format!("{field}.inputs"), &solver.inputs, counts.controls)?;
    indices(&format!("{field}.poses"), &solver.poses, poses)?;
    length(&format!("{field}.values"), solver.values.len(), solver.poses.len() * solver.inputs.len())?;
    if solver.distance != DistanceMethod::Euclidean && !solver.inputs.len().is_multiple_of(4) {
        return Err(value(format!("{field}.inputs"), "whole quaternions, four controls each", solver.inputs.len()));
    }
    finite(&format!("{field}.values"), &solver.values)?;
    finite(&format!("{field}.radius"), &[solver.radius])?;
    finite(&format!("{field}.weight_threshold"), &[solver.weight_threshold])
}

pub(super) fn joints(dna: &Dna, counts: &Counts) -> Checked {
    if dna.joint_representations.len() > counts.joints {
        let expected = format!("at most {} joints", counts.joints);
        return Err(value("joint_representations", expected, dna.joint_representations.len()));
    }
    for (i, joint) in dna.joint_representations.iter().enumerate() {
        if (joint.translation, joint.scale) != (0, 0) {
            let found = format!("{} and {}", joint.translation, joint.scale);
            return Err(value(format!("joint_representations[{i}]"), "translation and scale as vectors (0)", found));
        }
    }
    let lists = [("twists", &dna.twist_swing.twists), ("swings", &dna.twist_swing.swings)];
    for (name, setups) in lists {
        for (i, setup) in setups.iter().enumerate() {
            let field = format!("twist_swing.{name}[{i}]");
            length(&format!("{field}.weights"), setup.weights.len(), setup.joints.len())?;
            finite(&format!("{field}.weights"), &setup.weights)?;
            indices(&format!("{field}.joints"), &setup.joints, counts.joints)?;
            length(&format!("{field}.inputs"), setup.inputs.len(), 4)?;
            indices(&format!("{field}.inputs"), &setup.inputs, counts.controls)?;
        }
    }
    Ok(())
}

pub(super) fn operation_graph(dna: &Dna, counts: &Counts) -> Checked {
    let graph = &dna.operation_graph;
    for (i, kind) in graph.types.iter().enumerate() {
        let field = format!("operation_graph.types[{i}]");
        length(&format!("{field}.lod_operations"), kind.lod_operations.len(), kind.sets.len())?;
        for (set, (map, operations)) in kind.lod_operations.iter().zip(&kind.sets).enumerate() {
            lod_map(&format!("{field}.lod_operations[{set}]"), map, operations.len(), counts.lods)?;
            for (at, operation) in operations.iter().enumerate() {
                let field = format!("{field}.sets[{set}][{at}]");
                dependencies(&field, kind, (set, at), operation)?;
                parameters(&field, operation, dna, counts)?;
            }
        }
    }
    for (i, p) in graph.joint_parameters.iter().enumerate() {
        let most = match p.key {
            0 | 2 => 0,
            1 => 1,
            3..=5 | 9 => 5,
            _ => u16::MAX,
        };
        if p.value > most {
            let field = format!("operation_graph.joint_parameters[{i}]");
            return Err(value(field, format!("a value up to {most} for key {}", p.key), p.value));
        }
    }
    length("operation_graph.joint_outputs", graph.joint_outputs.len(), graph.joint_inputs.len())?;
    indices("operation_graph.joint_inputs", &graph.joint_inputs, counts.controls)?;
    indices("operation_graph.joint_outputs", &graph.joint_outputs, counts.joints * graph.joint_attributes())
}

/// An operation consumes what stands before it, so that one pass in order evaluates the graph.
fn dependencies(field: &str, kind: &OperationType, own: (usize, usize), operation: &Operation) -> Checked {
    for (i, dependency) in operation.dependencies.iter().enumerate() {
        let field = format!("{field}.dependencies[{i}]");
        let (set, at) = (usize::from(dependency.set), usize::from(dependency.operation));
        index(|| format!("{field}.set"), dependency.set, kind.sets.len())?;
        index(|| format!("{field}.operation"), dependency.operation, kind.sets[set].len())?;
        if (set, at) >= own {
            let found = format!("set {set} operation {at}");
            return Err(value(field, "an operation before its own", found));
        }
    }
    Ok(())
}

fn parameters(field: &str, operation: &Operation, dna: &Dna, counts: &Counts) -> Checked {
    let field = format!("{field}.parameters");
    let parameters = &operation.parameters;
    match operation.kind {
        OperationKind::Unspecified => Ok(()),
        OperationKind::Gather | OperationKind::Scatter => indices(&field, parameters, counts.controls),
        OperationKind::Mlp => {
            let Some((&first, rows)) = parameters.split_first() else {
                return Err(value(field, "a network", "none"));
            };
            index(|| format!("{field}[0]"), first, dna.networks.networks.len())?;
            let layers = &dna.networks.networks[first as usize].layers;
            if !rows.is_empty() {
                length(&field, rows.len(), layers.len() * counts.lods)?;
            }
            for (i, &count) in rows.iter().enumerate() {
                let most = layers[i / counts.lods].biases.len();
                if count as usize > most {
                    return Err(value(format!("{field}[{}]", i + 1), format!("at most {most} rows"), count));
                }
            }
            Ok(())
        }
        OperationKind::WeightedSum => {
            length(&field, parameters.len(), 1 + operation.dependencies.len())?;
            let weights: Vec<f32> = parameters[1..].iter().map(|&bits| f32::from_bits(bits)).collect();
            finite(&format!("{field} (weights)"), &weights)
        }
    }
}
