//! Axes: from numbers to pixels, and where the ticks are.

use crate::number::tick;

/// How numbers are laid out along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// In proportion.
    Linear,
    /// In proportion to their logarithm; numbers not above 0 have no place.
    Log,
}

/// An axis of a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    pub(super) label: String,
    pub(super) scale: Scale,
    pub(super) range: Option<(f64, f64)>,
    /// The least step between ticks in proportion.
    step: f64,
    /// What ticks say instead of whole numbers from 0.
    names: Vec<String>,
}

impl Axis {
    /// An axis in proportion, as long as its data.
    #[must_use]
    pub fn linear(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            scale: Scale::Linear,
            range: None,
            step: 0.0,
            names: Vec::new(),
        }
    }

    /// A logarithmic axis, as long as its data.
    #[must_use]
    pub fn log(label: impl Into<String>) -> Self {
        Self { scale: Scale::Log, ..Self::linear(label) }
    }

    /// An axis in proportion with ticks at whole numbers only.
    #[must_use]
    pub fn whole(label: impl Into<String>) -> Self {
        Self { step: 1.0, ..Self::linear(label) }
    }

    /// An axis in proportion with these names at 0, 1, 2 and so on.
    #[must_use]
    pub fn named(label: impl Into<String>, names: Vec<String>) -> Self {
        Self { names, ..Self::whole(label) }
    }

    /// From `low` to `high`, whatever the data.
    #[must_use]
    pub fn from(self, low: f64, high: f64) -> Self {
        Self { range: Some((low, high)), ..self }
    }

    /// What a tick says.
    pub(super) fn written(&self, at: f64) -> String {
        match self.names.is_empty() {
            true => tick(at),
            false => self.names.get(at as usize).cloned().unwrap_or_default(),
        }
    }

    /// The axis over all of these numbers with some room at both ends, none without a number.
    pub(super) fn over(&self, numbers: impl Iterator<Item = f64>) -> Span {
        let placed: Vec<f64> = numbers.filter_map(|x| self.scale.of(x)).collect();
        let (low, high) = match self.range {
            Some((low, high)) => {
                (self.scale.of(low).unwrap_or(0.0), self.scale.of(high).unwrap_or(1.0))
            }
            None => {
                let low = placed.iter().copied().fold(f64::INFINITY, f64::min);
                let high = placed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
                let least = match self.scale {
                    Scale::Log => 0.3,
                    Scale::Linear => 1e-3 * low.abs().max(high.abs()).max(1e-300),
                };
                let room = (0.06 * (high - low)).max(0.5 * (least - (high - low)));
                (low - room, high + room)
            }
        };
        Span { scale: self.scale, low, high, step: self.step }
    }
}

impl Scale {
    /// The place of a number, before it is stretched over pixels.
    fn of(self, number: f64) -> Option<f64> {
        let place = match self {
            Self::Linear => number,
            Self::Log if number > 0.0 => number.log10(),
            Self::Log => return None,
        };
        Some(place).filter(|place| place.is_finite())
    }
}

/// What an axis shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    scale: Scale,
    low: f64,
    high: f64,
    step: f64,
}

impl Span {
    /// How far along the axis a number is, 0 at the low end and 1 at the high end; none off it.
    pub(super) fn part(&self, number: f64) -> Option<f64> {
        let part = (self.scale.of(number)? - self.low) / (self.high - self.low);
        (-1e-9..=1.0 + 1e-9).contains(&part).then_some(part)
    }

    /// Where ticks are.
    pub(super) fn ticks(&self, most: usize) -> Vec<f64> {
        match self.scale {
            Scale::Linear => self.even(most),
            Scale::Log => self.decades(most),
        }
    }

    fn even(&self, most: usize) -> Vec<f64> {
        let raw = ((self.high - self.low) / most.max(2) as f64).max(self.step);
        let unit = 10_f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * unit)
            .find(|step| *step >= raw * (1.0 - 1e-9))
            .unwrap_or(10.0 * unit);
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        (first..=last).map(|k| k as f64 * step).collect()
    }

    /// The densest of some patterns of round numbers that has room.
    fn decades(&self, most: usize) -> Vec<f64> {
        let (first, last) = (self.low.floor() as i32, self.high.ceil() as i32);
        let pattern = |stride: i32, factors: &[f64]| -> Vec<f64> {
            (first..=last)
                .filter(|power| power.rem_euclid(stride) == 0)
                .flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)))
                .filter(|x| self.part(*x).is_some())
                .collect()
        };
        let ticks = [pattern(1, &[1.0, 2.0, 5.0]), pattern(1, &[1.0, 3.0])]
            .into_iter()
            .chain((1..).map(|stride| pattern(stride, &[1.0])))
            .find(|ticks| ticks.len() <= most.max(2))
            .unwrap_or_default();
        // Less than an octave: no round number of these kinds may lie inside.
        if ticks.len() > 1 { ticks } else { self.in_numbers().even(most) }
    }

    fn in_numbers(&self) -> Self {
        Self {
            scale: Scale::Linear,
            low: 10_f64.powf(self.low),
            high: 10_f64.powf(self.high),
            step: self.step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_on_the_axis() {
        let texts = |span: Span| -> Vec<String> { span.ticks(6).into_iter().map(tick).collect() };
        let span = Axis::linear("x").from(0.0, 1.0).over([].into_iter());
        assert_eq!(texts(span), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        let span = Axis::log("x").from(0.01, 100.0).over([].into_iter());
        assert_eq!(texts(span), ["0.01", "0.1", "1", "10", "100"]);
        let span = Axis::log("x").from(1e-12, 1.0).over([].into_iter());
        assert!(texts(span).contains(&"10⁻⁹".to_owned()));
        let span = Axis::log("x").from(3.1, 3.9).over([].into_iter());
        assert!(texts(span).len() > 2);
    }

    #[test]
    fn numbers_without_a_place_are_left_out() {
        let span = Axis::log("x").over([1.0, 10.0, 0.0, -1.0, f64::INFINITY].into_iter());
        assert_eq!(span.part(0.0), None);
        assert!(span.part(3.0).is_some());
        assert!(span.part(1e9).is_none());
        let nothing = Axis::linear("x").over([].into_iter());
        assert_eq!(nothing.part(0.5), Some(0.5));
    }
}
