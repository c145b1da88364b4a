//! What a face can do, by name: each motion as a displacement field at full effort.

use super::anatomy::{
    CHIN, JAW_HINGE, LID_HALF_WIDTH, LID_RADIUS, MOUTH_HALF_WIDTH, MOUTH_Y, PUPIL_ANGLE, eye_centre, frontness,
    lid_margins, mouth_line,
};
use super::curve::{bell, lerp, smooth01};
use super::{Component, Head, Side, Tissue};
use glam::{DVec3, dvec3};

/// A named motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Motion {
    /// The brow goes up.
    BrowRaise(Side),
    /// The lower lid goes up: squint.
    LowerLidRaise(Side),
    /// The lids sweep towards each other. With [`Motion::LidMargin`] the eye is closed.
    LidSweep(Side),
    /// The rest of the closing: the upper lid near its margin.
    LidMargin(Side),
    /// A corner of the mouth goes up and out: smile.
    MouthCornerRaise(Side),
    /// Both corners of the mouth go down: frown.
    MouthCornersDrop,
    /// The mouth moves to the subject's left.
    MouthShift,
    /// The lips part, and the lower jaw goes down a little with them.
    LipsPart,
    /// The lower jaw swings open around its hinge.
    JawSwing,
    /// The tongue lies low.
    TongueDrop,
    /// The tongue comes out.
    TongueOut,
    /// The tip of the tongue goes up.
    TongueUp,
    /// Both pupils widen.
    PupilsWiden,
}

impl Motion {
    /// How far the vertex that moves most goes at full effort, metres; a closing eye goes as far as its opening is high.
    fn full_effort_m(self) -> Option<f64> {
        match self {
            Motion::BrowRaise(_) => Some(0.0052),
            Motion::LowerLidRaise(_) => Some(0.0038),
            Motion::LidSweep(_) | Motion::LidMargin(_) => None,
            Motion::MouthCornerRaise(_) => Some(0.0100),
            Motion::MouthCornersDrop => Some(0.0060),
            Motion::MouthShift => Some(0.0050),
            Motion::LipsPart => Some(0.0060),
            Motion::JawSwing => Some(0.0102),
            Motion::TongueDrop => Some(0.0055),
            Motion::TongueOut => Some(0.0220),
            Motion::TongueUp => Some(0.0050),
            Motion::PupilsWiden => Some(0.00135),
        }
    }
}

impl Head {
    /// The displacement of every vertex when `motion` is done at full effort, metres.
    ///
    /// # Shapes     (V, 3)
    #[must_use]
    pub fn motion(&self, motion: Motion) -> Vec<DVec3> {
        let mut field = match motion {
            Motion::BrowRaise(side) => self.brow_raise(side),
            Motion::LowerLidRaise(side) => self.lower_lid_raise(side),
            Motion::LidSweep(side) => self.lid_closing(side, |margin| 1.0 - LID_MARGIN_SHARE * margin),
            Motion::LidMargin(side) => self.lid_closing(side, |margin| LID_MARGIN_SHARE * margin),
            Motion::MouthCornerRaise(side) => self.mouth_corner_raise(side),
            Motion::MouthCornersDrop => self.mouth_corners_drop(),
            Motion::MouthShift => self.mouth_shift(),
            Motion::LipsPart => self.lips_part(),
            Motion::JawSwing => self.jaw_swing(),
            Motion::TongueDrop => self.tongue_drop(),
            Motion::TongueOut => self.tongue_tip().iter().map(|tip| *tip * dvec3(0.0, 0.35, 1.0)).collect(),
            Motion::TongueUp => self.tongue_tip().iter().map(|tip| *tip * DVec3::Y).collect(),
            Motion::PupilsWiden => self.pupils_widen(),
        };
        let largest = field.iter().map(|d| d.length()).fold(0.0, f64::max);
        if let Some(full) = motion.full_effort_m().filter(|_| largest > 0.0) {
            for displacement in &mut field {
                *displacement *= full / largest;
            }
        }
        field
    }

