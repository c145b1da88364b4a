//! From the bytes of one file to a rig.

use rigeval::error::{LoadError, LoadErrorKind};
use rigeval::expression::ArkitMap;
use rigeval::files::{Files, MAX_FILE_BYTES};
use rigeval::scene::manifest::SCENE_FILE;
use rigeval::scene::{self, SceneData, SceneError};
use std::collections::BTreeMap;

/// What the user's file is called within its bundle; the name that they gave it may be no path.
const RIG_FILE: &str = "rig";

/// Reads a pack, a DNA or a glTF file as a bundle of its own, by the code that reads any other bundle.
///
/// # Errors
/// What is wrong with the file, under the name that the user knows.
pub fn open(name: &str, bytes: Vec<u8>) -> Result<SceneData, String> {
    let mut files = BTreeMap::from([(RIG_FILE.to_string(), bytes)]);
    let backend = backend(&files[RIG_FILE]);
    let scene = format!(r#"{{"rig": {{"backend": "{}", "pack": "{RIG_FILE}"}}}}"#, backend.unwrap_or("none"));
    files.insert(SCENE_FILE.into(), scene.into_bytes());
    let files = Files::Memory(files);
    let named = |error: LoadError| match error.file.as_str() {
        RIG_FILE => LoadError { file: String::new(), ..error }.in_file(name).to_string(),
        _ => error.to_string(),
    };
    if backend.is_none() {
        // What this is instead: a web page, a pointer to a file that was not fetched.
        let bytes = files.read(RIG_FILE, MAX_FILE_BYTES).map_err(named)?;
        let found = match &bytes[..] {
            [] => "an empty file".to_string(),
            [b'P', b'K', ..] => "an archive: bake it first, rigeval bake gnm".to_string(),
            _ => format!("bytes that begin with \"{}\"", bytes[..bytes.len().min(8)].escape_ascii()),
        };
        return Err(LoadError::new(LoadErrorKind::Format, "", EXPECTED, found).in_file(name).to_string());
    }
    // A pack says nothing of ARKit.
    scene::load(&files, Some(ArkitMap::HandMade)).map_err(|error| match error {
        SceneError::Load(error) => named(error),
        error => error.to_string(),
    })
}

const EXPECTED: &str = "an .aosrig pack, a DNA file, an ORL pack or a glTF file";

/// The rig that a file is for, by its first bytes.
fn backend(bytes: &[u8]) -> Option<&'static str> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    if bytes.starts_with(b"AOSRIG01") {
        Some("gnm")
    } else if bytes.starts_with(b"DNA") || bytes.starts_with(b"ORLPACK1") {
        Some("orl")
    } else if bytes.starts_with(b"glTF") || text.starts_with(b"{") {
        Some("gltf")
    } else {
        None
    }
}
