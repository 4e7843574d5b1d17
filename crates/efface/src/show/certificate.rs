//! A certificate, or the entry of an erasure, as a page: parsed, and held against its signature.

use efface_page::{Page, certificate};
use efface_privacy::certificate::{
    Certificate, Chain, Erasure, Signature, document_hash, key_id, signature_holds,
};

use crate::error::{Code, Error, Result};

/// The page of a certificate or of an erasure's entry; it says first if the text is not what was
/// signed.
///
/// # Errors
/// When the text is no certificate.
pub fn show(text: &str) -> Result<Page> {
    Ok(match read(text)? {
        Entry::Erasure(e) => certificate::erasure(&e, invalid(text, &e.chain, &e.signature)),
        Entry::Certificate(c) => certificate::page(&c, invalid(text, &c.chain, &c.signature)),
    })
}

/// Whether a text has the form of a certificate or of an erasure's entry, which says nothing of its truth.
///
/// # Errors
/// When it has not.
pub fn check_form(text: &str) -> Result<()> {
    read(text).map(drop)
}

enum Entry {
    Certificate(Box<Certificate>),
    Erasure(Box<Erasure>),
}

fn read(text: &str) -> Result<Entry> {
    let refused = |error: String| Error::input(Code::Certificate, error);
    Ok(if Erasure::is_one(text) {
        let read = Erasure::parse(text).map_err(|error| refused(error.to_string()))?;
        Entry::Erasure(Box::new(read))
    } else {
        let read = Certificate::parse(text).map_err(|error| refused(error.to_string()))?;
        Entry::Certificate(Box::new(read))
    })
}

/// Why a text is not what was signed, if it is not.
fn invalid(text: &str, chain: &Chain, signature: &Signature) -> Option<&'static str> {
    let document: serde_json::Value = serde_json::from_str(text).ok()?;
    let mut key = [0; 32];
    hex::decode_to_slice(&signature.public_key, &mut key).ok()?;
    if document_hash(&document).ok()? != chain.hash {
        Some("The certificate was changed after it was signed: its hash does not match")
    } else if key_id(&key) != signature.key_id
        || !signature_holds(&key, &chain.hash, &signature.value)
    {
        Some("Its signature is not by the stated key")
    } else {
        None
    }
}
