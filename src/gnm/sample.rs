//! The procedural head as a GNM model.

use super::model::GnmModel;
use crate::head::curve::smooth01;
use crate::head::{Component, Head, HeadSize, JOINT_NAMES, JOINT_PARENTS, Motion, RandomFields, Rng, Side, Tissue};
use glam::{DVec3, dvec3};
use rayon::prelude::*;

/// What a sample holds beyond the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SampleOptions {
    /// Pose correctives that are not zero. Without them the array is left empty; the released head has only zeros there.
    pub correctives: bool,
}

/// The regions of the expression basis, in order: the prefix of their names, and how many there are.
const EXPRESSION_REGIONS: [(&str, usize); 6] = [
    ("left_eye_region", EYE),
    ("right_eye_region", EYE),
    ("lower_face_region", LOWER),
    ("tongue_mean", 1),
    ("tongue", TONGUE - 1),
    ("pupils", 1),
];
/// The regions of the identity basis.
const IDENTITY_REGIONS: [(&str, usize); 3] = [("head", SHAPES), ("eyes", EYE_SHAPES), ("teeth", TEETH_SHAPES)];

/// Coefficients of one eye region.
const EYE: usize = 100;
/// Coefficients of the lower face.
const LOWER: usize = 150;
/// Coefficients of the tongue, its mean included.
const TONGUE: usize = 32;
const SHAPES: usize = 170;
const EYE_SHAPES: usize = 3;
const TEETH_SHAPES: usize = 80;

const SEED: u64 = 20260;

/// Each random part draws from its own stream, so that a change to one leaves the others as they were.
#[derive(Clone, Copy)]
enum Stream {
    Eye = 1,
    LowerFace,
    Tongue,
    Shape,
    Teeth,
    Joints,
    Correctives,
}

/// The procedural head with all arrays of Google's model: the counts, layouts, units and supports are the real ones, the
/// shapes are our own.
///
/// The law: the same model on every call, whatever the number of threads. A named motion of the head takes the place of the random
/// field wherever the default ARKit table wants one, at the size at which the table's gain gives the motion at full effort.
///
/// # Source     the schema of GNM Head 3.0; no captured data
#[must_use]
pub fn sample(size: HeadSize, options: SampleOptions) -> GnmModel {
    let head = Head::build(size);
    let identity_basis = identity_basis(&head);
    let regressor = head.joint_regressor();
    let groups = head.vertex_groups();
    GnmModel {
        template: head.positions.iter().map(|p| p.as_vec3().to_array()).collect(),
        template_joints: head.joint_positions().iter().map(|p| p.as_vec3().to_array()).collect(),
        joint_identity_basis: joint_identity_basis(&regressor, &identity_basis),
        identity_basis,
        expression_basis: expression_basis(&head),
        identity_names: names(&IDENTITY_REGIONS),
        joint_names: JOINT_NAMES.map(str::to_owned).to_vec(),
        expression_names: names(&EXPRESSION_REGIONS),
        joint_parents: JOINT_PARENTS.to_vec(),
        skinning_weights: head.skin_weights().concat(),
        triangles: head.triangles(),
        triangle_uvs: head.triangle_uvs(),
        mesh_component_names: Component::ALL.map(|c| c.name().to_owned()).to_vec(),
        joint_regressor: regressor.concat().iter().map(|w| *w as f32).collect(),
        pose_correctives: if options.correctives { pose_correctives(&head) } else { vec![] },
        joint_orientations: vec![[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]; JOINT_NAMES.len()],
        vertex_groups: groups.iter().flat_map(|(_, members)| members).copied().collect(),
        vertex_group_names: groups.into_iter().map(|(name, _)| name).collect(),
        quads: head.quads,
        quad_uvs: head.quad_uvs,
        mirror_indices: head.mirror,
    }
}

/// `region_000` and so on; the mean of the tongue is alone in having no number.
fn names(regions: &[(&str, usize)]) -> Vec<String> {
    let of_region = |(region, count): &(&str, usize)| match *region {
        "tongue_mean" => vec![(*region).to_owned()],
        _ => (0..*count).map(|i| format!("{region}_{i:03}")).collect(),
    };
    regions.iter().flat_map(of_region).collect()
}

