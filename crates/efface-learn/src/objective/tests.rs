//! Gradients against finite differences and against sums in twice the precision.

use efface_matrix::{Matrix, Refusal, Row};
use efface_privacy::event::Normalizer;

use super::exact::gradient;
use super::*;
use crate::example::{constants, dataset, generator, losses, normal, weighted, with_weights};
use crate::twice::Twice;
use crate::{Declared, Loss, said};

/// Distance between the computed and the exact gradient.
fn error(objective: &Objective<'_>, weights: &[f64]) -> (f64, f64) {
    let computed = objective.evaluate(weights).unwrap();
    let exact = gradient(objective, weights);
    let difference = computed.gradient.iter().zip(&exact);
    let squares: f64 =
        difference.map(|(c, e)| Twice::new(*c).plus(e.negative()).get().powi(2)).sum();
    (squares.sqrt(), computed.slack)
}

/// As [`error`], for sums in twice the precision.
fn error_twice(objective: &Objective<'_>, weights: &[f64]) -> (f64, f64) {
    let computed = objective.evaluate_twice(weights).unwrap().unwrap();
    let exact = gradient(objective, weights);
    let difference = computed.gradient.iter().zip(&exact);
    let squares: f64 =
        difference.map(|(c, e)| Twice::new(*c).plus(e.negative()).get().powi(2)).sum();
    (squares.sqrt(), computed.slack)
}

/// Margins up to about 300 sizes of the result, columns that cancel, weights of records.
#[test]
fn sums_in_twice_the_precision_keep_to_their_slack() {
    for (k, loss) in losses().into_iter().enumerate() {
        for (n, d, size) in [(1, 1, 1.0), (60, 5, 100.0), (700, 17, 10.0), (1300, 40, 0.3)] {
            let plain = dataset(loss, n, d, 11 + k as u64);
            let unit = constants(loss, n as u64, d, 1e-3);
            let heavy = (weighted(&plain, 3.0, 8), with_weights(&unit, 3.0));
            for (data, constants) in [(plain, unit), heavy] {
                let objective = Objective::new(&constants, &data).unwrap();
                let mut rng = generator(5);
                let weights: Vec<f64> =
                    (0..constants.parameters()).map(|_| size * normal(&mut rng)).collect();
                let (off, slack) = error_twice(&objective, &weights);
                assert!(off <= slack, "{loss:?} {n} {d}: {off} > {slack}");
                let (_, single) = error(&objective, &weights);
                assert!(slack <= single, "{loss:?} {n} {d}: {slack} > {single}");
                // Not so loose that it says nothing: some tens of units of the mean slope.
                let most = 2e-14 * constants.max_weight() * (1.0 + size * 1e-3);
                let steep = loss.link_bounds().derivative.min(5.0 + 5.0 * size);
                assert!(slack <= most * steep, "{loss:?} {n} {d}: {slack}");
            }
        }
    }
}

/// What float64 loses here is more than the slack of sums in twice the precision allows.
#[test]
fn columns_that_cancel_need_twice_the_precision() {
    for loss in [Loss::Logistic, Loss::Softmax { classes: 3 }, Loss::UNCLIPPED] {
        let mut data = Dataset::new(Matrix::dense(3), Vec::new()).unwrap();
        let mut sparse = Dataset::new(Matrix::sparse(3), Vec::new()).unwrap();
        for i in 0..600_u32 {
            let x = 0.5 + 1e-4 * i as f32;
            let row = [x, -x, 1e-5];
            data.push(Row::Dense(&row), f64::from(i % 2)).unwrap();
            let row = Row::Sparse { indices: &[0, 1, 2], values: &row };
            sparse.push(row, f64::from(i % 2)).unwrap();
        }
        let constants = constants(loss, 600, 3, 1e-6);
        let constants =
            Declared { target_bound: 1.0, ..constants.declared().clone() }.check().unwrap();
        let block = [1e6 / 3.0, 1e6 / 3.0 + 1e-3 / 7.0, -3.0];
        let weights: Vec<f64> = (0..loss.outputs())
            .flat_map(|c| block.map(|w| w * (1.0 - 2.0 * (c % 2) as f64)))
            .collect();
        for data in [&data, &sparse] {
            let objective = Objective::new(&constants, data).unwrap();
            let ((off, slack), (plain, _)) =
                (error_twice(&objective, &weights), error(&objective, &weights));
            assert!(off <= slack, "{loss:?}: {off} > {slack}");
            assert!(plain > 5.0 * slack, "{loss:?}: too easy, {plain} {slack}");
        }
    }
}

