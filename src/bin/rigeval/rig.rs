//! What a file is, told by its bytes.

use crate::failure::Failure;
use crate::output::folder_of;
use rigeval::error::{LoadError, LoadErrorKind};
use rigeval::expression::ArkitMap;
use rigeval::files::{self, Files};
use rigeval::gltf::model::GltfModel;
use rigeval::gnm::model::GnmModel;
use rigeval::gnm::pack::GnmPack;
use rigeval::npy::Npz;
use rigeval::orl::dna::Dna;
use rigeval::orl::pack::OrlPack;
use rigeval::scene::manifest::SCENE_FILE;
use rigeval::scene::{self, SceneData, SceneError};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

/// The files that commands take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// `gnm_head.npz`: the parametric model.
    Model,
    /// A head npz, baked by other tools, to be packed.
    BakedHead,
    /// `.aosrig`: the runtime pack.
    Pack,
    /// A GNMW web container.
    Gnmw,
    /// A DNA file: a MetaHuman rig.
    Dna,
    /// `ORLPACK1`: one baked mesh of such a rig.
    OrlPack,
    /// glTF: a GLB, which a VRM is too, or a bare JSON document.
    Gltf,
}

impl FileKind {
    /// Looks at the magic, and in an archive at the names of its arrays.
    pub fn of(bytes: &[u8]) -> Result<FileKind, LoadError> {
        if bytes.starts_with(b"AOSRIG01") {
            return Ok(FileKind::Pack);
        }
        if bytes.starts_with(b"GNMW") {
            return Ok(FileKind::Gnmw);
        }
        if bytes.starts_with(b"DNA") {
            return Ok(FileKind::Dna);
        }
        if bytes.starts_with(b"ORLPACK1") {
            return Ok(FileKind::OrlPack);
        }
        if bytes.starts_with(b"glTF") {
            return Ok(FileKind::Gltf);
        }
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
        if text.starts_with(b"{") {
            return of_json(text);
        }
        if bytes.starts_with(b"PK") {
            let archive = Npz::open(bytes)?;
            // Either may lack any one array; the full reader then says which.
            let baked = ["neutral", "basis", "eye_weights"].iter().any(|name| archive.contains(name));
            let model = archive.contains("template_vertex_positions") || archive.contains("expression_basis");
            return Ok(if baked && !model { FileKind::BakedHead } else { FileKind::Model });
        }
        let found = match bytes {
            [] => "an empty file".to_string(),
            [b'\x93', b'N', b'U', b'M', b'P', b'Y', ..] => "a bare .npy array".to_string(),
            _ => format!("bytes that begin with \"{}\"", bytes[..bytes.len().min(8)].escape_ascii()),
        };
        Err(LoadError::new(LoadErrorKind::Format, "", EXPECTED, found))
    }
}

const EXPECTED: &str =
    "an .aosrig pack, a gnm_head .npz, a baked head .npz, a GNMW container, a DNA file, an ORL pack or a glTF file";

/// A glTF document is an object with an object `asset` in it.
fn of_json(text: &[u8]) -> Result<FileKind, LoadError> {
    #[derive(Deserialize)]
    struct Document {
        asset: Option<Box<RawValue>>,
    }
    let document: Document = serde_json::from_str(&String::from_utf8_lossy(text))
        .map_err(|e| LoadError::new(LoadErrorKind::Corrupt, "", "a glTF document, which is JSON", e))?;
    match document.asset {
        Some(asset) if asset.get().starts_with('{') => Ok(FileKind::Gltf),
        _ => Err(LoadError::new(LoadErrorKind::Format, "", EXPECTED, "JSON without a glTF asset")),
    }
}

/// A file that can be evaluated.
pub enum Rig {
    /// The original formula.
    Model(Box<GnmModel>),
    /// The runtime pack of a GNM head.
    Pack(Box<GnmPack>),
    /// A DNA.
    Dna(Box<Dna>),
    /// The runtime pack of one mesh of a DNA.
    OrlPack(Box<OrlPack>),
    /// A glTF file with its buffers.
    Gltf(Box<GltfModel>),
}

/// A folder with `scene.json` and the pack that it names.
pub struct Bundle {
    /// What the scene made of it.
    pub scene: SceneData,
    /// The pack's file.
    pub pack: PathBuf,
}

impl Bundle {
    /// Whether a path is to be read as a bundle.
    pub fn is(path: &Path) -> bool {
        path.is_dir() && path.join(SCENE_FILE).exists()
    }

    /// Reads a bundle.
    pub fn read(path: &Path) -> Result<Bundle, Failure> {
        // Commands send controls, never ARKit weights, so a bundle without a map from them is as good as any.
        let map = Some(ArkitMap::HandMade);
        let scene = scene::load(&Files::Folder(path.to_path_buf()), map).map_err(|error| match error {
            SceneError::Load(error) => {
                Failure::new(LoadError { file: path.join(&error.file).display().to_string(), ..error })
            }
            error => Failure::new(format!("{}: {error}", path.display())),
        })?;
        let pack = path.join(scene.manifest.pack().unwrap_or_default());
        Ok(Bundle { scene, pack })
    }
}

/// The bytes of a rig's file.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.is_dir() {
        let shown = path.display();
        let advice = match Bundle::is(path) {
            true => "a bundle: name the file inside it".to_string(),
            false => format!("a folder without {SCENE_FILE}"),
        };
        return Err(Failure::new(format!("{shown}: expected a file, got {advice}")));
    }
    Ok(files::read_file(path, files::MAX_FILE_BYTES)?)
}

/// The rig in these bytes.
pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Rig, Failure> {
    let shown = path.display().to_string();
    let rig = match FileKind::of(&bytes).map_err(|e| e.in_file(&shown))? {
        FileKind::Model => GnmModel::read(&bytes).map(|m| Rig::Model(Box::new(m))),
        FileKind::Pack => GnmPack::read(bytes).map(|p| Rig::Pack(Box::new(p))),
        FileKind::Dna => Dna::read(&bytes).map(|d| Rig::Dna(Box::new(d))),
        FileKind::OrlPack => OrlPack::read(bytes).map(|p| Rig::OrlPack(Box::new(p))),
        FileKind::Gltf => read_gltf(path, &bytes).map(|m| Rig::Gltf(Box::new(m))),
        FileKind::BakedHead | FileKind::Gnmw => {
            return Err(Failure::new(format!("{shown}: bake it first: rigeval bake gnm {shown} -o HEAD.aosrig")));
        }
    };
    Ok(rig.map_err(|e| e.in_file(&shown))?)
}

/// A glTF file; the buffers that it names lie in its folder.
pub fn read_gltf(path: &Path, bytes: &[u8]) -> Result<GltfModel, LoadError> {
    let files = Files::Folder(folder_of(path).to_path_buf());
    GltfModel::load(bytes, &files).map_err(|error| match error.file.as_str() {
        "" => error,
        // A fault of another file than the document.
        file => LoadError { file: path.with_file_name(file).display().to_string(), ..error },
    })
}
