#![doc = include_str!("descent.md")]

use super::check::{self, malformed};
use super::interpolation::{self, Stretch};
use super::noisy_gd::{gradient_gap, ln_contraction};
use super::{AccountantError, World};
use crate::event::{Adjacency, Descent, Normalizer, Phase, State, Variant};
use crate::outward;
use crate::quantity::Mu;

/// Limit on the updates of `weak` that are followed one by one; a later peak gives way to q/(1 - q).
const MOST_RISING: u64 = 100_000;

/// Returns mu of the pair of `world` for projected gradient descent published with noise, rounded up by a
/// relative 1e-9.
///
/// The derivation is in this module's documentation.
///
/// # Errors
/// Fails if a number of the event is out of range, its phases contradict each other or its updates, the step
/// size is not in (0, 2/L), or the world is one the variant does not support.
pub fn mu_descent(event: &Descent, world: World) -> Result<Mu, AccountantError> {
    let run = Run::new(event)?;
    let mu = match (event.variant.state(), world) {
        (State::Secret, World::Retraining) => run.root_joint() * run.secret_distance()? / run.noise,
        (State::Secret, World::DeletionPrivacy(_)) => {
            return Err(AccountantError::Unsupported {
                notion: world.notion(),
                reason: "the state kept in `secret` state depends on the deleted records",
            });
        }
        (State::Secret, World::DifferentialPrivacyOneRelease(adjacency)) => {
            run.secret_privacy(adjacency, world)?
        }
        (State::Secret, World::DifferentialPrivacyAllReleases(adjacency)) => {
            let releases = event.releases.max(event.joint_releases) as f64;
            releases.sqrt() * run.secret_privacy(adjacency, world)?
        }
        (State::Perfect, World::Retraining) => run.perfect_retraining()?,
        (State::Perfect, World::DeletionPrivacy(adjacency)) => {
            run.perfect_deletion(run.group_shift(adjacency, world)?)?
        }
        (State::Perfect, World::DifferentialPrivacyOneRelease(adjacency)) => {
            let shift = run.group_shift(adjacency, world)?;
            run.composite_shift(event.longest, shift) / run.noise
        }
        (State::Perfect, World::DifferentialPrivacyAllReleases(adjacency)) => {
            run.perfect_all_releases(run.group_shift(adjacency, world)?)
        }
    };
    Ok(outward::mu(outward::up(mu)))
}

/// Returns mu of closeness to retraining that holds for this event and for whatever follows it (until a
/// refresh) as long as each update stands for at most the event's `group` of records (and, under `mean`, no
/// data set has fewer than half the records of learning); rounded up by a relative 1e-9.
///
/// # Errors
/// Fails as [`mu_descent`] does.
pub fn mu_descent_lifetime(event: &Descent) -> Result<Mu, AccountantError> {
    let run = Run::new(event)?;
    let now = mu_descent(event, World::Retraining)?;
    if event.variant.state() == State::Secret {
        return Ok(now);
    }
    let q = run.decay(event.iterations);
    let distance = run.steady()? + (1.0 + q) / run.fall(event.iterations) * run.spread;
    Ok(outward::mu(outward::up(distance / run.noise).max(now.get())))
}

/// An event whose numbers are checked: also what the published accountant starts from.
pub(in crate::accountant) struct Run<'a> {
    event: &'a Descent,
    /// eta G.
    reach: f64,
    /// ln c, rounded up; below 0.
    ln_contraction: f64,
    /// rho.
    pub(in crate::accountant) rounding: f64,
    /// h = g sqrt(P).
    pub(in crate::accountant) spread: f64,
    /// c^T D/2.
    pub(in crate::accountant) tail: f64,
    /// sigma.
    pub(in crate::accountant) noise: f64,
    /// N, or under `mean` the number of records at learning.
    pub(in crate::accountant) records: f64,
    last: Phase,
}

