//! The archive of arrays, read member by member.

use super::{Array, Header, decode, describe};
use crate::error::{LoadError, LoadErrorKind};
use half::f16;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Cursor, Read};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

/// Deflate cannot shrink below one byte for 1,032 of them; a member that claims more lies.
const DEFLATE_RATIO: usize = 1032;
const BLOCK_BYTES: usize = 1 << 16;

/// A `.npz`: stored or deflated members, data descriptors and zip64 included. Nothing is inflated before it is asked for.
#[derive(Debug, Clone)]
pub struct Npz<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    members: BTreeMap<String, usize>,
    file_bytes: usize,
}

impl<'a> Npz<'a> {
    /// Opens an archive: reads its directory, not its members.
    ///
    /// # Errors
    /// `Format` for other files (a bare `.npy`, a Git-LFS pointer, an HTML page, nothing at all), `Truncated` for a zip that was cut, `Corrupt` for
    /// names that occur twice.
    pub fn open(bytes: &'a [u8]) -> Result<Npz<'a>, LoadError> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|e| {
            if bytes.starts_with(b"PK") {
                let found = format!("{} bytes that end early or are damaged ({e})", bytes.len());
                return LoadError::new(LoadErrorKind::Truncated, "", "a complete npz archive", found);
            }
            LoadError::new(LoadErrorKind::Format, "", "an npz archive", describe(bytes))
        })?;
        let duplicate = |name: &str| LoadError::new(LoadErrorKind::Corrupt, name, "one member of this name", "two");
        if archive.has_duplicate_names() {
            return Err(duplicate("directory"));
        }
        let mut members = BTreeMap::new();
        for index in 0..archive.len() {
            let name = archive.name_for_index(index).and_then(Result::ok).unwrap_or_default();
            let key = name.strip_suffix(".npy").unwrap_or(&name).to_string();
            if members.insert(key.clone(), index).is_some() {
                return Err(duplicate(&key));
            }
        }
        Ok(Npz { archive, members, file_bytes: bytes.len() })
    }

    /// The names of the arrays, sorted, without `.npy`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// Whether there is an array of that name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Shape and element type of one array, without its data.
    ///
    /// # Errors
    /// `Missing`; `Unsupported` for encryption and compression other than deflate; `Type` for element types that are not read; `Corrupt`.
    pub fn header(&self, name: &str) -> Result<Header, LoadError> {
        self.with_member(name, |header, _| Ok(header))
    }

    /// One array, its values widened.
    ///
    /// # Errors
    /// As [`Npz::header`]; `Truncated` and `Corrupt` for data that is shorter, longer or other than its header and checksum say.
    pub fn read(&self, name: &str) -> Result<Array, LoadError> {
        self.data(name, |header, reader| decode::array(header, reader))
    }

    /// One array of numbers as f32, decoded without an intermediate of another width.
    ///
    /// # Errors
    /// As [`Npz::read`]; `Type` for text.
    pub fn read_f32(&self, name: &str) -> Result<Vec<f32>, LoadError> {
        self.data(name, |header, reader| decode::numbers(header, reader, |x| x as f32))
    }

    /// One array of numbers as f64.
    ///
    /// # Errors
    /// As [`Npz::read`]; `Type` for text.
    pub fn read_f64(&self, name: &str) -> Result<Vec<f64>, LoadError> {
        self.data(name, |header, reader| decode::numbers(header, reader, |x| x))
    }

    /// One array of numbers as halves; wider numbers are rounded.
    ///
    /// # Errors
    /// As [`Npz::read`]; `Type` for text.
    pub fn read_f16(&self, name: &str) -> Result<Vec<f16>, LoadError> {
        self.data(name, |header, reader| decode::halves(header, reader))
    }

    /// Decodes a member's data, then makes sure that it ends where its header says and matches its checksum.
    fn data<T>(
        &self,
        name: &str,
        decode: impl Fn(&Header, &mut Member) -> Result<T, LoadError>,
    ) -> Result<T, LoadError> {
        self.with_member(name, |header, member| {
            let needed = header.byte_count();
            if needed > member.limit_bytes {
                let found = format!("{} of shape {:?} ({needed} bytes)", header.descr(), header.shape());
                let expected = format!("at most the {} bytes that this member can hold", member.limit_bytes);
                return Err(LoadError::new(LoadErrorKind::Truncated, "data", expected, found));
            }
            let value = decode(&header, member)?;
            // The checksum is compared when the end is reached, so the end must be read.
            match member.read(&mut [0]).map_err(|e| io_error("data", e))? {
                0 => Ok(value),
                _ => Err(LoadError::new(LoadErrorKind::Corrupt, "data", format!("{needed} bytes"), "more")),
            }
        })
    }

    fn with_member<T>(
        &self,
        name: &str,
        body: impl FnOnce(Header, &mut Member) -> Result<T, LoadError>,
    ) -> Result<T, LoadError> {
        let Some(&index) = self.members.get(name) else {
            return Err(LoadError::new(LoadErrorKind::Missing, name, "an array of this name", "none"));
        };
        // Cheap: the directory is shared and the bytes are borrowed.
        let mut archive = self.archive.clone();
        let open = || {
            let raw = archive.by_index_raw(index).map_err(|e| zip_error(&e))?;
            let compressed = usize::try_from(raw.compressed_size()).unwrap_or(usize::MAX).min(self.file_bytes);
            let limit_bytes = match raw.compression() {
                CompressionMethod::Stored => compressed,
                CompressionMethod::Deflated => compressed.saturating_mul(DEFLATE_RATIO),
                other => {
                    let expected = "a stored or deflated member";
                    return Err(LoadError::new(LoadErrorKind::Unsupported, "", expected, format!("{other}")));
                }
            };
            drop(raw);
            let file = archive.by_index(index).map_err(|e| zip_error(&e))?;
            let mut member = Member { reader: BufReader::with_capacity(BLOCK_BYTES, Box::new(file)), limit_bytes };
            let header = Header::read(&mut member)?;
            body(header, &mut member)
        };
        open().map_err(|e| e.within(name))
    }
}

/// An open member and the most bytes that its compressed form can stand for.
struct Member<'a> {
    reader: BufReader<Box<dyn Read + 'a>>,
    limit_bytes: usize,
}

impl Read for Member<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }

    fn read_exact(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        self.reader.read_exact(buffer)
    }
}

pub(super) fn io_error(field: &str, error: io::Error) -> LoadError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => LoadError::new(LoadErrorKind::Truncated, field, "more bytes", "the end"),
        _ => LoadError::new(LoadErrorKind::Corrupt, field, "intact data", error),
    }
}

fn zip_error(error: &ZipError) -> LoadError {
    let (kind, expected) = match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => (LoadErrorKind::Unsupported, "no encryption"),
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            (LoadErrorKind::Unsupported, "a stored or deflated member")
        }
        _ => (LoadErrorKind::Corrupt, "an intact member"),
    };
    LoadError::new(kind, "", expected, error)
}
