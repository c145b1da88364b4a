//! The sample head as a glTF file: what is in it, and a face that does what the ARKit names say.

use glam::{DQuat, DVec3, Vec3};
use rigeval::expression::ArkitShape;
use rigeval::files::Files;
use rigeval::gltf::cpu::{gltf_morph, gltf_morph_normals};
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::gltf::report::LoadReport;
use rigeval::gltf::sample::sample;
use rigeval::head::HeadSize;
use rigeval::normals::{Incidence, normals};
use rigeval::skeleton::humanoid::{HumanoidBone, humanoid_of};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

static SMALL: LazyLock<GltfModel> = LazyLock::new(|| load(HeadSize::Small));

fn load(size: HeadSize) -> GltfModel {
    GltfModel::load(&sample(size), &Files::Memory(BTreeMap::new())).unwrap()
}

/// The pose at these weights, on every mesh that has the shape.
fn pose(model: &GltfModel, weights: &[(&str, f32)]) -> GltfPose {
    let mut controls = model.controls().defaults().to_vec();
    for (shape, weight) in weights {
        let ending = format!("/{shape}");
        let names = model.controls().names().iter().enumerate().filter(|(_, n)| n.starts_with("morph/"));
        let named: Vec<usize> = names.filter(|(_, n)| n.ends_with(&ending)).map(|(index, _)| index).collect();
        assert!(!named.is_empty(), "no target {shape}");
        named.into_iter().for_each(|index| controls[index] = *weight);
    }
    posed(model, &controls)
}

fn posed(model: &GltfModel, controls: &[f32]) -> GltfPose {
    let mut pose = GltfPose::new(model, OutputSpace::World);
    pose.set_controls(model, controls).unwrap();
    pose
}

fn vertices(model: &GltfModel, weights: &[(&str, f32)]) -> Vec<Vec3> {
    gltf_morph(model.mesh(), &pose(model, weights)).into_iter().map(Vec3::from).collect()
}

fn at_time(model: &GltfModel, time: f64) -> Vec<f32> {
    let clip = &model.clips()[0];
    let mut controls = model.controls().defaults().to_vec();
    clip.sample(time, &mut clip.cursor(), &mut controls);
    controls
}

/// The vertices of a mesh node.
fn mesh(model: &GltfModel, name: &str) -> Range<usize> {
    let is_it = |node: usize| model.skeleton().names()[model.joint_of_node(node).unwrap()] == name;
    let parts: Vec<_> = model.mesh().parts().iter().filter(|part| is_it(part.node)).collect();
    parts[0].vertices.start..parts[parts.len() - 1].vertices.end
}

fn control(model: &GltfModel, name: &str) -> usize {
    model.controls().names().iter().position(|n| n == name).unwrap_or_else(|| panic!("no control {name}"))
}

/// Turns a joint of the rig, whose joints have no turn at rest.
fn turned(model: &GltfModel, joint: &str, turn: DQuat) -> Vec<f32> {
    let mut controls = model.controls().defaults().to_vec();
    let first = control(model, &format!("node/{joint}/rotation/x"));
    controls[first..first + 4].copy_from_slice(&turn.as_quat().to_array());
    controls
}

#[test]
fn sample_loads_without_a_remark_but_its_sparse_targets() {
    for size in [HeadSize::Full, HeadSize::Small, HeadSize::Tiny] {
        let model = load(size);
        let sparse_accessors = model.report().sparse_accessors;
        assert_eq!(*model.report(), LoadReport { sparse_accessors, ..LoadReport::default() }, "{size:?}");
        assert!((80..2 * 70).contains(&sparse_accessors), "{sparse_accessors}");
    }
}

#[test]
fn sample_has_the_sizes_that_it_promises() {
    let full = sample(HeadSize::Full);
    assert!((1_000_000..4_000_000).contains(&full.len()), "{} bytes", full.len());
    let model = load(HeadSize::Full);
    assert_eq!((model.mesh().vertex_count(), model.mesh().render().triangles.len()), (17_821, 35_324));
    assert_eq!(load(HeadSize::Tiny).mesh().vertex_count(), 447);
    assert_eq!(SMALL.mesh().vertex_count(), 2_090);
    let small = sample(HeadSize::Small);
    assert!(small.len() < 400_000, "{} bytes", small.len());
}

