//! The tables spelled out: raw controls with their names, the sliders that drive them, the joints that they turn.

use super::mouth::MOUTH;
use super::table::{Family, Gui, HEAD, INSIDES_AND_NECK, JAW_AND_NOSE, UPPER_FACE};
use crate::head::Side;
use crate::orl::dna::{Attribute, Conditional};
use indexmap::IndexMap;

/// One raw control.
#[derive(Debug)]
pub(super) struct RawControl {
    /// Without `CTRL_expressions.`.
    pub name: String,
    pub family: &'static Family,
    /// Of a control that has an image on the other side.
    pub side: Option<Side>,
    /// Of a control whose name says which lip or row of teeth it is about.
    pub lower: bool,
}

/// All of them; the images of each other stand side by side, left first.
pub(super) fn raw_controls() -> Vec<RawControl> {
    let tables = [UPPER_FACE, JAW_AND_NOSE, MOUTH, INSIDES_AND_NECK, HEAD];
    tables.into_iter().flatten().flat_map(members).collect()
}

fn members(family: &'static Family) -> Vec<RawControl> {
    let has = |marks: [&str; 2]| marks.iter().any(|mark| family.name.contains(mark));
    let levels: &[bool] = if has(["%", "#"]) { &[false, true] } else { &[false] };
    let sides: &[Option<Side>] =
        if has(["{}", "<>"]) || family.name.contains("><") { &[Some(Side::Left), Some(Side::Right)] } else { &[None] };
    let member =
        |lower: bool, side: Option<Side>| RawControl { name: spelled(family.name, side, lower), family, side, lower };
    levels.iter().flat_map(|&lower| sides.iter().map(move |&side| member(lower, side))).collect()
}

fn spelled(template: &str, side: Option<Side>, lower: bool) -> String {
    let (letter, word, other) = match side {
        Some(Side::Right) => ("R", "Right", "Left"),
        _ => ("L", "Left", "Right"),
    };
    let (level, row) = if lower { ("D", "Lower") } else { ("U", "Upper") };
    let text = template.replace("><", other).replace("<>", word).replace("{}", letter);
    text.replace('%', level).replace('#', row)
}

impl RawControl {
    /// The name in the file.
    pub(super) fn full_name(&self) -> String {
        format!("CTRL_expressions.{}", self.name)
    }

    fn is_right(&self) -> bool {
        self.side == Some(Side::Right)
    }

    /// What it does to named joints at full effort.
    pub(super) fn joints(&self) -> impl Iterator<Item = (String, Attribute, f32)> {
        self.family.joints.iter().map(|&(joint, attribute, value)| {
            let name = spelled(joint, self.side, self.lower);
            let sign = if self.is_right() && is_reversed(&name, attribute) { -1.0 } else { 1.0 };
            (name, attribute, sign * value)
        })
    }
}

/// Whether an attribute of a joint has the other sign on the other side. Facial joints are aligned with the head; the bones of the
/// neck have their x axis up and their y axis to the side.
fn is_reversed(joint: &str, attribute: Attribute) -> bool {
    use Attribute::{RotateX, RotateY, RotateZ, TranslateX, TranslateY};
    if joint.starts_with("FACIAL_") {
        matches!(attribute, TranslateX | RotateY | RotateZ)
    } else {
        matches!(attribute, TranslateY | RotateX | RotateZ)
    }
}

/// The sliders, and how they drive the raw controls.
pub(super) fn gui(controls: &[RawControl]) -> (Vec<String>, Vec<Conditional>) {
    let mut names: IndexMap<String, ()> = IndexMap::new();
    let mut rows = vec![];
    for (output, control) in controls.iter().enumerate() {
        for gui in control.family.gui {
            let (slider, stretches) = stretches(*gui, control.is_right());
            let entry = names.entry(format!("CTRL_{}", spelled(slider, control.side, control.lower)));
            let input = entry.index() as u16;
            entry.or_default();
            rows.extend(stretches.into_iter().map(|[from, to, slope, cut]| Conditional {
                input,
                output: output as u16,
                from,
                to,
                slope,
                cut,
            }));
        }
    }
    (names.into_keys().collect(), rows)
}

/// The slider's name and its stretches: from, to, slope, cut.
fn stretches(gui: Gui, is_right: bool) -> (&'static str, Vec<[f32; 4]>) {
    const UP: [f32; 4] = [0.0, 1.0, 1.0, 0.0];
    const DOWN: [f32; 4] = [-1.0, 0.0, -1.0, 0.0];
    match gui {
        Gui::Up(slider) => (slider, vec![UP]),
        Gui::Down(slider) => (slider, vec![DOWN]),
        Gui::Out(slider) => (slider, vec![if is_right { DOWN } else { UP }]),
        Gui::In(slider) => (slider, vec![if is_right { UP } else { DOWN }]),
        Gui::Phase(slider, phase, count) => {
            let [before, peak, after] = [phase - 1, phase, phase + 1].map(|k| k as f32 / count as f32);
            let slope = count as f32;
            let rise = [before, peak, slope, 1.0 - phase as f32];
            let fall = [peak, after, -slope, 1.0 + phase as f32];
            (slider, if phase < count { vec![rise, fall] } else { vec![rise] })
        }
    }
}
