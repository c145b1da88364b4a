//! The original formula, frame by frame, on the CPU.

use super::in_frame;
use crate::failure::Failure;
use crate::progress;
use rayon::prelude::*;
use rigeval::gnm::model::{Correctives, GnmModel};
use rigeval::math;
use rigeval::normals::{Incidence, normals};
use std::time::{Duration, Instant};

/// What drives the original formula; each input has F frames or one for all.
#[derive(Default)]
pub struct ModelInputs {
    /// F.
    pub frame_count: usize,
    /// (F or 1, I).
    pub identity: Vec<f64>,
    /// (F or 1, E).
    pub expression: Vec<f64>,
    /// (F or 1, J, 3).
    pub rotations: Vec<f64>,
    /// (F or 1, 3).
    pub translation: Vec<f64>,
}

/// What comes out of the original formula.
pub struct ModelFrames {
    /// (F, V, 3).
    pub positions: Vec<f64>,
    /// (F, J, 4, 4), row-major.
    pub joints: Vec<f64>,
    /// (F, V, 3), where wanted.
    pub normals: Option<Vec<f32>>,
    /// Evaluation alone.
    pub time: Duration,
}

/// Every frame of the original formula, on the CPU.
pub fn model(
    model: &GnmModel,
    inputs: &ModelInputs,
    correctives: Correctives,
    with_normals: bool,
) -> Result<ModelFrames, Failure> {
    let bar = progress::bar("evaluating on the CPU", inputs.frame_count);
    let start = Instant::now();
    let (identities, expressions) = (model.identity_names.len(), model.expression_names.len());
    let joints = model.joint_names.len();
    let evaluate = |frame: usize| {
        let rotations = row(&inputs.rotations, frame, joints * 3).as_chunks::<3>().0;
        let t = row(&inputs.translation, frame, 3);
        let evaluated = model.evaluate(
            row(&inputs.identity, frame, identities),
            row(&inputs.expression, frame, expressions),
            rotations,
            [t[0], t[1], t[2]],
            correctives,
        );
        bar.inc(1);
        evaluated.map_err(in_frame(frame))
    };
    let evaluated: Vec<_> = (0..inputs.frame_count).into_par_iter().map(evaluate).collect::<Result<_, _>>()?;
    let incidence = with_normals.then(|| Incidence::new(&model.triangles, model.template.len()));
    let normals = incidence.map(|incidence| {
        let narrow = |p: &[f64; 3]| p.map(|x| x as f32);
        let of_frame = |positions: &[[f64; 3]]| {
            let positions: Vec<[f32; 3]> = positions.iter().map(narrow).collect();
            normals(&positions, &model.triangles, &incidence).into_flattened()
        };
        evaluated.par_iter().flat_map_iter(|frame| of_frame(&frame.positions)).collect()
    });
    let time = start.elapsed();
    bar.finish_and_clear();
    Ok(ModelFrames {
        positions: evaluated.iter().flat_map(|frame| frame.positions.as_flattened()).copied().collect(),
        joints: evaluated.iter().flat_map(|f| &f.joint_worlds).flat_map(math::row_major_from_affine).collect(),
        normals,
        time,
    })
}

/// One frame of an input; a single one serves all.
fn row(values: &[f64], frame: usize, width: usize) -> &[f64] {
    let first = if values.len() == width { 0 } else { frame * width };
    &values[first..][..width]
}
