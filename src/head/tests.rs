use super::*;
use std::collections::{BTreeMap, BTreeSet};

const SIZES: [HeadSize; 3] = [HeadSize::Full, HeadSize::Small, HeadSize::Tiny];
const OPEN_SIZES: [HeadSize; 2] = [HeadSize::Full, HeadSize::Small];

/// Skin vertices that share a quad with the pocket behind an opening.
fn rim(head: &Head, pocket: Tissue) -> BTreeSet<usize> {
    let touches = |quad: &&[u32; 4]| quad.iter().any(|v| head.tissues[*v as usize] == pocket);
    let corners = head.quads.iter().filter(touches).flatten().map(|v| *v as usize);
    corners.filter(|v| head.tissues[*v] == Tissue::Skin).collect()
}

/// Pairs of rim vertices that lie over each other, corners excluded: (upper, lower).
fn rim_pairs(head: &Head, rim: &BTreeSet<usize>) -> Vec<(usize, usize)> {
    let mut columns: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for vertex in rim {
        columns.entry((head.positions[*vertex].x * 1e6).round() as i64).or_default().push(*vertex);
    }
    let pairs = columns.values().filter(|column| column.len() == 2).map(|column| {
        let (a, b) = (column[0], column[1]);
        if head.positions[a].y > head.positions[b].y { (a, b) } else { (b, a) }
    });
    pairs.collect()
}

#[test]
fn head_counts_are_those_of_the_real_model() {
    let full = Head::build(HeadSize::Full);
    assert_eq!((full.vertex_count(), full.quads.len(), full.triangles().len()), (17_821, 17_662, 35_324));
    assert_eq!(Head::build(HeadSize::Tiny).vertex_count(), 447);
    let small = Head::build(HeadSize::Small).vertex_count();
    assert!((1_900..2_200).contains(&small), "small has {small} vertices");
}

#[test]
fn head_fine_has_the_skin_of_a_metahuman() {
    let head = Head::build_fine();
    assert_eq!(head.components.iter().filter(|c| **c == Component::Skin).count(), 24_049);
    for (vertex, partner) in head.mirror.iter().enumerate() {
        assert_eq!(head.positions[*partner as usize], mirror::reflected(head.positions[vertex]), "vertex {vertex}");
    }
    for (upper, lower) in rim_pairs(&head, &rim(&head, Tissue::MouthSock)) {
        assert!(head.positions[upper].distance(head.positions[lower]) < 1e-5);
    }
}

#[test]
fn head_every_vertex_is_used_and_every_edge_is_shared_consistently() {
    for size in SIZES {
        let head = Head::build(size);
        let used: BTreeSet<u32> = head.quads.iter().flatten().copied().collect();
        assert_eq!(used.len(), head.vertex_count(), "{size:?}");
        let mut directed = BTreeSet::new();
        for quad in &head.quads {
            for i in 0..4 {
                assert!(directed.insert((quad[i], quad[(i + 1) % 4])), "{size:?}: an edge runs twice the same way");
            }
        }
        // Only the shoulders' edge and the bowls' edges are open.
        let open = directed.iter().filter(|(a, b)| !directed.contains(&(*b, *a))).count();
        assert_eq!(open, 2 * (head.detail.front + head.detail.side) + 2 * 4 * head.detail.bowl, "{size:?}");
    }
}

#[test]
fn head_components_face_outward() {
    for size in SIZES {
        let head = Head::build(size);
        for component in Component::ALL {
            let centre = head.mean_where(|v| head.components[v] == component);
            let volume: f64 = head
                .triangles()
                .iter()
                .filter(|t| head.components[t[0] as usize] == component)
                .map(|t| t.map(|v| head.positions[v as usize] - centre))
                .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
                .sum();
            assert!(volume > 0.0, "{size:?} {component:?}: volume {volume}");
        }
    }
}

#[test]
fn head_mirror_is_an_involution_that_reflects_exactly() {
    for size in SIZES {
        let head = Head::build(size);
        for (vertex, partner) in head.mirror.iter().enumerate() {
            let partner = *partner as usize;
            assert_eq!(head.mirror[partner] as usize, vertex);
            assert_eq!(head.components[partner], head.components[vertex].mirrored());
            assert_eq!(head.tissues[partner], head.tissues[vertex]);
            assert_eq!(head.positions[partner], mirror::reflected(head.positions[vertex]), "{size:?} vertex {vertex}");
        }
    }
}

#[test]
fn head_before_symmetrising_differs_by_rounding_only() {
    for size in SIZES {
        let detail = Detail::of(size);
        let mut sheet = Sheet::build(&detail);
        sheet.open(&detail);
        let components = vec![Component::Skin; sheet.positions.len()];
        let partners = mirror::partners(&sheet.positions, &components);
        for (p, partner) in sheet.positions.iter().zip(&partners) {
            let miss = sheet.positions[*partner as usize].distance(mirror::reflected(*p));
            assert!(miss < 1e-12, "{size:?}: {p} misses its image by {miss} m");
        }
    }
}

#[test]
fn head_mouth_is_closed_at_rest() {
    for size in OPEN_SIZES {
        let head = Head::build(size);
        let pairs = rim_pairs(&head, &rim(&head, Tissue::MouthSock));
        assert!(pairs.len() >= 5, "{size:?}: {} pairs", pairs.len());
        for (upper, lower) in pairs {
            let gap = head.positions[upper].distance(head.positions[lower]);
            assert!(gap < 1e-5, "{size:?}: the lips gape by {gap} m");
        }
    }
}

