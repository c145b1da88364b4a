//! The container: magic, header, sections by name. Offsets are relative to the end of the header.

use crate::error::{LoadError, LoadErrorKind};
use crate::files;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

const MAGIC: &[u8; 4] = b"GNMW";
const VERSION: u32 = 1;
const PREAMBLE_BYTES: usize = 12;
const ALIGNMENT_BYTES: usize = 4;

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Section {
    name: String,
    dtype: String,
    shape: Vec<usize>,
    offset: usize,
    byte_length: usize,
}

#[derive(Deserialize, Serialize)]
struct Header {
    #[serde(default)]
    meta: Map<String, Value>,
    sections: Vec<Section>,
}

/// An opened file: its header checked, its sections not yet.
pub(super) struct Container<'a> {
    meta: Map<String, Value>,
    sections: BTreeMap<String, Section>,
    body: &'a [u8],
}

impl<'a> Container<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Container<'a>, LoadError> {
        if !bytes.starts_with(MAGIC) {
            let found = match files::recognise_non_data(bytes) {
                Some(what) => what.to_string(),
                None if bytes.is_empty() => "an empty file".into(),
                None => format!("bytes that begin with \"{}\"", bytes[..bytes.len().min(4)].escape_ascii()),
            };
            return Err(LoadError::new(LoadErrorKind::Format, "", "a GNMW file", found));
        }
        let truncated = |expected: usize| {
            let expected = format!("at least {expected} bytes");
            LoadError::new(LoadErrorKind::Truncated, "header", expected, format!("{} bytes", bytes.len()))
        };
        let word = |at: usize| bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
        let (version, length) = word(4).zip(word(8)).ok_or_else(|| truncated(PREAMBLE_BYTES))?;
        if version != VERSION {
            return Err(LoadError::new(LoadErrorKind::Version, "version", VERSION, version));
        }
        let length = length as usize;
        if !length.is_multiple_of(ALIGNMENT_BYTES) {
            return Err(LoadError::new(LoadErrorKind::Corrupt, "header length", "a multiple of 4", length));
        }
        let rest = &bytes[PREAMBLE_BYTES..];
        let (text, body) =
            rest.split_at_checked(length).ok_or_else(|| truncated(PREAMBLE_BYTES.saturating_add(length)))?;
        let header: Header = serde_json::from_slice(text).map_err(|e| {
            let expected = "a JSON object {meta, sections: [{name, dtype, shape, offset, byteLength}]}";
            LoadError::new(LoadErrorKind::Format, "header", expected, e)
        })?;
        let mut sections = BTreeMap::new();
        for section in header.sections {
            let name = section.name.clone();
            let bad =
                |expected: &str, found: String| Err(LoadError::new(LoadErrorKind::Corrupt, &name, expected, found));
            if name.is_empty() {
                return bad("section names that are not empty", "an empty one".into());
            }
            if !section.offset.is_multiple_of(ALIGNMENT_BYTES) {
                return bad("an offset that is a multiple of 4", section.offset.to_string());
            }
            if item_bytes(&section.dtype).is_none() {
                let expected = "float32, int8, uint8, uint16, int32 or uint32";
                return Err(LoadError::new(LoadErrorKind::Type, &name, expected, &section.dtype));
            }
            if sections.insert(name.clone(), section).is_some() {
                return bad("one section of this name", "two".into());
            }
        }
        Ok(Container { meta: header.meta, sections, body })
    }

    pub fn has(&self, name: &str) -> bool {
        self.sections.contains_key(name)
    }

    pub fn names(&self) -> Vec<&str> {
        self.sections.keys().map(String::as_str).collect()
    }

    pub fn meta(&self) -> &Map<String, Value> {
        &self.meta
    }

    /// Checks a count in `meta` against the one that the sections have; one that is not stated passes.
    pub fn expect_meta(&self, key: &str, count: usize) -> Result<(), LoadError> {
        match self.meta.get(key) {
            Some(value) if value.as_u64() != Some(count as u64) => {
                Err(LoadError::new(LoadErrorKind::Shape, format!("meta.{key}"), count, value))
            }
            _ => Ok(()),
        }
    }

    pub fn meta_names(&self, key: &str) -> Result<Vec<String>, LoadError> {
        names(&self.meta, key)
    }

    /// The first dimension of a section.
    pub fn rows(&self, name: &str) -> Result<usize, LoadError> {
        Ok(self.section(name)?.shape.first().copied().unwrap_or(0))
    }

    pub fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, LoadError> {
        let data = self.data(name, shape, &["float32"])?.1;
        Ok(data.as_chunks().0.iter().map(|&b| f32::from_le_bytes(b)).collect())
    }

    pub fn bytes(&self, name: &str, shape: &[usize]) -> Result<Vec<u8>, LoadError> {
        Ok(self.data(name, shape, &["uint8"])?.1.to_vec())
    }

    pub fn signed_bytes(&self, name: &str, shape: &[usize]) -> Result<Vec<i8>, LoadError> {
        Ok(bytemuck::cast_slice(self.data(name, shape, &["int8"])?.1).to_vec())
    }

    /// Integers of any width that the container has, but int8, which only bases use.
    pub fn integers(&self, name: &str, shape: &[usize]) -> Result<Vec<i64>, LoadError> {
        let (dtype, data) = self.data(name, shape, &["int32", "uint32", "uint16", "uint8"])?;
        let wide = data.as_chunks().0.iter();
        Ok(match dtype {
            "int32" => wide.map(|&b| i32::from_le_bytes(b).into()).collect(),
            "uint32" => wide.map(|&b| u32::from_le_bytes(b).into()).collect(),
            "uint16" => data.as_chunks().0.iter().map(|&b| u16::from_le_bytes(b).into()).collect(),
            _ => data.iter().map(|&b| b.into()).collect(),
        })
    }

    pub fn indices(&self, name: &str, shape: &[usize], limit: usize) -> Result<Vec<u32>, LoadError> {
        let index = |(at, x): (usize, i64)| match u32::try_from(x) {
            Ok(i) if (i as usize) < limit => Ok(i),
            _ => {
                Err(LoadError::new(LoadErrorKind::Value, format!("{name}[{at}]"), format!("an index below {limit}"), x))
            }
        };
        self.integers(name, shape)?.into_iter().enumerate().map(index).collect()
    }

    fn section(&self, name: &str) -> Result<&Section, LoadError> {
        let missing =
            || LoadError::new(LoadErrorKind::Missing, name, "a section of this name", format!("{:?}", self.names()));
        self.sections.get(name).ok_or_else(missing)
    }

    /// The type and the bytes of a section, once shape, type and place are what they must be.
    fn data(&self, name: &str, shape: &[usize], dtypes: &[&str]) -> Result<(&str, &'a [u8]), LoadError> {
        let section = self.section(name)?;
        if !dtypes.contains(&section.dtype.as_str()) {
            return Err(LoadError::new(LoadErrorKind::Type, name, dtypes.join(" or "), &section.dtype));
        }
        if section.shape != shape {
            let expected = format!("shape {shape:?}");
            return Err(LoadError::new(LoadErrorKind::Shape, name, expected, format!("{:?}", section.shape)));
        }
        let item = item_bytes(&section.dtype).unwrap_or(1);
        let needed = shape.iter().try_fold(item, |n, &d| n.checked_mul(d));
        if needed != Some(section.byte_length) {
            let expected = format!("the byteLength of {} {shape:?}", section.dtype);
            return Err(LoadError::new(LoadErrorKind::Corrupt, name, expected, section.byte_length));
        }
        let end = section.offset.checked_add(section.byte_length);
        let data = end.and_then(|end| self.body.get(section.offset..end)).ok_or_else(|| {
            let found = format!("offset {} + {}", section.offset, section.byte_length);
            LoadError::new(LoadErrorKind::Truncated, name, format!("an end within {} bytes", self.body.len()), found)
        })?;
        Ok((&section.dtype, data))
    }
}

