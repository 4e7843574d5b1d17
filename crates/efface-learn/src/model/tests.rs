use crate::said;
use efface_matrix::{Refusal, Row};
use proptest::prelude::*;

use super::*;

fn rows(values: &[&[f32]]) -> Matrix {
    let mut x = Matrix::dense(values[0].len());
    for row in values {
        x.push(Row::Dense(row)).unwrap();
    }
    x
}

#[test]
fn binary_predictions_and_scores() {
    let model = Model::new(Loss::Logistic, 2, vec![2.0, -1.0]).unwrap();
    let x = rows(&[&[1.0, 0.0], &[0.0, 1.0], &[1.0, 2.0], &[3.0, 0.0]]);
    assert_eq!(model.decision(&x).unwrap(), [2.0, -1.0, 0.0, 6.0]);
    assert_eq!(model.decide(&x).unwrap().classes_or_values(), [1.0, 0.0, 0.0, 1.0]);
    let p = model.decide(&x).unwrap().probabilities().unwrap();
    assert_eq!(p[2], 0.5);
    assert!((p[0] - 1.0 / (1.0 + (-2.0_f64).exp())).abs() < 1e-15);
    let Ok(Scores::Classification { records, accuracy, log_loss, auc }) =
        model.evaluate(&x, &[1.0, 0.0, 1.0, 0.0])
    else {
        panic!("a classifier has classification scores");
    };
    assert_eq!((records, accuracy), (4, 0.5));
    // Positives score 2 and 0, negatives -1 and 6: two of four pairs are won.
    assert_eq!(auc, Some(0.5));
    let expected = -(p[0].ln() + (1.0 - p[1]).ln() + p[2].ln() + (1.0 - p[3]).ln()) / 4.0;
    assert!((log_loss.unwrap() - expected).abs() < 1e-12);
}

#[test]
fn softmax_predictions_and_scores() {
    let loss = Loss::Softmax { classes: 3 };
    let model = Model::new(loss, 1, vec![0.0, 1.0, -1.0]).unwrap();
    let x = rows(&[&[2.0], &[-2.0], &[0.0]]);
    assert_eq!(model.decide(&x).unwrap().classes_or_values(), [1.0, 2.0, 0.0]);
    let p = model.decide(&x).unwrap().probabilities().unwrap();
    for block in p.chunks(3) {
        assert!((block.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    }
    let Ok(Scores::Classification { accuracy, log_loss, auc, .. }) =
        model.evaluate(&x, &[1.0, 1.0, 0.0])
    else {
        panic!("a classifier has classification scores");
    };
    assert_eq!((accuracy, auc), (2.0 / 3.0, None));
    let expected = -(p[1].ln() + p[4].ln() + p[6].ln()) / 3.0;
    assert!((log_loss.unwrap() - expected).abs() < 1e-12);
}

#[test]
fn regression_scores() {
    let model = Model::new(Loss::Squared { clip: 1.0 }, 1, vec![2.0]).unwrap();
    let x = rows(&[&[1.0], &[2.0]]);
    assert_eq!(model.decide(&x).unwrap().classes_or_values(), [2.0, 4.0]);
    let scores = model.evaluate(&x, &[5.0, 0.0]).unwrap();
    assert_eq!(scores, Scores::Regression { records: 2, rmse: 12.5_f64.sqrt(), mae: 3.5 });
    let refused = model.decide(&x).unwrap().probabilities();
    assert_eq!(
        refused,
        Err(Refusal::new(
            "`squared` models give no probabilities; use the decision values or a `logistic` \
         model"
        ))
    );
}

#[test]
fn one_class_has_no_auc_and_hinge_no_log_loss() {
    let model = Model::new(Loss::HuberHinge { width: 0.5 }, 1, vec![1.0]).unwrap();
    let scores = model.evaluate(&rows(&[&[1.0], &[-1.0]]), &[1.0, 1.0]).unwrap();
    let expected = Scores::Classification { records: 2, accuracy: 0.5, log_loss: None, auc: None };
    assert_eq!(scores, expected);
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let short = Model::new(Loss::Softmax { classes: 3 }, 2, vec![0.0; 5]);
    assert!(said(short.err(), "`weights` must have 3 x 2 values, got 5"));
    let broken = Model::new(Loss::Logistic, 2, vec![0.0, f64::NAN]);
    assert!(said(broken.as_ref().err(), "`weights` must be finite, entry 1"));
    let broken = Model::new(Loss::Squared { clip: -1.0 }, 2, vec![0.0; 2]);
    assert!(said(broken.err(), "clip"));
    let model = Model::new(Loss::Logistic, 1, vec![1.0]).unwrap();
    assert_eq!(
        model.evaluate(&Matrix::dense(1), &[]),
        Err(Refusal::new("an evaluation needs at least one record, got 0"))
    );
    let x = rows(&[&[1.0]]);
    let refused = model.evaluate(&x, &[2.0]);
    assert!(said(refused.as_ref().err(), "the target of row 0 must be"));
    let refused = model.evaluate(&x, &[]);
    assert_eq!(
        refused,
        Err(Refusal::new("an evaluation needs one target per row, got 0 for 1 rows"))
    );
    assert!(said(
        model.decide(&rows(&[&[1.0, 2.0]])).err(),
        "`weights` must have 1 x 2 values (outputs"
    ));
}

proptest! {
    #[test]
    fn auc_is_the_share_of_pairs_won(pairs in proptest::collection::vec((-4_i32..4, 0..2_i32), 1..40)) {
        let x: Vec<[f32; 1]> = pairs.iter().map(|(s, _)| [*s as f32]).collect();
        let x = rows(&x.iter().map(|r| r.as_slice()).collect::<Vec<_>>());
        let y: Vec<f64> = pairs.iter().map(|(_, y)| f64::from(*y)).collect();
        let model = Model::new(Loss::Logistic, 1, vec![1.0]).unwrap();
        let Ok(Scores::Classification { auc, .. }) = model.evaluate(&x, &y) else {
            panic!("a classifier has classification scores");
        };
        let (mut won, mut all) = (0.0, 0.0);
        for (a, up) in &pairs {
            for (b, down) in &pairs {
                if *up == 1 && *down == 0 {
                    all += 1.0;
                    won += if a > b { 1.0 } else if a == b { 0.5 } else { 0.0 };
                }
            }
        }
        match auc {
            None => prop_assert_eq!(all, 0.0),
            Some(auc) => prop_assert!((auc - won / all).abs() < 1e-14),
        }
    }
}
