//! What each raw control of the mouth does; see [`super::table`].

use super::table::Gui::{Down, Out, Phase, Up};
use super::table::{Family, arkit, family, wrinkled};
use crate::head::canvas::Move::{Lip, LowerLip, Neck, Skin, UpperLip};

pub(super) const MOUTH: &[Family] = &[
    wrinkled(arkit(family(
        "mouthCornerPull{}",
        &[Up("{}_mouth_cornerPull.ty")],
        &[Skin([28.0, 215.0], [16.0, 14.0], [6.5, 7.0, -2.0]), Skin([41.0, 240.0], [16.0, 14.0], [0.5, 3.0, 2.0])],
    ))),
    family(
        "mouthSharpCornerPull{}",
        &[Up("{}_mouth_sharpCornerPull.ty")],
        &[Skin([28.0, 217.0], [11.0, 11.0], [4.5, 6.5, -1.5])],
    ),
    arkit(family(
        "mouthCornerDepress{}",
        &[Up("{}_mouth_cornerDepress.ty")],
        &[Skin([27.0, 211.0], [14.0, 13.0], [0.6, -6.0, -0.5])],
    )),
    family("mouthCornerUp{}", &[Up("{}_mouth_corner.ty")], &[Skin([27.0, 214.0], [12.0, 10.0], [0.0, 4.0, 0.0])]),
    family("mouthCornerDown{}", &[Down("{}_mouth_corner.ty")], &[Skin([27.0, 214.0], [12.0, 10.0], [0.0, -4.0, 0.0])]),
    family("mouthCornerWide{}", &[Up("{}_mouth_corner.tx")], &[Skin([27.0, 214.0], [12.0, 10.0], [3.5, 0.0, -1.0])]),
    family(
        "mouthCornerNarrow{}",
        &[Down("{}_mouth_corner.tx")],
        &[Skin([26.0, 214.0], [12.0, 10.0], [-3.5, 0.0, 1.0])],
    ),
    arkit(family("mouthDimple{}", &[Up("{}_mouth_dimple.ty")], &[Skin([30.0, 214.0], [10.0, 10.0], [3.5, 0.8, -2.8])])),
    arkit(family(
        "mouthStretch{}",
        &[Up("{}_mouth_stretch.ty")],
        &[Skin([30.0, 211.0], [16.0, 16.0], [7.0, -3.0, -2.5]), Neck([30.0, 125.0], [16.0, 28.0], [1.5, 0.0, 1.0])],
    )),
    family(
        "mouthStretchLipsClose{}",
        &[],
        &[UpperLip(14.0, [14.0, 8.0], [0.0, 0.0, 0.7], 0.0), LowerLip(14.0, [14.0, 8.0], [0.0, 0.0, 0.7], 0.0)],
    ),
    arkit(family(
        "mouthUpperLipRaise{}",
        &[Up("{}_mouth_upperLipRaise.ty")],
        &[UpperLip(12.0, [13.0, 12.0], [0.3, 5.0, 0.6], 0.0), Skin([19.0, 231.0], [12.0, 9.0], [0.0, 1.8, 0.5])],
    )),
    arkit(family(
        "mouthLowerLipDepress{}",
        &[Up("{}_mouth_lowerLipDepress.ty")],
        &[LowerLip(12.0, [13.0, 12.0], [0.5, 5.0, 0.5], 0.0)],
    )),
    family("mouthUp", &[Up("C_mouth.ty")], &[Skin([0.0, 214.0], [32.0, 15.0], [0.0, 5.0, 0.0])]),
    family("mouthDown", &[Down("C_mouth.ty")], &[Skin([0.0, 214.0], [32.0, 15.0], [0.0, -5.0, 0.0])]),
    arkit(family("mouth<>", &[Out("C_mouth.tx")], &[Skin([0.0, 214.0], [32.0, 16.0], [7.0, 0.0, -0.5])])),
    arkit(family(
        "mouthFunnel%{}",
        &[Up("{}_mouth_funnel%.ty")],
        &[Lip(10.0, [15.0, 11.0], [0.0, 3.2, 4.5], 2.5), Skin([25.0, 214.0], [12.0, 10.0], [-1.2, 0.0, 0.8])],
    )),
    arkit(family(
        "mouthLipsPurse%{}",
        &[Up("{}_mouth_purse%.ty")],
        &[Lip(8.0, [15.0, 10.0], [0.0, 0.3, 3.5], 3.0), Skin([25.0, 214.0], [13.0, 10.0], [-2.8, 0.0, 1.2])],
    )),
    family("mouthLipsTowards%{}", &[Up("{}_mouth_towards%.ty")], &[Lip(10.0, [15.0, 9.0], [0.0, 0.0, 1.2], 1.5)]),
    arkit(family(
        "mouthLipsTogether%{}",
        &[Up("{}_mouth_lipsTogether%.ty")],
        &[Lip(10.0, [16.0, 9.0], [0.0, 0.0, 0.9], 0.0)],
    )),
    arkit(family(
        "mouthPress%{}",
        &[Up("{}_mouth_press%.ty")],
        &[Lip(12.0, [14.0, 9.0], [0.0, 0.0, -1.4], 0.0), Skin([28.0, 214.0], [9.0, 9.0], [0.6, 0.3, -0.6])],
    )),
    family("mouthLipsTighten%{}", &[Up("{}_mouth_tighten%.ty")], &[Lip(12.0, [14.0, 9.0], [0.0, 0.0, -1.0], -1.2)]),
    family("mouthLipsPush%{}", &[Up("{}_mouth_pushPull%.ty")], &[Lip(12.0, [14.0, 10.0], [0.0, 0.4, 2.5], 0.0)]),
    family("mouthLipsPull%{}", &[Down("{}_mouth_pushPull%.ty")], &[Lip(12.0, [14.0, 10.0], [0.0, 0.3, -2.0], 0.0)]),
    family("mouthLipsThick%{}", &[Up("{}_mouth_thickness%.ty")], &[Lip(11.0, [14.0, 7.0], [0.0, 0.0, 1.6], 0.0)]),
    family("mouthLipsThin%{}", &[Down("{}_mouth_thickness%.ty")], &[Lip(11.0, [14.0, 7.0], [0.0, 0.0, -1.3], 0.0)]),
    family(
        "mouthLipsThickInward%{}",
        &[Up("{}_mouth_thicknessInward%.ty")],
        &[Lip(11.0, [13.0, 5.0], [0.0, 0.0, 0.9], 0.0)],
    ),
    family(
        "mouthLipsThinInward%{}",
        &[Down("{}_mouth_thicknessInward%.ty")],
        &[Lip(11.0, [13.0, 5.0], [0.0, 0.0, -0.9], 0.0)],
    ),
    family("mouth#LipBite{}", &[Up("{}_mouth_lipBite%.ty")], &[Lip(10.0, [14.0, 8.0], [0.0, 0.8, -3.0], 0.0)]),
    arkit(family(
        "mouth#LipRollIn{}",
        &[Up("{}_mouth_lipsRoll%.ty")],
        &[Lip(10.0, [15.0, 8.0], [0.0, 0.3, -2.8], 0.0)],
    )),
    family("mouth#LipRollOut{}", &[Down("{}_mouth_lipsRoll%.ty")], &[Lip(10.0, [15.0, 8.0], [0.0, 1.0, 2.2], 0.0)]),
    family("mouth#LipShift<>", &[Out("C_mouth_lipShift%.ty")], &[Lip(0.0, [22.0, 9.0], [4.0, 0.0, 0.0], 0.0)]),
    family(
        "mouth#LipTowardsTeeth{}",
        &[Up("{}_mouth_lipsTowardsTeeth%.ty")],
        &[Lip(11.0, [15.0, 9.0], [0.0, 0.0, -2.0], 0.0)],
    ),
    family(
        "mouthCornerSharpen%{}",
        &[Up("{}_mouth_cornerSharpness%.ty")],
        &[Lip(20.0, [6.0, 5.0], [0.8, 0.0, -0.8], 0.0)],
    ),
    family(
        "mouthCornerRounder%{}",
        &[Down("{}_mouth_cornerSharpness%.ty")],
        &[Lip(20.0, [6.0, 5.0], [-0.5, 0.6, 0.8], 0.0)],
    ),
    arkit(family(
        "mouthCheekBlow{}",
        &[Up("{}_mouth_suckBlow.ty")],
        &[Skin([43.0, 222.0], [18.0, 18.0], [5.0, 0.0, 5.0])],
    )),
    family(
        "mouthCheekSuck{}",
        &[Down("{}_mouth_suckBlow.ty")],
        &[Skin([43.0, 222.0], [16.0, 16.0], [-3.5, 0.0, -4.0])],
    ),
    family("mouthLipsBlow{}", &[Up("{}_mouth_lipsBlow.ty")], &[Skin([18.0, 214.0], [13.0, 11.0], [0.5, 0.0, 2.5])]),
    family("mouthLipsPress{}", &[Up("{}_mouth_lipsPress.ty")], &[Skin([14.0, 214.0], [13.0, 8.0], [0.0, 0.0, -1.5])]),
    family("mouthSticky%C", &[Up("C_mouth_sticky%.ty")], &[Lip(0.0, [6.0, 6.0], [0.0, 0.0, 0.7], 0.0)]),
    family("mouthSticky%IN{}", &[Up("{}_mouth_stickyInner%.ty")], &[Lip(9.0, [6.0, 6.0], [0.0, 0.0, 0.7], 0.0)]),
    family("mouthSticky%OUT{}", &[Up("{}_mouth_stickyOuter%.ty")], &[Lip(17.0, [6.0, 6.0], [0.0, 0.0, 0.7], 0.0)]),
    family(
        "mouthLipsSticky{}Ph1",
        &[Phase("{}_mouth_lipSticky.ty", 1, 3)],
        &[Skin([21.0, 214.0], [6.0, 6.0], [0.0, 0.0, 0.7])],
    ),
    family(
        "mouthLipsSticky{}Ph2",
        &[Phase("{}_mouth_lipSticky.ty", 2, 3)],
        &[Skin([14.0, 214.0], [6.0, 6.0], [0.0, 0.0, 0.7])],
    ),
    family(
        "mouthLipsSticky{}Ph3",
        &[Phase("{}_mouth_lipSticky.ty", 3, 3)],
        &[Skin([7.0, 214.0], [6.0, 6.0], [0.0, 0.0, 0.7])],
    ),
];
