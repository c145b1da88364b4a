//! The file's primitives, read and written: big-endian numbers, counted arrays, strings, sized items.

use super::codes::Code;
use crate::error::{LoadError, LoadErrorKind};

/// A place in the file, bounded by the end of the layer that is read.
pub(super) struct Reader<'a> {
    /// The file up to the layer's end; `at` counts from the file's start, as the offsets of 2.1 do.
    bytes: &'a [u8],
    at: usize,
    /// The minor file version.
    pub version: u16,
    /// Whether the meshes' targets are read or stepped over.
    pub blend_shapes: bool,
}

impl<'a> Reader<'a> {
    /// A reader of `file[start..end]`; the caller has checked that it lies inside.
    pub fn new(file: &'a [u8], start: usize, end: usize, version: u16) -> Self {
        Reader { bytes: &file[..end], at: start, version, blend_shapes: true }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], LoadError> {
        if count > self.left() {
            return Err(truncated(format!("{count} bytes"), self.left()));
        }
        let bytes = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(bytes)
    }

    /// The count of an array whose elements take at least `element_bytes` each, checked against the bytes left.
    pub fn count(&mut self, element_bytes: usize) -> Result<usize, LoadError> {
        let count = u32::read(self)? as usize;
        match count.checked_mul(element_bytes) {
            Some(bytes) if bytes <= self.left() => Ok(count),
            _ => Err(truncated(format!("{count} elements of at least {element_bytes} bytes"), self.left())),
        }
    }

    /// Reads an item that ends at a stated place: `skip` steps over what is left of it, else it must be used up.
    ///
    /// From 2.2 the stated number is the item's size, in 2.1 the file offset of its end.
    pub fn sized<T>(
        &mut self,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T, LoadError>,
        skip: bool,
    ) -> Result<T, LoadError> {
        let stated = u32::read(self)? as usize;
        let end = if self.version == 1 { stated } else { self.at.saturating_add(stated) };
        if end < self.at || end > self.bytes.len() {
            let legal = format!("an end from byte {} to {}", self.at, self.bytes.len());
            return Err(LoadError::new(LoadErrorKind::Truncated, "", legal, format!("byte {end}")));
        }
        let mut inner = Reader { bytes: &self.bytes[..end], ..*self };
        let value = read(&mut inner)?;
        if !skip {
            inner.end()?;
        }
        self.at = end;
        Ok(value)
    }

    /// Refuses bytes that are left over; a version newer than is known here may have appended some.
    pub fn end(&self) -> Result<(), LoadError> {
        if self.left() == 0 || self.version > super::NEWEST_VERSION {
            return Ok(());
        }
        let found = format!("{} bytes more", self.left());
        Err(LoadError::new(LoadErrorKind::Corrupt, "", "the end of its content", found))
    }
}

fn truncated(expected: String, left: usize) -> LoadError {
    LoadError::new(LoadErrorKind::Truncated, "", expected, format!("{left} bytes left"))
}

/// The same error, with `name` before the path of its field: `name.field`, `name[3]`.
pub(super) fn inside(mut error: LoadError, name: impl std::fmt::Display) -> LoadError {
    let dot = if error.field.is_empty() || error.field.starts_with('[') { "" } else { "." };
    error.field = format!("{name}{dot}{}", error.field);
    error
}

/// The file that is written.
#[derive(Default)]
pub(super) struct Writer {
    pub bytes: Vec<u8>,
    /// The minor file version.
    pub version: u16,
}

impl Writer {
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// A length or offset; the finished file is refused when it does not fit 32 bits, so that nothing cut here survives.
    pub fn put_length(&mut self, length: usize) {
        self.put(&(length as u32).to_be_bytes());
    }

    pub fn patch(&mut self, at: usize, value: usize) {
        self.bytes[at..at + 4].copy_from_slice(&(value as u32).to_be_bytes());
    }

    /// The counterpart of [`Reader::sized`].
    pub fn sized(&mut self, write: impl FnOnce(&mut Writer)) {
        let at = self.bytes.len();
        self.put_length(0);
        write(self);
        let end = self.bytes.len();
        self.patch(at, if self.version == 1 { end } else { end - at - 4 });
    }
}

/// A value as it stands in the file.
pub(super) trait Field: Sized {
    fn read(r: &mut Reader) -> Result<Self, LoadError>;
    fn write(&self, w: &mut Writer);
}

/// A value that arrays are made of: an array may be stored as one run of elements or as one array per member.
pub(super) trait Element: Sized {
    fn read_vec(r: &mut Reader) -> Result<Vec<Self>, LoadError>;
    fn write_slice(values: &[Self], w: &mut Writer);
}

impl<T: Element> Field for Vec<T> {
    fn read(r: &mut Reader) -> Result<Self, LoadError> {
        T::read_vec(r)
    }
    fn write(&self, w: &mut Writer) {
        T::write_slice(self, w);
    }
}

