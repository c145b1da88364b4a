//! Device plumbing that knows no rig: composed shaders, buffers, shared stages, the limit planner, and a device for tests and the command line.

pub mod bounds;
mod buffers;
mod dirty;
#[cfg(not(target_arch = "wasm32"))]
pub mod headless;
pub mod limits;
pub mod normals;
pub mod shaders;
pub mod skinning;
pub mod sparse;
pub mod vertices;

#[cfg(feature = "picture")]
pub(crate) use buffers::visible_layout;
pub(crate) use buffers::{bind_group, bind_group_layout, storage_buffer, uniform_buffer};
pub use dirty::Upload;

/// The host's device and queue. They stay the host's: nothing here submits, polls or reads back.
#[derive(Debug, Clone, Copy)]
pub struct GpuContext<'a> {
    /// Where buffers and pipelines are made.
    pub device: &'a wgpu::Device,
    /// Where static data is written when something is created; the writes land before the host's next submit.
    pub queue: &'a wgpu::Queue,
}

/// The usages of every buffer that a host may draw from: positions, normals, tangents.
pub const VERTEX_USAGES: wgpu::BufferUsages = wgpu::BufferUsages::VERTEX
    .union(wgpu::BufferUsages::STORAGE)
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);
