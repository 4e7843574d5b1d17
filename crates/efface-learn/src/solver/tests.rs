//! Every solver against every loss, and data that make solvers fail.

use std::ops::ControlFlow;

use efface_matrix::{Matrix, Refusal, Row};
use efface_privacy::event::Normalizer;

use super::*;
use crate::example::{constants, dataset, generator, losses, normal, uniform};
use crate::{Dataset, Declared, Loss, said};

const SOLVERS: [Solver; 4] =
    [Solver::Newton, Solver::NewtonCg, Solver::Lbfgs, Solver::GradientDescent];

fn run(
    objective: &Objective<'_>,
    solver: Solver,
    distance: f64,
    start: &[f64],
) -> Result<Optimum, SolveError> {
    let start = Start { weights: start, factor: None };
    solve(objective, solver, Stopping { distance }, start, &mut unwatched)
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Rows of one value repeated, with alternating or constant targets.
fn repeated(row: &[f32], n: usize, target: impl Fn(usize) -> f64) -> Dataset {
    let mut data = Dataset::new(Matrix::dense(row.len()), Vec::new()).unwrap();
    for i in 0..n {
        data.push(Row::Dense(row), target(i)).unwrap();
    }
    data
}

#[test]
fn all_solvers_reach_the_same_optimum() {
    for loss in losses() {
        for (n, d, lambda, tau) in [(200, 8, 0.02, 1e-6), (37, 3, 0.5, 1e-11), (20, 40, 0.05, 1e-7)]
        {
            let data = dataset(loss, n, d, 1);
            let constants = constants(loss, n as u64, d, lambda);
            let objective = Objective::new(&constants, &data).unwrap();
            let zeros = vec![0.0; constants.parameters()];
            let exact = run(&objective, Solver::Newton, 1e-3 * tau, &zeros);
            let exact = exact.or_else(|_| run(&objective, Solver::Newton, 0.1 * tau, &zeros));
            let exact = exact.unwrap();
            for solver in SOLVERS {
                let found = run(&objective, solver, tau, &zeros).unwrap();
                assert_eq!(found.solver, Reached::By(solver), "{loss:?}");
                assert!(found.distance <= tau);
                let apart = apart(&found.weights, &exact.weights);
                // A true bound: the reference is at most `exact.distance` from the optimum.
                assert!(apart <= found.distance + exact.distance, "{loss:?} {solver:?}");
                assert!(apart <= 2.0 * tau);
                let again = run(&objective, solver, tau, &found.weights).unwrap();
                assert_eq!((again.passes, &again.weights), (1, &found.weights));
            }
        }
    }
}

#[test]
fn a_kept_factor_spares_the_hessian() {
    let loss = Loss::Logistic;
    let mut data = dataset(loss, 400, 10, 4);
    let constants = constants(loss, 400, 10, 1e-2);
    let zeros = vec![0.0; 10];
    let objective = Objective::new(&constants, &data).unwrap();
    let first = run(&objective, Solver::Newton, 1e-9, &zeros).unwrap();
    let packed = first.factor.as_ref().unwrap().to_vec();
    let factor = Factor::from_slice(10, &packed).unwrap();
    assert_eq!(Some(&factor), first.factor.as_ref());
    data.remove_rows(&[3, 77]).unwrap();
    let objective = Objective::new(&constants, &data).unwrap();
    let start = Start { weights: &first.weights, factor: Some(&factor) };
    let stopping = Stopping { distance: 1e-6 };
    let kept = solve(&objective, Solver::Newton, stopping, start, &mut unwatched).unwrap();
    assert_eq!(kept.hessians, 0);
    let fresh = run(&objective, Solver::Newton, 1e-6, &first.weights).unwrap();
    assert_eq!(fresh.hessians, 1);
    assert!(apart(&kept.weights, &fresh.weights) <= 2e-6);
}

#[test]
fn broken_factors_are_refused() {
    let wrong = Factor::from_slice(2, &[1.0, 0.0]);
    assert_eq!(wrong, Err(Refusal::new("a factor of dimension 2 has 3 numbers, got 2")));
    let wrong = Factor::from_slice(2, &[1.0, f64::NAN, 1.0]);
    assert!(said(wrong.as_ref().err(), "entry 1 is"));
    let wrong = Factor::from_slice(2, &[1.0, 0.0, 0.0]);
    assert_eq!(
        wrong,
        Err(Refusal::new(
            "a factor must have finite entries and a positive diagonal, entry 2 is 0"
        ))
    );
}

#[test]
fn separable_constant_zero_and_single_row_data() {
    for loss in losses() {
        let cases = [
            dataset(loss, 0, 3, 0),
            dataset(loss, 1, 3, 0),
            repeated(&[0.0, 0.0, 0.0], 50, |i| (i % 2) as f64),
            repeated(&[0.5, 0.0, 0.8], 50, |_| 1.0),
            repeated(&[1.0, 0.0, 0.0], 50, |i| (i % 2) as f64),
            // Columns of very different size.
            repeated(&[1e-6, 1e-3, 0.9], 50, |i| (i % 2) as f64),
        ];
        for (k, data) in cases.iter().enumerate() {
            for lambda in [1e-6, 1.0] {
                let constants = constants(loss, 50, 3, lambda);
                let objective = Objective::new(&constants, data).unwrap();
                let zeros = vec![0.0; constants.parameters()];
                let tau = 1e-3 * constants.optimum_bound();
                for solver in [Solver::Newton, Solver::NewtonCg, Solver::Lbfgs] {
                    let found = run(&objective, solver, tau, &zeros).unwrap();
                    assert!(found.distance <= tau, "{loss:?} case {k}");
                    assert_eq!(
                        found.solver,
                        Reached::By(solver),
                        "{loss:?} case {k} lambda {lambda}"
                    );
                }
                if data.rows() == 0 {
                    let found = run(&objective, Solver::Automatic, tau, &zeros).unwrap();
                    assert_eq!((found.weights, found.passes), (zeros, 1));
                }
            }
        }
    }
}

#[test]
fn a_far_start_comes_home() {
    for loss in losses() {
        let data = dataset(loss, 100, 4, 8);
        let constants = constants(loss, 100, 4, 1e-3);
        let objective = Objective::new(&constants, &data).unwrap();
        let far = vec![1e6; constants.parameters()];
        let zeros = vec![0.0; constants.parameters()];
        let near = run(&objective, Solver::Newton, 1e-6, &zeros).unwrap();
        for solver in [Solver::Newton, Solver::NewtonCg, Solver::Lbfgs] {
            let found = run(&objective, solver, 1e-6, &far).unwrap();
            assert!(apart(&found.weights, &near.weights) <= 2e-6, "{loss:?} {solver:?}");
        }
    }
}

#[test]
fn the_public_step_count_suffices() {
    for loss in losses() {
        let data = dataset(loss, 60, 5, 2);
        let constants = constants(loss, 60, 5, 0.05);
        let objective = Objective::new(&constants, &data).unwrap();
        for size in [0.0, 10.0] {
            let start = vec![size; constants.parameters()];
            let tau = 1e-7;
            let found = run(&objective, Solver::GradientDescent, tau, &start).unwrap();
            let reach = crate::outward::norm(&start) + constants.optimum_bound();
            let steps = sufficient_steps(&constants, reach, 0.05 * tau);
            assert!(found.passes <= steps + 1, "{loss:?}: {} > {steps}", found.passes);
            // The optimum is where the public bound says it is.
            let norm = crate::outward::norm(&found.weights);
            assert!(norm <= constants.optimum_bound() + tau);
        }
    }
}

#[test]
fn distances_below_float64_are_refused_before_any_pass() {
    let loss = Loss::Logistic;
    let data = dataset(loss, 100, 5, 1);
    let constants = constants(loss, 100, 5, 1e-4);
    let objective = Objective::new(&constants, &data).unwrap();
    let least = least_distance(&constants, Summation::Twice, 100);
    let mut passes = 0;
    let mut count = |_: &Progress| {
        passes += 1;
        ControlFlow::Continue(())
    };
    let start = Start { weights: &[0.0; 5], factor: None };
    let stopping = Stopping { distance: 0.9 * least };
    let refused = solve(&objective, Solver::Newton, stopping, start, &mut count);
    assert_eq!(refused, Err(SolveError::Unattainable { least, got: 0.9 * least }));
    for distance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = solve(&objective, Solver::Newton, Stopping { distance }, start, &mut count);
        assert!(said(refused.as_ref().err(), "`distance` (tau) must be finite"));
    }
    assert_eq!(passes, 0);
}

