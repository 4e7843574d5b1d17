//! `ridge`: exactness whatever the history, and refusals that change nothing.
#![allow(clippy::needless_range_loop, reason = "the indices are those of the formulas")]

mod balanced;
mod targets;

use std::ops::ControlFlow;

use efface_matrix::{Matrix, Refusal, Row};
use efface_privacy::event::Normalizer;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;
use crate::example::{generator, normal, uniform};
use crate::mechanism::MechanismError;
use crate::{Declared, said};

/// Rows and targets by position.
type Records = Vec<(Vec<f32>, f64)>;

fn going(_: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn declared(cols: usize, n: u64, lambda: f64) -> Declared {
    Declared {
        loss: Loss::UNCLIPPED,
        cols,
        lambda,
        normalizer: Normalizer::Fixed { n, capacity: n + n / 4 + 1 },
        row_bound: 1.0,
        target_bound: 1.0,
        max_weight: None,
    }
}

fn plan(declared: Declared) -> RidgePlan {
    RidgePlan::new(declared.check().unwrap()).unwrap()
}

/// Records within the bounds, some exactly on them, some on ties of the grid.
fn records(n: usize, cols: usize, seed: u64) -> Records {
    let mut rng = generator(seed);
    let mut record = |i: usize| {
        let mut row: Vec<f32> = (0..cols).map(|_| (normal(&mut rng) / 9.0) as f32).collect();
        let norm = row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        if norm > 1.0 {
            row.iter_mut().for_each(|x| *x = (f64::from(*x) / norm * (1.0 - 1e-6)) as f32);
        }
        if i.is_multiple_of(7) {
            row.fill(0.0);
            row[i % cols] = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        }
        if i.is_multiple_of(5) {
            row[i % cols] *= 0.5;
            row[(i + 1) % cols] = 2.0_f32.powi(-23) * (i % 8) as f32;
        }
        (row, 2.0 * uniform(&mut rng) - 1.0)
    };
    (0..n).map(&mut record).collect()
}

fn dataset<'a>(cols: usize, records: impl IntoIterator<Item = &'a (Vec<f32>, f64)>) -> Dataset {
    let mut data = Dataset::new(Matrix::dense(cols), Vec::new()).unwrap();
    for (row, y) in records {
        data.push(Row::Dense(row), *y).unwrap();
    }
    data
}

fn fit(plan: &RidgePlan, data: &Dataset) -> Released {
    learn(plan, data, &mut going).unwrap()
}

fn kept(released: &Released) -> &Kept {
    released.kept.as_ref().unwrap()
}

fn sums(plan: &RidgePlan, released: &Released) -> Sums {
    plan.read(kept(released)).unwrap()
}

/// The same bits, signs of zeros included.
fn bits(weights: &[f64]) -> Vec<u64> {
    weights.iter().map(|w| w.to_bits()).collect()
}

#[test]
fn any_history_gives_the_bits_of_learning_from_the_rest() {
    // Up to 12 requests, each deleting some of the current records and adding fresh ones, then
    // compared with learning from the rest in reverse order.
    const COLS: usize = 7;
    let all = records(400, COLS, 1);
    let histories =
        prop::collection::vec((prop::collection::vec(any::<u16>(), 0..20), 0..25_usize), 1..12);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    let mut runner = TestRunner::new_with_rng(Config::with_cases(200), rng);
    let mean = Normalizer::Mean { minimum: 1 };
    let (fixed, classes) = (Normalizer::Fixed { n: 100, capacity: 400 }, of_classes(&all));
    let several = Loss::SquaredClasses { classes: CLASSES };
    for (normalizer, loss, all) in
        [(fixed, Loss::UNCLIPPED, &all), (mean, Loss::UNCLIPPED, &all), (mean, several, &classes)]
    {
        let plan = plan(Declared { normalizer, loss, ..declared(COLS, 100, 1e-3) });
        let check = |history: Vec<(Vec<u16>, usize)>| {
            let mut live: Vec<usize> = (0..100).collect();
            let mut next = live.len();
            let mut last = fit(&plan, &dataset(COLS, &all[..100]));
            let mut releases = 1;
            for (deletions, additions) in history {
                let mut gone = Vec::new();
                for pick in deletions {
                    if live.len() > 1 {
                        gone.push(live.swap_remove(usize::from(pick) % live.len()));
                    }
                }
                let fresh = next..(next + additions).min(all.len());
                live.extend(fresh.clone());
                next = fresh.end;
                let gone = dataset(COLS, gone.iter().map(|i| &all[*i]));
                let fresh = dataset(COLS, &all[fresh]);
                releases += 1;
                last = request(&plan, kept(&last), &gone, &fresh, releases, &mut going).unwrap();
                let records = (gone.rows() + fresh.rows()) as u64;
                prop_assert_eq!(&last.evidence, &Evidence::Sums { records });
                prop_assert_eq!(&last.event, &Event::ExactRemoval(plan.event(releases)));
            }
            let rest = fit(&plan, &dataset(COLS, live.iter().rev().map(|i| &all[*i])));
            prop_assert_eq!(&last.kept, &rest.kept);
            prop_assert_eq!(bits(&last.weights), bits(&rest.weights));
            Ok(())
        };
        runner.run(&histories, check).unwrap();
    }
}

