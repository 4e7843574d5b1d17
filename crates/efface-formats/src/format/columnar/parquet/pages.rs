//! Checks what the pages of a Parquet file state before one of them is unpacked.
//!
//! A page of a few bytes may state, or unpack to, gigabytes. The decoder holds for every column
//! one page and one dictionary; this module adds up the largest of them and checks the sum against
//! what the file may take. If a codec unpacks without regard to the stated size (gzip), the page
//! is unpacked once into nothing and counted.

use std::io::Read;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{Page, PageReader as _};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

use super::super::batches::BATCH_ROWS;
use super::super::broken;
use super::delta;
use super::thrift::{Broken, Thrift, Type};
use crate::budget::Budget;
use crate::error::Fault;

/// Bytes of a page header read at first; most are shorter.
const HEADER: usize = 256;
/// Bytes of the longest page header.
const LONGEST_HEADER: usize = 1 << 20;
/// Most bytes that the texts of one batch may keep alive.
const BATCH_BYTES: u64 = 16 << 20;
/// Bytes that the decoder takes for one value of a dictionary.
const ENTRY: u64 = 16;
const LZ4_FRAME_MAGICS: [[u8; 2]; 2] = [[0x4d, 0x18], [0x4c, 0x18]];

const DATA: i64 = 0;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;
const DELTA_LENGTH: i64 = 6;
const DELTA_BYTES: i64 = 7;

/// What a page header states.
#[derive(Debug, Default)]
struct Header {
    kind: i64,
    unpacked: u64,
    packed: u64,
    values: u64,
    encoding: i64,
    /// Version 2: bytes of levels, which are never packed.
    levels: u64,
    /// Version 2: the values are not packed either.
    plain: bool,
}

/// What a column takes while it is decoded.
#[derive(Debug, Default, Clone, Copy)]
struct Cost {
    dictionary: u64,
    page: u64,
    /// Bytes held for one row.
    row: u64,
}

/// Checks every page of these columns; returns how many rows to decode at a time.
pub(super) fn check<R: ChunkReader + 'static>(
    reader: &Arc<R>,
    metadata: &ParquetMetaData,
    columns: &[usize],
    budget: &Budget,
) -> Result<usize, Fault> {
    let mut most = 0;
    let mut rows = BATCH_ROWS as u64;
    for group in metadata.row_groups() {
        let (mut held, mut row) = (0_u64, 0_u64);
        for &at in columns {
            let chunk = group.columns().get(at).ok_or_else(|| broken("a column is missing"))?;
            let cost = Chunk { reader, chunk, budget }.check()?;
            held = held.saturating_add(cost.dictionary).saturating_add(cost.page);
            row = row.saturating_add(cost.row);
            if held > budget.left() {
                return Err(budget.spent());
            }
        }
        most = most.max(held);
        rows = rows.min(BATCH_BYTES / row.max(1));
    }
    budget.take(most)?;
    Ok(rows.max(1) as usize)
}

impl From<ParquetError> for Fault {
    fn from(error: ParquetError) -> Self {
        broken(error)
    }
}

/// One column of one group of rows.
struct Chunk<'c, R> {
    reader: &'c Arc<R>,
    chunk: &'c ColumnChunkMetaData,
    budget: &'c Budget,
}

impl<R: ChunkReader + 'static> Chunk<'_, R> {
    fn check(&self) -> Result<Cost, Fault> {
        let outside = || broken("a column extends beyond the file");
        let start =
            self.chunk.dictionary_page_offset().unwrap_or_else(|| self.chunk.data_page_offset());
        let mut at = u64::try_from(start).map_err(|_| outside())?;
        let length = u64::try_from(self.chunk.compressed_size()).map_err(|_| outside())?;
        let end = at.checked_add(length).filter(|&end| end <= self.reader.len());
        let end = end.ok_or_else(outside)?;
        let (mut cost, mut is_delta) = (Cost::default(), false);
        while at < end {
            let (header, length) = self.header(at, end - at)?;
            at += length;
            if header.packed > end - at {
                return Err(broken("a page is longer than its column"));
            }
            self.page(&header, at, &mut cost)?;
            is_delta |= matches!(header.encoding, DELTA_LENGTH | DELTA_BYTES);
            at += header.packed;
        }
        if is_delta {
            self.delta()?;
        }
        Ok(cost)
    }

    /// Returns the page header at a place, and its length.
    fn header(&self, at: u64, left: u64) -> Result<(Header, u64), Fault> {
        let mut length = HEADER;
        loop {
            let read = length.min(left as usize);
            let bytes = self.reader.get_bytes(at, read)?;
            let mut thrift = Thrift::new(&bytes);
            match Header::read(&mut thrift) {
                Ok(header) => return Ok((header, thrift.position() as u64)),
                Err(Broken::Short) if (read as u64) < left && length < LONGEST_HEADER => {
                    length *= 4;
                }
                Err(Broken::Short) => return Err(broken("a page header is truncated")),
                Err(Broken::Wrong(what)) => return Err(broken(what)),
            }
        }
    }

