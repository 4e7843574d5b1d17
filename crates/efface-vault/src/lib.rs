//! The single-file store of a model that can forget.
//!
//! A [`Vault`] is one SQLite file, `NAME.efface`, with everything about one model: its records, its current
//! weights, the requests it has served and the append-only ledger of certificates. The vault stores bytes and
//! JSON text that the engine gives it and does no mathematics.
//!
//! Three promises matter here, and each has its own test suite:
//!
//! - **Durable or nothing.** A request is one [`Transaction`]. When [`Transaction::commit`] has
//!   returned, all of it is on the disk; before that, a crash leaves the state before it.
//! - **Deleted means gone.** When a deletion has been committed, no file in the vault's folder
//!   holds bytes of the deleted record. SQLite's `secure_delete` alone does not give this (pages
//!   rebuilt by its balancing keep stale copies of neighbouring rows), so every commit also
//!   overwrites each byte that its pages do not use. What the file system or the drive keeps
//!   below the file is out of reach.
//! - **Changed means refused.** Every row has a keyed checksum, and all of them a sum that each
//!   request takes forward: a row that another program removed, added, altered or exchanged is
//!   found by the next request, and so is a file that was copied in the middle of a change.
//!
//! ```
//! use efface_vault::{Genesis, Keyring, StoredRecord, Vault};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let keyring = Keyring::create(&folder.path().join("key.toml"), &[1; 32], &[2; 32])?;
//! let genesis = Genesis {
//!     vault_id: "6f1c".into(),
//!     created_at: "2026-01-01T00:00:00Z".into(),
//!     config_json: "{}".into(),
//!     public_key: keyring.public_key(),
//!     block_rows: efface_vault::rows_per_block(100),
//! };
//! let mut creation = Vault::create(&folder.path().join("model.efface"), &genesis, &keyring)?;
//! for id in ["a", "b"] {
//!     creation.insert_record(&StoredRecord {
//!         id,
//!         subject: Some("alice"),
//!         target: 1.0,
//!         features: &[0, 0, 128, 63],
//!         added_version: 1,
//!     })?;
//! }
//! creation.replace_model(1, b"weights", &[5; 32], &[7; 32])?;
//! let mut vault = creation.commit()?;
//!
//! let rows = vault.find_subject("alice")?;
//! let mut transaction = vault.begin()?;
//! transaction.delete_records(&rows)?;
//! transaction.commit()?;
//! assert_eq!(vault.counts()?.records, 0);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod block;
mod buffer_pool;
mod checksum;
mod column;
mod connection;
mod copy;
mod creation;
mod damage;
mod difference;
mod direct_read;
mod error;
mod heads;
mod hot_journal;
mod identity;
mod index;
mod insert;
mod journal;
mod keyring;
mod ledger;
mod left_over;
mod lock;
mod model;
mod name;
mod ordered_parallel;
mod place;
mod point_lookup;
mod position;
mod range_lock;
mod raw_file;
mod record;
mod removal;
mod request;
mod rewrite;
mod scan;
mod schema;
mod split_read;
mod stamp;
mod stored;
mod sweep;
mod tally;
mod tombstone;
mod transaction;
mod unlock;
mod vault;
mod wipe;
mod writeback;

pub use block::{BlockHead, Name, RowBlock, RowSpan, rows_per_block};
pub use copy::{Copied, Existing};
pub use creation::{CreateError, Creation, is_reserved};
pub use damage::Survey;
pub use error::{OpenError, ReadError, RowFault, StoreFault, WriteError};
pub use identity::Identity;
pub use index::{Counts, IdLookup};
pub use insert::Records;
pub use keyring::{Keyring, KeyringError};
pub use ledger::{LedgerEntry, LedgerHead};
pub use lock::LockError;
pub use model::StoredModel;
pub use name::{Id, row_id, row_position};
pub use place::Placed;
pub use stamp::FileStamp;
pub use stored::{MOST_BYTES, RecordId, Request, StoredRecord};
pub use sweep::Examination;
pub use transaction::Transaction;
pub use unlock::UnlockError;
pub use vault::{Genesis, Vault};
