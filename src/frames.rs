//! Reference frames: a folder with `frames.json` beside `.npy` files that says which rig, which inputs, and what another program computed.
//!
//! A comparison names both of its sources and refuses equal ones: comparing a result with itself cannot fail.

use crate::error::{LoadError, LoadErrorKind};
use crate::files::{self, Files};
use crate::npy::{self, Array};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fmt;

mod compare;

pub use compare::{CompareError, Comparison, Rounding, Side, Worst, compare, compare_rounded};

/// The name of the manifest in a frames folder.
pub const MANIFEST: &str = "frames.json";

const VERSION: u32 = 1;
const MANIFEST_LIMIT_BYTES: u64 = 1 << 20;

/// What `frames.json` says. Every file name in it is an inner path of the folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// 1.
    pub version: u32,
    /// The name of the rig's file, for people; the rig itself is found by the caller.
    pub rig: String,
    /// SHA-256 of the rig's bytes, lower-case hex.
    pub rig_sha256: String,
    /// `gnm`, `orl` or `gltf`.
    pub kind: String,
    /// `m` or `cm`.
    pub units: String,
    /// Up to where the vertices were computed.
    pub stage: Stage,
    /// Which mesh, for a rig with several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<usize>,
    /// Which level of detail, for a rig with several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lod: Option<usize>,
    /// What drove the rig.
    pub inputs: InputFiles,
    /// The expected positions, (F, V, 3), or (F, V', 3) with `vertex_ids`.
    pub vertices: String,
    /// Which vertices of the rig `vertices` holds, (V').
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vertex_ids: Option<String>,
    /// The program that computed `vertices`.
    pub oracle: Oracle,
    /// How far off is right.
    pub tolerance: Tolerance,
}

/// Up to where the vertices were computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Expression and gaze, before skinning.
    Forward,
    /// Skinned, in the rig's own space.
    Pose,
    /// World space: a model with its own joints, or a glTF scene.
    World,
}

/// The files that hold the inputs; each array's first dimension is F.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InputFiles {
    /// Control vectors, (F, C).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controls: Option<String>,
    /// Raw controls of an ORL rig, (F, C).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// Joint overrides, JSON: see [`Overrides`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overrides: Option<String>,
    /// The clip that `times` index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<Clip>,
    /// Seconds, (F).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<String>,
    /// (F, I).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// (F, E).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// Axis-angle in radians, (F, J, 3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotations: Option<String>,
    /// (F, 3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translation: Option<String>,
}

impl InputFiles {
    /// The arrays that are named, by input.
    fn arrays(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("controls", &self.controls),
            ("raw", &self.raw),
            ("times", &self.times),
            ("identity", &self.identity),
            ("expression", &self.expression),
            ("rotations", &self.rotations),
            ("translation", &self.translation),
        ];
        all.into_iter().filter_map(|(name, file)| Some((name, file.as_deref()?)))
    }
}

/// An animation clip, by name or by index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Clip {
    /// Its place in the file.
    Index(usize),
    /// Its name.
    Name(String),
}

/// The program that computed the expected vertices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Oracle {
    /// Its name, with the code path where it has several.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// An error passes when it is at most `abs + rel * max |reference|` over its frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// In the rig's unit.
    pub abs: f64,
    /// Without unit.
    #[serde(default)]
    pub rel: f64,
}

