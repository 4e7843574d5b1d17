//! Record batches of a Parquet file.

use std::fs::File;

use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;

use super::batches::{BATCH_ROWS, Batches};
use crate::error::ReadError;
use crate::limits::Limits;
use crate::source::Source;

/// Opens a plain file in place, anything else from memory.
pub(super) fn open(source: &mut Source<'_>, limits: &Limits) -> Result<Batches, ReadError> {
    let opened = match source.plain_file()? {
        Some(file) => batches::<File>(file),
        None => batches(Bytes::from_owner(source.hold(limits)?)),
    };
    opened.map_err(|error| super::batches::decode(source.name(), &error))
}

fn batches<R: ChunkReader + 'static>(reader: R) -> Result<Batches, ParquetError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(reader)?.with_batch_size(BATCH_ROWS);
    let schema = builder.schema().clone();
    Ok(Batches { schema, next: Box::new(builder.build()?) })
}
