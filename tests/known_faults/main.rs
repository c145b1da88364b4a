//! The faults that other engines, loaders and exporters are known for, and the test that holds each of them.
//!
//! | fault | what goes wrong elsewhere | file | test |
//! |---|---|---|---|
//! | B01 | no inverse bind matrices | gltf_faults.rs | inverse_bind_matrices_missing_are_identity |
//! | B02 | weights short of one | gltf_faults.rs | weights_short_of_one_are_renormalised |
//! | B03 | no weight at all | gltf_faults.rs | weights_all_zero_are_rigid_to_slot_0 |
//! | B05 | second influence set | gltf_faults.rs | second_influence_set_counts |
//! | B06 | transform of the skinned node | gltf_faults.rs | transform_of_the_skinned_node_is_ignored |
//! | B09 | child before its parent | gltf_faults.rs | child_before_its_parent_follows_it_at_once |
//! | B42 | tangent overwritten by the normal | gltf_faults.rs | tangent_is_turned_and_keeps_its_sign |
//! | B40 | width and stride of joint indices | gltf_faults.rs | joint_indices_of_any_width_and_stride_are_equal |
//! | B40 | Draco | gltf_faults.rs | draco_is_refused_by_name |
//! | B22 | more than 256 joints | gltf_faults.rs | joints_beyond_256_and_1365_move |
//! | B36 | dual quaternions the wrong way | gltf_dual_quaternion.rs | neighbours_meet_on_the_near_side_whatever_the_signs |
//! | B11 | sparse values over no view | gltf_faults.rs | sparse_target_without_a_view_moves_what_it_lists |
//! | B13 | targets with other attributes | gltf_faults.rs | targets_with_different_attributes_keep_their_places |
//! | B14 | layout of a weights channel | gltf_faults.rs | weights_channel_lies_key_by_key |
//! | B37 | more than 256 targets | gltf_faults.rs | targets_beyond_256_move |
//! | B37 | the bound that there is | known_faults/limits.rs | targets_beyond_the_index_of_the_tables_are_an_error_value |
//! | B41 | target of another length | gltf_faults.rs | target_of_another_length_is_refused_with_both_counts |
//! | B15 | spline of rotations | gltf_faults.rs | spline_of_rotations_is_hermite_then_normalised |
//! | B17 | the long way round | gltf_faults.rs | slerp_takes_the_short_way |
//! | B18 | time before the first key | gltf_faults.rs | time_before_the_first_key_takes_it |
//! | B20 | STEP | gltf_faults.rs | step_holds_the_earlier_key |
//! | B21 | one key, and none | gltf_faults.rs | clip_of_one_key_or_none_is_whole |
//! | B23 | quantised positions | gltf_faults.rs | quantised_positions_are_normalised_and_scaled_back |
//! | B23 | weights as bytes | gltf_faults.rs | integer_weights_are_renormalised_only_when_they_are_short |
//! | B23 | quantised targets | gltf_faults.rs | quantised_targets_decode |
//! | B34 | previous positions | gltf_backend.rs | previous_positions_are_those_of_the_last_frame_morphs_and_all |
//! | B34 | the same, of every rig | conformance.rs | previous_positions_are_the_last_frames |
//! | B35 | bounds of another pose | gltf_faults.rs | bounds_follow_the_vertices |
//! | B24 | Fortran order | known_faults/files.rs | fortran_order_is_seen |
//! | B26 | byte order and element type | known_faults/files.rs | element_types_are_read_or_refused_by_name |
//! | B27 | sizes in zip64 fields | known_faults/files.rs | members_behind_zip64_headers_are_found |
//! | B33 | Git-LFS pointer, empty file | known_faults/files.rs | lfs_pointer_or_no_bytes_are_named_by_every_loader |
//! | B33 | truncated DNA, layers missing | known_faults/files.rs | dna_cut_short_or_without_a_layer_says_what_is_missing |
//! | B33 | every truncated length | dna/damage.rs | dna_truncated_is_rejected |
//! | B28 | binding over 128 MiB | known_faults/limits.rs | basis_over_128_mib_is_refused_by_the_planner_and_the_packed_one_fits |
//! | B28 | the same on a small device | known_faults/limits.rs | binding_beyond_the_device_is_refused_before_any_call |
//! | B29 | storage buffers of a stage | known_faults/limits.rs | eight_storage_buffers_are_enough_and_four_are_refused |
//! | B30 | more than 65,535 workgroups | known_faults/limits.rs | crowd_of_236_full_heads_is_posed_to_the_last_vertex |
//! | B30 | the same, of the other rigs | known_faults/limits.rs | crowd_beyond_65535_workgroups_is_posed_to_the_last_vertex |
//! | B31 | dynamic offsets | known_faults/limits.rs | second_character_is_found_without_dynamic_offsets |
//! | B32 | readback of a lost device | known_faults/limits.rs | readback_of_a_lost_device_is_an_error_within_the_bound |
//! | B32 | the same, lost before | headless.rs | lost_device_is_a_value |

