//! A comparison that cannot fail is worse than none: what must be reported is reported.
#![cfg(feature = "gpu")]

mod common;

use common::compare::{GPU_TOLERANCE, ORL_GPU_TOLERANCE_CM, Refusal, Source, compare, compare_within};

fn grid(scale: f32) -> Vec<[f32; 3]> {
    (0..100).map(|i| [i as f32 * 0.01 * scale, -(i as f32) * 0.003 * scale, 0.5 * scale]).collect()
}

#[test]
fn vertex_moved_by_twice_the_tolerance_is_reported() {
    for scale in [1.0f32, 3.0, 100.0] {
        let reference = grid(scale);
        let allowed = GPU_TOLERANCE * scale.max(1.0);
        for (vertex, axis, sign) in [(0, 0, 1.0f32), (37, 1, -1.0), (99, 2, 1.0)] {
            let mut moved = reference.clone();
            // The rounding of the sum itself must not hide the step.
            moved[vertex][axis] = (f64::from(moved[vertex][axis]) + f64::from(sign * 2.0 * allowed)) as f32;
            let found = compare(
                Source { name: "cpu", vertices: &reference },
                Source { name: "gpu", vertices: &moved },
                GPU_TOLERANCE,
            );
            match found {
                Err(Refusal::TooFar(d)) => {
                    assert_eq!((d.worst_vertex, d.reference, d.candidate), (vertex, "cpu", "gpu"))
                }
                other => panic!("vertex {vertex} at scale {scale}: {other:?}"),
            }
        }
    }
}

#[test]
fn vertex_of_an_orl_rig_moved_by_twice_the_tolerance_is_reported() {
    for scale in [1.0f32, 170.0] {
        let reference = grid(scale);
        let allowed = GPU_TOLERANCE * scale.max(1.0) + ORL_GPU_TOLERANCE_CM;
        for (factor, is_reported) in [(2.0, true), (0.5, false)] {
            let mut moved = reference.clone();
            moved[41][2] = (f64::from(moved[41][2]) - f64::from(factor * allowed)) as f32;
            let (cpu, gpu) = (Source { name: "cpu", vertices: &reference }, Source { name: "gpu", vertices: &moved });
            match compare_within(cpu, gpu, GPU_TOLERANCE, ORL_GPU_TOLERANCE_CM) {
                Err(Refusal::TooFar(d)) => assert!(is_reported && d.worst_vertex == 41, "{d:?}"),
                other => assert!(!is_reported, "{other:?}"),
            }
        }
    }
}

#[test]
fn vertex_moved_by_half_the_tolerance_passes() {
    let reference = grid(1.0);
    let mut moved = reference.clone();
    moved[5][0] += 0.5 * GPU_TOLERANCE;
    let found =
        compare(Source { name: "cpu", vertices: &reference }, Source { name: "gpu", vertices: &moved }, GPU_TOLERANCE);
    assert_eq!(found.expect("within the tolerance").worst_vertex, 5);
}

#[test]
fn source_compared_with_itself_is_refused() {
    let vertices = grid(1.0);
    let copy = vertices.clone();
    let a = Source { name: "cpu", vertices: &vertices };
    let same_memory = Source { name: "gpu", vertices: &vertices };
    let same_name = Source { name: "cpu", vertices: &copy };
    assert!(matches!(compare(a, same_memory, 1.0), Err(Refusal::SameSource("cpu"))));
    assert!(matches!(compare(a, same_name, 1.0), Err(Refusal::SameSource("cpu"))));
}

#[test]
fn missing_unwritten_and_no_vertices_are_refused() {
    let vertices = grid(1.0);
    let a = Source { name: "cpu", vertices: &vertices };
    let mut unwritten = vertices.clone();
    unwritten[17][2] = f32::from_bits(common::UNWRITTEN);
    let found = compare(a, Source { name: "gpu", vertices: &unwritten }, f32::INFINITY);
    assert!(matches!(found, Err(Refusal::NotFinite { source: "gpu", vertex: 17 })));
    let found = compare(a, Source { name: "gpu", vertices: &unwritten[..99] }, 1.0);
    assert!(matches!(found, Err(Refusal::Length { reference: 100, candidate: 99 })));
    let (empty, also_empty): (Vec<[f32; 3]>, [[f32; 3]; 0]) = (Vec::new(), []);
    let found = compare(Source { name: "cpu", vertices: &empty }, Source { name: "gpu", vertices: &also_empty }, 1.0);
    assert!(found.is_err());
}
