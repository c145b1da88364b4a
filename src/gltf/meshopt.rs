//! `EXT_meshopt_compression`: the crate `meshopt` unpacks vertices and triangles; index sequences and filters, for which it has no safe
//! function, are done here.

use super::accessor::MAX_ELEMENTS;
use super::document::{Meshopt, wrong};
use crate::error::{LoadError, LoadErrorKind};

/// The bytes of the view that `packed` describes, tightly packed rows of its stride.
///
/// # Errors
/// `Value` - a count, stride, mode or filter outside the extension's rules; `Corrupt` - bytes that do not decode.
pub(super) fn unpack(packed: &Meshopt, bytes: &[u8], pointer: &str) -> Result<Vec<u8>, LoadError> {
    if packed.count > MAX_ELEMENTS {
        return Err(wrong(format!("{pointer}/count"), format!("at most {MAX_ELEMENTS}"), packed.count));
    }
    let count = packed.count as usize;
    let corrupt = || {
        LoadError::new(LoadErrorKind::Corrupt, pointer, format!("{count} packed elements"), "bytes that do not decode")
    };
    let stride_is = |allowed: bool, expected: &str| {
        let error = || wrong(format!("{pointer}/byteStride"), expected, packed.byte_stride);
        allowed.then_some(()).ok_or_else(error)
    };
    let indices = matches!(packed.byte_stride, 2 | 4);
    match packed.mode.as_str() {
        "ATTRIBUTES" => {
            stride_is(packed.byte_stride.is_multiple_of(4) && (4..=256).contains(&packed.byte_stride), "4, 8, .. 256")?;
            let mut rows = vertices(bytes, count, packed.byte_stride).ok_or_else(corrupt)?;
            filter(packed, &mut rows, pointer)?;
            Ok(rows)
        }
        "TRIANGLES" => {
            stride_is(indices, "2 or 4")?;
            if !count.is_multiple_of(3) {
                return Err(wrong(format!("{pointer}/count"), "a multiple of 3", count));
            }
            let unpacked = if packed.byte_stride == 2 {
                meshopt::decode_index_buffer::<u16>(bytes, count).map(|v| bytemuck::cast_slice(&v).to_vec())
            } else {
                meshopt::decode_index_buffer::<u32>(bytes, count).map(|v| bytemuck::cast_slice(&v).to_vec())
            };
            unpacked.map_err(|_| corrupt())
        }
        "INDICES" => {
            stride_is(indices, "2 or 4")?;
            sequence(bytes, count, packed.byte_stride as usize).ok_or_else(corrupt)
        }
        other => Err(wrong(format!("{pointer}/mode"), "ATTRIBUTES, TRIANGLES or INDICES", format!("\"{other}\""))),
    }
}

/// One element as the crate's decoder fills it: its size is its type's.
#[derive(Clone)]
struct Row<const N: usize>([u8; N]);

impl<const N: usize> Default for Row<N> {
    fn default() -> Self {
        Row([0; N])
    }
}

fn vertices_of<const N: usize>(bytes: &[u8], count: usize) -> Option<Vec<u8>> {
    let rows = meshopt::decode_vertex_buffer::<Row<N>>(bytes, count).ok()?;
    Some(rows.iter().flat_map(|row| row.0).collect())
}

fn vertices(bytes: &[u8], count: usize, stride: u64) -> Option<Vec<u8>> {
    macro_rules! by_stride {
        ($($words:literal)*) => {
            match stride / 4 {
                $($words => vertices_of::<{ 4 * $words }>(bytes, count),)*
                _ => None,
            }
        };
    }
    by_stride!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
        33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64)
}

/// Deltas against one of two running baselines, seven bits to a byte, between a header and a tail of four bytes.
fn sequence(bytes: &[u8], count: usize, stride: usize) -> Option<Vec<u8>> {
    const HEADER: u8 = 0xd0;
    const VERSIONS: u8 = 2;
    let (&header, rest) = bytes.split_first()?;
    let mut data = rest.get(..rest.len().checked_sub(4)?)?.iter();
    if header & 0xf0 != HEADER || header & 0x0f >= VERSIONS || data.len() < count {
        return None;
    }
    let mut last = [0_u32; 2];
    let mut unpacked = Vec::with_capacity(count * stride);
    for _ in 0..count {
        let mut value = 0_u32;
        for shift in (0..35).step_by(7) {
            let byte = *data.next()?;
            value |= u32::from(byte & 0x7f).wrapping_shl(shift);
            if byte < 0x80 {
                break;
            }
        }
        let (baseline, zigzag) = ((value & 1) as usize, value >> 1);
        let delta = (zigzag >> 1) ^ (zigzag & 1).wrapping_neg();
        last[baseline] = last[baseline].wrapping_add(delta);
        unpacked.extend_from_slice(&last[baseline].to_le_bytes()[..stride]);
    }
    data.next().is_none().then_some(unpacked)
}

