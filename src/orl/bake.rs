//! DNA -> pack: one mesh, its blend shapes in int8.

use super::dna::{Conventions, Definition, Dna, Mesh, RotationUnit, Target, TranslationUnit};
use super::pack::{OrlPack, PackParts, PackTarget};
use crate::error::{LoadError, LoadErrorKind};
use crate::math;
use glam::{DAffine3, DQuat, DVec3};
use serde_json::{Map, Value, json};

/// A pack stores the vertices of its deltas in 16 bits.
const MAX_VERTICES: usize = 1 << 16;
/// The largest stored component of a delta.
const PEAK: f64 = 127.0;

/// What baking cost.
///
/// The error is the distance between a delta of the DNA and the stored one, at channel weight 1; stored as zero and left out counts too.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BakeReport {
    /// Targets, those without deltas included.
    pub target_count: usize,
    /// Deltas in the pack.
    pub delta_count: usize,
    /// Deltas of the DNA that are too small for their target's scale, and so are not in the pack.
    pub dropped_count: usize,
    /// The largest error of a delta, micrometres.
    pub max_error_um: f64,
    /// The mean error of the DNA's deltas, micrometres.
    pub mean_error_um: f64,
}

/// Bakes the mesh `mesh` of a rig, for use at the level of detail `lod`.
///
/// Every target of the mesh becomes one of the pack, in order; `dna_bytes`, the file that `dna` was read from, goes in as it is. A rig in metres
/// or radians is converted, and whoever evaluates the DNA inside must convert its joint outputs likewise. The manifest gains `mesh`, `meshName`,
/// `lod`, `generator`, `quantizationMaxErrorUm` and `quantizationMeanErrorUm`. `progress` is told the done share, up to 1.
///
/// # Accuracy
/// Each component of a delta: half its target's scale, which is the target's largest component / 127.
///
/// # Errors
/// `Value` for a mesh or level that the rig does not have, or a mesh that the level does not show; `Missing` for a mesh without geometry;
/// `Unsupported` for what the format cannot hold: joints before their parents, more than 65,536 vertices, Euler angles in another order than xyz
/// or of another sign; otherwise what [`OrlPack::build`] refuses.
pub fn bake(
    dna: &Dna,
    dna_bytes: &[u8],
    mesh: usize,
    lod: usize,
    progress: &mut dyn FnMut(f32),
) -> Result<(OrlPack, BakeReport), LoadError> {
    check_choice(dna, mesh, lod)?;
    check_joints(dna)?;
    let name = &dna.definition.mesh_names[mesh];
    let surface = &dna.meshes[mesh];
    if surface.positions.len() > MAX_VERTICES {
        let expected = format!("at most {MAX_VERTICES} vertices in a pack");
        let field = format!("meshes[{mesh}].positions");
        return Err(LoadError::new(LoadErrorKind::Unsupported, field, expected, surface.positions.len()));
    }
    let units = Units::of(dna);
    let (deltas, report) = quantize(&surface.targets, &units, progress);
    let joint_neutral: Vec<[f32; 9]> = neutral(&dna.definition, &units);
    let lanes = surface.skin.iter().map(|row| row.joints.len()).max().unwrap_or(0).max(1);
    let (skin_joints, skin_weights) = skin(surface, lanes);
    let pack = OrlPack::build(&PackParts {
        neutral: surface.positions.iter().map(|p| p.map(|x| units.centimetres(x))).collect(),
        lanes,
        skin_joints,
        skin_weights,
        joint_names: dna.definition.joint_names.clone(),
        joint_parents: dna.definition.joint_parents.clone(),
        inverse_bind: inverse_bind(&dna.definition, &units),
        joint_neutral,
        channel_count: dna.definition.channel_names.len(),
        targets: deltas.targets,
        delta_vertices: deltas.vertices,
        deltas: deltas.values,
        triangles: triangles(surface),
        dna: dna_bytes.to_vec(),
        manifest: provenance(mesh, name, lod, &report),
    })?;
    Ok((pack, report))
}

