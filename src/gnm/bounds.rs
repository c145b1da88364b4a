//! Bounds of a posed head from the CPU alone.
