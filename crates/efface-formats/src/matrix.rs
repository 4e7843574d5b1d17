//! Tables without column names: what NPY, NPZ and IDX have in common.

use crate::cell::Cell;
use crate::delivery::{Admission, Delivery, Keys};
use crate::error::{Fault, Place, ReadError, Spot, fault, other_width};
use crate::fitted::{Frame, FrameRequest, RawWriter};
use crate::format::arrays::ArrayRows;
use crate::format::idx;
use crate::input::Format;
use crate::raw_rows::{array_frame, not_an_array};
use crate::schema::{Body, Matrix, Origin, RowEncoder, Schema, Storage};
use crate::summary::Summary;

/// The arrays of one table.
pub(crate) struct Arrays<'r> {
    pub(crate) features: ArrayRows<'r>,
    /// Labels, where they are read: one array, of one column or several, or an array for each label.
    pub(crate) labels: Vec<ArrayRows<'r>>,
    /// Ids, subjects and weights, where they are read.
    pub(crate) columns: [Option<ArrayRows<'r>>; 3],
}

impl Arrays<'_> {
    fn beside(&self) -> impl Iterator<Item = &ArrayRows<'_>> {
        self.labels.iter().chain(self.columns.iter().flatten())
    }

    fn end(&mut self) -> Result<(), ReadError> {
        let columns = self.columns.iter_mut().flatten();
        self.labels.iter_mut().chain(columns).try_for_each(|column| column.advance().map(|_| ()))
    }
}

/// The labels of the next row by name.
fn labelled<'a>(
    labels: &'a mut [ArrayRows<'_>],
    names: &'a [String],
    numbers: &mut Vec<f64>,
) -> Result<Vec<(&'a str, Cell<'a>)>, ReadError> {
    labels.iter_mut().try_for_each(|array| array.advance().map(|_| ()))?;
    let name = names.iter().map(String::as_str);
    if let [wide] = labels
        && names.len() > 1
    {
        wide.numbers(numbers);
        return Ok(name.zip(numbers.iter().map(|&number| Cell::Number(number))).collect());
    }
    name.zip(labels).map(|(name, array)| Ok((name, array.value()?))).collect()
}

