//! Structs that the shader shares.

use super::materials::Material;
use super::painter::{SHADER, ShotUniform};
use super::scene::ViewUniform;
use std::mem::offset_of;

macro_rules! layout_of {
    ($ty:ident { $($field:ident),* $(,)? }) => {
        (vec![$((stringify!($field), offset_of!($ty, $field))),*], size_of::<$ty>())
    };
}

#[test]
fn uniforms_and_materials_lie_as_in_the_shader() {
    let module = naga::front::wgsl::parse_str(SHADER).unwrap_or_else(|e| panic!("{}", e.emit_to_string(SHADER)));
    let lights = layout_of!(ViewUniform {
        clip_from_world,
        eye,
        key,
        fill,
        key_color,
        fill_color,
        ambient_above,
        ambient_below,
        backdrop_above,
        backdrop_below,
    });
    let structs = [
        ("View", lights),
        ("Shot", layout_of!(ShotUniform { world_from_rig, first_vertex, has_normals, range, pad })),
        ("Material", layout_of!(Material { color, gloss, bleed, eye })),
    ];
    for (name, (fields, size)) in structs {
        let (_, ty) = module.types.iter().find(|(_, t)| t.name.as_deref() == Some(name)).expect(name);
        let naga::TypeInner::Struct { members, span } = &ty.inner else { panic!("{name} is no struct") };
        let found: Vec<(&str, usize)> =
            members.iter().map(|m| (m.name.as_deref().unwrap_or(""), m.offset as usize)).collect();
        assert_eq!((found, *span as usize), (fields, size), "{name}");
    }
}
