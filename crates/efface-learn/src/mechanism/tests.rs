//! `retrain` and `solve`: what they release and what they refuse.

use std::ops::ControlFlow;

use efface_matrix::Refusal;
use efface_privacy::event::{Event, Normalizer, OutputNoise, Procedure, State};

use super::MechanismError;
use super::*;
use crate::example::{constants, dataset, generator, losses, normal, uniform};
use crate::solver::{Progress, SolveError, Solver, Start, Stopping, solve as optimum, unwatched};
use crate::{Constants, Dataset, Declared, Loss, Objective, said};

const GRID: f64 = 1.0 / (1_u64 << 40) as f64;

fn plan(state: State) -> OutputNoisePlan {
    OutputNoisePlan {
        distance: 1e-6,
        noise: (1_u64 << 34) as f64 * GRID,
        grid: GRID,
        state,
        joint_releases: if state == State::Secret { 2 } else { 1 },
        group: 1,
        solver: Solver::Automatic,
    }
}

fn output(released: &Released) -> &OutputNoise {
    match &released.event {
        Event::OutputNoise(event) => event,
        _ => panic!("another mechanism's event"),
    }
}

/// A tight solution to compare with.
fn reference(objective: &Objective<'_>) -> Vec<f64> {
    let zeros = vec![0.0; objective.constants().parameters()];
    let start = Start { weights: &zeros, factor: None };
    let stopping = Stopping { distance: 1e-9 };
    optimum(objective, Solver::Newton, stopping, start, &mut unwatched).unwrap().weights
}

#[test]
fn releases_are_the_optimum_plus_noise_of_the_right_scale() {
    // Per loss 300 releases of P weights, half retrained and half solved from a published model:
    // the sum of squares of (w - w*)/sigma is chi-square with 300 P degrees of freedom (tau and g
    // move it by less than 1e-3 of its deviation). 6 deviations: false-alarm rate 2e-9 per test,
    // fixed seeds.
    for (seed, loss) in losses().into_iter().enumerate() {
        let data = dataset(loss, 60, 4, 2);
        let constants = constants(loss, 60, 4, 0.1);
        let objective = Objective::new(&constants, &data).unwrap();
        let plan = plan(State::Perfect).check(&constants, 60).unwrap();
        let sigma = plan.plan().noise;
        let exact = reference(&objective);
        let mut rng = generator(seed as u64);
        let mut published = vec![0.5; exact.len()];
        let (mut squares, mut sum) = (0.0, 0.0);
        for k in 0..300 {
            let released = if k % 2 == 0 {
                retrain::retrain(&objective, &plan, 1, &mut rng, &mut unwatched).unwrap()
            } else {
                let watch = &mut unwatched;
                solve::from_published(&objective, &plan, &published, 2, &mut rng, watch).unwrap()
            };
            assert_eq!(released.kept, None);
            for (w, v) in released.weights.iter().zip(&exact) {
                assert_eq!((w / GRID).fract(), 0.0);
                squares += ((w - v) / sigma).powi(2);
                sum += (w - v) / sigma;
            }
            published = released.weights;
        }
        let count = 300.0 * exact.len() as f64;
        assert!((squares - count).abs() < 6.0 * (2.0 * count).sqrt(), "{loss:?} {squares}");
        assert!(sum.abs() < 6.0 * count.sqrt(), "{loss:?} {sum}");
    }
}

