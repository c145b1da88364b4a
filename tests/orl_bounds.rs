//! Bounds of ORL meshes hold every vertex, and hold little else.

mod synthetic;

use glam::{Affine3A, DVec3, Quat, Vec3};
use rigeval::info::JointId;
use rigeval::math::Aabb;
use rigeval::npy;
use rigeval::orl::bounds::OrlBounds;
use rigeval::orl::cpu::orl_deform;
use rigeval::orl::dna::{Dna, Mesh, SkinRow, Target};
use rigeval::orl::mesh::OrlMesh;
use rigeval::orl::model::OrlModel;
use rigeval::orl::pose::OrlPose;
use rigeval::orl::riglogic::RotationOutput::Euler;
use rigeval::skeleton::JointOverride;
use rigeval::sparse::DeltaFormat::{self, F32, I8, I16};
use rigeval::sparse::SparseEntries;
use std::path::Path;
use synthetic::Numbers;

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl");
const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data");

/// More than one vertex for a block, and no multiple of 64.
const V: usize = 6001;
const JOINTS: usize = 30;
const TARGETS: usize = 40;

struct Rig {
    model: OrlModel,
    mesh: OrlMesh,
    bounds: OrlBounds,
}

impl Rig {
    fn new(dna: &Dna, mesh: usize, format: DeltaFormat) -> Rig {
        let model = OrlModel::new(dna);
        let mesh = OrlMesh::new(dna, &model, mesh, format).unwrap();
        let bounds = OrlBounds::new(&mesh);
        Rig { model, mesh, bounds }
    }

    fn pose(&self, joints: &[f32], weights: &[f32]) -> OrlPose {
        let mut pose = OrlPose::new(&self.model);
        pose.set_solved(&self.model, Euler, joints, weights).unwrap();
        pose
    }

    /// The bounds and the exact box, after checking that the one holds every vertex.
    #[track_caller]
    fn check(&self, pose: &OrlPose, what: &str) -> (Aabb, Aabb) {
        let bounds = self.bounds.bounds(&self.mesh.deltas().weigh(pose.weights()), pose.skin_rows());
        let vertices = orl_deform(&self.mesh, pose);
        for (v, &p) in vertices.iter().enumerate() {
            assert!(bounds.contains(p), "{what}: vertex {v} at {p:?} lies outside {bounds:?}");
        }
        (bounds, Aabb::of_points(vertices))
    }

    #[track_caller]
    fn looseness(&self, pose: &OrlPose, what: &str) -> f32 {
        let (bounds, exact) = self.check(pose, what);
        bounds.diagonal() / exact.diagonal()
    }
}

/// A head in centimetres, 1.5 m above the origin: a neck, a head, and joints on the surface whose weights fall off with the distance.
fn head() -> Dna {
    let mut dna = Dna::default();
    let mut numbers = Numbers::new(21);
    let surface = |numbers: &mut Numbers| numbers.point().normalize() * DVec3::new(8.0, 12.0, 10.0);
    let centre = DVec3::new(0.0, 155.0, 2.0);
    let f32s = |p: DVec3| p.as_vec3().to_array();
    let definition = &mut dna.definition;
    definition.joint_names =
        (0..JOINTS).map(|j| ["neck", "head"].get(j).map_or(format!("j{j}"), |n| n.to_string())).collect();
    definition.joint_parents = (0..JOINTS).map(|j| if j < 2 { 0 } else { 1 }).collect();
    let anchors: Vec<DVec3> = (2..JOINTS).map(|_| surface(&mut numbers)).collect();
    definition.neutral_translations =
        [DVec3::new(0.0, 143.0, 0.0), DVec3::new(0.0, 12.0, 2.0)].iter().chain(&anchors).map(|&p| f32s(p)).collect();
    definition.neutral_rotations = (0..JOINTS).map(|_| f32s(numbers.point() * 90.0)).collect();
    // The children of turned joints lie where their parents' turns put them; the weights follow the anchors all the same.
    definition.neutral_rotations[..2].fill([0.0; 3]);
    definition.channel_names = (0..TARGETS).map(|c| format!("c{c}")).collect();
    definition.mesh_names = vec!["head".into()];
    let points: Vec<DVec3> = (0..V).map(|_| surface(&mut numbers)).collect();
    let skin = |p: &DVec3| {
        let mut held: Vec<(u16, f64)> =
            (2..).zip(&anchors).map(|(j, a)| (j, (-(a.distance(*p) / 4.0).powi(2)).exp())).collect();
        held.push((1, 0.3));
        held.push((0, (-p.y / 12.0).max(0.0)));
        held.sort_by(|a, b| b.1.total_cmp(&a.1));
        held.truncate(8);
        let sum: f64 = held.iter().map(|h| h.1).sum();
        SkinRow {
            joints: held.iter().map(|h| h.0).collect(),
            weights: held.iter().map(|h| (h.1 / sum) as f32).collect(),
        }
    };
    let target = |channel: u16, numbers: &mut Numbers| {
        let (from, push) = (surface(numbers), numbers.point());
        let moved: Vec<usize> = (0..V).filter(|&v| points[v].distance(from) < 5.0).collect();
        let delta = |&v: &usize| f32s(push * (1.0 - points[v].distance(from) / 5.0));
        Target {
            deltas: moved.iter().map(delta).collect(),
            vertices: moved.iter().map(|&v| v as u32).collect(),
            channel,
        }
    };
    let mesh = Mesh {
        positions: points.iter().map(|&p| f32s(centre + p)).collect(),
        skin: points.iter().map(skin).collect(),
        targets: (0..TARGETS as u16).map(|c| target(c, &mut numbers)).collect(),
        ..Mesh::default()
    };
    dna.meshes = vec![mesh];
    dna
}

