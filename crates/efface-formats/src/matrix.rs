//! Tables without column names: what NPY, NPZ and IDX have in common.

use crate::cell::Cell;
use crate::delivery::{Admission, Delivery, Keys};
use crate::error::{CellFault, ColumnFault, Place, ReadError};
use crate::format::arrays::ArrayRows;
use crate::input::Format;
use crate::schema::{Body, Matrix, Origin, Row, RowEncoder, Schema, Storage, single};
use crate::summary::Summary;

/// The arrays of one table.
pub(crate) struct Arrays<'r> {
    pub(crate) features: ArrayRows<'r>,
    pub(crate) label: Option<ArrayRows<'r>>,
    pub(crate) id: Option<ArrayRows<'r>>,
    pub(crate) subject: Option<ArrayRows<'r>>,
}

/// How the numbers of a row become features.
enum Encoding {
    Divide { divide: f64, first: u32 },
    Columns(RowEncoder),
}

/// The schema of an array that comes without one.
pub(crate) fn implied(width: usize, divide: f64) -> Matrix {
    Matrix { width: width as u32, origin: Origin::Default, first: 0, divide }
}

/// Encodes and hands over all rows. `divide` applies where no schema says otherwise.
pub(crate) fn deliver(
    mut arrays: Arrays<'_>,
    divide: f64,
    format: Format,
    mut delivery: Delivery<'_>,
) -> Result<Summary, ReadError> {
    let file = delivery.file();
    let width = arrays.features.width();
    if width == 0 {
        return Err(ReadError::at(Place::file(file), ColumnFault::NoFeatures));
    }
    let schema = match &delivery.options.schema {
        Some(schema) => schema.clone(),
        None => Schema::matrix(implied(width, divide))?,
    };
    let encoding =
        encoding(&schema, width).map_err(|fault| ReadError::at(Place::file(file), fault))?;
    let columns = [&arrays.label, &arrays.id, &arrays.subject];
    for column in columns.into_iter().flatten() {
        column.expect_rows(&arrays.features)?;
    }
    delivery.begin(schema.feature_names(), schema.storage() == Storage::Sparse)?;
    let mut row = Row::new(schema.storage());
    let mut numbers = Vec::new();
    while arrays.features.advance()? {
        let spot = arrays.features.spot();
        let label = step(&mut arrays.label)?;
        let id = step(&mut arrays.id)?;
        let subject = step(&mut arrays.subject)?;
        let label = label.map(|cell| ("y", cell));
        let Admission::Kept(label) = delivery.admit(spot, label)? else { continue };
        arrays.features.numbers(&mut numbers);
        encode(&encoding, &numbers, &mut row).map_err(|(column, fault)| {
            let name = column_name(&encoding, column);
            ReadError::at(Place::new(file, spot).column(name), fault)
        })?;
        delivery.deliver(spot, &mut row, label, &Keys { id, subject })?;
    }
    for column in [&mut arrays.label, &mut arrays.id, &mut arrays.subject].into_iter().flatten() {
        column.advance()?;
    }
    Ok(delivery.finish(format, schema))
}

fn encoding(schema: &Schema, width: usize) -> Result<Encoding, ColumnFault> {
    let expected = match schema.body() {
        Body::Matrix(matrix) => matrix.width as usize,
        Body::Columns { columns, .. } => {
            columns.iter().filter(|column| column.kind.is_feature()).count()
        }
    };
    if width != expected {
        let (got, expected) = (width as u64, expected as u64);
        return Err(ColumnFault::Width { got, expected });
    }
    Ok(match (schema.body(), RowEncoder::new(schema)) {
        (_, Some(encoder)) => Encoding::Columns(encoder),
        (Body::Matrix(matrix), None) => {
            Encoding::Divide { divide: matrix.divide, first: matrix.first }
        }
        (Body::Columns { .. }, None) => Encoding::Divide { divide: 1.0, first: 0 },
    })
}

fn encode(encoding: &Encoding, numbers: &[f64], row: &mut Row) -> Result<(), (usize, CellFault)> {
    match encoding {
        Encoding::Divide { divide, .. } => {
            row.clear(numbers.len() as u32);
            for (at, &value) in numbers.iter().enumerate() {
                if !value.is_finite() {
                    return Err((at, CellFault::NotFinite { value }));
                }
                row.put(at as u32, single(value / divide).map_err(|fault| (at, fault))?);
            }
            Ok(())
        }
        Encoding::Columns(encoder) => {
            row.clear(encoder.width());
            for (at, (rule, &value)) in encoder.rules().iter().zip(numbers).enumerate() {
                rule.encode(Cell::Number(value), row).map_err(|fault| (at, fault))?;
            }
            Ok(())
        }
    }
}

fn column_name(encoding: &Encoding, column: usize) -> String {
    match encoding {
        Encoding::Divide { first, .. } => format!("x{}", u64::from(*first) + column as u64),
        Encoding::Columns(encoder) => encoder.columns().get(column).cloned().unwrap_or_default(),
    }
}

fn step<'a>(column: &'a mut Option<ArrayRows<'_>>) -> Result<Option<Cell<'a>>, ReadError> {
    let Some(column) = column else { return Ok(None) };
    column.advance()?;
    column.value().map(Some)
}
