//! From an input to the reader of its format.

use std::io::{self, Read};

use crate::budget::Budget;
use crate::delivery::Delivery;
use crate::error::{Fault, ReadError, fault, other_rows, other_shape, other_width};
use crate::fitted::{Frame, FrameRequest};
use crate::format::arrays::{ArrayRows, Axes, Role};
use crate::format::csv::CsvTable;
use crate::format::libsvm::{self, Base, LibsvmRows};
use crate::format::npz::Archive;
use crate::format::{idx, npy, npz, png, recognise};
use crate::image::BYTE;
use crate::input::{Format, Input};
use crate::matrix::{self, Arrays};
use crate::options::ReadOptions;
use crate::record::Sink;
use crate::rows;
use crate::schema::{Body, Matrix, Origin, Schema};
use crate::source::{Source, Stream};
use crate::summary::Summary;
use crate::table::{self, Table, Unread};

/// Reads a table row by row into `sink`.
///
/// One row is in memory at a time, except for column-major arrays and for archives and columnar
/// files on standard input, which are held as they are. What is kept, here and by the sink, is
/// counted against [`crate::Limits::memory_bytes`] and [`crate::Limits::expansion`] first.
/// After an error everything the sink was given is void: the fault may lie behind it.
pub fn read(
    input: &Input,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<Summary, ReadError> {
    let limits = &options.limits;
    let labels = input.labels.as_deref().map(|path| Source::path(path, limits));
    dispatch(Source::new(&input.path, limits), labels, input.format, options, sink)
}

/// Works as [`read`], from any reader; `name` stands for the file in messages.
///
/// The reader is read once, so LIBSVM needs a width.
pub fn read_from<'r>(
    name: &str,
    reader: impl Read + 'r,
    format: Option<Format>,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<Summary, ReadError> {
    let source = Source::reader(name, Box::new(reader), &options.limits);
    dispatch(source, None, format, options, sink)
}

/// An open input whose format is known.
pub(crate) enum Opened<'r> {
    /// A table of named columns.
    Table(Format, Box<dyn Table + 'r>),
    Stream(Format, Stream<'r>),
    /// A format that needs random access, not opened yet.
    Seekable(Format),
}

impl<'r> Opened<'r> {
    pub(crate) fn format(&self) -> Format {
        match self {
            Self::Table(format, _) | Self::Stream(format, _) | Self::Seekable(format) => *format,
        }
    }

    /// Opens the table, if the format has named columns.
    pub(crate) fn table(
        self,
        source: &mut Source<'r>,
        options: &ReadOptions,
        unread: Unread,
    ) -> Result<Self, ReadError> {
        match self {
            Self::Stream(format @ Format::Csv, stream) => {
                let table = CsvTable::open(source.name(), stream, options, source.budget())?;
                Ok(Self::Table(format, Box::new(table)))
            }
            #[cfg(feature = "parquet")]
            Self::Seekable(format @ (Format::Parquet | Format::ArrowIpc)) => {
                let table = crate::format::columnar::open(source, format, options, unread)?;
                Ok(Self::Table(format, Box::new(table)))
            }
            #[cfg(not(feature = "parquet"))]
            Self::Seekable(format @ (Format::Parquet | Format::ArrowIpc)) => {
                let _ = unread;
                let file = source.name();
                Err(fault!(
                    "{file}: this build does not read {format} files: it lacks the `parquet` feature"
                )
                .into())
            }
            opened => Ok(opened),
        }
    }
}

/// Finds the format by what was stated, by name or by content, in this order; else it is `otherwise`.
pub(crate) fn open<'r>(
    source: &mut Source<'r>,
    stated: Option<Format>,
    otherwise: Option<Format>,
    options: &ReadOptions,
) -> Result<Opened<'r>, ReadError> {
    let is_folder = source.as_path().is_some_and(|path| path.is_dir());
    match stated {
        None | Some(Format::Png) if is_folder => return Ok(Opened::Seekable(Format::Png)),
        Some(Format::Png) => {
            let error = io::Error::from(io::ErrorKind::NotADirectory);
            return Err(ReadError::of_file(source.name(), error));
        }
        _ => {}
    }
    let stream = source.open(&options.limits)?;
    if recognise::is_utf16(&stream.head) {
        return Err(ReadError::of_file(
            source.name(),
            fault!("the text is UTF-16; save the file as UTF-8 (in a spreadsheet: `CSV UTF-8`)"),
        ));
    }
    let format = stated
        .or_else(|| source.as_path().and_then(recognise::by_name))
        .or_else(|| recognise::by_content(&stream.head))
        .or(otherwise)
        .ok_or_else(|| {
            fault!(
                "{}: the format is recognised neither by name nor by content; say which it is \
                 with `§format`: csv, npy, npz, idx, libsvm, png, parquet or arrow",
                source.name()
            )
        })?;
    match format {
        Format::Npz | Format::Parquet | Format::ArrowIpc | Format::Png => {
            if source.as_path().is_none() {
                source.hold_stream(stream)?;
            }
            Ok(Opened::Seekable(format))
        }
        Format::Csv | Format::Npy | Format::Idx | Format::Libsvm => {
            Ok(Opened::Stream(format, stream))
        }
    }
}

