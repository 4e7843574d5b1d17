//! What a model builds on, as its plan lists it.

use efface_privacy::certificate::Origin;
use efface_privacy::claim::of_training;

use crate::plan::{Choices, List};

/// What certificates do not cover: what the user adds, and what those of the network add.
pub(super) fn not_covered(choices: &Choices) -> Vec<String> {
    let mut lines = [&choices.settings.not_covered[..], &beyond_extractor(choices)].concat();
    for line in choices.trunk.iter().flat_map(|trunk| &trunk.not_covered) {
        if !lines.contains(line) {
            lines.push(line.clone());
        }
    }
    lines
}

/// The figures of what was given.
pub(super) fn list_given(list: &mut List, choices: &Choices) {
    if let Some(given) = &choices.given {
        list.add("given", given.what.name(), Origin::User);
        let numbers = [
            ("given-epsilon", given.epsilon),
            ("given-delta", given.delta),
            ("given-mu", given.mu),
        ];
        for (name, value) in numbers {
            if let Some(value) = value {
                list.add(name, value, Origin::User);
            }
        }
        list.add("given-group", given.group, Origin::User);
        for (name, value) in given.training.iter().flat_map(|training| of_training(training)) {
            list.add(name, value, Origin::User);
        }
    }
    if let Some(taken) = &choices.trunk {
        list.add("trunk", &taken.trunk.vault, Origin::User);
    }
}

/// What rows that are a public model's outputs leave open.
fn beyond_extractor(choices: &Choices) -> Vec<String> {
    let Some(_) = choices.settings.extractor else { return Vec::new() };
    [
        "what the public model that rows are outputs of (`extractor`) was made from, which may hold \
         the same people",
        "the raw records that rows were computed from, and what else was computed from them",
    ]
    .map(str::to_owned)
    .into()
}
