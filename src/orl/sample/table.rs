//! What each raw control of the upper face, the jaw, the nose, the neck and the insides of the mouth does to the sample head.
//!
//! Places and ways are in millimetres on the subject's left, joint values in the rig's centimetres and degrees. The names are those of
//! MetaHuman rigs; the motions are our own.

use crate::head::canvas::Move;
use crate::orl::dna::Attribute::{self, RotateX, RotateY, RotateZ, TranslateX, TranslateY, TranslateZ};

/// Raw controls that differ by side, and by lip or row of teeth, only.
///
/// In names `{}` stands for L or R, `<>` for Left or Right, `><` for the other one of them, `%` for U or D, `#` for Upper or Lower.
#[derive(Debug)]
pub(super) struct Family {
    /// Without `CTRL_expressions.`.
    pub name: &'static str,
    /// What drives it; none of it where a host does.
    pub gui: &'static [Gui],
    pub moves: &'static [Move],
    /// Joint, attribute, value at full effort.
    pub joints: &'static [(&'static str, Attribute, f32)],
    /// Whether an ARKit shape leads here; what does keeps its blend shape longest as the levels get coarser.
    pub arkit: bool,
    /// Whether the skin wrinkles.
    pub wrinkles: bool,
}

/// A stretch of a slider, named without `CTRL_`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Gui {
    /// 0 to 1.
    Up(&'static str),
    /// 0 to -1.
    Down(&'static str),
    /// Up for the left control, down for the right one.
    Out(&'static str),
    /// Down for the left control, up for the right one.
    In(&'static str),
    /// Phase k of n: up to k / n and down again, one after the other along 0 to 1.
    Phase(&'static str, usize, usize),
}

use Gui::{Down, In, Out, Phase, Up};
use Move::{Ear, Lids, Lip, LowerLid, LowerLip, Neck, Pupil, Skin, Tongue, TongueSize, UpperLid, UpperLip};

type Joints = &'static [(&'static str, Attribute, f32)];

/// A family whose whole motion is that of vertices.
pub(super) const fn family(name: &'static str, gui: &'static [Gui], moves: &'static [Move]) -> Family {
    Family { name, gui, moves, joints: &[], arkit: false, wrinkles: false }
}

/// A family that turns or moves named joints too.
const fn jointed(name: &'static str, gui: &'static [Gui], moves: &'static [Move], joints: Joints) -> Family {
    Family { joints, ..family(name, gui, moves) }
}

/// The same, led to by an ARKit shape.
pub(super) const fn arkit(family: Family) -> Family {
    Family { arkit: true, ..family }
}

/// The same with wrinkles.
pub(super) const fn wrinkled(family: Family) -> Family {
    Family { wrinkles: true, ..family }
}

const JAW: &str = "FACIAL_C_Jaw";
const EYE: &str = "FACIAL_{}_Eye";
const TEETH: &str = "FACIAL_C_Teeth#";
const TONGUE: [&str; 4] = ["FACIAL_C_Tongue1", "FACIAL_C_Tongue2", "FACIAL_C_Tongue3", "FACIAL_C_Tongue4"];

pub(super) const UPPER_FACE: &[Family] = &[
    wrinkled(arkit(family(
        "browDown{}",
        &[Up("{}_brow_down.ty")],
        &[Skin([26.0, 306.0], [20.0, 11.0], [-0.8, -5.0, 0.6])],
    ))),
    wrinkled(family(
        "browLateral{}",
        &[Up("{}_brow_lateral.ty")],
        &[Skin([16.0, 304.0], [12.0, 12.0], [-3.0, -0.8, 0.3])],
    )),
    wrinkled(arkit(family(
        "browRaiseIn{}",
        &[Up("{}_brow_raiseIn.ty")],
        &[Skin([14.0, 308.0], [13.0, 14.0], [0.4, 5.5, 0.6])],
    ))),
    wrinkled(arkit(family(
        "browRaiseOuter{}",
        &[Up("{}_brow_raiseOut.ty")],
        &[Skin([43.0, 308.0], [15.0, 14.0], [0.5, 5.0, 0.6])],
    ))),
    family("earUp{}", &[Up("{}_ear_up.ty")], &[Ear([80.0, 262.0], [20.0, 22.0], [0.5, 3.0, 0.0])]),
    arkit(family("eyeBlink{}", &[Up("{}_eye_blink.ty")], &[Lids(1.0)])),
    arkit(family(
        "eyeWiden{}",
        &[Down("{}_eye_blink.ty")],
        &[UpperLid(-0.35), Skin([31.0, 301.0], [16.0, 9.0], [0.0, 1.6, 0.3])],
    )),
    wrinkled(arkit(family(
        "eyeCheekRaise{}",
        &[Up("{}_eye_cheekRaise.ty")],
        &[Skin([42.0, 266.0], [18.0, 12.0], [-0.5, 3.6, 0.8]), LowerLid(0.4)],
    ))),
    wrinkled(family(
        "eyeFaceScrunch{}",
        &[Up("{}_eye_faceScrunch.ty")],
        &[
            Skin([30.0, 262.0], [22.0, 15.0], [-0.5, 2.5, 1.0]),
            Skin([25.0, 304.0], [18.0, 10.0], [-0.5, -2.6, 0.5]),
            LowerLid(0.4),
        ],
    )),
    family(
        "eyeLidPress{}",
        &[Up("{}_eye_lidPress.ty")],
        &[Skin([31.0, 292.0], [14.0, 7.0], [0.0, -0.8, 0.3]), Skin([31.0, 277.0], [14.0, 7.0], [0.0, 0.8, 0.3])],
    ),
    arkit(jointed("eyeLookUp{}", &[Up("{}_eye.ty"), Up("C_eye.ty")], &[UpperLid(-0.22)], &[(EYE, RotateX, -30.0)])),
    arkit(jointed("eyeLookDown{}", &[Down("{}_eye.ty"), Down("C_eye.ty")], &[UpperLid(0.35)], &[(EYE, RotateX, 30.0)])),
    arkit(jointed(
        "eyeLook<>{}",
        &[Out("{}_eye.tx"), Out("C_eye.tx")],
        &[Skin([33.0, 285.0], [12.0, 7.0], [0.5, 0.0, 0.1])],
        &[(EYE, RotateY, 38.0)],
    )),
    arkit(jointed(
        "eyeLook><{}",
        &[In("{}_eye.tx"), In("C_eye.tx")],
        &[Skin([30.0, 285.0], [12.0, 7.0], [-0.5, 0.0, 0.1])],
        &[(EYE, RotateY, -38.0)],
    )),
    family("eyeLowerLidUp{}", &[Up("{}_eye_eyelidD.ty")], &[LowerLid(0.8)]),
    family("eyeLowerLidDown{}", &[Down("{}_eye_eyelidD.ty")], &[LowerLid(-0.5)]),
    family("eyeUpperLidUp{}", &[Up("{}_eye_eyelidU.ty")], &[UpperLid(-0.25)]),
    family("eyeRelax{}", &[Down("{}_eye_eyelidU.ty")], &[UpperLid(0.25)]),
    family("eyePupilWide{}", &[Up("{}_eye_pupil.ty")], &[Pupil(1.0)]),
    family("eyePupilNarrow{}", &[Down("{}_eye_pupil.ty")], &[Pupil(-0.6)]),
    wrinkled(arkit(family(
        "eyeSquintInner{}",
        &[Up("{}_eye_squintInner.ty")],
        &[LowerLid(1.0), Skin([20.0, 277.0], [9.0, 8.0], [-0.5, 0.6, 0.5])],
    ))),
    jointed(
        "eyeParallelLookDirection",
        &[Up("C_eye_parallelLook.ty")],
        &[],
        &[("FACIAL_L_Eye", RotateY, 2.0), ("FACIAL_R_Eye", RotateY, -2.0)],
    ),
    family("eyelashesUpIN{}", &[Up("{}_eyelashes_tweakerIn.ty")], &[Skin([25.0, 291.0], [6.0, 4.0], [0.0, 0.6, 0.5])]),
    family(
        "eyelashesDownIN{}",
        &[Down("{}_eyelashes_tweakerIn.ty")],
        &[Skin([25.0, 291.0], [6.0, 4.0], [0.0, -0.4, 0.5])],
    ),
    family(
        "eyelashesUpOUT{}",
        &[Up("{}_eyelashes_tweakerOut.ty")],
        &[Skin([38.0, 291.0], [6.0, 4.0], [0.0, 0.6, 0.5])],
    ),
    family(
        "eyelashesDownOUT{}",
        &[Down("{}_eyelashes_tweakerOut.ty")],
        &[Skin([38.0, 291.0], [6.0, 4.0], [0.0, -0.4, 0.5])],
    ),
];

pub(super) const JAW_AND_NOSE: &[Family] = &[
    arkit(jointed(
        "jawOpen",
        &[Up("C_jaw.ty")],
        &[Skin([40.0, 224.0], [14.0, 18.0], [-1.2, 0.0, -1.0])],
        &[(JAW, RotateX, 19.0), (JAW, TranslateZ, 0.2)],
    )),
    jointed(
        "jawOpenExtreme",
        &[Up("C_jaw_openExtreme.ty")],
        &[Skin([40.0, 226.0], [14.0, 22.0], [-1.5, 0.0, -1.2])],
        &[(JAW, RotateX, 8.0), (JAW, TranslateY, -0.25)],
    ),
    arkit(jointed(
        "jaw<>",
        &[Out("C_jaw.tx")],
        &[Skin([0.0, 216.0], [24.0, 12.0], [1.5, 0.0, 0.0])],
        &[(JAW, RotateY, 4.5), (JAW, TranslateX, 0.15)],
    )),
    arkit(jointed(
        "jawFwd",
        &[Up("C_jaw_fwdBack.ty")],
        &[Skin([0.0, 184.0], [16.0, 12.0], [0.0, 0.5, 0.8])],
        &[(JAW, TranslateZ, 0.8), (JAW, TranslateY, -0.1)],
    )),
    jointed(
        "jawBack",
        &[Down("C_jaw_fwdBack.ty")],
        &[Skin([0.0, 184.0], [16.0, 12.0], [0.0, 0.3, -0.6])],
        &[(JAW, TranslateZ, -0.4)],
    ),
    arkit(family(
        "jawChinRaiseD{}",
        &[Up("{}_jaw_ChinRaiseD.ty")],
        &[Skin([7.0, 183.0], [12.0, 11.0], [0.0, 3.6, 1.0]), Skin([8.0, 214.0], [14.0, 9.0], [0.0, 1.8, 1.0])],
    )),
    arkit(family(
        "jawChinRaiseU{}",
        &[Up("{}_jaw_ChinRaiseU.ty")],
        &[Skin([8.0, 219.0], [14.0, 9.0], [0.0, 2.4, 1.0]), Skin([7.0, 184.0], [12.0, 10.0], [0.0, 1.5, 0.5])],
    )),
    family("jawChinCompress{}", &[Up("{}_jaw_chinCompress.ty")], &[Skin([9.0, 182.0], [10.0, 9.0], [0.0, 1.2, 1.4])]),
    family("jawClench{}", &[Up("{}_jaw_clench.ty")], &[Skin([54.0, 215.0], [13.0, 18.0], [2.2, 0.0, 0.6])]),
    family(
        "noseNasolabialDeepen{}",
        &[Up("{}_nose_nasolabialDeepen.ty")],
        &[Skin([26.0, 232.0], [10.0, 14.0], [0.8, 1.0, -1.3])],
    ),
    family("noseNostrilDilate{}", &[Up("{}_nose.tx")], &[Skin([12.0, 241.0], [6.0, 6.0], [1.6, 0.2, 0.2])]),
    family("noseNostrilCompress{}", &[Down("{}_nose.tx")], &[Skin([12.0, 241.0], [6.0, 6.0], [-1.5, 0.0, 0.0])]),
    wrinkled(arkit(family(
        "noseWrinkle{}",
        &[Up("{}_nose.ty")],
        &[Skin([13.0, 248.0], [11.0, 13.0], [0.0, 3.4, 0.8]), Skin([18.0, 227.0], [11.0, 8.0], [0.0, 1.8, 0.3])],
    ))),
    family("noseNostrilDepress{}", &[Down("{}_nose.ty")], &[Skin([12.0, 241.0], [7.0, 7.0], [0.0, -1.7, -0.3])]),
    wrinkled(family(
        "noseWrinkleUpper{}",
        &[Up("{}_nose_wrinkleUpper.ty")],
        &[Skin([8.0, 275.0], [9.0, 13.0], [-0.4, 1.9, 0.8])],
    )),
];

pub(super) const INSIDES_AND_NECK: &[Family] = &[
    jointed(
        "teeth<>%",
        &[Out("C_teeth%.tx")],
        &[Lip(0.0, [20.0, 9.0], [0.5, 0.0, 0.2], 0.0)],
        &[(TEETH, TranslateX, 0.3)],
    ),
    jointed(
        "teethUp%",
        &[Up("C_teeth%.ty")],
        &[Lip(0.0, [20.0, 9.0], [0.0, 0.0, 0.4], 0.0)],
        &[(TEETH, TranslateY, 0.3)],
    ),
    jointed(
        "teethDown%",
        &[Down("C_teeth%.ty")],
        &[Lip(0.0, [20.0, 9.0], [0.0, 0.0, -0.3], 0.0)],
        &[(TEETH, TranslateY, -0.3)],
    ),
    jointed(
        "teethFwd%",
        &[Up("C_teeth_fwdBack%.ty")],
        &[Lip(0.0, [20.0, 9.0], [0.0, 0.0, 0.8], 0.0)],
        &[(TEETH, TranslateZ, 0.3)],
    ),
    jointed(
        "teethBack%",
        &[Down("C_teeth_fwdBack%.ty")],
        &[Lip(0.0, [20.0, 9.0], [0.0, 0.0, -0.5], 0.0)],
        &[(TEETH, TranslateZ, -0.3)],
    ),
    jointed(
        "tongueUp",
        &[Up("C_tongue_move.ty")],
        &[Tongue([0.0, 0.8, 0.0])],
        &[(TONGUE[1], TranslateY, 0.2), (TONGUE[2], TranslateY, 0.2)],
    ),
    jointed(
        "tongueDown",
        &[Down("C_tongue_move.ty")],
        &[Tongue([0.0, -0.5, 0.0])],
        &[(TONGUE[1], TranslateY, -0.12), (TONGUE[2], TranslateY, -0.12)],
    ),
    jointed("tongue<>", &[Out("C_tongue_move.tx")], &[Tongue([1.0, 0.0, 0.0])], &[(TONGUE[1], RotateY, 12.0)]),
    arkit(jointed(
        "tongueOut",
        &[Up("C_tongue_inOut.ty")],
        &[
            Tongue([0.0, -1.0, 1.0]),
            UpperLip(0.0, [16.0, 8.0], [0.0, 1.2, 0.5], 0.0),
            LowerLip(0.0, [16.0, 9.0], [0.0, 2.5, 0.5], 0.0),
        ],
        // Over the lower teeth, then down.
        &[
            (TONGUE[0], TranslateZ, 0.5),
            (TONGUE[0], TranslateY, 0.4),
            (TONGUE[1], TranslateZ, 0.8),
            (TONGUE[1], TranslateY, 0.3),
            (TONGUE[2], TranslateZ, 1.0),
            (TONGUE[3], TranslateZ, 1.0),
            (TONGUE[3], RotateX, 15.0),
        ],
    )),
    jointed(
        "tongueIn",
        &[Down("C_tongue_inOut.ty")],
        &[Tongue([0.0, 0.3, -1.0])],
        &[(TONGUE[1], TranslateZ, -0.2), (TONGUE[2], TranslateZ, -0.2)],
    ),
    jointed("tongueBendUp", &[Up("C_tongue_bendTwist.ty")], &[Tongue([0.0, 0.4, 0.0])], &[(TONGUE[2], RotateX, -18.0)]),
    jointed(
        "tongueBendDown",
        &[Down("C_tongue_bendTwist.ty")],
        &[Tongue([0.0, -0.4, 0.0])],
        &[(TONGUE[2], RotateX, 18.0)],
    ),
    jointed(
        "tongueTwist<>",
        &[Out("C_tongue_bendTwist.tx")],
        &[Tongue([0.3, 0.0, 0.0])],
        &[(TONGUE[1], RotateZ, -12.0), (TONGUE[2], RotateZ, -12.0)],
    ),
    family("tongueWide", &[Up("C_tongue_wideNarrow.ty")], &[TongueSize([0.20, -0.10, 0.0])]),
    family("tongueNarrow", &[Down("C_tongue_wideNarrow.ty")], &[TongueSize([-0.25, 0.15, 0.05])]),
    family("tongueThick", &[Up("C_tongue_thickThin.ty")], &[TongueSize([0.0, 0.30, 0.0])]),
    family("tongueThin", &[Down("C_tongue_thickThin.ty")], &[TongueSize([0.05, -0.30, 0.0])]),
    family("tonguePress", &[Up("C_tongue_press.ty")], &[TongueSize([0.10, -0.15, -0.05]), Tongue([0.0, 1.5, 0.0])]),
    family("tongueRoll", &[Up("C_tongue_roll.ty")], &[TongueSize([-0.20, 0.10, 0.0]), Tongue([0.0, 1.0, 0.0])]),
    jointed("tongueTipUp", &[Up("C_tongue_tip.ty")], &[Tongue([0.0, 0.6, 0.0])], &[(TONGUE[3], RotateX, -25.0)]),
    jointed("tongueTipDown", &[Down("C_tongue_tip.ty")], &[Tongue([0.0, -0.6, 0.0])], &[(TONGUE[3], RotateX, 25.0)]),
    jointed("tongueTip<>", &[Out("C_tongue_tip.tx")], &[Tongue([0.6, 0.0, 0.0])], &[(TONGUE[3], RotateY, 20.0)]),
    family("neckStretch{}", &[Up("{}_neck_stretch.ty")], &[Neck([30.0, 120.0], [18.0, 34.0], [3.0, -1.0, 2.0])]),
    family(
        "neckMastoidContract{}",
        &[Up("{}_neck_mastoidContract.ty")],
        &[Neck([36.0, 110.0], [13.0, 32.0], [2.2, 0.0, 2.2])],
    ),
    family("neckDigastricUp", &[Up("C_neck_digastricUpDown.ty")], &[Neck([0.0, 150.0], [20.0, 12.0], [0.0, 3.0, 0.5])]),
    family(
        "neckDigastricDown",
        &[Down("C_neck_digastricUpDown.ty")],
        &[Neck([0.0, 150.0], [20.0, 12.0], [0.0, -4.0, 1.0])],
    ),
    family("neckThroatUp", &[Up("C_neck_throatUpDown.ty")], &[Neck([0.0, 120.0], [13.0, 16.0], [0.0, 4.0, 0.8])]),
    family("neckThroatDown", &[Down("C_neck_throatUpDown.ty")], &[Neck([0.0, 120.0], [13.0, 16.0], [0.0, -4.0, 0.8])]),
    family(
        "neckThroatExhale",
        &[Up("C_neck_throatExhaleInhale.ty")],
        &[Neck([0.0, 95.0], [18.0, 14.0], [0.0, 0.0, 2.5])],
    ),
    family(
        "neckThroatInhale",
        &[Down("C_neck_throatExhaleInhale.ty")],
        &[Neck([0.0, 95.0], [18.0, 14.0], [0.0, 0.5, -3.0])],
    ),
    family("neckSwallowPh1", &[Phase("C_neck_swallow.ty", 1, 4)], &[Neck([0.0, 110.0], [13.0, 13.0], [0.0, 2.0, 1.5])]),
    family("neckSwallowPh2", &[Phase("C_neck_swallow.ty", 2, 4)], &[Neck([0.0, 120.0], [13.0, 13.0], [0.0, 4.0, 2.5])]),
    family("neckSwallowPh3", &[Phase("C_neck_swallow.ty", 3, 4)], &[Neck([0.0, 128.0], [13.0, 13.0], [0.0, 4.5, 2.0])]),
    family("neckSwallowPh4", &[Phase("C_neck_swallow.ty", 4, 4)], &[Neck([0.0, 116.0], [13.0, 13.0], [0.0, 1.5, 1.0])]),
];

/// The head's own turns, shared out over neck and head; real rigs leave them to the body's animation, so no slider drives them.
///
/// The bones' x axis points up along the neck, their y axis to the subject's right, their z axis out of the face.
pub(super) const HEAD: &[Family] = &[
    jointed("headTurn<>", &[], &[], &[("neck_01", RotateX, 12.0), ("neck_02", RotateX, 18.0), ("head", RotateX, 30.0)]),
    jointed("headTurnUp", &[], &[], &[("neck_01", RotateY, 8.0), ("neck_02", RotateY, 12.0), ("head", RotateY, 20.0)]),
    jointed(
        "headTurnDown",
        &[],
        &[],
        &[("neck_01", RotateY, -8.0), ("neck_02", RotateY, -12.0), ("head", RotateY, -20.0)],
    ),
    jointed(
        "headTilt<>",
        &[],
        &[],
        &[("neck_01", RotateZ, -6.0), ("neck_02", RotateZ, -9.0), ("head", RotateZ, -15.0)],
    ),
];
