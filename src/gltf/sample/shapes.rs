//! The 52 ARKit shapes as morph targets of the head.
//!
//! Places and ways are in millimetres on the subject's left.

use crate::gltf::write::{Attributes, Glb};
use crate::head::anatomy::{JAW_HINGE, mouth_line};
use crate::head::canvas::Move::{Lids, LowerLid, LowerLip, Neck, Skin, Tongue, UpperLid, UpperLip};
use crate::head::canvas::{Canvas, Move, normal_sums};
use crate::head::{Component, Head, Side, Tissue};
use glam::{DMat3, DVec3, dvec3};
use rayon::prelude::*;
use std::ops::Range;

/// Deltas below these belong to vertices that stay: 10 micrometres, and a tenth of a degree.
const LEAST_M: f64 = 1e-5;
const LEAST_TURN: f64 = 2e-3;
const GAZE_DEG: f64 = 20.0;
/// What `jawOpen` turns the jaw by.
const JAW_DEG: f64 = 15.0;

/// One shape at full effort: the vertices that move, ascending, with what it adds to their positions and normals.
pub(super) struct Shape {
    pub name: &'static str,
    vertices: Vec<u32>,
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
}

impl Shape {
    /// Whether it moves one of these vertices.
    pub(super) fn moves(&self, vertices: &Range<usize>) -> bool {
        !self.of(vertices).is_empty()
    }

    /// Adds the target of a primitive that has these vertices.
    pub(super) fn write(&self, glb: &mut Glb, vertices: &Range<usize>) -> Attributes {
        let of = self.of(vertices);
        let own: Vec<u32> = self.vertices[of.clone()].iter().map(|v| v - vertices.start as u32).collect();
        glb.add_target(vertices.len(), &own, [&self.positions[of.clone()], &self.normals[of]])
    }

    fn of(&self, vertices: &Range<usize>) -> Range<usize> {
        let place = |vertex: usize| self.vertices.partition_point(|v| (*v as usize) < vertex);
        place(vertices.start)..place(vertices.end)
    }
}

/// What does a shape of the left side, or both halves of a shape across the midline.
struct Recipe {
    /// The names: of one across the midline; or of a left one and its image on the right.
    names: &'static [&'static str],
    moves: &'static [Move],
    rest: Rest,
}

/// What moves beside the skin.
#[derive(Clone, Copy)]
enum Rest {
    Nothing,
    /// The left eye: degrees around x, y.
    Eye(f64, f64),
    /// The jaw: degrees around x, y, and a way.
    Jaw([f64; 2], [f64; 3]),
    /// The lips go together over the open jaw.
    Lips,
}

/// A shape that has an image.
const fn pair(names: &'static [&'static str; 2], moves: &'static [Move]) -> Recipe {
    Recipe { names, moves, rest: Rest::Nothing }
}

/// A shape that is its own image.
const fn middle(name: &'static [&'static str; 1], moves: &'static [Move]) -> Recipe {
    Recipe { names: name, moves, rest: Rest::Nothing }
}

const fn with(rest: Rest, recipe: Recipe) -> Recipe {
    Recipe { rest, ..recipe }
}

/// Lips part by this to let the tongue out.
const TONGUE_LIPS: [Move; 2] =
    [UpperLip(0.0, [16.0, 8.0], [0.0, 1.6, 0.5], 0.0), LowerLip(0.0, [16.0, 9.0], [0.0, 3.4, 0.5], 0.0)];

