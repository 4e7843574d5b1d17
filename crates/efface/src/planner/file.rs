//! A written plan: read, a choice taken, and held against the data it is used on.

use serde_json::Value;

use crate::error::{Code, Error, Result};
use crate::plan::{DataSummary, Plan};
use crate::planner::choice::{Choice, Fixed};
use crate::planner::{Advice, SCHEMA, Sizes};
use crate::settings::Settings;

/// One choice of a written plan, for a training to follow.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    sizes: Sizes,
    choice: Choice,
}

/// Takes a choice from the text of a written plan: by its name or its place, the first by default.
///
/// # Errors
/// A text that is no plan of this version, or a choice that it does not hold.
pub fn chosen(text: &str, choice: Option<&str>) -> Result<Chosen> {
    let advice = Advice::read(text)?;
    let names: Vec<&str> = advice.choices.iter().map(|c| c.name.as_str()).collect();
    let held = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let found = match choice {
        None => advice.choices.first(),
        Some(wanted) => advice
            .choices
            .iter()
            .find(|c| c.name == wanted || wanted.parse::<usize>().is_ok_and(|rank| c.rank == rank)),
    };
    let Some(found) = found else {
        let wanted: String = choice.unwrap_or("the first").chars().take(60).collect();
        let message = format!("the plan has no choice `{wanted}`; its choices are {held}");
        return Err(Error::refused(Code::Choice, message)
            .hint("choose by name or rank, see `§efface plan`"));
    };
    Ok(Chosen { sizes: advice.sizes, choice: found.clone() })
}

impl Advice {
    /// Reads a written plan.
    ///
    /// # Errors
    /// A text that is no plan of this version.
    pub fn read(text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| Error::input(Code::Plan, format!("the plan is not JSON: {error}")))?;
        let schema = value.get("schema").and_then(Value::as_str).unwrap_or("none");
        if schema != SCHEMA {
            let shown: String = schema.chars().take(60).collect();
            let message = format!("the plan's `schema` must be `{SCHEMA}`, got `{shown}`");
            return Err(Error::input(Code::Plan, message)
                .hint("make the plan with `§efface plan ... -o FILE`"));
        }
        serde_json::from_value(value)
            .map_err(|error| Error::input(Code::Plan, format!("the plan is malformed: {error}")))
    }
}

impl Chosen {
    /// The settings that training takes.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.choice.settings.clone()
    }

    /// Name of the choice, such as `solve`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.choice.name
    }

    /// Refuses data of other sizes. A number of records that is public does not bind the data.
    pub(crate) fn fits(&self, facts: &DataSummary) -> Result<()> {
        let sizes = &self.sizes;
        let classes = facts.classes.len() as u64;
        let public = self.choice.settings.public_n.is_some();
        for (what, planned, got, binds) in [
            // If preprocessing is fitted they follow the records.
            (
                "features after encoding",
                self.choice.fixed.features,
                facts.features,
                facts.fitting.is_none(),
            ),
            ("classes", sizes.classes, classes, true),
            ("records", sizes.records, facts.records, !public),
        ] {
            if binds && planned != got {
                let message = format!("the plan is for {planned} {what}, but the data have {got}");
                return Err(Error::refused(Code::Plan, message)
                    .hint("make a plan for these data: `§efface plan DATA ... -o FILE`"));
            }
        }
        Ok(())
    }

    /// Refuses a training that would fix something else than the plan says.
    pub(crate) fn is_followed(&self, plan: &Plan) -> Result<()> {
        let broken = |error: serde_json::Error| Error::storage(Code::Plan, error.to_string());
        let planned = serde_json::to_value(&self.choice.fixed).map_err(broken)?;
        let now = serde_json::to_value(Fixed::from(plan)).map_err(broken)?;
        match difference("", &planned, &now) {
            None => Ok(()),
            Some((name, planned, now)) => Err(Error::refused(
                Code::Plan,
                format!(
                    "the plan fixes `{name}` to {planned}, but its settings give {now} on these \
                     data"
                ),
            )
            .hint(
                "the plan was changed by hand, or the data do not declare what it assumes to be \
                 public (`§classes`, `§schema`); make a plan for these data with `§efface plan`",
            )),
        }
    }
}

/// The first place where two values differ, with both.
fn difference(at: &str, one: &Value, other: &Value) -> Option<(String, Value, Value)> {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.iter().zip(b.values()).find_map(|((name, x), y)| {
                let dot = if at.is_empty() { "" } else { "." };
                difference(&format!("{at}{dot}{name}"), x, y)
            })
        }
        _ if one == other => None,
        _ => Some((at.to_owned(), one.clone(), other.clone())),
    }
}
