//! Where things are in the head, metres, and how finely each size draws them.

use super::curve::smooth01;
use super::{HeadSize, Side};
use glam::{DVec3, dvec3};

/// Radius of an eyeball without its cornea.
pub(super) const EYE_RADIUS: f64 = 0.0125;
/// How far the cornea's tip stands out, as a share of the radius.
pub(super) const CORNEA: f64 = 0.045;
/// The lids lie on this sphere around the eye's centre; it clears the cornea.
pub(super) const LID_RADIUS: f64 = 0.0137;
/// Half the width of the opening between the lids.
pub(super) const LID_HALF_WIDTH: f64 = 0.0119;
/// Polar angle at which the iris begins, seen from the centre of the eye.
pub(super) const PUPIL_ANGLE: f64 = 0.17;
/// Polar angle at which the iris ends.
pub(super) const IRIS_ANGLE: f64 = 0.46;
/// Height of the line where the closed lips meet, at the midline.
pub(crate) const MOUTH_Y: f64 = 0.2140;
/// Half the width of the mouth.
pub(crate) const MOUTH_HALF_WIDTH: f64 = 0.0255;
/// The axis of the jaw goes through this point along x.
pub(crate) const JAW_HINGE: DVec3 = dvec3(0.0, 0.2480, 0.0050);
/// The tip of the chin.
pub(super) const CHIN: DVec3 = dvec3(0.0, 0.1950, 0.1180);
/// The point that the neck joint is built around.
pub(crate) const NECK: DVec3 = dvec3(0.0, 0.1150, -0.0040);
/// The point that the head joint is built around.
pub(crate) const SKULL_BASE: DVec3 = dvec3(0.0, 0.1880, -0.0020);

/// The centre of an eyeball.
pub(crate) fn eye_centre(side: Side) -> DVec3 {
    dvec3(0.0315 * side.sign(), 0.2850, 0.1075)
}

/// Height of the upper and the lower lid's margin above the eye's centre, `across` from -1 at the nose to 1 at the temple.
pub(super) fn lid_margins(across: f64) -> (f64, f64) {
    let width = across.abs().min(1.0);
    // The outer corner sits a little higher than the inner one.
    let tilt = 0.0012 * across;
    (0.0058 * (1.0 - width.powf(2.2)) + tilt, -0.0040 * (1.0 - width.powf(2.3)) + tilt)
}

/// Height of the line where the closed lips meet.
pub(crate) fn mouth_line(x: f64) -> f64 {
    let across = x / MOUTH_HALF_WIDTH;
    MOUTH_Y + 0.0012 * across * across - 0.0006
}

/// 1 on the face, 0 behind the ears.
pub(crate) fn frontness(z: f64) -> f64 {
    smooth01((z - 0.010) / 0.060)
}

/// A patch of the skin sheet that an opening takes the place of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Patch {
    /// Quads across; even, so that the patch has a middle column.
    pub columns: usize,
    /// Quads up; even.
    pub rows: usize,
    /// Rings of quads between the rim and the back of the pocket.
    pub depth: usize,
}

/// How finely each part is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Detail {
    /// Skin columns over the face; as many over the back of the head. Even.
    pub front: usize,
    /// Skin columns over each side.
    pub side: usize,
    /// Skin rows from the shoulders to the crown.
    pub rows: usize,
    /// The eye's opening; none where the sheet is too coarse for one.
    pub eye_opening: Option<Patch>,
    /// The mouth's opening.
    pub mouth_opening: Option<Patch>,
    /// Quads along an edge of the cube that an eyeball's shell is made from.
    pub shell: usize,
    /// Quads along an edge of the square that the eye's inner bowl is made from.
    pub bowl: usize,
    /// Quads of a row of teeth: along the arch, up, through.
    pub teeth: [usize; 3],
    /// Quads of the tongue: across, up, along.
    pub tongue: [usize; 3],
}

impl Detail {
    /// The skin has the 24,049 vertices of a MetaHuman's head mesh.
    pub(super) fn fine() -> Detail {
        Detail {
            front: 66,
            side: 50,
            rows: 86,
            eye_opening: Some(Patch { columns: 14, rows: 6, depth: 4 }),
            mouth_opening: Some(Patch { columns: 16, rows: 2, depth: 10 }),
            ..Detail::of(HeadSize::Full)
        }
    }

    pub(super) fn of(size: HeadSize) -> Detail {
        match size {
            HeadSize::Full => Detail {
                front: 46,
                side: 36,
                rows: 62,
                eye_opening: Some(Patch { columns: 10, rows: 4, depth: 4 }),
                mouth_opening: Some(Patch { columns: 12, rows: 2, depth: 8 }),
                shell: 16,
                bowl: 16,
                teeth: [40, 4, 4],
                tongue: [15, 9, 4],
            },
            HeadSize::Small => Detail {
                front: 22,
                side: 9,
                rows: 20,
                eye_opening: Some(Patch { columns: 4, rows: 2, depth: 2 }),
                mouth_opening: Some(Patch { columns: 6, rows: 2, depth: 3 }),
                shell: 4,
                bowl: 6,
                teeth: [12, 2, 1],
                tongue: [6, 3, 2],
            },
            HeadSize::Tiny => Detail {
                front: 8,
                side: 6,
                rows: 7,
                eye_opening: None,
                mouth_opening: None,
                shell: 2,
                bowl: 4,
                teeth: [6, 1, 1],
                tongue: [4, 2, 1],
            },
        }
    }
}
