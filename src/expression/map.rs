//! From a vector of one space to the controls of a rig.

use super::arkit_to_gltf::BoundTurn;
use super::arkit_to_gnm::{ArkitSlots, HAND_MADE_LIMIT, hand_made};
use super::fitted::{BoundTable, FittedTable};
use super::gnm::GnmRegions;
use super::space::{ControlSpace, SpaceKind};
use crate::error::ControlError;

/// How ARKit weights become GNM controls.
#[derive(Debug, Clone, PartialEq)]
pub enum ArkitMap {
    /// A scene's `arkit_map`: one control per shape, or none.
    Slots(ArkitSlots),
    /// A table fitted to the rig.
    Fitted(FittedTable),
    /// A stopgap, never applied unless asked for: picked by hand from a ranking of how far each coefficient moves one synthetic head (2 to 3 mm at
    /// weight 1), not fitted to any performance. 20 shapes move the face, 8 turn the eyes by 20 degrees per unit, 24 do nothing.
    ///
    /// Weights are clamped to 0..1, the terms summed, then each control clamped to +-4. Terms that a truncated pack has no coefficient for are
    /// dropped; without all eight `eyeLook` columns so is the whole gaze.
    HandMade,
}

/// `controls[slot] += gain * clamp(weights[column], 0, 1)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Term {
    pub(super) column: usize,
    pub(super) slot: usize,
    pub(super) gain: f32,
}

impl Term {
    pub(super) fn add_all(terms: &[Term], weights: &[f32], controls: &mut [f32]) {
        for term in terms {
            controls[term.slot] += term.gain * weights[term.column].clamp(0.0, 1.0);
        }
    }
}

/// Values that move from one place to another, unchanged.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Run {
    from: usize,
    to: usize,
    count: usize,
}

#[derive(Debug, Clone, PartialEq)]
enum Law {
    Runs(Vec<Run>),
    Terms {
        terms: Vec<Term>,
        limit: f32,
    },
    /// Terms on top of what the controls are at rest, and joints turned out of it.
    Onto {
        rest: Vec<f32>,
        terms: Vec<Term>,
        turns: Vec<BoundTurn>,
    },
    Fitted(BoundTable),
}

/// A map from the vectors of one space to the controls of one rig's layout.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpressionMap {
    space: ControlSpace,
    dim: usize,
    law: Law,
    dropped: Vec<String>,
    visemes: Vec<&'static str>,
}

impl ExpressionMap {
    /// The map from a space to a GNM rig of this layout. `arkit` serves `arkit52` spaces only, and they need one.
    ///
    /// What the rig's layout or the space's columns leave no place for is dropped: [`ExpressionMap::dropped`] names it, and so does one warning in the log.
    ///
    /// # Errors
    /// `Space`: an ARKit space without a map, a map made for another layout, a GNM space of another layout, a rig with fewer coefficients in a region than the
    /// 68 view.
    pub fn new(
        space: ControlSpace,
        arkit: Option<ArkitMap>,
        layout: &GnmRegions,
    ) -> Result<ExpressionMap, ControlError> {
        let mut dropped = Vec::new();
        let law = match (space.kind(), space.columns(), arkit) {
            (SpaceKind::Gnm, ..) if space.segments() != layout.segments() => {
                let missing = format!(
                    "the space has {} controls in its regions, the rig {} in its own",
                    space.dim(),
                    layout.dim()
                );
                return Err(refused(&space, missing));
            }
            (SpaceKind::Gnm | SpaceKind::Gnm68, ..) => Law::Runs(runs(&space, layout)?),
            (SpaceKind::Arkit52, Some(columns), Some(map)) => match map {
                ArkitMap::HandMade => {
                    let (terms, without_place) = hand_made(columns, layout);
                    dropped = without_place;
                    Law::Terms { terms, limit: HAND_MADE_LIMIT }
                }
                ArkitMap::Slots(slots) if slots.dim() == layout.dim() => {
                    Law::Terms { terms: slots.terms(columns), limit: f32::INFINITY }
                }
                ArkitMap::Slots(slots) => {
                    let missing =
                        format!("an arkit_map for {} controls; this one is for {}", layout.dim(), slots.dim());
                    return Err(refused(&space, missing));
                }
                ArkitMap::Fitted(table) if table.coefficient_count() == layout.expression_dim() => {
                    dropped = table.dropped().to_vec();
                    Law::Fitted(table.bind(columns))
                }
                ArkitMap::Fitted(table) => {
                    let (rig, own) = (layout.expression_dim(), table.coefficient_count());
                    return Err(refused(&space, format!("a fitted table of {rig} coefficients; this one has {own}")));
                }
            },
            (SpaceKind::Arkit52, ..) => {
                let missing = "an arkit_map, a fitted table, or the hand-made table asked for by name";
                return Err(refused(&space, missing.into()));
            }
        };
        if !dropped.is_empty() {
            log::warn!("ARKit to GNM: left out {}", dropped.join("; "));
        }
        Ok(ExpressionMap { space, dim: layout.dim(), law, dropped, visemes: Vec::new() })
    }

