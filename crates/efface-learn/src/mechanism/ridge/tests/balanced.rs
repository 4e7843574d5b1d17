//! Classes that count by how many their records are.

use super::*;
use crate::said;

const CLASSES: usize = 3;
const COLS: usize = 6;

/// Constants of balanced classes over n records, as fitted preprocessing gives them.
fn balanced(n: usize, lambda: f64) -> Constants {
    let declared = Declared {
        loss: Loss::SquaredClasses { classes: CLASSES },
        normalizer: Normalizer::Mean { minimum: 1 },
        max_weight: Some(n as f64 / 2.0),
        ..declared(COLS, n as u64, lambda)
    };
    declared.check().unwrap().with_mean_weight(1.0 + f64::EPSILON)
}

/// Rows with their classes, of which the last has few, and what each record counts.
fn classed(n: usize, seed: u64) -> Vec<(Vec<f32>, f64, f64)> {
    let class = |i: usize| if i.is_multiple_of(11) { 2 } else { i % 2 };
    let mut counts = [0_u32; CLASSES];
    (0..n).for_each(|i| counts[class(i)] += 1);
    let weight = |class: usize| n as f64 / (CLASSES as f64 * f64::from(counts[class]));
    let rows = records(n, COLS, seed).into_iter().enumerate();
    rows.map(|(i, (row, _))| (row, class(i) as f64, weight(class(i)))).collect()
}

fn dataset(records: &[(Vec<f32>, f64, f64)]) -> Dataset {
    let mut data = Dataset::new(Matrix::dense(COLS), Vec::new()).unwrap();
    for (row, class, weight) in records {
        data.push_weighted(Row::Dense(row), *class, *weight).unwrap();
    }
    data
}

fn weights(plan: &RidgePlan, records: &[(Vec<f32>, f64, f64)]) -> Vec<f64> {
    plan.weights_of(&dataset(records), &mut going).unwrap()
}

#[test]
fn balanced_classes_give_the_same_bits_in_any_order() {
    let mut records = classed(3000, 1);
    let plan = RidgePlan::new(balanced(3000, 1e-3)).unwrap();
    let expected = weights(&plan, &records);
    assert_eq!(expected.len(), CLASSES * COLS);
    let mut rng = generator(2);
    for _ in 0..3 {
        for i in (1..records.len()).rev() {
            records.swap(i, (uniform(&mut rng) * (i + 1) as f64) as usize);
        }
        assert_eq!(bits(&weights(&plan, &records)), bits(&expected));
    }
}

#[test]
fn each_record_counts_what_its_class_does() {
    let records = classed(400, 3);
    let lambda = 1e-2;
    let plan = RidgePlan::new(balanced(400, lambda)).unwrap();
    let found = weights(&plan, &records);
    for (class, w) in found.chunks_exact(COLS).enumerate() {
        // The gradient of the weighted objective on the rows themselves, which rounding moves a little.
        for j in 0..COLS {
            let gradient: f64 = records
                .iter()
                .map(|(row, own, weight)| {
                    let product: f64 = row.iter().zip(w).map(|(x, w)| f64::from(*x) * w).sum();
                    let y = if *own == class as f64 { 1.0 } else { -1.0 };
                    weight * (product - y) * f64::from(row[j])
                })
                .sum();
            assert!((gradient / 400.0 + lambda * w[j]).abs() < 1e-5, "{class} {j} {gradient:e}");
        }
    }
    // Not what records that all count the same would give.
    let plain: Vec<_> = records.iter().map(|(row, class, _)| (row.clone(), *class, 1.0)).collect();
    let plain = weights(&plan, &plain);
    assert!(found.iter().zip(&plain).any(|(found, plain)| (found - plain).abs() > 1e-2));
}

#[test]
fn balanced_classes_leave_nothing_to_start_from() {
    let records = classed(200, 4);
    let plan = RidgePlan::new(balanced(200, 1e-3)).unwrap();
    let released = learn(&plan, &dataset(&records), &mut going).unwrap();
    assert_eq!(bits(&released.weights), bits(&weights(&plan, &records)));
    assert!(released.kept.is_none());
    let Event::ExactRemoval(event) = released.event else { panic!() };
    assert_eq!(event.max_weight, None);
    let kept = Kept { releases: 0, state: Vec::new() };
    let none = dataset(&[]);
    let refused = request(&plan, &kept, &none, &none, 2, &mut going).unwrap_err();
    assert!(said(Some(&refused), "the kept state does not fit the plan"), "{refused}");
}

#[test]
fn weights_that_are_not_those_of_classes_are_refused() {
    let mut records = classed(200, 5);
    let plan = RidgePlan::new(balanced(200, 1e-3)).unwrap();
    records[4].2 *= 0.5;
    let refused = plan.weights_of(&dataset(&records), &mut going).unwrap_err();
    assert!(refused.to_string().contains("different weights"), "{refused}");
    records[4].2 *= 2.0;
    records.iter_mut().for_each(|record| record.2 *= 1.1);
    let refused = plan.weights_of(&dataset(&records), &mut going).unwrap_err();
    assert!(said(Some(&refused), "the weights of the records must sum to"), "{refused}");
}

#[test]
fn lambda_leaves_room_for_the_sums_of_each_class() {
    let least = |lambda| least_lambda_of(&RidgePlan::new(balanced(1000, lambda)).unwrap_err());
    let each = least(1e-20);
    assert!(RidgePlan::new(balanced(1000, each)).is_ok());
    assert!(RidgePlan::new(balanced(1000, each * 0.999)).is_err());
    // (P + 8 + C) against (P + 8) where all count the same, up to rounding and coarser rows.
    let plain = Declared {
        loss: Loss::SquaredClasses { classes: CLASSES },
        normalizer: Normalizer::Mean { minimum: 1 },
        ..declared(COLS, 1000, 1e-20)
    };
    let plain = least_lambda_of(&RidgePlan::new(plain.check().unwrap()).unwrap_err());
    assert!((each / plain - 17.0 / 14.0).abs() < 1e-9, "{each:e} {plain:e}");
}
