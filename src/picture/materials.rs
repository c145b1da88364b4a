//! What a part looks like, by its name and by what its file says.

use super::colors::linear_of_srgb;
use crate::info::{Look, MeshPart};
use bytemuck::{Pod, Zeroable};

/// What a part is, as far as pictures care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tissue {
    Skin,
    Eye,
    Teeth,
    Gums,
    Tongue,
    MouthSock,
    Lashes,
    Hair,
    /// What light goes through, such as the film of tears over an eye: it is left out.
    Clear,
    Other,
}

/// Parts of names, in lower case, and what they say; the first that fits counts.
const NAMES: [(&str, Tissue); 21] = [
    ("eyeshell", Tissue::Clear),
    ("eyeedge", Tissue::Clear),
    ("eye_occlusion", Tissue::Clear),
    ("tearline", Tissue::Clear),
    ("saliva", Tissue::Clear),
    ("cornea", Tissue::Clear),
    ("lash", Tissue::Lashes),
    ("brow", Tissue::Hair),
    ("cartilage", Tissue::Gums),
    ("mouth_sock", Tissue::MouthSock),
    ("mouthsock", Tissue::MouthSock),
    ("tongue", Tissue::Tongue),
    // Before gums: "upper_teeth_and_gums" is mostly teeth.
    ("teeth", Tissue::Teeth),
    ("tooth", Tissue::Teeth),
    ("gum", Tissue::Gums),
    ("eyelid", Tissue::Skin),
    ("eye", Tissue::Eye),
    ("hair", Tissue::Hair),
    ("skin", Tissue::Skin),
    ("head", Tissue::Skin),
    ("face", Tissue::Skin),
];

impl Tissue {
    /// What a part's name says.
    pub(super) fn of(name: &str) -> Tissue {
        let name = name.to_ascii_lowercase();
        NAMES.iter().find(|(part, _)| name.contains(part)).map_or(Tissue::Other, |(_, tissue)| *tissue)
    }

    /// Whether it lies behind the lips, where little light comes.
    pub(super) fn is_in_mouth(self) -> bool {
        matches!(self, Tissue::Teeth | Tissue::Gums | Tissue::Tongue | Tissue::MouthSock)
    }

    /// sRGB and gloss; none where any colour will do.
    fn look(self) -> Option<Look> {
        let (color, gloss) = match self {
            Tissue::Skin => ([0.80, 0.65, 0.57], 0.34),
            Tissue::Eye => ([0.91, 0.89, 0.87], 0.95),
            Tissue::Teeth => ([0.90, 0.87, 0.79], 0.62),
            Tissue::Gums => ([0.70, 0.36, 0.36], 0.55),
            Tissue::Tongue => ([0.74, 0.37, 0.38], 0.50),
            Tissue::MouthSock => ([0.52, 0.20, 0.20], 0.30),
            Tissue::Lashes => ([0.09, 0.07, 0.06], 0.10),
            Tissue::Hair => ([0.24, 0.17, 0.13], 0.30),
            Tissue::Clear | Tissue::Other => return None,
        };
        Some(Look { color, gloss })
    }

    /// Linear: the light that comes through.
    fn bleed(self) -> [f32; 3] {
        match self {
            Tissue::Skin => [0.45, 0.22, 0.14],
            Tissue::Gums | Tissue::Tongue | Tissue::MouthSock => [0.40, 0.15, 0.12],
            Tissue::Teeth => [0.20, 0.17, 0.12],
            _ => [0.10; 3],
        }
    }
}

/// `Material` of the shader.
#[derive(Debug, Clone, Copy, Pod, Zeroable, PartialEq)]
#[repr(C)]
pub(super) struct Material {
    pub(super) color: [f32; 3],
    pub(super) gloss: f32,
    pub(super) bleed: [f32; 3],
    pub(super) eye: f32,
}

/// Colours for parts whose names say nothing, sRGB: of one lightness, and apart in hue.
const UNNAMED: [[f32; 3]; 8] = [
    [0.66, 0.66, 0.68],
    [0.52, 0.66, 0.76],
    [0.78, 0.62, 0.50],
    [0.58, 0.70, 0.54],
    [0.74, 0.58, 0.68],
    [0.74, 0.68, 0.48],
    [0.50, 0.69, 0.67],
    [0.62, 0.61, 0.77],
];

impl Material {
    /// The material of the part at `index`.
    ///
    /// An eye is painted from its form, so a colour of the file's does not count there.
    pub(super) fn of(index: usize, part: &MeshPart) -> Material {
        let tissue = Tissue::of(&part.name);
        let unnamed = Look { color: UNNAMED[index % UNNAMED.len()], gloss: 0.30 };
        let stated = part.look.filter(|_| tissue != Tissue::Eye);
        let look = stated.or(tissue.look()).unwrap_or(unnamed);
        let usable = |x: f32| if x.is_finite() { x.clamp(0.0, 1.0) } else { 0.5 };
        Material {
            color: look.color.map(|c| linear_of_srgb(usable(c))),
            gloss: usable(look.gloss),
            bleed: tissue.bleed(),
            eye: f32::from(tissue == Tissue::Eye),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_three_rigs_are_understood() {
        let cases = [
            ("skin", Tissue::Skin),
            ("left_eye", Tissue::Eye),
            ("teeth", Tissue::Teeth),
            ("gums", Tissue::Gums),
            ("upper_teeth_and_gums", Tissue::Teeth),
            ("tongue", Tissue::Tongue),
            ("mouth_sock", Tissue::MouthSock),
            ("head_lod0_mesh", Tissue::Skin),
            ("eyeLeft_lod0_mesh", Tissue::Eye),
            ("eyeshell_lod0_mesh", Tissue::Clear),
            ("eyelashes_lod0_mesh", Tissue::Lashes),
            ("saliva_lod0_mesh", Tissue::Clear),
            ("coat.1", Tissue::Other),
        ];
        for (name, tissue) in cases {
            assert_eq!(Tissue::of(name), tissue, "{name}");
        }
    }

    #[test]
    fn look_of_the_file_counts_except_for_eyes() {
        let part =
            |name: &str, color| MeshPart { name: name.into(), triangles: 0..1, look: Some(Look { color, gloss: 2.0 }) };
        let red = Material::of(0, &part("coat", [1.0, 0.0, f32::NAN]));
        assert_eq!((red.color[0], red.color[1], red.gloss), (1.0, 0.0, 1.0));
        assert!(red.color[2].is_finite());
        assert_eq!(
            Material::of(0, &part("left_eye", [1.0, 0.0, 0.0])).color,
            Material::of(0, &part("eyes", [0.0; 3])).color
        );
    }
}
