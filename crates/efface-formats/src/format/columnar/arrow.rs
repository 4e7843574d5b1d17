//! Record batches of an Arrow IPC file or stream.

use std::io::Seek as _;

use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::ArrowError;

use super::batches::{Batches, decode};
use super::messages::{self, Container};
use crate::error::{Place, ReadError};
use crate::limits::Limits;
use crate::source::Source;

/// Opens the file format by its magic bytes, else the stream format. All lengths that messages
/// state are checked first: the decoder takes memory by them.
pub(super) fn open(source: &mut Source<'_>, limits: &Limits) -> Result<Batches, ReadError> {
    let mut reader = source.seekable(limits)?;
    let file = source.name();
    let container =
        messages::check(&mut reader, limits.held_bytes).map_err(|fault| match fault {
            messages::Refusal::Io(error) => decode(file, &error),
            messages::Refusal::Limit(fault) => ReadError::at(Place::file(file), fault),
            messages::Refusal::Broken(message) => decode(file, &message),
        })?;
    reader.rewind().map_err(|error| ReadError::io(file, error))?;
    let opened: Result<Batches, ArrowError> = match container {
        Container::File => FileReader::try_new(reader, None)
            .map(|reader| Batches { schema: reader.schema(), next: Box::new(reader) }),
        Container::Stream => StreamReader::try_new(reader, None)
            .map(|reader| Batches { schema: reader.schema(), next: Box::new(reader) }),
    };
    opened.map_err(|error| decode(file, &error))
}
