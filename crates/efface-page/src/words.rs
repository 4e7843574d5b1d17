//! What certificates say by a word, a number or a field, in words.

use efface_privacy::certificate::{Constant, Evidence, Origin, RequestKind};
use efface_privacy::claim::{Claim, Requests};

use efface_privacy::event::{Adjacency, Composed, DpSgd, Event, Shards, State, Unit};
use efface_privacy::quantity::Decimal;

use crate::model::Item;
use crate::number::{bound, counted};

/// Returns a claim in a sentence.
#[must_use]
pub fn claim(claim: &Claim) -> Item {
    Item::new(claim.notion.name(), &claim.words)
}

/// Returns a claim with what it compares with, when it is valid, and by which result.
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
    claim(of)
        .more([
            format!("compared with {}", of.reference),
            format!("valid for {requests}; {}; state: {state}{worlds}", group(&of.group)),
            format!("by {} (accountant `{}`)", of.theorem, of.accountant.name()),
        ])
        .more(of.rdp_epsilon.map(|second| {
            format!(
                "epsilon is at most {} by Rényi divergences of whole orders alone",
                bound(second.0)
            )
        }))
}

/// Returns how many records or people a claim is about.
fn group(of: &str) -> String {
    match of {
        "any" => "groups of any size".to_owned(),
        "1" => "one at a time".to_owned(),
        most => format!("groups of at most {most}"),
    }
}

/// Returns the delta or the order that an epsilon is for, if it has one.
#[must_use]
pub fn parameter(delta: Option<Decimal>, order: Option<Decimal>) -> Option<String> {
    match (delta, order) {
        (Some(delta), _) => Some(format!("delta {}", bound(delta.0))),
        (None, Some(order)) => Some(format!("order {order}")),
        (None, None) => None,
    }
}

/// Writes an epsilon and what it is for.
#[must_use]
pub fn epsilon(epsilon: f64, delta: Option<Decimal>, order: Option<Decimal>) -> String {
    let at = parameter(delta, order).map_or_else(String::new, |at| format!(", {at}"));
    format!("epsilon {}{at}", bound(epsilon))
}

/// Describes how requests may depend on releases.
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

/// Returns what is kept after a request.
#[must_use]
pub fn state(state: State) -> &'static str {
    match state {
        State::Perfect => "perfect",
        State::Secret => "secret",
    }
}

/// Describes how certain an assumption is.
#[must_use]
pub fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Enforced => "enforced by the engine",
        Evidence::Measured => "measured",
        Evidence::Declared => "declared by the user",
        Evidence::Assumed => "assumed, not checked",
    }
}

/// Names the origin of a constant.
#[must_use]
pub fn origin(constant: &Constant) -> &'static str {
    match constant.origin {
        Origin::User => "given by the user",
        Origin::Default => "fixed by rule",
        Origin::Data if constant.follows_row_count() => "from the number of records",
        Origin::Data => "read from the records",
    }
}

/// Describes how to compare the claims of one certificate, if they are of several notions.
#[must_use]
pub fn comparison(claims: &[Claim]) -> Option<Item> {
    let several = claims.iter().any(|claim| claim.notion != claims[0].notion);
    several.then(|| {
        Item::new(
            "how to compare them",
            "none is the stronger one: each is about another attacker, who sees the published model, all \
             that is kept, or all that is published. Their epsilons have different units, and a \
             probability of success holds for its own attacker alone: rely on the promise whose \
             attacker you fear",
        )
    })
}

/// The trivial bound on the records of a subject: as many as a network learns from.
const ANY_ROWS: u64 = u32::MAX as u64;

/// Describes how networks were trained, and how many of the units that one may have learnt from are deleted;
/// nothing for other models. `constants` are the certificate's, whose `deletions` is the capacity.
#[must_use]
pub fn trained(event: &Event, constants: &[Constant]) -> Vec<String> {
    let event = match event {
        Event::DpSgd(event) => event,
        Event::Shards(event) => return vec![in_shards(event)],
        Event::Composed(event) => return elsewhere(event, constants),
        _ => return Vec::new(),
    };
    let unit = match event.unit {
        Unit::Record => "each record by itself".to_owned(),
        Unit::Subject if event.rows_per_unit >= ANY_ROWS => {
            "all records of a subject together".to_owned()
        }
        Unit::Subject => format!(
            "all records of a subject together, at most {}",
            counted(event.rows_per_unit, "record")
        ),
    };
    let earlier = match event.earlier_steps {
        0 => String::new(),
        steps => format!(", after {} of earlier trainings", counted(steps, "step")),
    };
    let capacity = capacity(constants);
    vec![
        format!(
            "Network of {}, {} of DP-SGD{earlier}; gradients clipped to {} ({unit}), sampling rate \
             {}, noise {} times the clip",
            counted(event.parameters, "weight"),
            counted(event.steps(), "step"),
            event.clip,
            event.rate,
            event.noise
        ),
        format!("Deleted since from what it learnt from: {}{capacity}", units(event)),
    ]
}

