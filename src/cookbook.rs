//! Answers to "how do I", each a program that compiles; documentation only, and always there.
//!
//! The host keeps device, queue, encoder and submit in all of them.
//!
//! # Drive a head from ARKit
//!
//! A scene says what its vectors mean, so the caller sends weights and never asks which rig stands behind them. A GNM head without a fitted
//! table takes the hand-made one, and only because it is asked for.
//!
#![cfg_attr(feature = "gpu", doc = "```no_run")]
#![cfg_attr(not(feature = "gpu"), doc = "```text")]
//! use rigeval::expression::ArkitMap;
//! use rigeval::files::Files;
//! use rigeval::gpu::GpuContext;
//! use rigeval::scene::{Scene, SceneOptions, open_with};
//!
//! fn load(gpu: &GpuContext) -> Result<Scene, Box<dyn std::error::Error>> {
//!     let options = SceneOptions { arkit: Some(ArkitMap::HandMade), ..SceneOptions::default() };
//!     Ok(open_with(&Files::Folder("heads/anna".into()), gpu, 1, &options)?)
//! }
//!
//! /// `controls` has the width of the rig: `vec![0.0; scene.rig.info().control_names.len()]`, made once.
//! fn drive(scene: &mut Scene, weights: &[f32], controls: &mut [f32]) -> Result<bool, Box<dyn std::error::Error>> {
//!     scene.space.arkit()?.controls(weights, controls)?;
//!     Ok(scene.rig.set_controls(0, controls)?)
//! }
//! ```
//!
//! # Put 200 heads in a crowd
//!
//! One backend object with 200 instances is one upload and one dispatch. Instance `i` begins at `instance_offset_bytes(i)` of the position
//! buffer; its box decides whether it is drawn.
//!
#![cfg_attr(feature = "gpu", doc = "```no_run")]
#![cfg_attr(not(feature = "gpu"), doc = "```text")]
//! use rigeval::backend::RigBackend;
//! use rigeval::gnm::gpu::{GnmBackend, GnmDeviceModel, GnmOptions};
//! use rigeval::gnm::pack::GnmPack;
//! use rigeval::gpu::GpuContext;
//! use rigeval::math::Aabb;
//! use rigeval::wgpu;
//! use std::sync::Arc;
//!
//! fn crowd(gpu: &GpuContext, pack: Vec<u8>) -> Result<GnmBackend, Box<dyn std::error::Error>> {
//!     let model = Arc::new(GnmDeviceModel::new(gpu, Arc::new(GnmPack::read(pack)?))?);
//!     Ok(GnmBackend::new(gpu, &model, 200, GnmOptions::default())?)
//! }
//!
//! /// controls: (200, C). Says at which byte each head that can be seen begins.
//! fn frame(
//!     crowd: &mut dyn RigBackend,
//!     controls: &[f32],
//!     queue: &wgpu::Queue,
//!     encoder: &mut wgpu::CommandEncoder,
//!     seen: impl Fn(usize, Aabb) -> bool,
//! ) -> Result<Vec<u64>, Box<dyn std::error::Error>> {
//!     crowd.set_controls_all(controls)?;
//!     crowd.encode(queue, encoder);
//!     let view = crowd.vertices();
//!     let drawn = (0..view.instance_count).filter(|&i| seen(i, crowd.bounds(i)));
//!     Ok(drawn.map(|i| view.instance_offset_bytes(i)).collect())
//! }
//! ```
//!
//! # Check your own GPU port against our frames
//!
//! `rigeval demo --out DIR` writes a folder of frames with the rig's hash and a tolerance. Evaluate `inputs` with your port, and compare;
//! both sides say who computed them, and equal names are refused.
//!
//! ```
//! use rigeval::frames::{Comparison, Frames, Side, compare};
//!
//! /// ours: (F, V, 3), every vertex of the rig.
//! fn check(frames: &Frames, ours: &[f64], vertex_count: usize) -> Result<Comparison, Box<dyn std::error::Error>> {
//!     let reference = Side {
//!         source: "the original program",
//!         positions: &frames.vertices,
//!         frame_count: frames.frame_count,
//!         vertex_count: frames.vertex_count,
//!     };
//!     let ours = Side { source: "my port", positions: ours, frame_count: frames.frame_count, vertex_count };
//!     let manifest = &frames.manifest;
//!     let ids = frames.vertex_ids.as_deref();
//!     Ok(compare(&reference, &ours, ids, manifest.tolerance, &manifest.units)?)
//! }
//!
//! let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/gnm_tiny_frames");
//! let frames = Frames::read(&rigeval::files::Files::Folder(folder.into()))?;
//! let mut mine = frames.vertices.clone();
//! mine[0] += 0.01;
//! let found = check(&frames, &mine, frames.vertex_count)?;
//! assert!(!found.pass && found.worst.vertex == 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Bake your own identity
//!
//! A pack holds one identity; the coefficients are in sigma, an empty list is the mean head. The same with a file:
//! `rigeval bake gnm gnm_head.npz --identity me.npy -o me.aosrig`.
//!
//! ```
//! use rigeval::gnm::bake::{BakeOptions, bake};
//! use rigeval::gnm::sample::{SampleOptions, sample};
//! use rigeval::head::HeadSize;
//!
//! let model = sample(HeadSize::Tiny, SampleOptions::default()); // GnmModel::read for a file of your own
//! let mut identity = vec![0.0; model.identity_count()];
//! identity[0] = 1.5;
//! let mine = bake(&model, &identity, &BakeOptions::default(), &mut |_| {})?;
//! let mean = bake(&model, &[], &BakeOptions::default(), &mut |_| {})?;
//! assert_ne!(mine.neutral(), mean.neutral());
//! let _file: Vec<u8> = mine.write();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Play a glTF clip on a body
//!
//! A clip writes the controls that it moves and leaves the others, so that a face may be driven beside it. The vector is what
//! `set_controls` takes; the pose below is the same on the CPU.
//!
//! ```
//! use rigeval::gltf::cpu::gltf_morph;
//! use rigeval::gltf::model::GltfModel;
//! use rigeval::gltf::pose::{GltfPose, OutputSpace};
//!
//! let model = GltfModel::open(concat!(env!("CARGO_MANIFEST_DIR"), "/packs/gltf_sample.glb").as_ref())?;
//! let clip = model.clip("0").expect("the sample has one");
//! let (mut cursor, mut controls) = (clip.cursor(), model.controls().defaults().to_vec());
//! let mut pose = GltfPose::new(&model, OutputSpace::World);
//! let mut moved = 0;
//! for frame in 0..60 {
//!     let seconds = (frame as f64 / 24.0) % f64::from(clip.end()); // around again
//!     clip.sample(seconds, &mut cursor, &mut controls);
//!     moved += usize::from(pose.set_controls(&model, &controls)?);
//! }
//! assert!(moved > 30);
//! assert_eq!(gltf_morph(model.mesh(), &pose).len(), model.mesh().vertex_count());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