fn dispatch(
    mut source: Source<'_>,
    labels: Option<Source<'_>>,
    stated: Option<Format>,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<Summary, ReadError> {
    let file = source.name().to_owned();
    let delivery = Delivery::new(&file, options, sink, source.budget().clone())?;
    let opened = open(&mut source, stated, None, options)?;
    check_options(&file, opened.format(), labels.is_some(), options)?;
    match opened.table(&mut source, options, Unread::Refused)? {
        Opened::Table(format, mut table) => table::deliver(&mut *table, format, delivery),
        Opened::Stream(Format::Libsvm, stream) => sparse_lines(&mut source, stream, delivery),
        Opened::Stream(format, stream) => array(stream, labels, format, delivery),
        Opened::Seekable(Format::Npz) => archive(&mut source, delivery),
        Opened::Seekable(_) => folder(&source, labels, delivery),
    }
}

/// Refuses options that the format has no use for.
fn check_options(
    file: &str,
    format: Format,
    labels_file: bool,
    options: &ReadOptions,
) -> Result<(), ReadError> {
    let named_columns = matches!(format, Format::Csv | Format::Parquet | Format::ArrowIpc);
    let named_arrays = format == Format::Npz;
    let bare = matches!(format, Format::Npy | Format::Idx);
    // If labels have no names, several are named by the option, in their order.
    let named_labels = !options.more_labels.is_empty() && (bare || format == Format::Libsvm);
    let fits = |option: &&str| match *option {
        "label" if named_labels => true,
        "label" | "id" | "subject" | "weight" => named_columns || named_arrays,
        "ignore" => named_columns,
        "width" | "zero-based" => format == Format::Libsvm,
        _ => named_arrays,
    };
    if format == Format::Png && !options.more_labels.is_empty() {
        return Err(fault!(
            "several labels are read from tables and arrays, not from {format} files"
        )
        .into());
    }
    let apart = bare || format == Format::Png;
    let labels = (labels_file && !apart).then_some("labels");
    if let Some(option) = options.stated().find(|option| !fits(option)).or(labels) {
        return Err(match format {
            Format::Png => ReadError::of_file(
                file,
                fault!("a folder is read as one of PNG images, to which `{option}` does not apply"),
            ),
            _ => fault!("`{option}` does not apply to {format} files").into(),
        });
    }
    if bare && options.label_required && !labels_file {
        return Err(fault!(
            "{format} files have no labels; give them in a file of their own, with `§labels`"
        )
        .into());
    }
    Ok(())
}

fn array(
    stream: Stream<'_>,
    labels: Option<Source<'_>>,
    format: Format,
    delivery: Delivery<'_>,
) -> Result<Summary, ReadError> {
    let (file, options, budget) = (delivery.file(), delivery.options, &delivery.budget);
    let (features, divide) = bare_array(file, stream, format, None, options, budget)?;
    let mut read = Vec::new();
    if let Some(mut source) = labels.filter(|_| options.label_required) {
        let stream = source.open(&options.limits)?;
        let format = if idx::recognise(&stream.head) { Format::Idx } else { Format::Npy };
        let role = Some(Role::Labels(options.labels_wanted()));
        read.push(bare_array(source.name(), stream, format, role, options, source.budget())?.0);
    }
    let arrays = Arrays { features, labels: read, columns: [None, None, None] };
    matrix::deliver(arrays, divide, format, delivery)
}

/// Returns an array in a file of its own, of features unless another role is given, and what features are
/// divided by without a schema.
pub(crate) fn bare_array<'r>(
    file: &str,
    mut stream: Stream<'r>,
    format: Format,
    role: Option<Role>,
    options: &ReadOptions,
    budget: &Budget,
) -> Result<(ArrayRows<'r>, f64), ReadError> {
    let limits = &options.limits;
    let (header, divide, axes) = match format {
        Format::Idx => {
            let header = idx::read_header(&mut stream.input);
            (header, idx::divisor as fn(&_) -> _, Axes::Joined)
        }
        _ => {
            let header = npy::read_header(&mut stream.input, limits);
            (header, idx::divisor_of_images as fn(&_) -> _, Axes::ChannelsLast)
        }
    };
    let opened = header.and_then(|header| {
        let role = role.unwrap_or(Role::Features(axes));
        let rows = ArrayRows::open(file, &header, stream.input, role, limits, budget)?;
        Ok((rows, divide(&header)))
    });
    opened.map_err(|fault| ReadError::of_file(file, fault))
}

fn folder(
    source: &Source<'_>,
    labels: Option<Source<'_>>,
    delivery: Delivery<'_>,
) -> Result<Summary, ReadError> {
    let png::Folder { images, labels, ids } = png::open(source, labels, delivery.options)?;
    let labels = labels.into_iter().collect();
    let arrays = Arrays { features: images, labels, columns: [Some(ids), None, None] };
    matrix::deliver(arrays, BYTE, Format::Png, delivery)
}

