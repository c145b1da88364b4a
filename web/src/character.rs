//! A rig on the device, with everything that drives it.

use crate::face::Face;
use rigeval::backend::RigBackend;
use rigeval::error::{BackendError, ControlError};
use rigeval::expression::ExpressionMap;
use rigeval::glam::{DAffine3, DQuat, DVec3, EulerRot, Quat};
use rigeval::gltf;
use rigeval::gltf::face::GltfFace;
use rigeval::gltf::gpu::{GltfBackend, GltfDeviceModel, GltfOptions};
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::gnm;
use rigeval::gnm::gpu::{GnmBackend, GnmDeviceModel, GnmOptions};
use rigeval::gnm::pose::{GnmPose, Stage};
use rigeval::gpu::GpuContext;
use rigeval::orl;
use rigeval::orl::gpu::{OrlBackend, OrlDeviceModel, OrlOptions};
use rigeval::orl::instance::OrlInstance;
use rigeval::scene::{SceneData, SceneRig};
use rigeval::skeleton::humanoid::HumanoidBone;
use rigeval::skeleton::vrm::VrmVersion;
use rigeval::skeleton::{JointInput, JointOverride, Skeleton};
use std::sync::Arc;

/// One head on the device.
pub struct Character {
    rig: SceneRig,
    backend: Box<dyn RigBackend>,
    /// From ARKit weights to controls; of a file without a face none.
    map: Option<ExpressionMap>,
    /// How the character stands: glTF looks along +Z, VRM 0.x along -Z.
    facing: DQuat,
    /// Neck and head: which joint, and its axes at rest, as the character sees them.
    turns: [Option<(String, DQuat)>; 2],
    eyes: Eyes,
    controls: Vec<f32>,
    overrides: Vec<(String, Quat)>,
}

/// Where the eyes are, in the space of a gaze.
struct Eyes {
    middle: DVec3,
    /// From the space and unit of the vertices.
    local_from_output: DAffine3,
}

impl Character {
    /// Puts a rig on the device, at rest.
    ///
    /// # Errors
    /// A device too small for it, a rig without triangles.
    pub fn new(gpu: &GpuContext, scene: SceneData) -> Result<Character, BackendError> {
        let SceneData { rig, space, .. } = scene;
        let backend = backend(gpu, &rig)?;
        let (skeleton, worlds) = rest_worlds(&rig);
        let humanoid = skeleton.humanoid();
        let joint = |bone: HumanoidBone, name: &str| humanoid.joints.get(&bone).copied().or(skeleton.joint(name));
        let facing = facing(&rig);
        let turn = |bone, name| {
            let joint: usize = joint(bone, name)?;
            let (_, rotation, _) = worlds[joint].to_scale_rotation_translation();
            Some((skeleton.names()[joint].clone(), facing.inverse() * rotation))
        };
        let turns = [turn(HumanoidBone::Neck, "neck_01"), turn(HumanoidBone::Head, "head")];
        let eyes = match &rig {
            SceneRig::Gnm(pack) => {
                let [left, right] = pack.eye_positions().map(|p| DVec3::from(p.map(f64::from)));
                Eyes { middle: (left + right) / 2.0, local_from_output: pack.bind_transform().inverse() }
            }
            SceneRig::Orl(_) => {
                let left = joint(HumanoidBone::LeftEye, "FACIAL_L_Eye");
                let right = joint(HumanoidBone::RightEye, "FACIAL_R_Eye");
                Eyes::at([left, right], &worlds, facing, &*backend)
            }
            SceneRig::Gltf(model) => {
                let eyes = GltfFace::of(model).eyes.map(|eye| eye.ok().map(|eye| eye.joint));
                Eyes::at(eyes, &worlds, facing, &*backend)
            }
        };
        let controls = backend.info().default_controls.clone();
        let map = space.arkit().ok().cloned();
        Ok(Character { map, rig, backend, facing, turns, eyes, controls, overrides: Vec::new() })
    }

    /// The rig on the device.
    pub fn backend(&self) -> &dyn RigBackend {
        &*self.backend
    }

