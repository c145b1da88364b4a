#![no_main]
//! Any bytes as a glTF file, GLB or JSON: an error of one line, or a rig that can be played and posed.

use rigeval::files::Files;
use rigeval::gltf::bounds::GltfBounds;
use rigeval::gltf::cpu::gltf_morph;
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    match GltfModel::load(bytes, &Files::Memory(Default::default())) {
        Ok(model) => {
            let mut pose = GltfPose::new(&model, OutputSpace::MeshParent);
            let mut controls = model.controls().defaults().to_vec();
            for clip in model.clips() {
                clip.sample(0.4, &mut clip.cursor(), &mut controls);
            }
            pose.set_controls(&model, &controls).expect("a clip writes controls that are taken");
            assert_eq!(gltf_morph(model.mesh(), &pose).len(), model.mesh().vertex_count());
            let _ = GltfBounds::new(model.mesh()).of_pose(&pose);
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
