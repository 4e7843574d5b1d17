//! What can be measured.

mod mechanisms;
mod million;
mod nonlinear;
mod prepared;
mod scaling;

use crate::Failure;

/// What a user asks of a scenario.
pub(crate) struct Asked {
    /// Whether to take fewer and smaller cases.
    pub(crate) quick: bool,
    /// The cases to take; none means all.
    pub(crate) names: Vec<String>,
}

impl Asked {
    /// Whether a case is to be measured.
    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|asked| asked == name)
    }

    /// Refuses names that are no case of the scenario.
    fn check<'a>(&self, known: impl Iterator<Item = &'a str> + Clone) -> Result<(), Failure> {
        match self.names.iter().find(|name| known.clone().all(|known| known != **name)) {
            Some(name) => {
                let known: Vec<&str> = known.collect();
                Err(format!("cases are {}; got `{name}`", known.join(", ")).into())
            }
            None => Ok(()),
        }
    }
}

/// Measures one part of a scenario and prints it, by arguments that the scenario gives.
type Child = fn(&[String]) -> Result<(), Failure>;

/// Something that can be measured.
pub(crate) struct Scenario {
    /// What users type.
    pub(crate) name: &'static str,
    /// One line on what it measures.
    pub(crate) about: &'static str,
    /// Measures it and prints tables.
    pub(crate) run: fn(&Asked) -> Result<(), Failure>,
    /// Measures one part in a process of its own; none where the scenario has no such parts.
    pub(crate) child: Option<Child>,
}

/// Every scenario.
pub(crate) const SCENARIOS: [Scenario; 5] = [
    Scenario {
        name: "mechanisms",
        about: "Every mechanism on MNIST 3 versus 8 at one target",
        run: mechanisms::run,
        child: None,
    },
    Scenario {
        name: "prepared",
        about: "Deletions with and without a kept Hessian, declared and fitted preprocessing",
        run: prepared::run,
        child: None,
    },
    Scenario {
        name: "nonlinear",
        about: "Models beyond linear ones, each beside training again",
        run: nonlinear::run,
        child: None,
    },
    Scenario {
        name: "million",
        about: "Time and memory of every step on a million rows",
        run: million::run,
        child: Some(million::step),
    },
    Scenario {
        name: "scaling",
        about: "How times grow with records, columns, zeros, threads and the ledger",
        run: scaling::run,
        child: Some(scaling::part),
    },
];
