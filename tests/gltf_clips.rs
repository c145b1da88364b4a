//! Clips: sampling, playback, blending.

mod gltf_case;

use gltf_case::*;
use proptest::prelude::*;
use rigeval::error::LoadErrorKind;
use rigeval::gltf::blend::{LayerInput, LayerMode, Mixer};
use rigeval::gltf::clip::{ChannelKind, Interpolation};
use rigeval::gltf::model::GltfModel;
use serde_json::json;

/// Node 0 with three clips: it slides along x, turns about z by 90 degrees, and grows.
fn rig() -> GltfModel {
    let mut case = Case::new();
    case.push("nodes", json!({"name": "a", "translation": [1, 2, 3]}));
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let (slide, turn) =
        (case.rows(&[[0.0; 3], [4.0, 0.0, 0.0]]), case.rows(&[[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, half, half]]));
    let grow = case.rows(&[[1.0; 3], [3.0; 3]]);
    for (path, output) in [("translation", slide), ("rotation", turn), ("scale", grow)] {
        case.clip(0, path, "LINEAR", &[0.0, 2.0], output);
    }
    case.json["animations"][0]["name"] = json!("slide");
    case.json["animations"][1]["name"] = json!("2");
    case.model()
}

fn mix(model: &GltfModel, layers: &[(usize, LayerMode, f64, f32)]) -> Vec<f32> {
    let modes: Vec<(usize, LayerMode)> = layers.iter().map(|l| (l.0, l.1)).collect();
    let inputs: Vec<LayerInput> = layers.iter().map(|l| LayerInput { time_s: l.2, weight: l.3 }).collect();
    let mut controls = vec![f32::NAN; model.controls().names().len()];
    Mixer::new(model, &modes).mix(model, &inputs, &mut controls);
    controls
}

#[test]
fn clip_is_found_by_name_before_index() {
    let model = rig();
    let kind = |name: &str| model.clip(name).map(|clip| clip.channels()[0].controls());
    assert_eq!(kind("slide"), Some(0..3));
    assert_eq!(kind("2"), Some(3..7), "the clip called 2, not the third");
    assert_eq!(kind("0"), Some(0..3));
    assert_eq!((kind("3"), kind("-1"), kind("walk")), (None, None, None));
}

#[test]
fn clip_leaves_other_controls_alone() {
    let model = rig();
    let controls = sampled(&model, 1.0);
    assert_eq!(controls[..3], [2.0, 0.0, 0.0]);
    assert_eq!(controls[3..], model.controls().defaults()[3..]);
    let channel = &model.clips()[1].channels()[0];
    assert_eq!((channel.kind(), channel.interpolation()), (ChannelKind::Rotation, Interpolation::Linear));
    assert_eq!(channel.times(), [0.0, 2.0]);
}

#[test]
fn spline_tangents_are_per_second() {
    let mut case = Case::new();
    case.push("nodes", json!({}));
    // Straight from 0 to 6 in three seconds: the slope at both ends is 2.
    let rows = [[0.0; 3], [0.0; 3], [2.0, 0.0, 0.0], [2.0, 0.0, 0.0], [6.0, 0.0, 0.0], [0.0; 3]];
    let output = case.rows(&rows);
    case.clip(0, "translation", "CUBICSPLINE", &[1.0, 4.0], output);
    let model = case.model();
    for (time, want) in [(0.0, 0.0), (1.0, 0.0), (1.75, 1.5), (2.5, 3.0), (4.0, 6.0), (9.0, 6.0)] {
        assert!((sampled(&model, time)[0] - want).abs() < 1e-6, "at {time}");
    }
}

#[test]
fn spline_that_overshoots_an_f32_stays_finite() {
    let mut case = Case::new();
    case.push("nodes", json!({}));
    let output = case.rows(&[[0.0; 3], [0.0; 3], [f32::MAX; 3], [f32::MIN; 3], [0.0; 3], [0.0; 3]]);
    case.clip(0, "scale", "CUBICSPLINE", &[0.0, 1000.0], output);
    assert_eq!(sampled(&case.model(), 500.0)[7..], [f32::MAX; 3]);
}

#[test]
fn rotation_key_of_any_length_is_normalised() {
    let mut case = Case::new();
    case.push("nodes", json!({}));
    let output = case.rows(&[[0.0, 0.0, 0.0, 2.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, -1.0]]);
    case.clip(0, "rotation", "LINEAR", &[0.0, 1.0, 2.0], output);
    let model = case.model();
    let (sin, cos) = 22.5_f32.to_radians().sin_cos();
    assert_near(&[[sampled(&model, 0.5)[5], sampled(&model, 0.5)[6]]], &[[sin, cos]], 1e-6);
    let half = std::f32::consts::FRAC_1_SQRT_2;
    assert_near(&[[sampled(&model, 1.0)[5], sampled(&model, 1.0)[6]]], &[[half, half]], 1e-6);
    assert_eq!(model.report().non_unit_keys, 2);
}

