//! The control vector: which number moves what, and what it is called.

use super::document::{Node, Root, wrong};
use super::nodes::{Graph, Rest};
use super::source::Source;
use crate::error::{ControlError, LoadError, LoadErrorKind};
use crate::skeleton::Local;
use glam::{DAffine3, DQuat, DVec3};
use std::collections::HashMap;
use std::ops::Range;

/// Controls of one node's transform: translation x, y, z, rotation x, y, z, w, scale x, y, z.
pub(super) const NODE_CONTROLS: usize = 10;
const NODE_PATHS: [&str; NODE_CONTROLS] = [
    "translation/x",
    "translation/y",
    "translation/z",
    "rotation/x",
    "rotation/y",
    "rotation/z",
    "rotation/w",
    "scale/x",
    "scale/y",
    "scale/z",
];

/// The controls of a glTF rig.
///
/// First the morph targets, `morph/<node>/<target>`, mesh nodes of the default scene ascending; then, ascending too, every node of the rig
/// that has no matrix: `node/<name>/translation/x` .. `node/<name>/scale/z`, ten each, the rotation as x, y, z, w. A name that is empty,
/// not unique or begins with `#` is replaced by the index: `#12`.
#[derive(Debug, Clone, PartialEq)]
pub struct GltfControls {
    names: Vec<String>,
    defaults: Vec<f32>,
    morphs: HashMap<usize, Range<usize>>,
    morph_count: usize,
    /// By joint.
    first: Vec<Option<usize>>,
    rest: Vec<Rest>,
}

impl GltfControls {
    pub(super) fn new(source: &mut Source, graph: &Graph) -> Result<GltfControls, LoadError> {
        let root = source.root;
        let rest = graph.joints.iter().map(|&node| Rest::new(&root.nodes[node], node)).collect::<Result<_, _>>()?;
        let mut controls = GltfControls {
            names: Vec::new(),
            defaults: Vec::new(),
            morphs: HashMap::new(),
            morph_count: 0,
            first: vec![None; graph.joints.len()],
            rest,
        };
        for (index, node) in root.nodes.iter().enumerate().filter(|(index, _)| graph.shown[*index]) {
            if let (Some(mesh), Some(joint)) = (node.mesh, graph.joint_of[index]) {
                controls.add_morphs(source, (index, node), mesh, &graph.names[joint])?;
            }
        }
        controls.morph_count = controls.names.len();
        for (index, joint) in graph.joint_of.iter().enumerate() {
            let Some(joint) = *joint else { continue };
            let Rest::Parts(parts) = controls.rest[joint] else { continue };
            let name = &graph.names[joint];
            source.charge(&format!("/nodes/{index}"), (NODE_CONTROLS * (name.len() + 64)) as u64)?;
            controls.first[joint] = Some(controls.names.len());
            controls.names.extend(NODE_PATHS.iter().map(|path| format!("node/{name}/{path}")));
            controls.defaults.extend(parts);
        }
        Ok(controls)
    }

    fn add_morphs(
        &mut self,
        source: &mut Source,
        (index, node): (usize, &Node),
        mesh: usize,
        name: &str,
    ) -> Result<(), LoadError> {
        let targets = target_names(source.root, mesh);
        let mesh_weights = &source.root.meshes[mesh].weights;
        let (field, weights) = match &node.weights {
            Some(weights) => (format!("/nodes/{index}/weights"), Some(weights)),
            None => (format!("/meshes/{mesh}/weights"), mesh_weights.as_ref()),
        };
        let weights = match weights {
            Some(weights) if weights.len() != targets.len() => {
                let expected = format!("{} weights, one for each morph target", targets.len());
                return Err(LoadError::new(LoadErrorKind::Shape, field, expected, weights.len()));
            }
            Some(weights) => weights.clone(),
            None => vec![0.0; targets.len()],
        };
        if let Some(weight) = weights.iter().find(|w| !w.is_finite()) {
            return Err(wrong(field, "finite numbers", weight));
        }
        let bytes: usize = targets.iter().map(|target| target.len() + name.len() + 64).sum();
        source.charge(&field, bytes as u64)?;
        let first = self.names.len();
        self.names.extend(targets.iter().map(|target| format!("morph/{name}/{target}")));
        self.defaults.extend(weights);
        if self.names.len() > first {
            self.morphs.insert(index, first..self.names.len());
        }
        Ok(())
    }

