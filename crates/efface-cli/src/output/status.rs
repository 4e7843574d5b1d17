//! The state of a vault, and of its ledger.

use std::path::Path;

use efface::{Backup, DryRun, Entry, NotionStatus, Status};
use efface_page::certificate::SEEDED;
use efface_page::number::{counted, listed};
use efface_page::{Page, Section, Table, Tone};

use super::{Output, columns, naming, noticed, promises};
use crate::failure::Result;

impl Output {
    /// Shows the state of a vault.
    pub(crate) fn status(&mut self, path: &Path, status: &Status) -> Result<()> {
        self.warnings(&status.notices);
        self.show(status, || page(path, status))
    }

    /// Shows what a delete request would do.
    pub(crate) fn dry_run(&mut self, dry: &DryRun) -> Result<()> {
        self.show(dry, || {
            let would = counted(dry.records, "record");
            let remaining = dry.remaining;
            let mut section = Section::new("");
            if dry.records > 0 {
                let (ids, naming) = (listed(&dry.ids), naming(dry.named_by));
                section = section.text(format!("records: {ids} ({naming})"));
            }
            if !dry.already_deleted.is_empty() {
                section = section.text(format!("deleted before: {}", listed(&dry.already_deleted)));
            }
            if let Some(steps) = dry.steps {
                section = section.text(format!("would take {}", counted(steps, "step")));
            }
            Page::new(format!(
                "would delete {would}; {remaining} would remain; nothing was changed"
            ))
            .with(section)
            .with(promises(&dry.claims))
        })
    }

    /// Shows ledger entries, oldest first.
    pub(crate) fn entries(&mut self, entries: &[Entry]) -> Result<()> {
        self.list(entries, || {
            let table = Table::new("", &[">index", "kind", ">version", "time", "request"]);
            let rows = entries.iter().map(|entry| {
                let mut request = entry.request_id.clone().unwrap_or_else(|| "-".to_owned());
                if entry.backwards {
                    request += " (before the time of an earlier entry)";
                }
                let (index, version) = (entry.index.to_string(), entry.version.to_string());
                [index, entry.kind.clone(), version, entry.at.clone(), request]
            });
            Page::default().with(Section::new("").table(table.rows(rows)))
        })
    }

    /// Shows a copy that is `what` another file.
    pub(crate) fn backup(&mut self, what: &str, of: &Path, made: &Backup) -> Result<()> {
        self.show(made, || {
            let Backup { path, version, records, head, notices, .. } = made;
            let (of, path, records) = (of.display(), path.display(), counted(*records, "record"));
            let (index, hash) = head;
            let section = Section::new("")
                .line(format!("version {version}, {records}, ledger head {index} {hash}"));
            Page::new(format!("{what} {of}: {path}")).with(
                notices
                    .iter()
                    .fold(section, |section, text| section.notice(Tone::Note, "note", text)),
            )
        })
    }
}

fn page(path: &Path, status: &Status) -> Page {
    let (mechanism, loss, state) = (&status.mechanism, &status.loss, &status.state);
    let most = status.capacity.map_or_else(String::new, |most| format!(" of at most {most}"));
    let subjects = counted(status.subjects, "subject");
    let parameters = counted(status.parameters, "parameter");
    let bounded = if status.withdrawn { "at most " } else { "" };
    let mut about = Section::new("").facts([
        ("model", format!("{loss} loss by {mechanism}, {state} state, {bounded}{parameters}")),
        ("records", format!("{}{most}, {subjects}", status.records)),
        ("named", naming(status.named_by).to_owned()),
    ]);
    let classes = (!status.classes.is_empty()).then(|| ("classes", listed(&status.classes)));
    about = about.facts(classes);
    about = about.facts(status.features.clone().map(|map| ("features", map)));
    if status.withdrawn {
        let text = "Records were erased without a release; there is no model.";
        about = about.notice(Tone::Bad, "Withdrawn", text);
    }
    if status.not_for_release {
        about = about.notice(Tone::Bad, SEEDED.0, SEEDED.1);
    }
    let requests: Vec<String> =
        status.requests.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let mut served = vec![("requests", requests.join(", "))];
    served.extend(status.exports.latest.as_ref().map(|export| {
        let count = match status.exports.count {
            1 => String::new(),
            more => format!("{more} times, last "),
        };
        let (version, format, at) = (export.version, &export.format, &export.at);
        let text = format!("{count}version {version} as {format} on {at}: copies are not covered");
        ("exported", text)
    }));
    served.extend(status.releases_left.map(|left| ("left", counted(left, "release"))));
    let left = status.deletions_left.zip(status.deletions_of);
    served.extend(left.map(|(left, unit)| ("deletions left", counted(left, unit.name()))));
    served.extend(status.memory.as_ref().map(|memory| {
        let text = format!(
            "{:.0}% of its bound left, about {} until the next pass over all records; {} since the \
             last (private)",
            100.0 * memory.margin.max(0.0),
            counted(memory.expected_changes, "deletion"),
            counted(memory.changes, "change"),
        );
        ("memory", text)
    }));
    served.extend(status.prepared.then(|| {
        let text = "a Hessian is kept for the next request, which erases it";
        ("prepared", text.to_owned())
    }));
    let (index, hash) = &status.head;
    Page::new(format!("{}: version {}", path.display(), status.version))
        .with(noticed(about, &status.notices).facts(served))
        .with(columns(&status.preprocessing))
        .with(promises(&status.claims))
        .with(
            Section::new("further requests")
                .table(Table::new("", &["", "", ""]).rows(NotionStatus::table(&status.notions))),
        )
        .with(Section::new("").facts([
            ("vault", format!("{}, made {}", status.vault, status.created_at)),
            ("key", status.key_id.clone()),
            ("head", format!("{index} {hash}")),
        ]))
}