const RECIPES: &[Recipe] = &[
    pair(&["browDownLeft", "browDownRight"], &[Skin([26.0, 306.0], [20.0, 11.0], [-0.8, -5.0, 0.6])]),
    middle(&["browInnerUp"], &[Skin([14.0, 308.0], [13.0, 14.0], [0.4, 5.5, 0.6])]),
    pair(&["browOuterUpLeft", "browOuterUpRight"], &[Skin([43.0, 308.0], [15.0, 14.0], [0.5, 5.0, 0.6])]),
    middle(&["cheekPuff"], &[Skin([43.0, 222.0], [18.0, 18.0], [5.5, 0.0, 5.0])]),
    pair(
        &["cheekSquintLeft", "cheekSquintRight"],
        &[Skin([42.0, 266.0], [18.0, 12.0], [-0.5, 3.6, 0.8]), LowerLid(0.4)],
    ),
    pair(&["eyeBlinkLeft", "eyeBlinkRight"], &[Lids(1.0)]),
    with(Rest::Eye(GAZE_DEG, 0.0), pair(&["eyeLookDownLeft", "eyeLookDownRight"], &[UpperLid(0.35)])),
    with(
        Rest::Eye(0.0, -GAZE_DEG),
        pair(&["eyeLookInLeft", "eyeLookInRight"], &[Skin([30.0, 285.0], [12.0, 7.0], [-0.5, 0.0, 0.1])]),
    ),
    with(
        Rest::Eye(0.0, GAZE_DEG),
        pair(&["eyeLookOutLeft", "eyeLookOutRight"], &[Skin([33.0, 285.0], [12.0, 7.0], [0.5, 0.0, 0.1])]),
    ),
    with(Rest::Eye(-GAZE_DEG, 0.0), pair(&["eyeLookUpLeft", "eyeLookUpRight"], &[UpperLid(-0.22)])),
    pair(&["eyeSquintLeft", "eyeSquintRight"], &[LowerLid(1.0), Skin([20.0, 277.0], [9.0, 8.0], [-0.5, 0.6, 0.5])]),
    pair(&["eyeWideLeft", "eyeWideRight"], &[UpperLid(-0.35), Skin([31.0, 301.0], [16.0, 9.0], [0.0, 1.6, 0.3])]),
    with(
        Rest::Jaw([0.0, 0.0], [0.0, -1.0, 7.0]),
        middle(&["jawForward"], &[Skin([0.0, 184.0], [16.0, 12.0], [0.0, 0.2, 0.4])]),
    ),
    with(
        Rest::Jaw([0.0, 4.5], [1.5, 0.0, 0.0]),
        pair(&["jawLeft", "jawRight"], &[Skin([0.0, 216.0], [24.0, 12.0], [1.5, 0.0, 0.0])]),
    ),
    with(
        Rest::Jaw([JAW_DEG, 0.0], [0.0, 0.0, 1.5]),
        middle(&["jawOpen"], &[Skin([40.0, 224.0], [14.0, 18.0], [-1.2, 0.0, -1.0])]),
    ),
    with(Rest::Lips, middle(&["mouthClose"], &[])),
    pair(&["mouthDimpleLeft", "mouthDimpleRight"], &[Skin([30.0, 214.0], [10.0, 10.0], [3.5, 0.8, -2.8])]),
    pair(&["mouthFrownLeft", "mouthFrownRight"], &[Skin([27.0, 211.0], [14.0, 13.0], [0.6, -6.0, -0.5])]),
    middle(
        &["mouthFunnel"],
        &[
            UpperLip(10.0, [15.0, 11.0], [0.0, 3.2, 4.5], 2.5),
            LowerLip(10.0, [15.0, 11.0], [0.0, 3.2, 4.5], 2.5),
            Skin([25.0, 214.0], [12.0, 10.0], [-2.4, 0.0, 1.6]),
        ],
    ),
    pair(&["mouthLeft", "mouthRight"], &[Skin([0.0, 214.0], [32.0, 16.0], [7.0, 0.0, -0.5])]),
    pair(&["mouthLowerDownLeft", "mouthLowerDownRight"], &[LowerLip(12.0, [13.0, 12.0], [0.5, 5.0, 0.5], 0.0)]),
    pair(
        &["mouthPressLeft", "mouthPressRight"],
        &[
            UpperLip(12.0, [14.0, 9.0], [0.0, 0.0, -1.4], 0.0),
            LowerLip(12.0, [14.0, 9.0], [0.0, 0.0, -1.4], 0.0),
            Skin([28.0, 214.0], [9.0, 9.0], [1.2, 0.6, -1.2]),
        ],
    ),
    middle(
        &["mouthPucker"],
        &[
            UpperLip(8.0, [15.0, 10.0], [0.0, 0.3, 3.5], 3.0),
            LowerLip(8.0, [15.0, 10.0], [0.0, 0.3, 3.5], 3.0),
            Skin([25.0, 214.0], [13.0, 10.0], [-5.6, 0.0, 2.4]),
        ],
    ),
    middle(&["mouthRollLower"], &[LowerLip(10.0, [15.0, 8.0], [0.0, 0.3, -2.8], 0.0)]),
    middle(&["mouthRollUpper"], &[UpperLip(10.0, [15.0, 8.0], [0.0, 0.3, -2.8], 0.0)]),
    middle(
        &["mouthShrugLower"],
        &[Skin([7.0, 183.0], [12.0, 11.0], [0.0, 3.6, 1.0]), Skin([8.0, 214.0], [14.0, 9.0], [0.0, 1.8, 1.0])],
    ),
    middle(
        &["mouthShrugUpper"],
        &[Skin([8.0, 219.0], [14.0, 9.0], [0.0, 2.4, 1.0]), Skin([7.0, 184.0], [12.0, 10.0], [0.0, 1.5, 0.5])],
    ),
    pair(
        &["mouthSmileLeft", "mouthSmileRight"],
        &[Skin([28.0, 215.0], [16.0, 14.0], [6.5, 7.0, -2.0]), Skin([41.0, 240.0], [16.0, 14.0], [0.5, 3.0, 2.0])],
    ),
    pair(
        &["mouthStretchLeft", "mouthStretchRight"],
        &[Skin([30.0, 211.0], [16.0, 16.0], [7.0, -3.0, -2.5]), Neck([30.0, 125.0], [16.0, 28.0], [1.5, 0.0, 1.0])],
    ),
    pair(
        &["mouthUpperUpLeft", "mouthUpperUpRight"],
        &[UpperLip(12.0, [13.0, 12.0], [0.3, 5.0, 0.6], 0.0), Skin([19.0, 231.0], [12.0, 9.0], [0.0, 1.8, 0.5])],
    ),
    pair(
        &["noseSneerLeft", "noseSneerRight"],
        &[Skin([13.0, 248.0], [11.0, 13.0], [0.0, 3.4, 0.8]), Skin([18.0, 227.0], [11.0, 8.0], [0.0, 1.8, 0.3])],
    ),
    middle(&["tongueOut"], &[Tongue([0.0, 7.0, 34.0]), TONGUE_LIPS[0], TONGUE_LIPS[1]]),
];

