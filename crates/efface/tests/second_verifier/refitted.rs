//! Certificates of fitted preprocessing that break one rule each.

use efface_privacy::certificate::Certificate;
use efface_privacy::claim::{Claim, Notion, Requests};
use efface_privacy::event::{Event, Normalizer, OutputNoise, Refitted, State};

use crate::breaks::{Break, unassume};

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
        Event::OutputNoise(event) => event.preprocessing.as_mut().is_some_and(|fitted| {
            fitted.min_frequency = 0;
            true
        }),
        _ => false,
    }),
];
