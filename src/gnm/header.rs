//! What the header of an `.aosrig` says, checked against itself.

use super::aosrig::{Object, parse_object};
use super::pack::{HeadExt, Region};
use crate::error::{LoadError, LoadErrorKind};
use crate::info::Units;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

const GAZE_DIM: usize = 4;

/// The header's fields that are read at run time.
pub(super) struct Header {
    pub vertex_count: usize,
    pub coefficient_count: usize,
    pub lanes: usize,
    pub units: Units,
    pub joint_names: Vec<String>,
    pub parents: Vec<Option<usize>>,
    /// Row-major.
    pub bind_transform: [f64; 16],
    pub head_ext: HeadExt,
}

impl Header {
    pub(super) fn read(header: &Object) -> Result<Header, LoadError> {
        let header = Fields { path: "", object: header };
        let units = match header.raw("units")?.get() {
            "\"m\"" => Units::Metres,
            "\"cm\"" => Units::Centimetres,
            other => return Err(header.error(LoadErrorKind::Value, "units", "\"m\" or \"cm\"", other)),
        };
        check_eyes(&header)?;
        let (joint_names, parents) = read_joints(&header)?;
        let coefficient_count = header.positive("coeffCount")?;
        Ok(Header {
            vertex_count: header.positive("vertexCount")?,
            coefficient_count,
            lanes: header.positive("maxInfluence")?,
            units,
            joint_names,
            parents,
            bind_transform: read_bind_transform(&header)?,
            head_ext: read_head_ext(&header, coefficient_count)?,
        })
    }
}

/// An object of the header and where in it that object stands.
pub(super) struct Fields<'a> {
    pub path: &'a str,
    pub object: &'a Object,
}

impl Fields<'_> {
    fn error(&self, kind: LoadErrorKind, key: &str, expected: &str, found: &str) -> LoadError {
        LoadError::new(kind, format!("{}{key}", self.path), expected, found)
    }

    pub(super) fn raw(&self, key: &str) -> Result<&RawValue, LoadError> {
        let missing = || self.error(LoadErrorKind::Missing, key, "this header field", "none");
        self.object.get(key).map(|raw| &**raw).ok_or_else(missing)
    }

    /// The field as a type; `expected` is the type in words.
    pub(super) fn get<T: DeserializeOwned>(&self, key: &str, expected: &str) -> Result<T, LoadError> {
        let raw = self.raw(key)?.get();
        serde_json::from_str(raw).map_err(|_| self.error(LoadErrorKind::Type, key, expected, raw))
    }

    pub(super) fn object(&self, key: &str) -> Result<Object, LoadError> {
        let raw = self.raw(key)?.get();
        parse_object(raw).map_err(|e| self.error(LoadErrorKind::Type, key, "an object", &format!("{e} in {raw}")))
    }

    fn positive(&self, key: &str) -> Result<usize, LoadError> {
        let expected = "a whole number above 0";
        match self.get(key, expected)? {
            0 => Err(self.error(LoadErrorKind::Value, key, expected, "0")),
            n => Ok(n),
        }
    }
}

fn check_eyes(header: &Fields) -> Result<(), LoadError> {
    let eyes = header.object("eyes")?;
    let eyes = Fields { path: "eyes.", object: &eyes };
    let names: Vec<String> = eyes.get("names", "a list of names")?;
    if names != ["left_eye", "right_eye"] {
        let expected = "[\"left_eye\", \"right_eye\"]";
        return Err(eyes.error(LoadErrorKind::Value, "names", expected, &format!("{names:?}")));
    }
    Ok(())
}

#[derive(serde::Deserialize)]
struct Joint {
    name: String,
    parent: i64,
}

fn read_joints(header: &Fields) -> Result<(Vec<String>, Vec<Option<usize>>), LoadError> {
    let raw: Vec<Box<RawValue>> = header.get("joints", "a list of joints")?;
    if raw.is_empty() {
        return Err(header.error(LoadErrorKind::Shape, "joints", "one joint or more", "none"));
    }
    let mut names = Vec::with_capacity(raw.len());
    let mut parents = Vec::with_capacity(raw.len());
    for (j, raw) in raw.iter().enumerate() {
        let field = format!("joints[{j}]");
        let joint: Joint = serde_json::from_str(raw.get())
            .map_err(|_| LoadError::new(LoadErrorKind::Type, &field, "{name: text, parent: whole number}", raw))?;
        parents.push(read_parent(j, joint.parent, &field)?);
        names.push(joint.name);
    }
    let mut seen = HashSet::new();
    match names.iter().find(|n| !seen.insert(n.as_str())) {
        Some(twice) => {
            Err(header.error(LoadErrorKind::Value, "joints", "names that differ", &format!("a duplicate \"{twice}\"")))
        }
        None => Ok((names, parents)),
    }
}

