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

/// Returns the SHA-256 (hexadecimal) of the canonical document without `chain.hash` and `signature`.
///
/// # Errors
/// Fails if the document is no ledger entry.
pub fn document_hash(document: &Value) -> Result<String, ChainError> {
    let mut body = document.as_object().ok_or(ChainError::Shape)?.clone();
    body.remove("signature");
    body.get_mut("chain").and_then(Value::as_object_mut).ok_or(ChainError::Shape)?.remove("hash");
    let canonical = serde_json_canonicalizer::to_vec(&Value::Object(body))?;
    Ok(hex::encode(Sha256::digest(canonical)))
}

/// Hashes the document that `text` encodes, for a caller that then checks the signature over it. If the text
/// is as [`seal`] wrote it, as it usually is, nothing is serialised again.
///
/// Any other text may get the hash that it states itself: the hash of the bytes that remain without its own
/// `chain.hash` and `signature`. A signature over that hash holds only for the sealed text, since these bytes
/// are then the ones that were hashed for it.
///
/// # Errors
/// Fails as [`document_hash`] does.
pub fn text_hash(text: &str, document: &Value) -> Result<String, ChainError> {
    match left_of(text, document) {
        Some(hash) => Ok(hash),
        None => document_hash(document),
    }
}

/// Returns the hash that the document states, if its text without the unhashed members has that hash.
fn left_of(text: &str, document: &Value) -> Option<String> {
    let stated = document.pointer("/chain/hash")?.as_str()?;
    let signature = serde_json_canonicalizer::to_string(document.get("signature")?).ok()?;
    let (before, rest) = once(text, &format!("{CHAIN}\"hash\":\"{stated}\","))?;
    let (between, after) = once(rest, &format!("\"signature\":{signature},"))?;
    let parts = [before, CHAIN, between, after];
    let digest = parts.into_iter().fold(Sha256::new(), |hash, part| hash.chain_update(part));
    let hash = hex::encode(digest.finalize());
    (hash == stated).then_some(hash)
}

/// How the member with the hash begins.
const CHAIN: &str = "\"chain\":{";

/// Returns the text before and after `what` if it occurs exactly once in the text.
fn once<'a>(text: &'a str, what: &str) -> Option<(&'a str, &'a str)> {
    let (before, after) = text.split_once(what)?;
    (!after.contains(what)).then_some((before, after))
}

/// Fills in `chain.hash` and `signature` and returns the canonical text and the hash.
///
/// `sign` receives the bytes to sign; `public_key` are the 32 bytes that verify it.
///
/// # Errors
/// Fails if the document has no `chain` object.
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

/// Returns the short name of a public key.
#[must_use]
pub fn key_id(public_key: &[u8; 32]) -> String {
    hex::encode(Sha256::digest(public_key)).chars().take(16).collect()
}

/// Returns whether `signature` (hexadecimal) over `hash` is by `public_key`, in strict verification.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sealed() -> (String, String) {
        let document = json!({
            "schema": "x", "vault": "v", "zeros": [1, 2.5, "\"chain\":{"],
            "chain": { "index": 3, "previous": GENESIS },
        });
        seal(document, &[7; 32], |_| [9; 64]).unwrap()
    }

    fn of(text: &str) -> (Option<String>, String) {
        let document: Value = serde_json::from_str(text).unwrap();
        (left_of(text, &document), text_hash(text, &document).unwrap())
    }

    #[test]
    fn a_text_as_it_was_sealed_is_not_written_anew() {
        let (text, hash) = sealed();
        assert_eq!(of(&text), (Some(hash.clone()), hash));
    }

    /// Another text of the same document has its hash; another document has not, whatever it states.
    #[test]
    fn other_texts_are_written_anew() {
        let (text, hash) = sealed();
        for (old, new) in
            [(":", ": "), ("\"index\":3,", "\"index\":3.0,"), ("\"vault\"", "\"va\\u0075lt\"")]
        {
            let other = text.replacen(old, new, 1);
            assert_eq!(of(&other), (None, hash.clone()), "{old}");
        }
        let signature = text.find("\"signature\"").unwrap();
        let end = text[signature..].find('}').unwrap() + signature + 2;
        let member = &text[signature..end];
        for (old, new) in [
            ("\"v\"", "\"w\"".to_owned()),
            ("\"index\":3", "\"index\":4".to_owned()),
            ("\"schema\"", format!("{member}\"schema\"")),
            ("\"zeros\":[", format!("\"zeros\":[{{{}}},", &member[..member.len() - 1])),
            ("\"zeros\"", format!("\"y\":{{\"chain\":{{\"hash\":\"{hash}\",\"a\":1}}}},\"zeros\"")),
            (&hash[..], hash.replacen(|c: char| c.is_ascii_digit(), "a", 1)),
        ] {
            let other = text.replacen(old, &new, 1);
            let document: Value = serde_json::from_str(&other).unwrap();
            assert_eq!(left_of(&other, &document), None, "{old}");
        }
    }
}
