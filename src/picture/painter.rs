//! The pipelines, and the one pass that paints a picture.

use super::scene::{Scene, ViewUniform};
use super::subject::Subject;
use crate::backend::VertexView;
use crate::gpu::{GpuContext, bind_group, uniform_buffer, visible_layout};
use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, Mat4};

/// The WGSL of every picture.
pub const SHADER: &str = include_str!("../../shaders/picture.wgsl");

const LABEL: &str = "rigeval.picture";
const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// The one count beside 1 that every WebGPU device has.
const SAMPLES: u32 = 4;

/// How a shot is painted.
#[derive(Debug, Clone, Copy)]
pub enum Mode<'a> {
    /// Lit, with the colours of the parts; eyes with iris and pupil.
    Shaded,
    /// Unit normals as colours: -1..1 is 0..1 of red, green and blue.
    Normals,
    /// Every triangle's edges over a plain surface.
    Wire,
    /// An error per vertex through [`error_color`](super::error_color).
    Error {
        /// (V) floats of this instance: see [`value_buffer`](super::value_buffer).
        values: &'a wgpu::Buffer,
        /// The error that the end of the scale stands for; above zero.
        range: f32,
    },
}

/// One instance of one rig in a picture.
#[derive(Debug, Clone, Copy)]
pub struct Shot<'a> {
    /// The mesh.
    pub subject: &'a Subject,
    /// The posed vertices: what [`RigBackend::vertices`](crate::backend::RigBackend::vertices) gives.
    pub vertices: VertexView<'a>,
    /// Which of its instances.
    pub instance: usize,
    /// Where it stands: turned, moved and scaled alike along all axes, such as to bring rigs of different units together.
    pub world_from_rig: Affine3A,
    /// How it is painted.
    pub mode: Mode<'a>,
}

impl<'a> Shot<'a> {
    /// The first instance, where its rig puts it.
    #[must_use]
    pub fn new(subject: &'a Subject, vertices: VertexView<'a>, mode: Mode<'a>) -> Shot<'a> {
        Shot { subject, vertices, instance: 0, world_from_rig: Affine3A::IDENTITY, mode }
    }
}

/// `Shot` of the shader.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ShotUniform {
    pub(super) world_from_rig: Mat4,
    pub(super) first_vertex: u32,
    pub(super) has_normals: u32,
    pub(super) range: f32,
    pub(super) pad: u32,
}

/// The samples and the depth of pictures of one size.
#[derive(Debug)]
pub struct Canvas {
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
    size: [u32; 2],
}

impl Canvas {
    /// For pictures of `[width, height]` pixels, at least 1 each; to be made anew when the size changes.
    #[must_use]
    pub fn new(gpu: &GpuContext, color_format: wgpu::TextureFormat, size: [u32; 2]) -> Canvas {
        let size = size.map(|edge| edge.max(1));
        let texture = |label, format| {
            let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: SAMPLES,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&wgpu::TextureViewDescriptor::default())
        };
        Canvas {
            color: texture("rigeval.picture.samples", color_format),
            depth: texture("rigeval.picture.depth", DEPTH_FORMAT),
            size,
        }
    }

    /// `[width, height]`, pixels.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Width over height.
    #[must_use]
    pub fn aspect(&self) -> f32 {
        self.size[0] as f32 / self.size[1] as f32
    }
}

/// Paints any number of subjects into targets of one colour format.
#[derive(Debug)]
pub struct Painter {
    view_layout: wgpu::BindGroupLayout,
    shot_layout: wgpu::BindGroupLayout,
    pulled_layout: wgpu::BindGroupLayout,
    backdrop: wgpu::RenderPipeline,
    shaded: wgpu::RenderPipeline,
    normals: wgpu::RenderPipeline,
    wire: wgpu::RenderPipeline,
    error: wgpu::RenderPipeline,
    color_format: wgpu::TextureFormat,
}

