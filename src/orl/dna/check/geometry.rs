//! The meshes.

use super::{Checked, Counts, finite, index, indices, length, value};
use crate::orl::dna::Mesh;

pub(super) fn meshes(meshes: &[Mesh], counts: &Counts) -> Checked {
    if meshes.len() > counts.meshes {
        let expected = format!("at most the {} meshes of the definition", counts.meshes);
        return Err(value("meshes", expected, meshes.len()));
    }
    meshes.iter().enumerate().try_for_each(|(i, m)| mesh(&format!("meshes[{i}]"), m, counts))
}

fn mesh(field: &str, mesh: &Mesh, counts: &Counts) -> Checked {
    finite(&format!("{field}.positions"), mesh.positions.as_flattened())?;
    finite(&format!("{field}.uvs"), mesh.uvs.as_flattened())?;
    finite(&format!("{field}.normals"), mesh.normals.as_flattened())?;
    let layouts = [
        ("positions", &mesh.layouts.positions, mesh.positions.len()),
        ("uvs", &mesh.layouts.uvs, mesh.uvs.len()),
        ("normals", &mesh.layouts.normals, mesh.normals.len()),
    ];
    let layout_count = mesh.layouts.positions.len();
    for (name, values, limit) in layouts {
        let field = format!("{field}.layouts.{name}");
        length(&field, values.len(), layout_count)?;
        indices(&field, values, limit)?;
    }
    for (i, face) in mesh.faces.iter().enumerate() {
        if face.iter().any(|&corner| corner as usize >= layout_count) {
            indices(&format!("{field}.faces[{i}]"), face, layout_count)?;
        }
    }
    length(&format!("{field}.skin"), mesh.skin.len(), mesh.positions.len())?;
    for (i, row) in mesh.skin.iter().enumerate() {
        if row.weights.len() != row.joints.len() {
            length(&format!("{field}.skin[{i}].joints"), row.joints.len(), row.weights.len())?;
        }
        // Names are made only for what is wrong: there are as many rows as vertices.
        if !row.joints.iter().all(|&j| usize::from(j) < counts.joints) {
            indices(&format!("{field}.skin[{i}].joints"), &row.joints, counts.joints)?;
        }
        if !row.weights.iter().all(|w| w.is_finite()) {
            finite(&format!("{field}.skin[{i}].weights"), &row.weights)?;
        }
    }
    for (i, target) in mesh.targets.iter().enumerate() {
        let field = format!("{field}.targets[{i}]");
        length(&format!("{field}.vertices"), target.vertices.len(), target.deltas.len())?;
        indices(&format!("{field}.vertices"), &target.vertices, mesh.positions.len())?;
        index(|| format!("{field}.channel"), target.channel, counts.channels)?;
        finite(&format!("{field}.deltas"), target.deltas.as_flattened())?;
    }
    Ok(())
}
