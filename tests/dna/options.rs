//! Accessors and load options.

use super::{dna_files, read, rig};
use rigeval::error::LoadErrorKind;
use rigeval::orl::dna::{ATTRIBUTES, Attribute, ControlKind, Dna, JointGroup, Layers, LoadOptions, RbfPoseOutput};

#[test]
fn names_find_their_indices() {
    let dna = read("tiny");
    assert_eq!(dna.joint("JNT_002"), Some(2));
    assert_eq!(dna.gui_control("CTRL_gui_005.ty"), Some(5));
    assert_eq!(dna.control("CTRL_expressions.expr_007"), Some(7));
    assert_eq!(dna.channel("bs_001"), Some(1));
    assert_eq!(dna.animated_map("map_001_msk"), Some(1));
    assert_eq!(dna.mesh("mesh0_lod0"), Some(0));
    assert_eq!((dna.joint("jnt_002"), dna.control("CTRL_gui_005.ty")), (None, None));
}

#[test]
fn control_indices_run_through_the_kinds() {
    let dna = read("ml_legacy");
    let counts = dna.control_counts();
    assert_eq!((counts.raw, counts.psd, counts.ml, counts.rbf, counts.total()), (10, 2, 9, 0, 21));
    let kinds = [0, 9, 10, 11, 12, 20, 21].map(|c| counts.kind(c));
    let expected = [
        Some((ControlKind::Raw, 0)),
        Some((ControlKind::Raw, 9)),
        Some((ControlKind::Psd, 0)),
        Some((ControlKind::Psd, 1)),
        Some((ControlKind::Ml, 0)),
        Some((ControlKind::Ml, 8)),
        None,
    ];
    assert_eq!(kinds, expected);
    assert_eq!(dna.control_name(11), None, "correctives have no name");
    assert_eq!(dna.control_name(20), Some(dna.networks.control_names[8].as_str()));
}

#[test]
fn pose_of_2_4_drives_its_own_control() {
    let dna = read("rbf_v24");
    let counts = dna.control_counts();
    assert_eq!((counts.rbf, counts.total()), (36, 59));
    let implied = RbfPoseOutput { inputs: vec![], outputs: vec![23 + 7], weights: vec![1.0] };
    assert_eq!(dna.pose_outputs(7).unwrap().into_owned(), implied);
    assert!(dna.pose_outputs(36).is_none());
    assert_eq!(dna.control_name(30), Some(dna.rbf.poses[7].name.as_str()));
    let stated = read("rbf_quat");
    assert_eq!(*stated.pose_outputs(7).unwrap(), stated.rbf_outputs.poses[7]);
}

#[test]
fn coefficient_follows_the_outputs_not_the_joint_list() {
    let mut dna = read("tiny");
    // Group 0: row 2 is output 11, joint 1 tz; column 3 is control 6.
    assert_eq!(dna.coefficient(1, Attribute::TranslateZ, 6), dna.behavior.joint_groups[0].values[2 * 5 + 3]);
    dna.behavior.joint_groups[0].joints.reverse();
    assert_eq!(dna.coefficient(1, Attribute::TranslateZ, 6), dna.behavior.joint_groups[0].values[2 * 5 + 3]);
    assert_eq!(dna.coefficient(1, Attribute::TranslateZ, 5), 0.0, "a control that is no column");
    assert_eq!(dna.coefficient(0, Attribute::TranslateX, 0), 0.0, "a joint without rows");
    let later = JointGroup { lods: vec![1, 0], inputs: vec![2], outputs: vec![11], values: vec![9.0], joints: vec![1] };
    dna.behavior.joint_groups.push(later);
    assert_eq!(dna.coefficient(1, Attribute::TranslateZ, 2), 9.0);
    assert_eq!(dna.coefficient(1, Attribute::TranslateZ, 6), 0.0, "the later group assigns the row");
}