impl<'a> Run<'a> {
    pub(in crate::accountant) fn new(event: &'a Descent) -> Result<Self, AccountantError> {
        let setting = check::setting(&event.setting)?;
        check::positive("strong_convexity", event.setting.strong_convexity)?;
        let step = check::positive("step", event.step)?;
        let noise = check::positive("noise", event.noise)?;
        let grid = check::grid(event.grid, noise)?;
        let rounding = check::nonnegative("rounding", event.rounding)?;
        let diameter = check::positive("diameter", event.diameter)?;
        let ln_contraction = ln_contraction(step, setting.smoothness, setting.strong_convexity)
            .filter(|ln| *ln < 0.0)
            .ok_or_else(|| {
                malformed("step", "below 2/(smoothness + strong_convexity)", event.step)
            })?;
        schedule(event)?;
        let (first, last) = phases(event)?;
        let records = match (event.setting.normalizer, first.records) {
            (Normalizer::Fixed { n, .. }, _) => n as f64,
            (Normalizer::Mean { .. }, Some(records)) => records as f64,
            (Normalizer::Mean { .. }, None) => {
                return Err(malformed("records", "given in every phase under `mean`", "none"));
            }
        };
        Ok(Self {
            event,
            reach: step * setting.lipschitz,
            ln_contraction,
            rounding,
            spread: grid * setting.root_parameters,
            tail: libm::exp(first.steps as f64 * ln_contraction) * 0.5 * diameter,
            noise,
            records,
            last,
        })
    }

    /// Returns c^n.
    pub(in crate::accountant) fn decay(&self, steps: u64) -> f64 {
        libm::exp(steps as f64 * self.ln_contraction)
    }

    /// Returns whether a step contracts as one of length 2/(L + m) does, which is the best there is.
    pub(in crate::accountant) fn takes_the_printed_step(&self) -> bool {
        let setting = &self.event.setting;
        let printed = -libm::log1p(2.0 * setting.strong_convexity.0 / setting.smoothness.0);
        self.ln_contraction <= printed * (1.0 - outward::MARGIN)
    }

    /// Returns 1 - c^n.
    pub(in crate::accountant) fn fall(&self, steps: u64) -> f64 {
        -libm::expm1(steps as f64 * self.ln_contraction)
    }

    fn root_joint(&self) -> f64 {
        (self.event.joint_releases as f64).sqrt()
    }

    /// Returns 1 + c + ... + c^(n-1).
    fn geometric(&self, steps: u64) -> f64 {
        self.fall(steps) / self.fall(1)
    }

    fn group_shift(&self, adjacency: Adjacency, world: World) -> Result<f64, AccountantError> {
        let relative = check::group_sensitivity(&self.event.setting, adjacency, world.notion())?;
        Ok(self.reach * relative)
    }

    fn gap(&self, phase: &Phase) -> Result<f64, AccountantError> {
        Ok(self.reach * gradient_gap(&self.event.setting, phase, &self.last)?)
    }

    /// Returns k s1/(1 - c) + 2 rho/(1 - c).
    fn steady(&self) -> Result<f64, AccountantError> {
        let group = check::group(&self.event.setting)?;
        let moved = match self.event.setting.normalizer {
            Normalizer::Fixed { .. } => group / self.records,
            Normalizer::Mean { .. } => 4.0 * group / self.records,
        };
        Ok((self.updates_away() * self.reach * moved + 2.0 * self.rounding) / self.fall(1))
    }

    /// Returns k, the largest distance to the optimum, in updates' worth of its movement: q/(1 - q), or for
    /// `weak` the largest of s_i = q^(i^(2 xi)) (s_(i-1) + 1), which rises to it and then falls.
    fn updates_away(&self) -> f64 {
        let iterations = self.event.iterations;
        let steady = self.decay(iterations) / self.fall(iterations);
        let (Variant::Weak, Some(xi)) = (self.event.variant, self.event.xi) else { return steady };
        let ln_q = iterations as f64 * self.ln_contraction;
        let mut last = 0.0;
        for update in 1..=MOST_RISING {
            let next = libm::exp(ln_q * libm::pow(update as f64, 2.0 * xi.0)) * (last + 1.0);
            if next <= last {
                return last;
            }
            last = next;
        }
        steady
    }

