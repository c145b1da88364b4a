//! Where the files of a bundle come from, and the one rule for the paths that a file may name.

use crate::error::{LoadError, LoadErrorKind};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// No file larger than this is read: 2 GiB, several times the largest head there is.
pub const MAX_FILE_BYTES: u64 = 1 << 31;

/// Fetches one file by its inner path; the path has passed [`inner_path`].
pub type Resolver = Box<dyn Fn(&str) -> io::Result<Vec<u8>> + Send + Sync>;

/// The source of a bundle's files.
///
/// Whatever the source, a name goes through [`inner_path`] first, and what arrives is measured and looked at before it is handed on.
pub enum Files {
    /// Bytes by inner path.
    Memory(BTreeMap<String, Vec<u8>>),
    /// A folder on disk; nothing outside it is reached, not through a link either.
    Folder(PathBuf),
    /// The host's own lookup.
    Resolver(Resolver),
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Files::Memory(map) => f.debug_tuple("Memory").field(&map.keys().collect::<Vec<_>>()).finish(),
            Files::Folder(path) => f.debug_tuple("Folder").field(path).finish(),
            Files::Resolver(_) => f.write_str("Resolver(..)"),
        }
    }
}

impl Files {
    /// The bytes of one file of the bundle.
    ///
    /// # Errors
    /// `Io` - a path that [`inner_path`] refuses, a link that leaves the folder, no such file, more than `limit_bytes`;
    /// `Format` - bytes that [`recognise_non_data`] names.
    pub fn read(&self, path: &str, limit_bytes: u64) -> Result<Vec<u8>, LoadError> {
        let absent = || io_error("a file of this bundle", "no such file").in_file(path);
        self.read_if_present(path, limit_bytes)?.ok_or_else(absent)
    }

    /// The bytes of one file of the bundle, or nothing where there is no file of that name.
    ///
    /// # Errors
    /// As [`Files::read`], for a file that is there.
    pub fn read_if_present(&self, path: &str, limit_bytes: u64) -> Result<Option<Vec<u8>>, LoadError> {
        let inner = inner_path(path)?;
        let bytes = match self {
            Files::Memory(map) => {
                let sized = |b: &Vec<u8>| check_size(b.len() as u64, limit_bytes).map(|()| b.clone());
                map.get(&inner).map(sized).transpose()
            }
            Files::Folder(folder) => match folder.join(&inner).symlink_metadata() {
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
                _ => inside(folder, &inner).and_then(|p| read_regular(&p, limit_bytes)).map(Some),
            },
            Files::Resolver(resolve) => match resolve(&inner) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(e) => Err(io_error("a file of this bundle", e)),
                Ok(b) => check_size(b.len() as u64, limit_bytes).map(|()| Some(b)),
            },
        };
        bytes.and_then(|b| b.map(refuse_non_data).transpose()).map_err(|e| e.in_file(path))
    }
}

/// The bytes of a file that the user named, wherever it lies.
///
/// # Errors
/// `Io` - no such file, a folder, a device, more than `limit_bytes`; `Format` - bytes that [`recognise_non_data`] names.
pub fn read_file(path: &Path, limit_bytes: u64) -> Result<Vec<u8>, LoadError> {
    read_regular(path, limit_bytes).and_then(refuse_non_data).map_err(|e| e.in_file(path.display()))
}

/// The one rule for a path that a file names: relative, with `/`, inside the bundle. Gives it back without `.` and empty segments.
///
/// Refused are `..`, a leading `/`, a backslash, a colon (URLs, drive letters), control characters, and a path that names nothing.
/// A percent-encoded URI is decoded before it comes here.
///
/// # Errors
/// `Io`, naming the path.
pub fn inner_path(path: &str) -> Result<String, LoadError> {
    let refuse = |why: &str| {
        Err(LoadError::new(LoadErrorKind::Io, format!("path \"{path}\""), "a relative path inside the bundle", why))
    };
    if path.contains(char::is_control) {
        return refuse("a control character");
    }
    if path.contains('\\') {
        return refuse("a backslash");
    }
    if path.contains(':') {
        return refuse("a URL or a drive letter");
    }
    if path.starts_with('/') {
        return refuse("an absolute path");
    }
    let segments: Vec<&str> = path.split('/').filter(|s| !s.is_empty() && *s != ".").collect();
    if segments.contains(&"..") {
        return refuse("a step out of it (..)");
    }
    if segments.is_empty() {
        return refuse("no file name");
    }
    Ok(segments.join("/"))
}

