//! Certificates of fitted preprocessing that break one rule each.

use efface_privacy::certificate::{Certificate, Constant, Evidence, Origin};
use efface_privacy::claim::{Claim, Notion, Requests};
use efface_privacy::event::{Event, ExactRemoval, Normalizer, OutputNoise, Refitted, State};
use efface_privacy::quantity::Decimal;

use crate::breaks::{Break, assume, exact, listed, unassume};

/// How many records a category needs, where a number is chosen or follows from that of the records.
pub(super) fn fewest(chosen: u64, records: u64) -> u64 {
    if chosen.is_multiple_of(2) { usual(records) } else { chosen }
}

fn usual(records: u64) -> u64 {
    (records / 5000).clamp(1, 5)
}

/// Says of that number, where it could follow from the number of records, that it does, and of the bound
/// on rows with it.
pub(super) fn follow_records(event: &Event, constants: &mut [Constant]) {
    let (fitted, records) = match event.core() {
        Event::OutputNoise(event) => (event.preprocessing, event.records),
        Event::ExactRemoval(event) => (event.preprocessing, event.records),
        _ => return,
    };
    if fitted.map(|fitted| fitted.min_frequency) == records.map(usual) {
        let squared = constants.iter().any(|c| c.name == "loss" && c.value == "squared");
        let names = ["min-frequency", "row-norm", "intercept"];
        let names = &names[..if squared { 3 } else { 1 }];
        let named = constants.iter_mut().filter(|c| names.contains(&c.name.as_str()));
        named.for_each(|constant| constant.origin = Origin::Data);
    }
}

/// Says of an optimum that its preprocessing is fitted, where that can be wrong.
fn refit(certificate: &mut Certificate, wrong: impl Fn(&OutputNoise) -> bool) -> bool {
    match &mut certificate.event {
        Event::OutputNoise(event) if event.preprocessing.is_none() && wrong(event) => {
            event.preprocessing = Some(Refitted { min_frequency: 10 });
            true
        }
        _ => false,
    }
}

fn rarest(fitted: &mut Option<Refitted>) -> bool {
    fitted.as_mut().is_some_and(|fitted| {
        fitted.min_frequency = 0;
        true
    })
}

/// Says of exact sums that their rows are fitted, where that can be wrong.
fn refit_exact(certificate: &mut Certificate, wrong: impl Fn(&ExactRemoval) -> bool) -> bool {
    exact(certificate).is_some_and(|event| {
        let told = event.preprocessing.is_none() && wrong(event);
        event.preprocessing = Some(Refitted { min_frequency: 10 });
        told
    })
}

/// Changes the event of exact sums of fitted rows.
fn of_fitted(certificate: &mut Certificate, change: impl Fn(&mut ExactRemoval)) -> bool {
    exact(certificate).filter(|event| event.preprocessing.is_some()).is_some_and(|event| {
        change(event);
        true
    })
}

fn rows_follow_records(certificate: &mut Certificate, name: &str) -> bool {
    let fitted = certificate.event.preprocessing().is_some();
    let squared = listed(certificate, "loss").is_some_and(|loss| loss.value == "squared");
    assume(certificate, "row-count", "said", Evidence::Declared);
    let named = listed(certificate, name);
    named.map(|constant| constant.origin = Origin::Data).is_some() && !(fitted && squared)
}

/// Bounds on rows that nobody chose follow the number of records where preprocessing is fitted and the
/// loss is squared.
pub(super) const ROW_BREAKS: &[(&str, Break)] = &[
    ("assumptions", |c| rows_follow_records(c, "row-norm")),
    ("assumptions", |c| rows_follow_records(c, "intercept")),
];

/// The start of the name of a check that must fail, and how to make it fail.
pub(super) const REFITTED_BREAKS: &[(&str, Break)] = &[
    ("assumptions", |c| unassume(c, "preprocessing")),
    // Statistics released as they are hide nobody, and whoever kept more than them is not covered.
    ("claim", |c| refit(c, |e| !matches!(e.setting.normalizer, Normalizer::Mean { .. }))),
    ("claim", |c| refit(c, |e| e.state == State::Secret)),
    ("claim", |c| {
        let private = |claim: &Claim| {
            claim.notion == Notion::DifferentialPrivacy
                || matches!(claim.requests, Requests::PAdaptive(_))
        };
        let told = c.claims.iter().any(private);
        refit(c, |_| told)
    }),
    ("claim", |c| match &mut c.event {
        Event::OutputNoise(event) => rarest(&mut event.preprocessing),
        Event::ExactRemoval(event) => rarest(&mut event.preprocessing),
        _ => false,
    }),
    // Exact sums of fitted rows: of how many records, and of targets how large.
    ("claim", |c| refit_exact(c, |e| !matches!(e.setting.normalizer, Normalizer::Mean { .. }))),
    ("claim", |c| refit_exact(c, |e| e.records.is_none())),
    ("claim", |c| of_fitted(c, |e| e.records = None)),
    ("claim", |c| of_fitted(c, |e| e.records = Some((1 << 24) + 1))),
    ("claim", |c| of_fitted(c, |e| e.preprocessing = None)),
    ("objective", |c| {
        let numbers = listed(c, "loss").is_some_and(|loss| loss.value == "squared");
        let changed = of_fitted(c, |e| {
            let records = e.records.unwrap_or(0) as f64;
            e.target_bound = Decimal(0.999 * records.sqrt());
        });
        numbers && changed
    }),
    // More or fewer records of a category than follow from their number.
    ("objective", |c| {
        let follows = listed(c, "min-frequency").is_some_and(|k| k.origin == Origin::Data);
        let changed = |fitted: &mut Option<Refitted>| {
            fitted.as_mut().is_some_and(|fitted| {
                fitted.min_frequency += 1;
                follows
            })
        };
        match &mut c.event {
            Event::OutputNoise(event) => changed(&mut event.preprocessing),
            Event::ExactRemoval(event) => changed(&mut event.preprocessing),
            _ => false,
        }
    }),
    ("objective", |c| {
        let chosen = listed(c, "min-frequency").filter(|k| k.origin == Origin::User);
        chosen.is_some_and(|k| {
            k.origin = Origin::Data;
            k.value.len() > 1
        })
    }),
    // Gradients without a bound.
    ("objective", |c| {
        let noisy = c.event.grid().is_some();
        let loss = listed(c, "loss");
        loss.is_some_and(|loss| {
            loss.value = "squared-classes".to_owned();
            noisy
        })
    }),
    ("scope", |c| {
        let kept = "the kept sums, which depend on the remaining rows and public constants only";
        c.scope.covers.push(kept.to_owned());
        of_fitted(c, |_| ())
    }),
];
