//! Accessors: strides, component types, normalisation and sparse values.

use super::document::wrong;
use super::source::Source;
use crate::error::{LoadError, LoadErrorKind};

/// The most elements that one accessor may have.
pub(super) const MAX_ELEMENTS: u64 = 1 << 26;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn new(code: u32, field: String) -> Result<Component, LoadError> {
        Ok(match code {
            5120 => Component::I8,
            5121 => Component::U8,
            5122 => Component::I16,
            5123 => Component::U16,
            5125 => Component::U32,
            5126 => Component::F32,
            _ => return Err(LoadError::new(LoadErrorKind::Type, field, "5120 to 5123, 5125 or 5126", code)),
        })
    }

    fn bytes(self) -> usize {
        match self {
            Component::I8 | Component::U8 => 1,
            Component::I16 | Component::U16 => 2,
            Component::U32 | Component::F32 => 4,
        }
    }

    /// The largest integer; what a normalised one is divided by.
    pub(super) fn largest(self) -> f64 {
        match self {
            Component::I8 => f64::from(i8::MAX),
            Component::U8 => f64::from(u8::MAX),
            Component::I16 => f64::from(i16::MAX),
            Component::U16 => f64::from(u16::MAX),
            Component::U32 => f64::from(u32::MAX),
            Component::F32 => 1.0,
        }
    }

    fn read(self, bytes: &[u8]) -> f64 {
        match self {
            Component::I8 => f64::from(i8::from_le_bytes([bytes[0]])),
            Component::U8 => f64::from(bytes[0]),
            Component::I16 => f64::from(i16::from_le_bytes([bytes[0], bytes[1]])),
            Component::U16 => f64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            Component::U32 => f64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            Component::F32 => f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        }
    }
}

/// Tightly packed values of an accessor, as the file has them.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) component: Component,
    /// Whether integers stand for -1..1 or 0..1; never of floats, whatever the file says.
    pub(super) normalized: bool,
    pub(super) count: usize,
    pub(super) width: usize,
    bytes: Vec<u8>,
}

impl Values {
    /// One component, not normalised.
    pub(super) fn raw(&self, at: usize) -> f64 {
        self.component.read(&self.bytes[at * self.component.bytes()..])
    }

    /// One component; normalised integers in -1..1.
    pub(super) fn get(&self, at: usize) -> f32 {
        let raw = self.raw(at);
        if self.normalized { (raw / self.component.largest()).max(-1.0) as f32 } else { raw as f32 }
    }

    fn rows<const N: usize>(&self) -> impl Iterator<Item = [f32; N]> {
        (0..self.count).map(|row| std::array::from_fn(|i| self.get(row * N + i)))
    }
}

/// The rows of an accessor that are not zero.
pub(super) type Sparse<const N: usize> = (Vec<u32>, Vec<[f32; N]>);

const fn shape<const N: usize>() -> &'static str {
    match N {
        1 => "SCALAR",
        2 => "VEC2",
        3 => "VEC3",
        4 => "VEC4",
        _ => "MAT4",
    }
}

