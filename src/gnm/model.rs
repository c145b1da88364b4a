//! What `gnm_head.npz` says: the checked arrays, and the original formula.

mod evaluate;
pub(in crate::gnm) mod read;
mod write;

use glam::DAffine3;

/// The parametric head as its authors ship it (GNM Head 3.0). Metres; +X subject-left, +Y up, +Z out of the face.
#[derive(Debug, Clone, PartialEq)]
pub struct GnmModel {
    /// Template vertices, (V, 3).
    pub template: Vec<[f32; 3]>,
    /// Joint origins at zero identity, (J, 3).
    pub template_joints: Vec<[f32; 3]>,
    /// Vertex displacement per identity unit, (I, V, 3).
    pub identity_basis: Vec<f32>,
    /// Joint displacement per identity unit, (I, J, 3).
    pub joint_identity_basis: Vec<f32>,
    /// Vertex displacement per expression unit, (E, V, 3).
    pub expression_basis: Vec<f32>,
    /// (I).
    pub identity_names: Vec<String>,
    /// (J).
    pub joint_names: Vec<String>,
    /// (E).
    pub expression_names: Vec<String>,
    /// (J); the file's self-parented or -1 root is `None`.
    pub joint_parents: Vec<Option<usize>>,
    /// (J, V), joint-major.
    pub skinning_weights: Vec<f32>,
    /// (Q, 4).
    pub quads: Vec<[u32; 4]>,
    /// (T, 3), T = 2 Q.
    pub triangles: Vec<[u32; 3]>,
    /// Per corner, (Q, 4, 2).
    pub quad_uvs: Vec<[[f32; 2]; 4]>,
    /// Per corner, (T, 3, 2).
    pub triangle_uvs: Vec<[[f32; 2]; 3]>,
    /// Names of the disjoint components; each is a vertex group.
    pub mesh_component_names: Vec<String>,
    /// (V).
    pub mirror_indices: Vec<u32>,
    /// (J, V); not used by the forward pass.
    pub joint_regressor: Vec<f32>,
    /// (9 J, 3 V), or empty: no correctives. A file whose correctives are all zero, as the released one's are, reads as empty.
    pub pose_correctives: Vec<f32>,
    /// (J, 3, 3); not used by the forward pass.
    pub joint_orientations: Vec<[[f32; 3]; 3]>,
    /// Soft masks, (G, V).
    pub vertex_groups: Vec<f32>,
    /// (G).
    pub vertex_group_names: Vec<String>,
}

/// Whether pose correctives take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Correctives {
    /// As the original program does.
    On,
    /// Left out, as a baked pack does.
    Off,
}

/// One identity at rest, metres.
#[derive(Debug, Clone, PartialEq)]
pub struct BindPose {
    /// (V, 3).
    pub vertices: Vec<[f64; 3]>,
    /// Joint origins, (J, 3).
    pub joints: Vec<[f64; 3]>,
}

/// One evaluated frame, world space, metres.
#[derive(Debug, Clone, PartialEq)]
pub struct GnmFrame {
    /// (V, 3).
    pub positions: Vec<[f64; 3]>,
    /// (J).
    pub joint_worlds: Vec<DAffine3>,
}

impl GnmModel {
    /// V.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.template.len()
    }

    /// J.
    #[must_use]
    pub fn joint_count(&self) -> usize {
        self.template_joints.len()
    }

    /// I.
    #[must_use]
    pub fn identity_count(&self) -> usize {
        self.identity_names.len()
    }

    /// E.
    #[must_use]
    pub fn expression_count(&self) -> usize {
        self.expression_names.len()
    }

    /// The soft mask of a vertex group, (V).
    #[must_use]
    pub fn vertex_group(&self, name: &str) -> Option<&[f32]> {
        let group = self.vertex_group_names.iter().position(|n| n == name)?;
        Some(&self.vertex_groups[group * self.vertex_count()..][..self.vertex_count()])
    }
}

#[cfg(test)]
pub(super) mod tests;
