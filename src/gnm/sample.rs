//! The procedural head as a GNM model.
