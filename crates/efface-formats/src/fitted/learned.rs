//! Statistics learned from the rows: exact functions of the multiset of records.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::frame::{Frame, FrameColumn};
use super::rules::{Rules, SHARED, WIDEST, YEARS};
use super::{exact, number, sums};
use crate::error::{Fault, fault};
use crate::name::sort_classes;
use crate::time::Order;

/// A finite number that is written as its shortest decimal text, so that reading it back is exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Exact(pub(super) f64);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        exact::serialize(&self.0, out)
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        exact::deserialize(from).map(Self)
    }
}

/// Everything that is learned; two of them are equal exactly if their JSON is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Learned {
    pub(super) frame: Frame,
    pub(super) rules: Rules,
    pub(super) records: u64,
    pub(super) columns: Columns,
    pub(super) target: Target,
}

/// What is learned of the features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Columns {
    /// One for each named column.
    Named(Vec<Column>),
    /// An array without names.
    Matrix(MatrixColumns),
}

/// What is learned of the columns of an array.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MatrixColumns {
    /// One for each column; empty for a sparse array, which is not centred.
    pub(super) means: Vec<Exact>,
    pub(super) scales: Vec<Exact>,
    /// Each column that some record misses, ascending, and how many do.
    pub(super) missing: Vec<(u32, u64)>,
    /// Entries that are not zero, of a sparse array.
    pub(super) entries: u64,
}

impl MatrixColumns {
    /// Returns the columns of which too few records have a value.
    pub(super) fn few(&self, rules: &Rules, records: u64) -> impl Iterator<Item = u32> {
        let are_few = move |count: u64| rules.are_few(records.saturating_sub(count), count);
        self.missing.iter().filter(move |(_, count)| are_few(*count)).map(|(at, _)| *at)
    }

    /// Returns the columns that have a missing-value indicator.
    pub(super) fn shown(&self, rules: &Rules) -> impl Iterator<Item = u32> {
        let least = u64::from(rules.min_missing);
        self.missing.iter().filter(move |(_, count)| *count >= least).map(|(at, _)| *at)
    }
}

/// The statistics of one named column, by the kind that its remaining cells give it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Column {
    /// No record has a value.
    Empty { missing: u64 },
    /// A column of numbers.
    Number {
        /// Whether they are spelled with a decimal comma.
        #[serde(default, skip_serializing_if = "is_false")]
        comma: bool,
        /// Whether they are spelled as times of day.
        #[serde(default, skip_serializing_if = "is_false")]
        clock: bool,
        mean: Exact,
        scale: Exact,
        /// Cells that are categories next to numbers, if some spell none.
        #[serde(default, skip_serializing_if = "Levels::is_none")]
        levels: Levels,
        /// Whether [too few](Rules::are_few) have a value for anything to be learnt of it.
        #[serde(default, skip_serializing_if = "is_false")]
        few: bool,
        missing: u64,
        /// How many of those records have a text that spells no number.
        #[serde(default, skip_serializing_if = "is_zero")]
        strays: u64,
    },
    /// Times, as days since 1970-01-01.
    Time {
        order: Order,
        mean: Exact,
        scale: Exact,
        years: Levels,
        months: Levels,
        weekdays: Levels,
        hours: Levels,
        /// Times that several records have.
        #[serde(default, skip_serializing_if = "Levels::is_none")]
        levels: Levels,
        /// Whether [too few](Rules::are_few) have a value for anything to be learnt of it.
        #[serde(default, skip_serializing_if = "is_false")]
        few: bool,
        missing: u64,
        /// How many of those records have a text that spells no time.
        #[serde(default, skip_serializing_if = "is_zero")]
        strays: u64,
    },
    /// A column of categories.
    Category { levels: Levels, missing: u64 },
    /// More categories than have a place each.
    Hashed { distinct: u64, missing: u64 },
    /// Words of free text.
    Text { words: u64, missing: u64 },
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// Categories that enough records have; empty if the part plays no role.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Levels {
    /// Sorted by their bytes.
    pub(super) names: Vec<String>,
    /// How many rarer ones are merged into one.
    pub(super) merged: u64,
}

