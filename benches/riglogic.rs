//! RigLogic at MetaHuman magnitude, one thread, GUI mapping to all outputs: microseconds by level of detail. What is not measured: README.md here.

use rigeval::orl::dna::{Conditional, Dna, JointGroup, PsdEntry};
use rigeval::orl::riglogic::{RigLogic, RigState, RotationOutput};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time over that of reading and adding up the same coefficients, at LOD 0: what is allowed at most.
const MAX_RATIO: f64 = 4.0;

fn main() {
    let (dna, origin) = rig();
    let start = Instant::now();
    let rig = RigLogic::new(&dna, RotationOutput::Euler).unwrap();
    let counts = rig.counts();
    println!("{origin}: {} joints, {} controls, built in {:.1?}", counts.joints, counts.controls(), start.elapsed());
    let gui: Vec<f32> = (0..counts.gui).map(|i| (i as f32 * 0.61).sin() * 0.5 + 0.5).collect();
    let mut states = vec![RigState::new(&rig); 64];
    println!("LOD  multiply-adds   one rig us  of 64 rigs us   10^9 madd/s   read-sum us   ratio");
    for lod in 0..counts.lods {
        let one = median(|| frame(&rig, &mut states[..1], lod, &gui)).as_secs_f64() * 1e6;
        let many = median(|| frame(&rig, &mut states, lod, &gui)).as_secs_f64() * 1e6 / 64.0;
        let coefficients = vec![0.5_f32; rig.multiply_adds(lod)];
        let read = median(|| sum(&coefficients)).as_secs_f64() * 1e6;
        let (count, ratio) = (coefficients.len(), one / read);
        let rate = count as f64 / one * 1e-3;
        println!("{lod:>3}  {count:>13}  {one:>11.1}  {many:>13.1}  {rate:>12.2}  {read:>12.1}  {ratio:>6.2}");
        assert!(lod > 0 || ratio <= MAX_RATIO, "LOD 0 takes {ratio:.2} times the read-sum, allowed {MAX_RATIO}");
    }
}

fn frame(rig: &RigLogic, states: &mut [RigState], lod: usize, gui: &[f32]) {
    for state in states {
        rig.set_gui(state, black_box(gui)).unwrap();
        rig.evaluate(state, lod);
        black_box(state.joints());
    }
}

/// Reads every coefficient once, with as many sums as vector registers overlap.
fn sum(values: &[f32]) {
    let mut sums = [0.0_f32; 32];
    for chunk in black_box(values).as_chunks::<32>().0 {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += value;
        }
    }
    black_box(sums);
}

fn median(mut run: impl FnMut()) -> Duration {
    run();
    let mut times = vec![];
    let start = Instant::now();
    while times.len() < 15 || start.elapsed() < Duration::from_millis(200) {
        let start = Instant::now();
        run();
        times.push(start.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}

/// The handed rig of MetaHuman magnitude, or one of its size and density.
fn rig() -> (Dna, &'static str) {
    let handed = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/orl-large/metahuman_scale.dna"));
    match std::fs::read(handed) {
        Ok(bytes) => (Dna::read(&bytes).unwrap(), "metahuman_scale.dna"),
        Err(_) => (generated(), "generated rig"),
    }
}

fn generated() -> Dna {
    const JOINTS: u16 = 870;
    const RAW: u16 = 260;
    const CORRECTIVES: u16 = 550;
    let names = |count: u16| (0..count).map(|i| i.to_string()).collect::<Vec<_>>();
    let mut dna = Dna::default();
    dna.descriptor.lod_count = 8;
    dna.definition.gui_control_names = names(174);
    dna.definition.raw_control_names = names(RAW);
    dna.definition.joint_names = names(JOINTS);
    dna.behavior.psd_count = CORRECTIVES;
    let row = |output| Conditional { input: output % 174, output, from: 0.0, to: 1.0, slope: 1.0, cut: 0.0 };
    dna.behavior.gui_to_raw = (0..RAW).map(row).collect();
    let factor = |i: u16| PsdEntry { row: RAW + i / 3, column: (i * 7) % RAW, value: 1.0 };
    dna.behavior.psd = (0..3 * CORRECTIVES).map(factor).collect();
    for first in (0..JOINTS).step_by(8) {
        let outputs: Vec<u16> = (first * 9..(first + 8).min(JOINTS) * 9).filter(|a| a % 9 < 7).collect();
        let rows = outputs.len() as u16;
        let inputs: Vec<u16> = (0..80).map(|i| (first + i * 11) % (RAW + CORRECTIVES)).collect();
        let value = |i: usize| if i.is_multiple_of(3) { 0.0 } else { (i as f32 * 0.37).sin() };
        let values = (0..outputs.len() * inputs.len()).map(value).collect();
        let lods = (0..8).map(|lod| rows * (8 - lod) / 8).collect();
        dna.behavior.joint_groups.push(JointGroup { lods, inputs, outputs, values, joints: vec![] });
    }
    dna
}
