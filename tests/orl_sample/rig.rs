//! The sample rigs, ready to pose, and what the ARKit names lead to.

use rigeval::head::HeadSize;
use rigeval::orl::cpu::orl_deform;
use rigeval::orl::dna::Dna;
use rigeval::orl::mesh::OrlMesh;
use rigeval::orl::model::OrlModel;
use rigeval::orl::pose::OrlPose;
use rigeval::orl::riglogic::{RigLogic, RigState, RotationOutput};
use rigeval::orl::sample::sample;
use rigeval::sparse::DeltaFormat;
use std::sync::LazyLock;

/// ARKit shapes and the raw controls that they lead to, as public rigs wire them.
pub const ARKIT: [(&str, &[&str]); 52] = [
    ("browDownLeft", &["browDownL"]),
    ("browDownRight", &["browDownR"]),
    ("browInnerUp", &["browRaiseInL", "browRaiseInR"]),
    ("browOuterUpLeft", &["browRaiseOuterL"]),
    ("browOuterUpRight", &["browRaiseOuterR"]),
    ("cheekPuff", &["mouthCheekBlowL", "mouthCheekBlowR"]),
    ("cheekSquintLeft", &["eyeCheekRaiseL"]),
    ("cheekSquintRight", &["eyeCheekRaiseR"]),
    ("eyeBlinkLeft", &["eyeBlinkL"]),
    ("eyeBlinkRight", &["eyeBlinkR"]),
    ("eyeLookDownLeft", &["eyeLookDownL"]),
    ("eyeLookDownRight", &["eyeLookDownR"]),
    ("eyeLookInLeft", &["eyeLookRightL"]),
    ("eyeLookInRight", &["eyeLookLeftR"]),
    ("eyeLookOutLeft", &["eyeLookLeftL"]),
    ("eyeLookOutRight", &["eyeLookRightR"]),
    ("eyeLookUpLeft", &["eyeLookUpL"]),
    ("eyeLookUpRight", &["eyeLookUpR"]),
    ("eyeSquintLeft", &["eyeSquintInnerL"]),
    ("eyeSquintRight", &["eyeSquintInnerR"]),
    ("eyeWideLeft", &["eyeWidenL"]),
    ("eyeWideRight", &["eyeWidenR"]),
    ("jawForward", &["jawFwd"]),
    ("jawLeft", &["jawLeft"]),
    ("jawOpen", &["jawOpen"]),
    ("jawRight", &["jawRight"]),
    ("mouthClose", &["mouthLipsTogetherUL", "mouthLipsTogetherUR", "mouthLipsTogetherDL", "mouthLipsTogetherDR"]),
    ("mouthDimpleLeft", &["mouthDimpleL"]),
    ("mouthDimpleRight", &["mouthDimpleR"]),
    ("mouthFrownLeft", &["mouthCornerDepressL"]),
    ("mouthFrownRight", &["mouthCornerDepressR"]),
    ("mouthFunnel", &["mouthFunnelUL", "mouthFunnelUR", "mouthFunnelDL", "mouthFunnelDR"]),
    ("mouthLeft", &["mouthLeft"]),
    ("mouthLowerDownLeft", &["mouthLowerLipDepressL"]),
    ("mouthLowerDownRight", &["mouthLowerLipDepressR"]),
    ("mouthPressLeft", &["mouthPressUL", "mouthPressDL"]),
    ("mouthPressRight", &["mouthPressUR", "mouthPressDR"]),
    ("mouthPucker", &["mouthLipsPurseUL", "mouthLipsPurseUR", "mouthLipsPurseDL", "mouthLipsPurseDR"]),
    ("mouthRight", &["mouthRight"]),
    ("mouthRollLower", &["mouthLowerLipRollInL", "mouthLowerLipRollInR"]),
    ("mouthRollUpper", &["mouthUpperLipRollInL", "mouthUpperLipRollInR"]),
    ("mouthShrugLower", &["jawChinRaiseDL", "jawChinRaiseDR"]),
    ("mouthShrugUpper", &["jawChinRaiseUL", "jawChinRaiseUR"]),
    ("mouthSmileLeft", &["mouthCornerPullL"]),
    ("mouthSmileRight", &["mouthCornerPullR"]),
    ("mouthStretchLeft", &["mouthStretchL"]),
    ("mouthStretchRight", &["mouthStretchR"]),
    ("mouthUpperUpLeft", &["mouthUpperLipRaiseL"]),
    ("mouthUpperUpRight", &["mouthUpperLipRaiseR"]),
    ("noseSneerLeft", &["noseWrinkleL"]),
    ("noseSneerRight", &["noseWrinkleR"]),
    ("tongueOut", &["tongueOut"]),
];

