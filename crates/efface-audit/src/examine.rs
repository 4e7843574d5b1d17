//! Runs both worlds and tests what distinguishes them.

use std::ops::Range;

use efface::{Code, Error, Result};

use super::result::{Split, Test};
use super::statistics::{ERROR, Errors, Goal, Shown, choose};
use super::worlds::{Ended, Side, Worlds};

/// A direction in weight space, towards the releases after a deletion.
#[derive(Debug, Clone, PartialEq)]
pub struct Direction {
    /// What it is, for people.
    pub name: String,
    /// One number for each weight.
    pub vector: Vec<f64>,
}

/// How much is run, and what may end it.
pub struct Budget<'a> {
    /// Number of runs of each world.
    pub runs: u64,
    /// Seconds after which work ends, even within a run: a round that is not done by then is not counted.
    pub limit: Option<f64>,
    /// Seconds since the audit began.
    pub elapsed: &'a (dyn Fn() -> f64 + Sync),
    /// Whether the user asked to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// The findings of the tests.
#[derive(Debug, Clone, PartialEq)]
pub struct Examined {
    /// All tests that were made.
    pub tests: Vec<Test>,
    /// How the runs were used.
    pub split: Split,
    /// What a test without an error would have shown on so many runs.
    pub reach: Shown,
}

/// One part in so many of the runs finds the direction of the means, if it is tried.
const DIRECTION_PART: u64 = 10;
/// Of the other runs, two in nine choose thresholds; the rest are counted.
const CHOOSING: u64 = 2;
const CYCLE: u64 = 9;

/// Whether the direction of the means is tried in addition to the directions given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// Estimated from a part of the runs.
    Tried,
    /// The direction of the means is left out.
    Untried,
}

/// Runs both worlds and makes, along every direction, one threshold test for mu and one for epsilon at
/// `delta`. Thresholds (and the direction of the means) come from runs that are not counted.
///
/// # Errors
/// Fails as the worlds do, if interrupted, or if directions have the wrong length.
pub fn examine(
    worlds: &dyn Worlds,
    directions: Vec<Direction>,
    means: Means,
    delta: f64,
    budget: &Budget<'_>,
) -> Result<Examined> {
    let parameters = worlds.parameters();
    if let Some(wrong) = directions.iter().find(|d| d.vector.len() != parameters) {
        let got = wrong.vector.len();
        let message = format!("a direction must have {parameters} numbers, got {got}");
        return Err(Error::input(Code::Direction, message));
    }
    let mut directions = directions;
    let mut begun = 0;
    if means == Means::Tried {
        let goal = budget.runs / DIRECTION_PART;
        let mut sums = vec![0.0; parameters];
        while begun < goal && !budget.over(1.0 / DIRECTION_PART as f64)? {
            let round = begun..(begun + worlds.round()).min(goal);
            let both = |ended: &Ended<'_>| both(worlds, round.clone(), ended);
            let Some(releases) = budget.within(both)? else { break };
            for (releases, sign) in releases.iter().zip([1.0, -1.0]) {
                for release in releases.chunks_exact(parameters) {
                    sums.iter_mut().zip(release).for_each(|(sum, w)| *sum += sign * w);
                }
            }
            begun = round.end;
        }
        directions.push(Direction { name: "means of a part of the runs".into(), vector: sums });
    }
    directions.retain(|direction| direction.vector.iter().any(|&v| v != 0.0));
    let mut scores = vec![Scores::default(); directions.len()];
    let (first, mut next) = (begun, begun);
    while next < budget.runs && !budget.over(1.0)? {
        let round = next..(next + worlds.round()).min(budget.runs);
        let both = |ended: &Ended<'_>| both(worlds, round.clone(), ended);
        let Some(releases) = budget.within(both)? else { break };
        for (side, releases) in SIDES.into_iter().zip(&releases) {
            for (run, release) in round.clone().zip(releases.chunks_exact(parameters)) {
                let counted = (run - first) % CYCLE >= CHOOSING;
                for (direction, scores) in directions.iter().zip(&mut scores) {
                    scores.of(side, counted).push(dot(&direction.vector, release));
                }
            }
        }
        next = round.end;
    }
    let counted = scores.first().map_or(0, |scores| scores.counted[0].len());
    let split = Split {
        direction: begun,
        threshold: next - first - counted as u64,
        counted: counted as u64,
    };
    let goals = [("mu", Goal::Mu), ("epsilon", Goal::Epsilon(delta))];
    let error = error_of(directions.len());
    let mut tests = Vec::new();
    for (direction, scores) in directions.iter().zip(&scores) {
        let ([a, b], [chosen_a, chosen_b]) = (&scores.counted, &scores.choosing);
        for (name, goal) in goals {
            let Some(threshold) = choose(chosen_a, chosen_b, goal, error) else { continue };
            let errors = Errors::count(a, b, threshold);
            tests.push(Test {
                direction: direction.name.clone(),
                chosen_for: name.to_owned(),
                threshold,
                errors,
                mu_estimate: errors.mu_estimate(),
                shown: errors.show(delta, error),
            });
        }
    }
    let none = Errors {
        false_positives: 0,
        reference_runs: counted as u64,
        false_negatives: 0,
        deletion_runs: counted as u64,
    };
    let reach = none.show(delta, error);
    Ok(Examined { tests, split, reach })
}

/// Returns the probability with which one bound of a test along one of these directions may fail.
pub(super) fn error_of(directions: usize) -> f64 {
    ERROR / (4 * directions.max(1)) as f64
}

const SIDES: [Side; 2] = [Side::Deleted, Side::Reference];

/// Returns the releases of a round in both worlds.
fn both(worlds: &dyn Worlds, round: Range<u64>, ended: &Ended<'_>) -> Result<[Vec<f64>; 2]> {
    let [deleted, reference] = SIDES.map(|side| worlds.releases(side, round.clone(), ended));
    Ok([deleted?, reference?])
}

/// Scores along one direction: of deletions, of reference runs.
#[derive(Debug, Clone, Default)]
struct Scores {
    choosing: [Vec<f64>; 2],
    counted: [Vec<f64>; 2],
}

impl Scores {
    fn of(&mut self, side: Side, counted: bool) -> &mut Vec<f64> {
        let list = if counted { &mut self.counted } else { &mut self.choosing };
        &mut list[usize::from(side == Side::Reference)]
    }
}

impl Budget<'_> {
    /// Returns whether this part of the time is spent.
    pub(super) fn over(&self, part: f64) -> Result<bool> {
        if (self.stop)() {
            return Err(Error::interrupted());
        }
        Ok(self.spent(part))
    }

    fn spent(&self, part: f64) -> bool {
        self.limit.is_some_and(|limit| (self.elapsed)() >= part * limit)
    }

    /// Does work that asks at every step whether to end; `None` if the limit of time ended it.
    pub(super) fn within<T>(
        &self,
        work: impl FnOnce(&Ended<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        match work(&|| (self.stop)() || self.spent(1.0)) {
            Err(error) if error.code() == Code::Interrupted && !(self.stop)() => Ok(None),
            done => done.map(Some),
        }
    }

    /// Does work without which an audit has nothing to say.
    pub(super) fn prepared<T>(&self, work: impl FnOnce(&Ended<'_>) -> Result<T>) -> Result<T> {
        self.within(work)?.ok_or_else(|| {
            let message = format!(
                "the limit of {} seconds passed before the first runs of the audit began",
                self.limit.unwrap_or_default()
            );
            Error::input(Code::Audit, message)
                .hint("give the audit more time, or fewer records to learn from")
        })
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
