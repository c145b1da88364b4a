//! The `.aosrig` reader and writer: handed packs byte for byte, and every refusal.

use rigeval::gnm::pack::GnmPack;

const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/gnm/aosrig_tiny");

#[test]
fn pack_read_and_written_is_byte_identical() {
    for name in ["tiny_full", "tiny_light", "tiny_e64"] {
        let bytes = std::fs::read(format!("{SHARED}/{name}.aosrig")).unwrap();
        let pack = GnmPack::read(bytes.clone()).unwrap();
        println!("{pack:?} {:?}", pack.mesh().parts);
        println!("{:?}", pack.rest_bounds());
        assert!(pack.write() == bytes, "{name}");
    }
}
