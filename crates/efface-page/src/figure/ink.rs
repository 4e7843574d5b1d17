//! Colours, marks and strokes.

use super::svg::{BLACK, Svg};

/// A colour of Okabe and Ito's palette, with wine for its yellow, in the order series take them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ink(pub(super) &'static str);

impl Ink {
    /// Blue, the first.
    pub const BLUE: Self = Self("#0072b2");
    /// Vermilion, the second.
    pub const RED: Self = Self("#d55e00");
    /// Near black.
    pub const BLACK: Self = Self(BLACK);
    /// All of them: then bluish green, reddish purple, orange, sky blue, near black, grey, wine.
    const ALL: [Self; 9] = [
        Self::BLUE,
        Self::RED,
        Self("#009e73"),
        Self("#cc79a7"),
        Self("#e69f00"),
        Self("#56b4e9"),
        Self::BLACK,
        Self("#7f7f7f"),
        Self("#882255"),
    ];

    /// The colour of the series at this position; after the last the first comes again.
    #[must_use]
    pub fn of(position: usize) -> Self {
        Self::ALL[position % Self::ALL.len()]
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

impl Stroke {
    pub(super) fn draw(self, svg: &mut Svg, points: &[(f64, f64)], Ink(colour): Ink) {
        let line = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"");
        match self {
            Self::None => {}
            Self::Solid => svg.path(points, &line),
            Self::Dashed => svg.path(points, &format!("{line} stroke-dasharray=\"7 5\"")),
        }
    }
}

const CIRCLE: &str = "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z";
const SQUARE: &str = "M-4 -4h8v8h-8z";

/// How a point is marked: a shape around it, which is filled or an outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    path: &'static str,
    filled: bool,
}

impl Mark {
    /// A disc, the first.
    pub const DISC: Self = Self::filled(CIRCLE);
    /// A filled square, the second.
    pub const SQUARE: Self = Self::filled(SQUARE);
    /// Not at all.
    pub const NONE: Self = Self::outline("");
    /// All that show, in the order series take them: then a triangle, a diamond, an upright and a
    /// slanted cross, a triangle on its tip, an open circle and an open square.
    const ALL: [Self; 9] = [
        Self::DISC,
        Self::SQUARE,
        Self::filled("M0 -5L5 4H-5z"),
        Self::filled("M0 -6L5 0L0 6L-5 0z"),
        Self::outline("M-5 0H5M0 -5V5"),
        Self::outline("M-4 -4L4 4M-4 4L4 -4"),
        Self::filled("M0 5L5 -4H-5z"),
        Self::outline(CIRCLE),
        Self::outline(SQUARE),
    ];

    const fn filled(path: &'static str) -> Self {
        Self { path, filled: true }
    }

    const fn outline(path: &'static str) -> Self {
        Self { path, filled: false }
    }

    /// The mark of the series at this position.
    #[must_use]
    pub fn of(position: usize) -> Self {
        Self::ALL[position % Self::ALL.len()]
    }

    pub(super) fn draw(self, svg: &mut Svg, at: (f64, f64), Ink(colour): Ink) {
        if self == Self::NONE {
            return;
        }
        let how = match self.filled {
            true => format!("fill=\"{colour}\""),
            false => format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\""),
        };
        svg.shape(at, self.path, &how);
    }
}
