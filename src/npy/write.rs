//! Arrays and archives as bytes, the same bytes for the same values.

use std::fmt::Write as _;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// NumPy aligns the data to this, so that a mapped file can be used in place.
const ALIGNMENT_BYTES: usize = 64;
const CHUNK: usize = 1 << 13;

/// A C-order f32 `.npy`.
#[must_use]
pub fn write_f32(shape: &[usize], values: &[f32]) -> Vec<u8> {
    npy(header("<f4", shape, values.len()), values, |x| x.to_le_bytes())
}

/// A C-order f64 `.npy`.
#[must_use]
pub fn write_f64(shape: &[usize], values: &[f64]) -> Vec<u8> {
    npy(header("<f8", shape, values.len()), values, |x| x.to_le_bytes())
}

fn npy<T: Copy, const B: usize>(mut bytes: Vec<u8>, values: &[T], le: impl Fn(T) -> [u8; B]) -> Vec<u8> {
    bytes.reserve_exact(values.len() * B);
    write_values(&mut bytes, values, le);
    bytes
}

/// Whether the members of an archive are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// As they are: fast.
    Stored,
    /// Deflated: small.
    Deflated,
}

/// Writes an `.npz` into memory. Timestamps are fixed: the same arrays give the same bytes.
#[derive(Debug)]
pub struct NpzWriter {
    zip: ZipWriter<Cursor<Vec<u8>>>,
    packing: Packing,
}

impl NpzWriter {
    /// An archive without members.
    #[must_use]
    pub fn new(packing: Packing) -> NpzWriter {
        NpzWriter { zip: ZipWriter::new(Cursor::new(Vec::new())), packing }
    }

    /// Adds an f32 array.
    ///
    /// # Panics
    /// When the values are not as many as the shape says, or the name is taken.
    pub fn add_f32(&mut self, name: &str, shape: &[usize], values: &[f32]) {
        self.add(name, header("<f4", shape, values.len()), values, |x| x.to_le_bytes());
    }

    /// Adds an f16 array.
    ///
    /// # Panics
    /// As [`NpzWriter::add_f32`].
    pub fn add_f16(&mut self, name: &str, shape: &[usize], values: &[half::f16]) {
        self.add(name, header("<f2", shape, values.len()), values, |x| x.to_le_bytes());
    }

    /// Adds an i32 array.
    ///
    /// # Panics
    /// As [`NpzWriter::add_f32`].
    pub fn add_i32(&mut self, name: &str, shape: &[usize], values: &[i32]) {
        self.add(name, header("<i4", shape, values.len()), values, |x| x.to_le_bytes());
    }

    /// Adds a unicode array; an empty shape and one text make a scalar.
    ///
    /// # Panics
    /// As [`NpzWriter::add_f32`].
    pub fn add_text<S: AsRef<str>>(&mut self, name: &str, shape: &[usize], values: &[S]) {
        let width = values.iter().map(|t| t.as_ref().chars().count()).max().unwrap_or(0).max(1);
        let codes: Vec<u32> = values
            .iter()
            .flat_map(|t| t.as_ref().chars().map(u32::from).chain(std::iter::repeat(0)).take(width))
            .collect();
        self.add(name, header(&format!("<U{width}"), shape, values.len()), &codes, |x| x.to_le_bytes());
    }

    /// The archive.
    ///
    /// # Panics
    /// Never: memory does not fail.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.zip.finish().expect("writing to memory").into_inner()
    }

    fn add<T: Copy, const B: usize>(&mut self, name: &str, header: Vec<u8>, values: &[T], le: impl Fn(T) -> [u8; B]) {
        let method = match self.packing {
            Packing::Stored => CompressionMethod::Stored,
            Packing::Deflated => CompressionMethod::Deflated,
        };
        let bytes = header.len() as u64 + (values.len() * B) as u64;
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .last_modified_time(DateTime::default())
            // Deflate may grow what it cannot shrink, by well under a tenth.
            .large_file(bytes > u64::from(u32::MAX) / 10 * 9);
        self.zip.start_file(format!("{name}.npy"), options).expect("a member name used once");
        self.zip.write_all(&header).expect("writing to memory");
        write_values(&mut self.zip, values, le);
    }
}

fn write_values<T: Copy, const B: usize>(out: &mut impl Write, values: &[T], le: impl Fn(T) -> [u8; B]) {
    let mut block = Vec::with_capacity(CHUNK * B);
    for chunk in values.chunks(CHUNK) {
        block.clear();
        block.extend(chunk.iter().flat_map(|&x| le(x)));
        out.write_all(&block).expect("writing to memory");
    }
}

/// Magic, version 1.0 and the header text, padded as NumPy does.
fn header(descr: &str, shape: &[usize], count: usize) -> Vec<u8> {
    assert_eq!(shape.iter().product::<usize>(), count, "values for shape {shape:?}");
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (");
    for (axis, n) in shape.iter().enumerate() {
        let separator = if axis == 0 { "" } else { " " };
        write!(text, "{separator}{n},").expect("writing to memory");
    }
    if shape.len() > 1 {
        text.pop();
    }
    text.push_str("), }");
    const PREFIX_BYTES: usize = 10;
    let length = (PREFIX_BYTES + text.len() + 1).next_multiple_of(ALIGNMENT_BYTES) - PREFIX_BYTES;
    let padding = length - 1 - text.len();
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(text.bytes());
    bytes.extend(std::iter::repeat_n(b' ', padding));
    bytes.push(b'\n');
    bytes
}
