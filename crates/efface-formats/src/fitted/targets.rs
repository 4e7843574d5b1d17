//! What is counted of the records' targets.

use std::collections::HashMap;

use super::learned::{Exact, Target};
use super::raw::RawTarget;
use super::sums::Sums;
use super::{Rules, number};
use crate::cell::sort_classes;
use crate::error::FitFault;

/// Counts and sums of targets.
pub(super) enum Targets<'a> {
    Classes(HashMap<&'a str, u64>),
    Numbers(Sums),
}

impl<'a> Targets<'a> {
    pub(super) fn new(rules: &Rules) -> Self {
        if rules.regression {
            Self::Numbers(Sums::default())
        } else {
            Self::Classes(HashMap::new())
        }
    }

    /// Counts a target; `false` if it is not of the task.
    pub(super) fn add(&mut self, target: RawTarget<'a>) -> bool {
        match (self, target) {
            (Self::Classes(counts), RawTarget::Class(name)) => {
                *counts.entry(name).or_default() += 1;
            }
            (Self::Numbers(sums), RawTarget::Value(value)) => sums.add(number::canonical(value)),
            _ => return false,
        }
        true
    }

    pub(super) fn expect_none(&self, wrong: Option<usize>) -> Result<(), FitFault> {
        let wanted = match self {
            Self::Classes(_) => "class",
            Self::Numbers(_) => "number to predict",
        };
        wrong.map_or(Ok(()), |row| Err(FitFault::Target { row, wanted }))
    }

    pub(super) fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::Classes(counts), Self::Classes(more)) => {
                more.into_iter()
                    .for_each(|(name, count)| *counts.entry(name).or_default() += count);
            }
            (Self::Numbers(sums), Self::Numbers(more)) => sums.merge(&more),
            (Self::Classes(_), Self::Numbers(_)) | (Self::Numbers(_), Self::Classes(_)) => {}
        }
    }

    pub(super) fn learned(self, records: u64) -> Target {
        match self {
            Self::Classes(counts) => {
                let mut names: Vec<&str> = counts.keys().copied().collect();
                sort_classes(&mut names);
                let counts = names.iter().filter_map(|name| counts.get(name).copied()).collect();
                let names = names.into_iter().map(str::to_owned).collect();
                Target::Classes { names, counts }
            }
            Self::Numbers(sums) => {
                let moments = sums.moments(records);
                let (mean, scale) = (Exact(moments.mean), Exact(moments.scale(1.0)));
                Target::Number { mean, scale }
            }
        }
    }
}
