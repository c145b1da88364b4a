//! The skeleton: the bones and organs that every size has, and joints spread over the face.

use super::fields::is_surface;
use super::skin::surface_share;
use crate::head::anatomy::{JAW_HINGE, NECK, SKULL_BASE, frontness};
use crate::head::curve::bell;
use crate::head::{Component, Head, Side};
use crate::orl::dna::Definition;
use glam::{DVec3, dvec3};

/// The joints that every size has, parents first: name and parent.
const NAMED: [(&str, Option<usize>); NAMED_COUNT] = [
    ("spine_04", None),
    ("spine_05", Some(SPINE_04)),
    ("clavicle_l", Some(SPINE_05)),
    ("clavicle_r", Some(SPINE_05)),
    ("neck_01", Some(SPINE_05)),
    ("neck_02", Some(NECK_01)),
    ("head", Some(NECK_02)),
    ("FACIAL_C_FacialRoot", Some(HEAD)),
    ("FACIAL_C_Neck1Root", Some(NECK_01)),
    ("FACIAL_C_Neck2Root", Some(NECK_02)),
    ("FACIAL_C_Jaw", Some(FACIAL_ROOT)),
    ("FACIAL_L_Eye", Some(FACIAL_ROOT)),
    ("FACIAL_R_Eye", Some(FACIAL_ROOT)),
    ("FACIAL_C_TeethUpper", Some(FACIAL_ROOT)),
    ("FACIAL_C_TeethLower", Some(JAW)),
    ("FACIAL_C_Tongue1", Some(JAW)),
    ("FACIAL_C_Tongue2", Some(TONGUE)),
    ("FACIAL_C_Tongue3", Some(TONGUE + 1)),
    ("FACIAL_C_Tongue4", Some(TONGUE + 2)),
];
pub(super) const NAMED_COUNT: usize = 19;
pub(super) const SPINE_04: usize = 0;
pub(super) const SPINE_05: usize = 1;
pub(super) const CLAVICLES: [usize; 2] = [2, 3];
pub(super) const NECK_01: usize = 4;
pub(super) const NECK_02: usize = 5;
pub(super) const HEAD: usize = 6;
const FACIAL_ROOT: usize = 7;
const NECK_1_ROOT: usize = 8;
const NECK_2_ROOT: usize = 9;
pub(super) const JAW: usize = 10;
pub(super) const EYES: [usize; 2] = [11, 12];
pub(super) const UPPER_TEETH: usize = 13;
pub(super) const LOWER_TEETH: usize = 14;
pub(super) const TONGUE: usize = 15;

/// A joint with this share of the jaw's motion hangs from the jaw.
const RIDES_ON_JAW: f64 = 0.6;

/// One joint.
#[derive(Debug)]
pub(super) struct Joint {
    pub name: String,
    pub parent: Option<usize>,
    /// At rest, in the rig's space, metres.
    pub position: DVec3,
    /// The vertex of the finest head that a joint of the surface lies on.
    pub vertex: Option<usize>,
    /// How much of the jaw's motion the skin around a joint of the surface does.
    pub jaw_share: f64,
    /// What of the face it moves; joints of one region make up a group.
    pub region: String,
}

impl Joint {
    /// Whether its axes are those of a bone, x up along the neck, rather than the head's.
    fn is_bone(&self) -> bool {
        !self.name.starts_with("FACIAL_")
    }
}

/// `count` joints in all: the later one comes, the coarser is the level that drops it.
pub(super) fn joints(head: &Head, count: usize) -> Vec<Joint> {
    let mut joints: Vec<Joint> = NAMED
        .iter()
        .zip(named_positions(head))
        .map(|(&(name, parent), position)| Joint {
            name: name.to_owned(),
            parent,
            position,
            vertex: None,
            jaw_share: 0.0,
            region: "Bones".to_owned(),
        })
        .collect();
    let mut numbers: Vec<(String, usize)> = vec![];
    for vertex in surface_vertices(head, count - NAMED_COUNT) {
        let position = head.positions[vertex];
        let region = format!("{}_{}", side_letter(head, vertex), region(position));
        let number = match numbers.iter_mut().find(|(known, _)| *known == region) {
            Some((_, number)) => {
                *number += 1;
                *number
            }
            None => {
                numbers.push((region.clone(), 1));
                1
            }
        };
        let jaw_share = Head::jaw_share(position);
        joints.push(Joint {
            name: format!("FACIAL_{region}{number}"),
            parent: Some(surface_parent(position, jaw_share)),
            position,
            vertex: Some(vertex),
            jaw_share,
            region,
        });
    }
    joints
}

