//! The data of one array, straight from the reader into the type that is wanted.

use super::{Array, Element, Header, Values, npz};
use crate::error::{LoadError, LoadErrorKind};
use half::f16;
use npyz::{DType, Deserialize, NpyFile, TypeChar};
use std::io::Read;

/// The array with its values widened to one of four kinds.
pub(super) fn array(header: &Header, reader: &mut impl Read) -> Result<Array, LoadError> {
    let values = match header.element() {
        Element::Float if item(header).1 == 8 => Values::F64(numbers(header, reader, |x| x)?),
        Element::Float => Values::F32(numbers(header, reader, |x| x as f32)?),
        Element::Integer | Element::Bool => Values::Int(integers(header, reader)?),
        Element::Text => Values::Text(collect(header, reader, Ok::<String, LoadError>)?),
    };
    Ok(Array { shape: header.shape().to_vec(), values })
}

/// Numbers of any width: through f64, which holds every f16, f32 and 32-bit integer exactly, into the wanted type.
pub(super) fn numbers<T: Default + Clone>(
    header: &Header,
    reader: &mut impl Read,
    to: impl Fn(f64) -> T,
) -> Result<Vec<T>, LoadError> {
    match item(header) {
        (TypeChar::Float, 2) => collect(header, reader, |x: f16| Ok(to(x.to_f64()))),
        (TypeChar::Float, 4) => collect(header, reader, |x: f32| Ok(to(f64::from(x)))),
        (TypeChar::Float, 8) => collect(header, reader, |x: f64| Ok(to(x))),
        (TypeChar::UnicodeStr, _) => Err(wrong_type(header, "numbers")),
        _ => Ok(integers(header, reader)?.into_iter().map(|x| to(x as f64)).collect()),
    }
}

/// Halves as stored; wider numbers are rounded to them.
pub(super) fn halves(header: &Header, reader: &mut impl Read) -> Result<Vec<f16>, LoadError> {
    match item(header) {
        (TypeChar::Float, 2) => collect(header, reader, |x: f16| Ok(x)),
        _ => numbers(header, reader, f16::from_f64),
    }
}

fn integers(header: &Header, reader: &mut impl Read) -> Result<Vec<i64>, LoadError> {
    match item(header) {
        (TypeChar::Bool, _) => collect(header, reader, |x: bool| Ok(i64::from(x))),
        (TypeChar::Int, 1) => collect(header, reader, |x: i8| Ok(i64::from(x))),
        (TypeChar::Int, 2) => collect(header, reader, |x: i16| Ok(i64::from(x))),
        (TypeChar::Int, 4) => collect(header, reader, |x: i32| Ok(i64::from(x))),
        (TypeChar::Int, 8) => collect(header, reader, |x: i64| Ok(x)),
        (TypeChar::Uint, 1) => collect(header, reader, |x: u8| Ok(i64::from(x))),
        (TypeChar::Uint, 2) => collect(header, reader, |x: u16| Ok(i64::from(x))),
        (TypeChar::Uint, 4) => collect(header, reader, |x: u32| Ok(i64::from(x))),
        (TypeChar::Uint, 8) => collect(header, reader, |x: u64| {
            i64::try_from(x).map_err(|_| LoadError::new(LoadErrorKind::Value, "data", "integers below 2^63", x))
        }),
        _ => Err(wrong_type(header, "integers")),
    }
}

/// Reads all elements in file order and puts them in C order.
fn collect<S: Deserialize, T: Default + Clone>(
    header: &Header,
    reader: &mut impl Read,
    convert: impl Fn(S) -> Result<T, LoadError>,
) -> Result<Vec<T>, LoadError> {
    let count = header.element_count();
    let file = NpyFile::with_header(header.npy.clone(), reader);
    let data = file.data::<S>().map_err(|e| LoadError::new(LoadErrorKind::Type, "dtype", "a readable type", e))?;
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|e| {
        LoadError::new(
            LoadErrorKind::Truncated,
            "data",
            "an array that fits into memory",
            format!("{count} elements ({e})"),
        )
    })?;
    for item in data {
        values.push(convert(item.map_err(|e| npz::io_error("data", e))?)?);
    }
    if !header.fortran_order() || header.shape().len() < 2 {
        return Ok(values);
    }
    let mut ordered = vec![T::default(); count];
    for (value, at) in values.into_iter().zip(FortranOrder::new(header.shape())) {
        ordered[at] = value;
    }
    Ok(ordered)
}

/// The C-order offset of each element in turn when the first index runs fastest.
struct FortranOrder<'a> {
    shape: &'a [usize],
    strides: Vec<usize>,
    index: Vec<usize>,
    offset: usize,
}

impl<'a> FortranOrder<'a> {
    fn new(shape: &'a [usize]) -> Self {
        let mut strides = vec![1; shape.len()];
        for i in (1..shape.len()).rev() {
            strides[i - 1] = strides[i] * shape[i];
        }
        FortranOrder { shape, strides, index: vec![0; shape.len()], offset: 0 }
    }
}

impl Iterator for FortranOrder<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let at = self.offset;
        for ((i, &n), &stride) in self.index.iter_mut().zip(self.shape).zip(&self.strides) {
            *i += 1;
            self.offset += stride;
            if *i < n {
                break;
            }
            self.offset -= *i * stride;
            *i = 0;
        }
        Some(at)
    }
}

fn item(header: &Header) -> (TypeChar, u64) {
    match header.npy.dtype() {
        DType::Plain(t) => (t.type_char(), t.size_field()),
        _ => (TypeChar::RawData, 0),
    }
}

fn wrong_type(header: &Header, expected: &str) -> LoadError {
    LoadError::new(LoadErrorKind::Type, "dtype", expected, header.descr())
}
