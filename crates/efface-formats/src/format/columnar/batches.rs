//! Record batches as a table of named columns.

use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Float16Type, Float32Type, Float64Type,
};
use arrow_array::{
    Array, ArrayRef, RecordBatch, StringArray, downcast_integer_array, downcast_temporal_array,
};
use arrow_schema::{
    ArrowError, DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit as ArrowUnit,
};

use super::{arrow, broken, parquet};
use crate::cell::Cell;
use crate::error::{Fault, Place, ReadError, Spot, fault, within};
use crate::fitted::{Declared, Frame, FrameRequest};
use crate::input::Format;
use crate::options::ReadOptions;
use crate::rows::Cells;
use crate::schema::Kind;
use crate::source::Source;
use crate::table::{Table, Unread};
use crate::time::TimeUnit;

/// Rows decoded at a time, at most.
pub(super) const BATCH_ROWS: usize = 1024;

/// An open columnar file.
pub(super) struct Batches {
    pub(super) schema: SchemaRef,
    /// The place of each column of the schema in a batch; `None` for columns left out.
    pub(super) places: Vec<Option<usize>>,
    pub(super) next: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>,
}

impl Batches {
    /// Batches of all columns.
    pub(super) fn whole(
        schema: SchemaRef,
        next: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>,
    ) -> Self {
        let places = (0..schema.fields().len()).map(Some).collect();
        Self { schema, places, next }
    }

    /// Leaves out columns by their names; returns the first of them.
    fn leave_out(&mut self, is_left_out: impl Fn(&str) -> bool) -> Option<String> {
        let fields = self.schema.fields().clone();
        let found = fields.iter().find(|field| is_left_out(field.name()))?.name().clone();
        let places = std::mem::take(&mut self.places);
        let kept = fields.iter().zip(places).filter(|(field, _)| !is_left_out(field.name()));
        let (fields, places): (Vec<FieldRef>, _) =
            kept.map(|(field, place)| (field.clone(), place)).unzip();
        (self.schema, self.places) = (Schema::new(fields).into(), places);
        Some(found)
    }
}

/// A columnar file as a table.
pub(crate) struct ColumnarTable {
    file: String,
    names: Vec<String>,
    batches: Batches,
    batch: Option<RecordBatch>,
    /// The columns of the batch that hold bytes, as texts.
    texts: Vec<Option<ArrayRef>>,
    /// Columns whose bytes may be anything, as they are not read.
    any_bytes: Vec<String>,
    /// The row of the batch, counted from 0.
    at: usize,
    position: u64,
    /// A column that pandas made of an index without a name, if it is left out.
    index_left_out: Option<String>,
}

/// Opens a Parquet or Arrow file.
pub(crate) fn open(
    source: &mut Source<'_>,
    format: Format,
    options: &ReadOptions,
    unread: Unread,
) -> Result<ColumnarTable, ReadError> {
    let file = source.name().to_owned();
    let (limits, budget) = (&options.limits, source.budget().clone());
    let times = options.frame.is_some();
    let is_read = |field: &Field| is_read(field.data_type()) || times && is_time(field.data_type());
    let wanted = |field: &Field| {
        is_read(field) && !is_ignored(field.name(), options) && !is_index(field.name(), options)
    };
    let mut batches = guarded(&file, || match format {
        Format::Parquet => parquet::open(source, limits, &wanted),
        _ => arrow::open(source, limits),
    })?;
    let index_left_out = batches.leave_out(|name| is_index(name, options));
    let fields = batches.schema.fields();
    within("columns", fields.len() as u64, u64::from(limits.columns))
        .map_err(|fault| ReadError::of_file(&file, fault))?;
    budget.columns(fields.len()).map_err(|fault| ReadError::of_file(&file, fault))?;
    let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    for field in fields {
        let is_refused = !is_read(field) && !is_ignored(field.name(), options);
        if unread == Unread::Refused && is_refused {
            let column = crate::cell::quoted(field.name());
            let kind = kind(field.data_type());
            let store = "store it as numbers, booleans or text";
            let fault = match options.roles().any(|(role, _)| role == field.name()) {
                true => fault!("columns of type {kind} are not supported; {store}"),
                false => fault!(
                    "columns of type {kind} are not supported; leave this one out with `§ignore \
                     {column}`, or {store}"
                ),
            };
            return Err(ReadError::at(Place::file(&file).column(field.name()), fault));
        }
    }
    let is_any = |name: &&String| unread == Unread::Empty || is_ignored(name, options);
    let any_bytes = names.iter().filter(is_any).cloned().collect();
    Ok(ColumnarTable {
        file,
        names,
        batches,
        batch: None,
        texts: Vec::new(),
        any_bytes,
        at: 0,
        position: 0,
        index_left_out,
    })
}

