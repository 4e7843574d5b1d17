//! Bounds on what one Newton step leaves of the gradient, as published, and an upper bound on the
//! spectral norm they need.

use efface_matrix::{Refusal, margins, weighted_gram};

use efface_learn::outward::{self, add, div, mul};
use efface_learn::solver::Factor;
use efface_learn::{Constants, Dataset};

/// The Lipschitz constant of the logistic loss's second derivative as the paper has it; the least
/// one is 1/(6 sqrt 3).
const PUBLISHED: f64 = 0.25;

/// Corollaries 1 and 2: gamma r |X|_2 |v| |X v|, rounded up. `spectral` bounds |X|_2^2.
pub(super) fn data_dependent(
    constants: &Constants,
    data: &Dataset,
    spectral: f64,
    step: &[f64],
) -> Result<f64, Refusal> {
    let r = constants.declared().row_bound;
    let size = outward::norm(step);
    let moved = outward::norm(&margins(data.x(), step, 1)?);
    // Each margin is off by at most gamma_{d+1} |x_i| |v|.
    let rows = outward::sqrt(data.rows() as f64);
    let rounding = mul(outward::gamma(data.cols() as f64 + 2.0), mul(mul(rows, r), size));
    let bent = mul(mul(PUBLISHED, r), mul(outward::sqrt(spectral), size));
    Ok(mul(bent, add(moved, rounding)))
}

/// Theorems 1 and 4: gamma r^3 n (|change|/(lambda N))^2 on `records` = n rows, where `change` bounds
/// how far the request moves the gradient.
pub(super) fn worst_case(constants: &Constants, records: usize, change: f64) -> f64 {
    let r = constants.declared().row_bound;
    let ridge = constants.strong_convexity() * constants.normalizer(records);
    let step = div(change, ridge.next_down());
    let cube = mul(mul(r, r), r);
    mul(mul(mul(PUBLISHED, cube), records as f64), mul(step, step))
}

/// How far a request of `touched` records moves the gradient of the sum at most, from a model of
/// `before` records whose perturbation and residual add up to `perturbation`.
pub(super) fn largest_change(
    constants: &Constants,
    touched: usize,
    before: usize,
    perturbation: f64,
) -> f64 {
    use efface_privacy::event::Normalizer;
    let loss = constants.lipschitz();
    let each = match constants.declared().normalizer {
        Normalizer::Fixed { .. } => loss,
        // lambda w moves too, |lambda w| <= C + (|b| + |u|)/n: the paper's erratum.
        Normalizer::Mean { .. } => add(mul(2.0, loss), div(perturbation, before.max(1) as f64)),
    };
    mul(touched as f64, each)
}

/// Upper bound on |X|_2^2, the largest eigenvalue of the Gram matrix K.
///
/// Power iteration errs below it; its estimate t is raised until t I - K has a Cholesky factor,
/// which proves that no eigenvalue exceeds t by more than the rounding of the factor and of K. The
/// trace is a bound in any case.
pub(super) fn spectral(data: &Dataset) -> Result<f64, Refusal> {
    let d = data.cols();
    let gram = weighted_gram(data.x(), &vec![1.0; data.rows()])?;
    let entry = |i: usize, j: usize| if i >= j { gram[(i, j)] } else { gram[(j, i)] };
    let trace: f64 = (0..d).map(|j| gram[(j, j)]).sum();
    let inflated = trace * (1.0 + outward::gamma((data.rows() + d + 8) as f64));
    // Rounding of K (entries sum over the rows) and of a factor of t I - K, t <= 2 trace.
    let operations = (data.rows() + 2 * d + 16) as f64;
    let rounding = mul(outward::gamma(operations), mul(4.0 * (d as f64 + 1.0), inflated));
    let mut v = vec![1.0 / (d as f64).sqrt(); d];
    let mut estimate = 0.0;
    for _ in 0..50 {
        let product: Vec<f64> = (0..d).map(|i| (0..d).map(|j| entry(i, j) * v[j]).sum()).collect();
        let size = outward::norm(&product);
        if size == 0.0 {
            break;
        }
        estimate = size;
        v = product.into_iter().map(|x| x / size).collect();
    }
    let mut t = estimate * 1.001;
    while t < trace && t > 0.0 {
        let mut shifted = gram.clone();
        for j in 0..d {
            for x in shifted.col_as_slice_mut(j)[j..].iter_mut() {
                *x = -*x;
            }
            shifted[(j, j)] += t;
        }
        if Factor::new(shifted).is_some() {
            return Ok(add(t, rounding).min(inflated));
        }
        t *= 1.05;
    }
    Ok(inflated)
}
