//! SVG, written element by element.

use std::fmt::Write as _;

use crate::html::{NAMESPACE, plain};
use crate::text::wrapped;

/// Text, frames and marks that belong to no series.
pub(super) const BLACK: &str = "#222222";
/// Lines behind the data.
pub(super) const GRID: &str = "#e1e1e1";

/// Where a text is, from the point that places it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture in the making.
pub(super) struct Svg {
    text: String,
    origin: (f64, f64),
    /// Where the title ends.
    pub(super) top: f64,
}

impl Svg {
    /// A picture with its title on top, in as many lines as it takes, over a body of that size.
    pub(super) fn titled(title: &str, spoken: &str, body: (f64, f64)) -> Self {
        let lines = wrapped(title, ((body.0 - 30.0) / 9.0) as usize);
        let top = if lines.is_empty() { 0.0 } else { 14.0 + 24.0 * lines.len() as f64 };
        let (width, height) = (body.0, body.1 + top);
        let mut svg = Self { text: String::new(), origin: (0.0, 0.0), top };
        let _ = writeln!(
            svg.text,
            "<svg{NAMESPACE} width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\" \
             font-family=\"sans-serif\" fill=\"{BLACK}\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>",
            plain(spoken)
        );
        for (k, line) in lines.iter().enumerate() {
            svg.words(line, (16.0, 25.0 + 24.0 * k as f64), 18, Anchor::Start);
        }
        svg
    }

    /// From here on, points are counted from this one.
    pub(super) fn at(&mut self, x: f64, y: f64) {
        self.origin = (x, y);
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let tenth = |length: f64| (10.0 * length).round() / 10.0;
        (tenth(self.origin.0 + x), tenth(self.origin.1 + y))
    }

    /// A text, its baseline at the point.
    pub(super) fn words(&mut self, text: &str, at: (f64, f64), size: u8, anchor: Anchor) {
        let (x, y) = self.place(at);
        self.write_text(&format!("x=\"{x}\" y=\"{y}\""), text, size, anchor);
    }

    /// A text that is read from below, its middle at the point.
    pub(super) fn upward(&mut self, text: &str, at: (f64, f64), size: u8) {
        let (x, y) = self.place(at);
        let turned = format!("transform=\"translate({x} {y}) rotate(-90)\"");
        self.write_text(&turned, text, size, Anchor::Middle);
    }

    fn write_text(&mut self, place: &str, text: &str, size: u8, anchor: Anchor) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = plain(text);
        let _ = writeln!(
            self.text,
            "<text {place} font-size=\"{size}\" text-anchor=\"{anchor}\">{text}</text>"
        );
    }

    /// Points that are joined, with the attributes of how; nothing for fewer than two.
    pub(super) fn path(&mut self, points: &[(f64, f64)], how: &str) {
        if points.len() < 2 {
            return;
        }
        let points: Vec<String> = points
            .iter()
            .map(|point| self.place(*point))
            .map(|(x, y)| format!("{x},{y}"))
            .collect();
        let _ = writeln!(self.text, "<polyline points=\"{}\" {how}/>", points.join(" "));
    }

    /// A shape around a point, as SVG writes paths.
    pub(super) fn shape(&mut self, at: (f64, f64), path: &str, how: &str) {
        let (x, y) = self.place(at);
        let _ = writeln!(self.text, "<path transform=\"translate({x} {y})\" d=\"{path}\" {how}/>");
    }

    /// A rectangle.
    pub(super) fn rectangle(&mut self, at: (f64, f64), size: (f64, f64), how: &str) {
        let ((x, y), (width, height)) = (self.place(at), size);
        let _ = writeln!(
            self.text,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" {how}/>"
        );
    }

    pub(super) fn finish(self) -> String {
        self.text + "</svg>\n"
    }
}
