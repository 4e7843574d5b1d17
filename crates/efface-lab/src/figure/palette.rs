//! Colours, marks and strokes.

use plotters::element::{Circle, PathElement, Polygon};
use plotters::style::{Color, RGBColor, ShapeStyle};

use super::{Canvas, Result, failed};

/// Text, frames and marks that belong to no series.
pub(super) const BLACK: RGBColor = RGBColor(34, 34, 34);
/// Lines behind the data.
pub(super) const GRID: RGBColor = RGBColor(225, 225, 225);

/// A colour of Okabe and Ito's palette, with wine for its yellow, in the order series take them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Blue.
    Blue,
    /// Vermilion.
    Red,
    /// Bluish green.
    Green,
    /// Reddish purple.
    Purple,
    /// Orange.
    Orange,
    /// Sky blue.
    Sky,
    /// Near black.
    Black,
    /// Grey.
    Grey,
    /// Dark purplish red.
    Wine,
}

impl Ink {
    /// All of them, in order.
    pub const ALL: [Self; 9] = [
        Self::Blue,
        Self::Red,
        Self::Green,
        Self::Purple,
        Self::Orange,
        Self::Sky,
        Self::Black,
        Self::Grey,
        Self::Wine,
    ];

    /// The colour of the series at this position; after the last the first comes again.
    #[must_use]
    pub fn of(position: usize) -> Self {
        Self::ALL[position % Self::ALL.len()]
    }

    pub(super) fn colour(self) -> RGBColor {
        match self {
            Self::Blue => RGBColor(0, 114, 178),
            Self::Red => RGBColor(213, 94, 0),
            Self::Green => RGBColor(0, 158, 115),
            Self::Purple => RGBColor(204, 121, 167),
            Self::Orange => RGBColor(230, 159, 0),
            Self::Sky => RGBColor(86, 180, 233),
            Self::Black => BLACK,
            Self::Grey => RGBColor(127, 127, 127),
            Self::Wine => RGBColor(136, 34, 85),
        }
    }
}

/// How the points of a series are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// A line.
    Solid,
    /// Dashes: for published numbers.
    Dashed,
    /// Not at all.
    None,
}

/// How a point is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A disc.
    Disc,
    /// A filled square.
    Square,
    /// A filled triangle.
    Triangle,
    /// A filled diamond.
    Diamond,
    /// An upright cross.
    Plus,
    /// A slanted cross.
    Cross,
    /// A triangle on its tip.
    Wedge,
    /// An open circle.
    Ring,
    /// An open square.
    Frame,
    /// Not at all.
    None,
}

impl Mark {
    /// All that show, in the order series take them.
    pub const ALL: [Self; 9] = [
        Self::Disc,
        Self::Square,
        Self::Triangle,
        Self::Diamond,
        Self::Plus,
        Self::Cross,
        Self::Wedge,
        Self::Ring,
        Self::Frame,
    ];

    /// The mark of the series at this position.
    #[must_use]
    pub fn of(position: usize) -> Self {
        Self::ALL[position % Self::ALL.len()]
    }

    pub(super) fn draw(self, canvas: &Canvas<'_>, at: (i32, i32), ink: Ink) -> Result {
        let (x, y) = at;
        let filled = ink.colour().filled();
        let thick = ink.colour().stroke_width(2);
        let shape = |points: &[(i32, i32)]| {
            let moved: Vec<_> = points.iter().map(|(a, b)| (x + a, y + b)).collect();
            canvas.draw(&Polygon::new(moved, filled)).map_err(failed)
        };
        match self {
            Self::Disc => canvas.draw(&Circle::new(at, 4, filled)).map_err(failed),
            Self::Ring => canvas.draw(&Circle::new(at, 4, thick)).map_err(failed),
            Self::Frame => {
                let corners = [(-4, -4), (4, -4), (4, 4), (-4, 4), (-4, -4)];
                let path: Vec<_> = corners.iter().map(|(a, b)| (x + a, y + b)).collect();
                canvas.draw(&PathElement::new(path, thick)).map_err(failed)
            }
            Self::Square => shape(&[(-4, -4), (4, -4), (4, 4), (-4, 4)]),
            Self::Triangle => shape(&[(0, -5), (5, 4), (-5, 4)]),
            Self::Wedge => shape(&[(0, 5), (5, -4), (-5, -4)]),
            Self::Diamond => shape(&[(0, -6), (5, 0), (0, 6), (-5, 0)]),
            Self::Plus => {
                strokes(canvas, thick, [[(x - 5, y), (x + 5, y)], [(x, y - 5), (x, y + 5)]])
            }
            Self::Cross => strokes(
                canvas,
                thick,
                [[(x - 4, y - 4), (x + 4, y + 4)], [(x - 4, y + 4), (x + 4, y - 4)]],
            ),
            Self::None => Ok(()),
        }
    }
}

fn strokes(canvas: &Canvas<'_>, style: ShapeStyle, lines: [[(i32, i32); 2]; 2]) -> Result {
    lines
        .iter()
        .try_for_each(|line| canvas.draw(&PathElement::new(line.to_vec(), style)).map_err(failed))
}

impl Stroke {
    pub(super) fn draw(self, canvas: &Canvas<'_>, points: &[(i32, i32)], ink: Ink) -> Result {
        let style = ink.colour().stroke_width(2);
        let path =
            |points: Vec<(i32, i32)>| canvas.draw(&PathElement::new(points, style)).map_err(failed);
        match self {
            Self::None => Ok(()),
            Self::Solid => path(points.to_vec()),
            Self::Dashed => dashes(points).into_iter().try_for_each(path),
        }
    }
}

/// A line cut into dashes of 7 pixels with gaps of 5, counted along the whole line.
fn dashes(points: &[(i32, i32)]) -> Vec<Vec<(i32, i32)>> {
    let (on, off) = (7.0, 5.0);
    let mut dashes: Vec<Vec<(i32, i32)>> = Vec::new();
    let mut travelled = 0.0_f64;
    for pair in points.windows(2) {
        let [(x0, y0), (x1, y1)] = [pair[0], pair[1]].map(|(x, y)| (f64::from(x), f64::from(y)));
        let length = f64::hypot(x1 - x0, y1 - y0);
        let point = |along: f64| {
            let part = along / length;
            ((x0 + part * (x1 - x0)).round() as i32, (y0 + part * (y1 - y0)).round() as i32)
        };
        let mut along = 0.0;
        while along < length {
            let phase = travelled % (on + off);
            let inside = phase < on;
            let rest = if inside { on - phase } else { on + off - phase };
            let step = rest.min(length - along);
            if inside && step > 0.0 {
                let (a, b) = (point(along), point(along + step));
                match dashes.last_mut() {
                    // A dash goes on around a corner.
                    Some(last) if phase > 0.0 && last.last() == Some(&a) => last.push(b),
                    _ => dashes.push(vec![a, b]),
                }
            }
            along += step;
            travelled += step;
        }
    }
    dashes
}
