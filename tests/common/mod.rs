//! What the GPU tests share: one device, and comparisons that can fail.
#![allow(dead_code)]

pub mod compare;

use rigeval::gpu::headless::{AdapterChoice, Headless};
use std::sync::OnceLock;

/// A bit pattern that is NaN and that no shader writes: what still holds it was not written.
pub const UNWRITTEN: u32 = 0x7fc0_dead;

/// The device that all tests of one binary share, or `None` where the machine has no adapter.
///
/// With `RIGEVAL_REQUIRE_GPU=1` a missing adapter fails the test.
pub fn device(test: &str) -> Option<&'static Headless> {
    static DEVICE: OnceLock<Option<Headless>> = OnceLock::new();
    let device = DEVICE.get_or_init(|| match Headless::new(AdapterChoice::Any) {
        Ok(device) => Some(device),
        Err(error) if std::env::var("RIGEVAL_REQUIRE_GPU").is_ok_and(|v| v == "1") => panic!("{error}"),
        Err(error) => {
            eprintln!("{error}");
            None
        }
    });
    if device.is_none() {
        eprintln!("SKIP {test}: no GPU adapter");
    }
    device.as_ref()
}

/// Fills a buffer with [`UNWRITTEN`].
pub fn fill_unwritten(gpu: &Headless, buffer: &wgpu::Buffer) {
    let words = vec![UNWRITTEN; buffer.size() as usize / 4];
    gpu.queue().write_buffer(buffer, 0, bytemuck::cast_slice(&words));
}

/// Numbers between -1 and 1 that are the same on every machine and run.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Noise {
        Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> f32 {
        // xorshift64*: good enough to move vertices about.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    pub fn below(&mut self, n: usize) -> usize {
        ((self.next() * 0.5 + 0.5) * n as f32) as usize % n
    }

    pub fn point(&mut self, scale: f32) -> [f32; 3] {
        [self.next() * scale, self.next() * scale, self.next() * scale]
    }
}
