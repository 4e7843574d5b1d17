//! The picture: accuracy after each request.

use std::path::Path;

use plotters::prelude::*;

/// One request.
pub(crate) struct Point {
    pub(crate) what: String,
    pub(crate) accuracy: f64,
    /// The accuracy of a model solved afresh on the same rows.
    pub(crate) afresh: f64,
}

/// Draws the points into an SVG file.
pub(crate) fn draw(path: &Path, points: &[Point]) -> Result<(), Box<dyn std::error::Error>> {
    let values = points.iter().flat_map(|p| [p.accuracy, p.afresh]);
    let (mut low, mut high) = values.fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)));
    let room = (high - low).max(0.02);
    (low, high) = (low - room, high + room);
    let root = SVGBackend::new(path, (860, 460)).into_drawing_area();
    root.fill(&WHITE)?;
    let last = points.len() as f64 - 0.5;
    let mut chart = ChartBuilder::on(&root)
        .caption("Accuracy on public test wines after each request", ("sans-serif", 22))
        .margin(16)
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d(-0.5..last, low..high)?;
    let name = |x: &f64| {
        let near = x.round();
        let at = points.get(near as usize).filter(|_| (x - near).abs() < 1e-6 && *x >= 0.0);
        at.map_or(String::new(), |p| p.what.clone())
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(215, 215, 215))
        .y_labels(8)
        .x_labels(2 * points.len() + 1)
        .x_label_formatter(&name)
        .x_label_style(("sans-serif", 15))
        .y_label_style(("sans-serif", 14))
        .y_desc("accuracy")
        .y_label_formatter(&|y| format!("{y:.3}"))
        .draw()?;
    let blue = RGBColor(0, 90, 181);
    let red = RGBColor(196, 60, 20);
    let line = |f: fn(&Point) -> f64| -> Vec<(f64, f64)> {
        points.iter().enumerate().map(|(i, p)| (i as f64, f(p))).collect()
    };
    let ours = line(|p| p.accuracy);
    let afresh = line(|p| p.afresh);
    chart
        .draw_series(LineSeries::new(ours.clone(), blue.stroke_width(2)))?
        .label("forgetting, certified")
        .legend(move |(x, y)| Circle::new((x + 10, y), 5, blue.filled()));
    chart.draw_series(ours.iter().map(|p| Circle::new(*p, 5, blue.filled())))?;
    chart
        .draw_series(afresh.iter().map(|p| Cross::new(*p, 6, red.stroke_width(2))))?
        .label("solved afresh on the same rows")
        .legend(move |(x, y)| Cross::new((x + 10, y), 5, red.stroke_width(2)));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .label_font(("sans-serif", 15))
        .background_style(WHITE.mix(0.9))
        .border_style(RGBColor(150, 150, 150))
        .draw()?;
    root.present()?;
    Ok(())
}
