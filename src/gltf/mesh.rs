//! Every vertex that the default scene shows, in output order, with what moves it.

use super::controls::GltfControls;
use super::document::Primitive;
use super::nodes::Graph;
use super::skin::{GltfSkin, RowTable, SkinRow, read_influences};
use super::source::Source;
use super::topology::read_triangles;
use crate::error::{LoadError, LoadErrorKind};
use crate::info::{MeshPart, RigMesh};
use crate::lbs::{Influence, Influences, Skinning};
use crate::math::Rows;
use crate::sparse::{self, DeltaFormat, SparseRows, SparseTarget, TargetWeights};
use glam::DVec3;
use std::ops::Range;

/// A primitive under a mesh node.
#[derive(Debug, Clone, PartialEq)]
pub struct GltfPart {
    /// The node, as the file counts.
    pub node: usize,
    /// The mesh.
    pub mesh: usize,
    /// The primitive in the mesh.
    pub primitive: usize,
    /// Its vertices.
    pub vertices: Range<usize>,
    /// Whether a skin carries it; otherwise its node does.
    pub skinned: bool,
    /// Whether the file has normals for it.
    pub has_normals: bool,
    /// Whether the file has tangents for it.
    pub has_tangents: bool,
}

/// What one morph target adds to one attribute, at weight 1: the vertices that move, and where to.
///
/// Target `t` of a list is control `t` of the rig.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MorphTarget {
    /// (D) Vertices of the rig, each once.
    pub vertices: Vec<u32>,
    /// (D, 3).
    pub deltas: Vec<[f32; 3]>,
}

/// The vertices of all parts, one after another: mesh nodes of the default scene ascending, primitives in order, vertices in accessor order.
#[derive(Debug, Clone, PartialEq)]
pub struct GltfMesh {
    pub(super) positions: Vec<[f32; 3]>,
    pub(super) normals: Option<Vec<[f32; 3]>>,
    pub(super) tangents: Option<Vec<[f32; 4]>>,
    pub(super) influences: Influences,
    pub(super) rows: Vec<SkinRow>,
    pub(super) position_deltas: SparseRows,
    pub(super) normal_deltas: SparseRows,
    pub(super) tangent_deltas: SparseRows,
    pub(super) targets: [Vec<MorphTarget>; 3],
    pub(super) parts: Vec<GltfPart>,
    pub(super) render: RigMesh,
}

impl GltfMesh {
    /// V.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// The positions as the file has them, each in its own mesh's space, (V, 3).
    #[must_use]
    pub fn positions(&self) -> &[[f32; 3]] {
        &self.positions
    }

    /// The file's normals, (V, 3), zero for parts without; none when no part has any.
    #[must_use]
    pub fn normals(&self) -> Option<&[[f32; 3]]> {
        self.normals.as_deref()
    }

    /// The file's tangents and their signs, (V, 4), zero for parts without; none when no part has any.
    #[must_use]
    pub fn tangents(&self) -> Option<&[[f32; 4]]> {
        self.tangents.as_deref()
    }

    /// Which rows of [`GltfMesh::rows`] hold which vertices; a part without a skin hangs on one row alone.
    #[must_use]
    pub fn influences(&self) -> &Influences {
        &self.influences
    }

    /// What carries the vertices, in the order of a pose's skin rows.
    #[must_use]
    pub fn rows(&self) -> &[SkinRow] {
        &self.rows
    }

    /// What the morph targets add to positions; a target's channel is its control.
    #[must_use]
    pub fn position_deltas(&self) -> &SparseRows {
        &self.position_deltas
    }

    /// What they add to normals.
    #[must_use]
    pub fn normal_deltas(&self) -> &SparseRows {
        &self.normal_deltas
    }

    /// What they add to tangents.
    #[must_use]
    pub fn tangent_deltas(&self) -> &SparseRows {
        &self.tangent_deltas
    }

    /// The position deltas again, by target: for what keeps them another way.
    #[must_use]
    pub fn position_targets(&self) -> &[MorphTarget] {
        &self.targets[0]
    }

    /// The normal deltas by target.
    #[must_use]
    pub fn normal_targets(&self) -> &[MorphTarget] {
        &self.targets[1]
    }

    /// The tangent deltas by target.
    #[must_use]
    pub fn tangent_targets(&self) -> &[MorphTarget] {
        &self.targets[2]
    }

