//! One B-tree page of the SQLite file format: which of its bytes are in use.
//!
//! Written from the public description of the format (section 1.6 "B-tree pages" and 1.7 of
//! "Database File Format" on sqlite.org), and only for what a vault contains: no reserved bytes at
//! the end of pages, no pointer-map pages.

use std::ops::Range;

/// Bytes of the file header, which stands before the B-tree header on page 1.
const FILE_HEADER: usize = 100;

/// A payload that continues on overflow pages.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(super) struct Overflow {
    /// First page of the chain.
    pub(super) first: u32,
    /// Bytes of payload on the chain.
    pub(super) length: u64,
}

/// What a B-tree page uses.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Used byte ranges, ascending and disjoint.
    pub(super) used: Vec<Range<usize>>,
    /// Payloads that continue elsewhere.
    pub(super) overflows: Vec<Overflow>,
    /// Child pages, for interior pages.
    pub(super) children: Vec<u32>,
}

/// The four kinds of B-tree page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    IndexInterior,
    TableInterior,
    IndexLeaf,
    TableLeaf,
}

impl Kind {
    pub(crate) fn of(byte: u8) -> Option<Self> {
        match byte {
            2 => Some(Self::IndexInterior),
            5 => Some(Self::TableInterior),
            10 => Some(Self::IndexLeaf),
            13 => Some(Self::TableLeaf),
            _ => None,
        }
    }

    fn is_interior(self) -> bool {
        matches!(self, Self::IndexInterior | Self::TableInterior)
    }
}

/// Returns the offset of the B-tree header on page `number`.
fn header_offset(number: u32) -> usize {
    if number == 1 { FILE_HEADER } else { 0 }
}

/// Returns whether page `number` with this content is a B-tree page. Sound as long as the vault has fewer
/// than 2^25 pages (see `schema::MAX_PAGES`).
pub(super) fn is_btree(number: u32, page: &[u8]) -> bool {
    page.get(header_offset(number)).is_some_and(|&byte| Kind::of(byte).is_some())
}

impl Layout {
    /// Reads the layout of page `number`, or says what is wrong with it.
    pub(super) fn read(number: u32, page: &[u8]) -> Result<Self, &'static str> {
        let start = header_offset(number);
        let kind = page.get(start).copied().and_then(Kind::of).ok_or("not a B-tree page")?;
        let header = if kind.is_interior() { 12 } else { 8 };
        let cells = usize::from(be16(page, start + 3)?);
        let pointers = start + header;
        let pointers_end = pointers + 2 * cells;
        if pointers_end > page.len() {
            return Err("more cells than fit on the page");
        }
        let mut layout = Self::default();
        layout.used.push(0..pointers_end);
        if kind.is_interior() {
            layout.children.push(be32(page, start + 8)?);
        }
        for cell in 0..cells {
            let at = usize::from(be16(page, pointers + 2 * cell)?);
            let length = layout.cell(kind, page, at)?;
            layout.used.push(at..at + length);
        }
        layout.free_blocks(page, usize::from(be16(page, start + 1)?))?;
        layout.used.sort_unstable_by_key(|range| range.start);
        let disjoint = layout.used.windows(2).all(|pair| pair[0].end <= pair[1].start);
        let inside = layout.used.iter().all(|range| range.end <= page.len());
        if disjoint && inside { Ok(layout) } else { Err("parts of the page overlap") }
    }

    /// Ranges no part of the page uses, ascending.
    pub(super) fn unused(&self, page_size: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let starts = self.used.iter().map(|range| range.end);
        let ends = self.used.iter().skip(1).map(|range| range.start).chain([page_size]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|range| !range.is_empty())
    }

    /// Returns the length of the cell at `at`; notes its child and its overflow chain.
    fn cell(&mut self, kind: Kind, page: &[u8], at: usize) -> Result<usize, &'static str> {
        let mut cursor = at;
        if kind.is_interior() {
            self.children.push(be32(page, cursor)?);
            cursor += 4;
        }
        if kind == Kind::TableInterior {
            varint(page, &mut cursor)?;
            return Ok((cursor - at).max(4));
        }
        let payload = varint(page, &mut cursor)?;
        if kind == Kind::TableLeaf {
            varint(page, &mut cursor)?;
        }
        let local = local_payload(kind, page.len() as u64, payload);
        cursor = usize::try_from(local)
            .ok()
            .and_then(|local| cursor.checked_add(local))
            .ok_or("a payload is longer than the page")?;
        if local < payload {
            self.overflows.push(Overflow { first: be32(page, cursor)?, length: payload - local });
            cursor += 4;
        }
        Ok((cursor - at).max(4))
    }

    /// Keeps the four-byte headers of the chain of free blocks; what they cover is unused.
    fn free_blocks(&mut self, page: &[u8], first: usize) -> Result<(), &'static str> {
        let mut at = first;
        while at != 0 {
            let next = usize::from(be16(page, at)?);
            if next != 0 && next <= at {
                return Err("free blocks out of order");
            }
            self.used.push(at..at + 4);
            at = next;
        }
        Ok(())
    }
}

