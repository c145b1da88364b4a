//! A mesh made ready to be painted: its triangles, the colours of its parts, and what the rest shape says about each vertex.

use super::materials::{Material, Tissue};
use super::occlusion::openness;
use crate::error::LimitError;
use crate::gpu::limits::Planner;
use crate::gpu::{GpuContext, storage_buffer};
use crate::info::{MeshPart, RigMesh};
use crate::math::Aabb;
use std::ops::Range;

/// A mesh on the device, for any number of rigs and instances that pose it.
#[derive(Debug)]
pub struct Subject {
    /// Three a triangle; drawn from, and pulled from for wires.
    pub(super) indices: wgpu::Buffer,
    /// (V, 4): where a vertex lies in its eye, and the light that reaches it.
    pub(super) features: wgpu::Buffer,
    /// One for each part.
    pub(super) materials: wgpu::Buffer,
    /// What is drawn: a part and its indices.
    pub(super) draws: Vec<(u32, Range<u32>)>,
    vertex_count: usize,
}

impl Subject {
    /// Uploads a mesh. `rest` is its rest shape, looking along +Z: irises lie where the eyes look at rest, and go with them from there.
    ///
    /// Parts are coloured by their names, or as the file says; clear ones, such as the film over an eye, are left out. A mesh without triangles
    /// paints nothing.
    ///
    /// # Shapes
    /// rest: (V, 3)
    ///
    /// # Errors
    /// The device limit that the mesh would break.
    pub fn new(gpu: &GpuContext, mesh: &RigMesh, rest: &[[f32; 3]]) -> Result<Subject, LimitError> {
        let limits = gpu.device.limits();
        let planner = Planner::new(&limits);
        planner.storage("triangles of a picture", mesh.triangles.len() as u64 * 12)?;
        planner.storage("vertices of a picture", rest.len() as u64 * 16)?;
        planner.storage("parts of a picture", mesh.parts.len() as u64 * size_of::<Material>() as u64)?;

        let materials: Vec<Material> = mesh.parts.iter().enumerate().map(|(i, part)| Material::of(i, part)).collect();
        let shown = mesh.parts.iter().enumerate().filter(|(_, part)| Tissue::of(&part.name) != Tissue::Clear);
        let corners = |r: &Range<usize>| r.start as u32 * 3..r.end as u32 * 3;
        let draws = shown.map(|(index, part)| (index as u32, corners(&part.triangles))).collect();
        let features = features(mesh, rest);
        Ok(Subject {
            indices: buffer(gpu, "rigeval.picture.indices", wgpu::BufferUsages::INDEX, mesh.triangles.as_flattened()),
            features: buffer(gpu, "rigeval.picture.features", wgpu::BufferUsages::VERTEX, features.as_flattened()),
            materials: storage_buffer(gpu, "rigeval.picture.materials", &materials),
            draws,
            vertex_count: rest.len(),
        })
    }

    /// V.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// Whether there is nothing to paint.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.draws.is_empty()
    }
}

/// One number for each vertex of an instance, for [`Mode::Error`](super::Mode::Error).
///
/// # Shapes
/// values: (V)
#[must_use]
pub fn value_buffer(gpu: &GpuContext, values: &[f32]) -> wgpu::Buffer {
    buffer(gpu, "rigeval.picture.values", wgpu::BufferUsages::VERTEX, values)
}

fn buffer<T: bytemuck::NoUninit>(
    gpu: &GpuContext,
    label: &str,
    usage: wgpu::BufferUsages,
    contents: &[T],
) -> wgpu::Buffer {
    let bytes: &[u8] = bytemuck::cast_slice(contents);
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        // An empty one still binds.
        size: bytes.len().max(16) as u64,
        usage: usage | wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    if !bytes.is_empty() {
        gpu.queue.write_buffer(&buffer, 0, bytes);
    }
    buffer
}

/// The share of light that reaches the most hidden vertex.
const DARKEST: f32 = 0.12;

/// (V, 4) From the centre of the vertex's eye in its radii, zero outside of eyes, and the light that reaches the vertex, 0..1.
fn features(mesh: &RigMesh, rest: &[[f32; 3]]) -> Vec<[f32; 4]> {
    let mut features = vec![[0.0, 0.0, 0.0, 1.0]; rest.len()];
    let corners = |part: &MeshPart| mesh.triangles[part.triangles.clone()].as_flattened();
    let position = |v: &u32| rest.get(*v as usize).copied();
    let tissues = mesh.parts.iter().map(|part| (part, Tissue::of(&part.name)));
    let solid = tissues.clone().filter(|(_, tissue)| *tissue != Tissue::Clear);
    let solid: Vec<[u32; 3]> = solid.flat_map(|(part, _)| &mesh.triangles[part.triangles.clone()]).copied().collect();
    let open = openness(&solid, rest);
    // Eyes turn, and what hides them at rest does not turn with them.
    for (part, _) in tissues.clone().filter(|(_, tissue)| *tissue != Tissue::Eye) {
        for v in corners(part).iter().map(|v| *v as usize).filter(|v| *v < rest.len()) {
            features[v][3] = DARKEST + (1.0 - DARKEST) * open[v];
        }
    }
    for (part, _) in tissues.clone().filter(|(_, tissue)| *tissue == Tissue::Eye) {
        for eye in eyes(corners(part), rest) {
            for (v, offset) in eye {
                features[v as usize][..3].copy_from_slice(&offset);
            }
        }
    }
    // The farther behind the lips, the less light.
    let mouth: Vec<&[u32]> =
        tissues.filter(|(_, tissue)| tissue.is_in_mouth()).map(|(part, _)| corners(part)).collect();
    let bounds = Aabb::of_points(mouth.iter().flat_map(|part| part.iter().filter_map(position)));
    let depth = bounds.max[2] - bounds.min[2];
    for v in mouth.into_iter().flatten().filter(|_| depth > 0.0) {
        let Some(p) = position(v) else { continue };
        let forward = ((p[2] - bounds.min[2]) / depth).clamp(0.0, 1.0);
        features[*v as usize][3] = 0.10 + 0.90 * forward * forward;
    }
    features
}

