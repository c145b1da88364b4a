//! The committed sample packs: their hashes stand in PACKS.md, and making them anew gives the same heads.

use rigeval::expression::{GnmNames, GnmRegions};
use rigeval::files::Files;
use rigeval::frames::sha256_hex;
use rigeval::gltf::cpu::gltf_morph;
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::gnm::bake::{BakeOptions, bake};
use rigeval::gnm::cpu::gnm_blend;
use rigeval::gnm::pack::{BasisFormat, GnmPack};
use rigeval::gnm::pose::{GnmPose, Stage};
use rigeval::gnm::sample::{SampleOptions, sample};
use rigeval::head::HeadSize;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("packs")
}

#[test]
fn committed_packs_have_the_hashes_on_their_page() {
    let page = std::fs::read_to_string(folder().join("PACKS.md")).unwrap();
    let mut packs = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if name == "PACKS.md" {
            continue;
        }
        let hash = sha256_hex(&std::fs::read(&path).unwrap());
        let row =
            page.lines().find(|l| l.contains(&format!("`{name}`"))).unwrap_or_else(|| panic!("no row for {name}"));
        assert!(row.contains(&hash), "{name} has sha256 {hash}, the page says: {row}");
        packs += 1;
    }
    assert!(packs > 0);
}

/// Other platforms' sines may differ in the last bit and move an entry by one step of the basis, so poses are compared, not bytes.
#[test]
fn gnm_sample_made_anew_poses_like_the_committed_one() {
    const TOLERANCE_M: f32 = 2e-6;
    let committed = GnmPack::read(std::fs::read(folder().join("gnm_sample.aosrig")).unwrap()).unwrap();
    let model = sample(HeadSize::Small, SampleOptions { correctives: true });
    let identity = vec![0.0; model.identity_names.len()];
    let options = BakeOptions { format: BasisFormat::I8, ..BakeOptions::default() };
    let anew = bake(&model, &identity, &options, &mut |_| {}).unwrap();
    assert_eq!(anew.control_names(), committed.control_names());
    assert_eq!(committed.control_names(), GnmRegions::full().names(GnmNames::HeadExt));
    assert_eq!(anew.mesh(), committed.mesh());
    let controls: Vec<f32> = (0..387).map(|c| if c < 383 { (c as f32).sin() } else { 0.1 }).collect();
    let posed = |pack: &GnmPack| {
        let mut pose = GnmPose::new(pack);
        pose.set_controls(pack, &controls).unwrap();
        gnm_blend(pack, &pose, Stage::Pose)
    };
    let pairs = posed(&anew).into_iter().flatten().zip(posed(&committed).into_iter().flatten());
    let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(off <= TOLERANCE_M, "off by {off} m, allowed {TOLERANCE_M}");
}

/// The same of the glTF head: other platforms' last bits may differ, poses may not.
#[test]
fn gltf_sample_made_anew_poses_like_the_committed_one() {
    /// A delta at the threshold below which it is left out may be in one file and not in the other.
    const TOLERANCE_M: f32 = 1.1e-5;
    let load = |bytes: &[u8]| GltfModel::load(bytes, &Files::Memory(BTreeMap::new())).unwrap();
    let committed = load(&std::fs::read(folder().join("gltf_sample.glb")).unwrap());
    let anew = load(&rigeval::gltf::sample::sample(HeadSize::Small));
    assert_eq!(anew.controls().names(), committed.controls().names());
    assert_eq!(anew.mesh().render(), committed.mesh().render());
    let clip = |model: &GltfModel| (model.clips()[0].name().map(str::to_string), model.clips()[0].end());
    assert_eq!(clip(&anew), clip(&committed));
    let posed = |model: &GltfModel, controls: &[f32]| {
        let mut pose = GltfPose::new(model, OutputSpace::World);
        pose.set_controls(model, controls).unwrap();
        gltf_morph(model.mesh(), &pose)
    };
    let off = |a: Vec<[f32; 3]>, b: Vec<[f32; 3]>| {
        a.into_iter().flatten().zip(b.into_iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    for time in [0.0, 0.4, 0.95, 1.3, 1.9] {
        let sampled = |model: &GltfModel| {
            let mut controls = model.controls().defaults().to_vec();
            model.clips()[0].sample(time, &mut model.clips()[0].cursor(), &mut controls);
            posed(model, &controls)
        };
        let off = off(sampled(&anew), sampled(&committed));
        assert!(off <= TOLERANCE_M, "off by {off} m at {time} s, allowed {TOLERANCE_M}");
    }
    for morph in 0..anew.controls().morph_count() {
        let mut controls = anew.controls().defaults().to_vec();
        controls[morph] = 1.0;
        let off = off(posed(&anew, &controls), posed(&committed, &controls));
        let name = &anew.controls().names()[morph];
        assert!(off <= TOLERANCE_M, "{name}: off by {off} m, allowed {TOLERANCE_M}");
    }
}