    /// A map that adds terms to what the controls are at rest.
    pub(super) fn onto(space: ControlSpace, rest: &[f32], terms: Vec<Term>, dropped: Vec<String>) -> ExpressionMap {
        let law = Law::Onto { rest: rest.to_vec(), terms, turns: Vec::new() };
        ExpressionMap { space, dim: rest.len(), law, dropped, visemes: Vec::new() }
    }

    /// The same map, turning joints too.
    pub(super) fn turning(mut self, joints: Vec<BoundTurn>) -> ExpressionMap {
        if let Law::Onto { turns, .. } = &mut self.law {
            *turns = joints;
        }
        self
    }

    /// The same map for a rig with these viseme targets.
    pub(super) fn listing(self, visemes: Vec<&'static str>) -> ExpressionMap {
        ExpressionMap { visemes, ..self }
    }

    /// The space of the vectors that this takes.
    #[must_use]
    pub fn space(&self) -> &ControlSpace {
        &self.space
    }

    /// How many controls this gives.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// What of the map had no place: terms past the rig's layout, controls that it lacks, channels that are no shape, the gaze for want of a column or
    /// of eye joints.
    #[must_use]
    pub fn dropped(&self) -> &[String] {
        &self.dropped
    }

    /// The Oculus visemes that a glTF rig has targets for, which no shape drives; none of other rigs.
    #[must_use]
    pub fn visemes(&self) -> &[&'static str] {
        &self.visemes
    }

    /// Writes the controls that a vector of this map's space stands for. Every control is written; nothing is allocated.
    ///
    /// A fitted table's linear part takes weights as they come, so that huge ones may give an infinite control, which `set_controls` refuses.
    ///
    /// # Shapes
    /// weights: (`space().dim()`), controls: (`dim()`)
    ///
    /// # Errors
    /// See [`ControlSpace::check`]; `Length` for the controls. They stay as they were.
    pub fn controls(&self, weights: &[f32], controls: &mut [f32]) -> Result<(), ControlError> {
        self.space.check(weights)?;
        if controls.len() != self.dim {
            return Err(ControlError::Length { what: "controls", expected: self.dim, got: controls.len() });
        }
        controls.fill(0.0);
        match &self.law {
            Law::Runs(runs) => {
                for &Run { from, to, count } in runs {
                    controls[to..to + count].copy_from_slice(&weights[from..from + count]);
                }
            }
            Law::Terms { terms, limit } => {
                Term::add_all(terms, weights, controls);
                // Once, after the sum: clamped term by term, opposite shapes would not cancel.
                controls.iter_mut().for_each(|control| *control = control.clamp(-limit, *limit));
            }
            Law::Onto { rest, terms, turns } => {
                controls.copy_from_slice(rest);
                Term::add_all(terms, weights, controls);
                turns.iter().for_each(|turn| turn.apply(weights, controls));
            }
            Law::Fitted(table) => table.add(weights, controls),
        }
        Ok(())
    }
}

/// Where each segment of a GNM space begins in the rig's layout.
fn runs(space: &ControlSpace, layout: &GnmRegions) -> Result<Vec<Run>, ControlError> {
    let run = |segment: &super::space::Segment| {
        let count = layout.segments().iter().find(|s| s.name == segment.name).map_or(0, |s| s.count);
        match layout.slot(&segment.name, 0) {
            Some(to) if segment.count <= count => Ok(Run { from: segment.start, to, count: segment.count }),
            _ => {
                let needed = format!("{} coefficients of region {}; the rig has {count}", segment.count, segment.name);
                Err(refused(space, needed))
            }
        }
    };
    space.segments().iter().map(run).collect()
}

