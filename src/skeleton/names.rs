//! What exporters do to joint names, undone: prefixes, escapes and running numbers off, the side of the body read from any spelling.
//!
//! [`normalise`] undoes what a single name shows. A running number at the end cannot be told from a name that ends in a number (`spine_01` is
//! Unreal's own), so [`normalise_all`] takes it off only where the whole list shows who wrote the file. `.001` is never taken off: in Rigify's
//! `spine.001` it is the name, and a duplicate that Blender numbered is not the joint that it was copied from.
//!
//! | mangling | example | undone to | by | seen in |
//! |---|---|---|---|---|
//! | FBX escape, three decimal digits of ASCII | `upper_armFBXASC046L` | `upper_arm.L` | name | Maya's FBX, all joints of Babylon's dummy |
//! | object before a bar | `Armature\|Hips` | `Hips` | name | Blender's FBX |
//! | `Character<N>_` | `Character1_LeftArm` | `LeftArm` | name | MotionBuilder |
//! | `mixamorig`, a number, `:` or `_` or neither | `mixamorig1:Hips`, `mixamorigLeftArm` | `Hips`, `LeftArm` | name | Mixamo (FBX `:`, DAE and Godot `_`), three.js (deletes `:`), a second import (number) |
//! | `Bip<N>` and a space or `_` | `Bip001 L UpperArm` | `L UpperArm` | name | 3ds Max Biped, Rocketbox |
//! | `_0` and a running number | `mixamorig:LeftArm_09`, `DEF-spine.001_03` | `LeftArm`, `DEF-spine.001` | list | Sketchfab's glTF; after `mixamorig` by the name alone |
//! | `.` and a running number | `emoji_heart_jnt_02.11` | `emoji_heart_jnt_02` | list | Microsoft's glTF exporter |
//!
//! Assimp's pivots (`Hips_$AssimpFbx$_PreRotation`) stay as they are: such a node is no joint and must not answer to one's name.

use std::borrow::Cow;
use std::collections::HashSet;

/// The name without the manglings that it shows by itself; a name that would be left empty stays as it is.
#[must_use]
pub fn normalise(name: &str) -> Cow<'_, str> {
    if name.contains("_$AssimpFbx$_") {
        return Cow::Borrowed(name);
    }
    if name.contains(ESCAPE) { Cow::Owned(bare(&unescaped(name)).to_string()) } else { Cow::Borrowed(bare(name)) }
}

/// Each name as [`normalise`] gives it, without the running number where the list as a whole has one.
///
/// - Sketchfab's `_0<n>` goes where the list has its `_rootJoint`, or where every name ends in such a number, no two in the same and one in ten or more.
/// - `.<n>` goes where every one of at least two names ends in such a number and no two in the same.
#[must_use]
pub fn normalise_all<S: AsRef<str>>(names: &[S]) -> Vec<String> {
    let split: fn(&str) -> Option<(&str, &str)> = match numbered_by(names) {
        Numbering::None => |_| None,
        Numbering::Sketchfab => sketchfab_number,
        Numbering::Microsoft => microsoft_number,
    };
    let own = |name: &str| normalise(split(name).map_or(name, |(own, _)| own)).into_owned();
    names.iter().map(|name| own(name.as_ref())).collect()
}

/// A side of the body: the character's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Left.
    Left,
    /// Right.
    Right,
}

/// The side that a normalised name spells, and the rest of it in lower case with `_` for every separator.
///
/// A side is a word `l`, `r`, `left` or `right` between separators (`.`, `_`, `-`, space) anywhere in the name (`thigh.l`, `l-arm`, `Left elbow`,
/// `J_Bip_L_Hand`), or, where there is none, `left` or `right` at the start (`LeftArm`), or the letter before Rocketbox's `Eye` (`REye`).
/// A name with two such words has no side.
///
/// ```
/// use rigeval::skeleton::names::{Side, side_and_stem};
///
/// for name in ["upper_arm.L", "upper-arm-l", "L_Upper_Arm", "left upper arm", "LeftUpper_Arm"] {
///     assert_eq!(side_and_stem(name), (Some(Side::Left), "upper_arm".into()));
/// }
/// ```
#[must_use]
pub fn side_and_stem(name: &str) -> (Option<Side>, String) {
    let folded = name.to_ascii_lowercase();
    let mut words: Vec<&str> = folded.split(['.', '_', '-', ' ']).collect();
    let mut marked = words.iter().enumerate().filter_map(|(at, word)| Some((at, side_word(word)?)));
    let (first, second) = (marked.next(), marked.next());
    let side = match (first, second) {
        (Some((at, side)), None) => {
            words.remove(at);
            Some(side)
        }
        (Some(_), Some(_)) => None,
        (None, _) => {
            let glued = |(word, side)| Some((words[0].strip_prefix(word).filter(|rest| !rest.is_empty())?, side));
            let eye = match words[..] {
                ["leye"] => Some(("eye", Side::Left)),
                ["reye"] => Some(("eye", Side::Right)),
                _ => None,
            };
            let found = eye.or_else(|| [("left", Side::Left), ("right", Side::Right)].into_iter().find_map(glued));
            found.map(|(rest, side)| {
                words[0] = rest;
                side
            })
        }
    };
    (side, words.join("_"))
}