/// What is learned of the targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Target {
    /// Classes in order, and how many records each has.
    Classes { names: Vec<String>, counts: Vec<u64> },
    /// A numeric target.
    Number { mean: Exact, scale: Exact },
    /// Several numbers for each record, each target with its own mean and scale.
    Numbers(Vec<Scaled>),
}

/// What a target is centred and divided by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scaled {
    pub(super) mean: Exact,
    pub(super) scale: Exact,
}

impl Target {
    /// Returns the names of the classes; empty for regression.
    pub(super) fn names(&self) -> &[String] {
        match self {
            Self::Classes { names, .. } => names,
            Self::Number { .. } | Self::Numbers(_) => &[],
        }
    }

    /// Returns mean and scale of each target; empty for classes.
    pub(super) fn numbers(&self) -> Vec<(Exact, Exact)> {
        match self {
            Self::Classes { .. } => Vec::new(),
            Self::Number { mean, scale } => vec![(*mean, *scale)],
            Self::Numbers(list) => list.iter().map(|at| (at.mean, at.scale)).collect(),
        }
    }
}

impl Levels {
    /// Returns whether the merged ones have a place: if all are merged, they say nothing.
    pub(super) fn has_other(&self) -> bool {
        self.merged > 0 && !self.names.is_empty()
    }

    fn is_none(&self) -> bool {
        self.names.is_empty() && self.merged == 0
    }

    /// Returns how many numbers the levels become.
    pub(super) fn width(&self) -> u32 {
        self.names.len() as u32 + u32::from(self.has_other())
    }

    /// Checks that there are at most so many, of at most so many records.
    fn check(&self, most: u32, records: u64) -> Result<(), Fault> {
        ensure(self.names.is_sorted_by(|a, b| a < b), "categories are out of order")?;
        ensure(self.names.len() <= most as usize, "there are too many categories")?;
        let found = (self.names.len() as u64).checked_add(self.merged);
        let fits = found.is_some_and(|found| found <= records);
        ensure(fits, "there are more categories than records")
    }
}

impl Column {
    pub(super) fn missing(&self) -> u64 {
        match *self {
            Self::Empty { missing }
            | Self::Number { missing, .. }
            | Self::Time { missing, .. }
            | Self::Category { missing, .. }
            | Self::Hashed { missing, .. }
            | Self::Text { missing, .. } => missing,
        }
    }

    /// Returns how many numbers the column becomes.
    pub(super) fn width(&self, rules: &Rules) -> u32 {
        let values = match self {
            Self::Empty { .. } => return 0,
            Self::Number { few: true, .. } | Self::Time { few: true, .. } => 0,
            Self::Number { levels, .. } => 1 + levels.width(),
            Self::Time { years, months, weekdays, hours, levels, .. } => {
                let parts = [years, months, weekdays, hours, levels];
                1 + parts.map(Levels::width).iter().sum::<u32>()
            }
            Self::Category { levels, .. } => levels.width(),
            Self::Hashed { .. } => rules.max_categories,
            Self::Text { .. } => rules.text_width,
        };
        values + u32::from(self.shows_missing(rules))
    }

    /// Returns whether the column has a missing-value indicator.
    pub(super) fn shows_missing(&self, rules: &Rules) -> bool {
        match self {
            Self::Empty { .. } => false,
            Self::Number { missing, .. } | Self::Time { missing, .. } => {
                *missing >= rules.min_missing.into()
            }
            Self::Category { missing, .. }
            | Self::Hashed { missing, .. }
            | Self::Text { missing, .. } => *missing > 0,
        }
    }