#[test]
fn undriven_raw_controls_are_listed() {
    let mut dna = read("tiny");
    assert_eq!(dna.undriven_raw_controls(), [0usize; 0]);
    dna.behavior.gui_to_raw.retain(|row| row.output != 3);
    assert_eq!(dna.undriven_raw_controls(), [3]);
}

#[test]
fn geometry_left_out_changes_nothing_else() {
    for name in ["tiny", "tiny_v21"] {
        let layers = Layers { geometry: false, ..Layers::default() };
        let without = Dna::read_with(&rig(name), &LoadOptions { layers, ..LoadOptions::default() }).unwrap();
        assert_eq!(without, Dna { meshes: vec![], ..read(name) });
    }
}

#[test]
fn geometry_without_blend_shapes_keeps_the_meshes() {
    for name in ["tiny", "tiny_v21"] {
        let options = LoadOptions { blend_shapes: false, ..LoadOptions::default() };
        let without = Dna::read_with(&rig(name), &options).unwrap();
        let mut expected = read(name);
        assert!(!expected.meshes[0].targets.is_empty());
        expected.meshes.iter_mut().for_each(|m| m.targets.clear());
        assert_eq!(without, expected);
    }
}

#[test]
fn layers_left_out_keep_the_control_indices() {
    let layers = Layers {
        behavior: false,
        geometry: false,
        networks: false,
        rbf: false,
        joint_representations: false,
        twist_swing: false,
        unknown: false,
    };
    for name in ["tiny_future_layer", "ml_legacy", "ml_ext", "rbf_v24", "rbf_quat", "twist"] {
        let all = read(name);
        let bare = Dna::read_with(&rig(name), &LoadOptions { layers, ..LoadOptions::default() }).unwrap();
        bare.check().unwrap();
        assert_eq!(bare.control_counts(), all.control_counts(), "{name}");
        let names = |dna: &Dna| (0..60).map(|c| dna.control_name(c).map(str::to_owned)).collect::<Vec<_>>();
        assert_eq!(names(&bare), names(&all), "{name}");
        assert_eq!((&bare.descriptor, &bare.definition), (&all.descriptor, &all.definition));
        assert!(bare.behavior.joint_groups.is_empty() && bare.networks.networks.is_empty());
        assert!(bare.rbf.solvers.is_empty() && bare.operation_graph.types.is_empty());
        assert!(bare.twist_swing.twists.is_empty() && bare.unknown_layers.is_empty());
    }
}

fn read_lods(bytes: &[u8], lods: std::ops::Range<u16>) -> Dna {
    Dna::read_with(bytes, &LoadOptions { lods: Some(lods), ..LoadOptions::default() }).unwrap()
}

#[test]
fn coarse_level_drops_what_it_does_not_need() {
    let all = read("tiny");
    let coarse = read_lods(&rig("tiny"), 1..2);
    coarse.check().unwrap();
    assert_eq!((coarse.descriptor.lod_count, coarse.descriptor.max_lod), (1, 1));
    // The skin of the mesh that stays hangs on all four joints; channels and maps belong to LOD 0 alone.
    assert_eq!(coarse.definition.joint_names, all.definition.joint_names);
    assert!(coarse.definition.channel_names.is_empty() && coarse.definition.animated_map_names.is_empty());
    assert!(coarse.meshes[0].targets.is_empty() && coarse.behavior.animated_maps.is_empty());
    let [group] = &coarse.behavior.joint_groups[..] else { panic!("the second group has no rows at LOD 1") };
    assert_eq!((&group.lods[..], &group.outputs[..]), (&[5][..], &[9u16, 10, 11, 13, 15][..]));
    assert_eq!(group.values, all.behavior.joint_groups[0].values[..25]);
}

