//! The few scalar curves that shape everything here.

/// The cubic step: 0 below 0, 1 above 1, flat at both ends.
pub(crate) fn smooth01(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The bell `exp(-(x / width)^2)`.
pub(crate) fn bell(x: f64, width: f64) -> f64 {
    (-(x / width) * (x / width)).exp()
}

/// Piecewise linear through `(knots, values)`, constant beyond both ends; knots ascend.
pub(crate) fn interpolate(x: f64, knots: &[f64], values: &[f64]) -> f64 {
    let after = knots.partition_point(|k| *k <= x);
    if after == 0 {
        return values[0];
    }
    if after == knots.len() {
        return values[after - 1];
    }
    let (k0, k1) = (knots[after - 1], knots[after]);
    values[after - 1] + (values[after] - values[after - 1]) * (x - k0) / (k1 - k0)
}

/// From `a` at 0 to `b` at 1.
pub(crate) fn lerp(a: f64, b: f64, t: f64) -> f64 {
    a + (b - a) * t
}

/// `count + 1` evenly spaced numbers from `first` to `last`, both included.
pub(crate) fn steps(first: f64, last: f64, count: usize) -> impl Iterator<Item = f64> {
    (0..=count).map(move |i| first + (last - first) * i as f64 / count as f64)
}
