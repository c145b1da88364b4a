//! What every rig says of itself, without wgpu: counts, units, names, the mesh to draw.

use crate::math::Aabb;
use std::ops::Range;

/// Which rig stands behind a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RigKind {
    /// Google's parametric head, baked to one identity.
    Gnm,
    /// MetaHuman: RigLogic, joints and blend shapes.
    Orl,
    /// A glTF 2.0 skin with morph targets.
    Gltf,
}

impl RigKind {
    /// The name that manifests and the command line use: `gnm`, `orl`, `gltf`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RigKind::Gnm => "gnm",
            RigKind::Orl => "orl",
            RigKind::Gltf => "gltf",
        }
    }
}

/// The length unit of positions, translations and bounds. Reported, never converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Units {
    /// Metres.
    Metres,
    /// Centimetres.
    Centimetres,
}

impl Units {
    /// The short name that files use: `m`, `cm`.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Units::Metres => "m",
            Units::Centimetres => "cm",
        }
    }

    /// How many metres one unit is.
    #[must_use]
    pub fn in_metres(self) -> f64 {
        match self {
            Units::Metres => 1.0,
            Units::Centimetres => 0.01,
        }
    }
}

/// A joint of one rig: an index into [`RigInfo::joint_names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JointId(pub usize);

/// What a rig with N instances is: its kind, unit, sizes, names and rest bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct RigInfo {
    /// Which rig.
    pub kind: RigKind,
    /// The unit of everything that has a length.
    pub units: Units,
    /// V, vertices of one instance.
    pub vertex_count: usize,
    /// N, instances evaluated together.
    pub instance_count: usize,
    /// C control names, in the order that `set_controls` takes.
    pub control_names: Vec<String>,
    /// The C controls that a new instance stands at.
    pub default_controls: Vec<f32>,
    /// J joint names, parents before children.
    pub joint_names: Vec<String>,
    /// The bounds of the rest mesh, in the space and unit of the output vertices.
    pub rest_bounds: Aabb,
}

impl RigInfo {
    /// The joint of that name.
    #[must_use]
    pub fn joint(&self, name: &str) -> Option<JointId> {
        self.joint_names.iter().position(|n| n == name).map(JointId)
    }

    /// The index of the control of that name.
    #[must_use]
    pub fn control(&self, name: &str) -> Option<usize> {
        self.control_names.iter().position(|n| n == name)
    }

    /// The names in `overrides` that this rig has no joint for; `set_joint_overrides` skips them.
    #[must_use]
    pub fn unknown_joints<'a>(&self, overrides: &[crate::skeleton::JointOverride<'a>]) -> Vec<&'a str> {
        overrides.iter().map(|o| o.joint).filter(|name| self.joint(name).is_none()).collect()
    }
}

/// A named run of triangles, for a material each.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshPart {
    /// `skin`, `left_eye`, `right_eye`, `teeth`, `gums`, `tongue`, `mouth_sock`, or what the file calls it.
    pub name: String,
    /// The part's triangles in [`RigMesh::triangles`].
    pub triangles: Range<usize>,
    /// The colour and gloss that the file gives the part.
    pub look: Option<Look>,
}

/// How a part looks, where the file says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// sRGB, 0..1.
    pub color: [f32; 3],
    /// 0 matt .. 1 glossy.
    pub gloss: f32,
}

/// What to draw: topology only; the positions are in `vertices()`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RigMesh {
    /// Vertex indices of one instance, counter-clockwise seen from outside; parts are contiguous. Empty for a pack without faces.
    pub triangles: Vec<[u32; 3]>,
    /// The parts, in order; they tile `triangles`.
    pub parts: Vec<MeshPart>,
    /// One uv per vertex where the file has them, (V, 2); a vertex on a seam carries one of its corners.
    pub uvs: Option<Vec<[f32; 2]>>,
}
