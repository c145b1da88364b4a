//! Pairs each vertex with its image on the other side, and makes the pairs exact.

use super::Component;
use glam::{DVec3, dvec3};

/// The point on the other side of the midline.
pub(super) fn reflected(p: DVec3) -> DVec3 {
    dvec3(-p.x, p.y, p.z)
}

/// For each vertex the one that lies at its reflection, in the component that is its own component's image.
///
/// The head is built symmetric up to rounding, so a partner is found within a small fraction of any edge.
pub(super) fn partners(positions: &[DVec3], components: &[Component]) -> Vec<u32> {
    const REACH: f64 = 1e-7;
    let mut by_height: Vec<u32> = (0..positions.len() as u32).collect();
    by_height.sort_by(|a, b| positions[*a as usize].y.total_cmp(&positions[*b as usize].y));
    let partner = |vertex: usize| {
        let image = reflected(positions[vertex]);
        let wanted = components[vertex].mirrored();
        let first = by_height.partition_point(|v| positions[*v as usize].y < image.y - REACH);
        by_height[first..]
            .iter()
            .take_while(|v| positions[**v as usize].y <= image.y + REACH)
            .filter(|v| components[**v as usize] == wanted)
            .min_by(|a, b| {
                let distance = |v: u32| positions[v as usize].distance_squared(image);
                distance(**a).total_cmp(&distance(**b))
            })
            .map_or(vertex as u32, |v| *v)
    };
    (0..positions.len()).map(partner).collect()
}

/// Moves each pair to where its two members agree, exactly.
pub(super) fn symmetrise(positions: &mut [DVec3], partners: &[u32]) {
    for (vertex, partner) in partners.iter().enumerate() {
        let partner = *partner as usize;
        if vertex <= partner {
            let middle = (positions[vertex] + reflected(positions[partner])) / 2.0;
            positions[vertex] = middle;
            positions[partner] = reflected(middle);
        }
    }
}
