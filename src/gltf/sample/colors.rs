//! Plain colours: a material for each part, and vertex colours where a part has several.

use crate::head::{Component, Head, Tissue};
use glam::Vec3;
use std::ops::Range;

/// The colours of some vertices that are drawn together; linear.
pub(super) struct Paint {
    /// The material's name.
    pub name: &'static str,
    pub base: [f32; 4],
    pub roughness: f32,
    /// What the base is multiplied by, for each vertex.
    pub tints: Option<Vec<[u8; 4]>>,
}

const SKIN: Vec3 = Vec3::new(0.72, 0.47, 0.36);
const LIPS: Vec3 = Vec3::new(0.50, 0.20, 0.17);
const MOUTH: Vec3 = Vec3::new(0.20, 0.05, 0.04);
const SCLERA: Vec3 = Vec3::new(0.88, 0.86, 0.84);
const IRIS: Vec3 = Vec3::new(0.10, 0.22, 0.30);
const PUPIL: Vec3 = Vec3::new(0.01, 0.01, 0.01);
const TOOTH: Vec3 = Vec3::new(0.85, 0.80, 0.70);
const GUM: Vec3 = Vec3::new(0.50, 0.20, 0.18);
const TONGUE: Vec3 = Vec3::new(0.55, 0.20, 0.18);

/// How vertices of one component and, of an eye, of one tissue look; `groups` are those of the head.
pub(super) fn paint(head: &Head, groups: &[(String, Vec<f32>)], vertices: Range<usize>) -> Paint {
    let opaque =
        |name, base: Vec3, roughness| Paint { name, base: base.extend(1.0).to_array(), roughness, tints: None };
    let tinted = |paint: Paint, color: &dyn Fn(usize) -> Vec3| {
        let base = Vec3::from_slice(&paint.base);
        Paint { tints: Some(vertices.clone().map(|v| tint(color(v), base)).collect()), ..paint }
    };
    match (head.components[vertices.start], head.tissues[vertices.start]) {
        (Component::Skin, _) => {
            let [upper, lower] = ["upper_lip", "lower_lip"].map(|lip| members(groups, lip));
            tinted(opaque("skin", SKIN, 0.6), &|v| match head.tissues[v] {
                Tissue::MouthSock => MOUTH,
                Tissue::EyeSocket => LIPS,
                _ => SKIN.lerp(LIPS, upper[v].max(lower[v])),
            })
        }
        (Component::LeftEye | Component::RightEye, Tissue::EyeShell) => {
            Paint { name: "cornea", base: [1.0, 1.0, 1.0, 0.08], roughness: 0.05, tints: None }
        }
        (Component::LeftEye | Component::RightEye, _) => {
            let [pupils, irises] = ["pupils", "irises"].map(|group| members(groups, group));
            tinted(opaque("eye", SCLERA, 0.3), &|v| match () {
                () if pupils[v] > 0.0 => PUPIL,
                () if irises[v] > 0.0 => IRIS,
                () => SCLERA,
            })
        }
        (Component::UpperTeeth | Component::LowerTeeth, _) => {
            let color = |v: usize| if head.tissues[v] == Tissue::Gum { GUM } else { TOOTH };
            tinted(opaque("teeth", TOOTH, 0.3), &color)
        }
        (Component::Tongue, _) => opaque("tongue", TONGUE, 0.5),
    }
}

/// How far each vertex belongs to a group of the head.
fn members<'a>(groups: &'a [(String, Vec<f32>)], group: &str) -> &'a [f32] {
    let found = groups.iter().find(|(name, _)| name == group);
    found.map(|(_, members)| members.as_slice()).expect("a group of the head")
}

/// What `base` is multiplied by to be `color`, which is nowhere brighter.
fn tint(color: Vec3, base: Vec3) -> [u8; 4] {
    let [r, g, b] = (255.0 * color / base).round().to_array();
    [r as u8, g as u8, b as u8, 255]
}