fn refused(space: &ControlSpace, missing: String) -> ControlError {
    ControlError::Space { given: space.kind().name().into(), rig: "gnm".into(), missing }
}

#[cfg(test)]
mod tests {
    use super::super::arkit::{ArkitColumns, ArkitOrder, ArkitShape};
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn arkit(order: ArkitOrder) -> ControlSpace {
        ControlSpace::arkit52(ArkitColumns::of(order))
    }

    fn hand_made_map(order: ArkitOrder, layout: &GnmRegions) -> ExpressionMap {
        ExpressionMap::new(arkit(order), Some(ArkitMap::HandMade), layout).unwrap()
    }

    /// The controls that are not zero.
    fn expand(map: &ExpressionMap, weights: &[(ArkitShape, f32)]) -> Vec<(usize, f32)> {
        let mut vector = vec![0.0; map.space().dim()];
        for &(shape, weight) in weights {
            vector[map.space().column(shape).unwrap()] = weight;
        }
        let mut controls = vec![f32::NAN; map.dim()];
        map.controls(&vector, &mut controls).unwrap();
        controls.into_iter().enumerate().filter(|c| c.1 != 0.0).collect()
    }

    #[test]
    fn hand_made_expansions_match_hand_worked_numbers() {
        use ArkitShape::*;
        let full = GnmRegions::full();
        for order in [ArkitOrder::Engine, ArkitOrder::Alphabetical, ArkitOrder::LiveLinkFace] {
            let map = hand_made_map(order, &full);
            assert_eq!(expand(&map, &[(JawOpen, 0.5)]), [(201, 0.75), (209, 1.5)], "{order:?}");
            assert_eq!(expand(&map, &[(EyeBlinkRight, 1.0)]), [(102, 3.5), (105, 2.0)]);
            assert_eq!(expand(&map, &[(BrowInnerUp, 1.0)]), [(0, 1.5), (100, 1.5)]);
            assert_eq!(expand(&map, &[(JawOpen, 1.0), (MouthClose, 1.0)]), [(209, 3.0)]);
            let smile = expand(&map, &[(MouthSmileLeft, 1.0), (MouthSmileRight, 1.0)]);
            assert_eq!(smile, [(200, 2.4), (208, 1.5), (212, 1.5)]);
            assert_eq!(expand(&map, &[(MouthLeft, 0.25), (TongueOut, 0.5)]), [(202, 0.5), (351, 1.0)]);
            assert_eq!(expand(&map, &[(CheekPuff, 1.0), (MouthFunnel, 1.0)]), []);
            // Weights are clamped first: 7 counts as 1, -3 as 0.
            assert_eq!(expand(&map, &[(EyeSquintLeft, 7.0), (EyeWideLeft, -3.0)]), [(1, 2.5)]);
            assert!(map.dropped().is_empty());
        }
    }

    #[test]
    fn hand_made_expansion_follows_the_regions_of_a_reduced_pack() {
        use ArkitShape::*;
        let map = hand_made_map(ArkitOrder::Engine, &GnmRegions::reduced());
        assert_eq!(expand(&map, &[(JawOpen, 0.5)]), [(33, 0.75), (41, 1.5)]);
        assert_eq!(expand(&map, &[(EyeBlinkRight, 1.0), (TongueOut, 1.0)]), [(18, 3.5), (21, 2.0), (61, 2.0)]);
        assert!(map.dropped().is_empty());
    }

    #[test]
    fn hand_made_gaze_turns_down_and_left_by_twenty_degrees() {
        use ArkitShape::*;
        let map = hand_made_map(ArkitOrder::MediaPipe, &GnmRegions::full());
        let degrees = |weights: &[(ArkitShape, f32)]| -> Vec<(usize, f32)> {
            expand(&map, weights)
                .into_iter()
                .map(|(slot, rad)| (slot, (rad.to_degrees() * 1e4).round() / 1e4))
                .collect()
        };
        assert_eq!(degrees(&[(EyeLookDownLeft, 1.0), (EyeLookUpRight, 0.5)]), [(383, 20.0), (385, -10.0)]);
        assert_eq!(degrees(&[(EyeLookOutLeft, 1.0), (EyeLookInRight, 1.0)]), [(384, 20.0), (386, 20.0)]);
        assert_eq!(degrees(&[(EyeLookInLeft, 1.0), (EyeLookOutRight, 1.0)]), [(384, -20.0), (386, -20.0)]);
    }

