//! The two eyes and the mouth, cut into the sheet.

use super::anatomy::{
    Detail, EYE_RADIUS, LID_HALF_WIDTH, LID_RADIUS, MOUTH_HALF_WIDTH, MOUTH_Y, eye_centre, lid_margins, mouth_line,
};
use super::curve::{interpolate, lerp, smooth01};
use super::inset::Opening;
use super::shape::face_depth;
use super::sheet::Sheet;
use super::{Side, Tissue};
use glam::{DVec3, dvec3};

/// How far each closed lip stays from the line where they meet: too little to see through, enough to tell upper from lower.
const LIP_GAP: f64 = 0.000002;

impl Sheet {
    /// Cuts the openings that this detail has.
    pub(super) fn open(&mut self, detail: &Detail) {
        if let Some(patch) = detail.eye_opening {
            let left = eye_centre(Side::Left);
            let (row, column) = self.nearest(left.x, left.y);
            for side in Side::BOTH {
                let middle = (row, if side == Side::Left { column } else { self.front - column });
                let rim = move |across: f64, up: f64| side.mirrored(eye_rim(across * side.sign(), up));
                let ring = move |depth: f64, _up: f64, rim: DVec3| eye_ring(side, depth, rim);
                let tissue = Tissue::EyeSocket;
                self.cut(&Opening { middle, patch, tissue, texture_u: 0.02, rim: &rim, ring: &ring });
            }
            self.lay_lids_on_eyes();
        }
        if let Some(patch) = detail.mouth_opening {
            let middle = (self.nearest(0.0, MOUTH_Y).0, self.front / 2);
            let tissue = Tissue::MouthSock;
            self.cut(&Opening { middle, patch, tissue, texture_u: 0.36, rim: &mouth_rim, ring: &mouth_ring });
        }
    }

    /// Skin in front of an eyeball is lifted off it where the drag left it inside.
    fn lay_lids_on_eyes(&mut self) {
        let grid = self.grid_len();
        for (point, tissue) in self.positions[..grid].iter_mut().zip(&self.tissues) {
            let centre = eye_centre(Side::of(point.x));
            let from_eye = *point - centre;
            if *tissue == Tissue::Skin && from_eye.z > 0.0 && from_eye.length() < LID_RADIUS {
                *point = centre + from_eye * (LID_RADIUS / from_eye.length());
            }
        }
    }
}

/// The left lids' margin, on the sphere that the lids lie on.
fn eye_rim(across: f64, up: f64) -> DVec3 {
    let centre = eye_centre(Side::Left);
    let (upper, lower) = lid_margins(across);
    let x = LID_HALF_WIDTH * across;
    let y = match across.abs() >= 1.0 {
        true => upper + 0.00002 * up,
        false if up > 0.0 => upper,
        false => lower,
    };
    let on_sphere = centre.z + (LID_RADIUS * LID_RADIUS - x * x - y * y).max(0.0).sqrt();
    // At the corners the margin comes out to the skin of the face.
    let at_corner = across.abs() > 0.7;
    let skin = if at_corner { face_depth(centre.x + x, centre.y + y) - 0.0025 } else { f64::NEG_INFINITY };
    dvec3(centre.x + x, centre.y + y, on_sphere.max(skin))
}

/// The pocket behind the lids: the first ring dives to the eyeball, so that no gap shows; the rest opens up behind it.
fn eye_ring(side: Side, depth: f64, rim: DVec3) -> DVec3 {
    const TOUCH: f64 = 0.25;
    let centre = eye_centre(side);
    let from_eye = rim - centre;
    let touching = centre + from_eye * (0.90 * EYE_RADIUS / from_eye.length());
    if depth <= TOUCH {
        return touching;
    }
    let back = (depth - TOUCH) / (1.0 - TOUCH);
    let open = 1.0 + 1.6 * smooth01(back);
    let from_eye = touching - centre;
    centre + dvec3(from_eye.x * (1.0 - 0.04 * back), from_eye.y * open, lerp(from_eye.z, -0.0145, back))
}

fn mouth_rim(across: f64, up: f64) -> DVec3 {
    const FROM_MIDDLE: [f64; 4] = [0.0, 0.008, 0.016, 0.0255];
    const DEPTHS: [f64; 4] = [0.1268, 0.1258, 0.1225, 0.1150];
    let x = MOUTH_HALF_WIDTH * across;
    let apart = if across.abs() >= 1.0 { up } else { up.signum() } * LIP_GAP;
    dvec3(x, mouth_line(x) + apart, interpolate(x.abs(), &FROM_MIDDLE, &DEPTHS))
}

/// The mouth's inside: it widens up and down right behind the lips and narrows towards the throat.
fn mouth_ring(depth: f64, up: f64, rim: DVec3) -> DVec3 {
    let open = smooth01(depth * 2.5);
    let z = rim.z - 0.0040 * (depth * 4.0).min(1.0) - 0.060 * depth.powf(1.3);
    dvec3(rim.x * (1.0 - 0.06 * depth), rim.y + up * 0.0150 * open, z)
}
