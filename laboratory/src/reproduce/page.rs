//! The page: every experiment that was run, the papers beside us, and the tables.

use efface_page::{Page, Section, Table};

use super::outcome::{Line, Outcome};
use super::{Experiment, Provenance};

/// What tells the page from any other file.
const TITLE: &str = "efface: published results, repeated";

/// Whether these are the bytes of such a page.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(1000)];
    String::from_utf8_lossy(start).contains(&format!("<title>{TITLE}</title>"))
}

/// The sections of these experiments under a table of contents.
pub(super) fn page(experiments: &[Experiment], sections: &[Section], quick: bool) -> Page {
    let mut about = String::from(
        "What papers print and state, next to what this program computes and measures. Each \
         difference is explained in its row.",
    );
    if quick {
        about += " This is the quick variant: fewer rows, seeds and settings, to see that \
                  everything runs; its numbers are not the result.";
    }
    let contents = experiments.iter().map(|experiment| {
        let Experiment { name, title, paper, .. } = experiment;
        (name.clone(), format!("#{name}"), format!(": {title} ({paper})"))
    });
    Page::new(TITLE)
        .with(Section::new("").text(about).links(contents))
        .with_all(sections.iter().cloned())
}

/// One experiment and what came out of it; `files` are the names of those beside the page.
pub(super) fn section(
    experiment: &Experiment,
    outcome: &Outcome,
    lines: &[Line],
    provenance: &Provenance,
    files: Vec<String>,
) -> Section {
    let Experiment { name, title, paper, about, .. } = experiment;
    let mut section =
        Section::new(title).anchored(name).text(format!("`{name}`, {paper}. {about}"));
    for remark in &outcome.remarks {
        section = section.text(remark);
    }
    section = section.table(claims(lines));
    for sheet in &outcome.sheets {
        let title = if sheet.name.is_empty() { "All results" } else { &sheet.name };
        section = section.folded_table(title, sheet.table.clone());
    }
    let agree = outcome.printed.iter().filter(|line| line.agrees).count();
    let all = outcome.printed.len();
    section
        .folded_table(
            format!("Every printed number: {agree} of {all} agree"),
            claims(&outcome.printed),
        )
        .text(format!("{}. Files:", provenance.line()))
        .links(files.into_iter().map(|file| (file.clone(), file, String::new())))
}

/// The paper beside us, a row for each claim; those that differ catch the eye.
pub(super) fn claims(lines: &[Line]) -> Table {
    let mut table = Table::new("", &["statement", "paper", "here", "", "explanation"]);
    for Line { says, paper, ours, agrees, why } in lines {
        match agrees {
            true => table.row([says, paper, ours, "agrees", why]),
            false => table.marked_row([says, paper, ours, "differs", why]),
        }
    }
    table
}
