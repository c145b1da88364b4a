//! One head as the meshes of a level, with the deltas that its joints leave over.

use super::jaw::JawMotion;
use super::joints::Joint;
use crate::head::canvas::Field;
use crate::head::{Component, Head};
use crate::orl::dna::{Layouts, Mesh, SkinRow, Target};
use glam::DVec3;
use indexmap::IndexMap;
use rayon::prelude::*;
use std::ops::Range;

const CM: f64 = 100.0;
/// Deltas below this are left out: a micrometre.
const LEAST_M: f64 = 1e-6;

/// The meshes that a head is divided into, with the parts that each is made of.
pub(super) const MESHES: [(&str, &[Component]); 4] = [
    ("head", &[Component::Skin]),
    ("teeth", &[Component::UpperTeeth, Component::LowerTeeth, Component::Tongue]),
    ("eyeLeft", &[Component::LeftEye]),
    ("eyeRight", &[Component::RightEye]),
];

/// What a channel does: its field, and the joints that carry part of it.
pub(super) struct Shape<'a> {
    pub channel: usize,
    pub field: &'a Field,
    pub carried: &'a [(usize, DVec3)],
    /// What the control does to the jaw beside.
    pub jaw: Option<JawMotion>,
}

/// The meshes of a head.
pub(super) fn meshes(
    head: &Head,
    normals: &[DVec3],
    joints: &[Joint],
    skin: &[SkinRow],
    shapes: &[Shape<'_>],
) -> Vec<Mesh> {
    let moved_by = vertices_by_joint(skin);
    let left_over: Vec<Field> = shapes
        .par_iter()
        .map_init(
            || vec![DVec3::ZERO; skin.len()],
            |room, shape| match shape.jaw {
                Some(jaw) => jaw.left_over(head, skin, joints, shape.field, shape.carried),
                None => left_over(shape, &moved_by, room),
            },
        )
        .collect();
    let vertices = MESHES.map(|(_, parts)| range(head, parts));
    vertices
        .into_iter()
        .map(|vertices| {
            let mut mesh = mesh(head, normals, skin, vertices.clone());
            mesh.targets = shapes.iter().zip(&left_over).filter_map(|(s, f)| target(s.channel, f, &vertices)).collect();
            mesh
        })
        .collect()
}

/// The vertices of some parts, which lie one after the other.
fn range(head: &Head, parts: &[Component]) -> Range<usize> {
    let is_part = |c: &Component| parts.contains(c);
    let first = head.components.iter().position(is_part).unwrap_or(0);
    first..first + head.components.iter().filter(|c| is_part(c)).count()
}

fn vertices_by_joint(skin: &[SkinRow]) -> Vec<Vec<(u32, f64)>> {
    let mut moved_by: Vec<Vec<(u32, f64)>> = vec![];
    for (vertex, row) in skin.iter().enumerate() {
        for (&joint, &weight) in row.joints.iter().zip(&row.weights) {
            let joint = usize::from(joint);
            if moved_by.len() <= joint {
                moved_by.resize_with(joint + 1, Vec::new);
            }
            moved_by[joint].push((vertex as u32, weight.into()));
        }
    }
    moved_by
}

/// The field less what the joints do to it. `room` holds zeros, before and after.
fn left_over(shape: &Shape, moved_by: &[Vec<(u32, f64)>], room: &mut [DVec3]) -> Field {
    let mut touched: Vec<u32> = shape.field.iter().map(|(v, _)| *v).collect();
    shape.field.iter().for_each(|(v, d)| room[*v as usize] = *d);
    for (joint, way) in shape.carried {
        for (vertex, weight) in moved_by.get(*joint).into_iter().flatten() {
            room[*vertex as usize] -= *weight * *way;
            touched.push(*vertex);
        }
    }
    touched.sort_unstable();
    touched.dedup();
    let rest = touched.into_iter().map(|v| (v, std::mem::take(&mut room[v as usize])));
    rest.collect()
}

fn target(channel: usize, field: &Field, vertices: &Range<usize>) -> Option<Target> {
    let first = field.partition_point(|(v, _)| (*v as usize) < vertices.start);
    let end = field.partition_point(|(v, _)| (*v as usize) < vertices.end);
    let inside: Vec<&(u32, DVec3)> = field[first..end].iter().filter(|(_, d)| d.length() > LEAST_M).collect();
    (!inside.is_empty()).then(|| Target {
        // Zero plus a value makes no negative zero.
        deltas: inside.iter().map(|(_, d)| (CM * *d).as_vec3().to_array().map(|x| x + 0.0)).collect(),
        vertices: inside.iter().map(|(v, _)| v - vertices.start as u32).collect(),
        channel: channel as u16,
    })
}

fn mesh(head: &Head, normals: &[DVec3], skin: &[SkinRow], vertices: Range<usize>) -> Mesh {
    let mut uvs: IndexMap<[u32; 2], ()> = IndexMap::new();
    let mut corners: IndexMap<(u32, u32), ()> = IndexMap::new();
    let mut faces = vec![];
    for (quad, quad_uvs) in head.quads.iter().zip(&head.quad_uvs) {
        if !vertices.contains(&(quad[0] as usize)) {
            continue;
        }
        let corner = |(vertex, uv): (&u32, &[f32; 2])| {
            let uv = uvs.insert_full(uv.map(f32::to_bits), ()).0 as u32;
            corners.insert_full((vertex - vertices.start as u32, uv), ()).0 as u32
        };
        faces.push(quad.iter().zip(quad_uvs).map(corner).collect());
    }
    let (positions, uv_indices): (Vec<u32>, Vec<u32>) = corners.into_keys().unzip();
    let skin = skin[vertices.clone()].to_vec();
    Mesh {
        positions: head.positions[vertices.clone()].iter().map(|p| (CM * *p).as_vec3().to_array()).collect(),
        uvs: uvs.into_keys().map(|uv| uv.map(f32::from_bits)).collect(),
        normals: normals[vertices].iter().map(|n| n.as_vec3().to_array()).collect(),
        // A normal for each position.
        layouts: Layouts { normals: positions.clone(), positions, uvs: uv_indices },
        faces,
        max_influences: skin.iter().map(|row| row.joints.len()).max().unwrap_or(0) as u16,
        skin,
        targets: vec![],
    }
}