    /// Adds what a page takes to the cost of the column.
    fn page(&self, header: &Header, at: u64, cost: &mut Cost) -> Result<(), Fault> {
        let bytes = header.unpacked.saturating_add(header.packed);
        let is_dictionary = header.kind == DICTIONARY;
        if is_dictionary && header.values > header.unpacked.max(header.packed) {
            return Err(broken("a dictionary declares more values than it has bytes"));
        }
        let lengths = match header.encoding {
            DELTA_LENGTH | DELTA_BYTES => header.values.saturating_mul(8),
            _ => 0,
        };
        let whole = match header.kind {
            DICTIONARY => bytes.saturating_add(header.values.saturating_mul(ENTRY)),
            _ => bytes.saturating_add(lengths),
        };
        if whole > self.budget.left() {
            return Err(self.budget.spent());
        }
        self.unpacks_as_stated(header, at)?;
        if is_dictionary {
            cost.dictionary = cost.dictionary.max(whole);
        } else {
            cost.page = cost.page.max(whole);
            let row = match header.encoding {
                // A value may repeat the whole of the one before.
                DELTA_BYTES => bytes,
                _ => bytes.div_ceil(header.values.max(1)),
            };
            cost.row = cost.row.max(row.saturating_add(ENTRY));
        }
        Ok(())
    }

    /// Checks that codecs that unpack until their input ends do so at the length that the header states.
    fn unpacks_as_stated(&self, header: &Header, at: u64) -> Result<(), Fault> {
        let codec = self.chunk.compression();
        if header.plain || !matches!(codec, Compression::GZIP(_) | Compression::LZ4) {
            return Ok(());
        }
        let levels = header.levels.min(header.packed);
        let packed = header.packed - levels;
        let body = self.reader.get_bytes(at + levels, packed as usize)?;
        if codec == Compression::LZ4 {
            let frame = LZ4_FRAME_MAGICS.iter().any(|magic| body.get(2..4) == Some(magic));
            let refusal =
                "LZ4 frames inside pages are not supported; write the file with Snappy or Zstd";
            return if frame { Err(broken(refusal)) } else { Ok(()) };
        }
        let stated = header.unpacked.saturating_sub(levels);
        let mut unpacked = MultiGzDecoder::new(&body[..]).take(stated + 1);
        let got = std::io::copy(&mut unpacked, &mut std::io::sink())?;
        if got <= stated {
            Ok(())
        } else {
            Err(broken("a page decompresses to more than its declared size"))
        }
    }

    /// Checks text pages that state their lengths as differences.
    fn delta(&self) -> Result<(), Fault> {
        let rows = usize::try_from(self.chunk.num_values()).unwrap_or(usize::MAX);
        let mut pages = SerializedPageReader::new(self.reader.clone(), self.chunk, rows, None)?;
        let optional = self.chunk.column_descr().max_def_level() > 0;
        while let Some(page) = pages.get_next_page()? {
            let start = match &page {
                Page::DictionaryPage { .. } => continue,
                Page::DataPage { buf, .. } if optional => {
                    let levels = buf.get(..4).and_then(|bytes| bytes.try_into().ok());
                    4 + levels.map_or(0, |bytes| u32::from_le_bytes(bytes) as usize)
                }
                Page::DataPage { .. } => 0,
                Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                    *def_levels_byte_len as usize + *rep_levels_byte_len as usize
                }
            };
            let values = u64::from(page.num_values());
            let streams = match page.encoding() {
                Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
                Encoding::DELTA_BYTE_ARRAY => 2,
                _ => continue,
            };
            let bytes = page.buffer().get(start..).unwrap_or_default();
            if !delta::within(bytes, streams, values) {
                return Err(broken("a page has more lengths than declared values"));
            }
        }
        Ok(())
    }
}

impl Header {
    fn read(thrift: &mut Thrift<'_>) -> Result<Self, Broken> {
        let mut header = Self { encoding: -1, ..Self::default() };
        let mut last = 0;
        while let Some((number, kind)) = thrift.field(&mut last)? {
            match (number, kind) {
                (1, Type::Integer) => header.kind = thrift.integer()?,
                (2, Type::Integer) => header.unpacked = size(thrift)?,
                (3, Type::Integer) => header.packed = size(thrift)?,
                (5, Type::Struct) => header.inner(thrift, DATA)?,
                (7, Type::Struct) => header.inner(thrift, DICTIONARY)?,
                (8, Type::Struct) => header.inner(thrift, DATA_V2)?,
                (_, kind) => thrift.skip(kind, 1)?,
            }
        }
        Ok(header)
    }

    /// Reads the part that only pages of one kind have.
    fn inner(&mut self, thrift: &mut Thrift<'_>, of: i64) -> Result<(), Broken> {
        let mut last = 0;
        while let Some((number, kind)) = thrift.field(&mut last)? {
            match (of, number, kind) {
                (_, 1, Type::Integer) => self.values = self.values.max(size(thrift)?),
                (DATA, 2, Type::Integer) | (DATA_V2, 4, Type::Integer) => {
                    self.encoding = thrift.integer()?;
                }
                (DATA_V2, 5 | 6, Type::Integer) => {
                    self.levels = self.levels.saturating_add(size(thrift)?);
                }
                (DATA_V2, 7, Type::Boolean(packed)) => self.plain = !packed,
                (_, _, kind) => thrift.skip(kind, 2)?,
            }
        }
        Ok(())
    }
}

fn size(thrift: &mut Thrift<'_>) -> Result<u64, Broken> {
    u64::try_from(thrift.integer()?).map_err(|_| Broken::Wrong("a negative size"))
}
