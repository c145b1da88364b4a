//! What drives a glTF file: a clip at some times, controls, both, or nothing but the file's own pose.

use crate::arrays;
use crate::failure::Failure;
use crate::report::{listed, size};
use rigeval::error::{LoadError, LoadErrorKind};
use rigeval::gltf::clip::Clip;
use rigeval::gltf::model::GltfModel;
use rigeval::npy::Array;

/// The clip of that name, or of that index.
pub fn named<'m>(model: &'m GltfModel, clip: &str) -> Result<&'m Clip, Failure> {
    model.clip(clip).ok_or_else(|| unknown(model, &format!("{clip:?}")))
}

/// The clip in that place of the file.
pub fn numbered(model: &GltfModel, index: usize) -> Result<&Clip, Failure> {
    model.clips().get(index).ok_or_else(|| unknown(model, &index.to_string()))
}

fn unknown(model: &GltfModel, clip: &str) -> Failure {
    let label = |(index, clip): (usize, &Clip)| match clip.name() {
        Some(name) => format!("{index} {name:?}"),
        None => index.to_string(),
    };
    let clips: Vec<String> = model.clips().iter().enumerate().map(label).collect();
    let there = if clips.is_empty() { "no clips".to_string() } else { listed(&clips) };
    Failure::new(format!("clip {clip}: the file has {there}"))
}

/// Seconds of shape (T), finite.
pub fn times(array: Array) -> Result<Vec<f64>, LoadError> {
    arrays::frame_count(&array, "times", &[])?;
    let times = array.into_f64()?;
    match times.iter().position(|time| !time.is_finite()) {
        Some(index) => {
            Err(LoadError::new(LoadErrorKind::Value, format!("times[{index}]"), "a finite number", times[index]))
        }
        None => Ok(times),
    }
}

/// (F, C) The controls of every frame, with F.
///
/// A clip writes what it moves over the controls that are given, one row for each time or one for all; what is not given is the file's own.
/// Without a clip the frames are the rows that are given, and without those one at rest.
pub fn controls(
    model: &GltfModel,
    given: Option<(Vec<f32>, usize)>,
    clip: Option<(&Clip, &[f64])>,
) -> Result<(Vec<f32>, usize), Failure> {
    let defaults = model.controls().defaults();
    let (rows, row_count) = given.unwrap_or_else(|| (defaults.to_vec(), 1));
    let Some((clip, times)) = clip else { return Ok((rows, row_count)) };
    if row_count != times.len() && row_count != 1 {
        let frames = times.len();
        return Err(Failure::new(format!("controls: expected {frames} frames as in times, or 1, got {row_count}")));
    }
    let mut controls = Vec::new();
    let floats = times.len().saturating_mul(defaults.len());
    controls.try_reserve_exact(floats).map_err(|_| {
        let (frames, bytes) = (times.len(), size(floats.saturating_mul(4)));
        Failure::new(format!("times: the controls of {frames} frames take {bytes}: more than there is memory for"))
    })?;
    let mut cursor = clip.cursor();
    for (frame, &time) in times.iter().enumerate() {
        let row = if row_count == 1 { 0 } else { frame };
        let first = controls.len();
        controls.extend_from_slice(&rows[row * defaults.len()..][..defaults.len()]);
        clip.sample(time, &mut cursor, &mut controls[first..]);
    }
    Ok((controls, times.len()))
}
