//! Whole numbers of a document: JSON writes 3 as `3`, `3.0` or `3e0`, and all of them are 3.

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

struct Whole<T>(T);

impl<'de, T: TryFrom<u64>> Deserialize<'de> for Whole<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(Reader(PhantomData))
    }
}

struct Reader<T>(PhantomData<T>);

impl<T: TryFrom<u64>> Visitor<'_> for Reader<T> {
    type Value = Whole<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Whole<T>, E> {
        T::try_from(value).map(Whole).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Whole<T>, E> {
        // Above 2^53 a float no longer tells neighbours apart.
        if value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value) {
            return self.visit_u64(value as u64);
        }
        Err(E::invalid_value(Unexpected::Float(value), &self))
    }
}

pub(super) fn one<'de, D: Deserializer<'de>, T: TryFrom<u64>>(deserializer: D) -> Result<T, D::Error> {
    Whole::deserialize(deserializer).map(|whole| whole.0)
}

pub(super) fn maybe<'de, D: Deserializer<'de>, T: TryFrom<u64>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(Option::<Whole<T>>::deserialize(deserializer)?.map(|whole| whole.0))
}

pub(super) fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<usize>, D::Error> {
    Ok(Vec::<Whole<usize>>::deserialize(deserializer)?.into_iter().map(|whole| whole.0).collect())
}

pub(super) fn map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, usize>, D::Error> {
    let map = BTreeMap::<String, Whole<usize>>::deserialize(deserializer)?;
    Ok(map.into_iter().map(|(key, whole)| (key, whole.0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_number_may_be_written_as_a_float() {
        let read = |text: &str| one::<_, u32>(&mut serde_json::Deserializer::from_str(text)).ok();
        for (text, value) in [("3", 3), ("3.0", 3), ("3e0", 3), ("-0.0", 0), ("4294967295", u32::MAX)] {
            assert_eq!(read(text), Some(value), "{text}");
        }
        for text in ["-1", "-1.0", "0.5", "4294967296", "1e300", "null", "\"3\"", "true"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
