//! The 52 ARKit blend shapes: names, spellings, orders, and columns bound by name.

use crate::error::{LoadError, LoadErrorKind};

macro_rules! shapes {
    ($($variant:ident $name:literal,)*) => {
        /// One of the 52 ARKit blend shapes; left and right are the subject's, a weight runs 0..1.
        ///
        /// The discriminants follow Apple's documentation groups, which is also the order of an `arkit_map` ([`ArkitOrder::Engine`]).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ArkitShape {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl ArkitShape {
            /// All shapes by ascending discriminant.
            pub const ALL: [ArkitShape; 52] = [$(ArkitShape::$variant,)*];

            /// The spelling of Swift symbols, MediaPipe and most assets: `eyeBlinkLeft`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(ArkitShape::$variant => $name,)* }
            }

            /// The spelling of Live Link Face and Unreal curves: `EyeBlinkLeft`.
            #[must_use]
            pub fn upper_name(self) -> &'static str {
                match self { $(ArkitShape::$variant => stringify!($variant),)* }
            }
        }
    };
}

shapes! {
    EyeBlinkLeft "eyeBlinkLeft",
    EyeLookDownLeft "eyeLookDownLeft",
    EyeLookInLeft "eyeLookInLeft",
    EyeLookOutLeft "eyeLookOutLeft",
    EyeLookUpLeft "eyeLookUpLeft",
    EyeSquintLeft "eyeSquintLeft",
    EyeWideLeft "eyeWideLeft",
    EyeBlinkRight "eyeBlinkRight",
    EyeLookDownRight "eyeLookDownRight",
    EyeLookInRight "eyeLookInRight",
    EyeLookOutRight "eyeLookOutRight",
    EyeLookUpRight "eyeLookUpRight",
    EyeSquintRight "eyeSquintRight",
    EyeWideRight "eyeWideRight",
    JawForward "jawForward",
    JawLeft "jawLeft",
    JawRight "jawRight",
    JawOpen "jawOpen",
    MouthClose "mouthClose",
    MouthFunnel "mouthFunnel",
    MouthPucker "mouthPucker",
    MouthLeft "mouthLeft",
    MouthRight "mouthRight",
    MouthSmileLeft "mouthSmileLeft",
    MouthSmileRight "mouthSmileRight",
    MouthFrownLeft "mouthFrownLeft",
    MouthFrownRight "mouthFrownRight",
    MouthDimpleLeft "mouthDimpleLeft",
    MouthDimpleRight "mouthDimpleRight",
    MouthStretchLeft "mouthStretchLeft",
    MouthStretchRight "mouthStretchRight",
    MouthRollLower "mouthRollLower",
    MouthRollUpper "mouthRollUpper",
    MouthShrugLower "mouthShrugLower",
    MouthShrugUpper "mouthShrugUpper",
    MouthPressLeft "mouthPressLeft",
    MouthPressRight "mouthPressRight",
    MouthLowerDownLeft "mouthLowerDownLeft",
    MouthLowerDownRight "mouthLowerDownRight",
    MouthUpperUpLeft "mouthUpperUpLeft",
    MouthUpperUpRight "mouthUpperUpRight",
    BrowDownLeft "browDownLeft",
    BrowDownRight "browDownRight",
    BrowInnerUp "browInnerUp",
    BrowOuterUpLeft "browOuterUpLeft",
    BrowOuterUpRight "browOuterUpRight",
    CheekPuff "cheekPuff",
    CheekSquintLeft "cheekSquintLeft",
    CheekSquintRight "cheekSquintRight",
    NoseSneerLeft "noseSneerLeft",
    NoseSneerRight "noseSneerRight",
    TongueOut "tongueOut",
}

/// The names that move a whole part to one side: their run-time spelling keeps the word, every other side is `_L` or `_R`.
const SIDEWAYS: [&str; 2] = ["jaw", "mouth"];

impl ArkitShape {
    /// The string value that ARKit has at run time: `eyeBlink_L`, but `jawLeft`, `mouthRight`.
    #[must_use]
    pub fn runtime_name(self) -> String {
        let name = self.name();
        for (side, suffix) in [("Left", "_L"), ("Right", "_R")] {
            if let Some(base) = name.strip_suffix(side).filter(|base| !SIDEWAYS.contains(base)) {
                return format!("{base}{suffix}");
            }
        }
        name.to_owned()
    }

