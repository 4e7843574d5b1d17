//! Claims and scope in words a privacy officer can read.

use super::{Claim, Notion, Requests};
use crate::event::{Adjacency, Event, State};
use crate::quantity::rounded_up;

/// The worlds that claims on features of a training elsewhere compare with.
pub(super) const RETRAINED_ELSEWHERE: &str = "the steps of the extractor's training, as declared, from the same \
    start, with the records deleted so far in none of them and all others as they were, and the model \
    retrained on its features of the data after the request";
pub(super) const NEIGHBOURS_ELSEWHERE: &str = "the same releases, with the extractor's training as declared, from \
    data that differ in the protected records";

/// The world that claims on networks of shards compare with.
pub(super) const ANEW_NAMED: &str = "learning from the records after the request alone, under the names that they \
    have, with the same public constants";

/// From this epsilon on, differential privacy says next to nothing.
const MEANINGLESS: f64 = 10.0;

/// Returns the claim in one sentence.
#[must_use]
pub fn in_words(claim: &Claim) -> String {
    format!("{}{}{}", condition(claim), requester(claim.requests), statement(claim))
}

/// Returns what the claim holds under: a training that was made elsewhere is taken on the user's word.
fn condition(claim: &Claim) -> &'static str {
    if [RETRAINED_ELSEWHERE, NEIGHBOURS_ELSEWHERE].contains(&claim.reference.as_str()) {
        "if the extractor was trained as declared, "
    } else {
        ""
    }
}

fn requester(requests: Requests) -> String {
    match requests {
        Requests::Any => String::new(),
        Requests::NonAdaptive => "for requests chosen without looking at releases, ".to_owned(),
        Requests::PAdaptive(p) => format!("even if the requester saw {p} releases, "),
    }
}

fn statement(claim: &Claim) -> String {
    let epsilon = rounded_up(claim.epsilon.0);
    let delta = claim.delta.map_or(String::new(), |delta| rounded_up(delta.0));
    let order = claim.order.map_or(String::new(), |order| order.to_string());
    let (models, seen) = match claim.releases {
        0 | 1 => ("the published model is".to_owned(), "the published model"),
        n => (format!("the published model and the next ones, {n} in all, are"), "these models"),
    };
    let retrained = "a model retrained from scratch on the remaining data";
    match claim.notion {
        Notion::IndistinguishableFromRetraining => format!(
            "{models} ({epsilon}, {delta})-indistinguishable from {retrained}: {}",
            success(claim, seen)
        ),
        Notion::RenyiUnlearning => format!(
            "{models} within Rényi divergence {epsilon} (order {order}) of {retrained}, in both \
             directions: {}",
            success(claim, seen)
        ),
        Notion::DeletionPrivacy => {
            let person = match claim.group.as_str() {
                "any" => String::new(),
                group => format!(" (up to {group} of one person)"),
            };
            format!(
                "what is kept is within Rényi divergence {epsilon} (order {order}) of what would be \
                 kept without the deleted records{person}: {}",
                success(claim, "what is kept")
            )
        }
        Notion::ExactRemoval => {
            let named = claim.reference == ANEW_NAMED;
            let names = if named { " and names of the other records" } else { "" };
            format!(
                "the published model and what is kept are bit for bit what they would be without \
                 the deleted records, given the same public constants{names}"
            )
        }
        Notion::DifferentialPrivacy => {
            let releases = match claim.releases {
                1 => "this release is".to_owned(),
                n => format!("the {n} releases together are"),
            };
            let change = match claim.adjacency {
                Some(Adjacency::Replace) => "replaced",
                _ => "removed",
            };
            let records = match claim.group.as_str() {
                "1" => format!("one {change} record"),
                "1 subject" => format!("all rows of one {change} subject"),
                group => match group.strip_suffix(" subjects") {
                    Some(subjects) => format!("all rows of {subjects} {change} subjects"),
                    None => format!("{group} {change} records"),
                },
            };
            let protection = if claim.epsilon.0 > MEANINGLESS {
                "no meaningful protection".to_owned()
            } else {
                success(claim, "all that is published")
            };
            format!(
                "{releases} ({epsilon}, {delta})-differentially private for {records}: {protection}"
            )
        }
    }
}

/// Returns what the advantage means to an observer of `seen`.
fn success(claim: &Claim, seen: &str) -> String {
    format!(
        "an attacker who must decide between the two from {seen} succeeds with probability at most \
         {}% (random guessing: 50%)",
        percent_up(0.5 + claim.advantage.0 / 2.0)
    )
}

/// What is left open if nothing random is released.
const UNHIDDEN: [&str; 2] = [
    "the remaining records, which no noise hides: differential-privacy holds at no epsilon",
    "the difference between two models of this vault, which is made of the changed records",
];

/// What certificates of models with fitted preprocessing cover besides the weights.
const REFITTED: &str = "the preprocessing published with the weights (means, scales, names of \
    categories and classes), which is fitted again to the remaining records with every request";

/// What is left open if the preprocessing is published unchanged.
const EXACT_STATISTICS: [&str; 2] = [
    "the remaining records: the release holds their exact means, scales and counts and the names of \
     their classes and of their categories (those of fewer than min-frequency records are merged), so \
     that differential-privacy holds at no epsilon",
    "the difference between two releases, whose preprocessing shows what the changed records held",
];

/// What is kept if nothing random is released.
const SUMS: &str = "the kept sums, which depend on the remaining rows and public constants only";
/// The same of features of a network.
const TRUNK_SUMS: &str =
    "the kept sums, which depend on the network, the remaining rows and public constants only";

/// What certificates of models on a network's features cover besides the weights.
const TRUNK: &str = "the network that makes the features, kept and used with the weights";