    /// The parts, in output order; they tile the vertices.
    #[must_use]
    pub fn parts(&self) -> &[GltfPart] {
        &self.parts
    }

    /// What to draw. Triangles of a node that mirrors at rest are turned over, so that they are counter-clockwise from outside there too.
    #[must_use]
    pub fn render(&self) -> &RigMesh {
        &self.render
    }
}

impl GltfMesh {
    /// One vertex, morphed and skinned, in f64; linear: `sum_k w_k row_k (p + sum_t weight_t delta_t)`.
    ///
    /// # Shapes
    /// skin_rows: one for each of [`GltfMesh::rows`]
    #[must_use]
    pub fn posed_vertex(
        &self,
        vertex: usize,
        weights: &TargetWeights,
        skin_rows: &[Rows],
        skinning: Skinning,
    ) -> DVec3 {
        let moved = sparse::sparse_gather(&self.position_deltas, vertex, weights);
        let p = DVec3::from(self.positions[vertex].map(f64::from)) + moved;
        skinning.point(self.influences.row(vertex), skin_rows, p)
    }

    /// Turns over the triangles of the parts that are carried by rows with a negative determinant.
    pub(super) fn turn_mirrored(&mut self, skin_rows: &[Rows]) {
        for (part, render) in self.parts.iter().zip(&self.render.parts).filter(|(part, _)| !part.skinned) {
            let Some(row) = self.influences.entries.get(self.influences.offsets[part.vertices.start] as usize) else {
                continue;
            };
            let axis = |i: usize| DVec3::from_slice(&skin_rows[row.joint as usize][i].map(f64::from));
            if axis(0).cross(axis(1)).dot(axis(2)) < 0.0 {
                self.render.triangles[render.triangles.clone()].iter_mut().for_each(|t| t.swap(1, 2));
            }
        }
    }
}

/// The morph targets of one attribute, sorted by vertex.
fn delta_rows(targets: &[MorphTarget], vertex_count: usize) -> Result<SparseRows, LoadError> {
    let targets: Vec<SparseTarget> = (0..)
        .zip(targets)
        .map(|(channel, t)| SparseTarget { channel, vertices: &t.vertices, deltas: &t.deltas })
        .collect();
    SparseRows::new(vertex_count, &targets, DeltaFormat::F32).map_err(|e| e.within("/meshes"))
}

/// What grows as the mesh nodes are read.
pub(super) struct Builder<'s, 'a> {
    source: &'s mut Source<'a>,
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    tangents: Vec<[f32; 4]>,
    uvs: Vec<[f32; 2]>,
    influences: Influences,
    rows: RowTable,
    /// Of positions, normals and tangents, by control.
    targets: [Vec<MorphTarget>; 3],
    parts: Vec<GltfPart>,
    triangles: Vec<[u32; 3]>,
    render_parts: Vec<MeshPart>,
}

/// Where a primitive hangs.
#[derive(Clone, Copy)]
struct Seat<'a> {
    node: usize,
    mesh: usize,
    joint: usize,
    mesh_parent: Option<usize>,
    skin: Option<(usize, &'a GltfSkin)>,
    first_control: usize,
    target_count: usize,
}

impl<'s, 'a> Builder<'s, 'a> {
    pub(super) fn new(source: &'s mut Source<'a>, morph_count: usize) -> Builder<'s, 'a> {
        let targets = || vec![MorphTarget::default(); morph_count];
        Builder {
            source,
            positions: Vec::new(),
            normals: Vec::new(),
            tangents: Vec::new(),
            uvs: Vec::new(),
            influences: Influences { offsets: vec![0], entries: Vec::new() },
            rows: RowTable::default(),
            targets: [targets(), targets(), targets()],
            parts: Vec::new(),
            triangles: Vec::new(),
            render_parts: Vec::new(),
        }
    }

