//! The runtime pack: one identity, ready to pose.

use super::aosrig::{Aosrig, DType};
use super::blobs::{Blobs, halves};
use super::header::{self, Fields, Header};
use crate::error::{LoadError, LoadErrorKind};
use crate::info::Units;
use crate::lbs::Influences;
use crate::math::{self, Aabb};
use crate::skeleton::{Local, Skeleton};
use glam::{DAffine3, DMat3};
use serde_json::value::RawValue;
use std::fmt;

pub use super::mouth::{Mouth, MouthGroup};
pub use super::parts::{PackJoint, PackParts};

/// A run of expression coefficients with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// `left_eye`, `right_eye`, `lower_face`, `tongue`, `pupils`.
    pub name: String,
    /// How many coefficients.
    pub count: usize,
}

/// The layout of a pack's control vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadExt {
    /// E + 4, controls.
    pub dim: usize,
    /// The runs of coefficients, in order; they tile 0..E.
    pub regions: Vec<Region>,
    /// How many coefficients of a region, from its first on, the reduced view keeps, in the order of the regions; empty where the file does
    /// not say.
    pub reduced: Vec<Region>,
}

/// How the basis entries are stored; an entry times its coefficient's scale is a displacement per unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BasisFormat {
    /// IEEE half floats.
    F16,
    /// Whole numbers -127..=127.
    I8,
}

/// One baked head.
///
/// Two packs are equal when their bytes are.
#[derive(Clone)]
pub struct GnmPack {
    file: Aosrig,
    vertex_count: usize,
    coefficient_count: usize,
    units: Units,
    head_ext: HeadExt,
    neutral: Vec<[f32; 3]>,
    seam: Option<Vec<[f32; 3]>>,
    basis_format: BasisFormat,
    basis_scale: Vec<f32>,
    eye_positions: [[f32; 3]; 2],
    eye_weights: Vec<f32>,
    skeleton: Skeleton,
    rest_locals: Vec<Local>,
    bind_transform: DAffine3,
    influences: Influences,
    faces: Vec<[u32; 3]>,
    quads: Option<Vec<[u32; 4]>>,
    uvs: Option<Vec<[f32; 2]>>,
    mouth: Option<Mouth>,
    rest_bounds: Aabb,
}

impl PartialEq for GnmPack {
    fn eq(&self, other: &GnmPack) -> bool {
        self.file == other.file
    }
}

