//! Records with recognisable bytes, and the search for those bytes in files.

use efface_vault::{Genesis, Keyring, RecordId, StoredRecord, Transaction, Vault};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// Bytes in a piece that the search looks for. Two pieces of random bytes are equal by chance
/// with probability 2^-64; ids use 62 characters, so theirs with 62^-8 = 5e-15.
const PIECE: usize = 8;

/// What every test's vault begins with.
pub(crate) fn genesis() -> Genesis {
    Genesis {
        vault_id: "planted".into(),
        created_at: "2026-01-01T00:00:00Z".into(),
        config_json: "{}".into(),
        public_key: keyring().public_key(),
        block_rows: 16,
    }
}

/// The keys of every test's vault.
pub(crate) fn keyring() -> Keyring {
    let folder = tempfile::tempdir().unwrap();
    Keyring::create(&folder.path().join("key.toml"), &[1; 32], &[2; 32]).unwrap()
}

/// Opens a vault with its keys.
pub(crate) fn unlocked(path: &Path) -> Vault {
    let mut vault = Vault::open(path).unwrap();
    vault.unlock(&keyring()).unwrap();
    vault
}

/// A record made from a seed; no other seed gives a record with a piece in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Planted {
    pub(crate) id: String,
    pub(crate) subject: Option<String>,
    pub(crate) target: f64,
    pub(crate) features: Vec<u8>,
}

impl Planted {
    /// The record of this seed, with this many bytes of features and a subject if `owner` is given
    /// (equal owners are the same subject).
    pub(crate) fn new(seed: u64, size: usize, owner: Option<u64>) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut features = vec![0; size];
        rng.fill_bytes(&mut features);
        Self {
            id: word(&mut rng),
            subject: owner
                .map(|owner| word(&mut ChaCha20Rng::seed_from_u64(owner ^ 0x5eed_5eed_0000_0000))),
            target: f64::from(rng.next_u32()),
            features,
        }
    }

    pub(crate) fn stored(&self) -> StoredRecord<'_> {
        StoredRecord {
            id: &self.id,
            subject: self.subject.as_deref(),
            target: self.target,
            features: &self.features,
            added_version: 1,
        }
    }

    pub(crate) fn insert(&self, change: &mut Transaction<'_>) -> RecordId {
        change.insert_record(&self.stored()).unwrap()
    }
}

/// Sixteen random letters and digits.
fn word(rng: &mut ChaCha20Rng) -> String {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    (0..16).map(|_| char::from(LETTERS[(rng.next_u64() % 62) as usize])).collect()
}

/// Pieces of deleted content to look for.
#[derive(Default)]
pub(crate) struct Needles {
    pieces: HashSet<u64>,
    /// Bit per value of the first three bytes: most places are dismissed without a look-up.
    sieve: Vec<u64>,
}

impl Needles {
    pub(crate) fn new() -> Self {
        Self { pieces: HashSet::new(), sieve: vec![0; 1 << 18] }
    }

    /// Adds all eight-byte windows of a short text.
    pub(crate) fn text(&mut self, text: &str) {
        text.as_bytes().windows(PIECE).for_each(|window| self.piece(window));
    }

    /// Adds every aligned eight-byte block: any 15 consecutive bytes contain one.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        bytes.chunks_exact(PIECE).for_each(|block| self.piece(block));
    }

    /// Adds what must be gone when this record is; its subject only if `subject_too`.
    pub(crate) fn record(&mut self, record: &Planted, subject_too: bool) {
        self.text(&record.id);
        self.bytes(&record.features);
        if let (Some(subject), true) = (&record.subject, subject_too) {
            self.text(subject);
        }
    }

    fn piece(&mut self, piece: &[u8]) {
        self.pieces.insert(number(piece));
        let slot = slot(piece);
        self.sieve[slot / 64] |= 1 << (slot % 64);
    }

    /// Places in the files of a folder where a piece stands, as `file: offset`.
    pub(crate) fn find(&self, folder: &Path) -> Vec<String> {
        let mut places = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                places.extend(self.find(&path));
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            for (offset, window) in bytes.windows(PIECE).enumerate() {
                let slot = slot(window);
                let sifted = self.sieve[slot / 64] >> (slot % 64) & 1 == 1;
                if sifted && self.pieces.contains(&number(window)) {
                    places.push(format!("{}: {offset}", path.display()));
                }
            }
        }
        places
    }

    pub(crate) fn assert_gone(&self, folder: &Path, when: &str) {
        let places = self.find(folder);
        let first: Vec<_> = places.iter().take(5).collect();
        assert!(places.is_empty(), "{when}: {} traces, such as {first:?}", places.len());
    }
}

fn number(piece: &[u8]) -> u64 {
    u64::from_le_bytes(piece.try_into().unwrap())
}

fn slot(piece: &[u8]) -> usize {
    usize::from(piece[0]) << 16 | usize::from(piece[1]) << 8 | usize::from(piece[2])
}

/// Asserts that the file is sound and that every byte it does not use is zero.
pub(crate) fn assert_clean(vault: &mut Vault, when: &str) {
    let examination = vault.examine().unwrap();
    assert_eq!(examination.complaints, Vec::<String>::new(), "{when}");
    assert_eq!(examination.residue, 0, "{when}: bytes not in use and not zero");
}
