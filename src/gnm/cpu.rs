//! The CPU reference: twin of gnm_blend.wgsl.
