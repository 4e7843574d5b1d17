//! Certificates: claims, the event they follow from, what was assumed, and what is not covered.
//!
//! A certificate is canonical JSON (RFC 8785), hash-chained and signed; numbers are decimal
//! strings. [`Certificate::parse`] reads one, [`verify`] recomputes all it says.

mod chain;
mod consistent;
mod count;
mod elsewhere;
mod erasure;
mod form;
mod grounds;
mod listed;
mod objective;
mod read_off;
mod tree;
mod verify;

pub use chain::{ChainError, GENESIS, document_hash, key_id, seal, signature_holds, text_hash};
pub use elsewhere::{DECLARED, DECLARED_EXTRACTOR};
pub use erasure::{Damage, ERASURE_SCHEMA, Erased, Erasure, When, Withdrawn};
pub use grounds::{Ground, NETWORK, RANDOMNESS, SHARDS};
pub use read_off::{TYPES, read_off};
pub use tree::subjects_root;
pub use verify::{Check, CheckOutcome, Verdict, event_constants, verify};

use serde::{Deserialize, Serialize};

use crate::claim::Claim;
use crate::event::Event;

/// The schema this build writes and reads.
pub const SCHEMA: &str = "efface.certificate/0.3";

/// The schemas of development versions, which nothing reads any more.
const EARLIER: [&str; 3] =
    ["efface.certificate/0", "efface.certificate/0.1", "efface.certificate/0.2"];

/// The most bytes a certificate may have.
pub const MAX_BYTES: usize = 4 << 20;

/// One certificate, its public body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Name and version of the form, always [`SCHEMA`].
    pub schema: String,
    /// Identifier: vault and position in its ledger.
    pub id: String,
    /// Identifier of the vault.
    pub vault: String,
    /// UTC time in the form of RFC 3339.
    pub issued_at: String,
    /// True when the noise came from a user-given seed: a test, never to be relied on.
    pub not_for_release: bool,
    /// The request served.
    pub request: Request,
    /// The model before and after.
    pub model: ModelRef,
    /// The claims that the event supports.
    pub claims: Vec<Claim>,
    /// What was released, as data for accountants.
    pub event: Event,
    /// Every public constant and its origin.
    pub constants: Vec<Constant>,
    /// Assumptions of the claims beyond mathematics.
    pub assumptions: Vec<Assumption>,
    /// How the noise was drawn.
    pub noise: Noise,
    /// What is covered and what is not.
    pub scope: Scope,
    /// Position in the ledger.
    pub chain: Chain,
    /// Signature over the hash.
    pub signature: Signature,
}

/// The request that the certificate answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The request's own id.
    pub id: String,
    /// What kind of request.
    pub kind: RequestKind,
    /// Records touched; `None` if the count is private, written `not stated`.
    #[serde(with = "count")]
    pub records: Option<u64>,
    /// If the request named subjects, the [root](subjects_root) over their keyed HMACs, hexadecimal.
    pub subjects: Option<String>,
    /// UTC time in the form of RFC 3339.
    pub received_at: String,
}

crate::named! {
    /// Kinds of requests.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum RequestKind {
        /// The first training.
        Train = "train",
        /// Records leave.
        Delete = "delete",
        /// Records come in.
        Add = "add",
        /// Records are replaced by new contents.
        Update = "update",
        /// A fresh release without caches, from the published model or, if that was withdrawn, from a start
        /// that no record determined.
        Refresh = "refresh",
    }
}

/// Digests of the weights before and after, and the version.
///
/// A digest is HMAC-SHA256 (hexadecimal) of the weights, keyed by 32 random bytes drawn for that
/// version, which are kept with the weights and go with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRef {
    /// Digest of the previous weights; `None` for the first version, and if the previous model was withdrawn.
    pub digest_before: Option<String>,
    /// Digest of the weights after.
    pub digest_after: String,
    /// Version after, counted from 1.
    pub version: u64,
}

