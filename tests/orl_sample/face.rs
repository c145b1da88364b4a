//! The face does what the ARKit names say.

use super::rig::{
    ARKIT, FULL, HEAD, LEFT_EYE, Posed, RIGHT_EYE, Rig, SMALL, TEETH, largest, length, minus, nearest, way,
};
use std::collections::HashMap;

const CHIN: [f32; 3] = [0.0, 18.0, 12.6];
const LEFT_CORNER: [f32; 3] = [2.55, 21.4, 11.5];
const LEFT_UPPER_LID: [f32; 3] = [3.15, 29.1, 12.0];
const LEFT_BROW: [f32; 3] = [2.6, 30.6, 12.3];

#[test]
fn arkit_shapes_each_move_the_face_and_tear_nothing() {
    for rig in [&*FULL, &*SMALL] {
        let rest = rig.rest(0);
        for (shape, _) in ARKIT {
            let posed = rig.arkit(shape);
            let most = largest(&rest, &posed);
            assert!((0.05..8.0).contains(&most), "{shape} moves by {most} cm");
            let mesh = &rig.dna.meshes[HEAD];
            let corner = |face: &Vec<u32>, i: usize| mesh.layouts.positions[face[i % 4] as usize] as usize;
            let edges = mesh.faces.iter().flat_map(|f| (0..4).map(move |i| (corner(f, i), corner(f, i + 1))));
            let stretch = |(a, b): (usize, usize)| {
                let long = |v: &Posed| length(minus(v[HEAD][a], v[HEAD][b]));
                long(&posed) - long(&rest)
            };
            let longest = edges.map(stretch).fold(0.0, f32::max);
            // The inside of the mouth spans its opening with few quads.
            let limit = if shape == "jawOpen" { 3.0 } else { 1.0 };
            assert!(longest < limit, "{shape} stretches an edge by {longest} cm");
        }
    }
}

#[test]
fn arkit_shapes_move_their_part_their_way() {
    for rig in [&*FULL, &*SMALL] {
        let rest = rig.rest(0);
        let check = |shape: &str, place: [f32; 3], expected: [f32; 3]| {
            let moved = way(&rest, &rig.arkit(shape), place);
            for axis in 0..3 {
                let far = expected[axis].abs();
                if far > 0.0 {
                    assert!(
                        moved[axis] * expected[axis].signum() > far,
                        "{shape} at {place:?}: {moved:?}, not {expected:?}"
                    );
                }
            }
        };
        check("jawOpen", CHIN, [0.0, -2.5, 0.0]);
        check("jawForward", CHIN, [0.0, 0.0, 0.5]);
        check("jawLeft", CHIN, [0.5, 0.0, 0.0]);
        check("jawRight", CHIN, [-0.5, 0.0, 0.0]);
        check("mouthSmileLeft", LEFT_CORNER, [0.3, 0.3, 0.0]);
        check("mouthFrownLeft", LEFT_CORNER, [0.0, -0.3, 0.0]);
        check("mouthStretchLeft", LEFT_CORNER, [0.3, 0.0, 0.0]);
        check("mouthDimpleLeft", LEFT_CORNER, [0.1, 0.0, -0.1]);
        check("mouthLeft", LEFT_CORNER, [0.3, 0.0, 0.0]);
        check("mouthRight", LEFT_CORNER, [-0.3, 0.0, 0.0]);
        check("mouthPucker", LEFT_CORNER, [-0.3, 0.0, 0.1]);
        check("mouthFunnel", [0.0, 21.8, 12.8], [0.0, 0.1, 0.2]);
        check("mouthUpperUpLeft", [1.0, 21.8, 12.8], [0.0, 0.2, 0.0]);
        check("mouthLowerDownLeft", [1.0, 20.9, 12.8], [0.0, -0.2, 0.0]);
        check("mouthRollUpper", [0.0, 21.8, 12.8], [0.0, 0.0, -0.1]);
        check("mouthRollLower", [0.0, 20.9, 12.8], [0.0, 0.0, -0.1]);
        check("mouthShrugLower", CHIN, [0.0, 0.2, 0.0]);
        check("mouthShrugUpper", [0.0, 21.9, 12.8], [0.0, 0.1, 0.0]);
        check("browDownLeft", LEFT_BROW, [0.0, -0.25, 0.0]);
        check("browOuterUpLeft", [4.3, 30.8, 11.8], [0.0, 0.25, 0.0]);
        check("browInnerUp", [1.4, 30.8, 12.6], [0.0, 0.25, 0.0]);
        check("browInnerUp", [-1.4, 30.8, 12.6], [0.0, 0.25, 0.0]);
        check("cheekPuff", [4.3, 22.2, 10.0], [0.2, 0.0, 0.2]);
        check("cheekSquintLeft", [4.2, 26.6, 11.5], [0.0, 0.15, 0.0]);
        check("eyeSquintLeft", [3.15, 27.9, 11.9], [0.0, 0.1, 0.0]);
        check("eyeWideLeft", LEFT_UPPER_LID, [0.0, 0.05, 0.0]);
        check("noseSneerLeft", [1.3, 24.8, 12.6], [0.0, 0.15, 0.0]);
    }
}

