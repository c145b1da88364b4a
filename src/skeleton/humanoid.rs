//! Which joint is which humanoid bone, told from the names alone.
//!
//! Names are normalised ([`names`]), then held against every naming that is known here, without regard to case. The naming that recognises the most
//! bones is taken; where several recognise equally many, all of them are heard. A joint that they read as different bones, and joints that they
//! read as the same one, are reported as ambiguous and given to no bone: a file with `head` and `HEAD` has no head until its host says which.

pub use super::bones::HumanoidBone;
use super::names::{self, Side};
use super::tables::{CENTRE, LEFT, LEFT_FINGERS, Reading, TABLES, Table};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A naming of joints: whose names a skeleton has.
///
/// The first ten are the listed ones, read as facts from the tables of the VRM add-on for Blender; the others are those of real files with names of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// `mixamorig:LeftForeArm`.
    Mixamo,
    /// Mixamo's names without the prefix, and eyes: Ready Player Me, and what strips prefixes.
    ReadyPlayerMe,
    /// `lowerarm_l`, `spine_01`: the Unreal mannequin, mannequiny (`lowerarm.l`), MakeHuman's game rig.
    Unreal,
    /// `forearm.L`, `spine.001`: Rigify's metarig, the deform bones (`DEF-`) of what it generates, and limbs of Rigify under a trunk in words.
    Rigify,
    /// `lowerarm01.L`: MakeHuman's default rig (MPFB).
    Mpfb,
    /// `Bip01 L Forearm`: Microsoft Rocketbox, on 3ds Max Biped.
    Rocketbox,
    /// `CC_Base_L_Forearm`: Reallusion Character Creator, with fingers in words or numbers.
    Reallusion,
    /// `J_Bip_L_LowerArm`: VRoid Studio.
    Vroid,
    /// VRM's own words in any spelling: `leftLowerArm` (VRM), `LeftLowerArm` (Godot's profile), `lower_arm.L` (the VRM add-on), `LeftLowerArmBone`.
    Vrm,
    /// `Left elbow`: the Cats plugin for Blender.
    Cats,
    /// `L_armLower0001_bind_JNT`.
    Bitmoji,
    /// `LowerArm.L` on `Abdomen` and `Torso`: the RobotExpressive sample.
    RobotExpressive,
    /// `l-forearm`: the player of Godot's platformer demo.
    GodotPlatformer,
    /// `index-finger-phalanx-distal`: WebXR's hand joints. They name no side, so every one of them is ambiguous between two bones.
    WebXrHand,
}

/// Joints and bones of which the names do not say which belongs to which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ambiguity {
    /// The bones in question, in order.
    pub bones: Vec<HumanoidBone>,
    /// The joints in question, ascending.
    pub joints: Vec<usize>,
}

/// What the names of a skeleton's joints say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HumanoidMap {
    /// The joint of each bone that exactly one joint answers to.
    pub joints: BTreeMap<HumanoidBone, usize>,
    /// The naming that was recognised; none where several read the names equally well, as `neck` and `head` are many namings' words.
    pub family: Option<Family>,
    /// What the names leave open; none of these bones and joints is in `joints`.
    pub ambiguous: Vec<Ambiguity>,
    /// The joints that answer to no bone, ascending: helpers, hair, sockets, tips.
    pub unresolved: Vec<usize>,
}

impl HumanoidMap {
    /// The bones that VRM demands and no joint answers to, or more than one.
    #[must_use]
    pub fn missing(&self) -> Vec<HumanoidBone> {
        HumanoidBone::ALL.into_iter().filter(|bone| bone.is_required() && !self.joints.contains_key(bone)).collect()
    }
}

/// The humanoid bones that these joint names mean.
///
/// The names are those of one skeleton's joints. The nodes of a whole scene do as well, but a mesh node called `Head` beside the joint of that
/// name makes the head ambiguous. One bone is too little to know a naming by, except in VRM's own words and after `mixamorig`: a lone `root` is not MakeHuman's hips.
///
/// ```
/// use rigeval::skeleton::humanoid::{Family, HumanoidBone, humanoid_of};
///
/// let map = humanoid_of(&["mixamorig:Hips", "mixamorig:LeftArm", "mixamorig:LeftForeArm", "socket"]);
/// assert_eq!(map.family, Some(Family::Mixamo));
/// assert_eq!(map.joints[&HumanoidBone::LeftLowerArm], 2);
/// assert_eq!(map.unresolved, [3]);
/// ```
#[must_use]
pub fn humanoid_of<S: AsRef<str>>(joint_names: &[S]) -> HumanoidMap {
    let stems: Vec<Stem> = names::normalise_all(joint_names).iter().map(|name| Stem::of(name)).collect();
    // The prefix proves its naming, whatever else the stems would be.
    let mixamo = joint_names.iter().any(|name| has_mixamo_prefix(name.as_ref()));
    let (mut most, mut family) = (0, None);
    let mut claims = vec![Bones::default(); stems.len()];
    for table in TABLES.iter().filter(|table| !mixamo || table.family == Family::Mixamo) {
        let rows = rows(table);
        let own: Vec<Bones> = stems.iter().map(|stem| claim(table.reading, &rows, stem)).collect();
        let all = own.iter().fold(Bones::default(), |all, bones| all.with(*bones));
        let count = all.0.count_ones() / if table.reading == Reading::Sideless { 2 } else { 1 };
        if count == 0 || count < most || count == 1 && !mixamo && table.family != Family::Vrm {
            continue;
        }
        if count > most {
            claims.fill(Bones::default());
            (most, family) = (count, Some(table.family));
        }
        family = family.filter(|family| *family == table.family);
        claims.iter_mut().zip(own).for_each(|(bones, own)| *bones = bones.with(own));
    }
    if family == Some(Family::Mixamo) && !mixamo {
        family = Some(Family::ReadyPlayerMe);
    }
    settled(&claims, family)
}