/// Weights that no exporter should write: none, a half, negative, cancelling, a joint named twice, sums beside one.
fn odd(mut dna: Dna) -> Dna {
    for (v, row) in dna.meshes[0].skin.iter_mut().enumerate() {
        let held = |joints: &[u16], weights: &[f32]| SkinRow { joints: joints.to_vec(), weights: weights.to_vec() };
        match v % 40 {
            0 => *row = SkinRow::default(),
            1 => *row = held(&[1], &[0.5]),
            2 => *row = held(&[5, 1], &[1.5, -0.5]),
            3 => *row = held(&[5, 1], &[1.0, -1.0]),
            4 => *row = held(&[7, 7, 7], &[0.25, 0.25, 0.5]),
            5 => *row = held(&[7, 7], &[0.5, -0.5]),
            6..20 => row.weights[0] += 1e-3 * ((v % 7) as f32 - 3.0) / 3.0,
            _ => {}
        }
    }
    dna
}

/// Joint deltas of up to `cm`, `deg` and a stretch of `scale`.
fn deltas(numbers: &mut Numbers, joints: usize, [cm, deg, scale]: [f64; 3]) -> Vec<f32> {
    let most = [cm, cm, cm, deg, deg, deg, scale, scale, scale];
    (0..joints).flat_map(|_| most).map(|most| (most * numbers.signed()) as f32).collect()
}

fn weights(numbers: &mut Numbers, count: usize, most: f64) -> Vec<f32> {
    // A third of the channels rests.
    (0..count).map(|c| if c % 3 == 2 { 0.0 } else { (most * numbers.signed()) as f32 }).collect()
}

/// Random poses from small to absurd, with overrides and far worlds.
fn check_random_poses(dna: &Dna, mesh: usize, format: DeltaFormat, what: &str) {
    let mut numbers = Numbers::new(31);
    let rig = Rig::new(dna, mesh, format);
    let names = rig.model.skeleton().names();
    for (frame, most) in [0.0, 0.3, 1.0, 5.0, 1.0, 100.0].into_iter().enumerate() {
        let joints = deltas(&mut numbers, names.len(), [2.0 * most, 30.0 * most, 0.2 * most]);
        let mut pose = rig.pose(&joints, &weights(&mut numbers, rig.model.channel_count(), most));
        if frame % 2 == 1 {
            let rotations: Vec<Quat> = names.iter().map(|_| numbers.rotation(1.5).as_quat()).collect();
            let turns = names.iter().zip(rotations).map(|(joint, rotation)| JointOverride { joint, rotation });
            pose.set_joint_overrides(&rig.model, &turns.collect::<Vec<_>>()).unwrap();
        }
        if frame >= 4 {
            let (turn, far) = (numbers.rotation(3.0).as_quat(), numbers.point().as_vec3() * 1e4);
            let world = Affine3A::from_scale_rotation_translation(Vec3::new(1.1, 0.8, 1.0), turn, far);
            pose.set_joint_worlds(&rig.model, &[(JointId(frame % names.len()), world)]).unwrap();
        }
        rig.check(&pose, &format!("{what}, {format:?}, frame {frame}"));
    }
}

#[test]
fn bounds_random_poses_hold_every_vertex() {
    for format in [F32, I16, I8] {
        check_random_poses(&head(), 0, format, "head");
        check_random_poses(&odd(head()), 0, format, "odd weights");
        for rig in ["tiny", "ml_ext", "ml_legacy", "rbf_quat", "twist"] {
            let dna = Dna::read(&std::fs::read(Path::new(COMMITTED).join(format!("{rig}.dna"))).unwrap()).unwrap();
            (0..dna.meshes.len()).for_each(|mesh| check_random_poses(&dna, mesh, format, rig));
        }
    }
}

