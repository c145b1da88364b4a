//! The skin as one sheet of quads: a wall around the head and a cap on it.

use super::Tissue;
use super::anatomy::Detail;
use super::curve::{bell, interpolate, lerp, steps};
use super::shape::skin_point;
use glam::{DVec3, dvec3};
use std::f64::consts::TAU;

/// Angle of the columns at which the face ends and the sides begin.
const FACE_EDGE: f64 = 68.0 / 360.0 * TAU;
/// Angle of the columns at which the sides end and the back begins.
const BACK_EDGE: f64 = 118.0 / 360.0 * TAU;
/// The lowest and the highest row of the wall.
const WALL: [f64; 2] = [0.020, 0.358];
const CROWN_Y: f64 = 0.3830;

/// A growing mesh of skin whose first vertices are a grid: rows from the shoulders up, columns from the face's right edge
/// over its left edge and the back around to where they began.
pub(super) struct Sheet {
    pub row_heights: Vec<f64>,
    /// Columns over the face.
    pub front: usize,
    pub columns: usize,
    pub positions: Vec<DVec3>,
    pub quads: Vec<[usize; 4]>,
    pub quad_uvs: Vec<[[f64; 2]; 4]>,
    pub tissues: Vec<Tissue>,
}

impl Sheet {
    pub(super) fn build(detail: &Detail) -> Sheet {
        let row_heights = row_heights(detail.rows);
        let angles = column_angles(detail);
        let positions: Vec<DVec3> =
            row_heights.iter().flat_map(|y| angles.iter().map(|angle| skin_point(*angle, *y))).collect();
        let tissues = vec![Tissue::Skin; positions.len()];
        let columns = angles.len();
        let front = detail.front;
        let mut sheet = Sheet { row_heights, front, columns, positions, quads: vec![], quad_uvs: vec![], tissues };
        sheet.add_wall(detail.rows);
        sheet.add_cap(detail);
        sheet
    }

    /// The grid vertex at a row and a column; columns wrap around.
    pub(super) fn vertex(&self, row: usize, column: usize) -> usize {
        row * self.columns + column % self.columns
    }

    /// How many vertices the grid has.
    pub(super) fn grid_len(&self) -> usize {
        self.row_heights.len() * self.columns
    }

    /// The grid's row and face column that lie nearest to (x, y).
    pub(super) fn nearest(&self, x: f64, y: f64) -> (usize, usize) {
        let distance = |value: f64, to: f64| (value - to).abs();
        let row = least(self.row_heights.iter().map(|h| distance(*h, y)));
        let column = least((0..=self.front).map(|c| distance(self.positions[self.vertex(row, c)].x, x)));
        (row, column)
    }

    fn add_wall(&mut self, rows: usize) {
        // The seam of the texture runs down the back of the head, half a turn from the middle of the face.
        let first = self.columns - self.front / 2 + self.columns / 2;
        for row in 0..rows {
            for column in 0..self.columns {
                let (right, left) = (column, column + 1);
                self.quads.push([
                    self.vertex(row, right),
                    self.vertex(row, left),
                    self.vertex(row + 1, left),
                    self.vertex(row + 1, right),
                ]);
                let u = ((column + first) % self.columns) as f64 / self.columns as f64;
                let next_u = u + 1.0 / self.columns as f64;
                let [v, next_v] = [row, row + 1].map(|r| 0.80 * r as f64 / rows as f64);
                self.quad_uvs.push([[u, v], [next_u, v], [next_u, next_v], [u, next_v]]);
            }
        }
    }