fn check_choice(dna: &Dna, mesh: usize, lod: usize) -> Result<(), LoadError> {
    let value =
        |field: &str, expected: String, found: usize| Err(LoadError::new(LoadErrorKind::Value, field, expected, found));
    let (meshes, lods) = (dna.definition.mesh_names.len(), usize::from(dna.descriptor.lod_count));
    if lod >= lods {
        return value("lod", format!("a level below {lods}"), lod);
    }
    if mesh >= meshes {
        return value("mesh", format!("a mesh below {meshes}"), mesh);
    }
    if mesh >= dna.meshes.len() {
        let expected = format!("geometry of mesh {mesh}");
        let found = format!("geometry of {} meshes", dna.meshes.len());
        return Err(LoadError::new(LoadErrorKind::Missing, "meshes", expected, found));
    }
    if !dna.shows(mesh, lod) {
        let shown = dna.definition.lod_meshes.list(lod);
        return value("mesh", format!("a mesh of level {lod}, one of {shown:?}"), mesh);
    }
    Ok(())
}

fn check_joints(dna: &Dna) -> Result<(), LoadError> {
    let unsupported = |field: &str, expected: String, found: String| {
        Err(LoadError::new(LoadErrorKind::Unsupported, field, expected, found))
    };
    let usual = Conventions::default();
    let Conventions { rotation_sequence, rotation_signs, .. } = dna.conventions;
    if (rotation_sequence, rotation_signs) != (usual.rotation_sequence, usual.rotation_signs) {
        let expected = "Euler angles in the order xyz with positive signs".into();
        return unsupported("conventions", expected, format!("{rotation_sequence:?} with {rotation_signs:?}"));
    }
    let parents = &dna.definition.joint_parents;
    if let Some(j) = (0..parents.len()).find(|&j| usize::from(parents[j]) > j) {
        let expected = format!("a parent of 0 to {j}, as a pack has parents first");
        return unsupported(&format!("definition.joint_parents[{j}]"), expected, parents[j].to_string());
    }
    Ok(())
}

/// From the DNA's units to the pack's.
struct Units {
    length: f64,
    angle: f64,
}

impl Units {
    fn of(dna: &Dna) -> Units {
        Units {
            length: match dna.descriptor.translation_unit {
                TranslationUnit::Centimetres => 1.0,
                TranslationUnit::Metres => 100.0,
            },
            angle: match dna.descriptor.rotation_unit {
                RotationUnit::Degrees => 1.0,
                RotationUnit::Radians => 1f64.to_degrees(),
            },
        }
    }

    fn centimetres(&self, x: f32) -> f32 {
        (f64::from(x) * self.length) as f32
    }
}

fn neutral(definition: &Definition, units: &Units) -> Vec<[f32; 9]> {
    let joints = definition.neutral_translations.iter().zip(&definition.neutral_rotations);
    let row = |(t, r): (&[f32; 3], &[f32; 3])| {
        let [tx, ty, tz] = t.map(|x| units.centimetres(x));
        let [rx, ry, rz] = r.map(|x| (f64::from(x) * units.angle) as f32);
        [tx, ty, tz, rx, ry, rz, 1.0, 1.0, 1.0]
    };
    joints.map(row).collect()
}

/// The inverse of each joint's neutral world, from the DNA's own numbers rather than their rounded conversion.
fn inverse_bind(definition: &Definition, units: &Units) -> Vec<[f32; 16]> {
    let mut worlds: Vec<DAffine3> = Vec::with_capacity(definition.joint_parents.len());
    for (j, &parent) in definition.joint_parents.iter().enumerate() {
        let translation = DVec3::from(definition.neutral_translations[j].map(f64::from)) * units.length;
        let angles = definition.neutral_rotations[j].map(|x| (f64::from(x) * units.angle).to_radians());
        let [x, y, z] = angles;
        let rotation = DQuat::from_rotation_z(z) * DQuat::from_rotation_y(y) * DQuat::from_rotation_x(x);
        let local = DAffine3::from_rotation_translation(rotation, translation);
        worlds.push(if usize::from(parent) == j { local } else { worlds[usize::from(parent)] * local });
    }
    worlds.iter().map(|world| math::row_major_from_affine(&world.inverse()).map(|x| x as f32)).collect()
}