    fn brow_raise(&self, side: Side) -> Vec<DVec3> {
        let window = self.eye_window(side);
        self.per_vertex(|vertex, p| {
            let brow = bell(p.x * side.sign() - 0.030, 0.026) * bell(p.y - 0.306, 0.013);
            window[vertex] * brow * dvec3(0.0, 1.0, 0.15)
        })
    }

    fn lower_lid_raise(&self, side: Side) -> Vec<DVec3> {
        let window = self.eye_window(side);
        let centre = eye_centre(side);
        self.per_vertex(|vertex, p| {
            let d = p - centre;
            let lid = bell(d.x, 0.0150) * bell(d.y, 0.0110) * smooth01(-d.y / 0.004);
            window[vertex] * lid * dvec3(0.0, 1.0, 0.10)
        })
    }

    /// The lids' way to the closed eye, weighted by a function of how near the upper lid's margin a vertex is (0..1).
    ///
    /// A lid turns around the eye's horizontal axis, and most at its margin; the field is the chord of that turn.
    fn lid_closing(&self, side: Side, share: impl Fn(f64) -> f64) -> Vec<DVec3> {
        let window = self.eye_window(side);
        let centre = eye_centre(side);
        self.per_vertex(|vertex, p| {
            if window[vertex] == 0.0 {
                return DVec3::ZERO;
            }
            let d = p - centre;
            let turn = LidTurn::at(d, side);
            let elevation = d.y.atan2(d.z) + turn.angle;
            let radius = d.y.hypot(d.z);
            // Skin from beside the eyeball is drawn out onto it.
            let lift = if self.tissues[vertex] == Tissue::Skin { (LID_RADIUS / d.length()).max(1.0) } else { 1.0 };
            let radius = radius * lerp(1.0, lift, turn.reach);
            let closed = dvec3(d.x, radius * elevation.sin(), radius * elevation.cos());
            window[vertex] * share(turn.near_margin) * (closed - d)
        })
    }

    fn mouth_corner(p: DVec3, side: Side) -> f64 {
        bell(p.x * side.sign() - 0.028, 0.016) * bell(p.y - MOUTH_Y, 0.014) * frontness(p.z)
    }

    /// A motion of the skin of the lower face: `displacement` where its window is open.
    fn lower_face(&self, displacement: impl Fn(DVec3) -> DVec3) -> Vec<DVec3> {
        let window = self.lower_face_window();
        self.per_vertex(|vertex, p| if window[vertex] > 0.0 { displacement(p) } else { DVec3::ZERO })
    }

    fn mouth_corner_raise(&self, side: Side) -> Vec<DVec3> {
        self.lower_face(|p| Head::mouth_corner(p, side) * dvec3(0.8 * side.sign(), 0.8, -0.15))
    }

    fn mouth_corners_drop(&self) -> Vec<DVec3> {
        self.lower_face(|p| -(Head::mouth_corner(p, Side::Left) + Head::mouth_corner(p, Side::Right)) * DVec3::Y)
    }

    fn mouth_shift(&self) -> Vec<DVec3> {
        self.lower_face(|p| {
            let corners = Head::mouth_corner(p, Side::Left) + Head::mouth_corner(p, Side::Right);
            (corners + bell(p.x, 0.020) * bell(p.y - MOUTH_Y, 0.012) * frontness(p.z)) * DVec3::X
        })
    }

    /// 1 where the skin goes with the lower jaw, 0 on the upper lip and above.
    pub(crate) fn jaw_share(p: DVec3) -> f64 {
        let line = mouth_line(p.x);
        // Near the opening the lips decide, elsewhere the cheek stretches smoothly.
        let at_mouth = smooth01((MOUTH_HALF_WIDTH * 1.02 - p.x.abs()) / 0.016)
            * bell(p.y - line, 0.020)
            * smooth01((p.z - 0.030) / 0.030);
        let across = p.x / MOUTH_HALF_WIDTH;
        let lower_lip = 0.35 + 0.65 * (1.0 - across * across).max(0.0).sqrt();
        let lip = if Head::is_below_mouth(p) { lower_lip } else { 0.0 };
        let cheek = smooth01((line + 0.0060 - p.y) / 0.020);
        lerp(cheek, lip, at_mouth) * smooth01((p.y - 0.120) / 0.035) * smooth01((p.z + 0.010) / 0.060)
    }

