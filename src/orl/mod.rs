//! The MetaHuman rig: DNA files and what is computed from them.

pub mod bake;
pub mod container;
pub mod dna;
pub mod pack;
