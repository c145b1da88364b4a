//! The CPU reference: twin of gltf_morph.wgsl.

use super::mesh::GltfMesh;
use super::pose::GltfPose;
use rayon::prelude::*;

/// The vertices of one instance, in the pose's output space.
///
/// `p = base + sum_t weight_t delta_t`, then the skin, `sum_k w_k row_k (p, 1)` or the pose's other
/// [`Skinning`](crate::lbs::Skinning); a part without a skin is carried by its node's row.
///
/// # Shapes
/// result: (V, 3)
///
/// # Accuracy
/// f64 throughout, from the f32 rows and weights that the shader reads; each coordinate is rounded to f32 once.
#[must_use]
pub fn gltf_morph(mesh: &GltfMesh, pose: &GltfPose) -> Vec<[f32; 3]> {
    let weights = mesh.position_deltas().weigh(pose.morph_weights());
    let vertex = |v: usize| mesh.posed_vertex(v, &weights, pose.skin_rows(), pose.skinning()).as_vec3().to_array();
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
    let normal =
        |v: usize| Some(mesh.posed_normal(v, &weights, pose.skin_rows(), pose.skinning())?.as_vec3().to_array());
    mesh.normals()?;
    (0..mesh.vertex_count()).into_par_iter().with_min_len(64).map(normal).collect()
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
        let t = mesh.posed_tangent(v, &weights, pose.skin_rows(), pose.skinning())?;
        Some(t.as_vec3().extend(tangents[v][3]).to_array())
    };
    (0..mesh.vertex_count()).into_par_iter().with_min_len(64).map(tangent).collect()
}
