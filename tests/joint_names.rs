//! Joint names of real rigs and the humanoid bones that they mean, against truths written down without this program.

use proptest::prelude::*;
use rigeval::glam::DAffine3;
use rigeval::skeleton::Skeleton;
use rigeval::skeleton::humanoid::{Family, HumanoidBone, HumanoidMap, humanoid_of};
use rigeval::skeleton::vrm::{VrmVersion, vrm_humanoid};
use serde_json::Value;
use std::collections::BTreeMap;

#[path = "joint_names/handed.rs"]
mod handed;

fn committed() -> Value {
    serde_json::from_str(include_str!("joint_names/rigs.json")).unwrap()
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().into()).collect()
}

/// Bone names to joint names, so that results of lists in different orders can be compared.
fn named(map: &HumanoidMap, names: &[String]) -> BTreeMap<String, String> {
    map.joints.iter().map(|(bone, joint)| (bone.name().into(), names[*joint].clone())).collect()
}

fn bones(table: &Value) -> BTreeMap<String, String> {
    table.as_object().unwrap().iter().map(|(bone, joint)| (bone.clone(), joint.as_str().unwrap().into())).collect()
}

/// The table of a VRM file under the bone names of VRM 1.0.
fn vrm_truth(version: &Value, table: &Value) -> BTreeMap<String, String> {
    let current = |name: &String| {
        let bone = if version == 0 { HumanoidBone::from_vrm0_name(name) } else { HumanoidBone::from_name(name) };
        bone.unwrap_or_else(|| panic!("{name}")).name().to_string()
    };
    bones(table).iter().map(|(bone, joint)| (current(bone), joint.clone())).collect()
}

#[test]
fn real_rigs_resolve_to_their_truth() {
    let file = committed();
    assert_eq!(file["rigs"].as_array().unwrap().len(), 12);
    for rig in file["rigs"].as_array().unwrap() {
        let name = &rig["name"];
        let mut joints = strings(&rig["joints"]);
        let truth = bones(&rig["bones"]);
        let ambiguities = rig["ambiguous"].as_array().unwrap();
        // The order of joints says nothing, so it must change nothing.
        for order in ["as listed", "reversed"] {
            let map = humanoid_of(&joints);
            assert_eq!(named(&map, &joints), truth, "{name}, {order}");
            let family = map.family.map(|family| format!("{family:?}"));
            assert_eq!(family.as_deref(), rig["family"].as_str(), "{name}, {order}");
            assert_eq!(map.ambiguous.len(), ambiguities.len(), "{name}: {:?}", map.ambiguous);
            for truth in ambiguities {
                let same = |bones: &[HumanoidBone], of: &[usize]| {
                    let mut of: Vec<_> = of.iter().map(|joint| joints[*joint].clone()).collect();
                    let mut expected = strings(&truth["joints"]);
                    of.sort();
                    expected.sort();
                    of == expected && bones.iter().map(|bone| bone.name()).eq(strings(&truth["bones"]))
                };
                assert!(map.ambiguous.iter().any(|a| same(&a.bones, &a.joints)), "{name}: no {truth}");
            }
            let open: usize = map.ambiguous.iter().map(|ambiguity| ambiguity.joints.len()).sum();
            assert_eq!(map.joints.len() + open + map.unresolved.len(), joints.len(), "{name}");
            joints.reverse();
        }
    }
}

#[test]
fn vrm_tables_resolve_from_their_joint_names() {
    let file = committed();
    for vrm in file["vrm"].as_array().unwrap() {
        let truth = vrm_truth(&vrm["vrm"], &vrm["humanBones"]);
        let joints: Vec<String> = truth.values().cloned().collect();
        let map = humanoid_of(&joints);
        assert_eq!(named(&map, &joints), truth, "{}", vrm["name"]);
        assert_eq!((map.family, map.missing()), (Some(Family::Vrm), vec![]), "{}", vrm["name"]);
        assert!(map.ambiguous.is_empty() && map.unresolved.is_empty(), "{}", vrm["name"]);
    }
}