pub const HEAD: usize = 0;
pub const TEETH: usize = 1;
pub const LEFT_EYE: usize = 2;
pub const RIGHT_EYE: usize = 3;

/// A rig that is ready to pose.
pub struct Rig {
    pub dna: Dna,
    pub logic: RigLogic,
    model: OrlModel,
    meshes: Vec<OrlMesh>,
}

pub static FULL: LazyLock<Rig> = LazyLock::new(|| Rig::new(HeadSize::Full));
pub static SMALL: LazyLock<Rig> = LazyLock::new(|| Rig::new(HeadSize::Small));

/// The vertices of every mesh of a level.
pub type Posed = Vec<Vec<[f32; 3]>>;

impl Rig {
    pub fn new(size: HeadSize) -> Rig {
        let dna = sample(size);
        let model = OrlModel::new(&dna);
        let mesh = |index: usize| OrlMesh::new(&dna, &model, index, DeltaFormat::F32).unwrap();
        let meshes = (0..dna.meshes.len()).map(mesh).collect();
        Rig { logic: RigLogic::new(&dna, RotationOutput::Euler).unwrap(), meshes, model, dna }
    }

    pub fn raw(&self, name: &str) -> usize {
        let name = format!("CTRL_expressions.{name}");
        self.dna.control(&name).unwrap_or_else(|| panic!("no control {name}"))
    }

    pub fn state(&self, raw: &[&str], lod: usize) -> RigState {
        let mut state = RigState::new(&self.logic);
        raw.iter().for_each(|name| state.raw_mut()[self.raw(name)] = 1.0);
        self.logic.evaluate(&mut state, lod);
        state
    }

    pub fn posed(&self, raw: &[&str], lod: usize) -> Posed {
        let state = self.state(raw, lod);
        let mut pose = OrlPose::new(&self.model);
        pose.set_solved(&self.model, RotationOutput::Euler, state.joints(), state.blend_shapes()).unwrap();
        let shown = self.dna.definition.lod_meshes.list(lod);
        shown.iter().map(|&mesh| orl_deform(&self.meshes[usize::from(mesh)], &pose)).collect()
    }

    pub fn arkit(&self, shape: &str) -> Posed {
        self.posed(ARKIT.iter().find(|(name, _)| *name == shape).unwrap().1, 0)
    }

    pub fn rest(&self, lod: usize) -> Posed {
        self.posed(&[], lod)
    }
}

pub fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub fn length(d: [f32; 3]) -> f32 {
    d.iter().map(|x| x * x).sum::<f32>().sqrt()
}

/// The vertex of a mesh nearest to a place.
pub fn nearest(vertices: &[[f32; 3]], place: [f32; 3]) -> usize {
    let distance = |v: &usize| length(minus(vertices[*v], place));
    (0..vertices.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap()
}

/// The way of the vertex of the head that is nearest to a place at rest.
pub fn way(rest: &Posed, posed: &Posed, place: [f32; 3]) -> [f32; 3] {
    let vertex = nearest(&rest[HEAD], place);
    minus(posed[HEAD][vertex], rest[HEAD][vertex])
}

pub fn largest(rest: &Posed, posed: &Posed) -> f32 {
    let pairs = rest.iter().flatten().zip(posed.iter().flatten());
    pairs.map(|(a, b)| length(minus(*b, *a))).fold(0.0, f32::max)
}