/// Elements back to back. The array grows with what is read, not with what its count claims.
pub(super) fn read_each<T: Field>(r: &mut Reader) -> Result<Vec<T>, LoadError> {
    const RESERVED_BYTES: usize = 1 << 16;
    // No element of the format is shorter than two bytes.
    let count = r.count(2)?;
    let mut values = Vec::with_capacity(count.min(RESERVED_BYTES / size_of::<T>().max(1)));
    for i in 0..count {
        values.push(T::read(r).map_err(|e| inside(e, format_args!("[{i}]")))?);
    }
    Ok(values)
}

pub(super) fn write_each<T: Field>(values: &[T], w: &mut Writer) {
    w.put_length(values.len());
    for value in values {
        value.write(w);
    }
}

/// Elements back to back, for types that are fields as well.
macro_rules! runs {
    ($($element:ty),*) => {$(
        impl Element for $element {
            fn read_vec(r: &mut Reader) -> Result<Vec<Self>, LoadError> {
                read_each(r)
            }
            fn write_slice(values: &[Self], w: &mut Writer) {
                write_each(values, w);
            }
        }
    )*};
}
pub(super) use runs;

impl<T: Element> Element for Vec<T> {
    fn read_vec(r: &mut Reader) -> Result<Vec<Self>, LoadError> {
        read_each(r)
    }
    fn write_slice(values: &[Self], w: &mut Writer) {
        write_each(values, w);
    }
}

/// A number, alone and in bulk.
macro_rules! number {
    ($($number:ty),*) => {$(
        impl Field for $number {
            fn read(r: &mut Reader) -> Result<Self, LoadError> {
                let bytes = r.take(size_of::<$number>())?;
                Ok(<$number>::from_be_bytes(bytes.try_into().expect("as many bytes as were taken")))
            }
            fn write(&self, w: &mut Writer) {
                w.put(&self.to_be_bytes());
            }
        }

        impl Element for $number {
            fn read_vec(r: &mut Reader) -> Result<Vec<Self>, LoadError> {
                const BYTES: usize = size_of::<$number>();
                let count = r.count(BYTES)?;
                let (chunks, _) = r.take(count * BYTES)?.as_chunks::<BYTES>();
                Ok(chunks.iter().map(|&bytes| <$number>::from_be_bytes(bytes)).collect())
            }
            fn write_slice(values: &[Self], w: &mut Writer) {
                w.put_length(values.len());
                w.bytes.extend(values.iter().flat_map(|v| v.to_be_bytes()));
            }
        }
    )*};
}
number!(u16, u32, f32);

impl Field for String {
    fn read(r: &mut Reader) -> Result<Self, LoadError> {
        let count = r.count(1)?;
        let bytes = r.take(count)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(LoadError::new(LoadErrorKind::Value, "", "UTF-8 text", String::from_utf8_lossy(bytes))),
        }
    }
    fn write(&self, w: &mut Writer) {
        w.put_length(self.len());
        w.put(self.as_bytes());
    }
}
runs!(String);

/// The bytes of one more array of a set that must be equally long; `count` is the first one's.
fn parallel<'a, const BYTES: usize>(r: &mut Reader<'a>, count: Option<usize>) -> Result<&'a [[u8; BYTES]], LoadError> {
    let own = r.count(BYTES)?;
    match count {
        Some(count) if count != own => Err(unequal(count, own)),
        _ => Ok(r.take(own * BYTES)?.as_chunks().0),
    }
}

pub(super) fn unequal(expected: usize, found: usize) -> LoadError {
    LoadError::new(LoadErrorKind::Shape, "", format!("{expected} values, as its parallel arrays"), found)
}

/// Vectors: one array per component.
impl<const N: usize> Element for [f32; N] {
    fn read_vec(r: &mut Reader) -> Result<Vec<Self>, LoadError> {
        let mut components = [&[][..]; N];
        for c in 0..N {
            let count = (c > 0).then(|| components[0].len());
            components[c] = parallel::<4>(r, count).map_err(|e| inside(e, ["xs", "ys", "zs"][c]))?;
        }
        Ok((0..components[0].len()).map(|i| components.map(|values| f32::from_be_bytes(values[i]))).collect())
    }
    fn write_slice(values: &[Self], w: &mut Writer) {
        for c in 0..N {
            w.put_length(values.len());
            w.bytes.extend(values.iter().flat_map(|v| v[c].to_be_bytes()));
        }
    }
}

/// Enumerations are 16 bits wide, except where a layer says otherwise.
pub(super) fn read_code<T: Code>(code: u32) -> Result<T, LoadError> {
    T::from_code(code).ok_or_else(|| LoadError::new(LoadErrorKind::Value, "", T::legal(), code))
}

macro_rules! code_fields {
    ($($code:ty),* $(,)?) => {$(
        impl Field for $code {
            fn read(r: &mut Reader) -> Result<Self, LoadError> {
                read_code(u16::read(r)?.into())
            }
            fn write(&self, w: &mut Writer) {
                (self.code() as u16).write(w);
            }
        }
    )*};
}
pub(super) use code_fields;

