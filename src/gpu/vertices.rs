//! The buffers that a backend poses into, and which of them is this frame's.

use super::GpuContext;
use super::normals::{NormalsStage, VertexNormals, instanced_vertices};
use crate::backend::{VertexSpace, VertexView};

/// The posed vertices of N instances: one position buffer, or two that take turns, and normals and tangents where they were asked for.
#[derive(Debug)]
pub struct PosedVertices {
    positions: Vec<wgpu::Buffer>,
    /// Computed from the positions.
    normals: Option<VertexNormals>,
    /// Written by the rig's own stage: normals, tangents.
    directions: [Option<wgpu::Buffer>; 2],
    space: VertexSpace,
    vertex_count: usize,
    instance_count: usize,
    current: usize,
    previous: usize,
    has_frame: bool,
}

impl PosedVertices {
    /// Puts the rest mesh into every buffer.
    ///
    /// # Shapes
    /// rest: (V, 3)
    #[must_use]
    pub fn new(gpu: &GpuContext, label: &str, rest: &[[f32; 3]], instances: usize, previous: bool) -> PosedVertices {
        let label = format!("{label}.positions");
        let position_buffer = |_| instanced_vertices(gpu, &label, rest, instances);
        PosedVertices {
            positions: (0..1 + usize::from(previous)).map(position_buffer).collect(),
            normals: None,
            directions: [None, None],
            space: VertexSpace::default(),
            vertex_count: rest.len(),
            instance_count: instances,
            current: 0,
            previous: 0,
            has_frame: false,
        }
    }

    /// The same with normals: those of the rest mesh until the first frame.
    ///
    /// # Shapes
    /// rest_normals: (V, 3)
    #[must_use]
    pub fn with_normals(mut self, gpu: &GpuContext, stage: &NormalsStage, rest_normals: &[[f32; 3]]) -> PosedVertices {
        self.normals = Some(VertexNormals::new(gpu, stage, &self.positions, rest_normals, self.instance_count));
        self
    }

    /// The same with normals and tangents that the rig's own stage poses: those of the rest mesh until the first frame.
    ///
    /// # Shapes
    /// rest_normals: (V, 3), rest_tangents: (V, 4)
    #[must_use]
    pub fn with_directions(
        mut self,
        gpu: &GpuContext,
        label: &str,
        rest_normals: Option<&[[f32; 3]]>,
        rest_tangents: Option<&[[f32; 4]]>,
    ) -> PosedVertices {
        let n = self.instance_count;
        self.directions = [
            rest_normals.map(|rest| instanced_vertices(gpu, &format!("{label}.normals"), rest, n)),
            rest_tangents.map(|rest| instanced_vertices(gpu, &format!("{label}.tangents"), rest, n)),
        ];
        self
    }

    /// The same in another space than the rig's own.
    #[must_use]
    pub fn in_space(self, space: VertexSpace) -> PosedVertices {
        PosedVertices { space, ..self }
    }

    /// The position buffers, to bind.
    #[must_use]
    pub fn positions(&self) -> &[wgpu::Buffer] {
        &self.positions
    }

    /// The index of this frame's position buffer.
    #[must_use]
    pub fn current(&self) -> usize {
        self.current
    }

    /// Turns to the next frame. One that changes nothing stays in its buffer and is its own predecessor; so is the first.
    pub fn next_frame(&mut self, changed: bool) {
        let is_first = !std::mem::replace(&mut self.has_frame, true);
        self.previous = self.current;
        if changed && !is_first {
            self.current = (self.current + 1) % self.positions.len();
        }
    }

    /// Records the normals of this frame, where they were asked for, and says whether it did.
    pub fn encode_normals(&self, stage: Option<&NormalsStage>, encoder: &mut wgpu::CommandEncoder) -> bool {
        let (Some(normals), Some(stage)) = (&self.normals, stage) else { return false };
        normals.encode(stage, encoder, self.current);
        true
    }

    /// The buffers as a host sees them.
    #[must_use]
    pub fn view(&self) -> VertexView<'_> {
        VertexView {
            positions: [&self.positions[0], &self.positions[self.positions.len() - 1]],
            current: self.current,
            previous: self.previous,
            normals: self.normals.as_ref().map(VertexNormals::buffer).or(self.directions[0].as_ref()),
            tangents: self.directions[1].as_ref(),
            space: self.space,
            vertex_count: self.vertex_count,
            instance_count: self.instance_count,
        }
    }

    /// Bytes on the device.
    #[must_use]
    pub fn size(&self) -> u64 {
        let view = self.view();
        self.positions.iter().chain(view.normals).chain(view.tangents).map(wgpu::Buffer::size).sum()
    }
}