/// The motions that stand in the basis by name: the index within the region, and what one unit of the coefficient does.
///
/// The default ARKit table drives these; its gain times the share here is the whole motion.
const EYE_MOTIONS: [(usize, Motion, f64); 4] = [
    (0, Motion::BrowRaise(Side::Left), 1.0 / 2.0),
    (1, Motion::LowerLidRaise(Side::Left), 1.0 / 2.5),
    (2, Motion::LidSweep(Side::Left), 1.0 / 3.5),
    (5, Motion::LidMargin(Side::Left), 1.0 / 2.0),
];
/// A smile drives coefficient 0 from both sides (1.2 each) and 8 or 12 from one (1.5): 0.30 * 2.4 + 0.187 * 1.5 = 1.
const LOWER_MOTIONS: [(usize, Motion, f64); 8] = [
    (0, Motion::MouthCornerRaise(Side::Left), 0.300),
    (0, Motion::MouthCornerRaise(Side::Right), 0.300),
    (1, Motion::LipsPart, 1.0 / 1.5),
    (2, Motion::MouthShift, 1.0 / 2.0),
    (3, Motion::MouthCornersDrop, 1.0 / 3.0),
    (8, Motion::MouthCornerRaise(Side::Left), 0.187),
    (9, Motion::JawSwing, 1.0 / 3.0),
    (12, Motion::MouthCornerRaise(Side::Right), 0.187),
];
const TONGUE_MOTIONS: [(usize, Motion, f64); 3] =
    [(0, Motion::TongueDrop, 1.0), (1, Motion::TongueOut, 1.0 / 2.0), (2, Motion::TongueUp, 1.0 / 2.0)];
const PUPIL_MOTIONS: [(usize, Motion, f64); 1] = [(0, Motion::PupilsWiden, 1.0 / 3.0)];

/// (E, V, 3).
fn expression_basis(head: &Head) -> Vec<f32> {
    let row = 3 * head.vertex_count();
    let mut basis = vec![0.0; (2 * EYE + LOWER + TONGUE + 1) * row];
    let (eyes, rest) = basis.split_at_mut(2 * EYE * row);
    let (left, right) = eyes.split_at_mut(EYE * row);
    let (lower, rest) = rest.split_at_mut(LOWER * row);
    let (tongue, pupils) = rest.split_at_mut(TONGUE * row);

    random_fields(head, Stream::Eye, &head.eye_window(Side::Left), [0.080, 0.014]).fill(left);
    scale_to_peaks(left, row, [0.0026, 0.00008]);
    place_motions(head, left, &EYE_MOTIONS);
    mirror_fields(head, left, right);

    random_fields(head, Stream::LowerFace, &head.lower_face_window(), [0.140, 0.020]).fill(lower);
    carry_along_with_chin(head, lower);
    scale_to_peaks(lower, row, [0.0042, 0.00010]);
    place_motions(head, lower, &LOWER_MOTIONS);

    random_fields(head, Stream::Tongue, &head.tongue_window(), [0.040, 0.014]).fill(tongue);
    scale_to_peaks(tongue, row, [0.0055, 0.00040]);
    place_motions(head, tongue, &TONGUE_MOTIONS);

    place_motions(head, pupils, &PUPIL_MOTIONS);
    basis
}

fn random_fields<'a>(head: &'a Head, stream: Stream, window: &'a [f64], wavelengths: [f64; 2]) -> RandomFields<'a> {
    RandomFields { positions: &head.positions, window, wavelengths, seed: SEED, stream: stream as u64 }
}

/// Puts named motions in the place of random fields; several at one index add up.
fn place_motions(head: &Head, region: &mut [f32], motions: &[(usize, Motion, f64)]) {
    let row = 3 * head.vertex_count();
    let fields: Vec<Vec<DVec3>> = motions.par_iter().map(|(_, motion, _)| head.motion(*motion)).collect();
    for (index, _, _) in motions {
        region[index * row..(index + 1) * row].fill(0.0);
    }
    for ((index, _, share), field) in motions.iter().zip(&fields) {
        for (value, displacement) in region[index * row..].chunks_exact_mut(3).zip(field) {
            add(value, *share * *displacement);
        }
    }
}

/// Lower teeth and tongue go a quarter of the way that the chin goes.
fn carry_along_with_chin(head: &Head, lower: &mut [f32]) {
    let chin = head.chin_vertex();
    let riders: Vec<usize> = (0..head.vertex_count()).filter(|v| head.rides_on_jaw(*v)).collect();
    lower.par_chunks_mut(3 * head.vertex_count()).for_each(|field| {
        for axis in 0..3 {
            let way = 0.25 * field[3 * chin + axis];
            riders.iter().for_each(|rider| field[3 * rider + axis] = way);
        }
    });
}

