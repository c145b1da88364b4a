//! The model that an XR Blocks file holds.

use super::container::names;
use super::{Gnmw, GnmwBasis, GnmwRig, GnmwSurface, LABELS, NO_LABEL};
use crate::error::{LoadError, LoadErrorKind};
use crate::gnm::model::GnmModel;
use rayon::prelude::*;
use std::collections::HashMap;

impl Gnmw {
    /// The model, bases dequantised, ready to evaluate and to bake.
    ///
    /// Labels become vertex groups; a name that stands in several lists is the first one's. What the file does not have is filled in: mirror
    /// indices map every vertex to itself, the joint regressor is zero, joint orientations are the identity.
    ///
    /// # Errors
    /// `Unsupported` for the official payload, which has no joints and no weights; `Missing`, `Type` and `Shape` for absent names or a number of
    /// them that differs from the sections.
    pub fn into_model(self) -> Result<GnmModel, LoadError> {
        let Gnmw { meta, vertices, triangles, identity, expression, rig } = self;
        let Some(rig) = rig else {
            let expected = "a file with joints and skinning weights (an XR Blocks export or gnm_head.npz)";
            let found = "the official GNMW payload, which has neither";
            return Err(LoadError::new(LoadErrorKind::Unsupported, "", expected, found));
        };
        let v = vertices.len();
        let named = |key: &str, count: usize| {
            let names = names(&meta, key)?;
            match names.len() == count {
                true => Ok(names),
                false => Err(LoadError::new(
                    LoadErrorKind::Shape,
                    format!("meta.{key}"),
                    format!("{count} names"),
                    names.len(),
                )),
            }
        };
        let mut groups: Vec<(String, Vec<f32>)> = Vec::new();
        let mut components = Vec::new();
        for (list, (ids, (_, key))) in rig.labels.iter().zip(LABELS).enumerate().filter(|(_, (ids, _))| !ids.is_empty())
        {
            let labels = names(&meta, key)?;
            let used = (labels.len()).min(usize::from(NO_LABEL));
            for (label, name) in labels[..used].iter().enumerate() {
                if groups.iter().all(|(n, _)| n != name) {
                    groups.push((name.clone(), ids.iter().map(|&id| f32::from(usize::from(id) == label)).collect()));
                }
            }
            if list == 0 {
                components = labels;
            }
        }
        let triangle_uvs = triangle_uvs(&triangles, rig.surface.as_ref());
        let j = rig.joints.len();
        Ok(GnmModel {
            identity_names: named("identityNames", identity.scales.len())?,
            joint_names: named("jointNames", j)?,
            expression_names: named("expressionNames", expression.scales.len())?,
            quad_uvs: quad_uvs(&rig, &triangles, &triangle_uvs),
            identity_basis: identity.dequantize(v),
            expression_basis: expression.dequantize(v),
            pose_correctives: rig.pose_correctives.map(|c| c.dequantize(v)).unwrap_or_default(),
            template: vertices,
            template_joints: rig.joints,
            joint_identity_basis: rig.joint_identity_basis,
            joint_parents: rig.joint_parents,
            skinning_weights: rig.skinning_weights,
            quads: rig.quads,
            triangles,
            triangle_uvs,
            mesh_component_names: components,
            mirror_indices: (0..v as u32).collect(),
            joint_regressor: vec![0.0; j * v],
            joint_orientations: vec![[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]; j],
            vertex_group_names: groups.iter().map(|(name, _)| name.clone()).collect(),
            vertex_groups: groups.into_iter().flat_map(|(_, mask)| mask).collect(),
        })
    }
}

impl GnmwBasis {
    fn dequantize(&self, v: usize) -> Vec<f32> {
        let rows = self.values.par_chunks_exact((3 * v).max(1)).zip(&self.scales);
        rows.flat_map_iter(|(row, &scale)| row.iter().map(move |&q| f32::from(q) * scale)).collect()
    }
}

fn triangle_uvs(triangles: &[[u32; 3]], surface: Option<&GnmwSurface>) -> Vec<[[f32; 2]; 3]> {
    match surface {
        Some(s) => s.triangles.iter().map(|t| t.map(|corner| s.uvs[corner as usize])).collect(),
        None => vec![[[0.0; 2]; 3]; triangles.len()],
    }
}

/// A quad's corners from the two triangles that it was cut into: row q is its corners 0, 1, 2 and row Q + q its corners 2, 3, 0. A corner that
/// neither has takes the uv of its vertex's last triangle corner.
fn quad_uvs(rig: &GnmwRig, triangles: &[[u32; 3]], uvs: &[[[f32; 2]; 3]]) -> Vec<[[f32; 2]; 4]> {
    let of_vertex: HashMap<u32, [f32; 2]> =
        triangles.as_flattened().iter().copied().zip(uvs.as_flattened().iter().copied()).collect();
    let in_triangle = |t: usize, vertex: u32| {
        let corner = triangles.get(t)?.iter().position(|&c| c == vertex)?;
        Some(uvs[t][corner])
    };
    let count = rig.quads.len();
    let quad = |(q, corners): (usize, &[u32; 4])| {
        corners.map(|vertex| {
            let found = in_triangle(q, vertex).or_else(|| in_triangle(count + q, vertex));
            found.or_else(|| of_vertex.get(&vertex).copied()).unwrap_or_default()
        })
    };
    rig.quads.iter().enumerate().map(quad).collect()
}
