//! The node graph: who hangs on whom, what the default scene shows, which nodes are the rig's joints and what they are called.

use super::document::{Node, Root, item, wrong};
use super::report::LoadReport;
use crate::error::LoadError;
use crate::skeleton::Local;
use glam::{DAffine3, DMat3, DVec3};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// A longer name goes by index: it is repeated in every control of its node.
const MAX_NAME_BYTES: usize = 256;

/// The forest of a file's nodes, checked.
#[derive(Debug)]
pub(super) struct Graph {
    /// By node.
    pub(super) parents: Vec<Option<usize>>,
    /// By node: whether the default scene shows it.
    pub(super) shown: Vec<bool>,
    /// The nodes of the rig, parents before children and otherwise ascending: the scene's, every skin's joints, and their ancestors.
    pub(super) joints: Vec<usize>,
    /// By node: its place in `joints`.
    pub(super) joint_of: Vec<Option<usize>>,
    /// By place in `joints`: the node's name, or its index as in `#12`.
    pub(super) names: Vec<String>,
}

impl Graph {
    pub(super) fn new(root: &Root, report: &mut LoadReport) -> Result<Graph, LoadError> {
        let parents = parents(&root.nodes)?;
        check_forest(&root.nodes, &parents)?;
        let shown = shown(root, &parents, report)?;
        let mut in_rig = shown.clone();
        let mut held: Vec<usize> = (0..shown.len()).filter(|&node| shown[node]).collect();
        for &joint in root.skins.iter().flat_map(|skin| &skin.joints) {
            report.joints_outside_scene += usize::from(!std::mem::replace(&mut in_rig[joint], true));
            held.push(joint);
        }
        for mut node in held {
            while let Some(parent) = parents[node].filter(|&p| !in_rig[p]) {
                in_rig[parent] = true;
                node = parent;
            }
        }
        let joints = sorted(&root.nodes, &parents, &in_rig);
        let mut joint_of = vec![None; root.nodes.len()];
        for (joint, &node) in joints.iter().enumerate() {
            joint_of[node] = Some(joint);
        }
        let names = names(&root.nodes, &joints, report);
        report.matrix_nodes = joints.iter().filter(|&&node| root.nodes[node].matrix.is_some()).count();
        report.joints_before_parents = before_parents(root, &parents);
        Ok(Graph { parents, shown, joints, joint_of, names })
    }

    /// The joint that is the parent of a node, of any node of the rig.
    pub(super) fn parent_joint(&self, node: usize) -> Option<usize> {
        self.parents[node].and_then(|parent| self.joint_of[parent])
    }
}

fn parents(nodes: &[Node]) -> Result<Vec<Option<usize>>, LoadError> {
    let mut parents = vec![None; nodes.len()];
    for (i, node) in nodes.iter().enumerate() {
        for (k, &child) in node.children.iter().enumerate() {
            let field = || format!("/nodes/{i}/children/{k}");
            item(nodes, child, "nodes", field())?;
            if let Some(other) = parents[child].replace(i) {
                return Err(wrong(field(), "a node with one parent", format!("{child}, a child of {other} already")));
            }
        }
    }
    Ok(parents)
}

/// Every node with one parent at most is reached from a root, or is on a cycle or below one.
fn check_forest(nodes: &[Node], parents: &[Option<usize>]) -> Result<(), LoadError> {
    let mut reached = vec![false; nodes.len()];
    let mut open: Vec<usize> = (0..nodes.len()).filter(|&node| parents[node].is_none()).collect();
    while let Some(node) = open.pop() {
        reached[node] = true;
        open.extend(&nodes[node].children);
    }
    match reached.iter().position(|r| !r) {
        Some(node) => Err(wrong(format!("/nodes/{node}"), "a node below a root", "a node on a cycle or below one")),
        None => Ok(()),
    }
}

