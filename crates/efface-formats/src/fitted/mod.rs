//! Raw rows, and preprocessing that is fitted to them; the rule is in `fitted.md`, which [`Fitted`]
//! shows.

mod amount;
mod cells;
mod code;
mod counts;
mod dense;
mod describe;
mod encode;
mod exact;
mod fit;
mod frame;
mod ingest;
mod learned;
mod levels;
mod look;
mod names;
mod number;
mod places;
mod raw;
mod rows;
mod rules;
mod source;
mod spelling;
mod sums;
mod tally;
mod targets;
mod words;
mod write;

pub use amount::is_number_in_words;
pub use describe::ColumnKind;
pub use encode::Unlike;
pub use frame::{Declared, Frame, FrameColumn, FrameRequest};
pub use ingest::Typing;
pub use raw::{RawTarget, RawValues};
pub use rows::{RawRows, TellingApart};
pub use rules::Rules;
pub use source::RawSource;
pub use spelling::Spelling;

pub(crate) use number::is_single_sized;
pub(crate) use write::RawWriter;

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::record::FeatureNames;
use code::{EncoderForm, Plan};
use learned::{Columns, Learned, Target};
use places::Places;

#[doc = include_str!("fitted.md")]
#[derive(Debug, Clone)]
pub struct Fitted {
    // Shared, since it is copied with every plan that holds it.
    learned: Arc<Learned>,
    plan: Arc<Plan>,
    /// The place of each class.
    classes: Arc<Places>,
    width: u32,
}

/// The target of one row, as numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FittedTarget {
    /// The row has none.
    None,
    /// The index of its class in [`Fitted::classes`].
    Class(u32),
    /// A class that no remaining record has.
    UnknownClass,
    /// Regression on one target: y less its mean, divided by its scale.
    Value(f64),
}

impl Fitted {
    fn of(learned: Learned) -> Self {
        let plan = Plan::new(&learned);
        let width = learned.columns.width(&learned.rules) as u32;
        let names = learned.target.names().iter();
        let classes = Arc::new(Places::new(names.map(|name| name.clone().into_bytes()).zip(0..)));
        Self { learned: Arc::new(learned), plan: Arc::new(plan), classes, width }
    }

    /// Returns how many records it was fitted to.
    pub fn records(&self) -> u64 {
        self.learned.records
    }

    /// Returns what the rows are made of.
    pub fn frame(&self) -> &Frame {
        &self.learned.frame
    }

    /// Returns how many records one category of a column that is left out would need for the column to be
    /// learnt from: k, or 2 if k is 1.
    pub fn least_of_left_out(&self) -> u32 {
        self.learned.least_of_left_out()
    }

    /// Returns the constants that it was fitted by.
    pub fn rules(&self) -> &Rules {
        &self.learned.rules
    }

    /// Returns how many numbers an encoded row has; 0 if no column has a value.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the columns of an array, counted from 0, whose numbers differ by little more than single
    /// precision rounds: by less than 16 of its steps, or not at all above 2^24, where whole numbers have
    /// no room.
    #[must_use]
    pub fn rounded(&self) -> Vec<u32> {
        const STEPS: f64 = 16.0 * f32::EPSILON as f64;
        const WHOLE: f64 = 16_777_216.0;
        let (Columns::Matrix(columns), Frame::Matrix { divide, .. }) =
            (&self.learned.columns, &self.learned.frame)
        else {
            return Vec::new();
        };
        let is_rounded = |mean: f64, scale: f64| {
            let is_constant = scale == *divide;
            if is_constant { mean.abs() > WHOLE } else { scale < mean.abs() * STEPS }
        };
        let both = (0..).zip(columns.means.iter().zip(&columns.scales));
        let found = both.filter(|(_, (mean, scale))| is_rounded(mean.0, scale.0));
        found.map(|(at, _)| at).collect()
    }

