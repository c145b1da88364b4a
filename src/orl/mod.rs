//! The MetaHuman rig: DNA files, RigLogic, packs, and the deformation on CPU and GPU.
//!
//! From file to vertices: [`dna::Dna`] is the file, [`rig::OrlRig`] a character of it (which meshes, which level, which controls),
//! [`instance::OrlInstance`] one such character's controls, solved, and [`cpu::orl_deform`] its vertices. On a device
//! `gpu::OrlDeviceModel` holds the character's data and `gpu::OrlBackend` N instances of it.
//!
//! ```
//! use rigeval::orl::{cpu, instance::OrlInstance, rig::{OrlRig, RigOptions}, sample};
//! use rigeval::head::HeadSize;
//!
//! let dna = sample::sample(HeadSize::Tiny); // or Dna::read(&bytes)
//! let rig = OrlRig::from_dna(&dna, &RigOptions::default())?; // mesh 0, its GUI controls
//! let mut face = OrlInstance::new(&rig);
//! let mut controls = rig.default_controls().to_vec();
//! controls[0] = 1.0; // what it is called: rig.controls().names()[0]
//! face.set_controls(&rig, &controls)?;
//! assert_eq!(cpu::orl_deform(rig.mesh(), face.pose()).len(), rig.mesh().vertex_count());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
