//! Reference frames: read, write, compare.
