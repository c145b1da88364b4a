//! The same frame in a window: the surface, the keys, the clock.

use crate::renderer::{EYE_M, Renderer, View};
use crate::scene::{Character, three_heads};
use rigeval::glam::{EulerRot, Quat, Vec3};
use rigeval::gpu::GpuContext;
use rigeval::wgpu;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{ElementState, KeyEvent, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

/// Opens the window and plays until it is closed.
pub fn run(events: EventLoop<()>, motion: bool) -> Result<(), Box<dyn Error>> {
    let display = Box::new(events.owned_display_handle());
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_with_display_handle(display));
    let mut app = App { instance, motion, stage: None, fault: None };
    events.run_app(&mut app)?;
    app.fault.map_or(Ok(()), Err)
}

struct App {
    instance: wgpu::Instance,
    motion: bool,
    stage: Option<Stage>,
    fault: Option<Box<dyn Error>>,
}

/// What there is once there is a window.
struct Stage {
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    device: wgpu::Device,
    queue: wgpu::Queue,
    renderer: Renderer,
    characters: Vec<Character>,
    /// Radians.
    yaw: f32,
    pitch: f32,
    is_playing: bool,
    time_s: f64,
    last_frame: Instant,
    drawn: Vec<&'static str>,
}

impl ApplicationHandler for App {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.stage.is_none() {
            match Stage::open(events, &self.instance) {
                Ok(stage) => self.stage = Some(stage),
                Err(error) => self.stop(events, error),
            }
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(stage) = &mut self.stage else { return };
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::Resized(size) => stage.resize(size.width, size.height),
            WindowEvent::KeyboardInput {
                event: KeyEvent { logical_key, state: ElementState::Pressed, .. }, ..
            } => match logical_key.as_ref() {
                Key::Named(NamedKey::Escape) => events.exit(),
                Key::Named(NamedKey::ArrowLeft) => stage.yaw -= 0.1,
                Key::Named(NamedKey::ArrowRight) => stage.yaw += 0.1,
                Key::Named(NamedKey::ArrowUp) => stage.pitch -= 0.1,
                Key::Named(NamedKey::ArrowDown) => stage.pitch += 0.1,
                Key::Named(NamedKey::Space) => stage.is_playing = !stage.is_playing,
                Key::Character("m" | "M") => self.motion = !self.motion,
                _ => {}
            },
            WindowEvent::RedrawRequested => match stage.draw(self.motion) {
                Ok(()) => stage.window.request_redraw(),
                Err(error) => self.stop(events, error),
            },
            _ => {}
        }
    }
}

impl App {
    fn stop(&mut self, events: &ActiveEventLoop, fault: Box<dyn Error>) {
        self.fault = Some(fault);
        events.exit();
    }
}

impl Stage {
    fn open(events: &ActiveEventLoop, instance: &wgpu::Instance) -> Result<Stage, Box<dyn Error>> {
        let attributes =
            Window::default_attributes().with_title("rigeval").with_inner_size(LogicalSize::new(1200, 520));
        let window = Arc::new(events.create_window(attributes)?);
        let surface = instance.create_surface(Arc::clone(&window))?;
        let request = instance
            .request_adapter(&wgpu::RequestAdapterOptions { compatible_surface: Some(&surface), ..Default::default() });
        let adapter = pollster::block_on(request)?;
        // The library is content with the WebGPU defaults, which is what this asks for.
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default()))?;
        let size = window.inner_size();
        let mut config = surface
            .get_default_config(&adapter, size.width.max(1), size.height.max(1))
            .ok_or("the adapter cannot draw into this window")?;
        let formats = surface.get_capabilities(&adapter).formats;
        config.format = formats.into_iter().find(wgpu::TextureFormat::is_srgb).unwrap_or(config.format);
        surface.configure(&device, &config);

        let gpu = GpuContext { device: &device, queue: &queue };
        let characters = three_heads(&gpu)?;
        let renderer = Renderer::new(&gpu, config.format, &characters);
        window.request_redraw();
        Ok(Stage {
            window,
            surface,
            config,
            renderer,
            characters,
            device,
            queue,
            yaw: 0.0,
            pitch: 0.0,
            is_playing: true,
            time_s: 0.0,
            last_frame: Instant::now(),
            drawn: Vec::new(),
        })
    }

    fn resize(&mut self, width: u32, height: u32) {
        // A window that is rolled up has no pixels, and a surface must have some.
        (self.config.width, self.config.height) = (width.max(1), height.max(1));
        self.surface.configure(&self.device, &self.config);
    }

    fn draw(&mut self, motion: bool) -> Result<(), Box<dyn Error>> {
        let now = Instant::now();
        let passed = now - std::mem::replace(&mut self.last_frame, now);
        if self.is_playing {
            self.time_s += passed.as_secs_f64();
        }
        use wgpu::CurrentSurfaceTexture as Current;
        let frame = match self.surface.get_current_texture() {
            Current::Success(frame) | Current::Suboptimal(frame) => frame,
            Current::Outdated => {
                self.surface.configure(&self.device, &self.config);
                return Ok(());
            }
            Current::Timeout | Current::Occluded => return Ok(()),
            Current::Lost | Current::Validation => return Err("the window's surface is lost".into()),
        };
        for character in &mut self.characters {
            character.perform(self.time_s)?;
        }
        let gpu = GpuContext { device: &self.device, queue: &self.queue };
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let turn = Quat::from_euler(EulerRot::XYZ, self.pitch, self.yaw, 0.0);
        let view = View { turn, eye: Vec3::Z * EYE_M, motion };
        let drawn = self.renderer.frame(&gpu, &mut encoder, &frame.texture, &mut self.characters, view);
        self.queue.submit([encoder.finish()]);
        self.queue.present(frame);
        if drawn != self.drawn {
            println!("drawn: {}", drawn.join(", "));
            self.drawn = drawn;
        }
        Ok(())
    }
}
