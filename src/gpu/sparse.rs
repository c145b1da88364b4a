//! The host side of `sparse_common.wgsl`: bind group 2 of the stages of rigs with sparse deltas.

use super::dirty::{Dirty, Upload};
use super::{GpuContext, bind_group, bind_group_layout, limits, storage_buffer, uniform_buffer};
use crate::error::LimitError;
use crate::sparse::TargetWeights;
use crate::sparse::slices::{Slice, SparseSlices, WORKGROUP};

/// The bind group that `sparse_common.wgsl` owns.
pub const GROUP: u32 = 2;

/// How many storage buffers the group binds.
pub const STORAGE_BUFFERS: u32 = 3;

/// How many uniform buffers the group binds.
pub const UNIFORM_BUFFERS: u32 = 1;

/// Invocations of a workgroup that gathers.
pub const WORKGROUP_SIZE: u32 = WORKGROUP as u32;

/// The tile sizes that the shader is compiled for.
pub const TILE_SIZES: [usize; 2] = [1, 4];

/// The uniform of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct SparseParams {
    /// vec4s from one tile of weights to the next.
    pub tile_stride: u32,
    /// Zero.
    pub reserved_0: u32,
    /// Zero.
    pub reserved_1: u32,
    /// Zero.
    pub reserved_2: u32,
}

/// How the weights of N instances lie on the device: in tiles of instances that read each entry once.
///
/// A tile is the mask of the targets that any of its instances moves, then the coefficients, (targets, tile size).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeightShape {
    /// N.
    pub instance_count: usize,
    /// Targets of the mesh.
    pub target_count: usize,
    /// Instances of a tile: one of [`TILE_SIZES`].
    pub tile_size: usize,
}

impl WeightShape {
    /// The shape with the tile size that suits N.
    #[must_use]
    pub fn new(instance_count: usize, target_count: usize) -> WeightShape {
        WeightShape { instance_count, target_count, tile_size: TILE_SIZES[usize::from(instance_count > 1)] }
    }

    /// Tiles, the last one filled up.
    #[must_use]
    pub fn tile_count(&self) -> usize {
        self.instance_count.div_ceil(self.tile_size)
    }

    /// Words of a mask: whole vec4s, and at least one.
    #[must_use]
    pub fn mask_words(&self) -> usize {
        mask_words(self.target_count)
    }

    /// Words from one tile to the next.
    #[must_use]
    pub fn stride_words(&self) -> usize {
        self.mask_words() + (self.target_count * self.tile_size).next_multiple_of(4)
    }

    /// The override constants that the shader is compiled with.
    #[must_use]
    pub fn constants(&self) -> [(&'static str, f64); 2] {
        [("sparse_tile_size", self.tile_size as f64), ("sparse_mask_words", self.mask_words() as f64)]
    }
}

fn mask_words(target_count: usize) -> usize {
    target_count.div_ceil(32).next_multiple_of(4).max(4)
}

/// Workgroup memory of the gather: the mask, and a vec4 for each invocation.
#[must_use]
pub fn workgroup_bytes(target_count: usize) -> u32 {
    4 * mask_words(target_count) as u32 + 16 * WORKGROUP_SIZE
}

/// Packed rows on the device; all backend objects of one model share them.
#[derive(Debug)]
pub struct SparseTable {
    slices: wgpu::Buffer,
    entries: wgpu::Buffer,
    layout: wgpu::BindGroupLayout,
    slice_count: u32,
}

impl SparseTable {
    /// Uploads rows.
    #[must_use]
    pub fn new(gpu: &GpuContext, slices: &SparseSlices) -> SparseTable {
        use wgpu::BufferBindingType::{Storage, Uniform};
        let read = Storage { read_only: true };
        SparseTable {
            slices: storage_buffer(gpu, "rigeval.sparse_common.slices", &slices.slices),
            entries: storage_buffer(gpu, "rigeval.sparse_common.entries", &slices.words),
            layout: bind_group_layout(gpu.device, "rigeval.sparse_common", &[read, read, read, Uniform]),
            slice_count: slices.slices.len() as u32,
        }
    }

