//! The WGSL itself: every text parses and validates, and keeps to the rules that shared text needs.
#![cfg(feature = "gpu")]

use naga::valid::{Capabilities, ValidationFlags, Validator};
use rigeval::gpu::shaders::{LBS_COMMON, STAGES};

fn module(name: &str, source: &str) -> naga::Module {
    let module =
        naga::front::wgsl::parse_str(source).unwrap_or_else(|e| panic!("{name}:\n{}", e.emit_to_string(source)));
    // `unpack2x16float` is core WGSL; naga counts it as a capability because OpenGL ES lacks it.
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::SHADER_FLOAT16_IN_FLOAT32);
    validator.validate(&module).unwrap_or_else(|e| panic!("{name}:\n{}", e.emit_to_string(source)));
    module
}

#[test]
fn lbs_common_validates_alone() {
    let module = module("lbs_common", LBS_COMMON);
    assert!(module.entry_points.is_empty());
    for (_, function) in module.functions.iter() {
        let name = function.name.as_deref().unwrap_or("");
        assert!(name.starts_with("lbs_"), "the common function {name} would clash with a stage's own");
    }
    for (_, variable) in module.global_variables.iter() {
        let binding = variable.binding.as_ref().expect("only bindings are shared");
        assert_eq!(binding.group, rigeval::gpu::skinning::GROUP, "{:?}", variable.name);
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
            assert_eq!(binding.group, u32::from(name.starts_with("lbs_")), "{}: {name}", stage.stem);
            storage += u32::from(matches!(variable.space, naga::AddressSpace::Storage { .. }));
        }
        assert!(storage <= 8, "{}: {storage} storage buffers", stage.stem);
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
