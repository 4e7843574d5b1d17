//! The footer of a Parquet file, looked through before the decoder builds on it.

use super::thrift::{Broken, DEEPEST, Thrift, Type};

/// Length of the footer and magic at the end of a file.
pub(super) const TAIL: usize = 8;

/// Returns the length of the footer that the last bytes of a file state.
pub(super) fn length(tail: &[u8]) -> Option<u64> {
    let (length, magic) = tail.split_at_checked(4)?;
    let length = u32::from_le_bytes(length.try_into().ok()?);
    (magic == b"PAR1").then_some(u64::from(length))
}

/// Checks the counts of a footer, and that groups of columns are not nested without end.
pub(super) fn check(footer: &[u8]) -> Result<(), &'static str> {
    walk(&mut Thrift::new(footer)).map_err(|broken| match broken {
        Broken::Short => "the footer is truncated, or declares more elements than it has bytes",
        Broken::Wrong(what) => what,
    })
}

fn walk(thrift: &mut Thrift<'_>) -> Result<(), Broken> {
    let mut last = 0;
    while let Some((number, kind)) = thrift.field(&mut last)? {
        match (number, kind) {
            (2, Type::List) => schema(thrift)?,
            (_, kind) => thrift.skip(kind, 1)?,
        }
    }
    Ok(())
}

/// Checks the list of columns and groups, each group followed by its children.
fn schema(thrift: &mut Thrift<'_>) -> Result<(), Broken> {
    let (count, element) = thrift.list()?;
    if element != Type::Struct {
        return Err(Broken::Wrong("a schema that is not a list of columns"));
    }
    // Children yet to come in every open group.
    let mut open: Vec<i64> = Vec::new();
    for _ in 0..count {
        while open.last() == Some(&0) {
            open.pop();
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        let children = children(thrift)?;
        if children > 0 {
            open.push(children);
        }
        if open.len() > DEEPEST {
            return Err(Broken::Wrong("column groups nested too deeply"));
        }
    }
    Ok(())
}

fn children(thrift: &mut Thrift<'_>) -> Result<i64, Broken> {
    let (mut last, mut children) = (0, 0);
    while let Some((number, kind)) = thrift.field(&mut last)? {
        match (number, kind) {
            (5, Type::Integer) => children = thrift.integer()?,
            (_, kind) => thrift.skip(kind, 2)?,
        }
    }
    Ok(children)
}