/// A set of bones, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Bones(u64);

impl Bones {
    fn one(bone: HumanoidBone) -> Bones {
        Bones(1 << bone as u64)
    }

    fn with(self, other: Bones) -> Bones {
        Bones(self.0 | other.0)
    }

    fn iter(self) -> impl Iterator<Item = HumanoidBone> {
        HumanoidBone::ALL.into_iter().filter(move |bone| self.0 & Bones::one(*bone).0 != 0)
    }
}

/// The bone of every stem of a naming, the left one of those that have a side.
fn rows(table: &Table) -> HashMap<String, (HumanoidBone, bool)> {
    let centre = table.centre.iter().zip(CENTRE).map(|(stems, bone)| (*stems, bone, false));
    let side = table.side.iter().zip(LEFT).map(|(stems, bone)| (*stems, bone, true));
    let fingers = table.fingers.as_flattened().iter().zip(LEFT_FINGERS.as_flattened()).map(|(s, b)| (*s, *b, true));
    let all = centre.chain(side).chain(fingers).filter(|(stems, ..)| !stems.is_empty());
    let spelled = |stem: &str| format!("{}{stem}", table.prefix);
    all.flat_map(|(stems, bone, sided)| stems.split('|').map(move |stem| (spelled(stem), (bone, sided)))).collect()
}

/// A normalised name, taken apart.
struct Stem {
    side: Option<Side>,
    stem: String,
    side_is_word: bool,
}

impl Stem {
    fn of(name: &str) -> Stem {
        let (side, stem) = names::side_and_stem(name);
        let folded = name.to_ascii_lowercase();
        Stem { side, stem, side_is_word: folded.contains("left") || folded.contains("right") }
    }
}

fn claim(
    reading: Reading,
    rows: &HashMap<String, (HumanoidBone, bool)>,
    Stem { side, stem, side_is_word }: &Stem,
) -> Bones {
    let row = match reading {
        Reading::Words => {
            let words = stem.replace('_', "");
            rows.get(words.strip_suffix("bone").unwrap_or(&words))
        }
        Reading::WordSide if side.is_some() && !side_is_word => None,
        _ => rows.get(stem),
    };
    match (row, *side) {
        (Some((bone, true)), Some(Side::Left)) => Bones::one(*bone),
        (Some((bone, true)), Some(Side::Right)) => Bones::one(bone.mirrored()),
        (Some((bone, true)), None) if reading == Reading::Sideless => {
            Bones::one(*bone).with(Bones::one(bone.mirrored()))
        }
        (Some((bone, false)), None) => Bones::one(*bone),
        _ => Bones::default(),
    }
}

/// Bones that one joint claims, which claims no other, are settled; whatever hangs together in another way is one ambiguity.
fn settled(claims: &[Bones], family: Option<Family>) -> HumanoidMap {
    let mut map = HumanoidMap { family, ..HumanoidMap::default() };
    let mut owners: BTreeMap<HumanoidBone, Vec<usize>> = BTreeMap::new();
    for (joint, bones) in claims.iter().enumerate() {
        bones.iter().for_each(|bone| owners.entry(bone).or_default().push(joint));
        if *bones == Bones::default() {
            map.unresolved.push(joint);
        }
    }
    while let Some((first, joints)) = owners.pop_first() {
        if joints.len() == 1 && claims[joints[0]] == Bones::one(first) {
            map.joints.insert(first, joints[0]);
            continue;
        }
        let (mut bones, mut joints) = (BTreeSet::from([first]), BTreeSet::from_iter(joints));
        loop {
            let reached = joints.iter().fold(Bones::default(), |all, joint| all.with(claims[*joint]));
            let Some(next) = reached.iter().find(|bone| !bones.contains(bone)) else { break };
            bones.insert(next);
            joints.extend(owners.remove(&next).unwrap_or_default());
        }
        map.ambiguous.push(Ambiguity { bones: bones.into_iter().collect(), joints: joints.into_iter().collect() });
    }
    map
}

fn has_mixamo_prefix(name: &str) -> bool {
    name.to_ascii_lowercase().contains("mixamorig")
}

#[cfg(test)]
mod tests {
    use super::*;
    use HumanoidBone::*;