#[test]
fn bounds_at_rest_are_the_rest_bounds() {
    for (dna, what, slack) in [(head(), "head", 1e-4), (odd(head()), "odd weights", 1e-2)] {
        let rig = Rig::new(&dna, 0, I16);
        let (bounds, exact) = rig.check(&OrlPose::new(&rig.model), what);
        for axis in 0..3 {
            let (below, above) = (exact.min[axis] - bounds.min[axis], bounds.max[axis] - exact.max[axis]);
            let outside = below.max(above) / exact.diagonal();
            assert!(outside < slack, "{what}, axis {axis}: {below} below, {above} above");
        }
    }
}

#[test]
fn bounds_over_a_performance_stay_tight() {
    let rig = Rig::new(&head(), 0, I16);
    let mut numbers = Numbers::new(41);
    let mut worst = 0f32;
    let mut key = || (deltas(&mut numbers, JOINTS, [1.0, 20.0, 0.1]), weights(&mut numbers, TARGETS, 1.0));
    let (from, to) = (key(), key());
    let mix = |a: &[f32], b: &[f32], t: f32| -> Vec<f32> { a.iter().zip(b).map(|(a, b)| a + (b - a) * t).collect() };
    for frame in 0..40 {
        let t = frame as f32 / 39.0;
        let mut pose = rig.pose(&mix(&from.0, &to.0, t), &mix(&from.1, &to.1, t));
        let nod = JointOverride { joint: "neck", rotation: Quat::from_rotation_x(0.4 * (9.0 * t).sin()) };
        let shake = JointOverride { joint: "head", rotation: Quat::from_rotation_y(0.7 * (5.0 * t).sin()) };
        pose.set_joint_overrides(&rig.model, &[nod, shake]).unwrap();
        worst = worst.max(rig.looseness(&pose, &format!("frame {frame}")));
    }
    println!("largest diagonal over the exact one: {worst}");
    assert!(worst <= 1.5, "diagonal {worst} times the exact one");
}

#[test]
fn bounds_one_target_moves_only_what_it_holds() {
    let rig = Rig::new(&head(), 0, F32);
    let still = vec![0.0; JOINTS * 9];
    for target in 0..TARGETS {
        let mut weights = vec![0.0; TARGETS];
        weights[target] = 3.0;
        let (bounds, exact) = rig.check(&rig.pose(&still, &weights), "one target");
        for axis in 0..3 {
            let slack = (exact.min[axis] - bounds.min[axis]).max(bounds.max[axis] - exact.max[axis]);
            assert!(slack < 0.05 * exact.diagonal(), "target {target}, axis {axis}: {bounds:?} around {exact:?}");
        }
    }
}

#[test]
fn bounds_weights_that_nearly_sum_to_one_hold_every_vertex() {
    // Four vertices at each place: what tells them apart is the sum of their weights alone.
    let mut dna = head();
    let mesh = &mut dna.meshes[0];
    mesh.positions = (0..4 * 600).map(|v| [(v / 4) as f32, 150.0, 0.0]).collect();
    mesh.skin =
        (0..4 * 600).map(|v| SkinRow { joints: vec![1], weights: vec![[1.0, 1.0001, 0.9999, 1.0][v % 4]] }).collect();
    mesh.targets.clear();
    let rig = Rig::new(&dna, 0, F32);
    let (bounds, exact) = rig.check(&OrlPose::new(&rig.model), "sums");
    assert!(bounds.diagonal() < 1.001 * exact.diagonal(), "{bounds:?} around {exact:?}");
}

/// What a device computes: the same sums in single precision.
fn single(mesh: &OrlMesh, pose: &OrlPose) -> Vec<[f32; 3]> {
    let weights = mesh.deltas().weigh(pose.weights()).coefficients;
    let SparseEntries::Packed(entries) = mesh.deltas().entries() else { panic!("packed deltas") };
    let vertex = |v: usize| {
        let mut p = mesh.neutral()[v];
        let [first, end] = [0, 1].map(|i| mesh.deltas().offsets()[v + i] as usize);
        for entry in &entries[first..end] {
            let steps = entry.steps().map(f32::from);
            (0..3).for_each(|axis| p[axis] += weights[usize::from(entry.target())] * steps[axis]);
        }
        let mut out = [0f32; 3];
        for held in mesh.influences().row(v) {
            for (sum, row) in out.iter_mut().zip(&pose.skin_rows()[held.joint as usize]) {
                *sum += held.weight * (row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3]);
            }
        }
        out
    };
    (0..mesh.vertex_count()).map(vertex).collect()
}

