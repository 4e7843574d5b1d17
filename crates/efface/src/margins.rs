//! Predictions from weights at hand, without their vault.

use std::ops::ControlFlow;

use efface_formats::{
    Features, Fitted, FrameRequest, Layout, ReadOptions, Record, Row, RowMap, Sink, SinkError,
};

use crate::context::Progress;
use crate::error::{Code, Error, Result};
use crate::notice::{Notice, strays_in_rows};
use crate::source::{Source, row_map};

/// A linear map of mapped rows, such as [`weights`](crate::weights()) gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear<'a> {
    /// outputs x features, row by row.
    pub coef: &'a [f64],
    /// What is added to each output.
    pub intercept: &'a [f64],
    /// `clip`, `unit` or `refuse`.
    pub row_map: &'a str,
    /// Bound on the norm of a row.
    pub row_norm: f64,
    /// Fitted preprocessing of rows as they come, the JSON of [`Weights`](crate::Weights); none where
    /// a schema encodes them.
    pub preprocessing: Option<&'a str>,
}

/// The outputs of every row of a table, row by row: `coef` times the row as a vault would store
/// it, plus `intercept`.
///
/// Rows go through the checks, the encoder and the row map that training uses. Labels are not
/// looked at. `watch` is told of rows and may stop the work. Each output is a plain sum in double
/// precision, in the order of the columns.
///
/// Beside them: what to know of the rows, such as texts in columns of numbers that count as missing.
///
/// # Errors
/// A table that cannot be read, rows of another length than `coef` has, an interruption.
pub fn margins(
    source: &Source<'_>,
    linear: &Linear<'_>,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<(Vec<f64>, Vec<Notice>)> {
    let outputs = linear.intercept.len();
    let width = linear.coef.len().checked_div(outputs).unwrap_or(0);
    if outputs == 0 || width * outputs != linear.coef.len() {
        let message = format!(
            "`coef` must have one row for each of the {outputs} numbers of `intercept`, got {} numbers",
            linear.coef.len()
        );
        return Err(Error::input(Code::Weights, message));
    }
    let row_map: RowMap = row_map(linear.row_map, linear.row_norm)?;
    let fitted = linear.preprocessing.map(serde_json::from_str::<Fitted>).transpose();
    let fitted = fitted.map_err(|error| {
        Error::input(Code::Preprocessing, format!("the preprocessing cannot be read: {error}"))
    })?;
    if fitted.as_ref().is_some_and(|fitted| fitted.width() as usize != width) {
        let message = "the preprocessing gives another number of columns than `coef` has";
        return Err(Error::input(Code::Preprocessing, message));
    }
    let frame = fitted.as_ref().map(|fitted| FrameRequest::Given(fitted.frame().clone()));
    let options = ReadOptions { label_required: false, row_map, frame, ..source.options()? };
    let row = fitted.as_ref().map(Fitted::buffer);
    let fitted = fitted.as_ref().zip(row);
    let (all, strays) = (Vec::new(), Vec::new());
    let mut sink = Margins { linear, row_map, fitted, width, rows: 0, all, strays, watch };
    source.read(&options, &mut sink)?;
    let found = sink.fitted.as_ref().map(|(found, _)| *found);
    let notices = found.map(|found| strays_in_rows(found, &sink.strays));
    Ok((sink.all, notices.unwrap_or_default()))
}

/// How many rows between two reports.
const REPORT: u64 = 4096;

struct Margins<'a> {
    linear: &'a Linear<'a>,
    row_map: RowMap,
    /// Preprocessing, and a buffer for its rows.
    fitted: Option<(&'a Fitted, Row)>,
    width: usize,
    rows: u64,
    all: Vec<f64>,
    /// Texts that count as missing, by column.
    strays: Vec<u64>,
    watch: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
}

impl Sink for Margins<'_> {
    fn begin(&mut self, layout: &Layout) -> std::result::Result<(), SinkError> {
        if self.fitted.is_some() || layout.width as usize == self.width {
            return Ok(());
        }
        let (expected, got) = (self.width, layout.width);
        let message = format!("rows must have {expected} features like the model, got {got}");
        Err(SinkError::new(Error::refused(Code::Data, message)))
    }

    fn record(&mut self, record: Record<'_>) -> std::result::Result<(), SinkError> {
        if self.rows.is_multiple_of(REPORT)
            && (self.watch)(&Progress::Reading { rows: self.rows }).is_break()
        {
            return Err(SinkError::new(Error::interrupted()));
        }
        self.rows += 1;
        let features = match (&mut self.fitted, record.raw) {
            (Some((fitted, row)), Some(raw)) => {
                fitted.encode(raw, row).map_err(SinkError::new)?;
                fitted.count_strays(raw, &mut self.strays).map_err(SinkError::new)?;
                self.row_map.apply(row.values_mut()).map_err(SinkError::new)?;
                row.features()
            }
            _ => record.features,
        };
        for (output, intercept) in self.linear.intercept.iter().enumerate() {
            let coef = &self.linear.coef[output * self.width..][..self.width];
            self.all.push(product(coef, features) + intercept);
        }
        Ok(())
    }
}

fn product(coef: &[f64], row: Features<'_>) -> f64 {
    match row {
        Features::Dense(values) => {
            coef.iter().zip(values).map(|(weight, &value)| weight * f64::from(value)).sum()
        }
        Features::Sparse { indices, values } => indices
            .iter()
            .zip(values)
            .map(|(&at, &value)| coef.get(at as usize).map_or(0.0, |w| w * f64::from(value)))
            .sum(),
    }
}
