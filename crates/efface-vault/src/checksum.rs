//! Keyed checksums, which show that a row, a request or the kept state was changed by something other than
//! this program.
//!
//! The key follows from the secret of the key file and from the vault's id, so a checksum is worth nothing in
//! another vault, and the vault alone does not suffice to make one. Each item has 32 bytes: the first half is
//! stored next to a block of rows, the second enters a sum over all items of its kind and is stored nowhere.
//! Without the key the summed values are unknown, so the sum cannot be aimed at, even with many earlier
//! copies of the vault.

use crate::keyring::Keyring;
use crate::stored::Request;
use std::fmt;
use zeroize::Zeroizing;

/// Number of stored bytes of a checksum.
pub(crate) const STORED: usize = 16;

/// The checksum of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checksum {
    /// The half that is stored next to a block.
    pub(crate) stored: [u8; STORED],
    /// The half that enters the sum.
    pub(crate) share: u128,
}

/// Makes the checksums of one vault.
#[derive(Clone)]
pub(crate) struct Checksums {
    key: Zeroizing<[u8; 32]>,
}

impl fmt::Debug for Checksums {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Checksums").finish_non_exhaustive()
    }
}

impl Checksums {
    pub(crate) fn new(keyring: &Keyring, vault_id: &str) -> Self {
        let key = Zeroizing::new(keyring.hmac(vault_id, "checksums", b""));
        Self { key }
    }

    /// Returns the checksum of the features of rows whose numbers begin with this one.
    pub(crate) fn features(&self, first: i64, features: &[u8]) -> [u8; STORED] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        // Features come first, so that whole chunks of them are hashed side by side; the end states their
        // length and what the block is.
        hasher.update(features).update(&first.to_le_bytes());
        hasher.update(&(features.len() as u64).to_le_bytes()).update(b"features");
        stored_half(hasher.finalize().as_bytes())
    }

    /// Returns the checksum of everything else of some rows.
    pub(crate) fn group(&self, rest: &[u8]) -> [u8; STORED] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(rest).update(&(rest.len() as u64).to_le_bytes()).update(b"group");
        stored_half(hasher.finalize().as_bytes())
    }

    /// Computes the checksum of the block that begins with this number: of its head, which has the checksums
    /// of its rows.
    pub(crate) fn block(&self, first: i64, head: &[u8]) -> Checksum {
        self.halves(b"block", |input| {
            input.extend(first.to_le_bytes());
            put(input, Some(head));
        })
    }

    /// Returns the checksum of a request as it is stored.
    pub(crate) fn request(&self, request: &Request) -> Checksum {
        self.halves(b"request", |input| {
            put(input, Some(request.request_id.as_bytes()));
            put(input, Some(request.kind.as_bytes()));
            put(input, request.body_digest.as_ref().map(|digest| &digest[..]));
            put(input, request.version.map(u64::to_le_bytes).as_ref().map(|bytes| &bytes[..]));
            input.extend(request.entry_index.to_le_bytes());
        })
    }

    /// Returns the checksum of a tombstone.
    pub(crate) fn tombstone(&self, mac: &[u8; 32], entry: u64) -> Checksum {
        self.halves(b"tombstone", |input| {
            input.extend(mac);
            input.extend(entry.to_le_bytes());
        })
    }

    /// Returns a keyed hash of what `fill` puts in, for one purpose.
    pub(crate) fn hash(&self, purpose: &[u8], fill: impl FnOnce(&mut Vec<u8>)) -> [u8; 32] {
        let mut input = Vec::with_capacity(256);
        put(&mut input, Some(purpose));
        fill(&mut input);
        blake3::keyed_hash(&self.key, &input).into()
    }

    fn halves(&self, purpose: &[u8], fill: impl FnOnce(&mut Vec<u8>)) -> Checksum {
        let hash = self.hash(purpose, fill);
        let mut share = [0; 16];
        share.copy_from_slice(&hash[STORED..]);
        Checksum { stored: stored_half(&hash), share: u128::from_le_bytes(share) }
    }
}

fn stored_half(hash: &[u8; 32]) -> [u8; STORED] {
    let mut stored = [0; STORED];
    stored.copy_from_slice(&hash[..STORED]);
    stored
}

#[cfg(test)]
pub(crate) fn for_tests(secret: u8, vault_id: &str) -> Checksums {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.toml");
    Checksums::new(&Keyring::create(&path, &[1; 32], &[secret; 32]).unwrap(), vault_id)
}

/// Appends bytes preceded by their length, so that no two lists of parts give the same input; `None` has a
/// length of its own.
pub(crate) fn put(input: &mut Vec<u8>, part: Option<&[u8]>) {
    let length = part.map_or(u64::MAX, |bytes| bytes.len() as u64);
    input.extend(length.to_le_bytes());
    input.extend(part.unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_covers_every_part_of_a_request() {
        let checksums = for_tests(2, "v");
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
