//! The checked arrays of a `gnm_head.npz`.

use super::GnmModel;
use crate::error::{LoadError, LoadErrorKind, one_line};
use crate::npy::{Header, Npz};
use bytemuck::Pod;
use std::collections::{BTreeMap, HashSet};

pub(in crate::gnm) const VERSION: &str = "3.0";
pub(in crate::gnm) const VARIANT: &str = "head";

/// The 23 arrays, in the order that the original program writes them.
pub(super) const KEYS: [&str; 23] = [
    "version",
    "variant",
    "template_vertex_positions",
    "template_joint_positions",
    "vertex_identity_basis",
    "joint_identity_basis",
    "expression_basis",
    "identity_names",
    "joint_names",
    "expression_names",
    "joint_parent_indices",
    "skinning_weights",
    "quads",
    "triangles",
    "quad_uvs",
    "triangle_uvs",
    "mesh_component_names",
    "mirror_indices",
    "joint_regressor",
    "pose_correctives_regressor",
    "bone_aligned_template_joint_orientations",
    "vertex_groups",
    "vertex_group_names",
];

impl GnmModel {
    /// Reads `gnm_head.npz`: version 3.0, variant `head`, 23 arrays. Sizes come from the arrays, which must agree with one another before any
    /// large one is inflated; floats of any width become f32. Extra arrays are ignored with a warning.
    ///
    /// # Errors
    /// `Format` and `Truncated` for what is no npz, `Missing`, `Version`, `Shape`, `Type`, `Value` for a parent, index or number out of range,
    /// `Corrupt` for a checksum that does not match.
    pub fn read(bytes: &[u8]) -> Result<GnmModel, LoadError> {
        let npz = Npz::open(bytes)?;
        expect_text(&npz, "version", VERSION)?;
        expect_text(&npz, "variant", VARIANT)?;
        let fields = Fields::check(&npz, inflation_limit(bytes.len()))?;
        let extra: Vec<&str> = npz.names().filter(|name| !KEYS.contains(name)).collect();
        if !extra.is_empty() {
            log::warn!("ignored arrays that a GNM Head {VERSION} model does not have: {}", one_line(extra.join(", ")));
        }
        let vertices = fields.vertices;
        // The two bases are nearly the whole file; each takes a core.
        let (identity_basis, expression_basis) =
            rayon::join(|| fields.floats("vertex_identity_basis"), || fields.floats("expression_basis"));
        let mut pose_correctives = fields.floats("pose_correctives_regressor")?;
        if pose_correctives.iter().all(|&x| x == 0.0) {
            pose_correctives = Vec::new();
        }
        Ok(GnmModel {
            template: fields.rows("template_vertex_positions")?,
            template_joints: fields.rows("template_joint_positions")?,
            identity_basis: identity_basis?,
            joint_identity_basis: fields.floats("joint_identity_basis")?,
            expression_basis: expression_basis?,
            identity_names: fields.names("identity_names")?,
            joint_names: unique("joint_names", fields.names("joint_names")?)?,
            expression_names: fields.names("expression_names")?,
            joint_parents: parents(&fields.integers("joint_parent_indices")?)?,
            skinning_weights: fields.floats("skinning_weights")?,
            quads: rows(&fields.indices("quads", vertices)?),
            triangles: rows(&fields.indices("triangles", vertices)?),
            quad_uvs: fields.rows("quad_uvs")?,
            triangle_uvs: fields.rows("triangle_uvs")?,
            mesh_component_names: fields.names("mesh_component_names")?,
            mirror_indices: fields.indices("mirror_indices", vertices)?,
            joint_regressor: fields.floats("joint_regressor")?,
            pose_correctives,
            joint_orientations: fields.rows("bone_aligned_template_joint_orientations")?,
            vertex_groups: fields.floats("vertex_groups")?,
            vertex_group_names: fields.names("vertex_group_names")?,
        })
    }
}

