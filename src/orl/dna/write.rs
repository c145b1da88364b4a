//! From [`Dna`] to the bytes of a file.

use super::codec::{Field, Writer};
use super::layout::{BEHAVIOR_PARTS, write_behavior_part};
use super::read::{END, GENERATION, SIGNATURE, known_layers};
use super::{
    Conventions, Dna, JointRepresentation, NEWEST_VERSION, Networks, OperationGraph, Rbf, RbfOutputs, TwistSwing,
};
use crate::error::{LoadError, LoadErrorKind};

impl Dna {
    /// The file of one minor version, 1 to 8 for 2.1 to 2.8, or the rig's own when it is newer.
    ///
    /// All layers that the version has are written, empty ones too, then the unknown ones.
    ///
    /// # Errors
    /// `Version` - another version; `Shape`, `Value` - as [`Dna::check`]; `Unsupported` - content that the version has no place for:
    /// empty that field, if it may be lost.
    pub fn write(&self, version: u16) -> Result<Vec<u8>, LoadError> {
        let newer = version > NEWEST_VERSION && version == self.version;
        if !(1..=NEWEST_VERSION).contains(&version) && !newer {
            let expected = format!("2.1 to 2.{NEWEST_VERSION}, or the rig's own 2.{}", self.version);
            return Err(LoadError::new(
                LoadErrorKind::Version,
                "file version to write",
                expected,
                format!("2.{version}"),
            ));
        }
        self.check()?;
        if let Some((field, since)) = self.newest_content().filter(|&(_, since)| since > version) {
            let expected = format!("nothing that file version 2.{version} has no place for");
            return Err(LoadError::new(LoadErrorKind::Unsupported, field, expected, format!("content of 2.{since}")));
        }
        let mut w = Writer { bytes: Vec::new(), version };
        w.put(SIGNATURE);
        GENERATION.write(&mut w);
        version.write(&mut w);
        if version == 1 {
            self.write_sections(&mut w);
        } else {
            self.write_layers(&mut w);
        }
        if u32::try_from(w.bytes.len()).is_err() {
            return Err(LoadError::new(LoadErrorKind::Unsupported, "file", "below 4 GiB", w.bytes.len()));
        }
        Ok(w.bytes)
    }

    /// The field whose content needs the newest file version, and that version.
    fn newest_content(&self) -> Option<(&'static str, u16)> {
        let plain = Conventions { face_winding: self.conventions.face_winding, ..Conventions::default() };
        let joints = self.joint_representations.iter().any(|j| *j != JointRepresentation::default());
        let needs = [
            ("unknown_layers", 2, !self.unknown_layers.is_empty()),
            ("networks", 3, self.networks != Networks::default()),
            ("rbf", 4, self.rbf != Rbf::default()),
            ("joint_representations", 4, joints),
            ("twist_swing", 4, self.twist_swing != TwistSwing::default()),
            ("rbf_outputs", 5, self.rbf_outputs != RbfOutputs::default()),
            ("operation_graph", 6, self.operation_graph != OperationGraph::default()),
            ("conventions", 7, self.conventions != plain),
            ("conventions.face_winding", 8, plain != Conventions::default()),
        ];
        needs.iter().rev().find(|need| need.2).map(|&(field, since, _)| (field, since))
    }

    fn write_sections(&self, w: &mut Writer) {
        let table = w.bytes.len();
        w.put(&[0; 32]);
        let mut section = 0;
        let mut start = |w: &mut Writer| {
            w.patch(table + 4 * section, w.bytes.len());
            section += 1;
        };
        start(w);
        self.descriptor.write(w);
        start(w);
        self.definition.write(w);
        // The behavior starts where the first of its parts does.
        start(w);
        for part in 0..BEHAVIOR_PARTS {
            start(w);
            write_behavior_part(part, &self.behavior, w);
        }
        start(w);
        self.meshes.write(w);
        w.put(END);
    }

    fn write_layers(&self, w: &mut Writer) {
        let known = known_layers(w.version).map(|l| (l.id, l.version));
        let unknown = self.unknown_layers.iter().map(|l| (l.id, l.version));
        let entries: Vec<_> = known.chain(unknown).collect();
        w.put_length(entries.len());
        let table = w.bytes.len();
        for (id, version) in entries {
            w.put(&id);
            version.write(w);
            w.put(&[0; 8]);
        }
        let known = known_layers(w.version).map(|l| Body::Known(l.write));
        let unknown = self.unknown_layers.iter().map(|l| Body::Unknown(&l.bytes));
        for (i, body) in known.chain(unknown).enumerate() {
            let start = w.bytes.len();
            match body {
                Body::Known(write) => write(self, w),
                Body::Unknown(bytes) => w.put(bytes),
            }
            w.patch(table + 16 * i + 8, start);
            w.patch(table + 16 * i + 12, w.bytes.len() - start);
        }
    }
}

enum Body<'a> {
    Known(fn(&Dna, &mut Writer)),
    Unknown(&'a [u8]),
}