    /// Returns whether encoded rows are better kept without their zeros, a function of S alone: always for a
    /// sparse array, never for a dense one, and for named columns if at most a quarter of 64 or more numbers
    /// are not zero in a usual row.
    pub fn sparse(&self) -> bool {
        match (&self.learned.frame, &self.learned.columns) {
            (Frame::Matrix { sparse, .. }, _) => *sparse,
            (_, Columns::Named(columns)) => {
                let records = self.learned.records;
                let entries: u64 = columns.iter().map(|column| column.entries(records)).sum();
                self.width >= 64 && 4 * entries <= u64::from(self.width)
            }
            (_, Columns::Matrix(_)) => false,
        }
    }

    /// Returns the names of the numbers of an encoded row: `age`, `age=missing`, `work=private`,
    /// `work=other`, `day month=jan`, `text#17`.
    pub fn feature_names(&self) -> FeatureNames {
        names::feature_names(&self.learned)
    }

    /// Returns for each number of an encoded row the mean that was subtracted and the factor that was then
    /// applied, if it stands for a number of the table; 0 and 1 for all others.
    pub fn units(&self) -> Vec<(f64, f64)> {
        let mut units = vec![(0.0, 1.0); self.width as usize];
        match &*self.plan {
            Plan::Named(codes) => {
                for code in codes {
                    if let EncoderForm::Number { mean, inverse, .. } = code.form
                        && let Some(unit) = units.get_mut(code.first as usize)
                    {
                        *unit = (mean, inverse);
                    }
                }
            }
            Plan::Dense { means, inverses, .. } => {
                let all = means.iter().zip(inverses);
                units
                    .iter_mut()
                    .zip(all)
                    .for_each(|(unit, (mean, inverse))| *unit = (*mean, *inverse));
            }
            Plan::Sparse { inverses } => {
                units.iter_mut().zip(inverses).for_each(|(unit, inverse)| unit.1 = *inverse);
            }
        }
        units
    }

    /// Returns the classes: by value if all names are numbers, else as text; empty for regression.
    pub fn classes(&self) -> &[String] {
        self.learned.target.names()
    }

    /// Returns how many records each class has; empty for regression.
    pub fn class_counts(&self) -> &[u64] {
        match &self.learned.target {
            Target::Classes { counts, .. } => counts,
            Target::Number { .. } | Target::Numbers(_) => &[],
        }
    }

    /// Returns what each record of a class counts, `n / (C n_c)` for n records, C classes and `n_c` records
    /// of the class; `None` unless the rules say `balanced`.
    pub fn class_weights(&self) -> Option<Vec<f64>> {
        let counts = self.class_counts();
        let (records, classes) = (self.learned.records as f64, counts.len() as f64);
        let weight = |count: &u64| records / (classes * *count as f64);
        (self.learned.rules.balanced && !counts.is_empty())
            .then(|| counts.iter().map(weight).collect())
    }

    /// Returns mean and scale of each target; empty for classification.
    pub fn target_moments(&self) -> Vec<(f64, f64)> {
        let numbers = self.learned.target.numbers().into_iter();
        numbers.map(|(mean, scale)| (mean.0, scale.0)).collect()
    }

    /// Returns what each named column was taken for; empty for an array.
    pub fn kinds(&self) -> Vec<ColumnKind<'_>> {
        describe::kinds(&self.learned)
    }

    /// Describes each column in one short line, for people.
    pub fn describe(&self) -> Vec<String> {
        describe::describe(&self.learned)
    }
}

impl PartialEq for Fitted {
    fn eq(&self, other: &Self) -> bool {
        self.learned == other.learned
    }
}

impl Serialize for Fitted {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.learned.serialize(out)
    }
}

impl<'de> Deserialize<'de> for Fitted {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let learned = Learned::deserialize(from)?;
        learned.check().map_err(de::Error::custom)?;
        Ok(Self::of(learned))
    }
}
