//! The WGSL of every stage, composed by concatenation.
//!
//! A stage has one stem: its file, its entry point, the name of its CPU twin and, behind `rigeval.`, its label.

/// The skinning definition that stands in front of every rig's stage.
pub const LBS_COMMON: &str = include_str!("../../shaders/lbs_common.wgsl");

/// The gather over packed sparse deltas, between [`LBS_COMMON`] and the stages of rigs that have them.
pub const SPARSE_COMMON: &str = include_str!("../../shaders/sparse_common.wgsl");

/// Neutral, expression, gaze and seam of a GNM head, then skinning.
pub const GNM_BLEND: ShaderStage =
    ShaderStage { stem: "gnm_blend", parts: &[LBS_COMMON, include_str!("../../shaders/gnm_blend.wgsl")] };

/// Neutral and packed deltas of a MetaHuman rig, then skinning.
pub const ORL_DEFORM: ShaderStage = ShaderStage {
    stem: "orl_deform",
    parts: &[LBS_COMMON, SPARSE_COMMON, include_str!("../../shaders/orl_deform.wgsl")],
};

/// Base attributes and morph targets of a glTF file, then skinning; compiled once for each attribute.
pub const GLTF_MORPH: ShaderStage = ShaderStage {
    stem: "gltf_morph",
    parts: &[LBS_COMMON, SPARSE_COMMON, include_str!("../../shaders/gltf_morph.wgsl")],
};

/// Vertex normals from posed positions.
pub const NORMALS: ShaderStage = ShaderStage { stem: "normals", parts: &[include_str!("../../shaders/normals.wgsl")] };

/// Boxes around posed positions.
pub const BOUNDS: ShaderStage = ShaderStage { stem: "bounds", parts: &[include_str!("../../shaders/bounds.wgsl")] };

/// Every stage there is.
pub const STAGES: [ShaderStage; 5] = [GNM_BLEND, ORL_DEFORM, GLTF_MORPH, NORMALS, BOUNDS];

/// One compute stage: a stem and the texts it is put together from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShaderStage {
    /// The name of its file and of its entry point.
    pub stem: &'static str,
    parts: &'static [&'static str],
}

impl ShaderStage {
    /// The WGSL of the whole stage.
    #[must_use]
    pub fn source(&self) -> String {
        self.parts.join("\n")
    }

    /// The label of everything that belongs to the stage: `rigeval.<stem>`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("rigeval.{}", self.stem)
    }

    /// The stage compiled for one set of override constants.
    pub(crate) fn pipeline(
        &self,
        device: &wgpu::Device,
        layouts: &[&wgpu::BindGroupLayout],
        constants: &[(&str, f64)],
    ) -> wgpu::ComputePipeline {
        let label = self.label();
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(&label),
            source: wgpu::ShaderSource::Wgsl(self.source().into()),
        });
        let groups: Vec<_> = layouts.iter().map(|l| Some(*l)).collect();
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(&label),
            bind_group_layouts: &groups,
            immediate_size: 0,
        });
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&label),
            layout: Some(&layout),
            module: &module,
            entry_point: Some(self.stem),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants,
                // Every stage writes its workgroup memory before it reads it.
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        })
    }
}
