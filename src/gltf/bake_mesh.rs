//! A pose as a static GLB.

use super::looks;
use super::model::GltfModel;
use super::pose::{GltfPose, OutputSpace};
use super::write::{Attributes, Glb, Material, Mesh, Node, Primitive};
use crate::error::{LoadError, LoadErrorKind};
use crate::info::{Look, MeshPart};
use crate::math::Rows;
use crate::normals::{Incidence, normals};
use glam::{DVec3, Vec3};
use std::ops::Range;

/// The vertices of a pose, in world space: what the CPU reference or a device gives.
#[derive(Debug, Clone, Copy)]
pub struct PosedVertices<'a> {
    /// (V, 3).
    pub positions: &'a [[f32; 3]],
    /// (V, 3), of unit length or zero; none for a file without.
    pub normals: Option<&'a [[f32; 3]]>,
    /// (V, 4), the same with the file's sign; none for a file without.
    pub tangents: Option<&'a [[f32; 4]]>,
}

/// A pose in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct BakedMesh {
    /// The file.
    pub glb: Vec<u8>,
    /// The parts in it, by name and in output order.
    pub parts: Vec<String>,
    /// The parts that have no triangles: points, lines, and what is empty. They are not in it.
    pub left_out: Vec<String>,
    /// How many vertices are in it.
    pub vertex_count: usize,
    /// How many triangles.
    pub triangle_count: usize,
    /// How many zero normals were replaced.
    pub made_normals: usize,
}

/// Writes a pose as a GLB without joints, targets and clips: for each part of the mesh that has triangles a node and a mesh of its name, its
/// vertices where the pose has them.
///
/// The law: positions are the given ones bit for bit, in the order of the part's vertices. Normals and tangents are the given ones. A zero
/// normal becomes the area-weighted normal of its triangles, and +Z where these are flat too; a zero tangent becomes any unit vector across
/// the normal. A part whose file has no normals stays without, and without tangents, which mean nothing alone. What the pose mirrors has its
/// triangles turned over and the sign of its tangents changed, so that both are as right-handed as in the file.
///
/// A part keeps its texture coordinates and, as its material, the colour and the gloss that the file gives it, opaque. Textures, vertex
/// colours and what else a material says are not carried.
///
/// # Shapes
/// posed: all vertices of the model's mesh; `pose` is the one that they are of
///
/// # Errors
/// `Value` - a vertex that is not finite, or a file without a triangle; `Unsupported` - more than a GLB can hold.
///
/// # Panics
/// On arrays of other lengths than the mesh, and on a pose in another space than the world.
pub fn bake_mesh(model: &GltfModel, pose: &GltfPose, posed: PosedVertices) -> Result<BakedMesh, LoadError> {
    let (mesh, count) = (model.mesh(), model.mesh().vertex_count());
    assert_eq!(pose.space(), OutputSpace::World, "a static mesh stands in the world");
    assert_eq!(posed.positions.len(), count, "positions of another mesh");
    assert!(posed.normals.is_none_or(|n| n.len() == count), "normals of another mesh");
    assert!(posed.tangents.is_none_or(|t| t.len() == count), "tangents of another mesh");
    let rest = GltfPose::new(model, OutputSpace::World);
    let mut baked =
        Baker { posed, glb: Glb::new(), looks: vec![], made_normals: 0, triangle_count: 0, vertex_count: 0 };
    let (mut parts, mut left_out) = (vec![], vec![]);
    for (part, render) in mesh.parts().iter().zip(&mesh.render().parts) {
        if render.triangles.is_empty() {
            left_out.push(render.name.clone());
            continue;
        }
        // The mesh's triangles have been turned over where a part without a skin mirrors at rest.
        let was_turned = !part.skinned && mirrors(model, rest.skin_rows(), part.vertices.start);
        let mirrored: Vec<bool> = part.vertices.clone().map(|v| mirrors(model, pose.skin_rows(), v)).collect();
        let first = part.vertices.start as u32;
        let triangles = mesh.render().triangles[render.triangles.clone()].iter().map(|t| t.map(|v| v - first));
        let triangles: Vec<[u32; 3]> = triangles
            .map(|t| if t.iter().all(|v| mirrored[*v as usize]) != was_turned { [t[0], t[2], t[1]] } else { t })
            .collect();
        let source = Source {
            render,
            vertices: part.vertices.clone(),
            triangles,
            mirrored,
            has_normals: part.has_normals,
            has_tangents: part.has_tangents,
            uvs: mesh.render().uvs.as_deref().map(|uvs| &uvs[part.vertices.clone()]),
        };
        baked.add(&source)?;
        parts.push(render.name.clone());
    }
    if parts.is_empty() {
        return Err(LoadError::new(LoadErrorKind::Value, "/meshes", "triangles in the default scene", "none"));
    }
    Ok(BakedMesh {
        parts,
        left_out,
        vertex_count: baked.vertex_count,
        triangle_count: baked.triangle_count,
        made_normals: baked.made_normals,
        glb: baked.glb.finish()?,
    })
}

