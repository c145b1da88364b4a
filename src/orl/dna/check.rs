//! What a rig must hold so that code may index it without looking: lengths, indices, numbers, the joint tree.

mod behavior;
mod extensions;
mod geometry;

use super::{Dna, LodMap, MAX_LODS};
use crate::error::{LoadError, LoadErrorKind};
use std::fmt::Display;

/// How many there are of everything that the file refers to by index.
struct Counts {
    lods: usize,
    joints: usize,
    raw: usize,
    psd: usize,
    controls: usize,
    channels: usize,
    animated_maps: usize,
    meshes: usize,
}

type Checked = Result<(), LoadError>;

/// Checks a whole rig.
pub(super) fn check(dna: &Dna) -> Checked {
    let counts = Counts {
        lods: dna.descriptor.lod_count.into(),
        joints: dna.definition.joint_names.len(),
        raw: dna.definition.raw_control_names.len(),
        psd: dna.behavior.psd_count.into(),
        controls: dna.control_counts().total(),
        channels: dna.definition.channel_names.len(),
        animated_maps: dna.definition.animated_map_names.len(),
        meshes: dna.definition.mesh_names.len(),
    };
    if !(1..=MAX_LODS).contains(&counts.lods) {
        return Err(value("descriptor.lod_count", format!("1 to {MAX_LODS} levels of detail"), counts.lods));
    }
    definition(dna, &counts)?;
    behavior::behavior(&dna.behavior, dna.definition.gui_control_names.len(), &counts)?;
    geometry::meshes(&dna.meshes, &counts)?;
    extensions::networks(dna, &counts)?;
    extensions::rbf(dna, &counts)?;
    extensions::joints(dna, &counts)?;
    extensions::operation_graph(dna, &counts)?;
    if let Some(sign) = dna.conventions.rotation_signs.iter().find(|s| s.abs_diff(0) != 1) {
        return Err(value("conventions.rotation_signs", "1 or -1", sign));
    }
    Ok(())
}

fn definition(dna: &Dna, counts: &Counts) -> Checked {
    let definition = &dna.definition;
    let named = [
        ("joint_names", counts.joints),
        ("channel_names", counts.channels),
        ("animated_map_names", counts.animated_maps),
        ("mesh_names", counts.meshes),
    ];
    const MOST: usize = 1 << 16;
    if let Some((name, count)) = named.iter().find(|(_, count)| *count > MOST) {
        return Err(value(format!("definition.{name}"), format!("at most {MOST}, as indices have 16 bits"), count));
    }
    let maps = [
        ("lod_joints", &definition.lod_joints, counts.joints),
        ("lod_channels", &definition.lod_channels, counts.channels),
        ("lod_animated_maps", &definition.lod_animated_maps, counts.animated_maps),
        ("lod_meshes", &definition.lod_meshes, counts.meshes),
    ];
    for (name, map, limit) in maps {
        lod_map(&format!("definition.{name}"), map, limit, counts.lods)?;
    }
    for (i, pair) in definition.mesh_channels.iter().enumerate() {
        let field = || format!("definition.mesh_channels[{i}]");
        index(|| format!("{}.mesh", field()), pair.mesh, counts.meshes)?;
        index(|| format!("{}.channel", field()), pair.channel, counts.channels)?;
    }
    length("definition.joint_parents", definition.joint_parents.len(), counts.joints)?;
    length("definition.neutral_translations", definition.neutral_translations.len(), counts.joints)?;
    length("definition.neutral_rotations", definition.neutral_rotations.len(), counts.joints)?;
    indices("definition.joint_parents", &definition.joint_parents, counts.joints)?;
    finite("definition.neutral_translations", definition.neutral_translations.as_flattened())?;
    finite("definition.neutral_rotations", definition.neutral_rotations.as_flattened())?;
    joint_tree(&definition.joint_parents)
}

/// Follows every joint to a root; each joint is passed once.
fn joint_tree(parents: &[u16]) -> Checked {
    const UNSEEN: usize = usize::MAX;
    let mut seen_from = vec![UNSEEN; parents.len()];
    for start in 0..parents.len() {
        let mut joint = start;
        while seen_from[joint] == UNSEEN {
            seen_from[joint] = start;
            let parent = usize::from(parents[joint]);
            if parent == joint {
                break;
            }
            if seen_from[parent] == start {
                let field = format!("definition.joint_parents[{joint}]");
                return Err(value(field, "a tree of joints", format!("a cycle through joint {parent}")));
            }
            joint = parent;
        }
    }
    Ok(())
}

fn value(field: impl Into<String>, expected: impl Display, found: impl Display) -> LoadError {
    LoadError::new(LoadErrorKind::Value, field, expected, found)
}

fn length(field: &str, found: usize, expected: usize) -> Checked {
    if found != expected {
        return Err(LoadError::new(LoadErrorKind::Shape, field, format!("{expected} values"), found));
    }
    Ok(())
}

fn index(field: impl Fn() -> String, found: impl Into<u64>, limit: usize) -> Checked {
    let found = found.into();
    if found >= limit as u64 {
        return Err(value(field(), format!("an index below {limit}"), found));
    }
    Ok(())
}

fn indices<T: Copy + Into<u64>>(field: &str, found: &[T], limit: usize) -> Checked {
    let wrong = found.iter().position(|&i| i.into() >= limit as u64);
    wrong.map_or(Ok(()), |at| index(|| format!("{field}[{at}]"), found[at], limit))
}

fn finite(field: &str, found: &[f32]) -> Checked {
    match found.iter().position(|v| !v.is_finite()) {
        Some(at) => Err(value(format!("{field}[{at}]"), "a finite number", found[at])),
        None => Ok(()),
    }
}

fn lod_map(field: &str, map: &LodMap, limit: usize, lods: usize) -> Checked {
    lod_length(&format!("{field}.lods"), map.lods.len(), lods)?;
    indices(&format!("{field}.lods"), &map.lods, map.lists.len())?;
    let mut lists = map.lists.iter().enumerate();
    lists.try_for_each(|(i, list)| indices(&format!("{field}.lists[{i}]"), list, limit))
}

/// One entry per level, or none where the feature is unused.
fn lod_length(field: &str, found: usize, lods: usize) -> Checked {
    if found == 0 { Ok(()) } else { length(field, found, lods) }
}

/// Per level a count of leading rows.
fn lod_rows(field: &str, rows_by_lod: &[u16], rows: usize, lods: usize) -> Checked {
    lod_length(field, rows_by_lod.len(), lods)?;
    match rows_by_lod.iter().position(|&r| usize::from(r) > rows) {
        Some(at) => Err(value(format!("{field}[{at}]"), format!("at most {rows} rows"), rows_by_lod[at])),
        None => Ok(()),
    }
}
