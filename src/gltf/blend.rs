//! Several clips at once, mixed into one control vector.

use super::clip::{ChannelKind, Clip, ClipCursor, narrowed};
use super::model::GltfModel;
use glam::DQuat;

/// How a layer enters the mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LayerMode {
    /// Its value counts by its weight.
    Weighted,
    /// What it has moved since its beginning is added, scaled by its weight, on top of all weighted layers.
    Additive,
}

/// What a layer plays in one call of [`Mixer::mix`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerInput {
    /// Time in the clip, in seconds.
    pub time_s: f64,
    /// Weight; negative and not finite is 0.
    pub weight: f32,
}

#[derive(Debug, Clone, PartialEq)]
struct Layer {
    clip: usize,
    mode: LayerMode,
    cursor: ClipCursor,
    /// An additive layer's controls at its beginning.
    start: Vec<f32>,
}

/// Clips playing together over one rig's default pose.
///
/// The law: for each control, `sum w v` over the weighted layers that move it; when their weights sum to less than 1 the default makes up
/// the rest, when to more they are divided by their sum. Rotations are summed in the half-space of the default and normalised. Additive
/// layers then follow in order: `+ w (v - v_start)`, for rotations a turn of `v_start^-1 v`, by the fraction w of it, in the joint's own axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixer {
    layers: Vec<Layer>,
    sampled: Vec<f32>,
    sums: Vec<f64>,
    totals: Vec<f64>,
}

impl Mixer {
    /// A mixer for these clips of the model, given by index.
    ///
    /// # Panics
    /// When a clip does not exist.
    #[must_use]
    pub fn new(model: &GltfModel, layers: &[(usize, LayerMode)]) -> Mixer {
        let defaults = model.controls().defaults();
        let layer = |&(clip, mode): &(usize, LayerMode)| {
            let count = model.clips().len();
            assert!(clip < count, "clip {clip} of {count}");
            let mut cursor = model.clips()[clip].cursor();
            let mut start = Vec::new();
            if mode == LayerMode::Additive {
                start.extend_from_slice(defaults);
                model.clips()[clip].sample(0.0, &mut cursor, &mut start);
            }
            Layer { clip, mode, cursor, start }
        };
        let count = defaults.len();
        Mixer {
            layers: layers.iter().map(layer).collect(),
            sampled: vec![0.0; count],
            sums: vec![0.0; count],
            totals: vec![0.0; count],
        }
    }

    /// Writes every control. Nothing is allocated.
    ///
    /// # Shapes
    /// inputs: one for each layer; controls: (C)
    ///
    /// # Panics
    /// When the model is not the one of [`Mixer::new`], or a length differs.
    pub fn mix(&mut self, model: &GltfModel, inputs: &[LayerInput], controls: &mut [f32]) {
        assert_eq!(inputs.len(), self.layers.len(), "inputs and layers differ");
        let defaults = model.controls().defaults();
        self.sums.fill(0.0);
        self.totals.fill(0.0);
        controls.copy_from_slice(defaults);
        for (layer, input) in self.layers.iter_mut().zip(inputs).filter(|(l, _)| l.mode == LayerMode::Weighted) {
            let weight = usable(input.weight);
            if weight > 0.0 {
                let clip = &model.clips()[layer.clip];
                clip.sample(input.time_s, &mut layer.cursor, &mut self.sampled);
                add(clip, weight, &self.sampled, defaults, &mut self.sums, &mut self.totals);
            }
        }
        let moved = controls.iter_mut().zip(self.sums.iter().zip(&self.totals)).filter(|(_, (_, total))| **total > 0.0);
        for (control, (sum, total)) in moved {
            *control = narrowed((sum + (1.0 - total).max(0.0) * f64::from(*control)) / total.max(1.0));
        }
        for first in model.controls().rotations().filter(|&first| self.totals[first] > 0.0) {
            let sum = quat(&controls[first..]);
            let unit = if sum.length() > 1e-9 { sum } else { quat(&defaults[first..]) };
            write(unit, &mut controls[first..]);
        }
        for (layer, input) in self.layers.iter_mut().zip(inputs).filter(|(l, _)| l.mode == LayerMode::Additive) {
            let weight = usable(input.weight);
            if weight > 0.0 {
                let clip = &model.clips()[layer.clip];
                clip.sample(input.time_s, &mut layer.cursor, &mut self.sampled);
                add_on_top(clip, weight, &self.sampled, &layer.start, controls);
            }
        }
    }
}

fn usable(weight: f32) -> f64 {
    if weight.is_finite() { f64::from(weight.max(0.0)) } else { 0.0 }
}

fn add(clip: &Clip, weight: f64, sampled: &[f32], defaults: &[f32], sums: &mut [f64], totals: &mut [f64]) {
    for channel in clip.channels() {
        let range = channel.controls();
        let rotation = channel.kind() == ChannelKind::Rotation;
        let turned = rotation && quat(&sampled[range.start..]).dot(quat(&defaults[range.start..])) < 0.0;
        let signed = if turned { -weight } else { weight };
        for control in range {
            sums[control] += signed * f64::from(sampled[control]);
            totals[control] += weight;
        }
    }
}

fn add_on_top(clip: &Clip, weight: f64, sampled: &[f32], start: &[f32], controls: &mut [f32]) {
    for channel in clip.channels() {
        let range = channel.controls();
        if channel.kind() == ChannelKind::Rotation {
            let at = range.start;
            let turn = quat(&start[at..]).normalize().inverse() * quat(&sampled[at..]).normalize();
            let turned = quat(&controls[at..]).normalize() * DQuat::IDENTITY.slerp(turn, weight);
            write(turned, &mut controls[at..]);
            continue;
        }
        for control in range {
            let moved = f64::from(sampled[control]) - f64::from(start[control]);
            controls[control] = narrowed(f64::from(controls[control]) + weight * moved);
        }
    }
}

fn quat(v: &[f32]) -> DQuat {
    DQuat::from_array(std::array::from_fn(|i| v[i].into()))
}

fn write(q: DQuat, controls: &mut [f32]) {
    controls[..4].copy_from_slice(&q.normalize().as_quat().to_array());
}
