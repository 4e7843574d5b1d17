//! What is read whole: a file, or standard input for `-`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use efface::{Code, Error};

use crate::failure::{Result, unreadable};

/// The text of the file, or of standard input.
pub(crate) fn text(path: &Path) -> Result<String> {
    let bytes = bytes(path, u64::MAX)?;
    let wide = |read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..].as_chunks().0.iter().map(|pair| read(*pair)).collect();
        String::from_utf16(&units).ok().filter(|_| bytes.len().is_multiple_of(2))
    };
    let text = match bytes.get(..2) {
        Some([0xff, 0xfe]) => wide(u16::from_le_bytes),
        Some([0xfe, 0xff]) => wide(u16::from_be_bytes),
        _ => String::from_utf8(bytes).ok(),
    };
    text.ok_or_else(|| {
        let message = format!(
            "cannot read `{}`: it is not text in UTF-8, nor in UTF-16 with a byte order mark",
            path.display()
        );
        Error::input(Code::Unreadable, message).into()
    })
}

/// Its first `most` bytes.
pub(crate) fn first(path: &Path, most: u64) -> Result<String> {
    let bytes = bytes(path, most)?;
    String::from_utf8(bytes).map_err(|_| {
        unreadable(path, &io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8"))
    })
}

fn bytes(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let done = if path == Path::new("-") {
        io::stdin().take(most).read_to_end(&mut bytes)
    } else if fs::metadata(path).is_ok_and(|found| found.is_dir()) {
        Err(io::Error::from(io::ErrorKind::IsADirectory))
    } else {
        File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    done.map_err(|error| unreadable(path, &error))?;
    Ok(bytes)
}
