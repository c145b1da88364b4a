//! From ARKit weights to the morph targets and eye joints of a glTF rig.

use super::arkit::{ArkitColumns, ArkitShape};
use super::arkit_to_gnm::GAZE_RAD;
use super::map::{ExpressionMap, Term};
use super::space::ControlSpace;
use crate::error::{ControlError, one_line};
use ArkitShape as A;
use glam::{DQuat, DVec3};
use std::collections::BTreeMap;

/// The morph targets that Oculus lip sync drives. They say what a mouth speaks where ARKit says how it stands; no weight of the one is one of the other.
pub const OCULUS_VISEMES: [&str; 15] = [
    "viseme_sil",
    "viseme_PP",
    "viseme_FF",
    "viseme_TH",
    "viseme_DD",
    "viseme_kk",
    "viseme_CH",
    "viseme_SS",
    "viseme_nn",
    "viseme_RR",
    "viseme_aa",
    "viseme_E",
    "viseme_I",
    "viseme_O",
    "viseme_U",
];

/// The visemes that are among these names of targets, without regard to case, in the order of [`OCULUS_VISEMES`].
#[must_use]
pub fn oculus_visemes(target_names: &[&str]) -> Vec<&'static str> {
    let is_there = |viseme: &&str| target_names.iter().any(|name| name.eq_ignore_ascii_case(viseme));
    OCULUS_VISEMES.into_iter().filter(is_there).collect()
}

/// A morph target of a rig.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MorphTarget<'a> {
    /// The mesh that has it, by a name that no other mesh has.
    pub mesh: &'a str,
    /// What it is called.
    pub name: &'a str,
    /// The control of its weight.
    pub control: usize,
}

/// How an eye turns: about the character's own axes, as its joint's parent sees them at rest.
///
/// With Q the rotation at rest, an eye that looks down by `pitch` and to the character's left by `yaw` has the rotation
/// `R(left, pitch) * R(up, yaw) * Q`: in the character's frame `Rx(pitch) * Ry(yaw)`, as the gaze of a GNM head ([`super::Gaze`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EyeTurn {
    /// The first of the four controls of the joint's rotation: x, y, z, w.
    pub rotation: usize,
    /// The direction to the character's left, of unit length.
    pub left: [f64; 3],
    /// The direction up, of unit length.
    pub up: [f64; 3],
}

/// The look shapes of the left eye and of the right one: down, up, to the character's left, to its right. In is toward the nose.
const LOOKS: [[ArkitShape; 4]; 2] = [
    [A::EyeLookDownLeft, A::EyeLookUpLeft, A::EyeLookOutLeft, A::EyeLookInLeft],
    [A::EyeLookDownRight, A::EyeLookUpRight, A::EyeLookInRight, A::EyeLookOutRight],
];

/// An eye with the columns that turn it: down, up, left, right.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BoundTurn {
    columns: [usize; 4],
    eye: EyeTurn,
}

impl BoundTurn {
    /// Turns the eye from where it rests, which is what its controls hold. An eye that looks ahead keeps them to the bit.
    pub(super) fn apply(&self, weights: &[f32], controls: &mut [f32]) {
        let [down, up, left, right] = self.columns.map(|column| weights[column].clamp(0.0, 1.0));
        let (pitch, yaw) = (GAZE_RAD * (down - up), GAZE_RAD * (left - right));
        if (pitch, yaw) == (0.0, 0.0) {
            return;
        }
        let turn = |axis, angle| DQuat::from_axis_angle(DVec3::from(axis), f64::from(angle));
        let rotation = &mut controls[self.eye.rotation..][..4];
        let rest = rotation_of(rotation);
        let turned = turn(self.eye.left, pitch) * turn(self.eye.up, yaw) * rest.normalize();
        rotation.copy_from_slice(&turned.normalize().as_quat().to_array());
    }
}

fn rotation_of(controls: &[f32]) -> DQuat {
    DQuat::from_array(std::array::from_fn(|i| f64::from(controls[i])))
}

