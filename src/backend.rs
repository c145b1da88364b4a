//! The trait in front of every rig, and the view of what it computed.

use crate::error::ControlError;
use crate::info::{JointId, RigInfo, RigMesh};
use crate::math::Aabb;
use crate::skeleton::JointOverride;
use glam::Affine3A;

/// A rig on the GPU: controls in, posed vertices out. Object-safe; a renderer holds a `Box<dyn RigBackend>`.
///
/// The host owns device, queue, encoder and submit. Nothing here creates a device, submits, polls or reads back.
/// Only the `set_*` calls can fail, and what they refuse leaves the previous state in place. The errors they name are variants of
/// [`ControlError`].
///
/// # Panics
/// Every method that takes an instance panics, naming both numbers, when it is not below the instance count.
pub trait RigBackend: wgpu::WasmNotSendSync {
    /// Kind, unit, sizes, names, rest bounds.
    fn info(&self) -> &RigInfo;

    /// What to draw.
    fn mesh(&self) -> &RigMesh;

    /// Sets one instance's controls and says whether anything changed (compared as f32).
    ///
    /// # Shapes
    /// controls: (C)
    ///
    /// # Errors
    /// `Length`, `NotFinite`.
    fn set_controls(&mut self, instance: usize, controls: &[f32]) -> Result<bool, ControlError>;

    /// Sets every instance's controls; all of them, or on an error none.
    ///
    /// # Shapes
    /// controls: (N, C)
    ///
    /// # Errors
    /// `Length`, `NotFinite`.
    fn set_controls_all(&mut self, controls: &[f32]) -> Result<bool, ControlError>;

    /// Replaces one instance's joint overrides: each joint's local `T * R * S` becomes `T * R * R(q) * S`.
    ///
    /// Rebuilt from the rig's own joints on each call, never accumulated; a joint left out goes back. Joints the rig does not have are
    /// skipped ([`RigInfo::unknown_joints`] names them).
    ///
    /// # Errors
    /// `Quaternion`, `DuplicateJoint`.
    fn set_joint_overrides(&mut self, instance: usize, overrides: &[JointOverride]) -> Result<bool, ControlError>;

    /// Replaces the joint worlds that the host dictates; every other joint is recomposed from its parent with its own local, overrides included.
    ///
    /// An empty list gives the rig back its own worlds. A joint that has both follows its world.
    ///
    /// # Errors
    /// `JointId`, `DuplicateJoint`, `NotFinite`.
    fn set_joint_worlds(&mut self, instance: usize, worlds: &[(JointId, Affine3A)]) -> Result<bool, ControlError>;

    /// Uploads what changed and records the dispatch; with nothing changed it uploads and records nothing.
    ///
    /// At most one call per backend object and submit: `Queue::write_buffer` lands before the whole submit, so a second call would
    /// overwrite what the first one recorded.
    fn encode(&mut self, queue: &wgpu::Queue, encoder: &mut wgpu::CommandEncoder);

    /// The buffers that hold the vertices; valid before the first `encode`, with the rest mesh in them.
    fn vertices(&self) -> VertexView<'_>;

    /// A box that holds every vertex of one instance at its current controls and joints, in the space and unit of the output.
    fn bounds(&self, instance: usize) -> Aabb;
}

/// The space that posed vertices are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum VertexSpace {
    /// One space for the whole rig; glTF: the world of the default scene.
    #[default]
    Rig,
    /// Each part of a glTF file in the space of its mesh node's parent, which is where a scene graph draws it.
    MeshParent,
}

/// Where the posed vertices are: instance-major, tightly packed, file order.
///
/// All buffers have the usages `VERTEX`, `STORAGE`, `COPY_SRC` and `COPY_DST`. The two position buffers keep their identity for the life of
/// the backend; which of them is current changes from frame to frame.
#[derive(Debug, Clone, Copy)]
pub struct VertexView<'a> {
    /// The position buffers: one, or two where previous positions were asked for. (N, V, 3) f32 each.
    pub positions: [&'a wgpu::Buffer; 2],
    /// Which of `positions` holds this frame.
    pub current: usize,
    /// Which of `positions` holds the last frame: the same as `current` when nothing moved, at the first frame, or without that option.
    pub previous: usize,
    /// Unit vertex normals, (N, V, 3) f32, where they were asked for.
    pub normals: Option<&'a wgpu::Buffer>,
    /// Unit tangents with handedness, (N, V, 4) f32, where the rig has them and they were asked for.
    pub tangents: Option<&'a wgpu::Buffer>,
    /// The space that they are in, directions included.
    pub space: VertexSpace,
    /// V.
    pub vertex_count: usize,
    /// N.
    pub instance_count: usize,
}

impl<'a> VertexView<'a> {
    /// The buffer of this frame's positions.
    #[must_use]
    pub fn current_positions(&self) -> &'a wgpu::Buffer {
        self.positions[self.current]
    }

    /// The buffer of the last frame's positions.
    #[must_use]
    pub fn previous_positions(&self) -> &'a wgpu::Buffer {
        self.positions[self.previous]
    }

    /// The byte offset of one instance in a position or normal buffer.
    #[must_use]
    pub fn instance_offset_bytes(&self, instance: usize) -> u64 {
        instance as u64 * self.vertex_count as u64 * 12
    }
}
