//! What a host has changed and the device has not seen.

use std::ops::Range;

/// How much an upload sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Upload {
    /// Instances, or tiles of instances.
    pub items: u64,
    /// Bytes.
    pub bytes: u64,
}

/// One flag for each item of a buffer; neighbours are uploaded by one write.
#[derive(Debug)]
pub(super) struct Dirty {
    flags: Vec<bool>,
}

impl Dirty {
    pub(super) fn new(count: usize) -> Dirty {
        Dirty { flags: vec![false; count] }
    }

    pub(super) fn mark(&mut self, item: usize) {
        self.flags[item] = true;
    }

    pub(super) fn any(&self) -> bool {
        self.flags.contains(&true)
    }

    /// Hands every run of dirty items to `write`, which says how many bytes it sent, and takes them as clean.
    pub(super) fn take_runs(&mut self, mut write: impl FnMut(Range<usize>) -> u64) -> Upload {
        let mut upload = Upload::default();
        let mut item = 0;
        while let Some(skip) = self.flags[item..].iter().position(|dirty| *dirty) {
            let first = item + skip;
            let count = self.flags[first..].iter().take_while(|dirty| **dirty).count();
            item = first + count;
            self.flags[first..item].fill(false);
            upload.bytes += write(first..item);
            upload.items += count as u64;
        }
        upload
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_handed_over_once() {
        let mut dirty = Dirty::new(9);
        assert!(!dirty.any());
        [8, 2, 3, 0].into_iter().for_each(|item| dirty.mark(item));
        let mut runs = Vec::new();
        let mut take = |dirty: &mut Dirty| {
            dirty.take_runs(|run| {
                runs.push(run.clone());
                10 * run.len() as u64
            })
        };
        assert_eq!(take(&mut dirty), Upload { items: 4, bytes: 40 });
        assert_eq!(take(&mut dirty), Upload::default());
        assert_eq!(runs, [0..1, 2..4, 8..9]);
        assert!(!dirty.any());
    }
}
