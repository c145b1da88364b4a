//! The host side of `bounds.wgsl`: exact boxes of posed vertices, measured on the device where a host asks for them.

use super::limits::{self, Planner};
use super::{GpuContext, bind_group, bind_group_layout, shaders, uniform_buffer};
use crate::backend::VertexView;
use crate::error::LimitError;
use std::ops::Range;

/// Invocations per workgroup of `bounds.wgsl`.
pub const WORKGROUP_SIZE: u32 = 256;

/// Bytes that a workgroup shares.
pub const WORKGROUP_BYTES: u32 = 2 * 16 * WORKGROUP_SIZE;

/// Vertices that a workgroup measures: eight for each invocation.
const RUN_LENGTH: u32 = 8 * WORKGROUP_SIZE;

/// Workgroups along x; more go along y. A device may have more, and the WebGPU default has no less.
const GRID_WIDTH: u64 = 65_535;

/// Bytes of a box: two `vec4<f32>`.
const BOX_BYTES: u64 = 32;

/// The uniform of one dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct BoundsParams {
    /// Items of an instance: vertices, or boxes of runs.
    pub item_count: u32,
    /// Words from one item to the next.
    pub item_stride: u32,
    /// Where in an item the point is that counts for the maximum.
    pub high_offset: u32,
    /// Items of a run.
    pub run_length: u32,
    /// Runs of an instance.
    pub run_count: u32,
    /// The first instance that is measured.
    pub first_instance: u32,
    /// The first one behind those.
    pub end_instance: u32,
    /// Zero.
    pub reserved: u32,
}

/// The compiled stage; one serves all rigs of a device.
#[derive(Debug)]
pub struct BoundsStage {
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
}

impl BoundsStage {
    /// Compiles the stage.
    #[must_use]
    pub fn new(gpu: &GpuContext) -> BoundsStage {
        use wgpu::BufferBindingType::{Storage, Uniform};
        let (read, write) = (Storage { read_only: true }, Storage { read_only: false });
        let layout = bind_group_layout(gpu.device, &shaders::BOUNDS.label(), &[read, write, Uniform]);
        BoundsStage { pipeline: shaders::BOUNDS.pipeline(gpu.device, &[&layout], &[]), layout }
    }
}

/// One dispatch: what it is bound to, and its uniform.
#[derive(Debug)]
struct Level {
    /// By the index of the position buffer, or one.
    groups: Vec<wgpu::BindGroup>,
    params: BoundsParams,
    uniform: wgpu::Buffer,
}

/// The exact boxes of the N instances of one backend object.
///
/// A box holds every vertex of its instance, and each of its faces touches one: the least and greatest f32 of each axis, -0 before +0. A
/// coordinate that is not a number is left out; an axis without any number has the empty interval, plus infinity to minus infinity.
/// For culling before anything is posed there is `RigBackend::bounds`, which needs no device and is never smaller.
#[derive(Debug)]
pub struct ExactBounds {
    boxes: wgpu::Buffer,
    positions: [wgpu::Buffer; 2],
    /// Runs of vertices, then, of instances that have several, their boxes.
    levels: Vec<Level>,
    pipeline: wgpu::ComputePipeline,
    instance_count: usize,
    measured: Range<usize>,
}

impl ExactBounds {
    /// Makes room for the boxes of a backend object's vertices; all zeros until they are measured.
    ///
    /// # Errors
    /// The device limit that would be broken, found before anything is made on the device.
    pub fn new(gpu: &GpuContext, stage: &BoundsStage, view: &VertexView) -> Result<ExactBounds, LimitError> {
        let (v, n) = (view.vertex_count as u64, view.instance_count as u64);
        check_limits(&Planner::new(&gpu.device.limits()), v, n)?;
        let label = shaders::BOUNDS.label();
        let buffer = |name: &str, boxes: u64, usage| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(&format!("{label}.{name}")),
                size: boxes * BOX_BYTES,
                usage: wgpu::BufferUsages::STORAGE | usage,
                mapped_at_creation: false,
            })
        };
        let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::VERTEX;
        let boxes = buffer("boxes", n, usage);
        let positions = view.positions.map(wgpu::Buffer::clone);
        let level = |inputs: &[wgpu::Buffer], out: &wgpu::Buffer, params: BoundsParams| {
            let uniform = uniform_buffer(gpu, &format!("{label}.params"), &params);
            let group = |input| bind_group(gpu.device, &label, &stage.layout, &[input, out, &uniform]);
            Level { groups: inputs.iter().map(group).collect(), params, uniform }
        };
        let runs = run_count(v) as u32;
        let of_vertices = BoundsParams {
            item_count: v as u32,
            item_stride: 3,
            high_offset: 0,
            run_length: RUN_LENGTH,
            run_count: runs,
            first_instance: 0,
            end_instance: n as u32,
            reserved: 0,
        };
        let of_runs = BoundsParams {
            item_count: runs,
            item_stride: 8,
            high_offset: 4,
            run_length: runs,
            run_count: 1,
            ..of_vertices
        };
        let levels = if runs == 1 {
            vec![level(&positions, &boxes, of_vertices)]
        } else {
            let run_boxes = buffer("runs", n * u64::from(runs), wgpu::BufferUsages::empty());
            vec![level(&positions, &run_boxes, of_vertices), level(std::slice::from_ref(&run_boxes), &boxes, of_runs)]
        };
        let pipeline = stage.pipeline.clone();
        let instance_count = view.instance_count;
        Ok(ExactBounds { boxes, positions, levels, pipeline, instance_count, measured: 0..instance_count })
    }

    /// Records the measuring of these instances' current positions: behind the rig's own `encode`, if that is to be seen. The boxes of other
    /// instances stay as they are.
    ///
    /// At most one call per object and submit: `Queue::write_buffer` lands before the whole submit, so a second call for other instances would
    /// overwrite what the first one recorded.
    ///
    /// # Panics
    /// Where the view is of another object than the one this was made for, or has fewer instances.
    pub fn encode(
        &mut self,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        view: &VertexView,
        instances: Range<usize>,
    ) {
        assert!(self.positions.iter().eq(view.positions), "bounds of a backend object, encoded for another one");
        let (count, Range { start, end }) = (self.instance_count, instances.clone());
        assert!(start <= end && end <= count, "instances {start}..{end} of a backend with {count} instances");
        if start == end {
            return;
        }
        if self.measured != instances {
            for level in &mut self.levels {
                level.params = BoundsParams { first_instance: start as u32, end_instance: end as u32, ..level.params };
                queue.write_buffer(&level.uniform, 0, bytemuck::bytes_of(&level.params));
            }
            self.measured = instances;
        }
        let label = shaders::BOUNDS.label();
        let descriptor = wgpu::ComputePassDescriptor { label: Some(&label), timestamp_writes: None };
        let mut pass = encoder.begin_compute_pass(&descriptor);
        pass.set_pipeline(&self.pipeline);
        for level in &self.levels {
            let [x, y] = grid((end - start) as u64 * u64::from(level.params.run_count));
            pass.set_bind_group(0, &level.groups[view.current % level.groups.len()], &[]);
            pass.dispatch_workgroups(x as u32, y as u32, 1);
        }
    }

    /// The boxes, (N, 2) `vec4<f32>`: least and greatest coordinates, with w = 1. Usages: `STORAGE`, `VERTEX`, `COPY_SRC`, `COPY_DST`.
    #[must_use]
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.boxes
    }
}

