//! DNA files: byte identity, damage, wrong content, accessors, load options.

mod bytes;
mod content;
mod damage;
mod options;

use rigeval::orl::dna::Dna;
use std::path::PathBuf;

/// The bytes of one committed rig.
fn rig(name: &str) -> Vec<u8> {
    let path = format!("{}/reference/orl/{name}.dna", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn read(name: &str) -> Dna {
    Dna::read(&rig(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn dna_files(folder: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        eprintln!("SKIP: {folder} is absent");
        return Vec::new();
    };
    let paths = entries.map(|e| e.unwrap().path());
    paths.filter(|p| p.extension().is_some_and(|e| e == "dna")).collect()
}