#[test]
fn sample_gives_the_same_bytes_on_any_number_of_threads() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert!(one.install(|| sample(HeadSize::Small)) == sample(HeadSize::Small));
}

#[test]
fn skin_has_all_arkit_shapes_and_other_meshes_those_that_move_them() {
    let targets = |mesh: &str| -> Vec<String> {
        let prefix = format!("morph/{mesh}/");
        SMALL.controls().names().iter().filter_map(|n| Some(n.strip_prefix(&prefix)?.to_string())).collect()
    };
    let mut all = ArkitShape::ALL.map(|shape| shape.name().to_string());
    all.sort();
    assert_eq!(targets("skin"), all);
    let looks = |side: &str| ["Down", "In", "Out", "Up"].map(|way| format!("eyeLook{way}{side}"));
    assert_eq!(targets("left_eyeball"), looks("Left"));
    assert_eq!(targets("right_eyeball"), looks("Right"));
    assert_eq!(targets("upper_teeth"), [""; 0]);
    let jaw = ["jawForward", "jawLeft", "jawOpen", "jawRight"];
    assert_eq!(targets("lower_teeth"), jaw);
    assert_eq!(targets("tongue"), [&jaw[..], &["tongueOut"]].concat());
    assert!(SMALL.controls().defaults()[..SMALL.controls().morph_count()].iter().all(|w| *w == 0.0));
}

#[test]
fn joints_are_the_humanoid_bones_that_they_are_named_after() {
    let map = humanoid_of(SMALL.skeleton().names());
    let joint = |name: &str| SMALL.skeleton().names().iter().position(|n| n == name).unwrap();
    let expected = [
        (HumanoidBone::Neck, "neck"),
        (HumanoidBone::Head, "head"),
        (HumanoidBone::LeftEye, "leftEye"),
        (HumanoidBone::RightEye, "rightEye"),
    ];
    assert_eq!(map.joints, expected.map(|(bone, name)| (bone, joint(name))).into());
    assert!(map.ambiguous.is_empty(), "{:?}", map.ambiguous);
}

#[test]
fn normals_are_of_unit_length_and_look_outward() {
    let normals = SMALL.mesh().normals().unwrap();
    assert!(normals.iter().all(|n| (Vec3::from(*n).length() - 1.0).abs() < 1e-5));
    let positions = SMALL.rest_positions();
    for name in ["left_eyeball", "right_eyeball"] {
        let vertices = mesh(&SMALL, name);
        let shell = vertices.end - 98..vertices.end;
        let centre = positions[shell.clone()].iter().map(|p| Vec3::from(*p)).sum::<Vec3>() / 98.0;
        assert!(shell.clone().all(|v| (Vec3::from(positions[v]) - centre).dot(normals[v].into()) > 0.0), "{name}");
    }
}

#[test]
fn target_shades_the_surface_that_it_makes() {
    let open = pose(&SMALL, &[("jawOpen", 1.0)]);
    let (posed, shaded) = (gltf_morph(SMALL.mesh(), &open), gltf_morph_normals(SMALL.mesh(), &open).unwrap());
    let faces = &SMALL.mesh().render().triangles;
    let from_faces = normals(&posed, faces, &Incidence::new(faces, posed.len()));
    let mean_off = |normals: &[[f32; 3]]| {
        let skin = mesh(&SMALL, "skin");
        let off = |v: usize| Vec3::from(normals[v]).angle_between(from_faces[v].into());
        skin.clone().map(off).sum::<f32>() / skin.len() as f32
    };
    // Triangles weigh the corners of a quad otherwise than the quad does, so some is left.
    let (own, at_rest) = (mean_off(&shaded), mean_off(SMALL.mesh().normals().unwrap()));
    assert!(own < 0.04 && at_rest > 2.0 * own, "{own} rad, of the normals at rest {at_rest}");
}

