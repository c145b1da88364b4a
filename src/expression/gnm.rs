//! The GNM control vector: regions of expression coefficients, then gaze, and their names in two vocabularies.

use super::space::Segment;
use crate::error::{LoadError, LoadErrorKind};

/// The regions of the full vector, 383 coefficients.
const FULL: [(&str, usize); 5] =
    [("left_eye", 100), ("right_eye", 100), ("lower_face", 150), ("tongue", 32), ("pupils", 1)];

/// The regions of the 68 view, 64 coefficients: the first ones of each region, since a region's components fall in variance.
const REDUCED: [(&str, usize); 5] =
    [("left_eye", 16), ("right_eye", 16), ("lower_face", 28), ("tongue", 3), ("pupils", 1)];

/// The gaze angles that follow the coefficients, radians: pitch > 0 looks down, yaw > 0 toward the character's left.
pub const GAZE_NAMES: [&str; 4] = ["gaze_pitch_l", "gaze_yaw_l", "gaze_pitch_r", "gaze_yaw_r"];

/// The segment name of the gaze angles.
pub(super) const GAZE: &str = "gaze";

/// Two vocabularies for the same coefficients.
///
/// They number the tongue differently: `tongue_000` is the block's first coefficient in a control vector and its second one in the model, where
/// the first is called `tongue_mean`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GnmNames {
    /// Control vectors and packs: `left_eye_000`, `tongue_000` .. `tongue_031`.
    HeadExt,
    /// The model file's `expression_names`: `left_eye_region_000`, `tongue_mean`, `tongue_000` .. `tongue_030`.
    Model,
}

/// Where the regions lie in one pack's control vector: the full layout, the 68 view, or any other truncation.
///
/// Indices are relative to a region: the start of a region moves with every truncation, its first coefficients do not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GnmRegions {
    segments: Vec<Segment>,
}

impl GnmRegions {
    /// The layout of a pack, from its regions' names and counts in order; four gaze angles follow them.
    ///
    /// # Errors
    /// `Corrupt` for a region named twice or named `gaze`; `Value` for counts whose sum no vector can have.
    pub fn new(regions: &[(&str, usize)]) -> Result<GnmRegions, LoadError> {
        let mut segments: Vec<Segment> = Vec::with_capacity(regions.len() + 1);
        let mut start = 0usize;
        for &(name, count) in regions.iter().chain([&(GAZE, GAZE_NAMES.len())]) {
            if segments.iter().any(|s| s.name == name) {
                return Err(LoadError::new(
                    LoadErrorKind::Corrupt,
                    "regions",
                    "each name once, none of them \"gaze\"",
                    name,
                ));
            }
            segments.push(Segment { name: name.to_owned(), start, count });
            start = start.checked_add(count).ok_or_else(|| {
                LoadError::new(LoadErrorKind::Value, "regions", "counts of one vector", format!("{name}: {count}"))
            })?;
        }
        Ok(GnmRegions { segments })
    }

    /// 387 controls: 383 coefficients and gaze.
    #[must_use]
    pub fn full() -> GnmRegions {
        GnmRegions::known(&FULL)
    }

    /// 68 controls: 64 coefficients and gaze.
    #[must_use]
    pub fn reduced() -> GnmRegions {
        GnmRegions::known(&REDUCED)
    }

    fn known(regions: &[(&str, usize)]) -> GnmRegions {
        GnmRegions::new(regions).expect("the known layouts name each region once")
    }

    /// All controls: coefficients and gaze.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.expression_dim() + GAZE_NAMES.len()
    }

    /// E, the coefficients; the gaze starts here.
    #[must_use]
    pub fn expression_dim(&self) -> usize {
        self.segments.last().map_or(0, |gaze| gaze.start)
    }

    /// The regions, then `gaze`; they tile `0..dim`.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The control that is number `index` of a region; nothing where the layout does not reach that far.
    #[must_use]
    pub fn slot(&self, region: &str, index: usize) -> Option<usize> {
        let segment = self.segments.iter().find(|s| s.name == region)?;
        (index < segment.count).then(|| segment.start + index)
    }

    /// All control names in one vocabulary; the gaze is called the same in both.
    #[must_use]
    pub fn names(&self, vocabulary: GnmNames) -> Vec<String> {
        let regions = self.segments.iter().filter(|s| s.name != GAZE);
        let coefficients = regions.flat_map(|s| (0..s.count).map(move |i| coefficient_name(&s.name, i, vocabulary)));
        coefficients.chain(GAZE_NAMES.map(str::to_owned)).collect()
    }
}