/// As many as records of [`of_classes`] have.
const CLASSES: usize = 3;

/// The same records with a class in the place of y: the third of [-1, 1] that it is in.
fn of_classes(records: &Records) -> Records {
    let class = |y: f64| ((y + 1.0) * 0.5 * CLASSES as f64).floor().min(CLASSES as f64 - 1.0);
    records.iter().map(|(row, y)| (row.clone(), class(*y))).collect()
}

#[test]
fn each_class_is_a_regression_on_plus_and_minus_one() {
    const COLS: usize = 9;
    let records = of_classes(&records(700, COLS, 4));
    let several = Loss::SquaredClasses { classes: CLASSES };
    let of_all = plan(Declared { loss: several, ..declared(COLS, 700, 1e-3) });
    let alone = plan(declared(COLS, 700, 1e-3));
    let found = fit(&of_all, &dataset(COLS, &records));
    assert_eq!(found.weights.len(), CLASSES * COLS);
    for (class, weights) in found.weights.chunks_exact(COLS).enumerate() {
        let sign = |y: f64| if y == class as f64 { 1.0 } else { -1.0 };
        let one: Records = records.iter().map(|(row, y)| (row.clone(), sign(*y))).collect();
        assert_eq!(bits(weights), bits(&fit(&alone, &dataset(COLS, &one)).weights), "{class}");
    }
    // Of two classes each output is the other's negative.
    let two: Records = records.iter().map(|(row, y)| (row.clone(), y.min(1.0))).collect();
    let both = Loss::SquaredClasses { classes: 2 };
    let of_two = plan(Declared { loss: both, ..declared(COLS, 700, 1e-3) });
    let found = fit(&of_two, &dataset(COLS, &two)).weights;
    let negative: Vec<f64> = found[COLS..].iter().map(|w| -w).collect();
    assert_eq!(found[..COLS], negative);
}

/// The definition: 128-bit sums of rounded entries.
fn exact_sums(plan: &RidgePlan, records: &Records) -> (Vec<Vec<i128>>, Vec<i128>) {
    let cols = plan.constants.cols();
    let q = plan.quantiser();
    let round = |x: f64, places: i32| (x * 2.0_f64.powi(places)).round_ties_even() as i128;
    let (mut gram, mut moment) = (vec![vec![0; cols]; cols], vec![0; cols]);
    for (row, y) in records {
        let x: Vec<i128> = row.iter().map(|x| round(f64::from(*x), q.row_places())).collect();
        for i in 0..cols {
            for j in 0..=i {
                gram[i][j] += x[i] * x[j];
            }
            moment[i] += x[i] * round(*y, q.target_places());
        }
    }
    (gram, moment)
}

#[test]
fn sums_are_the_exact_sums_of_the_rounded_records() {
    // More than a block of exact float64 sums; columns on both sides of the kernels' widths.
    for (n, cols) in [(1, 1), (40, 3), (1300, 17), (1030, 130)] {
        let records = records(n, cols, 2);
        let plan = plan(declared(cols, n as u64, 1e-3));
        let sums = plan.sum(&dataset(cols, &records), &mut going).unwrap();
        let (gram, moment) = exact_sums(&plan, &records);
        for i in 0..cols {
            for j in 0..=i {
                assert_eq!(i128::from(sums.gram(i, j)), gram[i][j], "{n} {cols} ({i}, {j})");
            }
            assert_eq!(i128::from(sums.moment()[i]), moment[i], "{n} {cols} {i}");
        }
        assert_eq!(sums.records(), n as u64);
    }
}

