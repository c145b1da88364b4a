//! The .aosrig container: magic, lengths, header and named blobs.
//!
//! Only the frame is read and checked here; what header fields and blobs mean is [`super::pack`]'s business. The header is kept as text, so
//! fields that nobody here knows, the order of the keys and the digits of every number come back as they were.

use crate::error::{LoadError, LoadErrorKind};
use crate::files::PackPrefix;
use indexmap::IndexMap;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Blobs that the format defines, mouth groups included, are fewer than 40.
const MAX_BLOBS: usize = 1024;
/// The length is stored in a u32; rewriting may make the blob table a few bytes per blob longer, and must not run past it.
const MAX_PACK_BYTES: usize = u32::MAX as usize - (1 << 20);

const PREFIX: PackPrefix =
    PackPrefix { magic: b"AOSRIG01", kind: "an .aosrig pack", length_field: "headerLen", limit_bytes: MAX_PACK_BYTES };

/// The element type of a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DType {
    /// IEEE single.
    F32,
    /// IEEE half.
    F16,
    /// 32 bits without sign.
    U32,
    /// 32 bits with sign.
    I32,
    /// 16 bits without sign.
    U16,
    /// 8 bits without sign.
    U8,
    /// 8 bits with sign.
    I8,
}

impl DType {
    const ALL: [DType; 7] = [DType::F32, DType::F16, DType::U32, DType::I32, DType::U16, DType::U8, DType::I8];

    /// The name that the header uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::U32 => "u32",
            DType::I32 => "i32",
            DType::U16 => "u16",
            DType::U8 => "u8",
            DType::I8 => "i8",
        }
    }

    /// The size of one element.
    #[must_use]
    pub fn size_bytes(self) -> usize {
        match self {
            DType::F32 | DType::U32 | DType::I32 => 4,
            DType::F16 | DType::U16 => 2,
            DType::U8 | DType::I8 => 1,
        }
    }
}

/// One entry of the blob table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Unique within the pack.
    pub name: String,
    /// The element type.
    pub dtype: DType,
    /// The dimensions; their product times the element size is the blob's length.
    pub shape: Vec<u64>,
    range: Range<usize>,
}

impl Blob {
    /// How many elements.
    #[must_use]
    pub fn count(&self) -> usize {
        self.range.len() / self.dtype.size_bytes()
    }

    /// The length without padding.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.range.len()
    }
}

/// Header fields as text, in file order.
pub(crate) type Object = IndexMap<String, Box<RawValue>>;

/// A container whose lengths and blob table hold together.
///
/// Two containers are equal when their bytes are.
#[derive(Clone)]
pub struct Aosrig {
    header: Object,
    blobs: IndexMap<String, Blob>,
    bytes: Vec<u8>,
}

impl PartialEq for Aosrig {
    fn eq(&self, other: &Aosrig) -> bool {
        self.bytes == other.bytes
    }
}

impl fmt::Debug for Aosrig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blobs: Vec<_> =
            self.blobs.values().map(|b| format!("{} {} {:?}", b.name, b.dtype.name(), b.shape)).collect();
        f.debug_struct("Aosrig").field("bytes", &self.bytes.len()).field("blobs", &blobs).finish_non_exhaustive()
    }
}

impl Aosrig {
    /// Reads the frame; the bytes are kept, not copied.
    ///
    /// # Errors
    /// `Format` for other files, `Version` for another version or model, `Truncated` when a length does not match the bytes, `Corrupt` for a header that is not JSON, duplicate names
    /// and overlaps, `Shape` and `Type` for a blob table entry that contradicts itself.
    pub fn read(bytes: Vec<u8>) -> Result<Aosrig, LoadError> {
        let header_end = PREFIX.check(&bytes)?;
        let header = read_header(&bytes[PackPrefix::BYTES..header_end])?;
        check_stated(&header, "version", "1")?;
        check_stated(&header, "model", "\"gnm\"")?;
        let blobs = read_blobs(&header, bytes.len())?;
        check_overlaps(&blobs, header_end)?;
        Ok(Aosrig { header, blobs, bytes })
    }

