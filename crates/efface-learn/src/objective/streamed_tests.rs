//! Records that come in windows against one data set of the same records: the same bits.

use std::cell::Cell;

use efface_matrix::{Matrix, Products, Refusal, Row};
use efface_privacy::event::State;

use super::*;
use crate::example::{constants, dataset, generator, losses, normal, weighted, with_weights};
use crate::mechanism::{OutputNoisePlan, newton, retrain};
use crate::solver::{Solver, Start, Stopping, solve, unwatched};
use crate::{Loss, said};

/// A data set that is shown in windows, each made anew, on another thread.
#[derive(Debug)]
struct InWindows<'a> {
    data: &'a Dataset,
    window: usize,
    passes: Cell<usize>,
}

impl<'a> InWindows<'a> {
    fn of(data: &'a Dataset, window: usize) -> Self {
        Self { data, window, passes: Cell::new(0) }
    }
}

impl Streamed for InWindows<'_> {
    fn records(&self) -> usize {
        self.data.rows()
    }

    fn is_sparse(&self) -> bool {
        matches!(self.data.x(), Matrix::Sparse(_))
    }

    fn window(&self) -> usize {
        self.window
    }

    fn pass(&self, windows: &[usize], take: &mut Take<'_>) -> Result<(), Refusal> {
        self.passes.set(self.passes.get() + 1);
        let data = self.data;
        std::thread::scope(|scope| {
            let shown = scope.spawn(move || {
                let mut first = 0;
                windows.iter().try_for_each(|length| {
                    let window = data.picked(first..first + length).unwrap();
                    first += length;
                    take(&window)
                })
            });
            shown.join().unwrap()
        })
    }
}

