//! The last steps every format shares: count, judge the label, map the row, hand it over.

use crate::budget::Budget;
use crate::cell::{Cell, quoted};
use crate::error::{CellFault, Fault, LabelFault, LimitFault, OptionFault, Place, ReadError, Spot};
use crate::fitted::{Frame, RawWriter};
use crate::input::Format;
use crate::label::{Label, Labels, Verdict};
use crate::options::ReadOptions;
use crate::record::{FeatureNames, Features, LabelRef, Layout, Record, Sink};
use crate::row_map::Mapped;
use crate::schema::{Row, Schema};
use crate::summary::{PrivateEvidence, Summary};

/// One pass over a table.
pub(crate) struct Delivery<'a> {
    file: &'a str,
    pub(crate) options: &'a ReadOptions,
    sink: &'a mut dyn Sink,
    pub(crate) budget: Budget,
    labels: Option<Labels>,
    position: u64,
    kept: u64,
    left_out: u64,
    private: PrivateEvidence,
}

/// What became of a row so far.
pub(crate) enum Admission {
    /// It is kept, with its label where labels are read.
    Kept(Option<Label>),
    /// It is of another class.
    LeftOut,
}

/// What a record carries besides features and label.
#[derive(Default)]
pub(crate) struct Keys<'c> {
    pub(crate) id: Option<Cell<'c>>,
    pub(crate) subject: Option<Cell<'c>>,
    pub(crate) weight: Option<Cell<'c>>,
}

impl<'a> Delivery<'a> {
    /// Checks the options that do not depend on the file.
    pub(crate) fn new(
        file: &'a str,
        options: &'a ReadOptions,
        sink: &'a mut dyn Sink,
        budget: Budget,
    ) -> Result<Self, OptionFault> {
        let norm = options.row_map.norm;
        if !(norm.is_finite() && norm > 0.0) {
            return Err(OptionFault::RowNorm { norm });
        }
        if options.width == Some(0) {
            return Err(OptionFault::ZeroWidth);
        }
        let labels = Labels::new(options)?;
        let labels = options.label_required.then_some(labels);
        let private = PrivateEvidence::default();
        let (position, kept, left_out) = (0, 0, 0);
        Ok(Self { file, options, sink, budget, labels, position, kept, left_out, private })
    }

    /// Announces the layout.
    pub(crate) fn begin(&mut self, columns: FeatureNames, sparse: bool) -> Result<(), ReadError> {
        let limit = u64::from(self.options.limits.columns);
        LimitFault::check("features", columns.len() as u64, limit)
            .map_err(|fault| ReadError::at(Place::file(self.file), fault))?;
        let width = columns.len() as u32;
        let layout = Layout { columns, width, sparse };
        self.sink.begin(&layout).map_err(|source| ReadError::Sink { position: 0, source })
    }