#[test]
fn events_state_the_plan() {
    let data = dataset(Loss::Logistic, 60, 4, 2);
    let constants = constants(Loss::Logistic, 60, 4, 0.1);
    let objective = Objective::new(&constants, &data).unwrap();
    let plan = plan(State::Perfect).check(&constants, 60).unwrap();
    let mut rng = generator(0);
    let first = retrain::retrain(&objective, &plan, 1, &mut rng, &mut unwatched).unwrap();
    let event = output(&first);
    assert_eq!(event.procedure, Procedure::Retrain);
    assert_eq!((event.releases, event.joint_releases, event.records), (1, 1, None));
    assert_eq!((event.distance.0, event.grid.0), (1e-6, GRID));
    assert_eq!((event.setting.lipschitz.0, event.setting.strong_convexity.0), (1.0, 0.1));
    let Evidence::Optimum { distance, .. } = first.evidence else {
        panic!("an optimum was found");
    };
    assert!(distance <= 1e-6);
    let watch = &mut unwatched;
    let again =
        solve::from_published(&objective, &plan, &first.weights, 2, &mut rng, watch).unwrap();
    assert_eq!((output(&again).procedure, output(&again).releases), (Procedure::Solve, 2));
    let mean =
        Declared { normalizer: Normalizer::Mean { minimum: 5 }, ..constants.declared().clone() };
    let mean = mean.check().unwrap();
    let objective = Objective::new(&mean, &data).unwrap();
    let released = retrain::retrain(&objective, &plan, 1, &mut rng, &mut unwatched).unwrap();
    assert_eq!(output(&released).records, Some(60));
}

#[test]
fn secret_state_is_handed_on_and_runs_out() {
    let mut data = dataset(Loss::Logistic, 200, 4, 2);
    let constants = constants(Loss::Logistic, 200, 4, 0.1);
    let plan = plan(State::Secret).check(&constants, 200).unwrap();
    let mut rng = generator(0);
    let objective = Objective::new(&constants, &data).unwrap();
    let first = retrain::retrain(&objective, &plan, 1, &mut rng, &mut unwatched).unwrap();
    let kept = first.kept.unwrap();
    assert_eq!(kept.releases, 1);
    data.remove_rows(&[0, 9]).unwrap();
    let objective = Objective::new(&constants, &data).unwrap();
    let watch = &mut unwatched;
    let second = solve::from_kept(&objective, &plan, &kept, 2, &mut rng, watch).unwrap();
    let Evidence::Optimum { hessians, .. } = second.evidence else {
        panic!("an optimum was found");
    };
    assert_eq!(hessians, 0, "the kept factor serves");
    let kept = second.kept.unwrap();
    assert_eq!(kept.releases, 2);
    let spent = solve::from_kept(&objective, &plan, &kept, 3, &mut rng, &mut unwatched);
    assert_eq!(spent, Err(MechanismError::Releases { spent: 2, limit: 2 }));
    // A refresh starts from the published model and counts anew.
    let watch = &mut unwatched;
    let fresh =
        solve::from_published(&objective, &plan, &second.weights, 3, &mut rng, watch).unwrap();
    assert_eq!(fresh.kept.unwrap().releases, 1);
    let perfect = self::plan(State::Perfect).check(&constants, 200).unwrap();
    let refused = solve::from_kept(&objective, &perfect, &kept, 3, &mut rng, &mut unwatched);
    assert_eq!(
        refused,
        Err(Refusal::new(
            "a run must start from what its plan can publish or keep: `perfect` state keeps \
         nothing"
        )
        .into())
    );
}

/// A memory of rows that may be deleted is for `secret` state alone: it is neither made nor changed
/// where the plan says `perfect`.
#[test]
fn perfect_state_keeps_no_memory() {
    let data = dataset(Loss::Logistic, 60, 4, 2);
    let constants = constants(Loss::Logistic, 60, 4, 0.1);
    let objective = Objective::new(&constants, &data).unwrap();
    let secret = plan(State::Secret).check(&constants, 60).unwrap();
    let perfect = plan(State::Perfect).check(&constants, 60).unwrap();
    let refused = newton::begin(&objective, &perfect, None, &mut unwatched);
    assert!(said(Some(&refused.unwrap_err()), "a run must start from"));

    let made = newton::begin(&objective, &secret, None, &mut unwatched).unwrap();
    let kept = made.publish(&constants, &secret, 1, &mut generator(0)).unwrap().kept.unwrap();
    let none = dataset(Loss::Logistic, 0, 4, 2);
    let refused = newton::change(&constants, &perfect, &kept, &none, &none);
    assert!(said(Some(&refused.unwrap_err()), "a run must start from"));
    newton::change(&constants, &secret, &kept, &none, &none).unwrap();
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let data = dataset(Loss::Logistic, 3000, 20, 2);
    let constants = constants(Loss::Logistic, 3000, 20, 0.01);
    let plan = plan(State::Secret).check(&constants, 3000).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let objective = Objective::new(&constants, &data).unwrap();
            retrain::retrain(&objective, &plan, 1, &mut generator(4), &mut unwatched).unwrap()
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(7));
}