    /// The shape of that name in any spelling of ARKit's own vocabulary, without regard to case: `eyeBlinkLeft`, `EyeBlinkLeft`,
    /// `eyeBlink_L`, and the numbered export `A14_Eye_Blink_Left`.
    ///
    /// `Eye_Blink_L` names nothing: it belongs to another vocabulary, most of whose names have no ARKit counterpart.
    #[must_use]
    pub fn parse(name: &str) -> Option<ArkitShape> {
        let key = match (numbered(name), name.rsplit_once('_')) {
            (Some(words), _) => words.replace('_', ""),
            (None, Some((base, side))) => {
                if SIDEWAYS.iter().any(|s| base.eq_ignore_ascii_case(s)) {
                    return None;
                }
                match side {
                    "L" | "l" => format!("{base}Left"),
                    "R" | "r" => format!("{base}Right"),
                    _ => return None,
                }
            }
            (None, None) => name.to_owned(),
        };
        ArkitShape::ALL.into_iter().find(|shape| shape.name().eq_ignore_ascii_case(&key))
    }
}

/// What follows a numbered export's prefix: `Eye_Blink_Left` of `A14_Eye_Blink_Left`.
fn numbered(name: &str) -> Option<&str> {
    let (prefix, words) = name.split_once('_')?;
    match prefix.as_bytes() {
        [b'A' | b'a', tens, ones] if tens.is_ascii_digit() && ones.is_ascii_digit() => Some(words),
        _ => None,
    }
}

/// An order in which programs send the shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArkitOrder {
    /// Apple's header constants and Unity's enum: lowerCamel, alphabetical, 52.
    Alphabetical,
    /// Apple's documentation: left eye, right eye, jaw and mouth, brows, cheeks, nose, tongue; lowerCamel, 52. Often cut to 51, without `tongueOut`.
    AppleGroups,
    /// Live Link Face and Unreal curves: UpperCamel groups with the right side of jaw and mouth first, 52. Nine head and eye rotations follow in its CSV.
    LiveLinkFace,
    /// MediaPipe's FaceLandmarker: `_neutral`, then the alphabetical names without `tongueOut`; 52 columns, 51 of them shapes.
    MediaPipe,
    /// `ARKIT_NAMES` of the game engine that reads `scene.json`: Apple's groups in UpperCamel, 52.
    Engine,
}

impl ArkitOrder {
    /// All orders.
    pub const ALL: [ArkitOrder; 5] = [
        ArkitOrder::Alphabetical,
        ArkitOrder::AppleGroups,
        ArkitOrder::LiveLinkFace,
        ArkitOrder::MediaPipe,
        ArkitOrder::Engine,
    ];

    /// The shapes in this order; `_neutral` is none of them.
    #[must_use]
    pub fn shapes(self) -> Vec<ArkitShape> {
        let mut shapes = ArkitShape::ALL.to_vec();
        match self {
            ArkitOrder::AppleGroups | ArkitOrder::Engine => {}
            ArkitOrder::Alphabetical => shapes.sort_by_key(|s| s.name()),
            ArkitOrder::LiveLinkFace => {
                shapes.swap(ArkitShape::JawLeft as usize, ArkitShape::JawRight as usize);
                shapes.swap(ArkitShape::MouthLeft as usize, ArkitShape::MouthRight as usize);
            }
            ArkitOrder::MediaPipe => {
                shapes.sort_by_key(|s| s.name());
                shapes.retain(|&s| s != ArkitShape::TongueOut);
            }
        }
        shapes
    }

    /// The column names in this order and its own spelling.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let shapes = self.shapes().into_iter();
        match self {
            ArkitOrder::LiveLinkFace | ArkitOrder::Engine => shapes.map(ArkitShape::upper_name).collect(),
            ArkitOrder::MediaPipe => std::iter::once("_neutral").chain(shapes.map(ArkitShape::name)).collect(),
            ArkitOrder::Alphabetical | ArkitOrder::AppleGroups => shapes.map(ArkitShape::name).collect(),
        }
    }
}

/// Columns bound to shapes by name: which value of a caller's vector is which shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArkitColumns {
    names: Vec<String>,
    columns: [Option<usize>; 52],
}

