//! One panel: its axes, frame and series.

use plotters::element::{PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, IntoFont, TextStyle};

use super::palette::{BLACK, GRID};
use super::{Axis, Canvas, Ink, Mark, Result, Stroke, failed};

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
        Self { mark: Mark::None, ..self }
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
const ROOM: (i32, i32, i32, i32) = (72, 30, 14, 52);

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

    pub(super) fn draw(&self, canvas: &Canvas<'_>) -> Result {
        let (width, height) = canvas.dim_in_pixel();
        let (left, top) = (ROOM.0, ROOM.1);
        let (right, bottom) = (width as i32 - ROOM.2, height as i32 - ROOM.3);
        let (wide, high) = (f64::from(right - left), f64::from(bottom - top));
        let all = || self.series.iter().flat_map(|series| series.points.iter().copied());
        let bands = || self.series.iter().flat_map(|series| series.spread.iter());
        let x = self.x.over(all().map(|p| p.0));
        let y = self.y.over(all().map(|p| p.1).chain(bands().flat_map(|b| [b.1, b.2])));
        let across = |part: f64| left + (part * wide).round() as i32;
        let up = |part: f64| bottom - (part * high).round() as i32;

        let text = |size: i32, h: HPos, v: VPos| {
            TextStyle::from(("sans-serif", size).into_font()).color(&BLACK).pos(Pos::new(h, v))
        };
        let middle = text(13, HPos::Center, VPos::Top);
        for (number, label) in x.ticks((wide / 52.0) as usize) {
            let Some(part) = x.part(number) else { continue };
            let at = across(part);
            line(canvas, [(at, top), (at, bottom)])?;
            write(canvas, &label, (at, bottom + 7), &middle)?;
        }
        let end = text(13, HPos::Right, VPos::Center);
        for (number, label) in y.ticks((high / 36.0) as usize) {
            let Some(part) = y.part(number) else { continue };
            let at = up(part);
            line(canvas, [(left, at), (right, at)])?;
            write(canvas, &label, (left - 7, at), &end)?;
        }
        let frame = Rectangle::new([(left, top), (right, bottom)], BLACK.stroke_width(1));
        canvas.draw(&frame).map_err(failed)?;
        let centre = i32::midpoint(left, right);
        write(canvas, &self.title, (centre, top - 9), &text(15, HPos::Center, VPos::Bottom))?;
        write(canvas, &self.x.label, (centre, bottom + 28), &text(14, HPos::Center, VPos::Top))?;
        let turned = text(14, HPos::Center, VPos::Top).transform(FontTransform::Rotate270);
        write(canvas, &self.y.label, (6, i32::midpoint(top, bottom)), &turned)?;

        let place = |px: f64, py: f64| Some((across(x.part(px)?), up(y.part(py)?)));
        for series in &self.series {
            let lower = series.spread.iter().filter_map(|b| place(b.0, b.1));
            let upper = series.spread.iter().rev().filter_map(|b| place(b.0, b.2));
            let band: Vec<_> = lower.chain(upper).collect();
            if band.len() > 2 {
                let shade = series.ink.colour().mix(0.18).filled();
                canvas.draw(&Polygon::new(band, shade)).map_err(failed)?;
            }
        }
        for series in &self.series {
            let points: Vec<_> = series.points.iter().filter_map(|p| place(p.0, p.1)).collect();
            series.stroke.draw(canvas, &points, series.ink)?;
            points.iter().try_for_each(|at| series.mark.draw(canvas, *at, series.ink))?;
        }
        Ok(())
    }
}

fn line(canvas: &Canvas<'_>, points: [(i32, i32); 2]) -> Result {
    canvas.draw(&PathElement::new(points.to_vec(), GRID.stroke_width(1))).map_err(failed)
}

pub(super) fn write(
    canvas: &Canvas<'_>,
    text: &str,
    at: (i32, i32),
    style: &TextStyle<'_>,
) -> Result {
    canvas.draw(&Text::new(text.to_owned(), at, style.clone())).map_err(failed)
}
