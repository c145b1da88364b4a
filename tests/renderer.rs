//! `examples/renderer`, drawn without a window: what stands where in its picture.
#![cfg(feature = "gpu")]

mod common;
#[path = "../examples/renderer/renderer.rs"]
mod renderer;
#[path = "../examples/renderer/scene.rs"]
mod scene;

use common::device;
use renderer::{EYE_M, Renderer, View};
use rigeval::glam::{Quat, Vec3};
use rigeval::gpu::headless::Headless;
use rigeval::wgpu;
use scene::{Character, three_heads};

const WIDTH: u32 = 480;
const HEIGHT: u32 = 200;
/// The middle grey of no motion, linear 0.5, in sRGB.
const STILL: u8 = 188;
const LIT: View = View { turn: Quat::IDENTITY, eye: Vec3::new(0.0, 0.0, EYE_M), motion: false };

struct Stage {
    gpu: &'static Headless,
    characters: Vec<Character>,
    renderer: Renderer,
    target: wgpu::Texture,
}

/// A picture, and who was drawn in it.
struct Frame {
    pixels: Vec<[u8; 4]>,
    drawn: Vec<&'static str>,
}

impl Stage {
    fn new(test: &str) -> Option<Stage> {
        let gpu = device(test)?;
        let characters = three_heads(&gpu.context()).unwrap_or_else(|e| panic!("{e}"));
        let format = wgpu::TextureFormat::Rgba8UnormSrgb;
        let renderer = Renderer::new(&gpu.context(), format, &characters);
        let target = gpu.device().create_texture(&wgpu::TextureDescriptor {
            label: Some("test.picture"),
            size: wgpu::Extent3d { width: WIDTH, height: HEIGHT, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        Some(Stage { gpu, characters, renderer, target })
    }

    fn frame(&mut self, seconds: f64, view: View) -> Frame {
        for character in &mut self.characters {
            character.perform(seconds).unwrap_or_else(|e| panic!("{}: {e}", character.name));
        }
        let mut encoder = self.gpu.encoder();
        let drawn = self.renderer.frame(&self.gpu.context(), &mut encoder, &self.target, &mut self.characters, view);
        self.gpu.submit(encoder).unwrap();
        let pixels = self.gpu.read_pixels(&self.target).unwrap().as_chunks().0.to_vec();
        Frame { pixels, drawn }
    }
}

impl Frame {
    /// The pixels of one third that are not the backdrop of the corner.
    fn silhouette(&self, third: usize) -> Vec<[u8; 4]> {
        let backdrop = self.pixels[0];
        let in_third = |at: usize| at % WIDTH as usize * 3 / WIDTH as usize == third;
        let pixels = self.pixels.iter().enumerate();
        pixels.filter(|&(at, pixel)| in_third(at) && *pixel != backdrop).map(|(_, pixel)| *pixel).collect()
    }

    /// How much of one third they are.
    fn share(&self, third: usize) -> f64 {
        self.silhouette(third).len() as f64 / (f64::from(WIDTH * HEIGHT) / 3.0)
    }
}

#[test]
fn renderer_draws_each_rig_in_its_third() {
    let Some(mut stage) = Stage::new("renderer_draws_each_rig_in_its_third") else { return };
    for seconds in [0.0, 0.62] {
        let frame = stage.frame(seconds, LIT);
        assert_eq!(frame.drawn, ["gnm", "orl", "gltf"]);
        for third in 0..3 {
            let share = frame.share(third);
            // One head, in metres whatever its unit: neither a dot nor the whole third.
            assert!((0.2..0.8).contains(&share), "third {third} at {seconds} s: {share}");
            for [r, g, b, a] in frame.silhouette(third) {
                assert!(r | g | b != 0, "third {third} at {seconds} s: black");
                assert!(!(r > 200 && g < 60 && b > 200), "third {third} at {seconds} s: magenta {r} {g} {b}");
                assert_eq!(a, 255, "third {third} at {seconds} s: not opaque");
            }
        }
    }
}

#[test]
fn renderer_colors_of_a_moving_character_are_motion() {
    let Some(mut stage) = Stage::new("renderer_colors_of_a_moving_character_are_motion") else { return };
    let view = View { motion: true, ..LIT };
    let moving_pixels = |frame: &Frame, third| {
        let is_moving = |[r, g, ..]: &[u8; 4]| r.abs_diff(STILL) > 2 || g.abs_diff(STILL) > 2;
        // Edges are blended with the backdrop, which is darker than anything inside.
        frame.silhouette(third).iter().filter(|pixel| pixel[2] >= STILL - 1 && is_moving(pixel)).count()
    };
    for (seconds, moves) in [(0.6, false), (0.6 + 1.0 / 60.0, true), (0.6 + 1.0 / 60.0, false)] {
        let frame = stage.frame(seconds, view);
        for third in 0..3 {
            let moving = moving_pixels(&frame, third);
            assert_eq!(moving > 200, moves, "third {third} at {seconds} s: {moving} pixels move");
            assert!(moves || moving == 0, "third {third} at {seconds} s: {moving} pixels move at rest");
        }
    }
    // Turned as a whole, with the same controls: the last frame's place counts too.
    let frame = stage.frame(0.6 + 1.0 / 60.0, View { turn: Quat::from_rotation_y(0.05), ..view });
    assert!((0..3).all(|third| moving_pixels(&frame, third) > 200));
}

#[test]
fn renderer_leaves_out_a_character_outside_the_frustum() {
    let Some(mut stage) = Stage::new("renderer_leaves_out_a_character_outside_the_frustum") else { return };
    let place = stage.characters[1].place;
    for (offset, is_drawn) in
        [(Vec3::Y * 3.0, false), (Vec3::Z * 3.0, false), (Vec3::ZERO, true), (Vec3::X * -9.0, false)]
    {
        stage.characters[1].place = place + offset;
        let frame = stage.frame(1.0, LIT);
        assert_eq!(frame.drawn.contains(&"orl"), is_drawn, "moved by {offset}");
        assert_eq!(frame.share(1) > 0.2, is_drawn, "moved by {offset}");
        assert!(is_drawn || frame.share(1) == 0.0, "moved by {offset}: {}", frame.share(1));
        assert!(frame.share(0) > 0.2 && frame.share(2) > 0.2);
    }
}
