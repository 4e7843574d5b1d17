//! Pictures in the house's style: panels of lines and marks over readable axes, as SVG text.
//!
//! Colours are told apart by people with any colour vision, and no series differs by colour alone;
//! legends stand beside the data; fonts are the reader's plain sans-serif. Lengths are in pixels,
//! counted from the top left.

mod axis;
mod ink;
mod legend;
mod panel;
mod pixels;
mod svg;

#[cfg(test)]
mod tests;

pub use axis::{Axis, Scale};
pub use ink::{Ink, Mark, Stroke};
pub use panel::{Panel, Series};
pub use pixels::{Picture, gallery};

use svg::Svg;

/// Panels in rows under one title, with one legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    title: String,
    spoken: Option<String>,
    panels: Vec<Panel>,
    columns: usize,
    size: (f64, f64),
}

impl Figure {
    /// A figure of one row; its title may be empty where something else names it.
    #[must_use]
    pub fn new(title: impl Into<String>, panels: Vec<Panel>) -> Self {
        let columns = panels.len().max(1);
        Self { title: title.into(), spoken: None, panels, columns, size: (400.0, 330.0) }
    }

    /// At most so many panels in a row.
    #[must_use]
    pub fn in_columns(self, columns: usize) -> Self {
        Self { columns: columns.clamp(1, self.panels.len().max(1)), ..self }
    }

    /// Panels of this size in pixels.
    #[must_use]
    pub fn sized(self, width: u32, height: u32) -> Self {
        Self { size: (f64::from(width), f64::from(height)), ..self }
    }

    /// What it shows, for those who do not see it; without it, its title.
    #[must_use]
    pub fn spoken(self, text: impl Into<String>) -> Self {
        Self { spoken: Some(text.into()), ..self }
    }

    /// Title of the figure, one line.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The figure as SVG text.
    #[must_use]
    pub fn svg(&self) -> String {
        let entries = legend::entries(&self.panels);
        let rows = self.panels.len().div_ceil(self.columns).max(1);
        let beside = self.columns as f64 * self.size.0;
        let high = (rows as f64 * self.size.1).max(legend::height(&entries));
        let spoken = self.spoken.as_ref().unwrap_or(&self.title);
        let mut svg = Svg::titled(&self.title, spoken, (beside + legend::width(&entries), high));
        let top = svg.top;
        for (index, panel) in self.panels.iter().enumerate() {
            let (column, row) = (index % self.columns, index / self.columns);
            svg.at(column as f64 * self.size.0, top + row as f64 * self.size.1);
            panel.draw(&mut svg, self.size);
        }
        svg.at(beside, top);
        legend::draw(&mut svg, &entries);
        svg.finish()
    }
}
