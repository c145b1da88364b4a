//! The controls' tables, the joint groups, channels and animated maps.

use super::{Checked, Counts, finite, index, indices, length, lod_rows, value};
use crate::orl::dna::{ATTRIBUTES, Behavior, Conditional, JointGroup};

pub(super) fn behavior(behavior: &Behavior, gui: usize, counts: &Counts) -> Checked {
    conditionals("behavior.gui_to_raw", &behavior.gui_to_raw, gui, counts.raw)?;
    for (i, entry) in behavior.psd.iter().enumerate() {
        let field = || format!("behavior.psd[{i}]");
        let correctives = counts.raw..counts.raw + counts.psd;
        if !correctives.contains(&entry.row.into()) {
            let expected = format!("a corrective, {} to {}", correctives.start, correctives.end);
            return Err(value(format!("{}.row", field()), expected, entry.row));
        }
        index(|| format!("{}.column", field()), entry.column, counts.controls)?;
        finite_field(|| format!("{}.value", field()), entry.value)?;
    }
    for (i, group) in behavior.joint_groups.iter().enumerate() {
        joint_group(&format!("behavior.joint_groups[{i}]"), group, counts)?;
    }
    let channels = &behavior.channels;
    length("behavior.channels.outputs", channels.outputs.len(), channels.inputs.len())?;
    lod_rows("behavior.channels.lods", &channels.lods, channels.inputs.len(), counts.lods)?;
    indices("behavior.channels.inputs", &channels.inputs, counts.controls)?;
    indices("behavior.channels.outputs", &channels.outputs, counts.channels)?;
    let maps = &behavior.animated_maps;
    lod_rows("behavior.animated_map_lods", &behavior.animated_map_lods, maps.len(), counts.lods)?;
    conditionals("behavior.animated_maps", maps, counts.controls, counts.animated_maps)
}

fn finite_field(field: impl Fn() -> String, found: f32) -> Checked {
    if found.is_finite() { Ok(()) } else { Err(value(field(), "a finite number", found)) }
}

fn conditionals(field: &str, rows: &[Conditional], inputs: usize, outputs: usize) -> Checked {
    for (i, row) in rows.iter().enumerate() {
        index(|| format!("{field}[{i}].input"), row.input, inputs)?;
        index(|| format!("{field}[{i}].output"), row.output, outputs)?;
        for (name, number) in [("from", row.from), ("to", row.to), ("slope", row.slope), ("cut", row.cut)] {
            finite_field(|| format!("{field}[{i}].{name}"), number)?;
        }
    }
    Ok(())
}

fn joint_group(field: &str, group: &JointGroup, counts: &Counts) -> Checked {
    let (rows, columns) = (group.outputs.len(), group.inputs.len());
    let lods = format!("{field}.lods");
    lod_rows(&lods, &group.lods, rows, counts.lods)?;
    if let Some(at) = group.lods.windows(2).position(|pair| pair[1] > pair[0]) {
        let expected = format!("at most the {} rows of the finer level", group.lods[at]);
        return Err(value(format!("{lods}[{}]", at + 1), expected, group.lods[at + 1]));
    }
    length(&format!("{field}.values"), group.values.len(), rows * columns)?;
    indices(&format!("{field}.inputs"), &group.inputs, counts.controls)?;
    indices(&format!("{field}.outputs"), &group.outputs, counts.joints * ATTRIBUTES)?;
    indices(&format!("{field}.joints"), &group.joints, counts.joints)?;
    finite(&format!("{field}.values"), &group.values)
}
