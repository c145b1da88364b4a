//! The comparison of vertices from two sources. It refuses to compare a source with itself.

use std::fmt;

/// Vertices, and where they come from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub name: &'static str,
    pub vertices: &'a [[f32; 3]],
}

/// How far apart two sources are, and where.
#[derive(Debug)]
pub struct Difference {
    pub reference: &'static str,
    pub candidate: &'static str,
    pub max: f32,
    pub worst_vertex: usize,
    pub allowed: f32,
}

/// The GPU against the CPU reference, in the unit of the vertices: f32 rounding of sums of a few hundred terms, relative above 1.
pub const GPU_TOLERANCE: f32 = 1e-6;

/// Why a comparison is no evidence, or what it found.
#[derive(Debug)]
pub enum Refusal {
    SameSource(&'static str),
    Length { reference: usize, candidate: usize },
    Empty,
    NotFinite { source: &'static str, vertex: usize },
    TooFar(Difference),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::SameSource(name) => write!(f, "{name} is compared with itself"),
            Refusal::Length { reference, candidate } => write!(f, "{reference} vertices against {candidate}"),
            Refusal::Empty => write!(f, "no vertices to compare"),
            Refusal::NotFinite { source, vertex } => {
                write!(f, "vertex {vertex} of {source} is not finite or was never written")
            }
            Refusal::TooFar(d) => write!(
                f,
                "{} against {}: vertex {} is off by {:e}, allowed {:e}",
                d.candidate, d.reference, d.worst_vertex, d.max, d.allowed
            ),
        }
    }
}

/// What the GPU may be off in an ORL rig beside [`GPU_TOLERANCE`], in centimetres: a micrometre, for f32 sums over deltas and influences of
/// either sign that cancel.
pub const ORL_GPU_TOLERANCE_CM: f32 = 1e-4;

/// Passes when every coordinate is within `tolerance * max(1, max |reference|)`.
pub fn compare(reference: Source, candidate: Source, tolerance: f32) -> Result<Difference, Refusal> {
    compare_within(reference, candidate, tolerance, 0.0)
}

/// Passes when every coordinate is within `relative * max(1, max |reference|) + absolute`.
pub fn compare_within(
    reference: Source,
    candidate: Source,
    relative: f32,
    absolute: f32,
) -> Result<Difference, Refusal> {
    let same_memory = reference.vertices.as_ptr() == candidate.vertices.as_ptr();
    if reference.name == candidate.name || same_memory {
        return Err(Refusal::SameSource(reference.name));
    }
    let (r, c) = (reference.vertices, candidate.vertices);
    if r.len() != c.len() {
        return Err(Refusal::Length { reference: r.len(), candidate: c.len() });
    }
    for source in [reference, candidate] {
        if let Some(vertex) = source.vertices.iter().position(|v| v.iter().any(|x| !x.is_finite())) {
            return Err(Refusal::NotFinite { source: source.name, vertex });
        }
    }
    let largest = r.as_flattened().iter().fold(0f32, |m, x| m.max(x.abs()));
    let off = |v: usize| (0..3).map(|i| (r[v][i] - c[v][i]).abs()).fold(0f32, f32::max);
    let worst_vertex = (0..r.len()).max_by(|&a, &b| off(a).total_cmp(&off(b))).ok_or(Refusal::Empty)?;
    let difference = Difference {
        reference: reference.name,
        candidate: candidate.name,
        max: off(worst_vertex),
        worst_vertex,
        allowed: relative * largest.max(1.0) + absolute,
    };
    if difference.max <= difference.allowed { Ok(difference) } else { Err(Refusal::TooFar(difference)) }
}

/// Panics with the worst vertex unless `candidate` is as close to the CPU reference as [`GPU_TOLERANCE`] asks.
#[track_caller]
pub fn assert_close(what: &str, cpu: &[[f32; 3]], gpu: &[[f32; 3]]) -> f32 {
    let (reference, candidate) = (Source { name: "cpu", vertices: cpu }, Source { name: "gpu", vertices: gpu });
    match compare(reference, candidate, GPU_TOLERANCE) {
        Ok(difference) => difference.max,
        Err(refusal) => panic!("{what}: {refusal}"),
    }
}

/// The same for an ORL rig in centimetres: [`ORL_GPU_TOLERANCE_CM`] beside [`GPU_TOLERANCE`].
#[track_caller]
pub fn assert_close_cm(what: &str, cpu: &[[f32; 3]], gpu: &[[f32; 3]]) -> f32 {
    let (reference, candidate) = (Source { name: "cpu", vertices: cpu }, Source { name: "gpu", vertices: gpu });
    match compare_within(reference, candidate, GPU_TOLERANCE, ORL_GPU_TOLERANCE_CM) {
        Ok(difference) => difference.max,
        Err(refusal) => panic!("{what}: {refusal}"),
    }
}