/// A frames folder, read and checked as far as that goes without its rig.
#[derive(Debug, Clone, PartialEq)]
pub struct Frames {
    /// What `frames.json` says.
    pub manifest: Manifest,
    /// The input arrays by input name; the first dimension of each is F.
    pub inputs: Vec<(&'static str, Array)>,
    /// The joint overrides.
    pub overrides: Option<Overrides>,
    /// The expected positions, (F, V', 3).
    pub vertices: Vec<f64>,
    /// F.
    pub frame_count: usize,
    /// V', vertices of one frame here.
    pub vertex_count: usize,
    /// The rig's index of each of them; all of the rig's vertices in order without it.
    pub vertex_ids: Option<Vec<u32>>,
}

impl Frames {
    /// Reads a frames folder.
    ///
    /// # Errors
    /// See [`LoadError`]; a path that leaves the folder is `Io`, a NaN among the expected vertices is `Value`.
    pub fn read(files: &Files) -> Result<Frames, LoadError> {
        let bytes = files.read(MANIFEST, MANIFEST_LIMIT_BYTES)?;
        let manifest = parse_manifest(&bytes).map_err(|e| e.in_file(MANIFEST))?;
        let array = |path: &str| {
            files.read(path, files::MAX_FILE_BYTES).and_then(|b| npy::read(&b)).map_err(|e| e.in_file(path))
        };
        let file = manifest.vertices.as_str();
        let vertices = array(file)?;
        let [frame_count, vertex_count, 3] = vertices.shape[..] else {
            return Err(shape("vertices", "(F, V, 3)", &vertices.shape).in_file(file));
        };
        let vertices = vertices.into_f64().map_err(|e| e.in_file(file))?;
        if let Some(index) = vertices.iter().position(|x| !x.is_finite()) {
            let what = format!("vertices[{}, {}]", index / 3 / vertex_count, index / 3 % vertex_count);
            return Err(LoadError::new(LoadErrorKind::Value, what, "a finite number", vertices[index]).in_file(file));
        }
        let mut inputs = Vec::new();
        for (name, file) in manifest.inputs.arrays() {
            let input = array(file)?;
            if input.shape.first() != Some(&frame_count) {
                return Err(shape(name, format!("{frame_count} frames, as in vertices"), &input.shape).in_file(file));
            }
            inputs.push((name, input));
        }
        let overrides = match &manifest.inputs.overrides {
            Some(file) => {
                let overrides = Overrides::parse(&files.read(file, files::MAX_FILE_BYTES)?);
                let overrides = overrides.and_then(|o| o.check_frames(frame_count).map(|()| o));
                Some(overrides.map_err(|e| e.in_file(file))?)
            }
            None => None,
        };
        let vertex_ids = match &manifest.vertex_ids {
            Some(file) => Some(array(file).and_then(|a| read_ids(a, vertex_count)).map_err(|e| e.in_file(file))?),
            None => None,
        };
        Ok(Frames { manifest, inputs, overrides, vertices, frame_count, vertex_count, vertex_ids })
    }

    /// One input array.
    #[must_use]
    pub fn input(&self, name: &str) -> Option<&Array> {
        self.inputs.iter().find(|(n, _)| *n == name).map(|(_, array)| array)
    }

    /// Whether these are the frames of the rig with these bytes.
    ///
    /// # Errors
    /// `Corrupt`, with both hashes.
    pub fn check_rig(&self, rig: &[u8]) -> Result<(), LoadError> {
        let found = sha256_hex(rig);
        if self.manifest.rig_sha256.eq_ignore_ascii_case(&found) {
            return Ok(());
        }
        let expected = format!("the rig {} with SHA-256 {}", self.manifest.rig, self.manifest.rig_sha256);
        Err(LoadError::new(LoadErrorKind::Corrupt, "rig_sha256", expected, found).in_file(MANIFEST))
    }
}

fn parse_manifest(bytes: &[u8]) -> Result<Manifest, LoadError> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let json = |e: serde_json::Error| LoadError::new(LoadErrorKind::Format, "", "a frames manifest", e);
    let Version { version } = serde_json::from_slice(bytes).map_err(json)?;
    if version != VERSION {
        return Err(LoadError::new(LoadErrorKind::Version, "version", VERSION, version));
    }
    let manifest: Manifest = serde_json::from_slice(bytes).map_err(json)?;
    let one_of = |field: &str, value: &str, allowed: &[&str]| match allowed.contains(&value) {
        true => Ok(()),
        false => Err(LoadError::new(LoadErrorKind::Value, field, allowed.join(" or "), format!("\"{value}\""))),
    };
    one_of("kind", &manifest.kind, &["gnm", "orl", "gltf"])?;
    one_of("units", &manifest.units, &["m", "cm"])?;
    let hash = &manifest.rig_sha256;
    if hash.len() != 64 || !hash.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(LoadError::new(LoadErrorKind::Value, "rig_sha256", "64 hex digits", format!("\"{hash}\"")));
    }
    let Tolerance { abs, rel } = manifest.tolerance;
    if !(abs >= 0.0 && rel >= 0.0 && abs.is_finite() && rel.is_finite()) {
        let found = format!("abs {abs}, rel {rel}");
        return Err(LoadError::new(LoadErrorKind::Value, "tolerance", "two numbers from 0 up", found));
    }
    Ok(manifest)
}

