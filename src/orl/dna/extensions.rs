//! The layers that later file versions add: networks, RBF solvers, joint representations, twist and swing, the operation graph, conventions.

use super::codes::{
    Activation, AutomaticRadius, DistanceMethod, FaceWinding, NormalizeMethod, OperationKind, RbfFunction,
    RotationRepresentation, RotationSequence, SolverKind, TwistAxis,
};
use super::rig::LodMap;

/// Layer `mlbh`: neural networks that write controls.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Networks {
    /// Names of the ML controls: control indices after the correctives.
    pub control_names: Vec<String>,
    /// Networks by level.
    pub lod_networks: LodMap,
    /// (mesh, region) Names.
    pub region_names: Vec<Vec<String>>,
    /// (mesh, region) Network indices of each region.
    pub region_networks: Vec<Vec<Vec<u16>>>,
    /// The networks.
    pub networks: Vec<Network>,
}

/// One fully connected network.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Network {
    /// Control indices that it writes; the file stores them before the inputs.
    pub outputs: Vec<u16>,
    /// Control indices that it reads.
    pub inputs: Vec<u16>,
    /// The layers, first to last; each takes what the one before it gives.
    pub layers: Vec<NetworkLayer>,
}

/// One layer of a network: `activation(weights * input + biases)`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NetworkLayer {
    /// (outputs)
    pub biases: Vec<f32>,
    /// (outputs, inputs)
    pub weights: Vec<f32>,
    /// The function.
    pub activation: Activation,
    /// The function's parameters: the slope for `LeakyRelu`.
    pub parameters: Vec<f32>,
}

/// Layer `rbfb`: solvers that turn raw controls into pose weights.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rbf {
    /// Solvers by level.
    pub lod_solvers: LodMap,
    /// The solvers.
    pub solvers: Vec<RbfSolver>,
    /// The poses of all solvers.
    pub poses: Vec<RbfPose>,
}

/// One RBF solver.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RbfSolver {
    /// Its name.
    pub name: String,
    /// (n) Control indices that it reads.
    pub inputs: Vec<u16>,
    /// (P) Indices into [`Rbf::poses`].
    pub poses: Vec<u16>,
    /// (P, n) The input at each pose.
    pub values: Vec<f32>,
    /// The radius, in the rig's rotation unit for every metric.
    pub radius: f32,
    /// Pose weights at or below it count as zero.
    pub weight_threshold: f32,
    /// How the weights are found.
    pub kind: SolverKind,
    /// Whether `radius` is derived from the poses instead.
    pub automatic_radius: AutomaticRadius,
    /// The metric.
    pub distance: DistanceMethod,
    /// When weights are divided by their sum.
    pub normalize: NormalizeMethod,
    /// The falloff.
    pub function: RbfFunction,
    /// The axis of the swing and twist metrics.
    pub twist_axis: TwistAxis,
}

/// One pose of the RBF solvers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RbfPose {
    /// Its name.
    pub name: String,
    /// A factor on its weight.
    pub scale: f32,
}

/// Layer `rbfe`: what the pose weights do. Empty in 2.4 files, where [`Dna::pose_outputs`](super::Dna::pose_outputs) gives the implied rule.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RbfOutputs {
    /// Names of the RBF pose controls: control indices after the ML ones.
    pub control_names: Vec<String>,
    /// Parallel to [`Rbf::poses`].
    pub poses: Vec<RbfPoseOutput>,
}

/// What the weight of one pose does.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RbfPoseOutput {
    /// Control indices whose product multiplies the weight.
    pub inputs: Vec<u16>,
    /// Control indices that are added to.
    pub outputs: Vec<u16>,
    /// Factors, parallel to `outputs`.
    pub weights: Vec<f32>,
}

/// One entry of layer `jbmd`: how a joint's attributes are represented. Translation and scale are vectors, always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JointRepresentation {
    /// 0: a vector.
    pub translation: u16,
    /// Euler angles or a quaternion.
    pub rotation: RotationRepresentation,
    /// 0: a vector.
    pub scale: u16,
}

/// Layer `twsw`: joints that take part of the twist or swing of a rotation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TwistSwing {
    /// The twists.
    pub twists: Vec<TwistSwingSetup>,
    /// The swings.
    pub swings: Vec<TwistSwingSetup>,
}

/// One twist or swing: the quaternion that four controls hold, blended onto joints.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TwistSwingSetup {
    /// Shares, parallel to `joints`.
    pub weights: Vec<f32>,
    /// Joint indices that are written.
    pub joints: Vec<u16>,
    /// Four control indices: x, y, z, w.
    pub inputs: Vec<u16>,
    /// The axis that is split off.
    pub axis: TwistAxis,
}

/// Layer `mlbe`: networks as a graph of operations, and joints driven by them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OperationGraph {
    /// One entry per type of graph.
    pub types: Vec<OperationType>,
    /// The settings of the ML joints.
    pub joint_parameters: Vec<JointParameter>,
    /// Control indices that the ML joints read.
    pub joint_inputs: Vec<u16>,
    /// Parallel to `joint_inputs`: joint attributes in the ML layout, 9 per joint or 10 where rotations are quaternions.
    pub joint_outputs: Vec<u16>,
}

/// The operation sets of one type. Dependency indices are relative to their own type.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OperationType {
    /// (sets) Operations of the set by level.
    pub lod_operations: Vec<LodMap>,
    /// (sets, operations)
    pub sets: Vec<Vec<Operation>>,
}

/// One operation of the graph.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Operation {
    /// Gather and scatter: control indices. MLP: the network, then optionally (layer, LOD) row counts. Weighted sum: the output count, then weights as the bits of an f32.
    pub parameters: Vec<u32>,
    /// What it consumes, in order.
    pub dependencies: Vec<OperationRef>,
    /// What it does.
    pub kind: OperationKind,
}

/// An operation of the same type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OperationRef {
    /// Index of the set.
    pub set: u16,
    /// Index within the set.
    pub operation: u16,
}

/// One setting of the ML joints.
///
/// Keys: 0 translation type (0 vector), 1 rotation type (0 Euler, 1 quaternion), 2 scale type (0 vector), 3 to 5 the direction of x, y, z,
/// 6 to 8 the rotation sign of x, y, z (1 positive, else negative), 9 the rotation sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JointParameter {
    /// Which setting.
    pub key: u16,
    /// Its value.
    pub value: u16,
}

/// Layer `dsce`: how angles and faces are to be read. Absent means the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conventions {
    /// The order of the Euler angles.
    pub rotation_sequence: RotationSequence,
    /// 1 or -1 for x, y, z: the sense of a positive angle.
    pub rotation_signs: [i32; 3],
    /// The winding of front faces; stored from file version 2.8.
    pub face_winding: FaceWinding,
}

impl Default for Conventions {
    fn default() -> Self {
        Conventions {
            rotation_sequence: RotationSequence::default(),
            rotation_signs: [1; 3],
            face_winding: FaceWinding::default(),
        }
    }
}
