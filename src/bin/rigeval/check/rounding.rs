//! How far the rounding of packed deltas may move a vertex.

use crate::evaluate::{Inputs, in_frame};
use crate::failure::Failure;
use rigeval::lbs::Influence;
use rigeval::orl::dna::Target;
use rigeval::orl::instance::OrlInstance;
use rigeval::orl::rig::OrlRig;
use rigeval::sparse::{SparseEntries, SparseRows};

/// (F, V, 3) What each coordinate may be off by: `|weight| * scale / 2` over the vertex's targets, before the skin turns and stretches that box.
///
/// `targets` are those that the deltas were packed from, in order; without them a delta that was rounded to nothing is not counted.
pub fn of_frames(rig: &OrlRig, targets: &[Target], inputs: &Inputs) -> Result<Vec<f64>, Failure> {
    let deltas = rig.mesh().deltas();
    let moved = match targets.len() == deltas.targets().len() {
        true => of_targets(targets),
        false => of_rows(deltas),
    };
    let mut instance = OrlInstance::new(rig);
    let mut rounding = Vec::new();
    for frame in 0..inputs.frame_count {
        instance.set_controls(rig, inputs.frame(frame)).map_err(in_frame(frame))?;
        instance.set_joint_overrides(rig, &inputs.turns(frame)).map_err(in_frame(frame))?;
        let mut before_skin = vec![0.0; rig.mesh().vertex_count()];
        for &(vertex, target) in &moved {
            // The coefficient is weight times scale already.
            before_skin[vertex as usize] += f64::from(instance.coefficients().coefficients[target].abs()) / 2.0;
        }
        let rows = instance.pose().skin_rows();
        for (vertex, bound) in before_skin.into_iter().enumerate() {
            let influences = rig.mesh().influences().row(vertex);
            let entry = |axis: usize, from: usize| -> f64 {
                let part = |i: &Influence| f64::from(i.weight) * f64::from(rows[i.joint as usize][axis][from]);
                influences.iter().map(part).sum()
            };
            rounding.extend([0, 1, 2].map(|axis| bound * (0..3).map(|from| entry(axis, from).abs()).sum::<f64>()));
        }
    }
    Ok(rounding)
}

/// Vertices with the targets that move them.
fn of_targets(targets: &[Target]) -> Vec<(u32, usize)> {
    targets.iter().enumerate().flat_map(|(index, target)| target.vertices.iter().map(move |&v| (v, index))).collect()
}

fn of_rows(deltas: &SparseRows) -> Vec<(u32, usize)> {
    let target = |at: usize| match deltas.entries() {
        SparseEntries::Float(entries) => entries[at].target,
        SparseEntries::Packed(entries) => entries[at].target(),
    };
    let rows = deltas.offsets().windows(2).zip(0..);
    rows.flat_map(|(row, vertex)| (row[0]..row[1]).map(move |at| (vertex, usize::from(target(at as usize))))).collect()
}
