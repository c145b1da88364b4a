//! The characters: three rigs that have nothing in common but the trait, all driven by the same ARKit weights.

use rigeval::backend::RigBackend;
use rigeval::error::ControlError;
use rigeval::expression::performance::Performance;
use rigeval::expression::{ArkitMap, ArkitShape, Gaze};
use rigeval::files::Files;
use rigeval::glam::{Affine3A, Quat, Vec3};
use rigeval::gpu::GpuContext;
use rigeval::head::HeadSize;
use rigeval::info::RigKind;
use rigeval::orl;
use rigeval::scene::{self, Scene, SceneError, SceneOptions, SceneSpace};
use rigeval::skeleton::JointOverride;
use std::collections::BTreeMap;

/// From the middle of one character to that of the next, metres.
pub const SPACING_M: f32 = 0.29;

/// A rig on the device, what its controls mean, and where it stands.
pub struct Character {
    pub name: &'static str,
    pub rig: Box<dyn RigBackend>,
    space: SceneSpace,
    controls: Vec<f32>,
    /// The axes of neck and head at rest, which overrides turn about.
    joint_axes: Quat,
    /// Where the middle of the rest mesh stands, metres.
    pub place: Vec3,
}

impl Character {
    fn open(gpu: &GpuContext, name: &'static str, backend: &str, pack: Vec<u8>) -> Result<Character, SceneError> {
        // A bundle on disk has this text in its scene.json, and is opened by its folder: Files::Folder.
        let scene = format!(
            r#"{{"rig": {{"backend": "{backend}", "pack": "pack"}}, "expression_space": {{"kind": "arkit52", "dim": 52}}}}"#
        );
        let files = Files::Memory(BTreeMap::from([("scene.json".into(), scene.into()), ("pack".into(), pack)]));
        let options = SceneOptions { normals: true, previous_positions: true, arkit: Some(ArkitMap::HandMade) };
        let Scene { rig, space, .. } = scene::open_with(&files, gpu, 1, &options)?;
        let controls = rig.info().default_controls.clone();
        // A MetaHuman's bones have their x along the neck; the joints of the other two heads stand as the head does.
        let joint_axes = match rig.info().kind {
            RigKind::Orl => Quat::from_rotation_z(std::f32::consts::FRAC_PI_2),
            _ => Quat::IDENTITY,
        };
        Ok(Character { name, rig, space, controls, joint_axes, place: Vec3::ZERO })
    }

    /// From the rig's own space and unit to the world, in metres: turned about the middle of the rest mesh, then put in its place.
    pub fn world_from_rig(&self, turn: Quat) -> Affine3A {
        let info = self.rig.info();
        let middle = (Vec3::from(info.rest_bounds.min) + Vec3::from(info.rest_bounds.max)) / 2.0;
        let scale = Vec3::splat(info.units.in_metres() as f32);
        Affine3A::from_scale_rotation_translation(scale, turn, self.place) * Affine3A::from_translation(-middle)
    }

    /// Sets the controls to one moment of the performance.
    ///
    /// Only this can fail once a rig is loaded: weights may come from anywhere, such as a network.
    pub fn perform(&mut self, seconds: f64) -> Result<(), ControlError> {
        let moment = Performance::at(seconds);
        let weights = looking(&moment);
        // The scene's space says which column is which shape, and the map what each of them means to this rig.
        let space = self.space.space();
        let mut columns = vec![0.0; space.dim()];
        for shape in ArkitShape::ALL {
            if let Some(column) = space.column(shape) {
                columns[column] = weights[shape as usize];
            }
        }
        self.space.controls(&columns, &mut self.controls)?;
        self.rig.set_controls(0, &self.controls)?;
        // Joints are no part of ARKit: a body, or here the performance, turns them. A rig skips the names it does not have.
        let axes = self.joint_axes;
        let turn = |joint, by: Quat| JointOverride { joint, rotation: axes.inverse() * by * axes };
        let turns = [turn("neck", moment.neck), turn("neck_01", moment.neck), turn("head", moment.head)];
        self.rig.set_joint_overrides(0, &turns)?;
        Ok(())
    }
}

/// The weights of a moment, with its gaze in them.
fn looking(moment: &Performance) -> [f32; 52] {
    use ArkitShape as A;
    let gaze = Gaze::toward(moment.target, [[0.0; 3]; 2]).clamped();
    let mut weights = moment.weights;
    let mut look = |shapes: [A; 2], angle: f32| {
        for shape in shapes {
            weights[shape as usize] = (angle / GAZE_RAD).clamp(0.0, 1.0);
        }
    };
    look([A::EyeLookDownLeft, A::EyeLookDownRight], gaze.pitch);
    look([A::EyeLookUpLeft, A::EyeLookUpRight], -gaze.pitch);
    look([A::EyeLookOutLeft, A::EyeLookInRight], gaze.yaw);
    look([A::EyeLookInLeft, A::EyeLookOutRight], -gaze.yaw);
    weights
}

/// What an `eyeLook` weight of 1 turns an eye by, radians.
const GAZE_RAD: f32 = 20.0 * std::f32::consts::PI / 180.0;

/// GNM, ORL and glTF, from left to right.
pub fn three_heads(gpu: &GpuContext) -> Result<Vec<Character>, Box<dyn std::error::Error>> {
    let dna = orl::sample::sample(HeadSize::Small).write(orl::sample::FILE_VERSION)?;
    let mut heads = vec![
        Character::open(gpu, "gnm", "gnm", include_bytes!("../../packs/gnm_sample.aosrig").to_vec())?,
        Character::open(gpu, "orl", "orl", dna)?,
        Character::open(gpu, "gltf", "gltf", include_bytes!("../../packs/gltf_sample.glb").to_vec())?,
    ];
    for (index, head) in heads.iter_mut().enumerate() {
        head.place.x = (index as f32 - 1.0) * SPACING_M;
    }
    Ok(heads)
}
