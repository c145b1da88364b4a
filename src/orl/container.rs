//! The ORLPACK1 container: magic, lengths, a table of contents and named members.
//!
//! Only the frame is read and checked here; what the members mean is [`super::pack`]'s business.

use crate::error::{LoadError, LoadErrorKind};
use crate::files::PackPrefix;
use indexmap::IndexMap;
use std::fmt;
use std::ops::Range;

/// The format defines twelve.
const MAX_MEMBERS: usize = 1024;
/// The length is stored in a u32; rewriting may make the table a few bytes per member longer, and must not run past it.
const MAX_PACK_BYTES: usize = u32::MAX as usize - (1 << 20);

const PREFIX: PackPrefix =
    PackPrefix { magic: b"ORLPACK1", kind: "an ORL pack", length_field: "tocLen", limit_bytes: MAX_PACK_BYTES };

/// A container whose lengths and table of contents hold together.
///
/// Two containers are equal when their bytes are.
#[derive(Clone)]
pub struct Container {
    members: IndexMap<String, Range<usize>>,
    bytes: Vec<u8>,
}

impl PartialEq for Container {
    fn eq(&self, other: &Container) -> bool {
        self.bytes == other.bytes
    }
}

impl fmt::Debug for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members: Vec<_> = self.members().map(|(name, data)| format!("{name} {}", data.len())).collect();
        f.debug_struct("Container").field("bytes", &self.bytes.len()).field("members", &members).finish()
    }
}

impl Container {
    /// Reads the frame; the bytes are kept, not copied.
    ///
    /// # Errors
    /// `Format` for other files, `Truncated` when a length or a member does not match the bytes, `Type` for a table of contents that is no
    /// list of names, offsets and lengths, `Corrupt` for one that is not JSON, for names that are empty or given twice, and for members that
    /// overlap or do not lie on multiples of 8, `Unsupported` for more than 1024 members.
    pub fn read(bytes: Vec<u8>) -> Result<Container, LoadError> {
        let toc_end = PREFIX.check(&bytes)?;
        let members = read_toc(&bytes[PackPrefix::BYTES..toc_end], bytes.len())?;
        check_overlaps(&members, toc_end)?;
        Ok(Container { members, bytes })
    }

    /// A container of these members, in this order. The same members give the same bytes.
    ///
    /// # Errors
    /// `Missing` for no members, `Value` for an empty name, `Corrupt` for a name given twice, `Unsupported` for more members or bytes than the
    /// format holds.
    pub fn build<'a>(members: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<Container, LoadError> {
        let members: Vec<_> = members.into_iter().collect();
        let error = |kind, expected: &str, found: String| Err(LoadError::new(kind, "members", expected, found));
        if members.is_empty() {
            return error(LoadErrorKind::Missing, "one member or more", "none".into());
        }
        if members.len() > MAX_MEMBERS {
            return error(
                LoadErrorKind::Unsupported,
                &format!("at most {MAX_MEMBERS} members"),
                members.len().to_string(),
            );
        }
        let mut names = std::collections::HashSet::new();
        for (name, _) in &members {
            if name.is_empty() {
                return error(LoadErrorKind::Value, "names", "an empty one".into());
            }
            if !names.insert(*name) {
                return error(LoadErrorKind::Corrupt, "distinct names", format!("\"{name}\" twice"));
            }
        }
        let bytes = encode(&members);
        if bytes.len() > MAX_PACK_BYTES {
            let expected = format!("at most {MAX_PACK_BYTES} bytes in one pack");
            return error(LoadErrorKind::Unsupported, &expected, bytes.len().to_string());
        }
        Container::read(bytes)
    }

    /// The container as bytes: the members in their order, the table of contents and all padding made anew.
    ///
    /// What a writer of this format made comes back byte for byte; gaps and spacing that the format allows but no writer makes do not.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        encode(&self.members().collect::<Vec<_>>())
    }

    /// The member of that name, without padding.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&[u8]> {
        self.members.get(name).map(|range| &self.bytes[range.clone()])
    }

    /// Names and bytes of all members in order, those that no reader here knows included.
    pub fn members(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.members.iter().map(|(name, range)| (name.as_str(), &self.bytes[range.clone()]))
    }

    /// The bytes that were read.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The whole container.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.bytes.len()
    }
}

#[derive(serde::Deserialize)]
struct Entry {
    n: String,
    o: u64,
    l: u64,
}

