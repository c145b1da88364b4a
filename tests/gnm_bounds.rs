//! Bounds hold every vertex, and hold little else.

mod synthetic;

use glam::{Affine3A, DAffine3, DVec3, Quat};
use half::f16;
use rigeval::gnm::bounds::GnmBounds;
use rigeval::gnm::cpu::gnm_blend;
use rigeval::gnm::pack::{BasisFormat, GnmPack};
use rigeval::gnm::pose::{GnmPose, Stage};
use rigeval::info::JointId;
use rigeval::math::{self, Aabb};
use rigeval::skeleton::JointOverride;
use synthetic::{JOINTS, Numbers, SMALL_REGIONS};

const V: usize = 2001;
const E: usize = 42;

/// The exact box, after checking that `bounds` holds every vertex.
fn check_holds(pack: &GnmPack, pose: &GnmPose, stage: Stage, bounds: Aabb, what: &str) -> Aabb {
    let vertices = gnm_blend(pack, pose, stage);
    for (v, &p) in vertices.iter().enumerate() {
        assert!(bounds.contains(p), "{what}: vertex {v} at {p:?} lies outside {bounds:?}");
    }
    Aabb::of_points(vertices)
}

fn old_weights(parts: &mut rigeval::gnm::pack::PackParts) {
    // Every third vertex sums to 1 + 2^-12.
    let row = [0.5, 0.25 + 1.0 / 4096.0, 0.25, 0.0].map(f16::from_f64);
    for weights in parts.skin_weights.chunks_exact_mut(12) {
        weights[..4].copy_from_slice(&row);
    }
}

#[test]
fn bounds_random_poses_hold_every_vertex() {
    let mut numbers = Numbers::new(11);
    for format in [BasisFormat::F16, BasisFormat::I8] {
        for case in ["plain", "old weights", "flat bind"] {
            let mut parts = synthetic::parts(V, SMALL_REGIONS, format);
            match case {
                "old weights" => old_weights(&mut parts),
                "flat bind" => {
                    let flat = DAffine3::from_scale_rotation_translation(
                        DVec3::new(1.0, 0.0, 1.0),
                        numbers.rotation(1.0),
                        DVec3::new(0.0, 1.5, 0.0),
                    );
                    parts.bind_transform = math::row_major_from_affine(&flat);
                }
                _ => {}
            }
            let pack = GnmPack::build(&parts).expect("a pack");
            let bounds = GnmBounds::new(&pack);
            let forward_bounds = GnmBounds::of_stage(&pack, Stage::Forward);
            for (frame, most) in [0.3, 1.0, 3.0, 1.0, 1.0, 10.0].into_iter().enumerate() {
                let mut pose = GnmPose::new(&pack);
                pose.set_controls(&pack, &numbers.controls(E, most)).expect("controls");
                if frame % 2 == 1 {
                    let turns = JOINTS.map(|joint| JointOverride { joint, rotation: numbers.rotation(1.5).as_quat() });
                    pose.set_joint_overrides(&pack, &turns).expect("overrides");
                }
                if frame >= 3 {
                    let far = numbers.point() * 10f64.powi(frame as i32 - 3);
                    let turn = numbers.rotation(3.0).as_quat();
                    let world =
                        Affine3A::from_scale_rotation_translation(glam::Vec3::new(1.1, 0.8, 1.0), turn, far.as_vec3());
                    pose.set_joint_worlds(&pack, &[(JointId(frame % 3), world)]).expect("worlds");
                }
                let what = format!("{format:?}, {case}, frame {frame}");
                check_holds(&pack, &pose, Stage::Pose, bounds.bounds(&pose), &what);
                check_holds(&pack, &pose, Stage::Forward, forward_bounds.bounds(&pose), &what);
            }
        }
    }
}

#[test]
fn bounds_at_rest_are_the_rest_bounds() {
    for old in [false, true] {
        let mut parts = synthetic::parts(V, SMALL_REGIONS, BasisFormat::F16);
        if old {
            old_weights(&mut parts);
        }
        let pack = GnmPack::build(&parts).expect("a pack");
        let pose = GnmPose::new(&pack);
        let bounds = GnmBounds::new(&pack).bounds(&pose);
        let exact = check_holds(&pack, &pose, Stage::Pose, bounds, "rest");
        for axis in 0..3 {
            let (below, above) = (exact.min[axis] - bounds.min[axis], bounds.max[axis] - exact.max[axis]);
            assert!(below.max(above) < 1e-5 * exact.diagonal(), "old weights {old}, axis {axis}: {below} {above}");
        }
    }
}

#[test]
fn bounds_over_a_performance_stay_tight() {
    let pack = synthetic::pack(V, SMALL_REGIONS, BasisFormat::F16);
    let bounds = GnmBounds::new(&pack);
    let mut numbers = Numbers::new(12);
    let (from, to) = (numbers.controls(E, 1.5), numbers.controls(E, 1.5));
    let mut worst = 0f32;
    for frame in 0..40 {
        let t = frame as f32 / 39.0;
        let controls: Vec<f32> = from.iter().zip(&to).map(|(a, b)| a + (b - a) * t).collect();
        let mut pose = GnmPose::new(&pack);
        pose.set_controls(&pack, &controls).expect("controls");
        let nod = JointOverride { joint: "neck", rotation: Quat::from_rotation_x(0.4 * (9.0 * t).sin()) };
        let shake = JointOverride { joint: "head", rotation: Quat::from_rotation_y(0.7 * (5.0 * t).sin()) };
        pose.set_joint_overrides(&pack, &[nod, shake]).expect("overrides");
        let bounds = bounds.bounds(&pose);
        let exact = check_holds(&pack, &pose, Stage::Pose, bounds, &format!("frame {frame}"));
        worst = worst.max(bounds.diagonal() / exact.diagonal());
    }
    println!("largest diagonal over the exact one: {worst}");
    assert!(worst <= 1.5, "diagonal {worst} times the exact one");
}

#[test]
fn bounds_one_joint_moves_only_what_it_holds() {
    let pack = synthetic::pack(V, SMALL_REGIONS, BasisFormat::F16);
    let bounds = GnmBounds::new(&pack);
    let mut pose = GnmPose::new(&pack);
    let turn = JointOverride { joint: "head", rotation: Quat::from_rotation_y(std::f32::consts::FRAC_PI_2) };
    pose.set_joint_overrides(&pack, &[turn]).expect("overrides");
    let bounds = bounds.bounds(&pose);
    let exact = check_holds(&pack, &pose, Stage::Pose, bounds, "quarter turn");
    for axis in 0..3 {
        let slack = (exact.min[axis] - bounds.min[axis]).max(bounds.max[axis] - exact.max[axis]);
        assert!(slack < 0.05 * exact.diagonal(), "axis {axis}: {bounds:?} around {exact:?}");
    }
}
