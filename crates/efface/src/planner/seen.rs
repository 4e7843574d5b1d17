//! What a table shows to whoever plans for it.

use efface_formats::{Fitted, RawRows};
use serde::Serialize;

use crate::error::Result;
use crate::outcome::notice::{
    Notice, Sizes, constant, few_records, names_learnt, of_columns, of_plan,
};
use crate::plan::{DataSummary, Plan};

/// What fitting preprocessing to a table showed: statistics of its records, told to whoever brought them
/// and no part of the written plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// One line for each column and one for the target.
    pub preprocessing: Vec<String>,
    /// What to know before training: those that training would tell, columns of one value,
    /// and few records.
    pub notices: Vec<Notice>,
}

impl Seen {
    pub(super) fn of(
        rows: &RawRows,
        found: &Fitted,
        subjects: bool,
        read: impl Iterator<Item = Notice>,
    ) -> Self {
        let mut notices: Vec<Notice> = read.collect();
        notices.extend(names_learnt(rows, found, subjects));
        notices.extend(of_columns(None, found));
        notices.extend(constant(rows));
        notices.extend(few_records(found));
        Self { preprocessing: found.describe(), notices }
    }

    /// Adds what the constants of the first choice warn of.
    pub(super) fn of_plan(&mut self, plan: &Plan, facts: &DataSummary) -> Result<()> {
        let weight = facts.weights.map(|weights| weights.sum);
        self.notices.extend(of_plan(plan, Sizes { records: facts.records, weight })?);
        Ok(())
    }
}