/// All 52 by name.
pub(super) fn shapes(canvas: &Canvas) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = RECIPES.par_iter().flat_map_iter(|recipe| made(canvas, recipe)).collect();
    shapes.sort_by_key(|shape| shape.name);
    shapes
}

/// The shape of a recipe, or both.
fn made(canvas: &Canvas, recipe: &Recipe) -> Vec<Shape> {
    let head = canvas.head;
    let mut field = vec![DVec3::ZERO; head.vertex_count()];
    recipe.moves.iter().for_each(|part| canvas.add(&mut field, *part, true, false));
    let is_middle = recipe.names.len() == 1;
    if is_middle {
        // The tongue lies on both sides already.
        let image = head.mirrored(&field);
        let on_skin = |v: usize| head.components[v] == Component::Skin;
        (0..field.len()).filter(|v| on_skin(*v)).for_each(|v| field[v] += image[v]);
    }
    add_rest(canvas, recipe.rest, &mut field);
    let moved: Vec<DVec3> = head.positions.iter().zip(&field).map(|(p, d)| *p + *d).collect();
    let sums = normal_sums(head, &moved);
    let mut turns: Vec<DVec3> =
        sums.iter().zip(&canvas.normals).map(|(sum, rest)| sum.normalize_or(*rest) - *rest).collect();
    if is_middle {
        let image = head.mirrored(&turns);
        turns.iter_mut().zip(&image).for_each(|(turn, image)| *turn = (*turn + *image) / 2.0);
    }
    let mut shapes = vec![shape(recipe.names[0], &field, &turns)];
    if let Some(name) = recipe.names.get(1) {
        shapes.push(shape(name, &head.mirrored(&field), &head.mirrored(&turns)));
    }
    shapes
}