fn filter(packed: &Meshopt, rows: &mut [u8], pointer: &str) -> Result<(), LoadError> {
    let stride = packed.byte_stride;
    let name = packed.filter.as_deref().unwrap_or("NONE");
    match (name, stride) {
        ("NONE", _) => {}
        ("OCTAHEDRAL", 4) => rows.as_chunks_mut::<4>().0.iter_mut().for_each(|row| {
            let [x, y, z] = octahedral([0, 1, 2].map(|i| f32::from(row[i] as i8)));
            (row[0], row[1], row[2]) =
                (snapped(x, 127.0) as i8 as u8, snapped(y, 127.0) as i8 as u8, snapped(z, 127.0) as i8 as u8);
        }),
        ("OCTAHEDRAL", 8) => rows.as_chunks_mut::<8>().0.iter_mut().for_each(|row| {
            let unit = octahedral([0, 1, 2].map(|i| f32::from(half(row, i))));
            for (i, x) in unit.into_iter().enumerate() {
                set_half(row, i, snapped(x, 32767.0) as i16);
            }
        }),
        ("QUATERNION", 8) => rows.as_chunks_mut::<8>().0.iter_mut().for_each(quaternion),
        ("EXPONENTIAL", _) => rows.as_chunks_mut::<4>().0.iter_mut().for_each(|word| {
            let bits = i32::from_le_bytes(*word);
            *word = ((bits << 8 >> 8) as f32 * ((bits >> 24) as f32).exp2()).to_le_bytes();
        }),
        ("OCTAHEDRAL" | "QUATERNION", _) => {
            return Err(wrong(format!("{pointer}/byteStride"), format!("the stride of {name}"), stride));
        }
        _ => {
            let expected = "NONE, OCTAHEDRAL, QUATERNION or EXPONENTIAL";
            return Err(wrong(format!("{pointer}/filter"), expected, format!("\"{name}\"")));
        }
    }
    Ok(())
}

/// Two coordinates on the octahedron and its size -> a unit vector.
fn octahedral([x, y, one]: [f32; 3]) -> [f32; 3] {
    let (x, y) = (x / one, y / one);
    let z = 1.0 - x.abs() - y.abs();
    let fold = z.min(0.0);
    let (x, y) = (x + if x >= 0.0 { fold } else { -fold }, y + if y >= 0.0 { fold } else { -fold });
    let length = (x * x + y * y + z * z).sqrt();
    [x / length, y / length, z / length]
}

/// Three components, the size of one, and which component is the largest and left out.
fn quaternion(row: &mut [u8; 8]) {
    let tag = half(row, 3);
    let scale = std::f32::consts::FRAC_1_SQRT_2 / f32::from(tag | 3);
    let [x, y, z] = [0, 1, 2].map(|i| f32::from(half(row, i)) * scale);
    let w = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
    let largest = (tag & 3) as usize;
    for (i, value) in [w, x, y, z].into_iter().enumerate() {
        set_half(row, (largest + i) % 4, snapped(value, 32767.0) as i16);
    }
}

fn snapped(value: f32, one: f32) -> f32 {
    (value * one).round()
}

fn half(row: &[u8; 8], at: usize) -> i16 {
    i16::from_le_bytes([row[2 * at], row[2 * at + 1]])
}

