//! The page: every experiment that was run, the papers beside us, and the tables.

use efface_page::{Page, Section, Table, csv_cell};

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
        (name, format!("{title} ({paper})"))
    });
    Page::new(TITLE)
        .with(Section::new("").text(about).list(contents))
        .with_all(sections.iter().cloned())
}

/// One experiment and what came out of it, then tables that a browser shows when asked to; `files` are the names of
/// those beside the page.
pub(super) fn sections(
    experiment: &Experiment,
    outcome: &Outcome,
    lines: &[Line],
    provenance: &Provenance,
    files: &[String],
) -> Vec<Section> {
    let Experiment { name, title, paper, about, .. } = experiment;
    let mut section = Section::new(title).text(format!("`{name}`, {paper}. {about}"));
    for remark in &outcome.remarks {
        section = section.text(remark);
    }
    section = section.table(claims(lines));
    section = section.text(format!("{}. Files: {}", provenance.line(), files.join(", ")));
    let folded = |title: &str, table| Section::new(title).folded().table(table);
    let mut sections = vec![section];
    sections.extend(outcome.sheets.iter().map(|sheet| {
        let title = if sheet.name.is_empty() { "All results" } else { &sheet.name };
        folded(title, sheet.table.clone())
    }));
    let agree = outcome.printed.iter().filter(|line| line.agrees).count();
    let all = outcome.printed.len();
    let title = format!("Every printed number: {agree} of {all} agree");
    sections.push(folded(&title, claims(&outcome.printed)));
    sections
}

/// The table as Markdown.
pub(super) fn markdown(table: &Table) -> String {
    let line = |cells: &[String]| -> String {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(table.head.len()));
    line(&table.head).replace("|  |", "| |")
        + &rule
        + &table.rows.iter().map(|row| line(row)).collect::<String>()
}

/// The table as CSV, without its caption.
pub(super) fn csv(table: &Table) -> String {
    let line = |cells: &Vec<String>| {
        cells.iter().map(|cell| csv_cell(cell)).collect::<Vec<_>>().join(",") + "\n"
    };
    std::iter::once(&table.head).chain(&table.rows).map(line).collect()
}

/// The paper beside us, a row for each claim.
pub(super) fn claims(lines: &[Line]) -> Table {
    let mut table = Table::new("", &["statement", "paper", "here", "", "explanation"]);
    for Line { says, paper, ours, agrees, why } in lines {
        let judged = if *agrees { "agrees" } else { "differs" };
        table.row([says.as_str(), paper, ours, judged, why]);
    }
    table
}
