//! The MetaHuman rig: DNA files and what is computed from them.

pub mod cpu;
pub mod dna;
pub mod mesh;
pub mod model;
pub mod pose;
pub mod riglogic;
