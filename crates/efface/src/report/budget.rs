//! What has been spent over time, drawn and in numbers, and what can still be served.

use std::fmt::Write as _;

use efface_privacy::claim::Notion;

use super::Facts;
use super::page::{Page, short};

/// Size of the drawing and its margins, in its own units.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 48.0;

/// One line of the drawing: its name, its mark, and (version, epsilon), finite and above 0 only.
struct Series {
    name: &'static str,
    colour: &'static str,
    square: bool,
    points: Vec<(u64, f64)>,
}

pub(super) fn write(page: &mut Page, facts: &Facts) {
    page.section("Budgets over time");
    draw(page, facts);
    page.section("What can still be served");
    if let Some(left) = facts.status.releases_left {
        page.paragraph(&format!("{left} releases are left before a refresh."));
    }
    let rows: Vec<Vec<String>> = facts
        .status
        .notions
        .iter()
        .map(|n| {
            let available = if n.available { "yes" } else { "no" };
            vec![n.notion.clone(), available.into(), n.note.clone()]
        })
        .collect();
    page.table("Each notion, for the next request", &["Notion", "Available", "Note"], &rows);
}

fn draw(page: &mut Page, facts: &Facts) {
    let of = |notion: Notion| -> Vec<(u64, f64)> {
        let points = facts.certificates.iter().filter_map(|c| {
            let claim = c.claims.iter().find(|claim| claim.notion == notion)?;
            let epsilon = claim.epsilon.0;
            (epsilon.is_finite() && epsilon > 0.0).then_some((c.model.version, epsilon))
        });
        points.collect()
    };
    let wanted = facts.target.notion;
    let mut series =
        vec![Series { name: wanted.name(), colour: "#0b5394", square: false, points: of(wanted) }];
    if wanted != Notion::DifferentialPrivacy {
        let points = of(Notion::DifferentialPrivacy);
        let name = "differential-privacy of the rest";
        series.push(Series { name, colour: "#b45f06", square: true, points });
    }
    series.retain(|line| !line.points.is_empty());
    if series.is_empty() {
        page.paragraph("No certificate has an epsilon above 0: there is nothing to draw.");
        return;
    }
    let limit = Some(facts.target.epsilon.0).filter(|e| e.is_finite() && *e > 0.0);
    page.raw(format!("<figure>{}", drawing(&series, limit)));
    page.raw(
        "<figcaption>Epsilon of every certificate by the model's version; the scale is \
        logarithmic, the dashed line is what training promised. The numbers are in the table \
        above.</figcaption></figure>",
    );
}

/// Where versions and epsilons lie in the drawing.
struct Frame {
    versions: (u64, u64),
    /// Decades.
    decades: (i32, i32),
}

impl Frame {
    fn x(&self, version: u64) -> f64 {
        let (first, last) = self.versions;
        let part = match last - first {
            0 => 0.5,
            span => (version - first) as f64 / span as f64,
        };
        LEFT + 12.0 + part * (WIDTH - LEFT - RIGHT - 24.0)
    }

    fn y(&self, epsilon: f64) -> f64 {
        let (low, high) = (f64::from(self.decades.0), f64::from(self.decades.1));
        let part = (epsilon.log10() - low) / (high - low);
        HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)
    }
}

fn drawing(series: &[Series], limit: Option<f64>) -> String {
    let all = || series.iter().flat_map(|line| &line.points);
    let epsilons = || all().map(|point| point.1).chain(limit);
    let low = epsilons().fold(f64::INFINITY, f64::min).log10().floor() as i32;
    let high = epsilons().fold(0.0, f64::max).log10().ceil() as i32;
    let first = all().map(|point| point.0).min().unwrap_or(1);
    let last = all().map(|point| point.0).max().unwrap_or(1);
    let frame = Frame { versions: (first, last), decades: (low, high.max(low + 1)) };
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\" \
         font-family=\"system-ui,sans-serif\" font-size=\"13\" fill=\"#1a1a1a\">",
        spoken(series, limit)
    );
    axes(&mut svg, &frame);
    if let Some(limit) = limit {
        let y = frame.y(limit);
        let _ = write!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#1a1a1a\" \
             stroke-dasharray=\"6 4\"/>",
            WIDTH - RIGHT
        );
    }
    let mut legend = LEFT;
    for line in series {
        plot(&mut svg, line, &frame);
        mark(&mut svg, line, legend + 6.0, 14.0);
        let _ = write!(svg, "<text x=\"{:.1}\" y=\"18.5\">{}</text>", legend + 16.0, line.name);
        legend += 30.0 + 7.3 * line.name.len() as f64;
    }
    svg + "</svg>"
}

/// The drawing in a sentence, for those who do not see it.
fn spoken(series: &[Series], limit: Option<f64>) -> String {
    let mut text = String::from("Epsilon by version.");
    for line in series {
        if let (Some(first), Some(last)) = (line.points.first(), line.points.last()) {
            let _ = write!(
                text,
                " {}: {} at version {}, {} at version {}.",
                line.name,
                short(first.1),
                first.0,
                short(last.1),
                last.0
            );
        }
    }
    if let Some(limit) = limit {
        let _ = write!(text, " Promised at training: {}.", short(limit));
    }
    text
}

fn axes(svg: &mut String, frame: &Frame) {
    let (right, floor) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    // At most about eight labels, whatever the range.
    let every = ((frame.decades.1 - frame.decades.0) / 8 + 1) as usize;
    for decade in (frame.decades.0..=frame.decades.1).step_by(every) {
        let value = 10_f64.powi(decade);
        let y = frame.y(value);
        let _ = write!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 4.5,
            short(value)
        );
    }
    let (first, last) = frame.versions;
    let step = (last - first) / 10 + 1;
    for version in (first..=last).step_by(step as usize) {
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{version}</text>",
            frame.x(version),
            floor + 18.0
        );
    }
    let _ = write!(
        svg,
        "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{floor}\" y2=\"{floor}\" stroke=\"#1a1a1a\"/>\
         <text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">version of the model</text>\
         <text transform=\"translate(16 {:.1}) rotate(-90)\" text-anchor=\"middle\">epsilon</text>",
        (LEFT + right) / 2.0,
        HEIGHT - 8.0,
        (TOP + floor) / 2.0
    );
}

fn plot(svg: &mut String, line: &Series, frame: &Frame) {
    let at: Vec<(f64, f64)> = line
        .points
        .iter()
        .map(|&(version, epsilon)| (frame.x(version), frame.y(epsilon)))
        .collect();
    let path: Vec<String> = at.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = write!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>",
        path.join(" "),
        line.colour
    );
    // Beyond a few hundred points the marks would be one band.
    if at.len() <= 200 {
        for (x, y) in at {
            mark(svg, line, x, y);
        }
    }
}

fn mark(svg: &mut String, line: &Series, x: f64, y: f64) {
    let colour = line.colour;
    let _ = match line.square {
        true => write!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\" fill=\"{colour}\"/>",
            x - 4.0,
            y - 4.0
        ),
        false => write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{colour}\"/>"),
    };
}