    fn secret_distance(&self) -> Result<f64, AccountantError> {
        Ok(self.steady()? + 3.0 * self.tail + self.spread)
    }

    fn secret_privacy(&self, adjacency: Adjacency, world: World) -> Result<f64, AccountantError> {
        let shift = self.group_shift(adjacency, world)? + 2.0 * self.rounding;
        Ok((shift / self.fall(1) + self.spread) / self.noise)
    }

    fn composite_shift(&self, steps: u64, shift: f64) -> f64 {
        self.geometric(steps) * (shift + 2.0 * self.rounding)
            + (1.0 + self.decay(steps)) * self.spread
    }

    /// The steps of a phase, then noise; the noise of inner releases is not counted, and the grid
    /// they were rounded to is.
    fn composite(&self, phase: &Phase, shift: f64) -> Stretch {
        let (inner, update) = (phase.releases - 1, self.event.iterations);
        let faded = if inner > 0 {
            self.decay(update) * self.fall(update.saturating_mul(inner)) / self.fall(update)
        } else {
            0.0
        };
        Stretch {
            steps: 1,
            ln_contraction: phase.steps as f64 * self.ln_contraction,
            shift: self.composite_shift(phase.steps, shift) + faded * self.spread,
            noise: self.noise,
        }
    }

    fn interpolate(stretches: &[Stretch]) -> Result<f64, AccountantError> {
        let ln_mu = interpolation::ln_mu(0.0, stretches)?;
        let mu = libm::exp(ln_mu);
        let vanished = mu == 0.0 && ln_mu > f64::NEG_INFINITY;
        Ok(if vanished { f64::MIN_POSITIVE } else { mu })
    }

    fn perfect_retraining(&self) -> Result<f64, AccountantError> {
        let stretches = self
            .event
            .phases
            .iter()
            .map(|phase| Ok(self.composite(phase, self.gap(phase)?)))
            .collect::<Result<Vec<_>, AccountantError>>()?;
        Self::interpolate(&stretches)
    }

    fn perfect_deletion(&self, shift: f64) -> Result<f64, AccountantError> {
        let Some((last, earlier @ [_, ..])) = self.event.phases.split_last() else {
            return Err(AccountantError::Unsupported {
                notion: "deletion privacy",
                reason: "nothing was deleted: the event has only the training phase",
            });
        };
        let mut stretches: Vec<_> =
            earlier.iter().map(|phase| self.composite(phase, shift)).collect();
        stretches.push(self.composite(last, 0.0));
        Self::interpolate(&stretches)
    }

    /// Bounds each release from the published model before it; the squares of the mu add up.
    fn perfect_all_releases(&self, shift: f64) -> f64 {
        let squares = self.event.phases.iter().map(|phase| {
            let steps = if phase.releases == 1 { phase.steps } else { self.event.longest };
            let mu = self.composite_shift(steps, shift) / self.noise;
            phase.releases as f64 * mu * mu
        });
        squares.sum::<f64>().sqrt()
    }
}

/// Checks the variant, its parameters, and the counts that need no phase.
fn schedule(event: &Descent) -> Result<(), AccountantError> {
    check::count("iterations", event.iterations)?;
    check::count("longest", event.longest)?;
    check::size("updates", event.updates)?;
    check::count("releases", event.releases)?;
    check::count("joint_releases", event.joint_releases)?;
    match (event.variant, event.xi) {
        (Variant::Weak, Some(xi)) if (1.0..=16.0).contains(&xi.0) => {}
        (Variant::Weak, Some(xi)) => return Err(malformed("xi", "in [1, 16]", xi)),
        (Variant::Weak, None) => return Err(malformed("xi", "given for `weak`", "none")),
        (_, Some(xi)) => return Err(malformed("xi", "given for `weak` only", xi)),
        (_, None) => {}
    }
    match (event.variant, event.tail) {
        (Variant::Perfect, Some(tail)) if (1e-100..1.0).contains(&tail.0) => {}
        (Variant::Perfect, Some(tail)) => return Err(malformed("tail", "in [1e-100, 1)", tail)),
        (_, Some(tail)) => return Err(malformed("tail", "given for `perfect` only", tail)),
        (_, None) => {}
    }
    if event.variant == Variant::Perfect && event.joint_releases != 1 {
        return Err(malformed("joint_releases", "1 in `perfect` state", event.joint_releases));
    }
    Ok(())
}

