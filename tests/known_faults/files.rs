//! Faults of readers of `.npy`, `.npz` and DNA files.

use rigeval::error::{LoadError, LoadErrorKind};
use rigeval::files::Files;
use rigeval::gltf::model::GltfModel;
use rigeval::gnm::gnmw;
use rigeval::gnm::model::GnmModel;
use rigeval::gnm::pack::GnmPack;
use rigeval::npy::{self, Npz};
use rigeval::orl::dna::Dna;
use rigeval::orl::pack::OrlPack;
use rigeval::orl::rig::{OrlRig, RigOptions};
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A `.npy` whose header says `descr` as it stands.
fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.bytes());
    bytes.extend(data);
    bytes
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn archive(members: &[(&str, &[u8])], options: SimpleFileOptions) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// B24: [[1, 2, 3], [4, 5, 6]], saved column by column; bare, and as a member through each way of reading one.
#[test]
fn fortran_order_is_seen() {
    let bytes = npy("'<f4'", "True", "(2, 3)", &floats(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    let array = npy::read(&bytes).unwrap();
    assert_eq!(array.shape, [2, 3]);
    let rows = array.into_f32().unwrap();
    assert_eq!(rows[2], 3.0, "element [0, 2]");
    assert_eq!(rows, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let zip = archive(&[("a.npy", &bytes)], SimpleFileOptions::default());
    let npz = Npz::open(&zip).unwrap();
    assert_eq!(npz.read_f32("a").unwrap()[2], 3.0);
    assert_eq!(npz.read_f64("a").unwrap()[2], 3.0);
    assert_eq!(npz.read_f16("a").unwrap()[2].to_f32(), 3.0);
}

/// B26: other byte orders, widths and shapes; and types that are no numbers.
#[test]
fn element_types_are_read_or_refused_by_name() {
    let one = |descr: &str, data: &[u8]| npy::read(&npy(descr, "False", "(1,)", data)).and_then(|a| a.into_f32());
    assert_eq!(one("'>f4'", &[0x3f, 0x80, 0, 0]).unwrap(), [1.0]);
    assert_eq!(one("'<f8'", &1.0_f64.to_le_bytes()).unwrap(), [1.0]);
    assert_eq!(one("'<f2'", &[0x00, 0x3c]).unwrap(), [1.0]);
    // A pickle that would run a command.
    let error = one("'|O'", b"cos\nsystem\n(S'true'\ntR.").unwrap_err();
    assert!(error.kind == LoadErrorKind::Type && error.to_string().contains("object array"), "{error}");
    let error = one("[('x', '<f4'), ('y', '<f4')]", &[0; 8]).unwrap_err();
    assert_eq!((error.kind, error.to_string().lines().count()), (LoadErrorKind::Type, 1), "{error}");
    for (shape, values) in [("()", vec![7.0]), ("(3,)", vec![1.0, 2.0, 3.0]), ("(0, 3)", vec![])] {
        let array = npy::read(&npy("'<f4'", "False", shape, &floats(&values))).unwrap();
        let dims: Vec<usize> = shape.split(|c: char| !c.is_ascii_digit()).filter_map(|d| d.parse().ok()).collect();
        assert_eq!((array.shape.clone(), array.into_f32().unwrap()), (dims, values), "{shape}");
    }
}

/// B27: two arrays whose local headers leave their sizes to a zip64 field, as NumPy writes them.
#[test]
fn members_behind_zip64_headers_are_found() {
    let (a, b) = (npy::write_f32(&[2], &[1.0, 2.0]), npy::write_f32(&[1, 3], &[3.0, 4.0, 5.0]));
    for packing in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let options = SimpleFileOptions::default().compression_method(packing).large_file(true);
        let zip = archive(&[("a.npy", &a), ("b.npy", &b)], options);
        assert_eq!(&zip[18..26], [0xff; 8], "both sizes of the first local header");
        let npz = Npz::open(&zip).unwrap();
        assert_eq!(npz.names().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(npz.read_f32("a").unwrap(), [1.0, 2.0]);
        assert_eq!(npz.read_f32("b").unwrap(), [3.0, 4.0, 5.0]);
        assert_eq!(npz.header("b").unwrap().shape(), [1, 3]);
    }
}

type Loader = fn(&[u8]) -> Option<LoadError>;

/// Everything that reads a file whole.
const LOADERS: [(&str, Loader); 7] = [
    ("dna", |bytes| Dna::read(bytes).err()),
    ("orlpack", |bytes| OrlPack::read(bytes.to_vec()).err()),
    ("aosrig", |bytes| GnmPack::read(bytes.to_vec()).err()),
    ("gnmw", |bytes| gnmw::read(bytes).err()),
    ("gnm npz", |bytes| GnmModel::read(bytes).err()),
    ("npy", |bytes| npy::read(bytes).err()),
    ("gltf", |bytes| GltfModel::load(bytes, &Files::Memory(Default::default())).err()),
];

/// B33: a pointer that Git LFS left in place of the file, and nothing at all.
#[test]
fn lfs_pointer_or_no_bytes_are_named_by_every_loader() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 24049\n";
    for (name, load) in LOADERS {
        let error = load(pointer).expect(name).to_string();
        assert!(error.contains("a Git-LFS pointer") && error.lines().count() == 1, "{name}: {error}");
        let error = load(b"").expect(name).to_string();
        assert!(["empty", "no bytes", "got 0"].iter().any(|word| error.contains(word)), "{name}: {error}");
    }
}

fn tiny() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl/tiny.dna")).unwrap()
}

/// The tiny rig without one of its layers: its entry in the index has another name.
fn without(layer: &[u8; 4]) -> Vec<u8> {
    let mut bytes = tiny();
    let at = 11 + bytes[11..].chunks(16).position(|entry| &entry[..4] == layer).unwrap() * 16;
    bytes[at..at + 4].copy_from_slice(b"zzzz");
    bytes
}

/// B33: a DNA cut short, and one with another set of layers than a rig needs.
#[test]
fn dna_cut_short_or_without_a_layer_says_what_is_missing() {
    let bytes = tiny();
    for length in (0..bytes.len()).step_by(97) {
        assert!(Dna::read(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
    let rig = |bytes: &[u8]| Dna::read(bytes).and_then(|dna| OrlRig::from_dna(&dna, &RigOptions::default()));
    let whole = rig(&bytes).unwrap();
    for (layer, part) in [
        (b"desc", "layer \"desc\""),
        (b"defn", "layer \"defn\""),
        (b"geom", "expected a mesh below 0, as many as the geometry holds"),
    ] {
        let error = rig(&without(layer)).expect_err(part).to_string();
        assert!(error.contains(part) && error.lines().count() == 1, "{error}");
    }
    // Without behaviour the rest of the rig is there, and every control is listed as one that moves nothing.
    let still = rig(&without(b"bhvr")).unwrap();
    assert_eq!(still.undriven_raw_controls(), Dna::read(&bytes).unwrap().definition.raw_control_names);
    assert!(whole.undriven_raw_controls().len() < still.undriven_raw_controls().len());
}
