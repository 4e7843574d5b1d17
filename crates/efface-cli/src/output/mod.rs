//! Text and JSON: results on standard output, everything else on standard error.

#[cfg(feature = "lab")]
mod attacks;
#[cfg(feature = "lab")]
mod audit;
mod backup;
mod bounds;
mod case;
mod dry_run;
mod evaluation;
mod ledger;
mod plan;
mod prediction;
mod served;
mod status;
mod verdict;

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use efface::{Claim, Ids, Notice};
use serde_json::{Value, json};

use crate::failure::{Failure, Result};

/// Where results go, and in which form.
pub(crate) struct Output {
    json: bool,
    stdout: BufWriter<Stdout>,
}

impl Output {
    /// Text for people, or JSON for programs.
    pub(crate) fn new(json: bool) -> Self {
        Self { json, stdout: BufWriter::new(io::stdout()) }
    }

    /// Whether results are wanted as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether a person looks at standard output.
    pub(crate) fn is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Writes lines of text, control characters made visible.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        writeln!(self.stdout, "{}", visible(text.trim_end_matches('\n')))
            .map_err(|error| Failure::output(&error))
    }

    /// Writes one JSON value on a line of its own.
    pub(crate) fn value(&mut self, value: &Value) -> Result<()> {
        writeln!(self.stdout, "{value}").map_err(|error| Failure::output(&error))
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.stdout.write_all(bytes).map_err(|error| Failure::output(&error))
    }

    /// Makes sure that all of it has been written.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.stdout.flush().map_err(|error| Failure::output(&error))
    }

    /// Says something on standard error that is no error.
    pub(crate) fn notice(&self, text: &str) {
        to_stderr(&if self.json {
            json!({ "notice": text }).to_string()
        } else {
            format!("note: {}", visible(text))
        });
    }

    /// Says that names were left out; all of them as JSON.
    pub(crate) fn skipped(&self, text: &str, unknown: &[String]) {
        if self.json {
            to_stderr(&json!({ "notice": text, "unknown": unknown }).to_string());
        } else {
            self.notice(text);
        }
    }

    /// Shows an error on standard error; `names` are all ids or subjects that it is about.
    pub(crate) fn error(&self, code: &str, message: &str, hint: Option<&str>, names: &[String]) {
        to_stderr(&if self.json {
            let mut error = json!({ "code": code, "message": message, "hint": hint });
            if !names.is_empty() {
                error["names"] = json!(names);
            }
            json!({ "error": error }).to_string()
        } else {
            let hint = hint.map_or_else(String::new, |hint| format!("\nhint: {}", visible(hint)));
            format!("error: {}{hint}", visible(message))
        });
    }
}

/// Standard error is the last resort: if it is closed, nobody can be told.
fn to_stderr(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// The text with control characters other than line ends and tabs escaped: ids and file names
/// come from data and must not steer a terminal.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' && c != '\t' {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The widest line of running text.
const WIDTH: usize = 88;

/// A heading, and under it a text in lines of at most [`WIDTH`] characters, words kept whole.
fn paragraph(heading: &str, text: &str) -> String {
    let mut lines = vec![heading.to_owned()];
    let mut line = String::from("   ");
    for word in text.split_whitespace() {
        if line.len() > 3 && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(std::mem::replace(&mut line, String::from("   ")));
        }
        line.push(' ');
        line.push_str(word);
    }
    lines.push(line);
    lines.join("\n")
}

/// What is promised, a paragraph for each notion.
fn promises(claims: &[Claim]) -> impl Iterator<Item = String> {
    claims.iter().map(|claim| paragraph(claim.notion.name(), &claim.words))
}

/// How records are named, in words.
fn naming(ids: Ids) -> &'static str {
    match ids {
        Ids::Column => "by the ids of the table",
        Ids::Position => "by position: `row:0` is the first row of the first table",
    }
}

/// The first few of a list of names, and how many there are besides.
pub(crate) fn listed(names: &[String]) -> String {
    const MOST: usize = 10;
    let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A notice of the engine in a line.
fn noticed(notice: &Notice) -> String {
    let word = if notice.code.is_warning() { "warning" } else { "note" };
    format!("{word}: {}", notice.message)
}

/// `1 record`, `2 records`, `2 passes`.
pub(crate) fn counted(count: u64, thing: &str) -> String {
    let ending = match (count, thing.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {thing}{ending}")
}

/// Something of the engine as JSON; what it holds always can be.
fn to_value(thing: &impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(thing)
        .map_err(|error| efface::Error::storage("json", error.to_string()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(visible("a\u{1b}[31mb\r\nc"), "a\\u{1b}[31mb\\r\nc");
        assert_eq!(visible("Zoë\t7"), "Zoë\t7");
    }

    #[test]
    fn paragraphs_keep_words_whole() {
        let text = paragraph("title", &"word ".repeat(40));
        assert!(text.starts_with("title\n    word word"));
        assert_eq!(text.split_whitespace().count(), 41);
        assert!(text.lines().all(|line| line.len() <= WIDTH) && text.lines().count() == 4);
        let long = "x".repeat(200);
        assert_eq!(paragraph("title", &long), format!("title\n    {long}"));
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!(counted(1, "record"), "1 record");
        assert_eq!(counted(0, "record"), "0 records");
        assert_eq!(counted(2, "pass"), "2 passes");
    }
}
