//! The motion of every control as a sparse displacement field of one head.

use super::controls::RawControl;
use crate::head::canvas::{Canvas, Field, LEAST_M, sparse};
use crate::head::{Head, Side, Tissue};
use glam::DVec3;
use std::f64::consts::TAU;

impl Canvas<'_> {
    /// The field of a control at full effort: exactly the image of its partner's, where it has one.
    pub(super) fn field(&self, control: &RawControl) -> Field {
        let mut field = vec![DVec3::ZERO; self.head.vertex_count()];
        for part in control.family.moves {
            self.add(&mut field, *part, control.side.is_some(), control.lower);
        }
        if control.side == Some(Side::Right) {
            field = self.head.mirrored(&field);
        }
        sparse(&field)
    }

    /// What two controls together do beyond the sum of both: where they pull the same way they share part of it, elsewhere the skin
    /// between them bulges. `once` is for motions that mean the same, such as two that close one eye.
    pub(super) fn correction(&self, a: &Field, b: &Field, once: bool) -> Field {
        let shared = if once { 1.0 } else { 0.2 };
        let together = common(a, b).map(|(v, a, b)| {
            let less = a.length().min(b.length());
            let alike = (a.dot(b) / (a.length() * b.length())).max(0.0);
            let bulge = 0.12 * (1.0 - alike) * less * self.normals[v as usize];
            (v, bulge - shared * alike * less * (a + b).normalize_or_zero())
        });
        together.filter(|(_, d)| d.length() > LEAST_M).collect()
    }

    /// What three controls together do beyond their pairs: a little more bulging.
    pub(super) fn bulge(&self, a: &Field, b: &Field, c: &Field) -> Field {
        let pair: Field = common(a, b).map(|(v, a, b)| (v, if a.length() < b.length() { a } else { b })).collect();
        let all =
            common(&pair, c).map(|(v, pair, c)| (v, 0.10 * pair.length().min(c.length()) * self.normals[v as usize]));
        all.filter(|(_, d)| d.length() > LEAST_M).collect()
    }

    /// The relief that goes with a motion: shallow ripples across its height.
    pub(super) fn wrinkles(&self, field: &Field) -> Field {
        const DEPTH_M: f64 = 0.0002;
        const WAVE_M: f64 = 0.0075;
        let largest = field.iter().map(|(_, d)| d.length()).fold(0.0, f64::max);
        let ripple = |(v, d): &(u32, DVec3)| {
            let phase = TAU * self.head.positions[*v as usize].y / WAVE_M;
            (*v, DEPTH_M * d.length() / largest * phase.cos() * self.normals[*v as usize])
        };
        field.iter().map(ripple).filter(|(_, d)| d.length() > LEAST_M).collect()
    }
}

/// The vertices that both fields move.
fn common<'a>(a: &'a Field, b: &'a Field) -> impl Iterator<Item = (u32, DVec3, DVec3)> + 'a {
    let mut rest = b.as_slice();
    a.iter().filter_map(move |&(v, a)| {
        rest = &rest[rest.partition_point(|&(w, _)| w < v)..];
        rest.first().filter(|&&(w, _)| w == v).map(|&(_, b)| (v, a, b))
    })
}

/// Whether the vertex belongs to the skin's outside, where joints are put.
pub(super) fn is_surface(head: &Head, vertex: usize) -> bool {
    head.tissues[vertex] == Tissue::Skin
}