/// Joints are looked up by name.
fn unique(key: &str, names: Vec<String>) -> Result<Vec<String>, LoadError> {
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) => Err(LoadError::new(LoadErrorKind::Corrupt, key, "each name once", format!("\"{name}\" twice"))),
        None => Ok(names),
    }
}

/// What a file of so many bytes may inflate to. Deflate reaches 1000 to 1 on zeros; a real model, correctives of zero included, stays under 10.
fn inflation_limit(file_bytes: usize) -> u64 {
    (file_bytes as u64).saturating_mul(256).max(64 << 20)
}

/// An npz whose 23 arrays are there and agree in shape.
struct Fields<'a> {
    npz: &'a Npz<'a>,
    vertices: usize,
}

impl<'a> Fields<'a> {
    fn check(npz: &'a Npz<'a>, limit_bytes: u64) -> Result<Self, LoadError> {
        let mut headers = BTreeMap::new();
        for key in KEYS {
            headers.insert(key, npz.header(key)?);
        }
        let size = |key: &str| headers[key].shape().first().copied().unwrap_or(0);
        let (v, j) = (size("template_vertex_positions"), size("template_joint_positions"));
        let (i, e) = (size("vertex_identity_basis"), size("expression_basis"));
        let (q, g) = (size("quads"), size("vertex_groups"));
        for (key, count) in [("template_vertex_positions", v), ("template_joint_positions", j), ("expression_basis", e)]
        {
            if count == 0 {
                let found = format!("shape {:?}", headers[key].shape());
                return Err(LoadError::new(LoadErrorKind::Shape, key, "at least one row", found));
            }
        }
        let expected: [(&str, &str, &[usize]); 21] = [
            ("template_vertex_positions", "V, 3", &[v, 3]),
            ("template_joint_positions", "J, 3", &[j, 3]),
            ("vertex_identity_basis", "I, V, 3", &[i, v, 3]),
            ("joint_identity_basis", "I, J, 3", &[i, j, 3]),
            ("expression_basis", "E, V, 3", &[e, v, 3]),
            ("identity_names", "I", &[i]),
            ("joint_names", "J", &[j]),
            ("expression_names", "E", &[e]),
            ("joint_parent_indices", "J", &[j]),
            ("skinning_weights", "J, V", &[j, v]),
            ("quads", "Q, 4", &[q, 4]),
            ("triangles", "2 Q, 3", &[q.saturating_mul(2), 3]),
            ("quad_uvs", "Q, 4, 2", &[q, 4, 2]),
            ("triangle_uvs", "2 Q, 3, 2", &[q.saturating_mul(2), 3, 2]),
            ("mesh_component_names", "components", &[size("mesh_component_names")]),
            ("mirror_indices", "V", &[v]),
            ("joint_regressor", "J, V", &[j, v]),
            ("pose_correctives_regressor", "9 J, 3 V", &[j.saturating_mul(9), v.saturating_mul(3)]),
            ("bone_aligned_template_joint_orientations", "J, 3, 3", &[j, 3, 3]),
            ("vertex_groups", "groups, V", &[g, v]),
            ("vertex_group_names", "groups", &[g]),
        ];
        for (key, letters, shape) in expected {
            expect_shape(key, letters, shape, &headers[key])?;
        }
        let total: u64 = headers.values().map(|h| h.byte_count() as u64).fold(0, u64::saturating_add);
        if total > limit_bytes {
            let expected = format!("arrays of at most {limit_bytes} bytes in a file of this size");
            return Err(LoadError::new(LoadErrorKind::Shape, "arrays", expected, total));
        }
        Ok(Fields { npz, vertices: v })
    }

    fn floats(&self, key: &str) -> Result<Vec<f32>, LoadError> {
        let values = self.npz.read_f32(key)?;
        finite(key, &values)?;
        Ok(values)
    }

    fn rows<T: Pod>(&self, key: &str) -> Result<Vec<T>, LoadError> {
        Ok(rows(&self.floats(key)?))
    }

