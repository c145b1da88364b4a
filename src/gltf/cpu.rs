//! The CPU reference: twin of gltf_morph.wgsl.

use super::mesh::GltfMesh;
use super::pose::GltfPose;
use crate::lbs::Influence;
use crate::math::Rows;
use crate::sparse;
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// The vertices of one instance, in the pose's output space.
///
/// `p = base + sum_t weight_t delta_t`, then the skin, `sum_k w_k row_k (p, 1)`; a part without a skin is carried by its node's row.
///
/// # Shapes
/// result: (V, 3)
///
/// # Accuracy
/// f64 throughout, from the f32 rows and weights that the shader reads; each coordinate is rounded to f32 once.
#[must_use]
pub fn gltf_morph(mesh: &GltfMesh, pose: &GltfPose) -> Vec<[f32; 3]> {
    let weights = mesh.position_deltas().weigh(pose.morph_weights());
    let vertex = |v: usize| mesh.posed_vertex(v, &weights, pose.skin_rows()).as_vec3().to_array();
    (0..mesh.vertex_count()).into_par_iter().with_min_len(64).map(vertex).collect()
}

/// The normals of one instance; none for a file without.
///
/// `n = base + sum_t weight_t delta_t`, then the cofactor matrix of the blended skin matrix, turned over where that mirrors, so that a
/// normal that points out of the surface still does; unit length, or zero where a part has none or nothing is left of it.
///
/// # Shapes
/// result: (V, 3)
#[must_use]
pub fn gltf_morph_normals(mesh: &GltfMesh, pose: &GltfPose) -> Option<Vec<[f32; 3]>> {
    let weights = mesh.normal_deltas().weigh(pose.morph_weights());
    let normals = mesh.normals()?;
    let normal = |v: usize| {
        let n = DVec3::from(normals[v].map(f64::from)) + sparse::sparse_gather(mesh.normal_deltas(), v, &weights);
        let skin = blended(mesh.influences().row(v), pose.skin_rows());
        let turned = if skin.determinant() < 0.0 { -1.0 } else { 1.0 };
        unit_or_zero(turned * (cofactor(&skin) * n)).as_vec3().to_array()
    };
    Some((0..mesh.vertex_count()).into_par_iter().with_min_len(64).map(normal).collect())
}

/// The tangents of one instance; none for a file without.
///
/// `t = base + sum_t weight_t delta_t`, then the blended skin matrix; unit length or zero. The sign is the file's.
///
/// # Shapes
/// result: (V, 4)
#[must_use]
pub fn gltf_morph_tangents(mesh: &GltfMesh, pose: &GltfPose) -> Option<Vec<[f32; 4]>> {
    let weights = mesh.tangent_deltas().weigh(pose.morph_weights());
    let tangents = mesh.tangents()?;
    let tangent = |v: usize| {
        let [x, y, z, sign] = tangents[v];
        let t = DVec3::from([x, y, z].map(f64::from)) + sparse::sparse_gather(mesh.tangent_deltas(), v, &weights);
        let skin = blended(mesh.influences().row(v), pose.skin_rows());
        unit_or_zero(skin * t).as_vec3().extend(sign).to_array()
    };
    Some((0..mesh.vertex_count()).into_par_iter().with_min_len(64).map(tangent).collect())
}

/// The linear part of the weighted sum of skin rows.
fn blended(influences: &[Influence], skin_rows: &[Rows]) -> DMat3 {
    let term = |i: &Influence| {
        let row = |r: &[f32; 4]| DVec3::new(r[0].into(), r[1].into(), r[2].into());
        let [x, y, z] = skin_rows[i.joint as usize].each_ref().map(row);
        DMat3::from_cols(x, y, z).transpose() * f64::from(i.weight)
    };
    influences.iter().map(term).sum()
}

/// The determinant times the inverse transpose, which a flat matrix has too.
fn cofactor(m: &DMat3) -> DMat3 {
    DMat3::from_cols(m.y_axis.cross(m.z_axis), m.z_axis.cross(m.x_axis), m.x_axis.cross(m.y_axis))
}

/// Scaled by its largest component first, so that tiny and huge vectors neither vanish nor overflow when squared.
fn unit_or_zero(v: DVec3) -> DVec3 {
    let largest = v.abs().max_element();
    if largest > 0.0 && largest.is_finite() { (v / largest).normalize() } else { DVec3::ZERO }
}
