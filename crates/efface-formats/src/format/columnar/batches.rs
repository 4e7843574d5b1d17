//! Record batches as a table of named columns.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, SchemaRef};

use super::{ColumnarFault, arrow, parquet};
use crate::cell::Cell;
use crate::error::{Fault, LimitFault, Place, ReadError, Spot};
use crate::input::Format;
use crate::options::ReadOptions;
use crate::schema::Kind;
use crate::source::Source;
use crate::table::Table;

/// Rows decoded at a time.
pub(super) const BATCH_ROWS: usize = 1024;

/// An open columnar file.
pub(super) struct Batches {
    pub(super) schema: SchemaRef,
    pub(super) next: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>,
}

/// A columnar file as a table.
pub(crate) struct ColumnarTable {
    file: String,
    names: Vec<String>,
    batches: Batches,
    batch: Option<RecordBatch>,
    /// The row of the batch, counted from 0.
    at: usize,
    position: u64,
    decoded: u64,
    limit: u64,
}

/// Opens a Parquet or Arrow file.
pub(crate) fn open(
    source: &mut Source<'_>,
    format: Format,
    options: &ReadOptions,
) -> Result<ColumnarTable, ReadError> {
    let file = source.name().to_owned();
    let limits = &options.limits;
    let batches = guarded(&file, || match format {
        Format::Parquet => parquet::open(source, limits),
        _ => arrow::open(source, limits),
    })?;
    let columns = batches.schema.fields().len() as u64;
    LimitFault::check("columns", columns, u64::from(limits.columns))
        .map_err(|fault| ReadError::at(Place::file(&file), fault))?;
    let names: Vec<String> =
        batches.schema.fields().iter().map(|field| field.name().clone()).collect();
    for field in batches.schema.fields() {
        if !is_read(field.data_type()) && !is_ignored(field.name(), options) {
            let fault = ColumnarFault::Type { kind: kind(field.data_type()) };
            return Err(ReadError::at(Place::file(&file).column(field.name()), fault));
        }
    }
    let (batch, at, position) = (None, 0, 0);
    let limit = limits.decoded_bytes;
    Ok(ColumnarTable { file, names, batches, batch, at, position, decoded: 0, limit })
}

impl ColumnarTable {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ReadError> {
        let Self { file, batches, .. } = self;
        let Some(batch) = guarded(file, || {
            batches.next.next().transpose().map_err(|error| decode(file, &error))
        })?
        else {
            return Ok(None);
        };
        self.decoded = self.decoded.saturating_add(batch.get_array_memory_size() as u64);
        LimitFault::check("bytes", self.decoded, self.limit)
            .map_err(|fault| ReadError::at(Place::file(&self.file), fault))?;
        Ok(Some(batch))
    }
}

impl Table for ColumnarTable {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn advance(&mut self) -> Result<bool, ReadError> {
        self.at += 1;
        while self.batch.as_ref().is_none_or(|batch| self.at >= batch.num_rows()) {
            let Some(batch) = self.next_batch()? else { return Ok(false) };
            self.batch = Some(batch);
            self.at = 0;
        }
        self.position += 1;
        Ok(true)
    }

    fn spot(&self) -> Spot {
        Spot::Row(self.position)
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        let array = self.batch.as_ref().and_then(|batch| batch.columns().get(column));
        array.map_or(Cell::Null, |array| cell(array.as_ref(), self.at))
    }
}

/// Runs the decoder; a panic inside it, which damaged files have caused before, is an error.
fn guarded<T>(file: &str, decoder: impl FnOnce() -> Result<T, ReadError>) -> Result<T, ReadError> {
    catch_unwind(AssertUnwindSafe(decoder))
        .unwrap_or_else(|_| Err(decode(file, &"the decoder gave up")))
}

/// The decoder's reason at this file.
pub(super) fn decode(file: &str, reason: &dyn Display) -> ReadError {
    // Some reasons go on for lines about the decoder's own path.
    let message = reason.to_string().lines().next().unwrap_or_default().to_owned();
    let fault = Fault::Columnar(ColumnarFault::Decode { message });
    ReadError::at(Place::file(file), fault)
}

fn is_ignored(name: &str, options: &ReadOptions) -> bool {
    let in_schema = options.schema.as_ref().is_some_and(|schema| {
        schema.columns().iter().any(|column| column.name == name && column.kind == Kind::Ignored)
    });
    in_schema || options.ignore.iter().any(|ignored| ignored == name)
}

fn is_read(kind: &DataType) -> bool {
    match kind {
        DataType::Null
        | DataType::Boolean
        | DataType::Float16
        | DataType::Float32
        | DataType::Float64
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => {
            is_read(values) && !matches!(**values, DataType::Dictionary(..))
        }
        kind => kind.is_integer(),
    }
}

/// The type's name, without what is nested in it.
fn kind(kind: &DataType) -> String {
    let text = kind.to_string();
    text.split(['(', '<', '{', '[']).next().unwrap_or_default().trim().to_owned()
}

fn cell(array: &dyn Array, at: usize) -> Cell<'_> {
    if at >= array.len() || array.is_null(at) {
        return Cell::Null;
    }
    match array.data_type() {
        DataType::Boolean => Cell::Integer(i128::from(array.as_boolean().value(at))),
        DataType::Int8 => Cell::Integer(array.as_primitive::<Int8Type>().value(at).into()),
        DataType::Int16 => Cell::Integer(array.as_primitive::<Int16Type>().value(at).into()),
        DataType::Int32 => Cell::Integer(array.as_primitive::<Int32Type>().value(at).into()),
        DataType::Int64 => Cell::Integer(array.as_primitive::<Int64Type>().value(at).into()),
        DataType::UInt8 => Cell::Integer(array.as_primitive::<UInt8Type>().value(at).into()),
        DataType::UInt16 => Cell::Integer(array.as_primitive::<UInt16Type>().value(at).into()),
        DataType::UInt32 => Cell::Integer(array.as_primitive::<UInt32Type>().value(at).into()),
        DataType::UInt64 => Cell::Integer(array.as_primitive::<UInt64Type>().value(at).into()),
        DataType::Float16 => Cell::Number(array.as_primitive::<Float16Type>().value(at).to_f64()),
        DataType::Float32 => Cell::Number(array.as_primitive::<Float32Type>().value(at).into()),
        DataType::Float64 => Cell::Number(array.as_primitive::<Float64Type>().value(at)),
        DataType::Utf8 => Cell::Text(array.as_string::<i32>().value(at)),
        DataType::LargeUtf8 => Cell::Text(array.as_string::<i64>().value(at)),
        DataType::Utf8View => Cell::Text(array.as_string_view().value(at)),
        DataType::Dictionary(key, _) => match **key {
            DataType::Int8 => entry::<Int8Type>(array, at),
            DataType::Int16 => entry::<Int16Type>(array, at),
            DataType::Int32 => entry::<Int32Type>(array, at),
            DataType::Int64 => entry::<Int64Type>(array, at),
            DataType::UInt8 => entry::<UInt8Type>(array, at),
            DataType::UInt16 => entry::<UInt16Type>(array, at),
            DataType::UInt32 => entry::<UInt32Type>(array, at),
            DataType::UInt64 => entry::<UInt64Type>(array, at),
            _ => Cell::Null,
        },
        // Types that are not read reach this only in ignored columns.
        _ => Cell::Null,
    }
}

fn entry<K: ArrowDictionaryKeyType>(array: &dyn Array, at: usize) -> Cell<'_> {
    let dictionary = array.as_dictionary::<K>();
    dictionary.key(at).map_or(Cell::Null, |key| cell(dictionary.values().as_ref(), key))
}