const ESCAPE: &str = "FBXASC";

/// `FBXASC` and three digits back to the printable ASCII character that they number; anything else stays.
fn unescaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(ESCAPE) {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let code = escape.get(ESCAPE.len()..ESCAPE.len() + 3).filter(|code| is_number(code));
        match code.and_then(|code| code.parse().ok()).filter(|code| (32u8..127).contains(code)) {
            Some(code) => {
                out.push(char::from(code));
                rest = &escape[ESCAPE.len() + 3..];
            }
            None => {
                out.push_str(ESCAPE);
                rest = &escape[ESCAPE.len()..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// The name without what exporters put before it.
fn bare(name: &str) -> &str {
    let name = name.rsplit_once('|').map_or(name, |(_, own)| own_or(own, name));
    if let Some(rest) = without_word(name, "mixamorig") {
        let own = own_or(rest.trim_start_matches(digit).trim_start_matches([':', '_']), name);
        // No name of Mixamo's ends in an underscore and a number, so here one name is enough to know the exporter.
        return sketchfab_number(own).map_or(own, |(own, _)| own);
    }
    let numbered = |word, ends: [char; 2]| {
        let rest = without_word(name, word)?;
        let own = rest.trim_start_matches(digit);
        (own.len() < rest.len()).then(|| own.strip_prefix(ends)).flatten().filter(|own| !own.is_empty())
    };
    numbered("character", ['_', ':']).or_else(|| numbered("bip", [' ', '_'])).unwrap_or(name)
}

fn own_or<'a>(own: &'a str, name: &'a str) -> &'a str {
    if own.is_empty() { name } else { own }
}

fn without_word<'a>(name: &'a str, word: &str) -> Option<&'a str> {
    // `get`: the word's end may lie inside a character.
    name.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word)).map(|_| &name[word.len()..])
}

fn side_word(word: &str) -> Option<Side> {
    match word {
        "l" | "left" => Some(Side::Left),
        "r" | "right" => Some(Side::Right),
        _ => None,
    }
}

enum Numbering {
    None,
    Sketchfab,
    Microsoft,
}

fn numbered_by<S: AsRef<str>>(names: &[S]) -> Numbering {
    let all = |split: fn(&str) -> Option<(&str, &str)>| -> Option<HashSet<&str>> {
        let numbers: Option<HashSet<&str>> = names.iter().map(|name| Some(split(name.as_ref())?.1)).collect();
        numbers.filter(|numbers| numbers.len() == names.len() && numbers.len() > 1)
    };
    let sketchfab = || all(sketchfab_number).is_some_and(|numbers| numbers.iter().any(|number| number.len() > 1));
    if names.iter().any(|name| name.as_ref().ends_with("_rootJoint")) || sketchfab() {
        Numbering::Sketchfab
    } else if all(microsoft_number).is_some() {
        Numbering::Microsoft
    } else {
        Numbering::None
    }
}

/// `_0` and a number as Sketchfab writes it: `_00`, `_09`, `_010`.
fn sketchfab_number(name: &str) -> Option<(&str, &str)> {
    let (own, number) = name.rsplit_once("_0")?;
    (!own.is_empty() && is_plain_number(number)).then_some((own, number))
}

/// `.` and a number without leading zeros, which Blender's `.001` has.
fn microsoft_number(name: &str) -> Option<(&str, &str)> {
    let (own, number) = name.rsplit_once('.')?;
    (!own.is_empty() && is_plain_number(number)).then_some((own, number))
}

fn is_plain_number(text: &str) -> bool {
    is_number(text) && (text == "0" || !text.starts_with('0'))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(digit)
}

