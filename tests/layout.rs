//! Layouts that Rust and WGSL share, proven through naga's reflection.
#![cfg(feature = "gpu")]

use naga::{ArraySize, Module, TypeInner};
use rigeval::gltf::gpu::GltfParams;
use rigeval::gnm::gpu::{GnmParams, WORKGROUP_BYTES, WORKGROUP_SIZE};
use rigeval::gpu::bounds::{self, BoundsParams};
use rigeval::gpu::normals::{self, NormalsParams};
use rigeval::gpu::shaders::{BOUNDS, GLTF_MORPH, GNM_BLEND, LBS_COMMON, NORMALS, ORL_DEFORM, SPARSE_COMMON, STAGES};
use rigeval::gpu::skinning::LbsParams;
use rigeval::gpu::sparse::{self, SparseParams, WeightShape};
use rigeval::orl::gpu::OrlParams;
use rigeval::sparse::slices::Slice;
use std::mem::offset_of;

fn parse(source: &str) -> Module {
    naga::front::wgsl::parse_str(source).unwrap_or_else(|e| panic!("{}", e.emit_to_string(source)))
}

/// Members of a WGSL struct as (name, offset), and its size.
fn members(module: &Module, name: &str) -> (Vec<(String, usize)>, usize) {
    let (_, ty) = module.types.iter().find(|(_, t)| t.name.as_deref() == Some(name)).expect(name);
    let TypeInner::Struct { members, span } = &ty.inner else { panic!("{name} is no struct") };
    (members.iter().map(|m| (m.name.clone().unwrap(), m.offset as usize)).collect(), *span as usize)
}

macro_rules! assert_same_layout {
    ($module:expr, $ty:ident { $($field:ident),* $(,)? }) => {
        let (found, size) = members(&$module, stringify!($ty));
        let expected: Vec<(String, usize)> = vec![$((stringify!($field).into(), offset_of!($ty, $field))),*];
        assert_eq!(found, expected, "{}", stringify!($ty));
        assert_eq!(size, size_of::<$ty>(), "size of {}", stringify!($ty));
    };
}

#[test]
fn uniforms_lie_as_their_rust_structs() {
    let lbs = parse(LBS_COMMON);
    assert_same_layout!(lbs, LbsParams { vertex_count, joint_count, instance_count, reserved });
    let gnm = parse(&GNM_BLEND.source());
    assert_same_layout!(gnm, GnmParams { vertex_count, instance_count, group_count, tile_stride, left_eye, right_eye });
    let orl = parse(&ORL_DEFORM.source());
    assert_same_layout!(orl, OrlParams { vertex_count, instance_count, reserved_0, reserved_1 });
    assert_same_layout!(orl, SparseParams { tile_stride, reserved_0, reserved_1, reserved_2 });
    let gltf = parse(&GLTF_MORPH.source());
    assert_same_layout!(gltf, GltfParams { vertex_count, instance_count, reserved_0, reserved_1 });
    let normals = parse(&NORMALS.source());
    assert_same_layout!(normals, NormalsParams { vertex_count, instance_count, reserved_0, reserved_1 });
    let bounds = parse(&BOUNDS.source());
    assert_same_layout!(
        bounds,
        BoundsParams {
            item_count,
            item_stride,
            high_offset,
            run_length,
            run_count,
            first_instance,
            end_instance,
            reserved
        }
    );
}

#[test]
fn workgroup_sizes_are_the_ones_that_are_dispatched() {
    let sizes = [
        (GNM_BLEND, WORKGROUP_SIZE),
        (ORL_DEFORM, sparse::WORKGROUP_SIZE),
        (GLTF_MORPH, sparse::WORKGROUP_SIZE),
        (NORMALS, normals::WORKGROUP_SIZE),
        (BOUNDS, bounds::WORKGROUP_SIZE),
    ];
    for (stage, size) in sizes {
        let module = parse(&stage.source());
        assert_eq!(module.entry_points[0].workgroup_size, [size, 1, 1], "{}", stage.stem);
    }
}

