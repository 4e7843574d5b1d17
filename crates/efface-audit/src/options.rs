//! What to audit, on which records, and whether the result may be published.

use std::path::Path;

use efface::{AuditSample, Code, Error, Result, entries};

/// The scope of an audit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Audit a fresh model of that many of the vault's records, under the same plan.
    pub rows: Option<u64>,
    /// Delete these records together, by their ids, instead of searching for one.
    pub records: Vec<String>,
    /// Plant a worst-case record and delete it.
    pub canary: bool,
}

/// Refuses results that would remain after records which they were computed from: those that were deleted
/// while the audit ran.
pub(super) fn unchanged(path: &Path, head: u64) -> Result<()> {
    let Some(entry) = entries(path)?.into_iter().find(|entry| entry.outdates(head)) else {
        return Ok(());
    };
    let (index, kind) = (entry.index, entry.kind);
    let message = format!(
        "entry {index} ({kind}) deleted records while the audit ran, so its numbers would remain after them"
    );
    Err(Error::refused(Code::Audit, message).hint("audit the vault again"))
}

/// Positions of `rows` records spread evenly over the sample, the named ones among them; all of them for none.
pub(super) fn spread(sample: &AuditSample, rows: Option<u64>) -> Result<Vec<usize>> {
    let (all, named) = (sample.records.rows(), &sample.named);
    let Some(wanted) = rows.map(|rows| rows as usize).filter(|&rows| rows < all) else {
        return Ok((0..all).collect());
    };
    if wanted < named.len() + 1 {
        let message = format!(
            "`rows` must leave at least one record beside the {} deleted, got {wanted}",
            named.len()
        );
        return Err(Error::input(Code::Rows, message));
    }
    let mut kept: Vec<usize> = named.clone();
    let spread = (0..wanted).map(|i| i * all / wanted).filter(|row| !named.contains(row));
    kept.extend(spread.take(wanted - named.len()));
    kept.sort_unstable();
    Ok(kept)
}
