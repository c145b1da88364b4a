//! The same over the handed lists, whole, and over handed files.

use super::*;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared");

const FINGERS: [&str; 5] = ["thumb", "index", "middle", "ring", "little"];

/// The handed lists, or a line that says they are not here.
fn lists(test: &str) -> Option<Value> {
    let path = format!("{FOLDER}/spec/names.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIP {test}: no file {path}; the committed lists cover it");
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}

#[test]
fn handed_bone_lists_are_the_enum() {
    let Some(lists) = lists("handed_bone_lists_are_the_enum") else { return };
    let own = |keep: fn(HumanoidBone) -> bool| -> Vec<String> {
        HumanoidBone::ALL.into_iter().filter(|bone| keep(*bone)).map(|bone| bone.name().into()).collect()
    };
    assert_eq!(own(|_| true), strings(&lists["vrm1_human_bones"]));
    assert_eq!(own(HumanoidBone::is_required), strings(&lists["vrm1_required"]));
    let profile = strings(&lists["godot_skeleton_profile_humanoid"]);
    let map = humanoid_of(&profile);
    assert_eq!((map.joints.len(), map.family), (55, Some(Family::Vrm)));
    for (bone, joint) in &map.joints {
        assert!(profile[*joint].eq_ignore_ascii_case(bone.name()), "{} is {}", profile[*joint], bone.name());
    }
    assert_eq!(map.unresolved, [0], "Root is no bone");
}

#[test]
fn handed_family_tables_resolve_to_their_bones() {
    let Some(lists) = lists("handed_family_tables_resolve_to_their_bones") else { return };
    let unreal = lists["family_to_vrm1"]["unreal"].clone();
    let game_rig = |name: &str| unreal.get(name).is_some();
    let numbered = |name: &str| name.contains("_Finger");
    let in_words =
        |name: &str| ["_Thumb", "_Index", "_Mid", "_Ring", "_Pinky"].iter().any(|finger| name.contains(finger));
    let joined_finger = |name: &str| FINGERS.iter().any(|finger| name.starts_with(finger)) && name.contains('_');
    let middle_thumb = |name: &str| name.starts_with("thumb") && name.contains("intermediate");
    let inner_thumb =
        |name: &str| name.starts_with("thumb") && (name.contains("metacarpal") || name.contains("proximal"));
    // Tables that hold several spellings of one bone are taken apart: no file has both.
    type Keep<'a> = &'a dyn Fn(&str) -> bool;
    let cases: [(&str, Family, usize, Keep); 14] = [
        ("mixamo", Family::Mixamo, 52, &|_| true),
        ("unreal", Family::Unreal, 52, &|_| true),
        ("ready_player_me", Family::ReadyPlayerMe, 54, &|_| true),
        ("rigify_meta_rig", Family::Rigify, 55, &|_| true),
        ("mpfb", Family::Mpfb, 53, &|name| !game_rig(name) || name == "head"),
        ("mpfb", Family::Unreal, 52, &|name| game_rig(name)),
        ("microsoft_rocketbox", Family::Rocketbox, 53, &|_| true),
        ("reallusion", Family::Reallusion, 54, &|name| !numbered(name)),
        ("reallusion", Family::Reallusion, 54, &|name| !in_words(name)),
        ("vroid", Family::Vroid, 54, &|_| true),
        ("vrm_addon", Family::Vrm, 54, &|name| !middle_thumb(name) && !joined_finger(name)),
        ("vrm_addon", Family::Vrm, 54, &|name| !middle_thumb(name) && !dotted_finger(name)),
        // The thumbs of VRM 0.x; what `proximal` is beside them stands in the tables of VRM files.
        ("vrm_addon", Family::Vrm, 52, &|name| !inner_thumb(name) && !dotted_finger(name)),
        ("cats_blender_plugin_fix_model", Family::Cats, 53, &|_| true),
    ];
    for (key, family, count, keep) in cases {
        let table = bones(&lists["family_to_vrm1"][key]);
        let truth: BTreeMap<String, String> =
            table.into_iter().filter(|(joint, _)| keep(joint)).map(|(joint, bone)| (bone, joint)).collect();
        let joints: Vec<String> = truth.values().cloned().collect();
        let map = humanoid_of(&joints);
        assert_eq!(truth.len(), count, "{key}: {joints:?}");
        assert_eq!(named(&map, &joints), truth, "{key}");
        assert_eq!(map.family, Some(family), "{key}");
    }
}

/// `thumb.distal.L`, not `thumb_distal.L`.
fn dotted_finger(name: &str) -> bool {
    name.matches('.').count() == 2
}

#[test]
fn handed_rigs_are_the_committed_ones() {
    let Some(lists) = lists("handed_rigs_are_the_committed_ones") else { return };
    let file = committed();
    let rigs = lists["real_rig_joints"].as_object().unwrap();
    assert_eq!(rigs.len(), file["rigs"].as_array().unwrap().len());
    for rig in file["rigs"].as_array().unwrap() {
        let name = rig["name"].as_str().unwrap();
        let joints = strings(&rigs[name]["joints"]);
        let map = humanoid_of(&joints);
        assert_eq!(named(&map, &joints), bones(&rig["bones"]), "{name}");
        let committed = strings(&rig["joints"]);
        // One list is committed without most of its hair and skirt.
        let kept: Vec<_> = joints.into_iter().filter(|joint| committed.contains(joint)).collect();
        assert_eq!(kept, committed, "{name}");
    }
}

#[test]
fn handed_vrm_tables_resolve_from_their_joint_names() {
    let Some(lists) = lists("handed_vrm_tables_resolve_from_their_joint_names") else { return };
    let tables = lists["vrm_file_humanoid_truth"].as_object().unwrap();
    assert_eq!(tables.len(), 10);
    for (file, table) in tables {
        let truth = vrm_truth(&table["vrm"], &table["humanBones"]);
        let joints: Vec<String> = truth.values().cloned().collect();
        let map = humanoid_of(&joints);
        assert_eq!(named(&map, &joints), truth, "{file}");
        assert!(map.ambiguous.is_empty(), "{file}: {:?}", map.ambiguous);
    }
}

#[test]
fn handed_vrm_file_states_what_its_names_mean() {
    let path = format!("{FOLDER}/data/gltf/models/sphere.vrm");
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("SKIP handed_vrm_file_states_what_its_names_mean: no file {path}; made tables cover it");
        return;
    };
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let document: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let nodes = document["nodes"].as_array().unwrap();
    let names: Vec<&str> = nodes.iter().map(|node| node["name"].as_str().unwrap_or_default()).collect();
    let entries = document["extensions"]["VRM"]["humanoid"]["humanBones"].as_array().unwrap().len();
    let stated = vrm_humanoid(&document["extensions"], nodes.len()).unwrap().unwrap();
    assert_eq!((stated.version, stated.nodes.len()), (VrmVersion::V0, entries));
    assert_eq!(humanoid_of(&names).joints, stated.nodes);
}
