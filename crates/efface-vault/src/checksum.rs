//! Keyed checksums: what shows that a row, a request or the kept state was changed behind the
//! program's back.
//!
//! The key follows from the secret of the key file and from the vault's id, so a checksum is worth
//! nothing in another vault, and whoever has the vault alone can make none. Each item has 32 bytes:
//! the first half is stored beside a row, the second enters a sum over all items of its kind and is
//! stored nowhere. Sums of values that nobody without the key knows cannot be aimed at, however
//! many earlier copies of the vault somebody has.

use crate::keyring::Keyring;
use crate::stored::{Request, StoredRecord};
use std::cell::RefCell;
use std::fmt;
use zeroize::Zeroizing;

/// Bytes of a checksum that are stored beside its row.
pub(crate) const STORED: usize = 16;

/// The checksum of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checksum {
    /// Stored beside a row.
    pub(crate) stored: [u8; STORED],
    /// Enters the sum.
    pub(crate) share: u128,
}

/// Makes the checksums of one vault.
pub(crate) struct Checksums {
    key: Zeroizing<[u8; 32]>,
    /// The input of the last checksum; kept to spare an allocation for each row.
    input: RefCell<Vec<u8>>,
}

impl fmt::Debug for Checksums {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Checksums").finish_non_exhaustive()
    }
}

impl Checksums {
    pub(crate) fn new(keyring: &Keyring, vault_id: &str) -> Self {
        let key = Zeroizing::new(keyring.hmac(vault_id, "checksums", b""));
        Self { key, input: RefCell::default() }
    }

    /// The checksum of a row under its number. A weight is part of the features.
    pub(crate) fn row(&self, number: i64, record: &StoredRecord<'_>) -> Checksum {
        self.halves(b"row", |input| {
            input.extend(number.to_le_bytes());
            input.extend(record.added_version.to_le_bytes());
            // The store does not keep the sign of zero.
            input.extend((record.target + 0.0).to_le_bytes());
            put(input, Some(record.id.as_bytes()));
            put(input, record.subject.map(str::as_bytes));
            put(input, Some(record.features));
        })
    }

    /// The checksum of a request as it is stored.
    pub(crate) fn request(&self, request: &Request) -> Checksum {
        self.halves(b"request", |input| {
            put(input, Some(request.request_id.as_bytes()));
            put(input, Some(request.kind.as_bytes()));
            put(input, request.body_digest.as_ref().map(|digest| &digest[..]));
            put(input, request.version.map(u64::to_le_bytes).as_ref().map(|bytes| &bytes[..]));
            input.extend(request.entry_index.to_le_bytes());
        })
    }

    /// The checksum of a tombstone.
    pub(crate) fn tombstone(&self, mac: &[u8; 32], entry: u64) -> Checksum {
        self.halves(b"tombstone", |input| {
            input.extend(mac);
            input.extend(entry.to_le_bytes());
        })
    }

    /// A keyed hash of what `fill` puts in, for one purpose.
    pub(crate) fn hash(&self, purpose: &[u8], fill: impl FnOnce(&mut Vec<u8>)) -> [u8; 32] {
        let mut input = self.input.borrow_mut();
        input.clear();
        put(&mut input, Some(purpose));
        fill(&mut input);
        blake3::keyed_hash(&self.key, &input).into()
    }

    fn halves(&self, purpose: &[u8], fill: impl FnOnce(&mut Vec<u8>)) -> Checksum {
        let hash = self.hash(purpose, fill);
        let (mut stored, mut share) = ([0; STORED], [0; 16]);
        stored.copy_from_slice(&hash[..STORED]);
        share.copy_from_slice(&hash[STORED..]);
        Checksum { stored, share: u128::from_le_bytes(share) }
    }
}

/// Appends bytes with their length in front, so that no two lists of parts give the same input;
/// nothing at all has a length of its own.
pub(crate) fn put(input: &mut Vec<u8>, part: Option<&[u8]>) {
    let length = part.map_or(u64::MAX, |bytes| bytes.len() as u64);
    input.extend(length.to_le_bytes());
    input.extend(part.unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyring(secret: u8) -> Keyring {
        let folder = tempfile::tempdir().unwrap();
        Keyring::create(&folder.path().join("key.toml"), &[1; 32], &[secret; 32]).unwrap()
    }

    const ROW: StoredRecord<'_> = StoredRecord {
        id: "ab",
        subject: Some("c"),
        target: 1.0,
        features: &[7, 8, 9],
        added_version: 2,
    };

    /// Every part of a row, its number, the vault and the secret enter its checksum; parts cannot
    /// be shifted into one another.
    #[test]
    fn a_checksum_covers_every_part_of_a_row() {
        let checksums = Checksums::new(&keyring(2), "v");
        let expected = checksums.row(5, &ROW);
        assert_eq!(checksums.row(5, &StoredRecord { target: 1.0, ..ROW }), expected);
        for (number, other) in [
            (6, ROW),
            (5, StoredRecord { id: "abc", subject: Some(""), ..ROW }),
            (5, StoredRecord { subject: None, ..ROW }),
            (5, StoredRecord { target: 1.5, ..ROW }),
            (5, StoredRecord { features: &[7, 8], ..ROW }),
            (5, StoredRecord { features: &[7, 8, 9, 0], ..ROW }),
            (5, StoredRecord { added_version: 3, ..ROW }),
        ] {
            let got = checksums.row(number, &other);
            assert!(got.stored != expected.stored && got.share != expected.share, "{other:?}");
        }
        assert_ne!(Checksums::new(&keyring(2), "w").row(5, &ROW), expected);
        assert_ne!(Checksums::new(&keyring(3), "v").row(5, &ROW), expected);
        let zero = StoredRecord { target: 0.0, ..ROW };
        assert_eq!(
            checksums.row(5, &StoredRecord { target: -0.0, ..ROW }),
            checksums.row(5, &zero)
        );
    }

    #[test]
    fn a_checksum_covers_every_part_of_a_request() {
        let checksums = Checksums::new(&keyring(2), "v");
        let request = Request {
            request_id: "r".into(),
            kind: "add".into(),
            body_digest: Some([4; 32]),
            version: Some(3),
            entry_index: 2,
        };
        let expected = checksums.request(&request);
        for other in [
            Request { request_id: "s".into(), ..request.clone() },
            Request { kind: "delete".into(), ..request.clone() },
            Request { body_digest: None, ..request.clone() },
            Request { version: None, ..request.clone() },
            Request { entry_index: 3, ..request.clone() },
        ] {
            assert_ne!(checksums.request(&other), expected, "{other:?}");
        }
        assert_ne!(checksums.tombstone(&[1; 32], 2), checksums.tombstone(&[1; 32], 3));
    }
}
