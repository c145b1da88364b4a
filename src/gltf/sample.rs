//! The procedural head as a glTF file.

mod clip;
mod colors;
mod shapes;

use super::write::{Attributes, Glb, Material, Mesh, MeshExtras, Node, Primitive, Skin};
use crate::head::canvas::Canvas;
use crate::head::{Component, Head, HeadSize, JOINT_PARENTS, Tissue};
use colors::{Paint, paint};
use shapes::{Shape, shapes};
use std::ops::Range;

/// The head's joints by the names that VRM has for them.
const JOINTS: [&str; 4] = ["neck", "head", "leftEye", "rightEye"];

/// The meshes: a name that no joint has, and the part of the head.
const MESHES: [(&str, Component); 6] = [
    ("skin", Component::Skin),
    ("left_eyeball", Component::LeftEye),
    ("right_eyeball", Component::RightEye),
    ("upper_teeth", Component::UpperTeeth),
    ("lower_teeth", Component::LowerTeeth),
    ("tongue", Component::Tongue),
];

/// The procedural head as a GLB in metres, +Y up, looking along +Z: a mesh for each part of it, the 52 ARKit shapes as morph targets, the
/// joints `neck`, `head`, `leftEye` and `rightEye`, and the clip `speech` of two and a half seconds.
///
/// | | full | small | tiny |
/// |---|---|---|---|
/// | vertices | 17,821 | about 2,000 | 447, without openings for eyes and mouth |
///
/// The law: the same bytes on every call, whatever the number of threads. A mesh has the targets that move it, by their ARKit names in
/// alphabetical order; the two sides are images of each other. All targets are written for a mouth, lids and eyes that stand at rest, so
/// `mouthClose` brings the lips together over a jaw that `jawOpen` has opened as far as itself, and means nothing alone.
///
/// The eyes turn by their joints or by the `eyeLook` targets, 20 degrees at full effort. A target goes straight where an eye turns, so on its
/// way an eyeball shrinks by up to 1.5 %; joints turn it exactly, and the lids follow them a little. The clip looks around by joints.
///
/// Colours are plain: a material for each part, and vertex colours for lips, irises, gums and the inside of the mouth.
#[must_use]
pub fn sample(size: HeadSize) -> Vec<u8> {
    let head = Head::build(size);
    let canvas = Canvas::new(&head);
    let shapes = shapes(&canvas);
    let mut glb = Glb::new();
    let rig = Rig { head: &head, canvas: &canvas, groups: &head.vertex_groups(), shapes: &shapes };
    let skin = rig.add_skin(&mut glb);
    let mut nodes = vec![0];
    let mut drivers = vec![];
    for (name, component) in MESHES {
        let (mesh, targets) = rig.mesh(&mut glb, name, component);
        let node = glb.document.nodes.len();
        nodes.push(node);
        drivers.push((node, targets));
        glb.document.nodes.push(Node {
            name: name.into(),
            mesh: Some(glb.document.meshes.len()),
            skin: Some(skin),
            ..Node::default()
        });
        glb.document.meshes.push(mesh);
    }
    glb.document.scenes[0].nodes = nodes;
    let clip = clip::speech(&mut glb, &drivers);
    glb.document.animations.push(clip);
    glb.finish().expect("a head is far below 4 GiB")
}

/// A head on its way into a file.
struct Rig<'a> {
    head: &'a Head,
    canvas: &'a Canvas<'a>,
    groups: &'a [(String, Vec<f32>)],
    shapes: &'a [Shape],
}