    /// The container as bytes: header keys and blobs in their order, the blob table and all padding made anew.
    ///
    /// What a writer of this format made comes back byte for byte; gaps and spacing that the format allows but no writer makes do not.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let blobs: Vec<_> = self.blobs.values().map(|b| (b, self.data(b))).collect();
        encode(&self.header, &blobs)
    }

    /// The blob of that name.
    #[must_use]
    pub fn blob(&self, name: &str) -> Option<&Blob> {
        self.blobs.get(name)
    }

    /// All blobs in table order, those that no reader here knows included.
    pub fn blobs(&self) -> impl Iterator<Item = &Blob> {
        self.blobs.values()
    }

    /// The bytes of a blob of this container, without padding.
    #[must_use]
    pub fn data(&self, blob: &Blob) -> &[u8] {
        &self.bytes[blob.range.clone()]
    }

    /// The whole container.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn header(&self) -> &Object {
        &self.header
    }
}

fn read_header(text: &[u8]) -> Result<Object, LoadError> {
    let invalid = |e: &dyn fmt::Display| {
        LoadError::new(LoadErrorKind::Corrupt, "header", "a JSON object", format!("header is not valid JSON: {e}"))
    };
    let text = std::str::from_utf8(text).map_err(|e| invalid(&e))?;
    // A writer whose offsets lose a digit between two passes leaves zeros inside the stated length.
    parse_object(text.trim_end_matches('\0')).map_err(|e| invalid(&e))
}

/// Another version or model may have another blob table, so this comes before anything else in the header.
fn check_stated(header: &Object, key: &str, expected: &str) -> Result<(), LoadError> {
    let found = header.get(key).map_or("none", |raw| raw.get());
    if found == expected { Ok(()) } else { Err(LoadError::new(LoadErrorKind::Version, key, expected, found)) }
}

/// A JSON object as text per field; a key given twice is an error.
pub(crate) fn parse_object(text: &str) -> Result<Object, serde_json::Error> {
    struct Unique(Object);
    struct UniqueVisitor;
    impl<'de> Visitor<'de> for UniqueVisitor {
        type Value = Unique;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique, A::Error> {
            let mut object = Object::new();
            while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                if object.contains_key(&key) {
                    return Err(de::Error::custom(format_args!("duplicate key \"{key}\"")));
                }
                object.insert(key, value);
            }
            Ok(Unique(object))
        }
    }
    impl<'de> Deserialize<'de> for Unique {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Unique, D::Error> {
            deserializer.deserialize_map(UniqueVisitor)
        }
    }
    serde_json::from_str::<Unique>(text).map(|u| u.0)
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    name: String,
    dtype: String,
    shape: Vec<u64>,
    offset: u64,
    byte_length: u64,
}

fn read_blobs(header: &Object, total_bytes: usize) -> Result<IndexMap<String, Blob>, LoadError> {
    let missing = || LoadError::new(LoadErrorKind::Missing, "header", "a field \"buffers\"", "none");
    let raw = header.get("buffers").ok_or_else(missing)?;
    let entries: Vec<&RawValue> = serde_json::from_str(raw.get())
        .map_err(|_| LoadError::new(LoadErrorKind::Type, "buffers", "a list of buffers", raw))?;
    if entries.len() > MAX_BLOBS {
        let expected = format!("at most {MAX_BLOBS} buffers");
        return Err(LoadError::new(LoadErrorKind::Unsupported, "buffers", expected, entries.len()));
    }
    let mut blobs = IndexMap::new();
    for (i, raw) in entries.into_iter().enumerate() {
        let entry: Entry = serde_json::from_str(raw.get()).map_err(|e| {
            let expected = "name and dtype, and shape, offset and byteLength as whole numbers that are not negative";
            LoadError::new(LoadErrorKind::Type, format!("buffers[{i}]"), expected, format!("{e} in {raw}"))
        })?;
        let blob = check_entry(entry, total_bytes)?;
        if let Some(first) = blobs.insert(blob.name.clone(), blob) {
            let field = format!("buffer \"{}\"", first.name);
            return Err(LoadError::new(LoadErrorKind::Corrupt, field, "one entry", "a duplicate name"));
        }
    }
    Ok(blobs)
}