impl ColumnarTable {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ReadError> {
        let Self { file, batches, any_bytes, .. } = self;
        let Some(batch) = guarded(file, || {
            batches.next.next().transpose().map_err(|error| ReadError::of_file(file, broken(error)))
        })?
        else {
            return Ok(None);
        };
        let fields = batch.schema();
        let texts = batch.columns().iter().zip(fields.fields()).map(|(array, field)| {
            let place = || Place::file(&*file).column(field.name());
            match in_text(array) {
                Err(_) if any_bytes.contains(field.name()) => Ok(None),
                text => text.map_err(|fault| ReadError::at(place(), fault)),
            }
        });
        self.texts = texts.collect::<Result<_, _>>()?;
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
        Spot::Row(self.position.saturating_sub(1))
    }

    fn unread(&self, column: usize) -> Option<String> {
        let field = self.batches.schema.fields().get(column)?;
        (!is_read(field.data_type())).then(|| kind(field.data_type()))
    }

    fn index_left_out(&self) -> Option<String> {
        self.index_left_out.clone()
    }

    fn declared(&self, column: usize) -> Option<Declared> {
        // One text among numbers or times would have changed their type: the remaining cells decide.
        let kind = self.batches.schema.fields().get(column)?.data_type();
        matches!(kind, DataType::Dictionary(..)).then_some(Declared::Category)
    }

    fn digits(&self, column: usize) -> u32 {
        let field = self.batches.schema.fields().get(column);
        field.map_or(f64::MANTISSA_DIGITS, |field| digits(field.data_type()))
    }
}

impl Cells for ColumnarTable {
    fn cell(&self, column: usize) -> Cell<'_> {
        let place = self.batches.places.get(column).copied().flatten();
        let array = self.batch.as_ref().zip(place).and_then(|(batch, at)| {
            self.texts.get(at).and_then(Option::as_ref).or_else(|| batch.columns().get(at))
        });
        array.map_or(Cell::Null, |array| cell(array.as_ref(), self.at))
    }
}

/// Runs the decoder; a panic inside it, which damaged files have caused before, is an error.
fn guarded<T>(file: &str, decoder: impl FnOnce() -> Result<T, ReadError>) -> Result<T, ReadError> {
    let decoded = std::panic::catch_unwind(AssertUnwindSafe(decoder));
    let damaged = |_| ReadError::of_file(file, broken("the file is damaged or inconsistent"));
    decoded.unwrap_or_else(|panic| Err(damaged(panic)))
}

fn is_ignored(name: &str, options: &ReadOptions) -> bool {
    let in_schema = options.schema.as_ref().is_some_and(|schema| {
        schema.columns().iter().any(|column| column.name == name && column.kind == Kind::Ignored)
    });
    in_schema || options.ignore.iter().any(|ignored| ignored == name) || is_beyond(name, options)
}

/// Returns whether pandas made the column of an index without a name, and no option gives it a role: it
/// numbers rows, and is left out as in a CSV file. This looks at names alone, so that no record decides it.
fn is_index(name: &str, options: &ReadOptions) -> bool {
    let level = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    let is_made = level.is_some_and(|level| level.parse::<u32>().is_ok());
    let in_schema =
        |schema: &crate::schema::Schema| schema.columns().iter().any(|column| column.name == name);
    is_made
        && !matches!(&options.frame, Some(FrameRequest::Given(_)))
        && !options.schema.as_ref().is_some_and(in_schema)
        && !options.roles().any(|(role, _)| role == name)
}

/// Returns whether a given frame has no use for a column.
fn is_beyond(name: &str, options: &ReadOptions) -> bool {
    let Some(FrameRequest::Given(Frame::Columns(frame))) = &options.frame else { return false };
    !frame.iter().any(|column| column.name == name)
        && !options.roles().any(|(role, _)| role == name)
        && options.usual_id.as_deref() != Some(name)
}

/// Returns the binary digits of a float.
fn digits(kind: &DataType) -> u32 {
    match kind {
        DataType::Dictionary(_, values) => digits(values),
        DataType::Float16 => 11,
        DataType::Float32 => f32::MANTISSA_DIGITS,
        _ => f64::MANTISSA_DIGITS,
    }
}

/// Returns whether a column holds days or times, which raw rows have room for.
fn is_time(kind: &DataType) -> bool {
    matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
}

fn is_read(kind: &DataType) -> bool {
    match kind {
        DataType::Null
        | DataType::Boolean
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(16)
        | DataType::Duration(_)
        | DataType::Time32(_)
        | DataType::Time64(_) => true,
        DataType::Dictionary(_, values) => {
            is_read(values) && !matches!(**values, DataType::Dictionary(..))
        }
        kind => kind.is_integer() || kind.is_floating() || kind.is_decimal() || kind.is_string(),
    }
}

