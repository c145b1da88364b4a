//! What of the model's surface a pack keeps: one uv per vertex, and the parts of the mouth.

use crate::gnm::model::GnmModel;
use crate::gnm::pack::{Mouth, MouthGroup};
use crate::info::Look;

/// A vertex is in a group of the mouth above this.
const IN_GROUP: f32 = 0.5;

/// The mouth groups, and a look of our own choice for each; the model has none.
const MOUTH: [(&str, Look); 4] = [
    ("teeth", Look { color: [0.91, 0.89, 0.82], gloss: 0.75 }),
    ("gums", Look { color: [0.72, 0.38, 0.38], gloss: 0.6 }),
    ("tongue", Look { color: [0.74, 0.37, 0.36], gloss: 0.45 }),
    ("mouth_sock", Look { color: [0.42, 0.17, 0.16], gloss: 0.35 }),
];

/// One uv per vertex: on a seam that of its last corner over the quads in row order, where no quad meets it (0, 0).
pub(super) fn last_corner_uvs(quads: &[[u32; 4]], quad_uvs: &[[[f32; 2]; 4]], vertices: usize) -> Vec<[f32; 2]> {
    let mut uvs = vec![[0.0; 2]; vertices];
    for (&vertex, &uv) in quads.as_flattened().iter().zip(quad_uvs.as_flattened()) {
        uvs[vertex as usize] = uv;
    }
    uvs
}

/// Teeth, gums, tongue and mouth sock, as far as the model has them; a triangle belongs to the first group that holds all its corners.
pub(super) fn mouth(model: &GnmModel) -> Option<Mouth> {
    let found = MOUTH.iter().filter_map(|(name, look)| Some((*name, *look, model.vertex_group(name)?)));
    let found: Vec<_> = found.filter(|(_, _, mask)| mask.iter().any(|&w| w > IN_GROUP)).collect();
    if found.is_empty() {
        return None;
    }
    let members = |mask: &[f32]| (0..mask.len() as u32).filter(|&v| mask[v as usize] > IN_GROUP).collect();
    let mut mouth = Mouth {
        groups: found
            .iter()
            .map(|(name, look, mask)| MouthGroup { name: (*name).into(), vertices: members(mask), look: Some(*look) })
            .collect(),
        ..Mouth::default()
    };
    for face in &model.triangles {
        let holds = |mask: &[f32]| face.iter().all(|&v| mask[v as usize] > IN_GROUP);
        if let Some(group) = found.iter().position(|(_, _, mask)| holds(mask)) {
            mouth.faces.push(*face);
            mouth.face_groups.push(group as u32);
        }
    }
    Some(mouth)
}
