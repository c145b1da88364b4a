//! glTF 2.0: skins, morph targets and clips; the loader, the pose, the CPU reference and the GPU backend.

mod accessor;
pub mod bake_mesh;
pub mod blend;
pub mod bounds;
pub mod clip;
mod container;
pub mod controls;
pub mod cpu;
pub mod directions;
mod document;
pub mod face;
#[cfg(feature = "gpu")]
pub mod gpu;
mod looks;
pub mod mesh;
#[cfg(all(feature = "meshopt", not(target_arch = "wasm32")))]
mod meshopt;
pub mod model;
mod nodes;
mod object;
pub mod packing;
pub mod pose;
mod references;
pub mod report;
pub mod sample;
pub mod skin;
mod source;
mod topology;
mod whole;
mod write;