/// Shape, axis and sign of what moves, the least that the vertex which moves most does so, and which side it is on: 1 is the subject's left.
#[rustfmt::skip]
const FACE: [(&str, usize, f32, f32, f32); 44] = [
    ("browDownLeft", 1, -1.0, 0.003, 1.0), ("browDownRight", 1, -1.0, 0.003, -1.0), ("browInnerUp", 1, 1.0, 0.003, 0.0),
    ("browOuterUpLeft", 1, 1.0, 0.003, 1.0), ("browOuterUpRight", 1, 1.0, 0.003, -1.0), ("cheekPuff", 2, 1.0, 0.003, 0.0),
    ("cheekSquintLeft", 1, 1.0, 0.002, 1.0), ("cheekSquintRight", 1, 1.0, 0.002, -1.0),
    ("eyeBlinkLeft", 1, -1.0, 0.005, 1.0), ("eyeBlinkRight", 1, -1.0, 0.005, -1.0),
    ("eyeSquintLeft", 1, 1.0, 0.002, 1.0), ("eyeSquintRight", 1, 1.0, 0.002, -1.0),
    ("eyeWideLeft", 1, 1.0, 0.001, 1.0), ("eyeWideRight", 1, 1.0, 0.001, -1.0),
    ("jawForward", 2, 1.0, 0.005, 0.0), ("jawLeft", 0, 1.0, 0.006, 0.0), ("jawOpen", 1, -1.0, 0.02, 0.0),
    ("jawRight", 0, -1.0, 0.006, 0.0), ("mouthClose", 1, 1.0, 0.01, 0.0),
    ("mouthDimpleLeft", 0, 1.0, 0.002, 1.0), ("mouthDimpleRight", 0, -1.0, 0.002, -1.0),
    ("mouthFrownLeft", 1, -1.0, 0.003, 1.0), ("mouthFrownRight", 1, -1.0, 0.003, -1.0),
    ("mouthFunnel", 2, 1.0, 0.003, 0.0), ("mouthLeft", 0, 1.0, 0.005, 0.0),
    ("mouthLowerDownLeft", 1, -1.0, 0.003, 1.0), ("mouthLowerDownRight", 1, -1.0, 0.003, -1.0),
    ("mouthPressLeft", 2, -1.0, 0.001, 1.0), ("mouthPressRight", 2, -1.0, 0.001, -1.0),
    ("mouthPucker", 2, 1.0, 0.003, 0.0), ("mouthRight", 0, -1.0, 0.005, 0.0),
    ("mouthRollLower", 2, -1.0, 0.002, 0.0), ("mouthRollUpper", 2, -1.0, 0.002, 0.0),
    ("mouthShrugLower", 1, 1.0, 0.002, 0.0), ("mouthShrugUpper", 1, 1.0, 0.002, 0.0),
    ("mouthSmileLeft", 1, 1.0, 0.005, 1.0), ("mouthSmileRight", 1, 1.0, 0.005, -1.0),
    ("mouthStretchLeft", 0, 1.0, 0.005, 1.0), ("mouthStretchRight", 0, -1.0, 0.005, -1.0),
    ("mouthUpperUpLeft", 1, 1.0, 0.004, 1.0), ("mouthUpperUpRight", 1, 1.0, 0.004, -1.0),
    ("noseSneerLeft", 1, 1.0, 0.002, 1.0), ("noseSneerRight", 1, 1.0, 0.002, -1.0), ("tongueOut", 2, 1.0, 0.02, 0.0),
];

#[test]
fn shape_moves_the_side_that_it_names_the_way_that_it_says() {
    let rest = vertices(&SMALL, &[]);
    for (shape, axis, sign, least_m, side) in FACE {
        let moved: Vec<Vec3> = vertices(&SMALL, &[(shape, 1.0)]).iter().zip(&rest).map(|(p, r)| *p - *r).collect();
        let along = || moved.iter().map(|d| sign * d[axis]);
        let most = along().fold(0.0, f32::max);
        assert!(most > least_m && along().sum::<f32>() > 0.0, "{shape}: {most} m, {} in all", along().sum::<f32>());
        let weight: f32 = moved.iter().map(|d| d.length()).sum();
        let x = moved.iter().zip(&rest).map(|(d, p)| d.length() * p.x).sum::<f32>() / weight;
        // A brow reaches a little over the midline.
        let other: f32 = moved.iter().zip(&rest).filter(|(_, p)| p.x * side < -0.008).map(|(d, _)| d.length()).sum();
        match side {
            0.0 => assert!(x.abs() < 2e-4, "{shape} lies at x = {x}"),
            _ => {
                assert!(
                    x * side > 0.01 && other < 0.02 * weight,
                    "{shape} lies at x = {x}, and moves {other} of {weight} on the other side"
                )
            }
        }
    }
}

