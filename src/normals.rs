//! Vertex normals from posed positions: the incidence table, and the CPU twin of `normals.wgsl`.

use glam::Vec3;

/// Which triangles touch which vertex, so that normals are gathered without atomics.
#[derive(Debug, Clone, PartialEq)]
pub struct Incidence {
    /// Row `v` is `triangles[offsets[v]..offsets[v + 1]]`; (V + 1).
    pub offsets: Vec<u32>,
    /// Triangle indices, ascending within a row.
    pub triangles: Vec<u32>,
}

impl Incidence {
    /// Builds the table; a triangle that names a vertex twice is listed once for it.
    #[must_use]
    pub fn new(faces: &[[u32; 3]], vertex_count: usize) -> Incidence {
        let corners = |t: usize| {
            let f = faces[t];
            (0..3).filter(move |&k| !f[..k].contains(&f[k])).map(move |k| f[k] as usize)
        };
        let mut offsets = vec![0u32; vertex_count + 1];
        (0..faces.len()).flat_map(corners).for_each(|v| offsets[v + 1] += 1);
        for v in 0..vertex_count {
            offsets[v + 1] += offsets[v];
        }
        let mut next = offsets.clone();
        let mut triangles = vec![0; offsets[vertex_count] as usize];
        for t in 0..faces.len() {
            for v in corners(t) {
                triangles[next[v] as usize] = t as u32;
                next[v] += 1;
            }
        }
        Incidence { offsets, triangles }
    }
}

/// Area-weighted vertex normals of one instance; an isolated or collapsed vertex gets a zero normal, never NaN.
///
/// # Shapes
/// positions: (V, 3), result: (V, 3), unit length or zero
#[must_use]
pub fn normals(positions: &[[f32; 3]], faces: &[[u32; 3]], incidence: &Incidence) -> Vec<[f32; 3]> {
    let at = |v: u32| Vec3::from(positions[v as usize]);
    (0..positions.len())
        .map(|v| {
            let row = incidence.offsets[v] as usize..incidence.offsets[v + 1] as usize;
            let sum: Vec3 = incidence.triangles[row]
                .iter()
                .map(|&t| {
                    let [a, b, c] = faces[t as usize];
                    (at(b) - at(a)).cross(at(c) - at(a))
                })
                .sum();
            unit_or_zero(sum).into()
        })
        .collect()
}

/// Scaled by its largest component first, so that tiny and huge areas neither vanish nor overflow when squared.
fn unit_or_zero(v: Vec3) -> Vec3 {
    let largest = v.abs().max_element();
    if largest > 0.0 && largest.is_finite() { (v / largest).normalize() } else { Vec3::ZERO }
}