fn digit(c: char) -> bool {
    c.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manglings_of_a_single_name_are_undone() {
        let cases = [
            ("mixamorig:LeftForeArm", "LeftForeArm"),
            ("mixamorig_LeftForeArm", "LeftForeArm"),
            ("mixamorigLeftForeArm", "LeftForeArm"),
            ("mixamorig1:Hips", "Hips"),
            ("mixamorig1_Hips", "Hips"),
            ("mixamorig1Hips", "Hips"),
            ("mixamorig12:Spine1", "Spine1"),
            ("mixamorig:Hips_01", "Hips"),
            ("mixamorig:LeftForeArm_010", "LeftForeArm"),
            ("mixamorig:RightUpLeg_00", "RightUpLeg"),
            ("mixamorig:HeadTop_End_07", "HeadTop_End"),
            ("mixamorig:HeadTop_End", "HeadTop_End"),
            ("Armature|mixamorig:Hips", "Hips"),
            ("Scene|Armature|Hips", "Hips"),
            ("Character1_LeftArm", "LeftArm"),
            ("Bip01 Pelvis", "Pelvis"),
            ("Bip001 L UpperArm", "L UpperArm"),
            ("Bip001_L_UpperArm", "L_UpperArm"),
            ("upper_armFBXASC046L", "upper_arm.L"),
            ("f_indexFBXASC04601FBXASC046L", "f_index.01.L"),
            ("mixamorigFBXASC058Hips", "Hips"),
            ("LFBXASC032Hand", "L Hand"),
            ("handFBXASC045l", "hand-l"),
        ];
        for (name, expected) in cases {
            assert_eq!(normalise(name), expected, "{name}");
        }
    }

    #[test]
    fn names_without_a_mangling_stay_as_they_are() {
        let kept = [
            "",
            "Hips",
            "spine.001",
            "DEF-spine.001",
            "body.001",
            "spine_01",
            "thumb_01.l",
            "J_Sec_Hair1_01",
            "root.4",
            "|",
        ];
        let odd = [
            "mixamorig",
            "mixamorig:",
            "mixamorig1",
            "Armature|",
            "Bip01",
            "Bip01 ",
            "Bip Hand",
            "Character_",
            "FBXASC",
            "FBXASC04",
        ];
        let foreign =
            ["FBXASC007x", "FBXASC200", "FBXASC+46", "FBXASC\u{e9}46", "mixamori\u{e9}:Hips", "\u{e9}", "_00", ".4"];
        let pivots = ["mixamorig:Hips_$AssimpFbx$_PreRotation", "Armature|a_$AssimpFbx$_Scaling"];
        for name in kept.iter().chain(&odd).chain(&foreign).chain(&pivots) {
            assert_eq!(&normalise(name), name);
        }
    }

    #[test]
    fn running_numbers_go_only_where_the_list_shows_them() {
        let lists: [(&[&str], &[&str]); 9] = [
            (&["_rootJoint", "root_01", "DEF-spine.001_03"], &["_rootJoint", "root", "DEF-spine.001"]),
            (&["GLTF_created_0_rootJoint", "hand_010"], &["GLTF_created_0_rootJoint", "hand"]),
            (&["a_01", "b_09", "c_010"], &["a", "b", "c"]),
            // Unreal's own numbers: repeated, or on some names only, or all below ten.
            (&["spine_01", "neck_01", "spine_010"], &["spine_01", "neck_01", "spine_010"]),
            (&["pelvis", "spine_01", "spine_010"], &["pelvis", "spine_01", "spine_010"]),
            (&["spine_01", "spine_02"], &["spine_01", "spine_02"]),
            (&["root.4", "star_03.5", "star_03_end.16"], &["root", "star_03", "star_03_end"]),
            (&["spine.001", "spine.002"], &["spine.001", "spine.002"]),
            (&["root.4", "root.4"], &["root.4", "root.4"]),
        ];
        for (names, expected) in lists {
            assert_eq!(normalise_all(names), expected, "{names:?}");
        }
        assert_eq!(normalise_all(&["root.4"]), ["root.4"], "one name shows no numbering");
        assert!(normalise_all::<&str>(&[]).is_empty());
    }

    #[test]
    fn sides_are_read_in_every_spelling() {
        let (left, right) = (Some(Side::Left), Some(Side::Right));
        let cases = [
            ("thigh.l", left, "thigh"),
            ("thigh_R", right, "thigh"),
            ("l-arm", left, "arm"),
            ("L UpperArm", left, "upperarm"),
            ("J_Bip_L_UpperArm", left, "j_bip_upperarm"),
            ("CC_Base_R_Hand", right, "cc_base_hand"),
            ("LeftHandThumb1", left, "handthumb1"),
            ("right_hand", right, "hand"),
            ("Left elbow", left, "elbow"),
            ("hand.Left", left, "hand"),
            ("thumb.01.L", left, "thumb_01"),
            ("finger2-1.R", right, "finger2_1"),
            ("REye", right, "eye"),
            ("Eye_L", left, "eye"),
            ("J_Bip_C_Hips", None, "j_bip_c_hips"),
            ("upper_arm.L.001", left, "upper_arm_001"),
            ("L_hand_R", None, "l_hand_r"),
            ("Left", left, ""),
            ("lowerarm", None, "lowerarm"),
            ("", None, ""),
        ];
        for (name, side, stem) in cases {
            assert_eq!(side_and_stem(name), (side, stem.to_string()), "{name}");
        }
    }
}
