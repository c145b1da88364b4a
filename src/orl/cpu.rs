//! The CPU reference: twin of orl_deform.wgsl.

use super::mesh::OrlMesh;
use super::pose::OrlPose;
use crate::{lbs, sparse};
use glam::DVec3;
use rayon::prelude::*;

/// The vertices of one mesh of one instance, in the rig's space and unit.
///
/// `p = neutral + sum_t coefficient_t * delta_t` over the targets that move the vertex, then the skin: weights as stored, so that a vertex
/// without influences comes out at the origin. A weight of zero reads no delta.
///
/// # Shapes
/// result: (V, 3)
///
/// # Accuracy
/// f64 throughout, from the f32 values that the shader reads; each coordinate is rounded to f32 once.
#[must_use]
pub fn orl_deform(mesh: &OrlMesh, pose: &OrlPose) -> Vec<[f32; 3]> {
    let weights = mesh.deltas().weigh(pose.weights());
    (0..mesh.vertex_count())
        .into_par_iter()
        .with_min_len(64)
        .map(|vertex| {
            let moved = sparse::sparse_gather(mesh.deltas(), vertex, &weights);
            let p = DVec3::from(mesh.neutral()[vertex].map(f64::from)) + moved;
            lbs::lbs_skin(mesh.influences().row(vertex), pose.skin_rows(), p).as_vec3().to_array()
        })
        .collect()
}