#[test]
fn no_records_leave_noise_around_zero() {
    let data = dataset(Loss::Logistic, 0, 4, 2);
    let constants = constants(Loss::Logistic, 60, 4, 0.1);
    let objective = Objective::new(&constants, &data).unwrap();
    let plan = plan(State::Perfect).check(&constants, 0).unwrap();
    let released =
        retrain::retrain(&objective, &plan, 1, &mut generator(0), &mut unwatched).unwrap();
    // Each weight is within 8 sigma: false-alarm rate 5e-15, fixed seed.
    assert!(released.weights.iter().all(|w| w.abs() < 8.0 * plan.plan().noise));
    assert!(released.weights.iter().any(|w| *w != 0.0));
}

fn refuse(constants: &Constants, change: impl Fn(&mut OutputNoisePlan)) -> MechanismError {
    let mut plan = plan(State::Perfect);
    change(&mut plan);
    plan.check(constants, 60).unwrap_err()
}

#[test]
fn plans_that_break_a_rule_are_refused() {
    use crate::mechanism::MechanismError as E;
    let constants = constants(Loss::Logistic, 60, 4, 0.1);
    let c = &constants;
    assert!(said(Some(&refuse(c, |p| p.grid *= 1.5)), "`grid` must be a power of two"));
    assert!(said(Some(&refuse(c, |p| p.noise = 0.0)), "`noise` must be an integer multiple"));
    assert!(said(Some(&refuse(c, |p| p.noise = f64::NAN)), "`noise` must be an integer multiple"));
    assert!(said(
        Some(&refuse(c, |p| p.noise = f64::INFINITY)),
        "`noise` must be an integer multiple"
    ));
    let fine = 2.0_f64.powi(-60);
    let far = refuse(c, |p| (p.grid, p.noise) = (fine, fine * (1 << 30) as f64));
    assert!(matches!(far, MechanismError::Reach { .. }), "{far}");
    let tight = refuse(c, |p| p.distance = 1e-18);
    assert!(matches!(tight, E::Solve(SolveError::Unattainable { .. })));
    assert!(said(Some(&refuse(c, |p| p.distance = 0.0)), "`distance` (tau) must be finite"));
    assert!(said(Some(&refuse(c, |p| p.group = 0)), "`max-group` must be"));
    assert!(said(Some(&refuse(c, |p| p.joint_releases = 2)), "`releases` must be"));
    let none = refuse(c, |p| (p.state, p.joint_releases) = (State::Secret, 0));
    assert!(said(Some(&none), "`releases` must be"));
}

/// A kept Hessian saves passes; what it cannot do is lead elsewhere.
#[test]
fn a_prepared_request_ends_where_others_do() {
    for loss in losses() {
        let mut data = dataset(loss, 300, 12, 8);
        let constants = constants(loss, 300, 12, 1e-3);
        let output = OutputNoisePlan { solver: Solver::Lbfgs, ..plan(State::Perfect) };
        let output = output.check(&constants, 300).unwrap();
        let mut rng = generator(3);
        let objective = Objective::new(&constants, &data).unwrap();
        let first = retrain::retrain(&objective, &output, 1, &mut rng, &mut unwatched).unwrap();
        let prepared = solve::prepare(&objective, &first.weights, 1, &mut unwatched).unwrap();
        data.remove_rows(&[5, 6, 250]).unwrap();
        let objective = Objective::new(&constants, &data).unwrap();
        let Steering::Factor(factor) = &prepared.kept else { panic!("a factor was asked for") };
        let watch = &mut unwatched;
        let with =
            solve::from_prepared(&objective, &output, &first.weights, factor, 2, &mut rng, watch)
                .unwrap();
        let watch = &mut unwatched;
        let without =
            solve::from_published(&objective, &output, &first.weights, 2, &mut rng, watch).unwrap();
        assert_eq!(with.event, without.event);
        let facts = |released: &Released| match released.evidence {
            Evidence::Optimum { distance, passes, hessians, by_kept_hessian, .. } => {
                assert!(distance <= 1e-6 && hessians == 0, "{loss:?}");
                (passes, by_kept_hessian)
            }
            _ => panic!("an optimum was found"),
        };
        let (few, many) = (facts(&with), facts(&without));
        assert!(few.1 && !many.1 && few.0 < many.0, "{loss:?} {few:?} {many:?}");
        assert_eq!((with.kept, without.kept), (None, None));
    }
}

