//! The sample head as a GNM model: counts, layouts, supports, determinism.

use rigeval::gnm::model::GnmModel;
use rigeval::gnm::sample::{SampleOptions, sample};
use rigeval::head::HeadSize;
use std::ops::Range;
use std::sync::LazyLock;
use std::time::Instant;

const LEFT_EYE: Range<usize> = 0..100;
const RIGHT_EYE: Range<usize> = 100..200;
const LOWER_FACE: Range<usize> = 200..350;
const TONGUE: Range<usize> = 350..382;
const PUPILS: usize = 382;
const SIZES: [HeadSize; 3] = [HeadSize::Full, HeadSize::Small, HeadSize::Tiny];

/// The sample without correctives; each size is built once for all tests.
fn plain(size: HeadSize) -> &'static GnmModel {
    static FULL: LazyLock<GnmModel> = LazyLock::new(|| sample(HeadSize::Full, SampleOptions::default()));
    static SMALL: LazyLock<GnmModel> = LazyLock::new(|| sample(HeadSize::Small, SampleOptions::default()));
    static TINY: LazyLock<GnmModel> = LazyLock::new(|| sample(HeadSize::Tiny, SampleOptions::default()));
    match size {
        HeadSize::Full => &FULL,
        HeadSize::Small => &SMALL,
        HeadSize::Tiny => &TINY,
    }
}

fn field<'a>(basis: &'a [f32], index: usize, model: &GnmModel) -> &'a [[f32; 3]] {
    let rows: &[[f32; 3]] = basis.as_chunks().0;
    &rows[index * model.template.len()..][..model.template.len()]
}

fn group<'a>(model: &'a GnmModel, name: &str) -> &'a [f32] {
    let index = model.vertex_group_names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no group {name}"));
    &model.vertex_groups[index * model.template.len()..][..model.template.len()]
}

fn length(d: &[f32; 3]) -> f32 {
    d.iter().map(|x| x * x).sum::<f32>().sqrt()
}

#[test]
fn sample_full_has_the_real_counts() {
    let start = Instant::now();
    let model = sample(HeadSize::Full, SampleOptions::default());
    println!("full sample head in {:.2} s", start.elapsed().as_secs_f64());
    let (v, q, t) = (17_821, 17_662, 35_324);
    assert_eq!(model.template.len(), v);
    assert_eq!((model.quads.len(), model.quad_uvs.len()), (q, q));
    assert_eq!((model.triangles.len(), model.triangle_uvs.len()), (t, t));
    assert_eq!((model.expression_names.len(), model.expression_basis.len()), (383, 383 * v * 3));
    assert_eq!((model.identity_names.len(), model.identity_basis.len()), (253, 253 * v * 3));
    assert_eq!(model.joint_identity_basis.len(), 253 * 4 * 3);
    assert_eq!((model.skinning_weights.len(), model.joint_regressor.len()), (4 * v, 4 * v));
    assert_eq!(model.joint_parents, [None, Some(0), Some(1), Some(1)]);
    assert_eq!((model.vertex_group_names.len(), model.vertex_groups.len()), (46, 46 * v));
    assert!(model.pose_correctives.is_empty());
    let floats = [&model.expression_basis, &model.identity_basis, &model.joint_identity_basis, &model.joint_regressor];
    assert!(floats.iter().all(|array| array.iter().all(|x| x.is_finite())));
}

#[test]
fn sample_names_are_the_real_ones() {
    let model = plain(HeadSize::Tiny);
    let expected = [
        (0, "left_eye_region_000"),
        (99, "left_eye_region_099"),
        (100, "right_eye_region_000"),
        (200, "lower_face_region_000"),
        (349, "lower_face_region_149"),
        (350, "tongue_mean"),
        (351, "tongue_000"),
        (381, "tongue_030"),
        (382, "pupils_000"),
    ];
    for (index, name) in expected {
        assert_eq!(model.expression_names[index], name);
    }
    assert_eq!(model.identity_names[169..=173], ["head_169", "eyes_000", "eyes_001", "eyes_002", "teeth_000"]);
    assert_eq!(model.joint_names, ["neck", "head", "left_eye", "right_eye"]);
}

