//! PNG: a folder of images, all of one size, in 8-bit gray or RGB.
//!
//! Each image is a record, whose id is its path below the folder, with `/` between; records are in the
//! order of these. Its class is the first folder of its path, or what a table of names and labels says. Bytes are divided by 255, as those of IDX files.

mod decode;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::error::{Fault, Place, ReadError, fault, within};
use crate::format::arrays::{ArrayHeader, ArrayRows, Axes, Element, Endian, Role};
use crate::format::csv::CsvTable;
use crate::image::ImageShape;
use crate::limits::Limits;
use crate::options::ReadOptions;
use crate::rows::Cells as _;
use crate::source::Source;
use crate::table::Table;
use decode::{decode, described};

/// Bytes of one file of an image, at most.
const LARGEST: u64 = 1 << 26;
/// Folders below each other, at most.
const DEEPEST: usize = 8;

/// The images of a folder as arrays: their numbers, their labels if these are read, and their ids.
pub(crate) struct Folder<'r> {
    pub(crate) images: ArrayRows<'r>,
    pub(crate) labels: Option<ArrayRows<'r>>,
    pub(crate) ids: ArrayRows<'r>,
}

/// Opens a folder. The first image says what all must be.
pub(crate) fn open<'r>(
    source: &Source<'_>,
    labels: Option<Source<'_>>,
    options: &ReadOptions,
) -> Result<Folder<'r>, ReadError> {
    let (file, budget) = (source.name(), source.budget());
    let here = |fault: Fault| ReadError::of_file(file, fault);
    let folder = source.as_path().unwrap_or(Path::new("."));
    let (names, bytes) = images(folder, &options.limits).map_err(here)?;
    budget.stored(bytes);
    for name in &names {
        budget.text(name).map_err(here)?;
    }
    let Some(first) = names.first() else {
        return Err(here(fault!("the folder has no files `*.png`")));
    };
    let most = options.limits.columns;
    let (size, _) = image(folder, first, most).map_err(here)?;
    let label = match (labels, options.label_required) {
        (_, false) => None,
        (Some(mut table), true) => Some(stated(&mut table, &names, options)?),
        (None, true) => Some(by_folder(&names).map_err(here)?),
    };
    let mut shape = vec![names.len() as u64, size.height.into(), size.width.into()];
    if size.channels > 1 {
        shape.insert(1, size.channels.into());
    }
    let column = |values: &[String]| texts(file, values, options, source).map_err(here);
    let (label, id) = (label.as_deref().map(column).transpose()?, column(&names)?);
    let images =
        Images { folder: folder.to_owned(), names, next: 0, size, most, row: Cursor::default() };
    let features = ArrayRows::open(
        file,
        &header(shape, Element::U8),
        Box::new(BufReader::new(images)),
        Role::Features(Axes::ChannelsFirst),
        &options.limits,
        budget,
    )
    .map_err(here)?;
    Ok(Folder { images: features, labels: label, ids: id })
}

fn header(shape: Vec<u64>, element: Element) -> ArrayHeader {
    ArrayHeader { shape, element, endian: Endian::Little, column_major: false }
}

/// Texts as a column of an array.
fn texts<'r>(
    file: &str,
    values: &[String],
    options: &ReadOptions,
    source: &Source<'_>,
) -> Result<ArrayRows<'r>, Fault> {
    let longest = values.iter().map(String::len).max().unwrap_or(0).max(1);
    within("bytes in one field", longest as u64, u64::from(options.limits.field_bytes))?;
    source.budget().take((longest as u64).saturating_mul(values.len() as u64))?;
    let mut bytes = Vec::new();
    for value in values {
        bytes.extend_from_slice(value.as_bytes());
        bytes.resize(bytes.len() + longest - value.len(), 0);
    }
    let header = header(vec![values.len() as u64], Element::Bytes(longest as u32));
    let input = Box::new(Cursor::new(bytes));
    ArrayRows::open(file, &header, input, Role::Key, &options.limits, source.budget())
}

