//! Packs made of formulas, for tests that need a head and no file.
#![allow(dead_code)] // Each test target uses its own part.

use glam::{DAffine3, DQuat, DVec3, Vec3};
use half::f16;
use rigeval::gnm::pack::{BasisFormat, GnmPack, PackJoint, PackParts, Region};
use rigeval::math;

/// The region sizes of the full head; they sum to 383.
pub const FULL_REGIONS: [usize; 5] = [100, 100, 150, 32, 1];

/// A small layout with the same five regions; they sum to 42.
pub const SMALL_REGIONS: [usize; 5] = [8, 8, 20, 5, 1];

/// A repeatable stream of numbers.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed)
    }

    /// Uniform in -1..1 (splitmix64).
    pub fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn point(&mut self) -> DVec3 {
        DVec3::new(self.signed(), self.signed(), self.signed())
    }

    pub fn rotation(&mut self, most_rad: f64) -> DQuat {
        DQuat::from_scaled_axis(self.point().normalize() * most_rad * self.signed())
    }

    /// Controls as a face uses them: coefficients of up to `most`, gaze of up to 20 degrees.
    pub fn controls(&mut self, coefficient_count: usize, most: f64) -> Vec<f32> {
        let expression = (0..coefficient_count).map(|_| 1.0).chain([0.35 / most; 4]);
        expression.map(|unit| (unit * most * self.signed()) as f32).collect()
    }
}

/// The joints of [`parts`]: rests are turned, so that the order of multiplications shows.
pub const JOINTS: [&str; 3] = ["spine", "neck", "head"];

/// The eye centres of [`parts`].
pub const EYES: [[f32; 3]; 2] = [[0.032, 0.285, 0.108], [-0.032, 0.285, 0.108]];

/// The parts of a head-sized pack: an ellipsoid with regions that overlap and are zero elsewhere, two eyeballs, a tongue, lids that follow
/// their eye by a fraction, a seam, a bind transform that turns and scales.
pub fn parts(vertex_count: usize, regions: [usize; 5], format: BasisFormat) -> PackParts {
    let vertices: Vec<Vertex> = (0..vertex_count).map(|i| vertex(i, vertex_count)).collect();
    let (basis, basis_scale) = basis(&vertices, &regions, format);
    let lanes = vertices.iter().flat_map(|v| lanes(v.at));
    let (skin_joints, skin_weights) = lanes.unzip();
    let rest = rest_worlds();
    let names = ["left_eye", "right_eye", "lower_face", "tongue", "pupils"];
    PackParts {
        neutral: vertices.iter().map(|v| v.at.as_vec3().to_array()).collect(),
        basis_format: format,
        basis,
        basis_scale,
        lanes: 4,
        skin_joints,
        skin_weights,
        eye_positions: EYES,
        eye_weights: [0, 1].map(|e| vertices.iter().map(|v| v.eye_weights[e] as f32).collect()),
        joints: (0..3)
            .map(|j| PackJoint {
                name: JOINTS[j].into(),
                parent: j.checked_sub(1),
                rest_world: math::row_major_from_affine(&rest[j]).map(|x| x as f32),
            })
            .collect(),
        bind_transform: math::row_major_from_affine(&DAffine3::from_scale_rotation_translation(
            DVec3::splat(1.04),
            DQuat::from_rotation_x(0.1) * DQuat::from_rotation_z(-0.05),
            DVec3::new(0.01, 1.42, -0.02),
        )),
        regions: names.iter().zip(regions).map(|(n, count)| Region { name: (*n).into(), count }).collect(),
        faces: Vec::new(),
        quads: None,
        uvs: None,
        seam: Some(vertices.iter().map(|v| [0.0, 2e-4 * (1.0 - v.at.y as f32), 1e-4]).collect()),
        mouth: None,
        source: serde_json::Value::Null,
    }
}

/// [`parts`], built.
pub fn pack(vertex_count: usize, regions: [usize; 5], format: BasisFormat) -> GnmPack {
    GnmPack::build(&parts(vertex_count, regions, format)).expect("synthetic parts make a pack")
}

/// The rest worlds of [`JOINTS`].
pub fn rest_worlds() -> [DAffine3; 3] {
    let turned =
        |x: f64, y: f64, z: f64| DAffine3::from_rotation_translation(DQuat::from_rotation_x(x), DVec3::new(0.0, y, z));
    [turned(0.0, 1.0, 0.0), turned(0.2, 1.52, -0.02), turned(-0.1, 1.62, 0.0)]
}

struct Vertex {
    at: DVec3,
    eye_weights: [f64; 2],
    /// How strongly each region moves it; zero outside.
    windows: [f64; 5],
}

