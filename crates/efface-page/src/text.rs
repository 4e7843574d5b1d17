//! Pages as plain text.

use crate::model::{Block, Item, Page, Section, Table, Tone};

/// The widest line of running text.
pub const WIDTH: usize = 88;
/// How far a value stands from the longest name, and the least room for names.
const GAP: usize = 2;
const NAMES: usize = 9;
/// Least width that a last column is wrapped to.
const LAST: usize = 24;

/// Wraps words into lines of at most `most` characters, if they fit. A word is never cut.
#[must_use]
pub fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut width = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        match lines.last_mut() {
            Some(line) if width + 1 + length <= most => {
                line.push(' ');
                line.push_str(word);
                width += 1 + length;
            }
            _ => {
                lines.push(word.to_owned());
                width = length;
            }
        }
    }
    lines
}

/// Appends lines under one another, the first after `first` and the others below it.
fn hanging(first: &str, text: &str, lines: &mut Vec<String>) {
    let indent = first.chars().count();
    for (k, line) in wrapped(text, WIDTH.saturating_sub(indent)).iter().enumerate() {
        lines.push(if k == 0 { format!("{first}{line}") } else { format!("{:indent$}{line}", "") });
    }
}

impl Page {
    /// Returns the page as lines of at most [`WIDTH`] columns, unless words, tables or lines that must not be
    /// broken are longer. Pictures are left out.
    #[must_use]
    pub fn text(&self) -> String {
        self.lines(|_| true)
    }

    /// Returns the page as text, without the sections that a browser folds away.
    #[must_use]
    pub fn brief(&self) -> String {
        self.lines(|section| !section.folded)
    }

    fn lines(&self, shown: impl Fn(&Section) -> bool) -> String {
        let mut lines = Vec::new();
        if !self.title.is_empty() {
            lines.push(self.title.clone());
        }
        for (k, section) in self.sections.iter().filter(|section| shown(section)).enumerate() {
            if !lines.is_empty() && (k > 0 || !section.heading.is_empty()) {
                lines.push(String::new());
            }
            if !section.heading.is_empty() {
                lines.push(section.heading.clone());
            }
            section.blocks.iter().for_each(|block| block.add_to(&mut lines));
        }
        lines.join("\n") + "\n"
    }
}

impl Block {
    fn add_to(&self, lines: &mut Vec<String>) {
        match self {
            Self::Text(text) => hanging("", text, lines),
            Self::Line(text) => lines.push(text.clone()),
            Self::Notice(Tone::Bad, title, text) => {
                hanging("", &format!("{}: {text}", title.to_uppercase()), lines);
            }
            Self::Notice(_, title, text) => hanging("", &format!("{title}: {text}"), lines),
            Self::List(items) => items.iter().for_each(|item| item.point(lines)),
            Self::Terms(items) => items.iter().for_each(|item| item.term(lines)),
            Self::Facts(facts) => {
                let names = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
                let room = names.max(NAMES) + GAP;
                for (name, value) in facts {
                    hanging(&format!("{name:<room$}"), value, lines);
                }
            }
            Self::Table(table) => table.add_to(lines),
            Self::Figure(..) => {}
        }
    }
}

impl Item {
    fn point(&self, lines: &mut Vec<String>) {
        let name = if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) };
        hanging("  * ", &format!("{name}{}", self.text), lines);
        self.more.iter().for_each(|text| hanging("    ", text, lines));
    }

    fn term(&self, lines: &mut Vec<String>) {
        lines.push(self.name.clone());
        for text in std::iter::once(&self.text).chain(&self.more) {
            hanging("    ", text, lines);
        }
    }
}