    #[test]
    fn controls_are_clamped_once_after_the_sum() {
        let terms = [6.0, -5.0, 9.0].map(|gain| Term { column: 0, slot: usize::from(gain == 9.0), gain }).to_vec();
        let mut map = hand_made_map(ArkitOrder::Engine, &GnmRegions::new(&[("a", 2)]).unwrap());
        map.law = Law::Terms { terms, limit: HAND_MADE_LIMIT };
        let mut weights = vec![0.0; 52];
        weights[0] = 1.0;
        let mut controls = [f32::NAN; 6];
        map.controls(&weights, &mut controls).unwrap();
        // 6 - 5 = 1; clamped term by term it would be 4 - 4 = 0. 9 stops at 4.
        assert_eq!(controls, [1.0, 4.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn arkit_map_adds_clamped_weights_to_its_slots() {
        let mut list = vec![json!(-1); 52];
        list[ArkitShape::JawOpen as usize] = json!(7);
        list[ArkitShape::MouthFunnel as usize] = json!(7);
        list[ArkitShape::EyeLookDownLeft as usize] = json!(383);
        let slots = ArkitSlots::read(&json!(list), 387).unwrap();
        let space = arkit(ArkitOrder::Alphabetical);
        let map = ExpressionMap::new(space.clone(), Some(ArkitMap::Slots(slots.clone())), &GnmRegions::full()).unwrap();
        use ArkitShape::*;
        let weights = [(JawOpen, 0.5), (MouthFunnel, 2.0), (EyeLookDownLeft, 0.25), (JawLeft, 1.0)];
        assert_eq!(expand(&map, &weights), [(7, 1.5), (383, 0.25)]);
        let error = ExpressionMap::new(space, Some(ArkitMap::Slots(slots)), &GnmRegions::reduced()).unwrap_err();
        assert!(error.to_string().contains("387") && error.to_string().contains("68"), "{error}");
    }

    #[test]
    fn reduced_vector_expands_region_by_region() {
        let map = ExpressionMap::new(ControlSpace::gnm68(), None, &GnmRegions::full()).unwrap();
        let weights: Vec<f32> = (0..68).map(|i| i as f32 + 1.0).collect();
        let mut controls = vec![f32::NAN; 387];
        map.controls(&weights, &mut controls).unwrap();
        let places = [(0, 1.0), (15, 16.0), (16, 0.0), (100, 17.0), (116, 0.0), (200, 33.0), (227, 60.0), (228, 0.0)];
        let ends = [(350, 61.0), (352, 63.0), (353, 0.0), (382, 64.0), (383, 65.0), (384, 66.0), (386, 68.0)];
        for (slot, value) in places.into_iter().chain(ends) {
            assert_eq!(controls[slot], value, "control {slot}");
        }
        assert_eq!(controls.iter().filter(|&&c| c != 0.0).count(), 68);
    }

    #[test]
    fn reduced_vector_fits_a_reduced_pack_as_it_is() {
        let map = ExpressionMap::new(ControlSpace::gnm68(), None, &GnmRegions::reduced()).unwrap();
        let weights: Vec<f32> = (0..68).map(|i| i as f32 - 30.0).collect();
        let mut controls = vec![f32::NAN; 68];
        map.controls(&weights, &mut controls).unwrap();
        assert_eq!(controls, weights);
    }

    #[test]
    fn reduced_vector_for_a_smaller_pack_is_refused() {
        let layout =
            GnmRegions::new(&[("left_eye", 16), ("right_eye", 16), ("lower_face", 28), ("tongue", 2)]).unwrap();
        let error = ExpressionMap::new(ControlSpace::gnm68(), None, &layout).unwrap_err().to_string();
        assert!(error.contains("gnm68") && error.contains("3 coefficients of region tongue"), "{error}");
    }

    #[test]
    fn arkit_vector_without_a_map_is_refused_by_both_names() {
        let error = ExpressionMap::new(arkit(ArkitOrder::Engine), None, &GnmRegions::full()).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, ControlError::Space { .. }));
        assert!(text.contains("arkit52") && text.contains("gnm rig") && text.contains("arkit_map"), "{text}");
    }

    #[test]
    fn vectors_of_another_width_are_refused_and_leave_the_controls() {
        let full = GnmRegions::full();
        let map = ExpressionMap::new(ControlSpace::gnm(&full), None, &full).unwrap();
        let mut controls = vec![7.0; 387];
        for width in [0, 52, 68, 386, 388] {
            let error = map.controls(&vec![0.5; width], &mut controls).unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, ControlError::Space { .. }), "{width}");
            assert!(text.contains(&format!("{width}-value")) && text.contains("387"), "{text}");
            assert!(text.contains("arkit_map"), "{text}");
        }
        let arkit_map = hand_made_map(ArkitOrder::Engine, &full);
        let length = ControlError::Length { what: "arkit52 weights", expected: 52, got: 387 };
        assert_eq!(arkit_map.controls(&[0.0; 387], &mut controls), Err(length));
        let mut weights = [0.0; 52];
        weights[3] = f32::NAN;
        let error = arkit_map.controls(&weights, &mut controls).unwrap_err();
        assert!(matches!(error, ControlError::NotFinite { index: 3, .. }));
        let length = ControlError::Length { what: "controls", expected: 387, got: 68 };
        assert_eq!(arkit_map.controls(&[0.0; 52], &mut controls[..68]), Err(length));
        assert!(controls.iter().all(|&c| c == 7.0));
    }

    #[test]
    fn gnm_space_of_another_layout_is_refused() {
        let error =
            ExpressionMap::new(ControlSpace::gnm(&GnmRegions::full()), None, &GnmRegions::reduced()).unwrap_err();
        assert!(error.to_string().contains("387") && error.to_string().contains("68"), "{error}");
    }

    #[test]
    fn gnm_vector_passes_unchanged() {
        let full = GnmRegions::full();
        let map = ExpressionMap::new(ControlSpace::gnm(&full), None, &full).unwrap();
        let weights: Vec<f32> = (0..387).map(|i| 9.0 - i as f32).collect();
        let mut controls = vec![f32::NAN; 387];
        map.controls(&weights, &mut controls).unwrap();
        assert_eq!(controls, weights);
    }

    #[test]
    fn fitted_table_needs_its_own_layout() {
        use sha2::{Digest, Sha256};
        let bytes: Vec<u8> = [2.0f32, 3.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let hash: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
        let descriptor = json!({
            "sha256": hash, "bytes": 8, "version": 1, "coeffs": 2, "channels": ["jawOpen"], "pairs": [], "gaze": {},
        });
        let table = FittedTable::read(descriptor.to_string().as_bytes(), &bytes, 2).unwrap();
        let build = |count| {
            let layout = GnmRegions::new(&[("lower_face", count)]).unwrap();
            ExpressionMap::new(arkit(ArkitOrder::Alphabetical), Some(ArkitMap::Fitted(table.clone())), &layout)
        };
        assert_eq!(expand(&build(2).unwrap(), &[(ArkitShape::JawOpen, 0.5)]), [(0, 1.0), (1, 1.5)]);
        let error = build(3).unwrap_err().to_string();
        assert!(error.contains("fitted table of 3") && error.contains("has 2"), "{error}");
    }

    proptest! {
        #[test]
        fn hand_made_controls_of_any_weights_stay_within_the_limit(
            weights in prop::collection::vec(prop_oneof![0.0f32..1.0, -1e30f32..1e30], 52),
        ) {
            for layout in [GnmRegions::full(), GnmRegions::reduced()] {
                let map = hand_made_map(ArkitOrder::Engine, &layout);
                let mut controls = vec![f32::NAN; map.dim()];
                map.controls(&weights, &mut controls).unwrap();
                prop_assert!(controls.iter().all(|c| c.abs() <= HAND_MADE_LIMIT));
                let gaze = &controls[layout.expression_dim()..];
                prop_assert!(gaze.iter().all(|angle| angle.abs() <= 20.001f32.to_radians()));
            }
        }
    }
}
