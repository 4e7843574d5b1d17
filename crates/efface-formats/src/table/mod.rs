//! Tables of named columns: what CSV, Parquet and Arrow have in common.

mod plan;

pub(crate) use plan::{Named, Plan, named_columns, option};

use crate::cell::Cell;
use crate::delivery::Delivery;
use crate::error::{Place, ReadError, Spot, inexact_name};
use crate::fitted::{Declared, Frame};
use crate::input::Format;
use crate::rows::{self, Cells, Keys, RowMaker, RowValues, Rows};
use crate::schema::CsvShape;
use crate::summary::Summary;

/// Rows of named columns, one at a time.
pub(crate) trait Table: Cells {
    fn names(&self) -> &[String];

    /// Goes to the next row; `false` after the last.
    fn advance(&mut self) -> Result<bool, ReadError>;

    fn spot(&self) -> Spot;

    /// Returns the type of a column whose values are not read.
    fn unread(&self, _column: usize) -> Option<String> {
        None
    }

    /// Returns what the table's own type says of a column.
    fn declared(&self, _column: usize) -> Option<Declared> {
        None
    }

    /// Returns what a row index is called that is left out.
    fn index_left_out(&self) -> Option<String> {
        None
    }

    /// Returns the layout that a CSV file turned out to have.
    fn shape(&self) -> CsvShape {
        CsvShape::default()
    }

    /// Returns whether a cell that is a text was meant as one.
    fn is_typed(&self) -> bool {
        true
    }

    /// Returns the binary digits of the numbers of a column that are floats.
    fn digits(&self, _column: usize) -> u32 {
        f64::MANTISSA_DIGITS
    }
}

/// What happens to columns of a type that is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// The file is refused, unless the column is left out.
    Refused,
    /// The column is there without values.
    Empty,
}

/// Returns a value of the row that names a record or a person.
pub(crate) fn name<'t>(
    file: &str,
    table: &'t dyn Table,
    column: usize,
) -> Result<Cell<'t>, ReadError> {
    let digits = table.digits(column);
    table.cell(column).naming(digits).map_err(|value| {
        let name = table.names().get(column).cloned().unwrap_or_default();
        let fault = inexact_name(value, digits);
        ReadError::at(Place::new(file, table.spot()).column(name), fault)
    })
}

/// The rows of a table as a plan divides them.
struct TableRows<'t> {
    file: &'t str,
    table: &'t mut dyn Table,
    plan: Plan,
}

impl Cells for TableRows<'_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        self.table.cell(column)
    }
}

impl Rows for TableRows<'_> {
    fn advance(&mut self) -> Result<Option<Spot>, ReadError> {
        Ok(self.table.advance()?.then(|| self.table.spot()))
    }

    fn label(&mut self, at: usize) -> Result<Cell<'_>, ReadError> {
        Ok(self.plan.labels.get(at).map_or(Cell::Null, |&at| self.table.cell(at)))
    }

    fn features(&mut self) -> Result<RowValues<'_>, ReadError> {
        Ok(RowValues::Cells(self))
    }

    fn keys(&mut self) -> Result<Keys<'_>, ReadError> {
        let name = |at: Option<usize>| at.map(|at| name(self.file, self.table, at)).transpose();
        let weight = self.plan.weight.map(|at| self.table.cell(at));
        Ok(Keys { id: name(self.plan.id)?, subject: name(self.plan.subject)?, weight })
    }
}

pub(crate) fn deliver(
    table: &mut dyn Table,
    format: Format,
    mut delivery: Delivery<'_>,
) -> Result<Summary, ReadError> {
    delivery.of_cells(table.is_typed());
    let (file, names) = (delivery.file(), table.names());
    let options = rows::options_for(file, names, delivery.options)?;
    let plan = Plan::new(file, names, &options)?;
    let labels = plan.labels.iter().filter_map(|&at| names.get(at).cloned()).collect();
    let schema = plan.schema.clone();
    let maker = match &options.frame {
        None => RowMaker::encoded(schema, false).at(plan.features.clone()),
        Some(request) => {
            let declared = |at| table.declared(at);
            let (columns, places) =
                rows::columns(file, names, &options, request, &plan.features, declared)?;
            RowMaker::raw(schema, Frame::Columns(columns), &options.missing).at(places)
        }
    };
    delivery.begin(&maker, None)?;
    let index_left_out = table.index_left_out();
    let mut rows = TableRows { file, table, plan };
    let summary = delivery.run(&mut rows, maker, labels, Some(format))?;
    Ok(Summary { index_left_out, ..summary })
}
