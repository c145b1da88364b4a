//! The WGSL itself: every text parses and validates, and keeps to the rules that shared text needs.
#![cfg(feature = "gpu")]

use naga::valid::{Capabilities, ValidationFlags, Validator};
use rigeval::gpu::shaders::{LBS_COMMON, SPARSE_COMMON, STAGES};

fn module(name: &str, source: &str) -> naga::Module {
    let module =
        naga::front::wgsl::parse_str(source).unwrap_or_else(|e| panic!("{name}:\n{}", e.emit_to_string(source)));
    // `unpack2x16float` is core WGSL; naga counts it as a capability because OpenGL ES lacks it.
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::SHADER_FLOAT16_IN_FLOAT32);
    validator.validate(&module).unwrap_or_else(|e| panic!("{name}:\n{}", e.emit_to_string(source)));
    module
}

/// The common texts: name, prefix of everything in it, the group it owns.
const COMMON: [(&str, &str, &str, u32); 2] = [
    ("lbs_common", LBS_COMMON, "lbs_", rigeval::gpu::skinning::GROUP),
    ("sparse_common", SPARSE_COMMON, "sparse_", rigeval::gpu::sparse::GROUP),
];

#[test]
fn common_text_validates_alone_and_owns_its_group() {
    for (name, text, prefix, group) in COMMON {
        let module = module(name, text);
        assert!(module.entry_points.is_empty());
        let functions = module.functions.iter().map(|(_, f)| &f.name);
        let variables = module.global_variables.iter().map(|(_, v)| &v.name);
        for named in functions.chain(variables).chain(module.overrides.iter().map(|(_, o)| &o.name)) {
            let named = named.as_deref().unwrap_or("");
            assert!(named.starts_with(prefix), "{name}: {named} would clash with a stage's own");
        }
        for (_, variable) in module.global_variables.iter() {
            match &variable.binding {
                Some(binding) => assert_eq!(binding.group, group, "{:?}", variable.name),
                None => assert_eq!(variable.space, naga::AddressSpace::WorkGroup, "{:?}", variable.name),
            }
        }
    }
}

#[test]
fn stage_has_one_entry_point_of_its_stem() {
    for stage in STAGES {
        let module = module(stage.stem, &stage.source());
        let names: Vec<_> = module.entry_points.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(names, [stage.stem]);
        assert_eq!(stage.label(), format!("rigeval.{}", stage.stem));
    }
}

#[test]
fn stage_owns_group_zero_and_binds_at_most_eight_storage_buffers() {
    for stage in STAGES {
        let module = module(stage.stem, &stage.source());
        let mut storage = 0;
        for (_, variable) in module.global_variables.iter() {
            let Some(binding) = &variable.binding else { continue };
            let name = variable.name.as_deref().unwrap_or("");
            let owner = COMMON.iter().find(|(_, _, prefix, _)| name.starts_with(prefix));
            assert_eq!(binding.group, owner.map_or(0, |(_, _, _, group)| *group), "{}: {name}", stage.stem);
            storage += u32::from(matches!(variable.space, naga::AddressSpace::Storage { .. }));
        }
        assert!(storage <= 8, "{}: {storage} storage buffers", stage.stem);
    }
}

#[cfg(feature = "picture")]
#[test]
fn picture_shader_validates_and_pairs_its_entry_points() {
    let module = module("picture", rigeval::picture::SHADER);
    let stages = |stage| module.entry_points.iter().filter(move |e| e.stage == stage).map(|e| e.name.as_str());
    let vertex: Vec<_> = stages(naga::ShaderStage::Vertex).collect();
    let fragment: Vec<_> = stages(naga::ShaderStage::Fragment).collect();
    assert_eq!(vertex, ["vs_surface", "vs_value", "vs_wire", "vs_backdrop"]);
    assert_eq!(fragment, ["fs_shaded", "fs_normals", "fs_wire", "fs_error", "fs_backdrop"]);
}

/// The expressions of a line that no parenthesis, comma or comparison parts any further.
fn expressions(line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or("");
    let mut stack = vec![String::new()];
    let mut done = Vec::new();
    for word in code.replace(['(', '['], " ( ").replace([')', ']'], " ) ").replace([',', ';'], " , ").split_whitespace()
    {
        match word {
            "(" => stack.push(String::new()),
            ")" => done.extend((stack.len() > 1).then(|| stack.pop()).flatten()),
            "," | "=" | "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||" => {
                done.push(std::mem::take(stack.last_mut().unwrap()));
            }
            word => *stack.last_mut().unwrap() += &format!(" {word} "),
        }
    }
    done.extend(stack);
    done
}

/// WGSL takes nothing but unary expressions on either side of a shift. naga is not so strict, browsers are.
#[test]
fn shader_has_parentheses_around_shifts() {
    let has_bare_shift = |expression: &String| {
        let operators = [">>", "<<", "&", "|", "^", "+", "-", "*", "/", "%"];
        let found = expression.split_whitespace().filter(|word| operators.contains(word));
        let found: Vec<&str> = found.collect();
        found.len() > 1 && found.iter().any(|operator| [">>", "<<"].contains(operator))
    };
    assert!(expressions("if (mask[t / 32u] >> (t % 32u) & 1u) == 1u {").iter().any(has_bare_shift));
    let picture = include_str!("../shaders/picture.wgsl");
    let sources = STAGES.map(|stage| (stage.stem, stage.source()));
    for (name, source) in sources.iter().map(|(name, source)| (*name, source.as_str())).chain([("picture", picture)]) {
        for line in source.lines() {
            let bare = expressions(line).into_iter().find(has_bare_shift);
            assert_eq!(bare, None, "{name}: {line}");
        }
    }
}

#[test]
fn shader_arrays_are_runtime_sized() {
    // A count in a storage array's type would be one rig's count.
    for stage in STAGES {
        let module = module(stage.stem, &stage.source());
        for (_, variable) in module.global_variables.iter() {
            if matches!(variable.space, naga::AddressSpace::Storage { .. }) {
                let ty = &module.types[variable.ty].inner;
                let dynamic = matches!(ty, naga::TypeInner::Array { size: naga::ArraySize::Dynamic, .. });
                assert!(dynamic, "{}: {:?}", stage.stem, variable.name);
            }
        }
    }
}