/// Residuals far smaller than margins and targets: what rounding takes from a margin counts.
#[test]
fn corrections_of_margins_reach_the_residuals() {
    let mut data = Dataset::new(Matrix::dense(2), Vec::new()).unwrap();
    let weights = [3e5 + 1.0 / 3.0, -2e5 / 7.0];
    for i in 0..5_u32 {
        let row = [0.7 - 1e-3 * i as f32, 0.3 + 1e-4 * i as f32];
        let margin: f64 = row.iter().zip(weights).map(|(x, w)| f64::from(*x) * w).sum();
        data.push(Row::Dense(&row), margin + 1e-3 * f64::from(i % 3)).unwrap();
    }
    let constants = constants(Loss::UNCLIPPED, 5, 2, 1e-12);
    let constants = Declared { target_bound: 1e6, ..constants.declared().clone() };
    let constants = constants.check().unwrap();
    let objective = Objective::new(&constants, &data).unwrap();
    let ((off, slack), (plain, _)) =
        (error_twice(&objective, &weights), error(&objective, &weights));
    assert!(off <= slack, "{off} > {slack}");
    assert!(plain > 5.0 * slack, "too easy: {plain} {slack}");
}

#[test]
fn slack_bounds_the_error_of_the_gradient() {
    for (k, loss) in losses().into_iter().enumerate() {
        for (n, d, size) in [(1, 1, 1.0), (60, 5, 1.0), (60, 5, 100.0), (700, 17, 10.0)] {
            let data = dataset(loss, n, d, 11 + k as u64);
            let constants = constants(loss, n as u64, d, 1e-3);
            let objective = Objective::new(&constants, &data).unwrap();
            let mut rng = generator(5);
            let weights: Vec<f64> =
                (0..constants.parameters()).map(|_| size * normal(&mut rng)).collect();
            let (error, slack) = error(&objective, &weights);
            assert!(error <= slack, "{loss:?} {n} {d}: {error} > {slack}");
            // The bound must not be so loose that it says nothing: rounding errors that add up at
            // random stay far below it, but within a factor of about n + d.
            assert!(slack <= 1e-10 * (1.0 + size), "{loss:?}: {slack}");
        }
    }
}

#[test]
fn slack_bounds_the_error_where_columns_cancel() {
    // Columns of very different size and weights that cancel: the margins lose most digits.
    let loss = Loss::Logistic;
    let mut data = Dataset::new(Matrix::dense(4), Vec::new()).unwrap();
    for i in 0..64_u32 {
        let x = 0.5 + 1e-4 * i as f32;
        data.push(Row::Dense(&[x, -x, 1e-20, 1e-5]), f64::from(i % 2)).unwrap();
    }
    let constants = constants(loss, 64, 4, 1e-6);
    let objective = Objective::new(&constants, &data).unwrap();
    for weights in [[1e8, 1e8, 1e20, -3.0], [1e8, 1e8 + 1.0, 1e19, 0.0], [1e-300; 4]] {
        let (error, slack) = error(&objective, &weights);
        assert!(error <= slack, "{error} > {slack}");
    }
}