#[test]
fn sample_triangles_are_first_halves_then_second_halves() {
    let model = plain(HeadSize::Small);
    let quads = model.quads.len();
    for (index, (quad, uv)) in model.quads.iter().zip(&model.quad_uvs).enumerate() {
        assert_eq!(model.triangles[index], [quad[0], quad[1], quad[2]]);
        assert_eq!(model.triangles[quads + index], [quad[2], quad[3], quad[0]]);
        assert_eq!(model.triangle_uvs[index], [uv[0], uv[1], uv[2]]);
        assert_eq!(model.triangle_uvs[quads + index], [uv[2], uv[3], uv[0]]);
        assert!(uv.iter().flatten().all(|c| (0.0..=1.0).contains(c)), "quad {index}: {uv:?}");
    }
}

#[test]
fn sample_components_partition_the_vertices() {
    for size in SIZES {
        let model = plain(size);
        assert_eq!(model.mesh_component_names.len(), 6);
        let mut times = vec![0.0; model.template.len()];
        for name in &model.mesh_component_names {
            times.iter_mut().zip(group(model, name)).for_each(|(sum, member)| *sum += member);
        }
        assert!(times.iter().all(|sum| *sum == 1.0), "{size:?}");
    }
}

#[test]
fn sample_groups_are_masks_and_none_is_empty_where_the_mesh_is_fine_enough() {
    for size in SIZES {
        let model = plain(size);
        for name in &model.vertex_group_names {
            let members = group(model, name);
            assert!(members.iter().all(|m| (0.0..=1.0).contains(m)), "{size:?} {name}");
            assert!(
                size == HeadSize::Tiny || members.contains(&1.0) || members.iter().any(|m| *m > 0.5),
                "{size:?} {name}"
            );
        }
        let count = |name: &str| group(model, name).iter().filter(|m| **m > 0.0).count();
        assert_eq!(count("left"), count("right"), "{size:?}");
    }
}

#[test]
fn sample_expression_is_exactly_zero_outside_its_region() {
    for size in SIZES {
        let model = plain(size);
        let eye_interiors = group(model, "eye_interiors");
        let regions: [(Range<usize>, &[f32]); 5] = [
            (LEFT_EYE, group(model, "expression_basis_left_eye")),
            (RIGHT_EYE, group(model, "expression_basis_right_eye")),
            (LOWER_FACE, group(model, "expression_basis_mouth_nose_ears")),
            (TONGUE, group(model, "tongue")),
            (PUPILS..PUPILS + 1, eye_interiors),
        ];
        for (range, members) in regions {
            assert!(members.iter().filter(|m| **m == 0.0).count() > model.template.len() / 4);
            for index in range {
                let field = field(&model.expression_basis, index, model);
                let outside = field.iter().zip(members).find(|(d, member)| **member == 0.0 && **d != [0.0; 3]);
                assert_eq!(outside, None, "{size:?} {}", model.expression_names[index]);
                assert!(field.iter().any(|d| *d != [0.0; 3]), "{size:?} {}", model.expression_names[index]);
            }
        }
    }
}

#[test]
fn sample_eyeballs_stay_under_every_expression_but_pupils() {
    let model = plain(HeadSize::Full);
    let eyes = group(model, "eyes");
    for index in 0..PUPILS {
        let moved =
            field(&model.expression_basis, index, model).iter().zip(eyes).any(|(d, eye)| *eye > 0.0 && *d != [0.0; 3]);
        assert!(!moved, "{}", model.expression_names[index]);
    }
}

#[test]
fn sample_right_eye_block_is_the_left_one_mirrored_bit_for_bit() {
    for size in SIZES {
        let model = plain(size);
        for index in LEFT_EYE {
            let left = field(&model.expression_basis, index, model);
            let right = field(&model.expression_basis, index + 100, model);
            for (vertex, partner) in model.mirror_indices.iter().enumerate() {
                let image = left[*partner as usize];
                assert_eq!(right[vertex], [0.0 - image[0], image[1], image[2]], "{size:?} coefficient {index}");
            }
        }
    }
}