#[test]
fn jaw_opens_with_the_lower_teeth_and_without_the_upper_ones() {
    for rig in [&*FULL, &*SMALL] {
        let (rest, open) = (rig.rest(0), rig.arkit("jawOpen"));
        let moved = |place: [f32; 3]| {
            let vertex = nearest(&rest[TEETH], place);
            minus(open[TEETH][vertex], rest[TEETH][vertex])
        };
        assert!(moved([0.0, 20.8, 11.0])[1] < -2.0, "{:?}", moved([0.0, 20.8, 11.0]));
        assert_eq!(moved([0.0, 22.2, 11.2]), [0.0; 3]);
    }
}

#[test]
fn jaw_opens_alike_at_every_level() {
    for rig in [&*FULL, &*SMALL] {
        let (rest, open) = (rig.rest(0), rig.posed(&["jawOpen"], 0));
        for lod in 1..usize::from(rig.dna.descriptor.lod_count) {
            let coarse = rig.rest(lod);
            let place = coarse[HEAD][nearest(&coarse[HEAD], CHIN)];
            let moved = way(&coarse, &rig.posed(&["jawOpen"], lod), place);
            let finest = way(&rest, &open, place);
            let off = length(minus(moved, finest));
            assert!(finest[1] < -2.5 && off < 0.15 * length(finest), "LOD {lod}: {moved:?} against {finest:?}");
        }
    }
}

/// Upper and lower vertices of the rim of the left eye or of the mouth that lie over each other, from the pockets' first ring.
fn lip_pairs(rig: &Rig) -> Vec<(usize, usize)> {
    // Closed lips touch: pairs of vertices that nearly coincide at rest.
    let vertices = &rig.dna.meshes[HEAD].positions;
    let mut pairs = vec![];
    for (a, p) in vertices.iter().enumerate().filter(|(_, p)| p[2] > 11.0 && (p[1] - 21.4).abs() < 0.3) {
        for (b, q) in vertices.iter().enumerate() {
            if a < b && length(minus(*p, *q)) < 1e-3 && p[0].abs() < 1.5 {
                pairs.push(if p[1] > q[1] { (a, b) } else { (b, a) });
            }
        }
    }
    pairs
}

#[test]
fn mouth_close_shuts_the_lips_over_an_open_jaw() {
    for rig in [&*FULL, &*SMALL] {
        let pairs = lip_pairs(rig);
        assert!(pairs.len() >= 3, "{} pairs", pairs.len());
        let gap = |posed: &Posed| {
            pairs
                .iter()
                .map(|(upper, lower)| length(minus(posed[HEAD][*upper], posed[HEAD][*lower])))
                .fold(0.0, f32::max)
        };
        let mut both = ARKIT.iter().find(|(name, _)| *name == "mouthClose").unwrap().1.to_vec();
        both.push("jawOpen");
        let (open, closed) = (gap(&rig.arkit("jawOpen")), gap(&rig.posed(&both, 0)));
        assert!(open > 2.0, "open by {open} cm");
        assert!(closed < 0.15 * open, "{closed} cm of {open} cm stay");
        assert!(gap(&rig.rest(0)) < 1e-3);
    }
}

