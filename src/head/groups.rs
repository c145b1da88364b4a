//! The named vertex groups of Google's head.

use super::anatomy::{IRIS_ANGLE, MOUTH_Y, PUPIL_ANGLE, mouth_line};
use super::curve::smooth01;
use super::{Component, Head, Side, Tissue};
use glam::DVec3;

/// Half the width of the lips as they are painted.
const LIPS_HALF_WIDTH: f64 = 0.0262;

/// Rectangles of the face that exist on both sides: name, distance from the midline from and to, height from and to.
const PAIRED_REGIONS: [(&str, [f64; 2], [f64; 2]); 7] = [
    ("brow", [0.012, 0.055], [0.297, 0.315]),
    ("temple", [0.055, 0.085], [0.290, 0.330]),
    ("orbital", [0.012, 0.055], [0.272, 0.297]),
    ("infraorbital", [0.012, 0.050], [0.255, 0.272]),
    ("zygomatic", [0.050, 0.080], [0.250, 0.290]),
    ("cheek", [0.030, 0.075], [0.205, 0.250]),
    ("parotid", [0.050, 0.085], [0.165, 0.205]),
];

/// Rectangles across the midline.
const MIDDLE_REGIONS: [(&str, [f64; 2], [f64; 2]); 6] = [
    ("forehead", [0.0, 0.050], [0.315, 0.350]),
    ("middle_brow", [0.0, 0.012], [0.290, 0.315]),
    ("nose", [0.0, 0.020], [0.228, 0.290]),
    ("upper_lip", [0.0, 0.030], [MOUTH_Y, 0.228]),
    ("lower_lip", [0.0, 0.030], [0.198, MOUTH_Y]),
    ("chin", [0.0, 0.030], [0.165, 0.198]),
];

impl Head {
    /// The vertex groups: each name with how far each vertex belongs to it, 0..1.
    ///
    /// # Shapes     46 groups of (V)
    #[must_use]
    pub fn vertex_groups(&self) -> Vec<(String, Vec<f32>)> {
        let mut groups = self.tissue_groups();
        groups.extend(self.surface_groups());
        groups.extend(self.basis_groups());
        groups.extend(self.region_groups());
        groups
    }

    fn group(&self, name: &str, member: impl Fn(usize, DVec3) -> bool) -> (String, Vec<f32>) {
        (name.to_owned(), self.per_vertex(|vertex, p| f32::from(member(vertex, p))))
    }

    /// Groups that follow from what a vertex is part of.
    fn tissue_groups(&self) -> Vec<(String, Vec<f32>)> {
        let is = |tissue: Tissue| move |vertex: usize, _: DVec3| self.tissues[vertex] == tissue;
        let of =
            |component: Component| self.group(component.name(), move |vertex, _| self.components[vertex] == component);
        let polar = |from: f64, to: f64| move |vertex: usize, _: DVec3| (from..to).contains(&self.polar_angles[vertex]);
        let in_eye =
            |vertex: usize, _: DVec3| matches!(self.components[vertex], Component::LeftEye | Component::RightEye);
        let mut groups: Vec<(String, Vec<f32>)> = Component::ALL.into_iter().map(of).collect();
        groups.extend([
            self.group("skin_exterior", |vertex, _| self.is_outer_skin(vertex)),
            self.group("mouth_sock", is(Tissue::MouthSock)),
            self.group("eyes", in_eye),
            self.group("eye_interiors", is(Tissue::EyeBowl)),
            self.group("eye_exteriors", is(Tissue::EyeShell)),
            self.group("pupils", polar(0.0, PUPIL_ANGLE)),
            self.group("irises", polar(PUPIL_ANGLE, IRIS_ANGLE)),
            self.group("scleras", polar(IRIS_ANGLE, f64::INFINITY)),
            self.group("teeth", is(Tissue::Tooth)),
            self.group("gums", is(Tissue::Gum)),
        ]);
        groups
    }

    /// Groups drawn on the outside of the head.
    fn surface_groups(&self) -> Vec<(String, Vec<f32>)> {
        let outer = |vertex: usize| self.is_outer_skin(vertex);
        vec![
            self.group("left", |_, p| p.x > 1e-6),
            self.group("right", |_, p| p.x < -1e-6),
            self.group("ears", |v, p| {
                outer(v) && p.x.abs() > 0.0760 && (p.y - 0.257).abs() < 0.040 && (-0.035..0.022).contains(&p.z)
            }),
            self.lip("upper_lip", false, 0.0075),
            self.lip("lower_lip", true, 0.0090),
            self.group("hockey_mask", |v, p| outer(v) && p.z > 0.045 && (0.165..0.335).contains(&p.y)),
            self.group("neck", |v, p| outer(v) && p.y < 0.150),
        ]
    }

    /// A lip's red, as high as `height_m` at the midline; its border is soft, because the sheet's quads are larger than it is sharp.
    fn lip(&self, name: &str, lower: bool, height_m: f64) -> (String, Vec<f32>) {
        const SOFTNESS_M: f64 = 0.004;
        let redness = |vertex: usize, p: DVec3| {
            let is_lip = self.tissues[vertex] == Tissue::Skin && p.z > 0.06 && Head::is_below_mouth(p) == lower;
            let arc = (1.0 - (p.x / LIPS_HALF_WIDTH).powi(2)).max(0.0).sqrt();
            let inside = height_m * arc - (p.y - mouth_line(p.x)).abs();
            if is_lip && arc > 0.0 { smooth01(0.5 + inside / SOFTNESS_M) as f32 } else { 0.0 }
        };
        (name.to_owned(), self.per_vertex(redness))
    }

    /// What each region of the expression basis may move.
    fn basis_groups(&self) -> Vec<(String, Vec<f32>)> {
        let [left, right] = Side::BOTH.map(|side| self.eye_window(side));
        let lower = self.lower_face_window();
        vec![
            self.group("expression_basis_left_eye", |vertex, _| left[vertex] > 0.0),
            self.group("expression_basis_right_eye", |vertex, _| right[vertex] > 0.0),
            self.group("expression_basis_mouth_nose_ears", |vertex, _| {
                lower[vertex] > 0.0 || self.rides_on_jaw(vertex)
            }),
        ]
    }

    /// Rectangles of the face.
    fn region_groups(&self) -> Vec<(String, Vec<f32>)> {
        let region = |name: String, side: Option<Side>, across: [f64; 2], up: [f64; 2]| {
            self.group(&format!("{name}_region"), move |vertex, p| {
                let x = side.map_or(p.x.abs(), |side| p.x * side.sign());
                let inside = (across[0]..across[1]).contains(&x) && (up[0]..up[1]).contains(&p.y);
                inside && p.z > 0.02 && self.is_outer_skin(vertex)
            })
        };
        let middle = MIDDLE_REGIONS.iter().map(|(name, across, up)| region((*name).to_owned(), None, *across, *up));
        let paired = PAIRED_REGIONS.iter().flat_map(|(name, across, up)| {
            [("left", Side::Left), ("right", Side::Right)]
                .map(|(prefix, side)| region(format!("{prefix}_{name}"), Some(side), *across, *up))
        });
        middle.chain(paired).collect()
    }
}
