//! The exact forms of what certificates write as text: what had two spellings could be changed
//! without a trace. Hashes, digests, keys and signatures have their length in lower-case
//! hexadecimal digits, times whole seconds in UTC.

use super::{Certificate, Chain, ParseError, Signature};

/// Checks every field of a certificate.
pub(super) fn exact(certificate: &Certificate) -> Result<(), ParseError> {
    let model = &certificate.model;
    is_hex("model.digest_after", &model.digest_after, 64)?;
    if let Some(before) = &model.digest_before {
        is_hex("model.digest_before", before, 64)?;
    }
    root(certificate.request.subjects.as_deref())?;
    is_time("issued_at", &certificate.issued_at)?;
    is_time("request.received_at", &certificate.request.received_at)?;
    sealed(&certificate.chain, &certificate.signature)
}

/// Checks the end of every ledger entry: chain and signature.
pub(super) fn sealed(chain: &Chain, signature: &Signature) -> Result<(), ParseError> {
    is_hex("chain.previous", &chain.previous, 64)?;
    is_hex("chain.hash", &chain.hash, 64)?;
    is_hex("signature.key_id", &signature.key_id, 16)?;
    is_hex("signature.public_key", &signature.public_key, 64)?;
    is_hex("signature.value", &signature.value, 128)
}

/// Checks the root over the subjects of a request, if it named some.
pub(super) fn root(subjects: Option<&str>) -> Result<(), ParseError> {
    subjects.map_or(Ok(()), |root| is_hex("request.subjects", root, 64))
}

fn is_hex(field: &'static str, text: &str, digits: usize) -> Result<(), ParseError> {
    let plain = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() == digits && text.bytes().all(plain) {
        return Ok(());
    }
    Err(ParseError::Form { field, digits, got: text.chars().take(40).collect() })
}

/// Checks a time such as `2026-01-31T23:59:59Z`.
pub(super) fn is_time(field: &'static str, text: &str) -> Result<(), ParseError> {
    let number = |at: usize| -> Option<u32> {
        let pair = text.as_bytes().get(at..at + 2)?;
        pair.iter()
            .all(u8::is_ascii_digit)
            .then(|| u32::from(pair[0] - b'0') * 10 + u32::from(pair[1] - b'0'))
    };
    let limits =
        [(0, 0, 99), (2, 0, 99), (5, 1, 12), (8, 1, 31), (11, 0, 23), (14, 0, 59), (17, 0, 60)];
    let numbers = limits
        .into_iter()
        .all(|(at, low, high)| number(at).is_some_and(|number| (low..=high).contains(&number)));
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'Z')];
    let marked = marks.into_iter().all(|(at, mark)| text.as_bytes().get(at) == Some(&mark));
    if text.len() == 20 && numbers && marked {
        return Ok(());
    }
    Err(ParseError::Time { field, got: text.chars().take(40).collect() })
}
