//! From ARKit weights to the raw controls of a MetaHuman rig.

use super::arkit::{ArkitColumns, ArkitShape};
use super::map::{ExpressionMap, Term};
use super::space::ControlSpace;
use crate::control_names::NameIndex;
use crate::error::ControlError;
use ArkitShape as A;

/// What the names of all raw controls of the face begin with.
const PREFIX: &str = "CTRL_expressions.";

/// The raw controls that a shape drives, each with the shape's own weight, without the prefix `CTRL_expressions.`.
///
/// Compiled from public rigs and kits. Epic's own mapping is a pose asset whose weights are not published and whose rows are not one to one, so
/// a face driven through this table differs from one driven by Live Link. A raw control belongs to one shape only. Gaze is among it: the four
/// `eyeLook` shapes of an eye drive its four look controls, where *in* is the character's right for the left eye and its left for the right one.
/// How far an eye turns at 1 is the rig's own; no public source states an angle, so that there is no law from a
/// [`Gaze`](super::look_at::Gaze) in radians.
///
/// The sources part in these rows, and the table takes the first form:
///
/// | shape | here | elsewhere |
/// |---|---|---|
/// | `browInnerUp` | `browRaiseIn` | also `browLateral` |
/// | `mouthPress` | `mouthPressU`, `mouthPressD` | `mouthLipsPress` |
/// | `mouthRollLower`, `mouthRollUpper` | `mouth*LipRollIn` | `mouth*LipBite` |
/// | `noseSneer` | `noseWrinkle` | also `noseNostrilDepress` and `noseNostrilDilate` |
/// | `mouthPucker` | `mouthLipsPurse` | also about 0.75 of `mouthFunnel` and 0.41 of `mouthLipsTowards` |
/// | `mouthClose` | `mouthLipsTogether` | the same, times the weight of `jawOpen` |
#[must_use]
pub fn raw_controls(shape: ArkitShape) -> &'static [&'static str] {
    match shape {
        A::EyeBlinkLeft => &["eyeBlinkL"],
        A::EyeLookDownLeft => &["eyeLookDownL"],
        A::EyeLookInLeft => &["eyeLookRightL"],
        A::EyeLookOutLeft => &["eyeLookLeftL"],
        A::EyeLookUpLeft => &["eyeLookUpL"],
        A::EyeSquintLeft => &["eyeSquintInnerL"],
        A::EyeWideLeft => &["eyeWidenL"],
        A::EyeBlinkRight => &["eyeBlinkR"],
        A::EyeLookDownRight => &["eyeLookDownR"],
        A::EyeLookInRight => &["eyeLookLeftR"],
        A::EyeLookOutRight => &["eyeLookRightR"],
        A::EyeLookUpRight => &["eyeLookUpR"],
        A::EyeSquintRight => &["eyeSquintInnerR"],
        A::EyeWideRight => &["eyeWidenR"],
        A::JawForward => &["jawFwd"],
        A::JawLeft => &["jawLeft"],
        A::JawRight => &["jawRight"],
        A::JawOpen => &["jawOpen"],
        A::MouthClose => &["mouthLipsTogetherUL", "mouthLipsTogetherUR", "mouthLipsTogetherDL", "mouthLipsTogetherDR"],
        A::MouthFunnel => &["mouthFunnelUL", "mouthFunnelUR", "mouthFunnelDL", "mouthFunnelDR"],
        A::MouthPucker => &["mouthLipsPurseUL", "mouthLipsPurseUR", "mouthLipsPurseDL", "mouthLipsPurseDR"],
        A::MouthLeft => &["mouthLeft"],
        A::MouthRight => &["mouthRight"],
        A::MouthSmileLeft => &["mouthCornerPullL"],
        A::MouthSmileRight => &["mouthCornerPullR"],
        A::MouthFrownLeft => &["mouthCornerDepressL"],
        A::MouthFrownRight => &["mouthCornerDepressR"],
        A::MouthDimpleLeft => &["mouthDimpleL"],
        A::MouthDimpleRight => &["mouthDimpleR"],
        A::MouthStretchLeft => &["mouthStretchL"],
        A::MouthStretchRight => &["mouthStretchR"],
        A::MouthRollLower => &["mouthLowerLipRollInL", "mouthLowerLipRollInR"],
        A::MouthRollUpper => &["mouthUpperLipRollInL", "mouthUpperLipRollInR"],
        A::MouthShrugLower => &["jawChinRaiseDL", "jawChinRaiseDR"],
        A::MouthShrugUpper => &["jawChinRaiseUL", "jawChinRaiseUR"],
        A::MouthPressLeft => &["mouthPressUL", "mouthPressDL"],
        A::MouthPressRight => &["mouthPressUR", "mouthPressDR"],
        A::MouthLowerDownLeft => &["mouthLowerLipDepressL"],
        A::MouthLowerDownRight => &["mouthLowerLipDepressR"],
        A::MouthUpperUpLeft => &["mouthUpperLipRaiseL"],
        A::MouthUpperUpRight => &["mouthUpperLipRaiseR"],
        A::BrowDownLeft => &["browDownL"],
        A::BrowDownRight => &["browDownR"],
        A::BrowInnerUp => &["browRaiseInL", "browRaiseInR"],
        A::BrowOuterUpLeft => &["browRaiseOuterL"],
        A::BrowOuterUpRight => &["browRaiseOuterR"],
        A::CheekPuff => &["mouthCheekBlowL", "mouthCheekBlowR"],
        A::CheekSquintLeft => &["eyeCheekRaiseL"],
        A::CheekSquintRight => &["eyeCheekRaiseR"],
        A::NoseSneerLeft => &["noseWrinkleL"],
        A::NoseSneerRight => &["noseWrinkleR"],
        A::TongueOut => &["tongueOut"],
    }
}

