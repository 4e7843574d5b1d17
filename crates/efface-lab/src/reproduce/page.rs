//! The page: every experiment that was run, the papers beside us, and the figures.

use std::fmt::Write as _;

use super::outcome::{Line, Outcome};
use super::{Experiment, Provenance};

/// What was run, ready to be shown.
pub(super) struct Section<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) outcome: &'a Outcome,
    /// The declared claims beside what was measured.
    pub(super) lines: &'a [Line],
    pub(super) provenance: &'a Provenance,
    /// Names of the files written beside the page.
    pub(super) files: Vec<String>,
}

const STYLE: &str = "body{font:16px/1.5 sans-serif;color:#222;max-width:1280px;margin:2rem auto;\
padding:0 1rem}h2{margin-top:3rem;border-top:1px solid #ccc;padding-top:1rem}table{border-collapse:\
collapse;margin:1rem 0}th,td{border:1px solid #ccc;padding:.3rem .6rem;text-align:left;\
vertical-align:top}th{background:#f3f3f3}.differs{background:#fdeee6;font-weight:bold}\
.provenance{color:#555;font-size:.85rem}svg{max-width:100%;height:auto}figure{margin:1rem 0}";

/// What tells a page from any other file.
const TITLE: &str = "<title>efface: published results, repeated</title>";

/// Whether these are the bytes of such a page.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(1000)];
    String::from_utf8_lossy(start).contains(TITLE)
}

/// The start of the page, with a table of contents.
pub(super) fn head<'a>(experiments: impl Iterator<Item = &'a Experiment>, quick: bool) -> String {
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         {TITLE}<style>{STYLE}</style></head><body>\n\
         <h1>Published results, repeated</h1>\n<p>What papers print and state, next to what this \
         program computes and measures. Each difference is explained in its row.{}</p>\n<ul>\n",
        if quick {
            " This is the quick variant: fewer rows, seeds and settings, to see that everything \
             runs; its numbers are not the result."
        } else {
            ""
        }
    );
    for experiment in experiments {
        let (name, title, paper) =
            (escaped(&experiment.name), escaped(&experiment.title), escaped(&experiment.paper));
        let _ = writeln!(html, "<li><a href=\"#{name}\">{name}</a>: {title} ({paper})</li>");
    }
    html.push_str("</ul>\n");
    html
}

/// The end of the page.
pub(super) const FOOT: &str = "</body></html>\n";

/// One experiment in HTML.
pub(super) fn html(section: &Section<'_>) -> String {
    let experiment = section.experiment;
    let mut html = String::new();
    let name = escaped(&experiment.name);
    let _ = writeln!(
        html,
        "<h2 id=\"{name}\">{}</h2>\n<p><code>{name}</code>, {}. {}</p>",
        escaped(&experiment.title),
        escaped(&experiment.paper),
        escaped(&experiment.about)
    );
    for remark in &section.outcome.remarks {
        let _ = writeln!(html, "<p>{}</p>", escaped(remark));
    }
    table(&mut html, section.lines);
    for drawing in &section.outcome.drawings {
        let start = drawing.svg.find("<svg").unwrap_or(0);
        let labelled = drawing.svg[start..].replacen(
            "<svg",
            &format!("<svg role=\"img\" aria-label=\"{}\"", escaped(&drawing.title)),
            1,
        );
        let _ = writeln!(html, "<figure>{labelled}</figure>");
    }
    if !section.outcome.printed.is_empty() {
        let agree = section.outcome.printed.iter().filter(|line| line.agrees).count();
        let all = section.outcome.printed.len();
        let _ = writeln!(
            html,
            "<details><summary>Every printed number: {agree} of {all} agree</summary>"
        );
        table(&mut html, &section.outcome.printed);
        html.push_str("</details>\n");
    }
    let files: Vec<String> = section
        .files
        .iter()
        .map(|file| format!("<a href=\"{0}\">{0}</a>", escaped(file)))
        .collect();
    let _ = writeln!(
        html,
        "<p class=\"provenance\">{}. Files: {}.</p>",
        escaped(&section.provenance.line()),
        files.join(", ")
    );
    html
}

fn table(html: &mut String, lines: &[Line]) {
    if lines.is_empty() {
        return;
    }
    html.push_str(
        "<table><thead><tr><th>statement</th><th>paper</th><th>here</th><th></th>\
         <th>explanation</th></tr></thead><tbody>\n",
    );
    for line in lines {
        let (class, word) = verdict(line);
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"{class}\">{word}</td><td>{}</td></tr>",
            escaped(&line.says),
            escaped(&line.paper),
            escaped(&line.ours),
            escaped(&line.why)
        );
    }
    html.push_str("</tbody></table>\n");
}

fn verdict(line: &Line) -> (&'static str, &'static str) {
    if line.agrees { ("agrees", "agrees") } else { ("differs", "differs") }
}

/// The claims of one experiment in Markdown, for pages that are kept.
pub(super) fn markdown(lines: &[Line]) -> String {
    let mut text =
        String::from("| statement | paper | here | | explanation |\n|---|---|---|---|---|\n");
    for line in lines {
        let cells = [&line.says, &line.paper, &line.ours, &verdict(line).1.to_owned(), &line.why];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
