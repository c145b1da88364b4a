//! The enumerations of the file and their numbers.

/// An enumeration stored as its number: variants in file order from 0, the first is the default.
macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $first:ident, $($rest:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[allow(missing_docs)]
        pub enum $name { #[default] $first, $($rest),* }

        impl $name {
            const ALL: &[$name] = &[$name::$first, $($name::$rest),*];
        }

        impl Code for $name {
            fn from_code(code: u32) -> Option<Self> {
                Self::ALL.get(code as usize).copied()
            }
            fn code(self) -> u32 {
                self as u32
            }
            fn legal() -> String {
                format!("{}, 0 to {}", stringify!($name), Self::ALL.len() - 1)
            }
        }
    };
}

/// A number in the file that stands for one of a few meanings.
pub(super) trait Code: Copy {
    fn from_code(code: u32) -> Option<Self>;
    fn code(self) -> u32;
    fn legal() -> String;
}

codes!(
    /// The unit of every translation and position.
    TranslationUnit { Centimetres, Metres }
);
codes!(
    /// The unit of every rotation that is stored as Euler angles, and of the RBF radius.
    RotationUnit { Degrees, Radians }
);
codes!(
    /// Where an axis of the rig's space points.
    Direction { Left, Right, Up, Down, Front, Back }
);
codes!(
    /// The activation function of one network layer; `LeakyRelu` takes its slope from the layer's parameters.
    Activation { Linear, Relu, LeakyRelu, Tanh, Sigmoid }
);
codes!(
    /// How an RBF solver's weights are found: straight from the distances, or through the inverse of the pose matrix.
    SolverKind { Additive, Interpolative }
);
codes!(
    /// Whether an RBF solver derives its radius from its poses. `On` is 0 in the file.
    AutomaticRadius { On, Off }
);
codes!(
    /// The metric between an RBF solver's input and a pose.
    DistanceMethod { Euclidean, Quaternion, SwingAngle, TwistAngle }
);
codes!(
    /// When an RBF solver's weights are divided by their sum.
    NormalizeMethod { OnlyAboveOne, Always }
);
codes!(
    /// The falloff of an RBF solver over the distance.
    RbfFunction { Gaussian, Exponential, Linear, Cubic, Quintic }
);
codes!(
    /// The axis of a twist.
    TwistAxis { X, Y, Z }
);
codes!(
    /// How the rotation of one joint is driven: by three Euler angles, or composed as a quaternion.
    RotationRepresentation { Euler, Quaternion }
);
codes!(
    /// What one operation of the network graph does with its parameters.
    OperationKind { Unspecified, Gather, Scatter, Mlp, WeightedSum }
);
codes!(
    /// The order in which the three Euler angles of a joint are applied.
    RotationSequence { Xyz, Xzy, Yxz, Yzx, Zxy, Zyx }
);
codes!(
    /// The winding of a face whose front is looked at.
    FaceWinding { CounterClockwise, Clockwise }
);
