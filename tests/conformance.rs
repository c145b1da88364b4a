//! What the trait promises, in one body over every rig that stands behind it.
#![cfg(feature = "gpu")]

mod common;
mod rigs;
mod synthetic;

use common::{UNWRITTEN, device, fill_unwritten, vertices};
use glam::{Affine3A, Quat, Vec3};
use rigeval::backend::RigBackend;
use rigeval::error::ControlError;
use rigeval::gltf::gpu::{GltfBackend, GltfOptions};
use rigeval::gnm::gpu::{GnmBackend, GnmOptions};
use rigeval::gnm::pack::BasisFormat;
use rigeval::gnm::pose::Stage;
use rigeval::gpu::headless::Headless;
use rigeval::info::JointId;
use rigeval::math::Aabb;
use rigeval::orl::gpu::{OrlBackend, OrlOptions};
use rigeval::skeleton::JointOverride;
use rigeval::sparse::DeltaFormat;
use rigs::{apart, bounds_of, current, frame, gnm_model, gnm_sample, turn};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One rig of one kind, and what the body must know to move it.
struct Candidate {
    name: &'static str,
    rig: Box<dyn RigBackend>,
    /// Controls that a performance may send; another vector for another seed.
    sample: fn(&dyn RigBackend, u64) -> Vec<f32>,
    /// A joint with vertices of its own and a parent.
    joint: &'static str,
}

/// Every rig with N instances and previous positions on.
fn candidates(gpu: &Headless, instances: usize) -> Vec<Candidate> {
    let gnm = |name, format, normals| {
        let options = GnmOptions { normals, previous_positions: true, stage: Stage::Pose };
        let backend = GnmBackend::new(&gpu.context(), &gnm_model(gpu, format), instances, options);
        let rig: Box<dyn RigBackend> = Box::new(backend.expect("within the default limits"));
        Candidate { name, rig, sample: gnm_sample, joint: "head" }
    };
    let orl = |name, format, normals| {
        let options = OrlOptions { normals, previous_positions: true };
        let model = rigs::orl::device_model(gpu, rigs::orl::rig(&rigs::orl::dna(&rigs::orl::HEAD), format));
        let backend = OrlBackend::new(&gpu.context(), &model, instances, options);
        let rig: Box<dyn RigBackend> = Box::new(backend.expect("within the default limits"));
        Candidate { name, rig, sample: rigs::orl::sample, joint: "head" }
    };
    let gltf = |name, shaded| {
        let options = GltfOptions { normals: true, tangents: true, previous_positions: true, ..GltfOptions::default() };
        let model = rigs::gltf::device_model(gpu, rigs::gltf::model(shaded));
        let backend = GltfBackend::new(&gpu.context(), &model, instances, options);
        let rig: Box<dyn RigBackend> = Box::new(backend.expect("within the default limits"));
        Candidate { name, rig, sample: rigs::gltf::sample, joint: "head" }
    };
    vec![
        gnm("gnm f16", BasisFormat::F16, true),
        gnm("gnm i8", BasisFormat::I8, false),
        orl("orl i16", DeltaFormat::I16, true),
        orl("orl i8", DeltaFormat::I8, false),
        gltf("gltf", true),
        gltf("gltf without normals", false),
    ]
}

/// Runs `body` over every rig at 1 and 3 instances.
fn for_each(test: &str, body: impl Fn(&Headless, &mut Candidate, usize)) {
    let Some(gpu) = device(test) else { return };
    for instances in [1, 3] {
        for mut candidate in candidates(gpu, instances) {
            body(gpu, &mut candidate, instances);
        }
    }
}

fn poison(gpu: &Headless, rig: &dyn RigBackend) {
    let view = rig.vertices();
    view.positions.iter().for_each(|buffer| fill_unwritten(gpu, buffer));
    view.normals.iter().chain(&view.tangents).for_each(|buffer| fill_unwritten(gpu, buffer));
}

fn is_poisoned(gpu: &Headless, buffer: &wgpu::Buffer) -> bool {
    vertices(gpu, buffer).as_flattened().iter().all(|x| x.to_bits() == UNWRITTEN)
}

