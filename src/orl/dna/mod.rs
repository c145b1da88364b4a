//! DNA files: the MetaHuman rig on disk, file versions 2.1 to 2.8 and newer 2.x.
//!
//! [`Dna`] is the parsed file as plain structs. Reading checks every index, count and number, so code that takes a read `Dna`
//! may index without looking.

mod codes;
mod extensions;
mod rig;

pub use codes::*;
pub use extensions::*;
pub use rig::*;

/// The most levels of detail that a file may have.
pub const MAX_LODS: usize = 33;

/// A parsed DNA file. A layer that the file lacks is its default: empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dna {
    /// The minor number of the file version: 8 for 2.8.
    pub version: u16,
    /// Layer `desc`.
    pub descriptor: Descriptor,
    /// Layer `defn`.
    pub definition: Definition,
    /// Layer `bhvr`.
    pub behavior: Behavior,
    /// Layer `geom`: the first meshes of the definition's, maybe not all.
    pub meshes: Vec<Mesh>,
    /// Layer `mlbh`.
    pub networks: Networks,
    /// Layer `rbfb`.
    pub rbf: Rbf,
    /// Layer `rbfe`.
    pub rbf_outputs: RbfOutputs,
    /// Layer `jbmd`: (J) or fewer; the rest is default.
    pub joint_representations: Vec<JointRepresentation>,
    /// Layer `twsw`.
    pub twist_swing: TwistSwing,
    /// Layer `mlbe`.
    pub operation_graph: OperationGraph,
    /// Layer `dsce`.
    pub conventions: Conventions,
    /// Layers whose (id, version) is not known, in file order: kept as they are and written after the known ones.
    pub unknown_layers: Vec<UnknownLayer>,
}

/// A layer that is not read, only kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnknownLayer {
    /// Four characters.
    pub id: [u8; 4],
    /// `major << 16 | minor`.
    pub version: u32,
    /// The body.
    pub bytes: Vec<u8>,
}