    /// Closes the top with a grid of `side` rows from front to back and `front` columns, whose border is the wall's top row.
    fn add_cap(&mut self, detail: &Detail) {
        let (front, side) = (detail.front, detail.side);
        let top = detail.rows;
        let rim: Vec<DVec3> = (0..self.columns).map(|c| self.positions[self.vertex(top, c)]).collect();
        let centre = dvec3(0.0, CROWN_Y, rim.iter().map(|p| p.z).sum::<f64>() / self.columns as f64);

        let mut cap = vec![vec![0; front + 1]; side + 1];
        for (row, line) in cap.iter_mut().enumerate() {
            for (column, vertex) in line.iter_mut().enumerate() {
                // Where along the top row this border point is: face, left side, back, right side.
                let border = match (row, column) {
                    (0, column) => Some(column),
                    (row, column) if column == front => Some(front + row),
                    (row, column) if row == side => Some(2 * front + side - column),
                    (row, 0) => Some(2 * front + 2 * side - row),
                    _ => None,
                };
                *vertex = border.map_or(self.positions.len(), |column| self.vertex(top, column));
                if border.is_none() {
                    self.positions.push(dome_point(&rim, centre, detail, row, column));
                    self.tissues.push(Tissue::Skin);
                }
            }
        }
        for row in 0..side {
            for column in 0..front {
                let corners = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)];
                self.quads.push(corners.map(|(r, c)| cap[r][c]));
                self.quad_uvs.push(
                    corners.map(|(r, c)| [0.40 + 0.20 * c as f64 / front as f64, 0.81 + 0.18 * r as f64 / side as f64]),
                );
            }
        }
    }
}

/// A point inside the cap: the border point in its direction, drawn towards the centre and lifted onto the dome.
fn dome_point(rim: &[DVec3], centre: DVec3, detail: &Detail, row: usize, column: usize) -> DVec3 {
    let (front, side) = (detail.front as f64, detail.side as f64);
    let leftward = 2.0 * column as f64 / front - 1.0;
    let forward = 1.0 - 2.0 * row as f64 / side;
    let ring = leftward.abs().max(forward.abs());
    let (left_edge, front_edge) = if ring > 0.0 { (leftward / ring, forward / ring) } else { (0.0, 1.0) };
    // The place on the border, counted in columns of the top row.
    let place = if front_edge.abs() >= left_edge.abs() {
        let along = (left_edge + 1.0) / 2.0 * front;
        if front_edge > 0.0 { along } else { 2.0 * front + side - along }
    } else {
        let along = (1.0 - front_edge) / 2.0 * side;
        if left_edge > 0.0 { front + along } else { 2.0 * front + 2.0 * side - along }
    };
    let before = place.floor() as usize;
    let border = rim[before % rim.len()].lerp(rim[(before + 1) % rim.len()], place.fract());
    let flat = centre.lerp(border, ring);
    dvec3(flat.x, lerp(border.y, CROWN_Y, 1.0 - ring.powf(2.5)), flat.z)
}

/// Rows lie closer together over the face.
fn row_heights(rows: usize) -> Vec<f64> {
    const SAMPLES: usize = 2000;
    let heights: Vec<f64> = steps(WALL[0], WALL[1], SAMPLES).collect();
    let density = |y: f64| 1.0 + 1.6 * bell(y - 0.250, 0.070);
    let mut passed = vec![0.0; heights.len()];
    for i in 1..heights.len() {
        passed[i] = passed[i - 1] + (density(heights[i]) + density(heights[i - 1])) / 2.0;
    }
    steps(0.0, passed[SAMPLES], rows).map(|share| interpolate(share, &passed, &heights)).collect()
}

/// Columns lie closer together at the midline of the face.
fn column_angles(detail: &Detail) -> Vec<f64> {
    let face = steps(-1.0, 1.0, detail.front).map(|u| FACE_EDGE * (0.82 * u + 0.18 * u.powi(3)));
    let left = steps(FACE_EDGE, BACK_EDGE, detail.side);
    let back = steps(BACK_EDGE, TAU - BACK_EDGE, detail.front);
    let right = steps(TAU - BACK_EDGE, TAU - FACE_EDGE, detail.side);
    // Each run ends where the next begins.
    let (front, side) = (detail.front, detail.side);
    face.take(front).chain(left.take(side)).chain(back.take(front)).chain(right.take(side)).collect()
}

/// The index of the least value; the first one of several.
fn least(values: impl Iterator<Item = f64>) -> usize {
    values.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(index, _)| index)
}
