use super::*;

const VERTEX_COUNT: usize = 5;
const VERTICES: [&[u32]; 3] = [&[4, 0, 2], &[2], &[0, 2, 2]];
const DELTAS: [&[[f32; 3]]; 3] = [
    &[[1.0, -2.0, 0.5], [0.0, 0.0, 0.0], [-0.25, 3.0, 0.125]],
    &[[10.0, -10.0, 0.75]],
    &[[0.5, 0.5, -1.0], [2.0, -1.5, 1.0], [1.0, 1.0, 1.0]],
];
/// By target; two share channel 3.
const CHANNELS: [u32; 3] = [3, 0, 3];
const WEIGHTS: [f32; 4] = [-1.5, 7.0, 7.0, 0.625];

fn targets() -> Vec<SparseTarget<'static>> {
    (0..3).map(|t| SparseTarget { channel: CHANNELS[t], vertices: VERTICES[t], deltas: DELTAS[t] }).collect()
}

fn dense_sum(vertex: usize, weights: &[f32]) -> DVec3 {
    let mut sum = DVec3::ZERO;
    for t in targets() {
        for (&v, delta) in t.vertices.iter().zip(t.deltas) {
            if v as usize == vertex {
                sum += f64::from(weights[t.channel as usize]) * DVec3::from(delta.map(f64::from));
            }
        }
    }
    sum
}

#[test]
fn float_rows_equal_the_dense_sum() {
    let rows = SparseRows::new(VERTEX_COUNT, &targets(), DeltaFormat::F32).unwrap();
    let weights = rows.weigh(&WEIGHTS);
    assert_eq!(rows.vertex_count(), VERTEX_COUNT);
    for vertex in 0..VERTEX_COUNT {
        assert_eq!(sparse_gather(&rows, vertex, &weights), dense_sum(vertex, &WEIGHTS), "vertex {vertex}");
    }
}

#[test]
fn quantised_rows_stay_within_half_a_step_of_every_target() {
    for format in [DeltaFormat::I16, DeltaFormat::I8] {
        let rows = SparseRows::new(VERTEX_COUNT, &targets(), format).unwrap();
        let weights = rows.weigh(&WEIGHTS);
        for vertex in 0..VERTEX_COUNT {
            let touching = targets().into_iter().zip(rows.targets()).map(|(t, scale)| {
                let times = t.vertices.iter().filter(|v| **v as usize == vertex).count() as f64;
                times * f64::from(WEIGHTS[t.channel as usize].abs()) * f64::from(scale.scale) / 2.0
            });
            let bound = touching.sum::<f64>() + 1e-6;
            let off = (sparse_gather(&rows, vertex, &weights) - dense_sum(vertex, &WEIGHTS)).abs().max_element();
            assert!(off <= bound, "{format:?} vertex {vertex}: {off} against {bound}");
        }
    }
}

#[test]
fn i8_steps_are_worth_the_largest_component_over_127() {
    let rows = SparseRows::new(VERTEX_COUNT, &targets(), DeltaFormat::I8).unwrap();
    assert_eq!(rows.targets()[1], TargetScale { channel: 0, scale: 10.0 / 127.0 });
    let SparseEntries::Packed(entries) = rows.entries() else { panic!("floats") };
    let row = &entries[rows.offsets()[2] as usize..rows.offsets()[3] as usize];
    let targets: Vec<u16> = row.iter().map(|e| e.target()).collect();
    assert_eq!(targets, [0, 1, 2, 2]);
    // 0.75 / (10 / 127) = 9.525.
    assert_eq!(row[1].steps(), [127, -127, 10]);
}

#[test]
fn packed_entry_is_eight_bytes_in_the_stated_layout() {
    assert_eq!(size_of::<PackedEntry>(), 8);
    let entry = PackedEntry::new(0x1234, [-1, 2, i16::MIN]);
    assert_eq!(entry.words, [0xffff_1234, 0x8000_0002]);
    assert_eq!((entry.target(), entry.steps()), (0x1234, [-1, 2, i16::MIN]));
}