fn add_rest(canvas: &Canvas, rest: Rest, field: &mut [DVec3]) {
    let head = canvas.head;
    match rest {
        Rest::Nothing => {}
        Rest::Eye(x, y) => {
            let turn = rotation(x, y) - DMat3::IDENTITY;
            let centre = head.eye_centre(Side::Left);
            let eye = (0..field.len()).filter(|v| head.components[*v] == Component::LeftEye);
            eye.for_each(|v| field[v] += turn * (head.positions[v] - centre));
        }
        Rest::Jaw(degrees, way) => {
            for (vertex, sum) in field.iter_mut().enumerate() {
                *sum += jaw_share(head, vertex) * jaw_way(head.positions[vertex], degrees, way);
            }
        }
        Rest::Lips => {
            let Some(Recipe { rest: Rest::Jaw(degrees, way), .. }) = RECIPES.iter().find(|r| r.names == ["jawOpen"])
            else {
                return;
            };
            // How far the open jaw parts the lips where they touch, above or below a point.
            let gap = |p: DVec3| {
                let [upper, lower] = [1e-6, -1e-6].map(|up| dvec3(p.x, mouth_line(p.x) + up, p.z));
                (Head::jaw_share(lower) - Head::jaw_share(upper)) * jaw_way(lower, *degrees, *way)
            };
            for (side, lower) in Side::BOTH.into_iter().flat_map(|side| [(side, false), (side, true)]) {
                canvas.lips_meet(side, lower, gap).iter().for_each(|(v, d)| field[*v as usize] += *d);
            }
        }
    }
}

fn rotation(x_deg: f64, y_deg: f64) -> DMat3 {
    DMat3::from_rotation_y(y_deg.to_radians()) * DMat3::from_rotation_x(x_deg.to_radians())
}

/// Where the jaw takes a point that goes with it.
fn jaw_way(p: DVec3, [x, y]: [f64; 2], way: [f64; 3]) -> DVec3 {
    const M_PER_MM: f64 = 1e-3;
    (rotation(x, y) - DMat3::IDENTITY) * (p - JAW_HINGE) + M_PER_MM * DVec3::from(way)
}

/// How much of the jaw's motion a vertex does.
fn jaw_share(head: &Head, vertex: usize) -> f64 {
    match head.tissues[vertex] {
        Tissue::Skin | Tissue::MouthSock => Head::jaw_share(head.positions[vertex]),
        _ => f64::from(head.rides_on_jaw(vertex)),
    }
}

fn shape(name: &'static str, field: &[DVec3], turns: &[DVec3]) -> Shape {
    let moved = |v: &usize| field[*v].length() > LEAST_M || turns[*v].length() > LEAST_TURN;
    let vertices: Vec<usize> = (0..field.len()).filter(moved).collect();
    // Zero plus a value makes no negative zero.
    let of = |rows: &[DVec3]| vertices.iter().map(|v| rows[*v].as_vec3().to_array().map(|x| x + 0.0)).collect();
    Shape { name, positions: of(field), normals: of(turns), vertices: vertices.iter().map(|v| *v as u32).collect() }
}