#[test]
fn sums_at_the_edge_of_their_range_are_exact() {
    // The longest rows and targets in one column, as many as the capacity.
    let n = 1 << 14;
    let normalizer = Normalizer::Fixed { n, capacity: n };
    let plan = plan(Declared { normalizer, ..declared(2, n, 1e-3) });
    let longest: Records =
        (0..n).map(|i| (vec![-1.0, 0.0], if i < 9 { -1.0 } else { 1.0 })).collect();
    let sums = plan.sum(&dataset(2, &longest), &mut going).unwrap();
    let one = 1_i64 << (2 * plan.quantiser().bits());
    assert_eq!((sums.gram(0, 0), sums.gram(1, 0)), (one << 14, 0));
    assert_eq!(sums.moment(), [-(one << 14) + 18 * one, 0]);
    let none = dataset(2, &[]);
    let all = dataset(2, &longest);
    let first = Kept { releases: 0, state: sums.to_bytes() };
    let served = request(&plan, &first, &all, &none, 2, &mut going).unwrap();
    assert_eq!(self::sums(&plan, &served), Sums::empty(2, Sides::Targets(1), plan.quantiser()));
    assert_eq!(bits(&served.weights), [0, 0]);
}

#[test]
fn quantisers_use_what_the_capacity_leaves() {
    for (capacity, bits) in
        [(1, 22), (1 << 18, 22), ((1 << 18) + 1, 21), (1 << 22, 20), (1 << 38, 12)]
    {
        let normalizer = Normalizer::Fixed { n: capacity, capacity };
        let constants = Declared { normalizer, ..declared(2, 1, 1e-3) }.check().unwrap();
        let quantiser = Quantiser::new(&constants).unwrap();
        assert_eq!(quantiser.bits(), bits, "{capacity}");
        assert!(u128::from(capacity) << (2 * bits) <= 1 << 62);
    }
    for (row_bound, places) in [(1.0, 22), (1.5, 21), (2.0, 21), (0.3, 23), (1e-100, 354)] {
        let constants = Declared { row_bound, ..declared(2, 100, 1e-3) }.check().unwrap();
        assert_eq!(Quantiser::new(&constants).unwrap().row_places(), places, "{row_bound}");
    }
}

#[test]
fn sparse_and_dense_rows_give_the_same_bits() {
    const COLS: usize = 11;
    let records = records(700, COLS, 4);
    let mut sparse = Dataset::new(Matrix::sparse(COLS), Vec::new()).unwrap();
    for (row, y) in &records {
        let entries = row.iter().zip(0_u32..).filter(|(x, _)| **x != 0.0);
        let (values, indices): (Vec<f32>, Vec<u32>) = entries.unzip();
        sparse.push(Row::Sparse { indices: &indices, values: &values }, *y).unwrap();
    }
    let plan = plan(declared(COLS, 700, 1e-3));
    let (dense, sparse) = (fit(&plan, &dataset(COLS, &records)), fit(&plan, &sparse));
    assert_eq!(dense, sparse);
}

#[test]
fn weights_do_not_depend_on_threads() {
    const COLS: usize = 300;
    let plan = plan(declared(COLS, 2000, 1e-3));
    let data = dataset(COLS, &records(2000, COLS, 5));
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit(&plan, &data))
    };
    assert_eq!(run(1), run(3));
}

/// The solve as its documentation defines it: one chain per entry.
fn by_definition(sums: &Sums, ridge: f64) -> Vec<f64> {
    let n = sums.columns();
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let mut sum = sums.gram(i, j) as f64 + if i == j { ridge } else { 0.0 };
            for k in 0..j {
                sum -= l[i][k] * l[j][k];
            }
            l[i][j] = if i == j { sum.sqrt() } else { sum / l[j][j] };
        }
    }
    let mut u: Vec<f64> = sums.moment().iter().map(|t| *t as f64).collect();
    for i in 0..n {
        for k in 0..i {
            u[i] -= l[i][k] * u[k];
        }
        u[i] /= l[i][i];
    }
    for i in (0..n).rev() {
        u[i] /= l[i][i];
        for k in 0..i {
            u[k] -= l[i][k] * u[i];
        }
    }
    u
}