/// Spirals over the head, the eyeballs and the tongue, in file order.
fn vertex(i: usize, vertex_count: usize) -> Vertex {
    let (eyes, tongue) = (vertex_count / 10, vertex_count / 50);
    let skin = vertex_count - 2 * eyes - tongue;
    let spiral = |i: usize, n: usize| {
        let y = 1.0 - 2.0 * (i as f64 + 0.5) / n as f64;
        let (sin, cos) = (2.399_963_229_728_653 * i as f64).sin_cos();
        DVec3::new((1.0 - y * y).sqrt() * sin, y, (1.0 - y * y).sqrt() * cos)
    };
    if i < skin {
        skin_vertex(DVec3::new(0.0, 0.2, 0.01) + spiral(i, skin) * DVec3::new(0.075, 0.18, 0.11))
    } else if i < skin + 2 * eyes {
        let (e, i) = ((i - skin) / eyes, (i - skin) % eyes);
        let direction = spiral(i, eyes);
        let pupil = smooth((direction.z - 0.9) / 0.1);
        let eye_weights = [0, 1].map(|own| if own == e { 1.0 } else { 0.0 });
        let at = Vec3::from(EYES[e]).as_dvec3() + 0.0125 * direction;
        Vertex { at, eye_weights, windows: [0.0, 0.0, 0.0, 0.0, pupil] }
    } else {
        let at = DVec3::new(0.0, 0.21, 0.08) + spiral(i - skin - 2 * eyes, tongue) * DVec3::new(0.02, 0.008, 0.03);
        Vertex { at, eye_weights: [0.0; 2], windows: [0.0, 0.0, 0.25, 0.3, 0.0] }
    }
}

fn skin_vertex(at: DVec3) -> Vertex {
    let front = smooth((at.z - 0.01) / 0.06);
    let eye = |side: f64| {
        let d = (DVec3::new(at.x * side - 0.032, at.y - 0.291, 0.0) / DVec3::new(0.041, 0.046, 1.0)).length();
        smooth((1.0 - d) / 0.45) * front
    };
    let lid = |side: f64| {
        let d = DVec3::new(at.x * side - 0.032, at.y - 0.285, 0.0).length() / 0.014;
        if front > 0.5 && d < 2.0 { 0.16 * (-d * d).exp() } else { 0.0 }
    };
    let face = smooth((0.292 - at.y) / 0.05) * smooth((at.y - 0.095) / 0.05) * smooth((at.z + 0.055) / 0.06);
    Vertex { at, eye_weights: [lid(1.0), lid(-1.0)], windows: [eye(1.0), eye(-1.0), face, 0.0, 0.0] }
}

fn smooth(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Neck to head by height, a third joint on a strip between; padding lanes name joint 2 with weight zero.
fn lanes(at: DVec3) -> [(u16, f16); 4] {
    let grid = |w: f64| (w * 2048.0).round() / 2048.0;
    let head = grid(smooth((at.y - 0.085) / 0.095));
    let spine = grid((1.0 - head) * smooth((0.06 - at.y) / 0.05) * 0.5);
    let weights = [(1, 1.0 - head - spine), (2, head), (0, spine), (2, 0.0)];
    weights.map(|(joint, w)| (joint, f16::from_f64(w)))
}

/// Per region waves of falling size and wavelength under the region's window.
fn basis(vertices: &[Vertex], regions: &[usize; 5], format: BasisFormat) -> (Vec<u8>, Vec<f32>) {
    let mut numbers = Numbers::new(7);
    let waves: Vec<(usize, f64, [DVec3; 2], DVec3)> = (0..5)
        .flat_map(|region| (0..regions[region]).map(move |i| (region, i)))
        .map(|(region, i)| {
            let peak = 0.0042 / (1.0 + i as f64).powf(0.75);
            let frequency = 20.0 + 2.0 * i as f64;
            (region, peak, [numbers.point() * frequency, numbers.point().normalize()], numbers.point())
        })
        .collect();
    let scale: Vec<f32> = waves
        .iter()
        .map(|(_, peak, ..)| match format {
            BasisFormat::F16 => (peak / 65504.0).log2().ceil().exp2() as f32,
            BasisFormat::I8 => (peak / 127.0) as f32,
        })
        .collect();
    let mut basis = Vec::new();
    for v in vertices {
        for ((region, peak, [wave, direction], phase), &scale) in waves.iter().zip(&scale) {
            let window = v.windows[*region];
            let size = if window == 0.0 { 0.0 } else { peak * window * (wave.dot(v.at) + phase.x).cos() };
            for component in (*direction * (size / f64::from(scale))).to_array() {
                match format {
                    BasisFormat::F16 => basis.extend(f16::from_f64(component).to_le_bytes()),
                    BasisFormat::I8 => basis.extend((component.round() as i8).to_le_bytes()),
                }
            }
        }
    }
    (basis, scale)
}
