//! The operation graph: networks and weighted sums that feed one another between a gather and a scatter of controls.

use super::network::Network;
use crate::error::{LoadError, LoadErrorKind};
use crate::orl::dna::{Operation, OperationGraph, OperationKind, OperationType};
use std::ops::Range;

/// Values that the operations of a rig may hold between them: a small file can name one large network very often.
const MAX_VALUES: usize = 1 << 22;

/// The operations that compute, over all types.
#[derive(Debug, Clone, Default)]
pub(super) struct Graph {
    steps: Vec<Step>,
    /// (LODs) Indices into `steps`, in the order of evaluation.
    lods: Vec<Vec<u32>>,
    value_count: usize,
}

#[derive(Debug, Clone)]
struct Step {
    work: Work,
    /// Where its result stands among the values.
    result: Range<usize>,
    /// Controls that take the result, by all scatters that name the operation.
    scattered: Vec<u16>,
}

#[derive(Debug, Clone)]
enum Work {
    Mlp {
        network: usize,
        input: Input,
        /// (LODs) Rows of the last layer that are computed.
        rows: Vec<usize>,
    },
    WeightedSum(Vec<(f32, Range<usize>)>),
}

#[derive(Debug, Clone)]
enum Input {
    Controls(Vec<u16>),
    Results(Vec<Range<usize>>),
}

/// What a network writes to the controls.
pub(super) trait Masks {
    /// Whether the network is switched off.
    fn is_off(&self, network: usize) -> bool;
    /// The value of a control while its network is off.
    fn default_of(&self, control: u16) -> f32;
}

impl Graph {
    /// Takes a graph whose control, set and operation indices are in range.
    ///
    /// # Errors
    /// `Shape` where an operation does not take what it is given, `Value` for a network that is not there, `Unsupported` for a graph that
    /// would need far more memory than its file.
    pub(super) fn new(graph: &OperationGraph, networks: &[Network], lod_count: usize) -> Result<Graph, LoadError> {
        let mut built = Graph { lods: vec![vec![]; lod_count], ..Graph::default() };
        for (at, kind) in graph.types.iter().enumerate() {
            built.add_type(kind, networks, lod_count).map_err(|e| e.within(format!("operation type {at}")))?;
        }
        Ok(built)
    }

    /// How many values `run` keeps.
    pub(super) fn value_count(&self) -> usize {
        self.value_count
    }

    fn add_type(&mut self, kind: &OperationType, networks: &[Network], lod_count: usize) -> Result<(), LoadError> {
        let results = self.results(kind, networks)?;
        let (mut first, before) = (vec![], self.steps.len());
        for (set, operations) in kind.sets.iter().enumerate() {
            first.push(self.steps.len());
            for (at, operation) in operations.iter().enumerate() {
                let step = step(kind, operation, networks, &results, (set, at), lod_count);
                let step = step.map_err(|e| e.within(format!("set {set} operation {at}")))?;
                self.steps.push(step);
            }
        }
        self.scatter(kind, &first)?;
        // Limits are for what is scattered; what only feeds others is computed whole.
        for step in &mut self.steps[before..] {
            if let (Work::Mlp { network, rows, .. }, true) = (&mut step.work, step.scattered.is_empty()) {
                rows.fill(networks[*network].output_count());
            }
        }
        for (lod, steps) in self.lods.iter_mut().enumerate() {
            for (first, map) in first.iter().zip(&kind.lod_operations) {
                steps.extend(map.list(lod).iter().map(|&at| (first + usize::from(at)) as u32));
            }
        }
        Ok(())
    }

