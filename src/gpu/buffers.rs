//! The few shapes of buffers and bind groups that the stages need.

use super::GpuContext;

/// The smallest buffer that is made: an empty array still has to bind.
const MIN_BUFFER_BYTES: u64 = 16;

/// A buffer of the given contents, padded to the least size that binds.
fn filled_buffer(gpu: &GpuContext, label: &str, usage: wgpu::BufferUsages, contents: &[u8]) -> wgpu::Buffer {
    let size = (contents.len() as u64).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT).max(MIN_BUFFER_BYTES);
    let usage = usage | wgpu::BufferUsages::COPY_DST;
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size,
        usage,
        mapped_at_creation: false,
    });
    // Not mapped at creation: a device out of memory reports that to the host, where a failed mapping would panic.
    if !contents.is_empty() {
        gpu.queue.write_buffer(&buffer, 0, contents);
    }
    buffer
}

/// A read-only storage buffer of the given words.
pub(crate) fn storage_buffer<T: bytemuck::NoUninit>(gpu: &GpuContext, label: &str, contents: &[T]) -> wgpu::Buffer {
    filled_buffer(gpu, label, wgpu::BufferUsages::STORAGE, bytemuck::cast_slice(contents))
}

/// A uniform buffer of one struct.
pub(crate) fn uniform_buffer<T: bytemuck::NoUninit>(gpu: &GpuContext, label: &str, contents: &T) -> wgpu::Buffer {
    filled_buffer(gpu, label, wgpu::BufferUsages::UNIFORM, bytemuck::bytes_of(contents))
}

/// A compute layout whose bindings are numbered in the order of `types`.
pub(crate) fn bind_group_layout(
    device: &wgpu::Device,
    label: &str,
    types: &[wgpu::BufferBindingType],
) -> wgpu::BindGroupLayout {
    visible_layout(device, label, wgpu::ShaderStages::COMPUTE, types)
}

/// The same for other stages.
pub(crate) fn visible_layout(
    device: &wgpu::Device,
    label: &str,
    visibility: wgpu::ShaderStages,
    types: &[wgpu::BufferBindingType],
) -> wgpu::BindGroupLayout {
    let entry = |(binding, &ty): (usize, &wgpu::BufferBindingType)| wgpu::BindGroupLayoutEntry {
        binding: binding as u32,
        visibility,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let entries: Vec<_> = types.iter().enumerate().map(entry).collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries })
}

/// A bind group of whole buffers, numbered in order.
pub(crate) fn bind_group(
    device: &wgpu::Device,
    label: &str,
    layout: &wgpu::BindGroupLayout,
    buffers: &[&wgpu::Buffer],
) -> wgpu::BindGroup {
    let numbered = buffers.iter().enumerate();
    let entries: Vec<_> = numbered
        .map(|(binding, b)| wgpu::BindGroupEntry { binding: binding as u32, resource: b.as_entire_binding() })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some(label), layout, entries: &entries })
}
