//! What a vector means: a space with a kind, names and segments.

use super::arkit::{ArkitColumns, ArkitShape};
use super::gnm::{GnmNames, GnmRegions};
use crate::error::{ControlError, LoadError, LoadErrorKind};

/// The kinds of space that `expression_space.kind` of a scene names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpaceKind {
    /// ARKit weights, 0..1, bound by name.
    Arkit52,
    /// The controls of a GNM pack in the pack's own layout.
    Gnm,
    /// The reduced view, 64 coefficients and gaze, expanded region by region.
    Gnm68,
}

impl SpaceKind {
    /// The name that scenes use: `arkit52`, `gnm`, `gnm68`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SpaceKind::Arkit52 => "arkit52",
            SpaceKind::Gnm => "gnm",
            SpaceKind::Gnm68 => "gnm68",
        }
    }

    /// The kind of that name.
    ///
    /// # Errors
    /// `Unsupported` for any other name; nothing stands in for a kind that is not known.
    pub fn parse(name: &str) -> Result<SpaceKind, LoadError> {
        let kinds = [SpaceKind::Arkit52, SpaceKind::Gnm, SpaceKind::Gnm68];
        kinds.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let expected = "arkit52, gnm or gnm68";
            LoadError::new(LoadErrorKind::Unsupported, "expression_space.kind", expected, format!("\"{name}\""))
        })
    }
}

/// A run of values with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// `left_eye`, `lower_face`, `gaze`, ...
    pub name: String,
    /// The first value.
    pub start: usize,
    /// How many values.
    pub count: usize,
}

impl Segment {
    /// Checks that the segments follow one another from 0 to `dim`, each with a name of its own.
    ///
    /// # Errors
    /// `Corrupt` for a name twice, `Value` for a gap, an overlap or another end.
    pub fn check_tiling(segments: &[Segment], dim: usize) -> Result<(), LoadError> {
        let mut end = 0usize;
        for (index, segment) in segments.iter().enumerate() {
            let name = &segment.name;
            if segments[..index].iter().any(|s| s.name == *name) {
                return Err(LoadError::new(
                    LoadErrorKind::Corrupt,
                    "segments",
                    "each name once",
                    format!("\"{name}\""),
                ));
            }
            // The bound comes before the sum, which a hostile count would overflow.
            if segment.start != end || segment.count > dim - end {
                let expected = format!("\"{name}\" to start at {end} and to end at most at {dim}");
                let found = format!("start {} and count {}", segment.start, segment.count);
                return Err(LoadError::new(LoadErrorKind::Value, "segments", expected, found));
            }
            end += segment.count;
        }
        if end != dim {
            return Err(LoadError::new(LoadErrorKind::Value, "segments", format!("an end at {dim}"), end));
        }
        Ok(())
    }
}

/// A vector's meaning: which kind, how long, what each value is called, and how the values fall into runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlSpace {
    kind: SpaceKind,
    names: Vec<String>,
    segments: Vec<Segment>,
    columns: Option<ArkitColumns>,
}

impl ControlSpace {
    /// ARKit weights in the order of these columns.
    #[must_use]
    pub fn arkit52(columns: ArkitColumns) -> ControlSpace {
        let names = columns.names().to_vec();
        ControlSpace { kind: SpaceKind::Arkit52, names, segments: Vec::new(), columns: Some(columns) }
    }

    /// The controls of a pack with this layout.
    #[must_use]
    pub fn gnm(layout: &GnmRegions) -> ControlSpace {
        ControlSpace::of_layout(SpaceKind::Gnm, layout)
    }

    /// The reduced view: 16, 16, 28, 3 and 1 coefficients, then gaze.
    #[must_use]
    pub fn gnm68() -> ControlSpace {
        ControlSpace::gnm68_of(&GnmRegions::reduced())
    }

    /// A reduced view that takes other numbers of a region's first coefficients.
    #[must_use]
    pub fn gnm68_of(layout: &GnmRegions) -> ControlSpace {
        ControlSpace::of_layout(SpaceKind::Gnm68, layout)
    }

