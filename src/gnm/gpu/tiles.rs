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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_takes_the_least_tile_that_holds_all() {
        let sizes = [(1, 1, 1), (2, 4, 1), (4, 4, 1), (5, 8, 1), (8, 8, 1), (9, 8, 2), (64, 8, 8), (512, 8, 64)];
        for (instances, tile_size, tile_count) in sizes {
            let shape = TileShape::new(instances, 383);
            assert_eq!((shape.tile_size, shape.tile_count()), (tile_size, tile_count), "N = {instances}");
        }
        // Two quaternions an instance, twelve pairs of mask and count, a row for each of 383 coefficients.
        assert_eq!(TileShape::new(8, 383).stride(), 16 + 6 + 766);
        assert_eq!(TileShape::new(1, 383).stride(), 2 + 6 + 96);
    }

    fn poses(shape: TileShape, set: &[(usize, usize, f32)]) -> (Tiles, Vec<GnmPose>) {
        let mut tiles = Tiles::new(shape);
        let mut coefficients = vec![vec![0.0; shape.coefficient_count]; shape.instance_count];
        set.iter().for_each(|&(instance, c, value)| coefficients[instance][c] = value);
        let poses: Vec<GnmPose> = coefficients.into_iter().map(GnmPose::of_coefficients).collect();
        poses.iter().enumerate().for_each(|(instance, pose)| tiles.mark(instance, pose));
        (tiles, poses)
    }

    #[test]
    fn tile_holds_the_union_of_what_its_instances_move() {
        let shape = TileShape::new(3, 70);
        // A negative zero moves nothing.
        let (mut tiles, poses) = poses(shape, &[(0, 1, 0.5), (2, 69, -2.0), (1, 33, 3.0), (1, 34, -0.0), (2, 1, 4.0)]);
        let words = tiles.pack(0, &poses).to_vec();
        let (eyes, rest) = words.split_at(4 * 2 * 4);
        assert_eq!(eyes.chunks(4).map(|q| f32::from_bits(q[3])).collect::<Vec<_>>(), [1.0; 8]);
        let (masks, rows) = rest.split_at(8);
        assert_eq!(masks, [1 << 1, 0, 1 << 1, 1, 1 << 5, 2, 0, 0], "pairs of mask and count before, padded to a vec4");
        let rows: Vec<f32> = rows.iter().map(|w| f32::from_bits(*w)).collect();
        // The fourth member repeats the last instance.
        assert_eq!(rows, [0.5, 0.0, 4.0, 4.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, -2.0, -2.0]);
    }

    #[test]
    fn tile_of_one_packs_coefficients_without_gaps() {
        let (mut tiles, poses) = poses(TileShape::new(1, 40), &[(0, 3, 1.0), (0, 31, 2.0), (0, 32, 3.0)]);
        let words = tiles.pack(0, &poses);
        assert_eq!(words[8..12], [1 << 3 | 1 << 31, 0, 1, 2]);
        assert_eq!(words[12..].iter().map(|w| f32::from_bits(*w)).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 0.0]);
    }

    #[test]
    fn dirty_tiles_are_handed_over_once() {
        let (mut tiles, poses) = poses(TileShape::new(20, 5), &[]);
        tiles.take_dirty(&poses, |_, _| ());
        assert!(!tiles.any_dirty());
        tiles.mark(19, &poses[19]);
        let mut seen = Vec::new();
        tiles.take_dirty(&poses, |tile, _| seen.push(tile));
        tiles.take_dirty(&poses, |tile, _| seen.push(tile));
        assert_eq!(seen, [2]);
    }
}
