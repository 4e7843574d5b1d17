//! The lengths that Arrow IPC messages state, checked against the size of the file.

use std::io::{Read, Seek, SeekFrom};

use arrow_ipc::{Block, Message, RecordBatch, root_as_footer, root_as_message};

use super::broken;
use crate::budget::Budget;
use crate::error::Fault;

const MAGIC: &[u8] = b"ARROW1";
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Footer length and magic at the end of a file.
const FILE_END: u64 = 10;

/// How messages are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    File,
    Stream,
}

/// Walks over all messages, and counts what the dictionaries and the largest batch take unpacked.
pub(super) fn check(reader: &mut (impl Read + Seek), budget: &Budget) -> Result<Container, Fault> {
    let size = reader.seek(SeekFrom::End(0))?;
    let start = bytes(reader, 0, MAGIC.len().min(size as usize) as u64)?;
    let mut file = Walk { reader, size, budget, largest: 0 };
    let container = if start == MAGIC {
        file.blocks()?;
        Container::File
    } else {
        file.stream()?;
        Container::Stream
    };
    budget.take(file.largest)?;
    Ok(container)
}

struct Walk<'r, R> {
    reader: &'r mut R,
    size: u64,
    budget: &'r Budget,
    /// Bytes of the largest record batch.
    largest: u64,
}

impl<R: Read + Seek> Walk<'_, R> {
    /// Checks the messages that the footer of a file lists.
    fn blocks(&mut self) -> Result<(), Fault> {
        let end = self.size.checked_sub(FILE_END).ok_or_else(|| broken("the file is too short"))?;
        let tail = bytes(self.reader, end, 4)?;
        let length = u64::from(little(&tail));
        let start =
            end.checked_sub(length).ok_or_else(|| broken("the footer is longer than the file"))?;
        let footer = bytes(self.reader, start, length)?;
        let footer = root_as_footer(&footer).map_err(broken)?;
        let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries());
        for block in blocks.flatten() {
            self.block(block)?;
        }
        Ok(())
    }

    fn block(&mut self, block: &Block) -> Result<(), Fault> {
        let outside = || broken("a block extends beyond the file");
        let start = u64::try_from(block.offset()).map_err(|_| outside())?;
        let length = u64::try_from(block.metaDataLength()).map_err(|_| outside())?;
        let body = u64::try_from(block.bodyLength()).map_err(|_| outside())?;
        let body_start = start.checked_add(length).ok_or_else(outside)?;
        if body_start.checked_add(body).is_none_or(|end| end > self.size) {
            return Err(outside());
        }
        let metadata = bytes(self.reader, start, length)?;
        let prefix = if metadata.starts_with(&CONTINUATION) { 8 } else { 4 };
        let message = metadata.get(prefix..).ok_or_else(outside)?;
        let message = root_as_message(message).map_err(broken)?;
        self.message(&message, body_start, body)
    }

    /// Checks the messages of a stream, one after the other.
    fn stream(&mut self) -> Result<(), Fault> {
        let mut at = 0;
        while self.size - at >= 4 {
            let mut length = bytes(self.reader, at, 4)?;
            at += 4;
            if length == CONTINUATION {
                length = bytes(self.reader, at, 4)?;
                at += 4;
            }
            let length = u64::from(little(&length));
            if length == 0 {
                return Ok(());
            }
            let outside = || broken("a message is longer than the file");
            if length > self.size - at {
                return Err(outside());
            }
            let metadata = bytes(self.reader, at, length)?;
            at += length;
            let message = root_as_message(&metadata).map_err(broken)?;
            let body = u64::try_from(message.bodyLength()).map_err(|_| outside())?;
            if body > self.size - at {
                return Err(outside());
            }
            self.message(&message, at, body)?;
            at += body;
        }
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>, start: u64, length: u64) -> Result<(), Fault> {
        if let Some(batch) = message.header_as_record_batch() {
            let unpacked = self.unpacked(&batch, start, length)?;
            self.largest = self.largest.max(unpacked);
            if unpacked > self.budget.left() {
                return Err(self.budget.spent());
            }
        } else if let Some(batch) = message.header_as_dictionary_batch().and_then(|d| d.data()) {
            let unpacked = self.unpacked(&batch, start, length)?;
            self.budget.take(unpacked)?;
        }
        Ok(())
    }

    /// Returns what the buffers of a batch take once unpacked.
    fn unpacked(&mut self, batch: &RecordBatch<'_>, start: u64, length: u64) -> Result<u64, Fault> {
        if batch.compression().is_none() {
            return Ok(length);
        }
        let mut sum = 0_u64;
        for buffer in batch.buffers().into_iter().flatten() {
            let outside = || broken("a buffer extends beyond its message");
            let offset = u64::try_from(buffer.offset()).map_err(|_| outside())?;
            let packed = u64::try_from(buffer.length()).map_err(|_| outside())?;
            if offset.checked_add(packed).is_none_or(|end| end > length) {
                return Err(outside());
            }
            if packed < 8 {
                continue;
            }
            let prefix = bytes(self.reader, start + offset, 8)?;
            let stated =
                prefix.as_chunks::<8>().0.first().map_or(0, |&raw| i64::from_le_bytes(raw));
            // A prefix of -1 marks a buffer that is stored as it is.
            sum = sum.saturating_add(u64::try_from(stated).unwrap_or(packed));
        }
        Ok(sum)
    }
}

/// Reads exactly these bytes of the file; memory grows only with what is there.
fn bytes(reader: &mut (impl Read + Seek), at: u64, length: u64) -> Result<Vec<u8>, Fault> {
    reader.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    let read = reader.take(length).read_to_end(&mut bytes)?;
    if (read as u64) < length { Err(broken("the file is truncated")) } else { Ok(bytes) }
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}
