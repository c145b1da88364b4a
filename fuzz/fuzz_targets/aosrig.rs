#![no_main]
//! Any bytes as a pack: an error, or a pack that writes what it read and can be posed.

use rigeval::gnm::pack::GnmPack;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(pack) = GnmPack::read(bytes.to_vec()) {
        let written = pack.write();
        let again = GnmPack::read(written.clone()).expect("a written pack reads");
        assert_eq!(again.write(), written);
        let _ = pack.mesh();
    }
});