fn check_entry(entry: Entry, total_bytes: usize) -> Result<Blob, LoadError> {
    let field = format!("buffer \"{}\"", entry.name);
    let error = |kind, expected: &str, found: String| Err(LoadError::new(kind, field, expected, found));
    let Some(dtype) = DType::ALL.into_iter().find(|d| d.name() == entry.dtype) else {
        let expected = "dtype f32, f16, u32, i32, u16, u8 or i8";
        return error(LoadErrorKind::Type, expected, format!("\"{}\"", entry.dtype));
    };
    let bytes = entry.shape.iter().try_fold(dtype.size_bytes() as u64, |n, &d| n.checked_mul(d));
    if bytes != Some(entry.byte_length) {
        let expected = format!("byteLength of shape {:?} in {}", entry.shape, dtype.name());
        return error(LoadErrorKind::Shape, &expected, entry.byte_length.to_string());
    }
    if !entry.offset.is_multiple_of(PackPrefix::ALIGNMENT_BYTES as u64) {
        return error(LoadErrorKind::Corrupt, "an offset that is a multiple of 8", entry.offset.to_string());
    }
    match entry.offset.checked_add(entry.byte_length).filter(|&end| end <= total_bytes as u64) {
        Some(end) => {
            let range = entry.offset as usize..end as usize;
            Ok(Blob { name: entry.name, dtype, shape: entry.shape, range })
        }
        None => {
            let found = format!("offset {} + {}: runs past the end", entry.offset, entry.byte_length);
            error(LoadErrorKind::Truncated, &format!("to end by byte {total_bytes}"), found)
        }
    }
}

/// Blobs may lie in any order and with gaps, but no byte belongs to two of them or to the header. Those without bytes overlap nothing.
fn check_overlaps(blobs: &IndexMap<String, Blob>, header_end: usize) -> Result<(), LoadError> {
    let mut by_offset: Vec<&Blob> = blobs.values().filter(|b| !b.range.is_empty()).collect();
    by_offset.sort_by_key(|b| b.range.start);
    let mut end = header_end;
    let mut before = "the header";
    for blob in by_offset {
        if blob.range.start < end {
            let field = format!("buffer \"{}\"", blob.name);
            let found = format!("{}: overlaps {before}", blob.range.start);
            return Err(LoadError::new(LoadErrorKind::Corrupt, field, format!("an offset of {end} or more"), found));
        }
        (end, before) = (blob.range.end, &blob.name);
    }
    Ok(())
}

/// A container under construction.
#[derive(Default)]
pub(crate) struct Writer<'a> {
    header: Object,
    blobs: Vec<(Blob, Cow<'a, [u8]>)>,
}

impl<'a> Writer<'a> {
    /// Adds a header field.
    pub(crate) fn field(&mut self, key: &str, value: &impl serde::Serialize) {
        let raw = serde_json::value::to_raw_value(value)
            .expect("header fields have string keys and cannot fail to serialise");
        self.header.insert(key.into(), raw);
    }

    /// Adds a blob of little-endian elements.
    pub(crate) fn blob(&mut self, name: &str, dtype: DType, shape: &[usize], data: impl Into<Cow<'a, [u8]>>) {
        let data = data.into();
        let shape = shape.iter().map(|&d| d as u64).collect();
        self.blobs.push((Blob { name: name.into(), dtype, shape, range: 0..data.len() }, data));
    }

    /// The container's bytes.
    pub(crate) fn finish(&self) -> Result<Vec<u8>, LoadError> {
        let bytes = encode(&self.header, &self.blobs.iter().map(|(b, d)| (b, &**d)).collect::<Vec<_>>());
        if bytes.len() > MAX_PACK_BYTES {
            let expected = format!("at most {MAX_PACK_BYTES} bytes in one pack");
            return Err(LoadError::new(LoadErrorKind::Unsupported, "totalLen", expected, bytes.len()));
        }
        Ok(bytes)
    }
}

fn encode(header: &Object, blobs: &[(&Blob, &[u8])]) -> Vec<u8> {
    let data: Vec<&[u8]> = blobs.iter().map(|(_, data)| *data).collect();
    PREFIX.encode(&data, |offsets| header_text(header, blobs, offsets))
}

fn header_text(header: &Object, blobs: &[(&Blob, &[u8])], offsets: &[usize]) -> String {
    let quoted = |s: &str| serde_json::Value::from(s).to_string();
    let entries = blobs.iter().zip(offsets).map(|((blob, data), offset)| {
        let shape: Vec<String> = blob.shape.iter().map(u64::to_string).collect();
        format!(
            r#"{{"name":{},"dtype":"{}","shape":[{}],"offset":{offset},"byteLength":{}}}"#,
            quoted(&blob.name),
            blob.dtype.name(),
            shape.join(","),
            data.len()
        )
    });
    let buffers = format!("[{}]", entries.collect::<Vec<_>>().join(","));
    let mut fields: Vec<String> = header
        .iter()
        .map(|(key, raw)| format!("{}:{}", quoted(key), if key == "buffers" { &buffers } else { raw.get() }))
        .collect();
    if !header.contains_key("buffers") {
        fields.push(format!("\"buffers\":{buffers}"));
    }
    format!("{{{}}}", fields.join(","))
}
