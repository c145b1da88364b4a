//! Which controls have a corrective together, and what it does.

use super::controls::RawControl;
use super::jaw::{JawMotion, jaw_motion};
use crate::head::anatomy::mouth_line;
use crate::head::canvas::{Canvas, Field, sparse};
use crate::head::{Head, Side};
use glam::{DVec3, dvec3};
use rayon::prelude::*;

/// Motions that all close or narrow an eye: two of them together do it once.
const NARROWING: [&str; 7] =
    ["eyeBlink", "eyeLookDown", "eyeRelax", "eyeSquintInner", "eyeLowerLidUp", "eyeCheekRaise", "eyeFaceScrunch"];
const AROUND_EYES: [&str; 9] = [
    "eyeWiden",
    "eyeLookUp",
    "eyeUpperLidUp",
    "browDown",
    "browRaiseIn",
    "browRaiseOuter",
    "browLateral",
    "noseWrinkleUpper",
    "noseWrinkle",
];
const AROUND_MOUTH: [&str; 24] = [
    "mouthCornerPull",
    "mouthCornerDepress",
    "mouthUpperLipRaise",
    "mouthLowerLipDepress",
    "mouthStretch",
    "mouthDimple",
    "mouthSharpCornerPull",
    "mouthFunnelU",
    "mouthFunnelD",
    "mouthLipsPurseU",
    "mouthLipsPurseD",
    "mouthCheekBlow",
    "mouthCornerUp",
    "mouthCornerDown",
    "mouthCornerWide",
    "mouthCornerNarrow",
    "mouthPressU",
    "mouthPressD",
    "mouthUpperLipRollIn",
    "mouthLowerLipRollIn",
    "noseWrinkle",
    "noseNasolabialDeepen",
    "jawChinRaiseD",
    "jawChinRaiseU",
];
const WHOLE_MOUTH: [&str; 6] = ["mouthLeft", "mouthRight", "jawLeft", "jawRight", "jawFwd", "jawOpenExtreme"];
const LIPS_TOGETHER: [(&str, Side, bool); 4] = [
    ("mouthLipsTogetherUL", Side::Left, false),
    ("mouthLipsTogetherUR", Side::Right, false),
    ("mouthLipsTogetherDL", Side::Left, true),
    ("mouthLipsTogetherDR", Side::Right, true),
];

/// One corrective.
#[derive(Debug)]
pub(super) struct Corrective {
    /// Raw controls, whose product drives it.
    pub factors: Vec<usize>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// A quarter of the lips meets the others over the open jaw.
    LipsMeet(Side, bool),
    Pair {
        once: bool,
    },
    Triple,
}

/// One head with the fields of all raw controls.
pub(super) struct Motions<'a> {
    pub canvas: Canvas<'a>,
    /// By raw control: what deltas and joints of the surface do together.
    pub raw: Vec<Field>,
    /// The same with what the jaw does.
    whole: Vec<Field>,
    jaw_open: JawMotion,
}

