//! How open the surroundings of a vertex are at rest: nostrils, the corners of the eyes and the inside of a mouth lie in the dark.

use crate::math::Aabb;
use glam::Vec3;
use std::collections::HashSet;

/// Cells along the longest edge of the bounds: finer than an eye's opening.
const CELLS: f32 = 96.0;
/// How far a cell may lie away and still take light, in cells.
const REACH: usize = 12;
/// The share of the sky from which on a vertex is fully lit.
const HALF_OPEN: f32 = 0.6;
/// All triangles together are filled with about as many points at most, so that no file can make this take long.
const MAX_POINTS: usize = 2_000_000;

/// Cells that the surface goes through.
struct Cells {
    origin: Vec3,
    size: f32,
    filled: HashSet<[i16; 3]>,
}

impl Cells {
    fn new(triangles: &[[u32; 3]], rest: &[[f32; 3]]) -> Option<Cells> {
        let corners = triangles.as_flattened().iter().filter_map(|v| rest.get(*v as usize).copied());
        let bounds = Aabb::of_points(corners);
        let (min, max) = (Vec3::from(bounds.min), Vec3::from(bounds.max));
        let size = (max - min).max_element() / CELLS;
        if !(size.is_finite() && size > 0.0) {
            return None;
        }
        let mut cells = Cells { origin: (min + max) / 2.0, size, filled: HashSet::new() };
        let most = (MAX_POINTS / triangles.len().max(1)).max(1);
        for corners in triangles {
            let [a, b, c] = corners.map(|v| rest.get(v as usize).map_or(cells.origin, |p| Vec3::from(*p)));
            let longest = (b - a).length().max((c - b).length()).max((a - c).length());
            let steps = ((1.5 * longest / size).ceil() as usize).clamp(1, most.isqrt().max(1));
            for i in 0..=steps {
                for j in 0..=steps - i {
                    let (u, v) = (i as f32 / steps as f32, j as f32 / steps as f32);
                    let cell = cells.of(a + (b - a) * u + (c - a) * v);
                    cells.filled.insert(cell);
                }
            }
        }
        Some(cells)
    }

    fn of(&self, p: Vec3) -> [i16; 3] {
        ((p - self.origin) / self.size).to_array().map(|x| x.round() as i16)
    }

    /// Whether nothing stands in the way.
    fn is_open(&self, from: Vec3, towards: Vec3) -> bool {
        (0..REACH).all(|step| !self.filled.contains(&self.of(from + towards * (step as f32 * self.size))))
    }
}

/// Directions all around, in pairs that mirror each other in x.
fn directions() -> impl Iterator<Item = Vec3> {
    const PAIRS: usize = 24;
    (0..PAIRS).flat_map(|i| {
        let y = 1.0 - (2.0 * i as f32 + 1.0) / PAIRS as f32;
        let (sin, cos) = (2.399_963_2 * i as f32).sin_cos();
        let ring = (1.0 - y * y).sqrt();
        [Vec3::new(ring * cos, y, ring * sin), Vec3::new(-ring * cos, y, ring * sin)]
    })
}

/// (V) 1 where half of the sky over a vertex is open, 0 where all of it is hidden. Vertices without a triangle are open.
pub(super) fn openness(triangles: &[[u32; 3]], rest: &[[f32; 3]]) -> Vec<f32> {
    let mut open = vec![1.0; rest.len()];
    let Some(cells) = Cells::new(triangles, rest) else { return open };
    let inside = |corners: &&[u32; 3]| corners.iter().all(|v| (*v as usize) < rest.len());
    let mut normals = vec![Vec3::ZERO; rest.len()];
    for corners in triangles.iter().filter(inside) {
        let [a, b, c] = corners.map(|v| Vec3::from(rest[v as usize]));
        corners.iter().for_each(|v| normals[*v as usize] += (b - a).cross(c - a));
    }
    for ((open, normal), p) in open.iter_mut().zip(&normals).zip(rest) {
        let normal = normal.normalize_or_zero();
        // Off its own surface.
        let from = Vec3::from(*p) + normal * (1.8 * cells.size);
        let sky = directions().map(|d| (d, d.dot(normal))).filter(|(_, facing)| *facing > 0.2);
        let (seen, all) = sky.fold((0.0, 0.0), |(seen, all), (d, facing)| {
            (seen + if cells.is_open(from, d) { facing } else { 0.0 }, all + facing)
        });
        if all > 0.0 {
            *open = seen / all;
        }
    }
    // What is half open is lit as well as any; and the rim of a hole is as light as what it borders on, or a coarse mesh would carry its dark
    // far out over its faces.
    open.iter_mut().for_each(|open| *open = (*open / HALF_OPEN).min(1.0));
    smoothed(&lightened(&open, triangles), triangles)
}

/// Each vertex as light as its lightest neighbour.
fn lightened(values: &[f32], triangles: &[[u32; 3]]) -> Vec<f32> {
    let mut lightest = values.to_vec();
    for corners in triangles {
        let most = corners.iter().filter_map(|v| values.get(*v as usize)).copied().fold(0.0, f32::max);
        for v in corners {
            if let Some(light) = lightest.get_mut(*v as usize) {
                *light = light.max(most);
            }
        }
    }
    lightest
}

fn smoothed(values: &[f32], triangles: &[[u32; 3]]) -> Vec<f32> {
    let mut sums: Vec<(f32, f32)> = values.iter().map(|v| (*v, 1.0)).collect();
    for corners in triangles {
        let own = corners.map(|v| values.get(v as usize).copied().unwrap_or(1.0));
        for v in corners {
            if let Some((sum, count)) = sums.get_mut(*v as usize) {
                *sum += own.iter().sum::<f32>() / 3.0;
                *count += 1.0;
            }
        }
    }
    sums.into_iter().map(|(sum, count)| sum / count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square of side 2 at height y, facing up, in a grid of vertices.
    fn plate(y: f32, first: u32) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
        const N: u32 = 20;
        let at = |i: u32| -1.0 + 2.0 * i as f32 / N as f32;
        let points = (0..=N).flat_map(|z| (0..=N).map(move |x| [at(x), y, at(z)])).collect();
        let v = |x: u32, z: u32| first + z * (N + 1) + x;
        let quads = (0..N).flat_map(|z| (0..N).map(move |x| (x, z)));
        let triangles =
            quads.flat_map(|(x, z)| [[v(x, z), v(x, z + 1), v(x + 1, z)], [v(x + 1, z), v(x, z + 1), v(x + 1, z + 1)]]);
        (points, triangles.collect())
    }

    #[test]
    fn plate_is_open_and_what_lies_under_it_is_dark() {
        let (mut points, mut triangles) = plate(0.0, 0);
        assert!(openness(&triangles, &points).iter().all(|open| *open > 0.95));
        let below = points.len();
        let (more, faces) = plate(-0.07, below as u32);
        points.extend(more);
        triangles.extend(faces);
        let open = openness(&triangles, &points);
        let middle = 10 * 21 + 10;
        assert!(open[middle] > 0.95, "above: {}", open[middle]);
        assert!(open[below + middle] < 0.3, "below: {}", open[below + middle]);
    }

    #[test]
    fn odd_meshes_are_open() {
        assert_eq!(openness(&[], &[[0.0; 3]]), [1.0]);
        assert_eq!(openness(&[[0, 1, 2]], &[[f32::NAN; 3]; 3]), [1.0; 3]);
        assert_eq!(openness(&[[0, 0, 9]], &[[0.0; 3]]), [1.0]);
    }
}
