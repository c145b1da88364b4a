//! Pictures of rigs: posed vertices drawn straight from the buffers of [`RigBackend::vertices`](crate::backend::RigBackend::vertices).
//!
//! A [`Painter`] is made once for a colour format, a [`Subject`] once for a mesh, a [`Canvas`] once for a size. A frame is then one
//! [`Painter::paint`]: any number of [`Shot`]s, of any rigs, in one pass. Nothing here submits, waits or reads back, so that a canvas of a
//! browser and a file of the command line are painted by the same calls.
//!
//! ```no_run
//! # fn frame(gpu: &rigeval::gpu::GpuContext, rig: &dyn rigeval::backend::RigBackend, rest: &[[f32; 3]], target: &wgpu::TextureView)
//! # -> Result<(), rigeval::error::LimitError> {
//! use rigeval::picture::{Camera, Canvas, Mode, Painter, Scene, Shot, Subject, View};
//!
//! let painter = Painter::new(gpu, wgpu::TextureFormat::Rgba8UnormSrgb);
//! let subject = Subject::new(gpu, rig.mesh(), rest)?;
//! let canvas = Canvas::new(gpu, painter.color_format(), [640, 480]);
//!
//! let scene = Scene::new(Camera::framing(&rig.bounds(0), View::ThreeQuarter, canvas.aspect()));
//! let mut encoder = gpu.device.create_command_encoder(&Default::default());
//! painter.paint(gpu, &mut encoder, &canvas, target, &scene, &[Shot::new(&subject, rig.vertices(), Mode::Shaded)]);
//! gpu.queue.submit([encoder.finish()]);
//! # Ok(())
//! # }
//! ```

mod camera;
mod colors;
mod materials;
mod occlusion;
mod painter;
mod scene;
mod subject;
#[cfg(test)]
mod tests;

pub use camera::{Camera, View};
pub use colors::{error_color, linear_of_srgb, srgb_of_linear};
pub use painter::{Canvas, Mode, Painter, SHADER, Shot};
pub use scene::{Light, Scene};
pub use subject::{Subject, value_buffer};