#[test]
fn info_counts_agree() {
    for_each("info_counts_agree", |_, c, instances| {
        let (info, view) = (c.rig.info(), c.rig.vertices());
        assert_eq!((info.instance_count, view.instance_count), (instances, instances), "{}", c.name);
        assert_eq!(info.vertex_count, view.vertex_count);
        assert_eq!(info.default_controls.len(), info.control_names.len());
        for buffer in view.positions.into_iter().chain(view.normals) {
            assert_eq!(buffer.size(), (instances * info.vertex_count * 12) as u64);
            assert!(buffer.usage().contains(rigeval::gpu::VERTEX_USAGES), "{}", c.name);
        }
        if let Some(buffer) = view.tangents {
            assert_eq!(buffer.size(), (instances * info.vertex_count * 16) as u64, "{}", c.name);
        }
        assert_eq!(view.instance_offset_bytes(instances), view.positions[0].size());
        let mesh = c.rig.mesh();
        assert!(mesh.triangles.iter().flatten().all(|&v| (v as usize) < info.vertex_count));
        let tiled = mesh.parts.iter().fold(0, |end, part| {
            assert_eq!(part.triangles.start, end, "{}: parts tile the triangles", c.name);
            part.triangles.end
        });
        assert_eq!(tiled, mesh.triangles.len());
        assert!(info.joint(c.joint).is_some());
    });
}

#[test]
fn rest_mesh_is_there_before_the_first_encode() {
    for_each("rest_mesh_is_there_before_the_first_encode", |gpu, c, instances| {
        let view = c.rig.vertices();
        assert_eq!(view.previous, view.current);
        let rest = current(gpu, &*c.rig);
        let first = &rest[..c.rig.info().vertex_count];
        assert!(rest.chunks_exact(first.len()).all(|instance| instance == first), "{}", c.name);
        let (stated, found) = (c.rig.info().rest_bounds, bounds_of(first));
        let slack = 0.01 * found.diagonal();
        for axis in 0..3 {
            assert!((stated.min[axis] - found.min[axis]).abs() < slack, "{}: {stated:?} {found:?}", c.name);
            assert!((stated.max[axis] - found.max[axis]).abs() < slack, "{}: {stated:?} {found:?}", c.name);
        }
        if let Some(normals) = view.normals {
            let lengths = vertices(gpu, normals).into_iter().map(|n| Vec3::from(n).length());
            let unit = lengths.filter(|l| (l - 1.0).abs() < 1e-5).count();
            assert!(unit > instances * first.len() * 9 / 10, "{}: {unit} unit normals", c.name);
        }
    });
}

#[test]
fn default_controls_change_nothing_and_record_nothing() {
    for_each("default_controls_change_nothing_and_record_nothing", |gpu, c, instances| {
        let defaults = c.rig.info().default_controls.clone();
        for instance in 0..instances {
            assert_eq!(c.rig.set_controls(instance, &defaults), Ok(false), "{}", c.name);
            assert_eq!(c.rig.set_joint_overrides(instance, &[]), Ok(false));
            assert_eq!(c.rig.set_joint_overrides(instance, &[turn(c.joint, 0.0)]), Ok(false));
            assert_eq!(c.rig.set_joint_worlds(instance, &[]), Ok(false));
        }
        assert_eq!(c.rig.set_controls_all(&defaults.repeat(instances)), Ok(false));
        poison(gpu, &*c.rig);
        frame(gpu, &mut *c.rig);
        let view = c.rig.vertices();
        let outputs = view.positions.iter().chain(&view.normals).chain(&view.tangents);
        assert!(outputs.into_iter().all(|b| is_poisoned(gpu, b)), "{}: a dispatch ran", c.name);
    });
}

#[test]
fn rest_computed_equals_rest_uploaded() {
    for_each("rest_computed_equals_rest_uploaded", |gpu, c, instances| {
        let rest = current(gpu, &*c.rig);
        let defaults = c.rig.info().default_controls.clone();
        for controls in [(c.sample)(&*c.rig, 1), defaults] {
            assert_eq!(c.rig.set_controls_all(&controls.repeat(instances)), Ok(true), "{}", c.name);
            frame(gpu, &mut *c.rig);
        }
        let error = apart(&rest, &current(gpu, &*c.rig));
        let scale = bounds_of(&rest).max.into_iter().chain(bounds_of(&rest).min).fold(1f32, |m, x| m.max(x.abs()));
        assert!(error <= 1e-6 * scale, "{}: {error}", c.name);
    });
}

