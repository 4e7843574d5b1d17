//! One panel: its axes, frame and series.

use super::svg::{Anchor, BLACK, GRID, Svg};
use super::{Axis, Ink, Mark, Stroke};

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
    pub(super) ink: Ink,
    pub(super) stroke: Stroke,
    pub(super) mark: Mark,
    pub(super) spread: Vec<(f64, f64, f64)>,
}

impl Series {
    /// A line with marks, coloured and marked by its position among its like.
    #[must_use]
    pub fn new(name: impl Into<String>, position: usize, points: Vec<(f64, f64)>) -> Self {
        let (ink, mark) = (Ink::of(position), Mark::of(position));
        Self { name: name.into(), points, ink, stroke: Stroke::Solid, mark, spread: Vec::new() }
    }

    /// Dashed: for published numbers.
    #[must_use]
    pub fn dashed(self) -> Self {
        Self { stroke: Stroke::Dashed, ..self }
    }

    /// Marks without a line.
    #[must_use]
    pub fn scattered(self) -> Self {
        Self { stroke: Stroke::None, ..self }
    }

    /// A line without marks.
    #[must_use]
    pub fn plain(self) -> Self {
        Self { mark: Mark::NONE, ..self }
    }

    /// In another colour.
    #[must_use]
    pub fn ink(self, ink: Ink) -> Self {
        Self { ink, ..self }
    }

    /// With another mark.
    #[must_use]
    pub fn mark(self, mark: Mark) -> Self {
        Self { mark, ..self }
    }

    /// With a band: x, low, high.
    #[must_use]
    pub fn spread(self, spread: Vec<(f64, f64, f64)>) -> Self {
        Self { spread, ..self }
    }
}

/// Axes with series over them.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
}

/// Room for the axis to the left, above, to the right, and below.
const ROOM: (f64, f64, f64, f64) = (72.0, 30.0, 14.0, 52.0);

impl Panel {
    /// An empty panel.
    #[must_use]
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, series: Vec::new() }
    }

    /// With one more series.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// With more series.
    #[must_use]
    pub fn with_all(mut self, series: impl IntoIterator<Item = Series>) -> Self {
        self.series.extend(series);
        self
    }

    pub(super) fn draw(&self, svg: &mut Svg, size: (f64, f64)) {
        let (left, top) = (ROOM.0, ROOM.1);
        let (right, bottom) = (size.0 - ROOM.2, size.1 - ROOM.3);
        let (wide, high) = (right - left, bottom - top);
        let all = || self.series.iter().flat_map(|series| series.points.iter().copied());
        let bands = || self.series.iter().flat_map(|series| series.spread.iter());
        let x = self.x.over(all().map(|p| p.0));
        let y = self.y.over(all().map(|p| p.1).chain(bands().flat_map(|b| [b.1, b.2])));
        let across = |part: f64| left + part * wide;
        let up = |part: f64| bottom - part * high;

        let grid = format!("stroke=\"{GRID}\"");
        for number in x.ticks((wide / 52.0) as usize) {
            let Some(at) = x.part(number).map(across) else { continue };
            svg.path(&[(at, top), (at, bottom)], &grid);
            svg.words(&self.x.written(number), (at, bottom + 18.0), 13, Anchor::Middle);
        }
        for number in y.ticks((high / 36.0) as usize) {
            let Some(at) = y.part(number).map(up) else { continue };
            svg.path(&[(left, at), (right, at)], &grid);
            svg.words(&self.y.written(number), (left - 7.0, at + 4.5), 13, Anchor::End);
        }
        let frame = format!("fill=\"none\" stroke=\"{BLACK}\"");
        svg.rectangle((left, top), (wide, high), &frame);
        let centre = f64::midpoint(left, right);
        svg.words(&self.title, (centre, top - 12.0), 15, Anchor::Middle);
        svg.words(&self.x.label, (centre, bottom + 40.0), 14, Anchor::Middle);
        svg.upward(&self.y.label, (17.0, f64::midpoint(top, bottom)), 14);

        let place = |px: f64, py: f64| Some((across(x.part(px)?), up(y.part(py)?)));
        for series in &self.series {
            let lower = series.spread.iter().filter_map(|b| place(b.0, b.1));
            let upper = series.spread.iter().rev().filter_map(|b| place(b.0, b.2));
            let band: Vec<_> = lower.chain(upper).collect();
            if band.len() > 2 {
                let shade = format!("fill=\"{}\" fill-opacity=\"0.18\"", series.ink.0);
                svg.path(&band, &shade);
            }
        }
        for series in &self.series {
            let points: Vec<_> = series.points.iter().filter_map(|p| place(p.0, p.1)).collect();
            series.stroke.draw(svg, &points, series.ink);
            points.iter().for_each(|at| series.mark.draw(svg, *at, series.ink));
        }
    }
}
