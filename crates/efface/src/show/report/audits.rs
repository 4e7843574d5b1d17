//! Results of audits beside the claims they tried to break.

use efface_page::number::{bound, counted, floor};
use efface_page::{Section, Table, Tone, words};
use serde::Deserialize;

use crate::error::{Code, Error, Result, ensure};
use crate::outcome::Entry;
use crate::outcome::audit::{
    CanaryTest, Certified, Compared, Deleted, Head, SCHEMA, Split, Verdict,
};

/// The most bytes that the result of an audit may have.
pub const AUDIT_BYTES: u64 = 4 << 20;

/// What the page shows of an audit's document; the rest of it is for those who repeat it.
#[derive(Debug, Deserialize)]
pub(super) struct Audit {
    vault: String,
    head: Head,
    notion: String,
    deleted: Deleted,
    runs: Split,
    mu_lower: f64,
    epsilon_lower: f64,
    mu_reach: f64,
    epsilon_reach: f64,
    certified: Vec<Certified>,
    #[serde(default)]
    compared: Vec<Compared>,
    #[serde(default)]
    canaries: Vec<CanaryTest>,
    confidence: Option<f64>,
    verdict: Verdict,
    notes: Vec<String>,
}

/// Reads an audit's document and makes sure that it is about this vault, a state that its ledger
/// knows, and no record that has gone since. `which` says, for messages, which of several it is.
pub(super) fn read(text: &str, which: &str, vault: &str, ledger: &[Entry]) -> Result<Audit> {
    let refused = |what: String| {
        Error::input(Code::Audit, format!("{which}{what}"))
            .hint("make one with `efface audit VAULT -o audit.json`")
    };
    if text.len() as u64 > AUDIT_BYTES {
        return Err(refused(format!("an audit must have at most {AUDIT_BYTES} bytes, got more")));
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
    audit.check().map_err(|what| refused(format!("not the result of an audit: {what}")))?;
    if audit.vault != vault {
        let shown: String = audit.vault.chars().take(60).collect();
        return Err(refused(format!("the audit is of vault `{shown}`, the report of `{vault}`")));
    }
    let Head { index, hash } = &audit.head;
    if !ledger.iter().any(|entry| entry.index == *index && entry.hash == *hash) {
        return Err(refused(format!(
            "the audit is of a different ledger: entry {index} has another hash"
        )));
    }
    let gone = ledger.iter().find(|entry| entry.outdates(*index));
    if let Some(gone) = gone {
        let message = format!(
            "{which}the audit was made after entry {index}, and entry {} ({}) deleted records \
             since: its numbers were computed from them too",
            gone.index, gone.kind
        );
        return Err(Error::input(Code::Audit, message)
            .hint("erase that audit's file and audit the vault again"));
    }
    Ok(audit)
}

impl Audit {
    /// Numbers in their ranges, and an outcome that follows from them: nobody signs such a document,
    /// but it must not contradict itself.
    fn check(&self) -> std::result::Result<(), String> {
        for (name, value) in [
            ("mu_lower", self.mu_lower),
            ("epsilon_lower", self.epsilon_lower),
            ("mu_reach", self.mu_reach),
            ("epsilon_reach", self.epsilon_reach),
        ] {
            if !(0.0..).contains(&value) {
                return Err(format!("`{name}` must be at least 0, got {value}"));
            }
        }
        let bitwise = !self.compared.is_empty();
        match self.confidence {
            Some(confidence) if confidence > 0.0 && confidence < 1.0 => {}
            None if bitwise => {}
            got => return Err(format!("`confidence` must be in (0, 1), got {got:?}")),
        }
        // A model may be compared with a training anew before anything is deleted.
        let some = self.deleted.count > 0 || bitwise;
        ensure(some, "`deleted.count` must be at least 1, got 0")?;
        let certified = self.certified.iter().all(|bound| {
            bound.mu.is_none_or(|mu| mu.0 >= 0.0)
                && bound.epsilon.0 >= 0.0
                && (0.0..1.0).contains(&bound.delta.0)
        });
        ensure(certified, "`certified` must have mu and epsilon of at least 0 and delta below 1")?;
        let canaries = self.canaries.iter().all(|one| {
            let numbers = one.lower >= 0.0 && one.certified >= 0.0;
            numbers && one.delta > 0.0 && one.delta < 1.0 && one.units > 0
        });
        ensure(canaries, "`canaries` must have units, epsilons of at least 0 and a delta")?;
        let follows = if bitwise {
            Verdict::of_bits(&self.compared)
        } else {
            let (shown, reach) = (
                (self.mu_lower, self.epsilon_lower),
                (self.runs.counted > 0).then_some((self.mu_reach, self.epsilon_reach)),
            );
            let of_tests = Verdict::of_bounds(&self.certified, shown, reach);
            match &self.canaries[..] {
                [] => of_tests,
                canaries => of_tests.and(Verdict::of_canaries(canaries)),
            }
        };
        if follows != self.verdict {
            let (follows, said) = (follows.word(), self.verdict.word());
            return Err(format!("its numbers make it {follows}, and it says {said}"));
        }
        Ok(())
    }

    /// Weights of other bits, and weights compared.
    fn bits(&self) -> (u64, u64) {
        let sum = |of: fn(&Compared) -> u64| self.compared.iter().map(of).sum();
        (sum(|one| one.differ), sum(|one| one.weights))
    }

    /// What it measured, for a cell.
    fn measured(&self) -> String {
        let (differ, weights) = self.bits();
        if !self.compared.is_empty() {
            return format!("{differ} of {weights} weights differ");
        }
        let tests = format!("{}, {}", floor(self.mu_lower), floor(self.epsilon_lower));
        let of = |one: &CanaryTest| {
            let units = counted(one.units, "unit");
            let (lower, certified) = (floor(one.lower), bound(one.certified));
            let delta = bound(one.delta);
            format!("epsilon {lower} for {units} at delta {delta}, at most {certified} certified")
        };
        let canaries = self.canaries.iter().map(of);
        std::iter::once(tests).chain(canaries).collect::<Vec<_>>().join("; ")
    }

    /// What refutes a claim, in a sentence.
    fn found(&self) -> String {
        let (differ, weights) = self.bits();
        let false_one = self.canaries.iter().find(|one| one.lower > one.certified);
        match false_one {
            _ if differ > 0 => {
                format!("{differ} of {weights} weights are not those of a training anew.")
            }
            Some(one) => format!("At least epsilon {} was measured.", floor(one.lower)),
            None => format!("At least epsilon {} was measured.", floor(self.epsilon_lower)),
        }
    }
}

/// What audits found beside the claims, or that there is none.
pub(super) fn attempts(audits: &[Audit]) -> Section {
    let section = Section::new("Attempts to break the claims");
    if audits.is_empty() {
        return section.text(
            "This report includes no audit. `efface audit` makes one: it trains and deletes many \
             times and counts how often a test distinguishes a deletion from a model trained \
             without the record.",
        );
    }
    let refuted = audits.iter().find(|audit| audit.verdict == Verdict::Refuted);
    let section = match refuted {
        None => section,
        Some(audit) => section.notice(
            Tone::Bad,
            "An audit refutes a claim",
            format!("{} Do not rely on these certificates.", audit.found()),
        ),
    };
    let table = Table::new(
        "Audits. A measured bound above the certified one refutes it; one below proves nothing",
        &[
            "After entry",
            "Notion",
            "Deleted",
            "Runs counted",
            "Measured: mu, epsilon at least",
            "Certified for that deletion: mu, epsilon at most",
            "Outcome",
        ],
    );
    let mut notes: Vec<String> = audits.iter().flat_map(noted).collect();
    notes.dedup();
    section
        .text(
            "Each audit trained many models in memory and deleted from each once, and trained as \
             many without those records; models of exact removal were trained anew after requests of the \
             audit's own and compared bit by bit, and networks with noise trained on planted canaries. The \
             requests listed below were not repeated.",
        )
        .table(table.rows(audits.iter().map(row)))
        .list(notes)
        .list([
            "Results of audits are not signed, and unlike the rest of this page their numbers were \
             not recomputed: they are only as trustworthy as their source."
                .to_owned(),
            "Audit results, and the choice of the deleted records, are computed from the records \
             and covered by no certificate: keep this page as private as the records, and erase it \
             when one of them is deleted."
                .to_owned(),
        ])
}

/// What one audit adds, each line with the entry it is about.
fn noted(audit: &Audit) -> Vec<String> {
    let reach = audit.confidence.map(|confidence| {
        format!(
            "this many runs could show a mu of at most {}; all measured bounds hold jointly with \
             probability {confidence}",
            floor(audit.mu_reach)
        )
    });
    let all = reach.iter().chain(&audit.notes);
    all.map(|note| format!("Audit after entry {}: {note}.", audit.head.index)).collect()
}

fn row(audit: &Audit) -> [String; 7] {
    let certified = audit.certified.iter().map(|certified| {
        let mu = certified.mu.map_or("-".into(), |mu| bound(mu.0));
        format!("{mu}, {}", words::epsilon(certified.epsilon.0, Some(certified.delta), None))
    });
    let outcome = match audit.verdict {
        Verdict::Consistent => "no contradiction found",
        Verdict::Refuted => "REFUTED",
        Verdict::Undecided => "undecided: too few runs",
    };
    [
        audit.head.index.to_string(),
        audit.notion.clone(),
        format!("{}: {}", counted(audit.deleted.count, "record"), audit.deleted.found),
        audit.runs.counted.to_string(),
        audit.measured(),
        certified.collect::<Vec<_>>().join("; "),
        outcome.into(),
    ]
}
