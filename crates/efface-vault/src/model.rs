//! The current model, and the secret state that may be kept next to it.

use crate::column::{at_most_one, blob, unsigned, within};
use crate::{ReadError, RowFault, StoreFault, Transaction, Vault, WriteError};

/// The published model as the vault keeps it. Only the current version is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredModel {
    /// Version, counted by the engine.
    pub version: u64,
    /// Encoded weights; the vault does not look inside.
    pub weights: Vec<u8>,
    /// What the digest is salted with: random, drawn for this version, gone when it is replaced.
    pub salt: [u8; 32],
    /// Salted digest of the weights, as certificates name it.
    pub digest: [u8; 32],
}

impl Vault {
    /// Returns the current model; `None` before the first is stored.
    ///
    /// # Errors
    /// Fails as [`ReadError`] says.
    pub fn model(&self) -> Result<Option<StoredModel>, ReadError> {
        let [salt, digest] = ["salt", "digest"].map(|column| within(column, 32));
        let sql = format!("SELECT version, weights, {salt}, {digest} FROM model");
        at_most_one(&self.connection, &sql, [], |row| {
            Ok(StoredModel {
                version: unsigned(row, 0)?,
                weights: row.get(1)?,
                salt: row.get(2)?,
                digest: row.get(3)?,
            })
        })
    }

    /// Returns the version of the current model.
    pub(crate) fn model_version(&self) -> Result<Option<u64>, ReadError> {
        at_most_one(&self.connection, "SELECT version FROM model", [], |row| unsigned(row, 0))
    }

    /// Returns the secret state kept next to the model (factors, budgets); `None` if nothing is kept.
    ///
    /// # Errors
    /// Fails with [`RowFault::Kept`] if its bytes were changed after they were stored. That it is the state
    /// of the last request is checked when the vault is [unlocked](Vault::unlock).
    pub fn caches(&self) -> Result<Option<Vec<u8>>, ReadError> {
        let sql = format!("SELECT state, {} FROM caches", within("digest", 32));
        let found = at_most_one(&self.connection, &sql, [], |row| {
            Ok((blob(row, 0)?.to_vec(), row.get::<_, [u8; 32]>(1)?))
        })?;
        let Some((state, digest)) = found else { return Ok(None) };
        match digest_of(&state) == digest {
            true => Ok(Some(state)),
            false => Err(StoreFault::from(RowFault::Kept).into()),
        }
    }

    /// Returns whether anything is [kept](Self::caches), even if its bytes were changed after they were
    /// stored.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn keeps_caches(&self) -> Result<bool, ReadError> {
        Ok(self.caches_digest()?.is_some())
    }

    /// Returns the digest stored with the kept state, whose bytes may be damaged.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub(crate) fn caches_digest(&self) -> Result<Option<[u8; 32]>, ReadError> {
        let sql = format!("SELECT {} FROM caches", within("digest", 32));
        at_most_one(&self.connection, &sql, [], |row| row.get(0))
    }
}

impl Transaction<'_> {
    /// Replaces the current model, whose bytes, salt included, are erased at the commit.
    ///
    /// # Errors
    /// Fails as [`WriteError`] says.
    pub fn replace_model(
        &mut self,
        version: u64,
        weights: &[u8],
        salt: &[u8; 32],
        digest: &[u8; 32],
    ) -> Result<(), WriteError> {
        self.touch()?;
        let version = self.number("version", version)?;
        self.execute("DELETE FROM model", [])?;
        let sql = "INSERT INTO model (one, version, salt, digest, weights) \
                   VALUES (1, ?1, ?2, ?3, ?4)";
        self.execute(sql, (version, salt, digest, weights))?;
        Ok(())
    }

    /// Removes the model and the state next to it, whose bytes are erased at the commit.
    ///
    /// # Errors
    /// Fails as [`WriteError`] says.
    pub fn withdraw_model(&mut self) -> Result<(), WriteError> {
        self.touch()?;
        self.execute("DELETE FROM model", [])?;
        self.execute("DELETE FROM caches", [])?;
        Ok(())
    }

    /// Replaces the current configuration, whose bytes are erased at the commit.
    ///
    /// # Errors
    /// Fails as [`WriteError`] says.
    pub fn replace_config(&mut self, config_json: &str) -> Result<(), WriteError> {
        self.touch()?;
        self.execute("UPDATE genesis SET config = ?1", [config_json])?;
        Ok(())
    }

    /// Replaces the secret state next to the model, or removes it. State computed from rows that this change
    /// deletes must be removed or recomputed by the caller: the vault cannot know.
    ///
    /// # Errors
    /// Fails as [`WriteError`] says.
    pub fn set_caches(&mut self, state: Option<&[u8]>) -> Result<(), WriteError> {
        self.touch()?;
        self.execute("DELETE FROM caches", [])?;
        if let Some(state) = state {
            let sql = "INSERT INTO caches (one, digest, state) VALUES (1, ?1, ?2)";
            self.execute(sql, (digest_of(state), state))?;
        }
        Ok(())
    }
}

/// Computes the digest that is stored with the state.
fn digest_of(state: &[u8]) -> [u8; 32] {
    blake3::hash(state).into()
}