/// The most leading joints, up to `count`, that part no pair of images.
pub(super) fn whole_pairs(joints: &[Joint], count: usize) -> usize {
    let parts_pair = joints.get(count).is_some_and(|next| next.region.starts_with("R_"));
    if parts_pair { count - 1 } else { count }
}

fn named_positions(head: &Head) -> [DVec3; NAMED_COUNT] {
    let middle = |component: Component| {
        let mean = head.mean_where(|v| head.components[v] == component);
        dvec3(0.0, mean.y, mean.z)
    };
    let neck_2 = NECK.lerp(SKULL_BASE, 0.55);
    let tongue = middle(Component::Tongue);
    let along = |step: f64| tongue + dvec3(0.0, 0.0, 0.012 * step);
    [
        dvec3(0.0, 0.0200, -0.0200),
        dvec3(0.0, 0.0600, -0.0160),
        dvec3(0.0300, 0.0450, 0.0100),
        dvec3(-0.0300, 0.0450, 0.0100),
        NECK,
        neck_2,
        SKULL_BASE,
        SKULL_BASE,
        NECK,
        neck_2,
        JAW_HINGE,
        head.eye_centre(Side::Left),
        head.eye_centre(Side::Right),
        middle(Component::UpperTeeth),
        middle(Component::LowerTeeth),
        along(-1.5),
        along(-0.5),
        along(0.5),
        along(1.5),
    ]
}

/// Vertices of the skin for `count` joints: first the places that a face needs most, then always the one that is farthest from all
/// before it, where far is less around the eyes and the mouth. Images follow each other, left first.
fn surface_vertices(head: &Head, count: usize) -> Vec<usize> {
    const PLACES: [[f64; 2]; 13] = [
        [0.0, 0.219],
        [0.0, 0.208],
        [0.026, 0.214],
        [0.013, 0.219],
        [0.013, 0.208],
        [0.014, 0.306],
        [0.042, 0.306],
        [0.0315, 0.292],
        [0.0315, 0.279],
        [0.042, 0.262],
        [0.042, 0.222],
        [0.013, 0.243],
        [0.0, 0.182],
    ];
    let on_left = |v: &usize| head.mirror[*v] as usize == *v || head.positions[*v].x > 0.0;
    let candidates: Vec<usize> = (0..head.vertex_count())
        .filter(|v| is_surface(head, *v) && surface_share(head.positions[*v]) > 0.15)
        .filter(on_left)
        .collect();
    let density: Vec<f64> = candidates.iter().map(|v| density(head.positions[*v])).collect();
    let mut distances = vec![f64::INFINITY; candidates.len()];
    let mut chosen = vec![];
    for step in 0.. {
        let room = count - chosen.len();
        if room == 0 {
            break;
        }
        let next = match PLACES.get(step) {
            Some(place) => nearest(head, &candidates, *place),
            None => farthest(&distances, |at| room > 1 || head.mirror[candidates[at]] as usize == candidates[at]),
        };
        let Some(next) = next else { break };
        if distances[next] == 0.0 {
            continue;
        }
        let vertex = candidates[next];
        let image = head.mirror[vertex] as usize;
        chosen.push(vertex);
        if image != vertex {
            chosen.push(image);
        }
        for ((distance, candidate), density) in distances.iter_mut().zip(&candidates).zip(&density) {
            let p = head.positions[*candidate];
            let to = p.distance(head.positions[vertex]).min(p.distance(head.positions[image]));
            *distance = distance.min(to * density);
        }
    }
    chosen
}

