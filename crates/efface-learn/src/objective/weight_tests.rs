//! Records with weights: against sums in twice the precision, against repeated rows, and against
//! the public constants.

use efface_matrix::{Matrix, Row};
use efface_privacy::event::{Normalizer, State};

use super::exact::gradient;
use super::*;
use crate::example::{constants, dataset, generator, losses, normal, weighted, with_weights};
use crate::mechanism::{OutputNoisePlan, retrain, solve};
use crate::solver::{Solver, Start, Stopping, solve as optimum, unwatched};
use crate::twice::Twice;
use crate::{Declared, Loss, said};

fn random(constants: &Constants, size: f64, seed: u64) -> Vec<f64> {
    let mut rng = generator(seed);
    (0..constants.parameters()).map(|_| size * normal(&mut rng)).collect()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn found(objective: &Objective<'_>, distance: f64) -> Vec<f64> {
    let zeros = vec![0.0; objective.constants().parameters()];
    let start = Start { weights: &zeros, factor: None };
    let stopping = Stopping { distance };
    optimum(objective, Solver::Newton, stopping, start, &mut unwatched).unwrap().weights
}

#[test]
fn slack_bounds_the_error_for_any_weights() {
    for (k, loss) in losses().into_iter().enumerate() {
        for most in [1e-6, 0.3, 1.0, 7.0, 1e9] {
            for (n, d, size) in [(1, 1, 1.0), (60, 5, 100.0), (400, 17, 10.0)] {
                let data = weighted(&dataset(loss, n, d, 11 + k as u64), most, 3);
                let constants = with_weights(&constants(loss, n as u64, d, 1e-3), most);
                let objective = Objective::new(&constants, &data).unwrap();
                let weights = random(&constants, size, 5);
                let computed = objective.evaluate(&weights).unwrap();
                let exact = gradient(&objective, &weights);
                let errors = computed.gradient.iter().zip(&exact);
                let squares: f64 =
                    errors.map(|(c, e)| Twice::new(*c).plus(e.negative()).get().powi(2)).sum();
                let error = squares.sqrt();
                assert!(error <= computed.slack, "{loss:?} {most} {n}: {error}");
                assert!(
                    computed.slack <= 1e-10 * (1.0 + most) * (1.0 + size),
                    "{}",
                    computed.slack
                );
            }
        }
    }
}

#[test]
fn gradients_hessians_and_products_agree_with_differences() {
    for loss in losses() {
        let data = weighted(&dataset(loss, 300, 6, 3), 4.0, 8);
        let constants = with_weights(&constants(loss, 300, 6, 0.01), 4.0);
        let objective = Objective::new(&constants, &data).unwrap();
        let weights = random(&constants, 1.0, 9);
        let at = objective.evaluate(&weights).unwrap();
        let curvature = objective.curvature(&weights).unwrap();
        let hessian = objective.hessian(&curvature).unwrap();
        for j in 0..weights.len() {
            let h = 1e-6;
            let moved = |by: f64| {
                let mut moved = weights.clone();
                moved[j] += by;
                objective.evaluate(&moved).unwrap()
            };
            let (up, down) = (moved(h), moved(-h));
            let slope = (up.value - down.value) / (2.0 * h);
            assert!((slope - at.gradient[j]).abs() < 4e-8, "{loss:?}");
            let mut unit = vec![0.0; weights.len()];
            unit[j] = 1.0;
            let product = objective.product(&curvature, &unit).unwrap();
            for i in 0..weights.len() {
                let entry = if i >= j { hessian[(i, j)] } else { hessian[(j, i)] };
                assert!((entry - product[i]).abs() < 1e-12, "{loss:?} {i} {j}");
                // Kinks between the two points change at most a few of the 300 records.
                let bend = (up.gradient[i] - down.gradient[i]) / (2.0 * h);
                assert!((bend - entry).abs() < 8e-2, "{loss:?} {bend} {entry}");
            }
        }
    }
}

/// Weight k is the row k times, weight 0 the row left out, for the same N.
#[test]
fn a_weight_is_a_number_of_copies() {
    for loss in losses() {
        let rows = dataset(loss, 40, 5, 6);
        let mut once = Dataset::new(Matrix::dense(5), Vec::new()).unwrap();
        let mut copies = Dataset::new(Matrix::dense(5), Vec::new()).unwrap();
        for (i, &y) in rows.y().iter().enumerate() {
            once.push_weighted(rows.x().row(i), y, (i % 4) as f64).unwrap();
            for _ in 0..i % 4 {
                copies.push(rows.x().row(i), y).unwrap();
            }
        }
        let normalizer = Normalizer::Fixed { n: 60, capacity: 60 };
        let plain = constants(loss, 60, 5, 0.01).declared().clone();
        let plain = Declared { normalizer, ..plain }.check().unwrap();
        let heavy = with_weights(&plain, 3.0);
        let a = Objective::new(&heavy, &once).unwrap();
        let b = Objective::new(&plain, &copies).unwrap();
        let weights = random(&plain, 2.0, 1);
        let (one, other) = (a.evaluate(&weights).unwrap(), b.evaluate(&weights).unwrap());
        assert!((one.value - other.value).abs() <= 1e-13 * (1.0 + one.value));
        assert!(apart(&one.gradient, &other.gradient) <= one.slack + other.slack);
        let [h, k] = [&a, &b].map(|o| o.hessian(&o.curvature(&weights).unwrap()).unwrap());
        for j in 0..h.ncols() {
            for i in j..h.nrows() {
                assert!((h[(i, j)] - k[(i, j)]).abs() < 1e-13, "{loss:?} {i} {j}");
            }
        }
        assert!(apart(&found(&a, 1e-8), &found(&b, 1e-8)) <= 2e-8);
    }
}

/// G, beta, F0 and the ball of the optimum, on as many records as the capacity allows, most of them
/// of the largest weight and in one direction.
#[test]
fn public_constants_are_never_exceeded() {
    for loss in losses() {
        for most in [0.02, 1.0, 5.0] {
            let (n, d) = (80, 3);
            let first = dataset(loss, 1, d, 2);
            let mut data = Dataset::new(Matrix::dense(d), Vec::new()).unwrap();
            let spread = weighted(&dataset(loss, 10, d, 7), most, 2);
            for i in 0..10 {
                data.push_from(&spread, i).unwrap();
            }
            for i in 0..90 {
                let y = if i % 3 == 0 { data.y()[0] } else { first.y()[0] };
                data.push_weighted(first.x().row(0), y, most).unwrap();
            }
            let normalizer = Normalizer::Fixed { n, capacity: 100 };
            let plain = constants(loss, n, d, 0.01).declared().clone();
            let plain = Declared { normalizer, ..plain }.check().unwrap();
            let c = with_weights(&plain, most);
            let objective = Objective::new(&c, &data).unwrap();
            let (zeros, lambda) = (vec![0.0; c.parameters()], c.strong_convexity());
            let least = found(&objective, 1e-6 * most.max(1.0));
            assert!(outward::norm(&least) <= c.optimum_bound() + 1e-5, "{loss:?} {most}");
            assert!(objective.evaluate(&zeros).unwrap().value <= c.zero_value() * (1.0 + 1e-14));
            let mut steepest = 0.0_f64;
            for seed in 0..20 {
                let size = [1e-3, 0.1, 1.0, 30.0][seed as usize % 4];
                let (a, b) = (random(&c, size, seed), random(&c, size, seed + 100));
                let (at, there) =
                    (objective.evaluate(&a).unwrap(), objective.evaluate(&b).unwrap());
                let bend = apart(&at.gradient, &there.gradient);
                assert!(bend <= c.total_smoothness() * apart(&a, &b) * (1.0 + 1e-9), "{loss:?}");
                for i in 0..data.rows() {
                    let mut one = Dataset::new(Matrix::dense(d), Vec::new()).unwrap();
                    one.push_from(&data, i).unwrap();
                    let own = outward::norm(&one.totals(loss, &a).unwrap().gradient);
                    assert!(own <= c.lipschitz() * (1.0 + 1e-12), "{loss:?} {own}");
                    steepest = steepest.max(own);
                }
                let h = objective.hessian(&objective.curvature(&a).unwrap()).unwrap();
                let trace: f64 = (0..h.ncols()).map(|j| h[(j, j)]).sum();
                assert!(trace <= c.curvature_trace() * (1.0 + 1e-12), "{loss:?} {trace}");
            }
            // The bound would not hold for weights of 1/2 of these.
            assert!(steepest > 0.5 * c.lipschitz(), "{loss:?} {steepest}");
            assert!((c.lipschitz() / plain.lipschitz() / most - 1.0).abs() < 1e-14);
            assert!(
                ((c.total_smoothness() - lambda) / plain.smoothness() / most - 1.0).abs() < 1e-9
            );
        }
    }
}

/// A weighted record that is deleted leaves what training without it gives.
#[test]
fn deletion_is_training_without() {
    for loss in losses() {
        let mut data = weighted(&dataset(loss, 60, 4, 2), 6.0, 5);
        let constants = with_weights(&constants(loss, 60, 4, 0.1), 6.0);
        let grid = libm::exp2(-45.0);
        let plan = OutputNoisePlan {
            distance: 1e-7,
            noise: libm::exp2(21.0) * grid,
            grid,
            state: State::Perfect,
            joint_releases: 1,
            group: 1,
            solver: Solver::Automatic,
        };
        let plan = plan.check(&constants, 60).unwrap();
        let mut rng = generator(1);
        let objective = Objective::new(&constants, &data).unwrap();
        let first = retrain::retrain(&objective, &plan, 1, &mut rng, &mut unwatched).unwrap();
        let heavy: Vec<usize> = (0..60).filter(|i| data.sample_weights()[*i] == 6.0).collect();
        assert!(heavy.len() > 2);
        let mut without = Dataset::new(Matrix::dense(4), Vec::new()).unwrap();
        for i in (0..60).filter(|i| !heavy.contains(i)) {
            without.push_from(&data, i).unwrap();
        }
        data.remove_rows(&heavy).unwrap();
        let objective = Objective::new(&constants, &data).unwrap();
        let start = &first.weights;
        let watch = &mut unwatched;
        let next = solve::from_published(&objective, &plan, start, 2, &mut rng, watch).unwrap();
        let reference = found(&Objective::new(&constants, &without).unwrap(), 1e-8);
        // Twelve deviations of the noise on each weight: 1e-30 in probability, a fixed seed.
        let noise = 12.0 * plan.plan().noise * (reference.len() as f64).sqrt();
        assert!(apart(&next.weights, &reference) <= 1.2e-7 + noise, "{loss:?}");
        assert!(apart(&first.weights, &reference) > 1e-3, "the records weigh nothing");
    }
}

#[test]
fn weights_that_break_a_rule_are_refused() {
    let plain = constants(Loss::Logistic, 4, 2, 0.1);
    let heavy = with_weights(&plain, 2.0);
    let mut data = Dataset::new(Matrix::dense(2), Vec::new()).unwrap();
    data.push(Row::Dense(&[1.0, 0.0]), 1.0).unwrap();
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = data.push_weighted(Row::Dense(&[1.0, 0.0]), 1.0, bad);
        assert!(said(refused.as_ref().err(), "the weight of row 1 must be"), "{bad}");
        let refused = Dataset::weighted(Matrix::dense(2), Vec::new(), vec![bad]);
        let expected = "`sample_weight` must have one weight per row, got 1 weights for 0 rows";
        assert!(said(refused.err(), expected));
        let declared = Declared { max_weight: Some(bad), ..plain.declared().clone() };
        assert!(declared.check().unwrap_err().to_string().contains("`max-weight` must be"));
    }
    assert_eq!((data.rows(), data.sample_weights()), (1, &[1.0][..]));
    data.push_weighted(Row::Dense(&[1.0, 0.0]), 1.0, 2.0).unwrap();
    assert!(Objective::new(&heavy, &data).is_ok());
    let refused = Objective::new(&plain, &data).map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        refused,
        "the weight of row 1 must be 1: this model's records have no weights, got 2"
    );
    data.push_weighted(Row::Dense(&[1.0, 0.0]), 1.0, 2.5).unwrap();
    let refused = Objective::new(&heavy, &data).map(|_| ()).unwrap_err().to_string();
    assert_eq!(refused, "the weight of row 2 must be at most `§max-weight` = 2, got 2.5");
    data.remove_rows(&[0, 2]).unwrap();
    assert_eq!(data.sample_weights(), [2.0]);
    let other = Dataset::new(Matrix::dense(2), Vec::new()).unwrap();
    assert!(data.push_from(&other, 0).is_err());
}
