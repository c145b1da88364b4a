//! The browser's device, its canvas, and the only place here that submits and reads back.

use js_sys::{Float32Array, Promise};
use rigeval::glam::{UVec2, Vec2};
use rigeval::gpu::GpuContext;
use rigeval::picture::{Canvas, Painter, Scene, Shot};
use rigeval::wgpu;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

/// No side of the canvas is longer, in device pixels: the least that every device of the default limits has.
const MAX_SIDE: f32 = 8192.0;

/// A canvas and the device that draws on it.
pub struct Screen {
    surface: wgpu::Surface<'static>,
    configuration: wgpu::SurfaceConfiguration,
    device: wgpu::Device,
    queue: wgpu::Queue,
    painter: Painter,
    layers: Canvas,
    picture: wgpu::Texture,
    css_size: Vec2,
    /// Bits of how long the last finished frame took.
    frame_ms: Arc<AtomicU64>,
    fault: Arc<Mutex<Option<String>>>,
}

/// A frame that is being drawn.
pub struct Frame {
    texture: wgpu::SurfaceTexture,
    began_ms: f64,
}

impl Screen {
    /// Asks the browser for a device with the default limits, as a library that must run everywhere does.
    pub async fn new(canvas: HtmlCanvasElement) -> Result<Screen, String> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let surface = instance
            .create_surface(wgpu::SurfaceTarget::Canvas(canvas))
            .map_err(|e| format!("canvas: expected one that WebGPU can draw on: {e}"))?;
        let request = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            compatible_surface: Some(&surface),
            ..Default::default()
        };
        let adapter = instance.request_adapter(&request).await.map_err(|e| format!("no WebGPU adapter: {e}"))?;
        let request = wgpu::DeviceDescriptor {
            label: Some("rigeval.web"),
            required_limits: wgpu::Limits::defaults(),
            ..Default::default()
        };
        let (device, queue) = adapter
            .request_device(&request)
            .await
            .map_err(|e| format!("expected a device with the WebGPU default limits, got: {e}"))?;
        let fault = watch(&device);

        let format = surface.get_capabilities(&adapter).formats[0];
        let configuration = wgpu::SurfaceConfiguration {
            usage: wgpu::TextureUsages::COPY_DST,
            ..surface.get_default_config(&adapter, 1, 1).ok_or("canvas: no format that this adapter can draw")?
        };
        let gpu = GpuContext { device: &device, queue: &queue };
        let painter = Painter::new(&gpu, format.add_srgb_suffix());
        let layers = Canvas::new(&gpu, painter.color_format(), [1, 1]);
        let picture = picture_texture(&gpu, &painter, [1, 1]);
        Ok(Screen {
            surface,
            configuration,
            painter,
            layers,
            picture,
            css_size: Vec2::ONE,
            frame_ms: Arc::new(AtomicU64::new(0)),
            fault,
            device,
            queue,
        })
    }

    /// Device and queue, as backends take them.
    pub fn gpu(&self) -> GpuContext<'_> {
        GpuContext { device: &self.device, queue: &self.queue }
    }

    /// A fresh encoder.
    pub fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("rigeval.web") })
    }

    /// The canvas as it is laid out.
    pub fn css_size(&self) -> Vec2 {
        self.css_size
    }

    /// Width over height.
    pub fn aspect(&self) -> f32 {
        self.layers.aspect()
    }

    /// Gives the canvas as many pixels as it covers on the screen.
    pub fn resize(&mut self, css_size: Vec2, ratio: f32) {
        // A canvas that is hidden has no size, and a browser may report any ratio while it zooms.
        let ratio = if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 };
        self.css_size = css_size.max(Vec2::ONE);
        let UVec2 { x, y } = (self.css_size * ratio).round().clamp(Vec2::ONE, Vec2::splat(MAX_SIDE)).as_uvec2();
        (self.configuration.width, self.configuration.height) = (x, y);
        self.surface.configure(&self.device, &self.configuration);
        self.layers = Canvas::new(&self.gpu(), self.painter.color_format(), [x, y]);
        self.picture = picture_texture(&self.gpu(), &self.painter, [x, y]);
    }

    /// Begins a frame, unless the canvas has no texture to give.
    pub fn begin(&self) -> Option<Frame> {
        use wgpu::CurrentSurfaceTexture::{Suboptimal, Success};
        let began_ms = now_ms();
        match self.surface.get_current_texture() {
            Success(texture) | Suboptimal(texture) => Some(Frame { texture, began_ms }),
            _ => None,
        }
    }

    /// Paints and submits.
    pub fn end(&self, frame: Frame, mut encoder: wgpu::CommandEncoder, scene: &Scene, shots: &[Shot]) {
        let target = self.picture.create_view(&wgpu::TextureViewDescriptor::default());
        self.painter.paint(&self.gpu(), &mut encoder, &self.layers, &target, scene, shots);
        let [from, to] = [&self.picture, &frame.texture.texture].map(wgpu::Texture::as_image_copy);
        encoder.copy_texture_to_texture(from, to, self.picture.size());
        self.queue.submit([encoder.finish()]);
        let frame_ms = Arc::clone(&self.frame_ms);
        self.queue.on_submitted_work_done(move || {
            frame_ms.store((now_ms() - frame.began_ms).to_bits(), Ordering::Relaxed);
        });
        self.queue.present(frame.texture);
    }

    /// How long the last finished frame took.
    pub fn frame_ms(&self) -> f64 {
        f64::from_bits(self.frame_ms.load(Ordering::Relaxed))
    }

    /// What the device reported, if anything: the first of it.
    pub fn fault(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The floats of a buffer, as a promise of them.
    pub fn read(&self, buffer: &wgpu::Buffer) -> Promise {
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("rigeval.web.readback"),
            size: buffer.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        self.queue.submit([encoder.finish()]);
        Promise::new(&mut |resolve, reject| {
            let mapped = staging.clone();
            let settle = move |result: Result<(), wgpu::BufferAsyncError>| {
                let floats = result.map_err(|e| e.to_string()).and_then(|()| {
                    let bytes = mapped.slice(..).get_mapped_range().map_err(|e| e.to_string())?;
                    Ok(Float32Array::from(&bytemuck::pod_collect_to_vec::<u8, f32>(&bytes)[..]))
                });
                // A promise whose page is gone has no one to tell.
                let _ = match floats {
                    Ok(floats) => resolve.call1(&JsValue::UNDEFINED, &floats),
                    Err(reason) => reject.call1(&JsValue::UNDEFINED, &reason.into()),
                };
            };
            staging.map_async(wgpu::MapMode::Read, .., settle);
        })
    }
}

