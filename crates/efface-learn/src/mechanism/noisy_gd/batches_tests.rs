//! Steps over batches: what each is along, in which order, and what events say of it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use efface_matrix::{Matrix, Refusal, Row};
use efface_privacy::event::Normalizer;

use super::batches::{BatchPlan, Batched, Steps};
use super::*;
use crate::example::{constants, dataset, generator, losses, normal};
use crate::objective::exact::gradient;
use crate::solver::unwatched;
use crate::{Constants, Dataset, Loss, said};

const GRID: f64 = 1.0 / (1_u64 << 40) as f64;
const OVER: BatchPlan = BatchPlan { count: 3, size: 20, most: 30 };

fn plan(constants: &Constants) -> NoisyGdPlan {
    let each = OVER.constants(constants).unwrap();
    NoisyGdPlan {
        step: 1.0 / each.total_smoothness(),
        noise: (1_u64 << 33) as f64 * GRID,
        grid: GRID,
        learning_steps: 7,
        removal_steps: 2,
        radius: None,
        group: 1,
        batches: Some(OVER),
    }
}

/// The rows of a data set whose position leaves this remainder.
fn part(data: &Dataset, batch: usize) -> Dataset {
    let mut part = Dataset::new(Matrix::dense(data.cols()), Vec::new()).unwrap();
    (0..data.rows())
        .filter(|row| row % 3 == batch)
        .for_each(|row| part.push_from(data, row).unwrap());
    part
}

fn over<'a>(constants: &'a Constants, each: &'a Constants, parts: &'a [Dataset]) -> Batched<'a> {
    let objective =
        |(batch, part): (usize, &'a Dataset)| (batch as u64, Objective::new(each, part).unwrap());
    let batches: BTreeMap<u64, Objective<'a>> = parts.iter().enumerate().map(objective).collect();
    let records = parts.iter().map(Dataset::rows).sum();
    Batched { constants, records, plan: OVER, batches }
}

#[test]
fn a_step_divides_the_sum_of_its_batch_by_the_public_size() {
    for loss in losses() {
        let data = dataset(loss, 50, 4, 5);
        let whole = constants(loss, 60, 4, 0.05);
        let each = OVER.constants(&whole).unwrap();
        // 17, 17 and 16 records, none 20.
        let parts: Vec<Dataset> = (0..3).map(|batch| part(&data, batch)).collect();
        let batched = over(&whole, &each, &parts);
        let mut rng = generator(2);
        let weights: Vec<f64> = (0..whole.parameters()).map(|_| normal(&mut rng)).collect();
        for step in 1..=7_u64 {
            let records = &parts[(step as usize - 1) % 3];
            // The mean over the records there are, as the objective of another normaliser has it.
            let mean = Normalizer::Mean { minimum: 1 };
            let constants = whole.with_normalizer(mean).unwrap();
            let exact = gradient(&Objective::new(&constants, records).unwrap(), &weights);
            let (moved, _) = noiseless(batched.along(step).unwrap(), 0.5, &weights).unwrap();
            let share = records.rows() as f64 / 20.0;
            for ((moved, w), mean) in moved.iter().zip(&weights).zip(&exact) {
                let along = share * (mean.get() - 0.05 * w) + 0.05 * w;
                assert!((moved - (w - 0.5 * along)).abs() < 1e-12, "{loss:?} {step}");
            }
        }
    }
}

/// Remembers which steps were asked for.
struct Watched<'a>(Batched<'a>, RefCell<Vec<u64>>);

impl Steps for Watched<'_> {
    fn constants(&self) -> &Constants {
        self.0.constants
    }

    fn records(&self) -> usize {
        self.0.records
    }

    fn along(&self, step: u64) -> Result<&Objective<'_>, MechanismError> {
        self.1.borrow_mut().push(self.0.plan.of_step(step));
        self.0.along(step)
    }
}

