//! Arrays that the user names on the command line.

use crate::failure::Failure;
use rigeval::error::{LoadError, LoadErrorKind};
use rigeval::files;
use rigeval::npy::{self, Array};
use std::path::Path;

/// Reads one `.npy`.
pub fn read(path: &Path) -> Result<Array, Failure> {
    let bytes = files::read_file(path, files::MAX_FILE_BYTES)?;
    Ok(npy::read(&bytes).map_err(|e| e.in_file(path.display()))?)
}

/// Frames of a rig without controls have no bytes that would bound their number.
const MAX_EMPTY_FRAMES: usize = 1 << 10;

/// How many frames an array of `(F, rest...)` holds; `(rest...)` is one.
pub fn frame_count(array: &Array, what: &str, rest: &[usize]) -> Result<usize, LoadError> {
    match array.shape.split_first() {
        _ if array.shape == rest => Ok(1),
        Some((&frames, found)) if found == rest => Ok(frames),
        _ => {
            let dims: String = rest.iter().map(|d| format!(", {d}")).collect();
            let expected = format!("shape (frames{dims})");
            Err(LoadError::new(LoadErrorKind::Shape, what, expected, format!("shape {:?}", array.shape)))
        }
    }
}

/// Refuses the first NaN or infinity of an array of `(F, width)`, naming its frame.
pub fn check_finite(values: &[f64], what: &str, width: usize) -> Result<(), LoadError> {
    match values.iter().position(|x| !x.is_finite()) {
        Some(index) => {
            let field = format!("{what}[{}, {}]", index / width, index % width);
            Err(LoadError::new(LoadErrorKind::Value, field, "a finite number", values[index]))
        }
        None => Ok(()),
    }
}

/// An array of `(F, width)` as finite f32, with F.
pub fn rows(array: Array, what: &str, width: usize) -> Result<(Vec<f32>, usize), LoadError> {
    let frames = frame_count(&array, what, &[width])?;
    if width == 0 && frames > MAX_EMPTY_FRAMES {
        let expected = format!("at most {MAX_EMPTY_FRAMES} frames without a value");
        return Err(LoadError::new(LoadErrorKind::Unsupported, what, expected, frames));
    }
    let values = array.into_f64()?;
    check_finite(&values, what, width)?;
    let narrow: Vec<f32> = values.iter().map(|&x| x as f32).collect();
    match narrow.iter().position(|x| x.is_infinite()) {
        Some(index) => {
            let field = format!("{what}[{}, {}]", index / width, index % width);
            Err(LoadError::new(LoadErrorKind::Value, field, "a number in the range of f32", values[index]))
        }
        None => Ok((narrow, frames)),
    }
}
