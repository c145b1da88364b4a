//! Draws characters from the buffers their rigs are posed in: nothing is copied, nothing is read back.

use crate::scene::Character;
use rigeval::glam::camera::rh;
use rigeval::glam::{Affine3A, Mat4, Quat, Vec3};
use rigeval::gpu::GpuContext;
use rigeval::info::MeshPart;
use rigeval::math::Aabb;
use rigeval::wgpu;
use wgpu::util::DeviceExt;

const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
const SAMPLES: u32 = 4;
const BACKDROP: wgpu::Color = wgpu::Color { r: 0.035, g: 0.042, b: 0.055, a: 1.0 };

/// What the camera sees, and how it is shown.
#[derive(Clone, Copy)]
pub struct View {
    /// How far the characters turn, each about its own middle.
    pub turn: Quat,
    /// Where the camera stands, metres; it looks along -Z.
    pub eye: Vec3,
    /// Colours by motion in place of light.
    pub motion: bool,
}

impl View {
    /// From the world to clip space.
    pub fn clip_from_world(&self, aspect: f32) -> Mat4 {
        let half_width: f32 = 0.46;
        let fov_y = 2.0 * (half_width / (aspect * EYE_M)).max(0.19 / EYE_M).atan();
        rh::proj::directx::perspective(fov_y, aspect, 0.05, 20.0) * Mat4::from_translation(-self.eye)
    }
}

/// How far the camera stands from the characters, metres.
pub const EYE_M: f32 = 1.6;

/// Whether any of a box may be seen: not all of its corners lie outside of one plane of the frustum.
fn is_visible(bounds: &Aabb, clip_from_rig: Mat4) -> bool {
    let corners = [0u8, 1, 2, 3, 4, 5, 6, 7].map(|corner| {
        let pick = |axis: usize| [bounds.min, bounds.max][usize::from(corner >> axis & 1)][axis];
        clip_from_rig * Vec3::new(pick(0), pick(1), pick(2)).extend(1.0)
    });
    let outside = [
        corners.iter().all(|c| c.x < -c.w),
        corners.iter().all(|c| c.x > c.w),
        corners.iter().all(|c| c.y < -c.w),
        corners.iter().all(|c| c.y > c.w),
        corners.iter().all(|c| c.z < 0.0),
        corners.iter().all(|c| c.z > c.w),
    ];
    !outside.contains(&true)
}

/// `Draw` of the shader.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Draw {
    clip_from_rig: Mat4,
    previous_clip_from_rig: Mat4,
    world_from_rig: Mat4,
    eye: [f32; 4],
}

/// What a character needs beside its posed vertices; none of it changes but the uniforms.
struct Drawable {
    indices: wgpu::Buffer,
    /// Index ranges of the parts that are drawn, and which part each is.
    parts: Vec<(u32, std::ops::Range<u32>)>,
    rest_normals: wgpu::Buffer,
    uniforms: wgpu::Buffer,
    group: wgpu::BindGroup,
    /// Of the last frame, if the character was in it.
    previous_clip_from_rig: Option<Mat4>,
    has_previous: bool,
}

/// Colour samples and depth, for one size of picture.
struct Attachments {
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
    size: [u32; 2],
}

/// The pipelines, and what each character needs for them.
pub struct Renderer {
    lit: wgpu::RenderPipeline,
    motion: wgpu::RenderPipeline,
    format: wgpu::TextureFormat,
    drawables: Vec<Drawable>,
    attachments: Option<Attachments>,
}

