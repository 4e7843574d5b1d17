//! The format of a file: by name, else by content.

use std::path::Path;

use crate::format::{idx, npy, npz};
use crate::input::Format;

/// Most lines that are examined.
const LINES: usize = 100;

/// Returns the format that a file name suggests, without `.gz`.
pub(crate) fn by_name(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    if name.ends_with("-ubyte") {
        return Some(Format::Idx);
    }
    match name.rsplit_once('.')?.1 {
        "csv" | "tsv" | "tab" => Some(Format::Csv),
        "npy" => Some(Format::Npy),
        "npz" => Some(Format::Npz),
        "idx" => Some(Format::Idx),
        "libsvm" | "svm" | "svmlight" => Some(Format::Libsvm),
        "parquet" | "pq" => Some(Format::Parquet),
        "arrow" | "arrows" | "ipc" | "feather" => Some(Format::ArrowIpc),
        _ => None,
    }
}

/// Returns the format that the first bytes show.
pub(crate) fn by_content(head: &[u8]) -> Option<Format> {
    if head.starts_with(npy::MAGIC) {
        return Some(Format::Npy);
    }
    if head.starts_with(npz::MAGIC) {
        return Some(Format::Npz);
    }
    if head.starts_with(b"PAR1") {
        return Some(Format::Parquet);
    }
    if head.starts_with(b"ARROW1") || head.starts_with(&[0xff, 0xff, 0xff, 0xff]) {
        return Some(Format::ArrowIpc);
    }
    if idx::recognise(head) {
        return Some(Format::Idx);
    }
    by_line(head)
}

/// Returns whether this is text of two bytes for each character: by its mark, or because every second byte of
/// what else looks like text is zero.
pub(crate) fn is_utf16(head: &[u8]) -> bool {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return true;
    }
    let (pairs, _) = head.as_chunks::<2>();
    let text = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    pairs.len() >= 2
        && (pairs.iter().all(|&[low, high]| high == 0 && text(low))
            || pairs.iter().all(|&[high, low]| high == 0 && text(low)))
}

/// Recognises text: LIBSVM if the second word of a line is `index:value`, CSV if a delimiter occurs.
fn by_line(head: &[u8]) -> Option<Format> {
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let lines = valid.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut lines = lines.filter(|line| !line.starts_with('#')).peekable();
    let first = *lines.peek()?;
    // Rows without a feature are the label alone.
    let found = lines.map_while(pairs).take(LINES).any(|has_pairs| has_pairs);
    if found {
        return Some(Format::Libsvm);
    }
    first.contains([',', ';', '\t']).then_some(Format::Csv)
}

/// Returns whether a line of labels has an `index:value` behind them; `None` for other lines.
fn pairs(line: &str) -> Option<bool> {
    let mut words = line.split_ascii_whitespace();
    let are_labels = words.next()?.split(',').all(|word| word.parse::<f64>().is_ok());
    let is_one = !line.contains(',');
    let Some(second) = words.next() else { return (are_labels && is_one).then_some(false) };
    let (index, value) = second.split_once(':')?;
    let is_pair = index.parse::<u32>().is_ok() && value.parse::<f64>().is_ok();
    (are_labels && is_pair).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_format() {
        let by_name = |name: &str| by_name(Path::new(name));
        assert_eq!(by_name("a/b.CSV.gz"), Some(Format::Csv));
        assert_eq!(by_name("train-images-idx3-ubyte.gz"), Some(Format::Idx));
        assert_eq!(by_name("X.npy"), Some(Format::Npy));
        assert_eq!(by_name("a9a"), None);
        assert_eq!(by_name("data.parquet"), Some(Format::Parquet));
    }

    #[test]
    fn two_bytes_for_a_character() {
        assert!(is_utf16(b"\xff\xfea\0,\0"));
        assert!(is_utf16(b"a\0,\0b\0\n\0"));
        assert!(is_utf16(b"\0a\0,\0b\0\n"));
        assert!(!is_utf16(b"\xff\xff\xff\xff\x10\0\0\0"));
        assert!(!is_utf16(b"a,b\n"));
        assert!(!is_utf16(&[0; 64]));
    }

    #[test]
    fn content_tells_the_format() {
        assert_eq!(by_content(b"\x93NUMPY\x01\x00"), Some(Format::Npy));
        assert_eq!(by_content(b"\0\0\x08\x03rest"), Some(Format::Idx));
        assert_eq!(by_content(b"-1 3:1 11:1\n"), Some(Format::Libsvm));
        assert_eq!(by_content(b"# note\n\n+1 3:1e-2\n"), Some(Format::Libsvm));
        assert_eq!(by_content(b"-1\n1\n1 3:1\n"), Some(Format::Libsvm));
        assert_eq!(by_content(b"1,3 1:0.5\n2 1:0.1\n"), Some(Format::Libsvm));
        assert_eq!(by_content(b"1\n2\n"), None);
        assert_eq!(by_content(b"1,2\n3,4 1:1\n"), Some(Format::Csv));
        assert_eq!(by_content(b"age;y\n"), Some(Format::Csv));
        assert_eq!(by_content(b"39, State-gov\n"), Some(Format::Csv));
        assert_eq!(by_content(b"one word"), None);
        assert_eq!(by_content(b"\xff\xfea\0,\0"), None);
        assert_eq!(by_content("a,\u{e9}".as_bytes().split_last().unwrap().1), Some(Format::Csv));
    }
}