#[test]
fn sample_displacements_are_of_plausible_size() {
    for size in SIZES {
        let model = plain(size);
        let largest = |basis: &[f32], index: usize| field(basis, index, model).iter().map(length).fold(0.0, f32::max);
        for index in 0..383 {
            let peak = largest(&model.expression_basis, index);
            assert!((0.00004..=0.0111).contains(&peak), "{size:?} {}: {peak} m", model.expression_names[index]);
        }
        for index in 0..253 {
            let peak = largest(&model.identity_basis, index);
            assert!((0.00002..=0.0076).contains(&peak), "{size:?} {}: {peak} m", model.identity_names[index]);
        }
    }
}

#[test]
fn sample_jaw_open_of_the_default_arkit_table_opens_the_mouth() {
    let model = plain(HeadSize::Full);
    // JawOpen: lower 9 x 3, lower 1 x 1.5.
    let swing = field(&model.expression_basis, 209, model);
    let part = field(&model.expression_basis, 201, model);
    let drop = |vertex: usize| 3.0 * swing[vertex][1] + 1.5 * part[vertex][1];
    let lip = |name: &str| {
        let members = group(model, name).iter().enumerate().filter(|(_, member)| **member > 0.5);
        let middle = members.filter(|(v, _)| model.template[*v][0].abs() < 0.003);
        middle.map(|(vertex, _)| drop(vertex)).fold(f32::NAN, f32::min)
    };
    assert!(lip("lower_lip") < -0.012, "lower lip {} m", lip("lower_lip"));
    assert!(lip("upper_lip") > 0.0, "upper lip {} m", lip("upper_lip"));
}

#[test]
fn sample_joints_follow_from_the_regressor() {
    for size in SIZES {
        let model = plain(size);
        let v = model.template.len();
        for (joint, weights) in model.joint_regressor.chunks_exact(v).enumerate() {
            for axis in 0..3 {
                let place: f64 =
                    weights.iter().zip(&model.template).map(|(w, p)| f64::from(*w) * f64::from(p[axis])).sum();
                let off = place - f64::from(model.template_joints[joint][axis]);
                // 17,821 weights rounded to f32.
                assert!(off.abs() < 1e-6, "{size:?} joint {joint} axis {axis}: off by {off} m");
            }
        }
    }
}

#[test]
fn sample_correctives_keep_to_the_layout_and_change_nothing_else() {
    let mut with = sample(HeadSize::Small, SampleOptions { correctives: true });
    assert_eq!(with.pose_correctives.len(), 36 * 3 * with.template.len());
    for row in with.pose_correctives.chunks_exact(3 * with.template.len()) {
        let rows: &[[f32; 3]] = row.as_chunks().0;
        let peak = rows.iter().map(length).fold(0.0, f32::max);
        assert!((peak - 0.0022).abs() < 1e-6, "peak {peak} m");
    }
    with.pose_correctives.clear();
    assert!(&with == plain(HeadSize::Small));
}

#[test]
fn sample_is_the_same_for_any_number_of_threads() {
    let build = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
        pool.install(|| sample(HeadSize::Small, SampleOptions { correctives: true }))
    };
    assert!(build(1) == build(3));
}

/// FNV-1a over the template in micrometres. The offset keeps round decimals away from the places where rounding jumps, so that
/// the last digit of a platform's `sin` cannot change the sum.
fn template_sum(model: &GnmModel) -> u64 {
    let micrometres = model.template.iter().flatten().map(|x| (f64::from(*x) * 1e6 + 0.217).floor() as i64);
    micrometres
        .flat_map(i64::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn sample_template_is_pinned() {
    let found = SIZES.map(|size| {
        let model = plain(size);
        format!("{} vertices, {:016x}", model.template.len(), template_sum(model))
    });
    assert_eq!(
        found,
        ["17821 vertices, b525a2ea3929fc09", "2090 vertices, 90e249442e7700be", "447 vertices, c31b8d6dad8ebced"]
    );
    // Bounds in millimetres, which say more when they fail than a sum does.
    let model = plain(HeadSize::Full);
    let bounds = rigeval::math::Aabb::of_points(model.template.iter().copied());
    assert_eq!(bounds.min.map(|x| (x * 1e3).round()), [-120.0, 20.0, -105.0]);
    assert_eq!(bounds.max.map(|x| (x * 1e3).round()), [120.0, 383.0, 150.0]);
}
