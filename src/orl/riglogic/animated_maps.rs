//! Animated maps: a conditional table over the controls.

use super::conditional::ConditionalTable;
use crate::orl::dna::Behavior;

#[derive(Debug, Clone, Default)]
pub(super) struct AnimatedMaps {
    table: ConditionalTable,
    /// (LODs) or empty: active leading rows.
    lods: Vec<u16>,
}

impl AnimatedMaps {
    pub(super) fn new(behavior: &Behavior) -> AnimatedMaps {
        AnimatedMaps { table: ConditionalTable::new(&behavior.animated_maps), lods: behavior.animated_map_lods.clone() }
    }

    fn rows(&self, lod: usize) -> usize {
        self.lods.get(lod).map_or(0, |&n| usize::from(n))
    }

    /// The controls that a level reads.
    pub(super) fn controls(&self, lod: usize) -> impl Iterator<Item = usize> {
        self.table.inputs(self.rows(lod))
    }

    /// Writes every map, in 0..1.
    pub(super) fn run(&self, lod: usize, controls: &[f32], maps: &mut [f32]) {
        self.table.run(self.rows(lod), controls, maps);
    }
}
