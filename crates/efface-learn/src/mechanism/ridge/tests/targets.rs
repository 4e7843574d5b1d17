//! Several targets at once: each as it would be alone, from one matrix of products.

use super::*;
use crate::said;

const COLS: usize = 7;
const TARGETS: usize = 3;

/// The targets of a record, each in [-1, 1], one of them nearly constant.
fn targets(y: f64) -> [f64; TARGETS] {
    [y, y * y - 0.5, 2.0_f64.powi(-22) * y]
}

/// The same records with all targets, the record at position i counted `i % most + 1` times.
fn several<'a>(records: impl IntoIterator<Item = &'a (Vec<f32>, f64)>, most: usize) -> Dataset {
    let mut data = Dataset::several(Matrix::dense(COLS), Vec::new(), TARGETS, Vec::new()).unwrap();
    for (i, (row, y)) in records.into_iter().enumerate() {
        data.push_several(Row::Dense(row), &targets(*y), (i % most + 1) as f64).unwrap();
    }
    data
}

fn plan_of(declared: Declared) -> RidgePlan {
    RidgePlan::new(declared.check().unwrap().with_targets(TARGETS)).unwrap()
}

#[test]
fn each_target_is_a_regression_of_its_own() {
    let records = records(700, COLS, 21);
    for most in [1, 4] {
        let max_weight = (most > 1).then_some(most as f64);
        let rules = Declared { max_weight, ..declared(COLS, 700, 1e-3) };
        let found = fit(&plan_of(rules.clone()), &several(&records, most));
        assert_eq!(found.weights.len(), TARGETS * COLS);
        for (target, weights) in found.weights.chunks_exact(COLS).enumerate() {
            let mut alone = Dataset::new(Matrix::dense(COLS), Vec::new()).unwrap();
            for (i, (row, y)) in records.iter().enumerate() {
                let weight = (i % most + 1) as f64;
                alone.push_weighted(Row::Dense(row), targets(*y)[target], weight).unwrap();
            }
            assert_eq!(bits(weights), bits(&fit(&plan(rules.clone()), &alone).weights), "{target}");
        }
    }
}

#[test]
fn a_history_gives_the_bits_of_learning_from_the_rest() {
    let all = records(300, COLS, 22);
    for normalizer in [Normalizer::Fixed { n: 100, capacity: 400 }, Normalizer::Mean { minimum: 1 }]
    {
        let plan = plan_of(Declared { normalizer, ..declared(COLS, 100, 1e-3) });
        let mut last = fit(&plan, &several(&all[..200], 1));
        for step in 0..10 {
            let gone = several(&all[10 * step..10 * step + 10], 1);
            let fresh = several(&all[200 + 7 * step..207 + 7 * step], 1);
            let releases = step as u64 + 2;
            last = request(&plan, kept(&last), &gone, &fresh, releases, &mut going).unwrap();
        }
        let rest = fit(&plan, &several(all[100..270].iter().rev(), 1));
        assert_eq!(last.kept, rest.kept);
        assert_eq!(bits(&last.weights), bits(&rest.weights));
        // Taking everything out leaves exact zeros of every target.
        let mut sums = sums(&plan, &rest);
        sums.fold(&several(&all[100..270], 1), -1, &mut going).unwrap();
        assert_eq!(sums, Sums::empty(COLS, Sides::Targets(TARGETS), plan.quantiser()));
    }
}

#[test]
fn data_and_sums_of_another_number_of_targets_are_refused() {
    let records = records(50, COLS, 23);
    let (one, three) = (plan(declared(COLS, 50, 1e-2)), plan_of(declared(COLS, 50, 1e-2)));
    let refused = learn(&three, &dataset(COLS, &records), &mut going).unwrap_err();
    let expected = refusal!("data must have {TARGETS} target(s) per row, got 1");
    assert_eq!(refused, expected.into());
    let refused = learn(&one, &several(&records, 1), &mut going).unwrap_err();
    assert_eq!(refused, refusal!("data must have 1 target(s) per row, got {TARGETS}").into());
    let kept = fit(&one, &dataset(COLS, &records)).kept.unwrap();
    assert!(said(three.read(&kept).as_ref().err(), "the kept sums must have"));
    // The second target of a record breaks the bound.
    let mut data = several(&records, 1);
    data.push_several(Row::Dense(&[0.0; COLS]), &[0.0, 1.5, 0.0], 1.0).unwrap();
    let refused = learn(&three, &data, &mut going).unwrap_err();
    let rule = "within [-1, 1]".to_owned();
    assert_eq!(refused, refusal!("the target of row 50 must be {rule}, got 1.5").into());
}

#[test]
fn constants_bound_all_targets_together() {
    let rules = declared(COLS, 50, 1e-2).check().unwrap();
    let (one, three) = (rules.clone(), rules.with_targets(TARGETS));
    assert_eq!(three.parameters(), TARGETS * one.parameters());
    assert_eq!((three.smoothness(), three.load()), (one.smoothness(), one.load()));
    let times = |found: f64, base: f64, factor: f64| (found / base - factor).abs() < 1e-9;
    assert!(times(three.zero_value(), one.zero_value(), 3.0));
    assert!(times(three.optimum_bound(), one.optimum_bound(), 3.0_f64.sqrt()));
    assert!(times(three.optimum_lipschitz(), one.optimum_lipschitz(), 3.0_f64.sqrt()));
}