/// Returns how many deletions the noise was chosen for, if constants say so.
fn capacity(constants: &[Constant]) -> String {
    let capacity = constants.iter().find(|constant| constant.name == "deletions");
    capacity.map_or_else(String::new, |most| format!(" of at most {}", most.value))
}

/// Returns what a training made elsewhere is declared to have been.
fn elsewhere(event: &Composed, constants: &[Constant]) -> Vec<String> {
    let (Some(training), Some(removed)) = (&event.given.declared, event.removed) else {
        return Vec::new();
    };
    let phases = training.phases.iter().map(|phase| {
        format!(
            "{} at sampling rate {} with noise {} times the clip",
            counted(phase.steps, "step"),
            phase.rate,
            phase.noise
        )
    });
    let deleted = counted(training.deleted.saturating_add(removed), "record");
    vec![
        format!(
            "Extractor trained elsewhere by DP-SGD, as declared: {}",
            phases.collect::<Vec<_>>().join(", then ")
        ),
        format!("Deleted since from what it learnt from: {deleted}{}", capacity(constants)),
    ]
}

/// Returns what became of the networks of shards.
fn in_shards(event: &Shards) -> String {
    let whose = match event.unit {
        Unit::Record => "of its id",
        Unit::Subject => "of its subject",
    };
    format!(
        "{}, each with a network of {} that is trained without noise; a record's shard is a public \
         hash {whose}; trained anew for this release: {} of {}",
        counted(event.shards, "shard"),
        counted(event.parameters / event.shards.max(1), "weight"),
        event.retrained,
        event.shards
    )
}

/// Returns the deleted units of the segment that had the most of them.
fn units(event: &DpSgd) -> String {
    let unit = match event.unit {
        Unit::Record => "record",
        Unit::Subject => "subject",
    };
    counted(event.deleted(), unit)
}

/// Returns a number of records, which certificates do not state if it is private.
#[must_use]
pub fn records(count: Option<u64>) -> String {
    count.map_or_else(|| "records (number not stated)".to_owned(), |count| counted(count, "record"))
}

/// Returns what a request did.
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

#[cfg(test)]
mod tests {
    use super::*;
    use efface_privacy::event::{DeclaredSteps, DeclaredTraining, Given, Segment, What};

    #[test]
    fn a_network_says_who_was_deleted_and_of_how_many() {
        let segment = |steps, deleted| Segment { steps, deleted };
        let event = DpSgd {
            parameters: 26_010,
            unit: Unit::Subject,
            rows_per_unit: 20,
            clip: Decimal(0.1),
            noise: Decimal(26.74),
            grid: Decimal(1e-9),
            rate: Decimal(0.07),
            group: 1,
            releases: 4,
            segments: vec![segment(175, 3), segment(1, 2)],
            earlier_steps: 40,
        };
        let constant = |name: &str| Constant {
            name: name.to_owned(),
            value: "8".to_owned(),
            origin: Origin::User,
        };
        let lines = trained(&Event::DpSgd(event.clone()), &[constant("deletions")]);
        let [training, deleted] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!(
            training,
            "Network of 26010 weights, 176 steps of DP-SGD, after 40 steps of earlier trainings; \
             gradients clipped to 0.1 (all records of a subject together, at most 20 records), \
             sampling rate 0.07, noise 26.74 times the clip"
        );
        assert_eq!(deleted, "Deleted since from what it learnt from: 3 subjects of at most 8");
        let records = DpSgd { unit: Unit::Record, earlier_steps: 0, ..event };
        let lines = trained(&Event::DpSgd(records), &[constant("n")]);
        assert!(lines[0].contains("DP-SGD; gradients clipped to 0.1 (each record by itself)"));
        assert_eq!(lines[1], "Deleted since from what it learnt from: 3 records");
    }

    #[test]
    fn a_training_elsewhere_says_its_phases_and_who_was_deleted() {
        let steps =
            |noise, steps| DeclaredSteps { noise: Decimal(noise), rate: Decimal(0.05), steps };
        let training = DeclaredTraining {
            phases: vec![steps(6.0, 200), steps(8.0, 1)],
            clip: None,
            deleted: 2,
        };
        let given = Given {
            what: What::Extractor,
            epsilon: None,
            delta: None,
            mu: None,
            group: 1,
            training: None,
            declared: Some(Box::new(training)),
        };
        let inner = Event::Shards(Shards {
            parameters: 1,
            unit: Unit::Record,
            shards: 1,
            retrained: 1,
            arithmetic: 1,
            releases: 1,
        });
        let event = Event::Composed(Composed { given, removed: Some(1), inner: Box::new(inner) });
        let deletions =
            Constant { name: "deletions".into(), value: "8".into(), origin: Origin::User };
        assert_eq!(
            trained(&event, &[deletions]),
            [
                "Extractor trained elsewhere by DP-SGD, as declared: 200 steps at sampling rate 0.05 \
                 with noise 6 times the clip, then 1 step at sampling rate 0.05 with noise 8 times \
                 the clip",
                "Deleted since from what it learnt from: 3 records of at most 8"
            ]
        );
    }
}
