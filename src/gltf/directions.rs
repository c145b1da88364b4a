//! Normals and tangents of one posed vertex.

use super::mesh::GltfMesh;
use crate::lbs::Skinning;
use crate::math::Rows;
use crate::sparse::{TargetWeights, sparse_gather};
use glam::{DMat3, DVec3};

impl GltfMesh {
    /// One normal, morphed and skinned, unit length or zero; none for a file without.
    ///
    /// By the cofactor matrix of the blended skin matrix, turned over where that mirrors.
    ///
    /// # Shapes
    /// weights: of [`GltfMesh::normal_deltas`]; skin_rows: one for each of [`GltfMesh::rows`]
    #[must_use]
    pub fn posed_normal(
        &self,
        vertex: usize,
        weights: &TargetWeights,
        skin_rows: &[Rows],
        skinning: Skinning,
    ) -> Option<DVec3> {
        let base = DVec3::from(self.normals()?[vertex].map(f64::from));
        let n = base + sparse_gather(self.normal_deltas(), vertex, weights);
        let skin = skinning.linear(self.influences().row(vertex), skin_rows);
        let cofactor = DMat3::from_cols(
            skin.y_axis.cross(skin.z_axis),
            skin.z_axis.cross(skin.x_axis),
            skin.x_axis.cross(skin.y_axis),
        );
        let turned = if skin.determinant() < 0.0 { -1.0 } else { 1.0 };
        Some(unit_or_zero(turned * (cofactor * n)))
    }

    /// One tangent, morphed and skinned, unit length or zero; none for a file without.
    ///
    /// # Shapes
    /// weights: of [`GltfMesh::tangent_deltas`]; skin_rows: one for each of [`GltfMesh::rows`]
    #[must_use]
    pub fn posed_tangent(
        &self,
        vertex: usize,
        weights: &TargetWeights,
        skin_rows: &[Rows],
        skinning: Skinning,
    ) -> Option<DVec3> {
        let [x, y, z, _] = self.tangents()?[vertex];
        let t = DVec3::from([x, y, z].map(f64::from)) + sparse_gather(self.tangent_deltas(), vertex, weights);
        Some(unit_or_zero(skinning.linear(self.influences().row(vertex), skin_rows) * t))
    }
}

/// Scaled by its largest component first, so that tiny and huge vectors neither vanish nor overflow when squared.
fn unit_or_zero(v: DVec3) -> DVec3 {
    let largest = v.abs().max_element();
    if largest > 0.0 && largest.is_finite() { (v / largest).normalize() } else { DVec3::ZERO }
}