/// How a pack file begins: eight bytes of magic, the length of the description that follows, and that of the whole file.
pub(crate) struct PackPrefix {
    pub(crate) magic: &'static [u8; 8],
    /// What such a file is called, with its article.
    pub(crate) kind: &'static str,
    /// The name of the first length.
    pub(crate) length_field: &'static str,
    pub(crate) limit_bytes: usize,
}

impl PackPrefix {
    /// How long a prefix is.
    pub(crate) const BYTES: usize = 16;
    /// What every member begins at a multiple of.
    pub(crate) const ALIGNMENT_BYTES: usize = 8;

    /// Lays out a pack: prefix, description, members. The offsets depend on the length of the text they stand in: starting from zeros,
    /// neither can shrink from one pass to the next, so the passes end at the one layout that agrees with itself.
    pub(crate) fn encode(&self, members: &[&[u8]], text_of: impl Fn(&[usize]) -> String) -> Vec<u8> {
        let mut offsets = vec![0; members.len()];
        let (text, total) = loop {
            let text = text_of(&offsets);
            let mut end = (Self::BYTES + text.len()).next_multiple_of(Self::ALIGNMENT_BYTES);
            let mut laid = Vec::with_capacity(members.len());
            for data in members {
                laid.push(end);
                end = (end + data.len()).next_multiple_of(Self::ALIGNMENT_BYTES);
            }
            if laid == offsets {
                break (text, end);
            }
            offsets = laid;
        };
        let mut out = Vec::with_capacity(total);
        out.extend_from_slice(self.magic);
        out.extend_from_slice(&(text.len() as u32).to_le_bytes());
        out.extend_from_slice(&(total as u32).to_le_bytes());
        out.extend_from_slice(text.as_bytes());
        for (data, &offset) in members.iter().zip(&offsets) {
            out.resize(offset, 0);
            out.extend_from_slice(data);
        }
        out.resize(total, 0);
        out
    }

    /// Checks magic and lengths and gives the end of the description; it starts where the prefix ends.
    ///
    /// # Errors
    /// `Format` - another file; `Truncated` - a length that the bytes do not have; `Unsupported` - more than the limit.
    pub(crate) fn check(&self, bytes: &[u8]) -> Result<usize, LoadError> {
        let error =
            |kind, field: &str, expected: &str, found: String| Err(LoadError::new(kind, field, expected, found));
        let PackPrefix { magic, kind, length_field, limit_bytes } = *self;
        let expected_magic = format!("\"{}\"", magic.escape_ascii());
        if let Some(other) = recognise_non_data(bytes) {
            return error(LoadErrorKind::Format, "magic", &expected_magic, format!("{other}, not {kind}"));
        }
        if bytes.len() < Self::BYTES {
            let found = format!("{}: pack too short", bytes.len());
            return error(LoadErrorKind::Truncated, "file", "16 bytes or more", found);
        }
        if &bytes[..8] != magic {
            let found = format!("not {kind}: magic is \"{}\"", bytes[..8].escape_ascii());
            return error(LoadErrorKind::Format, "magic", &expected_magic, found);
        }
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize;
        let (length, total_bytes) = (word(8), word(12));
        if total_bytes != bytes.len() {
            let expected = format!("{total_bytes} bytes");
            let found = format!("{}: truncated or corrupt download", bytes.len());
            return error(LoadErrorKind::Truncated, "totalLen", &expected, found);
        }
        if total_bytes > limit_bytes {
            let expected = format!("at most {limit_bytes} bytes");
            return error(LoadErrorKind::Unsupported, "totalLen", &expected, total_bytes.to_string());
        }
        match Self::BYTES.checked_add(length).filter(|&end| end <= total_bytes) {
            Some(end) => Ok(end),
            None => {
                let expected = format!("at most {} bytes", total_bytes - Self::BYTES);
                error(LoadErrorKind::Truncated, length_field, &expected, format!("{length}: runs past the end"))
            }
        }
    }
}