#[test]
fn the_solve_follows_its_definition_and_solves() {
    for cols in [1, 2, 3, 4, 5, 8, 31, 64, 65] {
        let records = records(200, cols, 6);
        let plan = plan(declared(cols, 200, 1e-4));
        let fitted = fit(&plan, &dataset(cols, &records));
        let ridge = 1e-4 * 200.0 * 4.0_f64.powi(plan.quantiser().row_places());
        let sums = sums(&plan, &fitted);
        let expected = by_definition(&sums, ridge);
        let mut solution: Vec<f64> = sums.moment().iter().map(|sum| *sum as f64).collect();
        equation::solve(cols, |i, j| sums.gram(i, j) as f64, ridge, &mut solution).unwrap();
        assert_eq!(bits(&solution), bits(&expected), "{cols}");
        // The gradient of the objective on the rounded records is 0 but for rounding.
        let unit = 2.0_f64.powi(-plan.quantiser().row_places());
        let moment_unit = unit * 2.0_f64.powi(-plan.quantiser().target_places());
        for i in 0..cols {
            let entry = |j: usize| sums.gram(i.max(j), i.min(j)) as f64 * unit * unit / 200.0;
            let product: f64 = (0..cols).map(|j| entry(j) * fitted.weights[j]).sum();
            let moment = sums.moment()[i] as f64 * moment_unit / 200.0;
            let gradient = product + 1e-4 * fitted.weights[i] - moment;
            assert!(gradient.abs() < 1e-12, "{cols} {gradient:e}");
        }
    }
}