impl fmt::Debug for GnmPack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GnmPack")
            .field("vertex_count", &self.vertex_count)
            .field("head_ext", &self.head_ext)
            .field("joints", &self.skeleton.names())
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl GnmPack {
    /// Reads and checks an `.aosrig`, version 1.
    ///
    /// Blobs and header fields that are not known here are kept for [`GnmPack::write`] and otherwise ignored.
    ///
    /// # Errors
    /// What [`Aosrig::read`] refuses; `Version` for another version or model, `Missing` for an absent field or blob, `Type`, `Shape` and `Value`
    /// for one that contradicts the rest: counts, index ranges, order of joints, weights that do not sum to one, numbers that are not finite.
    pub fn read(bytes: Vec<u8>) -> Result<GnmPack, LoadError> {
        let file = Aosrig::read(bytes)?;
        let header = Header::read(file.header())?;
        let blobs = Blobs(&file);
        let (v, e) = (header.vertex_count, header.coefficient_count);

        let neutral = blobs.points("neutral", v)?;
        let basis_format = check_basis(&blobs, v, e)?;
        let basis_scale = blobs.floats("basisScale", &[DType::F32], &[e])?;
        let eye_positions = blobs.points("eyePositions", 2)?;
        let eye_weights = blobs.floats("eyeWeights", &[DType::F32, DType::F16], &[2, v])?;
        check_weight_range("eyeWeights", &eye_weights)?;
        let influences = read_influences(&blobs, &header)?;
        let bind_transform = math::affine_from_row_major(&header.bind_transform);
        let (skeleton, rest_locals) = read_skeleton(&blobs, header.joint_names, header.parents, bind_transform)?;
        let optional = |name| file.blob(name).is_some().then_some(name);
        let faces = blobs.polygons("faces", v)?;
        let quads = optional("quads").map(|name| blobs.polygons(name, v)).transpose()?;
        let uvs = optional("uv").map(|name| blobs.floats(name, &[DType::F32, DType::F16], &[v, 2])).transpose()?;
        let seam = optional("stitchLocal").map(|name| blobs.points(name, v)).transpose()?;
        let mouth = Mouth::read(&Fields { path: "", object: file.header() }, &blobs, v)?;

        let mut pack = GnmPack {
            vertex_count: v,
            coefficient_count: e,
            units: header.units,
            head_ext: header.head_ext,
            neutral,
            seam,
            basis_format,
            basis_scale,
            eye_positions: [eye_positions[0], eye_positions[1]],
            eye_weights,
            skeleton,
            rest_locals,
            bind_transform,
            influences,
            faces,
            quads,
            uvs: uvs.map(|list| list.as_chunks().0.to_vec()),
            mouth,
            rest_bounds: Aabb::default(),
            file,
        };
        pack.rest_bounds =
            Aabb::of_points(pack.with_seam().map(|p| bind_transform.transform_point3(p).as_vec3().to_array()));
        pack.check_rest()?;
        Ok(pack)
    }

    /// Numbers that are finite in the file can still be too large to be multiplied, or a rest matrix too close to singular to be undone.
    fn check_rest(&self) -> Result<(), LoadError> {
        let bind = math::rows(&self.bind_transform);
        let allowed = 1e-3 * bind.as_flattened().iter().fold(1.0, |a: f32, b| a.max(b.abs()));
        let worlds = self.skeleton.worlds(&self.rest_locals, &Default::default());
        for (name, rows) in self.skeleton.names().iter().zip(self.skeleton.skin_rows(&worlds)) {
            let differences = rows.as_flattened().iter().zip(bind.as_flattened()).map(|(a, b)| (a - b).abs());
            if !differences.clone().all(|d| d <= allowed) {
                let field = format!("buffer \"restWorld\", joint \"{name}\"");
                let found = format!("an error of {:e}", differences.fold(0.0, f32::max));
                return Err(LoadError::new(LoadErrorKind::Value, field, "a matrix that its inverse undoes", found));
            }
        }
        let Aabb { min, max } = self.rest_bounds;
        if !min.iter().chain(&max).all(|x| x.is_finite()) {
            let expected = "a finite bindTransform * (neutral + stitchLocal)";
            let found = format!("bounds {min:?} to {max:?}");
            return Err(LoadError::new(LoadErrorKind::Value, "rest pose", expected, found));
        }
        Ok(())
    }

    /// The pack as bytes; what was read comes back byte for byte.
    ///
    /// Only spacing that the format allows and no writer of it makes is not kept: see [`Aosrig::write`].
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        self.file.write()
    }

    /// The container: header size, names, types and shapes of the blobs.
    #[must_use]
    pub fn file(&self) -> &Aosrig {
        &self.file
    }

    /// What the pack says about its origin, as JSON text; never interpreted.
    #[must_use]
    pub fn source(&self) -> Option<&RawValue> {
        self.file.header().get("source").map(|raw| &**raw)
    }

    /// V.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// E, expression coefficients; the controls are these and four gaze angles.
    #[must_use]
    pub fn coefficient_count(&self) -> usize {
        self.coefficient_count
    }

    /// The unit of every length in the pack.
    #[must_use]
    pub fn units(&self) -> Units {
        self.units
    }

    /// The layout of the control vector.
    #[must_use]
    pub fn head_ext(&self) -> &HeadExt {
        &self.head_ext
    }

    /// The runs that the coefficients fall into, in order; they tile 0..E.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.head_ext.regions
    }

    /// `left_eye_000` ... `pupils_000`, then `gaze_pitch_l`, `gaze_yaw_l`, `gaze_pitch_r`, `gaze_yaw_r`; (E + 4).
    #[must_use]
    pub fn control_names(&self) -> Vec<String> {
        let expression = self.regions().iter().flat_map(|r| (0..r.count).map(|i| format!("{}_{i:03}", r.name)));
        let gaze = ["gaze_pitch_l", "gaze_yaw_l", "gaze_pitch_r", "gaze_yaw_r"];
        expression.chain(gaze.map(String::from)).collect()
    }

    /// (V, 3), head-local.
    #[must_use]
    pub fn neutral(&self) -> &[[f32; 3]] {
        &self.neutral
    }

    /// `stitchLocal`: what is added after gaze and before skinning, (V, 3), head-local.
    #[must_use]
    pub fn seam(&self) -> Option<&[[f32; 3]]> {
        self.seam.as_deref()
    }

    /// How the basis is stored.
    #[must_use]
    pub fn basis_format(&self) -> BasisFormat {
        self.basis_format
    }

    /// The basis as stored, vertex-major (V, E, 3): little-endian halves or int8.
    #[must_use]
    pub fn basis_bytes(&self) -> &[u8] {
        let stored = self.file.blob("basis").map_or(&[][..], |blob| self.file.data(blob));
        // An odd number of halves is padded to whole words.
        &stored[..stored.len().min(self.vertex_count * self.coefficient_count * 3 * entry_bytes(self.basis_format))]
    }

    /// What a stored basis entry is multiplied by, (E).
    #[must_use]
    pub fn basis_scale(&self) -> &[f32] {
        &self.basis_scale
    }

    /// The centres that the left and the right eye turn about, head-local.
    #[must_use]
    pub fn eye_positions(&self) -> [[f32; 3]; 2] {
        self.eye_positions
    }

    /// How much each vertex follows the left and the right eye, (2, V).
    #[must_use]
    pub fn eye_weights(&self) -> [&[f32]; 2] {
        let (left, right) = self.eye_weights.split_at(self.vertex_count);
        [left, right]
    }

    /// The joints, with `inverse(restWorld) * bindTransform` in each.
    #[must_use]
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// Each joint's rest transform in its parent, (J).
    #[must_use]
    pub fn rest_locals(&self) -> &[Local] {
        &self.rest_locals
    }

    /// The transform from head-local to the space of the body's bind pose.
    #[must_use]
    pub fn bind_transform(&self) -> DAffine3 {
        self.bind_transform
    }

    /// The influences with their weights as stored.
    #[must_use]
    pub fn influences(&self) -> &Influences {
        &self.influences
    }

    /// (T, 3); empty in a lean pack.
    #[must_use]
    pub fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// (Q, 4), where the pack has them.
    #[must_use]
    pub fn quads(&self) -> Option<&[[u32; 4]]> {
        self.quads.as_deref()
    }

    /// One uv per vertex, (V, 2), where the pack has them.
    #[must_use]
    pub fn uvs(&self) -> Option<&[[f32; 2]]> {
        self.uvs.as_deref()
    }

    /// The parts of the mouth, where the pack has them.
    #[must_use]
    pub fn mouth(&self) -> Option<&Mouth> {
        self.mouth.as_ref()
    }

    /// The bounds of the neutral with its seam in output space: `bindTransform * (neutral + seam)`.
    #[must_use]
    pub fn rest_bounds(&self) -> Aabb {
        self.rest_bounds
    }
}

