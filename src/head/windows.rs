//! Where each region of the face may move: soft masks that are exactly zero outside.

use super::anatomy::{CHIN, NECK, eye_centre, frontness, mouth_line};
use super::curve::smooth01;
use super::{Component, Head, Side, Tissue};
use glam::DVec3;

/// Below this a window is shut.
const SHUT: f64 = 1e-3;

impl Head {
    /// 1 around an eye and its brow, exactly 0 outside that region; skin and lids only.
    ///
    /// # Shapes     (V)
    #[must_use]
    pub fn eye_window(&self, side: Side) -> Vec<f64> {
        let centre = eye_centre(side);
        self.window(|vertex, p| {
            let across = (p.x - centre.x) / 0.041;
            let up = (p.y - centre.y - 0.006) / 0.046;
            let inside = smooth01((1.0 - across.hypot(up)) / 0.45) * frontness(p.z);
            if self.is_outer_skin(vertex) { inside } else { 0.0 }
        })
    }

    /// 1 on mouth, nose, cheeks, jaw and ears, exactly 0 outside that region; skin and the inside of the mouth.
    ///
    /// # Shapes     (V)
    #[must_use]
    pub fn lower_face_window(&self) -> Vec<f64> {
        self.window(|vertex, p| {
            let between = smooth01((0.292 - p.y) / 0.050) * smooth01((p.y - 0.095) / 0.050);
            let inside = between * smooth01((p.z + 0.055) / 0.060);
            if self.components[vertex] == Component::Skin { inside } else { 0.0 }
        })
    }

    /// 1 around the neck, falling to exactly 0 at the shoulders' edge and under the chin; outer skin only.
    ///
    /// # Shapes     (V)
    #[must_use]
    pub fn neck_window(&self) -> Vec<f64> {
        self.window(|vertex, p| {
            let inside = smooth01((1.0 - (p.y - NECK.y).abs() / 0.095) / 0.8);
            if self.is_outer_skin(vertex) { inside } else { 0.0 }
        })
    }

    /// 1 at the tip of the tongue, less towards its root, exactly 0 outside it.
    ///
    /// # Shapes     (V)
    #[must_use]
    pub fn tongue_window(&self) -> Vec<f64> {
        let tip = self.tongue_tip();
        self.window(
            |vertex, _| if self.components[vertex] == Component::Tongue { 0.3 + 0.7 * tip[vertex] } else { 0.0 },
        )
    }

    /// 1 at the tip of the tongue, 0 at its root.
    pub(crate) fn tongue_tip(&self) -> Vec<f64> {
        let tongue = |vertex: usize| self.components[vertex] == Component::Tongue;
        let middle = self.mean_where(tongue);
        let along = |vertex: usize, p: DVec3| smooth01((p.z - (middle.z - 0.015)) / 0.040) * f64::from(tongue(vertex));
        self.per_vertex(along)
    }

    /// Whether the vertex is skin that is not the inside of the mouth; the pockets behind the lids count.
    #[must_use]
    pub fn is_outer_skin(&self, vertex: usize) -> bool {
        matches!(self.tissues[vertex], Tissue::Skin | Tissue::EyeSocket)
    }

    /// Whether the jaw carries the vertex as bone would: lower teeth, their gums and the tongue.
    #[must_use]
    pub fn rides_on_jaw(&self, vertex: usize) -> bool {
        matches!(self.components[vertex], Component::LowerTeeth | Component::Tongue)
    }

    /// The skin vertex at the tip of the chin.
    #[must_use]
    pub fn chin_vertex(&self) -> usize {
        let skin = (0..self.vertex_count()).filter(|v| self.tissues[*v] == Tissue::Skin);
        let distance = |v: usize| self.positions[v].distance_squared(CHIN);
        skin.min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap_or(0)
    }

    /// Whether the point lies below the line where the closed lips meet.
    pub(crate) fn is_below_mouth(p: DVec3) -> bool {
        p.y < mouth_line(p.x)
    }

    /// The mean place of the vertices that `wanted` names; there must be one.
    pub(crate) fn mean_where(&self, wanted: impl Fn(usize) -> bool) -> DVec3 {
        let chosen: Vec<DVec3> = (0..self.vertex_count()).filter(|v| wanted(*v)).map(|v| self.positions[v]).collect();
        chosen.iter().sum::<DVec3>() / chosen.len() as f64
    }

    /// One value a vertex, from its index and its place.
    pub(super) fn per_vertex<T>(&self, value: impl Fn(usize, DVec3) -> T) -> Vec<T> {
        self.positions.iter().enumerate().map(|(vertex, p)| value(vertex, *p)).collect()
    }

    fn window(&self, value: impl Fn(usize, DVec3) -> f64) -> Vec<f64> {
        self.per_vertex(|vertex, p| {
            let value = value(vertex, p);
            if value > SHUT { value } else { 0.0 }
        })
    }
}