#[test]
fn workgroup_memory_is_what_the_planner_counts() {
    for (stage, bytes) in [(GNM_BLEND, WORKGROUP_BYTES), (BOUNDS, bounds::WORKGROUP_BYTES)] {
        let module = parse(&stage.source());
        let shared = module.global_variables.iter().filter(|(_, v)| v.space == naga::AddressSpace::WorkGroup);
        let size = |ty: naga::Handle<naga::Type>| module.types[ty].inner.size(module.to_ctx());
        assert_eq!(shared.map(|(_, v)| size(v.ty)).sum::<u32>(), bytes, "{}", stage.stem);
    }
}

#[test]
fn workgroup_memory_of_the_gather_is_what_the_planner_counts() {
    let module = parse(&ORL_DEFORM.source());
    for targets in [1, 820, 65_536] {
        let shape = WeightShape::new(1, targets);
        let constant = |name: &str| shape.constants().iter().find(|(n, _)| *n == name).expect("a constant").1 as u32;
        let bytes = |variable: &naga::GlobalVariable| match module.types[variable.ty].inner {
            TypeInner::Array { stride, size: ArraySize::Pending(length), .. } => {
                stride * constant(module.overrides[length].name.as_deref().expect("a name"))
            }
            ref sized => sized.size(module.to_ctx()),
        };
        let shared = module.global_variables.iter().filter(|(_, v)| v.space == naga::AddressSpace::WorkGroup);
        let all: u32 = shared.map(|(_, v)| bytes(v)).sum();
        assert_eq!(all, sparse::workgroup_bytes(targets), "{targets} targets");
    }
}

#[test]
fn slice_lies_as_the_vec4_that_the_gather_reads() {
    let words: [u32; 4] = bytemuck::cast(Slice { first_word: 1, length: 2, rows: 3, first_row: 4 });
    assert_eq!(words, [1, 2, 3, 4]);
}

#[test]
fn storage_arrays_have_the_strides_that_are_uploaded() {
    let words = [
        "slots",
        "basis",
        "block_table",
        "positions",
        "posed",
        "faces",
        "incidence",
        "vertex_normals",
        "items",
        "lbs_influences",
        "sparse_entries",
    ];
    for stage in STAGES {
        let module = parse(&stage.source());
        for (_, variable) in module.global_variables.iter() {
            let TypeInner::Array { stride, size: ArraySize::Dynamic, .. } = module.types[variable.ty].inner else {
                continue;
            };
            let name = variable.name.as_deref().unwrap();
            let expected = if words.contains(&name) { 4 } else { 16 };
            assert_eq!(stride, expected, "{}: {name}", stage.stem);
        }
    }
}

#[test]
fn bindings_are_numbered_as_the_host_binds_them() {
    let expect = |source: &str, group: u32, names: &[&str]| {
        let module = parse(source);
        let mut found: Vec<(u32, String)> = module
            .global_variables
            .iter()
            .filter_map(|(_, v)| v.binding.as_ref().map(|b| (b, v.name.clone().unwrap())))
            .filter(|(binding, _)| binding.group == group)
            .map(|(binding, name)| (binding.binding, name))
            .collect();
        found.sort();
        let expected: Vec<_> = names.iter().enumerate().map(|(i, n)| (i as u32, (*n).to_string())).collect();
        assert_eq!(found, expected);
    };
    expect(LBS_COMMON, 1, &["lbs_influences", "lbs_skin_rows", "lbs_params"]);
    expect(SPARSE_COMMON, sparse::GROUP, &["sparse_slices", "sparse_entries", "sparse_weights", "sparse_params"]);
    expect(&ORL_DEFORM.source(), 0, &["neutral", "positions", "params"]);
    expect(&GLTF_MORPH.source(), 0, &["base", "posed", "params"]);
    expect(&GNM_BLEND.source(), 0, &["slots", "basis", "block_table", "tiles", "positions", "params"]);
    expect(&BOUNDS.source(), 0, &["items", "boxes", "params"]);
    expect(&NORMALS.source(), 0, &["positions", "faces", "incidence", "vertex_normals", "params"]);
}