    /// Bytes on the device.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.slices.size() + self.entries.size()
    }

    /// The layout of the group, for pipelines.
    #[must_use]
    pub fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
    }

    /// Workgroups along x.
    #[must_use]
    pub fn slice_count(&self) -> u32 {
        self.slice_count
    }
}

/// The weights of N instances on the device.
#[derive(Debug)]
pub struct SparseWeights {
    shape: WeightShape,
    /// What the device has, or will have once the dirty tiles are uploaded.
    words: Vec<u32>,
    dirty: Dirty,
    buffer: wgpu::Buffer,
    group: wgpu::BindGroup,
}

impl SparseWeights {
    /// Uploads the weights that every instance starts with.
    #[must_use]
    pub fn new(gpu: &GpuContext, table: &SparseTable, shape: WeightShape, first: &TargetWeights) -> SparseWeights {
        let mut words = vec![0; shape.tile_count() * shape.stride_words()];
        (0..shape.instance_count).for_each(|instance| {
            write_instance(&shape, &mut words, instance, first);
        });
        let buffer = storage_buffer(gpu, "rigeval.sparse_common.weights", &words);
        let params = SparseParams {
            tile_stride: (shape.stride_words() / 4) as u32,
            reserved_0: 0,
            reserved_1: 0,
            reserved_2: 0,
        };
        let params = uniform_buffer(gpu, "rigeval.sparse_common.params", &params);
        let buffers = [&table.slices, &table.entries, &buffer, &params];
        let group = bind_group(gpu.device, "rigeval.sparse_common", &table.layout, &buffers);
        SparseWeights { shape, words, dirty: Dirty::new(shape.tile_count()), buffer, group }
    }

    /// Takes one instance's weights; those that the device has already are not sent again.
    pub fn set(&mut self, instance: usize, weights: &TargetWeights) {
        if write_instance(&self.shape, &mut self.words, instance, weights) {
            self.dirty.mark(instance / self.shape.tile_size);
        }
    }

    /// Whether there is anything to upload.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        self.dirty.any()
    }

    /// Sends the tiles that changed, one write for each run of them.
    pub fn upload(&mut self, queue: &wgpu::Queue) -> Upload {
        let (stride, words, buffer) = (self.shape.stride_words(), &self.words, &self.buffer);
        self.dirty.take_runs(|tiles| {
            let run: &[u8] = bytemuck::cast_slice(&words[tiles.start * stride..tiles.end * stride]);
            queue.write_buffer(buffer, 4 * (tiles.start * stride) as u64, run);
            run.len() as u64
        })
    }

    /// The group to bind at [`GROUP`].
    #[must_use]
    pub fn group(&self) -> &wgpu::BindGroup {
        &self.group
    }

    /// Tiles and their shape: workgroups along y.
    #[must_use]
    pub fn shape(&self) -> WeightShape {
        self.shape
    }

    /// Bytes on the device.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.buffer.size()
    }
}

/// Puts one instance into its tile and says whether a coefficient changed.
fn write_instance(shape: &WeightShape, words: &mut [u32], instance: usize, weights: &TargetWeights) -> bool {
    let (tile, member) = (instance / shape.tile_size, instance % shape.tile_size);
    let (mask, coefficients) =
        words[tile * shape.stride_words()..][..shape.stride_words()].split_at_mut(shape.mask_words());
    let mut changed = false;
    for (row, c) in coefficients.chunks_exact_mut(shape.tile_size).zip(&weights.coefficients) {
        changed |= row[member] != c.to_bits();
        row[member] = c.to_bits();
    }
    if changed {
        for (word, rows) in mask.iter_mut().zip(coefficients.chunks(32 * shape.tile_size)) {
            let is_active = |row: &[u32]| row.iter().any(|bits| f32::from_bits(*bits) != 0.0);
            let rows = rows.chunks(shape.tile_size);
            *word = rows.rev().fold(0, |bits, row| bits << 1 | u32::from(is_active(row)));
        }
    }
    changed
}