impl ExpressionMap {
    /// The map from ARKit weights to the raw controls of a MetaHuman rig: each weight, clamped to 0..1, is added to the controls of
    /// [`raw_controls`], a table compiled from public rigs, not Epic's.
    ///
    /// The names are those of the rig's raw controls, in any spelling that [`NameIndex`] reads. What no shape
    /// drives stays at `rest`, the rig's default controls: the w of a quaternion, for one, is 1 there. Controls that the rig lacks are dropped:
    /// [`ExpressionMap::dropped`] names the shapes, and so does one warning in the log.
    ///
    /// # Shapes
    /// raw_control_names, rest: (C)
    ///
    /// # Errors
    /// `Length` for another number of rest values than of names; `Space` for a rig that has none of the controls, GUI controls for instance.
    pub fn arkit_to_orl(
        columns: ArkitColumns,
        raw_control_names: &[String],
        rest: &[f32],
    ) -> Result<ExpressionMap, ControlError> {
        let (dim, space) = (raw_control_names.len(), ControlSpace::arkit52(columns));
        if rest.len() != dim {
            return Err(ControlError::Length { what: "controls at rest", expected: dim, got: rest.len() });
        }
        let columns = space.columns().expect("an ARKit space has columns");
        let (terms, dropped) = bind(columns, raw_control_names);
        if terms.is_empty() {
            return Err(ControlError::Space {
                given: space.kind().name().into(),
                rig: "orl".into(),
                missing: format!(
                    "raw controls CTRL_expressions.*; none of its {dim} controls is one that a shape drives"
                ),
            });
        }
        if !dropped.is_empty() {
            log::warn!("ARKit to MetaHuman: left out {}", dropped.join("; "));
        }
        Ok(ExpressionMap::onto(space, rest, terms, dropped))
    }
}

/// The table for these columns and a rig with these raw controls, and which shapes the rig has no control for.
fn bind(columns: &ArkitColumns, raw_control_names: &[String]) -> (Vec<Term>, Vec<String>) {
    let index = NameIndex::new(raw_control_names);
    let mut terms = Vec::new();
    let mut dropped = Vec::new();
    for shape in ArkitShape::ALL {
        let Some(column) = columns.column(shape) else { continue };
        let mut missing = Vec::new();
        for control in raw_controls(shape) {
            let name = format!("{PREFIX}{control}");
            match index.find(&name) {
                Some(slot) => terms.push(Term { column, slot, gain: 1.0 }),
                None => missing.push(name),
            }
        }
        if !missing.is_empty() {
            dropped.push(format!("{} to {}", shape.name(), missing.join(" and ")));
        }
    }
    (terms, dropped)
}

