//! A device without a window, for tests and the command line: the only place that makes a device, submits, polls and reads back.

use super::GpuContext;
use super::bounds::ExactBounds;
use crate::error::DeviceError;
use crate::math::Aabb;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a wait for the device may take before it is an error.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// Which adapter to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterChoice {
    /// A hardware GPU, or without one a software adapter.
    Any,
    /// A hardware GPU.
    Hardware,
    /// A software adapter, such as Mesa's lavapipe.
    Software,
}

/// What runs the shaders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterFacts {
    /// The adapter as its driver names it.
    pub name: String,
    /// The driver and its version.
    pub driver: String,
    /// `vulkan`, `metal`, `dx12`.
    pub backend: String,
    /// Whether a CPU does the work.
    pub is_software: bool,
}

/// A device with exactly the WebGPU default limits, and the bounded readback that the library itself does without.
#[derive(Debug)]
pub struct Headless {
    device: wgpu::Device,
    queue: wgpu::Queue,
    facts: AdapterFacts,
    faults: Arc<Mutex<Faults>>,
    timeout: Duration,
}

/// What the device reported outside of any call.
#[derive(Debug, Default)]
struct Faults {
    first_error: Option<String>,
    lost: Option<String>,
}

impl Headless {
    /// Opens a device with no optional feature.
    ///
    /// # Errors
    /// `NoAdapter`, `Open`.
    pub fn new(choice: AdapterChoice) -> Result<Headless, DeviceError> {
        Headless::with_features(choice, wgpu::Features::empty())
    }

