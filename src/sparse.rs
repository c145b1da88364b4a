//! Packed sparse deltas, shared by ORL and glTF: per vertex the few targets that move it, and the CPU twin of `sparse_common.wgsl`.
//!
//! # Layout
//!
//! Row `v` is `entries[offsets[v]..offsets[v + 1]]`, targets ascending. A packed entry is eight bytes, two little-endian `u32` words:
//!
//! | word | bits 0..16 | bits 16..32 |
//! |---|---|---|
//! | 0 | target index | x |
//! | 1 | y | z |
//!
//! x, y, z are `i16` in two's complement; an `i8` delta stands there sign-extended, so one gather reads both. A small table gives each
//! target's channel and scale: `delta = (x, y, z) * scale`. Weight and scale meet once per target and evaluation, in
//! [`SparseRows::weigh`], never per entry: what the gather multiplies by is `weight * scale`, and a bit mask says which targets have any.
//!
//! [`DeltaFormat::F32`] keeps the deltas as they are, for the CPU reference; it is not uploaded.

pub mod slices;

use crate::error::{LoadError, LoadErrorKind};
use glam::DVec3;

/// The most targets of one mesh: a packed entry has 16 bits for the index.
pub const MAX_TARGETS: usize = 1 << 16;

/// How deltas are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeltaFormat {
    /// As they are.
    F32,
    /// `scale` = the target's largest component over 32,767.
    I16,
    /// `scale` = the target's largest component over 127.
    I8,
}

impl DeltaFormat {
    /// The largest stored magnitude; none for floats.
    fn steps(self) -> Option<f64> {
        match self {
            DeltaFormat::F32 => None,
            DeltaFormat::I16 => Some(32_767.0),
            DeltaFormat::I8 => Some(127.0),
        }
    }
}

/// One target: which vertices it moves, and where to at weight 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseTarget<'a> {
    /// The channel whose weight scales it; several targets may share one.
    pub channel: u32,
    /// (D) Vertex indices in any order; one that stands there twice is moved twice.
    pub vertices: &'a [u32],
    /// (D, 3) Offsets.
    pub deltas: &'a [[f32; 3]],
}

/// A target whose deltas a file holds as integers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantisedTarget<'a> {
    /// As in [`SparseTarget`].
    pub channel: u32,
    /// As in [`SparseTarget`].
    pub vertices: &'a [u32],
    /// (D, 3) Offsets over `scale`.
    pub deltas: &'a [[i16; 3]],
    /// What one step is worth.
    pub scale: f32,
}

/// One packed entry; the layout is in the module's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct PackedEntry {
    /// Target index and x, then y and z.
    pub words: [u32; 2],
}

impl PackedEntry {
    /// Packs a target index and three steps.
    #[must_use]
    pub fn new(target: u16, [x, y, z]: [i16; 3]) -> PackedEntry {
        let word = |low: u16, high: i16| u32::from(low) | u32::from(high as u16) << 16;
        PackedEntry { words: [word(target, x), word(y as u16, z)] }
    }

    /// The target's index.
    #[must_use]
    pub fn target(self) -> u16 {
        self.words[0] as u16
    }

    /// The three steps.
    #[must_use]
    pub fn steps(self) -> [i16; 3] {
        [(self.words[0] >> 16) as i16, self.words[1] as i16, (self.words[1] >> 16) as i16]
    }
}

/// One entry with its delta as it is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FloatEntry {
    /// The target's index.
    pub target: u16,
    /// The delta at weight 1.
    pub delta: [f32; 3],
}

/// The entries of all rows, one after another.
#[derive(Debug, Clone, PartialEq)]
pub enum SparseEntries {
    /// `DeltaFormat::F32`.
    Float(Vec<FloatEntry>),
    /// `DeltaFormat::I16` and `I8`: what is uploaded.
    Packed(Vec<PackedEntry>),
}

/// What a target's entries are multiplied by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TargetScale {
    /// The channel whose weight scales the target.
    pub channel: u32,
    /// What one step is worth; 1 for floats.
    pub scale: f32,
}

/// The sparse deltas of one mesh, by vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseRows {
    offsets: Vec<u32>,
    entries: SparseEntries,
    targets: Vec<TargetScale>,
}

/// The weights of one instance as the gather reads them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TargetWeights {
    /// Weight times scale by target, f32 as it is uploaded.
    pub coefficients: Vec<f32>,
    /// Bit `t % 32` of word `t / 32`: target `t` has a coefficient other than 0.
    pub mask: Vec<u32>,
}