/// What the bytes are when they are plainly not the data that was asked for: a Git-LFS pointer or an HTML page.
///
/// No format read here begins like either, so every loader may ask.
#[must_use]
pub fn recognise_non_data(bytes: &[u8]) -> Option<&'static str> {
    const HEAD: usize = 512;
    let head = &bytes[..bytes.len().min(HEAD)];
    if head.starts_with(b"version https://git-lfs.github.com/spec/") {
        return Some("a Git-LFS pointer (fetch the file itself with `git lfs pull`)");
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let begins = |tag: &[u8]| text.len() >= tag.len() && text[..tag.len()].eq_ignore_ascii_case(tag);
    if begins(b"<!doctype html") || begins(b"<html") || begins(b"<head") {
        return Some("an HTML page (a download that ended at a web page)");
    }
    None
}

fn io_error(expected: impl fmt::Display, found: impl fmt::Display) -> LoadError {
    LoadError::new(LoadErrorKind::Io, "", expected, found)
}

fn check_size(bytes: u64, limit_bytes: u64) -> Result<(), LoadError> {
    if bytes > limit_bytes {
        return Err(io_error(format!("at most {limit_bytes} bytes"), format!("{bytes} bytes")));
    }
    Ok(())
}

fn refuse_non_data(bytes: Vec<u8>) -> Result<Vec<u8>, LoadError> {
    match recognise_non_data(&bytes) {
        Some(what) => Err(LoadError::new(LoadErrorKind::Format, "", "data", what)),
        None => Ok(bytes),
    }
}

/// Where the inner path leads once every link is followed; that must still be below the folder.
fn inside(folder: &Path, inner: &str) -> Result<PathBuf, LoadError> {
    let root = folder.canonicalize().map_err(|e| io_error("a folder", e))?;
    let target = root.join(inner).canonicalize().map_err(|e| io_error("a file of this bundle", e))?;
    if !target.starts_with(&root) {
        return Err(io_error("a file inside the bundle", "a link that leads out of it"));
    }
    Ok(target)
}

