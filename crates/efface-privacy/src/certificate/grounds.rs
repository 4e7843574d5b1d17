//! Assumptions behind claims about networks, in the words that certificates must use.

use super::{Assumption, Certificate, Evidence};
use crate::event::Event;

/// An assumption that the engine makes true, or whose truth the user declares: name, words, evidence.
pub type Ground = (&'static str, &'static str, Evidence);

/// The assumptions behind every claim about a network that was trained with noise.
pub const NETWORK: [Ground; 3] = [
    (
        "gradients",
        "the gradient of each record, or of all records of a subject, is computed from the weights and \
         these records alone, clipped, and rounded towards zero to whole multiples of the grid; their \
         sums are exact, and what these are divided by does not depend on who was drawn",
        Evidence::Enforced,
    ),
    (
        "batches",
        "whether a record, or all records of a subject, are in the batch of a step is drawn for each of \
         them and each step by itself, from the generator of the noise, and kept secret",
        Evidence::Enforced,
    ),
    (
        "network",
        "layers, start, steps, rate, clip and size of steps were chosen without the records",
        Evidence::Declared,
    ),
];

/// The assumptions behind exact removal from shards.
pub const SHARDS: [Ground; 3] = [
    (
        "shards",
        "a record's shard is a public hash of its subject, or of its id where records name no subjects, \
         and follows from that name alone; a name by position counts the records before it",
        Evidence::Enforced,
    ),
    (
        "determinism",
        "the network of a shard is a function of its records and their ids, bit for bit: from a public \
         start, in an order by a public hash of ids and epochs, by sums in a fixed order, whatever the \
         number of threads; zeros where a shard has no record",
        Evidence::Enforced,
    ),
    (
        "network",
        "shards, layers, start, epochs, batch size and size of steps were chosen without the records",
        Evidence::Declared,
    ),
];

/// What certificates say of the noise: of a release, and of a test with a seed of the user's.
pub const RANDOMNESS: [Ground; 2] = [
    (
        "randomness",
        "the noise comes from the operating system's generator and is never seen or reused",
        Evidence::Enforced,
    ),
    ("randomness", "the noise comes from a user-given seed: for tests only", Evidence::Declared),
];

impl From<Ground> for Assumption {
    fn from((name, value, evidence): Ground) -> Self {
        Self { name: name.to_owned(), value: value.to_owned(), evidence }
    }
}

/// Returns the assumptions that the claims of a certificate need in fixed words.
pub(super) fn grounds(certificate: &Certificate) -> Vec<Ground> {
    let core = certificate.event.core();
    let trained = certificate.event.given_training().is_some();
    let mut list = Vec::new();
    if trained || matches!(core, Event::DpSgd(_)) {
        list.extend(NETWORK);
    }
    if matches!(core, Event::Shards(_)) {
        list.extend(SHARDS);
    }
    if trained || certificate.event.grid().is_some() {
        list.push(RANDOMNESS[usize::from(certificate.not_for_release)]);
    }
    list
}

/// Refuses a ground that is stated twice, in other words, or with other evidence. Another check, common to
/// all assumptions, asks whether it is stated at all.
pub(super) fn check(certificate: &Certificate) -> Result<(), String> {
    for ground in grounds(certificate) {
        let name = ground.0;
        let mut stated = certificate.assumptions.iter().filter(|one| one.name == name);
        let right = Assumption::from(ground);
        if stated.next().is_some_and(|one| *one != right) || stated.next().is_some() {
            return Err(format!(
                "the assumption `{name}` must be stated once, as {:?} and in these words: {}",
                right.evidence, right.value
            ));
        }
    }
    Ok(())
}
