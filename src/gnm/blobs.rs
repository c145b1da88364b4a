//! Blobs as typed arrays: element types that a field takes, counts, finite numbers, index ranges.

use super::aosrig::{Aosrig, Blob, DType};
use crate::error::{LoadError, LoadErrorKind};
use half::f16;
use std::fmt::Display;

/// The blobs of one container, by name.
pub(super) struct Blobs<'a>(pub &'a Aosrig);

fn error(kind: LoadErrorKind, name: &str, expected: impl Display, found: impl Display) -> LoadError {
    LoadError::new(kind, format!("buffer \"{name}\""), expected, found)
}

impl<'a> Blobs<'a> {
    /// A blob of one of these element types.
    pub(super) fn typed(&self, name: &str, types: &[DType]) -> Result<&'a Blob, LoadError> {
        let missing = || {
            let found = format!("pack has no \"{name}\" buffer");
            LoadError::new(LoadErrorKind::Missing, "buffers", format!("one named \"{name}\""), found)
        };
        let blob = self.0.blob(name).ok_or_else(missing)?;
        if !types.contains(&blob.dtype) {
            let names: Vec<_> = types.iter().map(|t| t.name()).collect();
            return Err(error(LoadErrorKind::Type, name, format!("dtype {}", names.join(" or ")), blob.dtype.name()));
        }
        Ok(blob)
    }

    /// The bytes of a blob of this shape. A flat list and another split of the inner dimensions pass; another outer dimension does not, so that
    /// a transposed array is not mistaken for the right one.
    pub(super) fn shaped(&self, name: &str, types: &[DType], shape: &[usize]) -> Result<&'a [u8], LoadError> {
        let blob = self.typed(name, types)?;
        let outer = shape.first().map_or(1, |&n| n as u64);
        let count = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d as u64));
        let fits = count == Some(blob.count() as u64) && (blob.shape.len() == 1 || blob.shape.first() == Some(&outer));
        if !fits {
            let found = format!("{} as {:?}", blob.count(), blob.shape);
            let expected = format!("{} values as {shape:?}", count.map_or("too many".into(), |n| n.to_string()));
            return Err(error(LoadErrorKind::Shape, name, expected, found));
        }
        Ok(self.0.data(blob))
    }

    /// f32, from halves too where the field takes them; all finite.
    pub(super) fn floats(&self, name: &str, types: &[DType], shape: &[usize]) -> Result<Vec<f32>, LoadError> {
        let bytes = self.shaped(name, types, shape)?;
        let values: Vec<f32> = match self.typed(name, types)?.dtype {
            DType::F16 => halves(bytes).map(f32::from).collect(),
            _ => bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect(),
        };
        match values.iter().position(|x| !x.is_finite()) {
            Some(i) => Err(error(LoadErrorKind::Value, name, "finite numbers", format!("{} at {i}", values[i]))),
            None => Ok(values),
        }
    }

    /// (n, 3) f32 or f16.
    pub(super) fn points(&self, name: &str, count: usize) -> Result<Vec<[f32; 3]>, LoadError> {
        Ok(self.floats(name, &[DType::F32, DType::F16], &[count, 3])?.as_chunks().0.to_vec())
    }

    /// Whole numbers without sign, widened; with a count, exactly that many.
    pub(super) fn indices(&self, name: &str, count: Option<usize>) -> Result<Vec<u32>, LoadError> {
        let types = [DType::U32, DType::U16, DType::U8];
        let blob = self.typed(name, &types)?;
        let bytes = count.map_or_else(|| Ok(self.0.data(blob)), |n| self.shaped(name, &types, &[n]))?;
        Ok(match blob.dtype {
            DType::U8 => bytes.iter().map(|&b| b.into()).collect(),
            DType::U16 => bytes.as_chunks().0.iter().map(|b| u16::from_le_bytes(*b).into()).collect(),
            _ => bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect(),
        })
    }

    /// Indices of vertices.
    pub(super) fn vertex_indices(&self, name: &str, vertex_count: usize) -> Result<Vec<u32>, LoadError> {
        let values = self.indices(name, None)?;
        match values.iter().position(|&v| v as usize >= vertex_count) {
            Some(i) => {
                let expected = format!("vertices below {vertex_count}");
                Err(error(LoadErrorKind::Value, name, expected, format!("{} at {i}", values[i])))
            }
            None => Ok(values),
        }
    }

    /// Polygons of N corners: (n, N), or a flat list.
    pub(super) fn polygons<const N: usize>(&self, name: &str, vertex_count: usize) -> Result<Vec<[u32; N]>, LoadError> {
        let values = self.vertex_indices(name, vertex_count)?;
        let (rows, rest) = values.as_chunks::<N>();
        let shape = self.0.blob(name).map_or(&[][..], |b| &b.shape);
        if !rest.is_empty() || (shape.len() > 1 && shape.last() != Some(&(N as u64))) {
            let found = format!("{} as {shape:?}", values.len());
            return Err(error(LoadErrorKind::Shape, name, format!("a multiple of {N} values as [n, {N}]"), found));
        }
        Ok(rows.to_vec())
    }
}

/// Little-endian halves.
pub(super) fn halves(bytes: &[u8]) -> impl Iterator<Item = f16> {
    bytes.as_chunks().0.iter().map(|b| f16::from_le_bytes(*b))
}
