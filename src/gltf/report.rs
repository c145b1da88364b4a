//! What the loader met and which rule it followed: a counter for each.

use std::fmt;

/// How often each of the loader's rules was followed; all zeros for a file without anything unusual.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadReport {
    /// Vertices whose weights did not sum to 1 and were divided by their sum.
    pub renormalised_vertices: usize,
    /// Vertices without any weight, held by the joint in slot 0.
    pub rigid_vertices: usize,
    /// Weights below zero, taken as zero.
    pub negative_weights: usize,
    /// Lanes of weight zero whose joint index lies outside the skin; it is never read.
    pub idle_joint_indices: usize,
    /// Skins without inverse bind matrices: identity.
    pub skins_without_inverse_binds: usize,
    /// Skinned mesh nodes with a transform of their own, which is ignored.
    pub ignored_mesh_transforms: usize,
    /// Primitives without joints under a node that has a skin: they follow the node.
    pub primitives_without_joints: usize,
    /// Skin joints that the default scene does not hold.
    pub joints_outside_scene: usize,
    /// Skin joints that stand before their parent in the file.
    pub joints_before_parents: usize,
    /// Nodes of the rig whose name another node has too: they go by index.
    pub duplicate_names: usize,
    /// Nodes of the rig without a usable name: they go by index.
    pub unnamed_nodes: usize,
    /// Nodes of the rig with a matrix: no controls.
    pub matrix_nodes: usize,
    /// Roots of the default scene that are another node's children; their ancestors move them.
    pub scene_roots_with_parents: usize,
    /// 1 for a file without scenes: every root counts as shown.
    pub files_without_scene: usize,
    /// Accessors with sparse values.
    pub sparse_accessors: usize,
    /// Floating-point attributes and samples that are kept as integers.
    pub integer_accessors: usize,
    /// Buffer views unpacked from `EXT_meshopt_compression`.
    pub unpacked_views: usize,
    /// Normals, tangents and texture coordinates that are not finite, taken as zero.
    pub non_finite_attributes: usize,
    /// Primitives without positions: they have no vertices.
    pub primitives_without_positions: usize,
    /// Primitives with fewer morph targets than another one of their mesh.
    pub primitives_with_fewer_targets: usize,
    /// Channels that move nothing here: another path, a node with a matrix or outside the rig, weights of a mesh without targets.
    pub ignored_channels: usize,
    /// Channels without keys.
    pub empty_channels: usize,
    /// Channels that move what an earlier channel of the clip moves; the last one counts.
    pub repeated_channels: usize,
    /// Rotation keys that were not of unit length and were normalised.
    pub non_unit_keys: usize,
}

impl LoadReport {
    /// A sentence for each rule that was followed, with its count.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let lines = [
            (self.renormalised_vertices, "vertices whose weights did not sum to 1: divided by their sum"),
            (self.rigid_vertices, "vertices without any weight: held by the joint in slot 0"),
            (self.negative_weights, "negative weights: taken as zero"),
            (self.idle_joint_indices, "joint indices outside the skin with weight zero: not read"),
            (self.skins_without_inverse_binds, "skins without inverse bind matrices: identity"),
            (
                self.ignored_mesh_transforms,
                "skinned mesh nodes with a transform of their own: ignored, as glTF demands",
            ),
            (self.primitives_without_joints, "primitives without joints under a skinned node: they follow the node"),
            (self.joints_outside_scene, "joints outside the default scene: moved all the same"),
            (self.joints_before_parents, "joints that stand before their parents: sorted"),
            (self.duplicate_names, "nodes with a name that others have too: they go by index, as in #12"),
            (self.unnamed_nodes, "nodes without a usable name: they go by index, as in #12"),
            (self.matrix_nodes, "nodes with a matrix: no controls, they stay as they are"),
            (self.scene_roots_with_parents, "scene roots that are children of other nodes: moved by them"),
            (self.files_without_scene, "file without a scene: every root node is shown"),
            (self.sparse_accessors, "sparse accessors"),
            (self.integer_accessors, "attributes or samples kept as integers"),
            (self.unpacked_views, "buffer views unpacked from EXT_meshopt_compression"),
            (self.non_finite_attributes, "normals, tangents or texture coordinates that are not finite: taken as zero"),
            (self.primitives_without_positions, "primitives without positions: no vertices"),
            (self.primitives_with_fewer_targets, "primitives with fewer morph targets than others of their mesh"),
            (self.ignored_channels, "animation channels that move nothing here: ignored"),
            (self.empty_channels, "animation channels without keys: ignored"),
            (self.repeated_channels, "animation channels that repeat an earlier one's target: the last counts"),
            (self.non_unit_keys, "rotation keys not of unit length: normalised"),
        ];
        lines.iter().filter(|(count, _)| *count > 0).map(|(count, text)| format!("{count} {text}")).collect()
    }
}

impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.notes().iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}