    #[test]
    fn stems_of_a_naming_are_its_own_and_folded() {
        for table in &TABLES {
            let stems = table.centre.iter().chain(&table.side).chain(table.fingers.as_flattened());
            let count = stems.flat_map(|stems| stems.split('|')).filter(|stem| !stem.is_empty()).count();
            let rows = rows(table);
            assert_eq!(rows.len(), count, "{:?}: a stem twice", table.family);
            for stem in rows.keys() {
                assert_eq!(names::side_and_stem(stem), (None, stem.clone()), "{:?}", table.family);
            }
        }
    }

    #[test]
    fn joints_that_mean_one_bone_are_reported() {
        for names in [["hips", "neck", "head", "HEAD"], ["Hips", "Neck", "head", "head"]] {
            let map = humanoid_of(&names);
            assert_eq!(map.joints, BTreeMap::from([(Hips, 0), (Neck, 1)]), "{names:?}");
            assert_eq!(map.ambiguous, [Ambiguity { bones: vec![Head], joints: vec![2, 3] }]);
            assert!(map.missing().contains(&Head) && !map.missing().contains(&Hips));
        }
        let map = humanoid_of(&["neck", "head", "left_eye", "right_eye"]);
        assert_eq!((map.joints.len(), map.family), (4, None), "the words of more than one naming");
        let two_characters = humanoid_of(&["mixamorig1:Hips", "mixamorig1:LeftUpLeg", "mixamorig2:Hips"]);
        assert_eq!(two_characters.joints, BTreeMap::from([(LeftUpperLeg, 1)]));
        assert_eq!(two_characters.ambiguous, [Ambiguity { bones: vec![Hips], joints: vec![0, 2] }]);
    }

    #[test]
    fn names_that_mean_two_bones_are_reported() {
        // Both halves of a leg are called `leg` somewhere.
        let map = humanoid_of(&["body", "hand_L", "hand_R", "leg_L", "leg_R"]);
        assert_eq!(map.joints, BTreeMap::from([(LeftHand, 1), (RightHand, 2)]));
        let halves = |upper, lower, joint| Ambiguity { bones: vec![upper, lower], joints: vec![joint] };
        let expected = [halves(LeftUpperLeg, LeftLowerLeg, 3), halves(RightUpperLeg, RightLowerLeg, 4)];
        assert_eq!(map.ambiguous, expected);
        assert_eq!(map.unresolved, [0]);
        // A joint beside it settles what a leg is.
        assert_eq!(humanoid_of(&["l-thigh", "l-leg"]).joints, BTreeMap::from([(LeftUpperLeg, 0), (LeftLowerLeg, 1)]));
        assert_eq!(
            humanoid_of(&["Left leg", "Left knee"]).joints,
            BTreeMap::from([(LeftUpperLeg, 0), (LeftLowerLeg, 1)])
        );
    }

    #[test]
    fn thumbs_are_told_by_their_third_joint() {
        let thumbs = |inner: &str, outer: &str| {
            humanoid_of(&[format!("thumb.{inner}.L"), format!("thumb.{outer}.L"), "thumb.distal.L".into()])
        };
        let expected = BTreeMap::from([(LeftThumbMetacarpal, 0), (LeftThumbProximal, 1), (LeftThumbDistal, 2)]);
        assert_eq!(thumbs("metacarpal", "proximal").joints, expected);
        assert_eq!(thumbs("proximal", "intermediate").joints, expected);
        let open = humanoid_of(&["thumb.proximal.L", "thumb.distal.L"]);
        assert_eq!(open.joints, BTreeMap::from([(LeftThumbDistal, 1)]));
        let bones = vec![LeftThumbMetacarpal, LeftThumbProximal];
        assert_eq!(open.ambiguous, [Ambiguity { bones: bones.clone(), joints: vec![0] }]);
        let both = humanoid_of(&["thumb.metacarpal.L", "thumb.proximal.L", "thumb.intermediate.L", "thumb.distal.L"]);
        assert_eq!(both.joints, BTreeMap::from([(LeftThumbDistal, 3)]));
        assert_eq!(both.ambiguous, [Ambiguity { bones, joints: vec![0, 1, 2] }]);
    }

    #[test]
    fn one_bone_is_a_naming_only_in_vrms_words() {
        assert_eq!(humanoid_of(&["Head"]).joints, BTreeMap::from([(Head, 0)]));
        for names in [&["root"][..], &["pelvis", "socket"], &["", "", ""], &[]] {
            let map = humanoid_of(names);
            let unresolved = (0..names.len()).collect();
            assert_eq!(map, HumanoidMap { unresolved, ..HumanoidMap::default() }, "{names:?}");
        }
    }

    #[test]
    fn pivots_and_numbered_duplicates_are_no_joints() {
        let names = ["Hips", "Spine", "mixamorig:Hips_$AssimpFbx$_PreRotation", "Hips.001", "upper_arm.L.001"];
        let map = humanoid_of(&names);
        assert_eq!(map.joints, BTreeMap::from([(Hips, 0), (Spine, 1)]));
        assert_eq!((map.ambiguous, map.unresolved), (vec![], vec![2, 3, 4]));
    }
}
