//! From a bundle to a rig on the device.

use super::load::{SceneData, SceneRig, load};
use super::{SceneError, SceneManifest, SceneSpace};
use crate::backend::RigBackend;
use crate::error::BackendError;
use crate::expression::ArkitMap;
use crate::files::Files;
use crate::gltf::gpu::{GltfBackend, GltfDeviceModel, GltfOptions};
use crate::gnm::gpu::{GnmBackend, GnmDeviceModel, GnmOptions};
use crate::gpu::GpuContext;
use crate::orl::gpu::{OrlBackend, OrlDeviceModel, OrlOptions};
use std::fmt;
use std::sync::Arc;

/// A rig and what to send to it.
pub struct Scene {
    /// The rig on the device, N instances at rest.
    pub rig: Box<dyn RigBackend>,
    /// From the scene's vectors to the rig's controls.
    pub space: SceneSpace,
    /// What the file said.
    pub manifest: SceneManifest,
}

impl fmt::Debug for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scene").field("rig", self.rig.info()).field("space", &self.space).finish_non_exhaustive()
    }
}

/// What the host adds to a scene.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SceneOptions {
    /// Vertex normals.
    pub normals: bool,
    /// The last frame's positions.
    pub previous_positions: bool,
    /// From ARKit weights to a `gnm` rig: a fitted table, or the hand-made one. It goes before the scene's `arkit_map`; `orl` and `gltf` rigs have their own.
    pub arkit: Option<ArkitMap>,
}

/// Opens a bundle with N instances, without normals and previous positions.
///
/// # Errors
/// As [`open_with`].
pub fn open(files: &Files, gpu: &GpuContext, instances: usize) -> Result<Scene, SceneError> {
    open_with(files, gpu, instances, &SceneOptions::default())
}

/// Opens a bundle with N instances.
///
/// # Errors
/// What [`load`] refuses; `Backend` - a device too small, no instances, normals of a rig without faces.
pub fn open_with(
    files: &Files,
    gpu: &GpuContext,
    instances: usize,
    options: &SceneOptions,
) -> Result<Scene, SceneError> {
    let SceneData { rig, space, manifest } = load(files, options.arkit.clone())?;
    let &SceneOptions { normals, previous_positions, .. } = options;
    let rig: Box<dyn RigBackend> = match rig {
        SceneRig::Gnm(pack) => {
            let model = Arc::new(GnmDeviceModel::new(gpu, pack).map_err(BackendError::Limit)?);
            let options = GnmOptions { normals, previous_positions, ..GnmOptions::default() };
            Box::new(GnmBackend::new(gpu, &model, instances, options)?)
        }
        SceneRig::Orl(rig) => {
            let model = Arc::new(OrlDeviceModel::new(gpu, rig)?);
            let options = OrlOptions { normals, previous_positions };
            Box::new(OrlBackend::new(gpu, &model, instances, options)?)
        }
        SceneRig::Gltf(model) => {
            let model = Arc::new(GltfDeviceModel::new(gpu, model)?);
            let options = GltfOptions { normals, previous_positions, ..GltfOptions::default() };
            Box::new(GltfBackend::new(gpu, &model, instances, options)?)
        }
    };
    Ok(Scene { rig, space, manifest })
}