fn archive(source: &mut Source<'_>, delivery: Delivery<'_>) -> Result<Summary, ReadError> {
    let options = delivery.options;
    let limits = &options.limits;
    let mut features = Archive::open(source, limits)?;
    let label = options.label.as_deref().unwrap_or(npz::LABELS);
    let id = options.id.as_deref().or_else(|| features.holds("id").then_some("id"));
    let subject =
        options.subject.as_deref().or_else(|| features.holds("subject").then_some("subject"));
    // Several labels are an array each, or the columns of one.
    let count = options.labels_wanted();
    let wide = count > 1 && !features.holds(label);
    let named: Vec<&str> = match options.label_required {
        false => Vec::new(),
        true if wide => vec![npz::LABELS],
        true => {
            std::iter::once(label).chain(options.more_labels.iter().map(String::as_str)).collect()
        }
    };
    let keys = [id, subject, options.weight.as_deref().filter(|_| options.label_required)];
    let labels = named.iter().map(|name| (*name, Role::Labels(if wide { count } else { 1 })));
    let arrays: Vec<_> =
        labels.chain(keys.into_iter().flatten().map(|name| (name, Role::Key))).collect();
    let views = arrays.iter().map(|_| Archive::open(source, limits));
    let mut views = views.collect::<Result<Vec<_>, _>>()?;
    let array = options.array.as_deref().unwrap_or(npz::FEATURES);
    let (features, divide) = features.array(array, npz::FEATURE_ROLE, limits)?;
    let mut opened = views
        .iter_mut()
        .zip(arrays)
        .map(|(archive, (array, role))| Ok(archive.array(array, role, limits)?.0));
    let labels = opened.by_ref().take(named.len()).collect::<Result<Vec<_>, ReadError>>()?;
    let mut columns = [const { None }; 3];
    for (column, key) in columns.iter_mut().zip(keys) {
        *column = key.and_then(|_| opened.next()).transpose()?;
    }
    matrix::deliver(Arrays { features, labels, columns }, divide, Format::Npz, delivery)
}

fn sparse_lines<'r>(
    source: &mut Source<'r>,
    stream: Stream<'r>,
    mut delivery: Delivery<'_>,
) -> Result<Summary, ReadError> {
    let options = delivery.options;
    let file = delivery.file();
    let here = |fault: Fault| ReadError::of_file(file, fault);
    let given = match &options.frame {
        Some(FrameRequest::Given(Frame::Columns(_))) => {
            return Err(here(other_rows("named columns", "an array without names")));
        }
        Some(FrameRequest::Given(Frame::Matrix { width, first, divide, .. })) => {
            let (width, first, divide) = (*width, *first, *divide);
            Some(Body::Matrix(Matrix { width, origin: Origin::Default, first, divide }))
        }
        Some(FrameRequest::New) | None => None,
    };
    let body = given.as_ref().or_else(|| options.schema.as_ref().map(Schema::body));
    let (matrix, stream) = match body {
        Some(Body::Columns { .. }) => {
            return Err(here(other_shape("named columns", "an array without names")));
        }
        Some(Body::Matrix(Matrix { first: 0, .. })) if options.zero_based.is_none() => {
            return Err(fault!(
                "the columns of the schema are counted from 0 (`first = 0`); say whether the \
                 indices of this LIBSVM file are, too: `§zero-based`, or `§zero-based=false` if \
                 they start at 1"
            )
            .into());
        }
        Some(Body::Matrix(matrix)) => match options.width {
            Some(width) if width != matrix.width => {
                let (got, expected) = (u64::from(width), u64::from(matrix.width));
                return Err(here(other_width(got, expected)));
            }
            _ => (*matrix, stream),
        },
        None => libsvm_width(source, stream, options)?,
    };
    let mut rows = LibsvmRows::open(file, stream, matrix.width, options)?;
    let labels = options.label_names("label")?;
    let maker = rows::array(file, matrix, true, options)?;
    delivery.begin(&maker, None)?;
    delivery.run(&mut rows, maker, labels, Some(Format::Libsvm))
}

/// Returns the width as declared, else from a first pass over a file.
pub(crate) fn libsvm_width<'r>(
    source: &mut Source<'r>,
    stream: Stream<'r>,
    options: &ReadOptions,
) -> Result<(Matrix, Stream<'r>), ReadError> {
    let base = Base::of(options.zero_based);
    let shape = |width, origin| Matrix { width, origin, first: base.first(), divide: 1.0 };
    if let Some(width) = options.width {
        return Ok((shape(width, Origin::User), stream));
    }
    if source.as_path().is_none() {
        return Err(fault!(
            "LIBSVM on standard input needs `§width`, the number of features: it cannot be read \
             twice"
        )
        .into());
    }
    let width = libsvm::width(source.name(), stream, base, &options.limits)?;
    source.budget().features(u64::from(width)).map_err(|fault| {
        let largest = u64::from(width) - 1 + u64::from(base.first());
        let fault = fault!("the index {largest} makes {width} features of each row: {fault}");
        ReadError::of_file(source.name(), fault)
    })?;
    Ok((shape(width, Origin::Data), source.open(&options.limits)?))
}
