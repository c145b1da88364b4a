//! Google's parametric head: the model, its bake to one identity, the runtime pack, the CPU reference and the GPU backend.

pub mod aosrig;
pub mod bake;
pub mod bounds;
pub mod cpu;
pub mod gnmw;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod layout;
pub mod model;
pub mod pack;
pub mod pose;
pub mod sample;