/// The eyes of a part: one, or one on each side where the part holds both. Each vertex with its offset from the centre, in radii.
fn eyes(corners: &[u32], rest: &[[f32; 3]]) -> Vec<Vec<(u32, [f32; 3])>> {
    let mut vertices: Vec<u32> = corners.iter().copied().filter(|&v| (v as usize) < rest.len()).collect();
    vertices.sort_unstable();
    vertices.dedup();
    let at = |v: &u32| rest[*v as usize];
    let bounds = Aabb::of_points(vertices.iter().map(at));
    let extent: [f32; 3] = std::array::from_fn(|i| bounds.max[i] - bounds.min[i]);
    let middle = (bounds.min[0] + bounds.max[0]) / 2.0;
    // Two eyeballs in one part are wider apart than they are high.
    let groups = match extent[0] > 1.8 * extent[1] {
        true => {
            let (left, right) = vertices.into_iter().partition(|v| at(v)[0] > middle);
            vec![left, right]
        }
        false => vec![vertices],
    };
    groups.iter().map(|group| eye(group, rest)).collect()
}

fn eye(vertices: &[u32], rest: &[[f32; 3]]) -> Vec<(u32, [f32; 3])> {
    let bounds = Aabb::of_points(vertices.iter().map(|v| rest[*v as usize]));
    let half: [f32; 3] = std::array::from_fn(|i| (bounds.max[i] - bounds.min[i]) / 2.0);
    let radius = half[0].max(half[1]).max(f32::MIN_POSITIVE);
    let centre: [f32; 3] = std::array::from_fn(|i| match i {
        // The cornea stands out in front, so depth is measured from the back; half a ball has none and is measured from the front.
        2 if half[2] > 0.8 * radius => bounds.min[2] + radius,
        2 => bounds.max[2] - radius,
        _ => (bounds.min[i] + bounds.max[i]) / 2.0,
    });
    let offset = |v: &u32| std::array::from_fn(|i| (rest[*v as usize][i] - centre[i]) / radius);
    vertices.iter().map(|v| (*v, offset(v))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball(centre: [f32; 3]) -> Vec<[f32; 3]> {
        let axis = |i: usize, s: f32| std::array::from_fn(|k| centre[k] + if k == i { s * 0.012 } else { 0.0 });
        (0..3).flat_map(|i| [axis(i, 1.0), axis(i, -1.0)]).collect()
    }

    fn mesh(parts: &[(&str, usize)]) -> RigMesh {
        let mut mesh = RigMesh::default();
        let mut first = 0;
        for (name, vertices) in parts {
            let start = mesh.triangles.len();
            mesh.triangles.extend((0..*vertices as u32 - 2).map(|i| [first, first + i + 1, first + i + 2]));
            mesh.parts.push(MeshPart { name: (*name).into(), triangles: start..mesh.triangles.len(), look: None });
            first += *vertices as u32;
        }
        mesh
    }

    #[test]
    fn eyes_are_told_apart_and_look_forward() {
        let rest = [ball([0.03, 0.3, 0.1]), ball([-0.03, 0.3, 0.1])].concat();
        for parts in [&[("left_eye", 6), ("right_eye", 6)][..], &[("eyes", 12)]] {
            let features = features(&mesh(parts), &rest);
            for eye in features.chunks_exact(6) {
                for (axis, [x, y, z, light]) in eye.iter().enumerate() {
                    let expected: [f32; 3] = std::array::from_fn(|k| match axis / 2 == k {
                        true => 1.0 - 2.0 * (axis % 2) as f32,
                        false => 0.0,
                    });
                    let off = [x, y, z].iter().zip(expected).map(|(a, b)| (**a - b).abs()).fold(0.0, f32::max);
                    assert!(off < 1e-4 && *light == 1.0, "{parts:?}: {x} {y} {z}");
                }
            }
        }
    }

    #[test]
    fn mouth_grows_darker_towards_its_back() {
        let rest = [[0.0, 0.0, 0.10], [0.01, 0.0, 0.10], [0.0, 0.0, 0.02]];
        let light: Vec<f32> = features(&mesh(&[("mouth_sock", 3)]), &rest).iter().map(|f| f[3]).collect();
        assert!(light[0] == 1.0 && light[1] == 1.0 && light[2] < 0.2, "{light:?}");
        assert!(features(&mesh(&[("skin", 3)]), &rest).iter().all(|f| f[3] == 1.0));
    }
}
