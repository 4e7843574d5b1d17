//! Pictures made of grey pixels, side by side.

use plotters::backend::SVGBackend;
use plotters::drawing::IntoDrawingArea;
use plotters::element::Rectangle;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, TextStyle, WHITE};

use super::chart::wrapped;
use super::palette::BLACK;
use super::panel::write;
use super::{Result, failed};

/// A square picture with a text under it.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Text shown under the picture.
    pub caption: String,
    /// Brightness of each pixel, row after row; the brightest is drawn black.
    pub pixels: Vec<f32>,
}

/// Pixels of the screen for each pixel of a picture.
const ZOOM: i32 = 3;
/// Shades that are told apart: more would make the file larger and nothing clearer.
const SHADES: f32 = 8.0;
const GAP: i32 = 14;

/// Rows of pictures under one title, each row with a heading.
///
/// # Errors
/// Never for finite sizes: an error is a fault of the drawing library.
pub fn gallery(title: &str, rows: &[(String, Vec<Picture>)]) -> Result<String> {
    let side = |picture: &Picture| (picture.pixels.len() as f64).sqrt() as i32;
    let widest = rows.iter().map(|(_, row)| row.len()).max().unwrap_or(1) as i32;
    let cell = rows.iter().flat_map(|(_, row)| row).map(side).max().unwrap_or(1) * ZOOM;
    let width = (widest * (cell + GAP) + GAP).max(400);
    let lines = wrapped(title, (f64::from(width - 30) / 9.0) as usize);
    let head = 14 + 24 * lines.len() as i32;
    let height = head + rows.len() as i32 * (cell + 58) + GAP;
    let mut svg = String::new();
    {
        let root =
            SVGBackend::with_string(&mut svg, (width as u32, height as u32)).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let text = |size: i32, h: HPos| {
            TextStyle::from(("sans-serif", size).into_font())
                .color(&BLACK)
                .pos(Pos::new(h, VPos::Top))
        };
        for (line, y) in lines.iter().zip((0..).map(|k| 12 + 24 * k)) {
            write(&root, line, (16, y), &text(18, HPos::Left))?;
        }
        for ((heading, row), top) in rows.iter().zip((0..).map(|k| head + k * (cell + 58))) {
            write(&root, heading, (16, top), &text(14, HPos::Left))?;
            for (picture, left) in row.iter().zip((0..).map(|k| GAP + k * (cell + GAP))) {
                for (run, shade) in runs(&picture.pixels, side(picture) as usize) {
                    let (x, y) = (left + run.0 * ZOOM, top + 22 + run.1 * ZOOM);
                    let grey = RGBColor(shade, shade, shade).filled();
                    let corners = [(x, y), (x + run.2 * ZOOM, y + ZOOM)];
                    root.draw(&Rectangle::new(corners, grey)).map_err(failed)?;
                }
                let at = (left + cell / 2, top + 26 + cell);
                write(&root, &picture.caption, at, &text(12, HPos::Center))?;
            }
        }
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

/// Runs of equal pixels that are not white: (column, row, length) and their grey.
fn runs(pixels: &[f32], side: usize) -> Vec<((i32, i32, i32), u8)> {
    let brightest = pixels.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let shade = |p: f32| ((p / brightest).clamp(0.0, 1.0) * SHADES).round() as u8;
    let mut runs = Vec::new();
    for (row, line) in pixels.chunks(side.max(1)).enumerate() {
        let mut column = 0;
        for run in line.chunk_by(|a, b| shade(*a) == shade(*b)) {
            let darkness = shade(run[0]);
            if darkness > 0 {
                let grey = 255.0 * (1.0 - f32::from(darkness) / SHADES);
                runs.push(((column, row as i32, run.len() as i32), grey as u8));
            }
            column += run.len() as i32;
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_as_long_as_they_can_be() {
        let found = runs(&[0.0, 1.0, 1.0, 0.5], 2);
        assert_eq!(found, [((1, 0, 1), 0), ((0, 1, 1), 0), ((1, 1, 1), 127)]);
        assert_eq!(runs(&[0.0; 4], 2), []);
    }
}
