//! Names of records that are named by their position.

const PREFIX: &str = "row:";

/// Returns the id of a record that is named by its position, counted from 0.
#[must_use]
pub fn row_id(position: u64) -> String {
    [PREFIX, itoa::Buffer::new().format(position)].concat()
}

/// Returns the position in an id that [`row_id`] wrote; `None` for any other text.
#[must_use]
pub fn row_position(id: &str) -> Option<u64> {
    let digits = id.strip_prefix(PREFIX)?;
    let first = digits.bytes().next()?;
    // One spelling only: no sign, no leading zero.
    if !first.is_ascii_digit() || first == b'0' && digits.len() > 1 {
        return None;
    }
    digits.parse().ok()
}

/// A public id as it is stored: a position takes no room of its own in a block whose rows are named
/// by consecutive ones. Equal ids are stored alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Id<'a> {
    /// An id that [`row_id`] wrote.
    Position(u64),
    /// Any other id.
    Text(&'a str),
}

impl<'a> Id<'a> {
    /// Returns the form in which an id is stored.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        match row_position(text) {
            // The store has 63 bits, and the end of a run is behind its last position.
            Some(position) if position < i64::MAX as u64 => Self::Position(position),
            _ => Self::Text(text),
        }
    }

    /// Returns the full id, written to `buffer` if it is a position.
    pub(crate) fn text<'b>(self, buffer: &'b mut String) -> &'b str
    where
        'a: 'b,
    {
        match self {
            Self::Text(text) => text,
            Self::Position(position) => {
                buffer.clear();
                buffer.push_str(PREFIX);
                buffer.push_str(itoa::Buffer::new().format(position));
                buffer
            }
        }
    }
}
