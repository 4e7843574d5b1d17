//! Epsilon by the model's version, drawn as SVG on a logarithmic scale. Lengths are in pixels.

/// Width and height of the picture.
const SIZE: (f64, f64) = (790.0, 300.0);
/// The left, the right, the upper and the lower side of the axes.
const AXES: (f64, f64, f64, f64) = (72.0, 500.0, 16.0, 246.0);
pub(super) const BLACK: &str = "#222222";

/// Epsilon at some versions of the model.
pub(super) struct Line {
    /// The name in the legend.
    pub(super) name: &'static str,
    /// The colour of line and marks.
    pub(super) colour: &'static str,
    /// Whether the line is dashed.
    pub(super) dashed: bool,
    /// The path of a shape around each point; empty if points have no marks.
    pub(super) mark: &'static str,
    /// Versions and their epsilons, which are finite and above 0.
    pub(super) points: Vec<(f64, f64)>,
}

impl Line {
    /// The line over all of these points, and marks around those at `marked`.
    fn draw(&self, points: &[(f64, f64)], marked: &[(f64, f64)]) -> String {
        let Self { colour, mark, .. } = self;
        let joined: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
        let dashes = if self.dashed { " stroke-dasharray=\"7 5\"" } else { "" };
        let line = format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>\n",
            joined.join(" ")
        );
        let marks = marked.iter().filter(|_| !mark.is_empty()).map(|(x, y)| {
            format!("<path transform=\"translate({x} {y})\" d=\"{mark}\" fill=\"{colour}\"/>\n")
        });
        line + &marks.collect::<String>()
    }
}

/// The places of numbers along an axis.
struct Scale {
    low: f64,
    high: f64,
    ends: (f64, f64),
}

impl Scale {
    /// Over these numbers with some room beside them; the axis is at least so long.
    fn over(numbers: impl Iterator<Item = f64>, least: f64, ends: (f64, f64)) -> Self {
        let (low, high) =
            numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let room = (0.06 * (high - low)).max(0.5 * (least - (high - low)));
        Self { low: low - room, high: high + room, ends }
    }

    fn at(&self, number: f64) -> f64 {
        let part = (number - self.low) / (self.high - self.low);
        (10.0 * (self.ends.0 + part * (self.ends.1 - self.ends.0))).round() / 10.0
    }

    /// Whole numbers on the axis, at most nine, evenly spaced.
    fn whole(&self) -> Vec<f64> {
        let steps = (0..18).flat_map(|power| [1.0, 2.0, 5.0].map(|one| one * 10_f64.powi(power)));
        let step =
            steps.into_iter().find(|step| self.high - self.low <= 8.0 * step).unwrap_or(1e18);
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        (first..=last).map(|k| k as f64 * step).collect()
    }

    /// Numbers whose logarithms are on the axis, at most seven: 1, 2 and 5 times powers of ten, else powers.
    fn decades(&self) -> Vec<f64> {
        let some = |stride: i32, factors: &[u8]| -> Vec<f64> {
            (self.low.floor() as i32..=self.high.ceil() as i32)
                .filter(|power| power.rem_euclid(stride) == 0)
                .flat_map(|power| factors.iter().map(move |factor| format!("{factor}e{power}")))
                .filter_map(|text| text.parse::<f64>().ok())
                .filter(|x| (self.low..=self.high).contains(&x.log10()))
                .collect()
        };
        let mut patterns = std::iter::once(some(1, &[1, 2, 5])).chain((1..).map(|k| some(k, &[1])));
        patterns.find(|ticks| ticks.len() <= 7).unwrap_or_default()
    }
}

/// The picture; `spoken` says what it shows to those who do not see it. No text may have markup.
pub(super) fn chart(lines: &[Line], spoken: &str) -> String {
    let ((width, height), (left, right, top, bottom)) = (SIZE, AXES);
    let points = || lines.iter().flat_map(|line| &line.points);
    let x = Scale::over(points().map(|point| point.0), 0.2, (left, right));
    let y = Scale::over(points().map(|point| point.1.log10()), 1.0, (bottom, top));
    let text = |place: String, anchor: &str, words: &str| {
        format!("<text {place} text-anchor=\"{anchor}\">{words}</text>\n")
    };
    let words = |x: f64, y: f64, anchor: &str, words: &str| {
        text(format!("x=\"{x}\" y=\"{y}\""), anchor, words)
    };
    let rule = |path: String| format!("<path d=\"{path}\" stroke=\"#e1e1e1\"/>\n");
    let mut svg = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{spoken}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"{BLACK}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for version in x.whole() {
        let at = x.at(version);
        svg += &rule(format!("M{at} {top}V{bottom}"));
        svg += &words(at, bottom + 18.0, "middle", &version.to_string());
    }
    for epsilon in y.decades() {
        let (at, written) = (y.at(epsilon.log10()), format!("{epsilon:e}"));
        svg += &rule(format!("M{left} {at}H{right}"));
        let number = match written.split_once('e') {
            Some((factor, power)) if !(1e-3..1e5).contains(&epsilon) => {
                let factor = if factor == "1" { String::new() } else { format!("{factor}·") };
                format!("{factor}10<tspan dy=\"-5\" font-size=\"10\">{power}</tspan>")
            }
            _ => epsilon.to_string(),
        };
        svg += &words(left - 7.0, at + 4.5, "end", &number);
    }
    svg += &format!(
        "<path d=\"M{left} {top}V{bottom}H{right}V{top}z\" fill=\"none\" stroke=\"{BLACK}\"/>\n"
    );
    svg += &words(0.5 * (left + right), bottom + 40.0, "middle", "version of the model");
    let upward = format!("transform=\"translate(17 {}) rotate(-90)\"", 0.5 * (top + bottom));
    svg += &text(upward, "middle", "epsilon");
    for (line, number) in lines.iter().zip(1_u8..) {
        let points = line.points.iter().map(|&(version, e)| (x.at(version), y.at(e.log10())));
        let points: Vec<_> = points.collect();
        svg += &line.draw(&points, &points);
        let beside = top + 22.0 * f64::from(number) - 8.0;
        let [from, middle, to] = [16.0, 33.0, 50.0].map(|part| (right + part, beside));
        svg += &line.draw(&[from, to], &[middle]);
        svg += &words(right + 58.0, beside + 4.5, "start", line.name);
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_some_round_numbers_whatever_is_drawn() {
        for (low, high) in [(1.0, 1.0), (0.2, 3.0), (1e-9, 2e-9), (1e-3, 1e9), (1e-12, 1e6)] {
            let points = vec![(1.0, low), (4.0, high)];
            let name = "some notion";
            let line = Line { name, colour: BLACK, dashed: false, mark: "M0 0h1", points };
            let svg = chart(&[line], "what it shows");
            let numbers = svg.matches("text-anchor=\"end\"").count();
            assert!((2..=7).contains(&numbers), "{low} {high}: {numbers}");
            assert_eq!(svg.matches("d=\"M0 0h1\"").count(), 3);
            assert!(svg.contains(">4</text>") && svg.contains(">some notion</text>"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}
