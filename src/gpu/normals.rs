//! The host side of `normals.wgsl`: vertex normals from posed positions, for rigs that carry none.

use super::{
    GpuContext, VERTEX_USAGES, bind_group, bind_group_layout, limits, shaders, storage_buffer, uniform_buffer,
};
use crate::error::LimitError;
use crate::normals::Incidence;

/// Invocations per workgroup of `normals.wgsl`.
pub const WORKGROUP_SIZE: u32 = 64;

/// The stage's uniform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct NormalsParams {
    /// V.
    pub vertex_count: u32,
    /// N.
    pub instance_count: u32,
    /// Zero.
    pub reserved_0: u32,
    /// Zero.
    pub reserved_1: u32,
}

/// Topology and pipeline, shared by all backend objects of one model.
#[derive(Debug)]
pub struct NormalsStage {
    faces: wgpu::Buffer,
    incidence: wgpu::Buffer,
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
    vertex_count: usize,
}

impl NormalsStage {
    /// Uploads the topology and compiles the stage.
    ///
    /// # Shapes
    /// faces: (T, 3), incidence: of these faces
    #[must_use]
    pub fn new(gpu: &GpuContext, faces: &[[u32; 3]], incidence: &Incidence) -> NormalsStage {
        use wgpu::BufferBindingType::{Storage, Uniform};
        let (read, write) = (Storage { read_only: true }, Storage { read_only: false });
        let label = shaders::NORMALS.label();
        let layout = bind_group_layout(gpu.device, &label, &[read, read, read, write, Uniform]);
        NormalsStage {
            faces: storage_buffer(gpu, "rigeval.normals.faces", faces),
            incidence: storage_buffer(
                gpu,
                "rigeval.normals.incidence",
                &[&*incidence.offsets, &incidence.triangles].concat(),
            ),
            pipeline: shaders::NORMALS.pipeline(gpu.device, &[&layout], &[]),
            layout,
            vertex_count: incidence.offsets.len() - 1,
        }
    }
}

impl NormalsStage {
    /// Bytes on the device.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.faces.size() + self.incidence.size()
    }
}

/// The normals of N instances, and the stage bound to the positions it reads.
#[derive(Debug)]
pub struct VertexNormals {
    buffer: wgpu::Buffer,
    groups: Vec<wgpu::BindGroup>,
    grid: [u32; 2],
}

impl VertexNormals {
    /// Binds each of the position buffers, and fills the normals with those of the rest mesh.
    ///
    /// # Shapes
    /// rest: (V, 3), each position buffer: (N, V, 3)
    #[must_use]
    pub fn new(
        gpu: &GpuContext,
        stage: &NormalsStage,
        positions: &[wgpu::Buffer],
        rest: &[[f32; 3]],
        instances: usize,
    ) -> VertexNormals {
        let label = shaders::NORMALS.label();
        let buffer = instanced_vertices(gpu, "rigeval.normals.out", rest, instances);
        let params = NormalsParams {
            vertex_count: stage.vertex_count as u32,
            instance_count: instances as u32,
            reserved_0: 0,
            reserved_1: 0,
        };
        let params = uniform_buffer(gpu, "rigeval.normals.params", &params);
        let group =
            |p| bind_group(gpu.device, &label, &stage.layout, &[p, &stage.faces, &stage.incidence, &buffer, &params]);
        let groups = positions.iter().map(group).collect();
        let grid = [(stage.vertex_count as u32).div_ceil(WORKGROUP_SIZE), instances as u32];
        VertexNormals { buffer, groups, grid }
    }

    /// Records the dispatch over the position buffer of that index.
    pub fn encode(&self, stage: &NormalsStage, encoder: &mut wgpu::CommandEncoder, current: usize) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("rigeval.normals"),
            timestamp_writes: None,
        });
        pass.set_pipeline(&stage.pipeline);
        pass.set_bind_group(0, &self.groups[current], &[]);
        pass.dispatch_workgroups(self.grid[0], self.grid[1], 1);
    }

    /// The normals, (N, V, 3).
    #[must_use]
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }
}

/// A vertex buffer that holds the same (V, K) for each of N instances.
pub(crate) fn instanced_vertices<const K: usize>(
    gpu: &GpuContext,
    label: &str,
    vertices: &[[f32; K]],
    instances: usize,
) -> wgpu::Buffer {
    let bytes: &[u8] = bytemuck::cast_slice(vertices.as_flattened());
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: bytes.len() as u64 * instances as u64,
        usage: VERTEX_USAGES,
        mapped_at_creation: false,
    });
    for instance in 0..instances as u64 {
        gpu.queue.write_buffer(&buffer, instance * bytes.len() as u64, bytes);
    }
    buffer
}

/// Checks the stage against the device.
///
/// # Errors
/// The limit that the topology, the normals of N instances or the dispatch break.
pub fn check_limits(
    planner: &limits::Planner,
    vertex_count: u64,
    triangle_count: u64,
    instances: u64,
) -> Result<(), LimitError> {
    let what = shaders::NORMALS.label();
    planner.bindings(&what, 1, 4, 1)?;
    planner.workgroup(&what, WORKGROUP_SIZE, 0)?;
    planner.uniform(&format!("the parameters of {what}"), size_of::<NormalsParams>() as u64)?;
    planner.storage(&format!("the faces of {triangle_count} triangles"), limits::size_of(&[triangle_count, 12]))?;
    let incidence = (vertex_count + 1).saturating_add(limits::size_of(&[triangle_count, 3]));
    planner.storage(&format!("the incidence of {triangle_count} triangles"), limits::size_of(&[incidence, 4]))?;
    planner.storage(
        &format!("the normals of {instances} instances of {vertex_count} vertices"),
        limits::size_of(&[instances, vertex_count, 12]),
    )?;
    planner.dispatch(&what, vertex_count.div_ceil(WORKGROUP_SIZE.into()), instances)
}
