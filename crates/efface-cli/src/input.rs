//! What is read whole: a file, or standard input for `-`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::failure::{Result, unreadable};

/// The text of the file, or of standard input.
pub(crate) fn text(path: &Path) -> Result<String> {
    first(path, u64::MAX)
}

/// Its first `most` bytes.
pub(crate) fn first(path: &Path, most: u64) -> Result<String> {
    let mut text = String::new();
    let done = if path == Path::new("-") {
        io::stdin().take(most).read_to_string(&mut text)
    } else if fs::metadata(path).is_ok_and(|found| found.is_dir()) {
        Err(io::Error::from(io::ErrorKind::IsADirectory))
    } else {
        File::open(path).and_then(|file| file.take(most).read_to_string(&mut text))
    };
    done.map_err(|error| unreadable(path, &error))?;
    Ok(text)
}
