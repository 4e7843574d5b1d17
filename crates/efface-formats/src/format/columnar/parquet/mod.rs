//! Record batches of a Parquet file.
//!
//! Footer and pages are checked before the decoder sees them, since it allocates memory by what they state.
//! Columns that are left out are not decoded. Texts are views into the pages, so that one long text of a
//! dictionary costs its length once and not once for every row.

mod delta;
mod footer;
mod pages;
mod thrift;

use std::fs::File;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::ChunkReader;

use super::batches::Batches;
use super::broken;
use crate::budget::Budget;
use crate::error::{Fault, ReadError};
use crate::limits::Limits;
use crate::source::Source;

/// Structs that the decoder makes of a footer take this many times its bytes.
const FOOTER_TIMES: u64 = 16;

/// Opens a plain file in place, anything else from memory. `wanted` returns whether a column is to be
/// decoded.
pub(super) fn open(
    source: &mut Source<'_>,
    limits: &Limits,
    wanted: &dyn Fn(&Field) -> bool,
) -> Result<Batches, ReadError> {
    let budget = source.budget().clone();
    let opened = match source.plain_file()? {
        Some(file) => {
            let again =
                file.try_clone().map_err(|error| ReadError::of_file(source.name(), error))?;
            batches::<File>(file, again, wanted, &budget)
        }
        None => {
            let held = Bytes::from_owner(source.hold(limits)?);
            batches(held.clone(), held, wanted, &budget)
        }
    };
    opened.map_err(|fault| ReadError::of_file(source.name(), fault))
}

fn batches<R: ChunkReader + 'static>(
    reader: R,
    again: R,
    wanted: &dyn Fn(&Field) -> bool,
    budget: &Budget,
) -> Result<Batches, Fault> {
    check_footer(&reader, budget)?;
    let metadata = ArrowReaderMetadata::load(&reader, ArrowReaderOptions::new())?;
    let schema = metadata.schema().clone();
    let roots: Vec<usize> =
        (0..schema.fields().len()).filter(|&at| wanted(schema.field(at))).collect();
    let described = metadata.metadata().file_metadata().schema_descr();
    let leaves: Vec<usize> = (0..described.num_columns())
        .filter(|&leaf| roots.contains(&described.get_column_root_idx(leaf)))
        .collect();
    let mask = ProjectionMask::roots(described, roots.iter().copied());
    let rows = pages::check(&Arc::new(reader), metadata.metadata(), &leaves, budget)?;
    let options = ArrowReaderOptions::new().with_schema(views(&schema, wanted));
    let metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(again, metadata);
    let next = builder.with_projection(mask).with_batch_size(rows).build()?;
    let mut places = vec![None; schema.fields().len()];
    for (at, root) in roots.into_iter().enumerate() {
        places[root] = Some(at);
    }
    Ok(Batches { schema, places, next: Box::new(next) })
}

fn check_footer<R: ChunkReader>(reader: &R, budget: &Budget) -> Result<(), Fault> {
    let end = reader.len().checked_sub(footer::TAIL as u64);
    let end = end.ok_or_else(|| broken("the file is too short"))?;
    let tail = reader.get_bytes(end, footer::TAIL)?;
    // Other magic numbers are the decoder's to explain.
    let Some(length) = footer::length(&tail) else { return Ok(()) };
    let start =
        end.checked_sub(length).ok_or_else(|| broken("the footer is longer than the file"))?;
    budget.take(length.saturating_mul(FOOTER_TIMES))?;
    let bytes = reader.get_bytes(start, length as usize)?;
    footer::check(&bytes).map_err(broken)
}

/// Returns the same schema with texts as views.
fn views(schema: &SchemaRef, wanted: &dyn Fn(&Field) -> bool) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        let is_text = |kind: &DataType| {
            matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        };
        let text = match field.data_type() {
            DataType::Dictionary(_, values) => is_text(values),
            kind => is_text(kind),
        };
        if text && wanted(field) {
            Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View))
        } else {
            field.clone()
        }
    });
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
}
