//! What another program may do to the rows of a vault: changes of the bytes of their block, of which
//! there is one.

use rusqlite::Connection;
use std::path::Path;

/// What becomes of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Alteration {
    /// It is taken out, and the count of rows follows.
    Remove,
    /// Its target `y` becomes `1 - y`.
    Target,
    /// Its features become zeros.
    Features,
    /// The first text like the left one, in the row's names or behind them, becomes the right one,
    /// which is as long.
    Name(&'static str, &'static [u8]),
}

/// Alters the row of a number, counted from 1.
pub(crate) fn alter(vault: &Path, number: usize, alteration: Alteration) {
    let file = Connection::open(vault).unwrap();
    let (mut head, mut features, mut rows): (Vec<u8>, Vec<u8>, i64) = file
        .query_row("SELECT head, features, rows FROM block JOIN content USING (first)", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap()) as usize;
    let (slots, common) = (word(0), word(4) & 1 == 1);
    let (slot, bits) = (number - 1, if common { 12 } else { 8 });
    match alteration {
        Alteration::Remove => {
            assert!(head[bits + slot / 8] >> (slot % 8) & 1 == 1, "row {number} is there");
            head[bits + slot / 8] ^= 1 << (slot % 8);
            rows -= 1;
        }
        Alteration::Target => {
            let target = &mut head[bits + slots.div_ceil(8) + 8 * slot..][..8];
            let y = f64::from_le_bytes((&*target).try_into().unwrap());
            target.copy_from_slice(&(1.0 - y).to_le_bytes());
        }
        Alteration::Features => {
            assert!(common, "rows are equally long");
            let length = word(8);
            features[length * slot..length * (slot + 1)].fill(0);
        }
        Alteration::Name(from, to) => {
            assert_eq!(from.len(), to.len());
            let at = head.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
            head[at..at + to.len()].copy_from_slice(to);
        }
    }
    let altered = "UPDATE block SET head = ?1, rows = ?2";
    assert_eq!(file.execute(altered, (head, rows)).unwrap(), 1);
    assert_eq!(file.execute("UPDATE content SET features = ?1", [features]).unwrap(), 1);
}
