//! Lengths of texts stored as differences: how many there are, without taking memory for them.
//!
//! A stream is a header (values in a block, miniblocks in a block, values in all, the first
//! value), then blocks: the least difference, the bit width of each miniblock, the miniblocks.

use super::thrift::{Broken, varint};

/// Returns whether each of the streams at the start of `bytes` holds at most `most` values. The second stream
/// begins where the first one ends.
pub(super) fn within(bytes: &[u8], streams: usize, most: u64) -> bool {
    let mut at = 0;
    (0..streams).all(|_| matches!(pass(bytes, &mut at), Ok(values) if values <= most))
}

/// Passes over one stream; returns its number of values.
fn pass(bytes: &[u8], at: &mut usize) -> Result<u64, Broken> {
    let block = varint(bytes, at)?;
    let miniblocks = varint(bytes, at)?;
    let values = varint(bytes, at)?;
    varint(bytes, at)?;
    let in_miniblock = block.checked_div(miniblocks).filter(|&count| count > 0);
    let in_miniblock = in_miniblock.ok_or(Broken::Wrong("empty blocks"))?;
    let mut left = values.saturating_sub(1);
    while left > 0 {
        varint(bytes, at)?;
        let count = usize::try_from(miniblocks).map_err(|_| Broken::Short)?;
        let end = at.checked_add(count).ok_or(Broken::Short)?;
        let widths = bytes.get(*at..end).ok_or(Broken::Short)?;
        *at = end;
        for &width in widths {
            if left == 0 {
                break;
            }
            let length = u64::from(width).saturating_mul(in_miniblock) / 8;
            *at = usize::try_from(length)
                .ok()
                .and_then(|length| at.checked_add(length))
                .ok_or(Broken::Short)?;
            left = left.saturating_sub(in_miniblock);
        }
        if *at > bytes.len() {
            return Err(Broken::Short);
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted() {
        // Five values in one block of 128, the first of four miniblocks 2 bits wide.
        let stream = [[0x80, 1, 4, 5, 14].as_slice(), &[0, 2, 0, 0, 0], &[0; 8]].concat();
        let mut at = 0;
        assert_eq!(pass(&stream, &mut at), Ok(5));
        assert_eq!(at, stream.len());
        let two = [stream.clone(), stream.clone()].concat();
        assert!(within(&two, 2, 5));
        assert!(!within(&two, 2, 4));
        assert!(!within(&stream, 2, 5), "the second stream is missing");
    }

    #[test]
    fn counts_beyond_the_bytes_are_not_believed() {
        let many = [0x80, 1, 4, 0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0, 0, 0, 0];
        assert!(!within(&many, 1, u64::MAX));
        assert!(!within(&[0x80, 1, 0, 5, 0], 1, 9), "no miniblocks");
    }
}