#[test]
fn gradients_hessians_and_products_agree_with_differences() {
    for loss in losses() {
        let (n, d) = (300, 6);
        let data = dataset(loss, n, d, 3);
        let constants = constants(loss, n as u64, d, 0.01);
        let objective = Objective::new(&constants, &data).unwrap();
        let mut rng = generator(9);
        let p = constants.parameters();
        let weights: Vec<f64> = (0..p).map(|_| normal(&mut rng)).collect();
        let at = objective.evaluate(&weights).unwrap();
        let curvature = objective.curvature(&weights).unwrap();
        let hessian = objective.hessian(&curvature).unwrap();
        for j in 0..p {
            let h = 1e-6;
            let mut moved = weights.clone();
            moved[j] += h;
            let up = objective.evaluate(&moved).unwrap();
            moved[j] -= 2.0 * h;
            let down = objective.evaluate(&moved).unwrap();
            let slope = (up.value - down.value) / (2.0 * h);
            assert!((slope - at.gradient[j]).abs() < 1e-8, "{loss:?}");
            let mut unit = vec![0.0; p];
            unit[j] = 1.0;
            let product = objective.product(&curvature, &unit).unwrap();
            for i in 0..p {
                let entry = if i >= j { hessian[(i, j)] } else { hessian[(j, i)] };
                assert!((entry - product[i]).abs() < 1e-12, "{loss:?} {i} {j}");
                // Kinks between the two points change at most a few of the 300 records.
                let bend = (up.gradient[i] - down.gradient[i]) / (2.0 * h);
                assert!((bend - entry).abs() < 2e-2, "{loss:?} {bend} {entry}");
            }
        }
    }
}

#[test]
fn data_that_break_the_constants_are_refused() {
    let loss = Loss::Logistic;
    let constants = constants(loss, 4, 2, 0.1);
    let build = |rows: &[[f32; 2]], y: &[f64]| {
        let mut data = Dataset::new(Matrix::dense(2), Vec::new()).unwrap();
        for (row, y) in rows.iter().zip(y) {
            data.push(Row::Dense(row), *y).unwrap();
        }
        Objective::new(&constants, &data).map(|_| ())
    };
    assert_eq!(build(&[[1.0, 0.0]], &[1.0]), Ok(()));
    let long = build(&[[1.0, 0.0], [1.0, 1e-3]], &[1.0, 0.0]);
    assert!(said(long.as_ref().err(), "row 1 must have norm at most"));
    let target = build(&[[1.0, 0.0]], &[2.0]);
    assert!(said(target.as_ref().err(), "the target of row 0 must be"));
    let many = build(&[[0.0, 0.0]; 7], &[0.0; 7]);
    assert_eq!(
        many,
        Err(Refusal::new(
            "the data set must have at most `capacity` = 6 records, got 7; a larger capacity \
         needs a new model"
        ))
    );
    let other = Dataset::new(Matrix::dense(3), Vec::new()).unwrap();
    let columns = Objective::new(&constants, &other).map(|_| ());
    assert_eq!(columns, Err(Refusal::new("data must have 2 columns (intercept included), got 3")));
}

/// Under `mean` the sum is divided by the number of records at hand, whatever the public minimum is.
#[test]
fn under_mean_the_sum_is_divided_by_the_records_there_are() {
    let data = dataset(Loss::Logistic, 60, 3, 7);
    let fixed = constants(Loss::Logistic, 60, 3, 0.1);
    let weights = [0.3, -0.2, 0.9];
    let expected = Objective::new(&fixed, &data).unwrap().evaluate(&weights).unwrap();
    for minimum in [0, 7, 60] {
        let normalizer = Normalizer::Mean { minimum };
        let mean = Declared { normalizer, ..fixed.declared().clone() }.check().unwrap();
        let at = Objective::new(&mean, &data).unwrap().evaluate(&weights).unwrap();
        assert_eq!((at.value, at.gradient), (expected.value, expected.gradient.clone()));
    }
}

#[test]
fn mean_needs_a_record() {
    let declared = Declared {
        normalizer: Normalizer::Mean { minimum: 0 },
        ..constants(Loss::Logistic, 4, 2, 0.1).declared().clone()
    };
    let constants = declared.check().unwrap();
    let empty = Dataset::new(Matrix::dense(2), Vec::new()).unwrap();
    let refused = Objective::new(&constants, &empty).map(|_| ());
    assert_eq!(
        refused,
        Err(Refusal::new("under `mean` the data set must have at least 1 records, got 0"))
    );
}