    /// Reads every mesh node that the default scene shows.
    pub(super) fn build(
        mut self,
        graph: &Graph,
        controls: &GltfControls,
        skins: &[GltfSkin],
    ) -> Result<GltfMesh, LoadError> {
        let root = self.source.root;
        for (node, data) in root.nodes.iter().enumerate() {
            let (Some(mesh), Some(joint)) = (data.mesh, graph.joint_of[node].filter(|_| graph.shown[node])) else {
                continue;
            };
            let morphs = controls.morphs_of_node(node).unwrap_or_default();
            let skin = data.skin.map(|skin| (skin, &skins[skin]));
            let moved = data.matrix.is_some() || data.translation.is_some() || data.rotation.is_some();
            if skin.is_some() && (moved || data.scale.is_some()) {
                self.source.report.ignored_mesh_transforms += 1;
            }
            let mesh_parent = graph.parent_joint(node);
            let (first_control, target_count) = (morphs.start, morphs.len());
            let seat = Seat { node, mesh, joint, mesh_parent, skin, first_control, target_count };
            for (index, primitive) in root.meshes[mesh].primitives.iter().enumerate() {
                self.add(seat, index, primitive)?;
            }
        }
        self.finish()
    }

    fn add(&mut self, seat: Seat, index: usize, primitive: &Primitive) -> Result<(), LoadError> {
        let place = format!("/meshes/{}/primitives/{index}", seat.mesh);
        // What parts, targets and vertices cost beside their attributes, in bytes and in time.
        const PART_BYTES: u64 = 512;
        const TARGET_BYTES: u64 = 64;
        const VERTEX_BYTES: u64 = 64;
        self.source.charge(&place, PART_BYTES + primitive.targets.len() as u64 * TARGET_BYTES)?;
        let Some(&position) = primitive.attributes.get("POSITION") else {
            self.source.report.primitives_without_positions += 1;
            return Ok(());
        };
        self.refuse_draco(primitive, position, &place)?;
        let field = format!("{place}/attributes/POSITION");
        let count = self.source.count(position)?;
        self.check_targets(primitive, &place, count)?;
        let first = self.positions.len();
        if first + count > u32::MAX as usize {
            return Err(LoadError::new(LoadErrorKind::Unsupported, field, "fewer than 2^32 vertices in all", "more"));
        }
        self.source.charge(&place, count as u64 * VERTEX_BYTES)?;
        self.source.count_integers(position);
        let positions = self.source.rows(position, &field)?;
        self.positions.extend(positions);
        let has_normals = self.attribute(primitive, &place, "NORMAL", |b| &mut b.normals)?;
        let has_tangents = self.attribute(primitive, &place, "TANGENT", |b| &mut b.tangents)?;
        self.attribute(primitive, &place, "TEXCOORD_0", |b| &mut b.uvs)?;
        let skinned = self.add_influences(seat, primitive, &place, count)?;
        self.add_targets(seat, primitive, &place, first)?;
        let triangles = read_triangles(self.source, primitive, &place, count)?;
        let start = self.triangles.len();
        self.triangles.extend(triangles.into_iter().map(|t| t.map(|v| v + first as u32)));
        let mesh = &self.source.root.meshes[seat.mesh];
        let name = mesh.name.as_deref().or(self.source.root.nodes[seat.node].name.as_deref()).unwrap_or("mesh");
        let name = if mesh.primitives.len() > 1 { format!("{name}.{index}") } else { name.to_string() };
        self.source.charge(&place, name.len() as u64)?;
        let look = primitive.material.and_then(|material| self.source.root.materials.get(material).copied());
        self.render_parts.push(MeshPart { name, triangles: start..self.triangles.len(), look });
        self.parts.push(GltfPart {
            node: seat.node,
            mesh: seat.mesh,
            primitive: index,
            vertices: first..first + count,
            skinned,
            has_normals,
            has_tangents,
        });
        Ok(())
    }

    /// Draco may stand beside plain accessors; without them there is nothing to read.
    fn refuse_draco(&self, primitive: &Primitive, position: usize, place: &str) -> Result<(), LoadError> {
        let accessor = &self.source.root.accessors[position];
        let bare = accessor.buffer_view.is_none() && accessor.sparse.is_none();
        if primitive.extensions.draco.is_some() && bare {
            let (field, expected) = (format!("{place}/extensions"), "geometry that is not packed by Draco");
            let found = "KHR_draco_mesh_compression";
            return Err(LoadError::new(LoadErrorKind::Unsupported, field, expected, found));
        }
        Ok(())
    }

