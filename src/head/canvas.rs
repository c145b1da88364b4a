//! Pushes of a face, by place and way: what the samples of several rigs put their shapes together from.

use super::anatomy::{MOUTH_HALF_WIDTH, frontness, mouth_line};
use super::curve::{bell, smooth01};
use super::{Component, Head, Motion, Side};
use glam::{DVec3, dvec3};

/// A displacement of some vertices, metres; vertices ascend.
pub(crate) type Field = Vec<(u32, DVec3)>;

/// Displacements below this are no motion.
pub(crate) const LEAST_M: f64 = 1e-6;
const MM: f64 = 1e-3;

/// A part of what a shape of the left side does to the vertices; places and ways in millimetres.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Move {
    /// Pushes the skin and the inside of the mouth around a place: (x, y), widths, way. Without a side, both sides alike.
    Skin([f64; 2], [f64; 2], [f64; 3]),
    /// As `Skin`, on neck and shoulders.
    Neck([f64; 2], [f64; 2], [f64; 3]),
    /// As `Skin`, on the ears.
    Ear([f64; 2], [f64; 2], [f64; 3]),
    /// Pushes the lip that the shape is about: x, widths, way with y away from the other lip, way towards the midline at the corner.
    Lip(f64, [f64; 2], [f64; 3], f64),
    /// `Lip` on the upper one.
    UpperLip(f64, [f64; 2], [f64; 3], f64),
    /// `Lip` on the lower one.
    LowerLip(f64, [f64; 2], [f64; 3], f64),
    /// Closes the eye by a share; less than nothing opens it wide.
    Lids(f64),
    /// The upper lid's share in that.
    UpperLid(f64),
    /// Raises the lower lid by a share.
    LowerLid(f64),
    /// Widens the pupil by a share.
    Pupil(f64),
    /// Pushes the tongue, most at its tip.
    Tongue([f64; 3]),
    /// Makes the tongue wider, thicker, longer by these shares.
    TongueSize([f64; 3]),
}

/// Place along the lip, widths, way, way towards the midline.
type LipPush = (f64, [f64; 2], [f64; 3], f64);

/// A head with the motions that several shapes share.
pub(crate) struct Canvas<'a> {
    pub head: &'a Head,
    /// (V).
    pub normals: Vec<DVec3>,
    /// The left eye's lids on their whole way.
    lids: Vec<DVec3>,
    lower_lid: Vec<DVec3>,
    pupils: Vec<DVec3>,
    tongue_tip: Vec<f64>,
    tongue_middle: DVec3,
}

