//! The humanoid bones of VRM 1.0 and their names in VRM 0.x.

/// The enum, its list and its names from one list, so that they cannot differ.
macro_rules! humanoid_bones {
    ($($bone:ident $name:literal)*) => {
        /// A humanoid bone of VRM 1.0, in the order of its schema; left and right are the character's own.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum HumanoidBone {
            $(#[doc = concat!("`", $name, "`")] $bone,)*
        }

        impl HumanoidBone {
            /// All 55, in order.
            pub const ALL: [HumanoidBone; 55] = [$(HumanoidBone::$bone,)*];

            /// The name in VRM 1.0. Godot's humanoid profile has the same with a capital first letter, and `Root` besides.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(HumanoidBone::$bone => $name,)* }
            }
        }
    };
}

humanoid_bones! {
    Hips "hips" Spine "spine" Chest "chest" UpperChest "upperChest" Neck "neck" Head "head" LeftEye "leftEye" RightEye "rightEye" Jaw "jaw"
    LeftUpperLeg "leftUpperLeg" LeftLowerLeg "leftLowerLeg" LeftFoot "leftFoot" LeftToes "leftToes"
    RightUpperLeg "rightUpperLeg" RightLowerLeg "rightLowerLeg" RightFoot "rightFoot" RightToes "rightToes"
    LeftShoulder "leftShoulder" LeftUpperArm "leftUpperArm" LeftLowerArm "leftLowerArm" LeftHand "leftHand"
    RightShoulder "rightShoulder" RightUpperArm "rightUpperArm" RightLowerArm "rightLowerArm" RightHand "rightHand"
    LeftThumbMetacarpal "leftThumbMetacarpal" LeftThumbProximal "leftThumbProximal" LeftThumbDistal "leftThumbDistal"
    LeftIndexProximal "leftIndexProximal" LeftIndexIntermediate "leftIndexIntermediate" LeftIndexDistal "leftIndexDistal"
    LeftMiddleProximal "leftMiddleProximal" LeftMiddleIntermediate "leftMiddleIntermediate" LeftMiddleDistal "leftMiddleDistal"
    LeftRingProximal "leftRingProximal" LeftRingIntermediate "leftRingIntermediate" LeftRingDistal "leftRingDistal"
    LeftLittleProximal "leftLittleProximal" LeftLittleIntermediate "leftLittleIntermediate" LeftLittleDistal "leftLittleDistal"
    RightThumbMetacarpal "rightThumbMetacarpal" RightThumbProximal "rightThumbProximal" RightThumbDistal "rightThumbDistal"
    RightIndexProximal "rightIndexProximal" RightIndexIntermediate "rightIndexIntermediate" RightIndexDistal "rightIndexDistal"
    RightMiddleProximal "rightMiddleProximal" RightMiddleIntermediate "rightMiddleIntermediate" RightMiddleDistal "rightMiddleDistal"
    RightRingProximal "rightRingProximal" RightRingIntermediate "rightRingIntermediate" RightRingDistal "rightRingDistal"
    RightLittleProximal "rightLittleProximal" RightLittleIntermediate "rightLittleIntermediate" RightLittleDistal "rightLittleDistal"
}

/// The thumb of VRM 0.x and the bones of VRM 1.0 that are the same joints: each name stands one joint further out.
const VRM0_THUMBS: [(&str, HumanoidBone); 6] = [
    ("leftThumbProximal", HumanoidBone::LeftThumbMetacarpal),
    ("leftThumbIntermediate", HumanoidBone::LeftThumbProximal),
    ("leftThumbDistal", HumanoidBone::LeftThumbDistal),
    ("rightThumbProximal", HumanoidBone::RightThumbMetacarpal),
    ("rightThumbIntermediate", HumanoidBone::RightThumbProximal),
    ("rightThumbDistal", HumanoidBone::RightThumbDistal),
];

impl HumanoidBone {
    /// The bone of a VRM 1.0 name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<HumanoidBone> {
        HumanoidBone::ALL.into_iter().find(|bone| bone.name() == name)
    }

    /// The bone of a VRM 0.x name, whose thumbs are called `Proximal`, `Intermediate` and `Distal`.
    #[must_use]
    pub fn from_vrm0_name(name: &str) -> Option<HumanoidBone> {
        if name.contains("Thumb") {
            return VRM0_THUMBS.iter().find(|(thumb, _)| *thumb == name).map(|(_, bone)| *bone);
        }
        HumanoidBone::from_name(name)
    }

    /// Whether VRM demands this bone of every model: 15 are demanded.
    #[must_use]
    pub fn is_required(self) -> bool {
        let name = self.name();
        let limbs = ["UpperLeg", "LowerLeg", "Foot", "UpperArm", "LowerArm", "Hand"];
        let limb = name.strip_prefix("left").or(name.strip_prefix("right")).is_some_and(|limb| limbs.contains(&limb));
        limb || matches!(self, HumanoidBone::Hips | HumanoidBone::Spine | HumanoidBone::Head)
    }

    /// The bone on the other side of the body; one in the middle is its own.
    #[must_use]
    pub fn mirrored(self) -> HumanoidBone {
        let name = self.name();
        let other = match (name.strip_prefix("left"), name.strip_prefix("right")) {
            (Some(rest), _) => format!("right{rest}"),
            (_, Some(rest)) => format!("left{rest}"),
            _ => return self,
        };
        HumanoidBone::from_name(&other).expect("every bone of a side has its twin")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_bones_are_the_same_list() {
        for (at, bone) in HumanoidBone::ALL.into_iter().enumerate() {
            assert_eq!((bone as usize, HumanoidBone::from_name(bone.name())), (at, Some(bone)));
            assert_eq!(bone.mirrored().mirrored(), bone);
        }
        assert_eq!(HumanoidBone::LeftHand.mirrored(), HumanoidBone::RightHand);
        assert_eq!(HumanoidBone::Jaw.mirrored(), HumanoidBone::Jaw);
        assert_eq!(HumanoidBone::ALL.iter().filter(|bone| bone.is_required()).count(), 15);
        assert!(HumanoidBone::Spine.is_required() && !HumanoidBone::LeftShoulder.is_required());
        assert_eq!(HumanoidBone::from_name("Hips"), None);
    }

    #[test]
    fn vrm0_thumbs_stand_one_joint_further_in() {
        let cases = [
            ("leftThumbProximal", Some(HumanoidBone::LeftThumbMetacarpal)),
            ("rightThumbIntermediate", Some(HumanoidBone::RightThumbProximal)),
            ("leftThumbDistal", Some(HumanoidBone::LeftThumbDistal)),
            ("leftThumbMetacarpal", None),
            ("leftIndexProximal", Some(HumanoidBone::LeftIndexProximal)),
            ("hips", Some(HumanoidBone::Hips)),
        ];
        for (name, expected) in cases {
            assert_eq!(HumanoidBone::from_vrm0_name(name), expected, "{name}");
        }
    }
}