#[test]
fn controls_say_whether_they_change_anything() {
    for_each("controls_say_whether_they_change_anything", |_, c, instances| {
        let (a, b) = ((c.sample)(&*c.rig, 1), (c.sample)(&*c.rig, 2));
        for instance in 0..instances {
            assert_eq!(c.rig.set_controls(instance, &a), Ok(true), "{}", c.name);
            assert_eq!(c.rig.set_controls(instance, &a), Ok(false), "{}", c.name);
        }
        assert_eq!(c.rig.set_controls_all(&a.repeat(instances)), Ok(false), "{}", c.name);
        let mut last_differs = a.repeat(instances);
        let at = last_differs.len() - b.len();
        last_differs[at..].copy_from_slice(&b);
        assert_eq!(c.rig.set_controls_all(&last_differs), Ok(true), "{}", c.name);
        assert_eq!(c.rig.set_controls(instances - 1, &b), Ok(false), "{}", c.name);
    });
}

#[test]
fn refused_controls_leave_the_previous_ones() {
    for_each("refused_controls_leave_the_previous_ones", |gpu, c, instances| {
        let good = (c.sample)(&*c.rig, 3);
        let width = good.len();
        assert_eq!(c.rig.set_controls_all(&good.repeat(instances)), Ok(true));
        frame(gpu, &mut *c.rig);
        let before = current(gpu, &*c.rig);

        let other = (c.sample)(&*c.rig, 4);
        let with = |value: f32| {
            let mut controls = other.clone();
            controls[width / 2] = value;
            controls
        };
        let length = |got| ControlError::Length { what: "controls", expected: width, got };
        let cases = [
            ("short", other[1..].to_vec(), length(width - 1)),
            ("long", [&other[..], &[0.0]].concat(), length(width + 1)),
            ("none", Vec::new(), length(0)),
        ];
        for (case, controls, error) in cases {
            assert_eq!(c.rig.set_controls(0, &controls), Err(error), "{}: {case}", c.name);
        }
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let refused = c.rig.set_controls(0, &with(value));
            assert!(
                matches!(refused, Err(ControlError::NotFinite { what: "controls", index, .. }) if index == width / 2)
            );
            // The last instance's alone is wrong; none of the others may change.
            let mut all = other.repeat(instances);
            all[width * (instances - 1)..].copy_from_slice(&with(value));
            assert!(c.rig.set_controls_all(&all).is_err(), "{}", c.name);
        }
        let short = c.rig.set_controls_all(&other.repeat(instances)[1..]);
        let (expected, got) = (width * instances, width * instances - 1);
        assert_eq!(short, Err(ControlError::Length { what: "controls", expected, got }), "{}", c.name);

        for instance in 0..instances {
            assert_eq!(c.rig.set_controls(instance, &good), Ok(false), "{}: the previous controls stand", c.name);
        }
        frame(gpu, &mut *c.rig);
        assert_eq!(current(gpu, &*c.rig), before, "{}", c.name);
    });
}

#[test]
fn controls_all_equal_controls_one_by_one() {
    for_each("controls_all_equal_controls_one_by_one", |gpu, c, instances| {
        let each: Vec<Vec<f32>> = (0..instances).map(|i| (c.sample)(&*c.rig, 20 + i as u64)).collect();
        assert_eq!(c.rig.set_controls_all(&each.concat()), Ok(true));
        frame(gpu, &mut *c.rig);
        let all = current(gpu, &*c.rig);
        let again = candidates(gpu, instances).into_iter().find(|other| other.name == c.name);
        let mut one_by_one = again.expect("the same rig").rig;
        for (instance, controls) in each.iter().enumerate() {
            assert_eq!(one_by_one.set_controls(instance, controls), Ok(true));
        }
        frame(gpu, &mut *one_by_one);
        assert_eq!(all, current(gpu, &*one_by_one), "{}", c.name);
    });
}

