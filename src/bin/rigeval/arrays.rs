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