/// Rows of equal length, filled up with joint 0 at weight 0.
fn skin(mesh: &Mesh, lanes: usize) -> (Vec<u16>, Vec<f32>) {
    let mut joints = Vec::with_capacity(mesh.skin.len() * lanes);
    let mut weights = Vec::with_capacity(mesh.skin.len() * lanes);
    for (vertex, row) in mesh.skin.iter().enumerate() {
        joints.extend(&row.joints);
        joints.resize((vertex + 1) * lanes, 0);
        weights.extend(&row.weights);
        weights.resize((vertex + 1) * lanes, 0.0);
    }
    (joints, weights)
}

/// Each face as a fan around its first corner, corners as positions.
fn triangles(mesh: &Mesh) -> Vec<[u32; 3]> {
    let position = |corner: u32| mesh.layouts.positions[corner as usize];
    let fan = |face: &Vec<u32>| {
        let corners: Vec<u32> = face.iter().map(|&corner| position(corner)).collect();
        (2..corners.len()).map(move |i| [corners[0], corners[i - 1], corners[i]])
    };
    mesh.faces.iter().flat_map(fan).collect()
}

struct Deltas {
    targets: Vec<PackTarget>,
    vertices: Vec<u16>,
    values: Vec<[i8; 3]>,
}

fn quantize(targets: &[Target], units: &Units, progress: &mut dyn FnMut(f32)) -> (Deltas, BakeReport) {
    const UM_PER_CM: f64 = 1e4;
    let total: usize = targets.iter().map(|target| target.deltas.len()).sum();
    let mut out = Deltas { targets: Vec::with_capacity(targets.len()), vertices: Vec::new(), values: Vec::new() };
    let (mut worst, mut sum, mut done) = (0.0f64, 0.0f64, 0);
    for target in targets {
        let offset = out.values.len();
        let scale = scale(target, units);
        for (delta, &vertex) in target.deltas.iter().zip(&target.vertices) {
            let exact = DVec3::from(delta.map(f64::from)) * units.length;
            let stored = exact.to_array().map(|x| round(x, scale));
            let kept = DVec3::from(stored.map(f64::from)) * f64::from(scale);
            let error = exact.distance(kept) * UM_PER_CM;
            worst = worst.max(error);
            sum += error;
            if stored != [0; 3] {
                out.vertices.push(vertex as u16);
                out.values.push(stored);
            }
        }
        let count = out.values.len() - offset;
        out.targets.push(PackTarget { channel: target.channel.into(), offset, count, scale });
        done += target.deltas.len();
        progress(done as f32 / total.max(1) as f32);
    }
    let report = BakeReport {
        target_count: targets.len(),
        delta_count: out.values.len(),
        dropped_count: total - out.values.len(),
        max_error_um: worst,
        mean_error_um: sum / total.max(1) as f64,
    };
    (out, report)
}

/// The least f32 by which the largest component is at most 127: rounded down, it would be clamped.
fn scale(target: &Target, units: &Units) -> f32 {
    let peak = target.deltas.as_flattened().iter().fold(0.0f32, |peak, x| peak.max(x.abs()));
    let peak = f64::from(peak) * units.length;
    let scale = (peak / PEAK) as f32;
    if f64::from(scale) * PEAK < peak { scale.next_up() } else { scale }
}

fn round(x: f64, scale: f32) -> i8 {
    if scale == 0.0 {
        return 0;
    }
    (x / f64::from(scale)).round_ties_even().clamp(-PEAK, PEAK) as i8
}

fn provenance(mesh: usize, name: &str, lod: usize, report: &BakeReport) -> Map<String, Value> {
    let fields = [
        ("generator", json!(concat!("rigeval ", env!("CARGO_PKG_VERSION")))),
        ("mesh", json!(mesh)),
        ("meshName", json!(name)),
        ("lod", json!(lod)),
        ("quantizationMaxErrorUm", json!(report.max_error_um)),
        ("quantizationMeanErrorUm", json!(report.mean_error_um)),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