#[test]
fn the_least_attainable_distance_is_attained() {
    for loss in losses() {
        for lambda in [1e-4, 0.1] {
            let data = dataset(loss, 600, 9, 1);
            let constants = constants(loss, 600, 9, lambda);
            let objective = Objective::new(&constants, &data).unwrap();
            let zeros = vec![0.0; constants.parameters()];
            let least = least_distance(&constants, Summation::Twice, 600);
            for solver in [Solver::Newton, Solver::NewtonCg, Solver::Lbfgs] {
                let found = run(&objective, solver, least, &zeros).unwrap();
                assert!(found.distance <= least, "{loss:?} {solver:?}");
                assert_eq!(found.solver, Reached::By(solver), "{loss:?} {lambda}");
            }
        }
    }
}

/// The accepting pass counts the rounding of its own gradient against the goal.
#[test]
fn a_gradient_that_its_rounding_may_carry_beyond_the_goal_is_not_accepted() {
    for loss in losses() {
        let data = dataset(loss, 50, 4, 3);
        let constants = constants(loss, 50, 4, 0.1);
        let objective = Objective::new(&constants, &data).unwrap();
        let watch = &mut unwatched;
        let mut run = run::Run::new(&objective, 0.0, watch);
        let point = run.visit(vec![0.1; constants.parameters()]).unwrap();
        let (norm, slack) = (point.at.gradient_norm, point.at.slack);
        assert!(slack > 0.0);
        run.target = norm + 0.5 * slack;
        assert!(!run.accepts(&point), "{loss:?}");
        run.target = norm + 2.0 * slack;
        assert!(run.accepts(&point), "{loss:?}");
    }
}

