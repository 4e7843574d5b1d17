//! Seals entries of the ledger with the user's key.

use efface_privacy::certificate::{
    Certificate, ERASURE_SCHEMA, Erasure, MAX_BYTES, ParseError, SCHEMA, seal,
};
use efface_vault::Keyring;

use crate::error::{Code, Error, Result};

/// Seals any ledger entry.
///
/// # Errors
/// Fails if nobody could read the entry again: the ledger would end there for good.
pub(crate) fn sealed(document: serde_json::Value, keyring: &Keyring) -> Result<(String, String)> {
    let (text, hash) = seal(document, &keyring.public_key(), |bytes| keyring.sign(bytes))
        .map_err(|error| Error::storage(Code::Certificate, error.to_string()))?;
    match read_back(&text) {
        Ok(()) => Ok((text, hash)),
        Err(error) => {
            let message = format!("the entry of the ledger could not be read again: {error}");
            Err(Error::refused(Code::Certificate, message).hint("nothing was changed"))
        }
    }
}

/// Makes the checks on an entry that its readers will make.
fn read_back(text: &str) -> std::result::Result<(), ParseError> {
    let schema = |name| text.contains(&format!("\"schema\":\"{name}\""));
    match text {
        _ if text.len() > MAX_BYTES => Err(ParseError::TooLarge(text.len())),
        _ if schema(SCHEMA) => Certificate::parse(text).map(drop),
        _ if schema(ERASURE_SCHEMA) => Erasure::parse(text).map(drop),
        _ => Ok(()),
    }
}

/// Returns the 32 bytes of a hexadecimal hash.
pub(crate) fn hash_bytes(hash: &str) -> Result<[u8; 32]> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(hash, &mut bytes)
        .map_err(|error| Error::storage(Code::Certificate, error.to_string()))?;
    Ok(bytes)
}
