//! From the bytes of a file to [`Dna`]: the header, the section table of 2.1, the index table of later versions.

use super::codec::{Field, Reader, inside};
use super::layout::{BEHAVIOR_PARTS, read_behavior_part};
use super::{Dna, LAYERS, Layer, LoadOptions, NEWEST_VERSION, UnknownLayer};
use crate::error::{LoadError, LoadErrorKind};
use crate::files::recognise_non_data;

pub(super) const SIGNATURE: &[u8; 3] = b"DNA";
pub(super) const GENERATION: u16 = 2;
pub(super) const END: &[u8; 3] = b"AND";

/// The section table of 2.1, after the seven bytes of the header.
const SECTIONS: usize = 8;

/// Reads the whole file; the content is not checked yet.
pub(super) fn read(bytes: &[u8], options: &LoadOptions) -> Result<Dna, LoadError> {
    let version = header(bytes)?;
    if version == 1 { read_sections(bytes, options) } else { read_layers(bytes, version, options) }
}

fn header(bytes: &[u8]) -> Result<u16, LoadError> {
    let format = |found: String| LoadError::new(LoadErrorKind::Format, "", "a file that starts with \"DNA\"", found);
    if let Some(what) = recognise_non_data(bytes) {
        return Err(format(what.into()));
    }
    let first = &bytes[..bytes.len().min(SIGNATURE.len())];
    if first != SIGNATURE {
        let shown: Vec<String> = first.iter().map(|b| format!("{b:02x}")).collect();
        return Err(match first {
            [] => format("an empty file".into()),
            _ => format(format!("\"{}\" (bytes {})", first.escape_ascii(), shown.join(" "))),
        });
    }
    let mut r = Reader::new(bytes, SIGNATURE.len(), bytes.len(), 0);
    let generation = u16::read(&mut r).map_err(|e| inside(e, "file version"))?;
    let version = u16::read(&mut r).map_err(|e| inside(e, "file version"))?;
    if generation != GENERATION || version == 0 {
        let supported = format!("2.1 to 2.{NEWEST_VERSION} or a newer 2.x");
        let found = format!("{generation}.{version}");
        return Err(LoadError::new(LoadErrorKind::Version, "file version", supported, found));
    }
    Ok(version)
}

fn read_sections(bytes: &[u8], options: &LoadOptions) -> Result<Dna, LoadError> {
    let header_end = SIGNATURE.len() + 4;
    let mut table = Reader::new(bytes, header_end, bytes.len(), 1);
    let mut offsets = [0; SECTIONS];
    for offset in &mut offsets {
        *offset = u32::read(&mut table).map_err(|e| inside(e, "section table"))? as usize;
    }
    let section = |index: usize, name: &str| {
        let (start, first) = (offsets[index], header_end + 4 * SECTIONS);
        if start < first || start > bytes.len() {
            let field = format!("section \"{name}\"");
            let expected = format!("an offset from {first} to {}", bytes.len());
            return Err(LoadError::new(LoadErrorKind::Truncated, field, expected, start));
        }
        Ok(Reader::new(bytes, start, bytes.len(), 1))
    };
    let mut dna = Dna { version: 1, ..Dna::default() };
    dna.descriptor = Field::read(&mut section(0, "descriptor")?).map_err(|e| inside(e, "descriptor"))?;
    dna.definition = Field::read(&mut section(1, "definition")?).map_err(|e| inside(e, "definition"))?;
    let parts = ["controls", "joints", "blend shape channels", "animated maps"];
    for (part, name) in parts.iter().enumerate().take(BEHAVIOR_PARTS) {
        // The behavior has an offset of its own before its parts'; it repeats that of the first.
        let mut r = section(3 + part, name)?;
        read_behavior_part(part, &mut dna.behavior, &mut r).map_err(|e| inside(e, "behavior"))?;
    }
    let mut r = section(SECTIONS - 1, "geometry")?;
    r.blend_shapes = options.blend_shapes;
    if options.layers.geometry {
        dna.meshes = Field::read(&mut r).map_err(|e| inside(e, "meshes"))?;
        if r.take(END.len()).ok() != Some(END) {
            let field = "end of the geometry";
            return Err(LoadError::new(LoadErrorKind::Truncated, field, "the mark \"AND\"", "something else"));
        }
        warn_of_rest(bytes.len() - r.at());
    }
    Ok(dna)
}

