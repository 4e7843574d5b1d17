//! The stored form of each row: its encoded numbers, or the row as it is.

use super::RowValues;
use crate::cell::Cell;
use crate::error::{CellFault, Fault, fault};
use crate::fitted::{Frame, RawWriter};
use crate::image::BYTE;
use crate::missing::Missing;
use crate::numbers::Numbers;
use crate::record::{FeatureNames, LabelRef};
use crate::schema::{Body, Row, RowEncoder, Schema, Storage};

/// Makes what is stored of one row after another.
pub(crate) struct RowMaker {
    /// The schema in force; of raw rows, one that has their roles.
    pub(crate) schema: Schema,
    /// The columns that rows are made of.
    inputs: FeatureNames,
    /// The position of each of them in the table.
    places: Vec<usize>,
    pub(crate) form: RowForm,
    buffer: Vec<f64>,
}

/// Encoded or raw rows, with the row made last.
pub(crate) enum RowForm {
    /// Rows that a schema encodes.
    Encoded {
        encoder: RowEncoder,
        row: Row,
        /// What the numbers of an array are divided by.
        divide: f64,
        /// Whether dense rows are stored as they are.
        copies: bool,
    },
    /// Rows as they are.
    Raw { frame: Frame, row: RawWriter },
}

impl RowMaker {
    /// Encodes rows by a schema. Rows of a sparse array without names are sparse whatever it says.
    pub(crate) fn encoded(schema: Schema, is_sparse: bool) -> Self {
        let encoder = RowEncoder::new(&schema);
        let (row, divide) = match schema.body() {
            Body::Matrix(matrix) if is_sparse => (Row::new(Storage::Sparse), matrix.divide),
            Body::Matrix(matrix) => (encoder.buffer(), matrix.divide),
            Body::Columns { .. } => (encoder.buffer(), 1.0),
        };
        let copies = schema.storage() == Storage::Dense && schema.is_plain();
        let inputs = encoder.columns();
        Self::new(schema, inputs, RowForm::Encoded { encoder, row, divide, copies })
    }

    /// Keeps rows as they are. These texts are missing values.
    pub(crate) fn raw(schema: Schema, frame: Frame, missing: &Missing) -> Self {
        let row = RawWriter::taking(missing);
        Self::new(schema, frame.feature_columns(), RowForm::Raw { frame, row })
    }

    fn new(schema: Schema, inputs: FeatureNames, form: RowForm) -> Self {
        let places = (0..inputs.len()).collect();
        Self { schema, inputs, places, form, buffer: Vec::new() }
    }

    /// Makes rows from the columns at these places of a table.
    pub(crate) fn at(self, places: Vec<usize>) -> Self {
        Self { places, ..self }
    }

    /// Returns the columns that rows are made of.
    pub(crate) fn inputs(&self) -> &FeatureNames {
        &self.inputs
    }

    /// Returns whether dense rows are stored as they are.
    pub(crate) fn copies(&self) -> bool {
        matches!(self.form, RowForm::Encoded { copies: true, .. })
    }

    /// Returns the name of a column, by the position that a fault has.
    pub(crate) fn name(&self, column: usize) -> String {
        self.inputs.name(column).unwrap_or_default().into_owned()
    }

    /// Returns the names of the features, and whether rows are stored without their zeros.
    pub(crate) fn features(&self) -> (FeatureNames, bool) {
        match &self.form {
            RowForm::Encoded { row, .. } => {
                (self.schema.feature_names(), matches!(row, Row::Sparse { .. }))
            }
            RowForm::Raw { frame, .. } => {
                let sparse = matches!(frame, Frame::Matrix { sparse: true, .. });
                (frame.feature_columns(), sparse)
            }
        }
    }

    /// Begins a row with its label.
    pub(crate) fn begin(&mut self, label: Option<LabelRef<'_>>) -> Result<(), Fault> {
        match &mut self.form {
            RowForm::Encoded { .. } => Ok(()),
            RowForm::Raw { row, .. } => row.begin(label),
        }
    }

    /// Makes a row of its features; `see_missing` is shown each cell of a raw row that has no value. Errs
    /// with the position of the column at fault.
    pub(crate) fn make(
        &mut self,
        values: RowValues<'_>,
        see_missing: impl FnMut(&str, Cell<'_>),
    ) -> Result<(), (usize, CellFault)> {
        let Self { places, form, buffer, .. } = self;
        match form {
            RowForm::Encoded { encoder, row, divide, copies } => match values {
                RowValues::Cells(cells) => {
                    encoder.encode_by(|at| cells.cell(places.get(at).copied().unwrap_or(at)), row)
                }
                RowValues::Dense(numbers) if *copies && row.take(numbers) => Ok(()),
                RowValues::Dense(numbers) => {
                    check_bytes(*divide, numbers)?;
                    let numbers = numbers.doubles(buffer);
                    encoder.encode_by(|at| Cell::Number(numbers[at]), row)
                }
                RowValues::Sparse { indices, numbers } => {
                    encoder.encode_entries(indices, numbers, row)
                }
            },
            RowForm::Raw { frame: Frame::Columns(columns), row } => {
                let cells = columns.iter().zip(places.iter().map(|&at| values.cell(at)));
                row.cells(cells, see_missing)
            }
            RowForm::Raw { frame: Frame::Matrix { width, sparse, divide, .. }, row } => {
                let fault = |(column, fault): (usize, Fault)| (column, fault.into());
                match values {
                    RowValues::Cells(_) => Ok(()),
                    RowValues::Dense(numbers) => {
                        check_bytes(*divide, numbers)?;
                        row.numbers(numbers, *sparse).map_err(fault)
                    }
                    RowValues::Sparse { indices, numbers } => {
                        let all = (0..numbers.len()).filter_map(|at| numbers.get(at));
                        let entries = indices.iter().copied().zip(all);
                        row.entries(entries, *width, *sparse).map_err(fault)
                    }
                }
            }
        }
    }
}

/// Refuses numbers that are no bytes if the model learnt from bytes of images: they were divided by 255
/// already, or are no pixels. Missing numbers pass. Errs with the position of the number at fault.
fn check_bytes(divide: f64, numbers: Numbers<'_>) -> Result<(), (usize, CellFault)> {
    if divide != BYTE {
        return Ok(());
    }
    let whole =
        |number: f64| number.is_nan() || number.fract() == 0.0 && (0.0..=BYTE).contains(&number);
    let mut all = (0..numbers.len()).filter_map(|at| Some((at, numbers.get(at)?)));
    match all.find(|(_, number)| !whole(*number)) {
        None => Ok(()),
        Some((at, got)) => Err((
            at,
            fault!(
                "{got} is no byte, and the model learnt from the bytes of images, 0 to 255, which it \
                 divides by 255 itself: give them as they are"
            )
            .into(),
        )),
    }
}