impl Rig<'_> {
    /// Adds the joints as the first nodes, and their skin; a joint has no turn of its own at rest.
    fn add_skin(&self, glb: &mut Glb) -> usize {
        let places = self.head.joint_positions().map(|p| p.as_vec3());
        let mut binds = vec![];
        for (joint, name) in JOINTS.iter().enumerate() {
            let from = JOINT_PARENTS[joint].map_or(glam::Vec3::ZERO, |parent| places[parent]);
            let children = (0..JOINTS.len()).filter(|child| JOINT_PARENTS[*child] == Some(joint)).collect();
            let translation = Some((places[joint] - from).to_array());
            glb.document.nodes.push(Node { name: (*name).into(), children, translation, ..Node::default() });
            binds.push(glam::Mat4::from_translation(-places[joint]).to_cols_array());
        }
        let skin = Skin {
            name: "head".into(),
            inverse_bind_matrices: glb.add_values(&binds),
            joints: (0..JOINTS.len()).collect(),
        };
        glb.document.skins.push(skin);
        glb.document.skins.len() - 1
    }

    /// A part of the head, and which shapes move it.
    fn mesh(&self, glb: &mut Glb, name: &'static str, component: Component) -> (Mesh, Vec<&'static str>) {
        let head = self.head;
        let mut pieces = vec![self.range(|v| head.components[v] == component)];
        let whole = pieces[0].clone();
        // The clear shell of an eye wants a material of its own.
        if matches!(component, Component::LeftEye | Component::RightEye) {
            let is_shell = |v: usize| head.components[v] == component && head.tissues[v] == Tissue::EyeShell;
            let shell = self.range(is_shell);
            pieces = vec![shell.end..whole.end, shell];
        }
        let moving: Vec<&Shape> = self.shapes.iter().filter(|shape| shape.moves(&whole)).collect();
        let names: Vec<&'static str> = moving.iter().map(|shape| shape.name).collect();
        let primitives = pieces.into_iter().map(|vertices| self.primitive(glb, vertices, &moving)).collect();
        let target_names = names.iter().map(|name| (*name).to_string()).collect();
        let mesh = Mesh {
            name: name.into(),
            primitives,
            weights: vec![0.0; names.len()],
            extras: (!names.is_empty()).then_some(MeshExtras { target_names }),
        };
        (mesh, names)
    }

    /// Vertices that lie one after another.
    fn range(&self, is_in: impl Fn(usize) -> bool) -> Range<usize> {
        let first = (0..self.head.vertex_count()).find(|v| is_in(*v)).unwrap_or(0);
        let count = (first..self.head.vertex_count()).take_while(|v| is_in(*v)).count();
        first..first + count
    }

    fn primitive(&self, glb: &mut Glb, vertices: Range<usize>, moving: &[&Shape]) -> Primitive {
        let of_all = |rows: &[glam::DVec3]| -> Vec<[f32; 3]> {
            rows[vertices.clone()].iter().map(|row| row.as_vec3().to_array()).collect()
        };
        let mut attributes = Attributes::new();
        attributes.insert("POSITION", glb.add_positions(&of_all(&self.head.positions)));
        attributes.insert("NORMAL", glb.add_attribute(&of_all(&self.canvas.normals)));
        let (joints, weights) = self.influences(vertices.clone());
        attributes.insert("JOINTS_0", glb.add_bytes(&joints, false));
        attributes.insert("WEIGHTS_0", glb.add_attribute(&weights));
        let Paint { name, base, roughness, tints } = paint(self.head, self.groups, vertices.clone());
        if let Some(tints) = tints {
            attributes.insert("COLOR_0", glb.add_bytes(&tints, true));
        }
        let first = vertices.start as u32;
        let inside = |quad: &&[u32; 4]| vertices.contains(&(quad[0] as usize));
        let quads = self.head.quads.iter().filter(inside).map(|quad| quad.map(|v| v - first));
        let triangles: Vec<[u32; 3]> = quads.flat_map(|[a, b, c, d]| [[a, b, c], [c, d, a]]).collect();
        let indices = glb.add_triangles(&triangles, vertices.len());
        let targets = moving.iter().map(|shape| shape.write(glb, &vertices)).collect();
        Primitive { attributes, indices, material: Some(material(glb, name, base, roughness)), targets }
    }

    /// The joints and weights of some vertices, the larger weight first; a lane without weight names the first joint.
    fn influences(&self, vertices: Range<usize>) -> (Vec<[u8; 4]>, Vec<[f32; 4]>) {
        let by_joint = self.head.skin_weights();
        let row = |vertex: usize| {
            let mut held: Vec<(u8, f32)> =
                (0..).zip(&by_joint).map(|(joint, weights)| (joint, weights[vertex])).collect();
            held.sort_by(|a, b| b.1.total_cmp(&a.1));
            let lane = |k: usize| if held[k].1 > 0.0 { held[k] } else { (0, 0.0) };
            ([0, 1, 2, 3].map(|k| lane(k).0), [0, 1, 2, 3].map(|k| lane(k).1))
        };
        vertices.map(row).unzip()
    }
}

/// The material of that name, made where it is the first that asks for it.
fn material(glb: &mut Glb, name: &'static str, base: [f32; 4], roughness: f32) -> usize {
    let material = Material::plain(Some(name), base, roughness);
    let materials = &mut glb.document.materials;
    materials.iter().position(|other| *other == material).unwrap_or_else(|| {
        materials.push(material);
        materials.len() - 1
    })
}
