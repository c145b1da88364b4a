//! Google's parametric head: the model, its bake to one identity, the runtime pack, the CPU reference and the GPU backend.

pub mod aosrig;
pub mod bake;
mod blobs;
pub mod bounds;
pub mod cpu;
pub mod gnmw;
#[cfg(feature = "gpu")]
pub mod gpu;
mod header;
pub mod layout;
mod mesh;
pub mod model;
mod mouth;
pub mod pack;
mod parts;
pub mod pose;
pub mod sample;
