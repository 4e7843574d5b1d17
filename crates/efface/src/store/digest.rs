//! Digests of weights.
//!
//! A digest outlives the weights: certificates name the digests of every version. Without a salt, it would
//! forever confirm a guess of a model that saw deleted records. The salt is random, kept beside the weights
//! and erased with them; what is left then looks random.

use efface_privacy::certificate::Certificate;
use efface_vault::StoredModel;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Returns HMAC-SHA256, keyed by the salt, of the stored weights (little-endian f64).
pub(crate) fn digest_of(salt: &[u8; 32], weights: &[u8]) -> [u8; 32] {
    // HMAC pads a short key with zeros to the block size of its hash.
    let mut key = [0; 64];
    key[..32].copy_from_slice(salt);
    let mut mac = Hmac::<Sha256>::new(&key.into());
    mac.update(weights);
    mac.finalize().into_bytes().into()
}

/// Returns the digest of a model's current weights, whatever digest is stored with them.
pub(crate) fn digest_now(model: &StoredModel) -> [u8; 32] {
    digest_of(&model.salt, &model.weights)
}

/// Returns whether a certificate is about these weights, by its version and a digest computed now: the stored
/// one may have been changed.
pub(crate) fn certifies(certificate: &Certificate, model: &StoredModel) -> bool {
    model.version == certificate.model.version
        && hex::encode(model.digest) == certificate.model.digest_after
        && digest_now(model) == model.digest
}