    /// What a turn by one radian around the jaw's axis does to a point, to first order.
    fn jaw_turn(p: DVec3) -> DVec3 {
        DVec3::X.cross(p - JAW_HINGE)
    }

    fn jaw_swing(&self) -> Vec<DVec3> {
        let skin = self.lower_face(|p| Head::jaw_share(p) * Head::jaw_turn(p));
        self.per_vertex(|v, p| if self.rides_on_jaw(v) { Head::jaw_turn(p) } else { skin[v] })
    }

    fn lips_part(&self) -> Vec<DVec3> {
        let skin = self.lower_face(|p| {
            let above = if Head::is_below_mouth(p) { 0.0 } else { smooth01((p.z - 0.06) / 0.04) };
            let upper_lip = bell(p.x, 0.022) * bell(p.y - (MOUTH_Y + 0.006), 0.010) * above;
            (0.45 * upper_lip - 0.75 * Head::jaw_share(p)) * DVec3::Y
        });
        // The teeth stay behind the lips, so they go less far than the lower lip.
        let chin_lever = Head::jaw_turn(CHIN).length();
        self.per_vertex(|v, p| if self.rides_on_jaw(v) { 0.62 * Head::jaw_turn(p) / chin_lever } else { skin[v] })
    }

    fn tongue_drop(&self) -> Vec<DVec3> {
        let tip = self.tongue_tip();
        self.per_vertex(|vertex, _| {
            let on_tongue = self.components[vertex] == Component::Tongue;
            if on_tongue { (0.4 + 0.6 * tip[vertex]) * dvec3(0.0, -0.9, 0.1) } else { DVec3::ZERO }
        })
    }

    fn pupils_widen(&self) -> Vec<DVec3> {
        // A coarse bowl has few rings; the pupil's edge must still find one.
        let width = (1.0 / self.detail.bowl as f64).max(0.10);
        self.per_vertex(|vertex, p| {
            if self.tissues[vertex] != Tissue::EyeBowl {
                return DVec3::ZERO;
            }
            let d = p - eye_centre(Side::of(p.x));
            bell(self.polar_angles[vertex] - (PUPIL_ANGLE - 0.01), width) * dvec3(d.x, d.y, 0.0)
        })
    }
}

/// How much of a closing eye's way the margin alone does, at the margin.
const LID_MARGIN_SHARE: f64 = 0.5;

/// How a point near an eye turns when the eye closes.
struct LidTurn {
    /// Around +x, so that a positive angle goes up.
    angle: f64,
    /// 1 at the margin, 0 where the lid ends.
    reach: f64,
    /// 1 at the upper lid's margin, falling off quickly.
    near_margin: f64,
}

impl LidTurn {
    /// At `d` from the eye's centre.
    fn at(d: DVec3, side: Side) -> LidTurn {
        const UPPER_LID: f64 = 1.00;
        const LOWER_LID: f64 = 0.70;
        const OVERLAP: f64 = 0.03;
        // What lies in one direction from the centre closes together: the skin, and the pocket's wall behind it.
        let on_lids = d * (LID_RADIUS / d.length());
        let across = (on_lids.x * side.sign() / LID_HALF_WIDTH).clamp(-1.0, 1.0);
        let (upper, lower) = lid_margins(across);
        let forward = (LID_RADIUS * LID_RADIUS - on_lids.x * on_lids.x).max(0.0);
        let elevation = |y: f64| y.atan2((forward - y * y).max(0.0).sqrt());
        let (upper, lower) = (elevation(upper), elevation(lower));
        let meet = lerp(lower, upper, 0.2);
        let here = d.y.atan2(d.z);
        if here >= (upper + lower) / 2.0 {
            let reach = 1.0 - smooth01((here - upper) / UPPER_LID);
            let overlap = OVERLAP * smooth01((1.0 - across.abs()) / 0.2);
            LidTurn { angle: (meet - overlap - upper) * reach, reach, near_margin: bell((here - upper).max(0.0), 0.35) }
        } else {
            let reach = 1.0 - smooth01((lower - here) / LOWER_LID);
            LidTurn { angle: (meet - lower) * reach, reach, near_margin: 0.0 }
        }
    }
}
