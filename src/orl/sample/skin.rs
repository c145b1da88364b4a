//! Which joints move which vertex.

use super::joints::{
    CLAVICLES, EYES, HEAD, JAW, Joint, LOWER_TEETH, NAMED_COUNT, NECK_01, NECK_02, SPINE_05, TONGUE, UPPER_TEETH,
};
use crate::head::anatomy::{MOUTH_HALF_WIDTH, frontness, mouth_line};
use crate::head::curve::{bell, smooth01};
use crate::head::{Component, Head, Side, Tissue};
use crate::orl::dna::SkinRow;
use glam::DVec3;

/// How much of the skin's weight joints of the surface have.
pub(super) fn surface_share(p: DVec3) -> f64 {
    let below_crown = 1.0 - smooth01((p.y - 0.330) / 0.030);
    0.8 * smooth01((p.z + 0.030) / 0.050) * smooth01((p.y - 0.055) / 0.040) * below_crown
}

/// The skin of one head: (V) rows.
///
/// `joints` are those that the level has; up to `nearest` of the surface's move one vertex. The rows sum to 1 exactly.
pub(super) fn skin(head: &Head, joints: &[Joint], nearest: usize) -> Vec<SkinRow> {
    let places: Vec<Place> = joints[NAMED_COUNT..].iter().map(|joint| Place::of(joint.position)).collect();
    let row = |vertex: usize| {
        let p = head.positions[vertex];
        match head.components[vertex] {
            Component::LeftEye => vec![(EYES[0], 1.0)],
            Component::RightEye => vec![(EYES[1], 1.0)],
            Component::UpperTeeth => vec![(UPPER_TEETH, 1.0)],
            Component::LowerTeeth => vec![(LOWER_TEETH, 1.0)],
            Component::Tongue => tongue(p, joints),
            Component::Skin => {
                let share = surface_share(p);
                let mut row = base(head, vertex);
                row.iter_mut().for_each(|(_, weight)| *weight *= 1.0 - share);
                if share > 0.0 {
                    let near = nearest_places(&places, Place::of(p), nearest);
                    row.extend(near.into_iter().map(|(place, weight)| (NAMED_COUNT + place, share * weight)));
                }
                row
            }
        }
    };
    (0..head.vertex_count()).map(|vertex| rounded(row(vertex))).collect()
}

/// Bones and jaw, without the surface.
fn base(head: &Head, vertex: usize) -> Vec<(usize, f64)> {
    let p = head.positions[vertex];
    let jaw = jaw_share(head, vertex);
    // Inside the head the neck has no part.
    let height = if head.tissues[vertex] == Tissue::Skin { p.y - 0.35 * (p.z.min(0.05) - 0.02) } else { f64::INFINITY };
    let above = |low: f64, high: f64| smooth01((height - low) / (high - low));
    let [first, second, third] = [above(0.045, 0.100), above(0.100, 0.145), above(0.145, 0.195)];
    let shoulder = smooth01((p.x.abs() - 0.040) / 0.050) * smooth01((0.065 - height) / 0.030);
    let clavicle = CLAVICLES[usize::from(p.x < 0.0)];
    let rest = 1.0 - jaw;
    vec![
        (JAW, jaw),
        (SPINE_05, rest * (1.0 - first) * (1.0 - shoulder)),
        (clavicle, rest * (1.0 - first) * shoulder),
        (NECK_01, rest * first * (1.0 - second)),
        (NECK_02, rest * first * second * (1.0 - third)),
        (HEAD, rest * first * second * third),
    ]
}

/// How much of the jaw's motion a vertex of the skin does.
pub(super) fn jaw_share(head: &Head, vertex: usize) -> f64 {
    match head.tissues[vertex] {
        Tissue::Skin | Tissue::MouthSock => Head::jaw_share(head.positions[vertex]),
        _ => 0.0,
    }
}

/// Along the tongue from joint to joint.
fn tongue(p: DVec3, joints: &[Joint]) -> Vec<(usize, f64)> {
    let z = |joint: usize| joints[TONGUE + joint].position.z;
    let passed = |joint: usize| smooth01((p.z - z(joint)) / (z(joint + 1) - z(joint)));
    let [first, second, third] = [passed(0), passed(1), passed(2)];
    let weights = [1.0 - first, first * (1.0 - second), first * second * (1.0 - third), first * second * third];
    weights.into_iter().enumerate().map(|(joint, weight)| (TONGUE + joint, weight)).collect()
}

/// A place on the skin and the sides of the openings that it lies on.
#[derive(Debug, Clone, Copy)]
struct Place {
    position: DVec3,
    /// 1 on the upper lip, -1 on the lower one, 0 away from the mouth.
    lip: f64,
    /// The same of the lids.
    lid: f64,
}

impl Place {
    fn of(p: DVec3) -> Place {
        let line = mouth_line(p.x);
        let at_mouth = smooth01((MOUTH_HALF_WIDTH * 1.02 - p.x.abs()) / 0.012)
            * bell(p.y - line, 0.020)
            * smooth01((p.z - 0.030) / 0.030);
        let d = p - crate::head::anatomy::eye_centre(Side::of(p.x));
        let at_eye = smooth01((0.0135 - d.x.abs()) / 0.004) * bell(d.y, 0.012) * frontness(p.z);
        Place {
            position: p,
            lip: if Head::is_below_mouth(p) { -at_mouth } else { at_mouth },
            lid: at_eye * (d.y / 0.003).clamp(-1.0, 1.0),
        }
    }

    /// The way over the skin, which is longer than the straight one between two lips or lids.
    fn distance(self, other: Place) -> f64 {
        const AROUND_M: f64 = 0.030;
        self.position.distance(other.position)
            + AROUND_M * ((self.lip - other.lip).abs() + (self.lid - other.lid).abs())
    }
}

/// The `count` places nearest to `p` with weights that sum to 1 and fall to 0 at the distance of the next one: so joints that are
/// equally far on both sides of the midline are both in or both out.
fn nearest_places(places: &[Place], p: Place, count: usize) -> Vec<(usize, f64)> {
    let mut near: Vec<(f64, usize)> = vec![];
    for (index, place) in places.iter().enumerate() {
        let distance = p.distance(*place);
        if near.len() <= count || distance < near[count].0 {
            let at = near.partition_point(|(d, _)| *d <= distance);
            near.insert(at, (distance, index));
            near.truncate(count + 1);
        }
    }
    let reach = near.last().map_or(1.0, |(distance, _)| *distance);
    let weight = |distance: f64| (1.0 - distance / reach).max(0.0).powi(2);
    let total: f64 = near.iter().map(|(distance, _)| weight(*distance)).sum();
    near.into_iter().map(|(distance, index)| (index, weight(distance) / total)).collect()
}

/// Weights as multiples of 1/16384 that sum to 1 exactly, the largest first.
fn rounded(row: Vec<(usize, f64)>) -> SkinRow {
    const GRID: f64 = 16384.0;
    let mut steps: Vec<(usize, f64)> =
        row.into_iter().map(|(joint, weight)| (joint, (weight * GRID).round())).collect();
    steps.retain(|(_, weight)| *weight > 0.0);
    // Stable, so that equal weights keep their order.
    steps.sort_by(|a, b| b.1.total_cmp(&a.1));
    let missing = GRID - steps.iter().map(|(_, weight)| weight).sum::<f64>();
    if let Some((_, weight)) = steps.first_mut() {
        *weight += missing;
    }
    SkinRow {
        weights: steps.iter().map(|(_, weight)| (weight / GRID) as f32).collect(),
        joints: steps.iter().map(|(joint, _)| *joint as u16).collect(),
    }
}
