//! Erasures: ledger entries which say that rows are gone and no model is published.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::verify::Verdict;
use super::{Chain, MAX_BYTES, ParseError, Scope, Signature, count, form};

/// The schema of erasures.
pub const ERASURE_SCHEMA: &str = "efface.erasure/0.4";

/// What an erasure says is done.
const COVERS: [&str; 2] = [
    "the rows of the request are erased from every file of the vault's folder, and with them the \
     model, the kept state and everything else computed from them",
    "until `efface refresh` the vault publishes no model; the next one is trained on the \
     remaining records from a start that depends on no record",
];

/// What it does not say, for every erasure.
const DOES_NOT_COVER: [&str; 6] = [
    "models released before, their copies and their predictions: nothing is claimed about how \
     much they reveal about the erased records",
    "backups and copies of the vault or of its rows, and logs",
    "feature extractors, preprocessing fitted outside, and other models trained on the same data",
    "keyed hashes of deleted ids and their number, kept to answer repeated requests",
    "names of classes and schema values read from the data, which remain after their records are \
     deleted",
    "old contents of blocks that the file system or the disk keeps",
];

/// Rows were erased by a request, and the model was withdrawn: nothing is claimed about any model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erasure {
    /// Always [`ERASURE_SCHEMA`].
    pub schema: String,
    /// Identifier of the vault.
    pub vault: String,
    /// When the request was received (UTC, RFC 3339).
    pub at: String,
    /// True when the model's noise came from a seed the user gave.
    pub not_for_release: bool,
    /// The request that was served.
    pub request: Erased,
    /// What was found if the vault's rows were not those that its last request left.
    pub damage: Option<Damage>,
    /// The model that was withdrawn.
    pub model: Withdrawn,
    /// What this entry says and what it does not.
    pub scope: Scope,
    /// Position in the ledger.
    pub chain: Chain,
    /// Signature over the hash.
    pub signature: Signature,
}

/// The request an erasure served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erased {
    /// The request's id.
    pub id: String,
    /// Records erased; `None` if their number is private, written `not stated`.
    #[serde(with = "count")]
    pub records: Option<u64>,
    /// If the request named subjects, the [root](super::subjects_root) over their keyed HMACs.
    pub subjects: Option<String>,
}

/// What an erasure found in a damaged vault. Numbers are `not stated` if they are private.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Damage {
    /// Damaged rows erased in addition to those of the request: their owners could not be determined.
    #[serde(with = "count")]
    pub erased: Option<u64>,
    /// Rows that earlier entries account for and that were missing.
    #[serde(with = "count")]
    pub missing: Option<u64>,
    /// Rows that remain in the vault.
    #[serde(with = "count")]
    pub remaining: Option<u64>,
}

/// The model that an erasure withdrew, or found withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Withdrawn {
    /// Version of the latest model.
    pub version: u64,
    /// When it was withdrawn.
    pub withdrawn: When,
}

/// When a model was withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// By this entry of the ledger.
    Now,
    /// By an entry before this one.
    Before,
}

impl Erasure {
    /// Returns whether a ledger entry says that it is an erasure.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        serde_json::from_str::<Value>(text)
            .is_ok_and(|value| value.get("schema").and_then(Value::as_str) == Some(ERASURE_SCHEMA))
    }

    /// Reads an erasure from its text.
    ///
    /// # Errors
    /// Fails if the text is too large, no JSON, or of another schema or shape.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        if text.len() > MAX_BYTES {
            return Err(ParseError::TooLarge(text.len()));
        }
        let erasure: Self = serde_json::from_str(text)?;
        if erasure.schema != ERASURE_SCHEMA {
            return Err(ParseError::Schema(erasure.schema.chars().take(60).collect()));
        }
        form::sealed(&erasure.chain, &erasure.signature)?;
        form::root(erasure.request.subjects.as_deref())?;
        form::is_time("at", &erasure.at)?;
        Ok(erasure)
    }

    /// Counts the records that this entry removes, if numbers are stated: those of the request, and the
    /// damaged and missing rows.
    #[must_use]
    pub fn gone(&self) -> u64 {
        let damage = self.damage.map_or([None; 2], |damage| [damage.erased, damage.missing]);
        let all = [self.request.records, damage[0], damage[1]];
        all.into_iter().flatten().fold(0, u64::saturating_add)
    }

    /// Returns the scope of every erasure, with a model's own lines.
    #[must_use]
    pub fn scope(own: &[String]) -> Scope {
        let lines = |list: &[&str]| list.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let mut does_not_cover = lines(&DOES_NOT_COVER);
        does_not_cover.extend(own.iter().cloned());
        Scope { covers: lines(&COVERS), does_not_cover }
    }

    /// Checks hash, signature and content of an erasure's text.
    ///
    /// `trusted` is the public key the reader trusts; without one the signature is undecided.
    ///
    /// # Errors
    /// Fails if the text is no erasure.
    pub fn verify(text: &str, trusted: Option<&[u8; 32]>) -> Result<Verdict, ParseError> {
        let erasure = Self::parse(text)?;
        let document: Value = serde_json::from_str(text)?;
        let mut verdict = Verdict::default();
        verdict.hashed(&document, &erasure.chain.hash);
        verdict.signed(&erasure.signature, &erasure.chain.hash, trusted);
        verdict.check("erasure", erasure.consistent());
        Ok(verdict)
    }

    fn consistent(&self) -> Result<String, String> {
        if self.request.records == Some(0) && self.damage.is_none() {
            return Err("`records` must be a number above 0 or `not stated`".into());
        }
        if self.chain.index == 0 {
            return Err("the first entry of a ledger is a training".into());
        }
        let least = Self::scope(&[]);
        let holds = |all: &[String], some: &[String]| some.iter().all(|line| all.contains(line));
        if self.scope.covers != least.covers
            || !holds(&self.scope.does_not_cover, &least.does_not_cover)
        {
            return Err("the scope claims more, or excludes less, than an erasure may".into());
        }
        let counted = |count: Option<u64>, thing: &str| match count {
            None => format!("{thing}s"),
            Some(1) => format!("1 {thing}"),
            Some(count) => format!("{count} {thing}s"),
        };
        let records = counted(self.request.records, "record");
        let gone = self.damage.map_or(" erased".to_owned(), |damage| {
            let (erased, missing) =
                (counted(damage.erased, "damaged row"), counted(damage.missing, "row"));
            format!(" erased, and {erased} of a damaged vault ({missing} missing)")
        });
        Ok(format!("{records}{gone}, no model published; it claims nothing about any model"))
    }
}
