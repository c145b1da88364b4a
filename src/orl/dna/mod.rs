//! DNA files: the MetaHuman rig on disk, file versions 2.1 to 2.8 and newer 2.x.
//!
//! [`Dna`] is the parsed file as plain structs. Reading checks every index, count and number, so code that takes a read `Dna`
//! may index without looking.

mod check;
mod codec;
mod codes;
mod extensions;
mod layout;
mod lods;
mod names;
mod options;
mod read;
mod rig;
mod write;

use crate::error::LoadError;
use codec::{Field, Reader, Writer};

pub use codes::*;
pub use extensions::*;
pub use names::{ATTRIBUTES, Attribute, ControlCounts, ControlKind};
pub use options::{Layers, LoadOptions};
pub use rig::*;

/// The most levels of detail that a file may have.
pub const MAX_LODS: usize = 33;

/// The newest minor file version whose layers are all known here: 2.8.
pub const NEWEST_VERSION: u16 = 8;

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

impl Dna {
    /// Reads a whole file.
    ///
    /// # Errors
    /// As [`Dna::read_with`].
    pub fn read(bytes: &[u8]) -> Result<Dna, LoadError> {
        Dna::read_with(bytes, &LoadOptions::default())
    }

    /// Reads the parts of a file that the options name.
    ///
    /// # Errors
    /// `Format` - not a DNA file; `Version` - not 2.x; `Truncated`, `Missing`, `Corrupt` - the file contradicts itself;
    /// `Shape`, `Value` - an array, an index or a number that does not fit the rest, levels that the rig does not have.
    pub fn read_with(bytes: &[u8], options: &LoadOptions) -> Result<Dna, LoadError> {
        let mut dna = read::read(bytes, options)?;
        dna.check()?;
        options.layers.apply(&mut dna);
        if let Some(lods) = &options.lods {
            lods::cut(&mut dna, lods)?;
        }
        Ok(dna)
    }

    /// Checks a rig that did not come from a file: what a read rig holds by itself.
    ///
    /// # Errors
    /// `Shape` - an array that is not as long as the rest implies; `Value` - an index past its end, a number that is not finite, a joint
    /// below itself.
    pub fn check(&self) -> Result<(), LoadError> {
        check::check(self)
    }
}

/// One kind of layer: where it is known from and how it is read and written.
struct Layer {
    id: [u8; 4],
    version: u32,
    /// The first minor file version that has it.
    since: u16,
    /// Whether a file without it is refused.
    needed: bool,
    read: fn(&mut Dna, &mut Reader) -> Result<(), LoadError>,
    write: fn(&Dna, &mut Writer),
}

macro_rules! layers {
    ($($id:literal $version:literal $since:literal $needed:literal $($field:ident).+;)*) => {
        [$(Layer {
            id: *$id,
            version: $version,
            since: $since,
            needed: $needed,
            read: |dna, r| {
                dna.$($field).+ = Field::read(r).map_err(|e| codec::inside(e, stringify!($($field).+)))?;
                Ok(())
            },
            write: |dna, w| dna.$($field).+.write(w),
        }),*]
    };
}

/// The layers in the order that they are written in.
static LAYERS: [Layer; 11] = layers!(
    b"desc" 0x1_0001 2 true descriptor;
    b"defn" 0x1_0001 2 true definition;
    b"bhvr" 0x1_0001 2 false behavior;
    b"geom" 0x1_0001 2 false meshes;
    b"mlbh" 0x1_0000 3 false networks;
    b"rbfb" 0x1_0000 4 false rbf;
    b"rbfe" 0x1_0000 5 false rbf_outputs;
    b"jbmd" 0x1_0000 4 false joint_representations;
    b"twsw" 0x1_0000 4 false twist_swing;
    b"mlbe" 0x1_0000 6 false operation_graph;
    b"dsce" 0x1_0000 7 false conventions;
);