/// Bytes are a function of weights and records, whatever was there before and however it left.
#[test]
fn a_prepared_hessian_is_that_of_the_records_there_are() {
    let mut rng = generator(11);
    for (loss, n, d) in
        losses().into_iter().flat_map(|loss| [(loss, 60, 5), (loss, 9000, 3), (loss, 700, 300)])
    {
        let all = dataset(loss, n, d, 4);
        let gone: Vec<usize> = (0..n).filter(|_| uniform(&mut rng) < 0.2).collect();
        let mut changed = dataset(loss, n, d, 4);
        changed.remove_rows(&gone).unwrap();
        let mut fresh = Dataset::new(efface_matrix::Matrix::dense(d), Vec::new()).unwrap();
        for row in (0..n).filter(|row| gone.binary_search(row).is_err()) {
            fresh.push_from(&all, row).unwrap();
        }
        let constants = constants(loss, n as u64, d, 0.01);
        let weights: Vec<f64> = (0..constants.parameters()).map(|_| normal(&mut rng)).collect();
        let output = plan(State::Perfect).check(&constants, n).unwrap();
        let factor = |data: &Dataset| {
            let objective = Objective::new(&constants, data).unwrap();
            solve::prepare(&objective, &weights, 3, &mut unwatched).unwrap().to_bytes()
        };
        let point = |data: &Dataset| {
            let objective = Objective::new(&constants, data).unwrap();
            let watch = &mut unwatched;
            let prepared = newton::prepare(&objective, &output, &weights, 3, watch).unwrap();
            prepared.map(|prepared| prepared.to_bytes())
        };
        assert_eq!(factor(&changed), factor(&fresh), "{loss:?} {n} x {d}");
        assert_ne!(factor(&changed), factor(&all), "{loss:?} {n} x {d}");
        let ours = point(&changed);
        assert_eq!(ours.is_some(), loss.link_bounds().self_concordance.is_some());
        assert_eq!(ours, point(&fresh), "{loss:?} {n} x {d}");
        assert!(ours.is_none() || ours != point(&all), "{loss:?} {n} x {d}");
    }
}

#[test]
fn a_hessian_that_cannot_be_kept_is_refused() {
    let data = dataset(Loss::Logistic, 30, 2049, 2);
    let constants = constants(Loss::Logistic, 30, 2049, 0.1);
    let objective = Objective::new(&constants, &data).unwrap();
    let zeros = vec![0.0; 2049];
    let refused = solve::prepare(&objective, &zeros, 1, &mut unwatched);
    assert!(said(refused.as_ref().err(), "parameters, got 2049"), "{refused:?}");

    let data = dataset(Loss::Logistic, 30, 3, 2);
    let constants = self::constants(Loss::Logistic, 30, 3, 0.1);
    let objective = Objective::new(&constants, &data).unwrap();
    let stop = &mut |_: &Progress| ControlFlow::Break(());
    assert!(solve::prepare(&objective, &zeros[..3], 1, stop).unwrap_err().is_cancelled());
    assert!(solve::prepare(&objective, &zeros, 1, &mut unwatched).is_err());
}

