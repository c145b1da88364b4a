//! Pictures of rigs as files: a target without a window, sheets of frames, error maps with a scale.

mod image;
mod legend;
mod sheet;

pub use image::Image;
pub use legend::{Scale, number};
pub use sheet::{Compared, Sheet, Sitting, Style, caption, error_map, errors, largest};

use crate::failure::Failure;
use rigeval::gpu::headless::Headless;
use rigeval::picture::{Canvas, Painter, Scene, Shot};
use rigeval::wgpu;

/// sRGB, so that edges are blended as light.
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;

/// A painter with a device and no window.
pub struct Easel<'g> {
    gpu: &'g Headless,
    painter: Painter,
}

impl<'g> Easel<'g> {
    pub fn new(gpu: &'g Headless) -> Easel<'g> {
        Easel { gpu, painter: Painter::new(&gpu.context(), FORMAT) }
    }

    pub fn gpu(&self) -> &'g Headless {
        self.gpu
    }

    /// One picture of `[width, height]` pixels.
    pub fn paint(&self, size: [u32; 2], scene: &Scene, shots: &[Shot]) -> Result<Image, Failure> {
        let context = self.gpu.context();
        let target = context.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("rigeval.render"),
            size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let canvas = Canvas::new(&context, FORMAT, size);
        let mut encoder = self.gpu.encoder();
        let view = target.create_view(&wgpu::TextureViewDescriptor::default());
        self.painter.paint(&context, &mut encoder, &canvas, &view, scene, shots);
        self.gpu.submit(encoder)?;
        Ok(Image::of_rgba(size, &self.gpu.read_pixels(&target)?))
    }
}
