//! From raw rows to numbers: T_S, a map of single rows.

use pulp::{Arch, Simd, WithSimd};

use super::code::{Cells, ColumnEncoder, EncoderForm, Plan};
use super::learned::{Exact, Target};
use super::raw::{RawCell, RawTarget, Reader, numeric};
use super::tally::{days, moment};
use super::{Fitted, FittedTarget, number, words};
use crate::error::Fault;
use crate::schema::{Row, Storage, hashing};
use crate::time;

/// Cells of a column of rows to predict that are unlike those that it was fitted to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unlike {
    /// Texts among numbers or times that are none.
    pub texts: u64,
    /// Values of a column of categories.
    pub values: u64,
    /// Number of those values that are no category of the column.
    pub unseen: u64,
}

impl Unlike {
    /// Adds the counts of other rows.
    pub fn add(&mut self, other: Self) {
        self.texts += other.texts;
        self.values += other.values;
        self.unseen += other.unseen;
    }
}

impl Fitted {
    /// Returns a buffer of the storage that [`Fitted::sparse`] says.
    pub fn buffer(&self) -> Row {
        Row::new(if self.sparse() { Storage::Sparse } else { Storage::Dense })
    }

    /// Encodes a raw row of the frame into `row`, of either storage, whose former content is gone. The
    /// row bound is not applied.
    ///
    /// A category that no record has is `other` if there is one, and otherwise all zeros. A missing value is
    /// the mean, or zeros, and sets the missing-value indicator if some record misses one, too. A text that
    /// is no number or no time in a column of these counts as missing.
    ///
    /// # Errors
    /// Fails if the cells show that the row is damaged; its target is read by [`target`](Self::target) alone.
    pub fn encode(&self, raw: &[u8], row: &mut Row) -> Result<(), Fault> {
        row.clear(self.width);
        match (&*self.plan, row) {
            (Plan::Dense { means, inverses, missing }, Row::Dense(out)) => {
                let mut reader = Reader::new(raw);
                reader.skip_target()?;
                let numbers = reader.dense(means.len() as u32)?;
                let (out, indicators) = out.split_at_mut(means.len());
                Arch::new().dispatch(Standardise { numbers, means, inverses, out });
                for (indicator, at) in indicators.iter_mut().zip(missing) {
                    let bytes = numbers.get(*at as usize).copied().unwrap_or_default();
                    *indicator = f32::from(u8::from(f32::from_le_bytes(bytes).is_nan()));
                }
                Ok(())
            }
            (_, Row::Dense(out)) => self.each(raw, |place, value| {
                if let Some(out) = out.get_mut(place as usize) {
                    *out = value;
                }
            }),
            (_, row @ Row::Sparse { .. }) => self.each(raw, |place, value| row.put(place, value)),
        }
    }

    /// Counts, by named column, cells of a raw row that are unlike those that the column was fitted to: texts
    /// that spell no number or time in a column of these and are no category of it either, and values that
    /// are no category of a column of categories.
    ///
    /// # Errors
    /// Fails if the row is damaged.
    pub fn count_unlike(&self, raw: &[u8], counts: &mut Vec<Unlike>) -> Result<(), Fault> {
        let Plan::Named(codes) = &*self.plan else { return Ok(()) };
        counts.resize(codes.len(), Unlike::default());
        let mut reader = Reader::new(raw);
        reader.target()?;
        for (code, count) in codes.iter().zip(counts) {
            if reader.single().is_some() {
                continue;
            }
            let mut ahead = reader;
            let cell = reader.cell()?;
            let read = match &code.form {
                _ if cell == RawCell::Missing => true,
                EncoderForm::Number { format, cells, .. } => {
                    let key = ahead.token()?;
                    let is_category = |cells: &Cells| cells.places.get(key).is_some();
                    numeric(cell, *format).is_some() || cells.as_deref().is_some_and(is_category)
                }
                EncoderForm::Few(measure) => measure.is(cell),
                EncoderForm::Time { order, .. } => moment(cell, *order).is_some(),
                EncoderForm::Category(cells) => {
                    let is_known = cells.places.get(ahead.token()?).is_some();
                    count.values += 1;
                    count.unseen += u64::from(!is_known);
                    true
                }
                _ => true,
            };
            count.texts += u64::from(!read);
        }
        Ok(())
    }

    /// Returns the target of a raw row.
    ///
    /// # Errors
    /// Fails if the row is damaged.
    pub fn target(&self, raw: &[u8]) -> Result<FittedTarget, Fault> {
        Ok(match (RawTarget::of(raw)?, &self.learned.target) {
            (RawTarget::Class(name), Target::Classes { .. }) => {
                match self.classes.get(name.as_bytes()) {
                    Some(at) => FittedTarget::Class(at),
                    None => FittedTarget::UnknownClass,
                }
            }
            (RawTarget::Value(value), Target::Number { mean, scale }) => {
                FittedTarget::Value((number::canonical(value) - mean.0) / scale.0)
            }
            _ => FittedTarget::None,
        })
    }

