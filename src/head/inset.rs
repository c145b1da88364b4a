//! Cuts an opening into the skin sheet: a rim, a pocket of rings behind it, and the cut-out patch as the pocket's back.

use super::Tissue;
use super::anatomy::Patch;
use super::sheet::Sheet;
use glam::DVec3;

/// An opening: where it is cut, and the surfaces that its rim and its pocket follow.
pub(super) struct Opening<'a> {
    /// The grid's row and column in the middle of the patch.
    pub middle: (usize, usize),
    pub patch: Patch,
    /// What the pocket is made of.
    pub tissue: Tissue,
    /// The left edge of the pocket's texture.
    pub texture_u: f64,
    /// Where the patch's border point at (across, up), each in -1..1, comes to lie.
    pub rim: &'a dyn Fn(f64, f64) -> DVec3,
    /// Where the rim's point comes to lie in the ring at the depth 0..1: (depth, up, rim's point).
    pub ring: &'a dyn Fn(f64, f64, DVec3) -> DVec3,
}

/// One point of the patch's border, counter-clockwise seen from the front.
#[derive(Clone, Copy)]
struct Border {
    row: usize,
    column: usize,
    across: f64,
    up: f64,
}

impl Sheet {
    pub(super) fn cut(&mut self, opening: &Opening<'_>) {
        let border = border(opening);
        let rim: Vec<usize> = border.iter().map(|b| self.vertex(b.row, b.column)).collect();
        let targets: Vec<DVec3> = border.iter().map(|b| (opening.rim)(b.across, b.up)).collect();
        self.drag(opening, &border, &targets);
        let back = self.add_rings(opening, &border, &rim, &targets);
        self.move_patch_to_back(opening, &border, &rim, &back);
    }

    /// Moves the rim to its targets and lets the skin around it follow, as an elastic sheet would.
    fn drag(&mut self, opening: &Opening<'_>, border: &[Border], targets: &[DVec3]) {
        const SWEEPS: usize = 220;
        let Patch { columns, rows, .. } = opening.patch;
        let (row, column) = first_corner(opening);
        // Beyond this many rows the sheet is held.
        let reach = (self.row_heights.len() / 9).max(2);
        let top = self.row_heights.len() - 1;
        let (low, high) = (row.saturating_sub(reach), (row + rows + reach).min(top));
        let height = high - low + 1;
        // The midline is held too, so that what is cut on one side does not move the other.
        let middle = self.front / 2;
        let to_middle = if column > middle { column - middle } else { middle.saturating_sub(column + columns) };
        let reach = if to_middle > 0 { reach.min(to_middle - 1) } else { reach };
        let width = columns + 2 * reach + 1;
        let start = self.columns + column - reach;

        // One held cell all around, so that every moving cell has four neighbours.
        let stride = width + 2;
        let mut drag = vec![DVec3::ZERO; stride * (height + 2)];
        let mut held = vec![false; drag.len()];
        let cell = |row: usize, column: usize| (row + 1 - low) * stride + (column + 1 + reach);
        for (point, target) in border.iter().zip(targets) {
            let at = cell(point.row, point.column - column);
            drag[at] = *target - self.positions[self.vertex(point.row, point.column)];
            held[at] = true;
        }
        for _ in 0..SWEEPS {
            let before = drag.clone();
            for at in (1..=height).flat_map(|r| (r * stride + 1)..=(r * stride + width)) {
                if !held[at] {
                    drag[at] = ((before[at - 1] + before[at + 1]) + (before[at - stride] + before[at + stride])) / 4.0;
                }
            }
        }
        for r in 0..height {
            for c in 0..width {
                let vertex = self.vertex(low + r, start + c);
                self.positions[vertex] += drag[(r + 1) * stride + c + 1];
            }
        }
    }

    /// Adds the pocket's rings and gives the vertices of the last one.
    fn add_rings(&mut self, opening: &Opening<'_>, border: &[Border], rim: &[usize], targets: &[DVec3]) -> Vec<usize> {
        let count = rim.len();
        let depth = opening.patch.depth;
        let mut outer = rim.to_vec();
        for ring in 1..=depth {
            let inner: Vec<usize> = (0..count).map(|i| self.positions.len() + i).collect();
            for (point, target) in border.iter().zip(targets) {
                self.positions.push((opening.ring)(ring as f64 / depth as f64, point.up, *target));
                self.tissues.push(opening.tissue);
            }
            for i in 0..count {
                let next = (i + 1) % count;
                self.quads.push([outer[i], outer[next], inner[next], inner[i]]);
                let uv = |along: usize, ring: usize| {
                    let u = opening.texture_u + 0.30 * along as f64 / count as f64;
                    [u, 0.82 + 0.15 * ring as f64 / depth as f64]
                };
                self.quad_uvs.push([uv(i, ring - 1), uv(i + 1, ring - 1), uv(i + 1, ring), uv(i, ring)]);
            }
            outer = inner;
        }
        outer
    }

    /// The patch's own quads become the pocket's back wall: their border is the last ring, their inside lies between.
    fn move_patch_to_back(&mut self, opening: &Opening<'_>, border: &[Border], rim: &[usize], back: &[usize]) {
        let Patch { columns, rows, .. } = opening.patch;
        let (row, column) = first_corner(opening);
        let loop_at = |r: usize, c: usize| border.iter().position(|b| b.row == row + r && b.column == column + c);
        let ends: Vec<DVec3> = back.iter().map(|v| self.positions[*v]).collect();
        for r in 1..rows {
            // Each inner row spans from the right to the left edge of the last ring.
            let edges = (loop_at(r, 0), loop_at(r, columns));
            let (Some(right), Some(left)) = edges else { continue };
            for c in 1..columns {
                let along = c as f64 / columns as f64;
                let across = ends[right].lerp(ends[left], along);
                let (Some(bottom), Some(top)) = (loop_at(0, c), loop_at(rows, c)) else { continue };
                let upward = ends[bottom].lerp(ends[top], r as f64 / rows as f64);
                let vertex = self.vertex(row + r, column + c);
                self.positions[vertex] = (across + upward) / 2.0;
                self.tissues[vertex] = opening.tissue;
            }
        }
        for r in row..row + rows {
            for c in column..column + columns {
                // The wall's quads come first, row by row.
                for corner in &mut self.quads[r * self.columns + c] {
                    if let Some(place) = rim.iter().position(|v| v == corner) {
                        *corner = back[place];
                    }
                }
            }
        }
    }
}

fn first_corner(opening: &Opening<'_>) -> (usize, usize) {
    (opening.middle.0 - opening.patch.rows / 2, opening.middle.1 - opening.patch.columns / 2)
}

fn border(opening: &Opening<'_>) -> Vec<Border> {
    let Patch { columns, rows, .. } = opening.patch;
    let (row, column) = first_corner(opening);
    let bottom = (0..columns).map(|c| (0, c));
    let left = (0..rows).map(|r| (r, columns));
    let top = (0..columns).map(|c| (rows, columns - c));
    let right = (0..rows).map(|r| (rows - r, 0));
    let border_point = |(r, c): (usize, usize)| Border {
        row: row + r,
        column: column + c,
        across: 2.0 * c as f64 / columns as f64 - 1.0,
        up: 2.0 * r as f64 / rows as f64 - 1.0,
    };
    bottom.chain(left).chain(top).chain(right).map(border_point).collect()
}
