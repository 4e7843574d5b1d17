//! Results of audits beside the claims they tried to break.

use efface_privacy::quantity::Decimal;
use serde::Deserialize;

use super::Facts;
use super::page::{Page, short};
use crate::error::{Error, Result};
use crate::outcome::Entry;

/// The form of audits that this page can show.
const SCHEMA: &str = "efface.audit/1";

/// The most bytes such a document may have.
const MAX_BYTES: usize = 4 << 20;

/// What the page shows of an audit's document; the rest of it is for those who repeat it.
#[derive(Debug, Deserialize)]
pub(super) struct Audit {
    vault: String,
    head: Head,
    notion: String,
    deleted: Deleted,
    runs: Runs,
    mu_lower: f64,
    epsilon_lower: f64,
    mu_reach: f64,
    certified: Vec<Certified>,
    confidence: f64,
    verdict: Outcome,
    notes: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Head {
    index: u64,
    hash: String,
}

#[derive(Debug, Deserialize)]
struct Deleted {
    count: u64,
    found: String,
}

#[derive(Debug, Deserialize)]
struct Runs {
    counted: u64,
}

#[derive(Debug, Deserialize)]
struct Certified {
    mu: Option<Decimal>,
    epsilon: Decimal,
    delta: Decimal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    Consistent,
    Refuted,
    Undecided,
}

/// Requests whose records an earlier audit may still speak of.
const TAKES_AWAY: [&str; 2] = ["delete", "update"];

/// Reads an audit's document and makes sure that it is about this vault, a state that its ledger
/// knows, and no record that has gone since.
pub(super) fn read(text: &str, vault: &str, ledger: &[Entry]) -> Result<Audit> {
    let refused = |what: String| {
        Error::input("audit", what).hint("make one with `efface audit VAULT -o audit.json`")
    };
    if text.len() > MAX_BYTES {
        return Err(refused(format!("an audit has at most {MAX_BYTES} bytes, got {}", text.len())));
    }
    let no_audit =
        |error: serde_json::Error| refused(format!("not the result of an audit: {error}"));
    let value: serde_json::Value = serde_json::from_str(text).map_err(no_audit)?;
    let schema = value.get("schema").and_then(serde_json::Value::as_str).unwrap_or("");
    if schema != SCHEMA {
        let shown: String = schema.chars().take(60).collect();
        return Err(refused(format!("`schema` of an audit must be `{SCHEMA}`, got `{shown}`")));
    }
    let audit: Audit = serde_json::from_value(value).map_err(no_audit)?;
    if audit.vault != vault {
        let shown: String = audit.vault.chars().take(60).collect();
        return Err(refused(format!("the audit is of vault `{shown}`, the report of `{vault}`")));
    }
    let Head { index, hash } = &audit.head;
    if !ledger.iter().any(|entry| entry.index == *index && entry.hash == *hash) {
        return Err(refused(format!(
            "the audit saw a ledger that is not this vault's: entry {index} has another hash"
        )));
    }
    let gone = ledger
        .iter()
        .find(|entry| entry.index > *index && TAKES_AWAY.contains(&entry.kind.as_str()));
    if let Some(gone) = gone {
        return Err(Error::input(
            "audit",
            format!(
                "the audit was made after entry {index}, and entry {} ({}) took records away \
                 since: its numbers were computed from them, too",
                gone.index, gone.kind
            ),
        )
        .hint("erase that audit's file and audit the vault again"));
    }
    Ok(audit)
}

pub(super) fn write(page: &mut Page, facts: &Facts) {
    page.section("Attempts to break the claims");
    if facts.audits.is_empty() {
        page.paragraph(
            "No audit was handed to this report. `efface audit` makes one: it trains and deletes many times and counts how often a test can tell a deletion from a model that never saw the record.",
        );
        return;
    }
    if let Some(refuted) = facts.audits.iter().find(|audit| audit.verdict == Outcome::Refuted) {
        page.notice(
            "bad",
            "An audit refutes a claim.",
            &format!(
                "At least epsilon {} was measured. Do not rely on these certificates.",
                short(refuted.epsilon_lower)
            ),
        );
    }
    let rows: Vec<Vec<String>> = facts.audits.iter().map(row).collect();
    page.table(
        "Audits. A measured bound above a certified one refutes it; one below proves nothing",
        &[
            "After entry",
            "Notion",
            "Deleted",
            "Runs counted",
            "Measured: mu, epsilon at least",
            "Certified: mu, epsilon at most",
            "Outcome",
        ],
        &rows,
    );
    let mut notes: Vec<String> = facts
        .audits
        .iter()
        .map(|audit| {
            format!(
                "So many runs could have shown a mu of {} at most; measured bounds hold with probability {} together.",
                short(audit.mu_reach),
                audit.confidence
            )
        })
        .chain(facts.audits.iter().flat_map(|audit| audit.notes.iter().cloned()))
        .collect();
    notes.dedup();
    notes.push(
        "Results of audits are not signed: they are as good as whoever handed them in.".into(),
    );
    notes.push(
        "Measured numbers and what was deleted to measure them come from the records and are covered by no certificate: keep this page as private as the records while it shows an audit.".into(),
    );
    page.list(&notes);
}

fn row(audit: &Audit) -> Vec<String> {
    let count = audit.deleted.count;
    let what = if count == 1 { "1 record".into() } else { format!("{count} records") };
    let certified = audit.certified.iter().map(|bound| {
        let mu = bound.mu.map_or("-".into(), |mu| short(mu.0));
        format!("{mu}, {} at delta {}", short(bound.epsilon.0), short(bound.delta.0))
    });
    let outcome = match audit.verdict {
        Outcome::Consistent => "consistent with the claim",
        Outcome::Refuted => "REFUTED",
        Outcome::Undecided => "undecided: too few runs",
    };
    vec![
        audit.head.index.to_string(),
        audit.notion.clone(),
        format!("{what}: {}", audit.deleted.found),
        audit.runs.counted.to_string(),
        // Rounded down: these are lower bounds.
        format!("{:.4}, {:.4}", floor(audit.mu_lower), floor(audit.epsilon_lower)),
        certified.collect::<Vec<_>>().join("; "),
        outcome.into(),
    ]
}

/// Rounded down to four decimals.
fn floor(value: f64) -> f64 {
    (value * 1e4).floor() / 1e4
}
