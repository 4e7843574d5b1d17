//! Parts against one data set of the same records, and against exact sums.

use efface_matrix::{Matrix, Refusal, Totals};
use efface_privacy::event::State;

use super::exact::gradient;
use super::*;
use crate::example::{constants, dataset, generator, losses, normal, weighted, with_weights};
use crate::mechanism::{OutputNoisePlan, Released, noisy_gd, retrain};
use crate::solver::{Solver, unwatched};
use crate::twice::Twice;
use crate::{Loss, said};

/// Parts that lie in the memory of this process, one data set each.
#[derive(Debug)]
struct PartsHere<'a> {
    loss: Loss,
    parts: &'a [Dataset],
}

impl<'a> PartsHere<'a> {
    fn new(constants: &Constants, parts: &'a [Dataset]) -> Result<Self, Refusal> {
        parts.iter().try_for_each(|part| check_records(constants, part))?;
        Ok(Self { loss: constants.loss(), parts })
    }
}

impl Parts for PartsHere<'_> {
    fn count(&self) -> usize {
        self.parts.len()
    }

    fn records(&self) -> usize {
        self.parts.iter().map(Dataset::rows).sum()
    }

    fn totals(&self, weights: &[f64], take: &mut dyn FnMut(Totals)) -> Result<(), Refusal> {
        self.parts.iter().try_for_each(|part| {
            take(part.totals(self.loss, weights)?);
            Ok(())
        })
    }

    fn hessians(&self, weights: &[f64], take: &mut dyn FnMut(Vec<f64>)) -> Result<(), Refusal> {
        self.parts.iter().try_for_each(|part| {
            take(lower_triangle(&part.hessian(&part.curvature(self.loss, weights)?)?));
            Ok(())
        })
    }

    fn products(
        &self,
        weights: &[f64],
        vector: &[f64],
        take: &mut dyn FnMut(Vec<f64>),
    ) -> Result<(), Refusal> {
        self.parts.iter().try_for_each(|part| {
            let curvature = part.curvature(self.loss, weights)?;
            take(part.product(self.loss, &curvature, vector)?);
            Ok(())
        })
    }
}