    /// C control names, in the order of the vector.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The file's own transforms and weights: what a new instance stands at, (C).
    #[must_use]
    pub fn defaults(&self) -> &[f32] {
        &self.defaults
    }

    /// How many of the controls are morph weights; they come first.
    #[must_use]
    pub fn morph_count(&self) -> usize {
        self.morph_count
    }

    /// The controls of the morph targets of a mesh node, given by its index in the file; none for a node without targets.
    #[must_use]
    pub fn morphs_of_node(&self, node: usize) -> Option<Range<usize>> {
        self.morphs.get(&node).cloned()
    }

    /// The first of the ten controls of a joint: translation, rotation (x, y, z, w), scale. None for one with a matrix.
    #[must_use]
    pub fn first_of_joint(&self, joint: usize) -> Option<usize> {
        self.first[joint]
    }

    /// The first controls of all the joints' rotations.
    pub(super) fn rotations(&self) -> impl Iterator<Item = usize> {
        self.first.iter().flatten().map(|first| first + 3)
    }

    /// Checks a vector: its length, that every number is finite and no rotation all zero.
    pub(super) fn check(&self, controls: &[f32], joint_names: &[String]) -> Result<(), ControlError> {
        ControlError::check("controls", controls, self.names.len())?;
        for (joint, first) in self.first.iter().enumerate().filter_map(|(joint, first)| Some((joint, (*first)?))) {
            if controls[first + 3..first + 7] == [0.0; 4] {
                let joint = joint_names[joint].clone();
                return Err(ControlError::Quaternion { joint, got: "(0, 0, 0, 0)".into() });
            }
        }
        Ok(())
    }

    /// The local transform of every joint, (J); rotations are normalised, a joint with a matrix stands as the file has it.
    pub(super) fn locals_into(&self, controls: &[f32], locals: &mut Vec<Local>) {
        let local = |(first, rest): (&Option<usize>, &Rest)| match (first, rest) {
            (Some(first), _) => {
                let c: [f64; NODE_CONTROLS] = std::array::from_fn(|i| f64::from(controls[first + i]));
                let rotation = DQuat::from_xyzw(c[3], c[4], c[5], c[6]).normalize();
                let frame = DAffine3::from_rotation_translation(rotation, DVec3::new(c[0], c[1], c[2]));
                Local { frame, scale: DVec3::new(c[7], c[8], c[9]) }
            }
            (None, Rest::Matrix(local)) => *local,
            (None, Rest::Parts(_)) => Local::from_affine(DAffine3::IDENTITY),
        };
        locals.clear();
        locals.extend(self.first.iter().zip(&self.rest).map(local));
    }
}

/// What the targets of a mesh are called, as many as its longest list; those without a name of their own go by index.
fn target_names(root: &Root, mesh: usize) -> Vec<String> {
    let mesh = &root.meshes[mesh];
    let count = mesh.primitives.iter().map(|p| p.targets.len()).max().unwrap_or(0);
    let lists = std::iter::once(&mesh.target_names).chain(mesh.primitives.iter().map(|p| &p.target_names));
    let names = lists.into_iter().find(|names| !names.is_empty()).map(Vec::as_slice).unwrap_or_default();
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for name in names.iter().take(count).flatten() {
        *uses.entry(name).or_default() += 1;
    }
    let name = |k: usize| match names.get(k).and_then(Option::as_deref) {
        Some(name) if !name.is_empty() && !name.starts_with('#') && uses[name] == 1 => name.to_string(),
        _ => format!("#{k}"),
    };
    (0..count).map(name).collect()
}