/// A region that is none of the model's five has the same names in both vocabularies.
fn coefficient_name(region: &str, index: usize, vocabulary: GnmNames) -> String {
    match (vocabulary, region, index) {
        (GnmNames::Model, "left_eye" | "right_eye" | "lower_face", _) => format!("{region}_region_{index:03}"),
        (GnmNames::Model, "tongue", 0) => "tongue_mean".to_owned(),
        (GnmNames::Model, "tongue", _) => format!("tongue_{:03}", index - 1),
        _ => format!("{region}_{index:03}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_layout_has_the_known_segments() {
        let layout = GnmRegions::full();
        assert_eq!((layout.dim(), layout.expression_dim()), (387, 383));
        let segments: Vec<(&str, usize, usize)> =
            layout.segments().iter().map(|s| (s.name.as_str(), s.start, s.count)).collect();
        let expected = [
            ("left_eye", 0, 100),
            ("right_eye", 100, 100),
            ("lower_face", 200, 150),
            ("tongue", 350, 32),
            ("pupils", 382, 1),
            ("gaze", 383, 4),
        ];
        assert_eq!(segments, expected);
    }

    #[test]
    fn reduced_layout_moves_the_starts() {
        let layout = GnmRegions::reduced();
        assert_eq!((layout.dim(), layout.expression_dim()), (68, 64));
        assert_eq!(layout.slot("lower_face", 0), Some(32));
        assert_eq!(layout.slot("tongue", 2), Some(62));
        assert_eq!(layout.slot("tongue", 3), None);
        assert_eq!(layout.slot("gaze", 3), Some(67));
        assert_eq!(layout.slot("forehead", 0), None);
    }

    #[test]
    fn names_agree_in_number_and_differ_by_one_on_the_tongue() {
        let layout = GnmRegions::full();
        let (short, model) = (layout.names(GnmNames::HeadExt), layout.names(GnmNames::Model));
        assert_eq!((short.len(), model.len()), (387, 387));
        let at = |slot: usize| (short[slot].as_str(), model[slot].as_str());
        assert_eq!(at(0), ("left_eye_000", "left_eye_region_000"));
        assert_eq!(at(199), ("right_eye_099", "right_eye_region_099"));
        assert_eq!(at(349), ("lower_face_149", "lower_face_region_149"));
        assert_eq!(at(350), ("tongue_000", "tongue_mean"));
        assert_eq!(at(351), ("tongue_001", "tongue_000"));
        assert_eq!(at(381), ("tongue_031", "tongue_030"));
        assert_eq!(at(382), ("pupils_000", "pupils_000"));
        assert_eq!(&short[383..], GAZE_NAMES);
        assert_eq!(&model[383..], GAZE_NAMES);
    }

    #[test]
    fn layout_with_a_region_twice_is_refused() {
        let cases: [&[(&str, usize)]; 3] = [&[("a", 1), ("a", 2)], &[("gaze", 4)], &[("a", usize::MAX), ("b", 1)]];
        for regions in cases {
            assert!(GnmRegions::new(regions).is_err(), "{regions:?}");
        }
        assert_eq!(GnmRegions::new(&[]).unwrap().dim(), 4);
    }

    #[test]
    fn headers_of_handed_packs_hold_these_layouts() {
        for (file, layout) in [("tiny_full", GnmRegions::full()), ("tiny_e64", GnmRegions::reduced())] {
            let path = format!("{}/../shared/data/gnm/aosrig_tiny/{file}.aosrig", env!("CARGO_MANIFEST_DIR"));
            let Ok(bytes) = std::fs::read(&path) else {
                eprintln!("SKIP: ../shared/data/gnm is absent");
                return;
            };
            let length = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
            let header: serde_json::Value = serde_json::from_slice(&bytes[16..16 + length]).unwrap();
            let regions: Vec<(String, usize)> = serde_json::from_value(header["headExt"]["regions"].clone()).unwrap();
            let regions: Vec<(&str, usize)> = regions.iter().map(|(name, count)| (name.as_str(), *count)).collect();
            assert_eq!(GnmRegions::new(&regions).unwrap(), layout, "{file}");
            assert_eq!(header["headExt"]["dim"], layout.dim(), "{file}");
        }
    }
}
