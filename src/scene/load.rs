//! From the files of a bundle to a rig, without a device.

use super::manifest::{MAX_BLOCK_BYTES, RIG_NAMES, SCENE_FILE, read_names};
use super::{SceneBackend, SceneError, SceneManifest, SceneSpace};
use crate::error::{LoadError, LoadErrorKind};
use crate::expression::{ArkitMap, GnmNames, GnmRegions};
use crate::files::{Files, MAX_FILE_BYTES};
use crate::gltf::model::GltfModel;
use crate::gnm::pack::GnmPack;
use crate::orl::controls::{ControlBinding, ControlLayer, NAMES_FIELD};
use crate::orl::dna::Dna;
use crate::orl::pack::OrlPack;
use crate::orl::rig::{ControlChoice, OrlRig, RigOptions};
use std::sync::Arc;

/// No `scene.json` is larger: 16 MiB, of which the two blocks are a small part.
const MAX_SCENE_BYTES: u64 = 1 << 24;

/// The rig of a bundle.
#[derive(Debug, Clone)]
pub enum SceneRig {
    /// Google's parametric head.
    Gnm(Arc<GnmPack>),
    /// MetaHuman.
    Orl(Arc<OrlRig>),
    /// A glTF file.
    Gltf(Arc<GltfModel>),
}

/// A bundle that was read and checked: what `open` puts on a device, and what the CPU references evaluate.
#[derive(Debug, Clone)]
pub struct SceneData {
    /// The rig.
    pub rig: SceneRig,
    /// From the scene's vectors to the rig's controls.
    pub space: SceneSpace,
    /// What the file said.
    pub manifest: SceneManifest,
}

/// Reads a bundle. `arkit` maps ARKit weights to a `gnm` rig, and goes before the scene's `arkit_map`; `orl` and `gltf` rigs have maps of their own.
///
/// # Errors
/// `Load` - a file that is absent or damaged, a field that cannot be, each with the file's name; `Space` - an expression space that the rig cannot
/// be driven from; `NoRig`.
pub fn load(files: &Files, arkit: Option<ArkitMap>) -> Result<SceneData, SceneError> {
    let text = files.read(SCENE_FILE, MAX_SCENE_BYTES)?;
    let manifest = SceneManifest::read(&text).map_err(in_scene)?;
    let (rig, space) = match (manifest.backend(), manifest.pack()) {
        (SceneBackend::Orl, Some(path)) => load_orl(files, &manifest, path)?,
        (SceneBackend::Gnm, Some(path)) => load_gnm(files, &manifest, path, arkit)?,
        (SceneBackend::Gltf, Some(path)) => load_gltf(files, &manifest, path)?,
        _ => {
            let reason = if manifest.rig.is_some() { "its backend is none" } else { "every branch is fused" };
            return Err(SceneError::NoRig { reason: reason.into() });
        }
    };
    Ok(SceneData { rig, space, manifest })
}

type Loaded = Result<(SceneRig, SceneSpace), SceneError>;

fn load_gnm(files: &Files, manifest: &SceneManifest, path: &str, arkit: Option<ArkitMap>) -> Loaded {
    let pack = GnmPack::read(files.read(path, MAX_FILE_BYTES)?).map_err(|e| e.in_file(path))?;
    check_vertex_count(manifest, path, pack.vertex_count())?;
    let regions: Vec<(&str, usize)> = pack.regions().iter().map(|r| (r.name.as_str(), r.count)).collect();
    let layout = GnmRegions::new(&regions).map_err(|e| e.in_file(path))?;
    let stated = manifest.rig.as_ref().and_then(|rig| rig.control_names.as_ref());
    let is_own = |names: &Vec<String>| [GnmNames::HeadExt, GnmNames::Model].iter().any(|&n| layout.names(n) == *names);
    if stated.is_some_and(|names| !is_own(names)) {
        warn_of_own_names(path, layout.dim());
    }
    let space = SceneSpace::of_gnm(manifest.space.as_ref(), &layout, arkit)?;
    Ok((SceneRig::Gnm(Arc::new(pack)), space))
}

