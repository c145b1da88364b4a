//! The four layers that every file version has: descriptor, definition, behavior and geometry.
//!
//! Fields stand in file order. Arrays that the file stores side by side and that must be equally long are one array of structs here.

use super::codes::{Direction, RotationUnit, TranslationUnit};

/// Who the rig is, its units and its axes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Descriptor {
    /// The rig's name.
    pub name: String,
    /// 0 asian, 1 black, 2 caucasian, 3 hispanic, 4 alien, 5 other; nothing depends on it.
    pub archetype: u16,
    /// 0 male, 1 female, 2 other; nothing depends on it.
    pub gender: u16,
    /// Age in years; nothing depends on it.
    pub age: u16,
    /// Free pairs of key and value.
    pub metadata: Vec<Metadata>,
    /// The unit of translations and positions.
    pub translation_unit: TranslationUnit,
    /// The unit of Euler angles.
    pub rotation_unit: RotationUnit,
    /// Where +X, +Y and +Z point.
    pub axes: [Direction; 3],
    /// Levels of detail, at most [`MAX_LODS`](super::MAX_LODS); LOD 0 is the finest.
    pub lod_count: u16,
    /// The finest level of the database that the rig was taken from.
    pub max_lod: u16,
    /// Free text.
    pub complexity: String,
    /// The database's name.
    pub database: String,
}

/// One pair of the descriptor's metadata.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metadata {
    /// The key; may repeat.
    pub key: String,
    /// The value.
    pub value: String,
}

/// For each level of detail a list of indices.
///
/// Each list is complete for its level, not an addition to another one; levels may share a list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LodMap {
    /// (LODs), or empty where the feature is unused: the row of `lists` that a level uses.
    pub lods: Vec<u16>,
    /// The distinct lists.
    pub lists: Vec<Vec<u16>>,
}

impl LodMap {
    /// The list of one level; empty for a level that the map does not have.
    #[must_use]
    pub fn list(&self, lod: usize) -> &[u16] {
        self.lods.get(lod).and_then(|&row| self.lists.get(usize::from(row))).map_or(&[], Vec::as_slice)
    }
}

/// The names of everything, the joint tree and its neutral pose.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Definition {
    /// Joints by level.
    pub lod_joints: LodMap,
    /// Blend shape channels by level.
    pub lod_channels: LodMap,
    /// Animated maps by level.
    pub lod_animated_maps: LodMap,
    /// Meshes by level; the indices of a level need not be contiguous.
    pub lod_meshes: LodMap,
    /// Names of the GUI controls.
    pub gui_control_names: Vec<String>,
    /// Names of the raw controls: control indices from 0.
    pub raw_control_names: Vec<String>,
    /// (J) Names of the joints.
    pub joint_names: Vec<String>,
    /// Names of the blend shape channels.
    pub channel_names: Vec<String>,
    /// Names of the animated maps.
    pub animated_map_names: Vec<String>,
    /// Names of the meshes; the geometry may hold fewer.
    pub mesh_names: Vec<String>,
    /// Which mesh has which channel.
    pub mesh_channels: Vec<MeshChannel>,
    /// (J) The parent of each joint; a root is its own parent. Parents need not precede children.
    pub joint_parents: Vec<u16>,
    /// (J, 3) Translations in the parent's space, in the rig's unit.
    pub neutral_translations: Vec<[f32; 3]>,
    /// (J, 3) Euler angles in the parent's space, in the rig's unit. The neutral scale is 1.
    pub neutral_rotations: Vec<[f32; 3]>,
}

/// A mesh that has a blend shape channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeshChannel {
    /// Index of the mesh.
    pub mesh: u16,
    /// Index of the channel.
    pub channel: u16,
}