#[test]
fn head_lids_lie_on_the_eyes() {
    for size in OPEN_SIZES {
        let head = Head::build(size);
        for (vertex, p) in head.positions.iter().enumerate().filter(|(v, _)| head.tissues[*v] == Tissue::Skin) {
            let d = *p - head.eye_centre(Side::of(p.x));
            let reach = anatomy::EYE_RADIUS * (1.0 + anatomy::CORNEA);
            assert!(d.z < 0.0 || d.length() > reach, "{size:?}: skin vertex {vertex} is inside an eyeball");
        }
    }
}

#[test]
fn motion_lid_sweep_with_margin_closes_the_eye() {
    for size in OPEN_SIZES {
        let head = Head::build(size);
        let closing: Vec<DVec3> = head
            .motion(Motion::LidSweep(Side::Left))
            .iter()
            .zip(head.motion(Motion::LidMargin(Side::Left)))
            .map(|(sweep, margin)| *sweep + margin)
            .collect();
        let margins: BTreeSet<usize> =
            rim(&head, Tissue::EyeSocket).into_iter().filter(|v| head.positions[*v].x > 0.0).collect();
        let pairs = rim_pairs(&head, &margins);
        assert!(pairs.len() >= 3, "{size:?}: {} pairs", pairs.len());
        let opening = pairs.iter().map(|(u, l)| head.positions[*u].y - head.positions[*l].y).fold(0.0, f64::max);
        assert!(opening > 0.008, "{size:?}: open by {opening} m");
        for (upper, lower) in pairs {
            let gap = head.positions[upper].y + closing[upper].y - head.positions[lower].y - closing[lower].y;
            assert!(gap < 1e-6, "{size:?}: a gap of {gap} m stays");
        }
    }
}

#[test]
fn motion_left_is_the_image_of_right() {
    let head = Head::build(HeadSize::Full);
    let sided: [fn(Side) -> Motion; 5] =
        [Motion::BrowRaise, Motion::LowerLidRaise, Motion::LidSweep, Motion::LidMargin, Motion::MouthCornerRaise];
    for motion in sided {
        let left = head.motion(motion(Side::Left));
        let image = head.mirrored(&head.motion(motion(Side::Right)));
        let off = left.iter().zip(&image).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(off < 1e-12, "{:?}: off by {off} m", motion(Side::Left));
        assert!(left.iter().any(|d| d.length() > 0.003));
    }
}

#[test]
fn motion_jaw_and_corners_go_the_right_way() {
    let head = Head::build(HeadSize::Full);
    let lips = rim(&head, Tissue::MouthSock);
    let middle = rim_pairs(&head, &lips)
        .into_iter()
        .min_by(|a, b| head.positions[a.0].x.abs().total_cmp(&head.positions[b.0].x.abs()))
        .expect("the mouth has a middle");
    let jaw = head.motion(Motion::JawSwing);
    assert!(jaw[middle.1].y < -0.008, "lower lip {}", jaw[middle.1]);
    assert!(jaw[middle.0].length() < 0.001, "upper lip {}", jaw[middle.0]);
    let lower_teeth = head.components.iter().position(|c| *c == Component::LowerTeeth).expect("teeth");
    assert!(jaw[lower_teeth].y < -0.002);
    let upper_teeth = head.components.iter().position(|c| *c == Component::UpperTeeth).expect("teeth");
    assert_eq!(jaw[upper_teeth], DVec3::ZERO);

    let corner = *lips.iter().max_by(|a, b| head.positions[**a].x.total_cmp(&head.positions[**b].x)).expect("lips");
    let smile = head.motion(Motion::MouthCornerRaise(Side::Left))[corner];
    assert!(smile.y > 0.005 && smile.x > 0.003, "{smile}");
    assert!(head.motion(Motion::MouthCornersDrop)[corner].y < -0.004);
    let tongue = head.motion(Motion::TongueOut);
    assert!(tongue.iter().map(|d| d.z).fold(0.0, f64::max) > 0.02);
}

#[test]
fn skinning_weights_sum_to_one_with_at_most_two_joints() {
    for size in SIZES {
        let head = Head::build(size);
        let weights = head.skin_weights();
        for vertex in 0..head.vertex_count() {
            let of_vertex = weights.each_ref().map(|joint| joint[vertex]);
            assert_eq!(of_vertex.iter().sum::<f32>(), 1.0, "{size:?} vertex {vertex}");
            assert!(of_vertex.iter().all(|w| *w >= 0.0));
            assert!(of_vertex.iter().filter(|w| **w != 0.0).count() <= 2, "{size:?} vertex {vertex}");
        }
        assert!((0..4).all(|joint| weights[joint].iter().any(|w| *w > 0.1)), "{size:?}");
    }
}

#[test]
fn joints_lie_where_anatomy_puts_them() {
    for size in SIZES {
        let [neck, skull, left, right] = Head::build(size).joint_positions();
        assert!(neck.distance(anatomy::NECK) < 1e-9, "{size:?} {neck}");
        assert!(skull.distance(anatomy::SKULL_BASE) < 1e-9, "{size:?} {skull}");
        assert!(left.distance(anatomy::eye_centre(Side::Left)) < 1e-4, "{size:?} {left}");
        assert!(right.distance(mirror::reflected(left)) < 1e-12, "{size:?} {right}");
    }
}

#[test]
fn random_streams_differ_and_repeat() {
    let draw = |seed, stream| {
        let mut rng = Rng::new(seed, stream);
        [rng.uniform(0.0, 1.0), rng.normal()]
    };
    assert_eq!(draw(1, 2), draw(1, 2));
    assert_ne!(draw(1, 2), draw(1, 3));
    assert_ne!(draw(1, 2), draw(2, 2));
    let mut rng = Rng::new(7, 7);
    let values: Vec<f64> = (0..20_000).map(|_| rng.normal()).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64;
    // Four standard errors of 20,000 draws.
    assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.04, "mean {mean}, variance {variance}");
}
