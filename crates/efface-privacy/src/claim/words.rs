//! Claims and scope in words a privacy officer can read.

use super::{Claim, Notion, Requests};
use crate::accountant::Accountant;
use crate::event::{Adjacency, Event, State};

/// The claim in one sentence.
#[must_use]
pub fn in_words(claim: &Claim) -> String {
    let sure = format!(
        "whoever must tell the two apart from what is published is right at most {}% of the time \
         (guessing: 50%)",
        percent_up(0.5 + claim.advantage.0 / 2.0)
    );
    let epsilon = short_up(claim.epsilon.0);
    let when = match claim.requests {
        Requests::Any => String::new(),
        Requests::NonAdaptive => "for requests chosen without looking at releases, ".to_owned(),
        Requests::PAdaptive(p) => format!("even if the requester saw {p} releases, "),
    };
    let which = match claim.releases {
        0 | 1 => "the published model".to_owned(),
        n => format!("the published model, together with the next ones up to {n} in all,"),
    };
    let text = match claim.notion {
        Notion::IndistinguishableFromRetraining => {
            format!(
                "{when}{which} is ({epsilon}, {})-indistinguishable from one retrained on the data \
                 as they are now: {sure}",
                claim.delta.map_or(String::new(), |d| short_up(d.0))
            )
        }
        Notion::RenyiUnlearning => format!(
            "{when}{which} is within Rényi divergence {epsilon} (order {}) of one retrained \
             on the data as they are now, in both directions: {sure}",
            claim.order.map_or(String::new(), |d| d.to_string())
        ),
        Notion::DeletionPrivacy => {
            format!(
                "{when}what is kept is within Rényi divergence {epsilon} (order {}) of a world \
                 that never had the deleted records{}: {sure}",
                claim.order.map_or(String::new(), |d| d.to_string()),
                if claim.group == "any" {
                    String::new()
                } else {
                    format!(" (up to {} of one person)", claim.group)
                }
            )
        }
        Notion::ExactRemoval => format!(
            "{when}{which} and what is kept are bit for bit what they would be had the deleted \
             records never been seen, given the same public constants"
        ),
        Notion::DifferentialPrivacy => {
            let how = match claim.adjacency {
                Some(Adjacency::Replace) => "with other contents",
                _ => "being absent",
            };
            let weak = if claim.epsilon.0 > 10.0 { " (a weak promise)" } else { "" };
            let releases = match claim.releases {
                1 => "this release differs".to_owned(),
                n => format!("all {n} releases together differ"),
            };
            let records = match claim.group.as_str() {
                "1" => "one of the remaining records".to_owned(),
                n => format!("{n} of the remaining records"),
            };
            format!(
                "{releases} by at most ({epsilon}, {}) from what {records} {how} would give\
                 {weak}: {sure}",
                claim.delta.map_or(String::new(), |d| short_up(d.0)),
            )
        }
    };
    if claim.accountant == Accountant::Objective {
        return format!("NOT SOUND, only as published: {text}");
    }
    text
}

/// What is left open where nothing random is released.
const UNHIDDEN: [&str; 2] = [
    "the remaining records, which no noise hides: differential-privacy holds at no epsilon",
    "the difference between two models of this vault, which is made of the changed records",
];

/// What certificates of models whose records have weights do not cover.
pub const WEIGHTS: &str = "weights computed from the data as a whole, such as class balance: each \
                           record's weight is taken as a fact about that record or as public \
                           knowledge; the largest weight and the sum of weights, where they were \
                           read off the data, which outlive their records";

/// What every certificate of this event covers, and what it does not.
#[must_use]
pub fn scope(event: &Event) -> (Vec<String>, Vec<String>) {
    let unsound = event.account().unsound();
    let mut covers = vec!["the weights published with this request".to_owned()];
    match event.state() {
        State::Perfect => covers.push(
            "everything kept after the request: weights, remaining rows, public constants".into(),
        ),
        State::Secret => covers.push(
            "later releases up to the stated number; not the kept unperturbed state itself".into(),
        ),
    }
    let exact = event.core().grid().is_none();
    if exact {
        covers.push(
            "the kept sums, which follow from the remaining rows and public constants".into(),
        );
    }
    let mut does_not = vec![
        "backups and copies of the vault or of the source table",
        "models exported or published earlier, and comparing an earlier model with a later one",
        "logs, shell histories and screens that showed the records",
        "what the file system or the disk keeps of overwritten blocks",
        "feature extractors, scalers, encoders and cleaning fitted on private data",
        "choosing settings, thresholds or models by looking at results on private data",
        "other records about the same person, and copies of a record under another id",
        "other models trained on the same data",
        "keyed marks and the number of deleted records, which the vault keeps to answer again",
        "names of classes and schema values read from the data, which outlive their records",
        "time taken, failures and refusals, which may depend on the data",
    ];
    if let Event::Composed(_) = event {
        does_not.push("whether what was given is as private as declared");
        does_not.push("records that only what was given saw, and other models made from it");
    }
    if exact {
        does_not.extend(UNHIDDEN);
    }
    let mut limits: Vec<String> = does_not.into_iter().map(str::to_owned).collect();
    if let Some(why) = unsound {
        covers.clear();
        limits.insert(0, format!("anything at all: {why}"));
    }
    (covers, limits)
}

/// A number for people, at most four significant digits, never below the exact one.
fn short_up(x: f64) -> String {
    if !x.is_finite() {
        return "infinity".to_owned();
    }
    if x == 0.0 {
        return "0".to_owned();
    }
    let scale = 10f64.powi(3 - x.abs().log10().floor() as i32);
    let rounded = if scale.is_finite() { (x * scale).ceil() / scale } else { x };
    crate::quantity::Decimal(rounded.max(x)).to_string().chars().take(24).collect()
}

fn percent_up(probability: f64) -> String {
    let hundredths = (probability * 1e4).ceil().min(1e4) / 100.0;
    format!("{hundredths:.2}")
}
