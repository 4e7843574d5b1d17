//! A page of HTML: headings, paragraphs, tables and lists, everything escaped.

use std::fmt::{Display, Write as _};

use efface_privacy::quantity::rounded_up;

const STYLE: &str = include_str!("page.css");

/// A page in the making.
pub(super) struct Page(String);

impl Page {
    /// Everything up to the first heading.
    pub(super) fn new(title: &str) -> Self {
        let mut page = Self(String::new());
        page.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
        page.raw("<meta name=\"viewport\" content=\"width=device-width\">");
        page.raw(format!("<title>{}</title>", escape(title)));
        page.raw(format!("<style>{STYLE}</style></head><body><main>"));
        page
    }

    /// The whole page.
    pub(super) fn finish(mut self) -> String {
        self.raw("</main></body></html>");
        self.0
    }

    /// Takes HTML as it is.
    pub(super) fn raw(&mut self, html: impl Display) {
        let _ = writeln!(self.0, "{html}");
    }

    pub(super) fn title(&mut self, text: &str) {
        self.raw(format!("<h1>{}</h1>", escape(text)));
    }

    pub(super) fn section(&mut self, title: &str) {
        self.raw(format!("<h2>{}</h2>", escape(title)));
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        self.raw(format!("<p>{}</p>", escape(text)));
    }

    /// A paragraph with a coloured bar: `good`, `bad` or `note`. The words say all, the colour
    /// nothing more.
    pub(super) fn notice(&mut self, kind: &str, title: &str, text: &str) {
        self.raw(format!(
            "<p class=\"notice {kind}\"><strong>{}</strong> {}</p>",
            escape(title),
            escape(text)
        ));
    }

    pub(super) fn list(&mut self, items: &[String]) {
        self.raw("<ul>");
        for item in items {
            self.raw(format!("<li>{}</li>", escape(item)));
        }
        self.raw("</ul>");
    }

    /// Terms and what they mean.
    pub(super) fn terms<'a>(&mut self, terms: impl IntoIterator<Item = (&'a str, String)>) {
        self.raw("<dl>");
        for (term, meaning) in terms {
            self.raw(format!("<dt>{}</dt><dd>{}</dd>", escape(term), escape(&meaning)));
        }
        self.raw("</dl>");
    }

    /// A table; the first cell of each row names the row.
    pub(super) fn table(&mut self, caption: &str, head: &[&str], rows: &[Vec<String>]) {
        self.raw("<div class=\"scroll\" tabindex=\"0\"><table>");
        self.raw(format!("<caption>{}</caption><thead><tr>", escape(caption)));
        for name in head {
            self.raw(format!("<th scope=\"col\">{}</th>", escape(name)));
        }
        self.raw("</tr></thead><tbody>");
        for row in rows {
            let mut line = String::from("<tr>");
            for (column, cell) in row.iter().enumerate() {
                let cell = escape(cell);
                let _ = match column {
                    0 => write!(line, "<th scope=\"row\">{cell}</th>"),
                    _ => write!(line, "<td>{cell}</td>"),
                };
            }
            self.raw(line + "</tr>");
        }
        self.raw("</tbody></table></div>");
    }
}

/// Text as HTML; what stands between backticks is code.
pub(super) fn escape(text: &str) -> String {
    let plain =
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let pieces: Vec<&str> = plain.split('`').collect();
    // A backtick without its pair is one of somebody's text.
    if pieces.len().is_multiple_of(2) {
        return plain;
    }
    let code = |(i, piece): (usize, &&str)| match i % 2 {
        0 => (*piece).to_owned(),
        _ => format!("<code>{piece}</code>"),
    };
    pieces.iter().enumerate().map(code).collect()
}

/// A bound as people read it: four significant digits, rounded up, since it may only grow.
pub(super) fn short(value: f64) -> String {
    if value.is_finite() { rounded_up(value) } else { "no bound".into() }
}

/// A time of the ledger, for a table that says UTC.
pub(super) fn time(stamp: &str) -> String {
    stamp.trim_end_matches('Z').replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::{escape, short};

    #[test]
    fn bounds_are_never_shown_smaller_than_they_are() {
        for (value, shown) in [
            (1.0, "1"),
            (0.3, "0.3"),
            (1.1, "1.1"),
            (33_640.2, "33650"),
            (0.001_373_2, "0.001374"),
            (9.999_91, "10"),
            (2.5e-7, "2.5e-7"),
            (2.500_01e-7, "2.501e-7"),
            (1.234_5e9, "1235000000"),
            (f64::INFINITY, "no bound"),
            (0.0, "0"),
        ] {
            assert_eq!(short(value), shown);
        }
        let mut value = 1e-9;
        while value < 1e9 {
            let shown: f64 = short(value).parse().unwrap_or(0.0);
            assert!(shown >= value && shown <= value * 1.002, "{value}: {shown}");
            value *= 1.037;
        }
    }

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escape("<b a=\"&\">"), "&lt;b a=&quot;&amp;&quot;&gt;");
        assert_eq!(escape("by `a < b`, `c`"), "by <code>a &lt; b</code>, <code>c</code>");
        assert_eq!(escape("one ` alone"), "one ` alone");
    }
}
