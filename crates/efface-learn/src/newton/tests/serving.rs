//! Long sequences, passes, bytes and refusals.

use super::problem::{Record, dataset, distance};
use crate::example::{constants, generator, losses, uniform};
use crate::newton::Memory;
use crate::solver::{Solver, Start, Stopping, solve, unwatched};
use crate::{Constants, Dataset, Loss, Objective, said};
use efface_matrix::Refusal;

const STOP: Stopping = Stopping { distance: 1e-3 };

/// Records, their constants, and a memory at the optimum.
fn trained(loss: Loss, n: usize, d: usize) -> (Vec<Record>, Constants, Memory) {
    let data = crate::example::dataset(loss, n, d, 7);
    let records: Vec<Record> = (0..n)
        .map(|i| (data.x().row(i).iter().map(|(_, x)| x).collect(), data.y()[i], 1.0))
        .collect();
    let constants = constants(loss, n as u64, d, 0.01);
    let objective = Objective::new(&constants, &data).unwrap();
    let zeros = vec![0.0; d];
    let start = Start { weights: &zeros, factor: None };
    let found = solve(&objective, Solver::Newton, STOP, start, &mut unwatched).unwrap();
    let memory = Memory::new(&objective, &found.weights).unwrap();
    (records, constants, memory)
}

#[test]
fn long_sequences_stay_within_the_distance_with_few_passes() {
    for loss in [Loss::Logistic, Loss::Squared { clip: f64::INFINITY }] {
        let (mut records, constants, mut memory) = trained(loss, 400, 5);
        let mut rng = generator(3);
        let (mut passes, mut hessians) = (0, 0);
        for k in 0..150 {
            let gone = records.swap_remove((uniform(&mut rng) * records.len() as f64) as usize);
            let back: Vec<Record> = if k % 3 == 0 { vec![gone.clone()] } else { Vec::new() };
            let (removed, added) = (dataset(5, &[gone]), dataset(5, &back));
            records.extend(back);
            let bound = memory.change(&constants, &removed, &added, STOP).unwrap();
            if bound.distance > STOP.distance {
                let data = dataset(5, &records);
                let objective = Objective::new(&constants, &data).unwrap();
                let effort = memory.correct(&objective, STOP, &mut unwatched).unwrap();
                passes += effort.passes;
                hessians += effort.hessians;
            }
            assert_eq!(memory.records(), records.len() as u64);
            assert!(memory.bound().distance <= STOP.distance);
            let data = dataset(5, &records);
            let off = distance(&constants, &data, &memory.weights());
            assert!(off <= memory.bound().distance, "{k}: {off} {:?}", memory.bound());
        }
        if loss == Loss::Logistic {
            assert!((1..100).contains(&passes), "{passes} passes");
            assert!(hessians <= passes, "{hessians} of {passes}");
        } else {
            assert_eq!((passes, hessians), (0, 0), "the squared loss needs no pass");
        }
    }
}

#[test]
fn what_is_left_and_expected_shrinks_until_a_pass() {
    let (mut records, constants, mut memory) = trained(Loss::Logistic, 400, 5);
    let stop = Stopping { distance: 1e-2 };
    let fresh = memory.expected_changes(&constants, stop);
    assert!((3..400).contains(&fresh), "{fresh}");
    assert!(memory.margin(stop) > 0.0);
    let mut served = 0;
    while memory.bound().distance <= stop.distance {
        let gone = dataset(5, &[records.pop().unwrap()]);
        memory.change(&constants, &gone, &dataset(5, &[]), stop).unwrap();
        served += 1;
    }
    assert_eq!(memory.expected_changes(&constants, stop), 0);
    assert!(memory.margin(stop) < 0.0);
    assert!(fresh <= 4 * served && served <= 4 * fresh, "{fresh} expected, {served} served");
    assert_eq!(memory.changes(), served);
}

