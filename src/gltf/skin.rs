//! Skins: the rows that carry vertices, and the influences that choose among them.

use super::accessor::{Component, Values};
use super::document::{Primitive, wrong};
use super::nodes::Graph;
use super::report::LoadReport;
use super::source::Source;
use crate::error::{LoadError, LoadErrorKind};
use crate::lbs::{Influence, Influences};
use glam::{DAffine3, DMat3, DVec3};
use std::collections::{BTreeSet, HashMap};

/// What carries a vertex: a joint, and the matrix that takes mesh space to the joint's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SkinRow {
    /// The joint.
    pub joint: usize,
    /// Its inverse bind matrix; identity for a mesh node without a skin, which is carried by itself.
    pub joint_from_mesh: DAffine3,
    /// The parent of the mesh node: whose space [`super::pose::OutputSpace::MeshParent`] is.
    pub mesh_parent: Option<usize>,
}

/// A skin of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct GltfSkin {
    /// Its name in the file.
    pub name: Option<String>,
    /// The joints of the rig, in the skin's order.
    pub joints: Vec<usize>,
    /// The inverse bind matrix of each.
    pub inverse_binds: Vec<DAffine3>,
}

pub(super) fn read_skins(source: &mut Source, graph: &Graph) -> Result<Vec<GltfSkin>, LoadError> {
    let root = source.root;
    let mut skins = Vec::with_capacity(root.skins.len());
    for (i, skin) in root.skins.iter().enumerate() {
        let inverse_binds = match skin.inverse_bind_matrices {
            Some(accessor) => {
                let field = format!("/skins/{i}/inverseBindMatrices");
                source.count_integers(accessor);
                let rows = source.rows::<16>(accessor, &field)?;
                if rows.len() < skin.joints.len() {
                    let expected = format!("{} matrices, one for each joint", skin.joints.len());
                    return Err(LoadError::new(LoadErrorKind::Shape, field, expected, rows.len()));
                }
                rows.iter().take(skin.joints.len()).map(affine_from_columns).collect()
            }
            None => {
                source.report.skins_without_inverse_binds += 1;
                vec![DAffine3::IDENTITY; skin.joints.len()]
            }
        };
        let joints = skin.joints.iter().filter_map(|&node| graph.joint_of[node]).collect();
        skins.push(GltfSkin { name: skin.name.clone(), joints, inverse_binds });
    }
    Ok(skins)
}

/// A column-major 4x4 matrix; its bottom row is taken to be 0, 0, 0, 1.
fn affine_from_columns(m: &[f32; 16]) -> DAffine3 {
    let column = |i: usize| DVec3::new(m[4 * i].into(), m[4 * i + 1].into(), m[4 * i + 2].into());
    DAffine3 { matrix3: DMat3::from_cols(column(0), column(1), column(2)), translation: column(3) }
}

/// The rows of all mesh nodes; nodes that share a skin and a parent share rows.
#[derive(Debug, Default)]
pub(super) struct RowTable {
    pub(super) rows: Vec<SkinRow>,
    skins: HashMap<(usize, Option<usize>), u32>,
    nodes: HashMap<usize, u32>,
}

impl RowTable {
    /// The first row of a skin under a mesh node.
    pub(super) fn of_skin(
        &mut self,
        source: &mut Source,
        (index, skin): (usize, &GltfSkin),
        mesh_parent: Option<usize>,
    ) -> Result<u32, LoadError> {
        if let Some(&first) = self.skins.get(&(index, mesh_parent)) {
            return Ok(first);
        }
        source.charge(&format!("/skins/{index}"), (skin.joints.len() * size_of::<SkinRow>()) as u64)?;
        let first = self.rows.len() as u32;
        let row = |(&joint, &joint_from_mesh): (&usize, &DAffine3)| SkinRow { joint, joint_from_mesh, mesh_parent };
        self.rows.extend(skin.joints.iter().zip(&skin.inverse_binds).map(row));
        self.skins.insert((index, mesh_parent), first);
        Ok(first)
    }

    /// The row of a mesh node that carries itself.
    pub(super) fn of_joint(&mut self, joint: usize, mesh_parent: Option<usize>) -> u32 {
        let rows = &mut self.rows;
        *self.nodes.entry(joint).or_insert_with(|| {
            rows.push(SkinRow { joint, joint_from_mesh: DAffine3::IDENTITY, mesh_parent });
            rows.len() as u32 - 1
        })
    }
}

/// The numbers `n` of a primitive's `JOINTS_n` and `WEIGHTS_n`, ascending.
fn influence_sets(primitive: &Primitive) -> BTreeSet<u32> {
    let number = |key: &str| key.strip_prefix("JOINTS_").or_else(|| key.strip_prefix("WEIGHTS_"))?.parse().ok();
    primitive.attributes.keys().filter_map(|key| number(key)).collect()
}

/// One set of four lanes for every vertex, as the file has it.
struct Lanes {
    joints: Vec<u32>,
    joints_field: String,
    weights: Values,
}