impl Table {
    fn add_to(&self, lines: &mut Vec<String>) {
        if !self.caption.is_empty() {
            hanging("", &self.caption, lines);
        }
        let named = self.head.iter().any(|name| !name.is_empty());
        // What has no names of columns is set apart from what is around it.
        let indent = if named { 0 } else { 2 };
        let rows = || named.then_some(&self.head).into_iter().chain(&self.rows);
        let last = self.head.len().saturating_sub(1);
        let mut widths = vec![0; self.head.len()];
        for row in rows() {
            for (column, cell) in row.iter().enumerate() {
                // A cell spreads over the empty ones behind it.
                if row.get(column + 1).is_none_or(|next| !next.is_empty()) {
                    widths[column] = widths[column].max(cell.chars().count());
                }
            }
        }
        let before = indent + widths[..last].iter().map(|width| width + 2).sum::<usize>();
        for row in rows() {
            let mut line = " ".repeat(indent);
            let mut end = indent;
            for (column, cell) in row.iter().enumerate().take(last) {
                let used = line.chars().count();
                end += widths[column];
                let room = end.saturating_sub(used);
                match self.right[column] {
                    true => line.push_str(&format!("{cell:>room$}")),
                    false => line.push_str(&format!("{cell:<room$}")),
                }
                end += 2;
                let least = if cell.is_empty() { 0 } else { 2 };
                let gap = end.saturating_sub(line.chars().count()).max(least);
                line.push_str(&" ".repeat(gap));
            }
            let cell = row.get(last).map_or("", String::as_str);
            if self.right[last] {
                line.push_str(&format!("{cell:>width$}", width = widths[last]));
            } else if before + LAST <= WIDTH {
                let from = lines.len();
                hanging(&line, cell, lines);
                if lines.len() > from {
                    continue;
                }
            } else {
                line.push_str(cell);
            }
            lines.push(line.trim_end().to_owned());
        }
    }
}

/// Returns a cell of CSV, quoted if necessary.
#[must_use]
pub fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_whole() {
        let text = "word ".repeat(40);
        let lines = wrapped(&text, 20);
        assert_eq!(lines.join(" "), text.trim_end());
        assert!(lines.iter().all(|line| line.len() <= 20) && lines.len() == 10);
        let long = "x".repeat(200);
        assert_eq!(wrapped(&long, 20), [long]);
        assert_eq!(wrapped("ä ö ü", 3), ["ä ö", "ü"]);
    }

    #[test]
    fn sections_are_set_apart_and_what_belongs_together_is_aligned() {
        let long = "a text that is longer than a line may be, ".repeat(3);
        let page = Page::new("title")
            .with(Section::new("").facts([("a", "1"), ("a longer name", "2")]))
            .with(Section::new("empty"))
            .with(
                Section::new("points")
                    .list([Item::new("one", &long).more(["more".to_owned()])])
                    .terms([("term", "meaning")])
                    .notice(Tone::Bad, "Not so", "because")
                    .figure("<svg/>", "left out"),
            )
            .with(Section::new("hidden").folded().line("x"));
        assert_eq!(
            page.brief(),
            "title\n\
             a              1\n\
             a longer name  2\n\
             \n\
             points\n\
             \x20 * one: a text that is longer than a line may be, a text that is longer than a line may\n\
             \x20   be, a text that is longer than a line may be,\n\
             \x20   more\n\
             term\n\
             \x20   meaning\n\
             NOT SO: because\n"
        );
        assert!(page.text().ends_with("\n\nhidden\nx\n"));
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let cells = ["plain", "a\r", "1, 2", "say \"so\""].map(csv_cell);
        assert_eq!(cells, ["plain", "\"a\r\"", "\"1, 2\"", "\"say \"\"so\"\"\""]);
    }

    #[test]
    fn columns_are_as_wide_as_what_they_hold() {
        let table = Table::new("", &[">", "name", ">size", "note"])
            .rows([["1", "short", "10", "first"], ["-", "a name over two", "", "second"]]);
        let page = Page::new("").with(Section::new("").table(table));
        assert_eq!(
            page.text(),
            "   name   size  note\n1  short    10  first\n-  a name over two  second\n"
        );
        let wide = Table::new("", &["", ""]).rows([["key", "value"], ["other", ""]]);
        let page = Page::new("").with(Section::new("rows").table(wide));
        assert_eq!(page.text(), "rows\n  key  value\n  other\n");
    }
}
