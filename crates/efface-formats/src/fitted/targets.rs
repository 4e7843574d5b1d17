//! What is counted of the records' targets.

use std::collections::HashMap;

use super::counts::Counts;
use super::learned::{Scaled, Target};
use super::number;
use super::raw::RawTarget;
use super::rules::Rules;
use super::source::Merge;
use super::sums::{self, Sums};
use crate::error::{Fault, fault};
use crate::name::sort_classes;

/// Counts and sums of targets.
pub(super) enum Targets {
    Classes(Counts),
    Numbers(Vec<Sums>),
}

impl Targets {
    pub(super) fn new(rules: &Rules) -> Self {
        match rules.regression {
            false => Self::Classes(Counts::default()),
            true => Self::Numbers(vec![Sums::default(); rules.targets as usize]),
        }
    }

    /// Counts a target; `false` if it is not of the task.
    pub(super) fn add(&mut self, target: RawTarget<'_>) -> bool {
        match (self, target) {
            (Self::Classes(counts), RawTarget::Class(name)) => counts.add(name.as_bytes()),
            (Self::Numbers(sums), RawTarget::Value(value)) => match &mut sums[..] {
                [sums] => sums.add(number::canonical(value)),
                _ => return false,
            },
            (Self::Numbers(sums), RawTarget::Values(values)) if values.len() == sums.len() => {
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
            Self::Numbers(sums) if sums.len() == 1 => "number to predict",
            Self::Numbers(_) => "numbers to predict, as many as there are targets",
        };
        wrong.map_or(Ok(()), |row| Err(fault!("record {row} has no {wanted}")))
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
            Self::Numbers(list) => {
                let scaled = |sums: &Sums| {
                    let (mean, scale) = sums.standard(records, 1.0, sums::DOUBLE);
                    Scaled { mean, scale }
                };
                match list.iter().map(scaled).collect::<Vec<_>>()[..] {
                    [Scaled { mean, scale }] => Target::Number { mean, scale },
                    ref several => Target::Numbers(several.to_vec()),
                }
            }
        }
    }
}

impl Merge for Targets {
    fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::Classes(counts), Self::Classes(more)) => counts.merge(more),
            (Self::Numbers(sums), Self::Numbers(more)) => sums.merge(more),
            // Parts are of the same rules.
            (Self::Classes(_) | Self::Numbers(_), _) => {}
        }
    }
}
