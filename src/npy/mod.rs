//! What of `.npy` and `.npz` is accepted, and the clear refusal of the rest.
//!
//! Read: NPY 1.0, 2.0 and 3.0; floats of 2, 4 and 8 bytes, integers of 1 to 8 bytes, bool and unicode arrays of any byte order, C or Fortran
//! order, any number of dimensions. Refused: object arrays (they would need unpickling), structured, complex, time and raw types.

mod decode;
mod header;
mod npz;
mod write;

pub use header::{Element, Header};
pub use npz::Npz;
pub use write::{NpzWriter, Packing, write_f32, write_f64};

use crate::error::{LoadError, LoadErrorKind};
use crate::files;

/// One array: its shape, C order, and its values widened to one of four kinds.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The dimensions; empty for a scalar.
    pub shape: Vec<usize>,
    /// The values in C order, whatever order the file had.
    pub values: Values,
}

/// The values of an [`Array`].
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// From f16 or f32.
    F32(Vec<f32>),
    /// From f64.
    F64(Vec<f64>),
    /// From any integer width or bool.
    Int(Vec<i64>),
    /// From `<U` arrays.
    Text(Vec<String>),
}

impl Values {
    fn type_error(&self, expected: &str) -> LoadError {
        let found = match self {
            Values::F32(_) | Values::F64(_) => "floats",
            Values::Int(_) => "integers",
            Values::Text(_) => "text",
        };
        LoadError::new(LoadErrorKind::Type, "dtype", expected, found)
    }
}

impl Array {
    /// The values as f32; integers and f64 are rounded.
    ///
    /// # Errors
    /// `Type` for text.
    pub fn into_f32(self) -> Result<Vec<f32>, LoadError> {
        match self.values {
            Values::F32(v) => Ok(v),
            Values::F64(v) => Ok(v.into_iter().map(|x| x as f32).collect()),
            Values::Int(v) => Ok(v.into_iter().map(|x| x as f32).collect()),
            text @ Values::Text(_) => Err(text.type_error("numbers")),
        }
    }

    /// The values as f64.
    ///
    /// # Errors
    /// `Type` for text.
    pub fn into_f64(self) -> Result<Vec<f64>, LoadError> {
        match self.values {
            Values::F32(v) => Ok(v.into_iter().map(f64::from).collect()),
            Values::F64(v) => Ok(v),
            Values::Int(v) => Ok(v.into_iter().map(|x| x as f64).collect()),
            text @ Values::Text(_) => Err(text.type_error("numbers")),
        }
    }

    /// The values as i64.
    ///
    /// # Errors
    /// `Type` for floats and text: a float is never rounded to an index.
    pub fn into_i64(self) -> Result<Vec<i64>, LoadError> {
        match self.values {
            Values::Int(v) => Ok(v),
            other => Err(other.type_error("integers")),
        }
    }

    /// The values as u32.
    ///
    /// # Errors
    /// `Type` for floats and text, `Value` for one that is negative or too large.
    pub fn into_u32(self) -> Result<Vec<u32>, LoadError> {
        let to_u32 = |(at, x): (usize, i64)| {
            u32::try_from(x)
                .map_err(|_| LoadError::new(LoadErrorKind::Value, format!("[{at}]"), format!("0..={}", u32::MAX), x))
        };
        self.into_i64()?.into_iter().enumerate().map(to_u32).collect()
    }

    /// The values as text.
    ///
    /// # Errors
    /// `Type` for numbers.
    pub fn into_text(self) -> Result<Vec<String>, LoadError> {
        match self.values {
            Values::Text(v) => Ok(v),
            other => Err(other.type_error("text (<U)")),
        }
    }
}

/// Reads one `.npy`.
///
/// # Errors
/// `Format` for other files, `Version` for an NPY version from the future, `Type` for element types that are not read, `Truncated` for missing
/// bytes, `Corrupt` for bytes after the data.
pub fn read(bytes: &[u8]) -> Result<Array, LoadError> {
    if !bytes.starts_with(header::MAGIC) {
        return Err(LoadError::new(LoadErrorKind::Format, "", "a .npy file", describe(bytes)));
    }
    let mut data = bytes;
    let header = Header::read(&mut data)?;
    let needed = header.byte_count();
    if data.len() != needed {
        let kind = if data.len() < needed { LoadErrorKind::Truncated } else { LoadErrorKind::Corrupt };
        let expected = format!("{needed} bytes for {} of shape {:?}", header.descr(), header.shape());
        return Err(LoadError::new(kind, "data", expected, format!("{} bytes", data.len())));
    }
    decode::array(&header, &mut data)
}

/// What a file that is not the wanted one looks like.
fn describe(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "an empty file".into();
    }
    if let Some(what) = files::recognise_non_data(bytes) {
        return what.into();
    }
    if bytes.starts_with(header::MAGIC) {
        return "a bare .npy file".into();
    }
    if bytes.starts_with(b"PK") {
        return "a zip archive".into();
    }
    format!("bytes that begin with \"{}\"", bytes[..bytes.len().min(8)].escape_ascii())
}

#[cfg(test)]
mod tests;
