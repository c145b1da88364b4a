//! A small head, and a container that can be bent: every field of the header and every blob, without the writer under test.

use half::f16;
use rigeval::gnm::pack::{BasisFormat, Mouth, MouthGroup, PackJoint, PackParts, Region};
use rigeval::info::Look;
use serde_json::{Map, Value, json};

pub const REGIONS: [(&str, usize); 5] =
    [("left_eye", 1), ("right_eye", 1), ("lower_face", 2), ("tongue", 1), ("pupils", 1)];

/// V vertices (8 or more), six coefficients, two lanes, two joints, one group of teeth, every optional blob.
pub fn parts(vertices: usize) -> PackParts {
    let e: usize = REGIONS.iter().map(|(_, n)| n).sum();
    let wave = |i: usize| (i as f32 * 0.37).sin();
    let halves = |n: usize| (0..n).flat_map(|i| f16::from_f32(wave(i) * 100.0).to_le_bytes()).collect();
    let one = |on: std::ops::Range<usize>| (0..vertices).map(|v| f32::from(u8::from(on.contains(&v)))).collect();
    let (c, s) = (0.5f32.cos(), 0.5f32.sin());
    PackParts {
        neutral: (0..vertices).map(|v| [wave(v), wave(v + 9), wave(v + 40)]).collect(),
        basis_format: BasisFormat::F16,
        basis: halves(vertices * e * 3),
        basis_scale: (0..e).map(|c| 0.5f32.powi(c as i32 + 10)).collect(),
        lanes: 2,
        skin_joints: (0..vertices).flat_map(|_| [1, 0]).collect(),
        skin_weights: (0..vertices)
            .flat_map(|v| [f16::from_f32(1.0 - (v % 64) as f32 / 64.0), f16::from_f32((v % 64) as f32 / 64.0)])
            .collect(),
        eye_positions: [[0.03, 0.1, 0.08], [-0.03, 0.1, 0.08]],
        eye_weights: [one(0..3), one(3..6)],
        joints: vec![
            PackJoint { name: "root".into(), parent: None, rest_world: glam::Mat4::IDENTITY.to_cols_array() },
            PackJoint {
                name: "head".into(),
                parent: Some(0),
                rest_world: [1.0, 0.0, 0.0, 0.1, 0.0, c, -s, 1.4, 0.0, s, c, -0.2, 0.0, 0.0, 0.0, 1.0],
            },
        ],
        bind_transform: [1.04, 0.0, 0.0, 0.1, 0.0, 1.04, 0.0, 1.5, 0.0, 0.0, 1.04, 0.2, 0.0, 0.0, 0.0, 1.0],
        regions: REGIONS.iter().map(|&(name, count)| Region { name: name.into(), count }).collect(),
        faces: vec![[0, 1, 2], [3, 4, 5], [5, 6, 7], [6, 0, 7], [7, 6, 5], [0, 2, 4]],
        quads: Some(vec![[0, 1, 2, 3]]),
        uvs: Some((0..vertices).map(|v| [wave(v), wave(v + 5)]).collect()),
        seam: Some((0..vertices).map(|v| [0.0, 0.001 * v as f32, 0.0]).collect()),
        mouth: Some(Mouth {
            groups: vec![MouthGroup {
                name: "teeth".into(),
                vertices: vec![5, 6, 7],
                look: Some(Look { color: [0.92, 0.9, 0.85], gloss: 0.8 }),
            }],
            faces: vec![[6, 7, 5]],
            face_groups: vec![0],
        }),
        source: json!({"note": "a head of eight vertices"}),
    }
}

/// A pack taken apart: JSON values and blobs, laid out again without a look at whether they make sense.
pub struct Raw {
    pub header: Map<String, Value>,
    /// JSON text that is put before the first header key.
    pub prefix: &'static str,
    pub blobs: Vec<RawBlob>,
}

