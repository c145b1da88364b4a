#![no_main]
//! Any bytes as an ORL pack: an error, or a pack that writes what it read.

use rigeval::orl::pack::OrlPack;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(pack) = OrlPack::read(bytes.to_vec()) {
        let written = pack.write();
        let again = OrlPack::read(written.clone()).expect("a written pack reads");
        assert_eq!(again.write(), written);
        assert_eq!(pack.deltas().len(), pack.delta_vertices().len());
    }
});
