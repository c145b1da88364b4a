//! One neural network: fully connected layers.

use super::blocks::Blocks;
use crate::error::{LoadError, LoadErrorKind};
use crate::orl::dna::{self, Activation};

#[derive(Debug, Clone, Default)]
pub(super) struct Network {
    inputs: usize,
    layers: Vec<Layer>,
}

#[derive(Debug, Clone)]
struct Layer {
    weights: Blocks,
    biases: Vec<f32>,
    activation: Activation,
    /// The slope below zero of a leaky unit.
    slope: f32,
}

impl Network {
    /// # Errors
    /// `Missing` for no layers or no slope of a leaky one, `Shape` for a layer that does not take what the one before it gives.
    pub(super) fn new(network: &dna::Network, index: usize) -> Result<Network, LoadError> {
        let mut layers: Vec<Layer> = vec![];
        for (at, layer) in network.layers.iter().enumerate() {
            let field = |name: &str| format!("network {index} layer {at} {name}");
            let outputs = layer.biases.len();
            let columns = layer.weights.len().checked_div(outputs).unwrap_or(0);
            if outputs == 0 || columns * outputs != layer.weights.len() {
                let expected = "as many weights for every bias, and a bias";
                let found = format!("{} weights and {outputs} biases", layer.weights.len());
                return Err(LoadError::new(LoadErrorKind::Shape, field("weights"), expected, found));
            }
            if let Some(before) = layers.last().map(|l| l.biases.len()).filter(|&before| before != columns) {
                return Err(LoadError::new(LoadErrorKind::Shape, field("inputs"), before, columns));
            }
            let slope = match (layer.activation, layer.parameters.first()) {
                (Activation::LeakyRelu, None) => {
                    return Err(LoadError::new(LoadErrorKind::Missing, field("parameters"), "a slope", "none"));
                }
                (_, slope) => slope.copied().unwrap_or(0.0),
            };
            let weights = Blocks::new(outputs, columns, |row, column| layer.weights[row * columns + column]);
            layers.push(Layer { weights, biases: layer.biases.clone(), activation: layer.activation, slope });
        }
        match layers.first() {
            Some(first) => Ok(Network { inputs: first.weights.columns(), layers }),
            None => Err(LoadError::new(LoadErrorKind::Missing, format!("network {index} layers"), "at least 1", 0)),
        }
    }

    pub(super) fn input_count(&self) -> usize {
        self.inputs
    }

    pub(super) fn output_count(&self) -> usize {
        self.layers.last().map_or(0, |l| l.biases.len())
    }

    pub(super) fn layer_count(&self) -> usize {
        self.layers.len()
    }

    /// The most values that stand between two layers, or before the first or behind the last.
    pub(super) fn width(&self) -> usize {
        self.layers.iter().map(|l| l.biases.len()).fold(self.inputs, usize::max)
    }

    /// The first `rows` outputs for the inputs at the start of `ping`; both buffers hold `width` values.
    pub(super) fn run<'a>(&self, rows: usize, mut ping: &'a mut [f32], mut pong: &'a mut [f32]) -> &'a [f32] {
        let mut count = self.inputs;
        for (at, layer) in self.layers.iter().enumerate() {
            // A limit on an earlier layer would starve the next one: only the last one has it.
            let all = layer.biases.len();
            let rows = if at + 1 == self.layers.len() { rows.min(all) } else { all };
            layer.weights.multiply(rows, &ping[..count], |row, sum| {
                pong[row] = layer.activate(sum + layer.biases[row]);
            });
            count = rows;
            std::mem::swap(&mut ping, &mut pong);
        }
        &ping[..count]
    }
}

impl Layer {
    fn activate(&self, x: f32) -> f32 {
        match self.activation {
            Activation::Linear => x,
            Activation::Relu => {
                if x < 0.0 {
                    0.0
                } else {
                    x
                }
            }
            Activation::LeakyRelu => {
                if x < 0.0 {
                    self.slope * x
                } else {
                    x
                }
            }
            Activation::Tanh => x.tanh(),
            Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orl::dna::NetworkLayer;

    fn layer(biases: &[f32], weights: &[f32], activation: Activation) -> NetworkLayer {
        NetworkLayer { biases: biases.to_vec(), weights: weights.to_vec(), activation, parameters: vec![0.25] }
    }

    fn run(layers: Vec<NetworkLayer>, rows: usize, x: &[f32]) -> Vec<f32> {
        let network = Network::new(&dna::Network { layers, ..dna::Network::default() }, 0).unwrap();
        let mut ping = x.to_vec();
        ping.resize(network.width(), 0.0);
        network.run(rows, &mut ping, &mut vec![0.0; network.width()]).to_vec()
    }

    #[test]
    fn layers_follow_one_another() {
        // relu(1 - 2 + 0.5) = 0, relu(3 + 8 - 1) = 10; then 2 * 0 - 10 + 1 = -9 and 10 * 0.5 = 5, leaky.
        let layers = || {
            vec![
                layer(&[0.5, -1.0], &[1.0, -1.0, 3.0, 4.0], Activation::Relu),
                layer(&[1.0, 0.0], &[2.0, -1.0, 0.0, 0.5], Activation::LeakyRelu),
            ]
        };
        assert_eq!(run(layers(), 2, &[1.0, 2.0]), [-2.25, 5.0]);
        assert_eq!(run(layers(), 1, &[1.0, 2.0]), [-2.25]);
    }

    #[test]
    fn activations_follow_their_formulas() {
        let at = |activation, x| run(vec![layer(&[0.0], &[1.0], activation)], 1, &[x])[0];
        assert_eq!(at(Activation::Linear, -2.0), -2.0);
        assert_eq!(at(Activation::Tanh, 0.5), 0.5_f32.tanh());
        assert_eq!(at(Activation::Sigmoid, 0.0), 0.5);
        assert!(at(Activation::Relu, f32::NAN).is_nan());
    }

    #[test]
    fn network_of_layers_that_do_not_fit_is_refused() {
        let error = |layers| Network::new(&dna::Network { layers, ..dna::Network::default() }, 7).unwrap_err();
        assert_eq!(error(vec![]).kind, LoadErrorKind::Missing);
        let e = error(vec![layer(&[0.0], &[1.0], Activation::Linear), layer(&[0.0], &[1.0, 2.0], Activation::Linear)]);
        assert_eq!((e.field.as_str(), e.expected.as_str(), e.found.as_str()), ("network 7 layer 1 inputs", "1", "2"));
        assert_eq!(error(vec![layer(&[0.0, 0.0], &[1.0], Activation::Linear)]).kind, LoadErrorKind::Shape);
        assert_eq!(error(vec![layer(&[], &[], Activation::Linear)]).kind, LoadErrorKind::Shape);
        let mut leaky = layer(&[0.0], &[1.0], Activation::LeakyRelu);
        leaky.parameters.clear();
        assert_eq!(error(vec![leaky]).kind, LoadErrorKind::Missing);
    }
}
