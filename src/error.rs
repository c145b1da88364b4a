//! The error types: what can go wrong when a file is loaded, when controls are set, and when a device is too small.
//!
//! Every message is one line that says what was looked at, what was expected and what was found.

use std::fmt;

/// Why a file was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// The file could not be read at all, or a path leaves the folder it must stay in.
    Io,
    /// The bytes are not this format: another magic, a Git-LFS pointer, an HTML page.
    Format,
    /// The format is right, its version or variant is not one that is read here.
    Version,
    /// Bytes are missing, or a length does not match the bytes that are there.
    Truncated,
    /// A needed field, array or section is absent.
    Missing,
    /// An array has another shape or count than the rest of the file implies.
    Shape,
    /// An array has an element type that this field does not take.
    Type,
    /// A number lies outside its range: an index, a parent, a weight, a NaN.
    Value,
    /// The bytes contradict themselves: a checksum, duplicate names, overlapping sections.
    Corrupt,
    /// A valid file that uses something not supported here.
    Unsupported,
}

/// A file that was refused: which file, which field, what was expected and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// The class of the failure, for code that wants to react to it.
    pub kind: LoadErrorKind,
    /// The file, where the caller knows its name ([`LoadError::in_file`]); loaders take bytes and leave it empty.
    pub file: String,
    /// The field, array, section or member that is wrong.
    pub field: String,
    /// What would have been right.
    pub expected: String,
    /// What is there.
    pub found: String,
}

impl LoadError {
    /// An error about `field` in a file whose name is not known yet.
    pub fn new(
        kind: LoadErrorKind,
        field: impl Into<String>,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) -> Self {
        LoadError {
            kind,
            file: String::new(),
            field: field.into(),
            expected: one_line(expected),
            found: one_line(found),
        }
    }

    /// The same error with the name of the file it is about; an outer call never overwrites an inner name.
    #[must_use]
    pub fn in_file(mut self, name: impl fmt::Display) -> Self {
        if self.file.is_empty() {
            self.file = one_line(name);
        }
        self
    }

    /// The same error with `prefix` before its field: the array inside a member, the member inside an archive.
    #[must_use]
    pub fn within(mut self, prefix: impl fmt::Display) -> Self {
        self.field = if self.field.is_empty() { prefix.to_string() } else { format!("{prefix}: {}", self.field) };
        self
    }
}

/// Text from a file may hold line breaks, control characters or a megabyte of noise; a message is one short line.
pub(crate) fn one_line(text: impl fmt::Display) -> String {
    const LIMIT: usize = 200;
    let text = text.to_string();
    let mut line: String = text.chars().take(LIMIT).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(LIMIT).is_some() {
        line.push_str("...");
    }
    line
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}: ", self.file)?;
        }
        if !self.field.is_empty() {
            write!(f, "{}: ", one_line(&self.field))?;
        }
        write!(f, "expected {}, got {}", self.expected, self.found)
    }
}

impl std::error::Error for LoadError {}

/// Controls or joints that a rig refused; what was set before stays in place.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// A vector has another length than the rig or the model takes.
    #[error("{what}: expected {expected} values, got {got}")]
    Length {
        /// Which vector: `controls`, `expression`, `identity`, ...
        what: &'static str,
        /// The length that is taken.
        expected: usize,
        /// The length that was given.
        got: usize,
    },
    /// A value is NaN or infinite.
    #[error("{what}[{index}]: expected a finite number, got {value}")]
    NotFinite {
        /// Which vector.
        what: &'static str,
        /// Its index in that vector.
        index: usize,
        /// The value.
        value: f32,
    },
    /// A quaternion, of an override or among the controls, that is zero or not finite and so names no rotation.
    #[error("rotation of joint \"{joint}\": expected a non-zero finite quaternion, got {got}")]
    Quaternion {
        /// The joint's name.
        joint: String,
        /// The quaternion as w, x, y, z.
        got: String,
    },
    /// One joint named twice in one list.
    #[error("joint \"{joint}\": expected at most one entry, got two")]
    DuplicateJoint {
        /// The joint's name.
        joint: String,
    },
    /// A joint index that the rig does not have.
    #[error("joint id {got}: expected below {joint_count}")]
    JointId {
        /// The index.
        got: usize,
        /// How many joints there are.
        joint_count: usize,
    },
    /// A raw control index that the rig does not have.
    #[error("raw control {got}: expected below {raw_count}")]
    RawControl {
        /// The index.
        got: usize,
        /// How many raw controls there are.
        raw_count: usize,
    },
    /// A vector of one expression space sent to a rig of another, with no map between them.
    #[error("expression space: {given} vectors cannot drive this {rig} rig: {missing}")]
    Space {
        /// The space the vector is in.
        given: String,
        /// The rig or space that was to take it.
        rig: String,
        /// What is missing to make it work.
        missing: String,
    },
}

impl ControlError {
    /// Checks that a vector has a length and holds finite numbers only.
    ///
    /// # Errors
    /// `Length`, `NotFinite`.
    pub(crate) fn check(what: &'static str, values: &[f32], expected: usize) -> Result<(), ControlError> {
        if values.len() != expected {
            return Err(ControlError::Length { what, expected, got: values.len() });
        }
        match values.iter().position(|v| !v.is_finite()) {
            Some(index) => Err(ControlError::NotFinite { what, index, value: values[index] }),
            None => Ok(()),
        }
    }
}

/// A device limit that a rig with this many instances would break, found before any GPU call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("device limit {limit}: {what} needs {needed}, the device has {available}")]
pub struct LimitError {
    /// The name of the limit as WebGPU and `wgpu::Limits` spell it.
    pub limit: &'static str,
    /// What runs into it: a buffer or a dispatch, with the counts that make its size.
    pub what: String,
    /// How much would be needed.
    pub needed: u64,
    /// How much the device allows.
    pub available: u64,
}

/// Why a backend could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The device is too small.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// No instance at all was asked for.
    #[error("instances: expected at least 1, got 0")]
    NoInstances,
    /// A rig without a vertex.
    #[error("vertices: expected at least 1, got 0")]
    NoVertices,
    /// A rig whose deltas are floats, which only the CPU reference takes.
    #[error("deltas: expected packed ones (i16 or i8), got f32")]
    FloatDeltas,
    /// Normals were asked for, of a rig that has no triangles to take them from.
    #[error("normals: expected a rig with faces, got one without (a lean pack)")]
    NoFaces,
}

/// Why the device of `gpu::headless` did not deliver.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// No adapter of the wanted sort exists.
    #[error(
        "GPU: expected {wanted} adapter, found none; install a driver (Mesa's mesa-vulkan-drivers runs on any CPU)"
    )]
    NoAdapter {
        /// Which sort was wanted.
        wanted: &'static str,
    },
    /// The adapter gave no device with the default limits.
    #[error("GPU {adapter}: expected a device with the WebGPU default limits, got: {reason}")]
    Open {
        /// The adapter's name.
        adapter: String,
        /// What the driver said.
        reason: String,
    },
    /// The device is gone.
    #[error("GPU device lost: {reason}")]
    Lost {
        /// What is known about it.
        reason: String,
    },
    /// The device did not finish in time.
    #[error("GPU: expected the work to be done within {seconds} s, it was not")]
    Timeout {
        /// The bound.
        seconds: f32,
    },
    /// A call was refused by the device; the first such error.
    #[error("GPU error: {message}")]
    Reported {
        /// What it said.
        message: String,
    },
}
