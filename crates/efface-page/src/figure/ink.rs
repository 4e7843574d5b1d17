//! Colours, marks and strokes.

use super::svg::{BLACK, Svg};

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

    pub(super) fn colour(self) -> &'static str {
        match self {
            Self::Blue => "#0072b2",
            Self::Red => "#d55e00",
            Self::Green => "#009e73",
            Self::Purple => "#cc79a7",
            Self::Orange => "#e69f00",
            Self::Sky => "#56b4e9",
            Self::Black => BLACK,
            Self::Grey => "#7f7f7f",
            Self::Wine => "#882255",
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

impl Stroke {
    pub(super) fn draw(self, svg: &mut Svg, points: &[(f64, f64)], ink: Ink) {
        let line = format!("fill=\"none\" stroke=\"{}\" stroke-width=\"2\"", ink.colour());
        match self {
            Self::None => {}
            Self::Solid => svg.path(points, &line),
            Self::Dashed => svg.path(points, &format!("{line} stroke-dasharray=\"7 5\"")),
        }
    }
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

    pub(super) fn draw(self, svg: &mut Svg, at: (f64, f64), ink: Ink) {
        let circle = "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z";
        let square = "M-4 -4h8v8h-8z";
        let (path, filled) = match self {
            Self::Disc => (circle, true),
            Self::Ring => (circle, false),
            Self::Square => (square, true),
            Self::Frame => (square, false),
            Self::Triangle => ("M0 -5L5 4H-5z", true),
            Self::Wedge => ("M0 5L5 -4H-5z", true),
            Self::Diamond => ("M0 -6L5 0L0 6L-5 0z", true),
            Self::Plus => ("M-5 0H5M0 -5V5", false),
            Self::Cross => ("M-4 -4L4 4M-4 4L4 -4", false),
            Self::None => return,
        };
        let colour = ink.colour();
        let how = match filled {
            true => format!("fill=\"{colour}\""),
            false => format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\""),
        };
        svg.shape(at, path, &how);
    }
}