fn read_ids(array: Array, vertex_count: usize) -> Result<Vec<u32>, LoadError> {
    if array.shape != [vertex_count] {
        return Err(shape("vertex_ids", format!("({vertex_count}), one for each vertex"), &array.shape));
    }
    array.into_u32().map_err(|e| e.within("vertex_ids"))
}

fn shape(field: &str, expected: impl fmt::Display, found: &[usize]) -> LoadError {
    LoadError::new(LoadErrorKind::Shape, field, expected, format!("shape {found:?}"))
}

/// SHA-256 as lower-case hex.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Joint overrides as JSON: joint name -> `[w, x, y, z]`, applied to every frame, or a list of F of them, one for each.
#[derive(Debug, Clone, PartialEq)]
pub struct Overrides(Vec<(String, Turns)>);

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, expecting = "something else")]
enum Turns {
    All([f64; 4]),
    Each(Vec<[f64; 4]>),
}

impl Overrides {
    /// Reads the JSON object.
    ///
    /// # Errors
    /// `Format` for anything but an object of quaternions, `Corrupt` for a joint named twice.
    pub fn parse(bytes: &[u8]) -> Result<Overrides, LoadError> {
        let Overrides(entries) = serde_json::from_slice(bytes).map_err(|e| {
            LoadError::new(LoadErrorKind::Format, "overrides", "an object, joint name -> [w, x, y, z]", e)
        })?;
        let mut seen = HashSet::new();
        for (joint, _) in &entries {
            if !seen.insert(joint) {
                let field = format!("joint \"{joint}\"");
                return Err(LoadError::new(LoadErrorKind::Corrupt, field, "at most one entry", "two"));
            }
        }
        Ok(Overrides(entries))
    }

    /// Whether every list has one quaternion for each frame.
    ///
    /// # Errors
    /// `Shape`, naming the joint.
    pub fn check_frames(&self, frame_count: usize) -> Result<(), LoadError> {
        for (joint, turns) in &self.0 {
            if let Turns::Each(list) = turns
                && list.len() != frame_count
            {
                let expected = format!("{frame_count} quaternions, one for each frame");
                return Err(LoadError::new(LoadErrorKind::Shape, format!("joint \"{joint}\""), expected, list.len()));
            }
        }
        Ok(())
    }

    /// Those of one frame, for every frame.
    ///
    /// # Panics
    /// As [`Overrides::frame`].
    #[must_use]
    pub fn at(&self, frame: usize) -> Overrides {
        Overrides(self.frame(frame).into_iter().map(|(joint, q)| (joint.to_string(), Turns::All(q))).collect())
    }

    /// The joints, in file order.
    pub fn joints(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(joint, _)| joint.as_str())
    }

    /// Each joint with its rotation w, x, y, z in one frame.
    ///
    /// # Panics
    /// For a frame past the end of a list: [`Overrides::check_frames`] comes first.
    #[must_use]
    pub fn frame(&self, frame: usize) -> Vec<(&str, [f64; 4])> {
        let turn = |turns: &Turns| match turns {
            Turns::All(q) => *q,
            Turns::Each(list) => list[frame],
        };
        self.0.iter().map(|(joint, turns)| (joint.as_str(), turn(turns))).collect()
    }
}

/// A map in file order; serde's own maps would keep the last of two equal names without a word.
impl<'de> Deserialize<'de> for Overrides {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Overrides;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object, joint name -> [w, x, y, z]")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Overrides, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Overrides(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}