pub(super) fn entry_bytes(format: BasisFormat) -> usize {
    match format {
        BasisFormat::F16 => 2,
        BasisFormat::I8 => 1,
    }
}

fn check_basis(blobs: &Blobs, vertex_count: usize, coefficient_count: usize) -> Result<BasisFormat, LoadError> {
    const NAME: &str = "basis";
    let entries = vertex_count.saturating_mul(coefficient_count).saturating_mul(3);
    if blobs.typed(NAME, &[DType::U32, DType::I8])?.dtype == DType::I8 {
        blobs.shaped(NAME, &[DType::I8], &[vertex_count, coefficient_count, 3])?;
        return Ok(BasisFormat::I8);
    }
    let words = blobs.shaped(NAME, &[DType::U32], &[entries.div_ceil(2)])?;
    match halves(words).take(entries).position(|h| !h.is_finite()) {
        Some(i) => {
            let (v, c) = (i / 3 / coefficient_count, i / 3 % coefficient_count);
            let found = format!("one that is not at vertex {v}, coefficient {c}");
            Err(LoadError::new(LoadErrorKind::Value, "buffer \"basis\"", "finite halves", found))
        }
        None => Ok(BasisFormat::F16),
    }
}

fn check_weight_range(name: &str, weights: &[f32]) -> Result<(), LoadError> {
    match weights.iter().position(|w| !(0.0..=1.001).contains(w)) {
        Some(i) => {
            let found = format!("{} at {i}", weights[i]);
            Err(LoadError::new(LoadErrorKind::Value, format!("buffer \"{name}\""), "weights of 0 to 1", found))
        }
        None => Ok(()),
    }
}

