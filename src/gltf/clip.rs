//! Clips: keyed values that write the control vector.

use super::controls::GltfControls;
use super::document::{Animation, ChannelTarget, Sampler, wrong};
use super::nodes::Graph;
use super::source::Source;
use crate::error::{LoadError, LoadErrorKind};
use glam::DQuat;
use std::ops::Range;

/// How values between two keys are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Straight; rotations turn evenly, the short way.
    Linear,
    /// The earlier key's.
    Step,
    /// Hermite with tangents per unit of time; rotations component by component, then normalised.
    CubicSpline,
}

/// What the controls of a channel are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChannelKind {
    /// Translation or scale: x, y, z.
    Vector,
    /// A quaternion x, y, z, w.
    Rotation,
    /// The weights of a mesh node's morph targets.
    Weights,
}

/// What one channel moves.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    controls: Range<usize>,
    kind: ChannelKind,
    interpolation: Interpolation,
    times: Vec<f32>,
    /// Per key one row as wide as the controls; for splines three: in-tangent, value, out-tangent.
    values: Vec<f32>,
}

/// An animation of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    name: Option<String>,
    end: f32,
    channels: Vec<Channel>,
}

/// Where a clip was sampled last, by channel: the next sample starts its search there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClipCursor {
    keys: Vec<usize>,
}

impl Clip {
    /// Its name in the file.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The time of its last key, in seconds; it begins at 0, whenever its first key is.
    #[must_use]
    pub fn end(&self) -> f32 {
        self.end
    }

    /// The channels, in file order.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// A cursor at the beginning.
    #[must_use]
    pub fn cursor(&self) -> ClipCursor {
        ClipCursor { keys: vec![0; self.channels.len()] }
    }

    /// Writes the controls that the clip moves, and leaves the others alone. Nothing is allocated.
    ///
    /// The law: a time before a channel's first key or after its last takes that key; NaN takes the first. A rotation comes out with unit
    /// length, and every number finite. The cursor makes playback cheap and never changes a value.
    ///
    /// # Shapes
    /// controls: (C) of the rig that the clip was loaded with
    ///
    /// # Panics
    /// When the cursor is another clip's, or `controls` is too short.
    pub fn sample(&self, time_s: f64, cursor: &mut ClipCursor, controls: &mut [f32]) {
        assert_eq!(cursor.keys.len(), self.channels.len(), "the cursor is another clip's");
        for (channel, key) in self.channels.iter().zip(&mut cursor.keys) {
            channel.sample(time_s, key, &mut controls[channel.controls.clone()]);
        }
    }
}

impl Channel {
    /// The controls that it writes.
    #[must_use]
    pub fn controls(&self) -> Range<usize> {
        self.controls.clone()
    }

    /// What they are.
    #[must_use]
    pub fn kind(&self) -> ChannelKind {
        self.kind
    }

    /// How it goes from key to key.
    #[must_use]
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// The times of its keys, in seconds; at least one.
    #[must_use]
    pub fn times(&self) -> &[f32] {
        &self.times
    }

    fn row(&self, row: usize) -> &[f32] {
        let width = self.controls.len();
        &self.values[row * width..][..width]
    }

    fn value(&self, key: usize) -> &[f32] {
        self.row(if self.interpolation == Interpolation::CubicSpline { 3 * key + 1 } else { key })
    }

    fn sample(&self, time: f64, hint: &mut usize, out: &mut [f32]) {
        let key = key_at(&self.times, time, *hint);
        *hint = key;
        let start = f64::from(self.times[key]);
        let between = key + 1 < self.times.len() && time > start && self.interpolation != Interpolation::Step;
        if !between {
            return self.write(out, |i| self.value(key)[i].into(), key);
        }
        let step = f64::from(self.times[key + 1]) - start;
        let u = (time - start) / step;
        let (a, b) = (self.value(key), self.value(key + 1));
        match self.interpolation {
            Interpolation::CubicSpline => {
                let (leave, arrive) = (self.row(3 * key + 2), self.row(3 * (key + 1)));
                self.write(out, |i| hermite(u, step, [a[i], leave[i], b[i], arrive[i]]), key);
            }
            _ if self.kind == ChannelKind::Rotation => {
                let turned = quat(a).normalize().slerp(quat(b).normalize(), u);
                self.write(out, |i| turned.to_array()[i], key);
            }
            _ => self.write(out, |i| f64::from(a[i]) + (f64::from(b[i]) - f64::from(a[i])) * u, key),
        }
    }

