//! The legend, beside the panels.

use super::svg::{Anchor, Svg};
use super::{Panel, Series};

/// Height of an entry.
const LINE: f64 = 22.0;
/// Width of the sample of a line.
const SAMPLE: f64 = 34.0;

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
pub(super) fn width(entries: &[&Series]) -> f64 {
    let longest = entries.iter().map(|series| series.name.chars().count()).max().unwrap_or(0);
    SAMPLE + 24.0 + (7.3 * longest as f64).floor()
}

/// How high the legend must be.
pub(super) fn height(entries: &[&Series]) -> f64 {
    LINE * (entries.len() + 2) as f64
}

pub(super) fn draw(svg: &mut Svg, entries: &[&Series]) {
    for (k, series) in entries.iter().enumerate() {
        let y = 18.0 + LINE * (k + 1) as f64;
        series.stroke.draw(svg, &[(8.0, y), (8.0 + SAMPLE, y)], series.ink);
        series.mark.draw(svg, (8.0 + SAMPLE / 2.0, y), series.ink);
        svg.words(&series.name, (16.0 + SAMPLE, y + 5.0), 14, Anchor::Start);
    }
}