/// What drives what: controls, joints, blend shape channels, animated maps.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Behavior {
    /// How many correctives (PSD) there are: control indices right after the raw ones.
    pub psd_count: u16,
    /// GUI controls to raw controls: inputs are GUI control indices, outputs raw control indices.
    pub gui_to_raw: Vec<Conditional>,
    /// The correctives' factors.
    pub psd: Vec<PsdEntry>,
    /// Joint attributes in all, nine per joint (informative).
    pub joint_row_count: u16,
    /// Controls in all (informative).
    pub joint_column_count: u16,
    /// The blocks of the matrix from controls to joint attributes.
    pub joint_groups: Vec<JointGroup>,
    /// Controls to blend shape channels.
    pub channels: Channels,
    /// (LODs) or empty: how many leading entries of `animated_maps` are active.
    pub animated_map_lods: Vec<u16>,
    /// Controls to animated maps: inputs are control indices, outputs animated map indices.
    pub animated_maps: Vec<Conditional>,
}

/// One row of a conditional table: `slope * input + cut` while the input lies between `from` and `to`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Conditional {
    /// What is read.
    pub input: u16,
    /// What is added to.
    pub output: u16,
    /// One end of the interval; `from > to` is legal and means the same as swapped.
    pub from: f32,
    /// The other end.
    pub to: f32,
    /// The slope.
    pub slope: f32,
    /// The value at input 0.
    pub cut: f32,
}

/// One factor of one corrective.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PsdEntry {
    /// Control index of the corrective.
    pub row: u16,
    /// Control index of the factor.
    pub column: u16,
    /// The factor's weight.
    pub value: f32,
}

/// One dense block of the matrix from controls (columns) to joint attributes (rows).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JointGroup {
    /// (LODs) or empty: how many leading rows are active; does not increase.
    pub lods: Vec<u16>,
    /// (columns) Control indices.
    pub inputs: Vec<u16>,
    /// (rows) Joint attribute indices, `joint * 9 + attribute`.
    pub outputs: Vec<u16>,
    /// (rows, columns) The coefficients.
    pub values: Vec<f32>,
    /// The set of joints of the group. Its order says nothing about the rows: only `outputs` does.
    pub joints: Vec<u16>,
}

/// Controls to blend shape channels, one to one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Channels {
    /// (LODs) or empty: how many leading entries are active.
    pub lods: Vec<u16>,
    /// Control indices, parallel to `outputs`.
    pub inputs: Vec<u16>,
    /// Channel indices.
    pub outputs: Vec<u16>,
}

/// One mesh. Positions carry the skin and the deltas; a layout is one render vertex.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mesh {
    /// (V, 3) Neutral positions, in the rig's space and unit.
    pub positions: Vec<[f32; 3]>,
    /// (., 2) Texture coordinates.
    pub uvs: Vec<[f32; 2]>,
    /// (., 3) Normals.
    pub normals: Vec<[f32; 3]>,
    /// Which position, texture coordinate and normal a render vertex uses.
    pub layouts: Layouts,
    /// Per face its corners as layout indices, any number of them.
    pub faces: Vec<Vec<u32>>,
    /// The most influences that one position has, as the file says it (informative).
    pub max_influences: u16,
    /// (V) The skin. Counts vary and may exceed 8.
    pub skin: Vec<SkinRow>,
    /// The blend shapes.
    pub targets: Vec<Target>,
}

/// The render vertices of a mesh, as three parallel arrays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layouts {
    /// Position indices.
    pub positions: Vec<u32>,
    /// Texture coordinate indices.
    pub uvs: Vec<u32>,
    /// Normal indices.
    pub normals: Vec<u32>,
}

/// The influences of one position, as two parallel arrays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SkinRow {
    /// Weights.
    pub weights: Vec<f32>,
    /// Joint indices.
    pub joints: Vec<u16>,
}

/// One blend shape of a mesh: sparse offsets, in any order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Target {
    /// (D, 3) Offsets, in the rig's space and unit.
    pub deltas: Vec<[f32; 3]>,
    /// (D) Position indices.
    pub vertices: Vec<u32>,
    /// The channel whose weight scales it.
    pub channel: u16,
}
