use super::*;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A `.npy` of any header version from header text and data.
fn npy(version: u8, text: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((text.len() as u16).to_le_bytes()),
        _ => bytes.extend((text.len() as u32).to_le_bytes()),
    }
    bytes.extend(text.bytes());
    bytes.extend(data);
    bytes
}

fn array(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Result<Array, LoadError> {
    let fortran = if fortran { "True" } else { "False" };
    read(&npy(1, &format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n"), data))
}

fn zip_of(members: &[(&str, &[u8])], options: SimpleFileOptions) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn stored() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Stored)
}

fn deflated() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)
}

#[test]
fn float_widths_and_byte_orders_read_the_same() {
    let values = [1.5f64, -0.25, 1024.0];
    let cases: [(&str, Vec<u8>); 6] = [
        ("<f2", values.iter().flat_map(|&x| half::f16::from_f64(x).to_le_bytes()).collect()),
        (">f2", values.iter().flat_map(|&x| half::f16::from_f64(x).to_be_bytes()).collect()),
        ("<f4", values.iter().flat_map(|&x| (x as f32).to_le_bytes()).collect()),
        (">f4", values.iter().flat_map(|&x| (x as f32).to_be_bytes()).collect()),
        ("<f8", values.iter().flat_map(|&x| x.to_le_bytes()).collect()),
        (">f8", values.iter().flat_map(|&x| x.to_be_bytes()).collect()),
    ];
    for (descr, data) in cases {
        let read = array(descr, false, "(3,)", &data).unwrap();
        assert_eq!(read.shape, [3], "{descr}");
        assert_eq!(matches!(read.values, Values::F64(_)), descr.ends_with('8'), "{descr}");
        assert_eq!(read.clone().into_f64().unwrap(), values, "{descr}");
        assert_eq!(read.into_f32().unwrap(), values.map(|x| x as f32), "{descr}");
    }
}

#[test]
fn integer_widths_and_byte_orders_read_the_same() {
    let cases: [(&str, &[u8], [i64; 2]); 13] = [
        ("|i1", &[0xff, 7], [-1, 7]),
        ("|u1", &[0xff, 7], [255, 7]),
        ("|b1", &[1, 0], [1, 0]),
        ("<i2", &[0xfe, 0xff, 1, 0], [-2, 1]),
        (">i2", &[0xff, 0xfe, 0, 1], [-2, 1]),
        ("<u2", &[0xfe, 0xff, 1, 0], [65534, 1]),
        (">u2", &[0xff, 0xfe, 0, 1], [65534, 1]),
        ("<i4", &[0xfd, 0xff, 0xff, 0xff, 2, 0, 0, 0], [-3, 2]),
        (">u4", &[0, 0, 1, 0, 0, 0, 0, 2], [256, 2]),
        ("<u4", &[0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0], [4_294_967_295, 2]),
        ("<i8", &[0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 9, 0, 0, 0, 0, 0, 0, 0], [-5, 9]),
        (">i8", &[0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 9], [256, 9]),
        ("<u8", &[5, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0], [5, 9]),
    ];
    for (descr, data, expected) in cases {
        let read = array(descr, false, "(2,)", data).unwrap();
        assert_eq!(read.clone().into_i64().unwrap(), expected, "{descr}");
        assert_eq!(read.into_f64().unwrap(), expected.map(|x| x as f64), "{descr}");
    }
}

#[test]
fn unicode_arrays_read_in_both_byte_orders() {
    let codes: Vec<u32> = "neckü\0\0".chars().map(u32::from).collect();
    let little: Vec<u8> = codes[..6].iter().flat_map(|c| c.to_le_bytes()).collect();
    let big: Vec<u8> = codes[..6].iter().flat_map(|c| c.to_be_bytes()).collect();
    for (descr, data) in [("<U6", &little), (">U6", &big)] {
        let scalar = array(descr, false, "()", data).unwrap();
        assert_eq!((scalar.shape.len(), scalar.into_text().unwrap()), (0, vec!["neckü".to_string()]), "{descr}");
    }
    let list = array("<U3", false, "(2,)", &little).unwrap();
    assert_eq!(list.into_text().unwrap(), ["nec", "kü"]);
    let surrogate = array("<U1", false, "()", &0xd800u32.to_le_bytes()).unwrap_err();
    assert_eq!(surrogate.kind, LoadErrorKind::Corrupt);
}