fn read_influences(blobs: &Blobs, header: &Header) -> Result<Influences, LoadError> {
    let (v, k, j) = (header.vertex_count, header.lanes, header.joint_names.len());
    let joints = blobs.shaped("skinIndex", &[DType::U16], &[v, k])?;
    let joints: Vec<u32> = joints.as_chunks().0.iter().map(|b| u16::from_le_bytes(*b).into()).collect();
    let weights = blobs.floats("skinWeight", &[DType::F16], &[v, k])?;
    if let Some(i) = joints.iter().position(|&joint| joint as usize >= j) {
        let found = format!("{} at vertex {}", joints[i], i / k);
        return Err(LoadError::new(LoadErrorKind::Value, "buffer \"skinIndex\"", format!("joints below {j}"), found));
    }
    check_weight_range("skinWeight", &weights)?;
    for (vertex, row) in weights.chunks_exact(k).enumerate() {
        let sum: f64 = row.iter().map(|&w| f64::from(w)).sum();
        if !(0.999..=1.001).contains(&sum) {
            let found = format!("{sum} at vertex {vertex}");
            let expected = "weights that sum to 1 within 0.001";
            return Err(LoadError::new(LoadErrorKind::Value, "buffer \"skinWeight\"", expected, found));
        }
    }
    Ok(Influences::from_lanes(&joints, &weights, k))
}

fn read_skeleton(
    blobs: &Blobs,
    names: Vec<String>,
    parents: Vec<Option<usize>>,
    bind_transform: DAffine3,
) -> Result<(Skeleton, Vec<Local>), LoadError> {
    let stored = blobs.shaped("jointParents", &[DType::I32], &[names.len()])?;
    for (j, parent) in stored.as_chunks().0.iter().map(|b| i32::from_le_bytes(*b)).enumerate() {
        let field = format!("buffer \"jointParents\"[{j}]");
        let parent = header::read_parent(j, parent.into(), &field)?;
        if parent != parents[j] {
            let text = |p: Option<usize>| p.map_or("-1".into(), |p| p.to_string());
            let expected = format!("{} as joints[{j}] says", text(parents[j]));
            return Err(LoadError::new(LoadErrorKind::Value, field, expected, text(parent)));
        }
    }
    let rest = blobs.floats("restWorld", &[DType::F32], &[names.len(), 4, 4])?;
    let mut rest_worlds = Vec::with_capacity(names.len());
    for (name, matrix) in names.iter().zip(rest.as_chunks::<16>().0) {
        rest_worlds.push(read_rest(name, &matrix.map(f64::from))?);
    }
    let locals = rest_worlds.iter().zip(&parents).map(|(world, parent)| match parent {
        Some(p) => Local::from_affine(rest_worlds[*p].inverse() * *world),
        None => Local::from_affine(*world),
    });
    let locals = locals.collect();
    let bind_from_world = rest_worlds.iter().map(|world| world.inverse() * bind_transform).collect();
    Ok((Skeleton::new(names, parents, bind_from_world), locals))
}

fn read_rest(joint: &str, matrix: &[f64; 16]) -> Result<DAffine3, LoadError> {
    let field = format!("buffer \"restWorld\", joint \"{joint}\"");
    header::check_bottom_row(matrix, &field)?;
    let world = math::affine_from_row_major(matrix);
    let determinant = DMat3::determinant(&world.matrix3);
    if determinant.abs() < 1e-20 {
        let found = format!("a singular one, determinant {determinant:e}");
        return Err(LoadError::new(LoadErrorKind::Value, field, "a matrix with an inverse", found));
    }
    Ok(world)
}
