//! The planner: which mechanism, with which settings, for sizes and a workload known beforehand.
//!
//! Each candidate is a set of settings that goes through the same checks and the same search for
//! noise, distance and steps as a training would ([`Plan`](crate::Plan)); what is printed is what training
//! fixes, claims come from the event that the plan implies, and refusals are the engine's own.
//! With a table and declared preprocessing its sizes alone are used, and said to come from it. Where
//! training would fit preprocessing to the records, it is fitted here, too: what the choices rest on are
//! sizes still, how many numbers a row becomes among them, and what was seen is told and kept nowhere.

mod basis;
mod candidate;
mod choice;
pub(crate) mod cost;
mod file;
mod forecast;
mod head;
mod objective;
mod page;
mod pass_time;
mod rank;
mod request;
pub(crate) mod resolve;

#[cfg(test)]
mod tests;

pub use choice::{Choice, Fixed};
pub use file::{Chosen, chosen};
pub use rank::Baseline;
pub use request::{Machine, PlanRequest, Seen, Sizes};

pub use cost::{Count, Lasts, PassTime, TimeOrigin, Workload};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Kind, Result};
use crate::settings::{Settings, Words, in_words};
use basis::{Bases, Basis};
use candidate::{Candidate, NEVER_CERTIFIED};
use request::Read;

/// The format of a written plan.
pub const SCHEMA: &str = "efface.plan/0";

/// What the planner found. Written as JSON it is the file that training can follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    /// Name and version of the form, always [`SCHEMA`].
    pub schema: String,
    /// The sizes that all of it is for.
    pub sizes: Sizes,
    /// What is to be served.
    pub workload: Workload,
    /// The excess risk that choices are held to.
    pub excess_risk_allowed: f64,
    /// The time of one gradient pass over all records.
    pub pass: PassTime,
    /// What can be had, best first.
    pub choices: Vec<Choice>,
    /// Retraining without a certificate, from the model before, to compare with.
    pub baseline: Baseline,
    /// What cannot, and why.
    pub refused: Vec<Refusal>,
    /// How choices are ranked, in one line.
    pub ranking: String,
    /// What to do, in words.
    pub advice: Vec<String>,
    /// What fitting preprocessing to the table showed.
    #[serde(skip)]
    pub seen: Seen,
}

/// A mechanism that is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The name it would have.
    pub name: String,
    /// The engine's reason.
    pub reason: String,
    /// What to do, if something can be done.
    pub hint: Option<String>,
}

/// Finds what can be had.
///
/// `settings` are those of a training; `mechanism` and `state`, if given, restrict the table.
///
/// # Errors
/// Settings, sizes or a workload that no mechanism could take; a table that cannot be read.
pub fn plan(
    request: &PlanRequest<'_>,
    workload: Workload,
    settings: Settings,
    machine: &mut Machine<'_>,
) -> Result<Advice> {
    let workload = workload.check()?;
    let settings = request::complete(settings, &workload)?;
    let preprocess = settings.preprocess.clone();
    let Read { sizes, facts, settings, mut seen } = request.read(settings, machine)?;
    let pass = pass_time::of(&settings, &sizes, &facts, &workload, machine)?;
    let basis = Basis { settings, sizes, facts, pass, making: 0.0 };
    let (first, others) = (basis.clone(), BTreeMap::new());
    let mut bases = Bases { request, workload: &workload, preprocess, first, others, machine };
    let inputs = basis.inputs(&workload);
    let mut choices = Vec::new();
    let mut refused = Vec::new();
    let mut wrong = None;
    for candidate in candidate::asked_for(&basis.settings)? {
        match choose(candidate, &mut bases) {
            Ok(choice) => choices.extend(choice),
            Err(error) if matches!(error.kind(), Kind::Refused | Kind::Input) => {
                refused.push(Refusal::of(candidate.name, &error));
                wrong = wrong.or((error.kind() == Kind::Input).then_some(error));
            }
            Err(error) => return Err(error),
        }
    }
    // What one mechanism has no use for others may take; what none takes that learns the same loss is an
    // error.
    let none = choices.iter().all(|choice| rank::learns_another(choice, &inputs));
    if let (true, Some(error)) = (none, wrong) {
        return Err(error);
    }
    let (name, reason) = NEVER_CERTIFIED;
    refused.push(Refusal { name: name.to_owned(), reason: reason.to_owned(), hint: None });
    let baseline = rank::baseline(&inputs)?;
    rank::order(&mut choices, &inputs);
    let fitted = basis.facts.fitting.is_some() && basis.sizes.from_data;
    let alike = |choice: &&Choice| fitted && !choice.beyond;
    if let Some(best) = choices.first().filter(alike) {
        seen.of_plan(&forecast::planned(best.settings.clone(), &basis.facts)?, &basis.facts)?;
    }
    let advice = rank::advice(&choices, &inputs);
    let excess_risk_allowed = objective::allowed(&basis.settings, &basis.facts);
    let Basis { sizes, pass, .. } = basis;
    Ok(Advice {
        schema: SCHEMA.to_owned(),
        sizes,
        excess_risk_allowed,
        pass,
        choices,
        baseline,
        refused,
        ranking: rank::RANKING.to_owned(),
        advice,
        seen,
        workload,
    })
}

/// What a candidate comes to; none if it has no place beside what was asked.
fn choose(candidate: &Candidate, bases: &mut Bases<'_, '_>) -> Result<Option<Choice>> {
    let Some(basis) = bases.of(candidate)? else { return Ok(None) };
    let workload = bases.workload;
    let inputs = basis.inputs(workload);
    let Some(settings) = (candidate.settings)(&inputs)? else { return Ok(None) };
    let mut timing = bases.first.timing(workload, bases.machine);
    let choice = Choice::of(candidate, settings, &basis, &inputs, &mut timing)?;
    match candidate.head {
        None => Ok(Some(choice)),
        Some(head) => head::after(choice, head, &basis, bases).map(Some),
    }
}

impl Refusal {
    fn of(name: &str, error: &Error) -> Self {
        Self {
            name: name.to_owned(),
            reason: error.message().to_owned(),
            hint: error.what_to_do().map(str::to_owned),
        }
    }
}

impl Advice {
    /// The same advice with what its refusals name in the words of a face.
    #[must_use]
    pub fn in_words(mut self, words: &Words) -> Self {
        for refusal in &mut self.refused {
            refusal.reason = in_words(&refusal.reason, words);
            refusal.hint = refusal.hint.as_ref().map(|hint| in_words(hint, words));
        }
        for note in self.choices.iter_mut().flat_map(|choice| &mut choice.notes) {
            *note = in_words(note, words);
        }
        for line in &mut self.advice {
            *line = in_words(line, words);
        }
        for notice in &mut self.seen.notices {
            notice.message = in_words(&notice.message, words);
        }
        self
    }

    /// The advice as JSON, to be kept and followed by a training.
    ///
    /// # Errors
    /// Never, short of a bug: every number is finite.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string_pretty(self)
            .map(|text| text + "\n")
            .map_err(|error| Error::storage(Code::Plan, error.to_string()))
    }
}
