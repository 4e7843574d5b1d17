//! What is foreseen, against what memories do.

use super::problem::dataset;
use crate::example::{constants, dataset as rows};
use crate::newton::{Memory, most_corrections, sure_changes, usual_changes};
use crate::solver::{Solver, Start, Stopping, solve, unwatched};
use crate::{Constants, Dataset, Declared, Loss, Objective};
use efface_privacy::event::Normalizer;

fn memory(constants: &Constants, data: &Dataset, stopping: Stopping) -> Memory {
    let objective = Objective::new(constants, data).unwrap();
    let zeros = vec![0.0; constants.parameters()];
    let start = Start { weights: &zeros, factor: None };
    let found = solve(&objective, Solver::Newton, stopping, start, &mut unwatched).unwrap();
    Memory::new(&objective, &found.weights).unwrap()
}

/// How many rows can go, the first one first, before the bound runs out.
fn served(constants: &Constants, data: &Dataset, stopping: Stopping) -> u64 {
    let mut memory = memory(constants, data, stopping);
    let none = dataset(constants.cols(), &[]);
    let mut count = 0;
    for i in 0..data.rows() {
        let row: Vec<f32> = data.x().row(i).iter().map(|(_, x)| x).collect();
        let gone = dataset(constants.cols(), &[(row, data.y()[i], 1.0)]);
        let bound = memory.change(constants, &gone, &none, stopping).unwrap();
        if bound.distance > stopping.distance {
            break;
        }
        count += 1;
    }
    count
}

#[test]
fn changes_that_are_sure_need_no_pass() {
    let mut certain = 0;
    for loss in [Loss::Logistic, Loss::UNCLIPPED] {
        for (lambda, tau) in [(0.02, 1e-3), (0.05, 1e-3), (0.1, 1e-2), (0.5, 1e-2)] {
            // Rows all alike that go one after the other move the weights the farthest.
            let alike: Vec<_> =
                (0..300).map(|i| (vec![1.0, 0.0], f64::from(i >= 150), 1.0)).collect();
            for (columns, data) in [(4, rows(loss, 300, 4, 2)), (2, dataset(2, &alike))] {
                let constants = constants(loss, 300, columns, lambda);
                let stopping = Stopping { distance: tau };
                let sure = sure_changes(&constants, stopping, 300);
                let made = served(&constants, &data, stopping);
                assert!(sure <= made, "{loss:?} {lambda} {tau}: {sure} sure, {made} served");
                certain += u64::from(sure > 0);
                if loss == Loss::UNCLIPPED {
                    assert_eq!(sure, 300, "no row moves its Hessian");
                } else if columns == 2 && made < 300 {
                    assert!(made <= 8 * sure + 8, "{lambda} {tau}: {made} served, {sure} sure");
                }
            }
        }
    }
    assert!(certain >= 10, "{certain}");
}

#[test]
fn nothing_is_sure_where_the_bound_moves_with_the_records() {
    let normalizer = Normalizer::Mean { minimum: 100 };
    let declared =
        Declared { normalizer, ..constants(Loss::UNCLIPPED, 300, 4, 0.1).declared().clone() };
    let constants = declared.check().unwrap();
    assert_eq!(sure_changes(&constants, Stopping { distance: 1e-2 }, 300), 0);
}

/// More rows, a wider tolerance or more regularisation never lower what is foreseen.
#[test]
fn foresight_grows_with_what_helps() {
    let at = |n: u64, lambda: f64, distance: f64| {
        let constants = constants(Loss::Logistic, n, 20, lambda);
        let stopping = Stopping { distance };
        (sure_changes(&constants, stopping, n), usual_changes(&constants, stopping, n))
    };
    let (sure, usual) = at(100_000, 1e-2, 1e-3);
    assert!(sure >= 10 && usual >= 1, "{sure} {usual}");
    for (more, often) in [at(200_000, 1e-2, 1e-3), at(100_000, 2e-2, 1e-3), at(100_000, 1e-2, 2e-3)]
    {
        assert!(more > sure && often > usual, "{more} {often}");
    }
    assert_eq!(at(100, 1e-3, 1e-4), (0, 1));
}

/// Corrections far from the optimum keep to the bound on their passes.
#[test]
fn corrections_keep_to_their_passes() {
    let constants = constants(Loss::Logistic, 300, 5, 0.01);
    let stopping = Stopping { distance: 1e-4 };
    let data = rows(Loss::Logistic, 300, 5, 7);
    let most = most_corrections(&constants, stopping);
    for far in [0.0, 5.0, 200.0] {
        let objective = Objective::new(&constants, &data).unwrap();
        let mut memory = Memory::new(&objective, &[far; 5]).unwrap();
        let effort = memory.correct(&objective, stopping, &mut unwatched).unwrap();
        assert!(effort.passes <= most, "{far}: {} above {most}", effort.passes);
    }
}