impl Source<'_> {
    /// The number of elements of an accessor.
    pub(super) fn count(&self, index: usize) -> Result<usize, LoadError> {
        let accessor = &self.root.accessors[index];
        if accessor.count > MAX_ELEMENTS {
            let field = format!("/accessors/{index}/count");
            return Err(wrong(field, format!("at most {MAX_ELEMENTS}"), accessor.count));
        }
        Ok(accessor.count as usize)
    }

    /// Every value of an accessor, the sparse ones in their places.
    pub(super) fn values(&mut self, index: usize, shape: &str, field: &str) -> Result<Values, LoadError> {
        let mut values = self.blank(index, shape, field)?;
        let root = self.root;
        let accessor = &root.accessors[index];
        let size = values.component.bytes() * values.width;
        let total = values.count * size;
        self.charge(field, (total as u64).max(values.count as u64 * values.width as u64 * 4))?;
        values.bytes = match accessor.buffer_view {
            Some(view) => {
                let place = format!("/accessors/{index}");
                self.gather(view, accessor.byte_offset, values.count, size, &place)?
            }
            None => vec![0; total],
        };
        let (places, replacements) = self.sparse(index, size, values.component)?;
        for (place, bytes) in places.iter().zip(replacements.chunks_exact(size)) {
            values.bytes[*place as usize * size..][..size].copy_from_slice(bytes);
        }
        Ok(values)
    }

    /// Rows of finite numbers.
    ///
    /// # Errors
    /// `Value` - NaN or infinity.
    pub(super) fn rows<const N: usize>(&mut self, index: usize, field: &str) -> Result<Vec<[f32; N]>, LoadError> {
        let rows: Vec<[f32; N]> = self.values(index, shape::<N>(), field)?.rows().collect();
        check_finite(&rows, index)?;
        Ok(rows)
    }

    /// Rows in which what is not finite is zero, and counted: for what shades a vertex and does not place it.
    pub(super) fn lenient_rows<const N: usize>(
        &mut self,
        index: usize,
        field: &str,
    ) -> Result<Vec<[f32; N]>, LoadError> {
        let mut rows: Vec<[f32; N]> = self.values(index, shape::<N>(), field)?.rows().collect();
        self.blank_non_finite(&mut rows);
        Ok(rows)
    }

    /// The rows that are not zero; of an accessor that is nothing but sparse, only what it lists is decoded.
    pub(super) fn sparse_rows<const N: usize>(
        &mut self,
        index: usize,
        field: &str,
        lenient: bool,
    ) -> Result<Sparse<N>, LoadError> {
        let (places, mut rows): Sparse<N> = match self.root.accessors[index].buffer_view {
            None => {
                let mut listed = self.blank(index, shape::<N>(), field)?;
                let (places, bytes) = self.sparse(index, listed.component.bytes() * N, listed.component)?;
                (listed.count, listed.bytes) = (places.len(), bytes);
                let rows = listed.rows().collect();
                (places, rows)
            }
            Some(_) => {
                let values = self.values(index, shape::<N>(), field)?;
                (0_u32..).zip(values.rows::<N>()).filter(|(_, row)| *row != [0.0; N]).unzip()
            }
        };
        if lenient {
            self.blank_non_finite(&mut rows);
        } else {
            check_finite(&rows, index)?;
        }
        Ok((places, rows))
    }

    /// Unsigned integers: vertex indices and joints.
    ///
    /// # Errors
    /// `Type` - floats or signed integers.
    pub(super) fn integers(&mut self, index: usize, shape: &str, field: &str) -> Result<Vec<u32>, LoadError> {
        let component = self.blank(index, shape, field)?.component;
        if !matches!(component, Component::U8 | Component::U16 | Component::U32) {
            let field = format!("/accessors/{index}/componentType");
            let found = self.root.accessors[index].component_type;
            return Err(LoadError::new(LoadErrorKind::Type, field, "unsigned integers (5121, 5123, 5125)", found));
        }
        let values = self.values(index, shape, field)?;
        Ok((0..values.count * values.width).map(|at| values.raw(at) as u32).collect())
    }

    /// Counts an attribute or sampler that stands for real numbers and holds integers.
    pub(super) fn count_integers(&mut self, index: usize) {
        const FLOAT: u32 = 5126;
        if self.root.accessors[index].component_type != FLOAT {
            self.report.integer_accessors += 1;
        }
    }

    /// The header of an accessor, checked, without its bytes.
    fn blank(&mut self, index: usize, shape: &str, field: &str) -> Result<Values, LoadError> {
        let count = self.count(index)?;
        let accessor = &self.root.accessors[index];
        if accessor.shape != shape {
            let expected = format!("{shape}, for {field}");
            let field = format!("/accessors/{index}/type");
            return Err(LoadError::new(LoadErrorKind::Type, field, expected, format!("\"{}\"", accessor.shape)));
        }
        let component = Component::new(accessor.component_type, format!("/accessors/{index}/componentType"))?;
        let width = match shape {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        if accessor.sparse.is_some() && !std::mem::replace(&mut self.counted[index], true) {
            self.report.sparse_accessors += 1;
        }
        let normalized = accessor.normalized && component != Component::F32;
        Ok(Values { component, normalized, count, width, bytes: Vec::new() })
    }

    /// The places and the packed values of an accessor's sparse part; none for one without.
    fn sparse(&mut self, index: usize, size: usize, component: Component) -> Result<(Vec<u32>, Vec<u8>), LoadError> {
        let root = self.root;
        let accessor = &root.accessors[index];
        let Some(sparse) = &accessor.sparse else { return Ok((Vec::new(), Vec::new())) };
        let place = format!("/accessors/{index}/sparse");
        if sparse.count > accessor.count {
            return Err(wrong(format!("{place}/count"), format!("at most {}", accessor.count), sparse.count));
        }
        let count = sparse.count as usize;
        self.charge(&place, sparse.count * (4 + size.max(4 * size / component.bytes()) as u64))?;
        let at = format!("{place}/indices");
        let kind = Component::new(sparse.indices.component_type, format!("{at}/componentType"))?;
        if !matches!(kind, Component::U8 | Component::U16 | Component::U32) {
            let found = sparse.indices.component_type;
            return Err(LoadError::new(
                LoadErrorKind::Type,
                format!("{at}/componentType"),
                "5121, 5123 or 5125",
                found,
            ));
        }
        let bytes = self.gather(sparse.indices.buffer_view, sparse.indices.byte_offset, count, kind.bytes(), &at)?;
        let places: Vec<u32> = bytes.chunks_exact(kind.bytes()).map(|b| kind.read(b) as u32).collect();
        if let Some(at_wrong) = places.windows(2).position(|pair| pair[0] >= pair[1]) {
            let found = format!("{} after {}", places[at_wrong + 1], places[at_wrong]);
            return Err(wrong(at, "indices in ascending order", found));
        }
        if let Some(last) = places.last().filter(|last| u64::from(**last) >= accessor.count) {
            return Err(wrong(at, format!("indices below {}", accessor.count), last));
        }
        let at = format!("{place}/values");
        let values = self.gather(sparse.values.buffer_view, sparse.values.byte_offset, count, size, &at)?;
        Ok((places, values))
    }

    /// `count` elements of `size` bytes from a view, packed tightly.
    fn gather(
        &mut self,
        view: usize,
        offset: u64,
        count: usize,
        size: usize,
        place: &str,
    ) -> Result<Vec<u8>, LoadError> {
        let (bytes, stride) = self.view(view)?;
        let stride = stride.unwrap_or(size as u64);
        if stride < size as u64 {
            let field = format!("/bufferViews/{view}/byteStride");
            return Err(wrong(field, format!("at least {size}, the size of an element of {place}"), stride));
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        let end = (count as u64 - 1)
            .checked_mul(stride)
            .and_then(|last| last.checked_add(offset)?.checked_add(size as u64))
            .filter(|end| *end <= bytes.len() as u64);
        if end.is_none() {
            let expected = format!("{count} elements of {size} bytes inside bufferView {view}");
            let found = format!("{} bytes, offset {offset}, stride {stride}", bytes.len());
            return Err(LoadError::new(LoadErrorKind::Truncated, place, expected, found));
        }
        let used = &bytes[offset as usize..];
        if stride == size as u64 {
            return Ok(used[..count * size].to_vec());
        }
        let mut packed = Vec::with_capacity(count * size);
        for at in 0..count {
            packed.extend_from_slice(&used[at * stride as usize..][..size]);
        }
        Ok(packed)
    }

    fn blank_non_finite<const N: usize>(&mut self, rows: &mut [[f32; N]]) {
        for row in rows.iter_mut().filter(|row| !row.iter().all(|x| x.is_finite())) {
            *row = [0.0; N];
            self.report.non_finite_attributes += 1;
        }
    }
}

fn check_finite<const N: usize>(rows: &[[f32; N]], index: usize) -> Result<(), LoadError> {
    match rows.iter().position(|row| !row.iter().all(|x| x.is_finite())) {
        Some(at) => Err(wrong(format!("/accessors/{index}"), "finite numbers", format!("{:?} at {at}", rows[at]))),
        None => Ok(()),
    }
}