/// Returns how many bytes of a payload are kept on the B-tree page itself.
pub(crate) fn local_payload(kind: Kind, usable: u64, payload: u64) -> u64 {
    let most = if kind == Kind::TableLeaf { usable - 35 } else { (usable - 12) * 64 / 255 - 23 };
    if payload <= most {
        return payload;
    }
    let least = (usable - 12) * 32 / 255 - 23;
    let filled = least + (payload - least) % (usable - 4);
    if filled <= most { filled } else { least }
}

/// Returns the big-endian 16-bit number at `at`.
pub(crate) fn be16(page: &[u8], at: usize) -> Result<u16, &'static str> {
    match page.get(at..at.saturating_add(2)) {
        Some(&[a, b]) => Ok(u16::from_be_bytes([a, b])),
        _ => Err("a pointer leads outside the page"),
    }
}

/// Returns the big-endian 32-bit number at `at`.
pub(crate) fn be32(page: &[u8], at: usize) -> Result<u32, &'static str> {
    match page.get(at..at.saturating_add(4)) {
        Some(&[a, b, c, d]) => Ok(u32::from_be_bytes([a, b, c, d])),
        _ => Err("a pointer leads outside the page"),
    }
}

/// Returns a variable-length integer of 1 to 9 bytes: seven bits each, the ninth byte gives eight.
pub(crate) fn varint(page: &[u8], cursor: &mut usize) -> Result<u64, &'static str> {
    let mut value = 0u64;
    for position in 0..9 {
        let &byte = page.get(*cursor).ok_or("a number runs over the end of the page")?;
        *cursor += 1;
        if position == 8 {
            return Ok(value << 8 | u64::from(byte));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn varints_of_every_length() {
        for (bytes, value) in [
            (&[0x00][..], 0),
            (&[0x7f], 127),
            (&[0x81, 0x00], 128),
            (&[0xff; 9], u64::MAX),
            (&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], 1),
        ] {
            let mut cursor = 0;
            assert_eq!(varint(bytes, &mut cursor), Ok(value));
            assert_eq!(cursor, bytes.len());
        }
        assert!(varint(&[0x80], &mut 0).is_err());
    }

    #[test]
    fn leaf_with_one_cell_and_one_free_block() {
        let mut page = vec![0u8; 512];
        page[0] = 13;
        page[1..3].copy_from_slice(&400u16.to_be_bytes());
        page[3..5].copy_from_slice(&1u16.to_be_bytes());
        page[8..10].copy_from_slice(&500u16.to_be_bytes());
        page[400..404].copy_from_slice(&[0, 0, 0, 20]);
        page[500..502].copy_from_slice(&[10, 1]);
        let layout = Layout::read(2, &page).unwrap();
        assert_eq!(layout.used, [0..10, 400..404, 500..512]);
        assert_eq!(layout.unused(512).collect::<Vec<_>>(), [10..400, 404..500]);
    }

    proptest! {
        /// Whatever the bytes, reading them gives an answer and the used ranges are disjoint.
        #[test]
        fn hostile_pages_never_panic(
            kind in prop::sample::select(vec![2u8, 5, 10, 13]),
            mut page in prop::collection::vec(any::<u8>(), 512),
            cells in 0u16..8,
        ) {
            page[0] = kind;
            page[3..5].copy_from_slice(&cells.to_be_bytes());
            if let Ok(layout) = Layout::read(2, &page) {
                prop_assert!(layout.used.windows(2).all(|pair| pair[0].end <= pair[1].start));
                prop_assert!(layout.unused(512).all(|gap| gap.end <= 512));
            }
        }
    }
}
