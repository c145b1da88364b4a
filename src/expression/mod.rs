//! Control spaces, their names, and maps between them.
//!
//! A rig takes one vector: its controls. What a capture or a model sends is another one: 52 ARKit weights in some order, 68 reduced GNM
//! coefficients, or the controls themselves. A [`ControlSpace`] says which, and an [`ExpressionMap`] turns such a vector into controls.
//! The space is always stated and never guessed from the width of a vector: 68 values that mean the reduced view would look nearly right as
//! the first 68 of 387, and be wrong.
//!
//! ```
//! use rigeval::expression::{ArkitColumns, ArkitMap, ArkitOrder, ArkitShape, ControlSpace, ExpressionMap, GnmRegions};
//!
//! let layout = GnmRegions::full(); // of a pack: GnmRegions::new with the names and counts of its regions
//! let space = ControlSpace::arkit52(ArkitColumns::of(ArkitOrder::MediaPipe));
//! let map = ExpressionMap::new(space, Some(ArkitMap::HandMade), &layout)?;
//!
//! let mut weights = vec![0.0; map.space().dim()];
//! weights[map.space().column(ArkitShape::JawOpen).unwrap()] = 0.5;
//! let mut controls = vec![0.0; layout.dim()];
//! map.controls(&weights, &mut controls)?;
//! assert_eq!(controls[layout.slot("lower_face", 9).unwrap()], 1.5);
//! # Ok::<(), rigeval::error::ControlError>(())
//! ```
//!
//! A MetaHuman rig takes ARKit weights through its raw controls: [`ExpressionMap::arkit_to_orl`] goes by their names, so the rig is to be opened on
//! its raw layer. A glTF rig takes them through its morph targets and eye joints: [`ExpressionMap::arkit_to_gltf`].

pub mod arkit;
pub mod arkit_to_gltf;
pub mod arkit_to_gnm;
pub mod arkit_to_orl;
pub mod fitted;
pub mod gnm;
pub mod look_at;
pub mod map;
pub mod performance;
pub mod space;

pub use arkit::{ArkitColumns, ArkitOrder, ArkitShape};
pub use arkit_to_gltf::{EyeTurn, MorphTarget, OCULUS_VISEMES, oculus_visemes};
pub use arkit_to_gnm::ArkitSlots;
pub use fitted::FittedTable;
pub use gnm::{GnmNames, GnmRegions};
pub use look_at::{Gaze, look_at};
pub use map::{ArkitMap, ExpressionMap};
pub use space::{ControlSpace, Segment, SpaceKind};