#[test]
fn the_cycle_goes_on_from_one_request_to_the_next() {
    let loss = Loss::Logistic;
    let mut data = dataset(loss, 50, 4, 5);
    let whole = constants(loss, 60, 4, 0.05);
    let each = OVER.constants(&whole).unwrap();
    let plan = plan(&whole).check(&whole).unwrap();
    let mut rng = generator(1);
    let parts: Vec<Dataset> = (0..3).map(|batch| part(&data, batch)).collect();
    let watched = Watched(over(&whole, &each, &parts), RefCell::default());
    let first = learn(&watched, &plan, None, &mut rng, &mut unwatched).unwrap();
    assert_eq!(*watched.1.borrow(), [0, 1, 2, 0, 1, 2, 0]);
    let Event::NoisyGd(event) = &first.event else { panic!("another mechanism's event") };
    assert_eq!(
        first.evidence,
        Evidence::Steps {
            passes: 3,
            steps: 7,
            largest_norm: match first.evidence {
                Evidence::Steps { largest_norm, .. } => largest_norm,
                _ => f64::NAN,
            },
        }
    );
    let batches = event.batches.as_ref().unwrap();
    assert_eq!((batches.count, batches.size, batches.most), (3, 20, 30));
    assert_eq!(batches.changed, Some(vec![]));
    // 1/4 a record, 30 records over 20.
    assert_eq!(event.setting.smoothness.0, each.smoothness());
    assert!((each.smoothness() - 0.375).abs() < 1e-9);
    assert_eq!(event.setting.normalizer, whole.declared().normalizer);

    data.remove_rows(&[4]).unwrap();
    let parts: Vec<Dataset> = (0..3).map(|batch| part(&data, batch)).collect();
    let watched = Watched(over(&whole, &each, &parts), RefCell::default());
    let change = Change { deleted_since: &[0], added: 0 };
    let start = &first.weights;
    let next = request(&watched, &plan, event, &change, start, &mut rng, &mut unwatched).unwrap();
    assert_eq!(*watched.1.borrow(), [1, 2]);
    let Event::NoisyGd(event) = &next.event else { panic!("another mechanism's event") };
    assert_eq!(event.batches.as_ref().unwrap().changed, Some(vec![1]));
    assert_eq!((event.phases[0].only_then, event.phases[1].steps), (1, 2));
    // Step 10 is over batch 0, which is not at hand.
    let mut few = over(&whole, &each, &parts);
    few.batches.remove(&0);
    let failed = request(&few, &plan, event, &change, start, &mut rng, &mut unwatched);
    assert_eq!(failed.unwrap_err(), Refusal::new("the records of batch 0 are not at hand").into());
}

#[test]
fn what_requests_changed_is_merged_with_their_phases() {
    let whole = constants(Loss::Logistic, 1000, 4, 0.05);
    let plan = plan(&whole).check(&whole).unwrap();
    let mut event = learning_event(&whole, &plan, 900).unwrap();
    for request in 0..MOST_PHASES + 40 {
        let since = vec![0; 1 + request % 3];
        let change = Change { deleted_since: &since, added: (request % 2) as u64 };
        event = next_event(&whole, &plan, &event, &change, 400).unwrap();
        let changed = event.batches.as_ref().unwrap().changed.as_ref().unwrap();
        assert_eq!(changed.len() + 1, event.phases.len());
        let mut all = 0;
        for (phase, changed) in event.phases.iter().zip(changed).rev() {
            all += changed;
            assert!(phase.only_then + phase.only_now <= all);
        }
        let want: usize = (0..=request).map(|k| 1 + k % 3 + k % 2).sum();
        assert_eq!(all, want as u64);
    }
    let one = BatchPlan { count: 1, ..OVER };
    assert!(one.constants(&whole).is_err());
    let other =
        NoisyGdPlan { batches: Some(BatchPlan { size: 21, ..OVER }), ..plan.plan().clone() };
    let other = other.check(&whole).unwrap();
    let change = Change { deleted_since: &[0], added: 0 };
    let refused = next_event(&whole, &other, &event, &change, 400).unwrap_err();
    assert!(said(Some(&refused), "is fixed for the life of a model"), "{refused}");
    let ball = NoisyGdPlan { radius: Some(1.0), ..plan.plan().clone() }.check(&whole).unwrap_err();
    assert!(ball.to_string().contains("`radius` must be left out with `batches`"), "{ball}");
}

#[test]
fn a_batch_with_too_many_records_is_refused() {
    let whole = constants(Loss::Logistic, 60, 4, 0.05);
    let each = OVER.constants(&whole).unwrap();
    let (fits, full) = (dataset(Loss::Logistic, 30, 4, 1), dataset(Loss::Logistic, 31, 4, 1));
    assert!(Objective::new(&each, &fits).is_ok());
    assert!(Objective::new(&each, &full).is_err());
    assert!(matches!(full.x().row(0), Row::Dense(_)));
}
