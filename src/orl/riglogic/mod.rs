//! RigLogic: from GUI or raw controls to joint deltas, blend shape weights and animated maps.
//!
//! A [`RigLogic`] is built once from a [`Dna`](crate::orl::dna::Dna) and never changes; any number of small [`RigState`]s share it, on any
//! threads. An evaluation is a pure function of the rig, the level of detail, the controls and the masks, and allocates nothing:
//!
//! ```
//! use rigeval::orl::{dna::Dna, riglogic::{RigLogic, RigState, RotationOutput}};
//! # fn drive(file: &[u8], gui: &[f32]) -> Result<(), Box<dyn std::error::Error>> {
//! let rig = RigLogic::new(&Dna::read(file)?, RotationOutput::Quaternion)?;
//! let mut state = RigState::new(&rig);
//! rig.set_gui(&mut state, gui)?; // or set_raw
//! rig.evaluate(&mut state, 0);
//! let (joints, weights) = (state.joints(), state.blend_shapes());
//! # Ok(())
//! # }
//! ```
//!
//! The stages, in order: GUI mapping, ML controls, RBF solvers, correctives, joints (groups, quaternions, twist and swing, ML joints), blend
//! shape channels, animated maps. Each is f32 in the order of additions of OpenRigLogic's scalar path, because its results are the only
//! definition of the numbers there is.

mod animated_maps;
mod blend_shapes;
mod blocks;
mod check;
mod columns;
mod conditional;
mod correctives;
mod inverse;
mod joint_groups;
mod ml_controls;
mod ml_joints;
mod network;
mod operations;
mod output;
mod quaternion_joints;
mod rbf;
mod rig;
pub(super) mod rotation;
mod slabs;
mod state;
mod twist_swing;
mod usage;

pub use check::RigCounts;
pub use output::RotationOutput;
pub use rig::RigLogic;
pub use state::RigState;
