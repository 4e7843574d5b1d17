//! Tables of named columns: what CSV, Parquet and Arrow have in common.

mod plan;
mod raw;

pub(crate) use plan::{Plan, option};

use crate::cell::Cell;
use crate::delivery::{Admission, Delivery, Keys};
use crate::error::{Place, ReadError, Spot, inexact_name};
use crate::fitted::Declared;
use crate::input::Format;
use crate::record::FeatureNames;
use crate::schema::Storage;
use crate::summary::Summary;

/// Rows of named columns, one at a time.
pub(crate) trait Table {
    /// The column names.
    fn names(&self) -> &[String];

    /// Goes to the next row; `false` after the last.
    fn advance(&mut self) -> Result<bool, ReadError>;

    /// Where the row is.
    fn spot(&self) -> Spot;

    /// The type of a column whose values are not read.
    fn unread(&self, _column: usize) -> Option<String> {
        None
    }

    /// What the table's own type says of a column.
    fn declared(&self, _column: usize) -> Option<Declared> {
        None
    }

    /// Whether a cell that is a text was meant as one.
    fn is_typed(&self) -> bool {
        true
    }

    /// A value of the row, `Null` beyond the last column.
    fn cell(&self, column: usize) -> Cell<'_>;

    /// The binary digits of the numbers of a column that are floats.
    fn digits(&self, _column: usize) -> u32 {
        f64::MANTISSA_DIGITS
    }
}

/// A value of the row that names a record or a person.
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

/// What names and weighs the row.
fn keys<'t>(file: &str, table: &'t dyn Table, plan: &Plan) -> Result<Keys<'t>, ReadError> {
    let name = |at: Option<usize>| at.map(|at| name(file, table, at)).transpose();
    let weight = plan.weight.map(|at| table.cell(at));
    Ok(Keys { id: name(plan.id)?, subject: name(plan.subject)?, weight })
}

/// Encodes and hands over all rows.
pub(crate) fn deliver(
    table: &mut dyn Table,
    format: Format,
    mut delivery: Delivery<'_>,
) -> Result<Summary, ReadError> {
    if !table.is_typed() {
        delivery.without_types();
    }
    if let Some(request) = &delivery.options.frame {
        return raw::deliver(table, format, delivery, request);
    }
    let file = delivery.file();
    let plan = Plan::new(file, table.names(), delivery.options)?;
    let width = plan.encoder.width();
    let sparse = plan.schema.storage() == Storage::Sparse;
    delivery.begin(FeatureNames::Listed(listed(&plan)), sparse)?;
    let labels = plan.label_names(table.names());
    let mut row = plan.encoder.buffer();
    while table.advance()? {
        let spot = table.spot();
        let given = labels.iter().zip(&plan.labels);
        let given = given.map(|(name, &at)| (name.as_str(), table.cell(at)));
        let Admission::Kept(label) = delivery.admit(spot, given)? else { continue };
        row.clear(width);
        for (rule, &at) in plan.encoder.rules().iter().zip(&plan.features) {
            rule.encode(table.cell(at), &mut row).map_err(|fault| {
                let place = Place::new(file, spot).column(rule.name());
                let setting = delivery.options.numbers_for.as_deref();
                ReadError::at(place, plan.explain(file, rule.name(), setting, fault))
            })?;
        }
        let keys = keys(file, table, &plan)?;
        delivery.deliver(spot, &mut row, label, &keys)?;
    }
    Ok(delivery.finish(format, plan.schema)?.with_targets(labels))
}

fn listed(plan: &Plan) -> Vec<String> {
    plan.schema.columns().iter().flat_map(|column| column.feature_names()).collect()
}