/// Returns the images below a folder, in the order of their names, and the bytes of their files.
fn images(folder: &Path, limits: &Limits) -> Result<(Vec<String>, u64), Fault> {
    let (mut names, mut bytes) = (Vec::new(), 0_u64);
    let mut waiting = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((place, before, depth)) = waiting.pop() {
        for entry in fs::read_dir(place)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                let name = name.to_string_lossy().into_owned();
                return Err(fault!("the name of the file `{name}` is not valid Unicode"));
            };
            if name.starts_with('.') {
                continue;
            }
            let (path, name) = (entry.path(), format!("{before}{name}"));
            let about = fs::metadata(&path)?;
            if about.is_dir() {
                if depth == DEEPEST {
                    return Err(fault!("there are more than {DEEPEST} folders below each other"));
                }
                waiting.push((path, name + "/", depth + 1));
            } else if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png")) {
                if !about.is_file() {
                    // Opening a pipe would wait for its writer.
                    return Err(fault!("`{name}` is not a file"));
                }
                bytes = bytes.saturating_add(about.len());
                names.push(name);
                within("images", names.len() as u64, limits.rows.min(1 << 28))?;
            }
        }
    }
    names.sort_unstable();
    Ok((names, bytes))
}

/// Returns the first folder of each path, if these are not the folders of a second list: `train/cat/1.png`.
fn by_folder(names: &[String]) -> Result<Vec<String>, Fault> {
    let is_deep = |name: &String| name.matches('/').count() > 1;
    if let (Some(name), true) = (names.first(), names.iter().all(is_deep)) {
        return Err(fault!(
            "every image lies in a folder of a folder, such as `{name}`, so that the first \
             folders are no classes: name the folder in which the classes are, or give a table of \
             file names and labels"
        ));
    }
    let class = |name: &String| match name.split_once('/') {
        Some((class, _)) => Ok(class.to_owned()),
        None => Err(fault!(
            "`{name}` lies in no folder of a class: give a table of names and labels with \
             `§labels`, or put the images of each class into a folder of its name"
        )),
    };
    names.iter().map(class).collect()
}

/// Returns the labels that a table of two columns, names and labels, has for these images.
fn stated(
    table: &mut Source<'_>,
    names: &[String],
    options: &ReadOptions,
) -> Result<Vec<String>, ReadError> {
    let file = table.name().to_owned();
    let limits = options.limits.clone();
    let stream = table.open(&limits)?;
    let plain = ReadOptions { limits, label_required: false, ..ReadOptions::default() };
    let mut rows = CsvTable::open(&file, stream, &plain, table.budget())?;
    let got = rows.names().len();
    if got != 2 {
        return Err(ReadError::of_file(
            &file,
            fault!(
                "labels of images need a table of two columns, the names of the files and the \
                 labels, got {got}"
            ),
        ));
    }
    let known: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let mut labels = vec![None; names.len()];
    while rows.advance()? {
        let (name, label) = (rows.cell(0).text().into_owned(), rows.cell(1).text().into_owned());
        let here = |fault: Fault| ReadError::at(Place::new(&file, rows.spot()), fault);
        table.budget().text(&label).map_err(|limit| ReadError::of_file(&file, limit))?;
        let place = known.get(name.as_str()).or_else(|| known.get(format!("{name}.png").as_str()));
        let Some(&place) = place else {
            return Err(here(fault!("the folder has no image `{name}`")));
        };
        if labels[place].replace(label).is_some() {
            return Err(here(fault!("the image `{name}` has two labels")));
        }
    }
    let found =
        labels.into_iter().zip(names).map(|(label, name)| {
            label.ok_or_else(|| {
            ReadError::of_file(&file, fault!(
                "the image `{name}` has no label; the first line of the table names the two \
                 columns"
            ))
        })
        });
    found.collect()
}

/// Returns the shape and the numbers of an image; errors name it.
fn image(folder: &Path, name: &str, most: u32) -> Result<(ImageShape, Vec<u8>), Fault> {
    let read = || {
        let mut bytes = Vec::new();
        File::open(folder.join(name))?.take(LARGEST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST {
            return Err(fault!("the file has more than {LARGEST} bytes, the limit"));
        }
        decode(&bytes, most)
    };
    read().map_err(|fault| fault!("`{name}`: {fault}"))
}

/// The numbers of all images, one image after the other.
struct Images {
    folder: PathBuf,
    names: Vec<String>,
    next: usize,
    size: ImageShape,
    most: u32,
    row: Cursor<Vec<u8>>,
}

impl Read for Images {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.row.read(buffer)?;
            let Some(name) = self.names.get(self.next).filter(|_| read == 0) else {
                return Ok(read);
            };
            if buffer.is_empty() {
                return Ok(0);
            }
            let (size, numbers) = image(&self.folder, name, self.most).map_err(io::Error::other)?;
            if size != self.size {
                return Err(io::Error::other(fault!(
                    "`{name}`: the image is {}, and `{}` is {}: all must be of one size and kind",
                    described(size),
                    self.names[0],
                    described(self.size)
                )));
            }
            self.next += 1;
            self.row = Cursor::new(numbers);
        }
    }
}