impl Renderer {
    /// For pictures of this format, whose target encodes to sRGB.
    pub fn new(gpu: &GpuContext, format: wgpu::TextureFormat, characters: &[Character]) -> Renderer {
        let device = gpu.device;
        let shader = device.create_shader_module(wgpu::include_wgsl!("renderer.wgsl"));
        let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let materials = wgpu::BufferBindingType::Storage { read_only: true };
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("character"),
            entries: &[entry(0, wgpu::BufferBindingType::Uniform), entry(1, materials)],
        });
        let pipeline = |fragment| pipeline(device, &shader, &layout, format, fragment);
        Renderer {
            lit: pipeline("fs_lit"),
            motion: pipeline("fs_motion"),
            format,
            drawables: characters.iter().map(|character| Drawable::new(gpu, &layout, character)).collect(),
            attachments: None,
        }
    }

    /// Records a frame: every rig's poses, then one pass that draws them. Gives the names of the characters that were drawn.
    ///
    /// The caller submits the encoder, once for all of it: the rigs' uploads land before a submit, so one more `encode` in the same submit would
    /// overwrite what this one sent.
    pub fn frame(
        &mut self,
        gpu: &GpuContext,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::Texture,
        characters: &mut [Character],
        view: View,
    ) -> Vec<&'static str> {
        let size = [target.width(), target.height()];
        let attachments = match self.attachments.take() {
            Some(made) if made.size == size => made,
            _ => Attachments::new(gpu.device, self.format, size),
        };
        let clip_from_world = view.clip_from_world(size[0] as f32 / size[1] as f32);
        let mut visible = Vec::new();
        for (index, (character, drawable)) in characters.iter_mut().zip(&mut self.drawables).enumerate() {
            let world_from_rig = character.world_from_rig(view.turn);
            let clip_from_rig = clip_from_world * Mat4::from(world_from_rig);
            // Bounds come from the CPU: what nobody sees is neither posed nor drawn.
            if !is_visible(&character.rig.bounds(0), clip_from_rig) {
                drawable.previous_clip_from_rig = None;
                continue;
            }
            character.rig.encode(gpu.queue, encoder);
            drawable.place(gpu.queue, clip_from_rig, world_from_rig, view.eye);
            visible.push(index);
        }
        let surface = target.create_view(&wgpu::TextureViewDescriptor::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("characters"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &attachments.color,
                depth_slice: None,
                resolve_target: Some(&surface),
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(BACKDROP), store: wgpu::StoreOp::Discard },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &attachments.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_pipeline(if view.motion { &self.motion } else { &self.lit });
        for &index in &visible {
            self.drawables[index].draw(&mut pass, &characters[index]);
        }
        drop(pass);
        self.attachments = Some(attachments);
        visible.into_iter().map(|index| characters[index].name).collect()
    }
}

