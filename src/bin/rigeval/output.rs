//! Files that appear whole or not at all.

use crate::failure::Failure;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file to be written: checked before the work starts, so that a minute of it is not lost to a mistyped path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    path: PathBuf,
}

impl Output {
    /// Takes a path with one of `endings` in a folder that exists.
    pub fn new(path: &Path, endings: &[&str]) -> Result<Output, Failure> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        if !endings.contains(&ending.as_str()) {
            let endings: Vec<String> = endings.iter().map(|e| format!(".{e}")).collect();
            let (shown, endings) = (path.display(), endings.join(" or "));
            return Err(Failure::new(format!("output {shown}: give it a name that ends in {endings}")));
        }
        let folder = folder_of(path);
        if !folder.is_dir() {
            let (shown, folder) = (path.display(), folder.display());
            return Err(Failure::new(format!("output {shown}: folder {folder} does not exist, create it first")));
        }
        if path.is_dir() {
            return Err(Failure::new(format!("output {}: that is a folder, name a file in it", path.display())));
        }
        Ok(Output { path: path.to_path_buf() })
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The ending in lower case.
    pub fn ending(&self) -> String {
        self.path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
    }

    /// Writes to a temporary name in the same folder and renames: a failure leaves what was there before.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        write(&self.path, bytes).map_err(|e| Failure::new(format!("output {}: cannot write: {e}", self.path.display())))
    }
}

/// An option of the command line and the file it names, where it was given.
pub type Named<'a> = (&'static str, Option<&'a Path>);

/// Two outputs in one file would silently lose one of them, and an output in an input's file that input.
pub fn refuse_equal(outputs: &[Named], inputs: &[Named]) -> Result<(), Failure> {
    let resolved = |files: &[Named]| -> Vec<_> {
        files.iter().filter_map(|(name, path)| Some((*name, resolve((*path)?)))).collect()
    };
    let (outputs, mut taken) = (resolved(outputs), resolved(inputs));
    for (name, path) in outputs {
        if let Some((other, _)) = taken.iter().find(|(_, other)| *other == path) {
            return Err(Failure::new(format!("{other} and {name} name the same file: give each its own")));
        }
        taken.push((name, path));
    }
    Ok(())
}

/// Where a path leads: `./v.npy` and a link to it are `v.npy` too. A path that leads nowhere is left as it is.
fn resolve(path: &Path) -> PathBuf {
    let in_folder = || Some(fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(in_folder).unwrap_or_else(|| path.to_path_buf())
}

/// The folder that a file lies in.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // The target of a link is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return fs::write(&path, bytes);
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".rigeval-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder_of(&path))?;
    file.write_all(bytes)?;
    file.persist(&path).map_err(|e| e.error)?;
    Ok(())
}