fn set_half(row: &mut [u8; 8], at: usize, value: i16) {
    row[2 * at..2 * at + 2].copy_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(mode: &str, filter: Option<&str>, count: u64, byte_stride: u64) -> Meshopt {
        let filter = filter.map(String::from);
        Meshopt { buffer: 0, byte_offset: 0, byte_length: 0, byte_stride, count, mode: mode.into(), filter }
    }

    #[test]
    fn vertices_and_triangles_come_back() {
        let rows: Vec<[u8; 12]> = (0..70).map(|i| std::array::from_fn(|k| (i * 7 + k * 31) as u8)).collect();
        let bytes = meshopt::encode_vertex_buffer(&rows).unwrap();
        let unpacked = unpack(&packed("ATTRIBUTES", None, 70, 12), &bytes, "/x").unwrap();
        assert_eq!(unpacked, rows.as_flattened());
        let indices: Vec<u32> = vec![0, 1, 2, 2, 1, 3];
        let bytes = meshopt::encode_index_buffer(&indices, 4).unwrap();
        let unpacked = unpack(&packed("TRIANGLES", None, 6, 2), &bytes, "/x").unwrap();
        assert_eq!(unpacked, [0, 0, 1, 0, 2, 0, 2, 0, 1, 0, 3, 0]);
    }

    #[test]
    fn packed_bytes_truncated_are_rejected() {
        let rows: Vec<[u8; 12]> = (0..70).map(|i| std::array::from_fn(|k| (i * 7 + k * 31) as u8)).collect();
        let bytes = meshopt::encode_vertex_buffer(&rows).unwrap();
        let indices = meshopt::encode_index_buffer(&[0, 1, 2], 3).unwrap();
        for length in 0..bytes.len() {
            let error = unpack(&packed("ATTRIBUTES", None, 70, 12), &bytes[..length], "/x").unwrap_err();
            assert_eq!(error.kind, LoadErrorKind::Corrupt, "{length} bytes");
        }
        for length in 0..indices.len() {
            assert!(unpack(&packed("TRIANGLES", None, 3, 4), &indices[..length], "/x").is_err(), "{length} bytes");
        }
    }

    #[test]
    fn sequence_follows_its_two_baselines() {
        // +3 and +1 on baseline 0, +300 on baseline 1, -1 on baseline 0.
        let values = [3_u32 << 2, 1 << 2, 300 << 2 | 1, 1 << 1];
        let mut bytes = vec![0xd1];
        for value in values {
            let high = value >> 7;
            if high > 0 {
                bytes.extend([value as u8 | 0x80, high as u8]);
            } else {
                bytes.push(value as u8);
            }
        }
        bytes.extend([0; 4]);
        assert_eq!(sequence(&bytes, 4, 2).unwrap(), [3, 0, 4, 0, 44, 1, 3, 0]);
        for length in 0..bytes.len() {
            assert!(sequence(&bytes[..length], 4, 2).is_none(), "{length} bytes");
        }
        assert!(sequence(&bytes, 3, 2).is_none(), "bytes left over");
    }

    #[test]
    fn filters_follow_the_extension() {
        let run = |name: &str, stride: u64, mut row: Vec<u8>| {
            filter(&packed("ATTRIBUTES", Some(name), 1, stride), &mut row, "/x").unwrap();
            row
        };
        assert_eq!(run("OCTAHEDRAL", 4, vec![0, 0, 127, 9]), [0, 0, 127, 9], "the pole");
        assert_eq!(run("OCTAHEDRAL", 4, vec![127, 127, 127, 9]), [0, 0, 129, 9], "the other pole");
        assert_eq!(run("OCTAHEDRAL", 4, vec![63, 0, 63, 0]), [127, 0, 0, 0], "fewer bits");
        let halves = |row: [i16; 4]| row.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        assert_eq!(run("OCTAHEDRAL", 8, halves([0, -1023, 1023, 5])), halves([0, -32767, 0, 5]));
        // 2047 is one, the largest component is the second; x is one over the root of two.
        assert_eq!(run("QUATERNION", 8, halves([2047, 0, 0, 2044 | 1])), halves([0, 23170, 23170, 0]));
        assert_eq!(run("EXPONENTIAL", 4, vec![3, 0, 0, 0xff]), 1.5_f32.to_le_bytes());
        assert_eq!(run("EXPONENTIAL", 4, vec![0xfd, 0xff, 0xff, 2]), (-12_f32).to_le_bytes());
        assert_eq!(run("NONE", 4, vec![1, 2, 3, 4]), [1, 2, 3, 4]);
        // Noise must not panic.
        run("OCTAHEDRAL", 8, vec![0; 8]);
        run("QUATERNION", 8, vec![0xff; 8]);
        run("EXPONENTIAL", 8, vec![0x7f; 8]);
    }

    #[test]
    fn wrong_field_is_named() {
        for (case, field) in [
            (packed("ATTRIBUTES", None, 1, 6), "/x/byteStride"),
            (packed("ATTRIBUTES", None, 1, 260), "/x/byteStride"),
            (packed("TRIANGLES", None, 3, 1), "/x/byteStride"),
            (packed("TRIANGLES", None, 4, 2), "/x/count"),
            (packed("ATTRIBUTES", None, u64::MAX, 4), "/x/count"),
            (packed("STRIPS", None, 3, 2), "/x/mode"),
        ] {
            assert_eq!(unpack(&case, &[], "/x").unwrap_err().field, field, "{case:?}");
        }
        let row = meshopt::encode_vertex_buffer(&[[0_u8; 12]]).unwrap();
        for (name, field) in [("QUATERNION", "/x/byteStride"), ("OCTAHEDRAL", "/x/byteStride"), ("CUBE", "/x/filter")] {
            let error = unpack(&packed("ATTRIBUTES", Some(name), 1, 12), &row, "/x").unwrap_err();
            assert_eq!(error.field, field, "{name}");
        }
    }
}