impl Canvas<'_> {
    pub(crate) fn new(head: &Head) -> Canvas<'_> {
        Canvas {
            head,
            normals: normals(head),
            lids: lids(head),
            lower_lid: head.motion(Motion::LowerLidRaise(Side::Left)),
            pupils: head.motion(Motion::PupilsWiden),
            tongue_tip: head.tongue_tip(),
            tongue_middle: head.mean_where(|v| head.components[v] == Component::Tongue),
        }
    }

    /// Adds a part of what a left shape does. One that has no image on the other side does it on both; `lower` is the lip of [`Move::Lip`].
    pub(crate) fn add(&self, field: &mut [DVec3], part: Move, sided: bool, lower: bool) {
        let head = self.head;
        let at = |v: usize| head.positions[v];
        match part {
            Move::Skin(place, width, by) => {
                self.push(field, place, width, by, sided, |v| frontness(at(v).z));
            }
            Move::Neck(place, width, by) => {
                self.push(field, place, width, by, sided, |v| smooth01((at(v).z + 0.010) / 0.030));
            }
            Move::Ear(place, width, by) => {
                let on_ear = |v: usize| smooth01((at(v).x.abs() - 0.070) / 0.008) * bell(at(v).z + 0.008, 0.030);
                self.push(field, place, width, by, sided, on_ear);
            }
            Move::Lip(x, width, by, gather) => self.push_lip(field, lower, (x, width, by, gather), sided),
            Move::UpperLip(x, width, by, gather) => self.push_lip(field, false, (x, width, by, gather), sided),
            Move::LowerLip(x, width, by, gather) => self.push_lip(field, true, (x, width, by, gather), sided),
            Move::Lids(share) => fill(field, |v| share * self.lids[v]),
            // The upper lid is what goes down to close the eye.
            Move::UpperLid(share) => {
                fill(field, |v| if self.lids[v].y < 0.0 { share * self.lids[v] } else { DVec3::ZERO })
            }
            Move::LowerLid(share) => fill(field, |v| share * self.lower_lid[v]),
            Move::Pupil(share) => {
                let is_left = |v: usize| head.components[v] == Component::LeftEye;
                fill(field, |v| if is_left(v) { share * self.pupils[v] } else { DVec3::ZERO });
            }
            Move::Tongue(by) => fill(field, |v| self.tongue_tip[v] * MM * DVec3::from(by)),
            Move::TongueSize(shares) => {
                let on_tongue = |v: usize| head.components[v] == Component::Tongue;
                let d = |v: usize| (at(v) - self.tongue_middle) * DVec3::from(shares);
                fill(field, |v| if on_tongue(v) { d(v) } else { DVec3::ZERO });
            }
        }
    }

    /// Pushes skin around a place; without a side, around its image too.
    fn push(
        &self,
        field: &mut [DVec3],
        [x, y]: [f64; 2],
        [across, up]: [f64; 2],
        by: [f64; 3],
        sided: bool,
        weight: impl Fn(usize) -> f64,
    ) {
        let by = MM * DVec3::from(by);
        let mut places = vec![(x, by)];
        if !sided && x != 0.0 {
            places.push((-x, dvec3(-by.x, by.y, by.z)));
        }
        for (x, by) in places {
            for (v, p) in self.skin() {
                let near = bump(p.x - MM * x, MM * across) * bump(p.y - MM * y, MM * up);
                if near > 0.0 {
                    field[v] += near * weight(v) * by;
                }
            }
        }
    }

    fn push_lip(&self, field: &mut [DVec3], lower: bool, (x, [across, up], by, gather): LipPush, sided: bool) {
        let away = if lower { -1.0 } else { 1.0 };
        for (v, p) in self.skin().filter(|(_, p)| Head::is_below_mouth(*p) == lower) {
            let half = if sided { smooth01((p.x + 0.006) / 0.012) } else { 1.0 };
            let near = half * bump(p.x - MM * x, MM * across) * bump(p.y - mouth_line(p.x), MM * up);
            if near > 0.0 {
                let inwards = gather * p.x / MOUTH_HALF_WIDTH;
                let by = MM * dvec3(by[0] - inwards, away * by[1], by[2]);
                field[v] += near * lip_taper(p) * by;
            }
        }
    }

    fn skin(&self) -> impl Iterator<Item = (usize, DVec3)> {
        let head = self.head;
        let positions = head.positions.iter().copied().enumerate();
        positions.filter(|(v, _)| head.components[*v] == Component::Skin)
    }

    /// How a quarter of the lips comes together again over an open jaw. `gap` is the way from the upper lip to the lower one, and the
    /// result is where the lip goes after the jaw has moved it.
    pub(crate) fn lips_meet(&self, side: Side, lower: bool, gap: impl Fn(DVec3) -> DVec3) -> Field {
        const LOWER_SHARE: f64 = 0.7;
        let (share, height) = if lower { (-LOWER_SHARE, 0.016) } else { (1.0 - LOWER_SHARE, 0.011) };
        let mut field = vec![DVec3::ZERO; self.head.vertex_count()];
        for (v, p) in self.skin().filter(|(_, p)| Head::is_below_mouth(*p) == lower) {
            let half = smooth01((side.sign() * p.x + 0.006) / 0.012);
            let near = half * bump(p.y - mouth_line(p.x), height) * smooth01((p.z - 0.085) / 0.025);
            field[v] = near * share * gap(p);
        }
        sparse(&field)
    }
}

/// The left eye's lids on their whole way.
fn lids(head: &Head) -> Vec<DVec3> {
    // A coarse lid has no vertex over the bulge of the eyeball, which would show through: it closes farther in front.
    const COARSE: usize = 5_000;
    let forward = if head.vertex_count() < COARSE { 0.18 } else { 0.0 };
    let sweep = head.motion(Motion::LidSweep(Side::Left));
    let margin = head.motion(Motion::LidMargin(Side::Left));
    let whole = sweep.iter().zip(&margin).map(|(a, b)| *a + *b);
    whole.map(|d| d + forward * d.length() * DVec3::Z).collect()
}

/// 1 in the middle of the lips, 0 at the corners of the mouth and beyond, so that no lip tears off there.
fn lip_taper(p: DVec3) -> f64 {
    let across = p.x / MOUTH_HALF_WIDTH;
    (1.0 - across * across).max(0.0).sqrt() * smooth01((p.z - 0.030) / 0.030)
}

/// A bell that ends at about two widths.
fn bump(x: f64, width: f64) -> f64 {
    const FOOT: f64 = 0.01;
    if x.abs() > 2.2 * width { 0.0 } else { ((bell(x, width) - FOOT) / (1.0 - FOOT)).max(0.0) }
}

fn fill(field: &mut [DVec3], displacement: impl Fn(usize) -> DVec3) {
    for (vertex, sum) in field.iter_mut().enumerate() {
        *sum += displacement(vertex);
    }
}

/// The vertices that move.
pub(crate) fn sparse(field: &[DVec3]) -> Field {
    let moved = field.iter().enumerate().filter(|(_, d)| d.length() > LEAST_M);
    moved.map(|(v, d)| (v as u32, *d)).collect()
}

/// Area-weighted normals at rest.
fn normals(head: &Head) -> Vec<DVec3> {
    let sums = normal_sums(head, &head.positions);
    // The sums of images differ by their order alone; the mean makes them exact.
    let image = head.mirrored(&sums);
    sums.iter().zip(&image).map(|(a, b)| (*a + *b).normalize_or_zero()).collect()
}

/// Area-weighted normals, not of unit length, of the head with its vertices at these places.
pub(crate) fn normal_sums(head: &Head, positions: &[DVec3]) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; positions.len()];
    for quad in &head.quads {
        let [a, b, c, d] = quad.map(|v| positions[v as usize]);
        let normal = (c - a).cross(d - b);
        quad.iter().for_each(|v| sums[*v as usize] += normal);
    }
    sums
}