/// The least lambda that a refusal names.
fn least_lambda_of(refused: &MechanismError) -> f64 {
    let said = refused.to_string();
    let rest = said.strip_prefix("`lambda` must be between ").unwrap();
    rest.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn the_least_lambda_still_solves_the_worst_data() {
    // Equal columns: the sums are singular, lambda alone holds the pivots up.
    for cols in [2, 50, 400] {
        let entry = (1.0 / (cols as f64).sqrt() * (1.0 - 1e-7)) as f32;
        let same: Records = vec![(vec![entry; cols], 1.0); 600];
        let refused = RidgePlan::new(declared(cols, 480, 1e-30).check().unwrap());
        let least = least_lambda_of(&refused.unwrap_err());
        let fitted = fit(&plan(declared(cols, 480, least)), &dataset(cols, &same));
        assert!(fitted.weights.iter().all(|w| w.is_finite()));
    }
}

#[test]
fn what_breaks_a_rule_is_refused_and_changes_nothing() {
    const COLS: usize = 3;
    let all = records(40, COLS, 8);
    let plan = plan(declared(COLS, 24, 1e-3));
    let kept = fit(&plan, &dataset(COLS, &all[..24])).kept.unwrap();
    let none = dataset(COLS, &[]);
    let one = |row: &[f32], y| dataset(COLS, &[(row.to_vec(), y)]);
    let add = |data: &Dataset| request(&plan, &kept, &none, data, 2, &mut going).unwrap_err();
    let long = add(&one(&[0.8, 0.8, 0.0], 0.0));
    assert!(said(Some(&long), "row 0 must have norm at most"), "{long}");
    let target = add(&one(&[0.0; COLS], 1.0_f64.next_up()));
    assert!(said(Some(&target), "the target of row"), "{target}");
    let full = add(&dataset(COLS, &all[24..32]));
    assert!(said(Some(&full), "records, got 32; a larger capacity"), "{full}");
    let wide = add(&dataset(2, &[(vec![0.0, 0.0], 0.0)]));
    assert!(said(Some(&wide), "columns (intercept included), got"), "{wide}");
    let many = dataset(COLS, &all[..25]);
    let many = request(&plan, &kept, &many, &none, 2, &mut going).unwrap_err();
    assert_eq!(
        many,
        MechanismError::Sums(Refusal::new("25 records were reportedly removed, but there are 24"))
    );
    // As many records as there are, but not the same ones: no records leave zeros.
    let others = dataset(COLS, &all[1..25]);
    let foreign = request(&plan, &kept, &others, &none, 2, &mut going).unwrap_err();
    assert!(matches!(foreign, MechanismError::Sums(_)), "{foreign}");
    let expected =
        "the removed records are not the added ones: the kept sums are those of no 0 records";
    assert!(said(Some(&foreign), expected), "{foreign}");
    let stopped =
        request(&plan, &kept, &none, &one(&[0.0; COLS], 0.0), 2, &mut |_| ControlFlow::Break(()));
    assert_eq!(stopped, Err(MechanismError::Cancelled));
    // NaN never reaches a data set.
    let mut data = dataset(COLS, &[]);
    assert!(data.push(Row::Dense(&[f32::NAN, 0.0, 0.0]), 0.0).is_err());
    assert!(data.push(Row::Dense(&[0.0; COLS]), f64::NAN).is_err());
}

#[test]
fn under_mean_the_minimum_holds() {
    let all = records(12, 2, 9);
    let normalizer = Normalizer::Mean { minimum: 10 };
    let plan = plan(Declared { normalizer, ..declared(2, 1, 1e-3) });
    let kept = fit(&plan, &dataset(2, &all)).kept.unwrap();
    let few = request(&plan, &kept, &dataset(2, &all[..3]), &dataset(2, &[]), 2, &mut going);
    assert!(said(few.as_ref().err(), "the data set must have at least"));
}

#[test]
fn constants_that_do_not_fit_are_refused() {
    let refuse = |declared: Declared| RidgePlan::new(declared.check().unwrap()).unwrap_err();
    let base = || declared(3, 100, 1e-3);
    let clipped = refuse(Declared { loss: Loss::Squared { clip: 1.0 }, ..base() });
    assert!(said(Some(&clipped), "is for the loss"));
    assert!(said(Some(&refuse(Declared { loss: Loss::Logistic, ..base() })), "is for the loss"));
    assert_eq!(
        refuse(Declared { cols: 4097, ..base() }),
        Refusal::new("`ridge` takes at most 4096 parameters, got 4097").into()
    );
    let most = Loss::SquaredClasses { classes: 4097 };
    assert_eq!(
        refuse(Declared { cols: 4096, loss: most, ..base() }),
        refusal!("`ridge` takes at most {} parameters, got {}", 1 << 24, 4096 * 4097).into()
    );
    let normalizer = Normalizer::Fixed { n: 1 << 39, capacity: 1 << 39 };
    let capacity = refuse(Declared { normalizer, ..base() });
    assert!(said(Some(&capacity), "leaves the sums 11 bits"), "{capacity}");
    for lambda in [1e-20, 1e31] {
        let refused = refuse(Declared { lambda, ..base() });
        assert!(said(Some(&refused), "`lambda` must be between"), "{refused}");
    }
}

#[test]
fn steps_of_gradient_descent_refuse_the_loss_without_a_clip() {
    use crate::mechanism::NoisyGdPlan;
    let constants = declared(3, 100, 1e-3).check().unwrap();
    let grid = 2.0_f64.powi(-30);
    let (noise, group) = (2.0_f64.powi(-4), 1);
    for radius in [None, Some(1.0)] {
        let (learning_steps, removal_steps) = (9, 9);
        let plan = NoisyGdPlan {
            step: 0.1,
            noise,
            grid,
            learning_steps,
            removal_steps,
            radius,
            group,
            batches: None,
        };
        assert!(plan.check(&constants).is_err());
    }
}

#[test]
fn bytes_come_back_and_damage_is_refused() {
    let plan = plan(declared(4, 30, 1e-3));
    let q = plan.quantiser();
    let sums = sums(&plan, &fit(&plan, &dataset(4, &records(30, 4, 10))));
    let bytes = sums.to_bytes();
    assert_eq!(Sums::from_bytes(&bytes, 4, Sides::Targets(1), q), Ok(sums));
    for end in 0..bytes.len() {
        let short = Sums::from_bytes(&bytes[..end], 4, Sides::Targets(1), q);
        assert!(said(short.as_ref().err(), "the kept sums must have"), "{end}");
    }
    assert!(said(
        Sums::from_bytes(&bytes, 5, Sides::Targets(1), q).as_ref().err(),
        "the kept sums must have"
    ));
    let damage = |word: usize, value: i64| {
        let mut bytes = bytes.clone();
        bytes[8 * word..][..8].copy_from_slice(&value.to_le_bytes());
        Sums::from_bytes(&bytes, 4, Sides::Targets(1), q).unwrap_err()
    };
    for (word, value) in [(0, 5), (1, -1), (1, 39), (2, 21), (3, -22)] {
        assert!(said(Some(&damage(word, value)), "the kept sums' `"), "{word}");
    }
    // A square below 0, sums beyond the range of 30 records, a product larger than its squares.
    for (word, value) in [(4, -1), (4, i64::MAX), (14, i64::MIN), (5, 31 << 42)] {
        assert!(said(Some(&damage(word, value)), "the kept sums are those of no"), "{word}");
    }
}

/// The same rows, each with a weight of its own, up to `most`.
fn weighted(cols: usize, records: &Records, most: u64) -> Dataset {
    let mut data = Dataset::new(Matrix::dense(cols), Vec::new()).unwrap();
    for (i, (row, y)) in records.iter().enumerate() {
        data.push_weighted(Row::Dense(row), *y, (i as u64 % (most + 1)) as f64).unwrap();
    }
    data
}

#[test]
fn a_weight_is_a_number_of_equal_records() {
    const COLS: usize = 6;
    for loss in [Loss::UNCLIPPED, Loss::SquaredClasses { classes: CLASSES }] {
        let some = records(130, COLS, 12);
        let some = if loss == Loss::UNCLIPPED { some } else { of_classes(&some) };
        // As many records as fit beside weights, so that both are rounded to the same grid.
        let normalizer = Normalizer::Fixed { n: 260, capacity: 1 << 12 };
        let rules = Declared { normalizer, loss, ..declared(COLS, 260, 1e-3) };
        let heavy = plan(Declared { max_weight: Some(4.0), ..rules.clone() });
        let plain = plan(rules);
        let data = weighted(COLS, &some, 4);
        let found = fit(&heavy, &data);
        let copies: Records = some
            .iter()
            .enumerate()
            .flat_map(|(i, record)| std::iter::repeat_n(record.clone(), i % 5))
            .collect();
        assert_eq!(bits(&found.weights), bits(&fit(&plain, &dataset(COLS, &copies)).weights));
        // Records go with all of their weight, in any order.
        let (gone, rest) = (weighted(COLS, &some[..40].to_vec(), 4), {
            let mut rest = Dataset::new(Matrix::dense(COLS), Vec::new()).unwrap();
            for i in (40..130).rev() {
                rest.push_weighted(Row::Dense(&some[i].0), some[i].1, (i % 5) as f64).unwrap();
            }
            rest
        });
        let none = dataset(COLS, &[]);
        let left = request(&heavy, kept(&found), &gone, &none, 2, &mut going).unwrap();
        let never = fit(&heavy, &rest);
        assert_eq!((&left.kept, bits(&left.weights)), (&never.kept, bits(&never.weights)));
    }
}

#[test]
fn the_heaviest_records_are_exact() {
    // Few bits are left for the entries, and one row to a block.
    let heaviest = 1_u64 << 29;
    let normalizer = Normalizer::Fixed { n: 64, capacity: 64 };
    let max_weight = Some(heaviest as f64);
    let plan = plan(Declared { normalizer, max_weight, ..declared(2, 64, 1e-3) });
    assert_eq!(plan.quantiser().bits(), 12);
    let mut data = Dataset::new(Matrix::dense(2), Vec::new()).unwrap();
    for i in 0..64 {
        let weight = (heaviest - (i % 2)) as f64;
        data.push_weighted(Row::Dense(&[1.0, 0.0]), -1.0, weight).unwrap();
    }
    let sums = plan.sum(&data, &mut going).unwrap();
    let all = (64 * heaviest as i64 - 32) << 24;
    assert_eq!((sums.gram(0, 0), sums.moment()[0]), (all, -all));
    assert_eq!(plan.read(&Kept { releases: 0, state: sums.to_bytes() }), Ok(sums));
}

#[test]
fn weights_that_are_no_whole_numbers_are_refused() {
    let rules = |most| Declared { max_weight: Some(most), ..declared(3, 40, 0.1) };
    for most in [0.5, 2.5, 2.0_f64.powi(30)] {
        let refused = RidgePlan::new(rules(most).check().unwrap());
        assert_eq!(refused, Err(MechanismError::Fraction(most)));
    }
    let plan = plan(rules(3.0));
    let mut data = dataset(3, &records(20, 3, 1));
    let found = fit(&plan, &data);
    data.push_weighted(Row::Dense(&[0.0; 3]), 0.0, 1.5).unwrap();
    let refused = learn(&plan, &data, &mut going).unwrap_err();
    assert_eq!(refused, MechanismError::Fraction(1.5));
    let (none, more) = (dataset(3, &[]), data);
    let refused = request(&plan, kept(&found), &none, &more, 2, &mut going).unwrap_err();
    assert_eq!(refused, MechanismError::Fraction(1.5));
}
