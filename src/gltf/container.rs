//! The two containers: a bare JSON document, and GLB, which puts the document and one buffer into one file.

use crate::error::{LoadError, LoadErrorKind};
use crate::files;

const MAGIC: &[u8] = b"glTF";
const JSON: u32 = 0x4E4F_534A;
const BIN: u32 = 0x004E_4942;

/// The document's text and, in a GLB, its binary chunk.
#[derive(Debug)]
pub(super) struct Container<'a> {
    pub(super) json: &'a [u8],
    pub(super) bin: Option<&'a [u8]>,
}

impl<'a> Container<'a> {
    /// Splits the bytes of a `.glb`, `.vrm` or `.gltf`; which one it is stands in the first four.
    ///
    /// Chunks of unknown kinds are passed over, and so is what follows the stated length.
    ///
    /// # Errors
    /// `Format` - neither; `Version` - GLB 1; `Truncated` - a length past the end; `Corrupt` - two documents or two buffers.
    pub(super) fn split(bytes: &'a [u8]) -> Result<Container<'a>, LoadError> {
        if let Some(what) = files::recognise_non_data(bytes) {
            return Err(LoadError::new(LoadErrorKind::Format, "", "a glTF file", what));
        }
        if !bytes.starts_with(MAGIC) {
            let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
            return match text.first() {
                Some(b'{') => Ok(Container { json: bytes, bin: None }),
                Some(_) => Err(LoadError::new(LoadErrorKind::Format, "", "a glTF file (GLB or JSON)", "other bytes")),
                None => Err(LoadError::new(LoadErrorKind::Truncated, "", "a glTF file (GLB or JSON)", "no bytes")),
            };
        }
        let header = bytes.get(..12).ok_or_else(|| truncated("GLB header", 12, bytes.len()))?;
        let version = word(header, 4);
        if version != 2 {
            return Err(LoadError::new(LoadErrorKind::Version, "GLB version", 2, version));
        }
        let length = word(header, 8) as usize;
        let file = bytes.get(..length).ok_or_else(|| truncated("GLB length", length, bytes.len()))?;
        let (mut json, mut bin) = (None, None);
        let mut rest = file.get(12..).ok_or_else(|| truncated("GLB length", 12, length))?;
        let mut chunk = 0;
        while !rest.is_empty() {
            let field = format!("GLB chunk {chunk}");
            let head = rest.get(..8).ok_or_else(|| truncated(&field, 8, rest.len()))?;
            let (size, kind) = (word(head, 0) as usize, word(head, 4));
            let left = rest.len() - 8;
            if size > left {
                return Err(truncated(&field, size, left));
            }
            let (data, after) = rest[8..].split_at(size);
            match kind {
                JSON if chunk == 0 => json = Some(data),
                BIN if bin.is_none() => bin = Some(data),
                // Of two, one program would read the first and another the last.
                JSON | BIN => {
                    let found = if kind == JSON { "a second JSON chunk" } else { "a second BIN chunk" };
                    return Err(LoadError::new(LoadErrorKind::Corrupt, field, "one chunk of a kind", found));
                }
                _ => {}
            }
            if json.is_none() {
                return Err(LoadError::new(LoadErrorKind::Format, field, "JSON first", format!("kind {kind:#010x}")));
            }
            rest = after;
            chunk += 1;
        }
        let json = json.ok_or_else(|| truncated("GLB chunk 0", 8, 0))?;
        Ok(Container { json, bin })
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn truncated(field: &str, expected: usize, left: usize) -> LoadError {
    LoadError::new(LoadErrorKind::Truncated, field, format!("{expected} bytes"), format!("{left} left"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(kind: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = (data.len() as u32).to_le_bytes().to_vec();
        bytes.extend(kind.to_le_bytes());
        bytes.extend(data);
        bytes
    }

    fn glb(chunks: &[Vec<u8>]) -> Vec<u8> {
        let body = chunks.concat();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(2_u32.to_le_bytes());
        bytes.extend((12 + body.len() as u32).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn glb_gives_its_two_chunks_and_passes_over_others() {
        let bytes = glb(&[chunk(JSON, b"{}  "), chunk(7, b"????"), chunk(BIN, &[1, 2, 3, 4])]);
        let split = Container::split(&bytes).unwrap();
        assert_eq!((split.json, split.bin), (&b"{}  "[..], Some(&[1, 2, 3, 4][..])));
        let with_tail = [bytes, vec![9; 5]].concat();
        assert_eq!(Container::split(&with_tail).unwrap().bin, Some(&[1, 2, 3, 4][..]));
    }

    #[test]
    fn glb_with_two_chunks_of_a_kind_is_rejected() {
        for (kind, found) in [(JSON, "a second JSON chunk"), (BIN, "a second BIN chunk")] {
            let bytes = glb(&[chunk(JSON, b"{}  "), chunk(BIN, &[1, 2, 3, 4]), chunk(kind, b"{}  ")]);
            let error = Container::split(&bytes).unwrap_err();
            let found_at = (error.kind, error.field.as_str(), error.found.as_str());
            assert_eq!(found_at, (LoadErrorKind::Corrupt, "GLB chunk 2", found));
        }
    }

    #[test]
    fn glb_truncated_is_rejected() {
        let bytes = glb(&[chunk(JSON, b"{}  "), chunk(BIN, &[1, 2, 3, 4])]);
        for length in 4..bytes.len() {
            let error = Container::split(&bytes[..length]).unwrap_err();
            assert_eq!(error.kind, LoadErrorKind::Truncated, "{length} bytes");
        }
        for length in 0..4 {
            assert!(Container::split(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn glb_with_a_wrong_field_is_rejected() {
        let good = glb(&[chunk(JSON, b"{}  ")]);
        for (at, value, kind) in [
            (4, 1_u32, LoadErrorKind::Version),
            (8, 11, LoadErrorKind::Truncated),
            (8, 13, LoadErrorKind::Truncated),
            (8, u32::MAX, LoadErrorKind::Truncated),
            (12, u32::MAX, LoadErrorKind::Truncated),
            (16, BIN, LoadErrorKind::Format),
        ] {
            let mut bytes = good.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            assert_eq!(Container::split(&bytes).unwrap_err().kind, kind, "word {at} = {value}");
        }
    }

    #[test]
    fn other_bytes_are_named() {
        assert!(Container::split(b" \n{}").is_ok());
        assert!(Container::split(b"PK\x03\x04").unwrap_err().to_string().contains("other bytes"));
        assert!(Container::split(b"<!doctype html>").unwrap_err().to_string().contains("HTML"));
        let pointer = b"version https://git-lfs.github.com/spec/v1\n";
        assert!(Container::split(pointer).unwrap_err().to_string().contains("Git-LFS"));
    }
}