    /// Returns whether it has values and no number is made of them.
    pub(super) fn is_left_out(&self) -> bool {
        match self {
            Self::Number { few, .. } | Self::Time { few, .. } => *few,
            Self::Category { levels, .. } => levels.width() == 0,
            Self::Empty { .. } | Self::Hashed { .. } | Self::Text { .. } => false,
        }
    }

    /// Returns how many numbers of a usual row are not zero.
    pub(super) fn entries(&self, records: u64) -> u64 {
        match self {
            Self::Empty { .. } => 0,
            Self::Number { levels, .. } => 1 + u64::from(!levels.is_none()),
            Self::Category { .. } | Self::Hashed { .. } => 1,
            Self::Time { levels, .. } => 5 + u64::from(!levels.is_none()),
            Self::Text { words, .. } => words.div_ceil(records.max(1)),
        }
    }

    /// Returns for how many records the column misses a value since they have a text that spells none.
    pub(super) fn strays(&self) -> u64 {
        match *self {
            Self::Number { strays, .. } | Self::Time { strays, .. } => strays,
            _ => 0,
        }
    }

    fn check(&self, rules: &Rules, records: u64) -> Result<(), Fault> {
        ensure(self.missing() <= records, "more values are missing than there are records")?;
        ensure(self.strays() <= self.missing(), "fewer values are missing than are taken for it")?;
        let present = records - self.missing();
        let measured = |few: bool, standard: (Exact, Exact), parts: &[&Levels]| {
            ensure(few == rules.are_few(present, self.missing()), FEW)?;
            moments(standard.0, standard.1)?;
            let is_unused = standard == UNUSED && parts.iter().all(|levels| levels.is_none());
            ensure(!few || is_unused, FEW)
        };
        match self {
            Self::Empty { missing } => ensure(*missing == records, "an empty column has values"),
            Self::Number { comma, clock, mean, scale, levels, few, .. } => {
                ensure(!(*comma && *clock), "numbers are spelled in two ways")?;
                measured(*few, (*mean, *scale), &[levels])?;
                levels.check(rules.max_categories, records)
            }
            Self::Time { mean, scale, years, months, weekdays, hours, levels, few, .. } => {
                measured(*few, (*mean, *scale), &[years, months, weekdays, hours, levels])?;
                let most = rules.max_categories;
                let parts =
                    [(years, YEARS), (months, 12), (weekdays, 7), (hours, 24), (levels, most)];
                parts.into_iter().try_for_each(|(levels, most)| levels.check(most, present))
            }
            Self::Category { levels, .. } => levels.check(rules.max_categories, present),
            Self::Hashed { distinct, .. } => {
                ensure(*distinct <= present, "there are more categories than records")
            }
            Self::Text { words, .. } => {
                // A text has less than 2^28 bytes, and words have spaces between them.
                ensure(*words <= present << 27, "there are more words than texts have room for")
            }
        }
    }
}

/// Mean and scale of what too few records have.
pub(super) const UNUSED: (Exact, Exact) = (Exact(0.0), Exact(1.0));
const FEW: &str = "something is learnt of what too few records have";

impl Columns {
    /// Returns how many numbers an encoded row has.
    pub(super) fn width(&self, rules: &Rules) -> u64 {
        match self {
            Self::Named(columns) => columns.iter().map(|c| u64::from(c.width(rules))).sum(),
            Self::Matrix(matrix) => (matrix.scales.len() + matrix.shown(rules).count()) as u64,
        }
    }
}

impl Learned {
    /// Returns the named columns in order, each with what is learned of it; empty for an array.
    pub(super) fn named(&self) -> impl Iterator<Item = (&FrameColumn, &Column)> {
        let (frame, columns) = match (&self.frame, &self.columns) {
            (Frame::Columns(frame), Columns::Named(columns)) => (&frame[..], &columns[..]),
            _ => (&[][..], &[][..]),
        };
        frame.iter().zip(columns)
    }

