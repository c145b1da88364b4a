//! The header of one `.npy`, before its data is touched.

use crate::error::{LoadError, LoadErrorKind};
use npyz::{DType, NpyHeader, Order, TypeChar};
use std::fmt;
use std::io::Read;

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy refuses headers above 10,000 characters; no array read here needs a tenth of that.
const HEADER_LIMIT_BYTES: usize = 1 << 16;

/// Characters of one text; the longest name in any model has about 40.
const LONGEST_TEXT: u64 = 4096;

/// What kind of element an array has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// f16, f32 or f64.
    Float,
    /// Any integer width.
    Integer,
    /// One byte, 0 or 1.
    Bool,
    /// Unicode text.
    Text,
}

/// Shape and element type of an array, read without its data.
#[derive(Clone)]
pub struct Header {
    pub(super) npy: NpyHeader,
    shape: Vec<usize>,
    element: Element,
    item_bytes: usize,
    count: usize,
}

impl Header {
    /// Reads up to the first data byte.
    pub(super) fn read(reader: &mut impl Read) -> Result<Header, LoadError> {
        let bytes = header_bytes(reader)?;
        check_text(&bytes)?;
        let npy = NpyHeader::from_reader(&bytes[..])
            .map_err(|e| error(LoadErrorKind::Format, "an NPY header {descr, fortran_order, shape}", e))?;
        let (element, item_bytes) = element(&npy.dtype())?;
        let to_usize = |&n: &u64| {
            usize::try_from(n).map_err(|_| error(LoadErrorKind::Shape, "dimensions that can be addressed", n))
        };
        let shape = npy.shape().iter().map(to_usize).collect::<Result<Vec<_>, _>>()?;
        let overflow = || error(LoadErrorKind::Shape, "a size that can be addressed", format!("shape {shape:?}"));
        let count = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).ok_or_else(overflow)?;
        count.checked_mul(item_bytes).ok_or_else(overflow)?;
        Ok(Header { npy, shape, element, item_bytes, count })
    }

    /// The dimensions; empty for a scalar.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The kind of element.
    #[must_use]
    pub fn element(&self) -> Element {
        self.element
    }

    /// NumPy's name of the element type: `<f4`, `>i8`, `<U21`.
    #[must_use]
    pub fn descr(&self) -> String {
        match self.npy.dtype() {
            DType::Plain(t) => t.to_string(),
            other => other.descr(),
        }
    }

    /// How many elements there are.
    #[must_use]
    pub fn element_count(&self) -> usize {
        self.count
    }

    /// How many bytes of data follow the header.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.count * self.item_bytes
    }

    pub(super) fn fortran_order(&self) -> bool {
        self.npy.order() == Order::Fortran
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Header").field("descr", &self.descr()).field("shape", &self.shape).finish_non_exhaustive()
    }
}

fn header_bytes(reader: &mut impl Read) -> Result<Vec<u8>, LoadError> {
    let mut read = |n: usize| {
        let mut bytes = vec![0; n];
        reader.read_exact(&mut bytes).map_err(|e| super::npz::io_error("header", e)).map(|()| bytes)
    };
    let mut bytes = read(8)?;
    if !bytes.starts_with(MAGIC) {
        return Err(error(LoadErrorKind::Format, "an array in NPY format", super::describe(&bytes)));
    }
    let length = match (bytes[6], bytes[7]) {
        (1, 0) => read(2)?,
        (2 | 3, 0) => read(4)?,
        (major, minor) => {
            return Err(error(LoadErrorKind::Version, "NPY version 1.0, 2.0 or 3.0", format!("{major}.{minor}")));
        }
    };
    let text_bytes = length.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b));
    if text_bytes > HEADER_LIMIT_BYTES {
        return Err(error(LoadErrorKind::Corrupt, format!("at most {HEADER_LIMIT_BYTES} header bytes"), text_bytes));
    }
    bytes.extend(length);
    bytes.extend(read(text_bytes)?);
    Ok(bytes)
}

/// Refuses what `npyz` would take too seriously: its parser recurses on brackets, and multiplies dimensions unchecked.
///
/// Four bits per digit, added over all numbers, bound the product of any of them.
fn check_text(bytes: &[u8]) -> Result<(), LoadError> {
    const BRACKETS: usize = 8;
    const BITS: usize = 63;
    let text = &bytes[8..];
    let brackets = text.iter().filter(|b| b"([{".contains(b)).count();
    if brackets > BRACKETS || text.contains(&b'\\') {
        return Err(error(LoadErrorKind::Format, "a plain NPY header", "nested brackets or escapes"));
    }
    let words = text.split(|b| !(b.is_ascii_alphanumeric() || *b == b'_'));
    let digits: usize = words.filter(|w| w.first().is_some_and(u8::is_ascii_digit)).map(<[u8]>::len).sum();
    if 4 * digits > BITS {
        return Err(error(
            LoadErrorKind::Shape,
            "dimensions of at most 15 digits together",
            format!("{digits} digits"),
        ));
    }
    Ok(())
}

fn element(dtype: &DType) -> Result<(Element, usize), LoadError> {
    let refuse = |found: String| Err(error(LoadErrorKind::Type, "floats, integers, bool or unicode text", found));
    if dtype.uses_pickled_array() {
        return refuse("an object array (it would need unpickling)".into());
    }
    let DType::Plain(t) = dtype else { return refuse(format!("the structured type {}", dtype.descr())) };
    let bytes = dtype.num_bytes().unwrap_or(usize::MAX);
    match (t.type_char(), t.size_field()) {
        (TypeChar::Float, 2 | 4 | 8) => Ok((Element::Float, bytes)),
        (TypeChar::Int | TypeChar::Uint, _) => Ok((Element::Integer, bytes)),
        (TypeChar::Bool, _) => Ok((Element::Bool, bytes)),
        // Elements of no bytes would let a header promise any number of them; a zip packs endless ones a thousandfold.
        (TypeChar::UnicodeStr, 1..=LONGEST_TEXT) => Ok((Element::Text, bytes)),
        _ => refuse(format!("\"{t}\"")),
    }
}

fn error(kind: LoadErrorKind, expected: impl fmt::Display, found: impl fmt::Display) -> LoadError {
    LoadError::new(kind, "header", expected, found)
}