    /// The same, to be encoded.
    pub fn backend_mut(&mut self) -> &mut dyn RigBackend {
        &mut *self.backend
    }

    /// The controls as they were last set.
    pub fn controls(&self) -> &[f32] {
        &self.controls
    }

    /// Whether each shape, alone and at its full weight, moves anything.
    pub fn drives(&self) -> [bool; 52] {
        let Some(map) = &self.map else { return [false; 52] };
        let controls = |weights: &[f32; 52]| {
            let mut controls = vec![0.0; map.dim()];
            map.controls(weights, &mut controls).map(|()| controls)
        };
        let rest = controls(&[0.0; 52]);
        std::array::from_fn(|shape| {
            let mut weights = [0.0; 52];
            weights[shape] = 1.0;
            controls(&weights) != rest
        })
    }

    /// What turns the joints, as the command line takes it: JSON, joint to w, x, y, z.
    pub fn overrides_json(&self) -> String {
        let entry = |(joint, q): &(String, Quat)| format!("{joint:?}: [{}, {}, {}, {}]", q.w, q.x, q.y, q.z);
        format!("{{{}}}", self.overrides.iter().map(entry).collect::<Vec<_>>().join(", "))
    }

    /// Sets controls and joints to what a face does; a file without a face plays its first clip.
    ///
    /// # Errors
    /// Weights that are no numbers.
    pub fn set(&mut self, face: &Face) -> Result<(), ControlError> {
        let Some(map) = &self.map else { return self.set_clip(face.moment_s) };
        map.controls(&face.weights, &mut self.controls)?;
        if let (SceneRig::Gnm(_), Some(gaze)) = (&self.rig, face.gaze) {
            // These rigs turn their eyes by angles, which reach further than the weights.
            let gaze_at = self.controls.len() - 4;
            self.controls[gaze_at..].copy_from_slice(&gaze.controls());
        }
        self.overrides.clear();
        for (turn, by) in self.turns.iter().zip([face.neck, face.head]) {
            if let Some((joint, axes)) = turn {
                let by = axes.inverse() * by.as_dquat() * *axes;
                self.overrides.push((joint.clone(), by.as_quat()));
            }
        }
        self.backend.set_controls(0, &self.controls)?;
        self.backend.set_joint_overrides(0, &joint_overrides(&self.overrides))?;
        Ok(())
    }

    fn set_clip(&mut self, moment_s: f64) -> Result<(), ControlError> {
        let SceneRig::Gltf(model) = &self.rig else { return Ok(()) };
        let Some(clip) = model.clips().first() else { return Ok(()) };
        self.controls.copy_from_slice(&self.backend.info().default_controls);
        // At rest before it first plays, and again after a reset.
        if moment_s > 0.0 {
            let length_s = f64::from(clip.end()).max(f64::MIN_POSITIVE);
            clip.sample(moment_s.rem_euclid(length_s), &mut clip.cursor(), &mut self.controls);
        }
        self.backend.set_controls(0, &self.controls)?;
        Ok(())
    }

    /// How the character stands, about +Y, radians.
    pub fn facing_rad(&self) -> f32 {
        self.facing.to_euler(EulerRot::YXZ).0 as f32
    }

    /// The offset of a point from the middle of the eyes at rest, as a gaze takes it.
    pub fn offset_from_eyes(&self, point: DVec3) -> [f32; 3] {
        (self.eyes.local_from_output.transform_point3(point) - self.eyes.middle).as_vec3().to_array()
    }

    /// The middle of the eyes at rest, in the space and unit of the vertices.
    pub fn eye_middle(&self) -> DVec3 {
        self.eyes.local_from_output.inverse().transform_point3(self.eyes.middle)
    }

