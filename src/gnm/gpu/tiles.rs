//! Coefficients and eyes of a tile of instances, as `gnm_blend.wgsl` reads them.

use crate::gnm::pose::GnmPose;

/// The tile sizes that the shader is compiled for.
pub(super) const TILE_SIZES: [usize; 3] = [1, 4, 8];

/// How N instances and E coefficients fall into tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TileShape {
    pub(super) instance_count: usize,
    pub(super) coefficient_count: usize,
    /// Instances of a tile: one of [`TILE_SIZES`].
    pub(super) tile_size: usize,
}

impl TileShape {
    pub(super) fn new(instance_count: usize, coefficient_count: usize) -> TileShape {
        let [one, few, many] = TILE_SIZES;
        let tile_size = match instance_count {
            0..=1 => one,
            n if n <= few => few,
            _ => many,
        };
        TileShape { instance_count, coefficient_count, tile_size }
    }

    pub(super) fn tile_count(&self) -> usize {
        self.instance_count.div_ceil(self.tile_size)
    }

    /// Groups of 32 coefficients.
    pub(super) fn group_count(&self) -> usize {
        self.coefficient_count.div_ceil(32)
    }

    /// vec4s from one tile to the next: quaternions, masks, and a row for every coefficient.
    pub(super) fn stride(&self) -> usize {
        2 * self.tile_size + self.group_count().div_ceil(2) + (self.coefficient_count * self.tile_size).div_ceil(4)
    }
}

/// Which coefficients are moved, which tiles the device has not seen yet, and memory to pack them in.
#[derive(Debug)]
pub(super) struct Tiles {
    shape: TileShape,
    /// Bit `c % 32` of word `c / 32` where a coefficient is not zero, (N, ceil(E / 32)).
    moved: Vec<u32>,
    dirty: Vec<bool>,
    words: Vec<u32>,
}

impl Tiles {
    pub(super) fn new(shape: TileShape) -> Tiles {
        Tiles {
            shape,
            moved: vec![0; shape.instance_count * shape.group_count()],
            dirty: vec![false; shape.tile_count()],
            words: Vec::with_capacity(4 * shape.stride()),
        }
    }

    pub(super) fn shape(&self) -> TileShape {
        self.shape
    }

    /// Takes note of one instance's new coefficients or eyes.
    pub(super) fn mark(&mut self, instance: usize, pose: &GnmPose) {
        let groups = self.shape.group_count();
        let moved = &mut self.moved[instance * groups..][..groups];
        for (word, run) in moved.iter_mut().zip(pose.coefficients().chunks(32)) {
            *word = run.iter().rev().fold(0, |mask, &c| mask << 1 | u32::from(c != 0.0));
        }
        self.dirty[instance / self.shape.tile_size] = true;
    }

    pub(super) fn any_dirty(&self) -> bool {
        self.dirty.contains(&true)
    }

    /// Hands every dirty tile to `write`, its index and its words, and takes it as clean.
    pub(super) fn take_dirty(&mut self, poses: &[GnmPose], mut write: impl FnMut(usize, &[u32])) {
        for tile in 0..self.dirty.len() {
            if std::mem::take(&mut self.dirty[tile]) {
                write(tile, self.pack(tile, poses));
            }
        }
    }

    /// The words of one tile: as many as the moved coefficients need, rounded up to a vec4.
    pub(super) fn pack(&mut self, tile: usize, poses: &[GnmPose]) -> &[u32] {
        self.words.clear();
        match self.shape.tile_size {
            1 => self.pack_sized::<1>(tile, poses),
            4 => self.pack_sized::<4>(tile, poses),
            _ => self.pack_sized::<8>(tile, poses),
        }
        &self.words
    }

    fn pack_sized<const SIZE: usize>(&mut self, tile: usize, poses: &[GnmPose]) {
        // The last tile is filled up with the last instance; the shader writes nothing for those.
        let member: [usize; SIZE] = std::array::from_fn(|i| (tile * SIZE + i).min(poses.len() - 1));
        let eyes = member.iter().flat_map(|&m| poses[m].eye_rotations()).flatten();
        self.words.extend(eyes.map(f32::to_bits));

        let groups = self.shape.group_count();
        let mut before = 0;
        for group in 0..groups {
            let mask = member.iter().fold(0, |mask, &m| mask | self.moved[m * groups + group]);
            self.words.extend([mask, before]);
            before += mask.count_ones();
        }
        let rows = self.words.len() - 2 * groups;
        self.pad();

        let coefficients = member.map(|m| &poses[m].coefficients()[..self.shape.coefficient_count]);
        for group in 0..groups {
            let mut mask = self.words[rows + 2 * group];
            while mask != 0 {
                let c = 32 * group + mask.trailing_zeros() as usize;
                self.words.extend(coefficients.map(|of| of[c].to_bits()));
                mask &= mask - 1;
            }
        }
        self.pad();
    }

    fn pad(&mut self) {
        self.words.resize(self.words.len().next_multiple_of(4), 0);
    }
}