impl ExpressionMap {
    /// The map from ARKit weights to a glTF rig: each weight, clamped to 0..1, is added to the targets that are named after its shape in any
    /// spelling that [`ArkitShape::parse`] reads, on every mesh. One weight drives the lids, the lashes and the teeth alike.
    ///
    /// Where no target is one of the eight `eyeLook` shapes, these turn the eye joints, `eyes`, left and right: 20 degrees per unit, see
    /// [`EyeTurn`]; opposite shapes cancel. What no shape drives stays at `rest`, the file's own weights and rotations, and what one drives
    /// starts from there: a lid that the file has half closed goes on from where it is.
    ///
    /// [`ExpressionMap::dropped`] names, and so does one warning in the log: shapes without a target, a shape of which a mesh has two targets
    /// (neither is driven), eyes without a joint, with the reason that `eyes` gives, and all turns where a column of the eight is missing: half a
    /// gaze squints. Visemes are never driven; [`ExpressionMap::visemes`] lists them.
    ///
    /// # Shapes
    /// rest: (C)
    ///
    /// # Errors
    /// `Length` for fewer rest values than the targets and eyes have controls; `Quaternion` for an eye whose rotation at rest is none; `Space` for
    /// a rig that has neither a target nor an eye for any column.
    pub fn arkit_to_gltf(
        columns: ArkitColumns,
        targets: &[MorphTarget],
        eyes: [Result<EyeTurn, String>; 2],
        rest: &[f32],
    ) -> Result<ExpressionMap, ControlError> {
        check_rest(targets, &eyes, rest)?;
        let space = ControlSpace::arkit52(columns);
        let columns = space.columns().expect("an ARKit space has columns");
        let by_shape = targets_by_shape(targets);
        let looks_by_target = by_shape.keys().any(|shape| is_look(*shape));
        let (terms, missing, mut left_out) = bind_targets(columns, &by_shape, looks_by_target);
        let mut turns = Vec::new();
        if !looks_by_target {
            turns = bind_eyes(columns, eyes, &mut left_out);
        }
        if terms.is_empty() && turns.is_empty() {
            return Err(ControlError::Space {
                given: space.kind().name().into(),
                rig: "gltf".into(),
                missing: format!(
                    "morph targets named after ARKit shapes, or eye joints; none of its {} targets is one that a shape drives",
                    targets.len()
                ),
            });
        }
        let mut dropped: Vec<String> = missing.iter().map(|shape| format!("{}: no target", shape.name())).collect();
        dropped.extend(left_out.iter().cloned());
        if !missing.is_empty() {
            left_out.insert(0, format!("{}, for want of targets", shape_names(&missing)));
        }
        if !left_out.is_empty() {
            log::warn!("ARKit to glTF: left out {}", left_out.join("; "));
        }
        let names: Vec<&str> = targets.iter().map(|target| target.name).collect();
        Ok(ExpressionMap::onto(space, rest, terms, dropped).turning(turns).listing(oculus_visemes(&names)))
    }
}

fn check_rest(targets: &[MorphTarget], eyes: &[Result<EyeTurn, String>; 2], rest: &[f32]) -> Result<(), ControlError> {
    let turns = || eyes.iter().flatten();
    let ends = turns().map(|eye| eye.rotation + 4).chain(targets.iter().map(|target| target.control + 1));
    if let Some(expected) = ends.max().filter(|&end| end > rest.len()) {
        return Err(ControlError::Length { what: "controls at rest", expected, got: rest.len() });
    }
    for eye in turns() {
        let rotation = rotation_of(&rest[eye.rotation..]);
        if !(rotation.is_finite() && rotation.length() > 0.0) {
            let got = format!("({}, {}, {}, {})", rotation.w, rotation.x, rotation.y, rotation.z);
            return Err(ControlError::Quaternion { joint: "eye at rest".into(), got });
        }
    }
    Ok(())
}

/// The targets of each shape, mesh by mesh.
type ByShape<'a> = BTreeMap<ArkitShape, BTreeMap<&'a str, Vec<&'a MorphTarget<'a>>>>;

fn targets_by_shape<'a>(targets: &'a [MorphTarget]) -> ByShape<'a> {
    let mut by_shape = ByShape::new();
    for target in targets {
        if let Some(shape) = ArkitShape::parse(target.name) {
            by_shape.entry(shape).or_default().entry(target.mesh).or_default().push(target);
        }
    }
    by_shape
}