    /// Appends the targets of a raw row of a regression, each less its mean and divided by its scale. Returns
    /// `false` and appends nothing if the row has other targets than the statistics.
    ///
    /// # Errors
    /// Fails if the row is damaged.
    pub fn numbers(&self, raw: &[u8], out: &mut Vec<f64>) -> Result<bool, Fault> {
        let scaled =
            |value, mean: Exact, scale: Exact| (number::canonical(value) - mean.0) / scale.0;
        match (RawTarget::of(raw)?, &self.learned.target) {
            (RawTarget::Value(value), &Target::Number { mean, scale }) => {
                out.push(scaled(value, mean, scale));
            }
            (RawTarget::Values(values), Target::Numbers(list)) if values.len() == list.len() => {
                let pairs = values.iter().zip(list);
                out.extend(pairs.map(|(value, at)| scaled(value, at.mean, at.scale)));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Puts the numbers that are not zero, from left to right.
    fn each(&self, raw: &[u8], mut put: impl FnMut(u32, f32)) -> Result<(), Fault> {
        let mut reader = Reader::new(raw);
        reader.skip_target()?;
        match &*self.plan {
            Plan::Named(codes) => {
                for code in codes {
                    if let EncoderForm::Number { mean, inverse, cells: None, .. } = code.form
                        && let Some(value) = reader.single()
                    {
                        put(code.first, standard(f64::from(value), mean, inverse));
                        continue;
                    }
                    code.encode(&mut reader, &mut put)?;
                }
            }
            Plan::Dense { means, inverses, missing } => {
                let numbers = reader.dense(means.len() as u32)?;
                let moments = means.iter().zip(inverses);
                for (at, (bytes, (mean, inverse))) in (0..).zip(numbers.iter().zip(moments)) {
                    put(at, standard(f64::from(f32::from_le_bytes(*bytes)), *mean, *inverse));
                }
                for (at, column) in (means.len() as u32..).zip(missing) {
                    let bytes = numbers.get(*column as usize).copied().unwrap_or_default();
                    put(at, f32::from(u8::from(f32::from_le_bytes(bytes).is_nan())));
                }
            }
            Plan::Sparse { inverses } => {
                for (index, value) in reader.sparse()? {
                    match inverses.get(index as usize) {
                        Some(inverse) => put(index, standard(f64::from(value), 0.0, *inverse)),
                        None => return reader.broken("an entry is out of range or order"),
                    }
                }
            }
        }
        Ok(())
    }
}

/// [`standard`] of each number. No closure: what calls one is not compiled for the registers of the
/// processor.
struct Standardise<'a> {
    numbers: &'a [[u8; 4]],
    means: &'a [f64],
    inverses: &'a [f64],
    out: &'a mut [f32],
}

impl WithSimd for Standardise<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let moments = self.means.iter().zip(self.inverses);
        for ((out, bytes), (mean, inverse)) in self.out.iter_mut().zip(self.numbers).zip(moments) {
            *out = standard(f64::from(f32::from_le_bytes(*bytes)), *mean, *inverse);
        }
    }
}

/// Returns the number less the mean, in units of the scale; 0 for NaN.
#[inline(always)]
fn standard(value: f64, mean: f64, inverse: f64) -> f32 {
    let largest = f64::from(f32::MAX);
    let scaled = ((value - mean) * inverse).clamp(-largest, largest);
    if scaled.is_nan() { 0.0 } else { scaled as f32 }
}

impl ColumnEncoder {
    /// Reads the next cell and puts its numbers that are not zero.
    fn encode(&self, reader: &mut Reader<'_>, put: &mut impl FnMut(u32, f32)) -> Result<(), Fault> {
        let mut cell = *reader;
        match &self.form {
            EncoderForm::Category(Cells { places, other }) => {
                let place = match places.get(reader.token()?) {
                    Some(place) => Some(place),
                    None if cell.cell()? == RawCell::Missing => self.missing,
                    None => *other,
                };
                place.into_iter().for_each(|at| put(at, 1.0));
            }
            EncoderForm::Number { format, mean, inverse, cells: Some(cells) } => {
                let (key, cell) = (reader.token()?, cell.cell()?);
                let number = numeric(cell, *format);
                number.into_iter().for_each(|n| put(self.first, standard(n, *mean, *inverse)));
                let other = cells.other.filter(|_| cell != RawCell::Missing);
                let place = cells.places.get(key).or(other);
                place.into_iter().for_each(|at| put(at, 1.0));
                let missing = self.missing.filter(|_| number.is_none());
                missing.into_iter().for_each(|at| put(at, 1.0));
            }
            _ => self.encode_cell(reader.cell()?, put),
        }
        Ok(())
    }

    fn encode_cell(&self, cell: RawCell<'_>, put: &mut impl FnMut(u32, f32)) {
        let mut missing = || self.missing.into_iter().for_each(|at| put(at, 1.0));
        if cell == RawCell::Missing {
            missing();
            return;
        }
        match &self.form {
            // Categories are found by their bytes.
            EncoderForm::Empty | EncoderForm::Category(_) => {}
            EncoderForm::Number { format, mean, inverse, .. } => match numeric(cell, *format) {
                Some(number) => put(self.first, standard(number, *mean, *inverse)),
                None => missing(),
            },
            EncoderForm::Few(measure) if measure.is(cell) => {}
            EncoderForm::Few(_) => missing(),
            EncoderForm::Time { order, mean, inverse, parts } => {
                let Some(micros) = moment(cell, *order) else { return missing() };
                put(self.first, standard(days(micros), *mean, *inverse));
                let apart = time::apart(micros);
                let calendar = parts.calendar.iter().zip([apart.month, apart.weekday, apart.hour]);
                let calendar = calendar.map(|(part, at)| part.get(at).copied().flatten());
                let whole = [parts.years.place(apart.year), parts.times.place(micros)];
                let [year, time] = whole.map(Option::into_iter);
                year.chain(calendar.flatten()).chain(time).for_each(|at| put(at, 1.0));
            }
            EncoderForm::Hashed { width } => {
                let (at, sign) = hashing::place(&self.name, &cell.name(), *width);
                put(self.first + at, sign);
            }
            EncoderForm::Text { width } => {
                let mut entries = Vec::new();
                words::entries(&self.name, &cell.name(), *width, &mut entries);
                entries.into_iter().for_each(|(at, value)| put(self.first + at, value));
            }
        }
    }
}