    /// The vertices that the CPU reference gives for the same controls and joints.
    ///
    /// # Errors
    /// What the device refused, too.
    pub fn reference(&self) -> Result<Vec<[f32; 3]>, ControlError> {
        let overrides = joint_overrides(&self.overrides);
        match &self.rig {
            SceneRig::Gnm(pack) => {
                let mut pose = GnmPose::new(pack);
                pose.set_controls(pack, &self.controls)?;
                pose.set_joint_overrides(pack, &overrides)?;
                Ok(gnm::cpu::gnm_blend(pack, &pose, Stage::Pose))
            }
            SceneRig::Orl(rig) => {
                let mut instance = OrlInstance::new(rig);
                instance.set_controls(rig, &self.controls)?;
                instance.set_joint_overrides(rig, &overrides)?;
                Ok(orl::cpu::orl_deform(rig.mesh(), instance.pose()))
            }
            SceneRig::Gltf(model) => {
                let mut pose = GltfPose::new(model, OutputSpace::World);
                pose.set_controls(model, &self.controls)?;
                pose.set_joint_overrides(model, &overrides)?;
                Ok(gltf::cpu::gltf_morph(model.mesh(), &pose))
            }
        }
    }
}

fn backend(gpu: &GpuContext, rig: &SceneRig) -> Result<Box<dyn RigBackend>, BackendError> {
    Ok(match rig {
        SceneRig::Gnm(pack) => {
            let model = Arc::new(GnmDeviceModel::new(gpu, Arc::clone(pack)).map_err(BackendError::Limit)?);
            Box::new(GnmBackend::new(gpu, &model, 1, GnmOptions { normals: true, ..GnmOptions::default() })?)
        }
        SceneRig::Orl(rig) => {
            let model = Arc::new(OrlDeviceModel::new(gpu, Arc::clone(rig))?);
            Box::new(OrlBackend::new(gpu, &model, 1, OrlOptions { normals: true, ..OrlOptions::default() })?)
        }
        SceneRig::Gltf(model) => {
            let model = Arc::new(GltfDeviceModel::new(gpu, Arc::clone(model))?);
            Box::new(GltfBackend::new(gpu, &model, 1, GltfOptions { normals: true, ..GltfOptions::default() })?)
        }
    })
}

fn facing(rig: &SceneRig) -> DQuat {
    match rig {
        SceneRig::Gltf(model) if matches!(model.vrm(), Ok(Some(table)) if table.version == VrmVersion::V0) => {
            DQuat::from_rotation_y(std::f64::consts::PI)
        }
        _ => DQuat::IDENTITY,
    }
}

fn rest_worlds(rig: &SceneRig) -> (&Skeleton, Vec<DAffine3>) {
    match rig {
        SceneRig::Gnm(pack) => (pack.skeleton(), pack.skeleton().worlds(pack.rest_locals(), &JointInput::default())),
        SceneRig::Orl(rig) => (rig.model().skeleton(), rig.model().rest_worlds()),
        SceneRig::Gltf(model) => (model.skeleton(), GltfPose::new(model, OutputSpace::World).worlds().to_vec()),
    }
}

impl Eyes {
    /// Eyes at two joints; without them in front, two thirds up.
    fn at(joints: [Option<usize>; 2], worlds: &[DAffine3], facing: DQuat, rig: &dyn RigBackend) -> Eyes {
        let middle = match joints {
            [Some(left), Some(right)] => (worlds[left].translation + worlds[right].translation) / 2.0,
            _ => {
                let bounds = rig.info().rest_bounds;
                let [min, max] = [bounds.min, bounds.max].map(|p| DVec3::from(p.map(f64::from)));
                let front = facing * DVec3::Z;
                let middle = (min + max) / 2.0 + front * (max.z - min.z) / 2.0;
                DVec3 { y: min.y + (max.y - min.y) * 2.0 / 3.0, ..middle }
            }
        };
        let local_from_output = DAffine3::from_quat(facing.inverse());
        Eyes { middle: local_from_output.transform_point3(middle), local_from_output }
    }
}

fn joint_overrides(overrides: &[(String, Quat)]) -> Vec<JointOverride<'_>> {
    overrides.iter().map(|(joint, rotation)| JointOverride { joint, rotation: *rotation }).collect()
}
