//! Raw rows of named columns.

use super::{Plan, Table, keys};
use crate::delivery::{Admission, Delivery};
use crate::error::{Place, ReadError};
use crate::fitted::{Declared, Frame, FrameColumn, FrameRequest, RawWriter};
use crate::input::Format;
use crate::raw_rows::{declared_in, not_an_array, options_for, places};
use crate::summary::Summary;

/// The columns of raw rows, and where they are in the file.
struct RawPlan {
    plan: Plan,
    frame: Vec<FrameColumn>,
    places: Vec<usize>,
}

impl RawPlan {
    fn new(
        file: &str,
        table: &dyn Table,
        delivery: &Delivery<'_>,
        request: &FrameRequest,
    ) -> Result<Self, ReadError> {
        let names = table.names();
        match request {
            FrameRequest::Given(Frame::Matrix { .. }) => Err(not_an_array(file)),
            FrameRequest::Given(Frame::Columns(frame)) => {
                let places = places(file, frame, names)?;
                let options = options_for(file, frame, names, delivery.options)?;
                let plan = Plan::new(file, names, &options)?;
                Ok(Self { plan, frame: frame.clone(), places })
            }
            FrameRequest::New => {
                let plan = Plan::new(file, names, delivery.options)?;
                let schema = delivery.options.schema.as_ref();
                let column = |&at: &usize| {
                    let name = names.get(at).cloned().unwrap_or_default();
                    let declared: Option<Declared> =
                        schema.and_then(|schema| declared_in(schema, &name));
                    FrameColumn { name, declared: declared.or_else(|| table.declared(at)) }
                };
                let frame = plan.features.iter().map(column).collect();
                let places = plan.features.clone();
                Ok(Self { plan, frame, places })
            }
        }
    }
}

/// Hands over all rows as they are.
pub(super) fn deliver(
    table: &mut dyn Table,
    format: Format,
    mut delivery: Delivery<'_>,
    request: &FrameRequest,
) -> Result<Summary, ReadError> {
    let file = delivery.file();
    let RawPlan { plan, frame, places } = RawPlan::new(file, table, &delivery, request)?;
    let frame = Frame::Columns(frame);
    delivery.begin(frame.feature_columns(), false)?;
    let columns = match &frame {
        Frame::Columns(columns) => columns.as_slice(),
        Frame::Matrix { .. } => &[],
    };
    let labels = plan.label_names(table.names());
    let mut row = RawWriter::taking(&delivery.options.missing);
    while table.advance()? {
        let spot = table.spot();
        let given = labels.iter().zip(&plan.labels);
        let given = given.map(|(name, &at)| (name.as_str(), table.cell(at)));
        let Admission::Kept(label) = delivery.admit(spot, given)? else { continue };
        delivery.begin_raw(spot, label, &mut row)?;
        for (column, &at) in columns.iter().zip(&places) {
            let (cell, before) = (table.cell(at), row.bytes().len());
            row.cell(cell, column.declared).map_err(|fault| {
                ReadError::at(Place::new(file, spot).column(&column.name), fault)
            })?;
            if row.bytes().len() == before + 1 {
                delivery.note_missing(&column.name, cell);
            }
        }
        let keys = keys(file, table, &plan)?;
        delivery.deliver_raw(spot, &row, label, &keys)?;
    }
    Ok(delivery.finish_raw(format, plan.schema, frame)?.with_targets(labels))
}