impl Painter {
    /// Compiles the pipelines. The WebGPU defaults are enough; with a format that is not sRGB the shader encodes.
    #[must_use]
    pub fn new(gpu: &GpuContext, color_format: wgpu::TextureFormat) -> Painter {
        let device = gpu.device;
        let uniform = wgpu::BufferBindingType::Uniform;
        let read = wgpu::BufferBindingType::Storage { read_only: true };
        let both = wgpu::ShaderStages::VERTEX_FRAGMENT;
        let view_layout = visible_layout(device, LABEL, both, &[uniform]);
        let shot_layout = visible_layout(device, LABEL, both, &[uniform, read]);
        let pulled_layout = visible_layout(device, LABEL, wgpu::ShaderStages::VERTEX, &[read, read]);
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(LABEL),
            source: wgpu::ShaderSource::Wgsl(SHADER.into()),
        });
        let position = wgpu::vertex_attr_array![0 => Float32x3];
        let normal = wgpu::vertex_attr_array![1 => Float32x3];
        let feature = wgpu::vertex_attr_array![2 => Float32x4];
        let value = wgpu::vertex_attr_array![2 => Float32];
        let surface = [vertices(12, &position), vertices(12, &normal), vertices(16, &feature)];
        let values = [vertices(12, &position), vertices(12, &normal), vertices(4, &value)];
        let lit = [&view_layout, &shot_layout];
        let pulled = [&view_layout, &shot_layout, &pulled_layout];
        let pipeline = |layouts: &[&wgpu::BindGroupLayout], entries, buffers: &[_], is_solid| {
            let encode = f64::from(u8::from(!color_format.is_srgb()));
            pipeline(device, &module, layouts, entries, buffers, (color_format, encode), is_solid)
        };
        Painter {
            backdrop: pipeline(&lit[..1], ["vs_backdrop", "fs_backdrop"], &[], false),
            shaded: pipeline(&lit, ["vs_surface", "fs_shaded"], &surface, true),
            normals: pipeline(&lit, ["vs_surface", "fs_normals"], &surface, true),
            wire: pipeline(&pulled, ["vs_wire", "fs_wire"], &[], true),
            error: pipeline(&lit, ["vs_value", "fs_error"], &values, true),
            view_layout,
            shot_layout,
            pulled_layout,
            color_format,
        }
    }

    /// The format of the targets.
    #[must_use]
    pub fn color_format(&self) -> wgpu::TextureFormat {
        self.color_format
    }

    /// Records one pass: the backdrop, then every shot, over whatever the target held.
    ///
    /// The vertices are read when the commands run, so a rig's `encode` goes before. Several calls may share a submit.
    ///
    /// # Panics
    /// For an instance that the vertices do not have, and for vertices of another mesh than the subject's.
    pub fn paint(
        &self,
        gpu: &GpuContext,
        encoder: &mut wgpu::CommandEncoder,
        canvas: &Canvas,
        target: &wgpu::TextureView,
        scene: &Scene,
        shots: &[Shot],
    ) {
        let view: ViewUniform = scene.uniform();
        let view = uniform_buffer(gpu, "rigeval.picture.view", &view);
        let view = bind_group(gpu.device, LABEL, &self.view_layout, &[&view]);
        // A fresh buffer for each: a write to a shared one would land before the whole submit.
        let groups: Vec<wgpu::BindGroup> = shots.iter().map(|shot| self.shot_group(gpu, shot)).collect();
        let pulled: Vec<Option<wgpu::BindGroup>> = shots.iter().map(|shot| self.pulled_group(gpu, shot)).collect();
        let mut pass = begin(encoder, canvas, target);
        pass.set_bind_group(0, &view, &[]);
        pass.set_pipeline(&self.backdrop);
        pass.draw(0..3, 0..1);
        for ((shot, group), pulled) in shots.iter().zip(&groups).zip(&pulled) {
            pass.set_bind_group(1, group, &[]);
            match pulled {
                Some(pulled) => {
                    pass.set_bind_group(2, pulled, &[]);
                    pass.set_pipeline(&self.wire);
                    for (part, corners) in &shot.subject.draws {
                        pass.draw(corners.clone(), *part..*part + 1);
                    }
                }
                None => self.draw_indexed(&mut pass, shot),
            }
        }
    }

    fn draw_indexed(&self, pass: &mut wgpu::RenderPass<'_>, shot: &Shot) {
        let (subject, vertices) = (shot.subject, &shot.vertices);
        let (pipeline, third) = match shot.mode {
            Mode::Normals => (&self.normals, subject.features.slice(..)),
            Mode::Error { values, .. } => (&self.error, values.slice(..)),
            Mode::Shaded | Mode::Wire => (&self.shaded, subject.features.slice(..)),
        };
        pass.set_pipeline(pipeline);
        let offset = vertices.instance_offset_bytes(shot.instance);
        let positions = vertices.current_positions();
        pass.set_vertex_buffer(0, positions.slice(offset..));
        // Without normals the slot holds anything: the shader does not look at it.
        pass.set_vertex_buffer(1, vertices.normals.unwrap_or(positions).slice(offset..));
        pass.set_vertex_buffer(2, third);
        pass.set_index_buffer(subject.indices.slice(..), wgpu::IndexFormat::Uint32);
        for (part, corners) in &subject.draws {
            pass.draw_indexed(corners.clone(), 0, *part..*part + 1);
        }
    }

    fn shot_group(&self, gpu: &GpuContext, shot: &Shot) -> wgpu::BindGroup {
        let (subject, vertices) = (shot.subject, &shot.vertices);
        let (v, n) = (vertices.vertex_count, vertices.instance_count);
        assert!(
            v == subject.vertex_count(),
            "vertices of another mesh: {v}, and the subject has {}",
            subject.vertex_count()
        );
        assert!(shot.instance < n, "instance {} of {n}", shot.instance);
        let uniform = ShotUniform {
            world_from_rig: Mat4::from(shot.world_from_rig),
            first_vertex: (shot.instance * v) as u32,
            has_normals: vertices.normals.is_some().into(),
            range: match shot.mode {
                Mode::Error { range, .. } => range.max(f32::MIN_POSITIVE),
                _ => 1.0,
            },
            pad: 0,
        };
        let uniform = uniform_buffer(gpu, "rigeval.picture.shot", &uniform);
        bind_group(gpu.device, LABEL, &self.shot_layout, &[&uniform, &subject.materials])
    }

    fn pulled_group(&self, gpu: &GpuContext, shot: &Shot) -> Option<wgpu::BindGroup> {
        let buffers = [&shot.subject.indices, shot.vertices.current_positions()];
        matches!(shot.mode, Mode::Wire).then(|| bind_group(gpu.device, LABEL, &self.pulled_layout, &buffers))
    }
}

