//! The meshes of one character as one: rest positions, deltas, skin and triangles, one mesh after another.

use super::dna::{Dna, FaceWinding, Mesh, Target};
use super::model::OrlModel;
use super::pack::OrlPack;
use super::shells::{DriveMode, ShellMesh, assign, drive_mode};
use crate::error::{LoadError, LoadErrorKind};
use crate::info::{MeshPart, RigMesh};
use crate::lbs::{Influence, Influences};
use crate::sparse::{DeltaFormat, QuantisedTarget, SparseRows, SparseTarget};
use std::ops::Range;

/// The rest meshes, their deltas and their skin. A vertex is a position of the file, not one of its render vertices.
///
/// Several meshes stand one after another, so that one set of weights and joints and one dispatch moves them all.
#[derive(Debug, Clone, PartialEq)]
pub struct OrlMesh {
    neutral: Vec<[f32; 3]>,
    deltas: SparseRows,
    influences: Influences,
    drawn: RigMesh,
    ranges: Vec<(String, Range<usize>)>,
}

impl OrlMesh {
    /// One mesh of a file whose model was made from the same file.
    ///
    /// # Errors
    /// `Missing` - the geometry does not hold that mesh; `Unsupported` - more targets than [`crate::sparse::MAX_TARGETS`].
    pub fn new(dna: &Dna, model: &OrlModel, mesh: usize, format: DeltaFormat) -> Result<OrlMesh, LoadError> {
        OrlMesh::of_dna(dna, model, &[mesh], &[], format)
    }

    /// Several meshes of a file, then those that the file does not have, in the order given.
    ///
    /// # Errors
    /// As [`OrlMesh::new`]; `Value` - a mesh named twice, a shell with as many vertices as a mesh of the rig, which is taken to be that mesh; what
    /// [`assign`] refuses.
    pub fn of_dna(
        dna: &Dna,
        model: &OrlModel,
        meshes: &[usize],
        shells: &[ShellMesh],
        format: DeltaFormat,
    ) -> Result<OrlMesh, LoadError> {
        let mut parts = Vec::new();
        let mut targets: Vec<(&Target, Vec<u32>)> = Vec::new();
        let mut first = 0;
        for (i, &mesh) in meshes.iter().enumerate() {
            if meshes[..i].contains(&mesh) {
                return Err(LoadError::new(LoadErrorKind::Value, "meshes", "each mesh once", format!("{mesh} twice")));
            }
            let Some(source) = dna.meshes.get(mesh) else {
                let expected = format!("a mesh below {}, as many as the geometry holds", dna.meshes.len());
                return Err(LoadError::new(LoadErrorKind::Missing, "meshes", expected, mesh));
            };
            let moved = |t: &Target| t.vertices.iter().map(|v| v + first).collect();
            targets.extend(source.targets.iter().map(|t| (t, moved(t))));
            let name = dna.definition.mesh_names.get(mesh).cloned().unwrap_or_default();
            parts.push(Part::of_dna(source, model, name, dna.conventions.face_winding));
            first += source.positions.len() as u32;
        }
        add_shells(&mut parts, model, shells)?;
        let targets: Vec<SparseTarget> = targets
            .iter()
            .map(|(t, vertices)| SparseTarget { channel: t.channel.into(), vertices, deltas: &t.deltas })
            .collect();
        let deltas = SparseRows::new(parts.iter().map(|p| p.neutral.len()).sum(), &targets, format)
            .map_err(|e| e.within(format!("meshes {meshes:?}")))?;
        Ok(OrlMesh::assemble(parts, deltas))
    }

    /// The mesh of a pack, its deltas as they are stored, then meshes that the pack does not have.
    ///
    /// # Errors
    /// `Unsupported` - more targets than [`crate::sparse::MAX_TARGETS`]; of shells as [`OrlMesh::of_dna`].
    pub fn of_pack(pack: &OrlPack, model: &OrlModel, name: &str, shells: &[ShellMesh]) -> Result<OrlMesh, LoadError> {
        let vertices: Vec<u32> = pack.delta_vertices().iter().map(|&v| v.into()).collect();
        let steps: Vec<[i16; 3]> = pack.deltas().iter().map(|d| d.map(i16::from)).collect();
        let targets: Vec<QuantisedTarget> = pack
            .targets()
            .iter()
            .map(|t| {
                let run = t.offset..t.offset + t.count;
                // The reader has checked channels against the manifest, which counts them in 32 bits at most.
                let channel = t.channel as u32;
                QuantisedTarget { channel, vertices: &vertices[run.clone()], deltas: &steps[run], scale: t.scale }
            })
            .collect();
        let mut parts = vec![Part {
            name: name.to_string(),
            neutral: pack.neutral().to_vec(),
            influences: pack.influences().clone(),
            triangles: pack.triangles().unwrap_or_default().to_vec(),
            uvs: None,
        }];
        add_shells(&mut parts, model, shells)?;
        let deltas = SparseRows::from_quantised(parts.iter().map(|p| p.neutral.len()).sum(), &targets)?;
        Ok(OrlMesh::assemble(parts, deltas))
    }

