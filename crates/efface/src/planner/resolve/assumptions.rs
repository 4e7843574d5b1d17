//! What claims rest on beyond mathematics, as certificates state it.

use efface_privacy::certificate::{
    Assumption, Constant, DECLARED, DECLARED_EXTRACTOR, Evidence, Origin, RANDOMNESS,
};
use efface_privacy::event::{Adjacency, Unit, What};

use crate::mechanism::by_name;
use crate::plan::{DataSummary, MechanismName, ValidatedSettings, private_notion};

/// Everything a plan supposes, and on whose word.
pub(super) fn assumptions(
    choices: &ValidatedSettings,
    facts: &DataSummary,
    adjacency: Adjacency,
    constants: &[Constant],
) -> Vec<Assumption> {
    let s = &choices.settings;
    let exact = choices.mechanism.is_exact();
    let by_subject = constants.iter().any(|c| c.name == "unit" && c.value == Unit::Subject.name());
    let (row, numbers) = match choices.fitted {
        true => ("row after preprocessing", "the numbers learnt from"),
        false => ("stored row", "the stored numbers"),
    };
    let (norm, map) = (choices.row_norm, choices.row_map);
    let mut list = vec![enforced(
        "rows",
        format!("every {row} has norm at most {norm} (`{map}`), checked on {numbers}"),
    )];
    if choices.mechanism.keeps_sums() && !choices.fitted {
        list.push(assumed(
            "stored-rows",
            "deleting a row subtracts exactly what it added to the sums: rows in the vault are \
             unchanged (`efface ledger verify` recomputes the sums and compares)",
        ));
    }
    let seeded =
        s.seed.is_some() || choices.trunk.as_ref().is_some_and(|taken| taken.plan.not_for_release);
    // If removal is exact for a given network, the noise of its training is what hides.
    if !exact || choices.trunk.is_some() {
        list.push(RANDOMNESS[usize::from(seeded)].into());
    }
    if choices.trunk.is_some() {
        list.extend(by_name(MechanismName::DpSgd).profile().assumptions);
        list.push(declared(
            "features",
            "a stored row holds the features of one declared row, by the network that is kept with the \
             model and whose digest is listed; which of its layers gives them was chosen without the \
             records",
        ));
    } else if facts.feature_map.is_some() {
        list.push(declared(
            "features",
            "a stored row holds the features of one declared row, by the public map that is listed; its \
             kind, sizes and seed were chosen without the records",
        ));
    }
    if s.extractor.is_some() {
        let value = match choices.declared_features() {
            false => {
                "rows are outputs of the public model that is listed, which was made without these \
                 records, stays as it is and keeps nothing of them; each is computed from its own raw \
                 record alone"
            }
            true => DECLARED_EXTRACTOR.1,
        };
        list.push(declared("extractor", value));
    }
    if let Some(most) = constants.iter().find(|c| c.name == "max-weight") {
        let value = format!(
            "every stored weight is between 0 and {}, checked on the stored numbers; each is a \
             fact about its own record, or public knowledge",
            most.value
        );
        list.push(declared("weights", value));
        if most.origin == Origin::Data {
            let value = "the largest weight was computed from the data and is assumed to be public";
            list.push(assumed("max-weight", value));
        }
    }
    if choices.balances() {
        list.push(enforced(
            "class-weight",
            "a record counts n/(k n_c), of n records, k classes and n_c records of its class, counted \
             at hand, again for this release",
        ));
    }
    if s.batches.is_some() {
        list.push(enforced(
            "batches",
            "a record's batch follows from its id alone, by a public hash, and never changes; no batch \
             holds more than `batch-capacity` records, checked for this release",
        ));
    }
    list.extend(by_name(choices.mechanism).profile().assumptions);
    if let Some(parts) = facts.parts {
        // If the number of records is private, so is what they are cut into.
        let number =
            if adjacency == Adjacency::Remove { "several".into() } else { parts.to_string() };
        let value = format!(
            "rows are stored in {number} partitions outside the vault; whoever stores one {}",
            by_name(choices.mechanism).profile().holders_do
        );
        list.push(assumed("parts", value));
    }
    if adjacency == Adjacency::Replace {
        list.push(row_count(choices, facts, by_subject, constants));
    }
    if facts.fitting.is_some() {
        list.push(enforced(
            "preprocessing",
            "preprocessing, classes, scale of y and lambda are computed from the records at \
             hand alone, the same for any order of them: again for this release, from \
             nothing; loss, noise, distance, bounds and how many records a category needs \
             follow from their number and that of their classes; names of columns are public, and \
             so is which types whoever read the table gave to its cells",
        ));
    }
    list.extend(data_derived(choices, facts));
    list.extend(about_given(choices));
    for value in &facts.schema_from_data {
        list.push(assumed("schema", format!("{value} in the schema was taken from the data")));
    }
    if !exact {
        list.push(groups(choices, facts.subjects, by_subject));
    }
    list
}