/// Checks the phases against each other and the updates; returns the first and the last.
fn phases(event: &Descent) -> Result<(Phase, Phase), AccountantError> {
    let (first, last) = check::phases(&event.setting, &event.phases, event.longest)?;
    let releases = event.phases.iter().fold(0_u64, |sum, p| sum.saturating_add(p.releases));
    let refreshed = event.variant.state() == State::Secret;
    if releases > event.releases || (releases < event.releases && !refreshed) {
        let rule = "the sum over `phases`, or more after a refresh in `secret` state";
        return Err(malformed("releases", rule, event.releases));
    }
    if refreshed && releases > event.joint_releases {
        let rule = "at least the releases of `phases`";
        return Err(malformed("joint_releases", rule, event.joint_releases));
    }
    check::require("releases of the first phase", "1", first.releases, first.releases == 1)?;
    if event.updates < releases - 1 {
        return Err(malformed("updates", "at least one for each request", event.updates));
    }
    served(event)?;
    let needed = least_total(event)
        .ok_or_else(|| malformed("updates", "at most 2^24 of growing length", event.updates))?;
    let made: f64 = event.phases.iter().skip(1).map(|phase| phase.steps as f64).sum();
    if made < needed * (1.0 - 1e-9) {
        return Err(malformed("steps", "at least those of the updates", made));
    }
    if let Some(half) = first.records.map(|records| records.div_ceil(2)) {
        for phase in &event.phases {
            if phase.records.is_none_or(|records| records < half) {
                let rule = "at least half of those at learning";
                let got = phase.records.map_or("none".to_owned(), |records| records.to_string());
                return Err(malformed("records", rule, got));
            }
        }
    }
    Ok((first, last))
}

/// Checks that each request made the steps of as many updates as its phases show.
fn served(event: &Descent) -> Result<(), AccountantError> {
    let group = check::count("group", event.setting.group)? as u64;
    let mut updates = 0_u64;
    for pair in event.phases.windows(2) {
        let [before, phase] = pair else { continue };
        let shown = touched(before, phase).div_ceil(group).max(phase.releases);
        let last = updates.saturating_add(shown);
        let steps = event
            .steps_between(updates, last)
            .ok_or_else(|| malformed("steps", "at most 2^53 for a request's updates", last))?;
        if phase.steps < steps {
            return Err(malformed("steps", "at least those of the request's updates", phase.steps));
        }
        updates = last;
    }
    if event.updates < updates {
        return Err(malformed("updates", "at least those the phases show", event.updates));
    }
    Ok(())
}

/// Returns the fewest records that lead from one phase's data to those of the next: deleted ones raise what
/// the earlier has and the latest lacks, added ones what it lacks, or lower the former if they left again.
/// Returns 0 if one of the phases bounds several data sets.
fn touched(before: &Phase, phase: &Phase) -> u64 {
    if before.releases > 1 || phase.releases > 1 {
        return 0;
    }
    let gone = before.only_then.saturating_sub(phase.only_then);
    let come = before.only_now.saturating_sub(phase.only_now);
    let left = phase.only_then.saturating_sub(before.only_then);
    let back = phase.only_now.saturating_sub(before.only_now);
    gone.saturating_add(come).max(left).max(back)
}

/// Returns the sum of the least steps of all updates.
fn least_total(event: &Descent) -> Option<f64> {
    if event.variant != Variant::Weak && event.tail.is_none() {
        return Some(event.iterations as f64 * event.updates as f64);
    }
    if event.updates > 1 << 24 {
        return None;
    }
    (1..=event.updates).map(|update| event.least_steps(update)).sum()
}
