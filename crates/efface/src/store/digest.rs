//! Digests of weights.
//!
//! A digest outlives the weights: certificates name those of every version. Unsalted, it would
//! confirm a guess of a model that saw deleted records for ever. The salt is random, kept beside
//! the weights and erased with them; what is left then looks random.

use efface_privacy::certificate::Certificate;
use efface_vault::StoredModel;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// HMAC-SHA256, keyed by the salt, of the stored weights (little-endian f64).
pub(crate) fn digest_of(salt: &[u8; 32], weights: &[u8]) -> [u8; 32] {
    // HMAC fills a short key up with zeros to the block of its hash.
    let mut key = [0; 64];
    key[..32].copy_from_slice(salt);
    let mut mac = Hmac::<Sha256>::new(&key.into());
    mac.update(weights);
    mac.finalize().into_bytes().into()
}

/// The digest of a model's weights as they are, whatever digest is kept beside them.
pub(crate) fn digest_now(model: &StoredModel) -> [u8; 32] {
    digest_of(&model.salt, &model.weights)
}

/// Whether a certificate is about these weights, by its version and a digest computed now: the
/// stored one may have been changed.
pub(crate) fn certifies(certificate: &Certificate, model: &StoredModel) -> bool {
    model.version == certificate.model.version
        && hex::encode(model.digest) == certificate.model.digest_after
        && digest_now(model) == model.digest
}