    /// Compares every count with POSITION's before anything is decoded.
    fn check_targets(&mut self, primitive: &Primitive, place: &str, count: usize) -> Result<(), LoadError> {
        for (t, target) in primitive.targets.iter().enumerate() {
            let accessors = [("POSITION", target.position), ("NORMAL", target.normal), ("TANGENT", target.tangent)];
            for (key, accessor) in accessors {
                if let Some(accessor) = accessor {
                    self.source.check_count(accessor, &format!("{place}/targets/{t}/{key}"), count)?;
                }
            }
        }
        Ok(())
    }

    /// Appends an attribute that shades, zeros where the primitive lacks it.
    fn attribute<const N: usize>(
        &mut self,
        primitive: &Primitive,
        place: &str,
        key: &str,
        list: impl Fn(&mut Self) -> &mut Vec<[f32; N]>,
    ) -> Result<bool, LoadError> {
        let vertex_count = self.positions.len();
        let Some(&accessor) = primitive.attributes.get(key) else { return Ok(false) };
        let field = format!("{place}/attributes/{key}");
        let first = self.parts.last().map_or(0, |part| part.vertices.end);
        self.source.check_count(accessor, &field, vertex_count - first)?;
        self.source.count_integers(accessor);
        let rows = self.source.lenient_rows(accessor, &field)?;
        let list = list(self);
        list.resize(first, [0.0; N]);
        list.extend(rows);
        Ok(true)
    }

    fn add_influences(
        &mut self,
        seat: Seat,
        primitive: &Primitive,
        place: &str,
        count: usize,
    ) -> Result<bool, LoadError> {
        if let Some((index, skin)) = seat.skin {
            let first = self.rows.of_skin(self.source, (index, skin), seat.mesh_parent)?;
            let range = (first, skin.joints.len());
            if read_influences(self.source, primitive, place, count, range, &mut self.influences)? {
                return Ok(true);
            }
            self.source.report.primitives_without_joints += 1;
        }
        let joint = self.rows.of_joint(seat.joint, seat.mesh_parent);
        for _ in 0..count {
            self.influences.entries.push(Influence { joint, weight: 1.0 });
            self.influences.offsets.push(self.influences.entries.len() as u32);
        }
        Ok(false)
    }

    fn add_targets(&mut self, seat: Seat, primitive: &Primitive, place: &str, first: usize) -> Result<(), LoadError> {
        if primitive.targets.len() < seat.target_count {
            self.source.report.primitives_with_fewer_targets += 1;
        }
        for (t, target) in primitive.targets.iter().enumerate() {
            let accessors = [("POSITION", target.position), ("NORMAL", target.normal), ("TANGENT", target.tangent)];
            for (attribute, (key, accessor)) in accessors.into_iter().enumerate() {
                let Some(accessor) = accessor else { continue };
                let field = format!("{place}/targets/{t}/{key}");
                self.source.count_integers(accessor);
                let (vertices, deltas) = self.source.sparse_rows::<3>(accessor, &field, key != "POSITION")?;
                self.source.charge(&field, vertices.len() as u64 * 48)?;
                let list = &mut self.targets[attribute][seat.first_control + t];
                list.vertices.extend(vertices.into_iter().map(|v| v + first as u32));
                list.deltas.extend(deltas);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<GltfMesh, LoadError> {
        let count = self.positions.len();
        // What no part has stays empty; a part without what others have gets zeros.
        let length = |has: bool| if has { count } else { 0 };
        self.normals.resize(length(self.parts.iter().any(|p| p.has_normals)), [0.0; 3]);
        self.tangents.resize(length(self.parts.iter().any(|p| p.has_tangents)), [0.0; 4]);
        self.uvs.resize(length(!self.uvs.is_empty()), [0.0; 2]);
        let [positions, normals, tangents] = &self.targets;
        Ok(GltfMesh {
            normals: (!self.normals.is_empty()).then_some(self.normals),
            tangents: (!self.tangents.is_empty()).then_some(self.tangents),
            influences: self.influences,
            rows: self.rows.rows,
            position_deltas: delta_rows(positions, count)?,
            normal_deltas: delta_rows(normals, count)?,
            tangent_deltas: delta_rows(tangents, count)?,
            targets: self.targets,
            parts: self.parts,
            render: RigMesh {
                triangles: self.triangles,
                parts: self.render_parts,
                uvs: (!self.uvs.is_empty()).then_some(self.uvs),
            },
            positions: self.positions,
        })
    }
}