    /// Returns how many records one category of a column that is left out would need: columns of more single
    /// ones than have places are left out also if k is 1.
    pub(super) fn least_of_left_out(&self) -> u32 {
        self.rules.least(self.records).max(SHARED)
    }

    /// Checks what was read back, and refuses impossible sums.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let records = self.records;
        let checked = self.rules.check().and_then(|()| self.frame.check());
        checked.map_err(|fault| damaged(&fault.to_string()))?;
        ensure((1..=sums::MOST).contains(&records), "the number of records is out of range")?;
        match (&self.frame, &self.columns) {
            (Frame::Columns(frame), Columns::Named(columns)) => {
                ensure(frame.len() == columns.len(), "columns are missing")?;
                columns.iter().try_for_each(|column| column.check(&self.rules, records))?;
            }
            (Frame::Matrix { width, sparse, .. }, Columns::Matrix(matrix)) => {
                let width = *width as usize;
                let lengths = [matrix.means.len(), matrix.scales.len()];
                let means = if *sparse { 0 } else { width };
                ensure(lengths == [means, width], "columns are missing")?;
                let means = matrix.means.iter().copied();
                let means = means.chain(std::iter::repeat(Exact(0.0)));
                let mut pairs = means.zip(&matrix.scales);
                pairs.try_for_each(|(mean, scale)| moments(mean, *scale))?;
                let missing = &matrix.missing;
                ensure(missing.is_sorted_by(|a, b| a.0 < b.0), "columns are out of order")?;
                ensure(!*sparse || missing.is_empty(), "cells of a sparse array are missing")?;
                let fits = |&(at, count): &(u32, u64)| {
                    (at as usize) < width && (1..=records).contains(&count)
                };
                ensure(missing.iter().all(fits), "more values are missing than there are")?;
                let unused = |at: u32| {
                    let mean = matrix.means.get(at as usize).zip(matrix.scales.get(at as usize));
                    mean == Some((&UNUSED.0, &UNUSED.1))
                };
                ensure(matrix.few(&self.rules, records).all(unused), FEW)?;
            }
            _ => return ensure(false, "the columns are not those of the frame"),
        }
        ensure(self.columns.width(&self.rules) <= WIDEST, "the rows are too wide")?;
        match &self.target {
            Target::Classes { names, counts } => {
                ensure(!self.rules.regression, "there are classes in a regression")?;
                let mut sorted = names.clone();
                sort_classes(&mut sorted);
                let differ = |pair: &[String]| pair.first() != pair.last();
                ensure(
                    &sorted == names && names.windows(2).all(differ),
                    "classes are out of order",
                )?;
                let sum = counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count));
                let fits = sum == Some(records) && !counts.contains(&0);
                ensure(fits && counts.len() == names.len(), "classes are miscounted")
            }
            numbers @ (Target::Number { .. } | Target::Numbers(_)) => {
                ensure(self.rules.regression, "there are no classes in a classification")?;
                let (all, wanted) = (numbers.numbers(), self.rules.targets as usize);
                let alone = matches!(numbers, Target::Number { .. });
                let fits = all.len() == wanted && alone == (wanted == 1);
                ensure(fits, "there are more or fewer targets than the rules say")?;
                all.into_iter().try_for_each(|(mean, scale)| moments(mean, scale))
            }
        }
    }
}

fn moments(mean: Exact, scale: Exact) -> Result<(), Fault> {
    // Numbers are rounded before they are summed.
    let largest = 2.0 * number::LARGEST;
    let fits = mean.0.abs() <= largest && scale.0 >= f64::MIN_POSITIVE && scale.0 <= largest;
    ensure(fits, "a mean or scale is out of range")
}

fn ensure(holds: bool, what: &str) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(damaged(what)) }
}

fn damaged(what: &str) -> Fault {
    fault!("the stored preprocessing is damaged: {what}")
}
