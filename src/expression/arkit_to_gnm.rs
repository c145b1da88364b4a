//! Two weak maps from ARKit weights to GNM controls: the hand-made table, and a scene's one slot per shape.

use super::arkit::{ArkitColumns, ArkitShape};
use super::gnm::GnmRegions;
use super::map::Term;
use crate::error::{LoadError, LoadErrorKind};
use ArkitShape as A;

/// What the hand-made table keeps every control within, in units of a coefficient.
pub(super) const HAND_MADE_LIMIT: f32 = 4.0;

/// The gaze angle of an `eyeLook` weight of 1.
pub(super) const GAZE_RAD: f32 = 20.0 * std::f32::consts::PI / 180.0;

/// Shape, region, index within the region, gain. Every index lies inside the 68 view. 24 shapes have no entry here nor
/// in the gaze, on purpose.
const HAND_MADE: [(ArkitShape, &str, usize, f32); 26] = [
    (A::EyeBlinkLeft, "left_eye", 2, 3.5),
    (A::EyeBlinkLeft, "left_eye", 5, 2.0),
    (A::EyeBlinkRight, "right_eye", 2, 3.5),
    (A::EyeBlinkRight, "right_eye", 5, 2.0),
    (A::EyeSquintLeft, "left_eye", 1, 2.5),
    (A::EyeSquintRight, "right_eye", 1, 2.5),
    (A::EyeWideLeft, "left_eye", 2, -2.5),
    (A::EyeWideRight, "right_eye", 2, -2.5),
    (A::BrowInnerUp, "left_eye", 0, 1.5),
    (A::BrowInnerUp, "right_eye", 0, 1.5),
    (A::BrowOuterUpLeft, "left_eye", 0, 2.0),
    (A::BrowOuterUpRight, "right_eye", 0, 2.0),
    (A::BrowDownLeft, "left_eye", 0, -2.0),
    (A::BrowDownRight, "right_eye", 0, -2.0),
    (A::JawOpen, "lower_face", 9, 3.0),
    (A::JawOpen, "lower_face", 1, 1.5),
    (A::MouthClose, "lower_face", 1, -1.5),
    (A::MouthSmileLeft, "lower_face", 0, 1.2),
    (A::MouthSmileLeft, "lower_face", 8, 1.5),
    (A::MouthSmileRight, "lower_face", 0, 1.2),
    (A::MouthSmileRight, "lower_face", 12, 1.5),
    (A::MouthFrownLeft, "lower_face", 3, 1.5),
    (A::MouthFrownRight, "lower_face", 3, 1.5),
    (A::MouthLeft, "lower_face", 2, 2.0),
    (A::MouthRight, "lower_face", 2, -2.0),
    (A::TongueOut, "tongue", 1, 2.0),
];

/// Shape, gaze angle as an offset from the first one, sign: pitch is down minus up, and both yaws turn toward the character's left, which is
/// out for the left eye and in for the right one.
const HAND_MADE_GAZE: [(ArkitShape, usize, f32); 8] = [
    (A::EyeLookDownLeft, 0, 1.0),
    (A::EyeLookUpLeft, 0, -1.0),
    (A::EyeLookOutLeft, 1, 1.0),
    (A::EyeLookInLeft, 1, -1.0),
    (A::EyeLookDownRight, 2, 1.0),
    (A::EyeLookUpRight, 2, -1.0),
    (A::EyeLookInRight, 3, 1.0),
    (A::EyeLookOutRight, 3, -1.0),
];

/// The hand-made table for these columns and this layout, and what of it has no place there.
pub(super) fn hand_made(columns: &ArkitColumns, layout: &GnmRegions) -> (Vec<Term>, Vec<String>) {
    let mut terms = Vec::new();
    let mut dropped = Vec::new();
    for (shape, region, index, gain) in HAND_MADE {
        let Some(column) = columns.column(shape) else { continue };
        match layout.slot(region, index) {
            Some(slot) => terms.push(Term { column, slot, gain }),
            None => dropped.push(format!("{} to {region} {index}", shape.name())),
        }
    }
    // Half a gaze squints: an eye that can turn to one side only parts from the other one.
    let absent: Vec<&str> =
        HAND_MADE_GAZE.iter().filter(|g| columns.column(g.0).is_none()).map(|g| g.0.name()).collect();
    if absent.is_empty() {
        terms.extend(HAND_MADE_GAZE.iter().filter_map(|&(shape, angle, sign)| {
            let column = columns.column(shape)?;
            Some(Term { column, slot: layout.expression_dim() + angle, gain: sign * GAZE_RAD })
        }));
    } else {
        dropped.push(format!("the gaze, for want of {}", absent.join(", ")));
    }
    (terms, dropped)
}

/// A scene's `arkit_map`: one control per shape or none, `controls[slot] += clamp(weight, 0, 1)`.
///
/// One coefficient per shape and no gain is too weak for a GNM head; this is here because scenes may state it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArkitSlots {
    slots: Vec<Option<usize>>,
    dim: usize,
}

