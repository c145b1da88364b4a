//! Eyeballs, teeth and tongue, each from a box or a square of quads.

use super::anatomy::{CORNEA, EYE_RADIUS, IRIS_ANGLE, MOUTH_Y};
use super::curve::smooth01;
use glam::{DVec3, dvec3};
use std::collections::HashMap;

/// A closed or open part of the head.
pub(super) struct Organ {
    pub positions: Vec<DVec3>,
    pub quads: Vec<[usize; 4]>,
    pub quad_uvs: Vec<[[f64; 2]; 4]>,
}

/// The surface of the cube -1..1 in quads that face outward, six rectangles of texture.
fn cube([across, up, along]: [usize; 3]) -> Organ {
    let counts = [across, up, along];
    let mut cube = Organ { positions: vec![], quads: vec![], quad_uvs: vec![] };
    let mut known: HashMap<[usize; 3], usize> = HashMap::new();
    // Each face: its two directions and the one it looks along, the sign that flips the first, and its texture's corner.
    let faces: [([usize; 2], usize, bool, [f64; 2]); 6] = [
        ([0, 1], 2, true, [0.02, 0.02]),
        ([0, 1], 2, false, [0.35, 0.02]),
        ([2, 1], 0, true, [0.68, 0.02]),
        ([2, 1], 0, false, [0.02, 0.50]),
        ([0, 2], 1, true, [0.35, 0.50]),
        ([0, 2], 1, false, [0.68, 0.50]),
    ];
    for ([first, second], normal, outer, texture) in faces {
        // The cross product of the two directions must look outward; where it does not, the first one runs backwards.
        let right_handed = (first + 1) % 3 == second;
        let reversed = right_handed != outer;
        for i in 0..counts[first] {
            for j in 0..counts[second] {
                let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
                cube.quads.push(corners.map(|(i, j)| {
                    let mut key = [0; 3];
                    key[first] = if reversed { counts[first] - i } else { i };
                    key[second] = j;
                    key[normal] = if outer { counts[normal] } else { 0 };
                    *known.entry(key).or_insert_with(|| {
                        let unit = |axis: usize| 2.0 * key[axis] as f64 / counts[axis] as f64 - 1.0;
                        cube.positions.push(dvec3(unit(0), unit(1), unit(2)));
                        cube.positions.len() - 1
                    })
                }));
                let share = |i: usize, count: usize| i as f64 / count as f64;
                cube.quad_uvs.push(corners.map(|(i, j)| {
                    [texture[0] + 0.30 * share(i, counts[first]), texture[1] + 0.45 * share(j, counts[second])]
                }));
            }
        }
    }
    cube
}

/// The cube -1..1 onto the unit sphere, with little stretch.
fn onto_sphere(p: DVec3) -> DVec3 {
    let q = p * p;
    let axis = |a: f64, b: f64| (1.0 - a / 2.0 - b / 2.0 + a * b / 3.0).sqrt();
    dvec3(p.x * axis(q.y, q.z), p.y * axis(q.z, q.x), p.z * axis(q.x, q.y))
}

/// The eye's clear outer shell around its own centre, cornea forward.
pub(super) fn eye_shell(edge: usize) -> Organ {
    let mut shell = cube([edge; 3]);
    for p in &mut shell.positions {
        *p = onto_sphere(*p);
    }
    // The texture is the view along the eye's axis: front and back lie over each other.
    let uv = |v: &usize| [0, 1].map(|axis| 0.5 + 0.46 * shell.positions[*v][axis]);
    shell.quad_uvs = shell.quads.iter().map(|quad| quad.each_ref().map(uv)).collect();
    for p in &mut shell.positions {
        *p *= EYE_RADIUS * (1.0 + CORNEA * smooth01((p.z - 0.86) / 0.12));
    }
    shell
}

/// The eye's inside as one sees it from the front: pupil, iris and sclera on a bowl; and each vertex's polar angle.
pub(super) fn eye_bowl(edge: usize) -> (Organ, Vec<f64>) {
    const EXTENT: f64 = 1.40;
    let mut bowl = Organ { positions: vec![], quads: vec![], quad_uvs: vec![] };
    let mut polar_angles = vec![];
    let unit = |i: usize| 2.0 * i as f64 / edge as f64 - 1.0;
    for row in 0..=edge {
        for column in 0..=edge {
            // Square rings become round ones, so that the pupil's and the iris's edges are circles.
            let (x, y) = (unit(column), unit(row));
            let ring = x.abs().max(y.abs());
            let round = dvec3(x, y, 0.0).normalize_or_zero();
            // Rings lie closer together at the pupil.
            let angle = EXTENT * (0.55 * ring + 0.45 * ring * ring);
            let sphere = dvec3(round.x * angle.sin(), round.y * angle.sin(), angle.cos()) * 0.93;
            let iris_plane = 0.035 * smooth01((IRIS_ANGLE - angle) / 0.20);
            bowl.positions.push(EYE_RADIUS * (sphere - dvec3(0.0, 0.0, iris_plane)));
            polar_angles.push(angle);
        }
    }
    let vertex = |(row, column): (usize, usize)| row * (edge + 1) + column;
    for row in 0..edge {
        for column in 0..edge {
            let corners = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)];
            bowl.quads.push(corners.map(vertex));
            bowl.quad_uvs.push(corners.map(|(row, column)| [0.5 + 0.48 * unit(column), 0.5 + 0.48 * unit(row)]));
        }
    }
    (bowl, polar_angles)
}

/// A row of teeth in its gums, and which vertices are gum.
pub(super) fn teeth(counts: [usize; 3], upper: bool) -> (Organ, Vec<bool>) {
    const HALF_HEIGHT: f64 = 0.0062;
    const HALF_THICKNESS: f64 = 0.0036;
    let half_arch = 86.0_f64.to_radians();
    let (half_width, depth, back_z) = if upper { (0.0235, 0.0300, 0.0825) } else { (0.0220, 0.0285, 0.0815) };
    let gumward = if upper { 1.0 } else { -1.0 };
    let mut arch = cube(counts);
    let mut gums = vec![];
    for p in &mut arch.positions {
        let angle = half_arch * p.x;
        let thickness = HALF_THICKNESS * p.z;
        let from_edge = gumward * p.y;
        gums.push(from_edge > 0.35);
        // The biting edge is scalloped, two teeth to a wave.
        let scallop = 0.0007 * smooth01((0.2 - from_edge) / 1.2) * (p.x * std::f64::consts::PI * 14.0).cos().powi(2);
        *p = dvec3(
            (half_width + thickness) * angle.sin(),
            MOUTH_Y + HALF_HEIGHT * (gumward + p.y) + gumward * scallop,
            back_z + (depth + thickness) * angle.cos(),
        );
    }
    (arch, gums)
}

pub(super) fn tongue(counts: [usize; 3]) -> Organ {
    let mut tongue = cube(counts);
    for p in &mut tongue.positions {
        let s = onto_sphere(*p);
        let arched = 0.0030 * (1.0 - s.z * s.z) - 0.0012 * s.x.abs();
        *p = dvec3(0.0165 * s.x, MOUTH_Y - 0.0085 + 0.0058 * s.y + arched, 0.0820 + 0.0235 * s.z);
    }
    tongue
}
