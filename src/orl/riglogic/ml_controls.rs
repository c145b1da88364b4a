//! ML controls: the networks of a rig, listed by level or joined to a graph of operations.

use super::network::Network;
use super::operations::{Graph, Masks};
use crate::error::{LoadError, LoadErrorKind};
use crate::orl::dna::Dna;

/// The networks and how they are wired.
#[derive(Debug, Clone, Default)]
pub(super) struct MlControls {
    networks: Vec<Network>,
    wiring: Wiring,
    /// (networks) The mask that can switch the network off.
    masks: Vec<Option<u32>>,
    /// Controls that are 1 while their network is off: the w of a joint's quaternion. Sorted.
    ones: Vec<u16>,
    width: usize,
}

#[derive(Debug, Clone)]
enum Wiring {
    Listed(Vec<Ends>, Vec<Vec<u16>>),
    Graph(Graph),
}

impl Default for Wiring {
    fn default() -> Self {
        Wiring::Listed(vec![], vec![])
    }
}

/// The controls at both ends of a network.
#[derive(Debug, Clone)]
struct Ends {
    inputs: Vec<u16>,
    outputs: Vec<u16>,
}

/// The masks of one evaluation.
struct Given<'a> {
    ml: &'a MlControls,
    masks: &'a [f32],
}

impl Masks for Given<'_> {
    fn is_off(&self, network: usize) -> bool {
        self.ml.masks[network].is_some_and(|mask| self.masks[mask as usize] == 0.0)
    }

    fn default_of(&self, control: u16) -> f32 {
        if self.ml.ones.binary_search(&control).is_ok() { 1.0 } else { 0.0 }
    }
}

impl MlControls {
    /// Takes a file whose indices are in range; `ones` are the controls of the ML joints' w.
    ///
    /// # Errors
    /// As [`Network::new`] and [`Graph::new`]; `Shape` for a listed network that its controls do not fit.
    pub(super) fn new(dna: &Dna, lod_count: usize, mut ones: Vec<u16>) -> Result<MlControls, LoadError> {
        let layer = &dna.networks;
        let networks = layer.networks.iter().enumerate().map(|(i, n)| Network::new(n, i));
        let networks = networks.collect::<Result<Vec<_>, _>>()?;
        let wiring = if dna.operation_graph.types.is_empty() {
            for (i, (network, ends)) in networks.iter().zip(&layer.networks).enumerate() {
                let needed = (network.input_count(), network.output_count());
                let found = (ends.inputs.len(), ends.outputs.len());
                if needed != found {
                    let text = |(inputs, outputs)| format!("{inputs} inputs and {outputs} outputs");
                    let field = format!("network {i} controls");
                    return Err(LoadError::new(LoadErrorKind::Shape, field, text(needed), text(found)));
                }
            }
            let ends = |n: &crate::orl::dna::Network| Ends { inputs: n.inputs.clone(), outputs: n.outputs.clone() };
            let lods = (0..lod_count).map(|lod| layer.lod_networks.list(lod).to_vec()).collect();
            Wiring::Listed(layer.networks.iter().map(ends).collect(), lods)
        } else {
            Wiring::Graph(Graph::new(&dna.operation_graph, &networks, lod_count)?)
        };
        let mut masks = vec![None; networks.len()];
        for (mask, listed) in layer.region_networks.iter().flatten().enumerate() {
            for &network in listed {
                // The first region that lists a network has it.
                masks[usize::from(network)].get_or_insert(mask as u32);
            }
        }
        ones.sort_unstable();
        let width = networks.iter().map(Network::width).max().unwrap_or(0);
        Ok(MlControls { networks, wiring, masks, ones, width })
    }

    /// The room for `run`.
    pub(super) fn scratch_len(&self) -> usize {
        let values = match &self.wiring {
            Wiring::Listed(..) => 0,
            Wiring::Graph(graph) => graph.value_count(),
        };
        2 * self.width + values
    }

    /// Writes the controls of a level's networks; those of other networks stay as they are.
    pub(super) fn run(&self, lod: usize, masks: &[f32], controls: &mut [f32], scratch: &mut [f32]) {
        let (ping, rest) = scratch.split_at_mut(self.width);
        let (pong, values) = rest.split_at_mut(self.width);
        let masks = Given { ml: self, masks };
        match &self.wiring {
            Wiring::Graph(graph) => {
                let values = &mut values[..graph.value_count()];
                graph.run(lod, &self.networks, &masks, controls, values, [ping, pong]);
            }
            Wiring::Listed(ends, lods) => {
                for &at in lods.get(lod).map_or(&[][..], Vec::as_slice) {
                    let (network, ends) = (&self.networks[usize::from(at)], &ends[usize::from(at)]);
                    if masks.is_off(usize::from(at)) {
                        ends.outputs.iter().for_each(|&o| controls[usize::from(o)] = masks.default_of(o));
                        continue;
                    }
                    for (x, &input) in ping.iter_mut().zip(&ends.inputs) {
                        *x = controls[usize::from(input)];
                    }
                    for (y, &output) in network.run(usize::MAX, ping, pong).iter().zip(&ends.outputs) {
                        controls[usize::from(output)] = *y;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
