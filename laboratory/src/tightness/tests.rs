//! Tightness and planted faults, with fixed seeds.

use efface::Code;
use efface_audit::{Budget, Seeds, Verdict};

use super::*;

fn budget(runs: u64) -> Budget<'static> {
    Budget { runs, limit: None, elapsed: &|| 0.0, stop: &|| false }
}

/// Must the accountant be loose, or the audit wrong, one of these fails: estimate and lower bound are
/// within 5 % of the certified mu, and the lower bound is not above it.
#[test]
fn the_accountant_is_attained() {
    for (index, instance) in TIGHT.iter().enumerate() {
        let seeds = Seeds::new([20 + index as u8; 32]);
        let measured = instance.measure(None, seeds, &budget(60_000)).unwrap();
        let (estimate, lower) = (measured.estimate / measured.mu, measured.lower / measured.mu);
        assert!((estimate - 1.0).abs() < 0.05, "{instance:?}: {measured:?}");
        assert!(lower > 0.95 && lower <= 1.0, "{instance:?}: {measured:?}");
        assert_eq!(measured.verdict, Verdict::Consistent);
    }
}

/// The same over batches: the engine's own steps, and rows in the batch that is visited last.
#[test]
fn the_accountant_is_attained_over_batches() {
    for (index, instance) in TIGHT_CYCLES.iter().enumerate() {
        let seeds = Seeds::new([70 + index as u8; 32]);
        let measured = instance.measure(None, seeds, &budget(150_000)).unwrap();
        let (estimate, lower) = (measured.estimate / measured.mu, measured.lower / measured.mu);
        assert!((estimate - 1.0).abs() < 0.05, "{instance:?}: {measured:?}");
        assert!(lower > 0.95 && lower <= 1.0, "{instance:?}: {measured:?}");
        assert_eq!(measured.verdict, Verdict::Consistent);
    }
}

#[test]
fn every_fault_is_found_and_none_where_there_is_none() {
    let measure = |fault: Option<Fault>, seed| {
        let instance = fault.map_or(FAULTY, Fault::instance);
        instance.measure(fault, Seeds::new([seed; 32]), &budget(20_000)).unwrap()
    };
    let honest = measure(None, 40);
    assert_eq!(honest.verdict, Verdict::Consistent, "{honest:?}");
    for (index, fault) in Fault::ALL.into_iter().enumerate() {
        let found = measure(Some(fault), 41 + index as u8);
        assert_eq!(found.verdict, Verdict::Refuted, "{fault:?}: {found:?}");
    }
}

#[test]
fn few_runs_decide_nothing() {
    let few = FAULTY.measure(None, Seeds::new([60; 32]), &budget(20)).unwrap();
    assert_eq!(few.verdict, Verdict::Undecided);
    let stopped = Budget { stop: &|| true, ..budget(20) };
    let error = FAULTY.measure(None, Seeds::new([60; 32]), &stopped).unwrap_err();
    assert_eq!(error.code(), Code::Interrupted);
    let late = Budget { limit: Some(1.0), elapsed: &|| 2.0, ..budget(20_000) };
    let none = FAULTY.measure(None, Seeds::new([60; 32]), &late).unwrap();
    assert_eq!((none.verdict, none.counted), (Verdict::Undecided, 0));
}

#[test]
fn bad_instances_are_refused() {
    let seeds = || Seeds::new([61; 32]);
    for bad in [
        Instance { group: 20, ..FAULTY },
        Instance { removal: 0, ..FAULTY },
        Instance { step: 5.0, ..FAULTY },
        Instance { sigma: f64::NAN, ..FAULTY },
        Instance { capacity: 3, ..FAULTY },
        Instance { batches: Some(3), ..FAULTY_CYCLE },
        Instance { batches: Some(0), ..FAULTY_CYCLE },
        Instance { group: 5, ..FAULTY_CYCLE },
    ] {
        assert!(bad.measure(None, seeds(), &budget(100)).is_err(), "{bad:?}");
    }
}
