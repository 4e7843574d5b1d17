//! The rule on how many records one person may own.

use std::collections::HashMap;

use super::Plan;
use crate::error::{Code, Error, Result};

impl Plan {
    /// Under notions that protect a person, no subject may own more records than the public group.
    /// The most records of one, for networks and if there is such a rule.
    pub(crate) fn check_groups(&self, subjects: Option<&[Box<str>]>) -> Result<Option<u64>> {
        let limit = self.group_limit();
        let asked = limit.is_some() || self.sampled().is_some();
        let Some(subjects) = subjects.filter(|_| asked) else { return Ok(None) };
        let largest = sizes(subjects).into_values().max().unwrap_or(0);
        self.check_largest(largest)?;
        Ok(Some(largest))
    }

    /// Refuses a subject with so many records, if that is more than is promised.
    pub(crate) fn check_largest(&self, largest: u64) -> Result<()> {
        let limit = self.group_limit().unwrap_or(u64::MAX);
        if largest > limit {
            let message = format!("a subject has {largest} records, but `§max-group` is {limit}");
            return Err(Error::refused(Code::MaxGroup, message).hint(
                "give a larger `§max-group` as public knowledge, or keep fewer rows per person",
            ));
        }
        Ok(())
    }
}

/// How many records each subject has.
pub(crate) fn sizes(subjects: &[Box<str>]) -> HashMap<&str, u64> {
    let mut sizes = HashMap::new();
    for subject in subjects {
        *sizes.entry(&**subject).or_default() += 1;
    }
    sizes
}