/// -1 is a root; every other parent comes before its child, so that worlds can be composed in one pass.
pub(super) fn read_parent(joint: usize, parent: i64, field: &str) -> Result<Option<usize>, LoadError> {
    match usize::try_from(parent) {
        Ok(p) if p < joint => Ok(Some(p)),
        _ if parent == -1 => Ok(None),
        _ => {
            let expected = format!("parent -1 or an earlier joint, below {joint}");
            Err(LoadError::new(LoadErrorKind::Value, field, expected, format!("parent {parent}")))
        }
    }
}

fn read_bind_transform(header: &Fields) -> Result<[f64; 16], LoadError> {
    const KEY: &str = "bindTransform";
    if !header.object.contains_key(KEY) {
        return Ok(glam::DMat4::IDENTITY.to_cols_array());
    }
    let expected = "16 finite numbers, row-major";
    let raw: Vec<Box<RawValue>> = header.get(KEY, expected)?;
    // Parsed from the text: serde_json's own floats may be off by a last bit.
    let numbers: Vec<f64> = raw.iter().filter_map(|n| n.get().parse().ok()).collect();
    let finite = |m: &[f64; 16]| m.iter().all(|&x| (x as f32).is_finite());
    let matrix = <[f64; 16]>::try_from(numbers).ok().filter(|m| raw.len() == 16 && finite(m));
    let matrix = matrix.ok_or_else(|| {
        let found = format!("{} of length {}", header.object[KEY], raw.len());
        header.error(LoadErrorKind::Value, KEY, expected, &found)
    })?;
    check_bottom_row(&matrix, KEY)?;
    Ok(matrix)
}

/// Refuses a projective matrix: an affine transform is all that a skin row holds. One step of f32 rounding passes.
pub(super) fn check_bottom_row(matrix: &[f64; 16], field: &str) -> Result<(), LoadError> {
    let row = &matrix[12..];
    if row.iter().zip([0.0, 0.0, 0.0, 1.0]).all(|(a, b)| (a - b).abs() <= 2e-7) {
        return Ok(());
    }
    Err(LoadError::new(LoadErrorKind::Value, field, "a bottom row of 0, 0, 0, 1", format!("{row:?}")))
}

fn read_head_ext(header: &Fields, coefficient_count: usize) -> Result<HeadExt, LoadError> {
    let object = header.object("headExt")?;
    let ext = Fields { path: "headExt.", object: &object };
    let whole = "a whole number";
    let expect = |key: &str, expected: usize, why: &str| match ext.get::<usize>(key, whole)? {
        n if n == expected => Ok(n),
        n => Err(ext.error(LoadErrorKind::Value, key, &format!("{expected}{why}"), &n.to_string())),
    };
    expect("gazeDim", GAZE_DIM, "")?;
    expect("exprDim", coefficient_count, " as coeffCount says")?;
    let dim = expect("dim", coefficient_count.saturating_add(GAZE_DIM), ", exprDim + gazeDim")?;

    let pairs: Vec<(String, usize)> = ext.get("regions", "a list of [name, count]")?;
    let regions: Vec<Region> = pairs.into_iter().map(|(name, count)| Region { name, count }).collect();
    let mut seen = HashSet::new();
    if let Some(twice) = regions.iter().find(|r| !seen.insert(r.name.as_str())) {
        let found = format!("a duplicate \"{}\"", twice.name);
        return Err(ext.error(LoadErrorKind::Value, "regions", "names that differ", &found));
    }
    let sum = regions.iter().fold(0usize, |n, r| n.saturating_add(r.count));
    if sum != coefficient_count {
        let expected = format!("counts that sum to exprDim {coefficient_count}");
        return Err(ext.error(LoadErrorKind::Value, "regions", &expected, &sum.to_string()));
    }
    let reduced = read_reduced(&ext, &regions)?;
    Ok(HeadExt { dim, regions, reduced })
}

fn read_reduced(ext: &Fields, regions: &[Region]) -> Result<Vec<Region>, LoadError> {
    if !ext.object.contains_key("reduced") {
        return Ok(Vec::new());
    }
    let object = ext.object("reduced")?;
    let reduced = Fields { path: "headExt.reduced.", object: &object };
    let mut counts: HashMap<&str, usize> = HashMap::with_capacity(object.len());
    for name in object.keys() {
        counts.insert(name, reduced.get(name, "a whole number")?);
    }
    let mut list = Vec::with_capacity(object.len());
    for region in regions {
        let Some(count) = counts.remove(region.name.as_str()) else { continue };
        if count > region.count {
            let expected = format!("at most the region's {} coefficients", region.count);
            return Err(reduced.error(LoadErrorKind::Value, &region.name, &expected, &count.to_string()));
        }
        list.push(Region { name: region.name.clone(), count });
    }
    match counts.keys().min() {
        Some(name) => Err(reduced.error(LoadErrorKind::Value, name, "a region of the pack", "none of that name")),
        None => Ok(list),
    }
}
