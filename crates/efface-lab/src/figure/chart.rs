//! A figure: panels in rows under one title, with one legend.

use plotters::backend::SVGBackend;
use plotters::drawing::IntoDrawingArea;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{IntoFont, TextStyle, WHITE};

use super::palette::BLACK;
use super::panel::write;
use super::{Panel, Result, failed, legend};

/// Panels under one title.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    title: String,
    panels: Vec<Panel>,
    columns: usize,
    size: (i32, i32),
}

impl Figure {
    /// A figure of one row.
    #[must_use]
    pub fn new(title: impl Into<String>, panels: Vec<Panel>) -> Self {
        let columns = panels.len().max(1);
        Self { title: title.into(), panels, columns, size: (400, 330) }
    }

    /// So many panels in a row.
    #[must_use]
    pub fn in_columns(self, columns: usize) -> Self {
        Self { columns: columns.max(1), ..self }
    }

    /// Panels of this size in pixels.
    #[must_use]
    pub fn sized(self, width: i32, height: i32) -> Self {
        Self { size: (width, height), ..self }
    }

    /// Title of the figure, one line.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The figure as SVG text.
    ///
    /// # Errors
    /// Never for finite sizes: an error is a fault of the drawing library.
    pub fn svg(&self) -> Result<String> {
        let entries = legend::entries(&self.panels);
        let rows = self.panels.len().div_ceil(self.columns).max(1) as i32;
        let beside = legend::width(&entries);
        let width = self.columns as i32 * self.size.0 + beside;
        let lines = wrapped(&self.title, (f64::from(width - 30) / 9.0) as usize);
        let head = 14 + 24 * lines.len() as i32;
        let height = head + (rows * self.size.1).max(legend::height(&entries));
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, (width as u32, height as u32))
                .into_drawing_area();
            root.fill(&WHITE).map_err(failed)?;
            let style = TextStyle::from(("sans-serif", 18).into_font())
                .color(&BLACK)
                .pos(Pos::new(HPos::Left, VPos::Top));
            for (line, y) in lines.iter().zip((0..).map(|k| 12 + 24 * k)) {
                write(&root, line, (16, y), &style)?;
            }
            let (_, body) = root.split_vertically(head);
            let (panels, side) = body.split_horizontally(width - beside);
            for (index, panel) in self.panels.iter().enumerate() {
                let (column, row) = (index % self.columns, index / self.columns);
                let (x, y) = (column as i32 * self.size.0, row as i32 * self.size.1);
                let area = panels.clone().shrink((x, y), self.size);
                panel.draw(&area)?;
            }
            legend::draw(&side, &entries)?;
            root.present().map_err(failed)?;
        }
        Ok(svg)
    }
}

/// Words in lines of at most `most` characters, where they fit.
pub(super) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
