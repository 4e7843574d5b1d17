//! The rule on how many records one person may own.

use super::Plan;
use crate::error::{Code, Error, Result};

impl Plan {
    /// Under notions that protect a person, no subject may own more records than the public group.
    pub(crate) fn check_groups(&self, subjects: Option<&[Box<str>]>) -> Result<()> {
        let (Some(limit), Some(subjects)) = (self.group_limit(), subjects) else { return Ok(()) };
        let mut sorted: Vec<&str> = subjects.iter().map(AsRef::as_ref).collect();
        sorted.sort_unstable();
        let largest = sorted.chunk_by(|a, b| a == b).map(<[&str]>::len).max().unwrap_or(0) as u64;
        if largest > limit {
            return Err(Error::refused(
                Code::MaxGroup,
                format!("a subject has {largest} records, but `§max-group` is {limit}"),
            )
            .hint(
                "give a larger `§max-group` as public knowledge, or keep fewer rows per person",
            ));
        }
        Ok(())
    }
}
