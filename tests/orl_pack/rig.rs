//! A small rig, the parts of a small pack, and a container that can be bent without the writer under test.

use rigeval::orl::dna::{Definition, Descriptor, Dna, Layouts, LodMap, Mesh, SkinRow, Target};
use rigeval::orl::pack::{PackParts, PackTarget};
use serde_json::{Value, json};

/// Three joints, three channels, two levels, two meshes of which the second one shows at level 1 only.
pub fn dna() -> Dna {
    let names = |list: &[&str]| list.iter().map(|&n| n.to_owned()).collect();
    let definition = Definition {
        raw_control_names: names(&["r.a", "r.b"]),
        joint_names: names(&["root", "neck", "head"]),
        channel_names: names(&["smile", "blink", "jaw"]),
        mesh_names: names(&["head_lod0", "head_lod1"]),
        lod_meshes: LodMap { lods: vec![0, 1], lists: vec![vec![0], vec![1]] },
        joint_parents: vec![0, 0, 1],
        neutral_translations: vec![[0.0, 1.0, 0.0], [0.0, 140.0, -3.0], [0.5, 12.0, 2.0]],
        neutral_rotations: vec![[0.0; 3], [20.0, 0.0, 5.0], [-10.0, 30.0, 90.0]],
        ..Definition::default()
    };
    let positions: Vec<[f32; 3]> = (0..5).map(|v| [v as f32 * 1.5 - 3.0, 150.0 + v as f32, (v * v) as f32]).collect();
    let row = |joints: &[u16], weights: &[f32]| SkinRow { weights: weights.to_vec(), joints: joints.to_vec() };
    let mesh = Mesh {
        layouts: Layouts { positions: vec![4, 3, 2, 1, 0], uvs: vec![0; 5], normals: vec![0; 5] },
        positions,
        uvs: vec![[0.25, 0.5]],
        normals: vec![[0.0, 0.0, 1.0]],
        faces: vec![vec![0, 1, 2, 3], vec![4, 3, 2]],
        max_influences: 3,
        skin: vec![
            row(&[2], &[1.0]),
            row(&[1, 2], &[0.25, 0.75]),
            row(&[0, 1, 2], &[0.2, 0.3, 0.5]),
            row(&[], &[]),
            row(&[2, 1], &[0.5, 0.25]),
        ],
        targets: vec![
            Target { deltas: vec![[1.27, 0.0, -0.5], [0.004, 0.0, 0.0]], vertices: vec![3, 1], channel: 2 },
            Target { deltas: vec![], vertices: vec![], channel: 1 },
            Target { deltas: vec![[0.0, -2.0, 0.3], [0.01, 0.02, -0.03]], vertices: vec![0, 0], channel: 0 },
            Target { deltas: vec![[0.0; 3]], vertices: vec![2], channel: 0 },
        ],
    };
    let descriptor = Descriptor { lod_count: 2, ..Descriptor::default() };
    Dna { version: 8, descriptor, definition, meshes: vec![mesh.clone(), mesh], ..Dna::default() }
}

/// The parts of a pack without DNA: four vertices, two joints, two targets.
pub fn parts() -> PackParts {
    let mut inverse_bind = vec![glam::Mat4::IDENTITY.to_cols_array(); 2];
    inverse_bind[1][3] = -2.5;
    let Value::Object(manifest) = json!({"note": "four vertices", "ratio": 0.5}) else { unreachable!() };
    PackParts {
        neutral: (0..4).map(|v| [v as f32, 0.5 * v as f32, -1.0]).collect(),
        lanes: 2,
        skin_joints: vec![0, 1, 1, 0, 1, 0, 0, 1],
        skin_weights: vec![0.5, 0.5, 1.0, 0.0, 0.75, 0.25, 0.0, 1.0],
        joint_names: vec!["root".into(), "head".into()],
        joint_parents: vec![0, 0],
        joint_neutral: vec![[0.0; 9], [2.5, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]],
        inverse_bind,
        channel_count: 3,
        targets: vec![
            PackTarget { channel: 2, offset: 0, count: 2, scale: 0.01 },
            PackTarget { channel: 0, offset: 2, count: 1, scale: 1e-3 },
        ],
        delta_vertices: vec![0, 3, 2],
        deltas: vec![[1, -127, 0], [5, 6, 127], [-1, 2, -3]],
        triangles: vec![[0, 1, 2], [3, 2, 1]],
        dna: vec![],
        manifest,
    }
}

/// A pack taken apart, laid out again without a look at whether it makes sense.
pub struct Raw {
    pub toc: Vec<Value>,
    pub members: Vec<(String, Vec<u8>)>,
}

const DATA_START: usize = 4096;

impl Raw {
    pub fn of(bytes: &[u8]) -> Raw {
        let toc_len = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
        let toc: Vec<Value> = serde_json::from_slice(&bytes[16..16 + toc_len]).unwrap();
        let member = |entry: &Value| {
            let at = |key| entry[key].as_u64().unwrap() as usize;
            (entry["n"].as_str().unwrap().to_owned(), bytes[at("o")..][..at("l")].to_vec())
        };
        let mut raw = Raw { members: toc.iter().map(member).collect(), toc: vec![] };
        raw.layout();
        raw
    }

    /// Makes the table of contents anew; changes to it come after.
    pub fn layout(&mut self) {
        let mut end = DATA_START;
        self.toc.clear();
        for (name, data) in &self.members {
            self.toc.push(json!({"n": name, "o": end, "l": data.len()}));
            end += data.len().next_multiple_of(8);
        }
    }

    pub fn member(&mut self, name: &str) -> &mut Vec<u8> {
        &mut self.members.iter_mut().find(|(n, _)| n == name).unwrap().1
    }

    /// Overwrites one element of a member.
    pub fn put<const N: usize>(&mut self, name: &str, index: usize, bytes: [u8; N]) {
        self.member(name)[index * N..][..N].copy_from_slice(&bytes);
    }

    /// Gives a member another content.
    pub fn set(&mut self, name: &str, data: impl Into<Vec<u8>>) {
        *self.member(name) = data.into();
        self.layout();
    }

    /// Changes one field of a JSON member; null takes it out.
    pub fn json(&mut self, name: &str, path: &str, value: Value) {
        let mut root: Value = serde_json::from_slice(self.member(name)).unwrap();
        let (parent, key) = path.rsplit_once('/').unwrap();
        let object = root.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        if value.is_null() {
            object.remove(key);
        } else {
            object.insert(key.into(), value);
        }
        self.set(name, root.to_string());
    }

    pub fn drop_member(&mut self, name: &str) {
        self.members.retain(|(n, _)| n != name);
        self.layout();
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.bytes_with(&Value::from(self.toc.clone()).to_string())
    }

    /// With this text as the table of contents.
    pub fn bytes_with(&self, toc: &str) -> Vec<u8> {
        assert!(16 + toc.len() <= DATA_START, "the table outgrew its room");
        let mut out = b"ORLPACK1".to_vec();
        out.extend((toc.len() as u32).to_le_bytes());
        out.extend([0; 4]);
        out.extend(toc.as_bytes());
        out.resize(DATA_START, 0);
        for (_, data) in &self.members {
            out.extend(data);
            out.resize(out.len().next_multiple_of(8), 0);
        }
        let total = out.len() as u32;
        out[12..16].copy_from_slice(&total.to_le_bytes());
        out
    }
}