    /// (sets, operations) The place of every result.
    fn results(&mut self, kind: &OperationType, networks: &[Network]) -> Result<Vec<Vec<Range<usize>>>, LoadError> {
        let mut results = vec![];
        for (set, operations) in kind.sets.iter().enumerate() {
            let mut of_set = vec![];
            for (at, operation) in operations.iter().enumerate() {
                let count = match (operation.kind, operation.parameters.first()) {
                    (OperationKind::Mlp, Some(&n)) => networks.get(n as usize).map_or(0, Network::output_count),
                    (OperationKind::WeightedSum, Some(&n)) => n as usize,
                    _ => 0,
                };
                let start = self.value_count;
                let end = start.saturating_add(count);
                if end > MAX_VALUES {
                    let field = format!("set {set} operation {at}");
                    let expected = format!("results of at most {MAX_VALUES} values in all");
                    return Err(LoadError::new(LoadErrorKind::Unsupported, field, expected, end));
                }
                self.value_count = end;
                of_set.push(start..end);
            }
            results.push(of_set);
        }
        Ok(results)
    }

    /// Gives every step the controls of the scatters that name it. `first` is the first step of each set.
    fn scatter(&mut self, kind: &OperationType, first: &[usize]) -> Result<(), LoadError> {
        let mut scattered = 0_usize;
        for (set, operations) in kind.sets.iter().enumerate() {
            for (at, operation) in operations.iter().enumerate() {
                for source in operation.dependencies.iter().filter(|_| operation.kind == OperationKind::Scatter) {
                    scattered = scattered.saturating_add(operation.parameters.len());
                    if scattered > MAX_VALUES {
                        let field = format!("set {set} operation {at}");
                        let expected = format!("at most {MAX_VALUES} scattered controls in all");
                        return Err(LoadError::new(LoadErrorKind::Unsupported, field, expected, scattered));
                    }
                    let step = first[usize::from(source.set)] + usize::from(source.operation);
                    self.steps[step].scattered.extend(operation.parameters.iter().map(|&c| c as u16));
                }
            }
        }
        Ok(())
    }

    /// Runs the operations of a level. `values` holds `value_count` values, `ping` and `pong` the widest network's.
    pub(super) fn run(
        &self,
        lod: usize,
        networks: &[Network],
        masks: &impl Masks,
        controls: &mut [f32],
        values: &mut [f32],
        [ping, pong]: [&mut [f32]; 2],
    ) {
        // What is off or not of this level counts as zeros where it feeds others.
        values.fill(0.0);
        for &at in self.lods.get(lod).map_or(&[][..], Vec::as_slice) {
            let step = &self.steps[at as usize];
            match &step.work {
                Work::Mlp { network, rows, .. } if masks.is_off(*network) => {
                    for &control in step.scattered.iter().take(rows[lod]) {
                        controls[usize::from(control)] = masks.default_of(control);
                    }
                }
                Work::Mlp { network, input, rows } => {
                    input.copy_to(ping, controls, values);
                    let y = networks[*network].run(rows[lod], ping, pong);
                    values[step.result.start..][..y.len()].copy_from_slice(y);
                    for (&control, y) in step.scattered.iter().zip(y) {
                        controls[usize::from(control)] = *y;
                    }
                }
                Work::WeightedSum(terms) => {
                    for i in 0..step.result.len() {
                        let sum = terms.iter().fold(0.0, |sum, (w, from)| sum + w * values[from.start + i]);
                        values[step.result.start + i] = sum;
                    }
                    for (&control, y) in step.scattered.iter().zip(&values[step.result.clone()]) {
                        controls[usize::from(control)] = *y;
                    }
                }
            }
        }
    }
}

impl Input {
    fn len(&self) -> usize {
        match self {
            Input::Controls(indices) => indices.len(),
            Input::Results(results) => results.iter().map(ExactSizeIterator::len).sum(),
        }
    }

    fn copy_to(&self, buffer: &mut [f32], controls: &[f32], values: &[f32]) {
        match self {
            Input::Controls(indices) => {
                for (x, &index) in buffer.iter_mut().zip(indices) {
                    *x = controls[usize::from(index)];
                }
            }
            Input::Results(results) => {
                for (x, value) in buffer.iter_mut().zip(results.iter().flat_map(|r| &values[r.clone()])) {
                    *x = *value;
                }
            }
        }
    }
}

