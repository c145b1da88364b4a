//! What of `.npy` and `.npz` is accepted, and the clear refusal of the rest.

use crate::error::LoadError;

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

impl Array {
    /// The values as f32; integers and f64 are rounded.
    ///
    /// # Errors
    /// `Type` for text.
    pub fn into_f32(self) -> Result<Vec<f32>, LoadError> {
        todo!()
    }

    /// The values as f64.
    ///
    /// # Errors
    /// `Type` for text.
    pub fn into_f64(self) -> Result<Vec<f64>, LoadError> {
        todo!()
    }
}

/// Reads one `.npy`.
///
/// # Errors
/// See [`LoadError`].
pub fn read(_bytes: &[u8]) -> Result<Array, LoadError> {
    todo!()
}

/// A C-order f32 `.npy`.
#[must_use]
pub fn write_f32(_shape: &[usize], _values: &[f32]) -> Vec<u8> {
    todo!()
}
