//! Text and JSON: results on standard output, everything else on standard error.

mod account;
mod audit;
mod evaluation;
mod prediction;
mod served;
mod status;
mod verdict;

pub(crate) use prediction::header;

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

use efface::planner::Advice;
use efface::{Claim, Code, Ids, Notice, NoticeCode, in_words, value_in_words};
use efface_page::{Page, Section, Table, Tone, words};
use serde_json::{Value, json};

use crate::destination::Destination;
use crate::failure::{Failure, Result};
use crate::words::FLAGS;

/// The most columns of a table that people are shown.
const MOST_COLUMNS: usize = 40;

/// What fitted preprocessing decided for each column.
pub(super) fn columns(decided: &[String]) -> Section {
    let cells = |line: &String| match line.rsplit_once(": ") {
        Some((name, what)) => [name.to_owned(), what.to_owned()],
        None => [String::new(), line.clone()],
    };
    let rows = decided.iter().take(MOST_COLUMNS).map(cells);
    let more = decided.len().saturating_sub(MOST_COLUMNS);
    let more = (more > 0).then(|| format!("and {more} more: `efface status --json` has them all"));
    Section::new("")
        .table(Table::new("preprocessing, fitted to the records", &["", ""]).rows(rows))
        .lines(more)
}

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

    /// Shows something: to programs as its own JSON, to people as its page.
    pub(crate) fn show(
        &mut self,
        thing: &impl serde::Serialize,
        page: impl FnOnce() -> Page,
    ) -> Result<()> {
        if self.json {
            let value = to_value(thing)?;
            return self.value(&value);
        }
        self.text(&page().text())
    }

    /// Shows a plan; `written` is the file it was written to.
    pub(crate) fn plan(&mut self, advice: &Advice, written: Option<&Path>) -> Result<()> {
        let mut value = to_value(advice)?;
        value["plan_file"] = json!(written.map(Path::to_string_lossy));
        value["private"] = to_value(&advice.seen)?;
        self.warnings(&advice.seen.notices);
        let written = written.map(|path| format!("written to {}", path.display()));
        self.show(&value, || {
            let seen = &advice.seen;
            let page = advice.page().with(columns(&seen.preprocessing));
            page.with(noticed(Section::new("").lines(written), &seen.notices))
        })
    }

    /// Shows a list: to programs an object on each line, to people one page.
    pub(crate) fn list<T: serde::Serialize>(
        &mut self,
        things: &[T],
        page: impl FnOnce() -> Page,
    ) -> Result<()> {
        if self.json {
            return things.iter().try_for_each(|thing| self.show(thing, Page::default));
        }
        self.text(&page().text())
    }

    /// Writes a result to the file that was asked for and says so; without one, to standard output:
    /// as it is, or inside `instead` for programs. `more` is what programs are told besides.
    pub(crate) fn result(
        &mut self,
        what: &str,
        bytes: &[u8],
        destination: Option<Destination>,
        instead: Option<Value>,
        more: Value,
    ) -> Result<()> {
        let Some(destination) = destination else {
            return match instead.filter(|_| self.json) {
                Some(value) => self.value(&value),
                None => self.bytes(bytes),
            };
        };
        // JSON has no form for a path that is not Unicode: it is shown as it is to people.
        let path = destination.path().display().to_string();
        destination.write(bytes)?;
        let mut written = json!({ "written": path });
        if let (Some(written), Value::Object(more)) = (written.as_object_mut(), more) {
            written.extend(more);
        }
        self.say(&written, &format!("{what} written to {path}"))
    }

    /// Says one thing: JSON to programs, a line to people.
    pub(crate) fn say(&mut self, value: &Value, text: &str) -> Result<()> {
        if self.json { self.value(value) } else { self.text(text) }
    }

    /// Writes lines of text, control characters made visible.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        let text = in_words(text.trim_end_matches('\n'), &FLAGS);
        writeln!(self.stdout, "{}", visible(&text)).map_err(|error| Failure::output(&error))
    }

    /// Writes one JSON value on a line of its own.
    pub(crate) fn value(&mut self, value: &Value) -> Result<()> {
        let mut value = value.clone();
        value_in_words(&mut value, &FLAGS);
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
        self.remark("note", text);
    }

    /// Says notices of the engine on standard error.
    pub(crate) fn notices<'n>(&self, notices: impl IntoIterator<Item = &'n Notice>) {
        for notice in notices {
            self.remark(if notice.code.is_warning() { "warning" } else { "note" }, &notice.message);
        }
    }

    /// Says on standard error which of them are warnings; the others are for a page.
    fn warnings(&self, notices: &[Notice]) {
        self.notices(notices.iter().filter(|notice| notice.code.is_warning()));
    }

    fn remark(&self, word: &str, text: &str) {
        let text = in_words(text, &FLAGS);
        to_stderr(&if self.json {
            json!({ "notice": text }).to_string()
        } else {
            format!("{word}: {}", visible(&text))
        });
    }

    /// Says that names were left out; all of them as JSON.
    pub(crate) fn skipped(&self, text: &str, unknown: &[String]) {
        let text = &in_words(text, &FLAGS);
        if self.json {
            to_stderr(&json!({ "notice": text, "unknown": unknown }).to_string());
        } else {
            self.notice(text);
        }
    }

    /// Shows an error on standard error; `names` are all ids or subjects that it is about.
    pub(crate) fn error(&self, code: Code, message: &str, hint: Option<&str>, names: &[String]) {
        let message = &in_words(message, &FLAGS);
        let hint = hint.map(|hint| in_words(hint, &FLAGS));
        to_stderr(&if self.json {
            let mut error = json!({ "code": code, "message": message, "hint": hint });
            if !names.is_empty() {
                error["names"] = json!(names);
            }
            json!({ "error": error }).to_string()
        } else {
            let hint = hint.map_or_else(String::new, |hint| format!("\nhint: {}", visible(&hint)));
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

/// A section of what is promised, with a point for each notion.
fn promises(claims: &[Claim]) -> Section {
    Section::new("").terms(claims.iter().map(words::claim).chain(words::comparison(claims)))
}

/// How records are named, in words.
fn naming(ids: Ids) -> &'static str {
    match ids {
        Ids::Column => "by the ids of the table",
        Ids::Position => "by position: `row:0` is the first row of the first table",
    }
}

/// A section with those of the engine's notices that are no warnings.
fn noticed(section: Section, notices: &[Notice]) -> Section {
    // The title says of a request that was served before that it was.
    let is_note =
        |notice: &&Notice| !notice.code.is_warning() && notice.code != NoticeCode::ServedBefore;
    let notes = notices.iter().filter(is_note);
    notes.fold(section, |section, notice| {
        section.notice(Tone::Note, "note", in_words(&notice.message, &FLAGS))
    })
}

/// Something of the engine as JSON; what it holds always can be.
fn to_value(thing: &impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(thing)
        .map_err(|error| efface::Error::storage(Code::Json, error.to_string()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(visible("a\u{1b}[31mb\r\nc"), "a\\u{1b}[31mb\\r\nc");
        assert_eq!(visible("Zoë\t7"), "Zoë\t7");
    }
}
