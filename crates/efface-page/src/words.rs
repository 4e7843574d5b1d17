//! What certificates say by a word, a number or a field, in words.

use efface_privacy::certificate::{Evidence, Origin, RequestKind};
use efface_privacy::claim::{Claim, Requests};
use efface_privacy::event::{Adjacency, State};
use efface_privacy::quantity::Decimal;

use crate::model::Item;
use crate::number::{bound, counted};

/// A claim in a sentence.
#[must_use]
pub fn claim(claim: &Claim) -> Item {
    Item::new(claim.notion.name(), &claim.words)
}

/// A claim with what it compares with, when it is valid, and by which result.
#[must_use]
pub fn whole_claim(of: &Claim) -> Item {
    let worlds = match of.adjacency {
        Some(Adjacency::Remove) => "; adjacency: records removed",
        Some(Adjacency::Replace) => {
            "; adjacency: records replaced; the number of records is public"
        }
        None => "",
    };
    let (requests, state) = (requests(of.requests), state(of.state));
    claim(of).more([
        format!("compared with {}", of.reference),
        format!("valid for {requests}; group: {}; state: {state}{worlds}", of.group),
        format!("by {} (accountant `{}`)", of.theorem, of.accountant.name()),
    ])
}

/// The delta or the order that an epsilon is for, where it has one.
#[must_use]
pub fn parameter(delta: Option<Decimal>, order: Option<Decimal>) -> Option<String> {
    match (delta, order) {
        (Some(delta), _) => Some(format!("delta {}", bound(delta.0))),
        (None, Some(order)) => Some(format!("order {order}")),
        (None, None) => None,
    }
}

/// An epsilon and what it is for.
#[must_use]
pub fn epsilon(epsilon: f64, delta: Option<Decimal>, order: Option<Decimal>) -> String {
    let at = parameter(delta, order).map_or_else(String::new, |at| format!(", {at}"));
    format!("epsilon {}{at}", bound(epsilon))
}

/// How requests may depend on releases.
#[must_use]
pub fn requests(requests: Requests) -> String {
    match requests {
        Requests::Any => "any requests".to_owned(),
        Requests::NonAdaptive => "requests chosen without looking at releases".to_owned(),
        Requests::PAdaptive(p) => {
            format!("requesters who saw at most {}", counted(p, "release"))
        }
    }
}

/// What is kept after a request.
#[must_use]
pub fn state(state: State) -> &'static str {
    match state {
        State::Perfect => "perfect",
        State::Secret => "secret",
    }
}

/// How sure an assumption is.
#[must_use]
pub fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Enforced => "enforced by the engine",
        Evidence::Measured => "measured",
        Evidence::Declared => "declared by the user",
        Evidence::Assumed => "assumed, not checked",
    }
}

/// Where a public constant comes from.
#[must_use]
pub fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::User => "given by the user",
        Origin::Default => "fixed by rule",
        Origin::Data => "from the data",
    }
}

/// A number of records; certificates do not state it where it is private.
#[must_use]
pub fn records(count: Option<u64>) -> String {
    count.map_or_else(|| "records (number not stated)".to_owned(), |count| counted(count, "record"))
}

/// What a request did.
#[must_use]
pub fn request(kind: RequestKind, count: Option<u64>) -> String {
    let records = records(count);
    match kind {
        RequestKind::Train => format!("the first training, on {records}"),
        RequestKind::Delete => format!("deletion of {records}"),
        RequestKind::Add => format!("addition of {records}"),
        RequestKind::Update => format!("update of {records}"),
        RequestKind::Refresh => "a fresh release without kept state".to_owned(),
    }
}