#[test]
fn instances_do_not_touch_each_other() {
    let Some(gpu) = device("instances_do_not_touch_each_other") else { return };
    for mut c in candidates(gpu, 3) {
        let rest = current(gpu, &*c.rig);
        let v = c.rig.info().vertex_count;
        let controls = (c.sample)(&*c.rig, 5);
        assert_eq!(c.rig.set_controls(1, &controls), Ok(true));
        assert_eq!(c.rig.set_joint_overrides(1, &[turn(c.joint, 0.3)]), Ok(true));
        frame(gpu, &mut *c.rig);
        let moved = current(gpu, &*c.rig);
        assert!(apart(&rest[..v], &moved[..v]) < 1e-5, "{}", c.name);
        assert!(apart(&rest[v..2 * v], &moved[v..2 * v]) > 1e-3, "{}", c.name);
        assert!(apart(&rest[2 * v..], &moved[2 * v..]) < 1e-5, "{}", c.name);
    }
}

#[test]
fn overrides_replace_each_other_and_never_accumulate() {
    for_each("overrides_replace_each_other_and_never_accumulate", |gpu, c, instances| {
        let last = instances - 1;
        let at = |rig: &mut dyn RigBackend| {
            frame(gpu, rig);
            current(gpu, rig)
        };
        let rest = current(gpu, &*c.rig);
        assert_eq!(c.rig.set_joint_overrides(last, &[turn(c.joint, 0.4)]), Ok(true), "{}", c.name);
        let turned = at(&mut *c.rig);
        assert!(apart(&rest, &turned) > 1e-3, "{}: the joint holds vertices", c.name);
        assert_eq!(c.rig.set_joint_overrides(last, &[turn(c.joint, 0.4)]), Ok(false), "{}", c.name);
        // Not a unit quaternion, but the same rotation.
        let longer = JointOverride { joint: c.joint, rotation: turn(c.joint, 0.4).rotation * 4.0 };
        assert_eq!(c.rig.set_joint_overrides(last, &[longer]), Ok(false), "{}", c.name);
        assert_eq!(
            c.rig.set_joint_overrides(last, &[turn("no such joint", 1.0)]),
            Ok(true),
            "a dropped one is a change"
        );
        assert!(apart(&rest, &at(&mut *c.rig)) < 1e-5);
        assert_eq!(c.rig.set_joint_overrides(last, &[turn("no such joint", 2.0)]), Ok(false));
        assert_eq!(c.rig.set_joint_overrides(last, &[turn(c.joint, -0.2)]), Ok(true));
        assert_eq!(c.rig.set_joint_overrides(last, &[turn(c.joint, 0.4)]), Ok(true));
        assert_eq!(turned, at(&mut *c.rig), "{}: rebuilt from rest", c.name);
    });
}

#[test]
fn refused_overrides_leave_the_previous_ones() {
    for_each("refused_overrides_leave_the_previous_ones", |_, c, _| {
        assert_eq!(c.rig.set_joint_overrides(0, &[turn(c.joint, 0.4)]), Ok(true));
        let (zero, nan) = (Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0));
        for rotation in [zero, nan, Quat::from_xyzw(f32::INFINITY, 0.0, 0.0, 1.0)] {
            let refused = c.rig.set_joint_overrides(0, &[JointOverride { joint: c.joint, rotation }]);
            assert!(matches!(refused, Err(ControlError::Quaternion { joint, .. }) if joint == c.joint), "{}", c.name);
        }
        let twice = c.rig.set_joint_overrides(0, &[turn(c.joint, 0.1), turn(c.joint, 0.1)]);
        assert_eq!(twice, Err(ControlError::DuplicateJoint { joint: c.joint.into() }));
        assert_eq!(c.rig.set_joint_overrides(0, &[turn(c.joint, 0.4)]), Ok(false), "{}", c.name);
        let unknown = [turn(c.joint, 0.4), turn("no such joint", 1.0)];
        assert_eq!(c.rig.info().unknown_joints(&unknown), ["no such joint"]);
    });
}

