//! Arrays of numbers in binary files: what NPY and IDX have in common.

use std::io::{self, BufRead, Read};

use crate::budget::Budget;
use crate::cell::Cell;
use crate::error::{Fault, Place, ReadError, Spot, fault, inexact_name, within};
use crate::format::pixels::{by_channel, gather};
use crate::image::ImageShape;
use crate::limits::Limits;
use crate::numbers::Numbers;
use crate::source::read_all;

/// The type of one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
    /// Characters of four bytes, padded with zeros.
    Unicode(u32),
    /// Bytes, padded with zeros.
    Bytes(u32),
}

impl Element {
    /// Returns how many bytes an element has.
    pub(crate) fn size(self) -> u64 {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::F16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::Unicode(characters) => u64::from(characters) * 4,
            Self::Bytes(bytes) => u64::from(bytes),
        }
    }

    fn is_text(self) -> bool {
        matches!(self, Self::Unicode(_) | Self::Bytes(_))
    }
}

/// The order of bytes in an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

/// What the elements of an array are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Features: columns, or images with this order of axes.
    Features(Axes),
    /// So many labels for each row.
    Labels(usize),
    /// An id, a subject or a weight for each row.
    Key,
}

/// What the axes behind the first are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axes {
    /// Any number of them, joined: rows of an IDX file.
    Joined,
    /// Columns, or an image by height and width, with channels before these.
    ChannelsFirst,
    /// Columns, or an image by height and width, with channels behind these, which rows have in front.
    ChannelsLast,
}

impl Role {
    /// Refuses arrays of another shape or type.
    fn check(self, header: &ArrayHeader) -> Result<(), Fault> {
        let (shape, is_text) = (&header.shape[..], header.element.is_text());
        match self {
            Self::Features(axes) => {
                let (got, most) = (shape.len(), if axes == Axes::Joined { usize::MAX } else { 4 });
                if !(2..=most).contains(&got) {
                    return Err(fault!(
                        "features must have 2 axes (rows, columns), or 3 (images, height, width) or 4 \
                         (images, height, width, channels), got {got}"
                    ));
                }
                match is_text {
                    true => Err(fault!("the elements are text, but features must be numbers")),
                    false => Ok(()),
                }
            }
            Self::Labels(labels) => {
                let fits = match *shape {
                    [_] => labels <= 1,
                    [_, columns] => columns == labels.max(1) as u64,
                    _ => false,
                };
                let named = match labels {
                    0 | 1 => "one label was named, or none".to_owned(),
                    labels => format!("{labels} labels were named"),
                };
                match (fits, labels > 1 && is_text) {
                    (false, _) => Err(fault!(
                        "the labels have shape {shape}, and {named}; each row has one label, or \
                         several numbers that are learnt together, named in their order with `§label` \
                         once for each",
                        shape = header.shape_text()
                    )),
                    (true, true) => Err(fault!(
                        "several labels are numbers to predict together, and these are text"
                    )),
                    (true, false) => Ok(()),
                }
            }
            Self::Key if matches!(shape, [_] | [_, 1]) => Ok(()),
            Self::Key => Err(fault!(
                "ids, subjects and weights must have one value per row, got shape {}",
                header.shape_text()
            )),
        }
    }
}

/// The shape, type and order that a header states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArrayHeader {
    pub(crate) shape: Vec<u64>,
    pub(crate) element: Element,
    pub(crate) endian: Endian,
    pub(crate) column_major: bool,
}

impl ArrayHeader {
    fn rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(1)
    }

    /// Returns the shape of each row, if it is an image.
    fn image(&self, role: Role) -> Option<ImageShape> {
        let Role::Features(axes) = role else { return None };
        let [channels, height, width] = match (axes, &self.shape[..]) {
            (_, &[_, height, width]) => [1, height, width],
            (Axes::ChannelsFirst, &[_, channels, height, width])
            | (Axes::ChannelsLast, &[_, height, width, channels]) => [channels, height, width],
            _ => return None,
        };
        let [channels, height, width] = [channels, height, width].map(u32::try_from);
        Some(ImageShape { channels: channels.ok()?, height: height.ok()?, width: width.ok()? })
    }

    fn shape_text(&self) -> String {
        let axes: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        format!("({})", axes.join(", "))
    }
}

