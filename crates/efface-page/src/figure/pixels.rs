//! Pictures made of grey pixels, side by side.

use super::svg::{Anchor, Svg};

/// A square picture with a text under it.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Text shown under the picture.
    pub caption: String,
    /// Brightness of each pixel, row after row; the brightest is drawn black.
    pub pixels: Vec<f32>,
}

/// Pixels of the screen for each pixel of a picture.
const ZOOM: f64 = 3.0;
/// Shades that are told apart: more would make the file larger and nothing clearer.
const SHADES: f32 = 8.0;
const GAP: f64 = 14.0;

/// Rows of pictures under one title, each row with a heading.
#[must_use]
pub fn gallery(title: &str, rows: &[(String, Vec<Picture>)]) -> String {
    let side = |picture: &Picture| (picture.pixels.len() as f64).sqrt().floor();
    let widest = rows.iter().map(|(_, row)| row.len()).max().unwrap_or(1) as f64;
    let cell = rows.iter().flat_map(|(_, row)| row).map(side).fold(1.0, f64::max) * ZOOM;
    let width = (widest * (cell + GAP) + GAP).max(400.0);
    let each = cell + 58.0;
    let mut svg = Svg::titled(title, title, (width, rows.len() as f64 * each + GAP));
    let top = svg.top;
    for (k, (heading, row)) in rows.iter().enumerate() {
        svg.at(0.0, top + k as f64 * each);
        svg.words(heading, (16.0, 11.0), 14, Anchor::Start);
        for (k, picture) in row.iter().enumerate() {
            let left = GAP + k as f64 * (cell + GAP);
            for ((column, line, length), shade) in runs(&picture.pixels, side(picture) as usize) {
                let at = (left + column as f64 * ZOOM, 22.0 + line as f64 * ZOOM);
                let grey = format!("fill=\"#{shade:02x}{shade:02x}{shade:02x}\"");
                svg.rectangle(at, (length as f64 * ZOOM, ZOOM), &grey);
            }
            svg.words(&picture.caption, (left + cell / 2.0, 35.0 + cell), 12, Anchor::Middle);
        }
    }
    svg.finish()
}

/// Runs of equal pixels that are not white: (column, row, length) and their grey.
fn runs(pixels: &[f32], side: usize) -> Vec<((usize, usize, usize), u8)> {
    let brightest = pixels.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let shade = |p: f32| ((p / brightest).clamp(0.0, 1.0) * SHADES).round() as u8;
    let mut runs = Vec::new();
    for (row, line) in pixels.chunks(side.max(1)).enumerate() {
        let mut column = 0;
        for run in line.chunk_by(|a, b| shade(*a) == shade(*b)) {
            let darkness = shade(run[0]);
            if darkness > 0 {
                let grey = 255.0 * (1.0 - f32::from(darkness) / SHADES);
                runs.push(((column, row, run.len()), grey as u8));
            }
            column += run.len();
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