/// That the number of records is public, and what follows from it.
fn row_count(
    choices: &ValidatedSettings,
    facts: &DataSummary,
    by_subject: bool,
    constants: &[Constant],
) -> Assumption {
    let s = &choices.settings;
    // With weights `public-n` declares their sum, and `capacity` the count that the rest follows.
    let weighted = facts.weights.is_some() && !choices.mean;
    let summed = weighted && s.public_n.is_none();
    let given = s.public_n.is_some() && (!weighted || s.capacity.is_some());
    let (public, pronoun) = if summed {
        ("the number of records and the sum of the first ones' weights are public", "them")
    } else if by_subject {
        (
            "the numbers of records and of subjects, and how many records each has, are public",
            "them",
        )
    } else {
        ("the number of records is public", "it")
    };
    let follow = constants.iter().filter(|c| c.follows_row_count());
    let value = match &follow.map(|c| c.name.as_str()).collect::<Vec<_>>()[..] {
        [] => public.to_owned(),
        names => format!("{public}; {} follow from {pronoun}", names.join(", ")),
    };
    if given { declared("row-count", value) } else { assumed("row-count", value) }
}

/// What was read off the data and is taken to be public.
fn data_derived(
    choices: &ValidatedSettings,
    facts: &DataSummary,
) -> impl Iterator<Item = Assumption> {
    let (s, fitting) = (&choices.settings, facts.fitting.as_ref());
    let rows = [
        (
            fitting.is_some_and(|fitting| fitting.width_from_data),
            "width",
            "the number of columns, the largest index in the file, was computed from the data and is \
             assumed to be public",
        ),
        (
            fitting.is_some_and(|fitting| fitting.types_from_data),
            "column-types",
            "that columns hold texts where most of these spell numbers or times may follow from one \
             record's cell and is assumed to be public",
        ),
        (
            s.loss_from_data,
            "loss",
            "that the label is a number, and not one of several classes, was decided by the first \
             records' labels and is assumed to be public",
        ),
        (
            s.label_type_from_data,
            "label-type",
            "that labels are given back as texts, or as numbers of another type than whole ones, \
             follows from the first records' labels and is assumed to be public",
        ),
        (
            !facts.classes_given && !facts.classes.is_empty() && fitting.is_none(),
            "classes",
            "the set of labels was computed from the data and is assumed to be public",
        ),
        (
            s.target_range_from_data,
            "target-range",
            "the range of y was computed from the data and is assumed to be public",
        ),
    ];
    rows.into_iter().filter(|(is, ..)| *is).map(|(_, name, value)| assumed(name, value))
}

/// Whom claims about groups cover.
fn groups(choices: &ValidatedSettings, subjects: bool, by_subject: bool) -> Assumption {
    let group = match choices.max_group {
        1 => "1 record".to_owned(),
        group => format!("{group} records"),
    };
    let asked = choices.settings.max_group.is_some();
    let (evidence, value) = match (subjects, private_notion(choices.notion)) {
        (true, _) if by_subject => (
            Evidence::Enforced,
            "claims about groups count subjects, with all records of each".to_owned(),
        ),
        (true, true) => (Evidence::Enforced, format!("no subject owns more than {group}")),
        (true, false) => (
            if asked { Evidence::Declared } else { Evidence::Assumed },
            format!(
                "claims for groups of any size cover every subject; one for groups of at most {group} \
                 does not cover a subject that owns more"
            ),
        ),
        (false, true) => (
            Evidence::Assumed,
            format!("no person owns more than {group}; there is no subject column"),
        ),
        (false, false) => (
            Evidence::Assumed,
            format!(
                "what is claimed for groups of at most {group} covers a person only who owns no more; \
                 there is no subject column"
            ),
        ),
    };
    assumption("group", value, evidence)
}

/// What is declared about the extractor or the start.
fn about_given(choices: &ValidatedSettings) -> Vec<Assumption> {
    let mut list = Vec::new();
    if let Some(taken) = &choices.trunk {
        let value = format!(
            "the network was taken from vault {} as its latest certificate has it, before the first \
             training; a record here was at most one record there",
            taken.trunk.vault
        );
        list.push(declared("given", value));
    } else if choices.declared_features() {
        list.extend(DECLARED.map(|(name, value)| declared(name, value)));
    } else if let Some(given) = &choices.given {
        let figures = match (given.epsilon, given.delta, given.mu) {
            (Some(epsilon), Some(delta), _) => format!("({epsilon}, {delta})-private"),
            (_, _, Some(mu)) => format!("{mu}-GDP"),
            _ => "private".to_owned(),
        };
        let what = match given.what {
            What::Extractor => "the feature extractor",
            What::Start => "the start",
        };
        let value = format!(
            "{what} was fixed before the first training and is {figures} for groups of {} records, \
             one world lacking them",
            given.group
        );
        list.push(declared("given", value));
    }
    if choices.settings.start.is_some() && choices.settings.start_public {
        list.push(declared("start", "the start was made without the private data"));
    }
    list
}

fn enforced(name: &str, value: impl Into<String>) -> Assumption {
    assumption(name, value, Evidence::Enforced)
}

fn declared(name: &str, value: impl Into<String>) -> Assumption {
    assumption(name, value, Evidence::Declared)
}

fn assumed(name: &str, value: impl Into<String>) -> Assumption {
    assumption(name, value, Evidence::Assumed)
}

fn assumption(name: &str, value: impl Into<String>, evidence: Evidence) -> Assumption {
    Assumption { name: name.to_owned(), value: value.into(), evidence }
}
