//! The MetaHuman rig: DNA files, RigLogic, packs, and the CPU deformation.

pub mod bake;
pub mod bounds;
pub mod container;
pub mod controls;
pub mod cpu;
pub mod dna;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod instance;
pub mod mesh;
pub mod model;
pub mod pack;
pub mod pose;
pub mod rig;
pub mod riglogic;
pub mod sample;
pub mod shells;