pub struct RawBlob {
    pub entry: Map<String, Value>,
    pub data: Vec<u8>,
    /// Offset and length in `entry` stay as they are instead of following the layout.
    pub pinned: bool,
}

const DATA_START: usize = 4096;

impl Raw {
    pub fn of(bytes: &[u8]) -> Raw {
        let header_len = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
        let mut header: Map<String, Value> = serde_json::from_slice(&bytes[16..16 + header_len]).unwrap();
        let buffers = header.remove("buffers").unwrap();
        let blob = |entry: &Value| {
            let at = |key| entry[key].as_u64().unwrap() as usize;
            let data = bytes[at("offset")..][..at("byteLength")].to_vec();
            RawBlob { entry: entry.as_object().unwrap().clone(), data, pinned: false }
        };
        Raw { header, prefix: "", blobs: buffers.as_array().unwrap().iter().map(blob).collect() }
    }

    pub fn set(&mut self, path: &str, value: Value) {
        let mut keys = path.split('/');
        let first = keys.next().unwrap();
        let mut at = self.header.entry(first).or_insert(Value::Null);
        for key in keys {
            at = match key.parse::<usize>() {
                Ok(i) => &mut at[i],
                Err(_) => &mut at[key],
            };
        }
        *at = value;
    }

    /// Takes a field out of an object that `path` leads to.
    pub fn unset(&mut self, path: &str, key: &str) {
        let object = if path.is_empty() { &mut self.header } else { self.header[path].as_object_mut().unwrap() };
        object.remove(key).unwrap();
    }

    pub fn blob(&mut self, name: &str) -> &mut RawBlob {
        self.blobs.iter_mut().find(|b| b.entry["name"] == name).unwrap()
    }

    pub fn drop_blob(&mut self, name: &str) {
        self.blobs.retain(|b| b.entry["name"] != name);
    }

    /// Overwrites one element.
    pub fn put<const N: usize>(&mut self, name: &str, index: usize, bytes: [u8; N]) {
        self.blob(name).data[index * N..][..N].copy_from_slice(&bytes);
    }

    /// Gives a blob other content, type and shape.
    pub fn replace(&mut self, name: &str, dtype: &str, shape: Value, data: Vec<u8>) {
        let blob = self.blob(name);
        blob.entry["dtype"] = dtype.into();
        blob.entry["shape"] = shape;
        blob.data = data;
    }

    /// Sets fields of a table entry and keeps the layout away from it.
    pub fn pin(&mut self, name: &str, fields: &[(&str, Value)]) {
        self.layout();
        let blob = self.blob(name);
        blob.pinned = true;
        for (key, value) in fields {
            blob.entry.insert((*key).into(), value.clone());
        }
    }

    fn layout(&mut self) -> usize {
        let mut end = DATA_START;
        for blob in &mut self.blobs {
            if !blob.pinned {
                blob.entry.insert("offset".into(), end.into());
                blob.entry.insert("byteLength".into(), blob.data.len().into());
            }
            end += blob.data.len().next_multiple_of(8);
        }
        end
    }

    pub fn bytes(&mut self) -> Vec<u8> {
        let total = self.layout();
        let entries: Vec<_> = self.blobs.iter().map(|b| Value::Object(b.entry.clone())).collect();
        let mut header = self.header.clone();
        header.entry("buffers").or_insert(entries.into());
        let text = format!("{{{}{}", self.prefix, &Value::Object(header).to_string()[1..]);
        assert!(16 + text.len() <= DATA_START, "the header outgrew its room");
        let mut out = b"AOSRIG01".to_vec();
        out.extend((text.len() as u32).to_le_bytes());
        out.extend((total as u32).to_le_bytes());
        out.extend(text.as_bytes());
        out.resize(DATA_START, 0);
        for blob in &self.blobs {
            out.extend(&blob.data);
            out.resize(out.len().next_multiple_of(8), 0);
        }
        out
    }
}