/// Reads a regular file: a pipe or a device could block for ever or never end.
fn read_regular(path: &Path, limit_bytes: u64) -> Result<Vec<u8>, LoadError> {
    let describe = |e: io::Error| io_error("a readable file", e);
    let metadata = path.metadata().map_err(describe)?;
    if !metadata.is_file() {
        return Err(io_error("a file", if metadata.is_dir() { "a folder" } else { "a device or a pipe" }));
    }
    check_size(metadata.len(), limit_bytes)?;
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    // The file may have grown since it was measured.
    File::open(path)
        .map_err(describe)?
        .take(limit_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(describe)?;
    check_size(bytes.len() as u64, limit_bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        std::fs::write(dir.path().join("sub/a.bin"), [1, 2, 3]).unwrap();
        dir
    }

    #[test]
    fn inner_path_inside_is_normalised() {
        for (path, expected) in [("a.bin", "a.bin"), ("./sub//a.bin", "sub/a.bin"), ("a..b/.c", "a..b/.c")] {
            assert_eq!(inner_path(path).unwrap(), expected);
        }
    }

    #[test]
    fn inner_path_leaving_the_bundle_is_refused() {
        let bad = [
            "",
            ".",
            "./",
            "..",
            "../a",
            "a/../../b",
            "a/..",
            "/etc/passwd",
            "//host/share",
            "\\\\host\\share",
            "..\\a",
            "C:\\a",
            "c:a",
            "http://example.com/a",
            "file:a",
            "data:application/octet-stream;base64,AA==",
            "a\0b",
            "a\nb",
        ];
        for path in bad {
            let error = inner_path(path).expect_err(path);
            assert_eq!(error.kind, LoadErrorKind::Io, "{path}");
            assert_eq!(error.to_string().lines().count(), 1, "{path:?}");
        }
    }

    #[test]
    fn every_source_gives_the_same_bytes_and_refusals() {
        let dir = bundle();
        let memory = Files::Memory(BTreeMap::from([("sub/a.bin".to_string(), vec![1, 2, 3])]));
        let folder = Files::Folder(dir.path().to_path_buf());
        let resolver = Files::Resolver(Box::new(|path| match path {
            "sub/a.bin" => Ok(vec![1, 2, 3]),
            _ => Err(io::ErrorKind::NotFound.into()),
        }));
        for files in [memory, folder, resolver] {
            assert_eq!(files.read("./sub/a.bin", 3).unwrap(), [1, 2, 3], "{files:?}");
            let too_large = files.read("sub/a.bin", 2).unwrap_err().to_string();
            assert_eq!(too_large, "sub/a.bin: expected at most 2 bytes, got 3 bytes", "{files:?}");
            let absent = files.read("b.bin", 3).unwrap_err();
            assert_eq!((absent.kind, absent.file.as_str()), (LoadErrorKind::Io, "b.bin"), "{files:?}");
            assert_eq!(absent.found, "no such file", "{files:?}");
            assert_eq!(files.read_if_present("b.bin", 3), Ok(None), "{files:?}");
            assert_eq!(files.read_if_present("sub/a.bin", 3), Ok(Some(vec![1, 2, 3])), "{files:?}");
            assert!(files.read_if_present("sub/a.bin", 2).is_err(), "{files:?}");
            assert!(files.read_if_present("../a.bin", 3).is_err(), "{files:?}");
            assert_eq!(files.read("../a.bin", 3).unwrap_err().kind, LoadErrorKind::Io, "{files:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn folder_link_out_is_refused_and_link_inside_is_followed() {
        let outer = bundle();
        let dir = bundle();
        std::os::unix::fs::symlink(outer.path().join("sub/a.bin"), dir.path().join("out")).unwrap();
        std::os::unix::fs::symlink(outer.path(), dir.path().join("away")).unwrap();
        std::os::unix::fs::symlink("sub/a.bin", dir.path().join("in")).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("dangling")).unwrap();
        let files = Files::Folder(dir.path().to_path_buf());
        assert!(files.read_if_present("dangling", 10).is_err(), "a link is there, whatever it leads to");
        for path in ["out", "away/sub/a.bin"] {
            let error = files.read(path, 10).unwrap_err().to_string();
            assert!(error.contains("leads out of it"), "{error}");
        }
        assert_eq!(files.read("in", 10).unwrap(), [1, 2, 3]);
    }

    #[test]
    fn folder_in_place_of_a_file_is_refused() {
        let dir = bundle();
        let error = Files::Folder(dir.path().to_path_buf()).read("sub", 10).unwrap_err().to_string();
        assert_eq!(error, "sub: expected a file, got a folder");
        assert!(read_file(dir.path(), 10).unwrap_err().to_string().ends_with("expected a file, got a folder"));
    }

    #[cfg(unix)]
    #[test]
    fn device_in_place_of_a_file_is_refused() {
        let error = read_file(Path::new("/dev/zero"), 10).unwrap_err().to_string();
        assert_eq!(error, "/dev/zero: expected a file, got a device or a pipe");
    }

    #[test]
    fn non_data_is_named() {
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n";
        assert!(recognise_non_data(pointer).unwrap().contains("Git-LFS"));
        for page in [&b"<!DOCTYPE html><html>"[..], b"\n  <HTML lang=en>", b"\xef\xbb\xbf<!doctype HTML>", b"<head>"] {
            assert!(recognise_non_data(page).unwrap().contains("HTML"));
        }
        for data in [&b"AOSRIG01"[..], b"\x93NUMPY", b"PK\x03\x04", b"GNMW", b"", b"<", b"<svg>", b"{}"] {
            assert_eq!(recognise_non_data(data), None);
        }
    }

    #[test]
    fn non_data_is_refused_by_every_reader() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("head.npz");
        std::fs::write(&path, "<!doctype html>").unwrap();
        let expected = "expected data, got an HTML page (a download that ended at a web page)";
        assert_eq!(read_file(&path, 100).unwrap_err().to_string(), format!("{}: {expected}", path.display()));
        let files = Files::Folder(dir.path().to_path_buf());
        assert_eq!(files.read("head.npz", 100).unwrap_err().to_string(), format!("head.npz: {expected}"));
    }
}
