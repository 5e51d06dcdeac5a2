//! Symmetric positive definite matrices, row by row.

/// Adds `times` times `other` to a row. Unlike a sum of products, the compiler can vectorize it.
pub(super) fn add_times(row: &mut [f64], times: f64, other: &[f64]) {
    row.iter_mut().zip(other).for_each(|(x, y)| *x += times * y);
}

/// The lower triangle L with `a` = L Lᵀ; `None` if `a` is not positive definite.
pub(super) fn cholesky(a: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        l[i * n..][..=i].copy_from_slice(&a[i * n..][..=i]);
    }
    let mut column = vec![0.0; n];
    for k in 0..n {
        let square = l[k * n + k];
        if square.is_nan() || square <= 0.0 {
            return None;
        }
        l[k * n + k] = square.sqrt();
        for i in k + 1..n {
            let x = l[i * n + k] / l[k * n + k];
            l[i * n + k] = x;
            column[i] = x;
            add_times(&mut l[i * n + k + 1..=i * n + i], -x, &column[k + 1..=i]);
        }
    }
    Some(l)
}

/// Solves L Lᵀ x = b.
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

/// Inverts L Lᵀ.
pub(super) fn inverse(l: &[f64], n: usize) -> Vec<f64> {
    // M, the inverse of L.
    let mut m = vec![0.0; n * n];
    for i in 0..n {
        let (above, from_i) = m.split_at_mut(i * n);
        let row = &mut from_i[..n];
        row[i] = 1.0;
        for k in 0..i {
            add_times(&mut row[..=k], -l[i * n + k], &above[k * n..][..=k]);
        }
        row[..=i].iter_mut().for_each(|x| *x /= l[i * n + i]);
    }
    // The product Mᵀ M: the lower triangle, which the upper one mirrors.
    let mut inverse = vec![0.0; n * n];
    for k in 0..n {
        let row = &m[k * n..][..=k];
        for (i, &x) in row.iter().enumerate() {
            add_times(&mut inverse[i * n..][..=i], x, row);
        }
    }
    for i in 0..n {
        for j in 0..i {
            inverse[j * n + i] = inverse[i * n + j];
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let a = [4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let l = cholesky(&a, 3).unwrap();
        let inverse = inverse(&l, 3);
        for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
            let value: f64 = (0..3).map(|k| inverse[3 * i + k] * a[3 * j + k]).sum();
            assert!((value - f64::from(u8::from(i == j))).abs() < 1e-12, "{inverse:?}");
        }
        assert_eq!(cholesky(&[1.0, 2.0, 2.0, 1.0], 2), None);
    }
}