#[test]
fn joint_worlds_hold_until_they_are_given_back() {
    for_each("joint_worlds_hold_until_they_are_given_back", |gpu, c, instances| {
        let last = instances - 1;
        let rest = current(gpu, &*c.rig);
        let joint = c.rig.info().joint(c.joint).expect("the candidate's joint");
        let world = Affine3A::from_rotation_translation(Quat::from_rotation_z(0.5), Vec3::new(0.1, 1.4, 0.0));
        assert_eq!(c.rig.set_joint_worlds(last, &[(joint, world)]), Ok(true), "{}", c.name);
        frame(gpu, &mut *c.rig);
        let placed = current(gpu, &*c.rig);
        assert!(apart(&rest, &placed) > 1e-3);
        assert_eq!(c.rig.set_joint_worlds(last, &[(joint, world)]), Ok(false));
        assert_eq!(c.rig.set_joint_overrides(last, &[turn(c.joint, 0.7)]), Ok(false), "{}: its world wins", c.name);

        let count = c.rig.info().joint_names.len();
        let refused = c.rig.set_joint_worlds(last, &[(JointId(count), world)]);
        assert_eq!(refused, Err(ControlError::JointId { got: count, joint_count: count }));
        let twice = c.rig.set_joint_worlds(last, &[(joint, world), (joint, world)]);
        assert_eq!(twice, Err(ControlError::DuplicateJoint { joint: c.joint.into() }));
        let broken = Affine3A::from_translation(Vec3::new(0.0, f32::NAN, 0.0));
        let refused = c.rig.set_joint_worlds(last, &[(joint, broken)]);
        assert!(matches!(refused, Err(ControlError::NotFinite { .. })), "{}", c.name);
        assert_eq!(c.rig.set_joint_worlds(last, &[(joint, world)]), Ok(false), "{}: the previous one stands", c.name);

        assert_eq!(c.rig.set_joint_overrides(last, &[]), Ok(false));
        assert_eq!(c.rig.set_joint_worlds(last, &[]), Ok(true), "{}: given back", c.name);
        frame(gpu, &mut *c.rig);
        assert!(apart(&rest, &current(gpu, &*c.rig)) < 1e-5, "{}", c.name);
    });
}

#[test]
fn previous_positions_are_the_last_frames() {
    for_each("previous_positions_are_the_last_frames", |gpu, c, instances| {
        let identity = c.rig.vertices().positions.map(Clone::clone);
        let mut shown = current(gpu, &*c.rig);
        for step in 0..6u64 {
            // The steps 2 and 3 change nothing.
            let moves = !(2..4).contains(&step);
            if moves {
                let controls = (c.sample)(&*c.rig, 30 + step);
                assert_eq!(c.rig.set_controls_all(&controls.repeat(instances)), Ok(true));
            }
            frame(gpu, &mut *c.rig);
            let view = c.rig.vertices();
            assert_eq!(view.positions.map(Clone::clone), identity, "{}: the buffers keep their identity", c.name);
            let still = step == 0 || !moves;
            assert_eq!(view.previous == view.current, still, "{}: step {step}", c.name);
            if !still {
                assert_eq!(vertices(gpu, view.previous_positions()), shown, "{}: step {step}", c.name);
            }
            let now = current(gpu, &*c.rig);
            assert_eq!(moves, now != shown, "{}: step {step}", c.name);
            shown = now;
        }
    });
}

#[test]
fn unchanged_rig_records_nothing() {
    for_each("unchanged_rig_records_nothing", |gpu, c, instances| {
        let controls = (c.sample)(&*c.rig, 40).repeat(instances);
        assert_eq!(c.rig.set_controls_all(&controls), Ok(true));
        frame(gpu, &mut *c.rig);
        poison(gpu, &*c.rig);
        for _ in 0..2 {
            assert_eq!(c.rig.set_controls_all(&controls), Ok(false));
            frame(gpu, &mut *c.rig);
        }
        let view = c.rig.vertices();
        let outputs = view.positions.iter().chain(&view.normals).chain(&view.tangents);
        assert!(outputs.into_iter().all(|b| is_poisoned(gpu, b)), "{}: a dispatch ran", c.name);
    });
}