    /// Rounds to f32, a rotation after it was normalised; one that vanishes half-way is the key before it.
    fn write(&self, out: &mut [f32], value: impl Fn(usize) -> f64, key: usize) {
        if self.kind != ChannelKind::Rotation {
            out.iter_mut().enumerate().for_each(|(i, x)| *x = narrowed(value(i)));
            return;
        }
        let q = DQuat::from_array(std::array::from_fn(value));
        let q = if q.length() > 1e-9 { q.normalize() } else { quat(self.value(key)).normalize() };
        out.copy_from_slice(&q.as_quat().to_array());
    }
}

/// A control: what overshoots an f32 stops at its end, so that a clip never writes an infinity.
pub(super) fn narrowed(value: f64) -> f32 {
    value.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32
}

/// The last key at or before a time, or the first; the hint and its successor are looked at before all are searched.
fn key_at(times: &[f32], time: f64, hint: usize) -> usize {
    let holds = |key: usize| {
        (key == 0 || times.get(key).is_some_and(|&t| f64::from(t) <= time))
            && times.get(key + 1).is_none_or(|&t| time < f64::from(t))
    };
    if hint < times.len() && holds(hint) {
        return hint;
    }
    if hint + 1 < times.len() && holds(hint + 1) {
        return hint + 1;
    }
    times.partition_point(|&t| f64::from(t) <= time).saturating_sub(1)
}

fn quat(v: &[f32]) -> DQuat {
    DQuat::from_array(std::array::from_fn(|i| v[i].into()))
}

/// Value, out-tangent, next value and its in-tangent; tangents are per unit of time.
fn hermite(u: f64, step: f64, [a, leave, b, arrive]: [f32; 4]) -> f64 {
    let (u2, u3) = (u * u, u * u * u);
    let [a, leave, b, arrive] = [a, leave, b, arrive].map(f64::from);
    (2.0 * u3 - 3.0 * u2 + 1.0) * a
        + (u3 - 2.0 * u2 + u) * step * leave
        + (3.0 * u2 - 2.0 * u3) * b
        + (u3 - u2) * step * arrive
}

pub(super) fn read_clips(source: &mut Source, graph: &Graph, controls: &GltfControls) -> Result<Vec<Clip>, LoadError> {
    let root = source.root;
    let clip = |(i, animation)| read_clip(source, graph, controls, animation, &format!("/animations/{i}"));
    root.animations.iter().enumerate().map(clip).collect()
}

fn read_clip(
    source: &mut Source,
    graph: &Graph,
    controls: &GltfControls,
    animation: &Animation,
    place: &str,
) -> Result<Clip, LoadError> {
    let mut channels: Vec<Channel> = Vec::new();
    for channel in &animation.channels {
        let Some((range, kind)) = target(&channel.target, graph, controls) else {
            source.report.ignored_channels += 1;
            continue;
        };
        let place = format!("{place}/samplers/{}", channel.sampler);
        let Some(channel) = read_channel(source, &animation.samplers[channel.sampler], &place, range, kind)? else {
            source.report.empty_channels += 1;
            continue;
        };
        channels.push(channel);
    }
    // The last channel of a target is the one that counts.
    let mut seen = std::collections::HashSet::new();
    let mut kept: Vec<Channel> = channels
        .into_iter()
        .rev()
        .filter(|c| {
            let fresh = seen.insert(c.controls.start);
            source.report.repeated_channels += usize::from(!fresh);
            fresh
        })
        .collect();
    kept.reverse();
    let end = kept.iter().filter_map(|c| c.times.last()).fold(0.0, |end: f32, &time| end.max(time));
    Ok(Clip { name: animation.name.clone(), end, channels: kept })
}

