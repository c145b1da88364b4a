//! Correctives (PSD): a weighted product of clamped controls each.

use crate::orl::dna::PsdEntry;

/// The correctives of a rig, and which of them each level uses.
#[derive(Debug, Clone, Default)]
pub(super) struct Correctives {
    /// The control index of the first one.
    first: usize,
    count: usize,
    correctives: Vec<Corrective>,
    factors: Vec<u16>,
    /// (LODs) The used ones: indices into `correctives`.
    lods: Vec<Vec<u16>>,
}

#[derive(Debug, Clone, Copy)]
struct Corrective {
    /// Which corrective it is, from 0.
    index: u16,
    weight: f32,
    /// The end of its factors; they start where the one's before it end.
    factors: (u32, u32),
}

impl Correctives {
    /// Correctives from the control index `first` on; `used[lod][control]` says what is read at a level. Ones without entries stay 0.
    pub(super) fn new(entries: &[PsdEntry], first: usize, count: usize, used: &[Vec<bool>]) -> Correctives {
        // Entries of one corrective need not be adjacent: a stable sort gathers them in file order.
        let mut sorted: Vec<&PsdEntry> = entries.iter().collect();
        sorted.sort_by_key(|e| e.row);
        let factors = sorted.iter().map(|e| e.column).collect();
        let mut correctives = vec![];
        let mut end = 0;
        for entries in sorted.chunk_by(|a, b| a.row == b.row) {
            let start = end;
            end += entries.len() as u32;
            let index = entries[0].row - first as u16;
            let weight = entries.iter().fold(1.0, |w, e| w * e.value);
            correctives.push(Corrective { index, weight, factors: (start, end) });
        }
        let is_used = |c: &Corrective, used: &[bool]| used[first + usize::from(c.index)];
        let level = |used: &Vec<bool>| {
            (0..correctives.len()).filter(|&i| is_used(&correctives[i], used)).map(|i| i as u16).collect()
        };
        let lods = used.iter().map(level).collect();
        Correctives { first, count, correctives, factors, lods }
    }

    /// Writes the correctives of a level. All factors are read before any is written; `clamped` has room for every control.
    pub(super) fn run(&self, lod: usize, controls: &mut [f32], clamped: &mut [f32]) {
        for (clamped, control) in clamped.iter_mut().zip(&*controls) {
            *clamped = control.clamp(0.0, 1.0);
        }
        let outputs = &mut controls[self.first..self.first + self.count];
        for &i in self.lods.get(lod).map_or(&[][..], Vec::as_slice) {
            let Corrective { index, weight, factors: (start, end) } = self.correctives[usize::from(i)];
            let factors = &self.factors[start as usize..end as usize];
            let product = factors.iter().fold(weight, |p, &f| p * clamped[usize::from(f)]);
            // Written out: `min` would make 1 of a NaN.
            outputs[usize::from(index)] = if product > 1.0 { 1.0 } else { product };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(entries: &[(u16, u16, f32)], controls: [f32; 5]) -> [f32; 5] {
        let entry = |&(row, column, value)| PsdEntry { row, column, value };
        let entries: Vec<PsdEntry> = entries.iter().map(entry).collect();
        let correctives = Correctives::new(&entries, 2, 3, &[vec![true; 5]]);
        let mut controls = controls;
        correctives.run(0, &mut controls, &mut [0.0; 5]);
        controls
    }

    #[test]
    fn corrective_is_its_weights_times_clamped_factors() {
        // 2 * 1.5 * 0.25 * clamp(7) = 0.75, its entries apart; 4 * 0.5 is cut at 1; one without entries stays 0.
        let got = run(&[(2, 0, 2.0), (3, 0, 4.0), (2, 1, 1.5)], [0.25, 7.0, 0.0, 0.0, 0.0]);
        assert_eq!(got, [0.25, 7.0, 0.75, 1.0, 0.0]);
    }

    #[test]
    fn corrective_with_a_negative_weight_is_not_cut_below() {
        assert_eq!(run(&[(2, 0, -3.0)], [0.5, 0.0, 0.0, 0.0, 0.0])[2], -1.5);
    }

    #[test]
    fn corrective_of_a_corrective_reads_the_value_before_the_evaluation() {
        // The factor is 1 in this evaluation and was 0 before it.
        assert_eq!(run(&[(2, 0, 1.0), (3, 2, 1.0)], [1.0, 0.0, 0.0, 0.0, 0.0]), [1.0, 0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn corrective_that_a_level_does_not_use_stays_zero() {
        let entries = [PsdEntry { row: 1, column: 0, value: 1.0 }];
        let correctives = Correctives::new(&entries, 1, 1, &[vec![true, true], vec![true, false]]);
        let (mut at_0, mut at_1) = ([1.0, 0.0], [1.0, 0.0]);
        correctives.run(0, &mut at_0, &mut [0.0; 2]);
        correctives.run(1, &mut at_1, &mut [0.0; 2]);
        assert_eq!((at_0[1], at_1[1]), (1.0, 0.0));
    }
}