impl TargetWeights {
    fn is_active(&self, target: usize) -> bool {
        self.mask[target / 32] >> (target % 32) & 1 != 0
    }
}

impl SparseRows {
    /// Sorts targets into rows by vertex. Entries that are zero, or become zero in the format, are left out.
    ///
    /// # Accuracy
    /// Each component is within half a target's scale of what was given; exact for `F32`.
    ///
    /// # Errors
    /// `Shape` - vertices and deltas of a target differ in number; `Value` - a vertex past the mesh, or a delta that is not finite;
    /// `Unsupported` - more than [`MAX_TARGETS`] targets, or 2^32 entries.
    pub fn new(vertex_count: usize, targets: &[SparseTarget], format: DeltaFormat) -> Result<SparseRows, LoadError> {
        check_count(targets.len())?;
        for (i, target) in targets.iter().enumerate() {
            check_target(i, target.vertices, target.deltas.len(), vertex_count)?;
            if let Some(at) = target.deltas.iter().position(|d| !d.iter().all(|x| x.is_finite())) {
                let field = format!("targets[{i}].deltas[{at}]");
                return Err(LoadError::new(
                    LoadErrorKind::Value,
                    field,
                    "finite numbers",
                    format!("{:?}", target.deltas[at]),
                ));
            }
        }
        let scale = |target: &SparseTarget| {
            let largest = target.deltas.as_flattened().iter().fold(0.0_f32, |most, x| most.max(x.abs()));
            format.steps().map_or(1.0, |steps| (f64::from(largest) / steps) as f32)
        };
        let table = targets.iter().map(|t| TargetScale { channel: t.channel, scale: scale(t) }).collect::<Vec<_>>();
        let given = (0_u16..=u16::MAX).zip(targets).flat_map(|(target, t)| {
            t.vertices.iter().zip(t.deltas).map(move |(&vertex, &delta)| (vertex, FloatEntry { target, delta }))
        });
        let Some(steps) = format.steps() else {
            let (offsets, entries) = rows(vertex_count, given.filter(|(_, e)| e.delta != [0.0; 3]))?;
            return Ok(SparseRows { offsets, entries: SparseEntries::Float(entries), targets: table });
        };
        let packed = given.map(|(vertex, FloatEntry { target, delta })| {
            let scale = f64::from(table[usize::from(target)].scale);
            let step =
                |x: f32| if scale > 0.0 { (f64::from(x) / scale).round().clamp(-steps, steps) as i16 } else { 0 };
            (vertex, PackedEntry::new(target, delta.map(step)))
        });
        let (offsets, entries) = rows(vertex_count, packed.filter(|(_, e)| e.steps() != [0; 3]))?;
        Ok(SparseRows { offsets, entries: SparseEntries::Packed(entries), targets: table })
    }

    /// Sorts targets that are integers already into packed rows; nothing is rounded again.
    ///
    /// # Errors
    /// As [`SparseRows::new`]; `Value` for a scale that is not finite.
    pub fn from_quantised(vertex_count: usize, targets: &[QuantisedTarget]) -> Result<SparseRows, LoadError> {
        check_count(targets.len())?;
        for (i, target) in targets.iter().enumerate() {
            check_target(i, target.vertices, target.deltas.len(), vertex_count)?;
            if !target.scale.is_finite() {
                let field = format!("targets[{i}].scale");
                return Err(LoadError::new(LoadErrorKind::Value, field, "a finite number", target.scale));
            }
        }
        let packed = (0_u16..=u16::MAX).zip(targets).flat_map(|(target, t)| {
            t.vertices.iter().zip(t.deltas).map(move |(&vertex, &steps)| (vertex, PackedEntry::new(target, steps)))
        });
        let (offsets, entries) = rows(vertex_count, packed.filter(|(_, e)| e.steps() != [0; 3]))?;
        let table = targets.iter().map(|t| TargetScale { channel: t.channel, scale: t.scale }).collect();
        Ok(SparseRows { offsets, entries: SparseEntries::Packed(entries), targets: table })
    }

    /// V.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Where the rows begin and end, (V + 1).
    #[must_use]
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The entries of all rows.
    #[must_use]
    pub fn entries(&self) -> &SparseEntries {
        &self.entries
    }

    /// The channel and scale of every target.
    #[must_use]
    pub fn targets(&self) -> &[TargetScale] {
        &self.targets
    }

    /// Multiplies the channels' weights by the targets' scales.
    ///
    /// # Shapes
    /// channel_weights: one for each channel that a target names, or more
    #[must_use]
    pub fn weigh(&self, channel_weights: &[f32]) -> TargetWeights {
        let mut weights = TargetWeights::default();
        self.weigh_into(channel_weights, &mut weights);
        weights
    }