impl Drawable {
    fn new(gpu: &GpuContext, layout: &wgpu::BindGroupLayout, character: &Character) -> Drawable {
        let device = gpu.device;
        let (mesh, vertices) = (character.rig.mesh(), character.rig.vertices());
        let buffer = |label, contents: &[u8], usage| {
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some(label), contents, usage })
        };
        let indices = buffer("indices", bytemuck::cast_slice(&mesh.triangles), wgpu::BufferUsages::INDEX);
        let materials: Vec<[f32; 4]> = mesh.parts.iter().map(material).collect();
        let materials = buffer("materials", bytemuck::cast_slice(&materials), wgpu::BufferUsages::STORAGE);
        let uniforms = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("draw"),
            size: size_of::<Draw>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("character"),
            layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: uniforms.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: materials.as_entire_binding() },
            ],
        });
        // Before the first encode the buffers hold the rest mesh, of which the irises are painted: kept once, on the device.
        let normals = vertices.normals.expect("the scene asks for normals");
        let rest_normals = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("rest normals"),
            size: normals.size(),
            usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(normals, 0, &rest_normals, 0, normals.size());
        gpu.queue.submit([encoder.finish()]);
        let parts = mesh.parts.iter().enumerate().filter(|(_, part)| !is_clear(part));
        let parts = parts
            .map(|(index, part)| (index as u32, 3 * part.triangles.start as u32..3 * part.triangles.end as u32))
            .collect();
        Drawable { indices, parts, rest_normals, uniforms, group, previous_clip_from_rig: None, has_previous: false }
    }

    /// Says where the character stands in this frame; where it stood in the last one is known from then.
    fn place(&mut self, queue: &wgpu::Queue, clip_from_rig: Mat4, world_from_rig: Affine3A, eye: Vec3) {
        self.has_previous = self.previous_clip_from_rig.is_some();
        let previous = self.previous_clip_from_rig.replace(clip_from_rig).unwrap_or(clip_from_rig);
        let draw = Draw {
            clip_from_rig,
            previous_clip_from_rig: previous,
            world_from_rig: world_from_rig.into(),
            eye: eye.extend(1.0).to_array(),
        };
        queue.write_buffer(&self.uniforms, 0, bytemuck::bytes_of(&draw));
    }

    fn draw(&self, pass: &mut wgpu::RenderPass, character: &Character) {
        let vertices = character.rig.vertices();
        // Instances lie one after the other: another one is another offset into the same buffers.
        let from = vertices.instance_offset_bytes(0);
        // Who comes back into the picture was last posed at some other time: that difference is no motion.
        let current = vertices.current_positions();
        let previous = if self.has_previous { vertices.previous_positions() } else { current };
        pass.set_bind_group(0, &self.group, &[]);
        pass.set_vertex_buffer(0, current.slice(from..));
        pass.set_vertex_buffer(1, previous.slice(from..));
        pass.set_vertex_buffer(2, vertices.normals.expect("the scene asks for normals").slice(from..));
        pass.set_vertex_buffer(3, self.rest_normals.slice(from..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        for (part, indices) in &self.parts {
            pass.draw_indexed(indices.clone(), 0, *part..part + 1);
        }
    }
}

/// `Material` of the shader: a linear colour, and whether the part is an eyeball.
fn material(part: &MeshPart) -> [f32; 4] {
    let name = part.name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let (color, eye) = match () {
        _ if has(&["teeth"]) => ([0.78, 0.73, 0.62], 0.0),
        _ if has(&["gum", "mouth"]) => ([0.36, 0.10, 0.09], 0.0),
        _ if has(&["tongue"]) => ([0.50, 0.13, 0.12], 0.0),
        _ if has(&["lash", "brow"]) => ([0.03, 0.02, 0.015], 0.0),
        _ if has(&["eye"]) && !has(&["lid"]) => ([0.80, 0.78, 0.75], 1.0),
        _ => ([0.62, 0.37, 0.27], 0.0),
    };
    [color[0], color[1], color[2], eye]
}

/// Films that light goes through, which a renderer without blending leaves out.
fn is_clear(part: &MeshPart) -> bool {
    let name = part.name.to_ascii_lowercase();
    ["eyeshell", "eyeedge", "cornea", "tearline", "saliva"].iter().any(|word| name.contains(word))
}

impl Attachments {
    fn new(device: &wgpu::Device, format: wgpu::TextureFormat, size: [u32; 2]) -> Attachments {
        let texture = |label, format| {
            let texture = device.create_texture(&wgpu::TextureDescriptor {
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
        Attachments { color: texture("samples", format), depth: texture("depth", DEPTH), size }
    }
}

fn pipeline(
    device: &wgpu::Device,
    shader: &wgpu::ShaderModule,
    layout: &wgpu::BindGroupLayout,
    format: wgpu::TextureFormat,
    fragment: &str,
) -> wgpu::RenderPipeline {
    // Four buffers of three floats a vertex, each as tight as the rigs pack them.
    let attributes = [0, 1, 2, 3].map(|shader_location| {
        [wgpu::VertexAttribute { format: wgpu::VertexFormat::Float32x3, offset: 0, shader_location }]
    });
    let buffers = attributes.each_ref().map(|attributes| {
        Some(wgpu::VertexBufferLayout { array_stride: 12, step_mode: wgpu::VertexStepMode::Vertex, attributes })
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("character"),
        bind_group_layouts: &[Some(layout)],
        immediate_size: 0,
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(fragment),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: shader,
            entry_point: Some("vs_character"),
            compilation_options: Default::default(),
            buffers: &buffers,
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Less),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: wgpu::MultisampleState { count: SAMPLES, ..Default::default() },
        fragment: Some(wgpu::FragmentState {
            module: shader,
            entry_point: Some(fragment),
            compilation_options: Default::default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}