/// Judges the labels of the next row.
fn admit(
    delivery: &mut Delivery<'_>,
    spot: Spot,
    labels: &mut [ArrayRows<'_>],
    names: &[String],
    numbers: &mut Vec<f64>,
) -> Result<Admission, ReadError> {
    if let ([array], [name]) = (&mut *labels, names) {
        array.advance()?;
        return delivery.admit(spot, [(name.as_str(), array.value()?)]);
    }
    delivery.admit(spot, labelled(labels, names, numbers)?)
}

/// What names the next row.
fn keys<'a>(columns: &'a mut [Option<ArrayRows<'_>>; 3]) -> Result<Keys<'a>, ReadError> {
    let [id, subject, weight] = columns;
    let (id, subject) = (step(id, ArrayRows::name)?, step(subject, ArrayRows::name)?);
    Ok(Keys { id, subject, weight: step(weight, ArrayRows::value)? })
}

/// The schema of an array that comes without one.
pub(crate) fn implied(width: usize, divide: f64) -> Matrix {
    Matrix { width: width as u32, origin: Origin::Default, first: 0, divide }
}

/// Refuses numbers that are no bytes, where the model learnt from bytes of images: they were divided
/// by 255 already, or are none; what is missing is left to others. Errs with the place of the number
/// at fault.
pub(crate) fn check_bytes(divide: f64, numbers: &[f64]) -> Result<(), (usize, Fault)> {
    if divide != idx::BYTE {
        return Ok(());
    }
    let whole = |number: &f64| {
        number.is_nan() || number.fract() == 0.0 && (0.0..=idx::BYTE).contains(number)
    };
    let at = numbers.iter().position(|number| !whole(number));
    at.map_or(Ok(()), |at| Err((at, fault!(
        "{got} is no byte, and the model learnt from the bytes of images, 0 to 255, which it \
         divides by 255 itself: give them as they are",
        got = numbers[at]
    ))))
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
        return Err(ReadError::at(Place::file(file), fault!("no feature columns are left")));
    }
    for column in arrays.beside() {
        column.expect_rows(&arrays.features)?;
    }
    let names = delivery.options.label_names("y")?;
    if let Some(request) = &delivery.options.frame {
        return deliver_raw(arrays, divide, format, delivery, request, names);
    }
    let schema = match &delivery.options.schema {
        Some(schema) => schema.clone(),
        None => Schema::matrix(implied(width, divide))?,
    };
    let divide = match schema.body() {
        Body::Matrix(matrix) => matrix.divide,
        Body::Columns { .. } => 1.0,
    };
    let encoder = RowEncoder::new(&schema);
    let columns = encoder.columns();
    if width != columns.len() {
        let (got, expected) = (width as u64, columns.len() as u64);
        return Err(ReadError::at(Place::file(file), other_width(got, expected)));
    }
    delivery.begin_images(
        schema.feature_names(),
        schema.storage() == Storage::Sparse,
        arrays.features.image(),
    )?;
    let mut row = encoder.buffer();
    let (mut numbers, mut singles) = (Vec::new(), Vec::new());
    let copies = encoder.copies();
    while arrays.features.advance()? {
        let spot = arrays.features.spot();
        let keys = keys(&mut arrays.columns)?;
        let Admission::Kept(label) =
            admit(&mut delivery, spot, &mut arrays.labels, &names, &mut numbers)?
        else {
            continue;
        };
        let copied =
            copies && arrays.features.singles(&mut singles) && row.take(singles.iter().copied());
        if !copied {
            // The encoder says which number is at fault.
            arrays.features.numbers(&mut numbers);
            let here = |column, fault: Fault| {
                let name = columns.name(column).unwrap_or_default();
                ReadError::at(Place::new(file, spot).column(name), fault)
            };
            check_bytes(divide, &numbers).map_err(|(column, found)| here(column, found))?;
            encoder
                .encode_numbers(&numbers, &mut row)
                .map_err(|(column, found)| here(column, found.into()))?;
        }
        delivery.deliver(spot, &mut row, label, &keys)?;
    }
    arrays.end()?;
    Ok(delivery.finish(format, schema)?.with_targets(names))
}

/// Hands over all rows as they are.
fn deliver_raw(
    mut arrays: Arrays<'_>,
    divide: f64,
    format: Format,
    mut delivery: Delivery<'_>,
    request: &FrameRequest,
    names: Vec<String>,
) -> Result<Summary, ReadError> {
    let file = delivery.file();
    let width = arrays.features.width();
    let made = Frame::Matrix { width: width as u32, first: 0, sparse: false, divide };
    let frame = array_frame(file, request, delivery.options.schema.as_ref(), made)?;
    let schema = Schema::matrix(implied(width, divide))?;
    let Frame::Matrix { sparse, divide, .. } = frame else { return Err(not_an_array(file)) };
    let columns = frame.feature_columns();
    delivery.begin(columns.clone(), sparse)?;
    let mut row = RawWriter::default();
    let (mut numbers, mut singles) = (Vec::new(), Vec::new());
    let copies = !sparse && divide == 1.0;
    while arrays.features.advance()? {
        let spot = arrays.features.spot();
        let keys = keys(&mut arrays.columns)?;
        let Admission::Kept(label) =
            admit(&mut delivery, spot, &mut arrays.labels, &names, &mut numbers)?
        else {
            continue;
        };
        delivery.begin_raw(spot, label, &mut row)?;
        if !(copies && arrays.features.singles(&mut singles) && row.singles(&singles)) {
            // What follows says which number is at fault.
            arrays.features.numbers(&mut numbers);
            let here = |column: usize, fault| {
                let name = columns.name(column).unwrap_or_default();
                ReadError::at(Place::new(file, spot).column(name), fault)
            };
            check_bytes(divide, &numbers).map_err(|(column, found)| here(column, found))?;
            row.numbers(numbers.iter().copied(), sparse)
                .map_err(|(column, found)| here(column as usize, found))?;
        }
        delivery.deliver_raw(spot, &row, label, &keys)?;
    }
    arrays.end()?;
    Ok(delivery.finish_raw(format, schema, frame)?.with_targets(names))
}

fn step<'a, 'r>(
    column: &'a mut Option<ArrayRows<'r>>,
    value: fn(&'a mut ArrayRows<'r>) -> Result<Cell<'a>, ReadError>,
) -> Result<Option<Cell<'a>>, ReadError> {
    let Some(column) = column else { return Ok(None) };
    column.advance()?;
    value(column).map(Some)
}