/// The image of each field on the other side, bit for bit.
fn mirror_fields(head: &Head, fields: &[f32], images: &mut [f32]) {
    let row = 3 * head.vertex_count();
    images.par_chunks_mut(row).zip(fields.par_chunks(row)).for_each(|(image, field)| reflect(head, field, image));
}

fn reflect(head: &Head, field: &[f32], image: &mut [f32]) {
    for (value, partner) in image.chunks_exact_mut(3).zip(&head.mirror) {
        let source = 3 * *partner as usize;
        // Zero minus x, so that no negative zero appears where nothing moves.
        value.copy_from_slice(&[0.0 - field[source], field[source + 1], field[source + 2]]);
    }
}

/// Scales each field so that its largest displacement is its peak: from the first to the last by a power law.
fn scale_to_peaks(fields: &mut [f32], row: usize, [first, last]: [f64; 2]) {
    let count = fields.len() / row;
    fields.par_chunks_mut(row).enumerate().for_each(|(index, field)| scale_to(field, peak(index, count, first, last)));
}

fn peak(index: usize, count: usize, first: f64, last: f64) -> f64 {
    first * ((index + 1) as f64).powf((last / first).ln() / (count as f64).ln())
}

fn scale_to(field: &mut [f32], peak: f64) {
    let square = |d: &[f32]| d.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
    let largest = field.chunks_exact(3).map(square).fold(0.0, f64::max).sqrt();
    if largest > 0.0 {
        let factor = (peak / largest) as f32;
        field.iter_mut().for_each(|value| *value *= factor);
    }
}

fn add(value: &mut [f32], displacement: DVec3) {
    for axis in 0..3 {
        value[axis] += displacement[axis] as f32;
    }
}

fn fill_field(field: &mut [f32], displacement: impl Fn(usize) -> DVec3) {
    for (vertex, value) in field.chunks_exact_mut(3).enumerate() {
        value.copy_from_slice(&displacement(vertex).as_vec3().to_array());
    }
}

/// (I, V, 3).
fn identity_basis(head: &Head) -> Vec<f32> {
    let row = 3 * head.vertex_count();
    let mut basis = vec![0.0; (SHAPES + EYE_SHAPES + TEETH_SHAPES) * row];
    let (shapes, rest) = basis.split_at_mut(SHAPES * row);
    let (eyes, teeth) = rest.split_at_mut(EYE_SHAPES * row);

    let everywhere = vec![1.0; head.vertex_count()];
    random_fields(head, Stream::Shape, &everywhere, [0.420, 0.045]).fill(shapes);
    shapes.par_chunks_mut(row).for_each(|field| lean_to_symmetry(head, field));
    place_proportions(head, shapes);
    scale_to_peaks(shapes, row, [0.0075, 0.00012]);
    shapes.par_chunks_mut(row).for_each(|field| stiffen_organs(head, field));

    for (index, field) in eyes.chunks_exact_mut(row).enumerate() {
        fill_field(field, |vertex| eye_shape(head, index, vertex));
    }

    let is_tooth = |c: &Component| f64::from(matches!(c, Component::UpperTeeth | Component::LowerTeeth));
    let on_teeth: Vec<f64> = head.components.iter().map(is_tooth).collect();
    random_fields(head, Stream::Teeth, &on_teeth, [0.060, 0.008]).fill(teeth);
    scale_to_peaks(teeth, row, [0.0012, 0.00005]);
    basis
}

/// Faces are mostly, not wholly symmetric.
fn lean_to_symmetry(head: &Head, field: &mut [f32]) {
    const OWN: f32 = 0.575;
    let mut image = vec![0.0; field.len()];
    reflect(head, field, &mut image);
    for (value, image) in field.iter_mut().zip(&image) {
        *value = OWN * *value + (1.0 - OWN) * image;
    }
}