#[test]
fn blink_closes_the_left_eye_alone() {
    for rig in [&*FULL, &*SMALL] {
        let (rest, closed) = (rig.rest(0), rig.arkit("eyeBlinkLeft"));
        let moved = way(&rest, &closed, LEFT_UPPER_LID);
        assert!(moved[1] < -0.35, "{moved:?}");
        // The lids meet: nothing of the eyeball's front stays in sight between them.
        let lid = nearest(&rest[HEAD], LEFT_UPPER_LID);
        let lower = nearest(&rest[HEAD], [rest[HEAD][lid][0], 28.1, 12.1]);
        let opening = |v: &Posed| v[HEAD][lid][1] - v[HEAD][lower][1];
        assert!(opening(&rest) > 0.6 && opening(&closed) < 0.25, "{} to {}", opening(&rest), opening(&closed));
        let right = rest[HEAD].iter().zip(&closed[HEAD]).filter(|(p, _)| p[0] < -0.2);
        let most = right.map(|(a, b)| length(minus(*b, *a))).fold(0.0, f32::max);
        assert!(most < 0.005, "the right side moves by {most} cm");
        assert_eq!(rest[RIGHT_EYE], closed[RIGHT_EYE]);
    }
}

#[test]
fn eyes_look_where_the_names_say() {
    for rig in [&*FULL, &*SMALL] {
        let rest = rig.rest(0);
        let look = |shape: &str, eye: usize| {
            let posed = rig.arkit(shape);
            let front = (0..rest[eye].len()).max_by(|a, b| rest[eye][*a][2].total_cmp(&rest[eye][*b][2])).unwrap();
            minus(posed[eye][front], rest[eye][front])
        };
        assert!(look("eyeLookUpLeft", LEFT_EYE)[1] > 0.4);
        assert!(look("eyeLookDownLeft", LEFT_EYE)[1] < -0.4);
        assert!(look("eyeLookOutLeft", LEFT_EYE)[0] > 0.4);
        assert!(look("eyeLookInLeft", LEFT_EYE)[0] < -0.4);
        assert!(look("eyeLookOutRight", RIGHT_EYE)[0] < -0.4);
        assert!(look("eyeLookInRight", RIGHT_EYE)[0] > 0.4);
        assert_eq!(look("eyeLookUpLeft", RIGHT_EYE), [0.0; 3]);
    }
}

#[test]
fn right_shapes_are_the_images_of_left_ones() {
    let rig = &SMALL;
    let rest = rig.rest(0);
    let image_mesh = |mesh: usize| [HEAD, TEETH, RIGHT_EYE, LEFT_EYE][mesh];
    let key = |[x, y, z]: [f32; 3]| [x + 0.0, y, z].map(f32::to_bits);
    let index: Vec<HashMap<[u32; 3], usize>> =
        (0..4).map(|m| rig.dna.meshes[m].positions.iter().enumerate().map(|(v, p)| (key(*p), v)).collect()).collect();
    let mut pairs = 0;
    for (left, _) in ARKIT.iter().filter(|(name, _)| name.ends_with("Left")) {
        let right = left.replace("Left", "Right");
        let (left_pose, right_pose) = (rig.arkit(left), rig.arkit(&right));
        pairs += 1;
        for mesh in 0..4 {
            for (vertex, p) in rig.dna.meshes[mesh].positions.iter().enumerate() {
                let image = index[image_mesh(mesh)][&key([0.0 - p[0], p[1], p[2]])];
                let l = minus(left_pose[mesh][vertex], rest[mesh][vertex]);
                let r = minus(right_pose[image_mesh(mesh)][image], rest[image_mesh(mesh)][image]);
                let off = length(minus([-r[0], r[1], r[2]], l));
                assert!(off < 2e-4, "{left} mesh {mesh} vertex {vertex}: {l:?} and {r:?}");
            }
        }
    }
    assert_eq!(pairs, 20);
}

#[test]
fn head_turns_left_up_and_to_the_side() {
    let rig = &SMALL;
    let rest = rig.rest(0);
    let nose = |control: &str| way(&rest, &rig.posed(&[control], 0), [0.0, 24.6, 13.8]);
    assert!(nose("headTurnLeft")[0] > 3.0, "{:?}", nose("headTurnLeft"));
    assert!(nose("headTurnRight")[0] < -3.0);
    assert!(nose("headTurnUp")[1] > 3.0, "{:?}", nose("headTurnUp"));
    assert!(nose("headTurnDown")[1] < -3.0);
    let crown = way(&rest, &rig.posed(&["headTiltLeft"], 0), [0.0, 38.0, -1.0]);
    assert!(crown[0] > 3.0, "{crown:?}");
}
