//! Keys for a vault: with them it can be changed, and what is read is checked.

use crate::checksum::Checksums;
use crate::{Keyring, ReadError, Vault};

/// Why a vault could not be unlocked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnlockError {
    /// The keys belong to other vaults.
    #[error("the key file is not the one this vault was made with")]
    OtherKey,
    /// The signing key is the right one, the secret is not.
    #[error(
        "the key file has the signing key this vault was made with, but another `hmac_secret`: \
         with it, deleted ids would come back as unknown"
    )]
    OtherSecret,
    /// The vault cannot be read, or is not as its last request left it.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl Vault {
    /// Shows the vault its keys, which must be those it was made with. Only then can it be
    /// changed, and only then does a read check what it reads against its checksums.
    ///
    /// # Errors
    /// Fails if the keys belong to other vaults; with [`RowFault::Tally`](crate::RowFault::Tally) if the
    /// tally, the version of the model, the head of the ledger or the kept state are not those of the last
    /// request.
    pub fn unlock(&mut self, keyring: &Keyring) -> Result<(), UnlockError> {
        self.unlock_damaged(keyring)?;
        self.stored_tally().inspect_err(|_| self.checksums = None)?;
        Ok(())
    }

    /// Works as [`Vault::unlock`], even if the tally is not that of the last request: for an erasure, which a
    /// damaged vault serves, too. [`Vault::begin`] then refuses every other change.
    ///
    /// # Errors
    /// Fails if the keys belong to other vaults, or if the vault cannot be read.
    pub fn unlock_damaged(&mut self, keyring: &Keyring) -> Result<(), UnlockError> {
        let genesis = self.genesis()?;
        if genesis.public_key != keyring.public_key() {
            return Err(UnlockError::OtherKey);
        }
        let sql = "SELECT secret_check FROM genesis";
        let check: [u8; 32] =
            self.connection.query_row(sql, [], |row| row.get(0)).map_err(ReadError::from)?;
        if check != keyring.secret_check(&genesis.vault_id) {
            return Err(UnlockError::OtherSecret);
        }
        self.checksums = Some(Checksums::new(keyring, &genesis.vault_id));
        Ok(())
    }
}