    fn of_layout(kind: SpaceKind, layout: &GnmRegions) -> ControlSpace {
        let (names, segments) = (layout.names(GnmNames::HeadExt), layout.segments().to_vec());
        ControlSpace { kind, names, segments, columns: None }
    }

    /// Which kind.
    #[must_use]
    pub fn kind(&self) -> SpaceKind {
        self.kind
    }

    /// How many values a vector has.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.names.len()
    }

    /// What each value is called.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The runs that tile a GNM vector; none for ARKit.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The columns of an ARKit space, with the names that are unknown and the shapes that are missing.
    #[must_use]
    pub fn columns(&self) -> Option<&ArkitColumns> {
        self.columns.as_ref()
    }

    /// Where an ARKit space has this shape.
    #[must_use]
    pub fn column(&self, shape: ArkitShape) -> Option<usize> {
        self.columns()?.column(shape)
    }

    /// Checks that a vector has this space's length and holds finite numbers only.
    ///
    /// # Errors
    /// `Length` in an ARKit space, `Space` in a GNM space, where another length most likely is another space; `NotFinite`.
    pub fn check(&self, vector: &[f32]) -> Result<(), ControlError> {
        let (expected, got) = (self.dim(), vector.len());
        if got != expected {
            return Err(match self.kind {
                SpaceKind::Arkit52 => ControlError::Length { what: "arkit52 weights", expected, got },
                SpaceKind::Gnm | SpaceKind::Gnm68 => ControlError::Space {
                    given: format!("{got}-value"),
                    rig: "gnm".into(),
                    missing: format!(
                        "its expression space {} takes {expected} values; any other vector needs its own space: gnm68, or arkit52 with an arkit_map",
                        self.kind.name()
                    ),
                },
            });
        }
        match vector.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(ControlError::NotFinite { what: "weights", index, value: vector[index] }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::arkit::ArkitOrder;
    use super::*;

    #[test]
    fn kinds_parse_back_and_unknown_ones_are_refused() {
        for kind in [SpaceKind::Arkit52, SpaceKind::Gnm, SpaceKind::Gnm68] {
            assert_eq!(SpaceKind::parse(kind.name()).unwrap(), kind);
        }
        for name in ["", "GNM", "arkit", "flame"] {
            assert_eq!(SpaceKind::parse(name).unwrap_err().kind, LoadErrorKind::Unsupported, "{name}");
        }
    }

    #[test]
    fn spaces_have_names_for_every_value() {
        let gnm = ControlSpace::gnm(&GnmRegions::full());
        assert_eq!((gnm.kind(), gnm.dim(), gnm.names()[386].as_str()), (SpaceKind::Gnm, 387, "gaze_yaw_r"));
        let reduced = ControlSpace::gnm68();
        assert_eq!((reduced.dim(), reduced.names()[32].as_str()), (68, "lower_face_000"));
        let arkit = ControlSpace::arkit52(ArkitColumns::of(ArkitOrder::LiveLinkFace));
        assert_eq!((arkit.dim(), arkit.column(ArkitShape::JawRight)), (52, Some(15)));
        assert!(arkit.segments().is_empty() && gnm.columns().is_none());
        Segment::check_tiling(gnm.segments(), 387).unwrap();
        Segment::check_tiling(reduced.segments(), 68).unwrap();
    }

    #[test]
    fn segments_that_do_not_tile_are_refused() {
        let segment = |name: &str, start, count| Segment { name: name.into(), start, count };
        let cases = [
            ("gap", vec![segment("a", 0, 2), segment("b", 3, 7)]),
            ("overlap", vec![segment("a", 0, 3), segment("b", 2, 8)]),
            ("short", vec![segment("a", 0, 9)]),
            ("long", vec![segment("a", 0, 11)]),
            ("huge", vec![segment("a", 0, 1), segment("b", 1, usize::MAX)]),
            ("name twice", vec![segment("a", 0, 5), segment("a", 5, 5)]),
            ("none", vec![]),
        ];
        for (label, segments) in cases {
            assert!(Segment::check_tiling(&segments, 10).is_err(), "{label}");
        }
        Segment::check_tiling(&[segment("a", 0, 4), segment("b", 4, 6)], 10).unwrap();
    }
}
