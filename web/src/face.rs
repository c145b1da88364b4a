//! What the face is told to do, whichever rig shows it.

use rigeval::expression::ArkitShape as A;
use rigeval::expression::performance::Performance;
use rigeval::expression::{ArkitShape, Gaze};
use rigeval::glam::Quat;

/// The turn of an eye that an `eyeLook` weight of 1 stands for, as in the maps of the library.
const LOOK_RAD: f32 = 20.0 * std::f32::consts::PI / 180.0;

/// The `eyeLook` shapes of each eye: down, up, to the character's left, to its right.
const LOOKS: [[ArkitShape; 4]; 2] = [
    [A::EyeLookDownLeft, A::EyeLookUpLeft, A::EyeLookOutLeft, A::EyeLookInLeft],
    [A::EyeLookDownRight, A::EyeLookUpRight, A::EyeLookInRight, A::EyeLookOutRight],
];

/// Weights, gaze and head turns of one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Face {
    /// The moment of what plays, seconds.
    pub moment_s: f64,
    /// ARKit weights, 0..1, by the shapes' discriminants. Those of `eyeLook` say what the gaze does, as well as they can.
    pub weights: [f32; 52],
    /// Both eyes; none where the `eyeLook` weights were set by hand.
    pub gaze: Option<Gaze>,
    /// What the neck turns by, on top of its rest, in the character's axes.
    pub neck: Quat,
    /// What the head turns by.
    pub head: Quat,
}

impl Default for Face {
    fn default() -> Face {
        Face { moment_s: 0.0, weights: [0.0; 52], gaze: None, neck: Quat::IDENTITY, head: Quat::IDENTITY }
    }
}

impl Face {
    /// A moment of the library's performance.
    pub fn performing(moment_s: f64) -> Face {
        let Performance { weights, target, neck, head } = Performance::at(moment_s);
        let mut face = Face { moment_s, weights, gaze: None, neck, head };
        face.look(Gaze::toward(target, [[0.0; 3]; 2]));
        face
    }

    /// Sets one weight by hand; one of `eyeLook` takes the eyes from what they looked at.
    pub fn set_weight(&mut self, index: usize, weight: f32) {
        self.weights[index] = weight;
        if LOOKS.as_flattened().iter().any(|look| *look as usize == index) {
            self.gaze = None;
        }
    }

    /// Turns both eyes, as far as they go.
    pub fn look(&mut self, gaze: Gaze) {
        let gaze = gaze.clamped();
        let shares = [gaze.pitch, -gaze.pitch, gaze.yaw, -gaze.yaw].map(|angle| (angle / LOOK_RAD).clamp(0.0, 1.0));
        for (look, share) in LOOKS.iter().flat_map(|eye| eye.iter().zip(shares)) {
            self.weights[*look as usize] = share;
        }
        self.gaze = Some(gaze);
    }
}