/// Whether the row that holds a vertex most mirrors it.
fn mirrors(model: &GltfModel, skin_rows: &[Rows], vertex: usize) -> bool {
    let influences = model.mesh().influences().row(vertex);
    let Some(most) = influences.iter().max_by(|a, b| a.weight.total_cmp(&b.weight)) else { return false };
    let [x, y, z] = skin_rows[most.joint as usize].map(|r| DVec3::new(r[0].into(), r[1].into(), r[2].into()));
    x.cross(y).dot(z) < 0.0
}

/// A part on its way into a file.
struct Source<'a> {
    render: &'a MeshPart,
    vertices: Range<usize>,
    /// In the part's own vertices.
    triangles: Vec<[u32; 3]>,
    /// By vertex of the part.
    mirrored: Vec<bool>,
    has_normals: bool,
    has_tangents: bool,
    uvs: Option<&'a [[f32; 2]]>,
}

struct Baker<'a> {
    posed: PosedVertices<'a>,
    glb: Glb,
    /// Those of the materials.
    looks: Vec<Look>,
    made_normals: usize,
    triangle_count: usize,
    vertex_count: usize,
}

impl Baker<'_> {
    fn add(&mut self, source: &Source) -> Result<(), LoadError> {
        let name = &source.render.name;
        let positions = &self.posed.positions[source.vertices.clone()];
        if let Some(vertex) = positions.iter().position(|p| p.iter().any(|x| !x.is_finite())) {
            let field = format!("part {name:?}, vertex {vertex}");
            let found = format!("{:?}", positions[vertex]);
            return Err(LoadError::new(LoadErrorKind::Value, field, "a finite position", found));
        }
        let mut attributes = Attributes::new();
        attributes.insert("POSITION", self.glb.add_positions(positions));
        if let Some(normals) = self.posed.normals.filter(|_| source.has_normals) {
            let mut normals = normals[source.vertices.clone()].to_vec();
            self.made_normals += replace_zeros(&mut normals, positions, &source.triangles);
            attributes.insert("NORMAL", self.glb.add_attribute(&normals));
            if let Some(tangents) = self.posed.tangents.filter(|_| source.has_tangents) {
                let tangents = tangents[source.vertices.clone()].iter().zip(&normals).zip(&source.mirrored);
                let tangents: Vec<[f32; 4]> = tangents.map(|((t, n), mirrored)| tangent(*t, *n, *mirrored)).collect();
                attributes.insert("TANGENT", self.glb.add_attribute(&tangents));
            }
        }
        // Zeros are what a part has whose file has none.
        if let Some(uvs) = source.uvs.filter(|uvs| uvs.iter().any(|uv| *uv != [0.0; 2])) {
            attributes.insert("TEXCOORD_0", self.glb.add_attribute(uvs));
        }
        let indices = self.glb.add_triangles(&source.triangles, source.vertices.len());
        let material = source.render.look.map(|look| self.material(look));
        let primitive = Primitive { attributes, indices, material, targets: vec![] };
        let document = &mut self.glb.document;
        document.scenes[0].nodes.push(document.nodes.len());
        document.nodes.push(Node { name: name.clone(), mesh: Some(document.meshes.len()), ..Node::default() });
        document.meshes.push(Mesh { name: name.clone(), primitives: vec![primitive], ..Mesh::default() });
        self.vertex_count += source.vertices.len();
        self.triangle_count += source.triangles.len();
        Ok(())
    }

    fn material(&mut self, look: Look) -> usize {
        self.looks.iter().position(|other| *other == look).unwrap_or_else(|| {
            let (color, roughness) = looks::surface(&look);
            self.glb.document.materials.push(Material::plain(None, color, roughness));
            self.looks.push(look);
            self.looks.len() - 1
        })
    }
}

/// Makes every zero normal one of unit length, and says how many there were.
fn replace_zeros(given: &mut [[f32; 3]], positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> usize {
    // Posed normals are of unit length up to rounding, or zero.
    let is_zero = |n: &[f32; 3]| !Vec3::from(*n).is_normalized();
    let count = given.iter().filter(|n| is_zero(n)).count();
    if count > 0 {
        let made = normals(positions, triangles, &Incidence::new(triangles, positions.len()));
        for (normal, made) in given.iter_mut().zip(&made).filter(|(n, _)| is_zero(n)) {
            *normal = if is_zero(made) { [0.0, 0.0, 1.0] } else { *made };
        }
    }
    count
}

fn tangent([x, y, z, sign]: [f32; 4], normal: [f32; 3], mirrored: bool) -> [f32; 4] {
    let given = Vec3::new(x, y, z);
    let across = Vec3::from(normal).any_orthonormal_vector();
    let unit = if given.is_normalized() { given } else { across };
    let is_left = (sign < 0.0) != mirrored;
    unit.extend(if is_left { -1.0 } else { 1.0 }).to_array()
}