fn nearest(head: &Head, candidates: &[usize], [x, y]: [f64; 2]) -> Option<usize> {
    let distance = |at: &usize| {
        let p = head.positions[candidates[*at]];
        (p.x - x).hypot(p.y - y) + if p.z < 0.05 { 1.0 } else { 0.0 }
    };
    (0..candidates.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

fn farthest(distances: &[f64], may: impl Fn(usize) -> bool) -> Option<usize> {
    let open = (0..distances.len()).filter(|at| may(*at) && distances[*at] > 0.0);
    open.max_by(|a, b| distances[*a].total_cmp(&distances[*b]))
}

/// How much denser than elsewhere joints lie at a place.
fn density(p: DVec3) -> f64 {
    let mouth = bell(p.x, 0.034) * bell(p.y - 0.214, 0.020);
    let eye = bell(p.x.abs() - 0.0315, 0.022) * bell(p.y - 0.287, 0.016);
    let neck = if p.y < 0.150 { 0.6 } else { 1.0 };
    neck * (0.4 + 0.6 * frontness(p.z)) * (1.0 + 1.5 * mouth + 1.5 * eye)
}

fn side_letter(head: &Head, vertex: usize) -> char {
    match head.positions[vertex].x {
        _ if head.mirror[vertex] as usize == vertex => 'C',
        x if x > 0.0 => 'L',
        _ => 'R',
    }
}

/// What of the face a place belongs to.
fn region(p: DVec3) -> &'static str {
    let x = p.x.abs();
    match p.y {
        y if y < 0.150 => "Neck",
        _ if p.z < 0.030 && x > 0.070 && p.y > 0.215 && p.y < 0.300 => "Ear",
        _ if p.z < 0.045 && p.y > 0.290 => "Skull",
        y if y > 0.319 => "Forehead",
        y if y > 0.296 => "Brow",
        y if y > 0.284 && x > 0.014 && x < 0.052 => "EyelidUpper",
        y if y > 0.270 && x > 0.014 && x < 0.052 => "EyelidLower",
        y if y > 0.232 && x < 0.020 => "Nose",
        y if y > 0.240 => "CheekUpper",
        y if y > 0.213 && x < 0.030 => "LipUpper",
        y if y > 0.200 && x < 0.030 => "LipLower",
        y if y < 0.200 && x < 0.026 => "Chin",
        y if y < 0.195 => "Jawline",
        _ => "CheekLower",
    }
}

fn surface_parent(p: DVec3, jaw_share: f64) -> usize {
    match p.y {
        _ if jaw_share >= RIDES_ON_JAW => JAW,
        y if y < 0.105 => NECK_1_ROOT,
        y if y < 0.150 => NECK_2_ROOT,
        _ => FACIAL_ROOT,
    }
}

/// Writes names, tree and neutral pose: the bones' x axis points up, the facial joints are aligned with the head.
pub(super) fn define(joints: &[Joint], definition: &mut Definition) {
    const CM: f64 = 100.0;
    for (index, joint) in joints.iter().enumerate() {
        let parent = joint.parent.map(|p| &joints[p]);
        let way = CM * (joint.position - parent.map_or(DVec3::ZERO, |p| p.position));
        let (way, angle) = match (parent.is_some_and(Joint::is_bone), joint.is_bone()) {
            (false, false) => (way, 0.0),
            (false, true) => (way, 90.0),
            (true, true) => (in_bone(way), 0.0),
            (true, false) => (in_bone(way), -90.0),
        };
        definition.joint_names.push(joint.name.clone());
        definition.joint_parents.push(joint.parent.unwrap_or(index) as u16);
        definition.neutral_translations.push(way.as_vec3().to_array());
        definition.neutral_rotations.push([0.0, 0.0, angle]);
    }
}

/// A way in the axes of a bone, which are the head's turned by a quarter around z. Zero plus a value makes no negative zero.
fn in_bone(way: DVec3) -> DVec3 {
    dvec3(way.y, 0.0 - way.x, way.z)
}