/// Checks the group's buffers against the device.
///
/// # Errors
/// The limit that the rows, the weights of N instances or the workgroup break.
pub fn check_limits(
    planner: &limits::Planner,
    slice_count: u64,
    word_count: u64,
    target_count: usize,
    instances: u64,
) -> Result<(), LimitError> {
    let slices = limits::size_of(&[slice_count, size_of::<Slice>() as u64]);
    planner.storage(&format!("the table of {slice_count} slices of deltas"), slices)?;
    planner.storage(&format!("the deltas of {target_count} targets"), limits::size_of(&[word_count, 4]))?;
    let shape = WeightShape::new(usize::try_from(instances).unwrap_or(usize::MAX), target_count);
    let tiles = limits::size_of(&[shape.tile_count() as u64, shape.stride_words() as u64, 4]);
    planner.storage(&format!("the weights of {instances} instances and {target_count} targets"), tiles)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(coefficients: &[f32]) -> TargetWeights {
        TargetWeights { coefficients: coefficients.to_vec(), mask: Vec::new() }
    }

    #[test]
    fn shape_counts_tiles_and_whole_vec4s() {
        let sizes = [(1, 1, 1), (2, 4, 1), (4, 4, 1), (5, 4, 2), (512, 4, 128)];
        for (instances, tile_size, tiles) in sizes {
            let shape = WeightShape::new(instances, 820);
            assert_eq!((shape.tile_size, shape.tile_count()), (tile_size, tiles), "N = {instances}");
            // 26 words of mask, rounded up to seven vec4s.
            assert_eq!(shape.stride_words(), 28 + 820 * tile_size);
        }
        assert_eq!(WeightShape::new(1, 0).stride_words(), 4);
        assert_eq!(WeightShape::new(1, 6).stride_words(), 4 + 8);
        assert_eq!(workgroup_bytes(crate::sparse::MAX_TARGETS), 8192 + 4096);
    }

    #[test]
    fn tile_mask_is_the_union_of_its_instances() {
        let shape = WeightShape::new(3, 40);
        let mut words = vec![0; shape.stride_words()];
        let mut one = [0.0; 40];
        one[2] = 0.5;
        // A negative zero moves nothing.
        one[3] = -0.0;
        let mut other = [0.0; 40];
        other[33] = -2.0;
        assert!(write_instance(&shape, &mut words, 0, &weights(&one)));
        assert!(write_instance(&shape, &mut words, 2, &weights(&other)));
        assert!(!write_instance(&shape, &mut words, 2, &weights(&other)));
        assert_eq!(words[..4], [1 << 2, 1 << 1, 0, 0]);
        let row = |target: usize| [0, 1, 2, 3].map(|m| f32::from_bits(words[4 + 4 * target + m]));
        assert_eq!((row(2), row(33)), ([0.5, 0.0, 0.0, 0.0], [0.0, 0.0, -2.0, 0.0]));
        assert!(write_instance(&shape, &mut words, 0, &weights(&[0.0; 40])));
        assert_eq!(words[..4], [0, 1 << 1, 0, 0]);
    }

    #[test]
    fn tile_of_one_has_coefficients_without_gaps() {
        let shape = WeightShape::new(1, 5);
        let mut words = vec![0; shape.stride_words()];
        assert!(write_instance(&shape, &mut words, 0, &weights(&[0.0, 1.0, 0.0, 0.0, 2.0])));
        assert_eq!(words[0], 0b10010);
        assert_eq!(
            words[4..].iter().map(|w| f32::from_bits(*w)).collect::<Vec<_>>(),
            [0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0]
        );
    }
}