    fn assemble(parts: Vec<Part>, deltas: SparseRows) -> OrlMesh {
        let mut mesh = OrlMesh {
            neutral: Vec::new(),
            deltas,
            influences: Influences { offsets: vec![0], entries: Vec::new() },
            drawn: RigMesh::default(),
            ranges: Vec::new(),
        };
        let has_uvs = parts.iter().any(|part| part.uvs.is_some());
        let mut uvs = Vec::new();
        for part in parts {
            let first = mesh.neutral.len();
            let count = part.neutral.len();
            mesh.neutral.extend(part.neutral);
            let held = mesh.influences.entries.len() as u32;
            mesh.influences.offsets.extend(part.influences.offsets[1..].iter().map(|end| held + end));
            mesh.influences.entries.extend(part.influences.entries);
            let drawn = mesh.drawn.triangles.len();
            mesh.drawn.triangles.extend(part.triangles.iter().map(|t| t.map(|v| v + first as u32)));
            if !part.triangles.is_empty() {
                let triangles = drawn..mesh.drawn.triangles.len();
                mesh.drawn.parts.push(MeshPart { name: part.name.clone(), triangles, look: None });
            }
            uvs.extend(part.uvs.unwrap_or_else(|| vec![[0.0; 2]; count]));
            mesh.ranges.push((part.name, first..first + count));
        }
        mesh.drawn.uvs = has_uvs.then_some(uvs);
        mesh
    }

    /// V, of all meshes together.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.neutral.len()
    }

    /// Each mesh's name and its vertices, in order; they tile all vertices.
    #[must_use]
    pub fn ranges(&self) -> &[(String, Range<usize>)] {
        &self.ranges
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

    /// The skin: rows of [`OrlPose::skin_rows`](super::pose::OrlPose::skin_rows), which are the joints in the skeleton's order and one that stands still.
    #[must_use]
    pub fn influences(&self) -> &Influences {
        &self.influences
    }

    /// What to draw: polygons as fans, a part for each mesh with faces. A vertex of a mesh without uvs has (0, 0) where another mesh has some.
    #[must_use]
    pub fn mesh(&self) -> &RigMesh {
        &self.drawn
    }
}

/// One mesh before it stands among others: indices of its own.
struct Part {
    name: String,
    neutral: Vec<[f32; 3]>,
    influences: Influences,
    triangles: Vec<[u32; 3]>,
    uvs: Option<Vec<[f32; 2]>>,
}

impl Part {
    fn of_dna(mesh: &Mesh, model: &OrlModel, name: String, winding: FaceWinding) -> Part {
        Part {
            name,
            neutral: mesh.positions.clone(),
            influences: influences(mesh, model),
            triangles: triangles(mesh, winding),
            uvs: uvs(mesh),
        }
    }
}

/// Each piece of a shell hangs on its joint's skin row, or on the one that stands still; so does a mesh too large for a shell.
fn add_shells(parts: &mut Vec<Part>, model: &OrlModel, shells: &[ShellMesh]) -> Result<(), LoadError> {
    let skinned: Vec<usize> = parts.iter().map(|part| part.neutral.len()).collect();
    for shell in shells {
        let count = shell.positions.len();
        let modes = skinned.iter().map(|&own| drive_mode(count, own));
        if modes.clone().any(|mode| mode == DriveMode::Skin) {
            let field = format!("shell \"{}\"", shell.name);
            let expected = "a mesh that the rig does not have";
            let found = format!("{count} vertices, as many as a mesh of its own");
            return Err(LoadError::new(LoadErrorKind::Value, field, expected, found));
        }
        let pieces = assign(shell, model.skeleton(), &model.rest_worlds(), model.units_per_centimetre())?;
        let influence =
            |joint: &Option<usize>| Influence { joint: joint.unwrap_or(model.still_row()) as u32, weight: 1.0 };
        parts.push(Part {
            name: shell.name.clone(),
            neutral: shell.positions.clone(),
            influences: Influences {
                offsets: (0..=count as u32).collect(),
                entries: pieces.joints.iter().map(influence).collect(),
            },
            triangles: shell.triangles.clone(),
            uvs: None,
        });
    }
    Ok(())
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

fn triangles(mesh: &Mesh, winding: FaceWinding) -> Vec<[u32; 3]> {
    let position = |corner: u32| mesh.layouts.positions[corner as usize];
    let mut triangles = Vec::new();
    for face in mesh.faces.iter().filter(|face| face.len() >= 3) {
        triangles.extend(face[1..].windows(2).map(|pair| match winding {
            FaceWinding::CounterClockwise => [position(face[0]), position(pair[0]), position(pair[1])],
            FaceWinding::Clockwise => [position(face[0]), position(pair[1]), position(pair[0])],
        }));
    }
    triangles
}

fn uvs(mesh: &Mesh) -> Option<Vec<[f32; 2]>> {
    (!mesh.uvs.is_empty()).then(|| {
        let mut uvs = vec![[0.0; 2]; mesh.positions.len()];
        // Backwards, so that the first of a vertex's corners is the one that stays.
        for (&position, &uv) in mesh.layouts.positions.iter().zip(&mesh.layouts.uvs).rev() {
            uvs[position as usize] = mesh.uvs[uv as usize];
        }
        uvs
    })
}
