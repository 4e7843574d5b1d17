//! What an attack achieved against one mechanism, beside what that mechanism promises.

use efface::Result;
use serde::Serialize;

use super::Setup;
use efface_audit::statistics::{lower, upper};

/// The probability that one bound of an attack fails. A run of all attacks makes fewer than a
/// hundred of them, so that all hold together with probability at least 1 - 1e-6.
pub(super) const ERROR: f64 = 1e-8;

/// What is expected of an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// The attack must do better than the promise allows: it is false.
    Broken,
    /// The attack must stay within what the mechanism promises.
    Kept,
    /// The same of a published target: this attack, or this adversary, is too weak to break it.
    Unbroken,
    /// Nothing is promised, so that nothing can be broken: the number is for information.
    Measured,
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The mechanism that was attacked, in words.
    pub against: String,
    /// Name of the measured quantity, such as `advantage`.
    pub measure: String,
    /// Independent trials; 1 where nothing is random.
    pub trials: u64,
    /// Point estimate of the measured quantity.
    pub measured: f64,
    /// A number that the true value is below with probability at most 1e-8 (Clopper-Pearson). None
    /// for counts, means and largest values: they have no interval, and stand for themselves.
    pub lower: Option<f64>,
    /// The most that the mechanism's promise allows; none where nothing is promised.
    pub allowed: Option<f64>,
    /// Where that number comes from.
    pub promise: String,
    /// Whether the promise must break or hold.
    pub expected: Promise,
}

impl Outcome {
    /// Whether the attack did more than the promise allows; none where nothing is promised.
    #[must_use]
    pub fn broken(&self) -> Option<bool> {
        self.allowed.map(|allowed| self.lower.unwrap_or(self.measured) > allowed)
    }

    /// Whether it came out as it must. What is measured alone cannot come out otherwise.
    #[must_use]
    pub fn as_expected(&self) -> bool {
        self.broken().is_none_or(|broken| broken == (self.expected == Promise::Broken))
    }

    /// A number without an interval.
    pub(super) fn certain(against: &str, measure: &str, measured: f64, allowed: f64) -> Self {
        Self {
            against: against.to_owned(),
            measure: measure.to_owned(),
            trials: 1,
            measured,
            lower: None,
            allowed: Some(allowed),
            promise: String::new(),
            expected: Promise::Kept,
        }
    }

    /// A number about which nothing is promised.
    pub(super) fn measured(against: &str, measure: &str, trials: u64, measured: f64) -> Self {
        Self {
            trials,
            allowed: None,
            promise: "nothing is promised".to_owned(),
            expected: Promise::Measured,
            ..Self::certain(against, measure, measured, 0.0)
        }
    }

    /// The same, with where `allowed` comes from.
    pub(super) fn by(self, promise: impl Into<String>) -> Self {
        Self { promise: promise.into(), ..self }
    }

    /// The same, for a target: its promise must turn out to be false.
    pub(super) fn must_break(self) -> Self {
        Self { expected: Promise::Broken, ..self }
    }

    /// The same, for a target that this attack or adversary does not break.
    pub(super) fn must_not_break(self) -> Self {
        Self { expected: Promise::Unbroken, ..self }
    }
}

/// How often an attacker who must name one of two worlds was right.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    /// Right answers, and trials, in the first world.
    first: (u64, u64),
    /// In the second.
    second: (u64, u64),
}

impl Tally {
    /// Plays `trials` games in each of the two worlds. `answers_second(world, trial)` is what the
    /// attacker says.
    ///
    /// # Errors
    /// Of the attacker; when the user asked to stop.
    pub(super) fn of(
        setup: &Setup,
        trials: u64,
        mut answers_second: impl FnMut(bool, u64) -> Result<bool>,
    ) -> Result<Self> {
        let mut tally = Self { first: (0, trials), second: (0, trials) };
        for trial in 0..trials {
            setup.go_on()?;
            tally.first.0 += u64::from(!answers_second(false, trial)?);
            tally.second.0 += u64::from(answers_second(true, trial)?);
        }
        Ok(tally)
    }

    /// Plays `trials` games in each world with an attacker who says the second where a score is
    /// above the mean of the scores of a quarter as many games that are not counted.
    ///
    /// # Errors
    /// Of the attacker; when the user asked to stop.
    pub(super) fn of_scores(
        setup: &Setup,
        trials: u64,
        mut score: impl FnMut(bool, u64) -> Result<f64>,
    ) -> Result<Self> {
        let simulations = trials / 4;
        let mut middle = 0.0;
        for trial in 0..simulations {
            setup.go_on()?;
            for world in [false, true] {
                middle += score(world, trial)? / (2 * simulations) as f64;
            }
        }
        Self::of(setup, trials, |world, trial| Ok(score(world, simulations + trial)? > middle))
    }

    /// The advantage, P(says second | second) - P(says second | first): 0 for guessing.
    pub(super) fn advantage(&self, against: &str, allowed: f64) -> Outcome {
        let rate = |(hits, of): (u64, u64)| hits as f64 / of as f64;
        let least = |(hits, of): (u64, u64)| lower(hits, of, 0.5 * ERROR);
        Outcome {
            trials: self.first.1 + self.second.1,
            measured: rate(self.first) + rate(self.second) - 1.0,
            lower: Some(least(self.first) + least(self.second) - 1.0),
            ..Outcome::certain(against, "advantage", 0.0, allowed)
        }
    }

    /// delta at `epsilon`, of the event that the attacker says the second world:
    /// P(E | second) - e^epsilon P(E | first).
    pub(super) fn delta(&self, against: &str, epsilon: f64, allowed: f64) -> Outcome {
        let (false_hits, m) = (self.first.1 - self.first.0, self.first.1);
        let (hits, n) = self.second;
        let factor = epsilon.exp();
        Outcome {
            trials: m + n,
            measured: hits as f64 / n as f64 - factor * false_hits as f64 / m as f64,
            lower: Some(lower(hits, n, 0.5 * ERROR) - factor * upper(false_hits, m, 0.5 * ERROR)),
            ..Outcome::certain(against, "delta", 0.0, allowed)
        }
    }
}

/// True positives beside what is allowed at the false positives that there may be at most.
/// Counts are hits and trials.
pub(super) fn true_positives(
    against: &str,
    measure: &str,
    (hits, of): (u64, u64),
    (false_hits, m): (u64, u64),
    allowed: impl Fn(f64) -> f64,
) -> Outcome {
    let most = allowed(upper(false_hits, m, 0.5 * ERROR));
    Outcome {
        trials: of + m,
        measured: hits as f64 / of as f64,
        lower: Some(lower(hits, of, 0.5 * ERROR)),
        ..Outcome::certain(against, measure, 0.0, most)
    }
}
