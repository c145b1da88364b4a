//! What a picture must show whatever it looks like.

use crate::studio::*;
use rigeval::backend::{VertexSpace, VertexView};
use rigeval::expression::ArkitShape as A;
use rigeval::glam::{Affine3A, Vec3};
use rigeval::info::{MeshPart, RigMesh};
use rigeval::math::Aabb;
use rigeval::picture::{Camera, Mode, Painter, Scene, Shot, Subject, View, error_color, srgb_of_linear, value_buffer};

const EDGE: u32 = 320;

/// Pixels that differ from the same picture without a subject.
fn silhouette(studio: &Studio, image: &Image, scene: &Scene) -> Vec<[f64; 2]> {
    let empty = studio.paint([image.width as u32, image.height as u32], scene, &[]);
    let differs = |(a, b): (&[u8; 4], &[u8; 4])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 4);
    let inside: Vec<bool> = image.pixels.iter().zip(&empty.pixels).map(differs).collect();
    let places = (0..inside.len()).filter(|i| inside[*i]);
    places.map(|i| [(i % image.width) as f64, (i / image.width) as f64]).collect()
}

fn centroid(places: &[[f64; 2]]) -> [f64; 2] {
    [0, 1].map(|axis| places.iter().map(|p| p[axis]).sum::<f64>() / places.len() as f64)
}

/// Mean difference of a channel, and the share of pixels of which a channel differs by more than 24.
pub fn difference(a: &Image, b: &Image) -> (f64, f64) {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let (mut sum, mut far) = (0.0, 0);
    for (a, b) in a.pixels.iter().zip(&b.pixels) {
        let off = [0, 1, 2].map(|i| a[i].abs_diff(b[i]));
        sum += off.iter().map(|x| f64::from(*x)).sum::<f64>() / 3.0;
        far += usize::from(off.iter().any(|x| *x > 24));
    }
    let count = a.pixels.len() as f64;
    (sum / count, far as f64 / count)
}

/// The same scene with the lights on the other side.
fn lit_from_the_other_side(scene: &Scene) -> Scene {
    let mut other = *scene;
    other.key.towards[0] *= -1.0;
    other.fill.towards[0] *= -1.0;
    other
}

/// Between a symmetric head and its mirror image: mean channel difference of 255, and the share of pixels off by more than 24. Its quads are split
/// along the same diagonal on both sides, so that area-weighted normals and shades differ a little; measured on llvmpipe and SwiftShader: 0.45 and 0.0021.
const SYMMETRIC_HEAD: (f64, f64) = (0.7, 0.005);

/// Between a reflected head and the reflected picture: a sample on an edge belongs to the triangle on its left, and the width of wires comes from
/// differences between pixels. Measured on llvmpipe: shaded 0.033 and 0.0004, wire 0.176 and 0.0004; on SwiftShader 0.043 and 0.0004, 0.188 and 0.0004.
const REFLECTED: (f64, f64) = (0.3, 0.001);

#[test]
fn symmetric_pose_is_its_own_mirror_image() {
    let Some(studio) = studio("symmetric_pose_is_its_own_mirror_image") else { return };
    let mut head = gnm(studio, 1);
    for weights in [&[][..], &[(A::JawOpen, 0.8), (A::MouthSmileLeft, 0.6), (A::MouthSmileRight, 0.6)]] {
        head.pose_as(studio, weights);
        let scene = head.scene(View::Front);
        let image = studio.paint([EDGE; 2], &scene, &[head.shot(Mode::Shaded)]);
        let other = studio.paint([EDGE; 2], &lit_from_the_other_side(&scene), &[head.shot(Mode::Shaded)]);
        let (mean, far) = difference(&image, &other.mirrored());
        eprintln!("symmetric {weights:?}: mean {mean:.4}, far {far:.5}");
        assert!(mean <= SYMMETRIC_HEAD.0 && far <= SYMMETRIC_HEAD.1, "{weights:?}: mean {mean}, far {far}");
        // The lights do come from somewhere: without moving them the picture differs.
        assert!(difference(&image, &image.mirrored()).0 > 2.0 * SYMMETRIC_HEAD.0);
    }
}