/// The records of a data set in consecutive parts that end before these rows.
fn cut(data: &Dataset, ends: &[usize]) -> Vec<Dataset> {
    let mut start = 0;
    let part = |end: &usize| {
        let mut part = Dataset::new(Matrix::dense(data.cols()), Vec::new()).unwrap();
        for row in start..*end {
            part.push_from(data, row).unwrap();
        }
        start = *end;
        part
    };
    ends.iter().map(part).collect()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn sums_over_parts_are_within_the_slack_of_the_exact_ones() {
    for (k, loss) in losses().into_iter().enumerate() {
        let (n, d) = (700, 9);
        let data = weighted(&dataset(loss, n, d, 21 + k as u64), 7.0, 4);
        let constants = with_weights(&constants(loss, n as u64, d, 1e-3), 7.0);
        let whole = Objective::new(&constants, &data).unwrap();
        let mut rng = generator(6);
        let weights: Vec<f64> = (0..constants.parameters()).map(|_| normal(&mut rng)).collect();
        let exact = gradient(&whole, &weights);
        let each: Vec<usize> = (1..=n).collect();
        for ends in [&each[..], &[0, 1, 1, 513, 700], &[350, 700], &[700, 700]] {
            let parts = cut(&data, ends);
            let parts = PartsHere::new(&constants, &parts).unwrap();
            let sum = Objective::over(&constants, &parts).unwrap().evaluate(&weights).unwrap();
            let squares: f64 = sum
                .gradient
                .iter()
                .zip(&exact)
                .map(|(c, e)| Twice::new(*c).plus(e.negative()).get().powi(2))
                .sum();
            assert!(squares.sqrt() <= sum.slack, "{loss:?} {}", ends.len());
        }
    }
}

#[test]
fn one_part_is_the_data_set_itself() {
    for loss in losses() {
        let (n, d) = (600, 5);
        let data = weighted(&dataset(loss, n, d, 2), 0.3, 1);
        let constants = with_weights(&constants(loss, n as u64, d, 1e-2), 0.3);
        let whole = Objective::new(&constants, &data).unwrap();
        let parts = cut(&data, &[0, n, n]);
        let parts = PartsHere::new(&constants, &parts).unwrap();
        let over = Objective::over(&constants, &parts).unwrap();
        let mut rng = generator(3);
        let mut draw = || (0..constants.parameters()).map(|_| normal(&mut rng)).collect();
        let (weights, vector): (Vec<f64>, Vec<f64>) = (draw(), draw());
        let (one, other) = (whole.evaluate(&weights).unwrap(), over.evaluate(&weights).unwrap());
        // How a part stores its rows is not known, so its sums are bounded less closely.
        assert!(one.slack <= other.slack && other.slack <= 20.0 * one.slack);
        assert_eq!(one, Evaluation { slack: one.slack, ..other });
        assert_eq!((whole.finest(), over.evaluate_twice(&weights)), (Summation::Twice, Ok(None)));
        let (a, b) = (whole.curvature(&weights).unwrap(), over.curvature(&weights).unwrap());
        let both = [whole.hessian(&a), over.hessian(&b)];
        let [one, other] = both.map(|h| bits(&lower_triangle(&h.unwrap())));
        assert_eq!(one, other);
        assert_eq!(whole.product(&a, &vector), over.product(&b, &vector));
        assert_eq!(whole.hessian(&b), Err(Refusal::new("the curvature is not of these records")));
        assert_eq!(
            over.product(&a, &vector),
            Err(Refusal::new("the curvature is not of these records"))
        );
        assert_eq!(
            over.data().map(Dataset::rows),
            Err(Refusal::new(
                "this needs the rows themselves, but the records are in partitions that \
             return only sums"
            ))
        );
        assert_eq!((over.records(), over.normalizer()), (whole.records(), whole.normalizer()));
    }
}

#[test]
fn solvers_end_at_the_same_weights_for_any_number_of_threads_and_near_those_of_the_whole() {
    let loss = Loss::Softmax { classes: 3 };
    let (n, d) = (1500, 4);
    let data = dataset(loss, n, d, 5);
    let constants = constants(loss, n as u64, d, 1e-2);
    let parts = cut(&data, &[100, 100, 900, n]);
    let parts = PartsHere::new(&constants, &parts).unwrap();
    let grid = libm::exp2(-40.0);
    for solver in [Solver::Newton, Solver::NewtonCg, Solver::Lbfgs] {
        let plan = OutputNoisePlan {
            distance: 1e-7,
            noise: libm::exp2(30.0) * grid,
            grid,
            state: State::Perfect,
            joint_releases: 1,
            group: 1,
            solver,
        }
        .check(&constants, n)
        .unwrap();
        let run = |over: bool, threads| -> Released {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let rng = &mut generator(8);
            pool.install(|| {
                let objective = match over {
                    true => Objective::over(&constants, &parts),
                    false => Objective::new(&constants, &data),
                };
                retrain::retrain(&objective.unwrap(), &plan, 1, rng, &mut unwatched).unwrap()
            })
        };
        let (one, many) = (run(true, 1), run(true, 3));
        assert_eq!(one, many);
        assert_eq!(bits(&one.weights), bits(&many.weights));
        // The same noise on optima that are each within tau, rounded to the grid.
        let reference = run(false, 1);
        let apart = one.weights.iter().zip(&reference.weights);
        let apart = apart.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        assert!(apart <= 2e-7 + grid * (constants.parameters() as f64).sqrt(), "{apart}");
    }
}

/// Parts that tell what they are made of.
#[derive(Debug)]
struct Told(Vec<Result<usize, Refusal>>);

impl Told {
    fn tell(&self, take: &mut dyn FnMut(usize)) -> Result<(), Refusal> {
        self.0.iter().try_for_each(|part| part.clone().map(&mut *take))
    }
}

impl Parts for Told {
    fn count(&self) -> usize {
        2
    }

    fn records(&self) -> usize {
        4
    }

    fn totals(&self, _: &[f64], take: &mut dyn FnMut(Totals)) -> Result<(), Refusal> {
        self.tell(&mut |p| take(Totals { loss: 0.0, gradient: vec![0.0; p] }))
    }

    fn hessians(&self, _: &[f64], take: &mut dyn FnMut(Vec<f64>)) -> Result<(), Refusal> {
        self.tell(&mut |p| take(vec![0.0; p * (p + 1) / 2]))
    }

    fn products(
        &self,
        _: &[f64],
        _: &[f64],
        take: &mut dyn FnMut(Vec<f64>),
    ) -> Result<(), Refusal> {
        self.tell(&mut |p| take(vec![0.0; p]))
    }
}

#[test]
fn parts_that_tell_nonsense_or_nothing_are_refused() {
    let constants = constants(Loss::Logistic, 4, 3, 0.1);
    let w = [0.0; 3];
    let ask = |told| {
        let parts = Told(told);
        let objective = Objective::over(&constants, &parts).unwrap();
        let at = objective.curvature(&w).unwrap();
        let errors = [
            objective.evaluate(&w).err(),
            objective.hessian(&at).err(),
            objective.product(&at, &w).err(),
        ];
        assert_eq!(errors[0], errors[2]);
        errors
    };
    assert_eq!(ask(vec![Ok(3), Ok(3)]), [None, None, None]);
    let says = |error: &Option<Refusal>, text: &str| {
        assert!(said(error.as_ref(), text), "{error:?}");
    };
    says(&ask(vec![Ok(3), Ok(2)])[0], "partition 2 returned 2 numbers instead of 3");
    says(&ask(vec![Ok(3), Ok(2)])[1], "partition 2 returned 3 numbers instead of 6");
    says(&ask(vec![Ok(3)])[1], "1 of 2 partitions");
    says(&ask(vec![Ok(3); 3])[0], "3 of 2 partitions");
    says(&ask(vec![Ok(3), Err(Refusal::new("gone"))])[0], "gone");
}

#[test]
fn a_failed_pass_draws_nothing_that_is_released() {
    let constants = constants(Loss::Logistic, 4, 3, 0.1);
    let parts = Told(vec![Ok(3), Err(Refusal::new("gone"))]);
    let objective = Objective::over(&constants, &parts).unwrap();
    let plan = noisy_gd::NoisyGdPlan {
        step: 1.0 / constants.total_smoothness(),
        noise: libm::exp2(-8.0),
        grid: libm::exp2(-40.0),
        learning_steps: 3,
        removal_steps: 1,
        radius: None,
        group: 1,
        batches: None,
    }
    .check(&constants)
    .unwrap();
    let mut rng = generator(1);
    let failed = noisy_gd::learn(&objective, &plan, None, &mut rng, &mut unwatched);
    assert!(said(failed.err(), "gone"));
    assert_eq!(normal(&mut rng).to_bits(), normal(&mut generator(1)).to_bits());
}
