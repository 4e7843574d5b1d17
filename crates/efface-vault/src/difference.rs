//! Stores a ledger entry that repeats most of the one before it: its text is compressed with the earlier text
//! as dictionary.

use crate::stored::MOST_BYTES;
use crate::{ReadError, StoreFault};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::get_frame_content_size;

/// How much time is given to finding what is repeated, of 22: higher levels save 1 % of a certificate's
/// difference, and take twice the time.
const LEVEL: i32 = 3;

/// Most bytes of text that one byte of a difference may stand for, in addition to the length of the text
/// before, so that a few bytes cannot become many gigabytes.
const MOST_EACH: usize = 32;

/// Returns the difference from one text to the next. If one is much longer than the other, [`apply`] may
/// refuse it: check the result before relying on it.
pub(crate) fn difference(base: &str, text: &str) -> Result<Vec<u8>, ReadError> {
    Compressor::with_dictionary(LEVEL, base.as_bytes())
        .and_then(|mut compressor| compressor.compress(text.as_bytes()))
        .map_err(|error| StoreFault::Other(error.to_string()).into())
}

/// Returns the text that a difference leads to; `None` if it is no difference, or would make a longer text
/// than allowed.
pub(crate) fn apply(base: &str, difference: &[u8]) -> Option<String> {
    let most = difference.len().saturating_mul(MOST_EACH).saturating_add(base.len());
    let length = usize::try_from(get_frame_content_size(difference).ok()??).ok()?;
    if length > most.min(MOST_BYTES) {
        return None;
    }
    // Room for so many and no more: what it says of its length is not believed.
    let mut decompressor = Decompressor::with_dictionary(base.as_bytes()).ok()?;
    String::from_utf8(decompressor.decompress(difference, length).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: usize) -> String {
        let list: Vec<String> = (0..200).map(|k| (k * k + number).to_string()).collect();
        format!("{{\"number\":{number},\"list\":[{}]}}", list.join(","))
    }

    #[test]
    fn differences_lead_back_and_are_short() {
        let (base, text) = (entry(1), "what every entry says, ".repeat(30) + &entry(1));
        for (base, text) in
            [(&base, &text), (&text, &base), (&base, &base), (&base, &String::new())]
        {
            let change = difference(base, text).unwrap();
            assert_eq!(apply(base, &change).as_ref(), Some(text));
            assert!(change.len() < 80, "{}", change.len());
        }
    }

    #[test]
    fn damaged_differences_lead_nowhere_or_elsewhere() {
        let (base, text) = (entry(1), entry(2));
        let change = difference(&base, &text).unwrap();
        for at in 0..change.len() {
            for bit in 0..8 {
                let mut damaged = change.clone();
                damaged[at] ^= 1 << bit;
                apply(&base, &damaged);
            }
            assert_eq!(apply(&base, &change[..at]), None);
        }
        assert_eq!(apply(&base, &[change.clone(), change].concat()), None);
    }

    /// A few bytes become no long text, neither at once nor in steps.
    #[test]
    fn a_few_bytes_are_no_long_text() {
        let base = entry(1);
        for length in [MOST_BYTES, MOST_BYTES + 1, 1 << 30] {
            let change = difference(&base, &"a".repeat(length)).unwrap();
            assert_eq!(apply(&base, &change), None, "{length}");
        }
        let mut text = base;
        for _ in 0..100 {
            let change = difference(&text, &text.repeat(2)).unwrap();
            let Some(longer) = apply(&text, &change) else { break };
            text = longer;
        }
        assert!(text.len() < 10_000, "{}", text.len());
    }
}