/// A prepared point serves a request without a pass, within the distance, and by the same event; where its
/// bound does not hold, the request goes on from there.
#[test]
fn a_prepared_point_needs_no_pass() {
    for loss in [Loss::Logistic, Loss::Squared { clip: f64::INFINITY }] {
        let mut data = dataset(loss, 4000, 6, 8);
        let constants = constants(loss, 4000, 6, 0.1);
        let loose = OutputNoisePlan { distance: 1e-5, ..plan(State::Perfect) };
        let output = loose.check(&constants, 4000).unwrap();
        let mut rng = generator(3);
        let watch = &mut unwatched;
        let objective = Objective::new(&constants, &data).unwrap();
        let first = retrain::retrain(&objective, &output, 1, &mut rng, watch).unwrap();
        let prepared = newton::prepare(&objective, &output, &first.weights, 1, watch);
        let prepared = prepared.unwrap().unwrap();
        let Steering::Point(point) = &prepared.kept else { panic!("a point was asked for") };
        let none = Dataset::new(efface_matrix::Matrix::dense(6), Vec::new()).unwrap();
        for gone in [vec![7], (0..1500).collect::<Vec<usize>>()] {
            let removed = data.picked(gone.iter().copied()).unwrap();
            let mut rest = data.picked(0..4000).unwrap();
            rest.remove_rows(&gone).unwrap();
            let objective = Objective::new(&constants, &rest).unwrap();
            let pending =
                newton::from_prepared(&constants, &output, point, &removed, &none).unwrap();
            let far = pending.needs_pass(&output);
            assert_eq!(far, gone.len() > 1 && loss == Loss::Logistic, "{loss:?}");
            let released = match far {
                true => pending.solve(&objective, &output, 2, &mut rng, watch).unwrap(),
                false => pending.publish(&constants, &output, 2, &mut rng).unwrap(),
            };
            let (passes, by_it, distance) = match released.evidence {
                Evidence::Remembered { passes, by_kept_hessian, distance, .. }
                | Evidence::Optimum { passes, by_kept_hessian, distance, .. } => {
                    (passes, by_kept_hessian, distance)
                }
                _ => panic!("an optimum was found"),
            };
            assert!(by_it && distance <= 1e-5 && (passes > 0) == far && passes <= 4, "{passes}");
            let other =
                solve::from_published(&objective, &output, &first.weights, 2, &mut rng, watch);
            assert_eq!(released.event, other.unwrap().event);
            assert_eq!(released.kept, None);
            // Noise of sigma on every weight, and what lies within the distance.
            let sigma = output.plan().noise;
            let exact = reference(&objective);
            assert!(exact.iter().zip(&released.weights).all(|(a, b)| (a - b).abs() < 7.0 * sigma));
        }
        data.remove_rows(&[0]).unwrap();
    }
}

/// Where a point could not do without a pass there is none: losses without a bound, and distances near what
/// float64 certifies.
#[test]
fn a_point_is_prepared_where_it_is_of_use() {
    let watch = &mut unwatched;
    let asked = |loss: Loss, distance: f64| {
        let data = dataset(loss, 400, 4, 8);
        let constants = constants(loss, 400, 4, 1e-3);
        let plan = OutputNoisePlan { distance, ..plan(State::Perfect) };
        let plan = plan.check(&constants, 400).unwrap();
        let objective = Objective::new(&constants, &data).unwrap();
        let start = vec![0.0; constants.parameters()];
        newton::prepare(&objective, &plan, &start, 1, &mut unwatched).unwrap().is_some()
    };
    assert!(asked(Loss::Logistic, 1e-6));
    assert!(!asked(Loss::Logistic, 5e-12));
    for loss in losses() {
        let bound = loss.link_bounds().self_concordance.is_some();
        assert_eq!(asked(loss, 1e-6), bound, "{loss:?}");
    }
    let data = dataset(Loss::Logistic, 30, 3, 2);
    let constants = self::constants(Loss::Logistic, 30, 3, 0.1);
    let objective = Objective::new(&constants, &data).unwrap();
    let checked = plan(State::Perfect).check(&constants, 30).unwrap();
    let stop = &mut |_: &Progress| ControlFlow::Break(());
    let stopped = newton::prepare(&objective, &checked, &[0.0; 3], 1, stop);
    assert!(stopped.unwrap_err().is_cancelled());
    assert!(newton::prepare(&objective, &checked, &[0.0; 4], 1, watch).is_err());
}
