//! Pictures in the house's style: panels of lines and marks over readable axes, as SVG text.
//!
//! Colours are told apart by people with any colour vision, and no series differs by colour alone;
//! legends stand beside the data; fonts are the reader's plain sans-serif.

mod axis;
mod chart;
mod legend;
mod palette;
mod panel;
mod pixels;

#[cfg(test)]
mod tests;

pub use axis::{Axis, Scale};
pub use chart::Figure;
pub use palette::{Ink, Mark, Stroke};
pub use panel::{Panel, Series};
pub use pixels::{Picture, gallery};

use efface::Error;
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;

/// What everything is drawn on: pixels counted from the top left.
type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Whether a drawing came out.
type Result<T = ()> = std::result::Result<T, Error>;

/// A drawing that failed, which is a fault of this program and not of its input.
fn failed(error: impl std::fmt::Display) -> Error {
    Error::storage("figure", format!("a figure cannot be drawn: {error}"))
}
