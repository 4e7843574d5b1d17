//! What an audit found: a short table, and a sentence.

use std::path::Path;

use efface_audit::AuditResult;
use efface_page::number::{bound, ceiling, counted, duration, floor};
use efface_page::{Page, Section, Table};

use super::Output;
use crate::failure::Result;

impl Output {
    /// Shows the result of an audit.
    pub(crate) fn audit(
        &mut self,
        path: &Path,
        result: &AuditResult,
        written: Option<&Path>,
    ) -> Result<()> {
        self.show(result, || page(path, result, written))
    }
}

fn page(path: &Path, result: &AuditResult, written: Option<&Path>) -> Page {
    let steps = result.steps.map_or_else(String::new, |(learning, removal)| {
        format!(", {learning} steps and {removal} for the deletion")
    });
    let head = &result.head;
    let (deleted, found) = (counted(result.deleted.count, "record"), &result.deleted.found);
    let private = "as private as the records, to be erased when one of them is deleted";
    Page::new(format!("{}: {}{steps}", path.display(), result.mechanism))
        .with(
            Section::new("")
                .line(format!(
                    "after certificate {}, head {} {}",
                    result.certificate, head.index, head.hash
                ))
                .facts([
                    ("tested", result.notion.clone()),
                    ("deleted", format!("{deleted} of {}: {found}", result.records.used)),
                    ("runs", runs(result)),
                ]),
        )
        .with(found_of(result))
        .with(Section::new("").table(certified(result)))
        .with(weighed(result))
        .with(
            Section::new("")
                .terms(result.notes.iter().map(|note| ("note", note)))
                .terms([(result.verdict.word(), result.words())])
                .lines(written.map(|path| format!("written to {}: {private}", path.display()))),
        )
}

/// What was run, and how.
fn runs(result: &AuditResult) -> String {
    let (runs, time) = (&result.runs, duration(result.seconds));
    let method = &result.method;
    if !result.compared.is_empty() {
        let trainings = counted(runs.counted, "training");
        return format!("{trainings} from nothing; {time}, {method}");
    }
    let chosen = runs.direction + runs.threshold;
    format!("{} of each world counted, {chosen} to choose tests; {time}, {method}", runs.counted)
}

/// What tests or comparisons gave.
fn found_of(result: &AuditResult) -> Section {
    if !result.compared.is_empty() {
        let head = ["after request", ">records", ">threads", ">weights", ">other bits"];
        let rows = result.compared.iter().map(|one| {
            let request = one.request.map_or_else(|| "none".into(), |number| number.to_string());
            let numbers = [one.records, one.threads, one.weights, one.differ];
            std::iter::once(request).chain(numbers.map(|number| number.to_string()))
        });
        return Section::new("").table(Table::new("", &head).rows(rows));
    }
    let mut table = Table::new("", &["test", ">fpr <=", ">fnr <=", ">mu >=", ">epsilon >="]);
    for test in &result.tests {
        let shown = &test.shown;
        table.row([
            format!("{} ({})", test.direction, test.chosen_for),
            ceiling(shown.fpr_upper),
            ceiling(shown.fnr_upper),
            floor(shown.mu_lower),
            floor(shown.epsilon_lower),
        ]);
    }
    Section::new("").table(table)
}

/// What a certificate would say.
fn certified(result: &AuditResult) -> Table {
    let head = ["", ">mu <=", ">epsilon <="];
    let mut certified = Table::new("a certificate of this deletion would say, at most:", &head);
    for claim in &result.certified {
        let mu = claim.mu.map_or_else(|| "-".into(), |mu| ceiling(mu.0));
        let by = format!("by {} at delta {}", claim.accountant, bound(claim.delta.0));
        certified.row([by, mu, ceiling(claim.epsilon.0)]);
    }
    certified
}

/// What runs weighed by their likelihood gave, where there are any.
fn weighed(result: &AuditResult) -> Section {
    if result.canaries.is_empty() {
        return Section::new("");
    }
    let head = [">canaries", ">epsilon, estimate", ">epsilon >=", ">certified <=", ">at delta"];
    let rows = result.canaries.iter().map(|one| {
        [
            one.units.to_string(),
            format!("{:.4}", one.estimate),
            floor(one.lower),
            ceiling(one.certified),
            bound(one.delta),
        ]
    });
    Section::new("").table(Table::new("runs weighed by their likelihood:", &head).rows(rows))
}
