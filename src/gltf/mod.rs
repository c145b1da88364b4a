//! glTF 2.0: skins, morph targets and clips; the loader, the pose, the CPU reference and the GPU backend.
//!
//! [`model`] reads a file and [`report`] says which rules its oddities fell under; [`controls`] are what moves: morph weights, and translation,
//! rotation (x, y, z, w) and scale of each node. [`clip`] and [`blend`] turn time into that vector, and [`face`] finds in it what ARKit weights drive
//! ([`crate::scene::arkit_to_gltf`]). [`pose`] and [`cpu`] evaluate it; the backend in `gpu` does the same for N instances. A map from ARKit weights and a
//! [`blend::Mixer`] each write every control, a single clip only those that it moves: map the face first, and sample the clip after it. [`sample`]
//! makes a head, [`bake_mesh`] a static GLB of one pose.

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