/// The origin of a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Given by the user, as public knowledge.
    User,
    /// A default that depends on no data, or on user constants only.
    Default,
    /// Computed from the data.
    Data,
}

/// A public constant with value and origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Name as users type it.
    pub name: String,
    /// Value in its one exact spelling.
    pub value: String,
    /// Whether it was given, a default, or computed from the data.
    pub origin: Origin,
}

/// How sure an assumption is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The engine makes it true.
    Enforced,
    /// The engine measured that it is so.
    Measured,
    /// The user declared it.
    Declared,
    /// It was neither measured nor declared.
    Assumed,
}

/// Something the claims rest on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    /// Short name of the assumption, such as `rows`.
    pub name: String,
    /// The assumption in words.
    pub value: String,
    /// Whether it was enforced, measured, declared or assumed.
    pub evidence: Evidence,
}

/// How the noise was drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// `exact-grid`: an exactly sampled normal, rounded to the grid; `none` if nothing random is released.
    pub sampler: String,
    /// `chacha20`, seeded by the operating system, or `chacha20-user-seed`; `none` without noise.
    pub generator: String,
    /// Spacing of the grid, if there is noise.
    pub grid: Option<crate::quantity::Decimal>,
}

/// What a certificate covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// Sentences on what the claims cover.
    pub covers: Vec<String>,
    /// What it does not cover; never empty.
    pub does_not_cover: Vec<String>,
}

/// Place in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// Position, counted from 0.
    pub index: u64,
    /// Hash of the entry before, 64 zeros for the first.
    pub previous: String,
    /// SHA-256 of the canonical body without this field and the signature.
    pub hash: String,
}

/// Ed25519 signature over the hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// First 16 hexadecimal digits of the SHA-256 of the public key.
    pub key_id: String,
    /// The public key, hexadecimal.
    pub public_key: String,
    /// The signature, hexadecimal.
    pub value: String,
}

/// Why a text is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// The text is too large.
    #[error("a certificate has at most {MAX_BYTES} bytes, got {0}")]
    TooLarge(usize),
    /// The schema of a version before the first release.
    #[error(
        "the certificate was made by an earlier development version (`schema` is `{0}`); this \
         build reads `{SCHEMA}`"
    )]
    Earlier(String),
    /// The text states another schema.
    #[error("`schema` must be `{SCHEMA}`, got `{0}`")]
    Schema(String),
    /// Hexadecimal in another form than the one there is.
    #[error("`{field}` must be {digits} hexadecimal digits in lower case, got `{got}`")]
    Form {
        /// The field.
        field: &'static str,
        /// Digits it has.
        digits: usize,
        /// Its first characters.
        got: String,
    },
    /// A time in another form than the one there is.
    #[error("`{field}` must be a time in UTC such as `2026-01-31T23:59:59Z`, got `{got}`")]
    Time {
        /// The field.
        field: &'static str,
        /// Its first characters.
        got: String,
    },
    /// Not the JSON of a certificate.
    #[error("not a certificate: {0}")]
    Json(#[from] serde_json::Error),
}

impl Certificate {
    /// Reads a certificate; the checked form of what came over the wire.
    ///
    /// # Errors
    /// Fails if the text is too large, no JSON, of another schema, or has missing or unknown fields.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        if text.len() > MAX_BYTES {
            return Err(ParseError::TooLarge(text.len()));
        }
        let value: serde_json::Value = serde_json::from_str(text)?;
        let schema = value.get("schema").and_then(serde_json::Value::as_str).unwrap_or("");
        if EARLIER.contains(&schema) {
            return Err(ParseError::Earlier(schema.to_owned()));
        }
        if schema != SCHEMA {
            return Err(ParseError::Schema(schema.chars().take(60).collect()));
        }
        // From the text once more: a JSON value forgets duplicate keys, the typed form refuses
        // them.
        let certificate = serde_json::from_str(text)?;
        form::exact(&certificate)?;
        Ok(certificate)
    }
}
