//! What is prepared for one request: bounds against the truth, bytes, and what makes two alike.

use super::super::point::Point;
use super::problem::{Problem, Record, below, dataset, distance, residual, scale};
use crate::example::{constants, generator, normal};
use crate::newton::NewtonError;
use crate::objective::LARGEST_HESSIAN;
use crate::solver::{Solver, Start, Stopping, solve, unwatched};
use crate::{Loss, Objective, outward, said};
use efface_matrix::Refusal;

const STOP: Stopping = Stopping { distance: 1e-3 };

fn near(objective: &Objective<'_>) -> Vec<f64> {
    let zeros = vec![0.0; objective.constants().parameters()];
    let start = Start { weights: &zeros, factor: None };
    solve(objective, Solver::Newton, STOP, start, &mut unwatched).map_or(zeros, |f| f.weights)
}

#[test]
fn bounds_are_never_below_the_truth_on_random_problems() {
    let (mut useful, mut caught) = (0, [0, 0]);
    for seed in 0..8_000 {
        let mut rng = generator(seed);
        // A few changes of many records, too.
        let most = if seed % 32 == 0 { 400 } else { 16 };
        let mut problem = Problem::random_of(&mut rng, most);
        let constants = problem.constants.clone();
        let stopping = Stopping { distance: scale(&mut rng, -9.0, -1.0) };
        let data = problem.data();
        let objective = Objective::new(&constants, &data).unwrap();
        let mut weights = near(&objective);
        let away = [0.0, 0.0, 1e-4, 0.3][below(&mut rng, 4) as usize];
        weights.iter_mut().for_each(|w| *w += away * normal(&mut rng));
        let point = Point::new(&objective, &weights).unwrap();
        let point = Point::from_bytes(&point.to_bytes()).unwrap();
        let [removed, added] = problem.change(&mut rng);
        let memory = match point.change(&constants, &removed, &added, stopping) {
            Err(NewtonError::NoFactor) => continue,
            other => other.unwrap(),
        };
        assert_eq!(memory.records(), problem.records.len() as u64);
        let (bound, data, w) = (memory.bound(), problem.data(), memory.weights());
        let (off, left) = (distance(&constants, &data, &w), residual(&constants, &data, &w));
        if left.is_nan() {
            continue;
        }
        let case = format!("seed {seed}, {:?}, {bound:?}", constants.declared());
        assert!(left * (1.0 - 1e-13) <= bound.residual, "{left} {case}");
        assert!(off <= bound.distance, "{off} {case}");
        if off > outward::gamma(1e4) && bound.distance.is_finite() {
            useful += 1;
            caught[0] += u32::from(0.5 * bound.distance < off);
            caught[1] += u32::from(0.5 * bound.residual < left);
        }
    }
    assert!(useful >= 2000, "{useful} cases say something");
    assert!(caught[0] >= 15 && caught[1] >= 100, "{caught:?} halved bounds caught");
}

/// A factor that was made before, as by whoever holds the point in memory, changes no bit; and with few rows or
/// many that change, the step ends where the bound was asked to.
#[test]
fn a_factor_made_before_is_the_one_made_for_the_change() {
    let (loss, none) = (Loss::Logistic, dataset(6, &[]));
    let data = crate::example::dataset(loss, 300, 6, 5);
    let constants = constants(loss, 300, 6, 0.01);
    let objective = Objective::new(&constants, &data).unwrap();
    let point = Point::new(&objective, &near(&objective)).unwrap();
    let read = Point::from_bytes(&point.to_bytes()).unwrap();
    point.step(&constants, STOP).unwrap();
    for rows in [0, 1, 4, 5, 40] {
        let removed = data.picked(0..rows).unwrap();
        let memory = point.change(&constants, &removed, &none, STOP).unwrap();
        assert_eq!(memory, read.change(&constants, &removed, &none, STOP).unwrap());
        // What is left of the step is far less than what bends on the way, or what rounding may do.
        let bound = memory.bound();
        assert!(bound.distance < 0.1 && bound.known < 1e-3, "{rows}: {bound:?}");
    }
    // Other constants have another ridge, and its factor.
    let heavier = crate::example::constants(loss, 300, 6, 0.02);
    let one = data.picked(0..1).unwrap();
    let memory = point.change(&heavier, &one, &none, STOP).unwrap();
    let fresh = Point::from_bytes(&point.to_bytes()).unwrap();
    assert_eq!(memory, fresh.change(&heavier, &one, &none, STOP).unwrap());
}

/// The Hessian is kept as float32, and its error says so: without the rounding's share it would be too small.
#[test]
fn the_error_of_the_hessian_covers_its_rounding() {
    for seed in 0..40 {
        let data = crate::example::dataset(Loss::Logistic, 300, 7, seed);
        let constants = constants(Loss::Logistic, 300, 7, 0.01);
        let objective = Objective::new(&constants, &data).unwrap();
        let (_, exact) = super::super::pass::form(&objective, &[0.3; 7]).unwrap();
        let rounded = exact.clone().rounded();
        // The lower triangle; the whole matrix is at most a root of 2 farther off.
        let pairs = exact.data.packed().iter().zip(rounded.data.packed());
        let off = pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        assert!(off * std::f64::consts::SQRT_2 <= rounded.error, "{off} {}", rounded.error);
        assert!(off > 10.0 * exact.error, "{off} {}", exact.error);
        assert!(rounded.error < 30.0 * off, "{off} {}", rounded.error);
    }
}

