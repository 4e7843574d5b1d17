//! What is counted of the records' targets.

use std::collections::HashMap;

use super::counts::Counts;
use super::learned::{Exact, Scaled, Target};
use super::number;
use super::raw::RawTarget;
use super::rules::Rules;
use super::sums::{self, Sums};
use crate::error::{Fault, fault};
use crate::name::sort_classes;

/// Counts and sums of targets.
pub(super) enum Targets {
    /// By name.
    Classes(Counts),
    Numbers(Sums),
    /// One for each of several targets.
    Several(Vec<Sums>),
}

impl Targets {
    pub(super) fn new(rules: &Rules) -> Self {
        match (rules.regression, rules.targets) {
            (false, _) => Self::Classes(Counts::default()),
            (true, 1) => Self::Numbers(Sums::default()),
            (true, targets) => Self::Several(vec![Sums::default(); targets as usize]),
        }
    }

    /// Counts a target; `false` if it is not of the task.
    pub(super) fn add(&mut self, target: RawTarget<'_>) -> bool {
        match (self, target) {
            (Self::Classes(counts), RawTarget::Class(name)) => counts.add(name.as_bytes()),
            (Self::Numbers(sums), RawTarget::Value(value)) => sums.add(number::canonical(value)),
            (Self::Several(sums), RawTarget::Values(values)) if values.len() == sums.len() => {
                let pairs = sums.iter_mut().zip(values.iter());
                pairs.for_each(|(sums, value)| sums.add(number::canonical(value)));
            }
            _ => return false,
        }
        true
    }

    pub(super) fn expect_none(&self, wrong: Option<usize>) -> Result<(), Fault> {
        let wanted = match self {
            Self::Classes(_) => "class",
            Self::Numbers(_) => "number to predict",
            Self::Several(_) => "numbers to predict, as many as there are targets",
        };
        wrong.map_or(Ok(()), |row| Err(fault!("record {row} has no {wanted}")))
    }

    pub(super) fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::Classes(counts), Self::Classes(more)) => counts.merge(more),
            (Self::Numbers(sums), Self::Numbers(more)) => sums.merge(&more),
            (Self::Several(sums), Self::Several(more)) => {
                sums.iter_mut().zip(&more).for_each(|(sums, more)| sums.merge(more));
            }
            // Parts are of the same rules.
            (Self::Classes(_) | Self::Numbers(_) | Self::Several(_), _) => {}
        }
    }

    pub(super) fn learned(self, records: u64) -> Target {
        match self {
            Self::Classes(counts) => {
                let seen: HashMap<&str, u64> = counts
                    .iter()
                    .filter_map(|(name, count)| Some((str::from_utf8(name).ok()?, count)))
                    .collect();
                let mut names: Vec<&str> = seen.keys().copied().collect();
                sort_classes(&mut names);
                let counts = names.iter().filter_map(|name| seen.get(name).copied()).collect();
                let names = names.into_iter().map(str::to_owned).collect();
                Target::Classes { names, counts }
            }
            Self::Numbers(sums) => {
                let moments = sums.moments(records);
                let (mean, scale) = (Exact(moments.mean), Exact(moments.scale(1.0, sums::DOUBLE)));
                Target::Number { mean, scale }
            }
            Self::Several(list) => {
                let scaled = |sums: Sums| {
                    let moments = sums.moments(records);
                    Scaled {
                        mean: Exact(moments.mean),
                        scale: Exact(moments.scale(1.0, sums::DOUBLE)),
                    }
                };
                Target::Numbers(list.into_iter().map(scaled).collect())
            }
        }
    }
}
