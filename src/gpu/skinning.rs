//! The host side of `lbs_common.wgsl`: bind group 1 of every rig's stage.

use super::dirty::{Dirty, Upload};
use super::{GpuContext, bind_group, bind_group_layout, limits, storage_buffer, uniform_buffer};
use crate::error::LimitError;
use crate::lbs::Influences;
use crate::math::Rows;

/// The bind group that `lbs_common.wgsl` owns.
pub const GROUP: u32 = 1;

/// How many storage buffers the group binds.
pub const STORAGE_BUFFERS: u32 = 2;

/// How many uniform buffers the group binds.
pub const UNIFORM_BUFFERS: u32 = 1;

/// The uniform of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct LbsParams {
    /// Rows of the influence table.
    pub vertex_count: u32,
    /// J.
    pub joint_count: u32,
    /// N.
    pub instance_count: u32,
    /// Zero.
    pub reserved: u32,
}

/// The words of an influence table as the shader reads it: V + 1 offsets, then joint and weight bits of every influence.
fn influence_words(influences: &Influences) -> Vec<u32> {
    [&influences.offsets, bytemuck::cast_slice(&influences.entries)].concat()
}

/// An influence table on the device; all backend objects of one model share it.
#[derive(Debug)]
pub struct InfluenceTable {
    buffer: wgpu::Buffer,
    layout: wgpu::BindGroupLayout,
    vertex_count: u32,
}

impl InfluenceTable {
    /// Uploads a table in the order of the stage's vertices.
    #[must_use]
    pub fn new(gpu: &GpuContext, influences: &Influences) -> InfluenceTable {
        use wgpu::BufferBindingType::{Storage, Uniform};
        let read = Storage { read_only: true };
        InfluenceTable {
            buffer: storage_buffer(gpu, "rigeval.lbs_common.influences", &influence_words(influences)),
            layout: bind_group_layout(gpu.device, "rigeval.lbs_common", &[read, read, Uniform]),
            vertex_count: influences.vertex_count() as u32,
        }
    }

    /// Bytes on the device.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.buffer.size()
    }

    /// The layout of the group, for pipelines.
    #[must_use]
    pub fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
    }
}

/// The skin rows of N instances on the device.
#[derive(Debug)]
pub struct SkinRows {
    buffer: wgpu::Buffer,
    group: wgpu::BindGroup,
    row_count: usize,
    /// What the device has, or will have once the dirty instances are uploaded.
    rows: Vec<Rows>,
    dirty: Dirty,
}

impl SkinRows {
    /// Uploads the rows that every instance starts with.
    ///
    /// # Shapes
    /// rest: (J)
    #[must_use]
    pub fn new(gpu: &GpuContext, table: &InfluenceTable, rest: &[Rows], instances: usize) -> SkinRows {
        let rows = rest.repeat(instances);
        let buffer = storage_buffer(gpu, "rigeval.lbs_common.skin_rows", &rows);
        let params = LbsParams {
            vertex_count: table.vertex_count,
            joint_count: rest.len() as u32,
            instance_count: instances as u32,
            reserved: 0,
        };
        let params = uniform_buffer(gpu, "rigeval.lbs_common.params", &params);
        let group = bind_group(gpu.device, "rigeval.lbs_common", &table.layout, &[&table.buffer, &buffer, &params]);
        SkinRows { buffer, group, row_count: rest.len(), rows, dirty: Dirty::new(instances) }
    }

    /// Takes one instance's rows; those that the device has already are not sent again.
    ///
    /// # Shapes
    /// rows: (J)
    pub fn set(&mut self, instance: usize, rows: &[Rows]) {
        let held = &mut self.rows[instance * self.row_count..][..self.row_count];
        if held != rows {
            held.copy_from_slice(rows);
            self.dirty.mark(instance);
        }
    }

    /// Whether there is anything to upload.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        self.dirty.any()
    }

    /// Sends the rows of the instances that changed, one write for each run of them.
    pub fn upload(&mut self, queue: &wgpu::Queue) -> Upload {
        let (buffer, rows, row_count) = (&self.buffer, &self.rows, self.row_count);
        self.dirty.take_runs(|run| {
            let bytes: &[u8] = bytemuck::cast_slice(&rows[run.start * row_count..run.end * row_count]);
            queue.write_buffer(buffer, run.start as u64 * bytes_per_instance(row_count), bytes);
            bytes.len() as u64
        })
    }

    /// Bytes on the device.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.buffer.size()
    }

    /// The group to bind at [`GROUP`].
    #[must_use]
    pub fn group(&self) -> &wgpu::BindGroup {
        &self.group
    }
}

/// The bytes of one instance's skin rows.
#[must_use]
pub fn bytes_per_instance(joint_count: usize) -> u64 {
    limits::size_of(&[joint_count as u64, size_of::<Rows>() as u64])
}

/// Checks the group's buffers against the device.
///
/// # Errors
/// The limit that the influence table or the skin rows of N instances break.
pub fn check_limits(
    planner: &limits::Planner,
    vertex_count: u64,
    influence_count: u64,
    joint_count: usize,
    instances: u64,
) -> Result<(), LimitError> {
    let words = (vertex_count + 1).saturating_add(limits::size_of(&[influence_count, 2]));
    planner.storage(
        &format!("the influence table of {vertex_count} vertices and {influence_count} influences"),
        limits::size_of(&[words, 4]),
    )?;
    planner.storage(
        &format!("the skin rows of {instances} instances and {joint_count} joints"),
        limits::size_of(&[instances, bytes_per_instance(joint_count)]),
    )
}
