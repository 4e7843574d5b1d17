//! Record batches of an Arrow IPC file or stream.

use std::io::Seek as _;

use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::ArrowError;

use super::batches::{Batches, decode};
use super::messages::{self, Container};
use crate::error::ReadError;
use crate::limits::Limits;
use crate::source::Source;

/// Opens the file format by its magic bytes, else the stream format. All lengths that messages
/// state are checked first: the decoder takes memory by them.
pub(super) fn open(source: &mut Source<'_>, limits: &Limits) -> Result<Batches, ReadError> {
    let mut reader = source.seekable(limits)?;
    let file = source.name();
    let container =
        messages::check(&mut reader, source.budget()).map_err(|refusal| refusal.at(file))?;
    reader.rewind().map_err(|error| ReadError::of_file(file, error))?;
    let opened: Result<Batches, ArrowError> = match container {
        Container::File => FileReader::try_new(reader, None)
            .map(|reader| Batches::whole(reader.schema(), Box::new(reader))),
        Container::Stream => StreamReader::try_new(reader, None)
            .map(|reader| Batches::whole(reader.schema(), Box::new(reader))),
    };
    opened.map_err(|error| decode(file, &error))
}