fn begin<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    canvas: &Canvas,
    target: &wgpu::TextureView,
) -> wgpu::RenderPass<'e> {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(LABEL),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &canvas.color,
            depth_slice: None,
            resolve_target: Some(target),
            // The backdrop covers all, and the samples are of no use once they are resolved.
            ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Discard },
        })],
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: &canvas.depth,
            depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
            stencil_ops: None,
        }),
        ..Default::default()
    })
}

fn vertices(stride: u64, attributes: &[wgpu::VertexAttribute]) -> Option<wgpu::VertexBufferLayout<'_>> {
    Some(wgpu::VertexBufferLayout { array_stride: stride, step_mode: wgpu::VertexStepMode::Vertex, attributes })
}

fn pipeline(
    device: &wgpu::Device,
    module: &wgpu::ShaderModule,
    layouts: &[&wgpu::BindGroupLayout],
    [vertex, fragment]: [&str; 2],
    buffers: &[Option<wgpu::VertexBufferLayout<'_>>],
    (format, encode): (wgpu::TextureFormat, f64),
    is_solid: bool,
) -> wgpu::RenderPipeline {
    let groups: Vec<_> = layouts.iter().map(|l| Some(*l)).collect();
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(LABEL),
        bind_group_layouts: &groups,
        immediate_size: 0,
    });
    let constants = [("encode_srgb", encode)];
    let compilation_options = wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
    let depth_compare = if is_solid { wgpu::CompareFunction::Less } else { wgpu::CompareFunction::Always };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(fragment),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some(vertex),
            compilation_options: compilation_options.clone(),
            buffers,
        },
        // Both sides are drawn: files do not agree on winding, and a mouth is seen from inside.
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH_FORMAT,
            depth_write_enabled: Some(is_solid),
            depth_compare: Some(depth_compare),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        }),
        multisample: wgpu::MultisampleState { count: SAMPLES, ..Default::default() },
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some(fragment),
            compilation_options,
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}
