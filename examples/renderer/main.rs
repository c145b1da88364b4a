//! Three heads of three rigs in one frame: a renderer that owns the device and links the library.
//!
//! `cargo run --release --example renderer -- [--motion] [--headless OUT.png [--time SECONDS] [--size WxH]]`
//!
//! In a window arrow keys turn the heads, space plays and pauses, M shows motion, escape quits. Without a display a picture is written.

mod renderer;
mod scene;
mod window;

use renderer::{EYE_M, Renderer, View};
use rigeval::glam::{Quat, Vec3};
use rigeval::gpu::headless::{AdapterChoice, Headless};
use rigeval::wgpu;
use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

/// What the command line asks for.
struct Arguments {
    headless: Option<PathBuf>,
    time_s: f64,
    size: [u32; 2],
    motion: bool,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut arguments = Arguments { headless: None, time_s: 0.62, size: [1200, 520], motion: false };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word}: expected a value"));
            match word.as_str() {
                "--headless" => arguments.headless = Some(value()?.into()),
                "--time" => {
                    let text = value()?;
                    let time = text.parse().ok().filter(|t: &f64| t.is_finite());
                    arguments.time_s = time.ok_or(format!("--time: expected seconds, got {text}"))?;
                }
                "--size" => {
                    let text = value()?;
                    let size = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
                    let size = size.filter(|size: &[u32; 2]| size.iter().all(|edge| (1..=8192).contains(edge)));
                    arguments.size = size.ok_or(format!("--size: expected WxH, 1 to 8192 each, got {text}"))?;
                }
                "--motion" => arguments.motion = true,
                _ => return Err(format!("expected --headless, --time, --size or --motion, got {word}")),
            }
        }
        Ok(arguments)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::read(std::env::args().skip(1))?;
    match &arguments.headless {
        Some(out) => picture(&arguments, out),
        None => match winit::event_loop::EventLoop::new() {
            Ok(events) => window::run(events, arguments.motion),
            Err(error) => {
                println!("no window ({error}): renderer.png instead");
                picture(&arguments, Path::new("renderer.png"))
            }
        },
    }
}

/// Draws one moment into a PNG.
fn picture(arguments: &Arguments, out: &Path) -> Result<(), Box<dyn Error>> {
    let device = Headless::new(AdapterChoice::Any)?;
    let gpu = device.context();
    let mut characters = scene::three_heads(&gpu)?;
    let format = wgpu::TextureFormat::Rgba8UnormSrgb;
    let mut renderer = Renderer::new(&gpu, format, &characters);
    let [width, height] = arguments.size;
    let target = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("picture"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let view = View { turn: Quat::IDENTITY, eye: Vec3::Z * EYE_M, motion: arguments.motion };
    // Motion is the difference to a frame before.
    for time_s in [arguments.time_s - 1.0 / 60.0, arguments.time_s] {
        for character in &mut characters {
            character.perform(time_s)?;
        }
        let mut encoder = device.encoder();
        let drawn = renderer.frame(&gpu, &mut encoder, &target, &mut characters, view);
        device.submit(encoder)?;
        println!("{time_s:.3} s: drawn {}", drawn.join(", "));
    }
    let pixels = device.read_pixels(&target)?;
    let mut encoder = png::Encoder::new(std::io::BufWriter::new(File::create(out)?), width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.write_header()?.write_image_data(&pixels)?;
    println!("{} on {}", out.display(), device.facts().name);
    Ok(())
}
