//! Bundles: a folder with `scene.json` and a rig, opened without knowing which rig it is.
//!
//! `rig` says which rig poses the face, `expression_space` what to send to it; the rest of the file is someone else's and is not looked at. A
//! program that sends ARKit weights runs with any rig, if a `gnm` scene has an `arkit_map` or the program brings a map (`open_with`):
//!
#![cfg_attr(feature = "gpu", doc = "```no_run")]
#![cfg_attr(not(feature = "gpu"), doc = "```text")]
//! use rigeval::{backend::RigBackend, files::Files, gpu::GpuContext, scene};
//! # fn run(gpu: &GpuContext, weights: &[f32]) -> Result<(), Box<dyn std::error::Error>> {
//! let scene::Scene { mut rig, space, .. } = scene::open(&Files::Folder("hero".into()), gpu, 1)?;
//! let mut controls = rig.info().default_controls.clone();
//! space.controls(weights, &mut controls)?; // weights: in the order of space.space().names()
//! rig.set_controls(0, &controls)?;
//! # Ok(())
//! # }
//! ```
//!
//! [`load()`] reads the same bundle without a device, for the CPU references. A glTF file's clips, tangents, skinning and output space are not reached through a
//! scene: `load` gives its model, of which a backend with other options can be made.
//!
//! # `scene.json`
//!
//! ```json
//! {"rig": {"backend": "orl", "pack": "head.dna"}, "expression_space": {"kind": "arkit52", "dim": 52}}
//! ```
//!
//! A pack is one mesh, the skin of a head; with a DNA, eyes and teeth come too. A glTF file is what its default scene shows.
//!
//! Both blocks may be absent or `null`. Fields that are not named here are ignored; a field of a wrong type is refused, never replaced by a
//! default. Paths follow the one rule of [`inner_path`](crate::files::inner_path).
//!
//! | field of `rig` | is | absent |
//! |---|---|---|
//! | `backend` | `"orl"`, `"gnm"`, `"gltf"`, `"none"` | refused |
//! | `pack` | path of the pack, for an `orl` rig also of a `.dna`: then all meshes of its finest level; of a `gltf` rig the `.glb`, `.gltf` or `.vrm`, whose buffers lie in its folder or below; `null` is as absent | `orl_pack.bin`, `gnm_head.aosrig`; refused for `gltf` |
//! | `control_names` | strings: the order of an `orl` rig's controls. A `gnm` or `gltf` rig keeps its own names, and a warning says so if these differ | `rig_names.json`; without that file, or where the list is empty, all controls of the layer |
//! | `vertex_count` | the pack's count of vertices, or 0 for unstated; a count that is not the pack's is refused | unstated |
//!
//! Without a `rig` block the rig is `orl`, with `orl_pack.bin` and `rig_names.json`. It is none, and nothing is opened, where there are
//! `branches` and each has `"fused": true`, or where there is no `orl_pack.bin`.
//!
//! | field of `expression_space` | is | absent |
//! |---|---|---|
//! | `kind` | `"arkit52"`; `"gnm"`, `"gnm68"` for a `gnm` rig only | refused |
//! | `dim` | the width of a vector, equal to the number of names; 0 or less is as absent | that number; for `gnm` the pack's own width |
//! | `names` | strings: for `arkit52` the columns in any known spelling, for the others the rig's own names in their order; an empty list is as absent | the 52 shapes in the engine's order; the rig's names |
//! | `segments` | `{name, start, count}` that tile the vector; for `gnm` and `gnm68` the rig's own; an empty list is as absent | the pack's; 16, 16, 28, 3, 1 and 4 |
//! | `arkit_map` | 52 integers in the engine's order, each a control of a `gnm` rig or -1: `controls[slot] += clamp(weight, 0, 1)` | no map |
//!
//! Without an `expression_space` block the space follows the rig and never a width: `gnm` for a `gnm` rig, otherwise `arkit52`. `arkit52` and
//! `gnm68` need a dim or names.
//!
//! An `arkit52` space on a `gnm` rig needs a map: the scene's `arkit_map`, or the host's. On an `orl` rig the map goes by
//! names ([`ExpressionMap::arkit_to_orl`](crate::expression::ExpressionMap::arkit_to_orl)), and the rig is opened on its raw controls: in the order of
//! the control names if they are raw ones, otherwise in the file's order. A bundle that states no space is opened on the layer that its names belong to; where they are GUI controls, it takes exactly these, and
//! ARKit weights are refused.
//!
//! On a `gltf` rig the map goes by the names of the file's morph targets, on every mesh, and turns the eye joints where no target is an `eyeLook` shape
//! ([`ExpressionMap::arkit_to_gltf`](crate::expression::ExpressionMap::arkit_to_gltf), [`arkit_to_gltf()`] for a file of one's own). A stated `arkit52` space that finds neither
//! is refused; a bundle that states no space is opened all the same, and takes the rig's controls.

mod load;
pub mod manifest;
#[cfg(feature = "gpu")]
mod open;
mod space;

use crate::error::{BackendError, ControlError, LoadError};

pub use load::{SceneData, SceneRig, load};
pub use manifest::{SceneBackend, SceneManifest};
#[cfg(feature = "gpu")]
pub use open::{Scene, SceneOptions, open, open_with};
pub use space::{SceneSpace, arkit_to_gltf};

/// Why a bundle was not opened.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// A file of the bundle: absent, or a field that cannot be.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// An expression space that this rig cannot be driven from.
    #[error("scene.json: {0}")]
    Space(ControlError),
    /// A device too small for the rig.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The scene has no rig.
    #[error("scene.json: rig: expected a rig to open, got none: {reason}")]
    NoRig {
        /// What makes it so.
        reason: String,
    },
}

#[cfg(test)]
mod tests;