impl ArkitSlots {
    /// Reads the JSON value of `arkit_map` for a rig with `dim` controls: 52 integers in the order of [`super::ArkitOrder::Engine`], each a control
    /// or -1 for none.
    ///
    /// # Errors
    /// `Type` for anything but an array of integers, `Shape` for another count, `Value` for a control that the rig does not have.
    pub fn read(value: &serde_json::Value, dim: usize) -> Result<ArkitSlots, LoadError> {
        const FIELD: &str = "expression_space.arkit_map";
        let Some(list) = value.as_array() else {
            return Err(LoadError::new(LoadErrorKind::Type, FIELD, "an array of 52 integers", value));
        };
        if list.len() != 52 {
            return Err(LoadError::new(LoadErrorKind::Shape, FIELD, "52 entries, one for each shape", list.len()));
        }
        let mut slots = vec![None; 52];
        for (index, entry) in list.iter().enumerate() {
            let field = format!("{FIELD}[{index}]");
            let Some(slot) = entry.as_i64() else {
                return Err(LoadError::new(LoadErrorKind::Type, field, "an integer", entry));
            };
            slots[index] = match usize::try_from(slot) {
                Ok(slot) if slot < dim => Some(slot),
                Err(_) if slot == -1 => None,
                _ => {
                    let expected = format!("-1 or a control below {dim}");
                    return Err(LoadError::new(LoadErrorKind::Value, field, expected, slot));
                }
            };
        }
        Ok(ArkitSlots { slots, dim })
    }

    /// How many controls the rig has that this was read for.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The control of a shape.
    #[must_use]
    pub fn slot(&self, shape: ArkitShape) -> Option<usize> {
        self.slots[shape as usize]
    }

    pub(super) fn terms(&self, columns: &ArkitColumns) -> Vec<Term> {
        let term = |shape| Some(Term { column: columns.column(shape)?, slot: self.slot(shape)?, gain: 1.0 });
        ArkitShape::ALL.into_iter().filter_map(term).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::arkit::ArkitOrder;
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn hand_made_table_maps_twenty_shapes_and_eight_gazes() {
        let mapped: BTreeSet<ArkitShape> = HAND_MADE.iter().map(|t| t.0).collect();
        let gaze: BTreeSet<ArkitShape> = HAND_MADE_GAZE.iter().map(|t| t.0).collect();
        assert_eq!((mapped.len(), gaze.len()), (20, 8));
        assert!(mapped.is_disjoint(&gaze));
        for (shape, region, index, _) in HAND_MADE {
            assert!(GnmRegions::reduced().slot(region, index).is_some(), "{shape:?}");
        }
    }

    #[test]
    fn hand_made_table_mirrors_the_eyes() {
        let eye = |side: &str, region: &str| -> BTreeSet<String> {
            let rows = HAND_MADE.iter().filter(|t| t.1 == region);
            rows.map(|t| format!("{} {} {}", t.0.name().replace(side, ""), t.2, t.3)).collect()
        };
        assert_eq!(eye("Left", "left_eye"), eye("Right", "right_eye"));
        assert_eq!(eye("Left", "left_eye").len(), 7);
    }

    #[test]
    fn hand_made_table_on_a_small_layout_reports_what_it_drops() {
        let layout = GnmRegions::new(&[("left_eye", 3), ("right_eye", 16), ("lower_face", 9)]).unwrap();
        let (terms, dropped) = hand_made(&ArkitColumns::of(ArkitOrder::Alphabetical), &layout);
        let expected = [
            "eyeBlinkLeft to left_eye 5",
            "jawOpen to lower_face 9",
            "mouthSmileRight to lower_face 12",
            "tongueOut to tongue 1",
        ];
        assert_eq!(dropped, expected);
        assert_eq!(terms.len(), 26 - 4 + 8);
        assert!(terms.iter().all(|t| t.slot < layout.dim()));
    }

    #[test]
    fn hand_made_table_without_one_eye_look_leaves_the_whole_gaze_out() {
        let names: Vec<&str> = ArkitOrder::Engine.names().into_iter().filter(|&n| n != "EyeLookInLeft").collect();
        let layout = GnmRegions::full();
        let (terms, dropped) = hand_made(&ArkitColumns::new(&names).unwrap(), &layout);
        assert_eq!(dropped, ["the gaze, for want of eyeLookInLeft"]);
        assert_eq!(terms.len(), 26);
        assert!(terms.iter().all(|t| t.slot < layout.expression_dim()));
    }

    #[test]
    fn slots_take_minus_one_and_controls_only() {
        let mut list = vec![json!(-1); 52];
        list[ArkitShape::JawOpen as usize] = json!(386);
        let slots = ArkitSlots::read(&json!(list), 387).unwrap();
        assert_eq!(slots.slot(ArkitShape::JawOpen), Some(386));
        assert_eq!(slots.slot(ArkitShape::JawLeft), None);
        assert_eq!(ArkitSlots::read(&json!(list), 386).unwrap_err().kind, LoadErrorKind::Value);
    }

    #[test]
    fn slots_of_any_other_form_are_refused() {
        let with = |entry: serde_json::Value| {
            let mut list = vec![json!(-1); 52];
            list[51] = entry;
            json!(list)
        };
        let cases = [
            (json!(null), LoadErrorKind::Type),
            (json!({}), LoadErrorKind::Type),
            (json!(vec![0; 51]), LoadErrorKind::Shape),
            (json!(vec![0; 53]), LoadErrorKind::Shape),
            (with(json!(null)), LoadErrorKind::Type),
            (with(json!("3")), LoadErrorKind::Type),
            (with(json!(1.5)), LoadErrorKind::Type),
            (with(json!(-2)), LoadErrorKind::Value),
            (with(json!(387)), LoadErrorKind::Value),
            (with(json!(u64::MAX)), LoadErrorKind::Type),
        ];
        for (value, kind) in cases {
            let error = ArkitSlots::read(&value, 387).unwrap_err();
            assert_eq!(error.kind, kind, "{error}");
        }
    }
}
