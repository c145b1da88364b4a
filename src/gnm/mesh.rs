//! What to draw of a pack: its triangles sorted into parts, and the rest pose.

use super::mouth::MouthGroup;
use super::pack::GnmPack;
use crate::info::{MeshPart, RigMesh};
use crate::{lbs, normals};
use glam::DVec3;
use std::collections::HashMap;

impl GnmPack {
    /// What to draw: triangles grouped into skin, eyes and the parts of the mouth, in file order within a part; a part without triangles is
    /// left out.
    ///
    /// A triangle is an eye's when that eye holds all its corners by more than half, a mouth part's when the pack lists it there, and skin
    /// otherwise.
    #[must_use]
    pub fn mesh(&self) -> RigMesh {
        let groups = self.mouth().map_or(&[][..], |m| &m.groups);
        let mut names = vec![("skin", None), ("left_eye", None), ("right_eye", None)];
        names.extend(groups.iter().map(|g| (g.name.as_str(), Some(g.look.unwrap_or(MouthGroup::DEFAULT_LOOK)))));
        let mut buckets = vec![Vec::new(); names.len()];
        let mouth_part = self.mouth_parts();
        for &face in self.faces() {
            let eye = self.eye_weights().iter().position(|w| face.iter().all(|&v| w[v as usize] > 0.5));
            let part = eye.map(|e| 1 + e).or_else(|| mouth_part.get(&from_least(face)).copied()).unwrap_or(0);
            buckets[part].push(face);
        }
        let mut triangles = Vec::with_capacity(self.faces().len());
        let mut parts = Vec::new();
        for ((name, look), bucket) in names.into_iter().zip(buckets).filter(|(_, bucket)| !bucket.is_empty()) {
            let start = triangles.len();
            triangles.extend(bucket);
            parts.push(MeshPart { name: name.into(), triangles: start..triangles.len(), look });
        }
        RigMesh { triangles, parts, uvs: self.uvs().map(<[_]>::to_vec) }
    }

    /// The part of every triangle that the pack lists in the mouth; one listed twice is its first group's.
    fn mouth_parts(&self) -> HashMap<[u32; 3], usize> {
        let mut parts = HashMap::new();
        for (face, group) in self.mouth().into_iter().flat_map(|m| m.faces.iter().zip(&m.face_groups)) {
            parts.entry(from_least(*face)).or_insert(3 + *group as usize);
        }
        parts
    }

    /// The vertices with all controls zero and every joint at rest: `lbs(neutral + seam)`, weights as stored.
    ///
    /// # Shapes
    /// result: (V, 3), output space
    #[must_use]
    pub fn rest_positions(&self) -> Vec<[f32; 3]> {
        let skeleton = self.skeleton();
        let skin_rows = skeleton.skin_rows(&skeleton.worlds(self.rest_locals(), &Default::default()));
        let skin = |(v, p)| lbs::lbs_skin(self.influences().row(v), &skin_rows, p).as_vec3().to_array();
        self.with_seam().enumerate().map(skin).collect()
    }

    /// Unit vertex normals of [`GnmPack::rest_positions`], (V, 3); none for a pack without faces.
    #[must_use]
    pub fn rest_normals(&self) -> Option<Vec<[f32; 3]>> {
        let faces = self.faces();
        let incidence = normals::Incidence::new(faces, self.vertex_count());
        (!faces.is_empty()).then(|| normals::normals(&self.rest_positions(), faces, &incidence))
    }

    /// The neutral with the seam added, head-local.
    pub(super) fn with_seam(&self) -> impl Iterator<Item = DVec3> {
        let seam = self.seam().unwrap_or_default();
        let wide = |p: &[f32; 3]| DVec3::from(p.map(f64::from));
        self.neutral().iter().enumerate().map(move |(v, p)| wide(p) + seam.get(v).map_or(DVec3::ZERO, wide))
    }
}

/// The same triangle, wound the same way: the least of its three rotations.
fn from_least([a, b, c]: [u32; 3]) -> [u32; 3] {
    [a, b, c].min([b, c, a]).min([c, a, b])
}
