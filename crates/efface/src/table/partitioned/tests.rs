//! A part reaches the state it is told to, whatever its state was before.

use std::ops::ControlFlow;

use efface_formats::{MemoryRows, MemoryTable, Numbers, Values};

use super::Part;
use crate::error::Code;
use crate::plan::shape::Shape;
use crate::plan::{Plan, SampleWeights, ValidatedSettings};
use crate::rows::Place;
use crate::rows::source::Source;
use crate::settings::Settings;
use crate::table::facts_of_parts;

const ROWS: usize = 40;

fn plan(weights: Option<SampleWeights>) -> String {
    let shape = Shape {
        records: ROWS as u64,
        parts: 1,
        features: 2,
        names: None,
        classes: vec!["0".into(), "1".into()],
        classes_given: true,
        ids: false,
        subjects: false,
        people: None,
        weights,
    };
    let choices = ValidatedSettings::new(Settings::default()).unwrap();
    let plan = Plan::resolve(&choices, &facts_of_parts(&shape, &choices).unwrap()).unwrap();
    serde_json::to_string(&plan).unwrap()
}

fn part(salt: u8) -> Part {
    weighted(salt, None)
}

fn weighted(salt: u8, weights: Option<&[f64]>) -> Part {
    let numbers: Vec<f64> = (0..2 * ROWS).map(|i| (i as f64).sin()).collect();
    let labels: Vec<i64> = (0..ROWS as i64).map(|i| i % 2).collect();
    let ids: Vec<i64> = (100..100 + ROWS as i64).collect();
    let table = MemoryTable {
        rows: MemoryRows::Dense { numbers: Numbers::Double(&numbers), width: 2 },
        labels: Some(Values::Integers(&labels)),
        ids: Some(Values::Integers(&ids)),
        subjects: None,
        weights: weights.map(Values::Numbers),
        names: None,
    };
    let source = Source { memory: Some(table), ..Source::default() };
    let told = weights.map(SampleWeights::of);
    Part::new(&source, &plan(told), [salt; 16], &mut |_| ControlFlow::Continue(())).unwrap()
}

fn gradient(part: &Part) -> Vec<u64> {
    let totals = part.totals(&[0.3, -0.1, 0.2]).unwrap();
    totals.gradient.iter().map(|g| g.to_bits()).collect()
}

#[test]
fn every_way_to_a_state_leads_to_the_same_sums() {
    let mut direct = part(1);
    direct.set_state(&[3, 5, 39], &[], None).unwrap();
    let mut detour = part(1);
    let whole = (gradient(&detour), detour.fingerprint());
    detour.set_state(&[], &[3, 7, 39], None).unwrap();
    assert_eq!(detour.rows(), ROWS - 3);
    detour.set_state(&[], &[], None).unwrap();
    assert_eq!((gradient(&detour), detour.fingerprint()), whole);
    detour.set_state(&[3], &[5, 7, 20], None).unwrap();
    detour.set_state(&[3, 5], &[39], None).unwrap();
    detour.set_state(&[3, 5, 39], &[], Some(direct.fingerprint())).unwrap();
    assert_eq!(gradient(&detour), gradient(&direct));
    assert_ne!(gradient(&detour), whole.0);
    assert_eq!((detour.rows(), detour.made()), (ROWS - 3, ROWS as u64));
    detour.set_state(&(0..ROWS as u64).collect::<Vec<_>>(), &[], None).unwrap();
    assert_eq!((detour.rows(), detour.fingerprint()), (0, 0));
    assert_eq!(gradient(&detour), [0; 3]);
}

#[test]
fn erased_rows_do_not_come_back() {
    let mut part = part(1);
    part.set_state(&[3], &[4], None).unwrap();
    for (erased, withdrawn) in [(&[][..], &[4][..]), (&[], &[3, 4]), (&[], &[])] {
        let error = part.set_state(erased, withdrawn, None).unwrap_err();
        assert!(error.message().contains("erased"), "{}", error.message());
    }
    for wrong in [&[2, 2][..], &[4, 3], &[40]] {
        assert_eq!(part.set_state(wrong, &[], None).unwrap_err().code(), Code::Data);
    }
}

#[test]
fn fingerprints_tell_other_rows() {
    let mut one = part(1);
    let print = one.fingerprint();
    assert_ne!(print, part(2).fingerprint());
    one.set_state(&[0], &[], None).unwrap();
    let error = part(1).set_state(&[1], &[], Some(one.fingerprint())).unwrap_err();
    assert!(error.message().contains("other rows"), "{}", error.message());
}

#[test]
fn weights_count_and_are_told_by_fingerprints() {
    let mut weights = [1.0; ROWS];
    let plain = part(1).totals(&[0.3, -0.1, 0.2]).unwrap();
    let ones = weighted(1, Some(&weights));
    assert_eq!(ones.totals(&[0.3, -0.1, 0.2]).unwrap(), plain);
    weights[7] = 0.0;
    let mut lighter = weighted(1, Some(&weights));
    assert_ne!(lighter.fingerprint(), ones.fingerprint());
    let gone = lighter.totals(&[0.3, -0.1, 0.2]).unwrap();
    lighter.set_state(&[7], &[], None).unwrap();
    let erased = lighter.totals(&[0.3, -0.1, 0.2]).unwrap();
    assert!((gone.loss - erased.loss).abs() < 1e-12 && gone.loss < plain.loss - 0.1);
}

#[test]
fn names_are_there_until_they_are_dropped() {
    let mut part = part(1);
    let ids = part.names().unwrap().ids.as_ref().unwrap();
    assert_eq!((ids.len(), &*ids[0]), (ROWS, "100"));
    part.drop_names();
    assert_eq!(part.names(), None);
}

#[test]
fn hessians_and_products_agree() {
    let part = part(1);
    let w = [0.3, -0.1, 0.2];
    let h = part.hessian(&w).unwrap();
    let column = part.product(&w, &[1.0, 0.0, 0.0]).unwrap();
    for (a, b) in h.iter().zip(&column) {
        assert!((a - b).abs() <= 1e-12 * a.abs(), "{a} {b}");
    }
    assert_eq!(h.len(), 6);
    assert!(part.totals(&[0.0; 2]).is_err());
}

#[test]
fn places_survive_their_bytes() {
    let place = Place { part: 7, row: 1 << 40 };
    assert_eq!(Place::from_bytes(&place.to_bytes()).unwrap(), place);
    assert!(Place::from_bytes(&[0; 11]).is_err());
    assert!(Place::from_bytes(&[0; 13]).is_err());
}
