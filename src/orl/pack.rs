//! The ORL pack: one mesh of a MetaHuman rig, its deltas in int8, with the DNA that drives it inside.
//!
//! Everything is in centimetres and degrees, whatever the DNA's units are.

mod members;
mod parts;

use super::container::Container;
use super::dna::Dna;
use crate::error::{LoadError, LoadErrorKind};
use crate::lbs::Influences;
use glam::DAffine3;
use members::Members;
use std::fmt;

pub use parts::PackParts;

/// The members in the order that they are written in.
pub const MEMBERS: [&str; 12] = [
    "manifest.json",
    "bs_targets.json",
    "head_behavior.dna",
    "neutral_pos.bin",
    "joint_neutral.bin",
    "joint_parents.bin",
    "inverse_bind.bin",
    "skin_idx.bin",
    "skin_w.bin",
    "bs_index.bin",
    "bs_delta.bin",
    "mesh_idx.bin",
];

/// A run of deltas that one channel scales: `delta[i] = q[i] * scale`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PackTarget {
    /// The blend shape channel whose weight scales it.
    pub channel: usize,
    /// Its first delta.
    pub offset: usize,
    /// How many deltas.
    pub count: usize,
    /// What a stored component is multiplied by, centimetres; 0 for a target without effect.
    pub scale: f32,
}

/// One baked mesh of a rig.
///
/// Two packs are equal when their bytes are.
#[derive(Clone)]
pub struct OrlPack {
    file: Container,
    channel_count: usize,
    lanes: usize,
    neutral: Vec<[f32; 3]>,
    joint_names: Option<Vec<String>>,
    joint_neutral: Vec<[f32; 9]>,
    parents: Vec<Option<usize>>,
    bind_from_world: Vec<DAffine3>,
    influences: Influences,
    targets: Vec<PackTarget>,
    delta_vertices: Vec<u16>,
    triangles: Option<Vec<[u32; 3]>>,
    dna: Option<Dna>,
}

impl PartialEq for OrlPack {
    fn eq(&self, other: &OrlPack) -> bool {
        self.file == other.file
    }
}