#[test]
fn reflected_head_gives_the_reflected_picture() {
    let Some(studio) = studio("reflected_head_gives_the_reflected_picture") else { return };
    let mut head = gnm(studio, 1);
    head.pose_as(studio, &[(A::JawOpen, 0.5), (A::MouthSmileLeft, 0.9), (A::EyeLookOutLeft, 0.5)]);
    let scene = head.scene(View::Front);
    let world_from_rig = Affine3A::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    for mode in [Mode::Shaded, Mode::Wire] {
        let image = studio.paint([EDGE; 2], &scene, &[head.shot(mode)]);
        let shot = Shot { world_from_rig, ..head.shot(mode) };
        let other = studio.paint([EDGE; 2], &lit_from_the_other_side(&scene), &[shot]);
        let (mean, far) = difference(&image, &other.mirrored());
        eprintln!("reflected {mode:?}: mean {mean:.4}, far {far:.5}");
        assert!(mean <= REFLECTED.0 && far <= REFLECTED.1, "{mode:?}: mean {mean}, far {far}");
    }
}

/// Bright and a little warm: skin that is as bright has less blue, and the backdrop is darker.
fn is_tooth([r, _, b, _]: [u8; 4]) -> bool {
    r > 190 && b > 165 && r > b
}

#[test]
fn open_mouth_shows_teeth() {
    let Some(studio) = studio("open_mouth_shows_teeth") else { return };
    let mut head = gnm(studio, 1);
    let teeth = |head: &Head| {
        let image = studio.portrait(head, View::Front, Mode::Shaded, 2 * EDGE);
        // Below the eyes, whose white is as bright.
        image.places(is_tooth).into_iter().filter(|[_, y]| *y > 0.38 * image.height as f64).count()
    };
    let closed = teeth(&head);
    head.pose_as(studio, &[(A::JawOpen, 1.0)]);
    let open = teeth(&head);
    eprintln!("teeth: {closed} closed, {open} open");
    assert!(closed == 0 && open > 60, "{closed} pixels of teeth in a closed mouth, {open} in an open one");
}

#[test]
fn irises_go_where_the_eyes_look() {
    let Some(studio) = studio("irises_go_where_the_eyes_look") else { return };
    let mut head = gnm(studio, 1);
    let pupils = |head: &mut Head, weights: &[(A, f32)]| {
        head.pose_as(studio, weights);
        let image = studio.portrait(head, View::Front, Mode::Shaded, 3 * EDGE);
        let is_dark = |[r, g, b, _]: [u8; 4]| r.max(g).max(b) < 56;
        let dark: Vec<_> = image.places(is_dark).into_iter().filter(|[_, y]| *y < 0.38 * image.height as f64).collect();
        assert!(dark.len() > 20, "{weights:?}: {} dark pixels in the eyes", dark.len());
        centroid(&dark)
    };
    let rest = pupils(&mut head, &[]);
    let left = pupils(&mut head, &[(A::EyeLookOutLeft, 0.7), (A::EyeLookInRight, 0.7)]);
    let right = pupils(&mut head, &[(A::EyeLookInLeft, 0.7), (A::EyeLookOutRight, 0.7)]);
    let down = pupils(&mut head, &[(A::EyeLookDownLeft, 0.4), (A::EyeLookDownRight, 0.4)]);
    eprintln!("pupils: {rest:?}, left {left:?}, right {right:?}, down {down:?}");
    let middle = f64::from(3 * EDGE) / 2.0;
    assert!((rest[0] - middle).abs() < 3.0, "at rest the pupils' middle is at {}", rest[0]);
    // Seen from the front the subject's left is on the right.
    assert!(left[0] > rest[0] + 4.0 && right[0] < rest[0] - 4.0, "{} left, {} right", left[0], right[0]);
    assert!(down[1] > rest[1] + 1.0, "{} down, {} at rest", down[1], rest[1]);
}

