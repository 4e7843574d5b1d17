//! Entries of the ledger, sealed with the user's key.

use efface_privacy::certificate::seal;
use efface_vault::Keyring;

use crate::error::{Code, Error, Result};

/// Seals any ledger entry.
pub(crate) fn sealed(document: serde_json::Value, keyring: &Keyring) -> Result<(String, String)> {
    seal(document, &keyring.public_key(), |bytes| keyring.sign(bytes))
        .map_err(|error| Error::storage(Code::Certificate, error.to_string()))
}

/// The 32 bytes of a hash in hexadecimal.
pub(crate) fn hash_bytes(hash: &str) -> Result<[u8; 32]> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(hash, &mut bytes)
        .map_err(|error| Error::storage(Code::Certificate, error.to_string()))?;
    Ok(bytes)
}
