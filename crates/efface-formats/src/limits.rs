//! Limits checked before anything is allocated.

/// The most that a reader accepts; the defaults admit every honest table that fits one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Most rows of the table.
    pub rows: u64,
    /// Columns of the file, and numbers in one encoded row.
    pub columns: u32,
    /// Most bytes of one field.
    pub field_bytes: u32,
    /// Bytes of one line or of one quoted record.
    pub line_bytes: u32,
    /// Bytes of a binary header.
    pub header_bytes: u32,
    /// Bytes of a stream after decompression; they pass by and are not kept.
    pub stream_bytes: u64,
    /// Bytes of memory for what is kept of a table: numbers, ids and subjects, arrays stored
    /// column by column, archives on standard input, pages of columnar files.
    pub memory_bytes: u64,
    /// The limit of `memory_bytes` as a multiple of the bytes of the file, if that is more than 192 MiB: it
    /// stops small files that unpack to large tables. `None` leaves `memory_bytes` alone.
    pub expansion: Option<u32>,
    /// Whether rows are kept: those that pass by to a store do not count against `memory_bytes`, and
    /// neither do their names.
    pub keeps_rows: bool,
    /// Classes collected from the data.
    pub classes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rows: 1 << 32,
            columns: 1 << 24,
            field_bytes: 1 << 20,
            line_bytes: 1 << 24,
            header_bytes: 1 << 16,
            stream_bytes: 1 << 40,
            memory_bytes: 1 << 33,
            expansion: Some(100),
            keeps_rows: true,
            classes: 10_000,
        }
    }
}
