//! The MetaHuman rig: DNA files and what is computed from them.

pub mod dna;
pub mod riglogic;