impl<'a> Motions<'a> {
    pub(super) fn new(head: &'a Head, controls: &[RawControl]) -> Motions<'a> {
        let canvas = Canvas::new(head);
        let raw: Vec<Field> = controls.par_iter().map(|control| canvas.field(control)).collect();
        let whole = controls.par_iter().zip(&raw).map(|(control, field)| with_jaw(head, control, field)).collect();
        let opening = controls.iter().find(|c| c.name == "jawOpen").and_then(jaw_motion);
        let jaw_open = opening.expect("jawOpen moves the jaw");
        Motions { canvas, raw, whole, jaw_open }
    }

    pub(super) fn corrective(&self, corrective: &Corrective) -> Field {
        let of = |factor: usize| &self.whole[corrective.factors[factor]];
        match corrective.kind {
            Kind::Pair { once } => self.canvas.correction(of(0), of(1), once),
            Kind::Triple => self.canvas.bulge(of(0), of(1), of(2)),
            Kind::LipsMeet(side, lower) => self.lips_meet(side, lower),
        }
    }

    fn lips_meet(&self, side: Side, lower: bool) -> Field {
        // How far the jaw parts the lips where they touch, above or below a point.
        let gap = |p: DVec3| {
            let [upper, lower] = [1e-6, -1e-6].map(|up| dvec3(p.x, mouth_line(p.x) + up, p.z));
            (Head::jaw_share(lower) - Head::jaw_share(upper)) * self.jaw_open.of(lower)
        };
        let head = self.canvas.head;
        let meeting = self.canvas.lips_meet(side, lower, gap);
        let share = |v: u32| Head::jaw_share(head.positions[v as usize]);
        meeting.into_iter().map(|(v, d)| (v, self.jaw_open.before_skin(d, share(v)))).collect()
    }
}

fn with_jaw(head: &Head, control: &RawControl, field: &Field) -> Field {
    let Some(motion) = jaw_motion(control) else { return field.clone() };
    let mut sum = vec![DVec3::ZERO; head.vertex_count()];
    field.iter().for_each(|(v, d)| sum[*v as usize] = *d);
    for (vertex, p) in head.positions.iter().enumerate().filter(|(v, _)| head.is_outer_skin(*v)) {
        let share = Head::jaw_share(*p);
        if share > 0.0 {
            sum[vertex] += share * motion.of(*p);
        }
    }
    sparse(&sum)
}

/// The first `count` correctives that do something on this head, with their fields; those that matter most come first.
pub(super) fn correctives(motions: &Motions, controls: &[RawControl], count: usize) -> Vec<(Corrective, Field)> {
    const LEAST_M: f64 = 3e-5;
    let fields: Vec<(Corrective, Field)> = candidates(controls)
        .into_par_iter()
        .map(|corrective| {
            let field = motions.corrective(&corrective);
            (corrective, field)
        })
        .collect();
    let moves = |field: &Field| field.iter().any(|(_, d)| d.length() > LEAST_M);
    fields.into_iter().filter(|(_, field)| moves(field)).take(count).collect()
}

fn candidates(controls: &[RawControl]) -> Vec<Corrective> {
    let index = |name: &str| {
        let found = controls.iter().position(|c| c.name == name);
        found.unwrap_or_else(|| panic!("no raw control {name}"))
    };
    let both = |name: &str| ["L", "R"].map(|side| index(&format!("{name}{side}")));
    let mut out: Vec<Corrective> = vec![];
    let jaw_open = index("jawOpen");
    for (name, side, lower) in LIPS_TOGETHER {
        out.push(Corrective { factors: vec![index(name), jaw_open], kind: Kind::LipsMeet(side, lower) });
    }
    let mut pairs = |first: &[&str], second: &[&str], once: bool| {
        for (at, a) in first.iter().enumerate() {
            // A list with itself: each pair once.
            let rest = if std::ptr::eq(first, second) { &second[at + 1..] } else { second };
            for b in rest.iter().filter(|b| *b != a) {
                for (a, b) in both(a).into_iter().zip(both(b)) {
                    out.push(Corrective { factors: vec![a, b], kind: Kind::Pair { once } });
                }
            }
        }
    };
    pairs(&NARROWING, &NARROWING, true);
    pairs(&AROUND_EYES, &AROUND_EYES, false);
    pairs(&NARROWING, &AROUND_EYES, false);
    for name in AROUND_MOUTH {
        for b in both(name) {
            out.push(Corrective { factors: vec![jaw_open, b], kind: Kind::Pair { once: false } });
        }
    }
    for (at, a) in AROUND_MOUTH[..6].iter().enumerate() {
        for b in &AROUND_MOUTH[at + 1..6] {
            for (a, b) in both(a).into_iter().zip(both(b)) {
                out.push(Corrective { factors: vec![jaw_open, a, b], kind: Kind::Triple });
            }
        }
    }
    let mut pairs = |a: usize, b: usize| {
        out.push(Corrective { factors: vec![a, b], kind: Kind::Pair { once: false } });
    };
    for (at, a) in AROUND_MOUTH.iter().enumerate() {
        for b in &AROUND_MOUTH[at + 1..] {
            both(a).into_iter().zip(both(b)).for_each(|(a, b)| pairs(a, b));
        }
    }
    for whole in WHOLE_MOUTH {
        for b in AROUND_MOUTH {
            both(b).into_iter().for_each(|b| pairs(index(whole), b));
        }
    }
    out
}