    fn names(&self, key: &str) -> Result<Vec<String>, LoadError> {
        self.npz.read(key)?.into_text().map_err(|e| e.within(key))
    }

    fn integers(&self, key: &str) -> Result<Vec<i64>, LoadError> {
        self.npz.read(key)?.into_i64().map_err(|e| e.within(key))
    }

    fn indices(&self, key: &str, limit: usize) -> Result<Vec<u32>, LoadError> {
        let index = |(at, x): (usize, i64)| match u32::try_from(x) {
            Ok(index) if (index as usize) < limit => Ok(index),
            _ => {
                Err(LoadError::new(LoadErrorKind::Value, format!("{key}[{at}]"), format!("an index below {limit}"), x))
            }
        };
        self.integers(key)?.into_iter().enumerate().map(index).collect()
    }
}

/// Checks that all numbers are finite, and names the first that is not.
pub(in crate::gnm) fn finite(field: &str, values: &[f32]) -> Result<(), LoadError> {
    match values.iter().position(|x| !x.is_finite()) {
        Some(at) => Err(LoadError::new(LoadErrorKind::Value, format!("{field}[{at}]"), "a finite number", values[at])),
        None => Ok(()),
    }
}

/// Cuts flat values into rows; the caller has checked the shape.
pub(in crate::gnm) fn rows<A: Pod, T: Pod>(flat: &[A]) -> Vec<T> {
    bytemuck::cast_slice(flat).to_vec()
}

/// The parents of the joints: a root points at itself or at -1, every other joint at one before it.
pub(in crate::gnm) fn parents(indices: &[i64]) -> Result<Vec<Option<usize>>, LoadError> {
    let parent = |(joint, &p): (usize, &i64)| match usize::try_from(p) {
        Ok(p) if p < joint => Ok(Some(p)),
        Ok(p) if p == joint => Ok(None),
        Err(_) if p == -1 => Ok(None),
        _ => {
            let expected = format!("a parent below {joint}, or {joint} or -1 for a root");
            Err(LoadError::new(LoadErrorKind::Value, format!("joint_parent_indices[{joint}]"), expected, p))
        }
    };
    indices.iter().enumerate().map(parent).collect()
}

pub(in crate::gnm) fn expect_shape(key: &str, letters: &str, shape: &[usize], found: &Header) -> Result<(), LoadError> {
    if found.shape() == shape {
        return Ok(());
    }
    let expected = format!("shape {shape:?} ({letters})");
    Err(LoadError::new(LoadErrorKind::Shape, key, expected, format!("shape {:?}", found.shape())))
}

fn expect_text(npz: &Npz, key: &str, expected: &str) -> Result<(), LoadError> {
    let header = npz.header(key)?;
    expect_shape(key, "a scalar", &[], &header)?;
    let found = npz.read(key)?.into_text().map_err(|e| e.within(key))?.remove(0);
    if found == expected {
        return Ok(());
    }
    Err(LoadError::new(LoadErrorKind::Version, key, format!("\"{expected}\""), format!("\"{found}\"")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gnm::model::tests::small_model;
    use crate::npy::Packing;

    #[test]
    fn arrays_beyond_the_limit_are_refused_before_they_are_inflated() {
        let bytes = small_model().write(Packing::Deflated);
        let npz = Npz::open(&bytes).unwrap();
        assert!(Fields::check(&npz, inflation_limit(bytes.len())).is_ok());
        let error = Fields::check(&npz, 1000).err().expect("more than 1000 bytes");
        assert!(error.to_string().contains("at most 1000 bytes"), "{error}");
    }

    #[test]
    fn inflation_limit_has_a_floor_and_grows_with_the_file() {
        assert_eq!(inflation_limit(0), 64 << 20);
        assert_eq!(inflation_limit(1 << 20), 256 << 20);
        assert_eq!(inflation_limit(usize::MAX), u64::MAX);
    }
}