    /// Counts a row and judges its label, or each of several.
    pub(crate) fn admit<'c>(
        &mut self,
        spot: Spot,
        given: impl IntoIterator<Item = (&'c str, Cell<'c>)>,
    ) -> Result<Admission, ReadError> {
        self.position += 1;
        LimitFault::check("rows", self.position, self.options.limits.rows)
            .map_err(|fault| self.fault(spot, fault))?;
        let Some(labels) = &mut self.labels else { return Ok(Admission::Kept(None)) };
        let mut given = given.into_iter();
        let Some((mut column, mut cell)) = given.next() else {
            return Err(self.fault(spot, LabelFault::Missing));
        };
        let known = labels.known();
        let second = given.next();
        let verdict = if second.is_some() {
            let mut verdict = labels.judge_next(0, cell);
            for (at, next) in (1..).zip(second.into_iter().chain(given)) {
                if verdict.is_err() {
                    break;
                }
                (column, cell) = next;
                verdict = labels.judge_next(at, cell);
            }
            verdict
        } else {
            labels.judge(cell)
        };
        match verdict {
            Ok(Verdict::Keep(label)) => {
                if labels.known() > known {
                    self.budget.text(&cell.text()).map_err(|fault| self.fault(spot, fault))?;
                }
                Ok(Admission::Kept(Some(label)))
            }
            Ok(Verdict::LeaveOut) => {
                self.left_out += 1;
                Ok(Admission::LeftOut)
            }
            Err(fault) => Err(ReadError::at(Place::new(self.file, spot).column(column), fault)),
        }
    }

    /// Maps an encoded row and hands it over.
    pub(crate) fn deliver(
        &mut self,
        spot: Spot,
        row: &mut Row,
        label: Option<Label>,
        keys: &Keys<'_>,
    ) -> Result<(), ReadError> {
        match self.options.row_map.apply(row.values_mut()) {
            Ok(Mapped::Scaled { from }) => {
                self.private.rows_scaled += 1;
                if from > ROUNDING * self.options.row_map.norm {
                    self.private.lengths.add(from);
                }
            }
            Ok(Mapped::Unchanged) => {}
            Err(fault) => return Err(self.fault(spot, fault)),
        }
        let features: Features<'_> = row.features();
        self.private.rows_zero += u64::from(features.values().iter().all(|&value| value == 0.0));
        let stored = match features {
            Features::Dense(values) => size_of_val(values),
            Features::Sparse { indices, values } => size_of_val(indices) + size_of_val(values),
        };
        self.hand_over(spot, (features, None), stored, label, keys)
    }

    /// Begins a raw row with its label.
    pub(crate) fn begin_raw(
        &self,
        spot: Spot,
        label: Option<Label>,
        row: &mut RawWriter,
    ) -> Result<(), ReadError> {
        row.begin(self.reference(label)).map_err(|fault| self.fault(spot, fault))
    }

    /// Hands a raw row over.
    pub(crate) fn deliver_raw(
        &mut self,
        spot: Spot,
        row: &RawWriter,
        label: Option<Label>,
        keys: &Keys<'_>,
    ) -> Result<(), ReadError> {
        let bytes = row.bytes();
        self.hand_over(spot, (Features::Dense(&[]), Some(bytes)), bytes.len(), label, keys)
    }

    fn reference(&self, label: Option<Label>) -> Option<LabelRef<'_>> {
        Some(self.labels.as_ref()?.reference(label?))
    }

    fn hand_over(
        &mut self,
        spot: Spot,
        (features, raw): (Features<'_>, Option<&[u8]>),
        stored: usize,
        label: Option<Label>,
        keys: &Keys<'_>,
    ) -> Result<(), ReadError> {
        let id = keys.id.map(|cell| cell.text());
        let subject = keys.subject.map(|cell| cell.text());
        for (role, text) in [("id", &id), ("subject", &subject)] {
            if text.as_ref().is_some_and(|text| text.is_empty()) {
                return Err(self.fault(spot, CellFault::EmptyKey { role }));
            }
        }
        let position = self.position;
        let label = match (&self.labels, label) {
            (Some(labels), Some(label)) => Some(labels.reference(label)),
            _ => None,
        };
        let weight = keys.weight.map(|cell| weight(cell).map_err(|fault| self.fault(spot, fault)));
        let weight = weight.transpose()?;
        let (id, subject) = (id.as_deref(), subject.as_deref());
        self.budget
            .record(stored as u64, [id, subject])
            .map_err(|fault| self.fault(spot, fault))?;
        let record = Record { position, spot, features, raw, label, id, subject, weight };
        self.sink.record(record).map_err(|source| ReadError::Sink { position, source })?;
        self.kept += 1;
        Ok(())
    }

    /// What was read.
    pub(crate) fn finish(self, format: impl Into<Option<Format>>, schema: Schema) -> Summary {
        Summary {
            format: format.into(),
            rows_read: self.position,
            rows_kept: self.kept,
            rows_left_out: self.left_out,
            index_left_out: false,
            classes: self.labels.and_then(Labels::table),
            width: schema.width(),
            targets: Vec::new(),
            frame: None,
            schema,
            private: self.private,
        }
    }

    /// What was read, of raw rows.
    pub(crate) fn finish_raw(
        self,
        format: impl Into<Option<Format>>,
        schema: Schema,
        frame: Frame,
    ) -> Summary {
        let width = frame.columns() as u32;
        Summary { width, frame: Some(frame), ..self.finish(format, schema) }
    }

    /// The file as the user named it.
    pub(crate) fn file(&self) -> &'a str {
        self.file
    }

    fn fault(&self, spot: Spot, fault: impl Into<Fault>) -> ReadError {
        ReadError::at(Place::new(self.file, spot), fault)
    }
}

/// A row this many times as long as the bound was of that length but for a rounding.
const ROUNDING: f64 = 1.001;

/// A weight that can be counted with.
fn weight(cell: Cell<'_>) -> Result<f64, CellFault> {
    match cell.number() {
        Some(weight) if weight.is_finite() && weight >= 0.0 => Ok(weight),
        _ => Err(CellFault::Weight { value: quoted(&cell.text()) }),
    }
}
