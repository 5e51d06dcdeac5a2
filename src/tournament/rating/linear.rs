//! Symmetric positive definite matrices, row by row.

/// The lower triangle L with `a` = L Lᵀ; `None` if `a` is not positive definite.
pub(super) fn cholesky(a: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        let (above, from_i) = l.split_at_mut(i * n);
        let row = &mut from_i[..n];
        for j in 0..i {
            let other = &above[j * n..][..n];
            let dot: f64 = row[..j].iter().zip(&other[..j]).map(|(x, y)| x * y).sum();
            row[j] = (a[i * n + j] - dot) / other[j];
        }
        let dot: f64 = row[..i].iter().map(|x| x * x).sum();
        let square = a[i * n + i] - dot;
        if square.is_nan() || square <= 0.0 {
            return None;
        }
        row[i] = square.sqrt();
    }
    Some(l)
}

/// The x with L Lᵀ x = b.
pub(super) fn solve(l: &[f64], n: usize, b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    for i in 0..n {
        let dot: f64 = l[i * n..][..i].iter().zip(&x[..i]).map(|(l, x)| l * x).sum();
        x[i] = (x[i] - dot) / l[i * n + i];
    }
    for i in (0..n).rev() {
        x[i] /= l[i * n + i];
        let xi = x[i];
        for (x, l) in x[..i].iter_mut().zip(&l[i * n..][..i]) {
            *x -= l * xi;
        }
    }
    x
}

/// The inverse of L Lᵀ.
pub(super) fn inverse(l: &[f64], n: usize) -> Vec<f64> {
    let mut unit = vec![0.0; n];
    let mut columns = Vec::with_capacity(n * n);
    for i in 0..n {
        unit[i] = 1.0;
        columns.extend(solve(l, n, &unit));
        unit[i] = 0.0;
    }
    columns
}

/// The product of two square matrices, the second one symmetric.
pub(super) fn times_symmetric(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let rows = a.chunks_exact(n);
    rows.flat_map(|row| b.chunks_exact(n).map(move |col| row.iter().zip(col).map(|(x, y)| x * y).sum()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let a = [4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let l = cholesky(&a, 3).unwrap();
        let one = times_symmetric(&inverse(&l, 3), &a, 3);
        for (at, value) in one.iter().enumerate() {
            assert!((value - f64::from(u8::from(at % 4 == 0))).abs() < 1e-12, "{one:?}");
        }
        assert_eq!(cholesky(&[1.0, 2.0, 2.0, 1.0], 2), None);
    }
}