#[test]
fn quantised_targets_are_taken_as_they_are() {
    let target = QuantisedTarget { channel: 1, vertices: &[1, 0], deltas: &[[3, -128, 127], [0, 0, 0]], scale: 0.5 };
    let rows = SparseRows::from_quantised(2, &[target]).unwrap();
    assert_eq!(rows.offsets(), [0, 0, 1]);
    let weights = rows.weigh(&[0.0, 2.0]);
    assert_eq!(sparse_gather(&rows, 1, &weights), DVec3::new(3.0, -128.0, 127.0));
}

#[test]
fn permuted_rows_are_the_rows_in_that_order() {
    let order = [2, 4, 0, 3, 1];
    for format in [DeltaFormat::F32, DeltaFormat::I16] {
        let rows = SparseRows::new(VERTEX_COUNT, &targets(), format).unwrap();
        let permuted = rows.permuted(&order);
        let weights = rows.weigh(&WEIGHTS);
        for (i, &vertex) in order.iter().enumerate() {
            assert_eq!(sparse_gather(&permuted, i, &weights), sparse_gather(&rows, vertex as usize, &weights));
        }
    }
}

#[test]
fn zero_channel_reads_nothing() {
    let mut rows = SparseRows::new(VERTEX_COUNT, &targets(), DeltaFormat::F32).unwrap();
    let SparseEntries::Float(entries) = &mut rows.entries else { panic!("packed") };
    entries.iter_mut().filter(|e| CHANNELS[usize::from(e.target)] == 0).for_each(|e| e.delta = [f32::NAN; 3]);
    let asleep = [0.0, 7.0, 7.0, 0.625];
    for vertex in 0..VERTEX_COUNT {
        assert_eq!(sparse_gather(&rows, vertex, &rows.weigh(&asleep)), dense_sum(vertex, &asleep));
    }
    assert!(sparse_gather(&rows, 2, &rows.weigh(&WEIGHTS)).is_nan());
}

#[test]
fn mask_has_one_bit_for_each_active_target() {
    let vertices = [0];
    let deltas = [[1.0, 0.0, 0.0]];
    let many: Vec<SparseTarget> =
        (0..70).map(|channel| SparseTarget { channel, vertices: &vertices, deltas: &deltas }).collect();
    let rows = SparseRows::new(1, &many, DeltaFormat::I16).unwrap();
    let mut weights = vec![0.0; 70];
    for (channel, weight) in [(0, 1.0), (33, -2.0), (69, 0.5)] {
        weights[channel] = weight;
    }
    let weighed = rows.weigh(&weights);
    assert_eq!(weighed.mask, [1, 1 << 1, 1 << 5]);
    assert!((sparse_gather(&rows, 0, &weighed).x - -0.5).abs() < 1e-6);
}

#[test]
fn wrong_targets_are_refused() {
    type Case = (&'static [u32], &'static [[f32; 3]], LoadErrorKind, &'static str);
    let cases: [Case; 3] = [
        (&[0, 1], &[[0.0; 3]], LoadErrorKind::Shape, "targets[0].deltas: expected 2 deltas, got 1"),
        (&[0, 5], &[[0.0; 3]; 2], LoadErrorKind::Value, "targets[0].vertices[1]: expected an index below 5, got 5"),
        (
            &[0],
            &[[0.0, f32::NAN, 0.0]],
            LoadErrorKind::Value,
            "targets[0].deltas[0]: expected finite numbers, got [0.0, NaN, 0.0]",
        ),
    ];
    for (vertices, deltas, kind, message) in cases {
        let error = SparseRows::new(5, &[SparseTarget { channel: 0, vertices, deltas }], DeltaFormat::I16).unwrap_err();
        assert_eq!((error.kind, error.to_string().as_str()), (kind, message));
    }
    let many = vec![SparseTarget { channel: 0, vertices: &[], deltas: &[] }; MAX_TARGETS + 1];
    assert_eq!(SparseRows::new(5, &many, DeltaFormat::F32).unwrap_err().kind, LoadErrorKind::Unsupported);
    let target = QuantisedTarget { channel: 0, vertices: &[0], deltas: &[[1; 3]], scale: f32::INFINITY };
    assert_eq!(SparseRows::from_quantised(1, &[target]).unwrap_err().kind, LoadErrorKind::Value);
}
