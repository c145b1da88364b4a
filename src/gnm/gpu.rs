//! The GPU backend.