/// Returns a column of bytes as texts: UUIDs as they are usually written, other bytes as UTF-8; `None` for
/// other columns.
fn in_text(array: &ArrayRef) -> Result<Option<ArrayRef>, Fault> {
    fn texts<'a>(bytes: impl Iterator<Item = Option<&'a [u8]>>) -> Result<Option<ArrayRef>, Fault> {
        let text = |bytes: Option<&'a [u8]>| {
            bytes.map(str::from_utf8).transpose().map_err(|_| {
                fault!("the bytes are not UTF-8, and bytes of other kinds are no values; store them as text")
            })
        };
        let found: StringArray = bytes.map(text).collect::<Result<_, _>>()?;
        Ok(Some(Arc::new(found)))
    }
    match array.data_type() {
        DataType::Binary => texts(array.as_binary::<i32>().iter()),
        DataType::LargeBinary => texts(array.as_binary::<i64>().iter()),
        DataType::BinaryView => texts(array.as_binary_view().iter()),
        DataType::FixedSizeBinary(16) => {
            let uuids = array.as_fixed_size_binary().iter().map(|bytes| bytes.map(uuid));
            Ok(Some(Arc::new(uuids.collect::<StringArray>())))
        }
        _ => Ok(None),
    }
}

/// Returns the text of a UUID: `00000000-0000-0000-0000-000000000001`.
fn uuid(bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let groups = [0..8, 8..12, 12..16, 16..20, 20..32];
    groups.map(|group| hex.get(group).unwrap_or_default()).join("-")
}

/// Returns the type's name, without what is nested in it.
fn kind(kind: &DataType) -> String {
    let text = kind.to_string();
    text.split(['(', '<', '{', '[']).next().unwrap_or_default().trim().to_owned()
}

fn cell(array: &dyn Array, at: usize) -> Cell<'_> {
    if at >= array.len() || array.is_null(at) {
        return Cell::Null;
    }
    downcast_integer_array!(
        array => Cell::Integer(array.value(at).into()),
        DataType::Boolean => Cell::Truth(array.as_boolean().value(at)),
        DataType::Float16 => Cell::Number(array.as_primitive::<Float16Type>().value(at).to_f64()),
        DataType::Float32 => Cell::Number(array.as_primitive::<Float32Type>().value(at).into()),
        DataType::Float64 => Cell::Number(array.as_primitive::<Float64Type>().value(at)),
        DataType::Utf8 => Cell::Text(array.as_string::<i32>().value(at)),
        DataType::LargeUtf8 => Cell::Text(array.as_string::<i64>().value(at)),
        DataType::Utf8View => Cell::Text(array.as_string_view().value(at)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            match cell(dictionary.keys(), at) {
                Cell::Integer(key) => cell(dictionary.values().as_ref(), key as usize),
                _ => Cell::Null,
            }
        }
        DataType::Decimal32(..) => decimal::<Decimal32Type>(array, at),
        DataType::Decimal64(..) => decimal::<Decimal64Type>(array, at),
        DataType::Decimal128(..) => decimal::<Decimal128Type>(array, at),
        DataType::Decimal256(..) => decimal::<Decimal256Type>(array, at),
        kind => match unit(kind) {
            Some(unit) if is_time(kind) => Cell::Time(unit.micros(count(array, at))),
            // Times of day and durations are seconds.
            Some(unit) => Cell::Number(unit.micros(count(array, at)) as f64 / 1e6),
            // Types that are not read reach this only in ignored columns.
            None => Cell::Null,
        },
    )
}

/// Returns a decimal number: a whole one as it is if it has no places, else the nearest there is.
fn decimal<T>(array: &dyn Array, at: usize) -> Cell<'static>
where
    T: DecimalType<Native: Display>,
{
    let array = array.as_primitive::<T>();
    let digits = array.value(at).to_string();
    match digits.parse() {
        Ok(whole) if array.scale() == 0 => Cell::Integer(whole),
        _ => {
            let spelled = format!("{digits}e{}", -i32::from(array.scale()));
            spelled.parse().map_or(Cell::Null, Cell::Number)
        }
    }
}

/// Returns what days, times, times of day and durations count.
fn unit(kind: &DataType) -> Option<TimeUnit> {
    match kind {
        DataType::Date32 => Some(TimeUnit::Day),
        DataType::Date64 => Some(TimeUnit::Millisecond),
        DataType::Timestamp(unit, _)
        | DataType::Duration(unit)
        | DataType::Time32(unit)
        | DataType::Time64(unit) => Some(match unit {
            ArrowUnit::Second => TimeUnit::Second,
            ArrowUnit::Millisecond => TimeUnit::Millisecond,
            ArrowUnit::Microsecond => TimeUnit::Microsecond,
            ArrowUnit::Nanosecond => TimeUnit::Nanosecond,
        }),
        _ => None,
    }
}

/// Returns how many of its units such a value is.
#[expect(clippy::useless_conversion, reason = "some of them have 32 bits")]
fn count(array: &dyn Array, at: usize) -> i64 {
    downcast_temporal_array!(
        array => array.value(at).into(),
        DataType::Duration(unit) => match unit {
            ArrowUnit::Second => array.as_primitive::<DurationSecondType>().value(at),
            ArrowUnit::Millisecond => array.as_primitive::<DurationMillisecondType>().value(at),
            ArrowUnit::Microsecond => array.as_primitive::<DurationMicrosecondType>().value(at),
            ArrowUnit::Nanosecond => array.as_primitive::<DurationNanosecondType>().value(at),
        },
        _ => 0,
    )
}
