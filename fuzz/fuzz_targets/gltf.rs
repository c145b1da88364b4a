#![no_main]
//! Any bytes as the JSON of a file that has a buffer of a few numbers: an error, or a rig.

use rigeval::files::Files;
use rigeval::gltf::model::GltfModel;

/// Small integers and small floats, whatever width they are read with.
const BIN: [u8; 1024] = {
    let mut bytes = [0; 1024];
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = (at / 4 % 3) as u8;
        bytes[at + 3] = if at < 512 { 0 } else { 0x3f };
        at += 4;
    }
    bytes
};

libfuzzer_sys::fuzz_target!(|json: &[u8]| {
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend((28 + json.len() as u32 + BIN.len() as u32).to_le_bytes());
    bytes.extend((json.len() as u32).to_le_bytes());
    bytes.extend(b"JSON");
    bytes.extend(json);
    bytes.extend((BIN.len() as u32).to_le_bytes());
    bytes.extend(b"BIN\0");
    bytes.extend(BIN);
    let _ = GltfModel::load(&bytes, &Files::Memory(Default::default()));
});
