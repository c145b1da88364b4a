//! What of a file is read.

/// What of a file is read. The default is everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadOptions {
    /// Which layers.
    pub layers: Layers,
    /// Whether the meshes keep their blend shape targets.
    pub blend_shapes: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        LoadOptions { layers: Layers::default(), blend_shapes: true }
    }
}

/// The layers that can be left out. Descriptor, definition and conventions are always read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layers {
    /// Layer `geom`, the largest by far: it is not even looked at when it is left out.
    pub geometry: bool,
    /// Layers that are not known.
    pub unknown: bool,
}

impl Default for Layers {
    fn default() -> Self {
        Layers { geometry: true, unknown: true }
    }
}