/// The first four identity shapes are the ones a person would name: size, width, height, and how far the face stands out.
fn place_proportions(head: &Head, shapes: &mut [f32]) {
    let middle = dvec3(0.0, 0.230, 0.010);
    let proportion = |index: usize, vertex: usize| {
        let p = head.positions[vertex] - middle;
        match index {
            0 => p,
            1 => dvec3(p.x, 0.0, 0.0),
            2 => dvec3(0.0, p.y, 0.0),
            _ => dvec3(0.0, 0.0, p.z * smooth01((p.z - 0.010) / 0.080)),
        }
    };
    let row = 3 * head.vertex_count();
    for (index, field) in shapes.chunks_exact_mut(row).take(4).enumerate() {
        fill_field(field, |vertex| proportion(index, vertex));
    }
}

/// Eyeballs, teeth and tongue move as wholes with the shape of the head.
fn stiffen_organs(head: &Head, field: &mut [f32]) {
    let wholes: [&[Component]; 4] = [
        &[Component::LeftEye],
        &[Component::RightEye],
        &[Component::UpperTeeth],
        &[Component::LowerTeeth, Component::Tongue],
    ];
    for whole in wholes {
        let members = || (0..head.vertex_count()).filter(|v| whole.contains(&head.components[*v]));
        let count = members().count() as f64;
        for axis in 0..3 {
            let mean = members().map(|v| f64::from(field[3 * v + axis])).sum::<f64>() / count;
            members().for_each(|v| field[3 * v + axis] = mean as f32);
        }
    }
}

/// The eyes' own shapes: size, how far the cornea stands out, and the width of the iris.
fn eye_shape(head: &Head, index: usize, vertex: usize) -> DVec3 {
    const EYE_RADIUS: f64 = 0.0125;
    if !matches!(head.components[vertex], Component::LeftEye | Component::RightEye) {
        return DVec3::ZERO;
    }
    let p = head.positions[vertex];
    let d = (p - head.eye_centre(Side::of(p.x))) / EYE_RADIUS;
    match index {
        0 => 0.0006 * d,
        1 => 0.0004 * smooth01((d.z - 0.8) / 0.15) * d,
        _ if head.tissues[vertex] == Tissue::EyeBowl => 0.0003 * dvec3(d.x, d.y, 0.0),
        _ => DVec3::ZERO,
    }
}

/// (I, J, 3): the regressor applied to the identity basis. For the head's shapes neck and head are off by a little noise, as a
/// fitted basis is.
fn joint_identity_basis(regressor: &[Vec<f64>; 4], identity_basis: &[f32]) -> Vec<f32> {
    const NOISE: f64 = 0.02;
    let sparse = regressor.each_ref().map(|weights| {
        weights.iter().copied().enumerate().filter(|(_, weight)| *weight != 0.0).collect::<Vec<(usize, f64)>>()
    });
    let mut rng = Rng::new(SEED, (Stream::Joints as u64) << 32);
    let mut basis = vec![];
    for (index, field) in identity_basis.chunks_exact(3 * regressor[0].len()).enumerate() {
        for (joint, weights) in sparse.iter().enumerate() {
            for axis in 0..3 {
                let moved: f64 = weights.iter().map(|(v, weight)| weight * f64::from(field[3 * v + axis])).sum();
                let is_noisy = index < SHAPES && joint < 2;
                let noise = if is_noisy { NOISE * peak(index, SHAPES, 0.0075, 0.00012) * rng.normal() } else { 0.0 };
                basis.push((moved + noise) as f32);
            }
        }
    }
    basis
}

/// (9 J, 3 V): nine fields a joint, where that joint's turning shows: neck, neck and jaw, and around each eye.
fn pose_correctives(head: &Head) -> Vec<f32> {
    const PEAK: f64 = 0.0022;
    let row = 3 * head.vertex_count();
    let neck = head.neck_window();
    let jaw = head.lower_face_window();
    let below_head: Vec<f64> = neck.iter().zip(&jaw).map(|(neck, jaw)| neck.max(0.4 * jaw)).collect();
    let windows = [neck, below_head, head.eye_window(Side::Left), head.eye_window(Side::Right)];
    let mut correctives = vec![0.0; 9 * windows.len() * row];
    for (joint, (fields, window)) in correctives.chunks_exact_mut(9 * row).zip(&windows).enumerate() {
        let recipe = random_fields(head, Stream::Correctives, window, [0.120, 0.050]);
        RandomFields { stream: recipe.stream + joint as u64, ..recipe }.fill(fields);
        fields.par_chunks_mut(row).for_each(|field| scale_to(field, PEAK));
    }
    correctives
}
