//! Requests as they are foreseen.

use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result};

/// What is to be served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Deletion requests in a month.
    pub deletions_per_month: f64,
    /// Records per request; several sizes take turns.
    pub groups: Vec<u64>,
    /// Milliseconds of one gradient pass over all records; measured where not given.
    pub pass_ms: Option<f64>,
}

impl Default for Workload {
    fn default() -> Self {
        Self { deletions_per_month: 10.0, groups: vec![1], pass_ms: None }
    }
}

impl Workload {
    pub(crate) fn check(self) -> Result<Self> {
        let bad = |message: String| Err(Error::input(Code::Range, message));
        let rate = self.deletions_per_month;
        if !(rate > 0.0 && rate <= 1e9) {
            return bad(format!(
                "`§deletions-per-month` must be above 0 and at most 1e9, got {rate}"
            ));
        }
        if self.groups.is_empty() || self.groups.len() > 1000 {
            return bad(format!(
                "`§group` must name between 1 and 1000 sizes, got {}",
                self.groups.len()
            ));
        }
        if let Some(size) = self.groups.iter().find(|size| !(1..=MOST_GROUP).contains(*size)) {
            return bad(format!("`§group` must be between 1 and {MOST_GROUP}, got {size}"));
        }
        if let Some(ms) = self.pass_ms
            && !(ms > 0.0 && ms <= 1e12)
        {
            return bad(format!("`§pass-ms` must be above 0 and at most 1e12, got {ms}"));
        }
        Ok(self)
    }

    /// Records of the largest request.
    pub(crate) fn largest(&self) -> u64 {
        self.groups.iter().copied().max().unwrap_or(1)
    }

    /// How many of the first requests together are about no more records than that.
    pub(crate) fn served_by(&self, records: u64) -> u64 {
        let cycle: u64 = self.groups.iter().sum();
        if cycle == 0 {
            return 0;
        }
        let (whole, mut left) = (records / cycle, records % cycle);
        let fits = |group: &&u64| {
            let fits = **group <= left;
            left = left.saturating_sub(**group);
            fits
        };
        whole * self.groups.len() as u64 + self.groups.iter().take_while(fits).count() as u64
    }

    /// Records of a month's requests, at least those of the largest one.
    pub(crate) fn of_a_month(&self) -> u64 {
        let requests = self.deletions_per_month.ceil().max(1.0);
        (requests * self.mean()).ceil().max(self.largest() as f64) as u64
    }

    /// Records of a request on average.
    pub(crate) fn mean(&self) -> f64 {
        self.groups.iter().sum::<u64>() as f64 / self.groups.len().max(1) as f64
    }
}

/// Most records of one request that can be planned for: the planner lists them one by one.
const MOST_GROUP: u64 = 100_000;
