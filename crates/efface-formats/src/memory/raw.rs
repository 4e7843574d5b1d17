//! Raw rows of a table in memory.

use super::{MemoryRows, MemoryTable, Numbers, ROWS, check_indices};
use crate::cell::Cell;
use crate::error::{Place, ReadError, Spot, fault, other_width};
use crate::fitted::{Declared, Frame, FrameColumn, FrameRequest, RawWriter};
use crate::matrix::check_bytes;
use crate::options::ReadOptions;
use crate::raw_rows::{array_frame, declared_in, not_an_array, places};
use crate::schema::{Matrix, Origin, Schema};

/// How the rows of a table become raw rows of a frame.
pub(super) struct RawRowsOf<'a> {
    pub(super) frame: Frame,
    rows: MemoryRows<'a>,
    /// Of named columns: where each of the frame's is in the table.
    places: Vec<usize>,
}

impl<'a> RawRowsOf<'a> {
    pub(super) fn new(
        table: &MemoryTable<'a>,
        request: &FrameRequest,
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        let rows = table.rows;
        let schema = options.schema.as_ref();
        if let Some(names) = names_of(table)? {
            let mut seen = std::collections::HashSet::new();
            if let Some(column) = names.iter().find(|name| !seen.insert(name.as_str())) {
                let fault = fault!(
                    "two columns are named `{column}`; give each a name of its own in the file"
                );
                return Err(ReadError::at(Place::file(ROWS), fault));
            }
            let columns = match request {
                FrameRequest::Given(Frame::Columns(columns)) => columns.clone(),
                FrameRequest::Given(Frame::Matrix { .. }) => return Err(not_an_array(ROWS)),
                FrameRequest::New => {
                    let column = |(at, name): (usize, &String)| {
                        let declared = schema.and_then(|schema| declared_in(schema, name));
                        FrameColumn { name: name.clone(), declared: declared.or(rows.declared(at)) }
                    };
                    names.iter().enumerate().map(column).collect()
                }
            };
            let places = places(ROWS, &columns, &names)?;
            return Ok(Self { frame: Frame::Columns(columns), rows, places });
        }
        if let (MemoryRows::Dense { width, .. }, FrameRequest::Given(Frame::Columns(columns))) =
            (rows, request)
            && columns.iter().all(|column| column.declared == Some(Declared::Number))
        {
            // Numbers without names are those of the columns in their order.
            if columns.len() != width as usize {
                let (got, expected) = (u64::from(width), columns.len() as u64);
                let fault = other_width(got, expected);
                return Err(ReadError::at(Place::file(ROWS), fault));
            }
            let places = (0..columns.len()).collect();
            return Ok(Self { frame: Frame::Columns(columns.clone()), rows, places });
        }
        let sparse = matches!(rows, MemoryRows::Sparse { .. });
        let made = Frame::Matrix { width: rows.width(), first: 0, sparse, divide: 1.0 };
        let frame = array_frame(ROWS, request, schema, made)?;
        Ok(Self { frame, rows, places: Vec::new() })
    }

    /// A schema of the columns' roles.
    pub(super) fn schema(&self) -> Result<Schema, ReadError> {
        Ok(match &self.frame {
            Frame::Columns(columns) => {
                let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
                Schema::numbers(crate::schema::Storage::Dense, &names)?
            }
            &Frame::Matrix { width, first, divide, .. } => {
                Schema::matrix(Matrix { width, origin: Origin::Default, first, divide })?
            }
        })
    }

    /// Writes the cells of one row, counted from 0.
    pub(super) fn write(
        &self,
        at: usize,
        spot: Spot,
        numbers: &mut Vec<f64>,
        row: &mut RawWriter,
    ) -> Result<(), ReadError> {
        let place = || Place::new(ROWS, spot);
        let (width, sparse, divide) = match &self.frame {
            Frame::Columns(columns) => {
                for (column, &place_of) in columns.iter().zip(&self.places) {
                    let cell = self.rows.cell(at, place_of);
                    row.cell(cell, column.declared)
                        .map_err(|fault| ReadError::at(place().column(&column.name), fault))?;
                }
                return Ok(());
            }
            Frame::Matrix { width, sparse, divide, .. } => (*width, *sparse, *divide),
        };
        let named = |column: u32| {
            place().column(self.frame.feature_columns().name(column as usize).unwrap_or_default())
        };
        match self.rows {
            MemoryRows::Dense { numbers: all, width } => {
                let (from, to) = (at * width as usize, (at + 1) * width as usize);
                if let (Numbers::Single(all), false) = (all, sparse)
                    && divide == 1.0
                {
                    let all = all.get(from..to).unwrap_or_default();
                    if row.singles(all) {
                        return Ok(());
                    }
                }
                all.copy(from, to, numbers);
                check_bytes(divide, numbers)
                    .map_err(|(column, fault)| ReadError::at(named(column as u32), fault))?;
                row.numbers(numbers.iter().copied(), sparse)
                    .map_err(|(column, fault)| ReadError::at(named(column), fault))
            }
            MemoryRows::Sparse { starts, indices, numbers: all, .. } => {
                let limit = |at: usize| starts.get(at).map_or(0, |&start| start as usize);
                let (from, to) = (limit(at), limit(at + 1));
                let indices = indices.get(from..to).unwrap_or_default();
                all.copy(from, to, numbers);
                check_indices(indices, width).map_err(|fault| ReadError::at(place(), fault))?;
                let mut next = 0;
                for (index, &value) in indices.iter().zip(numbers.iter()) {
                    let column = index.cast_unsigned();
                    row.sparse_number(column, value, sparse, &mut next)
                        .map_err(|fault| ReadError::at(named(column), fault))?;
                }
                if !sparse {
                    row.zeros(width - next);
                }
                Ok(())
            }
            MemoryRows::Columns { .. } => Err(not_an_array(ROWS)),
        }
    }
}

impl<'a> MemoryRows<'a> {
    /// A value of a named column.
    fn cell(&self, row: usize, column: usize) -> Cell<'a> {
        match *self {
            Self::Columns { columns, .. } => {
                columns.get(column).map_or(Cell::Null, |column| column.cell(row))
            }
            Self::Dense { numbers, width } => {
                let at = row * width as usize + column;
                let number = match numbers {
                    Numbers::Single(all) => all.get(at).map(|&value| f64::from(value)),
                    Numbers::Double(all) => all.get(at).copied(),
                };
                number.map_or(Cell::Null, Cell::Number)
            }
            Self::Sparse { .. } => Cell::Null,
        }
    }

    /// What a named column is by its type.
    fn declared(&self, column: usize) -> Option<Declared> {
        match *self {
            Self::Columns { columns, .. } => columns.get(column)?.declared(),
            Self::Dense { .. } | Self::Sparse { .. } => Some(Declared::Number),
        }
    }
}

/// The names of the columns, where raw rows have some: those of a sparse array are not kept.
fn names_of(table: &MemoryTable<'_>) -> Result<Option<Vec<String>>, ReadError> {
    let width = table.rows.width();
    if let Some(got) = table.names.map(<[String]>::len)
        && got != width as usize
    {
        return Err(ReadError::at(Place::file(ROWS), fault!("{got} names for {width} columns")));
    }
    Ok(match table.rows {
        MemoryRows::Columns { columns, .. } => {
            Some(columns.iter().map(|column| column.name.to_owned()).collect())
        }
        MemoryRows::Dense { .. } => table.names.map(<[String]>::to_vec),
        MemoryRows::Sparse { .. } => None,
    })
}