#[test]
fn bytes_come_back_and_damage_is_refused() {
    let data = crate::example::dataset(Loss::Logistic, 60, 3, 5);
    let constants = constants(Loss::Logistic, 60, 3, 0.01);
    let objective = Objective::new(&constants, &data).unwrap();
    let point = Point::new(&objective, &near(&objective)).unwrap();
    let good = point.to_bytes();
    assert_eq!(good.len(), 32 + 16 * 3 + 4 * 6);
    assert_eq!(Point::from_bytes(&good), Ok(point));
    for end in 0..good.len() {
        assert!(Point::from_bytes(&good[..end]).is_err(), "{end}");
    }
    let changed = |at: usize, with: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + with.len()].copy_from_slice(with);
        Point::from_bytes(&bytes).unwrap_err()
    };
    let longer = [&good[..], &[0]].concat();
    let error = Point::from_bytes(&longer).unwrap_err();
    assert_eq!(error, Refusal::new("it must have 104 bytes, got 105"));
    assert_eq!(
        changed(0, &[0xff; 8]),
        refusal!("it must be of 1 to {LARGEST_HESSIAN} weights, got {}", u64::MAX)
    );
    assert_eq!(
        changed(0, &[0; 8]),
        refusal!("it must be of 1 to {LARGEST_HESSIAN} weights, got 0")
    );
    assert_eq!(changed(0, &[4]), refusal!("it must have {} bytes, got 104", 32 + 64 + 40));
    for (at, index) in [(16, 0), (24, 1), (32, 2), (72, 7)] {
        let error = changed(at, &f64::NAN.to_le_bytes());
        assert!(said(Some(&error), &format!("number {index} is")), "{error}");
    }
    let error = changed(24, &(-1.0_f64).to_le_bytes());
    assert_eq!(
        error,
        Refusal::new("it must hold finite numbers and no negative error, number 1 is -1")
    );
    let error = changed(80, &f32::INFINITY.to_le_bytes());
    assert_eq!(
        error,
        refusal!(
            "it must hold finite numbers and no negative error, number 8 is {}",
            f64::INFINITY
        )
    );
}

/// Two solves that end elsewhere near one optimum are alike; another data set's is not.
#[test]
fn near_ones_are_of_the_same_records() {
    for loss in [Loss::Logistic, Loss::Squared { clip: f64::INFINITY }] {
        let mut data = crate::example::dataset(loss, 200, 4, 5);
        let constants = constants(loss, 200, 4, 0.01);
        let objective = Objective::new(&constants, &data).unwrap();
        let best = near(&objective);
        let moved: Vec<f64> = best.iter().map(|w| w + 1e-7).collect();
        let [point, other] = [&best, &moved].map(|at| Point::new(&objective, at).unwrap());
        assert_ne!(point, other);
        assert!(point.is_near(&other, &constants) && other.is_near(&point, &constants));
        for (at, factor) in [(16, 0.5), (24, 0.5), (16, 1e9), (24, 1e9)] {
            let mut bytes = other.to_bytes();
            let stated = f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            bytes[at..at + 8].copy_from_slice(&(factor * stated).to_le_bytes());
            let said = Point::from_bytes(&bytes).unwrap();
            assert!(!point.is_near(&said, &constants) && !said.is_near(&point, &constants));
        }
        data.remove_rows(&[3]).unwrap();
        let objective = Objective::new(&constants, &data).unwrap();
        let fewer = Point::new(&objective, &best).unwrap();
        assert!(!point.is_near(&fewer, &constants));
        // Of as many records, one of which is another.
        let again = crate::example::dataset(loss, 1, 4, 77);
        data.push_from(&again, 0).unwrap();
        let objective = Objective::new(&constants, &data).unwrap();
        let replaced = Point::new(&objective, &near(&objective)).unwrap();
        assert!(!point.is_near(&replaced, &constants), "{loss:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let data = crate::example::dataset(Loss::Logistic, 20, 3, 5);
    let three = constants(Loss::Logistic, 20, 3, 0.01);
    let point = Point::new(&Objective::new(&three, &data).unwrap(), &[0.0; 3]).unwrap();
    let none = dataset(3, &[]);
    let all = crate::example::dataset(Loss::Logistic, 21, 3, 5);
    let error = point.change(&three, &all, &none, STOP).unwrap_err();
    assert_eq!(error, Refusal::new("the memory is of 20 records, got 21").into());
    let long: Vec<Record> = vec![(vec![2.0, 0.0, 0.0], 1.0, 1.0)];
    let error = point.change(&three, &none, &dataset(3, &long), STOP).unwrap_err();
    assert!(said(Some(&error), "must have norm at most"), "{error}");
    let four = constants(Loss::Logistic, 20, 4, 0.01);
    let error = point.step(&four, STOP).unwrap_err();
    assert_eq!(error, Refusal::new("the memory is of 3 parameters, but the model has 4").into());
    let hinge = constants(Loss::HuberHinge { width: 0.5 }, 20, 3, 0.01);
    assert!(said(point.step(&hinge, STOP).as_ref().err(), "Newton removal needs a loss"));
    assert!(said(
        Point::new(&Objective::new(&hinge, &data).unwrap(), &[0.0; 3]).as_ref().err(),
        "Newton removal needs a loss"
    ));
}
