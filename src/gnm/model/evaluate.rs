//! The original formula, in f64.

use super::{BindPose, Correctives, GnmFrame, GnmModel};
use crate::error::ControlError;
use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;

/// Vertices that one thread takes at a time.
const CHUNK: usize = 512;

/// The squared angle below which the original program no longer normalises the axis.
const ANGLE_FLOOR: f64 = 1e-8;

impl GnmModel {
    /// One frame of the original formula: identity and expression move the template, identity alone moves the joints, correctives follow the
    /// joint rotations (the root's too), then linear blend skinning along the joint chain. An empty slice means zeros.
    ///
    /// The law: all zeros give the template; the translation moves every vertex by itself where weights sum to 1.
    ///
    /// # Shapes
    /// identity: (I), in sigma; expression: (E), in sigma; rotations: (J, 3), axis-angle in radians; translation: metres
    ///
    /// # Accuracy
    /// 1e-9 m from the original program's f64 path.
    ///
    /// # Errors
    /// `Length`, `NotFinite`.
    pub fn evaluate(
        &self,
        identity: &[f64],
        expression: &[f64],
        rotations: &[[f64; 3]],
        translation: [f64; 3],
        correctives: Correctives,
    ) -> Result<GnmFrame, ControlError> {
        check("expression", expression, self.expression_count())?;
        check("rotations", rotations.as_flattened(), 3 * self.joint_count())?;
        check("translation", &translation, 3)?;
        let BindPose { vertices: mut points, joints } = self.bind_pose(identity)?;
        let turn = |joint: usize| rotations.get(joint).map_or(DMat3::IDENTITY, |&r| rodrigues(DVec3::from_array(r)));
        let turns: Vec<DMat3> = (0..self.joint_count()).map(turn).collect();

        let width = 3 * self.vertex_count();
        let mut terms = active(expression, &self.expression_basis, width);
        let features: Vec<f64> = turns.iter().flat_map(feature).collect();
        if correctives == Correctives::On && !self.pose_correctives.is_empty() {
            terms.extend(active(&features, &self.pose_correctives, width));
        }
        add(&mut points, &terms);

        let joint_worlds = self.worlds(&joints, &turns, DVec3::from_array(translation));
        let skin: Vec<DAffine3> = joint_worlds
            .iter()
            .zip(&joints)
            .map(|(w, j)| *w * DAffine3::from_translation(-DVec3::from_array(*j)))
            .collect();
        points.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, points)| {
            for (i, point) in points.iter_mut().enumerate() {
                *point = self.skin(chunk * CHUNK + i, &skin, DVec3::from_array(*point)).to_array();
            }
        });
        Ok(GnmFrame { positions: points, joint_worlds })
    }

    /// Vertices and joint origins of one identity in the bind pose, without expression: `template + sum_i identity_i basis_i`.
    ///
    /// # Shapes
    /// identity: (I), in sigma, or empty
    ///
    /// # Errors
    /// `Length`, `NotFinite`.
    pub fn bind_pose(&self, identity: &[f64]) -> Result<BindPose, ControlError> {
        check("identity", identity, self.identity_count())?;
        let widen = |rows: &[[f32; 3]]| rows.iter().map(|p| p.map(f64::from)).collect::<Vec<_>>();
        let (mut vertices, mut joints) = (widen(&self.template), widen(&self.template_joints));
        add(&mut vertices, &active(identity, &self.identity_basis, 3 * self.vertex_count()));
        add(&mut joints, &active(identity, &self.joint_identity_basis, 3 * self.joint_count()));
        Ok(BindPose { vertices, joints })
    }

    fn worlds(&self, joints: &[[f64; 3]], turns: &[DMat3], translation: DVec3) -> Vec<DAffine3> {
        let mut worlds: Vec<DAffine3> = Vec::with_capacity(joints.len());
        for (joint, &turn) in turns.iter().enumerate() {
            let origin = DVec3::from_array(joints[joint]);
            let world = match self.joint_parents[joint] {
                None => DAffine3::from_mat3_translation(turn, origin + translation),
                Some(p) => worlds[p] * DAffine3::from_mat3_translation(turn, origin - DVec3::from_array(joints[p])),
            };
            worlds.push(world);
        }
        worlds
    }

    fn skin(&self, vertex: usize, skin: &[DAffine3], point: DVec3) -> DVec3 {
        let weights = self.skinning_weights[vertex..].iter().step_by(self.vertex_count());
        let held = weights.zip(skin).filter(|(w, _)| **w != 0.0);
        held.map(|(&w, m)| f64::from(w) * m.transform_point3(point)).sum()
    }
}

/// The rotation of an axis-angle vector as the original program makes it: below the floor the axis is shorter than 1.
fn rodrigues(r: DVec3) -> DMat3 {
    let angle = r.length_squared().max(ANGLE_FLOOR).sqrt();
    let a = r / angle;
    let k = DMat3::from_cols(DVec3::new(0.0, a.z, -a.y), DVec3::new(-a.z, 0.0, a.x), DVec3::new(a.y, -a.x, 0.0));
    DMat3::IDENTITY + k * angle.sin() + k * k * (1.0 - angle.cos())
}

/// What correctives react to: `R - I`, row-major.
fn feature(turn: &DMat3) -> [f64; 9] {
    (*turn - DMat3::IDENTITY).transpose().to_cols_array()
}

/// The coefficients that are not zero, each with its row of the basis.
fn active<'a>(coefficients: &[f64], basis: &'a [f32], width: usize) -> Vec<(f64, &'a [f32])> {
    let rows = coefficients.iter().zip(basis.chunks_exact(width.max(1)));
    rows.filter(|(c, _)| **c != 0.0).map(|(&c, row)| (c, row)).collect()
}

fn add(points: &mut [[f64; 3]], terms: &[(f64, &[f32])]) {
    points.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, points)| {
        let values = points.as_flattened_mut();
        for (coefficient, row) in terms {
            for (value, &b) in values.iter_mut().zip(&row[3 * CHUNK * chunk..]) {
                *value += coefficient * f64::from(b);
            }
        }
    });
}

fn check(what: &'static str, values: &[f64], expected: usize) -> Result<(), ControlError> {
    if !values.is_empty() && values.len() != expected {
        return Err(ControlError::Length { what, expected, got: values.len() });
    }
    match values.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(ControlError::NotFinite { what, index, value: values[index] as f32 }),
        None => Ok(()),
    }
}