#[cfg(feature = "gpu")]
#[path = "../common/mod.rs"]
mod common;
mod files;
#[cfg(feature = "gpu")]
mod limits;
#[cfg(feature = "gpu")]
#[path = "../rigs/mod.rs"]
mod rigs;
#[cfg(feature = "gpu")]
#[path = "../synthetic/mod.rs"]
mod synthetic;

use std::collections::BTreeSet;
use std::path::Path;

/// The faults, grouped: skins, morph targets, clips, encodings, other files, device limits.
const FAULTS: [&[&str]; 6] = [
    &["B01", "B02", "B03", "B05", "B06", "B09", "B42", "B40", "B22", "B36"],
    &["B11", "B13", "B14", "B37", "B41"],
    &["B15", "B17", "B18", "B20", "B21"],
    &["B23", "B34", "B35"],
    &["B24", "B26", "B27", "B33"],
    &["B28", "B29", "B30", "B31", "B32"],
];

/// Fault, file and test of every row of the table above.
fn index() -> Vec<[&'static str; 3]> {
    let rows = include_str!("main.rs").lines().filter_map(|line| line.strip_prefix("//! | B"));
    let cells = |row: &'static str| row.split('|').map(str::trim).collect::<Vec<_>>();
    let rows = rows.map(cells).inspect(|cells| assert_eq!(cells.len(), 5, "{cells:?}"));
    let id = |number: &str| FAULTS.concat().into_iter().find(|id| id[1..] == *number);
    rows.map(|cells| [id(cells[0]).unwrap_or_else(|| panic!("no fault {cells:?}")), cells[2], cells[3]]).collect()
}

/// The tests of a source file: what follows `#[test]`, unless it is ignored.
fn tests(source: &str) -> BTreeSet<&str> {
    let (mut names, mut attributes) = (BTreeSet::new(), Vec::new());
    for line in source.lines().map(str::trim_start) {
        if line.starts_with("#[") {
            attributes.push(line);
        } else {
            let name = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next());
            let runs = attributes.contains(&"#[test]") && !attributes.iter().any(|a| a.starts_with("#[ignore"));
            names.extend(name.filter(|_| runs));
            attributes.clear();
        }
    }
    names
}

/// A file of this folder; one that is not there has no tests.
fn source(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn every_fault_has_a_test() {
    let listed: BTreeSet<&str> = index().iter().map(|[id, ..]| *id).collect();
    let all: BTreeSet<&str> = FAULTS.concat().into_iter().collect();
    assert_eq!(listed, all);
    assert_eq!(all.len(), 32);
    let absent: Vec<_> = index().into_iter().filter(|[_, file, test]| !tests(&source(file)).contains(test)).collect();
    assert!(absent.is_empty(), "no such tests: {absent:?}");
}

#[test]
fn every_test_of_a_fault_is_in_the_table() {
    let index = index();
    for file in ["gltf_faults.rs", "known_faults/files.rs", "known_faults/limits.rs"] {
        let source = source(file);
        let listed = index.iter().filter(|row| row[1] == file).map(|row| row[2]).collect();
        assert_eq!(tests(&source), listed, "{file}");
    }
    let distinct: BTreeSet<_> = index.iter().map(|row| row[2]).collect();
    assert_eq!(distinct.len(), index.len(), "a test stands in the table twice");
}

#[test]
fn function_without_the_attribute_or_ignored_is_no_test() {
    let source =
        "fn a() {}\n#[test]\nfn b() {}\n#[test]\n#[ignore]\nfn c() {}\n  #[cfg(x)]\n  #[test]\n  fn d(x: u8) {}\n";
    assert_eq!(tests(source), BTreeSet::from(["b", "d"]));
}

#[test]
fn faults_are_those_of_the_handed_list() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/spec/known-faults.md");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("SKIP faults_are_those_of_the_handed_list: no file {path}; every_fault_has_a_test holds the number");
        return;
    };
    let handed: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("### ")?.split(' ').next()).collect();
    assert_eq!(handed, FAULTS.concat());
}