#[test]
fn silhouette_of_every_rig_and_view_is_inside_with_a_margin() {
    let Some(studio) = studio("silhouette_of_every_rig_and_view_is_inside_with_a_margin") else { return };
    for (name, head) in heads(studio) {
        for view in View::ALL {
            let scene = head.scene(view);
            let image = studio.paint([EDGE; 2], &scene, &[head.shot(Mode::Shaded)]);
            let places = silhouette(studio, &image, &scene);
            let share = places.len() as f64 / image.pixels.len() as f64;
            assert!((0.15..0.75).contains(&share), "{name} {view:?}: {share} of the picture");
            let edge = f64::from(EDGE) - 1.0;
            let margin = places.iter().flat_map(|[x, y]| [*x, *y, edge - x, edge - y]).fold(f64::MAX, f64::min);
            assert!(margin > 0.02 * edge, "{name} {view:?}: {margin} pixels to the edge");
            let [_, y] = centroid(&places);
            assert!((0.35..0.75).contains(&(y / edge)), "{name} {view:?}: centre at height {y}");
        }
    }
}

#[test]
fn modes_cover_the_same_pixels() {
    let Some(studio) = studio("modes_cover_the_same_pixels") else { return };
    let mut head = gnm(studio, 2);
    // Of the second instance, so that pulled vertices and bound ones begin at the same place.
    let controls = head.express(&[(A::JawOpen, 1.0)]);
    head.rig.set_controls(1, &controls).unwrap();
    let rest = head.rig.info().default_controls.clone();
    head.pose(studio, &rest);
    let scene = head.scene(View::ThreeQuarter);
    let values = value_buffer(&studio.gpu.context(), &vec![0.5; head.subject.vertex_count()]);
    let of = |instance: usize, mode| {
        let image = studio.paint([EDGE; 2], &scene, &[Shot { instance, ..head.shot(mode) }]);
        silhouette(studio, &image, &scene)
    };
    for instance in [0, 1] {
        let shaded = of(instance, Mode::Shaded);
        for mode in [Mode::Normals, Mode::Wire, Mode::Error { values: &values, range: 1.0 }] {
            let other = of(instance, mode);
            let missing = shaded.iter().filter(|p| !other.contains(p)).count();
            // A pixel of the border may have the backdrop's colour by chance.
            assert!(
                missing * 200 < shaded.len(),
                "{mode:?} of instance {instance}: {missing} of {} missing",
                shaded.len()
            );
        }
    }
    assert_ne!(of(0, Mode::Wire), of(1, Mode::Wire), "the jaw of the second instance is open");
}