#[cfg(test)]
mod tests {
    use super::super::arkit::ArkitOrder;
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn all_controls() -> Vec<&'static str> {
        ArkitShape::ALL.into_iter().flat_map(|shape| raw_controls(shape).iter().copied()).collect()
    }

    /// Names of a rig with these controls.
    fn rig(controls: &[&str]) -> Vec<String> {
        controls.iter().map(|control| format!("{PREFIX}{control}")).collect()
    }

    fn map(order: ArkitOrder, names: &[String]) -> ExpressionMap {
        ExpressionMap::arkit_to_orl(ArkitColumns::of(order), names, &vec![0.0; names.len()]).unwrap()
    }

    /// The controls that are not zero, by their name without the prefix.
    fn driven<'a>(map: &ExpressionMap, names: &'a [String], weights: &[(ArkitShape, f32)]) -> BTreeMap<&'a str, f32> {
        let mut vector = vec![0.0; map.space().dim()];
        for &(shape, weight) in weights {
            vector[map.space().column(shape).unwrap()] = weight;
        }
        let mut controls = vec![f32::NAN; map.dim()];
        map.controls(&vector, &mut controls).unwrap();
        let named = names.iter().zip(controls).filter(|c| c.1 != 0.0);
        named.map(|(name, control)| (&name[PREFIX.len()..], control)).collect()
    }

    #[test]
    fn table_drives_each_control_by_one_shape_and_mirrors_the_sides() {
        let controls = all_controls();
        assert_eq!(controls.len(), 69);
        assert_eq!(controls.iter().collect::<BTreeSet<_>>().len(), 69);
        for shape in ArkitShape::ALL {
            let Some(base) = shape.name().strip_suffix("Left").filter(|base| !["jaw", "mouth"].contains(base)) else {
                continue;
            };
            let right = ArkitShape::parse(&format!("{base}Right")).unwrap();
            let mirrored = |control: &&str| {
                let control = control.strip_suffix('L').unwrap();
                let swapped = match control {
                    "eyeLookLeft" => "eyeLookRight",
                    "eyeLookRight" => "eyeLookLeft",
                    other => other,
                };
                format!("{swapped}R")
            };
            let expected: Vec<String> = raw_controls(shape).iter().map(mirrored).collect();
            assert_eq!(raw_controls(right), expected, "{shape:?}");
        }
    }

    #[test]
    fn weights_reach_the_controls_that_were_worked_by_hand() {
        use ArkitShape::*;
        let mut names = rig(&all_controls());
        names.reverse();
        names.insert(7, "neck_01.w".into());
        for order in [ArkitOrder::Engine, ArkitOrder::Alphabetical, ArkitOrder::LiveLinkFace] {
            let map = map(order, &names);
            let driven = |weights: &[(ArkitShape, f32)]| driven(&map, &names, weights).into_iter().collect::<Vec<_>>();
            assert_eq!(driven(&[(JawOpen, 0.5)]), [("jawOpen", 0.5)], "{order:?}");
            assert_eq!(driven(&[(BrowInnerUp, 0.25)]), [("browRaiseInL", 0.25), ("browRaiseInR", 0.25)]);
            // In is toward the nose: to the character's right for the left eye.
            assert_eq!(driven(&[(EyeLookInLeft, 0.5)]), [("eyeLookRightL", 0.5)]);
            assert_eq!(driven(&[(EyeLookOutLeft, 0.5)]), [("eyeLookLeftL", 0.5)]);
            assert_eq!(driven(&[(EyeLookInRight, 0.5)]), [("eyeLookLeftR", 0.5)]);
            assert_eq!(driven(&[(EyeLookOutRight, 0.5)]), [("eyeLookRightR", 0.5)]);
            let both_left = driven(&[(EyeLookOutLeft, 1.0), (EyeLookInRight, 1.0), (EyeLookUpLeft, 0.5)]);
            assert_eq!(both_left, [("eyeLookLeftL", 1.0), ("eyeLookLeftR", 1.0), ("eyeLookUpL", 0.5)]);
            // Weights are clamped: 7 counts as 1, -3 as 0.
            let press = driven(&[(MouthPressLeft, 7.0), (MouthPressRight, -3.0)]);
            assert_eq!(press, [("mouthPressDL", 1.0), ("mouthPressUL", 1.0)]);
            let close: Vec<_> = ["DL", "DR", "UL", "UR"].map(|s| format!("mouthLipsTogether{s}")).to_vec();
            assert_eq!(driven(&[(MouthClose, 0.75)]), close.iter().map(|c| (c.as_str(), 0.75)).collect::<Vec<_>>());
            assert!(map.dropped().is_empty());
        }
    }

    #[test]
    fn controls_that_no_shape_drives_stay_at_rest() {
        let names = ["neck_01.w", "CTRL_expressions_JAWOPEN", "other"].map(str::to_owned);
        let columns = ArkitColumns::of(ArkitOrder::MediaPipe);
        let map = ExpressionMap::arkit_to_orl(columns, &names, &[1.0, 0.0, -0.5]).unwrap();
        let mut weights = vec![0.0; 52];
        weights[map.space().column(ArkitShape::JawOpen).unwrap()] = 0.5;
        let mut controls = [f32::NAN; 3];
        map.controls(&weights, &mut controls).unwrap();
        assert_eq!(controls, [1.0, 0.5, -0.5]);
    }

    #[test]
    fn controls_that_the_rig_lacks_are_dropped_by_shape() {
        let lacking = ["tongueOut", "mouthFunnelDL", "mouthFunnelDR"];
        let kept: Vec<&str> = all_controls().into_iter().filter(|c| !lacking.contains(c)).collect();
        let names = rig(&kept);
        let map = map(ArkitOrder::Engine, &names);
        let expected = [
            "mouthFunnel to CTRL_expressions.mouthFunnelDL and CTRL_expressions.mouthFunnelDR",
            "tongueOut to CTRL_expressions.tongueOut",
        ];
        assert_eq!(map.dropped(), expected);
        let funnel = driven(&map, &names, &[(ArkitShape::MouthFunnel, 0.5), (ArkitShape::TongueOut, 1.0)]);
        assert_eq!(funnel.into_iter().collect::<Vec<_>>(), [("mouthFunnelUL", 0.5), ("mouthFunnelUR", 0.5)]);
    }

    #[test]
    fn rig_without_such_controls_and_wrong_rest_are_refused() {
        let bind = |names: &[String], rest: &[f32]| {
            let columns = ArkitColumns::of(ArkitOrder::Engine);
            ExpressionMap::arkit_to_orl(columns, names, rest).unwrap_err()
        };
        let error = bind(&["CTRL_C_jaw.ty".into()], &[0.0]).to_string();
        assert!(error.contains("arkit52") && error.contains("orl") && error.contains("CTRL_expressions"), "{error}");
        let length = ControlError::Length { what: "controls at rest", expected: 69, got: 70 };
        assert_eq!(bind(&rig(&all_controls()), &[0.0; 70]), length);
    }

    #[test]
    fn table_is_that_of_the_names_document() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/spec/names.md");
        let Ok(text) = std::fs::read_to_string(file) else {
            eprintln!("SKIP table_is_that_of_the_names_document: no {file}");
            return;
        };
        let section = text.split("## 6. MetaHuman raw controls").nth(1).expect("section 6");
        let (listed, mapped) = section.split_once("ARKit -> MetaHuman").expect("the table follows the names");
        // "- brow* (8): DownL DownR ...": the group's name goes before each of its own.
        let groups = listed.lines().filter_map(|line| line.strip_prefix("- ")?.split_once("* "));
        let known: BTreeSet<String> = groups
            .flat_map(|(group, rest)| rest.split_whitespace().skip(1).map(move |name| format!("{group}{name}")))
            .collect();
        assert_eq!(known.len(), 251);
        let rows = mapped.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
        let rows: Vec<(&str, Vec<&str>)> = rows
            .map(|(shape, controls)| (shape, controls.split_whitespace().collect()))
            .filter(|(shape, _)| ArkitShape::parse(shape).is_some())
            .collect();
        assert_eq!(rows.len(), 52);
        for (shape, controls) in rows {
            assert_eq!(raw_controls(ArkitShape::parse(shape).unwrap()), controls, "{shape}");
            assert!(controls.iter().all(|&c| known.contains(c)), "{shape}");
        }
    }
}