fn is_look(shape: ArkitShape) -> bool {
    LOOKS.as_flattened().contains(&shape)
}

fn shape_names(shapes: &[ArkitShape]) -> String {
    shapes.iter().map(|shape| shape.name()).collect::<Vec<_>>().join(", ")
}

/// The terms of all meshes, the shapes that none has a target for, and what else is left out.
fn bind_targets(
    columns: &ArkitColumns,
    by_shape: &ByShape,
    looks_by_target: bool,
) -> (Vec<Term>, Vec<ArkitShape>, Vec<String>) {
    let (mut terms, mut missing, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for shape in ArkitShape::ALL {
        let Some(column) = columns.column(shape) else { continue };
        let Some(meshes) = by_shape.get(&shape) else {
            if looks_by_target || !is_look(shape) {
                missing.push(shape);
            }
            continue;
        };
        for (mesh, targets) in meshes {
            match targets[..] {
                [target] => terms.push(Term { column, slot: target.control, gain: 1.0 }),
                // Driving both would move the face twice, and either one may be the right one.
                _ => {
                    let names: Vec<&str> = targets.iter().map(|target| target.name).collect();
                    let names = one_line(names.join(", "));
                    left_out.push(format!(
                        "{}: {} targets of {}, {names}",
                        shape.name(),
                        targets.len(),
                        one_line(mesh)
                    ));
                }
            }
        }
    }
    (terms, missing, left_out)
}

fn bind_eyes(columns: &ArkitColumns, eyes: [Result<EyeTurn, String>; 2], left_out: &mut Vec<String>) -> Vec<BoundTurn> {
    let absent: Vec<A> = LOOKS.into_iter().flatten().filter(|&shape| columns.column(shape).is_none()).collect();
    if !absent.is_empty() {
        left_out.push(format!("the turns of the eyes, for want of {}", shape_names(&absent)));
        return Vec::new();
    }
    let mut turns = Vec::new();
    for (shapes, eye) in LOOKS.iter().zip(eyes) {
        match eye {
            Ok(eye) => {
                let columns = shapes.map(|shape| columns.column(shape).unwrap_or_default());
                turns.push(BoundTurn { columns, eye });
            }
            Err(reason) => left_out.push(format!("{}: no target, and {}", shape_names(shapes), one_line(reason))),
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::super::arkit::ArkitOrder;
    use super::*;
    use glam::Quat;

    const NO_EYES: [Result<EyeTurn, String>; 2] = [Err(String::new()), Err(String::new())];

    fn target<'a>(mesh: &'a str, name: &'a str, control: usize) -> MorphTarget<'a> {
        MorphTarget { mesh, name, control }
    }

    /// Eyes whose parents stand as the world does: controls 0 to 3 and 4 to 7.
    fn eyes() -> [Result<EyeTurn, String>; 2] {
        [0, 4].map(|rotation| Ok(EyeTurn { rotation, left: [1.0, 0.0, 0.0], up: [0.0, 1.0, 0.0] }))
    }

    /// Two rotations at rest, of which one is not of unit length.
    const REST: [f32; 8] = [0.0, 0.0, 0.0, 2.0, 0.5, -0.5, 0.5, 0.5];

    fn map(targets: &[MorphTarget], eyes: [Result<EyeTurn, String>; 2], rest: &[f32]) -> ExpressionMap {
        ExpressionMap::arkit_to_gltf(ArkitColumns::of(ArkitOrder::Engine), targets, eyes, rest).unwrap()
    }

    fn controls(map: &ExpressionMap, weights: &[(ArkitShape, f32)]) -> Vec<f32> {
        let mut vector = vec![0.0; map.space().dim()];
        for &(shape, weight) in weights {
            vector[map.space().column(shape).unwrap()] = weight;
        }
        let mut controls = vec![f32::NAN; map.dim()];
        map.controls(&vector, &mut controls).unwrap();
        controls
    }

    #[test]
    fn one_weight_drives_the_targets_of_its_shape_on_every_mesh_in_any_spelling() {
        let targets = [
            target("head", "eyeBlinkLeft", 0),
            target("head", "A25_Jaw_Open", 1),
            target("head", "Eye_Blink_L", 2),
            target("lashes", "EyeBlinkLeft", 3),
            target("brows", "eyeBlink_L", 4),
            target("teeth", "jawOpen", 5),
        ];
        let map = map(&targets, NO_EYES, &[0.0, 0.25, 0.5, 0.0, 0.0, 0.0, 7.0]);
        let blink = controls(&map, &[(A::EyeBlinkLeft, 0.5)]);
        assert_eq!(blink, [0.5, 0.25, 0.5, 0.5, 0.5, 0.0, 7.0], "on top of what the file has");
        let clamped = controls(&map, &[(A::JawOpen, 9.0), (A::EyeBlinkLeft, -9.0)]);
        assert_eq!(clamped, [0.0, 1.25, 0.5, 0.0, 0.0, 1.0, 7.0]);
        assert!(map.dropped().contains(&"tongueOut: no target".to_string()), "{:?}", map.dropped());
        assert_eq!(map.dropped().len(), 52 - 2 - 8 + 2, "two shapes, and eight that the eyes answer for");
    }

    #[test]
    fn mesh_with_two_targets_for_a_shape_is_left_out_by_name() {
        let targets = [target("head", "jawOpen", 0), target("head", "JawOpen", 1), target("teeth", "jawOpen", 2)];
        let map = map(&targets, NO_EYES, &[0.0; 3]);
        assert_eq!(controls(&map, &[(A::JawOpen, 1.0)]), [0.0, 0.0, 1.0]);
        assert!(map.dropped().contains(&"jawOpen: 2 targets of head, jawOpen, JawOpen".into()), "{:?}", map.dropped());
    }

    #[test]
    fn visemes_are_listed_and_not_driven() {
        let targets = [target("a", "viseme_U", 0), target("a", "VISEME_pp", 1), target("b", "viseme_U", 2)];
        let targets = [&targets[..], &[target("b", "mouthPucker", 3), target("b", "viseme_zz", 4)]].concat();
        let map = map(&targets, NO_EYES, &[0.0; 5]);
        assert_eq!(map.visemes(), ["viseme_PP", "viseme_U"]);
        let mut all = [f32::NAN; 5];
        map.controls(&[1.0; 52], &mut all).unwrap();
        assert_eq!(all, [0.0, 0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn eyes_turn_by_twenty_degrees_and_opposite_looks_cancel() {
        let map = map(&[], eyes(), &REST);
        let rest = [0, 4].map(|at| Quat::from_slice(&REST[at..]).normalize());
        let ahead = |eye: usize, weights: &[(ArkitShape, f32)]| {
            let turned = Quat::from_slice(&controls(&map, weights)[4 * eye..]);
            // What the eye at rest sees ahead, seen by the turned one.
            turned.normalize() * (rest[eye].inverse() * glam::Vec3::Z)
        };
        let degrees = |d: glam::Vec3| [d.x.atan2(d.z).to_degrees(), (-d.y).asin().to_degrees()];
        use ArkitShape::*;
        // Yaw to the character's left, pitch down.
        for (shapes, expected) in [
            ([EyeLookOutLeft, EyeLookInRight], [20.0, 0.0]),
            ([EyeLookInLeft, EyeLookOutRight], [-20.0, 0.0]),
            ([EyeLookDownLeft, EyeLookDownRight], [0.0, 20.0]),
            ([EyeLookUpLeft, EyeLookUpRight], [0.0, -20.0]),
        ] {
            for (eye, shape) in shapes.into_iter().enumerate() {
                for (weight, share) in [(1.0, 1.0), (0.5, 0.5), (9.0, 1.0)] {
                    let found = degrees(ahead(eye, &[(shape, weight)]));
                    let near = found.iter().zip(expected).all(|(f, e)| (f - e * share).abs() < 1e-3);
                    assert!(near, "{shape:?} {weight}: {found:?}");
                }
                assert!((ahead(1 - eye, &[(shape, 1.0)]) - glam::Vec3::Z).length() < 1e-6, "{shape:?}: the other eye");
            }
        }
        let cancelled = [(EyeLookUpLeft, 0.75), (EyeLookDownLeft, 0.75), (EyeLookInRight, 9.0), (EyeLookOutRight, 1.0)];
        assert_eq!(controls(&map, &cancelled), REST, "to the bit, unit length or not");
        // Both at once, as a GNM head's gaze: pitch about the axis that stays, after the yaw.
        let both = ahead(0, &[(EyeLookOutLeft, 1.0), (EyeLookDownLeft, 0.5)]);
        let length = controls(&map, &[(EyeLookUpLeft, 1.0)])[..4].iter().map(|q| q * q).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() < 1e-6, "{length}");
        let expected = Quat::from_rotation_x(10f32.to_radians()) * Quat::from_rotation_y(20f32.to_radians());
        assert!((both - expected * glam::Vec3::Z).length() < 1e-6, "{both}");
    }

    #[test]
    fn looks_with_a_target_leave_the_joints_alone() {
        let rest = [&REST[..], &[0.0]].concat();
        let map = map(&[target("eyes", "eyeLookUpLeft", 8)], eyes(), &rest);
        let looked = controls(&map, &[(A::EyeLookUpLeft, 1.0), (A::EyeLookUpRight, 1.0)]);
        assert_eq!(looked, [&REST[..], &[1.0]].concat());
        assert_eq!(map.dropped().len(), 51);
        assert!(map.dropped().contains(&"eyeLookUpRight: no target".into()));
    }

    #[test]
    fn eye_without_a_joint_is_dropped_with_the_reason_and_the_other_turns() {
        let [_, right] = eyes();
        let map = map(&[], [Err("no joint is named as leftEye".into()), right], &REST);
        let looked = controls(&map, &[(A::EyeLookUpLeft, 1.0), (A::EyeLookUpRight, 1.0)]);
        assert!(looked[..4] == REST[..4] && looked[4..] != REST[4..]);
        let reason = "eyeLookDownLeft, eyeLookUpLeft, eyeLookOutLeft, eyeLookInLeft: no target, and no joint is named as leftEye";
        assert_eq!(map.dropped().last().unwrap(), reason);
        assert_eq!(map.dropped().len(), 44 + 1);
    }

    #[test]
    fn missing_look_column_drops_all_turns() {
        let names: Vec<&str> =
            ArkitOrder::Engine.names().into_iter().filter(|name| *name != "EyeLookInRight").collect();
        let columns = ArkitColumns::new(&names).unwrap();
        let targets = [target("head", "jawOpen", 8)];
        let rest = [&REST[..], &[0.0]].concat();
        let map = ExpressionMap::arkit_to_gltf(columns, &targets, eyes(), &rest).unwrap();
        assert_eq!(map.dropped().last().unwrap(), "the turns of the eyes, for want of eyeLookInRight");
        let mut all = [f32::NAN; 9];
        map.controls(&[1.0; 51].map(|w| w * 0.5), &mut all).unwrap();
        assert_eq!(all[..8], REST);
    }

    #[test]
    fn rig_without_a_face_and_wrong_rest_are_refused() {
        let build = |targets: &[MorphTarget], eyes, rest: &[f32]| {
            ExpressionMap::arkit_to_gltf(ArkitColumns::of(ArkitOrder::MediaPipe), targets, eyes, rest).unwrap_err()
        };
        let error = build(&[target("a", "smile", 0), target("a", "viseme_aa", 1)], NO_EYES, &[0.0; 2]).to_string();
        assert!(error.contains("arkit52") && error.contains("gltf rig") && error.contains("none of its 2"), "{error}");
        let short = |expected, got| ControlError::Length { what: "controls at rest", expected, got };
        assert_eq!(build(&[], eyes(), &REST[..7]), short(8, 7));
        assert_eq!(build(&[target("a", "jawOpen", 4)], NO_EYES, &[0.0; 4]), short(5, 4));
        assert!(matches!(build(&[], eyes(), &[0.0; 8]), ControlError::Quaternion { .. }));
    }
}