/// An open array, one row at a time.
pub(crate) struct ArrayRows<'r> {
    file: String,
    input: Box<dyn BufRead + 'r>,
    element: Element,
    endian: Endian,
    rows: u64,
    width: usize,
    row: u64,
    bytes: Vec<u8>,
    /// The numbers of an image as they lie in the file, if rows have them in another order.
    pixels: Vec<u8>,
    /// All bytes of an array stored column by column.
    columns: Option<Vec<u8>>,
    text: String,
    /// The numbers of the row in the precision of the file.
    singles: Vec<f32>,
    doubles: Vec<f64>,
    /// The shape of each row, if it is an image.
    image: Option<ImageShape>,
    /// Whether the numbers of an image lie in another order in the file than in rows.
    reordered: bool,
}

impl<'r> ArrayRows<'r> {
    /// Opens the array whose header was read from `input`.
    pub(crate) fn open(
        file: &str,
        header: &ArrayHeader,
        input: Box<dyn BufRead + 'r>,
        role: Role,
        limits: &Limits,
        budget: &Budget,
    ) -> Result<Self, Fault> {
        role.check(header)?;
        let (rows, size) = (header.rows(), header.element.size());
        let product =
            |axes: &[u64]| axes.iter().try_fold(1_u64, |all, &axis| all.checked_mul(axis));
        let too_large = || fault!("the shape has more than 2^64 elements");
        let width = product(header.shape.get(1..).unwrap_or_default()).ok_or_else(too_large)?;
        within("rows", rows, limits.rows)?;
        within("columns", width, u64::from(limits.columns))?;
        within("bytes in one field", size, u64::from(limits.field_bytes))?;
        budget.features(width)?;
        let total = product(&[width, size, rows]).ok_or_else(too_large)?;
        let mut array = Self {
            file: file.to_owned(),
            input,
            element: header.element,
            endian: header.endian,
            rows,
            width: width as usize,
            row: 0,
            bytes: Vec::new(),
            pixels: Vec::new(),
            columns: None,
            text: String::new(),
            singles: Vec::new(),
            doubles: Vec::new(),
            image: header.image(role),
            reordered: false,
        };
        let channels = array.image.map_or(1, |image| image.channels);
        array.reordered = array.image.is_some() && header.column_major
            || role == Role::Features(Axes::ChannelsLast) && channels > 1;
        if header.column_major && width > 1 && (rows > 1 || array.reordered) {
            let all = read_all(&mut array.input, total, 1, budget);
            let all = array.whole(all, total)?;
            array.columns = Some(all);
        }
        Ok(array)
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Returns the shape of each row, if it is an image.
    pub(crate) fn image(&self) -> Option<ImageShape> {
        self.image
    }

    /// Returns how many rows there are.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Checks that this array has as many rows as the features.
    pub(crate) fn expect_rows(&self, expected: u64) -> Result<(), ReadError> {
        let got = self.rows;
        if got == expected {
            return Ok(());
        }
        Err(ReadError::of_file(&self.file, fault!("{got} rows, but the features have {expected}")))
    }

    /// Goes to the next row; `false` after the last, which must also end the file.
    pub(crate) fn advance(&mut self) -> Result<bool, ReadError> {
        if self.row == self.rows {
            let more =
                self.input.fill_buf().map_err(|error| ReadError::of_file(&self.file, error))?;
            return if more.is_empty() {
                Ok(false)
            } else {
                let fault = fault!(
                    "the file has extra bytes after the {rows} rows that its header declares",
                    rows = self.rows
                );
                Err(ReadError::of_file(&self.file, fault))
            };
        }
        let size = self.element.size() as usize;
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        let (rows, row) = (self.rows as usize, self.row as usize);
        match (&self.columns, self.image.filter(|_| self.reordered)) {
            (None, None) => self.fill(&mut bytes, (self.width * size) as u64)?,
            (None, Some(image)) => {
                let mut pixels = std::mem::take(&mut self.pixels);
                pixels.clear();
                self.fill(&mut pixels, (self.width * size) as u64)?;
                let places = by_channel(image).map(|at| at.in_rows(image));
                gather(&pixels, places, size, &mut bytes);
                self.pixels = pixels;
            }
            (Some(all), None) => {
                let places = (0..self.width).map(|column| column * rows + row);
                gather(all, places, size, &mut bytes);
            }
            (Some(all), Some(image)) => {
                let places = by_channel(image).map(|at| at.in_columns(image) * rows + row);
                gather(all, places, size, &mut bytes);
            }
        }
        self.bytes = bytes;
        self.row += 1;
        Ok(true)
    }

    /// Returns the row read last, counted from 0.
    pub(crate) fn spot(&self) -> Spot {
        Spot::Row(self.row.saturating_sub(1))
    }

    /// Returns the numbers of the row.
    pub(crate) fn numbers(&mut self) -> Numbers<'_> {
        if (self.element, self.endian) == (Element::F32, Endian::Little) {
            let numbers = self.bytes.as_chunks::<4>().0.iter();
            self.singles.clear();
            self.singles.extend(numbers.map(|bytes| f32::from_le_bytes(*bytes)));
            return Numbers::Single(&self.singles);
        }
        self.doubles.clear();
        decode(self.element, self.endian, &self.bytes, &mut self.doubles);
        Numbers::Double(&self.doubles)
    }