#[test]
fn error_shows_only_where_there_is_one() {
    let Some(studio) = studio("error_shows_only_where_there_is_one") else { return };
    let head = gnm(studio, 1);
    let scene = head.scene(View::Front);
    let paint = |values: &[f32]| {
        let values = value_buffer(&studio.gpu.context(), values);
        studio.paint([EDGE; 2], &scene, &[head.shot(Mode::Error { values: &values, range: 2e-6 })])
    };
    // Warm colours are errors: neither the backdrop nor the pale end of the scale has them.
    let is_error = |[r, _, b, _]: [u8; 4]| i32::from(r) - i32::from(b) > 40 || i32::from(b) - i32::from(r) > 60;
    let mut values = vec![0.0; head.subject.vertex_count()];
    let equal = paint(&values);
    assert_eq!(equal.places(is_error).len(), 0);

    let positions = crate::common::vertices(studio.gpu, head.rig.vertices().current_positions());
    let triangles = head.rig.mesh().triangles[head.rig.mesh().parts[0].triangles.clone()].as_flattened();
    let foremost = |a: &&u32, b: &&u32| positions[**a as usize][2].total_cmp(&positions[**b as usize][2]);
    let nose = *triangles.iter().max_by(foremost).unwrap() as usize;
    values[nose] = 1.5e-6;
    let moved = paint(&values).places(is_error);
    let ndc = scene.camera.clip_from_world().project_point3(Vec3::from(positions[nose]));
    let expected = [(0.5 + 0.5 * ndc.x) * EDGE as f32, (0.5 - 0.5 * ndc.y) * EDGE as f32].map(f64::from);
    let [x, y] = centroid(&moved);
    assert!(moved.len() > 8, "{} pixels show the error", moved.len());
    let off = (x - expected[0]).hypot(y - expected[1]);
    assert!(off < 0.05 * f64::from(EDGE), "error shown at {x}, {y}, the vertex is at {expected:?}");
    assert!(moved.len() * 100 < equal.pixels.len(), "{} pixels show the error of one vertex", moved.len());
}

/// A square that faces the camera, with a normal that does not matter.
fn square(studio: &Studio) -> (Subject, wgpu::Buffer) {
    let positions = [[-1.0f32, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]];
    let part = MeshPart { name: "plate".into(), triangles: 0..2, look: None };
    let mesh = RigMesh { triangles: vec![[0, 1, 2], [0, 2, 3]], parts: vec![part], uvs: None };
    let gpu = studio.gpu.context();
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 48,
        usage: rigeval::gpu::VERTEX_USAGES,
        mapped_at_creation: false,
    });
    gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&positions));
    (Subject::new(&gpu, &mesh, &positions).unwrap(), buffer)
}

fn view(buffer: &wgpu::Buffer) -> VertexView<'_> {
    VertexView {
        positions: [buffer, buffer],
        current: 0,
        previous: 0,
        normals: None,
        tangents: None,
        space: VertexSpace::Rig,
        vertex_count: 4,
        instance_count: 1,
    }
}

#[test]
fn error_colors_are_those_of_the_scale() {
    let Some(studio) = studio("error_colors_are_those_of_the_scale") else { return };
    let (subject, buffer) = square(studio);
    let bounds = Aabb { min: [-1.0, -1.0, 0.0], max: [1.0, 1.0, 0.0] };
    let scene = Scene::new(Camera::framing(&bounds, View::Front, 1.0));
    for step in 0..=10 {
        let share = step as f32 / 8.0;
        let values = value_buffer(&studio.gpu.context(), &[3.0 * share; 4]);
        let shot = Shot::new(&subject, view(&buffer), Mode::Error { values: &values, range: 3.0 });
        let found = studio.paint([32; 2], &scene, &[shot]).at(16, 16);
        let expected = error_color(share).map(|c| (srgb_of_linear(c) * 255.0).round() as i32);
        let off = (0..3).map(|i| (i32::from(found[i]) - expected[i]).abs()).max().unwrap();
        assert!(off <= 2, "{share}: {found:?}, the scale has {expected:?}");
    }
}

#[test]
fn formats_without_srgb_are_encoded_by_the_shader() {
    let Some(studio) = studio("formats_without_srgb_are_encoded_by_the_shader") else { return };
    let plain = Painter::new(&studio.gpu.context(), wgpu::TextureFormat::Rgba8Unorm);
    let head = gnm(studio, 1);
    for mode in [Mode::Shaded, Mode::Normals, Mode::Wire] {
        let scene = head.scene(View::ThreeQuarter);
        let by_format = studio.paint([EDGE; 2], &scene, &[head.shot(mode)]);
        let by_shader = studio.paint_by(&plain, [EDGE; 2], &scene, &[head.shot(mode)]);
        // Edges are blended as light by the one, as numbers by the other.
        let close = by_format.pixels.iter().zip(&by_shader.pixels);
        let close = close.filter(|(a, b)| a.iter().zip(*b).all(|(a, b)| a.abs_diff(*b) <= 1)).count();
        let share = close as f64 / by_format.pixels.len() as f64;
        assert!(share > if matches!(mode, Mode::Wire) { 0.55 } else { 0.95 }, "{mode:?}: {share} alike");
    }
}

