//! Everything a pack holds, and the pack made of it.

use super::{MEMBERS, OrlPack, PackTarget, error};
use crate::error::{LoadError, LoadErrorKind};
use crate::orl::container::Container;
use serde_json::{Map, Value, json};
use std::fmt;

/// Everything a pack holds, for [`OrlPack::build`]. Centimetres and degrees.
#[derive(Clone, PartialEq)]
pub struct PackParts {
    /// (V, 3).
    pub neutral: Vec<[f32; 3]>,
    /// K.
    pub lanes: usize,
    /// (V, K).
    pub skin_joints: Vec<u16>,
    /// (V, K); a lane of weight 0 is skipped.
    pub skin_weights: Vec<f32>,
    /// (J).
    pub joint_names: Vec<String>,
    /// (J), parents first; a root is its own parent.
    pub joint_parents: Vec<u16>,
    /// (J, 9): translation, Euler angles, a scale that nothing reads.
    pub joint_neutral: Vec<[f32; 9]>,
    /// (J), row-major.
    pub inverse_bind: Vec<[f32; 16]>,
    /// Blend shape channels of the rig.
    pub channel_count: usize,
    /// Runs that tile the deltas.
    pub targets: Vec<PackTarget>,
    /// (D).
    pub delta_vertices: Vec<u16>,
    /// (D, 3).
    pub deltas: Vec<[i8; 3]>,
    /// (T, 3).
    pub triangles: Vec<[u32; 3]>,
    /// The DNA file, byte for byte; empty for a pack without.
    pub dna: Vec<u8>,
    /// Further manifest fields, after those of the format.
    pub manifest: Map<String, Value>,
}

impl fmt::Debug for PackParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackParts")
            .field("vertex_count", &self.neutral.len())
            .field("joint_count", &self.joint_parents.len())
            .field("target_count", &self.targets.len())
            .field("delta_count", &self.deltas.len())
            .field("manifest", &self.manifest)
            .finish_non_exhaustive()
    }
}

impl OrlPack {
    /// A pack of these parts: written as a container, and read back through the checks that a file passes.
    ///
    /// The same parts give the same bytes.
    ///
    /// # Errors
    /// `Value` for a scale that is not finite and for further manifest fields that the format defines itself, otherwise what [`Container::build`] and [`OrlPack::read`] refuse.
    pub fn build(parts: &PackParts) -> Result<OrlPack, LoadError> {
        // JSON has no word for such a number, and a scale left out means 0.
        if let Some(i) = parts.targets.iter().position(|t| !t.scale.is_finite()) {
            let found = format!("{} at target {i}", parts.targets[i].scale);
            return Err(error(LoadErrorKind::Value, MEMBERS[1], "finite scales", found));
        }
        let data = [
            manifest_text(parts)?.into_bytes(),
            targets_text(&parts.targets).into_bytes(),
            parts.dna.clone(),
            bytes(parts.neutral.as_flattened(), |x| x.to_le_bytes()),
            bytes(parts.joint_neutral.as_flattened(), |x| x.to_le_bytes()),
            bytes(&parts.joint_parents, |&p| i32::from(p).to_le_bytes()),
            bytes(parts.inverse_bind.as_flattened(), |x| x.to_le_bytes()),
            bytes(&parts.skin_joints, |x| x.to_le_bytes()),
            bytes(&parts.skin_weights, |x| x.to_le_bytes()),
            bytes(&parts.delta_vertices, |x| x.to_le_bytes()),
            bytemuck::cast_slice(&parts.deltas).to_vec(),
            bytes(parts.triangles.as_flattened(), |x| x.to_le_bytes()),
        ];
        let file = Container::build(MEMBERS.into_iter().zip(data.iter().map(Vec::as_slice)))?;
        OrlPack::read(file.into_bytes())
    }
}

fn manifest_text(parts: &PackParts) -> Result<String, LoadError> {
    let fields = [
        ("V", json!(parts.neutral.len())),
        ("numJoints", json!(parts.joint_parents.len())),
        ("maxInfluence", json!(parts.lanes)),
        ("numBlendShapeChannels", json!(parts.channel_count)),
        ("numBlendShapeTargets", json!(parts.targets.len())),
        ("jointNames", json!(parts.joint_names)),
    ];
    if let Some((key, _)) = fields.iter().find(|(key, _)| parts.manifest.contains_key(*key)) {
        let found = format!("\"{key}\", which the pack sets itself");
        return Err(error(LoadErrorKind::Value, MEMBERS[0], "further fields of other names", found));
    }
    let further = parts.manifest.iter().map(|(key, value)| (key.as_str(), value));
    let all = fields.iter().map(|(key, value)| (*key, value)).chain(further);
    let texts: Vec<String> = all.map(|(key, value)| format!("{}:{value}", Value::from(key))).collect();
    Ok(format!("{{{}}}", texts.join(",")))
}

fn targets_text(targets: &[PackTarget]) -> String {
    let entry = |t: &PackTarget| {
        // As f64, the digits name exactly one f32 whatever a reader rounds through.
        let scale = Value::from(f64::from(t.scale));
        format!(r#"{{"channel":{},"offset":{},"count":{},"scale":{scale}}}"#, t.channel, t.offset, t.count)
    };
    format!("[{}]", targets.iter().map(entry).collect::<Vec<_>>().join(","))
}

fn bytes<T, const N: usize>(values: &[T], encode: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(encode).collect()
}
