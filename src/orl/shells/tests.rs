use super::*;
use glam::DMat3;

const LEFT: usize = 1;
const RIGHT: usize = 2;
const UPPER: usize = 3;
const LOWER: usize = 4;

/// A head joint and the four that carry shells, positions in cm.
fn skeleton() -> (Skeleton, Vec<DAffine3>) {
    let names = ["head"].iter().chain(&SHELL_JOINTS).map(|n| n.to_string()).collect();
    let at = [[0.0; 3], [3.25, 0.0, 0.0], [-3.25, 0.0, 0.0], [0.0, -6.0, 0.0], [0.0, -8.0, 0.0]];
    let worlds = at.map(|p| DAffine3::from_translation(DVec3::from(p))).to_vec();
    let bind = worlds.iter().map(DAffine3::inverse).collect();
    (Skeleton::new(names, vec![None, Some(0), Some(0), Some(0), Some(0)], bind), worlds)
}

/// Pieces of `size` vertices in a strip of triangles, all of them at one point, so that their centre is that point.
fn mesh(pieces: &[(usize, [f32; 3])]) -> ShellMesh {
    let mut mesh = ShellMesh { name: "eyes".into(), ..ShellMesh::default() };
    for &(size, centre) in pieces {
        let first = mesh.positions.len() as u32;
        mesh.positions.extend(vec![centre; size]);
        mesh.triangles.extend((2..size as u32).map(|i| [first + i - 2, first + i - 1, first + i]));
    }
    mesh
}

fn assigned(pieces: &[(usize, [f32; 3])]) -> ShellPieces {
    let (skeleton, worlds) = skeleton();
    assign(&mesh(pieces), &skeleton, &worlds, 1.0).unwrap()
}

fn joints(pieces: &[(usize, [f32; 3])]) -> Vec<Option<usize>> {
    assigned(pieces).pieces.iter().map(|p| p.joint).collect()
}

#[test]
fn mode_follows_the_vertex_count() {
    assert_eq!(drive_mode(24_049, 24_049), DriveMode::Skin);
    assert_eq!(drive_mode(300, 300), DriveMode::Skin);
    assert_eq!(drive_mode(4096, 24_049), DriveMode::Shell);
    assert_eq!(drive_mode(0, 24_049), DriveMode::Shell);
    assert_eq!(drive_mode(4097, 24_049), DriveMode::None);
    assert_eq!(drive_mode(24_048, 24_049), DriveMode::None);
}

#[test]
fn pieces_go_to_the_joints_they_surround() {
    let got = assigned(&[(3, [0.0, -8.5, 0.0]), (5, [-3.0, 0.0, 0.0]), (6, [3.0, 0.0, 0.0]), (4, [0.0, -5.5, 0.0])]);
    let of = |vertex_count, joint, distance| Piece { vertex_count, joint: Some(joint), distance };
    assert_eq!(got.pieces, [of(6, LEFT, 0.25), of(5, RIGHT, 0.25), of(4, UPPER, 0.5), of(3, LOWER, 0.5)]);
    let by_vertex: Vec<usize> = got.joints.iter().map(|j| j.unwrap()).collect();
    assert_eq!(by_vertex, [[LOWER; 3].as_slice(), &[RIGHT; 5], &[LEFT; 6], &[UPPER; 4]].concat());
}

#[test]
fn centre_is_the_mean_of_the_vertices() {
    let (skeleton, worlds) = skeleton();
    let positions = vec![[3.25, 0.0, 0.0], [3.25, 0.0, 0.0], [3.25, 0.0, 6.0]];
    let mesh = ShellMesh { name: String::new(), positions, triangles: vec![[0, 1, 2]] };
    let got = assign(&mesh, &skeleton, &worlds, 1.0).unwrap();
    assert_eq!(got.pieces, [Piece { vertex_count: 3, joint: Some(LEFT), distance: 2.0 }]);
}

#[test]
fn joint_carries_one_piece_and_the_largest_comes_first() {
    // The small piece stands exactly on the eye; the large one, given later, takes it all the same.
    let got = assigned(&[(3, [3.25, 0.0, 0.0]), (9, [4.25, 0.0, 0.0])]);
    assert_eq!(got.pieces[0], Piece { vertex_count: 9, joint: Some(LEFT), distance: 1.0 });
    // What is left for it is 6.5 cm away.
    assert_eq!(got.pieces[1], Piece { vertex_count: 3, joint: None, distance: 6.5 });
    assert_eq!(got.joints[..3], [None; 3]);
}

#[test]
fn piece_whose_joint_is_taken_goes_to_the_next_in_reach() {
    assert_eq!(joints(&[(5, [0.0, -7.75, 0.0]), (4, [0.0, -7.75, 0.0])]), [Some(LOWER), Some(UPPER)]);
}

#[test]
fn reach_ends_at_four_centimetres() {
    let beyond = 7.25_f32.next_up();
    assert_eq!(joints(&[(3, [7.25, 0.0, 0.0])]), [Some(LEFT)]);
    assert_eq!(joints(&[(3, [beyond, 0.0, 0.0])]), [None]);
    assert_eq!(joints(&[(3, [0.0, -12.0, 0.0])]), [Some(LOWER)]);
    assert_eq!(joints(&[(3, [0.0, (-12.0_f32).next_up(), 0.0])]), [Some(LOWER)]);
    assert_eq!(joints(&[(3, [0.0, (-12.0_f32).next_down(), 0.0])]), [None]);
}

