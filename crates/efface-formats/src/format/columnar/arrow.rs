//! Record batches of an Arrow IPC file or stream.

use std::io::Seek as _;

use arrow_ipc::reader::{FileReader, StreamReader};

use super::batches::Batches;
use super::broken;
use super::messages::{self, Container};
use crate::error::ReadError;
use crate::limits::Limits;
use crate::source::Source;

/// Opens the file format by its magic bytes, else the stream format. All lengths that messages
/// state are checked first: the decoder takes memory by them.
pub(super) fn open(source: &mut Source<'_>, limits: &Limits) -> Result<Batches, ReadError> {
    let mut reader = source.seekable(limits)?;
    let opened = messages::check(&mut reader, source.budget()).and_then(|container| {
        reader.rewind()?;
        let opened = match container {
            Container::File => FileReader::try_new(reader, None)
                .map(|reader| Batches::whole(reader.schema(), Box::new(reader))),
            Container::Stream => StreamReader::try_new(reader, None)
                .map(|reader| Batches::whole(reader.schema(), Box::new(reader))),
        };
        opened.map_err(broken)
    });
    opened.map_err(|fault| ReadError::of_file(source.name(), fault))
}