/// Random problems: any loss, dense or sparse, any normaliser, columns of sizes 1e-6 to 1.
#[test]
fn the_accepted_distance_is_an_upper_bound_on_random_problems() {
    for seed in 0..120 {
        let mut rng = generator(1000 + seed);
        let mut pick = |n: usize| (uniform(&mut rng) * n as f64) as usize;
        let (n, d, sparse) = (pick(60), 1 + pick(12), pick(2) == 1);
        let loss = losses()[pick(losses().len())];
        let lambda = 10_f64.powi(-(pick(6) as i32));
        let loose = 10_f64.powi(pick(6) as i32);
        let mean = pick(3) == 0 && n > 0;
        let solver = [Solver::Automatic, Solver::NewtonCg, Solver::Lbfgs][pick(3)];
        let sizes: Vec<f32> = (0..d).map(|_| 10_f32.powi(-(pick(7) as i32))).collect();
        let x = if sparse { Matrix::sparse(d) } else { Matrix::dense(d) };
        let mut data = Dataset::new(x, Vec::new()).unwrap();
        for _ in 0..n {
            let scale = 1.0 / (d as f32).sqrt();
            let row: Vec<f32> =
                sizes.iter().map(|s| s * scale * (pick(1001) as f32 / 500.0 - 1.0)).collect();
            let target = match loss {
                Loss::Squared { .. } => pick(1000) as f64 / 100.0 - 5.0,
                Loss::Softmax { classes } => pick(classes) as f64,
                _ => pick(2) as f64,
            };
            let indices: Vec<u32> = (0..d as u32).filter(|_| pick(3) > 0).collect();
            let values: Vec<f32> = indices.iter().map(|&j| row[j as usize]).collect();
            match sparse {
                true => data.push(Row::Sparse { indices: &indices, values: &values }, target),
                false => data.push(Row::Dense(&row), target),
            }
            .unwrap();
        }
        let normalizer = match mean {
            true => Normalizer::Mean { minimum: 1 },
            false => Normalizer::Fixed { n: 60, capacity: 75 },
        };
        let declared = Declared { normalizer, ..constants(loss, 60, d, lambda).declared().clone() };
        let constants = declared.check().unwrap();
        let objective = Objective::new(&constants, &data).unwrap();
        let start: Vec<f64> = (0..constants.parameters()).map(|_| pick(9) as f64 - 4.0).collect();
        let tau = loose * least_distance(&constants, Summation::Twice, n);
        let found = run(&objective, solver, tau, &start).unwrap();
        let tight = run(&objective, Solver::Newton, tau / loose, &start).unwrap();
        let apart = apart(&found.weights, &tight.weights);
        assert!(apart <= found.distance + tight.distance, "seed {seed}");
        assert!(found.solver != Reached::LastResort, "seed {seed}: {solver:?} gave up");
        assert!(crate::outward::norm(&tight.weights) <= constants.optimum_bound() + tau);
    }
}

