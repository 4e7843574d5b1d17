//! Pages as HTML: everything escaped, nothing fetched, no scripts; headings, captions and scopes for screen
//! readers.

use std::fmt::Write as _;

use crate::model::{Block, Item, Page, Section, Table, Tone};

const STYLE: &str = include_str!("page.css");

/// Colours come from the notebook, so that a card is readable on light and on dark ones.
const CARD: &str = "max-width:60rem;border:1px solid currentColor;border-radius:.4rem;\
    padding:.2rem 1rem .6rem;font-size:.95em;line-height:1.45";

impl Page {
    /// Returns the page as a document of its own.
    #[must_use]
    pub fn document(&self) -> String {
        let title = escaped(&self.title);
        let of = if self.of.is_empty() { String::new() } else { format!(", {}", plain(&self.of)) };
        let mut html = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><title>{}{of}</title>\
             <style>{STYLE}</style></head><body><main>\n<h1>{title}</h1>\n",
            plain(&self.title)
        );
        for section in &self.sections {
            section.write_html(&mut html, "h2");
        }
        html + "</main></body></html>\n"
    }

    /// Returns the page as a piece of another, such as a notebook.
    #[must_use]
    pub fn fragment(&self) -> String {
        let label = plain(if self.title.is_empty() { &self.of } else { &self.title });
        let mut html = format!("<section aria-label=\"{label}\" style=\"{CARD}\">\n");
        if !self.title.is_empty() {
            let _ = writeln!(html, "<h4>{}</h4>", escaped(&self.title));
        }
        self.sections.iter().for_each(|section| section.write_html(&mut html, "h5"));
        html + "</section>\n"
    }
}

impl Section {
    /// Writes the section under a heading by `tag`.
    fn write_html(&self, html: &mut String, tag: &str) {
        let heading = escaped(&self.heading);
        let end = match (self.folded, heading.is_empty()) {
            (true, _) => {
                let _ = writeln!(html, "<details><summary>{heading}</summary>");
                "</details>\n"
            }
            (false, true) => "",
            (false, false) => {
                let _ = writeln!(html, "<{tag}>{heading}</{tag}>");
                ""
            }
        };
        self.blocks.iter().for_each(|block| block.write_html(html));
        html.push_str(end);
    }
}

impl Block {
    fn write_html(&self, html: &mut String) {
        let _ = match self {
            Self::Text(text) | Self::Line(text) => writeln!(html, "<p>{}</p>", escaped(text)),
            Self::Notice(tone, title, text) => {
                let class = match tone {
                    Tone::Good => "notice good",
                    Tone::Bad => "notice bad",
                    Tone::Note => "notice",
                };
                let (title, text) = (escaped(title), escaped(text));
                writeln!(html, "<p class=\"{class}\"><strong>{title}.</strong> {text}</p>")
            }
            Self::List(items) => {
                let items: String = items.iter().map(Item::list_item).collect();
                writeln!(html, "<ul>{items}</ul>")
            }
            Self::Terms(items) => {
                let items: String = items.iter().map(Item::description).collect();
                writeln!(html, "<dl>{items}</dl>")
            }
            Self::Facts(facts) => {
                let facts = facts.iter().map(|(name, value)| [name, value]);
                Table::new("", &["", ""]).rows(facts).write_html(html);
                Ok(())
            }
            Self::Table(table) => {
                table.write_html(html);
                Ok(())
            }
            Self::Figure(svg, caption) => {
                let caption = match escaped(caption) {
                    none if none.is_empty() => none,
                    caption => format!("<figcaption>{caption}</figcaption>"),
                };
                writeln!(html, "<figure>{svg}{caption}</figure>")
            }
        };
    }
}

impl Item {
    fn list_item(&self) -> String {
        let name = match escaped(&self.name) {
            none if none.is_empty() => none,
            name => format!("<strong>{name}</strong>: "),
        };
        format!("<li>{name}{}</li>\n", self.lines())
    }

    fn description(&self) -> String {
        format!("<dt>{}</dt><dd>{}</dd>\n", escaped(&self.name), self.lines())
    }

    fn lines(&self) -> String {
        let more =
            self.more.iter().map(|line| format!("<div><small>{}</small></div>", escaped(line)));
        escaped(&self.text) + &more.collect::<String>()
    }
}

impl Table {
    fn write_html(&self, html: &mut String) {
        html.push_str("<div class=\"scroll\" tabindex=\"0\">");
        let _ = match self.caption.is_empty() {
            true => write!(html, "<table class=\"plain\">"),
            false => write!(html, "<table><caption>{}</caption>", escaped(&self.caption)),
        };
        if self.head.iter().any(|name| !name.is_empty()) {
            html.push_str("<thead><tr>");
            for name in &self.head {
                let _ = write!(html, "<th scope=\"col\">{}</th>", escaped(name));
            }
            html.push_str("</tr></thead>");
        }
        html.push_str("<tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for (column, cell) in row.iter().map(|cell| escaped(cell)).enumerate() {
                let _ = match column {
                    0 => write!(html, "<th scope=\"row\">{cell}</th>"),
                    _ => write!(html, "<td>{cell}</td>"),
                };
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>\n");
    }
}

/// Escapes text for SVG or HTML; nothing in it is markup.
fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Escapes text as HTML; what stands between backticks is code.
fn escaped(text: &str) -> String {
    let plain = plain(text);
    let pieces: Vec<&str> = plain.split('`').collect();
    // A backtick without its pair belongs to a quoted text.
    if pieces.len().is_multiple_of(2) {
        return plain;
    }
    let code = |(i, piece): (usize, &&str)| match i % 2 {
        0 => (*piece).to_owned(),
        _ => format!("<code>{piece}</code>"),
    };
    pieces.iter().enumerate().map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escaped("<b a=\"&\">"), "&lt;b a=&quot;&amp;&quot;&gt;");
        assert_eq!(escaped("by `a < b`, `c`"), "by <code>a &lt; b</code>, <code>c</code>");
        assert_eq!(escaped("one ` alone"), "one ` alone");
        let evil = "<script>".to_owned();
        let mut table = Table::new(&evil, &["<script>", ""]);
        table.row([&evil, &evil]);
        let section = Section::new(&evil)
            .text(&evil)
            .line(&evil)
            .notice(Tone::Bad, &evil, &evil)
            .list([Item::new(&evil, &evil).more([evil.clone()])])
            .terms([(&evil, &evil)])
            .facts([(&evil, &evil)])
            .table(table)
            .figure("<svg/>", &evil);
        let page = Page::new(&evil).with(section.clone()).with(section.folded());
        for html in [page.document(), page.fragment()] {
            assert!(html.contains("&lt;script&gt;") && !html.contains("<script"), "{html}");
        }
    }

    #[test]
    fn every_part_has_its_element() {
        let table = Table::new("caption", &["a", "b"]).rows([["1", "2"]]);
        let page = Page::new("title").of("a model").with(
            Section::new("heading")
                .notice(Tone::Good, "Fine", "all `is` well")
                .table(table)
                .figure("<svg></svg>", "what it shows"),
        );
        let html = page.document();
        for part in [
            "<title>title, a model</title>",
            "<h2>heading</h2>",
            "<p class=\"notice good\"><strong>Fine.</strong> all <code>is</code> well</p>",
            "<caption>caption</caption><thead><tr><th scope=\"col\">a</th>",
            "<tr><th scope=\"row\">1</th><td>2</td></tr>",
            "<figure><svg></svg><figcaption>what it shows</figcaption></figure>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(page.fragment().contains("<h5>heading</h5>"));
    }
}
