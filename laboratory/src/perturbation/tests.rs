//! The bound on the residual, the budget, and the noise.

use efface_learn::Declared;
use efface_learn::solver::unwatched;
use efface_matrix::{Matrix, Row, weighted_gram};
use efface_privacy::event::Normalizer;

use super::*;
use crate::trial::draws::{generator, normal, uniform};

fn empty(cols: usize) -> Dataset {
    Dataset::new(Matrix::dense(cols), Vec::new()).unwrap()
}

/// Rows of norm at most 1 and random classes.
fn records(rows: usize, cols: usize, seed: u64) -> Dataset {
    let mut rng = generator(seed, 0);
    let mut data = empty(cols);
    for _ in 0..rows {
        let row: Vec<f64> = (0..cols).map(|_| normal(&mut rng)).collect();
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt() * 1.001;
        let row: Vec<f32> = row.iter().map(|x| (x / norm) as f32).collect();
        let class = f64::from(u8::from(f64::from(row[0]) + 0.3 * normal(&mut rng) > 0.0));
        data.push(Row::Dense(&row), class).unwrap();
    }
    data
}

/// Moves `count` rows from the front of one data set to another.
fn take(from: &mut Dataset, count: usize) -> Dataset {
    let mut taken = empty(from.cols());
    for row in 0..count {
        taken.push_from(from, row).unwrap();
    }
    from.remove_rows(&(0..count).collect::<Vec<_>>()).unwrap();
    taken
}

fn constants(cols: usize, lambda: f64, normalizer: Normalizer) -> Constants {
    let (row_bound, target_bound, max_weight) = (1.0, 0.0, None);
    let loss = Loss::Logistic;
    Declared { loss, cols, lambda, normalizer, row_bound, target_bound, max_weight }
        .check()
        .unwrap()
}

fn plan(constants: &Constants, budget: f64) -> Plan {
    Plan::new(constants, 1.0, budget, 1e-9, Solver::Newton).unwrap()
}

/// Requests of every kind, under both normalisers: the accumulated bound is never below the true
/// residual, and one step's share never above its worst case.
#[test]
fn the_accumulated_bound_is_above_the_true_residual() {
    for (seed, lambda) in [(1, 0.003), (2, 0.03), (3, 0.3)] {
        for normalizer in
            [Normalizer::Fixed { n: 150, capacity: 400 }, Normalizer::Mean { minimum: 1 }]
        {
            let constants = constants(5, lambda, normalizer);
            let mut data = records(150, 5, seed);
            let mut pool = records(150, 5, seed + 100);
            let mut rng = generator(seed, 1);
            let plan = plan(&constants, 1e9);
            let truth = |objective: &Objective<'_>, model: &Model| {
                let perturbed = perturbed_objective(objective, &model.perturbation).unwrap();
                objective.normalizer() * perturbed.evaluate(&model.weights).unwrap().gradient_norm
            };
            let objective = Objective::new(&constants, &data).unwrap();
            let mut now = train(&objective, &plan, &mut rng, &mut unwatched).unwrap();
            assert!(truth(&objective, &now) <= now.residual);
            for _ in 2..30 {
                let removed = take(&mut data, (uniform(&mut rng) * 5.0) as usize);
                let added = take(&mut pool, (uniform(&mut rng) * 4.0) as usize);
                for row in 0..added.rows() {
                    data.push_from(&added, row).unwrap();
                }
                let objective = Objective::new(&constants, &data).unwrap();
                let changed = (&removed, &added);
                let next = request(&objective, &plan, &now, changed, &mut rng, &mut unwatched);
                let next = next.unwrap();
                assert_eq!(next.perturbation, now.perturbation);
                let (share, worst) = next.step.unwrap();
                assert!(share <= worst, "{normalizer:?} {lambda}: {share} {worst}");
                let truth = truth(&objective, &next);
                assert!(truth <= next.residual, "{normalizer:?} {lambda}: {truth}");
                now = next;
            }
        }
    }
}

#[test]
fn a_spent_budget_trains_anew_with_another_perturbation() {
    let constants = constants(4, 0.01, Normalizer::Fixed { n: 60, capacity: 60 });
    let mut data = records(60, 4, 9);
    let plan = plan(&constants, 0.05);
    let mut rng = generator(9, 1);
    let objective = Objective::new(&constants, &data).unwrap();
    let mut now = train(&objective, &plan, &mut rng, &mut unwatched).unwrap();
    let mut anew = 0;
    for _ in 2..40 {
        let removed = take(&mut data, 1);
        let objective = Objective::new(&constants, &data).unwrap();
        let changed = (&removed, &empty(4));
        let next = request(&objective, &plan, &now, changed, &mut rng, &mut unwatched).unwrap();
        assert!(next.residual <= 0.05);
        assert_eq!(next.step.is_none(), next.perturbation != now.perturbation);
        anew += usize::from(next.step.is_none());
        now = next;
    }
    assert!((1..38).contains(&anew), "{anew}");
}

/// The squared bound is not below the largest eigenvalue and within a few per cent of it.
#[test]
fn the_spectral_bound_is_above_and_close() {
    for (seed, n, d) in [(1, 3, 7), (2, 50, 4), (3, 400, 30), (4, 1, 1)] {
        let data = records(n, d, seed);
        let gram = weighted_gram(data.x(), &vec![1.0; n]).unwrap();
        let entry = |i: usize, j: usize| if i >= j { gram[(i, j)] } else { gram[(j, i)] };
        // Rayleigh quotients after many products err below by far less than the margin.
        let mut rng = generator(seed, 2);
        let mut v: Vec<f64> = (0..d).map(|_| normal(&mut rng)).collect();
        let mut largest = 0.0;
        for _ in 0..2000 {
            let product: Vec<f64> =
                (0..d).map(|i| (0..d).map(|j| entry(i, j) * v[j]).sum()).collect();
            largest = outward::norm(&product);
            v = product.into_iter().map(|x| x / largest).collect();
        }
        let bound = residual::spectral(&data).unwrap();
        assert!(bound >= largest * (1.0 - 1e-12), "{seed}: {bound} {largest}");
        assert!(bound <= largest * 1.06, "{seed}: {bound} {largest}");
    }
    assert_eq!(residual::spectral(&empty(3)).unwrap(), 0.0);
}

/// The perturbation has the plan's deviation: 40 trainings of 4 entries, 160 squares; 6 deviations
/// of the chi-square, false-alarm rate 2e-9, fixed seed.
#[test]
fn the_perturbation_is_normal_of_the_right_scale() {
    let constants = constants(4, 0.1, Normalizer::Fixed { n: 30, capacity: 30 });
    let data = records(30, 4, 5);
    let objective = Objective::new(&constants, &data).unwrap();
    let plan = plan(&constants, 1e9);
    let mut rng = generator(5, 1);
    let mut squares = 0.0;
    for _ in 0..40 {
        let now = train(&objective, &plan, &mut rng, &mut unwatched).unwrap();
        squares += now.perturbation.iter().map(|b| b * b).sum::<f64>();
    }
    assert!((squares - 160.0).abs() < 6.0 * 320.0_f64.sqrt(), "{squares}");
}