#[test]
fn spline_that_vanishes_half_way_stays_a_rotation() {
    let mut case = Case::new();
    case.push("nodes", json!({}));
    let zero = [0.0; 4];
    let output = case.rows(&[zero, [0.0, 0.0, 0.0, 1.0], zero, zero, [0.0, 0.0, 0.0, -1.0], zero]);
    case.clip(0, "rotation", "CUBICSPLINE", &[0.0, 1.0], output);
    assert_eq!(sampled(&case.model(), 0.5)[3..7], [0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn quantised_samples_are_normalised() {
    let mut case = Case::new();
    case.push("nodes", json!({}));
    let output = case.normalized(I16, "VEC4", 1, &bytes(&[0_i16, 0, 32767, 0]));
    case.clip(0, "rotation", "LINEAR", &[0.0], output);
    let model = case.model();
    assert_eq!(sampled(&model, 0.0)[3..7], [0.0, 0.0, 1.0, 0.0]);
    assert_eq!(model.report().integer_accessors, 1);
}

#[test]
fn channel_that_moves_nothing_is_counted() {
    let mut case = Case::morphed(&[]);
    case.push("nodes", json!({"matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}));
    case.push("nodes", json!({}));
    case.json["scenes"][0]["nodes"] = json!([0, 1]);
    let output = case.rows(&[[1.0; 3]]);
    for (node, path) in [(0, "weights"), (0, "pointer"), (1, "translation"), (2, "translation")] {
        case.clip(node, path, "LINEAR", &[0.0], output);
    }
    case.json["animations"][0]["channels"][0]["target"].as_object_mut().unwrap().remove("node");
    case.clip(0, "weights", "LINEAR", &[0.0], output);
    let model = case.model();
    assert_eq!(model.report().ignored_channels, 5);
    assert!(model.clips().iter().all(|clip| clip.channels().is_empty()));
}

#[test]
fn last_of_repeated_channels_counts() {
    let mut case = Case::new();
    case.push("nodes", json!({}));
    let (first, last) = (case.rows(&[[1.0; 3]]), case.rows(&[[2.0; 3]]));
    case.clip(0, "translation", "LINEAR", &[0.0], first);
    let sampler = json!({"input": case.json["animations"][0]["samplers"][0]["input"], "output": last});
    let animation = &mut case.json["animations"][0];
    animation["samplers"].as_array_mut().unwrap().push(sampler);
    let channel = json!({"sampler": 1, "target": {"node": 0, "path": "translation"}});
    animation["channels"].as_array_mut().unwrap().push(channel);
    let model = case.model();
    assert_eq!(sampled(&model, 0.0)[..3], [2.0; 3]);
    assert_eq!((model.report().repeated_channels, model.clips()[0].channels().len()), (1, 1));
}

#[test]
fn channels_with_their_own_key_times_are_sampled_apart() {
    let mut case = Case::new();
    case.push("nodes", json!({}));
    let (slide, grow) = (case.rows(&[[0.0; 3], [4.0; 3]]), case.rows(&[[1.0; 3], [2.0; 3], [5.0; 3]]));
    case.clip(0, "translation", "LINEAR", &[1.0, 2.0], slide);
    let input = case.scalars(&[0.0, 2.0, 3.0]);
    let animation = &mut case.json["animations"][0];
    animation["samplers"].as_array_mut().unwrap().push(json!({"input": input, "output": grow}));
    let channel = json!({"sampler": 1, "target": {"node": 0, "path": "scale"}});
    animation["channels"].as_array_mut().unwrap().push(channel);
    let model = case.model();
    let controls = sampled(&model, 1.5);
    assert_eq!((controls[0], controls[7]), (2.0, 1.75));
    assert_eq!(model.clips()[0].end(), 3.0);
}

#[test]
fn equal_key_times_take_the_later_key() {
    let mut case = Case::new();
    case.push("nodes", json!({}));
    let output = case.rows(&[[0.0; 3], [1.0; 3], [5.0; 3], [6.0; 3]]);
    case.clip(0, "translation", "LINEAR", &[0.0, 1.0, 1.0, 2.0], output);
    let model = case.model();
    assert_eq!([0.5, 1.0, 1.5].map(|time| sampled(&model, time)[0]), [0.5, 5.0, 5.5]);
}

#[test]
fn sampling_and_mixing_allocate_nothing() {
    let model = rig();
    let clip = &model.clips()[1];
    let (mut cursor, mut controls) = (clip.cursor(), model.controls().defaults().to_vec());
    let mut mixer = Mixer::new(&model, &[(0, LayerMode::Weighted), (1, LayerMode::Additive)]);
    let inputs = [LayerInput { time_s: 0.7, weight: 0.5 }; 2];
    let used = allocation_counter::measure(|| {
        for frame in 0..100 {
            clip.sample(f64::from(frame) / 30.0, &mut cursor, &mut controls);
            mixer.mix(&model, &inputs, &mut controls);
        }
    });
    assert_eq!(used.count_total, 0);
}

#[test]
fn one_layer_of_weight_one_is_its_clip() {
    let model = rig();
    for clip in 0..3 {
        let mixed = mix(&model, &[(clip, LayerMode::Weighted, 1.3, 1.0)]);
        let mut want = model.controls().defaults().to_vec();
        model.clips()[clip].sample(1.3, &mut model.clips()[clip].cursor(), &mut want);
        assert_near(&[mixed.try_into().unwrap()], &[<[f32; 10]>::try_from(want).unwrap()], 1e-7);
    }
}

#[test]
fn weights_below_one_leave_the_rest_to_the_default() {
    let model = rig();
    // Slide stands at x = 4, 0, 0; the default at 1, 2, 3.
    assert_eq!(mix(&model, &[(0, LayerMode::Weighted, 2.0, 0.25)])[..3], [1.75, 1.5, 2.25]);
    assert_eq!(mix(&model, &[(0, LayerMode::Weighted, 2.0, 0.0)]), model.controls().defaults());
    for weight in [-1.0, f32::NAN, f32::INFINITY] {
        assert_eq!(mix(&model, &[(0, LayerMode::Weighted, 2.0, weight)]), model.controls().defaults(), "{weight}");
    }
}

#[test]
fn weights_above_one_are_divided_by_their_sum() {
    let model = rig();
    let layers = [(0, LayerMode::Weighted, 2.0, 3.0), (0, LayerMode::Weighted, 0.0, 1.0)];
    assert_eq!(mix(&model, &layers)[..3], [3.0, 0.0, 0.0]);
    // A control that only one of two layers moves is that layer's alone.
    let layers = [(0, LayerMode::Weighted, 2.0, 1.0), (2, LayerMode::Weighted, 2.0, 1.0)];
    let mixed = mix(&model, &layers);
    assert_eq!((mixed[0], mixed[7]), (4.0, 3.0));
}

#[test]
fn rotations_blend_on_the_short_way() {
    let mut case = Case::new();
    case.push("nodes", json!({}));
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let (a, b) = (case.rows(&[[0.0, 0.0, half, half]]), case.rows(&[[0.0, 0.0, half, -half]]));
    for output in [a, b] {
        case.clip(0, "rotation", "LINEAR", &[0.0], output);
    }
    let model = case.model();
    let mixed = mix(&model, &[(0, LayerMode::Weighted, 0.0, 0.5), (1, LayerMode::Weighted, 0.0, 0.5)]);
    assert_near(&[[mixed[5].abs(), mixed[6].abs()]], &[[0.0, 1.0]], 1e-6);
}

#[test]
fn additive_layer_adds_what_it_has_moved() {
    let model = rig();
    let mixed = mix(&model, &[(0, LayerMode::Additive, 1.0, 0.5), (2, LayerMode::Additive, 2.0, 1.0)]);
    assert_eq!(mixed[..3], [2.0, 2.0, 3.0]);
    assert_eq!(mixed[7..], [3.0; 3]);
    // Half of a quarter turn on top of a quarter turn.
    let mixed = mix(&model, &[(1, LayerMode::Additive, 2.0, 0.5), (1, LayerMode::Weighted, 2.0, 1.0)]);
    let (sin, cos) = 67.5_f32.to_radians().sin_cos();
    assert_near(&[[mixed[5], mixed[6]]], &[[sin, cos]], 1e-6);
}

#[test]
fn times_that_go_back_are_refused() {
    let mut case = Case::new();
    case.push("nodes", json!({}));
    let output = case.rows(&[[0.0; 3]; 3]);
    case.clip(0, "translation", "LINEAR", &[0.0, 2.0, 1.0], output);
    let error = case.error();
    assert_eq!((error.kind, error.field.as_str()), (LoadErrorKind::Value, "/animations/0/samplers/0/input"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever was sampled before, a cursor gives what a fresh one gives.
    #[test]
    fn cursor_never_changes_a_value(
        steps in prop::collection::vec(0.0_f32..2.0, 1..40),
        times in prop::collection::vec(-1.0_f64..60.0, 1..40),
    ) {
        let mut case = Case::new();
        case.push("nodes", json!({}));
        let keys: Vec<f32> = steps.iter().scan(0.0, |time, step| { *time += step; Some(*time) }).collect();
        let rows: Vec<[f32; 3]> = (0..keys.len()).map(|k| [k as f32, 0.5, -(k as f32)]).collect();
        let output = case.rows(&rows);
        case.clip(0, "translation", "LINEAR", &keys, output);
        let model = case.model();
        let clip = &model.clips()[0];
        let (mut cursor, mut controls) = (clip.cursor(), model.controls().defaults().to_vec());
        for time in times {
            clip.sample(time, &mut cursor, &mut controls);
            prop_assert_eq!(&controls, &sampled(&model, time));
        }
    }
}