/// What is painted, in the encoding of screens; a canvas is never of such a format. A view of the canvas could be, but software adapters
/// resolve samples into one without encoding them.
fn picture_texture(gpu: &GpuContext, painter: &Painter, [width, height]: [u32; 2]) -> wgpu::Texture {
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("rigeval.web.picture"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: painter.color_format(),
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

/// Keeps the first thing that the device reports outside of any call.
fn watch(device: &wgpu::Device) -> Arc<Mutex<Option<String>>> {
    let fault = Arc::new(Mutex::new(None));
    let keep = |fault: &Mutex<Option<String>>, message: String| {
        fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
    };
    let errors = Arc::clone(&fault);
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| keep(&errors, format!("WebGPU: {error}"))));
    let losses = Arc::clone(&fault);
    // Never on purpose: the device lives as long as the page, and a browser calls one destroyed whose canvas it cannot show.
    device.set_device_lost_callback(move |_, message| {
        keep(&losses, format!("WebGPU: the browser took the device away: {message} Reload the page to try again."));
    });
    fault
}

/// Sends the text of a panic to the console, which otherwise shows `unreachable` alone.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| web_sys::console::error_1(&panic.to_string().into())));
}

fn now_ms() -> f64 {
    web_sys::window().and_then(|window| window.performance()).map_or(0.0, |clock| clock.now())
}
