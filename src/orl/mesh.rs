//! One mesh of a DNA file, ready to deform and to draw.

use super::dna::{Dna, FaceWinding, Mesh};
use super::model::OrlModel;
use crate::error::{LoadError, LoadErrorKind};
use crate::info::{MeshPart, RigMesh};
use crate::lbs::{Influence, Influences};
use crate::sparse::{DeltaFormat, SparseRows, SparseTarget};

/// The rest mesh, its deltas and its skin. A vertex is a position of the file, not one of its render vertices.
#[derive(Debug, Clone, PartialEq)]
pub struct OrlMesh {
    neutral: Vec<[f32; 3]>,
    deltas: SparseRows,
    influences: Influences,
    drawn: RigMesh,
}

impl OrlMesh {
    /// One mesh of a file whose model was made from the same file.
    ///
    /// # Errors
    /// `Missing` - the geometry does not hold that mesh; `Unsupported` - more targets than [`crate::sparse::MAX_TARGETS`].
    pub fn new(dna: &Dna, model: &OrlModel, mesh: usize, format: DeltaFormat) -> Result<OrlMesh, LoadError> {
        let Some(source) = dna.meshes.get(mesh) else {
            let expected = format!("a mesh below {}, as many as the geometry holds", dna.meshes.len());
            return Err(LoadError::new(LoadErrorKind::Missing, "meshes", expected, mesh));
        };
        let targets: Vec<SparseTarget> = source
            .targets
            .iter()
            .map(|t| SparseTarget { channel: t.channel.into(), vertices: &t.vertices, deltas: &t.deltas })
            .collect();
        let deltas = SparseRows::new(source.positions.len(), &targets, format)
            .map_err(|e| e.within(format!("meshes[{mesh}]")))?;
        let name = dna.definition.mesh_names.get(mesh).cloned().unwrap_or_default();
        let drawn = drawn(source, name, dna.conventions.face_winding);
        Ok(OrlMesh { neutral: source.positions.clone(), deltas, influences: influences(source, model), drawn })
    }

    /// V.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.neutral.len()
    }

    /// (V, 3) Positions before deltas and skin, in the rig's unit.
    #[must_use]
    pub fn neutral(&self) -> &[[f32; 3]] {
        &self.neutral
    }

    /// The blend shapes by vertex.
    #[must_use]
    pub fn deltas(&self) -> &SparseRows {
        &self.deltas
    }

    /// The skin; joints in the skeleton's order.
    #[must_use]
    pub fn influences(&self) -> &Influences {
        &self.influences
    }

    /// What to draw: polygons as fans, one part with the mesh's name.
    #[must_use]
    pub fn mesh(&self) -> &RigMesh {
        &self.drawn
    }
}

fn influences(mesh: &Mesh, model: &OrlModel) -> Influences {
    let mut joints_by_file = vec![0; model.file_joints().len()];
    for (joint, &file_joint) in (0_u32..).zip(model.file_joints()) {
        joints_by_file[file_joint] = joint;
    }
    let mut offsets = vec![0];
    let mut entries = Vec::new();
    for row in &mesh.skin {
        let lanes = row.joints.iter().zip(&row.weights).filter(|(_, weight)| **weight != 0.0);
        entries.extend(lanes.map(|(&j, &weight)| Influence { joint: joints_by_file[usize::from(j)], weight }));
        offsets.push(entries.len() as u32);
    }
    Influences { offsets, entries }
}

fn drawn(mesh: &Mesh, name: String, winding: FaceWinding) -> RigMesh {
    let position = |corner: u32| mesh.layouts.positions[corner as usize];
    let mut triangles = Vec::new();
    for face in mesh.faces.iter().filter(|face| face.len() >= 3) {
        triangles.extend(face[1..].windows(2).map(|pair| match winding {
            FaceWinding::CounterClockwise => [position(face[0]), position(pair[0]), position(pair[1])],
            FaceWinding::Clockwise => [position(face[0]), position(pair[1]), position(pair[0])],
        }));
    }
    let uvs = (!mesh.uvs.is_empty()).then(|| {
        let mut uvs = vec![[0.0; 2]; mesh.positions.len()];
        // Backwards, so that the first of a vertex's corners is the one that stays.
        for (&position, &uv) in mesh.layouts.positions.iter().zip(&mesh.layouts.uvs).rev() {
            uvs[position as usize] = mesh.uvs[uv as usize];
        }
        uvs
    });
    let parts = match triangles.len() {
        0 => Vec::new(),
        count => vec![MeshPart { name, triangles: 0..count, look: None }],
    };
    RigMesh { triangles, parts, uvs }
}