#[test]
fn joints_of_dropped_levels_are_renumbered() {
    let mut dna = read("tiny");
    // Joint 1 goes; 3 hangs below 2, which no level lists.
    dna.definition.joint_parents = vec![0, 0, 0, 2];
    dna.definition.lod_joints.lists[1] = vec![0, 3];
    dna.meshes.clear();
    dna.behavior.joint_groups[0].lods = vec![14, 9];
    dna.behavior.joint_groups[1].lods = vec![8, 1];
    let cut = read_lods(&dna.write(8).unwrap(), 1..2);
    cut.check().unwrap();
    assert_eq!(cut.definition.joint_names, ["JNT_000", "JNT_002", "JNT_003"]);
    assert_eq!(cut.definition.joint_parents, [0, 0, 1]);
    assert_eq!(cut.definition.lod_joints.list(0), [0, 2]);
    let groups = &cut.behavior.joint_groups;
    // Outputs 18, 19, 20 of joint 2 become joint 1's; the first six rows were joint 1's.
    assert_eq!((&groups[0].lods[..], &groups[0].outputs[..]), (&[3][..], &[9u16, 10, 11][..]));
    assert_eq!(groups[0].values, dna.behavior.joint_groups[0].values[6 * 5..9 * 5]);
    assert_eq!((groups[0].joints.as_slice(), groups[1].joints.as_slice()), (&[1u16][..], &[2u16][..]));
    assert_eq!(groups[1].outputs, [18]);
}

#[test]
fn operation_row_counts_follow_the_levels() {
    let all = read("ml_ext");
    let cut = read_lods(&rig("ml_ext"), 1..3);
    cut.check().unwrap();
    // Two layers of three levels: [9 9 9], [40 20 40].
    assert_eq!(all.operation_graph.types[0].sets[3][0].parameters, [3, 9, 9, 9, 40, 20, 40]);
    assert_eq!(cut.operation_graph.types[0].sets[3][0].parameters, [3, 9, 9, 20, 40]);
    assert_eq!(cut.operation_graph.types[0].lod_operations[3].list(0), [0]);
}

#[test]
fn every_range_of_levels_is_sound() {
    let root = env!("CARGO_MANIFEST_DIR");
    let handed = dna_files(&format!("{root}/../shared/data/orl"));
    for file in dna_files(&format!("{root}/reference/orl")).into_iter().chain(handed) {
        let bytes = std::fs::read(&file).unwrap();
        let all = Dna::read(&bytes).unwrap();
        for start in 0..all.descriptor.lod_count {
            for end in start + 1..=all.descriptor.lod_count {
                let cut = read_lods(&bytes, start..end);
                cut.check().unwrap_or_else(|e| panic!("{} {start}..{end}: {e}", file.display()));
                assert_same_coefficients(&all, &cut, usize::from(start));
            }
        }
    }
}

/// What a kept level's joints do is what they did before.
fn assert_same_coefficients(all: &Dna, cut: &Dna, start: usize) {
    for (new, name) in cut.definition.joint_names.iter().enumerate() {
        let old = all.joint(name).unwrap();
        let rows = |dna: &Dna, joint: usize, lod: usize| -> Vec<(usize, Vec<f32>)> {
            let mut rows = Vec::new();
            for group in &dna.behavior.joint_groups {
                let active = group.lods.get(lod).map_or(0, |&rows| usize::from(rows));
                for (row, &output) in group.outputs[..active].iter().enumerate() {
                    if usize::from(output) / ATTRIBUTES == joint {
                        let columns = group.inputs.len();
                        let values = group.values[row * columns..][..columns].to_vec();
                        rows.push((usize::from(output) % ATTRIBUTES, values));
                    }
                }
            }
            rows
        };
        for lod in 0..usize::from(cut.descriptor.lod_count) {
            assert_eq!(rows(cut, new, lod), rows(all, old, start + lod), "{name} at LOD {lod}");
        }
    }
}

#[test]
fn levels_that_the_rig_lacks_are_refused() {
    for lods in [0..3, 1..1, 2..3] {
        let error = Dna::read_with(&rig("tiny"), &LoadOptions { lods: Some(lods), ..LoadOptions::default() });
        let error = error.unwrap_err();
        assert_eq!((error.kind, error.field.as_str()), (LoadErrorKind::Value, "options.lods"));
    }
}
