//! Spellings of MetaHuman control names, so that a bundle, a curve and a DNA mean the same control.

use std::borrow::Cow;
use std::collections::HashMap;

/// The prefix of raw controls: a DNA has a dot where curves have an underscore.
const RAW_PREFIX: &str = "CTRL_expressions.";

/// Long attribute names and the short ones that a DNA has.
const ATTRIBUTES: [(&str, &str); 9] = [
    ("translateX", "tx"),
    ("translateY", "ty"),
    ("translateZ", "tz"),
    ("rotateX", "rx"),
    ("rotateY", "ry"),
    ("rotateZ", "rz"),
    ("scaleX", "sx"),
    ("scaleY", "sy"),
    ("scaleZ", "sz"),
];

/// The spelling that a DNA has: `CTRL_C_jaw.ty` of `CTRL_C_jaw.translateY`, `CTRL_expressions.jawOpen` of `CTRL_expressions_jawOpen`.
///
/// Prefix and attribute are known in any case; the rest of the name keeps its own.
#[must_use]
pub fn canonical(name: &str) -> Cow<'_, str> {
    let stem = RAW_PREFIX.len() - 1;
    // `get`: the prefix's end may lie inside a character.
    if let (Some(prefix), Some(b'.' | b'_')) = (name.get(..stem), name.as_bytes().get(stem))
        && prefix.eq_ignore_ascii_case(&RAW_PREFIX[..stem])
    {
        return Cow::Owned(format!("{RAW_PREFIX}{}", &name[stem + 1..]));
    }
    let short = |attribute: &str| ATTRIBUTES.iter().find(|(long, _)| long.eq_ignore_ascii_case(attribute));
    match name.rsplit_once('.').and_then(|(control, attribute)| Some((control, short(attribute)?.1))) {
        Some((control, short)) => Cow::Owned(format!("{control}.{short}")),
        None => Cow::Borrowed(name),
    }
}

/// Control names that are found in any of their spellings.
///
/// A name as it stands comes first, then its [`canonical`] spelling, then that without regard to the case of ASCII letters, as Unreal compares
/// names. Where several names answer to one spelling, the first one does.
#[derive(Debug, Clone, Default)]
pub struct NameIndex {
    by_spelling: HashMap<String, usize>,
}

impl NameIndex {
    /// The index of these names.
    #[must_use]
    pub fn new<S: AsRef<str>>(names: &[S]) -> NameIndex {
        let mut by_spelling = HashMap::with_capacity(2 * names.len());
        // All names of one form before the next form, so that no looser spelling hides a stricter one.
        for form in [as_it_stands, canonical, folded] {
            for (index, name) in names.iter().enumerate() {
                by_spelling.entry(form(name.as_ref()).into_owned()).or_insert(index);
            }
        }
        NameIndex { by_spelling }
    }

    /// Which of the names is meant.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        [as_it_stands, canonical, folded].into_iter().find_map(|form| self.by_spelling.get(&*form(name))).copied()
    }
}

fn as_it_stands(name: &str) -> Cow<'_, str> {
    Cow::Borrowed(name)
}

fn folded(name: &str) -> Cow<'_, str> {
    Cow::Owned(canonical(name).to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_become_those_of_a_dna() {
        let cases = [
            ("CTRL_C_jaw.translateX", "CTRL_C_jaw.tx"),
            ("CTRL_C_jaw.translateY", "CTRL_C_jaw.ty"),
            ("CTRL_L_eye.rotateZ", "CTRL_L_eye.rz"),
            ("CTRL_L_eye.SCALEX", "CTRL_L_eye.sx"),
            ("a.b.scaleY", "a.b.sy"),
            ("CTRL_expressions_jawOpen", "CTRL_expressions.jawOpen"),
            ("ctrl_EXPRESSIONS_jawOpen", "CTRL_expressions.jawOpen"),
            ("CTRL_expressions_", "CTRL_expressions."),
        ];
        for (name, expected) in cases {
            assert_eq!(canonical(name), expected, "{name}");
        }
        let unchanged = ["", ".", "CTRL_C_jaw.tx", "CTRL_C_jaw.translate", "translateX", "CTRL_expressions", "neck.x"];
        for name in unchanged.into_iter().chain(["CTRL_expression\u{e9}_jawOpen", "\u{e9}.translateX\u{e9}"]) {
            assert_eq!(canonical(name), name);
        }
    }

    #[test]
    fn names_are_found_in_every_spelling() {
        let index = NameIndex::new(&["CTRL_expressions.jawOpen", "CTRL_C_jaw.ty", "other.translateX"]);
        let cases = [
            ("CTRL_expressions.jawOpen", Some(0)),
            ("CTRL_expressions_jawOpen", Some(0)),
            ("ctrl_expressions_JAWOPEN", Some(0)),
            ("CTRL_C_jaw.translateY", Some(1)),
            ("ctrl_c_jaw.TY", Some(1)),
            ("other.tx", Some(2)),
            ("jawOpen", None),
            ("CTRL_C_jaw", None),
            ("", None),
        ];
        for (name, expected) in cases {
            assert_eq!(index.find(name), expected, "{name}");
        }
    }

    #[test]
    fn exact_spelling_comes_before_case() {
        let names = ["head", "HEAD", "a.tx", "a.translateX", "Neck", "nECK", "twice", "twice"];
        let index = NameIndex::new(&names);
        for (name, expected) in names.iter().zip([0, 1, 2, 3, 4, 5, 6, 6]) {
            assert_eq!(index.find(name), Some(expected), "{name}");
        }
        assert_eq!((index.find("HeAd"), index.find("neck"), index.find("A.TRANSLATEX")), (Some(0), Some(4), Some(2)));
    }
}
