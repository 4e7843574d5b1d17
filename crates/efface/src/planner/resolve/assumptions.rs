//! What claims rest on beyond mathematics, as certificates state it.

use efface_privacy::certificate::{
    Assumption, Constant, DECLARED, DECLARED_EXTRACTOR, Evidence, Origin, RANDOMNESS,
};
use efface_privacy::event::{Adjacency, Unit, What};

use crate::mechanism::by_name;
use crate::plan::{Facts, MechanismName, ValidatedSettings, private_notion};

/// Everything a plan supposes, and on whose word.
pub(super) fn assumptions(
    choices: &ValidatedSettings,
    facts: &Facts,
    adjacency: Adjacency,
    constants: &[Constant],
) -> Vec<Assumption> {
    let exact = choices.mechanism.is_exact();
    let by_subject = constants.iter().any(|c| c.name == "unit" && c.value == Unit::Subject.name());
    let mut list = vec![assumption(
        "rows",
        format!(
            "every {} has norm at most {} (`{}`), checked on {}",
            if choices.fitted { "row after preprocessing" } else { "stored row" },
            choices.row_norm,
            choices.row_map,
            if choices.fitted { "the numbers learnt from" } else { "the stored numbers" },
        ),
        Evidence::Enforced,
    )];
    if choices.mechanism.keeps_sums() && !choices.fitted {
        list.push(assumption(
            "stored-rows",
            "deleting a row subtracts exactly what it added to the sums: rows in the vault are \
             unchanged (`efface ledger verify` recomputes the sums and compares)",
            Evidence::Assumed,
        ));
    }
    let seeded = choices.settings.seed.is_some()
        || choices.trunk.as_ref().is_some_and(|taken| taken.not_for_release);
    // Where removal is exact for a given network, the noise of its training is what hides.
    if !exact || choices.trunk.is_some() {
        list.push(RANDOMNESS[usize::from(seeded)].into());
    }
    if choices.trunk.is_some() {
        list.extend(by_name(MechanismName::DpSgd).profile().assumptions);
        let value = "a stored row holds the features of one declared row, by the network that is kept \
                     with the model and whose digest is listed; which of its layers gives them was chosen \
                     without the records";
        list.push(assumption("features", value, Evidence::Declared));
    } else if facts.feature_map.is_some() {
        let value = "a stored row holds the features of one declared row, by the public map that is \
                     listed; its kind, sizes and seed were chosen without the records";
        list.push(assumption("features", value, Evidence::Declared));
    }
    if choices.settings.extractor.is_some() {
        let value = match choices.declared_features() {
            false => {
                "rows are outputs of the public model that is listed, which was made without these \
                 records, stays as it is and keeps nothing of them; each is computed from its own raw \
                 record alone"
            }
            true => DECLARED_EXTRACTOR.1,
        };
        list.push(assumption("extractor", value, Evidence::Declared));
    }
    if let Some(most) = constants.iter().find(|c| c.name == "max-weight") {
        let value = format!(
            "every stored weight is between 0 and {}, checked on the stored numbers; each is a \
             fact about its own record, or public knowledge",
            most.value
        );
        list.push(assumption("weights", value, Evidence::Declared));
        if most.origin == Origin::Data {
            list.push(assumption(
                "max-weight",
                "the largest weight was computed from the data and is assumed to be public",
                Evidence::Assumed,
            ));
        }
    }
    if choices.balances() {
        let value = "a record counts n/(k n_c), of n records, k classes and n_c records of its class, \
                     counted at hand, again for this release";
        list.push(assumption("class-weight", value, Evidence::Enforced));
    }
    if choices.settings.batches.is_some() {
        let value = "a record's batch follows from its id alone, by a public hash, and never changes; \
                     no batch holds more than `batch-capacity` records, checked for this release";
        list.push(assumption("batches", value, Evidence::Enforced));
    }
    list.extend(by_name(choices.mechanism).profile().assumptions);
    if let Some(parts) = facts.parts {
        // Where the number of records is private, so is what they are cut into.
        let number =
            if adjacency == Adjacency::Remove { "several".into() } else { parts.to_string() };
        let value = format!(
            "rows are stored in {number} partitions outside the vault; whoever stores one {}",
            by_name(choices.mechanism).profile().holders_do
        );
        list.push(assumption("parts", value, Evidence::Assumed));
    }
    let from_data: Vec<&str> =
        constants.iter().filter(|c| c.follows_row_count()).map(|c| c.name.as_str()).collect();
    if adjacency == Adjacency::Replace {
        // With weights `public-n` declares their sum, and `capacity` the count that the rest follows.
        let weighted = facts.weights.is_some() && !choices.mean;
        let summed = weighted && choices.settings.public_n.is_none();
        let given = choices.settings.public_n.is_some()
            && (!weighted || choices.settings.capacity.is_some());
        let public = if summed {
            "the number of records and the sum of the first ones' weights are public"
        } else if by_subject {
            "the numbers of records and of subjects, and how many records each has, are public"
        } else {
            "the number of records is public"
        };
        let mut value = public.to_owned();
        if !from_data.is_empty() {
            let pronoun = if summed || by_subject { "them" } else { "it" };
            value += &format!("; {} follow from {pronoun}", from_data.join(", "));
        }
        let evidence = if given { Evidence::Declared } else { Evidence::Assumed };
        list.push(assumption("row-count", value, evidence));
    }
    if let Some(fitting) = &facts.fitting {
        let value = "preprocessing, classes, scale of y and lambda are computed from the records at \
                     hand alone, the same for any order of them: again for this release, from \
                     nothing; loss, noise, distance, bounds and how many records a category needs \
                     follow from their number and that of their classes; names of columns are public, and \
                     so is which types whoever read the table gave to its cells";
        list.push(assumption("preprocessing", value, Evidence::Enforced));
        if fitting.width_from_data {
            let value = "the number of columns, the largest index in the file, was computed from the \
                         data and is assumed to be public";
            list.push(assumption("width", value, Evidence::Assumed));
        }
    }
    if facts.fitting.as_ref().is_some_and(|fitting| fitting.types_from_data) {
        list.push(assumption(
            "column-types",
            "that columns hold texts where most of these spell numbers or times may follow from one \
             record's cell and is assumed to be public",
            Evidence::Assumed,
        ));
    }
    if choices.settings.loss_from_data {
        list.push(assumption(
            "loss",
            "that the label is a number, and not one of several classes, was decided by the first \
             records' labels and is assumed to be public",
            Evidence::Assumed,
        ));
    }
    if choices.settings.label_type_from_data {
        list.push(assumption(
            "label-type",
            "that labels are given back as texts, or as numbers of another type than whole ones, \
             follows from the first records' labels and is assumed to be public",
            Evidence::Assumed,
        ));
    }
    if !facts.classes_given && !facts.classes.is_empty() && facts.fitting.is_none() {
        list.push(assumption(
            "classes",
            "the set of labels was computed from the data and is assumed to be public",
            Evidence::Assumed,
        ));
    }
    if choices.settings.target_range_from_data {
        list.push(assumption(
            "target-range",
            "the range of y was computed from the data and is assumed to be public",
            Evidence::Assumed,
        ));
    }
    list.extend(about_given(choices));
    for value in &facts.schema_from_data {
        let value = format!("{value} in the schema was taken from the data");
        list.push(assumption("schema", value, Evidence::Assumed));
    }
    if exact {
        return list;
    }
    let group = match choices.max_group {
        1 => "1 record".to_owned(),
        group => format!("{group} records"),
    };
    list.push(match (facts.subjects, private_notion(choices.notion)) {
        (true, _) if by_subject => {
            let value = "claims about groups count subjects, with all records of each";
            assumption("group", value, Evidence::Enforced)
        }
        (true, true) => {
            let value = format!("no subject owns more than {group}");
            assumption("group", value, Evidence::Enforced)
        }
        (true, false) => {
            let value = format!(
                "claims for groups of any size cover every subject; one for groups of at most {group} does \
                 not cover a subject that owns more"
            );
            let declared = choices.settings.max_group.is_some();
            let evidence = if declared { Evidence::Declared } else { Evidence::Assumed };
            assumption("group", value, evidence)
        }
        (false, true) => {
            let value = format!("no person owns more than {group}; there is no subject column");
            assumption("group", value, Evidence::Assumed)
        }
        (false, false) => {
            let value = format!(
                "what is claimed for groups of at most {group} covers a person only who owns no more; \
                 there is no subject column"
            );
            assumption("group", value, Evidence::Assumed)
        }
    });
    list
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
        list.push(assumption("given", value, Evidence::Declared));
    } else if choices.declared_features() {
        let said = DECLARED.map(|(name, value)| assumption(name, value, Evidence::Declared));
        list.extend(said);
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
        list.push(assumption("given", value, Evidence::Declared));
    }
    if choices.settings.start.is_some() && choices.settings.start_public {
        let value = "the start was made without the private data";
        list.push(assumption("start", value, Evidence::Declared));
    }
    list
}

fn assumption(name: &str, value: impl Into<String>, evidence: Evidence) -> Assumption {
    Assumption { name: name.to_owned(), value: value.into(), evidence }
}