#[test]
fn bounds_hold_what_single_precision_gives() {
    let mut numbers = Numbers::new(51);
    for name in ["tiny", "ml_ext", "rbf_quat", "twist"] {
        let dna = Dna::read(&std::fs::read(Path::new(COMMITTED).join(format!("{name}.dna"))).unwrap()).unwrap();
        let rig = Rig::new(&dna, 0, I16);
        for frame in 0..200 {
            let joints = deltas(&mut numbers, rig.model.skeleton().joint_count(), [500.0, 90.0, 0.5]);
            let pose = rig.pose(&joints, &weights(&mut numbers, rig.model.channel_count(), 1.0));
            let (bounds, _) = rig.check(&pose, name);
            for (v, &p) in single(&rig.mesh, &pose).iter().enumerate() {
                assert!(bounds.contains(p), "{name} frame {frame}: vertex {v} at {p:?} lies outside {bounds:?}");
            }
        }
    }
}

#[test]
fn bounds_of_nothing_are_zero() {
    let mut dna = head();
    dna.meshes = vec![Mesh::default()];
    let rig = Rig::new(&dna, 0, F32);
    assert_eq!(rig.check(&OrlPose::new(&rig.model), "empty").0, Aabb::default());
    // Without influences everything comes out at the origin, wherever it was modelled.
    let mut dna = head();
    dna.meshes[0].skin.fill(SkinRow::default());
    let rig = Rig::new(&dna, 0, F32);
    let (bounds, _) = rig.check(&OrlPose::new(&rig.model), "no influences");
    assert!(bounds.diagonal() < 1e-30, "{bounds:?}");
}

/// The handed solutions of a rig and the poses between them: the largest looseness of poses whose joints turn by up to 60 degrees, and of all.
fn handed(folder: &Path, rig: &str, entry: &str, steps: usize) -> [f32; 2] {
    let dna = Dna::read(&std::fs::read(folder.join(format!("{rig}.dna"))).unwrap()).unwrap();
    let array = |name: &str| {
        let bytes = std::fs::read(folder.join(format!("{rig}.{entry}.{name}.npy"))).unwrap();
        npy::read(&bytes).unwrap().into_f32().unwrap()
    };
    let (joints, weights) = (array("joints_euler"), array("bs"));
    let mut worst = [1f32; 2];
    for (mesh, format) in (0..dna.meshes.len()).zip([I16, I8, F32].into_iter().cycle()) {
        let rig_mesh = Rig::new(&dna, mesh, format);
        for frame in 0..19 * steps {
            let (vector, t) = (frame / steps, (frame % steps) as f32 / steps as f32);
            let mix = |values: &[f32], n: usize| -> Vec<f32> {
                (0..n).map(|i| values[vector * n + i] * (1.0 - t) + values[(vector + 1) * n + i] * t).collect()
            };
            let joints = mix(&joints, dna.definition.joint_names.len() * 9);
            let pose = rig_mesh.pose(&joints, &mix(&weights, rig_mesh.model.channel_count()));
            let looseness = rig_mesh.looseness(&pose, &format!("{rig}.{entry} mesh {mesh} {format:?} frame {frame}"));
            let turn = joints.chunks_exact(9).flat_map(|j| &j[3..6]).fold(0f32, |most, x| most.max(x.abs()));
            if turn <= 60.0 {
                worst[0] = worst[0].max(looseness);
            }
            worst[1] = worst[1].max(looseness);
        }
    }
    println!("{rig}.{entry}: largest diagonal over the exact one {worst:?}");
    worst
}

#[test]
fn bounds_of_committed_solutions_are_exact() {
    // Meshes this small have one vertex a block.
    for (rig, entry) in [("tiny", "gui"), ("tiny", "raw"), ("ml_ext", "raw"), ("rbf_quat", "raw"), ("twist", "raw")] {
        let [_, worst] = handed(Path::new(COMMITTED), rig, entry, 3);
        assert!(worst < 1.0001, "{rig}.{entry}: diagonal {worst} times the exact one");
    }
}

#[test]
fn bounds_of_shared_solutions_are_tight() {
    let folder = Path::new(SHARED).join("orl-large");
    if !folder.is_dir() {
        eprintln!("SKIP bounds_of_shared_solutions_are_tight: no folder {}; a made head covers it", folder.display());
        return;
    }
    for entry in ["gui", "raw"] {
        // The other vectors turn neighbouring joints by up to 140 degrees against each other.
        let [face, _] = handed(&folder, "metahuman_scale", entry, 1);
        assert!(face <= 1.5, "{entry}: diagonal {face} times the exact one");
    }
}