#[test]
fn mangled_mixamo_names_mean_the_same_bones() {
    let file = committed();
    let rig = file["rigs"].as_array().unwrap().iter().find(|rig| rig["name"] == "ready_player_me_brunette").unwrap();
    let plain = strings(&rig["joints"]);
    let expected = humanoid_of(&plain);
    assert_eq!(expected.joints.len(), 54);
    type Mangling = fn(usize, &str) -> String;
    let manglings: [(&str, Option<Family>, Mangling); 12] = [
        ("prefix with a colon", Some(Family::Mixamo), |_, name| format!("mixamorig:{name}")),
        ("prefix with an underscore", Some(Family::Mixamo), |_, name| format!("mixamorig_{name}")),
        ("prefix alone", Some(Family::Mixamo), |_, name| format!("mixamorig{name}")),
        ("numbered prefix with a colon", Some(Family::Mixamo), |_, name| format!("mixamorig1:{name}")),
        ("numbered prefix with an underscore", Some(Family::Mixamo), |_, name| format!("mixamorig9_{name}")),
        ("numbered prefix alone", Some(Family::Mixamo), |_, name| format!("mixamorig12{name}")),
        ("escaped colon", Some(Family::Mixamo), |_, name| format!("mixamorigFBXASC058{name}")),
        ("Sketchfab", Some(Family::Mixamo), |at, name| format!("mixamorig:{name}_0{at}")),
        ("Sketchfab without prefix", Some(Family::ReadyPlayerMe), |at, name| format!("{name}_0{at}")),
        ("Microsoft", Some(Family::ReadyPlayerMe), |at, name| format!("{name}.{at}")),
        ("Blender's FBX", Some(Family::Mixamo), |_, name| format!("Armature|mixamorig:{name}")),
        ("MotionBuilder", Some(Family::ReadyPlayerMe), |_, name| format!("Character1_{name}")),
    ];
    for (what, family, mangle) in manglings {
        let names: Vec<String> = plain.iter().enumerate().map(|(at, name)| mangle(at, name)).collect();
        assert_eq!(humanoid_of(&names), HumanoidMap { family, ..expected.clone() }, "{what}");
    }
}

#[test]
fn joint_is_found_by_its_raw_name_alone() {
    let names = ["mixamorig:Hips", "head", "HEAD", "twice", "twice"];
    let parents = vec![None, Some(0), Some(0), Some(0), Some(0)];
    let skeleton = Skeleton::new(names.map(String::from).into(), parents, vec![DAffine3::IDENTITY; names.len()]);
    let cases = [
        ("mixamorig:Hips", Some(0)),
        ("head", Some(1)),
        ("HEAD", Some(2)),
        ("twice", Some(3)),
        ("Hips", None),
        ("Head", None),
        ("", None),
    ];
    for (name, expected) in cases {
        assert_eq!(skeleton.joint(name), expected, "{name}");
    }
    assert_eq!(skeleton.humanoid(), humanoid_of(&names));
}

/// Texts near the rules: pieces of real names and manglings, put together at random, and anything at all.
fn name() -> impl Strategy<Value = String> {
    let pieces = "mixamorig,:,_,1,Left,Hand,leg,FBXASC,046,L,.,01,_03,_rootJoint,|,Bip01, ,head,HEAD,thumb,proximal,spine,\u{e9},Character,-,r,Bone,";
    let pieces: Vec<&str> = pieces.split(',').collect();
    prop_oneof![proptest::collection::vec(proptest::sample::select(pieces), 0..6).prop_map(|p| p.concat()), ".{0,12}"]
}

proptest! {
    #[test]
    fn every_joint_is_told_once_whatever_its_name(names in proptest::collection::vec(name(), 0..24)) {
        let map = humanoid_of(&names);
        let open = map.ambiguous.iter().flat_map(|ambiguity| &ambiguity.joints);
        let mut told: Vec<usize> = map.joints.values().chain(open).chain(&map.unresolved).copied().collect();
        told.sort_unstable();
        prop_assert_eq!(told, (0..names.len()).collect::<Vec<_>>());
        for ambiguity in &map.ambiguous {
            prop_assert!(ambiguity.joints.len() + ambiguity.bones.len() > 2, "one joint and one bone are no ambiguity");
            prop_assert!(ambiguity.bones.iter().all(|bone| !map.joints.contains_key(bone)));
        }
    }
}
