//! How single rows are encoded, worked out from S once.

use std::collections::HashMap;

use super::amount::NumberFormat;
use super::frame::{Frame, FrameColumn};
use super::learned::{Column, Columns, Learned, Levels};
use super::places::Places;
use super::raw::{RawCell, numeric};
use super::rules::Rules;
use super::tally::{HOURS, moment, named_time};
use super::write::keys;
use crate::time::{MONTHS, Order, WEEKDAYS};

/// The encoding of every column.
#[derive(Debug, Clone)]
pub(super) enum Plan {
    Named(Vec<ColumnEncoder>),
    Dense { means: Vec<f64>, inverses: Vec<f64>, missing: Vec<u32> },
    Sparse { inverses: Vec<f64> },
}

/// The encoding of one named column.
#[derive(Debug, Clone)]
pub(super) struct ColumnEncoder {
    pub(super) name: String,
    /// The place of its first number.
    pub(super) first: u32,
    /// The place of the number that says it is missing.
    pub(super) missing: Option<u32>,
    pub(super) form: EncoderForm,
}

#[derive(Debug, Clone)]
pub(super) enum EncoderForm {
    Empty,
    /// Numbers or times of which only their absence is learnt.
    Few(Measure),
    Number {
        format: NumberFormat,
        mean: f64,
        inverse: f64,
        cells: Option<Box<Cells>>,
    },
    Time {
        order: Order,
        mean: f64,
        inverse: f64,
        parts: Box<Parts>,
    },
    Category(Cells),
    Hashed {
        width: u32,
    },
    Text {
        width: u32,
    },
}

/// What cells are read as.
#[derive(Debug, Clone, Copy)]
pub(super) enum Measure {
    Number(NumberFormat),
    Time(Order),
}

impl Measure {
    /// Returns whether a cell is one.
    pub(super) fn is(self, cell: RawCell<'_>) -> bool {
        match self {
            Self::Number(format) => numeric(cell, format).is_some(),
            Self::Time(order) => moment(cell, order).is_some(),
        }
    }
}

/// The place of each cell that has one, by its bytes, and of the others.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    pub(super) places: Places,
    pub(super) other: Option<u32>,
}

impl Cells {
    fn new(levels: &Levels, first: u32) -> Self {
        let names = levels.names.iter().zip(first..);
        let keys = names.flat_map(|(name, at)| keys(name).map(move |key| (key, at)));
        Self { places: Places::new(keys), other: other(levels, first) }
    }
}

/// The places of what a time becomes in addition to a number.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    pub(super) years: Whole,
    /// The places of months, weekdays and hours.
    pub(super) calendar: [Part; 3],
    pub(super) times: Whole,
}

/// The place of each whole number that has one, and of the others.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    places: HashMap<i64, u32>,
    other: Option<u32>,
}

impl Whole {
    fn new(levels: &Levels, first: u32, read: impl Fn(&str) -> Option<i64>) -> Self {
        let names = levels.names.iter().zip(first..);
        let places = names.filter_map(|(name, at)| Some((read(name)?, at))).collect();
        Self { places, other: other(levels, first) }
    }

    pub(super) fn place(&self, number: i64) -> Option<u32> {
        self.places.get(&number).copied().or(self.other)
    }
}

/// Returns the place of the levels that are merged.
fn other(levels: &Levels, first: u32) -> Option<u32> {
    levels.has_other().then(|| first + levels.names.len() as u32)
}

/// The place of each month, weekday or hour.
pub(super) type Part = [Option<u32>; 24];

impl Plan {
    pub(super) fn new(learned: &Learned) -> Self {
        match &learned.columns {
            Columns::Named(_) => {
                let mut first = 0;
                let code = |(named, column): (&FrameColumn, &Column)| {
                    let code = ColumnEncoder::new(&named.name, column, first, &learned.rules);
                    first += column.width(&learned.rules);
                    code
                };
                Self::Named(learned.named().map(code).collect())
            }
            Columns::Matrix(matrix) => {
                let mut inverses: Vec<f64> =
                    matrix.scales.iter().map(|scale| 1.0 / scale.0).collect();
                for at in matrix.few(&learned.rules, learned.records) {
                    if let Some(inverse) = inverses.get_mut(at as usize) {
                        *inverse = 0.0;
                    }
                }
                if let Frame::Matrix { sparse: true, .. } = learned.frame {
                    return Self::Sparse { inverses };
                }
                let means = matrix.means.iter().map(|mean| mean.0).collect();
                let missing = matrix.shown(&learned.rules).collect();
                Self::Dense { means, inverses, missing }
            }
        }
    }
}

impl ColumnEncoder {
    fn new(name: &str, column: &Column, first: u32, rules: &Rules) -> Self {
        let form = match column {
            Column::Empty { .. } => EncoderForm::Empty,
            Column::Number { comma, clock, mean, scale, levels, few, .. } => {
                let format = match (comma, clock) {
                    (_, true) => NumberFormat::Clock,
                    (true, false) => NumberFormat::Comma,
                    (false, false) => NumberFormat::Point,
                };
                let cells = (levels.width() > 0).then(|| Box::new(Cells::new(levels, first + 1)));
                match few {
                    true => EncoderForm::Few(Measure::Number(format)),
                    false => {
                        EncoderForm::Number { format, mean: mean.0, inverse: 1.0 / scale.0, cells }
                    }
                }
            }
            Column::Time { order, few: true, .. } => EncoderForm::Few(Measure::Time(*order)),
            Column::Time { order, mean, scale, years, months, weekdays, hours, levels, .. } => {
                let month = first + 1 + years.width();
                let weekday = month + months.width();
                let hour = weekday + weekdays.width();
                let parts = Parts {
                    years: Whole::new(years, first + 1, |year| year.parse().ok()),
                    calendar: [
                        part(months, &MONTHS, month),
                        part(weekdays, &WEEKDAYS, weekday),
                        part(hours, &HOURS, hour),
                    ],
                    times: Whole::new(levels, hour + hours.width(), named_time),
                };
                let (order, mean, inverse) = (*order, mean.0, 1.0 / scale.0);
                EncoderForm::Time { order, mean, inverse, parts: Box::new(parts) }
            }
            Column::Category { levels, .. } => EncoderForm::Category(Cells::new(levels, first)),
            Column::Hashed { .. } => EncoderForm::Hashed { width: rules.max_categories },
            Column::Text { .. } => EncoderForm::Text { width: rules.text_width },
        };
        let missing = column.shows_missing(rules).then(|| first + column.width(rules) - 1);
        Self { name: name.to_owned(), first, missing, form }
    }
}

/// Returns the place of each name: its own, or that of the merged ones.
fn part(levels: &Levels, names: &[&str], first: u32) -> Part {
    let mut places = [None; 24];
    let other = other(levels, first);
    for (place, name) in places.iter_mut().zip(names) {
        let at = levels.names.iter().position(|level| level == name);
        *place = at.map(|at| first + at as u32).or(other);
    }
    places
}