#[test]
fn a_watcher_cancels_and_bad_starts_are_refused() {
    let data = dataset(Loss::Logistic, 100, 5, 1);
    let constants = constants(Loss::Logistic, 100, 5, 1e-2);
    let objective = Objective::new(&constants, &data).unwrap();
    for solver in SOLVERS {
        let mut stop = |p: &Progress| match p.passes {
            3.. => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let start = Start { weights: &[0.0; 5], factor: None };
        let stopping = Stopping { distance: 1e-9 };
        let cancelled = solve(&objective, solver, stopping, start, &mut stop);
        assert_eq!(cancelled, Err(SolveError::Cancelled { passes: 3 }), "{solver:?}");
    }
    let short = run(&objective, Solver::Newton, 1e-3, &[0.0; 4]);
    assert_eq!(short, Err(Refusal::new("the start must have 5 finite weights, got 4").into()));
    let bad = run(&objective, Solver::Newton, 1e-3, &[0.0, 0.0, 0.0, 0.0, f64::NAN]);
    assert_eq!(bad, Err(Refusal::new("the start must have 5 finite weights, got 4").into()));
}

#[test]
fn a_dense_hessian_has_a_largest_size() {
    let cols = LARGEST_HESSIAN + 1;
    let mut data = Dataset::new(Matrix::sparse(cols), Vec::new()).unwrap();
    for i in 0..40_u32 {
        let row = Row::Sparse { indices: &[i, 1000 + i], values: &[0.5, 0.5] };
        data.push(row, f64::from(i % 2)).unwrap();
    }
    let constants = constants(Loss::Logistic, 40, cols, 1e-2);
    let objective = Objective::new(&constants, &data).unwrap();
    let zeros = vec![0.0; cols];
    assert_eq!(
        run(&objective, Solver::Newton, 1e-6, &zeros),
        Err(refusal!(
            "`newton` takes at most {LARGEST_HESSIAN} parameters, got {cols}; choose \
         `newton-cg` or `lbfgs`"
        )
        .into())
    );
    let found = run(&objective, Solver::Automatic, 1e-6, &zeros).unwrap();
    assert_eq!(found.solver, Reached::By(Solver::Lbfgs));
}

#[test]
fn the_automatic_choice_depends_on_public_constants() {
    let choice = |d, lambda| cheapest(&constants(Loss::Logistic, 100, d, lambda));
    assert_eq!(choice(50, 1e-3), Solver::Newton);
    assert_eq!(choice(784, 1e-3), Solver::Lbfgs);
    assert_eq!(choice(784, 1e-7), Solver::Newton);
    assert_eq!(choice(LARGEST_HESSIAN + 1, 1e-12), Solver::Lbfgs);
    let ten = |d, lambda| cheapest(&constants(Loss::Softmax { classes: 10 }, 100, d, lambda));
    assert_eq!(ten(20, 1e-7), Solver::Newton);
    assert_eq!(ten(785, 1e-3), Solver::Lbfgs);
    assert_eq!(ten(785, 1e-4), Solver::NewtonCg);
    assert_eq!(ten(50, 1e-3), Solver::NewtonCg);
    assert_eq!(ten(LARGEST_HESSIAN + 1, 1e-12), Solver::Lbfgs);
}

/// What the blocks of classes are for: the condition number of the whole, which conjugate gradients
/// alone would need its root of, hardly counts.
#[test]
fn blocks_of_classes_make_few_products_do() {
    let loss = Loss::Softmax { classes: 6 };
    let data = dataset(loss, 600, 15, 4);
    let constants = constants(loss, 600, 15, 1e-7);
    let objective = Objective::new(&constants, &data).unwrap();
    // All classes moved alike, which no block sees, besides a step that they do see.
    let mut rng = generator(3);
    let alike: Vec<f64> = (0..15).map(|_| normal(&mut rng)).collect();
    let start: Vec<f64> = (0..90).map(|k| alike[k % 15] + 0.1 * normal(&mut rng)).collect();
    let root = (constants.total_smoothness() / constants.strong_convexity()).sqrt();
    for start in [vec![0.0; 90], start] {
        let found = run(&objective, Solver::NewtonCg, 1e-3, &start).unwrap();
        assert_eq!(found.solver, Reached::By(Solver::NewtonCg));
        assert!(found.hessians > 0);
        let products = found.hessian_products as f64;
        assert!(products < root / 10.0, "{products} {root} {}", found.passes);
        let newton = run(&objective, Solver::Newton, 1e-3, &start).unwrap();
        let apart = outward::norm(
            &found.weights.iter().zip(&newton.weights).map(|(a, b)| a - b).collect::<Vec<_>>(),
        );
        assert!(apart <= found.distance + newton.distance);
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let loss = Loss::Softmax { classes: 4 };
    let data = dataset(loss, 3000, 12, 6);
    let declared =
        Declared { row_bound: 1.5, ..constants(loss, 3000, 12, 1e-3).declared().clone() };
    let constants = declared.check().unwrap();
    let zeros = vec![0.0; constants.parameters()];
    for solver in [Solver::Newton, Solver::NewtonCg, Solver::Lbfgs] {
        let results: Vec<Optimum> = [1, 2, 5]
            .into_iter()
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let objective = Objective::new(&constants, &data).unwrap();
                    run(&objective, solver, 1e-7, &zeros).unwrap()
                })
            })
            .collect();
        assert!(results.iter().all(|r| *r == results[0]), "{solver:?}");
    }
}

