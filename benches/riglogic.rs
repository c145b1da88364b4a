//! RigLogic at MetaHuman magnitude, one thread, GUI mapping to all outputs: microseconds by level of detail. What is not measured: README.md here.

use fearless_simd::{Level, Simd, SimdBase, dispatch, f32x8};
use rigeval::orl::dna::{Conditional, Dna, JointGroup, PsdEntry};
use rigeval::orl::riglogic::{RigLogic, RigState, RotationOutput};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time over that of reading and adding up the same coefficients, at LOD 0 with every GUI control moved: what is allowed at most.
const MAX_RATIO: f64 = 2.8;

/// Of so many GUI controls one is moved in an expression as face capture sends it.
const SPARSENESS: usize = 8;

fn main() {
    let (dna, origin) = rig();
    let start = Instant::now();
    let rig = RigLogic::new(&dna, RotationOutput::Euler).unwrap();
    let counts = rig.counts();
    println!("{origin}: {} joints, {} controls, built in {:.1?}", counts.joints, counts.controls(), start.elapsed());
    let dense: Vec<f32> = (0..counts.gui).map(|i| (i as f32 * 0.61).sin() * 0.5 + 0.5).collect();
    let moved = |(i, x): (usize, &f32)| if i.is_multiple_of(SPARSENESS) { *x } else { 0.0 };
    let sparse: Vec<f32> = dense.iter().enumerate().map(moved).collect();
    let mut states = vec![RigState::new(&rig); 64];
    println!("microseconds; read-sum: reading and adding up the coefficients of the level");
    println!("LOD  multiply-adds   one rig  of 64 rigs  few moved   10^9 madd/s   read-sum   ratio");
    for lod in 0..counts.lods {
        let coefficients = vec![0.5_f32; rig.multiply_adds(lod)];
        // One and many in turn, so that a slow moment of the machine meets all of them.
        let [mut one, mut many, mut few, mut read] = [Duration::MAX; 4];
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(500) {
            for _ in 0..20 {
                one = one.min(time(|| frame(&rig, &mut states[..1], lod, &dense)));
                read = read.min(time(|| sum(&coefficients)));
            }
            for _ in 0..5 {
                few = few.min(time(|| frame(&rig, &mut states[..1], lod, &sparse)));
            }
            many = many.min(time(|| frame(&rig, &mut states, lod, &dense)));
        }
        let [one, many, few, read] = [one, many / 64, few, read].map(|t| t.as_secs_f64() * 1e6);
        let (count, ratio) = (coefficients.len(), one / read);
        let rate = count as f64 / one * 1e-3;
        println!(
            "{lod:>3}  {count:>13}  {one:>8.1}  {many:>10.1}  {few:>9.1}  {rate:>12.2}  {read:>9.1}  {ratio:>6.2}"
        );
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

/// Reads every coefficient once, in the widest vectors there are, with as many sums as additions overlap.
fn sum(values: &[f32]) {
    dispatch!(Level::new(), simd => sum_with(simd, black_box(values)));
}

#[inline(always)]
fn sum_with<S: Simd>(simd: S, values: &[f32]) {
    let mut sums = [f32x8::splat(simd, 0.0); 8];
    for chunk in values.as_chunks::<64>().0 {
        for (sum, lanes) in sums.iter_mut().zip(chunk.as_chunks::<8>().0) {
            *sum += f32x8::load_array_ref(simd, lanes);
        }
    }
    black_box(sums.map(f32x8::to_array));
}

fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
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
