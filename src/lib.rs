#![doc = include_str!("../README.md")]
//!
//! # Conventions of the crate
//!
//! Column vectors, right-handed, +Y up. Quaternions are named by field; every file order is converted when it is read. f32 on the GPU,
//! the CPU references accumulate in f64. Units stay the rig's own and are stated in [`info::RigInfo`].
//!
//! # Spaces
//!
//! | space | what lies in it |
//! |---|---|
//! | head-local | a GNM pack's neutral, basis, eye centres and seam, and what [`gnm::pose::Stage::Forward`] gives |
//! | body bind space | the joints' rest worlds of a pack; the pack's bind transform takes head-local there |
//! | rig space | a DNA's positions, deltas and neutral joint worlds |
//! | output space | what `RigBackend::vertices` and `bounds` are in: body bind space or rig space, moved by the joints; of a glTF file the world of its default scene, or the space of each mesh's parent |
//!
//! The seam (`stitchLocal` in files) is an offset per vertex that closes the gap between head and body; it enters after gaze, before skinning.
//!
//! # Dimension letters
//!
//! | letter | counts |
//! |---|---|
//! | V | vertices of one instance |
//! | J | joints |
//! | C | controls |
//! | E | expression coefficients |
//! | I | identity coefficients |
//! | K | influence lanes per vertex |
//! | F | frames |
//! | N | instances |
//! | T | triangles |

#[cfg(feature = "gpu")]
pub mod backend;
pub mod control_names;
pub mod cookbook;
pub mod error;
pub mod expression;
pub mod files;
pub mod frames;
pub mod gltf;
pub mod gnm;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod head;
pub mod info;
pub mod lbs;
pub mod math;
pub mod normals;
pub mod npy;
pub mod orl;
#[cfg(feature = "picture")]
pub mod picture;
pub mod scene;
pub mod skeleton;
pub mod sparse;

pub use glam;
#[cfg(feature = "gpu")]
pub use wgpu;