#[test]
fn pieces_are_the_same_in_metres() {
    let (skeleton, worlds) = skeleton();
    let given = [(7, [3.0, 1.0, 0.5]), (6, [-3.0, 3.9, 0.0]), (5, [0.0, -4.1, 0.0]), (4, [0.0, -12.1, 0.0])];
    let in_cm = assign(&mesh(&given), &skeleton, &worlds, 1.0).unwrap();
    assert_eq!(in_cm.pieces.iter().map(|p| p.joint).collect::<Vec<_>>(), [Some(LEFT), Some(RIGHT), Some(UPPER), None]);
    let mut in_m = mesh(&given);
    in_m.positions.as_flattened_mut().iter_mut().for_each(|x| *x *= 0.01);
    let worlds: Vec<DAffine3> = worlds.iter().map(|w| DAffine3::from_translation(w.translation * 0.01)).collect();
    let in_m = assign(&in_m, &skeleton, &worlds, 0.01).unwrap();
    assert_eq!(in_m.joints, in_cm.joints);
    for (m, cm) in in_m.pieces.iter().zip(&in_cm.pieces) {
        assert!((m.distance - cm.distance / 100.0).abs() < 1e-8, "{m:?} against {cm:?}");
    }
}

#[test]
fn ties_go_to_the_first_joint_and_the_lowest_vertex() {
    assert_eq!(joints(&[(3, [0.0; 3])]), [Some(LEFT)]);
    // Equally large: the piece of vertex 0 chooses first, though its triangles come last and name its vertices backwards.
    let mut mesh = mesh(&[(3, [1.0, 0.0, 0.0]), (3, [2.0, 0.0, 0.0])]);
    mesh.triangles = vec![[5, 4, 3], [2, 1, 0]];
    let (skeleton, worlds) = skeleton();
    let got = assign(&mesh, &skeleton, &worlds, 1.0).unwrap();
    assert_eq!(got.joints, [[Some(LEFT); 3], [None; 3]].concat());
}

#[test]
fn triangles_connect_and_isolated_vertices_are_pieces() {
    let (skeleton, worlds) = skeleton();
    let positions = vec![[3.25, 0.0, 0.0]; 8];
    // {0, 3, 5, 6, 7} through a chain that closes late; 1, 2 and 4 alone, one of them in a triangle of one corner.
    let triangles = vec![[7, 6, 7], [5, 3, 3], [2, 2, 2], [0, 5, 6]];
    let got = assign(&ShellMesh { name: String::new(), positions, triangles }, &skeleton, &worlds, 1.0).unwrap();
    assert_eq!(got.pieces.iter().map(|p| p.vertex_count).collect::<Vec<_>>(), [5, 1, 1, 1]);
    let carried: Vec<usize> = (0..8).filter(|&v| got.joints[v].is_some()).collect();
    assert_eq!(carried, [0, 3, 5, 6, 7]);
}

#[test]
fn absent_and_singular_joints_carry_nothing() {
    let bare = Skeleton::new(vec!["head".into()], vec![None], vec![DAffine3::IDENTITY]);
    let got = assign(&mesh(&[(3, [0.0; 3])]), &bare, &[DAffine3::IDENTITY], 1.0).unwrap();
    assert_eq!(got.pieces, [Piece { vertex_count: 3, joint: None, distance: f64::INFINITY }]);

    let (skeleton, mut worlds) = skeleton();
    for (scale, carries) in [(1.01e-4, true), (0.99e-4, false), (0.0, false), (f64::NAN, false), (-1.0, true)] {
        worlds[LEFT].matrix3 = DMat3::from_diagonal(DVec3::splat(scale));
        let got = assign(&mesh(&[(3, [5.0, 0.0, 0.0])]), &skeleton, &worlds, 1.0).unwrap();
        // The next joint is 7.8 cm away.
        assert_eq!(got.pieces[0].joint, carries.then_some(LEFT), "scale {scale}");
    }
}

#[test]
fn largest_mesh_is_taken_and_one_vertex_more_refused() {
    let (skeleton, worlds) = skeleton();
    let got = assign(&mesh(&[(4096, [3.0, 0.0, 0.0])]), &skeleton, &worlds, 1.0).unwrap();
    assert_eq!(got.pieces, [Piece { vertex_count: 4096, joint: Some(LEFT), distance: 0.25 }]);
    let got = assign(&mesh(&[(4097, [3.0, 0.0, 0.0])]), &skeleton, &worlds, 1.0).unwrap();
    assert_eq!(got.joints, vec![None; 4097], "too large for a shell: it stays neutral");
    let empty = assign(&ShellMesh::default(), &skeleton, &worlds, 1.0).unwrap();
    assert_eq!(empty, ShellPieces { joints: vec![], pieces: vec![] });
}

#[test]
fn wrong_numbers_are_refused_by_name() {
    let (skeleton, worlds) = skeleton();
    let refused = |change: &dyn Fn(&mut ShellMesh)| {
        let mut mesh = mesh(&[(4, [3.0, 0.0, 0.0])]);
        change(&mut mesh);
        let error = assign(&mesh, &skeleton, &worlds, 1.0).unwrap_err();
        assert_eq!(error.kind, LoadErrorKind::Value);
        error.to_string()
    };
    assert_eq!(
        refused(&|m| m.triangles[1][2] = 4),
        "shell \"eyes\": triangles[1]: expected indices below 4, got [1, 2, 4]"
    );
    assert_eq!(
        refused(&|m| m.positions[2][1] = f32::NAN),
        "shell \"eyes\": positions[2]: expected finite numbers, got [3.0, NaN, 0.0]"
    );
    assert!(refused(&|m| m.positions[3][0] = f32::INFINITY).contains("positions[3]"));
}