/// Left and right exchanged, in a shape's name.
fn image_of(shape: &str) -> String {
    match (shape.strip_suffix("Left"), shape.strip_suffix("Right")) {
        (Some(base), _) => format!("{base}Right"),
        (_, Some(base)) => format!("{base}Left"),
        _ => shape.to_string(),
    }
}

#[test]
fn shape_is_the_image_of_its_partner() {
    let rest = vertices(&SMALL, &[]);
    let key = |p: Vec3| (p + 0.0).to_array().map(f32::to_bits);
    let places: HashMap<[u32; 3], usize> = rest.iter().enumerate().map(|(v, p)| (key(*p), v)).collect();
    assert_eq!(places.len(), rest.len(), "two vertices at one place");
    let reflected = |p: Vec3| Vec3::new(-p.x, p.y, p.z);
    let partner: Vec<usize> = rest.iter().map(|p| places[&key(reflected(*p))]).collect();
    for shape in ArkitShape::ALL {
        let moved = vertices(&SMALL, &[(shape.name(), 1.0)]);
        let image = vertices(&SMALL, &[(image_of(shape.name()).as_str(), 1.0)]);
        let off = (0..rest.len()).map(|v| image[partner[v]].distance(reflected(moved[v]))).fold(0.0, f32::max);
        assert!(off < 1e-7, "{}: {off} m", shape.name());
    }
}

/// Where the tip of the cornea is seen from the centre of its eye.
fn gaze(positions: &[Vec3], eye: &str) -> Vec3 {
    let vertices = mesh(&SMALL, eye);
    let rest = SMALL.rest_positions();
    let tip = vertices.clone().max_by(|a, b| rest[*a][2].total_cmp(&rest[*b][2])).unwrap();
    let centre =
        SMALL.skeleton().names().iter().position(|n| *n == if eye == "left_eyeball" { "leftEye" } else { "rightEye" });
    let centre = GltfPose::new(&SMALL, OutputSpace::World).worlds()[centre.unwrap()].translation.as_vec3();
    positions[tip] - centre
}

#[test]
fn eye_look_targets_and_eye_joints_turn_the_eyes_alike() {
    const ANGLE_DEG: f64 = 20.0;
    // Around x: down is positive; around y: to the subject's left.
    let ways = [("Down", DVec3::X, 1.0), ("Up", DVec3::X, -1.0), ("In", DVec3::Y, -1.0), ("Out", DVec3::Y, 1.0)];
    for (side, eye, other, joint) in
        [("Left", "left_eyeball", "right_eyeball", "leftEye"), ("Right", "right_eyeball", "left_eyeball", "rightEye")]
    {
        for (way, axis, sign) in ways {
            let sign = if side == "Right" && axis == DVec3::Y { -sign } else { sign };
            let turn = DQuat::from_axis_angle(axis, (sign * ANGLE_DEG).to_radians());
            let by_joint: Vec<Vec3> = gltf_morph(SMALL.mesh(), &posed(&SMALL, &turned(&SMALL, joint, turn)))
                .into_iter()
                .map(Vec3::from)
                .collect();
            let rest = vertices(&SMALL, &[]);
            let expected = turn.as_quat() * gaze(&rest, eye);
            assert!(gaze(&by_joint, eye).distance(expected) < 1e-6, "{joint}");
            assert_eq!(gaze(&by_joint, other), gaze(&rest, other), "{joint}");

            let shape = format!("eyeLook{way}{side}");
            let whole = gaze(&vertices(&SMALL, &[(&shape, 1.0)]), eye);
            assert!(whole.distance(expected) < 2e-5, "{shape}: {whole}, the joint: {expected}");
            let half = gaze(&vertices(&SMALL, &[(&shape, 0.5)]), eye);
            assert!(half.length() > 0.984 * whole.length(), "{shape}: half way the eye is {} m", half.length());
            assert!((half.angle_between(whole).to_degrees() - 10.0).abs() < 0.2, "{shape}");
            assert_eq!(gaze(&vertices(&SMALL, &[(&shape, 1.0)]), other), gaze(&rest, other), "{shape}");
        }
    }
}