impl fmt::Debug for OrlPack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrlPack")
            .field("vertex_count", &self.neutral.len())
            .field("joint_count", &self.parents.len())
            .field("channel_count", &self.channel_count)
            .field("target_count", &self.targets.len())
            .field("delta_count", &self.delta_vertices.len())
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl OrlPack {
    /// Reads and checks an `ORLPACK1`.
    ///
    /// Members and manifest fields that are not known here are kept for [`OrlPack::write`] and otherwise ignored.
    ///
    /// # Errors
    /// What [`Container::read`] refuses, and what [`Dna::read`] refuses of the DNA inside; `Missing` for an absent member or manifest field,
    /// `Corrupt` for text that is not JSON, `Type`, `Shape` and `Value` for what contradicts the rest: lengths, index ranges, joints before
    /// their parents, targets that do not tile the deltas, numbers that are not finite, a DNA of other joints or channels.
    pub fn read(bytes: Vec<u8>) -> Result<OrlPack, LoadError> {
        let file = Container::read(bytes)?;
        let members = Members(&file);
        let manifest = members.manifest()?;
        let (v, j, k) = (manifest.vertex_count, manifest.joint_count, manifest.lanes);

        let neutral: Vec<[f32; 3]> = members.floats("neutral_pos.bin", v)?;
        let joint_neutral: Vec<[f32; 9]> = members.floats("joint_neutral.bin", j)?;
        let parents = members.parents(j)?;
        let bind_from_world = members.bind_from_world(j)?;
        let influences = members.influences(v, k, j)?;
        let delta_vertices = members.delta_vertices(v)?;
        let targets = members.targets(&manifest, delta_vertices.len())?;
        let triangles = members.triangles(v);
        let dna = members.dna(&manifest, &parents)?;
        Ok(OrlPack {
            channel_count: manifest.channel_count,
            lanes: k,
            neutral,
            joint_names: manifest.joint_names,
            joint_neutral,
            parents,
            bind_from_world,
            influences,
            targets,
            delta_vertices,
            triangles,
            dna,
            file,
        })
    }

    /// The pack as bytes; what was read comes back byte for byte.
    ///
    /// Only spacing that the format allows and no writer of it makes is not kept: see [`Container::write`].
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        self.file.write()
    }

    /// The container: names and bytes of the members, unknown ones included.
    #[must_use]
    pub fn file(&self) -> &Container {
        &self.file
    }

    /// The manifest as JSON text, with whatever a baker wrote into it.
    #[must_use]
    pub fn manifest(&self) -> &str {
        self.file.member(MEMBERS[0]).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// The name of the mesh and the level of detail that it was baked for, as `rigeval bake` notes them; "mesh" and 0 in packs of others.
    ///
    /// # Errors
    /// `Type` for a name that is no text, a level that is no whole number.
    pub fn origin(&self) -> Result<(String, usize), LoadError> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Origin {
            mesh_name: Option<String>,
            lod: Option<usize>,
        }
        let origin: Origin = serde_json::from_str(self.manifest())
            .map_err(|e| error(LoadErrorKind::Type, MEMBERS[0], "meshName as a text, lod as a whole number", e))?;
        Ok((origin.mesh_name.unwrap_or_else(|| "mesh".into()), origin.lod.unwrap_or(0)))
    }

    /// V.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.neutral.len()
    }

    /// J.
    #[must_use]
    pub fn joint_count(&self) -> usize {
        self.parents.len()
    }

    /// Blend shape channels of the rig; those without a target do nothing to this mesh.
    #[must_use]
    pub fn channel_count(&self) -> usize {
        self.channel_count
    }

    /// K: the influences that a vertex has room for in the file.
    #[must_use]
    pub fn max_influence(&self) -> usize {
        self.lanes
    }

    /// (V, 3), centimetres.
    #[must_use]
    pub fn neutral(&self) -> &[[f32; 3]] {
        &self.neutral
    }

    /// Names of the joints, (J): the manifest's, otherwise the DNA's, where the pack has either.
    #[must_use]
    pub fn joint_names(&self) -> Option<&[String]> {
        let of_dna = || self.dna.as_ref().map(|dna| &dna.definition.joint_names);
        self.joint_names.as_ref().or_else(of_dna).map(Vec::as_slice)
    }

    /// Each joint's neutral in its parent: translation in centimetres, Euler angles in degrees (about x first, then y, then z), and a scale
    /// that nothing reads, (J, 9).
    #[must_use]
    pub fn joint_neutral(&self) -> &[[f32; 9]] {
        &self.joint_neutral
    }

    /// Each joint's parent, an earlier joint; none for a root, (J).
    #[must_use]
    pub fn parents(&self) -> &[Option<usize>] {
        &self.parents
    }

    /// The inverse of each joint's neutral world transform, (J).
    #[must_use]
    pub fn bind_from_world(&self) -> &[DAffine3] {
        &self.bind_from_world
    }

    /// The influences with their weights as stored; they need not sum to one.
    #[must_use]
    pub fn influences(&self) -> &Influences {
        &self.influences
    }

    /// The runs that the deltas fall into, in order; they tile them.
    #[must_use]
    pub fn targets(&self) -> &[PackTarget] {
        &self.targets
    }

    /// The vertex that each delta moves, (D).
    #[must_use]
    pub fn delta_vertices(&self) -> &[u16] {
        &self.delta_vertices
    }

    /// The deltas as stored, without their target's scale, (D, 3).
    #[must_use]
    pub fn deltas(&self) -> &[[i8; 3]] {
        let bytes = self.file.member("bs_delta.bin").unwrap_or_default();
        bytemuck::cast_slice(bytes.as_chunks::<3>().0)
    }

    /// (T, 3), where the pack has triangles of whole u32.
    #[must_use]
    pub fn triangles(&self) -> Option<&[[u32; 3]]> {
        self.triangles.as_deref()
    }

    /// The rig that drives the pack, where it is inside.
    #[must_use]
    pub fn dna(&self) -> Option<&Dna> {
        self.dna.as_ref()
    }
}

/// The message about a member.
fn error(kind: LoadErrorKind, member: &str, expected: impl fmt::Display, found: impl fmt::Display) -> LoadError {
    LoadError::new(kind, format!("member \"{member}\""), expected, found)
}
