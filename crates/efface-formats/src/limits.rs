//! Limits checked before anything is allocated.

/// What a reader accepts at most; the defaults admit every honest table that fits one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Rows of the table.
    pub rows: u64,
    /// Columns of the file, and numbers in one encoded row.
    pub columns: u32,
    /// Bytes of one field.
    pub field_bytes: u32,
    /// Bytes of one line or of one quoted record.
    pub line_bytes: u32,
    /// Bytes of a binary header.
    pub header_bytes: u32,
    /// Bytes after decompression, over the whole file: a stop for compression bombs.
    pub decoded_bytes: u64,
    /// Bytes of a file held in memory: column-major arrays, archives on standard input.
    pub held_bytes: u64,
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
            decoded_bytes: 1 << 40,
            held_bytes: 1 << 33,
            classes: 10_000,
        }
    }
}