fn shown(root: &Root, parents: &[Option<usize>], report: &mut LoadReport) -> Result<Vec<bool>, LoadError> {
    let index = root.scene.unwrap_or(0);
    let mut open = match root.scenes.get(index) {
        Some(scene) => {
            for (k, &node) in scene.nodes.iter().enumerate() {
                item(&root.nodes, node, "nodes", format!("/scenes/{index}/nodes/{k}"))?;
                report.scene_roots_with_parents += usize::from(parents[node].is_some());
            }
            scene.nodes.clone()
        }
        None if root.scene.is_none() => {
            report.files_without_scene = 1;
            (0..root.nodes.len()).filter(|&node| parents[node].is_none()).collect()
        }
        None => return Err(item(&root.scenes, index, "scenes", "/scene").unwrap_err()),
    };
    let mut shown = vec![false; root.nodes.len()];
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut shown[node], true) {
            open.extend(&root.nodes[node].children);
        }
    }
    Ok(shown)
}

/// Of the nodes whose parent stands already, always the lowest next.
fn sorted(nodes: &[Node], parents: &[Option<usize>], in_rig: &[bool]) -> Vec<usize> {
    let roots = (0..nodes.len()).filter(|&node| in_rig[node] && parents[node].is_none());
    let mut open: BinaryHeap<Reverse<usize>> = roots.map(Reverse).collect();
    let mut joints = Vec::new();
    while let Some(Reverse(node)) = open.pop() {
        joints.push(node);
        open.extend(nodes[node].children.iter().filter(|&&child| in_rig[child]).map(|&child| Reverse(child)));
    }
    joints
}

fn names(nodes: &[Node], joints: &[usize], report: &mut LoadReport) -> Vec<String> {
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for name in nodes.iter().filter_map(|node| node.name.as_deref()) {
        *uses.entry(name).or_default() += 1;
    }
    // A name that reads like an index could be mistaken for another node's.
    let usable = |name: &&str| !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.starts_with('#');
    let name = |&node: &usize| match nodes[node].name.as_deref().filter(usable) {
        Some(name) if uses[name] == 1 => name.to_string(),
        Some(_) => {
            report.duplicate_names += 1;
            format!("#{node}")
        }
        None => {
            report.unnamed_nodes += 1;
            format!("#{node}")
        }
    };
    joints.iter().map(name).collect()
}

fn before_parents(root: &Root, parents: &[Option<usize>]) -> usize {
    let early = |skin: &super::document::Skin| {
        let place: HashMap<usize, usize> = skin.joints.iter().enumerate().map(|(k, &node)| (node, k)).collect();
        let is_early = |(k, node): (usize, &usize)| parents[*node].and_then(|p| place.get(&p)).is_some_and(|&p| k < p);
        skin.joints.iter().enumerate().filter(|&entry| is_early(entry)).count()
    };
    root.skins.iter().map(early).sum()
}

/// Where a node stands in its parent, as the file has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rest {
    /// A matrix: it has no controls.
    Matrix(Local),
    /// Translation, rotation x, y, z, w and scale: ten controls.
    Parts([f32; 10]),
}

impl Rest {
    pub(super) fn new(node: &Node, index: usize) -> Result<Rest, LoadError> {
        if let Some(m) = &node.matrix {
            if let Some(value) = m.iter().find(|x| x.abs() > f64::from(f32::MAX)) {
                return Err(wrong(format!("/nodes/{index}/matrix"), "numbers that an f32 holds", format!("{value:e}")));
            }
            let column = |i: usize| DVec3::new(m[4 * i], m[4 * i + 1], m[4 * i + 2]);
            let matrix3 = DMat3::from_cols(column(0), column(1), column(2));
            return Ok(Rest::Matrix(Local::from_affine(DAffine3 { matrix3, translation: column(3) })));
        }
        let translation = node.translation.unwrap_or([0.0; 3]);
        let rotation = node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let scale = node.scale.unwrap_or([1.0; 3]);
        let mut parts = [0.0; 10];
        for (key, at, values) in
            [("translation", 0, &translation[..]), ("rotation", 3, &rotation), ("scale", 7, &scale)]
        {
            if let Some(value) = values.iter().find(|x| !x.is_finite()) {
                return Err(wrong(format!("/nodes/{index}/{key}"), "finite numbers", value));
            }
            parts[at..at + values.len()].copy_from_slice(values);
        }
        if rotation == [0.0; 4] {
            return Err(wrong(format!("/nodes/{index}/rotation"), "a quaternion other than zero", "zero"));
        }
        Ok(Rest::Parts(parts))
    }
}