/// One operation; a gather, a scatter and one without a kind do nothing by themselves.
fn step(
    kind: &OperationType,
    operation: &Operation,
    networks: &[Network],
    results: &[Vec<Range<usize>>],
    (set, at): (usize, usize),
    lod_count: usize,
) -> Result<Step, LoadError> {
    let sources = || {
        let place = |d: &crate::orl::dna::OperationRef| (usize::from(d.set), usize::from(d.operation));
        operation.dependencies.iter().map(place)
    };
    let result = results[set][at].clone();
    let scattered = vec![];
    match operation.kind {
        OperationKind::Mlp => {
            let (Some(&network), limits) = (operation.parameters.first(), operation.parameters.get(1..).unwrap_or(&[]))
            else {
                return Err(LoadError::new(LoadErrorKind::Missing, "parameters", "a network", "none"));
            };
            let network = network as usize;
            let Some(net) = networks.get(network) else {
                let expected = format!("a network below {}", networks.len());
                return Err(LoadError::new(LoadErrorKind::Value, "parameters", expected, network));
            };
            let gathers = sources().map(|(set, at)| &kind.sets[set][at]).filter(|o| o.kind == OperationKind::Gather);
            let input = if gathers.clone().next().is_some() {
                let given: usize = gathers.clone().map(|g| g.parameters.len()).sum();
                // Before anything is gathered: many operations may name one long list.
                check_input(given, net)?;
                Input::Controls(gathers.flat_map(|g| g.parameters.iter().map(|&c| c as u16)).collect())
            } else {
                Input::Results(sources().map(|(set, at)| results[set][at].clone()).collect())
            };
            check_input(input.len(), net)?;
            let rows = row_limits(limits, net, lod_count)?;
            Ok(Step { work: Work::Mlp { network, input, rows }, result, scattered })
        }
        OperationKind::WeightedSum => {
            let weights = operation.parameters.get(1..).unwrap_or(&[]);
            if weights.len() != operation.dependencies.len() {
                let expected = format!("a weight for each of {} dependencies", operation.dependencies.len());
                return Err(LoadError::new(LoadErrorKind::Shape, "parameters", expected, weights.len()));
            }
            let terms: Vec<_> =
                weights.iter().map(|&w| f32::from_bits(w)).zip(sources().map(|(s, a)| results[s][a].clone())).collect();
            if let Some((_, short)) = terms.iter().find(|(_, from)| from.len() < result.len()) {
                let expected = format!("dependencies of at least {} values", result.len());
                return Err(LoadError::new(LoadErrorKind::Shape, "dependencies", expected, short.len()));
            }
            Ok(Step { work: Work::WeightedSum(terms), result, scattered })
        }
        _ => Ok(Step { work: Work::WeightedSum(vec![]), result, scattered }),
    }
}

fn check_input(given: usize, network: &Network) -> Result<(), LoadError> {
    if given == network.input_count() {
        return Ok(());
    }
    let expected = format!("{} inputs for the network", network.input_count());
    Err(LoadError::new(LoadErrorKind::Shape, "dependencies", expected, given))
}

/// (LODs) How many rows of the last layer are computed, as the operation says it.
fn row_limits(limits: &[u32], network: &Network, lod_count: usize) -> Result<Vec<usize>, LoadError> {
    let all = network.output_count();
    if limits.is_empty() {
        return Ok(vec![all; lod_count]);
    }
    let needed = network.layer_count() * lod_count;
    if limits.len() != needed {
        let expected = format!("no row counts or {needed}, one for each layer and level");
        return Err(LoadError::new(LoadErrorKind::Shape, "parameters", expected, limits.len()));
    }
    Ok(limits[needed - lod_count..].iter().map(|&rows| all.min(rows as usize)).collect())
}
