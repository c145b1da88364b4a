//! The device of tests and command line: what goes wrong there is a value, and it comes within a bounded time.
#![cfg(feature = "gpu")]

mod common;

use rigeval::error::DeviceError;
use rigeval::gpu::headless::{AdapterChoice, Headless};
use std::time::Duration;

/// A device of the test's own: these tests break theirs.
fn own_device(test: &str) -> Option<Headless> {
    common::device(test)?;
    Some(Headless::new(AdapterChoice::Any).unwrap_or_else(|e| panic!("{e}")))
}

fn buffer(gpu: &Headless, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    gpu.device().create_buffer(&wgpu::BufferDescriptor { label: None, size: 64, usage, mapped_at_creation: false })
}

const READABLE: wgpu::BufferUsages = wgpu::BufferUsages::COPY_DST.union(wgpu::BufferUsages::COPY_SRC);

#[test]
fn device_has_the_default_limits_and_no_features() {
    let Some(gpu) = own_device("device_has_the_default_limits_and_no_features") else { return };
    assert_eq!(gpu.device().limits(), wgpu::Limits::defaults());
    assert_eq!(gpu.device().features(), wgpu::Features::empty());
    let facts = gpu.facts();
    assert!(!facts.name.is_empty() && !facts.backend.is_empty(), "{facts:?}");
}

#[test]
fn written_floats_are_read_back() {
    let Some(gpu) = own_device("written_floats_are_read_back") else { return };
    let buffer = buffer(&gpu, READABLE);
    let floats: Vec<f32> = (0..16).map(|i| i as f32 - 7.5).collect();
    gpu.queue().write_buffer(&buffer, 0, bytemuck::cast_slice(&floats));
    assert_eq!(gpu.read_f32(&buffer), Ok(floats));
}

#[test]
fn wrong_call_is_reported_as_a_value() {
    let Some(gpu) = own_device("wrong_call_is_reported_as_a_value") else { return };
    let unreadable = buffer(&gpu, wgpu::BufferUsages::STORAGE);
    let error = gpu.read_f32(&unreadable).expect_err("the buffer cannot be copied from");
    assert!(matches!(error, DeviceError::Reported { .. }), "{error}");
    assert!(matches!(gpu.check(), Err(DeviceError::Reported { .. })), "what was reported stays known");
}

#[test]
fn lost_device_is_a_value() {
    let Some(gpu) = own_device("lost_device_is_a_value") else { return };
    let gpu = gpu.with_timeout(Duration::from_secs(20));
    let buffer = buffer(&gpu, READABLE);
    gpu.device().destroy();
    assert!(gpu.read_f32(&buffer).is_err());
    assert!(gpu.wait().is_err());
}

#[test]
fn unfinished_work_times_out() {
    let Some(gpu) = own_device("unfinished_work_times_out") else { return };
    let gpu = gpu.with_timeout(Duration::from_nanos(1));
    const SPIN: &str = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1)
        fn spin() { for (var i = 0u; i < 20000000u; i++) { out[i & 15u] = out[(i + 1u) & 15u] * 3u + i; } }";
    let device = gpu.device();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SPIN.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let buffer = buffer(&gpu, READABLE | wgpu::BufferUsages::STORAGE);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
    });
    let mut encoder = gpu.encoder();
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(1, 1, 1);
    drop(pass);
    gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
    assert!(matches!(gpu.wait(), Err(DeviceError::Timeout { .. })));
    let gpu = gpu.with_timeout(Duration::from_secs(60));
    assert_eq!(gpu.wait(), Ok(()), "the device is well, it was only slow");
}
