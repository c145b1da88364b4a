//! The inverse of an RBF solver's kernel matrix, in the reference's f32 order of operations: its rounding is part of the weights.

/// Replaces the square matrix `a` of `n` rows by its inverse; a row of zeros leaves it as it is.
///
/// LU after Crout with implicitly scaled partial pivoting, then one substitution per unit vector.
pub(super) fn invert(a: &mut [f32], n: usize) {
    let Some(pivots) = decompose(a, n) else { return };
    let mut inverse = vec![0.0; n * n];
    let mut column = vec![0.0; n];
    for c in 0..n {
        column.fill(0.0);
        column[c] = 1.0;
        substitute(a, &pivots, &mut column);
        for (row, value) in column.iter().enumerate() {
            inverse[row * n + c] = *value;
        }
    }
    a.copy_from_slice(&inverse);
}

/// L (its diagonal of ones left out) and U in place of `a`, with the row that each column's pivot came from; `None`, and `a` untouched, if
/// there is a row of zeros.
fn decompose(a: &mut [f32], n: usize) -> Option<Vec<usize>> {
    let mut scales = Vec::with_capacity(n);
    for row in a.chunks_exact(n) {
        let largest = row.iter().fold(0.0_f32, |m, x| if x.abs() > m { x.abs() } else { m });
        if largest == 0.0 {
            return None;
        }
        scales.push(1.0 / largest);
    }
    let mut pivots = Vec::with_capacity(n);
    for j in 0..n {
        for i in 0..j {
            a[i * n + j] = (0..i).fold(a[i * n + j], |sum, k| sum - a[i * n + k] * a[k * n + j]);
        }
        let (mut best, mut pivot) = (0.0, j);
        for i in j..n {
            let sum = (0..j).fold(a[i * n + j], |sum, k| sum - a[i * n + k] * a[k * n + j]);
            a[i * n + j] = sum;
            // At least as good: the last of equal candidates is taken.
            let merit = scales[i] * sum.abs();
            if merit >= best {
                (best, pivot) = (merit, i);
            }
        }
        if pivot != j {
            (0..n).for_each(|k| a.swap(pivot * n + k, j * n + k));
            scales[pivot] = scales[j];
        }
        pivots.push(pivot);
        if a[j * n + j] == 0.0 {
            a[j * n + j] = 1e-20;
        }
        let reciprocal = 1.0 / a[j * n + j];
        for i in j + 1..n {
            a[i * n + j] *= reciprocal;
        }
    }
    Some(pivots)
}

/// Solves for one right-hand side, in place.
fn substitute(lu: &[f32], pivots: &[usize], b: &mut [f32]) {
    let n = b.len();
    let mut first = None;
    for i in 0..n {
        let mut sum = b[pivots[i]];
        b[pivots[i]] = b[i];
        // Leading zeros of the right-hand side stay zeros.
        match first {
            Some(first) => sum = (first..i).fold(sum, |sum, j| sum - lu[i * n + j] * b[j]),
            None if sum != 0.0 => first = Some(i),
            None => {}
        }
        b[i] = sum;
    }
    for i in (0..n).rev() {
        let sum = (i + 1..n).fold(b[i], |sum, j| sum - lu[i * n + j] * b[j]);
        b[i] = sum / lu[i * n + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_times_matrix_is_one() {
        let m = [4.0, 1.0, 0.5, 1.0, 0.25, 1.0, 0.0, 8.0, 2.0_f32];
        let mut inverse = m;
        invert(&mut inverse, 3);
        for i in 0..3 {
            for j in 0..3 {
                let product: f32 = (0..3).map(|k| m[i * 3 + k] * inverse[k * 3 + j]).sum();
                assert!((product - f32::from(u8::from(i == j))).abs() < 1e-6, "{i} {j}: {product}");
            }
        }
    }

    #[test]
    fn inverse_needs_the_pivot_of_another_row() {
        let mut m = [0.0, 2.0, 4.0, 0.0];
        invert(&mut m, 2);
        assert_eq!(m, [0.0, 0.25, 0.5, 0.0]);
    }

    #[test]
    fn inverse_of_a_matrix_with_a_row_of_zeros_is_left_out() {
        let mut m = [1.0, 2.0, 0.0, 0.0];
        invert(&mut m, 2);
        assert_eq!(m, [1.0, 2.0, 0.0, 0.0]);
    }

    #[test]
    fn inverse_of_a_singular_matrix_divides_by_the_tiny_pivot() {
        let mut m = [1.0, 1.0, 1.0, 1.0];
        invert(&mut m, 2);
        assert!(m.iter().all(|x| x.abs() > 1e19), "{m:?}");
    }
}
