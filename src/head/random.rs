//! A small random generator, and smooth random displacement fields made with it.

use glam::DVec3;
use rayon::prelude::*;
use std::f64::consts::TAU;

/// SplitMix64: each stream of a seed gives its own numbers, the same on every machine.
#[derive(Debug, Clone)]
pub(crate) struct Rng(u64);

impl Rng {
    /// Stream number `stream` of `seed`.
    pub(crate) fn new(seed: u64, stream: u64) -> Rng {
        let mut mixer = Rng(stream);
        Rng(seed ^ mixer.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Evenly from `low` to `high`.
    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Mean 0 and variance 1, nearly normal: the sum of twelve even numbers, which needs no libm.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform(0.0, 1.0)).sum::<f64>() - 6.0
    }
}

/// Recipe for smooth random displacement fields.
#[derive(Debug)]
pub(crate) struct RandomFields<'a> {
    /// (V, 3).
    pub positions: &'a [DVec3],
    /// (V): each field is scaled by it, and exactly zero where it is.
    pub window: &'a [f64],
    /// Wavelength of the first and of the last field, metres; those between fall evenly in the logarithm.
    pub wavelengths: [f64; 2],
    pub seed: u64,
    pub stream: u64,
}

/// Plane waves a band of wavelengths is summed from.
const WAVES: usize = 24;
const BANDS: usize = 6;

impl RandomFields<'_> {
    /// Fills (K, V, 3) values with K fields; their size is arbitrary.
    ///
    /// Each field draws from its own stream, so the result does not depend on how many threads there are.
    pub(crate) fn fill(&self, fields: &mut [f32]) {
        let inside: Vec<usize> = (0..self.window.len()).filter(|v| self.window[*v] != 0.0).collect();
        let bands: Vec<Vec<f32>> = (0..BANDS).into_par_iter().map(|band| self.waves(band, &inside)).collect();
        let row = 3 * self.positions.len();
        let last = (fields.len() / row).max(2) - 1;
        fields.par_chunks_mut(row).enumerate().for_each(|(index, field)| {
            let place = (BANDS - 1) as f64 * index as f64 / last as f64;
            let band = (place as usize).min(BANDS - 2);
            let blend = place - band as f64;
            let mut rng = Rng::new(self.seed, self.stream << 32 | (BANDS + index) as u64);
            let mut sums = vec![[0.0_f32; 3]; inside.len()];
            for (band, share) in [(band, 1.0 - blend), (band + 1, blend)] {
                for wave in bands[band].chunks_exact(inside.len().max(1)) {
                    let weights = [(); 3].map(|()| (share * rng.normal()) as f32);
                    for (sum, value) in sums.iter_mut().zip(wave) {
                        for axis in 0..3 {
                            sum[axis] += weights[axis] * value;
                        }
                    }
                }
            }
            for (vertex, sum) in inside.iter().zip(&sums) {
                let window = self.window[*vertex] as f32;
                for axis in 0..3 {
                    field[3 * vertex + axis] = sum[axis] * window;
                }
            }
        });
    }

    /// The values of a band's waves at the vertices `inside`, (WAVES, inside).
    fn waves(&self, band: usize, inside: &[usize]) -> Vec<f32> {
        let [first, last] = self.wavelengths;
        let wavelength = first * (last / first).powf(band as f64 / (BANDS - 1) as f64);
        let mut rng = Rng::new(self.seed, self.stream << 32 | band as u64);
        let mut values = Vec::with_capacity(WAVES * inside.len());
        for _ in 0..WAVES {
            let direction = DVec3::new(rng.normal(), rng.normal(), rng.normal()).normalize_or(DVec3::Y);
            let wave = direction * (TAU / wavelength * rng.uniform(0.6, 1.2));
            let phase = rng.uniform(0.0, TAU);
            values.extend(inside.iter().map(|v| (self.positions[*v].dot(wave) + phase).cos() as f32));
        }
        values
    }
}