/// The controls that a channel moves, and what they are.
fn target(target: &ChannelTarget, graph: &Graph, controls: &GltfControls) -> Option<(Range<usize>, ChannelKind)> {
    let node = target.node?;
    if target.path == "weights" {
        return Some((controls.morphs_of_node(node)?, ChannelKind::Weights));
    }
    let first = controls.first_of_joint(graph.joint_of[node]?)?;
    match target.path.as_str() {
        "translation" => Some((first..first + 3, ChannelKind::Vector)),
        "rotation" => Some((first + 3..first + 7, ChannelKind::Rotation)),
        "scale" => Some((first + 7..first + 10, ChannelKind::Vector)),
        _ => None,
    }
}

fn read_channel(
    source: &mut Source,
    sampler: &Sampler,
    place: &str,
    controls: Range<usize>,
    kind: ChannelKind,
) -> Result<Option<Channel>, LoadError> {
    let interpolation = match sampler.interpolation.as_deref() {
        None | Some("LINEAR") => Interpolation::Linear,
        Some("STEP") => Interpolation::Step,
        Some("CUBICSPLINE") => Interpolation::CubicSpline,
        Some(other) => {
            let field = format!("{place}/interpolation");
            return Err(wrong(field, "LINEAR, STEP or CUBICSPLINE", format!("\"{other}\"")));
        }
    };
    let input = format!("{place}/input");
    source.count_integers(sampler.input);
    let times = source.rows::<1>(sampler.input, &input)?.concat();
    if let Some(at) = times.windows(2).position(|pair| pair[0] > pair[1]) {
        let found = format!("{} after {} at {}", times[at + 1], times[at], at + 1);
        return Err(wrong(input, "times that do not go back", found));
    }
    let output = format!("{place}/output");
    let rows = times.len() * if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    source.count_integers(sampler.output);
    let values = read_values(source, sampler.output, &output, (kind, controls.len()), rows)?;
    if times.is_empty() {
        return Ok(None);
    }
    if kind == ChannelKind::Rotation {
        check_rotations(source, &values, interpolation, &output)?;
    }
    Ok(Some(Channel { controls, kind, interpolation, times, values }))
}

/// The output of a sampler, as many rows as the keys demand; weights lie one after another in scalars.
fn read_values(
    source: &mut Source,
    accessor: usize,
    field: &str,
    (kind, width): (ChannelKind, usize),
    rows: usize,
) -> Result<Vec<f32>, LoadError> {
    let expected = if kind == ChannelKind::Weights { rows.saturating_mul(width) } else { rows };
    let count = source.count(accessor)?;
    if count != expected {
        let what = format!("{expected} elements, {rows} rows of {width} values");
        return Err(LoadError::new(LoadErrorKind::Shape, field, what, count));
    }
    Ok(match kind {
        ChannelKind::Weights => source.rows::<1>(accessor, field)?.concat(),
        ChannelKind::Rotation => source.rows::<4>(accessor, field)?.concat(),
        ChannelKind::Vector => source.rows::<3>(accessor, field)?.concat(),
    })
}

/// Refuses keys of no rotation, and counts those that are not of unit length; sampling normalises them.
fn check_rotations(
    source: &mut Source,
    values: &[f32],
    interpolation: Interpolation,
    field: &str,
) -> Result<(), LoadError> {
    const UNIT: f64 = 1e-3;
    let (first, step) = if interpolation == Interpolation::CubicSpline { (1, 3) } else { (0, 1) };
    for (key, q) in values.as_chunks::<4>().0.iter().skip(first).step_by(step).enumerate() {
        let length = quat(q).length();
        if length == 0.0 {
            return Err(wrong(field, "quaternions other than zero", format!("zero at key {key}")));
        }
        source.report.non_unit_keys += usize::from((length - 1.0).abs() > UNIT);
    }
    Ok(())
}
