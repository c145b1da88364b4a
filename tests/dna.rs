//! DNA files: byte identity, refusals, accessors.

use rigeval::orl::dna::Dna;
use std::path::PathBuf;

#[test]
fn every_handed_file_rewrites_byte_for_byte() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/");
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in ["orl", "orl-large"] {
        let Ok(entries) = std::fs::read_dir(format!("{root}{folder}")) else {
            eprintln!("SKIP: ../shared/data/{folder} is absent");
            continue;
        };
        files.extend(entries.map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "dna")));
    }
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let dna = Dna::read(&bytes).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        assert!(dna.write(dna.version).unwrap() == bytes, "{}", file.display());
    }
}