fn run_count(vertex_count: u64) -> u64 {
    vertex_count.div_ceil(RUN_LENGTH.into()).max(1)
}

/// As many workgroups, or a few more, in two dimensions.
fn grid(workgroups: u64) -> [u64; 2] {
    [workgroups.min(GRID_WIDTH), workgroups.div_ceil(GRID_WIDTH)]
}

/// Checks the stage against the device.
///
/// # Errors
/// The limit that the boxes of N instances of V vertices or the dispatch break.
pub fn check_limits(planner: &Planner, vertex_count: u64, instances: u64) -> Result<(), LimitError> {
    let (what, runs) = (shaders::BOUNDS.label(), run_count(vertex_count));
    planner.bindings(&what, 1, 2, 1)?;
    planner.workgroup(&what, WORKGROUP_SIZE, WORKGROUP_BYTES)?;
    planner.uniform(&format!("the parameters of {what}"), size_of::<BoundsParams>() as u64)?;
    planner.storage(&format!("the boxes of {instances} instances"), limits::size_of(&[instances, BOX_BYTES]))?;
    let workgroups = limits::size_of(&[instances, runs]);
    if runs > 1 {
        let bytes = limits::size_of(&[workgroups, BOX_BYTES]);
        planner.storage(&format!("the boxes of {instances} instances of {runs} runs of vertices"), bytes)?;
    }
    let [x, y] = grid(workgroups);
    planner.dispatch(&what, x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_limits_hold_whatever_positions_fit_in_a_binding() {
        let limits = wgpu::Limits::defaults();
        // 128 MiB of positions: one instance of most vertices, and ever more of fewer.
        for vertices in [11_184_810, 13_886, 2049, 2048, 717, 4] {
            let instances = (128 << 20) / (12 * vertices);
            assert_eq!(check_limits(&Planner::new(&limits), vertices, instances), Ok(()), "V = {vertices}");
        }
        assert_eq!(grid(65_535), [65_535, 1]);
        assert_eq!(grid(65_536), [65_535, 2]);
    }

    #[test]
    fn limits_exceeded_are_named() {
        type Shrink = fn(&mut wgpu::Limits);
        let cases: [(&str, u64, u64, Shrink); 6] = [
            ("max_storage_buffers_per_shader_stage", 3, 1, |l| l.max_storage_buffers_per_shader_stage = 1),
            ("max_compute_invocations_per_workgroup", 3, 1, |l| l.max_compute_invocations_per_workgroup = 255),
            ("max_compute_workgroup_storage_size", 3, 1, |l| l.max_compute_workgroup_storage_size = 8191),
            ("max_storage_buffer_binding_size", 1, (4 << 20) + 1, |_| ()),
            ("max_storage_buffer_binding_size", u64::MAX, u64::MAX, |_| ()),
            ("max_compute_workgroups_per_dimension", 3, 1000, |l| l.max_compute_workgroups_per_dimension = 999),
        ];
        for (limit, vertices, instances, shrink) in cases {
            let mut limits = wgpu::Limits::defaults();
            shrink(&mut limits);
            let error = check_limits(&Planner::new(&limits), vertices, instances).expect_err(limit);
            assert!(error.limit == limit && error.needed > error.available, "{limit}: {error}");
        }
    }
}
