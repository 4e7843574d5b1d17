//! The exact forms of what certificates write as text: what had two spellings could be changed
//! without a trace. Hashes, digests, keys and signatures have their length in lower-case
//! hexadecimal digits.

use super::{Certificate, Chain, ParseError, Signature};

/// All of a certificate.
pub(super) fn exact(certificate: &Certificate) -> Result<(), ParseError> {
    let model = &certificate.model;
    is_hex("model.digest_after", &model.digest_after, 64)?;
    if let Some(before) = &model.digest_before {
        is_hex("model.digest_before", before, 64)?;
    }
    subjects(certificate.request.subject.as_deref())?;
    sealed(&certificate.chain, &certificate.signature)
}

/// What every entry of a ledger ends in.
pub(super) fn sealed(chain: &Chain, signature: &Signature) -> Result<(), ParseError> {
    is_hex("chain.previous", &chain.previous, 64)?;
    is_hex("chain.hash", &chain.hash, 64)?;
    is_hex("signature.key_id", &signature.key_id, 16)?;
    is_hex("signature.public_key", &signature.public_key, 64)?;
    is_hex("signature.value", &signature.value, 128)
}

/// One keyed hash for each subject of a request, joined by commas.
pub(super) fn subjects(hashes: Option<&str>) -> Result<(), ParseError> {
    let each = hashes.iter().flat_map(|list| list.split(','));
    each.into_iter().try_for_each(|hash| is_hex("request.subject", hash, 64))
}

fn is_hex(field: &'static str, text: &str, digits: usize) -> Result<(), ParseError> {
    let plain = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() == digits && text.bytes().all(plain) {
        return Ok(());
    }
    Err(ParseError::Form { field, digits, got: text.chars().take(40).collect() })
}
