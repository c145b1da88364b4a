//! Blend shape channels: copies of controls.

use crate::orl::dna::Channels;

#[derive(Debug, Clone, Default)]
pub(super) struct BlendShapes {
    /// Control and channel.
    entries: Vec<(u16, u16)>,
    /// (LODs) or empty: active leading entries.
    lods: Vec<u16>,
}

impl BlendShapes {
    pub(super) fn new(channels: &Channels) -> BlendShapes {
        let entries = channels.inputs.iter().copied().zip(channels.outputs.iter().copied());
        BlendShapes { entries: entries.collect(), lods: channels.lods.clone() }
    }

    fn active(&self, lod: usize) -> &[(u16, u16)] {
        &self.entries[..self.lods.get(lod).map_or(0, |&n| usize::from(n))]
    }

    /// The controls that a level reads.
    pub(super) fn controls(&self, lod: usize) -> impl Iterator<Item = usize> {
        self.active(lod).iter().map(|(control, _)| usize::from(*control))
    }

    /// Writes every channel: unclamped, of several entries the last, 0 where none is active.
    pub(super) fn run(&self, lod: usize, controls: &[f32], channels: &mut [f32]) {
        channels.fill(0.0);
        for &(control, channel) in self.active(lod) {
            channels[usize::from(channel)] = controls[usize::from(control)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_unclamped_copies_and_the_last_of_two_wins() {
        let shapes = BlendShapes::new(&Channels { lods: vec![3, 1], inputs: vec![0, 1, 2], outputs: vec![1, 2, 1] });
        let mut channels = [9.0; 4];
        shapes.run(0, &[-0.5, 1.5, 7.0], &mut channels);
        assert_eq!(channels, [0.0, 7.0, 1.5, 0.0]);
        shapes.run(1, &[-0.5, 1.5, 7.0], &mut channels);
        assert_eq!(channels, [0.0, -0.5, 0.0, 0.0]);
    }

    #[test]
    fn channels_without_levels_are_zero() {
        let mut channels = [9.0];
        BlendShapes::new(&Channels { lods: vec![], inputs: vec![0], outputs: vec![0] }).run(0, &[1.0], &mut channels);
        assert_eq!(channels, [0.0]);
    }
}