fn load_orl(files: &Files, manifest: &SceneManifest, path: &str) -> Loaded {
    let bytes = match &manifest.rig {
        Some(_) => files.read(path, MAX_FILE_BYTES)?,
        None => files.read_if_present(path, MAX_FILE_BYTES)?.ok_or_else(|| {
            let reason = format!("no rig block, and no {path} in the bundle");
            SceneError::NoRig { reason }
        })?,
    };
    let file = OrlFile::read(bytes).map_err(|e| e.in_file(path))?;
    let (names, names_file) = control_names(files, manifest)?;
    let in_its_file = |error: LoadError| {
        let file = if error.field == NAMES_FIELD { names_file } else { path };
        error.in_file(file)
    };
    // A pack without a DNA is refused when the rig is made.
    let choice = match (file.dna(), names) {
        (Some(dna), Some(names)) => choose(dna, names, manifest.space.is_some()).map_err(in_its_file)?,
        _ => ControlChoice::Layer(ControlLayer::Raw),
    };
    let rig = file.rig(choice).map_err(in_its_file)?;
    check_vertex_count(manifest, path, rig.mesh().vertex_count())?;
    let space = SceneSpace::of_orl(manifest.space.as_ref(), rig.controls(), rig.default_controls())?;
    Ok((SceneRig::Orl(Arc::new(rig)), space))
}

fn load_gltf(files: &Files, manifest: &SceneManifest, path: &str) -> Loaded {
    let model = GltfModel::read(files, path)?;
    check_vertex_count(manifest, path, model.mesh().vertex_count())?;
    let own = model.controls().names();
    let stated = manifest.rig.as_ref().and_then(|rig| rig.control_names.as_ref());
    if stated.is_some_and(|names| names != own) {
        warn_of_own_names(path, own.len());
    }
    let space = SceneSpace::of_gltf(manifest.space.as_ref(), &model)?;
    Ok((SceneRig::Gltf(Arc::new(model)), space))
}

fn warn_of_own_names(path: &str, count: usize) {
    log::warn!("{SCENE_FILE}: rig.control_names: the {count} controls of {path} have names of their own");
}

/// What `pack` may name for an `orl` rig.
enum OrlFile {
    /// One mesh, baked.
    Pack(Box<OrlPack>),
    /// A whole character.
    Dna(Box<Dna>),
}

impl OrlFile {
    fn read(bytes: Vec<u8>) -> Result<OrlFile, LoadError> {
        match bytes.starts_with(b"DNA") {
            true => Ok(OrlFile::Dna(Box::new(Dna::read(&bytes)?))),
            false => Ok(OrlFile::Pack(Box::new(OrlPack::read(bytes)?))),
        }
    }

    fn dna(&self) -> Option<&Dna> {
        match self {
            OrlFile::Pack(pack) => pack.dna(),
            OrlFile::Dna(dna) => Some(dna),
        }
    }

    /// Of a DNA every mesh of the finest level that has geometry.
    fn rig(&self, controls: ControlChoice) -> Result<OrlRig, LoadError> {
        match self {
            OrlFile::Pack(pack) => OrlRig::from_pack(pack, &controls, &[]),
            OrlFile::Dna(dna) => {
                let meshes = (0..dna.meshes.len()).filter(|&mesh| dna.shows(mesh, 0)).collect();
                OrlRig::from_dna(dna, &RigOptions { meshes, controls, ..RigOptions::default() })
            }
        }
    }
}

/// The controls of a rig that is driven by ARKit, if the scene states so, lie in the raw layer; otherwise in that of the names.
fn choose(dna: &Dna, names: Vec<String>, states_arkit: bool) -> Result<ControlChoice, LoadError> {
    if states_arkit && ControlBinding::layer_of_names(dna, &names) == ControlLayer::Gui {
        ControlBinding::of_names(dna, &names)?;
        return Ok(ControlChoice::Layer(ControlLayer::Raw));
    }
    Ok(ControlChoice::Names(names))
}

/// The names of an `orl` rig's controls, and the file that has them.
fn control_names(files: &Files, manifest: &SceneManifest) -> Result<(Option<Vec<String>>, &'static str), LoadError> {
    if let Some(names) = manifest.rig.as_ref().and_then(|rig| rig.control_names.clone()) {
        return Ok((Some(names), SCENE_FILE));
    }
    let text = files.read_if_present(RIG_NAMES, MAX_BLOCK_BYTES)?;
    let names = text.map(|text| read_names(&text)).transpose().map_err(|e| e.in_file(RIG_NAMES))?;
    Ok((names.filter(|names| !names.is_empty()), RIG_NAMES))
}

fn check_vertex_count(manifest: &SceneManifest, path: &str, count: usize) -> Result<(), SceneError> {
    match manifest.rig.as_ref().and_then(|rig| rig.vertex_count) {
        Some(stated) if stated != count as u64 => {
            let expected = format!("{count}, the vertices of {path}");
            Err(scene_error(LoadErrorKind::Value, "rig.vertex_count", &expected, &stated.to_string()))
        }
        _ => Ok(()),
    }
}

fn scene_error(kind: LoadErrorKind, field: &str, expected: &str, found: &str) -> SceneError {
    in_scene(LoadError::new(kind, field, expected, found))
}

fn in_scene(error: LoadError) -> SceneError {
    SceneError::Load(error.in_file(SCENE_FILE))
}
