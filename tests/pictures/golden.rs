//! Small pictures that are committed: a change of how heads look is seen in review.
//!
//! `RIGEVAL_UPDATE_GOLDEN=1` writes them anew and fails, so that no run both changes them and passes.

use crate::properties::difference;
use crate::studio::*;
use rigeval::expression::ArkitShape as A;
use rigeval::math::Aabb;
use rigeval::picture::{Camera, Mode, Scene, View, value_buffer};
use std::fs;
use std::path::PathBuf;

const EDGE: u32 = 160;

fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden_pictures")).join(format!("{name}.png"))
}

fn read(name: &str) -> Image {
    let path = file(name);
    let bytes = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}; RIGEVAL_UPDATE_GOLDEN=1 makes it", path.display()));
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    let pixels = rgb.as_chunks::<3>().0.iter().map(|[r, g, b]| [*r, *g, *b, 255]).collect();
    Image { width: info.width as usize, height: info.height as usize, pixels }
}

fn write(name: &str, image: &Image) {
    fs::create_dir_all(file(name).parent().unwrap()).unwrap();
    let mut encoder = png::Encoder::new(fs::File::create(file(name)).unwrap(), image.width as u32, image.height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let rgb: Vec<u8> = image.pixels.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).collect();
    encoder.write_header().unwrap().write_image_data(&rgb).unwrap();
}

/// Mean channel difference of 255, and the share of pixels of which a channel differs by more than 24. They were made on llvmpipe, where a second
/// run gives the same bytes; SwiftShader, whose edges and derivatives are other ones, is off by at most 0.48 (wires)
/// and 0.0064 (normals).
const TOLERANCE: (f64, f64) = (0.8, 0.01);

/// The face alone, which fills the picture.
fn face(head: &Head) -> Scene {
    let Aabb { min, max } = head.rig.info().rest_bounds;
    let at = |axis: usize, share: f32| min[axis] + share * (max[axis] - min[axis]);
    let bounds = Aabb { min: [at(0, 0.22), at(1, 0.42), at(2, 0.6)], max: [at(0, 0.78), at(1, 0.85), at(2, 1.0)] };
    Scene::new(Camera::framing(&bounds, View::Front, 1.0))
}

#[test]
fn pictures_look_as_they_did() {
    let Some(studio) = studio("pictures_look_as_they_did") else { return };
    let [(_, mut gnm), (_, orl), (_, gltf)] = heads(studio);
    gnm.pose_as(studio, &[(A::JawOpen, 0.9), (A::EyeLookOutLeft, 0.6), (A::EyeLookInRight, 0.6)]);
    let count = gnm.subject.vertex_count();
    let values: Vec<f32> = (0..count).map(|v| v as f32 / count as f32).collect();
    let values = value_buffer(&studio.gpu.context(), &values);
    let error = Mode::Error { values: &values, range: 1.0 };
    let pictures = [
        ("gnm_shaded_face", &gnm, face(&gnm), Mode::Shaded),
        ("gnm_normals_three_quarter", &gnm, gnm.scene(View::ThreeQuarter), Mode::Normals),
        ("gnm_wire_face", &gnm, face(&gnm), Mode::Wire),
        ("gnm_error_front", &gnm, gnm.scene(View::Front), error),
        ("orl_shaded_side", &orl, orl.scene(View::Side), Mode::Shaded),
        ("gltf_shaded_three_quarter", &gltf, gltf.scene(View::ThreeQuarter), Mode::Shaded),
    ];
    let updates = std::env::var("RIGEVAL_UPDATE_GOLDEN").is_ok_and(|v| v == "1");
    let mut wrong = Vec::new();
    for (name, head, scene, mode) in pictures {
        let image = studio.paint([EDGE; 2], &scene, &[head.shot(mode)]);
        if updates {
            write(name, &image);
            continue;
        }
        let (mean, far) = difference(&image, &read(name));
        eprintln!("{name}: mean {mean:.4}, far {far:.5}");
        if mean > TOLERANCE.0 || far > TOLERANCE.1 {
            wrong.push(format!("{name}: mean {mean:.3}, far {far:.4}"));
        }
    }
    assert!(!updates, "golden pictures written anew: look at them, then run without RIGEVAL_UPDATE_GOLDEN");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn golden_comparison_sees_a_head_that_changed() {
    let Some(studio) = studio("golden_comparison_sees_a_head_that_changed") else { return };
    let mut head = gnm(studio, 1);
    head.pose_as(studio, &[(A::EyeLookOutLeft, 0.6), (A::EyeLookInRight, 0.6)]);
    let image = studio.paint([EDGE; 2], &face(&head), &[head.shot(Mode::Shaded)]);
    let (_, far) = difference(&image, &read("gnm_shaded_face"));
    assert!(far > TOLERANCE.1, "a closed mouth instead of an open one: {far} of the pixels");
}