/// What is left open if a network computes the features.
const TRUNK_LIMITS: [&str; 3] = [
    "the vault that the network comes from, named by the constant `trunk`, and its own copy of the \
     records: a deletion here erases nothing there",
    "records that only the network saw, records deleted from the vault it comes from after its \
     features were first used here, and other models made from it",
    "records deleted here that were more than one record of the network",
];

/// What is kept if nothing random is released on top of features that were trained elsewhere.
const DECLARED_SUMS: &str =
    "the kept sums, which depend on the extractor, the remaining rows and public constants only";

/// What is left open if features come from a training that is declared.
const DECLARED_LIMITS: [&str; 5] = [
    "whether the extractor was trained as declared: noise, batches and clipped sums of its steps are \
     taken on the user's word, and nothing here checks them",
    "what rounding of its sums, predictable or seeded generators, gradients that depend on other \
     records of a batch, and trainings that were tried before add to what the extractor reveals",
    "records that only the extractor saw, records deleted elsewhere after its features were first used \
     here, and other copies of the extractor and models made from it",
    "records deleted here that were more than one record of the extractor's training",
    "the raw records that rows were computed from, and what else was computed from them",
];

/// What is left open if a network was trained in any way.
const RESULTS: &str =
    "results on private rows told beside the model, such as losses and accuracies";

/// What is left open if networks are each trained on one shard.
const SHARDS_LIMITS: [&str; 3] = [
    RESULTS,
    "which networks changed with a request: they tell some bits of a public hash of the names it was \
     about",
    "the names of the remaining records and subjects: a record named by its position has it from the \
     number of records before it, deleted ones included, and the weights follow from these names",
];

/// What is left open if a network was trained on batches.
const NETWORK_LIMITS: [&str; 2] = [
    RESULTS,
    "which units were in which batch, and the times of single steps, which follow their number",
];

/// What certificates also leave open if rows are a public model's outputs: required whenever such a model is
/// named and its training is not declared.
pub const PUBLIC_MODEL: [&str; 2] = [
    "what the public model that rows are outputs of (`extractor`) was made from, which may hold the \
     same people",
    "the raw records that rows were computed from, and what else was computed from them",
];

/// What certificates of models whose records have weights do not cover.
pub const WEIGHTS: &str = "weights computed from the data as a whole, such as class balance: each \
    record's weight is assumed to be a fact about that record or public knowledge; the largest \
    weight and the sum of weights, where they were computed from the data, which remain after \
    their records are deleted";

/// Returns what every certificate of this event covers, and what it does not.
#[must_use]
pub fn scope(event: &Event) -> (Vec<String>, Vec<String>) {
    let mut covers = vec!["the weights published with this request".to_owned()];
    match event.state() {
        State::Perfect => covers.push(
            "everything kept after the request: weights, remaining rows, public constants".into(),
        ),
        State::Secret => covers.push(
            "later releases up to the stated number, but not the kept state without noise".into(),
        ),
    }
    let core = event.core();
    let exact = core.grid().is_none();
    let refitted = event.preprocessing().is_some();
    if refitted {
        covers.push(REFITTED.to_owned());
    }
    let trained = event.given_training().is_some();
    let declared = event.is_declared();
    if trained {
        covers.push(TRUNK.to_owned());
    }
    if matches!(core, Event::ExactRemoval(_)) && !refitted {
        let sums = match (trained, declared) {
            (true, _) => TRUNK_SUMS,
            (false, true) => DECLARED_SUMS,
            (false, false) => SUMS,
        };
        covers.push(sums.to_owned());
    }
    let mut does_not = vec![
        "backups and copies of the vault or of the source table",
        "releases made from other copies of the vault",
        "models exported or published earlier, and comparing an earlier model with a later one",
        "logs, shell histories and screens that showed the records",
        "old contents of overwritten blocks that the file system or the disk keeps",
        if refitted {
            "feature extractors, scalers, encoders and cleaning fitted on private data before the \
             rows came here"
        } else {
            "feature extractors, scalers, encoders and cleaning fitted on private data"
        },
        "choosing settings, thresholds or models by looking at results on private data",
        "other records about the same person, and copies of a record under another id",
        "other models trained on the same data",
        "keyed hashes of deleted ids and their number, kept to answer repeated requests",
        if refitted {
            "the number of records and of classes of earlier releases, which their certificates state"
        } else {
            "names of classes and schema values read from the data, which remain after their records \
             are deleted"
        },
        "what was printed while a request was served (passes, distance, seconds), which depends \
         on the previous model",
        "the size of the vault's file and the positions of rows in it, which show how much space \
         deleted records took",
        "running times and file times, failures and refusals, which may depend on the data",
    ];
    if refitted {
        does_not.extend(EXACT_STATISTICS);
    }
    if trained {
        does_not.extend(TRUNK_LIMITS);
        does_not.extend(NETWORK_LIMITS);
    } else if declared {
        does_not.extend(DECLARED_LIMITS);
        does_not.extend(NETWORK_LIMITS);
    } else if let Event::Composed(_) = event {
        does_not.push("whether the given start or extractor is as private as declared");
        does_not.push(
            "records that only the given start or extractor saw, and other models made \
            from it",
        );
    }
    if exact {
        does_not.extend(UNHIDDEN);
    }
    match core {
        Event::DpSgd(_) => does_not.extend(NETWORK_LIMITS),
        Event::Shards(_) => does_not.extend(SHARDS_LIMITS),
        _ => {}
    }
    (covers, does_not.into_iter().map(str::to_owned).collect())
}

fn percent_up(probability: f64) -> String {
    let hundredths = (probability * 1e4).ceil().min(1e4) / 100.0;
    format!("{hundredths:.2}")
}
