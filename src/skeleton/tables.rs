//! The joint names of each naming, as stems: lower case, `_` for separators, the side taken out. `|` parts spellings of one bone, `` is none.

use super::bones::HumanoidBone::{self, *};
use super::humanoid::Family;

/// One naming: the stems of its bones.
pub(super) struct Table {
    pub family: Family,
    /// What stands before every stem.
    pub prefix: &'static str,
    /// Hips, spine, chest, upper chest, neck, head, jaw.
    pub centre: [&'static str; 7],
    /// Eye, shoulder, upper arm, lower arm, hand, upper leg, lower leg, foot, toes.
    pub side: [&'static str; 9],
    /// Thumb, index, middle, ring, little finger, each from the hand outwards.
    pub fingers: [[&'static str; 3]; 5],
    pub reading: Reading,
}

/// How a joint's name is held against the stems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As it is.
    Stem,
    /// As it is, where a side is a word: with a letter, as in `leg.L`, it is another naming's.
    WordSide,
    /// Without separators, and without `Bone` at the end.
    Words,
    /// The names have no side: each is that of a left and of a right bone.
    Sideless,
}

pub(super) const CENTRE: [HumanoidBone; 7] = [Hips, Spine, Chest, UpperChest, Neck, Head, Jaw];

pub(super) const LEFT: [HumanoidBone; 9] =
    [LeftEye, LeftShoulder, LeftUpperArm, LeftLowerArm, LeftHand, LeftUpperLeg, LeftLowerLeg, LeftFoot, LeftToes];

pub(super) const LEFT_FINGERS: [[HumanoidBone; 3]; 5] = [
    [LeftThumbMetacarpal, LeftThumbProximal, LeftThumbDistal],
    [LeftIndexProximal, LeftIndexIntermediate, LeftIndexDistal],
    [LeftMiddleProximal, LeftMiddleIntermediate, LeftMiddleDistal],
    [LeftRingProximal, LeftRingIntermediate, LeftRingDistal],
    [LeftLittleProximal, LeftLittleIntermediate, LeftLittleDistal],
];

const NO_FINGERS: [[&str; 3]; 5] = [[""; 3]; 5];

const VRM_CENTRE: [&str; 7] = ["hips", "spine", "chest", "upperchest", "neck", "head", "jaw"];
const VRM_SIDE: [&str; 9] = ["eye", "shoulder", "upperarm", "lowerarm", "hand", "upperleg", "lowerleg", "foot", "toes"];
const VRM_INDEX: [&str; 3] = ["indexproximal", "indexintermediate", "indexdistal"];
const VRM_MIDDLE: [&str; 3] = ["middleproximal", "middleintermediate", "middledistal"];
const VRM_RING: [&str; 3] = ["ringproximal", "ringintermediate", "ringdistal"];
const VRM_LITTLE: [&str; 3] = ["littleproximal", "littleintermediate", "littledistal"];

const RIGIFY_SIDE: [&str; 9] = ["eye", "shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe"];
const RIGIFY_FINGERS: [[&str; 3]; 5] = [
    ["thumb_01", "thumb_02", "thumb_03"],
    ["f_index_01", "f_index_02", "f_index_03"],
    ["f_middle_01", "f_middle_02", "f_middle_03"],
    ["f_ring_01", "f_ring_02", "f_ring_03"],
    ["f_pinky_01", "f_pinky_02", "f_pinky_03"],
];

/// All namings.
pub(super) const TABLES: [Table; 16] = [
    Table {
        // `ReadyPlayerMe` has the same stems: the prefix in front of them tells the two apart.
        family: Family::Mixamo,
        prefix: "",
        centre: ["hips", "spine", "spine1", "spine2", "neck", "head", ""],
        side: ["eye", "shoulder", "arm", "forearm", "hand", "upleg", "leg", "foot", "toebase"],
        fingers: [
            ["handthumb1", "handthumb2", "handthumb3"],
            ["handindex1", "handindex2", "handindex3"],
            ["handmiddle1", "handmiddle2", "handmiddle3"],
            ["handring1", "handring2", "handring3"],
            ["handpinky1", "handpinky2", "handpinky3"],
        ],
        reading: Reading::WordSide,
    },
    Table {
        family: Family::Unreal,
        prefix: "",
        centre: ["pelvis", "spine_01", "spine_02", "spine_03", "neck_01", "head", ""],
        side: ["", "clavicle", "upperarm", "lowerarm", "hand", "thigh", "calf", "foot", "ball"],
        fingers: [
            ["thumb_01", "thumb_02", "thumb_03"],
            ["index_01", "index_02", "index_03"],
            ["middle_01", "middle_02", "middle_03"],
            ["ring_01", "ring_02", "ring_03"],
            ["pinky_01", "pinky_02", "pinky_03"],
        ],
        reading: Reading::Stem,
    },
    Table {
        family: Family::Rigify,
        prefix: "",
        centre: ["spine", "spine_001", "spine_002", "spine_003", "spine_004", "spine_006", "jaw"],
        side: RIGIFY_SIDE,
        fingers: RIGIFY_FINGERS,
        reading: Reading::Stem,
    },
    Table {
        // A generated rig's deform bones; its controls (`MCH-`, `ORG-`, `tweak_`, `torso`) carry no mesh and answer to nothing.
        family: Family::Rigify,
        prefix: "def_",
        centre: ["spine", "spine_001", "spine_002", "spine_003", "spine_004|neck", "spine_006|head", "jaw"],
        side: RIGIFY_SIDE,
        fingers: RIGIFY_FINGERS,
        reading: Reading::Stem,
    },
    Table {
        // Rigify's limbs under a trunk in words: Babylon's dummy, whose `abdomen2` has no bone between spine and chest to be.
        family: Family::Rigify,
        prefix: "",
        centre: ["hips", "abdomen", "chest", "", "neck", "head", ""],
        side: RIGIFY_SIDE,
        fingers: RIGIFY_FINGERS,
        reading: Reading::Stem,
    },
    Table {
        // The default rig of MakeHuman; its game rig has Unreal's names.
        family: Family::Mpfb,
        prefix: "",
        centre: ["root", "spine04", "spine03", "spine02", "neck01", "head", "jaw"],
        side: ["eye", "shoulder01", "upperarm01", "lowerarm01", "wrist", "upperleg01", "lowerleg01", "foot", ""],
        fingers: [
            ["finger1_1", "finger1_2", "finger1_3"],
            ["finger2_1", "finger2_2", "finger2_3"],
            ["finger3_1", "finger3_2", "finger3_3"],
            ["finger4_1", "finger4_2", "finger4_3"],
            ["finger5_1", "finger5_2", "finger5_3"],
        ],
        reading: Reading::Stem,
    },
    Table {
        family: Family::Rocketbox,
        prefix: "",
        centre: ["pelvis", "spine1", "spine2", "", "", "head", "mjaw"],
        side: ["eye", "clavicle", "upperarm", "forearm", "hand", "thigh", "calf", "foot", "toe0"],
        fingers: [
            ["finger0", "finger01", "finger02"],
            ["finger1", "finger11", "finger12"],
            ["finger2", "finger21", "finger22"],
            ["finger3", "finger31", "finger32"],
            ["finger4", "finger41", "finger42"],
        ],
        reading: Reading::Stem,
    },
    Table {
        family: Family::Reallusion,
        prefix: "cc_base_",
        centre: ["hip", "waist", "spine01", "spine02", "necktwist01", "head", ""],
        side: ["eye", "clavicle", "upperarm", "forearm", "hand", "thigh", "calf", "foot", "toebase"],
        fingers: [
            ["thumb1|finger00", "thumb2|finger01", "thumb3|finger02"],
            ["index1|finger10", "index2|finger11", "index3|finger12"],
            ["mid1|finger20", "mid2|finger21", "mid3|finger22"],
            ["ring1|finger30", "ring2|finger31", "ring3|finger32"],
            ["pinky1|finger40", "pinky2|finger41", "pinky3|finger42"],
        ],
        reading: Reading::Stem,
    },
    Table {
        family: Family::Vroid,
        prefix: "j_",
        centre: ["bip_c_hips", "bip_c_spine", "bip_c_chest", "bip_c_upperchest", "bip_c_neck", "bip_c_head", ""],
        side: [
            "adj_faceeye",
            "bip_shoulder",
            "bip_upperarm",
            "bip_lowerarm",
            "bip_hand",
            "bip_upperleg",
            "bip_lowerleg",
            "bip_foot",
            "bip_toebase",
        ],
        fingers: [
            ["bip_thumb1", "bip_thumb2", "bip_thumb3"],
            ["bip_index1", "bip_index2", "bip_index3"],
            ["bip_middle1", "bip_middle2", "bip_middle3"],
            ["bip_ring1", "bip_ring2", "bip_ring3"],
            ["bip_little1", "bip_little2", "bip_little3"],
        ],
        reading: Reading::Stem,
    },
    Table {
        family: Family::Vrm,
        prefix: "",
        centre: VRM_CENTRE,
        side: VRM_SIDE,
        fingers: [["thumbmetacarpal", "thumbproximal", "thumbdistal"], VRM_INDEX, VRM_MIDDLE, VRM_RING, VRM_LITTLE],
        reading: Reading::Words,
    },
    Table {
        // The thumbs of VRM 0.x, which files of version 1.0 have in their joint names too.
        family: Family::Vrm,
        prefix: "",
        centre: VRM_CENTRE,
        side: VRM_SIDE,
        fingers: [["thumbproximal", "thumbintermediate", "thumbdistal"], VRM_INDEX, VRM_MIDDLE, VRM_RING, VRM_LITTLE],
        reading: Reading::Words,
    },
    Table {
        family: Family::Cats,
        prefix: "",
        centre: ["hips", "spine", "chest", "", "neck", "head", ""],
        side: ["eye", "shoulder", "arm", "elbow", "wrist", "leg", "knee", "ankle", "toe"],
        fingers: [
            ["thumb0", "thumb1", "thumb2"],
            ["indexfinger1", "indexfinger2", "indexfinger3"],
            ["middlefinger1", "middlefinger2", "middlefinger3"],
            ["ringfinger1", "ringfinger2", "ringfinger3"],
            ["littlefinger1", "littlefinger2", "littlefinger3"],
        ],
        reading: Reading::Stem,
    },
    Table {
        // Of its spine, joints 1, 2 and 6 carry the mesh, and none is called a hip: which is which, the names do not say.
        family: Family::Bitmoji,
        prefix: "",
        centre: ["", "", "", "", "c_neck0001_bind_jnt", "c_head0001_bind_jnt", "c_jaw_bind_jnt"],
        side: [
            "",
            "clavicle_bind_jnt",
            "armupper0001_bind_jnt",
            "armlower0001_bind_jnt",
            "hand0001_bind_jnt",
            "legupper0001_bind_jnt",
            "leglower0001_bind_jnt",
            "foot0001_bind_jnt",
            "",
        ],
        fingers: [
            ["handthumb0001_bind_jnt", "handthumb0002_bind_jnt", "handthumb0003_bind_jnt"],
            ["handpointer0002_bind_jnt", "handpointer0003_bind_jnt", "handpointer0004_bind_jnt"],
            ["handmiddle0002_bind_jnt", "handmiddle0003_bind_jnt", "handmiddle0004_bind_jnt"],
            ["handring0002_bind_jnt", "handring0003_bind_jnt", "handring0004_bind_jnt"],
            ["handpinky0002_bind_jnt", "handpinky0003_bind_jnt", "handpinky0004_bind_jnt"],
        ],
        reading: Reading::Stem,
    },
    Table {
        family: Family::RobotExpressive,
        prefix: "",
        centre: ["hips", "abdomen", "torso", "", "neck", "head", ""],
        side: ["", "shoulder", "upperarm", "lowerarm", "", "upperleg", "lowerleg", "foot", ""],
        fingers: NO_FINGERS,
        reading: Reading::Stem,
    },
    Table {
        family: Family::GodotPlatformer,
        prefix: "",
        centre: ["hip", "waist", "chest", "", "neck", "head", ""],
        side: ["", "", "arm", "forearm", "", "thigh", "leg", "foot", ""],
        fingers: NO_FINGERS,
        reading: Reading::Stem,
    },
    Table {
        family: Family::WebXrHand,
        prefix: "",
        centre: [""; 7],
        side: ["", "", "", "", "wrist", "", "", "", ""],
        fingers: [
            ["thumb_metacarpal", "thumb_phalanx_proximal", "thumb_phalanx_distal"],
            ["index_finger_phalanx_proximal", "index_finger_phalanx_intermediate", "index_finger_phalanx_distal"],
            ["middle_finger_phalanx_proximal", "middle_finger_phalanx_intermediate", "middle_finger_phalanx_distal"],
            ["ring_finger_phalanx_proximal", "ring_finger_phalanx_intermediate", "ring_finger_phalanx_distal"],
            ["pinky_finger_phalanx_proximal", "pinky_finger_phalanx_intermediate", "pinky_finger_phalanx_distal"],
        ],
        reading: Reading::Sideless,
    },
];