#[test]
fn many_rows_at_once_and_far_starts_are_corrected() {
    let (records, constants, mut memory) = trained(Loss::Logistic, 300, 5);
    let (gone, left) = records.split_at(200);
    memory.change(&constants, &dataset(5, gone), &dataset(5, &[]), STOP).unwrap();
    let data = dataset(5, left);
    let objective = Objective::new(&constants, &data).unwrap();
    memory.correct(&objective, STOP, &mut unwatched).unwrap();
    assert!(memory.bound().distance <= STOP.distance);
    assert!(distance(&constants, &data, &memory.weights()) <= memory.bound().distance);
    let mut far = Memory::new(&objective, &[50.0, -50.0, 3.0, 0.0, 9.0]).unwrap();
    far.correct(&objective, STOP, &mut unwatched).unwrap();
    assert!(distance(&constants, &data, &far.weights()) <= STOP.distance);
}

#[test]
fn every_record_may_go() {
    let (records, constants, mut memory) = trained(Loss::Logistic, 30, 3);
    memory.change(&constants, &dataset(3, &records), &dataset(3, &[]), STOP).unwrap();
    let data = dataset(3, &[]);
    let objective = Objective::new(&constants, &data).unwrap();
    memory.correct(&objective, STOP, &mut unwatched).unwrap();
    assert!(memory.weights().iter().all(|w| w.abs() <= STOP.distance));
}

#[test]
fn bytes_come_back_and_damage_is_refused() {
    let (records, constants, mut memory) = trained(Loss::Logistic, 40, 3);
    memory.change(&constants, &dataset(3, &records[..1]), &dataset(3, &[]), STOP).unwrap();
    let bytes = memory.to_bytes();
    assert_eq!(Memory::from_bytes(&bytes), Ok(memory));
    for end in 0..bytes.len() {
        assert!(said(
            Memory::from_bytes(&bytes[..end]).as_ref().err(),
            "the Newton memory must have"
        ));
    }
    let with = |at: usize, value: f64| {
        let mut bytes = bytes.clone();
        bytes[8 * at..8 * at + 8].copy_from_slice(&value.to_le_bytes());
        Memory::from_bytes(&bytes)
    };
    for at in 4..bytes.len() / 8 {
        assert!(with(at, f64::NAN).is_err(), "{at}");
    }
    assert!(said(with(7, -1.0).as_ref().err(), "number 3 is"));
    assert!(with(4, f64::INFINITY).is_ok());
    let mut huge = bytes.clone();
    huge[..8].fill(0xff);
    assert!(said(Memory::from_bytes(&huge).as_ref().err(), "the Newton memory must have"));
}

#[test]
fn what_has_no_bound_or_does_not_fit_is_refused() {
    for loss in losses() {
        let data = crate::example::dataset(loss, 20, 3, 1);
        let constants = constants(loss, 20, 3, 0.1);
        let objective = Objective::new(&constants, &data).unwrap();
        let made = Memory::new(&objective, &vec![0.0; constants.parameters()]);
        assert_eq!(made.is_ok(), loss == Loss::Logistic);
        if loss != Loss::Logistic {
            assert_eq!(
                made.unwrap_err(),
                refusal!(
                    "Newton removal needs a loss whose second derivative is Lipschitz: \
                 `logistic`, or `squared` without a clip; got {}; choose another solver",
                    loss.name()
                )
                .into()
            );
        }
    }
    let (records, constants, mut memory) = trained(Loss::Logistic, 20, 3);
    let before = memory.clone();
    let empty = dataset(3, &[]);
    let long = dataset(3, &[(vec![2.0, 0.0, 0.0], 1.0, 1.0)]);
    let many: Vec<Record> = (0..30).map(|_| records[0].clone()).collect();
    let many = dataset(3, &many);
    let refused: [(&Dataset, &Dataset); 3] = [(&empty, &long), (&many, &empty), (&empty, &many)];
    for (removed, added) in refused {
        assert!(memory.change(&constants, removed, added, STOP).is_err());
        assert_eq!(memory, before);
    }
    let data = dataset(3, &records[1..]);
    let objective = Objective::new(&constants, &data).unwrap();
    let other = memory.correct(&objective, STOP, &mut unwatched);
    assert_eq!(other, Err(Refusal::new("the memory is of 20 records, got 19").into()));
}
