//! Where an accessor's bytes come from: buffers, their views, and the bound on what may be decoded.

use super::container::Container;
use super::document::{Root, wrong};
use super::report::LoadReport;
use crate::error::{LoadError, LoadErrorKind};
use crate::files::{self, Files};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::borrow::Cow;

/// What any file may decode to, however small it is.
const FREE_BYTES: u64 = 64 << 20;
/// How many times its own size a larger file may decode to.
const GROWTH: u64 = 256;

/// A document whose references are checked, with its buffers, fetched when the first accessor needs them: what no rig needs may be absent.
pub(super) struct Source<'a> {
    pub(super) root: &'a Root,
    pub(super) report: LoadReport,
    /// Accessors that the report has counted.
    pub(super) counted: Vec<bool>,
    files: &'a Files,
    /// Where in `files` the document lies: empty, or a path that ends in a slash.
    folder: &'a str,
    bin: Option<&'a [u8]>,
    buffers: Vec<Option<Cow<'a, [u8]>>>,
    unpacked: Vec<Option<Vec<u8>>>,
    file_bytes: u64,
    spent_bytes: u64,
}

/// Some bytes of a buffer.
#[derive(Clone, Copy)]
struct Range {
    buffer: usize,
    offset: u64,
    length: u64,
}

impl<'a> Source<'a> {
    pub(super) fn new(root: &'a Root, container: &Container<'a>, files: &'a Files, folder: &'a str) -> Source<'a> {
        Source {
            root,
            report: LoadReport::default(),
            counted: vec![false; root.accessors.len()],
            files,
            folder,
            bin: container.bin,
            buffers: root.buffers.iter().map(|_| None).collect(),
            unpacked: root.buffer_views.iter().map(|_| None).collect(),
            file_bytes: (container.json.len() + container.bin.map_or(0, <[u8]>::len)) as u64,
            spent_bytes: 0,
        }
    }

    /// Takes bytes from what this file may decode to.
    ///
    /// # Errors
    /// `Unsupported` - nothing is left.
    pub(super) fn charge(&mut self, field: &str, bytes: u64) -> Result<(), LoadError> {
        let most = FREE_BYTES.max(self.file_bytes.saturating_mul(GROWTH));
        self.spent_bytes = self.spent_bytes.saturating_add(bytes);
        if self.spent_bytes > most {
            let expected = format!("at most {most} bytes decoded from a file of {}", self.file_bytes);
            return Err(LoadError::new(LoadErrorKind::Unsupported, field, expected, "more"));
        }
        Ok(())
    }

    /// The bytes of a view and its stride.
    pub(super) fn view(&mut self, index: usize) -> Result<(&[u8], Option<u64>), LoadError> {
        let root = self.root;
        let view = &root.buffer_views[index];
        let pointer = format!("/bufferViews/{index}");
        let Some(packed) = &view.extensions.meshopt else {
            let range = Range { buffer: view.buffer, offset: view.byte_offset, length: view.byte_length };
            return Ok((self.range(range, &pointer)?, view.byte_stride));
        };
        if self.unpacked[index].is_none() {
            let pointer = format!("{pointer}/extensions/EXT_meshopt_compression");
            self.unpacked[index] = Some(self.unpack(packed, &pointer)?);
            self.report.unpacked_views += 1;
        }
        Ok((self.unpacked[index].as_deref().unwrap_or_default(), Some(packed.byte_stride)))
    }

    #[cfg(all(feature = "meshopt", not(target_arch = "wasm32")))]
    fn unpack(&mut self, packed: &super::document::Meshopt, pointer: &str) -> Result<Vec<u8>, LoadError> {
        self.charge(pointer, packed.count.saturating_mul(packed.byte_stride))?;
        let range = Range { buffer: packed.buffer, offset: packed.byte_offset, length: packed.byte_length };
        super::meshopt::unpack(packed, self.range(range, pointer)?, pointer)
    }

    #[cfg(not(all(feature = "meshopt", not(target_arch = "wasm32"))))]
    fn unpack(&mut self, _: &super::document::Meshopt, pointer: &str) -> Result<Vec<u8>, LoadError> {
        Err(LoadError::new(
            LoadErrorKind::Unsupported,
            pointer,
            "a build with the feature `meshopt`",
            "EXT_meshopt_compression",
        ))
    }

    fn range(&mut self, range: Range, pointer: &str) -> Result<&[u8], LoadError> {
        let buffer = self.buffer(range.buffer)?;
        let end = range.offset.checked_add(range.length).filter(|end| *end <= buffer.len() as u64);
        let Some(end) = end else {
            let found = format!("offset {} and length {}", range.offset, range.length);
            let expected = format!("a range inside buffer {} ({} bytes)", range.buffer, buffer.len());
            return Err(LoadError::new(LoadErrorKind::Truncated, pointer, expected, found));
        };
        Ok(&buffer[range.offset as usize..end as usize])
    }

    fn buffer(&mut self, index: usize) -> Result<&[u8], LoadError> {
        let root = self.root;
        let buffer = &root.buffers[index];
        if self.buffers[index].is_none() {
            let pointer = format!("/buffers/{index}");
            let uri = format!("{pointer}/uri");
            let bytes = match (&buffer.uri, self.bin) {
                (None, Some(bin)) if index == 0 => Cow::Borrowed(bin),
                (None, _) => return Err(LoadError::new(LoadErrorKind::Missing, uri, "where the bytes are", "none")),
                (Some(data), _) if is_data(data) => Cow::Owned(data_uri(data).map_err(|e| e.within(uri))?),
                (Some(path), _) => Cow::Owned(self.external(path).map_err(|e| e.within(uri))?),
            };
            if (bytes.len() as u64) < buffer.byte_length {
                let expected = format!("{} bytes", buffer.byte_length);
                let field = format!("{pointer}/byteLength");
                return Err(LoadError::new(LoadErrorKind::Truncated, field, expected, bytes.len()));
            }
            self.buffers[index] = Some(bytes);
        }
        // A buffer may be longer than it says: GLB pads its chunk.
        let bytes = self.buffers[index].as_deref().unwrap_or_default();
        Ok(&bytes[..buffer.byte_length as usize])
    }

    fn external(&mut self, uri: &str) -> Result<Vec<u8>, LoadError> {
        // Checked before it is joined: behind a folder, an absolute path would look like one inside it.
        let path = files::inner_path(&percent_decoded(uri)?)?;
        let path = format!("{}{path}", self.folder);
        let bytes = self.files.read(&path, files::MAX_FILE_BYTES.saturating_sub(self.file_bytes))?;
        self.file_bytes += bytes.len() as u64;
        Ok(bytes)
    }
}