fn read_toc(text: &[u8], total_bytes: usize) -> Result<IndexMap<String, Range<usize>>, LoadError> {
    let invalid = |e: &dyn fmt::Display| {
        let found = format!("table of contents is not valid JSON: {e}");
        LoadError::new(LoadErrorKind::Corrupt, "toc", "a JSON array", found)
    };
    let text = std::str::from_utf8(text).map_err(|e| invalid(&e))?;
    // A writer whose offsets lose a digit between two passes leaves zeros inside the stated length.
    let value: Box<serde_json::value::RawValue> =
        serde_json::from_str(text.trim_end_matches('\0')).map_err(|e| invalid(&e))?;
    let entries: Vec<&serde_json::value::RawValue> = serde_json::from_str(value.get())
        .map_err(|_| LoadError::new(LoadErrorKind::Type, "toc", "an array of members", &value))?;
    if entries.len() > MAX_MEMBERS {
        let expected = format!("at most {MAX_MEMBERS} members");
        return Err(LoadError::new(LoadErrorKind::Unsupported, "toc", expected, entries.len()));
    }
    let mut members = IndexMap::new();
    for (i, raw) in entries.into_iter().enumerate() {
        // An array of three would be taken for the struct as well.
        let entry = Some(raw.get()).filter(|text| text.starts_with('{')).map(serde_json::from_str::<Entry>);
        let Some(Ok(entry)) = entry else {
            let expected = "n as text, o and l as whole numbers that are not negative";
            return Err(LoadError::new(LoadErrorKind::Type, format!("toc[{i}]"), expected, raw));
        };
        let (name, range) = check_entry(i, entry, total_bytes)?;
        if members.contains_key(&name) {
            let field = format!("member \"{name}\"");
            return Err(LoadError::new(LoadErrorKind::Corrupt, field, "one entry", "a duplicate name"));
        }
        members.insert(name, range);
    }
    Ok(members)
}

fn check_entry(i: usize, entry: Entry, total_bytes: usize) -> Result<(String, Range<usize>), LoadError> {
    let field = format!("member \"{}\"", entry.n);
    if entry.n.is_empty() {
        return Err(LoadError::new(LoadErrorKind::Corrupt, format!("toc[{i}]"), "a name", "an empty one"));
    }
    if !entry.o.is_multiple_of(PackPrefix::ALIGNMENT_BYTES as u64) {
        return Err(LoadError::new(LoadErrorKind::Corrupt, field, "an offset that is a multiple of 8", entry.o));
    }
    match entry.o.checked_add(entry.l).filter(|&end| end <= total_bytes as u64) {
        Some(end) => Ok((entry.n, entry.o as usize..end as usize)),
        None => {
            let found = format!("offset {} + {}: runs past the end", entry.o, entry.l);
            Err(LoadError::new(LoadErrorKind::Truncated, field, format!("to end by byte {total_bytes}"), found))
        }
    }
}

/// Members may lie in any order and with gaps, but no byte belongs to two of them or to the table. Those without bytes overlap nothing.
fn check_overlaps(members: &IndexMap<String, Range<usize>>, toc_end: usize) -> Result<(), LoadError> {
    let mut by_offset: Vec<_> = members.iter().filter(|(_, range)| !range.is_empty()).collect();
    by_offset.sort_by_key(|(_, range)| range.start);
    let mut end = toc_end;
    let mut before = "the table of contents";
    for (name, range) in by_offset {
        if range.start < end {
            let found = format!("{}: overlaps {before}", range.start);
            let expected = format!("an offset of {end} or more");
            return Err(LoadError::new(LoadErrorKind::Corrupt, format!("member \"{name}\""), expected, found));
        }
        (end, before) = (range.end, name);
    }
    Ok(())
}

fn encode(members: &[(&str, &[u8])]) -> Vec<u8> {
    let data: Vec<&[u8]> = members.iter().map(|(_, data)| *data).collect();
    PREFIX.encode(&data, |offsets| toc_text(members, offsets))
}

fn toc_text(members: &[(&str, &[u8])], offsets: &[usize]) -> String {
    let entry = |((name, data), offset): (&(&str, &[u8]), &usize)| {
        format!(r#"{{"n":{},"o":{offset},"l":{}}}"#, serde_json::Value::from(*name), data.len())
    };
    let entries: Vec<String> = members.iter().zip(offsets).map(entry).collect();
    format!("[{}]", entries.join(","))
}