#[test]
fn several_rigs_share_a_pass() {
    let Some(studio) = studio("several_rigs_share_a_pass") else { return };
    let heads = heads(studio);
    let placed = |index: usize, head: &Head| {
        let metres = head.rig.info().units.in_metres() as f32;
        Affine3A::from_translation(Vec3::X * 0.3 * (index as f32 - 1.0)) * Affine3A::from_scale(Vec3::splat(metres))
    };
    let shots: Vec<Shot> = heads
        .iter()
        .enumerate()
        .map(|(i, (_, head))| Shot { world_from_rig: placed(i, head), ..head.shot(Mode::Shaded) })
        .collect();
    let bounds = Aabb { min: [-0.45, 0.02, -0.11], max: [0.45, 0.39, 0.16] };
    let scene = Scene::new(Camera::framing(&bounds, View::Front, 2.0));
    let size = [2 * EDGE, EDGE];
    let together = studio.paint(size, &scene, &shots);
    let all = silhouette(studio, &together, &scene);
    let third = f64::from(2 * EDGE) / 3.0;
    for (index, ((name, _), shot)) in heads.iter().zip(&shots).enumerate() {
        let alone = studio.paint(size, &scene, std::slice::from_ref(shot));
        let own = silhouette(studio, &alone, &scene);
        assert!(own.len() > 2_000, "{name}: {} pixels", own.len());
        let [x, _] = centroid(&own);
        assert!((index as f64 * third..(index + 1) as f64 * third).contains(&x), "{name} stands at {x}");
        assert!(
            own.iter().all(|p| together.at(p[0] as usize, p[1] as usize) == alone.at(p[0] as usize, p[1] as usize))
        );
    }
    let sum: usize = shots
        .iter()
        .map(|shot| silhouette(studio, &studio.paint(size, &scene, std::slice::from_ref(shot)), &scene).len())
        .sum();
    assert_eq!(all.len(), sum);
    // Magenta is what a missing material looks like, black what a missing light does.
    let faulty = |[r, g, b, _]: [u8; 4]| r > 200 && b > 200 && g < 60;
    assert_eq!(together.places(faulty).len(), 0);
    let black = together.places(|[r, g, b, _]| r.max(g).max(b) < 8).len();
    assert!(black < all.len() / 50, "{black} black pixels");
}

#[test]
fn vertices_of_another_mesh_panic_with_both_counts() {
    let Some(studio) = studio("vertices_of_another_mesh_panic_with_both_counts") else { return };
    let head = gnm(studio, 1);
    let (square, _) = square(studio);
    let shot = Shot::new(&square, head.rig.vertices(), Mode::Shaded);
    let scene = head.scene(View::Front);
    let painted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| studio.paint([16; 2], &scene, &[shot])));
    let message = *painted.expect_err("a panic").downcast::<String>().expect("a message");
    assert!(message.contains("2090") && message.contains('4'), "{message}");
}

#[test]
fn clear_parts_are_left_out() {
    let Some(studio) = studio("clear_parts_are_left_out") else { return };
    let mesh = |name: &str| RigMesh {
        triangles: vec![[0, 1, 2]],
        parts: vec![MeshPart { name: name.into(), triangles: 0..1, look: None }],
        uvs: None,
    };
    let rest = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let subject = |name: &str| Subject::new(&studio.gpu.context(), &mesh(name), &rest).unwrap();
    assert!(subject("eyeshell_lod0_mesh").is_empty());
    assert!(!subject("eyeLeft_lod0_mesh").is_empty());
}