fn is_data(uri: &str) -> bool {
    uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// The bytes of a `data:` URI.
fn data_uri(uri: &str) -> Result<Vec<u8>, LoadError> {
    const READER: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let refuse = |found: String| Err(LoadError::new(LoadErrorKind::Format, "", "a base64 data URI", found));
    match uri.split_once(',') {
        Some((head, data)) if head.to_ascii_lowercase().ends_with(";base64") => {
            READER.decode(data).or_else(|e| refuse(e.to_string()))
        }
        Some((head, _)) => refuse(format!("\"{head},\"")),
        None => refuse("one without a comma".into()),
    }
}

fn percent_decoded(uri: &str) -> Result<String, LoadError> {
    let refuse = |found: &str| wrong("", "a percent-encoded UTF-8 path", format!("\"{uri}\": {found}"));
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = after.get(..2).and_then(|d| std::str::from_utf8(d).ok()).filter(|d| !d.starts_with('+'));
        let byte = digits.and_then(|d| u8::from_str_radix(d, 16).ok()).ok_or_else(|| refuse("a lone %"))?;
        bytes.push(byte);
        rest = &after[2..];
    }
    String::from_utf8(bytes).map_err(|_| refuse("no UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_uri_is_decoded_with_and_without_padding() {
        for uri in ["data:application/octet-stream;base64,AQID", "DATA:;BASE64,AQID", "data:;base64,AQID"] {
            assert_eq!(data_uri(uri).unwrap(), [1, 2, 3], "{uri}");
        }
        assert_eq!(data_uri("data:;base64,AQ==").unwrap(), [1]);
        assert_eq!(data_uri("data:;base64,AQ").unwrap(), [1]);
        for uri in ["data:;base64", "data:,AQID", "data:;base64,A*ID", "data:text/plain,abc"] {
            assert_eq!(data_uri(uri).unwrap_err().kind, LoadErrorKind::Format, "{uri}");
        }
    }

    #[test]
    fn path_is_percent_decoded_once() {
        assert_eq!(percent_decoded("a%20b/%C3%A4%2525.bin").unwrap(), "a b/ä%25.bin");
        for uri in ["a%", "a%2", "a%zz", "%+1", "%ff"] {
            assert_eq!(percent_decoded(uri).unwrap_err().kind, LoadErrorKind::Value, "{uri}");
        }
    }
}
