//! Shell mode: small meshes that the rig does not contain, carried rigidly by the eye and teeth joints.
//!
//! A shell is a connected piece of such a mesh, an eyeball or a row of teeth. Pieces are taken largest first, and each goes to the nearest
//! joint that is still free and lies within 4 cm of it. A joint carries one piece: small pieces near an eye, lashes or a tear line, must
//! not turn with the eyeball, and with joints that took any number of pieces the order would mean nothing.

use crate::error::{LoadError, LoadErrorKind};
use crate::skeleton::Skeleton;
use glam::{DAffine3, DVec3};

/// The joints that carry shells, in the order that decides between equal distances.
pub const SHELL_JOINTS: [&str; 4] = ["FACIAL_L_Eye", "FACIAL_R_Eye", "FACIAL_C_TeethUpper", "FACIAL_C_TeethLower"];

/// The most vertices of a mesh that is driven as shells.
pub const MAX_SHELL_VERTICES: usize = 4096;

/// How far the centre of a shell may lie from the joint that carries it, border included.
pub const SHELL_REACH_CM: f64 = 4.0;

/// Below this determinant a joint's rest world is taken as not invertible.
const SINGULAR: f64 = 1e-12;

/// A mesh that the rig does not contain, to be carried along rigidly.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShellMesh {
    /// What the mesh is called; its part and the errors about it have this name.
    pub name: String,
    /// (V, 3) Rest positions in the rig's unit, in the space of the rig's rest joints.
    pub positions: Vec<[f32; 3]>,
    /// (T, 3) Vertex indices.
    pub triangles: Vec<[u32; 3]>,
}

/// What drives a mesh that comes with a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DriveMode {
    /// It is the rig's own mesh: deltas and skin.
    Skin,
    /// Its pieces are carried by joints, see [`assign`].
    Shell,
    /// Nothing: it stays neutral.
    None,
}

/// Which joint carries which part of a shell mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct ShellPieces {
    /// (V) The joint that carries each vertex; a vertex without one stays neutral.
    pub joints: Vec<Option<usize>>,
    /// The connected pieces, largest first; of equal ones that with the lowest vertex index.
    pub pieces: Vec<Piece>,
}

/// One connected piece of a shell mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// How many vertices it has.
    pub vertex_count: usize,
    /// The joint that carries it.
    pub joint: Option<usize>,
    /// From the mean of its vertices to its joint, in the rig's unit; without a joint, to the nearest one that was free when its turn came,
    /// infinite if none was.
    pub distance: f64,
}

/// How a mesh of `vertex_count` vertices is driven beside a skinned mesh of `skinned_vertex_count`.
///
/// As many vertices as the skinned mesh: it is that mesh. Otherwise at most [`MAX_SHELL_VERTICES`]: shells. More: nothing. For the MetaHuman
/// head the skinned count is 24,049.
#[must_use]
pub fn drive_mode(vertex_count: usize, skinned_vertex_count: usize) -> DriveMode {
    if vertex_count == skinned_vertex_count {
        DriveMode::Skin
    } else if vertex_count <= MAX_SHELL_VERTICES {
        DriveMode::Shell
    } else {
        DriveMode::None
    }
}

/// Splits a mesh into connected pieces and gives each at most one of [`SHELL_JOINTS`], each joint at most one piece.
///
/// A mesh of more than [`MAX_SHELL_VERTICES`] vertices is left as it is: [`DriveMode::None`], one piece that no joint carries.
///
/// Triangles connect; a vertex in none is a piece of its own. A joint that the rig lacks, or whose rest world cannot be inverted, carries
/// nothing. The result is the same for any unit, up to rounding at the 4 cm border.
///
/// # Shapes
/// rest_worlds: (J)
///
/// # Errors
/// `Value` - a position that is not finite, a triangle that names a vertex past
/// the end.
///
/// # Panics
/// When `rest_worlds` has another length than the skeleton.
pub fn assign(
    mesh: &ShellMesh,
    skeleton: &Skeleton,
    rest_worlds: &[DAffine3],
    unit_per_cm: f64,
) -> Result<ShellPieces, LoadError> {
    assert_eq!(rest_worlds.len(), skeleton.joint_count(), "rest worlds and joints differ");
    check(mesh).map_err(|e| e.within(format!("shell \"{}\"", mesh.name)))?;
    let count = mesh.positions.len();
    if count > MAX_SHELL_VERTICES {
        let piece = Piece { vertex_count: count, joint: None, distance: f64::INFINITY };
        return Ok(ShellPieces { joints: vec![None; count], pieces: vec![piece] });
    }
    let named = SHELL_JOINTS.iter().filter_map(|name| skeleton.names().iter().position(|n| n == name));
    // A determinant that is not a number compares as false here and leaves the joint out too.
    let invertible = |&joint: &usize| rest_worlds[joint].matrix3.determinant().abs() >= SINGULAR;
    let mut free: Vec<usize> = named.filter(invertible).collect();

    let mut joints = vec![None; mesh.positions.len()];
    let mut pieces = Vec::new();
    for vertices in connected(mesh) {
        let sum: DVec3 = vertices.iter().map(|&v| DVec3::from(mesh.positions[v].map(f64::from))).sum();
        let centre = sum / vertices.len() as f64;
        let distance = |joint: usize| centre.distance(rest_worlds[joint].translation);
        let nearest = free.iter().map(|&joint| distance(joint)).enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        let reached = nearest.filter(|&(_, distance)| distance <= SHELL_REACH_CM * unit_per_cm);
        let joint = reached.map(|(at, _)| free.remove(at));
        vertices.iter().for_each(|&v| joints[v] = joint);
        let distance = nearest.map_or(f64::INFINITY, |(_, distance)| distance);
        pieces.push(Piece { vertex_count: vertices.len(), joint, distance });
    }
    Ok(ShellPieces { joints, pieces })
}

fn check(mesh: &ShellMesh) -> Result<(), LoadError> {
    let count = mesh.positions.len();
    if let Some(at) = mesh.positions.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
        let found = format!("{:?}", mesh.positions[at]);
        return Err(LoadError::new(LoadErrorKind::Value, format!("positions[{at}]"), "finite numbers", found));
    }
    if let Some(at) = mesh.triangles.iter().position(|t| t.iter().any(|&v| v as usize >= count)) {
        let (expected, found) = (format!("indices below {count}"), format!("{:?}", mesh.triangles[at]));
        return Err(LoadError::new(LoadErrorKind::Value, format!("triangles[{at}]"), expected, found));
    }
    Ok(())
}

/// The vertices of each connected piece, ascending; pieces largest first, then by lowest vertex.
fn connected(mesh: &ShellMesh) -> Vec<Vec<usize>> {
    let mut roots: Vec<usize> = (0..mesh.positions.len()).collect();
    for &[a, b, c] in &mesh.triangles {
        for other in [b, c] {
            let (a, b) = (root(&mut roots, a as usize), root(&mut roots, other as usize));
            // The lower index stays the root, so that the pieces come out in the order of their lowest vertices.
            roots[a.max(b)] = a.min(b);
        }
    }
    let mut pieces: Vec<Vec<usize>> = vec![Vec::new(); roots.len()];
    for v in 0..roots.len() {
        pieces[root(&mut roots, v)].push(v);
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len()));
    pieces
}

fn root(roots: &mut [usize], mut v: usize) -> usize {
    while roots[v] != v {
        roots[v] = roots[roots[v]];
        v = roots[v];
    }
    v
}

#[cfg(test)]
mod tests;