impl ArkitColumns {
    /// Binds column names, in any order and spelling that [`ArkitShape::parse`] reads. Names that are no shape keep their column, which nothing reads.
    ///
    /// # Errors
    /// `Corrupt` when two columns name one shape.
    pub fn new<S: AsRef<str>>(names: &[S]) -> Result<ArkitColumns, LoadError> {
        let names: Vec<String> = names.iter().map(|n| n.as_ref().to_owned()).collect();
        let mut columns = [None; 52];
        for (column, name) in names.iter().enumerate() {
            let Some(shape) = ArkitShape::parse(name) else { continue };
            if let Some(first) = columns[shape as usize].replace(column) {
                let found = format!("\"{}\" in column {first} and \"{name}\" in column {column}", names[first]);
                let expected = format!("one column for {}", shape.name());
                return Err(LoadError::new(LoadErrorKind::Corrupt, "arkit names", expected, found));
            }
        }
        Ok(ArkitColumns { names, columns })
    }

    /// The columns of a known order.
    #[must_use]
    pub fn of(order: ArkitOrder) -> ArkitColumns {
        let names: Vec<String> = order.names().into_iter().map(str::to_owned).collect();
        let position = |shape: ArkitShape| names.iter().position(|n| ArkitShape::parse(n) == Some(shape));
        let columns = ArkitShape::ALL.map(position);
        ArkitColumns { names, columns }
    }

    /// All column names as they were given.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The column of a shape.
    #[must_use]
    pub fn column(&self, shape: ArkitShape) -> Option<usize> {
        self.columns[shape as usize]
    }

    /// The names that are no ARKit shape: `_neutral`, head rotations, visemes.
    #[must_use]
    pub fn unknown(&self) -> Vec<&str> {
        let is_unknown = |column: &usize| !self.columns.contains(&Some(*column));
        (0..self.names.len()).filter(is_unknown).map(|column| self.names[column].as_str()).collect()
    }

