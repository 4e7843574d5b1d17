//! What a Newton removal of each record moves, and the published bound on what it leaves.

use efface::{Code, Error, Result};
use efface_learn::{Dataset, Objective};
use efface_matrix::{margins, weighted_gram};
use faer::linalg::solvers::Solve as _;
use faer::{Mat, Side};

use crate::trial::failed;

/// For some records of a model: the removal step, and the bound of Corollary 1 on its residual.
pub(super) struct Influence {
    /// Norm of H^{-1} Delta for each record asked for.
    pub(super) norms: Vec<f64>,
    /// gamma |X|_2 |v| |X v|, gamma = 1/4, for each of them.
    pub(super) shares: Vec<f64>,
}

/// Lipschitz constant of the logistic loss's second derivative, as the paper has it.
const GAMMA: f64 = 0.25;

/// The influence of the records at `positions` on a logistic model at `weights`. The Hessian is that
/// of all records, of which one hardly matters.
pub(super) fn of(
    objective: &Objective<'_>,
    data: &Dataset,
    weights: &[f64],
    positions: &[usize],
) -> Result<Influence> {
    let (d, n) = (data.cols(), objective.normalizer());
    let lambda = objective.constants().strong_convexity();
    let curvature = objective.curvature(weights).map_err(failed)?;
    let hessian = objective.hessian(&curvature).map_err(failed)?;
    let factor = hessian
        .llt(Side::Lower)
        .map_err(|_| Error::refused(Code::Audit, "the Hessian has no Cholesky factor"))?;
    let at = margins(data.x(), weights, 1).map_err(failed)?;
    let mut steps = Mat::<f64>::zeros(d, positions.len());
    for (column, &i) in positions.iter().enumerate() {
        let (m, y) = (at[i], data.y()[i]);
        let slope = 1.0 / (1.0 + (-m).exp()) - y;
        for (row, w) in weights.iter().enumerate() {
            steps[(row, column)] = lambda * w / n;
        }
        data.x().row(i).iter().for_each(|(j, x)| steps[(j, column)] += slope * f64::from(x) / n);
    }
    factor.solve_in_place(&mut steps);
    let gram = gram(data)?;
    let moved = &gram * &steps;
    let spectral = largest_eigenvalue(&gram).sqrt();
    let pairs = (0..positions.len()).map(|column| {
        let (v, kv) = (steps.col_as_slice(column), moved.col_as_slice(column));
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let reach = v.iter().zip(kv).map(|(a, b)| a * b).sum::<f64>().max(0.0).sqrt();
        (norm, GAMMA * spectral * norm * reach)
    });
    let (norms, shares) = pairs.unzip();
    Ok(Influence { norms, shares })
}

/// X^T X, both triangles.
pub(super) fn gram(data: &Dataset) -> Result<Mat<f64>> {
    let mut gram = weighted_gram(data.x(), &vec![1.0; data.rows()]).map_err(failed)?;
    for j in 0..gram.ncols() {
        for i in 0..j {
            gram[(i, j)] = gram[(j, i)];
        }
    }
    Ok(gram)
}

/// By power iteration, as the paper does it: not an upper bound.
pub(super) fn largest_eigenvalue(gram: &Mat<f64>) -> f64 {
    let d = gram.ncols();
    let mut v = Mat::<f64>::from_fn(d, 1, |_, _| 1.0 / (d as f64).sqrt());
    let mut value = 0.0;
    for _ in 0..100 {
        let next = gram * &v;
        value = next.norm_l2();
        if value == 0.0 {
            break;
        }
        v = Mat::from_fn(d, 1, |i, _| next[(i, 0)] / value);
    }
    value
}
