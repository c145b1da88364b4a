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

/// Vertices from the floats of a position or normal buffer.
pub fn vertices(gpu: &Headless, buffer: &wgpu::Buffer) -> Vec<[f32; 3]> {
    let floats = gpu.read_f32(buffer).unwrap_or_else(|e| panic!("{e}"));
    floats.as_chunks().0.to_vec()
}