/// Reads the named fields of `$target` in order.
macro_rules! read_fields {
    ($r:expr, $target:expr, $($field:ident),*) => {{
        $($target.$field = Field::read($r).map_err(|e| inside(e, stringify!($field)))?;)*
    }};
}
pub(super) use read_fields;

/// A struct as it stands in the file: its fields in order.
macro_rules! layout {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl Field for $name {
            fn read(r: &mut Reader) -> Result<Self, LoadError> {
                let mut value = $name::default();
                read_fields!(r, value, $($field),*);
                Ok(value)
            }
            fn write(&self, w: &mut Writer) {
                // Naming every field makes a forgotten one an error.
                let $name { $($field),* } = self;
                $($field.write(w);)*
            }
        }
        runs!($name);
    };
}
pub(super) use layout;

/// A struct whose arrays are stored as one array per member, all equally long.
macro_rules! columns {
    ($name:ident { $($field:ident),* }) => {
        impl Element for $name {
            fn read_vec(r: &mut Reader) -> Result<Vec<Self>, LoadError> {
                let mut count = None;
                $(
                    let $field = Vec::read(r).map_err(|e| inside(e, concat!(stringify!($field), "s")))?;
                    let expected = *count.get_or_insert($field.len());
                    if $field.len() != expected {
                        return Err(inside(unequal(expected, $field.len()), concat!(stringify!($field), "s")));
                    }
                )*
                Ok((0..count.unwrap_or(0)).map(|i| $name { $($field: $field[i]),* }).collect())
            }
            fn write_slice(values: &[Self], w: &mut Writer) {
                $(values.iter().map(|v| v.$field).collect::<Vec<_>>().write(w);)*
            }
        }
    };
}
pub(super) use columns;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orl::dna::{Activation, Conditional};

    fn read<T: Field>(bytes: &[u8]) -> Result<T, LoadError> {
        T::read(&mut Reader::new(bytes, 0, bytes.len(), 8))
    }

    fn arrays(counts: &[u32], element_bytes: usize) -> Vec<u8> {
        let array = |&n: &u32| [n.to_be_bytes().to_vec(), vec![0; n as usize * element_bytes]].concat();
        counts.iter().flat_map(array).collect()
    }

    #[test]
    fn numbers_are_big_endian() {
        assert_eq!(read::<Vec<u16>>(&[0, 0, 0, 2, 1, 2, 3, 4]).unwrap(), [0x102, 0x304]);
        assert_eq!(read::<Vec<f32>>(&[0, 0, 0, 1, 0x3f, 0x80, 0, 0]).unwrap(), [1.0]);
        assert_eq!(read::<String>(b"\0\0\0\x02ab").unwrap(), "ab");
    }

    #[test]
    fn parallel_arrays_of_unequal_length_are_refused() {
        assert!(read::<Vec<[f32; 3]>>(&arrays(&[2, 2, 2], 4)).is_ok());
        for (counts, field) in [([2, 1, 2], "ys"), ([2, 2, 3], "zs")] {
            assert_eq!(read::<Vec<[f32; 3]>>(&arrays(&counts, 4)).unwrap_err().field, field);
        }
        let names = ["inputs", "outputs", "froms", "tos", "slopes", "cuts"];
        for (wrong, name) in names.iter().enumerate().skip(1) {
            let bytes: Vec<u8> =
                (0..6).flat_map(|i| arrays(&[if i == wrong { 3 } else { 2 }], if i < 2 { 2 } else { 4 })).collect();
            let error = read::<Vec<Conditional>>(&bytes).unwrap_err();
            assert_eq!((error.kind, error.field.as_str()), (LoadErrorKind::Shape, *name));
        }
    }

    #[test]
    fn count_beyond_the_bytes_allocates_nothing() {
        for count in [3, 0x4000_0000, u32::MAX] {
            let bytes = [count.to_be_bytes().to_vec(), vec![0; 8]].concat();
            assert_eq!(read::<Vec<f32>>(&bytes).unwrap_err().kind, LoadErrorKind::Truncated);
            assert_eq!(read::<Vec<Vec<u32>>>(&bytes).unwrap_err().kind, LoadErrorKind::Truncated);
        }
    }

    #[test]
    fn number_without_meaning_is_refused() {
        assert_eq!(read::<Activation>(&[0, 2]).unwrap(), Activation::LeakyRelu);
        let error = read::<Activation>(&[0, 5]).unwrap_err();
        assert_eq!(error.to_string().trim_start_matches(": "), "expected a Activation of 0 to 4, got 5");
    }

    #[test]
    fn error_path_names_the_element() {
        let error = read::<Vec<Vec<u32>>>(&[0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9]).unwrap_err();
        assert_eq!(inside(error, "faces").field, "faces[1]");
    }
}