    /// The shapes that no column names; they stay at zero.
    #[must_use]
    pub fn missing(&self) -> Vec<ArkitShape> {
        ArkitShape::ALL.into_iter().filter(|&s| self.column(s).is_none()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn orders_are_permutations_of_one_another() {
        let all: BTreeSet<ArkitShape> = ArkitShape::ALL.into();
        assert_eq!(all.len(), 52);
        for order in ArkitOrder::ALL {
            let names: BTreeSet<&str> = order.names().into_iter().collect();
            assert_eq!(names.len(), 52, "{order:?}");
            let mut shapes: BTreeSet<ArkitShape> = order.shapes().into_iter().collect();
            if order == ArkitOrder::MediaPipe {
                assert!(shapes.insert(ArkitShape::TongueOut));
            }
            assert_eq!(shapes, all, "{order:?}");
        }
    }

    #[test]
    fn orders_differ_where_they_are_known_to() {
        let at = |order: ArkitOrder, column: usize| order.names()[column];
        assert_eq!((at(ArkitOrder::Alphabetical, 0), at(ArkitOrder::Alphabetical, 51)), ("browDownLeft", "tongueOut"));
        assert_eq!((at(ArkitOrder::Alphabetical, 8), at(ArkitOrder::Alphabetical, 24)), ("eyeBlinkLeft", "jawOpen"));
        assert_eq!((at(ArkitOrder::AppleGroups, 15), at(ArkitOrder::AppleGroups, 21)), ("jawLeft", "mouthLeft"));
        assert_eq!((at(ArkitOrder::LiveLinkFace, 15), at(ArkitOrder::LiveLinkFace, 16)), ("JawRight", "JawLeft"));
        assert_eq!((at(ArkitOrder::LiveLinkFace, 21), at(ArkitOrder::LiveLinkFace, 22)), ("MouthRight", "MouthLeft"));
        assert_eq!(at(ArkitOrder::LiveLinkFace, 17), "JawOpen");
        assert_eq!((at(ArkitOrder::MediaPipe, 0), at(ArkitOrder::MediaPipe, 51)), ("_neutral", "noseSneerRight"));
        assert_eq!((at(ArkitOrder::Engine, 0), at(ArkitOrder::Engine, 51)), ("EyeBlinkLeft", "TongueOut"));
    }

    #[test]
    fn lists_of_the_specification_match() {
        let Ok(text) = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/spec/names.json")) else {
            eprintln!("SKIP: ../shared/spec/names.json is absent");
            return;
        };
        let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let list = |key: &str| -> Vec<String> { serde_json::from_value(json["arkit"][key].clone()).unwrap() };
        assert_eq!(ArkitOrder::Alphabetical.names(), list("alphabetical_unity_mediapipe"));
        assert_eq!(ArkitOrder::AppleGroups.names(), list("apple_documentation_groups"));
        assert_eq!(ArkitOrder::LiveLinkFace.names(), list("live_link_face_csv"));
        assert_eq!(ArkitOrder::MediaPipe.names(), list("mediapipe_face_landmarker"));
        let runtime: Vec<String> = ArkitOrder::Alphabetical.shapes().iter().map(|s| s.runtime_name()).collect();
        assert_eq!(runtime, list("raw_value_alphabetical"));

        let real: Vec<String> = serde_json::from_value(json["real_morph_names"]["ready_player_me"].clone()).unwrap();
        let columns = ArkitColumns::new(&real).unwrap();
        assert_eq!(columns.missing(), []);
        assert_eq!(columns.unknown().len(), 15);
        assert!(columns.unknown().iter().all(|name| name.starts_with("viseme_")));
    }

    #[test]
    fn every_spelling_parses_back() {
        for shape in ArkitShape::ALL {
            for name in [shape.name().to_owned(), shape.upper_name().to_owned(), shape.runtime_name()] {
                assert_eq!(ArkitShape::parse(&name), Some(shape), "{name}");
                assert_eq!(ArkitShape::parse(&name.to_lowercase()), Some(shape), "{name} in lower case");
            }
        }
    }

    #[test]
    fn runtime_spelling_keeps_the_sides_of_jaw_and_mouth() {
        assert_eq!(ArkitShape::EyeBlinkLeft.runtime_name(), "eyeBlink_L");
        assert_eq!(ArkitShape::MouthUpperUpRight.runtime_name(), "mouthUpperUp_R");
        assert_eq!(ArkitShape::JawLeft.runtime_name(), "jawLeft");
        assert_eq!(ArkitShape::MouthRight.runtime_name(), "mouthRight");
        assert_eq!(ArkitShape::BrowInnerUp.runtime_name(), "browInnerUp");
    }

    #[test]
    fn numbered_export_parses_and_foreign_vocabularies_do_not() {
        assert_eq!(ArkitShape::parse("A14_Eye_Blink_Left"), Some(ArkitShape::EyeBlinkLeft));
        assert_eq!(ArkitShape::parse("A01_Brow_Inner_Up"), Some(ArkitShape::BrowInnerUp));
        for foreign in [
            "Eye_Blink_L",
            "jaw_L",
            "Mouth_R",
            "_neutral",
            "",
            "_",
            "_L",
            "A_Jaw_Open",
            "B14_Jaw_Open",
            "jawOpen_L",
            "eyeBlink_X",
            "eyeBlinkLeft_L",
            "viseme_aa",
            "face_shapes.ai_browDown_L",
            "HeadYaw",
            "é_L",
        ] {
            assert_eq!(ArkitShape::parse(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn columns_of_an_order_equal_columns_of_its_names() {
        for order in ArkitOrder::ALL {
            assert_eq!(ArkitColumns::of(order), ArkitColumns::new(&order.names()).unwrap(), "{order:?}");
        }
        let media_pipe = ArkitColumns::of(ArkitOrder::MediaPipe);
        assert_eq!(media_pipe.unknown(), ["_neutral"]);
        assert_eq!(media_pipe.missing(), [ArkitShape::TongueOut]);
        assert_eq!(media_pipe.column(ArkitShape::BrowDownLeft), Some(1));
    }

    #[test]
    fn columns_in_mixed_spellings_bind_by_name() {
        let columns = ArkitColumns::new(&["HeadYaw", "JawRight", "eyeBlink_L", "jawLeft"]).unwrap();
        assert_eq!(columns.column(ArkitShape::JawRight), Some(1));
        assert_eq!(columns.column(ArkitShape::EyeBlinkLeft), Some(2));
        assert_eq!(columns.column(ArkitShape::JawLeft), Some(3));
        assert_eq!(columns.unknown(), ["HeadYaw"]);
        assert_eq!(columns.missing().len(), 49);
    }

    #[test]
    fn columns_naming_one_shape_twice_are_refused() {
        let error = ArkitColumns::new(&["eyeBlink_L", "jawOpen", "EyeBlinkLeft"]).unwrap_err();
        assert_eq!(error.kind, LoadErrorKind::Corrupt);
        let text = error.to_string();
        assert!(text.contains("eyeBlinkLeft") && text.contains("eyeBlink_L") && text.contains("column 2"), "{text}");
    }
}
