//! The members of a pack as numbers, each checked against the manifest.

use super::{MEMBERS, PackTarget, error};
use crate::error::{LoadError, LoadErrorKind};
use crate::lbs::Influences;
use crate::math;
use crate::orl::container::Container;
use crate::orl::dna::Dna;
use glam::DAffine3;
use serde_json::value::RawValue;

/// What the manifest says, as far as it is read.
pub(super) struct Manifest {
    pub vertex_count: usize,
    pub joint_count: usize,
    pub lanes: usize,
    pub channel_count: usize,
    pub target_count: Option<usize>,
    pub joint_names: Option<Vec<String>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct ManifestText {
    #[serde(rename = "V")]
    vertex_count: Option<Box<RawValue>>,
    num_joints: Option<Box<RawValue>>,
    max_influence: Option<Box<RawValue>>,
    num_blend_shape_channels: Option<Box<RawValue>>,
    num_blend_shape_targets: Option<Box<RawValue>>,
    joint_names: Option<Box<RawValue>>,
}

#[derive(serde::Deserialize)]
struct TargetText {
    channel: usize,
    offset: usize,
    count: usize,
    #[serde(default)]
    scale: Option<f64>,
}

pub(super) struct Members<'a>(pub &'a Container);

impl<'a> Members<'a> {
    fn member(&self, name: &str) -> Result<&'a [u8], LoadError> {
        self.0.member(name).ok_or_else(|| error(LoadErrorKind::Missing, name, "to be in the pack", "none"))
    }

    fn text(&self, name: &str) -> Result<&'a str, LoadError> {
        std::str::from_utf8(self.member(name)?).map_err(|e| error(LoadErrorKind::Corrupt, name, "UTF-8 text", e))
    }

    /// Rows of N elements of B bytes, as many as the manifest says.
    fn rows<const B: usize>(&self, name: &str, rows: usize, width: usize) -> Result<&'a [[u8; B]], LoadError> {
        let bytes = self.member(name)?;
        if rows.checked_mul(width).and_then(|n| n.checked_mul(B)) != Some(bytes.len()) {
            let expected = format!("{rows}*{width} values of {B} bytes");
            return Err(error(LoadErrorKind::Shape, name, expected, format!("{} bytes", bytes.len())));
        }
        Ok(bytes.as_chunks().0)
    }

    pub(super) fn manifest(&self) -> Result<Manifest, LoadError> {
        const NAME: &str = MEMBERS[0];
        let text = self.text(NAME)?;
        let invalid = |e| error(LoadErrorKind::Corrupt, NAME, "a JSON object", format!("not valid: {e}"));
        // An array of six would be taken for the struct as well.
        if !text.trim_start().starts_with('{') {
            return Err(error(LoadErrorKind::Type, NAME, "a JSON object", format!("{text:?}")));
        }
        let manifest: ManifestText = serde_json::from_str(text).map_err(invalid)?;
        let needed = |key: &str, raw: Option<Box<RawValue>>, least: usize| match whole(key, raw)? {
            Some(n) if n >= least => Ok(n),
            Some(n) => Err(error(LoadErrorKind::Value, NAME, format!("{key} of {least} or more"), n)),
            None => Err(error(LoadErrorKind::Missing, NAME, format!("a field \"{key}\""), "none")),
        };
        let joint_names = manifest.joint_names.map(|raw| {
            let strings = serde_json::from_str::<Option<Vec<String>>>(raw.get());
            strings.map_err(|_| error(LoadErrorKind::Type, NAME, "jointNames as a list of texts", &raw))
        });
        let manifest = Manifest {
            vertex_count: needed("V", manifest.vertex_count, 1)?,
            joint_count: needed("numJoints", manifest.num_joints, 1)?,
            lanes: needed("maxInfluence", manifest.max_influence, 1)?,
            channel_count: needed("numBlendShapeChannels", manifest.num_blend_shape_channels, 0)?,
            target_count: whole("numBlendShapeTargets", manifest.num_blend_shape_targets)?,
            joint_names: joint_names.transpose()?.flatten(),
        };
        match &manifest.joint_names {
            Some(names) if names.len() != manifest.joint_count => {
                let expected = format!("{} jointNames", manifest.joint_count);
                Err(error(LoadErrorKind::Shape, NAME, expected, names.len()))
            }
            _ => Ok(manifest),
        }
    }

    /// Finite floats in rows of N.
    pub(super) fn floats<const N: usize>(&self, name: &str, rows: usize) -> Result<Vec<[f32; N]>, LoadError> {
        let values: Vec<f32> = self.rows(name, rows, N)?.iter().map(|b| f32::from_le_bytes(*b)).collect();
        check_finite(name, &values, N)?;
        Ok(values.as_chunks().0.to_vec())
    }

    pub(super) fn parents(&self, joints: usize) -> Result<Vec<Option<usize>>, LoadError> {
        const NAME: &str = "joint_parents.bin";
        let parent = |(j, bytes): (usize, &[u8; 4])| match i32::from_le_bytes(*bytes) {
            p if usize::try_from(p) == Ok(j) => Ok(None),
            p if usize::try_from(p).is_ok_and(|p| p < j) => Ok(Some(p as usize)),
            p => {
                let expected = format!("a parent of 0 to {j} for joint {j} (itself for a root)");
                Err(error(LoadErrorKind::Value, NAME, expected, p))
            }
        };
        self.rows(NAME, joints, 1)?.iter().enumerate().map(parent).collect()
    }

    pub(super) fn bind_from_world(&self, joints: usize) -> Result<Vec<DAffine3>, LoadError> {
        const NAME: &str = "inverse_bind.bin";
        let matrices: Vec<[f32; 16]> = self.floats(NAME, joints)?;
        // A projective matrix is more than a skin row holds; one step of f32 rounding passes.
        let affine = |m: &[f32; 16]| m[12..].iter().zip([0.0, 0.0, 0.0, 1.0]).all(|(a, b)| (a - b).abs() <= 2e-7);
        if let Some(j) = matrices.iter().position(|m| !affine(m)) {
            let found = format!("{:?} at joint {j}", &matrices[j][12..]);
            return Err(error(LoadErrorKind::Value, NAME, "a bottom row of 0, 0, 0, 1", found));
        }
        Ok(matrices.iter().map(|m| math::affine_from_row_major(&m.map(f64::from))).collect())
    }

    pub(super) fn influences(&self, vertices: usize, lanes: usize, joints: usize) -> Result<Influences, LoadError> {
        let stored = self.rows("skin_idx.bin", vertices, lanes)?;
        let indices: Vec<u32> = stored.iter().map(|b| u16::from_le_bytes(*b).into()).collect();
        if let Some(i) = indices.iter().position(|&joint| joint as usize >= joints) {
            let found = format!("{} at vertex {}", indices[i], i / lanes);
            return Err(error(LoadErrorKind::Value, "skin_idx.bin", format!("joints below {joints}"), found));
        }
        let stored = self.rows("skin_w.bin", vertices, lanes)?;
        let weights: Vec<f32> = stored.iter().map(|b| f32::from_le_bytes(*b)).collect();
        check_finite("skin_w.bin", &weights, lanes)?;
        Ok(Influences::from_lanes(&indices, &weights, lanes))
    }

    pub(super) fn delta_vertices(&self, vertices: usize) -> Result<Vec<u16>, LoadError> {
        const NAME: &str = "bs_index.bin";
        let count = self.member(NAME)?.len() / 2;
        let indices: Vec<u16> = self.rows(NAME, count, 1)?.iter().map(|b| u16::from_le_bytes(*b)).collect();
        if let Some(i) = indices.iter().position(|&v| usize::from(v) >= vertices) {
            let found = format!("{} at delta {i}", indices[i]);
            return Err(error(LoadErrorKind::Value, NAME, format!("vertices below {vertices}"), found));
        }
        self.rows::<1>("bs_delta.bin", count, 3)?;
        Ok(indices)
    }

    pub(super) fn targets(&self, manifest: &Manifest, deltas: usize) -> Result<Vec<PackTarget>, LoadError> {
        const NAME: &str = MEMBERS[1];
        let text = self.text(NAME)?;
        let entries: Vec<&RawValue> = serde_json::from_str(text).map_err(|e| match e.classify() {
            serde_json::error::Category::Data => error(LoadErrorKind::Type, NAME, "an array of targets", e),
            _ => error(LoadErrorKind::Corrupt, NAME, "a JSON array", format!("not valid: {e}")),
        })?;
        if let Some(count) = manifest.target_count.filter(|&count| count != entries.len()) {
            let expected = format!("{count} targets as the manifest says");
            return Err(error(LoadErrorKind::Shape, NAME, expected, entries.len()));
        }
        let mut targets = Vec::with_capacity(entries.len());
        let mut end = 0;
        for (i, raw) in entries.into_iter().enumerate() {
            let entry = Some(raw.get()).filter(|text| text.starts_with('{')).map(serde_json::from_str::<TargetText>);
            let Some(Ok(entry)) = entry else {
                let expected = "channel, offset and count as whole numbers that are not negative, scale as a number";
                return Err(error(LoadErrorKind::Type, NAME, expected, format!("{raw} at target {i}")));
            };
            let scale = entry.scale.unwrap_or(0.0) as f32;
            let wrong = |expected: String, found: String| {
                Err(error(LoadErrorKind::Value, NAME, expected, format!("{found} at target {i}")))
            };
            if entry.channel >= manifest.channel_count {
                return wrong(format!("a channel below {}", manifest.channel_count), entry.channel.to_string());
            }
            if !(0.0..=f32::MAX).contains(&scale) {
                return wrong("a finite scale that is not negative".into(), scale.to_string());
            }
            if entry.offset != end {
                return wrong(format!("offset {end}, the end of the target before"), entry.offset.to_string());
            }
            end = match end.checked_add(entry.count).filter(|&end| end <= deltas) {
                Some(end) => end,
                None => return wrong(format!("at most {} deltas", deltas - end), entry.count.to_string()),
            };
            let TargetText { channel, offset, count, .. } = entry;
            targets.push(PackTarget { channel, offset, count, scale });
        }
        if end != deltas {
            let expected = format!("targets that cover all {deltas} deltas");
            return Err(error(LoadErrorKind::Value, NAME, expected, format!("{end} covered")));
        }
        Ok(targets)
    }

    /// The triangles, which nothing at run time needs: where they are of another make, the pack goes without.
    pub(super) fn triangles(&self, vertices: usize) -> Option<Vec<[u32; 3]>> {
        const NAME: &str = "mesh_idx.bin";
        let bytes = self.0.member(NAME).filter(|bytes| !bytes.is_empty())?;
        let (words, rest) = bytes.as_chunks::<4>();
        let indices: Vec<u32> = words.iter().map(|b| u32::from_le_bytes(*b)).collect();
        let (triangles, left) = indices.as_chunks::<3>();
        if !rest.is_empty() || !left.is_empty() || indices.iter().any(|&i| i as usize >= vertices) {
            log::warn!("member \"{NAME}\" does not hold triangles of {vertices} vertices as u32; it is left aside");
            return None;
        }
        Some(triangles.to_vec())
    }

    /// The rig inside; a pack may have none, as what it computes can be fed from elsewhere.
    pub(super) fn dna(&self, manifest: &Manifest, parents: &[Option<usize>]) -> Result<Option<Dna>, LoadError> {
        const NAME: &str = MEMBERS[2];
        let Some(bytes) = self.0.member(NAME).filter(|bytes| !bytes.is_empty()) else { return Ok(None) };
        let dna = Dna::read(bytes).map_err(|e| e.within(format!("member \"{NAME}\"")))?;
        let definition = &dna.definition;
        let counts = [
            ("joints", definition.joint_names.len(), manifest.joint_count),
            ("blend shape channels", definition.channel_names.len(), manifest.channel_count),
        ];
        if let Some((what, found, expected)) = counts.iter().find(|(_, found, expected)| found != expected) {
            return Err(error(LoadErrorKind::Shape, NAME, format!("{expected} {what} as the manifest says"), found));
        }
        let same = |(j, &p): (usize, &u16)| parents[j].unwrap_or(j) == usize::from(p);
        if let Some(j) = definition.joint_parents.iter().enumerate().position(|pair| !same(pair)) {
            let expected = format!("parent {} of joint {j} as joint_parents.bin says", parents[j].unwrap_or(j));
            return Err(error(LoadErrorKind::Value, NAME, expected, definition.joint_parents[j]));
        }
        if manifest.joint_names.as_ref().is_some_and(|names| *names != definition.joint_names) {
            return Err(error(LoadErrorKind::Value, NAME, "the jointNames of the manifest", "other names"));
        }
        Ok(Some(dna))
    }
}

fn whole(key: &str, raw: Option<Box<RawValue>>) -> Result<Option<usize>, LoadError> {
    let Some(raw) = raw else { return Ok(None) };
    let expected = || format!("{key} as a whole number that is not negative");
    serde_json::from_str(raw.get()).map_err(|_| error(LoadErrorKind::Type, MEMBERS[0], expected(), &raw))
}

fn check_finite(name: &str, values: &[f32], width: usize) -> Result<(), LoadError> {
    match values.iter().position(|x| !x.is_finite()) {
        Some(i) => {
            let found = format!("{} in row {}, column {}", values[i], i / width, i % width);
            Err(error(LoadErrorKind::Value, name, "finite numbers", found))
        }
        None => Ok(()),
    }
}