/// The same rows, stored sparse, with columns of zeros between them.
fn sparse(data: &Dataset) -> Dataset {
    let mut sparse = Dataset::new(Matrix::sparse(data.cols()), Vec::new()).unwrap();
    for row in 0..data.rows() {
        let kept = data.x().row(row).iter().filter(|(j, _)| (row + j) % 3 != 0);
        let (indices, values): (Vec<u32>, Vec<f32>) = kept.map(|(j, x)| (j as u32, x)).unzip();
        let row = (Row::Sparse { indices: &indices, values: &values }, data.y()[row]);
        let weight = data.sample_weights()[sparse.rows()];
        sparse.push_weighted(row.0, row.1, weight).unwrap();
    }
    sparse
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// All that solvers ask for, held together.
fn agree(whole: &Objective<'_>, streamed: &Objective<'_>, what: &str) {
    let mut rng = generator(3);
    let mut draw = || (0..whole.constants().parameters()).map(|_| normal(&mut rng)).collect();
    let (weights, vector): (Vec<f64>, Vec<f64>) = (draw(), draw());
    assert_eq!(whole.evaluate(&weights), streamed.evaluate(&weights), "{what}");
    assert_eq!(whole.evaluate_twice(&weights), streamed.evaluate_twice(&weights), "{what}");
    assert_eq!(whole.finest(), streamed.finest());
    let both =
        [whole, streamed].map(|objective| (objective, objective.curvature(&weights).unwrap()));
    let [one, other] = both.clone().map(|(o, at)| bits(&lower_triangle(&o.hessian(&at).unwrap())));
    assert_eq!(one, other, "{what}");
    let [one, other] = both.clone().map(|(o, at)| bits(&o.product(&at, &vector).unwrap()));
    assert_eq!(one, other, "{what}");
    for products in [Products::Single, Products::Double] {
        let hessians = both
            .clone()
            .map(|(o, at)| bits(&lower_triangle(&o.hessian_in(&at, products).unwrap())));
        assert_eq!(hessians[0], hessians[1], "{what}");
        for objective in [whole, streamed] {
            let (at, bent) = objective.evaluate_bent(&weights, products).unwrap();
            assert_eq!(at, whole.evaluate(&weights).unwrap(), "{what}");
            let hessian = match bent {
                Bent::Curvature(curvature) => objective.hessian_in(&curvature, products).unwrap(),
                Bent::Hessian(hessian) => hessian,
            };
            assert_eq!(bits(&lower_triangle(&hessian)), hessians[0], "{what}");
        }
        let blocks = both.clone().map(|(o, at)| {
            let blocks = o.class_blocks(&at, products).unwrap();
            blocks.map(|blocks| blocks.iter().map(|b| bits(&lower_triangle(b))).collect::<Vec<_>>())
        });
        assert_eq!(blocks[0], blocks[1], "{what}");
    }
    assert_eq!(whole.bending(&vector), streamed.bending(&vector), "{what}");
    assert_eq!(
        both[1].0.hessian(&both[0].1),
        Err(Refusal::new("the curvature is not of these records"))
    );
    assert_eq!(
        streamed.data().map(Dataset::rows),
        Err(Refusal::new(
            "this needs all rows in memory, but they are read in windows (`§memory`)"
        ))
    );
}

#[test]
fn sums_in_windows_have_the_bits_of_one_data_set() {
    for (k, loss) in losses().into_iter().enumerate() {
        for (n, d) in [(1, 3), (512, 3), (5000, 7), (9000, 3)] {
            let dense = weighted(&dataset(loss, n, d, 21 + k as u64), 7.0, 4);
            let constants = with_weights(&constants(loss, n as u64, d, 1e-3), 7.0);
            for data in [&dense, &sparse(&dense)] {
                let whole = Objective::new(&constants, data).unwrap();
                for window in [1, 700, 1024, 3000, 10_000] {
                    let windows = InWindows::of(data, window);
                    let streamed = Objective::streamed(&constants, &windows).unwrap();
                    agree(&whole, &streamed, &format!("{loss:?} {n} by {window}"));
                }
            }
        }
    }
}

/// Above 256 columns threads share one matrix, to which rows are added in their order.
#[test]
fn wide_hessians_in_windows_have_the_bits_of_one_data_set() {
    for (loss, d) in [(Loss::Logistic, 260), (Loss::Softmax { classes: 3 }, 90)] {
        let dense = dataset(loss, 1700, d, 7);
        let constants = constants(loss, 1700, d, 1e-3);
        for data in [&dense, &sparse(&dense)] {
            let whole = Objective::new(&constants, data).unwrap();
            for window in [1, 600, 1024] {
                let windows = InWindows::of(data, window);
                let streamed = Objective::streamed(&constants, &windows).unwrap();
                agree(&whole, &streamed, &format!("{loss:?} by {window}"));
            }
        }
    }
}

#[test]
fn every_solver_reaches_the_same_bits() {
    let loss = Loss::Softmax { classes: 3 };
    let data = dataset(loss, 3000, 6, 5);
    let constants = constants(loss, 3000, 6, 1e-3);
    let whole = Objective::new(&constants, &data).unwrap();
    let windows = InWindows::of(&data, 600);
    let streamed = Objective::streamed(&constants, &windows).unwrap();
    let start = Start { weights: &vec![0.0; constants.parameters()], factor: None };
    for solver in Solver::ALL {
        let before = windows.passes.get();
        let mut solved = [&whole, &streamed].map(|objective| {
            solve(objective, solver, Stopping { distance: 1e-6 }, start, &mut unwatched).unwrap()
        });
        // What is counted beside gradient passes: a window's curvature comes with its product.
        solved[1].hessian_products = solved[0].hessian_products;
        assert_eq!(solved[0], solved[1], "{solver:?}");
        if solver == Solver::Newton {
            // The first Hessian comes with the first gradient.
            let (walks, both) = (windows.passes.get() - before, &solved[1]);
            assert_eq!(walks as u64, both.passes + both.hessians - 1);
        }
    }
    assert!(windows.passes.get() > 20);
}

/// With noise of which no digit of the weights is lost.
const PLAN: OutputNoisePlan = OutputNoisePlan {
    distance: 1e-7,
    noise: 1.0 / 1024.0,
    grid: 1.0 / (1_u64 << 40) as f64,
    state: State::Perfect,
    joint_releases: 1,
    group: 1,
    solver: Solver::Automatic,
};

#[test]
fn the_memory_of_newton_steps_is_the_same() {
    let data = dataset(Loss::Logistic, 3000, 6, 5);
    let constants = constants(Loss::Logistic, 3000, 6, 1e-2);
    let plan =
        OutputNoisePlan { state: State::Secret, joint_releases: 3, solver: Solver::Newton, ..PLAN };
    let plan = plan.check(&constants, 3000).unwrap();
    let windows = InWindows::of(&data, 700);
    let whole = Objective::new(&constants, &data).unwrap();
    let streamed = Objective::streamed(&constants, &windows).unwrap();
    let [one, other] = [&whole, &streamed].map(|objective| {
        let made = newton::begin(objective, &plan, None, &mut unwatched).unwrap();
        made.publish(&constants, &plan, 1, &mut generator(4)).unwrap()
    });
    assert_eq!((bits(&one.weights), one.kept), (bits(&other.weights), other.kept));
}

/// Records that are not those that the constants and the number of records speak of.
#[test]
fn records_that_break_a_rule_end_every_pass() {
    let data = weighted(&dataset(Loss::Logistic, 1500, 4, 2), 3.0, 1);
    let constants = with_weights(&constants(Loss::Logistic, 1500, 4, 1e-2), 3.0);
    let at = vec![0.0; 4];
    let ask_with = |constants: &Constants, records: &dyn Streamed| {
        let objective = Objective::streamed(constants, records).unwrap();
        let curvature = objective.curvature(&at).unwrap();
        let errors = [
            objective.evaluate(&at).err(),
            objective.evaluate_twice(&at).err(),
            objective.hessian(&curvature).err(),
            objective.product(&curvature, &at).err(),
            objective.bending(&at).err(),
        ];
        assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
        errors[0].clone()
    };
    let ask = |records: &dyn Streamed| ask_with(&constants, records);
    assert_eq!(ask(&InWindows::of(&data, 100)), None);
    // Weights whose mean is bounded: that of all records counts, and no window has it by itself.
    let mean = data.sample_weights().iter().sum::<f64>() / 1500.0;
    let enough = constants.clone().with_mean_weight(mean);
    assert_eq!(ask_with(&enough, &InWindows::of(&data, 100)), None);
    let little = constants.clone().with_mean_weight(0.99 * mean);
    let found = ask_with(&little, &InWindows::of(&data, 100));
    assert!(said(found, "the weights of the records must sum to at most"));
    let mut long = data.picked(0..1500).unwrap();
    long.push_weighted(Row::Dense(&[1.0, 1.0, 0.0, 0.0]), 0.0, 1.0).unwrap();
    let found = ask(&InWindows::of(&long, 100));
    assert!(said(found, "row 1500 must have norm at most"));

    /// Says that there are more records than it shows.
    #[derive(Debug)]
    struct Fewer<'a>(InWindows<'a>);
    impl Streamed for Fewer<'_> {
        fn records(&self) -> usize {
            self.0.records() + 1
        }
        fn is_sparse(&self) -> bool {
            false
        }
        fn window(&self) -> usize {
            512
        }
        fn pass(&self, windows: &[usize], take: &mut Take<'_>) -> Result<(), Refusal> {
            self.0.pass(&windows[..windows.len() - 1], take)
        }
    }
    let found = ask(&Fewer(InWindows::of(&data, 512)));
    assert!(said(found, "the number of records changed between two passes"));
}

#[test]
fn a_release_of_windows_is_that_of_one_data_set() {
    let data = dataset(Loss::Logistic, 2000, 5, 8);
    let constants = constants(Loss::Logistic, 2000, 5, 1e-2);
    let plan = PLAN.check(&constants, 2000).unwrap();
    let windows = InWindows::of(&data, 512);
    let run = |objective: &Objective<'_>| {
        retrain::retrain(objective, &plan, 1, &mut generator(9), &mut unwatched).unwrap()
    };
    let whole = run(&Objective::new(&constants, &data).unwrap());
    let streamed = run(&Objective::streamed(&constants, &windows).unwrap());
    assert_eq!((bits(&whole.weights), whole.event), (bits(&streamed.weights), streamed.event));
}
