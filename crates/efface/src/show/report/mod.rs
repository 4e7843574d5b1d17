//! One self-contained HTML page about a vault, for people, printers and screen readers.

mod audits;
mod budget;
mod chart;
mod sections;
mod summary;

use std::path::Path;

use efface_page::Page;
use efface_privacy::certificate::{Certificate, Erasure, Verdict};

use crate::checks::verify_ledger::verify_open;
use crate::error::{Code, Error, Result};
use crate::outcome::{ExportNote, Status};
use crate::plan::Plan;
use crate::show::status::{entries_of, status_of};
use crate::store::ledger::{CERTIFICATE, ERASURE, EXPORT, export_note};
use crate::store::{Current, open_for_reading};

pub use audits::AUDIT_BYTES;

/// What the page is made from.
struct ReportData {
    status: Status,
    plan: Plan,
    /// Oldest first; never empty.
    certificates: Vec<Certificate>,
    /// Oldest first.
    erasures: Vec<Erasure>,
    /// Oldest first.
    exports: Vec<ExportNote>,
    /// What recomputing the whole ledger said, under the vault's own key.
    verdict: Verdict,
    audits: Vec<audits::Audit>,
}

impl ReportData {
    fn latest(&self) -> Result<&Certificate> {
        let none = || Error::storage(Code::Damaged, "the ledger has no certificate");
        self.certificates.last().ok_or_else(none)
    }
}

/// The page: what happened in one paragraph, what is promised, every request, what has been
/// spent, what is not covered, and whether the ledger verifies.
///
/// `audits` are results of audits of this vault, as JSON (`efface.audit/1`); they are shown beside
/// the claims. With an audit the page is as private as the records: an audit's numbers are computed
/// from them and covered by no certificate. Without one it is made from the ledger and from the
/// numbers of records and subjects, which it does not state if the plan hides them.
///
/// # Errors
/// A vault that cannot be read; what is no audit, or one of another vault, of another history, or
/// from before a deletion or an update.
pub fn report(path: &Path, audits: &[String]) -> Result<String> {
    let data = gathered(path, audits)?;
    let latest = data.latest()?;
    let page = Page::new("Deletion report")
        .of(format!("model {}", data.status.vault))
        .with(summary::summary(&data, latest))
        .with(sections::promises(latest))
        .with(sections::notices(&data))
        .with(audits::attempts(&data.audits))
        .with(sections::requests(&data))
        .with(budget::spent(&data))
        .with(budget::left(&data))
        .with_all(sections::limits(&data, latest))
        .with(sections::model(&data, latest))
        .with(sections::glossary())
        .with(sections::check_yourself(&data));
    Ok(page.document())
}

fn gathered(path: &Path, audits: &[String]) -> Result<ReportData> {
    // One state of the vault for all that the report says.
    let mut vault = open_for_reading(path)?;
    let status = status_of(&vault)?;
    let ledger = if audits.is_empty() { Vec::new() } else { entries_of(&vault)? };
    let count = audits.len();
    let audits = audits.iter().zip(1..).map(|(text, number)| {
        let which = if count > 1 { format!("audit {number} of {count}: ") } else { String::new() };
        audits::read(text, &which, &status.vault, &ledger)
    });
    let audits = audits.collect::<Result<_>>()?;
    let current = Current::of(&vault)?;
    let (mut certificates, mut erasures, mut exports) = (Vec::new(), Vec::new(), Vec::new());
    vault.scan_ledger(0, |entry| -> Result<()> {
        let damaged = |error: &dyn std::fmt::Display| {
            Error::storage(Code::Damaged, format!("ledger entry {}: {error}", entry.index))
        };
        match entry.kind {
            CERTIFICATE => {
                certificates.push(Certificate::parse(entry.json).map_err(|e| damaged(&e))?);
            }
            ERASURE => erasures.push(Erasure::parse(entry.json).map_err(|e| damaged(&e))?),
            EXPORT => exports.push(export_note(
                &serde_json::from_str(entry.json).map_err(|error| damaged(&error))?,
            )),
            _ => {}
        }
        Ok(())
    })?;
    let verdict = verify_open(&mut vault, Some(&current.genesis.public_key), None)?;
    drop(vault);
    let plan = current.plan;
    Ok(ReportData { status, plan, certificates, erasures, exports, verdict, audits })
}
