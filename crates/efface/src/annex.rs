//! The private annex of a certificate: what depends on the data, committed to by a salted hash.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::outcome::Work;
use crate::surroundings::Surroundings;

/// Erased with every deletion; the salt goes with it, so the commitment tells nothing after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Annex {
    salt: String,
    pub(crate) work: Work,
}

impl Annex {
    /// An annex with a fresh salt; its text and its commitment.
    pub(crate) fn seal(
        work: &Work,
        surroundings: &mut Surroundings<'_>,
    ) -> Result<(String, String)> {
        let annex = Self { salt: hex::encode(surroundings.random::<32>()?), work: work.clone() };
        let text = serde_json::to_string(&annex)
            .map_err(|error| Error::storage("annex", error.to_string()))?;
        let commitment = hex::encode(Sha256::digest(text.as_bytes()));
        Ok((text, commitment))
    }
}
