#![no_main]
//! Any bytes as a DNA file: an error, or a rig that writes, reads back equal and can be cut to each of its levels.

use rigeval::orl::dna::{Dna, LoadOptions};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(dna) = Dna::read(bytes) {
        let written = dna.write(dna.version).expect("a read rig writes");
        assert!(Dna::read(&written).expect("a written rig reads") == dna);
        for lod in 0..dna.descriptor.lod_count {
            let options = LoadOptions { lods: Some(lod..lod + 1), ..LoadOptions::default() };
            Dna::read_with(bytes, &options).expect("every level can be kept").check().expect("a cut rig is sound");
        }
    }
});
