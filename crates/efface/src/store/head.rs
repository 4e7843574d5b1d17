//! A ledger head that was kept outside the vault, in its printed form.

use efface_vault::Vault;
use serde_json::Value;

use efface_privacy::certificate::{CheckOutcome, Verdict, document_hash};

use crate::error::{Code, Error, Result};
use crate::store::seal::hash_bytes;

/// Index and hash of an entry, or its hash alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    index: Option<u64>,
    /// 64 lower-case hexadecimal digits.
    hash: String,
}

impl Head {
    /// Reads `INDEX HASH` or `HASH`, the digits in either case.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (index, hash) = match words[..] {
            [hash] => (None, hash),
            [index, hash] => match index.parse() {
                Ok(index) => (Some(index), hash),
                Err(_) => return Err(malformed(text)),
            },
            _ => return Err(malformed(text)),
        };
        if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(malformed(text));
        }
        Ok(Self { index, hash: hash.to_ascii_lowercase() })
    }

    /// Returns where the ledger has an entry stored under this hash.
    pub(crate) fn place(&self, vault: &Vault) -> Result<Option<u64>> {
        Ok(vault.ledger_index(&hash_bytes(&self.hash)?)?)
    }

    /// Checks that the ledger holds this entry, whose hash is computed from the entry itself: the stored one
    /// may have been changed.
    pub(crate) fn check(&self, vault: &Vault, verdict: &mut Verdict) -> Result<()> {
        let stored = self.place(vault)?;
        let Some(place) = self.index.or(stored) else {
            verdict.push("head", CheckOutcome::Fails, format!("no entry has the given hash{WHY}"));
            return Ok(());
        };
        let found = vault.ledger_entry(place, |entry| {
            let document = serde_json::from_str::<Value>(entry.json).ok()?;
            document_hash(&document).ok()
        })?;
        let (outcome, reason) = match (found, stored) {
            (Some(Some(hash)), _) if hash == self.hash => {
                (CheckOutcome::Holds, format!("the given head is entry {place}"))
            }
            (_, Some(other)) if other != place => (
                CheckOutcome::Fails,
                format!("the given index is {place}, but the hash is that of entry {other}"),
            ),
            (None, _) => (CheckOutcome::Fails, format!("the ledger has no entry {place}{WHY}")),
            (Some(_), _) => {
                (CheckOutcome::Fails, format!("entry {place} does not have the given hash{WHY}"))
            }
        };
        verdict.push("head", outcome, reason);
        Ok(())
    }
}

/// What may have happened if the ledger lacks a remembered entry.
const WHY: &str = ": the vault was replaced by an older copy, it is a different vault, or the \
    ledger was changed";

fn malformed(text: &str) -> Error {
    let shown: String = text.chars().take(80).collect();
    Error::input(
        Code::Head,
        format!("`head` must be an entry's index and hash, or its hash alone, got `{shown}`"),
    )
    .hint("a hash has 64 hexadecimal digits; `§efface status` shows the head as `INDEX HASH`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_in_the_form_in_which_they_are_shown() {
        let hash = "af6b".repeat(16);
        for (text, index) in [
            (hash.clone(), None),
            (hash.to_uppercase(), None),
            (format!("0 {hash}"), Some(0)),
            (format!("  12\t{}\n", hash.to_uppercase()), Some(12)),
        ] {
            assert_eq!(Head::parse(&text).unwrap(), Head { index, hash: hash.clone() }, "{text}");
        }
        for text in [
            "",
            " ",
            "0",
            "af6b",
            "0 af6b",
            &hash[1..],
            &format!("{hash}0"),
            &format!("g{}", &hash[1..]),
            &format!("x {hash}"),
            &format!("-1 {hash}"),
            &format!("{hash} 0"),
            &format!("0 0 {hash}"),
            &format!("0x{}", &hash[2..]),
        ] {
            let error = Head::parse(text).unwrap_err();
            assert_eq!(error.kind(), crate::Kind::Input, "{text}");
            assert!(error.message().starts_with("`head` must be"), "{error}");
        }
    }
}
