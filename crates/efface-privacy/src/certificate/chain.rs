//! Canonical form, hash chain and signature, for certificates and every other ledger entry.

use ed25519_dalek::{Signature as Ed25519Signature, VerifyingKey};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The hash before the first entry.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What is signed: this line, then the hash.
const DOMAIN: &str = "efface ledger entry 0\n";

/// Why a document cannot be sealed or checked.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// Not a JSON object with `chain` and `signature` objects.
    #[error("a ledger entry must be a JSON object with a `chain` object")]
    Shape,
    /// It cannot be written canonically.
    #[error("cannot write canonical JSON: {0}")]
    Canonical(#[from] serde_json::Error),
}

/// SHA-256 (hexadecimal) of the canonical document without `chain.hash` and `signature`.
///
/// # Errors
/// When the document is no ledger entry.
pub fn document_hash(document: &Value) -> Result<String, ChainError> {
    let mut body = document.as_object().ok_or(ChainError::Shape)?.clone();
    body.remove("signature");
    body.get_mut("chain").and_then(Value::as_object_mut).ok_or(ChainError::Shape)?.remove("hash");
    let canonical = serde_json_canonicalizer::to_vec(&Value::Object(body))?;
    Ok(hex::encode(Sha256::digest(canonical)))
}

/// Fills in `chain.hash` and `signature` and returns the canonical text and the hash.
///
/// `sign` is given the bytes to sign; `public_key` are the 32 bytes that verify it.
///
/// # Errors
/// When the document has no `chain` object.
pub fn seal(
    mut document: Value,
    public_key: &[u8; 32],
    sign: impl FnOnce(&[u8]) -> [u8; 64],
) -> Result<(String, String), ChainError> {
    let hash = document_hash(&document)?;
    let signature = sign(format!("{DOMAIN}{hash}").as_bytes());
    let object = document.as_object_mut().ok_or(ChainError::Shape)?;
    let chain = object.get_mut("chain").and_then(Value::as_object_mut).ok_or(ChainError::Shape)?;
    chain.insert("hash".into(), Value::String(hash.clone()));
    object.insert(
        "signature".into(),
        serde_json::json!({
            "key_id": key_id(public_key),
            "public_key": hex::encode(public_key),
            "value": hex::encode(signature),
        }),
    );
    let text = serde_json_canonicalizer::to_string(&document)?;
    Ok((text, hash))
}

/// Short name of a public key.
#[must_use]
pub fn key_id(public_key: &[u8; 32]) -> String {
    hex::encode(Sha256::digest(public_key)).chars().take(16).collect()
}

/// Whether `signature` (hexadecimal) over `hash` is by `public_key`, in strict verification.
#[must_use]
pub fn signature_holds(public_key: &[u8; 32], hash: &str, signature: &str) -> bool {
    let mut bytes = [0u8; 64];
    if hex::decode_to_slice(signature, &mut bytes).is_err() {
        return false;
    }
    let Ok(key) = VerifyingKey::from_bytes(public_key) else { return false };
    let message = format!("{DOMAIN}{hash}");
    key.verify_strict(message.as_bytes(), &Ed25519Signature::from_bytes(&bytes)).is_ok()
}