/// Columns of sizes 1 to 1e-5 that are nearly copies of each other, labels that are nearly separable.
fn ill_conditioned(loss: Loss, n: usize, d: usize) -> Dataset {
    let mut rng = generator(4);
    let mut data = Dataset::new(Matrix::dense(d), Vec::new()).unwrap();
    for i in 0..n {
        let shared = uniform(&mut rng) - 0.5;
        let row: Vec<f32> = (0..d)
            .map(|j| {
                let own = uniform(&mut rng) - 0.5;
                let size = 10.0_f64.powi(-(j as i32 % 6));
                (size * (shared + 1e-2 * own) / (d as f64).sqrt()) as f32
            })
            .collect();
        let target = match loss {
            Loss::Squared { .. } => 3.0 * shared,
            Loss::Softmax { classes } => ((shared + 0.5) * classes as f64).floor(),
            _ => f64::from(shared > 0.0 || i % 97 == 0),
        };
        data.push(Row::Dense(&row), target).unwrap();
    }
    data
}

/// Nothing but the last resort, at scikit-learn's C = 1 (lambda = 1/n), within its public caps.
#[test]
fn the_last_resort_alone_arrives_within_its_proven_steps() {
    for loss in losses() {
        let (n, d) = (400, 6);
        let data = ill_conditioned(loss, n, d);
        let constants = constants(loss, n as u64, d, 1.0 / n as f64);
        let objective = Objective::new(&constants, &data).unwrap();
        let target = constants.strong_convexity() * 1e-6;
        for size in [0.0, 3.0] {
            let start = vec![size; constants.parameters()];
            let caps = last_resort::Caps::of(&constants, crate::outward::norm(&start), target);
            let sure = newton_steps(&constants, crate::outward::norm(&start), target);
            let watch = &mut unwatched;
            let mut run = run::Run::new(&objective, target, watch);
            let first = run.visit(start).unwrap();
            let norm = crate::outward::norm(&first.weights);
            let most = accelerated_steps(&constants, norm + constants.optimum_bound(), target);
            let fast = last_resort::accelerated(&mut run, first.clone(), most).unwrap();
            assert!(run.accepts(&fast), "{loss:?}: accelerated, {caps:?}");
            assert!(run.passes <= most && caps.gradient <= most, "{loss:?} {}", run.passes);
            if let Some(sure) = sure {
                let newton = last_resort::damped_newton(&mut run, first.clone(), sure).unwrap();
                assert!(run.accepts(&newton), "{loss:?}: Newton, {sure}");
                assert!(run.hessians <= 60, "{loss:?}: {} Hessians", run.hessians);
                assert!(apart(&newton.weights, &fast.weights) <= 2e-6);
            }
            let last = last_resort::descend(&mut run, first).unwrap();
            assert!(run.accepts(&last), "{loss:?}: {caps:?}");
        }
    }
}

