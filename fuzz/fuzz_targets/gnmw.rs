#![no_main]
//! Any bytes as a GNMW container, both dialects: an error, or a file that writes and, where it has joints, becomes a model.

use rigeval::gnm::gnmw;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(file) = gnmw::read(bytes) {
        gnmw::read(&file.write()).expect("a written container reads");
        let _ = file.into_model();
    }
});
