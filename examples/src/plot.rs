//! The picture: accuracy after each request.

use std::path::Path;

use efface_page::figure::{Axis, Figure, Panel, Series};

/// One request.
pub(crate) struct Point {
    pub(crate) what: String,
    pub(crate) accuracy: f64,
    /// The accuracy of a model solved afresh on the same rows.
    pub(crate) afresh: f64,
}

/// Draws the points into an SVG file.
pub(crate) fn draw(path: &Path, points: &[Point]) -> std::io::Result<()> {
    let names = points.iter().map(|point| point.what.clone()).collect();
    let line = |of: fn(&Point) -> f64| (0..).map(f64::from).zip(points.iter().map(of)).collect();
    let values = points.iter().flat_map(|point| [point.accuracy, point.afresh]);
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)));
    // Differences of a few test wines are not to look large.
    let room = (high - low).max(0.02);
    let accuracy = Axis::linear("accuracy").from(low - room, high + room);
    let panel = Panel::new("", Axis::named("request", names), accuracy)
        .with(Series::new("forgetting, certified", 0, line(|point| point.accuracy)))
        .with(Series::new("solved afresh on the same rows", 1, line(|p| p.afresh)).scattered());
    let title = "Accuracy on public test wines after each request";
    let figure = Figure::new(title, vec![panel]).sized(860, 400);
    std::fs::write(path, figure.svg())
}
