//! The legend, beside the panels.

use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{IntoFont, TextStyle};

use super::palette::BLACK;
use super::panel::write;
use super::{Canvas, Panel, Result, Series};

/// Height of an entry.
const LINE: i32 = 22;
/// Width of the sample of a line.
const SAMPLE: i32 = 34;

/// One entry for each name, in the order they first appear.
pub(super) fn entries(panels: &[Panel]) -> Vec<&Series> {
    let mut entries: Vec<&Series> = Vec::new();
    for series in panels.iter().flat_map(|panel| &panel.series) {
        if !entries.iter().any(|known| known.name == series.name) {
            entries.push(series);
        }
    }
    entries
}

/// How wide the legend must be.
pub(super) fn width(entries: &[&Series]) -> i32 {
    let longest = entries.iter().map(|series| series.name.chars().count()).max().unwrap_or(0);
    SAMPLE + 24 + (7.3 * longest as f64) as i32
}

/// How high the legend must be.
pub(super) fn height(entries: &[&Series]) -> i32 {
    LINE * entries.len() as i32 + 2 * LINE
}

pub(super) fn draw(canvas: &Canvas<'_>, entries: &[&Series]) -> Result {
    let style = TextStyle::from(("sans-serif", 14).into_font())
        .color(&BLACK)
        .pos(Pos::new(HPos::Left, VPos::Center));
    for (series, y) in entries.iter().zip((0..).map(|k| LINE + 18 + k * LINE)) {
        series.stroke.draw(canvas, &[(8, y), (8 + SAMPLE, y)], series.ink)?;
        series.mark.draw(canvas, (8 + SAMPLE / 2, y), series.ink)?;
        write(canvas, &series.name, (16 + SAMPLE, y), &style)?;
    }
    Ok(())
}