#[test]
fn fortran_order_becomes_c_order() {
    // Column after column of [[0, 1, 2], [3, 4, 5]].
    let flat = array("|u1", true, "(2, 3)", &[0, 3, 1, 4, 2, 5]).unwrap();
    assert_eq!(flat.into_i64().unwrap(), [0, 1, 2, 3, 4, 5]);
    let mut data = vec![0; 24];
    for i in 0..24u8 {
        let (a, b, c) = (i / 12, i / 4 % 3, i % 4);
        data[usize::from(a + 2 * b + 6 * c)] = i;
    }
    let deep = array("|u1", true, "(2, 3, 4)", &data).unwrap();
    assert_eq!(deep.into_i64().unwrap(), (0..24).collect::<Vec<i64>>());
    assert_eq!(array("|u1", true, "(0, 3)", &[]).unwrap().shape, [0, 3]);
}

#[test]
fn header_versions_read_the_same() {
    for version in 1..=3 {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (), }          \n";
        assert_eq!(read(&npy(version, text, &2.5f32.to_le_bytes())).unwrap().into_f32().unwrap(), [2.5]);
    }
    assert_eq!(read(&npy(4, "{}", &[])).unwrap_err().kind, LoadErrorKind::Version);
}

#[test]
fn npy_that_lies_is_refused() {
    let shape = |shape: &str| array("<f4", false, shape, &[0; 8]).unwrap_err();
    assert_eq!(shape("(3,)").kind, LoadErrorKind::Truncated);
    assert_eq!(shape("(1,)").kind, LoadErrorKind::Corrupt);
    assert_eq!(shape("(-2,)").kind, LoadErrorKind::Format);
    assert_eq!(shape("(4294967296, 4294967296)").kind, LoadErrorKind::Shape);
    assert_eq!(shape("(0xFFFFFFFFFFFFFFFF, 2)").kind, LoadErrorKind::Shape);
    assert_eq!(shape(&"(".repeat(60_000)).kind, LoadErrorKind::Format);
    assert_eq!(array("<U0", false, "(999999999,)", &[]).unwrap_err().kind, LoadErrorKind::Type);
    for descr in ["|O", "<c8", "<M8[s]", "|S4", "|V4", "<f16", "bogus"] {
        let error = array(descr, false, "(1,)", &[0; 4]).unwrap_err();
        assert!(matches!(error.kind, LoadErrorKind::Type | LoadErrorKind::Format), "{descr}: {error}");
    }
    assert!(array("|O", false, "(1,)", &[0; 4]).unwrap_err().to_string().contains("object array"));
    let mut long = npy(2, "", &[]);
    long[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(read(&long).unwrap_err().kind, LoadErrorKind::Corrupt);
}

#[test]
fn npy_truncated_is_rejected() {
    let bytes = write_f32(&[2, 3], &[0.0; 6]);
    for length in 0..bytes.len() {
        read(&bytes[..length]).unwrap_err();
    }
    read(&bytes).unwrap();
}

#[test]
fn written_arrays_read_back_and_are_laid_out_as_numpy_does() {
    let bytes = write_f32(&[2, 1], &[1.0, -2.0]);
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }";
    assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
    assert!(bytes[10..].starts_with(text.as_bytes()));
    assert_eq!(bytes.len(), 128 + 8);
    assert_eq!(read(&bytes).unwrap(), Array { shape: vec![2, 1], values: Values::F32(vec![1.0, -2.0]) });
    assert_eq!(read(&write_f64(&[], &[0.1])).unwrap(), Array { shape: vec![], values: Values::F64(vec![0.1]) });
    assert!(write_f32(&[3], &[0.0; 3])[10..].starts_with(b"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"));
}

