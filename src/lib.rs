#![doc = include_str!("../README.md")]
//!
//! # Conventions of the crate
//!
//! Column vectors, right-handed, +Y up. Quaternions are named by field; every file order is converted when it is read. f32 on the GPU,
//! the CPU references accumulate in f64. Units stay the rig's own and are stated in [`info::RigInfo`].
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
pub mod error;
pub mod expression;
pub mod files;
pub mod frames;
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
pub mod skeleton;

pub use glam;
#[cfg(feature = "gpu")]
pub use wgpu;