    /// Opens a device with those of `wanted` that the adapter has.
    ///
    /// # Errors
    /// `NoAdapter`, `Open`.
    pub fn with_features(choice: AdapterChoice, wanted: wgpu::Features) -> Result<Headless, DeviceError> {
        let adapter = find_adapter(choice)?;
        let info = adapter.get_info();
        let facts = AdapterFacts {
            name: info.name,
            driver: format!("{} {}", info.driver, info.driver_info).trim().into(),
            backend: info.backend.to_str().into(),
            is_software: info.device_type == wgpu::DeviceType::Cpu,
        };
        let request = adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("rigeval.headless"),
            required_features: adapter.features() & wanted,
            required_limits: wgpu::Limits::defaults(),
            ..Default::default()
        });
        let (device, queue) = pollster::block_on(request)
            .map_err(|e| DeviceError::Open { adapter: facts.name.clone(), reason: e.to_string() })?;
        let faults = Arc::new(Mutex::new(Faults::default()));
        let errors = Arc::clone(&faults);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            lock(&errors).first_error.get_or_insert_with(|| error.to_string());
        }));
        let losses = Arc::clone(&faults);
        device.set_device_lost_callback(move |reason, message| {
            lock(&losses).lost = Some(format!("{reason:?}: {message}"));
        });
        Ok(Headless { device, queue, facts, faults, timeout: DEFAULT_TIMEOUT })
    }

    /// The same device, with another bound on every wait.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Headless {
        self.timeout = timeout;
        self
    }

    /// Device and queue, as backends take them.
    #[must_use]
    pub fn context(&self) -> GpuContext<'_> {
        GpuContext { device: &self.device, queue: &self.queue }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// The queue.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// What runs the shaders.
    #[must_use]
    pub fn facts(&self) -> &AdapterFacts {
        &self.facts
    }

    /// A fresh encoder.
    #[must_use]
    pub fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("rigeval.headless") })
    }

    /// Submits what was recorded.
    ///
    /// # Errors
    /// `Reported` for the first error that any call on this device raised so far, `Lost`.
    pub fn submit(&self, encoder: wgpu::CommandEncoder) -> Result<(), DeviceError> {
        self.queue.submit([encoder.finish()]);
        self.check()
    }

    /// Waits until everything submitted is done.
    ///
    /// # Errors
    /// `Timeout`, `Lost`, `Reported`.
    pub fn wait(&self) -> Result<(), DeviceError> {
        self.check()?;
        let wait = wgpu::PollType::Wait { submission_index: None, timeout: Some(self.timeout) };
        // wgpu panics where a device is lost during a wait, and a lost device is a value here.
        let polled = std::panic::catch_unwind(AssertUnwindSafe(|| self.device.poll(wait)));
        self.check()?;
        match polled {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(wgpu::PollError::Timeout)) => Err(DeviceError::Timeout { seconds: self.timeout.as_secs_f32() }),
            Ok(Err(other)) => Err(DeviceError::Reported { message: other.to_string() }),
            Err(_) => Err(DeviceError::Lost { reason: "while waiting for it".into() }),
        }
    }

    /// The contents of a buffer with the usage `COPY_SRC`.
    ///
    /// # Errors
    /// `Timeout`, `Lost`, `Reported`.
    pub fn read_bytes(&self, buffer: &wgpu::Buffer) -> Result<Vec<u8>, DeviceError> {
        self.check()?;
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("rigeval.headless.readback"),
            size: buffer.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        self.submit(encoder)?;
        let (sender, receiver) = channel();
        staging.slice(..).map_async(wgpu::MapMode::Read, move |result| {
            // The receiver is gone only where this call has already failed.
            let _ = sender.send(result);
        });
        self.wait()?;
        // Another thread that polls may have taken the callback and not have run it yet.
        match receiver.recv_timeout(self.timeout) {
            Ok(Ok(())) => {}
            Ok(Err(e)) => return Err(DeviceError::Reported { message: e.to_string() }),
            Err(_) => return Err(DeviceError::Timeout { seconds: self.timeout.as_secs_f32() }),
        }
        let mapped = staging.slice(..).get_mapped_range();
        let bytes = mapped.map_err(|e| DeviceError::Reported { message: e.to_string() })?.to_vec();
        staging.unmap();
        Ok(bytes)
    }

    /// The contents of a buffer of floats with the usage `COPY_SRC`.
    ///
    /// # Errors
    /// `Timeout`, `Lost`, `Reported`.
    pub fn read_f32(&self, buffer: &wgpu::Buffer) -> Result<Vec<f32>, DeviceError> {
        Ok(bytemuck::pod_collect_to_vec(&self.read_bytes(buffer)?))
    }

    /// The pixels of a texture with the usage `COPY_SRC`, four bytes each, row by row from the top without padding.
    ///
    /// # Errors
    /// `Timeout`, `Lost`, `Reported`: the last for a texture too large for a buffer, too.
    ///
    /// # Panics
    /// For a format that does not have four bytes a pixel.
    pub fn read_pixels(&self, texture: &wgpu::Texture) -> Result<Vec<u8>, DeviceError> {
        let format = texture.format();
        assert!(format.block_copy_size(None) == Some(4), "{format:?}: expected four bytes a pixel");
        let row = 4 * texture.width();
        let padded = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("rigeval.headless.pixels"),
            size: u64::from(padded) * u64::from(texture.height()),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(padded), rows_per_image: None };
        let mut encoder = self.encoder();
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
            texture.size(),
        );
        self.submit(encoder)?;
        let bytes = self.read_bytes(&buffer)?;
        Ok(bytes.chunks_exact(padded as usize).flat_map(|line| &line[..row as usize]).copied().collect())
    }

    /// The boxes of all instances, as they were last measured.
    ///
    /// # Errors
    /// `Timeout`, `Lost`, `Reported`.
    pub fn read_bounds(&self, bounds: &ExactBounds) -> Result<Vec<Aabb>, DeviceError> {
        let corners = self.read_f32(bounds.buffer())?;
        let boxes = corners.as_chunks().0.iter();
        Ok(boxes.map(|&[x, y, z, _, i, j, k, _]| Aabb { min: [x, y, z], max: [i, j, k] }).collect())
    }

    /// Whether the device reported anything so far.
    ///
    /// # Errors
    /// `Lost`, else `Reported` with the first error.
    pub fn check(&self) -> Result<(), DeviceError> {
        let faults = lock(&self.faults);
        match (&faults.lost, &faults.first_error) {
            (Some(reason), _) => Err(DeviceError::Lost { reason: reason.clone() }),
            (None, Some(message)) => Err(DeviceError::Reported { message: message.clone() }),
            (None, None) => Ok(()),
        }
    }
}

fn lock(faults: &Mutex<Faults>) -> std::sync::MutexGuard<'_, Faults> {
    faults.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn find_adapter(choice: AdapterChoice) -> Result<wgpu::Adapter, DeviceError> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let rank = |adapter: &wgpu::Adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    };
    const SOFTWARE: u8 = 4;
    let fits = |adapter: &wgpu::Adapter| match choice {
        AdapterChoice::Any => true,
        AdapterChoice::Hardware => rank(adapter) != SOFTWARE,
        AdapterChoice::Software => rank(adapter) == SOFTWARE,
    };
    adapters.into_iter().filter(fits).min_by_key(rank).ok_or(DeviceError::NoAdapter {
        wanted: match choice {
            AdapterChoice::Any => "any",
            AdapterChoice::Hardware => "a hardware",
            AdapterChoice::Software => "a software",
        },
    })
}