    /// Returns the value of the row in a column counted from 0.
    pub(crate) fn value(&mut self, column: usize) -> Result<Cell<'_>, ReadError> {
        let size = self.element.size() as usize;
        let bytes = self.bytes.get(column * size..(column + 1) * size).unwrap_or_default();
        let integer = |negative: bool| {
            let mut wide = [if negative { 0xff } else { 0 }; 16];
            for (place, &byte) in wide.iter_mut().zip(ordered(self.endian, bytes)) {
                *place = byte;
            }
            Cell::Integer(i128::from_le_bytes(wide))
        };
        let top = ordered(self.endian, bytes).last().copied().unwrap_or(0);
        Ok(match self.element {
            Element::U8 | Element::U16 | Element::U32 | Element::U64 => integer(false),
            Element::Bool => Cell::Truth(top != 0),
            Element::I8 | Element::I16 | Element::I32 | Element::I64 => integer(top >= 0x80),
            Element::F16 | Element::F32 | Element::F64 => {
                let mut one = Vec::with_capacity(1);
                decode(self.element, self.endian, bytes, &mut one);
                Cell::Number(one.first().copied().unwrap_or(f64::NAN))
            }
            Element::Unicode(_) | Element::Bytes(_) => {
                match text(self.element, self.endian, bytes) {
                    Some(text) => self.text = text,
                    None => {
                        let place = Place::new(&self.file, self.spot());
                        return Err(ReadError::at(
                            place,
                            fault!("the string is not valid Unicode"),
                        ));
                    }
                }
                Cell::Text(&self.text)
            }
        })
    }

    /// Returns the single value of the row of a column of names.
    pub(crate) fn name(&mut self) -> Result<Cell<'_>, ReadError> {
        let digits = match self.element {
            Element::F16 => 11,
            Element::F32 => f32::MANTISSA_DIGITS,
            _ => f64::MANTISSA_DIGITS,
        };
        let place = Place::new(&self.file, self.spot());
        let name = self.value(0)?.naming(digits);
        name.map_err(|value| ReadError::at(place, inexact_name(value, digits)))
    }

    /// Reads exactly `wanted` bytes; memory grows only with what arrives.
    fn fill(&mut self, bytes: &mut Vec<u8>, wanted: u64) -> Result<(), ReadError> {
        let read = (&mut self.input).take(wanted).read_to_end(bytes);
        let whole = self.whole(read.map(|_| std::mem::take(bytes)), wanted);
        *bytes = whole.map_err(|fault| ReadError::of_file(&self.file, fault))?;
        Ok(())
    }

    /// Returns the bytes read, if they are `wanted` many.
    fn whole(&self, read: io::Result<Vec<u8>>, wanted: u64) -> Result<Vec<u8>, Fault> {
        match read {
            Ok(bytes) if bytes.len() as u64 == wanted => return Ok(bytes),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
            Err(error) => return Err(error.into()),
        }
        let row_bytes = (self.width as u64 * self.element.size()).max(1);
        let row = if wanted > row_bytes { self.rows.saturating_sub(1) } else { self.row };
        let rows = self.rows;
        Err(fault!("the file ends within row:{row}, and its header declares {rows} rows"))
    }
}