/// Nearly separable labels, lambda down to 1e-9: damped Newton does not depend on L/m.
#[test]
fn damped_newton_arrives_whatever_the_condition() {
    for loss in [Loss::Logistic, Loss::Softmax { classes: 3 }, Loss::UNCLIPPED] {
        for lambda in [1e-3, 1e-6, 1e-9] {
            let data = ill_conditioned(loss, 300, 6);
            let constants = constants(loss, 300, 6, lambda);
            let objective = Objective::new(&constants, &data).unwrap();
            let watch = &mut unwatched;
            let mut run = run::Run::new(&objective, lambda * 1e-2, watch);
            let first = run.visit(vec![0.0; constants.parameters()]).unwrap();
            let last = last_resort::descend(&mut run, first).unwrap();
            assert!(run.accepts(&last), "{loss:?} {lambda}");
            assert!(run.hessians <= 100, "{loss:?} {lambda}: {}", run.hessians);
            assert!(run.passes <= 400, "{loss:?} {lambda}: {}", run.passes);
        }
    }
}

/// A factor of anything costs passes at most: the solver that was chosen goes on from where it led.
#[test]
fn a_bad_factor_costs_passes_and_nothing_else() {
    let (n, d, lambda, tau) = (200, 8, 1e-3, 1e-7);
    for loss in losses() {
        let data = dataset(loss, n, d, 1);
        let constants = constants(loss, n as u64, d, lambda);
        let objective = Objective::new(&constants, &data).unwrap();
        let p = constants.parameters();
        let zeros = vec![0.0; p];
        for scale in [1e-9, 1e-3, 1.0, 1e9] {
            let mut rng = generator(6);
            let mut packed = Vec::new();
            for column in 0..p {
                packed.push(scale * (0.1 + uniform(&mut rng)));
                packed.extend((column + 1..p).map(|_| scale * 5.0 * normal(&mut rng)));
            }
            let factor = Factor::from_slice(p, &packed).unwrap();
            let stopping = Stopping { distance: tau };
            for solver in SOLVERS {
                let found =
                    solve_prepared(&objective, solver, stopping, &zeros, &factor, &mut unwatched)
                        .unwrap();
                assert_eq!(found.solver, Reached::By(solver), "{loss:?} {scale}");
                assert_eq!(found.by_prepared, solver != Solver::GradientDescent);
                assert!(found.distance <= tau);
                let most = most_work(&constants, solver, stopping, 0.0);
                assert!(found.passes <= most.passes && found.hessians <= most.hessians);
            }
        }
        let other = Factor::from_slice(1, &[1.0]).unwrap();
        let stopping = Stopping { distance: tau };
        let found =
            solve_prepared(&objective, Solver::Lbfgs, stopping, &zeros, &other, &mut unwatched);
        assert!(!found.unwrap().by_prepared, "one of another dimension is passed over");
    }
}