    /// The same into weights that are there already, without allocating once they have been of these rows.
    pub fn weigh_into(&self, channel_weights: &[f32], weights: &mut TargetWeights) {
        let TargetWeights { coefficients, mask } = weights;
        coefficients.clear();
        coefficients.extend(self.targets.iter().map(|t| channel_weights[t.channel as usize] * t.scale));
        let bits = |word: &[f32]| word.iter().rev().fold(0, |bits, &c| bits << 1 | u32::from(c != 0.0));
        mask.clear();
        mask.extend(coefficients.chunks(32).map(bits));
    }

    /// The same rows in another order: row `i` of the result is row `order[i]` of these.
    #[must_use]
    pub fn permuted(&self, order: &[u32]) -> SparseRows {
        let mut offsets = vec![0];
        let ranges = || order.iter().map(|&vertex| self.range(vertex as usize));
        offsets.extend(ranges().scan(0, |end, range| {
            *end += range.len() as u32;
            Some(*end)
        }));
        let entries = match &self.entries {
            SparseEntries::Float(e) => SparseEntries::Float(ranges().flat_map(|r| &e[r]).copied().collect()),
            SparseEntries::Packed(e) => SparseEntries::Packed(ranges().flat_map(|r| &e[r]).copied().collect()),
        };
        SparseRows { offsets, entries, targets: self.targets.clone() }
    }

    fn range(&self, vertex: usize) -> std::ops::Range<usize> {
        self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize
    }
}

/// The sum of one vertex's deltas times their weights, targets ascending; an entry of an inactive target is not looked at.
///
/// # Accuracy
/// f64 sums of the f32 coefficients and the stored deltas.
#[must_use]
pub fn sparse_gather(rows: &SparseRows, vertex: usize, weights: &TargetWeights) -> DVec3 {
    let range = rows.range(vertex);
    let term = |target: u16, delta: [f64; 3]| f64::from(weights.coefficients[usize::from(target)]) * DVec3::from(delta);
    match &rows.entries {
        SparseEntries::Float(entries) => {
            let active = entries[range].iter().filter(|e| weights.is_active(e.target.into()));
            active.map(|e| term(e.target, e.delta.map(f64::from))).sum()
        }
        SparseEntries::Packed(entries) => {
            let active = entries[range].iter().filter(|e| weights.is_active(e.target().into()));
            active.map(|e| term(e.target(), e.steps().map(f64::from))).sum()
        }
    }
}

fn check_count(targets: usize) -> Result<(), LoadError> {
    if targets > MAX_TARGETS {
        return Err(LoadError::new(LoadErrorKind::Unsupported, "targets", format!("at most {MAX_TARGETS}"), targets));
    }
    Ok(())
}

fn check_target(target: usize, vertices: &[u32], deltas: usize, vertex_count: usize) -> Result<(), LoadError> {
    if vertices.len() != deltas {
        let field = format!("targets[{target}].deltas");
        return Err(LoadError::new(LoadErrorKind::Shape, field, format!("{} deltas", vertices.len()), deltas));
    }
    match vertices.iter().position(|&v| v as usize >= vertex_count) {
        Some(at) => {
            let field = format!("targets[{target}].vertices[{at}]");
            Err(LoadError::new(LoadErrorKind::Value, field, format!("an index below {vertex_count}"), vertices[at]))
        }
        None => Ok(()),
    }
}

/// A counting sort by vertex that keeps the order within one.
fn rows<E: Copy + Default>(
    vertex_count: usize,
    entries: impl Iterator<Item = (u32, E)> + Clone,
) -> Result<(Vec<u32>, Vec<E>), LoadError> {
    let mut offsets = vec![0_u32; vertex_count + 1];
    let mut count = 0_u32;
    for (vertex, _) in entries.clone() {
        count = count.checked_add(1).ok_or_else(|| {
            LoadError::new(LoadErrorKind::Unsupported, "targets", "fewer than 2^32 deltas in all", "more")
        })?;
        offsets[vertex as usize + 1] += 1;
    }
    for v in 0..vertex_count {
        offsets[v + 1] += offsets[v];
    }
    let mut next = offsets.clone();
    let mut sorted = vec![E::default(); count as usize];
    for (vertex, entry) in entries {
        let at = &mut next[vertex as usize];
        sorted[*at as usize] = entry;
        *at += 1;
    }
    Ok((offsets, sorted))
}

#[cfg(test)]
mod tests;