/// Appends the influences of a skinned primitive, on the rows from `first_row` on; false for one without joints.
///
/// The law: weights below zero are zero. A vertex without any weight is rigid to the joint in slot 0. Weights sum to 1: normalised
/// integers that sum to their 1 exactly are used as they are, all others are divided by their sum.
pub(super) fn read_influences(
    source: &mut Source,
    primitive: &Primitive,
    place: &str,
    vertex_count: usize,
    (first_row, joint_count): (u32, usize),
    influences: &mut Influences,
) -> Result<bool, LoadError> {
    let mut sets = Vec::new();
    for n in influence_sets(primitive) {
        sets.push(read_lanes(source, primitive, &format!("{place}/attributes"), n, vertex_count)?);
    }
    let Some(first) = sets.first() else { return Ok(false) };
    // Only lanes of one integer kind have an exact sum.
    let component = first.weights.component;
    let same = |set: &Lanes| set.weights.normalized && set.weights.component == component;
    let exact = (component != Component::F32 && sets.iter().all(same)).then(|| component.largest());
    source.charge(place, (vertex_count * sets.len() * 4 * size_of::<Influence>()) as u64)?;
    let report = &mut source.report;
    let mut held = Vec::with_capacity(4 * sets.len());
    for vertex in 0..vertex_count {
        hold(&sets, vertex, exact.is_some(), joint_count, report, &mut held)?;
        if held.is_empty() {
            report.rigid_vertices += 1;
            held.push((check_joint(&sets[0], vertex, 4 * vertex, joint_count)?, exact.unwrap_or(1.0)));
        }
        let sum: f64 = held.iter().map(|(_, weight)| weight).sum();
        let is_one = match exact {
            Some(one) => sum == one,
            // What the Khronos validator allows: rounding of each weight to f32.
            None => (sum - 1.0).abs() <= 2e-7 * held.len() as f64,
        };
        report.renormalised_vertices += usize::from(!is_one);
        let influence =
            |&(joint, weight): &(u32, f64)| Influence { joint: first_row + joint, weight: (weight / sum) as f32 };
        influences.entries.extend(held.iter().map(influence));
        influences.offsets.push(influences.entries.len() as u32);
    }
    Ok(true)
}

/// The joints that hold a vertex and by how much, integers as they are where their sum will be compared.
fn hold(
    sets: &[Lanes],
    vertex: usize,
    as_integers: bool,
    joint_count: usize,
    report: &mut LoadReport,
    held: &mut Vec<(u32, f64)>,
) -> Result<(), LoadError> {
    held.clear();
    for set in sets {
        for lane in 4 * vertex..4 * vertex + 4 {
            let weight = if as_integers { set.weights.raw(lane) } else { f64::from(set.weights.get(lane)) };
            if !weight.is_finite() {
                let field = set.joints_field.replace("JOINTS_", "WEIGHTS_");
                return Err(wrong(field, "finite weights", format!("{weight} at vertex {vertex}")));
            }
            report.negative_weights += usize::from(weight < 0.0);
            if weight > 0.0 {
                held.push((check_joint(set, vertex, lane, joint_count)?, weight));
            } else {
                report.idle_joint_indices += usize::from(set.joints[lane] as usize >= joint_count);
            }
        }
    }
    Ok(())
}

fn check_joint(set: &Lanes, vertex: usize, lane: usize, joint_count: usize) -> Result<u32, LoadError> {
    let joint = set.joints[lane];
    if joint as usize >= joint_count {
        let expected = format!("joints below {joint_count}, the joints of the skin");
        return Err(wrong(&set.joints_field, expected, format!("{joint} at vertex {vertex}")));
    }
    Ok(joint)
}

fn read_lanes(
    source: &mut Source,
    primitive: &Primitive,
    place: &str,
    n: u32,
    vertex_count: usize,
) -> Result<Lanes, LoadError> {
    let accessor = |key: &str| {
        let found = primitive.attributes.get(key).copied();
        found.ok_or_else(|| LoadError::new(LoadErrorKind::Missing, format!("{place}/{key}"), "an accessor", "none"))
    };
    let (joints, weights) = (format!("JOINTS_{n}"), format!("WEIGHTS_{n}"));
    let (joints_field, weights_field) = (format!("{place}/{joints}"), format!("{place}/{weights}"));
    let (joints, weights) = (accessor(&joints)?, accessor(&weights)?);
    for (index, field) in [(joints, &joints_field), (weights, &weights_field)] {
        source.check_count(index, field, vertex_count)?;
    }
    let joints = source.integers(joints, "VEC4", &joints_field)?;
    source.count_integers(weights);
    let weights = source.values(weights, "VEC4", &weights_field)?;
    Ok(Lanes { joints, joints_field, weights })
}

impl Source<'_> {
    /// Whether an attribute has as many elements as the primitive's positions, before it is decoded.
    pub(super) fn check_count(&self, index: usize, field: &str, expected: usize) -> Result<(), LoadError> {
        match self.count(index)? {
            count if count == expected => Ok(()),
            count => {
                let expected = format!("{expected} elements, as POSITION has");
                Err(LoadError::new(LoadErrorKind::Shape, field, expected, count))
            }
        }
    }
}
