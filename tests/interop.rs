//! What a host may do with the buffers of `vertices()` in the frame that poses them: draw from them and read them as storage.
#![cfg(feature = "gpu")]

mod common;

use common::{device, vertices};
use rigeval::backend::RigBackend;
use rigeval::gnm::gpu::{GnmBackend, GnmDeviceModel, GnmOptions};
use rigeval::gnm::pack::GnmPack;
use rigeval::gpu::VERTEX_USAGES;
use rigeval::wgpu;
use std::sync::Arc;

const WIDTH: u32 = 64;

/// One pixel a vertex, which reads its position twice: as an attribute, and from the same buffer as storage. All ones where they differ.
const SHADER: &str = "
@group(0) @binding(0) var<storage, read> positions: array<f32>;

struct Point {
    @builtin(position) clip: vec4<f32>,
    @location(0) @interpolate(flat) height: f32,
    @location(1) @interpolate(flat) differs: u32,
}

override rows: f32;

@vertex
fn vs_both(@location(0) position: vec3<f32>, @builtin(vertex_index) v: u32) -> Point {
    let stored = vec3<f32>(positions[3u * v], positions[3u * v + 1u], positions[3u * v + 2u]);
    let pixel = vec2<f32>(f32(v % 64u), f32(v / 64u)) + 0.5;
    var out: Point;
    out.clip = vec4<f32>((pixel / vec2<f32>(64.0, rows) * 2.0 - 1.0) * vec2<f32>(1.0, -1.0), 0.5, 1.0);
    out.height = position.y;
    out.differs = select(1u, 0u, all(stored == position));
    return out;
}

@fragment
fn fs_both(in: Point) -> @location(0) u32 {
    return select(bitcast<u32>(in.height), 0xffffffffu, in.differs != 0u);
}
";

#[test]
fn vertices_serve_as_attributes_and_as_storage_in_the_frame_that_poses_them() {
    let test = "vertices_serve_as_attributes_and_as_storage_in_the_frame_that_poses_them";
    let Some(gpu) = device(test) else { return };
    let pack = GnmPack::read(include_bytes!("../packs/gnm_sample.aosrig").to_vec()).unwrap();
    let model = Arc::new(GnmDeviceModel::new(&gpu.context(), Arc::new(pack)).unwrap());
    let options = GnmOptions { normals: true, previous_positions: true, ..GnmOptions::default() };
    let mut rig = GnmBackend::new(&gpu.context(), &model, 1, options).unwrap();
    let view = rig.vertices();
    for buffer in view.positions.into_iter().chain(view.normals) {
        assert!(buffer.usage().contains(VERTEX_USAGES), "{:?}", buffer.usage());
    }
    let rest = vertices(gpu, view.current_positions());

    let rows = (view.vertex_count as u32).div_ceil(WIDTH);
    let target = gpu.device().create_texture(&wgpu::TextureDescriptor {
        label: Some("test.heights"),
        size: wgpu::Extent3d { width: WIDTH, height: rows, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::R32Uint,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let pipeline = pipeline(gpu.device(), rows);

    rig.set_controls(0, &vec![0.4; rig.info().control_names.len()]).unwrap();
    let mut encoder = gpu.encoder();
    rig.encode(gpu.queue(), &mut encoder);
    let view = rig.vertices();
    let group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: view.current_positions().as_entire_binding() }],
    });
    let texture = target.create_view(&wgpu::TextureViewDescriptor::default());
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &texture,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations::default(),
        })],
        ..Default::default()
    });
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.set_vertex_buffer(0, view.current_positions().slice(view.instance_offset_bytes(0)..));
    pass.draw(0..view.vertex_count as u32, 0..1);
    drop(pass);
    gpu.submit(encoder).unwrap();

    let drawn: Vec<f32> = bytemuck::pod_collect_to_vec(&gpu.read_pixels(&target).unwrap());
    let posed = vertices(gpu, view.current_positions());
    assert_ne!(posed, rest, "nothing was posed");
    for (vertex, (drawn, posed)) in drawn.iter().zip(&posed).enumerate() {
        assert_eq!(drawn.to_bits(), posed[1].to_bits(), "vertex {vertex}: drawn {drawn}, posed {}", posed[1]);
    }
}

fn pipeline(device: &wgpu::Device, rows: u32) -> wgpu::RenderPipeline {
    let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("test.both"),
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("test.both"),
        layout: None,
        vertex: wgpu::VertexState {
            module: &shader,
            entry_point: Some("vs_both"),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &[("rows", f64::from(rows))],
                ..Default::default()
            },
            buffers: &[Some(wgpu::VertexBufferLayout {
                array_stride: 12,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &wgpu::vertex_attr_array![0 => Float32x3],
            })],
        },
        primitive: wgpu::PrimitiveState { topology: wgpu::PrimitiveTopology::PointList, ..Default::default() },
        depth_stencil: None,
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module: &shader,
            entry_point: Some("fs_both"),
            compilation_options: Default::default(),
            targets: &[Some(wgpu::TextureFormat::R32Uint.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}