#[test]
fn archives_of_both_packings_read_back() {
    for packing in [Packing::Stored, Packing::Deflated] {
        let build = || {
            let mut writer = NpzWriter::new(packing);
            writer.add_f32("floats", &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
            writer.add_f16("halves", &[1], &[half::f16::from_f32(0.5)]);
            writer.add_i32("ints", &[3], &[-1, 0, 70_000]);
            writer.add_text("names", &[2], &["left_eye", "ü"]);
            writer.add_text("version", &[], &["3.0"]);
            writer.finish()
        };
        let bytes = build();
        assert_eq!(bytes, build(), "the same arrays, other bytes");
        let npz = Npz::open(&bytes).unwrap();
        assert_eq!(npz.names().collect::<Vec<_>>(), ["floats", "halves", "ints", "names", "version"]);
        assert_eq!(npz.read_f32("floats").unwrap(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(npz.read_f16("floats").unwrap()[2].to_f32(), 3.0);
        assert_eq!(npz.read_f64("halves").unwrap(), [0.5]);
        assert_eq!(npz.read("ints").unwrap().into_i64().unwrap(), [-1, 0, 70_000]);
        assert_eq!(npz.read("ints").unwrap().into_u32().unwrap_err().kind, LoadErrorKind::Value);
        assert_eq!(npz.read("names").unwrap().into_text().unwrap(), ["left_eye", "ü"]);
        let header = npz.header("version").unwrap();
        assert_eq!((header.shape(), header.element(), header.descr().as_str()), (&[][..], Element::Text, "<U3"));
        assert_eq!(npz.header("floats").unwrap().byte_count(), 16);
        assert_eq!(npz.header("other").unwrap_err().kind, LoadErrorKind::Missing);
        assert_eq!(npz.read_f32("names").unwrap_err().kind, LoadErrorKind::Type);
    }
}

#[test]
fn streamed_and_zip64_archives_read() {
    let member = write_f32(&[4], &[1.0, 2.0, 3.0, 4.0]);
    let mut streamed = ZipWriter::new_stream(Vec::new());
    streamed.start_file("a.npy", deflated()).unwrap();
    streamed.write_all(&member).unwrap();
    let streamed = streamed.finish().unwrap().into_inner();
    // Bit 3 of the flags: sizes and checksum follow the data.
    assert_eq!(streamed[6] & 8, 8);
    let zip64 = zip_of(&[("a.npy", &member)], stored().large_file(true));
    for bytes in [streamed, zip64] {
        assert_eq!(Npz::open(&bytes).unwrap().read_f32("a").unwrap(), [1.0, 2.0, 3.0, 4.0]);
    }
}

#[test]
fn foreign_files_are_named() {
    let zip = zip_of(&[("a.npy", &write_f32(&[1], &[0.0]))], stored());
    let cases: [(&[u8], LoadErrorKind, &str); 6] = [
        (b"", LoadErrorKind::Format, "empty"),
        (&write_f32(&[1], &[0.0]), LoadErrorKind::Format, "bare .npy"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", LoadErrorKind::Format, "Git-LFS"),
        (b"<!DOCTYPE html><html></html>", LoadErrorKind::Format, "HTML"),
        (&zip[..zip.len() - 1], LoadErrorKind::Truncated, "end early"),
        (b"some text that is no zip", LoadErrorKind::Format, "some tex"),
    ];
    for (bytes, kind, word) in cases {
        let error = Npz::open(bytes).unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
    assert!(read(&zip).unwrap_err().to_string().contains("zip archive"));
}

#[test]
fn npz_truncated_is_rejected() {
    let zip = zip_of(&[("a.npy", &write_f32(&[2], &[0.0; 2]))], deflated());
    for length in 0..zip.len() {
        Npz::open(&zip[..length]).unwrap_err();
    }
}

#[test]
fn damaged_member_is_refused() {
    let member = write_f32(&[2], &[1.0, 2.0]);
    let mut bytes = zip_of(&[("a.npy", &member)], stored());
    let data = bytes.windows(4).position(|w| w == 2.0f32.to_le_bytes()).unwrap();
    bytes[data] ^= 1;
    let error = Npz::open(&bytes).unwrap().read("a").unwrap_err();
    assert_eq!(error.kind, LoadErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("checksum"), "{error}");
}

#[test]
fn member_size_is_what_the_header_says() {
    let mut short = write_f32(&[2], &[1.0, 2.0]);
    short.pop();
    let mut long = write_f32(&[2], &[1.0, 2.0]);
    long.push(0);
    // A megabyte of zeros deflates to a kilobyte; a shape of a thousand times that must not be believed.
    let huge = npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (90000, 90000), }\n", &[0; 1 << 20]);
    for options in [stored(), deflated()] {
        let zip = zip_of(&[("short.npy", &short), ("long.npy", &long), ("huge.npy", &huge)], options);
        let npz = Npz::open(&zip).unwrap();
        let kind = |name: &str| npz.read(name).unwrap_err().kind;
        assert_eq!(kind("short"), LoadErrorKind::Truncated);
        assert_eq!(kind("long"), LoadErrorKind::Corrupt);
        assert_eq!(kind("huge"), LoadErrorKind::Truncated);
        assert_eq!(npz.header("huge").unwrap().shape(), [90000, 90000]);
    }
}

#[test]
fn unsupported_members_are_refused() {
    let member = write_f32(&[1], &[0.0]);
    let plain = zip_of(&[("a.npy", &member)], stored());
    let central = plain.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    let with = |local: usize, directory: usize, value: u8| {
        let mut bytes = plain.clone();
        bytes[local] = value;
        bytes[central + directory] = value;
        Npz::open(&bytes).and_then(|npz| npz.read("a")).unwrap_err()
    };
    let encrypted = with(6, 8, 1);
    assert_eq!(encrypted.kind, LoadErrorKind::Unsupported, "{encrypted}");
    let bzip2 = with(8, 10, 12);
    assert_eq!(bzip2.kind, LoadErrorKind::Unsupported, "{bzip2}");
}

#[test]
fn member_names_are_unique() {
    let member = write_f32(&[1], &[0.0]);
    let same_key = zip_of(&[("a.npy", &member), ("a", &member)], stored());
    assert_eq!(Npz::open(&same_key).unwrap_err().kind, LoadErrorKind::Corrupt);
    let mut twice = zip_of(&[("a.npy", &member), ("b.npy", &member)], stored());
    for at in 0..twice.len() - 5 {
        if &twice[at..at + 5] == b"b.npy" {
            twice[at] = b'a';
        }
    }
    assert_eq!(Npz::open(&twice).unwrap_err().kind, LoadErrorKind::Corrupt);
}

use proptest::prelude::{any, proptest};

proptest! {
    #[test]
    fn npy_never_panics_on_other_headers(text in "[-{}()\\[\\]'\", :a-zA-Z<>|0-9_+.\\\\]{0,120}", version in 1u8..4, data: Vec<u8>) {
        let _ = read(&npy(version, &text, &data));
    }

    #[test]
    fn npy_never_panics_on_other_types(
        order in "[<>|=]", kind in "[?bBiufcmMOSUVa]", size in 0u64..40, shape in "-?[0-9]{1,20}(, ?[0-9]{1,20}){0,3},?",
        fortran: bool, data: Vec<u8>,
    ) {
        let _ = array(&format!("{order}{kind}{size}"), fortran, &format!("({shape})"), &data);
    }

    #[test]
    fn npy_never_panics_on_damage(edits in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..6)) {
        let mut bytes = write_f32(&[2, 3], &[0.5; 6]);
        let length = bytes.len();
        edits.into_iter().for_each(|(at, value)| bytes[at % length] = value);
        let _ = read(&bytes);
    }

    #[test]
    fn npz_never_panics_on_noise(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), signature: bool) {
        if signature && bytes.len() > 30 {
            bytes[..4].copy_from_slice(b"PK\x03\x04");
            let end = bytes.len() - 22;
            bytes[end..end + 4].copy_from_slice(b"PK\x05\x06");
        }
        read_all(&bytes);
    }

    #[test]
    fn npz_never_panics_on_damage(edits in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..10), pack: bool) {
        let mut writer = NpzWriter::new(if pack { Packing::Deflated } else { Packing::Stored });
        writer.add_f32("a", &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        writer.add_text("b", &[2], &["x", "yz"]);
        let mut bytes = writer.finish();
        let length = bytes.len();
        edits.into_iter().for_each(|(at, value)| bytes[at % length] = value);
        read_all(&bytes);
    }
}

fn read_all(bytes: &[u8]) {
    if let Ok(npz) = Npz::open(bytes) {
        for name in npz.names() {
            let _ = (npz.header(name).is_ok(), npz.read(name).is_ok(), npz.read_f32(name).is_ok());
        }
    }
}

#[test]
fn text_longer_than_any_name_is_refused() {
    let scalar = |descr: &str, characters: usize| array(descr, false, "()", &vec![0; 4 * characters]);
    assert_eq!(scalar("<U4096", 4096).unwrap().into_text().unwrap(), [""]);
    assert_eq!(scalar("<U4097", 4097).unwrap_err().kind, LoadErrorKind::Type);
}
