//! Normals and tangents of one posed vertex.

use super::mesh::GltfMesh;
use crate::lbs::Influence;
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
    pub fn posed_normal(&self, vertex: usize, weights: &TargetWeights, skin_rows: &[Rows]) -> Option<DVec3> {
        let base = DVec3::from(self.normals()?[vertex].map(f64::from));
        let n = base + sparse_gather(self.normal_deltas(), vertex, weights);
        let skin = blended(self.influences().row(vertex), skin_rows);
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
    pub fn posed_tangent(&self, vertex: usize, weights: &TargetWeights, skin_rows: &[Rows]) -> Option<DVec3> {
        let [x, y, z, _] = self.tangents()?[vertex];
        let t = DVec3::from([x, y, z].map(f64::from)) + sparse_gather(self.tangent_deltas(), vertex, weights);
        Some(unit_or_zero(blended(self.influences().row(vertex), skin_rows) * t))
    }
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

/// Scaled by its largest component first, so that tiny and huge vectors neither vanish nor overflow when squared.
fn unit_or_zero(v: DVec3) -> DVec3 {
    let largest = v.abs().max_element();
    if largest > 0.0 && largest.is_finite() { (v / largest).normalize() } else { DVec3::ZERO }
}