/// Pairs of vertices on the closed lips: (upper, lower), away from the corners.
fn lips(model: &GltfModel, positions: &[Vec3]) -> Vec<(usize, usize)> {
    let skin = mesh(model, "skin");
    let front = |v: &usize| positions[*v].z > 0.115 && (positions[*v].y - 0.214).abs() < 0.003;
    let near: Vec<usize> = skin.filter(front).collect();
    let touch = |a: usize, b: usize| positions[a].distance(positions[b]) < 1e-5 && positions[a].y > positions[b].y;
    near.iter().flat_map(|a| near.iter().filter(|b| touch(*a, **b)).map(|b| (*a, *b))).collect()
}

#[test]
fn mouth_close_brings_the_lips_together_over_an_open_jaw() {
    let rest = vertices(&SMALL, &[]);
    let lips = lips(&SMALL, &rest);
    assert!(lips.len() >= 5, "{lips:?}");
    let widest = |weights: &[(&str, f32)]| {
        let p = vertices(&SMALL, weights);
        lips.iter().map(|(a, b)| p[*a].distance(p[*b])).fold(0.0, f32::max)
    };
    for weight in [0.3, 1.0] {
        let open = widest(&[("jawOpen", weight)]);
        assert!(open > 0.025 * weight, "{open} m open");
        let closed = widest(&[("jawOpen", weight), ("mouthClose", weight)]);
        assert!(closed < 1e-4, "{closed} m apart");
    }
}

#[test]
fn clip_speaks_blinks_and_looks_around_from_rest_to_rest() {
    let model = &*SMALL;
    let clip = &model.clips()[0];
    assert_eq!((clip.name(), clip.end()), (Some("speech"), 2.5));
    let rest = model.controls().defaults();
    for time in [0.0, 2.5] {
        let ends = at_time(model, time);
        let off = ends.iter().zip(rest).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 1e-6, "{off} from rest at {time} s");
    }
    let frames: Vec<Vec<f32>> = (0..=75).map(|frame| at_time(model, f64::from(frame) / 30.0)).collect();
    let range = |name: &str| {
        let control = control(model, name);
        let of = |pick: fn(f32, f32) -> f32| frames.iter().map(|f| f[control]).reduce(pick).unwrap();
        (of(f32::min), of(f32::max))
    };
    assert!(range("morph/skin/jawOpen").1 > 0.3 && range("morph/lower_teeth/jawOpen").1 > 0.3);
    assert!(range("morph/skin/eyeBlinkLeft").1 > 0.95);
    for joint in ["leftEye", "rightEye", "head"] {
        let (least, most) = range(&format!("node/{joint}/rotation/y"));
        assert!(least < -0.04 && most > 0.04, "{joint}: {least}..{most}");
    }
    assert!(range("node/neck/rotation/y").1 > 0.02);
    // Every weight of the clip is a weight of ARKit's range, and the meshes agree.
    for frame in &frames {
        assert!(frame[..model.controls().morph_count()].iter().all(|w| (0.0..=1.0).contains(w)));
        assert_eq!(frame[control(model, "morph/skin/jawOpen")], frame[control(model, "morph/tongue/jawOpen")]);
    }
    let opening = |controls: &[f32]| {
        let p = gltf_morph(model.mesh(), &posed(model, controls));
        let middle = *lips(model, &vertices(model, &[]))
            .iter()
            .min_by(|a, b| p[a.0][0].abs().total_cmp(&p[b.0][0].abs()))
            .unwrap();
        Vec3::from(p[middle.0]).distance(p[middle.1].into())
    };
    let widest = frames.iter().map(|f| opening(f)).fold(0.0, f32::max);
    assert!(widest > 0.008 && opening(&at_time(model, 1.25)) < 0.002, "{widest}");
}
