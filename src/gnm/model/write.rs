//! The model as a `gnm_head.npz`.

use super::GnmModel;
use super::read::{VARIANT, VERSION};
use crate::npy::{NpzWriter, Packing};

impl GnmModel {
    /// All 23 arrays, in the order that the original program has them; correctives that are not there are written as zeros.
    ///
    /// The law: reading the bytes gives an equal model, and equal models give equal bytes.
    #[must_use]
    pub fn write(&self, packing: Packing) -> Vec<u8> {
        let (v, j, q) = (self.vertex_count(), self.joint_count(), self.quads.len());
        let (i, e, g) = (self.identity_count(), self.expression_count(), self.vertex_group_names.len());
        let mut npz = NpzWriter::new(packing);
        npz.add_text("version", &[], &[VERSION]);
        npz.add_text("variant", &[], &[VARIANT]);
        npz.add_f32("template_vertex_positions", &[v, 3], self.template.as_flattened());
        npz.add_f32("template_joint_positions", &[j, 3], self.template_joints.as_flattened());
        npz.add_f32("vertex_identity_basis", &[i, v, 3], &self.identity_basis);
        npz.add_f32("joint_identity_basis", &[i, j, 3], &self.joint_identity_basis);
        npz.add_f32("expression_basis", &[e, v, 3], &self.expression_basis);
        npz.add_text("identity_names", &[i], &self.identity_names);
        npz.add_text("joint_names", &[j], &self.joint_names);
        npz.add_text("expression_names", &[e], &self.expression_names);
        let parents: Vec<i32> = self.joint_parents.iter().enumerate().map(|(at, p)| p.unwrap_or(at) as i32).collect();
        npz.add_i32("joint_parent_indices", &[j], &parents);
        npz.add_f32("skinning_weights", &[j, v], &self.skinning_weights);
        npz.add_i32("quads", &[q, 4], bytemuck::cast_slice(&self.quads));
        npz.add_i32("triangles", &[self.triangles.len(), 3], bytemuck::cast_slice(&self.triangles));
        npz.add_f32("quad_uvs", &[q, 4, 2], bytemuck::cast_slice(&self.quad_uvs));
        npz.add_f32("triangle_uvs", &[self.triangles.len(), 3, 2], bytemuck::cast_slice(&self.triangle_uvs));
        npz.add_text("mesh_component_names", &[self.mesh_component_names.len()], &self.mesh_component_names);
        npz.add_i32("mirror_indices", &[v], bytemuck::cast_slice(&self.mirror_indices));
        npz.add_f32("joint_regressor", &[j, v], &self.joint_regressor);
        let zeros;
        let correctives = if self.pose_correctives.is_empty() {
            zeros = vec![0.0; 27 * j * v];
            &zeros
        } else {
            &self.pose_correctives
        };
        npz.add_f32("pose_correctives_regressor", &[9 * j, 3 * v], correctives);
        let orientations: &[f32] = bytemuck::cast_slice(&self.joint_orientations);
        npz.add_f32("bone_aligned_template_joint_orientations", &[j, 3, 3], orientations);
        npz.add_f32("vertex_groups", &[g, v], &self.vertex_groups);
        npz.add_text("vertex_group_names", &[g], &self.vertex_group_names);
        npz.finish()
    }
}