/// A list of names in `meta`.
pub(super) fn names(meta: &Map<String, Value>, key: &str) -> Result<Vec<String>, LoadError> {
    let found = meta.get(key).cloned().unwrap_or_default();
    let kind = if found.is_null() { LoadErrorKind::Missing } else { LoadErrorKind::Type };
    serde_json::from_value(found).map_err(|e| LoadError::new(kind, format!("meta.{key}"), "a list of names", e))
}

fn item_bytes(dtype: &str) -> Option<usize> {
    match dtype {
        "int8" | "uint8" => Some(1),
        "uint16" => Some(2),
        "float32" | "int32" | "uint32" => Some(4),
        _ => None,
    }
}

/// Collects sections, and writes them behind a header with sorted keys.
#[derive(Default)]
pub(super) struct Writer {
    sections: Vec<Section>,
    body: Vec<u8>,
}

impl Writer {
    pub fn add(&mut self, name: &str, dtype: &str, shape: &[usize], data: Vec<u8>) {
        let (offset, byte_length) = (self.body.len(), data.len());
        self.sections.push(Section {
            name: name.into(),
            dtype: dtype.into(),
            shape: shape.to_vec(),
            offset,
            byte_length,
        });
        self.body.extend(data);
        self.body.resize(self.body.len().next_multiple_of(ALIGNMENT_BYTES), 0);
    }

    pub fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) {
        self.add(name, "float32", shape, values.iter().flat_map(|x| x.to_le_bytes()).collect());
    }

    pub fn short_indices(&mut self, name: &str, shape: &[usize], values: &[u32]) {
        let short = |&x: &u32| u16::try_from(x).unwrap_or_else(|_| panic!("{name}: {x} does not fit into 16 bits"));
        self.add(name, "uint16", shape, values.iter().flat_map(|x| short(x).to_le_bytes()).collect());
    }

    pub fn finish(self, meta: &Map<String, Value>) -> Vec<u8> {
        // Through a value, whose maps are sorted.
        let header = serde_json::json!({"meta": meta, "sections": self.sections});
        let mut text = header.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(ALIGNMENT_BYTES), b' ');
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text);
        bytes.extend(self.body);
        bytes
    }
}