fn read_layers(bytes: &[u8], version: u16, options: &LoadOptions) -> Result<Dna, LoadError> {
    let mut table = Reader::new(bytes, SIGNATURE.len() + 4, bytes.len(), version);
    let count = table.count(16).map_err(|e| inside(e, "layer index"))?;
    let mut dna = Dna { version, ..Dna::default() };
    let mut seen = [false; LAYERS.len()];
    let mut appended = false;
    let mut last = 0;
    let mut total = 0;
    for _ in 0..count {
        let entry = table.take(16)?;
        let id: [u8; 4] = entry[..4].try_into().expect("four bytes");
        let number = |at: usize| u32::from_be_bytes(entry[at..at + 4].try_into().expect("four bytes"));
        let (layer_version, offset, size) = (number(4), number(8) as usize, number(12) as usize);
        let name = format!("layer \"{}\"", id.escape_ascii());
        let Some(end) = offset.checked_add(size).filter(|&end| end <= bytes.len()) else {
            let expected = format!("bytes within the {} of the file", bytes.len());
            return Err(LoadError::new(LoadErrorKind::Truncated, name, expected, format!("{size} at {offset}")));
        };
        // Layers that lie on one another could multiply a small file.
        total += size;
        if total > bytes.len() {
            return Err(LoadError::new(
                LoadErrorKind::Corrupt,
                name,
                "layers beside each other",
                "layers that overlap",
            ));
        }
        last = last.max(end).max(table.at());
        let known = LAYERS.iter().position(|l| l.id == id && l.version == layer_version && l.since <= version);
        let Some(known) = known else {
            if LAYERS.iter().any(|l| l.id == id) {
                log::warn!(
                    "{name}: version {} is not known, the layer is kept but not read",
                    layer_version_text(layer_version)
                );
            }
            if options.layers.unknown {
                dna.unknown_layers.push(UnknownLayer {
                    id,
                    version: layer_version,
                    bytes: bytes[offset..end].to_vec(),
                });
            }
            continue;
        };
        if std::mem::replace(&mut seen[known], true) {
            return Err(LoadError::new(LoadErrorKind::Corrupt, name, "one such layer", "two"));
        }
        if id == *b"geom" && !options.layers.geometry {
            continue;
        }
        let mut r = Reader::new(bytes, offset, end, version);
        r.blend_shapes = options.blend_shapes;
        (LAYERS[known].read)(&mut dna, &mut r).and_then(|()| r.end()).map_err(|e| e.within(&name))?;
        appended |= r.left() > 0;
    }
    for (layer, seen) in LAYERS.iter().zip(seen) {
        if layer.needed && !seen {
            let field = format!("layer \"{}\"", layer.id.escape_ascii());
            return Err(LoadError::new(LoadErrorKind::Missing, field, "a layer of every rig", "none"));
        }
    }
    if appended {
        log::warn!(
            "file version 2.{version}: layers are longer than in 2.{NEWEST_VERSION}; read as 2.{NEWEST_VERSION}"
        );
        dna.version = NEWEST_VERSION;
    }
    warn_of_rest(bytes.len().saturating_sub(last));
    Ok(dna)
}

fn layer_version_text(version: u32) -> String {
    format!("{}.{}", version >> 16, version & 0xffff)
}

fn warn_of_rest(bytes: usize) {
    if bytes > 0 {
        log::warn!("{bytes} bytes after the last layer are ignored");
    }
}

/// One row of the table of layers that is known for a file version.
pub(super) fn known_layers(version: u16) -> impl Iterator<Item = &'static Layer> {
    LAYERS.iter().filter(move |l| l.since <= version)
}
