//! What a model predicts.

use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};

/// Classification or regression, with its declared values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Class labels; the positive class of two is the last.
    Classes(Vec<String>),
    /// A number, mapped from this range to [-1, 1].
    Range(Decimal, Decimal),
    /// Several numbers, each mapped from its range to [-1, 1]; at least two.
    Targets(Vec<TargetRange>),
}

/// One of several targets of a regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetRange {
    /// The name of its column; of an array without names `y` and its position, counted from 0.
    pub name: String,
    /// The low end of its range, in units of the target.
    pub low: Decimal,
    /// The high end.
    pub high: Decimal,
}

impl Task {
    /// A regression on one number, or on several of these names, all mapped from one range.
    pub(crate) fn of_numbers(names: &[String], low: f64, high: f64) -> Self {
        let (low, high) = (Decimal(low), Decimal(high));
        if names.is_empty() {
            return Self::Range(low, high);
        }
        let target = |name: &String| TargetRange { name: name.clone(), low, high };
        Self::Targets(names.iter().map(target).collect())
    }

    /// How many numbers a record is to be predicted as; 1 for classes.
    pub(crate) fn targets(&self) -> usize {
        match self {
            Self::Targets(list) => list.len(),
            Self::Classes(_) | Self::Range(..) => 1,
        }
    }

    /// The names of the classes; none of a regression.
    pub(crate) fn class_names(&self) -> &[String] {
        match self {
            Self::Classes(names) => names,
            Self::Range(..) | Self::Targets(_) => &[],
        }
    }

    /// The names of several targets; none if there is one.
    pub(crate) fn target_names(&self) -> Vec<String> {
        match self {
            Self::Targets(list) => list.iter().map(|target| target.name.clone()).collect(),
            Self::Classes(_) | Self::Range(..) => Vec::new(),
        }
    }

    /// The range of each target, low end first; none for classification.
    pub(crate) fn ranges(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Classes(_) => Vec::new(),
            Self::Range(low, high) => vec![(low.0, high.0)],
            Self::Targets(list) => {
                list.iter().map(|target| (target.low.0, target.high.0)).collect()
            }
        }
    }

    /// The one range that every target of declared preprocessing has; none for classification.
    pub(crate) fn declared_range(&self) -> Option<(f64, f64)> {
        self.ranges().first().copied()
    }
}