fn ordered(endian: Endian, bytes: &[u8]) -> impl DoubleEndedIterator<Item = &u8> {
    let (forward, backward) = match endian {
        Endian::Little => (bytes, &[][..]),
        Endian::Big => (&[][..], bytes),
    };
    forward.iter().chain(backward.iter().rev())
}

/// Returns the elements in `N` bytes each.
fn each<const N: usize>(
    endian: Endian,
    bytes: &[u8],
    out: &mut Vec<f64>,
    value: impl Fn([u8; N]) -> f64,
) {
    let (elements, _) = bytes.as_chunks::<N>();
    match endian {
        Endian::Little => out.extend(elements.iter().map(|&element| value(element))),
        Endian::Big => out.extend(elements.iter().map(|&element| {
            let mut element = element;
            element.reverse();
            value(element)
        })),
    }
}

pub(crate) fn decode(element: Element, endian: Endian, bytes: &[u8], out: &mut Vec<f64>) {
    match element {
        Element::F16 => each(endian, bytes, out, |b| half(u16::from_le_bytes(b))),
        Element::F32 => each(endian, bytes, out, |b| f64::from(f32::from_le_bytes(b))),
        Element::F64 => each(endian, bytes, out, f64::from_le_bytes),
        Element::I8 => each(endian, bytes, out, |b| f64::from(i8::from_le_bytes(b))),
        Element::I16 => each(endian, bytes, out, |b| f64::from(i16::from_le_bytes(b))),
        Element::I32 => each(endian, bytes, out, |b| f64::from(i32::from_le_bytes(b))),
        Element::I64 => each(endian, bytes, out, |b| i64::from_le_bytes(b) as f64),
        Element::U8 => each(endian, bytes, out, |b| f64::from(u8::from_le_bytes(b))),
        Element::U16 => each(endian, bytes, out, |b| f64::from(u16::from_le_bytes(b))),
        Element::U32 => each(endian, bytes, out, |b| f64::from(u32::from_le_bytes(b))),
        Element::U64 => each(endian, bytes, out, |b| u64::from_le_bytes(b) as f64),
        Element::Bool => each(endian, bytes, out, |[b]: [u8; 1]| f64::from(u8::from(b != 0))),
        Element::Unicode(_) | Element::Bytes(_) => {}
    }
}

/// Returns the value of a half-precision number (IEEE 754 binary16), exact.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let fraction = f64::from(bits & 0x3ff);
    match (bits >> 10) & 0x1f {
        0 => sign * fraction * 2.0_f64.powi(-24),
        0x1f if fraction == 0.0 => sign * f64::INFINITY,
        0x1f => f64::NAN,
        exponent => sign * (1024.0 + fraction) * 2.0_f64.powi(i32::from(exponent) - 25),
    }
}

fn text(element: Element, endian: Endian, bytes: &[u8]) -> Option<String> {
    let padded = match element {
        Element::Unicode(_) => bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&character| {
                char::from_u32(match endian {
                    Endian::Little => u32::from_le_bytes(character),
                    Endian::Big => u32::from_be_bytes(character),
                })
            })
            .collect::<Option<String>>()?,
        _ => String::from_utf8(bytes.to_vec()).ok()?,
    };
    Some(padded.trim_end_matches('\0').to_owned())
}