#[test]
fn encode_of_an_unchanged_rig_allocates_nothing() {
    for_each("encode_of_an_unchanged_rig_allocates_nothing", |gpu, c, instances| {
        let controls = (c.sample)(&*c.rig, 41).repeat(instances);
        c.rig.set_controls_all(&controls).expect("a sample");
        let mut encoder = gpu.encoder();
        let changed = allocation_counter::measure(|| c.rig.encode(gpu.queue(), &mut encoder));
        assert!(changed.count_total > 0, "the count would see an upload");
        let unchanged = allocation_counter::measure(|| c.rig.encode(gpu.queue(), &mut encoder));
        assert_eq!(unchanged.count_total, 0, "{}", c.name);
        gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
    });
}

#[test]
fn every_vertex_is_written_and_within_the_bounds() {
    for_each("every_vertex_is_written_and_within_the_bounds", |gpu, c, instances| {
        let v = c.rig.info().vertex_count;
        for step in 0..6u64 {
            for instance in 0..instances {
                let controls = (c.sample)(&*c.rig, 50 + step * 3 + instance as u64);
                c.rig.set_controls(instance, &controls).expect("a sample");
                c.rig.set_joint_overrides(instance, &[turn(c.joint, 0.2 * step as f32)]).expect("an override");
            }
            poison(gpu, &*c.rig);
            frame(gpu, &mut *c.rig);
            let found = current(gpu, &*c.rig);
            for (instance, vertices) in found.chunks_exact(v).enumerate() {
                let bounds = c.rig.bounds(instance);
                let outside = vertices.iter().position(|&p| !bounds.contains(p));
                assert_eq!(outside, None, "{}: a vertex of instance {instance} is outside {bounds:?}", c.name);
                let exact = bounds_of(vertices);
                assert!(bounds.diagonal() < 1.5 * exact.diagonal(), "{}: {bounds:?} around {exact:?}", c.name);
            }
        }
    });
}

#[test]
fn wrong_instance_panics_with_both_numbers() {
    let Some(gpu) = device("wrong_instance_panics_with_both_numbers") else { return };
    for mut c in candidates(gpu, 3) {
        let controls = c.rig.info().default_controls.clone();
        type Call<'a> = Box<dyn FnOnce(&mut dyn RigBackend) + 'a>;
        let calls: [Call; 4] = [
            Box::new(|rig| drop(rig.set_controls(7, &controls))),
            Box::new(|rig| drop(rig.set_joint_overrides(7, &[]))),
            Box::new(|rig| drop(rig.set_joint_worlds(7, &[]))),
            Box::new(|rig| assert_eq!(rig.bounds(7), Aabb::default())),
        ];
        for call in calls {
            let panic = catch_unwind(AssertUnwindSafe(|| call(&mut *c.rig))).expect_err("instance 7 of 3");
            let message = panic.downcast_ref::<String>().expect("a message");
            assert!(message.contains('7') && message.contains('3'), "{}: {message}", c.name);
        }
    }
}

#[test]
fn several_objects_share_one_submit() {
    let Some(gpu) = device("several_objects_share_one_submit") else { return };
    let mut together: Vec<Candidate> = candidates(gpu, 1).into_iter().chain(candidates(gpu, 3)).collect();
    let mut alone: Vec<Candidate> = candidates(gpu, 1).into_iter().chain(candidates(gpu, 3)).collect();
    for step in 0..2u64 {
        let mut encoder = gpu.encoder();
        for (i, (a, b)) in together.iter_mut().zip(&mut alone).enumerate() {
            let n = a.rig.info().instance_count;
            let controls = (a.sample)(&*a.rig, 60 + 7 * step + i as u64).repeat(n);
            assert_eq!(a.rig.set_controls_all(&controls), Ok(true));
            assert_eq!(b.rig.set_controls_all(&controls), Ok(true));
            a.rig.encode(gpu.queue(), &mut encoder);
            frame(gpu, &mut *b.rig);
        }
        gpu.submit(encoder).unwrap_or_else(|e| panic!("{e}"));
        for (a, b) in together.iter().zip(&alone) {
            assert_eq!(current(gpu, &*a.rig), current(gpu, &*b.rig), "{}, step {step}", a.name);
        }
    }
}
